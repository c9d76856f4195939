/* algos/sieve/sieve_sums.h -- flows that arrived, where something failed.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Internal to Sieve. Of flows of no known path that lost nothing, over sets with
 * a failed link, by the groups of paths and the size alone: sets in the same
 * groups count together.
 */
#ifndef ALGOS_SIEVE_SIEVE_SUMS_H
#define ALGOS_SIEVE_SIEVE_SUMS_H

#include <string.h>

#include "algos/sieve/sieve_model.h"

/* Products of factors whose logarithms are still to be taken: their greatest
 * powers of two, up and down. */
struct sieve_product {
	double of[SIEVE_GRID], bits;
};

static inline void sieve_product_begin(struct sieve_product *x)
{
	for (unsigned g = 0; g < SIEVE_GRID; g++)
		x->of[g] = 1;
	x->bits = 0;
}

static inline void sieve_product_flush(struct sieve_product *x,
    double ell[SIEVE_GRID])
{
	sieve_lanes_add_ln(x->of, 1, ell);
	sieve_product_begin(x);
}

/* Powers of two, at least as many as X has: of what is below 1, down. */
static inline double sieve_product_bits(double x)
{
	uint64_t bits;
	memcpy(&bits, &x, sizeof(bits));
	const int power = (int)(bits >> 52 & 0x7ff) - 1023;
	return power < 0 ? -power : power + 1;
}

struct sieve_sum {
	uint32_t kind;
	size_t n_groups;
	struct sieve_group group[SIEVE_GROUPS];
	uint32_t count[SIEVE_CELL_BINS];
};

struct sieve_sums {
	size_t n, next;
	struct sieve_sum of[4];
};

/* Add the flows of a set, of KIND for the link and whose groups are in
 * m->ways.group[], OWN being what the link exceeds the level by: what they say
 * goes into PRODUCT and ELL, or waits in TO. */
void sieve_sums_gather(const struct sieve_model *m, uint32_t set, uint32_t kind,
    size_t n_groups, double own, struct sieve_sums *to,
    struct sieve_product *product, double ell[]);

/* What still waits. */
void sieve_sums_end(const struct sieve_model *m, const struct sieve_sums *x,
    double own, struct sieve_product *product, double ell[]);

#endif
