/* tests/real/netns_mux_test.c -- load balancers of namespaces balance.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/netns/mux.h"

#include <poll.h>
#include <unistd.h>

#include "algos/everflow/mirror_rule.h"
#include "models/netns/mirror.h"
#include "tests/real/faulty.h"
#include "tests/real/frames.h"
#include "topo/addr.h"

enum { VIPS = 5, MUXES = 3, MAX_HOSTS = 64, PORT = 80 };

static struct lab lab;
static struct packet_mux law;
static struct netns_mux *mux;
static struct netns_mirror *mirror;
static struct obs_mirror seen;
static struct netns_mux_count count[MAX_HOSTS];

static void open_mirror(void)
{
	struct algo_mirror_params p;
	struct algo_mirror_table table;
	assert_ok(sim_field_defaults(algo_mirror_fields, &p, test_err()));
	assert_ok(algo_mirror_table(&table, &p, test_err()));
	const struct netns_mirror_params want = {.row = table.row,
	    .n_rows = table.n};
	assert_ok(
	    netns_mirror_open(&mirror, lab.net, &lab.t, &want, test_err()));
	obs_mirror_clear(&seen);
}

static void mux_begin(void **state, uint32_t vips, uint32_t muxes)
{
	const struct sim_seed where = {.seed = test_seed()};
	struct packet_mux_params p;
	lab_needs(state);
	lab_open(&lab, &faulty_shape, 7);
	assert_ok(sim_field_defaults(packet_mux_fields, &p, test_err()));
	p.vips = vips;
	p.muxes = muxes;
	assert_ok(packet_mux_init(&law, &lab.t, &p, &where, test_err()));
	const int rc = netns_mux_open(&mux, lab.net, &lab.t, &law, test_err());
	if (rc == SIM_EUNSUPPORTED) {
		print_message("reason: %s\n", test_err()->msg);
		lab_close(&lab);
		skip();
	}
	assert_ok(rc);
	open_mirror();
}

static void mux_end(void)
{
	netns_mirror_close(mirror);
	netns_mux_close(mux);
	lab_close(&lab);
	obs_mirror_free(&seen);
}

/* All copies that come until none does for a while. */
static void mux_read(void)
{
	struct pollfd p = {.fd = netns_mirror_fd(mirror), .events = POLLIN};
	size_t n;
	while (poll(&p, 1, 100) == 1)
		assert_ok(
		    netns_mirror_read(mirror, &seen, 1000, &n, test_err()));
	netns_mux_count(mux, count);
}

/* A SYN from host SRC for VIP V, of which nobody's stack thinks anything, as its
 * checksum is wrong. */
static void mux_send(topo_host src, uint32_t v, uint16_t port, uint32_t seq)
{
	const struct lab_flow f = {src, 0, port, PORT};
	struct obs_packet p = frames_tcp(&f, OBS_TCP_SYN, 8, seq);
	const int raw = frames_open(&lab, src);
	p.ip.dst_ip = topo_addr_of_vip(v);
	frames_send(raw, &p);
	close(raw);
}

static int is_mux(topo_host h)
{
	for (uint32_t i = 0; i < law.n_muxes; i++)
		if (law.mux[i] == h)
			return 1;
	return 0;
}

/* --- who serves whom ------------------------------------------------------ */

/* The packet with number c->seq was from host src to VIP v; the last copy of it
 * is at its server's ToR. */
static void check_wrapped(const struct obs_copy *c, topo_host src, uint32_t v)
{
	const struct topo_tuple t = {topo_addr_of_host(src),
	    topo_addr_of_vip(v), c->src_port, PORT, TOPO_PROTO_TCP};
	const topo_host to =
	    packet_mux_server(&law, t.dst_ip, topo_tuple_digest(&t));
	assert_int_equal(c->layer, 1);
	assert_int_equal(c->src_ip, t.src_ip);
	assert_int_equal(c->dst_ip, t.dst_ip);
	assert_int_equal(c->outer_dst, topo_addr_of_host(to));
	assert_true(is_mux(topo_addr_to_host(c->outer_src, lab.t.n_hosts)));
	assert_in_range(c->ttl, PACKET_MUX_TTL - TOPO_MAX_HOPS, PACKET_MUX_TTL);
}

/* The oracle is the simulator's own choice. Every copy within a header is of the
 * server that it names, every bare one is nearer to a mux than the one before,
 * and every packet comes to its server. */
static void servers_are_those_of_the_simulator(void **state)
{
	enum { N = 600 };
	static uint8_t wrapped[N];
	static topo_host from[N];
	static uint32_t vip[N];
	struct sim_rng r;
	uint64_t n_wrapped = 0, n_unwrapped = 0;
	mux_begin(state, VIPS, MUXES);
	test_rng(&r, 1);
	memset(wrapped, 0, sizeof(wrapped));
	for (uint32_t i = 0; i < N; i++) {
		from[i] = sim_rng_below(&r, lab.t.n_hosts);
		vip[i] = sim_rng_below(&r, VIPS);
		mux_send(from[i], vip[i], (uint16_t)(20000 + i), i);
	}
	mux_read();
	for (size_t i = 0; i < seen.n; i++) {
		const struct obs_copy c = obs_mirror_at(&seen, i);
		assert_true(c.seq < N);
		if (c.layer > 0)
			check_wrapped(&c, from[c.seq], vip[c.seq]);
		wrapped[c.seq] |= (uint8_t)(1u << c.layer);
	}
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(wrapped[i], 3);
	for (topo_host h = 0; h < lab.t.n_hosts; h++) {
		assert_true(is_mux(h) || count[h].n_wrapped == 0);
		assert_int_equal(count[h].n_failed + count[h].n_expired, 0);
		assert_int_equal(count[h].n_returned, 0);
		n_wrapped += count[h].n_wrapped;
		n_unwrapped += count[h].n_unwrapped;
	}
	print_message("time: %zu copies of %d packets; muxes wrapped %llu, "
		      "servers unwrapped %llu\n",
	    seen.n, N, (unsigned long long)n_wrapped,
	    (unsigned long long)n_unwrapped);
	assert_int_equal(n_wrapped, N);
	assert_int_equal(n_unwrapped, N);
	mux_end();
}

/* The ways are the shortest: no more links than to the nearest mux, and each hop
 * bare takes one off the TTL. */
static void virtual_addresses_lead_to_the_nearest_mux(void **state)
{
	uint8_t ttl[12] = {0};
	topo_host at[12];
	mux_begin(state, 1, 2);
	for (topo_host h = 0; h < lab.t.n_hosts; h++)
		mux_send(h, 0, 1000, h);
	mux_read();
	for (size_t i = 0; i < seen.n; i++) {
		const struct obs_copy c = obs_mirror_at(&seen, i);
		assert_true(c.seq < 12);
		if (c.layer > 0)
			at[c.seq] = topo_addr_to_host(c.outer_src, 12);
		else if (ttl[c.seq] == 0 || c.ttl < ttl[c.seq])
			ttl[c.seq] = c.ttl;
	}
	for (topo_host h = 0; h < lab.t.n_hosts; h++) {
		unsigned least = UINT32_MAX, here = UINT32_MAX;
		topo_link path[TOPO_MAX_HOPS];
		for (uint32_t i = 0; i < law.n_muxes; i++) {
			const unsigned n = law.mux[i] == h
			    ? 2
			    : topo_path(&lab.t, 0, h, law.mux[i], 0, path);
			least = n < least ? n : least;
			here = law.mux[i] == at[h] ? n : here;
		}
		assert_int_equal(here, least);
		assert_int_equal(ttl[h], 64 - (least - 2));
	}
	mux_end();
}

/* --- loops ---------------------------------------------------------------- */

/* One packet to a server that sends back: as often as the TTL of the inner header
 * lasts, of which a turn costs the mux and each switch between server and mux,
 * and not once before that fault nor after it. */
static void a_server_that_loops_sends_back_until_the_ttl_ends(void **state)
{
	struct truth truth = {0};
	uint64_t n[3] = {0};
	mux_begin(state, 1, 1);
	for (topo_host h = 0; h < lab.t.n_hosts; h++) {
		const struct truth_outage o = {.kind = TRUTH_MUX_LOOP,
		    .id = h,
		    .from_ns = 10,
		    .to_ns = 20};
		assert_ok(truth_add_outage(&truth, &o, test_err()));
	}
	truth_sort(&truth);
	for (unsigned i = 0; i < 3; i++) {
		uint64_t before = 0;
		for (topo_host h = 0; h < lab.t.n_hosts; h++)
			before += count[h].n_returned;
		assert_ok(netns_mux_apply(mux, &truth, 5 + 10 * i, test_err()));
		mux_send(0, 0, 1000, i);
		mux_read();
		for (topo_host h = 0; h < lab.t.n_hosts; h++)
			n[i] += count[h].n_returned;
		n[i] -= i > 0 ? before : 0;
	}
	print_message("time: sent back %llu times\n", (unsigned long long)n[1]);
	assert_int_equal(n[0], 0);
	assert_in_range(n[1], 63 / (TOPO_MAX_HOPS + 1), 63);
	assert_int_equal(n[2], 0);
	truth_free(&truth);
	mux_end();
}

static void a_host_that_is_not_there_is_refused(void **state)
{
	struct truth truth = {0};
	struct sim_err e = {0};
	mux_begin(state, 1, 1);
	const struct truth_outage o = {.kind = TRUTH_MUX_LOOP,
	    .id = lab.t.n_hosts,
	    .to_ns = 20};
	assert_ok(truth_add_outage(&truth, &o, test_err()));
	assert_int_equal(netns_mux_apply(mux, &truth, 5, &e), SIM_ERANGE);
	assert_string_equal(e.msg,
	    "Host 12 is to send back what muxes send, but the network has "
	    "hosts 0 to 11.");
	truth_free(&truth);
	mux_end();
}

/* Closed and opened again: nothing of the first stays in the way; and closed,
 * nobody knows where virtual addresses are. */
static void nothing_is_left(void **state)
{
	mux_begin(state, 1, 1);
	netns_mux_close(mux);
	assert_ok(netns_mux_open(&mux, lab.net, &lab.t, &law, test_err()));
	mux_send(3, 0, 1000, 0);
	mux_read();
	assert_true(seen.n > 0);
	netns_mux_close(mux);
	mux = NULL;
	topo_link next;
	const struct topo_tuple t = {topo_addr_of_host(3), topo_addr_of_vip(0),
	    1000, PORT, TOPO_PROTO_TCP};
	assert_ok(netns_next(lab.net, topo_tor_of(&lab.t, 3),
	    topo_link_of(3, TOPO_UP), &t, &next, test_err()));
	assert_int_equal(next, TOPO_NONE);
	mux_end();
}

static int open_again(void *arg, struct sim_err *e)
{
	struct netns_mux **m = arg;
	const int rc = netns_mux_open(m, lab.net, &lab.t, &law, e);
	netns_mux_close(*m);
	*m = NULL;
	return rc;
}

/* Whatever was done of the routes when one failed does not stand in the way of
 * the next. */
static void each_allocation_may_fail(void **state)
{
	mux_begin(state, VIPS, MUXES);
	netns_mux_close(mux);
	mux = NULL;
	test_each_alloc_fails(open_again, &mux);
	mux_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(servers_are_those_of_the_simulator),
	    cmocka_unit_test(virtual_addresses_lead_to_the_nearest_mux),
	    cmocka_unit_test(a_server_that_loops_sends_back_until_the_ttl_ends),
	    cmocka_unit_test(a_host_that_is_not_there_is_refused),
	    cmocka_unit_test(nothing_is_left),
	    cmocka_unit_test(each_allocation_may_fail),
	};
	return cmocka_run_group_tests_name("models/netns/mux", tests, lab_begin,
	    NULL);
}
