/* tests/algos/millisampler/series_test.c -- overlaps: an oracle, nothing lost.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/millisampler/series.h"
#include "tests/test.h"

struct tables {
	struct obs_runs runs;
	struct obs_samples samples;
};

static void add_run(struct tables *t, uint32_t host, sim_ns start, sim_ns width,
    uint32_t n)
{
	assert_ok(obs_runs_add(&t->runs,
	    &(struct obs_run){.start_ns = start,
		.width_ns = width,
		.line_bps = 12500000000,
		.host = host,
		.n_buckets = n},
	    test_err()));
}

static void add_row(struct tables *t, uint32_t bucket, uint32_t in,
    uint32_t conns)
{
	assert_ok(obs_samples_add(&t->samples,
	    &(struct obs_sample){.run = (uint32_t)t->runs.n - 1,
		.bucket = bucket,
		.in_bytes = in,
		.out_bytes = in / 2,
		.in_ce = in / 3,
		.in_retx = in / 5,
		.out_retx = in / 7,
		.in_cross = in / 11,
		.out_cross = in / 13,
		.conns = conns},
	    test_err()));
}

static void tables_free(struct tables *t)
{
	obs_runs_free(&t->runs);
	obs_samples_free(&t->samples);
}

static struct tables any_tables(struct sim_rng *r, uint32_t n_runs,
    sim_ns width, sim_ns spread)
{
	struct tables t = {0};
	for (uint32_t i = 0; i < n_runs; i++) {
		const uint32_t n = 1 + sim_rng_below(r, 40);
		add_run(&t, i, 7777777 + sim_rng_below(r, (uint32_t)spread + 1),
		    width, n);
		for (uint32_t b = 0; b < n; b++)
			if (sim_rng_below(r, 3) > 0)
				add_row(&t, b, 1 + sim_rng_u32(r) / 2,
				    sim_rng_below(r, 300));
	}
	return t;
}

static const uint32_t ALL[] = {0, 1, 2, 3, 4, 5, 6, 7};

/* Each bucket as if its bytes came evenly, nanosecond by nanosecond. */
static void values_are_overlaps_with_common_buckets(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 300; run++) {
		struct sim_rng r;
		test_rng(&r, run);
		const uint32_t n = 1 + sim_rng_below(&r, 8);
		const sim_ns w = 1 + sim_rng_below(&r, 20);
		struct tables t = any_tables(&r, n, w, 100);
		struct algo_series s = {0};
		assert_ok(algo_series_align(&s, &t.runs, &t.samples, ALL, n,
		    NULL, test_err()));
		double *want = calloc(s.n * n + 1, sizeof(double));
		for (size_t row = 0; row < t.samples.n; row++) {
			const uint32_t i = t.samples.run[row];
			const sim_ns from =
			    t.runs.start_ns[i] + t.samples.bucket[row] * w;
			for (sim_ns at = from; at < from + w; at++)
				want[i * s.n + (at - s.start_ns) / w] +=
				    (double)t.samples.in_bytes[row] / (double)w;
		}
		for (size_t i = 0; i < n; i++)
			for (size_t k = 0; k < s.n; k++) {
				const double got =
				    algo_series_at(&s, i, ALGO_SERIES_IN)[k];
				const double is = want[i * s.n + k];
				if (!(fabs(got - is) <= 1e-12 * 4e9 * 20))
					fail_msg("seed %llu run %u: host %zu "
						 "bucket %zu: %g not %g",
					    (unsigned long long)test_seed(),
					    run, i, k, got, is);
			}
		free(want);
		algo_series_free(&s);
		tables_free(&t);
	}
}

static void every_byte_is_kept(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 300; run++) {
		struct sim_rng r;
		test_rng(&r, run);
		const uint32_t n = 1 + sim_rng_below(&r, 8);
		struct tables t = any_tables(&r, n, SIM_MS, 20 * SIM_MS);
		struct algo_series s = {0};
		int64_t error[8];
		for (uint32_t i = 0; i < n; i++)
			error[i] =
			    (int64_t)sim_rng_below(&r, 4000000) - 2000000;
		assert_ok(algo_series_align(&s, &t.runs, &t.samples, ALL, n,
		    error, test_err()));
		for (size_t i = 0; i < n; i++) {
			double got[ALGO_N_SERIES] = {0},
			       is[ALGO_N_SERIES] = {0};
			size_t end;
			for (int of = 0; of < ALGO_N_SERIES; of++)
				for (size_t k = 0; k < s.n; k++)
					got[of] += algo_series_at(&s, i,
					    (enum algo_series_of)of)[k];
			for (size_t row = algo_series_rows(&t.samples,
				 (uint32_t)i, &end);
			     row < end; row++) {
#define X(name, column) is[ALGO_SERIES_##name] += t.samples.column[row];
				ALGO_SERIES(X)
#undef X
			}
			for (int of = 0; of < ALGO_N_SERIES; of++)
				assert_near(got[of], is[of], 1e-12 * is[of]);
		}
		algo_series_free(&s);
		tables_free(&t);
	}
}

/* Runs with one start, or whole buckets apart, are not touched. */
static void whole_buckets_move_and_nothing_else(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 300; run++) {
		struct sim_rng r;
		test_rng(&r, run);
		const uint32_t n = 1 + sim_rng_below(&r, 8);
		struct tables t = any_tables(&r, n, SIM_MS, 0);
		struct algo_series s = {0};
		uint64_t first = UINT64_MAX;
		for (uint32_t i = 0; i < n; i++) {
			t.runs.start_ns[i] +=
			    run % 2 * sim_rng_below(&r, 30) * SIM_MS;
			first = t.runs.start_ns[i] < first ? t.runs.start_ns[i]
							   : first;
		}
		assert_ok(algo_series_align(&s, &t.runs, &t.samples, ALL, n,
		    NULL, test_err()));
		assert_int_equal(s.start_ns, first);
		size_t n_set = 0;
		for (size_t row = 0; row < t.samples.n; row++) {
			const uint32_t i = t.samples.run[row];
			const size_t k = t.samples.bucket[row] +
			    (t.runs.start_ns[i] - first) / SIM_MS;
			assert_true(algo_series_at(&s, i, ALGO_SERIES_IN)[k] ==
			    t.samples.in_bytes[row]);
			assert_true(
			    algo_series_at(&s, i, ALGO_SERIES_CONNS)[k] ==
			    t.samples.conns[row]);
		}
		for (size_t k = 0; k < n * s.n; k++)
			n_set += s.value[k] != 0;
		assert_int_equal(n_set, t.samples.n);
		algo_series_free(&s);
		tables_free(&t);
	}
}

/* A quiet host is zero, and where it was armed cuts no bucket of the others. */
static void hosts_without_a_packet_are_zero(void **state)
{
	struct tables t = {0};
	struct algo_series s = {0};
	(void)state;
	add_run(&t, 0, 1000, 100, 20); /* quiet */
	add_run(&t, 1, 1030, 100, 20);
	add_row(&t, 0, 500, 3);
	add_row(&t, 19, 700, 4);
	assert_ok(algo_series_align(&s, &t.runs, &t.samples, ALL, 2, NULL,
	    test_err()));
	assert_int_equal(s.start_ns, 930);
	assert_int_equal(s.n, 21);
	/* The quiet one ends at 3000, the other at 3030. */
	assert_int_equal(s.n_known, 20);
	for (size_t k = 0; k < s.n; k++)
		assert_true(algo_series_at(&s, 0, ALGO_SERIES_IN)[k] == 0);
	assert_true(algo_series_at(&s, 1, ALGO_SERIES_IN)[1] == 500);
	assert_true(algo_series_at(&s, 1, ALGO_SERIES_IN)[20] == 700);
	algo_series_free(&s);
	tables_free(&t);
	/* All quiet. */
	add_run(&t, 0, 1000, 100, 20);
	assert_ok(algo_series_align(&s, &t.runs, &t.samples, ALL, 1, NULL,
	    test_err()));
	assert_int_equal(s.n, 20);
	assert_int_equal(s.n_known, 20);
	algo_series_free(&s);
	tables_free(&t);
}

static void what_cannot_stand_side_by_side_is_named(void **state)
{
	struct tables t = {0};
	struct algo_series s = {0};
	struct sim_err e = {0};
	(void)state;
	add_run(&t, 0, 1000, 100, 20);
	add_run(&t, 1, 1000, 200, 20);
	assert_int_equal(algo_series_align(&s, &t.runs, &t.samples, ALL, 2,
			     NULL, &e),
	    SIM_EINVAL);
	assert_string_equal(e.msg,
	    "run 1 has buckets of 200 ns, another of 100 ns: they can't stand "
	    "side by side.");
	t.runs.width_ns[1] = 100;
	t.runs.start_ns[1] = 10000900;
	assert_int_equal(algo_series_align(&s, &t.runs, &t.samples, ALL, 2,
			     NULL, &e),
	    SIM_EINVAL);
	assert_string_equal(e.msg,
	    "runs that stand side by side begin and end 10001900 ns apart, "
	    "more than 100000 buckets.");
	t.runs.start_ns[1] = UINT64_MAX;
	assert_int_equal(algo_series_align(&s, &t.runs, &t.samples, ALL, 2,
			     NULL, &e),
	    SIM_EINVAL);
	assert_non_null(strstr(e.msg, "starts below 2^62"));
	/* Refused before an error is added, which would be past the last time. */
	t.runs.start_ns[1] = INT64_MAX;
	assert_int_equal(algo_series_align(&s, &t.runs, &t.samples, ALL, 2,
			     (int64_t[]){0, 1}, &e),
	    SIM_EINVAL);
	assert_non_null(strstr(e.msg, "starts below 2^62"));
	algo_series_free(&s);
	tables_free(&t);
}

static void racks_are_runs_that_began_together(void **state)
{
	/* Hosts 0 to 3 on ToR 5, 4 and 5 on ToR 6. */
	static const uint32_t tor[] = {5, 5, 5, 5, 6, 6};
	struct tables t = {0};
	uint8_t taken[9] = {0};
	uint32_t run[9];
	(void)state;
	add_run(&t, 0, 10 * SIM_SEC, SIM_MS, 2000);
	add_run(&t, 4, 10 * SIM_SEC, SIM_MS, 2000);
	add_run(&t, 1, 11 * SIM_SEC, SIM_MS, 2000);
	add_run(&t, 1, 10 * SIM_SEC, SIM_MS, 2000);
	add_run(&t, 2, 12 * SIM_SEC, SIM_MS, 2000);
	add_run(&t, 3, 10 * SIM_SEC, 10 * SIM_MS, 2000);
	add_run(&t, 3, 9 * SIM_SEC, SIM_MS, 2000);
	static const struct {
		size_t n;
		uint32_t run[3];
	} want[] = {{3, {0, 2, 6}}, {1, {1}}, {1, {3}}, {1, {4}}, {0, {0}}};
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(algo_series_rack(&t.runs, tor, SIM_MS, SIM_SEC,
				     taken, run),
		    want[i].n);
		for (size_t k = 0; k < want[i].n; k++)
			assert_int_equal(run[k], want[i].run[k]);
	}
	tables_free(&t);
}

static int align_some(void *arg, struct sim_err *e)
{
	struct tables *t = arg;
	struct algo_series s = {0};
	int rc = algo_series_align(&s, &t->runs, &t->samples, ALL, 2, NULL, e);
	if (rc == 0) /* what is larger needs more */
		rc = algo_series_align(&s, &t->runs, &t->samples, ALL, 5, NULL,
		    e);
	algo_series_free(&s);
	return rc;
}

static void each_allocation_may_fail(void **state)
{
	struct sim_rng r;
	(void)state;
	test_rng(&r, 1);
	struct tables t = any_tables(&r, 5, SIM_MS, SIM_MS);
	test_each_alloc_fails(align_some, &t);
	tables_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(values_are_overlaps_with_common_buckets),
	    cmocka_unit_test(every_byte_is_kept),
	    cmocka_unit_test(whole_buckets_move_and_nothing_else),
	    cmocka_unit_test(hosts_without_a_packet_are_zero),
	    cmocka_unit_test(what_cannot_stand_side_by_side_is_named),
	    cmocka_unit_test(racks_are_runs_that_began_together),
	    cmocka_unit_test(each_allocation_may_fail),
	};
	return cmocka_run_group_tests_name("algos/millisampler/series", tests,
	    NULL, NULL);
}
