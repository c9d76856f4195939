/* tests/experiments/pingmesh/dsa/counters_test.c -- servers' counters as scopes'.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/pingmesh/perf.h"
#include "tests/rigs/dsa.h"
#include "tests/test.h"

/* Hosts 0 and 4 of ToRs 0 and 1: weights 1 and 3. */
static void counters_are_weighted_by_connects(void **state)
{
	(void)state;
	struct dsa_fixture f;
	struct xp_dsa d;
	struct xp_dsa_tables out = {0};
	const struct xp_dsa_window w = {0, 300 * SIM_SEC, 300 * SIM_SEC};
	const struct obs_perf_row row[] = {
	    {300 * SIM_SEC, 0, 100, 100, 4, 1, 1, 2000, 8000},
	    {300 * SIM_SEC, 4, 310, 300, 8, 0, 0, 4000, 12000},
	};
	dsa_fixture_open(&f, 1, 0, 0);
	f.params.sla.max_p99_us = 10;
	for (int i = 0; i < 2; i++)
		assert_ok(obs_perf_add(&f.perf, &row[i], test_err()));
	assert_ok(dsa_fixture_dc(&f, 0, &d, test_err()));
	assert_ok(xp_dsa_run(&d, &w, XP_DSA_COUNTERS, NULL, &f.perf, &out,
	    test_err()));
	assert_int_equal(out.counters.n, 24 + 6 + 3 + 1);
	const struct xp_dsa_counters_row *all = &out.counters.row[33],
					 *tor = &out.counters.row[24 + 1],
					 *pod = &out.counters.row[24 + 6],
					 *none = &out.counters.row[1];
	assert_int_equal(all->kind, ALGO_SLA_DC);
	assert_int_equal(all->n_connected, 400);
	assert_int_equal(all->n_unconnected, 12);
	assert_int_equal(all->n_drop, 2);
	assert_near(all->drop_rate, 0.005, 1e-15);
	assert_near(all->p50_us, 3.5, 1e-12);
	assert_near(all->p99_us, 11, 1e-12);
	assert_near(all->p99_max_us, 12, 1e-12);
	assert_true(all->alert_drop && all->alert_p99);
	assert_int_equal(tor->kind, ALGO_SLA_TOR);
	assert_near(tor->p99_us, 12, 1e-12);
	assert_true(!tor->alert_drop && tor->alert_p99);
	assert_near(pod->p99_us, 11, 1e-12);
	assert_true(isnan(none->p99_us) && isnan(none->drop_rate) &&
	    isnan(none->p99_max_us) && !none->alert_p99);
	const struct xp_dsa_summary_row *s = out.summary.row;
	assert_int_equal(s->n_probes, 410);
	assert_int_equal(s->n_silent, 22);
	assert_near(s->seen_share, 2.0 / 24, 1e-15);
	assert_near(s->p99_us, 11, 1e-12);
	/* Host 0 alerts for drops and host 4 for its P99, and so do their two
	 * ToRs, their pod and the data centre. */
	assert_near(s->n_alerts, 6, 0);
	xp_dsa_tables_free(&out);
	xp_dsa_close(&d);
	dsa_fixture_close(&f);
}

/* Of three servers one has so high a P99 that the mean of the three is above
 * the limit, though the two others are not. */
static void one_server_that_stalls_is_no_alert_of_others(void **state)
{
	struct dsa_fixture f;
	struct xp_dsa d;
	struct xp_dsa_tables out = {0};
	(void)state;
	const struct xp_dsa_window w = {0, 300 * SIM_SEC, 300 * SIM_SEC};
	dsa_fixture_open(&f, 1, 0, 0);
	f.params.sla.max_p99_us = 10;
	for (uint32_t h = 0; h < 3; h++) {
		const struct obs_perf_row row = {300 * SIM_SEC, h, 300, 300, 0,
		    0, 0, 2000, h == 0 ? 90000 : 8000};
		assert_ok(obs_perf_add(&f.perf, &row, test_err()));
	}
	assert_ok(dsa_fixture_dc(&f, 0, &d, test_err()));
	assert_ok(xp_dsa_run(&d, &w, XP_DSA_COUNTERS, NULL, &f.perf, &out,
	    test_err()));
	assert_true(out.counters.row[0].alert_p99);
	assert_true(!out.counters.row[1].alert_p99);
	assert_true(out.counters.row[33].p99_us > 10);
	assert_true(!out.counters.row[33].alert_p99);
	xp_dsa_tables_free(&out);
	xp_dsa_close(&d);
	dsa_fixture_close(&f);
}

/* min_probes is 5: one lost SYN of four is no alert, one of five is. */
static void few_connects_raise_no_alert(void **state)
{
	(void)state;
	const struct xp_dsa_window w = {0, 300 * SIM_SEC, 300 * SIM_SEC};
	for (uint64_t n = 4; n <= 5; n++) {
		const struct obs_perf_row row = {300 * SIM_SEC, 0, n, n, 0, 1,
		    0, 20000000, 30000000};
		struct dsa_fixture f;
		struct xp_dsa d;
		struct xp_dsa_tables out = {0};
		dsa_fixture_open(&f, 1, 0, 0);
		assert_ok(obs_perf_add(&f.perf, &row, test_err()));
		assert_ok(dsa_fixture_dc(&f, 0, &d, test_err()));
		assert_ok(xp_dsa_run(&d, &w, XP_DSA_COUNTERS, NULL, &f.perf,
		    &out, test_err()));
		assert_int_equal(out.counters.row[0].alert_drop, n == 5);
		assert_int_equal(out.counters.row[0].alert_p99, n == 5);
		assert_near(out.summary.row[0].n_alerts, n == 5 ? 4 : 0, 0);
		xp_dsa_tables_free(&out);
		xp_dsa_close(&d);
		dsa_fixture_close(&f);
	}
}

static int ascending(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

static uint64_t exact_p99(uint64_t x[], size_t n)
{
	qsort(x, n, sizeof(x[0]), ascending);
	return x[(n * 99 + 99) / 100 - 1];
}

/* Servers report by buckets: what the header promises of that. */
static void quantiles_of_counters_keep_their_bounds(void **state)
{
	(void)state;
	enum { MOST = 400, HOSTS = 24 };
	for (uint32_t run = 0; run < 200; run++) {
		struct sim_rng r;
		struct dsa_fixture f;
		struct xp_dsa d;
		struct xp_dsa_tables out = {0};
		const struct xp_dsa_window w = {0, 300 * SIM_SEC,
		    300 * SIM_SEC};
		uint64_t all[HOSTS * MOST], *mine = all, least = UINT64_MAX;
		double mean = 0;
		test_rng(&r, run);
		dsa_fixture_open(&f, 1, 0, 0);
		for (uint32_t h = 0; h < HOSTS; h++) {
			static struct algo_pingmesh_hist hist;
			const uint32_t n = 1 + sim_rng_below(&r, MOST);
			memset(&hist, 0, sizeof(hist));
			for (uint32_t i = 0; i < n; i++) {
				mine[i] = UINT64_C(1024)
				    << sim_rng_below(&r, 20);
				mine[i] += sim_rng_below(&r, 1 << 20);
				algo_pingmesh_hist_add(&hist, mine[i]);
			}
			const struct obs_perf_row row = {.end_ns = SIM_SEC,
			    .host = h,
			    .n_probes = n,
			    .n_connected = n,
			    .p50_ns = algo_pingmesh_hist_quantile(&hist, 0.5),
			    .p99_ns = algo_pingmesh_hist_quantile(&hist, 0.99)};
			assert_ok(obs_perf_add(&f.perf, &row, test_err()));
			const uint64_t exact = exact_p99(mine, n);
			mean += n * (double)exact;
			if (exact < least)
				least = exact;
			mine += n;
		}
		const size_t n_all = (size_t)(mine - all);
		mean /= (double)n_all;
		const uint64_t exact = exact_p99(all, n_all);
		assert_ok(dsa_fixture_dc(&f, 0, &d, test_err()));
		assert_ok(xp_dsa_run(&d, &w, XP_DSA_COUNTERS, NULL, &f.perf,
		    &out, test_err()));
		const struct xp_dsa_counters_row *c =
		    &out.counters.row[out.counters.n - 1];
		if ((double)exact > c->p99_max_us * 1e3 || exact < least ||
		    c->p99_us * 1e3 < mean || c->p99_us * 1e3 > mean * 1.125001)
			fail_msg("seed %llu, run %u",
			    (unsigned long long)test_seed(), run);
		xp_dsa_tables_free(&out);
		xp_dsa_close(&d);
		dsa_fixture_close(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(counters_are_weighted_by_connects),
	    cmocka_unit_test(one_server_that_stalls_is_no_alert_of_others),
	    cmocka_unit_test(few_connects_raise_no_alert),
	    cmocka_unit_test(quantiles_of_counters_keep_their_bounds),
	};
	return cmocka_run_group_tests_name("experiments/pingmesh/dsa/counters",
	    tests, NULL, NULL);
}
