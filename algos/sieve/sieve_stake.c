/* algos/sieve/sieve_stake.c -- what speaks for one or two links together.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/sieve/sieve_stake.h"

#include <math.h>

#include "algos/sieve/sieve_search.h"

/* ln L near a point: there, and its derivatives by the logarithms of hazards. */
struct sieve_bowl {
	double ln, slope[SIEVE_PAIR];
	double bend[SIEVE_PAIR][SIEVE_PAIR]; /* minus second ones */
};

static double sieve_stake_ln(const struct sieve_gain *g, const double at[])
{
	double hazard[SIEVE_PAIR];
	for (uint32_t i = 0; i < g->n; i++)
		hazard[i] = exp(at[i]);
	return sieve_gain_at(g, hazard);
}

/* By differences over a tenth: of n losses ln L is n u - D exp(u), of which the
 * fourth derivative makes a thousandth of the second. */
static struct sieve_bowl sieve_stake_bowl(const struct sieve_gain *g,
    const double at[])
{
	static const double STEP = .1;
	struct sieve_bowl b = {.ln = sieve_stake_ln(g, at)};
	double sides = 0;
	for (uint32_t i = 0; i < g->n; i++) {
		double there[SIEVE_PAIR] = {at[0], at[1]};
		there[i] = at[i] + STEP;
		const double up = sieve_stake_ln(g, there);
		there[i] = at[i] - STEP;
		const double down = sieve_stake_ln(g, there);
		b.slope[i] = (up - down) / (2 * STEP);
		b.bend[i][i] = (2 * b.ln - up - down) / (STEP * STEP);
		sides += up + down - b.ln;
	}
	if (g->n == 2) {
		const double up[] = {at[0] + STEP, at[1] + STEP},
			     down[] = {at[0] - STEP, at[1] - STEP},
			     both = sieve_stake_ln(g, up) +
		    sieve_stake_ln(g, down);
		b.bend[0][1] = b.bend[1][0] =
		    (sides - both) / (2 * STEP * STEP);
	}
	return b;
}

static double sieve_bowl_det(const struct sieve_bowl *b, uint32_t n)
{
	return n == 1
	    ? b->bend[0][0]
	    : b->bend[0][0] * b->bend[1][1] - b->bend[0][1] * b->bend[1][0];
}

/* Whether ln L bends down all around. */
static int sieve_bowl_bends(const struct sieve_bowl *b, uint32_t n)
{
	return n == 0 || (sieve_bowl_det(b, n) > 0 && b->bend[0][0] > 0);
}

/* Newton's step where it does, else half a nat uphill. */
static void sieve_bowl_step(const struct sieve_bowl *b, uint32_t n,
    double step[])
{
	const double det = sieve_bowl_det(b, n);
	if (n == 2 && sieve_bowl_bends(b, n)) {
		step[0] = (b->bend[1][1] * b->slope[0] -
			      b->bend[0][1] * b->slope[1]) /
		    det;
		step[1] = (b->bend[0][0] * b->slope[1] -
			      b->bend[0][1] * b->slope[0]) /
		    det;
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		step[i] = b->bend[i][i] > 0 ? b->slope[i] / b->bend[i][i]
		    : b->slope[i] > 0       ? .5
					    : -.5;
}

/* ln of the slab's density by the logarithm of a hazard. */
static double sieve_stake_slab(const struct sieve_prior *p, double ln_x)
{
	const double *at = p->m->ln_x, step = at[1] - at[0],
		     k = fmin(fmax((ln_x - at[0]) / step, 0), SIEVE_GRID - 1);
	const unsigned g = k < SIEVE_GRID - 2 ? (unsigned)k : SIEVE_GRID - 2;
	const double left = p->flat[g] + p->near[g],
		     right = p->flat[g + 1] + p->near[g + 1];
	return log((left + (right - left) * (k - g)) / (1 + p->n_near) / step);
}

/* How many ways there are to be as likely, as a volume: at most all that the slab
 * has, where the likelihood says nothing of a hazard. */
static double sieve_stake_volume(const struct sieve_bowl *b, uint32_t n,
    double range)
{
	static const double LN_2_PI = 1.8378770664093455;
	return n == 0 ? 0
		      : fmin((n * LN_2_PI - log(sieve_bowl_det(b, n))) / 2,
			    n * log(range));
}

static void sieve_stake_judge(struct sieve_search *s, struct sieve_stake *x,
    const double at[], double ln)
{
	x->evidence = ln;
	for (uint32_t i = 0; i < x->n; i++) {
		x->evidence += sieve_stake_slab(&s->prior, at[i]) +
		    sieve_search_odds(s,
			(double)s->n_alone + s->devices.n_accused + i);
		sieve_prior_count(&s->prior, x->hazard[i], 1);
	}
	for (uint32_t i = 0; i < x->n; i++)
		sieve_prior_count(&s->prior, x->hazard[i], -1);
}

/* One STEP up, within FROM to TO; returns how far it went, or that there is no end in
 * sight: infinity where a hazard is at an end of what it may be. */
static double sieve_stake_climb(const double step[], uint32_t n, double from,
    double to, double at[])
{
	double far = 0;
	int inside = 1;
	for (uint32_t i = 0; i < n; i++) {
		const double had = at[i];
		at[i] = fmin(fmax(had + fmin(fmax(step[i], -1), 1), from), to);
		inside &= at[i] > from && at[i] < to;
		far = fmax(far, fabs(at[i] - had));
	}
	return inside ? far : INFINITY;
}

/* What a bowl says that ln L is at its top, a STEP away, of which all else that
 * evidence has takes away. */
static double sieve_bowl_top(const struct sieve_bowl *b, const double step[],
    uint32_t n)
{
	double top = b->ln;
	if (!sieve_bowl_bends(b, n))
		return INFINITY;
	for (uint32_t i = 0; i < n; i++)
		top += step[i] * b->slope[i] / 2;
	return top;
}

int sieve_stake_weigh(struct sieve_search *s, struct sieve_stake *x,
    double least, struct sim_err *e)
{
	enum { TIMES = 12 };
	static const double NEAR = 1e-4;
	const struct sieve_model *m = &s->model;
	const double from = log(fmax(s->prior.mean, s->prior.least)),
		     to = m->ln_x[SIEVE_GRID - 1];
	double at[SIEVE_PAIR] = {0}, step[SIEVE_PAIR] = {0}, far = INFINITY;
	struct sieve_bowl b = {0};
	const int rc = sieve_gain_read(&s->gain, m, x->link, x->n, e);
	x->evidence = -INFINITY;
	for (uint32_t i = 0; i < x->n; i++)
		at[i] = fmin(fmax(log(x->hazard[i]), from), to);
	for (unsigned k = 0; rc == 0 && far > NEAR && k < TIMES; k++) {
		b = sieve_stake_bowl(&s->gain, at);
		sieve_bowl_step(&b, x->n, step);
		if (sieve_bowl_top(&b, step, x->n) < least)
			break;
		far = sieve_stake_climb(step, x->n, from, to, at);
	}
	for (uint32_t i = 0; i < x->n; i++)
		x->hazard[i] = exp(at[i]);
	if (rc == 0 && far <= NEAR && sieve_bowl_bends(&b, x->n))
		sieve_stake_judge(s, x, at,
		    b.ln + sieve_stake_volume(&b, x->n, to - from));
	return rc;
}
