/* tests/algos/vigil/path_map_test.c -- reports to links, also absurd ones.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/vigil/path_map.h"
#include "tests/test.h"
#include "topo/addr.h"
#include "topo/mesh.h"

static const struct topo_clos shape = {3, 4, 3, 2, 3, .n_cables = 0};

struct rig {
	struct topo t;
	struct agent_report r;
	topo_link path[TOPO_MAX_HOPS];
	unsigned n;
};

/* The full report of a random flow: every hop but the receiver answered. */
static void report_flow(struct rig *g, struct sim_rng *r, int loopback)
{
	topo_host src = sim_rng_below(r, g->t.n_hosts), dst;
	topo_node from, to;
	do
		dst = sim_rng_below(r, g->t.n_hosts);
	while (topo_tor_of(&g->t, dst) == topo_tor_of(&g->t, src));
	g->r = (struct agent_report){
	    .tuple = {topo_addr_of_host(src), topo_addr_of_host(dst), 1, 2, 6}};
	g->n = topo_path(&g->t, 1, src, dst, sim_rng_u32(r), g->path);
	g->r.n_hops = (uint8_t)(g->n - 1);
	for (unsigned i = 0; i + 1 < g->n; i++) {
		topo_link_ends(&g->t, g->path[i], &from, &to);
		g->r.hop_ip[i] = loopback
		    ? topo_addr_of_switch(to - g->t.n_hosts)
		    : topo_addr_of_link(g->path[i]);
	}
}

static void open_clos(struct rig *g)
{
	*g = (struct rig){.n = 0};
	assert_ok(topo_open_clos(&g->t, &shape, test_err()));
}

static void open_fat_tree(struct rig *g)
{
	struct topo_mesh *m;
	*g = (struct rig){.n = 0};
	assert_ok(topo_mesh_fat_tree(&m, 4, 0, test_err()));
	assert_ok(topo_open_mesh(&g->t, m, test_err()));
}

static void a_full_trace_is_the_whole_path_by_either_address(void **state)
{
	(void)state;
	for (int mesh = 0; mesh < 2; mesh++) {
		struct rig g;
		struct sim_rng r;
		struct algo_path p;
		(mesh ? open_fat_tree : open_clos)(&g);
		test_rng(&r, 1);
		for (int i = 0; i < 400; i++) {
			report_flow(&g, &r, i % 2);
			algo_path_map(&g.t, &g.r,
			    (enum algo_partial)(i / 2 % 3), &p);
			assert_true(p.complete);
			assert_int_equal(p.n_hops, g.n);
			assert_memory_equal(p.link, g.path,
			    g.n * sizeof(p.link[0]));
		}
		topo_close(&g.t);
	}
}

/* Every subset of answers, every rule, both addresses: a link is known exactly
 * when somebody answered for it, and the last one only in full traces. */
static void no_link_is_known_that_nobody_answered_for(void **state)
{
	struct rig g;
	struct sim_rng r;
	struct algo_path p;
	(void)state;
	open_clos(&g);
	test_rng(&r, 2);
	for (unsigned i = 0; i < 64 * 32; i++) {
		const int loopback = i / 32 % 2;
		const enum algo_partial rule = (enum algo_partial)(i / 64 % 3);
		unsigned gap, full;
		report_flow(&g, &r, loopback);
		for (unsigned k = 0; k + 1 < g.n; k++)
			if (i >> k & 1)
				g.r.hop_ip[k] = 0;
		while (g.r.n_hops > 0 && !g.r.hop_ip[g.r.n_hops - 1])
			g.r.n_hops--;
		for (gap = 0; g.r.hop_ip[gap]; gap++)
			;
		full = gap == g.n - 1;
		algo_path_map(&g.t, &g.r, rule, &p);
		assert_int_equal(p.complete, full);
		for (unsigned k = 0; k < g.n; k++) {
			int known = k < g.n - 1 && g.r.hop_ip[k] &&
			    (!loopback || k == 0 || g.r.hop_ip[k - 1]);
			if (!full && rule == ALGO_PARTIAL_DROP)
				known = 0;
			if (rule == ALGO_PARTIAL_PREFIX && k > gap)
				known = 0;
			known |= full && k == g.n - 1;
			const topo_link got =
			    k < p.n_hops ? p.link[k] : TOPO_NONE;
			assert_int_equal(got, known ? g.path[k] : TOPO_NONE);
		}
	}
	topo_close(&g.t);
}

/* The route changed amid the trace: both ends are links that were crossed. */
static void two_routes_in_one_trace_are_not_a_whole_path(void **state)
{
	struct rig g;
	struct sim_rng r;
	struct algo_path p;
	unsigned n = 0;
	(void)state;
	open_clos(&g);
	test_rng(&r, 3);
	while (n < 100) {
		topo_link other[TOPO_MAX_HOPS];
		report_flow(&g, &r, 0);
		const unsigned h =
		    topo_path(&g.t, 2, g.r.tuple.src_ip - topo_addr_of_host(0),
			g.r.tuple.dst_ip - topo_addr_of_host(0),
			sim_rng_u32(&r), other);
		assert_int_equal(h, g.n);
		if (h < 6 || other[1] == g.path[1])
			continue;
		n++;
		for (unsigned k = 2; k + 1 < h; k++)
			g.r.hop_ip[k] = topo_addr_of_link(other[k]);
		algo_path_map(&g.t, &g.r, ALGO_PARTIAL_KNOWN, &p);
		assert_false(p.complete);
		assert_int_equal(p.n_hops, h - 1);
		assert_memory_equal(p.link, g.path, 2 * sizeof(p.link[0]));
		assert_memory_equal(p.link + 2, other + 2,
		    (h - 3) * sizeof(p.link[0]));
	}
	topo_close(&g.t);
}

static void absurd_reports_are_survived(void **state)
{
	struct rig g;
	struct sim_rng r;
	struct algo_path p;
	(void)state;
	open_clos(&g);
	test_rng(&r, 4);
	for (unsigned i = 0; i < 20000; i++) {
		report_flow(&g, &r, 0);
		g.r.n_hops = (uint8_t)sim_rng_below(&r, 256);
		if (sim_rng_below(&r, 4) == 0)
			g.r.tuple.src_ip = sim_rng_u32(&r);
		if (sim_rng_below(&r, 4) == 0)
			g.r.tuple.dst_ip = sim_rng_u32(&r);
		for (unsigned k = 0; k < TOPO_MAX_HOPS; k++)
			if (sim_rng_below(&r, 2))
				g.r.hop_ip[k] = sim_rng_below(&r, 2)
				    ? topo_addr_of_link(
					  sim_rng_below(&r, 2 * g.t.n_links))
				    : topo_addr_of_switch(sim_rng_below(&r,
					  2 * g.t.n_switches));
		algo_path_map(&g.t, &g.r, (enum algo_partial)(i % 3), &p);
		assert_true(p.n_hops <= TOPO_MAX_HOPS);
		for (unsigned k = 0; k < p.n_hops; k++)
			assert_true(
			    p.link[k] < g.t.n_links || p.link[k] == TOPO_NONE);
	}
	topo_close(&g.t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_full_trace_is_the_whole_path_by_either_address),
	    cmocka_unit_test(no_link_is_known_that_nobody_answered_for),
	    cmocka_unit_test(two_routes_in_one_trace_are_not_a_whole_path),
	    cmocka_unit_test(absurd_reports_are_survived),
	};
	return cmocka_run_group_tests_name("algos/vigil/path_map", tests, NULL,
	    NULL);
}
