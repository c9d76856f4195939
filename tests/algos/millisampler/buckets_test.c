/* tests/algos/millisampler/buckets_test.c -- clock rule, an oracle, memory.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/millisampler/buckets.h"
#include "algos/millisampler/sketch.h"
#include "tests/test.h"

static const uint64_t LINE = 12500000000;

static int offer(struct algo_buckets *b, sim_ns t, uint32_t bytes)
{
	return algo_buckets_packet(b, t, &(struct obs_seen){.bytes = bytes});
}

static void the_first_packet_starts_and_one_behind_the_last_bucket_ends(
    void **state)
{
	static struct algo_buckets b;
	struct obs_runs runs = {0};
	struct obs_samples t = {0};
	const sim_ns w = SIM_MS, f = 5000 * SIM_SEC + 123;
	(void)state;
	/* Not armed: nothing counts, nothing is taken. */
	assert_false(offer(&b, f, 1));
	assert_ok(algo_buckets_take(&b, f, 3, LINE, &runs, &t, test_err()));
	assert_int_equal(runs.n, 0);
	assert_ok(algo_buckets_arm(&b, f - 700 * w, w, ALGO_START_FIRST_PACKET,
	    test_err()));
	assert_true(offer(&b, f, 100));
	assert_true(offer(&b, f + w - 1, 10));
	assert_true(offer(&b, f + w, 1000));
	assert_true(offer(&b, f - 5, 7)); /* lost the race */
	assert_false(offer(&b, f - w, 9));
	assert_true(offer(&b, f + 2000 * w - 1, 5)); /* the 2,000th */
	assert_false(offer(&b, f + 2000 * w, 1));
	assert_false(offer(&b, f + 3 * w, 1)); /* it has ended */
	assert_ok(
	    algo_buckets_take(&b, f + 3 * w, 3, LINE, &runs, &t, test_err()));
	assert_int_equal(runs.n, 1);
	assert_int_equal(runs.start_ns[0], f);
	assert_int_equal(runs.n_buckets[0], 2000);
	assert_int_equal(runs.n_missed[0], 1);
	assert_int_equal(runs.host[0], 3);
	assert_int_equal(runs.line_bps[0], LINE);
	assert_int_equal(t.n, 3);
	assert_int_equal(t.in_bytes[0], 117);
	assert_int_equal(t.in_bytes[1], 1000);
	assert_int_equal(t.in_bytes[2], 5);
	assert_int_equal(t.bucket[2], 1999);
	/* Taken once; and armed again it is new. */
	assert_ok(algo_buckets_take(&b, f, 3, LINE, &runs, &t, test_err()));
	assert_int_equal(runs.n, 1);
	assert_false(offer(&b, f, 1));
	assert_ok(algo_buckets_arm(&b, f + 9 * SIM_SEC, 10 * w,
	    ALGO_START_ALIGNED, test_err()));
	assert_true(offer(&b, f + 10 * SIM_SEC, 8));
	assert_ok(algo_buckets_take(&b, f + 10 * SIM_SEC + 25 * w, 3, LINE,
	    &runs, &t, test_err()));
	assert_int_equal(runs.start_ns[1], 5010 * SIM_SEC);
	assert_int_equal(runs.n_buckets[1], 3);
	assert_int_equal(t.n, 4);
	assert_int_equal(t.run[3], 1);
	assert_ok(obs_runs_check(&runs, 4, test_err()));
	assert_ok(obs_samples_check(&t, &runs, test_err()));
	obs_runs_free(&runs);
	obs_samples_free(&t);
}

static void a_quiet_run_is_a_run_from_when_it_was_armed(void **state)
{
	static struct algo_buckets b;
	struct obs_runs runs = {0};
	struct obs_samples t = {0};
	(void)state;
	assert_ok(algo_buckets_arm(&b, 40 * SIM_SEC, SIM_MS,
	    ALGO_START_FIRST_PACKET, test_err()));
	assert_ok(algo_buckets_take(&b, 43 * SIM_SEC, 0, LINE, &runs, &t,
	    test_err()));
	assert_int_equal(runs.n, 1);
	assert_int_equal(runs.start_ns[0], 40 * SIM_SEC);
	assert_int_equal(runs.n_buckets[0], 2000);
	assert_int_equal(t.n, 0);
	obs_runs_free(&runs);
}

static void widths_that_cannot_be_served_are_named(void **state)
{
	static struct algo_buckets b;
	struct sim_err e = {0};
	(void)state;
	assert_int_equal(algo_buckets_arm(&b, 0, 999, ALGO_START_ALIGNED, &e),
	    SIM_ERANGE);
	assert_string_equal(e.msg,
	    "buckets can't be 999 ns wide: from 1000 to 50000000 ns they can, "
	    "if the odd part is at most 1500000.");
}

/* --- the oracle ------------------------------------------------------------ */
/* All packets of a run are kept, and each bucket is made from those whose time
 * divides to it; connections are told apart by their whole tuples. */
struct kept {
	sim_ns t;
	struct obs_packet p;
	int out;
	uint32_t again; /* its socket says so */
};

static struct obs_packet any_packet(struct sim_rng *r)
{
	struct obs_packet p = {.ethertype = OBS_ETH_IPV4,
	    .n_bytes = 60 + sim_rng_below(r, 1455),
	    .src_port = (uint16_t)sim_rng_below(r, 3),
	    .dst_port = (uint16_t)sim_rng_below(r, 3)};
	p.ip.src_ip = 0x0a000000 + sim_rng_below(r, 2) * 0x01000000;
	p.ip.dst_ip = 0x0a000001 + sim_rng_below(r, 2) * 0x01000000;
	p.ip.proto = sim_rng_below(r, 4) == 0 ? OBS_PROTO_UDP : TOPO_PROTO_TCP;
	p.ip.ttl = (uint8_t)(64 | (sim_rng_below(r, 4) == 0 ? 128 : 0));
	p.ip.tos = (uint8_t)sim_rng_below(r, 256);
	return p;
}

static void check_row(const struct obs_samples *t, size_t row,
    const struct kept k[], size_t n, sim_ns start, sim_ns width)
{
	uint32_t sum[7] = {0};
	struct obs_sketch conns = {0};
	for (size_t i = 0; i < n; i++) {
		const struct obs_packet *p = &k[i].p;
		if ((k[i].t - start) / width != t->bucket[row])
			continue;
		const uint32_t there = k[i].out ? p->ip.dst_ip : p->ip.src_ip;
		const uint32_t here = k[i].out ? p->ip.src_ip : p->ip.dst_ip;
		const uint32_t n_bytes = p->n_bytes;
		const int cross = there >> 24 != 0x0a;
		sum[k[i].out] += n_bytes;
		sum[2 + k[i].out] += cross ? n_bytes : 0;
		sum[4] += !k[i].out && p->ip.tos % 4 == 3 ? n_bytes : 0;
		const int marked = p->ip.ttl >= 128 && p->ip.proto == 6;
		sum[5 + k[i].out] += k[i].out ? k[i].again * n_bytes
		    : marked                  ? n_bytes
					      : 0;
		obs_sketch_set(&conns,
		    obs_sketch_bit4(here, there,
			obs_sketch_ports(k[i].out ? p->src_port : p->dst_port,
			    k[i].out ? p->dst_port : p->src_port,
			    p->ip.proto)));
	}
	assert_int_equal(t->in_bytes[row], sum[0]);
	assert_int_equal(t->out_bytes[row], sum[1]);
	assert_int_equal(t->in_cross[row], sum[2]);
	assert_int_equal(t->out_cross[row], sum[3]);
	assert_int_equal(t->in_ce[row], sum[4]);
	assert_int_equal(t->in_retx[row], sum[5]);
	assert_int_equal(t->out_retx[row], sum[6]);
	assert_int_equal(t->sketch_lo[row], conns.lo);
	assert_int_equal(t->sketch_hi[row], conns.hi);
	assert_int_equal(t->conns[row], algo_sketch_conns(&conns));
}

static void buckets_are_sums_over_their_packets(void **state)
{
	enum { N = 4000 };
	static const sim_ns widths[] = {100 * SIM_US, SIM_MS, 10 * SIM_MS};
	static struct algo_buckets b;
	static struct kept k[N];
	(void)state;
	for (uint32_t run = 0; run < 60; run++) {
		struct obs_runs runs = {0};
		struct obs_samples t = {0};
		struct sim_rng r;
		test_rng(&r, run);
		const sim_ns w = widths[run % 3];
		const enum algo_start how = run / 3 % 2;
		sim_ns now = 1700000000 * SIM_SEC + sim_rng_u32(&r);
		size_t n = 0;
		uint64_t bytes = 0, rows = 0;
		assert_ok(algo_buckets_arm(&b, now, w, how, test_err()));
		for (size_t i = 0; i < N; i++) {
			const struct kept one = {now, any_packet(&r),
			    (int)sim_rng_below(&r, 2),
			    sim_rng_below(&r, 9) == 0};
			struct obs_seen s = algo_buckets_seen(&one.p, one.out,
			    0x0a000000, 0xff000000);
			if (one.out)
				s.retx = (uint8_t)one.again;
			if (algo_buckets_packet(&b, one.t, &s))
				k[n++] = one;
			now += sim_rng_below(&r, (uint32_t)(w * 2 / 3) + 1);
		}
		assert_ok(
		    algo_buckets_take(&b, now, 0, LINE, &runs, &t, test_err()));
		const sim_ns start = runs.start_ns[0];
		assert_true(how == ALGO_START_ALIGNED
			? start % w == 0 && k[0].t - start < w
			: start == k[0].t);
		for (size_t row = 0; row < t.n; row++) {
			check_row(&t, row, k, n, start, w);
			rows += (uint64_t)t.in_bytes[row] + t.out_bytes[row];
		}
		for (size_t i = 0; i < n; i++)
			bytes += k[i].p.n_bytes;
		assert_int_equal(rows, bytes);
		assert_ok(obs_runs_check(&runs, 1, test_err()));
		assert_ok(obs_samples_check(&t, &runs, test_err()));
		obs_runs_free(&runs);
		obs_samples_free(&t);
	}
}

/* Packets shared out among processors, and their buckets merged. */
static void processors_merge_to_what_one_would_count(void **state)
{
	static struct algo_buckets one, part[2];
	(void)state;
	for (uint32_t run = 0; run < 20; run++) {
		struct sim_rng r;
		test_rng(&r, run);
		struct algo_buckets *all[] = {&one, &part[0], &part[1]};
		for (int i = 0; i < 3; i++)
			assert_ok(algo_buckets_arm(all[i], 0, SIM_MS,
			    ALGO_START_ALIGNED, test_err()));
		/* One clock: the runs of both begin in the same bucket. */
		offer(&part[0], 0, 0);
		offer(&part[1], 0, 0);
		offer(&one, 0, 0);
		for (sim_ns now = 0; now < 2 * SIM_SEC;
		     now += sim_rng_below(&r, 2000000)) {
			const struct obs_packet p = any_packet(&r);
			const struct obs_seen s = algo_buckets_seen(&p,
			    (int)sim_rng_below(&r, 2), 0, 0);
			algo_buckets_packet(&one, now, &s);
			algo_buckets_packet(&part[sim_rng_below(&r, 2)], now,
			    &s);
		}
		for (uint32_t i = 0; i < OBS_BUCKETS; i++)
			obs_bucket_merge(&part[0].bucket[i],
			    &part[1].bucket[i]);
		assert_memory_equal(part[0].bucket, one.bucket,
		    sizeof(one.bucket));
	}
}

static int fill(void *arg, struct sim_err *e)
{
	static struct algo_buckets b;
	struct obs_runs runs = {0};
	struct obs_samples t = {0};
	(void)arg;
	int rc = algo_buckets_arm(&b, 0, SIM_MS, ALGO_START_ALIGNED, e);
	offer(&b, 7, 70);
	if (rc == 0)
		rc = algo_buckets_take(&b, SIM_SEC, 0, LINE, &runs, &t, e);
	if (rc < 0) {
		assert_int_equal(runs.n, 0);
		assert_int_equal(t.n, 0);
		assert_int_equal(b.bucket[0].in_bytes, 70);
	}
	obs_runs_free(&runs);
	obs_samples_free(&t);
	return rc;
}

static void each_allocation_may_fail(void **state)
{
	(void)state;
	test_each_alloc_fails(fill, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
		the_first_packet_starts_and_one_behind_the_last_bucket_ends),
	    cmocka_unit_test(a_quiet_run_is_a_run_from_when_it_was_armed),
	    cmocka_unit_test(widths_that_cannot_be_served_are_named),
	    cmocka_unit_test(buckets_are_sums_over_their_packets),
	    cmocka_unit_test(processors_merge_to_what_one_would_count),
	    cmocka_unit_test(each_allocation_may_fail),
	};
	return cmocka_run_group_tests_name("algos/millisampler/buckets", tests,
	    NULL, NULL);
}
