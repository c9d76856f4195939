/* models/obs_samples.c -- the tables of buckets: checking.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/obs_samples.h"

#include <inttypes.h>

/* Times end here, so that sums of a start and a length do not wrap. */
#define OBS_RUN_END (UINT64_C(1) << 63)

static int obs_run_check(const struct obs_run *r, size_t i, uint32_t n_hosts,
    struct sim_err *e)
{
	if (r->host >= n_hosts)
		return sim_fail(e, SIM_EINVAL,
		    "run %zu is of host %u, but there are only %u hosts.", i,
		    r->host, n_hosts);
	if (r->width_ns == 0 || r->n_buckets == 0 || r->line_bps == 0)
		return sim_fail(e, SIM_EINVAL,
		    "run %zu has %u buckets of %" PRIu64
		    " ns on a link of %" PRIu64
		    " bit/s, but none of these can be 0.",
		    i, r->n_buckets, r->width_ns, r->line_bps);
	if (r->width_ns > (OBS_RUN_END - 1) / r->n_buckets ||
	    r->start_ns >= OBS_RUN_END - r->width_ns * r->n_buckets)
		return sim_fail(e, SIM_EINVAL,
		    "run %zu starts at %" PRIu64
		    " ns with %u buckets of %" PRIu64
		    " ns, but none ends behind 2^63 ns.",
		    i, r->start_ns, r->n_buckets, r->width_ns);
	return 0;
}

/* A row's place: of a run and a bucket that there are, and behind the row
 * before it. */
static int obs_sample_check_place(const struct obs_runs *runs,
    const struct obs_samples *t, size_t i, struct sim_err *e)
{
	const uint32_t run = t->run[i], bucket = t->bucket[i];
	if (run >= runs->n)
		return sim_fail(e, SIM_EINVAL,
		    "row %zu is of run %u, but there are only %zu runs.", i,
		    run, runs->n);
	if (bucket >= runs->n_buckets[run])
		return sim_fail(e, SIM_EINVAL,
		    "row %zu is of bucket %u, but run %u has only %u buckets.",
		    i, bucket, run, runs->n_buckets[run]);
	if (i > 0 &&
	    (t->run[i - 1] > run ||
		(t->run[i - 1] == run && t->bucket[i - 1] >= bucket)))
		return sim_fail(e, SIM_EINVAL,
		    "row %zu, bucket %u of run %u, is not behind the row "
		    "before it, bucket %u of run %u.",
		    i, bucket, run, t->bucket[i - 1], t->run[i - 1]);
	return 0;
}

static int obs_sample_check_parts(const struct obs_sample *s, size_t i,
    struct sim_err *e)
{
	const struct {
		const char *name, *of;
		uint32_t part, whole;
	} parts[] = {
	    {"in_cross", "in_bytes", s->in_cross, s->in_bytes},
	    {"out_cross", "out_bytes", s->out_cross, s->out_bytes},
	    {"in_ce", "in_bytes", s->in_ce, s->in_bytes},
	    {"in_retx", "in_bytes", s->in_retx, s->in_bytes},
	    {"out_retx", "out_bytes", s->out_retx, s->out_bytes},
	};
	for (size_t k = 0; k < sizeof(parts) / sizeof(parts[0]); k++)
		if (parts[k].part > parts[k].whole)
			return sim_fail(e, SIM_EINVAL,
			    "row %zu: %s %u is above %s, which is %u.", i,
			    parts[k].name, parts[k].part, parts[k].of,
			    parts[k].whole);
	return 0;
}

int obs_runs_check(const struct obs_runs *t, uint32_t n_hosts,
    struct sim_err *e)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < t->n; i++) {
		const struct obs_run r = obs_runs_at(t, i);
		rc = obs_run_check(&r, i, n_hosts, e);
	}
	return rc;
}

int obs_samples_check(const struct obs_samples *t, const struct obs_runs *runs,
    struct sim_err *e)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < t->n; i++) {
		const struct obs_sample s = obs_samples_at(t, i);
		if ((rc = obs_sample_check_place(runs, t, i, e)) == 0)
			rc = obs_sample_check_parts(&s, i, e);
	}
	return rc;
}
