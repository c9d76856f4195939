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

#include "models/obs_pairs.h"
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
 * peer[first[s + 1] - 1], each once. Or they are those of a mesh, which need no
 * list but for those in trouble. */
struct algo_hole_pairs {
	size_t *first; /* [servers + 1] */
	struct algo_hole_peer *peer;

	const struct obs_pairs *mesh;       /* NULL: all pairs are in peer[] */
	const struct obs_pair_list *listed; /* those in trouble by `least` */
	const struct topo_dc *dc;
	const uint8_t *alive; /* [servers] */
	uint32_t least;
};

/* N pairs of the ToRs of servers LOW and HIGH, or -1 to take one back; and how
 * many decoys of either type are among them. */
struct algo_hole_count {
	uint32_t low, high;
	int32_t n;
	uint32_t n_decoys[2]; /* of type 1; of type 2 or 1 */
};

/* N pairs of servers under a ToR with others in a pod; each pair between two ToRs
 * is told as of either, and N_ONCE of those told here are not as of the other. */
struct algo_hole_bundle {
	uint32_t tor, pod;
	uint64_t n, n_once;
};

/* Who is told of pairs, and of many at once where those of all servers are told.
 * Pairs within a ToR are told by themselves. */
struct algo_hole_hearer {
	void *arg;
	void (*hear)(void *arg, const struct algo_hole_count *c);
	void (*hear_many)(void *arg, const struct algo_hole_bundle *b);
};

/* List the pairs of DC in T with at least LEAST probes and both ALIVE. Decoys
 * have LEAST late connects more than failures; there are none when the table
 * does not say when connects are late.
 * Errors SIM_ENOMEM; P is then empty and needs no closing.
 * Cost   O(probes + hosts), 4 bytes a probe; T is read twice. */
int algo_hole_pairs_open(struct algo_hole_pairs *p, const struct topo_dc *dc,
    const struct obs_probe_source *t, const uint8_t alive[], uint32_t least,
    struct sim_err *e);
void algo_hole_pairs_close(struct algo_hole_pairs *p);

/* Likewise of a mesh, whose pairs in trouble by LEAST are LISTED. P keeps DC,
 * MESH, LISTED and ALIVE, and needs no closing. */
void algo_hole_pairs_of_mesh(struct algo_hole_pairs *p,
    const struct topo_dc *dc, const struct obs_pairs *mesh,
    const struct obs_pair_list *listed, const uint8_t alive[], uint32_t least);

/* How many pairs each of N_HOSTS servers is in. Shape n[n_hosts], overwritten.
 * Cost O(pairs); of a mesh O(hosts + rows + dead servers * peers). */
void algo_hole_pairs_of_servers(const struct algo_hole_pairs *p,
    uint32_t n_hosts, uint32_t n[]);

/* Tell of all pairs of which neither server is ASIDE, in any order.
 * Cost O(pairs); of a mesh O(ToRs * peers + rows + servers that are dead or
 * aside * peers), where all ToRs are peers O(ToRs * pods) in place of the first. */
void algo_hole_pairs_tell(const struct algo_hole_pairs *p, uint32_t n_hosts,
    const uint8_t aside[], const struct algo_hole_hearer *to);

/* What a pair is with as many probes, late ones and time-outs. */
enum algo_hole_decoy algo_hole_decoy_of(uint32_t n, uint32_t n_late,
    uint32_t n_failed, uint32_t least);

#endif
