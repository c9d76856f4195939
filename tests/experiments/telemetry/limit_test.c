/* tests/experiments/telemetry/limit_test.c -- who knows all, by brute force.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/telemetry/limit.h"

#include <math.h>

#include "tests/rigs/telemetry_rig.h"
#include "tests/test.h"

static const unsigned limit_kinds[] = {OBS_TELE_INT, OBS_TELE_A1, OBS_TELE_P,
    OBS_TELE_A2 | OBS_TELE_P, OBS_TELE_A1 | OBS_TELE_A2 | OBS_TELE_P};
enum { N_KINDS = sizeof(limit_kinds) / sizeof(limit_kinds[0]) };

/* The window's likelihood, row by row: the mean over paths of the binomial. */
static double limit_window(const struct obs_tallies *t, const double hazard[])
{
	const struct obs_paths *p = t->paths;
	double ln = 0;
	for (size_t i = 0; i < t->n; i++) {
		const int known = t->path[i] != OBS_NO_PATH;
		const uint32_t first = known ? t->path[i] : p->first[t->set[i]];
		const uint32_t end =
		    known ? first + 1 : p->first[t->set[i] + 1];
		long double sum = 0;
		for (uint32_t k = first; k < end; k++) {
			long double way = 0;
			if (t->up[i] != TOPO_NONE)
				way += hazard[t->up[i]];
			if (t->down[i] != TOPO_NONE)
				way += hazard[t->down[i]];
			for (uint32_t h = p->off[k]; h < p->off[k + 1]; h++)
				way += hazard[p->link[h]];
			sum += powl(-expm1l(-way), t->n_lost[i]) *
			    expl(-way * (t->n_sent[i] - t->n_lost[i]));
		}
		ln += (double)logl(sum / (end - first));
	}
	return ln;
}

/* Each link's curve is the likelihood of all rows, whatever is known of paths. */
static void curves_are_likelihoods_of_all_rows(void **state)
{
	(void)state;
	static double at[] = {1e-6, 5e-5, 1e-3, 0.02, 0.3};
	for (uint32_t run = 0; run < 3 * N_KINDS; run++) {
		struct telemetry_rig x;
		struct sim_rng r;
		struct xp_limit w = {0};
		telemetry_rig_open(&x, 4, 1e-4, limit_kinds[run % N_KINDS],
		    run);
		test_rng(&r, run);
		x.p.flows = 30;
		for (unsigned i = 0; i < 2; i++)
			telemetry_rig_fail(&x,
			    sim_rng_below(&r, x.topo.n_links), 0.02);
		telemetry_rig_draw(&x);
		w.n_x = sizeof(at) / sizeof(at[0]);
		w.x = at;
		assert_ok(xp_limit_curves(&w, &x.t.rows, x.t.links.hazard,
		    x.topo.n_links, test_err()));
		for (unsigned k = 0; k < 20; k++) {
			const topo_link l = sim_rng_below(&r, x.topo.n_links);
			const double had = x.t.links.hazard[l];
			const double *ell = w.ell + (size_t)l * w.n_x;
			double first = 0;
			for (unsigned i = 0; i < w.n_x; i++) {
				x.t.links.hazard[l] = at[i];
				const double ln =
				    limit_window(&x.t.rows, x.t.links.hazard);
				first = i ? first : ln;
				assert_near(ell[i] - ell[0], ln - first,
				    1e-8 * (1 + fabs(ln)));
			}
			x.t.links.hazard[l] = had;
		}
		w.x = NULL;
		xp_limit_free(&w);
		telemetry_rig_close(&x);
	}
}

/* So many rows of sets that their product is beyond a double. */
static void long_products_do_not_run_out(void **state)
{
	static double at[] = {1e-6, 0.3};
	struct telemetry_rig x;
	struct xp_limit w = {0};
	(void)state;
	telemetry_rig_open(&x, 4, 1e-5, OBS_TELE_P, 5);
	x.p.flows = 250;
	telemetry_rig_fail(&x, 40, 0.2);
	telemetry_rig_draw(&x);
	w.n_x = 2;
	w.x = at;
	assert_ok(xp_limit_curves(&w, &x.t.rows, x.t.links.hazard,
	    x.topo.n_links, test_err()));
	for (topo_link l = 40; l < 44; l++) {
		const double had = x.t.links.hazard[l];
		double ln[2];
		for (unsigned i = 0; i < 2; i++) {
			x.t.links.hazard[l] = at[i];
			ln[i] = limit_window(&x.t.rows, x.t.links.hazard);
		}
		x.t.links.hazard[l] = had;
		assert_near(w.ell[2 * l + 1] - w.ell[2 * l], ln[1] - ln[0],
		    1e-8 * fabs(ln[1]));
	}
	w.x = NULL;
	xp_limit_free(&w);
	telemetry_rig_close(&x);
}

/* --- F by its definition -------------------------------------------------- */

enum { BY_HAND_NOISE = 16, BY_HAND_FAULT = 64, BY_HAND_X = 16 + 2 * 64 };

/* The middles of N equal parts of a law, as hazards. */
static void by_hand_law(double x[], size_t n, const struct sim_dist *d)
{
	for (size_t i = 0; i < n; i++) {
		const double u = (2 * (double)i + 1) / (2 * (double)n);
		const double rate = d->kind == SIM_LOG_UNIFORM
		    ? exp(log(d->a) + u * (log(d->b) - log(d->a)))
		    : d->a + u * (d->b - d->a);
		x[i] = -log1p(-fmax(rate, 1e-12));
	}
}

static long double by_hand_mean(const double ell[], size_t n, double less)
{
	long double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += expl((long double)ell[i] - less);
	return sum / n;
}

/* Odds of each link to have failed, given how many did; and then, of all sets of
 * the first links by chance, that with the greatest expected F. */
static double by_hand_f(const struct telemetry_rig *x,
    const struct fault_params g[2], const struct sim_dist *noise, double k)
{
	static double at[BY_HAND_X];
	struct xp_limit w = {.n_x = BY_HAND_X, .x = at};
	double chance[128], best = 0, sum = 0, n_may = 0, n_true = 0, got = 0;
	const uint32_t n_links = x->topo.n_links;
	by_hand_law(at, BY_HAND_NOISE, noise);
	for (unsigned i = 0; i < 2; i++)
		by_hand_law(at + BY_HAND_NOISE + i * BY_HAND_FAULT,
		    BY_HAND_FAULT, &g[i].rate);
	assert_ok(xp_limit_curves(&w, &x->t.rows, x->t.links.hazard, n_links,
	    test_err()));
	assert_true(n_links <= 128);
	for (topo_link l = 0; l < n_links; l++) {
		const double *ell = w.ell + (size_t)l * BY_HAND_X;
		const enum topo_link_class c = topo_class_of(&x->topo, l);
		const int is_host = c == TOPO_HOST_TOR || c == TOPO_TOR_HOST;
		long double odds = 0;
		for (unsigned i = 0; i < 2; i++) {
			const uint32_t classes = is_host
			    ? UINT32_C(1) << c
			    : ~(UINT32_C(1) << TOPO_HOST_TOR |
				  UINT32_C(1) << TOPO_TOR_HOST);
			if (g[i].classes & classes)
				odds += (long double)g[i].count /
				    (g[0].count + g[1].count) *
				    by_hand_mean(ell + BY_HAND_NOISE +
					    i * BY_HAND_FAULT,
					BY_HAND_FAULT, ell[0]) /
				    by_hand_mean(ell, BY_HAND_NOISE, ell[0]);
		}
		chance[l] = (double)odds;
		n_may += odds > 0;
	}
	for (topo_link l = 0; l < n_links; l++) {
		const double odds = chance[l] * k / (n_may - k);
		chance[l] = odds / (1 + odds);
	}
	/* The most likely ones first; of equal ones the first. */
	for (unsigned n = 1; n <= n_links; n++) {
		topo_link most = 0;
		for (topo_link l = 1; l < n_links; l++)
			if (chance[l] > chance[most])
				most = l;
		sum += chance[most];
		n_true += truth_is_faulty(&x->scene.truth, most);
		chance[most] = -1;
		if (2 * sum / (n + k) > best) {
			best = 2 * sum / (n + k);
			got = 2 * n_true / (n + k);
		}
	}
	w.x = NULL;
	xp_limit_free(&w);
	return got;
}

/* Links that lose little are told apart by chance alone. */
static void f_is_that_of_its_definition(void **state)
{
	unsigned n_between = 0;
	(void)state;
	for (uint32_t run = 0; run < 10; run++) {
		const struct sim_dist noise = {SIM_UNIFORM, 0, 2e-4};
		const struct fault_params g[2] =
		    {{.count = 3,
			 .rate = {SIM_UNIFORM, 2e-4, 3e-3},
			 .classes =
			     run % 2 ? UINT32_MAX : UINT32_C(1) << TOPO_TOR_T1},
			{.count = 1,
			    .rate = {SIM_LOG_UNIFORM, 1e-4, 1e-2},
			    .classes = run % 3 ? UINT32_C(1) << TOPO_TOR_HOST
					       : UINT32_C(1) << TOPO_HOST_TOR}};
		struct telemetry_rig x;
		struct scene_params p;
		struct res_trial_metrics m;
		struct xp_limit w = {0};
		telemetry_rig_open(&x, 4, 1e-4,
		    run % 4 ? OBS_TELE_INT : OBS_TELE_P, run);
		x.params.noise.rate = noise;
		x.params.noise.scale = 1;
		x.p.flows = 60;
		for (unsigned i = 0; i < 4; i++)
			telemetry_rig_fail(&x, 34 + 7 * i + run % 6, 1e-3);
		telemetry_rig_draw(&x);
		p = x.params;
		p.group = (struct fault_params *)(uintptr_t)g;
		p.n_groups = 2;
		assert_ok(
		    xp_limit_fill(&w, &x.t, &x.scene, &p, &m, test_err()));
		assert_near(m.limit_f, by_hand_f(&x, g, &noise, 4), 1e-12);
		n_between += m.limit_f > 0 && m.limit_f < 1;
		xp_limit_free(&w);
		telemetry_rig_close(&x);
	}
	assert_true(n_between > 3);
}

static double limit_f_of(struct telemetry_rig *x, unsigned n_groups)
{
	struct fault_params g[2] = {{.count = 2,
					.rate = {SIM_UNIFORM, .01, .03},
					.classes = UINT32_MAX},
	    {.count = 1,
		.rate = {SIM_LOG_UNIFORM, 1e-3, 1e-2},
		.classes = UINT32_MAX}};
	struct scene_params p = x->params;
	struct res_trial_metrics m;
	struct xp_limit w = {0};
	p.group = g;
	p.n_groups = n_groups;
	assert_ok(xp_limit_fill(&w, &x->t, &x->scene, &p, &m, test_err()));
	xp_limit_free(&w);
	return m.limit_f;
}

/* Two links that lose 2 % each, by paths that are known: nobody misses them. */
static void what_stands_out_is_told_rightly(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 10; run++) {
		struct telemetry_rig x;
		telemetry_rig_open(&x, 4, 1e-5, OBS_TELE_INT, run);
		x.params.noise.rate = (struct sim_dist){SIM_UNIFORM, 0, 1e-4};
		telemetry_rig_fail(&x, 3 + run, 0.02);
		telemetry_rig_fail(&x, 50 + 2 * run, 0.02);
		telemetry_rig_draw(&x);
		assert_near(limit_f_of(&x, 1), 1, 0);
		assert_near(limit_f_of(&x, 2), 1, 0);
		telemetry_rig_close(&x);
	}
}

/* Of links that no packet crossed, as without flows, all are alike: it accuses
 * all of the N, of which 2 failed. */
static void without_a_row_all_are_alike(void **state)
{
	(void)state;
	struct telemetry_rig x;
	telemetry_rig_open(&x, 4, 1e-5, OBS_TELE_INT, 0);
	telemetry_rig_fail(&x, 3, 0.02);
	telemetry_rig_fail(&x, 5, 0.02);
	x.p.flows = 0;
	telemetry_rig_draw(&x);
	assert_near(limit_f_of(&x, 1), 4. / (x.topo.n_links + 2), 1e-12);
	telemetry_rig_close(&x);
}

static void some_windows_have_no_limit(void **state)
{
	(void)state;
	struct telemetry_rig x;
	telemetry_rig_open(&x, 4, 1e-5, OBS_TELE_INT, 0);
	telemetry_rig_draw(&x);
	assert_true(isnan(limit_f_of(&x, 1))); /* nothing failed */
	telemetry_rig_fail(&x, 3, 0.02);
	telemetry_rig_draw(&x);
	assert_false(isnan(limit_f_of(&x, 1)));
	/* Of what nobody can know here. */
	x.t.links.some_move = 1;
	assert_true(isnan(limit_f_of(&x, 1)));
	x.t.links.some_move = 0;
	x.t.file = &x.topo;
	assert_true(isnan(limit_f_of(&x, 1)));
	x.t.file = NULL;
	x.scene.latency.report_us = 1;
	assert_true(isnan(limit_f_of(&x, 1)));
	x.scene.latency.report_us = 0;
	assert_false(isnan(limit_f_of(&x, 1)));
	assert_ok(truth_add_part(&x.scene.truth, 3, 1, test_err()));
	assert_true(isnan(limit_f_of(&x, 1))); /* with its switch */
	telemetry_rig_close(&x);
	telemetry_rig_open(&x, 4, 1e-5, OBS_TELE_A2 | OBS_TELE_A1, 0);
	telemetry_rig_fail(&x, 3, 0.02);
	telemetry_rig_draw(&x);
	assert_true(isnan(limit_f_of(&x, 1)));
	telemetry_rig_close(&x);
}

static int limit_once(void *arg, struct sim_err *e)
{
	struct telemetry_rig *x = arg;
	struct fault_params g = {.count = 1,
	    .rate = {SIM_FIXED, .02, .02},
	    .classes = UINT32_MAX};
	struct scene_params p = x->params;
	struct res_trial_metrics m;
	struct xp_limit w = {0};
	p.group = &g;
	p.n_groups = 1;
	const int rc = xp_limit_fill(&w, &x->t, &x->scene, &p, &m, e);
	xp_limit_free(&w);
	return rc;
}

static void memory_that_runs_out_is_an_error(void **state)
{
	(void)state;
	struct telemetry_rig x;
	telemetry_rig_open(&x, 4, 1e-5, OBS_TELE_P, 0);
	telemetry_rig_fail(&x, 3, 0.02);
	x.p.flows = 20;
	telemetry_rig_draw(&x);
	test_each_alloc_fails(limit_once, &x);
	telemetry_rig_close(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(curves_are_likelihoods_of_all_rows),
	    cmocka_unit_test(long_products_do_not_run_out),
	    cmocka_unit_test(f_is_that_of_its_definition),
	    cmocka_unit_test(what_stands_out_is_told_rightly),
	    cmocka_unit_test(without_a_row_all_are_alike),
	    cmocka_unit_test(some_windows_have_no_limit),
	    cmocka_unit_test(memory_that_runs_out_is_an_error),
	};
	return cmocka_run_group_tests_name("experiments/telemetry/limit", tests,
	    NULL, NULL);
}
