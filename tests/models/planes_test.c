/* tests/models/planes_test.c -- both data planes against all possible outcomes.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * In tiny networks every route, size and loss of a flow can be enumerated.
 * Chi-squares at level 1e-6, about 450: one fires in 5 of 10,000 random seeds.
 */
#include <gsl/gsl_cdf.h>

#include "models/bulk/bulk.h"
#include "models/bulk/skip.h"
#include "tests/rigs/law.h"
#include "tests/rigs/planes.h"
#include "tests/rigs/scenes.h"
#include "topo/addr.h"
#include "topo/mesh.h"

#define LEVEL 1e-6

enum { MAX_PKTS = 2, DROP_CODES = 729, MAX_OUTCOMES = 1 << 18, MAX_HOSTS = 8 };

/* An outcome of one flow: where it went, its packets, what it lost on each hop.
 * All flows that lost nothing are one outcome, number 0. */
static unsigned outcome_of(const struct topo_clos *c, uint32_t dst, uint32_t up,
    uint32_t t2, uint32_t down, uint32_t n_pkts, const uint32_t drops[],
    unsigned h)
{
	unsigned code = 0, lost = 0;
	for (unsigned i = 0; i < h; i++) {
		code = code * (MAX_PKTS + 1) + drops[i];
		lost += drops[i];
	}
	unsigned route =
	    ((dst * c->n_t1 + up) * (c->n_t2 + 1) + t2) * c->n_t1 + down;
	unsigned all = (route * MAX_PKTS + n_pkts - 1) * DROP_CODES + code;
	assert_true(all + 1 < MAX_OUTCOMES);
	return lost == 0 ? 0 : all + 1;
}

/* Drop rate of a link when timed faults are on, or off. *DRAWN: that is the
 * upper end of those from which each flow draws its own. */
static double rate_of(const struct scene *s, topo_link l, int timed_on,
    int *drawn)
{
	const struct scene_noise *noise = &s->loss.noise;
	double passes = 1;
	int faulty = 0;
	for (size_t i = 0; i < s->truth.n_faults; i++) {
		const struct truth_fault *f = &s->truth.fault[i];
		if (f->of_hole)
			continue;
		const int timed = f->from_ns > 0 || f->to_ns != SIM_NEVER;
		if (f->link != l || (timed && !timed_on))
			continue;
		passes *= 1 - f->rate;
		faulty = 1;
	}
	*drawn = !faulty && noise->per == SCENE_NOISE_PER_FLOW;
	return *drawn ? noise->rate.b
	    : faulty  ? 1 - passes
		      : scene_noise_rate(noise, l);
}

/* A route being enumerated. */
struct route {
	const struct topo_clos *c;
	uint32_t dst, up, t2, down, n_pkts;
	topo_link path[6];
	double rate[6];
	int drawn[6];
	unsigned h;
};

static double choose(uint32_t n, uint32_t k)
{
	return n == 2 && k == 1 ? 2 : 1;
}

/* Chance that a hop loses K of LEFT packets: binomial, or, for a rate r that is
 * uniform on [0, b], the mean of that, by E[r] = b / 2 and E[r^2] = b^2 / 3. */
static double hop_mass(const struct route *r, unsigned hop, uint32_t left,
    uint32_t k)
{
	const double p = r->rate[hop], mean = p / 2, square = p * p / 3;
	if (!r->drawn[hop] || left == 0)
		return choose(left, k) * pow(p, k) * pow(1 - p, left - k);
	if (left == 1)
		return k == 0 ? 1 - mean : mean;
	return k == 0 ? 1 - 2 * mean + square
	    : k == 1  ? 2 * (mean - square)
		      : square;
}

/* Hop by hop: losses among the packets that are left. */
static void add_losses(const struct route *r, unsigned hop, uint32_t left,
    uint32_t drops[], double mass, double want[])
{
	if (hop == r->h) {
		want[outcome_of(r->c, r->dst, r->up, r->t2, r->down, r->n_pkts,
		    drops, r->h)] += mass;
		return;
	}
	for (uint32_t k = 0; k <= left; k++) {
		drops[hop] = k;
		add_losses(r, hop + 1, left - k, drops,
		    mass * hop_mass(r, hop, left, k), want);
	}
}

static void lay_route(struct route *r, topo_host src)
{
	const struct topo_clos *c = r->c;
	const uint32_t tor = src / c->n_hosts, dtor = r->dst / c->n_hosts;
	const uint32_t pod = tor / c->n_tors, dpod = dtor / c->n_tors;
	r->h = 0;
	r->path[r->h++] = topo_clos_link_host(src, TOPO_UP);
	r->path[r->h++] = topo_clos_link_tor(c, tor, r->up, TOPO_UP);
	if (pod != dpod) {
		r->path[r->h++] =
		    topo_clos_link_t1(c, pod * c->n_t1 + r->up, r->t2, TOPO_UP);
		r->path[r->h++] = topo_clos_link_t1(c, dpod * c->n_t1 + r->down,
		    r->t2, TOPO_DOWN);
	}
	r->path[r->h++] = topo_clos_link_tor(c, dtor, r->down, TOPO_DOWN);
	r->path[r->h++] = topo_clos_link_host(r->dst, TOPO_DOWN);
}

/* Chance that a flow from SRC goes to DST, under another ToR: hot ToRs, but for
 * the source's own, share what goes to hot ones, and so do the others; if there
 * is none of one sort, those of the other have all. */
static double dst_chance(const struct scene *s, topo_host src, topo_host dst)
{
	const struct scene_traffic *tr = &s->traffic;
	const uint32_t n_hosts = s->topo->clos.n_hosts;
	uint32_t n[2] = {0}, hot = 0;
	for (uint32_t t = 0; t < tr->n_tors; t++) {
		const uint32_t x = tr->n_hot > 0 && tr->place[t] < tr->n_hot;
		n[x] += t != src / n_hosts;
		if (t == dst / n_hosts)
			hot = x;
	}
	const double share = n[!hot] == 0 ? 1
	    : hot                         ? tr->params.hot_share
					  : 1 - tr->params.hot_share;
	return share / n[hot] / n_hosts;
}

/* A switch whose hole takes the pair has all that comes, by whatever link. */
static void meet_hole(const struct scene *s, topo_host src, struct route *r)
{
	const struct topo_tuple tuple = {.src_ip = topo_addr_of_host(src),
	    .dst_ip = topo_addr_of_host(r->dst)};
	for (unsigned i = 0; i + 1 < r->h; i++) {
		topo_node from, to;
		topo_link_ends(s->topo, r->path[i], &from, &to);
		if (!truth_swallows(&s->truth, to - s->topo->n_hosts, &tuple,
			0))
			continue;
		r->rate[i] = 1;
		r->drawn[i] = 0;
	}
}

/* Add the law of one flow of SRC, weighted, to WANT[MAX_OUTCOMES]. */
static void add_law(const struct scene *s, topo_host src, int timed_on,
    double weight, double want[])
{
	const struct topo_clos *c = &s->topo->clos;
	struct route r = {.c = c};
	uint32_t drops[6];
	if (truth_outage_at(&s->truth, TRUTH_HOST_OFF, src, 0)) {
		want[0] += weight;
		return;
	}
	for (r.dst = 0; r.dst < c->all_hosts; r.dst++) {
		const uint32_t per_pod = c->n_tors * c->n_hosts;
		const int far = src / per_pod != r.dst / per_pod;
		const uint32_t n_t2 = far ? c->n_t2 : 1;
		if (src / c->n_hosts == r.dst / c->n_hosts)
			continue;
		for (r.up = 0; r.up < c->n_t1; r.up++)
			for (r.t2 = 0; r.t2 < n_t2; r.t2++)
				for (uint32_t m = 0; m < (far ? c->n_t1 : 1);
				     m++) {
					r.down = far ? m : r.up;
					lay_route(&r, src);
					for (unsigned i = 0; i < r.h; i++)
						r.rate[i] =
						    rate_of(s, r.path[i],
							timed_on, &r.drawn[i]);
					meet_hole(s, src, &r);
					double mass = weight *
					    dst_chance(s, src, r.dst) /
					    c->n_t1 / MAX_PKTS /
					    (far ? n_t2 * c->n_t1 : 1);
					for (r.n_pkts = 1; r.n_pkts <= MAX_PKTS;
					     r.n_pkts++)
						add_losses(&r, 0, r.n_pkts,
						    drops, mass, want);
				}
	}
}

/* The outcome of row I of a window. */
static unsigned observed(const struct topo_clos *c, const struct obs *w,
    const struct losses *lost, size_t i)
{
	const topo_link *path = obs_path(w, i);
	const unsigned h = obs_n_hops(w, i);
	const uint32_t up = topo_clos_place(c, path[1]).high % c->n_t1;
	const uint32_t down = topo_clos_place(c, path[h - 2]).high % c->n_t1;
	const uint32_t t2 = h == 6 ? topo_clos_place(c, path[2]).high : 0;
	return outcome_of(c, w->flows.dst_host[i], up, t2, down,
	    w->flows.n_pkts[i], lost->drops + w->hops.off[i], h);
}

/* Outcomes of all flows of one source, and how many flows of each source are
 * lossy in one epoch: as they are independent, a product of binomials. */
struct tally {
	double want[MAX_HOSTS][MAX_OUTCOMES];
	uint64_t got[MAX_HOSTS][MAX_OUTCOMES];
	double want_joint[MAX_OUTCOMES];
	uint64_t got_joint[MAX_OUTCOMES];
};

enum { CONNS = 2, EPOCHS = 15000 };

static void expect(struct tally *t, const struct scene *s, double on)
{
	const uint32_t n = s->topo->n_hosts;
	memset(t, 0, sizeof(*t));
	for (topo_host h = 0; h < n; h++) {
		add_law(s, h, 1, on, t->want[h]);
		add_law(s, h, 0, 1 - on, t->want[h]);
	}
	for (unsigned cell = 0; cell < pow(CONNS + 1, n); cell++) {
		double mass = 1;
		unsigned digits = cell;
		for (topo_host h = 0; h < n; h++) {
			const uint32_t k = digits % (CONNS + 1);
			const double q = t->want[h][0];
			mass *= choose(CONNS, k) * pow(1 - q, k) *
			    pow(q, CONNS - k);
			digits /= CONNS + 1;
		}
		t->want_joint[cell] = mass;
	}
}

/* FIXED: one scene, whose flows are drawn again and again; or else others, of
 * which all is fixed that matters. */
static void observe(struct tally *t, struct planes *p, enum which which,
    const struct topo_clos *c, struct scenes *s, int fixed)
{
	memset(t->got, 0, sizeof(t->got));
	memset(t->got_joint, 0, sizeof(t->got_joint));
	for (uint32_t run = 0; run < EPOCHS; run++) {
		uint32_t lossy[MAX_HOSTS] = {0};
		unsigned cell = 0;
		struct scene *scene = scenes_draw(s, fixed ? 0 : run);
		scene->where.run = run;
		planes_run(p, which, scene);
		for (size_t i = 0; i < p->window.flows.n; i++) {
			const topo_host src = p->window.flows.src_host[i];
			t->got[src][observed(c, &p->window, &p->lost, i)]++;
			lossy[src]++;
		}
		for (topo_host h = s->topo.n_hosts; h-- > 0;) {
			assert_true(lossy[h] <= CONNS);
			t->got[h][0] += CONNS - lossy[h];
			cell = cell * (CONNS + 1) + lossy[h];
		}
		t->got_joint[cell]++;
	}
}

/* A named fault: class, index in it, rate, when. */
struct fault {
	enum topo_link_class class;
	uint32_t index;
	double rate, from_s, to_s;
};

struct tiny {
	const char *what;
	struct topo_clos shape;
	double noise;
	double on; /* share of the epoch in which timed faults are on */
	struct fault fault[5];
	/* Then the scene is fixed. */
	uint32_t n_hot;
	double hot_share;
	uint32_t n_holes, n_off; /* holes of pairs, a third of all; hosts off */
};

#define END TOPO_FABRIC /* no fault there */

static const struct tiny tinies[] = {
    {"one fault, jumps", {2, 2, 2, 2, 1, .n_cables = 0}, 0.01, 1,
	{{TOPO_TOR_T1, 1, 0.2, 0, 0}}, .n_hot = 0},
    {"two faults in a row", {2, 2, 2, 2, 1, .n_cables = 0}, 0.02, 1,
	{{TOPO_TOR_T1, 0, 0.15, 0, 0}, {TOPO_T1_T2, 0, 0.3, 0, 0}}, .n_hot = 0},
    {"five faults of all classes", {2, 2, 2, 2, 1, .n_cables = 0}, 0.03, 1,
	{{TOPO_TOR_T1, 0, 0.1, 0, 0}, {TOPO_T1_T2, 1, 0.1, 0, 0},
	    {TOPO_T2_T1, 5, 0.1, 0, 0}, {TOPO_T1_TOR, 4, 0.1, 0, 0},
	    {TOPO_TOR_HOST, 2, 0.05, 0, 0}},
	.n_hot = 0},
    {"more candidates than jumps bear", {2, 2, 2, 2, 1, .n_cables = 0}, 0.05, 1,
	{{TOPO_TOR_T1, 0, 0.7, 0, 0}, {TOPO_TOR_T1, 1, 0.4, 0, 0},
	    {TOPO_T1_TOR, 7, 0.6, 0, 0}},
	.n_hot = 0},
    {"black holes", {2, 2, 2, 2, 1, .n_cables = 0}, 0.02, 1,
	{{TOPO_TOR_T1, 0, 1, 0, 0}, {TOPO_TOR_T1, 1, 1, 0, 0},
	    {TOPO_T1_TOR, 5, 1, 0, 0}, {TOPO_T2_T1, 4, 1, 0, 0}},
	.n_hot = 0},
    {"noise alone", {2, 2, 2, 2, 1, .n_cables = 0}, 0.02, 1, {{.class = END}},
	.n_hot = 0},
    {"large noise", {2, 2, 2, 2, 1, .n_cables = 0}, 0.4, 1,
	{{TOPO_TOR_T1, 0, 0.1, 0, 0}}, .n_hot = 0},
    {"no noise", {2, 2, 2, 2, 1, .n_cables = 0}, 0, 1,
	{{TOPO_T1_T2, 3, 0.3, 0, 0}, {TOPO_T2_T1, 3, 0.3, 0, 0}}, .n_hot = 0},
    {"a fault that spares", {2, 2, 2, 2, 1, .n_cables = 0}, 0.1, 1,
	{{TOPO_TOR_T1, 0, 0, 0, 0}, {TOPO_T1_TOR, 3, 0.2, 0, 0}}, .n_hot = 0},
    {"two faults of one link", {2, 2, 2, 2, 1, .n_cables = 0}, 0.02, 1,
	{{TOPO_TOR_T1, 2, 0.1, 0, 0}, {TOPO_TOR_T1, 2, 0.2, 0, 0}}, .n_hot = 0},
    {"timed faults", {2, 2, 2, 2, 1, .n_cables = 0}, 0.05, 0.25,
	{{TOPO_TOR_T1, 0, 0.5, 7.5, 15}, {TOPO_T1_T2, 0, 0.3, 7.5, 15},
	    {TOPO_T1_TOR, 2, 0.1, 0, 0}},
	.n_hot = 0},
    {"a timed black hole", {2, 2, 2, 2, 1, .n_cables = 0}, 0.05, 0.5,
	{{TOPO_TOR_T1, 0, 1, 15, 0}, {TOPO_TOR_T1, 1, 1, 15, 0}}, .n_hot = 0},
    {"one pod", {1, 3, 2, 0, 1, .n_cables = 0}, 0.02, 1,
	{{TOPO_TOR_T1, 0, 0.1, 0, 0}, {TOPO_T1_TOR, 2, 0.3, 0, 0}}, .n_hot = 0},
    {"one pod with idle tier 2", {1, 2, 2, 2, 2, .n_cables = 0}, 0.02, 1,
	{{TOPO_T1_T2, 0, 0.5, 0, 0}, {TOPO_TOR_T1, 2, 0.3, 0, 0}}, .n_hot = 0},
    {"one of each switch", {2, 1, 1, 1, 2, .n_cables = 0}, 0.02, 1,
	{{TOPO_T2_T1, 1, 0.2, 0, 0}, {TOPO_TOR_HOST, 1, 0.2, 0, 0}},
	.n_hot = 0},
    {"three pods, one T2", {3, 1, 2, 1, 2, .n_cables = 0}, 0.02, 1,
	{{TOPO_T1_T2, 2, 0.2, 0, 0}, {TOPO_T2_T1, 5, 0.3, 0, 0},
	    {TOPO_T1_TOR, 0, 0.1, 0, 0}},
	.n_hot = 0},
};
enum { N_TINIES = sizeof(tinies) / sizeof(tinies[0]) };

/* Likewise, with uplinks of hosts, skewed traffic, holes and hosts that are off. */
static const struct tiny fixed[] = {
    {"an uplink", {2, 2, 2, 2, 1, .n_cables = 0}, 0.02, 1,
	{{TOPO_HOST_TOR, 1, 0.2, 0, 0}, {TOPO_TOR_T1, 2, 0.1, 0, 0}},
	.n_hot = 0},
    {"uplinks, side by side", {2, 1, 1, 1, 3, .n_cables = 0}, 0.02, 1,
	{{TOPO_HOST_TOR, 1, 0.3, 0, 0}, {TOPO_HOST_TOR, 2, 0.1, 0, 0},
	    {TOPO_HOST_TOR, 5, 1, 0, 0}, {TOPO_TOR_HOST, 0, 0.1, 0, 0}},
	.n_hot = 0},
    {"a timed uplink", {2, 1, 1, 1, 2, .n_cables = 0}, 0.05, 0.25,
	{{TOPO_HOST_TOR, 1, 1, 7.5, 15}, {TOPO_T1_T2, 0, 0.1, 0, 0}},
	.n_hot = 0},
    {"one hot ToR", {2, 2, 2, 2, 1, .n_cables = 0}, 0.02, 1,
	{{TOPO_T1_T2, 1, 0.1, 0, 0}, {TOPO_T2_T1, 5, 0.1, 0, 0},
	    {TOPO_T1_TOR, 4, 0.1, 0, 0}, {TOPO_TOR_T1, 3, 0.1, 0, 0},
	    {TOPO_TOR_HOST, 2, 0.1, 0, 0}},
	1, 0.7, 0, 0},
    {"hot ToRs", {3, 2, 1, 1, 1, .n_cables = 0}, 0.02, 1,
	{{TOPO_T1_T2, 1, 0.2, 0, 0}, {TOPO_T2_T1, 0, 0.2, 0, 0},
	    {TOPO_T2_T1, 2, 0.1, 0, 0}, {TOPO_T1_TOR, 4, 0.1, 0, 0}},
	3, 0.8, 0, 0},
    {"all hot but one", {2, 2, 1, 1, 1, .n_cables = 0}, 0.02, 1,
	{{TOPO_T1_T2, 0, 0.2, 0, 0}, {TOPO_T2_T1, 0, 0.2, 0, 0},
	    {TOPO_T1_TOR, 1, 0.2, 0, 0}},
	3, 0.4, 0, 0},
    {"holes", {2, 2, 2, 2, 1, .n_cables = 0}, 0.02, 1,
	{{TOPO_TOR_T1, 3, 0.1, 0, 0}, {TOPO_T1_TOR, 4, 0.1, 0, 0}}, 0, 0, 4, 0},
    {"a host that is off", {2, 2, 2, 2, 1, .n_cables = 0}, 0.02, 1,
	{{TOPO_TOR_T1, 3, 0.1, 0, 0}}, 0, 0, 0, 1},
    {"all at once", {2, 1, 2, 1, 2, .n_cables = 0}, 0.03, 1,
	{{TOPO_HOST_TOR, 1, 0.3, 0, 0}, {TOPO_T2_T1, 1, 0.1, 0, 0}}, 1, 0.7, 1,
	1},
};
enum { N_FIXED = sizeof(fixed) / sizeof(fixed[0]) };

/* Likewise, with noise that is uniform up to the number given. */
static const struct tiny per_flow[] = {
    {"noise per flow", {2, 2, 2, 2, 1, .n_cables = 0}, 0.05, 1,
	{{TOPO_TOR_T1, 0, 0.15, 0, 0}, {TOPO_T1_T2, 0, 0.3, 0, 0}}, .n_hot = 0},
    {"large noise per flow", {2, 2, 2, 2, 1, .n_cables = 0}, 0.8, 1,
	{{TOPO_TOR_T1, 0, 0.1, 0, 0}}, .n_hot = 0},
    {"noise per flow alone", {2, 1, 2, 1, 1, .n_cables = 0}, 0.3, 1,
	{{.class = END}}, .n_hot = 0},
    {"noise per flow and timed faults", {2, 2, 2, 2, 1, .n_cables = 0}, 0.2,
	0.25, {{TOPO_TOR_T1, 0, 0.5, 7.5, 15}, {TOPO_T1_TOR, 2, 0.1, 0, 0}},
	.n_hot = 0},
};
enum { N_PER_FLOW = sizeof(per_flow) / sizeof(per_flow[0]) };

/* TABLES: the same network as a mesh, with the same ids. */
static void open_tiny(struct scenes *s, const struct tiny *tiny,
    enum scene_noise_per per, int tables)
{
	struct topo_clos c = tiny->shape;
	struct topo_mesh *mesh;
	assert_ok(topo_clos_init(&c, test_err()));
	if (tables) {
		assert_ok(topo_mesh_from_clos(&mesh, &c, test_err()));
		scenes_open_mesh(s, mesh);
	} else {
		scenes_open(s, &c);
	}
	s->params.traffic.conns = scenes_fixed(CONNS);
	s->params.traffic.packets = scenes_uniform(1, MAX_PKTS);
	s->params.noise.rate = per == SCENE_NOISE_PER_FLOW
	    ? scenes_uniform(0, tiny->noise)
	    : scenes_fixed(tiny->noise);
	s->params.noise.per = per;
	for (int i = 0; i < 5 && tiny->fault[i].class != END; i++) {
		const struct fault *f = &tiny->fault[i];
		struct fault_params *g = scenes_add_fault(s,
		    topo_clos_class_at(&c, f->class, f->index), f->rate);
		g->from_s = f->from_s;
		g->to_s = f->to_s;
	}
	if (tiny->n_hot > 0) {
		s->params.traffic.dst = SCENE_DST_SKEWED;
		s->params.traffic.n_hot = tiny->n_hot;
		s->params.traffic.hot_share = tiny->hot_share;
	}
	if (tiny->n_holes > 0) {
		struct fault_params *g = scenes_add_group(s);
		g->kind = FAULT_BLACK_HOLE_1;
		g->switches = tiny->n_holes;
		g->entries = scenes_fixed(1 / 3.0);
	}
	if (tiny->n_off > 0) {
		struct fault_params *g = scenes_add_group(s);
		g->kind = FAULT_HOST_OFF;
		g->count = tiny->n_off;
	}
}

static void assert_law(double p, const char *what, const struct tiny *tiny,
    enum which which)
{
	if (!(p >= LEVEL))
		fail_msg("%s: %s of plane %s, seed %ju: p = %g", tiny->what,
		    what, which == BULK ? "bulk" : "skip",
		    (uintmax_t)test_seed(), p);
}

static void match(const struct tiny tiny[], size_t n, enum scene_noise_per per)
{
	struct tally *t = malloc(sizeof(*t));
	struct planes p;
	assert_non_null(t);
	planes_open(&p);
	for (size_t i = 0; i < n; i++) {
		struct scenes s;
		open_tiny(&s, &tiny[i], per, 0);
		expect(t, scenes_draw(&s, 0), tiny[i].on);
		for (enum which which = BULK; which <= SKIP; which++) {
			observe(t, &p, which, &s.topo.clos, &s, tiny == fixed);
			for (topo_host h = 0; h < s.topo.n_hosts; h++)
				assert_law(law_chi2(t->got[h], t->want[h],
					       MAX_OUTCOMES),
				    "flows", &tiny[i], which);
			assert_law(law_chi2(t->got_joint, t->want_joint,
				       MAX_OUTCOMES),
			    "lossy flows together", &tiny[i], which);
		}
		scenes_close(&s);
	}
	free(t);
	planes_close(&p);
}

static void both_planes_match_the_enumeration_of_tiny_networks(void **state)
{
	(void)state;
	match(tinies, N_TINIES, SCENE_NOISE_PER_LINK);
}

static void so_they_do_whoever_fails_and_wherever_flows_go(void **state)
{
	(void)state;
	match(fixed, N_FIXED, SCENE_NOISE_PER_LINK);
}

/* The network kept as tables draws the same scene, whose law is known from the
 * Clos. */
static void match_by_tables(const struct tiny tiny[], size_t n,
    enum scene_noise_per per)
{
	struct tally *t = malloc(sizeof(*t));
	struct planes p;
	assert_non_null(t);
	planes_open(&p);
	for (size_t i = 0; i < n; i++) {
		struct scenes clos, mesh;
		open_tiny(&clos, &tiny[i], per, 0);
		open_tiny(&mesh, &tiny[i], per, 1);
		expect(t, scenes_draw(&clos, 0), tiny[i].on);
		observe(t, &p, SKIP, &clos.topo.clos, &mesh, tiny == fixed);
		for (topo_host h = 0; h < clos.topo.n_hosts; h++)
			assert_law(law_chi2(t->got[h], t->want[h],
				       MAX_OUTCOMES),
			    "flows by tables", &tiny[i], SKIP);
		assert_law(law_chi2(t->got_joint, t->want_joint, MAX_OUTCOMES),
		    "lossy flows together by tables", &tiny[i], SKIP);
		scenes_close(&clos);
		scenes_close(&mesh);
	}
	free(t);
	planes_close(&p);
}

static void so_skipping_does_where_the_network_is_tables(void **state)
{
	(void)state;
	match_by_tables(tinies, N_TINIES, SCENE_NOISE_PER_LINK);
	match_by_tables(fixed, N_FIXED, SCENE_NOISE_PER_LINK);
	match_by_tables(per_flow, N_PER_FLOW, SCENE_NOISE_PER_FLOW);
}

static void with_noise_per_flow_they_match_it_too(void **state)
{
	(void)state;
	match(per_flow, N_PER_FLOW, SCENE_NOISE_PER_FLOW);
}

/* A hop with a rate of U(a, b) for each flow loses something of n packets with
 * probability 1 - ((1 - a)^(n+1) - (1 - b)^(n+1)) / ((n + 1) (b - a)). Between
 * two ToRs of two pods all paths have six hops, and flows fail independently:
 * so the failed flows of an epoch are binomial in mean and in variance. With
 * noise per link the mean is the same and the variance ten times that. */
static void flows_with_noise_of_their_own_fail_by_the_closed_form(void **state)
{
	(void)state;
	enum { N = 20, RUNS = 400 };
	const double a = 1e-3, b = 1e-2;
	const double some =
	    (pow(1 - a, N + 1) - pow(1 - b, N + 1)) / ((N + 1) * (b - a));
	const double p = 1 - pow(some, 6);
	const struct topo_clos pair = {2, 1, 2, 2, 3, .n_cables = 0};
	struct scenes s;
	struct planes planes;
	planes_open(&planes);
	scenes_open(&s, &pair);
	s.params.traffic.conns = scenes_fixed(500);
	s.params.traffic.packets = scenes_fixed(N);
	s.params.noise.rate = scenes_uniform(a, b);
	for (enum which which = BULK; which <= SKIP; which++) {
		double chi2[2] = {0};
		for (uint32_t run = 0; run < 2 * RUNS; run++) {
			s.params.noise.per = run % 2;
			planes_run(&planes, which, scenes_draw(&s, run));
			const double n = (double)planes.window.n_flows;
			const double d = (double)planes.window.flows.n - n * p;
			chi2[run % 2] += d * d / (n * p * (1 - p));
		}
		assert_law(gsl_cdf_chisq_P(chi2[SCENE_NOISE_PER_FLOW], RUNS),
		    "too even failures", &tinies[0], which);
		assert_law(gsl_cdf_chisq_Q(chi2[SCENE_NOISE_PER_FLOW], RUNS),
		    "too uneven failures", &tinies[0], which);
		assert_true(chi2[SCENE_NOISE_PER_LINK] > 5 * RUNS);
	}
	planes_close(&planes);
	scenes_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
		both_planes_match_the_enumeration_of_tiny_networks),
	    cmocka_unit_test(so_they_do_whoever_fails_and_wherever_flows_go),
	    cmocka_unit_test(so_skipping_does_where_the_network_is_tables),
	    cmocka_unit_test(with_noise_per_flow_they_match_it_too),
	    cmocka_unit_test(
		flows_with_noise_of_their_own_fail_by_the_closed_form),
	};
	return cmocka_run_group_tests_name("models, data planes", tests, NULL,
	    NULL);
}
