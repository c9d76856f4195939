/* experiments/pingmesh/bulk/sums.c -- a window's probes, as counts of scopes.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/bulk/sums.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/sort.h"
#include "sim/vec.h"

/* --- what is due ---------------------------------------------------------- */

static uint64_t due_of_pair(const struct xp_mesh_sums *s,
    enum connects_level level)
{
	return s->window_ns / s->connects.mesh.every_ns[level];
}

/* All servers under a ToR have peers under the same other ones. */
static void count_due_of_tor(struct xp_mesh_sums *s, uint32_t tor)
{
	const struct connects_mesh *m = &s->connects.mesh;
	const struct topo_clos *c = &s->clos;
	const topo_host h = tor * c->n_hosts;
	const uint32_t pod = tor / c->n_tors;
	const uint64_t near =
	    due_of_pair(s, CONNECTS_TOR) * m->n_peers[CONNECTS_TOR];
	const uint64_t far = due_of_pair(s, CONNECTS_DC);
	struct xp_mesh_sums_cell *row = &s->due_pods[(size_t)pod * c->n_pods];
	s->due_server[tor][CONNECTS_INTRA_TOR] = (uint32_t)near;
	row[pod].quick[CONNECTS_INTRA_TOR] += near * c->n_hosts;
	if (s->is_peer)
		s->is_peer[(size_t)tor * c->all_tors + tor] = near > 0;
	for (uint32_t k = 0; k < m->n_peers[CONNECTS_DC]; k++) {
		const topo_host g = m->peer(m->arg, CONNECTS_DC, h, k);
		const uint32_t to = g / c->n_hosts;
		const enum connects_hops hops = connects_hops_of(c, h, g);
		s->due_server[tor][hops] += (uint32_t)far;
		row[to / c->n_tors].quick[hops] += far * c->n_hosts;
		if (s->is_peer)
			s->is_peer[(size_t)tor * c->all_tors + to] = 1;
	}
}

/* --- opening -------------------------------------------------------------- */

void xp_mesh_sums_close(struct xp_mesh_sums *s)
{
	free(s->due_server);
	free(s->due_pods);
	free(s->server);
	free(s->pods);
	free(s->intra_tor);
	free(s->tors);
	free(s->is_peer);
	free(s->late);
	free(s->counter);
	free(s->delayed);
	free(s->delayed_us);
	connects_order_close(&s->order);
	*s = (struct xp_mesh_sums){.n_windows = 0};
}

int xp_mesh_sums_open(struct xp_mesh_sums *s, const struct topo_clos *clos,
    const struct connects *c, const struct connects_params *p,
    const struct algo_drop_ladder *ladder, sim_ns window_ns, sim_ns counter_ns,
    int tors, struct sim_err *e)
{
	const size_t n_pods = (size_t)clos->n_pods * clos->n_pods;
	const size_t n_tors = (size_t)clos->all_tors * clos->all_tors;
	int rc;
	*s = (struct xp_mesh_sums){.clos = *clos,
	    .ladder = *ladder,
	    .connects = *p,
	    .window_ns = window_ns,
	    .counter_ns = counter_ns,
	    .n_counters = counter_ns ? (uint32_t)(window_ns / counter_ns) : 0};
	for (int l = 0; l < CONNECTS_N_LEVELS; l++)
		if (p->mesh.n_peers[l] > 0 &&
		    window_ns % p->mesh.every_ns[l] != 0)
			s->uneven = c;
	if ((rc = SIM_ZALLOC(&s->due_server, clos->all_tors, e)) < 0 ||
	    (rc = SIM_ZALLOC(&s->due_pods, n_pods, e)) < 0 ||
	    (rc = SIM_ZALLOC(&s->server, clos->all_hosts, e)) < 0 ||
	    (rc = SIM_ZALLOC(&s->pods, n_pods, e)) < 0 ||
	    (rc = SIM_ZALLOC(&s->intra_tor, clos->n_pods, e)) < 0 ||
	    (tors && (rc = SIM_ZALLOC(&s->tors, n_tors, e)) < 0) ||
	    (tors && (rc = SIM_ZALLOC(&s->is_peer, n_tors, e)) < 0) ||
	    (rc = SIM_ZALLOC(&s->counter,
		 (size_t)s->n_counters * clos->all_hosts, e)) < 0 ||
	    (rc = connects_order_open(&s->order, p->law, CONNECTS_N_HOPS,
		 (double)p->late_ns / 1e3, e)) < 0)
		return rc;
	for (uint32_t t = 0; t < clos->all_tors; t++)
		count_due_of_tor(s, t);
	return 0;
}

/* --- windows -------------------------------------------------------------- */

void xp_mesh_sums_clear(struct xp_mesh_sums *s)
{
	const struct topo_clos *c = &s->clos;
	const size_t n_pods = (size_t)c->n_pods * c->n_pods;
	const size_t n_tors = (size_t)c->all_tors * c->all_tors;
	s->n_windows = 0;
	s->n_late = s->n_slow = 0;
	s->n_taken = s->n_counted = 0;
	memset(s->server, 0, c->all_hosts * sizeof(*s->server));
	memset(s->pods, 0, n_pods * sizeof(*s->pods));
	memset(s->intra_tor, 0, c->n_pods * sizeof(*s->intra_tor));
	memset(s->group, 0, sizeof(s->group));
	if (s->tors)
		memset(s->tors, 0, n_tors * sizeof(*s->tors));
}

void xp_mesh_sums_add(struct xp_mesh_sums_cell *to,
    const struct xp_mesh_sums_cell *c)
{
	for (int h = 0; h < CONNECTS_N_HOPS; h++)
		to->quick[h] += c->quick[h];
	to->n_late += c->n_late;
	to->n_drop += c->n_drop;
	to->n_unclear += c->n_unclear;
	to->n_failed += c->n_failed;
}

/* All servers under one ToR probe each other; of the pairs between two ToRs each
 * server has one. */
static void begin_tors(struct xp_mesh_sums *s)
{
	const struct topo_clos *c = &s->clos;
	const uint64_t far = due_of_pair(s, CONNECTS_DC);
	for (uint32_t a = 0; a < c->all_tors; a++)
		for (uint32_t b = 0; b < c->all_tors; b++) {
			const size_t i = (size_t)a * c->all_tors + b;
			const enum connects_hops h =
			    connects_hops_of(c, a * c->n_hosts, b * c->n_hosts);
			if (s->is_peer[i])
				s->tors[i].quick[h] += c->n_hosts *
				    (a == b ? s->due_server[a][h] : far);
		}
}

static void begin_even(struct xp_mesh_sums *s)
{
	const struct topo_clos *c = &s->clos;
	struct xp_mesh_sums_cell *server = s->server;
	for (uint32_t t = 0; t < c->all_tors; t++)
		for (uint32_t i = 0; i < c->n_hosts; i++, server++)
			for (int k = 0; k < CONNECTS_N_HOPS; k++)
				server->quick[k] += s->due_server[t][k];
	for (uint32_t i = 0; i < c->n_pods * c->n_pods; i++) {
		xp_mesh_sums_add(&s->pods[i], &s->due_pods[i]);
		for (int k = 0; k < CONNECTS_N_HOPS; k++)
			s->group[k].quick[k] += s->due_pods[i].quick[k];
		if (i / c->n_pods == i % c->n_pods)
			s->intra_tor[i % c->n_pods].quick[0] +=
			    s->due_pods[i].quick[0];
	}
	if (s->tors)
		begin_tors(s);
}

/* What is due from H to G of a level, for each scope that it is of. */
static void begin_pair(struct xp_mesh_sums *s, enum connects_level level,
    topo_host h, topo_host g)
{
	const struct topo_clos *c = &s->clos;
	const uint32_t a = h / c->n_hosts, b = g / c->n_hosts;
	const uint32_t p = a / c->n_tors, q = b / c->n_tors;
	const enum connects_hops hops = connects_hops_of(c, h, g);
	const uint32_t n = connects_due(s->uneven, level, h, g, s->from_ns,
	    s->from_ns + s->window_ns);
	s->server[h].quick[hops] += n;
	s->pods[(size_t)p * c->n_pods + q].quick[hops] += n;
	s->group[hops].quick[hops] += n;
	if (a == b)
		s->intra_tor[p].quick[hops] += n;
	if (s->tors)
		s->tors[(size_t)a * c->all_tors + b].quick[hops] += n;
}

static void begin_uneven(struct xp_mesh_sums *s)
{
	const struct connects_mesh *m = &s->connects.mesh;
	for (topo_host h = 0; h < s->clos.all_hosts; h++)
		for (unsigned l = 0; l < CONNECTS_N_LEVELS; l++)
			for (uint32_t k = 0; k < m->n_peers[l]; k++)
				begin_pair(s, l, h, m->peer(m->arg, l, h, k));
}

void xp_mesh_sums_begin(struct xp_mesh_sums *s, sim_ns from)
{
	assert(s->n_counted == s->n_taken);
	s->from_ns = from;
	s->n_windows++;
	s->n_delayed = 0;
	free(s->delayed_us);
	s->delayed_us = NULL;
	if (s->uneven)
		begin_uneven(s);
	else
		begin_even(s);
	if (s->counter)
		memset(s->counter, 0,
		    (size_t)s->n_counters * s->clos.all_hosts *
			sizeof(*s->counter));
}

/* N_LOST is that of algo_drop_n_lost(). */
static void count_row(struct xp_mesh_sums_cell *c, const struct connects_row *r,
    int n_lost)
{
	const int connected = r->outcome == CONNECTS_CONNECTED;
	c->quick[r->hops] -= r->n;
	c->n_failed += r->outcome == CONNECTS_TIMED_OUT ? r->n : 0;
	c->n_late += (unsigned)connected;
	c->n_drop += connected && n_lost > 0;
	c->n_unclear += connected && n_lost < 0;
}

/* What ends after the window counts in its last period: jobs of the window are
 * told all of its probes. */
static uint32_t period_of(const struct xp_mesh_sums *s, sim_ns at)
{
	const uint64_t k = (at - s->from_ns) / s->counter_ns;
	return k < s->n_counters ? (uint32_t)k : s->n_counters - 1;
}

static int keep_delayed(struct xp_mesh_sums *s, const struct connects_row *r,
    struct sim_err *e)
{
	const int rc =
	    SIM_RESERVE(&s->delayed, &s->cap_delayed, s->n_delayed + 1, e);
	if (rc == 0)
		s->delayed[s->n_delayed++] =
		    (struct xp_mesh_sums_delayed){.src = r->src,
			.period = period_of(s, r->sent_ns + r->rtt_ns),
			.us = (double)r->rtt_ns / 1e3};
	return rc;
}

static int by_period(const void *a, const void *b)
{
	const struct xp_mesh_sums_delayed *x = a, *y = b;
	return x->period != y->period ? SIM_ORDER(x->period, y->period)
	    : x->src != y->src        ? SIM_ORDER(x->src, y->src)
				      : SIM_ORDER(x->us, y->us);
}

static int sort_delayed(struct xp_mesh_sums *s, struct sim_err *e)
{
	if (s->n_delayed == 0)
		return 0;
	const int rc = SIM_ZALLOC(&s->delayed_us, s->n_delayed, e);
	if (rc < 0)
		return rc;
	qsort(s->delayed, s->n_delayed, sizeof(*s->delayed), by_period);
	for (size_t i = 0; i < s->n_delayed; i++)
		s->delayed_us[i] = s->delayed[i].us;
	return 0;
}

/* What ends in a period counts there. A row of many counts by the period of
 * each. */
static void count_period(struct xp_mesh_sums *s, const struct connects_row *r,
    int n_lost)
{
	const enum connects_level level = connects_level_of(r->hops);
	const sim_ns every = s->connects.mesh.every_ns[level];
	sim_ns at = r->sent_ns + r->rtt_ns;
	for (uint32_t i = 0; i < r->n; i++, at += every) {
		struct xp_mesh_sums_counter *c =
		    &s->counter[(size_t)period_of(s, at) * s->clos.all_hosts +
			r->src];
		c->n_untold += r->outcome == CONNECTS_UNTOLD;
		c->n_failed += r->outcome == CONNECTS_TIMED_OUT;
		c->n_rows[r->hops]++;
		c->n_drop_1 += r->outcome == CONNECTS_CONNECTED && n_lost == 1;
		c->n_drop_2 += r->outcome == CONNECTS_CONNECTED && n_lost == 2;
	}
}

static int sums_count(struct xp_mesh_sums *s, const struct connects_row *r,
    struct sim_err *e)
{
	const struct topo_clos *c = &s->clos;
	const uint32_t a = r->src / c->n_hosts, b = r->dst / c->n_hosts;
	const uint32_t p = a / c->n_tors, q = b / c->n_tors;
	const int connected = r->outcome == CONNECTS_CONNECTED;
	const int n_lost =
	    connected ? algo_drop_n_lost(&s->ladder, r->rtt_ns) : 0;
	int rc;
	count_row(&s->server[r->src], r, n_lost);
	count_row(&s->pods[(size_t)p * c->n_pods + q], r, n_lost);
	count_row(&s->group[r->hops], r, n_lost);
	if (a == b)
		count_row(&s->intra_tor[p], r, n_lost);
	if (s->tors)
		count_row(&s->tors[(size_t)a * c->all_tors + b], r, n_lost);
	if (s->n_counters)
		count_period(s, r, n_lost);
	if (!connected)
		return 0;
	if ((rc = SIM_RESERVE(&s->late, &s->cap_late, s->n_late + 1, e)) < 0)
		return rc;
	if (r->rtt_ns < s->connects.late_ns) {
		s->n_slow++;
		if (s->n_counters && (rc = keep_delayed(s, r, e)) < 0)
			return rc;
	}
	s->late[s->n_late++] =
	    (struct xp_mesh_sums_late){.rtt_low = (uint32_t)r->rtt_ns,
		.rtt_high = (uint8_t)(r->rtt_ns >> 32),
		.src = r->src & 0xffffff,
		.dst = r->dst};
	return 0;
}

/* Rows are of any servers, whose counts are in no cache: they are asked for when
 * a row comes, and it is counted when some more have come. */
int xp_mesh_sums_take(struct xp_mesh_sums *s, const struct connects_row *r,
    struct sim_err *e)
{
	const struct topo_clos *c = &s->clos;
	struct connects_row *at =
	    &s->waiting[s->n_taken % XP_MESH_SUMS_WAITING];
	const char *server = (const char *)&s->server[r->src];
	int rc = 0;
	__builtin_prefetch(server, 1);
	__builtin_prefetch(server + sizeof(*s->server) - 1, 1);
	if (s->tors)
		__builtin_prefetch(&s->tors[(size_t)(r->src / c->n_hosts) *
					   c->all_tors +
				       r->dst / c->n_hosts],
		    1);
	if (s->n_taken - s->n_counted == XP_MESH_SUMS_WAITING) {
		rc = sums_count(s, at, e);
		s->n_counted++;
	}
	*at = *r;
	s->n_taken++;
	return rc;
}

int xp_mesh_sums_end(struct xp_mesh_sums *s, struct sim_err *e)
{
	int rc = 0;
	for (; rc == 0 && s->n_counted < s->n_taken; s->n_counted++)
		rc = sums_count(s,
		    &s->waiting[s->n_counted % XP_MESH_SUMS_WAITING], e);
	return rc < 0 ? rc : sort_delayed(s, e);
}

/* --- times ---------------------------------------------------------------- */

/* Those of C's late connects that a link delayed and no more. */
static struct connects_known slow_among(const struct xp_mesh_sums *s,
    const struct xp_mesh_sums_cell *c, const double late_us[])
{
	struct connects_known slow = {late_us, 0};
	while (s->n_slow > 0 && slow.n < c->n_late &&
	    late_us[slow.n] < (double)s->connects.late_ns / 1e3)
		slow.n++;
	return slow;
}

void xp_mesh_sums_times(const struct xp_mesh_sums *s,
    const struct xp_mesh_sums_cell *c, const double late_us[],
    const uint64_t rank[], unsigned n_ranks, struct sim_rng *r, double us[])
{
	const struct connects_known slow = slow_among(s, c, late_us);
	const uint64_t n = xp_mesh_sums_n_quick(c) + slow.n;
	unsigned n_below = 0;
	assert(s->n_counted == s->n_taken);
	while (n_below < n_ranks && rank[n_below] <= n)
		n_below++;
	if (n_below > 0)
		connects_order_draw(&s->order, c->quick, &slow, rank, n_below,
		    r, us);
	/* Agents tell whole ns. */
	for (unsigned i = 0; i < n_below; i++)
		us[i] = round(us[i] * 1e3) / 1e3;
	for (unsigned i = n_below; i < n_ranks; i++)
		us[i] = late_us[rank[i] - n + slow.n - 1];
}
