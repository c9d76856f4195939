/* tests/experiments/sweep/trial_test.c -- cells: repeatable, planes, networks.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <gsl/gsl_rstat.h>
#include <unistd.h>

#include "experiments/sweep/trial.h"
#include "tests/rigs/spec_file.h"
#include "tests/test.h"

#define HEAD "figure: f\n"
#define SMALL                                                                  \
	HEAD "topology: {n_pods: 2, n_tors: 4, n_t1: 3, n_t2: 2, "             \
	     "n_hosts: 3}\n"

enum {
	MAX_ALGOS = 3,
	MAX_ROW = RES_N_TRIAL_METRICS + MAX_ALGOS * RES_N_ALGO_METRICS
};

struct rig {
	struct xp_spec spec;
	struct xp_trial *trial;
	size_t row_bytes;
};

static void open_rig(struct rig *g, const char *text, size_t n_algos)
{
	spec_open(&g->spec, text);
	assert_ok(xp_trial_open(&g->trial, &g->spec, test_err()));
	assert_true(n_algos <= MAX_ALGOS);
	g->row_bytes = res_row_doubles(n_algos) * sizeof(double);
}

static void close_rig(struct rig *g)
{
	xp_trial_close(g->trial);
	xp_spec_free(&g->spec);
}

static void run(struct rig *g, size_t point, uint32_t r, double row[])
{
	assert_ok(xp_trial_run(g->trial, point, r, row, test_err()));
}

static double algo(const double row[], size_t i, unsigned metric)
{
	return row[res_row_doubles(i) + metric];
}

/* --- repeatable --------------------------------------------------------- */

#define MIXED                                                                  \
	SMALL "algorithms: [{name: vote, tie: random}, alg1, cover]\n"         \
	      "faults: {rate: 0.02}\n"                                         \
	      "sweep: {grid: {faults.count: [1, 3], plane: [skip, "            \
	      "exact], traffic.conns: [20, {uniform: [5, 40]}]}}\n"
/* Networks that grow and shrink, with tables and without. */
#define NETWORKS                                                               \
	HEAD "algorithms: [vote, alg1, cover]\nfaults: {rate: 0.05}\n"         \
	     "traffic: {conns: 10}\nsweep: {grid: {topology: [{n_pods: 1, "    \
	     "n_tors: 3, n_t1: 2, n_hosts: 2}, {kind: fat_tree, k: 6}, "       \
	     "{n_hosts: 2}, {kind: fat_tree, k: 4}], traffic.dst: [uniform, "  \
	     "skewed]}}\n"

enum { N_POINTS = 8, N_RUNS = 5, N_CELLS = N_POINTS * N_RUNS };

static void check_order(const char *text)
{
	double want[N_CELLS][MAX_ROW], row[MAX_ROW];
	struct rig fresh, used;
	struct sim_rng r;
	for (size_t i = 0; i < N_CELLS; i++) {
		open_rig(&fresh, text, 3);
		assert_int_equal(fresh.spec.n_points, N_POINTS);
		run(&fresh, i / N_RUNS, i % N_RUNS, want[i]);
		close_rig(&fresh);
	}
	open_rig(&used, text, 3);
	test_rng(&r, 1);
	for (size_t n = 0; n < 5 * N_CELLS; n++) {
		size_t i =
		    n < N_CELLS ? N_CELLS - 1 - n : sim_rng_below(&r, N_CELLS);
		run(&used, i / N_RUNS, (uint32_t)(i % N_RUNS), row);
		if (memcmp(row, want[i], used.row_bytes) != 0)
			fail_msg("seed %llu: cell %zu differs the %zuth time",
			    (unsigned long long)test_seed(), i, n);
	}
	close_rig(&used);
}

static void a_cell_is_the_same_bits_in_any_order(void **state)
{
	(void)state;
	check_order(MIXED);
	check_order(NETWORKS);
}

static void two_trials_of_one_spec_do_not_meet(void **state)
{
	double a[MAX_ROW], b[MAX_ROW], want[MAX_ROW];
	struct rig g;
	struct xp_trial *other;
	(void)state;
	open_rig(&g, MIXED, 3);
	assert_ok(xp_trial_open(&other, &g.spec, test_err()));
	run(&g, 6, 2, want);
	assert_ok(xp_trial_run(other, 1, 3, b, test_err()));
	run(&g, 6, 2, a);
	assert_memory_equal(a, want, g.row_bytes);
	xp_trial_close(other);
	close_rig(&g);
}

static void runs_and_seeds_differ(void **state)
{
	double a[MAX_ROW], b[MAX_ROW];
	struct rig g;
	(void)state;
	open_rig(&g, SMALL "algorithms: [vote]\nfaults: {rate: 0.05}\n", 1);
	run(&g, 0, 0, a);
	run(&g, 0, 1, b);
	assert_memory_not_equal(a, b, g.row_bytes);
	close_rig(&g);
	open_rig(&g,
	    SMALL "algorithms: [vote]\nfaults: {rate: 0.05}\nseed: 2\n", 1);
	run(&g, 0, 0, b);
	assert_memory_not_equal(a, b, g.row_bytes);
	close_rig(&g);
}

static void algorithms_break_ties_each_for_itself(void **state)
{
	double row[MAX_ROW];
	struct rig g;
	int n_unlike = 0;
	(void)state;
	open_rig(&g,
	    SMALL "algorithms: [{name: vote, tie: random}, "
		  "{name: vote, tie: random, label: b}]\n"
		  "noise: {rate: 1e-3}\n",
	    2);
	for (uint32_t r = 0; r < 20; r++) {
		run(&g, 0, r, row);
		n_unlike += algo(row, 0, RES_ALGO_hits_all) !=
		    algo(row, 1, RES_ALGO_hits_all);
	}
	assert_true(n_unlike > 0);
	close_rig(&g);
}

/* --- what a row holds --------------------------------------------------- */

static void a_row_is_laid_out_as_the_schema_says(void **state)
{
	double row[MAX_ROW + 1];
	struct rig g;
	(void)state;
	open_rig(&g,
	    SMALL "algorithms: [vote, alg1, cover]\n"
		  "traffic: {conns: 7, packets: 10}\nnoise: {rate: 0}\n"
		  "faults: [{count: 2, rate: 1, classes: [t1-tor]}, "
		  "{links: [tor0->t1.0], rate: 0.5}]\n",
	    3);
	for (size_t i = 0; i <= MAX_ROW; i++)
		row[i] = -7;
	run(&g, 0, 0, row);
	assert_true(row[MAX_ROW] == -7);
	assert_true(row[RES_TRIAL_n_flows] == 24 * 7);
	assert_true(row[RES_TRIAL_n_faults] == 3);
	/* Without noise only links with faults drop. */
	assert_true(row[RES_TRIAL_n_failed_flows] > 0);
	assert_true(
	    row[RES_TRIAL_n_fault_flows] == row[RES_TRIAL_n_failed_flows]);
	for (size_t i = 0; i < 3; i++) {
		assert_true(algo(row, i, RES_ALGO_flows_all) ==
		    row[RES_TRIAL_n_failed_flows]);
		assert_true(algo(row, i, RES_ALGO_n_top) == 3);
		assert_true(algo(row, i, RES_ALGO_n_worst) == 1);
	}
	assert_true(isnan(algo(row, 0, RES_ALGO_n_flagged)));
	assert_true(algo(row, 1, RES_ALGO_n_links_true) == 3);
	assert_true(algo(row, 2, RES_ALGO_n_flagged) > 0);
	close_rig(&g);
}

static void without_faults_and_noise_nothing_is_said(void **state)
{
	double row[MAX_ROW];
	struct rig g;
	(void)state;
	for (int plane = 0; plane < 2; plane++) {
		open_rig(&g,
		    plane ? SMALL "algorithms: [vote, alg1]\nplane: exact\n"
				  "noise: {rate: 0}\n"
			  : SMALL "algorithms: [vote, alg1]\nplane: skip\n"
				  "noise: {rate: 0}\n",
		    2);
		run(&g, 0, 0, row);
		assert_true(row[RES_TRIAL_n_flows] == 24 * 60);
		assert_true(row[RES_TRIAL_n_failed_flows] == 0);
		assert_true(row[RES_TRIAL_n_faults] == 0);
		assert_true(algo(row, 0, RES_ALGO_n_worst) == 0);
		assert_true(isnan(algo(row, 0, RES_ALGO_worst_rank)));
		assert_true(algo(row, 1, RES_ALGO_n_flagged) == 0);
		assert_true(algo(row, 1, RES_ALGO_n_links_true) == 0);
		close_rig(&g);
	}
	/* With noise, flows fail but no link is faulty. */
	open_rig(&g, SMALL "algorithms: [vote]\nnoise: {rate: 1e-3}\n", 1);
	run(&g, 0, 0, row);
	assert_true(row[RES_TRIAL_n_failed_flows] > 0);
	assert_true(row[RES_TRIAL_n_fault_flows] == 0);
	assert_true(algo(row, 0, RES_ALGO_flows_fault) == 0);
	close_rig(&g);
}

/* --- common random numbers ---------------------------------------------- */

static int n_equal_trials(const char *text, int *n_other_flags)
{
	double a[MAX_ROW], b[MAX_ROW];
	struct rig g;
	int n = 0;
	*n_other_flags = 0;
	open_rig(&g, text, 2);
	for (uint32_t r = 0; r < 20; r++) {
		run(&g, 0, r, a);
		run(&g, 1, r, b);
		/* The epoch's metrics and those of the vote. */
		n += memcmp(a, b, res_row_doubles(1) * sizeof(a[0])) == 0;
		*n_other_flags += algo(a, 1, RES_ALGO_n_flagged) !=
		    algo(b, 1, RES_ALGO_n_flagged);
	}
	close_rig(&g);
	return n;
}

#define THRESHOLDS                                                             \
	SMALL "algorithms: [vote, {name: alg1}]\nfaults: {count: 3, rate: "    \
	      "0.05}\nsweep: {grid: {algorithms.1.threshold: [0.01, "          \
	      "0.3]}}\n"

static void points_share_their_random_numbers_unless_told(void **state)
{
	int n_other;
	(void)state;
	assert_int_equal(n_equal_trials(THRESHOLDS, &n_other), 20);
	assert_true(n_other > 0);
	assert_int_equal(n_equal_trials(THRESHOLDS "common: true\n", &n_other),
	    20);
	assert_int_equal(n_equal_trials(THRESHOLDS "common: false\n", &n_other),
	    0);
}

/* --- planes ------------------------------------------------------------- */

/* Do points 0 and 1 of a spec give the same bits over some runs? */
static int same_points(const char *text)
{
	double a[MAX_ROW], b[MAX_ROW];
	struct rig g;
	int same = 1;
	open_rig(&g, text, 1);
	for (uint32_t r = 0; r < 10; r++) {
		run(&g, 0, r, a);
		run(&g, 1, r, b);
		same &= memcmp(a, b, g.row_bytes) == 0;
	}
	close_rig(&g);
	return same;
}

#define PLANES(other)                                                          \
	"algorithms: [vote]\nfaults: {rate: 0.05}\nsweep: {grid: "             \
	"{plane: [auto, " other "]}}\n"

static void auto_skips_where_that_fits_and_only_there(void **state)
{
	(void)state;
	assert_true(same_points(SMALL PLANES("skip")));
	assert_false(same_points(SMALL PLANES("exact")));
	assert_true(same_points(
	    SMALL "traffic: {dst: skewed, n_hot: 2}\n" PLANES("skip")));
	assert_true(same_points(
	    SMALL "latency: {report_over: 10000}\n" PLANES("exact")));
	assert_true(same_points(
	    HEAD "topology: {kind: fat_tree, k: 4}\n" PLANES("skip")));
	assert_true(same_points(SMALL
	    "algorithms: [vote]\nfaults: {links: [host3->tor1], rate: 0.1}\n"
	    "sweep: {grid: {plane: [auto, skip]}}\n"));
}

/* Welch's z of two samples' means. */
static double z_of(const gsl_rstat_workspace *a, const gsl_rstat_workspace *b)
{
	double var = gsl_rstat_variance(a) / (double)gsl_rstat_n(a) +
	    gsl_rstat_variance(b) / (double)gsl_rstat_n(b);
	double gap = gsl_rstat_mean(a) - gsl_rstat_mean(b);
	return var > 0 ? gap / sqrt(var) : gap == 0 ? 0 : INFINITY;
}

/* Points 0 and 1 of TEXT agree in the mean of what counts. Each z is beyond 5
 * by chance once in 1.7 million; RUNS are independent. */
static void assert_alike(const char *text, uint32_t runs)
{
	enum { N_STATS = 5 };
	gsl_rstat_workspace *m[2][N_STATS];
	double row[MAX_ROW];
	char seeded[2048];
	struct rig g;
	snprintf(seeded, sizeof(seeded), "%sseed: %llu\n", text,
	    (unsigned long long)test_seed());
	open_rig(&g, seeded, 2);
	for (size_t p = 0; p < 2; p++) {
		for (size_t i = 0; i < N_STATS; i++)
			m[p][i] = gsl_rstat_alloc();
		for (uint32_t r = 0; r < runs; r++) {
			/* Other runs, as faults and noise would be shared. */
			run(&g, p, r + (uint32_t)p * runs, row);
			const double stat[N_STATS] =
			    {row[RES_TRIAL_n_failed_flows],
				row[RES_TRIAL_n_drops],
				algo(row, 0, RES_ALGO_hits_all) /
				    algo(row, 0, RES_ALGO_flows_all),
				algo(row, 1, RES_ALGO_n_flagged),
				algo(row, 1, RES_ALGO_n_flagged_true)};
			for (size_t i = 0; i < N_STATS; i++)
				gsl_rstat_add(stat[i], m[p][i]);
		}
	}
	close_rig(&g);
	for (size_t i = 0; i < N_STATS; i++) {
		double z = z_of(m[0][i], m[1][i]);
		if (!(fabs(z) < 5))
			fail_msg("seed %llu: statistic %zu: means %g and %g, z "
				 "= %g",
			    (unsigned long long)test_seed(), i,
			    gsl_rstat_mean(m[0][i]), gsl_rstat_mean(m[1][i]),
			    z);
		gsl_rstat_free(m[0][i]);
		gsl_rstat_free(m[1][i]);
	}
}

static void both_planes_give_the_same_statistics(void **state)
{
	(void)state;
	assert_alike(SMALL
	    "algorithms: [vote, {name: alg1, total: initial, adjust: "
	    "removal, threshold: 0.05}]\nnoise: {rate: 1e-4}\n"
	    "faults: {count: 2, rate: 0.01}\n"
	    "sweep: {grid: {plane: [skip, exact]}}\n",
	    2000);
}

static void pods_can_be_swapped(void **state)
{
	(void)state;
	/* Pod 0 has tor0-3 and t1.0-2, pod 1 tor4-7 and t1.3-5. */
	assert_alike(SMALL
	    "algorithms: [vote, alg1]\nnoise: {rate: 1e-4}\nfaults: {rate: "
	    "0.02}\nsweep: {grid: {faults.links: [[tor1->t1.2, t1.0->t2.1, "
	    "t1.4->tor6], [tor6->t1.4, t1.3->t2.0, t1.1->tor2]]}}\n",
	    1000);
}

/* 007's votes under the rules of its released code, at its size: within about
 * 0.015 of what an independent simulator of 007 gave for 5 and 10 failed links,
 * .974 to .978 and .992 to .997. Over 20 epochs, about 8,500 flows. */
static void the_released_simulators_accuracy_is_in_its_range(void **state)
{
	(void)state;
	double row[MAX_ROW], hits[2] = {0}, flows[2] = {0};
	struct rig g;
	open_rig(&g,
	    HEAD "topology: {n_pods: 2, n_tors: 20, n_t1: 8, n_t2: 10, "
		 "n_hosts: 40}\nplane: vigil_matlab\ntraffic: {conns: 60}\n"
		 "faults: {pick: matlab, count: 6, same_switch: 0.1}\n"
		 "algorithms: [{name: vote, noise: floor, tie: matlab}]\n",
	    1);
	for (uint32_t r = 0; r < 20; r++) {
		run(&g, 0, r, row);
		hits[0] += algo(row, 0, RES_ALGO_hits_fault);
		flows[0] += algo(row, 0, RES_ALGO_flows_fault);
		hits[1] += algo(row, 0, RES_ALGO_hits_released);
		flows[1] += algo(row, 0, RES_ALGO_flows_released);
	}
	assert_true(flows[0] > 5000);
	assert_in_range((int)(1000 * hits[0] / flows[0]), 985, 1000);
	assert_in_range((int)(1000 * hits[1] / flows[1]), 965, 995);
	close_rig(&g);
}

/* --- networks ----------------------------------------------------------- */

/* Without noise every failed flow crossed the one bad link, so no link has more
 * votes, whatever the network. */
static void check_network(const char *topology)
{
	char text[1024];
	double row[MAX_ROW];
	struct rig g;
	int n_lossy = 0;
	snprintf(text, sizeof(text),
	    HEAD "topology: %s\nalgorithms: [vote, alg1, cover]\n"
		 "noise: {rate: 0}\nfaults: {count: 1, rate: 0.05, pick: "
		 "link}\n",
	    topology);
	open_rig(&g, text, 3);
	for (uint32_t r = 0; r < 30; r++) {
		run(&g, 0, r, row);
		if (row[RES_TRIAL_n_failed_flows] == 0)
			continue;
		n_lossy++;
		assert_true(algo(row, 0, RES_ALGO_worst_first) == 1);
		assert_true(algo(row, 0, RES_ALGO_worst_rank) == 1);
		assert_true(algo(row, 0, RES_ALGO_flows_fault) ==
		    row[RES_TRIAL_n_failed_flows]);
		/* One link lies on the paths of all failed flows, so a minimal
		 * cover has that link alone. */
		assert_true(algo(row, 1, RES_ALGO_n_flagged) >= 1);
		assert_true(algo(row, 2, RES_ALGO_n_flagged) == 1);
	}
	assert_true(n_lossy >= 15);
	close_rig(&g);
}

static void the_bad_link_ranks_first_in_every_kind_of_network(void **state)
{
	char here[512], jellyfish[600];
	(void)state;
	assert_non_null(getcwd(here, sizeof(here)));
	snprintf(jellyfish, sizeof(jellyfish),
	    "{kind: graphml, file: \"%s/tests/data/jellyfish.graphml\"}", here);
	check_network("{}");
	check_network("{n_pods: 1, n_tors: 6, n_t1: 3, n_t2: 0, n_hosts: 4}");
	check_network("{kind: fat_tree, k: 4}");
	check_network("{kind: fat_tree, k: 8}");
	check_network(jellyfish);
}

/* --- print, memory ------------------------------------------------------ */

/* What is printed of cell 0 of YAML, with N_ALGOS, holds each of N texts. */
static void assert_prints(const char *yaml, size_t n_algos,
    const char *const want[], size_t n)
{
	double row[MAX_ROW];
	char *text = NULL;
	size_t n_text;
	struct rig g;
	open_rig(&g, yaml, n_algos);
	run(&g, 0, 0, row);
	FILE *out = open_memstream(&text, &n_text);
	xp_trial_print(g.trial, out);
	fclose(out);
	for (size_t i = 0; i < n; i++)
		if (!strstr(text, want[i]))
			fail_msg("prints no %s:\n%s", want[i], text);
	free(text);
	close_rig(&g);
}

static void a_cell_prints_its_faults_and_verdicts(void **state)
{
	static const char *const want[] =
	    {"24 hosts, 16 switches, 120 directed", "1 faults\n  tor0->t1.1",
		"(plane skip)", "accused FAULTY"};
	(void)state;
	assert_prints(SMALL "algorithms: [vote, alg1]\nnoise: {rate: 0}\n"
			    "faults: {links: [tor0->t1.1], rate: 0.5}\n",
	    2, want, 4);
}

static void a_cell_prints_who_has_nothing_to_read(void **state)
{
	static const char *const want[] = {"\ndetector\n  reads probes along "
					   "known paths (a1); there are none\n"
					   "flock\n"};
	(void)state;
	assert_prints("figure: f\nplane: telemetry\nunable: skip\n"
		      "topology: {kind: fat_tree, k: 4}\nfaults: {rate: 0.05}\n"
		      "telemetry: {flows: 40}\nalgorithms: [detector, flock]\n"
		      "sweep: {grid: {telemetry.kinds: [[int], [a1]]}}\n",
	    2, want, 1);
}

/* The faults that stand for holes and outages on links are not printed beside
 * these. */
static void a_cell_prints_its_holes_and_outages(void **state)
{
	static const char *const want[] = {
	    "0 faults\n"
	    "2 black holes\n"
	    "  tor3                     type 1, 0.25 of its entries\n"
	    "  t2.0                     type 2, 0.5 of its entries, from 2 s "
	    "to 7.5 s\n"
	    "1 outages\n"
	    "  host5                    off, from 3 s\n"};
	(void)state;
	assert_prints(SMALL
	    "algorithms: [vote]\nfaults:\n"
	    "  - {kind: black_hole_1, at: [tor3], entries: 0.25}\n"
	    "  - {kind: black_hole_2, at: [t2.0], entries: 0.5, from: 2, "
	    "to: 7.5}\n"
	    "  - {kind: host_off, at: [host5], from: 3}\n",
	    1, want, 1);
}

static int run_two(void *arg, struct sim_err *e)
{
	double row[MAX_ROW];
	struct xp_trial *t;
	int rc = xp_trial_open(&t, arg, e);
	if (rc < 0)
		return rc;
	if ((rc = xp_trial_run(t, 2, 0, row, e)) == 0)
		rc = xp_trial_run(t, 5, 1, row, e);
	xp_trial_close(t);
	return rc;
}

static void no_allocation_is_taken_for_granted(void **state)
{
	struct rig g;
	(void)state;
	open_rig(&g, MIXED, 3);
	test_each_alloc_fails(run_two, &g.spec);
	close_rig(&g);
}

/* --- probes ------------------------------------------------------------- */

#define PINGS                                                                  \
	HEAD "plane: pingmesh\nalgorithms: [blackhole, {name: blackhole, "     \
	     "label: b}]\nnoise: {rate: 0.01}\ntopology: {n_pods: 2, "         \
	     "n_tors: 2, n_t1: 2, n_t2: 2, n_hosts: 2}\n"

static void a_run_of_probes_has_a_row_a_window(void **state)
{
	enum { N = 4, ROW = RES_N_TRIAL_METRICS + 2 * RES_N_ALGO_METRICS };
	double a[N][ROW], b[N][ROW], whole[ROW], n = 0;
	struct rig g;
	(void)state;
	open_rig(&g,
	    PINGS "pingmesh: {duration: 800, window: 200, along: window}\n", 2);
	assert_int_equal(g.spec.n_along, N);
	run(&g, 0, 1, b[0]);
	run(&g, 0, 0, a[0]);
	assert_memory_not_equal(a, b, sizeof(a));
	run(&g, 0, 1, a[0]);
	assert_memory_equal(a, b, sizeof(a));
	for (size_t i = 0; i < N; i++) {
		assert_true(a[i][RES_TRIAL_n_live_agents] == 8);
		assert_true(isnan(a[i][RES_TRIAL_n_flows]));
		n += a[i][RES_TRIAL_n_probes];
	}
	close_rig(&g);
	open_rig(&g, PINGS "pingmesh: {duration: 800, window: 200}\n", 2);
	run(&g, 0, 1, whole);
	assert_true(whole[RES_TRIAL_n_probes] == n && n > 500);
	close_rig(&g);
}

/* Without traces a window of probes has no flows, and algorithms that read
 * flows have none to blame. */
static void algorithms_of_flows_have_none_to_blame(void **state)
{
	double row[RES_N_TRIAL_METRICS + 2 * RES_N_ALGO_METRICS];
	struct rig g;
	(void)state;
	open_rig(&g,
	    PINGS "faults: {count: 1, rate: 0.1}\npingmesh: {duration: 400, "
		  "window: 200, detect: true}\n",
	    2);
	run(&g, 0, 0, row);
	for (size_t i = 0; i < 2; i++) {
		assert_true(algo(row, i, RES_ALGO_flows_all) == 0);
		assert_true(isnan(algo(row, i, RES_ALGO_detect_s)));
	}
	assert_true(row[RES_TRIAL_n_faults] == 1);
	close_rig(&g);
}

/* A hole that opens within the third window: an answer before it acquits, so
 * the fourth is the first that can tell, 96 s after its end. */
static void detection_takes_until_the_first_whole_window(void **state)
{
	enum { N = 6, ROW = RES_N_TRIAL_METRICS + RES_N_ALGO_METRICS };
	double row[N][ROW];
	struct rig g;
	(void)state;
	open_rig(&g,
	    HEAD "plane: pingmesh\nalgorithms: [blackhole]\ntopology: {n_pods: "
		 "2, n_tors: 4, n_t1: 2, n_t2: 2, n_hosts: 4}\nfaults: {kind: "
		 "black_hole_1, switches: 1, tiers: [tor], entries: 0.5, from: "
		 "1250}\npingmesh: {duration: 3600, window: 600, along: "
		 "window, detect: true}\n",
	    1);
	run(&g, 0, 0, row[0]);
	for (size_t i = 0; i < N; i++) {
		assert_true(
		    algo(row[i], 0, RES_ALGO_detect_s) == 2400 + 96 - 1250);
		assert_true(
		    algo(row[i], 0, RES_ALGO_n_flagged_true) == (i >= 3));
		assert_true(algo(row[i], 0, RES_ALGO_n_flagged) == (i >= 3));
	}
	close_rig(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_cell_is_the_same_bits_in_any_order),
	    cmocka_unit_test(two_trials_of_one_spec_do_not_meet),
	    cmocka_unit_test(runs_and_seeds_differ),
	    cmocka_unit_test(algorithms_break_ties_each_for_itself),
	    cmocka_unit_test(a_row_is_laid_out_as_the_schema_says),
	    cmocka_unit_test(without_faults_and_noise_nothing_is_said),
	    cmocka_unit_test(points_share_their_random_numbers_unless_told),
	    cmocka_unit_test(auto_skips_where_that_fits_and_only_there),
	    cmocka_unit_test(both_planes_give_the_same_statistics),
	    cmocka_unit_test(the_released_simulators_accuracy_is_in_its_range),
	    cmocka_unit_test(pods_can_be_swapped),
	    cmocka_unit_test(the_bad_link_ranks_first_in_every_kind_of_network),
	    cmocka_unit_test(a_cell_prints_its_faults_and_verdicts),
	    cmocka_unit_test(a_cell_prints_who_has_nothing_to_read),
	    cmocka_unit_test(a_cell_prints_its_holes_and_outages),
	    cmocka_unit_test(no_allocation_is_taken_for_granted),
	    cmocka_unit_test(a_run_of_probes_has_a_row_a_window),
	    cmocka_unit_test(algorithms_of_flows_have_none_to_blame),
	    cmocka_unit_test(detection_takes_until_the_first_whole_window),
	};
	return cmocka_run_group_tests_name("experiments/sweep/trial", tests,
	    spec_folder_make, spec_folder_remove);
}
