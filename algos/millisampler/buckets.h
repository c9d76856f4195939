/* algos/millisampler/buckets.h -- the sampler: packets in, buckets of a run out.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the sampler in the kernel does, as plain code: its twin in tests, and
 * the sampler of whoever has packets, as from a capture.
 *
 *	arm -> the first packet starts the clock -> the first one behind the
 *	last bucket ends the run -> take -> arm ...
 *
 * A run that is not armed counts nothing. A packet that comes behind the last
 * bucket is not counted and ends it; one before the first bucket is counted in
 * n_missed, but early by less than a bucket it falls into the first
 * (models/obs_buckets.h says why).
 *
 * Paper  Millisampler (IMC'22). DEPARTS: `aligned` starts a run at the multiple
 *        of its width before the first packet, so that hosts whose clocks agree
 *        share buckets and need not be interpolated.
 */
#ifndef ALGOS_MILLISAMPLER_BUCKETS_H
#define ALGOS_MILLISAMPLER_BUCKETS_H

#include "models/obs_buckets.h"
#include "models/obs_packet.h"
#include "models/obs_samples.h"
#include "sim/err.h"
#include "sim/time.h"

/* Where a run begins, by its first packet. X(name, text) */
#define ALGO_STARTS(X)                                                         \
	X(FIRST_PACKET, "first_packet")                                        \
	X(ALIGNED, "aligned")

enum algo_start {
#define X(name, text) ALGO_START_##name,
	ALGO_STARTS(X)
#undef X
	    ALGO_N_STARTS
};
extern const char *const algo_start_names[]; /* NULL-terminated */

/* 128 KB; zeroed is not armed. */
struct algo_buckets {
	struct obs_index index;
	sim_ns armed_ns, start_ns;
	enum algo_start start;
	uint32_t n_missed;
	uint8_t enabled, started;
	struct obs_bucket bucket[OBS_BUCKETS];
};

/* Zero all and wait for a packet, from NOW on.
 * Errors SIM_ERANGE for a width that can't be served. */
int algo_buckets_arm(struct algo_buckets *b, sim_ns now, sim_ns width_ns,
    enum algo_start start, struct sim_err *e);

/* Count a packet. Returns 1 if it fell into a bucket. Cost O(1). */
int algo_buckets_packet(struct algo_buckets *b, sim_ns t,
    const struct obs_seen *p);

/* End the run at NOW and append it to the tables, as of HOST on a link of
 * LINE_BPS. It has all buckets that began by NOW, at least one; if no packet
 * came, they are counted from when it was armed. A run that was never armed adds
 * nothing. Errors SIM_ENOMEM (tables unchanged; the run is kept). */
int algo_buckets_take(struct algo_buckets *b, sim_ns now, uint32_t host,
    uint64_t line_bps, struct obs_runs *runs, struct obs_samples *samples,
    struct sim_err *e);

/* The rows of the first N buckets, which may be sums over processors
 * (obs_bucket_merge()). Quiet ones have none. Errors SIM_ENOMEM (no row is
 * added). */
int algo_buckets_add_rows(const struct obs_bucket bucket[], uint32_t n,
    uint32_t run, struct obs_samples *samples, struct sim_err *e);

/* What is counted of a packet with an IPv4 header, by its outermost one. Its
 * other end is in another region unless REGION_NET / REGION_MASK has it. The mark
 * of what is sent again is TCP's, and believed of what comes in; of what leaves,
 * retx is 0: its socket knows, and whoever knows the socket sets it. */
struct obs_seen algo_buckets_seen(const struct obs_packet *p, int out,
    uint32_t region_net, uint32_t region_mask);

#endif
