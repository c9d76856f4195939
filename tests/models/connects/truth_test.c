/* tests/models/connects/truth_test.c -- five-tuples that the truth drops, in bulk.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One ToR drops 5 % of all five-tuples; noise and stalls make others late.
 */
#include "models/connects/connects.h"

#include "sim/stat.h"
#include "tests/rigs/whole_mesh.h"
#include "topo/addr.h"

static const struct topo_clos shape = {4, 8, 4, 4, 8, .n_cables = 0};
enum { HOSTS = 256, WINDOW_S = 300 };

struct rig {
	struct whole_mesh m;
	struct counts {
		uint64_t dead[2], live[2]; /* that failed; that came late */
	} n;
};

/* By the truth's rules, whichever ports C's pairs have. */
static int is_truly_dead(const struct rig *g, topo_host src, topo_host dst,
    sim_ns sent)
{
	const enum connects_level level =
	    connects_level_of(connects_hops_of(&shape, src, dst));
	const uint64_t k = (sent - connects_phase(g->m.c, level, src, dst)) /
	    g->m.p.mesh.every_ns[level];
	const struct connects_turn turn =
	    connects_turn_of(g->m.c, level, src, dst);
	const struct topo_tuple t = {topo_addr_of_host(src),
				    topo_addr_of_host(dst),
				    connects_port(&g->m.p.ports, &turn, k),
				    g->m.p.ports.dst, TOPO_PROTO_TCP},
				back = {t.dst_ip, t.src_ip, t.dst_port,
				    t.src_port, t.proto};
	const topo_host end[] = {src, dst};
	int dead = 0;
	for (int i = 0; i < 2; i++)
		dead |= truth_swallows(&g->m.s.scene.truth,
			    end[i] / shape.n_hosts, &t, sent) ||
		    truth_swallows(&g->m.s.scene.truth, end[i] / shape.n_hosts,
			&back, sent);
	return dead;
}

static uint64_t n_truly_dead(const struct rig *g)
{
	uint64_t n = 0;
	for (unsigned level = 0; level < 2; level++)
		for (topo_host src = 0; src < HOSTS; src++)
			for (uint32_t k = 0; k < g->m.p.mesh.n_peers[level];
			     k++) {
				const topo_host dst =
				    whole_mesh_peer(&shape, level, src, k);
				sim_ns at =
				    connects_phase(g->m.c, level, src, dst);
				for (; at < WINDOW_S * SIM_SEC;
				     at += g->m.p.mesh.every_ns[level])
					n += (uint64_t)is_truly_dead(g, src,
					    dst, at);
			}
	return n;
}

static int count(void *arg, const struct connects_row *r, struct sim_err *e)
{
	struct rig *g = arg;
	(void)e;
	assert_int_equal(r->n, 1);
	uint64_t *n = is_truly_dead(g, r->src, r->dst, r->sent_ns) ? g->n.dead
								   : g->n.live;
	n[r->outcome == CONNECTS_CONNECTED]++;
	return 0;
}

/* With ports of 24 numbers, that is a turn in 240 s, or 24 / gcd(24, 38) = 12 with
 * one count. */
static void run(struct rig *g, int of_list, int again)
{
	*g = (struct rig){.n = {{0}, {0}}};
	whole_mesh_begin(&g->m, &shape, 1e-3);
	whole_mesh_add_hole(&g->m, FAULT_BLACK_HOLE_2, 5, 0.05);
	g->m.p.ports = (struct connects_ports){24, 40000, 81, (uint8_t)of_list,
	    (uint8_t)again};
	for (unsigned i = 0; i < CONNECTS_N_HOPS; i++) {
		g->m.p.law[i].stall_share = 0.05;
		g->m.p.law[i].stall_mu = 12;
	}
	whole_mesh_open(&g->m);
	assert_ok(connects_begin(g->m.c, scenes_draw(&g->m.s, 0), test_err()));
	assert_ok(connects_window(g->m.c, 0, WINDOW_S * SIM_SEC, 0,
	    &(struct connects_taker){g, count, NULL}, test_err()));
}

/* Each of them fails, once, and none is late for any other reason. */
static void what_the_truth_drops_fails_where_ports_come_again(void **state)
{
	(void)state;
	for (int of_list = 0; of_list < 2; of_list++) {
		struct rig g;
		run(&g, of_list, 1);
		assert_int_equal(g.n.dead[0], n_truly_dead(&g));
		assert_int_equal(g.n.dead[1], 0);
		assert_true(g.n.dead[0] > 1000 && g.n.live[1] > 1000);
		whole_mesh_close(&g.m);
	}
}

/* Where no pair comes to a port again, no connect tells what another met, and
 * fates are drawn: of those that fail, which are next to all of the ToR, the
 * truth's own entries drop the share that they drop of any, and of those that are
 * late some. Fails by chance twice in 1e9. */
static void what_comes_once_is_drawn_and_not_the_truths(void **state)
{
	const double share = 1 - 0.95 * 0.95; /* there and back */
	struct rig g;
	double lo, hi;
	(void)state;
	run(&g, 0, 0);
	const uint64_t n = g.n.dead[0] + g.n.live[0];
	print_message("  %llu of %llu that failed\n",
	    (unsigned long long)g.n.dead[0], (unsigned long long)n);
	assert_ok(sim_binomial_interval(g.n.dead[0], n, 1 - 2e-9, &lo, &hi,
	    test_err()));
	assert_true(n > 1000 && lo <= share && share <= hi);
	assert_true(g.n.dead[1] > 0);
	whole_mesh_close(&g.m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_the_truth_drops_fails_where_ports_come_again),
	    cmocka_unit_test(what_comes_once_is_drawn_and_not_the_truths),
	};
	return cmocka_run_group_tests_name("models/connects/truth", tests, NULL,
	    NULL);
}
