/* models/fault/link.c -- which single links fail.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/fault/draw.h"

#include <stdlib.h>

#include "sim/vec.h"
#include "topo/region.h"

/* The links that a group may fail: how many of each class, of which class_at()
 * gives the i-th in order of id. */
struct places {
	const struct topo *topo;
	uint32_t size[TOPO_N_LINK_CLASSES];
	uint32_t total, n_classes;
};

/* In a mesh that is no region, class FABRIC is all links between switches,
 * whatever tiers they join. */
static int is_pooled(const struct topo *t)
{
	return !topo_is_clos(t) && !t->region;
}

/* The I-th link of a class in a mesh, from where those between switches begin;
 * without a limit, I = UINT32_MAX, how many there are. */
static uint32_t scan_class(const struct topo *t, enum topo_link_class class,
    uint32_t i)
{
	uint32_t n = 0;
	for (topo_link l = 2 * t->n_hosts; l < t->n_links; l++)
		if (topo_class_of(t, l) == class && n++ == i)
			return l;
	return n;
}

/* A Clos and a region know it by arithmetic; in another mesh the hosts' cables
 * come first, two links each. */
uint32_t fault_class_size(const struct topo *t, enum topo_link_class class)
{
	if (topo_is_clos(t))
		return topo_clos_class_size(&t->clos, class);
	if (t->region)
		return topo_region_class_size(t->region, class);
	switch (class) {
	case TOPO_HOST_TOR:
	case TOPO_TOR_HOST:
		return t->n_hosts;
	case TOPO_FABRIC:
		return t->n_links - 2 * t->n_hosts;
	default:
		return scan_class(t, class, UINT32_MAX);
	}
}

static topo_link class_at(const struct topo *t, enum topo_link_class class,
    uint32_t i)
{
	if (topo_is_clos(t))
		return topo_clos_class_at(&t->clos, class, i);
	if (t->region)
		return topo_region_class_at(t->region, class, i);
	switch (class) {
	case TOPO_HOST_TOR:
	case TOPO_TOR_HOST:
		return topo_link_of(i,
		    class == TOPO_HOST_TOR ? TOPO_UP : TOPO_DOWN);
	case TOPO_FABRIC:
		return 2 * t->n_hosts + i;
	default:
		return scan_class(t, class, i);
	}
}

/* The class under which link L is counted in P. */
static enum topo_link_class place_class(const struct places *p, topo_link l)
{
	if (is_pooled(p->topo) && p->size[TOPO_FABRIC] > 0 &&
	    l >= 2 * p->topo->n_hosts)
		return TOPO_FABRIC;
	return topo_class_of(p->topo, l);
}

static struct places places_of(const struct topo *t, uint32_t classes)
{
	/* All classes between the switches of a Clos, which is the default, are
	 * all links between switches in a mesh too, where nothing may say which
	 * tiers they join. */
	const uint32_t ends =
	    UINT32_C(1) << TOPO_HOST_TOR | UINT32_C(1) << TOPO_TOR_HOST;
	const uint32_t fabric = UINT32_C(1) << TOPO_FABRIC;
	struct places p = {.topo = t};
	if (is_pooled(t) &&
	    ((classes & fabric) ||
		(classes & FAULT_ALL_TIERS) == FAULT_ALL_TIERS))
		classes = (classes & ends) | fabric;
	for (unsigned c = 0; c < TOPO_N_LINK_CLASSES; c++)
		if (classes >> c & 1) {
			p.size[c] = fault_class_size(t, c);
			p.total += p.size[c];
			p.n_classes += p.size[c] > 0;
		}
	return p;
}

/* One link at random: of a class drawn first, classes being alike however many
 * links they have (007's released code spreads failures alike over four
 * classes), or of all links alike. */
static topo_link any_place(const struct places *p, enum fault_pick pick,
    struct sim_rng *r)
{
	uint32_t nth_class = 0, i = 0;
	if (pick != FAULT_PICK_LINK)
		nth_class = sim_rng_below(r, p->n_classes);
	else
		i = sim_rng_below(r, p->total);
	for (unsigned c = 0;; c++) {
		if (p->size[c] == 0)
			continue;
		/* Classes without links do not count; i is what is left of the
		 * index after the classes before. */
		if (pick != FAULT_PICK_LINK) {
			if (nth_class-- == 0)
				return class_at(p->topo, c,
				    sim_rng_below(r, p->size[c]));
		} else if (i < p->size[c]) {
			return class_at(p->topo, c, i);
		} else {
			i -= p->size[c];
		}
	}
}

/* Whether L has a fault among those with indices in [from, to). Linear, since
 * faults are few and not sorted yet. */
static int fault_link_is_taken(const struct truth *truth, size_t from,
    size_t to, topo_link l)
{
	for (size_t i = from; i < to; i++)
		if (truth->fault[i].link == l)
			return 1;
	return 0;
}

/* How many links of the allowed classes earlier groups have taken, each counted
 * once though two groups may name it. */
static uint32_t n_taken(const struct places *p, const struct truth *truth)
{
	uint32_t n = 0;
	for (size_t i = 0; i < truth->n_faults; i++) {
		const topo_link l = truth->fault[i].link;
		n += p->size[place_class(p, l)] > 0 &&
		    !fault_link_is_taken(truth, 0, i, l);
	}
	return n;
}

/* The links of the allowed classes out of the switch that L leaves: how many
 * there are, how many of them are free, and one of these, all alike, or
 * TOPO_NONE. The n-th candidate replaces the one found with probability 1/n,
 * which gives each the same chance without a list of them. Cost O(links), paid
 * only when `same_switch` strikes. */
struct siblings {
	uint32_t n, n_free;
	topo_link one;
};

static struct siblings siblings_of(const struct places *p, topo_link l,
    const struct truth *truth, struct sim_rng *r)
{
	struct siblings s = {0, 0, TOPO_NONE};
	topo_node at, end;
	topo_link_ends(p->topo, l, &at, &end);
	for (unsigned c = 0; c < TOPO_N_LINK_CLASSES; c++)
		for (uint32_t i = 0; i < p->size[c]; i++) {
			topo_link other = class_at(p->topo, c, i);
			topo_node other_at;
			topo_link_ends(p->topo, other, &other_at, &end);
			if (other_at != at)
				continue;
			s.n++;
			if (!fault_link_is_taken(truth, 0, truth->n_faults,
				other) &&
			    sim_rng_below(r, ++s.n_free) == 0)
				s.one = other;
		}
	return s;
}

static int fault_link_add(struct fault_draw *d, const struct sim_dist *range,
    topo_link l, struct sim_err *e)
{
	/* Time and rate come from streams of their own: which links fail does
	 * not depend on how badly, so a sweep over rates fails the same
	 * links. */
	const struct fault_span when = fault_span(d);
	return fault_add(d, range, l, sim_rng_u01(&d->rate), &when, e);
}

static int check_count(uint32_t n_free, uint32_t n_all, uint32_t count,
    struct sim_err *e)
{
	if (count <= n_free)
		return 0;
	return sim_fail(e, SIM_ELIMIT,
	    "%u links are to fail, but the classes named have "
	    "%u%s.",
	    count, n_free, n_free < n_all ? " left by earlier groups" : "");
}

/* TAKEN[links] tells which links have a fault, and comes to have those drawn. */
static int draw_random_but(struct fault_draw *d, uint8_t taken[],
    struct sim_err *e)
{
	const struct fault_params *g = d->group;
	const struct truth *truth = d->truth;
	const struct places p = places_of(d->topo, g->classes);
	const uint32_t n_free = p.total - n_taken(&p, truth);
	topo_link last = TOPO_NONE;
	int rc = check_count(n_free, p.total, g->count, e);
	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < g->count; i++) {
		topo_link l = TOPO_NONE;
		if (last != TOPO_NONE &&
		    sim_rng_u01(&d->place) < g->same_switch)
			l = siblings_of(&p, last, truth, &d->place).one;
		/* When nearly all links of a class are taken, this draws often,
		 * but it ends with probability 1, since check_count() found
		 * enough free ones. A class that is full is given up after 64
		 * tries, by drawing from all links alike. */
		for (unsigned tries = 0; l == TOPO_NONE; tries++) {
			l = any_place(&p,
			    tries < 64 ? g->pick : FAULT_PICK_LINK, &d->place);
			if (taken[l])
				l = TOPO_NONE;
		}
		if ((rc = fault_link_add(d, &g->rate, l, e)) < 0)
			return rc;
		taken[l] = 1;
		last = l;
	}
	return 0;
}

static int draw_random(struct fault_draw *d, struct sim_err *e)
{
	uint8_t *taken;
	int rc = SIM_ZALLOC(&taken, d->topo->n_links, e);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < d->truth->n_faults; i++)
		taken[d->truth->fault[i].link] = 1;
	rc = draw_random_but(d, taken, e);
	free(taken);
	return rc;
}

/* --- pick matlab ---------------------------------------------------------- */

/* Each function addPacketDropRates*.m of the released code fails the links of
 * one class; the drivers tell it how many, and all count. */

/* How many links of each class fail: every place goes to a class, classes being
 * alike. Classes that are full get no more; the released code would look for
 * another link of such a class for ever. */
static void deal_places(const struct places *p, const struct truth *truth,
    uint32_t count, uint32_t share[], struct sim_rng *r)
{
	uint32_t room[TOPO_N_LINK_CLASSES], open[TOPO_N_LINK_CLASSES];
	uint32_t n_open = 0;
	for (unsigned c = 0; c < TOPO_N_LINK_CLASSES; c++) {
		const struct places one = places_of(p->topo, UINT32_C(1) << c);
		share[c] = 0;
		room[c] = p->size[c] > 0 ? one.total - n_taken(&one, truth) : 0;
		if (room[c] > 0)
			open[n_open++] = c;
	}
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t at = sim_rng_below(r, n_open);
		share[open[at]]++;
		if (--room[open[at]] == 0)
			open[at] = open[--n_open];
	}
}

/* Whether a link out of L's switch has a fault among those from FROM on, which
 * are of the class whose turn it is. */
static int has_turn(const struct topo *t, const struct truth *truth,
    size_t from, topo_link l)
{
	topo_node at, other, end;
	topo_link_ends(t, l, &at, &end);
	for (size_t i = from; i < truth->n_faults; i++) {
		topo_link_ends(t, truth->fault[i].link, &other, &end);
		if (other == at)
			return 1;
	}
	return 0;
}

/* A free link of the class, all alike, FRESH: of those at switches that have
 * not had their turn. TOPO_NONE if there is none. As in siblings_of(). */
static topo_link look_at_all(const struct places *p, const struct truth *truth,
    size_t from, int fresh, struct sim_rng *r)
{
	topo_link found = TOPO_NONE;
	uint32_t n = 0;
	for (unsigned c = 0; c < TOPO_N_LINK_CLASSES; c++)
		for (uint32_t i = 0; i < p->size[c]; i++) {
			const topo_link l = class_at(p->topo, c, i);
			if (!fault_link_is_taken(truth, 0, truth->n_faults,
				l) &&
			    !(fresh && has_turn(p->topo, truth, from, l)) &&
			    sim_rng_below(r, ++n) == 0)
				found = l;
		}
	return found;
}

/* The link of a switch that has not had its turn. All switches of a tier have
 * equally many links of a class, so drawing any link of the class and rejecting
 * those of switches that had their turn is the same as drawing a switch and
 * then its link. Many tries mean that few are left, which are then looked for.
 * When all have had their turn, any free link will do: there the released code
 * would not end. */
static topo_link next_turn(const struct places *p, const struct truth *truth,
    size_t from, struct sim_rng *r)
{
	topo_link l;
	for (unsigned tries = 0; tries < 64; tries++) {
		l = any_place(p, FAULT_PICK_LINK, r);
		if (!fault_link_is_taken(truth, 0, truth->n_faults, l) &&
		    !has_turn(p->topo, truth, from, l))
			return l;
	}
	l = look_at_all(p, truth, from, 1, r);
	return l != TOPO_NONE ? l : look_at_all(p, truth, from, 0, r);
}

/* A further link of L's switch and class, or TOPO_NONE. The released code
 * throws a coin that comes up with chance P, and draws any of the switch's N
 * links; if that one has failed already, it throws the coin again. So it ends
 * with a link with probability p f / (n - p (n - f)), F being free: a little
 * less than P, as a comment there says. */
static topo_link further_link(const struct places *p, const struct truth *truth,
    topo_link l, double chance, struct sim_rng *r)
{
	const double u = sim_rng_u01(r);
	if (u >= chance)
		return TOPO_NONE;
	const struct siblings s = siblings_of(p, l, truth, r);
	const double misses = chance * (s.n - s.n_free);
	return u * (s.n - misses) < chance * s.n_free ? s.one : TOPO_NONE;
}

/* The released code draws the rates of links from a T1 to a ToR from 1e-5 on,
 * and those of all others from 1e-4 on. */
static int add_matlab(struct fault_draw *d, topo_link l, struct sim_err *e)
{
	struct sim_dist range = d->group->rate;
	if (topo_class_of(d->topo, l) == TOPO_T1_TOR && range.kind != SIM_FIXED)
		range.a /= 10;
	return fault_link_add(d, &range, l, e);
}

/* SHARE links of class C fail, in turns of a switch each. Its further links
 * count like its first: a turn ends when all are placed. */
static int draw_matlab_class(struct fault_draw *d, enum topo_link_class c,
    uint32_t share, struct sim_err *e)
{
	const struct truth *truth = d->truth;
	const struct places p = places_of(d->topo, UINT32_C(1) << c);
	const size_t from = truth->n_faults, to = from + share;
	topo_link l = TOPO_NONE;
	while (truth->n_faults < to) {
		if (l == TOPO_NONE)
			l = next_turn(&p, truth, from, &d->place);
		int rc = add_matlab(d, l, e);
		if (rc < 0)
			return rc;
		if (truth->n_faults < to)
			l = further_link(&p, truth, l, d->group->same_switch,
			    &d->place);
	}
	return 0;
}

static int draw_matlab(struct fault_draw *d, struct sim_err *e)
{
	const struct fault_params *g = d->group;
	const struct truth *truth = d->truth;
	const struct places p = places_of(d->topo, g->classes);
	const uint32_t n_free = p.total - n_taken(&p, truth);
	uint32_t share[TOPO_N_LINK_CLASSES];
	int rc;
	if (!topo_is_clos(d->topo))
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "pick matlab needs a Clos; this topology is a "
		    "graph.");
	if ((rc = check_count(n_free, p.total, g->count, e)) < 0)
		return rc;
	deal_places(&p, truth, g->count, share, &d->place);
	for (unsigned c = 0; c < TOPO_N_LINK_CLASSES; c++)
		if ((rc = draw_matlab_class(d, c, share[c], e)) < 0)
			return rc;
	return 0;
}

/* -------------------------------------------------------------------------- */

static int draw_named(struct fault_draw *d, struct sim_err *e)
{
	const struct fault_params *g = d->group;
	const size_t from = d->truth->n_faults;
	for (size_t i = 0; i < g->n_links; i++) {
		int rc;
		if (g->links[i] >= d->topo->n_links)
			return sim_fail(e, SIM_EINVAL,
			    "link %u is not in [0, %u].", g->links[i],
			    d->topo->n_links - 1);
		/* Only this group's faults are looked at: a link may well be
		 * named in two groups, and then has two faults. */
		if (fault_link_is_taken(d->truth, from, d->truth->n_faults,
			g->links[i]))
			return sim_fail(e, SIM_EINVAL,
			    "link %u is named twice.", g->links[i]);
		if ((rc = fault_link_add(d, &g->rate, g->links[i], e)) < 0)
			return rc;
	}
	return 0;
}

int fault_draw_links(struct fault_draw *d, struct sim_err *e)
{
	if (d->group->n_links > 0)
		return draw_named(d, e);
	return d->group->pick == FAULT_PICK_MATLAB ? draw_matlab(d, e)
						   : draw_random(d, e);
}
