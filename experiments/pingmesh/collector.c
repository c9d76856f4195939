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
#include "topo/region.h"

struct xp_collector {
	const struct topo *topo;
	const struct xp_pingmesh *params;
	uint32_t n_dcs, n_kept, n_windows;
	uint32_t first; /* the oldest window that is kept */
	sim_ns window_ns, end_ns;
	struct topo_dc dc[TOPO_REGION_MAX_DCS];
	struct xp_batch_set seen;
	struct obs_probes
	    *table; /* [n_kept * (n_dcs + 1)]; last of each: VIPs */
	struct obs_probes joined;
	struct {
		size_t n, cap;
		struct obs_perf_row *row;
	} counters; /* as they came */
	struct obs_perf perf;
	double *us;
	size_t n_us, cap_us;
	struct xp_collect_counts count;
};

/* Windows are a ring: window w and w + n_kept have the same tables, and the
 * first of them is dropped before the second begins. */
static struct obs_probes *
pingmesh_collector_table_of(const struct xp_collector *c, uint32_t window,
    uint32_t dc)
{
	return &c->table[(size_t)(window % c->n_kept) * (c->n_dcs + 1) + dc];
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
	rc = SIM_ZALLOC(&c->table, (size_t)n_kept * (c->n_dcs + 1), e);
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
	for (size_t i = 0; c->table && i < (size_t)c->n_kept * (c->n_dcs + 1);
	     i++)
		obs_probes_free(&c->table[i]);
	obs_probes_free(&c->joined);
	obs_perf_free(&c->perf);
	xp_batch_set_free(&c->seen);
	free(c->counters.row);
	free(c->table);
	free(c->us);
	free(c);
}

/* The waits are set anew as well, for the analyses read lost SYNs by those of
 * the table (algos/pingmesh/drop_rate.h). */
static void clear_window(struct xp_collector *c, uint32_t window)
{
	for (uint32_t i = 0; i <= c->n_dcs; i++) {
		struct obs_probes *t =
		    pingmesh_collector_table_of(c, window, i);
		obs_probes_clear(t);
		memset(t->syn_wait_ns, 0, sizeof(t->syn_wait_ns));
		xp_pingmesh_waits(c->params, t->syn_wait_ns);
	}
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
 * centre that are asked for. An echo time of 0 means that no payload came back.
 * The times of all windows are kept together, as quantiles cannot be joined
 * from those of parts. */
static int take_time(struct xp_collector *c, const struct topo_dc *dc,
    const struct algo_pingmesh_record *r, const struct obs_probe *row,
    struct sim_err *e)
{
	const struct xp_pingmesh *p = c->params;
	const sim_ns ns = p->time == XP_TIME_ECHO ? r->echo_ns : r->rtt_ns;
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

static int pingmesh_collector_add_row(struct xp_collector *c, uint32_t window,
    const struct algo_pingmesh_record *r, const struct obs_probe *row,
    struct sim_err *e)
{
	const uint32_t dc = topo_dcs_find(c->dc, c->n_dcs, row->src_host);
	c->count.n_rows++;
	int rc =
	    obs_probes_add(pingmesh_collector_table_of(c, window, dc), row, e);
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
	return obs_probes_add(pingmesh_collector_table_of(c, window, c->n_dcs),
	    &row, e);
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
			b->src_ip, b->n};
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

static int pingmesh_collector_join(struct obs_probes *to,
    const struct obs_probes *from, struct sim_err *e)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < from->n; i++) {
		const struct obs_probe row = obs_probes_at(from, i);
		rc = obs_probes_add(to, &row, e);
	}
	return rc;
}

/* One window is lent as it stands. Several are copied together each time they
 * are asked for, since rows may have come meanwhile. */
int xp_collector_table(struct xp_collector *c, uint32_t dc, uint32_t first,
    uint32_t n, const struct obs_probes **out, struct sim_err *e)
{
	int rc = 0;
	assert(first >= c->first && first + n <= c->first + c->n_kept);
	if (n == 1) {
		*out = pingmesh_collector_table_of(c, first, dc);
		return 0;
	}
	obs_probes_clear(&c->joined);
	xp_pingmesh_waits(c->params, c->joined.syn_wait_ns);
	for (uint32_t i = 0; rc == 0 && i < n; i++)
		rc = pingmesh_collector_join(&c->joined,
		    pingmesh_collector_table_of(c, first + i, dc), e);
	*out = &c->joined;
	return rc;
}

const struct obs_probes *xp_collector_vips(const struct xp_collector *c,
    uint32_t window)
{
	return pingmesh_collector_table_of(c, window, c->n_dcs);
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

int xp_collector_perf(struct xp_collector *c, const struct obs_perf **out,
    struct sim_err *e)
{
	struct obs_perf_row *row = c->counters.row;
	int rc = 0;
	if (c->counters.n > 0)
		qsort(row, c->counters.n, sizeof(*row), by_end_and_host);
	obs_perf_clear(&c->perf);
	for (size_t i = 0; rc == 0 && i < c->counters.n; i++)
		rc = obs_perf_add(&c->perf, &row[i], e);
	*out = &c->perf;
	return rc;
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
