/* experiments/pingmesh/dsa/batch_set.h -- which batches of agents were taken.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An agent, which is known by (src, born_ns), counts its batches of each
 * kind from 1. So the batches that were taken of it are a few runs of numbers,
 * mostly one, and the set needs memory for agents and gaps, not for batches. */
#ifndef EXPERIMENTS_PINGMESH_DSA_BATCH_SET_H
#define EXPERIMENTS_PINGMESH_DSA_BATCH_SET_H

#include <stddef.h>
#include <stdint.h>

#include "algos/pingmesh/wire.h"
#include "sim/err.h"

struct xp_batch_run {
	uint64_t first, last;
};

struct xp_batch_agent { /* and a kind */
	uint64_t born_ns;
	uint64_t n_lost; /* records, the most that a batch of it said */
	struct topo_ip src;
	enum algo_pingmesh_wire_kind kind;
	size_t n, cap;            /* cap 0: an empty slot */
	struct xp_batch_run *run; /* ascending, with gaps between */
};

/* Zeroed is empty; max_runs is set by the owner. */
struct xp_batch_set {
	size_t max_runs; /* of all agents together; more are refused */
	size_t n_runs, n_agents, n_slots;
	uint64_t n_lost; /* records, of all agents */
	struct xp_batch_agent *slot;
};

void xp_batch_set_free(struct xp_batch_set *s);

/* Cost O(log runs of the agent). */
int xp_batch_set_has(const struct xp_batch_set *s,
    const struct algo_pingmesh_wire_id *id);

/* Make room, so that xp_batch_set_add() of ID cannot fail.
 * Errors SIM_ENOMEM; SIM_ELIMIT, max_runs. */
int xp_batch_set_reserve(struct xp_batch_set *s,
    const struct algo_pingmesh_wire_id *id, struct sim_err *e);

/* Add ID. Domain: xp_batch_set_reserve() of ID was the call before, and ID is
 * not in the set yet.
 * Cost O(runs of the agent). */
void xp_batch_set_add(struct xp_batch_set *s,
    const struct algo_pingmesh_wire_id *id);

/* The three in one: add ID unless it is there. Returns 1 if it was added, 0 if
 * it was there.
 * Errors as xp_batch_set_reserve(). */
int xp_batch_set_take(struct xp_batch_set *s,
    const struct algo_pingmesh_wire_id *id, struct sim_err *e);

#endif
