/* experiments/pingmesh/repair.h -- find black holes, and reload their ToRs.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Every data centre has a job and a budget of reloads a day of its own. A
 * reloaded switch has no holes any more, but forwards nothing for a while.
 */
#ifndef EXPERIMENTS_PINGMESH_REPAIR_H
#define EXPERIMENTS_PINGMESH_REPAIR_H

#include "experiments/pingmesh/truth.h"
#include "topo/region.h"

/* Zeroed is empty. */
struct xp_repair_shop {
	const struct topo *topo;
	const struct xp_pingmesh *params;
	uint32_t n_dcs;
	struct xp_dsa dsa[TOPO_REGION_MAX_DCS];
	uint8_t *named[TOPO_REGION_MAX_DCS]; /* [ToRs] candidates since the run
						began */
};

/* What a run of the job came to in one data centre. */
struct xp_repaired {
	uint32_t n_candidates, n_candidates_true;
	uint32_t n_reloaded, n_deferred, n_escalated;
};

/* Errors those of the service's list, SIM_ENOMEM; S may be closed either way. */
int xp_repair_open(struct xp_repair_shop *s, const struct topo *t,
    const struct xp_pingmesh *p, struct sim_err *e);
void xp_repair_close(struct xp_repair_shop *s);

/* A run of the world begins. */
void xp_repair_begin(struct xp_repair_shop *s);

/* Run the job of data centre DC on table T, of probes sent in [from, to), and
 * with repair.on do at NOW what it says: holes end in TRUTH, which still tells
 * when there were any, and links get faults of rate 1.
 * Errors of algo_blackhole_diagnose(), SIM_ENOMEM. */
int xp_repair_run(struct xp_repair_shop *s, uint32_t dc,
    const struct obs_probes *t, sim_ns from, sim_ns to, sim_ns now,
    struct truth *truth, struct xp_repaired *out, struct sim_err *e);

/* The ToRs of DC that were candidates in any run so far. */
uint32_t xp_repair_n_named(const struct xp_repair_shop *s, uint32_t dc);

/* Of these, those with a hole in [0, to). */
uint32_t xp_repair_n_named_true(const struct xp_repair_shop *s, uint32_t dc,
    const struct truth *truth, sim_ns to);

#endif
