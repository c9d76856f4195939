/* tests/models/bpf/phantom_law_test.c -- phantom queues: closed forms, an oracle.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Nothing here is by chance but the packets: all bounds hold always.
 */
#include "models/bpf/phantom_law.h"

#include "models/netns/phantom.h"
#include "tests/test.h"

enum { MS = 1000000 };

/* No product here is beyond it. */
__extension__ typedef __int128 phantom_wide;

static struct phantom_law phantom_test_law(uint32_t n_ports, uint32_t mbps,
    uint64_t shared, uint64_t mark, uint32_t alpha)
{
	struct phantom_law law;
	assert_true(phantom_law_make(&law, n_ports, mbps, shared, mark, alpha));
	return law;
}

/* --- closed forms ---------------------------------------------------------- */

/* A packet of 1,500 bytes takes a line of 100 Mb/s 120 us. At that rate or a
 * lower one each finds no queue, however small the buffer. */
static void a_rate_within_the_line_loses_nothing_ever(void **state)
{
	static const uint64_t gap[] = {120000, 120001, 150000, 7 * MS};
	(void)state;
	const struct phantom_law law =
	    phantom_test_law(64, 100, 3000, 1499, PHANTOM_ALPHA);
	for (unsigned g = 0; g < 4; g++) {
		struct phantom_buffer b = {0};
		uint64_t now = 5;
		for (unsigned k = 0; k < 200000; k++, now += gap[g]) {
			assert_int_equal(phantom_packet(&law, &b, 3, now, 1500),
			    PHANTOM_PASSES);
			assert_int_equal(b.used, 1500 * PHANTOM_UNITS);
		}
	}
}

/* What passes is what the line carried and what waits, to a packet; so the share
 * that is dropped goes to 1 - line / rate as 1 / time. One port alone may have
 * alpha B / (1 + alpha). */
static void beyond_the_line_the_rest_is_dropped(void **state)
{
	enum { N = 300000, BYTES = 1500 };
	static const uint32_t alpha[] = {16, 64, 256, 1024, 2560};
	static const uint64_t gap[] = {119999, 100000, 60000, 13000, 1};
	const uint64_t shared = 200000;
	(void)state;
	for (unsigned a = 0; a < 5; a++)
		for (unsigned g = 0; g < 5; g++) {
			const struct phantom_law law =
			    phantom_test_law(8, 100, shared, shared, alpha[a]);
			struct phantom_buffer b = {0};
			uint64_t now = 1000, n_in = 0;
			for (unsigned k = 0; k < N; k++, now += gap[g])
				n_in += phantom_packet(&law, &b, 0, now,
					    BYTES) != PHANTOM_DROPPED;
			const double x = alpha[a] / 256.0;
			const double carried = 100e-3 / 8 * N * (double)gap[g];
			const double most = x * (double)shared / (1 + x);
			const double offered = (double)N * BYTES;
			const double want = fmin(offered, carried + most);
			assert_near((double)n_in * BYTES, want, 2 * BYTES);
			/* The share, within what waits of all. */
			assert_near(1 - (double)n_in / N,
			    fmax(0, 1 - carried / offered),
			    (most + 2 * BYTES) / offered);
		}
}

/* N ports that all get more than they can hold, at one moment: each has
 * alpha B / (1 + alpha N), in whichever order packets come, to the last that
 * fitted of each. */
static void full_ports_share_the_buffer_evenly(void **state)
{
	enum { BYTES = 100 };
	static const uint32_t alpha[] = {16, 64, 256, 512, 2048};
	const double shared = 1e6;
	(void)state;
	for (uint32_t n = 1; n <= PHANTOM_PORTS; n++)
		for (unsigned a = 0; a < 5; a++) {
			const struct phantom_law law = phantom_test_law(n, 1,
			    (uint64_t)shared, 0, alpha[a]);
			const double x = alpha[a] / 256.0;
			struct phantom_buffer b = {0};
			for (uint32_t k = 0; k < n * 11000; k++)
				phantom_packet(&law, &b, k % n, 7, BYTES);
			for (uint32_t i = 0; i < n; i++)
				assert_near((double)b.port[i].length /
					PHANTOM_UNITS,
				    x * shared / (1 + x * n),
				    (1 + x * n) * BYTES);
		}
}

static void longer_queues_than_the_threshold_mark(void **state)
{
	(void)state;
	const struct phantom_law law =
	    phantom_test_law(1, 8, 100000, 3000, PHANTOM_ALPHA);
	struct phantom_buffer b = {0};
	/* Before each: 0, 1500, 3000, 4500. */
	assert_int_equal(phantom_packet(&law, &b, 0, 9, 1500), PHANTOM_PASSES);
	assert_int_equal(phantom_packet(&law, &b, 0, 9, 1500), PHANTOM_PASSES);
	assert_int_equal(phantom_packet(&law, &b, 0, 9, 1500), PHANTOM_PASSES);
	assert_int_equal(phantom_packet(&law, &b, 0, 9, 1500), PHANTOM_MARKED);
	/* 8 Mb/s is a byte a microsecond: 3000 are left then. */
	assert_int_equal(phantom_packet(&law, &b, 0, 9 + 3000000, 1500),
	    PHANTOM_PASSES);
	assert_int_equal(phantom_packet(&law, &b, 0, 9 + 4499999, 1),
	    PHANTOM_MARKED);
}

/* --- an oracle -------------------------------------------------------------- */

struct phantom_oracle {
	phantom_wide length[PHANTOM_PORTS]; /* units */
	uint64_t now;
};

/* All queues drain, by each nanosecond's worth, without looking who is idle. */
static phantom_wide phantom_oracle_until(struct phantom_oracle *o,
    const struct phantom_law *law, uint64_t now)
{
	const phantom_wide gone =
	    (phantom_wide)(now > o->now ? now - o->now : 0) * law->mbps;
	phantom_wide sum = 0;
	for (uint32_t i = 0; i < law->n_ports; i++) {
		o->length[i] -= gone < o->length[i] ? gone : o->length[i];
		sum += o->length[i];
	}
	o->now = now > o->now ? now : o->now;
	return sum;
}

static struct phantom_law phantom_oracle_law(struct sim_rng *r)
{
	const uint64_t shared =
	    1 + sim_rng_below(r, 1u << sim_rng_below(r, 30));
	return phantom_test_law(1 + sim_rng_below(r, PHANTOM_PORTS),
	    1 + sim_rng_below(r, 1u << (1 + sim_rng_below(r, 19))), shared,
	    sim_rng_below(r, (uint32_t)shared + 1),
	    1 + sim_rng_below(r, 1u << (1 + sim_rng_below(r, 16))));
}

/* Gaps from none to hours, as much as the line carries in between, give or take
 * some. */
static uint64_t phantom_oracle_gap(const struct phantom_law *law,
    struct sim_rng *r)
{
	const uint64_t packet = 800u * PHANTOM_UNITS / law->mbps / law->n_ports;
	switch (sim_rng_below(r, 16)) {
	case 0:
		return sim_rng_below(r, UINT32_MAX);
	case 1:
		return (uint64_t)sim_rng_below(r, UINT32_MAX) * 4000;
	case 2:
		return 0;
	default:
		return sim_rng_below(r, (uint32_t)(2 * packet + 2));
	}
}

/* If all ports are swept at each packet, law and oracle agree on all, to the unit;
 * else the sum is too large by what idle lines carry between sweeps, and by no
 * more. The queues are right in both cases. */
static void the_oracle_decides_the_same(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 400; run++) {
		struct sim_rng r;
		test_rng(&r, run);
		struct phantom_law law = phantom_oracle_law(&r);
		struct phantom_oracle o = {0};
		struct phantom_buffer b = {0};
		const int lazy = run % 2;
		uint64_t now = 1000000000;
		if (!lazy)
			law.sweep_ns = 0;
		for (unsigned k = 0; k < 2000; k++) {
			const uint32_t i = sim_rng_below(&r, law.n_ports);
			const uint32_t bytes = 1 + sim_rng_below(&r, 1600);
			now += phantom_oracle_gap(&law, &r);
			const phantom_wide n =
			    (phantom_wide)bytes * PHANTOM_UNITS;
			const phantom_wide sum =
			    phantom_oracle_until(&o, &law, now);
			const phantom_wide free =
			    (phantom_wide)law.shared - sum;
			const phantom_wide before = o.length[i];
			const enum phantom_says says =
			    phantom_packet(&law, &b, i, now, bytes);
			if (!lazy) {
				const int fits = n <= free &&
				    256 * (before + n) <= law.alpha * free;
				if ((says != PHANTOM_DROPPED) != fits)
					fail_msg("run %u, packet %u", run, k);
			}
			if (says != PHANTOM_DROPPED) {
				assert_int_equal(says == PHANTOM_MARKED,
				    before > (phantom_wide)law.mark);
				o.length[i] += n;
			}
			assert_true(
			    (phantom_wide)b.port[i].length == o.length[i]);
			const phantom_wide now_sum =
			    phantom_oracle_until(&o, &law, now);
			const phantom_wide over =
			    (phantom_wide)b.used - now_sum;
			assert_true(over >= 0 && b.used <= law.shared);
			assert_true(over <= (phantom_wide)(law.n_ports - 1) *
				law.mbps * law.sweep_ns);
		}
	}
}

/* A packet whose clock was read before that of the one before it finds that no
 * time has passed, and none is lost for those behind it. */
static void a_clock_that_steps_back_drains_nothing(void **state)
{
	(void)state;
	const struct phantom_law law =
	    phantom_test_law(2, 8, 100000, 0, PHANTOM_ALPHA);
	struct phantom_buffer b = {0};
	phantom_packet(&law, &b, 0, 5 * MS, 1000);
	phantom_packet(&law, &b, 0, 5 * MS - 300, 1000);
	assert_int_equal(b.used, 2000 * PHANTOM_UNITS);
	phantom_packet(&law, &b, 0, 5 * MS + 1000000, 10);
	assert_int_equal(b.port[0].length, 1010 * PHANTOM_UNITS);
	assert_int_equal(b.used, 1010 * PHANTOM_UNITS);
}

/* --- parameters ------------------------------------------------------------- */

static void parameters_are_held_to_their_ranges(void **state)
{
	struct netns_phantom_params p;
	struct phantom_law law;
	struct sim_err e;
	(void)state;
	assert_ok(sim_field_defaults(netns_phantom_fields, &p, test_err()));
	assert_ok(netns_phantom_law(&law, &p, 16, test_err()));
	assert_int_equal(law.mbps, 50);
	assert_int_equal(law.shared, 262144ull * PHANTOM_UNITS);
	assert_int_equal(netns_phantom_law(&law, &p, 0, &e), SIM_ERANGE);
	assert_int_equal(netns_phantom_law(&law, &p, 65, &e), SIM_ERANGE);
	p.line_mbps = 99.5;
	assert_int_equal(netns_phantom_law(&law, &p, 16, &e), SIM_ERANGE);
	p.line_mbps = 100;
	p.ecn = p.shared + 1;
	assert_int_equal(netns_phantom_law(&law, &p, 16, &e), SIM_ERANGE);
	p.ecn = 0;
	p.alpha = 1e-4;
	assert_int_equal(netns_phantom_law(&law, &p, 16, &e), SIM_ERANGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_rate_within_the_line_loses_nothing_ever),
	    cmocka_unit_test(beyond_the_line_the_rest_is_dropped),
	    cmocka_unit_test(full_ports_share_the_buffer_evenly),
	    cmocka_unit_test(longer_queues_than_the_threshold_mark),
	    cmocka_unit_test(the_oracle_decides_the_same),
	    cmocka_unit_test(a_clock_that_steps_back_drains_nothing),
	    cmocka_unit_test(parameters_are_held_to_their_ranges),
	};
	return cmocka_run_group_tests_name("models/bpf/phantom_law", tests,
	    NULL, NULL);
}
