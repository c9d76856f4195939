/* tests/algos_everflow_debug_net_test.c -- debuggers in a simulated network.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Faults are injected into a small network, and connections, mirrors, analyzer,
 * debugger and probers do what they do. The shares that are asked for are below
 * those that were seen, by far more than chance (seeds are fixed).
 */
#include "tests/everflow_net.h"

#include "algos/everflow/debug_drop.h"
#include "algos/everflow/debug_ecmp.h"
#include "algos/everflow/debug_latency.h"
#include "algos/everflow/debug_loop.h"
#include "sim/stat.h"

static unsigned runs_of(unsigned n)
{
	const char *text = getenv("EVERFLOW_RUNS");
	return text ? (unsigned)atoi(text) : n;
}

/* State how sure it is, and hold it against LEAST. */
static void assert_share(const char *what, unsigned right, unsigned n,
    double least)
{
	double lo, hi;
	assert_ok(sim_binomial_interval(right, n, 0.95, &lo, &hi, test_err()));
	print_message("%s: %u of %u right [%.3f, %.3f]\n", what, right, n, lo,
	    hi);
	if (right < least * n)
		fail_msg("%s: %u of %u are right", what, right, n);
}

static topo_link faulty_link(const struct everflow *x)
{
	assert_int_equal(x->s.scene.truth.n_faults, 1);
	return x->s.scene.truth.fault[0].link;
}

/* --- nothing wrong -------------------------------------------------------- */
static void healthy_networks_are_not_accused(void **state)
{
	static const struct algo_debugger *const all[] = {&algo_debug_drop,
	    &algo_debug_loop, &algo_debug_latency, &algo_debug_ecmp};
	static const double losses[] = {1e-5, 1e-3, 1e-2};
	const unsigned n = runs_of(30);
	unsigned right = 0;
	(void)state;
	for (unsigned run = 0; run < n; run++) {
		struct everflow x;
		size_t n_found = 0;
		everflow_open(&x);
		x.mirror_params.loss = losses[run % 3];
		x.analyzer_params.store_all = 1;
		everflow_begin(&x, run);
		everflow_traffic(&x);
		for (size_t d = 0; d < 4; d++) {
			const struct algo_debug_latency_params pair = {5, 20,
			    300, 8, 100, 90, 20, 0.005};
			everflow_debug(&x, all[d],
			    all[d] == &algo_debug_latency ? &pair : NULL, 60);
			n_found += x.out.n_findings;
			if (x.out.n_findings > 0) {
				print_message("run %u, %s:\n", run,
				    all[d]->name);
				everflow_print(&x);
			}
		}
		right += n_found == 0;
		everflow_close(&x);
	}
	assert_share("nothing wrong", right, n, 0.99);
}

/* --- drops ---------------------------------------------------------------- */
static void random_drops_are_named(void **state)
{
	const unsigned n = runs_of(24);
	unsigned right = 0;
	(void)state;
	for (unsigned run = 0; run < n; run++) {
		struct everflow x;
		everflow_open(&x);
		struct fault_params *g = scenes_add_group(&x.s);
		g->rate = scenes_fixed(0.05);
		everflow_begin(&x, run);
		everflow_traffic(&x);
		const double s =
		    everflow_debug(&x, &algo_debug_drop, NULL, 120);
		const struct algo_finding *f = everflow_found(&x,
		    ALGO_CAUSE_RANDOM, faulty_link(&x), TOPO_NONE);
		const int ok = x.out.n_findings == 1 && f &&
		    f->node == TOPO_NONE && f->lo < 0.06 && f->hi > 0.04;
		right += ok;
		if (!ok) {
			char name[64];
			topo_link_name(&x.s.topo, faulty_link(&x), name);
			print_message("run %u: %s, %g s, %u orders, %zu sent\n",
			    run, name, s, x.n_orders, x.sent.n);
			everflow_print(&x);
		}
		everflow_close(&x);
	}
	assert_share("random drop", right, n, 0.9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(healthy_networks_are_not_accused),
	    cmocka_unit_test(random_drops_are_named),
	};
	return cmocka_run_group_tests_name("algos/everflow/debug (network)",
	    tests, NULL, NULL);
}
