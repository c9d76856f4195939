/* results/epoch_window.c -- the flows of an epoch's file as a window.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Flows are read and checked in blocks, and of each block those are kept that
 * algorithms are to be shown: a file may have millions, of which few failed.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "results/epoch.h"
#include "results/epoch_parts.h"
#include "sim/vec.h"

/* One block, as it stands in the file; W's offsets count within the block. */
struct block {
	struct res_epoch *x;
	uint64_t first; /* row of the file */
	struct obs w;
	struct res_epoch_marks mark;
	struct res_epoch_offsets offset;
	struct res_epoch_hops hop;
	struct res_epoch_flow_truths truth;
	struct res_epoch_hop_truths hop_truth;
};

static void block_free(struct block *b)
{
	obs_free(&b->w);
	res_epoch_marks_free(&b->mark);
	res_epoch_offsets_free(&b->offset);
	res_epoch_hops_free(&b->hop);
	res_epoch_flow_truths_free(&b->truth);
	res_epoch_hop_truths_free(&b->hop_truth);
}

/* --- reading ---------------------------------------------------------------*/

/* The hops of N flows: their range is checked as a whole before it is read, and
 * flow by flow by obs_check(). */
static int get_hops(struct block *b, uint64_t n, struct sim_err *e)
{
	struct res_epoch_reader *r = b->x->reader;
	struct obs_hops *h = &b->w.hops;
	int rc = res_epoch_block(r, RES_EPOCH_OFFSETS, b->first, n + 1,
	    res_epoch_offsets_kind(), &b->offset, e);
	if (rc < 0)
		return rc;
	/* What is below 0 is beyond every table. */
	const uint64_t from = (uint64_t)b->offset.first_hop[0];
	const uint64_t to = (uint64_t)b->offset.first_hop[n];
	if (to < from || to > r->table[RES_EPOCH_HOPS].n ||
	    to - from > n * TOPO_MAX_HOPS)
		return sim_fail(e, SIM_EPARSE,
		    "offsets: the flows from row %" PRIu64
		    " on have hops %" PRIu64 " to %" PRIu64 ", of %" PRIu64
		    "; offsets ascend, and a flow has at most %d hops.",
		    b->first, from, to, r->table[RES_EPOCH_HOPS].n,
		    TOPO_MAX_HOPS);
	if ((rc = res_epoch_block(r, RES_EPOCH_HOPS, from, to - from,
		 res_epoch_hops_kind(), &b->hop, e)) < 0 ||
	    (rc = SIM_RESERVE(&h->off, &h->cap_off, n + 1, e)) < 0 ||
	    (rc = SIM_RESERVE(&h->link, &h->cap, b->hop.n, e)) < 0)
		return rc;
	for (uint64_t i = 0; i <= n; i++)
		h->off[i] = (uint64_t)b->offset.first_hop[i] - from;
	for (size_t i = 0; i < b->hop.n; i++)
		h->link[i] = b->hop.link[i];
	h->n = b->hop.n;
	return b->x->has_truth
	    ? res_epoch_block(r, RES_EPOCH_HOP_TRUTH, from, to - from,
		  res_epoch_hop_truths_kind(), &b->hop_truth, e)
	    : 0;
}

static int get_flows(struct block *b, uint64_t n, struct sim_err *e)
{
	struct res_epoch_reader *r = b->x->reader;
	int rc = res_epoch_block(r, RES_EPOCH_FLOWS, b->first, n,
	    obs_flows_kind(), &b->w.flows, e);
	/* Both columns may be missing; then there are no rows to read. */
	res_epoch_marks_clear(&b->mark);
	if (rc == 0 && r->table[RES_EPOCH_MARKS].n > 0)
		rc = res_epoch_block(r, RES_EPOCH_MARKS, b->first, n,
		    res_epoch_marks_kind(), &b->mark, e);
	if (rc == 0 && b->x->has_truth)
		rc = res_epoch_block(r, RES_EPOCH_FLOW_TRUTH, b->first, n,
		    res_epoch_flow_truths_kind(), &b->truth, e);
	return rc < 0 ? rc : get_hops(b, n, e);
}

/* --- checks ----------------------------------------------------------------*/

static int has_mark(const struct block *b, unsigned column)
{
	const struct res_epoch_reader *r = b->x->reader;
	return b->mark.n > 0 &&
	    res_h5_in_has_column(r->table[RES_EPOCH_MARKS].rows, column);
}

static int is_in_window(const struct block *b, size_t i)
{
	return has_mark(b, 1) ? b->mark.in_window[i] : 1;
}

static int epoch_check_flow(const struct block *b, size_t i, struct sim_err *e)
{
	const struct obs_flows *f = &b->w.flows;
	const uint32_t n_hosts = b->x->topo.n_hosts;
	const uint64_t row = b->first + i;
	if (f->src_host[i] >= n_hosts || f->dst_host[i] >= n_hosts)
		return sim_fail(e, SIM_EPARSE,
		    "flows: row %" PRIu64
		    " is from host %u to host %u, but there are only %u.",
		    row, f->src_host[i], f->dst_host[i], n_hosts);
	if (has_mark(b, 0) && b->mark.failed[i] != (f->n_retx[i] > 0))
		return sim_fail(e, SIM_EPARSE,
		    "flows: row %" PRIu64
		    " has failed = %u, but %u packets were sent again.",
		    row, b->mark.failed[i], f->n_retx[i]);
	if (has_mark(b, 1) && b->mark.in_window[i] > 1)
		return sim_fail(e, SIM_EPARSE,
		    "flows: row %" PRIu64 " has in_window = %u, not 0 or 1.",
		    row, b->mark.in_window[i]);
	if (b->x->info.complete && !is_in_window(b, i))
		return sim_fail(e, SIM_EMISMATCH,
		    "flows: row %" PRIu64
		    " is not in the window, which is said to be complete.",
		    row);
	return 0;
}

static int is_link(const struct block *b, topo_link l)
{
	return l < b->x->topo.n_links || l == TOPO_NONE;
}

/* Of a file without the column all counts are 0. */
static int epoch_check_buffer(const struct block *b, size_t i, uint64_t k,
    struct sim_err *e)
{
	const struct res_epoch_hop_truths *h = &b->hop_truth;
	if (h->buffer[k] > h->drops[k])
		return sim_fail(e, SIM_EMISMATCH,
		    "hop_truth: flow %" PRIu64
		    " lost %u packets on a hop, and %u of them in the buffer.",
		    b->first + i, h->drops[k], h->buffer[k]);
	return h->buffer[k] > 0 && !b->x->info.has_buffer
	    ? sim_fail(e, SIM_EMISMATCH,
		  "hop_truth: flow %" PRIu64
		  " lost packets in a buffer, which needs has_buffer.",
		  b->first + i)
	    : 0;
}

static int check_flow_truth(const struct block *b, size_t i, struct sim_err *e)
{
	const struct res_epoch_flow_truths *t = &b->truth;
	const struct res_epoch_hop_truths *h = &b->hop_truth;
	uint64_t n_drops = 0;
	for (uint64_t k = b->w.hops.off[i]; k < b->w.hops.off[i + 1]; k++) {
		const int rc = epoch_check_buffer(b, i, k, e);
		if (rc < 0)
			return rc;
		n_drops += h->drops[k];
		if (!is_link(b, h->link[k]))
			return sim_fail(e, SIM_EPARSE,
			    "hop_truth: flow %" PRIu64
			    " is said to cross link %u, but there are only %u.",
			    b->first + i, h->link[k], b->x->topo.n_links);
	}
	if (n_drops != t->n_drops[i])
		return sim_fail(e, SIM_EMISMATCH,
		    "flow_truth: row %" PRIu64 " has n_drops %" PRIu64
		    ", but the drops of its hops add up to %" PRIu64 ".",
		    b->first + i, t->n_drops[i], n_drops);
	if (!is_link(b, t->culprit[i]) || !is_link(b, t->culprit_released[i]))
		return sim_fail(e, SIM_EPARSE,
		    "flow_truth: row %" PRIu64
		    " has culprits %u and %u, but there are only %u links.",
		    b->first + i, t->culprit[i], t->culprit_released[i],
		    b->x->topo.n_links);
	return 0;
}

static int check_block(const struct block *b, struct sim_err *e)
{
	int rc = obs_check(&b->w, b->x->topo.n_links, e);
	if (rc < 0)
		return sim_wrap(e, SIM_EPARSE,
		    "flows, counted from row %" PRIu64 " on", b->first);
	for (size_t i = 0; rc == 0 && i < b->w.flows.n; i++) {
		rc = epoch_check_flow(b, i, e);
		if (rc == 0 && b->x->has_truth)
			rc = check_flow_truth(b, i, e);
	}
	return rc;
}

/* --- keeping ---------------------------------------------------------------*/

static int keep_truth(struct block *b, size_t i, struct sim_err *e)
{
	struct res_epoch *x = b->x;
	const uint64_t from = b->w.hops.off[i];
	const unsigned n = obs_n_hops(&b->w, i);
	const size_t row = x->window.flows.n - 1;
	int rc;
	if ((rc = losses_add_hops(&x->lost, b->hop_truth.drops + from,
		 b->hop_truth.buffer + from, n, e)) < 0 ||
	    (rc = losses_add_path(&x->lost, b->hop_truth.link + from, n, e)) <
		0 ||
	    (rc = SIM_RESERVE(&x->culprit, &x->cap_culprit, row + 1, e)) < 0)
		return rc;
	x->culprit[row] = b->truth.culprit[i];
	return x->info.own_culprits
	    ? losses_add_culprit(&x->lost, b->truth.culprit[i], e)
	    : 0;
}

static int keep_flow(struct block *b, size_t i, struct sim_err *e)
{
	struct res_epoch *x = b->x;
	const struct obs_flow flow = obs_flows_at(&b->w.flows, i);
	const size_t row = x->window.flows.n;
	int rc;
	if ((rc = SIM_RESERVE(&x->row, &x->cap_row, row + 1, e)) < 0 ||
	    (rc = obs_add_flow(&x->window, &flow, obs_path(&b->w, i),
		 obs_n_hops(&b->w, i), e)) < 0)
		return rc;
	x->row[row] = b->first + i;
	return x->has_truth ? keep_truth(b, i, e) : 0;
}

static int take_block(struct block *b, uint64_t n, int all, struct sim_err *e)
{
	int rc = get_flows(b, n, e);
	if (rc == 0)
		rc = check_block(b, e);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		if (all || is_in_window(b, i))
			rc = keep_flow(b, i, e);
	}
	return rc;
}

/* --- all of it -------------------------------------------------------------*/

static int check_rows(const struct res_epoch *x, const char *name, uint64_t n,
    uint64_t want, struct sim_err *e)
{
	(void)x;
	return n == want
	    ? 0
	    : sim_fail(e, SIM_EMISMATCH,
		  "table %s has %" PRIu64 " rows, which should be %" PRIu64 ".",
		  name, n, want);
}

/* How many rows tables have, where one follows from another. */
static int check_sizes(const struct res_epoch *x, struct sim_err *e)
{
	const struct res_epoch_reader *r = x->reader;
	const uint64_t n = r->table[RES_EPOCH_FLOWS].n;
	int rc =
	    check_rows(x, "offsets", r->table[RES_EPOCH_OFFSETS].n, n + 1, e);
	if (rc < 0 || !x->has_truth)
		return rc;
	rc =
	    check_rows(x, "flow_truth", r->table[RES_EPOCH_FLOW_TRUTH].n, n, e);
	return rc < 0
	    ? rc
	    : check_rows(x, "hop_truth", r->table[RES_EPOCH_HOP_TRUTH].n,
		  r->table[RES_EPOCH_HOPS].n, e);
}

static int check_counts(const struct res_epoch *x, struct sim_err *e)
{
	const struct res_epoch_info *info = &x->info;
	const uint64_t n = x->reader->table[RES_EPOCH_FLOWS].n;
	if (info->complete && !info->all_flows)
		return sim_fail(e, SIM_EMISMATCH,
		    "a complete window needs all_flows.");
	if (x->has_truth && info->has_buffer &&
	    !res_h5_in_has_column(x->reader->table[RES_EPOCH_HOP_TRUTH].rows,
		2))
		return sim_fail(e, SIM_EMISMATCH,
		    "has_buffer needs the column hop_truth/buffer.");
	if (info->all_seen && !info->all_flows)
		return sim_fail(e, SIM_EMISMATCH, "all_seen needs all_flows.");
	/* There may be more: with TCP a way back can be a row, too. */
	if (info->all_flows && n < info->n_flows)
		return sim_fail(e, SIM_EMISMATCH,
		    "%" PRIu64 " flows ran and all are said to be there, but "
		    "there are %" PRIu64 ".",
		    info->n_flows, n);
	return 0;
}

/* The first flow's hops begin at 0 and the last one's end with the table, so
 * every hop is some flow's. */
static int check_hops(struct block *b, uint64_t n, struct sim_err *e)
{
	struct res_epoch_reader *r = b->x->reader;
	uint64_t ends[2];
	for (int i = 0; i < 2; i++) {
		const int rc = res_epoch_block(r, RES_EPOCH_OFFSETS, i ? n : 0,
		    1, res_epoch_offsets_kind(), &b->offset, e);
		if (rc < 0)
			return rc;
		ends[i] = (uint64_t)b->offset.first_hop[0];
	}
	return ends[0] == 0 && ends[1] == r->table[RES_EPOCH_HOPS].n
	    ? 0
	    : sim_fail(e, SIM_EMISMATCH,
		  "offsets: they go from %" PRIu64 " to %" PRIu64
		  ", but hops from 0 to %" PRIu64 ".",
		  ends[0], ends[1], r->table[RES_EPOCH_HOPS].n);
}

static int take_blocks(struct block *b, int all, struct sim_err *e)
{
	struct res_epoch *x = b->x;
	const uint64_t n = x->reader->table[RES_EPOCH_FLOWS].n;
	int rc;
	if ((rc = check_sizes(x, e)) < 0 || (rc = check_counts(x, e)) < 0 ||
	    (rc = check_hops(b, n, e)) < 0)
		return rc;
	for (uint64_t k; rc == 0 && b->first < n; b->first += k) {
		k = n - b->first < RES_EPOCH_CHUNK ? n - b->first
						   : RES_EPOCH_CHUNK;
		rc = take_block(b, k, all, e);
	}
	x->window.n_flows = x->info.n_flows > 0 ? x->info.n_flows : n;
	x->window.n_packets = x->info.n_packets;
	x->window.complete = all || x->info.complete;
	return rc;
}

int res_epoch_window(struct res_epoch *x, int all, struct sim_err *e)
{
	struct block b = {.x = x};
	int rc;
	obs_clear(&x->window);
	losses_clear(&x->lost);
	x->lost.has_buffer = x->has_truth && x->info.has_buffer;
	if (all && !x->info.all_seen)
		rc = sim_fail(e, SIM_EUNSUPPORTED,
		    "it does not hold, or agents did not see, the flows that "
		    "lost nothing.");
	else
		rc = take_blocks(&b, all, e);
	if (rc == 0)
		rc = res_epoch_get_tallies(x, e);
	block_free(&b);
	return rc < 0 ? sim_wrap(e, rc, "cannot read %s", x->reader->path) : 0;
}
