/* tests/models/obs_samples_test.c -- tables of buckets grow and are checked.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/obs_samples.h"

#include <string.h>

#include "tests/test.h"

enum { N_HOSTS = 5, N_RUNS = 3, N_BUCKETS = 20 };

/* Each run has the buckets 1, 4, 7, ...; each column another value. */
static void fill(struct obs_runs *runs, struct obs_samples *t)
{
	for (uint32_t k = 0; k < N_RUNS; k++) {
		const struct obs_run r = {.start_ns = 1000 + k,
		    .width_ns = 100000,
		    .line_bps = 12500000000,
		    .host = k + 1,
		    .n_buckets = N_BUCKETS,
		    .n_missed = k};
		assert_ok(obs_runs_add(runs, &r, test_err()));
		for (uint32_t b = 1; b < N_BUCKETS; b += 3) {
			const struct obs_sample s = {.run = k,
			    .bucket = b,
			    .in_bytes = 1000 + b,
			    .out_bytes = 2000 + b,
			    .in_cross = 300 + b,
			    .out_cross = 400 + b,
			    .in_ce = 1000 + b,
			    .in_retx = 60 + b,
			    .out_retx = 70 + b,
			    .conns = 8,
			    .sketch_lo = UINT64_C(9) << 40,
			    .sketch_hi = b};
			assert_ok(obs_samples_add(t, &s, test_err()));
		}
	}
}

static void what_was_added_is_there_and_passes(void **state)
{
	(void)state;
	struct obs_runs runs = {0};
	struct obs_samples t = {0};
	fill(&runs, &t);
	assert_int_equal(runs.n, N_RUNS);
	assert_int_equal(t.n, N_RUNS * 7);
	const struct obs_sample s = obs_samples_at(&t, 8);
	assert_int_equal(s.run, 1);
	assert_int_equal(s.bucket, 4);
	assert_int_equal(s.out_retx, 74);
	assert_ok(obs_runs_check(&runs, N_HOSTS, test_err()));
	assert_ok(obs_samples_check(&t, &runs, test_err()));
	/* No rows are no mistake: the hosts were quiet. */
	obs_samples_clear(&t);
	assert_ok(obs_samples_check(&t, &runs, test_err()));
	obs_runs_free(&runs);
	obs_samples_free(&t);
}

static int both(const struct obs_runs *runs, const struct obs_samples *t,
    struct sim_err *e)
{
	const int rc = obs_runs_check(runs, N_HOSTS, e);
	return rc < 0 ? rc : obs_samples_check(t, runs, e);
}

/* Each way to be wrong alone, and the words that say so. */
static void what_cannot_be_is_named(void **state)
{
	(void)state;
	struct obs_runs runs = {0};
	struct obs_samples t = {0};
	fill(&runs, &t);
#define WRONG(place, value, words)                                             \
	do {                                                                   \
		const uint64_t was = place;                                    \
		struct sim_err e = {0};                                        \
		place = value;                                                 \
		assert_int_equal(both(&runs, &t, &e), SIM_EINVAL);             \
		assert_non_null(strstr(e.msg, words));                         \
		place = was;                                                   \
	} while (0)
	WRONG(runs.host[2], N_HOSTS, "run 2 is of host 5");
	WRONG(runs.width_ns[0], 0, "run 0 has 20 buckets of 0 ns");
	WRONG(runs.n_buckets[1], 0, "run 1 has 0 buckets");
	WRONG(runs.line_bps[1], 0, "of 0 bit/s");
	WRONG(runs.start_ns[1], UINT64_MAX, "but none ends behind 2^63 ns");
	WRONG(runs.width_ns[1], UINT64_MAX, "but none ends behind 2^63 ns");
	WRONG(runs.width_ns[1], UINT64_MAX / 40, "run 1 starts at 1001 ns");
	WRONG(runs.n_buckets[0], 19, "row 6 is of bucket 19");
	WRONG(t.run[20], 3, "row 20 is of run 3");
	WRONG(t.run[7], 2, "row 8, bucket 4 of run 1, is not behind");
	WRONG(t.bucket[3], 7, "row 3, bucket 7 of run 0, is not behind");
	WRONG(t.in_cross[3], 1011, "row 3: in_cross 1011 is above in_bytes");
	WRONG(t.out_cross[3], 2011, "out_cross 2011 is above out_bytes");
	WRONG(t.in_ce[3], 1011, "in_ce 1011 is above in_bytes");
	WRONG(t.in_retx[3], 1011, "in_retx 1011 is above in_bytes");
	WRONG(t.out_retx[3], 2011, "out_retx 2011 is above out_bytes");
	assert_ok(obs_runs_check(&runs, N_HOSTS, test_err()));
	assert_ok(obs_samples_check(&t, &runs, test_err()));
	obs_runs_free(&runs);
	obs_samples_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_was_added_is_there_and_passes),
	    cmocka_unit_test(what_cannot_be_is_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
