/* tests/experiments/planner/agents_test.c -- plane planner by agents, simulated.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Seeds are fixed, so that nothing here fires by chance but where it was made to.
 */
#include "experiments/sweep/trial.h"
#include "tests/test.h"

#define SPEC "tests/real/planner.yaml"

enum { AGENTS_RUNS = 40, AGENTS_MAX_ROW = 1024 };

struct agents_row {
	double all[AGENTS_MAX_ROW];
};

static struct res_trial_metrics agents_run(const char *const set[], size_t n,
    uint32_t run)
{
	struct res_trial_metrics m;
	struct agents_row row;
	struct xp_trial *t;
	struct xp_spec s;
	assert_ok(xp_spec_load(&s, SPEC, 0, set, n, test_err()));
	assert_ok(xp_trial_open(&t, &s, test_err()));
	assert_ok(xp_trial_run(t, 0, run, row.all, test_err()));
	memcpy(&m, row.all, sizeof(m));
	xp_trial_close(t);
	xp_spec_free(&s);
	return m;
}

/* Both searches stop with a stated error below what was asked for. Of 40 runs
 * with .05 links expected to be taken wrongly in each of both searches, more than
 * 8 are with probability 4e-2 if that is so, and what is stated is too much. */
static void searches_stop_at_the_error_that_they_state(void **state)
{
	double plan = 0, turn = 0, wrong = 0;
	(void)state;
	for (uint32_t run = 0; run < AGENTS_RUNS; run++) {
		const struct res_trial_metrics m = agents_run(NULL, 0, run);
		assert_true(m.plan_stated < 0.05 && m.turn_stated < 0.05);
		assert_int_equal(m.plan_cut, 0);
		assert_int_equal(m.n_faults, 1);
		assert_true(m.plan_right >= 12 && m.turn_right >= 12);
		plan += m.plan_stop;
		turn += m.turn_stop;
		wrong += m.plan_wrong + m.turn_wrong;
	}
	print_message("planned %.0f, in turn %.0f probes; %.0f links wrongly\n",
	    plan / AGENTS_RUNS, turn / AGENTS_RUNS, wrong);
	assert_true(wrong <= 8);
	assert_true(turn > 1.15 * plan);
}

/* Where nothing fails nobody is accused. */
static void without_a_failure_none_is_found(void **state)
{
	const char *const set[] = {"faults.count=0"};
	(void)state;
	for (uint32_t run = 0; run < 10; run++) {
		const struct res_trial_metrics m = agents_run(set, 1, run);
		assert_int_equal(m.plan_wrong, 0);
		assert_int_equal(m.turn_wrong, 0);
		assert_true(m.plan_stated < 0.05);
	}
}

/* What links lose of answers, and switches keep back, makes ways unknown and
 * nothing wrong. */
static void noise_hides_ways_and_accuses_none(void **state)
{
	const char *const set[] = {"noise.rate={uniform: [0, 1e-4]}",
	    "faults.rate=0.1", "planner.agents.tries=1"};
	(void)state;
	for (uint32_t run = 0; run < 10; run++) {
		const struct res_trial_metrics m = agents_run(set, 3, run);
		assert_int_equal(m.plan_wrong, 0);
		assert_int_equal(m.turn_wrong, 0);
		assert_int_equal(m.plan_cut, 0);
	}
}

static void the_same_run_is_the_same(void **state)
{
	const struct res_trial_metrics a = agents_run(NULL, 0, 7),
				       b = agents_run(NULL, 0, 7),
				       c = agents_run(NULL, 0, 8);
	(void)state;
	assert_memory_equal(&a, &b, sizeof(a));
	assert_true(memcmp(&a, &c, sizeof(a)) != 0);
}

static int agents_open_and_run(void *arg, struct sim_err *e)
{
	struct agents_row row;
	struct xp_trial *t = NULL;
	int rc = xp_trial_open(&t, arg, e);
	if (rc == 0)
		rc = xp_trial_run(t, 0, 1, row.all, e);
	xp_trial_close(t);
	return rc;
}

static void memory_that_ends_is_told(void **state)
{
	const char *const set[] = {"planner.error=5"};
	struct xp_spec s;
	(void)state;
	assert_ok(xp_spec_load(&s, SPEC, 0, set, 1, test_err()));
	test_each_alloc_fails(agents_open_and_run, &s);
	xp_spec_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(searches_stop_at_the_error_that_they_state),
	    cmocka_unit_test(without_a_failure_none_is_found),
	    cmocka_unit_test(noise_hides_ways_and_accuses_none),
	    cmocka_unit_test(the_same_run_is_the_same),
	    cmocka_unit_test(memory_that_ends_is_told),
	};
	return cmocka_run_group_tests_name("experiments/planner/agents", tests,
	    NULL, NULL);
}
