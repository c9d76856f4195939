/* tests/experiments/telemetry/cost_test.c -- what telemetries cost, counted again.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/telemetry/cost.h"

#include <math.h>

#include "tests/rigs/telemetry_rig.h"
#include "tests/test.h"

static struct xp_telemetry_cost cost_params(void)
{
	struct xp_telemetry_cost p = {0};
	assert_ok(sim_field_defaults(xp_telemetry_wire_fields, &p, test_err()));
	assert_ok(sim_field_defaults(xp_cost_fields, &p.each, test_err()));
	return p;
}

static struct res_trial_metrics cost_of(const struct xp_telemetry_cost *p,
    unsigned kinds, double noise)
{
	struct telemetry_rig x;
	struct res_trial_metrics m = {0};
	double report[16];
	telemetry_rig_open(&x, 4, noise, kinds, 7);
	x.p.flows = 50;
	telemetry_rig_draw(&x);
	assert_int_equal(x.topo.n_hosts, 16);
	xp_telemetry_cost_fill(p, &x.topo, &x.t, report, &m);
	telemetry_rig_close(&x);
	return m;
}

static void assert_is(double a, double b)
{
	if (fabs(a - b) > 1e-9 * fabs(b))
		fail_msg("%.17g is not %.17g", a, b);
}

/* Of a fat-tree of 4 each of 16 hosts probes 4 cores, 40 packets each, along
 * three switches there and three back. */
static void probes_cost_what_their_number_says(void **state)
{
	const struct xp_telemetry_cost p = cost_params();
	const struct res_trial_metrics m = cost_of(&p, OBS_TELE_A1, 0);
	const double rows = 8 * (24 + 3 * 4), sent = 4 * 40;
	(void)state;
	assert_is(m.host_packets_s, (sent + 1) / 30);
	assert_is(m.host_bytes_s, (sent * 64 + rows + 54) / 30);
	assert_is(m.switch_packets_s, 16 * 2 * sent * 3 / 20 / 30);
	assert_is(m.switch_bytes_s, 64 * 16 * 2 * sent * 3 / 20 / 30);
	assert_is(m.collector_packets_s, 16.0 / 30);
	assert_is(m.collector_bytes_s, 16 * (rows + 54) / 30);
	assert_is(m.switch_entries, 4.0 / 20);
	assert_is(m.host_cpu, sent * 4.5 / 30);
	assert_true(m.switch_cpu == 0);
}

/* Flows of one row each, whatever they lost; switches know nothing of it. */
static void passive_rows_cost_reports_alone(void **state)
{
	struct xp_telemetry_cost p = cost_params();
	struct res_trial_metrics m;
	(void)state;
	/* A frame holds all rows of a host. */
	p.frame = 9000;
	m = cost_of(&p, OBS_TELE_P, 1e-3);
	assert_is(m.host_packets_s, 1 / 30.0);
	assert_is(m.host_bytes_s, (50 * 24 + 54) / 30.0);
	assert_is(m.collector_bytes_s, 16 * (50 * 24 + 54) / 30.0);
	assert_true(m.switch_packets_s == 0 && m.switch_bytes_s == 0 &&
	    m.switch_entries == 0 && m.switch_cpu == 0 && m.host_cpu == 0);
}

/* Without losses there is nothing to trace. */
static void what_loses_nothing_is_not_traced(void **state)
{
	const struct xp_telemetry_cost p = cost_params();
	const struct res_trial_metrics m = cost_of(&p, OBS_TELE_A2, 0);
	(void)state;
	assert_true(m.host_bytes_s == 0 && m.host_packets_s == 0 &&
	    m.collector_bytes_s == 0 && m.switch_bytes_s == 0);
}

/* Packet by packet, switch by switch. */
static void costs_are_those_of_each_packet(void **state)
{
	struct xp_telemetry_cost p = cost_params();
	(void)state;
	for (int most = 0; most <= 3; most++) {
		const unsigned kinds = most == 3 ? OBS_TELE_A2 : OBS_TELE_INT;
		struct telemetry_rig x;
		double report[16], carried = 0, packets = 0, cpu = 0;
		struct res_trial_metrics m = {0};
		p.int_packets = most;
		/* Only flows that lost something are traced: by 16 seeds 67 or
		 * more of 640, so that ten or fewer are no chance. */
		telemetry_rig_open(&x, 4, most == 3 ? 1e-2 : 1e-3, kinds,
		    (uint32_t)most);
		x.p.flows = 40;
		x.p.mean = 20000;
		telemetry_rig_draw(&x);
		for (size_t i = 0; i < x.t.rows.n; i++) {
			const struct obs_tallies *t = &x.t.rows;
			const uint32_t n =
			    obs_path_length(t->paths, t->path[i]) + 1;
			for (uint32_t k = 0; kinds == OBS_TELE_INT &&
			     k < t->n_sent[i] && (!most || k < p.int_packets);
			     k++)
				for (uint32_t s = 1; s <= n; s++)
					carried += 16 + 4 * s;
			for (uint32_t ttl = 1;
			     kinds == OBS_TELE_A2 && ttl <= 15; ttl++)
				for (uint32_t s = 1; s <= n && s <= ttl; s++) {
					carried += 64;
					packets++;
				}
			if (kinds == OBS_TELE_A2) {
				carried += 70 * n;
				packets += n;
				cpu += 100 * n;
			}
		}
		assert_true(x.t.rows.n > 10);
		xp_telemetry_cost_fill(&p, &x.topo, &x.t, report, &m);
		assert_is(m.switch_bytes_s, carried / 20 / 30);
		assert_is(m.switch_packets_s, packets / 20 / 30);
		assert_is(m.switch_cpu, cpu / 20 / 30);
		assert_is(m.switch_entries, kinds == OBS_TELE_INT);
		telemetry_rig_close(&x);
	}
}

/* What one kind has already costs nothing more with another. */
static void kinds_together_cost_what_they_have(void **state)
{
	const struct xp_telemetry_cost p = cost_params();
	const struct res_trial_metrics passive = cost_of(&p, OBS_TELE_P, 1e-4),
				       traced = cost_of(&p, OBS_TELE_A2, 1e-4),
				       both = cost_of(&p,
					   OBS_TELE_A2 | OBS_TELE_P, 1e-4),
				       all = cost_of(&p, OBS_TELE_INT, 1e-4),
				       more = cost_of(&p,
					   OBS_TELE_INT | OBS_TELE_P, 1e-4);
	(void)state;
	assert_is(both.switch_bytes_s, traced.switch_bytes_s);
	assert_true(both.collector_bytes_s > passive.collector_bytes_s);
	assert_true(both.collector_bytes_s <
	    passive.collector_bytes_s + traced.collector_bytes_s);
	assert_is(all.host_bytes_s, more.host_bytes_s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(probes_cost_what_their_number_says),
	    cmocka_unit_test(passive_rows_cost_reports_alone),
	    cmocka_unit_test(what_loses_nothing_is_not_traced),
	    cmocka_unit_test(costs_are_those_of_each_packet),
	    cmocka_unit_test(kinds_together_cost_what_they_have),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
