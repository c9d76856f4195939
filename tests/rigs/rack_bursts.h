/* tests/rigs/rack_bursts.h -- a rack's traffic of two kinds, played and sampled.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Typical: services alone, by the defaults of models/rack/traffic.h; job: beside
 * them one that has `ml_share` of the servers.
 */
#ifndef TESTS_RACK_BURSTS_H
#define TESTS_RACK_BURSTS_H

#include "models/rack/rack.h"
#include "tests/rigs/sampled.h"

struct rack_bursts {
	struct rack_params p; /* 92 servers, else defaults */
	int is_job;
	double ms;     /* of traffic and of buckets */
	uint32_t fine; /* buckets are of 1 ms / fine; 0: of 1 ms */
	double loss;   /* of every eighth server's link, from server 3 on */
	int loss_out;  /* 1: of the link from it, 0: of that to it */
	double stall_at, stall_ms; /* of server 5's NIC; 0: none */
	int apart;                 /* 1: each run starts up to a bucket later */
	uint32_t phase;            /* 0: all start so many slots later */
};

/* Append a run of each server, its host id. Draws by test_seed() and RUN. */
void rack_bursts_sample(struct sampled *s, const struct rack_bursts *b,
    uint32_t run);

/* Bytes that server 5's NIC handed over at once as its stall ended. */
uint64_t rack_bursts_held(const struct rack_bursts *b, uint32_t run);

static inline int rack_bursts_is_bad(uint32_t server)
{
	return server % 8 == 3;
}

#endif
