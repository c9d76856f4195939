/* experiments/cmd/trace_url.h -- a running analyzer in place of a file of traces.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_CMD_TRACE_URL_H
#define EXPERIMENTS_CMD_TRACE_URL_H

#include "experiments/live/call.h"
#include "sim/time.h"

/* A span as parameters `from` and `to`, of which the text is kept here. */
struct cmd_trace_span {
	char from[32], to[32];
};
void cmd_trace_span(struct xp_call *c, struct cmd_trace_span *s, sim_ns from,
    sim_ns to);

/* Ask, with the answer on stdout, and what it lacks told on stderr; returns the
 * exit code. LIMIT, unless UINT64_MAX, is how many traces were asked for. */
int cmd_trace_call(const struct xp_call *c, uint64_t limit);

#endif
