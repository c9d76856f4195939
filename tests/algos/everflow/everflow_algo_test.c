/* tests/algos/everflow/everflow_algo_test.c -- debuggers as diagnosers.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Windows of a small simulated network, with and without guided probes. Seeds
 * are fixed; of 10 runs each all are right but those that are stated.
 */
#include "algos/everflow/everflow_algo.h"

#include "algos/everflow/debug_drop.h"
#include "algos/everflow/debug_latency.h"
#include "tests/rigs/everflow_net.h"
#include "tests/rigs/windows.h"

enum { RUNS = 10 };

static struct obs window_of(const struct everflow *x)
{
	return (struct obs){.mirror = &x->copies,
	    .guided = &x->sent,
	    .ecmp_seed = x->s.scene.ecmp_seed,
	    .knows_hash = 1};
}

static void diagnose(const struct everflow *x, const struct algo_ops *a,
    const struct obs *w, struct algo_verdicts *v)
{
	void *work;
	assert_ok(algo_open(a, &work, &x->s.topo, NULL, test_err()));
	/* Twice: nothing stays of the window before. */
	assert_ok(a->diagnose(work, w, NULL, v, test_err()));
	const size_t n = v->n, n_flagged = v->n_flagged;
	assert_ok(a->diagnose(work, w, NULL, v, test_err()));
	assert_int_equal(v->n, n);
	assert_int_equal(v->n_flagged, n_flagged);
	assert_int_equal(v->flags, 1);
	algo_close(a, work);
}

/* By traces alone: a link with many drops that were sent again. Flows that
 * crossed it and sent again are blamed on it, and no others. */
static void drops_are_flagged_without_any_probe(void **state)
{
	unsigned right = 0;
	(void)state;
	for (unsigned run = 0; run < RUNS; run++) {
		struct everflow x;
		struct algo_verdicts v = {0};
		everflow_open(&x);
		struct fault_params *g = scenes_add_group(&x.s);
		g->rate = scenes_fixed(0.1);
		everflow_begin(&x, run);
		everflow_traffic(&x);
		const topo_link l = x.s.scene.truth.fault[0].link;
		struct obs w = window_of(&x);
		WINDOW_ADD(&w, 1, l);
		WINDOW_ADD(&w, 0, l);
		WINDOW_ADD(&w, 1, l ^ 1);
		window_add(&w, 1, 0, NULL);
		diagnose(&x, &algo_everflow_drop_ops, &w, &v);
		right += v.n_flagged == 1 && v.link[0] == l;
		assert_int_equal(v.n_flows, 4);
		if (v.n_flagged == 1 && v.link[0] == l) {
			assert_int_equal(v.blame[0], l);
			for (int i = 1; i < 4; i++)
				assert_int_equal(v.blame[i], TOPO_NONE);
			assert_int_equal(algo_verdicts_rank(&v, l), 1);
		}
		w.mirror = NULL;
		obs_free(&w);
		algo_verdicts_free(&v);
		everflow_close(&x);
	}
	print_message("drops without probes: %u of %d\n", right, RUNS);
	assert_true(right >= RUNS - 1);
}

static void probes_and_loops_are_read_from_a_window(void **state)
{
	unsigned right = 0, slow = 0;
	(void)state;
	for (unsigned run = 0; run < RUNS; run++) {
		struct everflow x;
		struct algo_verdicts v = {0};
		everflow_open(&x);
		struct fault_params *g = scenes_add_group(&x.s);
		g->kind = run % 2 ? FAULT_DROP : FAULT_REROUTE;
		g->rate = scenes_fixed(0.02);
		g->switches = !(run % 2);
		everflow_begin(&x, run);
		everflow_traffic(&x);
		if (run % 2)
			everflow_debug(&x, &algo_debug_drop, NULL, 60);
		const struct obs w = window_of(&x);
		diagnose(&x,
		    run % 2 ? &algo_everflow_drop_ops : &algo_everflow_loop_ops,
		    &w, &v);
		int ok = v.n_flagged > 0;
		for (size_t i = 0; i < v.n_flagged; i++) {
			int is = 0;
			for (size_t k = 0; k < x.s.scene.truth.n_faults; k++)
				is |=
				    x.s.scene.truth.fault[k].link == v.link[i];
			ok = ok && is;
		}
		right += ok;
		diagnose(&x, &algo_everflow_latency_ops, &w, &v);
		slow += v.n_flagged > 0;
		algo_verdicts_free(&v);
		everflow_close(&x);
	}
	print_message("drops with probes, loops: %u of %d; %u called slow\n",
	    right, RUNS, slow);
	assert_true(right >= RUNS - 1);
	assert_int_equal(slow, 0);
}

struct failing {
	const struct everflow *x;
	const struct algo_ops *a;
};

static int diagnose_once(void *arg, struct sim_err *e)
{
	const struct failing *f = arg;
	const struct obs w = window_of(f->x);
	struct algo_verdicts v = {0};
	void *work;
	int rc = algo_open(f->a, &work, &f->x->s.topo, NULL, e);
	if (rc < 0)
		return rc;
	rc = f->a->diagnose(work, &w, NULL, &v, e);
	algo_close(f->a, work);
	algo_verdicts_free(&v);
	return rc;
}

static void every_allocation_of_a_diagnosis_may_fail(void **state)
{
	struct everflow x;
	struct failing f = {&x, &algo_everflow_drop_ops};
	(void)state;
	everflow_open(&x);
	x.s.params.traffic.conns = scenes_fixed(2);
	scenes_add_group(&x.s)->rate = scenes_fixed(0.3);
	everflow_begin(&x, 1);
	everflow_traffic(&x);
	test_each_alloc_fails(diagnose_once, &f);
	f.a = &algo_everflow_loop_ops;
	test_each_alloc_fails(diagnose_once, &f);
	everflow_close(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(drops_are_flagged_without_any_probe),
	    cmocka_unit_test(probes_and_loops_are_read_from_a_window),
	    cmocka_unit_test(every_allocation_of_a_diagnosis_may_fail),
	};
	return cmocka_run_group_tests_name("algos/everflow/everflow_algo",
	    tests, NULL, NULL);
}
