/* tests/experiments/pingmesh/bulk/buckets_test.c -- laws of a quantile's bucket.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/bulk/buckets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algos/pingmesh/perf.h"
#include "tests/test.h"

enum { RUNS = 60, MOST = 700 };

/* One of them has no time in common with the others for most of its values. */
static const struct fabric_sim_rtt law[CONNECTS_N_HOPS] =
    {{.fixed_us = 20, .queue_us = 9, .burst_us = 300, .burst_share = .02},
	{.fixed_us = 60, .queue_us = 25, .burst_us = 900, .burst_share = .05},
	{.fixed_us = 400,
	    .queue_us = 90,
	    .burst_us = 2500,
	    .burst_share = .01,
	    .stall_share = .001,
	    .stall_mu = 9,
	    .stall_sigma = 1}};
static const sim_ns below = 3 * SIM_SEC;

static struct xp_buckets *open_buckets(void)
{
	struct xp_buckets *b = calloc(1, sizeof(*b));
	assert_non_null(b);
	xp_buckets_init(b, law, below);
	return b;
}

/* Put one trial of chance P behind the N of which CHANCE[k] is that of k. */
static void add_trial(long double chance[], size_t n, long double p)
{
	chance[n + 1] = 0;
	for (size_t k = n + 1; k > 0; k--)
		chance[k] = chance[k] * (1 - p) + chance[k - 1] * p;
	chance[0] *= 1 - p;
}

static long double above(int hop, sim_ns end)
{
	const long double beyond =
	    fabric_sim_rtt_tail(&law[hop], (double)below / 1e3);
	const long double tail =
	    fabric_sim_rtt_tail(&law[hop], (double)end / 1e3);
	return tail > beyond ? (tail - beyond) / (1 - beyond) : 0;
}

/* P(the value of RANK among QUICK is at most END): at most as many are above it as
 * ranks are above this one. Trial by trial. */
static double at_most(const uint64_t quick[], uint64_t rank, sim_ns end)
{
	static long double chance[MOST + 2];
	size_t n = 0;
	long double sum = 0;
	chance[0] = 1;
	for (int h = 0; h < CONNECTS_N_HOPS; h++)
		for (uint64_t i = 0; i < quick[h]; i++)
			add_trial(chance, n++, above(h, end));
	for (size_t k = 0; k + rank <= n; k++)
		sum += chance[k];
	return (double)sum;
}

static const struct xp_buckets_law *find(const struct xp_buckets *b,
    const uint64_t quick[], uint64_t rank)
{
	const struct xp_buckets_law *found = NULL;
	for (size_t i = 0; i < XP_BUCKETS_PLACES; i++) {
		const struct xp_buckets_law *l = &b->place[i];
		if (l->n == 0 || l->rank != rank ||
		    memcmp(l->quick, quick, sizeof(l->quick)) != 0)
			continue;
		assert_null(found);
		found = l;
	}
	return found;
}

/* Counts of all sizes, some of them 0, and any rank. */
static uint64_t draw_counts(struct sim_rng *r, uint64_t quick[])
{
	uint64_t n = 0;
	while (n == 0)
		for (int h = 0; h < CONNECTS_N_HOPS; h++) {
			quick[h] = sim_rng_below(r, 4) == 0
			    ? 0
			    : sim_rng_below(r, 200) >> sim_rng_below(r, 6);
			n += quick[h];
		}
	return 1 + sim_rng_below(r, (uint32_t)n);
}

/* The bucket before END's. */
static sim_ns end_before(sim_ns end)
{
	const uint32_t i = algo_pingmesh_bucket(end - 1);
	return i > 0 ? algo_pingmesh_bucket_end(i - 1) : 0;
}

/* All that a law leaves out has next to no weight. */
static void assert_law(const struct xp_buckets *b, const uint64_t quick[],
    uint64_t rank, uint32_t run)
{
	const struct xp_buckets_law *l = find(b, quick, rank);
	assert_non_null(l);
	const sim_ns *end = &b->end[l->first];
	const double *upto = &b->upto[l->first];
	assert_true(at_most(quick, rank, end_before(end[0])) < 1e-12);
	assert_true(at_most(quick, rank, end[l->n - 1]) > 1 - 1e-11);
	assert_true(upto[l->n - 1] == 1);
	for (uint32_t i = 0; i < l->n; i++) {
		const double want = at_most(quick, rank, end[i]);
		if (fabs(upto[i] - want) > 1e-11)
			fail_msg("run %u: rank %llu, bucket %u of %u: %g, not "
				 "%g",
			    run, (unsigned long long)rank, i, l->n, upto[i],
			    want);
		if (i > 0)
			assert_true(end_before(end[i]) == end[i - 1]);
	}
}

static void laws_are_those_of_single_round_trips(void **state)
{
	(void)state;
	struct xp_buckets *b = open_buckets();
	for (uint32_t run = 0; run < RUNS; run++) {
		struct sim_rng r;
		uint64_t quick[CONNECTS_N_HOPS];
		test_rng(&r, run);
		const uint64_t rank = draw_counts(&r, quick);
		xp_buckets_draw(b, quick, rank, &r);
		assert_law(b, quick, rank, run);
	}
	free(b);
}

/* Of one number below 1; where a bucket is certain, of none. */
static void a_draw_is_the_first_end_above_its_number(void **state)
{
	(void)state;
	struct xp_buckets *b = open_buckets();
	unsigned n_certain = 0;
	for (uint32_t run = 0; run < 400; run++) {
		struct sim_rng r, twin;
		uint64_t quick[CONNECTS_N_HOPS];
		test_rng(&r, RUNS + run);
		test_rng(&twin, RUNS + run);
		uint64_t rank = draw_counts(&r, quick);
		draw_counts(&twin, quick);
		if (run == 0) {
			/* Of very many one bucket has all of the median. */
			memcpy(quick, (uint64_t[]){0, 0, 100000000},
			    sizeof(quick));
			rank = 30000000;
		}
		const sim_ns got = xp_buckets_draw(b, quick, rank, &r);
		const struct xp_buckets_law *l = find(b, quick, rank);
		uint32_t i = 0;
		n_certain += l->n == 1;
		if (l->n > 1)
			for (const double u = sim_rng_u01(&twin);
			     b->upto[l->first + i] <= u;)
				i++;
		assert_true(got == b->end[l->first + i]);
		assert_true(sim_rng_u32(&r) == sim_rng_u32(&twin));
	}
	assert_true(n_certain > 0);
	free(b);
}

/* More laws than there is room for: what is forgotten is made again, and the same;
 * no place is lost, and ends stay within theirs. */
static void what_is_forgotten_is_made_again(void **state)
{
	(void)state;
	struct xp_buckets *b = open_buckets();
	const uint64_t first[] = {3, 0, 0};
	struct sim_rng r;
	unsigned n_forgotten = 0;
	test_rng(&r, 1000);
	xp_buckets_draw(b, first, 2, &r);
	const struct xp_buckets_law was = *find(b, first, 2);
	double upto[XP_BUCKETS_MOST];
	memcpy(upto, &b->upto[was.first], was.n * sizeof(upto[0]));
	for (uint64_t i = 0; i < 2 * XP_BUCKETS_LAWS; i++) {
		const uint64_t quick[] = {1 + i % 64, i / 64, 0};
		const uint32_t before = b->n_laws;
		xp_buckets_draw(b, quick, 1, &r);
		n_forgotten += b->n_laws < before;
		assert_true(b->n_laws <= XP_BUCKETS_LAWS);
		assert_true(b->n_ends <= XP_BUCKETS_ENDS);
		assert_non_null(find(b, quick, 1));
	}
	assert_true(n_forgotten > 0);
	xp_buckets_draw(b, first, 2, &r);
	const struct xp_buckets_law *now = find(b, first, 2);
	assert_int_equal(now->n, was.n);
	assert_memory_equal(&b->upto[now->first], upto,
	    was.n * sizeof(upto[0]));
	free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(laws_are_those_of_single_round_trips),
	    cmocka_unit_test(a_draw_is_the_first_end_above_its_number),
	    cmocka_unit_test(what_is_forgotten_is_made_again),
	};
	return cmocka_run_group_tests_name("experiments/pingmesh/bulk/buckets",
	    tests, NULL, NULL);
}
