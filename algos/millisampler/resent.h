/* algos/millisampler/resent.h -- what TCP sends again, told by sequence numbers.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For packets that nobody marked. Of each direction of a connection the highest
 * number that was sent is kept; a packet that takes numbers (payload, SYN, FIN)
 * and begins before it was sent before, at least in part.
 *
 * Where the sender's packets are seen before anything can be lost, that is what
 * its socket knows (models/bpf/sampler.bpf.c). Behind a loss it is not: the last
 * packets of a flight, if lost, are seen for the first time when they are sent
 * again; and packets that overtook others pass for sent again.
 *
 * DEPARTS: the paper's sender marks; this is for captures without marks.
 */
#ifndef ALGOS_MILLISAMPLER_RESENT_H
#define ALGOS_MILLISAMPLER_RESENT_H

#include <stdint.h>

#include "sim/err.h"

/* One direction of a connection; IPv4 in the lower half of the second word. */
struct algo_resent_key {
	uint64_t src[2], dst[2];
	uint32_t ports; /* source's above */
	uint32_t version;
};

struct algo_resent;

/* Room for N_FLOWS directions, at least 4; rounded up to a power of 2. Cost 64
 * bytes each. Errors SIM_ENOMEM. */
int algo_resent_open(struct algo_resent **r, uint32_t n_flows,
    struct sim_err *e);
void algo_resent_close(struct algo_resent *r); /* NULL is fine */

/* Take a packet with N_PAYLOAD bytes; returns 1 if it was sent before. A SYN with
 * another number is a new connection. Cost O(1). */
int algo_resent_packet(struct algo_resent *r, const struct algo_resent_key *key,
    uint32_t seq, uint32_t n_payload, int syn, int fin);

/* Directions that made room for others: what they sent again, if anything, was
 * perhaps not told. */
uint64_t algo_resent_n_forgotten(const struct algo_resent *r);

#endif
