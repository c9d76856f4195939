/* tests/experiments/everflow/desk_test.c -- one desk, whosever it is.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A world's copies and probes are given to a desk of our own: with what the world
 * keeps it says what the world said, and otherwise what its rule says. The seed
 * is fixed, as in one run of eight a debugger says one thing first and another
 * later.
 */
#include "experiments/everflow/world.h"
#include "experiments/spec/plane.h"
#include "sim/vec.h"
#include "tests/rigs/scenes.h"
#include "tests/rigs/spec_file.h"

/* A hole may look like chance until probes tell what it takes. */
#define SPEC                                                                   \
	"figure: f\nplane: everflow\nnoise: {rate: 0}\nalgorithms: [vote]\n"   \
	"topology: {n_pods: 2, n_tors: 3, n_t1: 2, n_t2: 2, n_hosts: 3}\n"     \
	"traffic: {conns: 40, packets: {uniform: [1, 60]}, epoch: 10}\n"       \
	"faults:\n  - {kind: black_hole_2, at: [tor1], entries: 0.2}\n"        \
	"  - {links: [tor4->t1.3], rate: 0.1}\n"                               \
	"everflow: {rules: [control, debug, retx], analyzers: 3, settle: 8, "  \
	"debug: [latency, drop, loop, ecmp], debug_every: 0.1, analyzer: "     \
	"{t_ms: 50, confirm_ms: 1500, store_all: true}, drop: {n_tuple: 50, "  \
	"interval_ms: 5}, prober: {host_per_s: 1000, target_per_s: 200}"

enum {
	STEP = 100 * SIM_MS,
	MAX_SAID = 256,
	MAX_ASKED = 1 << 12,
	MAX_TRACES = 1 << 16,
	TOLD = 1,
	SEED = 20180409
};

struct replay {
	struct xp_spec s;
	struct xp_config c;
	struct topo topo;
	struct scene scene;
	struct xp_everworld *w;
	struct xp_everflow_seen seen;

	struct xp_desk *desk;
	struct obs_guided sent;
	uint32_t *ordered;
	size_t n_stored, n_ordered, cap_ordered;
	struct xp_said said[MAX_SAID]; /* as of the last look */
	size_t n_said;
};

/* With MORE in section everflow. */
static void replay_open_with(struct replay *r, const char *more)
{
	char text[2048];
	const struct sim_seed where = {.seed = SEED, .run = 4};
	*r = (struct replay){.w = NULL};
	snprintf(text, sizeof(text), SPEC "%s}\n", more);
	spec_open(&r->s, text);
	assert_ok(xp_spec_point(&r->s, 0, &r->c, test_err()));
	assert_ok(xp_topology_open(&r->c.topology, ".", &r->topo, test_err()));
	assert_ok(xp_everworld_open(&r->w, &r->topo, xp_everflow_of(&r->c),
	    test_err()));
	assert_ok(
	    scene_draw(&r->scene, &r->topo, &r->c.scene, &where, test_err()));
	assert_ok(xp_everworld_run(r->w, &r->scene, &r->seen, test_err()));
}

static void replay_open(struct replay *r)
{
	replay_open_with(r, "");
}

static void replay_close(struct replay *r)
{
	xp_desk_close(r->desk);
	obs_guided_free(&r->sent);
	free(r->ordered);
	xp_everworld_close(r->w);
	scene_free(&r->scene);
	topo_close(&r->topo);
	xp_config_free(&r->c);
	xp_spec_free(&r->s);
}

static void count_stored(void *arg, const struct algo_trace *t)
{
	(void)t;
	((struct replay *)arg)->n_stored++;
}

static int note_orders(void *arg, const struct algo_probe_order order[],
    size_t n, struct sim_err *e)
{
	struct replay *r = arg;
	int rc = SIM_RESERVE(&r->ordered, &r->cap_ordered, r->n_ordered + n, e);
	for (size_t i = 0; rc == 0 && i < n; i++)
		r->ordered[r->n_ordered++] = order[i].id;
	return rc;
}

/* What was said first stays as it was. */
static void check_kept(struct replay *r, enum xp_desk_keeps keeps)
{
	size_t n;
	const struct xp_said *said = xp_desk_said(r->desk, &n);
	assert_true(n >= r->n_said && n <= MAX_SAID);
	if (keeps == XP_DESK_FIRST && r->n_said > 0)
		assert_memory_equal(said, r->said, r->n_said * sizeof(*said));
	if (n > 0)
		memcpy(r->said, said, n * sizeof(*said));
	r->n_said = n;
}

/* The world's course, of what came of it. */
static void replay_go(struct replay *r, enum xp_desk_keeps keeps)
{
	const struct xp_everflow *p = xp_everflow_of(&r->c);
	const struct algo_routing routing = {.topo = &r->topo,
	    .ecmp_seed = r->scene.ecmp_seed,
	    .knows_hash = (uint8_t)p->knows_hash};
	const struct xp_desk_owner owner = {.arg = r,
	    .keeps = keeps,
	    .stored = count_stored,
	    .order = note_orders};
	const struct obs_mirror *copies = r->seen.window->mirror;
	const struct obs_guided *sent = r->seen.window->guided;
	const sim_ns every = (sim_ns)(p->debug_s * 1e9);
	sim_ns look = every;
	size_t fed = 0, to = 0;
	xp_desk_close(r->desk);
	obs_guided_clear(&r->sent);
	r->n_said = r->n_stored = r->n_ordered = 0;
	assert_ok(xp_desk_open(&r->desk, &routing, p, &owner, test_err()));
	for (sim_ns t = STEP; t < r->seen.end_ns + STEP; t += STEP) {
		const sim_ns now = t < r->seen.end_ns ? t : SIM_NEVER;
		while (to < copies->n && copies->t_ns[to] <= now)
			to++;
		assert_ok(xp_desk_feed(r->desk, copies, NULL, fed, to, now,
		    test_err()));
		fed = to;
		while (r->sent.n < sent->n && sent->sent_ns[r->sent.n] <= t) {
			const struct obs_guided_probe row =
			    obs_guided_at(sent, r->sent.n);
			assert_ok(obs_guided_add(&r->sent, &row, test_err()));
		}
		if (t < look && t < r->seen.end_ns)
			continue;
		assert_ok(xp_desk_look(r->desk, &r->sent, t, test_err()));
		check_kept(r, keeps);
		look += every;
	}
}

static int is_ordered(const struct replay *r, uint32_t id)
{
	for (size_t i = 0; i < r->n_ordered; i++)
		if (r->ordered[i] == id)
			return 1;
	return 0;
}

static void a_desk_of_the_same_copies_says_the_same(void **state)
{
	static struct replay r;
	(void)state;
	replay_open(&r);
	replay_go(&r, XP_DESK_LAST);
	assert_true(r.n_said > 1);
	assert_int_equal(r.n_said, r.seen.n_said);
	for (size_t i = 0; i < r.n_said; i++) {
		const struct xp_said *a = &r.said[i], *b = &r.seen.said[i];
		assert_int_equal(a->debugger, b->debugger);
		assert_int_equal(a->at, b->at);
		assert_int_equal(a->finding.cause, b->finding.cause);
		assert_int_equal(a->finding.link, b->finding.link);
		assert_int_equal(a->finding.node, b->finding.node);
		assert_true(a->finding.score == b->finding.score);
	}
	struct algo_analyzer_counts n;
	xp_desk_analyzed(r.desk, &n);
	assert_memory_equal(&n, &r.seen.analyzed, sizeof(n));
	assert_int_equal(r.n_stored, n.n_stored);
	assert_int_equal(r.n_stored, xp_desk_traces(r.desk)->traces.n);
	assert_true(r.seen.n_guided > 0);
	for (size_t i = 0; i < r.seen.n_guided; i++)
		assert_true(is_ordered(&r, r.seen.window->guided->order[i]));
	replay_close(&r);
}

/* Whether S is what a desk that keeps the first has of F. */
static int is_first_of(const struct xp_said *s, const struct xp_said *of)
{
	const struct algo_finding *a = &s->finding, *b = &of->finding;
	return s->debugger == of->debugger && a->cause == b->cause &&
	    a->link == b->link && a->node == b->node;
}

/* Each cause of a place once, when it was said first; so what was said last is
 * one of them, and since that time or later. */
static void the_first_of_each_cause_is_kept(void **state)
{
	static struct replay r;
	size_t n_last;
	(void)state;
	replay_open(&r);
	n_last = r.seen.n_said;
	replay_go(&r, XP_DESK_FIRST);
	assert_true(r.n_said > n_last);
	for (size_t i = 0; i < r.n_said; i++)
		for (size_t k = 0; k < i; k++)
			assert_false(is_first_of(&r.said[i], &r.said[k]));
	for (size_t i = 0; i < n_last; i++) {
		const struct xp_said *s = r.said, *end = r.said + r.n_said;
		while (s < end && !is_first_of(s, &r.seen.said[i]))
			s++;
		assert_true(s < end);
		assert_true(s->at <= r.seen.said[i].at);
	}
	replay_close(&r);
}

/* What a network was asked, in this order. */
struct asked {
	unsigned n;
	topo_switch at[MAX_ASKED];
	topo_link in[MAX_ASKED];
	struct topo_tuple tuple[MAX_ASKED];
};

static int tell_next(void *arg, topo_switch at, topo_link in,
    const struct topo_tuple *tuple, topo_link *link, struct sim_err *e)
{
	struct asked *a = arg;
	(void)e;
	assert_true(a->n < MAX_ASKED);
	a->at[a->n] = at;
	a->in[a->n] = in;
	a->tuple[a->n++] = *tuple;
	*link = TOLD;
	return 0;
}

/* By the outermost header a switch routes. */
static void assert_asked(const struct asked *a, unsigned k,
    const struct algo_trace *t, const struct algo_hop *last)
{
	const struct topo_tuple *x = &a->tuple[k];
	assert_true(k < a->n);
	assert_int_equal(a->at[k], last->node);
	assert_int_equal(a->in[k], last->in_link);
	if (last->layer == 0) {
		assert_true(x->src_ip == t->src_ip && x->dst_ip == t->dst_ip);
		assert_true(
		    x->src_port == t->src_port && x->dst_port == t->dst_port);
		assert_int_equal(x->proto, t->proto);
		return;
	}
	assert_true(
	    x->src_ip == last->outer_src && x->dst_ip == last->outer_dst);
	assert_true(x->src_port == 0 && x->dst_port == 0);
	assert_int_equal(x->proto, OBS_PROTO_IPIP);
}

static const struct algo_trace_store *feed_all(struct replay *r,
    const struct xp_desk_owner *owner)
{
	const struct algo_routing routing = {.topo = &r->topo};
	const struct obs_mirror *copies = r->seen.window->mirror;
	xp_desk_close(r->desk);
	assert_ok(xp_desk_open(&r->desk, &routing, xp_everflow_of(&r->c), owner,
	    test_err()));
	assert_ok(xp_desk_feed(r->desk, copies, NULL, 0, copies->n, SIM_NEVER,
	    test_err()));
	return xp_desk_traces(r->desk);
}

/* Where the hash is not known a network is asked by which link a packet that never
 * came left its last switch; what is known without it stays. */
static void a_network_is_asked_for_what_nobody_else_knows(void **state)
{
	static struct replay r;
	static struct asked a;
	static topo_link known[MAX_TRACES];
	unsigned k = 0, n_layer[OBS_MAX_OUTER + 1] = {0}, n_known = 0;
	(void)state;
	replay_open_with(&r, ", slb: {vips: 4, muxes: 2}");
	const struct algo_trace_store *s =
	    feed_all(&r, &(struct xp_desk_owner){.arg = NULL});
	assert_in_range(s->traces.n, 1, MAX_TRACES);
	memcpy(known, s->traces.lost_link, s->traces.n * sizeof(known[0]));
	s = feed_all(&r, &(struct xp_desk_owner){.arg = &a, .next = tell_next});
	for (size_t i = 0, at = 0; i < s->traces.n; i++) {
		const struct algo_trace t = algo_traces_at(&s->traces, i);
		at += t.n_hops;
		const struct algo_hop last = algo_hops_at(&s->hops, at - 1);
		if (!(t.marks & ALGO_TRACE_DROPS) || known[i] != TOPO_NONE ||
		    last.in_link == TOPO_NONE) {
			assert_int_equal(t.lost_link, known[i]);
			n_known += known[i] != TOPO_NONE;
			continue;
		}
		assert_int_equal(t.lost_link, TOLD);
		n_layer[last.layer]++;
		assert_asked(&a, k++, &t, &last);
	}
	assert_int_equal(k, a.n);
	assert_true(n_layer[0] > 0 && n_layer[1] > 0 && n_known > 0);
	replay_close(&r);
}

static int no_orders(void *arg, const struct algo_probe_order order[], size_t n,
    struct sim_err *e)
{
	(void)arg, (void)order, (void)n;
	return sim_fail(e, SIM_EIO, "No wire.");
}

/* Names of a spec and the list of debuggers are in one order. */
static void each_debugger_has_its_name(void **state)
{
	(void)state;
	for (unsigned i = 0; i < XP_N_DEBUGGERS; i++)
		assert_string_equal(xp_everflow_debugger(i)->name,
		    xp_everflow_debuggers[i]);
	assert_null(algo_debuggers[XP_N_DEBUGGERS]);
}

/* Who cannot send ends the look, and it is said whose orders they were. */
static void an_owners_error_is_told(void **state)
{
	static struct replay r;
	struct sim_err e = {0};
	(void)state;
	replay_open(&r);
	const struct algo_routing routing = {.topo = &r.topo};
	const struct xp_desk_owner owner = {.order = no_orders};
	assert_ok(xp_desk_open(&r.desk, &routing, xp_everflow_of(&r.c), &owner,
	    test_err()));
	assert_int_equal(xp_desk_look(r.desk, &r.sent, STEP, &e), SIM_EIO);
	assert_string_equal(e.msg, "debugger latency: No wire.");
	replay_close(&r);
}

/* Who shared copies out himself, and wrongly. */
static void a_copy_for_no_analyzer_is_refused(void **state)
{
	static const uint8_t who[] = {64};
	static struct replay r;
	struct sim_err e = {0};
	(void)state;
	replay_open(&r);
	const struct algo_routing routing = {.topo = &r.topo};
	const struct xp_desk_owner owner = {.order = NULL};
	const struct xp_everflow *p = xp_everflow_of(&r.c);
	char want[64];
	assert_ok(xp_desk_open(&r.desk, &routing, p, &owner, test_err()));
	assert_true(r.seen.window->mirror->n > 0);
	assert_int_equal(xp_desk_feed(r.desk, r.seen.window->mirror, who, 0, 1,
			     STEP, &e),
	    SIM_EINVAL);
	snprintf(want, sizeof(want), "A copy is for analyzer 64 of %u.",
	    p->n_analyzers);
	assert_string_equal(e.msg, want);
	replay_close(&r);
}

/* However many analyzers share them, each has some, and together they make the
 * same traces. */
static void analyzers_share_all_copies(void **state)
{
	static struct replay r;
	size_t n_traces = 0;
	(void)state;
	replay_open(&r);
	const struct obs_mirror *copies = r.seen.window->mirror;
	const struct algo_routing routing = {.topo = &r.topo,
	    .ecmp_seed = r.scene.ecmp_seed};
	for (uint32_t n = 1; n <= 3; n++) {
		const struct xp_desk_owner owner = {.keeps = XP_DESK_LAST};
		struct xp_everflow p = *xp_everflow_of(&r.c);
		struct algo_analyzer_counts count;
		uint64_t n_of[3] = {0};
		p.n_analyzers = n;
		assert_ok(
		    xp_desk_open(&r.desk, &routing, &p, &owner, test_err()));
		assert_ok(xp_desk_feed(r.desk, copies, NULL, 0, copies->n,
		    SIM_NEVER, test_err()));
		xp_desk_analyzed(r.desk, &count);
		assert_int_equal(count.n_copies, copies->n);
		const struct algo_traces *t = &xp_desk_traces(r.desk)->traces;
		for (size_t i = 0; i < t->n; i++) {
			assert_true(t->analyzer[i] < n);
			n_of[t->analyzer[i]]++;
		}
		for (uint32_t k = 0; k < n; k++)
			assert_true(n_of[k] > t->n / (2 * n));
		assert_true(n == 1 || t->n == n_traces);
		n_traces = t->n;
		/* Who gets what may be said, but not one that there is not. */
		if (n > 1) {
			const uint8_t who[] = {(uint8_t)(n - 1), (uint8_t)n};
			struct sim_err e;
			char says[64];
			assert_ok(xp_desk_feed(r.desk, copies, who, 0, 1,
			    SIM_NEVER, test_err()));
			assert_int_equal(xp_desk_feed(r.desk, copies, who, 0, 2,
					     SIM_NEVER, &e),
			    SIM_EINVAL);
			snprintf(says, sizeof(says),
			    "A copy is for analyzer %u of %u.", n, n);
			assert_string_equal(e.msg, says);
		}
		xp_desk_close(r.desk);
		r.desk = NULL;
	}
	replay_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_desk_of_the_same_copies_says_the_same),
	    cmocka_unit_test(the_first_of_each_cause_is_kept),
	    cmocka_unit_test(a_network_is_asked_for_what_nobody_else_knows),
	    cmocka_unit_test(each_debugger_has_its_name),
	    cmocka_unit_test(an_owners_error_is_told),
	    cmocka_unit_test(analyzers_share_all_copies),
	    cmocka_unit_test(a_copy_for_no_analyzer_is_refused),
	};
	return cmocka_run_group_tests_name("experiments/everflow/desk", tests,
	    spec_folder_make, spec_folder_remove);
}
