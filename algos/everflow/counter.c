/* algos/everflow/counter.c -- bins of latencies.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/everflow/counter.h"

#include <math.h>

uint64_t algo_latency_bin_ns(unsigned bin)
{
	return bin + 1 >= ALGO_LATENCY_BINS
	    ? UINT64_MAX
	    : (uint64_t)(1e3 * exp2((bin + 1) / 4.0));
}

unsigned algo_latency_bin(uint64_t ns)
{
	unsigned lo = 0, hi = ALGO_LATENCY_BINS - 1;
	while (lo < hi) {
		const unsigned mid = (lo + hi) / 2;
		if (ns < algo_latency_bin_ns(mid))
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}
