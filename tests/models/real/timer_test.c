/* tests/models/real/timer_test.c -- timers come in order of due time.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/real/timer.h"

#include "tests/test.h"

enum { MANY = 300 };

/* Random sets and takes, against the least of a plain list. */
static void the_first_due_is_taken_first(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 200; run++) {
		struct real_timer list[MANY], got;
		struct real_timers t = {0};
		struct sim_rng r;
		size_t n = 0;
		test_rng(&r, run);
		for (uint64_t i = 0; i < MANY; i++) {
			const sim_ns at = sim_rng_below(&r, 50);
			assert_ok(real_timers_set(&t, at, (topo_host)i, i,
			    test_err()));
			list[n++] = (struct real_timer){.at = at, .token = i};
			while (n > 0 && sim_rng_below(&r, 3) == 0) {
				size_t k = 0;
				for (size_t j = 1; j < n; j++)
					if (list[j].at < list[k].at)
						k = j;
				const sim_ns next = list[k].at;
				assert_int_equal(real_timers_next(&t), next);
				assert_true(next == 0 ||
				    !real_timers_take(&t, next - 1, &got));
				assert_true(real_timers_take(&t, next, &got));
				if (got.token != list[k].token)
					fail_msg("seed %llu run %u",
					    (unsigned long long)test_seed(),
					    run);
				assert_int_equal(got.host, list[k].token);
				memmove(&list[k], &list[k + 1],
				    (--n - k) * sizeof(list[0]));
			}
		}
		assert_int_equal(t.n, n);
		real_timers_free(&t);
		assert_int_equal(real_timers_next(&t), SIM_NEVER);
	}
}

/* What is dropped never comes; the others come as if it had not been. */
static void a_hosts_timers_are_dropped(void **state)
{
	enum { HOSTS = 5 };
	(void)state;
	for (uint32_t run = 0; run < 100; run++) {
		struct real_timers t = {0}, want = {0};
		struct real_timer a, b;
		struct sim_rng r;
		test_rng(&r, run);
		const topo_host gone = sim_rng_below(&r, HOSTS + 1);
		for (uint64_t i = 0; i < MANY; i++) {
			const sim_ns at = sim_rng_below(&r, 50);
			const topo_host h = sim_rng_below(&r, HOSTS);
			assert_ok(real_timers_set(&t, at, h, i, test_err()));
			if (h != gone)
				assert_ok(real_timers_set(&want, at, h, i,
				    test_err()));
		}
		real_timers_drop(&t, gone);
		assert_int_equal(t.n, want.n);
		while (real_timers_take(&want, SIM_NEVER, &a)) {
			assert_true(real_timers_take(&t, SIM_NEVER, &b));
			assert_int_equal(a.token, b.token);
			assert_int_equal(a.at, b.at);
		}
		assert_int_equal(t.n, 0);
		real_timers_free(&t);
		real_timers_free(&want);
	}
}

static int set_some(void *arg, struct sim_err *e)
{
	struct real_timers t = {0};
	int rc = 0;
	(void)arg;
	for (uint64_t i = 0; rc == 0 && i < MANY; i++)
		rc = real_timers_set(&t, i, 0, i, e);
	real_timers_free(&t);
	return rc;
}

static void failed_allocations_are_told(void **state)
{
	(void)state;
	test_each_alloc_fails(set_some, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_first_due_is_taken_first),
	    cmocka_unit_test(a_hosts_timers_are_dropped),
	    cmocka_unit_test(failed_allocations_are_told),
	};
	return cmocka_run_group_tests_name("models/real/timer", tests, NULL,
	    NULL);
}
