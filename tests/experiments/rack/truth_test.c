/* tests/experiments/rack/truth_test.c -- experiments/rack/truth, counted again.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Random rows of what came in and what hosts counted, in three racks of two
 * servers: host 3 has no run, and no host of the last rack has. Sums are held
 * against those that are made here, millisecond by millisecond.
 */
#include <math.h>
#include <stdlib.h>

#include "experiments/rack/world.h"
#include "tests/test.h"

enum {
	N_HOSTS = 6,
	LENGTH = 100,   /* ms */
	ENDS = 20,      /* left out at either */
	N_BUCKETS = 40, /* of a run of 1 ms */
	ABOVE = 500000  /* bytes of 1 ms: half of 8 Gb/s */
};

struct rig {
	struct xp_rack_world w;
	struct xp_rack p;
	sim_ns width;
	uint32_t n_buckets;
	sim_ns start[N_HOSTS];            /* of its run */
	uint32_t in[N_HOSTS][N_BUCKETS];  /* as counted */
	double came[N_HOSTS][LENGTH + 1]; /* in ms from the phase on */
	double queue, n_full;
};

static void draw_losses(struct rig *x, struct sim_rng *r)
{
	for (uint32_t h = 0; h < N_HOSTS; h++)
		for (uint32_t k = 0; k < LENGTH * 10; k++) {
			/* Every other millisecond or so is a burst. */
			const struct rack_loss row = {.start_ns =
							  k * RACK_TRUTH_NS,
			    .host = h,
			    .in = sim_rng_below(r, 2 * ABOVE),
			    .buffer = sim_rng_below(r, 4) == 0,
			    .queue_max = 1 + sim_rng_below(r, 1000)};
			if (sim_rng_below(r, 10) > 0)
				continue;
			assert_ok(
			    rack_losses_add(&x->w.lost, &row, test_err()));
			x->queue += row.buffer ? (double)row.queue_max : 0;
			x->n_full += (double)row.buffer;
			const sim_ns mid = row.start_ns + RACK_TRUTH_NS / 2,
				     phase = x->start[h] % SIM_MS;
			if (mid >= phase)
				x->came[h][(mid - phase) / SIM_MS] +=
				    (double)row.in;
		}
}

static void draw_runs(struct rig *x, struct sim_rng *r)
{
	for (uint32_t h = 0; h < 4; h++) {
		const struct obs_run run = {.start_ns = x->start[h],
		    .width_ns = x->width,
		    .line_bps = UINT64_C(8000000000),
		    .host = h,
		    .n_buckets = x->n_buckets};
		if (h == 3)
			continue;
		for (uint32_t b = 0; b < x->n_buckets; b++) {
			const struct obs_sample s = {.run =
							 (uint32_t)x->w.runs.n,
			    .bucket = b,
			    .in_bytes = x->in[h][b] = 1 +
				sim_rng_below(r,
				    (uint32_t)(2 * ABOVE * x->width / SIM_MS)),
			    .conns = sim_rng_below(r, 100)};
			assert_ok(
			    obs_samples_add(&x->w.samples, &s, test_err()));
		}
		assert_ok(obs_runs_add(&x->w.runs, &run, test_err()));
	}
}

static void rig_open(struct rig *x, uint32_t run, int widths, sim_ns width)
{
	struct sim_rng r;
	*x = (struct rig){.width = width,
	    .n_buckets = (uint32_t)(N_BUCKETS * SIM_MS / width)};
	if (x->n_buckets > N_BUCKETS)
		x->n_buckets = N_BUCKETS;
	test_rng(&r, run);
	x->w.n_racks = 3;
	x->w.n_servers = 2;
	x->p = (struct xp_rack){.length_s = LENGTH / 1e3,
	    .widths = 1u << widths,
	    .rack = {.line_gbps = 8, .shared = 4000}};
	assert_ok(
	    sim_field_defaults(algo_burst_fields, &x->p.burst, test_err()));
	x->p.sample.truth = 1;
	/* Of a rack all begin at once. */
	for (uint32_t h = 0; h < 4; h++)
		x->start[h] = (h < 2 ? 303 : 258) * SIM_MS / 10;
	draw_losses(x, &r);
	draw_runs(x, &r);
}

static void rig_close(struct rig *x)
{
	xp_rack_world_free(&x->w);
}

/* What the run of H says of the millisecond K from the phase on. */
static int says(const struct rig *x, uint32_t h, size_t k)
{
	const double mid =
	    (double)(x->start[h] % SIM_MS) + ((double)k + .5) * (double)SIM_MS;
	const double at = floor((mid - (double)x->start[h]) / (double)x->width);
	return h != 3 && at >= 0 && at < x->n_buckets &&
	    x->in[h][(size_t)at] >
	    (double)ABOVE * (double)x->width / (double)SIM_MS;
}

static struct res_trial_metrics by_hand(const struct rig *x)
{
	struct res_trial_metrics m = {0};
	double is_n = 0, says_n = 0, off = 0;
	const double n = 2 * (LENGTH - 1 - 2 * ENDS);
	for (uint32_t h = 0; h < 4; h += 2)
		for (size_t k = ENDS; k < LENGTH - 1 - ENDS; k++) {
			int is_all = 0, says_all = 0;
			for (uint32_t i = h; i < h + 2; i++) {
				const int is = x->came[i][k] > ABOVE;
				is_all += is;
				says_all += says(x, i, k);
				m.n_burst_ms_right += is && says(x, i, k);
			}
			is_n += is_all;
			says_n += says_all;
			off += abs(is_all - says_all);
		}
	/* A burst is seen if any of it is told. */
	for (uint32_t h = 0; h < 4; h++)
		for (size_t k = ENDS; k < LENGTH - 1 - ENDS; k++) {
			int seen = 0;
			if (x->came[h][k] <= ABOVE)
				continue;
			for (; k < LENGTH - 1 - ENDS && x->came[h][k] > ABOVE;
			     k++)
				seen |= says(x, h, k);
			m.n_true_bursts++;
			m.n_seen_bursts += seen;
		}
	m.n_burst_ms = is_n;
	m.n_burst_ms_told = says_n;
	m.true_contention = is_n / n;
	m.told_contention = says_n / n;
	m.contention_off = off / n;
	m.queue_share = x->queue / x->n_full / 4000;
	return m;
}

static struct res_trial_metrics score(const struct rig *x)
{
	struct res_trial_metrics m;
	for (size_t i = 0; i < RES_N_TRIAL_METRICS; i++)
		((double *)&m)[i] = NAN;
	assert_ok(xp_rack_truth_score(&x->w, &x->p, &m, test_err()));
	return m;
}

static void assert_counted(const struct rig *x)
{
	const struct res_trial_metrics m = score(x), w = by_hand(x);
	assert_true(m.n_burst_ms == w.n_burst_ms && m.n_burst_ms > 20);
	assert_true(m.n_burst_ms_told == w.n_burst_ms_told);
	assert_true(m.n_burst_ms_right == w.n_burst_ms_right);
	assert_true(m.n_true_bursts == w.n_true_bursts);
	assert_true(m.n_seen_bursts == w.n_seen_bursts);
	assert_true(m.n_seen_bursts > 0 && m.n_seen_bursts < m.n_true_bursts);
	assert_near(m.true_contention, w.true_contention, 1e-12);
	assert_near(m.told_contention, w.told_contention, 1e-12);
	assert_near(m.contention_off, w.contention_off, 1e-12);
	assert_near(m.queue_share, w.queue_share, 1e-12);
}

static void sums_are_those_of_each_millisecond(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 40; run++) {
		struct rig x;
		rig_open(&x, run, XP_RACK_WIDTH_1ms, SIM_MS);
		assert_counted(&x);
		rig_close(&x);
	}
}

/* A wide bucket says of all its milliseconds what it says of itself. */
static void wide_buckets_say_it_of_all_they_cover(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 40; run++) {
		struct rig x;
		rig_open(&x, run, XP_RACK_WIDTH_10ms, 10 * SIM_MS);
		assert_counted(&x);
		rig_close(&x);
	}
}

/* Of less than a millisecond bursts are found, but not held against what came. */
static void narrow_buckets_are_not_compared(void **state)
{
	struct rig x;
	(void)state;
	rig_open(&x, 0, XP_RACK_WIDTH_100us, SIM_MS / 10);
	const struct res_trial_metrics m = score(&x);
	assert_true(isnan(m.n_burst_ms) && isnan(m.true_contention));
	assert_true(isnan(m.n_true_bursts) && isnan(m.contention_off));
	assert_near(m.queue_share, x.queue / x.n_full / 4000, 1e-12);
	assert_true(m.told_conns > 0);
	/* Nobody asks, nothing is measured. */
	x.p.sample.truth = 0;
	assert_true(isnan(score(&x).queue_share));
	rig_close(&x);
}

static int ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Linear between order statistics. */
static double quantile(const double x[], size_t n, double q)
{
	const double at = q * (double)(n - 1);
	const size_t i = (size_t)at;
	return i + 1 < n ? x[i] + (at - (double)i) * (x[i + 1] - x[i]) : x[i];
}

/* The bursts of all racks that have runs, found here by the algorithm. */
static void connections_are_those_of_bursts(void **state)
{
	struct algo_series s = {0};
	struct algo_bursts b = {0};
	const uint32_t run[2][2] = {{0, 1}, {2}};
	double sum = 0;
	struct rig x;
	(void)state;
	rig_open(&x, 1, XP_RACK_WIDTH_1ms, SIM_MS);
	for (unsigned k = 0; k < 2; k++) {
		assert_ok(algo_series_align(&s, &x.w.runs, &x.w.samples, run[k],
		    2 - k, NULL, test_err()));
		assert_ok(algo_bursts_find(&s, &x.p.burst, &b, test_err()));
	}
	assert_true(b.n > 10);
	for (size_t i = 0; i < b.n; i++)
		sum += b.conns[i];
	qsort(b.conns, b.n, sizeof(*b.conns), ascending);
	const struct res_trial_metrics m = score(&x);
	assert_near(m.told_conns, sum / (double)b.n, 1e-9);
	assert_near(m.told_conns_low, quantile(b.conns, b.n, .025), 1e-9);
	assert_near(m.told_conns_high, quantile(b.conns, b.n, .975), 1e-9);
	algo_bursts_free(&b);
	algo_series_free(&s);
	rig_close(&x);
}

static void without_anything_nothing_is_measured(void **state)
{
	struct rig x = {.w = {.n_racks = 2, .n_servers = 2}};
	(void)state;
	x.p = (struct xp_rack){.length_s = .1,
	    .widths = 1u << XP_RACK_WIDTH_1ms,
	    .rack = {.line_gbps = 8, .shared = 4000}};
	x.p.sample.truth = 1;
	const struct res_trial_metrics m = score(&x);
	for (size_t i = 0; i < RES_N_TRIAL_METRICS; i++)
		assert_true(isnan(((const double *)&m)[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sums_are_those_of_each_millisecond),
	    cmocka_unit_test(wide_buckets_say_it_of_all_they_cover),
	    cmocka_unit_test(narrow_buckets_are_not_compared),
	    cmocka_unit_test(connections_are_those_of_bursts),
	    cmocka_unit_test(without_anything_nothing_is_measured),
	};
	return cmocka_run_group_tests_name("experiments/rack/truth", tests,
	    NULL, NULL);
}
