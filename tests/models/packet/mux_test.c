/* tests/models/packet/mux_test.c -- load balancers: who serves whom, what
 * switches see of it, and loops of packets within packets.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Two chi-squares at level 1e-6, two bounds of 5 standard errors (6e-7 each).
 */
#include "models/packet/mux.h"

#include "models/packet/walk.h"
#include "tests/rigs/law.h"
#include "tests/rigs/scenes.h"
#include "topo/addr.h"

#define LEVEL 1e-6

static const struct topo_clos shape = {.n_pods = 2,
    .n_tors = 3,
    .n_t1 = 2,
    .n_t2 = 3,
    .n_hosts = 4};

enum { N_HOSTS = 24, MAX_SIGHTS = 4000 };

struct sights {
	unsigned n;
	struct obs_packet p[MAX_SIGHTS];
	topo_switch at[MAX_SIGHTS];
};

static int remember(void *arg, topo_switch at, topo_link in, sim_ns t,
    const struct obs_packet *p, struct sim_err *e)
{
	struct sights *s = arg;
	(void)in, (void)t, (void)e;
	assert_true(s->n < MAX_SIGHTS);
	s->at[s->n] = at;
	s->p[s->n++] = *p;
	return 0;
}

static void open_mux(struct packet_mux *m, const struct scenes *x,
    uint32_t vips, uint32_t muxes)
{
	const struct sim_seed where = {.seed = test_seed()};
	struct packet_mux_params p;
	assert_ok(sim_field_defaults(packet_mux_fields, &p, test_err()));
	assert_int_equal(p.vips, 0);
	p.vips = vips;
	p.muxes = muxes;
	assert_ok(packet_mux_init(m, &x->topo, &p, &where, test_err()));
}

static struct obs_packet packet_to(topo_host src, uint32_t ip, uint16_t port)
{
	return (struct obs_packet){.ethertype = OBS_ETH_IPV4,
	    .ip = {.src_ip = topo_addr_of_host(src),
		.dst_ip = ip,
		.ttl = 64,
		.id = 77,
		.tos = 0x42,
		.proto = TOPO_PROTO_TCP},
	    .src_port = port,
	    .dst_port = 80,
	    .n_bytes = 100};
}

static struct packet_end go(const struct scene *s, const struct packet_mux *m,
    const struct obs_packet *p, topo_host src, struct sights *seen)
{
	const struct packet_net net = {.walk = {.topo = s->topo, .scene = s},
	    .mux = m};
	const struct packet_eye eye = {seen, remember};
	struct packet_end end;
	struct sim_rng r;
	test_rng(&r, p->src_port);
	seen->n = 0;
	assert_ok(
	    packet_walk(&net, p, src, SIM_SEC, &r, &eye, &end, test_err()));
	return end;
}

/* --- choices -------------------------------------------------------------- */

static void servers_are_every_nth_host_alike(void **state)
{
	(void)state;
	struct scenes x;
	struct packet_mux m;
	scenes_open(&x, &shape);
	open_mux(&m, &x, 5, 3);
	uint64_t by_host[N_HOSTS] = {0}, by_mux[N_HOSTS] = {0};
	double want[N_HOSTS] = {0}, want_mux[N_HOSTS] = {0};
	for (uint16_t i = 0; i < 30000; i++) {
		const struct obs_packet p =
		    packet_to(i % N_HOSTS, topo_addr_of_vip(3), i);
		const struct topo_tuple t = obs_packet_tuple(&p);
		const uint32_t d = topo_tuple_digest(&t);
		by_mux[packet_mux_of(&m, t.dst_ip, d)]++;
		by_host[packet_mux_server(&m, t.dst_ip, d)]++;
	}
	for (uint32_t h = 3; h < N_HOSTS; h += 5)
		want[h] = 1;
	for (uint32_t i = 0; i < 3; i++)
		want_mux[m.mux[i]] += 1;
	assert_true(law_chi2(by_host, want, N_HOSTS) > LEVEL);
	assert_true(law_chi2(by_mux, want_mux, N_HOSTS) > LEVEL);
	assert_int_equal(packet_mux_of(&m, topo_addr_of_vip(5), 1), TOPO_NONE);
	/* As many VIPs as hosts: one server each. */
	open_mux(&m, &x, N_HOSTS, N_HOSTS);
	for (uint32_t v = 0; v < N_HOSTS; v++)
		for (uint32_t d = 0; d < 100; d++)
			assert_int_equal(packet_mux_server(&m,
					     topo_addr_of_vip(v), d << 25),
			    v);
	scenes_close(&x);
}

static void what_does_not_fit_is_refused(void **state)
{
	(void)state;
	struct scenes x;
	struct packet_mux m;
	struct sim_err e;
	const struct sim_seed where = {.seed = 1};
	struct packet_mux_params p = {.vips = 25, .muxes = 1};
	scenes_open(&x, &shape);
	assert_int_equal(packet_mux_init(&m, &x.topo, &p, &where, &e),
	    SIM_ELIMIT);
	assert_string_equal(e.msg,
	    "25 virtual addresses need a host each, but there are 24.");
	p = (struct packet_mux_params){.vips = 1, .muxes = 25};
	assert_int_equal(packet_mux_init(&m, &x.topo, &p, &where, &e),
	    SIM_ELIMIT);
	assert_string_equal(e.msg,
	    "25 load balancers are more than the limit of 24 hosts.");
	scenes_close(&x);
}

/* --- ways ----------------------------------------------------------------- */

/* First as it was sent, to the mux; then within a header from the mux to the
 * server, its TTL one less for each switch and for the mux. */
static void packets_for_a_vip_come_wrapped_to_a_server(void **state)
{
	(void)state;
	static struct sights seen;
	struct scenes x;
	struct packet_mux m;
	scenes_open(&x, &shape);
	x.params.noise.scale = 0;
	const struct scene *s = scenes_draw(&x, 0);
	open_mux(&m, &x, 4, 2);
	unsigned n_both = 0;
	for (uint16_t i = 0; i < 500; i++) {
		const uint32_t vip = topo_addr_of_vip(i % 4);
		const topo_host src = i % N_HOSTS;
		const struct obs_packet p = packet_to(src, vip, i);
		const struct topo_tuple t = obs_packet_tuple(&p);
		const topo_host mux =
		    packet_mux_of(&m, vip, topo_tuple_digest(&t));
		const topo_host dip =
		    packet_mux_server(&m, vip, topo_tuple_digest(&t));
		const struct packet_end end = go(s, &m, &p, src, &seen);
		unsigned k = 0;
		assert_int_equal(end.fate, SCENE_WALK_DELIVERED);
		assert_int_equal(end.host, dip);
		for (; k < seen.n && seen.p[k].n_outer == 0; k++)
			assert_int_equal(seen.p[k].ip.ttl, 64 - k);
		n_both += k > 0 && k < seen.n;
		for (unsigned j = k; j < seen.n; j++) {
			const struct obs_packet *q = &seen.p[j];
			assert_int_equal(q->n_outer, 1);
			assert_int_equal(q->outer[0].src_ip,
			    topo_addr_of_host(mux));
			assert_int_equal(q->outer[0].dst_ip,
			    topo_addr_of_host(dip));
			assert_int_equal(q->outer[0].ttl,
			    PACKET_MUX_TTL - (j - k));
			assert_int_equal(q->outer[0].tos, 0x42);
			assert_int_equal(q->outer[0].id, 77);
			assert_int_equal(q->outer[0].proto, OBS_PROTO_IPIP);
			assert_int_equal(q->ip.ttl, 64 - k - 1);
			assert_int_equal(q->ip.dst_ip, vip);
			assert_int_equal(q->n_bytes, 120);
		}
		/* One ToR of the mux sees both, unless the mux is the
		 * server. */
		if (k > 0 && k < seen.n)
			assert_int_equal(seen.at[k], seen.at[k - 1]);
	}
	assert_true(n_both > 300);
	scenes_close(&x);
}

static void muxes_take_their_time(void **state)
{
	(void)state;
	static struct sights seen;
	struct scenes x;
	struct packet_mux m;
	struct law_mean mean = {0}, square = {0};
	scenes_open(&x, &shape);
	x.params.noise.scale = 0;
	const struct scene *s = scenes_draw(&x, 0);
	open_mux(&m, &x, 1, 1);
	m.params.service_us = 20;
	for (uint16_t i = 0; i < 20000; i++) {
		const struct obs_packet p =
		    packet_to(0, topo_addr_of_vip(0), i);
		const struct packet_end end = go(s, &m, &p, 0, &seen);
		const double us = (double)(end.at - SIM_SEC) / 1e3;
		law_add(&mean, us);
		law_add(&square, us * us);
	}
	assert_true(fabs(law_z(&mean, 20)) < 5);
	assert_true(fabs(law_z(&square, 800)) < 5);
	m.params.law = PACKET_MUX_CONSTANT;
	const struct obs_packet p = packet_to(0, topo_addr_of_vip(0), 1);
	assert_int_equal(go(s, &m, &p, 0, &seen).at, SIM_SEC + 20000);
	scenes_close(&x);
}

static void vips_that_are_none_lead_nowhere(void **state)
{
	(void)state;
	static struct sights seen;
	struct scenes x;
	struct packet_mux m;
	scenes_open(&x, &shape);
	x.params.noise.scale = 0;
	const struct scene *s = scenes_draw(&x, 0);
	open_mux(&m, &x, 2, 1);
	const struct obs_packet p = packet_to(0, topo_addr_of_vip(2), 1);
	const struct packet_end end = go(s, &m, &p, 0, &seen);
	assert_int_equal(end.fate, SCENE_WALK_DELIVERED);
	assert_int_equal(end.host, TOPO_NONE);
	assert_int_equal(seen.n, 1);
	scenes_close(&x);
}

/* A TTL that ends at the mux ends there. */
static void a_mux_takes_one_from_the_ttl(void **state)
{
	(void)state;
	static struct sights seen;
	struct scenes x;
	struct packet_mux m;
	scenes_open(&x, &shape);
	x.params.noise.scale = 0;
	const struct scene *s = scenes_draw(&x, 0);
	open_mux(&m, &x, 1, 1);
	const topo_host src = (m.mux[0] + N_HOSTS / 2) % N_HOSTS;
	struct obs_packet p = packet_to(src, topo_addr_of_vip(0), 1);
	for (uint8_t ttl = 5; ttl <= 7; ttl++) {
		p.ip.ttl = ttl;
		const struct packet_end end = go(s, &m, &p, src, &seen);
		assert_int_equal(end.fate,
		    ttl < 7 ? SCENE_WALK_EXPIRED : SCENE_WALK_DELIVERED);
		assert_int_equal(end.n_links, ttl == 5 ? 5 : end.n_links);
		if (ttl == 6)
			assert_int_equal(end.link,
			    topo_link_of(m.mux[0], TOPO_DOWN));
	}
	scenes_close(&x);
}

/* --- loops ---------------------------------------------------------------- */

/* A server that loops sends what it got back to the mux: seen wrapped and bare
 * by turns, each turn's inner TTL less than the one before, until it ends. If the
 * mux is that server itself, as one of the two is once in 12 seeds, the turns are
 * within the host, and switches see the way there alone. Who goes to other servers,
 * or before it begins, is not harmed. */
static void a_server_that_loops_is_seen_in_layers(void **state)
{
	(void)state;
	static struct sights seen;
	struct scenes x;
	struct packet_mux m;
	uint32_t bad = 13;
	scenes_open(&x, &shape);
	x.params.noise.scale = 0;
	struct fault_params *g = scenes_add_group(&x);
	g->kind = FAULT_MUX_LOOP;
	g->at = &bad;
	g->n_at = 1;
	const struct scene *s = scenes_draw(&x, 0);
	open_mux(&m, &x, 4, 2);
	unsigned n_loops = 0, n_seen = 0;
	for (uint16_t i = 0; i < 300; i++) {
		const struct obs_packet p =
		    packet_to(i % N_HOSTS, topo_addr_of_vip(1), i);
		const struct topo_tuple t = obs_packet_tuple(&p);
		const topo_host dip =
		    packet_mux_server(&m, t.dst_ip, topo_tuple_digest(&t));
		const struct packet_end end = go(s, &m, &p, i % N_HOSTS, &seen);
		uint8_t ttl = 64;
		if (dip != bad) {
			assert_int_equal(end.fate, SCENE_WALK_DELIVERED);
			assert_int_equal(end.host, dip);
			continue;
		}
		n_loops++;
		assert_int_equal(end.fate, SCENE_WALK_EXPIRED);
		assert_int_equal(end.host, TOPO_NONE);
		unsigned n_turns = 0;
		for (unsigned k = 0; k < seen.n; k++) {
			assert_true(seen.p[k].n_outer <= 1);
			assert_true(seen.p[k].ip.ttl <= ttl);
			ttl = seen.p[k].ip.ttl;
			n_turns +=
			    k > 0 && seen.p[k].n_outer > seen.p[k - 1].n_outer;
		}
		/* A turn takes 1 at the mux and up to 5 on the way to it. */
		if (packet_mux_of(&m, t.dst_ip, topo_tuple_digest(&t)) == bad) {
			assert_int_equal(n_turns, 0);
			assert_true(seen.n <= 5);
			continue;
		}
		n_seen++;
		assert_true(n_turns >= 64 / 6 - 1);
		assert_true(ttl <= 6);
	}
	/* Of six servers, and of two muxes, by chance: less in 3e-7 of seeds. */
	assert_true(n_loops > 20 && n_seen > 5);
	assert_true(truth_is_faulty(&s->truth, topo_link_of(bad, TOPO_UP)));
	/* Not addressed to a mux at all. */
	const struct obs_packet p = packet_to(0, topo_addr_of_host(bad), 5);
	assert_int_equal(go(s, &m, &p, 0, &seen).host, bad);
	g->at = NULL;
	g->n_at = 0;
	scenes_close(&x);
}

/* As many load balancers as there may be, and one more. */
static void a_limit_is_reached_and_not_passed(void **state)
{
	(void)state;
	const struct sim_seed where = {.seed = test_seed()};
	struct packet_mux_params p = {.vips = 1, .muxes = PACKET_MUX_MAX};
	struct topo t = {.n_hosts = PACKET_MUX_MAX + 7};
	struct packet_mux m;
	struct sim_err e;
	char want[96];
	assert_ok(packet_mux_init(&m, &t, &p, &where, test_err()));
	assert_int_equal(m.n_muxes, PACKET_MUX_MAX);
	for (uint32_t i = 0; i < m.n_muxes; i++)
		for (uint32_t k = 0; k < i; k++)
			assert_true(m.mux[i] != m.mux[k]);
	p.muxes++;
	assert_int_equal(packet_mux_init(&m, &t, &p, &where, &e), SIM_ELIMIT);
	snprintf(want, sizeof(want),
	    "%d load balancers are more than the limit of %d hosts.",
	    PACKET_MUX_MAX + 1, PACKET_MUX_MAX);
	assert_string_equal(e.msg, want);
}

/* A packet that has as many headers as one can stays at the load balancer. */
static void what_has_no_room_for_a_header_is_not_sent_on(void **state)
{
	(void)state;
	static struct sights seen;
	struct scenes x;
	struct packet_mux m;
	scenes_open(&x, &shape);
	x.params.noise.scale = 0;
	open_mux(&m, &x, 1, 1);
	const struct scene *s = scenes_draw(&x, 0);
	const topo_host src = m.mux[0] == 0 ? 1 : 0;
	struct obs_packet p = packet_to(src, topo_addr_of_vip(0), 9);
	for (unsigned n = 0; n <= OBS_MAX_OUTER; n++) {
		const struct packet_end end = go(s, &m, &p, src, &seen);
		assert_int_equal(end.fate, SCENE_WALK_DELIVERED);
		if (n == OBS_MAX_OUTER) {
			assert_int_equal(end.host, m.mux[0]);
		} else {
			const struct topo_tuple t = obs_packet_routed(&p);
			assert_int_equal(end.host,
			    packet_mux_server(&m, t.dst_ip,
				topo_tuple_digest(&t)));
			const struct obs_ip one_more = p.ip;
			obs_packet_wrap(&p, &one_more);
		}
	}
	scenes_close(&x);
}

static void a_constant_time_is_rounded_to_nanoseconds(void **state)
{
	static const struct {
		double us;
		sim_ns ns;
	} all[] = {{0, 0}, {50, 50000}, {0.0004, 0}, {0.0006, 1},
	    {1.2345, 1235}, {1e9, UINT64_C(1000000000000)}};
	struct packet_mux m = {.params.law = PACKET_MUX_CONSTANT};
	struct sim_rng r;
	(void)state;
	test_rng(&r, 0);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		m.params.service_us = all[i].us;
		assert_int_equal(packet_mux_time(&m, &r), all[i].ns);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(servers_are_every_nth_host_alike),
	    cmocka_unit_test(what_does_not_fit_is_refused),
	    cmocka_unit_test(packets_for_a_vip_come_wrapped_to_a_server),
	    cmocka_unit_test(muxes_take_their_time),
	    cmocka_unit_test(vips_that_are_none_lead_nowhere),
	    cmocka_unit_test(a_mux_takes_one_from_the_ttl),
	    cmocka_unit_test(a_server_that_loops_is_seen_in_layers),
	    cmocka_unit_test(a_limit_is_reached_and_not_passed),
	    cmocka_unit_test(what_has_no_room_for_a_header_is_not_sent_on),
	    cmocka_unit_test(a_constant_time_is_rounded_to_nanoseconds),
	};
	return cmocka_run_group_tests_name("models/packet/mux", tests, NULL,
	    NULL);
}
