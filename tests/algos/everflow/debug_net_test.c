/* tests/algos/everflow/debug_net_test.c -- debuggers in a simulated network.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Faults are injected into a small network, and connections, mirrors, analyzer,
 * debugger and probers do what they do. The shares that are asked for are below
 * those that were seen (seeds are fixed). EVERFLOW_RUNS=n has n runs of each,
 * EVERFLOW_TEST=pattern some tests alone. Those that take seconds have LONG runs:
 * a mistake that spoils half of all networks passes 4 of 5 once in five times of
 * one test alone, and more than one asks.
 */
#include "tests/rigs/everflow_net.h"

#include "algos/everflow/debug_drop.h"
#include "algos/everflow/debug_ecmp.h"
#include "algos/everflow/debug_latency.h"
#include "algos/everflow/debug_loop.h"
#include "sim/stat.h"
#include "topo/addr.h"

enum { LONG = 5 };

static unsigned runs_of(unsigned n)
{
	const char *text = getenv("EVERFLOW_RUNS");
	return text ? (unsigned)atoi(text) : n;
}

/* State how sure it is, and hold it against LEAST. */
static void assert_share(const char *what, unsigned right, unsigned n,
    double least)
{
	double lo, hi;
	assert_ok(sim_binomial_interval(right, n, 0.95, &lo, &hi, test_err()));
	print_message("%s: %u of %u right [%.3f, %.3f]\n", what, right, n, lo,
	    hi);
	if (right < least * n)
		fail_msg("%s: %u of %u are right", what, right, n);
}

static topo_link faulty_link(const struct everflow *x)
{
	assert_int_equal(x->s.scene.truth.n_faults, 1);
	return x->s.scene.truth.fault[0].link;
}

/* --- nothing wrong -------------------------------------------------------- */
static void healthy_networks_are_not_accused(void **state)
{
	static const struct algo_debugger *const all[] = {&algo_debug_drop,
	    &algo_debug_loop, &algo_debug_latency, &algo_debug_ecmp};
	static const double losses[] = {1e-5, 1e-3, 1e-2};
	const unsigned n = runs_of(6);
	unsigned right = 0;
	(void)state;
	for (unsigned run = 0; run < n; run++) {
		struct everflow x;
		size_t n_found = 0;
		everflow_open(&x);
		x.mirror_params.loss = losses[run % 3];
		x.analyzer_params.store_all = 1;
		everflow_begin(&x, run);
		everflow_traffic(&x);
		for (size_t d = 0; d < 4; d++) {
			const struct algo_debug_latency_params pair = {5, 20,
			    300, 8, 100, 90, 20, 0.005};
			everflow_debug(&x, all[d],
			    all[d] == &algo_debug_latency ? &pair : NULL, 60);
			n_found += x.out.n_findings;
			if (x.out.n_findings > 0) {
				print_message("run %u, %s:\n", run,
				    all[d]->name);
				everflow_print(&x);
			}
		}
		right += n_found == 0;
		everflow_close(&x);
	}
	assert_share("nothing wrong", right, n, 0.99);
}

/* --- drops ---------------------------------------------------------------- */
static void random_drops_are_named(void **state)
{
	const unsigned n = runs_of(10);
	unsigned right = 0;
	(void)state;
	for (unsigned run = 0; run < n; run++) {
		struct everflow x;
		everflow_open(&x);
		struct fault_params *g = scenes_add_group(&x.s);
		g->rate = scenes_fixed(0.05);
		everflow_begin(&x, run);
		everflow_traffic(&x);
		const double s =
		    everflow_debug(&x, &algo_debug_drop, NULL, 120);
		const struct algo_finding *f = everflow_found(&x,
		    ALGO_CAUSE_RANDOM, faulty_link(&x), TOPO_NONE);
		const int ok = x.out.n_findings == 1 && f &&
		    f->node == TOPO_NONE && f->lo < 0.06 && f->hi > 0.04;
		right += ok;
		if (!ok) {
			char name[64];
			topo_link_name(&x.s.topo, faulty_link(&x), name);
			print_message("run %u: %s, %g s, %u orders, %zu sent\n",
			    run, name, s, x.n_orders, x.sent.n);
			everflow_print(&x);
		}
		everflow_close(&x);
	}
	assert_share("random drop", right, n, 0.8);
}

/* One of 20 dropping switches' ports: a T2 that loses on all of its links. */
static void a_switch_that_drops_is_told_from_its_links(void **state)
{
	const unsigned n = runs_of(LONG);
	unsigned right = 0;
	(void)state;
	for (unsigned run = 0; run < n; run++) {
		struct everflow x;
		unsigned n_at = 0, n_other = 0;
		everflow_open(&x);
		struct fault_params *g = scenes_add_group(&x.s);
		g->switches = 1;
		g->tiers = 1 << FAULT_TIER_T2;
		g->rate = scenes_fixed(0.02);
		everflow_begin(&x, run);
		everflow_traffic(&x);
		everflow_debug(&x, &algo_debug_drop, NULL, 240);
		const topo_node at =
		    x.s.topo.n_hosts + x.s.scene.truth.failed_switch[0];
		for (size_t i = 0; i < x.out.n_findings; i++) {
			const struct algo_finding *f = &x.out.finding[i];
			topo_node from, to;
			topo_link_ends(&x.s.topo, f->link, &from, &to);
			if (f->cause != ALGO_CAUSE_RANDOM ||
			    (from != at && to != at))
				n_other++;
			n_at += f->node == at;
		}
		const int ok = n_at >= 2 && n_other == 0;
		right += ok;
		if (!ok) {
			print_message("run %u: switch %u, %u at, %u other\n",
			    run, at - x.s.topo.n_hosts, n_at, n_other);
			everflow_print(&x);
		}
		everflow_close(&x);
	}
	assert_share("switch that drops", right, n, 0.8);
}

/* A ToR with corrupt entries, as it shows on links into it. */
static void holes_of_both_types_are_told_apart(void **state)
{
	const unsigned n = runs_of(LONG);
	(void)state;
	for (int type = 1; type <= 2; type++) {
		unsigned right = 0;
		for (unsigned run = 0; run < n; run++) {
			struct everflow x;
			unsigned n_bad = 0, n_good = 0;
			everflow_open(&x);
			struct fault_params *g = scenes_add_group(&x.s);
			g->kind =
			    type == 1 ? FAULT_BLACK_HOLE_1 : FAULT_BLACK_HOLE_2;
			g->switches = 1;
			g->tiers = 1 << FAULT_TIER_TOR;
			g->entries = scenes_fixed(0.2);
			everflow_begin(&x, run);
			everflow_traffic(&x);
			everflow_debug(&x, &algo_debug_drop, NULL, 200);
			const topo_node at =
			    x.s.topo.n_hosts + x.s.scene.truth.hole[0].at;
			for (size_t i = 0; i < x.out.n_findings; i++) {
				const struct algo_finding *f =
				    &x.out.finding[i];
				const int ok = f->node == at &&
				    f->cause ==
					(type == 1 ? ALGO_CAUSE_BLACK_HOLE_1
						   : ALGO_CAUSE_BLACK_HOLE_2);
				n_good += ok;
				n_bad += !ok;
			}
			right += n_good > 0 && n_bad == 0;
			if (n_good == 0 || n_bad > 0) {
				print_message("type %d, run %u: tor%u\n", type,
				    run, at - x.s.topo.n_hosts);
				everflow_print(&x);
			}
			everflow_close(&x);
		}
		assert_share(type == 1 ? "hole by addresses"
				       : "hole by five-tuple",
		    right, n, 0.8);
	}
}

/* --- loops ---------------------------------------------------------------- */
static void loops_are_listed_and_cut(void **state)
{
	const unsigned n = runs_of(10);
	unsigned right = 0;
	(void)state;
	for (unsigned run = 0; run < n; run++) {
		struct everflow x;
		everflow_open(&x);
		struct fault_params *g = scenes_add_group(&x.s);
		g->kind = FAULT_REROUTE;
		g->switches = 1;
		everflow_begin(&x, run);
		everflow_traffic(&x);
		everflow_debug(&x, &algo_debug_loop, NULL, 20);
		const struct truth *t = &x.s.scene.truth;
		const struct algo_finding *f =
		    everflow_found(&x, ALGO_CAUSE_LOOP, TOPO_NONE, TOPO_NONE);
		int ok = x.out.n_findings == 1 && f && f->n_cycle == 2 &&
		    f->persistent && f->rate == 1;
		/* The cut is one of the wrong links. */
		if (ok)
			ok = truth_is_faulty(t, f->link) ||
			    t->fault[0].link == f->link ||
			    t->fault[1].link == f->link;
		right += ok;
		if (!ok) {
			print_message("run %u: %zu faults\n", run, t->n_faults);
			everflow_print(&x);
		}
		everflow_close(&x);
	}
	assert_share("loop", right, n, 0.8);
}

/* --- latency -------------------------------------------------------------- */
static void a_queue_that_comes_and_goes_is_named(void **state)
{
	const unsigned n = runs_of(10);
	unsigned right = 0;
	(void)state;
	for (unsigned run = 0; run < n; run++) {
		struct everflow x;
		everflow_open(&x);
		struct fault_params *g = scenes_add_group(&x.s);
		g->kind = run % 2 ? FAULT_ECN : FAULT_LATENCY;
		g->classes = 1 << TOPO_T1_T2 | 1 << TOPO_T2_T1;
		g->delay = scenes_fixed(200);
		everflow_begin(&x, run);
		x.analyzer_params.store_all = 1;
		/* SYNs of the pair that crosses the link most. */
		const topo_link l = faulty_link(&x);
		topo_host src = 0, dst = 16;
		for (topo_host h = 0; h < 16 * 16; h++)
			if (topo_path_share(&x.s.topo, h % 16, 16 + h / 16, l) >
				0 ||
			    topo_path_share(&x.s.topo, 16 + h / 16, h % 16, l) >
				0) {
				src = h % 16;
				dst = 16 + h / 16;
			}
		const struct algo_debug_latency_params p = {src, dst, 300, 8,
		    100, 90, 20, 0.005};
		for (uint16_t k = 0; k < 64; k++) {
			struct obs_packet syn = {.ethertype = OBS_ETH_IPV4,
			    .ip = {topo_addr_of_host(src),
				topo_addr_of_host(dst), (uint16_t)(k + 1), 64,
				OBS_TOS_DEBUG, TOPO_PROTO_TCP},
			    .src_port = (uint16_t)(1000 + k),
			    .dst_port = 80,
			    .tcp_flags = OBS_TCP_SYN,
			    .seq = k,
			    .n_bytes = 64};
			const struct packet_eye eye = mirror_eye(x.mirror);
			struct packet_end end;
			syn.digest = (uint64_t)k << 32;
			assert_ok(packet_walk(&x.net, &syn, src, k * SIM_MS,
			    &x.r, &eye, &end, test_err()));
			/* And back. */
			syn.ip.src_ip = topo_addr_of_host(dst);
			syn.ip.dst_ip = topo_addr_of_host(src);
			assert_ok(packet_walk(&x.net, &syn, dst, k * SIM_MS,
			    &x.r, &eye, &end, test_err()));
		}
		everflow_pass(&x, 6);
		everflow_debug(&x, &algo_debug_latency, &p, 240);
		const struct algo_finding *f = everflow_found(&x,
		    ALGO_CAUSE_LATENCY, TOPO_NONE, TOPO_NONE);
		/* Of a constant delay only the cable is told. */
		const int ok = x.out.n_findings == 1 && f &&
		    (run % 2 ? f->link == l && f->intermittent
			     : f->link / 2 == l / 2 && !f->intermittent &&
				f->excess_us > 180 && f->excess_us < 220);
		right += ok;
		if (!ok) {
			char name[64];
			topo_link_name(&x.s.topo, l, name);
			print_message("run %u: %s, %zu sent\n", run, name,
			    x.sent.n);
			everflow_print(&x);
		}
		everflow_close(&x);
	}
	assert_share("slow link", right, n, 0.8);
}

/* --- uneven --------------------------------------------------------------- */
/* Each cause at random T1s and ToRs (all T1s and T2s for one seed), with the
 * flows of an epoch. */
static void uneven_switches_are_named_with_their_cause(void **state)
{
	static const struct {
		enum fault_kind kind;
		uint32_t hash, tiers;
		enum algo_cause cause;
		const char *what;
	} cases[] = {
	    {FAULT_NARROW, 0, 1 << FAULT_TIER_TOR | 1 << FAULT_TIER_T1,
		ALGO_CAUSE_NARROWED, "narrowed"},
	    {FAULT_WEIGHTS, 0, 1 << FAULT_TIER_TOR | 1 << FAULT_TIER_T1,
		ALGO_CAUSE_WEIGHTS, "weights"},
	    {FAULT_HASH, FAULT_HASH_BITS, 1 << FAULT_TIER_T1,
		ALGO_CAUSE_HASH_BITS, "few bits"},
	    {FAULT_HASH, FAULT_HASH_SEED,
		1 << FAULT_TIER_TOR | 1 << FAULT_TIER_T1, ALGO_CAUSE_POLARISED,
		"one seed"},
	};
	const unsigned n = runs_of(10);
	(void)state;
	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		unsigned right = 0, found = 0, all = 0;
		for (unsigned run = 0; run < n; run++) {
			struct everflow x;
			unsigned n_right = 0, n_wrong = 0;
			everflow_open(&x);
			x.s.params.traffic.conns = scenes_fixed(100);
			x.analyzer_params.store_all = 1;
			struct fault_params *g = scenes_add_group(&x.s);
			g->kind = cases[c].kind;
			g->hash = cases[c].hash;
			g->tiers = cases[c].tiers;
			g->switches = g->kind == FAULT_HASH ? 0 : 1;
			g->left = 3;
			if (g->kind == FAULT_NARROW) {
				snprintf(g->prefix, sizeof(g->prefix),
				    "10.0.0.24/29");
			}
			everflow_begin(&x, run);
			/* One that never chooses for the prefix. */
			if (x.s.scene.truth.n_switches == 0) {
				everflow_close(&x);
				continue;
			}
			all++;
			everflow_traffic(&x);
			everflow_debug(&x, &algo_debug_ecmp, NULL, 1);
			for (size_t i = 0; i < x.out.n_findings; i++) {
				const struct algo_finding *f =
				    &x.out.finding[i];
				const int at =
				    truth_is_failed_switch(&x.s.scene.truth,
					f->node - x.s.topo.n_hosts);
				n_right += at && f->cause == cases[c].cause;
				n_wrong += !at;
			}
			found += x.out.n_findings > 0 && n_wrong == 0;
			right += n_right > 0 && n_wrong == 0 &&
			    2 * n_right > x.out.n_findings;
			if (n_right == 0 || n_wrong > 0) {
				print_message("%s, run %u: switch %u\n",
				    cases[c].what, run,
				    x.s.scene.truth.failed_switch[0]);
				everflow_print(&x);
			}
			everflow_close(&x);
		}
		assert_share(cases[c].what, found, all, 0.8);
		assert_share("and its cause", right, all, 0.75);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(healthy_networks_are_not_accused),
	    cmocka_unit_test(random_drops_are_named),
	    cmocka_unit_test(a_switch_that_drops_is_told_from_its_links),
	    cmocka_unit_test(holes_of_both_types_are_told_apart),
	    cmocka_unit_test(loops_are_listed_and_cut),
	    cmocka_unit_test(a_queue_that_comes_and_goes_is_named),
	    cmocka_unit_test(uneven_switches_are_named_with_their_cause),
	};
	cmocka_set_test_filter(getenv("EVERFLOW_TEST"));
	return cmocka_run_group_tests_name("algos/everflow/debug (network)",
	    tests, NULL, NULL);
}
