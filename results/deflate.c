/* results/deflate.c -- bytes made fewer, by zlib.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/deflate.h"

#include <zlib.h>

size_t res_deflate(void *to, size_t cap, const void *from, size_t n)
{
	uLongf got = cap;
	return compress2(to, &got, from, n, Z_DEFAULT_COMPRESSION) == Z_OK ? got
									   : 0;
}

int res_inflate(void *to, size_t n_to, const void *from, size_t n,
    struct sim_err *e)
{
	uLongf got = n_to;
	const int rc = uncompress(to, &got, from, n);
	if (rc == Z_MEM_ERROR)
		return sim_fail(e, SIM_ENOMEM, "no memory to unpack.");
	if (rc != Z_OK || got != n_to)
		return sim_fail(e, SIM_EPARSE,
		    "%zu packed bytes do not come to %zu.", n, n_to);
	return 0;
}
