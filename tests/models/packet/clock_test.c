/* tests/models/packet/clock_test.c -- clocks of switches.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Two chi-squares at level 1e-6.
 */
#include "models/packet/clock.h"

#include "tests/rigs/law.h"
#include "tests/test.h"

#define LEVEL 1e-6
#define HOUR  (3600 * SIM_SEC)

static struct packet_clock clock_of(double offset_us, double drift_ppm,
    uint32_t tick_ns)
{
	const struct sim_seed where = {.seed = test_seed(), .run = 3};
	const struct packet_clock_params p = {offset_us, drift_ppm, tick_ns};
	struct packet_clock c;
	packet_clock_init(&c, &p, &where);
	return c;
}

static void a_perfect_clock_is_an_hour_ahead(void **state)
{
	(void)state;
	const struct packet_clock c = clock_of(0, 0, 1);
	for (sim_ns t = 0; t < SIM_SEC * 100000; t = 3 * t + 1)
		assert_int_equal(packet_clock_read(&c, 5, t), HOUR + t);
}

static void offsets_and_drifts_fill_their_range(void **state)
{
	(void)state;
	const struct packet_clock c = clock_of(1000, 50, 1);
	uint64_t offset[10] = {0}, drift[10] = {0};
	for (topo_switch s = 0; s < 20000; s++) {
		const double off =
		    (double)packet_clock_read(&c, s, 0) - (double)HOUR;
		const double late =
		    (double)packet_clock_read(&c, s, 1000 * SIM_SEC) -
		    (double)packet_clock_read(&c, s, 0) - 1000e9;
		assert_true(fabs(off) <= 1e6 && fabs(late) <= 50e6 + 1);
		offset[(unsigned)((off + 1e6) / 2e6 * 9.999999)]++;
		drift[(unsigned)((late + 50e6) / 100e6 * 9.999999)]++;
	}
	assert_true(law_chi2_uniform(offset, 10) > LEVEL);
	assert_true(law_chi2_uniform(drift, 10) > LEVEL);
}

/* Differences of one clock are right but for drift and ticks, and it never runs
 * back; a switch has one clock. */
static void a_clock_goes_on_in_ticks(void **state)
{
	(void)state;
	const struct packet_clock c = clock_of(5e5, 100, 64);
	for (topo_switch s = 0; s < 50; s++) {
		sim_ns last = 0;
		for (sim_ns t = 0; t < SIM_MS; t += 17) {
			const sim_ns shown = packet_clock_read(&c, s, t);
			assert_true(shown >= last && shown % 64 == 0);
			assert_int_equal(packet_clock_read(&c, s, t), shown);
			last = shown;
		}
		assert_near((double)last - (double)packet_clock_read(&c, s, 0),
		    1e6, 64 + 17 + 100);
	}
	assert_true(packet_clock_read(&c, 1, 0) != packet_clock_read(&c, 2, 0));
}

static void limits_never_show_none(void **state)
{
	(void)state;
	struct packet_clock_params p;
	assert_ok(sim_field_defaults(packet_clock_fields, &p, test_err()));
	const struct packet_clock c = clock_of(3599e6, 1000, 1000000000);
	for (topo_switch s = 0; s < 100000; s++)
		assert_true(packet_clock_read(&c, s, 0) > 0);
}

/* Who is far ahead is not fast for that: each is drawn by itself. 20,000 pairs of
 * uniforms, whose correlation has standard deviation 1 / sqrt(20,000): five of
 * these once in 2e6. */
static void offset_and_drift_are_drawn_apart(void **state)
{
	(void)state;
	enum { N = 20000 };
	const struct packet_clock c = clock_of(1000, 50, 1);
	double both = 0;
	for (topo_switch s = 0; s < N; s++) {
		const double off =
		    (double)packet_clock_read(&c, s, 0) - (double)HOUR;
		const double late =
		    (double)packet_clock_read(&c, s, 1000 * SIM_SEC) -
		    (double)packet_clock_read(&c, s, 0) - 1000e9;
		both += off / 1e6 * (late / 50e6) * 3;
	}
	assert_near(both / N, 0, 5 / sqrt(N));
}

/* A tick of 0 ns would show no time, and behind an hour no clock begins. */
static void a_spec_has_clocks_that_can_be(void **state)
{
	(void)state;
	static const struct {
		const char *key, *good, *bad;
	} all[] = {{"tick", "1", "0"}, {"tick", "1000000000", "1000000001"},
	    {"offset", "0", "-1"}, {"offset", "3599e6", "3600e6"},
	    {"drift", "0", "-1"}, {"drift", "1000", "1001"}};
	struct packet_clock_params p;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const struct sim_field *f =
		    sim_field_find(packet_clock_fields, all[i].key);
		assert_ok(sim_field_set(f, &p, all[i].good, test_err()));
		assert_int_equal(sim_field_set(f, &p, all[i].bad, NULL),
		    SIM_ERANGE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_perfect_clock_is_an_hour_ahead),
	    cmocka_unit_test(offsets_and_drifts_fill_their_range),
	    cmocka_unit_test(a_clock_goes_on_in_ticks),
	    cmocka_unit_test(limits_never_show_none),
	    cmocka_unit_test(offset_and_drift_are_drawn_apart),
	    cmocka_unit_test(a_spec_has_clocks_that_can_be),
	};
	return cmocka_run_group_tests_name("models/packet/clock", tests, NULL,
	    NULL);
}
