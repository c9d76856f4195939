/* models/obs_pairs.h -- what probes between two servers came to, as a table.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Probes of a mesh, in which every server probes each of its peers at a fixed
 * interval and is probed by it. Few pairs have trouble, so the rest need no row:
 * all of their probes, whose number the mesh tells, were answered at once. Of a
 * server that had no answer, and gave none, no pair is listed; and none at all
 * where no probe between two others failed.
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
	uint32_t n_probes[OBS_MESH_LEVELS]; /* of a pair, where all were made */
};

struct obs_pairs {
	struct obs_mesh mesh;
	/* Probes that a host is in, from it or to it. Shape [hosts]. */
	const uint64_t *of_host_answered, *of_host_failed;
	uint8_t tells_late; /* 0: n_late is always 0 */
	SIM_TABLE_ARRAYS(OBS_PAIR_COLUMNS)
};
struct obs_pair {
	SIM_TABLE_FIELDS(OBS_PAIR_COLUMNS)
};
SIM_TABLE(obs_pairs, obs_pair, OBS_PAIR_COLUMNS)

#endif
