/* experiments/everflow/keep.h -- the latest traces and counters, in bounded memory.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a running analyzer can be asked for. All memory is taken by open(): seven
 * eighths for traces, each about 110 bytes and 36 a hop, an eighth for rows of
 * counters, each 29 bytes. Either is kept in two halves. When one is full the
 * older half is forgotten as a whole, so at least a half of what fits is there,
 * and each is a table that debuggers can be given.
 */
#ifndef EXPERIMENTS_EVERFLOW_KEEP_H
#define EXPERIMENTS_EVERFLOW_KEEP_H

#include "algos/everflow/counter.h"
#include "algos/everflow/trace.h"
#include "sim/time.h"

struct xp_keep {
	struct algo_trace_store traces[2]; /* the older one, the newer one */
	struct algo_counters counters[2];
	size_t cap_traces, cap_hops, cap_rows; /* of a half */
	uint64_t first, n;                     /* ids of traces: [first, n) */
	uint64_t n_rows_gone;
	sim_ns gone_ns, rows_gone_ns; /* the latest of those forgotten */
};

/* Errors SIM_EINVAL (less than XP_KEEP_LEAST bytes), SIM_ENOMEM. To be freed also
 * then. */
enum { XP_KEEP_LEAST = 1 << 20 };
int xp_keep_open(struct xp_keep *k, size_t bytes, struct sim_err *e);
void xp_keep_free(struct xp_keep *k); /* zeroed is fine */

/* Keep a trace, whose id is the number of those before; the rows of R. */
void xp_keep_trace(struct xp_keep *k, const struct algo_trace *t,
    const struct algo_hop hop[]);
void xp_keep_rows(struct xp_keep *k, const struct algo_counters *r);

/* Trace ID with its hops. Shape hop[ALGO_RING_MAX_COPIES]. Domain [first, n). */
void xp_keep_at(const struct xp_keep *k, uint64_t id, struct algo_trace *t,
    struct algo_hop hop[]);

/* Append traces with first copies in [FROM, TO), rows of spans that ended in
 * (FROM, TO]. Errors SIM_ENOMEM. */
int xp_keep_load(const struct xp_keep *k, sim_ns from, sim_ns to,
    struct algo_trace_store *s, struct algo_counters *r, struct sim_err *e);

#endif
