/* tests/models/agree_test.c -- one `faults:` block, flows and connects alike.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A spec is read and its scene drawn once; the bulk plane runs its flows, and
 * the event fabric connects with the very same five-tuples, again and again. A
 * flow is one way, a connect both: who is cut off, how often links lose and how
 * long they delay must be what the truth says of the ways, in both.
 *
 * Per run one chi-square of flows and one for each of 116 links of connects, at
 * 1e-7, and 12 means to 6 standard errors (below 1e-6): with 4 runs one fires
 * in 10,000 random seeds. Sets are equal or the test fails. */
#include "models/bulk/bulk.h"
#include "models/sim/sim.h"
#include "tests/rigs/law.h"
#include "tests/rigs/spec_file.h"
#include "tests/test.h"
#include "topo/addr.h"

#define LEVEL 1e-7
#define Z     6

enum { RUNS = 4, MAX_LINKS = 256, MAX_FLOWS = 4096, REPEATS = 40 };

/* 16 hosts, ToRs 0-7, T1s 0-5, T2s 0-2; of each kind that both planes have
 * one, two of the holes. Slow links are no lossy ones. */
static const char spec[] =
    "figure: f\nalgorithms: [vote]\nplane: exact\n"
    "topology: {n_pods: 2, n_tors: 4, n_t1: 3, n_t2: 3, n_hosts: 2}\n"
    "traffic: {conns: 150, packets: {uniform: [60, 100]}}\n"
    "noise: {rate: {uniform: [0, 1e-3]}}\n"
    "latency: {hop: 0, queue: 0, report_over: 1}\n"
    "faults:\n"
    "  - {count: 6, rate: {uniform: [0.01, 0.05]}}\n"
    "  - {links: [tor2->host4, host9->tor4], rate: 0.03}\n"
    "  - {at: [t2.1], rate: 0.02}\n"
    "  - {kind: black_hole_1, at: [tor1, t2.0], entries: 0.2}\n"
    "  - {kind: black_hole_2, at: [t2.2, tor6], entries: "
    "{uniform: [0.1, 0.4]}}\n"
    "  - {kind: host_off, at: [host7]}\n"
    "  - {kind: latency, links: [host0->tor0], delay: 400}\n"
    "  - {kind: latency, links: [tor5->host11], delay: 900, "
    "law: exponential}\n"
    "  - {kind: latency, links: [host13->tor6], delay: 500, "
    "law: lognormal, sigma: 0.5}\n"
    "  - {kind: latency, links: [tor0->host1], delay: 100, "
    "law: load, load: 0.8}\n";

enum { N_SLOW = 4 };
static const char *const slow_names[N_SLOW] = {"host0->tor0", "tor5->host11",
    "host13->tor6", "tor0->host1"};

struct way {
	unsigned n_hops;
	topo_link path[TOPO_MAX_HOPS];
};

/* What both planes lived through. */
struct world {
	uint32_t run;
	struct xp_spec spec;
	struct xp_config config;
	struct topo topo;
	struct scene scene;
	struct obs window;
	struct losses lost;
	topo_link slow[N_SLOW];
	size_t n; /* flows */
	struct topo_tuple tuple[MAX_FLOWS];
	struct way there[MAX_FLOWS], back[MAX_FLOWS];
};

static struct world world;

static void fail_at(const struct world *w, const char *what, double x)
{
	fail_msg("seed %llu, run %u: %s (%g)", (unsigned long long)test_seed(),
	    w->run, what, x);
}

/* --- what the truth says -------------------------------------------------- */

static int is_off(const struct world *w, topo_host h)
{
	const struct truth *t = &w->scene.truth;
	for (size_t i = 0; i < t->n_outages; i++)
		if (t->outage[i].kind == TRUTH_HOST_OFF && t->outage[i].id == h)
			return 1;
	return 0;
}

/* The hop whose link leads into the first switch that swallows T, or n_hops. */
static unsigned hole_on(const struct world *w, const struct way *way,
    const struct topo_tuple *t)
{
	const struct truth *truth = &w->scene.truth;
	for (unsigned i = 0; i < way->n_hops; i++) {
		topo_node from, to;
		topo_link_ends(&w->topo, way->path[i], &from, &to);
		for (size_t k = 0; k < truth->n_holes; k++)
			if (w->topo.n_hosts + truth->hole[k].at == to &&
			    blackhole_rule_drops(&truth->hole[k].rule, t))
				return i;
	}
	return way->n_hops;
}

/* Of a link by itself, holes apart: faults in place of noise. */
static double rate_of(const struct world *w, topo_link l)
{
	const struct truth *t = &w->scene.truth;
	double passes = 1;
	int faulty = 0;
	for (size_t i = 0; i < t->n_faults; i++)
		if (t->fault[i].link == l && t->fault[i].rate > 0 &&
		    !t->fault[i].of_hole) {
			passes *= 1 - t->fault[i].rate;
			faulty = 1;
		}
	return faulty ? 1 - passes : scene_noise_rate(&w->scene.loss.noise, l);
}

static double passes(const struct world *w, const struct way *way)
{
	double all = 1;
	for (unsigned i = 0; i < way->n_hops; i++)
		all *= 1 - rate_of(w, way->path[i]);
	return all;
}

static struct topo_tuple reverse(const struct topo_tuple *t)
{
	return (struct topo_tuple){t->dst_ip, t->src_ip, t->dst_port,
	    t->src_port, t->proto};
}

static topo_host host_of(const struct world *w, uint32_t ip)
{
	return topo_addr_to_host(ip, w->topo.n_hosts);
}

/* Cut off: nothing of it ever arrives. */
static int is_cut(const struct world *w, const struct way *way,
    const struct topo_tuple *t)
{
	return is_off(w, host_of(w, t->src_ip)) ||
	    is_off(w, host_of(w, t->dst_ip)) ||
	    hole_on(w, way, t) < way->n_hops;
}

static int is_cut_there(const struct world *w, size_t i)
{
	return is_cut(w, &w->there[i], &w->tuple[i]);
}

static int is_cut_back(const struct world *w, size_t i)
{
	const struct topo_tuple r = reverse(&w->tuple[i]);
	return is_cut(w, &w->back[i], &r);
}

static double delay_of(const struct world *w, topo_link l)
{
	const struct truth *t = &w->scene.truth;
	double us = 0;
	for (size_t i = 0; i < t->n_faults; i++)
		if (t->fault[i].link == l)
			us += t->fault[i].delay_us;
	return us;
}

static double delays(const struct world *w, const struct way *way)
{
	double us = 0;
	for (unsigned i = 0; i < way->n_hops; i++)
		us += delay_of(w, way->path[i]);
	return us;
}

/* Which slow link is crossed, if it is one alone; else N_SLOW. */
static int slow_link(const struct world *w, const struct way *a,
    const struct way *b)
{
	int found = N_SLOW, n = 0;
	for (int k = 0; k < N_SLOW; k++)
		for (int h = 0; h < 2; h++) {
			const struct way *way = h ? b : a;
			for (unsigned i = 0; way && i < way->n_hops; i++)
				if (way->path[i] == w->slow[k]) {
					found = k;
					n++;
				}
		}
	return n == 1 ? found : N_SLOW;
}

/* --- both planes ---------------------------------------------------------- */

static struct way way_of(const struct world *w, const struct topo_tuple *t)
{
	struct way way;
	way.n_hops =
	    topo_path(&w->topo, w->scene.ecmp_seed, host_of(w, t->src_ip),
		host_of(w, t->dst_ip), topo_tuple_digest(t), way.path);
	return way;
}

static void run_flows(struct world *w)
{
	const struct obs_flows *f = &w->window.flows;
	struct bulk *bulk;
	assert_ok(bulk_open(&bulk, NULL, test_err()));
	assert_ok(
	    bulk_epoch(bulk, &w->scene, 1, &w->window, &w->lost, test_err()));
	bulk_close(bulk);
	w->n = f->n;
	assert_true(w->n > 1000 && w->n <= MAX_FLOWS);
	for (size_t i = 0; i < w->n; i++) {
		w->tuple[i] =
		    (struct topo_tuple){topo_addr_of_host(f->src_host[i]),
			topo_addr_of_host(f->dst_host[i]), f->src_port[i],
			f->dst_port[i], TOPO_PROTO_TCP};
		const struct topo_tuple r = reverse(&w->tuple[i]);
		w->there[i] = way_of(w, &w->tuple[i]);
		w->back[i] = way_of(w, &r);
		assert_int_equal(obs_n_hops(&w->window, i), w->there[i].n_hops);
		assert_memory_equal(obs_path(&w->window, i), w->there[i].path,
		    w->there[i].n_hops * sizeof(topo_link));
	}
}

static void open_world(struct world *w, uint32_t run)
{
	const struct sim_seed where = {.seed = test_seed(), .run = run};
	*w = (struct world){.run = run};
	spec_open(&w->spec, spec);
	assert_ok(xp_spec_point(&w->spec, 0, &w->config, test_err()));
	assert_ok(
	    topo_open_clos(&w->topo, &w->config.topology.clos, test_err()));
	assert_true(w->topo.n_links <= MAX_LINKS);
	for (int i = 0; i < N_SLOW; i++)
		assert_ok(topo_link_parse(&w->topo, slow_names[i], &w->slow[i],
		    test_err()));
	assert_ok(scene_draw(&w->scene, &w->topo, &w->config.scene, &where,
	    test_err()));
	run_flows(w);
}

static void close_world(struct world *w)
{
	obs_free(&w->window);
	losses_free(&w->lost);
	scene_free(&w->scene);
	topo_close(&w->topo);
	xp_config_free(&w->config);
	xp_spec_free(&w->spec);
}

/* How the repeats of a connect ended, and how long they took; 0: it timed out.
 * By flow, then repeat. */
struct connects {
	sim_ns rtt[MAX_FLOWS][REPEATS];
};

static struct connects as_it_is, not_slow;

/* A SYN, and a second one 3 s later. Hosts that are off send nothing. */
static void run_connects(struct world *w, struct connects *c)
{
	struct fabric_sim_params p = {.icmp.source = FABRIC_SIM_ICMP_INGRESS};
	struct fabric_sim *sim;
	struct agent_event ev;
	topo_host host;
	sim_ns at;
	size_t n;
	assert_ok(sim_field_defaults(fabric_sim_connect_fields, &p.connect,
	    test_err()));
	p.connect.retries = 1;
	memset(c, 0, sizeof(*c));
	assert_ok(fabric_sim_open(&sim, &w->topo, &p, test_err()));
	assert_ok(fabric_sim_begin(sim, &w->scene, NULL, test_err()));
	struct fabric *f = fabric_sim_fabric(sim);
	for (size_t i = 0; i < w->n * REPEATS; i++) {
		const struct agent_action a = {.kind = AGENT_CONNECT,
		    .tuple = w->tuple[i / REPEATS],
		    .token = i};
		assert_ok(f->ops->submit(f, host_of(w, a.tuple.src_ip), &a, 1,
		    test_err()));
	}
	do {
		assert_ok(f->ops->poll(f, SIM_NEVER, &ev, &host, &at, 1, &n,
		    test_err()));
		if (n && ev.outcome == AGENT_CONNECTED)
			c->rtt[ev.token / REPEATS][ev.token % REPEATS] =
			    ev.rtt_ns;
	} while (n);
	f->ops->close(f);
}

/* --- who is cut off ------------------------------------------------------- */

static int never_connects(const struct connects *c, size_t i)
{
	for (unsigned k = 0; k < REPEATS; k++)
		if (c->rtt[i][k] > 0)
			return 0;
	return 1;
}

/* Of flows that are not, some of 60 packets come through but once in 10^60; of
 * connects, one of 40 times two SYNs but once in 10^40. */
static void check_cut(const struct world *w, const struct connects *c)
{
	const struct obs_flows *f = &w->window.flows;
	size_t there = 0, back = 0;
	for (size_t i = 0; i < w->n; i++) {
		const int cut = is_cut_there(w, i),
			  cut_back = is_cut_back(w, i);
		if ((f->n_retx[i] == f->n_pkts[i]) != cut)
			fail_at(w, "a flow is not what its way is", i);
		if (never_connects(c, i) != (cut || cut_back))
			fail_at(w, "a connect is not what its ways are", i);
		there += cut;
		back += !cut && cut_back;
		assert_false(is_off(w, f->src_host[i]));
	}
	/* Many flows are cut off and many connects only on their way back, so
	 * neither comparison is one of empty sets. */
	assert_in_range(there, w->n / 20, w->n / 2);
	assert_in_range(back, w->n / 50, w->n / 2);
}

/* What a hole swallows is lost on the link into its switch, what comes that
 * far; what is for a host that is off, on its cable. */
static void check_where(const struct world *w)
{
	for (size_t i = 0; i < w->n; i++) {
		const uint32_t *drops = w->lost.drops + w->window.hops.off[i];
		const unsigned n = w->there[i].n_hops;
		const unsigned hole = hole_on(w, &w->there[i], &w->tuple[i]);
		const unsigned end = hole < n ? hole : n - 1;
		uint32_t before = 0;
		if (!is_cut_there(w, i))
			continue;
		for (unsigned k = 0; k < end; k++)
			before += drops[k];
		assert_int_equal(drops[end],
		    w->window.flows.n_pkts[i] - before);
	}
}

/* --- how often links lose ------------------------------------------------- */

/* Flows that are not cut off: packets lost by link, and those that are not.
 * Cells are sums over flows of different ways, whose variance is below that of
 * one multinomial: the test errs on the side of silence. */
static void check_drops(const struct world *w)
{
	uint64_t got[MAX_LINKS + 1] = {0};
	double want[MAX_LINKS + 1] = {0};
	for (size_t i = 0; i < w->n; i++) {
		const uint32_t *drops = w->lost.drops + w->window.hops.off[i];
		const struct way *way = &w->there[i];
		uint64_t n = w->window.flows.n_pkts[i];
		double left = (double)n;
		if (is_cut_there(w, i))
			continue;
		for (unsigned k = 0; k < way->n_hops; k++) {
			const double rate = rate_of(w, way->path[k]);
			want[way->path[k]] += left * rate;
			got[way->path[k]] += drops[k];
			left *= 1 - rate;
			n -= drops[k];
		}
		want[MAX_LINKS] += left;
		got[MAX_LINKS] += n;
	}
	const double p = law_chi2(got, want, MAX_LINKS + 1);
	if (p < LEVEL)
		fail_at(w, "flows lose elsewhere: p", p);
}

/* Connects that are not cut off: for each link, those that cross it either way
 * by the SYNs they lost, 0, 1 or 2. Again sums of different laws. */
static void check_classes(const struct world *w, const struct connects *c)
{
	static uint64_t got[MAX_LINKS][3];
	static double want[MAX_LINKS][3];
	memset(got, 0, sizeof(got));
	memset(want, 0, sizeof(want));
	for (size_t i = 0; i < w->n; i++) {
		const struct way *ways[] = {&w->there[i], &w->back[i]};
		const double q =
		    1 - passes(w, &w->there[i]) * passes(w, &w->back[i]);
		const double law[] = {1 - q, q * (1 - q), q * q};
		uint64_t n[3] = {0};
		if (is_cut_there(w, i) || is_cut_back(w, i))
			continue;
		for (unsigned k = 0; k < REPEATS; k++) {
			const sim_ns rtt = c->rtt[i][k];
			n[rtt == 0 ? 2 : rtt >= 3 * SIM_SEC]++;
		}
		for (unsigned h = 0; h < 2; h++)
			for (unsigned k = 0; k < ways[h]->n_hops; k++)
				for (unsigned m = 0; m < 3; m++) {
					const topo_link l = ways[h]->path[k];
					got[l][m] += n[m];
					want[l][m] += REPEATS * law[m];
				}
	}
	for (topo_link l = 0; l < w->topo.n_links; l++) {
		const double p = law_chi2(got[l], want[l], 3);
		if (p < LEVEL)
			fail_at(w, "connects over a link lose otherwise", l);
	}
}

static void lost_alike(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < RUNS; run++) {
		open_world(&world, run);
		run_connects(&world, &as_it_is);
		check_cut(&world, &as_it_is);
		check_where(&world);
		check_drops(&world);
		check_classes(&world, &as_it_is);
		close_world(&world);
	}
}

/* --- how long links delay ------------------------------------------------- */

/* What is measured where one link alone is slow. */
struct late {
	struct law_mean flows, connects;
};

/* The time of a flow here has only the delays of the slow links on its way
 * there, and nothing else. */
static void add_flows(const struct world *w, struct late late[N_SLOW])
{
	for (size_t i = 0; i < w->n; i++) {
		const double us = w->window.flows.srtt_us[i];
		const int k = slow_link(w, &w->there[i], NULL);
		if (delays(w, &w->there[i]) == 0 && us > 0)
			fail_at(w, "a flow is late without cause", us);
		if (k < N_SLOW)
			law_add(&late[k].flows, us);
	}
}

/* Times of connects, less those of the same without slow links: a connect that
 * loses draws nothing else. */
static void add_connects(const struct world *w, struct late late[N_SLOW])
{
	for (size_t i = 0; i < w->n * REPEATS; i++) {
		const struct way *there = &w->there[i / REPEATS];
		const struct way *back = &w->back[i / REPEATS];
		const sim_ns rtt = as_it_is.rtt[i / REPEATS][i % REPEATS];
		const sim_ns fast = not_slow.rtt[i / REPEATS][i % REPEATS];
		const double us = (double)(rtt - fast) / 1e3;
		const int k = slow_link(w, there, back);
		if ((rtt == 0) != (fast == 0) || rtt < fast)
			fail_at(w, "delays move losses of connect", i);
		if (delays(w, there) + delays(w, back) == 0 && rtt > fast)
			fail_at(w, "a connect is late without cause", us);
		if (rtt > 0 && k < N_SLOW)
			law_add(&late[k].connects, us);
	}
}

/* The same law, of which a flow has the mean of 15 draws, to the us. */
static void check_late(const struct world *w, const struct late *late,
    double want)
{
	const double a = law_mean(&late->flows), b = law_mean(&late->connects);
	const double se = hypot(law_se(&late->flows), law_se(&late->connects));
	assert_true(late->flows.n > 50 && late->connects.n > 1000);
	if (fabs(a - want) > Z * law_se(&late->flows) + 0.5)
		fail_at(w, "flows are late by other than the truth", a);
	if (fabs(b - want) > Z * law_se(&late->connects) + 2e-3)
		fail_at(w, "connects are late by other than the truth", b);
	if (fabs(a - b) > Z * se + 0.5)
		fail_at(w, "flows and connects are late otherwise", a - b);
}

static void late_alike(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < RUNS; run++) {
		struct late late[N_SLOW] = {0};
		struct truth *t = &world.scene.truth;
		double want[N_SLOW];
		open_world(&world, run);
		run_connects(&world, &as_it_is);
		add_flows(&world, late);
		for (int k = 0; k < N_SLOW; k++)
			want[k] = delay_of(&world, world.slow[k]);
		/* Take away the slow links only; other faults stay. */
		struct truth_fault *kept = malloc(t->n_faults * sizeof(*kept));
		const size_t n = t->n_faults;
		assert_non_null(kept);
		memcpy(kept, t->fault, n * sizeof(*kept));
		t->n_faults = 0;
		for (size_t i = 0; i < n; i++)
			if (!truth_is_slow(&kept[i]))
				t->fault[t->n_faults++] = kept[i];
		assert_int_equal(t->n_faults, n - N_SLOW);
		run_connects(&world, &not_slow);
		memcpy(t->fault, kept, n * sizeof(*kept));
		t->n_faults = n;
		free(kept);
		add_connects(&world, late);
		for (int k = 0; k < N_SLOW; k++)
			check_late(&world, &late[k], want[k]);
		close_world(&world);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(lost_alike),
	    cmocka_unit_test(late_alike),
	};
	return cmocka_run_group_tests_name("models, flows and connects", tests,
	    spec_folder_make, spec_folder_remove);
}
