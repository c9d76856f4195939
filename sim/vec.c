/* sim/vec.c -- growing arrays and zeroed blocks, checked for overflow.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/vec.h"

#include <stdlib.h>
#include <string.h>

static int no_memory(size_t n, size_t size, struct sim_err *e)
{
	return sim_fail(e, SIM_ENOMEM,
	    "no memory for %zu elements of %zu bytes.", n, size);
}

int sim_reserve(void *p, size_t *cap, size_t need, size_t size,
    struct sim_err *e)
{
	if (need <= *cap)
		return 0;
	size_t want = *cap + *cap / 2;
	if (want < need)
		want = need;
	if (want < 8)
		want = 8;
	size_t bytes;
	if (__builtin_mul_overflow(want, size, &bytes) || bytes > PTRDIFF_MAX)
		return no_memory(need, size, e);
	/* The caller's pointer has some element type; read it as bytes. */
	void *old, *grown;
	memcpy(&old, p, sizeof(old));
	if (!(grown = realloc(old, bytes)))
		return no_memory(want, size, e);
	memcpy(p, &grown, sizeof(grown));
	*cap = want;
	return 0;
}

int sim_zalloc(void *p, size_t n, size_t size, struct sim_err *e)
{
	void *block = NULL;
	if (n > 0 && !(block = calloc(n, size)))
		return no_memory(n, size, e);
	memcpy(p, &block, sizeof(block));
	return 0;
}
