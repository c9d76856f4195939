/* tests/real/vs_sim_test.c -- simulator and kernel in each metric of a figure.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Scenes of experiments/real_vs_sim.yaml, a few runs of each on the kernel's
 * TCP against many in the simulator. Were both of one law, then which runs are
 * the kernel's would be a matter of labels: so the kernel's mean, or pooled
 * ratio, is held against those of runs picked at random from all of them
 * (permutation test). Level 1e-5 for each of about 200 metrics: if nothing is
 * wrong a test like this fires in 2 of 1000 runs at most. The kernel's runs
 * differ from each other each time, so here that means real ones.
 *
 * VS_SIM_RUNS=30 takes more runs of the kernel, to see smaller differences.
 */
#include <math.h>
#include <stddef.h>

#include "experiments/spec/fabric.h"
#include "experiments/sweep/trial.h"
#include "results/cube.h"
#include "tests/test.h"

#define LEVEL 1e-5

enum { RUNS = 6, SIMULATED = 400, FIRST_SIMULATED = 100000 };
enum { MAX_ROW = 512, MAX_QUANTITIES = MAX_ROW }; /* at most one a double */

/* What is compared: a mean over runs, or the ratio of two sums. */
struct quantity {
	const char *of, *name; /* algorithm or "" */
	size_t num, den;       /* in a row; den NONE: runs */
};
#define NONE SIZE_MAX

struct bench {
	struct xp_spec s;
	struct xp_trial *t;
	struct xp_config c;
	size_t n_runs, n_row; /* the kernel's; doubles of a row */
	double *row; /* [n_runs + SIMULATED][n_row], the kernel's first */
	struct quantity q[MAX_QUANTITIES];
	size_t n_q;
};

static void add_quantity(struct bench *b, const char *of, const char *name,
    size_t num, size_t den)
{
	assert_true(b->n_q < MAX_QUANTITIES);
	b->q[b->n_q++] = (struct quantity){of, name, num, den};
}

/* All metrics of the trial; of algorithms, ratios and what is no part of
 * one. */
static void list_quantities(struct bench *b)
{
	for (size_t i = 0; i < RES_N_TRIAL_METRICS; i++)
		add_quantity(b, "", res_trial_metrics[i].name, i, NONE);
	for (size_t a = 0; a < b->c.n_algos; a++) {
		const char *of = b->c.algo[a].label;
		const size_t at = RES_N_TRIAL_METRICS + a * RES_N_ALGO_METRICS;
#define PLACE(member) at + offsetof(struct res_algo_metrics, member) / 8
#define X(name, num, den, doc)                                                 \
	add_quantity(b, of, #name, PLACE(num), PLACE(den));
		RES_RATIOS(X)
#undef X
		add_quantity(b, of, "worst_rank", PLACE(worst_rank), NONE);
		add_quantity(b, of, "n_flagged", PLACE(n_flagged), NONE);
		add_quantity(b, of, "lead", PLACE(lead), NONE);
	}
}

static size_t n_runs_wanted(void)
{
	const char *text = getenv("VS_SIM_RUNS");
	return text ? strtoul(text, NULL, 10) : RUNS;
}

static int setup(void **state)
{
	static struct bench b;
	char runs[32];
	b.n_runs = n_runs_wanted();
	snprintf(runs, sizeof(runs), "runs=%zu", b.n_runs + SIMULATED);
	const char *const set[] = {runs};
	assert_ok(xp_spec_load(&b.s, "experiments/real_vs_sim.yaml", 0, set, 1,
	    test_err()));
	assert_ok(xp_spec_point(&b.s, 0, &b.c, test_err()));
	assert_ok(xp_trial_open(&b.t, &b.s, test_err()));
	b.n_row = res_row_doubles(b.c.n_algos);
	assert_true(b.n_row <= MAX_ROW && b.s.n_along == 1);
	b.row = calloc((b.n_runs + SIMULATED) * b.n_row, sizeof(b.row[0]));
	assert_non_null(b.row);
	list_quantities(&b);
	*state = &b;
	return 0;
}

static int teardown(void **state)
{
	struct bench *b = *state;
	xp_trial_close(b->t);
	xp_config_free(&b->c);
	xp_spec_free(&b->s);
	free(b->row);
	return 0;
}

/* --- runs ----------------------------------------------------------------- */

static void run_point(struct bench *b, size_t point, uint32_t first, size_t n,
    double row[])
{
	for (size_t i = 0; i < n; i++)
		assert_ok(xp_trial_run(b->t, point, first + (uint32_t)i,
		    row + i * b->n_row, test_err()));
}

/* Other runs than the kernel's, of other flows and faults: so that none is the
 * twin of another, and any could be of either. */
static void run_scene(struct bench *b, size_t simulated, size_t real)
{
	run_point(b, real, 0, b->n_runs, b->row);
	run_point(b, simulated, FIRST_SIMULATED, SIMULATED,
	    b->row + b->n_runs * b->n_row);
}

/* --- a permutation test --------------------------------------------------- */

struct sums {
	double num, den;
};

static void add_run(struct sums *s, const struct bench *b,
    const struct quantity *q, size_t i)
{
	const double *row = b->row + i * b->n_row;
	s->num += row[q->num];
	s->den += q->den == NONE ? 1 : row[q->den];
}

/* How far a group is from all others. A group without anything to count is as
 * far as can be. */
static double distance(const struct sums *group, const struct sums *all)
{
	const double d = group->num / group->den -
	    (all->num - group->num) / (all->den - group->den);
	return isnan(d) ? INFINITY : fabs(d);
}

/* The sums of N runs picked at random: the first steps of a shuffle. */
static struct sums pick(const struct bench *b, const struct quantity *q,
    struct sim_rng *r, uint32_t order[], uint32_t n)
{
	const uint32_t n_all = (uint32_t)b->n_runs + SIMULATED;
	struct sums s = {0};
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t j = i + sim_rng_below(r, n_all - i);
		const uint32_t swap = order[i];
		order[i] = order[j];
		order[j] = swap;
		add_run(&s, b, q, order[i]);
	}
	return s;
}

/* The share of picks that are as far off as the kernel's runs are; NaN where
 * either side has not measured it. It is found more exactly the less it is. */
static double compare(const struct bench *b, const struct quantity *q,
    struct sim_rng *r)
{
	enum { MOST = 400000, ENOUGH = 40 };
	const uint32_t n_all = (uint32_t)b->n_runs + SIMULATED;
	uint32_t *order = calloc(n_all, sizeof(order[0]));
	struct sums real = {0}, all = {0};
	unsigned n = 0, n_far = 0;
	assert_non_null(order);
	for (uint32_t i = 0; i < n_all; i++) {
		order[i] = i;
		add_run(i < b->n_runs ? &real : &all, b, q, i);
	}
	all.num += real.num;
	all.den += real.den;
	/* Rounding must not tell apart what is the same. */
	const double far = distance(&real, &all) * (1 - 1e-9);
	const int measured = !isnan(all.num) && !isnan(all.den) && all.den > 0;
	while (measured && n < MOST && n_far < ENOUGH) {
		const struct sums s = pick(b, q, r, order, (uint32_t)b->n_runs);
		n_far += distance(&s, &all) >= far;
		n++;
	}
	free(order);
	return measured ? (1.0 + n_far) / (1.0 + n) : NAN;
}

static double value(const struct bench *b, const struct quantity *q,
    size_t from, size_t to)
{
	struct sums s = {0};
	for (size_t i = from; i < to; i++)
		add_run(&s, b, q, i);
	return s.num / s.den;
}

/* Returns how many metrics tell the two apart. */
static unsigned judge(const struct bench *b, size_t scene)
{
	const char *show = getenv("VS_SIM_RUNS");
	unsigned n = 0, n_apart = 0;
	double least = 1;
	for (size_t i = 0; i < b->n_q; i++) {
		const struct quantity *q = &b->q[i];
		struct sim_rng r;
		test_rng(&r, (uint32_t)i);
		const double p = compare(b, q, &r);
		if (isnan(p))
			continue;
		n++;
		n_apart += p < LEVEL;
		least = p < least ? p : least;
		if (show || p < LEVEL)
			print_message("scene %zu %s %s: kernel %.4g, simulator "
				      "%.4g, p = %.2g\n",
			    scene, q->of, q->name, value(b, q, 0, b->n_runs),
			    value(b, q, b->n_runs, b->n_runs + SIMULATED), p);
	}
	print_message("time: scene %zu: least p of %u metrics %.2g\n", scene, n,
	    least);
	assert_true(n >= 25);
	return n_apart;
}

/* Points of the simulator come first, then those of the kernel: the fabric is
 * the outer axis. */
static void simulator_and_kernel_agree_in_every_metric(void **state)
{
	struct bench *b = *state;
	const size_t n_scenes = b->s.n_points / 2;
	unsigned n_apart = 0;
	if (xp_fabrics_usable(b->s.takes, test_err()) < 0) {
		print_message("reason: %s\n", test_err()->msg);
		skip();
	}
	for (size_t i = 0; i < n_scenes; i++) {
		assert_ok(xp_spec_point(&b->s, i, &b->c, test_err()));
		assert_null(xp_fabric_of(&b->c)->open);
		assert_ok(
		    xp_spec_point(&b->s, n_scenes + i, &b->c, test_err()));
		assert_ptr_equal(xp_fabric_of(&b->c), &xp_fabric_netns);
		run_scene(b, i, n_scenes + i);
		n_apart += judge(b, i);
	}
	assert_int_equal(n_apart, 0);
}

/* The test above must be able to fail: the simulator without what TCP adds is
 * told from the one with it. */
static void a_simulator_without_tcp_would_be_told_apart(void **state)
{
	struct bench *b = *state;
	static const char *const off[] = {
	    "traffic.tcp={resend: 0, syn: false, acks: false, fin: false}"};
	struct xp_trial *t;
	struct xp_spec s;
	unsigned n_apart = 0;
	assert_ok(xp_spec_load(&s, "experiments/real_vs_sim.yaml", 0, off, 1,
	    test_err()));
	assert_ok(xp_trial_open(&t, &s, test_err()));
	const size_t last = b->s.n_points / 2 - 1;
	run_point(b, last, FIRST_SIMULATED, SIMULATED,
	    b->row + b->n_runs * b->n_row);
	for (size_t i = 0; i < b->n_runs; i++)
		assert_ok(xp_trial_run(t, last, (uint32_t)i,
		    b->row + i * b->n_row, test_err()));
	for (size_t i = 0; i < b->n_q; i++) {
		struct sim_rng r;
		test_rng(&r, (uint32_t)i);
		n_apart += compare(b, &b->q[i], &r) < LEVEL;
	}
	assert_true(n_apart >= 4);
	xp_trial_close(t);
	xp_spec_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(simulator_and_kernel_agree_in_every_metric),
	    cmocka_unit_test(a_simulator_without_tcp_would_be_told_apart),
	};
	return cmocka_run_group_tests_name("simulator and kernel", tests, setup,
	    teardown);
}
