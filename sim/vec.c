/* sim/vec.c -- growing arrays and zeroed blocks, checked for overflow.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/vec.h"

#include <stdlib.h>
#include <string.h>

static int vec_no_memory(size_t n, size_t size, struct sim_err *e)
{
	return sim_fail(e, SIM_ENOMEM,
	    "no memory for %zu elements of %zu bytes.", n, size);
}

int sim_reserve(void *p, size_t *cap, size_t need, size_t size,
    struct sim_err *e)
{
	if (need <= *cap)
		return 0;
	/* Growing by half, not by one, makes appending amortised O(1); starting
	 * at 8 spares tiny arrays most of their first steps. */
	size_t want = *cap + *cap / 2;
	if (want < need)
		want = need;
	if (want < 8)
		want = 8;
	size_t bytes;
	/* Above PTRDIFF_MAX the difference of two pointers into the array would
	 * not be defined. */
	if (__builtin_mul_overflow(want, size, &bytes) || bytes > PTRDIFF_MAX)
		return vec_no_memory(need, size, e);
	/* P points to a pointer to some element type, which as a void ** would
	 * break the aliasing rules: copy its bytes. */
	void *old, *grown;
	memcpy(&old, p, sizeof(old));
	if (!(grown = realloc(old, bytes)))
		return vec_no_memory(want, size, e);
	memcpy(p, &grown, sizeof(grown));
	*cap = want;
	return 0;
}

int sim_zalloc(void *p, size_t n, size_t size, struct sim_err *e)
{
	void *block = NULL;
	/* calloc() checks the product itself. Nothing is asked for n = 0, where
	 * it may return either NULL or a pointer. */
	if (n > 0)
		block = calloc(n, size);
	memcpy(p, &block, sizeof(block));
	return n == 0 || block ? 0 : vec_no_memory(n, size, e);
}
