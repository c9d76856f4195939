/* tests/experiments/everflow/world_test.c -- packets, copies, traces, grades.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One z test at 5 standard errors: one fires in 1.7 million random seeds.
 */
#include "experiments/everflow/world.h"

#include "algos/everflow/guided.h"
#include "experiments/spec/plane.h"
#include "models/bulk/bulk.h"
#include "models/obs_guided.h"
#include "tests/rigs/law.h"
#include "tests/rigs/scenes.h"
#include "tests/rigs/spec_file.h"
#include "topo/addr.h"

#define HEAD                                                                   \
	"figure: f\nplane: everflow\n"                                         \
	"topology: {n_pods: 2, n_tors: 3, n_t1: 2, n_t2: 2, n_hosts: 3}\n"     \
	"traffic: {conns: 20, packets: {uniform: [1, 60]}, epoch: 10}\n"

/* A spec's first point, with a world for it. */
struct rig {
	struct xp_spec s;
	struct xp_config c;
	struct topo topo;
	struct scene scene;
	struct xp_everworld *w;
	struct xp_everflow_seen seen;
};

static void rig_open(struct rig *r, const char *text)
{
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

static uint64_t n_copies_sent(const struct rig *r)
{
	uint64_t n = 0;
	for (topo_switch s = 0; s < r->topo.n_switches; s++)
		n += r->seen.mirrored[s].n_sent;
	return n;
}

/* --- where nothing is broken ---------------------------------------------- */

static void a_healthy_network_gives_whole_traces(void **state)
{
	struct rig r;
	(void)state;
	rig_open(&r,
	    HEAD
	    "noise: {rate: 0}\nalgorithms: [vote]\n"
	    "everflow: {rules: [control, sample, retx], sample_n: 4, debug: "
	    "[], analyzer: {store_all: true}}\n");
	for (uint32_t run = 0; run < 3; run++) {
		rig_run(&r, run);
		const struct xp_grades *g = &r.seen.grades;
		assert_int_equal(r.seen.analyzed.n_copies, n_copies_sent(&r));
		assert_int_equal(r.seen.window->mirror->n, n_copies_sent(&r));
		assert_true(r.seen.analyzed.n_traces > 4 * 18 * 20);
		assert_int_equal(g->n_whole, r.seen.analyzed.n_traces);
		assert_int_equal(r.seen.store->traces.n, g->n_whole);
		assert_int_equal(g->n_suspect + g->n_refuted + g->n_loops, 0);
		assert_int_equal(r.seen.window->flows.n, 0);
		assert_int_equal(r.seen.window->n_flows, 18 * 20);
		assert_int_equal(r.seen.n_said, 0);
	}
	rig_close(&r);
}

/* --- losses --------------------------------------------------------------- */

/* Without lost mirrors each suspected drop is one. With them some are not, but
 * what is confirmed is. */
static void grades_are_right_as_far_as_they_can_be(void **state)
{
	static const char *const loss[] = {"0", "0.02"};
	(void)state;
	for (int m = 0; m < 2; m++) {
		uint64_t n = 0, right = 0, confirmed = 0, sure = 0;
		struct rig r;
		char text[600];
		snprintf(text, sizeof(text),
		    HEAD "noise: {rate: 2e-3}\nalgorithms: [vote]\n"
			 "everflow: {rules: [control, sample, retx], debug: "
			 "[], mirror: {loss: %s}}\n",
		    loss[m]);
		rig_open(&r, text);
		for (uint32_t run = 0; run < 5; run++) {
			rig_run(&r, run);
			n += r.seen.grades.n_suspect;
			right += r.seen.grades.n_suspect_right;
			confirmed += r.seen.grades.n_confirmed;
			sure += r.seen.grades.n_confirmed_right;
		}
		assert_true(right > 30);
		assert_int_equal(right == n, m == 0);
		assert_true(confirmed > 30);
		assert_int_equal(sure, confirmed);
		rig_close(&r);
	}
}

/* The window of flows has the law of the bulk planes, whose flows have no
 * handshakes that are lost: so on flows of many packets. Nor do these end with the
 * epoch, so each takes 20 ms of its 10 s: at a packet a millisecond an eighth of
 * what is lost was lost later, or sent again later. */
static void flows_fail_as_on_the_bulk_plane(void **state)
{
	struct law_mean here = {0}, there = {0};
	struct obs w = {0};
	struct losses lost = {0};
	struct bulk *b;
	struct rig r;
	(void)state;
	rig_open(&r,
	    "figure: f\nplane: everflow\n"
	    "topology: {n_pods: 2, n_tors: 3, n_t1: 2, n_t2: 2, n_hosts: 3}\n"
	    "traffic: {conns: 20, packets: 2000, epoch: 10}\n"
	    "noise: {rate: 2e-5}\nalgorithms: [vote]\n"
	    "everflow: {rules: [retx], debug: [], conn: {gap: 10, rto: 10}}\n");
	assert_ok(bulk_open(&b, NULL, test_err()));
	for (uint32_t run = 0; run < 60; run++) {
		rig_run(&r, run);
		law_add(&here, (double)r.seen.window->flows.n);
		assert_ok(bulk_epoch(b, &r.scene, 0, &w, &lost, test_err()));
		law_add(&there, (double)w.flows.n);
	}
	assert_true(fabs(law_mean(&here) - law_mean(&there)) <
	    5 * hypot(law_se(&here), law_se(&there)));
	assert_true(law_mean(&there) > 30);
	bulk_close(b);
	obs_free(&w);
	losses_free(&lost);
	rig_close(&r);
}

/* --- analyzers ------------------------------------------------------------ */

/* Traces do not depend on how many analyzers share the work. */
static void any_number_of_analyzers_finds_the_same(void **state)
{
	struct xp_everflow_seen first = {.window = NULL};
	(void)state;
	for (uint32_t n = 1; n <= 8; n *= 2) {
		struct rig r;
		char text[600];
		snprintf(text, sizeof(text),
		    HEAD "noise: {rate: 1e-3}\nalgorithms: [vote]\n"
			 "everflow: {rules: [control, sample, retx], sample_n: "
			 "8, debug: [], analyzers: %u, mirror: {loss: 0.01}}\n",
		    n);
		rig_open(&r, text);
		rig_run(&r, 1);
		if (n == 1)
			first = r.seen;
		assert_memory_equal(&r.seen.grades, &first.grades,
		    sizeof(first.grades));
		assert_int_equal(r.seen.analyzed.n_traces,
		    first.analyzed.n_traces);
		assert_int_equal(r.seen.analyzed.n_stored,
		    first.analyzed.n_stored);
		rig_close(&r);
	}
}

/* A run leaves nothing to the next. */
static void a_run_again_is_the_same(void **state)
{
	struct rig r;
	(void)state;
	rig_open(&r,
	    HEAD "noise: {rate: 1e-3}\nalgorithms: [vote]\n"
		 "everflow: {rules: [control, sample, retx], mirror: {loss: "
		 "0.01}}\n");
	rig_run(&r, 1);
	const struct xp_everflow_seen first = r.seen;
	rig_run(&r, 2);
	assert_true(r.seen.analyzed.n_copies != first.analyzed.n_copies);
	rig_run(&r, 1);
	assert_memory_equal(&r.seen.grades, &first.grades,
	    sizeof(first.grades));
	assert_memory_equal(&r.seen.analyzed, &first.analyzed,
	    sizeof(first.analyzed));
	assert_true(r.seen.traffic_bytes == first.traffic_bytes);
	rig_close(&r);
}

/* --- guided probes --------------------------------------------------------- */

/* Ethernet, TCP, its payload, and a header of IP more than switches to pass
 * first. */
static uint64_t bytes_of_probe(const struct obs_guided *g, size_t i)
{
	const uint32_t via[] = {g->via0[i], g->via1[i], g->via2[i]};
	uint64_t n = 14 + 20 + 20 + ALGO_GUIDED_PAYLOAD;
	for (size_t k = 0; k < 3; k++) {
		const int is_last = k == 2 || via[k + 1] == TOPO_NONE;
		if (via[k] != TOPO_NONE &&
		    !(is_last && topo_addr_of_switch(via[k]) == g->dst_ip[i]))
			n += 20;
	}
	return n;
}

/* Among them the first host and the last, in a network of 9. */
static void what_guided_probes_cost_is_the_sum_of_those_sent(void **state)
{
	uint64_t n_of_first = 0, n_of_last = 0, first = SIM_NEVER;
	struct rig r;
	(void)state;
	rig_open(&r,
	    "figure: f\nplane: everflow\nalgorithms: [vote]\n"
	    "topology: {n_pods: 1, n_tors: 3, n_t1: 2, n_hosts: 3}\n"
	    "traffic: {conns: 20, packets: {uniform: [1, 60]}, epoch: 10}\n"
	    "noise: {rate: 1e-2}\n"
	    "everflow: {rules: [control, sample, retx], mirror: {loss: "
	    "0.01}}\n");
	assert_int_equal(r.topo.n_hosts, 9);
	for (uint32_t run = 0; run < 3; run++) {
		uint64_t of[9] = {0}, all = 0, most = 0;
		rig_run(&r, run);
		const struct obs_guided *g = r.seen.window->guided;
		assert_int_equal(r.seen.n_guided, g->n);
		for (size_t i = 0; i < g->n; i++)
			of[g->src_host[i]] += bytes_of_probe(g, i);
		for (size_t h = 0; h < 9; h++) {
			all += of[h];
			most = of[h] > most ? of[h] : most;
		}
		for (size_t i = 0; i < g->n; i++)
			if (g->sent_ns[i] < first)
				first = g->sent_ns[i];
		n_of_first += of[0];
		n_of_last += of[8];
		assert_int_equal(r.seen.guided_bytes, all);
		assert_int_equal(r.seen.guided_bytes_max, most);
		assert_true(most < all);
		/* Most pass a ToR, an aggregation switch and a ToR. */
		assert_true(r.seen.carried_bytes > all);
		assert_true(r.seen.carried_bytes < 8 * all);
	}
	/* Debuggers look every second, and what they ask for is sent at once. */
	assert_true(first < 10 * SIM_SEC && first % SIM_SEC == 0);
	assert_true(n_of_first > 0 && n_of_last > 0);
	rig_close(&r);
}

static void a_run_ends_when_its_copies_have_settled(void **state)
{
	struct rig r;
	(void)state;
	rig_open(&r,
	    HEAD "noise: {rate: 0}\nfaults: {kind: drop, count: 1, rate: 0.3}\n"
		 "algorithms: [vote]\n"
		 "everflow: {rules: [control, sample, retx], settle: 2, "
		 "debug_every: 3600}\n");
	rig_run(&r, 1);
	assert_int_equal(r.seen.end_ns, 12 * SIM_SEC);
	/* None looked before. */
	assert_int_equal(r.seen.n_guided, 0);
	rig_close(&r);
}

static int live(void *arg, struct sim_err *e)
{
	struct rig *r = arg;
	struct xp_everworld *w;
	int rc = xp_everworld_open(&w, &r->topo, xp_everflow_of(&r->c), e);
	if (rc < 0)
		return rc;
	rc = xp_everworld_run(w, &r->scene, &r->seen, e);
	xp_everworld_close(w);
	return rc;
}

static void memory_that_runs_out_is_told(void **state)
{
	struct rig r;
	(void)state;
	rig_open(&r,
	    "figure: f\nplane: everflow\nalgorithms: [vote]\n"
	    "topology: {n_pods: 2, n_tors: 1, n_t1: 1, n_t2: 1, n_hosts: 1}\n"
	    "traffic: {conns: 3, packets: 4, epoch: 2}\nnoise: {rate: 0.1}\n"
	    "everflow: {settle: 1, debug: [], analyzer: {max_traces: 64}}\n");
	rig_run(&r, 1);
	test_each_alloc_fails(live, &r);
	rig_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_healthy_network_gives_whole_traces),
	    cmocka_unit_test(grades_are_right_as_far_as_they_can_be),
	    cmocka_unit_test(flows_fail_as_on_the_bulk_plane),
	    cmocka_unit_test(any_number_of_analyzers_finds_the_same),
	    cmocka_unit_test(a_run_again_is_the_same),
	    cmocka_unit_test(what_guided_probes_cost_is_the_sum_of_those_sent),
	    cmocka_unit_test(a_run_ends_when_its_copies_have_settled),
	    cmocka_unit_test(memory_that_runs_out_is_told),
	};
	return cmocka_run_group_tests_name("experiments/everflow/world", tests,
	    spec_folder_make, spec_folder_remove);
}
