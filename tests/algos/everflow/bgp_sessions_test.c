/* tests/algos/everflow/bgp_sessions_test.c -- algos/everflow/bgp_sessions.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/rdma_rows.h"

/* Of ToR 1 and the first T1 of its pod, which opens. */
enum { TOR = 1, T1 = 6 };
enum {
	SYN = OBS_TCP_SYN,
	ACK = OBS_TCP_ACK,
	FIN = OBS_TCP_FIN,
	RST = OBS_TCP_RST,
	KEEPALIVE = 19,
	OPEN = 45,
	NOTIFICATION = 21,
};

static void open_at(struct rdma_rows *w, sim_ns t)
{
	rows_bgp(w, T1, TOR, SYN, 0, t);
	rows_bgp(w, TOR, T1, SYN | ACK, 0, t + 1);
	rows_bgp(w, T1, TOR, ACK, OPEN, t + 2);
	rows_bgp(w, TOR, T1, ACK, OPEN, t + 3);
}

/* How many sessions flap, by those rows. */
static size_t flaps(struct rdma_rows *w)
{
	rows_debug(w);
	for (size_t i = 0; i < w->out.n_findings; i++)
		assert_int_equal(w->out.finding[i].cause, ALGO_CAUSE_BGP_FLAP);
	return w->out.n_findings;
}

static void down_twice_and_up_between_is_a_flap(void **state)
{
	(void)state;
	for (unsigned way = 0; way < 4; way++) {
		struct rdma_rows w;
		rows_open(&w);
		rows_bgp(&w, TOR, T1, ACK, KEEPALIVE, SIM_SEC);
		for (unsigned i = 0; i < 3; i++) {
			const sim_ns t = (10 + 10 * i) * SIM_SEC;
			assert_int_equal(flaps(&w), i == 2);
			rows_bgp(&w, T1, TOR,
			    way == 0       ? RST
				: way == 1 ? RST | ACK
				: way == 2 ? FIN | ACK
					   : ACK | OBS_TCP_PSH,
			    way == 3 ? NOTIFICATION : 0, t);
			if (way >= 2)
				rows_bgp(&w, TOR, T1, FIN | ACK, 0, t + 9);
			/* It came back once, and is down again. */
			assert_int_equal(flaps(&w), i >= 1);
			open_at(&w, t + 4 * SIM_SEC);
		}
		assert_int_equal(flaps(&w), 1);
		const struct algo_finding *f = w.out.finding;
		assert_near(f->score, 3, 0);
		assert_int_equal(f->from_ns, 10 * SIM_SEC);
		assert_int_equal(f->to_ns, 34 * SIM_SEC);
		assert_near(f->rate, 12. / 24, 1e-12);
		topo_node a, b;
		topo_link_ends(&w.topo, f->link, &a, &b);
		assert_int_equal(a, w.topo.n_hosts + TOR);
		assert_int_equal(b, w.topo.n_hosts + T1);
		assert_int_equal(f->node, a);
		rows_close(&w);
	}
}

/* One that is opened, with both calling at once; one that is made anew once;
 * and one that is never let in. */
static void what_opens_does_not_flap(void **state)
{
	struct rdma_rows w;
	(void)state;
	rows_open(&w);
	w.params.min_flaps = 1;
	open_at(&w, SIM_SEC);
	rows_bgp(&w, TOR, T1, SYN, 0, SIM_SEC);
	rows_bgp(&w, T1, TOR, RST | ACK, 0, SIM_SEC + 5);
	rows_bgp(&w, T1, TOR, ACK, KEEPALIVE, SIM_SEC + 6);
	rows_bgp(&w, T1, TOR, ACK, KEEPALIVE, 4 * SIM_SEC);
	assert_int_equal(flaps(&w), 0);
	/* What closes then is the session, from then on. */
	rows_bgp(&w, T1, TOR, RST | ACK, 0, 9 * SIM_SEC);
	open_at(&w, 10 * SIM_SEC);
	assert_int_equal(flaps(&w), 1);
	assert_near(w.out.finding[0].score, 1, 0);
	assert_int_equal(w.out.finding[0].from_ns, 9 * SIM_SEC);
	rows_clear(&w);
	open_at(&w, SIM_SEC);
	rows_bgp(&w, T1, TOR, FIN | ACK, 0, 2 * SIM_SEC);
	open_at(&w, 3 * SIM_SEC);
	assert_int_equal(flaps(&w), 1);
	w.params.min_flaps = 2;
	assert_int_equal(flaps(&w), 0);
	rows_clear(&w);
	w.params.min_flaps = 1;
	rows_bgp(&w, T1, TOR, SYN, 0, SIM_SEC / 2);
	for (unsigned i = 1; i < 20; i++) {
		rows_bgp(&w, TOR, T1, RST | ACK, 0, i * SIM_SEC);
		rows_bgp(&w, T1, TOR, SYN, 0, i * SIM_SEC + 9);
	}
	assert_int_equal(flaps(&w), 0);
	rows_close(&w);
}

static void what_is_no_session_is_left_alone(void **state)
{
	struct rdma_rows w;
	(void)state;
	rows_open(&w);
	/* Neighbours that are none have no link; who is unknown is nobody. */
	for (unsigned i = 0; i < 5; i++) {
		rows_bgp(&w, 0, 1, RST, 0, 2 * i * SIM_SEC);
		rows_bgp(&w, 0, 1, SYN, 0, (2 * i + 1) * SIM_SEC);
		rows_bgp(&w, 1, 0, SYN | ACK, 0, (2 * i + 1) * SIM_SEC + 1);
		rows_bgp(&w, 999, 1, RST, 0, 2 * i * SIM_SEC);
		rows_bgp(&w, 999, 1, SYN, 0, (2 * i + 1) * SIM_SEC);
		rows_bgp(&w, 1, 999, SYN | ACK, 0, (2 * i + 1) * SIM_SEC + 1);
	}
	assert_int_equal(flaps(&w), 1);
	assert_int_equal(w.out.finding[0].link, TOPO_NONE);
	rows_close(&w);
}

static void no_allocation_is_taken_for_granted(void **state)
{
	struct rdma_rows w;
	(void)state;
	rows_open(&w);
	for (unsigned i = 0; i < 3; i++) {
		open_at(&w, 2 * i * SIM_SEC);
		rows_bgp(&w, T1, TOR, RST, 0, (2 * i + 1) * SIM_SEC);
	}
	rows_each_alloc_fails(&w);
	rows_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(down_twice_and_up_between_is_a_flap),
	    cmocka_unit_test(what_opens_does_not_flap),
	    cmocka_unit_test(what_is_no_session_is_left_alone),
	    cmocka_unit_test(no_allocation_is_taken_for_granted),
	};
	return cmocka_run_group_tests_name("algos/everflow/bgp_sessions", tests,
	    NULL, NULL);
}
