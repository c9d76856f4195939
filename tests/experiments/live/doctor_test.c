/* tests/experiments/live/doctor_test.c -- what a doctor finds, by numbers.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/doctor_store.h"

#include <sys/stat.h>
#include <utime.h>

#include "algos/pingmesh/wire.h"
#include "tests/rigs/folder.h"
#include "tests/test.h"
#include "topo/addr.h"

#define NOW 1795435200.0

static struct xp_doctor d;
static struct xp_exposed x;

static void begin(void)
{
	memset(&d, 0, sizeof(d));
	d.limits = (struct xp_doctor_limits){.list_s = 900,
	    .data_s = 300,
	    .sla_s = 900,
	    .agent_mib = 45,
	    .agent_cpu = 0.05};
	d.now_s = NOW;
	x.n = 0;
}

static void set(const char *name, double value)
{
	struct xp_exposed_sample *s = x.sample;
	while (s < x.sample + x.n && strcmp(s->name, name) != 0)
		s++;
	snprintf(s->name, sizeof(s->name), "%s", name);
	s->value = value;
	x.n += s == x.sample + x.n;
}

static void healthy_controller(void)
{
	begin();
	set("culprit_controller_list_version", 7);
	set("culprit_controller_stopped", 0);
	set("culprit_controller_servers", 100);
	set("culprit_controller_last_list_seconds", NOW - 900);
	set("process_start_time_seconds", NOW - 5000);
}

static void healthy_collector(void)
{
	begin();
	set("culprit_collector_last_batch_seconds", NOW - 300);
	set("process_start_time_seconds", NOW - 5000);
	set("culprit_collector_store_bytes", 900);
	set("culprit_collector_store_limit_bytes", 1000);
	set("culprit_http_requests_total{outcome=\"not_stored\"}", 0);
	set("culprit_collector_store_damaged_bytes", 0);
}

static void healthy_agent(void)
{
	begin();
	set("culprit_agent_written_seconds", NOW - 180);
	set("culprit_agent_last_list_seconds", NOW - 900);
	set("culprit_agent_start_time_seconds", NOW - 10180);
	set("culprit_agent_peers", 3);
	set("culprit_agent_list_version", 7);
	set("culprit_agent_discarded_total", 0);
	set("culprit_agent_overrun_total", 0);
	set("culprit_agent_resident_memory_bytes", 40 << 20);
	set("culprit_agent_cpu_seconds_total", 449);
}

/* Each number out of its range alone is found, by the check that it is of; at the
 * edge of its range it is not. */
static void each_ill_is_found_by_its_name(void **state)
{
	static const struct {
		void (*healthy)(void);
		void (*judge)(struct xp_doctor *d, const char *of,
		    const struct xp_exposed *x);
		const char *name;
		double value;
		enum xp_health health;
		const char *check;
	} ills[] = {
#define C healthy_controller, xp_doctor_controller
	    {C, "culprit_controller_stopped", 1, XP_HEALTH_WARN, "stopped"},
	    {C, "culprit_controller_last_list_seconds", NOW - 901,
		XP_HEALTH_FAIL, "lists"},
	    {C, "culprit_controller_last_list_seconds", NAN, XP_HEALTH_FAIL,
		"lists"},
	    {C, "culprit_controller_last_list_seconds", NOW + 61,
		XP_HEALTH_FAIL, "lists"},
	    {C, "culprit_controller_list_version", NAN, XP_HEALTH_FAIL,
		"answers"},
#define K healthy_collector, xp_doctor_collector
	    {K, "culprit_collector_last_batch_seconds", NOW - 301,
		XP_HEALTH_FAIL, "data"},
	    {K, "culprit_collector_store_bytes", 901, XP_HEALTH_WARN, "room"},
	    {K, "culprit_collector_store_bytes", 1001, XP_HEALTH_FAIL, "room"},
	    {K, "culprit_http_requests_total{outcome=\"not_stored\"}", 1,
		XP_HEALTH_WARN, "stored"},
	    {K, "culprit_collector_store_damaged_bytes", 1, XP_HEALTH_WARN,
		"damage"},
#define A healthy_agent, xp_doctor_agent
	    {A, "culprit_agent_written_seconds", NOW - 181, XP_HEALTH_FAIL,
		"alive"},
	    {A, "culprit_agent_last_list_seconds", NOW - 901, XP_HEALTH_FAIL,
		"list"},
	    {A, "culprit_agent_peers", 0, XP_HEALTH_WARN, "probes"},
	    {A, "culprit_agent_discarded_total", 1, XP_HEALTH_WARN, "lost"},
	    {A, "culprit_agent_overrun_total", 1, XP_HEALTH_WARN, "lost"},
	    {A, "culprit_agent_resident_memory_bytes", 46 << 20, XP_HEALTH_FAIL,
		"memory"},
	    {A, "culprit_agent_resident_memory_bytes", 41 << 20, XP_HEALTH_WARN,
		"memory"},
	    {A, "culprit_agent_cpu_seconds_total", 501, XP_HEALTH_FAIL,
		"processor"},
	    {A, "culprit_agent_cpu_seconds_total", 499, XP_HEALTH_WARN,
		"processor"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(ills) / sizeof(ills[0]); i++) {
		ills[i].healthy();
		ills[i].judge(&d, "it", &x);
		if (d.n_warned + d.n_failed > 0 || d.n < 2)
			fail_msg("%s: %zu checks, %zu and %zu", ills[i].check,
			    d.n, d.n_warned, d.n_failed);
		ills[i].healthy();
		set(ills[i].name, ills[i].value);
		ills[i].judge(&d, "it", &x);
		const struct xp_check *c = d.check;
		while (c < d.check + d.n && c->health == XP_HEALTH_OK)
			c++;
		if (d.n_warned + d.n_failed != 1 ||
		    c->health != ills[i].health ||
		    strcmp(c->name, ills[i].check) != 0 || !c->todo)
			fail_msg("%s = %g: %s: %s", ills[i].name, ills[i].value,
			    c->name, c->says);
	}
}

/* Who has just begun cannot have done all yet. */
static void the_first_minutes_only_warn(void **state)
{
	(void)state;
	healthy_controller();
	set("culprit_controller_last_list_seconds", NAN);
	set("process_start_time_seconds", NOW - 899);
	xp_doctor_controller(&d, "it", &x);
	assert_true(d.n_warned == 1 && d.n_failed == 0);
	healthy_agent();
	/* 10 of 20 seconds, which is its start. */
	set("culprit_agent_start_time_seconds", NOW - 200);
	set("culprit_agent_cpu_seconds_total", 10);
	xp_doctor_agent(&d, "it", &x);
	assert_true(d.n_warned == 0 && d.n_failed == 0);
}

static void controllers_and_agents_have_one_list(void **state)
{
	(void)state;
	healthy_controller();
	xp_doctor_controller(&d, "one", &x);
	xp_doctor_controller(&d, "two", &x);
	assert_int_equal(d.n_failed, 0);
	set("culprit_controller_list_version", 8);
	xp_doctor_controller(&d, "three", &x);
	assert_int_equal(d.n_failed, 1);
	assert_string_equal(d.check[d.n - 1].of, "three");
	assert_string_equal(d.check[d.n - 1].name, "version");
	healthy_agent();
	d.list_version = 8;
	xp_doctor_agent(&d, "it", &x);
	assert_int_equal(d.n_warned, 1);
}

/* More checks than there is room for are still counted. */
static void no_failure_goes_unseen_for_want_of_room(void **state)
{
	(void)state;
	begin();
	for (int i = 0; i < XP_DOCTOR_MOST + 5; i++)
		xp_doctor_silent(&d, "it", "no answer");
	assert_int_equal(d.n, XP_DOCTOR_MOST);
	assert_int_equal(d.n_failed, XP_DOCTOR_MOST + 5);
}

/* --- the store ------------------------------------------------------------ */
static size_t put_window(unsigned char *to, uint32_t ip, double end_s)
{
	const struct algo_pingmesh_window w = {.born_ns = 1,
	    .number = 1,
	    .start_ns = (sim_ns)((end_s - 300) * 1e9),
	    .end_ns = (sim_ns)(end_s * 1e9),
	    .src_ip = topo_addr_of_host(ip)};
	return algo_pingmesh_wire_encode_window(&w, NULL, to);
}

static void keep(const char *dir, const char *name, const void *bytes, size_t n,
    double at_s)
{
	char path[4096];
	const struct utimbuf when = {(time_t)at_s, (time_t)at_s};
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	FILE *f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	fclose(f);
	assert_int_equal(utime(path, &when), 0);
}

static void a_store_tells_who_has_sent_a_window_of_late(void **state)
{
	unsigned char bytes[4096];
	char dir[4096];
	struct xp_doctor_store s;
	size_t n = 0;
	(void)state;
	snprintf(dir, sizeof(dir), "%s", test_path("store"));
	assert_int_equal(mkdir(dir, 0755), 0);
	assert_ok(xp_doctor_look(&s, dir, NOW - 900, test_err()));
	assert_int_equal(s.n_files, 0);
	begin();
	xp_doctor_store(&d, dir, &s);
	assert_int_equal(d.n_failed, 1);
	/* Not read: older than the two newest. */
	n = put_window(bytes, 9, NOW);
	keep(dir, "batches-20261121-0001.cpmb", bytes, n, NOW - 500);
	n = put_window(bytes, 1, NOW - 20);
	n += put_window(bytes + n, 1, NOW - 320);
	n += put_window(bytes + n, 2, NOW - 901);
	keep(dir, "batches-20261122-0002.cpmb", bytes, n, NOW - 400);
	n = put_window(bytes, 3, NOW - 899);
	n += put_window(bytes + n, 4, NOW - 30);
	/* The last is just being written. */
	keep(dir, "batches-20261123-0003.cpmb", bytes, n - 1, NOW - 300);
	assert_ok(xp_doctor_look(&s, dir, NOW - 900, test_err()));
	assert_int_equal(s.n_files, 3);
	assert_true(s.written_s == NOW - 300);
	assert_true(fabs(s.window_s - (NOW - 20)) < 1e-3);
	assert_int_equal(s.n_agents, 2); /* 1 and 3 */
	begin();
	d.servers = 2;
	xp_doctor_store(&d, dir, &s);
	assert_true(d.n == 3 && d.n_warned + d.n_failed == 0);
	d.servers = 3;
	xp_doctor_store(&d, dir, &s);
	assert_true(d.n_warned == 1 && d.n_failed == 0);
	begin();
	d.now_s = NOW + 881;
	xp_doctor_store(&d, dir, &s);
	assert_int_equal(d.n_failed, 2); /* no write, no window */
	assert_string_equal(d.check[1].name, "sla");
	assert_int_equal(xp_doctor_look(&s, "/nowhere", 0, test_err()),
	    SIM_EIO);
}

static void a_database_tells_whether_windows_were_made_on_time(void **state)
{
	struct xp_doctor_db b = {.counters_s = NOW - 400,
	    .probes_s = NOW - 1500};
	(void)state;
	begin();
	d.now_s = NOW;
	xp_doctor_db(&d, "jobs.db", &b);
	assert_true(d.n == 4 && d.n_warned + d.n_failed == 0);
	/* Agents without counters are no ill, if their probes come. */
	b.counters_s = NAN;
	begin();
	d.now_s = NOW;
	xp_doctor_db(&d, "jobs.db", &b);
	assert_true(d.n == 3 && d.n_warned + d.n_failed == 0);
	b.probes_s = NOW - 1801;
	b.n_late = 2;
	snprintf(b.ill, sizeof(b.ill), "10min, servers: 1 of 8 silent");
	begin();
	d.now_s = NOW;
	xp_doctor_db(&d, "jobs.db", &b);
	assert_true(d.n_failed == 1 && d.n_warned == 2);
	assert_string_equal(d.check[0].name, "sla");
	/* A clock was ten years ahead when windows were made. */
	b.probes_s = NOW + 3650 * 86400.;
	begin();
	d.now_s = NOW;
	xp_doctor_db(&d, "jobs.db", &b);
	assert_true(d.n_failed == 1);
	assert_string_equal(d.check[0].says,
	    "windows were made of 3650 days to come");
	/* Nothing was ever made. */
	b.probes_s = NAN;
	begin();
	d.now_s = NOW;
	xp_doctor_db(&d, "jobs.db", &b);
	assert_int_equal(d.n_failed, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_ill_is_found_by_its_name),
	    cmocka_unit_test(
		a_database_tells_whether_windows_were_made_on_time),
	    cmocka_unit_test(the_first_minutes_only_warn),
	    cmocka_unit_test(controllers_and_agents_have_one_list),
	    cmocka_unit_test(no_failure_goes_unseen_for_want_of_room),
	    cmocka_unit_test(a_store_tells_who_has_sent_a_window_of_late),
	};
	return cmocka_run_group_tests_name("experiments/live/doctor", tests,
	    test_folder_make, test_folder_remove);
}
