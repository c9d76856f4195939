/* tests/models/connects/once_test.c -- a connect in bulk has one row at most.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Two sources that a connect meets mark it as they would one by one: all rows of
 * a window are kept and held to closed forms, and no connect may have two. Counts
 * lie in intervals at 1e-9 each, of which there are 34 (with one seed in 3e7 one
 * fails by chance).
 */
#include "models/connects/connects.h"

#include <math.h>

#include "sim/stat.h"
#include "tests/rigs/whole_mesh.h"

static const struct topo_clos shape = {4, 8, 4, 4, 8, .n_cables = 0};
enum { HOSTS = 256, WINDOW_S = 300, MAX_ROWS = 400000 };
#define NOISE 1e-3

struct rig {
	struct whole_mesh m;
	double stall; /* share of connects, by its time alone */
};

struct kept {
	struct connects_row row[MAX_ROWS];
	size_t n;
};
static struct kept kept;

/* One in STALLS takes 10 s or so, beside which nothing is late. */
static void set_up(struct rig *g, double noise, double stalls)
{
	*g = (struct rig){.stall = stalls};
	whole_mesh_begin(&g->m, &shape, noise);
	for (unsigned i = 0; i < CONNECTS_N_HOPS; i++) {
		struct fabric_sim_rtt *law = &g->m.p.law[i];
		law->burst_share = 0;
		law->stall_share = stalls;
		law->stall_mu = log(1e7);
		law->stall_sigma = 0.01;
	}
	whole_mesh_open(&g->m);
}

/* --- rows ----------------------------------------------------------------- */

static int keep(void *arg, const struct connects_row *r, struct sim_err *e)
{
	struct kept *k = arg;
	(void)e;
	assert_true(k->n < MAX_ROWS);
	assert_int_equal(r->n, 1);
	k->row[k->n++] = *r;
	return 0;
}

static int by_connect(const void *a, const void *b)
{
	const struct connects_row *x = a, *y = b;
	return x->src != y->src ? (x->src > y->src) - (x->src < y->src)
	    : x->dst != y->dst
	    ? (x->dst > y->dst) - (x->dst < y->dst)
	    : (x->sent_ns > y->sent_ns) - (x->sent_ns < y->sent_ns);
}

/* All rows of a window, of which no two are of one connect. */
static void fill_rows(struct rig *g)
{
	kept.n = 0;
	assert_ok(connects_begin(g->m.c, scenes_draw(&g->m.s, 0), test_err()));
	assert_ok(connects_window(g->m.c, 0, WINDOW_S * SIM_SEC, 0,
	    &(struct connects_taker){&kept, keep, NULL}, test_err()));
	qsort(kept.row, kept.n, sizeof(kept.row[0]), by_connect);
	for (size_t i = 1; i < kept.n; i++)
		if (by_connect(&kept.row[i - 1], &kept.row[i]) == 0)
			fail_msg("two rows of %u to %u", kept.row[i].src,
			    kept.row[i].dst);
}

enum { MAX_KINDS = 4 };

/* Connects of a kind, which KIND tells by their servers: SHARE[kind] of them lose
 * their first SYN, and of the others g->stall are late by themselves. */
static void hold(struct rig *g, unsigned n_kinds,
    unsigned (*kind)(const struct rig *g, topo_host src, topo_host dst),
    const double share[])
{
	uint64_t lost[MAX_KINDS] = {0}, late[MAX_KINDS] = {0},
		 all[MAX_KINDS] = {0};
	fill_rows(g);
	for (size_t i = 0; i < kept.n; i++) {
		const struct connects_row *r = &kept.row[i];
		const unsigned k = kind(g, r->src, r->dst);
		lost[k] += r->n_lost > 0;
		late[k] += r->n_lost == 0;
	}
	for (unsigned level = 0; level < 2; level++)
		for (topo_host h = 0; h < HOSTS; h++)
			for (uint32_t j = 0; j < g->m.p.mesh.n_peers[level];
			     j++) {
				const topo_host d =
				    whole_mesh_peer(&shape, level, h, j);
				all[kind(g, h, d)] += connects_due(g->m.c,
				    level, h, d, 0, WINDOW_S * SIM_SEC);
			}
	for (unsigned k = 0; k < n_kinds; k++) {
		const uint64_t n[] = {lost[k], late[k]};
		const double want[] = {share[k], (1 - share[k]) * g->stall};
		for (int i = 0; i < 2; i++) {
			double lo, hi;
			print_message("  kind %u: %llu of %llu, %g wanted\n", k,
			    (unsigned long long)n[i],
			    (unsigned long long)all[k], want[i]);
			assert_ok(sim_binomial_interval(n[i], all[k], 1 - 1e-9,
			    &lo, &hi, test_err()));
			assert_true(want[i] >= lo && want[i] <= hi);
		}
	}
}

/* --- two entries ---------------------------------------------------------- */

enum { BAD = 5, WORSE = 6 };

/* Which of the two ToRs a connect meets: 1 for BAD, 2 for WORSE, 3 for both. */
static unsigned tors_of(const struct rig *g, topo_host src, topo_host dst)
{
	const uint32_t a = src / shape.n_hosts, b = dst / shape.n_hosts;
	(void)g;
	return (unsigned)(a == BAD || b == BAD) +
	    2 * (unsigned)(a == WORSE || b == WORSE);
}

/* Each connect enters a ToR twice, there and back. Entries that drop the most have
 * their connects made one by one, and others have them looked for. */
static void a_connect_that_two_entries_drop_has_one_row(void **state)
{
	const double rate[][2] = {{0.5, 0.9}, {0.05, 0.02}};
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		const double p = pow(1 - rate[i][0], 2),
			     q = pow(1 - rate[i][1], 2);
		struct rig g;
		set_up(&g, 0, 0.05);
		whole_mesh_add_hole(&g.m, FAULT_BLACK_HOLE_2, BAD, rate[i][0]);
		whole_mesh_add_hole(&g.m, FAULT_BLACK_HOLE_2, WORSE,
		    rate[i][1]);
		hold(&g, 4, tors_of,
		    (const double[]){0, 1 - p, 1 - q, 1 - p * q});
		whole_mesh_close(&g.m);
	}
}

/* --- two switches, two links ---------------------------------------------- */

static unsigned hops_of(const struct rig *g, topo_host src, topo_host dst)
{
	(void)g;
	return connects_hops_of(&shape, src, dst);
}

/* Two of four T2s lose RATE on each of their links. Either way of a connect
 * between pods crosses one of them by halves, on two links; all others, and links
 * of other tiers, lose to noise. */
static void two_bad_t2s_mark_a_connect_once(double rate)
{
	const double clean = 1 - NOISE;
	const double way =
	    pow(clean, 4) * (clean * clean + (1 - rate) * (1 - rate)) / 2;
	const double share[] = {1 - pow(clean, 4), 1 - pow(clean, 8),
	    1 - way * way};
	struct rig g;
	set_up(&g, NOISE, 0.05);
	for (uint32_t t2 = 1; t2 < 4; t2 += 2) {
		struct fault_params *f = scenes_add_group(&g.m.s);
		for (uint32_t i = 0; i < 16; i++)
			for (int d = 0; d < 2; d++)
				f->links[f->n_links++] =
				    topo_clos_link_t1(&g.m.s.topo.clos, i, t2,
					(enum topo_dir)d);
		f->rate = scenes_fixed(rate);
	}
	hold(&g, CONNECTS_N_HOPS, hops_of, share);
	whole_mesh_close(&g.m);
}

static void a_connect_that_two_bad_t2s_lose_has_one_row(void **state)
{
	(void)state;
	two_bad_t2s_mark_a_connect_once(0.03); /* looked for */
	two_bad_t2s_mark_a_connect_once(0.3);  /* made one by one */
}

enum { HURT = 7 };

/* 0: no server under ToR HURT; 1: one is; 2: both are. */
static unsigned n_hurt(const struct rig *g, topo_host src, topo_host dst)
{
	(void)g;
	return (unsigned)(src / shape.n_hosts == HURT) +
	    (dst / shape.n_hosts == HURT);
}

/* All servers under a ToR have a cable that loses in both directions: a connect
 * of theirs crosses it there and back. */
static void a_connect_that_two_links_of_a_way_lose_has_one_row(void **state)
{
	const double rate = 0.03;
	(void)state;
	struct rig g;
	set_up(&g, 0, 0.02);
	struct fault_params *f = scenes_add_group(&g.m.s);
	for (uint32_t i = 0; i < shape.n_hosts; i++)
		for (int d = 0; d < 2; d++)
			f->links[f->n_links++] =
			    topo_clos_link_host(HURT * shape.n_hosts + i,
				(enum topo_dir)d);
	f->rate = scenes_fixed(rate);
	hold(&g, 3, n_hurt,
	    (const double[]){0, 1 - pow(1 - rate, 2), 1 - pow(1 - rate, 4)});
	whole_mesh_close(&g.m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_connect_that_two_entries_drop_has_one_row),
	    cmocka_unit_test(a_connect_that_two_bad_t2s_lose_has_one_row),
	    cmocka_unit_test(
		a_connect_that_two_links_of_a_way_lose_has_one_row),
	};
	return cmocka_run_group_tests_name("models/connects/once", tests, NULL,
	    NULL);
}
