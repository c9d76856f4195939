/* tests/experiments/pingmesh/config_test.c -- the section: read, checked.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/pingmesh.h"
#include "topo/mesh.h"
#include "topo/region.h"

/* The section TEXT is read for T into P; returns the mistakes, one a line. */
static const char *read_text(const char *text, const struct topo *t,
    struct xp_pingmesh *p)
{
	static struct sim_err e;
	struct sim_yaml y;
	char doc[1024];
	const int n = snprintf(doc, sizeof(doc), "pingmesh: {%s}\n", text);
	assert_ok(sim_yaml_parse(&y, "x", doc, (size_t)n, test_err()));
	assert_ok(xp_pingmesh_read(&y, t, p, test_err()));
	e.msg[0] = '\0';
	sim_yaml_verdict(&y, &e);
	sim_yaml_free(&y);
	return e.msg;
}

static void good(const char *text, struct xp_pingmesh *p)
{
	const char *msg = read_text(text, NULL, p);
	if (*msg)
		fail_msg("%s: %s", text, msg);
}

static void expect(const struct topo *t, const char *text, const char *want)
{
	struct xp_pingmesh p;
	const char *msg = read_text(text, t, &p);
	if (!strstr(msg, want))
		fail_msg("of {%s}\nsays   %s\nwanted %s", text, msg, want);
}

static void an_absent_section_is_one_of_defaults(void **state)
{
	struct xp_pingmesh p, q;
	struct sim_yaml y;
	(void)state;
	good("", &p);
	assert_ok(sim_yaml_parse(&y, "x", "{}", 2, test_err()));
	assert_ok(xp_pingmesh_read(&y, NULL, &q, test_err()));
	assert_ok(sim_yaml_verdict(&y, test_err()));
	sim_yaml_free(&y);
	assert_memory_equal(&p, &q, sizeof(p));
	assert_true(p.duration_s == 3600 && p.window_s == 600);
	assert_int_equal(p.along, XP_ALONG_NONE);
	assert_int_equal(xp_pingmesh_n_windows(&p), 6);
}

static void all_parts_are_read(void **state)
{
	struct xp_pingmesh p;
	(void)state;
	good("pinglist: {dc_interval_s: 77}, agent: {batch: 7}, connect: "
	     "{service: 3}, sla: {min_probes: 9}, heatmap: {fill: 0.5}, "
	     "blackhole: {max_reloads: 3}, silent: {min_share: 0.25}, repair: "
	     "{on: true, reload: 33}",
	    &p);
	assert_int_equal(p.pinglist.dc_interval_s, 77);
	assert_int_equal(p.agent.batch, 7);
	assert_true(p.connect.service_ms == 3);
	assert_int_equal(p.dsa.sla.min_probes, 9);
	assert_true(p.dsa.heatmap.fill == 0.5);
	assert_int_equal(p.dsa.blackhole.max_reloads, 3);
	assert_true(p.dsa.silent.min_share == 0.25);
	assert_true(p.repair.on && p.repair.reload_s == 33);
	expect(NULL, "repare: {on: true}", "did you mean \"repair\"?");
	expect(NULL, "repair: {no: true}", "unknown key \"no\"");
}

static void the_agent_knows_the_timers(void **state)
{
	struct xp_pingmesh p;
	sim_ns wait[OBS_MAX_WAITS];
	(void)state;
	good("", &p);
	assert_true(p.agent.syn_rto_s == 3);
	assert_int_equal(xp_pingmesh_waits(&p, wait), 2);
	assert_true(wait[0] == 3 * SIM_SEC && wait[1] == 6 * SIM_SEC);
	good("connect: {timers: linux}", &p);
	assert_true(p.agent.syn_rto_s == 1);
	/* 1, 3, 7 and 15 s are before the time-out of 25 s. */
	assert_int_equal(xp_pingmesh_waits(&p, wait), 4);
	assert_true(wait[3] == 8 * SIM_SEC);
	good("connect: {timers: linux, retries: 2}", &p);
	assert_int_equal(xp_pingmesh_waits(&p, wait), 2);
	good("connect: {timers: linux}, agent: {syn_rto: 2.5}", &p);
	assert_true(p.agent.syn_rto_s == 2.5);
}

static void what_follows_from_the_keys(void **state)
{
	struct xp_pingmesh p;
	(void)state;
	good("duration: 7200, window: 600", &p);
	assert_int_equal(xp_pingmesh_history(&p), 12);
	assert_int_equal(xp_pingmesh_repair_every(&p), 1);
	assert_int_equal(xp_pingmesh_lag(&p), (25 + 60 + 10 + 1) * SIM_SEC);
	good("duration: 7200, window: 600, along: window", &p);
	assert_int_equal(xp_pingmesh_history(&p), 1);
	good("duration: 7200, window: 600, along: group, history: 1800, lag: "
	     "5, repair: {every: 3600}",
	    &p);
	assert_int_equal(xp_pingmesh_history(&p), 3);
	assert_int_equal(xp_pingmesh_repair_every(&p), 6);
	assert_int_equal(xp_pingmesh_lag(&p), 5 * SIM_SEC);
	/* 0.3 / 0.1 is not 3. */
	good("duration: 6.3, window: 2.1", &p);
	assert_int_equal(xp_pingmesh_n_windows(&p), 3);
}

static void times_that_do_not_fit_are_mistakes(void **state)
{
	(void)state;
	expect(NULL, "duration: 600, window: 601",
	    "duration 600 s is no whole number of windows of 601 s.");
	expect(NULL, "duration: 1000, window: 600",
	    "duration 1000 s is no whole number");
	expect(NULL, "history: 700", "history 700 s is no whole number");
	expect(NULL, "repair: {every: 700}",
	    "repair.every 700 s is no whole number");
	expect(NULL, "history: 7200",
	    "history 7200 s is longer than the duration, 3600 s.");
	expect(NULL, "agent: {probe_timeout: 2}",
	    "probe_timeout 2 s ends before a lost SYN is sent again, after 3 "
	    "s.");
	expect(NULL, "tolerance: 2, connect: {timers: linux}",
	    "tolerance 2 s: ");
	expect(NULL, "connect: {retries: 3}",
	    "retries 3: timers windows have 2 at most.");
	expect(NULL, "agent: {first_port: 9, last_port: 8}",
	    "first_port 9 is above last_port 8.");
}

/* A job would end by these at its first window. */
static void what_jobs_exclude_is_a_mistake(void **state)
{
	(void)state;
	expect(NULL, "heatmap: { yellow_us: 8000 }",
	    "red_us of 5000 is below yellow_us of 8000.");
	expect(NULL, "blackhole: { min_pairs: 4 }",
	    "min_pairs 4 and threshold 0.5 are for rule paper");
	expect(NULL, "blackhole: { rule: paper, false_alarm: 0.5 }",
	    "false_alarm 0.5 is for rule likelihood");
}

static void traces_are_read_and_checked(void **state)
{
	struct xp_pingmesh p;
	(void)state;
	good("trace: {on: true, n_cells: 2, n_ports: 9, n_probes: 33, rate: 5, "
	     "t_max: 7, start: 60, conf: 0.99}",
	    &p);
	assert_int_equal(p.trace.on, 1);
	assert_int_equal(p.trace.always, 0);
	assert_int_equal(p.trace.n_cells, 2);
	assert_int_equal(p.trace.n_ports, 9);
	assert_int_equal(p.trace.agent.n_probes, 33);
	assert_true(p.trace.agent.rate == 5 && p.trace.agent.start_s == 60);
	assert_true(p.trace.icmp.t_max == 7 && p.trace.conf == 0.99);
	expect(NULL, "trace: {rate: 100, wait: 3}",
	    "100 probes a second that wait for 3 s are 300 under way; a host "
	    "remembers 254.");
	expect(NULL, "trace: {n_ports: 65}", "n_ports");
	expect(NULL, "trace: {n_probe: 65}", "did you mean \"n_probes\"?");
	expect(NULL, "trace: {tmax: 65}", "did you mean \"t_max\"?");
}

static void the_network_must_have_what_is_named(void **state)
{
	struct topo clos, region, mesh;
	struct topo_mesh *m;
	struct topo_region_params r;
	(void)state;
	assert_ok(topo_open_clos(&clos, &pingmesh_tiny, test_err()));
	assert_ok(topo_mesh_fat_tree(&m, 4, 0, test_err()));
	assert_ok(topo_open_mesh(&mesh, m, test_err()));
	assert_ok(sim_field_defaults(topo_region_fields, &r, test_err()));
	r.n_dcs = 2;
	assert_ok(topo_open_region(&region, &pingmesh_tiny, &r, test_err()));
	expect(&mesh, "",
	    "needs a topology of kind clos, leaf_spine or region.");
	expect(&clos, "dc: 1", "dc 1: there are only 1.");
	expect(&region, "dc: 2", "dc 2: there are only 2.");
	expect(&clos, "service: \"0,8\"",
	    "service: there is no host 8; the last one is 7.");
	expect(&region, "service: \"0,8\"",
	    "service: host 8 is not of data centre 0.");
	expect(&region, "dc: 1, service: \"0,8\"",
	    "service: host 0 is not of data centre 1.");
	expect(&clos, "agent: {max_entries: 3}",
	    "the list of server 0 has 4 entries, but agents take 3 "
	    "(agent.max_entries).");
	expect(&clos, "pinglist: {vips: \"198.20.0.1\"}",
	    "vips: nobody serves 198.20.0.1; virtual addresses are "
	    "198.18.0.0/15.");
	expect(&clos, "pinglist: {ports: \"80,80x\"}", "80x");
	struct xp_pingmesh p;
	assert_string_equal(read_text("service: 0-7", &clos, &p), "");
	assert_string_equal(read_text("dc: 1, service: 8-15", &region, &p), "");
	topo_close(&clos);
	topo_close(&region);
	topo_close(&mesh);
}

static void a_service_is_a_list_of_hosts(void **state)
{
	static const char *const bad[] = {"x", "1,", ",1", "1-", "-1", "2-1",
	    "1,1", "0-3,2", "1 2", "1-2-3", "8", "99999999999999999999", "0x1",
	    "web=1", "1;2"};
	struct topo clos;
	struct xp_pingmesh p;
	char text[64];
	(void)state;
	assert_ok(topo_open_clos(&clos, &pingmesh_tiny, test_err()));
	assert_string_equal(read_text("service: \"5,0-2,7\"", &clos, &p), "");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(text, sizeof(text), "service: \"%s\"", bad[i]);
		if (!strstr(read_text(text, &clos, &p), "service"))
			fail_msg("\"%s\" is taken", bad[i]);
	}
	topo_close(&clos);
}

/* The enums of the section are those of the analyses, and one more. */
static void names_are_those_of_the_analyses(void **state)
{
	struct xp_pingmesh p;
	(void)state;
	for (uint32_t i = 0; algo_drop_groups[i]; i++) {
		char text[64];
		snprintf(text, sizeof(text), "group: %s", algo_drop_groups[i]);
		good(text, &p);
		assert_int_equal(p.group, i);
	}
	for (uint32_t i = 0; algo_heatmap_patterns[i]; i++) {
		char text[64];
		snprintf(text, sizeof(text), "expect: %s",
		    algo_heatmap_patterns[i]);
		good(text, &p);
		assert_int_equal(p.expect, i + 1);
	}
	good("expect_tier: spine, unit: tor", &p);
	assert_int_equal(p.expect_tier, ALGO_SILENT_DROP_SPINE + 1);
	assert_int_equal(p.unit, ALGO_HEATMAP_TOR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(an_absent_section_is_one_of_defaults),
	    cmocka_unit_test(all_parts_are_read),
	    cmocka_unit_test(the_agent_knows_the_timers),
	    cmocka_unit_test(what_follows_from_the_keys),
	    cmocka_unit_test(times_that_do_not_fit_are_mistakes),
	    cmocka_unit_test(what_jobs_exclude_is_a_mistake),
	    cmocka_unit_test(traces_are_read_and_checked),
	    cmocka_unit_test(the_network_must_have_what_is_named),
	    cmocka_unit_test(a_service_is_a_list_of_hosts),
	    cmocka_unit_test(names_are_those_of_the_analyses),
	};
	return cmocka_run_group_tests_name("experiments/pingmesh/config", tests,
	    NULL, NULL);
}
