/* tests/models/packet/conn_test.c -- connections as packets: what is sent, when
 * it is sent again, and that what is drawn is lost as what walks is.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Two z tests at 5 standard errors: one fires in 900,000 random seeds.
 */
#include "models/packet/conn.h"

#include "models/bulk/bulk.h"
#include "tests/rigs/law.h"
#include "tests/rigs/scenes.h"
#include "topo/addr.h"

static const struct topo_clos small = {.n_pods = 2,
    .n_tors = 3,
    .n_t1 = 2,
    .n_t2 = 3,
    .n_hosts = 4};

static const struct packet_sample none = {0, 0};

static struct packet_conn_params defaults(void)
{
	struct packet_conn_params p;
	assert_ok(sim_field_defaults(packet_conn_fields, &p, test_err()));
	return p;
}

/* Packets as sent, of one connection. */
enum { MAX_SENT = 4096 };
struct sent {
	size_t n, n_seen;
	struct obs_packet p[MAX_SENT];
	sim_ns at[MAX_SENT];
	struct packet_end end[MAX_SENT];
};

static int note_seen(void *arg, topo_switch at, topo_link in, sim_ns t,
    const struct obs_packet *p, struct sim_err *e)
{
	(void)at, (void)in, (void)t, (void)p, (void)e;
	((struct sent *)arg)->n_seen++;
	return 0;
}

static int note_ended(void *arg, const struct obs_packet *p, sim_ns sent,
    const struct packet_end *end, struct sim_err *e)
{
	struct sent *s = arg;
	(void)e;
	assert_true(s->n < MAX_SENT);
	s->p[s->n] = *p;
	s->at[s->n] = sent;
	s->end[s->n++] = *end;
	return 0;
}

static struct packet_conn_end run_flow(const struct scene *scene,
    const struct packet_conn_params *p, const struct packet_sample *sample,
    uint64_t flow, struct sent *s)
{
	const struct packet_net net = {.walk = {.topo = scene->topo,
					   .scene = scene},
	    .hop_us = 1};
	const struct packet_eye eye = {s, note_seen};
	const struct packet_conn_to to = {.arg = s,
	    .eye = &eye,
	    .ended = note_ended};
	struct packet_conn_end end;
	s->n = s->n_seen = 0;
	assert_ok(packet_conn_run(&net, p, sample, NULL, 0, flow, SIM_NEVER,
	    &to, &end, test_err()));
	return end;
}

static struct scene *healthy(struct scenes *s)
{
	scenes_open(s, &small);
	s->params.traffic.conns = scenes_fixed(10);
	s->params.noise.rate = scenes_fixed(0);
	return scenes_draw(s, 1);
}

static void a_connection_is_opened_and_closed_once(void **state)
{
	static struct sent sent;
	struct packet_conn_params p = defaults();
	struct scenes s;
	struct scene *scene = healthy(&s);
	(void)state;
	for (uint64_t i = 0; i < scene->traffic.n_flows; i++) {
		topo_link path[TOPO_MAX_HOPS];
		struct obs_flow f;
		const unsigned h = bulk_flow(scene, i, &f, path);
		const struct packet_conn_end end =
		    run_flow(scene, &p, &none, i, &sent);
		const uint32_t isn = sent.p[0].seq, isn2 = sent.p[1].seq;
		assert_int_equal(sent.n, 4);
		assert_int_equal(sent.p[0].tcp_flags, OBS_TCP_SYN);
		assert_int_equal(sent.p[1].tcp_flags,
		    OBS_TCP_SYN | OBS_TCP_ACK);
		assert_int_equal(sent.p[1].ip.id, 0);
		assert_int_equal(sent.p[1].ack, isn + 1);
		assert_int_equal(sent.p[2].tcp_flags,
		    OBS_TCP_FIN | OBS_TCP_ACK);
		assert_int_equal(sent.p[2].seq, isn + 1 + f.n_pkts * p.data);
		assert_int_equal(sent.p[3].seq, isn2 + 1);
		assert_int_equal(sent.p[3].ack, sent.p[2].seq + 1);
		for (size_t k = 0; k < 4; k++) {
			assert_true(sent.p[k].ip.ttl < OBS_TTL_RETX);
			assert_true(k == 1 || sent.p[k].ip.id != 0);
		}
		assert_true(end.established);
		assert_int_equal(end.flow.n_retx, 0);
		assert_int_equal(end.n_hops, h);
		assert_memory_equal(end.path, path, h * sizeof(path[0]));
		/* Four packets, seen by all switches on the way. */
		assert_int_equal(sent.n_seen, 4 * (h - 1));
	}
	scenes_close(&s);
}

/* Nothing is made but what the sample takes, and all of that. */
static void what_is_sampled_is_made(void **state)
{
	static struct sent sent;
	static const struct packet_sample some = {7, 3}, all = {1, 1};
	struct packet_conn_params p = defaults();
	struct scenes s;
	struct scene *scene = healthy(&s);
	uint64_t n_data = 0, n_some = 0;
	(void)state;
	p.debug_share = 0;
	for (uint64_t i = 0; i < scene->traffic.n_flows; i++) {
		const struct packet_conn_end end =
		    run_flow(scene, &p, &some, i, &sent);
		for (size_t k = 0; k < sent.n; k++)
			assert_true(sent.p[k].tcp_flags != OBS_TCP_ACK ||
			    (sent.p[k].ip.id & 7) == 3);
		n_some += sent.n - 4;
		n_data += end.flow.n_pkts + (end.flow.n_pkts + 1) / 2 + 1;
	}
	/* IDs count, so each 8th of a side's is sampled but at its ends. */
	assert_near((double)n_some, (double)n_data / 8,
	    (double)scene->traffic.n_flows);
	/* Odd IDs and all of a chosen connection: twice as many. */
	p.debug_share = 1;
	const struct packet_conn_end end = run_flow(scene, &p, &all, 0, &sent);
	assert_int_equal(sent.n,
	    4 + end.flow.n_pkts + (end.flow.n_pkts + 1) / 2 + 1);
	const struct packet_conn_size whole =
	    packet_conn_whole(&p, end.flow.n_pkts);
	assert_int_equal(whole.packets, sent.n);
	assert_int_equal(whole.bytes, end.n_bytes);
	assert_true(end.is_debug && sent.p[1].ip.tos == OBS_TOS_DEBUG);
	/* Each side counts its own. */
	for (size_t k = 0; k < sent.n; k++)
		for (size_t j = k + 1; j < sent.n && sent.p[k].ip.id > 0; j++)
			if (sent.p[j].ip.src_ip == sent.p[k].ip.src_ip) {
				assert_int_equal(sent.p[j].ip.id,
				    sent.p[k].ip.id % UINT16_MAX + 1);
				break;
			}
	scenes_close(&s);
}

/* Where nothing is lost, all that is sent: numbers count bytes from the initial
 * one on, SYN and FIN are one each; every second data packet is answered, half a
 * round trip behind, and the last. */
static void assert_written_out(const struct sent *x, uint32_t n, uint32_t data,
    sim_ns gap)
{
	const uint32_t isn = x->p[0].seq, isn2 = x->p[1].seq;
	const sim_ns begin = x->end[1].at, half = (begin - x->at[0]) / 2;
	uint32_t n_data = 0, n_acks = 0, n_plain = 0;
	assert_int_equal(x->p[0].ack, 0);
	for (size_t k = 2; k < x->n; k++) {
		const struct obs_packet *q = &x->p[k];
		const int client = q->ip.src_ip == x->p[0].ip.src_ip;
		const int fin = (q->tcp_flags & OBS_TCP_FIN) != 0;
		assert_int_equal(q->tcp_flags & ~OBS_TCP_FIN, OBS_TCP_ACK);
		if (!client) {
			n_acks += !fin;
			const uint32_t to = 2 * n_acks < n ? 2 * n_acks : n;
			assert_int_equal(q->seq, isn2 + 1);
			assert_int_equal(q->ack,
			    isn + 1 + to * data + (uint32_t)fin);
			if (!fin)
				assert_int_equal(x->at[k],
				    begin + (to - 1) * gap + half);
		} else if (fin) {
			assert_int_equal(q->seq, isn + 1 + n * data);
			assert_int_equal(q->ack, isn2 + 1);
			assert_int_equal(x->at[k], begin + n * gap);
		} else if (k + 1 == x->n) {
			/* The server's FIN is acknowledged as it comes. */
			n_plain++;
			assert_int_equal(q->n_bytes, x->p[k - 1].n_bytes);
			assert_int_equal(q->seq, isn + 1 + n * data + 1);
			assert_int_equal(q->ack, isn2 + 2);
			assert_int_equal(x->at[k], x->end[k - 1].at);
		} else {
			assert_int_equal(q->n_bytes,
			    x->p[x->n - 1].n_bytes + data);
			assert_int_equal(q->seq, isn + 1 + n_data * data);
			assert_int_equal(q->ack, isn2 + 1);
			assert_int_equal(x->at[k], begin + n_data * gap);
			n_data++;
		}
	}
	assert_int_equal(n_data, n);
	assert_int_equal(n_acks, (n + 1) / 2);
	assert_int_equal(n_plain, 1);
}

static void a_connection_is_written_out(void **state)
{
	static struct sent sent;
	static const struct packet_sample all = {1, 1};
	struct packet_conn_params p = defaults();
	struct scenes s;
	(void)state;
	p.debug_share = 1;
	scenes_open(&s, &small);
	s.params.traffic.conns = scenes_fixed(3);
	s.params.traffic.packets = scenes_uniform(1, 9);
	s.params.noise.rate = scenes_fixed(0);
	const struct scene *scene = scenes_draw(&s, 1);
	for (uint64_t i = 0; i < scene->traffic.n_flows; i++) {
		const struct packet_conn_end end =
		    run_flow(scene, &p, &all, i, &sent);
		assert_written_out(&sent, end.flow.n_pkts, p.data,
		    (sim_ns)(p.gap_us * 1e3));
	}
	scenes_close(&s);
}

/* A first link that loses all: SYNs after 1, 3, 7 ... s, marked and with other
 * IDs, and a path that goes on as it should. */
static void a_syn_is_sent_again_by_the_ladder(void **state)
{
	static struct sent sent;
	static const sim_ns want[] = {0, 1, 3, 7, 15, 31, 63};
	struct packet_conn_params p = defaults();
	struct scenes s;
	(void)state;
	scenes_open(&s, &small);
	s.params.traffic.conns = scenes_fixed(1);
	scenes_add_fault(&s, topo_link_of(0, TOPO_UP), 1);
	const struct scene *scene = scenes_draw(&s, 1);
	const struct packet_conn_end end = run_flow(scene, &p, &none, 0, &sent);
	assert_int_equal(sent.n, 7);
	for (size_t k = 0; k < 7; k++) {
		assert_int_equal(sent.at[k] - sent.at[0], want[k] * SIM_SEC);
		assert_int_equal(sent.p[k].ip.ttl >= OBS_TTL_RETX, k > 0);
		assert_int_equal(sent.p[k].seq, sent.p[0].seq);
		assert_true(k == 0 || sent.p[k].ip.id != sent.p[k - 1].ip.id);
	}
	assert_false(end.established);
	assert_int_equal(end.flow.n_retx, 6);
	assert_int_equal(end.n_early, 6);
	assert_int_equal(end.drops[0], 7);
	/* The whole way, though nothing went further than its first link. */
	topo_link path[TOPO_MAX_HOPS];
	struct obs_flow f;
	assert_int_equal(end.n_hops, bulk_flow(scene, 0, &f, path));
	assert_in_range(end.n_hops, 4, 6);
	assert_memory_equal(end.path, path, end.n_hops * sizeof(path[0]));
	scenes_close(&s);
}

/* --- losses --------------------------------------------------------------- */

static void lossy_scene(struct scenes *s)
{
	scenes_open(s, &small);
	s->params.traffic.conns = scenes_fixed(20);
	s->params.traffic.packets = scenes_fixed(100);
	s->params.noise.rate = scenes_fixed(2e-3);
}

/* SYNs and FINs, too. */
static void each_resend_is_counted(void **state)
{
	static struct sent sent;
	struct packet_conn_params p = defaults();
	struct scenes s;
	unsigned n_syn = 0, n_fin = 0;
	(void)state;
	lossy_scene(&s);
	s.params.traffic.packets = scenes_fixed(3);
	s.params.noise.rate = scenes_fixed(0.03);
	const struct scene *scene = scenes_draw(&s, 2);
	for (uint64_t i = 0; i < 100; i++) {
		const struct packet_conn_end end =
		    run_flow(scene, &p, &none, i, &sent);
		uint32_t n_retx = 0;
		for (size_t k = 0; k < sent.n; k++) {
			const struct obs_packet *x = &sent.p[k];
			if (x->ip.src_ip !=
				topo_addr_of_host(end.flow.src_host) ||
			    !(x->ip.ttl & OBS_TTL_RETX))
				continue;
			n_retx++;
			n_syn += (x->tcp_flags & OBS_TCP_SYN) != 0;
			n_fin += (x->tcp_flags & OBS_TCP_FIN) != 0;
		}
		assert_int_equal(end.flow.n_retx, n_retx);
	}
	assert_true(n_syn > 5 && n_fin > 5);
	scenes_close(&s);
}

/* Each loss is mended by one resend or more, and each resend has another ID. */
static void what_is_lost_is_sent_again(void **state)
{
	static struct sent sent;
	struct packet_conn_params p = defaults();
	struct scenes s;
	uint64_t n_again = 0;
	(void)state;
	lossy_scene(&s);
	const struct scene *scene = scenes_draw(&s, 2);
	p.debug_share = 1;
	for (uint64_t i = 0; i < 100; i++) {
		const struct packet_conn_end end =
		    run_flow(scene, &p, &none, i, &sent);
		uint32_t n_lost = 0, n_retx = 0;
		for (size_t k = 0; k < sent.n; k++) {
			const struct obs_packet *x = &sent.p[k];
			const int mine = x->ip.src_ip ==
			    topo_addr_of_host(end.flow.src_host);
			const int again = (x->ip.ttl & OBS_TTL_RETX) != 0;
			n_retx += mine && again;
			n_lost += mine && x->n_bytes > 100 &&
			    sent.end[k].fate == SCENE_WALK_LOST;
			if (!mine || sent.end[k].fate != SCENE_WALK_LOST ||
			    x->n_bytes < 100)
				continue;
			/* The next with its sequence number is a resend. */
			size_t j = k + 1;
			while (j < sent.n && sent.p[j].seq != x->seq)
				j++;
			assert_true(j < sent.n);
			assert_true(sent.p[j].ip.ttl & OBS_TTL_RETX);
			assert_true(sent.p[j].ip.id != x->ip.id);
			assert_true(sent.at[j] >= sent.at[k] + 200 * SIM_MS);
			n_again++;
		}
		assert_int_equal(end.flow.n_retx, n_retx);
		assert_true(n_retx >= n_lost);
	}
	assert_true(n_again > 20);
	scenes_close(&s);
}

/* When each segment of a flow first came to its server. */
static void segments_came(const struct sent *s, uint32_t n, uint32_t data,
    sim_ns came[])
{
	for (uint32_t i = 0; i < n; i++)
		came[i] = SIM_NEVER;
	for (size_t k = 0; k < s->n; k++) {
		const uint32_t i = (s->p[k].seq - s->p[0].seq - 1) / data;
		if (s->p[k].n_bytes > 100 &&
		    s->end[k].fate == SCENE_WALK_DELIVERED &&
		    s->end[k].at < came[i])
			came[i] = s->end[k].at;
	}
}

/* The server acknowledges just what it has got without a gap; of a flow that lost
 * more than 64 segments it may be less. */
static void as_much_is_acknowledged_as_came(void **state)
{
	enum { N = 800 };
	static struct sent sent;
	struct packet_conn_params p = defaults();
	struct scenes s;
	unsigned n_all = 0, n_less = 0;
	sim_ns came[N];
	(void)state;
	lossy_scene(&s);
	s.params.traffic.packets = scenes_fixed(N);
	s.params.noise.rate = scenes_fixed(0.04);
	const struct scene *scene = scenes_draw(&s, 2);
	p.debug_share = 1;
	p.gap_us = 1e4;
	for (uint64_t i = 0; i < 4; i++) {
		const struct packet_conn_end end =
		    run_flow(scene, &p, &none, i, &sent);
		uint32_t n_lost = 0;
		assert_true(end.established);
		segments_came(&sent, N, p.data, came);
		for (size_t k = 0; k < sent.n; k++) {
			const struct obs_packet *x = &sent.p[k];
			uint32_t n = 0;
			if (x->ip.src_ip ==
			    topo_addr_of_host(end.flow.src_host)) {
				n_lost += x->n_bytes > 100 &&
				    !(x->ip.ttl & OBS_TTL_RETX) &&
				    sent.end[k].fate == SCENE_WALK_LOST;
				continue;
			}
			if (x->tcp_flags != OBS_TCP_ACK)
				continue;
			while (n < N && came[n] <= sent.at[k])
				n++;
			const uint32_t got =
			    (x->ack - sent.p[0].seq - 1) / p.data;
			if (got > n || (got < n && n_lost <= 64))
				fail_msg("%u of %u segments, %u lost", got, n,
				    n_lost);
			n_all += got > 0 && got == n;
			n_less += got < n;
		}
	}
	assert_true(n_all > 100 && n_less > 10);
	scenes_close(&s);
}

/* A host that is off opens no connection. */
static void who_is_off_sends_nothing(void **state)
{
	static struct sent sent;
	struct packet_conn_params p = defaults();
	struct scenes s;
	(void)state;
	healthy(&s);
	struct fault_params *g = scenes_add_group(&s);
	uint32_t at[] = {3};
	g->kind = FAULT_HOST_OFF;
	g->at = at;
	g->n_at = 1;
	g->from_s = 10;
	const struct scene *scene = scenes_draw(&s, 1);
	unsigned n[2] = {0};
	for (uint64_t i = 0; i < scene->traffic.n_flows; i++) {
		const struct packet_conn_end end =
		    run_flow(scene, &p, &none, i, &sent);
		const int off =
		    end.flow.src_host == 3 && end.flow.start_ns >= 10 * SIM_SEC;
		if (end.flow.src_host == 3)
			n[off]++;
		if (!off)
			continue;
		assert_int_equal(sent.n + sent.n_seen, 0);
		assert_int_equal(end.established, 0);
		assert_int_equal(end.flow.n_pkts, 0);
		assert_int_equal(end.flow.n_retx + end.n_bytes + end.n_walked,
		    0);
		assert_int_equal(end.n_hops, 0);
	}
	assert_true(n[0] > 0 && n[1] > 0);
	scenes_close(&s);
}

/* Mean resends and drops of a flow, over epochs. */
static void lose(int debug, uint32_t first, struct law_mean *retx,
    struct law_mean *drops)
{
	static struct sent sent;
	struct packet_conn_params p = defaults();
	struct scenes s;
	lossy_scene(&s);
	p.debug_share = debug;
	for (uint32_t run = first; run < first + 20; run++) {
		const struct scene *scene = scenes_draw(&s, run);
		for (uint64_t i = 0; i < scene->traffic.n_flows; i++) {
			const struct packet_conn_end end =
			    run_flow(scene, &p, &none, i, &sent);
			double n = 0;
			for (unsigned k = 0; k < end.n_hops; k++)
				n += end.drops[k];
			law_add(retx, end.flow.n_retx);
			law_add(drops, n);
		}
	}
	scenes_close(&s);
}

/* Data that walk and data of which losses are drawn have one law. */
static void what_is_drawn_is_lost_like_what_walks(void **state)
{
	struct law_mean retx[2] = {{0}}, drops[2] = {{0}};
	(void)state;
	lose(0, 100, &retx[0], &drops[0]);
	lose(1, 200, &retx[1], &drops[1]);
	assert_true(fabs(law_mean(&retx[0]) - law_mean(&retx[1])) <
	    5 * hypot(law_se(&retx[0]), law_se(&retx[1])));
	assert_true(fabs(law_mean(&drops[0]) - law_mean(&drops[1])) <
	    5 * hypot(law_se(&drops[0]), law_se(&drops[1])));
	assert_true(law_mean(&drops[0]) > 0.5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_connection_is_opened_and_closed_once),
	    cmocka_unit_test(what_is_sampled_is_made),
	    cmocka_unit_test(a_connection_is_written_out),
	    cmocka_unit_test(a_syn_is_sent_again_by_the_ladder),
	    cmocka_unit_test(each_resend_is_counted),
	    cmocka_unit_test(what_is_lost_is_sent_again),
	    cmocka_unit_test(as_much_is_acknowledged_as_came),
	    cmocka_unit_test(who_is_off_sends_nothing),
	    cmocka_unit_test(what_is_drawn_is_lost_like_what_walks),
	};
	return cmocka_run_group_tests_name("models/packet/conn", tests, NULL,
	    NULL);
}
