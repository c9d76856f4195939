/* tests/real/everflow_live_test.c -- Everflow finds what is broken in a kernel.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/everflow/live.h"

#include "experiments/everflow/truth.h"
#include "experiments/lab/lab.h"
#include "experiments/spec/plane.h"
#include "tests/real/faulty.h"
#include "tests/real/lab.h"
#include "tests/rigs/spec_file.h"
#include "topo/addr.h"

#define HEAD                                                                   \
	"figure: f\nplane: everflow\n"                                         \
	"topology: {n_pods: 2, n_tors: 3, n_t1: 2, n_t2: 2, n_hosts: 2}\n"     \
	"noise: {rate: 0}\nalgorithms: [vote]\n"
#define TRAFFIC "traffic: {conns: 50, packets: {uniform: [1, 20]}, epoch: 2}\n"

struct rig {
	struct xp_spec s;
	struct xp_config c;
	struct topo topo;
	struct scene scene;
	struct xp_live *l;
	struct obs_flow *flow;
	size_t n_flows, cap_flows;
	struct xp_live_seen seen;
};

static void rig_open(struct rig *r, void **state, const char *text)
{
	struct netns_params p;
	struct xp_wire *w;
	lab_needs(state);
	*r = (struct rig){.l = NULL};
	spec_open(&r->s, text);
	assert_ok(xp_spec_point(&r->s, 0, &r->c, test_err()));
	assert_ok(xp_topology_open(&r->c.topology, ".", &r->topo, test_err()));
	assert_ok(sim_field_defaults(netns_fields, &p, test_err()));
	p.ecmp_seed = 7;
	assert_ok(xp_wire_open_netns(&w, &r->topo, &p, NETNS_FAULTS_EBPF,
	    test_err()));
	w->timeout_s = 10;
	assert_ok(xp_live_open(&r->l, w, xp_everflow_of(&r->c), test_err()));
}

static void rig_close(struct rig *r)
{
	xp_live_close(r->l);
	scene_free(&r->scene);
	topo_close(&r->topo);
	xp_config_free(&r->c);
	xp_spec_free(&r->s);
	free(r->flow);
}

static void hear(void *arg, const struct xp_said *said)
{
	const struct rig *r = arg;
	const struct algo_finding *f = &said->finding;
	char link[64] = "-", node[64] = "-";
	if (f->link != TOPO_NONE)
		topo_link_name(&r->topo, f->link, link);
	if (f->node != TOPO_NONE)
		topo_node_name(&r->topo, f->node, node);
	print_message("time: %.2f s: %s, link %s, node %s, rate %.3f [%.3f, "
		      "%.3f], excess %.0f us\n",
	    1e-9 * (double)said->at, algo_cause_words[f->cause], link, node,
	    f->rate, f->lo, f->hi, f->excess_us);
}

static void skip_if_refused(struct rig *r, int rc)
{
	if (rc != SIM_EUNSUPPORTED)
		return;
	print_message("reason: %s\n", test_err()->msg);
	rig_close(r);
	skip();
}

/* Until MOST findings are made, or time is up. */
static void rig_run(struct rig *r, size_t most)
{
	const struct sim_seed where = {.seed = test_seed()};
	const struct xp_live_ear ear = {r, hear};
	assert_ok(
	    scene_draw(&r->scene, &r->topo, &r->c.scene, &where, test_err()));
	assert_ok(xp_lab_flows(&r->flow, &r->cap_flows, &r->n_flows, &r->scene,
	    test_err()));
	const int rc = xp_live_run(r->l, &r->scene, r->flow, r->n_flows, most,
	    &ear, &r->seen, test_err());
	skip_if_refused(r, rc);
	assert_ok(rc);
	assert_int_equal(r->seen.analyzed.n_copies, r->seen.copies->n);
}

/* --- where nothing is broken ---------------------------------------------- */

/* SYNs, resets and all else of whole connections: each has its trace, and each
 * trace is whole; nobody says anything. */
static void a_healthy_network_gives_whole_traces(void **state)
{
	static struct rig r;
	size_t n_complete = 0, n_syns = 0;
	rig_open(&r, state,
	    HEAD TRAFFIC "everflow: {rules: [control, debug], debug: [drop, "
			 "latency], settle: 3, analyzer: {store_all: true}}\n");
	rig_run(&r, 0);
	const struct algo_traces *t = &r.seen.traces->traces;
	for (size_t i = 0; i < t->n; i++) {
		if (t->marks[i] & ALGO_TRACE_PROBE)
			continue;
		n_complete += (t->marks[i] & ALGO_TRACE_COMPLETE) != 0;
		n_syns +=
		    (t->flags[i] & (OBS_TCP_SYN | OBS_TCP_ACK)) == OBS_TCP_SYN;
		assert_false(
		    t->marks[i] & (ALGO_TRACE_LOOP | ALGO_TRACE_DROPS));
	}
	print_message("time: %zu copies, %zu traces, %zu complete, %zu SYNs of "
		      "%zu flows, %zu probes\n",
	    r.seen.copies->n, t->n, n_complete, n_syns, r.n_flows,
	    r.seen.sent->n);
	assert_int_equal(r.seen.n_said, 0);
	assert_int_equal(n_syns, r.n_flows);
	assert_int_equal(r.seen.n_other, 0);
	rig_close(&r);
}

/* --- load balancers ------------------------------------------------------- */

#define BALANCED                                                               \
	"everflow: {rules: [control, debug], debug: [drop, loop], settle: 3, " \
	"analyzer: {store_all: true}, conn: {vip_share: 0.5}, slb: {vips: 3, " \
	"muxes: 2}}\n"

/* The muxes that the run will have. */
static struct packet_mux muxes_of(struct rig *r)
{
	const struct sim_seed where = {.seed = test_seed()};
	struct packet_mux m;
	assert_ok(packet_mux_init(&m, &r->topo, &xp_everflow_of(&r->c)->slb,
	    &where, test_err()));
	return m;
}

/* Each SYN to a virtual address has one trace, whole, from the client's ToR to
 * the server's: bare, then within the mux's header. */
static size_t check_balanced_syns(const struct rig *r)
{
	const struct algo_traces *t = &r->seen.traces->traces;
	const struct algo_hops *h = &r->seen.traces->hops;
	const uint32_t need =
	    ALGO_TRACE_MUX | ALGO_TRACE_ENCAP | ALGO_TRACE_COMPLETE;
	size_t n = 0;
	for (size_t i = 0; i < t->n; i++) {
		const topo_host from =
		    topo_addr_to_host(t->src_ip[i], r->topo.n_hosts);
		assert_false(
		    t->marks[i] & (ALGO_TRACE_LOOP | ALGO_TRACE_DROPS));
		if (!topo_addr_is_vip(t->dst_ip[i]) ||
		    (t->flags[i] & (OBS_TCP_SYN | OBS_TCP_ACK)) != OBS_TCP_SYN)
			continue;
		const size_t first = t->hop_off[i],
			     last = first + t->n_hops[i] - 1;
		const topo_host to =
		    topo_addr_to_host(h->outer_dst[last], r->topo.n_hosts);
		assert_int_equal(t->marks[i] & need, need);
		assert_int_equal(h->node[first], topo_tor_of(&r->topo, from));
		assert_int_equal(h->node[last], topo_tor_of(&r->topo, to));
		n++;
	}
	return n;
}

static void paths_through_a_mux_are_one_trace(void **state)
{
	static struct rig r;
	size_t n_vip = 0, n_own = 0;
	uint64_t n_wrapped = 0, n_unwrapped = 0;
	rig_open(&r, state, HEAD TRAFFIC BALANCED);
	rig_run(&r, 0);
	const struct packet_mux law = muxes_of(&r);
	for (size_t i = 0; i < r.n_flows; i++) {
		assert_int_equal(r.seen.end[i].state, NETNS_FLOW_DONE);
		n_own += r.flow[i].src_host == r.flow[i].dst_host;
	}
	for (topo_host h = 0; h < r.topo.n_hosts; h++) {
		n_wrapped += r.seen.balanced[h].n_wrapped;
		n_unwrapped += r.seen.balanced[h].n_unwrapped;
		assert_true(r.seen.balanced[h].n_wrapped == 0 ||
		    h == law.mux[0] || h == law.mux[1]);
	}
	n_vip = check_balanced_syns(&r);
	print_message("time: %zu of %zu connections go through a mux, %zu to "
		      "their own host; %llu packets wrapped, %llu unwrapped\n",
	    n_vip, r.n_flows, n_own, (unsigned long long)n_wrapped,
	    (unsigned long long)n_unwrapped);
	/* 600 coins: outside of this once in 10^15. */
	assert_in_range(n_vip, 200, 400);
	assert_int_equal(n_wrapped, n_unwrapped);
	assert_int_equal(r.seen.n_said, 0);
	assert_int_equal(r.seen.n_other, 0);
	rig_close(&r);
}

/* Packets that took at least LEAST_NS through a mux, and all that did. */
static void count_muxed(const struct rig *r, const struct packet_mux *law,
    uint64_t least_ns, double *n, double *all)
{
	const struct algo_counters *c = r->seen.counters;
	*n = *all = 0;
	for (size_t i = 0; i < c->n; i++) {
		if (c->kind[i] != ALGO_COUNTER_MUX_LATENCY)
			continue;
		assert_true(c->id[i] == law->mux[0] || c->id[i] == law->mux[1]);
		*all += c->value[i];
		if (algo_latency_bin_ns(c->sub[i]) > least_ns)
			*n += c->value[i];
	}
}

/* What a mux takes is counted for it: the kernel's own time, some 20 us, and with
 * 2 ms on the links into both muxes that more. */
static void the_time_of_a_mux_is_measured(void **state)
{
	static struct rig r;
	char text[2048];
	double n, all;
	rig_open(&r, state, HEAD TRAFFIC BALANCED);
	rig_run(&r, 0);
	const struct packet_mux law = muxes_of(&r);
	count_muxed(&r, &law, 2000000, &n, &all);
	print_message("time: %.0f of %.0f packets took 2 ms\n", n, all);
	assert_true(all > 200 && n < all / 10);
	snprintf(text, sizeof(text),
	    HEAD TRAFFIC BALANCED
	    "faults: {kind: latency, links: [tor%u->host%u, tor%u->host%u], "
	    "delay: 2000}\n",
	    topo_tor_of(&r.topo, law.mux[0]), law.mux[0],
	    topo_tor_of(&r.topo, law.mux[1]), law.mux[1]);
	rig_close(&r);
	rig_open(&r, state, text);
	rig_run(&r, 0);
	count_muxed(&r, &law, 2000000, &n, &all);
	print_message("time: %.0f of %.0f packets took 2 ms\n", n, all);
	assert_true(all > 200 && n == all);
	rig_close(&r);
}

/* --- where something is --------------------------------------------------- */

/* Copies are here at once, and what was lost of a handshake is sent again after
 * a second. */
#define FIND(debug, s)                                                         \
	"everflow: {rules: [control, debug], debug: [" debug                   \
	"], debug_every: 0.1, settle: " s                                      \
	", analyzer: {t_ms: 50, confirm_ms: "                                  \
	"1500, store_all: true}, drop: {n_tuple: 50, interval_ms: 5}, "        \
	"latency: {n_probes: 60, interval_ms: 10}, prober: {host_per_s: "      \
	"1000, target_per_s: 200}}\n"

/* The first finding, of whatever debugger. */
static const struct algo_finding *found(struct rig *r, void **state,
    const char *text)
{
	rig_open(r, state, text);
	rig_run(r, 1);
	assert_true(r->seen.n_said > 0);
	return &r->seen.said[0].finding;
}

static topo_link link_of(const struct rig *r, const char *name)
{
	topo_link l;
	assert_ok(topo_link_parse(&r->topo, name, &l, test_err()));
	return l;
}

static void a_silent_drop_is_named_with_its_link(void **state)
{
	static struct rig r;
	const struct algo_finding *f = found(&r, state,
	    HEAD TRAFFIC FIND("drop",
		"60") "faults: {links: [t1.0->tor1], rate: 0.05}\n");
	assert_int_equal(f->cause, ALGO_CAUSE_RANDOM);
	assert_int_equal(f->link, link_of(&r, "t1.0->tor1"));
	assert_true(f->lo <= 0.05 && f->hi >= 0.05);
	rig_close(&r);
}

/* What kind it is stands once all probes have come, so the run goes on to its
 * end. */
static void hole_is_told(struct rig *r, void **state, const char *text,
    enum algo_cause cause)
{
	rig_open(r, state, text);
	rig_run(r, 0);
	assert_true(r->seen.n_standing > 0);
	for (size_t i = 0; i < r->seen.n_standing; i++) {
		assert_int_equal(r->seen.standing[i].cause, cause);
		assert_int_equal(r->seen.standing[i].node, r->topo.n_hosts + 1);
	}
	rig_close(r);
}

static void black_holes_are_told_apart(void **state)
{
	static struct rig r;
	hole_is_told(&r, state,
	    HEAD TRAFFIC FIND("drop",
		"8") "faults: {kind: black_hole_1, at: [tor1], "
		     "entries: 0.2}\n",
	    ALGO_CAUSE_BLACK_HOLE_1);
	hole_is_told(&r, state,
	    HEAD TRAFFIC FIND("drop",
		"8") "faults: {kind: black_hole_2, at: [tor1], "
		     "entries: 0.2}\n",
	    ALGO_CAUSE_BLACK_HOLE_2);
}

/* On a loaded machine some other link may be slow now and then by a little: the
 * one that is named as slowest is meant. */
static void a_slow_link_is_named(void **state)
{
	static struct rig r;
	const struct algo_finding *f = found(&r, state,
	    HEAD TRAFFIC FIND("latency",
		"60") "faults: {kind: latency, links: [tor1->t1.1], delay: "
		      "200}\n");
	for (size_t i = 1; i < r.seen.n_said; i++)
		if (r.seen.said[i].finding.excess_us > f->excess_us)
			f = &r.seen.said[i].finding;
	assert_int_equal(f->cause, ALGO_CAUSE_LATENCY);
	assert_true(f->link == link_of(&r, "tor1->t1.1") ||
	    f->link == link_of(&r, "t1.1->tor1"));
	assert_true(f->excess_us >= 190);
	rig_close(&r);
}

/* tor3 and t1.2 of the other pod send what is for host 2 to each other. */
static void a_loop_is_named(void **state)
{
	static struct rig r;
	const struct algo_finding *f = found(&r, state,
	    HEAD TRAFFIC FIND("loop",
		"60") "faults: {kind: reroute, links: [tor3->t1.2, "
		      "t1.2->tor3], prefix: 10.0.0.3/32}\n");
	assert_int_equal(f->cause, ALGO_CAUSE_LOOP);
	assert_int_equal(f->n_cycle, 2);
	for (unsigned i = 0; i < 2; i++) {
		char name[64];
		topo_node_name(&r.topo, f->cycle[i], name);
		assert_true(
		    strcmp(name, "tor3") == 0 || strcmp(name, "t1.2") == 0);
	}
	rig_close(&r);
}

/* Host 5 sends back what muxes send it. Its ToR is on the cycle, and its cable is
 * where to cut. Returns how long after the fault that is said. */
static sim_ns loop_of_mux_takes(void **state)
{
	static struct rig r;
	sim_ns since = 0;
	const struct algo_finding *f = found(&r, state,
	    HEAD TRAFFIC
	    "everflow: {rules: [control, debug], debug: [loop], debug_every: "
	    "0.1, settle: 60, analyzer: {t_ms: 50, store_all: true}, conn: "
	    "{vip_share: 0.5}, slb: {vips: 1}}\n"
	    "faults: {kind: mux_loop, at: [host5]}\n");
	assert_int_equal(f->cause, ALGO_CAUSE_MUX_LOOP);
	assert_int_equal(xp_everflow_worth(&r.scene, xp_everflow_of(&r.c), f,
			     &since),
	    XP_WORTH_RIGHT);
	assert_int_equal(f->node, 5);
	assert_int_equal(f->link, link_of(&r, "tor2->host5"));
	assert_true(r.seen.balanced[5].n_returned > 0);
	for (topo_host h = 0; h < r.topo.n_hosts; h++)
		assert_true(h == 5 || r.seen.balanced[h].n_returned == 0);
	const sim_ns took = r.seen.said[0].at - since;
	rig_close(&r);
	return took;
}

/* It takes some 0.2 s. A machine that has too much else to do may let it wait:
 * the best of three counts. */
static void a_loop_through_a_mux_is_named(void **state)
{
	sim_ns took = SIM_NEVER;
	for (unsigned i = 0; i < 3 && took >= 2 * SIM_SEC; i++)
		took = loop_of_mux_takes(state);
	assert_true(took < 2 * SIM_SEC);
}

/* --- copies over the network ---------------------------------------------- */

enum { ANALYZERS_AT = 11 };

/* A sum over all SYNs to virtual addresses and others: whence, whither, and by
 * which switches within which headers; and their number. */
static uint64_t sum_of_syns(const struct rig *r, size_t *n)
{
	const struct algo_traces *t = &r->seen.traces->traces;
	const struct algo_hops *h = &r->seen.traces->hops;
	uint64_t sum = *n = 0;
	for (size_t i = 0; i < t->n; i++) {
		if ((t->flags[i] & (OBS_TCP_SYN | OBS_TCP_ACK)) != OBS_TCP_SYN)
			continue;
		uint32_t x = topo_mix32(t->src_ip[i] ^
		    topo_mix32(t->dst_ip[i] ^
			((uint32_t)t->src_port[i] << 16 | t->dst_port[i])));
		for (size_t k = t->hop_off[i]; k < t->hop_off[i] + t->n_hops[i];
		     k++)
			x = topo_mix32(x + h->node[k] * 4u + h->layer[k] +
			    (h->in_link[k] << 16) + h->ttl[k] * 256u);
		sum += x;
		++*n;
	}
	return sum;
}

/* Of the same connections the same copies come by both carriers, whoever they
 * are shared among; of 600 of them both directions to one analyzer, or none would
 * be whole. */
static void both_carriers_bring_the_same(void **state)
{
	static struct rig r;
	uint64_t sum[3];
	size_t n[3], n_copies[3];
	for (unsigned i = 0; i < 3; i++) {
		rig_open(&r, state,
		    i == 2 ? HEAD TRAFFIC
			"everflow: {rules: [control], debug: [drop, loop], "
			"analyzers: 3, settle: 1, analyzer: {store_all: "
			"true}, conn: {vip_share: 0.5}, slb: {vips: 3}}\n"
			   : HEAD TRAFFIC
			"everflow: {rules: [control], debug: [drop, loop], "
			"settle: 1, analyzer: {store_all: true}, conn: "
			"{vip_share: 0.5}, slb: {vips: 3}}\n");
		xp_live_collect(r.l, i == 0 ? TOPO_NONE : ANALYZERS_AT);
		rig_run(&r, 0);
		sum[i] = sum_of_syns(&r, &n[i]);
		n_copies[i] = r.seen.copies->n;
		check_balanced_syns(&r);
		assert_int_equal(r.seen.n_said, 0);
		assert_int_equal(r.seen.n_other, 0);
		assert_int_equal(n[i], r.n_flows);
		assert_int_equal(sum[i], sum[0]);
		rig_close(&r);
	}
	print_message("time: %zu copies by the ring, %zu and %zu over the "
		      "network\n",
	    n_copies[0], n_copies[1], n_copies[2]);
}

/* What stands first, by either carrier. */
static void same_by_both(void **state, const char *text)
{
	static struct rig r;
	struct algo_finding f[2];
	for (unsigned i = 0; i < 2; i++) {
		rig_open(&r, state, text);
		xp_live_collect(r.l, i == 0 ? TOPO_NONE : ANALYZERS_AT);
		rig_run(&r, 1);
		assert_true(r.seen.n_said > 0);
		f[i] = r.seen.said[0].finding;
		rig_close(&r);
	}
	assert_int_equal(f[0].cause, f[1].cause);
	assert_int_equal(f[0].link, f[1].link);
	assert_int_equal(f[0].node, f[1].node);
	assert_int_equal(f[0].n_cycle, f[1].n_cycle);
}

/* The faults are in the other pod, so that the copies' own way is whole. */
static void both_carriers_show_the_same_findings(void **state)
{
	same_by_both(state,
	    HEAD TRAFFIC FIND("drop",
		"60") "faults: {links: [t1.0->tor1], rate: 0.05}\n");
	same_by_both(state,
	    HEAD TRAFFIC FIND("loop",
		"60") "faults: {kind: reroute, links: [tor3->t1.2, "
		      "t1.2->tor3], prefix: 10.0.0.3/32}\n");
	same_by_both(state,
	    HEAD TRAFFIC
	    "everflow: {rules: [control, debug], debug: [loop], debug_every: "
	    "0.1, settle: 60, analyzers: 2, analyzer: {t_ms: 50, store_all: "
	    "true}, conn: {vip_share: 0.5}, slb: {vips: 1}}\n"
	    "faults: {kind: mux_loop, at: [host5]}\n");
}

static void analyzers_at_no_host_are_refused(void **state)
{
	const struct sim_seed where = {.seed = test_seed()};
	static struct rig r;
	rig_open(&r, state,
	    HEAD TRAFFIC "everflow: {rules: [control], settle: 0}\n");
	xp_live_collect(r.l, 12);
	assert_ok(
	    scene_draw(&r.scene, &r.topo, &r.c.scene, &where, test_err()));
	const int rc =
	    xp_live_run(r.l, &r.scene, NULL, 0, 0, NULL, &r.seen, test_err());
	skip_if_refused(&r, rc);
	assert_int_equal(rc, SIM_ERANGE);
	assert_string_equal(test_err()->msg,
	    "Analyzers are to be at host 12, but the network has hosts 0 to "
	    "11.");
	rig_close(&r);
}

/* --- uneven spreading ----------------------------------------------------- */

/* Four next hops and enough flows of each that the cause shows. */
#define UNEVEN                                                                 \
	"figure: f\nplane: everflow\n"                                         \
	"topology: {n_pods: 2, n_tors: 2, n_t1: 4, n_t2: 4, n_hosts: 2}\n"     \
	"noise: {rate: 0}\nalgorithms: [vote]\n"                               \
	"traffic: {conns: 400, packets: 2, epoch: 3}\n"                        \
	"everflow: {rules: [control, debug], debug: [ecmp], settle: 1, "       \
	"analyzer: {store_all: true}}\n"

/* What stands at the end. */
static void ecmp_run(struct rig *r, void **state, const char *faults)
{
	char text[2048];
	snprintf(text, sizeof(text), UNEVEN "%s", faults);
	rig_open(r, state, text);
	rig_run(r, 0);
}

static void standing_are(const struct rig *r, enum algo_cause cause,
    const char *at)
{
	char name[64];
	assert_true(r->seen.n_standing > 0);
	for (size_t i = 0; i < r->seen.n_standing; i++) {
		const struct algo_finding *f = &r->seen.standing[i];
		topo_node_name(&r->topo, f->node, name);
		print_message("time: %s, node %s, rate %.3f [%.3f, %.3f]\n",
		    algo_cause_words[f->cause], name, f->rate, f->lo, f->hi);
		assert_int_equal(f->cause, cause);
		if (at)
			assert_string_equal(name, at);
	}
}

static void an_even_network_is_not_accused(void **state)
{
	static struct rig r;
	ecmp_run(&r, state, "");
	assert_int_equal(r.seen.n_standing, 0);
	rig_close(&r);
}

static void weights_are_named_with_their_switch(void **state)
{
	static struct rig r;
	ecmp_run(&r, state, "faults: {kind: weights, at: [tor1], weight: 3}\n");
	standing_are(&r, ALGO_CAUSE_WEIGHTS, "tor1");
	rig_close(&r);
}

/* One of tor1's four next hops is not used for hosts 4 to 6. */
static void a_narrowed_prefix_is_named_with_its_switch(void **state)
{
	static struct rig r;
	ecmp_run(&r, state,
	    "faults: {kind: narrow, at: [tor1], left: 3, prefix: "
	    "10.0.0.4/30}\n");
	standing_are(&r, ALGO_CAUSE_NARROWED, "tor1");
	rig_close(&r);
}

static void one_seed_is_named_polarisation(void **state)
{
	static struct rig r;
	ecmp_run(&r, state, "faults: {kind: hash, hash: seed}\n");
	standing_are(&r, ALGO_CAUSE_POLARISED, NULL);
	rig_close(&r);
}

static void few_bits_are_named_with_their_switch(void **state)
{
	static struct rig r;
	ecmp_run(&r, state,
	    "faults: {kind: hash, hash: bits, bits: 2, at: [tor1]}\n");
	standing_are(&r, ALGO_CAUSE_HASH_BITS, "tor1");
	rig_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_healthy_network_gives_whole_traces),
	    cmocka_unit_test(paths_through_a_mux_are_one_trace),
	    cmocka_unit_test(the_time_of_a_mux_is_measured),
	    cmocka_unit_test(a_silent_drop_is_named_with_its_link),
	    cmocka_unit_test(black_holes_are_told_apart),
	    cmocka_unit_test(a_slow_link_is_named),
	    cmocka_unit_test(a_loop_is_named),
	    cmocka_unit_test(a_loop_through_a_mux_is_named),
	    cmocka_unit_test(both_carriers_bring_the_same),
	    cmocka_unit_test(both_carriers_show_the_same_findings),
	    cmocka_unit_test(analyzers_at_no_host_are_refused),
	    cmocka_unit_test(an_even_network_is_not_accused),
	    cmocka_unit_test(weights_are_named_with_their_switch),
	    cmocka_unit_test(a_narrowed_prefix_is_named_with_its_switch),
	    cmocka_unit_test(one_seed_is_named_polarisation),
	    cmocka_unit_test(few_bits_are_named_with_their_switch),
	};
	return cmocka_run_group_tests_name("experiments/everflow/live", tests,
	    lab_begin_with_folder, spec_folder_remove);
}
