/* experiments/check/gate.h -- is an algorithm accurate enough? By SPRT.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A gate file is a spec of one point (no `sweep`, `runs`, `smoke` or `claims`)
 * whose trials give one row each (pingmesh.along is none), with a list of
 * gates:
 *
 *	figure: one_fault
 *	topology: { ... }
 *	faults: { count: 1, rate: 1e-2 }
 *	algorithms: [vote, { name: alg1, label: removal, adjust: removal }]
 *	gates:
 *	  - name: "the faulty link ranks first"
 *	    algorithm: vote           # a label of `algorithms`; none when the
 *				      # metric is the trial's own
 *	    metric: worst_first_rate
 *	    at_least: 1
 *	    p0: 0.9
 *	    p1: 0.98
 *
 * What is tested is the rate of successes among independent trials, by Wald's
 * sequential test (sim/stat.h): "good" is said of an algorithm at p0 or below
 * with probability at most about `alpha`, and "bad" of one at p1 or above with
 * at most about `beta`. Between p0 and p1 either may be said. Runs are drawn
 * until every gate of the file is decided; a gate that is not after `max_runs`
 * is "undecided", which counts as failed.
 *
 * A rate that is too high tells of a mistake as one that is too low: with `p2`
 * and `p3` the same test is put from above. Good is what is at least p1 and at
 * most p2, bad what is at most p0 or at least p3. Then "good" is said of a bad
 * rate with probability alpha at most, "bad" of a good one with 2 beta.
 *
 * What a trial is, by `unit`:
 *
 *	run    one epoch. It succeeds if the metric of that run, a ratio or a
 *	       plain one, is `at_least` (or `at_most`) so much. A run that
 *	       measures nothing (0 of 0) is drawn, but is no trial. Runs are
 *	       independent, so alpha and beta are what they say.
 *	flow   each flow the ratio counts: `metric` is a ratio of flows and its
 *	       numerator counts the successes
 *	link   the same for a ratio of links
 *
 * Flows and links of one run share its faults and so depend on each other: for
 * them alpha and beta are those of a test that takes them as independent, and
 * the true error rates are larger. Runs are taken whole: the test looks at the
 * sum after each run, not in between.
 */
#ifndef EXPERIMENTS_CHECK_GATE_H
#define EXPERIMENTS_CHECK_GATE_H

#include <stdio.h>

#include "experiments/spec/spec.h"
#include "sim/stat.h"

enum xp_gate_unit { XP_GATE_RUN, XP_GATE_FLOW, XP_GATE_LINK };
enum { XP_GATE_NO_DEN = UINT32_MAX };

struct xp_gate {
	char name[128], algorithm[64], metric[64];
	uint32_t unit;            /* enum xp_gate_unit */
	double at_least, at_most; /* the one not given is infinite */
	double p0, p1, p2, p3;    /* p2, p3 NaN: no bounds above */
	double alpha, beta;
	uint32_t max_runs;
	int of_trial;      /* the metric is no algorithm's */
	size_t algo;       /* index of its label */
	uint32_t num, den; /* RES_ALGO_* or RES_TRIAL_*; den XP_GATE_NO_DEN: no
			      ratio */
};

/* How far the test of one gate is. */
struct xp_gate_state {
	struct sim_sprt side[2]; /* from below; from above, of failures */
	enum sim_sprt_verdict of_side[2]; /* the first is final */
	enum sim_sprt_verdict verdict;
	double llr;                        /* the lesser of the sides' */
	uint64_t n_runs, n_trials, n_good; /* until it was decided */
};

struct xp_gates {
	struct xp_spec spec;
	size_t n;
	struct xp_gate *gate; /* names are unique */
};

/* Read a gate file; SET as in xp_spec_load(). All mistakes, also those of the
 * spec, are in the message. G need not be initialised and may be freed either
 * way. Errors those of xp_spec_load(). */
int xp_gates_load(struct xp_gates *g, const char *path, const char *const set[],
    size_t n_set, struct sim_err *e);
void xp_gates_free(struct xp_gates *g);

/* Begin the test of a gate that was loaded. */
void xp_gate_begin(const struct xp_gate *g, struct xp_gate_state *s);

/* Take one run, ROW as of xp_trial_run(). After max_runs runs, or once it is
 * decided, nothing changes. Errors SIM_EINVAL if the algorithm does not
 * answer what the metric asks. */
int xp_gate_add(const struct xp_gate *g, struct xp_gate_state *s,
    const double row[], struct sim_err *e);

/* Does the test of G need more runs? */
int xp_gate_open(const struct xp_gate *g, const struct xp_gate_state *s);

/* Test all gates into STATE[g->n], each from run 0 on, with N_WORKERS
 * processes. If N_RUNS is not 0, nothing is decided: the counts are those of so
 * many runs. The same for any N_WORKERS.
 * Errors SIM_EDEP naming the run that failed; those of xp_pool_run(), of
 * xp_trial_open() and of xp_gate_add(). */
int xp_gates_run(struct xp_gates *g, unsigned n_workers, uint32_t n_runs,
    struct xp_gate_state state[], struct sim_err *e);

/* The keys of a gate, of struct xp_gate. */
extern const struct sim_field xp_gate_fields[];

#endif
