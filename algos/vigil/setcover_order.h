/* algos/vigil/setcover_order.h -- what the files of setcover share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef ALGOS_VIGIL_SETCOVER_ORDER_H
#define ALGOS_VIGIL_SETCOVER_ORDER_H

#include "algos/vigil/setcover.h"

/* Whether column A is preferred to B, of which no two are equal. */
static inline int algo_setcover_prefers(const struct algo_setcover_col *a,
    const struct algo_setcover_col *b)
{
	if (a->weight != b->weight)
		return a->weight > b->weight;
	return a->id < b->id;
}

/* Put column C in the set and its rows out of the way. */
void algo_setcover_take(struct algo_setcover *s, uint32_t c);

#endif
