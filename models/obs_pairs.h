/* models/obs_pairs.h -- what probes between two servers came to.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Probes of a mesh, in which every server probes each of its peers at a fixed
 * interval and is probed by it. Few pairs have trouble, so only those are listed,
 * for whoever says how much of it counts: of all others so many probes as the
 * mesh tells were answered, nearly all at once. Of a server that had no answer,
 * and gave none, no pair is listed; and none at all where no probe between two
 * others failed.
 *
 * A spell is all time-outs between two answers in order of sending. Late is an
 * answer after the senders' first wait for a SYN-ACK or more.
 *
 * Paper  Pingmesh (SIGCOMM'15), section 5.1, asks about pairs alone. DEPARTS:
 *        its job reads each probe.
 */
#ifndef MODELS_OBS_PAIRS_H
#define MODELS_OBS_PAIRS_H

#include <stddef.h>
#include <stdint.h>

#include "sim/table.h"
#include "topo/ids.h"

/*  X(type, column, units, meaning) */
#define OBS_PAIR_COLUMNS(X)                                                    \
	X(uint32_t, low, "1", "host id of one server")                         \
	X(uint32_t, high, "1", "host id of the other, which is greater")       \
	X(uint32_t, n_probes, "probes", "told of, whoever sent them")          \
	X(uint32_t, n_failed, "probes", "of these, that timed out")            \
	X(uint32_t, n_late, "probes", "of these, that were late")              \
	X(uint32_t, n_spells, "1", "spells of time-outs")                      \
	X(uint32_t, n_dead, "probes",                                          \
	    "most time-outs of a five-tuple that was never answered")

/* Lists of peers: under the same ToR; and under other ToRs, each of the same
 * index, all servers of a ToR under the same ones. Each is the other's peer. */
enum { OBS_MESH_TOR, OBS_MESH_DC, OBS_MESH_LEVELS };

struct obs_mesh {
	const void *arg;
	/* The K-th peer of host H. */
	topo_host (
	    *peer)(const void *arg, unsigned level, topo_host h, uint32_t k);
	uint32_t n_peers[OBS_MESH_LEVELS];
	uint32_t n_probes[OBS_MESH_LEVELS]; /* of a pair at most */
};

struct obs_pair_list {
	SIM_TABLE_ARRAYS(OBS_PAIR_COLUMNS)
};
struct obs_pair {
	SIM_TABLE_FIELDS(OBS_PAIR_COLUMNS)
};
SIM_TABLE(obs_pair_list, obs_pair, OBS_PAIR_COLUMNS)

struct obs_pairs {
	struct obs_mesh mesh;
	/* Probes that a host is in, from it or to it. Shape [hosts]. */
	const uint64_t *of_host_answered, *of_host_failed;
	uint8_t tells_late; /* 0: n_late is always 0 */
	/* The pairs that are in trouble by LEAST, overwriting OUT. Errors
	 * SIM_ENOMEM. Cost that of reading all that is known of pairs. */
	void *arg;
	int (*list)(void *arg, uint32_t least, struct obs_pair_list *out,
	    struct sim_err *e);
};

/* 1 if P has LEAST failures, as many late probes, or fewer than that many. */
static inline int obs_pair_in_trouble(const struct obs_pair *p, uint32_t least)
{
	return p->n_failed >= least || p->n_late >= least ||
	    p->n_probes < least;
}

#endif
