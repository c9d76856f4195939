/* algos/millisampler/series.h -- runs side by side, on common buckets.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * SyncMillisampler: all hosts of a rack sample at one scheduled time, but each
 * run starts at its host's first packet, so buckets of hosts do not meet. A run
 * that starts F of a bucket later than the common ones gives each of its buckets
 * to two of these, shares 1 - F and F: every byte is kept, and of connections the
 * estimates, as sketches cannot be parted. Runs whose starts differ by whole
 * buckets only move (`start: aligned`).
 *
 *	run   |..0..|..1..|..2..|
 *	common   |..0..|..1..|..2..|..3..|
 *
 * Common buckets begin where the first run with traffic does, and before a run's
 * first packet its host was quiet, so all are known up to where the first run
 * ends: n_known. Hosts without a packet are zero there, not missing.
 *
 * What the interpolation costs, and errors of clocks do, is in
 * algos/millisampler/README.md: means bear them, instants do not.
 *
 * Paper  Millisampler (IMC'22). That series are interpolated is unconfirmed, by
 *        overlap is ours.
 */
#ifndef ALGOS_MILLISAMPLER_SERIES_H
#define ALGOS_MILLISAMPLER_SERIES_H

#include "models/obs_samples.h"
#include "sim/err.h"
#include "sim/time.h"

/* What is kept of a bucket; the columns of obs_samples. X(name, column) */
#define ALGO_SERIES(X)                                                         \
	X(IN, in_bytes)                                                        \
	X(OUT, out_bytes)                                                      \
	X(IN_CROSS, in_cross)                                                  \
	X(OUT_CROSS, out_cross)                                                \
	X(IN_CE, in_ce)                                                        \
	X(IN_RETX, in_retx)                                                    \
	X(OUT_RETX, out_retx)                                                  \
	X(CONNS, conns)

enum algo_series_of {
#define X(name, column) ALGO_SERIES_##name,
	ALGO_SERIES(X)
#undef X
	    ALGO_N_SERIES
};

/* Zeroed is empty. */
struct algo_series {
	size_t n_runs, n, n_known; /* runs; buckets; those known of all runs */
	sim_ns start_ns, width_ns;
	size_t cap_runs, cap;
	uint32_t *run;      /* [n_runs] rows of the table of runs */
	uint32_t *host;     /* [n_runs] */
	uint64_t *line_bps; /* [n_runs] */
	double *value;      /* [ALGO_N_SERIES][n_runs][n] */
};

void algo_series_free(struct algo_series *s);

static inline double *algo_series_at(const struct algo_series *s, size_t run,
    enum algo_series_of of)
{
	return s->value + ((size_t)of * s->n_runs + run) * s->n;
}

/* S, overwritten, = runs RUN[0..N) of the tables on common buckets; N > 0.
 * ERROR_NS[N] is added to the starts, as by clocks that are wrong; NULL: none.
 * Errors SIM_EINVAL (widths differ; starts further apart than ALGO_SERIES_MAX
 * buckets; times that no clock tells), SIM_ENOMEM. Cost O(runs * buckets + rows). */
enum { ALGO_SERIES_MAX = 100000 };
int algo_series_align(struct algo_series *s, const struct obs_runs *runs,
    const struct obs_samples *samples, const uint32_t run[], size_t n,
    const int64_t error_ns[], struct sim_err *e);

/* Rows FIRST <= i < *END of a run in the table. Cost O(log rows). */
size_t algo_series_rows(const struct obs_samples *samples, uint32_t run,
    size_t *end);

/* The next rack: runs of hosts on one ToR that sampled together. TOR[host] is
 * each host's ToR, TAKEN[runs] what was taken before, 0 at first. A rack is the
 * first run that is left and those of WIDTH_NS on its ToR that start within
 * TOGETHER_NS of it, the first of each host. Returns their number, 0 if no
 * run is left; their rows to RUN[], of room for all. Cost O(runs * hosts of the
 * rack). */
size_t algo_series_rack(const struct obs_runs *runs, const uint32_t tor[],
    sim_ns width_ns, sim_ns together_ns, uint8_t taken[], uint32_t run[]);

#endif
