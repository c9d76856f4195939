/* topo/alike.c -- the share of flows through one link that cross many others.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "topo/alike.h"

#include <stdlib.h>

#include "sim/vec.h"

/* What links are compared by, whichever way they point. */
struct alike_parts {
	uint32_t class, pod, one, two;
};

/* No ToR is a T2, and no host a T1. */
#define ALIKE_OTHER (UINT32_C(1) << 31)

static struct alike_parts alike_parts(const struct topo_clos *c, topo_link l)
{
	const struct topo_clos_place at = topo_clos_place(c, l);
	struct alike_parts p = {.class = at.class, .pod = at.pod};
	switch (at.class) {
	case TOPO_HOST_TOR:
	case TOPO_TOR_HOST:
		p.one = at.high;
		p.two = at.low;
		break;
	case TOPO_TOR_T1:
	case TOPO_T1_TOR:
		p.one = at.low;
		p.two = (at.high - at.pod * c->n_t1) | ALIKE_OTHER;
		break;
	default:
		p.one = at.high | ALIKE_OTHER;
		p.two = (at.low - at.pod * c->n_t1) | ALIKE_OTHER;
	}
	return p;
}

static inline uint32_t alike_case(const struct alike_parts *g, uint32_t first,
    uint32_t pod, uint32_t one, uint32_t two)
{
	return first + (uint32_t)(pod == g->pod) +
	    2 * (uint32_t)(one == g->one) + 4 * (uint32_t)(two == g->two);
}

void topo_alike_free(struct topo_alike *a)
{
	free(a->link);
	free(a->pod);
	free(a->one);
	free(a->two);
	free(a->first);
	*a = (struct topo_alike){0};
}

static int alike_reserve(struct topo_alike *a, size_t n, struct sim_err *e)
{
	/* All arrays share `cap`, so each grows on a copy of it: if one fails,
	 * those before merely hold spare memory. */
	uint32_t **const array[] = {&a->link, &a->pod, &a->one, &a->two,
	    &a->first};
	size_t cap = a->cap;
	for (size_t i = 0; i < sizeof(array) / sizeof(array[0]); i++) {
		int rc;
		cap = a->cap;
		if ((rc = SIM_RESERVE(array[i], &cap, n, e)) < 0)
			return rc;
	}
	a->cap = cap;
	return 0;
}

int topo_alike_take(struct topo_alike *a, const struct topo *t,
    const topo_link link[], size_t n, struct sim_err *e)
{
	const struct topo_clos *c = &t->clos;
	int rc = alike_reserve(a, n, e);
	if (rc < 0)
		return rc;
	a->topo = t;
	a->n = n;
	for (size_t i = 0; i < n; i++) {
		a->link[i] = link[i];
		if (!topo_is_clos(t))
			continue;
		const struct alike_parts p = alike_parts(c, link[i]);
		a->pod[i] = p.pod;
		a->one[i] = p.one;
		a->two[i] = p.two;
		a->first[i] = p.class * TOPO_ALIKE_CASES;
	}
	return 0;
}

void topo_alike_drop(struct topo_alike *a, size_t i)
{
	const size_t last = --a->n;
	a->link[i] = a->link[last];
	a->pod[i] = a->pod[last];
	a->one[i] = a->one[last];
	a->two[i] = a->two[last];
	a->first[i] = a->first[last];
}

/* --- cases ---------------------------------------------------------------- */

/* The link of a class that is first (bit 0) or last in each of the three parts
 * that it is compared by: pod, then lower, then upper end. */
static topo_link alike_example(const struct topo_clos *c,
    enum topo_link_class class, unsigned last)
{
	const enum topo_dir dir = class <= TOPO_T1_T2 ? TOPO_UP : TOPO_DOWN;
	const uint32_t pod = last & 1 ? c->n_pods - 1 : 0;
	const uint32_t tor = pod * c->n_tors + (last & 2 ? c->n_tors - 1 : 0);
	const uint32_t t1 = last & 2 ? c->n_t1 - 1 : 0;
	switch (class) {
	case TOPO_HOST_TOR:
	case TOPO_TOR_HOST:
		return topo_clos_link_host(tor * c->n_hosts +
			(last & 4 ? c->n_hosts - 1 : 0),
		    dir);
	case TOPO_TOR_T1:
	case TOPO_T1_TOR:
		return topo_clos_link_tor(c, tor, last & 4 ? c->n_t1 - 1 : 0,
		    dir);
	default:
		return topo_clos_link_t1(c, pod * c->n_t1 + t1,
		    last & 4 ? c->n_t2 - 1 : 0, dir);
	}
}

/* All cases of a class of given links, told by the first of these and by links
 * that share as much with it as can be, and as little. */
static void alike_know(struct topo_alike *a, enum topo_link_class class)
{
	const struct topo_clos *c = &a->topo->clos;
	const topo_link given = topo_clos_class_at(c, class, 0);
	const struct alike_parts g = alike_parts(c, given);
	for (unsigned other = TOPO_HOST_TOR; other <= TOPO_TOR_HOST; other++)
		for (unsigned last = 0; last < TOPO_ALIKE_CASES; last++) {
			if (topo_clos_class_size(c, other) == 0)
				break;
			const topo_link l = alike_example(c, other, last);
			const struct alike_parts p = alike_parts(c, l);
			a->share[class][alike_case(&g, other * TOPO_ALIKE_CASES,
			    p.pod, p.one, p.two)] =
			    topo_clos_share(c, given, l);
		}
	a->known |= 1u << class;
}

int topo_alike_shares(struct topo_alike *a, topo_link given, double share[],
    struct sim_err *e)
{
	enum { BLOCK = 256 };
	uint32_t at[BLOCK];
	if (!topo_is_clos(a->topo))
		return topo_share_given(a->topo, given, a->link, a->n, share,
		    e);
	const struct alike_parts g = alike_parts(&a->topo->clos, given);
	const double *by_case = a->share[g.class];
	if (!(a->known >> g.class & 1))
		alike_know(a, g.class);
	/* The first loop is for the vectoriser, and so apart from the
	 * second. */
	for (size_t from = 0; from < a->n; from += BLOCK) {
		const size_t n = a->n - from < BLOCK ? a->n - from : BLOCK;
		for (size_t i = 0; i < n; i++)
			at[i] =
			    alike_case(&g, a->first[from + i], a->pod[from + i],
				a->one[from + i], a->two[from + i]);
		for (size_t i = 0; i < n; i++)
			share[from + i] = by_case[at[i]];
	}
	return 0;
}
