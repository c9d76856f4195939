/* tests/algos/vigil/top_test.c -- the top link, by searching all links.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/vigil/top.h"

#include "tests/rigs/windows.h"
#include "tests/test.h"

enum { N_LINKS = 60 };

/* A tally with keys in a few orders of magnitude and many ties. */
static void random_tally(struct algo_tally *t, struct sim_rng *r)
{
	assert_ok(algo_tally_open(t, N_LINKS, test_err()));
	for (topo_link l = 0; l < N_LINKS; l++) {
		if (sim_rng_below(r, 5) == 0)
			continue;
		t->link[l].votes =
		    1 + (sim_rng_below(r, 8) << 4 * sim_rng_below(r, 6));
		t->link[l].n_flows = 1 + sim_rng_below(r, 12);
		t->touched[t->n_touched++] = l;
	}
}

static uint64_t key(const struct algo_tally *t, enum algo_top_by by,
    topo_link l)
{
	return by == ALGO_TOP_VOTES ? t->link[l].votes : t->link[l].n_flows;
}

static topo_link search(const struct algo_tally *t, enum algo_top_by by,
    const uint8_t *taken)
{
	topo_link best = TOPO_NONE;
	for (topo_link l = 0; l < N_LINKS; l++) {
		if (taken[l] || key(t, by, l) == 0)
			continue;
		if (best == TOPO_NONE || key(t, by, l) > key(t, by, best) ||
		    (key(t, by, l) == key(t, by, best) &&
			by == ALGO_TOP_FLOWS_THEN_VOTES &&
			t->link[l].votes > t->link[best].votes))
			best = l;
	}
	return best;
}

static void lower_some(struct algo_tally *t, enum algo_top_by by,
    struct sim_rng *r)
{
	for (unsigned n = sim_rng_below(r, 30); n > 0; n--) {
		struct algo_tally_link *l = &t->link[sim_rng_below(r, N_LINKS)];
		if (by == ALGO_TOP_VOTES)
			l->votes = l->votes * sim_rng_below(r, 11) / 10;
		else
			l->n_flows = l->n_flows * sim_rng_below(r, 11) / 10;
	}
}

static void the_top_link_is_the_one_a_search_finds(void **state)
{
	(void)state;
	struct algo_top q = {0};
	for (unsigned run = 0; run < 600; run++) {
		const enum algo_top_by by = run % 3;
		struct algo_tally t;
		struct sim_rng r;
		uint8_t taken[N_LINKS] = {0};
		test_rng(&r, run);
		random_tally(&t, &r);
		assert_ok(algo_top_start(&q, &t, by, test_err()));
		for (;;) {
			const topo_link want = search(&t, by, taken);
			const topo_link got = algo_top_peek(&q);
			if (got != want)
				fail_msg("(seed %lu, run %u): %u, not %u",
				    (unsigned long)test_seed(), run, got, want);
			if (got == TOPO_NONE)
				break;
			assert_int_equal(algo_top_peek(&q), got);
			algo_top_take(&q);
			taken[got] = 1;
			if (run % 2)
				lower_some(&t, by, &r);
		}
		algo_tally_close(&t);
	}
	algo_top_free(&q);
	algo_top_free(&q);
}

static void a_tally_without_votes_has_no_top(void **state)
{
	(void)state;
	struct algo_top q = {0};
	struct algo_tally t;
	assert_ok(algo_tally_open(&t, 5, test_err()));
	assert_ok(algo_top_start(&q, &t, ALGO_TOP_VOTES, test_err()));
	assert_int_equal(algo_top_peek(&q), TOPO_NONE);
	algo_tally_close(&t);
	algo_top_free(&q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_top_link_is_the_one_a_search_finds),
	    cmocka_unit_test(a_tally_without_votes_has_no_top),
	};
	return cmocka_run_group_tests_name("algos/vigil/top", tests, NULL,
	    NULL);
}
