/* tests/experiments/pingmesh/bulk_test.c -- probes in bulk beside those of agents.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The agents of plane pingmesh live through the same scenes, in 256 hosts. Where
 * each way of counting has so many of a kind they are held to each other by
 * chi-square tests at 1e-6 and means of times to 5.5 standard errors: about 130
 * in all, which all pass under 9,998 seeds of 10,000.
 */
#include "experiments/pingmesh/bulk/run.h"

#include "experiments/pingmesh/along.h"
#include "experiments/pingmesh/bulk/mean_loss.h"
#include "experiments/pingmesh/truth.h"
#include "tests/rigs/law.h"
#include "tests/rigs/pingmesh.h"

#define LEVEL 1e-6
static const struct topo_clos shape = {4, 8, 4, 4, 8, .n_cables = 0};
enum { HOSTS = 256, TORS = 32, PODS = 4, SKIP_S = 30, DURATION_S = 330 };
enum { LATE_1, LATE_2, FAILED, UNCLEAR, SLOW, N_SIGNS };
#define SLOW_NS (2 * SIM_MS) /* from so long to late by any SYN */

/* Of probes that were sent from SKIP_S on, when all agents are at work. */
struct seen {
	uint64_t pods[N_SIGNS][PODS * PODS], from[N_SIGNS][TORS],
	    to[N_SIGNS][TORS], bin[N_SIGNS][10], all[N_SIGNS];
	uint64_t n, tail[8];
	struct algo_drop_ladder ladder;
	uint32_t but_pod; /* 1 + a pod whose senders do not count */
};

static void see(struct seen *x, const struct obs_probes *t)
{
	static const double us[] = {200, 250, 300, 400, 600, 1500, 1e5, 2e6};
	for (size_t i = 0; i < t->n; i++) {
		const uint32_t a = t->src_host[i] / 8, b = t->dst_host[i] / 8;
		const int failed = t->outcome[i] == OBS_TIMED_OUT;
		const int lost =
		    failed ? 0 : algo_drop_n_lost(&x->ladder, t->rtt_ns[i]);
		const sim_ns at = t->sent_ns[i] / SIM_SEC;
		if (at < SKIP_S || a / 8 + 1 == x->but_pod)
			continue;
		x->n++;
		for (int k = 0; k < 8 && !failed; k++)
			x->tail[k] += (double)t->rtt_ns[i] > us[k] * 1e3;
		if (!failed && lost == 0 && t->rtt_ns[i] < SLOW_NS)
			continue;
		const int s = failed ? FAILED
		    : lost == 0      ? SLOW
		    : lost < 0       ? UNCLEAR
				     : LATE_1 + lost - 1;
		x->pods[s][a / 8 * PODS + b / 8]++;
		x->from[s][a]++;
		x->to[s][b]++;
		x->bin[s][(at - SKIP_S) * 10 / (DURATION_S - SKIP_S)]++;
		x->all[s]++;
	}
}

static int hear(void *arg, const struct obs *o, const struct losses *lost,
    size_t row, sim_ns now, struct sim_err *e)
{
	const struct obs_probes *piece;
	size_t at = 0;
	int rc = 0;
	(void)lost, (void)now;
	while (row == SIZE_MAX &&
	    (rc = obs_probes_next(&o->probes, &at, NULL, &piece, e)) > 0)
		see(arg, piece);
	return rc;
}

struct rig {
	struct pingmesh m;
	struct seen bulk, agents;
};

#define TIMES                                                                  \
	"duration: 330, agent: {upload_interval: 20}, "                        \
	"pinglist: {tor_interval_s: 10, dc_interval_s: 10}, "
static void set_up_with(struct rig *g, const char *text)
{
	*g = (struct rig){.bulk = {.n = 0}};
	pingmesh_open(&g->m, &shape, text);
	g->m.p.connect.profile = 0; /* dc1, whose hosts stall */
	g->m.s.params.noise.rate = scenes_fixed(1e-3);
}

static void set_up(struct rig *g)
{
	set_up_with(g, TIMES "window: 330");
}

static void compare(const char *what, int s, const uint64_t a[],
    const uint64_t b[], size_t n)
{
	const double p = law_chi2_equal(a, b, n);
	print_message("    %-6s %3zu cells  p = %.4f\n", what, n, p);
	if (p < LEVEL)
		fail_msg("%s, sign %d: p = %g", what, s, p);
}

static void run_agents(struct rig *g, uint32_t run)
{
	struct res_trial_metrics row;
	struct xp_pingmesh_plane *p;
	struct xp_net *net;
	const struct xp_pingmesh_hooks hooks = {.arg = &g->agents,
	    .diagnose = hear};
	assert_ok(xp_net_open_sim(&net, &g->m.s.topo, &g->m.p, test_err()));
	assert_ok(
	    xp_pingmesh_plane_open(&p, &g->m.s.topo, &g->m.p, net, test_err()));
	assert_ok(xp_pingmesh_plane_run(p, scenes_draw(&g->m.s, run), &row,
	    &hooks, test_err()));
	xp_pingmesh_plane_close(p);
	xp_net_close(net);
}

static void run_bulk(struct rig *g, uint32_t run)
{
	struct res_trial_metrics row;
	struct xp_bulk_mesh *m;
	const struct xp_pingmesh_hooks hooks = {.arg = &g->bulk,
	    .diagnose = hear};
	assert_ok(xp_bulk_mesh_open(&m, &g->m.s.topo, &g->m.p, OBS_PROBES,
	    test_err()));
	assert_ok(xp_bulk_mesh_run(m, scenes_draw(&g->m.s, run), &row, &hooks,
	    test_err()));
	xp_bulk_mesh_close(m);
}

static void hold(struct rig *g, uint32_t n_runs)
{
	static const char *const sign[] = {"late by one SYN", "late by two",
	    "failed", "late for no known reason", "slow"};
	const sim_ns wait[] = {3 * SIM_SEC, 6 * SIM_SEC};
	struct seen *a = &g->bulk, *b = &g->agents;
	assert_ok(algo_drop_ladder_init(&a->ladder, wait, 2, 250 * SIM_MS,
	    test_err()));
	b->ladder = a->ladder;
	for (uint32_t run = 0; run < n_runs; run++) {
		run_agents(g, run);
		run_bulk(g, run);
	}
	/* Agents are put off now and then; one probe in a thousand. */
	assert_near((double)a->n / (double)b->n, 1, 2e-3);
	for (int s = 0; s < N_SIGNS; s++) {
		print_message("  %s: %llu in bulk, %llu of agents\n", sign[s],
		    (unsigned long long)a->all[s],
		    (unsigned long long)b->all[s]);
		compare("pods", s, a->pods[s], b->pods[s], PODS * PODS);
		compare("from", s, a->from[s], b->from[s], TORS);
		compare("to", s, a->to[s], b->to[s], TORS);
		compare("times", s, a->bin[s], b->bin[s], 10);
	}
	for (int k = 0; k < 8; k++)
		assert_near((double)a->tail[k] / (double)a->n,
		    (double)b->tail[k] / (double)b->n,
		    6 * sqrt(2.0 * (double)(b->tail[k] + 1)) / (double)b->n);
}

static void a_healthy_mesh_is_that_of_agents(void **state)
{
	struct rig g;
	(void)state;
	set_up(&g);
	hold(&g, 2);
	pingmesh_close(&g.m);
}

static void a_bad_t2_is_that_of_agents(void **state)
{
	struct rig g;
	uint32_t t2 = HOSTS + TORS + 16 + 3;
	(void)state;
	set_up(&g);
	g.m.s.params.noise.rate = scenes_uniform(0, 4e-4);
	struct fault_params *f = scenes_add_group(&g.m.s);
	f->at = &t2;
	f->n_at = 1;
	f->share = 1;
	f->rate = scenes_fixed(0.05);
	f->from_s = 100;
	hold(&g, 2);
	pingmesh_close(&g.m);
}

static void black_holes_are_those_of_agents(void **state)
{
	struct rig g;
	(void)state;
	set_up(&g);
	pingmesh_add_holes(&g.m, 2, 0.1)->to_s = 200;
	pingmesh_add_holes(&g.m, 2, 0.03)->kind = FAULT_BLACK_HOLE_2;
	hold(&g, 2);
	pingmesh_close(&g.m);
}

/* Agents that go off lose the records that they hold, and those that come back
 * fetch a list first: only what others sent is compared. */
static void a_pod_without_power_is_that_of_agents(void **state)
{
	struct rig g;
	uint32_t pod = 2;
	(void)state;
	set_up(&g);
	struct fault_params *f = scenes_add_group(&g.m.s);
	f->kind = FAULT_POD_OFF;
	f->at = &pod;
	f->n_at = 1;
	f->from_s = 100;
	f->to_s = 200;
	g.bulk.but_pod = g.agents.but_pod = 3;
	hold(&g, 2);
	pingmesh_close(&g.m);
}

/* The job of the first window names both ToRs, and 46 s later they forward
 * nothing for 40 s; then their holes are gone. Both planes judge by their own
 * probes, and what they then do is in the times of failures. */
static void reloads_of_black_holes_are_those_of_agents(void **state)
{
	struct rig g;
	(void)state;
	set_up_with(&g, TIMES "window: 110, repair: {on: true, reload: 40}");
	pingmesh_add_holes(&g.m, 2, 0.1);
	hold(&g, 2);
	assert_true(g.bulk.bin[FAILED][9] < g.bulk.bin[FAILED][0] / 5);
	pingmesh_close(&g.m);
}

/* --- links that delay --------------------------------------------------------- */

static struct fault_params *add_slow(struct rig *g, topo_link l, double us)
{
	struct fault_params *f = scenes_add_fault(&g->m.s, l, 0);
	f->kind = FAULT_LATENCY;
	f->delay = scenes_fixed(us);
	return f;
}

/* All links into one T2 delay by 5 ms, and one out of it by as much again and
 * more, by chance; a ToR's cable by so much that a SYN is sent again. */
static void add_slow_ones(struct rig *g)
{
	const struct topo_clos *c = &g->m.s.topo.clos;
	struct fault_params *f =
	    add_slow(g, topo_clos_link_t1(c, 0, 3, TOPO_UP), 5e3);
	for (uint32_t i = 1; i < c->all_t1; i++)
		f->links[f->n_links++] = topo_clos_link_t1(c, i, 3, TOPO_UP);
	add_slow(g, topo_clos_link_t1(c, 6, 3, TOPO_DOWN), 5e3)->law =
	    TRUTH_EXPONENTIAL;
	add_slow(g, topo_clos_link_tor(c, 20, 2, TOPO_UP), 3.1e6)->from_s = 100;
	add_slow(g, topo_clos_link_host(9, TOPO_DOWN), 3e4)->to_s = 200;
}

static void links_that_delay_are_those_of_agents(void **state)
{
	struct rig g;
	(void)state;
	set_up(&g);
	add_slow_ones(&g);
	scenes_add_fault(&g.m.s,
	    topo_clos_link_t1(&g.m.s.topo.clos, 6, 3, TOPO_DOWN), 0.1);
	hold(&g, 2);
	assert_true(g.bulk.all[SLOW] > 100000);
	pingmesh_close(&g.m);
}

/* The mean of each quantile over runs, each plane's by its own probes: of bulk's
 * nearly all are never drawn, and those that a link delayed are among them. */
static void quantiles_with_delays_are_those_of_agents(void **state)
{
	enum { QUANTILES = 24, RUNS_EACH = 20 };
	const struct xp_pingmesh_hooks none = {.arg = NULL};
	static struct law_mean mean[2][QUANTILES];
	struct xp_pingmesh_plane *p;
	struct xp_bulk_mesh *m;
	struct xp_net *net;
	struct rig g;
	(void)state;
	set_up_with(&g,
	    "duration: 60, window: 60, along: quantile, agent: "
	    "{upload_interval: 20}, pinglist: {tor_interval_s: 10, "
	    "dc_interval_s: 10}");
	add_slow_ones(&g);
	assert_true(g.m.p.n_tails <= QUANTILES);
	assert_ok(xp_bulk_mesh_open(&m, &g.m.s.topo, &g.m.p, 0, test_err()));
	assert_ok(xp_net_open_sim(&net, &g.m.s.topo, &g.m.p, test_err()));
	assert_ok(
	    xp_pingmesh_plane_open(&p, &g.m.s.topo, &g.m.p, net, test_err()));
	for (uint32_t run = 0; run < RUNS_EACH; run++) {
		struct res_trial_metrics row[2][QUANTILES];
		assert_ok(xp_bulk_mesh_run(m, scenes_draw(&g.m.s, run), row[0],
		    &none, test_err()));
		assert_ok(xp_pingmesh_plane_run(p, scenes_draw(&g.m.s, run),
		    row[1], &none, test_err()));
		for (int k = 0; k < 2; k++)
			for (uint32_t i = 0; i < g.m.p.n_tails; i++)
				law_add(&mean[k][i], log(row[k][i].rtt_us));
	}
	/* Agents begin some seconds late, which tells in the greatest times. */
	for (uint32_t i = 0; i < g.m.p.n_tails && xp_pingmesh_tail(i) >= 1e-3;
	     i++) {
		const struct law_mean *a = &mean[0][i], *b = &mean[1][i];
		print_message("  quantile %2u: %9.1f us in bulk, %9.1f\n", i,
		    exp(law_mean(a)), exp(law_mean(b)));
		assert_near(law_mean(a), law_mean(b),
		    5.5 * hypot(law_se(a), law_se(b)));
	}
	xp_pingmesh_plane_close(p);
	xp_net_close(net);
	xp_bulk_mesh_close(m);
	pingmesh_close(&g.m);
}

/* --- pairs ------------------------------------------------------------------- */

/* A host that all that comes to is late: pairs of its ToR, or pod, are slow in each
 * direction, as a connect takes both. */
static void hold_pairs(const char *unit, uint32_t n, uint32_t slow)
{
	const struct xp_pingmesh_hooks none = {.arg = NULL};
	struct res_trial_metrics row[2][PINGMESH_TORS * PINGMESH_TORS];
	struct xp_pingmesh_plane *p;
	struct xp_bulk_mesh *b;
	struct xp_net *net;
	struct rig g = {.bulk = {.n = 0}};
	char text[256];
	snprintf(text, sizeof(text),
	    "duration: 120, window: 120, along: pair, unit: %s, pinglist: "
	    "{tor_interval_s: 10, dc_interval_s: 10}",
	    unit);
	pingmesh_open(&g.m, &pingmesh_tiny, text);
	add_slow(&g, topo_clos_link_host(2, TOPO_DOWN), 3e4);
	assert_ok(xp_bulk_mesh_open(&b, &g.m.s.topo, &g.m.p, 0, test_err()));
	assert_int_equal(xp_bulk_mesh_rows(b), n * n);
	assert_ok(xp_net_open_sim(&net, &g.m.s.topo, &g.m.p, test_err()));
	assert_ok(
	    xp_pingmesh_plane_open(&p, &g.m.s.topo, &g.m.p, net, test_err()));
	assert_ok(xp_bulk_mesh_run(b, scenes_draw(&g.m.s, 0), row[0], &none,
	    test_err()));
	assert_ok(xp_pingmesh_plane_run(p, scenes_draw(&g.m.s, 0), row[1],
	    &none, test_err()));
	for (uint32_t i = 0; i < n * n; i++) {
		const int is_slow = i / n == slow || i % n == slow;
		for (int k = 0; k < 2; k++)
			assert_in_range(row[k][i].p99_us, is_slow ? 30000 : 100,
			    is_slow ? 40000 : 10000);
	}
	xp_pingmesh_plane_close(p);
	xp_net_close(net);
	xp_bulk_mesh_close(b);
	pingmesh_close(&g.m);
}

static void pairs_of_tors_and_of_pods_are_those_of_agents(void **state)
{
	(void)state;
	hold_pairs("tor", PINGMESH_TORS, 1);
	hold_pairs("pod", 2, 0);
}

/* --- the mean loss ---------------------------------------------------------- */

/* By the truth of each pair, over all paths of each. */
static double loss_by_pairs(struct rig *g, const struct scene *s)
{
	struct xp_true_loss x = {.topo = NULL};
	struct obs_probes t = {0};
	double sum = 0;
	assert_ok(xp_true_loss_begin(&x, s, 1, test_err()));
	for (topo_host a = 0; a < HOSTS; a++)
		for (topo_host b = 0; b < HOSTS; b++) {
			const struct obs_probe p = {.sent_ns = 5,
			    .rtt_ns = 1,
			    .src_host = a,
			    .dst_host = b,
			    .level = OBS_LEVEL_DC};
			if (a != b && (a / 8 == b / 8 || a % 8 == b % 8))
				assert_ok(obs_probes_add(&t, &p, test_err()));
		}
	for (size_t i = 0; i < t.n; i++)
		sum += xp_true_loss_of(&x, &t, i);
	(void)g;
	sum /= (double)t.n;
	obs_probes_free(&t);
	xp_true_loss_free(&x);
	return sum;
}

static void the_mean_loss_is_that_of_all_pairs(void **state)
{
	struct res_trial_metrics row;
	struct xp_bulk_mesh *m;
	const struct xp_pingmesh_hooks none = {.arg = NULL};
	struct rig g;
	(void)state;
	set_up(&g);
	g.m.s.params.noise.rate = scenes_uniform(0, 2e-3);
	for (uint32_t run = 0; run < 3; run++) {
		if (run == 1)
			g.m.s.params.noise.rate = scenes_fixed(1e-4);
		if (run == 2)
			scenes_add_fault(&g.m.s,
			    topo_clos_link_tor(&g.m.s.topo.clos, 9, 1, 0), 0.3);
		struct scene *s = scenes_draw(&g.m.s, run);
		const double want = loss_by_pairs(&g, s);
		assert_ok(
		    xp_bulk_mesh_open(&m, &g.m.s.topo, &g.m.p, 0, test_err()));
		assert_ok(xp_bulk_mesh_run(m, s, &row, &none, test_err()));
		assert_near(row.true_drop_rate, want, 1e-9 * want);
		xp_bulk_mesh_close(m);
	}
	pingmesh_close(&g.m);
}

/* --- the rest --------------------------------------------------------------- */

static void assert_refused(const char *text, const char *why)
{
	struct pingmesh m;
	struct xp_bulk_mesh *b;
	struct sim_err e;
	pingmesh_open(&m, &pingmesh_tiny, text);
	assert_int_equal(xp_bulk_mesh_open(&b, &m.s.topo, &m.p, 0, &e),
	    SIM_EUNSUPPORTED);
	if (!strstr(e.msg, why))
		fail_msg("%s", e.msg);
	pingmesh_close(&m);
}

static void what_only_agents_have_is_refused(void **state)
{
	(void)state;
	assert_refused("connect: {synack_timer: true}", "use plane pingmesh");
	assert_refused("along: quantile, time: echo, pinglist: "
		       "{payload_probes: true}",
	    "payloads in bulk have no times");
	assert_refused("along: quantile, time: http, pinglist: "
		       "{http_probes: true}",
	    "GETs in bulk have no times");
	assert_refused("trace: {on: true}", "only agents trace");
	assert_refused("agent: {ports: list}",
	    "dc_interval_s differ, and one count goes over ports for both");
	assert_refused("pinglist: {vips: \"198.18.0.1\"}", "vips are probed");
	assert_refused("pinglist: {ports: \"80,81\"}", "of one class");
	assert_refused("pinglist: {payload_probes: true}", "carry none");
	assert_refused("pinglist: {http_probes: true}", "connects alone");
	assert_refused("agent: {min_interval: 11}",
	    "agent.min_interval 11 s is above pinglist.tor_interval_s of 10 s");
	assert_refused("agent: {min_interval: 60}, pinglist: {levels: [dc]}",
	    "above pinglist.dc_interval_s of 30 s");
}

/* What only the truth tells is refused when a run begins. */
static void scenes_of_agents_are_refused(void **state)
{
	const struct xp_pingmesh_hooks none = {.arg = NULL};
	struct res_trial_metrics row;
	struct xp_bulk_mesh *b;
	struct pingmesh m;
	struct sim_err e;
	uint32_t t1;
	(void)state;
	pingmesh_open(&m, &pingmesh_tiny, "");
	t1 = m.s.topo.n_hosts + m.s.topo.clos.all_tors;
	for (int i = 0; i < 2; i++) {
		struct fault_params *f = scenes_add_group(&m.s);
		f->kind = FAULT_BLACK_HOLE_2;
		f->at = &t1;
		f->n_at = 1;
	}
	assert_ok(xp_bulk_mesh_open(&b, &m.s.topo, &m.p, 0, test_err()));
	assert_int_equal(xp_bulk_mesh_run(b, scenes_draw(&m.s, 0), &row, &none,
			     &e),
	    SIM_EUNSUPPORTED);
	if (!strstr(e.msg, "use plane pingmesh: t1.0 has two black holes"))
		fail_msg("%s", e.msg);
	xp_bulk_mesh_close(b);
	pingmesh_close(&m);
}

/* --- a history --------------------------------------------------------------- */

enum { MANY = 6 };

static void run_with(struct res_trial_metrics row[], const char *text)
{
	const struct xp_pingmesh_hooks none = {.arg = NULL};
	struct xp_bulk_mesh *b;
	struct pingmesh m;
	pingmesh_open(&m, &pingmesh_tiny, text);
	m.s.params.noise.rate = scenes_fixed(0.02);
	scenes_add_fault(&m.s, 3, 0.4)->from_s = 150;
	assert_ok(xp_bulk_mesh_open(&b, &m.s.topo, &m.p, 0, test_err()));
	assert_ok(
	    xp_bulk_mesh_run(b, scenes_draw(&m.s, 0), row, &none, test_err()));
	xp_bulk_mesh_close(b);
	pingmesh_close(&m);
}

#define SIX                                                                    \
	"window: 60, duration: 360, pinglist: {tor_interval_s: 10, "           \
	"dc_interval_s: 10}"

/* The same rows of late connects, in windows of their own and in a history: each
 * count of a history is the sum over its windows, which ONE has by themselves. The
 * mean loss is that of time, and so of probes where windows are WHOLE intervals. */
static void assert_histories_are_sums(const char *text, int whole,
    const struct res_trial_metrics one[MANY])
{
	struct res_trial_metrics row[MANY];
	for (uint32_t history = 2; history <= MANY; history++) {
		char longer[256];
		snprintf(longer, sizeof(longer),
		    "%s, along: window, history: %u", text, 60 * history);
		run_with(row, longer);
		for (uint32_t w = 0; w < MANY; w++) {
			double n = 0, connected = 0, lost = 0;
			for (uint32_t i = 0; i < history && i <= w; i++) {
				n += one[w - i].n_probes;
				connected += one[w - i].n_connected;
				lost += one[w - i].true_drop_rate *
				    one[w - i].n_probes;
			}
			assert_near(row[w].n_probes, n, 0);
			assert_near(row[w].n_connected, connected, 0);
			if (whole)
				assert_near(row[w].true_drop_rate, lost / n,
				    1e-9 * lost / n);
		}
	}
}

static void a_history_is_the_sum_of_its_windows(void **state)
{
	struct res_trial_metrics one[MANY], all;
	(void)state;
	run_with(one, SIX ", along: window");
	assert_histories_are_sums(SIX, 1, one);
	/* The whole run counts each window once, whatever its jobs read. */
	run_with(&all, SIX ", history: 180");
	double n = 0, connected = 0;
	for (uint32_t w = 0; w < MANY; w++) {
		n += one[w].n_probes;
		connected += one[w].n_connected;
	}
	assert_near(all.n_probes, n, 0);
	assert_near(all.n_connected, connected, 0);
}

/* Windows of 1.7 probes of a pair: each probe is in one of them, and none in two; a
 * history knows which ones each of its windows had. */
static void windows_need_not_be_of_whole_intervals(void **state)
{
	static const char pairs[] = "duration: 360, pinglist: {tor_interval_s: "
				    "35, dc_interval_s: 37}, window: ";
	struct res_trial_metrics one[MANY], all;
	double n = 0, connected = 0;
	char text[256];
	(void)state;
	snprintf(text, sizeof(text), "%s60, along: window", pairs);
	run_with(one, text);
	snprintf(text, sizeof(text), "%s60", pairs);
	assert_histories_are_sums(text, 0, one);
	snprintf(text, sizeof(text), "%s60, history: 180", pairs);
	run_with(&all, text);
	for (uint32_t w = 0; w < MANY; w++) {
		n += one[w].n_probes;
		connected += one[w].n_connected;
	}
	assert_near(all.n_probes, n, 0);
	assert_near(all.n_connected, connected, 0);
	snprintf(text, sizeof(text), "%s360", pairs);
	run_with(&all, text);
	assert_near(all.n_probes, n, 0);
}

static void too_many_probes_to_be_told_are_refused(void **state)
{
	struct pingmesh m;
	struct xp_bulk_mesh *b;
	struct sim_err e;
	(void)state;
	pingmesh_open(&m, &shape,
	    "duration: 86400, window: 86400, pinglist: {tor_interval_s: 10, "
	    "dc_interval_s: 10}");
	assert_int_equal(xp_bulk_mesh_open(&b, &m.s.topo, &m.p, OBS_PROBES, &e),
	    SIM_ELIMIT);
	assert_true(
	    strstr(e.msg, "algorithms and repairs read each probe") != NULL);
	assert_ok(xp_bulk_mesh_open(&b, &m.s.topo, &m.p, 0, test_err()));
	xp_bulk_mesh_close(b);
	pingmesh_close(&m);
}

static int run_once(void *arg, struct sim_err *e)
{
	struct pingmesh *m = arg;
	const struct xp_pingmesh_hooks none = {.arg = NULL};
	struct res_trial_metrics row[4];
	struct xp_bulk_mesh *b;
	int rc = xp_bulk_mesh_open(&b, &m->s.topo, &m->p, OBS_PROBES, e);
	if (rc < 0)
		return rc;
	rc = xp_bulk_mesh_run(b, &m->s.scene, row, &none, e);
	xp_bulk_mesh_close(b);
	return rc;
}

static void running_out_of_memory_is_told(void **state)
{
	struct pingmesh m;
	(void)state;
	pingmesh_open(&m, &pingmesh_tiny,
	    "duration: 180, window: 60, history: 120, along: window, "
	    "service: \"0-3\", "
	    "repair: {on: true}, pinglist: {tor_interval_s: 10, "
	    "dc_interval_s: 10}");
	m.s.params.noise.rate = scenes_fixed(0.05);
	pingmesh_add_holes(&m, 1, 0.5);
	scenes_draw(&m.s, 0);
	test_each_alloc_fails(run_once, &m);
	xp_bulk_mesh_close(NULL);
	pingmesh_close(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_healthy_mesh_is_that_of_agents),
	    cmocka_unit_test(a_bad_t2_is_that_of_agents),
	    cmocka_unit_test(black_holes_are_those_of_agents),
	    cmocka_unit_test(a_pod_without_power_is_that_of_agents),
	    cmocka_unit_test(reloads_of_black_holes_are_those_of_agents),
	    cmocka_unit_test(links_that_delay_are_those_of_agents),
	    cmocka_unit_test(quantiles_with_delays_are_those_of_agents),
	    cmocka_unit_test(pairs_of_tors_and_of_pods_are_those_of_agents),
	    cmocka_unit_test(the_mean_loss_is_that_of_all_pairs),
	    cmocka_unit_test(what_only_agents_have_is_refused),
	    cmocka_unit_test(scenes_of_agents_are_refused),
	    cmocka_unit_test(a_history_is_the_sum_of_its_windows),
	    cmocka_unit_test(windows_need_not_be_of_whole_intervals),
	    cmocka_unit_test(too_many_probes_to_be_told_are_refused),
	    cmocka_unit_test(running_out_of_memory_is_told),
	};
	return cmocka_run_group_tests_name("experiments/pingmesh/bulk", tests,
	    NULL, NULL);
}
