/* tests/experiments/pingmesh/dsa/rows_test.c -- what agents send, judged case by case.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Two data centres of 8 and 12 hosts. A good record, and then one thing wrong with
 * it at a time.
 */
#include "experiments/pingmesh/dsa/rows.h"
#include "tests/test.h"
#include "topo/addr.h"

enum { N_DCS = 2, FIRST = 8, ALL = 20 };

static void rows_dcs(struct topo_dc dc[N_DCS])
{
	const struct topo_clos shape[] =
	    {{.n_pods = 2, .n_tors = 2, .n_t1 = 2, .n_t2 = 2, .n_hosts = 2},
		{.n_pods = 2, .n_tors = 2, .n_t1 = 2, .n_t2 = 2, .n_hosts = 3}};
	struct topo_clos c = shape[0];
	assert_ok(topo_clos_init(&c, test_err()));
	dc[0] = topo_dc_after(NULL, &c);
	c = shape[1];
	assert_ok(topo_clos_init(&c, test_err()));
	dc[1] = topo_dc_after(&dc[0], &c);
	assert_int_equal(topo_dcs_n_hosts(dc, N_DCS), ALL);
}

/* From host 2 to host 5, of one data centre. */
static struct algo_pingmesh_record rows_record(void)
{
	return (struct algo_pingmesh_record){.sent_ns = 1000,
	    .rtt_ns = 250,
	    .echo_ns = 77,
	    .src_ip = topo_addr_of_host(2),
	    .dst_ip = topo_addr_of_host(5),
	    .src_port = 1024,
	    .dst_port = 8765,
	    .payload = 64,
	    .class = 3,
	    .level = ALGO_PINGLIST_DC,
	    .outcome = AGENT_CONNECTED,
	    .ping = AGENT_PING_HTTP,
	    .answer = AGENT_ANSWER_OK};
}

static enum xp_dsa_fate fate_of(const struct algo_pingmesh_record *r,
    struct obs_probe *p)
{
	struct topo_dc dc[N_DCS];
	rows_dcs(dc);
	return xp_dsa_row(dc, N_DCS, topo_addr_of_host(2), r, p);
}

static void a_record_is_a_row(void **state)
{
	static const uint8_t levels[][2] = {{ALGO_PINGLIST_TOR, OBS_LEVEL_TOR},
	    {ALGO_PINGLIST_DC, OBS_LEVEL_DC},
	    {ALGO_PINGLIST_INTER_DC, OBS_LEVEL_INTER_DC}};
	struct algo_pingmesh_record r = rows_record();
	struct obs_http_row get;
	struct obs_probe p;
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		r.level = levels[i][0];
		assert_int_equal(fate_of(&r, &p), XP_DSA_ROW);
		assert_int_equal(p.level, levels[i][1]);
	}
	assert_int_equal(p.sent_ns, 1000);
	assert_int_equal(p.rtt_ns, 250);
	assert_int_equal(p.src_host, 2);
	assert_int_equal(p.dst_host, 5);
	assert_int_equal(p.src_port, 1024);
	assert_int_equal(p.dst_port, 8765);
	assert_int_equal(p.outcome, OBS_CONNECTED);
	assert_int_equal(p.class, 3);
	assert_int_equal(p.payload_bytes, 64);
	/* And its GET one of its own. */
	assert_int_equal(xp_dsa_http_row(&r, &p, &get), 1);
	assert_int_equal(get.sent_ns, 1000);
	assert_int_equal(get.answer_ns, 77);
	assert_int_equal(get.src_host, 2);
	assert_int_equal(get.dst_host, 5);
	assert_int_equal(get.src_port, 1024);
	assert_int_equal(get.dst_port, 8765);
	assert_int_equal(get.answer, AGENT_ANSWER_OK);
	assert_int_equal(get.level, OBS_LEVEL_INTER_DC);
	assert_int_equal(get.class, 3);
	r.answer = AGENT_ANSWER_NOT_ASKED;
	assert_int_equal(xp_dsa_http_row(&r, &p, &get), 0);
	r.answer = AGENT_ANSWER_OK;
	r.ping = AGENT_PING_HTTP + 1;
	assert_int_equal(xp_dsa_http_row(&r, &p, &get), 0);
	r.ping = AGENT_PING_HTTP - 1;
	assert_int_equal(xp_dsa_http_row(&r, &p, &get), 0);
}

static void ends_are_servers_that_go_with_the_level(void **state)
{
	const uint32_t vip = topo_addr_of_vip(0);
	const uint32_t beyond = TOPO_ADDR_VIP_BASE + TOPO_ADDR_MAX_VIPS;
	const struct {
		uint32_t src, dst;
		uint8_t level;
		enum xp_dsa_fate fate;
	} q[] = {
	    /* Within the first data centre, to its last host and behind it. */
	    {2, topo_addr_of_host(FIRST - 1), ALGO_PINGLIST_DC, XP_DSA_ROW},
	    {2, topo_addr_of_host(FIRST), ALGO_PINGLIST_DC, XP_DSA_FOREIGN},
	    {2, topo_addr_of_host(FIRST), ALGO_PINGLIST_TOR, XP_DSA_FOREIGN},
	    {2, topo_addr_of_host(FIRST), ALGO_PINGLIST_INTER_DC, XP_DSA_ROW},
	    {2, topo_addr_of_host(ALL - 1), ALGO_PINGLIST_INTER_DC, XP_DSA_ROW},
	    {2, topo_addr_of_host(ALL), ALGO_PINGLIST_INTER_DC, XP_DSA_FOREIGN},
	    {2, topo_addr_of_host(0) - 1, ALGO_PINGLIST_INTER_DC,
		XP_DSA_FOREIGN},
	    /* To itself. */
	    {2, topo_addr_of_host(2), ALGO_PINGLIST_TOR, XP_DSA_FOREIGN},
	    /* Of another sender than the batch. */
	    {3, topo_addr_of_host(5), ALGO_PINGLIST_DC, XP_DSA_FOREIGN},
	    /* To a service. */
	    {2, vip, ALGO_PINGLIST_VIP, XP_DSA_VIP_ROW},
	    {2, beyond - 1, ALGO_PINGLIST_VIP, XP_DSA_VIP_ROW},
	    {2, beyond, ALGO_PINGLIST_VIP, XP_DSA_FOREIGN},
	    {2, vip - 1, ALGO_PINGLIST_VIP, XP_DSA_FOREIGN},
	    {2, topo_addr_of_host(5), ALGO_PINGLIST_VIP, XP_DSA_FOREIGN},
	    {2, vip, ALGO_PINGLIST_DC, XP_DSA_FOREIGN},
	    {2, topo_addr_of_host(5), ALGO_PINGLIST_N_LEVELS, XP_DSA_FOREIGN},
	};
	struct obs_probe p;
	(void)state;
	for (size_t i = 0; i < sizeof(q) / sizeof(q[0]); i++) {
		struct algo_pingmesh_record r = rows_record();
		r.src_ip = topo_addr_of_host(q[i].src);
		r.dst_ip = q[i].dst;
		r.level = q[i].level;
		if (fate_of(&r, &p) != q[i].fate)
			fail_msg("%zu: %d", i, fate_of(&r, &p));
		if (q[i].fate == XP_DSA_VIP_ROW) {
			assert_int_equal(p.dst_host, q[i].dst);
			assert_int_equal(p.level, OBS_LEVEL_INTER_DC);
		}
	}
	/* Who is no server has no rows, whatever its batch says. */
	struct topo_dc dc[N_DCS];
	struct algo_pingmesh_record r = rows_record();
	rows_dcs(dc);
	r.src_ip = topo_addr_of_host(ALL);
	assert_int_equal(xp_dsa_row(dc, N_DCS, r.src_ip, &r, &p),
	    XP_DSA_FOREIGN);
}

static void times_go_with_outcomes(void **state)
{
	static const struct {
		uint8_t outcome;
		sim_ns rtt;
		enum xp_dsa_fate fate;
	} q[] = {{AGENT_CONNECTED, 1, XP_DSA_ROW},
	    {AGENT_CONNECTED, 0, XP_DSA_ODD}, {AGENT_REFUSED, 0, XP_DSA_ROW},
	    {AGENT_REFUSED, 1, XP_DSA_ROW}, {AGENT_TIMEOUT, 0, XP_DSA_ROW},
	    {AGENT_TIMEOUT, 1, XP_DSA_ODD}, {AGENT_FAILED, 0, XP_DSA_FAILED},
	    {255, 0, XP_DSA_FAILED}};
	static const uint8_t outcomes[] = {[AGENT_CONNECTED] = OBS_CONNECTED,
	    [AGENT_REFUSED] = OBS_REFUSED,
	    [AGENT_TIMEOUT] = OBS_TIMED_OUT};
	struct obs_probe p;
	(void)state;
	for (size_t i = 0; i < sizeof(q) / sizeof(q[0]); i++) {
		struct algo_pingmesh_record r = rows_record();
		r.outcome = q[i].outcome;
		r.rtt_ns = q[i].rtt;
		assert_int_equal(fate_of(&r, &p), q[i].fate);
		if (q[i].fate == XP_DSA_ROW)
			assert_int_equal(p.outcome, outcomes[q[i].outcome]);
		/* That a host failed is told before who it is. */
		r.src_ip = 0;
		assert_int_equal(fate_of(&r, &p),
		    q[i].fate == XP_DSA_FAILED ? XP_DSA_FAILED
					       : XP_DSA_FOREIGN);
	}
}

static void servers_are_called_by_their_address(void **state)
{
	struct topo_ip_net none = {.bits = 0}, net = {.bits = 64};
	char text[TOPO_IP_TEXT];
	(void)state;
	xp_dsa_name(&none, 16, text);
	assert_string_equal(text, "10.0.0.17");
	assert_ok(topo_ip_parse("fd00::", &net.first, test_err()));
	xp_dsa_name(&net, 16, text);
	const struct topo_ip want = topo_ip_of_host(&net, 16);
	char of_6[TOPO_IP_TEXT];
	topo_ip_format(&want, of_6);
	assert_string_equal(text, of_6);
	assert_memory_equal(text, "fd00::", 6);
}

/* --- counters ------------------------------------------------------------- */

static struct algo_pingmesh_window rows_window(void)
{
	return (struct algo_pingmesh_window){.end_ns = 5000,
	    .src_ip = topo_addr_of_host(ALL - 1),
	    .n_probes = 20,
	    .n_connected = 15,
	    .n_unconnected = 5,
	    .n_drop_1 = 2,
	    .n_drop_2 = 1,
	    .p50_ns = 100,
	    .p99_ns = 300,
	    .n_http_ok = 3,
	    .n_http_other = 3,
	    .n_http_malformed = 3,
	    .n_http_cut = 3,
	    .n_http_late = 3,
	    .http_p50_ns = 10,
	    .http_p99_ns = 10};
}

static void counters_are_a_row(void **state)
{
	const struct algo_pingmesh_window w = rows_window();
	struct algo_pingmesh_window other = w;
	struct obs_perf_row p;
	(void)state;
	assert_int_equal(xp_dsa_counters_row(ALL, &w, &p), XP_DSA_ROW);
	assert_int_equal(p.end_ns, 5000);
	assert_int_equal(p.host, ALL - 1);
	assert_int_equal(p.n_probes, 20);
	assert_int_equal(p.n_connected, 15);
	assert_int_equal(p.n_unconnected, 5);
	assert_int_equal(p.n_drop_1, 2);
	assert_int_equal(p.n_drop_2, 1);
	assert_int_equal(p.p50_ns, 100);
	assert_int_equal(p.p99_ns, 300);
	assert_int_equal(xp_dsa_counters_row(ALL - 1, &w, &p), XP_DSA_FOREIGN);
	other.n_drop_2 = 14;
	assert_int_equal(xp_dsa_counters_row(ALL, &other, &p), XP_DSA_ODD);
	other = w;
	other.p50_ns = 301;
	assert_int_equal(xp_dsa_counters_row(ALL, &other, &p), XP_DSA_ODD);
	other = w;
	other.src_ip--;
	assert_int_equal(xp_dsa_counters_row(ALL, &other, &p), XP_DSA_ROW);
}

/* A GET takes a connect, and its answers have times if there are any. */
static void counters_of_gets_are_of_what_connected(void **state)
{
	static const size_t at[] = {offsetof(struct algo_pingmesh_window,
					n_http_ok),
	    offsetof(struct algo_pingmesh_window, n_http_other),
	    offsetof(struct algo_pingmesh_window, n_http_malformed),
	    offsetof(struct algo_pingmesh_window, n_http_cut),
	    offsetof(struct algo_pingmesh_window, n_http_late)};
	struct algo_pingmesh_window w;
	struct obs_perf_row p;
	(void)state;
	for (size_t i = 0; i < 5; i++) {
		w = rows_window();
		uint64_t *n = (uint64_t *)(void *)((char *)&w + at[i]);
		/* One more than connects in all, one less, and so many that
		 * their sum would run over. */
		*n = 4;
		assert_int_equal(xp_dsa_counters_row(ALL, &w, &p), XP_DSA_ODD);
		*n = 2;
		assert_int_equal(xp_dsa_counters_row(ALL, &w, &p), XP_DSA_ROW);
		*n = UINT64_MAX - 11;
		assert_int_equal(xp_dsa_counters_row(ALL, &w, &p), XP_DSA_ODD);
		/* All of one kind. */
		for (size_t k = 0; k < 5; k++)
			*(uint64_t *)(void *)((char *)&w + at[k]) = 0;
		if (i > 0)
			w.http_p50_ns = w.http_p99_ns = 0;
		*n = 15;
		assert_int_equal(xp_dsa_counters_row(ALL, &w, &p), XP_DSA_ROW);
		*n = 16;
		assert_int_equal(xp_dsa_counters_row(ALL, &w, &p), XP_DSA_ODD);
	}
	w = rows_window();
	w.n_http_ok = 0;
	assert_int_equal(xp_dsa_counters_row(ALL, &w, &p), XP_DSA_ODD);
	w.http_p50_ns = w.http_p99_ns = 0;
	assert_int_equal(xp_dsa_counters_row(ALL, &w, &p), XP_DSA_ROW);
	w.n_http_ok = 1;
	assert_int_equal(xp_dsa_counters_row(ALL, &w, &p), XP_DSA_ODD);
	w.http_p50_ns = 1;
	assert_int_equal(xp_dsa_counters_row(ALL, &w, &p), XP_DSA_ODD);
	w.http_p99_ns = 1;
	assert_int_equal(xp_dsa_counters_row(ALL, &w, &p), XP_DSA_ROW);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_record_is_a_row),
	    cmocka_unit_test(ends_are_servers_that_go_with_the_level),
	    cmocka_unit_test(times_go_with_outcomes),
	    cmocka_unit_test(servers_are_called_by_their_address),
	    cmocka_unit_test(counters_are_a_row),
	    cmocka_unit_test(counters_of_gets_are_of_what_connected),
	};
	return cmocka_run_group_tests_name("experiments/pingmesh/dsa/rows",
	    tests, NULL, NULL);
}
