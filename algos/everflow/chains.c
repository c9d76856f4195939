/* algos/everflow/chains.c -- see the header.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/everflow/chains.h"

#include <stdlib.h>

#include "sim/vec.h"

int algo_chains_make(struct algo_chains *x, size_t n, struct sim_err *e)
{
	*x = (struct algo_chains){.mask = 15};
	while (x->mask < n)
		x->mask = 2 * x->mask + 1;
	const int rc = SIM_ZALLOC(&x->head, (size_t)x->mask + 1, e);
	return rc < 0 ? rc : SIM_ZALLOC(&x->next, n, e);
}

void algo_chains_free(struct algo_chains *x)
{
	free(x->head);
	free(x->next);
	*x = (struct algo_chains){0};
}
