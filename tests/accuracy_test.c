/* tests/accuracy_test.c -- gates: are the algorithms as accurate as they were?
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A gate asks of one run whether it went well: whether NUM / DEN of its metrics
 * is at least LEAST; runs with DEN = 0 are not asked. Runs are independent, so
 * Wald's sequential test decides between "at most p0 of runs go well" and "at
 * least p1 do" with the error rates stated, in as few runs as that takes; links
 * and flows of one run depend on each other and are never counted one by one.
 *
 * The share of runs that went well of 20,000 stands in front of p0 and p1. Both
 * are well on one side of it: a gate is no golden file but tells what is broken
 * from what is not. The probability that a sound algorithm is judged bad, and
 * that one at p0 is judged good, is 1e-6 a gate.
 */
#include "algos/alg1.h"
#include "algos/cover.h"
#include "algos/vote.h"
#include "experiments/trial.h"
#include "sim/stat.h"
#include "tests/spec_file.h"
#include "tests/test.h"

#define ALPHA 1e-6 /* judged good at p0 */
#define BETA  1e-6 /* judged bad at p1 */

enum { MOST_RUNS = 100000, ROW = RES_N_TRIAL_METRICS + RES_N_ALGO_METRICS };

struct gate {
	const char *name;
	const char *algorithm; /* as in a spec */
	const char *faults;
	unsigned num, den; /* RES_ALGO_* */
	double least;
	double measured;
	double p0, p1; /* shares of runs that go well: bad, good */
};

/* --- broken algorithms -------------------------------------------------- */

static int open_vote(void **work, const struct topo *t, const void *params,
    struct sim_err *e)
{
	(void)params;
	return algo_vote.open(work, t, NULL, e);
}

static void close_vote(void *work)
{
	algo_vote.close(work);
}

/* Votes on the other direction of each cable: what comes of taking the host
 * that reports for the receiver. */
static int diagnose_reversed(void *work, const struct obs *w,
    struct sim_rng *tie, struct algo_verdicts *out, struct sim_err *e)
{
	int rc = algo_vote.diagnose(work, w, tie, out, e);
	for (size_t i = 0; i < out->n; i++)
		out->link[i] = topo_link_reverse(out->link[i]);
	return rc;
}

static double score_of(const struct algo_verdicts *v, topo_link l)
{
	for (size_t i = 0; i < v->n; i++)
		if (v->link[i] == l)
			return v->score[i];
	return 0;
}

/* Blames the hop with the fewest votes. */
static int diagnose_least(void *work, const struct obs *w, struct sim_rng *tie,
    struct algo_verdicts *out, struct sim_err *e)
{
	int rc = algo_vote.diagnose(work, w, tie, out, e);
	for (size_t f = 0; rc == 0 && f < w->flows.n; f++) {
		const topo_link *path = obs_path(w, f);
		topo_link least = path[0];
		for (unsigned i = 1; i < obs_n_hops(w, f); i++)
			if (score_of(out, path[i]) < score_of(out, least))
				least = path[i];
		out->blame[f] = least;
	}
	return rc;
}

static const struct sim_field no_params[] = {{0}};
static const struct algo_ops reversed = {.name = "reversed",
    .needs = ALGO_NEEDS_FLOWS | ALGO_NEEDS_HOPS,
    .params = no_params,
    .params_size = 1,
    .open = open_vote,
    .diagnose = diagnose_reversed,
    .close = close_vote};
static const struct algo_ops least_voted = {.name = "least_voted",
    .needs = ALGO_NEEDS_FLOWS | ALGO_NEEDS_HOPS,
    .params = no_params,
    .params_size = 1,
    .open = open_vote,
    .diagnose = diagnose_least,
    .close = close_vote};

/* In place of algos/registry.c, which the linker then leaves in the library:
 * so the specs below can name the broken ones too. */
const struct algo_ops *const algo_registry[] = {&algo_vote, &algo_alg1,
    &algo_cover, &reversed, &least_voted, NULL};

const struct algo_ops *algo_find(const char *name)
{
	for (const struct algo_ops *const *a = algo_registry; *a; a++)
		if (strcmp((*a)->name, name) == 0)
			return *a;
	return NULL;
}

/* --- gates -------------------------------------------------------------- */

static void open_trial(const struct gate *g, struct xp_spec *spec,
    struct xp_trial **trial)
{
	char text[1024];
	/* 007's simulation (NSDI'18, section 6). */
	snprintf(text, sizeof(text),
	    "figure: gate\nseed: %llu\n"
	    "topology: {n_pods: 2, n_tors: 20, n_t1: 8, n_t2: 10, n_hosts: "
	    "40}\ntraffic: {conns: 60, packets: {uniform: [1, 100]}}\n"
	    "noise: {rate: {uniform: [0, 1e-6]}}\n"
	    "algorithms: [%s]\nfaults: {%s}\n",
	    (unsigned long long)test_seed(), g->algorithm, g->faults);
	spec_open(spec, text);
	assert_ok(xp_trial_open(trial, spec, test_err()));
}

static enum sim_sprt_verdict judge(const struct gate *g, uint64_t *n)
{
	enum sim_sprt_verdict v = SIM_SPRT_GO_ON;
	struct xp_spec spec;
	struct xp_trial *trial;
	struct sim_sprt s;
	double row[ROW];
	open_trial(g, &spec, &trial);
	assert_ok(sim_sprt_init(&s, g->p0, g->p1, ALPHA, BETA, test_err()));
	for (uint32_t r = 0; v == SIM_SPRT_GO_ON && r < MOST_RUNS; r++) {
		assert_ok(xp_trial_run(trial, 0, r, row, test_err()));
		const double *m = row + res_row_doubles(0);
		if (m[g->den] > 0)
			v = sim_sprt_add(&s, m[g->num] >= g->least * m[g->den]);
	}
	xp_trial_close(trial);
	xp_spec_free(&spec);
	*n = s.n;
	return v;
}

static void check(const struct gate gates[], size_t n,
    enum sim_sprt_verdict want)
{
	static const char *const words[] = {"undecided", "good", "bad"};
	int n_wrong = 0;
	for (size_t i = 0; i < n; i++) {
		const struct gate *g = &gates[i];
		uint64_t n_runs;
		assert_true(want == SIM_SPRT_GOOD ? g->measured > g->p1
						  : g->measured < g->p0);
		const enum sim_sprt_verdict v = judge(g, &n_runs);
		print_message("%-42s p0 %.2f  p1 %.2f  %5llu runs  %s%s\n",
		    g->name, g->p0, g->p1, (unsigned long long)n_runs, words[v],
		    v == want ? "" : "  WRONG");
		n_wrong += v != want;
	}
	if (n_wrong > 0)
		fail_msg("seed %llu: %d gates are not as they should be",
		    (unsigned long long)test_seed(), n_wrong);
}

#define REMOVAL   "{name: alg1, total: initial, adjust: removal}"
#define RECALL    RES_ALGO_n_flagged_true, RES_ALGO_n_links_true
#define PRECISION RES_ALGO_n_flagged_true, RES_ALGO_n_flagged
#define WORST     RES_ALGO_worst_first, RES_ALGO_n_worst
#define BLAME     RES_ALGO_hits_fault, RES_ALGO_flows_fault

static void sound_algorithms_pass(void **state)
{
	static const struct gate gates[] = {
	    {"vote: worst first, 1 fault at 1e-2", "vote",
		"count: 1, rate: 1e-2", WORST, 1, 1.0000, 0.9, 0.98},
	    {"vote: worst first, 1 fault at 1e-3", "vote",
		"count: 1, rate: 1e-3", WORST, 1, 0.9999, 0.9, 0.98},
	    {"alg1: accuses the link, 1 fault", REMOVAL, "count: 1", RECALL, 1,
		0.9936, 0.9, 0.97},
	    {"alg1: accuses no good link, 1 fault", REMOVAL, "count: 1",
		PRECISION, 1, 0.8636, 0.6, 0.75},
	    {"alg1: accuses 4 of 5 links", REMOVAL, "count: 5", RECALL, 0.8,
		0.9428, 0.8, 0.9},
	    {"alg1: 4 of 5 accused are faulty, 5 faults", REMOVAL, "count: 5",
		PRECISION, 0.8, 1.0000, 0.9, 0.98},
	    {"blame: right for 95 % of flows, 1 fault", "vote", "count: 1",
		BLAME, 0.95, 0.9953, 0.9, 0.97},
	    {"blame: right for 90 % of flows, 5 faults", "vote", "count: 5",
		BLAME, 0.9, 1.0000, 0.9, 0.98},
	    {"cover: accuses the link, 1 fault", "cover", "count: 1", RECALL, 1,
		0.9936, 0.9, 0.97},
	    {"cover: accuses 4 of 5 links", "cover", "count: 5", RECALL, 0.8,
		0.9996, 0.9, 0.98},
	};
	(void)state;
	check(gates, sizeof(gates) / sizeof(gates[0]), SIM_SPRT_GOOD);
}

static void broken_algorithms_do_not(void **state)
{
	static const struct gate gates[] = {
	    {"votes on the other direction", "reversed", "count: 1, rate: 1e-2",
		WORST, 1, 0, 0.9, 0.98},
	    {"blame on the least voted hop", "least_voted", "count: 1", BLAME,
		0.95, 0, 0.9, 0.97},
	    {"a threshold of half of all votes",
		"{name: alg1, total: initial, adjust: removal, "
		"threshold: 0.5}",
		"count: 5", RECALL, 0.8, 0, 0.8, 0.9},
	    {"no threshold",
		"{name: alg1, total: initial, adjust: removal, "
		"threshold: 0}",
		"count: 1", PRECISION, 1, 0, 0.6, 0.75},
	    {"votes that are not adjusted",
		"{name: alg1, total: initial, adjust: none}", "count: 1",
		PRECISION, 1, 0.0001, 0.6, 0.75},
	};
	(void)state;
	check(gates, sizeof(gates) / sizeof(gates[0]), SIM_SPRT_BAD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sound_algorithms_pass),
	    cmocka_unit_test(broken_algorithms_do_not),
	};
	return cmocka_run_group_tests_name("accuracy", tests, spec_folder_make,
	    spec_folder_remove);
}
