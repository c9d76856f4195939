/* experiments/everflow/keep.c -- the latest traces and counters, in bounded memory.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/everflow/keep.h"

#include "algos/everflow/ring.h"

/* Hops that a trace is thought to have; a half with more of them is full
 * sooner. */
enum { KEEP_HOPS = 6 };

static size_t keep_row_bytes(const struct sim_table *kind)
{
	size_t n = 0;
	for (size_t i = 0; i < kind->n_columns; i++)
		n += kind->column[i].size;
	return n;
}

int xp_keep_open(struct xp_keep *k, size_t bytes, struct sim_err *e)
{
	const size_t trace = keep_row_bytes(algo_traces_kind());
	const size_t hops = KEEP_HOPS * keep_row_bytes(algo_hops_kind());
	int rc = 0;
	*k = (struct xp_keep){0};
	if (bytes < XP_KEEP_LEAST)
		return sim_fail(e, SIM_EINVAL,
		    "%zu bytes to keep traces in; it takes %d.", bytes,
		    XP_KEEP_LEAST);
	k->cap_traces = bytes / 16 * 7 / (trace + hops);
	k->cap_hops = k->cap_traces * KEEP_HOPS;
	k->cap_rows = bytes / 16 / keep_row_bytes(algo_counters_kind());
	for (unsigned i = 0; rc == 0 && i < 2; i++)
		if ((rc = algo_traces_reserve(&k->traces[i].traces,
			 k->cap_traces, e)) == 0 &&
		    (rc = algo_hops_reserve(&k->traces[i].hops, k->cap_hops,
			 e)) == 0)
			rc = algo_counters_reserve(&k->counters[i], k->cap_rows,
			    e);
	return rc;
}

void xp_keep_free(struct xp_keep *k)
{
	for (unsigned i = 0; i < 2; i++) {
		algo_trace_store_free(&k->traces[i]);
		algo_counters_free(&k->counters[i]);
	}
	*k = (struct xp_keep){0};
}

static void keep_turn_traces(struct xp_keep *k)
{
	struct algo_trace_store old = k->traces[0];
	for (size_t i = 0; i < old.traces.n; i++)
		if (old.traces.t_ns[i] > k->gone_ns)
			k->gone_ns = old.traces.t_ns[i];
	k->first += old.traces.n;
	algo_trace_store_clear(&old);
	k->traces[0] = k->traces[1];
	k->traces[1] = old;
}

void xp_keep_trace(struct xp_keep *k, const struct algo_trace *t,
    const struct algo_hop hop[])
{
	if (k->traces[1].traces.n == k->cap_traces ||
	    k->traces[1].hops.n + t->n_hops > k->cap_hops)
		keep_turn_traces(k);
	/* There is room: a half holds the longest trace many times. */
	algo_trace_store_add(&k->traces[1], t, hop, NULL);
	k->n++;
}

static void keep_turn_rows(struct xp_keep *k)
{
	struct algo_counters old = k->counters[0];
	for (size_t i = 0; i < old.n; i++)
		if (old.t_ns[i] > k->rows_gone_ns)
			k->rows_gone_ns = old.t_ns[i];
	k->n_rows_gone += old.n;
	algo_counters_clear(&old);
	k->counters[0] = k->counters[1];
	k->counters[1] = old;
}

void xp_keep_rows(struct xp_keep *k, const struct algo_counters *r)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct algo_counter row = algo_counters_at(r, i);
		if (k->counters[1].n == k->cap_rows)
			keep_turn_rows(k);
		algo_counters_add(&k->counters[1], &row, NULL);
	}
}

void xp_keep_at(const struct xp_keep *k, uint64_t id, struct algo_trace *t,
    struct algo_hop hop[])
{
	const size_t n = k->traces[0].traces.n, at = (size_t)(id - k->first);
	const struct algo_trace_store *s = &k->traces[at >= n];
	*t = algo_traces_at(&s->traces, at >= n ? at - n : at);
	for (unsigned i = 0; i < t->n_hops; i++)
		hop[i] = algo_hops_at(&s->hops, t->hop_off + i);
}

int xp_keep_load(const struct xp_keep *k, sim_ns from, sim_ns to,
    struct algo_trace_store *s, struct algo_counters *r, struct sim_err *e)
{
	struct algo_hop hop[ALGO_RING_MAX_COPIES];
	struct algo_trace t;
	int rc = 0;
	for (uint64_t id = k->first; rc == 0 && id < k->n; id++) {
		xp_keep_at(k, id, &t, hop);
		if (t.t_ns >= from && t.t_ns < to)
			rc = algo_trace_store_add(s, &t, hop, e);
	}
	for (unsigned h = 0; h < 2; h++)
		for (size_t i = 0; rc == 0 && i < k->counters[h].n; i++) {
			const struct algo_counter row =
			    algo_counters_at(&k->counters[h], i);
			if (row.t_ns > from && row.t_ns <= to)
				rc = algo_counters_add(r, &row, e);
		}
	return rc;
}
