/* tests/algos/vigil/program_test.c -- programs (3) and (4): optima, limits.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/vigil/program.h"

#include "algos/vigil/milp.h"
#include "algos/vigil/program_bigm.h"
#include "algos/vigil/tally.h"
#include "models/bulk/skip.h"
#include "tests/rigs/oracle_cover.h"
#include "tests/rigs/scenes.h"
#include "tests/rigs/windows.h"
#include "tests/test.h"

enum { N_LINKS = 40 };

#define check(cond)                                                            \
	do {                                                                   \
		if (!(cond))                                                   \
			fail_msg("(seed %lu, run %u): %s",                     \
			    (unsigned long)test_seed(), run, #cond);           \
	} while (0)

static struct algo_program_params defaults(void)
{
	struct algo_program_params p = {0};
	assert_ok(sim_field_defaults(algo_integer.params, &p, test_err()));
	/* Nobody is set aside, so that whom a flow is blamed on is seen of
	 * all. */
	p.blame.noise = ALGO_NOISE_NONE;
	return p;
}

/* Diagnose; without a minimal share, so that the flags are the support. */
static struct algo_solution run_program(const struct algo_ops *a,
    const struct algo_program_params *params, const struct obs *w,
    struct algo_verdicts *v)
{
	struct algo_program_params p = params ? *params : defaults();
	if (!params)
		p.min_share = 0;
	assert_ok(window_diagnose(a, &p, N_LINKS, w, NULL, v, test_err()));
	assert_int_equal(v->flags, 1);
	assert_int_equal(v->n, v->n_flagged);
	assert_int_equal(v->solution.solves, 1);
	return v->solution;
}

static int crosses(const struct obs *w, size_t flow, topo_link l)
{
	for (unsigned j = 0; j < obs_n_hops(w, flow); j++)
		if (obs_path(w, flow)[j] == l)
			return 1;
	return 0;
}

static int is_row(const struct obs *w, size_t flow)
{
	for (unsigned j = 0; j < obs_n_hops(w, flow); j++)
		if (obs_path(w, flow)[j] != TOPO_NONE)
			return w->flows.n_retx[flow] > 0;
	return 0;
}

/* (4) holds: every row has p >= c on its path, and sum p = sum c. For (3) with
 * flows for drops. */
static int solves(const struct algo_verdicts *v, const struct obs *w,
    int integer)
{
	double left = 0;
	for (size_t i = 0; i < v->n; i++)
		left += v->score[i];
	for (size_t f = 0; f < w->flows.n; f++) {
		const double c = integer ? w->flows.n_retx[f] : 1;
		double p = 0;
		int blamed = 0;
		if (!is_row(w, f)) {
			if (v->blame[f] != TOPO_NONE)
				return 0;
			continue;
		}
		for (size_t i = 0; i < v->n; i++)
			if (crosses(w, f, v->link[i])) {
				p += v->score[i];
				blamed |= v->blame[f] == v->link[i];
			}
		if (p < c || !blamed)
			return 0;
		left -= c;
	}
	return left == 0;
}

static int is_sorted(const struct algo_verdicts *v)
{
	for (size_t i = 1; i < v->n; i++)
		if (v->score[i] > v->score[i - 1] ||
		    (v->score[i] == v->score[i - 1] &&
			v->link[i] < v->link[i - 1]))
			return 0;
	return 1;
}

/* --- by hand --------------------------------------------------------------*/

static void flows_and_drops_are_attributed_to_the_fewest_links(void **state)
{
	(void)state;
	struct obs w = {0};
	struct algo_verdicts v = {0};
	WINDOW_ADD(&w, 2, 1, 5, 8);
	WINDOW_ADD(&w, 3, 2, 5, 9);
	WINDOW_ADD(&w, 9, 3, 6);
	WINDOW_ADD(&w, 1, TOPO_NONE, 6, 7);
	WINDOW_ADD(&w, 4, 5, 6);
	WINDOW_ADD(&w, 0, 20, 21);
	WINDOW_ADD(&w, 7, TOPO_NONE);
	/* The last flow crosses both; three flows cross either, 5 is lower. */
	struct algo_solution s = run_program(&algo_binary, NULL, &w, &v);
	assert_int_equal(s.status, ALGO_OPTIMAL);
	assert_true(s.value == 2 && s.bound == 2);
	assert_int_equal(v.n, 2);
	assert_true(v.link[0] == 5 && v.score[0] == 3);
	assert_true(v.link[1] == 6 && v.score[1] == 2);
	assert_int_equal(v.blame[0], 5);
	assert_int_equal(v.blame[6], TOPO_NONE);

	s = run_program(&algo_integer, NULL, &w, &v);
	assert_int_equal(s.status, ALGO_OPTIMAL);
	assert_true(s.value == 2 && s.bound == 2);
	assert_true(v.link[0] == 6 && v.score[0] == 10);
	assert_true(v.link[1] == 5 && v.score[1] == 9);
	/* The program gave the flow's drops to 5, but 6 has more drops in all
	 * and is blamed. */
	assert_int_equal(v.blame[4], 6);
	obs_free(&w);
	algo_verdicts_free(&v);
}

static void exchangeable_links_are_chosen_by_id_or_by_votes(void **state)
{
	(void)state;
	struct algo_program_params p = defaults();
	struct obs w = {0};
	struct algo_verdicts v = {0};
	/* 3 and 4 cover both flows; 9 takes the third, and 4 is on its path. */
	WINDOW_ADD(&w, 1, 3, 4, 5);
	WINDOW_ADD(&w, 1, 3, 4, 6);
	WINDOW_ADD(&w, 1, 9, 4);
	WINDOW_ADD(&w, 1, 9);
	WINDOW_ADD(&w, 1, 7, 8);
	run_program(&algo_binary, &p, &w, &v);
	assert_int_equal(v.n, 3);
	assert_true(v.link[0] == 3 && v.link[1] == 9 && v.link[2] == 7);
	p.tie = ALGO_PROGRAM_VOTES;
	run_program(&algo_binary, &p, &w, &v);
	assert_int_equal(v.n, 3);
	assert_true(v.link[0] == 4 && v.link[1] == 7 && v.link[2] == 9);
	assert_true(v.score[0] == 3 && v.score[1] == 1);
	obs_free(&w);
	algo_verdicts_free(&v);
}

static void links_below_the_share_are_not_flagged(void **state)
{
	(void)state;
	struct algo_program_params p = defaults();
	struct obs w = {0};
	struct algo_verdicts v = {0};
	for (int i = 0; i < 11; i++)
		WINDOW_ADD(&w, 9, 1, (topo_link)(2 + i));
	WINDOW_ADD(&w, 1, 20);
	/* Link 20 has one drop of 100, which is just min_share. */
	p.min_share = 0.01;
	struct algo_solution s = run_program(&algo_integer, &p, &w, &v);
	assert_int_equal(v.n, 2);
	assert_int_equal(v.blame[11], 20);
	p.min_share = 0.011;
	s = run_program(&algo_integer, &p, &w, &v);
	assert_int_equal(v.n, 1);
	assert_int_equal(v.blame[11], TOPO_NONE);
	assert_true(s.value == 2 && s.status == ALGO_OPTIMAL);
	obs_free(&w);
	algo_verdicts_free(&v);
}

static void nothing_to_explain_is_explained_by_nothing(void **state)
{
	(void)state;
	struct algo_program_params bigm = defaults();
	struct obs w = {0};
	struct algo_verdicts v = {0};
	bigm.form = ALGO_PROGRAM_BIGM;
	for (int i = 0; i < 3; i++) {
		const struct algo_solution s[] = {run_program(&algo_binary,
						      NULL, &w, &v),
		    run_program(&algo_integer, NULL, &w, &v),
		    run_program(&algo_integer, &bigm, &w, &v)};
		for (int k = 0; k < 3; k++)
			assert_true(s[k].status == ALGO_OPTIMAL &&
			    s[k].value == 0 && s[k].bound == 0);
		assert_int_equal(v.n, 0);
		WINDOW_ADD(&w, (uint32_t)i, TOPO_NONE, TOPO_NONE);
		WINDOW_ADD(&w, 0, 1, 2);
	}
	obs_free(&w);
	algo_verdicts_free(&v);
}

/* Pairs of N links: relaxed n / 2, whole n - 1. */
static void complete_graph(struct obs *w, topo_link n)
{
	for (topo_link i = 0; i < n; i++)
		for (topo_link j = 0; j < i; j++)
			WINDOW_ADD(w, 1, j, i);
}

static void an_unproved_value_is_never_called_optimal(void **state)
{
	(void)state;
	struct algo_program_params p = defaults();
	struct obs w = {0};
	struct algo_verdicts v = {0};
	complete_graph(&w, 7);
	struct algo_solution s = run_program(&algo_binary, NULL, &w, &v);
	assert_int_equal(s.status, ALGO_OPTIMAL);
	assert_true(s.value == 6 && s.bound == 6);
	p.pivot_limit = 0;
	s = run_program(&algo_binary, &p, &w, &v);
	assert_int_equal(s.status, ALGO_FEASIBLE);
	assert_true(s.value == 6 && s.bound == 4);
	assert_true(solves(&v, &w, 0));
	p.pivot_limit = 2000;
	p.time_limit = 0;
	s = run_program(&algo_integer, &p, &w, &v);
	assert_int_equal(s.status, ALGO_FEASIBLE);
	assert_true(s.value == 6 && s.bound == 4);
	assert_true(solves(&v, &w, 1));
	p.form = ALGO_PROGRAM_BIGM;
	s = run_program(&algo_integer, &p, &w, &v);
	assert_int_equal(s.status, ALGO_NONE);
	assert_true(isnan(s.value) && s.bound == 0 && v.n == 0);
	for (size_t f = 0; f < w.flows.n; f++)
		assert_int_equal(v.blame[f], TOPO_NONE);
	obs_free(&w);
	algo_verdicts_free(&v);
}

static void a_flow_with_more_drops_than_m_per_hop_has_no_big_m_answer(
    void **state)
{
	(void)state;
	struct algo_program_params p = defaults();
	struct obs w = {0};
	struct algo_verdicts v = {0};
	WINDOW_ADD(&w, 6001, 3);
	struct algo_solution s = run_program(&algo_integer, &p, &w, &v);
	assert_true(s.status == ALGO_OPTIMAL && v.score[0] == 6001);
	p.form = ALGO_PROGRAM_BIGM;
	s = run_program(&algo_integer, &p, &w, &v);
	assert_int_equal(s.status, ALGO_NONE);
	assert_true(isnan(s.value) && v.n == 0);
	obs_free(&w);
	algo_verdicts_free(&v);
}

/* Each link has three columns, which are numbered by 32 bits. */
static void more_links_than_columns_are_refused(void **state)
{
	(void)state;
	const struct algo_tally t = {.n_touched = UINT32_MAX / 3 + 1};
	struct algo_milp m = {0};
	struct algo_solution out;
	struct sim_err e = {0};
	assert_int_equal(algo_program_bigm(&m, &t, NULL, NULL, NULL, &out, &e),
	    SIM_ELIMIT);
	assert_string_equal(e.msg,
	    "1431655766 links are too many for the big-M form.");
}

static void more_drops_than_a_double_holds_are_refused(void **state)
{
	(void)state;
	struct obs w = {0};
	struct algo_verdicts v = {0};
	struct sim_err e = {0};
	for (int i = 0; i < (1 << 21) + 1; i++)
		WINDOW_ADD(&w, UINT32_MAX, 3);
	assert_int_equal(window_diagnose(&algo_integer, NULL, N_LINKS, &w, NULL,
			     &v, &e),
	    SIM_ELIMIT);
	assert_non_null(strstr(e.msg, "9007199254740992"));
	obs_free(&w);
	algo_verdicts_free(&v);
}

/* --- against brute force --------------------------------------------------*/

static void both_programs_have_the_optimum_of_brute_force(void **state)
{
	(void)state;
	for (unsigned run = 0; run < 500; run++) {
		struct algo_program_params p = defaults();
		struct obs w = {0};
		struct algo_verdicts v = {0};
		struct sim_rng r;
		test_rng(&r, run);
		p.tie = run % 2;
		p.min_share = 0;
		window_random(&w, 8 + run % 9, 4 + run % 24, &r);
		const double best = (double)oracle_min_cover(&w);
		for (int integer = 0; integer < 2; integer++) {
			const struct algo_solution s =
			    run_program(integer ? &algo_integer : &algo_binary,
				&p, &w, &v);
			check(s.status == ALGO_OPTIMAL);
			check(s.value == best && s.bound == best);
			check((double)v.n == best);
			check(solves(&v, &w, integer) && is_sorted(&v));
		}
		obs_free(&w);
		algo_verdicts_free(&v);
	}
}

/* Random graphs: flows of two hops leave cores that only a search closes. */
static void random_graph(struct obs *w, unsigned n_links, unsigned n_flows,
    struct sim_rng *r)
{
	for (unsigned i = 0; i < n_flows; i++) {
		const topo_link a = sim_rng_below(r, n_links);
		WINDOW_ADD(w, 1 + sim_rng_below(r, 3), a,
		    (a + 1 + sim_rng_below(r, n_links - 1)) % n_links);
	}
}

static void limits_cost_the_proof_and_never_the_truth(void **state)
{
	(void)state;
	unsigned n_open = 0;
	for (unsigned run = 0; run < 150; run++) {
		struct algo_program_params p = defaults();
		struct obs w = {0};
		struct algo_verdicts v = {0};
		struct sim_rng r;
		test_rng(&r, run);
		random_graph(&w, 13, 25 + run % 20, &r);
		const double best = (double)oracle_min_cover(&w);
		struct algo_solution s = run_program(&algo_binary, &p, &w, &v);
		check(s.status == ALGO_OPTIMAL && s.value == best);
		for (p.pivot_limit = 0; p.pivot_limit < 150;
		     p.pivot_limit += 70) {
			s = run_program(&algo_binary, &p, &w, &v);
			check(s.value >= best && s.bound <= best);
			check(
			    (s.status == ALGO_OPTIMAL) == (s.value == s.bound));
			check(s.status != ALGO_NONE);
			check(s.value == (double)v.n && solves(&v, &w, 0));
			n_open += s.status == ALGO_FEASIBLE;
		}
		obs_free(&w);
		algo_verdicts_free(&v);
	}
	assert_true(n_open > 20);
}

static void the_released_form_agrees_on_tiny_windows(void **state)
{
	(void)state;
	unsigned n_proved = 0;
	for (unsigned run = 0; run < 60; run++) {
		struct algo_program_params p = defaults();
		struct obs w = {0};
		struct algo_verdicts v = {0};
		struct sim_rng r;
		test_rng(&r, run);
		p.form = ALGO_PROGRAM_BIGM;
		p.pivot_limit = 3000;
		p.min_share = 0;
		window_random(&w, 8, 4 + run % 5, &r);
		const double best = (double)oracle_min_cover(&w);
		const struct algo_solution s =
		    run_program(&algo_integer, &p, &w, &v);
		if (s.status == ALGO_NONE)
			check(isnan(s.value) && v.n == 0);
		else
			check((double)v.n >= best && s.bound <= s.value);
		if (s.status == ALGO_OPTIMAL) {
			check((double)v.n == best);
			check(s.value >= best && s.value < best + 0.5);
			check(s.bound == s.value);
			check(solves(&v, &w, 1));
			n_proved++;
		}
		obs_free(&w);
		algo_verdicts_free(&v);
	}
	assert_true(n_proved > 30);
}

static void renaming_links_renames_the_verdict(void **state)
{
	(void)state;
	for (uint32_t tie = 0; tie < 2; tie++) {
		struct algo_program_params p = defaults();
		p.tie = tie;
		assert_renaming_renames(&algo_binary, &p);
		assert_renaming_renames(&algo_integer, &p);
	}
}

/* --- epochs of the simulator ----------------------------------------------*/

/* Program (3) as it stands, without any thought. */
static double plain_optimum(const struct obs *w, uint32_t n_links)
{
	const struct algo_milp_col link = {.cost = 1, .ub = 1, .integer = 1};
	struct algo_milp_limits limits = {.pivots = 100000, .seconds = 10};
	struct algo_milp m = {0};
	struct algo_solution s;
	for (uint32_t l = 0; l < n_links; l++)
		assert_ok(algo_milp_add_col(&m, link, test_err()));
	for (size_t f = 0; f < w->flows.n; f++) {
		assert_ok(algo_milp_add_row(&m, 1, INFINITY, test_err()));
		for (unsigned j = 0; j < obs_n_hops(w, f); j++)
			assert_ok(algo_milp_add_term(&m, obs_path(w, f)[j], 1,
			    test_err()));
	}
	assert_ok(algo_milp_solve(&m, &limits, &s, test_err()));
	assert_int_equal(s.status, ALGO_OPTIMAL);
	algo_milp_free(&m);
	return s.value;
}

struct epochs {
	struct scenes s;
	struct bulk_skip *skip;
	struct obs w;
	void *work[2];
	struct algo_verdicts v;
};

static void open_epochs(struct epochs *x, double noise,
    const struct algo_program_params *p)
{
	const struct topo_clos shape = {.n_pods = 2,
	    .n_tors = 20,
	    .n_t1 = 8,
	    .n_t2 = 10,
	    .n_hosts = 40};
	*x = (struct epochs){0};
	scenes_open(&x->s, &shape);
	struct fault_params *g = scenes_add_group(&x->s);
	g->same_switch = 0.1;
	g->rate = scenes_uniform(1e-4, 1e-2);
	x->s.params.noise.rate = scenes_uniform(0, noise);
	assert_ok(bulk_skip_open(&x->skip, test_err()));
	assert_ok(
	    algo_open(&algo_binary, &x->work[0], &x->s.topo, p, test_err()));
	assert_ok(
	    algo_open(&algo_integer, &x->work[1], &x->s.topo, p, test_err()));
}

static void close_epochs(struct epochs *x)
{
	algo_close(&algo_binary, x->work[0]);
	algo_close(&algo_integer, x->work[1]);
	algo_verdicts_free(&x->v);
	obs_free(&x->w);
	bulk_skip_close(x->skip);
	scenes_close(&x->s);
}

static void draw(struct epochs *x, uint32_t k, uint32_t run)
{
	x->s.group[0].count = k;
	obs_clear(&x->w);
	assert_ok(bulk_skip_epoch(x->skip, scenes_draw(&x->s, run), &x->w,
	    &x->s.lost, test_err()));
}

static struct algo_solution diagnose(struct epochs *x, int integer)
{
	const struct algo_ops *a = integer ? &algo_integer : &algo_binary;
	assert_ok(
	    a->diagnose(x->work[integer], &x->w, NULL, &x->v, test_err()));
	return x->v.solution;
}

static void default_epochs_are_proved_without_a_solver(void **state)
{
	(void)state;
	struct algo_program_params p = defaults();
	struct epochs x;
	p.pivot_limit = 0;
	p.min_share = 0;
	open_epochs(&x, 1e-6, &p);
	for (uint32_t run = 0; run < 28; run++) {
		draw(&x, 1 + run % 14, run);
		const double best = plain_optimum(&x.w, x.s.topo.n_links);
		for (int integer = 0; integer < 2; integer++) {
			const struct algo_solution s = diagnose(&x, integer);
			check(s.status == ALGO_OPTIMAL);
			check(s.value == best && s.bound == best);
			check(solves(&x.v, &x.w, integer));
		}
	}
	close_epochs(&x);
}

static void noisy_epochs_agree_with_the_plain_program(void **state)
{
	(void)state;
	struct epochs x;
	open_epochs(&x, 2e-5, NULL);
	for (uint32_t run = 0; run < 5; run++) {
		draw(&x, 10, run);
		const struct algo_solution s = diagnose(&x, 0);
		check(s.status == ALGO_OPTIMAL);
		check(s.value == plain_optimum(&x.w, x.s.topo.n_links));
	}
	close_epochs(&x);
}

/* Here the gap opens; what is found must be sound, and the same again. */
static void an_epoch_too_noisy_to_prove_is_bounded_and_repeatable(void **state)
{
	(void)state;
	struct epochs x;
	struct algo_verdicts first = {0};
	void *fresh;
	open_epochs(&x, 1e-4, NULL);
	draw(&x, 10, 0);
	const struct algo_solution s = diagnose(&x, 0);
	assert_int_equal(s.status, ALGO_FEASIBLE);
	assert_true(s.bound < s.value && s.bound > 0.9 * s.value);
	assert_true(s.value == (double)x.v.n && solves(&x.v, &x.w, 0));
	assert_ok(algo_open(&algo_binary, &fresh, &x.s.topo, NULL, test_err()));
	assert_ok(algo_binary.diagnose(fresh, &x.w, NULL, &first, test_err()));
	assert_true(first.solution.value == s.value);
	assert_true(first.solution.bound == s.bound);
	assert_same_verdicts(&first, &x.v);
	algo_close(&algo_binary, fresh);
	algo_verdicts_free(&first);
	close_epochs(&x);
}

/* --- memory ---------------------------------------------------------------*/

struct attempt {
	const struct algo_ops *algo;
	struct algo_program_params params;
	const struct obs *window;
};

static int attempt(void *arg, struct sim_err *e)
{
	const struct attempt *x = arg;
	struct algo_verdicts v = {0};
	const int rc = window_diagnose(x->algo, &x->params, N_LINKS, x->window,
	    NULL, &v, e);
	algo_verdicts_free(&v);
	return rc;
}

static void every_allocation_may_fail(void **state)
{
	(void)state;
	struct obs w = {0};
	struct attempt x = {&algo_binary, defaults(), &w};
	complete_graph(&w, 7);
	test_each_alloc_fails(attempt, &x);
	x.algo = &algo_integer;
	x.params.form = ALGO_PROGRAM_BIGM;
	test_each_alloc_fails(attempt, &x);
	obs_free(&w);
}

/* The released simulator's counters may say 0 of a flow that failed: (3) asks
 * for a link all the same, (4) asks for none. */
static void a_counter_of_zero_asks_nothing_of_the_integer_program(void **state)
{
	(void)state;
	struct obs w = {0};
	struct algo_verdicts v = {0};
	WINDOW_ADD(&w, 2, 1, 2);
	WINDOW_ADD(&w, 1, 3, 4);
	w.flows.count_off[1] = -1;
	assert_ok(
	    window_diagnose(&algo_binary, NULL, 8, &w, NULL, &v, test_err()));
	assert_true(v.solution.value == 2);
	assert_ok(
	    window_diagnose(&algo_integer, NULL, 8, &w, NULL, &v, test_err()));
	assert_true(v.solution.value == 1);
	assert_int_equal(v.n_flagged, 1);
	assert_true(v.score[0] == 2);
	algo_verdicts_free(&v);
	obs_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
		a_counter_of_zero_asks_nothing_of_the_integer_program),
	    cmocka_unit_test(
		flows_and_drops_are_attributed_to_the_fewest_links),
	    cmocka_unit_test(exchangeable_links_are_chosen_by_id_or_by_votes),
	    cmocka_unit_test(links_below_the_share_are_not_flagged),
	    cmocka_unit_test(nothing_to_explain_is_explained_by_nothing),
	    cmocka_unit_test(an_unproved_value_is_never_called_optimal),
	    cmocka_unit_test(
		a_flow_with_more_drops_than_m_per_hop_has_no_big_m_answer),
	    cmocka_unit_test(more_links_than_columns_are_refused),
	    cmocka_unit_test(more_drops_than_a_double_holds_are_refused),
	    cmocka_unit_test(both_programs_have_the_optimum_of_brute_force),
	    cmocka_unit_test(limits_cost_the_proof_and_never_the_truth),
	    cmocka_unit_test(the_released_form_agrees_on_tiny_windows),
	    cmocka_unit_test(renaming_links_renames_the_verdict),
	    cmocka_unit_test(default_epochs_are_proved_without_a_solver),
	    cmocka_unit_test(noisy_epochs_agree_with_the_plain_program),
	    cmocka_unit_test(
		an_epoch_too_noisy_to_prove_is_bounded_and_repeatable),
	    cmocka_unit_test(every_allocation_may_fail),
	};
	return cmocka_run_group_tests_name("algos/vigil/program", tests, NULL,
	    NULL);
}
