/* models/connects/state.c -- what holds between two changes of the network.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/connects/impl.h"
#include "sim/vec.h"

/* --- changes -------------------------------------------------------------- */

static void note_change(struct connects *c, sim_ns at, sim_ns from, sim_ns to)
{
	if (at > from && at < to)
		c->change[c->n_changes++] = at;
}

static int by_change(const void *a, const void *b)
{
	const sim_ns x = *(const sim_ns *)a, y = *(const sim_ns *)b;
	return x < y ? -1 : x > y;
}

/* What fails as a whole does so until a whole ladder before it is mended: from
 * then on a later SYN may get through, and connects are followed one by one. */
static void note_end(struct connects *c, sim_ns at, sim_ns from, sim_ns to)
{
	note_change(c, at, from, to);
	if (at != SIM_NEVER && at > c->ladder_ns)
		note_change(c, at - c->ladder_ns, from, to);
}

int connects_changes(struct connects *c, sim_ns from, sim_ns to,
    struct sim_err *e)
{
	const struct truth *x = &c->scene->truth;
	size_t n = 0;
	int rc = SIM_RESERVE(&c->change, &c->cap_changes,
	    2 * x->n_faults + 3 * x->n_holes + 3 * x->n_outages + 1, e);
	if (rc < 0)
		return rc;
	c->n_changes = 0;
	for (size_t i = 0; i < x->n_faults; i++) {
		note_change(c, x->fault[i].from_ns, from, to);
		note_change(c, x->fault[i].to_ns, from, to);
	}
	for (size_t i = 0; i < x->n_holes; i++) {
		note_change(c, x->hole[i].from_ns, from, to);
		note_end(c, x->hole[i].to_ns, from, to);
	}
	for (size_t i = 0; i < x->n_outages; i++) {
		note_change(c, x->outage[i].from_ns, from, to);
		note_end(c, x->outage[i].to_ns, from, to);
	}
	qsort(c->change, c->n_changes, sizeof(*c->change), by_change);
	for (size_t i = 0; i < c->n_changes; i++)
		if (n == 0 || c->change[i] != c->change[n - 1])
			c->change[n++] = c->change[i];
	c->n_changes = n;
	return 0;
}

/* --- links ---------------------------------------------------------------- */

static int connects_is_at(sim_ns t, sim_ns from, sim_ns to)
{
	return from <= t && t < to;
}

/* As scene_loss_hazard() at the segment's begin, of all links. Faults of a link
 * follow each other; the first active one takes the place of its noise. */
static void set_hazards(struct connects *c)
{
	const struct truth *x = &c->scene->truth;
	topo_link last = TOPO_NONE;
	memcpy(c->hazard, c->noise, c->topo->n_links * sizeof(*c->hazard));
	for (size_t i = 0; i < x->n_faults; i++) {
		const struct truth_fault *f = &x->fault[i];
		if (truth_is_mark(f) || truth_is_slow(f) ||
		    !connects_is_at(c->now.from, f->from_ns, f->to_ns))
			continue;
		if (f->link != last)
			c->hazard[f->link] = 0;
		last = f->link;
		c->hazard[f->link] += f->hazard;
	}
}

static const topo_link *tier_links(const struct connects *c,
    topo_link first[CONNECTS_TIERS + 1])
{
	first[0] = 0;
	first[1] = 2 * c->clos.cable_tor;
	first[2] = 2 * c->clos.cable_t1;
	first[3] = c->topo->n_links;
	return first;
}

/* The share of the connects of a unit, to servers outside it, that cross one
 * link of its tier. */
static double share_of_tier(const struct connects *c, int tier)
{
	return tier == 0 ? 1
	    : tier == 1  ? 1.0 / c->clos.n_t1
			 : 1.0 / ((double)c->clos.n_t1 * c->clos.n_t2);
}

static uint32_t hosts_of_tier(const struct connects *c, int tier)
{
	return tier == 0 ? 1
	    : tier == 1  ? c->clos.n_hosts
			 : c->clos.n_hosts * c->clos.n_tors;
}

/* About how many connects cross a link of TIER in the segment. */
static double n_crossing(const struct connects *c, int tier)
{
	const struct connects_mesh *m = &c->params.mesh;
	const double ns = (double)(c->now.to - c->now.from);
	double n = 0;
	for (int l = tier == 0 ? CONNECTS_TOR : CONNECTS_DC;
	     l < CONNECTS_N_LEVELS; l++)
		n += m->n_peers[l] * ns / (double)m->every_ns[l];
	return 2 * n * hosts_of_tier(c, tier) * share_of_tier(c, tier);
}

/* The greatest hazard of a link of TIER that is still drawn along with all
 * others, which costs that much for each of them; a link above costs its own
 * marks, and about as much as SETUP of them at once. Hazards are sorted into
 * bins of a factor of two, and each bin's greatest is tried. */
static double choose_cap(const struct connects *c, int tier, topo_link first,
    topo_link end)
{
	enum { BINS = 64, LOWEST = -52, SETUP = 8 };
	double sum[BINS] = {0}, most[BINS] = {0}, best = INFINITY, cap = 0;
	uint32_t n[BINS] = {0};
	const double crossing = n_crossing(c, tier);
	double last = 0, rate = 0;
	int b = 0;
	for (topo_link l = first; l < end; l++) {
		const double h = c->hazard[l];
		if (h == 0)
			continue;
		/* Links are mostly as the one before. */
		if (h != last) {
			const int at = isinf(h) ? BINS : ilogb(h) - LOWEST;
			b = at < 0 ? 0 : at < BINS ? at : BINS - 1;
			rate = -expm1(-h);
			last = h;
		}
		n[b]++;
		sum[b] += rate;
		most[b] = fmax(most[b], h);
	}
	for (b = -1; b < BINS; b++) {
		double cost = 0;
		if (b >= 0 && (n[b] == 0 || isinf(most[b])))
			continue;
		if (b >= 0)
			cost = most[b] * (end - first) * crossing;
		for (int k = b + 1; k < BINS; k++)
			cost += sum[k] * crossing + SETUP * (double)n[k];
		if (cost < best) {
			best = cost;
			cap = b >= 0 ? most[b] : 0;
		}
	}
	return cap;
}

/* --- sources -------------------------------------------------------------- */

/* All of the unit is off, so nothing crosses its links. */
static int unit_is_off(const struct connects *c, uint32_t first, uint32_t n)
{
	while (n > 0 && c->off[first + n - 1])
		n--;
	return n == 0;
}

/* Who or what is below L. */
static uint32_t unit_below(const struct connects *c, topo_link l, int *tier)
{
	const struct topo_clos_place at = topo_clos_place(&c->clos, l);
	switch (at.class) {
	case TOPO_HOST_TOR:
	case TOPO_TOR_HOST:
		*tier = 0;
		return at.low;
	case TOPO_TOR_T1:
	case TOPO_T1_TOR:
		*tier = 1;
		return at.low * c->clos.n_hosts;
	default:
		*tier = 2;
		return at.pod * c->clos.n_tors * c->clos.n_hosts;
	}
}

static int add_source(struct connects *c, topo_link l, double rate,
    enum connects_kind kind, struct sim_err *e)
{
	int tier;
	const uint32_t first = unit_below(c, l, &tier);
	const uint32_t n = hosts_of_tier(c, tier);
	if (rate <= 0 || (c->now.any_off && unit_is_off(c, first, n)))
		return 0;
	int rc = SIM_RESERVE(&c->source, &c->cap_sources, c->n_sources + 1, e);
	if (rc < 0)
		return rc;
	c->source[c->n_sources++] = (struct connects_source){.link = l,
	    .tier = (uint8_t)tier,
	    .kind = (uint8_t)kind,
	    .p = rate * share_of_tier(c, tier),
	    .first_host = first,
	    .n_hosts = n};
	if (kind == CONNECTS_LOSES)
		c->order[l] = (uint32_t)c->n_sources;
	return 0;
}

static int add_bad_links(struct connects *c, struct sim_err *e)
{
	topo_link first[CONNECTS_TIERS + 1];
	int rc = 0;
	tier_links(c, first);
	for (int t = 0; t < CONNECTS_TIERS; t++) {
		c->now.cap[t] = choose_cap(c, t, first[t], first[t + 1]);
		for (topo_link l = first[t]; rc == 0 && l < first[t + 1]; l++)
			if (c->hazard[l] > c->now.cap[t])
				rc = add_source(c, l, -expm1(-c->hazard[l]),
				    CONNECTS_LOSES, e);
	}
	return rc;
}

/* Faults of a link follow each other. */
static int add_slow_links(struct connects *c, struct sim_err *e)
{
	const struct truth *x = &c->scene->truth;
	int rc = 0;
	c->is_ever_slow = 0;
	memset(c->slow, 0, (c->topo->n_links / 64 + 1) * sizeof(*c->slow));
	for (size_t i = 0; rc == 0 && i < x->n_faults; i++) {
		const struct truth_fault *f = &x->fault[i];
		const uint64_t bit = UINT64_C(1) << f->link % 64;
		if (!truth_is_slow(f))
			continue;
		c->is_ever_slow = 1;
		if (!connects_is_at(c->now.from, f->from_ns, f->to_ns) ||
		    c->slow[f->link / 64] & bit)
			continue;
		c->now.any_slow = 1;
		c->slow[f->link / 64] |= bit;
		rc = add_source(c, f->link, 1, CONNECTS_DELAYS, e);
	}
	return rc;
}

static double share_of_rule(const struct blackhole_rule *r)
{
	return (double)r->below * 0x1p-32;
}

/* Links from servers and T1s into ToR T. */
static int add_hole_tor(struct connects *c, uint32_t t, double rate,
    struct sim_err *e)
{
	const struct topo_clos *k = &c->clos;
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < k->n_hosts; i++)
		rc = add_source(c,
		    topo_clos_link_host(t * k->n_hosts + i, TOPO_UP), rate,
		    CONNECTS_DROPS, e);
	for (uint32_t i = 0; rc == 0 && i < k->n_t1; i++)
		rc = add_source(c, topo_clos_link_tor(k, t, i, TOPO_DOWN), rate,
		    CONNECTS_DROPS, e);
	return rc;
}

/* Links into switch S, of which no two lead from one packet there. */
static int add_hole_links(struct connects *c, topo_switch s, double rate,
    struct sim_err *e)
{
	const struct topo_clos *k = &c->clos;
	int rc = 0;
	if (s < k->all_tors)
		return add_hole_tor(c, s, rate, e);
	if (s < k->all_tors + k->all_t1) {
		const uint32_t t1 = s - k->all_tors;
		for (uint32_t i = 0; rc == 0 && i < k->n_tors; i++)
			rc = add_source(c,
			    topo_clos_link_tor(k, t1 / k->n_t1 * k->n_tors + i,
				t1 % k->n_t1, TOPO_UP),
			    rate, CONNECTS_DROPS, e);
		for (uint32_t i = 0; rc == 0 && i < k->n_t2; i++)
			rc = add_source(c,
			    topo_clos_link_t1(k, t1, i, TOPO_DOWN), rate,
			    CONNECTS_DROPS, e);
		return rc;
	}
	for (uint32_t i = 0; rc == 0 && i < k->all_t1; i++)
		rc = add_source(c,
		    topo_clos_link_t1(k, i, s - k->all_tors - k->all_t1,
			TOPO_UP),
		    rate, CONNECTS_DROPS, e);
	return rc;
}

const struct truth_hole *connects_hole_2(const struct connects *c, topo_link l,
    sim_ns at, size_t *index)
{
	const struct truth *x = &c->scene->truth;
	const struct topo_clos *k = &c->clos;
	const struct topo_clos_place p = topo_clos_place(k, l);
	topo_switch s;
	if (c->params.ports.again)
		return NULL;
	switch (p.class) {
	case TOPO_HOST_TOR:
		s = p.high;
		break;
	case TOPO_TOR_T1:
		s = k->all_tors + p.high;
		break;
	case TOPO_T1_T2:
		s = k->all_tors + k->all_t1 + p.high;
		break;
	case TOPO_T2_T1:
		s = k->all_tors + p.low;
		break;
	case TOPO_T1_TOR:
		s = p.low;
		break;
	default:
		return NULL;
	}
	for (size_t i = truth_first_hole(x, s);
	     i < x->n_holes && x->hole[i].at == s; i++) {
		const struct truth_hole *h = &x->hole[i];
		if (h->rule.type == BLACKHOLE_RULE_TUPLE &&
		    connects_is_at(at, h->from_ns, h->to_ns)) {
			*index = i;
			return h;
		}
	}
	return NULL;
}

/* --- holes ---------------------------------------------------------------- */

static int set_holes(struct connects *c, struct sim_err *e)
{
	const struct truth *x = &c->scene->truth;
	int rc = 0;
	c->n_pairs = c->n_tuples = 0;
	memset(c->listed, 0, c->clos.all_tors);
	for (size_t i = 0; rc == 0 && i < x->n_holes; i++) {
		const struct truth_hole *h = &x->hole[i];
		if (!connects_is_at(c->now.from, h->from_ns, h->to_ns))
			continue;
		const int tuples = h->rule.type == BLACKHOLE_RULE_TUPLE;
		if (tuples && !c->params.ports.again) {
			c->now.any_hole_2 = 1;
			rc = add_hole_links(c, h->at, share_of_rule(&h->rule),
			    e);
			continue;
		}
		c->now.any_listed = c->listed[h->at] = 1;
		rc = tuples ? connects_list_tuples(c, i, e)
			    : connects_list_pairs(c, i, e);
	}
	return rc;
}

/* --- all ------------------------------------------------------------------ */

static void set_off(struct connects *c)
{
	const struct truth *x = &c->scene->truth;
	const sim_ns before = c->now.to + c->give_up_ns;
	memset(c->off, 0, c->topo->n_hosts);
	memset(c->soon, 0, c->topo->n_hosts);
	for (size_t i = 0; i < x->n_outages; i++) {
		const struct truth_outage *o = &x->outage[i];
		if (o->kind != TRUTH_HOST_OFF)
			continue;
		if (connects_is_at(c->now.from, o->from_ns, o->to_ns))
			c->off[o->id] = c->now.any_off = 1;
		else if (o->from_ns > c->now.from && o->from_ns <= before)
			c->soon[o->id] = 1;
	}
}

static struct connects_toll toll_of(double sum)
{
	return (struct connects_toll){-expm1(-sum), exp(-sum)};
}

/* Each SYN and its answer cross each tier up and down, there and back. Of links
 * in order of crossing the sum is what adding them one by one gives. */
static void set_tolls(struct connects_segment *g)
{
	double flat = 0;
	for (int h = 0; h < CONNECTS_N_HOPS; h++) {
		const int n = 2 * h + 2;
		double usual = 0;
		flat += 4 * g->cap[h];
		for (int i = 0; i < 2 * n; i++)
			usual += g->cap[i % n <= h ? i % n : n - 1 - i % n];
		g->flat[h] = toll_of(flat);
		g->usual[h] = toll_of(usual);
	}
}

/* What is drawn of all connects of a level. */
static void set_all(struct connects *c)
{
	const struct connects_mesh *m = &c->params.mesh;
	struct connects_segment *g = &c->now;
	const int tiers = c->clos.n_pods > 1 ? 3 : 2;
	double late = 0;
	for (int h = CONNECTS_INTRA_POD; h < tiers; h++)
		late = fmax(late, c->late_tail[h]);
	if (m->n_peers[CONNECTS_TOR] > 0)
		g->all[CONNECTS_TOR] =
		    g->flat[0].lost + c->late_tail[CONNECTS_INTRA_TOR];
	if (m->n_peers[CONNECTS_DC] > 0)
		g->all[CONNECTS_DC] = g->flat[tiers - 1].lost + late;
}

/* Nearly all links are usual, and a bit of each is in cache where its hazard is
 * not. */
static void set_odd(struct connects *c)
{
	struct connects_segment *g = &c->now;
	topo_link first[CONNECTS_TIERS + 1];
	tier_links(c, first);
	memset(c->odd, 0, (c->topo->n_links / 64 + 1) * sizeof(*c->odd));
	g->is_flat = c->n_sources == 0 && !g->any_off && !g->any_listed;
	for (int t = 0; t < CONNECTS_TIERS; t++)
		for (topo_link l = first[t]; l < first[t + 1]; l++)
			if (c->order[l] > 0 || c->hazard[l] != g->cap[t]) {
				c->odd[l / 64] |= UINT64_C(1) << l % 64;
				g->is_flat = 0;
			}
}

int connects_settle(struct connects *c, sim_ns from, sim_ns to,
    struct sim_err *e)
{
	int rc;
	c->now = (struct connects_segment){.from = from, .to = to};
	for (size_t i = 0; i < c->n_sources; i++)
		c->order[c->source[i].link] = 0;
	c->n_sources = 0;
	set_off(c);
	set_hazards(c);
	if ((rc = set_holes(c, e)) < 0 || (rc = add_bad_links(c, e)) < 0 ||
	    (rc = add_slow_links(c, e)) < 0)
		return rc;
	set_tolls(&c->now);
	set_all(c);
	connects_weigh(c);
	set_odd(c);
	return 0;
}
