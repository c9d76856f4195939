/* algos/everflow/admission.h -- does what is to be traced fit? Four capacities.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Tracing D packets a second, of which each is mirrored by H switches as a copy
 * of B bytes, needs at most
 *
 *	switch       D * B * switch_share   bytes/s that one switch mirrors
 *	link         D * H * B * link_share bytes/s of copies on one link
 *	reshuffler   8 * D * H * B          bits/s into the reshuffler
 *	analyzers    D * H                  copies/s of all analyzers
 *
 * with B = min(mean length, truncate) + 50 B, which is no less than the mean of
 * min(length, truncate) + 50 B, as min(., truncate) is concave. By default the
 * shares are 1: all of it may meet in one switch or on one link, since who talks
 * to whom is not known, so nothing that is admitted ever exceeds a capacity.
 *
 * Paper  Everflow (SIGCOMM'15): EnableDbg is refused above the
 *        capacity; that there are these four, and their form, is ours.
 */
#ifndef ALGOS_EVERFLOW_ADMISSION_H
#define ALGOS_EVERFLOW_ADMISSION_H

#include <stdint.h>

#include "sim/field.h"
#include "sim/text.h"

/* X(capacity, word, unit) */
#define ALGO_CAPACITIES(X)                                                     \
	X(SWITCH, "mirror budget of a switch", "bytes/s")                      \
	X(LINK, "share of a link", "bytes/s")                                  \
	X(RESHUFFLER, "reshuffler", "bits/s")                                  \
	X(ANALYZERS, "analyzers", "copies/s")
enum algo_capacity {
#define X(capacity, word, unit) ALGO_CAPACITY_##capacity,
	ALGO_CAPACITIES(X)
#undef X
	    ALGO_N_CAPACITIES
};

/* As in a spec. */
struct algo_admission_params {
	double switch_budget; /* bytes/s; capacities of 0 are not limited */
	double link_bps, link_most; /* a link's, and what copies may have */
	double reshuffler_bps;
	double analyzer_pps; /* of each analyzer */
	uint32_t n_analyzers;
	uint32_t truncate, overhead; /* bytes of a copy: see above */
	uint32_t hops;               /* switches of the longest way */
	double switch_share, link_share;
};
extern const struct sim_field algo_admission_fields[];

struct algo_load {
	double of[ALGO_N_CAPACITIES];
};

/* In full; 0 of those that are not limited. */
struct algo_load algo_admission_capacity(const struct algo_admission_params *p);

/* What tracing so many packets needs; BYTES_S is of whole frames. */
struct algo_load algo_admission_need(const struct algo_admission_params *p,
    double packets_s, double bytes_s);

/* *SUM += MORE. */
static inline void algo_load_add(struct algo_load *sum,
    const struct algo_load *more)
{
	for (unsigned i = 0; i < ALGO_N_CAPACITIES; i++)
		sum->of[i] += more->of[i];
}

/* Why not: the capacity that is exceeded by the greatest factor. */
struct algo_refusal {
	enum algo_capacity bottleneck;
	double need, used, capacity;
	/* Tracing 1 packet in 2^sample_bits instead would fit; of an IP ID there
	 * are 16 bits, so above that nothing does. */
	unsigned sample_bits;
};
enum { ALGO_SAMPLE_MOST = 16 };

/* Does NEED fit beside what is USED? 1, or 0 and why not. Cost O(1). */
int algo_admission_fits(const struct algo_admission_params *p,
    const struct algo_load *used, const struct algo_load *need,
    struct algo_refusal *why);

/* "analyzers: 1e+06 copies/s, of which 9e+05 are reserved; this needs 4e+05
 * more. 1 packet in 4 would fit." */
void algo_refusal_put(const struct algo_refusal *r, struct sim_text *out);

#endif
