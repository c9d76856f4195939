/* tests/experiments/telemetry/early_test.c -- parts of windows: sums, bounds, nesting.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Draws are of fixed seeds. Shares are compared within five standard deviations,
 * which chance exceeds once in 1.7 million comparisons.
 */
#include "experiments/telemetry/early.h"

#include <math.h>

#include "tests/rigs/telemetry_rig.h"
#include "tests/test.h"

enum { EARLY_N = 4 };

static void early_sum(const struct obs_tallies *t, double *flows,
    double *probes, double *lost)
{
	*flows = *probes = *lost = 0;
	for (size_t i = 0; i < t->n; i++)
		if (t->is_probe[i]) {
			*probes += t->n_sent[i];
			*lost += t->n_lost[i];
		} else {
			*flows += 1;
		}
}

/* Of N that are there with chance SHARE each. */
static void early_is_share(double got, double n, double share)
{
	const double sd = sqrt(n * share * (1 - share));
	assert_near(got, n * share, 5 * sd + 1);
}

/* A view is of whole flows, and what it says of them fits together. */
static void early_check(const struct telemetry_rig *x, const struct obs *v)
{
	const struct obs_tallies *t = v->tallies;
	assert_ok(obs_check(v, x->topo.n_links, test_err()));
	assert_ok(
	    obs_tallies_check(t, x->topo.n_links, v->flows.n, test_err()));
	for (size_t i = 0; i < t->n; i++)
		if (t->flow[i] != UINT32_MAX) {
			assert_int_equal(v->flows.n_retx[t->flow[i]],
			    t->n_lost[i]);
			assert_int_equal(v->flows.n_pkts[t->flow[i]],
			    t->n_sent[i]);
		}
}

static void a_view_is_a_share_of_the_next(void **state)
{
	static const unsigned kinds[] = {OBS_TELE_INT,
	    OBS_TELE_A1 | OBS_TELE_A2 | OBS_TELE_P, OBS_TELE_A2};
	(void)state;
	for (uint32_t run = 0; run < 3; run++) {
		const struct xp_early_params p = {EARLY_N};
		struct telemetry_rig x;
		struct xp_early early = {0};
		struct sim_rng r;
		double n, n_probes, n_lost, flows, probes, lost;
		telemetry_rig_open(&x, 4, 1e-3, kinds[run], run);
		telemetry_rig_fail(&x, 7, .05);
		telemetry_rig_draw(&x);
		test_rng(&r, run);
		assert_ok(
		    xp_early_fill(&early, &p, &x.w, 30e9, 0, &r, test_err()));
		early_sum(x.w.tallies, &n, &n_probes, &n_lost);
		size_t before = 0;
		for (size_t i = 0; i < EARLY_N; i++) {
			const double share = ldexp(1, (int)i - EARLY_N);
			const struct obs *v = &early.view[i];
			assert_near(early.share[i], share, 0);
			early_check(&x, v);
			early_sum(v->tallies, &flows, &probes, &lost);
			early_is_share(flows, n, share);
			early_is_share(lost, n_lost, share);
			if (n_probes > 0)
				assert_near(probes / n_probes, share, .02);
			early_is_share((double)v->flows.n, (double)x.w.flows.n,
			    share);
			assert_true(v->flows.n >= before);
			before = v->flows.n;
		}
		assert_true(x.w.flows.n > 100);
		xp_early_free(&early);
		telemetry_rig_close(&x);
	}
}

/* Where flows tell when they began, who began later is not there, and all others
 * are. */
static void times_are_kept_where_there_are_any(void **state)
{
	const struct xp_early_params p = {2};
	struct telemetry_rig x;
	struct xp_early early = {0};
	struct sim_rng r;
	size_t half = 0;
	(void)state;
	telemetry_rig_open(&x, 4, 1e-3, OBS_TELE_INT, 3);
	telemetry_rig_draw(&x);
	for (size_t i = 0; i < x.w.flows.n; i++) {
		x.w.flows.start_ns[i] = i % 3 ? 10 : 99;
		half += i % 3 > 0;
	}
	test_rng(&r, 3);
	assert_ok(xp_early_fill(&early, &p, &x.w, 100, 1, &r, test_err()));
	assert_true(half > 0);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(early.view[i].flows.n, half);
		for (size_t f = 0; f < half; f++)
			assert_int_equal(early.view[i].flows.start_ns[f], 10);
	}
	xp_early_free(&early);
	telemetry_rig_close(&x);
}

/* Rows of flows that the window has. */
static size_t early_of_flows(const struct obs_tallies *t)
{
	size_t n = 0;
	for (size_t i = 0; i < t->n; i++)
		n += t->flow[i] != UINT32_MAX;
	return n;
}

/* A flow that begins at the end of a view is not in it, and all that had begun
 * are, in their order. */
static void a_view_ends_before_what_begins_at_its_end(void **state)
{
	static const uint64_t start[] = {0, 24, 25, 26, 49, 50, 51, 99};
	enum { N = sizeof(start) / sizeof(start[0]) };
	const struct xp_early_params p = {2};
	struct telemetry_rig x;
	struct xp_early early = {0};
	struct sim_rng r;
	(void)state;
	telemetry_rig_open(&x, 4, 1e-3, OBS_TELE_INT, 3);
	telemetry_rig_draw(&x);
	x.w.complete = 1;
	x.w.n_flows = 1001;
	x.w.n_packets = 4007;
	for (size_t i = 0; i < x.w.flows.n; i++)
		x.w.flows.start_ns[i] = start[i % N];
	test_rng(&r, 3);
	assert_ok(xp_early_fill(&early, &p, &x.w, 100, 1, &r, test_err()));
	for (size_t k = 0; k < 2; k++) {
		const struct obs *v = &early.view[k];
		size_t n = 0;
		for (size_t i = 0; i < x.w.flows.n; i++) {
			if (start[i % N] >= (k ? 50u : 25u))
				continue;
			assert_int_equal(v->flows.start_ns[n], start[i % N]);
			assert_int_equal(v->flows.n_pkts[n],
			    x.w.flows.n_pkts[i]);
			assert_int_equal(v->flows.src_port[n++],
			    x.w.flows.src_port[i]);
		}
		assert_int_equal(v->flows.n, n);
		assert_int_equal(early_of_flows(v->tallies), n);
		early_check(&x, v);
		assert_int_equal(v->n_flows, k ? 500 : 250);
		assert_int_equal(v->n_packets, k ? 2003 : 1001);
		assert_int_equal(v->complete, 1);
		assert_ptr_equal(v->tallies, &early.rows[k]);
		assert_ptr_equal(v->tallies->paths, x.w.tallies->paths);
		assert_int_equal(v->tallies->telemetry, OBS_TELE_INT);
	}

	/* A view of no flows has none, whatever was in it before. */
	for (size_t i = 0; i < x.w.flows.n; i++)
		x.w.flows.start_ns[i] = 50;
	assert_ok(xp_early_fill(&early, &p, &x.w, 100, 1, &r, test_err()));
	for (size_t k = 0; k < 2; k++) {
		assert_int_equal(early.view[k].flows.n, 0);
		assert_int_equal(early_of_flows(early.view[k].tallies), 0);
	}
	xp_early_free(&early);
	const struct xp_early none = {0};
	assert_memory_equal(&early, &none, sizeof(none));
	telemetry_rig_close(&x);
}

/* Of a probe's packets the first half is kept, the odd one too; what is lost of
 * them follows where all were or none, and else it is half in the mean. */
static void of_probes_the_first_half_is_kept(void **state)
{
	const struct xp_early_params p = {2};
	struct telemetry_rig x;
	struct xp_early early = {0};
	struct sim_rng r;
	double lost = 0, n_mixed = 0;
	(void)state;
	telemetry_rig_open(&x, 4, 1e-3, OBS_TELE_A1, 5);
	telemetry_rig_draw(&x);
	struct obs_tallies *t = &x.t.rows;
	assert_ptr_equal(x.w.tallies, t);
	assert_true(t->n > 100);
	for (size_t i = 0; i < t->n; i++) {
		t->n_sent[i] = i % 3 ? 37 + (uint32_t)i % 4 : 40;
		t->n_lost[i] = i % 3 == 0 ? 20 : i % 3 == 1 ? t->n_sent[i] : 0;
	}
	test_rng(&r, 5);
	assert_ok(xp_early_fill(&early, &p, &x.w, 30e9, 0, &r, test_err()));
	for (size_t i = 0; i < t->n; i++) {
		const struct obs_tallies *half = &early.rows[1],
					 *quarter = &early.rows[0];
		const uint32_t n = (t->n_sent[i] + 1) / 2, m = (n + 1) / 2;
		assert_int_equal(half->n_sent[i], n);
		assert_int_equal(quarter->n_sent[i], m);
		assert_int_equal(half->path[i], t->path[i]);
		if (i % 3 == 0) {
			assert_true(quarter->n_lost[i] <= half->n_lost[i]);
			lost += half->n_lost[i];
			n_mixed++;
		} else {
			assert_int_equal(half->n_lost[i], i % 3 == 1 ? n : 0);
			assert_int_equal(quarter->n_lost[i],
			    i % 3 == 1 ? m : 0);
		}
	}
	/* Hypergeometric, of variance 20 * 1/2 * 1/2 * 20/39. */
	assert_near(lost / n_mixed, 10, 5 * sqrt(20 * .25 * 20 / 39 / n_mixed));
	xp_early_free(&early);
	telemetry_rig_close(&x);
}

static int early_once(void *arg, struct sim_err *e)
{
	const struct telemetry_rig *x = arg;
	const struct xp_early_params p = {EARLY_N};
	struct xp_early early = {0};
	struct sim_rng r;
	test_rng(&r, 1);
	const int rc = xp_early_fill(&early, &p, &x->w, 30e9, 0, &r, e);
	xp_early_free(&early);
	return rc;
}

static void no_memory_is_told(void **state)
{
	struct telemetry_rig x;
	(void)state;
	telemetry_rig_open(&x, 4, 1e-3, OBS_TELE_A1 | OBS_TELE_A2 | OBS_TELE_P,
	    1);
	x.p.flows = 20;
	telemetry_rig_draw(&x);
	test_each_alloc_fails(early_once, &x);
	telemetry_rig_close(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_view_is_a_share_of_the_next),
	    cmocka_unit_test(times_are_kept_where_there_are_any),
	    cmocka_unit_test(a_view_ends_before_what_begins_at_its_end),
	    cmocka_unit_test(of_probes_the_first_half_is_kept),
	    cmocka_unit_test(no_memory_is_told),
	};
	return cmocka_run_group_tests_name("experiments/telemetry/early", tests,
	    NULL, NULL);
}
