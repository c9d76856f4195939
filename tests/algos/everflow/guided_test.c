/* tests/algos/everflow/guided_test.c -- probes: bytes, packets, and back.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/everflow/guided.h"

#include "sim/inet.h"
#include "tests/test.h"
#include "topo/addr.h"

enum { N_SWITCHES = 500 };

static struct algo_guided draw(struct sim_rng *r)
{
	struct algo_guided g = {.order = sim_rng_u32(r),
	    .number = sim_rng_u32(r),
	    .sender = topo_addr_of_host(sim_rng_below(r, 100)),
	    .n_via = (uint8_t)sim_rng_below(r, OBS_MAX_VIA + 1)};
	for (unsigned i = 0; i < g.n_via; i++)
		g.via[i] = sim_rng_below(r, N_SWITCHES);
	g.tuple = (struct topo_tuple){topo_addr_of_host(sim_rng_below(r, 100)),
	    topo_addr_of_host(sim_rng_below(r, 100)), (uint16_t)sim_rng_u32(r),
	    (uint16_t)sim_rng_u32(r), TOPO_PROTO_TCP};
	if (g.n_via > 0 && sim_rng_below(r, 2))
		g.tuple.dst_ip = 0;
	/* Without a header of its own there is nobody to name. */
	if (g.n_via == 0 || (g.n_via == 1 && g.tuple.dst_ip == 0))
		g.sender = 0;
	return g;
}

/* Bytes of the example that is worked out by hand: S1, S2, S1. */
static void a_round_trip_is_nested_around_its_last_switch(void **state)
{
	const struct algo_guided g = {.order = 0x01020304,
	    .number = 5,
	    .tuple = {topo_addr_of_host(0), 0, 33000, 9, TOPO_PROTO_TCP},
	    .sender = topo_addr_of_host(0),
	    .n_via = 3,
	    .via = {1, 2, 1}};
	uint8_t b[ALGO_GUIDED_MAX];
	(void)state;
	assert_int_equal(algo_guided_write(&g, b), 96);
	for (unsigned i = 0; i < 3; i++) {
		const uint8_t *ip = b + 20 * i;
		assert_int_equal(ip[0], 0x45);
		assert_int_equal(ip[1], OBS_TOS_DEBUG);
		assert_int_equal(sim_inet_get16(ip + 2), 96 - 20 * i);
		assert_int_equal(sim_inet_get16(ip + 4),
		    algo_guided_ip_id(g.order, g.number));
		assert_int_equal(sim_inet_get16(ip + 6), 0x4000);
		assert_int_equal(ip[8], ALGO_GUIDED_TTL);
		assert_int_equal(ip[9], i < 2 ? 4 : 6);
		assert_int_equal(sim_inet_get32(ip + 12), 0x0a000001);
		assert_int_equal(sim_inet_get32(ip + 16),
		    i == 1 ? 0xac100002 : 0xac100001);
		assert_int_equal(sim_inet_sum(0, ip, 20), 0xffff);
	}
	assert_int_equal(sim_inet_get16(b + 60), 33000);
	assert_int_equal(sim_inet_get16(b + 62), 9);
	assert_int_equal(sim_inet_get32(b + 64), 0x01020304);
	assert_int_equal(sim_inet_get32(b + 68), 5);
	assert_int_equal(b[73], OBS_TCP_ACK);
	assert_memory_equal(b + 80, "CPGUIDED", 8);
}

/* The receiver's sum over pseudo-header and segment is never the right one, for
 * any probe: it is off by just the bits that were put in. */
static void no_receiver_takes_its_checksum(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 2000; run++) {
		struct sim_rng r;
		test_rng(&r, run);
		const struct algo_guided g = draw(&r);
		uint8_t b[ALGO_GUIDED_MAX];
		const size_t n = algo_guided_write(&g, b);
		uint8_t *tcp = b + n - 36, *ip = tcp - 20;
		const uint32_t pseudo = sim_inet_sum(6 + 36, ip + 12, 8);
		if (sim_inet_sum(pseudo, tcp, 36) == 0xffff)
			fail_msg("run %u: a checksum that is right", run);
		sim_inet_put16(tcp + 16,
		    sim_inet_get16(tcp + 16) ^ ALGO_GUIDED_WRONG);
		assert_int_equal(sim_inet_sum(pseudo, tcp, 36), 0xffff);
	}
}

static void what_is_written_is_read_and_is_the_packet(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 2000; run++) {
		struct sim_rng r;
		test_rng(&r, run);
		const struct algo_guided g = draw(&r);
		struct algo_guided got;
		struct obs_packet p;
		uint8_t b[ALGO_GUIDED_MAX];
		memset(&got, 0, sizeof(got));
		const size_t n = algo_guided_write(&g, b);
		assert_ok(algo_guided_read(b, n, N_SWITCHES, &got, test_err()));
		assert_true(got.order == g.order && got.number == g.number &&
		    got.sender == g.sender && got.n_via == g.n_via &&
		    topo_tuple_same(&got.tuple, &g.tuple));
		assert_memory_equal(got.via, g.via, sizeof(g.via));
		algo_guided_packet(&g, &p);
		assert_int_equal(p.n_bytes, n + 14);
		assert_int_equal(20 * p.n_outer + 56, n);
		const struct obs_ip *out = obs_packet_outermost(&p);
		assert_int_equal(out->dst_ip, sim_inet_get32(b + 16));
		assert_int_equal(out->src_ip, sim_inet_get32(b + 12));
		assert_int_equal(out->id, sim_inet_get16(b + 4));
		assert_int_equal(p.ip.dst_ip, sim_inet_get32(b + n - 40));
		assert_int_not_equal(out->id, 0);
		assert_true(p.ip.tos & OBS_TOS_DEBUG);
		assert_false(p.ip.ttl & OBS_TTL_RETX);
	}
}

/* One bit of a probe that the network did not change makes it none: all but
 * ECN, and none of TTL or a header's checksum that the sum lets pass alone. */
static void any_flipped_bit_is_noticed(void **state)
{
	struct sim_rng r;
	(void)state;
	test_rng(&r, 1);
	for (unsigned k = 0; k < 20; k++) {
		const struct algo_guided g = draw(&r);
		struct algo_guided got;
		uint8_t b[ALGO_GUIDED_MAX];
		const size_t n = algo_guided_write(&g, b);
		for (size_t i = 0; i < 8 * n; i++) {
			struct sim_err e = {0};
			b[i / 8] ^= (uint8_t)(1 << i % 8);
			if (algo_guided_read(b, n, N_SWITCHES, &got, &e) !=
			    SIM_EPARSE)
				fail_msg("probe %u: bit %zu passed", k, i);
			assert_non_null(strstr(e.msg, "no guided probe"));
			b[i / 8] ^= (uint8_t)(1 << i % 8);
		}
		for (size_t m = 0; m < n; m++)
			assert_int_equal(algo_guided_read(b, m, N_SWITCHES,
					     &got, NULL),
			    SIM_EPARSE);
	}
}

static void what_the_network_changes_is_allowed(void **state)
{
	struct algo_guided g = {.order = 1,
	    .tuple = {topo_addr_of_host(0), topo_addr_of_host(7), 1, 2,
		TOPO_PROTO_TCP},
	    .sender = topo_addr_of_host(3),
	    .n_via = 2,
	    .via = {4, 5}};
	struct algo_guided got;
	uint8_t b[ALGO_GUIDED_MAX];
	(void)state;
	const size_t n = algo_guided_write(&g, b);
	/* Each header has its own TTL and mark. */
	for (unsigned i = 0; i < 3; i++) {
		uint8_t *ip = b + 20 * i;
		ip[8] = (uint8_t)(3 + i);
		ip[1] |= OBS_TOS_CE;
		sim_inet_put16(ip + 10, 0);
		sim_inet_put16(ip + 10, ~sim_inet_sum(0, ip, 20));
	}
	assert_ok(algo_guided_read(b, n, N_SWITCHES, &got, test_err()));
	assert_int_equal(got.n_via, 2);
	/* Behind the first switch, without its header. */
	assert_ok(
	    algo_guided_read(b + 20, n - 20, N_SWITCHES, &got, test_err()));
	assert_int_equal(got.n_via, 1);
	assert_int_equal(got.via[0], 5);
	/* Behind both. */
	assert_ok(
	    algo_guided_read(b + 40, n - 40, N_SWITCHES, &got, test_err()));
	assert_int_equal(got.n_via, 0);
	assert_int_equal(got.tuple.dst_ip, topo_addr_of_host(7));
	/* A switch that the network has not. */
	assert_int_equal(algo_guided_read(b, n, 5, &got, NULL), SIM_EPARSE);
}

/* A probe that ends at a switch has that as its last, of which there are no more
 * than three, so with three outer headers it is none. */
static void a_fourth_switch_is_refused(void **state)
{
	struct algo_guided g = {.order = 1,
	    .tuple = {topo_addr_of_host(0), topo_addr_of_switch(9), 1, 2,
		TOPO_PROTO_TCP},
	    .sender = topo_addr_of_host(3),
	    .via = {4, 5, 6}};
	(void)state;
	for (unsigned n = 0; n <= OBS_MAX_VIA; n++) {
		struct algo_guided got;
		uint8_t b[ALGO_GUIDED_MAX];
		g.n_via = (uint8_t)n;
		const size_t bytes = algo_guided_write(&g, b);
		assert_int_equal(algo_guided_read(b, bytes, N_SWITCHES, &got,
				     NULL),
		    n == OBS_MAX_VIA ? SIM_EPARSE : 0);
		if (n < OBS_MAX_VIA) {
			assert_int_equal(got.n_via, n + 1);
			assert_int_equal(got.via[n], 9);
			assert_int_equal(got.tuple.dst_ip, 0);
		}
	}
}

static void ids_are_never_zero_and_differ_within_an_order(void **state)
{
	static uint8_t seen[65536];
	(void)state;
	memset(seen, 0, sizeof(seen));
	for (uint32_t i = 0; i < 65535; i++) {
		const uint16_t id = algo_guided_ip_id(77, i);
		assert_int_not_equal(id, 0);
		assert_int_equal(seen[id]++, 0);
	}
}

static void rows_name_the_way(void **state)
{
	const struct algo_guided g = {.order = 3,
	    .number = 4,
	    .tuple = {topo_addr_of_host(1), 0, 10, 20, TOPO_PROTO_TCP},
	    .n_via = 2,
	    .via = {6, 7}};
	const struct obs_guided_probe row = algo_guided_row(&g, 1, 99);
	(void)state;
	assert_int_equal(row.sent_ns, 99);
	assert_int_equal(row.via0, 6);
	assert_int_equal(row.via1, 7);
	assert_int_equal(row.via2, TOPO_NONE);
	assert_int_equal(row.dst_ip, topo_addr_of_switch(7));
	assert_int_equal(row.ip_id, algo_guided_ip_id(3, 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_round_trip_is_nested_around_its_last_switch),
	    cmocka_unit_test(no_receiver_takes_its_checksum),
	    cmocka_unit_test(what_is_written_is_read_and_is_the_packet),
	    cmocka_unit_test(any_flipped_bit_is_noticed),
	    cmocka_unit_test(what_the_network_changes_is_allowed),
	    cmocka_unit_test(a_fourth_switch_is_refused),
	    cmocka_unit_test(ids_are_never_zero_and_differ_within_an_order),
	    cmocka_unit_test(rows_name_the_way),
	};
	return cmocka_run_group_tests_name("algos/everflow/guided", tests, NULL,
	    NULL);
}
