/* tests/models_skip_test.c -- the skipping data plane: its law is the exact
 * one. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * First all outcomes of tiny networks, by enumeration, for both data planes;
 * then moments and histograms on larger ones, skip against bulk. Chi-squares at
 * level 1e-6, means at 4 standard errors (6e-5), about 250 of them: under a
 * random seed some bound fires in 2 of 100 runs. The seeds are fixed.
 */
#include "models/bulk.h"
#include "models/skip.h"
#include "tests/law.h"
#include "tests/scenes.h"
#include "topo/mesh.h"

#define LEVEL  1e-6
#define ERRORS 4

/* Both data planes behind one function. */
struct planes {
	struct model_bulk *bulk;
	struct model_skip *skip;
	struct obs window;
};
enum which { BULK, SKIP };

static void planes_open(struct planes *p)
{
	*p = (struct planes){0};
	assert_ok(model_bulk_open(&p->bulk, NULL, test_err()));
	assert_ok(model_skip_open(&p->skip, test_err()));
}

static void planes_close(struct planes *p)
{
	model_bulk_close(p->bulk);
	model_skip_close(p->skip);
	obs_free(&p->window);
}

static void run_epoch(struct planes *p, enum which which, struct model_scene *s)
{
	if (which == BULK)
		assert_ok(
		    model_bulk_epoch(p->bulk, s, 0, &p->window, test_err()));
	else
		assert_ok(model_skip_epoch(p->skip, s, &p->window, test_err()));
}

/* --- every outcome of a tiny network ----------------------------------------
 */

enum { MAX_PKTS = 2, DROP_CODES = 729, MAX_OUTCOMES = 1 << 18, MAX_HOSTS = 8 };

/* An outcome of one flow: where it went, its packets, what it lost on each hop.
 * All flows that lost nothing are one outcome, number 0. */
static unsigned outcome_of(const struct topo_clos *c, uint32_t dst, uint32_t up,
			   uint32_t t2, uint32_t down, uint32_t n_pkts,
			   const uint32_t drops[], unsigned h)
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

/* Drop rate of a link when timed faults are on, or off. */
static double rate_of(const struct model_scene *s, topo_link l, int timed_on)
{
	double passes = 1;
	int faulty = 0;
	for (size_t i = 0; i < s->truth.n_faults; i++) {
		const struct truth_fault *f = &s->truth.fault[i];
		const int timed = f->from_ns > 0 || f->to_ns != SIM_NEVER;
		if (f->link != l || (timed && !timed_on))
			continue;
		passes *= 1 - f->rate;
		faulty = 1;
	}
	return faulty ? 1 - passes : model_noise_rate(&s->loss.noise, l);
}

/* A route being enumerated. */
struct route {
	const struct topo_clos *c;
	uint32_t dst, up, t2, down, n_pkts;
	topo_link path[6];
	double rate[6];
	unsigned h;
};

static double choose(uint32_t n, uint32_t k)
{
	return n == 2 && k == 1 ? 2 : 1;
}

/* Hop by hop: binomial losses among the packets that are left. */
static void add_losses(const struct route *r, unsigned hop, uint32_t left,
		       uint32_t drops[], double mass, double want[])
{
	if (hop == r->h) {
		want[outcome_of(r->c, r->dst, r->up, r->t2, r->down, r->n_pkts,
				drops, r->h)] += mass;
		return;
	}
	const double p = r->rate[hop];
	for (uint32_t k = 0; k <= left; k++) {
		drops[hop] = k;
		add_losses(r, hop + 1, left - k, drops,
			   mass * choose(left, k) * pow(p, k) *
			       pow(1 - p, left - k),
			   want);
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

/* Add the law of one flow of SRC, weighted, to WANT[MAX_OUTCOMES]. */
static void add_law(const struct model_scene *s, topo_host src, int timed_on,
		    double weight, double want[])
{
	const struct topo_clos *c = &s->topo->clos;
	const double others = c->all_hosts - c->n_hosts;
	struct route r = {.c = c};
	uint32_t drops[6];
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
						r.rate[i] = rate_of(
						    s, r.path[i], timed_on);
					double mass =
					    weight / others / c->n_t1 /
					    MAX_PKTS /
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
			 const struct truth *truth, size_t i)
{
	const topo_link *path = obs_path(w, i);
	const unsigned h = obs_n_hops(w, i);
	const uint32_t up = topo_clos_place(c, path[1]).high % c->n_t1;
	const uint32_t down = topo_clos_place(c, path[h - 2]).high % c->n_t1;
	const uint32_t t2 = h == 6 ? topo_clos_place(c, path[2]).high : 0;
	return outcome_of(c, w->flows.dst_host[i], up, t2, down,
			  w->flows.n_pkts[i], truth->drops + w->hops.off[i], h);
}

/* Outcomes of all flows of one source, and how many flows of each source are
 * lossy in one epoch: as they are independent, a product of binomials. */
struct tally {
	double want[MAX_HOSTS][MAX_OUTCOMES];
	uint64_t got[MAX_HOSTS][MAX_OUTCOMES];
	double want_joint[MAX_OUTCOMES];
	uint64_t got_joint[MAX_OUTCOMES];
};

enum { CONNS = 2, EPOCHS = 20000 };

static void expect(struct tally *t, const struct model_scene *s, double on)
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

static void observe(struct tally *t, struct planes *p, enum which which,
		    struct scenes *s)
{
	const struct topo_clos *c = &s->topo.clos;
	memset(t->got, 0, sizeof(t->got));
	memset(t->got_joint, 0, sizeof(t->got_joint));
	for (uint32_t run = 0; run < EPOCHS; run++) {
		uint32_t lossy[MAX_HOSTS] = {0};
		unsigned cell = 0;
		struct model_scene *scene = scenes_draw(s, run);
		run_epoch(p, which, scene);
		for (size_t i = 0; i < p->window.flows.n; i++) {
			const topo_host src = p->window.flows.src_host[i];
			t->got[src]
			      [observed(c, &p->window, &scene->truth, i)]++;
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
};

#define END TOPO_HOST_TOR /* no fault there */

static const struct tiny tinies[] = {
    {"one fault, jumps",
     {2, 2, 2, 2, 1, .n_cables = 0},
     0.01,
     1,
     {{TOPO_TOR_T1, 1, 0.2, 0, 0}}},
    {"two faults in a row",
     {2, 2, 2, 2, 1, .n_cables = 0},
     0.02,
     1,
     {{TOPO_TOR_T1, 0, 0.15, 0, 0}, {TOPO_T1_T2, 0, 0.3, 0, 0}}},
    {"five faults of all classes",
     {2, 2, 2, 2, 1, .n_cables = 0},
     0.03,
     1,
     {{TOPO_TOR_T1, 0, 0.1, 0, 0},
      {TOPO_T1_T2, 1, 0.1, 0, 0},
      {TOPO_T2_T1, 5, 0.1, 0, 0},
      {TOPO_T1_TOR, 4, 0.1, 0, 0},
      {TOPO_TOR_HOST, 2, 0.05, 0, 0}}},
    {"more candidates than jumps bear",
     {2, 2, 2, 2, 1, .n_cables = 0},
     0.05,
     1,
     {{TOPO_TOR_T1, 0, 0.7, 0, 0},
      {TOPO_TOR_T1, 1, 0.4, 0, 0},
      {TOPO_T1_TOR, 7, 0.6, 0, 0}}},
    {"black holes",
     {2, 2, 2, 2, 1, .n_cables = 0},
     0.02,
     1,
     {{TOPO_TOR_T1, 0, 1, 0, 0},
      {TOPO_TOR_T1, 1, 1, 0, 0},
      {TOPO_T1_TOR, 5, 1, 0, 0},
      {TOPO_T2_T1, 4, 1, 0, 0}}},
    {"noise alone", {2, 2, 2, 2, 1, .n_cables = 0}, 0.02, 1, {{END}}},
    {"large noise",
     {2, 2, 2, 2, 1, .n_cables = 0},
     0.4,
     1,
     {{TOPO_TOR_T1, 0, 0.1, 0, 0}}},
    {"no noise",
     {2, 2, 2, 2, 1, .n_cables = 0},
     0,
     1,
     {{TOPO_T1_T2, 3, 0.3, 0, 0}, {TOPO_T2_T1, 3, 0.3, 0, 0}}},
    {"a fault that spares",
     {2, 2, 2, 2, 1, .n_cables = 0},
     0.1,
     1,
     {{TOPO_TOR_T1, 0, 0, 0, 0}, {TOPO_T1_TOR, 3, 0.2, 0, 0}}},
    {"two faults of one link",
     {2, 2, 2, 2, 1, .n_cables = 0},
     0.02,
     1,
     {{TOPO_TOR_T1, 2, 0.1, 0, 0}, {TOPO_TOR_T1, 2, 0.2, 0, 0}}},
    {"timed faults",
     {2, 2, 2, 2, 1, .n_cables = 0},
     0.05,
     0.25,
     {{TOPO_TOR_T1, 0, 0.5, 7.5, 15},
      {TOPO_T1_T2, 0, 0.3, 7.5, 15},
      {TOPO_T1_TOR, 2, 0.1, 0, 0}}},
    {"a timed black hole",
     {2, 2, 2, 2, 1, .n_cables = 0},
     0.05,
     0.5,
     {{TOPO_TOR_T1, 0, 1, 15, 0}, {TOPO_TOR_T1, 1, 1, 15, 0}}},
    {"one pod",
     {1, 3, 2, 0, 1, .n_cables = 0},
     0.02,
     1,
     {{TOPO_TOR_T1, 0, 0.1, 0, 0}, {TOPO_T1_TOR, 2, 0.3, 0, 0}}},
    {"one pod with idle tier 2",
     {1, 2, 2, 2, 2, .n_cables = 0},
     0.02,
     1,
     {{TOPO_T1_T2, 0, 0.5, 0, 0}, {TOPO_TOR_T1, 2, 0.3, 0, 0}}},
    {"one of each switch",
     {2, 1, 1, 1, 2, .n_cables = 0},
     0.02,
     1,
     {{TOPO_T2_T1, 1, 0.2, 0, 0}, {TOPO_TOR_HOST, 1, 0.2, 0, 0}}},
    {"three pods, one T2",
     {3, 1, 2, 1, 2, .n_cables = 0},
     0.02,
     1,
     {{TOPO_T1_T2, 2, 0.2, 0, 0},
      {TOPO_T2_T1, 5, 0.3, 0, 0},
      {TOPO_T1_TOR, 0, 0.1, 0, 0}}},
};
enum { N_TINIES = sizeof(tinies) / sizeof(tinies[0]) };

static void open_tiny(struct scenes *s, const struct tiny *tiny)
{
	scenes_open(s, &tiny->shape);
	s->params.traffic.conns = scenes_fixed(CONNS);
	s->params.traffic.packets = scenes_uniform(1, MAX_PKTS);
	s->params.noise.rate = scenes_fixed(tiny->noise);
	for (int i = 0; i < 5 && tiny->fault[i].class != END; i++) {
		const struct fault *f = &tiny->fault[i];
		struct model_fault_params *g = scenes_add_fault(
		    s, topo_clos_class_at(&s->topo.clos, f->class, f->index),
		    f->rate);
		g->from_s = f->from_s;
		g->to_s = f->to_s;
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

static void both_planes_match_the_enumeration_of_tiny_networks(void **state)
{
	(void)state;
	struct tally *t = malloc(sizeof(*t));
	struct planes p;
	assert_non_null(t);
	planes_open(&p);
	for (size_t i = 0; i < N_TINIES; i++) {
		struct scenes s;
		open_tiny(&s, &tinies[i]);
		expect(t, scenes_draw(&s, 0), tinies[i].on);
		for (enum which which = BULK; which <= SKIP; which++) {
			observe(t, &p, which, &s);
			for (topo_host h = 0; h < s.topo.n_hosts; h++)
				assert_law(law_chi2(t->got[h], t->want[h],
						    MAX_OUTCOMES),
					   "flows", &tinies[i], which);
			assert_law(
			    law_chi2(t->got_joint, t->want_joint, MAX_OUTCOMES),
			    "lossy flows together", &tinies[i], which);
		}
		scenes_close(&s);
	}
	free(t);
	planes_close(&p);
}

/* --- larger networks, skip against bulk --------------------------------------
 */

enum { HISTOGRAM = 64 };

/* What one epoch of a plane shows. */
struct features {
	double failed, drops;
	double class_drops[TOPO_N_LINK_CLASSES];
	double at_failed;   /* drops on failed links */
	double two_failed;  /* lossy flows that cross two failed links */
	double two_dropped; /* flows that lost on two links */
	double naive;	    /* failed, see the test of pitfall 1 */
};
enum { N_FEATURES = sizeof(struct features) / sizeof(double) };

static struct features features_of(const struct model_scene *s,
				   const struct obs *w, uint64_t histogram[])
{
	struct features x = {0};
	for (size_t i = 0; i < w->flows.n; i++) {
		const uint32_t *drops = s->truth.drops + w->hops.off[i];
		unsigned n_failed = 0, n_dropping = 0;
		for (unsigned j = 0; j < obs_n_hops(w, i); j++) {
			const topo_link l = obs_path(w, i)[j];
			const int faulty = truth_is_faulty(&s->truth, l);
			x.class_drops[topo_class_of(s->topo, l)] += drops[j];
			x.at_failed += faulty * drops[j];
			n_failed += faulty;
			n_dropping += drops[j] > 0;
		}
		const uint32_t lost = w->flows.n_retx[i];
		x.failed++;
		x.drops += lost;
		x.two_failed += n_failed > 1;
		x.two_dropped += n_dropping > 1;
		x.naive += n_failed > 1 ? 1.0 / n_failed : 1;
		histogram[lost < HISTOGRAM ? lost : HISTOGRAM - 1]++;
	}
	return x;
}

/* Differences of the features between planes on the same scenes. */
struct comparison {
	struct law_mean difference[N_FEATURES];
	struct law_mean failed;		  /* of bulk */
	struct law_mean naive_difference; /* bulk against naive skip */
	uint64_t histogram[2][HISTOGRAM];
};

static void compare(struct planes *p, struct scenes *s, uint32_t n_epochs,
		    struct comparison *c)
{
	memset(c, 0, sizeof(*c));
	for (uint32_t run = 0; run < n_epochs; run++) {
		union {
			struct features f;
			double v[N_FEATURES];
		} x[2];
		struct model_scene *scene = scenes_draw(s, run);
		for (enum which which = BULK; which <= SKIP; which++) {
			run_epoch(p, which, scene);
			if (which == SKIP)
				scenes_assert_sound(&s->topo, &p->window,
						    &scene->truth);
			assert_int_equal(p->window.n_flows,
					 scene->traffic.n_flows);
			x[which].f =
			    features_of(scene, &p->window, c->histogram[which]);
		}
		for (int i = 0; i < N_FEATURES; i++)
			law_add(&c->difference[i], x[SKIP].v[i] - x[BULK].v[i]);
		law_add(&c->failed, x[BULK].f.failed);
		law_add(&c->naive_difference,
			x[SKIP].f.naive - x[BULK].f.failed);
	}
}

static void assert_equal_laws(const struct comparison *c, const char *what)
{
	for (int i = 0; i < N_FEATURES; i++) {
		const double z = law_z(&c->difference[i], 0);
		if (!(fabs(z) < ERRORS))
			fail_msg("%s: feature %d differs by %.2f standard "
				 "errors, seed %ju",
				 what, i, z, (uintmax_t)test_seed());
	}
	const double p =
	    law_chi2_equal(c->histogram[BULK], c->histogram[SKIP], HISTOGRAM);
	if (!(p >= LEVEL))
		fail_msg("%s: drops a flow, p = %g, seed %ju", what, p,
			 (uintmax_t)test_seed());
}

static const struct topo_clos sim = {2, 20, 8, 10, 40, .n_cables = 0};
static const struct topo_clos medium = {3, 4, 3, 4, 3, .n_cables = 0};

static void add_class(struct scenes *s, enum topo_link_class class,
		      uint32_t count, double low, double high)
{
	struct model_fault_params *g = scenes_add_group(s);
	g->classes = UINT32_C(1) << class;
	g->count = count;
	g->rate = scenes_uniform(low, high);
}

static void mixed_faults(struct scenes *s)
{
	scenes_open(s, &medium);
	scenes_add_group(s)->count = 12;
	s->group[0].rate = scenes_uniform(1e-3, 0.1);
	s->params.noise.rate = scenes_uniform(0, 1e-3);
}

static void uplinks_of_a_tor_all_black(struct scenes *s)
{
	scenes_open(s, &medium);
	s->params.noise.rate = scenes_uniform(0, 1e-3);
	for (uint32_t j = 0; j < 3; j++)
		scenes_add_fault(
		    s, topo_clos_link_tor(&s->topo.clos, 5, j, TOPO_UP), 1);
	add_class(s, TOPO_T1_TOR, 4, 0, 1);
}

static void single_pod(struct scenes *s)
{
	const struct topo_clos shape = {1, 6, 3, 2, 5, .n_cables = 0};
	scenes_open(s, &shape);
	scenes_add_group(s)->count = 8; /* T1-T2 links too, which idle */
	s->params.noise.rate = scenes_uniform(0, 1e-3);
}

static void single_t2(struct scenes *s)
{
	const struct topo_clos shape = {3, 3, 2, 1, 3, .n_cables = 0};
	scenes_open(s, &shape);
	scenes_add_group(s)->count = 8;
	s->params.noise.rate = scenes_uniform(0, 1e-3);
}

static void downlinks_of_hosts(struct scenes *s)
{
	scenes_open(s, &medium);
	add_class(s, TOPO_TOR_HOST, 10, 1e-3, 0.5);
	s->params.noise.rate = scenes_uniform(0, 1e-3);
}

static void timed_faults(struct scenes *s)
{
	mixed_faults(s);
	s->group[0].from_s = 5;
	s->group[0].to_s = 12;
	add_class(s, TOPO_TOR_T1, 3, 0.01, 0.9);
	s->group[1].from_s = 10;
	add_class(s, TOPO_TOR_T1, 20, 0.01, 0.1);
}

static void without_noise(struct scenes *s)
{
	mixed_faults(s);
	s->params.noise.rate = scenes_fixed(0);
}

static void with_large_noise(struct scenes *s)
{
	mixed_faults(s);
	s->params.noise.rate = scenes_uniform(0.01, 0.5);
}

static void with_skewed_noise(struct scenes *s)
{
	mixed_faults(s);
	s->params.noise.rate = (struct sim_dist){SIM_LOG_UNIFORM, 1e-9, 1e-2};
}

static void a_whole_class(struct scenes *s)
{
	scenes_open(s, &medium);
	add_class(s, TOPO_T1_T2, 36, 1e-4, 1e-2);
	s->params.noise.rate = scenes_uniform(0, 1e-4);
}

static void all_links_but_uplinks(struct scenes *s)
{
	a_whole_class(s);
	add_class(s, TOPO_TOR_T1, 36, 0, 1e-3);
	add_class(s, TOPO_T2_T1, 36, 0, 1);
	add_class(s, TOPO_T1_TOR, 36, 0, 1e-3);
	add_class(s, TOPO_TOR_HOST, 36, 0, 1e-3);
}

static void random_connections(struct scenes *s)
{
	mixed_faults(s);
	s->params.traffic.conns = scenes_uniform(0, 40);
	s->params.traffic.packets = scenes_uniform(1, 1000);
}

/* Six times the packets of such a flow do not fit in 32 bits. */
static void big_flows(struct scenes *s)
{
	mixed_faults(s);
	s->group[0].rate = scenes_uniform(1e-10, 1e-8);
	s->params.traffic.conns = scenes_fixed(20);
	s->params.traffic.packets = scenes_uniform(1, 1e9);
	s->params.noise.rate = scenes_uniform(0, 1e-10);
}

static void scenes_of_many_kinds_have_the_law_of_the_exact_plane(void **state)
{
	(void)state;
	static const struct {
		const char *what;
		void (*open)(struct scenes *s);
	} kinds[] = {
#define KIND(name) {#name, name}
	    KIND(mixed_faults),
	    KIND(uplinks_of_a_tor_all_black),
	    KIND(single_pod),
	    KIND(single_t2),
	    KIND(downlinks_of_hosts),
	    KIND(timed_faults),
	    KIND(without_noise),
	    KIND(with_large_noise),
	    KIND(with_skewed_noise),
	    KIND(a_whole_class),
	    KIND(all_links_but_uplinks),
	    KIND(random_connections),
	    KIND(big_flows),
#undef KIND
	};
	struct planes p;
	planes_open(&p);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct scenes s;
		static struct comparison c;
		kinds[i].open(&s);
		compare(&p, &s, 250, &c);
		assert_equal_laws(&c, kinds[i].what);
		scenes_close(&s);
	}
	planes_close(&p);
}

/* Ten failures at 007's size. A plane that lost one of two hits of flows on two
 * failed links would show about 1.2 % fewer failed flows: the epochs here must
 * tell that much apart, and do. */
static void at_007s_size_the_law_holds_and_one_percent_would_show(void **state)
{
	(void)state;
	static struct comparison c;
	struct scenes s;
	struct planes p;
	planes_open(&p);
	scenes_open(&s, &sim);
	for (unsigned class = TOPO_TOR_T1; class < TOPO_TOR_HOST; class ++)
		for (uint32_t i = 0; i < 5; i++)
			scenes_add_fault(
			    &s,
			    topo_clos_class_at(&s.topo.clos, class, 9 + 31 * i),
			    0.01);
	compare(&p, &s, 1200, &c);
	assert_equal_laws(&c, "007");
	const double resolution =
	    ERRORS * law_se(&c.difference[0]) / law_mean(&c.failed);
	if (!(resolution < 0.012))
		fail_msg("4 standard errors are %.2f %%", 100 * resolution);
	const double naive = law_z(&c.naive_difference, 0);
	if (!(naive < -ERRORS))
		fail_msg("half of double hits lost: %.2f standard errors only",
			 naive);
	planes_close(&p);
	scenes_close(&s);
}

/* --- contracts
 * ------------------------------------------------------------------ */

/* An object that has run other scenes, of other topologies, gives the same. */
static void what_ran_before_leaves_no_trace(void **state)
{
	(void)state;
	struct model_skip *used, *fresh;
	struct obs a = {0}, b = {0};
	assert_ok(model_skip_open(&used, test_err()));
	for (size_t i = 0; i < 2 * N_TINIES; i++) {
		struct scenes s;
		struct truth truth = {0};
		open_tiny(&s, &tinies[i % N_TINIES]);
		s.params.traffic.conns = scenes_fixed(30);
		struct model_scene *scene = scenes_draw(&s, (uint32_t)i);
		assert_ok(model_skip_epoch(used, scene, &a, test_err()));
		assert_ok(truth_add_drops(&truth, scene->truth.drops,
					  (unsigned)scene->truth.n_drops,
					  test_err()));
		assert_ok(model_skip_open(&fresh, test_err()));
		assert_ok(model_skip_epoch(fresh, scene, &b, test_err()));
		assert_true(a.flows.n > 0);
		scenes_assert_same(&a, &truth, &b, &scene->truth);
		model_skip_close(fresh);
		truth_free(&truth);
		scenes_close(&s);
	}
	model_skip_close(used);
	obs_free(&a);
	obs_free(&b);
}

static void assert_refused(struct scenes *s, const char *why)
{
	struct sim_err e;
	struct model_skip *k;
	struct obs w = {0};
	struct model_scene *scene = scenes_draw(s, 0);
	assert_ok(model_skip_open(&k, test_err()));
	assert_int_equal(model_skip_fits(scene, &e), SIM_EUNSUPPORTED);
	assert_string_equal(e.msg, why);
	e.msg[0] = 0;
	assert_int_equal(model_skip_epoch(k, scene, &w, &e), SIM_EUNSUPPORTED);
	assert_string_equal(e.msg, why);
	model_skip_close(k);
	obs_free(&w);
}

static void what_skipping_cannot_do_is_refused(void **state)
{
	(void)state;
	struct scenes s;
	struct topo_mesh *mesh;
	scenes_open(&s, &medium);
	scenes_add_fault(&s, 8, 0.1);
	assert_refused(&s, "skipping can't have a fault on a host's uplink "
			   "(link 8).");
	s.group[0].links[0] = 9;
	assert_ok(model_skip_fits(scenes_draw(&s, 0), test_err()));
	s.params.traffic.dst = MODEL_DST_SKEWED;
	assert_refused(&s,
		       "skipping needs uniform traffic; this has hot ToRs.");
	scenes_close(&s);

	assert_ok(topo_mesh_fat_tree(&mesh, 4, 0, test_err()));
	scenes_open_mesh(&s, mesh);
	assert_refused(&s, "skipping needs a Clos; this topology is a graph.");
	scenes_close(&s);
}

static void an_epoch_without_flows_or_losses_is_empty(void **state)
{
	(void)state;
	struct planes p;
	struct scenes s;
	planes_open(&p);
	scenes_open(&s, &medium);
	s.params.noise.rate = scenes_fixed(0);
	run_epoch(&p, SKIP, scenes_draw(&s, 0));
	assert_int_equal(p.window.flows.n, 0);
	assert_int_equal(p.window.n_flows, 36 * 60);
	assert_int_equal(p.window.complete, 0);
	s.params.traffic.conns = scenes_fixed(0);
	s.params.noise.rate = scenes_fixed(1);
	add_class(&s, TOPO_TOR_T1, 36, 1, 1);
	run_epoch(&p, SKIP, scenes_draw(&s, 0));
	assert_int_equal(p.window.flows.n, 0);
	s.params.traffic.conns = scenes_fixed(3);
	run_epoch(&p, SKIP, scenes_draw(&s, 0));
	assert_int_equal(p.window.flows.n, 36 * 3);
	planes_close(&p);
	scenes_close(&s);
}

/* Rates below what 1 - p can hold: jumps longer than any epoch. */
static void the_smallest_rates_do_no_harm(void **state)
{
	(void)state;
	struct planes p;
	struct scenes s;
	planes_open(&p);
	scenes_open(&s, &medium);
	s.params.noise.rate = scenes_fixed(5e-324);
	add_class(&s, TOPO_TOR_T1, 36, 5e-324, 1e-300);
	run_epoch(&p, SKIP, scenes_draw(&s, 0));
	assert_int_equal(p.window.flows.n, 0);
	planes_close(&p);
	scenes_close(&s);
}

static int run_afresh(void *arg, struct sim_err *e)
{
	struct model_scene *s = arg;
	struct model_skip *k = NULL;
	struct obs w = {0};
	free(s->truth.drops);
	s->truth.drops = NULL;
	s->truth.n_drops = s->truth.cap_drops = 0;
	int rc = model_skip_open(&k, e);
	if (rc == 0)
		rc = model_skip_epoch(k, s, &w, e);
	assert_true(rc < 0 || w.flows.n > 100);
	assert_int_equal(s->truth.n_drops, w.hops.n);
	model_skip_close(k);
	obs_free(&w);
	return rc;
}

/* After a failure the object still gives what a fresh one would. */
static void every_failed_allocation_is_reported(void **state)
{
	(void)state;
	struct scenes s;
	mixed_faults(&s);
	test_each_alloc_fails(run_afresh, scenes_draw(&s, 0));
	scenes_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_skipping_cannot_do_is_refused),
	    cmocka_unit_test(an_epoch_without_flows_or_losses_is_empty),
	    cmocka_unit_test(the_smallest_rates_do_no_harm),
	    cmocka_unit_test(what_ran_before_leaves_no_trace),
	    cmocka_unit_test(every_failed_allocation_is_reported),
	    cmocka_unit_test(
		both_planes_match_the_enumeration_of_tiny_networks),
	    cmocka_unit_test(
		scenes_of_many_kinds_have_the_law_of_the_exact_plane),
	    cmocka_unit_test(
		at_007s_size_the_law_holds_and_one_percent_would_show),
	};
	return cmocka_run_group_tests_name("models/skip", tests, NULL, NULL);
}
