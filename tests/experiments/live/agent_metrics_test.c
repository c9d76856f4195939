/* tests/experiments/live/agent_metrics_test.c -- an agent's metrics.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/agent_metrics.h"
#include "experiments/live/expose.h"
#include "tests/test.h"

static struct xp_exposed x;

static void put(const struct xp_agent_seen *seen)
{
	static char text[XP_AGENT_METRICS];
	struct sim_text t = {text, sizeof(text), 0};
	xp_agent_put_metrics(&t, seen);
	assert_true(t.n < sizeof(text));
	assert_ok(xp_exposed_read(&x, text, test_err()));
}

#define IS(name, v)                                                            \
	assert_true(xp_exposed_get(&x, "culprit_agent_" name) == (v))
#define UNKNOWN(name)                                                          \
	assert_true(isnan(xp_exposed_get(&x, "culprit_agent_" name)))

/* Every counter at the largest number there is. */
static void all_counters_are_there_and_fit(void **state)
{
	struct xp_agent_seen seen;
	(void)state;
	memset(&seen, 0xff, sizeof(seen));
	seen.cost.cpu_s = 1e300 / 3;
	put(&seen);
	memset(&seen, 0, sizeof(seen));
	double n = 0;
#define X(name, doc) seen.status.count.name = (uint64_t)++n;
	ALGO_PINGMESH_COUNTERS(X)
#undef X
#define X(name, doc) seen.contacts.name = (uint64_t)++n;
	XP_FETCH_COUNTERS(X)
#undef X
#define X(name, doc) seen.sockets.name = (uint64_t)++n;
	FABRIC_REAL_COUNTERS(X)
#undef X
	put(&seen);
	n = 0;
	char name[XP_EXPOSE_NAME];
#define X(counter, doc)                                                        \
	snprintf(name, sizeof(name), "culprit_agent_%s_total", #counter + 2);  \
	assert_true(xp_exposed_get(&x, name) == ++n);
	ALGO_PINGMESH_COUNTERS(X)
#undef X
#define X(counter, doc)                                                        \
	snprintf(name, sizeof(name), "culprit_agent_contact_%s_total",         \
	    #counter + 2);                                                     \
	assert_true(xp_exposed_get(&x, name) == ++n);
	XP_FETCH_COUNTERS(X)
#undef X
#define X(counter, doc)                                                        \
	snprintf(name, sizeof(name), "culprit_agent_socket_%s_total",          \
	    #counter + 2);                                                     \
	assert_true(xp_exposed_get(&x, name) == ++n);
	FABRIC_REAL_COUNTERS(X)
#undef X
}

static void what_is_not_known_is_no_number(void **state)
{
	struct xp_agent_seen seen = {.start_s = 5, .at_s = 7};
	(void)state;
	put(&seen);
	UNKNOWN("last_list_seconds");
	UNKNOWN("memory_limit_bytes");
	UNKNOWN("window_drop_ratio");
	UNKNOWN("window_p50_seconds");
	UNKNOWN("window_p99_seconds");
	IS("written_seconds", 7);
	seen.list_s = 6;
	seen.memory_mib = 45;
	/* (3 + 1) of 1000 that stood, which 24 did not. */
	seen.status.window = (struct algo_pingmesh_window){.n_probes = 1024,
	    .n_connected = 1000,
	    .n_unconnected = 24,
	    .n_drop_1 = 3,
	    .n_drop_2 = 1,
	    .p50_ns = 250 * SIM_US,
	    .p99_ns = 3 * SIM_MS};
	seen.status.version = UINT64_MAX;
	put(&seen);
	IS("last_list_seconds", 6);
	IS("memory_limit_bytes", 45 << 20);
	IS("window_drop_ratio", 0.004);
	IS("window_p50_seconds", 1e-9 * 250e3);
	IS("window_p99_seconds", 1e-9 * 3e6);
	IS("list_version", (double)((UINT64_C(1) << 52) - 1));
}

/* GETs that failed are of four kinds; of a window in which one was well, or none,
 * all others are a share, and of one without any there is none. */
static void shares_are_of_all_that_there_were(void **state)
{
	struct xp_agent_seen seen = {.start_s = 5};
	struct algo_pingmesh_window *w = &seen.status.window;
	(void)state;
	put(&seen);
	UNKNOWN("window_http_failed_ratio");
	UNKNOWN("window_http_p50_seconds");
	UNKNOWN("window_http_p99_seconds");
	IS("window_probes", 0);
	w->n_http_other = 1;
	put(&seen);
	IS("window_http_failed_ratio", 1);
	UNKNOWN("window_http_p50_seconds");
	UNKNOWN("window_http_p99_seconds");
	w->n_http_ok = 1;
	w->http_p50_ns = 2 * SIM_MS;
	w->http_p99_ns = 5 * SIM_MS;
	put(&seen);
	IS("window_http_failed_ratio", 0.5);
	IS("window_http_p50_seconds", 1e-9 * 2e6);
	IS("window_http_p99_seconds", 1e-9 * 5e6);
	w->n_http_malformed = 2;
	w->n_http_cut = 4;
	w->n_http_late = 8;
	put(&seen);
	IS("window_http_failed_ratio", 15. / 16);
	w->n_http_other = w->n_http_malformed = w->n_http_cut = 0;
	w->n_http_late = 0;
	put(&seen);
	IS("window_http_failed_ratio", 0);
	w->n_probes = 7;
	w->n_connected = w->n_drop_2 = 1;
	w->p50_ns = w->p99_ns = SIM_MS;
	put(&seen);
	IS("window_probes", 7);
	IS("window_drop_ratio", 1);
	IS("window_p50_seconds", 1e-9 * 1e6);
	IS("window_p99_seconds", 1e-9 * 1e6);
}

/* Numbers that stand in the status as they are. */
static void what_is_under_way_is_told(void **state)
{
	const struct xp_agent_seen seen = {.list_s = 1,
	    .memory_mib = 1,
	    .status = {.n_entries = 11,
		.n_in_flight = 12,
		.n_held = 13,
		.n_contacts_failed = 14,
		.version = UINT64_C(5) << 12}};
	(void)state;
	put(&seen);
	IS("peers", 11);
	IS("in_flight_probes", 12);
	IS("waiting_records", 13);
	IS("contacts_failed_in_a_row", 14);
	IS("list_version", 5);
	IS("last_list_seconds", 1);
	IS("memory_limit_bytes", 1 << 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(all_counters_are_there_and_fit),
	    cmocka_unit_test(what_is_not_known_is_no_number),
	    cmocka_unit_test(shares_are_of_all_that_there_were),
	    cmocka_unit_test(what_is_under_way_is_told),
	};
	return cmocka_run_group_tests_name("experiments/live/agent_metrics",
	    tests, NULL, NULL);
}
