/* algos/everflow/chains.h -- rows of a table by a hash, of which there are N at most.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	for (i = algo_chains_of(x, hash); i > 0; i = x->next[i - 1])
 *		... row i - 1 may be the one
 *
 * The newest row of a chain comes first. 8 to 12 bytes a row.
 */
#ifndef ALGOS_EVERFLOW_CHAINS_H
#define ALGOS_EVERFLOW_CHAINS_H

#include <stddef.h>
#include <stdint.h>

#include "sim/err.h"

/* Zeroed is empty, and may be freed. Chains hold rows + 1; 0 ends one. */
struct algo_chains {
	uint32_t *head, *next; /* [mask + 1], [n] */
	uint32_t mask;
};

/* Errors SIM_ENOMEM; free also what failed. */
int algo_chains_make(struct algo_chains *x, size_t n, struct sim_err *e);
void algo_chains_free(struct algo_chains *x);

static inline uint32_t algo_chains_of(const struct algo_chains *x,
    uint32_t hash)
{
	return x->head[hash & x->mask];
}

/* Domain ROW < n, none twice. */
static inline void algo_chains_add(struct algo_chains *x, uint32_t hash,
    uint32_t row)
{
	uint32_t *head = &x->head[hash & x->mask];
	x->next[row] = *head;
	*head = row + 1;
}

#endif
