/* tests/algos/pingmesh/drop_rate_test.c -- SYN ladders and drop rates.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/pingmesh/drop_rate.h"

#include "tests/test.h"

struct waits {
	unsigned n;
	sim_ns ns[ALGO_DROP_MAX_WAITS];
};
static const struct waits windows = {2, {3 * SIM_SEC, 6 * SIM_SEC}};
static const struct waits linux3 = {3, {SIM_SEC, 2 * SIM_SEC, 4 * SIM_SEC}};

enum { TOLERANCE_MS = 400 };

static struct algo_drop_ladder ladder_of(const struct waits *w)
{
	struct algo_drop_ladder l;
	assert_ok(algo_drop_ladder_init(&l, w->ns, w->n, TOLERANCE_MS * SIM_MS,
	    test_err()));
	return l;
}

/* 2 pods of 3 ToRs of 4 hosts: hosts 0-3 under ToR 0, 12 begins pod 1. */
static struct topo_clos small_clos(void)
{
	struct topo_clos c = {.n_pods = 2,
	    .n_tors = 3,
	    .n_t1 = 2,
	    .n_t2 = 2,
	    .n_hosts = 4};
	assert_ok(topo_clos_init(&c, test_err()));
	return c;
}

static void add(struct obs_probes *t, uint32_t src, uint32_t dst, uint8_t level,
    uint64_t rtt_ns)
{
	const struct obs_probe p = {.rtt_ns = rtt_ns,
	    .src_host = src,
	    .dst_host = dst,
	    .outcome = rtt_ns ? OBS_CONNECTED : OBS_TIMED_OUT,
	    .level = level};
	assert_ok(obs_probes_add(t, &p, test_err()));
}

/* --- the ladder ------------------------------------------------------------*/
static void times_are_read_as_lost_syns_on_both_ladders(void **state)
{
	(void)state;
	static const struct {
		uint64_t ms;
		int windows, linux3;
	} known[] = {{0, 0, 0}, {1, 0, 0}, {599, 0, 0}, {600, 0, 1},
	    {1000, 0, 1}, {1400, 0, 1}, {1401, 0, -1}, {2599, 0, -1},
	    {2600, 1, 2}, {3000, 1, 2}, {3400, 1, 2}, {3401, -1, -1},
	    {6599, -1, -1}, {7000, -1, 3}, {8599, -1, -1}, {8600, 2, -1},
	    {9000, 2, -1}, {9400, 2, -1}, {9401, -1, -1}, {60000, -1, -1}};
	const struct algo_drop_ladder w = ladder_of(&windows);
	const struct algo_drop_ladder l = ladder_of(&linux3);
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		const sim_ns t = known[i].ms * SIM_MS;
		if (algo_drop_n_lost(&w, t) != known[i].windows ||
		    algo_drop_n_lost(&l, t) != known[i].linux3)
			fail_msg("%d ms: %d and %d", (int)known[i].ms,
			    algo_drop_n_lost(&w, t), algo_drop_n_lost(&l, t));
	}
	assert_int_equal(algo_drop_n_lost(&w, 2600 * SIM_MS - 1), 0);
	assert_int_equal(algo_drop_n_lost(&w, 3400 * SIM_MS + 1), -1);
	assert_int_equal(algo_drop_n_lost(&w, SIM_NEVER), -1);
}

static void a_ladder_whose_rungs_overlap_is_refused(void **state)
{
	(void)state;
	struct algo_drop_ladder l;
	struct sim_err e;
	const sim_ns waits[ALGO_DROP_MAX_WAITS + 1] = {9, 11, 9, 9, 9, 9, 9, 9,
	    9};
	assert_int_equal(algo_drop_ladder_init(&l, waits, 0, 1, &e),
	    SIM_EINVAL);
	assert_non_null(strstr(e.msg, "at least one wait"));
	assert_ok(algo_drop_ladder_init(&l, waits, 8, 4, test_err()));
	assert_int_equal(l.rung_ns[7], 74);
	assert_int_equal(algo_drop_ladder_init(&l, waits, 9, 4, &e),
	    SIM_ELIMIT);
	assert_non_null(strstr(e.msg, "9 waits"));
	assert_int_equal(algo_drop_ladder_init(&l, waits + 1, 2, 5, &e),
	    SIM_EINVAL);
	assert_non_null(strstr(e.msg, "wait 1"));
	assert_non_null(strstr(e.msg, "5 ns"));
	const sim_ns even[] = {10}, zero[] = {0}, never[] = {9, SIM_NEVER - 9};
	assert_int_equal(algo_drop_ladder_init(&l, even, 1, 5, &e), SIM_EINVAL);
	assert_int_equal(algo_drop_ladder_init(&l, zero, 1, 0, &e), SIM_EINVAL);
	assert_int_equal(algo_drop_ladder_init(&l, even, 1, SIM_NEVER, &e),
	    SIM_EINVAL);
	assert_ok(algo_drop_ladder_init(&l, never, 2, 0, test_err()));
	assert_int_equal(algo_drop_ladder_init(&l, never, 2, 1, &e),
	    SIM_EINVAL);
	assert_non_null(strstr(e.msg, "beyond the clock"));
}

/* --- counting --------------------------------------------------------------*/
static void nine_seconds_are_one_drop_and_failures_are_in_no_rate(void **state)
{
	(void)state;
	const struct topo_clos c = small_clos();
	const struct topo_dc dc = topo_dc_alone(&c);
	const struct algo_drop_ladder l = ladder_of(&windows);
	struct algo_drop_rate r[ALGO_DROP_N_GROUPS];
	struct obs_probes t = {0};
	const uint64_t one = 3 * SIM_SEC + SIM_MS, two = 9 * SIM_SEC + SIM_MS;
	add(&t, 0, 3, OBS_LEVEL_TOR, SIM_MS);
	add(&t, 0, 3, OBS_LEVEL_TOR, two);
	add(&t, 0, 4, OBS_LEVEL_DC, SIM_MS);
	add(&t, 11, 3, OBS_LEVEL_DC, one);
	add(&t, 11, 3, OBS_LEVEL_DC, 5 * SIM_SEC);
	add(&t, 0, 12, OBS_LEVEL_DC, one);
	add(&t, 0, 12, OBS_LEVEL_DC, 0);
	add(&t, 0, 23, OBS_LEVEL_DC, two);
	add(&t, 0, 24, OBS_LEVEL_INTER_DC, SIM_MS);
	add(&t, 0, 1, OBS_LEVEL_INTER_DC, SIM_MS); /* ids of the other DC */
	add(&t, 0, 900, OBS_LEVEL_INTER_DC, 0);
	t.outcome[t.n - 1] = OBS_REFUSED;
	t.rtt_ns[t.n - 1] = one;
	assert_ok(algo_drop_rate(&t, &dc, &l, 0.95, r, test_err()));
	static const struct algo_drop_rate want[] = {[ALGO_DROP_ALL] = {9, 4, 1,
							 2, 4 / 9.0, 0, 0},
	    [ALGO_DROP_INTRA_TOR] = {2, 1, 0, 0, 1 / 2.0, 0, 0},
	    [ALGO_DROP_INTRA_POD] = {3, 1, 1, 0, 1 / 3.0, 0, 0},
	    [ALGO_DROP_INTER_POD] = {2, 2, 0, 1, 1, 0, 0},
	    [ALGO_DROP_INTER_DC] = {2, 0, 0, 1, 0, 0, 0}};
	for (int g = 0; g < ALGO_DROP_N_GROUPS; g++) {
		assert_int_equal(r[g].n_success, want[g].n_success);
		assert_int_equal(r[g].n_drop, want[g].n_drop);
		assert_int_equal(r[g].n_unclear, want[g].n_unclear);
		assert_int_equal(r[g].n_failed, want[g].n_failed);
		assert_true(r[g].rate == want[g].rate);
		assert_true(r[g].lo <= r[g].rate && r[g].rate <= r[g].hi);
	}
	assert_true(r[ALGO_DROP_INTER_POD].hi == 1);
	assert_true(r[ALGO_DROP_INTER_DC].lo == 0);
	obs_probes_free(&t);
}

static void probes_to_a_black_hole_never_enter(void **state)
{
	(void)state;
	const struct topo_clos c = small_clos();
	const struct topo_dc dc = topo_dc_alone(&c);
	const struct algo_drop_ladder l = ladder_of(&windows);
	struct algo_drop_rate before[ALGO_DROP_N_GROUPS];
	struct algo_drop_rate after[ALGO_DROP_N_GROUPS];
	struct obs_probes t = {0};
	for (uint32_t i = 0; i < 300; i++)
		add(&t, 0, 4, OBS_LEVEL_DC, i < 3 ? 3 * SIM_SEC : SIM_MS);
	assert_ok(algo_drop_rate(&t, &dc, &l, 0.95, before, test_err()));
	for (uint32_t i = 0; i < 1000; i++)
		add(&t, 0, 12, OBS_LEVEL_DC, 0);
	assert_ok(algo_drop_rate(&t, &dc, &l, 0.95, after, test_err()));
	assert_true(before[ALGO_DROP_ALL].rate == 0.01);
	assert_true(after[ALGO_DROP_ALL].rate == 0.01);
	assert_true(after[ALGO_DROP_ALL].lo == before[ALGO_DROP_ALL].lo);
	assert_true(after[ALGO_DROP_ALL].hi == before[ALGO_DROP_ALL].hi);
	assert_int_equal(after[ALGO_DROP_ALL].n_failed, 1000);
	assert_true(isnan(after[ALGO_DROP_INTER_POD].rate));
	assert_true(after[ALGO_DROP_INTER_POD].lo == 0);
	assert_true(after[ALGO_DROP_INTER_POD].hi == 1);
	obs_probes_free(&t);
}

static void a_wrong_table_or_confidence_is_refused(void **state)
{
	(void)state;
	const struct topo_clos c = small_clos();
	const struct topo_dc dc = topo_dc_alone(&c);
	const struct algo_drop_ladder l = ladder_of(&windows);
	struct algo_drop_rate r[ALGO_DROP_N_GROUPS];
	struct obs_probes t = {0};
	struct sim_err e;
	add(&t, 0, 23, OBS_LEVEL_DC, SIM_MS);
	assert_ok(algo_drop_rate(&t, &dc, &l, 0.95, r, test_err()));
	assert_int_equal(algo_drop_rate(&t, &dc, &l, 1, r, &e), SIM_EINVAL);
	assert_non_null(strstr(e.msg, "drop rate of all: "));
	add(&t, 0, 24, OBS_LEVEL_DC, SIM_MS);
	assert_int_equal(algo_drop_rate(&t, &dc, &l, 0.95, r, &e), SIM_EINVAL);
	assert_non_null(strstr(e.msg, "probe 1"));
	obs_probes_free(&t);
}

/* --- what it estimates -----------------------------------------------------*/
/* A connect over lossy ways: time, or 0 when the last SYN was lost too. */
static uint64_t connect_once(struct sim_rng *r, const struct waits *w,
    double loss_there, double loss_back)
{
	uint64_t waited = 0;
	for (unsigned i = 0;; i++) {
		const int there = sim_rng_u01(r) >= loss_there;
		if (there && sim_rng_u01(r) >= loss_back)
			return waited + 200 * SIM_US +
			    sim_rng_below(r, 100 * SIM_MS);
		if (i == w->n)
			return 0;
		waited += w->ns[i];
	}
}

/* N connects with round-trip loss Q, half of it each way, read by LADDER. */
static struct algo_drop_rate measure(uint32_t run, unsigned n, double q,
    const struct waits *sent_with, const struct waits *read_with, double conf)
{
	const struct topo_clos c = small_clos();
	const struct topo_dc dc = topo_dc_alone(&c);
	const struct algo_drop_ladder l = ladder_of(read_with);
	const double one_way = 1 - sqrt(1 - q);
	struct algo_drop_rate out[ALGO_DROP_N_GROUPS];
	struct obs_probes t = {0};
	struct sim_rng r;
	test_rng(&r, run);
	for (unsigned i = 0; i < n; i++)
		add(&t, 0, 4, OBS_LEVEL_DC,
		    connect_once(&r, sent_with, one_way, one_way));
	assert_ok(algo_drop_rate(&t, &dc, &l, conf, out, test_err()));
	obs_probes_free(&t);
	return out[ALGO_DROP_ALL];
}

static double expectation(double q, unsigned n_waits)
{
	return q * (1 - pow(q, n_waits)) / (1 - pow(q, n_waits + 1));
}

/* A rate of 200000 connects at most 5 standard errors off: false alarms below
 * 6e-7 each, 6e-6 in all. */
static void assert_estimates(uint32_t run, double q, const struct waits *sent,
    const struct waits *read, double want)
{
	const struct algo_drop_rate got =
	    measure(run, 200000, q, sent, read, 0.95);
	const double error = sqrt(want * (1 - want) / (double)got.n_success);
	if (fabs(got.rate - want) > 5 * error)
		fail_msg("seed %llu, run %u, q %g: rate %g, wanted %g +- %g",
		    (unsigned long long)test_seed(), run, q, got.rate, want,
		    error);
}

static void it_estimates_the_round_trip_loss_but_for_lost_connects(void **state)
{
	(void)state;
	static const double q[] = {0.005, 0.05, 0.2, 0.5};
	for (uint32_t i = 0; i < 4; i++) {
		assert_estimates(2 * i, q[i], &windows, &windows,
		    expectation(q[i], 2));
		assert_estimates(2 * i + 1, q[i], &linux3, &linux3,
		    expectation(q[i], 3));
	}
	/* The estimate is below q by about q^(m + 1), so more waits bring it
	 * closer. */
	assert_near(expectation(0.5, 2), 3 / 7.0, 1e-15);
	assert_near(expectation(0.5, 3), 7 / 15.0, 1e-15);
	assert_near(expectation(1e-3, 2), 1e-3, 1e-9);
}

/* Linux's connects are late by 1, 3 or 7 s. The ladder of Windows knows 3 s and
 * 9 s, so it counts those that lost two SYNs only. */
static void the_wrong_ladder_sees_only_the_square_of_the_loss(void **state)
{
	(void)state;
	const double q = 0.05;
	assert_estimates(8, q, &linux3, &windows,
	    q * q * (1 - q) / (1 - pow(q, 4)));
	/* The other way round, Windows's 3 s is the second rung of Linux and
	 * its 9 s is none. */
	assert_estimates(9, q, &windows, &linux3,
	    q * (1 - q) / (1 - q * q * q));
}

/* Times out of 200 that the interval misses what is estimated. At confidence
 * 0.95 at most 24 by a Bin(200, 0.05): false alarm 2.7e-5; at 0.5, of 60 to
 * 130: 7e-6 above, and 5e-6 below if the interval, which is never too narrow,
 * holds for 0.55. */
static void the_interval_covers_what_it_states(void **state)
{
	(void)state;
	const double q = 0.1, want = expectation(q, 2);
	unsigned missed95 = 0, missed50 = 0;
	for (uint32_t run = 0; run < 200; run++) {
		const struct algo_drop_rate r =
		    measure(100 + run, 4000, q, &windows, &windows, 0.95);
		missed95 += want < r.lo || want > r.hi;
		const struct algo_drop_rate half =
		    measure(100 + run, 4000, q, &windows, &windows, 0.5);
		assert_true(r.lo < half.lo && half.hi < r.hi);
		missed50 += want < half.lo || want > half.hi;
	}
	if (missed95 > 24 || missed50 < 60 || missed50 > 130)
		fail_msg("seed %llu: missed %u at 0.95, %u at 0.5",
		    (unsigned long long)test_seed(), missed95, missed50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(times_are_read_as_lost_syns_on_both_ladders),
	    cmocka_unit_test(a_ladder_whose_rungs_overlap_is_refused),
	    cmocka_unit_test(
		nine_seconds_are_one_drop_and_failures_are_in_no_rate),
	    cmocka_unit_test(probes_to_a_black_hole_never_enter),
	    cmocka_unit_test(a_wrong_table_or_confidence_is_refused),
	    cmocka_unit_test(
		it_estimates_the_round_trip_loss_but_for_lost_connects),
	    cmocka_unit_test(the_wrong_ladder_sees_only_the_square_of_the_loss),
	    cmocka_unit_test(the_interval_covers_what_it_states),
	};
	return cmocka_run_group_tests_name("algos/pingmesh/drop_rate", tests,
	    NULL, NULL);
}
