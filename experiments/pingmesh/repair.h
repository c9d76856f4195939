/* experiments/pingmesh/repair.h -- find black holes, and reload their ToRs.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Every data centre has a black-hole job of its own, and its own number of
 * reloads a day. A reloaded switch has no holes any more, but forwards nothing
 * for a while.
 */
#ifndef EXPERIMENTS_PINGMESH_REPAIR_H
#define EXPERIMENTS_PINGMESH_REPAIR_H

#include "experiments/pingmesh/truth.h"
#include "results/schema.h"
#include "topo/region.h"

/* Zeroed is empty. */
struct xp_repair_shop {
	const struct topo *topo;
	const struct xp_pingmesh *params;
	uint32_t n_dcs;
	struct xp_dsa dsa[TOPO_REGION_MAX_DCS];
	/* [ToRs] 1: a candidate of some job since the run began */
	uint8_t *named[TOPO_REGION_MAX_DCS];
};

/* How many ToRs of a data centre a job named, how many of those had a hole, and
 * what was done with them. */
struct xp_repaired {
	uint32_t n_candidates, n_candidates_true;
	uint32_t n_reloaded, n_deferred, n_escalated;
};

void xp_repaired_add(struct xp_repaired *to, const struct xp_repaired *from);

/* R as metrics. With repairs off (IS_ON 0) the job only names candidates. What
 * was done with them is then not 0 but was never tried, so it stays as it is. */
void xp_repaired_fill(const struct xp_repaired *r, int is_on,
    struct res_trial_metrics *m);

/* S keeps T and P. Errors those of xp_dsa_services_read(), SIM_ENOMEM; S must
 * be closed also when this fails. */
int xp_repair_open(struct xp_repair_shop *s, const struct topo *t,
    const struct xp_pingmesh *p, struct sim_err *e);
void xp_repair_close(struct xp_repair_shop *s);

/* Forget the run before: no ToR is named yet, and no reload of the day done. */
void xp_repair_begin(struct xp_repair_shop *s);

/* Run the job of data centre DC on probes, or pairs, that were SEEN and sent in
 * [from, to). With
 * repair.on do at NOW what it says: the holes of reloaded switches end in
 * TRUTH, where their begin still stands, and their links get faults of rate 1.
 * Errors of algo_blackhole_diagnose(), SIM_ENOMEM. */
int xp_repair_run(struct xp_repair_shop *s, uint32_t dc, const struct obs *seen,
    sim_ns from, sim_ns to, sim_ns now, struct truth *truth,
    struct xp_repaired *out, struct sim_err *e);

/* The ToRs of DC that were candidates in any run so far. */
uint32_t xp_repair_n_named(const struct xp_repair_shop *s, uint32_t dc);

/* Of these, those with a hole in [0, to). */
uint32_t xp_repair_n_named_true(const struct xp_repair_shop *s, uint32_t dc,
    const struct truth *truth, sim_ns to);

#endif
