/* tests/models/connects/connects_test.c -- connects in bulk have the law of each.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The oracle makes each connect, on the path that its five-tuple is hashed to,
 * SYN by SYN, and asks the truth of each link and switch. Counts by pods, ToRs
 * and time are held to its counts by chi-square tests at 1e-6 each, about 190 of
 * them: all pass under 9,998 seeds of 10,000.
 */
#include "models/connects/connects.h"

#include "sim/stat.h"
#include "tests/rigs/law.h"
#include "tests/rigs/whole_mesh.h"

#define LEVEL 1e-6
static const struct topo_clos shape = {4, 8, 4, 4, 8, .n_cables = 0};
enum { HOSTS = 256, TORS = 32, PODS = 4, RUNS = 3, WINDOW_S = 300, BINS = 20 };

/* What a row is told by. */
enum { LATE_1, LATE_2, FAILED, STALLED, UNTOLD, SLOW, N_SIGNS };

struct counts {
	uint64_t pods[N_SIGNS][PODS * PODS], from[N_SIGNS][TORS],
	    to[N_SIGNS][TORS], host[N_SIGNS][HOSTS], bin[N_SIGNS][BINS],
	    all[N_SIGNS];
	struct law_mean rtt[N_SIGNS];
};

struct rig {
	struct whole_mesh m;
	struct counts bulk, each;
	struct counts *to; /* of these, whoever counts */
};

/* --- a complete mesh ------------------------------------------------------ */

/* Many stalls, some of which outlast the whole ladder. */
static void set_up(struct rig *g)
{
	*g = (struct rig){.to = NULL};
	whole_mesh_begin(&g->m, &shape, 1e-3);
	for (unsigned i = 0; i < CONNECTS_N_HOPS; i++) {
		g->m.p.law[i].stall_share = 0.05;
		g->m.p.law[i].stall_mu = 12;
	}
	whole_mesh_open(&g->m);
}

/* --- counting ------------------------------------------------------------- */

static int sign_of(const struct connects_row *r)
{
	return r->outcome == CONNECTS_UNTOLD   ? UNTOLD
	    : r->outcome == CONNECTS_TIMED_OUT ? FAILED
	    : r->n_lost == 0 ? (r->rtt_ns < 2750 * SIM_MS ? SLOW : STALLED)
			     : LATE_1 + r->n_lost - 1;
}

static void count(struct counts *x, const struct connects_row *r)
{
	const int s = sign_of(r);
	const uint32_t a = r->src / shape.n_hosts, b = r->dst / shape.n_hosts;
	assert_int_equal(r->hops, connects_hops_of(&shape, r->src, r->dst));
	x->pods[s][a / shape.n_tors * PODS + b / shape.n_tors] += r->n;
	x->from[s][a] += r->n;
	x->to[s][b] += r->n;
	x->host[s][r->src] += r->n;
	x->all[s] += r->n;
	/* Rows of many have no time of their own. */
	if (s < FAILED || s == STALLED || s == SLOW) {
		x->bin[s][r->sent_ns / SIM_SEC * BINS / WINDOW_S] += 1;
		law_add(&x->rtt[s], log((double)r->rtt_ns));
	}
}

static int take(void *arg, const struct connects_row *r, struct sim_err *e)
{
	struct rig *g = arg;
	(void)e;
	count(g->to, r);
	return 0;
}

/* --- each connect --------------------------------------------------------- */

/* What delays it adds to DELAY. */
static int way_loses(const struct rig *g, const struct scene *s,
    const struct topo_tuple *tuple, topo_host src, topo_host dst, sim_ns at,
    struct sim_rng *r, sim_ns *delay)
{
	topo_link path[TOPO_MAX_HOPS];
	const unsigned n = topo_path(&g->m.s.topo, s->ecmp_seed, src, dst,
	    topo_tuple_digest(tuple), path);
	for (unsigned i = 0; i < n; i++) {
		topo_node from, to;
		topo_link_ends(&g->m.s.topo, path[i], &from, &to);
		if (to >= HOSTS &&
		    truth_swallows(&s->truth, to - HOSTS, tuple, at))
			return 1;
		if (sim_rng_u01(r) <
		    -expm1(-scene_loss_hazard(&s->loss, path[i], at)))
			return 1;
		*delay += (sim_ns)llround(
		    scene_latency_draw(&s->truth, path[i], at, r) * 1e3);
	}
	return 0;
}

static int is_off(const struct scene *s, topo_host h, sim_ns at)
{
	return truth_outage_at(&s->truth, TRUTH_HOST_OFF, h, at) != NULL;
}

/* Any second of [from, to]; tests have outages that last longer. */
static int goes_off(const struct scene *s, topo_host h, sim_ns from, sim_ns to)
{
	for (sim_ns t = from; t < to; t += SIM_SEC)
		if (is_off(s, h, t))
			return 1;
	return is_off(s, h, to);
}

/* DELAY: of the round trip that got through. */
static struct connects_row make_one(const struct rig *g, const struct scene *s,
    const struct topo_tuple *tuple, topo_host src, topo_host dst, sim_ns sent,
    struct sim_rng *r, sim_ns *delay)
{
	const struct topo_tuple there = *tuple;
	const struct topo_tuple back = {there.dst_ip, there.src_ip,
	    there.dst_port, there.src_port, there.proto};
	struct connects_row x = {.src = src,
	    .dst = dst,
	    .n = 1,
	    .sent_ns = sent,
	    .outcome = CONNECTS_TIMED_OUT,
	    .hops = (uint8_t)connects_hops_of(&shape, src, dst)};
	sim_ns at = sent, end = sent + 21 * SIM_SEC;
	for (x.n_lost = 0; x.n_lost <= 2; x.n_lost++) {
		*delay = 0;
		if (!is_off(s, dst, at) &&
		    !way_loses(g, s, &there, src, dst, at, r, delay) &&
		    !way_loses(g, s, &back, dst, src, at, r, delay)) {
			x.rtt_ns = at - sent + *delay +
			    fabric_sim_rtt_draw(&g->m.p.law[x.hops], r);
			if (x.rtt_ns <= 21 * SIM_SEC) {
				x.outcome = CONNECTS_CONNECTED;
				end = sent + x.rtt_ns;
			}
			break;
		}
		at += g->m.p.ladder->wait_ns[x.n_lost];
	}
	if (goes_off(s, src, sent, end))
		x.outcome = CONNECTS_UNTOLD;
	return x;
}

static void make_pair(struct rig *g, const struct scene *s, unsigned level,
    topo_host src, topo_host dst, sim_ns from, sim_ns to, struct sim_rng *r)
{
	sim_ns at = connects_phase(g->m.c, level, src, dst);
	for (uint64_t k = 0; at < to; k++, at += g->m.p.mesh.every_ns[level]) {
		const struct topo_tuple t =
		    whole_mesh_tuple(&g->m, level, src, dst, k, r);
		if (at < from)
			continue;
		sim_ns delay;
		const struct connects_row x =
		    make_one(g, s, &t, src, dst, at, r, &delay);
		if (x.outcome != CONNECTS_CONNECTED || delay > 0 ||
		    x.rtt_ns >= g->m.p.late_ns)
			count(&g->each, &x);
	}
}

static void make_each(struct rig *g, const struct scene *s, sim_ns from,
    sim_ns to, struct sim_rng *r)
{
	for (unsigned level = 0; level < 2; level++)
		for (topo_host src = 0; src < HOSTS; src++)
			for (uint32_t k = 0; k < g->m.p.mesh.n_peers[level];
			     k++)
				make_pair(g, s, level, src,
				    whole_mesh_peer(&shape, level, src, k),
				    from, to, r);
}

/* --- comparing ------------------------------------------------------------ */

static void compare(const char *what, int sign, const uint64_t a[],
    const uint64_t b[], size_t n)
{
	const double p = law_chi2_equal(a, b, n);
	if (p < LEVEL)
		fail_msg("%s, sign %d: p = %g", what, sign, p);
}

/* Run both RUNS times, and compare what they count. */
static void hold(struct rig *g)
{
	const struct connects_taker taker = {g, take, NULL};
	struct sim_rng r;
	for (uint32_t run = 0; run < RUNS; run++) {
		struct scene *s = scenes_draw(&g->m.s, run);
		test_rng(&r, run);
		assert_ok(connects_begin(g->m.c, s, test_err()));
		make_each(g, s, 0, WINDOW_S * SIM_SEC, &r);
		g->to = &g->bulk;
		/* In three windows, of which one is no multiple of intervals:
		 * sums do not depend on where they are cut. */
		assert_ok(connects_window(g->m.c, 0, 100 * SIM_SEC, 0, &taker,
		    test_err()));
		assert_ok(connects_window(g->m.c, 100 * SIM_SEC, 137 * SIM_SEC,
		    1, &taker, test_err()));
		assert_ok(connects_window(g->m.c, 137 * SIM_SEC,
		    WINDOW_S * SIM_SEC, 2, &taker, test_err()));
	}
	for (int s = 0; s < N_SIGNS; s++) {
		const struct counts *a = &g->bulk, *b = &g->each;
		print_message("  sign %d: %llu in bulk, %llu one by one\n", s,
		    (unsigned long long)a->all[s],
		    (unsigned long long)b->all[s]);
		compare("pods", s, a->pods[s], b->pods[s], PODS * PODS);
		compare("from", s, a->from[s], b->from[s], TORS);
		compare("to", s, a->to[s], b->to[s], TORS);
		compare("hosts", s, a->host[s], b->host[s], HOSTS);
		compare("times", s, a->bin[s], b->bin[s], BINS);
		compare("all", s, &a->all[s], &b->all[s], 1);
		if (a->rtt[s].n > 100 && b->rtt[s].n > 100)
			assert_near(law_mean(&a->rtt[s]), law_mean(&b->rtt[s]),
			    5.5 *
				hypot(law_se(&a->rtt[s]), law_se(&b->rtt[s])));
	}
}

/* --- cases ---------------------------------------------------------------- */

static void a_healthy_network_loses_to_noise(void **state)
{
	struct rig g;
	(void)state;
	set_up(&g);
	hold(&g);
	assert_int_equal(g.bulk.all[UNTOLD], 0);
	whole_mesh_close(&g.m);
}

static void noise_may_differ_by_link(void **state)
{
	struct rig g;
	(void)state;
	set_up(&g);
	g.m.s.params.noise.rate = scenes_uniform(0, 4e-3);
	hold(&g);
	whole_mesh_close(&g.m);
	/* So much that many links lose a connect that would be lost anyhow. */
	set_up(&g);
	g.m.s.params.noise.rate = scenes_uniform(0, 0.08);
	hold(&g);
	whole_mesh_close(&g.m);
}

/* All links of one T2 lose, and one cable is cut. */
static void add_bad_t2(struct rig *g)
{
	struct fault_params *f = scenes_add_group(&g->m.s);
	const struct topo_clos *c = &g->m.s.topo.clos;
	for (uint32_t i = 0; i < c->all_t1; i++)
		for (int d = 0; d < 2; d++)
			f->links[f->n_links++] =
			    topo_clos_link_t1(c, i, 3, (enum topo_dir)d);
	f->rate = scenes_fixed(0.05);
}

static void later_syns_take_the_way_of_the_first(void **state)
{
	struct rig g;
	(void)state;
	set_up(&g);
	g.m.s.params.noise.rate = scenes_fixed(1e-4);
	add_bad_t2(&g);
	scenes_add_fault(&g.m.s, topo_clos_link_tor(&g.m.s.topo.clos, 9, 2, 0),
	    1);
	hold(&g);
	/* Two losses are far more than the square of one. */
	assert_true(g.bulk.all[FAILED] > 100);
	whole_mesh_close(&g.m);
}

static void corrupt_entries_drop_pairs_and_five_tuples(void **state)
{
	struct rig g;
	(void)state;
	set_up(&g);
	whole_mesh_add_hole(&g.m, FAULT_BLACK_HOLE_1, 5, 0.2)->to_s = 200;
	whole_mesh_add_hole(&g.m, FAULT_BLACK_HOLE_1, 6, 0.1);
	whole_mesh_add_hole(&g.m, FAULT_BLACK_HOLE_2, 6, 0.03);
	whole_mesh_add_hole(&g.m, FAULT_BLACK_HOLE_2, TORS + 1, 0.05)->to_s =
	    120;
	whole_mesh_add_hole(&g.m, FAULT_BLACK_HOLE_2, TORS + 16 + 2, 0.1)
	    ->from_s = 60;
	scenes_add_fault(&g.m.s, topo_clos_link_tor(&g.m.s.topo.clos, 6, 1, 1),
	    0.2)
	    ->from_s = 50;
	hold(&g);
	assert_true(g.bulk.all[FAILED] > 10000);
	whole_mesh_close(&g.m);
}

/* 24 ports, that is a turn in 240 s, or 24 / gcd(24, 38) = 12 with one count. */
static void open_again(struct rig *g, int of_list, double stalls)
{
	set_up(g);
	for (unsigned i = 0; i < CONNECTS_N_HOPS; i++)
		g->m.p.law[i].stall_share = stalls;
	g->m.p.ports =
	    (struct connects_ports){24, 40000, 81, (uint8_t)of_list, 1};
	whole_mesh_open(&g->m);
}

static void ports_that_come_again_meet_what_they_met(void **state)
{
	(void)state;
	for (int of_list = 0; of_list < 2; of_list++) {
		struct rig g;
		open_again(&g, of_list, 0.05);
		whole_mesh_add_hole(&g.m, FAULT_BLACK_HOLE_1, 5, 0.2)->to_s =
		    200;
		whole_mesh_add_hole(&g.m, FAULT_BLACK_HOLE_2, 5, 0.05)->to_s =
		    120;
		whole_mesh_add_hole(&g.m, FAULT_BLACK_HOLE_2, 6, 0.03)->from_s =
		    60;
		whole_mesh_add_hole(&g.m, FAULT_BLACK_HOLE_2, 7, 0.1);
		hold(&g);
		assert_true(g.bulk.all[FAILED] > 10000);
		whole_mesh_close(&g.m);
	}
}

/* Without chance the same connects fail, server by server. */
static void what_a_five_tuple_meets_is_no_chance(void **state)
{
	(void)state;
	for (int of_list = 0; of_list < 2; of_list++) {
		struct rig g;
		open_again(&g, of_list, 0);
		g.m.s.params.noise.rate = scenes_fixed(0);
		whole_mesh_add_hole(&g.m, FAULT_BLACK_HOLE_1, 5, 0.2);
		whole_mesh_add_hole(&g.m, FAULT_BLACK_HOLE_2, 5, 0.05);
		whole_mesh_add_hole(&g.m, FAULT_BLACK_HOLE_2, 7, 0.1);
		hold(&g);
		assert_true(g.bulk.all[LATE_1] == 0);
		assert_memory_equal(g.bulk.host[FAILED], g.each.host[FAILED],
		    sizeof(g.bulk.host[FAILED]));
		assert_memory_equal(g.bulk.to[FAILED], g.each.to[FAILED],
		    sizeof(g.bulk.to[FAILED]));
		whole_mesh_close(&g.m);
	}
}

static void a_pod_without_power_is_silent_and_unheard(void **state)
{
	struct rig g;
	(void)state;
	set_up(&g);
	struct fault_params *f = scenes_add_group(&g.m.s);
	uint32_t pod = 2, host = 200;
	f->kind = FAULT_POD_OFF;
	f->at = &pod;
	f->n_at = 1;
	f->from_s = 44;
	f->to_s = 211;
	f = scenes_add_group(&g.m.s);
	f->kind = FAULT_HOST_OFF;
	f->at = &host;
	f->n_at = 1;
	f->from_s = 100;
	whole_mesh_add_hole(&g.m, FAULT_BLACK_HOLE_1, 17, 0.2)->to_s = 220;
	hold(&g);
	assert_true(g.bulk.all[UNTOLD] > 10000);
	whole_mesh_close(&g.m);
}

/* Hosts' links that all lose, about alike, are no sources of their own; and a
 * link that is far worse is one. */
static void faults_may_be_on_all_links_of_hosts(void **state)
{
	struct rig g;
	(void)state;
	set_up(&g);
	struct fault_params *f = scenes_add_group(&g.m.s);
	f->count = 2 * HOSTS;
	f->classes = 1u << TOPO_HOST_TOR | 1u << TOPO_TOR_HOST;
	f->rate = scenes_uniform(1e-3, 3e-3);
	scenes_add_fault(&g.m.s, topo_link_of(7, TOPO_UP), 0.3);
	hold(&g);
	whole_mesh_close(&g.m);
}

static struct fault_params *add_slow(struct rig *g, topo_link l, double us)
{
	struct fault_params *f = scenes_add_fault(&g->m.s, l, 0);
	f->kind = FAULT_LATENCY;
	f->delay = scenes_fixed(us);
	return f;
}

/* Some of which lie on one way, and lose, too; one makes connects so late that a
 * SYN is sent again in vain, one delays by an exponential, and one all that a
 * server sends. Servers that go off lose what is under way. */
static void connects_that_are_delayed_have_rows(void **state)
{
	const struct topo_clos *c = &shape;
	struct rig g;
	(void)state;
	set_up(&g);
	c = &g.m.s.topo.clos;
	add_bad_t2(&g);
	add_slow(&g, topo_clos_link_t1(c, 1, 3, TOPO_UP), 2e5)->from_s = 60;
	add_slow(&g, topo_clos_link_t1(c, 5, 3, TOPO_DOWN), 4e6)->to_s = 200;
	add_slow(&g, topo_clos_link_tor(c, 0, 1, TOPO_UP), 3e5)->law =
	    TRUTH_EXPONENTIAL;
	add_slow(&g, topo_clos_link_tor(c, 9, 0, TOPO_DOWN), 1e5);
	scenes_add_fault(&g.m.s, topo_clos_link_tor(c, 9, 0, TOPO_DOWN), 0.1);
	add_slow(&g, topo_clos_link_host(12, TOPO_UP), 22e6)->from_s = 120;
	add_slow(&g, topo_clos_link_host(77, TOPO_DOWN), 1e3);
	whole_mesh_add_hole(&g.m, FAULT_BLACK_HOLE_2, 9, 0.1);
	struct fault_params *f = scenes_add_group(&g.m.s);
	uint32_t host = 78;
	f->kind = FAULT_HOST_OFF;
	f->at = &host;
	f->n_at = 1;
	f->from_s = 100;
	hold(&g);
	assert_true(g.bulk.all[SLOW] > 10000);
	whole_mesh_close(&g.m);
}

/* --- the rest ------------------------------------------------------------- */

/* Those of a mesh do not begin at once: chi-square over tenths of the interval,
 * at LEVEL for each of the two. */
static void phases_are_spread_over_the_interval(void **state)
{
	struct rig g;
	(void)state;
	set_up(&g);
	assert_ok(connects_begin(g.m.c, scenes_draw(&g.m.s, 0), test_err()));
	for (unsigned level = 0; level < 2; level++) {
		uint64_t n[10] = {0};
		for (topo_host h = 0; h < HOSTS; h++)
			for (uint32_t k = 0; k < g.m.p.mesh.n_peers[level];
			     k++) {
				const sim_ns at = connects_phase(g.m.c, level,
				    h, whole_mesh_peer(&shape, level, h, k));
				assert_true(at < 10 * SIM_SEC);
				n[at / SIM_SEC]++;
			}
		assert_true(law_chi2_uniform(n, 10) >= LEVEL);
	}
	whole_mesh_close(&g.m);
}

/* They are a seed's for good, and another run's or point's are others. */
static void phases_are_of_the_seed(void **state)
{
	struct rig g;
	(void)state;
	set_up(&g);
	struct scene *s = scenes_draw(&g.m.s, 0);
	const struct sim_seed wheres[] = {{.seed = 1}, {.seed = 1, .run = 1},
	    {.seed = 1, .point = 1}};
	static const sim_ns want[] = {UINT64_C(0x24b23c807),
	    UINT64_C(0x1d1c49a87), UINT64_C(0xb0fbef)};
	for (unsigned i = 0; i < 3; i++) {
		s->where = wheres[i];
		assert_ok(connects_begin(g.m.c, s, test_err()));
		assert_int_equal(connects_phase(g.m.c, CONNECTS_DC, 3, 251),
		    want[i]);
	}
	whole_mesh_close(&g.m);
}

static void due_ones_are_counted(void **state)
{
	struct rig g;
	struct sim_rng r;
	(void)state;
	set_up(&g);
	assert_ok(connects_begin(g.m.c, scenes_draw(&g.m.s, 0), test_err()));
	for (uint32_t run = 0; run < 1000; run++) {
		uint32_t n = 0;
		test_rng(&r, run);
		const topo_host a = sim_rng_below(&r, HOSTS);
		const topo_host b = whole_mesh_peer(&shape, CONNECTS_DC, a,
		    sim_rng_below(&r, TORS - 1));
		const sim_ns from = sim_rng_below(&r, 60) * SIM_SEC;
		const sim_ns to = from + sim_rng_below(&r, 60) * SIM_SEC;
		const sim_ns phase = connects_phase(g.m.c, CONNECTS_DC, a, b);
		assert_true(phase < 10 * SIM_SEC);
		for (sim_ns t = phase; t < to; t += 10 * SIM_SEC)
			n += t >= from;
		assert_int_equal(connects_due(g.m.c, CONNECTS_DC, a, b, from,
				     to),
		    n);
	}
	whole_mesh_close(&g.m);
}

static void assert_refused(struct rig *g, const char *text)
{
	struct sim_err e;
	assert_int_equal(connects_begin(g->m.c, scenes_draw(&g->m.s, 0), &e),
	    SIM_EUNSUPPORTED);
	if (!strstr(e.msg, text))
		fail_msg("%s", e.msg);
}

static void what_is_not_in_bulk_is_refused(void **state)
{
	struct rig g;
	(void)state;
	set_up(&g);
	g.m.s.params.noise.per = SCENE_NOISE_PER_FLOW;
	assert_refused(&g, "noise is per flow");
	g.m.s.params.noise.per = SCENE_NOISE_PER_LINK;
	g.m.s.params.congestion.racks = 0.5;
	g.m.s.params.congestion.burst_ms = 1;
	assert_refused(&g, "connects in bulk meet no congestion.");
	g.m.s.params.congestion.racks = 0;
	whole_mesh_add_hole(&g.m, FAULT_HASH, TORS, 0.1);
	assert_refused(&g,
	    "connects in bulk have no switch that chooses wrongly.");
	g.m.s.params.n_groups--;
	whole_mesh_add_hole(&g.m, FAULT_BLACK_HOLE_1, TORS, 0.1);
	assert_refused(&g, "t1.0 has a black hole of type 1");
	g.m.s.params.n_groups--;
	whole_mesh_add_hole(&g.m, FAULT_BLACK_HOLE_2, TORS, 0.1)->to_s = 10;
	whole_mesh_add_hole(&g.m, FAULT_BLACK_HOLE_2, TORS, 0.1)->from_s = 9;
	assert_refused(&g, "t1.0 has two black holes of type 2");
	g.m.s.group[g.m.s.params.n_groups - 1].from_s = 10;
	assert_ok(connects_begin(g.m.c, scenes_draw(&g.m.s, 0), test_err()));
	whole_mesh_close(&g.m);
}

static void paths_that_matter_are_refused_where_ports_come_again(void **state)
{
	struct rig g;
	(void)state;
	open_again(&g, 0, 0);
	scenes_add_fault(&g.m.s, 5, 0.1);
	assert_refused(&g, "link 5 is faulty and pairs come to their ports");
	g.m.s.params.n_groups--;
	whole_mesh_add_hole(&g.m, FAULT_BLACK_HOLE_2, TORS - 1, 0.1);
	assert_ok(connects_begin(g.m.c, scenes_draw(&g.m.s, 0), test_err()));
	whole_mesh_add_hole(&g.m, FAULT_BLACK_HOLE_2, TORS, 0.1);
	assert_refused(&g, "t1.0 has a black hole and pairs come");
	whole_mesh_close(&g.m);
}

static int stop(void *arg, const struct connects_row *r, struct sim_err *e)
{
	(void)arg, (void)r;
	return sim_fail(e, SIM_EIO, "no room.");
}

static void who_takes_rows_may_stop_them(void **state)
{
	const struct connects_taker taker = {NULL, stop, NULL};
	struct sim_err e;
	struct rig g;
	(void)state;
	set_up(&g);
	assert_ok(connects_begin(g.m.c, scenes_draw(&g.m.s, 0), test_err()));
	assert_int_equal(connects_window(g.m.c, 0, SIM_SEC * 60, 0, &taker, &e),
	    SIM_EIO);
	whole_mesh_close(&g.m);
}

static int open_and_run(void *arg, struct sim_err *e)
{
	struct rig *g = arg;
	const struct connects_taker taker = {g, take, NULL};
	struct connects *c;
	int rc = connects_open(&c, &g->m.s.topo, &g->m.p, e);
	if (rc < 0)
		return rc;
	g->to = &g->bulk;
	if ((rc = connects_begin(c, &g->m.s.scene, e)) == 0)
		rc = connects_window(c, 0, 20 * SIM_SEC, 0, &taker, e);
	connects_close(c);
	return rc;
}

static void running_out_of_memory_is_told(void **state)
{
	struct rig g;
	(void)state;
	set_up(&g);
	whole_mesh_add_hole(&g.m, FAULT_BLACK_HOLE_1, 5, 0.2);
	whole_mesh_add_hole(&g.m, FAULT_BLACK_HOLE_2, 5, 0.2);
	scenes_draw(&g.m.s, 0);
	test_each_alloc_fails(open_and_run, &g);
	connects_close(NULL);
	whole_mesh_close(&g.m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_healthy_network_loses_to_noise),
	    cmocka_unit_test(noise_may_differ_by_link),
	    cmocka_unit_test(later_syns_take_the_way_of_the_first),
	    cmocka_unit_test(corrupt_entries_drop_pairs_and_five_tuples),
	    cmocka_unit_test(ports_that_come_again_meet_what_they_met),
	    cmocka_unit_test(what_a_five_tuple_meets_is_no_chance),
	    cmocka_unit_test(a_pod_without_power_is_silent_and_unheard),
	    cmocka_unit_test(faults_may_be_on_all_links_of_hosts),
	    cmocka_unit_test(connects_that_are_delayed_have_rows),
	    cmocka_unit_test(phases_are_spread_over_the_interval),
	    cmocka_unit_test(phases_are_of_the_seed),
	    cmocka_unit_test(due_ones_are_counted),
	    cmocka_unit_test(what_is_not_in_bulk_is_refused),
	    cmocka_unit_test(
		paths_that_matter_are_refused_where_ports_come_again),
	    cmocka_unit_test(who_takes_rows_may_stop_them),
	    cmocka_unit_test(running_out_of_memory_is_told),
	};
	return cmocka_run_group_tests_name("models/connects/connects", tests,
	    NULL, NULL);
}
