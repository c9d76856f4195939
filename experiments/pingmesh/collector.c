/* experiments/pingmesh/collector.c -- uploads in, tables of probes out.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/collector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"
#include "topo/region.h"

/* What is known of a host's agent: bit k of `came` is batch newest - k. */
struct agent {
	sim_ns born_ns;
	uint64_t newest, came, n_lost;
};

struct xp_collector {
	const struct topo *topo;
	const struct xp_pingmesh *params;
	uint32_t n_dcs, n_kept, n_windows;
	uint32_t first; /* the oldest window that is kept */
	sim_ns window_ns, end_ns;
	struct xp_dc dc[TOPO_REGION_MAX_DCS];
	struct agent *agent; /* [n_hosts] */
	struct obs_probes
	    *table; /* [n_kept * (n_dcs + 1)]; last of each: VIPs */
	struct obs_probes joined;
	double *us;
	size_t n_us, cap_us;
	struct xp_collect_counts count;
};

static struct obs_probes *table_of(const struct xp_collector *c,
    uint32_t window, uint32_t dc)
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
	c->n_dcs = xp_n_dcs(t);
	c->n_kept = n_kept;
	c->n_windows = xp_pingmesh_n_windows(p);
	c->window_ns = (sim_ns)llround(p->window_s * 1e9);
	c->end_ns = c->n_windows * c->window_ns;
	for (uint32_t i = 0; i < c->n_dcs; i++)
		c->dc[i] = xp_dc_at(t, i);
	if ((rc = SIM_ZALLOC(&c->agent, t->n_hosts, e)) < 0 ||
	    (rc = SIM_ZALLOC(&c->table, (size_t)n_kept * (c->n_dcs + 1), e)) <
		0) {
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
	free(c->table);
	free(c->agent);
	free(c->us);
	free(c);
}

static void clear_window(struct xp_collector *c, uint32_t window)
{
	for (uint32_t i = 0; i <= c->n_dcs; i++) {
		struct obs_probes *t = table_of(c, window, i);
		obs_probes_clear(t);
		memset(t->syn_wait_ns, 0, sizeof(t->syn_wait_ns));
		xp_pingmesh_waits(c->params, t->syn_wait_ns);
	}
}

void xp_collector_clear(struct xp_collector *c)
{
	memset(c->agent, 0, c->topo->n_hosts * sizeof(c->agent[0]));
	for (uint32_t i = 0; i < c->n_kept; i++)
		clear_window(c, i);
	c->first = 0;
	c->n_us = 0;
	c->count = (struct xp_collect_counts){0};
}

void xp_collector_drop(struct xp_collector *c, uint32_t first)
{
	for (; c->first < first; c->first++)
		clear_window(c, c->first);
}

/* --- records -------------------------------------------------------------- */

static uint32_t dc_of(const struct xp_collector *c, topo_host h)
{
	return c->topo->region ? topo_region_dc_of(c->topo->region, h) : 0;
}

static enum algo_drop_group group_of(const struct xp_collector *c,
    topo_host src, topo_host dst)
{
	const uint32_t dc = dc_of(c, src);
	const topo_host first = c->dc[dc].first_host;
	return dc == dc_of(c, dst)
	    ? xp_group_within(c->dc[dc].shape, src - first, dst - first)
	    : ALGO_DROP_INTER_DC;
}

/* Along quantile: a time of the group and data centre that is asked for. */
static int take_time(struct xp_collector *c,
    const struct algo_pingmesh_record *r, topo_host src, topo_host dst,
    struct sim_err *e)
{
	const struct xp_pingmesh *p = c->params;
	const sim_ns ns = p->time == XP_TIME_ECHO ? r->echo_ns : r->rtt_ns;
	if (p->along != XP_ALONG_QUANTILE || r->outcome != AGENT_CONNECTED ||
	    ns == 0 || dc_of(c, src) != p->dc ||
	    (p->group != ALGO_DROP_ALL && p->group != group_of(c, src, dst)))
		return 0;
	int rc = SIM_RESERVE(&c->us, &c->cap_us, c->n_us + 1, e);
	if (rc == 0)
		c->us[c->n_us++] = (double)ns / 1e3;
	return rc;
}

static struct obs_probe row_of(const struct algo_pingmesh_record *r)
{
	static const uint8_t outcomes[] = {
	    [AGENT_CONNECTED] = OBS_CONNECTED,
	    [AGENT_REFUSED] = OBS_REFUSED,
	    [AGENT_TIMEOUT] = OBS_TIMED_OUT,
	};
	return (struct obs_probe){
	    .sent_ns = r->sent_ns,
	    .rtt_ns = r->outcome == AGENT_CONNECTED ? r->rtt_ns : 0,
	    .src_port = r->src_port,
	    .dst_port = r->dst_port,
	    .outcome = outcomes[r->outcome],
	    .level = r->level == ALGO_PINGLIST_TOR ? OBS_LEVEL_TOR
		: r->level == ALGO_PINGLIST_DC     ? OBS_LEVEL_DC
						   : OBS_LEVEL_INTER_DC,
	    .class = r->class,
	    .payload_bytes = r->payload,
	};
}

static int add_vip_row(struct xp_collector *c, uint32_t window, topo_host src,
    const struct algo_pingmesh_record *r, struct sim_err *e)
{
	struct obs_probe row = row_of(r);
	row.src_host = src;
	row.dst_host = r->dst_ip;
	c->count.n_vip_rows++;
	return obs_probes_add(table_of(c, window, c->n_dcs), &row, e);
}

static int add_row(struct xp_collector *c, uint32_t window, topo_host src,
    topo_host dst, const struct algo_pingmesh_record *r, struct sim_err *e)
{
	const uint32_t dc = dc_of(c, src);
	struct obs_probe row = row_of(r);
	row.src_host = src - c->dc[dc].first_host;
	row.dst_host = row.level == OBS_LEVEL_INTER_DC
	    ? c->dc[dc].shape->all_hosts + dst
	    : dst - c->dc[dc].first_host;
	c->count.n_rows++;
	int rc = obs_probes_add(table_of(c, window, dc), &row, e);
	return rc < 0 ? rc : take_time(c, r, src, dst, e);
}

static int take_record(struct xp_collector *c, topo_host src,
    const struct algo_pingmesh_record *r, struct sim_err *e)
{
	const topo_host dst = topo_addr_to_host(r->dst_ip, c->topo->n_hosts);
	const int vip = r->level == ALGO_PINGLIST_VIP;
	if (r->outcome >= AGENT_FAILED) {
		c->count.n_failed++;
		return 0;
	}
	if (r->level > ALGO_PINGLIST_VIP || (!vip && dst == TOPO_NONE) ||
	    (r->level < ALGO_PINGLIST_INTER_DC &&
		dc_of(c, src) != dc_of(c, dst))) {
		c->count.n_foreign++;
		return 0;
	}
	if (r->sent_ns >= c->end_ns || r->sent_ns / c->window_ns < c->first) {
		c->count.n_late++;
		return 0;
	}
	const uint32_t window = (uint32_t)(r->sent_ns / c->window_ns);
	assert(window < c->first + c->n_kept);
	return vip ? add_vip_row(c, window, src, r, e)
		   : add_row(c, window, src, dst, r, e);
}

/* --- batches -------------------------------------------------------------- */

/* Whether this batch is to be taken; then it is known to have come. */
static int is_new(struct agent *a, const struct algo_pingmesh_batch *b)
{
	if (b->number == 0 || (a->newest > 0 && b->born_ns < a->born_ns))
		return 0;
	if (a->newest == 0 || b->born_ns > a->born_ns)
		*a = (struct agent){b->born_ns, b->number, 0, 0};
	if (b->number > a->newest) {
		const uint64_t ahead = b->number - a->newest;
		a->came = ahead < COLLECT_SPAN ? a->came << ahead : 0;
		a->newest = b->number;
	}
	const uint64_t behind = a->newest - b->number;
	if (behind >= COLLECT_SPAN || a->came >> behind & 1)
		return 0;
	a->came |= UINT64_C(1) << behind;
	return 1;
}

int xp_collector_take(struct xp_collector *c, const void *data, size_t n,
    struct sim_err *e)
{
	enum { HEAD = offsetof(struct algo_pingmesh_batch, record) };
	const struct algo_pingmesh_batch *b = data;
	const topo_host src = n < HEAD
	    ? TOPO_NONE
	    : topo_addr_to_host(b->src_ip, c->topo->n_hosts);
	if (src == TOPO_NONE || b->n > ALGO_PINGMESH_BATCH ||
	    n != HEAD + b->n * sizeof(b->record[0]) ||
	    !is_new(&c->agent[src], b)) {
		c->count.n_repeated++;
		return 0;
	}
	struct agent *a = &c->agent[src];
	c->count.n_batches++;
	c->count.n_records += b->n;
	if (b->n_lost > a->n_lost) {
		c->count.n_lost += b->n_lost - a->n_lost;
		a->n_lost = b->n_lost;
	}
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < b->n; i++)
		rc = take_record(c, src, &b->record[i], e);
	return rc;
}

/* --- tables --------------------------------------------------------------- */

static int join(struct obs_probes *to, const struct obs_probes *from,
    struct sim_err *e)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < from->n; i++) {
		const struct obs_probe row = obs_probes_at(from, i);
		rc = obs_probes_add(to, &row, e);
	}
	return rc;
}

int xp_collector_table(struct xp_collector *c, uint32_t dc, uint32_t first,
    uint32_t n, const struct obs_probes **out, struct sim_err *e)
{
	int rc = 0;
	assert(first >= c->first && first + n <= c->first + c->n_kept);
	if (n == 1) {
		*out = table_of(c, first, dc);
		return 0;
	}
	obs_probes_clear(&c->joined);
	xp_pingmesh_waits(c->params, c->joined.syn_wait_ns);
	for (uint32_t i = 0; rc == 0 && i < n; i++)
		rc = join(&c->joined, table_of(c, first + i, dc), e);
	*out = &c->joined;
	return rc;
}

const struct obs_probes *xp_collector_vips(const struct xp_collector *c,
    uint32_t window)
{
	return table_of(c, window, c->n_dcs);
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
