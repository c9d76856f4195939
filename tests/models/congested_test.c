/* tests/models/congested_test.c -- full ports where packets have times.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Laws are told apart by chi-square at p = 1e-6, 14 times in all, and means to 5.5
 * standard errors (4e-8), 5 times: one false alarm in 70,000 seeds.
 */
#include "models/bulk/bulk.h"
#include "models/packet/conn.h"
#include "tests/rigs/congested.h"
#include "tests/rigs/law.h"
#include "tests/rigs/rig.h"

static const double P_MIN = 1e-6;
static const struct topo_clos shape = {.n_pods = 2,
    .n_tors = 2,
    .n_t1 = 2,
    .n_t2 = 2,
    .n_hosts = 3};

static struct scene_congestion_params hot(double racks, double burst_ms,
    double busy, double ports, double uplinks)
{
	return (struct scene_congestion_params){racks, burst_ms, busy, ports,
	    uplinks, scenes_uniform(0.1, 0.9), scenes_fixed(0)};
}

static topo_link to_host(topo_host h)
{
	return topo_link_of(h, TOPO_DOWN);
}

static void hold(double p, const char *what, uint32_t i)
{
	if (!(p > P_MIN))
		fail_msg("seed %llu, %s %u: p = %g",
		    (unsigned long long)test_seed(), what, i, p);
}

/* --- walks ---------------------------------------------------------------- */

struct walker {
	struct scenes s;
	struct scene_walk_net net;
	struct topo_tuple tuple;
	topo_link path[TOPO_MAX_HOPS];
	unsigned n;
	sim_ns at;
	struct sim_rng r;
};

static void walker_open(struct walker *w)
{
	scenes_open(&w->s, &shape);
	w->s.params.noise.rate = scenes_fixed(0.05);
	w->s.params.congestion = hot(1, 2, 0.7, 0.6, 0.4);
	w->s.params.congestion.wait_us = scenes_uniform(5, 50);
	scenes_add_fault(&w->s, to_host(3), 0.3);
}

/* Another scene, hosts and time. */
static void walker_draw(struct walker *w, uint32_t run)
{
	test_rng(&w->r, 1000 + run);
	const topo_host a = sim_rng_below(&w->r, w->s.topo.n_hosts),
			b = (a + 1 +
				sim_rng_below(&w->r, w->s.topo.n_hosts - 1)) %
	    w->s.topo.n_hosts;
	w->net = (struct scene_walk_net){.topo = &w->s.topo,
	    .scene = scenes_draw(&w->s, run)};
	w->tuple = rig_tuple(a, b, (uint16_t)run);
	w->at = sim_rng_below(&w->r, 1000000000);
	w->n = scene_walk_path(&w->net, &w->tuple, a, b, w->at, w->path);
}

/* A way is that without congestion, and what the ports do in sum; probes that
 * links do not lose no port loses; and who meets no port meets none. */
static void a_way_is_its_links_and_its_ports(void **state)
{
	struct walker w;
	unsigned n_full = 0;
	(void)state;
	walker_open(&w);
	for (uint32_t run = 0; run < 200; run++) {
		double h[TOPO_MAX_HOPS + 1], dry[TOPO_MAX_HOPS + 1], sum = 0;
		sim_ns wait = 0;
		walker_draw(&w, run);
		const struct scene_congestion *c = &w.net.scene->congestion;
		struct scene_walk_net links = w.net, kept = w.net;
		links.no_ports = kept.lossless = 1;
		struct scene_walk_way way, bare;
		scene_walk_whole(&w.net, &w.tuple, w.path, w.n, w.at, &w.r,
		    &way);
		scene_walk_whole(&links, &w.tuple, w.path, w.n, w.at, &w.r,
		    &bare);
		assert_int_equal(scene_walk_hazards(&w.net, &w.tuple, w.path,
				     w.n, w.at, h),
		    1);
		assert_int_equal(scene_walk_hazards(&links, &w.tuple, w.path,
				     w.n, w.at, dry),
		    0);
		for (unsigned i = 0; i < w.n; i++) {
			const double port =
			    scene_congestion_hazard(c, w.path[i], w.at);
			sum += port;
			wait += scene_congestion_wait(c, w.path[i], w.at);
			assert_true(
			    port == scene_walk_port(&w.net, w.path[i], w.at));
			assert_near(h[i + 1], dry[i + 1] + sum, 1e-12);
		}
		n_full += sum > 0;
		assert_true(way.hazard == bare.hazard);
		assert_near(way.ports.hazard, sum, 1e-12);
		assert_int_equal(way.ports.wait, wait);
		assert_true(bare.ports.hazard == 0 && bare.ports.wait == 0);
		assert_int_equal(scene_walk_delay(&w.net, w.path, w.n, w.at,
				     &w.r),
		    wait);
		const struct scene_walk_ports p =
		    scene_walk_ports(&kept, w.path, w.n, w.at);
		assert_true(p.hazard == 0 && p.wait == wait);
	}
	assert_in_range(n_full, 60, 180);
	scenes_close(&w.s);
}

/* Step by step, and told in order whom a packet was lost to, against coins. */
static void losses_are_told_in_order(void **state)
{
	enum { TRIES = 20000, CAUSES = 3, CELLS = CAUSES + 1 };
	struct walker w;
	(void)state;
	walker_open(&w);
	for (uint32_t run = 0; run < 4; run++) {
		uint64_t got[CELLS] = {0}, steps[2] = {0}, coins[CELLS] = {0};
		walker_draw(&w, 40 + run);
		/* Who rounds otherwise may find it lost where nobody did: then it
		 * was the last link. */
		for (unsigned n = 1; n <= w.n; n++) {
			double fault;
			assert_int_equal(scene_walk_lost_by(&w.net, &w.tuple,
					     w.path, n, w.at, 0,
					     nextafter(1, 0)),
			    scene_loss_fault(&w.net.scene->loss, w.path[n - 1],
				w.at, &fault)
				? SCENE_WALK_BY_FAULT
				: SCENE_WALK_BY_NOISE);
		}
		for (unsigned k = 0; k < TRIES; k++) {
			const double u = sim_rng_u01(&w.r), before = 0.2;
			double h[TOPO_MAX_HOPS + 1];
			scene_walk_hazards(&w.net, &w.tuple, w.path, w.n, w.at,
			    h);
			if (u >= -expm1(-before) &&
			    u < -expm1(-before - h[w.n]))
				got[scene_walk_lost_by(&w.net, &w.tuple, w.path,
				    w.n, w.at, before, u)]++;
			else if (u >= -expm1(-before))
				got[CAUSES]++;
			if (sim_rng_u01(&w.r) < -expm1(-before))
				continue;
			unsigned by = CAUSES;
			for (unsigned i = 0; i < w.n && by == CAUSES; i++) {
				double fault;
				const double port =
				    scene_walk_port(&w.net, w.path[i], w.at);
				const int broken =
				    scene_loss_fault(&w.net.scene->loss,
					w.path[i], w.at, &fault);
				if (sim_rng_u01(&w.r) < -expm1(-port))
					by = SCENE_WALK_BY_PORT;
				else if (sim_rng_u01(&w.r) <
				    (broken ? -expm1(-fault) : 0.05))
					by = broken ? SCENE_WALK_BY_FAULT
						    : SCENE_WALK_BY_NOISE;
			}
			coins[by]++;
			struct scene_walk step = scene_walk_begin(&w.net,
			    &w.tuple, w.path, w.n, SCENE_WALK_MAX_TTL, w.at);
			const double v = sim_rng_u01(&w.r);
			while (step.fate == SCENE_WALK_UNDER_WAY) {
				scene_walk_meet(&step);
				if (scene_walk_is_lost(v, step.hazard)) {
					step.fate = SCENE_WALK_LOST;
					break;
				}
				step.t = w.at;
				scene_walk_enter(&step);
			}
			steps[step.fate == SCENE_WALK_LOST]++;
		}
		const uint64_t all[2] = {coins[CAUSES],
		    coins[0] + coins[1] + coins[2]};
		hold(law_chi2_equal(got, coins, CELLS), "causes", run);
		hold(law_chi2_equal(steps, all, 2), "steps", run);
	}
	scenes_close(&w.s);
}

/* --- packets -------------------------------------------------------------- */

/* Whether a packet is lost in a port that goes from A to B at T. */
static int packet_is_dropped(const struct packet_net *net, topo_host a,
    topo_host b, uint16_t port, sim_ns t, struct sim_rng *r)
{
	const struct topo_tuple x = rig_tuple(a, b, port);
	const struct obs_packet p = {.ethertype = OBS_ETH_IPV4,
	    .ip = {.src_ip = x.src_ip,
		.dst_ip = x.dst_ip,
		.ttl = 64,
		.proto = x.proto},
	    .src_port = port,
	    .dst_port = x.dst_port};
	struct packet_end end;
	assert_ok(packet_walk(net, &p, a, t, r, NULL, &end, test_err()));
	assert_int_equal(end.fate == SCENE_WALK_LOST, end.in_port);
	return end.in_port;
}

static int keep_packet(void *arg, topo_switch at, topo_link in, sim_ns t,
    const struct obs_packet *p, struct sim_err *e)
{
	(void)at, (void)in, (void)t, (void)e;
	*(struct obs_packet *)arg = *p;
	return 0;
}

/* What gets through a full port comes D later, and is marked if it bears it. */
static void a_full_port_holds_packets_up_and_marks_them(void **state)
{
	struct obs_packet p = {.ethertype = OBS_ETH_IPV4,
	    .ip = {.src_ip = topo_addr_of_host(0),
		.dst_ip = topo_addr_of_host(6),
		.ttl = 64,
		.tos = 2,
		.proto = TOPO_PROTO_TCP}};
	struct scenes s;
	struct sim_rng r;
	(void)state;
	scenes_open(&s, &shape);
	s.params.noise.rate = scenes_fixed(0);
	s.params.congestion = hot(1, 1e6, 1, 0, 1);
	s.params.congestion.loss = scenes_fixed(1e-9);
	s.params.congestion.wait_us = scenes_fixed(250);
	const struct packet_net net = {.walk = {.topo = &s.topo,
					   .scene = scenes_draw(&s, 0)},
	    .hop_us = 1};
	for (unsigned k = 0; k < 2; k++) {
		struct obs_packet at_t2 = {0};
		const struct packet_eye eye = {&at_t2, keep_packet};
		struct packet_end end;
		test_rng(&r, 9);
		p.ip.tos = k ? 2 : 0;
		assert_ok(
		    packet_walk(&net, &p, 0, 1000, &r, &eye, &end, test_err()));
		assert_int_equal(end.at,
		    1000 + end.n_links * SIM_US + 250 * SIM_US);
		assert_int_equal(at_t2.ip.tos & OBS_TOS_ECN, k ? 3 : 0);
	}
	scenes_close(&s);
}

/* Two packets, each at its own time: to one host, to two of a rack, to two
 * racks. */
static void packets_of_a_burst_are_lost_together(void **state)
{
	enum { EPOCHS = 30000 };
	static const double apart[] = {0.25, 0, 0.6};
	static const topo_host to[] = {6, 7, 9};
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		uint64_t got[4] = {0};
		double want[4];
		struct scenes s;
		struct sim_rng r;
		scenes_open(&s, &shape);
		s.params.noise.rate = scenes_fixed(0);
		s.params.traffic.conns = scenes_fixed(1);
		s.params.congestion = hot(0.6, 1, 0.5, 0.6, 0);
		const struct congested_pair x = {to_host(6), to_host(to[i]),
		    1234567, (sim_ns)(apart[i] * 1e6), 1, 1};
		test_rng(&r, 50 + i);
		for (uint32_t run = 0; run < EPOCHS; run++) {
			const struct packet_net net = {
			    .walk = {.topo = &s.topo,
				.scene = scenes_draw(&s, run)}};
			const int a = packet_is_dropped(&net, 0, 6, 5, x.t, &r);
			const int b =
			    packet_is_dropped(&net, 1, to[i], 6, x.t + x.d, &r);
			got[2 * a + b]++;
		}
		congested_law(&s.params.congestion, (double[]){0.6, 0.6}, &x,
		    i < 2, want);
		hold(law_chi2(got, want, 4), "pair", i);
		scenes_close(&s);
	}
}

/* The mean of the number of flows of one packet that are lost, WANT[0], and of
 * its square, given when they begin and where they go: sums over flows, and over
 * pairs of them. */
static void expect_lost(const struct scene *s, double want[2])
{
	const struct scene_congestion_params *p = &s->congestion.params;
	const double r = (p->loss.a + p->loss.b) / 2, q = p->ports,
		     rr = r * r + pow(p->loss.b - p->loss.a, 2) / 12,
		     full = p->racks * p->busy * q;
	struct obs_flow f[64];
	topo_link path[TOPO_MAX_HOPS];
	const uint64_t n = s->traffic.n_flows;
	assert_true(n <= 64);
	want[0] = want[1] = (double)n * full * r;
	for (uint64_t i = 0; i < n; i++) {
		bulk_flow(s, i, &f[i], path);
		for (uint64_t k = 0; k < i; k++) {
			const double d =
			    fabs((double)f[i].start_ns - (double)f[k].start_ns);
			const double same =
			    fmax(0, 1 - d / (p->burst_ms * 1e6));
			const topo_host a = f[i].dst_host, b = f[k].dst_host;
			const int rack =
			    topo_tor_of(s->topo, a) == topo_tor_of(s->topo, b);
			want[1] += 2 *
			    (a == b ? full *
					(same * rr +
					    (1 - same) * p->busy * q * r * r)
				    : rack ? full * q * r * r *
					(same + (1 - same) * p->busy)
					   : full * r * full * r);
		}
	}
}

/* As many of an epoch's flows of one packet, sent one by one, as in bulk: in the
 * mean, in the variance, in all else. In each epoch both meet the same ports, so
 * the counts differ by less than those of two samples. */
static void packets_lose_as_flows_in_bulk_do(void **state)
{
	enum { EPOCHS = 6000, MOST = 24 };
	uint64_t bulk[MOST] = {0}, one[MOST] = {0};
	struct law_mean sum[2] = {{0}}, square[2] = {{0}};
	struct law_mean gap = {0}, clustered = {0};
	struct bulk *b;
	struct scenes s;
	struct obs w = {0};
	struct sim_rng r;
	(void)state;
	test_rng(&r, 60);
	scenes_open(&s, &shape);
	assert_ok(bulk_open(&b, NULL, test_err()));
	s.params.noise.rate = scenes_fixed(0);
	s.params.traffic.conns = scenes_fixed(3);
	s.params.traffic.packets = scenes_fixed(1);
	s.params.congestion = hot(0.5, 1e4, 0.6, 0.5, 0);
	for (uint32_t run = 0; run < EPOCHS; run++) {
		const struct scene *scene = scenes_draw(&s, run);
		const struct packet_net net = {
		    .walk = {.topo = &s.topo, .scene = scene}};
		unsigned k = 0, n = 0;
		obs_clear(&w);
		losses_clear(&s.lost);
		assert_ok(bulk_epoch(b, scene, 0, &w, &s.lost, test_err()));
		for (size_t i = 0; i < s.lost.n_buffer; i++)
			k += s.lost.buffer[i];
		for (uint64_t i = 0; i < scene->traffic.n_flows; i++) {
			topo_link path[TOPO_MAX_HOPS];
			struct obs_flow f;
			struct packet_end end;
			bulk_flow(scene, i, &f, path);
			const struct obs_packet p = {.ethertype = OBS_ETH_IPV4,
			    .ip = {.src_ip = topo_addr_of_host(f.src_host),
				.dst_ip = topo_addr_of_host(f.dst_host),
				.ttl = 64,
				.proto = TOPO_PROTO_TCP},
			    .src_port = f.src_port,
			    .dst_port = f.dst_port};
			assert_ok(packet_walk(&net, &p, f.src_host, f.start_ns,
			    &r, NULL, &end, test_err()));
			n += end.in_port;
		}
		bulk[k < MOST ? k : MOST - 1]++;
		one[n < MOST ? n : MOST - 1]++;
		double want[2];
		expect_lost(scene, want);
		law_add(&sum[0], k - want[0]);
		law_add(&sum[1], n - want[0]);
		law_add(&square[0], (double)k * k - want[1]);
		law_add(&square[1], (double)n * n - want[1]);
		law_add(&clustered, (want[1] - want[0] * want[0]) / want[0]);
		law_add(&gap, (double)k - n);
	}
	hold(law_chi2_equal(bulk, one, MOST), "epochs", 0);
	assert_true(fabs(law_z(&gap, 0)) < 5.5);
	/* Bursts last for a third of the epoch, and flows are lost together. */
	for (unsigned k = 0; k < 2; k++) {
		assert_true(fabs(law_z(&sum[k], 0)) < 5.5);
		assert_true(fabs(law_z(&square[k], 0)) < 5.5);
	}
	assert_true(law_mean(&clustered) > 1.5);
	obs_free(&w);
	bulk_close(b);
	scenes_close(&s);
}

/* --- connections ---------------------------------------------------------- */

/* The client's last acknowledgement is sent only if it is made, and is then
 * counted; it is no part of what is compared. */
struct last_ack {
	uint32_t src_ip;
	unsigned lost[2]; /* in a port, on a link */
};

static int note_last_ack(void *arg, const struct obs_packet *p, sim_ns sent,
    const struct packet_end *end, struct sim_err *e)
{
	enum { BARE = 66 };
	struct last_ack *x = arg;
	(void)sent, (void)e;
	if (p->ip.src_ip == x->src_ip && p->tcp_flags == OBS_TCP_ACK &&
	    p->n_bytes == BARE && end->fate == SCENE_WALK_LOST)
		x->lost[!end->in_port]++;
	return 0;
}

static size_t loss_cell(const struct packet_conn_end *end,
    const struct last_ack *x)
{
	unsigned n[2] = {0, 0};
	for (unsigned i = 0; i < end->n_hops; i++) {
		assert_true(end->buffer[i] <= end->drops[i]);
		n[0] += end->buffer[i];
		n[1] += end->drops[i] - end->buffer[i];
	}
	for (unsigned k = 0; k < 2; k++) {
		n[k] -= x->lost[k];
		n[k] = n[k] < 5 ? n[k] : 5;
	}
	return 6 * n[0] + n[1];
}

/* Packets of data that are not made lose as those that walk one by one. Both
 * connections meet the same ports. */
static void data_that_are_not_made_lose_as_those_that_are(void **state)
{
	enum { EPOCHS = 3000 };
	static const struct packet_sample none = {0, 0}, all = {0, 1};
	struct last_ack ack = {0};
	const struct packet_conn_to to = {.arg = &ack, .ended = note_last_ack};
	uint64_t got[2][36] = {{0}}, hurt[2][36] = {{0}};
	struct packet_conn_params p;
	struct scenes s;
	(void)state;
	assert_ok(sim_field_defaults(packet_conn_fields, &p, test_err()));
	p.gap_us = 700;
	p.retries = 1;
	scenes_open(&s, &shape);
	s.params.noise.rate = scenes_fixed(0.01);
	s.params.traffic.conns = scenes_fixed(1);
	s.params.traffic.packets = scenes_fixed(4);
	s.params.congestion = hot(1, 2, 0.8, 0.7, 0.1);
	scenes_add_fault(&s, to_host(2), 0.4);
	for (uint32_t run = 0; run < EPOCHS; run++) {
		const struct scene *scene = scenes_draw(&s, run);
		const struct packet_net net = {.walk = {.topo = &s.topo,
						   .scene = scene},
		    .hop_us = 1};
		for (uint64_t i = 0; i < scene->traffic.n_flows; i++) {
			struct packet_conn_end end;
			for (unsigned k = 0; k < 2; k++) {
				ack = (struct last_ack){
				    topo_addr_of_host(
					scene_traffic_src(&scene->traffic, i)),
				    {0}};
				assert_ok(packet_conn_run(&net, &p,
				    k ? &all : &none, NULL, 0, i, SIM_NEVER,
				    &to, &end, test_err()));
				const size_t cell = loss_cell(&end, &ack);
				got[k][cell]++;
				hurt[k][cell] += end.flow.dst_host == 2;
			}
		}
	}
	assert_true(got[0][6] > 500);
	hold(law_chi2_equal(got[0], got[1], 36), "connections", 0);
	/* Port and link of one hop both lose there. */
	hold(law_chi2_equal(hurt[0], hurt[1], 36), "connections", 1);
	scenes_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_way_is_its_links_and_its_ports),
	    cmocka_unit_test(losses_are_told_in_order),
	    cmocka_unit_test(a_full_port_holds_packets_up_and_marks_them),
	    cmocka_unit_test(packets_of_a_burst_are_lost_together),
	    cmocka_unit_test(packets_lose_as_flows_in_bulk_do),
	    cmocka_unit_test(data_that_are_not_made_lose_as_those_that_are),
	};
	return cmocka_run_group_tests_name("models, congested", tests, NULL,
	    NULL);
}
