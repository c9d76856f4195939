/* tests/algos/pingmesh/hole_fit_test.c -- hazards and evidence on few causes.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/pingmesh/hole_fit.h"

#include <math.h>

#include "sim/vec.h"
#include "tests/test.h"

static const double exactly = NAN;

static void add_cell(struct algo_hole_fit *f, double n, double background,
    uint32_t n_causes, const uint32_t cause[])
{
	struct algo_hole_cell c = {.n_causes = n_causes,
	    .n = n,
	    .background = background};
	for (uint32_t k = 0; k < n_causes; k++)
		c.cause[k] = cause[k];
	assert_ok(
	    SIM_RESERVE(&f->cell, &f->cap_cells, f->n_cells + 1, test_err()));
	f->cell[f->n_cells++] = c;
}

/* --- closed forms ----------------------------------------------------------*/
static double divergence(double n, double all, double p)
{
	return n * log(n / all / p) + (all - n) * log((1 - n / all) / (1 - p));
}

static void one_cause_has_its_share_and_chernoffs_evidence(void **state)
{
	(void)state;
	static const double background[] = {1e-9, 1e-6, 1e-3, 0.02};
	for (size_t b = 0; b < 4; b++)
		for (double n = 1; n < 300; n *= 3) {
			struct algo_hole_fit f;
			const double p = -expm1(-background[b]);
			assert_ok(algo_hole_fit_open(&f, 2, test_err()));
			f.n_pairs[0] = 300.5;
			f.n_pairs[1] = 300.5;
			add_cell(&f, n, background[b], 1, (uint32_t[]){0});
			algo_hole_fit(&f);
			const double x = algo_hole_evidence(&f, 0, exactly);
			const double want =
			    n / 300.5 > p ? divergence(n, 300.5, p) : 0;
			/* 0.01 of the logarithm is 0.15 / sqrt(n) of it. */
			if (n / 300.5 > 2 * p)
				assert_near(f.hazard[0] /
					(-log1p(-n / 300.5) - background[b]),
				    1, 0.3);
			if (!(fabs(x - want) <= 0.03))
				fail_msg("%g of 300.5 beside %g: evidence %g, "
					 "wanted %g",
				    n, background[b], x, want);
			assert_true(algo_hole_evidence(&f, 1, exactly) <= 0.01);
			assert_true(f.hazard[1] == 0);
			algo_hole_fit_close(&f);
		}
}

/* T explains N pairs, each of which another cause explains as well, which has
 * no other: N log N as all stand over as many, in the limit of many. */
static void pairs_of_one_cause_with_many_are_evidence_for_it(void **state)
{
	(void)state;
	for (uint32_t n = 1; n <= 12; n++) {
		struct algo_hole_fit f;
		assert_ok(algo_hole_fit_open(&f, n + 1, test_err()));
		for (uint32_t c = 0; c <= n; c++)
			f.n_pairs[c] = 1e6;
		for (uint32_t c = 1; c <= n; c++)
			add_cell(&f, 1, 1e-12, 2, (uint32_t[]){0, c});
		algo_hole_fit(&f);
		assert_near(algo_hole_evidence(&f, 0, exactly), n * log(n),
		    0.03);
		if (n > 1)
			assert_near(algo_hole_evidence(&f, 1, exactly), 0,
			    0.03);
		algo_hole_fit_close(&f);
	}
}

/* --- against all subsets ---------------------------------------------------*/
enum { N_CAUSES = 6, N_CELLS = 9 };

static void random_problem(struct algo_hole_fit *f, struct sim_rng *r)
{
	assert_ok(algo_hole_fit_open(f, N_CAUSES, test_err()));
	for (uint32_t c = 0; c < N_CAUSES; c++)
		f->n_pairs[c] = 0.5 + sim_rng_below(r, 40);
	for (uint32_t i = 0; i < N_CELLS; i++) {
		uint32_t cause[ALGO_HOLE_CAUSES], n = 0;
		const double many = 1 + sim_rng_below(r, 8);
		for (uint32_t c = 0; c < N_CAUSES; c++)
			if (n < ALGO_HOLE_CAUSES && sim_rng_below(r, 3) == 0)
				cause[n++] = c;
		for (uint32_t k = 0; k < n; k++)
			f->n_pairs[cause[k]] += many;
		add_cell(f, many, pow(10, -1 - (int)sim_rng_below(r, 6)), n,
		    cause);
	}
}

static double oracle_log_l(const struct algo_hole_fit *f, const double h[])
{
	double log_l = 0, good[N_CAUSES];
	memcpy(good, f->n_pairs, sizeof(good));
	for (size_t i = 0; i < f->n_cells; i++) {
		double all = f->cell[i].background;
		for (uint32_t k = 0; k < f->cell[i].n_causes; k++) {
			all += h[f->cell[i].cause[k]];
			good[f->cell[i].cause[k]] -= f->cell[i].n;
		}
		log_l += f->cell[i].n * log(1 - exp(-all));
	}
	for (uint32_t c = 0; c < N_CAUSES; c++)
		log_l -= h[c] * good[c];
	return log_l;
}

/* The greatest over hazards of the causes in SET alone: golden sections along
 * one cause after the other, on a scale of logarithms. */
static double oracle_best(const struct algo_hole_fit *f, unsigned set)
{
	double h[N_CAUSES] = {0}, was = -INFINITY, now = oracle_log_l(f, h);
	while (now - was > 1e-7) {
		was = now;
		for (uint32_t c = 0; c < N_CAUSES; c++) {
			double lo = -30, hi = 5;
			if (!(set >> c & 1))
				continue;
			while (hi - lo > 1e-6) {
				const double a = hi - 0.618 * (hi - lo);
				const double b = lo + 0.618 * (hi - lo);
				h[c] = exp(a);
				const double at_a = oracle_log_l(f, h);
				h[c] = exp(b);
				if (at_a > oracle_log_l(f, h))
					hi = b;
				else
					lo = a;
			}
			h[c] = exp(lo);
		}
		now = oracle_log_l(f, h);
	}
	return now;
}

static void no_subset_of_causes_is_better_and_evidence_is_what_is_lost(
    void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 30; run++) {
		struct algo_hole_fit f;
		struct sim_rng r;
		double best[1 << N_CAUSES], most = -INFINITY;
		test_rng(&r, run);
		random_problem(&f, &r);
		for (unsigned set = 0; set < 1 << N_CAUSES; set++) {
			best[set] = oracle_best(&f, set);
			most = fmax(most, best[set]);
		}
		algo_hole_fit(&f);
		if (!(fabs(f.log_l - most) <= 0.011))
			fail_msg("seed %llu, run %u: %g, wanted %g",
			    (unsigned long long)test_seed(), run, f.log_l,
			    most);
		for (uint32_t c = 0; c < N_CAUSES; c++) {
			double without = -INFINITY;
			for (unsigned set = 0; set < 1 << N_CAUSES; set++)
				if (!(set >> c & 1))
					without = fmax(without, best[set]);
			const double x = algo_hole_evidence(&f, c, exactly);
			if (!(x <= most - without + 1e-3 &&
				x >= most - without - 0.022))
				fail_msg("seed %llu, run %u, cause %u: %g, "
					 "wanted %g",
				    (unsigned long long)test_seed(), run, c, x,
				    most - without);
			/* Asked for a side only, it is on the right one. */
			for (double y = 0.5; y < 30; y *= 2)
				if (fabs(x - y) > 0.05)
					assert_int_equal(algo_hole_evidence(&f,
							     c, y) > y,
					    x > y);
			assert_true(f.barred[c] == 0);
		}
		algo_hole_fit_close(&f);
	}
}

/* --- relations -------------------------------------------------------------*/
static void names_of_causes_do_not_matter_and_counts_scale(void **state)
{
	(void)state;
	for (uint32_t run = 100; run < 130; run++) {
		struct algo_hole_fit f, g;
		struct sim_rng r;
		test_rng(&r, run);
		random_problem(&f, &r);
		assert_ok(algo_hole_fit_open(&g, N_CAUSES, test_err()));
		for (uint32_t c = 0; c < N_CAUSES; c++)
			g.n_pairs[N_CAUSES - 1 - c] = 2 * f.n_pairs[c];
		for (size_t i = f.n_cells; i-- > 0;) {
			uint32_t cause[ALGO_HOLE_CAUSES];
			for (uint32_t k = 0; k < f.cell[i].n_causes; k++)
				cause[k] = N_CAUSES - 1 - f.cell[i].cause[k];
			add_cell(&g, 2 * f.cell[i].n, f.cell[i].background,
			    f.cell[i].n_causes, cause);
		}
		algo_hole_fit(&f);
		algo_hole_fit(&g);
		assert_near(g.log_l, 2 * f.log_l, 0.03);
		for (uint32_t c = 0; c < N_CAUSES; c++)
			assert_near(algo_hole_evidence(&g, N_CAUSES - 1 - c,
					exactly),
			    2 * algo_hole_evidence(&f, c, exactly), 0.07);
		algo_hole_fit_close(&f);
		algo_hole_fit_close(&g);
	}
}

static void a_barred_cause_takes_nothing(void **state)
{
	(void)state;
	struct algo_hole_fit f;
	assert_ok(algo_hole_fit_open(&f, 2, test_err()));
	f.n_pairs[0] = f.n_pairs[1] = 100.5;
	add_cell(&f, 30, 1e-6, 2, (uint32_t[]){0, 1});
	algo_hole_fit(&f);
	assert_true(algo_hole_evidence(&f, 0, exactly) <= 0.01);
	assert_true(algo_hole_evidence(&f, 1, exactly) <= 0.01);
	f.barred[1] = 1;
	algo_hole_fit(&f);
	assert_true(f.hazard[1] == 0);
	assert_near(algo_hole_evidence(&f, 0, exactly),
	    divergence(30, 100.5, -expm1(-1e-6)), 0.03);
	algo_hole_fit_close(&f);
}

/* The threshold's promise: of N pairs each black-holed with B by nobody,
 * evidence of X or more has a chance of exp(-X) at most. Six sigma of what is
 * expected at most: false alarm below 1e-8. */
static void chance_alone_gives_evidence_seldom(void **state)
{
	(void)state;
	enum { RUNS = 4000, PAIRS = 200 };
	static const double background = 0.02, x[] = {1, 2, 4};
	unsigned n_above[3] = {0};
	struct sim_rng r;
	test_rng(&r, 500);
	for (uint32_t run = 0; run < RUNS; run++) {
		struct algo_hole_fit f;
		uint32_t n = 0;
		for (int i = 0; i < PAIRS; i++)
			n += sim_rng_u01(&r) < -expm1(-background);
		assert_ok(algo_hole_fit_open(&f, 1, test_err()));
		f.n_pairs[0] = PAIRS + 0.5;
		if (n > 0)
			add_cell(&f, n, background, 1, (uint32_t[]){0});
		algo_hole_fit(&f);
		for (int k = 0; k < 3; k++)
			n_above[k] += algo_hole_evidence(&f, 0, x[k]) > x[k];
		algo_hole_fit_close(&f);
	}
	for (int k = 0; k < 3; k++) {
		const double most = RUNS * exp(-x[k]);
		if (n_above[k] > most + 6 * sqrt(most))
			fail_msg("seed %llu: evidence above %g %u times of %d",
			    (unsigned long long)test_seed(), x[k], n_above[k],
			    RUNS);
	}
	assert_true(n_above[0] > 0);
}

static int open_fit(void *arg, struct sim_err *e)
{
	struct algo_hole_fit f;
	int rc = algo_hole_fit_open(&f, 3, e);
	(void)arg;
	algo_hole_fit_close(&f);
	return rc;
}

static void every_allocation_may_fail(void **state)
{
	(void)state;
	test_each_alloc_fails(open_fit, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(one_cause_has_its_share_and_chernoffs_evidence),
	    cmocka_unit_test(pairs_of_one_cause_with_many_are_evidence_for_it),
	    cmocka_unit_test(
		no_subset_of_causes_is_better_and_evidence_is_what_is_lost),
	    cmocka_unit_test(names_of_causes_do_not_matter_and_counts_scale),
	    cmocka_unit_test(a_barred_cause_takes_nothing),
	    cmocka_unit_test(chance_alone_gives_evidence_seldom),
	    cmocka_unit_test(every_allocation_may_fail),
	};
	return cmocka_run_group_tests_name("algos/pingmesh/hole_fit", tests,
	    NULL, NULL);
}
