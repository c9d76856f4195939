/* tests/models/rack/traffic_test.c -- models/rack/traffic: rates, names, regions.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Counts are held to 5 standard deviations of their law: each of the three
 * statistical tests fails by chance once in 10^6.
 */
#include "models/rack/traffic.h"

#include <gsl/gsl_randist.h>

#include "tests/test.h"

static const struct sim_seed seed = {.seed = 20221025};

struct made {
	struct rack_params r;
	struct rack_traffic_params p;
	struct rack_flows f;
};

static void make(struct made *m)
{
	memset(m, 0, sizeof(*m));
	assert_ok(sim_field_defaults(rack_fields, &m->r, test_err()));
	assert_ok(sim_field_defaults(rack_traffic_fields, &m->p, test_err()));
}

static void draw(struct made *m, uint32_t rack, sim_ns until)
{
	assert_ok(
	    rack_traffic(&m->f, &m->r, &m->p, rack, until, &seed, test_err()));
}

/* Bursts of each direction: transfers of one start and server are one. */
static void n_bursts(const struct rack_flows *f, double n[2])
{
	n[0] = n[1] = 0;
	for (size_t i = 0; i < f->n; i++)
		if (f->warm[i] == 0 &&
		    (i == 0 || f->start_ns[i] != f->start_ns[i - 1] ||
			f->server[i] != f->server[i - 1]))
			n[f->out[i]]++;
}

static void services_burst_at_their_rate_and_hour(void **state)
{
	(void)state;
	for (double hour = 8; hour <= 20; hour += 12)
		for (unsigned law = 0; law < 2; law++) {
			struct made m;
			double n[2];
			make(&m);
			m.p.classes = 1 << RACK_CLASS_storage;
			m.p.ml_share = 0;
			m.p.hour = hour;
			m.p.gap_law = law;
			m.p.gap_sigma = 0.5;
			draw(&m, 0, 20 * SIM_SEC);
			n_bursts(&m.f, n);
			const double day = hour == 8 ? 0.6 : 1.4;
			const double want = 92 * 20 / 0.1 * 0.5 * day;
			/* Renewals, the first one too early by half a gap. */
			assert_near(n[0], want, 5 * sqrt(want) + 92);
			assert_near(n[1], want / 2, 5 * sqrt(want) + 92);
			rack_flows_free(&m.f);
		}
}

static void transfers_come_in_order_and_new_ones_have_new_names(void **state)
{
	struct made m;
	uint32_t *seen;
	(void)state;
	make(&m);
	m.p.ml_racks = 1;
	draw(&m, 3, SIM_SEC);
	seen = calloc(m.f.n, sizeof(*seen));
	assert_non_null(seen);
	size_t n = 0;
	for (size_t i = 0; i < m.f.n; i++) {
		assert_true(i == 0 || m.f.start_ns[i - 1] <= m.f.start_ns[i]);
		assert_true(m.f.start_ns[i] < SIM_SEC);
		assert_true(m.f.segments[i] > 0 && m.f.server[i] < 92);
		if (m.f.warm[i] == 0)
			seen[n++] = m.f.conn[i];
		else
			assert_int_equal(m.f.warm[i], m.f.conn[i]);
	}
	assert_true(n > 1000);
	for (size_t i = 1; i < n; i++)
		for (size_t j = i > 200 ? i - 200 : 0; j < i; j++)
			assert_int_not_equal(seen[i], seen[j]);
	free(seen);
	rack_flows_free(&m.f);
}

/* What begins in the first second does not ask how long it goes on. */
static void a_longer_run_begins_with_the_shorter(void **state)
{
	struct made a, b;
	(void)state;
	make(&a);
	make(&b);
	a.p.ml_racks = b.p.ml_racks = 0.5;
	for (uint32_t rack = 0; rack < 2; rack++) {
		draw(&a, rack, SIM_SEC);
		draw(&b, rack, 2 * SIM_SEC);
		assert_true(a.f.n < b.f.n);
		for (size_t i = 0; i < a.f.n; i++) {
			assert_int_equal(a.f.start_ns[i], b.f.start_ns[i]);
			assert_int_equal(a.f.conn[i], b.f.conn[i]);
			assert_int_equal(a.f.segments[i], b.f.segments[i]);
		}
	}
	rack_flows_free(&a.f);
	rack_flows_free(&b.f);
}

static void a_part_of_a_job_receives_after_each_barrier(void **state)
{
	struct made m;
	double bursts = 0;
	(void)state;
	make(&m);
	m.r.n_servers = 64;
	m.p.ml_share = m.p.ml_racks = 1;
	m.p.jitter_us = 0;
	m.p.few_per_s = 0;
	m.p.barrier_ms = (struct sim_dist){SIM_FIXED, 40, 40};
	draw(&m, 0, 20 * SIM_SEC);
	for (size_t i = 0; i < m.f.n; i++) {
		assert_true(m.f.warm[i] > 0 && m.f.warm[i] <= 64 * 8);
		bursts += i == 0 || m.f.server[i] != m.f.server[i - 1] ||
		    m.f.start_ns[i] != m.f.start_ns[i - 1];
	}
	/* 500 barriers, of each a quarter of 64 servers. */
	assert_near(bursts, 500 * 16, 5 * sqrt(500 * 64 * 0.25 * 0.75) + 16);
	rack_flows_free(&m.f);
}

static void a_region_has_as_many_jobs_however_they_are_placed(void **state)
{
	struct made m;
	(void)state;
	make(&m);
	uint32_t n[2] = {0}, racks = 0;
	for (m.p.placement = 0; m.p.placement < 2; m.p.placement++)
		for (uint32_t rack = 0; rack < 100; rack++) {
			const uint32_t jobs =
			    rack_traffic_jobs(&m.r, &m.p, rack);
			n[m.p.placement] += jobs;
			racks += m.p.placement == RACK_PACKED && jobs > 0;
			if (m.p.placement == RACK_SPREAD)
				assert_int_equal(jobs, 13);
			else
				assert_true(jobs == 0 || jobs == 64);
		}
	assert_int_equal(racks, 20);
	assert_int_equal(n[0], 20 * 64);
	assert_int_equal(n[1], 1300);
}

static void dispersion_is_variance_by_mean(void **state)
{
	static const uint64_t even[] = {3, 3, 3, 3, 3, 3};
	static const uint64_t two[] = {0, 4, 0, 4, 0, 4, 9};
	(void)state;
	assert_near(rack_dispersion(even, 6, 1), 0, 0);
	/* Of 0, 4, 0, 4, 0, 4 the mean is 2 and the variance 24 / 5. */
	assert_near(rack_dispersion(two, 6, 1), 2.4, 1e-12);
	assert_near(rack_dispersion(two, 7, 2), 0, 0);
	assert_true(isnan(rack_dispersion(two, 1, 1)));
	assert_true(isnan(rack_dispersion(two, 7, 4)));
	assert_true(isnan(rack_dispersion(two, 7, 0)));
}

/* Var of the index is 2 / (n - 1) of n Poisson counts; of batches of B all at
 * once it is B times as great. */
static void poisson_counts_have_a_dispersion_of_1(void **state)
{
	enum { N = 20000 };
	uint64_t *count = calloc(N, sizeof(*count));
	struct sim_rng rng;
	(void)state;
	assert_non_null(count);
	for (unsigned batch = 1; batch <= 10; batch += 9) {
		test_rng(&rng, batch);
		for (size_t i = 0; i < N; i++)
			count[i] = batch * gsl_ran_poisson(&rng.gsl, 5);
		for (size_t k = 1; k <= 100; k *= 10)
			assert_near(rack_dispersion(count, N, k), batch,
			    5 * batch * sqrt(2.0 * (double)k / N));
	}
	free(count);
}

static void bursts_cluster_more_than_poisson(void **state)
{
	enum { N = 2000 };
	uint64_t count[N];
	struct made m;
	(void)state;
	make(&m);
	for (m.p.ml_racks = 0; m.p.ml_racks <= 1; m.p.ml_racks++) {
		draw(&m, 0, 2 * SIM_SEC);
		rack_traffic_count(&m.f, SIM_MS, count, N);
		uint64_t sum = 0, all = 0;
		for (size_t i = 0; i < N; i++)
			sum += count[i];
		for (size_t i = 0; i < m.f.n; i++)
			all += m.f.segments[i];
		assert_int_equal(sum, all);
		for (size_t k = 1; k <= 100; k *= 10)
			assert_true(rack_dispersion(count, N, k) > 100);
	}
	rack_flows_free(&m.f);
}

static void what_cannot_be_is_refused(void **state)
{
	struct made m;
	struct sim_err e;
	(void)state;
	make(&m);
	m.p.classes = 0;
	assert_int_equal(rack_traffic(&m.f, &m.r, &m.p, 0, SIM_SEC, &seed, &e),
	    SIM_EINVAL);
	assert_non_null(strstr(e.msg, "classes is empty"));
	m.p.classes = 1;
	assert_int_equal(rack_traffic(&m.f, &m.r, &m.p, UINT32_MAX / 279,
			     SIM_SEC, &seed, &e),
	    SIM_EINVAL);
	assert_non_null(strstr(e.msg, "beyond the last that has a name"));
}

static int life(void *arg, struct sim_err *e)
{
	struct made *m = arg;
	struct rack_flows f = {0};
	const int rc = rack_traffic(&f, &m->r, &m->p, 0, 20 * SIM_MS, &seed, e);
	rack_flows_free(&f);
	return rc;
}

static void every_allocation_may_fail(void **state)
{
	struct made m;
	(void)state;
	make(&m);
	test_each_alloc_fails(life, &m);
}

/* Twice as crowded is half of the gap and twice the part. */
static void crowd_is_a_factor_on_both_kinds(void **state)
{
	struct made a, b;
	(void)state;
	make(&a);
	make(&b);
	a.p.ml_racks = b.p.ml_racks = 1;
	a.p.crowd = 2;
	b.p.gap_ms /= 2;
	b.p.ml_part *= 2;
	draw(&a, 1, SIM_SEC);
	draw(&b, 1, SIM_SEC);
	assert_int_equal(a.f.n, b.f.n);
	for (size_t i = 0; i < a.f.n; i++) {
		assert_int_equal(a.f.start_ns[i], b.f.start_ns[i]);
		assert_int_equal(a.f.conn[i], b.f.conn[i]);
	}
	rack_flows_free(&a.f);
	rack_flows_free(&b.f);
}

/* Which bursts are of another region changes nothing else, and all of a burst's
 * connections are; jobs and single transfers never. */
static void bursts_of_other_regions_are_a_share(void **state)
{
	struct made a, b;
	double far[2] = {0}, all[2] = {0};
	(void)state;
	make(&a);
	make(&b);
	a.p.ml_racks = b.p.ml_racks = 0.5;
	b.p.cross = 0.3;
	for (uint32_t rack = 0; rack < 2; rack++) {
		draw(&a, rack, 2 * SIM_SEC);
		draw(&b, rack, 2 * SIM_SEC);
		assert_int_equal(a.f.n, b.f.n);
		for (size_t i = 0; i < a.f.n; i++) {
			assert_int_equal(a.f.start_ns[i], b.f.start_ns[i]);
			assert_int_equal(a.f.conn[i], b.f.conn[i]);
			assert_int_equal(a.f.cross[i], 0);
			assert_true(!b.f.cross[i] || b.f.warm[i] == 0);
			if (b.f.warm[i] > 0)
				continue;
			if (i > 0 && b.f.start_ns[i] == b.f.start_ns[i - 1] &&
			    b.f.server[i] == b.f.server[i - 1]) {
				assert_int_equal(b.f.cross[i],
				    b.f.cross[i - 1]);
				continue;
			}
			far[b.f.out[i]] += b.f.cross[i];
			all[b.f.out[i]]++;
		}
	}
	/* By chance once in 10^6. */
	for (unsigned out = 0; out < 2; out++)
		assert_near(far[out] / all[out], 0.3,
		    5 * sqrt(0.21 / all[out]));
	rack_flows_free(&a.f);
	rack_flows_free(&b.f);
}

/* Which connections stay changes neither when nor how much is sent; a share of
 * each burst stays, under a name of its server's own, and all others are new. */
static void connections_that_stay_change_names_alone(void **state)
{
	struct made a, b;
	uint8_t *is_warm_of[92] = {NULL};
	(void)state;
	make(&a);
	make(&b);
	a.p.ml_racks = b.p.ml_racks = 1;
	b.p.warm = 0.5;
	b.p.ml_warm = 0.5;
	draw(&a, 0, SIM_SEC);
	draw(&b, 0, SIM_SEC);
	assert_int_equal(a.f.n, b.f.n);
	double n[2] = {0, 0}, few = 0;
	uint32_t most = 0;
	for (size_t i = 0; i < a.f.n; i++)
		most = b.f.warm[i] > most ? b.f.warm[i] : most;
	for (unsigned s = 0; s < 92; s++) {
		is_warm_of[s] = calloc(most + 1, 1);
		assert_non_null(is_warm_of[s]);
	}
	for (size_t i = 0; i < a.f.n; i++) {
		assert_int_equal(a.f.start_ns[i], b.f.start_ns[i]);
		const uint32_t w = b.f.warm[i];
		assert_true(w == 0 ? b.f.conn[i] > most : b.f.conn[i] == w);
		n[w > 0]++;
		if (w > 0)
			is_warm_of[b.f.server[i]][w] = 1;
	}
	for (uint32_t w = 1; w <= most; w++) {
		unsigned owners = 0;
		for (unsigned s = 0; s < 92; s++)
			owners += is_warm_of[s][w];
		assert_true(owners <= 1);
	}
	/* 64 servers are of the job, and 20 single transfers a server are warm
	 * anyway. */
	few = 92 * 20;
	assert_near((n[1] - few) / (n[0] + n[1] - few), 0.5, 0.05);
	for (unsigned s = 0; s < 92; s++)
		free(is_warm_of[s]);
	rack_flows_free(&a.f);
	rack_flows_free(&b.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(services_burst_at_their_rate_and_hour),
	    cmocka_unit_test(
		transfers_come_in_order_and_new_ones_have_new_names),
	    cmocka_unit_test(a_longer_run_begins_with_the_shorter),
	    cmocka_unit_test(a_part_of_a_job_receives_after_each_barrier),
	    cmocka_unit_test(crowd_is_a_factor_on_both_kinds),
	    cmocka_unit_test(bursts_of_other_regions_are_a_share),
	    cmocka_unit_test(connections_that_stay_change_names_alone),
	    cmocka_unit_test(a_region_has_as_many_jobs_however_they_are_placed),
	    cmocka_unit_test(dispersion_is_variance_by_mean),
	    cmocka_unit_test(poisson_counts_have_a_dispersion_of_1),
	    cmocka_unit_test(bursts_cluster_more_than_poisson),
	    cmocka_unit_test(what_cannot_be_is_refused),
	    cmocka_unit_test(every_allocation_may_fail),
	};
	return cmocka_run_group_tests_name("models/rack/traffic", tests, NULL,
	    NULL);
}
