/* models/connects/order.c -- ranks of many round trips, without drawing each.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/connects/order.h"

#include <assert.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* So many at most are drawn one by one; so narrow an interval is flat. */
enum { FEW = 6 };
static const double narrow = 1e-3;

/* The values in [lo, hi) of each law, and the ranks among them: those from
 * `first` on, of which `before` lie below lo. */
struct order_part {
	double lo, hi;
	double below[CONNECTS_LAWS], to[CONNECTS_LAWS]; /* P(rtt < lo), hi */
	uint64_t n[CONNECTS_LAWS], before;
	const uint64_t *rank;
	double *us;
	unsigned n_ranks;
};

static uint64_t order_count(const struct order_part *p)
{
	uint64_t sum = 0;
	for (unsigned i = 0; i < CONNECTS_LAWS; i++)
		sum += p->n[i];
	return sum;
}

static double below_at(const struct connects_order *o, unsigned law, double us)
{
	return 1 - fabric_sim_rtt_tail(&o->law[law], us);
}

/* gsl_ran_binomial() takes 32 bits; a sum of binomials is one. */
static uint64_t order_binomial(struct sim_rng *r, uint64_t n, double p)
{
	uint64_t sum = 0;
	p = fmin(fmax(p, 0), 1);
	for (; n > INT32_MAX; n -= INT32_MAX)
		sum += gsl_ran_binomial(&r->gsl, p, INT32_MAX);
	return sum + (n > 0 ? gsl_ran_binomial(&r->gsl, p, (unsigned)n) : 0);
}

/* --- what is left of a part ------------------------------------------------ */

static int order_by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

/* A value of LAW in [lo, hi), by bisection to a relative 1e-10. */
static double draw_within(const struct connects_order *o, unsigned law,
    const struct order_part *p, struct sim_rng *r)
{
	const double want =
	    p->below[law] + sim_rng_u01(r) * (p->to[law] - p->below[law]);
	double lo = p->lo, hi = p->hi;
	while (hi - lo > 1e-10 * hi) {
		const double mid =
		    lo > 0 && hi > 2 * lo ? sqrt(lo * hi) : (lo + hi) / 2;
		if (below_at(o, law, mid) > want)
			hi = mid;
		else
			lo = mid;
	}
	return (lo + hi) / 2;
}

static void draw_few(const struct connects_order *o, const struct order_part *p,
    struct sim_rng *r)
{
	double x[FEW] = {0};
	size_t n = 0;
	for (unsigned i = 0; i < o->n_laws; i++)
		for (uint64_t k = 0; k < p->n[i]; k++)
			x[n++] = draw_within(o, i, p, r);
	qsort(x, n, sizeof(x[0]), order_by_value);
	for (unsigned k = 0; k < p->n_ranks; k++)
		p->us[k] = x[p->rank[k] - p->before - 1];
}

/* Uniform values: the lowest rank's is a beta, and each next one's a beta of
 * what is left above it. */
static void draw_flat(const struct order_part *p, uint64_t n, struct sim_rng *r)
{
	double lo = p->lo;
	uint64_t before = p->before;
	for (unsigned k = 0; k < p->n_ranks; k++) {
		const uint64_t rank = p->rank[k] - before;
		if (rank > 0)
			lo += (p->hi - lo) *
			    gsl_ran_beta(&r->gsl, (double)rank,
				(double)(n - rank + 1));
		p->us[k] = lo;
		n -= rank;
		before = p->rank[k];
	}
}

/* --- closing in ------------------------------------------------------------ */

/* Cut P at MID, where the laws' probabilities are AT, into itself above and LOW
 * below. */
static void cut_at(struct order_part *p, struct order_part *low, double mid,
    const double at[], unsigned n_laws, struct sim_rng *r)
{
	*low = *p;
	low->hi = p->lo = mid;
	for (unsigned i = 0; i < n_laws; i++) {
		const double all = p->to[i] - p->below[i];
		low->n[i] = order_binomial(r, p->n[i],
		    all > 0 ? (at[i] - p->below[i]) / all : 1);
		p->n[i] -= low->n[i];
		p->below[i] = low->to[i] = at[i];
	}
	p->before += order_count(low);
	low->n_ranks = 0;
	while (
	    low->n_ranks < p->n_ranks && low->rank[low->n_ranks] <= p->before)
		low->n_ranks++;
	p->rank += low->n_ranks;
	p->us += low->n_ranks;
	p->n_ranks -= low->n_ranks;
}

static void close_in(const struct connects_order *o, struct order_part *p,
    struct sim_rng *r)
{
	while (p->n_ranks > 0) {
		const uint64_t n = order_count(p);
		double at[CONNECTS_LAWS];
		struct order_part low;
		if (n <= FEW) {
			draw_few(o, p, r);
			return;
		}
		if (p->hi - p->lo <= narrow * p->lo) {
			draw_flat(p, n, r);
			return;
		}
		const double mid = p->lo > 0 && p->hi > 2 * p->lo
		    ? sqrt(p->lo * p->hi)
		    : (p->lo + p->hi) / 2;
		for (unsigned i = 0; i < o->n_laws; i++)
			at[i] = below_at(o, i, mid);
		cut_at(p, &low, mid, at, o->n_laws, r);
		close_in(o, &low, r);
	}
}

void connects_order_draw(const struct connects_order *o, const uint64_t n[],
    const uint64_t rank[], unsigned n_ranks, struct sim_rng *r, double us[])
{
	struct order_part p = {.hi = o->end_us,
	    .rank = rank,
	    .us = us,
	    .n_ranks = n_ranks};
	for (unsigned i = 0; i < o->n_laws; i++) {
		p.n[i] = n[i];
		p.to[i] = o->all[i];
	}
	for (unsigned k = 0; k < o->n_cuts && p.n_ranks > 0; k++) {
		struct order_part low;
		cut_at(&p, &low, o->cut_us[k], o->below[k], o->n_laws, r);
		close_in(o, &low, r);
	}
	close_in(o, &p, r);
}

/* --- where to cut ---------------------------------------------------------- */

/* The time that a share TAIL of the whole set exceeds. */
static double order_exceeded(const struct connects_order *o, const uint64_t n[],
    double all, double tail)
{
	double lo = 0, hi = o->end_us;
	for (int k = 0; k < 60; k++) {
		const double mid =
		    lo > 0 && hi > 2 * lo ? sqrt(lo * hi) : (lo + hi) / 2;
		double above = 0;
		for (unsigned i = 0; i < o->n_laws; i++)
			above += (double)n[i] *
			    (1 - below_at(o, i, mid) / o->all[i]);
		if (above > tail * all)
			lo = mid;
		else
			hi = mid;
	}
	return (lo + hi) / 2;
}

/* Four cuts around each rank, at 5 and 1 of its standard deviations. */
void connects_order_init(struct connects_order *o,
    const struct fabric_sim_rtt law[], unsigned n_laws, double end_us,
    const uint64_t n[], const double tail[], unsigned n_tails)
{
	static const double sds[] = {5, 1, -1, -5};
	double all = 0;
	*o = (struct connects_order){.n_laws = n_laws, .end_us = end_us};
	assert(n_laws <= CONNECTS_LAWS && n_tails <= CONNECTS_RANKS);
	for (unsigned i = 0; i < n_laws; i++) {
		o->law[i] = law[i];
		o->all[i] = below_at(o, i, end_us);
		all += (double)n[i];
	}
	for (unsigned k = 0; all > 0 && k < n_tails; k++)
		for (int s = 0; s < 4; s++) {
			const double sd = sqrt(tail[k] * (1 - tail[k]) / all);
			const double at = tail[k] + sds[s] * sd;
			if (at > 0 && at < 1)
				o->cut_us[o->n_cuts++] =
				    order_exceeded(o, n, all, at);
		}
	if (o->n_cuts > 0)
		qsort(o->cut_us, o->n_cuts, sizeof(o->cut_us[0]),
		    order_by_value);
	for (unsigned k = 0; k < o->n_cuts; k++)
		for (unsigned i = 0; i < n_laws; i++)
			o->below[k][i] = below_at(o, i, o->cut_us[k]);
}
