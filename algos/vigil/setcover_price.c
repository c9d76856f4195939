/* algos/vigil/setcover_price.c -- smallest set covers: a bound from prices.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Let each row r have a price u_r >= 0, and each column the reduced cost
 * d_c = 1 - (prices of its rows). Any cover has at least
 *
 *	L(u) = sum u_r + sum of the d_c below 0
 *
 * columns (Lagrangian relaxation). Prices rise where the columns with d_c < 0
 * leave a row open and fall where several cover it; these columns, completed,
 * are also covers far better than the greedy one.
 *
 * Paper  Beasley, "A Lagrangian heuristic for set-covering problems" (Naval
 *        Research Logistics 37, 1990); Held, Wolfe, Crowder (1974).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algos/vigil/setcover.h"
#include "sim/sort.h"
#include "sim/vec.h"

/* Beasley's scheme: the stride halves when PATIENCE steps brought no better
 * bound, and prices stop when it has become negligible. A bound is rounded up
 * only after ROUNDING is taken off: 27.0000001 from sums of doubles must not
 * prove 28. */
enum { MAX_STEPS = 1000, PATIENCE = 20 };
#define LEAST_STRIDE 0.005
#define ROUNDING     1e-6

struct prices {
	struct algo_setcover *s;
	double *u, *best_u; /* [n_rows] */
	double *d;          /* [n_cols] */
	struct algo_setcover_offer *offer;
	double best; /* L(best_u) */
};

/* L(u) of the file's head, leaving every reduced cost in d[] for the step and
 * the cover that follow. */
static double setcover_price_bound_of(const struct prices *p, const double u[])
{
	const struct algo_setcover *s = p->s;
	double sum = 0;
	for (uint32_t c = 0; c < s->n_cols; c++)
		p->d[c] = 1;
	for (uint32_t r = 0; r < s->n_rows; r++) {
		const uint32_t *col = s->row_col + s->row[r].begin;
		for (uint32_t i = 0; i < s->row[r].n; i++)
			p->d[col[i]] -= u[r];
		sum += u[r];
	}
	for (uint32_t c = 0; c < s->n_cols; c++)
		sum += p->d[c] < 0 ? p->d[c] : 0;
	return sum;
}

/* Move the prices along the subgradient of L: a row's component is 1 minus the
 * number of chosen columns, d_c < 0, that cover it. Prices stay at 0 or above.
 * Returns 0 where the subgradient vanishes: then each row is covered exactly
 * once by the chosen columns, which are a cover, and a smallest. */
static int setcover_price_step(struct prices *p, double stride)
{
	const struct algo_setcover *s = p->s;
	double norm = 0;
	for (uint32_t r = 0; r < s->n_rows; r++) {
		const uint32_t *col = s->row_col + s->row[r].begin;
		int open = 1;
		for (uint32_t i = 0; i < s->row[r].n; i++)
			open -= p->d[col[i]] < 0;
		s->row[r].open = open;
		norm += (double)open * open;
	}
	for (uint32_t r = 0; norm > 0 && r < s->n_rows; r++)
		p->u[r] = fmax(0, p->u[r] + stride / norm * s->row[r].open);
	return norm > 0;
}

/* Columns of equal cost in a fixed order, least preferred first, as a part's
 * columns ascend from the preferred one. */
static int dearest_first(const void *a, const void *b)
{
	const struct algo_setcover_offer *x = a, *y = b;
	if (x->d != y->d)
		return SIM_ORDER(y->d, x->d);
	return (x->col < y->col) - (x->col > y->col);
}

static void setcover_price_add(struct algo_setcover *s, uint32_t c, uint32_t by)
{
	const uint32_t *row = s->col_row + s->col[c].begin;
	for (uint32_t i = 0; i < s->col[c].n; i++)
		s->row[row[i]].n_set += by;
}

static int is_needed(const struct algo_setcover *s, uint32_t c)
{
	const uint32_t *row = s->col_row + s->col[c].begin;
	for (uint32_t i = 0; i < s->col[c].n; i++)
		if (s->row[row[i]].n_set == 1)
			return 1;
	return 0;
}

static uint32_t offer(struct prices *p, uint32_t c, uint32_t n)
{
	p->offer[n] = (struct algo_setcover_offer){p->d[c], c};
	setcover_price_add(p->s, c, 1);
	return n + 1;
}

/* Complete the columns with d_c < 0 to a cover by the cheapest of each open
 * row, leave out what is not needed, the dearest first, and keep the cover if
 * it is the smallest so far. */
static void try_cover(struct prices *p)
{
	struct algo_setcover *s = p->s;
	uint32_t n = 0, n_kept = 0;
	for (uint32_t r = 0; r < s->n_rows; r++)
		s->row[r].n_set = 0;
	for (uint32_t c = 0; c < s->n_cols; c++)
		if (p->d[c] < 0)
			n = offer(p, c, n);
	for (uint32_t r = 0; r < s->n_rows; r++) {
		const uint32_t *col = s->row_col + s->row[r].begin;
		uint32_t best = col[0];
		if (s->row[r].n_set > 0)
			continue;
		for (uint32_t i = 1; i < s->row[r].n; i++)
			if (p->d[col[i]] < p->d[best])
				best = col[i];
		n = offer(p, best, n);
	}
	qsort(p->offer, n, sizeof(*p->offer), dearest_first);
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t c = p->offer[i].col;
		if (is_needed(s, c))
			p->offer[n_kept++].col = c;
		else
			setcover_price_add(s, c, (uint32_t)-1);
	}
	/* Only a smaller cover replaces the one at hand: the polished one is
	 * not given up for another of its size. */
	if (n_kept >= s->n_set)
		return;
	for (uint32_t i = 0; i < n_kept; i++)
		s->set[i] = p->offer[i].col;
	s->n_set = n_kept;
}

/* Split the cost 1 of a row's largest column evenly over its rows. No column's
 * rows then add up to more than 1, so every reduced cost is at least 0 and L(u)
 * is a valid bound from the first step on. */
static void setcover_price_start(struct prices *p)
{
	const struct algo_setcover *s = p->s;
	for (uint32_t r = 0; r < s->n_rows; r++) {
		const uint32_t *col = s->row_col + s->row[r].begin;
		uint32_t most = 1;
		for (uint32_t i = 0; i < s->row[r].n; i++)
			if (s->col[col[i]].n > most)
				most = s->col[col[i]].n;
		p->u[r] = 1.0 / most;
	}
	p->best = -INFINITY;
}

static void setcover_price_climb(struct prices *p)
{
	struct algo_setcover *s = p->s;
	double stride = 1;
	for (int i = 0, since = 0; i < MAX_STEPS; i++) {
		const double bound = setcover_price_bound_of(p, p->u);
		if (bound > p->best) {
			p->best = bound;
			memcpy(p->best_u, p->u, s->n_rows * sizeof(*p->u));
			since = 0;
		} else if (++since == PATIENCE) {
			since = 0;
			stride /= 2;
		}
		try_cover(p);
		/* Stop when the bound meets the cover, the proof that was
		 * sought. Beasley's step aims 2 % above the best cover, so that
		 * it does not vanish on the way there. */
		if (stride < LEAST_STRIDE ||
		    ceil(p->best - ROUNDING) >= s->n_set ||
		    !setcover_price_step(p, stride * (1.02 * s->n_set - bound)))
			break;
	}
}

/* A cover with column c has at least best + d_c columns: those that cannot be
 * in a cover smaller than set[] are gone. */
static void drop_dear(struct prices *p)
{
	struct algo_setcover *s = p->s;
	p->best = setcover_price_bound_of(p, p->best_u);
	for (uint32_t c = 0; c < s->n_cols; c++)
		s->col[c].gone = p->best + p->d[c] > s->n_set - 1 + ROUNDING;
	for (uint32_t i = 0; i < s->n_set; i++)
		s->col[s->set[i]].gone = 0;
}

int algo_setcover_price(struct algo_setcover *s, uint32_t *bound,
    struct sim_err *e)
{
	const size_t n = s->n_rows, m = s->n_cols;
	struct prices p = {.s = s};
	int rc;
	if ((rc = SIM_RESERVE(&s->price, &s->cap_price, 2 * n + m, e)) < 0 ||
	    (rc = SIM_RESERVE(&s->offer, &s->cap_offer, m, e)) < 0)
		return rc;
	/* One allocation holds u, best_u and d one after another. */
	p.u = s->price;
	p.best_u = p.u + n;
	p.d = p.best_u + n;
	p.offer = s->offer;
	setcover_price_start(&p);
	setcover_price_climb(&p);
	drop_dear(&p);
	if (ceil(p.best - ROUNDING) > *bound)
		*bound = (uint32_t)ceil(p.best - ROUNDING);
	return 0;
}
