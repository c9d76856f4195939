/* results/deflate_none.c -- results/deflate.c of a program without zlib.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/deflate.h"

size_t res_deflate(void *to, size_t cap, const void *from, size_t n)
{
	(void)to, (void)cap, (void)from, (void)n;
	return 0;
}

int res_inflate(void *to, size_t n_to, const void *from, size_t n,
    struct sim_err *e)
{
	(void)to, (void)n_to, (void)from, (void)n;
	return sim_fail(e, SIM_EUNSUPPORTED,
	    "it is packed, and this program was built without zlib: install "
	    "zlib1g-dev, and build again.");
}
