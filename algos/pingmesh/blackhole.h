/* algos/pingmesh/blackhole.h -- ToRs that always drop some pairs or tuples.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Corrupt entries of a switch's tables make black holes: of type 1, certain
 * (source, destination) addresses never get through; of type 2, certain
 * five-tuples do not, while others of the same pair do. Counters show neither.
 *
 * A pair is two servers of the data centre, whoever probed: a connect needs
 * both ways. It is black-holed
 *   type 1  when at least min_failures of its probes timed out, none was
 *	     answered, and each of the two did exchange one with someone
 *	     else: so neither server is dead
 *   type 2  when it was answered, yet one five-tuple timed out at least
 *	     min_failures times and never was; or when spells of time-outs
 *	     outnumber its late connects by min_spells
 * A refusal is an answer. One answer acquits of type 1, so a table must not
 * begin before the fault. A path that merely loses each connect with
 * probability f is taken for a black hole with f^min_failures.
 *
 * Five-tuples repeat only where the prober's ports are few, and Pingmesh takes
 * a new port each time. Spells find type 2 all the same. A pair meets its
 * corrupt five-tuples at random, and such a connect loses all of its SYNs. Mere
 * loss seldom does that: when round trips are lost with probability q and there
 * are m retries, of the connects that lose their first SYN only a share q^m
 * fail, and the others are late, by the first of the table's syn_wait_ns at
 * least. A spell is all time-outs between two answers in order of sending, so
 * that an outage or a reload, however long, is one. By losses alone a pair of n
 * probes is accused with a probability of less than
 *
 *	sum over x >= min_spells + y of  n! / (x! y! (n - x - y)!)
 *	    * q^((m + 1) x) (q - q^(m + 1))^y (1 - q)^(n - x - y),
 *
 * which for 3 spells, m = 2 and any n is below 1e-8 up to q = 0.05, 2e-5 up to
 * 0.2 and 1e-2 up to 0.5. But a path that is cut again and again, each time for
 * longer than a connect takes, is accused. Without syn_wait_ns in the table
 * spells are not looked for.
 *
 * A server is alive when a probe from it, or to it, was answered. What the
 * black-holed pairs say of ToRs is told by one of two rules.
 *
 * likelihood  A ToR is a candidate when it explains pairs that no other ToR
 *	does, nor the switches above, by algos/pingmesh/hole_tors.h. So however
 *	many ToRs are bad they cost each other nothing, and no parameter says
 *	how many there are: false_alarm is the chance that a job accuses any ToR
 *	of a network without a hole. A ToR's score is the share of its pairs
 *	that it is estimated to black-hole; 0 when that is less than half a
 *	pair.
 *
 * paper  A ToR's score is the share of its live servers that show the symptom,
 *	and from `threshold` on it is a candidate. A server shows it when it is
 *	in at least min_pairs black-holed pairs. The default is 2, because a
 *	pair has two ends: servers elsewhere have one peer under each ToR
 *	(Pingmesh pairs those of the same index), so with one bad ToR they are
 *	in one such pair at most, but those under it in many. With k bad ToRs it
 *	takes k + 1, which nobody knows, or good ones are candidates too; and
 *	when they are, all of their pods' are and nobody is accused.
 *
 * If all ToRs of a pod are candidates, the trouble is above them: escalate to
 * those who look after T1 and T2. Else reload the candidates, highest score
 * first (then lowest id), up to max_reloads a day; the rest is deferred. A pod
 * of one ToR is reloaded.
 *
 * What drops nearly everything leaves no server alive and is not a black hole
 * but a dead ToR, which a heat map shows (algos/pingmesh/heatmap.h). A cable of
 * a ToR that silently drops everything looks like type 2 of that ToR by either
 * rule: only pairs within the ToR tell otherwise, and those a hole may spare.
 *
 * Paper  Pingmesh (SIGCOMM'15), section 5.1. DEPARTS: the paper states neither
 *        the symptom nor the threshold; both are ours, spells among them, and
 *        so is the rule `likelihood`, which is the default as by the other no
 *        parameters do for one bad ToR and for many. The paper's pod is our
 *        ToR, its podset our pod.
 */
#ifndef ALGOS_PINGMESH_BLACKHOLE_H
#define ALGOS_PINGMESH_BLACKHOLE_H

#include "models/obs_pairs.h"
#include "models/obs_probes.h"
#include "sim/err.h"
#include "sim/field.h"
#include "topo/dc.h"

enum algo_blackhole_rule { ALGO_BLACKHOLE_LIKELIHOOD, ALGO_BLACKHOLE_PAPER };

struct algo_blackhole_params {
	uint32_t rule; /* enum algo_blackhole_rule */
	double false_alarm;
	uint32_t min_failures, min_pairs;
	uint32_t min_spells; /* 0: five-tuples alone */
	double threshold;
	uint32_t max_reloads;
};
extern const struct sim_field algo_blackhole_fields[];

enum algo_blackhole_action {
	ALGO_BLACKHOLE_NONE,
	ALGO_BLACKHOLE_RELOAD,
	ALGO_BLACKHOLE_DEFER,
	ALGO_BLACKHOLE_ESCALATE
};

struct algo_blackhole_server {
	uint32_t n_type1, n_type2; /* black-holed pairs that it is in */
	uint64_t n_failed;         /* time-outs that it is in */
	uint8_t alive;
};

struct algo_blackhole_tor {
	uint32_t n_alive, n_symptom; /* servers */
	double score; /* by the rule; NaN without a live server */
	enum algo_blackhole_action action;
};

struct algo_blackhole {
	struct algo_blackhole_params params;
	struct topo_dc dc;
	struct algo_blackhole_server *server; /* [hosts], by index */
	struct algo_blackhole_tor *tor;       /* [ToRs], by index */

	/* Workings. */
	uint32_t min_spells; /* 0 as well when the table does not tell */
	uint64_t *suspect; /* pairs with enough time-outs, lower server first */
	size_t n_suspects, cap_suspects;
	struct algo_blackhole_probe *probe; /* of these */
	size_t n, cap;
	struct obs_pair_list listed; /* of a mesh, pairs in trouble */
	struct algo_hole_pair *pair; /* black-holed ones */
	size_t n_pairs, cap_pairs;
	uint8_t *alive;              /* [hosts] */
	struct algo_hole_tor *found; /* [ToRs] */
};

/* Errors SIM_EINVAL (a parameter that the rule has no use for and that is not
 *        at its default), SIM_ENOMEM. */
int algo_blackhole_check(const struct algo_blackhole_params *p,
    struct sim_err *e);

/* Errors those of the check; B is then empty and needs no closing. */
int algo_blackhole_open(struct algo_blackhole *b, const struct topo_dc *dc,
    const struct algo_blackhole_params *params, struct sim_err *e);
void algo_blackhole_close(struct algo_blackhole *b);

/* Judge servers and ToRs by the probes of T within the data centre, when
 * N_RELOADED ToRs were reloaded today. T is read once, and again if servers were in
 * enough time-outs for a pair of them to be black-holed.
 * Errors SIM_EINVAL (a bad probe), SIM_ENOMEM; B is then not to be read.
 * Cost   O(probes + hosts + ToRs * max_reloads), for the probes between servers
 *        with min_failures or min_spells time-outs a search among the pairs with
 *        as many, and for the n probes of these O(n log n) and 32 bytes each. If a
 *        pair is black-holed the rule `likelihood` costs 4 bytes a probe more, and
 *        what algo_hole_tors() does. */
int algo_blackhole_diagnose(struct algo_blackhole *b,
    const struct obs_probe_source *t, uint32_t n_reloaded, struct sim_err *e);

/* Likewise by what others have summed up of a mesh, whose hosts are B's. The
 * verdict is that on its probes. Errors SIM_ENOMEM.
 * Cost   O(rows + hosts + ToRs * max_reloads); if a pair is black-holed the rule
 *        `likelihood` adds O(ToRs * peers + servers that are dead or set aside *
 *        peers), and what algo_hole_tors() does. */
int algo_blackhole_diagnose_pairs(struct algo_blackhole *b,
    const struct obs_pairs *sums, uint32_t n_reloaded, struct sim_err *e);

#endif
