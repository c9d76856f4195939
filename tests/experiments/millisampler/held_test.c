/* tests/experiments/millisampler/held_test.c -- samples against captures by hand.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A run of host 1, of buckets of 100 ns from 100 us on; the capture has it as its
 * host 0. Each packet's place in its bucket says whether a clock that is a little
 * off may have it in another.
 */
#include "experiments/millisampler/held.h"
#include "models/obs_buckets.h"
#include "tests/test.h"

enum { WIDTH = 100, START = 100000, TOLERANCE = 20, BIT = 70 };

struct held_rig {
	struct res_samples *file;
	struct xp_held_samples *held;
	struct xp_held_run *out;
	size_t n;
	uint32_t n_buckets;
	struct obs_runs runs;
	struct obs_samples rows;
};

static void rig_add_run(struct held_rig *r, uint32_t host, uint64_t start,
    uint64_t width)
{
	const struct obs_run run = {.start_ns = start,
	    .width_ns = width,
	    .line_bps = 1,
	    .host = host,
	    .n_buckets = r->n_buckets};
	assert_ok(obs_runs_add(&r->runs, &run, test_err()));
}

static void rig_begin(struct held_rig *r, uint32_t n_buckets)
{
	*r = (struct held_rig){.n_buckets = n_buckets};
	rig_add_run(r, 1, START, WIDTH);
}

/* What was sampled. */
static void rig_row(struct held_rig *r, uint32_t bucket, struct obs_sample s)
{
	s.bucket = bucket;
	assert_ok(obs_samples_add(&r->rows, &s, test_err()));
}

static void rig_open_ahead(struct held_rig *r, uint64_t tolerance,
    int64_t ahead)
{
	static const uint32_t host[] = {1, UINT32_MAX};
	const struct xp_held_params p = {tolerance, ahead};
	struct res_hosts none = {0};
	assert_ok(res_samples_keep(&r->file, "x", 3, &none, &r->runs, &r->rows,
	    test_err()));
	assert_ok(xp_held_open(&r->held, r->file, host, 2, &p, test_err()));
}

static void rig_open(struct held_rig *r)
{
	rig_open_ahead(r, TOLERANCE, 0);
}

/* What was captured, AT ns from the begin of the run. */
static void rig_packet(struct held_rig *r, int64_t at, struct obs_seen seen)
{
	assert_ok(xp_held_packet(r->held, 0, (uint64_t)(START + at), &seen,
	    test_err()));
}

static const struct xp_held_run *rig_compare(struct held_rig *r, int64_t first,
    int64_t last)
{
	assert_ok(xp_held_compare(r->held, (uint64_t)(START + first),
	    (uint64_t)(START + last), &r->out, &r->n, test_err()));
	return r->out;
}

/* A capture of all of the time of the run. */
static const struct xp_held_run *rig_compare_all(struct held_rig *r)
{
	return rig_compare(r, -START / 2, 10 * WIDTH * OBS_BUCKETS);
}

static void rig_close(struct held_rig *r)
{
	free(r->out);
	xp_held_close(r->held);
	res_samples_close(r->file);
	obs_runs_free(&r->runs);
	obs_samples_free(&r->rows);
}

/* --- what is counted ------------------------------------------------------ */

static void equal_counts_do_not_differ(void **state)
{
	struct held_rig r;
	(void)state;
	rig_begin(&r, OBS_BUCKETS);
	rig_row(&r, 0, (struct obs_sample){.in_bytes = 7, .in_ce = 7});
	rig_row(&r, 3,
	    (struct obs_sample){.in_bytes = 100,
		.out_bytes = 50,
		.in_retx = 100,
		.out_retx = 50,
		.sketch_hi = UINT64_C(1) << (BIT - 64)});
	rig_row(&r, OBS_BUCKETS - 1, (struct obs_sample){.out_bytes = 3});
	rig_open(&r);
	rig_packet(&r, 50, (struct obs_seen){.bytes = 7, .ce = 1});
	rig_packet(&r, 350,
	    (struct obs_seen){.bytes = 100,
		.retx = 1,
		.bit = BIT,
		.has_bit = 1});
	rig_packet(&r, 351,
	    (struct obs_seen){.bytes = 50, .out = 1, .retx = 1});
	rig_packet(&r, WIDTH * OBS_BUCKETS - 50,
	    (struct obs_seen){.bytes = 3, .out = 1});
	/* Long after it. */
	rig_packet(&r, WIDTH * OBS_BUCKETS + 2 * SIM_SEC,
	    (struct obs_seen){.bytes = 3, .out = 1});
	const struct xp_held_run *o = rig_compare_all(&r);
	assert_int_equal(r.n, 1);
	assert_int_equal(o->row, 0);
	assert_int_equal(o->n_buckets, OBS_BUCKETS);
	assert_int_equal(o->n_packets, 4);
	assert_int_equal(o->n_bytes, 160);
	assert_int_equal(o->n_differ, 0);
	assert_int_equal(o->n_explained, 0);
	assert_int_equal(o->n_unexplained, 0);
	assert_int_equal(o->unexplained, 0);
	rig_close(&r);
}

static struct obs_sample held_sample(unsigned series, uint32_t bytes)
{
	struct obs_sample s = {.in_bytes = 1000, .out_bytes = 1000};
#define X(name) s.name += series == XP_HELD_##name ? bytes : 0;
	XP_HELD_SERIES(X)
#undef X
	return s;
}

/* Whatever is not the same is told with the first bucket where. */
static void what_differs_in_a_series_is_named(void **state)
{
	(void)state;
	for (unsigned k = 0; k < XP_N_HELD_SERIES; k++)
		for (uint32_t more = 1; more < 4; more += 2) {
			struct held_rig r;
			rig_begin(&r, OBS_BUCKETS);
			rig_row(&r, 3, held_sample(k, more));
			rig_row(&r, 6, held_sample(k, 10));
			rig_open(&r);
			for (unsigned i = 0; i < 2; i++)
				for (uint8_t out = 0; out < 2; out++)
					rig_packet(&r, 350 + 300 * i,
					    (struct obs_seen){.bytes = 1000,
						.out = out});
			const struct xp_held_run *o = rig_compare_all(&r);
			const uint32_t had = k <= XP_HELD_out_bytes ? 1000 : 0;
			assert_int_equal(o->n_differ, 2);
			assert_int_equal(o->n_explained, 0);
			assert_int_equal(o->n_unexplained, 2);
			assert_int_equal(o->unexplained, more + 10);
			assert_int_equal(o->bucket, 3);
			assert_int_equal(o->series, k);
			assert_int_equal(o->sampled, had + more);
			assert_int_equal(o->captured, had);
			assert_int_equal(o->n_packets, 4);
			assert_int_equal(o->n_bytes, 4000);
			rig_close(&r);
		}
	assert_string_equal(xp_held_names[XP_HELD_in_bytes], "in_bytes");
	assert_string_equal(xp_held_names[XP_HELD_CONNS], "connections");
}

/* One packet in bucket 5, at each place of it, that was sampled in each of three:
 * the next ones may have it if it is near them. Where the one before has it, and
 * it is near the one behind, that bucket 5 lacks it is no wonder, but that bucket 6
 * does not have it is. */
static void a_packet_moves_over_the_next_boundary_alone(void **state)
{
	(void)state;
	for (uint32_t into = 0; into < WIDTH; into++)
		for (uint32_t at = 4; at <= 6; at++)
			for (uint8_t has_bit = 0; has_bit < 2; has_bit++) {
				struct held_rig r;
				const int may = at == 5 ||
				    (at == 4 && into <= TOLERANCE) ||
				    (at == 6 && WIDTH - into <= TOLERANCE);
				const uint32_t moved = at != 5;
				rig_begin(&r, OBS_BUCKETS);
				rig_row(&r, at,
				    (struct obs_sample){.in_bytes = 9,
					.sketch_lo =
					    has_bit ? UINT64_C(4) : 0});
				rig_open(&r);
				rig_packet(&r, 500 + into,
				    (struct obs_seen){.bytes = 9,
					.bit = 2,
					.has_bit = has_bit});
				const struct xp_held_run *o =
				    rig_compare_all(&r);
				assert_int_equal(o->n_differ, 2 * moved);
				assert_int_equal(o->n_explained,
				    may ? 2 * moved
					: at == 4 && WIDTH - into <= TOLERANCE);
				assert_int_equal(o->n_unexplained, may ? 0 : 2);
				assert_int_equal(o->unexplained, may ? 0 : 18);
				if (!may)
					assert_int_equal(o->bucket,
					    at < 5 ? at : 5);
				rig_close(&r);
			}
}

/* The same of its connection alone: what is far from a boundary must be there,
 * and no other bit may. Another connection is there in any case. */
static void bits_of_connections_are_held_likewise(void **state)
{
	(void)state;
	for (uint32_t into = 0; into < WIDTH; into++)
		for (unsigned said = 0; said < 4; said++) {
			struct held_rig r;
			const int is_near =
			    into <= TOLERANCE || WIDTH - into <= TOLERANCE;
			/* Bit 2 is the packet's; bit 1 nobody's. */
			const int good = said == 1 || (is_near && said == 0);
			const uint64_t bits =
			    8 | (said & 1 ? 4 : 0) | (said & 2 ? 2 : 0);
			rig_begin(&r, OBS_BUCKETS);
			rig_row(&r, 5,
			    (struct obs_sample){.in_bytes = 10,
				.sketch_hi = bits});
			rig_open(&r);
			rig_packet(&r, 500 + into,
			    (struct obs_seen){.bytes = 9,
				.bit = 66,
				.has_bit = 1});
			rig_packet(&r, 550,
			    (struct obs_seen){.bytes = 1,
				.bit = 67,
				.has_bit = 1});
			const struct xp_held_run *o = rig_compare_all(&r);
			assert_int_equal(o->n_differ, said != 1);
			assert_int_equal(o->n_unexplained, !good);
			assert_int_equal(o->n_explained, said == 0 && is_near);
			assert_int_equal(o->unexplained, 0);
			if (!good) {
				assert_int_equal(o->series, XP_HELD_CONNS);
				assert_int_equal(o->bucket, 5);
				assert_int_equal(o->sampled,
				    __builtin_popcountll(bits));
				assert_int_equal(o->captured, 2);
			}
			rig_close(&r);
		}
}

/* --- of which time -------------------------------------------------------- */

/* A run whose first and last rows are those of buckets 2 and 7, of 10, which is
 * one that was ended in its last; or of all that a run may have. */
static void buckets_are_those_that_the_capture_has(void **state)
{
	static const struct {
		int64_t first, last;
		uint32_t n, of_all;
	} q[] = {
	    {-1000, 100000000, 9, OBS_BUCKETS},
	    {0, 100000000, 9, OBS_BUCKETS},
	    /* It begins in the first bucket that was counted, or behind. */
	    {299, 100000000, 9, OBS_BUCKETS},
	    {300, 100000000, 5, OBS_BUCKETS - 4},
	    {399, 100000000, 5, OBS_BUCKETS - 4},
	    {400, 100000000, 4, OBS_BUCKETS - 5},
	    {799, 100000000, 1, OBS_BUCKETS - 8},
	    {800, 100000000, 0, OBS_BUCKETS - 9},
	    {WIDTH * OBS_BUCKETS, 100000000, 0, 0},
	    {WIDTH * OBS_BUCKETS - 1, 100000000, 0, 0},
	    {WIDTH * OBS_BUCKETS - 101, 100000000, 0, 1},
	    /* It ends in the last, or before. */
	    {-1000, 700, 9, OBS_BUCKETS},
	    {-1000, 699, 6, 6},
	    {-1000, 600, 6, 6},
	    {-1000, 599, 5, 5},
	    {-1000, 100, 1, 1},
	    {-1000, 99, 0, 0},
	    {-1000, 0, 0, 0},
	    {-1000, -1, 0, 0},
	    {350, 650, 2, 2},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(q) / sizeof(q[0]); i++)
		for (int64_t ahead = -30; ahead <= 30; ahead += 30)
			for (int all = 0; all < 2; all++) {
				struct held_rig r;
				rig_begin(&r, all ? OBS_BUCKETS : 10);
				rig_row(&r, 2,
				    (struct obs_sample){.in_bytes = 1});
				rig_row(&r, 7,
				    (struct obs_sample){.in_bytes = 1});
				rig_open_ahead(&r, TOLERANCE, ahead);
				const struct xp_held_run *o = rig_compare(&r,
				    q[i].first - ahead, q[i].last - ahead);
				assert_int_equal(o->n_buckets,
				    all ? q[i].of_all : q[i].n);
				rig_close(&r);
			}
}

/* A run that was quiet has all buckets but those that may not be over. */
static void a_quiet_run_is_all_there(void **state)
{
	struct held_rig r;
	(void)state;
	rig_begin(&r, 10);
	rig_open(&r);
	const struct xp_held_run *o = rig_compare(&r, 350, 650);
	assert_int_equal(o->n_buckets, 9);
	assert_int_equal(o->n_packets, 0);
	assert_int_equal(o->n_differ, 0);
	rig_close(&r);
}

/* By a clock that is ahead, or behind, each packet has the bucket it had. */
static void clocks_are_some_time_apart(void **state)
{
	(void)state;
	for (int64_t ahead = -1000; ahead <= 1000; ahead += 250) {
		struct held_rig r;
		rig_begin(&r, OBS_BUCKETS);
		rig_row(&r, 0, (struct obs_sample){.in_bytes = 5});
		rig_row(&r, 3, (struct obs_sample){.in_bytes = 6});
		rig_open_ahead(&r, TOLERANCE, ahead);
		rig_packet(&r, 50 - ahead, (struct obs_seen){.bytes = 5});
		rig_packet(&r, 350 - ahead, (struct obs_seen){.bytes = 6});
		const struct xp_held_run *o = rig_compare_all(&r);
		assert_int_equal(o->n_packets, 2);
		assert_int_equal(o->n_differ, 0);
		rig_close(&r);
	}
}

/* What comes just before or behind a run may be of it. */
static void packets_at_the_ends_explain_what_was_counted(void **state)
{
	static const struct {
		int64_t at;
		uint32_t bucket;
		int may;
	} q[] = {
	    {-TOLERANCE, 0, 1},
	    {-TOLERANCE - 1, 0, 0},
	    {-1, 0, 1},
	    {WIDTH * OBS_BUCKETS, OBS_BUCKETS - 1, 1},
	    {WIDTH * OBS_BUCKETS + TOLERANCE, OBS_BUCKETS - 1, 1},
	    {WIDTH * OBS_BUCKETS + TOLERANCE + 1, OBS_BUCKETS - 1, 0},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(q) / sizeof(q[0]); i++) {
		struct held_rig r;
		rig_begin(&r, OBS_BUCKETS);
		rig_row(&r, q[i].bucket, (struct obs_sample){.in_bytes = 9});
		rig_open(&r);
		rig_packet(&r, q[i].at, (struct obs_seen){.bytes = 9});
		const struct xp_held_run *o = rig_compare_all(&r);
		assert_int_equal(o->n_packets, 0);
		assert_int_equal(o->n_differ, 1);
		assert_int_equal(o->n_explained, q[i].may);
		assert_int_equal(o->unexplained, q[i].may ? 0 : 9);
		rig_close(&r);
	}
}

/* --- which runs ----------------------------------------------------------- */

static void runs_are_those_of_known_hosts_by_time(void **state)
{
	struct held_rig r;
	(void)state;
	r = (struct held_rig){.n_buckets = OBS_BUCKETS};
	rig_add_run(&r, 1, START + 2 * WIDTH * OBS_BUCKETS, WIDTH);
	rig_add_run(&r, 0, START, WIDTH);
	rig_add_run(&r, 1, START, WIDTH);
	rig_row(&r, 5, (struct obs_sample){.run = 2, .in_bytes = 4});
	rig_open(&r);
	/* Of a host that nobody has, of none, and of two runs. */
	struct obs_seen seen = {.bytes = 4};
	assert_ok(xp_held_packet(r.held, 1, START + 550, &seen, test_err()));
	rig_packet(&r, 550, seen);
	rig_packet(&r, 2 * WIDTH * OBS_BUCKETS + 50, seen);
	const struct xp_held_run *o = rig_compare_all(&r);
	assert_int_equal(r.n, 2);
	assert_int_equal(o[0].row, 2);
	assert_int_equal(o[0].n_packets, 1);
	assert_int_equal(o[0].n_differ, 0);
	assert_int_equal(o[1].row, 0);
	assert_int_equal(o[1].n_packets, 1);
	assert_int_equal(o[1].n_unexplained, 1);
	assert_int_equal(o[1].bucket, 0);
	rig_close(&r);
}

/* One that began later may be over before. */
static void a_long_run_outlives_a_short_one(void **state)
{
	const struct obs_seen seen = {.bytes = 4};
	struct held_rig r = {.n_buckets = OBS_BUCKETS};
	(void)state;
	rig_add_run(&r, 1, START, 2 * SIM_MS);
	rig_add_run(&r, 1, START + 1000, WIDTH);
	rig_open(&r);
	for (int i = 0; i < 3; i++)
		rig_packet(&r, 2 * SIM_SEC + SIM_MS, seen);
	const struct xp_held_run *o = rig_compare_all(&r);
	assert_int_equal(o[0].n_packets, 3);
	assert_int_equal(o[1].n_packets, 0);
	rig_close(&r);
}

static void a_tolerance_is_at_most_half_a_bucket(void **state)
{
	static const uint32_t host[] = {1};
	struct res_hosts none = {0};
	struct xp_held_params p = {.tolerance_ns = WIDTH / 2 + 1};
	struct sim_err e;
	struct held_rig r;
	(void)state;
	rig_begin(&r, 10);
	assert_ok(res_samples_keep(&r.file, "x", 3, &none, &r.runs, &r.rows,
	    test_err()));
	assert_int_equal(xp_held_open(&r.held, r.file, host, 1, &p, &e),
	    SIM_ERANGE);
	assert_string_equal(e.msg,
	    "a tolerance of 51 ns is more than half of a bucket of 100 ns.");
	assert_null(r.held);
	p.tolerance_ns = WIDTH / 2;
	assert_ok(xp_held_open(&r.held, r.file, host, 1, &p, test_err()));
	rig_close(&r);
}

/* Random packets of random times, each sampled up to the tolerance early or late:
 * whatever differs is explained. */
static void a_clock_that_wavers_is_always_explained(void **state)
{
	enum { N = 2000, USED = 300 };
	(void)state;
	for (uint32_t run = 0; run < 10; run++) {
		static struct obs_bucket at[USED + 2];
		static struct obs_seen seen[N];
		static uint32_t when[N];
		struct held_rig r;
		struct sim_rng rng;
		test_rng(&rng, run);
		memset(at, 0, sizeof(at));
		rig_begin(&r, OBS_BUCKETS);
		for (int i = 0; i < N; i++) {
			when[i] = WIDTH + sim_rng_below(&rng, WIDTH * USED);
			seen[i] = (struct obs_seen){.bytes = 1 +
				sim_rng_below(&rng, 1500),
			    .out = sim_rng_below(&rng, 2) != 0,
			    .ce = sim_rng_below(&rng, 3) == 0,
			    .retx = sim_rng_below(&rng, 3) == 0,
			    .bit = (uint8_t)sim_rng_below(&rng, 128),
			    .has_bit = 1};
			const uint32_t off =
			    sim_rng_below(&rng, 2 * TOLERANCE + 1);
			obs_bucket_add(&at[(when[i] + off - TOLERANCE) / WIDTH],
			    &seen[i]);
		}
		for (uint32_t i = 0; i < USED + 2; i++) {
			const struct obs_bucket *b = &at[i];
			rig_row(&r, i,
			    (struct obs_sample){.in_bytes = b->in_bytes,
				.out_bytes = b->out_bytes,
				.in_ce = b->in_ce,
				.in_retx = b->in_retx,
				.out_retx = b->out_retx,
				.sketch_lo = b->conns.lo,
				.sketch_hi = b->conns.hi});
		}
		rig_open(&r);
		for (int i = 0; i < N; i++)
			rig_packet(&r, when[i], seen[i]);
		const struct xp_held_run *o = rig_compare_all(&r);
		assert_int_equal(o->n_packets, N);
		assert_int_equal(o->unexplained, 0);
		assert_int_equal(o->n_unexplained, 0);
		assert_int_equal(o->n_explained, o->n_differ);
		assert_true(o->n_differ > USED / 2);
		rig_close(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(equal_counts_do_not_differ),
	    cmocka_unit_test(what_differs_in_a_series_is_named),
	    cmocka_unit_test(a_packet_moves_over_the_next_boundary_alone),
	    cmocka_unit_test(bits_of_connections_are_held_likewise),
	    cmocka_unit_test(buckets_are_those_that_the_capture_has),
	    cmocka_unit_test(a_quiet_run_is_all_there),
	    cmocka_unit_test(clocks_are_some_time_apart),
	    cmocka_unit_test(packets_at_the_ends_explain_what_was_counted),
	    cmocka_unit_test(runs_are_those_of_known_hosts_by_time),
	    cmocka_unit_test(a_long_run_outlives_a_short_one),
	    cmocka_unit_test(a_tolerance_is_at_most_half_a_bucket),
	    cmocka_unit_test(a_clock_that_wavers_is_always_explained),
	};
	return cmocka_run_group_tests_name("experiments/millisampler/held",
	    tests, NULL, NULL);
}
