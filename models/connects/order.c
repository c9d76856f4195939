/* models/connects/order.c -- ranks of many round trips, without drawing each.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/connects/order.h"

#include <assert.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>

#include "sim/vec.h"

/* So many at most are drawn one by one. */
enum { FEW = 6 };
static const double order_step = 1e-3;

/* The values of each law in an interval that begins in step `first` and ends in
 * `last`, and the ranks among them; `before` of all values lie below it. */
struct order_part {
	unsigned first, last;
	double below[CONNECTS_LAWS], to[CONNECTS_LAWS]; /* at both ends */
	uint64_t n[CONNECTS_LAWS], before;
	struct connects_known known; /* those in the interval */
	const uint64_t *rank;
	double *us;
	unsigned n_ranks;
};

/* --- tables ---------------------------------------------------------------- */

void connects_order_close(struct connects_order *o)
{
	free(o->us);
	for (unsigned i = 0; i < CONNECTS_LAWS; i++)
		free(o->below[i]);
	*o = (struct connects_order){.n_laws = 0};
}

int connects_order_open(struct connects_order *o,
    const struct fabric_sim_rtt law[], unsigned n_laws, double end_us,
    struct sim_err *e)
{
	double least = end_us;
	int rc;
	assert(n_laws > 0 && n_laws <= CONNECTS_LAWS);
	for (unsigned i = 0; i < n_laws; i++)
		least = fmin(least, law[i].fixed_us);
	assert(least > 0 && least < end_us);
	const double n = ceil(log(end_us / least) / order_step);
	*o = (struct connects_order){.n_laws = n_laws, .n_steps = (unsigned)n};
	if ((rc = SIM_ZALLOC(&o->us, o->n_steps + (size_t)1, e)) < 0)
		return rc;
	for (unsigned k = 0; k <= o->n_steps; k++)
		o->us[k] = least * pow(end_us / least, k / n);
	for (unsigned i = 0; i < n_laws; i++) {
		const double all = 1 - fabric_sim_rtt_tail(&law[i], end_us);
		if ((rc = SIM_ZALLOC(&o->below[i], o->n_steps + (size_t)1, e)) <
		    0)
			return rc;
		for (unsigned k = 0; k < o->n_steps; k++)
			o->below[i][k] =
			    (1 - fabric_sim_rtt_tail(&law[i], o->us[k])) / all;
		o->below[i][o->n_steps] = 1;
	}
	return 0;
}

/* The step in which LAW comes to BELOW, within FIRST to LAST. */
static unsigned order_find(const struct connects_order *o, unsigned law,
    double below, unsigned first, unsigned last)
{
	const double *at = o->below[law];
	while (first < last) {
		const unsigned mid = first + (last - first + 1) / 2;
		if (at[mid] <= below)
			first = mid;
		else
			last = mid - 1;
	}
	return first;
}

/* How far into step K law LAW comes to BELOW, in [0, 1]. */
static double order_into(const struct connects_order *o, unsigned law,
    double below, unsigned k)
{
	const double *at = o->below[law] + k;
	return at[1] > at[0]
	    ? fmin(fmax((below - at[0]) / (at[1] - at[0]), 0), 1)
	    : 0.5;
}

static double order_between(const double at[2], double into)
{
	return at[0] + into * (at[1] - at[0]);
}

/* --- what is left of a part ------------------------------------------------ */

static int order_by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

/* How many of those known lie below US. */
static size_t order_known_below(const struct connects_known *known, double us)
{
	size_t first = 0, last = known->n;
	while (first < last) {
		const size_t mid = first + (last - first) / 2;
		if (known->us[mid] < us)
			first = mid + 1;
		else
			last = mid;
	}
	return first;
}

/* Value I, from 0 on, of X and those known taken together. */
static double order_pick(const double x[], size_t n,
    const struct connects_known *known, uint64_t i)
{
	size_t k = 0;
	while (k < n && k + order_known_below(known, x[k]) < i)
		k++;
	return k < n && k + order_known_below(known, x[k]) == i
	    ? x[k]
	    : known->us[i - k];
}

static void draw_few(const struct connects_order *o, const struct order_part *p,
    struct sim_rng *r)
{
	double x[FEW] = {0};
	size_t n = 0;
	for (unsigned i = 0; i < o->n_laws; i++)
		for (uint64_t k = 0; k < p->n[i]; k++) {
			const double below = p->below[i] +
			    sim_rng_u01(r) * (p->to[i] - p->below[i]);
			const unsigned s =
			    order_find(o, i, below, p->first, p->last);
			x[n++] = order_between(o->us + s,
			    order_into(o, i, below, s));
		}
	qsort(x, n, sizeof(x[0]), order_by_value);
	for (unsigned k = 0; k < p->n_ranks; k++)
		p->us[k] =
		    order_pick(x, n, &p->known, p->rank[k] - p->before - 1);
}

/* --- closing in ------------------------------------------------------------ */

/* gsl_ran_binomial() takes 32 bits; a sum of binomials is one. */
static uint64_t order_binomial(struct sim_rng *r, uint64_t n, double p)
{
	uint64_t sum = 0;
	p = fmin(fmax(p, 0), 1);
	for (; n > INT32_MAX; n -= INT32_MAX)
		sum += gsl_ran_binomial(&r->gsl, p, INT32_MAX);
	return sum + (n > 0 ? gsl_ran_binomial(&r->gsl, p, (unsigned)n) : 0);
}

/* Cut P at the K-th value of LAW, which is at X: into itself above and LOW
 * below, of which neither has X. */
static void cut_at(const struct connects_order *o, struct order_part *p,
    struct order_part *low, unsigned law, uint64_t k, struct sim_rng *r,
    double *x)
{
	const double beta =
	    gsl_ran_beta(&r->gsl, (double)k, (double)(p->n[law] - k + 1));
	const double below =
	    p->below[law] + beta * (p->to[law] - p->below[law]);
	const unsigned s = order_find(o, law, below, p->first, p->last);
	const double into = order_into(o, law, below, s);
	*x = order_between(o->us + s, into);
	*low = *p;
	low->last = p->first = s;
	for (unsigned i = 0; i < o->n_laws; i++) {
		const double all = p->to[i] - p->below[i];
		const double at =
		    i == law ? below : order_between(o->below[i] + s, into);
		if (i == law)
			low->n[i] = k - 1;
		else
			low->n[i] = order_binomial(r, p->n[i],
			    all > 0 ? (at - p->below[i]) / all : 1);
		p->n[i] -= low->n[i] + (i == law);
		p->before += low->n[i];
		p->below[i] = low->to[i] = at;
	}
	low->known.n = order_known_below(&p->known, *x);
	if (low->known.n > 0)
		p->known.us += low->known.n;
	p->known.n -= low->known.n;
	p->before += low->known.n + 1;
}

/* The law that has most values in P. */
static unsigned order_most(const struct connects_order *o,
    const struct order_part *p)
{
	unsigned most = 0;
	for (unsigned i = 1; i < o->n_laws; i++)
		if (p->n[i] > p->n[most])
			most = i;
	return most;
}

/* P was cut at X, which is the last below it: leave it the ranks above, LOW those
 * below, and tell the time of X itself. */
static void share_ranks(struct order_part *p, struct order_part *low, double x)
{
	unsigned n = 0;
	while (n < p->n_ranks && p->rank[n] < p->before)
		n++;
	low->n_ranks = n;
	while (n < p->n_ranks && p->rank[n] == p->before)
		p->us[n++] = x;
	p->rank += n;
	p->us += n;
	p->n_ranks -= n;
}

static void close_in(const struct connects_order *o, struct order_part *p,
    struct sim_rng *r)
{
	while (p->n_ranks > 0) {
		const unsigned law = order_most(o, p);
		struct order_part low;
		uint64_t n = 0;
		double x;
		for (unsigned i = 0; i < o->n_laws; i++)
			n += p->n[i];
		if (n <= FEW) {
			draw_few(o, p, r);
			return;
		}
		/* As far among those of the law as the rank is among all. */
		const double k = (double)(p->rank[p->n_ranks / 2] - p->before) /
		    (double)(n + p->known.n) * (double)p->n[law];
		cut_at(o, p, &low, law,
		    (uint64_t)fmin(fmax(round(k), 1), (double)p->n[law]), r,
		    &x);
		share_ranks(p, &low, x);
		close_in(o, &low, r);
	}
}

void connects_order_draw(const struct connects_order *o, const uint64_t n[],
    const struct connects_known *known, const uint64_t rank[], unsigned n_ranks,
    struct sim_rng *r, double us[])
{
	struct order_part p = {.last = o->n_steps - 1,
	    .known = *known,
	    .rank = rank,
	    .us = us,
	    .n_ranks = n_ranks};
	for (unsigned i = 0; i < o->n_laws; i++) {
		p.n[i] = n[i];
		p.to[i] = 1;
	}
	close_in(o, &p, r);
}
