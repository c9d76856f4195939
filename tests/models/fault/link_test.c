/* tests/models/fault/link_test.c -- places as 007's released code draws them.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Chi-squares at level 1e-6, 17 of them.
 */
#include <gsl/gsl_randist.h>

#include "tests/rigs/law.h"
#include "tests/rigs/scenes.h"
#include "topo/mesh.h"

#define LEVEL      1e-6
#define BIT(class) (UINT32_C(1) << (class))

static const struct topo_clos shape = {2, 4, 3, 5, 2, .n_cables = 0};

/* Four places never use up the switches of a class, of which there are 5 at
 * least: each is at a switch of its own, and classes have equal shares. */
static void matlabs_places_are_at_fresh_switches(void **state)
{
	(void)state;
	struct scenes s;
	struct truth truth = {0};
	uint64_t by_class[TOPO_N_LINK_CLASSES] = {0}, by_link[256] = {0};
	double want[TOPO_N_LINK_CLASSES] = {0}, each[256] = {0};
	scenes_open(&s, &shape);
	struct fault_params *g = scenes_add_group(&s);
	g->pick = FAULT_PICK_MATLAB;
	g->count = 4;
	for (uint32_t run = 0; run < 5000; run++) {
		scenes_draw_faults(&s, &truth, run);
		assert_int_equal(truth.n_faults, 4);
		for (size_t i = 0; i < 4; i++) {
			const topo_link l = truth.fault[i].link;
			by_class[topo_class_of(&s.topo, l)]++;
			by_link[l]++;
			for (size_t k = 0; k < i; k++) {
				const topo_link o = truth.fault[k].link;
				assert_false(scenes_node_left(&s.topo, l) ==
					scenes_node_left(&s.topo, o) &&
				    topo_class_of(&s.topo, l) ==
					topo_class_of(&s.topo, o));
			}
		}
	}
	for (topo_link l = 0; l < s.topo.n_links; l++) {
		const enum topo_link_class c = topo_class_of(&s.topo, l);
		if (c == TOPO_HOST_TOR || c == TOPO_TOR_HOST)
			continue;
		want[c] = 1;
		each[l] = 1.0 / topo_clos_class_size(&s.topo.clos, c);
	}
	assert_true(law_chi2(by_class, want, TOPO_N_LINK_CLASSES) > LEVEL);
	assert_true(law_chi2(by_link, each, 256) > LEVEL);
	truth_free(&truth);
	scenes_close(&s);
}

/* As many as asked for, whatever the chance of further links: from none to all
 * that there are, beside another group that takes some. */
static void matlabs_further_links_count(void **state)
{
	(void)state;
	static const double chance[] = {0, 0.1, 0.5, 1};
	struct scenes s;
	struct truth truth = {0};
	scenes_open(&s, &shape);
	scenes_add_group(&s)->count = 7;
	struct fault_params *g = scenes_add_group(&s);
	g->pick = FAULT_PICK_MATLAB;
	const uint32_t all =
	    2 * (s.topo.clos.n_cables - s.topo.clos.cable_tor) - 7;
	for (uint32_t run = 0; run < 1000; run++) {
		g->count = run < 4 ? all : run % (all + 1);
		g->same_switch = chance[run % 4];
		scenes_draw_faults(&s, &truth, run);
		assert_int_equal(truth.n_faults, 7 + g->count);
		for (size_t i = 1; i < truth.n_faults; i++)
			assert_true(
			    truth.fault[i - 1].link < truth.fault[i].link);
	}
	g->count = all + 1;
	assert_int_equal(scenes_draw_faults_fails(&s, NULL), SIM_ELIMIT);
	truth_free(&truth);
	scenes_close(&s);
}

/* Of two uplinks of a class with three a ToR the second is at the first one's
 * with probability p (3 - 1) / (3 - p), which is 0.4 for p = 0.5, and else at
 * another: 5 standard errors, 6e-7 at a random seed. With p = 1 a ToR is filled
 * before the next. */
static void matlabs_coin_is_thrown_again_for_a_link_that_failed(void **state)
{
	(void)state;
	enum { RUNS = 20000 };
	struct scenes s;
	struct truth truth = {0};
	unsigned met = 0;
	scenes_open(&s, &shape);
	struct fault_params *g = scenes_add_group(&s);
	g->pick = FAULT_PICK_MATLAB;
	g->classes = BIT(TOPO_TOR_T1);
	g->count = 2;
	g->same_switch = 0.5;
	for (uint32_t run = 0; run < RUNS; run++) {
		scenes_draw_faults(&s, &truth, run);
		met += scenes_node_left(&s.topo, truth.fault[0].link) ==
		    scenes_node_left(&s.topo, truth.fault[1].link);
	}
	assert_near((double)met / RUNS, 0.4, 5 * sqrt(0.24 / RUNS));
	g->count = 9;
	g->same_switch = 1;
	for (uint32_t run = 0; run < 100; run++) {
		scenes_draw_faults(&s, &truth, run);
		for (size_t i = 0; i < 9; i++)
			assert_int_equal(scenes_node_left(&s.topo,
					     truth.fault[i].link),
			    scenes_node_left(&s.topo,
				truth.fault[i / 3 * 3].link));
	}
	truth_free(&truth);
	scenes_close(&s);
}

/* Also when only one of many is left; then all have had one. */
static void matlabs_switches_have_one_turn_each(void **state)
{
	(void)state;
	const struct topo_clos many = {2, 20, 3, 5, 1, .n_cables = 0};
	struct scenes s;
	struct truth truth = {0};
	scenes_open(&s, &many);
	struct fault_params *g = scenes_add_group(&s);
	g->pick = FAULT_PICK_MATLAB;
	g->classes = BIT(TOPO_TOR_T1);
	for (uint32_t run = 0; run < 200; run++) {
		unsigned n_at[40] = {0};
		g->count = 40 + run % 2;
		scenes_draw_faults(&s, &truth, run);
		for (size_t i = 0; i < truth.n_faults; i++)
			n_at[scenes_node_left(&s.topo, truth.fault[i].link) -
			    s.topo.n_hosts]++;
		for (unsigned tor = 0; tor < 40; tor++)
			assert_true(n_at[tor] >= 1);
	}
	truth_free(&truth);
	scenes_close(&s);
}

/* --- the release, written down as it runs --------------------------------- */

enum { MAX_AT = 9, N_PLACES = 8, N_SIZES = N_PLACES + 1 };

/* Failures of one class, which has N switches of DEGREE links each: those that
 * FAILED[switch] names, a bit each. */
static void released_class(gsl_rng *r, unsigned n, unsigned degree,
    unsigned count, double p, unsigned failed[])
{
	unsigned so_far = 0;
	while (so_far < count) {
		const unsigned at = (unsigned)gsl_rng_uniform_int(r, n);
		if (failed[at])
			continue;
		failed[at] = 1u << gsl_rng_uniform_int(r, degree);
		so_far++;
		while (so_far < count) {
			if (gsl_rng_uniform(r) >= p)
				break;
			const unsigned bit = 1u
			    << gsl_rng_uniform_int(r, degree);
			if (failed[at] & bit)
				continue;
			failed[at] |= bit;
			so_far++;
		}
	}
}

/* What is compared of a class: how many links of it fail, at how many
 * switches, and how many of them at the worst. */
struct turns {
	uint64_t n[N_SIZES * N_SIZES * MAX_AT];
};

static void count_turns(struct turns *t, const unsigned at[], unsigned n)
{
	unsigned links = 0, switches = 0, most = 0;
	for (unsigned i = 0; i < n; i++) {
		links += at[i];
		switches += at[i] > 0;
		most = at[i] > most ? at[i] : most;
	}
	t->n[(links * N_SIZES + switches) * MAX_AT + most]++;
}

/* The four classes in the order in which a driver of the release fails them.
 * In shape below each has as many switches as it may have places, so that the
 * release always ends. */
static const struct {
	enum topo_link_class class;
	unsigned n, degree;
} released[] = {
    {TOPO_TOR_T1, 10, 4},
    {TOPO_T1_T2, 8, 8},
    {TOPO_T2_T1, 8, 8},
    {TOPO_T1_TOR, 8, 5},
};

static void released_driver(gsl_rng *r, double p, struct turns t[])
{
	static const double quarter[] = {0.25, 0.25, 0.25, 0.25};
	unsigned share[4];
	gsl_ran_multinomial(r, 4, N_PLACES, quarter, share);
	for (unsigned c = 0; c < 4; c++) {
		unsigned failed[10] = {0}, at[10];
		released_class(r, released[c].n, released[c].degree, share[c],
		    p, failed);
		for (unsigned i = 0; i < released[c].n; i++)
			at[i] = (unsigned)__builtin_popcount(failed[i]);
		count_turns(&t[c], at, released[c].n);
	}
}

static void count_drawn(const struct topo *topo, const struct truth *truth,
    struct turns t[])
{
	for (unsigned c = 0; c < 4; c++) {
		unsigned at[64] = {0};
		for (size_t i = 0; i < truth->n_faults; i++) {
			const topo_link l = truth->fault[i].link;
			if (topo_class_of(topo, l) == released[c].class)
				at[scenes_node_left(topo, l) - topo->n_hosts]++;
		}
		count_turns(&t[c], at, topo->n_switches);
	}
}

/* Against the oracle above, with its own generator: 3 chances, 4 classes; and
 * against the closed form of how the 8 places fall to the first two classes, a
 * trinomial. 15 chi-squares. */
static void matlabs_places_follow_the_released_program(void **state)
{
	(void)state;
	const struct topo_clos even = {2, 5, 4, 8, 1, .n_cables = 0};
	static const double chance[] = {0.1, 0.5, 0.9};
	gsl_rng *r = gsl_rng_alloc(gsl_rng_mt19937);
	struct scenes s;
	struct truth truth = {0};
	gsl_rng_set(r, test_seed());
	scenes_open(&s, &even);
	struct fault_params *g = scenes_add_group(&s);
	g->pick = FAULT_PICK_MATLAB;
	g->count = N_PLACES;
	for (unsigned k = 0; k < 3; k++) {
		struct turns got[4] = {0}, want[4] = {0};
		uint64_t two[N_SIZES * N_SIZES] = {0};
		double law[N_SIZES * N_SIZES] = {0};
		g->same_switch = chance[k];
		for (uint32_t run = 0; run < 20000; run++) {
			unsigned n[TOPO_N_LINK_CLASSES] = {0};
			scenes_draw_faults(&s, &truth, run);
			assert_int_equal(truth.n_faults, N_PLACES);
			count_drawn(&s.topo, &truth, got);
			for (size_t i = 0; i < N_PLACES; i++)
				n[topo_class_of(&s.topo,
				    truth.fault[i].link)]++;
			two[n[TOPO_TOR_T1] * N_SIZES + n[TOPO_T1_T2]]++;
			released_driver(r, chance[k], want);
		}
		for (unsigned c = 0; c < 4; c++) {
			const double p = law_chi2_equal(got[c].n, want[c].n,
			    N_SIZES * N_SIZES * MAX_AT);
			if (p < LEVEL)
				fail_msg("chance %g, class %u, seed %ju: p = "
					 "%g",
				    chance[k], c, (uintmax_t)test_seed(), p);
		}
		for (unsigned a = 0; a <= N_PLACES; a++)
			for (unsigned b = 0; a + b <= N_PLACES; b++)
				law[a * N_SIZES + b] =
				    gsl_ran_multinomial_pdf(3,
					(double[]){0.25, 0.25, 0.5},
					(unsigned[]){a, b, N_PLACES - a - b});
		assert_true(law_chi2(two, law, N_SIZES * N_SIZES) >= LEVEL);
	}
	gsl_rng_free(r);
	truth_free(&truth);
	scenes_close(&s);
}

/* About 10,000 rates of a range of 0.19: none in its first 0.0005 has
 * probability 4e-12. */
static void matlabs_rates_towards_tors_begin_at_a_tenth(void **state)
{
	(void)state;
	double least = 1;
	struct scenes s;
	struct truth truth = {0};
	struct law_mean down = {0}, other = {0};
	scenes_open(&s, &shape);
	struct fault_params *g = scenes_add_group(&s);
	g->pick = FAULT_PICK_MATLAB;
	g->rate = scenes_uniform(0.1, 0.2);
	for (uint32_t run = 0; run < 40000; run++) {
		scenes_draw_faults(&s, &truth, run);
		const struct truth_fault *f = truth.fault;
		const int is_down =
		    topo_class_of(&s.topo, f->link) == TOPO_T1_TOR;
		assert_true(
		    f->rate >= (is_down ? 0.01 : 0.1) && f->rate <= 0.2);
		law_add(is_down ? &down : &other, f->rate);
		least = fmin(least, f->rate);
	}
	assert_true(least < 0.0105);
	assert_true(fabs(law_z(&down, 0.105)) < 5);
	assert_true(fabs(law_z(&other, 0.15)) < 5);
	truth_free(&truth);
	scenes_close(&s);
}

static void matlabs_places_need_a_clos(void **state)
{
	(void)state;
	struct scenes s;
	struct topo_mesh *m;
	struct sim_err e;
	assert_ok(topo_mesh_fat_tree(&m, 4, 0, test_err()));
	scenes_open_mesh(&s, m);
	scenes_add_group(&s)->pick = FAULT_PICK_MATLAB;
	assert_int_equal(scenes_draw_faults_fails(&s, &e), SIM_EUNSUPPORTED);
	assert_string_equal(e.msg,
	    "fault group 0: pick matlab needs a Clos; "
	    "this topology is a graph.");
	scenes_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(matlabs_places_are_at_fresh_switches),
	    cmocka_unit_test(matlabs_further_links_count),
	    cmocka_unit_test(
		matlabs_coin_is_thrown_again_for_a_link_that_failed),
	    cmocka_unit_test(matlabs_switches_have_one_turn_each),
	    cmocka_unit_test(matlabs_places_follow_the_released_program),
	    cmocka_unit_test(matlabs_rates_towards_tors_begin_at_a_tenth),
	    cmocka_unit_test(matlabs_places_need_a_clos),
	};
	return cmocka_run_group_tests_name("models/fault/link", tests, NULL,
	    NULL);
}
