/* algos/pingmesh/hole_pairs.h -- which pairs of servers were probed, and late.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Servers are told by their index in the data centre (topo/dc.h). A pair is
 * listed when both are alive and enough probes went between them to judge it.
 *
 * Losses alone make connects late rather than fail: of the connects that lose
 * their first SYN a share q^m fails, when round trips are lost with probability
 * q and there are m retries. That is at most one half up to q = 0.7 with two
 * retries, and 0.5 with one. So by symmetry a pair is at most as likely to have k failures more than late
 * connects as it is to have k late connects more than failures. The pairs of
 * the second sort are counted as decoys: how many there are bounds how many of
 * the first sort are no black holes.
 */
#ifndef ALGOS_PINGMESH_HOLE_PAIRS_H
#define ALGOS_PINGMESH_HOLE_PAIRS_H

#include "models/obs_probes.h"
#include "sim/err.h"
#include "topo/dc.h"

/* A black-holed pair. */
struct algo_hole_pair {
	uint32_t low, high; /* servers, low < high */
	uint32_t type;      /* 1 or 2 */
};

enum algo_hole_decoy {
	ALGO_HOLE_NO_DECOY,
	ALGO_HOLE_DECOY_2, /* for a pair that seems of type 2 */
	ALGO_HOLE_DECOY_1  /* each probe was late: for one of type 1, too */
};

struct algo_hole_peer {
	uint32_t high : 30;
	uint32_t decoy : 2; /* enum algo_hole_decoy */
};

/* The pairs of which server S is the lower are peer[first[s]] to
 * peer[first[s + 1] - 1], each once. */
struct algo_hole_pairs {
	size_t *first; /* [servers + 1] */
	struct algo_hole_peer *peer;
};

/* List the pairs of DC in T with at least LEAST probes and both ALIVE. Decoys
 * have LEAST late connects more than failures; there are none when the table
 * does not say when connects are late.
 * Errors SIM_ENOMEM; P is then empty and needs no closing.
 * Cost   O(probes + hosts), 4 bytes a probe. */
int algo_hole_pairs_open(struct algo_hole_pairs *p, const struct topo_dc *dc,
    const struct obs_probes *t, const uint8_t alive[], uint32_t least,
    struct sim_err *e);
void algo_hole_pairs_close(struct algo_hole_pairs *p);

#endif
