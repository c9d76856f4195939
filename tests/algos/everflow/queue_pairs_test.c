/* tests/algos/everflow/queue_pairs_test.c -- algos/everflow/queue_pairs: NAKs.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/packet/rdma.h"
#include "sim/stat.h"
#include "tests/rigs/rdma_rows.h"

enum { NAKS = 100 };

/* NAKs of host 0, GAP packets and 50 us apart, from PSN on. */
static void even_naks(struct rdma_rows *w, uint32_t psn, uint32_t gap,
    unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		rows_nak(w, 0, psn + gap * i, (uint16_t)(65500 + 3 * i),
		    SIM_MS + i * 50 * SIM_US);
	rows_debug(w);
}

static const struct algo_finding *only(const struct rdma_rows *w,
    enum algo_cause cause)
{
	assert_int_equal(w->out.n_findings, 1);
	assert_int_equal(w->out.finding[0].cause, cause);
	return &w->out.finding[0];
}

/* 99 losses among 99 * 256 packets; also when PSNs begin anew at 2^24. */
static void a_rate_is_that_of_the_packets_between(void **state)
{
	double lo, hi;
	(void)state;
	assert_ok(sim_binomial_interval(NAKS - 1, (NAKS - 1) * 256, 0.95, &lo,
	    &hi, test_err()));
	for (uint32_t psn = 5; psn < 1 << 25; psn += (1 << 24) - 1005) {
		struct rdma_rows w;
		rows_open(&w);
		even_naks(&w, psn, 256, NAKS);
		const struct algo_finding *f = only(&w, ALGO_CAUSE_RDMA_LOSS);
		assert_near(f->rate, 1. / 256, 1e-12);
		assert_near(f->lo, lo, 1e-12);
		assert_near(f->hi, hi, 1e-12);
		assert_near(f->score, NAKS - 1, 0);
		assert_int_equal(f->node, 0);
		assert_int_equal(f->link, TOPO_NONE);
		assert_int_equal(f->from_ns, SIM_MS);
		assert_int_equal(f->to_ns, SIM_MS + (NAKS - 1) * 50 * SIM_US);
		assert_int_equal(f->value.src_port, 0xc123);
		assert_int_equal(f->mask.src_port, 0xffff);
		rows_close(&w);
	}
}

static void few_naks_and_rare_ones_are_left_alone(void **state)
{
	struct rdma_rows w;
	(void)state;
	rows_open(&w);
	even_naks(&w, 5, 256, 7);
	assert_int_equal(w.out.n_findings, 0);
	rows_clear(&w);
	even_naks(&w, 5, 256, 8);
	only(&w, ALGO_CAUSE_RDMA_LOSS);
	/* One packet in 20,000 is half of min_rate. */
	rows_clear(&w);
	even_naks(&w, 5, 20000, NAKS);
	assert_int_equal(w.out.n_findings, 0);
	/* At min_rate itself it is not sure. */
	rows_clear(&w);
	even_naks(&w, 5, 10000, NAKS);
	assert_int_equal(w.out.n_findings, 0);
	rows_clear(&w);
	even_naks(&w, 5, 7000, NAKS);
	only(&w, ALGO_CAUSE_RDMA_LOSS);
	rows_close(&w);
}

/* Positions in one message of 1000, again and again. */
static void psns_that_go_back_are_a_nic_s(void **state)
{
	struct rdma_rows w;
	struct sim_rng r;
	(void)state;
	test_rng(&r, 0);
	rows_open(&w);
	for (unsigned i = 0; i < NAKS; i++)
		rows_nak(&w, 4, 0xfffff0 + sim_rng_below(&r, 1000), (uint16_t)i,
		    i * 50 * SIM_US);
	rows_debug(&w);
	const struct algo_finding *f = only(&w, ALGO_CAUSE_NIC_RESTART);
	assert_int_equal(f->node, 4);
	/* 500 packets a loss, on average. */
	assert_true(f->lo < 0.002 && 0.002 < f->hi);
	rows_close(&w);
}

/* At 90 and 40 of a message in turn: a loss each packet and 51 packets in
 * turn, as it began at 40 or later; no earlier than that, as nothing came
 * before. Twice is no habit: those two pairs of NAKs say nothing. */
static void what_comes_between_is_counted_from_where_it_began(void **state)
{
	struct rdma_rows w;
	double lo, hi;
	(void)state;
	rows_open(&w);
	for (unsigned i = 0; i < NAKS; i++)
		rows_nak(&w, 4, i % 2 ? 40 : 90, (uint16_t)i, i * 50 * SIM_US);
	rows_debug(&w);
	const struct algo_finding *f = only(&w, ALGO_CAUSE_NIC_RESTART);
	assert_ok(sim_binomial_interval(99, 50 + 49 * 51, 0.95, &lo, &hi,
	    test_err()));
	assert_near(f->lo, lo, 1e-12);
	assert_near(f->hi, hi, 1e-12);
	rows_clear(&w);
	for (unsigned i = 0; i < NAKS; i++)
		rows_nak(&w, 4, 256 * i - i / 40 * 300, (uint16_t)i,
		    i * 50 * SIM_US);
	rows_debug(&w);
	f = only(&w, ALGO_CAUSE_RDMA_LOSS);
	assert_near(f->score, 97, 0);
	assert_near(f->rate, 1. / 256, 1e-12);
	/* Three times are one. */
	rows_clear(&w);
	for (unsigned i = 0; i < NAKS; i++)
		rows_nak(&w, 4, 256 * i - i / 30 * 300, (uint16_t)i,
		    i * 50 * SIM_US);
	rows_debug(&w);
	only(&w, ALGO_CAUSE_NIC_RESTART);
	rows_close(&w);
}

/* Times that are wrong by less than the skew change nothing: IP IDs have the
 * order. Without them it would be a NIC's fault. */
static void copies_out_of_order_are_put_in_order(void **state)
{
	struct rdma_rows w;
	struct sim_rng r;
	(void)state;
	test_rng(&r, 0);
	rows_open(&w);
	for (unsigned i = 0; i < NAKS; i++)
		rows_nak(&w, 0, 256 * i, (uint16_t)(65500 + 3 * i),
		    SIM_MS + i * 50 * SIM_US + sim_rng_below(&r, 400000));
	rows_debug(&w);
	assert_near(only(&w, ALGO_CAUSE_RDMA_LOSS)->rate, 1. / 256, 1e-12);
	w.params.skew_us = 0;
	rows_debug(&w);
	only(&w, ALGO_CAUSE_NIC_RESTART);
	rows_close(&w);
}

/* A queue pair that is made anew begins at another PSN. */
static void another_connection_is_no_restart(void **state)
{
	struct rdma_rows w;
	(void)state;
	rows_open(&w);
	for (unsigned i = 0; i < NAKS; i++)
		rows_nak(&w, 0, 256 * i - i / 10 * 6000000, (uint16_t)i,
		    i * 50 * SIM_US);
	rows_debug(&w);
	const struct algo_finding *f = only(&w, ALGO_CAUSE_RDMA_LOSS);
	/* The pairs of NAKs with two connections between them say nothing. */
	assert_near(f->score, NAKS - 10, 0);
	assert_near(f->rate, 1. / 256, 1e-12);
	/* As far back as a message can be long is within one; one more is not. */
	rows_clear(&w);
	for (unsigned i = 0; i < NAKS; i++)
		rows_nak(&w, 0, 256 * i - i / 10 * 600, (uint16_t)i,
		    i * 50 * SIM_US);
	w.params.max_message = 600 - 256;
	rows_debug(&w);
	only(&w, ALGO_CAUSE_NIC_RESTART);
	w.params.max_message--;
	rows_debug(&w);
	assert_near(only(&w, ALGO_CAUSE_RDMA_LOSS)->score, NAKS - 10, 0);
	rows_close(&w);
}

/* Messages of 16 packets: NAKs only go on, and data tell. */
static void data_that_begin_anew_are_a_nic_s(void **state)
{
	(void)state;
	for (int restarts = 0; restarts < 2; restarts++) {
		struct rdma_rows w;
		uint16_t id = 0;
		rows_open(&w);
		for (unsigned i = 0; i < 20; i++) {
			const sim_ns t = i * 100 * SIM_US;
			/* The 8th of each message is lost; then the whole
			 * message comes, or what was lost, of every fifth its
			 * first packet. */
			const unsigned lost = i % 5 ? 8 : 0;
			rows_data(&w, 0, PACKET_RDMA_FIRST, 64 * i, id++, t,
			    TOPO_NONE);
			rows_data(&w, 0, PACKET_RDMA_MIDDLE, 64 * i + 9, id++,
			    t + 1, TOPO_NONE);
			rows_nak(&w, 0, 64 * i + lost, (uint16_t)i, t + 2);
			rows_data(&w, 0,
			    restarts || !lost ? PACKET_RDMA_FIRST
					      : PACKET_RDMA_MIDDLE,
			    64 * i + (restarts ? 0 : lost), id++, t + 3,
			    TOPO_NONE);
		}
		rows_debug(&w);
		only(&w,
		    restarts ? ALGO_CAUSE_NIC_RESTART : ALGO_CAUSE_RDMA_LOSS);
		rows_close(&w);
	}
}

/* Of packets that were last seen before some link, those count that a NAK
 * missed. */
static void a_link_is_named_by_what_was_missed(void **state)
{
	struct rdma_rows w;
	(void)state;
	rows_open(&w);
	for (unsigned i = 0; i < 9; i++)
		rows_data(&w, 0, PACKET_RDMA_MIDDLE, 256 * i + 3, (uint16_t)i,
		    SIM_MS + i * 50 * SIM_US, 31);
	even_naks(&w, 0, 256, NAKS);
	assert_int_equal(only(&w, ALGO_CAUSE_RDMA_LOSS)->link, TOPO_NONE);
	rows_data(&w, 0, PACKET_RDMA_MIDDLE, 256 * 20, 20,
	    SIM_MS + 20 * 50 * SIM_US, 33);
	rows_debug(&w);
	assert_int_equal(only(&w, ALGO_CAUSE_RDMA_LOSS)->link, 33);
	/* As many for another: no link has most. */
	rows_data(&w, 0, PACKET_RDMA_MIDDLE, 256 * 21, 21,
	    SIM_MS + 21 * 50 * SIM_US, 35);
	rows_debug(&w);
	assert_int_equal(only(&w, ALGO_CAUSE_RDMA_LOSS)->link, TOPO_NONE);
	rows_close(&w);
}

static void queue_pairs_of_a_topic_are_one_finding(void **state)
{
	struct rdma_rows w;
	(void)state;
	rows_open(&w);
	for (unsigned i = 0; i < NAKS; i++) {
		rows_nak(&w, 0, 256 * i, (uint16_t)i, i * 50 * SIM_US);
		rows_nak(&w, 3, 512 * i, (uint16_t)i, i * 50 * SIM_US);
		rows_nak(&w, 5, 999 - 9 * i, (uint16_t)i, i * 50 * SIM_US);
	}
	rows_debug(&w);
	assert_int_equal(w.out.n_findings, 2);
	const struct algo_finding *f = &w.out.finding[0];
	assert_int_equal(f[0].cause, ALGO_CAUSE_NIC_RESTART);
	assert_int_equal(f[0].node, 5);
	assert_int_equal(f[1].cause, ALGO_CAUSE_RDMA_LOSS);
	assert_int_equal(f[1].node, TOPO_NONE);
	assert_near(f[1].rate, 1. / 384, 1e-12);
	assert_int_equal(f[1].mask.src_ip, 0);
	assert_int_equal(f[1].mask.dst_port, 0xffff);
	rows_close(&w);
}

/* --- by the model --------------------------------------------------------- */

struct wire {
	struct rdma_rows *rows;
	struct sim_rng *r;
	double loss;
};

static int to_rows(void *arg, topo_host from, sim_ns sent,
    const struct obs_packet *p, struct sim_err *e)
{
	struct wire *w = arg;
	(void)e;
	if (obs_packet_is_nak(p))
		rows_nak(w->rows, 0, p->seq, p->ip.id, sent);
	else if (from == 0)
		rows_data(w->rows, 0, p->bth_opcode, p->seq, p->ip.id, sent,
		    TOPO_NONE);
	return sim_rng_u01(w->r) < w->loss;
}

/* Short messages, with the debug bit: few PSNs go back, and data must tell. */
static void short_messages_are_told_by_data(void **state)
{
	unsigned right = 0;
	const unsigned runs = 240;
	double lo, hi;
	(void)state;
	for (unsigned run = 0; run < runs; run++) {
		struct packet_rdma_params p;
		struct packet_rdma_end end;
		struct rdma_rows rows;
		struct sim_rng r, r2;
		rows_open(&rows);
		test_rng(&r, run);
		test_rng(&r2, run + 1000);
		struct wire wire = {&rows, &r2, 2e-3 * pow(5, sim_rng_u01(&r))};
		const struct packet_rdma_wire to = {&wire, to_rows};
		const struct packet_rdma_pair pair = {.to = 9,
		    .src_port = 0xc123,
		    .is_debug = 1,
		    .until_ns = 12 * SIM_MS};
		assert_ok(
		    sim_field_defaults(packet_rdma_fields, &p, test_err()));
		p.recovery = run % 2;
		p.message = 16 + sim_rng_below(&r, 49);
		p.rtt_us = 4;
		p.timeout_us = 50;
		assert_ok(
		    packet_rdma_run(&p, &pair, &r, &to, &end, test_err()));
		rows_debug(&rows);
		const int is = rows.out.n_findings == 1 &&
		    rows.out.finding[0].cause ==
			(run % 2 ? ALGO_CAUSE_NIC_RESTART
				 : ALGO_CAUSE_RDMA_LOSS) &&
		    rows.out.finding[0].node == 0;
		if (!is)
			printf("run %u: %zu findings, loss %g, M %u, %u NAKs\n",
			    run, rows.out.n_findings, wire.loss, p.message,
			    (unsigned)end.n_naks);
		right += (unsigned)is;
		rows_close(&rows);
	}
	assert_ok(
	    sim_binomial_interval(right, runs, 0.95, &lo, &hi, test_err()));
	printf("short messages: %u of %u, [%.4f, %.4f]\n", right, runs, lo, hi);
	assert_true(lo >= 0.95);
}

static void no_allocation_is_taken_for_granted(void **state)
{
	struct rdma_rows w;
	(void)state;
	rows_open(&w);
	even_naks(&w, 0, 256, NAKS);
	rows_each_alloc_fails(&w);
	rows_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_rate_is_that_of_the_packets_between),
	    cmocka_unit_test(few_naks_and_rare_ones_are_left_alone),
	    cmocka_unit_test(psns_that_go_back_are_a_nic_s),
	    cmocka_unit_test(what_comes_between_is_counted_from_where_it_began),
	    cmocka_unit_test(copies_out_of_order_are_put_in_order),
	    cmocka_unit_test(another_connection_is_no_restart),
	    cmocka_unit_test(data_that_begin_anew_are_a_nic_s),
	    cmocka_unit_test(a_link_is_named_by_what_was_missed),
	    cmocka_unit_test(queue_pairs_of_a_topic_are_one_finding),
	    cmocka_unit_test(short_messages_are_told_by_data),
	    cmocka_unit_test(no_allocation_is_taken_for_granted),
	};
	return cmocka_run_group_tests_name("algos/everflow/queue_pairs", tests,
	    NULL, NULL);
}
