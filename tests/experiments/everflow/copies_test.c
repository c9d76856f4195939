/* tests/experiments/everflow/copies_test.c -- captured bytes become rows again.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/everflow/copies.h"
#include "tests/rigs/packets.h"
#include "tests/test.h"
#include "topo/addr.h"

static const struct topo_clos shape = {2, 4, 2, 2, 3, .n_cables = 0};
enum { IP = 0x0800 };

static void open_topo(struct topo *t)
{
	assert_ok(topo_open_clos(t, &shape, test_err()));
}

static int take(struct xp_copies *c, const struct algo_erspan_copy *x,
    uint64_t unix_ns, struct obs_mirror *out, struct sim_err *e)
{
	uint8_t *bytes = malloc(ALGO_ERSPAN_MAX);
	assert_non_null(bytes);
	const size_t n = algo_erspan_write(x, 128, bytes);
	const int rc = xp_copies_take(c, unix_ns, IP, bytes, n, out, e);
	free(bytes);
	return rc;
}

/* What was mirrored comes back as the row that the simulator would have made. */
static void copies_come_back_as_they_were(void **state)
{
	struct topo t;
	struct xp_copies c;
	struct obs_mirror out = {0};
	struct sim_rng r;
	(void)state;
	open_topo(&t);
	test_rng(&r, 0);
	assert_ok(xp_copies_open(&c, &t, 0, test_err()));
	for (uint32_t i = 0; i < 5000; i++) {
		const topo_switch s = sim_rng_below(&r, t.n_switches);
		struct algo_erspan_copy x = {.switch_ip =
						 topo_addr_of_switch(s),
		    .sequence = i};
		packets_any(&x.packet, &r);
		struct obs_copy want = obs_copy_of(&x.packet);
		obs_mirror_clear(&out);
		assert_ok(take(&c, &x, 1000 + i, &out, test_err()));
		assert_int_equal(out.n, 1);
		const struct obs_copy got = obs_mirror_at(&out, 0);
		want.node = s;
		want.t_ns = i;
		want.mirror_seq = got.mirror_seq;
		want.kind = got.kind;
		assert_memory_equal(&got, &want, sizeof(got));
		assert_ok(obs_mirror_check(&out, t.n_switches, t.n_links,
		    test_err()));
		if (x.packet.ethertype == OBS_ETH_CONTROL)
			assert_int_equal(got.kind, OBS_COPY_PFC);
		else if (x.packet.tcp_flags &
		    (OBS_TCP_SYN | OBS_TCP_FIN | OBS_TCP_RST))
			assert_true(got.kind == OBS_COPY_CONTROL ||
			    (x.packet.n_outer > 0 &&
				got.kind == OBS_COPY_DEBUG));
	}
	assert_int_equal(c.n_copies, 5000);
	assert_int_equal(c.n_back, 0);
	obs_mirror_free(&out);
	xp_copies_free(&c);
	topo_close(&t);
}

/* Links into the switch and out of it, of others, and none. */
static void the_index_may_be_the_link(void **state)
{
	struct topo t;
	struct xp_copies c;
	struct obs_mirror out = {0};
	uint64_t n_bad = 0;
	size_t n = 0;
	(void)state;
	open_topo(&t);
	assert_ok(xp_copies_open(&c, &t, 0, test_err()));
	for (unsigned on = 0; on < 2; on++)
		for (topo_link l = 0; l < t.n_links + 2; l++) {
			topo_node from, to = TOPO_NONE;
			struct algo_erspan_copy x = {.index = l,
			    .switch_ip = topo_addr_of_switch(1)};
			c.index_is_link = (uint8_t)on;
			x.packet =
			    (struct obs_packet){.ethertype = OBS_ETH_IPV4,
				.ip = {.proto = TOPO_PROTO_ICMP},
				.n_bytes = 60};
			assert_ok(take(&c, &x, 5, &out, test_err()));
			if (l < t.n_links)
				topo_link_ends(&t, l, &from, &to);
			const int right = on && to == t.n_hosts + 1;
			assert_int_equal(out.in_link[n++],
			    right ? l : TOPO_NONE);
			n_bad += on && !right;
		}
	assert_int_equal(c.n_bad_index, n_bad);
	obs_mirror_free(&out);
	xp_copies_free(&c);
	topo_close(&t);
}

/* --- numbers -------------------------------------------------------------- */

static uint32_t number_of(struct xp_copies *c, uint16_t session, uint32_t n)
{
	struct obs_mirror out = {0};
	struct algo_erspan_copy x = {.switch_ip = topo_addr_of_switch(3),
	    .sequence = n,
	    .session = session};
	x.packet = (struct obs_packet){.ethertype = OBS_ETH_IPV4,
	    .ip = {.proto = TOPO_PROTO_ICMP},
	    .n_bytes = 60};
	assert_ok(take(c, &x, 5, &out, test_err()));
	const uint32_t got = out.mirror_seq[0];
	obs_mirror_free(&out);
	return got;
}

static void sessions_of_a_switch_have_one_row_of_numbers(void **state)
{
	struct topo t;
	struct xp_copies c;
	(void)state;
	open_topo(&t);
	assert_ok(xp_copies_open(&c, &t, 0, test_err()));
	assert_int_equal(number_of(&c, 1, 500), 1);
	assert_int_equal(number_of(&c, 1, 501), 2);
	assert_int_equal(number_of(&c, 2, 77), 3);
	/* One was lost, and it came late. */
	assert_int_equal(number_of(&c, 1, 503), 5);
	assert_int_equal(number_of(&c, 1, 502), 4);
	assert_int_equal(number_of(&c, 2, 78), 6);
	assert_int_equal(number_of(&c, 1, 504), 7);
	/* Three were lost. */
	assert_int_equal(number_of(&c, 2, 82), 11);
	/* The switch began anew. */
	assert_int_equal(number_of(&c, 1, UINT32_MAX - 100000), 12);
	assert_int_equal(number_of(&c, 1, UINT32_MAX), 100012);
	assert_int_equal(number_of(&c, 1, 0), 100013);
	xp_copies_free(&c);
	topo_close(&t);
}

static void times_never_go_back(void **state)
{
	static const uint64_t times[] = {100, 90, 105, 104, 105, 200};
	static const uint64_t want[] = {0, 0, 5, 5, 5, 100};
	struct topo t;
	struct xp_copies c;
	struct obs_mirror out = {0};
	(void)state;
	open_topo(&t);
	assert_ok(xp_copies_open(&c, &t, 0, test_err()));
	for (size_t i = 0; i < 6; i++) {
		struct algo_erspan_copy x = {
		    .switch_ip = topo_addr_of_switch(0)};
		x.packet = (struct obs_packet){.ethertype = OBS_ETH_IPV4,
		    .ip = {.proto = TOPO_PROTO_ICMP},
		    .n_bytes = 60};
		assert_ok(take(&c, &x, times[i], &out, test_err()));
		assert_int_equal(out.t_ns[i], want[i]);
	}
	assert_int_equal(c.n_back, 2);
	obs_mirror_free(&out);
	xp_copies_free(&c);
	topo_close(&t);
}

/* A wall clock that is set ten years ahead and back, and slewed all the while by
 * 500 ppm: packets of each 10 ms are stamped by it, of which the second is read after
 * what happens next. None is further off than the 100 ms that a set must be. */
static void time_goes_on_though_the_clock_is_set(void **state)
{
	static const int64_t years[] = {0, 10, 0, -10, 10, 0};
	const int64_t year = INT64_C(365) * 86400 * (int64_t)SIM_SEC,
		      start = INT64_C(1770120000) * (int64_t)SIM_SEC;
	const struct algo_erspan_copy x = {.switch_ip = topo_addr_of_switch(0),
	    .packet = {.ethertype = IP,
		.n_bytes = 54,
		.ip = {.ttl = 64, .proto = 6}}};
	struct obs_mirror out = {0};
	struct xp_copies c;
	struct topo t;
	uint64_t stamped = 0;
	(void)state;
	open_topo(&t);
	assert_ok(xp_copies_open(&c, &t, 0, test_err()));
	for (int64_t i = 0; i < 6000; i++) {
		const int64_t steady = 7 * (int64_t)SIM_SEC +
		    i * 10 * (int64_t)SIM_MS,
			      right = start + i * 10005000;
		const uint64_t wall =
		    (uint64_t)(right + years[i / 1000] * year);
		const sim_ns now = xp_copies_clock(&c, (sim_ns)steady, wall);
		assert_true(llabs((int64_t)now - (right - start)) <=
		    (i > 0 ? 10 * (int64_t)SIM_MS : 0));
		obs_mirror_clear(&out);
		if (stamped)
			assert_ok(take(&c, &x, stamped, &out, test_err()));
		assert_ok(take(&c, &x, wall, &out, test_err()));
		stamped = wall;
		for (size_t k = 0; k < out.n; k++)
			assert_true(
			    llabs((int64_t)out.t_ns[k] - (right - start)) <=
			    111 * (int64_t)SIM_MS);
	}
	obs_mirror_free(&out);
	xp_copies_free(&c);
	topo_close(&t);
}

/* --- addresses ------------------------------------------------------------ */

static void addresses_name_switches(void **state)
{
	static const char text[] = "# all\r\n\n  tor3=10.0.0.9 # one\n"
				   "t1.1=10.0.0.8\r\nt2.0=0.0.0.1";
	struct topo t;
	struct xp_copies c;
	struct obs_mirror out = {0};
	(void)state;
	open_topo(&t);
	assert_ok(xp_copies_open(&c, &t, 0, test_err()));
	assert_ok(xp_copies_addresses(&c, "map", text, test_err()));
	assert_int_equal(c.n_addresses, 3);
	struct algo_erspan_copy x = {.switch_ip = 0x0a000009};
	x.packet = (struct obs_packet){.ethertype = OBS_ETH_IPV4,
	    .ip = {.proto = TOPO_PROTO_ICMP},
	    .n_bytes = 60};
	assert_ok(take(&c, &x, 5, &out, test_err()));
	assert_int_equal(out.node[0], 3);
	/* Those of topo/addr.h count no more. */
	x.switch_ip = topo_addr_of_switch(0);
	assert_ok(take(&c, &x, 5, &out, test_err()));
	assert_int_equal(out.n, 1);
	assert_int_equal(c.n_unknown, 1);
	assert_int_equal(c.unknown_ip, topo_addr_of_switch(0));
	obs_mirror_free(&out);
	xp_copies_free(&c);
	topo_close(&t);
}

static void mistakes_name_their_line(void **state)
{
	static const char *const bad[][2] = {
	    {"", "map names no switch."},
	    {"tor0=1.2.3.4\ntor1\n", "map:2: \"tor1\" is not SWITCH=ADDRESS."},
	    {"host3=1.2.3.4",
		"map:1: \"host3\" is a host, and mirrors "
		"nothing."},
	    {"tor0=1.2.3.4\n\ntor1=1.2.3.4", "map: 1.2.3.4 is given twice."},
	};
	struct topo t;
	(void)state;
	open_topo(&t);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct xp_copies c;
		struct sim_err e;
		assert_ok(xp_copies_open(&c, &t, 0, test_err()));
		assert_int_equal(xp_copies_addresses(&c, "map", bad[i][0], &e),
		    SIM_EINVAL);
		assert_string_equal(e.msg, bad[i][1]);
		xp_copies_free(&c);
	}
	topo_close(&t);
}

static int some_copies(void *arg, struct sim_err *e)
{
	struct xp_copies c;
	struct obs_mirror out = {0};
	struct algo_erspan_copy x = {.switch_ip = 0x01020304, .sequence = 4};
	int rc = xp_copies_open(&c, arg, 0, e);
	x.packet = (struct obs_packet){.ethertype = OBS_ETH_IPV4,
	    .ip = {.proto = TOPO_PROTO_ICMP},
	    .n_bytes = 60};
	uint8_t bytes[512];
	const size_t n = algo_erspan_write(&x, 128, bytes);
	if (rc == 0)
		rc = xp_copies_addresses(&c, "map", "tor0=1.2.3.4", e);
	if (rc == 0)
		rc = xp_copies_take(&c, 1, IP, bytes, n, &out, e);
	obs_mirror_free(&out);
	xp_copies_free(&c);
	return rc;
}

static void each_allocation_may_fail(void **state)
{
	struct topo t;
	(void)state;
	open_topo(&t);
	test_each_alloc_fails(some_copies, &t);
	topo_close(&t);
}

/* Times are since the first packet, or since what is set. */
static void times_are_since_the_start(void **state)
{
	const struct algo_erspan_copy x = {.switch_ip = topo_addr_of_switch(0),
	    .packet = {.ethertype = IP,
		.n_bytes = 54,
		.ip = {.ttl = 64, .proto = 6}}};
	struct obs_mirror out = {0};
	struct xp_copies c;
	struct topo t;
	(void)state;
	open_topo(&t);
	for (uint64_t start = 0; start < 1000; start += 600) {
		assert_ok(xp_copies_open(&c, &t, 0, test_err()));
		c.start_ns = start;
		obs_mirror_clear(&out);
		assert_ok(take(&c, &x, 1000, &out, test_err()));
		assert_ok(take(&c, &x, 1500, &out, test_err()));
		assert_int_equal(out.n, 2);
		assert_int_equal(out.t_ns[0], start ? 1000 - start : 0);
		assert_int_equal(out.t_ns[1], out.t_ns[0] + 500);
		xp_copies_free(&c);
	}
	obs_mirror_free(&out);
	topo_close(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(times_are_since_the_start),
	    cmocka_unit_test(copies_come_back_as_they_were),
	    cmocka_unit_test(the_index_may_be_the_link),
	    cmocka_unit_test(sessions_of_a_switch_have_one_row_of_numbers),
	    cmocka_unit_test(times_never_go_back),
	    cmocka_unit_test(time_goes_on_though_the_clock_is_set),
	    cmocka_unit_test(addresses_name_switches),
	    cmocka_unit_test(mistakes_name_their_line),
	    cmocka_unit_test(each_allocation_may_fail),
	};
	return cmocka_run_group_tests_name("experiments/everflow/copies", tests,
	    NULL, NULL);
}
