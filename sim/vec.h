/* sim/vec.h -- growing arrays and zeroed blocks, checked for overflow.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef SIM_VEC_H
#define SIM_VEC_H

#include <stddef.h>
#include <stdint.h>

#include "sim/err.h"

/* Make *P hold at least NEED elements of SIZE bytes, growing by half so that
 * appending is amortised O(1). *P and *CAP stay valid on failure.
 * Errors SIM_ENOMEM, also when NEED * SIZE does not fit in a size_t. */
int sim_reserve(void *p, size_t *cap, size_t need, size_t size,
    struct sim_err *e);

/* *P = N zeroed elements of SIZE bytes; NULL when N is 0, or after an error, so
 * that it may be freed in any case. Errors SIM_ENOMEM. */
int sim_zalloc(void *p, size_t n, size_t size, struct sim_err *e);

/* SIM_RESERVE(&v->x, &v->cap, n, e) takes the size of an element from the
 * pointer. */
#define SIM_RESERVE(p, cap, need, e)                                           \
	((need) <= *(cap)                                                      \
		? 0                                                            \
		: sim_reserve((p), (cap), (need), sizeof(**(p)), (e)))
#define SIM_ZALLOC(p, n, e) sim_zalloc((p), (n), sizeof(**(p)), (e))

#endif
