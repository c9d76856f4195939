/* experiments/cmd/trace_url.c -- a running analyzer in place of a file of traces.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cmd/trace_url.h"

#include <inttypes.h>
#include <string.h>

#include "experiments/cmd/cmd.h"

void cmd_trace_span(struct xp_call *c, struct cmd_trace_span *s, sim_ns from,
    sim_ns to)
{
	if (from > 0) {
		snprintf(s->from, sizeof(s->from), "%" PRIu64 "ns", from);
		xp_call_add(c, "from", s->from);
	}
	if (to < SIM_NEVER) {
		snprintf(s->to, sizeof(s->to), "%" PRIu64 "ns", to);
		xp_call_add(c, "to", s->to);
	}
}

/* Rows are lines, below a head or not; an array without any is a line, too. */
static int trace_url_is_full(const struct xp_call_got *g, uint64_t limit)
{
	return limit < UINT64_MAX && g->n_bytes > sizeof("[]\n") - 1 &&
	    g->n_lines >= limit;
}

int cmd_trace_call(const struct xp_call *c, uint64_t limit)
{
	struct xp_call_got got;
	struct sim_err e = {0};
	const int rc = xp_call(c, stdout, &got, &e);
	fflush(stdout);
	if (rc < 0)
		return cmd_fail(rc == SIM_ELIMIT ? CMD_FAILED
			: rc == SIM_EINVAL       ? CMD_USAGE
						 : CMD_TROUBLE,
		    &e);
	if (got.note[0] != '\0')
		fprintf(stderr, "culprit: %s.\n", got.note);
	if (trace_url_is_full(&got, limit))
		fprintf(stderr,
		    "culprit: --limit %" PRIu64 " is reached; there may be "
		    "more.\n",
		    limit);
	return CMD_GOOD;
}
