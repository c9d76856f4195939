/* models/obs_perf.c -- the table of counters: growing, emptying, checking.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/obs_perf.h"

#include <inttypes.h>
#include <stdlib.h>

#include "sim/vec.h"

/* So that sums of some thousand hosts stay exact, also as doubles. */
#define COUNT_END (UINT64_C(1) << 53)

/* The columns share one `cap`, so each grows on a copy of it: a column that
 * has grown when a later one fails merely holds spare memory. */
static int reserve(struct obs_perf *t, struct sim_err *e)
{
	size_t cap = t->cap;
	int rc;
#define X(type, name, units, doc)                                              \
	cap = t->cap;                                                          \
	if ((rc = SIM_RESERVE(&t->name, &cap, t->n + 1, e)) < 0)               \
		return rc;
	OBS_PERF_COLUMNS(X)
#undef X
	t->cap = cap;
	return 0;
}

int obs_perf_add(struct obs_perf *t, const struct obs_perf_row *row,
    struct sim_err *e)
{
	int rc;
	if (t->n == t->cap && (rc = reserve(t, e)) < 0)
		return rc;
#define X(type, name, units, doc) t->name[t->n] = row->name;
	OBS_PERF_COLUMNS(X)
#undef X
	t->n++;
	return 0;
}

struct obs_perf_row obs_perf_at(const struct obs_perf *t, size_t i)
{
	struct obs_perf_row r;
#define X(type, name, units, doc) r.name = t->name[i];
	OBS_PERF_COLUMNS(X)
#undef X
	return r;
}

void obs_perf_clear(struct obs_perf *t)
{
	t->n = 0;
}

void obs_perf_free(struct obs_perf *t)
{
#define X(type, name, units, doc) free(t->name);
	OBS_PERF_COLUMNS(X)
#undef X
	*t = (struct obs_perf){0};
}

static int check_counts(const struct obs_perf_row *r, size_t i,
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
	for (size_t k = 0; k < sizeof(counts) / sizeof(counts[0]); k++)
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

static int check_row(const struct obs_perf_row *r, size_t i, uint32_t n_hosts,
    struct sim_err *e)
{
	if (r->host >= n_hosts)
		return sim_fail(e, SIM_EINVAL,
		    "row %zu is of host %u, but there are only %u hosts.", i,
		    r->host, n_hosts);
	const int rc = check_counts(r, i, e);
	if (rc < 0)
		return rc;
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

int obs_perf_check(const struct obs_perf *t, uint32_t n_hosts,
    struct sim_err *e)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct obs_perf_row r = obs_perf_at(t, i);
		const int rc = check_row(&r, i, n_hosts, e);
		if (rc < 0)
			return rc;
	}
	return 0;
}
