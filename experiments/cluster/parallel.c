/* experiments/cluster/parallel.c -- shards by GNU parallel, here or over ssh.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>

#include "experiments/cluster/engine.h"

static void parallel_put_submit(FILE *out, const struct xp_job *j)
{
	fprintf(out,
	    "\n[ $# -gt 0 ] || set -- $(seq %" PRIu32 ")\n"
	    "parallel --will-cite --jobs %" PRIu32 " --joblog ",
	    j->plan->n_shards, j->at_once ? j->at_once : 1);
	xp_put_path(out, j, "parallel.log");
	for (size_t i = 0; j->extra[i]; i++) {
		fputc(' ', out);
		xp_put_word(out, j->extra[i]);
	}
	fprintf(out, " \\\n    --workdir ");
	xp_put_path(out, j, "");
	fprintf(out,
	    " 'sh ./shard.sh {} >>{}.log 2>&1' ::: \"$@\"\n"
	    "cd ");
	xp_put_path(out, j, "");
	fprintf(out, " && sh ./merge.sh >>merge.log 2>&1\n");
}

const struct xp_engine xp_engine_parallel = {
    .name = "parallel",
    .doc = "GNU parallel, here or on hosts that share this folder",
    .needs = "parallel",
    .put_submit = parallel_put_submit,
};
