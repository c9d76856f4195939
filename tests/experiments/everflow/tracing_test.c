/* tests/experiments/everflow/tracing_test.c -- tracing on request: it fits, or is policed.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * In a network of one ToR and one T1 a pod and one T2 all connections go by that
 * T2, so what it mirrors has a closed form. Seeds are fixed; nothing is a
 * matter of chance.
 */
#include "experiments/everflow/world.h"

#include "experiments/spec/plane.h"
#include "models/bulk/bulk.h"
#include "tests/rigs/scenes.h"
#include "tests/rigs/spec_file.h"

enum { N_HOSTS = 16, CONNS = 40, PACKETS = 30, EPOCH_S = 40 };
enum { COPY_SYN = 74 + 50, COPY_ACK = 66 + 50, COPY_DATA = 128 + 50 };
enum { BUDGET = 30000, BURST = 30000 };

struct rig {
	struct xp_spec s;
	struct xp_config c;
	struct topo topo;
	struct scene scene;
	struct xp_everworld *w;
	struct xp_everflow_seen seen;
};

static void rig_open(struct rig *r, const char *mirror, const char *trace)
{
	char text[700];
	snprintf(text, sizeof(text),
	    "figure: f\nplane: everflow\nalgorithms: [vote]\n"
	    "topology: {n_pods: 2, n_tors: 1, n_t1: 1, n_t2: 1, n_hosts: 8}\n"
	    "traffic: {conns: %d, packets: %d, epoch: %d}\nnoise: {rate: 0}\n"
	    "everflow: {rules: [debug], settle: 1, debug: [], "
	    "conn: {gap: 20000}, mirror: {%s}, "
	    "trace: {%s}}\n",
	    CONNS, PACKETS, EPOCH_S, mirror, trace);
	*r = (struct rig){.w = NULL};
	spec_open(&r->s, text);
	assert_ok(xp_spec_point(&r->s, 0, &r->c, test_err()));
	assert_ok(xp_topology_open(&r->c.topology, ".", &r->topo, test_err()));
	assert_ok(xp_everworld_open(&r->w, &r->topo, xp_everflow_of(&r->c),
	    test_err()));
}

static void rig_run(struct rig *r, uint32_t run)
{
	const struct sim_seed where = {.seed = test_seed(), .run = run};
	assert_ok(
	    scene_draw(&r->scene, &r->topo, &r->c.scene, &where, test_err()));
	assert_ok(xp_everworld_run(r->w, &r->scene, &r->seen, test_err()));
}

static void rig_close(struct rig *r)
{
	xp_everworld_close(r->w);
	scene_free(&r->scene);
	topo_close(&r->topo);
	xp_config_free(&r->c);
	xp_spec_free(&r->s);
}

/* What the busiest switch, the T2, did. */
static struct mirror_counts busiest(const struct rig *r)
{
	struct mirror_counts m = {0};
	for (topo_switch s = 0; s < r->topo.n_switches; s++)
		if (r->seen.mirrored[s].n_matched > m.n_matched)
			m = r->seen.mirrored[s];
	return m;
}

/* A connection's packets: 2 SYNs, data, half as many ACKs, 2 FINs, their ACK. */
enum { PACKETS_OF_CONN = 2 + PACKETS + PACKETS / 2 + 3 };
static double bytes_of(double servers)
{
	return servers * CONNS *
	    (2 * COPY_SYN + PACKETS * COPY_DATA + (PACKETS / 2 + 3) * COPY_ACK);
}

/* Connections that begin in the last moment of the epoch don't end in it. */
static const double END = 0.03;

/* With room for all, all that is asked for is traced, and nothing else. */
static void what_is_asked_for_is_traced(void **state)
{
	(void)state;
	for (unsigned n = 0; n <= N_HOSTS; n += 4) {
		struct rig r;
		char trace[64];
		snprintf(trace, sizeof(trace), "share: %g", n / 16.0);
		rig_open(&r, "budget: 0", trace);
		rig_run(&r, n);
		const struct xp_tracing *t = r.seen.tracing;
		const double packets = (double)n * CONNS * PACKETS_OF_CONN;
		const struct mirror_counts m = busiest(&r);
		assert_float_equal(t->asked_pps, packets / EPOCH_S, 1e-6);
		assert_float_equal(t->admitted_pps, t->asked_pps, 1e-6);
		assert_int_equal(t->n_refused, 0);
		assert_true((double)m.n_sent <= packets);
		assert_true((double)m.n_sent >= packets * (1 - END));
		assert_true((double)m.n_bytes <= bytes_of(n));
		assert_true((double)m.n_bytes >= bytes_of(n) * (1 - END));
		rig_close(&r);
	}
}

/* The switch sends what its budget lets it, and what was saved up once. */
static void without_admission_the_rest_is_policed(void **state)
{
	const double room = (double)BUDGET * EPOCH_S + BURST;
	char mirror[64];
	(void)state;
	snprintf(mirror, sizeof(mirror), "budget: %d, burst: %d", BUDGET,
	    BURST);
	for (unsigned n = 8; n <= N_HOSTS; n += 4) {
		struct rig r;
		char trace[64];
		snprintf(trace, sizeof(trace), "share: %g, admit: false",
		    n / 16.0);
		rig_open(&r, mirror, trace);
		rig_run(&r, n);
		const struct mirror_counts m = busiest(&r);
		const double share = (double)m.n_policed / (double)m.n_matched;
		const double due = 1 - room / bytes_of(n);
		assert_true(bytes_of(n) > 1.5 * room);
		assert_float_equal(r.seen.tracing->admitted_pps,
		    r.seen.tracing->asked_pps, 1e-6);
		assert_true((double)m.n_bytes <= room);
		assert_true((double)m.n_bytes >= 0.95 * room);
		assert_true(fabs(share - due) < 0.05);
		rig_close(&r);
	}
}

/* What is admitted never needs more than there is, by the controller's reckoning
 * and by what the switches do. */
static void with_admission_nothing_is_above_capacity(void **state)
{
	/* What a server sends, at most, and each copy cut as data are. */
	const double n = CONNS * PACKETS_OF_CONN;
	const double pps = (n + 1.35 + 1.645 * sqrt(n + 1)) / EPOCH_S;
	const unsigned fit = (unsigned)(BUDGET / (pps * COPY_DATA));
	char mirror[64];
	(void)state;
	/* Means are admitted, so bursts must have room. */
	snprintf(mirror, sizeof(mirror), "budget: %d, burst: %d", BUDGET,
	    10 * BUDGET);
	for (uint32_t run = 0; run < 10; run++) {
		struct rig r;
		rig_open(&r, mirror, "share: 1, requests: 16");
		rig_run(&r, run);
		const struct xp_tracing *t = r.seen.tracing;
		const struct mirror_counts m = busiest(&r);
		const unsigned got = t->n_requests - t->n_refused;
		assert_int_equal(t->n_requests, 16);
		assert_true(fit > 1 && fit < 16);
		assert_int_equal(got, fit);
		assert_true(t->used.of[ALGO_CAPACITY_SWITCH] <= BUDGET);
		assert_float_equal(t->admitted_pps,
		    (double)got * CONNS * PACKETS_OF_CONN / EPOCH_S, 1e-6);
		assert_int_equal(m.n_policed, 0);
		assert_true((double)m.n_bytes <= (double)BUDGET * EPOCH_S);
		assert_true((double)m.n_bytes <= bytes_of(got));
		rig_close(&r);
	}
}

/* Analyzers, the reshuffler and links refuse too; more servers never get less. */
static void each_capacity_refuses(void **state)
{
	static const char *const scarce[] = {"analyzer_pps: 1500",
	    "reshuffler_bps: 2000000", "link_bps: 20000000"};
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		double before = 0;
		for (unsigned n = 4; n <= N_HOSTS; n += 4) {
			struct rig r;
			char trace[128];
			snprintf(trace, sizeof(trace), "share: %g, %s",
			    n / 16.0, scarce[i]);
			rig_open(&r, "budget: 0", trace);
			rig_run(&r, 3);
			const struct xp_tracing *t = r.seen.tracing;
			for (unsigned k = 0; k < ALGO_N_CAPACITIES; k++)
				assert_true(t->capacity.of[k] <= 0 ||
				    t->used.of[k] <= t->capacity.of[k]);
			assert_true(t->admitted_pps >= before * (1 - 1e-9));
			before = t->admitted_pps;
			assert_int_equal(t->n_refused > 0,
			    t->admitted_pps < t->asked_pps);
			if (n == N_HOSTS)
				assert_true(t->n_refused > 0);
			rig_close(&r);
		}
		assert_true(before > 0);
	}
}

static int live(void *arg, struct sim_err *e)
{
	struct rig *r = arg;
	const struct xp_everflow *p = xp_everflow_of(&r->c);
	struct xp_tracing x = {0};
	const int rc = xp_tracing_begin(&x, &r->scene, &p->trace, &p->conn, e);
	xp_tracing_free(&x);
	return rc;
}

static void memory_that_runs_out_is_told(void **state)
{
	struct rig r;
	(void)state;
	rig_open(&r, "budget: 0", "share: 0.5");
	rig_run(&r, 1);
	test_each_alloc_fails(live, &r);
	rig_close(&r);
}

/* One session is left for somebody else. */
static void requests_are_as_many_as_sessions_but_one(void **state)
{
	static const struct {
		const char *key, *text;
		int rc;
	} q[] = {{"requests", "1", 0}, {"requests", "63", 0},
	    {"requests", "64", SIM_ERANGE}, {"requests", "0", SIM_ERANGE},
	    {"share", "0", 0}, {"share", "1", 0}, {"share", "1.01", SIM_ERANGE},
	    {"share", "-0.01", SIM_ERANGE}};
	struct xp_tracing_params p;
	(void)state;
	assert_int_equal(ALGO_CONTROL_SESSIONS, 64);
	for (size_t i = 0; i < sizeof(q) / sizeof(q[0]); i++) {
		const struct sim_field *f = xp_tracing_fields;
		while (strcmp(f->name, q[i].key) != 0)
			f++;
		assert_int_equal(sim_field_set(f, &p, q[i].text, NULL),
		    q[i].rc);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(requests_are_as_many_as_sessions_but_one),
	    cmocka_unit_test(what_is_asked_for_is_traced),
	    cmocka_unit_test(without_admission_the_rest_is_policed),
	    cmocka_unit_test(with_admission_nothing_is_above_capacity),
	    cmocka_unit_test(each_capacity_refuses),
	    cmocka_unit_test(memory_that_runs_out_is_told),
	};
	return cmocka_run_group_tests_name("experiments/everflow/tracing",
	    tests, spec_folder_make, spec_folder_remove);
}
