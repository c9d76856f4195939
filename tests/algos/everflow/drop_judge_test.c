/* tests/algos/everflow/drop_judge_test.c -- what losses on a link are, by hand.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Probes over the link from a T1 to a ToR, and beside it, of which each is kept or
 * lost as the case says. Scores and rates are held to their closed forms.
 */
#include "algos/everflow/drop_judge.h"

#include "algos/everflow/guided.h"
#include "sim/stat.h"
#include "tests/test.h"
#include "topo/addr.h"
#include "topo/clos.h"

enum { JUDGE_SRC = 12, JUDGE_DST = 5, JUDGE_HOSTS = 4, EACH = 10 };
#define NOISE 1e-6
#define ALPHA 1e-4

struct judge_rig {
	struct topo t;
	struct algo_trace_store store;
	struct obs_guided sent;
	struct algo_drop_judge j;
	topo_switch at, next;
	topo_link link;
	uint32_t n_orders;
};

static void judge_open(struct judge_rig *x)
{
	static const struct topo_clos shape = {.n_pods = 2,
	    .n_tors = 3,
	    .n_t1 = 2,
	    .n_t2 = 2,
	    .n_hosts = JUDGE_HOSTS};
	*x = (struct judge_rig){.n_orders = 0};
	assert_ok(topo_open_clos(&x->t, &shape, test_err()));
	x->at = topo_clos_t1(&x->t.clos, 0, 0);
	x->next = topo_clos_tor(&x->t.clos, 0, JUDGE_DST / JUDGE_HOSTS);
	x->link = topo_link_between(&x->t, x->t.n_hosts + x->at,
	    x->t.n_hosts + x->next);
}

static void judge_close(struct judge_rig *x)
{
	algo_drop_judge_free(&x->j);
	algo_trace_store_free(&x->store);
	obs_guided_free(&x->sent);
	topo_close(&x->t);
}

static const struct algo_drop_judged *judge(struct judge_rig *x)
{
	const struct algo_debug_in in = {.routing = {&x->t, 77, 1},
	    .traces = &x->store,
	    .sent = &x->sent,
	    .now = SIM_NEVER};
	assert_ok(algo_drop_judge_make(&x->j, &in, NOISE, ALPHA, test_err()));
	return algo_drop_judged_of(&x->j, x->link);
}

/* LOST: -1 if just the next switch saw it, of what is behind. */
static void put_probe(struct judge_rig *x, struct algo_guided *g,
    topo_host prober, topo_switch next, int lost)
{
	const struct obs_guided_probe row = algo_guided_row(g, prober, 1);
	const uint8_t layer = g->n_via > 1 ? 2 : 1;
	const struct algo_trace t = {.src_ip = row.src_ip,
	    .dst_ip = row.dst_ip,
	    .src_port = row.src_port,
	    .dst_port = row.dst_port,
	    .seq = row.order,
	    .ack = row.number,
	    .proto = TOPO_PROTO_TCP,
	    .n_hops = lost > 0 ? 1
		: lost < 0     ? 2
			       : 3,
	    .lost_link = TOPO_NONE,
	    .marks = ALGO_TRACE_DEBUG | ALGO_TRACE_PROBE};
	const struct algo_hop hop[3] = {{.t_ns = 1,
					    .node = g->via[0],
					    .layer = layer},
	    {.t_ns = 2, .node = next, .layer = (uint8_t)(layer - 1)},
	    {.t_ns = 3, .node = g->via[0]}};
	assert_ok(obs_guided_add(&x->sent, &row, test_err()));
	assert_ok(algo_trace_store_add(&x->store, &t, hop, test_err()));
}

/* N rounds from AT to NEXT by PROBER, the first N_LOST of which are lost. */
static void put_rounds(struct judge_rig *x, topo_host prober, topo_switch at,
    topo_switch next, uint32_t n, uint32_t n_lost)
{
	struct algo_guided g = {.order = ++x->n_orders,
	    .tuple = {topo_addr_of_host(prober), 0, 1000, 80, TOPO_PROTO_TCP},
	    .n_via = 3,
	    .via = {at, next, at}};
	for (g.number = 0; g.number < n; g.number++)
		put_probe(x, &g, prober, next, g.number < n_lost);
}

/* N probes of the tuple with source port PORT, on from AT. */
static void put_tuple(struct judge_rig *x, topo_switch at, uint16_t port,
    uint32_t n, uint32_t n_lost)
{
	struct algo_guided g = {.order = ++x->n_orders,
	    .tuple = {topo_addr_of_host(JUDGE_SRC),
		topo_addr_of_host(JUDGE_DST), port, 80, TOPO_PROTO_TCP},
	    .n_via = 1,
	    .via = {at}};
	for (g.number = 0; g.number < n; g.number++)
		put_probe(x, &g, 0, x->next, g.number < n_lost);
}

/* N drops on L that were sent again. */
static void put_drops(struct judge_rig *x, topo_link l, unsigned n)
{
	const struct algo_trace t = {.t_ns = 100,
	    .end_ns = 200,
	    .marks = ALGO_TRACE_DROPS | ALGO_TRACE_CONFIRMED,
	    .src_ip = topo_addr_of_host(JUDGE_SRC),
	    .dst_ip = topo_addr_of_host(JUDGE_DST),
	    .src_port = 4000,
	    .dst_port = 80,
	    .lost_link = l,
	    .proto = TOPO_PROTO_TCP};
	for (; n > 0; n--)
		assert_ok(
		    algo_trace_store_add(&x->store, &t, NULL, test_err()));
}

static void assert_rate(const struct algo_drop_judged *v, uint64_t n_lost,
    uint64_t n)
{
	double lo, hi;
	assert_ok(sim_binomial_interval(n_lost, n, 0.95, &lo, &hi, test_err()));
	assert_near(v->rate, (double)n_lost / (double)n, 1e-12);
	assert_near(v->lo, lo, 1e-12);
	assert_near(v->hi, hi, 1e-12);
}

/* At the upper end of the rate of N_KEPT that are kept, and N_LOST lost. */
static double hole_score(uint64_t n_lost, uint64_t n_kept, double run,
    double from)
{
	double lo, hi;
	assert_ok(sim_binomial_interval(n_lost, n_lost + n_kept, 0.998, &lo,
	    &hi, test_err()));
	return -log10(pow(hi, run) * from);
}

/* --- rounds --------------------------------------------------------------- */

static void a_healthy_link_is_not_accused(void **state)
{
	struct judge_rig x;
	(void)state;
	judge_open(&x);
	put_rounds(&x, 0, x.at, x.next, 500, 0);
	put_rounds(&x, 0, x.next, x.at, 500, 1);
	put_drops(&x, x.link, 1);
	assert_null(judge(&x));
	assert_int_equal(x.j.n, 0);
	assert_int_equal(x.j.n_probed, 2);
	judge_close(&x);
}

/* The switch at either end is it if the other links on that side of it lose as
 * well: into the one behind, out of the one before. */
static void a_switch_is_told_by_its_other_links(void **state)
{
	enum { NEITHER, BEHIND, BEFORE, WRONG_SIDE, N_CASES };
	(void)state;
	for (int k = 0; k < N_CASES; k++) {
		struct judge_rig x;
		judge_open(&x);
		const topo_switch t1 = topo_clos_t1(&x.t.clos, 0, 1),
				  tor = topo_clos_tor(&x.t.clos, 0, 0);
		put_rounds(&x, 0, x.at, x.next, 500, 50);
		put_rounds(&x, 0, t1, x.next, 300, k == BEHIND ? 30 : 0);
		put_rounds(&x, 0, x.at, tor, 300, k == BEFORE ? 30 : 0);
		/* What goes the other way says nothing of these. */
		put_rounds(&x, 0, x.next, t1, 300, k == WRONG_SIDE ? 30 : 0);
		put_rounds(&x, 0, tor, x.at, 300, k == WRONG_SIDE ? 30 : 0);
		const struct algo_drop_judged *v = judge(&x);
		assert_non_null(v);
		assert_int_equal(v->link, x.link);
		assert_int_equal(v->cause, ALGO_CAUSE_RANDOM);
		assert_int_equal(v->proved, 1);
		assert_int_equal(v->told, 1);
		assert_true(v->score > 4 && v->score < 300);
		assert_rate(v, 50, 500);
		assert_int_equal(v->node,
		    k == BEHIND       ? x.t.n_hosts + x.next
			: k == BEFORE ? x.t.n_hosts + x.at
				      : TOPO_NONE);
		assert_int_equal(x.j.n,
		    k == NEITHER          ? 1
			: k == WRONG_SIDE ? 3
					  : 2);
		assert_int_equal(x.j.n_probed, 5);
		judge_close(&x);
	}
}

/* How surprising it is: the mean evidence of rounds and of plain probes, each
 * against what its own copies say of mirrors, by all links that were probed. */
static void a_random_loss_scores_by_its_evidence(void **state)
{
	struct judge_rig x;
	(void)state;
	judge_open(&x);
	put_rounds(&x, 0, x.at, x.next, 300, 30);
	put_rounds(&x, 1, x.at, x.next, 200, 10);
	put_rounds(&x, 1, x.next, x.at, 1500, 0);
	for (uint16_t i = 0; i < 20; i++)
		put_tuple(&x, x.at, 500 + i, EACH, i % 2);
	struct algo_guided g = {.order = ++x.n_orders,
	    .tuple = {topo_addr_of_host(1), 0, 1000, 80, TOPO_PROTO_TCP},
	    .n_via = 3,
	    .via = {x.at, x.next, x.at}};
	for (g.number = 0; g.number < 8; g.number++)
		put_probe(&x, &g, g.number % 2, x.next, -1);
	const struct algo_drop_judged *v = judge(&x);
	assert_non_null(v);
	const struct algo_drop_count round = {468, 40, 468, 8},
				     plain = {190, 10, 190, 0};
	const double by_round = algo_drop_evidence(40, 508,
	    algo_drop_healthy(&x.j.rows, &round, NOISE));
	const double by_plain = algo_drop_evidence(10, 200,
	    algo_drop_healthy(&x.j.rows, &plain, NOISE));
	assert_near(v->score, log10((by_round + by_plain) / 2 / 2), 1e-9);
	assert_rate(v, 50, 708);
	judge_close(&x);
}

/* Half of the rounds on the one link that was probed. */
static void one_link_that_loses_half_is_random(void **state)
{
	struct judge_rig x;
	(void)state;
	judge_open(&x);
	put_rounds(&x, 0, x.at, x.next, 100, 50);
	const struct algo_drop_judged *v = judge(&x);
	assert_non_null(v);
	assert_int_equal(x.j.n_probed, 1);
	const struct algo_drop_count round = {50, 50, 50, 0}, none = {0};
	assert_near(v->score,
	    log10((algo_drop_evidence(50, 100,
		       algo_drop_healthy(&x.j.rows, &round, NOISE)) +
		      algo_drop_evidence(0, 0,
			  algo_drop_healthy(&x.j.rows, &none, NOISE))) /
		2),
	    1e-9);
	assert_rate(v, 50, 100);
	judge_close(&x);
}

/* One prober cannot tell a link that loses all from a hole by addresses. */
static void all_that_is_lost_needs_two_probers(void **state)
{
	(void)state;
	for (unsigned n_probers = 1; n_probers < 3; n_probers++) {
		struct judge_rig x;
		judge_open(&x);
		for (topo_host h = 0; h < n_probers; h++)
			put_rounds(&x, h, x.at, x.next, 40, 40);
		const struct algo_drop_judged *v = judge(&x);
		assert_non_null(v);
		assert_int_equal(v->cause, ALGO_CAUSE_RANDOM);
		assert_int_equal(v->told, n_probers == 2);
		assert_int_equal(v->proved, 1);
		assert_rate(v, 40 * n_probers, 40 * n_probers);
		judge_close(&x);
	}
}

/* A prober whose rounds are all lost, while another's are not, met a hole; no
 * tuple says whether the ports matter. */
static void one_prober_that_loses_all_met_a_hole(void **state)
{
	struct judge_rig x;
	(void)state;
	judge_open(&x);
	put_rounds(&x, 0, x.at, x.next, 200, 1);
	put_rounds(&x, 1, x.at, x.next, 20, 20);
	put_rounds(&x, 2, x.at, x.next, 9, 9);
	put_rounds(&x, 2, x.next, x.at, 9, 0);
	const struct algo_drop_judged *v = judge(&x);
	assert_non_null(v);
	assert_int_equal(v->cause, ALGO_CAUSE_BLACK_HOLE_1);
	assert_int_equal(v->proved, 1);
	assert_int_equal(v->told, 0);
	assert_true(isnan(v->rate) && !signbit(v->rate));
	assert_near(v->score, hole_score(1, 199, 20, 2), 1e-9);
	assert_int_equal(v->node, x.t.n_hosts + x.next);
	judge_close(&x);
}

/* --- tuples --------------------------------------------------------------- */

enum { N_GOOD = 15, N_BAD = 5 };

/* Tuples of one pair of addresses: the last of the bad ones has a probe more,
 * and one more is known of too few. */
static void put_hole(struct judge_rig *x)
{
	for (uint16_t i = 0; i < N_GOOD; i++)
		put_tuple(x, x->at, 100 + i, EACH, 0);
	for (uint16_t i = 0; i < N_BAD; i++)
		put_tuple(x, x->at, 200 + i, EACH + (i == N_BAD - 1),
		    EACH + (i == N_BAD - 1));
	put_tuple(x, x->at, 300, 4, 4);
}

static void tuples_of_one_pair_that_differ_met_a_hole_by_ports(void **state)
{
	(void)state;
	for (int elsewhere = 0; elsewhere < 2; elsewhere++) {
		struct judge_rig x;
		judge_open(&x);
		put_hole(&x);
		/* The switch behind takes it if it came by another link. */
		if (elsewhere)
			put_tuple(&x, topo_clos_t1(&x.t.clos, 0, 1),
			    200 + N_BAD - 1, EACH, 0);
		const struct algo_drop_judged *v = judge(&x);
		assert_non_null(v);
		assert_int_equal(v->cause, ALGO_CAUSE_BLACK_HOLE_2);
		assert_int_equal(v->proved, 1);
		assert_int_equal(v->told, 1);
		assert_rate(v, N_BAD, N_GOOD + N_BAD);
		assert_int_equal(v->tuple.src_port, 200 + N_BAD - 1);
		assert_int_equal(v->tuple.dst_ip, topo_addr_of_host(JUDGE_DST));
		assert_near(v->score,
		    hole_score(0, N_GOOD * EACH, EACH + 1,
			(N_GOOD + N_BAD + 1) * (1 + elsewhere)),
		    1e-9);
		assert_int_equal(v->node,
		    elsewhere ? TOPO_NONE : x.t.n_hosts + x.next);
		for (uint16_t i = 0; i < N_GOOD; i++)
			assert_int_not_equal((100 + i) & v->mask.src_port,
			    v->value.src_port);
		for (uint16_t i = 0; i < N_BAD; i++)
			assert_int_equal((200 + i) & v->mask.src_port,
			    v->value.src_port);
		judge_close(&x);
	}
}

/* Five losses in a row say "all", four say nothing, of fewer than so many tuples
 * a loss of all is not told. */
static void few_probes_say_nothing(void **state)
{
	(void)state;
	for (uint32_t n = 4; n <= 5; n++) {
		struct judge_rig x;
		judge_open(&x);
		for (uint16_t i = 0; i < 300; i++)
			put_tuple(&x, x.at, 1000 + i, EACH, 0);
		put_tuple(&x, x.at, 7, n, n);
		const struct algo_drop_judged *v = judge(&x);
		assert_int_equal(v != NULL, n == 5);
		if (v) {
			assert_int_equal(v->cause, ALGO_CAUSE_BLACK_HOLE_2);
			assert_near(v->score, hole_score(0, 3000, 5, 302),
			    1e-9);
			assert_rate(v, 1, 301);
		}
		judge_close(&x);
	}
	for (uint16_t n = 3; n <= 4; n++) {
		struct judge_rig x;
		judge_open(&x);
		for (uint16_t i = 0; i < n; i++)
			put_tuple(&x, x.at, 200 + i, EACH, EACH);
		const struct algo_drop_judged *v = judge(&x);
		assert_int_equal(v != NULL, n == 4);
		if (v) {
			assert_int_equal(v->cause, ALGO_CAUSE_RANDOM);
			assert_int_equal(v->told, 1);
			assert_rate(v, n * EACH, n * EACH);
		}
		judge_close(&x);
	}
}

/* As many kept as lost, of what is not lost whole, is not nothing. */
static void a_half_is_not_all(void **state)
{
	struct judge_rig x;
	(void)state;
	judge_open(&x);
	for (uint16_t i = 0; i < 3; i++)
		put_tuple(&x, x.at, 200 + i, EACH, EACH);
	put_tuple(&x, x.at, 300, 200, 100);
	put_rounds(&x, 0, x.next, x.at, 500, 0);
	const struct algo_drop_judged *v = judge(&x);
	assert_non_null(v);
	assert_int_equal(v->cause, ALGO_CAUSE_RANDOM);
	assert_rate(v, 100, 200);
	judge_close(&x);
}

/* --- traces --------------------------------------------------------------- */

/* P(X >= K), all terms up to K summed. */
static double poisson_at_least(unsigned k, double mean)
{
	double below = 0, term = exp(-mean);
	for (unsigned i = 0; i < k; i++) {
		below += term;
		term *= mean / (i + 1);
	}
	return 1 - below;
}

/* Against thrice the mean of a link, of all others' drops and one more. Probes
 * that find nothing say that it has passed. */
static void drops_alone_accuse_by_poisson_s_law(void **state)
{
	(void)state;
	static const uint32_t n_rounds[] = {0, 1, 300};
	for (unsigned k = 0; k < 3; k++) {
		const uint32_t probed = n_rounds[k];
		struct judge_rig x;
		judge_open(&x);
		const double n = x.t.n_links - 2 * x.t.n_hosts;
		put_drops(&x, x.link, 6);
		put_drops(&x, topo_link_reverse(x.link), 2);
		if (probed > 0)
			put_rounds(&x, 0, x.at, x.next, probed, 0);
		const struct algo_drop_judged *v = judge(&x);
		assert_non_null(v);
		assert_int_equal(x.j.n, 1);
		assert_int_equal(x.j.n_probed, probed > 0);
		assert_int_equal(v->cause,
		    probed ? ALGO_CAUSE_TRANSIENT : ALGO_CAUSE_RANDOM);
		assert_int_equal(v->proved, 0);
		assert_int_equal(v->node, TOPO_NONE);
		assert_int_equal(v->told, 1);
		assert_near(v->score,
		    -log10(n * poisson_at_least(6, 3 * 3 / n)), 1e-6);
		if (probed)
			assert_rate(v, 0, probed);
		else
			assert_true(isnan(v->rate) && !signbit(v->rate));
		judge_close(&x);
	}
}

static int judge_anew(void *arg, struct sim_err *e)
{
	struct judge_rig *x = arg;
	const struct algo_debug_in in = {.routing = {&x->t, 77, 1},
	    .traces = &x->store,
	    .sent = &x->sent,
	    .now = SIM_NEVER};
	struct algo_drop_judge j;
	const int rc = algo_drop_judge_make(&j, &in, NOISE, ALPHA, e);
	algo_drop_judge_free(&j);
	assert_null(j.judged);
	assert_int_equal(j.n, 0);
	return rc;
}

static void running_out_of_memory_is_told(void **state)
{
	struct judge_rig x;
	(void)state;
	judge_open(&x);
	put_hole(&x);
	put_rounds(&x, 0, x.next, x.at, 500, 50);
	test_each_alloc_fails(judge_anew, &x);
	judge_close(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_healthy_link_is_not_accused),
	    cmocka_unit_test(a_switch_is_told_by_its_other_links),
	    cmocka_unit_test(a_random_loss_scores_by_its_evidence),
	    cmocka_unit_test(one_link_that_loses_half_is_random),
	    cmocka_unit_test(all_that_is_lost_needs_two_probers),
	    cmocka_unit_test(one_prober_that_loses_all_met_a_hole),
	    cmocka_unit_test(
		tuples_of_one_pair_that_differ_met_a_hole_by_ports),
	    cmocka_unit_test(few_probes_say_nothing),
	    cmocka_unit_test(a_half_is_not_all),
	    cmocka_unit_test(drops_alone_accuse_by_poisson_s_law),
	    cmocka_unit_test(running_out_of_memory_is_told),
	};
	return cmocka_run_group_tests_name("algos/everflow/drop_judge", tests,
	    NULL, NULL);
}
