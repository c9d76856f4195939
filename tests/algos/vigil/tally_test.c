/* tests/algos/vigil/tally_test.c -- votes by hand, exact, in any order, reset.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/vigil/tally.h"

#include "tests/rigs/windows.h"
#include "tests/test.h"

enum { V = ALGO_TALLY_VOTE };

static void each_known_hop_gets_an_equal_share(void **state)
{
	(void)state;
	struct obs w = {0};
	struct algo_tally t;
	WINDOW_ADD(&w, 1, 0, 1, 2, 3);              /* 1/4 each */
	WINDOW_ADD(&w, 7, 1, 5, 3);                 /* 1/3, however many */
	WINDOW_ADD(&w, 0, 0, 1);                    /* lost nothing */
	WINDOW_ADD(&w, 1, TOPO_NONE, 3, TOPO_NONE); /* 1 */
	WINDOW_ADD(&w, 1, TOPO_NONE, TOPO_NONE);    /* nothing known */
	window_add(&w, 1, 0, NULL);                 /* no path at all */
	assert_ok(algo_tally_open(&t, 7, test_err()));
	assert_ok(algo_tally_count(&t, &w, test_err()));

	const uint64_t want[] = {V / 4, V / 4 + V / 3, V / 4, V / 4 + V / 3 + V,
	    0, V / 3, 0};
	for (topo_link l = 0; l < 7; l++)
		assert_int_equal(t.link[l].votes, want[l]);
	assert_int_equal(t.n_voters, 3);
	assert_int_equal(t.n_touched, 5);
	assert_int_equal(t.voter[2].flow, 3);
	assert_int_equal(algo_tally_best(&t, &t.voter[0]), want[3]);
	assert_int_equal(algo_tally_share(&t.voter[1]), V / 3);
	assert_near(algo_tally_votes(want[1]), 0.25 + 1.0 / 3, 1e-15);
	algo_tally_close(&t);
	obs_free(&w);
}

static void one_flow_of_any_length_gives_exactly_one_vote(void **state)
{
	(void)state;
	topo_link path[TOPO_MAX_HOPS];
	struct algo_tally t;
	assert_ok(algo_tally_open(&t, TOPO_MAX_HOPS, test_err()));
	for (unsigned n = 1; n <= TOPO_MAX_HOPS; n++) {
		struct obs w = {0};
		path[n - 1] = n - 1;
		window_add(&w, 1, n, path);
		assert_ok(algo_tally_count(&t, &w, test_err()));
		assert_int_equal(n * t.link[n - 1].votes, V);
		obs_free(&w);
	}
	algo_tally_close(&t);
}

static void votes_a_user_writes_become_the_nearest_units(void **state)
{
	(void)state;
	assert_int_equal(algo_tally_units(0.2), V / 5);
	assert_int_equal(algo_tally_units(0.6), 3 * (V / 5));
	assert_int_equal(algo_tally_units(0), 0);
	assert_true(
	    algo_tally_units(ALGO_TALLY_MAX_VOTES) == (uint64_t)UINT32_MAX * V);
}

static void votes_are_bit_equal_whatever_the_order_of_flows(void **state)
{
	(void)state;
	struct algo_tally a, b;
	assert_ok(algo_tally_open(&a, 50, test_err()));
	assert_ok(algo_tally_open(&b, 50, test_err()));
	for (unsigned run = 0; run < 100; run++) {
		struct obs w = {0}, shuffled = {0};
		struct sim_rng r;
		test_rng(&r, run);
		window_random(&w, 50, 200, &r);
		uint32_t *order = window_shuffled(200, &r);
		window_rename(&w, order, NULL, &shuffled);
		assert_ok(algo_tally_count(&a, &w, test_err()));
		assert_ok(algo_tally_index(&b, &shuffled, test_err()));
		uint64_t sum = 0;
		for (topo_link l = 0; l < 50; l++) {
			assert_true(a.link[l].votes == b.link[l].votes);
			sum += a.link[l].votes;
		}
		assert_true(sum == a.n_voters * V);
		free(order);
		obs_free(&w);
		obs_free(&shuffled);
	}
	algo_tally_close(&a);
	algo_tally_close(&b);
}

static int crosses(const struct obs *w, size_t flow, topo_link l)
{
	for (unsigned j = 0; j < obs_n_hops(w, flow); j++)
		if (obs_path(w, flow)[j] == l)
			return 1;
	return 0;
}

static void the_run_of_a_link_names_its_voters_in_window_order(void **state)
{
	(void)state;
	struct algo_tally t;
	assert_ok(algo_tally_open(&t, 30, test_err()));
	for (unsigned run = 0; run < 50; run++) {
		struct obs w = {0};
		struct sim_rng r;
		test_rng(&r, run);
		window_random(&w, 30, 120, &r);
		assert_ok(algo_tally_index(&t, &w, test_err()));
		/* Runs follow each other, from the first place on. */
		uint32_t begin = 0;
		for (uint32_t i = 0; i < t.n_touched; i++) {
			const struct algo_tally_link *x = &t.link[t.touched[i]];
			assert_int_equal(x->begin, begin);
			begin += x->n_flows;
		}
		for (topo_link l = 0; l < 30; l++) {
			const uint32_t *next = t.by_link + t.link[l].begin;
			unsigned n = 0;
			for (size_t f = 0; f < w.flows.n; f++)
				if (w.flows.n_retx[f] && crosses(&w, f, l)) {
					assert_int_equal(t.voter[*next++].flow,
					    f);
					n++;
				}
			assert_int_equal(t.link[l].n_flows, n);
		}
		obs_free(&w);
	}
	algo_tally_close(&t);
}

static void dropping_every_voter_leaves_no_votes(void **state)
{
	(void)state;
	struct obs w = {0};
	struct algo_tally t;
	struct sim_rng r;
	test_rng(&r, 0);
	window_random(&w, 30, 300, &r);
	assert_ok(algo_tally_open(&t, 30, test_err()));
	assert_ok(algo_tally_count(&t, &w, test_err()));
	assert_true(t.n_voters > 100);
	for (size_t i = 0; i < t.n_voters; i++) {
		algo_tally_drop(&t, &t.voter[i]);
		assert_true(t.voter[i].gone);
	}
	for (topo_link l = 0; l < 30; l++)
		assert_true(t.link[l].votes == 0);
	algo_tally_close(&t);
	obs_free(&w);
}

static void assert_untouched(const struct algo_tally *t)
{
	for (topo_link l = 0; l < t->n_links; l++) {
		assert_true(t->link[l].votes == 0);
		assert_true(t->link[l].n_flows == 0);
		assert_true(t->link[l].begin == 0);
		assert_true(t->flagged[l] == 0);
	}
	assert_int_equal(t->n_voters, 0);
	assert_int_equal(t->n_touched, 0);
}

static void the_next_window_finds_every_link_zeroed(void **state)
{
	(void)state;
	struct obs w = {0}, empty = {0};
	struct algo_tally t;
	struct sim_rng r;
	test_rng(&r, 0);
	window_random(&w, 30, 100, &r);
	assert_ok(algo_tally_open(&t, 30, test_err()));
	assert_ok(algo_tally_index(&t, &w, test_err()));
	t.flagged[t.touched[3]] = 1;
	assert_ok(algo_tally_count(&t, &empty, test_err()));
	assert_untouched(&t);
	algo_tally_close(&t);
	assert_null(t.link);
	obs_free(&w);
}

static void a_window_that_does_not_fit_is_refused_and_forgotten(void **state)
{
	(void)state;
	static const struct {
		uint64_t off1, off2;
		size_t n_hops;
		const char *text;
	} cases[] = {
	    {2, 5, 20, "flow 1: hop 2 is link 8, but there are only 8"},
	    {4, 2, 20, "flow 1: its hops are 4 to 2"},
	    {2, 19, 20, "flow 1 has 17 hops, more than 16"},
	    {17, 20, 19, "flow 1: its hops are 17 to 20"},
	};
	topo_link hop[20] = {0, 1, 2, 3, 8};
	struct obs w = {0}, empty = {0};
	struct algo_tally t;
	struct sim_err e;
	WINDOW_ADD(&w, 1, 0, 1);
	window_add(&w, 1, 18, hop + 2);
	assert_ok(algo_tally_open(&t, 8, test_err()));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		w.hops.n = cases[i].n_hops;
		w.hops.off[1] = cases[i].off1;
		w.hops.off[2] = cases[i].off2;
		/* Flow 0 must be sound, or flow 1 would not be checked. */
		w.hops.off[0] = cases[i].off1 - 2;
		assert_int_equal(algo_tally_count(&t, &w, &e), SIM_EINVAL);
		if (!strstr(e.msg, cases[i].text))
			fail_msg("\"%s\" lacks \"%s\"", e.msg, cases[i].text);
		assert_ok(algo_tally_count(&t, &empty, test_err()));
		assert_untouched(&t);
	}
	algo_tally_close(&t);
	obs_free(&w);
}

static void too_many_flows_are_refused_before_they_are_read(void **state)
{
	(void)state;
	struct obs w = {.flows.n = UINT32_MAX};
	struct algo_tally t;
	struct sim_err e;
	assert_ok(algo_tally_open(&t, 1, test_err()));
	assert_int_equal(algo_tally_count(&t, &w, &e), SIM_ELIMIT);
	algo_tally_close(&t);
}

static int index_window(void *arg, struct sim_err *e)
{
	struct algo_tally t;
	int rc;
	if ((rc = algo_tally_open(&t, 50, e)) < 0)
		return rc;
	rc = algo_tally_index(&t, arg, e);
	algo_tally_close(&t);
	return rc;
}

static void every_allocation_may_fail(void **state)
{
	(void)state;
	struct obs w = {0};
	struct sim_rng r;
	test_rng(&r, 0);
	window_random(&w, 50, 200, &r);
	test_each_alloc_fails(index_window, &w);
	obs_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_known_hop_gets_an_equal_share),
	    cmocka_unit_test(one_flow_of_any_length_gives_exactly_one_vote),
	    cmocka_unit_test(votes_a_user_writes_become_the_nearest_units),
	    cmocka_unit_test(votes_are_bit_equal_whatever_the_order_of_flows),
	    cmocka_unit_test(
		the_run_of_a_link_names_its_voters_in_window_order),
	    cmocka_unit_test(dropping_every_voter_leaves_no_votes),
	    cmocka_unit_test(the_next_window_finds_every_link_zeroed),
	    cmocka_unit_test(
		a_window_that_does_not_fit_is_refused_and_forgotten),
	    cmocka_unit_test(too_many_flows_are_refused_before_they_are_read),
	    cmocka_unit_test(every_allocation_may_fail),
	};
	return cmocka_run_group_tests_name("algos/vigil/tally", tests, NULL,
	    NULL);
}
