/* experiments/pingmesh/judge.h -- what jobs make of a table, beside the truth.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_PINGMESH_JUDGE_H
#define EXPERIMENTS_PINGMESH_JUDGE_H

#include "experiments/pingmesh/truth.h"
#include "results/schema.h"

/* Counts of probes of one kind, and what they met. Q is the sum, over the
 * probes that connected, of the probability that the round trip of each was
 * lost. Only those that connected are in it because the drop rate is read from
 * them, so Q / n_connected is what the drop rate should be. */
struct xp_tally {
	uint64_t n_probes, n_connected, n_unconnected, n_drop, n_unclear;
	uint64_t n_crossed; /* switches on the probes' ways */
	double q;
};

/* Counts by group, and of the scope whose service level is reported: the probes
 * that the service's servers (or, without a service, all servers) sent within
 * the data centre. */
struct xp_tallies {
	struct xp_tally group[ALGO_DROP_N_GROUPS], scope;
};

struct xp_judge {
	const struct xp_pingmesh *params;
	struct xp_dsa *dsa; /* of that data centre */
	struct algo_drop_ladder ladder;
	int has_service;
};

/* DSA must be that of data centre params->dc. J keeps P and DSA. Errors those
 * of xp_dsa_ladder(). */
int xp_judge_open(struct xp_judge *j, const struct xp_pingmesh *p,
    struct xp_dsa *dsa, struct sim_err *e);

/* Add the probes of T to SUM. Cost O(probes * hops). */
void xp_judge_tally(const struct xp_judge *j, const struct obs_probes *t,
    struct xp_true_loss *loss, struct xp_tallies *sum);
void xp_tallies_add(struct xp_tallies *to, const struct xp_tallies *from);

/* A tally as metrics: n_probes to true_drop_rate. */
void xp_tally_fill(const struct xp_tally *t, struct res_trial_metrics *m);

/* What D's service level is: of its first service, or of the data centre; and
 * what a pattern and a tier come to. Fill M as xp_judge_run() does. */
void xp_judge_level(const struct xp_dsa *d, int has_service,
    struct res_trial_metrics *m);
void xp_judge_patterns(const struct xp_pingmesh *p,
    enum algo_heatmap_pattern pattern, enum algo_silent_drop_tier tier,
    enum xp_trouble trouble, struct res_trial_metrics *m);

/* Run the jobs on T and fill M: the service level and its verdict, the pattern
 * of the heat map (whose matrix is left in DSA), and the tier that drops.
 * TROUBLE is what was broken while the probes were under way. A pattern is
 * right if it is `expect` in trouble and normal in calm; while things change it
 * is not judged. Likewise the tier, with `expect_tier`. Errors those of the
 * analyses.
 *
 * Memory that of xp_dsa_measure(): 16 bytes a probe of one table, and 2.7 of
 * those of several. So where a run has no windows each probe costs the 20 bytes that
 * it is held in (held.h) and these 2.7. */
int xp_judge_run(struct xp_judge *j, const struct obs_probe_source *t,
    enum xp_trouble trouble, struct res_trial_metrics *m, struct sim_err *e);

#endif
