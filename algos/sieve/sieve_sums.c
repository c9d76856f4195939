/* algos/sieve/sieve_sums.c -- flows that arrived, where something failed.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/sieve/sieve_sums.h"

#include <math.h>
#include <string.h>

static int sieve_sums_same(const struct sieve_sum *x,
    const struct sieve_group group[], size_t n_groups, uint32_t kind)
{
	int same = x->kind == kind && x->n_groups == n_groups;
	for (size_t k = 0; same && k < n_groups; k++)
		same = x->group[k].excess == group[k].excess &&
		    x->group[k].with == group[k].with &&
		    x->group[k].without == group[k].without;
	return same;
}

/* What flows of one size multiply, in place of what the cell has that takes all
 * paths for alike: A with the link, of A + B. */
static void sieve_sums_multiply(const struct sieve_model *m,
    const struct sieve_sum *x, unsigned bin, double own,
    struct sieve_product *to, double ell[SIEVE_GRID])
{
	const struct sieve_cells *c = &m->cells;
	const double s = c->kept[bin];
	const double *plain = c->table +
	    (x->kind * c->n_used + c->at[bin]) * SIEVE_GRID,
		     *alone = c->alone + c->at[bin] * SIEVE_GRID;
	static const double FULL = 900, NOTHING = 1e-300;
	double least = INFINITY, a = 0, b = 0;
	const uint32_t n = x->count[bin];
	for (size_t k = 0; k < x->n_groups; k++)
		least = sieve_min(least,
		    x->group[k].excess - (x->group[k].with ? own : 0));
	for (size_t k = 0; k < x->n_groups; k++) {
		const struct sieve_group *y = &x->group[k];
		if (y->with)
			a += y->with * exp(-s * (y->excess - own - least));
		if (y->without)
			b += y->without * exp(-s * (y->excess - least));
	}
	sieve_lanes_add(plain, -(double)n, ell);
	/* Each is between b / (a + b) and alone[0], which is about 1. */
	b /= a + b;
	const double bits = n * (1 + sieve_product_bits(b));
	if (bits > FULL / 2) {
		double of[SIEVE_GRID];
		for (unsigned g = 0; g < SIEVE_GRID; g++)
			of[g] = sieve_max(b + (1 - b) * alone[g], NOTHING);
		sieve_lanes_add_ln(of, n, ell);
		return;
	}
	if ((to->bits += bits) > FULL) {
		sieve_product_flush(to, ell);
		to->bits = bits;
	}
	sieve_lanes_either(alone, 1 - b, b, n, to->of);
}

/* OWN is what the link exceeds the level by. */
static void sieve_sums_settle(const struct sieve_model *m,
    const struct sieve_sum *x, double own, struct sieve_product *to,
    double ell[SIEVE_GRID])
{
	for (unsigned bin = 0; bin < SIEVE_CELL_BINS; bin++)
		if (x->count[bin] > 0)
			sieve_sums_multiply(m, x, bin, own, to, ell);
}

void sieve_sums_gather(const struct sieve_model *m, uint32_t set, uint32_t kind,
    size_t n_groups, double own, struct sieve_sums *to,
    struct sieve_product *product, double ell[])
{
	const struct sieve_cells *c = &m->cells;
	const struct sieve_group *group = m->ways.group;
	enum { N = sizeof(to->of) / sizeof(to->of[0]) };
	size_t i = 0;
	if (c->row[set] == c->row[set + 1])
		return;
	while (i < to->n && !sieve_sums_same(&to->of[i], group, n_groups, kind))
		i++;
	if (i == N) {
		i = to->next++ % N;
		sieve_sums_settle(m, &to->of[i], own, product, ell);
		to->n = i;
	}
	struct sieve_sum *x = &to->of[i];
	if (i == to->n) {
		x->kind = kind;
		x->n_groups = n_groups;
		memcpy(x->group, group, n_groups * sizeof(*group));
		memset(x->count, 0, sizeof(x->count));
		to->n = to->next > 0 ? N : i + 1;
	}
	for (uint32_t k = c->row[set]; k < c->row[set + 1]; k++)
		x->count[c->bin[k]]++;
}

void sieve_sums_end(const struct sieve_model *m, const struct sieve_sums *x,
    double own, struct sieve_product *product, double ell[])
{
	for (size_t i = 0; i < x->n; i++)
		sieve_sums_settle(m, &x->of[i], own, product, ell);
}
