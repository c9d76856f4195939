/* tests/algos/millisampler/bursts_test.c -- bursts by hand and by an oracle.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/millisampler/bursts.h"
#include "tests/test.h"

enum { LINE = 1562500 }; /* bytes of a 1 ms bucket at 12.5 Gb/s */

struct tables {
	struct obs_runs runs;
	struct obs_samples samples;
};

static struct algo_burst_params defaults(void)
{
	struct algo_burst_params p;
	assert_ok(sim_field_defaults(algo_burst_fields, &p, test_err()));
	return p;
}

static void add_run(struct tables *t, uint32_t n)
{
	assert_ok(obs_runs_add(&t->runs,
	    &(struct obs_run){.start_ns = SIM_SEC,
		.width_ns = SIM_MS,
		.line_bps = 12500000000,
		.host = 10 + (uint32_t)t->runs.n,
		.n_buckets = n},
	    test_err()));
}

static void add_row(struct tables *t, uint32_t bucket, uint32_t in, uint32_t ce,
    uint32_t retx, uint32_t conns)
{
	assert_ok(obs_samples_add(&t->samples,
	    &(struct obs_sample){.run = (uint32_t)t->runs.n - 1,
		.bucket = bucket,
		.in_bytes = in,
		.in_ce = ce,
		.in_retx = retx,
		.conns = conns},
	    test_err()));
}

static void find(struct tables *t, const struct algo_burst_params *p,
    struct algo_series *s, struct algo_bursts *b)
{
	static const uint32_t all[] = {0, 1, 2, 3, 4, 5};
	algo_bursts_clear(b);
	assert_ok(algo_series_align(s, &t->runs, &t->samples, all, t->runs.n,
	    NULL, test_err()));
	assert_ok(algo_bursts_find(s, p, b, test_err()));
}

static void tables_free(struct tables *t)
{
	obs_runs_free(&t->runs);
	obs_samples_free(&t->samples);
}

static void bursts_are_as_they_are_defined(void **state)
{
	struct tables t = {0};
	struct algo_series s = {0};
	struct algo_bursts b = {0};
	struct algo_burst_params p = defaults();
	(void)state;
	add_run(&t, 20);
	add_row(&t, 2, LINE / 2, 0, 0, 1);        /* half is no burst */
	add_row(&t, 3, LINE / 2 + 1, 100, 0, 30); /* more is */
	add_row(&t, 4, LINE, 200, 0, 50);
	add_row(&t, 5, 9, 0, 3, 1);     /* a round trip behind: of it */
	add_row(&t, 6, 9, 0, 3, 1);     /* of none */
	add_row(&t, 8, LINE, 0, 0, 2);  /* to the last bucket but one */
	add_row(&t, 14, 9, 0, 5, 1);    /* six behind: a timer's */
	add_row(&t, 19, LINE, 0, 7, 3); /* at the end */
	add_run(&t, 20);
	add_row(&t, 4, LINE, 0, 0, 9);
	add_row(&t, 5, LINE, 0, 0, 9);
	find(&t, &p, &s, &b);
	assert_int_equal(b.n, 4);
	assert_int_equal(b.first[0], 3);
	assert_int_equal(b.n_buckets[0], 2);
	assert_int_equal(b.host[0], 10);
	assert_near(b.in_bytes[0], LINE / 2 + 1 + LINE, 0);
	assert_near(b.peak_bytes[0], LINE, 0);
	assert_near(b.ce_bytes[0], 300, 0);
	assert_near(b.retx_bytes[0], 3, 0);
	assert_near(b.conns[0], 40, 0);
	assert_near(b.contention[0], 1.5, 0);
	assert_int_equal(b.contention_max[0], 2);
	assert_true(b.lossy[0] && b.incast[0]);
	assert_int_equal(b.first[1], 8);
	assert_true(!b.lossy[1] && !b.incast[1]);
	assert_int_equal(b.first[2], 19);
	assert_true(b.lossy[2]);
	assert_int_equal(b.run[3], 1);
	assert_int_equal(b.n_buckets[3], 2);
	assert_near(b.contention[3], 1.5, 0);
	/* With a timer of 5 ms bucket 14 is of the burst in 8, and 6 not of
	 * that in 3 and 4, behind which 8 to 10 are. */
	p.rto_ms = 5;
	find(&t, &p, &s, &b);
	assert_near(b.retx_bytes[0], 3, 0);
	assert_near(b.retx_bytes[1], 5, 0);
	/* Outside of bursts there are 4 connections in 16 buckets. */
	p.incast = ALGO_INCAST_BY_RATIO;
	p.incast_ratio = 7.9;
	find(&t, &p, &s, &b);
	assert_true(b.incast[0] && b.incast[1] && b.incast[2]);
	p.incast_ratio = 8;
	find(&t, &p, &s, &b);
	assert_true(b.incast[0] && !b.incast[1] && b.incast[2]);
	algo_bursts_free(&b);
	algo_series_free(&s);
	tables_free(&t);
}

static void contention_is_counted_where_all_are_known(void **state)
{
	/* Hosts in a burst: 0 2 1 2 1 0 0 0 0 0 by bucket. */
	struct tables t = {0};
	struct algo_series s = {0};
	struct algo_bursts b = {0};
	struct algo_burst_params p = defaults();
	struct algo_contention c;
	(void)state;
	add_run(&t, 10);
	for (uint32_t k = 1; k < 5; k++)
		add_row(&t, k, LINE, 0, 0, 1);
	add_run(&t, 10);
	add_row(&t, 1, LINE, 0, 0, 1);
	add_row(&t, 3, LINE, 0, 0, 1);
	add_run(&t, 10);
	find(&t, &p, &s, &b);
	assert_ok(algo_contention_of(&s, p.share, &c, test_err()));
	assert_int_equal(c.n, 10);
	assert_near(c.mean, .6, 1e-15);
	assert_int_equal(c.p10, 0);
	assert_int_equal(c.p50, 0);
	assert_int_equal(c.p90, 2);
	assert_int_equal(c.max, 2);
	assert_near(c.met, 4 / 6., 1e-15);
	assert_near(c.index, (10 / 10. - .36) / .6, 1e-12);
	/* The third run ended after 3 buckets: 0 2 1. */
	t.runs.n_buckets[2] = 3;
	find(&t, &p, &s, &b);
	assert_ok(algo_contention_of(&s, p.share, &c, test_err()));
	assert_int_equal(c.n, 3);
	assert_near(c.mean, 1, 1e-15);
	assert_int_equal(c.p50, 1);
	algo_bursts_free(&b);
	algo_series_free(&s);
	tables_free(&t);
}

/* --- the oracle: each bucket asks by itself which burst it is of ----------- */
static int bursts_at(const double *in, size_t n, size_t k)
{
	return k < n && in[k] > LINE / 2.;
}

static double retx_by_bucket(const struct algo_series *s, size_t i,
    size_t first, size_t n, size_t rto)
{
	const double *v = algo_series_at(s, i, ALGO_SERIES_IN_RETX);
	double sum = 0;
	for (size_t k = 0; k < s->n; k++) {
		int is = k >= first && k <= first + n;
		for (size_t j = first; rto > 0 && j < first + n; j++)
			is |= k == j + rto || k == j + rto + 1;
		sum += is ? v[k] : 0;
	}
	return sum;
}

static void random_bursts_are_those_of_the_oracle(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 500; run++) {
		struct tables t = {0};
		struct algo_series s = {0};
		struct algo_bursts b = {0};
		struct algo_burst_params p = defaults();
		struct sim_rng r;
		test_rng(&r, run);
		p.rto_ms = sim_rng_below(&r, 4);
		for (uint32_t h = 1 + sim_rng_below(&r, 4); h > 0; h--) {
			add_run(&t, 30);
			for (uint32_t k = 0; k < 30; k++)
				if (sim_rng_below(&r, 3) > 0)
					add_row(&t, k,
					    1 + sim_rng_below(&r, 2 * LINE), 0,
					    sim_rng_below(&r, 4) == 0, 1);
		}
		find(&t, &p, &s, &b);
		size_t row = 0;
		for (size_t i = 0; i < s.n_runs; i++) {
			const double *in =
			    algo_series_at(&s, i, ALGO_SERIES_IN);
			for (size_t k = 0; k < s.n; k++) {
				if (!bursts_at(in, s.n, k) ||
				    (k > 0 && bursts_at(in, s.n, k - 1)))
					continue;
				size_t n = 1;
				while (bursts_at(in, s.n, k + n))
					n++;
				assert_true(row < b.n);
				assert_int_equal(b.run[row], i);
				assert_int_equal(b.first[row], k);
				assert_int_equal(b.n_buckets[row], n);
				const double retx = retx_by_bucket(&s, i, k, n,
				    (size_t)p.rto_ms);
				if (b.retx_bytes[row] != retx)
					fail_msg("seed %llu run %u: %g not %g",
					    (unsigned long long)test_seed(),
					    run, b.retx_bytes[row], retx);
				row++;
			}
		}
		assert_int_equal(row, b.n);
		algo_bursts_free(&b);
		algo_series_free(&s);
		tables_free(&t);
	}
}

static void queues_share_a_pool(void **state)
{
	(void)state;
	assert_near(algo_buffer_share(1, 1), 1 / 2., 1e-15);
	assert_near(algo_buffer_share(1, 2), 1 / 3., 1e-15);
	assert_near(algo_buffer_share(1, 10), 1 / 11., 1e-15);
	/* A fixed point of the rule. */
	for (double a = .25; a <= 4; a *= 2)
		for (int n = 1; n < 20; n++) {
			const double q = algo_buffer_share(a, n);
			assert_near(q, a * (1 - n * q), 1e-15);
		}
}

static int find_some(void *arg, struct sim_err *e)
{
	const struct algo_burst_params p = defaults();
	struct algo_bursts b = {0};
	struct algo_contention c;
	int rc = algo_bursts_find(arg, &p, &b, e);
	if (rc == 0)
		rc = algo_contention_of(arg, p.share, &c, e);
	algo_bursts_free(&b);
	return rc;
}

static void each_allocation_may_fail(void **state)
{
	struct tables t = {0};
	struct algo_series s = {0};
	static const uint32_t all[] = {0};
	(void)state;
	add_run(&t, 10);
	add_row(&t, 1, LINE, 0, 0, 1);
	assert_ok(algo_series_align(&s, &t.runs, &t.samples, all, 1, NULL,
	    test_err()));
	test_each_alloc_fails(find_some, &s);
	algo_series_free(&s);
	tables_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(bursts_are_as_they_are_defined),
	    cmocka_unit_test(contention_is_counted_where_all_are_known),
	    cmocka_unit_test(random_bursts_are_those_of_the_oracle),
	    cmocka_unit_test(queues_share_a_pool),
	    cmocka_unit_test(each_allocation_may_fail),
	};
	return cmocka_run_group_tests_name("algos/millisampler/bursts", tests,
	    NULL, NULL);
}
