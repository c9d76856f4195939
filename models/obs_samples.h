/* models/obs_samples.h -- what hosts counted in short buckets, as two tables.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A host counts for a short while, a run, in buckets of one width. A row of
 * obs_runs is a run; a row of obs_samples a bucket of it. A bucket in which
 * nothing came or went has no row, so a run without rows was quiet, which is
 * not the same as a run that never was. Rows of a run follow each other, runs
 * and buckets ascending.
 *
 * Bytes are those of frames as the host's stack sees them. Connections are told
 * by a sketch of 128 bits (models/obs_sketch.h); data that came without one has
 * a sketch of 0 and the number alone.
 *
 * Paper  Millisampler (IMC'22).
 */
#ifndef MODELS_OBS_SAMPLES_H
#define MODELS_OBS_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

#include "sim/table.h"
#include "topo/ids.h"

/*  X(type, column, units, meaning) */
#define OBS_RUN_COLUMNS(X)                                                     \
	X(uint64_t, start_ns, "ns", "of bucket 0, by the host's clock")        \
	X(uint64_t, width_ns, "ns", "of a bucket")                             \
	X(uint64_t, line_bps, "bit/s", "of the host's link")                   \
	X(uint32_t, host, "1", "host id")                                      \
	X(uint32_t, n_buckets, "1", "buckets of the run, quiet ones too")      \
	X(uint32_t, n_missed, "packets", "that could not be counted")

struct obs_runs {
	SIM_TABLE_ARRAYS(OBS_RUN_COLUMNS)
};
struct obs_run {
	SIM_TABLE_FIELDS(OBS_RUN_COLUMNS)
};
SIM_TABLE(obs_runs, obs_run, OBS_RUN_COLUMNS)

#define OBS_SAMPLE_COLUMNS(X)                                                  \
	X(uint32_t, run, "1", "row of the table of runs")                      \
	X(uint32_t, bucket, "1", "number in the run, from 0")                  \
	X(uint32_t, in_bytes, "bytes", "came in")                              \
	X(uint32_t, out_bytes, "bytes", "went out")                            \
	X(uint32_t, in_cross, "bytes", "of in_bytes, from another region")     \
	X(uint32_t, out_cross, "bytes", "of out_bytes, to another region")     \
	X(uint32_t, in_ce, "bytes", "of in_bytes, marked by a full queue")     \
	X(uint32_t, in_retx, "bytes", "of in_bytes, sent again")               \
	X(uint32_t, out_retx, "bytes", "of out_bytes, sent again")             \
	X(uint32_t, conns, "connections", "estimate of the sketch, rounded")   \
	X(uint64_t, sketch_lo, "1", "bits 0 to 63 of the sketch")              \
	X(uint64_t, sketch_hi, "1", "bits 64 to 127; both 0 = no sketch")

struct obs_samples {
	SIM_TABLE_ARRAYS(OBS_SAMPLE_COLUMNS)
};
struct obs_sample {
	SIM_TABLE_FIELDS(OBS_SAMPLE_COLUMNS)
};
SIM_TABLE(obs_samples, obs_sample, OBS_SAMPLE_COLUMNS)

/* Check a table of runs that came from outside: hosts below N_HOSTS; widths,
 * buckets and lines above 0; ends below 2^63 ns. Errors SIM_EINVAL naming the run and the value.
 * Cost O(n). */
int obs_runs_check(const struct obs_runs *t, uint32_t n_hosts,
    struct sim_err *e);

/* Check buckets of RUNS likewise: in order, of buckets that their runs have, no
 * part of the bytes above the whole. */
int obs_samples_check(const struct obs_samples *t, const struct obs_runs *runs,
    struct sim_err *e);

#endif
