/* experiments/pingmesh/dsa/many.h -- the jobs of many recordings, or a shard.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	recordings, one after the other --> windows --> rows, and a pool
 *
 * One recording is open at a time, so memory does not grow with their number.
 */
#ifndef EXPERIMENTS_PINGMESH_DSA_MANY_H
#define EXPERIMENTS_PINGMESH_DSA_MANY_H

#include "experiments/pingmesh/dsa/out.h"
#include "experiments/pingmesh/dsa/replay.h"
#include "experiments/pingmesh/dsa/set.h"

/* Windows and jobs as of xp_dsa_replay_plan(), of each recording. */
struct xp_dsa_plan {
	sim_ns from, to, window;
	uint32_t jobs;
	struct xp_shard shard;
};

/* Zeroed is empty. */
struct xp_dsa_many {
	struct xp_dsa_plan plan;
	struct xp_dsa_set set;
	struct xp_dsa_share share;
	struct xp_dsa_head head;
	uint64_t n_steps; /* windows of one recording; or recordings of many */

	struct xp_dsa_replay replay; /* of the recording that is open */
	struct xp_dsa_pool pool;
	size_t at; /* which one */
};

/* Open the first recording of the shard. Errors those of xp_dsa_set_open() and
 * of xp_dsa_replay_open() and _plan(), naming the file. M is to be closed in any
 * case. */
int xp_dsa_many_open(struct xp_dsa_many *m, char *const path[], size_t n,
    const struct xp_dsa_plan *plan, struct sim_err *e);
void xp_dsa_many_close(struct xp_dsa_many *m);

/* Run all and add what is found to OUT, a file with M's head. TELL is called
 * after each step. Errors those of xp_dsa_replay_run(); SIM_EMISMATCH for a
 * recording of another network than the first one, or that was replaced. */
int xp_dsa_many_run(struct xp_dsa_many *m, struct xp_dsa_out *out,
    struct xp_dsa_digest *digest, void (*tell)(void *arg), void *arg,
    struct sim_err *e);

#endif
