/* tests/real/netns_faults_test.c -- real links do what a truth says of them.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What both ways of doing it promise is tested of both. Intervals around rates
 * are left in one of 10^9 tests.
 */
#include <poll.h>
#include <unistd.h>

#include "tests/real/faulty.h"
#include "topo/addr.h"

enum { N_FLOWS = 200, FOREVER_S = 30 };

static struct faulty rig;
static struct obs_flow flow[N_FLOWS];
static struct netns_flow_end end[N_FLOWS];

static const struct netns_faults_params by_ebpf = {.by = NETNS_FAULTS_EBPF,
    .seed = 1};
static const struct netns_faults_params by_nft = {.by = NETNS_FAULTS_NFT,
    .seed = 1};

static void run(size_t n, uint32_t n_pkts, unsigned spread_ms, uint32_t draw)
{
	faulty_draw(&rig, flow, n, n_pkts, spread_ms, draw);
	faulty_run(&rig, flow, n, FOREVER_S, end);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(end[i].state, NETNS_FLOW_DONE);
}

/* --- loss ----------------------------------------------------------------- */

static void check_only(topo_link bad)
{
	for (topo_link l = 0; l < rig.lab.t.n_links; l++) {
		const struct netns_link_count *c = &rig.count[l];
		assert_true(c->packets > 0 && c->bytes > c->packets * 40);
		if (l != bad)
			assert_int_equal(c->n_random, 0);
		assert_int_equal(c->n_hole, 0);
	}
}

static void lose_on_one_link(const struct netns_faults_params *p,
    const char *name)
{
	faulty_open(&rig, p);
	const topo_link bad = faulty_link(&rig, name);
	faulty_add_loss(&rig, bad, 0.05);
	faulty_apply(&rig, 0);
	run(N_FLOWS, 100, 100, 1);
	check_only(bad);
	faulty_check_rate(rig.count[bad].n_random, rig.count[bad].packets,
	    0.05);
	faulty_close(&rig);
}

static void a_link_loses_its_rate_and_no_other_link_does(void **state)
{
	lab_needs(state);
	lose_on_one_link(&by_ebpf, "t1.0->tor1");
	lose_on_one_link(&by_ebpf, "tor1->t1.0");
}

static void a_link_loses_its_rate_by_nft(void **state)
{
	lab_needs(state);
	lose_on_one_link(&by_nft, "t1.0->tor1");
}

/* A fault replaces the noise of its link, as in the simulator. */
static void noise_is_on_all_links_without_a_fault(void **state)
{
	const struct scene_noise_params noise = {.rate = {.kind = SIM_FIXED,
						     .a = 0.01,
						     .b = 0.01},
	    .scale = 1};
	const struct sim_seed where = {.seed = 1};
	uint64_t n = 0, n_random = 0;
	lab_needs(state);
	faulty_open(&rig, &by_ebpf);
	scene_noise_init(&rig.loss.noise, &noise, NULL, &where);
	const topo_link bad = faulty_link(&rig, "tor0->host0");
	faulty_add_loss(&rig, bad, 0.2);
	faulty_apply(&rig, 0);
	run(N_FLOWS, 30, 100, 2);
	for (topo_link l = 0; l < rig.lab.t.n_links; l++) {
		if (l == bad)
			continue;
		n += rig.count[l].packets;
		n_random += rig.count[l].n_random;
	}
	faulty_check_rate(n_random, n, 0.01);
	faulty_check_rate(rig.count[bad].n_random, rig.count[bad].packets, 0.2);
	faulty_close(&rig);
}

/* --- black holes ---------------------------------------------------------- */

static void add_hole(const char *link, enum blackhole_rule_type type,
    double share, uint64_t salt)
{
	struct truth_hole h = {.to_ns = SIM_NEVER};
	topo_node from, to;
	topo_link_ends(&rig.lab.t, faulty_link(&rig, link), &from, &to);
	h.at = to - rig.lab.t.n_hosts;
	assert_ok(blackhole_rule_init(&h.rule, type, share, salt, test_err()));
	assert_ok(truth_add_hole(&rig.truth, &h, test_err()));
}

static int crosses(const struct obs_flow *f, topo_switch tor)
{
	return topo_tor_of(&rig.lab.t, f->src_host) == tor ||
	    topo_tor_of(&rig.lab.t, f->dst_host) == tor;
}

/* The hole is at a ToR, which a host's packets can't go round: SYNs and
 * SYN-ACKs alike. Returns how many flows it swallowed. */
static size_t swallow_at_tor(const struct netns_faults_params *p,
    enum blackhole_rule_type type, int exact, size_t *n_crossing)
{
	size_t n_lost = 0;
	*n_crossing = 0;
	faulty_open(&rig, p);
	add_hole("host0->tor0", type, 0.3, 5);
	faulty_apply(&rig, 0);
	faulty_draw(&rig, flow, N_FLOWS, 2, 100, 3);
	faulty_run(&rig, flow, N_FLOWS, 0.8, end);
	for (size_t i = 0; i < N_FLOWS; i++) {
		const struct topo_tuple there = faulty_tuple(&flow[i]);
		const struct topo_tuple back = {there.dst_ip, there.src_ip,
		    there.dst_port, there.src_port, there.proto};
		const struct blackhole_rule *rule = &rig.truth.hole[0].rule;
		const int at = crosses(&flow[i], rig.truth.hole[0].at);
		const int lost = end[i].state == NETNS_FLOW_FAILED;
		assert_true(at || !lost);
		if (exact)
			assert_int_equal(lost,
			    at &&
				(blackhole_rule_drops(rule, &there) ||
				    blackhole_rule_drops(rule, &back)));
		assert_int_equal(end[i].established, !lost);
		*n_crossing += (size_t)at;
		n_lost += (size_t)lost;
	}
	for (topo_link l = 0; l < rig.lab.t.n_links; l++) {
		topo_node from, to;
		topo_link_ends(&rig.lab.t, l, &from, &to);
		if (to != rig.lab.t.n_hosts + rig.truth.hole[0].at)
			assert_int_equal(rig.count[l].n_hole, 0);
		assert_int_equal(rig.count[l].n_random, 0);
	}
	faulty_close(&rig);
	return n_lost;
}

static void a_hole_swallows_what_its_rule_says(void **state)
{
	size_t n;
	lab_needs(state);
	assert_true(swallow_at_tor(&by_ebpf, BLACKHOLE_RULE_PAIR, 1, &n) > 0);
	assert_true(swallow_at_tor(&by_ebpf, BLACKHOLE_RULE_TUPLE, 1, &n) > 0);
}

/* Of keys of its own: a flow has two, so 0.51 of them are lost. Pairs of hosts
 * are too few for a rate. */
static void a_hole_swallows_its_share_by_nft(void **state)
{
	size_t n;
	lab_needs(state);
	assert_true(swallow_at_tor(&by_nft, BLACKHOLE_RULE_PAIR, 0, &n) > 0);
	const size_t k = swallow_at_tor(&by_nft, BLACKHOLE_RULE_TUPLE, 0, &n);
	faulty_check_rate(k, n, 0.51);
}

static void a_hole_of_all_keys_passes_icmp(void **state)
{
	struct lab_flow f = {.src = 0, .dst = 6, .src_port = 7, .dst_port = 9};
	topo_link path[TOPO_MAX_HOPS];
	lab_needs(state);
	faulty_open(&rig, &by_ebpf);
	add_hole("t1.0->tor0", BLACKHOLE_RULE_PAIR, 1, 5);
	/* The answers come back through tor0, the probes don't reach it. */
	f.src = 6;
	f.dst = 0;
	faulty_apply(&rig, 0);
	const unsigned n = lab_trace(&rig.lab, &f, path);
	assert_int_equal(n, 6);
	for (unsigned i = 0; i + 2 < n; i++)
		assert_true(path[i] != TOPO_NONE);
	assert_int_equal(path[n - 2], TOPO_NONE); /* at tor0 itself */
	f.src = 0;
	f.dst = 6;
	truth_clear(&rig.truth);
	add_hole("t1.2->tor3", BLACKHOLE_RULE_PAIR, 1, 5);
	faulty_apply(&rig, 0);
	assert_int_equal(lab_trace(&rig.lab, &f, path), 6);
	for (unsigned i = 0; i < 4; i++)
		assert_true(path[i] != TOPO_NONE);
	faulty_close(&rig);
}

/* --- time ----------------------------------------------------------------- */

static void faults_start_and_stop(const struct netns_faults_params *p)
{
	faulty_open(&rig, p);
	const topo_link bad = faulty_link(&rig, "host3->tor1");
	const struct truth_fault f = {.link = bad,
	    .rate = 0.3,
	    .from_ns = SIM_SEC,
	    .to_ns = 2 * SIM_SEC};
	assert_ok(truth_add_fault(&rig.truth, &f, test_err()));
	assert_int_equal(netns_faults_next(&rig.truth, 0), SIM_SEC);
	assert_int_equal(netns_faults_next(&rig.truth, SIM_SEC), 2 * SIM_SEC);
	assert_int_equal(netns_faults_next(&rig.truth, 2 * SIM_SEC), SIM_NEVER);

	faulty_apply(&rig, 0);
	run(50, 20, 10, 4);
	assert_int_equal(rig.count[bad].n_random, 0);
	const uint64_t before = rig.count[bad].packets;
	faulty_apply(&rig, SIM_SEC);
	run(50, 20, 10, 4);
	const uint64_t during = rig.count[bad].packets,
		       n_lost = rig.count[bad].n_random;
	faulty_check_rate(n_lost, during - before, 0.3);
	faulty_apply(&rig, 2 * SIM_SEC);
	run(50, 20, 10, 4);
	assert_true(rig.count[bad].packets > during);
	assert_int_equal(rig.count[bad].n_random, n_lost);
	faulty_close(&rig);
}

static void faults_hold_from_their_start_to_their_end(void **state)
{
	lab_needs(state);
	faults_start_and_stop(&by_ebpf);
}

static void faults_hold_from_their_start_to_their_end_by_nft(void **state)
{
	lab_needs(state);
	faults_start_and_stop(&by_nft);
}

/* --- nothing wrong -------------------------------------------------------- */

static void check_audit(void)
{
	struct netns_audit a[NETNS_AUDIT_MAX];
	size_t n;
	assert_ok(netns_faults_audit(rig.f, a, &n, test_err()));
	for (size_t i = 0; i < n; i++)
		if (!a[i].expected)
			fail_msg("%llu packets dropped: %s, at %llx",
			    (unsigned long long)a[i].n, a[i].reason,
			    (unsigned long long)a[i].at);
}

static void a_healthy_network_sends_nothing_again_and_drops_nothing(
    void **state)
{
	uint64_t lost;
	lab_needs(state);
	faulty_open(&rig, &by_ebpf);
	faulty_apply(&rig, 0);
	run(N_FLOWS, 100, 0, 5);
	for (size_t i = 0; i < N_FLOWS; i++) {
		assert_int_equal(flow[i].n_retx, 0);
		assert_in_range(end[i].n_sent, 100, 105);
	}
	assert_int_equal(rig.n_retx, 0);
	assert_ok(netns_faults_retx_lost(rig.f, &lost, test_err()));
	assert_int_equal(lost, 0);
	check_audit();
	check_only(TOPO_NONE);
	faulty_close(&rig);
}

static void a_closed_fault_is_no_more(void **state)
{
	const struct netns_faults_params *way[] = {&by_ebpf, &by_nft};
	lab_needs(state);
	for (int i = 0; i < 2; i++) {
		faulty_open(&rig, way[i]);
		faulty_add_loss(&rig, faulty_link(&rig, "host0->tor0"), 1);
		faulty_add_loss(&rig, faulty_link(&rig, "tor0->host0"), 1);
		faulty_apply(&rig, 0);
		netns_faults_close(rig.f);
		/* It can be opened again, too, and then passes all. */
		assert_ok(netns_faults_open(&rig.f, rig.lab.net, &rig.lab.t,
		    way[i], test_err()));
		run(50, 2, 0, 6);
		check_only(TOPO_NONE);
		faulty_close(&rig);
	}
}

/* --- delays --------------------------------------------------------------- */

static void add_delay(const char *link, double us, enum truth_law law)
{
	const struct truth_fault f = {.link = faulty_link(&rig, link),
	    .delay_us = us,
	    .law = law,
	    .to_ns = SIM_NEVER};
	assert_ok(truth_add_fault(&rig.truth, &f, test_err()));
}

static void need_delays(void)
{
	if (netns_faults_caps(rig.f)->delay)
		return;
	print_message("reason: %s\n", netns_faults_caps(rig.f)->why);
	faulty_close(&rig);
	skip();
}

/* Flows of one packet to host 0, and the least and mean of their times. */
static void time_flows(size_t n, unsigned spread_ms, double *least,
    double *mean)
{
	faulty_draw(&rig, flow, n, 1, spread_ms, 7);
	for (size_t i = 0; i < n; i++) {
		flow[i].src_host = 2 + (topo_host)i % 10;
		flow[i].dst_host = 0;
	}
	faulty_run(&rig, flow, n, FOREVER_S, end);
	*least = INFINITY;
	*mean = 0;
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(end[i].state, NETNS_FLOW_DONE);
		*least = fmin(*least, flow[i].srtt_us);
		*mean += flow[i].srtt_us / (double)n;
	}
}

static void a_slow_link_delays_by_its_time(void **state)
{
	static const double us[] = {500, 2000, 10000};
	lab_needs(state);
	for (int i = 0; i < 3; i++) {
		struct netns_delay_count c;
		double least, mean;
		faulty_open(&rig, &by_ebpf);
		need_delays();
		add_delay("tor0->host0", us[i], TRUTH_CONSTANT);
		faulty_apply(&rig, 0);
		time_flows(50, 200, &least, &mean);
		netns_faults_delay_count(rig.f, &c);
		print_message("time: delay of %g us: RTT %.0f us at least, "
			      "%.0f on average\n",
		    us[i], least, mean);
		assert_true(least >= us[i]);
		assert_true(least < us[i] + 1000);
		assert_true(c.n_held > 0);
		assert_int_equal(c.n_lost, 0);
		assert_int_equal(rig.n_retx, 0);
		check_audit();
		faulty_close(&rig);
	}
}

/* Of the smoothed times of the last N flows, each of two draws X and Y of mean 3000
 * as 7/8 X + 1/8 Y, the share below 3000 is 0.628, and 0.550 below 2500: a machine
 * may add 500, and any time to every tenth. Six standard deviations to either side. */
static void assert_share_of_law(size_t n)
{
	const double sd = 0.5 / sqrt((double)n);
	size_t n_below = 0;
	for (size_t i = 0; i < n; i++)
		n_below += flow[i].srtt_us < 3000;
	const double share = (double)n_below / (double)n;
	if (share < 0.550 - 0.1 - 6 * sd || share > 0.628 + 6 * sd)
		fail_msg("%.3f of %zu are below the mean", share, n);
}

/* Whoever is late makes the mean greater only. */
static void delays_follow_their_law(void **state)
{
	double least, mean;
	lab_needs(state);
	faulty_open(&rig, &by_ebpf);
	need_delays();
	add_delay("tor0->host0", 3000, TRUTH_EXPONENTIAL);
	faulty_apply(&rig, 0);
	time_flows(N_FLOWS, 3000, &least, &mean);
	assert_true(least < 1500);
	assert_true(mean > 3000 - 6 * 3000 * 0.884 / sqrt(N_FLOWS));
	assert_share_of_law(N_FLOWS);
	truth_clear(&rig.truth);
	faulty_apply(&rig, 0);
	time_flows(20, 20, &least, &mean);
	assert_true(least < 1000);
	faulty_close(&rig);
}

/* The delay ends while data is on its way. */
static void packets_keep_their_order_when_a_delay_ends(void **state)
{
	const struct netns_traffic_params usual = {0};
	struct netns_traffic *tr;
	double least, mean;
	lab_needs(state);
	faulty_open(&rig, &by_ebpf);
	need_delays();
	for (unsigned i = 0; i < 5; i++) {
		rig.n_retx = 0;
		add_delay("host0->tor0", 20000, TRUTH_CONSTANT);
		faulty_apply(&rig, 0);
		flow[0] = (struct obs_flow){.dst_host = 5,
		    .src_port = (uint16_t)(50 + i),
		    .dst_port = 2,
		    .n_pkts = 400};
		assert_ok(netns_traffic_open(&tr, rig.lab.net, &rig.lab.t, flow,
		    1, &usual, test_err()));
		const double began = lab_seconds();
		while (lab_seconds() < began + 0.09)
			faulty_step(&rig, tr, 1);
		assert_int_equal(netns_traffic_left(tr), 1);
		truth_clear(&rig.truth);
		faulty_apply(&rig, 0);
		while (netns_traffic_left(tr) > 0)
			faulty_step(&rig, tr, 1000);
		assert_int_equal(netns_traffic_end(tr, 0)->state,
		    NETNS_FLOW_DONE);
		assert_int_equal(flow[0].n_retx, 0);
		netns_traffic_close(tr);
	}
	time_flows(20, 20, &least, &mean);
	assert_true(least < 1000);
	faulty_close(&rig);
}

static void a_slow_link_that_loses_does_both(void **state)
{
	double least, mean;
	lab_needs(state);
	faulty_open(&rig, &by_ebpf);
	need_delays();
	add_delay("tor0->host0", 1000, TRUTH_CONSTANT);
	faulty_add_loss(&rig, faulty_link(&rig, "tor0->host0"), 0.1);
	faulty_apply(&rig, 0);
	time_flows(N_FLOWS, 200, &least, &mean);
	const struct netns_link_count *c =
	    &rig.count[faulty_link(&rig, "tor0->host0")];
	assert_true(least >= 1000);
	faulty_check_rate(c->n_random, c->packets, 0.1);
	faulty_close(&rig);
}

/* --- SYNs ----------------------------------------------------------------- */

static double seconds_of_a_lost_syn(const struct netns_faults_params *p)
{
	const struct netns_traffic_params usual = {0};
	struct netns_traffic *tr;
	double s;
	faulty_open(&rig, p);
	faulty_add_loss(&rig, faulty_link(&rig, "host0->tor0"), 1);
	faulty_apply(&rig, 0);
	flow[0] = (struct obs_flow){.src_host = 0,
	    .dst_host = 5,
	    .src_port = 1,
	    .dst_port = 2,
	    .n_pkts = 1};
	assert_ok(netns_traffic_open(&tr, rig.lab.net, &rig.lab.t, flow, 1,
	    &usual, test_err()));
	for (int i = 0; i < 20; i++)
		faulty_step(&rig, tr, 10);
	truth_clear(&rig.truth);
	faulty_apply(&rig, 0);
	while (netns_traffic_left(tr) > 0)
		faulty_step(&rig, tr, 1000);
	assert_int_equal(netns_traffic_end(tr, 0)->state, NETNS_FLOW_DONE);
	s = (double)netns_traffic_end(tr, 0)->end_ns * 1e-9;
	netns_traffic_close(tr);
	assert_int_equal(rig.n_retx, 1);
	assert_int_equal(rig.retx[0].host, 0);
	assert_int_equal(rig.retx[0].established, 0);
	faulty_close(&rig);
	return s;
}

static void hosts_wait_for_a_syn_ack_as_they_are_told(void **state)
{
	struct netns_faults_params p = by_ebpf;
	lab_needs(state);
	assert_near(seconds_of_a_lost_syn(&p), 1.1, 0.15);
	p.syn_timeout_s = 3;
	/* The kernel's timers of that length may be 0.26 s late at 250 Hz. */
	assert_near(seconds_of_a_lost_syn(&p), 3.2, 0.25);
}

static void fabrics_take_retransmissions_as_a_source(void **state)
{
	struct fabric_real_retx r[8];
	size_t n;
	lab_needs(state);
	faulty_open(&rig, &by_ebpf);
	struct fabric_real_retx_source s = netns_faults_retx_source(rig.f);
	assert_int_equal(s.fd, netns_faults_retx_fd(rig.f));
	faulty_add_loss(&rig, faulty_link(&rig, "host0->tor0"), 1);
	faulty_apply(&rig, 0);
	flow[0] = (struct obs_flow){.dst_host = 5,
	    .src_port = 1,
	    .dst_port = 2,
	    .n_pkts = 1};
	const struct netns_traffic_params p = {.timeout_s = 1.5};
	struct netns_traffic *tr;
	assert_ok(netns_traffic_open(&tr, rig.lab.net, &rig.lab.t, flow, 1, &p,
	    test_err()));
	while (netns_traffic_left(tr) > 0) {
		struct pollfd fd = {netns_traffic_fd(tr), POLLIN, 0};
		assert_int_equal(poll(&fd, 1, 5000), 1);
		assert_ok(netns_traffic_step(tr, test_err()));
	}
	netns_traffic_close(tr);
	assert_ok(s.read(s.arg, r, 8, &n, test_err()));
	assert_int_equal(n, 1);
	const struct topo_tuple want = faulty_tuple(&flow[0]);
	assert_memory_equal(&r[0].tuple, &want, 12);
	assert_int_equal(r[0].established, 0);
	faulty_close(&rig);
}

/* --- mistakes ------------------------------------------------------------- */

/* tor0 is to send what is for host 9 by t1.1 alone, from 3 on and until 7. */
static void routes_hold_from_their_start_to_their_end(void **state)
{
	lab_needs(state);
	faulty_open(&rig, &by_ebpf);
	const topo_link in = faulty_link(&rig, "host0->tor0");
	const topo_link by = faulty_link(&rig, "tor0->t1.1");
	struct truth_route r = {.rule = {.kind = ROUTE_RULE_LINK,
				    .first_ip = topo_addr_of_host(9),
				    .last_ip = topo_addr_of_host(9),
				    .link = by},
	    .from_ns = 3,
	    .to_ns = 7};
	unsigned n_by[3] = {0};
	assert_ok(blackhole_rule_init(&r.rule.flows, BLACKHOLE_RULE_TUPLE, 1, 0,
	    test_err()));
	assert_ok(truth_add_route(&rig.truth, &r, test_err()));
	assert_int_equal(netns_faults_next(&rig.truth, 0), 3);
	assert_int_equal(netns_faults_next(&rig.truth, 3), 7);
	for (unsigned k = 0; k < 3; k++) {
		faulty_apply(&rig, k * 3 + (k == 2));
		for (uint16_t port = 1; port <= 64; port++) {
			const struct topo_tuple t = {topo_addr_of_host(0),
			    topo_addr_of_host(9), port, 80, TOPO_PROTO_TCP};
			topo_link next;
			assert_ok(netns_next(rig.lab.net, 0, in, &t, &next,
			    test_err()));
			n_by[k] += next == by;
		}
	}
	/* All flows by one of two links: once in 10^19. */
	assert_in_range(n_by[0], 1, 63);
	assert_int_equal(n_by[1], 64);
	assert_int_equal(n_by[2], n_by[0]);
	faulty_close(&rig);
}

/* How many of N flows of host 0 to host 9, by their ports, leave switch S by
 * LINK when they came to it by IN. */
static unsigned flows_by(topo_switch s, topo_link in, topo_link link,
    unsigned n)
{
	unsigned n_by = 0;
	for (unsigned i = 0; i < n; i++) {
		const struct topo_tuple t = {topo_addr_of_host(0),
		    topo_addr_of_host(9), (uint16_t)(1000 + i), 80,
		    TOPO_PROTO_TCP};
		topo_link next;
		assert_ok(
		    netns_next(rig.lab.net, s, in, &t, &next, test_err()));
		n_by += next == link;
	}
	return n_by;
}

/* A rule for all flows to all hosts, from 0 on and until 5. */
static void add_rule_of(topo_switch at, struct route_rule rule)
{
	struct truth_route r = {.at = at, .rule = rule, .to_ns = 5};
	r.rule.last_ip = UINT32_MAX;
	assert_ok(blackhole_rule_init(&r.rule.flows, BLACKHOLE_RULE_TUPLE, 1, 0,
	    test_err()));
	assert_ok(truth_add_route(&rig.truth, &r, test_err()));
}

/* Each rule alone at tor0, which has t1.0 and t1.1 before it: the share of the
 * latter is that of the rule's own choice. Afterwards all is as it was. */
static void rules_give_next_hops_their_shares(void **state)
{
	enum { N = 2000 };
	const struct {
		struct route_rule rule;
		double want;
	} cases[] = {
	    {{.kind = ROUTE_RULE_WEIGHTS, .salt = 1, .weight = 4}, 0.8},
	    {{.kind = ROUTE_RULE_WEIGHTS, .salt = 0, .weight = 4}, 0.2},
	    {{.kind = ROUTE_RULE_WEIGHTS, .salt = 1, .weight = 0.4}, 2 / 7.0},
	    {{.kind = ROUTE_RULE_NARROW, .salt = 1, .n_left = 1}, 1},
	    {{.kind = ROUTE_RULE_NARROW, .salt = 0, .n_left = 1}, 0},
	    {{.kind = ROUTE_RULE_NARROW, .salt = 1, .n_left = 2}, 0.5},
	    {{.kind = ROUTE_RULE_SEED, .salt = 99}, 0.5},
	    {{.kind = ROUTE_RULE_BITS, .bits = 8}, -1},
	    {{.kind = ROUTE_RULE_BITS, .bits = 0}, -1},
	};
	lab_needs(state);
	faulty_open(&rig, &by_ebpf);
	const topo_link in = faulty_link(&rig, "host0->tor0");
	const topo_link by = faulty_link(&rig, "tor0->t1.1");
	const unsigned before = flows_by(0, in, by, N);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct route_rule *rule = &cases[i].rule;
		double want = cases[i].want;
		add_rule_of(0, *rule);
		faulty_apply(&rig, 0);
		if (want < 0) {
			/* All digests of so few bits, through the choice. */
			struct route_choice c =
			    route_choice(netns_seed(rig.lab.net, 0), 0, 2);
			want = 0;
			for (uint32_t d = 0; d < 1U << rule->bits; d++) {
				c.digest = d;
				want += route_choice_pick(&c);
			}
			want /= 1U << rule->bits;
		}
		const unsigned n = flows_by(0, in, by, N);
		print_message("time: rule %d: %u of %d, %.3f wanted\n",
		    rule->kind, n, N, want);
		faulty_check_rate(n, N, want);
		faulty_apply(&rig, 5);
		assert_int_equal(flows_by(0, in, by, N), before);
		truth_clear(&rig.truth);
	}
	faulty_close(&rig);
}

/* With one seed everywhere, a T1 sends all that a ToR sent it to one T2. */
static void one_seed_for_all_is_polarisation(void **state)
{
	enum { N = 500 };
	unsigned n_left = 0;
	lab_needs(state);
	faulty_open(&rig, &by_ebpf);
	const topo_link in = faulty_link(&rig, "host0->tor0");
	const topo_link up = faulty_link(&rig, "tor0->t1.0");
	const topo_link by = faulty_link(&rig, "t1.0->t2.0");
	topo_node from, to;
	topo_link_ends(&rig.lab.t, up, &from, &to);
	const topo_switch t1 = to - rig.lab.t.n_hosts;
	for (topo_switch s = 0; s < rig.lab.t.n_switches; s++)
		add_rule_of(s,
		    (struct route_rule){.kind = ROUTE_RULE_SEED, .salt = 99});
	for (unsigned k = 0; k < 2; k++) {
		unsigned n = 0, n_by = 0;
		faulty_apply(&rig, k ? 0 : 5);
		for (uint16_t port = 1; port <= N; port++) {
			const struct topo_tuple t = {topo_addr_of_host(0),
			    topo_addr_of_host(9), port, 80, TOPO_PROTO_TCP};
			topo_link next;
			assert_ok(netns_next(rig.lab.net, 0, in, &t, &next,
			    test_err()));
			if (next != up)
				continue;
			n++;
			assert_ok(netns_next(rig.lab.net, t1, up, &t, &next,
			    test_err()));
			n_by += next == by;
		}
		print_message("time: %u of %u flows by t2.0\n", n_by, n);
		/* Half of N, within an exact interval; and of these half, or
		 * all or none. */
		faulty_check_rate(n, N, 0.5);
		if (k == 0)
			faulty_check_rate(n_by, n, 0.5);
		else
			n_left = n_by < n - n_by ? n_by : n - n_by;
	}
	assert_int_equal(n_left, 0);
	faulty_close(&rig);
}

static void mistakes_are_told_and_change_nothing(void **state)
{
	const struct truth_fault nowhere = {.link = 64, .rate = 1};
	const struct truth_hole none = {.at = 12};
	const struct truth_route route = {.at = 3, .to_ns = SIM_NEVER};
	struct truth_route own = {.rule = {.kind = ROUTE_RULE_LINK,
				      .first_ip = topo_addr_of_host(0),
				      .last_ip = topo_addr_of_host(0)},
	    .to_ns = SIM_NEVER};
	struct netns_faults_params p = by_ebpf;
	struct sim_err e;
	lab_needs(state);
	faulty_open(&rig, &by_ebpf);
	assert_ok(truth_add_fault(&rig.truth, &nowhere, test_err()));
	assert_int_equal(netns_faults_apply(rig.f, &rig.loss, 0, &e),
	    SIM_ERANGE);
	assert_string_equal(e.msg,
	    "A fault is on link 64, but the network has links 0 to 63.");
	truth_clear(&rig.truth);
	assert_ok(truth_add_hole(&rig.truth, &none, test_err()));
	assert_int_equal(netns_faults_apply(rig.f, &rig.loss, 0, &e),
	    SIM_ERANGE);
	truth_clear(&rig.truth);
	assert_ok(truth_add_route(&rig.truth, &route, test_err()));
	assert_int_equal(netns_faults_apply(rig.f, &rig.loss, 0, &e),
	    SIM_EUNSUPPORTED);
	assert_string_equal(e.msg,
	    "Switch 3 is to choose next hops by a rule for a share of the "
	    "flows; a kernel has rules for all flows to a host.");
	truth_clear(&rig.truth);
	assert_ok(blackhole_rule_init(&own.rule.flows, BLACKHOLE_RULE_TUPLE, 1,
	    0, test_err()));
	assert_ok(truth_add_route(&rig.truth, &own, test_err()));
	assert_int_equal(netns_faults_apply(rig.f, &rig.loss, 0, &e),
	    SIM_EUNSUPPORTED);
	assert_string_equal(e.msg,
	    "Switch 0 is to send packets for host0, its own, elsewhere; a "
	    "kernel cannot.");
	truth_clear(&rig.truth);
	for (int i = 0; i < 65; i++)
		add_hole("host0->tor0", BLACKHOLE_RULE_PAIR, 0.1, (uint64_t)i);
	for (int i = 0; i < 65; i++)
		rig.truth.hole[i].from_ns = 9;
	assert_int_equal(netns_faults_apply(rig.f, &rig.loss, 9, &e),
	    SIM_ELIMIT);
	faulty_apply(&rig, 8);
	run(20, 2, 0, 8);
	faulty_close(&rig);

	faulty_open(&rig, &by_nft);
	add_delay("tor0->host0", 100, TRUTH_CONSTANT);
	assert_int_equal(netns_faults_apply(rig.f, &rig.loss, 0, &e),
	    SIM_EUNSUPPORTED);
	p.syn_timeout_s = -1;
	struct netns_faults *f;
	assert_int_equal(netns_faults_open(&f, rig.lab.net, &rig.lab.t, &p, &e),
	    SIM_ERANGE);
	assert_null(f);
	faulty_close(&rig);
}

static void nft_tells_what_it_does_not_know(void **state)
{
	struct netns_drop *list = NULL, one = {.link = 0};
	struct netns_audit audit[NETNS_AUDIT_MAX];
	struct netns_retx retx[1];
	size_t cap = 0, n;
	struct sim_err e;
	lab_needs(state);
	faulty_open(&rig, &by_nft);
	const struct netns_faults_caps *c = netns_faults_caps(rig.f);
	assert_int_equal(c->by, NETNS_FAULTS_NFT);
	assert_false(c->exact_holes || c->repeatable_loss || c->delay ||
	    c->drops || c->retx || c->audit);
	assert_int_equal(netns_faults_retx_fd(rig.f), -1);
	assert_int_equal(netns_faults_delay_fd(rig.f), -1);
	assert_int_equal(netns_faults_drops(rig.f, &list, &cap, &n, &e),
	    SIM_EUNSUPPORTED);
	assert_int_equal(netns_faults_drop_of(rig.f, &one, &e),
	    SIM_EUNSUPPORTED);
	assert_int_equal(netns_faults_audit(rig.f, audit, &n, &e),
	    SIM_EUNSUPPORTED);
	assert_int_equal(netns_faults_retx_read(rig.f, retx, 1, &n, &e),
	    SIM_EUNSUPPORTED);
	faulty_close(&rig);
}

/* --- memory --------------------------------------------------------------- */

static int use_all(void *arg, struct sim_err *e)
{
	const struct netns_faults_params *p = arg;
	const struct netns_traffic_params usual = {0};
	static struct netns_link_count count[FAULTY_MAX_LINKS];
	struct netns_traffic *tr = NULL;
	struct netns_faults *f = NULL;
	struct netns_drop *list = NULL;
	size_t cap = 0, n;
	int rc;
	if ((rc = netns_faults_open(&f, rig.lab.net, &rig.lab.t, p, e)) == 0 &&
	    (rc = netns_faults_apply(f, &rig.loss, 0, e)) == 0 &&
	    (rc = netns_traffic_open(&tr, rig.lab.net, &rig.lab.t, flow, 3,
		 &usual, e)) == 0 &&
	    (rc = netns_faults_count(f, count, e)) == 0 &&
	    p->by == NETNS_FAULTS_EBPF)
		rc = netns_faults_drops(f, &list, &cap, &n, e);
	free(list);
	netns_traffic_close(tr);
	netns_faults_close(f);
	return rc;
}

static void failed_allocations_leave_nothing(void **state)
{
	struct netns_faults_params p = by_ebpf;
	lab_needs(state);
	faulty_open(&rig, &by_ebpf);
	netns_faults_close(rig.f);
	faulty_draw(&rig, flow, 3, 1, 0, 1);
	add_hole("host0->tor0", BLACKHOLE_RULE_PAIR, 0.5, 1);
	add_delay("tor0->host0", 100, TRUTH_CONSTANT);
	faulty_add_loss(&rig, 7, 0.5);
	truth_sort(&rig.truth);
	p.max_drops = 100;
	test_each_alloc_fails(use_all, &p);
	rig.f = NULL;
	faulty_close(&rig);
}

/* A process a node each time, so of a rack of two hosts alone. */
static void failed_allocations_leave_nothing_by_nft(void **state)
{
	const struct topo_clos rack = {.n_pods = 1, .n_tors = 1, .n_hosts = 2};
	struct netns_faults_params p = by_nft;
	lab_needs(state);
	faulty_open(&rig, &by_nft);
	faulty_close(&rig);
	lab_open(&rig.lab, &rack, 1);
	for (int i = 0; i < 3; i++)
		flow[i] = (struct obs_flow){.dst_host = 1,
		    .src_port = (uint16_t)(1 + i),
		    .dst_port = 80,
		    .n_pkts = 1};
	add_hole("host0->tor0", BLACKHOLE_RULE_PAIR, 0.5, 1);
	faulty_add_loss(&rig, 3, 1);
	test_each_alloc_fails(use_all, &p);
	rig.f = NULL;
	faulty_close(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_link_loses_its_rate_and_no_other_link_does),
	    cmocka_unit_test(a_link_loses_its_rate_by_nft),
	    cmocka_unit_test(noise_is_on_all_links_without_a_fault),
	    cmocka_unit_test(a_hole_swallows_what_its_rule_says),
	    cmocka_unit_test(a_hole_swallows_its_share_by_nft),
	    cmocka_unit_test(a_hole_of_all_keys_passes_icmp),
	    cmocka_unit_test(faults_hold_from_their_start_to_their_end),
	    cmocka_unit_test(faults_hold_from_their_start_to_their_end_by_nft),
	    cmocka_unit_test(
		a_healthy_network_sends_nothing_again_and_drops_nothing),
	    cmocka_unit_test(a_closed_fault_is_no_more),
	    cmocka_unit_test(a_slow_link_delays_by_its_time),
	    cmocka_unit_test(delays_follow_their_law),
	    cmocka_unit_test(packets_keep_their_order_when_a_delay_ends),
	    cmocka_unit_test(a_slow_link_that_loses_does_both),
	    cmocka_unit_test(hosts_wait_for_a_syn_ack_as_they_are_told),
	    cmocka_unit_test(fabrics_take_retransmissions_as_a_source),
	    cmocka_unit_test(routes_hold_from_their_start_to_their_end),
	    cmocka_unit_test(rules_give_next_hops_their_shares),
	    cmocka_unit_test(one_seed_for_all_is_polarisation),
	    cmocka_unit_test(mistakes_are_told_and_change_nothing),
	    cmocka_unit_test(nft_tells_what_it_does_not_know),
	    cmocka_unit_test(failed_allocations_leave_nothing),
	    cmocka_unit_test(failed_allocations_leave_nothing_by_nft),
	};
	return cmocka_run_group_tests_name("models/netns/faults", tests,
	    lab_begin, NULL);
}
