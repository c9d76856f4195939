/* tests/algos/everflow/pause_ports_test.c -- algos/everflow/pause_ports.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/rdma_rows.h"

/* A frame asks for 0.839 ms at 40 Gb/s, and comes each 0.4 ms. */
enum { HOST = 3, CLASS = 1 << 3, MOST = 65535 };
static const sim_ns each = 400 * SIM_US;

static void hold(struct rdma_rows *w, topo_link l, sim_ns from, sim_ns to)
{
	for (sim_ns t = from; t < to; t += each)
		rows_pause(w, l, CLASS, MOST, t);
}

static topo_link root(void)
{
	return topo_link_of(HOST, TOPO_UP);
}

static void a_port_held_for_long_is_a_storm(void **state)
{
	struct rdma_rows w;
	(void)state;
	rows_open(&w);
	hold(&w, root(), SIM_MS, 201 * SIM_MS);
	rows_debug(&w);
	assert_int_equal(w.out.n_findings, 1);
	const struct algo_finding *f = w.out.finding;
	assert_int_equal(f->cause, ALGO_CAUSE_PAUSE_STORM);
	assert_int_equal(f->link, root());
	assert_int_equal(f->node, HOST);
	assert_near(f->rate, 1, 0);
	assert_near(f->score, 1, 0);
	assert_int_equal(f->from_ns, SIM_MS);
	/* The last frame's pause ends by itself. */
	assert_int_equal(f->to_ns, 200600 * SIM_US + 838848);
	rows_clear(&w);
	/* One that is shorter is none, by a frame. */
	hold(&w, root(), 0, 99200 * SIM_US);
	rows_debug(&w);
	assert_int_equal(w.out.n_findings, 0);
	rows_pause(&w, root(), CLASS, MOST, 99200 * SIM_US);
	rows_debug(&w);
	assert_int_equal(w.out.n_findings, 1);
	rows_close(&w);
}

static void who_says_go_on_is_no_storm(void **state)
{
	struct rdma_rows w;
	(void)state;
	rows_open(&w);
	hold(&w, root(), 0, 180 * SIM_MS);
	rows_pause(&w, root(), CLASS, 0, 90 * SIM_MS + 1);
	rows_debug(&w);
	assert_int_equal(w.out.n_findings, 0);
	/* For another class it is another matter. */
	rows_clear(&w);
	hold(&w, root(), 0, 180 * SIM_MS);
	rows_pause(&w, root(), CLASS << 1, 0, 90 * SIM_MS + 1);
	rows_debug(&w);
	assert_int_equal(w.out.n_findings, 1);
	rows_close(&w);
}

/* Frames whose copies are lost leave gaps, of which those no longer than a
 * pause are passed over. */
static void copies_may_be_lost(void **state)
{
	(void)state;
	for (unsigned lost = 0; lost < 6; lost++) {
		struct rdma_rows w;
		rows_open(&w);
		hold(&w, root(), 0, 90 * SIM_MS);
		hold(&w, root(), (225 + lost) * each, 180 * SIM_MS);
		rows_debug(&w);
		/* 1.6 ms apart there is a gap of 0.76 ms, 2 ms one of 1.2. */
		assert_int_equal(w.out.n_findings, lost <= 3);
		if (lost <= 1)
			assert_near(w.out.finding[0].rate, 1, 0);
		else if (lost <= 3)
			assert_in_range(w.out.finding[0].rate * 1000, 990, 999);
		rows_close(&w);
	}
}

/* Pauses that are short, and each as far from the next as it is long. */
static void half_a_storm_is_none(void **state)
{
	struct rdma_rows w;
	(void)state;
	rows_open(&w);
	for (unsigned i = 0; i < 2000; i++)
		rows_pause(&w, root(), CLASS, 7813, i * 200 * SIM_US);
	rows_debug(&w);
	assert_int_equal(w.out.n_findings, 0);
	w.params.held = 0.501;
	rows_debug(&w);
	assert_int_equal(w.out.n_findings, 0);
	w.params.held = 0.5;
	rows_debug(&w);
	assert_int_equal(w.out.n_findings, 1);
	rows_close(&w);
}

/* The tree of a storm: ToR 1 pauses its T1s, one of which pauses a T2. */
static void the_root_is_named_and_not_its_tree(void **state)
{
	struct rdma_rows w;
	(void)state;
	rows_open(&w);
	const struct topo_clos *c = &w.topo.clos;
	const topo_link tree[] = {topo_clos_link_tor(c, 1, 0, TOPO_UP),
	    topo_clos_link_tor(c, 1, 1, TOPO_UP),
	    topo_clos_link_t1(c, 0, 2, TOPO_UP)};
	for (unsigned i = 0; i < 3; i++)
		hold(&w, tree[i], (2 + i) * SIM_MS, 180 * SIM_MS);
	/* Alone it is no host's: much traffic to a port, perhaps. */
	rows_debug(&w);
	assert_int_equal(w.out.n_findings, 0);
	hold(&w, root(), SIM_MS, 180 * SIM_MS);
	/* Two that are not of it: of another ToR, and that began before. */
	hold(&w, topo_clos_link_tor(c, 4, 0, TOPO_UP), SIM_MS, 180 * SIM_MS);
	hold(&w, topo_clos_link_t1(c, 1, 2, TOPO_UP), 0, 150 * SIM_MS);
	w.params.skew_us = 10;
	rows_debug(&w);
	assert_int_equal(w.out.n_findings, 1);
	assert_int_equal(w.out.finding[0].node, HOST);
	assert_near(w.out.finding[0].score, 4, 0);
	rows_close(&w);
}

static void each_host_is_one_finding(void **state)
{
	struct rdma_rows w;
	(void)state;
	rows_open(&w);
	hold(&w, topo_link_of(5, TOPO_UP), 0, 150 * SIM_MS);
	hold(&w, root(), 0, 150 * SIM_MS);
	hold(&w, root(), 300 * SIM_MS, 450 * SIM_MS);
	for (sim_ns t = 0; t < 150 * SIM_MS; t += each)
		rows_pause(&w, root(), 0x30, MOST, t);
	rows_debug(&w);
	assert_int_equal(w.out.n_findings, 2);
	assert_int_equal(w.out.finding[0].node, HOST);
	assert_int_equal(w.out.finding[0].from_ns, 0);
	assert_in_range(w.out.finding[0].to_ns, 450 * SIM_MS, 451 * SIM_MS);
	assert_int_equal(w.out.finding[1].node, 5);
	rows_close(&w);
}

static void no_allocation_is_taken_for_granted(void **state)
{
	struct rdma_rows w;
	(void)state;
	rows_open(&w);
	hold(&w, root(), 0, 150 * SIM_MS);
	hold(&w, topo_link_of(5, TOPO_UP), 0, 150 * SIM_MS);
	rows_each_alloc_fails(&w);
	rows_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_port_held_for_long_is_a_storm),
	    cmocka_unit_test(who_says_go_on_is_no_storm),
	    cmocka_unit_test(copies_may_be_lost),
	    cmocka_unit_test(half_a_storm_is_none),
	    cmocka_unit_test(the_root_is_named_and_not_its_tree),
	    cmocka_unit_test(each_host_is_one_finding),
	    cmocka_unit_test(no_allocation_is_taken_for_granted),
	};
	return cmocka_run_group_tests_name("algos/everflow/pause_ports", tests,
	    NULL, NULL);
}
