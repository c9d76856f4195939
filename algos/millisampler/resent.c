/* algos/millisampler/resent.c -- what TCP sends again, told by sequence numbers.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Sets of four; who was heard of longest ago makes room.
 */
#include "algos/millisampler/resent.h"

#include <stdlib.h>
#include <string.h>

#include "models/obs_sketch.h"
#include "sim/vec.h"

enum { WAYS = 4 };

struct resent_flow {
	struct algo_resent_key key; /* its version 0: free */
	uint32_t next, first;       /* number after the highest; of the SYN */
	uint32_t has_first;
	uint32_t heard; /* the packet that was last, modulo 2^32 */
};

struct algo_resent {
	struct resent_flow *flow; /* [n_sets][WAYS] */
	uint32_t n_sets, n_packets;
	uint64_t n_forgotten;
};

int algo_resent_open(struct algo_resent **out, uint32_t n_flows,
    struct sim_err *e)
{
	struct algo_resent *r;
	uint32_t n_sets = 1;
	*out = NULL;
	int rc = SIM_ZALLOC(&r, 1, e);
	if (rc < 0)
		return rc;
	while (n_sets < n_flows / WAYS && n_sets < 1u << 28)
		n_sets *= 2;
	r->n_sets = n_sets;
	rc = SIM_ZALLOC(&r->flow, (size_t)n_sets * WAYS, e);
	if (rc < 0)
		algo_resent_close(r);
	else
		*out = r;
	return rc;
}

void algo_resent_close(struct algo_resent *r)
{
	if (!r)
		return;
	free(r->flow);
	free(r);
}

uint64_t algo_resent_n_forgotten(const struct algo_resent *r)
{
	return r->n_forgotten;
}

static uint64_t resent_hash(const struct algo_resent_key *k)
{
	uint64_t x = obs_sketch_mix(k->version, k->src[0]);
	x = obs_sketch_mix(x, k->src[1]);
	x = obs_sketch_mix(x, k->dst[0]);
	x = obs_sketch_mix(x, k->dst[1]);
	return obs_sketch_mix(x, k->ports) >> 16;
}

/* The flow of KEY; one that was free or has made room is without a key. */
static struct resent_flow *resent_find(struct algo_resent *r,
    const struct algo_resent_key *key)
{
	struct resent_flow *set =
	    &r->flow[(resent_hash(key) & (r->n_sets - 1)) * WAYS];
	struct resent_flow *oldest = set;
	for (struct resent_flow *f = set; f < set + WAYS; f++) {
		if (f->key.version == 0)
			return f;
		if (memcmp(&f->key, key, sizeof(*key)) == 0)
			return f;
		if (r->n_packets - f->heard > r->n_packets - oldest->heard)
			oldest = f;
	}
	r->n_forgotten++;
	oldest->key.version = 0;
	return oldest;
}

int algo_resent_packet(struct algo_resent *r, const struct algo_resent_key *key,
    uint32_t seq, uint32_t n_payload, int syn, int fin)
{
	const uint32_t end = seq + n_payload + !!syn + !!fin;
	r->n_packets++;
	/* An acknowledgement alone takes no number. */
	if (end == seq)
		return 0;
	struct resent_flow *f = resent_find(r, key);
	f->heard = r->n_packets;
	if (f->key.version == 0 ||
	    (syn && (!f->has_first || f->first != seq))) {
		f->key = *key;
		f->next = end;
		f->has_first = syn != 0;
		f->first = seq;
		return 0;
	}
	const int again = (int32_t)(seq - f->next) < 0;
	if ((int32_t)(end - f->next) > 0)
		f->next = end;
	return again;
}
