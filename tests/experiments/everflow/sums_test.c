/* tests/experiments/everflow/sums_test.c -- counters summed up, against sums by hand.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/everflow/sums.h"
#include "tests/rigs/traces.h"
#include "tests/test.h"

/* Counters "first" (of 2), "a" (of 4), "b" (of 9) and "a" again (of 11). */
static struct res_counter_names sums_names(void)
{
	static const struct res_counter_name row[] = {{2, {"first"}},
	    {4, {"a"}}, {9, {"b"}}, {11, {"a"}}};
	struct res_counter_names names = {0};
	for (size_t i = 0; i < 4; i++)
		assert_ok(res_counter_names_add(&names, &row[i], test_err()));
	return names;
}

static void add_row(struct algo_counters *c, unsigned kind, uint32_t id,
    uint32_t sub, sim_ns at, double value)
{
	const struct algo_counter row = {.t_ns = at,
	    .id = id,
	    .sub = sub,
	    .kind = (uint8_t)kind,
	    .value = value};
	assert_ok(algo_counters_add(c, &row, test_err()));
}

static void assert_put(const struct xp_sums *s, const char *what,
    const char *text, const char *json)
{
	char buf[8192] = "";
	FILE *out = fmemopen(buf, sizeof(buf), "w");
	xp_sums_put(s, what, out);
	fclose(out);
	assert_string_equal(buf, text);
	memset(buf, 0, sizeof(buf));
	out = fmemopen(buf, sizeof(buf), "w");
	xp_sums_put_json(s, what, out);
	fclose(out);
	assert_string_equal(buf, json);
}

/* --- which ---------------------------------------------------------------- */

static void what_is_asked_for_has_an_id(void **state)
{
	static const struct {
		const char *what;
		int with_net;
		uint32_t id;
	} q[] = {
	    {"link:host3->tor1", 1, 6},
	    {"link:47", 1, 47},
	    {"link:48", 0, 48},
	    {"link:4294967294", 0, TOPO_NONE - 1},
	    {"switch:tor0", 1, 0},
	    {"switch:t2.1", 1, 9},
	    {"switch:12", 0, 12},
	    {"mux:host7", 1, 7},
	    {"mux:0", 0, 0},
	    /* The last that had the name. */
	    {"custom:a", 1, 11},
	    {"custom:b", 0, 9},
	    {"custom:first", 0, 2},
	    {"custom:77", 0, 77},
	};
	struct topo t = traces_net();
	struct res_counter_names names = sums_names();
	(void)state;
	for (size_t i = 0; i < sizeof(q) / sizeof(q[0]); i++) {
		struct xp_sums s = {0};
		assert_ok(xp_sums_parse(&s, q[i].with_net ? &t : NULL, &names,
		    q[i].what, test_err()));
		assert_int_equal(s.id, q[i].id);
	}
	res_counter_names_free(&names);
	topo_close(&t);
}

static void what_is_not_there_is_told(void **state)
{
	static const struct {
		const char *what;
		int with_net;
		const char *says;
	} bad[] = {
	    {"lnik:3", 1, "\"lnik:3\" is no counter; did you mean \"link:\"?"},
	    {"link", 1,
		"\"link\" is no counter; there are link:FROM->TO, switch:NAME, "
		"mux:HOST and custom:NAME."},
	    {"zzzzzz:1", 1,
		"\"zzzzzz:1\" is no counter; there are link:FROM->TO, "
		"switch:NAME, mux:HOST and custom:NAME."},
	    {"switch:host0", 1, "host0 is no switch."},
	    {"mux:tor0", 1, "tor0 is no host."},
	    {"link:tor1->t1.0", 0,
		"the file does not tell its network, so links are numbers; "
		"tor1->t1.0 is none."},
	    {"link:4294967295", 0,
		"the file does not tell its network, so links are numbers; "
		"4294967295 is none."},
	    {"switch:tor0", 0,
		"the file does not tell its network, so switches are numbers; "
		"tor0 is none."},
	    {"mux:host0", 0,
		"the file does not tell its network, so hosts are numbers; "
		"host0 is none."},
	    {"custom:c", 0,
		"there is no counter of the name \"c\"; its number would do, "
		"too."},
	};
	struct topo t = traces_net();
	struct res_counter_names names = sums_names();
	struct sim_err e;
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct xp_sums s = {0};
		assert_int_equal(xp_sums_parse(&s, bad[i].with_net ? &t : NULL,
				     &names, bad[i].what, &e),
		    SIM_EINVAL);
		assert_string_equal(e.msg, bad[i].says);
	}
	/* Nor is any name known where none are. */
	struct xp_sums s = {0};
	assert_int_equal(xp_sums_parse(&s, &t, NULL, "custom:a", &e),
	    SIM_EINVAL);
	res_counter_names_free(&names);
	topo_close(&t);
}

/* --- sums ----------------------------------------------------------------- */

static void rows_of_a_span_are_added(void **state)
{
	struct algo_counters c = {0};
	struct xp_sums s = {0};
	(void)state;
	assert_ok(xp_sums_parse(&s, NULL, NULL, "link:3", test_err()));
	/* Spans that end in (10, 20]. */
	add_row(&c, ALGO_COUNTER_LINK_PACKETS, 3, 0, 10, 1);
	add_row(&c, ALGO_COUNTER_LINK_PACKETS, 3, 0, 11, 2);
	add_row(&c, ALGO_COUNTER_LINK_PACKETS, 3, 0, 20, 4);
	add_row(&c, ALGO_COUNTER_LINK_PACKETS, 3, 0, 21, 8);
	/* Others'. */
	add_row(&c, ALGO_COUNTER_LINK_PACKETS, 2, 0, 15, 16);
	add_row(&c, ALGO_COUNTER_MIRROR_SENT, 3, 0, 15, 32);
	add_row(&c, ALGO_COUNTER_CUSTOM, 3, 0, 15, 64);
	/* Beyond the last bin there is none. */
	add_row(&c, ALGO_COUNTER_LINK_LATENCY, 3, XP_SUMS_SUBS, 15, 128);
	add_row(&c, ALGO_COUNTER_LINK_BYTES, 3, 0, 15, 1000.5);
	add_row(&c, ALGO_COUNTER_LINK_FLOWS, 3, 0, 15, 5);
	xp_sums_add(&s, &c, 10, 20);
	assert_int_equal(s.n_rows, 4);
	assert_put(&s, "link:3",
	    "link:3\n"
	    "  link_packets   6 packets\n"
	    "  link_bytes     1000 bytes\n"
	    "  link_flows     5 flows\n"
	    "  link_latency   0 round trips\n",
	    "{\"counter\": \"link:3\", \"rows\": 4, \"link_packets\": 6, "
	    "\"link_bytes\": 1000.5, \"link_flows\": 5, \"link_latency\": "
	    "{\"n\": 0, \"bins\": []}}\n");
	algo_counters_free(&c);
}

static void bins_have_quantiles(void **state)
{
	struct algo_counters c = {0};
	struct xp_sums s = {0};
	(void)state;
	assert_ok(xp_sums_parse(&s, NULL, NULL, "mux:3", test_err()));
	/* Bin i ends at 2^((i+1)/4) us; a half lies in the first three, and 99
	 * of 100 in all but the last. */
	add_row(&c, ALGO_COUNTER_MUX_LATENCY, 3, 0, 1, 30);
	add_row(&c, ALGO_COUNTER_MUX_LATENCY, 3, 3, 1, 20);
	add_row(&c, ALGO_COUNTER_MUX_LATENCY, 3, 7, 1, 49);
	add_row(&c, ALGO_COUNTER_MUX_LATENCY, 3, XP_SUMS_SUBS - 1, 1, 0.5);
	add_row(&c, ALGO_COUNTER_MUX_LATENCY, 3, XP_SUMS_SUBS - 1, 1, 0.5);
	xp_sums_add(&s, &c, 0, 1);
	assert_int_equal(s.n_rows, 5);
	assert_put(&s, "mux:3",
	    "mux:3\n"
	    "  mux_latency    100 packets, p50 2 us, p99 4 us\n"
	    "         us from           to       number\n"
	    "               0        1.189           30\n"
	    "           1.681            2           20\n"
	    "           3.363            4           49\n"
	    "           55109          any            1\n",
	    "{\"counter\": \"mux:3\", \"rows\": 5, \"mux_latency\": {\"n\": "
	    "100, \"p50_us\": 2, \"p99_us\": 4, \"bins\": [{\"to_us\": 1.189, "
	    "\"n\": 30}, {\"to_us\": 2, \"n\": 20}, {\"to_us\": 4, \"n\": 49}, "
	    "{\"to_us\": 1.84467441e+16, \"n\": 1}]}}\n");
	algo_counters_free(&c);
}

/* One packet in the last bin is all there is: it is there that a half lies. */
static void the_last_bin_has_no_end(void **state)
{
	struct algo_counters c = {0};
	struct xp_sums s = {0};
	char buf[1024] = "";
	(void)state;
	assert_ok(xp_sums_parse(&s, NULL, NULL, "mux:3", test_err()));
	add_row(&c, ALGO_COUNTER_MUX_LATENCY, 3, XP_SUMS_SUBS - 1, 1, 1);
	add_row(&c, ALGO_COUNTER_MUX_LATENCY, 3, XP_SUMS_SUBS - 2, 1, .5);
	xp_sums_add(&s, &c, 0, 1);
	FILE *out = fmemopen(buf, sizeof(buf), "w");
	xp_sums_put(&s, "mux:3", out);
	fclose(out);
	assert_non_null(
	    strstr(buf, "2 packets, p50 1.845e+16 us, p99 1.845e+16 us\n"));
	algo_counters_free(&c);
}

static void what_mirrors_lost_is_a_share(void **state)
{
	struct algo_counters c = {0};
	struct xp_sums s = {0};
	(void)state;
	assert_ok(xp_sums_parse(&s, NULL, NULL, "switch:2", test_err()));
	assert_put(&s, "switch:2",
	    "switch:2\n  mirror_sent    0 copies\n  mirror_lost    0 copies\n",
	    "{\"counter\": \"switch:2\", \"rows\": 0, \"mirror_sent\": 0, "
	    "\"mirror_lost\": 0}\n");
	add_row(&c, ALGO_COUNTER_MIRROR_SENT, 2, 0, 1, 30);
	xp_sums_add(&s, &c, 0, 2);
	assert_put(&s, "switch:2",
	    "switch:2\n  mirror_sent    30 copies\n  mirror_lost    0 "
	    "copies\n  lost share     0\n",
	    "{\"counter\": \"switch:2\", \"rows\": 1, \"mirror_sent\": 30, "
	    "\"mirror_lost\": 0}\n");
	algo_counters_clear(&c);
	add_row(&c, ALGO_COUNTER_MIRROR_LOST, 2, 0, 1, 12);
	add_row(&c, ALGO_COUNTER_MIRROR_LOST, 2, 0, 2, -2);
	xp_sums_add(&s, &c, 0, 2);
	assert_put(&s, "switch:2",
	    "switch:2\n  mirror_sent    30 copies\n  mirror_lost    10 "
	    "copies\n  lost share     0.25\n",
	    "{\"counter\": \"switch:2\", \"rows\": 3, \"mirror_sent\": 30, "
	    "\"mirror_lost\": 10}\n");
	algo_counters_free(&c);
}

static void a_custom_counter_has_packets_and_bytes(void **state)
{
	struct algo_counters c = {0};
	struct xp_sums s = {0};
	(void)state;
	assert_ok(xp_sums_parse(&s, NULL, NULL, "custom:0", test_err()));
	add_row(&c, ALGO_COUNTER_CUSTOM, 0, 0, 1, 5);
	add_row(&c, ALGO_COUNTER_CUSTOM, 0, 1, 1, 7500);
	xp_sums_add(&s, &c, 0, SIM_NEVER);
	xp_sums_add(&s, &c, 0, SIM_NEVER);
	assert_put(&s, "custom:0",
	    "custom:0\n  custom         10 packets\n  custom         15000 "
	    "bytes\n",
	    "{\"counter\": \"custom:0\", \"rows\": 4, \"custom\": 10, "
	    "\"custom_bytes\": 15000}\n");
	algo_counters_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_asked_for_has_an_id),
	    cmocka_unit_test(what_is_not_there_is_told),
	    cmocka_unit_test(rows_of_a_span_are_added),
	    cmocka_unit_test(bins_have_quantiles),
	    cmocka_unit_test(the_last_bin_has_no_end),
	    cmocka_unit_test(what_mirrors_lost_is_a_share),
	    cmocka_unit_test(a_custom_counter_has_packets_and_bytes),
	};
	return cmocka_run_group_tests_name("experiments/everflow/sums", tests,
	    NULL, NULL);
}
