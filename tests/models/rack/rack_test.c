/* tests/models/rack/rack_test.c -- models/rack/rack: closed forms, relations.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One statistical bound: the link's losses, an exact interval at 1 - 1e-6.
 */
#include "models/rack/rack.h"

#include "models/rack/impl.h"
#include "models/rack/params.h"
#include "sim/stat.h"
#include "tests/test.h"

static const struct sim_seed seed = {.seed = 20221025};

static struct rack_params rack_test_params(uint32_t n_servers)
{
	struct rack_params p;
	assert_ok(sim_field_defaults(rack_fields, &p, test_err()));
	p.n_servers = n_servers;
	p.n_quadrants = 1;
	return p;
}

static struct rack *rack_test_open(const struct rack_params *p)
{
	struct rack *r = NULL;
	assert_ok(rack_open(&r, p, &seed, test_err()));
	return r;
}

static void rack_test_add(struct rack_flows *f, sim_ns start, uint32_t server,
    uint32_t segments)
{
	const struct rack_flow row = {.start_ns = start,
	    .server = server,
	    .segments = segments,
	    .conn = (uint32_t)f->n + 1};
	assert_ok(rack_flows_add(f, &row, test_err()));
}

static void rack_test_put(struct rack *r, struct rack_flows *f)
{
	assert_ok(rack_put(r, f, test_err()));
	rack_flows_free(f);
}

/* Bursts of all servers over MS milliseconds, by chance. */
static void rack_test_bursts(struct rack_flows *f, uint32_t run,
    uint32_t n_servers, uint32_t ms)
{
	struct sim_rng rng;
	test_rng(&rng, run);
	for (uint32_t t = 0; t < ms; t++)
		for (uint32_t s = 0; s < n_servers; s++) {
			if (sim_rng_below(&rng, 5) > 0)
				continue;
			const uint32_t n = 1 + sim_rng_below(&rng, 60);
			for (uint32_t i = 0; i < n; i++)
				rack_test_add(f, t * SIM_MS, s,
				    1 + sim_rng_below(&rng, 60));
		}
}

/* One connection with another region: round trips of 2 ms, with which a window of
 * 100 segments is 75,000 bytes/ms. Until then it doubles in each round. */
static void another_region_is_far_away(void **state)
{
	struct rack_params p = rack_test_params(1);
	struct rack_flows f = {0};
	struct rack_count c;
	(void)state;
	p.cross_rtt_us = 1950;
	p.window_max = 100;
	struct rack *r = rack_test_open(&p);
	rack_test_add(&f, 0, 0, 10000);
	f.cross[0] = 1;
	rack_test_put(r, &f);
	for (unsigned ms = 2, want = 10; want <= 80; ms += 2, want *= 2) {
		assert_ok(rack_run(r, ms * SIM_MS, test_err()));
		rack_take(r, 0, &c);
		assert_near((double)c.in, want * 1500, 2 * 1500);
		assert_int_equal(c.in_cross, c.in);
	}
	assert_ok(rack_run(r, 20 * SIM_MS, test_err()));
	rack_take(r, 0, &c);
	for (unsigned ms = 30; ms <= 90; ms += 10) {
		assert_ok(rack_run(r, ms * SIM_MS, test_err()));
		rack_take(r, 0, &c);
		assert_near((double)c.in, 750e3, 2 * 1500);
		assert_int_equal(c.in_cross, c.in);
		assert_int_equal(c.out_cross + c.in_retx, 0);
	}
	rack_close(r);
}

/* The slot in which the first segment comes that was sent again, of 600 that come
 * at once to a buffer of 100. */
static unsigned rack_test_first_again(uint8_t cross, double rto_ms)
{
	struct rack_params p = rack_test_params(1);
	struct rack_flows f = {0};
	struct rack_count c = {0};
	unsigned slot = 0;
	p.window = 300;
	p.shared = 150e3;
	p.alpha = 1024;
	p.ecn = 0;
	p.cross_rtt_us = 3000;
	p.rto_ms = rto_ms;
	struct rack *r = rack_test_open(&p);
	for (uint32_t i = 0; i < 2; i++) {
		rack_test_add(&f, 0, 0, 300);
		f.cross[i] = cross;
	}
	rack_test_put(r, &f);
	while (c.in_retx == 0 && slot < 4000) {
		assert_ok(rack_run(r, ++slot * 25 * SIM_US, test_err()));
		rack_take(r, 0, &c);
	}
	rack_close(r);
	return slot;
}

/* So many slots later, but that the queue, of four at most, is empty by then. */
static void losses_are_heard_of_from_far_away(void **state)
{
	(void)state;
	const unsigned near = rack_test_first_again(0, 50);
	assert_in_range(near, 3, 1000 / 25);
	assert_in_range(rack_test_first_again(1, 50), near + 3000 / 25 - 4,
	    near + 3000 / 25);
}

/* Bursts into and out of eight servers, with marks, drops and bad links; those
 * connections whose number has a bit of FAR are with another region. */
static struct rack *rack_test_regions(uint32_t run, uint32_t far,
    double cross_rtt_us, struct rack_count sum[])
{
	struct rack_params p = rack_test_params(8);
	struct rack_flows f = {0};
	p.cross_rtt_us = cross_rtt_us;
	p.shared = 1e6;
	struct rack *r = rack_test_open(&p);
	rack_test_bursts(&f, run, 8, 20);
	for (size_t i = 0; i < f.n; i++) {
		f.out[i] = i % 3 == 0;
		f.cross[i] = (f.conn[i] & far) != 0;
	}
	rack_test_put(r, &f);
	assert_ok(rack_link_loss(r, 2, 0, 0.01, test_err()));
	assert_ok(rack_link_loss(r, 3, 1, 0.01, test_err()));
	assert_ok(rack_stall(r, 4, 5 * SIM_MS, 9 * SIM_MS, test_err()));
	for (uint32_t ms = 1; ms <= 400; ms++) {
		assert_ok(rack_run(r, ms * SIM_MS, test_err()));
		for (uint32_t s = 0; s < 8; s++) {
			struct rack_count c;
			rack_take(r, s, &c);
			assert_true(c.in_cross <= c.in);
			assert_true(c.out_cross <= c.out);
			if (far == UINT32_MAX) {
				assert_int_equal(c.in_cross, c.in);
				assert_int_equal(c.out_cross, c.out);
			}
			rack_count_add(&sum[s], &c);
		}
	}
	return r;
}

/* Without a longer way another region is this one, to the byte. A server has no burst
 * in 20 ms with a chance of 0.8^20 = 1.2 %, and then nothing comes to it: 11 of 40
 * do not once in 10^12 seeds. */
static void a_region_that_is_near_is_no_other(void **state)
{
	unsigned n_busy = 0;
	(void)state;
	for (uint32_t run = 0; run < 5; run++) {
		struct rack_count near[8] = {0}, far[8] = {0};
		rack_close(rack_test_regions(run, 0, 2000, near));
		rack_close(rack_test_regions(run, UINT32_MAX, 0, far));
		for (uint32_t s = 0; s < 8; s++) {
			assert_int_equal(near[s].in_cross + near[s].out_cross,
			    0);
			n_busy += near[s].in > 0 && near[s].out > 0;
			far[s].in_cross = far[s].out_cross = 0;
			assert_memory_equal(&near[s], &far[s], sizeof(near[s]));
		}
	}
	assert_in_range(n_busy, 30, 40);
}

/* All that is sent arrives once, from wherever it comes; the bytes of a region are
 * those of its transfers, and what was sent again. */
static void each_region_gets_its_bytes(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 5; run++) {
		static const uint32_t fars[] = {1, UINT32_MAX};
		for (unsigned k = 0; k < 2; k++) {
			struct rack_count sum[8] = {0};
			struct rack_totals t;
			uint64_t lost = 0, cross = 0, all = 0;
			struct rack *r =
			    rack_test_regions(run, fars[k], 2000, sum);
			rack_totals(r, &t);
			assert_int_equal(t.n_running + t.queued, 0);
			assert_int_equal(t.offered,
			    t.arrived + t.buffer + t.link);
			for (uint32_t s = 0; s < 8; s++) {
				lost += sum[s].buffer + sum[s].link_in +
				    sum[s].link_out;
				cross += sum[s].in_cross + sum[s].out_cross;
				all += sum[s].in + sum[s].out;
			}
			assert_true(lost > 0);
			assert_int_equal(t.retx, t.buffer + t.link);
			if (k == 0)
				assert_near((double)cross / (double)all, 0.5,
				    0.05);
			rack_close(r);
		}
	}
}

/* N connections that have enough to send for 90 ms and more. */
static struct rack *rack_test_long(uint32_t n)
{
	const struct rack_params p = rack_test_params(1);
	struct rack *r = rack_test_open(&p);
	struct rack_flows f = {0};
	for (uint32_t i = 0; i < n; i++)
		rack_test_add(&f, 0, 0, 100000 / n);
	rack_test_put(r, &f);
	return r;
}

/* One sender is no faster than the line, so nothing is queued. */
static void one_connection_fills_the_line(void **state)
{
	struct rack *r = rack_test_long(1);
	struct rack_count c;
	(void)state;
	assert_ok(rack_run(r, 2 * SIM_MS, test_err()));
	rack_take(r, 0, &c);
	for (unsigned ms = 3; ms <= 90; ms++) {
		assert_ok(rack_run(r, ms * SIM_MS, test_err()));
		rack_take(r, 0, &c);
		assert_near((double)c.in, 1562500, 1500);
		assert_int_equal(c.buffer + c.in_retx + c.in_ce, 0);
		assert_true(c.queue_max <= 1500);
	}
	rack_close(r);
}

/* Of a round trip that is no whole number of slots too. */
static void a_window_goes_once_in_a_round_trip(void **state)
{
	static const double rtts[] = {50, 60, 75, 90, 130};
	(void)state;
	for (size_t i = 0; i < sizeof(rtts) / sizeof(rtts[0]); i++) {
		struct rack_params p = rack_test_params(1);
		p.rtt_us = rtts[i];
		p.window = p.window_max = 10;
		struct rack *r = rack_test_open(&p);
		struct rack_flows f = {0};
		struct rack_count c;
		rack_test_add(&f, 0, 0, 100000);
		rack_test_put(r, &f);
		assert_ok(rack_run(r, 90 * SIM_MS, test_err()));
		rack_take(r, 0, &c);
		assert_near((double)c.in, 90e3 / p.rtt_us * 10 * 1500,
		    10 * 1500);
		rack_close(r);
	}
}

static void two_fill_it_and_keep_the_queue_about_the_threshold(void **state)
{
	struct rack *r = rack_test_long(2);
	struct rack_count c;
	struct rack_totals t;
	(void)state;
	assert_ok(rack_run(r, 10 * SIM_MS, test_err()));
	rack_take(r, 0, &c);
	for (unsigned ms = 15; ms <= 90; ms += 5) {
		assert_ok(rack_run(r, ms * SIM_MS, test_err()));
		rack_take(r, 0, &c);
		assert_int_equal(c.in, 5 * 1562500);
		assert_int_equal(c.buffer + c.in_retx, 0);
		assert_true(c.queue_max > 120e3 && c.queue_max < 150e3);
		assert_true(c.in_ce > 0 && c.in_ce < c.in);
	}
	/* 96 ms are what the line takes for 100,000 segments. */
	assert_ok(rack_run(r, 97 * SIM_MS, test_err()));
	rack_totals(r, &t);
	assert_int_equal(t.arrived, 100000 * 1500);
	assert_int_equal(t.n_running + t.queued, 0);
	rack_close(r);
}

static void what_a_server_sends_fills_its_line_and_loses_nothing(void **state)
{
	const struct rack_params p = rack_test_params(2);
	struct rack *r = rack_test_open(&p);
	struct rack_flows f = {0};
	struct rack_count c;
	(void)state;
	for (uint32_t i = 0; i < 40; i++)
		rack_test_add(&f, 0, 1, 2500);
	for (size_t i = 0; i < f.n; i++)
		f.out[i] = 1;
	rack_test_put(r, &f);
	assert_ok(rack_run(r, 10 * SIM_MS, test_err()));
	rack_take(r, 1, &c);
	for (unsigned ms = 11; ms <= 90; ms++) {
		assert_ok(rack_run(r, ms * SIM_MS, test_err()));
		rack_take(r, 1, &c);
		assert_int_equal(c.out, 1562500);
		assert_int_equal(c.in + c.link_out + c.out_retx, 0);
	}
	rack_close(r);
}

/* N queues that all want more than there is get alpha B / (1 + alpha n). */
/* A thousand connections into each of N servers, soon back from timeouts. */
static struct rack *rack_test_flood(const struct rack_params *p, uint32_t n)
{
	struct rack_params soon = *p;
	soon.rto_ms = 0.1;
	soon.window_min = 10;
	struct rack *r = rack_test_open(&soon);
	struct rack_flows f = {0};
	for (uint32_t i = 0; i < 1000 * n; i++)
		rack_test_add(&f, 0, i % n, 60000);
	rack_test_put(r, &f);
	assert_ok(rack_run(r, 20 * SIM_MS, test_err()));
	return r;
}

/* N queues that all want more than there is get alpha B / (1 + alpha n), but
 * for rounding, and for less than a slot of the line if just now less came. */
static void long_queues_reach_the_dynamic_limit(void **state)
{
	static const double alphas[] = {0.25, 1, 4};
	(void)state;
	for (size_t a = 0; a < 3; a++)
		for (uint32_t n = 1; n <= 11; n += 2) {
			struct rack_params p = rack_test_params(12);
			p.alpha = alphas[a];
			p.ecn = 0;
			struct rack *r = rack_test_flood(&p, n);
			const double want =
			    p.alpha * p.shared / (1 + p.alpha * n);
			for (uint32_t s = 0; s < n; s++) {
				const double q = (double)rack_queue(r, s);
				assert_true(q <= want + n * 1500);
				assert_true(q >= want - 39063);
			}
			assert_near(rack_limit(r, 0), want, n * 1500);
			assert_int_equal(rack_queue(r, 11), 0);
			rack_close(r);
		}
}

static void other_policies_have_their_limits(void **state)
{
	(void)state;
	for (uint32_t policy = RACK_STATIC; policy <= RACK_COMPLETE; policy++)
		for (uint32_t n = 1; n <= 4; n++) {
			struct rack_params p = rack_test_params(4);
			p.policy = policy;
			p.ecn = 0;
			struct rack *r = rack_test_flood(&p, n);
			const double want =
			    policy == RACK_STATIC ? n * p.shared / 4 : p.shared;
			double sum = 0;
			for (uint32_t s = 0; s < n; s++)
				sum += (double)rack_queue(r, s);
			assert_true(sum <= want + n * 1500);
			assert_true(sum >= want - n * 39063.0);
			rack_close(r);
		}
}

/* A segment that nothing comes behind is missed for an RTO. */
static void a_lost_tail_comes_after_the_timeout(void **state)
{
	(void)state;
	for (double rto_ms = 5; rto_ms <= 200; rto_ms += 195) {
		struct rack_params p = rack_test_params(1);
		p.rto_ms = rto_ms;
		struct rack *r = rack_test_open(&p);
		struct rack_flows f = {0};
		struct rack_count c;
		rack_test_add(&f, 0, 0, 1);
		rack_test_put(r, &f);
		assert_ok(rack_link_loss(r, 0, 0, 1, test_err()));
		assert_ok(rack_run(r, 100 * SIM_US, test_err()));
		assert_ok(rack_link_loss(r, 0, 0, 0, test_err()));
		rack_take(r, 0, &c);
		assert_int_equal(c.link_in, 1500);
		/* It was sent within a round trip, and is missed another one
		 * later at most. */
		const sim_ns rto = sim_ns_of(rto_ms * 1e-3);
		assert_ok(rack_run(r, rto, test_err()));
		rack_take(r, 0, &c);
		assert_int_equal(c.in, 0);
		assert_ok(rack_run(r, rto + 150 * SIM_US, test_err()));
		rack_take(r, 0, &c);
		assert_int_equal(c.in, 1500);
		assert_int_equal(c.in_retx, 1500);
		rack_close(r);
	}
}

/* Doubled each time that it is lost again: 1 + 2 + 4 + 8 RTOs in all. */
static void timeouts_double(void **state)
{
	const struct rack_params p = rack_test_params(1);
	struct rack *r = rack_test_open(&p);
	struct rack_flows f = {0};
	struct rack_totals t;
	(void)state;
	rack_test_add(&f, 0, 0, 1);
	rack_test_put(r, &f);
	assert_ok(rack_link_loss(r, 0, 0, 1, test_err()));
	assert_ok(rack_run(r, 50 * SIM_MS, test_err()));
	rack_totals(r, &t);
	assert_int_equal(t.link, 4 * 1500);
	assert_int_equal(t.n_rto, 4);
	assert_ok(rack_run(r, 74 * SIM_MS, test_err()));
	rack_totals(r, &t);
	assert_int_equal(t.link, 4 * 1500);
	assert_ok(rack_run(r, 77 * SIM_MS, test_err()));
	rack_totals(r, &t);
	assert_int_equal(t.link, 5 * 1500);
	rack_close(r);
}

static void a_loss_that_much_comes_behind_costs_a_round_trip(void **state)
{
	const struct rack_params p = rack_test_params(1);
	struct rack *r = rack_test_open(&p);
	struct rack_flows f = {0};
	struct rack_totals t;
	(void)state;
	rack_test_add(&f, 0, 0, 2000);
	rack_test_put(r, &f);
	assert_ok(rack_run(r, 500 * SIM_US, test_err()));
	assert_ok(rack_link_loss(r, 0, 0, 0.2, test_err()));
	assert_ok(rack_run(r, 525 * SIM_US, test_err()));
	assert_ok(rack_link_loss(r, 0, 0, 0, test_err()));
	assert_ok(rack_run(r, 900 * SIM_US, test_err()));
	rack_totals(r, &t);
	assert_true(t.link > 0);
	assert_int_equal(t.retx, t.link);
	assert_int_equal(t.n_rto, 0);
	rack_close(r);
}

static void links_lose_at_their_rate(void **state)
{
	const struct rack_params p = rack_test_params(2);
	(void)state;
	for (int out = 0; out < 2; out++) {
		struct rack *r = rack_test_open(&p);
		struct rack_flows f = {0};
		struct rack_count c;
		double lo, hi;
		for (uint32_t i = 0; i < 64; i++) {
			rack_test_add(&f, 0, 1, 10000);
			f.out[i] = (uint8_t)out;
		}
		rack_test_put(r, &f);
		assert_ok(rack_link_loss(r, 1, out, 1e-3, test_err()));
		assert_ok(rack_run(r, 2 * SIM_SEC, test_err()));
		rack_take(r, 1, &c);
		const uint64_t lost = (out ? c.link_out : c.link_in) / 1500;
		const uint64_t on = out ? c.out / 1500 : c.in / 1500 + lost;
		assert_int_equal(on - lost, 640000);
		assert_ok(sim_binomial_interval(lost, on, 1 - 1e-6, &lo, &hi,
		    test_err()));
		if (!(lo <= 1e-3 && 1e-3 <= hi))
			fail_msg("seed %llu: %llu of %llu",
			    (unsigned long long)seed.seed,
			    (unsigned long long)lost, (unsigned long long)on);
		assert_int_equal(out ? c.link_in : c.link_out, 0);
		struct rack_totals t;
		rack_totals(r, &t);
		assert_int_equal(t.retx, lost * 1500 + c.buffer);
		if (out)
			assert_int_equal(c.out_retx, lost * 1500);
		rack_close(r);
	}
}

/* Everything arrives once, and what was lost was sent again, no more. */
static void all_is_delivered_and_no_more_than_lost_is_sent_again(void **state)
{
	uint64_t n_buffer = 0, n_rto = 0;
	(void)state;
	for (uint32_t run = 0; run < 8; run++) {
		struct rack_params p = rack_test_params(8);
		p.shared = 300e3;
		p.ecn = run % 2 ? 60e3 : 0;
		p.policy = run % 3;
		struct rack *r = rack_test_open(&p);
		struct rack_flows f = {0};
		struct rack_totals t;
		uint64_t segments = 0, in = 0;
		rack_test_bursts(&f, run, 8, 40);
		for (size_t i = 0; i < f.n; i++)
			segments += f.segments[i];
		rack_test_put(r, &f);
		for (uint32_t s = 0; s < 4; s++)
			assert_ok(rack_link_loss(r, s, 0, 1e-3, test_err()));
		assert_ok(rack_run(r, 20 * SIM_SEC, test_err()));
		rack_totals(r, &t);
		for (uint32_t s = 0; s < 8; s++) {
			struct rack_count c;
			rack_take(r, s, &c);
			in += c.in;
		}
		assert_int_equal(t.n_running + t.queued, 0);
		assert_int_equal(t.arrived, segments * 1500);
		assert_int_equal(in, t.arrived);
		assert_int_equal(t.retx, t.buffer + t.link);
		assert_int_equal(t.offered, t.arrived + t.buffer + t.link);
		n_buffer += t.buffer;
		n_rto += t.n_rto;
		rack_close(r);
	}
	assert_true(n_buffer > 0 && n_rto > 0);
}

/* The counts of each server and millisecond. */
enum { RELATED_MS = 20 };
static void rack_test_counts(const struct rack_params *p, struct rack_flows *f,
    struct rack_count c[][RELATED_MS])
{
	struct rack *r = rack_test_open(p);
	rack_test_put(r, f);
	for (uint32_t ms = 0; ms < RELATED_MS; ms++) {
		assert_ok(rack_run(r, (ms + 1) * SIM_MS, test_err()));
		for (uint32_t s = 0; s < p->n_servers; s++)
			rack_take(r, s, &c[s][ms]);
	}
	rack_close(r);
}

static void servers_of_a_quadrant_may_change_places(void **state)
{
	struct rack_params p = rack_test_params(8);
	static struct rack_count a[8][RELATED_MS], b[8][RELATED_MS];
	uint64_t lost = 0;
	(void)state;
	p.n_quadrants = 2;
	p.shared = 200e3;
	p.ecn = 60e3;
	struct rack_flows f = {0}, g = {0};
	rack_test_bursts(&f, 1, 8, RELATED_MS);
	rack_test_bursts(&g, 1, 8, RELATED_MS);
	for (size_t i = 0; i < g.n; i++)
		g.server[i] = g.server[i] / 4 * 4 + (g.server[i] + 1) % 4;
	rack_test_counts(&p, &f, a);
	rack_test_counts(&p, &g, b);
	for (uint32_t s = 0; s < 8; s++)
		for (uint32_t ms = 0; ms < RELATED_MS; ms++) {
			struct rack_count *x = &a[s][ms];
			struct rack_count *y = &b[s / 4 * 4 + (s + 1) % 4][ms];
			lost += x->buffer;
			/* The sketch knows who it is that is talked to. */
			memset(x->sketch, 0, sizeof(x->sketch));
			memset(y->sketch, 0, sizeof(y->sketch));
			assert_memory_equal(x, y, sizeof(*x));
		}
	assert_true(lost > 0);
}

static void twice_the_bytes_on_twice_the_rack_is_the_same(void **state)
{
	struct rack_params p = rack_test_params(8);
	static struct rack_count a[8][RELATED_MS], b[8][RELATED_MS];
	uint64_t lost = 0;
	(void)state;
	p.shared = 200e3;
	p.ecn = 60e3;
	/* A slot carries whole bytes, so that twice as much is twice that. */
	p.line_gbps = 12.8;
	for (unsigned k = 0; k < 2; k++) {
		struct rack_flows f = {0};
		rack_test_bursts(&f, 2, 8, RELATED_MS);
		rack_test_counts(&p, &f, k ? b : a);
		p.line_gbps *= 2;
		p.shared *= 2;
		p.ecn *= 2;
		p.segment *= 2;
	}
	for (uint32_t s = 0; s < 8; s++)
		for (uint32_t ms = 0; ms < RELATED_MS; ms++) {
			assert_int_equal(2 * a[s][ms].in, b[s][ms].in);
			/* Of a part of a chunk, whole bytes. */
			assert_near(2.0 * (double)a[s][ms].in_ce,
			    (double)b[s][ms].in_ce, 80);
			assert_int_equal(2 * a[s][ms].buffer, b[s][ms].buffer);
			lost += a[s][ms].buffer;
		}
	assert_true(lost > 0);
}

static void a_stalled_nic_hands_all_over_at_once(void **state)
{
	const struct rack_params p = rack_test_params(2);
	struct rack *r = rack_test_open(&p);
	struct rack_flows f = {0};
	struct rack_count c;
	(void)state;
	for (uint32_t i = 0; i < 200; i++)
		rack_test_add(&f, i / 100 * 10 * SIM_MS, 1, 2000);
	rack_test_put(r, &f);
	assert_ok(rack_stall(r, 1, 12 * SIM_MS, 15 * SIM_MS, test_err()));
	for (unsigned ms = 1; ms <= 20; ms++) {
		assert_ok(rack_run(r, ms * SIM_MS, test_err()));
		rack_take(r, 1, &c);
		if (ms > 12 && ms <= 15)
			assert_int_equal(c.in, 0);
		else if (ms == 16)
			assert_true(c.in > 1562500 * 21 / 20);
		else if (ms > 2)
			assert_true(c.in <= 1562500);
	}
	rack_close(r);
}

static void a_warm_connection_goes_on_with_its_window(void **state)
{
	const struct rack_params p = rack_test_params(1);
	(void)state;
	uint64_t in[2];
	for (uint32_t warm = 0; warm < 2; warm++) {
		struct rack *r = rack_test_open(&p);
		struct rack_flows f = {0};
		struct rack_count c;
		rack_test_add(&f, 0, 0, 5000);
		rack_test_add(&f, 20 * SIM_MS, 0, 5000);
		f.warm[0] = f.warm[1] = warm;
		rack_test_put(r, &f);
		assert_ok(rack_run(r, 20 * SIM_MS, test_err()));
		rack_take(r, 0, &c);
		assert_int_equal(c.in, 5000 * 1500);
		assert_ok(rack_run(r, 20100 * SIM_US, test_err()));
		rack_take(r, 0, &c);
		in[warm] = c.in;
		rack_close(r);
	}
	/* 100 us are twice a round trip, or four slots of the line. */
	assert_near((double)in[0], (10 + 20) * 1500, 1500);
	assert_int_equal(in[1], 4 * 26 * 1500);
}

static void sketches_have_a_bit_for_each_connection(void **state)
{
	const struct rack_params p = rack_test_params(2);
	struct rack *r = rack_test_open(&p);
	struct rack_flows f = {0};
	struct rack_count c;
	uint64_t want[2] = {0};
	(void)state;
	for (uint32_t i = 0; i < 30; i++) {
		rack_test_add(&f, 0, 1, 3);
		const uint32_t bit = rack_bit(1, f.conn[i]);
		assert_true(bit < 128);
		want[bit / 64] |= UINT64_C(1) << bit % 64;
	}
	rack_test_put(r, &f);
	assert_ok(rack_run(r, SIM_MS, test_err()));
	rack_take(r, 1, &c);
	assert_memory_equal(c.sketch, want, sizeof(want));
	rack_take(r, 1, &c);
	assert_true(c.sketch[0] == 0 && c.sketch[1] == 0);
	rack_close(r);
}

/* Parts of a chunk are rounded, but never to more than the whole. */
static void what_is_sent_again_is_of_what_came(void **state)
{
	const struct rack_params p = rack_test_params(1);
	struct rack *r = rack_test_open(&p);
	struct rack_flows f = {0};
	uint64_t again = 0;
	(void)state;
	for (uint32_t i = 0; i < 3000; i++)
		rack_test_add(&f, i / 100 * SIM_MS, 0, 1 + i % 7);
	rack_test_put(r, &f);
	assert_ok(rack_link_loss(r, 0, 0, 0.5, test_err()));
	for (uint32_t slot = 1; slot <= 2400; slot++) {
		struct rack_count c;
		assert_ok(rack_run(r, slot * 25 * SIM_US, test_err()));
		rack_take(r, 0, &c);
		assert_true(c.in_retx <= c.in && c.in_ce <= c.in);
		again += c.in_retx;
	}
	assert_true(again > 0);
	rack_close(r);
}

static void a_byte_too_many_is_an_error(void **state)
{
	const struct rack_params p = rack_test_params(2);
	struct rack *r = rack_test_open(&p);
	struct rack_flows f = {0};
	struct sim_err e;
	(void)state;
	rack_test_add(&f, 0, 1, 300);
	rack_test_put(r, &f);
	assert_ok(rack_run(r, 50 * SIM_US, test_err()));
	r->port[1].gone++;
	assert_int_equal(rack_run(r, SIM_MS, &e), SIM_EMISMATCH);
	assert_non_null(strstr(e.msg, "slot 2, server 1: of "));
	rack_close(r);
}

/* Two servers' queues of a hundred windows each; then there is hardly a buffer for
 * them, or one has as many parts as its ring holds. */
static void a_queue_without_room_is_an_error(void **state)
{
	const struct rack_params p = rack_test_params(2);
	(void)state;
	for (unsigned full = 0; full < 2; full++) {
		struct rack *r = rack_test_open(&p);
		struct rack_flows f = {0};
		struct sim_err e;
		for (unsigned i = 0; i < 200; i++)
			rack_test_add(&f, 0, i % 2, 300);
		rack_test_put(r, &f);
		assert_ok(rack_run(r, 50 * SIM_US, test_err()));
		if (full)
			r->port[0].n_chunks = r->port[0].ring;
		else
			r->p.shared = 1000;
		assert_int_equal(rack_run(r, SIM_MS, &e), SIM_EMISMATCH);
		assert_string_equal(e.msg,
		    full ? "slot 2, server 0: the queue of 1160875 bytes has "
			   "128 parts, and no room for one more."
			 : "slot 2, quadrant 0: its queues hold 2243626 "
			   "bytes, but it has only 1000.");
		rack_close(r);
	}
}

static void refuse(struct rack_params p, const char *why)
{
	struct rack *r;
	struct sim_err e;
	assert_int_equal(rack_open(&r, &p, &seed, &e), SIM_EINVAL);
	assert_null(r);
	if (!strstr(e.msg, why))
		fail_msg("%s", e.msg);
}

static void what_cannot_be_is_refused(void **state)
{
	struct rack_params p = rack_test_params(8);
	(void)state;
	p.slot_us = 25.1;
	refuse(p, "slot 25.1 us is above 25 us, half of the round trip");
	p = rack_test_params(9);
	p.n_quadrants = 2;
	refuse(p, "9 servers can't be in 2 quadrants");
	p = rack_test_params(8);
	p.ecn = 4e6;
	refuse(p, "ecn 4e+06 bytes is above shared");
	p.ecn = 0;
	p.window_min = 11;
	refuse(p, "window 10 is not between window_min 11 and window_max 700");
	p = rack_test_params(8);
	p.line_gbps = 0.1;
	refuse(p, "carries 312.5 bytes at 0.1 Gb/s, less than a segment");
}

static void what_comes_late_or_elsewhere_is_refused(void **state)
{
	const struct rack_params p = rack_test_params(2);
	struct rack *r = rack_test_open(&p);
	struct rack_flows f = {0};
	struct sim_err e;
	(void)state;
	rack_test_add(&f, SIM_MS, 2, 1);
	assert_int_equal(rack_put(r, &f, &e), SIM_EINVAL);
	assert_non_null(strstr(e.msg, "transfer 0 has 1 segments"));
	f.server[0] = 0;
	assert_ok(rack_put(r, &f, test_err()));
	f.start_ns[0] = 0;
	assert_int_equal(rack_put(r, &f, &e), SIM_EINVAL);
	assert_non_null(strstr(e.msg, "begins at 0 ns, before 1000000 ns"));
	f.start_ns[0] = 3 * SIM_MS;
	rack_test_add(&f, 2 * SIM_MS, 0, 1);
	assert_int_equal(rack_put(r, &f, &e), SIM_EINVAL);
	assert_non_null(strstr(e.msg,
	    "transfer 1 begins at 2000000 ns, before 3000000 ns"));
	/* There are 2^27 slots. */
	f.start_ns[0] = f.start_ns[1] = (UINT64_C(1) << 27) * r->slot_ns;
	assert_int_equal(rack_put(r, &f, &e), SIM_EINVAL);
	assert_string_equal(e.msg,
	    "transfer 0 begins at 3355443200000 ns, behind the last slot.");
	f.start_ns[0] = --f.start_ns[1];
	assert_ok(rack_put(r, &f, test_err()));
	rack_flows_free(&f);
	assert_int_equal(rack_link_loss(r, 2, 0, 0.1, &e), SIM_EINVAL);
	assert_string_equal(e.msg, "server 2 is not one of 2.");
	assert_int_equal(rack_link_loss(r, 1, 0, 1.1, &e), SIM_EINVAL);
	assert_int_equal(rack_stall(r, 1, SIM_MS, 0, &e), SIM_EINVAL);
	assert_int_equal(rack_stall(r, 2, 0, SIM_MS, &e), SIM_EINVAL);
	rack_close(r);
}

static int rack_test_life(void *arg, struct sim_err *e)
{
	struct rack_params p = rack_test_params(4);
	struct rack *r = NULL;
	p.shared = 100e3;
	p.ecn = 0;
	int rc = rack_open(&r, &p, &seed, e);
	if (rc == 0 && (rc = rack_put(r, arg, e)) == 0 &&
	    (rc = rack_stall(r, 0, SIM_MS, 2 * SIM_MS, e)) == 0)
		rc = rack_run(r, 10 * SIM_MS, e);
	rack_close(r);
	return rc;
}

static void every_allocation_may_fail(void **state)
{
	struct rack_flows f = {0};
	(void)state;
	rack_test_bursts(&f, 3, 4, 5);
	test_each_alloc_fails(rack_test_life, &f);
	rack_flows_free(&f);
}

/* Each bound with its last good value, and what is said of the next. */
static void what_just_can_be_is_taken(void **state)
{
	(void)state;
	struct rack_params base;
	struct sim_err e;
	assert_ok(sim_field_defaults(rack_fields, &base, test_err()));
	struct rack_params good[8], bad[6];
	static const char *const why[6] = {"93 servers can't be in 4 quadrants "
					   "of as many each.",
	    "window 701 is not between window_min 2 and window_max 700.",
	    "a slot of 1 us carries 1500 bytes at 12 Gb/s, less than a segment "
	    "of 1501.",
	    "a slot of 8738 us carries more than 65535 segments of 99 bytes at "
	    "6 Gb/s.",
	    "slot 25 us is above 24.95 us, half of the round trip rtt: windows "
	    "would answer to marks of the same slot.",
	    "ecn 3.6e+06 bytes is above shared, the 3.5e+06 bytes that all "
	    "queues of a quadrant have."};
	for (unsigned i = 0; i < 8; i++)
		good[i] = base;
	good[1].ecn = good[1].shared;
	good[2].window = good[2].window_min;
	good[3].window = good[3].window_max;
	good[4].window = good[4].window_min = good[4].window_max = 9;
	good[5].line_gbps = 12;
	good[5].slot_us = 1;
	good[6].line_gbps = 6;
	good[6].slot_us = 8738;
	good[6].rtt_us = 2 * 8738;
	good[6].segment = 100;
	good[7].n_servers = 4;
	for (unsigned i = 0; i < 8; i++)
		assert_ok(rack_params_check(&good[i], test_err()));
	for (unsigned i = 0; i < 6; i++)
		bad[i] = base;
	bad[0].n_servers = 93;
	bad[1].window = 701;
	bad[2] = good[5];
	bad[2].segment = 1501;
	bad[3] = good[6];
	bad[3].segment = 99;
	bad[4].rtt_us = 49.9;
	bad[5].ecn = bad[5].shared;
	bad[5].shared = 3.5e6;
	for (unsigned i = 0; i < 6; i++) {
		assert_int_equal(rack_params_check(&bad[i], &e), SIM_EINVAL);
		assert_string_equal(e.msg, why[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(one_connection_fills_the_line),
	    cmocka_unit_test(another_region_is_far_away),
	    cmocka_unit_test(losses_are_heard_of_from_far_away),
	    cmocka_unit_test(a_region_that_is_near_is_no_other),
	    cmocka_unit_test(each_region_gets_its_bytes),
	    cmocka_unit_test(a_window_goes_once_in_a_round_trip),
	    cmocka_unit_test(
		two_fill_it_and_keep_the_queue_about_the_threshold),
	    cmocka_unit_test(
		what_a_server_sends_fills_its_line_and_loses_nothing),
	    cmocka_unit_test(long_queues_reach_the_dynamic_limit),
	    cmocka_unit_test(other_policies_have_their_limits),
	    cmocka_unit_test(a_lost_tail_comes_after_the_timeout),
	    cmocka_unit_test(timeouts_double),
	    cmocka_unit_test(a_loss_that_much_comes_behind_costs_a_round_trip),
	    cmocka_unit_test(links_lose_at_their_rate),
	    cmocka_unit_test(
		all_is_delivered_and_no_more_than_lost_is_sent_again),
	    cmocka_unit_test(servers_of_a_quadrant_may_change_places),
	    cmocka_unit_test(twice_the_bytes_on_twice_the_rack_is_the_same),
	    cmocka_unit_test(a_stalled_nic_hands_all_over_at_once),
	    cmocka_unit_test(a_warm_connection_goes_on_with_its_window),
	    cmocka_unit_test(sketches_have_a_bit_for_each_connection),
	    cmocka_unit_test(what_is_sent_again_is_of_what_came),
	    cmocka_unit_test(a_byte_too_many_is_an_error),
	    cmocka_unit_test(a_queue_without_room_is_an_error),
	    cmocka_unit_test(what_cannot_be_is_refused),
	    cmocka_unit_test(what_comes_late_or_elsewhere_is_refused),
	    cmocka_unit_test(every_allocation_may_fail),
	    cmocka_unit_test(what_just_can_be_is_taken),
	};
	return cmocka_run_group_tests_name("models/rack/rack", tests, NULL,
	    NULL);
}
