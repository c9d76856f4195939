/* tests/algos/sieve/sieve_halves_test.c -- halves of ways count as paths do.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/sieve/sieve_halves.h"

#include "tests/test.h"
#include "topo/clos.h"

enum { N_LINKS = 40, N_SWITCHES = 6 };

/* Count N packets at random on paths of P, and compare with each link's sum. */
static void assert_counts(struct sieve_halves *h, const struct obs_paths *p,
    uint32_t n_links, uint32_t n_switches, uint32_t run)
{
	struct sim_rng r;
	double *on = calloc(2 * (size_t)n_links, sizeof(*on)),
	       *want = on + n_links;
	assert_non_null(on);
	test_rng(&r, run);
	assert_ok(sieve_halves_begin(h, p, n_switches, test_err()));
	for (unsigned k = 0; k < 500; k++) {
		const uint32_t set = sim_rng_below(&r, (uint32_t)p->n_sets),
			       at = sim_rng_below(&r, obs_set_size(p, set)),
			       path = p->first[set] + at,
			       n = 1 + sim_rng_below(&r, 1000);
		sieve_halves_count(h, &h->set[set], at, n);
		for (uint32_t i = p->off[path]; i < p->off[path + 1]; i++)
			want[p->link[i]] += n;
	}
	sieve_halves_end(h, on);
	for (uint32_t l = 0; l < n_links; l++)
		if (on[l] != want[l])
			fail_msg("run %u, link %u: %g, not %g", run, l, on[l],
			    want[l]);
	free(on);
}

/* Of any lengths, of few links so that many halves are alike, or nearly. */
static void add_any(struct obs_paths *p, struct sim_rng *r, uint32_t from,
    uint32_t to)
{
	assert_ok(obs_paths_open(p, from, to, test_err()));
	for (uint32_t n = 1 + sim_rng_below(r, 3); n > 0; n--) {
		topo_link link[4];
		const unsigned length = sim_rng_below(r, 5);
		for (unsigned k = 0; k < length; k++)
			link[k] = sim_rng_below(r, 3);
		assert_ok(obs_paths_add(p, link, length, test_err()));
	}
}

/* Sets come between windows, and all are cleared at times. */
static void any_paths_count_as_their_links(void **state)
{
	struct obs_paths p = {0};
	struct sieve_halves h = {0};
	struct sim_rng r;
	(void)state;
	test_rng(&r, 1000);
	for (uint32_t run = 0; run < 60; run++) {
		if (run % 12 == 0)
			obs_paths_clear(&p);
		for (uint32_t k = 0; k < 3; k++) {
			const uint32_t at = 3 * (run % 12) + k;
			add_any(&p, &r, at / N_SWITCHES, at % N_SWITCHES);
		}
		assert_counts(&h, &p, N_LINKS, N_SWITCHES, run);
	}
	sieve_halves_free(&h);
	obs_paths_free(&p);
}

/* What is worth it: of a Clos' ToRs in pairs, halves are as many as links between
 * switches, on all of which something goes. */
static void halves_of_a_clos_stand_once(void **state)
{
	static const struct topo_clos leaves = {.n_pods = 1,
	    .n_tors = 12,
	    .n_t1 = 5,
	    .n_hosts = 2};
	struct obs_paths p = {0};
	struct sieve_halves h = {0};
	struct topo t;
	uint32_t set;
	(void)state;
	assert_ok(topo_open_clos(&t, &leaves, test_err()));
	for (topo_switch a = 0; a < 12; a++)
		for (topo_switch b = 0; b < 12; b++)
			if (a != b)
				assert_ok(obs_paths_between(&p, &t, a, b, &set,
				    test_err()));
	assert_counts(&h, &p, t.n_links, t.n_switches, 2000);
	assert_int_equal(h.n, 2 * 12 * 5);
	sieve_halves_free(&h);
	obs_paths_free(&p);
	topo_close(&t);
}

static int begin_once(void *arg, struct sim_err *e)
{
	struct sieve_halves h = {0};
	const int rc = sieve_halves_begin(&h, arg, N_SWITCHES, e);
	sieve_halves_free(&h);
	return rc;
}

static void memory_that_ends_is_told(void **state)
{
	struct obs_paths p = {0};
	struct sim_rng r;
	(void)state;
	test_rng(&r, 3000);
	for (uint32_t k = 0; k < 9; k++)
		add_any(&p, &r, k / N_SWITCHES, k % N_SWITCHES);
	test_each_alloc_fails(begin_once, &p);
	obs_paths_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(any_paths_count_as_their_links),
	    cmocka_unit_test(halves_of_a_clos_stand_once),
	    cmocka_unit_test(memory_that_ends_is_told),
	};
	return cmocka_run_group_tests_name("algos/sieve/sieve_halves", tests,
	    NULL, NULL);
}
