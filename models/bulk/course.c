/* models/bulk/course.c -- where a flow goes, given what it crosses.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/bulk/course.h"

#include <math.h>
#include <stdlib.h>

#include "sim/vec.h"

static int is_hot(const struct bulk_courses *b, uint32_t tor)
{
	return b->aim.n_hot > 0 && b->traffic->place[tor] < b->aim.n_hot;
}

/* The hot ones from the front of the pod's part, the others from its end. */
static void list_by_pod(struct bulk_courses *b)
{
	const uint32_t n_tors = b->clos->n_tors;
	for (uint32_t pod = 0; pod < b->clos->n_pods; pod++) {
		uint32_t hot = pod * n_tors, cold = hot + n_tors;
		for (uint32_t t = pod * n_tors; t < (pod + 1) * n_tors; t++)
			b->by_pod[is_hot(b, t) ? hot++ : --cold] = t;
		b->n_hot_in[pod] = hot - pod * n_tors;
	}
}

int bulk_courses_begin(struct bulk_courses *b,
    const struct scene_traffic *traffic, struct sim_err *e)
{
	const struct topo_clos *clos = &traffic->topo->clos;
	int rc;
	b->topo = traffic->topo;
	b->clos = topo_is_clos(b->topo) ? clos : NULL;
	b->traffic = traffic;
	b->aim = scene_traffic_aim(traffic);
	b->far = NAN; /* unlike that of any ToR */
	if (!b->clos)
		return topo_mesh_cross_begin(&b->cross, b->topo->mesh, e);
	if (b->aim.n_hot == 0)
		return 0;
	if ((rc = SIM_RESERVE(&b->by_pod, &b->cap_by_pod, clos->all_tors, e)) <
		0 ||
	    (rc = SIM_RESERVE(&b->n_hot_in, &b->cap_n_hot_in, clos->n_pods,
		 e)) < 0)
		return rc;
	list_by_pod(b);
	return 0;
}

void bulk_courses_free(struct bulk_courses *b)
{
	free(b->by_pod);
	free(b->n_hot_in);
	topo_mesh_cross_free(&b->cross);
}

/* --- chances -------------------------------------------------------------- */

/* Chances of flows from TOR by the law of scene_aim_place(): the coin chooses
 * one of two groups of ToRs, unless one is empty but for TOR, and there all but
 * TOR are alike. */
static void set_skewed(struct bulk_courses *b, uint32_t tor)
{
	const uint32_t n[2] = {b->aim.n_tors - b->aim.n_hot, b->aim.n_hot};
	const int own = is_hot(b, tor);
	double share = b->aim.any ? (b->aim.last + 1.0) * 0x1p-32 : 0;
	if (n[own] == 1)
		share = !own;
	b->to_tor[1] = share > 0 ? share / (n[1] - own) : 0;
	b->to_tor[0] = share < 1 ? (1 - share) / (n[0] - !own) : 0;
	if (!b->clos)
		return;
	const uint32_t hot_here = b->n_hot_in[tor / b->clos->n_tors];
	b->far = b->to_tor[1] * (n[1] - hot_here) +
	    b->to_tor[0] * (n[0] - (b->clos->n_tors - hot_here));
}

int bulk_courses_from(struct bulk_courses *b, uint32_t tor)
{
	const double far = b->far, cold = b->to_tor[0], hot = b->to_tor[1];
	const struct topo_clos *c = b->clos;
	if (b->aim.n_hot == 0) {
		/* All ToRs are alike. */
		if (!isnan(far))
			return 0;
		b->to_tor[0] = b->to_tor[1] = 1 / (b->aim.n_tors - 1.0);
		b->far = c ? (c->all_tors - c->n_tors) * b->to_tor[0] : 0;
		return 1;
	}
	set_skewed(b, tor);
	return far != b->far || cold != b->to_tor[0] || hot != b->to_tor[1];
}

double bulk_courses_to(const struct bulk_courses *b, uint32_t tor)
{
	return b->to_tor[is_hot(b, tor)];
}

/* The chance of a destination in another pod P whose hot ToRs, or whose others,
 * are N of its ToRs. */
static double to_hot_in(const struct bulk_courses *b, uint32_t pod)
{
	return b->aim.n_hot > 0 ? b->n_hot_in[pod] * b->to_tor[1] : 0;
}

static double to_others_in(const struct bulk_courses *b, uint32_t pod)
{
	const uint32_t n_hot = b->aim.n_hot > 0 ? b->n_hot_in[pod] : 0;
	return (b->clos->n_tors - n_hot) * b->to_tor[0];
}

static double whereto_chance(const struct bulk_courses *b,
    const struct bulk_given *g)
{
	const uint32_t n_hosts = b->clos->n_hosts;
	switch (g->to) {
	case BULK_TO_ANY:
		return 1;
	case BULK_TO_OTHER_PODS:
		return b->far;
	case BULK_TO_POD:
		return to_hot_in(b, g->id) + to_others_in(b, g->id);
	case BULK_TO_TOR:
		return bulk_courses_to(b, g->id);
	case BULK_TO_HOST:
		return bulk_courses_to(b, g->id / n_hosts) / n_hosts;
	default:
		return 0;
	}
}

double bulk_courses_chance(const struct bulk_courses *b,
    const struct bulk_given *g)
{
	const double n_t1 = b->clos->n_t1;
	double chance = whereto_chance(b, g);
	if (g->up != TOPO_NONE)
		chance /= n_t1;
	if (g->t2 != TOPO_NONE)
		chance /= b->clos->n_t2;
	if (g->down != TOPO_NONE)
		chance /= n_t1;
	return chance;
}

/* --- draws ---------------------------------------------------------------- */

/* One of N alike from a uniform word, leaving in the word what the choice did
 * not use, for the next. Bias below (product of the Ns) / 2^32. */
static uint32_t course_choose(uint32_t *word, uint32_t n)
{
	const uint64_t m = (uint64_t)*word * n;
	*word = (uint32_t)m;
	return (uint32_t)(m >> 32);
}

/* The ToR that any flow of TOR goes to. */
static uint32_t any_tor(const struct bulk_courses *b, struct sim_rng *r,
    uint32_t *word, uint32_t tor)
{
	if (b->aim.n_hot == 0) {
		const uint32_t t = course_choose(word, b->aim.n_tors - 1);
		return t + (t >= tor);
	}
	const uint32_t coin = sim_rng_u32(r);
	return b->traffic->tor[scene_aim_place(b->aim, b->traffic->place[tor],
	    *word, coin, word)];
}

/* A ToR of another pod than TOR's: those after the pod's own are shifted past
 * it. */
static uint32_t far_tor(const struct bulk_courses *b, struct sim_rng *r,
    uint32_t *word, uint32_t tor)
{
	const struct topo_clos *c = b->clos;
	const uint32_t pod = tor / c->n_tors;
	uint32_t t;
	if (b->aim.n_hot == 0) {
		t = course_choose(word, c->all_tors - c->n_tors);
		return t + (t >= pod * c->n_tors ? c->n_tors : 0);
	}
	while ((t = any_tor(b, r, word, tor)) / c->n_tors == pod)
		*word = sim_rng_u32(r);
	return t;
}

/* A ToR of POD, which is not the source's. */
static uint32_t tor_of_pod(const struct bulk_courses *b, struct sim_rng *r,
    uint32_t *word, uint32_t pod)
{
	const uint32_t n = b->clos->n_tors, first = pod * n;
	if (b->aim.n_hot == 0)
		return first + course_choose(word, n);
	const double hot = to_hot_in(b, pod), others = to_others_in(b, pod);
	const uint32_t n_hot = b->n_hot_in[pod];
	if (sim_rng_u32(r) * 0x1p-32 * (hot + others) < hot)
		return b->by_pod[first + course_choose(word, n_hot)];
	return b->by_pod[first + n_hot + course_choose(word, n - n_hot)];
}

static uint32_t draw_tor(const struct bulk_courses *b, struct sim_rng *r,
    uint32_t *word, uint32_t tor, const struct bulk_given *g)
{
	switch (g ? g->to : BULK_TO_ANY) {
	case BULK_TO_OTHER_PODS:
		return far_tor(b, r, word, tor);
	case BULK_TO_POD:
		return tor_of_pod(b, r, word, g->id);
	case BULK_TO_TOR:
		return g->id;
	case BULK_TO_HOST:
		return g->id / b->clos->n_hosts;
	default:
		return any_tor(b, r, word, tor);
	}
}

/* The links to W->dst under DTOR: two of hosts, and two or four between switches,
 * by way of these T1s, counted within their pods, and T2. */
static void lay_path(const struct topo_clos *c, topo_host src, uint32_t tor,
    uint32_t dtor, uint32_t up, uint32_t t2, uint32_t down,
    struct bulk_course *w)
{
	const uint32_t pod = tor / c->n_tors, dpod = dtor / c->n_tors;
	topo_link *path = w->path;
	unsigned h = 0;
	path[h++] = topo_clos_link_host(src, TOPO_UP);
	path[h++] = topo_clos_link_tor(c, tor, up, TOPO_UP);
	if (pod != dpod) {
		path[h++] =
		    topo_clos_link_t1(c, pod * c->n_t1 + up, t2, TOPO_UP);
		path[h++] =
		    topo_clos_link_t1(c, dpod * c->n_t1 + down, t2, TOPO_DOWN);
	} else {
		down = up;
	}
	path[h++] = topo_clos_link_tor(c, dtor, down, TOPO_DOWN);
	path[h++] = topo_clos_link_host(w->dst, TOPO_DOWN);
	w->h = h;
}

static void draw_in_clos(const struct bulk_courses *b, struct sim_rng *r,
    topo_host src, uint32_t tor, const struct bulk_given *g,
    struct bulk_course *w)
{
	const struct topo_clos *c = b->clos;
	uint32_t to = sim_rng_u32(r), by = sim_rng_u32(r);
	const uint32_t dtor = draw_tor(b, r, &to, tor, g);
	w->dst = g && g->to == BULK_TO_HOST
	    ? g->id
	    : dtor * c->n_hosts + course_choose(&to, c->n_hosts);
	uint32_t up = course_choose(&by, c->n_t1);
	uint32_t t2 = course_choose(&by, c->n_t2);
	uint32_t down = course_choose(&by, c->n_t1);
	/* Those that are not given are open, and stay as they were drawn. */
	if (g && g->up != TOPO_NONE)
		up = g->up;
	if (g && g->t2 != TOPO_NONE)
		t2 = g->t2;
	if (g && g->down != TOPO_NONE)
		*(dtor / c->n_tors == tor / c->n_tors ? &up : &down) = g->down;
	lay_path(c, src, tor, dtor, up, t2, down, w);
	w->from = tor;
	w->to = dtor;
	w->up = up;
	w->t2 = t2;
	w->down = w->h == 4 ? up : down;
}

/* Of any flow the path is one that switches' hashes give to a digest; as this is
 * a random one, the hashes may be any. */
static void draw_in_mesh(struct bulk_courses *b, struct sim_rng *r,
    topo_host src, const struct bulk_given *g, struct bulk_course *w)
{
	const uint32_t to = sim_rng_u32(r);
	if (!g) {
		w->dst = scene_traffic_dst(b->traffic, src, to, sim_rng_u32(r));
		w->h =
		    topo_path(b->topo, 0, src, w->dst, sim_rng_u32(r), w->path);
		return;
	}
	w->dst = g->to == BULK_TO_HOST
	    ? g->id
	    : scene_traffic_host(b->traffic, g->id, to);
	w->h = topo_mesh_cross_path(&b->cross, r, g->via, src, w->dst, w->path);
}

void bulk_courses_draw(struct bulk_courses *b, struct sim_rng *r, topo_host src,
    uint32_t tor, const struct bulk_given *g, struct bulk_course *w)
{
	if (b->clos)
		draw_in_clos(b, r, src, tor, g, w);
	else
		draw_in_mesh(b, r, src, g, w);
}

/* A Clos need not ask of each link where it leads. */
unsigned bulk_course_switches(const struct bulk_courses *b,
    const struct bulk_course *w, topo_switch at[])
{
	const struct topo_clos *c = b->clos;
	for (unsigned i = 0; !c && i + 1 < w->h; i++) {
		topo_node from, to;
		topo_link_ends(b->topo, w->path[i], &from, &to);
		at[i] = to - b->topo->n_hosts;
	}
	if (!c)
		return w->h - 1;
	unsigned n = 0;
	at[n++] = w->from;
	at[n++] = topo_clos_t1(c, w->from / c->n_tors, w->up);
	if (w->h == 6) {
		at[n++] = topo_clos_t2(c, w->t2);
		at[n++] = topo_clos_t1(c, w->to / c->n_tors, w->down);
	}
	at[n++] = w->to;
	return n;
}
