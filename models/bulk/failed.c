/* models/bulk/failed.c -- links with faults and switches with holes.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/bulk/failed.h"

#include <math.h>
#include <stdlib.h>

#include "sim/vec.h"

static const struct bulk_given nothing = {BULK_TO_NONE, 0, TOPO_NONE, TOPO_NONE,
    TOPO_NONE, {TOPO_NONE, TOPO_NONE}};

/* --- what a flow that crosses it does ------------------------------------- */

static void set_range(struct bulk_failed *f, uint32_t from, uint32_t n)
{
	f->from = from;
	f->to = from + n;
	f->given[0] = f->given[1] = nothing;
}

/* A link up is crossed by flows from its own ToR or pod, one down by flows from
 * outside these. Flows within a pod pass one T1, so it tells nothing that one
 * down to a ToR comes from the same pod. */
static void set_link(struct bulk_failed *f, const struct topo_clos *c)
{
	const struct topo_clos_place at = topo_clos_place(c, f->link);
	struct bulk_given *outside = &f->given[0], *inside = &f->given[1];
	set_range(f, at.pod * c->n_tors, c->n_tors);
	switch (at.class) {
	case TOPO_TOR_T1:
		set_range(f, at.low, 1);
		inside->to = BULK_TO_ANY;
		inside->up = at.high % c->n_t1;
		break;
	case TOPO_T1_T2:
		inside->to = BULK_TO_OTHER_PODS;
		inside->up = at.low % c->n_t1;
		inside->t2 = at.high;
		break;
	case TOPO_T2_T1:
		outside->to = BULK_TO_POD;
		outside->id = at.pod;
		outside->t2 = at.high;
		outside->down = at.low % c->n_t1;
		break;
	case TOPO_T1_TOR:
		set_range(f, at.low, 1);
		outside->to = BULK_TO_TOR;
		outside->id = at.low;
		outside->down = at.high % c->n_t1;
		break;
	case TOPO_TOR_HOST:
		set_range(f, at.low / c->n_hosts, 1);
		outside->to = BULK_TO_HOST;
		outside->id = at.low;
		break;
	default:
		break;
	}
}

/* A flow crosses a switch on its way up or down. */
static void set_switch(struct bulk_failed *f, const struct topo_clos *c,
    topo_switch s)
{
	struct bulk_given *outside = &f->given[0], *inside = &f->given[1];
	if (s < c->all_tors) {
		set_range(f, s, 1);
		inside->to = BULK_TO_ANY;
		outside->to = BULK_TO_TOR;
		outside->id = s;
	} else if (s < c->all_tors + c->all_t1) {
		const uint32_t t1 = s - c->all_tors, pod = t1 / c->n_t1;
		set_range(f, pod * c->n_tors, c->n_tors);
		inside->to = BULK_TO_ANY;
		inside->up = t1 % c->n_t1;
		outside->to = BULK_TO_POD;
		outside->id = pod;
		outside->down = t1 % c->n_t1;
	} else {
		set_range(f, 0, c->all_tors);
		inside->to = BULK_TO_OTHER_PODS;
		inside->t2 = s - c->all_tors - c->all_t1;
	}
}

/* In a mesh, the switch or link between switches that a flow over LINK crosses,
 * and the host that it goes to if it is the one link to that. */
static struct bulk_given across_link(const struct topo *t, topo_link link)
{
	struct bulk_given g = nothing;
	topo_node from, to;
	topo_link_ends(t, link, &from, &to);
	if (from < t->n_hosts)
		return g;
	g.via.at = from - t->n_hosts;
	if (to < t->n_hosts) {
		g.to = BULK_TO_HOST;
		g.id = to;
	} else {
		g.via.next = to - t->n_hosts;
	}
	return g;
}

static struct bulk_given across_switch(topo_switch s)
{
	struct bulk_given g = nothing;
	g.via.at = s;
	return g;
}

/* --- the list ------------------------------------------------------------- */

static int add_failed(struct bulk_failed_list *v, struct bulk_failed **out,
    struct sim_err *e)
{
	int rc = SIM_RESERVE(&v->failed, &v->cap, v->n + 1, e);
	if (rc < 0)
		return rc;
	*out = &v->failed[v->n++];
	**out = (struct bulk_failed){.link = TOPO_NONE};
	return 0;
}

static int lasts(const struct scene *s, sim_ns from_ns, sim_ns to_ns)
{
	return from_ns == 0 && to_ns >= s->traffic.epoch_ns;
}

/* Gather the faults by link: they are sorted, so those of one link follow each
 * other. Their hazards are added as if all were active, which keeps `bound` a
 * bound at all times. */
static int list_failed_links(struct bulk_failed_list *v, const struct scene *s,
    struct sim_err *e)
{
	struct bulk_failed *last = NULL;
	for (size_t i = 0; i < s->truth.n_faults; i++) {
		const struct truth_fault *f = &s->truth.fault[i];
		if (truth_is_mark(f))
			continue;
		v->timed |= !lasts(s, f->from_ns, f->to_ns);
		if (!last || last->link != f->link) {
			int rc = add_failed(v, &last, e);
			if (rc < 0)
				return rc;
			last->link = last->place = f->link;
		}
		last->hazard += f->hazard;
	}
	return 0;
}

/* The same for holes. Which of the flows that cross the switch they take, their
 * rules know. */
static int list_holed(struct bulk_failed_list *v, const struct scene *s,
    struct sim_err *e)
{
	const struct truth *t = &s->truth;
	v->has_holes = t->n_holes > 0;
	for (size_t i = 0; i < t->n_holes; i++) {
		const struct truth_hole *h = &t->hole[i];
		struct bulk_failed *f;
		v->timed |= !lasts(s, h->from_ns, h->to_ns);
		if (i > 0 && h[-1].at == h->at)
			continue;
		int rc = add_failed(v, &f, e);
		if (rc < 0)
			return rc;
		f->place = s->topo->n_links + h->at;
		f->bound = 1;
		if (topo_is_clos(s->topo))
			set_switch(f, &s->topo->clos, h->at);
		else
			f->across = across_switch(h->at);
	}
	return 0;
}

/* New memory of the index is cleared here, and what an epoch has set in it by
 * bulk_failed_end(). */
static int clear_index(struct bulk_failed_list *v, const struct topo *t,
    struct sim_err *e)
{
	const size_t had = v->cap_index;
	int rc = SIM_RESERVE(&v->index, &v->cap_index,
	    (size_t)t->n_links + t->n_switches, e);
	for (size_t i = had; i < v->cap_index; i++)
		v->index[i] = 0;
	return rc;
}

/* Chances follow from where a flow starts, so the current ToR is each in turn. */
static void weigh_pairs(struct bulk_failed_list *v)
{
	const struct bulk_pair *last = NULL;
	for (size_t i = 0; i < v->pairs.n; i++) {
		struct bulk_pair *p = &v->pairs.pair[i];
		const struct bulk_failed *f = &v->failed[p->failed];
		const int follows = last && last->from == p->from;
		if (!follows)
			bulk_courses_from(&v->courses, p->from);
		double weight =
		    f->bound * p->share * bulk_courses_to(&v->courses, p->to);
		if (f->across.to == BULK_TO_HOST)
			weight /=
			    scene_traffic_n_hosts(v->courses.traffic, p->to);
		p->share = weight + (follows ? last->share : 0);
		last = p;
	}
}

/* What candidates are of in a mesh. All flows of a host cross its uplink, to
 * whatever ToR. */
static int list_pairs(struct bulk_failed_list *v, const struct topo *t,
    struct sim_err *e)
{
	int rc = 0;
	v->pairs.n = 0;
	for (uint32_t i = 0; rc == 0 && i < v->n; i++) {
		const struct bulk_given *g = &v->failed[i].across;
		if (g->via.at != TOPO_NONE)
			rc = bulk_pairs_add(&v->pairs, &v->courses.cross, i,
			    g->via,
			    g->to == BULK_TO_HOST ? g->via.at : TOPO_NONE, e);
	}
	if (rc == 0 && (rc = bulk_pairs_sort(&v->pairs, t->n_switches, e)) == 0)
		weigh_pairs(v);
	return rc;
}

int bulk_failed_begin(struct bulk_failed_list *v, const struct scene *s,
    double n_max, struct sim_err *e)
{
	const struct topo *t = s->topo;
	int rc;
	v->n = 0;
	v->timed = 0;
	if ((rc = clear_index(v, t, e)) < 0 ||
	    (rc = bulk_courses_begin(&v->courses, &s->traffic, e)) < 0 ||
	    (rc = list_failed_links(v, s, e)) < 0)
		goto out;
	for (size_t i = 0; i < v->n; i++) {
		struct bulk_failed *f = &v->failed[i];
		f->bound = -expm1(-n_max * f->hazard);
		f->rate = -expm1(-f->hazard);
		if (topo_is_clos(t))
			set_link(f, &t->clos);
		else
			f->across = across_link(t, f->link);
	}
	if ((rc = list_holed(v, s, e)) == 0)
		rc = topo_is_clos(t)
		    ? SIM_RESERVE(&v->sum, &v->cap_sum, v->n, e)
		    : list_pairs(v, t, e);
out:
	if (rc < 0)
		v->n = 0;
	for (size_t i = 0; i < v->n; i++)
		v->index[v->failed[i].place] = (uint32_t)i + 1;
	return rc;
}

/* Clear only the entries that were set: clearing all of the dense index would
 * cost more than many an epoch. */
void bulk_failed_end(struct bulk_failed_list *v)
{
	for (size_t i = 0; i < v->n; i++)
		v->index[v->failed[i].place] = 0;
}

void bulk_failed_free(struct bulk_failed_list *v)
{
	free(v->failed);
	free(v->index);
	free(v->sum);
	bulk_courses_free(&v->courses);
	bulk_pairs_free(&v->pairs);
}

uint64_t bulk_failed_pairs(const struct scene *s)
{
	const struct topo *t = s->topo;
	const struct truth *truth = &s->truth;
	uint64_t n = 0;
	if (topo_is_clos(t))
		return 0;
	for (size_t i = 0; i < truth->n_faults; i++) {
		const struct truth_fault *f = &truth->fault[i];
		const struct bulk_given g = across_link(t, f->link);
		if (truth_is_mark(f) || g.via.at == TOPO_NONE)
			continue;
		n += g.to == BULK_TO_HOST
		    ? s->traffic.n_tors - 1
		    : topo_mesh_cross_most(t->mesh, g.via);
	}
	for (size_t i = 0; i < truth->n_holes; i++) {
		const struct truth_hole *h = &truth->hole[i];
		if (i == 0 || h[-1].at != h->at)
			n += topo_mesh_cross_most(t->mesh,
			    across_switch(h->at).via);
	}
	return n;
}

/* --- flows of a ToR ------------------------------------------------------- */

static void set_weights(struct bulk_failed_list *v)
{
	for (size_t i = 0; i < v->n; i++)
		for (int k = 0; k < 2; k++) {
			struct bulk_failed *f = &v->failed[i];
			f->weight[k] = f->bound *
			    bulk_courses_chance(&v->courses, &f->given[k]);
		}
}

double bulk_failed_weigh(struct bulk_failed_list *v, uint32_t tor)
{
	double sum = 0;
	if (!v->courses.clos) {
		const uint32_t *first = v->pairs.first + tor;
		return first[1] > first[0] ? v->pairs.pair[first[1] - 1].share
					   : 0;
	}
	if (bulk_courses_from(&v->courses, tor))
		set_weights(v);
	for (size_t i = 0; i < v->n; i++) {
		const struct bulk_failed *f = &v->failed[i];
		sum += f->weight[bulk_failed_inside(f, tor)];
		v->sum[i] = sum;
	}
	return sum;
}

/* The first pair whose running sum is above U. */
const struct bulk_given *bulk_failed_pick_pair(struct bulk_failed_list *v,
    uint32_t tor, double u)
{
	const struct bulk_pair *at = v->pairs.pair + v->pairs.first[tor];
	size_t n = v->pairs.first[tor + 1] - v->pairs.first[tor];
	while (n > 1) {
		const size_t half = n / 2;
		at += at[half - 1].share <= u ? half : 0;
		n -= half;
	}
	v->picked = v->failed[at->failed].across;
	if (v->picked.to != BULK_TO_HOST) {
		v->picked.to = BULK_TO_TOR;
		v->picked.id = at->to;
	}
	return &v->picked;
}
