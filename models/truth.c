/* models/truth.c -- what was really broken; algorithms can't see it.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/truth.h"

#include <math.h>
#include <stdlib.h>

#include "sim/sort.h"
#include "sim/vec.h"

/* Arrays keep their memory for the next epoch. */
void truth_clear(struct truth *t)
{
	t->n_faults = 0;
	t->n_switches = 0;
	t->n_parts = 0;
	t->n_holes = 0;
	t->n_routes = 0;
	t->n_bursts = 0;
	t->n_outages = 0;
}

void truth_free(struct truth *t)
{
	free(t->fault);
	free(t->failed_switch);
	free(t->part);
	free(t->hole);
	free(t->route);
	free(t->burst);
	free(t->outage);
	*t = (struct truth){0};
}

int truth_add_fault(struct truth *t, const struct truth_fault *f,
    struct sim_err *e)
{
	int rc = SIM_RESERVE(&t->fault, &t->cap_faults, t->n_faults + 1, e);
	if (rc < 0)
		return rc;
	struct truth_fault *to = &t->fault[t->n_faults++];
	*to = *f;
	to->hazard = -log1p(-f->rate);
	return 0;
}

int truth_add_hole(struct truth *t, const struct truth_hole *h,
    struct sim_err *e)
{
	int rc = SIM_RESERVE(&t->hole, &t->cap_holes, t->n_holes + 1, e);
	if (rc == 0)
		t->hole[t->n_holes++] = *h;
	return rc;
}

int truth_add_route(struct truth *t, const struct truth_route *r,
    struct sim_err *e)
{
	int rc = SIM_RESERVE(&t->route, &t->cap_routes, t->n_routes + 1, e);
	if (rc == 0)
		t->route[t->n_routes++] = *r;
	return rc;
}

int truth_add_burst(struct truth *t, topo_link link, const struct burst *b,
    sim_ns from_ns, sim_ns to_ns, struct sim_err *e)
{
	const struct truth_fault f = {
	    .link = link,
	    .from_ns = from_ns,
	    .to_ns = to_ns,
	    .delay_us = burst_mean_us(b),
	    .law = TRUTH_BURST,
	    .burst = (uint32_t)t->n_bursts,
	};
	int rc = SIM_RESERVE(&t->burst, &t->cap_bursts, t->n_bursts + 1, e);
	if (rc < 0 || (rc = truth_add_fault(t, &f, e)) < 0)
		return rc;
	t->burst[t->n_bursts++] = *b;
	return 0;
}

int truth_add_outage(struct truth *t, const struct truth_outage *o,
    struct sim_err *e)
{
	int rc = SIM_RESERVE(&t->outage, &t->cap_outages, t->n_outages + 1, e);
	if (rc == 0)
		t->outage[t->n_outages++] = *o;
	return rc;
}

/* A switch is listed once, however many of its links fail. Both arrays have
 * room before either is written, so that an error leaves them in step. */
int truth_add_part(struct truth *t, topo_link link, topo_switch of,
    struct sim_err *e)
{
	int rc;
	if ((rc = SIM_RESERVE(&t->part, &t->cap_parts, t->n_parts + 1, e)) < 0)
		return rc;
	if (!truth_is_failed_switch(t, of)) {
		if ((rc = SIM_RESERVE(&t->failed_switch, &t->cap_switches,
			 t->n_switches + 1, e)) < 0)
			return rc;
		t->failed_switch[t->n_switches++] = of;
	}
	t->part[t->n_parts++] = (struct truth_part){link, of};
	return 0;
}

/* Faults of one link are in the order of their beginnings, which readers walk
 * through after they have found the first. */
static int by_link(const void *a, const void *b)
{
	const struct truth_fault *x = a, *y = b;
	if (x->link != y->link)
		return SIM_ORDER(x->link, y->link);
	return SIM_ORDER(x->from_ns, y->from_ns);
}

/* By link, then by switch: so the first part of a link is that of the smaller
 * id, as truth_switch_of() promises. */
static int by_part(const void *a, const void *b)
{
	const struct truth_part *x = a, *y = b;
	if (x->link != y->link)
		return SIM_ORDER(x->link, y->link);
	return SIM_ORDER(x->of, y->of);
}

static int by_switch(const void *a, const void *b)
{
	const struct truth_hole *x = a, *y = b;
	if (x->at != y->at)
		return SIM_ORDER(x->at, y->at);
	return SIM_ORDER(x->from_ns, y->from_ns);
}

/* Rules of one time too have an order, since of two wrong routes the first
 * counts. */
static int by_router(const void *a, const void *b)
{
	const struct truth_route *x = a, *y = b;
	if (x->at != y->at)
		return SIM_ORDER(x->at, y->at);
	if (x->from_ns != y->from_ns)
		return SIM_ORDER(x->from_ns, y->from_ns);
	if (x->rule.kind != y->rule.kind)
		return SIM_ORDER(x->rule.kind, y->rule.kind);
	return SIM_ORDER(x->rule.link, y->rule.link);
}

/* The order of outages: those of a kind together, and in a kind those of an
 * id. */
static uint64_t outage_key(enum truth_outage_kind kind, uint32_t id)
{
	return (uint64_t)kind << 32 | id;
}

static int by_outage(const void *a, const void *b)
{
	const struct truth_outage *x = a, *y = b;
	const uint64_t kx = outage_key(x->kind, x->id);
	const uint64_t ky = outage_key(y->kind, y->id);
	if (kx != ky)
		return SIM_ORDER(kx, ky);
	return SIM_ORDER(x->from_ns, y->from_ns);
}

/* Arrays of fewer than two entries are sorted, and may be NULL, which qsort()
 * does not take. */
void truth_sort(struct truth *t)
{
	if (t->n_holes > 1)
		qsort(t->hole, t->n_holes, sizeof(t->hole[0]), by_switch);
	if (t->n_routes > 1)
		qsort(t->route, t->n_routes, sizeof(t->route[0]), by_router);
	if (t->n_outages > 1)
		qsort(t->outage, t->n_outages, sizeof(t->outage[0]), by_outage);
	if (t->n_faults > 1)
		qsort(t->fault, t->n_faults, sizeof(t->fault[0]), by_link);
	if (t->n_parts > 1)
		qsort(t->part, t->n_parts, sizeof(t->part[0]), by_part);
}

/* Whether I is what truth_first_fault() returns: all faults before it are of
 * links below LINK, and the one there is not. As the faults are sorted, its two
 * neighbours tell. */
static int is_first(const struct truth *t, topo_link link, size_t i)
{
	return i <= t->n_faults && (i == 0 || t->fault[i - 1].link < link) &&
	    (i == t->n_faults || t->fault[i].link >= link);
}

size_t truth_first_fault(const struct truth *t, topo_link link, size_t guess)
{
	size_t lo = 0, hi = t->n_faults;
	if (is_first(t, link, guess))
		return guess;
	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;
		if (t->fault[mid].link < link)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

size_t truth_first_hole(const struct truth *t, topo_switch s)
{
	size_t lo = 0, hi = t->n_holes;
	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;
		if (t->hole[mid].at < s)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < t->n_holes && t->hole[lo].at == s ? lo : t->n_holes;
}

int truth_swallows(const struct truth *t, topo_switch s,
    const struct topo_tuple *tuple, sim_ns at)
{
	/* A switch may have several holes, of different groups of faults; one
	 * that takes the packet is enough. */
	for (size_t i = truth_first_hole(t, s);
	     i < t->n_holes && t->hole[i].at == s; i++) {
		const struct truth_hole *h = &t->hole[i];
		if (h->from_ns <= at && at < h->to_ns &&
		    blackhole_rule_drops(&h->rule, tuple))
			return 1;
	}
	return 0;
}

/* The index of the first rule of switch S, or where it would stand. */
static size_t first_route(const struct truth *t, topo_switch s)
{
	size_t lo = 0, hi = t->n_routes;
	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;
		if (t->route[mid].at < s)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

void truth_choose(const struct truth *t, topo_switch s,
    const struct topo_tuple *tuple, sim_ns at, struct route_choice *c)
{
	for (size_t i = first_route(t, s);
	     i < t->n_routes && t->route[i].at == s; i++) {
		const struct truth_route *r = &t->route[i];
		if (r->from_ns <= at && at < r->to_ns &&
		    route_rule_takes(&r->rule, tuple))
			route_rule_apply(&r->rule, c);
	}
}

int truth_is_marked(const struct truth *t, size_t first, topo_link link,
    sim_ns at)
{
	for (size_t i = first; i < t->n_faults && t->fault[i].link == link;
	     i++) {
		const struct truth_fault *f = &t->fault[i];
		if (f->law == TRUTH_BURST && f->from_ns <= at &&
		    at < f->to_ns && burst_marks(&t->burst[f->burst], at))
			return 1;
	}
	return 0;
}

const struct truth_outage *truth_outage_at(const struct truth *t,
    enum truth_outage_kind kind, uint32_t id, sim_ns at)
{
	/* Find the first outage of this kind and id, then the first of these
	 * that is active: outages of one id may overlap. */
	const uint64_t key = outage_key(kind, id);
	size_t lo = 0, hi = t->n_outages;
	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;
		const struct truth_outage *o = &t->outage[mid];
		if (outage_key(o->kind, o->id) < key)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < t->n_outages; lo++) {
		const struct truth_outage *o = &t->outage[lo];
		if (outage_key(o->kind, o->id) != key)
			break;
		if (o->from_ns <= at && at < o->to_ns)
			return o;
	}
	return NULL;
}

int truth_is_failed_switch(const struct truth *t, topo_switch s)
{
	for (size_t i = 0; i < t->n_switches; i++)
		if (t->failed_switch[i] == s)
			return 1;
	return 0;
}

topo_switch truth_switch_of(const struct truth *t, topo_link link,
    topo_switch like)
{
	size_t lo = 0, hi = t->n_parts;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (t->part[mid].link < link)
			lo = mid + 1;
		else
			hi = mid;
	}
	/* From here on LO is the first part of LINK, and HI goes through its
	 * others in search of LIKE. */
	for (hi = lo; hi < t->n_parts && t->part[hi].link == link; hi++)
		if (t->part[hi].of == like)
			return like;
	return lo < hi ? t->part[lo].of : TOPO_NONE;
}

/* For one link at a time, by bisection over the sorted faults; who goes through
 * all links does better with truth_first_fault(). */
int truth_is_faulty(const struct truth *t, topo_link link)
{
	size_t lo = 0, n = t->n_faults;
	/* Which half it is no processor can predict, so there is no branch. */
	for (; n > 1; n -= n / 2)
		lo += t->fault[lo + n / 2 - 1].link < link ? n / 2 : 0;
	lo += n > 0 && t->fault[lo].link < link;
	/* A fault may be drawn with a rate or delay of 0, and then does
	 * nothing. */
	for (; lo < t->n_faults && t->fault[lo].link == link; lo++)
		if (truth_is_fault(&t->fault[lo]))
			return 1;
	return 0;
}

size_t truth_n_faulty(const struct truth *t)
{
	size_t n = 0;
	for (size_t i = 0; i < t->n_faults; i++) {
		const topo_link link = t->fault[i].link;
		n += truth_is_faulty(t, link);
		/* The other faults of a link come right behind. */
		while (i + 1 < t->n_faults && t->fault[i + 1].link == link)
			i++;
	}
	return n;
}
