/* models/obs_perf.c -- the table of counters: checking.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/obs_perf.h"

#include <inttypes.h>

/* Counts end here, so that each is exact as a double and a sum over two
 * thousand hosts fits in 64 bits. */
#define COUNT_END (UINT64_C(1) << 53)

static int obs_perf_check_counts(const struct obs_perf_row *r, size_t i,
    struct sim_err *e)
{
	const struct {
		const char *name;
		uint64_t n;
	} counts[] = {
	    {"n_probes", r->n_probes},
	    {"n_connected", r->n_connected},
	    {"n_unconnected", r->n_unconnected},
	    {"n_drop_1", r->n_drop_1},
	    {"n_drop_2", r->n_drop_2},
	};
	const uint64_t any = r->n_probes | r->n_connected | r->n_unconnected |
	    r->n_drop_1 | r->n_drop_2;
	for (size_t k = 0;
	     any >= COUNT_END && k < sizeof(counts) / sizeof(counts[0]); k++)
		if (counts[k].n >= COUNT_END)
			return sim_fail(e, SIM_EINVAL,
			    "row %zu: %s %" PRIu64 " is not below 2^53.", i,
			    counts[k].name, counts[k].n);
	if (r->n_drop_1 + r->n_drop_2 > r->n_connected)
		return sim_fail(e, SIM_EINVAL,
		    "row %zu: %" PRIu64 " probes connected, yet %" PRIu64
		    " of them lost SYNs.",
		    i, r->n_connected, r->n_drop_1 + r->n_drop_2);
	return 0;
}

static int obs_perf_check_row(const struct obs_perf_row *r, size_t i,
    topo_host first, uint32_t n_hosts, struct sim_err *e)
{
	if (r->host < first || r->host - first >= n_hosts)
		return sim_fail(e, SIM_EINVAL,
		    "row %zu is of host %u, but there are only %u hosts from "
		    "%u on.",
		    i, r->host, n_hosts, first);
	const int rc = obs_perf_check_counts(r, i, e);
	if (rc < 0)
		return rc;
	/* A connect takes at least a nanosecond, so a time of 0 says that no
	 * probe connected; both quantiles must say the same. */
	if ((r->p50_ns > 0) != (r->n_connected > 0) ||
	    (r->p99_ns > 0) != (r->n_connected > 0))
		return sim_fail(e, SIM_EINVAL,
		    "row %zu: %" PRIu64 " probes connected, yet the median is "
		    "%" PRIu64 " ns and the 99th percentile %" PRIu64 " ns.",
		    i, r->n_connected, r->p50_ns, r->p99_ns);
	if (r->p50_ns > r->p99_ns)
		return sim_fail(e, SIM_EINVAL,
		    "row %zu: the median, %" PRIu64
		    " ns, is above the 99th percentile, %" PRIu64 " ns.",
		    i, r->p50_ns, r->p99_ns);
	return 0;
}

int obs_perf_check(const struct obs_perf *t, topo_host first_host,
    uint32_t n_hosts, struct sim_err *e)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct obs_perf_row r = obs_perf_at(t, i);
		const int rc =
		    obs_perf_check_row(&r, i, first_host, n_hosts, e);
		if (rc < 0)
			return rc;
	}
	return 0;
}
