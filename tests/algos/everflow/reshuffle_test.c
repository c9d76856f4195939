/* tests/algos/everflow/reshuffle_test.c -- flows are shared among analyzers.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/everflow/reshuffle.h"

#include "tests/test.h"

enum { N = 8, N_FLOWS = 20000 };

static struct topo_tuple any_tuple(struct sim_rng *r)
{
	return (struct topo_tuple){sim_rng_u32(r), sim_rng_u32(r),
	    (uint16_t)sim_rng_u32(r), (uint16_t)sim_rng_u32(r),
	    sim_rng_below(r, 2) ? 6 : 17};
}

static void even(struct algo_reshuffle_to to[N])
{
	for (uint32_t i = 0; i < N; i++)
		to[i] = (struct algo_reshuffle_to){i + 100, 1};
}

static void both_directions_meet(void **state)
{
	(void)state;
	struct algo_reshuffle_to to[N];
	struct sim_rng r;
	test_rng(&r, 0);
	even(to);
	for (int i = 0; i < N_FLOWS; i++) {
		const struct topo_tuple t = any_tuple(&r);
		const struct topo_tuple back = {t.dst_ip, t.src_ip, t.dst_port,
		    t.src_port, t.proto};
		assert_true(
		    algo_reshuffle_hash(&t) == algo_reshuffle_hash(&back));
		assert_int_equal(algo_reshuffle(to, N, &t),
		    algo_reshuffle(to, N, &back));
	}
}

/* Each share is binomial; beyond six standard deviations is one in 5e8 seeds
 * for each of 8. */
static void shares_are_as_the_weights(void **state)
{
	(void)state;
	struct algo_reshuffle_to to[N];
	uint32_t n[N + 1] = {0};
	double sum = 0;
	struct sim_rng r;
	test_rng(&r, 1);
	even(to);
	for (uint32_t i = 0; i < N; i++)
		sum += to[i].weight = i / 4.0;
	for (int i = 0; i < N_FLOWS; i++) {
		const struct topo_tuple t = any_tuple(&r);
		n[algo_reshuffle(to, N, &t)]++;
	}
	assert_int_equal(n[0], 0);
	assert_int_equal(n[N], 0);
	for (uint32_t i = 1; i < N; i++) {
		const double p = to[i].weight / sum;
		assert_near(n[i], p * N_FLOWS, 6 * sqrt(p * (1 - p) * N_FLOWS));
	}
}

/* Change the weight of one from A to B: who moves, moves to or from it. */
static uint32_t moved(uint32_t which, double a, double b)
{
	struct algo_reshuffle_to to[N];
	struct sim_rng r;
	uint32_t n = 0;
	test_rng(&r, 2);
	even(to);
	for (int i = 0; i < N_FLOWS; i++) {
		const struct topo_tuple t = any_tuple(&r);
		to[which].weight = a;
		const uint32_t before = algo_reshuffle(to, N, &t);
		to[which].weight = b;
		const uint32_t after = algo_reshuffle(to, N, &t);
		if (before == after)
			continue;
		n++;
		assert_int_equal(b < a ? before : after, which);
	}
	return n;
}

static void only_flows_of_what_changed_move(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < N; i++) {
		/* One dies, and comes back. */
		assert_near(moved(i, 1, 0), N_FLOWS / 8.0, 300);
		assert_near(moved(i, 0, 1), N_FLOWS / 8.0, 300);
		/* From 1/8 to 1/15. */
		assert_near(moved(i, 1, 0.5), N_FLOWS * (1 / 8. - 1 / 15.),
		    300);
		assert_int_equal(moved(i, 1, 1), 0);
	}
}

static void where_it_stands_in_the_list_does_not_matter(void **state)
{
	(void)state;
	struct algo_reshuffle_to to[N], turned[N];
	struct sim_rng r;
	test_rng(&r, 3);
	even(to);
	for (uint32_t i = 0; i < N; i++)
		turned[N - 1 - i] = to[i];
	for (int i = 0; i < N_FLOWS; i++) {
		const struct topo_tuple t = any_tuple(&r);
		assert_int_equal(algo_reshuffle(to, N, &t),
		    N - 1 - algo_reshuffle(turned, N, &t));
	}
}

static void nobody_gets_what_nobody_takes(void **state)
{
	(void)state;
	struct algo_reshuffle_to to[N] = {{0}};
	const struct topo_tuple t = {1, 2, 3, 4, 6};
	assert_int_equal(algo_reshuffle(to, N, &t), N);
	assert_int_equal(algo_reshuffle(to, 0, &t), 0);
	to[5].weight = 1e-300;
	assert_int_equal(algo_reshuffle(to, N, &t), 5);
}

/* Loads follow the weights; all that an analyzer is above HIGH is gone soon, and
 * nobody's weight falls who was not. */
static void load_moves_away_from_the_congested(void **state)
{
	(void)state;
	struct algo_reshuffle_to to[N];
	double load[N], capacity[N];
	even(to);
	for (uint32_t i = 0; i < N; i++)
		capacity[i] = i == 3 ? 0.05 : 0.25; /* of all traffic */
	uint32_t n_lowered = 1, steps = 0;
	while (n_lowered > 0 && steps++ < 50) {
		double sum = 0;
		for (uint32_t i = 0; i < N; i++)
			sum += to[i].weight;
		for (uint32_t i = 0; i < N; i++)
			load[i] = to[i].weight / sum / capacity[i];
		n_lowered = algo_reshuffle_shift(to, N, load, 0.3, 0.8);
		for (uint32_t i = 0; i < N; i++)
			assert_true(i == 3 || to[i].weight == 1);
	}
	assert_true(steps < 50);
	assert_true(load[3] <= 0.8 && load[3] > 0.6);
	/* When it is idle it gets its share back, unless it is dead. */
	for (uint32_t i = 0; i < N; i++)
		load[i] = 0.1;
	to[4].weight = 0;
	for (int i = 0; i < 60; i++)
		assert_int_equal(algo_reshuffle_shift(to, N, load, 0.3, 0.8),
		    0);
	for (uint32_t i = 0; i < N; i++)
		assert_true(to[i].weight == (i == 4 ? 0 : 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(both_directions_meet),
	    cmocka_unit_test(shares_are_as_the_weights),
	    cmocka_unit_test(only_flows_of_what_changed_move),
	    cmocka_unit_test(where_it_stands_in_the_list_does_not_matter),
	    cmocka_unit_test(nobody_gets_what_nobody_takes),
	    cmocka_unit_test(load_moves_away_from_the_congested),
	};
	return cmocka_run_group_tests_name("algos/everflow/reshuffle", tests,
	    NULL, NULL);
}
