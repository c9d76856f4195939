/* tests/results/calibration_test.c -- how far stated chances are right.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/calibration.h"

#include "tests/test.h"

enum { RUNS = 40 };
static struct res_chance_bin sums[RUNS][RES_N_CHANCE_BINS];

static void calibration_of(size_t n, struct res_calibration *out)
{
	assert_ok(res_calibration(sums, n, out, test_err()));
}

/* Components of chances below 1, which fail with the chance SKEW makes of theirs;
 * all that were stated, of which the mean error by bins follows. */
static double calibration_draw(uint32_t run, unsigned n_each,
    double (*skew)(double))
{
	struct sim_rng r;
	double gap[RES_N_CHANCE_BINS] = {0}, all = 0, error = 0;
	test_rng(&r, run);
	memset(sums, 0, sizeof(sums));
	for (unsigned i = 0; i < RUNS * n_each; i++) {
		const double q = pow(sim_rng_u01(&r), 2);
		const int failed = sim_rng_u01(&r) < skew(q);
		const unsigned b = q < .1 ? 0
		    : q < .5              ? 1
		    : q < .9              ? 2
		    : q < .99             ? 3
					  : 4;
		if (q < .01)
			continue;
		struct res_chance_bin *bin = &sums[i % RUNS][b];
		bin->n++;
		bin->stated += q;
		bin->n_true += failed;
		gap[b] += q - failed;
		all++;
	}
	for (unsigned b = 0; b < RES_N_CHANCE_BINS; b++)
		error += fabs(gap[b]);
	return error / all;
}

static double as_it_is(double q)
{
	return q;
}

static double too_sure(double q)
{
	return .5 + .5 * (q - .5);
}

/* The error is that of all components together, whatever run they are of. What it
 * is of chances that are right is near what is told for that; of those that are
 * not it is far above. */
static void the_error_is_that_of_all_components(void **state)
{
	(void)state;
	double sum = 0, if_right = 0;
	for (uint32_t run = 0; run < 60; run++) {
		struct res_calibration x;
		const double want = calibration_draw(run, 25, as_it_is);
		calibration_of(RUNS, &x);
		assert_near(x.ece.value, want, 1e-12);
		assert_true(x.ece.lo <= x.ece.value && x.ece.value <= x.ece.hi);
		sum += x.ece.value;
		if_right += x.if_right;
	}
	/* The mean of 60 has a standard error of about 5 %. */
	assert_near(sum / if_right, 0.95, 0.2);
	struct res_calibration x;
	const double want = calibration_draw(60, 25, too_sure);
	calibration_of(RUNS, &x);
	assert_near(x.ece.value, want, 1e-12);
	assert_true(x.ece.lo > 2 * x.if_right);
}

/* Of too sure chances the error is known, and 95 % intervals hold it: of 200 at
 * least 178, or this is red once in 1,000 times. */
static void intervals_hold_the_error(void **state)
{
	(void)state;
	unsigned n_held = 0;
	struct res_calibration x;
	calibration_draw(0, 400000 / RUNS, too_sure);
	calibration_of(RUNS, &x);
	const double is = x.ece.value;
	for (uint32_t run = 1; run <= 200; run++) {
		calibration_draw(run, 50, too_sure);
		calibration_of(RUNS, &x);
		n_held += x.ece.lo <= is && is <= x.ece.hi;
	}
	print_message("          %u of 200 hold it\n", n_held);
	assert_true(n_held >= 178);
}

static void without_components_nothing_is_told(void **state)
{
	(void)state;
	struct res_calibration x;
	memset(sums, 0, sizeof(sums));
	calibration_of(0, &x);
	assert_true(isnan(x.ece.value) && isnan(x.if_right) && x.n == 0);
	calibration_of(3, &x);
	assert_true(isnan(x.ece.value));
	for (unsigned b = 0; b < RES_N_CHANCE_BINS; b++)
		sums[1][b].n = sums[1][b].stated = sums[1][b].n_true = NAN;
	sums[0][4] = (struct res_chance_bin){4, 3.98, 3};
	calibration_of(1, &x);
	assert_near(x.ece.value, .98 / 4, 1e-15);
	assert_true(isnan(x.ece.lo) && isnan(x.ece.hi));
	/* A run without a number counts for nothing, as if it was not there. */
	sums[2][4] = (struct res_chance_bin){4, 3.98, 4};
	calibration_of(3, &x);
	assert_near(x.ece.value, .96 / 8, 1e-15);
	assert_near(x.n, 8, 0);
	assert_true(x.ece.lo <= x.ece.value && x.ece.hi > x.ece.value);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_error_is_that_of_all_components),
	    cmocka_unit_test(intervals_hold_the_error),
	    cmocka_unit_test(without_components_nothing_is_told),
	};
	return cmocka_run_group_tests_name("results/calibration", tests, NULL,
	    NULL);
}
