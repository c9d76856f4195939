/* tests/experiments/pingmesh/dsa/config_test.c -- what a spec says to the jobs.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/dsa/dsa.h"
#include "tests/test.h"

static void absent_parameters_are_defaults(void **state)
{
	(void)state;
	static const char *const specs[] = {"", "figure: x\n",
	    "pingmesh: {duration: 60, agent: {batch: 7}}\n"};
	struct algo_sla_params sla;
	struct algo_blackhole_params blackhole;
	assert_ok(sim_field_defaults(algo_sla_fields, &sla, test_err()));
	assert_ok(
	    sim_field_defaults(algo_blackhole_fields, &blackhole, test_err()));
	for (size_t i = 0; i < 3; i++) {
		struct xp_dsa_params p;
		assert_ok(xp_dsa_params_read(&p, specs[i], test_err()));
		assert_near(p.tolerance_s, 0.25, 0);
		assert_near(p.conf, 0.95, 0);
		assert_near(p.sla.max_p99_us, sla.max_p99_us, 0);
		assert_int_equal(p.sla.min_probes, sla.min_probes);
		assert_int_equal(p.blackhole.max_reloads,
		    blackhole.max_reloads);
	}
}

static void parameters_of_the_spec_are_taken(void **state)
{
	(void)state;
	struct xp_dsa_params p;
	assert_ok(xp_dsa_params_read(&p,
	    "pingmesh:\n  tolerance: 0.1\n  conf: 0.99\n"
	    "  sla: {max_p99_us: 123}\n  heatmap: {red_us: 6000}\n"
	    "  blackhole: {min_pairs: 5}\n  silent: {normal_rate: 2e-4}\n",
	    test_err()));
	assert_near(p.tolerance_s, 0.1, 0);
	assert_near(p.conf, 0.99, 0);
	assert_near(p.sla.max_p99_us, 123, 0);
	assert_near(p.heatmap.red_us, 6000, 0);
	assert_int_equal(p.blackhole.min_pairs, 5);
	assert_near(p.silent.normal_rate, 2e-4, 0);
}

static void bad_specs_are_refused(void **state)
{
	(void)state;
	static const char *const specs[][2] = {
	    {"pingmesh: {conf: 2}", "conf"},
	    {"pingmesh: {tolerance: []}", "tolerance"},
	    {"pingmesh: {sla: {max_p99: 5}}", "max_p99"},
	    {"pingmesh: {blackhole: 7}", "a map is needed"},
	    {"pingmesh: [", "spec"},
	};
	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		struct xp_dsa_params p;
		struct sim_err e = {0};
		assert_true(xp_dsa_params_read(&p, specs[i][0], &e) < 0);
		if (!strstr(e.msg, specs[i][1]))
			fail_msg("\"%s\" lacks \"%s\"", e.msg, specs[i][1]);
	}
}

static void services_are_read_by_name(void **state)
{
	(void)state;
	struct xp_dsa_services s;
	assert_ok(
	    xp_dsa_services_read(&s, " web = 0-2, 7 ;db=31;", 32, test_err()));
	assert_int_equal(s.n, 2);
	assert_string_equal(s.service[0].name, "web");
	assert_string_equal(s.service[1].name, "db");
	assert_int_equal(s.service[0].n, 4);
	static const topo_host want[] = {0, 1, 2, 7};
	assert_memory_equal(s.service[0].server, want, sizeof(want));
	assert_int_equal(s.service[1].n, 1);
	assert_int_equal(s.service[1].server[0], 31);
	xp_dsa_services_free(&s);
	assert_ok(xp_dsa_services_read(&s, "0-15,20", 32, test_err()));
	assert_int_equal(s.n, 1);
	assert_string_equal(s.service[0].name, "service");
	assert_int_equal(s.service[0].n, 17);
	xp_dsa_services_free(&s);
	assert_ok(xp_dsa_services_read(&s, " ; ", 32, test_err()));
	assert_int_equal(s.n, 0);
	xp_dsa_services_free(&s);
}

static void bad_services_are_refused(void **state)
{
	(void)state;
	static const char *const texts[][2] = {
	    {"web=", "no host"},
	    {"web=0,", "no host"},
	    {"web=x", "\"x\" is no host"},
	    {"web=0-", "no host"},
	    {"web=-3", "no host"},
	    {"web=3-1", "backwards"},
	    {"web=32", "last one is 31"},
	    {"web=0-99999999999", "last one is 31"},
	    {"web=1,0-3", "host 1 is named twice"},
	    {"web=1;web=2", "two of that name"},
	    {"=1", "no name"},
	    {"a b=1", "no name"},
	    {"web=1=2", "no host"},
	};
	struct xp_dsa_services s;
	struct sim_err e;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		e = (struct sim_err){0};
		assert_int_equal(xp_dsa_services_read(&s, texts[i][0], 32, &e),
		    SIM_EINVAL);
		if (!strstr(e.msg, texts[i][1]))
			fail_msg("\"%s\" lacks \"%s\"", e.msg, texts[i][1]);
		assert_null(s.names);
	}
	char many[65 * 8] = "";
	for (int i = 0; i < 65; i++)
		sprintf(many + strlen(many), "s%d=1;", i);
	assert_int_equal(xp_dsa_services_read(&s, many, 32, &e), SIM_ELIMIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(absent_parameters_are_defaults),
	    cmocka_unit_test(parameters_of_the_spec_are_taken),
	    cmocka_unit_test(bad_specs_are_refused),
	    cmocka_unit_test(services_are_read_by_name),
	    cmocka_unit_test(bad_services_are_refused),
	};
	return cmocka_run_group_tests_name("experiments/pingmesh/dsa/config",
	    tests, NULL, NULL);
}
