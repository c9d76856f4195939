/* experiments/pingmesh/collector.c -- uploads in, tables of probes out.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/collector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/pingmesh/dsa/batch_set.h"
#include "experiments/pingmesh/dsa/rows.h"
#include "sim/vec.h"

struct xp_collector {
	const struct topo *topo;
	const struct xp_pingmesh *params;
	uint32_t n_dcs, n_kept, n_windows;
	uint32_t first; /* the oldest window that is kept */
	sim_ns window_ns, end_ns;
	struct topo_dc dc[TOPO_REGION_MAX_DCS];
	struct xp_batch_set seen;
	struct xp_held *held;  /* [n_kept * (n_dcs + 1)]; last of each: VIPs */
	struct obs_http *http; /* [n_kept] */
	struct xp_held_pool pool;
	struct obs_probes table; /* what was asked for last, unpacked */
	struct asked {
		uint32_t dc, first, n; /* n 0: not a whole table */
		uint64_t n_changes;
	} asked;
	struct reading { /* in pieces */
		uint32_t dc, first, n, window;
		struct xp_held_mark mark;
	} reading;
	uint64_t n_changes; /* of what is held */
	struct {
		size_t n, cap;
		struct obs_perf_row *row;
	} counters; /* as they came, but for those that were given */
	struct obs_perf perf;
	double *us;
	size_t n_us, cap_us;
	struct xp_collect_counts count;
};

/* Windows are a ring: window w and w + n_kept have the same tables, and the
 * first of them is dropped before the second begins. */
static struct xp_held *collector_held(const struct xp_collector *c,
    uint32_t window, uint32_t dc)
{
	const uint32_t i = dc == XP_COLLECT_VIPS ? c->n_dcs : dc;
	return &c->held[(size_t)(window % c->n_kept) * (c->n_dcs + 1) + i];
}

static void clear_window(struct xp_collector *c, uint32_t window)
{
	for (uint32_t i = 0; i <= c->n_dcs; i++)
		xp_held_clear(&c->held[(size_t)(window % c->n_kept) *
				      (c->n_dcs + 1) +
				  i],
		    &c->pool);
	obs_http_clear(&c->http[window % c->n_kept]);
	c->n_changes++;
}

int xp_collector_open(struct xp_collector **out, const struct topo *t,
    const struct xp_pingmesh *p, uint32_t n_kept, struct sim_err *e)
{
	struct xp_collector *c;
	int rc = SIM_ZALLOC(&c, 1, e);
	if (rc < 0)
		return rc;
	c->topo = t;
	c->params = p;
	c->n_dcs = topo_n_dcs(t);
	/* The limit protects a service from strangers; these agents are all
	 * of this run, and need no more runs than they upload batches. */
	c->seen.max_runs = SIZE_MAX;
	c->n_kept = n_kept;
	c->n_windows = xp_pingmesh_n_windows(p);
	c->window_ns = (sim_ns)llround(p->window_s * 1e9);
	c->end_ns = c->n_windows * c->window_ns;
	for (uint32_t i = 0; i < c->n_dcs; i++)
		c->dc[i] = topo_dc_at(t, i);
	rc = SIM_ZALLOC(&c->held, (size_t)n_kept * (c->n_dcs + 1), e);
	if (rc == 0)
		rc = SIM_ZALLOC(&c->http, n_kept, e);
	if (rc < 0) {
		xp_collector_close(c);
		return rc;
	}
	xp_collector_clear(c);
	*out = c;
	return 0;
}

void xp_collector_close(struct xp_collector *c)
{
	if (!c)
		return;
	for (uint32_t i = 0; c->held && c->http && i < c->n_kept; i++) {
		clear_window(c, i);
		obs_http_free(&c->http[i]);
	}
	xp_held_pool_free(&c->pool);
	obs_probes_free(&c->table);
	obs_perf_free(&c->perf);
	xp_batch_set_free(&c->seen);
	free(c->counters.row);
	free(c->held);
	free(c->http);
	free(c->us);
	free(c);
}

void xp_collector_clear(struct xp_collector *c)
{
	xp_batch_set_free(&c->seen);
	for (uint32_t i = 0; i < c->n_kept; i++)
		clear_window(c, i);
	c->first = 0;
	c->counters.n = 0;
	c->n_us = 0;
	c->count = (struct xp_collect_counts){0};
}

void xp_collector_drop(struct xp_collector *c, uint32_t first)
{
	for (; c->first < first; c->first++)
		clear_window(c, c->first);
}

/* --- records -------------------------------------------------------------- */

/* Along quantiles, keep the time of a probe if it is of the group and data
 * centre that are asked for. An echo time of 0 means that no payload came back,
 * or of a GET no answer of status 200.
 * The times of all windows are kept together, as quantiles cannot be joined
 * from those of parts. */
static int take_time(struct xp_collector *c, const struct topo_dc *dc,
    const struct algo_pingmesh_record *r, const struct obs_probe *row,
    struct sim_err *e)
{
	const struct xp_pingmesh *p = c->params;
	const enum agent_ping ping =
	    p->time == XP_TIME_HTTP ? AGENT_PING_HTTP : AGENT_PING_TCP;
	const sim_ns ns = p->time == XP_TIME_CONNECT ? r->rtt_ns
	    : r->ping == ping                        ? r->echo_ns
						     : 0;
	if (p->along != XP_ALONG_QUANTILE || r->outcome != AGENT_CONNECTED ||
	    ns == 0 || dc->id != p->dc ||
	    (p->group != ALGO_DROP_ALL &&
		p->group !=
		    algo_drop_group_of(dc, row->src_host, row->dst_host,
			row->level)))
		return 0;
	int rc = SIM_RESERVE(&c->us, &c->cap_us, c->n_us + 1, e);
	if (rc == 0)
		c->us[c->n_us++] = (double)ns / 1e3;
	return rc;
}

static int hold_row(struct xp_collector *c, uint32_t window, uint32_t dc,
    const struct obs_probe *row, struct sim_err *e)
{
	c->n_changes++;
	return xp_held_add(collector_held(c, window, dc), &c->pool,
	    window * c->window_ns, row, e);
}

static int pingmesh_collector_add_row(struct xp_collector *c, uint32_t window,
    const struct algo_pingmesh_record *r, const struct obs_probe *row,
    struct sim_err *e)
{
	const uint32_t dc = topo_dcs_find(c->dc, c->n_dcs, row->src_host);
	struct obs_http_row get;
	c->count.n_rows++;
	int rc = hold_row(c, window, dc, row, e);
	if (rc == 0 && xp_dsa_http_row(r, row, &get))
		rc = obs_http_add(&c->http[window % c->n_kept], &get, e);
	return rc < 0 ? rc : take_time(c, &c->dc[dc], r, row, e);
}

/* Turn a record into a row, and put it into its window. Fates up to
 * XP_DSA_VIP_ROW are rows; the others say why there is none. */
static int take_record(struct xp_collector *c, uint32_t src_ip,
    const struct algo_pingmesh_record *r, struct sim_err *e)
{
	struct obs_probe row;
	const enum xp_dsa_fate fate =
	    xp_dsa_row(c->dc, c->n_dcs, src_ip, r, &row);
	c->count.n_failed += fate == XP_DSA_FAILED;
	c->count.n_foreign += fate == XP_DSA_FOREIGN;
	c->count.n_odd += fate == XP_DSA_ODD;
	if (fate > XP_DSA_VIP_ROW)
		return 0;
	if (r->sent_ns >= c->end_ns || r->sent_ns / c->window_ns < c->first) {
		c->count.n_late++;
		return 0;
	}
	const uint32_t window = (uint32_t)(r->sent_ns / c->window_ns);
	assert(window < c->first + c->n_kept);
	if (fate == XP_DSA_ROW)
		return pingmesh_collector_add_row(c, window, r, &row, e);
	c->count.n_vip_rows++;
	return hold_row(c, window, XP_COLLECT_VIPS, &row, e);
}

/* --- batches -------------------------------------------------------------- */

int xp_collector_take(struct xp_collector *c, const void *data, size_t n,
    struct sim_err *e)
{
	enum { HEAD = offsetof(struct algo_pingmesh_batch, record) };
	const struct algo_pingmesh_batch *b = data;
	int rc = 0;
	/* The length must be the one that the batch says of itself, and the
	 * sender one of the network's hosts, before any record is looked at:
	 * a faulty agent may upload anything. */
	if (n >= HEAD && b->number > 0 && b->n <= ALGO_PINGMESH_BATCH &&
	    n == HEAD + b->n * sizeof(b->record[0]) &&
	    topo_addr_to_host(b->src_ip, c->topo->n_hosts) != TOPO_NONE) {
		const struct algo_pingmesh_wire_id id =
		    {ALGO_PINGMESH_OF_RECORDS, b->born_ns, b->number, b->n_lost,
			topo_ip_of_4(b->src_ip), b->n};
		rc = xp_batch_set_take(&c->seen, &id, e);
	}
	if (rc <= 0) {
		c->count.n_repeated += rc == 0;
		return rc;
	}
	c->count.n_lost = c->seen.n_lost;
	c->count.n_batches++;
	c->count.n_records += b->n;
	for (uint32_t i = 0; rc >= 0 && i < b->n; i++)
		rc = take_record(c, b->src_ip, &b->record[i], e);
	return rc < 0 ? rc : 0;
}

/* Agents do not upload counters again, whatever comes of the first try, so
 * there is no need to know which ones came before. */
int xp_collector_count(struct xp_collector *c,
    const struct algo_pingmesh_window *w, struct sim_err *e)
{
	struct obs_perf_row row;
	const enum xp_dsa_fate fate =
	    xp_dsa_counters_row(c->topo->n_hosts, w, &row);
	c->count.n_foreign += fate == XP_DSA_FOREIGN;
	c->count.n_odd += fate == XP_DSA_ODD;
	if (fate != XP_DSA_ROW)
		return 0;
	int rc = SIM_RESERVE(&c->counters.row, &c->counters.cap,
	    c->counters.n + 1, e);
	if (rc == 0)
		c->counters.row[c->counters.n++] = row;
	return rc;
}

/* --- tables --------------------------------------------------------------- */

/* Empty it, with room for N rows and no more: what had fewer is not copied. The
 * waits are set anew as well, for the analyses read lost SYNs by those of the
 * table (algos/pingmesh/drop_rate.h). */
static int begin_table(struct xp_collector *c, size_t n, struct sim_err *e)
{
	struct obs_probes *t = &c->table;
	c->asked.n = 0;
	if (n > t->cap)
		obs_probes_free(t);
	obs_probes_clear(t);
	xp_pingmesh_waits(c->params, t->syn_wait_ns);
	return obs_probes_reserve(t, n, e);
}

static int unpack_windows(struct xp_collector *c, const struct asked *a,
    struct sim_err *e)
{
	size_t n = 0;
	for (uint32_t i = 0; i < a->n; i++)
		n += collector_held(c, a->first + i, a->dc)->n;
	int rc = begin_table(c, n, e);
	for (uint32_t i = 0; rc == 0 && i < a->n; i++) {
		struct xp_held_mark at = {NULL, 0};
		rc = xp_held_next(collector_held(c, a->first + i, a->dc),
		    &c->pool, (a->first + i) * c->window_ns, &at, SIZE_MAX,
		    NULL, &c->table, e);
	}
	return rc;
}

/* The jobs of a window ask for the same table one after the other, and it is
 * unpacked once unless rows came meanwhile. */
int xp_collector_table(struct xp_collector *c, uint32_t dc, uint32_t first,
    uint32_t n, const struct obs_probes **out, struct sim_err *e)
{
	const struct asked now = {dc, first, n, c->n_changes};
	const struct asked *last = &c->asked;
	int rc = 0;
	assert(first >= c->first && first + n <= c->first + c->n_kept);
	if (last->dc != dc || last->first != first || last->n != n ||
	    last->n_changes != c->n_changes)
		rc = unpack_windows(c, &now, e);
	if (rc == 0)
		c->asked = now;
	*out = &c->table;
	return rc;
}

/* Windows follow each other in a piece, which ends when it is full. */
static int collector_read(void *arg, size_t *at,
    const struct obs_probe_span *only, const struct obs_probes **piece,
    struct sim_err *e)
{
	struct xp_collector *c = arg;
	struct reading *r = &c->reading;
	int rc = begin_table(c, XP_COLLECT_PIECE, e);
	if (*at == 0) {
		r->window = 0;
		r->mark = (struct xp_held_mark){NULL, 0};
	}
	while (rc == 0 && r->window < r->n && c->table.n < XP_COLLECT_PIECE) {
		const uint32_t w = r->first + r->window;
		const struct xp_held *h = collector_held(c, w, r->dc);
		const size_t before = r->mark.n;
		rc = xp_held_next(h, &c->pool, w * c->window_ns, &r->mark,
		    XP_COLLECT_PIECE - c->table.n, only, &c->table, e);
		*at += r->mark.n - before;
		if (r->mark.n == h->n) {
			r->window++;
			r->mark = (struct xp_held_mark){NULL, 0};
		}
	}
	*piece = &c->table;
	return rc;
}

struct obs_probe_source xp_collector_pieces(struct xp_collector *c, uint32_t dc,
    uint32_t first, uint32_t n)
{
	struct obs_probe_source s = {.syn_wait_ns = c->table.syn_wait_ns,
	    .arg = c,
	    .read = collector_read};
	assert(first >= c->first && first + n <= c->first + c->n_kept);
	xp_pingmesh_waits(c->params, c->table.syn_wait_ns);
	c->reading = (struct reading){.dc = dc, .first = first, .n = n};
	for (uint32_t i = 0; i < n; i++)
		s.n += collector_held(c, first + i, dc)->n;
	return s;
}

/* No two rows are equal: a host ends one window of counters at a time. So the
 * order does not depend on how they arrived, nor on qsort(). */
static int by_end_and_host(const void *a, const void *b)
{
	const struct obs_perf_row *x = a, *y = b;
	return x->end_ns != y->end_ns
	    ? (x->end_ns > y->end_ns) * 2 - 1
	    : (x->host > y->host) - (x->host < y->host);
}

int xp_collector_perf(struct xp_collector *c, sim_ns to,
    const struct obs_perf **out, struct sim_err *e)
{
	struct obs_perf_row *row = c->counters.row;
	size_t n = 0;
	int rc = 0;
	if (c->counters.n > 0)
		qsort(row, c->counters.n, sizeof(*row), by_end_and_host);
	obs_perf_clear(&c->perf);
	for (; rc == 0 && n < c->counters.n && row[n].end_ns <= to; n++)
		rc = obs_perf_add(&c->perf, &row[n], e);
	*out = &c->perf;
	if (rc < 0 || n == 0)
		return rc;
	c->counters.n -= n;
	memmove(row, row + n, c->counters.n * sizeof(*row));
	return 0;
}

const struct obs_http *xp_collector_http(const struct xp_collector *c,
    uint32_t window)
{
	assert(window >= c->first && window < c->first + c->n_kept);
	return &c->http[window % c->n_kept];
}

double *xp_collector_times(struct xp_collector *c, size_t *n)
{
	*n = c->n_us;
	return c->us;
}

struct xp_collect_counts xp_collector_counts(const struct xp_collector *c)
{
	return c->count;
}
