/* tests/experiments/everflow/truth_test.c -- which traces and findings are right.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/everflow/truth.h"

#include "tests/rigs/scenes.h"

static const struct topo_clos small = {.n_pods = 2,
    .n_tors = 2,
    .n_t1 = 2,
    .n_t2 = 2,
    .n_hosts = 2};

/* --- packets -------------------------------------------------------------- */

static struct obs_packet packet_of(uint32_t i)
{
	return (struct obs_packet){.ip = {.src_ip = i,
				       .dst_ip = 7,
				       .id = (uint16_t)i,
				       .proto = 6},
	    .src_port = 1,
	    .dst_port = 2,
	    .digest = (uint64_t)i << 40};
}

static struct algo_trace trace_of(uint32_t i, sim_ns t)
{
	const struct obs_packet p = packet_of(i);
	return (struct algo_trace){.t_ns = t,
	    .digest = p.digest,
	    .src_ip = p.ip.src_ip,
	    .dst_ip = p.ip.dst_ip,
	    .src_port = p.src_port,
	    .dst_port = p.dst_port,
	    .ip_id = p.ip.id,
	    .proto = p.ip.proto};
}

/* Beyond the first table of chains, too. */
static void a_trace_finds_its_packet(void **state)
{
	struct xp_fates f = {0};
	(void)state;
	const struct algo_trace none = trace_of(1, 5);
	assert_null(xp_fates_of(&f, &none));
	for (uint32_t i = 0; i < 5000; i++) {
		const struct obs_packet p = packet_of(i);
		assert_ok(xp_fates_add(&f, &p, i, i % 3 == 0, i % 5 == 0,
		    test_err()));
	}
	for (uint32_t i = 0; i < 5000; i++) {
		const struct algo_trace t = trace_of(i, 10000);
		const struct xp_fate *fate = xp_fates_of(&f, &t);
		assert_non_null(fate);
		assert_int_equal(fate->lost, i % 3 == 0);
		assert_int_equal(fate->looped, i % 5 == 0);
	}
	const struct algo_trace unknown = trace_of(5000, 10000);
	assert_null(xp_fates_of(&f, &unknown));
	xp_fates_clear(&f);
	assert_null(xp_fates_of(&f, &none));
	xp_fates_free(&f);
}

/* SYN-ACKs have one ID: of two, a trace is of the one that was sent last before
 * its first copy. */
static void of_two_alike_the_latest_before_it_counts(void **state)
{
	struct xp_fates f = {0};
	const struct obs_packet p = packet_of(1);
	(void)state;
	assert_ok(xp_fates_add(&f, &p, 300, 0, 0, test_err()));
	assert_ok(xp_fates_add(&f, &p, 100, 1, 0, test_err()));
	const struct algo_trace before = trace_of(1, 99),
				first = trace_of(1, 299),
				second = trace_of(1, 300);
	assert_null(xp_fates_of(&f, &before));
	assert_true(xp_fates_of(&f, &first)->lost);
	assert_false(xp_fates_of(&f, &second)->lost);
	xp_fates_free(&f);
}

/* Packets that differ in one bit of what a trace tells of them. */
static void each_bit_of_a_packet_tells_it_from_another(void **state)
{
	struct xp_fates f = {0};
	static const struct {
		size_t packet, trace, bits;
	} field[] = {
#define FIELD(of, in)                                                          \
	{offsetof(struct obs_packet, of), offsetof(struct algo_trace, in),     \
	    8 * sizeof(((struct algo_trace *)0)->in)}
	    FIELD(ip.src_ip, src_ip), FIELD(ip.dst_ip, dst_ip),
	    FIELD(ip.id, ip_id), FIELD(ip.proto, proto),
	    FIELD(src_port, src_port), FIELD(dst_port, dst_port),
	    FIELD(digest, digest)
#undef FIELD
	};
	const struct obs_packet p = packet_of(0x10203);
	(void)state;
	assert_ok(xp_fates_add(&f, &p, 1, 0, 1, test_err()));
	for (size_t i = 0; i < sizeof(field) / sizeof(field[0]); i++)
		for (size_t bit = 0; bit < field[i].bits; bit++) {
			struct obs_packet q = p;
			struct algo_trace t = trace_of(0x10203, 5);
			((uint8_t *)&q)[field[i].packet + bit / 8] ^=
			    (uint8_t)(1 << bit % 8);
			((uint8_t *)&t)[field[i].trace + bit / 8] ^=
			    (uint8_t)(1 << bit % 8);
			assert_null(xp_fates_of(&f, &t));
			assert_ok(xp_fates_add(&f, &q, 2, 1, 0, test_err()));
			assert_non_null(xp_fates_of(&f, &t));
			assert_true(xp_fates_of(&f, &t)->lost);
		}
	const struct algo_trace t = trace_of(0x10203, 5);
	assert_true(xp_fates_of(&f, &t)->looped);
	assert_int_equal(f.n, 1 + 32 + 32 + 16 + 8 + 16 + 16 + 64);
	xp_fates_free(&f);
}

static int add_some(void *arg, struct sim_err *e)
{
	struct xp_fates f = {0};
	int rc = 0;
	(void)arg;
	for (uint32_t i = 0; rc == 0 && i < 1100; i++) {
		const struct obs_packet p = packet_of(i);
		rc = xp_fates_add(&f, &p, 0, 0, 0, e);
	}
	xp_fates_free(&f);
	return rc;
}

static void memory_that_runs_out_is_told(void **state)
{
	(void)state;
	test_each_alloc_fails(add_some, NULL);
}

static const struct xp_everflow params;

/* --- findings ------------------------------------------------------------- */

static enum xp_worth worth(const struct scene *s, enum algo_cause cause,
    topo_link link, topo_node node)
{
	const struct algo_finding f = {.cause = cause,
	    .link = link,
	    .node = node};
	sim_ns since = 0;
	const enum xp_worth w = xp_everflow_worth(s, &params, &f, &since);
	assert_int_equal(since, w == XP_WORTH_RIGHT ? SIM_SEC : 0);
	return w;
}

static void a_link_is_right_by_its_fault(void **state)
{
	struct scenes s;
	(void)state;
	scenes_open(&s, &small);
	const topo_link bad = topo_link_between(&s.topo, 8, 12);
	const topo_link slow = topo_link_between(&s.topo, 12, 16);
	scenes_add_fault(&s, bad, 0.01)->from_s = 1;
	struct fault_params *g = scenes_add_fault(&s, slow, 0);
	g->kind = FAULT_LATENCY;
	g->delay = scenes_fixed(100);
	g->from_s = 1;
	const struct scene *scene = scenes_draw(&s, 1);
	assert_true(xp_everflow_due(scene, &params, XP_DEBUG_drop));
	assert_true(xp_everflow_due(scene, &params, XP_DEBUG_latency));
	assert_false(xp_everflow_due(scene, &params, XP_DEBUG_loop));
	assert_int_equal(worth(scene, ALGO_CAUSE_RANDOM, bad, TOPO_NONE),
	    XP_WORTH_RIGHT);
	assert_int_equal(worth(scene, ALGO_CAUSE_RANDOM, topo_link_reverse(bad),
			     TOPO_NONE),
	    XP_WORTH_WRONG);
	assert_int_equal(worth(scene, ALGO_CAUSE_RANDOM, slow, TOPO_NONE),
	    XP_WORTH_WRONG);
	assert_int_equal(worth(scene, ALGO_CAUSE_BLACK_HOLE_1, bad, TOPO_NONE),
	    XP_WORTH_WRONG);
	assert_int_equal(worth(scene, ALGO_CAUSE_LATENCY, slow, TOPO_NONE),
	    XP_WORTH_RIGHT);
	assert_int_equal(worth(scene, ALGO_CAUSE_LATENCY,
			     topo_link_reverse(slow), TOPO_NONE),
	    XP_WORTH_RIGHT);
	assert_int_equal(worth(scene, ALGO_CAUSE_LATENCY, bad, TOPO_NONE),
	    XP_WORTH_WRONG);
	assert_int_equal(worth(scene, ALGO_CAUSE_TRANSIENT, slow, TOPO_NONE),
	    XP_WORTH_NEITHER);
	scenes_close(&s);
}

static void a_hole_is_right_by_its_switch_and_type(void **state)
{
	struct scenes s;
	uint32_t at[1];
	(void)state;
	scenes_open(&s, &small);
	at[0] = s.topo.n_hosts; /* ToR 0 */
	struct fault_params *g = scenes_add_group(&s);
	g->kind = FAULT_BLACK_HOLE_2;
	g->n_at = 1;
	g->at = at;
	g->entries = scenes_fixed(0.1);
	g->from_s = 1;
	const struct scene *scene = scenes_draw(&s, 1);
	const topo_link in =
	    topo_link_between(&s.topo, s.topo.n_hosts + 4, at[0]);
	assert_true(xp_everflow_due(scene, &params, XP_DEBUG_drop));
	assert_int_equal(worth(scene, ALGO_CAUSE_BLACK_HOLE_2, in, TOPO_NONE),
	    XP_WORTH_RIGHT);
	assert_int_equal(worth(scene, ALGO_CAUSE_BLACK_HOLE_2, TOPO_NONE,
			     at[0]),
	    XP_WORTH_RIGHT);
	assert_int_equal(worth(scene, ALGO_CAUSE_BLACK_HOLE_1, in, TOPO_NONE),
	    XP_WORTH_RIGHT);
	const struct algo_finding pair = {.cause = ALGO_CAUSE_BLACK_HOLE_1,
				      .link = in,
				      .node = TOPO_NONE},
				  tuple = {.cause = ALGO_CAUSE_BLACK_HOLE_2,
				      .link = in,
				      .node = TOPO_NONE};
	assert_false(xp_everflow_is_cause(scene, &pair));
	assert_true(xp_everflow_is_cause(scene, &tuple));
	assert_int_equal(worth(scene, ALGO_CAUSE_RANDOM, in, TOPO_NONE),
	    XP_WORTH_WRONG);
	assert_int_equal(worth(scene, ALGO_CAUSE_BLACK_HOLE_2,
			     topo_link_reverse(in), 0),
	    XP_WORTH_WRONG);
	scenes_close(&s);
}

/* --- by hand -------------------------------------------------------------- */

/* A scene of one thing that is wrong, or several. */
struct hand {
	struct topo topo;
	struct scene scene;
};

static void hand_open(struct hand *h)
{
	*h = (struct hand){.scene = {.topo = &h->topo}};
	assert_ok(topo_open_clos(&h->topo, &small, test_err()));
}

static void hand_close(struct hand *h)
{
	truth_free(&h->scene.truth);
	topo_close(&h->topo);
}

/* From I s on, so that it can be told which one is meant. */
static void hand_fault(struct hand *h, topo_link link, double rate, double us,
    uint64_t i)
{
	const struct truth_fault f = {.link = link,
	    .rate = rate,
	    .delay_us = us,
	    .from_ns = i * SIM_SEC,
	    .to_ns = SIM_NEVER};
	assert_ok(truth_add_fault(&h->scene.truth, &f, test_err()));
	truth_sort(&h->scene.truth);
}

static void hand_route(struct hand *h, topo_switch at,
    enum route_rule_kind kind, topo_link link, uint64_t i)
{
	const struct truth_route r = {.at = at,
	    .rule = {.kind = kind, .link = link, .n_left = 1, .weight = 1},
	    .from_ns = i * SIM_SEC,
	    .to_ns = SIM_NEVER};
	assert_ok(truth_add_route(&h->scene.truth, &r, test_err()));
	truth_sort(&h->scene.truth);
}

static void hand_outage(struct hand *h, enum truth_outage_kind kind,
    uint32_t id, uint64_t i)
{
	const struct truth_outage o = {.kind = kind,
	    .id = id,
	    .from_ns = i * SIM_SEC,
	    .to_ns = SIM_NEVER};
	assert_ok(truth_add_outage(&h->scene.truth, &o, test_err()));
	truth_sort(&h->scene.truth);
}

/* A finding is worth W and, where it is right, of what began at I s. */
static void assert_worth(const struct hand *h, const struct xp_everflow *p,
    struct algo_finding f, enum xp_worth w, uint64_t i)
{
	sim_ns since = 0;
	assert_int_equal(xp_everflow_worth(&h->scene, p, &f, &since), w);
	assert_int_equal(since, i * SIM_SEC);
}

static void assert_due(const struct hand *h, const struct xp_everflow *p,
    unsigned which)
{
	for (unsigned k = 0; k < XP_N_DEBUGGERS; k++)
		assert_int_equal(xp_everflow_due(&h->scene, p, k),
		    which >> k & 1);
	assert_false(xp_everflow_due(&h->scene, p, XP_N_DEBUGGERS));
}

static void each_debugger_has_its_faults(void **state)
{
	struct xp_everflow gobn = {.lossless = {.n_pairs = 1}};
	struct hand h;
	(void)state;
	gobn.lossless.rdma.recovery = PACKET_RDMA_GO_BACK_0;
	hand_open(&h);
	assert_due(&h, &gobn, 0);
	hand_fault(&h, 4, 0, 0, 1); /* does nothing */
	assert_due(&h, &gobn, 0);
	hand_fault(&h, 4, 0, 1, 1);
	assert_due(&h, &gobn, 1 << XP_DEBUG_latency);
	hand_fault(&h, 6, 0.1, 0, 1);
	assert_due(&h, &params, 1 << XP_DEBUG_latency | 1 << XP_DEBUG_drop);
	/* NICs tell of loss if they go back to 0, and if there are some. */
	assert_due(&h, &gobn,
	    1 << XP_DEBUG_latency | 1 << XP_DEBUG_drop | 1 << XP_DEBUG_rdma);
	gobn.lossless.n_pairs = 0;
	assert_due(&h, &gobn, 1 << XP_DEBUG_latency | 1 << XP_DEBUG_drop);
	hand_close(&h);
	static const struct {
		enum truth_outage_kind kind;
		unsigned which;
	} q[] = {{TRUTH_MUX_LOOP, 1 << XP_DEBUG_loop},
	    {TRUTH_STORM, 1 << XP_DEBUG_rdma},
	    {TRUTH_BGP_FLAP, 1 << XP_DEBUG_rdma}, {TRUTH_HOST_OFF, 0}};
	for (size_t i = 0; i < 4; i++) {
		hand_open(&h);
		hand_outage(&h, q[i].kind, 0, 1);
		assert_due(&h, &params, q[i].which);
		hand_close(&h);
	}
	for (unsigned kind = 0; kind < ROUTE_RULE_N_KINDS; kind++) {
		hand_open(&h);
		hand_route(&h, 0, (enum route_rule_kind)kind, 17, 1);
		assert_due(&h, &params,
		    kind == ROUTE_RULE_LINK ? 1 << XP_DEBUG_loop
					    : 1 << XP_DEBUG_ecmp);
		hand_close(&h);
	}
}

/* A link may have several, of which the first that fits is meant. */
static void of_a_links_faults_the_first_that_fits_counts(void **state)
{
	const struct algo_finding
	    drop = {.cause = ALGO_CAUSE_RANDOM, .link = 6, .node = TOPO_NONE},
	    late = {.cause = ALGO_CAUSE_LATENCY, .link = 6, .node = TOPO_NONE},
	    back = {.cause = ALGO_CAUSE_LATENCY, .link = 7, .node = TOPO_NONE};
	struct hand h;
	(void)state;
	hand_open(&h);
	hand_fault(&h, 5, 0.1, 0, 1);
	hand_fault(&h, 7, 0.1, 0, 2);
	assert_worth(&h, &params, drop, XP_WORTH_WRONG, 0);
	assert_worth(&h, &params, late, XP_WORTH_WRONG, 0);
	hand_fault(&h, 6, 0, 0, 3);
	hand_fault(&h, 6, 0, 9, 4);
	hand_fault(&h, 6, 0.1, 0, 5);
	hand_fault(&h, 6, 0.1, 0, 6);
	assert_worth(&h, &params, drop, XP_WORTH_RIGHT, 5);
	assert_worth(&h, &params, late, XP_WORTH_RIGHT, 4);
	assert_worth(&h, &params, back, XP_WORTH_RIGHT, 4);
	hand_close(&h);
}

static void a_loop_goes_by_the_wrong_link(void **state)
{
	struct hand h;
	topo_node from, to;
	(void)state;
	hand_open(&h);
	const topo_link one = topo_link_between(&h.topo, 8, 12),
			other = topo_link_between(&h.topo, 12, 16);
	hand_route(&h, 0, ROUTE_RULE_LINK, one, 1);
	hand_route(&h, 1, ROUTE_RULE_SEED, TOPO_NONE, 2);
	hand_route(&h, 4, ROUTE_RULE_LINK, other, 3);
	topo_link_ends(&h.topo, other, &from, &to);
	struct algo_finding f = {.cause = ALGO_CAUSE_LOOP,
	    .link = TOPO_NONE,
	    .node = TOPO_NONE,
	    .cycle = {9, to, from},
	    .n_cycle = 3};
	assert_worth(&h, &params, f, XP_WORTH_RIGHT, 3);
	f.n_cycle = 2;
	assert_worth(&h, &params, f, XP_WORTH_WRONG, 0);
	f.cycle[0] = from;
	assert_worth(&h, &params, f, XP_WORTH_RIGHT, 3);
	f.cycle[1] = 8;
	assert_worth(&h, &params, f, XP_WORTH_RIGHT, 1);
	f.n_cycle = 0;
	assert_worth(&h, &params, f, XP_WORTH_WRONG, 0);
	/* One through a mux goes by its host's ToR. */
	f = (struct algo_finding){.cause = ALGO_CAUSE_MUX_LOOP,
	    .cycle = {9, 13},
	    .n_cycle = 2};
	assert_worth(&h, &params, f, XP_WORTH_WRONG, 0);
	hand_outage(&h, TRUTH_STORM, 2, 4);
	hand_outage(&h, TRUTH_MUX_LOOP, 4, 5);
	assert_worth(&h, &params, f, XP_WORTH_WRONG, 0);
	hand_outage(&h, TRUTH_MUX_LOOP, 3, 6);
	assert_worth(&h, &params, f, XP_WORTH_RIGHT, 6);
	hand_close(&h);
}

static void a_bad_choice_is_its_switchs(void **state)
{
	static const enum algo_cause causes[] = {ALGO_CAUSE_HASH_BITS,
	    ALGO_CAUSE_POLARISED, ALGO_CAUSE_NARROWED, ALGO_CAUSE_WEIGHTS};
	static const enum route_rule_kind kinds[] = {ROUTE_RULE_BITS,
	    ROUTE_RULE_SEED, ROUTE_RULE_NARROW, ROUTE_RULE_WEIGHTS};
	(void)state;
	for (unsigned k = 0; k < 4; k++) {
		struct hand h;
		hand_open(&h);
		hand_route(&h, 2, ROUTE_RULE_LINK, 17, 1);
		hand_route(&h, 3, kinds[k], TOPO_NONE, 2);
		hand_route(&h, 5, ROUTE_RULE_LINK, 17, 3);
		hand_route(&h, 5, kinds[k], TOPO_NONE, 4);
		for (unsigned c = 0; c < 4; c++) {
			struct algo_finding f = {.cause = causes[c],
			    .link = TOPO_NONE,
			    .node = small.n_hosts * 4 + 3};
			/* The place is what counts; the cause is another
			 * question. */
			assert_worth(&h, &params, f, XP_WORTH_RIGHT, 2);
			assert_int_equal(xp_everflow_is_cause(&h.scene, &f),
			    c == k);
			f.node = 8 + 5;
			assert_worth(&h, &params, f, XP_WORTH_RIGHT, 4);
			assert_int_equal(xp_everflow_is_cause(&h.scene, &f),
			    c == k);
			f.node = 8 + 2;
			assert_worth(&h, &params, f, XP_WORTH_NEITHER, 0);
			assert_false(xp_everflow_is_cause(&h.scene, &f));
			f.node = 8 + 4;
			assert_worth(&h, &params, f, XP_WORTH_WRONG, 0);
			f.node = 3;
			assert_worth(&h, &params, f, XP_WORTH_WRONG, 0);
		}
		hand_close(&h);
	}
	struct hand h;
	const struct algo_finding other = {.cause = ALGO_CAUSE_RANDOM};
	hand_open(&h);
	assert_true(xp_everflow_is_cause(&h.scene, &other));
	hand_close(&h);
}

static void holes_have_the_types_of_their_rules(void **state)
{
	const struct truth_hole hole[] = {{.at = 3,
					      .rule = {.type =
							   BLACKHOLE_RULE_PAIR},
					      .from_ns = SIM_SEC},
	    {.at = 5,
		.rule = {.type = BLACKHOLE_RULE_TUPLE},
		.from_ns = 2 * SIM_SEC},
	    {.at = 5,
		.rule = {.type = BLACKHOLE_RULE_PAIR},
		.from_ns = 3 * SIM_SEC}};
	static const struct {
		topo_node node;
		int pair, tuple;
		uint64_t since;
	} q[] = {{8 + 3, 1, 0, 1}, {8 + 5, 1, 1, 2}, {8 + 4, 0, 0, 0},
	    {8 + 6, 0, 0, 0}, {3, 0, 0, 0}, {7, 0, 0, 0}, {TOPO_NONE, 0, 0, 0}};
	struct hand h;
	(void)state;
	hand_open(&h);
	for (size_t i = 0; i < 3; i++)
		assert_ok(truth_add_hole(&h.scene.truth, &hole[i], test_err()));
	truth_sort(&h.scene.truth);
	for (size_t i = 0; i < sizeof(q) / sizeof(q[0]); i++) {
		struct algo_finding f = {.cause = ALGO_CAUSE_BLACK_HOLE_1,
		    .link = TOPO_NONE,
		    .node = q[i].node};
		const int any = q[i].pair || q[i].tuple;
		assert_worth(&h, &params, f,
		    any ? XP_WORTH_RIGHT : XP_WORTH_WRONG, q[i].since);
		assert_int_equal(xp_everflow_is_cause(&h.scene, &f), q[i].pair);
		f.cause = ALGO_CAUSE_BLACK_HOLE_2;
		assert_int_equal(xp_everflow_is_cause(&h.scene, &f),
		    q[i].tuple);
	}
	hand_close(&h);
}

static void storms_and_flaps_are_their_cables(void **state)
{
	static const struct {
		enum algo_cause cause;
		enum truth_outage_kind kind, other;
	} q[] = {{ALGO_CAUSE_PAUSE_STORM, TRUTH_STORM, TRUTH_BGP_FLAP},
	    {ALGO_CAUSE_BGP_FLAP, TRUTH_BGP_FLAP, TRUTH_STORM}};
	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		struct hand h;
		hand_open(&h);
		hand_outage(&h, q[k].other, 4, 1);
		hand_outage(&h, q[k].kind, 3, 2);
		hand_outage(&h, q[k].kind, 4, 3);
		hand_outage(&h, q[k].kind, 6, 4);
		for (topo_link l = 0; l < 16; l++) {
			const struct algo_finding f = {.cause = q[k].cause,
			    .link = l};
			const uint32_t c = l / 2;
			const uint64_t since = c == 3 ? 2
			    : c == 4                  ? 3
			    : c == 6                  ? 4
						      : 0;
			assert_worth(&h, &params, f,
			    since ? XP_WORTH_RIGHT : XP_WORTH_WRONG, since);
		}
		hand_close(&h);
	}
}

static void a_nic_is_right_where_links_lose(void **state)
{
	struct xp_everflow p = {.lossless = {.n_pairs = 1}};
	const struct algo_finding nic = {.cause = ALGO_CAUSE_NIC_RESTART,
				      .link = TOPO_NONE,
				      .node = 7},
				  tor = {.cause = ALGO_CAUSE_NIC_RESTART,
				      .link = TOPO_NONE,
				      .node = 8},
				  any = {.cause = ALGO_CAUSE_RDMA_LOSS,
				      .link = TOPO_NONE},
				  bad = {.cause = ALGO_CAUSE_RDMA_LOSS,
				      .link = 6},
				  good = {.cause = ALGO_CAUSE_RDMA_LOSS,
				      .link = 7};
	struct hand h;
	(void)state;
	p.lossless.rdma.recovery = PACKET_RDMA_GO_BACK_0;
	hand_open(&h);
	assert_worth(&h, &p, nic, XP_WORTH_WRONG, 0);
	assert_worth(&h, &p, any, XP_WORTH_WRONG, 0);
	hand_fault(&h, 6, 0.1, 0, 1);
	assert_worth(&h, &p, nic, XP_WORTH_RIGHT, 0);
	assert_worth(&h, &p, tor, XP_WORTH_WRONG, 0);
	assert_worth(&h, &params, nic, XP_WORTH_WRONG, 0);
	assert_worth(&h, &p, any, XP_WORTH_NEITHER, 0);
	assert_worth(&h, &p, bad, XP_WORTH_NEITHER, 0);
	assert_worth(&h, &p, good, XP_WORTH_WRONG, 0);
	/* Packets that go in circles are lost in the end, anywhere. */
	hand_route(&h, 0, ROUTE_RULE_LINK, 17, 2);
	assert_worth(&h, &p, good, XP_WORTH_NEITHER, 0);
	assert_worth(&h, &p, nic, XP_WORTH_RIGHT, 0);
	hand_close(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_trace_finds_its_packet),
	    cmocka_unit_test(of_two_alike_the_latest_before_it_counts),
	    cmocka_unit_test(each_bit_of_a_packet_tells_it_from_another),
	    cmocka_unit_test(memory_that_runs_out_is_told),
	    cmocka_unit_test(a_link_is_right_by_its_fault),
	    cmocka_unit_test(a_hole_is_right_by_its_switch_and_type),
	    cmocka_unit_test(each_debugger_has_its_faults),
	    cmocka_unit_test(of_a_links_faults_the_first_that_fits_counts),
	    cmocka_unit_test(a_loop_goes_by_the_wrong_link),
	    cmocka_unit_test(a_bad_choice_is_its_switchs),
	    cmocka_unit_test(holes_have_the_types_of_their_rules),
	    cmocka_unit_test(storms_and_flaps_are_their_cables),
	    cmocka_unit_test(a_nic_is_right_where_links_lose),
	};
	return cmocka_run_group_tests_name("experiments/everflow/truth", tests,
	    NULL, NULL);
}
