/* tests/algos/millisampler/sync_burst_test.c -- all turns, chance, periods.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/millisampler/sync_burst.h"
#include "tests/rigs/sampled.h"
#include "tests/test.h"

enum { LINE = SAMPLED_LINE };

static struct algo_sync_burst_params defaults(void)
{
	struct algo_sync_burst_params p;
	assert_ok(sim_field_defaults(algo_sync_burst_fields, &p, test_err()));
	return p;
}

static void fill(struct sampled *s, uint32_t host, const uint8_t in[],
    uint32_t n)
{
	sampled_run(s, host, n);
	for (uint32_t k = 0; k < n; k++)
		if (in[k])
			sampled_row(s,
			    (struct obs_sample){.bucket = k, .in_bytes = LINE});
}

static struct algo_sync_burst judge(const struct sampled *s, double host_z[])
{
	const struct algo_sync_burst_params p = defaults();
	uint32_t run[64];
	struct algo_series a = {0};
	struct algo_sync_burst b;
	for (uint32_t i = 0; i < s->runs.n; i++)
		run[i] = i;
	assert_ok(algo_series_align(&a, &s->runs, &s->samples, run, s->runs.n,
	    NULL, test_err()));
	assert_ok(algo_sync_burst_of(&a, &p, &b, host_z, test_err()));
	algo_series_free(&a);
	return b;
}

/* --- the oracle: every turn of every host ---------------------------------- */
static double meetings(uint8_t in[3][8], uint32_t n, const uint32_t turn[3],
    const int who)
{
	double met = 0;
	for (int i = 0; i < 3; i++)
		for (int j = i + 1; j < 3; j++)
			for (uint32_t k = 0; k < n; k++)
				met += (who < 0 || who == i || who == j) &&
				    in[i][(k + turn[i]) % n] &&
				    in[j][(k + turn[j]) % n];
	return met;
}

static void moments_are_those_over_all_turns(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 300; run++) {
		struct sampled s = {0};
		struct sim_rng r;
		uint8_t in[3][8] = {{0}};
		test_rng(&r, run);
		const uint32_t n = 2 + sim_rng_below(&r, 7);
		for (uint32_t i = 0; i < 3; i++) {
			for (uint32_t k = 0; k < n; k++)
				in[i][k] = sim_rng_below(&r, 3) == 0;
			fill(&s, i, in[i], n);
		}
		double host_z[3];
		const struct algo_sync_burst b = judge(&s, host_z);
		assert_int_equal(b.n, n);
		for (int who = -1; who < 3; who++) {
			double m = 0, mm = 0;
			for (uint32_t t = 0; t < n * n; t++) {
				const double x = meetings(in, n,
				    (uint32_t[]){0, t / n, t % n}, who);
				m += x / n / n;
				mm += x * x / n / n;
			}
			const double met =
			    meetings(in, n, (uint32_t[]){0, 0, 0}, who);
			const double v = fmax(0, mm - m * m);
			const double z = v > 1e-6 ? (met - m) / sqrt(v) : 0;
			if (who < 0) {
				assert_near(b.met, met, 1e-12);
				assert_near(b.mean, m, 1e-9);
				assert_near(b.variance, v, 1e-9);
			}
			assert_near(who < 0 ? b.z : host_z[who], z, 1e-6);
		}
		sampled_free(&s);
	}
}

/* --- drawn ----------------------------------------------------------------- */
enum { N = 2000, HOSTS = 32 };

/* Bursts of 1 to 6 buckets, with RATE a bucket; of a job, the same times for all
 * its hosts, each up to LATE buckets later. */
static void draw(struct sampled *s, uint32_t n_job, double rate,
    uint32_t period, uint32_t late, struct sim_rng *r)
{
	static uint8_t in[HOSTS][N + 200];
	memset(in, 0, sizeof(in));
	for (uint32_t k = 0; k < N; k++)
		if (n_job > 0 && k % period == 0)
			for (uint32_t h = 0; h < n_job; h++) {
				const uint32_t n = 1 + sim_rng_below(r, 6);
				memset(in[h] + k + sim_rng_below(r, late + 1),
				    1, n);
			}
	for (uint32_t h = n_job; h < HOSTS; h++)
		for (uint32_t k = 0; k < N; k++)
			if (sim_rng_u01(r) < rate)
				memset(in[h] + k, 1, 1 + sim_rng_below(r, 6));
	for (uint32_t h = 0; h < HOSTS; h++)
		fill(s, h, in[h], N);
}

/* Hosts that do not know of each other, 200 racks a rate. z is near normal, so the
 * mean is 0 within five deviations of 200^-1/2, its deviation 1 within five of
 * 400^-1/2, and none is above 6: by chance this fails in one of some 10^5 seeds.
 * A period was seen in one rack of 600 (.2 of likeness with 64 bursts in all); more
 * than five of 600 have a probability below 10^-3 if that is 1 of 600. */
static void chance_meetings_accuse_nobody(void **state)
{
	enum { RACKS = 200 };
	static const double rates[] = {.001, .01, .05};
	uint32_t n_periods = 0;
	(void)state;
	for (int i = 0; i < 3; i++) {
		double m = 0, mm = 0;
		for (uint32_t run = 0; run < RACKS; run++) {
			struct sampled s = {0};
			struct sim_rng r;
			test_rng(&r, run);
			draw(&s, 0, rates[i], 1, 0, &r);
			const struct algo_sync_burst b = judge(&s, NULL);
			m += b.z / RACKS;
			mm += b.z * b.z / RACKS;
			assert_true(b.z < 6);
			n_periods += b.period_ms > 0;
			sampled_free(&s);
		}
		assert_near(m, 0, 5 / sqrt(RACKS));
		assert_near(sqrt(mm - m * m), 1, 5 / sqrt(2 * RACKS));
	}
	assert_in_range(n_periods, 0, 5);
}

/* Eight hosts of 32 burst at multiples of 35 ms and up to 3 later: z was 12.6 to
 * 15.2 in 30 racks. By 15 seeds each of these hosts has 6.2 or more. Of others few are
 * beyond 6, 6 of 10,800, so that 5 of 720 are once in 15,000 seeds; and as beyond z are
 * e times fewer for each .6 of it, one is beyond 10 once in 2,000. */
static void jobs_are_told_with_their_hosts_and_period(void **state)
{
	unsigned n_beyond = 0;
	(void)state;
	for (uint32_t run = 0; run < 30; run++) {
		struct sampled s = {0};
		struct sim_rng r;
		double host_z[HOSTS];
		test_rng(&r, run);
		draw(&s, 8, .01, 35, 3, &r);
		const struct algo_sync_burst b = judge(&s, host_z);
		assert_true(b.z > 9);
		assert_near(b.period_ms, 35, 1);
		assert_true(b.likeness > .5);
		for (int h = 0; h < HOSTS; h++) {
			assert_true(
			    h < 8 ? host_z[h] > 4.5 : fabs(host_z[h]) < 10);
			n_beyond += h >= 8 && fabs(host_z[h]) > 6;
		}
		sampled_free(&s);
	}
	assert_in_range(n_beyond, 0, 4);
}

/* Whether one host or none or all bursts all the time, there is nothing to
 * meet by chance. */
static void what_never_changes_meets_nobody(void **state)
{
	(void)state;
	for (int n_full = 0; n_full < 4; n_full++) {
		uint8_t full[50], none[50] = {0};
		struct sampled s = {0};
		double host_z[3] = {7, 7, 7};
		memset(full, 1, sizeof(full));
		for (int h = 0; h < 3; h++)
			fill(&s, (uint32_t)h, h < n_full ? full : none, 50);
		const struct algo_sync_burst b = judge(&s, host_z);
		assert_true(b.z == 0 && b.period_ms == 0);
		assert_true(host_z[0] == 0 && host_z[2] == 0);
		sampled_free(&s);
	}
}

/* --- as a diagnoser -------------------------------------------------------- */
struct given {
	struct topo t;
	struct obs w;
};

static int diagnose(void *arg, struct algo_verdicts *v, struct sim_err *e)
{
	struct given *g = arg;
	void *work;
	int rc = algo_open(&algo_sync_burst_ops, &work, &g->t, NULL, e);
	if (rc == 0)
		rc = algo_sync_burst_ops.diagnose(work, &g->w, NULL, v, e);
	if (rc == 0) /* a used one answers alike */
		rc = algo_sync_burst_ops.diagnose(work, &g->w, NULL, v, e);
	algo_close(&algo_sync_burst_ops, work);
	return rc;
}

static int diagnose_once(void *arg, struct sim_err *e)
{
	struct algo_verdicts v = {0};
	const int rc = diagnose(arg, &v, e);
	algo_verdicts_free(&v);
	return rc;
}

/* ToRs of 32 hosts; on that of the middle one there is a job. Rows of another
 * width and a run of a day before do not come into it. */
static void the_tor_of_a_job_is_accused(void **state)
{
	const struct topo_clos shape = {.n_pods = 1,
	    .n_tors = 3,
	    .n_t1 = 2,
	    .n_t2 = 0,
	    .n_hosts = HOSTS};
	struct algo_verdicts v = {0};
	struct sampled s = {0};
	struct given g = {0};
	struct sim_rng r;
	(void)state;
	assert_ok(topo_open_clos(&g.t, &shape, test_err()));
	test_rng(&r, 5);
	for (uint32_t tor = 0; tor < 3; tor++) {
		draw(&s, tor == 1 ? 12 : 0, .01, 33, 1, &r);
		for (size_t i = tor * HOSTS; i < s.runs.n; i++)
			s.runs.host[i] += tor * HOSTS;
	}
	sampled_run(&s, 3, N);
	s.runs.width_ns[s.runs.n - 1] *= 10;
	sampled_run(&s, 3, N);
	s.runs.start_ns[s.runs.n - 1] += 86400 * SIM_SEC;
	g.w = sampled_window(&s);
	assert_ok(diagnose(&g, &v, test_err()));
	assert_int_equal(v.kind, ALGO_KIND_SWITCH);
	assert_int_equal(v.n_flagged, 1);
	assert_int_equal(v.link[0], 1);
	assert_true(v.score[0] > 10);
	for (size_t i = 1; i < v.n; i++)
		assert_true(v.score[i] > 0 && v.score[i] < 6);
	test_each_alloc_fails(diagnose_once, &g);
	algo_verdicts_free(&v);
	sampled_free(&s);
	topo_close(&g.t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(moments_are_those_over_all_turns),
	    cmocka_unit_test(chance_meetings_accuse_nobody),
	    cmocka_unit_test(jobs_are_told_with_their_hosts_and_period),
	    cmocka_unit_test(what_never_changes_meets_nobody),
	    cmocka_unit_test(the_tor_of_a_job_is_accused),
	};
	return cmocka_run_group_tests_name("algos/millisampler/sync_burst",
	    tests, NULL, NULL);
}
