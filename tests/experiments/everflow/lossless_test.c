/* tests/experiments/everflow/lossless_test.c -- pauses and BGP of a run, beside storms.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Runs of one seed are laid beside each other: what has nothing to do with a storm
 * or a flap is the same with it, frame by frame. Each of the 52 links into switches
 * is drawn by some of 2000 drawings, but for a chance of 52 exp(-2000 / 52) = 1e-15,
 * and then has some 76 episodes of pauses a second.
 */
#include "experiments/everflow/lossless.h"

#include "tests/rigs/scenes.h"
#include "topo/addr.h"

static const struct topo_clos shape = {.n_pods = 2,
    .n_tors = 3,
    .n_t1 = 2,
    .n_t2 = 2,
    .n_hosts = 2};

enum { LINKS = 64, HOSTS = 12, UNTIL_S = 4, N_BUSY = 2000 };

/* How many frames, and messages of BGP, came over each link in each second. */
struct told {
	uint32_t pauses[LINKS][UNTIL_S], bgp[LINKS][UNTIL_S];
};

static int see(void *arg, topo_switch at, topo_link in, sim_ns t,
    const struct obs_packet *p, struct sim_err *e)
{
	struct told *w = arg;
	(void)at, (void)e;
	assert_true(t < UNTIL_S * SIM_SEC && in < LINKS);
	if (p->ethertype == OBS_ETH_CONTROL)
		w->pauses[in][t / SIM_SEC]++;
	else
		w->bgp[in][t / SIM_SEC]++;
	return 0;
}

/* Two outages of which the second is OUTAGE, or none. */
static void run(struct told *w, uint32_t n_busy, uint32_t has_bgp,
    const struct truth_outage *outage)
{
	struct scenes s;
	struct xp_lossless p = {.n_busy = n_busy, .has_bgp = has_bgp};
	const struct packet_eye eye = {w, see};
	double bytes = 0;
	assert_ok(
	    sim_field_defaults(packet_pause_fields, &p.pause, test_err()));
	assert_ok(sim_field_defaults(packet_bgp_fields, &p.bgp, test_err()));
	p.pause.busy_per_s = 2;
	p.pause.depth = 3;
	/* Twenty flaps in two seconds: none with a chance of exp(-40). */
	p.bgp.up_s = 0.05;
	p.bgp.down_s = 0.05;
	memset(w, 0, sizeof(*w));
	scenes_open(&s, &shape);
	assert_int_equal(s.topo.n_links, LINKS);
	struct scene *scene = scenes_draw(&s, 0);
	if (outage) {
		struct truth_outage o = {.kind = TRUTH_CONTROLLER,
		    .from_ns = SIM_SEC,
		    .to_ns = 3 * SIM_SEC};
		assert_ok(truth_add_outage(&scene->truth, &o, test_err()));
		o.kind = outage->kind;
		o.id = outage->id;
		assert_ok(truth_add_outage(&scene->truth, &o, test_err()));
	}
	const struct packet_net net = {
	    .walk = {.topo = &s.topo, .scene = scene}};
	assert_ok(xp_lossless_run(&p, &net, NULL, UNTIL_S * SIM_SEC, NULL, &eye,
	    &bytes, test_err()));
	assert_true(bytes == 0);
	scenes_close(&s);
}

/* Cables of hosts come first, each with its link up and that down. */
static int is_to_host(topo_link l)
{
	return l / 2 < HOSTS && l == topo_link_of(l / 2, TOPO_DOWN);
}

static void switches_are_paused_on_all_links_and_hosts_are_not(void **state)
{
	static struct told w;
	(void)state;
	run(&w, N_BUSY, 0, NULL);
	for (topo_link l = 0; l < LINKS; l++)
		for (int k = 0; k < UNTIL_S; k++)
			assert_int_equal(w.pauses[l][k] > 0, !is_to_host(l));
}

static void a_port_that_a_storm_holds_pauses_as_usual_before_and_after(
    void **state)
{
	static struct told busy, storm, both;
	const struct truth_outage o = {.kind = TRUTH_STORM, .id = 3};
	unsigned n_held = 0;
	(void)state;
	run(&busy, N_BUSY, 0, NULL);
	run(&storm, 0, 0, &o);
	run(&both, N_BUSY, 0, &o);
	for (topo_link l = 0; l < LINKS; l++) {
		if (storm.pauses[l][2] == 0) {
			assert_memory_equal(both.pauses[l], busy.pauses[l],
			    sizeof(busy.pauses[l]));
			continue;
		}
		n_held++;
		assert_int_equal(storm.pauses[l][0], 0);
		assert_int_equal(both.pauses[l][0], busy.pauses[l][0]);
		assert_int_equal(both.pauses[l][2], storm.pauses[l][2]);
		assert_true(both.pauses[l][3] > storm.pauses[l][3] + 10);
	}
	/* The NIC's, those of its ToR's two T1s, and of what sends to these. */
	assert_true(n_held > 3 && n_held < LINKS - HOSTS);
}

static void a_session_is_on_each_cable_of_switches_and_one_flaps(void **state)
{
	static struct told none, calm, flap;
	const struct truth_outage o = {.kind = TRUTH_BGP_FLAP, .id = 20};
	(void)state;
	run(&none, 0, 0, &o);
	run(&calm, 0, 1, NULL);
	run(&flap, 0, 1, &o);
	for (topo_link l = 0; l < LINKS; l++) {
		uint32_t n = 0, n_flap = 0;
		for (int k = 0; k < UNTIL_S; k++) {
			assert_int_equal(none.bgp[l][k], 0);
			n += calm.bgp[l][k];
			n_flap += flap.bgp[l][k];
		}
		assert_int_equal(n > 0, l / 2 >= HOSTS);
		if (l / 2 == o.id)
			assert_true(n_flap > n);
		else
			assert_memory_equal(flap.bgp[l], calm.bgp[l],
			    sizeof(calm.bgp[l]));
	}
}

/* --- queue pairs ------------------------------------------------------------- */

enum { N_PAIRS = 50, LASTS_US = 20 };

struct pairs {
	const struct topo *topo;
	double bytes; /* that came into switches, of data */
	uint32_t payload;
	size_t n, n_lost, n_again; /* packets sent before */
	struct pair {
		uint32_t src_ip, dst_ip;
		uint16_t src_port;
		uint32_t seq;
		sim_ns first, last;
	} pair[N_PAIRS];
};

/* Answers are small, and not counted. */
static int ended(void *arg, const struct obs_packet *p, sim_ns sent,
    const struct packet_end *end, struct sim_err *e)
{
	struct pairs *w = arg;
	size_t i = 0;
	(void)e;
	w->n_lost += end->fate != SCENE_WALK_DELIVERED;
	if (p->bth_opcode == OBS_BTH_ACK)
		return 0;
	w->bytes += (w->payload + 62.0) * (end->n_links - 1);
	while (i < w->n &&
	    (w->pair[i].src_ip != p->ip.src_ip ||
		w->pair[i].dst_ip != p->ip.dst_ip ||
		w->pair[i].src_port != p->src_port))
		i++;
	if (i == w->n) {
		assert_true(w->n < N_PAIRS);
		w->pair[w->n++] = (struct pair){p->ip.src_ip, p->ip.dst_ip,
		    p->src_port, p->seq, sent, sent};
	}
	w->n_again += p->seq < w->pair[i].seq;
	w->pair[i].seq = p->seq;
	if (sent < w->pair[i].first)
		w->pair[i].first = sent;
	if (sent > w->pair[i].last)
		w->pair[i].last = sent;
	return 0;
}

/* In a network without loss, by the packets of odd IP IDs, which are the only ones
 * that are made: in a run of 1 s, and in one of less than a pair would last. */
static void pairs_are_under_two_tors_and_send_as_long_as_they_last(void **state)
{
	(void)state;
	for (int is_short = 0; is_short < 2; is_short++) {
		struct scenes s;
		struct pairs w = {.topo = &s.topo};
		struct xp_lossless p = {.n_pairs = N_PAIRS,
		    .lasts_s = LASTS_US * 1e-6};
		const struct packet_sample odd = {1, 1};
		const struct packet_conn_to to = {.arg = &w, .ended = ended};
		const sim_ns until = is_short ? LASTS_US * SIM_US / 2 : SIM_SEC;
		const sim_ns lasts = is_short ? until : LASTS_US * SIM_US;
		double bytes = 0;
		assert_ok(sim_field_defaults(packet_rdma_fields, &p.rdma,
		    test_err()));
		w.payload = p.rdma.payload;
		scenes_open(&s, &shape);
		s.params.noise.rate = scenes_fixed(0);
		const struct packet_net net = {
		    .walk = {.topo = &s.topo, .scene = scenes_draw(&s, 0)}};
		assert_ok(xp_lossless_run(&p, &net, &odd, until, &to, NULL,
		    &bytes, test_err()));
		assert_int_equal(w.n, N_PAIRS);
		assert_true(w.n_lost == 0 && w.n_again == 0);
		/* Of each pair there may be one more that is even. */
		assert_near(bytes, 2 * w.bytes,
		    N_PAIRS * (w.payload + 62.0) * 5);
		sim_ns latest = 0;
		for (size_t i = 0; i < w.n; i++) {
			const struct pair *x = &w.pair[i];
			const topo_host from =
			    topo_addr_to_host(x->src_ip, HOSTS);
			const topo_host into =
			    topo_addr_to_host(x->dst_ip, HOSTS);
			assert_int_not_equal(topo_tor_of(&s.topo, from),
			    topo_tor_of(&s.topo, into));
			assert_true(x->first <= (until - lasts) / 2 + SIM_US);
			assert_true(x->last < x->first + lasts);
			/* It sends to its end, but for a message's pause. */
			assert_true(x->last + lasts / 4 >= x->first + lasts);
			latest = x->first > latest ? x->first : latest;
		}
		/* Uniform: below it with a chance of 0.8^50 = 1e-5. */
		assert_true(latest >= (until - lasts) / 2 * 4 / 5);
		scenes_close(&s);
	}
}

/* A hundredth of 50 * 95 packets on each link, a chance of exp(-100) to lose none. */
static void what_a_pair_loses_it_sends_again(void **state)
{
	struct scenes s;
	struct pairs w = {.topo = &s.topo};
	struct xp_lossless p = {.n_pairs = N_PAIRS, .lasts_s = LASTS_US * 1e-6};
	const struct packet_sample odd = {1, 1};
	const struct packet_conn_to to = {.arg = &w, .ended = ended};
	double bytes = 0;
	(void)state;
	assert_ok(sim_field_defaults(packet_rdma_fields, &p.rdma, test_err()));
	scenes_open(&s, &shape);
	s.params.noise.rate = scenes_fixed(0.01);
	const struct packet_net net = {
	    .walk = {.topo = &s.topo, .scene = scenes_draw(&s, 0)}};
	assert_ok(xp_lossless_run(&p, &net, &odd, SIM_SEC, &to, NULL, &bytes,
	    test_err()));
	assert_true(w.n_lost > 0 && w.n_again > 0);
	scenes_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
		switches_are_paused_on_all_links_and_hosts_are_not),
	    cmocka_unit_test(
		a_port_that_a_storm_holds_pauses_as_usual_before_and_after),
	    cmocka_unit_test(
		a_session_is_on_each_cable_of_switches_and_one_flaps),
	    cmocka_unit_test(
		pairs_are_under_two_tors_and_send_as_long_as_they_last),
	    cmocka_unit_test(what_a_pair_loses_it_sends_again),
	};
	return cmocka_run_group_tests_name("experiments/everflow/lossless",
	    tests, NULL, NULL);
}
