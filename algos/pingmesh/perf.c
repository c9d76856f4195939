/* algos/pingmesh/perf.c -- quantiles of a histogram.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/pingmesh/perf.h"

#include <math.h>

/* The agent's counters need P50 and P99 in fixed memory. The end of the
 * bucket that holds the rank errs upwards, so an alert comes early rather
 * than late. */
sim_ns algo_pingmesh_hist_quantile(const struct algo_pingmesh_hist *h, double q)
{
	const double rank = ceil(q * (double)h->n);
	uint64_t seen = 0;
	for (uint32_t i = 0; i < ALGO_PINGMESH_BUCKETS; i++) {
		seen += h->count[i];
		if (seen > 0 && (double)seen >= rank)
			return algo_pingmesh_bucket_end(i);
	}
	return 0;
}
