/* tests/models/bulk/bulk_hole_test.c -- exact plane: black holes, hosts off.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Chi-squares at level 1e-6, four of them, and two bounds of 5 standard errors
 * (6e-7).
 */
#include "algos/verdict.h"
#include "models/bulk/bulk.h"
#include "models/bulk/skip.h"
#include "models/bulk/vigil_matlab.h"
#include "results/score.h"
#include "tests/rigs/bulk.h"
#include "tests/rigs/law.h"
#include "tests/rigs/scenes.h"
#include "topo/addr.h"
#include "topo/mesh.h"

#include <gsl/gsl_randist.h>

#define LEVEL 1e-6

static const struct topo_clos small = {2, 3, 2, 2, 4, .n_cables = 0};
static const struct topo_clos sim = {2, 20, 8, 10, 40, .n_cables = 0};

static struct fault_params *add_holes(struct scenes *s, uint32_t kind,
    uint32_t switches, double entries)
{
	struct fault_params *g = scenes_add_group(s);
	g->kind = kind;
	g->switches = switches;
	g->entries = scenes_fixed(entries);
	return g;
}

static struct topo_tuple tuple_of(const struct obs *w, size_t i)
{
	return (struct topo_tuple){
	    .src_ip = topo_addr_of_host(w->flows.src_host[i]),
	    .dst_ip = topo_addr_of_host(w->flows.dst_host[i]),
	    .src_port = w->flows.src_port[i],
	    .dst_port = w->flows.dst_port[i],
	    .proto = TOPO_PROTO_TCP,
	};
}

/* By a search of all holes: does switch AT take TUPLE at T? */
static int is_taken(const struct truth *truth, topo_switch at,
    const struct topo_tuple *tuple, sim_ns t)
{
	for (size_t i = 0; i < truth->n_holes; i++) {
		const struct truth_hole *h = &truth->hole[i];
		if (h->at == at && h->from_ns <= t && t < h->to_ns &&
		    blackhole_rule_drops(&h->rule, tuple))
			return 1;
	}
	return 0;
}

/* Index in a path of N_HOPS of the link into the first switch that takes TUPLE
 * at T, or N_HOPS. */
static unsigned hole_on(const struct scene *s, const struct topo_tuple *tuple,
    const topo_link path[], unsigned n_hops, sim_ns t)
{
	unsigned i = 0;
	for (; i + 1 < n_hops; i++) {
		topo_node from, to;
		topo_link_ends(s->topo, path[i], &from, &to);
		if (is_taken(&s->truth, to - s->topo->n_hosts, tuple, t))
			return i;
	}
	return i + 1;
}

static unsigned hole_of(const struct scene *s, const struct obs *w, size_t flow)
{
	const struct topo_tuple tuple = tuple_of(w, flow);
	return hole_on(s, &tuple, obs_path(w, flow), obs_n_hops(w, flow),
	    w->flows.start_ns[flow]);
}

/* Without noise each flow loses all of its packets on the link into the first
 * hole that takes it, or it loses nothing. */
static unsigned assert_fates(const struct scene *s, const struct plane *p)
{
	const struct obs *w = &p->window;
	unsigned n_taken = 0;
	for (size_t i = 0; i < w->flows.n; i++) {
		const unsigned n_hops = obs_n_hops(w, i);
		const unsigned at = hole_of(s, w, i);
		const uint32_t *drops = p->lost.drops + w->hops.off[i];
		for (unsigned k = 0; k < n_hops; k++)
			assert_int_equal(drops[k],
			    k == at ? w->flows.n_pkts[i] : 0);
		n_taken += at < n_hops;
	}
	return n_taken;
}

/* Both kinds at all tiers, some for a part of the epoch; in the arithmetic
 * Clos, whose path is by blocks unless all flows are asked for, and in a mesh.
 */
static void each_flow_has_the_fate_that_its_path_says(void **state)
{
	(void)state;
	for (int mesh = 0; mesh < 2; mesh++) {
		struct scenes s;
		struct topo_mesh *m;
		struct plane p;
		unsigned n_taken = 0;
		plane_open(&p);
		if (mesh) {
			assert_ok(topo_mesh_fat_tree(&m, 4, 3, test_err()));
			scenes_open_mesh(&s, m);
		} else {
			scenes_open(&s, &small);
		}
		s.params.noise.rate = scenes_fixed(0);
		add_holes(&s, FAULT_BLACK_HOLE_1, 3, 0.2);
		add_holes(&s, FAULT_BLACK_HOLE_2, 3, 0.1)->from_s = 11;
		for (uint32_t run = 0; run < 20; run++) {
			struct scene *scene = scenes_draw(&s, run);
			run_epoch(&p, scene, 1);
			const unsigned taken = assert_fates(scene, &p);
			assert_int_equal(p.window.flows.n,
			    scene->traffic.n_flows);
			run_epoch(&p, scene, 0);
			assert_fates(scene, &p);
			assert_int_equal(p.window.flows.n, taken);
			n_taken += taken;
		}
		assert_true(n_taken > 100);
		plane_close(&p);
		scenes_close(&s);
	}
}

/* Whether a hole takes what comes back of a flow. */
static int is_taken_back(const struct scene *s, const struct obs *w,
    size_t flow)
{
	const struct topo_tuple there = tuple_of(w, flow),
				back = {.src_ip = there.dst_ip,
				    .dst_ip = there.src_ip,
				    .src_port = there.dst_port,
				    .dst_port = there.src_port,
				    .proto = TOPO_PROTO_TCP};
	topo_link path[TOPO_MAX_HOPS];
	const unsigned n =
	    topo_path(s->topo, s->ecmp_seed, w->flows.dst_host[flow],
		w->flows.src_host[flow], topo_tuple_digest(&back), path);
	return hole_on(s, &back, path, n, w->flows.start_ns[flow]) < n;
}

/* With TCP a hole on either way has the SYN sent again until no more; on the
 * way there it takes each. Nothing else is ever sent. */
static void with_tcp_handshakes_end_in_the_holes_of_both_ways(void **state)
{
	(void)state;
	struct scenes s;
	struct plane p;
	unsigned n_taken = 0, n_back = 0;
	plane_open(&p);
	scenes_open(&s, &small);
	scenes_use_tcp(&s, 4);
	s.params.noise.rate = scenes_fixed(0);
	add_holes(&s, FAULT_BLACK_HOLE_1, 3, 0.2);
	add_holes(&s, FAULT_BLACK_HOLE_2, 3, 0.1)->from_s = 11;
	for (uint32_t run = 0; run < 20; run++) {
		struct scene *scene = scenes_draw(&s, run);
		unsigned n_lossy = 0;
		run_epoch(&p, scene, 1);
		const struct obs *w = &p.window;
		assert_int_equal(w->flows.n, scene->traffic.n_flows);
		for (size_t i = 0; i < w->flows.n; i++) {
			const unsigned n_hops = obs_n_hops(w, i);
			const unsigned at = hole_of(scene, w, i);
			const int back = is_taken_back(scene, w, i);
			for (unsigned k = 0; k < n_hops; k++)
				assert_int_equal(p.lost
						     .drops[w->hops.off[i] + k],
				    k == at ? 16 : 0);
			assert_int_equal(w->flows.n_retx[i],
			    at < n_hops || back ? 15 : 0);
			assert_int_equal(p.lost.early[i], w->flows.n_retx[i]);
			n_taken += at < n_hops;
			n_back += at == n_hops && back;
			n_lossy += at < n_hops || back;
		}
		run_epoch(&p, scene, 0);
		assert_int_equal(p.window.flows.n, n_lossy);
	}
	assert_true(n_taken > 100 && n_back > 100);
	plane_close(&p);
	scenes_close(&s);
}

/* A flow between pods meets five switches; with a hole at every switch, each
 * with a rule of its own, it passes with probability (1 - share)^5, and inside
 * a pod with (1 - share)^3. Pairs of type 1 are not independent flows, so each
 * run counts one flow; of 4000, within 5 standard errors. */
static void holes_along_a_path_multiply(void **state)
{
	(void)state;
	for (unsigned kind = FAULT_BLACK_HOLE_1; kind <= FAULT_BLACK_HOLE_2;
	     kind++) {
		struct scenes s;
		struct plane p;
		double n_taken = 0, want = 0, var = 0;
		plane_open(&p);
		scenes_open(&s, &small);
		s.params.noise.rate = scenes_fixed(0);
		s.params.traffic.conns = scenes_fixed(1);
		add_holes(&s, kind, s.topo.n_switches, 0.15);
		for (uint32_t run = 0; run < 4000; run++) {
			struct scene *scene = scenes_draw(&s, run);
			run_epoch(&p, scene, 1);
			const double pass =
			    pow(1 - 0.15, obs_n_hops(&p.window, 0) - 1);
			n_taken += p.window.flows.n_retx[0] > 0;
			want += 1 - pass;
			var += pass * (1 - pass);
		}
		assert_near(n_taken, want, 5 * sqrt(var));
		plane_close(&p);
		scenes_close(&s);
	}
}

/* --- the slow reference --------------------------------------------------- */

enum { MAX_LINKS = 128, SIZES = 8 };
struct histogram {
	uint64_t first[MAX_LINKS + 1]; /* flows, by the first link that lost */
	uint64_t lost[SIZES];          /* flows, by packets lost */
	uint64_t flows[MAX_LINKS];     /* that ran, by host */
	uint64_t dark[2 * MAX_LINKS];  /* all lost there, by last link */
};

static void count(struct histogram *h, topo_host src, const topo_link path[],
    unsigned n_hops, const uint32_t drops[], uint32_t n_pkts)
{
	uint32_t lost = 0, first = MAX_LINKS;
	for (unsigned i = 0; i < n_hops; i++) {
		if (drops[i] > 0 && first == MAX_LINKS)
			first = path[i];
		lost += drops[i];
		if (lost == n_pkts && drops[i] > 0)
			h->dark[path[i]]++;
	}
	h->first[first]++;
	h->lost[lost]++;
	h->flows[src]++;
}

static double rate_at(const struct scene *s, topo_link l, sim_ns t)
{
	const struct truth *truth = &s->truth;
	for (size_t i = 0; i < truth->n_faults; i++) {
		const struct truth_fault *f = &truth->fault[i];
		if (f->link == l && !f->of_hole && f->from_ns <= t &&
		    t < f->to_ns)
			return f->rate;
	}
	return scene_noise_rate(&s->loss.noise, l);
}

static int is_off(const struct truth *truth, topo_host h, sim_ns t)
{
	for (size_t i = 0; i < truth->n_outages; i++) {
		const struct truth_outage *o = &truth->outage[i];
		if (o->kind == TRUTH_HOST_OFF && o->id == h &&
		    o->from_ns <= t && t < o->to_ns)
			return 1;
	}
	return 0;
}

/* One flow, a packet and a link at a time. */
static void send(const struct scene *s, gsl_rng *r, topo_host src,
    struct histogram *out)
{
	const struct topo *t = s->topo;
	const sim_ns at =
	    (sim_ns)(gsl_rng_uniform(r) * (double)s->traffic.epoch_ns);
	const struct sim_dist *size = &s->traffic.params.packets;
	const uint32_t n_pkts = (uint32_t)size->a +
	    (uint32_t)gsl_rng_uniform_int(r,
		(unsigned long)(size->b - size->a) + 1);
	topo_link path[TOPO_MAX_HOPS];
	uint32_t drops[TOPO_MAX_HOPS] = {0};
	topo_host dst;
	do
		dst = (topo_host)gsl_rng_uniform_int(r, t->n_hosts);
	while (topo_tor_of(t, dst) == topo_tor_of(t, src));
	if (is_off(&s->truth, src, at))
		return;
	const struct topo_tuple tuple = {topo_addr_of_host(src),
	    topo_addr_of_host(dst),
	    (uint16_t)(1024 + gsl_rng_uniform_int(r, 60000)),
	    (uint16_t)(1024 + gsl_rng_uniform_int(r, 60000)), TOPO_PROTO_TCP};
	const unsigned h = topo_path(t, s->ecmp_seed, src, dst,
	    (uint32_t)gsl_rng_get(r), path);
	for (uint32_t k = 0; k < n_pkts; k++)
		for (unsigned i = 0; i < h; i++) {
			topo_node from, to;
			topo_link_ends(t, path[i], &from, &to);
			if (gsl_ran_bernoulli(r, rate_at(s, path[i], at)) ||
			    (i + 1 < h &&
				is_taken(&s->truth, to - t->n_hosts, &tuple,
				    at))) {
				drops[i]++;
				break;
			}
		}
	count(out, src, path, h, drops, n_pkts);
}

static void assert_equal_laws(const uint64_t a[], const uint64_t b[], size_t n,
    const char *what)
{
	const double p = law_chi2_equal(a, b, n);
	if (p < LEVEL)
		fail_msg("%s: p = %g, seed %ju", what, p,
		    (uintmax_t)test_seed());
}

/* Noise, lossy links, holes of both types and hosts that are off, each for a
 * part of the epoch, in one scene whose flows are drawn anew each time. */
static void the_law_is_that_of_single_packets(void **state)
{
	(void)state;
	static struct histogram got, want;
	struct scenes s;
	struct plane p;
	gsl_rng *r = gsl_rng_alloc(gsl_rng_mt19937);
	plane_open(&p);
	scenes_open(&s, &small);
	assert_true(s.topo.n_links <= MAX_LINKS);
	s.params.traffic.conns = scenes_fixed(40);
	s.params.traffic.packets = scenes_uniform(1, SIZES - 1);
	s.params.noise.rate = scenes_uniform(0, 0.02);
	scenes_add_fault(&s, topo_clos_class_at(&s.topo.clos, TOPO_TOR_T1, 1),
	    0.2);
	scenes_add_fault(&s, topo_clos_class_at(&s.topo.clos, TOPO_T1_TOR, 7),
	    0.3)
	    ->to_s = 9;
	add_holes(&s, FAULT_BLACK_HOLE_1, 3, 0.2);
	add_holes(&s, FAULT_BLACK_HOLE_2, 2, 0.3)->from_s = 12;
	struct fault_params *g = scenes_add_group(&s);
	g->kind = FAULT_HOST_OFF;
	g->count = 3;
	g->from_s = 3;
	g->spread_s = 5;
	g->lasts_s = 14;
	struct scene *scene = scenes_draw(&s, 1);
	for (uint32_t run = 0; run < 100; run++) {
		scene->where.run = run;
		run_epoch(&p, scene, 1);
		const struct obs *w = &p.window;
		assert_int_equal(w->n_flows, w->flows.n);
		for (size_t i = 0; i < w->flows.n; i++)
			count(&got, w->flows.src_host[i], obs_path(w, i),
			    obs_n_hops(w, i), p.lost.drops + w->hops.off[i],
			    w->flows.n_pkts[i]);
		for (uint64_t f = 0; f < scene->traffic.n_flows; f++)
			send(scene, r, scene_traffic_src(&scene->traffic, f),
			    &want);
	}
	assert_equal_laws(got.first, want.first, MAX_LINKS + 1, "first link");
	assert_equal_laws(got.lost, want.lost, SIZES, "packets lost");
	assert_equal_laws(got.flows, want.flows, MAX_LINKS, "flows of a host");
	assert_equal_laws(got.dark, want.dark, MAX_LINKS, "all lost at");
	gsl_rng_free(r);
	plane_close(&p);
	scenes_close(&s);
}

/* --- equalities ----------------------------------------------------------- */

static void a_window_of_lossy_flows_is_that_of_all_without_the_others(
    void **state)
{
	(void)state;
	struct scenes s;
	struct plane all, some;
	plane_open(&all);
	plane_open(&some);
	scenes_open(&s, &sim);
	s.params.noise.rate = scenes_fixed(1e-5);
	add_holes(&s, FAULT_BLACK_HOLE_1, 2, 0.01);
	add_holes(&s, FAULT_BLACK_HOLE_2, 2, 0.01);
	struct fault_params *g = scenes_add_group(&s);
	g->kind = FAULT_HOST_OFF;
	g->count = 20;
	g->from_s = 5;
	struct scene *scene = scenes_draw(&s, 1);
	run_epoch(&all, scene, 1);
	run_epoch(&some, scene, 0);
	assert_int_equal(all.window.n_flows, some.window.n_flows);
	assert_true(all.window.n_flows < scene->traffic.n_flows);
	size_t k = 0;
	for (size_t i = 0; i < all.window.flows.n; i++) {
		const struct obs_flows *a = &all.window.flows;
		const struct obs_flows *b = &some.window.flows;
		if (a->n_retx[i] == 0)
			continue;
		assert_true(k < b->n);
		assert_int_equal(a->start_ns[i], b->start_ns[k]);
		assert_int_equal(a->n_retx[i], b->n_retx[k]);
		k++;
	}
	assert_int_equal(k, some.window.flows.n);
	assert_true(k > 500);
	plane_close(&all);
	plane_close(&some);
	scenes_close(&s);
}

static void all_kernels_give_the_same_window(void **state)
{
	(void)state;
	struct scenes s;
	struct obs first = {0};
	struct losses drops = {0}, lost = {0};
	scenes_open(&s, &sim);
	add_holes(&s, FAULT_BLACK_HOLE_1, 3, 0.02);
	for (const struct bulk_kernel *const *k = bulk_kernels(); *k; k++) {
		struct bulk *b;
		struct obs w = {0};
		struct scene *scene = scenes_draw(&s, 1);
		assert_ok(bulk_open(&b, *k, test_err()));
		assert_ok(bulk_epoch(b, scene, 0, &w, &lost, test_err()));
		assert_true(w.flows.n > 100);
		if (k == bulk_kernels()) {
			first = w;
			drops = lost;
			lost = (struct losses){0};
		} else {
			scenes_assert_same(&first, &drops, &w, &lost);
			obs_free(&w);
		}
		bulk_close(b);
	}
	obs_free(&first);
	losses_free(&drops);
	losses_free(&lost);
	scenes_close(&s);
}

/* A hole without entries, and faults that begin after the epoch. */
static void what_never_acts_changes_nothing(void **state)
{
	(void)state;
	struct scenes s;
	struct plane with, without;
	plane_open(&with);
	plane_open(&without);
	scenes_open(&s, &sim);
	s.params.noise.rate = scenes_fixed(1e-5);
	run_epoch(&without, scenes_draw(&s, 3), 0);
	assert_true(without.window.flows.n > 20);

	add_holes(&s, FAULT_BLACK_HOLE_1, 5, 0);
	run_epoch(&with, scenes_draw(&s, 3), 0);
	scenes_assert_same(&without.window, &without.lost, &with.window,
	    &with.lost);
	assert_ok(bulk_skip_fits(&s.scene, test_err()));

	add_holes(&s, FAULT_BLACK_HOLE_2, 5, 1)->from_s = 30;
	for (unsigned kind = FAULT_HOST_OFF; kind <= FAULT_POD_OFF; kind++) {
		struct fault_params *g = scenes_add_group(&s);
		g->kind = kind;
		g->from_s = 30;
		g->lasts_s = 5;
	}
	for (unsigned kind = FAULT_CONTROLLER; kind <= FAULT_COLLECTOR; kind++)
		scenes_add_group(&s)->kind = kind;
	run_epoch(&with, scenes_draw(&s, 3), 0);
	scenes_assert_same(&without.window, &without.lost, &with.window,
	    &with.lost);
	plane_close(&with);
	plane_close(&without);
	scenes_close(&s);
}

/* Pod 1, between 10 and 20 s. */
static void a_pod_that_is_off_sends_nothing_and_gets_nothing(void **state)
{
	(void)state;
	struct scenes s;
	struct plane p;
	uint32_t pod = 1;
	size_t n_to = 0, n_from = 0;
	plane_open(&p);
	scenes_open(&s, &small);
	s.params.noise.rate = scenes_fixed(0);
	struct fault_params *g = scenes_add_group(&s);
	g->kind = FAULT_POD_OFF;
	g->at = &pod;
	g->n_at = 1;
	g->from_s = 10;
	g->to_s = 20;
	struct scene *scene = scenes_draw(&s, 0);
	run_epoch(&p, scene, 1);
	const struct obs_flows *f = &p.window.flows;
	for (size_t i = 0; i < f->n; i++) {
		const int dark = f->start_ns[i] >= 10 * SIM_SEC &&
		    f->start_ns[i] < 20 * SIM_SEC;
		const int from = topo_pod_of(&s.topo, f->src_host[i]) == 1;
		const int to = topo_pod_of(&s.topo, f->dst_host[i]) == 1;
		assert_false(dark && from);
		assert_int_equal(f->n_retx[i], dark && to ? f->n_pkts[i] : 0);
		n_to += (size_t)(dark && to);
		n_from += (size_t)from;
	}
	assert_true(n_to > 20 && n_from > 20);
	assert_int_equal(p.window.n_flows, f->n);
	assert_true(f->n < scene->traffic.n_flows);
	plane_close(&p);
	scenes_close(&s);
}

static void the_released_simulator_has_no_holes_and_nobody_off(void **state)
{
	(void)state;
	struct scenes s;
	struct sim_err e;
	scenes_open(&s, &small);
	struct fault_params *g = add_holes(&s, FAULT_BLACK_HOLE_1, 1, 0.5);
	uint32_t at[] = {s.topo.n_hosts + 7};
	g->at = at;
	g->n_at = 1;
	scenes_draw(&s, 0);
	assert_int_equal(bulk_vigil_matlab_fits(&s.scene, &e),
	    SIM_EUNSUPPORTED);
	assert_string_equal(e.msg,
	    "plane vigil_matlab has no black holes (switch 7).");
	g->kind = FAULT_HOST_OFF;
	g->n_at = 0;
	scenes_draw(&s, 0);
	assert_int_equal(bulk_vigil_matlab_fits(&s.scene, &e),
	    SIM_EUNSUPPORTED);
	assert_string_equal(e.msg,
	    "plane vigil_matlab has no hosts that are off.");
	g->kind = FAULT_CONTROLLER;
	scenes_draw(&s, 0);
	assert_ok(bulk_skip_fits(&s.scene, test_err()));
	assert_ok(bulk_vigil_matlab_fits(&s.scene, test_err()));
	scenes_close(&s);
}

/* --- scores --------------------------------------------------------------- */

/* A verdict that names the holes' switches, or the links into them, is right:
 * all are found, none is wrong, and the worse one is the worst. */
static void holes_can_be_found_as_switches_and_as_links(void **state)
{
	(void)state;
	struct scenes s;
	struct plane p;
	struct res_algo_metrics m;
	plane_open(&p);
	scenes_open(&s, &small);
	s.params.noise.rate = scenes_fixed(0);
	uint32_t at[] = {s.topo.n_hosts + 2}, worse[] = {s.topo.n_hosts + 6};
	struct fault_params *g = add_holes(&s, FAULT_BLACK_HOLE_1, 1, 0.2);
	g->at = at;
	g->n_at = 1;
	g = add_holes(&s, FAULT_BLACK_HOLE_2, 1, 0.9);
	g->at = worse;
	g->n_at = 1;
	run_epoch(&p, scenes_draw(&s, 1), 0);
	const struct truth *t = &s.scene.truth;
	for (unsigned links = 0; links < 2; links++) {
		struct algo_verdicts v = {.kind = links ? ALGO_KIND_LINK
							: ALGO_KIND_SWITCH,
		    .flags = 1};
		uint32_t id[64];
		double score[64];
		topo_link blame[4096];
		size_t n = 0;
		if (links) {
			for (size_t i = 0; i < t->n_faults; i++)
				id[n++] = t->fault[i].link;
		} else {
			id[n++] = 6;
			id[n++] = 2;
		}
		for (size_t i = 0; i < n; i++)
			score[i] = (double)(n - i);
		v.n = v.n_flagged = n;
		v.link = id;
		v.score = score;
		v.n_flows = p.window.flows.n;
		v.blame = blame;
		assert_true(v.n_flows > 50 && v.n_flows < 4096);
		for (size_t i = 0; i < v.n_flows; i++) {
			topo_node from, to;
			const topo_link l = obs_path(&p.window,
			    i)[hole_of(&s.scene, &p.window, i)];
			topo_link_ends(&s.topo, l, &from, &to);
			blame[i] = links ? l : to - s.topo.n_hosts;
		}
		assert_ok(
		    res_score_algo(&p.window, t, &p.lost, &v, &m, test_err()));
		assert_near(m.n_flagged_true, (double)n, 0);
		assert_near(m.n_links_true, (double)n, 0);
		assert_near(m.n_top_true, (double)n, 0);
		assert_near(m.hits_all, (double)v.n_flows, 0);
		assert_near(m.hits_fault, (double)v.n_flows, 0);
		assert_near(m.n_worst, 1, 0);
		if (!links)
			assert_near(m.worst_rank, 1, 0);
	}
	plane_close(&p);
	scenes_close(&s);
}

static int run_afresh(void *arg, struct sim_err *e)
{
	struct scene *s = arg;
	struct bulk *b = NULL;
	struct obs w = {0};
	struct losses lost = {0};
	int rc = bulk_open(&b, NULL, e);
	if (rc == 0)
		rc = bulk_epoch(b, s, 0, &w, &lost, e);
	assert_true(rc < 0 || w.flows.n > 20);
	bulk_close(b);
	obs_free(&w);
	losses_free(&lost);
	return rc;
}

static void each_failing_allocation_is_reported(void **state)
{
	(void)state;
	struct scenes s;
	scenes_open(&s, &small);
	add_holes(&s, FAULT_BLACK_HOLE_1, 3, 0.3);
	test_each_alloc_fails(run_afresh, scenes_draw(&s, 0));
	scenes_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_flow_has_the_fate_that_its_path_says),
	    cmocka_unit_test(with_tcp_handshakes_end_in_the_holes_of_both_ways),
	    cmocka_unit_test(holes_along_a_path_multiply),
	    cmocka_unit_test(the_law_is_that_of_single_packets),
	    cmocka_unit_test(
		a_window_of_lossy_flows_is_that_of_all_without_the_others),
	    cmocka_unit_test(all_kernels_give_the_same_window),
	    cmocka_unit_test(what_never_acts_changes_nothing),
	    cmocka_unit_test(a_pod_that_is_off_sends_nothing_and_gets_nothing),
	    cmocka_unit_test(
		the_released_simulator_has_no_holes_and_nobody_off),
	    cmocka_unit_test(holes_can_be_found_as_switches_and_as_links),
	    cmocka_unit_test(each_failing_allocation_is_reported),
	};
	return cmocka_run_group_tests_name("models/bulk: holes", tests, NULL,
	    NULL);
}
