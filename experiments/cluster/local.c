/* experiments/cluster/local.c -- shards as processes of this machine, by xargs.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>

#include "experiments/cluster/engine.h"

/* xargs ends early when a command of its was killed, so the shell in between
 * always ends well; what came of a shard is seen by its files. */
static void local_put_submit(FILE *out, const struct xp_job *j)
{
	fprintf(out,
	    "\n[ $# -gt 0 ] || set -- $(seq %" PRIu32 ")\n"
	    "cd ",
	    j->plan->n_shards);
	xp_put_word(out, j->folder);
	fprintf(out,
	    " || exit\n"
	    "printf '%%s\\n' \"$@\" | xargs -P %" PRIu32 " -n 1 sh -c \\\n"
	    "    'sh ./shard.sh \"$1\" >>\"$1\".log 2>&1 || :' sh\n"
	    "sh ./merge.sh >>merge.log 2>&1\n",
	    j->at_once ? j->at_once : 1);
}

const struct xp_engine xp_engine_local = {
    .name = "local",
    .doc = "processes of this machine",
    .needs = "xargs",
    .put_submit = local_put_submit,
};
