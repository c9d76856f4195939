/* models/scene/samples.h -- what hosts count in buckets while an epoch runs.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Planes of flows know when each flow ran, what it lost, and when ports to hosts
 * were full (congestion.h). This draws the rest of what a Millisampler on a
 * host would have counted meanwhile.
 *
 *	runs    host H samples with probability `sampled`; if so, for `buckets` of
 *	        `width` from PHASE + k `every` on, PHASE uniform on [0, every).
 *	        Of these, buckets within the epoch. So each moment is sampled
 *	        with probability sampled * buckets * width / every
 *	bursts  H receives at the line's rate
 *	          (a) in bursts that begin at `bursts` a second, by chance;
 *	          (b) around the times at which its port is full; and
 *	          (c) around a flow that sent again, if its port was not full
 *	              when it started, with probability
 *	                beta = min(1, bursts E[L] / load),
 *	              the share of bytes that come in bursts: packets are where
 *	              the bytes are.
 *	        Lengths L are of the law `length`; of (c) each length is
 *	        likelier by its size, and the flow anywhere in it; of (b) L or
 *	        the time that the port is full, the longer one, and that anywhere
 *	        in it. All bytes of (b), and of a share `marked` of (a) and (c),
 *	        are marked by ECN
 *	others  in a share `other` of the buckets more comes: exponential, so that
 *	        all that comes is `load` of the line in the mean, if bursts leave
 *	        something of that
 *	flows   of n packets, k lost: n - k come when it starts, as in models/bulk
 *	        all at once. The k come again a time after that: `rtt`, or `rto`
 *	        if fewer than three were left to tell the sender of a gap
 *
 * What a bucket counts as having come in: bursts, others, and packets of flows
 * outside of bursts, at most the line's bytes, at least what came again. Who
 * sends again when does not depend on what lost the packets. A flow that lost
 * something to its host's full port is in a marked burst for sure; any other one,
 * while the port is not full, with probability
 *
 *	1 - (1 - beta marked) exp(-bursts marked E[L])
 *
 * and in any burst with the same where `marked` is 1. A full port above the ToR
 * (congestion.uplinks) is not seen here.
 *
 * Hosts to which no flow had to send again are left out: they would show bursts
 * alone, and grow with the network. So this grows with hosts that failed flows
 * go to, times sampled time, times how often that is not silent: some 6 KB a
 * host and run of 2,000 buckets with the defaults.
 *
 * The defaults are of our own model of a rack (models/rack), as those of
 * congestion.h: its racks of services have 5 bursts of a server and second, of
 * 2.6 ms in the mean, with 78 % of all bytes; 8 % of the bytes come in marked
 * ones, which are 28 % of the bursts, but short; 1.5 % of the line is used, and
 * 4.6 % of other buckets.
 *
 * DEPARTS: Millisampler's runs begin with a packet, and these by the clock. Who
 * fills a buffer is no flow of the epoch, and what it sends again is not seen;
 * connections are flows that sent again, and one more for all else. With
 * TCP what is sent again and lost again comes all the same. All that a flow sends
 * again, it sends at once.
 */
#ifndef MODELS_SCENE_SAMPLES_H
#define MODELS_SCENE_SAMPLES_H

#include "models/obs_samples.h"
#include "sim/field.h"
#include "sim/rng.h"
#include "sim/time.h"

struct obs;
struct scene;

enum { SCENE_SAMPLES_SEGMENT = 1500 }; /* bytes of a packet */

/* As in a spec. */
struct scene_samples_params {
	double sampled, width_ms, every_s, clock_sd_us, line_gbps;
	uint32_t buckets;
	double bursts_hz, marked, load, other;
	struct sim_dist length_ms, rtt_ms;
	double rto_ms;
};
extern const struct sim_field scene_samples_fields[];

/* Runs must not overlap: buckets of width within `every`. Errors SIM_EINVAL. */
int scene_samples_check(const struct scene_samples_params *p,
    struct sim_err *e);

/* The share of bytes that come in bursts, beta above. */
double scene_samples_beta(const struct scene_samples_params *p);

/* Zeroed is empty. Memory is used again. */
struct scene_samples {
	struct obs_runs runs;
	struct obs_samples rows;
	/* [flows of the window] when each sent something again first, by its
	 * sender's clock; of others when it started. */
	uint64_t *retx_ns;
	size_t cap_retx;
};
void scene_samples_free(struct scene_samples *x);

/* Fill X for the window W, which the scene S became. What a flow and a host draw
 * depends on their names alone: not on whoever else failed.
 * Draws  SIM_STREAM_CLOCK and SAMPLE_HOST by host, SAMPLE_FLOW by the flow's
 *        ports and ends.
 * Errors SIM_ENOMEM.
 * Cost   O(hosts + flows log flows + hosts sampled * buckets). */
int scene_samples_draw(struct scene_samples *x,
    const struct scene_samples_params *p, const struct scene *s,
    const struct obs *w, struct sim_err *e);

#endif
