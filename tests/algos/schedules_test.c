/* tests/algos/schedules_test.c -- what agents promise, in thousands of schedules.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * tests/rigs/schedule.h says what a schedule is, and what is printed when one breaks a
 * promise. Nothing here is statistical: no false alarms. SCHEDULES=n in the
 * environment tries n of each agent, SCHEDULES_FIRST=k from the k-th.
 */
#include "tests/rigs/schedule.h"

#include "tests/rigs/schedule_machines.h"
#include "tests/test.h"

/* --- the engine, on a machine with a known defect ------------------------- */
enum toy_kind { UP, DOWN, LOOK };
static const struct schedule_kind toy_kinds[] =
    {[UP] = {"up", 3}, [DOWN] = {"down", 2}, [LOOK] = {"look", 1}, {0}};
static const char *const toy_seen[] = {NULL};
static const char toy_broken[] = "the sum is below 5";

static const char *toy_begin(void *life, const struct sim_seed *where,
    struct schedule_tally *tally)
{
	(void)where;
	(void)tally;
	*(uint64_t *)life = 0;
	return NULL;
}

/* It is noticed only when somebody looks. */
static const char *toy_step(void *life, struct schedule_step s)
{
	uint64_t *sum = life;
	if (s.kind == UP)
		*sum += s.x >> 28;
	else if (s.kind == DOWN)
		*sum -= *sum > 0;
	return s.kind == LOOK && *sum >= 5 ? toy_broken : NULL;
}

static const struct schedule_machine toy = {.name = "toy",
    .kind = toy_kinds,
    .seen = toy_seen,
    .n_least = 50,
    .n_most = 400,
    .size = sizeof(uint64_t),
    .begin = toy_begin,
    .step = toy_step};

/* Steps up by 5 together, no more, and a look: nothing can be left out or lessened by
 * itself. Mostly that is one step; where none of the last ones is of 5 or more it is
 * two. */
static void the_shortest_schedule_is_found(void **state)
{
	struct schedule_found f;
	struct schedule_tally tally = {0};
	unsigned n_of_two = 0;
	(void)state;
	for (uint32_t run = 0; run < 20; run++) {
		assert_true(
		    schedule_search(&toy, test_seed(), run, 1, &f, &tally));
		assert_ptr_equal(f.broken, toy_broken);
		assert_in_range(f.n, 2, 6);
		n_of_two += f.n == 2;
		assert_int_equal(f.step[f.n - 1].kind, LOOK);
		assert_ptr_equal(schedule_live(&toy, &f, &tally), toy_broken);
		uint32_t sum = 0;
		for (size_t i = 0; i + 1 < f.n; i++) {
			assert_int_equal(f.step[i].kind, UP);
			sum += f.step[i].x;
			f.step[i].x--;
			assert_null(schedule_live(&toy, &f, &tally));
			f.step[i].x++;
		}
		assert_int_equal(sum, 5u << 28);
	}
	assert_in_range(n_of_two, 14, 20);
}

static void a_schedule_is_of_its_seed_and_run_alone(void **state)
{
	struct schedule_found one, again, other;
	struct schedule_tally tally = {0};
	(void)state;
	assert_true(schedule_search(&toy, 7, 3, 1, &one, &tally));
	assert_true(schedule_search(&toy, 7, 3, 1, &again, &tally));
	assert_int_equal(one.n_drawn, again.n_drawn);
	assert_memory_equal(one.step, again.step, one.n * sizeof(one.step[0]));
	assert_true(schedule_search(&toy, 7, 4, 1, &other, &tally));
	assert_int_not_equal(one.n_drawn, other.n_drawn);
}

/* --- the agents ----------------------------------------------------------- */
static void no_schedule_breaks_a_promise_of_the_sampler(void **state)
{
	(void)state;
	schedule_hold(&schedule_sampler, 3000);
}

static void no_schedule_breaks_a_promise_of_the_path_agent(void **state)
{
	(void)state;
	schedule_hold(&schedule_path, 3000);
}

static void no_schedule_breaks_a_promise_of_the_prober(void **state)
{
	(void)state;
	schedule_hold(&schedule_prober, 3000);
}

static void no_schedule_breaks_a_promise_of_pingmesh(void **state)
{
	(void)state;
	schedule_hold(&schedule_pingmesh, 3000);
}

/* It asked again, got a list and probed until the host told it anew to end. */
static void who_ends_asks_nobody_though_the_clock_jumps(void **state)
{
	static const struct schedule_step steps[] = {
	    {9, 0, 0}, /* the host is about to end */
	    {6, 0, 0}, /* the clock jumps */
	};
	(void)state;
	schedule_hold_steps(&schedule_pingmesh, 1, steps, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_shortest_schedule_is_found),
	    cmocka_unit_test(a_schedule_is_of_its_seed_and_run_alone),
	    cmocka_unit_test(no_schedule_breaks_a_promise_of_the_sampler),
	    cmocka_unit_test(no_schedule_breaks_a_promise_of_the_path_agent),
	    cmocka_unit_test(no_schedule_breaks_a_promise_of_the_prober),
	    cmocka_unit_test(no_schedule_breaks_a_promise_of_pingmesh),
	    cmocka_unit_test(who_ends_asks_nobody_though_the_clock_jumps),
	};
	return cmocka_run_group_tests_name("algos/schedules", tests, NULL,
	    NULL);
}
