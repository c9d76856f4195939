/* algos/millisampler/series.c -- runs side by side, on common buckets.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/millisampler/series.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"

void algo_series_free(struct algo_series *s)
{
	free(s->run);
	free(s->host);
	free(s->line_bps);
	free(s->value);
	*s = (struct algo_series){0};
}

static size_t rows_before(const struct obs_samples *t, uint64_t run)
{
	size_t lo = 0, hi = t->n;
	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;
		if (t->run[mid] < run)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

size_t algo_series_rows(const struct obs_samples *t, uint32_t run, size_t *end)
{
	*end = rows_before(t, (uint64_t)run + 1);
	return rows_before(t, run);
}

static int64_t series_start(const struct obs_runs *runs, uint32_t run,
    int64_t error_ns)
{
	return (int64_t)runs->start_ns[run] + error_ns;
}

/* Times within which sums of starts, errors and lengths do not wrap. */
static int series_check(const struct obs_runs *runs, uint32_t run,
    uint64_t width, int64_t error_ns, struct sim_err *e)
{
	const uint64_t start = runs->start_ns[run], w = runs->width_ns[run];
	if (w != width)
		return sim_fail(e, SIM_EINVAL,
		    "run %u has buckets of %" PRIu64 " ns, another of %" PRIu64
		    " ns: they can't stand side by side.",
		    run, w, width);
	if (w == 0 || w > 1000 * SIM_SEC || start >> 62 != 0 ||
	    error_ns / (int64_t)SIM_SEC / 1000000 != 0 ||
	    runs->n_buckets[run] > ALGO_SERIES_MAX)
		return sim_fail(e, SIM_EINVAL,
		    "run %u starts at %" PRIu64 " ns, off by %" PRId64
		    " ns, with %u buckets of %" PRIu64
		    " ns: allowed are starts below 2^62, 10^6 s, %d and 1000 "
		    "s.",
		    run, start, error_ns, runs->n_buckets[run], w,
		    ALGO_SERIES_MAX);
	return 0;
}

/* When the common buckets begin and how many there are. Quiet runs begin when
 * they were armed, which is no time that buckets should be cut at; so the first
 * one with traffic decides where, and buckets go on before it as others need. */
static int series_span(struct algo_series *s, const struct obs_runs *runs,
    const struct obs_samples *t, const uint32_t run[], size_t n,
    const int64_t error_ns[], struct sim_err *e)
{
	const int64_t w = (int64_t)runs->width_ns[run[0]];
	int64_t first = INT64_MAX, last = INT64_MIN, grid = INT64_MAX;
	int64_t known = INT64_MAX;
	for (size_t i = 0; i < n; i++) {
		const int64_t error = error_ns ? error_ns[i] : 0;
		const int rc =
		    series_check(runs, run[i], (uint64_t)w, error, e);
		if (rc < 0)
			return rc;
		const int64_t at = series_start(runs, run[i], error);
		const int64_t end = at + w * runs->n_buckets[run[i]];
		size_t stop;
		first = at < first ? at : first;
		last = end > last ? end : last;
		known = end < known ? end : known;
		if (at < grid && algo_series_rows(t, run[i], &stop) < stop)
			grid = at;
	}
	if (grid == INT64_MAX)
		grid = first;
	const int64_t start = grid - (grid - first + w - 1) / w * w;
	if ((last - start) / w >= ALGO_SERIES_MAX)
		return sim_fail(e, SIM_EINVAL,
		    "runs that stand side by side begin and end %" PRId64
		    " ns apart, more than %d buckets.",
		    last - start, ALGO_SERIES_MAX);
	s->start_ns = (sim_ns)start;
	s->width_ns = (sim_ns)w;
	s->n = (size_t)((last - start + w - 1) / w);
	s->n_known = known > start ? (size_t)((known - start) / w) : 0;
	return 0;
}

/* A row goes to the bucket that it begins in, and what reaches beyond to the
 * next. The second share is what is left, so that both are all. */
static void series_put(struct algo_series *s, size_t i,
    const struct obs_samples *t, size_t row, size_t at, double later)
{
#define X(name, column)                                                        \
	{                                                                      \
		double *v = algo_series_at(s, i, ALGO_SERIES_##name) + at;     \
		const double x = t->column[row];                               \
		v[0] += x * (1 - later);                                       \
		if (later > 0)                                                 \
			v[1] += x * later;                                     \
	}
	ALGO_SERIES(X)
#undef X
}

static void series_fill(struct algo_series *s, size_t i,
    const struct obs_samples *t, int64_t start)
{
	const uint64_t shift = (uint64_t)start - s->start_ns;
	const size_t whole = (size_t)(shift / s->width_ns);
	const double later =
	    (double)(shift % s->width_ns) / (double)s->width_ns;
	size_t end;
	for (size_t row = algo_series_rows(t, s->run[i], &end); row < end;
	     row++)
		series_put(s, i, t, row, whole + t->bucket[row], later);
}

static int series_reserve(struct algo_series *s, size_t n, struct sim_err *e)
{
	if (n > s->cap_runs) {
		size_t cap[] = {s->cap_runs, s->cap_runs, s->cap_runs};
		int rc;
		if ((rc = SIM_RESERVE(&s->run, &cap[0], n, e)) < 0 ||
		    (rc = SIM_RESERVE(&s->host, &cap[1], n, e)) < 0 ||
		    (rc = SIM_RESERVE(&s->line_bps, &cap[2], n, e)) < 0)
			return rc;
		s->cap_runs = n;
	}
	return SIM_RESERVE(&s->value, &s->cap, ALGO_N_SERIES * n * s->n, e);
}

int algo_series_align(struct algo_series *s, const struct obs_runs *runs,
    const struct obs_samples *samples, const uint32_t run[], size_t n,
    const int64_t error_ns[], struct sim_err *e)
{
	s->n_runs = 0;
	int rc = series_span(s, runs, samples, run, n, error_ns, e);
	if (rc < 0 || (rc = series_reserve(s, n, e)) < 0)
		return rc;
	s->n_runs = n;
	memset(s->value, 0, ALGO_N_SERIES * n * s->n * sizeof(double));
	for (size_t i = 0; i < n; i++) {
		s->run[i] = run[i];
		s->host[i] = runs->host[run[i]];
		s->line_bps[i] = runs->line_bps[run[i]];
		series_fill(s, i, samples,
		    series_start(runs, run[i], error_ns ? error_ns[i] : 0));
	}
	return 0;
}

/* Starts may lie on either side of the first that is left. */
static int series_together(const struct obs_runs *runs, uint32_t a, uint32_t b,
    sim_ns within)
{
	const sim_ns x = runs->start_ns[a], y = runs->start_ns[b];
	return (x > y ? x - y : y - x) <= within;
}

static int series_has_host(const struct obs_runs *runs, const uint32_t run[],
    size_t n, uint32_t host)
{
	for (size_t i = 0; i < n; i++)
		if (runs->host[run[i]] == host)
			return 1;
	return 0;
}

size_t algo_series_rack(const struct obs_runs *runs, const uint32_t tor[],
    sim_ns width_ns, sim_ns together_ns, uint8_t taken[], uint32_t run[])
{
	size_t n = 0;
	for (uint32_t i = 0; i < runs->n; i++) {
		if (taken[i] || runs->width_ns[i] != width_ns)
			continue;
		if (n > 0 &&
		    (tor[runs->host[i]] != tor[runs->host[run[0]]] ||
			!series_together(runs, i, run[0], together_ns) ||
			series_has_host(runs, run, n, runs->host[i])))
			continue;
		taken[i] = 1;
		run[n++] = i;
	}
	return n;
}
