/* tests/algos/sieve/sieve_holes_test.c -- Sieve where some flows are swallowed.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/sieve/sieve_holes.h"

#include <math.h>

#include "algos/sieve/sieve.h"
#include "algos/sieve/sieve_search.h"
#include "tests/rigs/telemetry_rig.h"
#include "tests/test.h"

static const unsigned holes_kinds[] = {OBS_TELE_INT, OBS_TELE_A2,
    OBS_TELE_A2 | OBS_TELE_P, OBS_TELE_P};

/* Whether the way of row I comes to switch AT. */
static int holes_comes(const struct telemetry_rig *x, size_t i, topo_switch at)
{
	const struct obs_tallies *t = &x->t.rows;
	const struct obs_paths *p = t->paths;
	const uint32_t path = t->path[i];
	if (topo_tor_of(&x->topo, t->up[i] / 2) == at)
		return 1;
	for (uint32_t k = p->off[path]; k < p->off[path + 1]; k++) {
		topo_node from, to;
		topo_link_ends(&x->topo, p->link[k], &from, &to);
		if (to == x->topo.n_hosts + at)
			return 1;
	}
	return 0;
}

/* Switch AT swallows one of ONE_OF flows; TOPO_NONE: none does. */
static void holes_open(struct telemetry_rig *x, uint32_t run, topo_switch at,
    unsigned one_of, unsigned kinds)
{
	struct sim_rng r;
	telemetry_rig_open(x, 4, run % 2 ? 5e-5 : 1e-6, OBS_TELE_INT, run);
	test_rng(&r, run);
	telemetry_rig_draw(x);
	for (size_t i = 0; at != TOPO_NONE && i < x->t.rows.n; i++)
		if (holes_comes(x, i, at) && sim_rng_below(&r, one_of) == 0)
			x->t.rows.n_lost[i] = x->t.rows.n_sent[i];
	telemetry_rig_see(x, kinds);
}

static void holes_search(const struct telemetry_rig *x, struct sieve_search *s)
{
	*s = (struct sieve_search){.thin = 1};
	s->model.topo = &x->topo;
	assert_ok(sieve_model_read(&s->model, &x->w, test_err()));
	assert_ok(sieve_search_run(s, test_err()));
}

/* What a switch has by law WHOLE or QUEUE at one RHO, row by row. */
static double holes_written_out(const struct telemetry_rig *x,
    const struct sieve_search *s, topo_switch at, enum sieve_law law,
    double rho)
{
	const struct obs_tallies *t = &x->t.rows;
	double ln = 0;
	for (size_t i = 0; i < t->n; i++) {
		const double n = t->n_sent[i], lost = t->n_lost[i],
			     hazard = telemetry_rig_way(t, i, t->path[i],
				 s->model.hazard);
		if (!holes_comes(x, i, at))
			continue;
		const double by_hazards = exp(lgamma(n + 1) - lgamma(lost + 1) -
		    lgamma(n - lost + 1) + lost * log(-expm1(-hazard)) -
		    (n - lost) * hazard);
		double by_law = lost == n;
		if (law == SIEVE_QUEUE)
			by_law = lost < 2 ? 0
			    : lost < n    ? 2 / (lost * (lost + 1))
					  : 2 / lost;
		ln += log(1 - rho +
		    (by_law > by_hazards ? rho * by_law / by_hazards : 0));
	}
	return ln;
}

/* The mean over rho of the likelihood, with all of its rows, is what is found. */
static void evidence_is_the_likelihood_written_out(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 8; run++) {
		struct telemetry_rig x;
		struct sieve_search s;
		struct sieve_fit fit;
		double rho = 1e-4, sum = 0, most = -INFINITY, ln[17];
		const topo_switch at = run % 5;
		const enum sieve_law law = run % 2 ? SIEVE_WHOLE : SIEVE_QUEUE;
		const unsigned n = law == SIEVE_QUEUE ? 14 : 17;
		holes_open(&x, run, TOPO_NONE, 0, OBS_TELE_INT);
		/* Few enough for products to be numbers. */
		for (size_t i = 0; i < x.t.rows.n; i++)
			if (i % 97 == run && x.t.rows.n_sent[i] < 40)
				x.t.rows.n_lost[i] = x.t.rows.n_sent[i] -
				    (run % 3 == 0 && x.t.rows.n_sent[i] > 4);
		holes_search(&x, &s);
		for (uint32_t i = 0; i < s.model.n_lossy; i++)
			sieve_model_spare(&s.model, i, 0);
		assert_ok(sieve_sudden_read(&s, test_err()));
		for (unsigned k = 0; k < n; k++, rho *= 1.75) {
			ln[k] = holes_written_out(&x, &s, at, law, rho);
			most = fmax(most, ln[k]);
		}
		for (unsigned k = 0; k < n; k++)
			sum += exp(ln[k] - most) / n;
		const double is =
		    sieve_sudden_evidence(&s, x.topo.n_links + at, law, &fit);
		if (fabs(is - most - log(sum)) > 1e-6 * (1 + fabs(is)))
			fail_msg("run %u: %.9g, written out %.9g", run, is,
			    most + log(sum));
		sieve_search_free(&s);
		telemetry_rig_close(&x);
	}
}

/* A row of no known path that is spared and counts again leaves all curves as they
 * were, and meanwhile they are those of a window without it. */
static void what_is_spared_says_nothing(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 6; run++) {
		struct telemetry_rig x, y;
		struct sieve_search s, o;
		double was[SIEVE_GRID], is[SIEVE_GRID], none[SIEVE_GRID];
		holes_open(&x, run, run, 12, OBS_TELE_P);
		holes_open(&y, run, run, 12, OBS_TELE_P);
		holes_search(&x, &s);
		holes_search(&y, &o);
		struct sieve_model *m = &s.model;
		for (uint32_t i = 0; i < m->n_lossy; i++)
			sieve_model_spare(m, i, 0);
		/* Of a row that kept something bins would have another mean. */
		uint32_t gone = 0;
		while (x.t.rows.n_lost[m->lossy[gone].row] <
		    x.t.rows.n_sent[m->lossy[gone].row])
			gone++;
		y.t.rows.n_lost[m->lossy[gone].row] = 0;
		y.t.rows.n_sent[m->lossy[gone].row] = 0;
		assert_ok(sieve_model_read(&o.model, &y.w, test_err()));
		sieve_model_level(m, 1e-4);
		sieve_model_level(&o.model, 1e-4);
		if (run % 2) {
			sieve_model_set(m, 5 + 17 * run, 0.01);
			sieve_model_set(&o.model, 5 + 17 * run, 0.01);
		}
		sieve_model_settle(m);
		sieve_model_settle(&o.model);
		for (topo_link l = 0; l < x.topo.n_links; l++) {
			sieve_model_curve(m, l, was);
			sieve_model_spare(m, gone, 1);
			sieve_model_curve(m, l, is);
			sieve_model_curve(&o.model, l, none);
			for (unsigned g = 1; g < SIEVE_GRID; g++)
				assert_float_equal(is[g] - is[0],
				    none[g] - none[0],
				    1e-6 * (1 + fabs(is[g] - is[0])));
			sieve_model_spare(m, gone, 0);
			sieve_model_curve(m, l, is);
			for (unsigned g = 0; g < SIEVE_GRID; g++)
				assert_float_equal(is[g], was[g],
				    1e-9 * (1 + fabs(was[g])));
		}
		sieve_search_free(&s);
		sieve_search_free(&o);
		telemetry_rig_close(&x);
		telemetry_rig_close(&y);
	}
}

/* A switch swallows one of 8 to 40 flows: of 20 windows of each kind it is accused
 * in so many, and nothing besides in so many. Seen below; where no path is known
 * switches of a pod are alike. */
static void a_hole_is_its_switch_and_nothing_beside(void **state)
{
	static const unsigned least[][2] = {{19, 18}, {19, 18}, {19, 18},
	    {19, 4}};
	(void)state;
	for (size_t k = 0; k < sizeof(holes_kinds) / sizeof(*holes_kinds);
	     k++) {
		unsigned n_found = 0, n_alone = 0;
		for (uint32_t run = 0; run < 20; run++) {
			struct telemetry_rig x;
			struct algo_verdicts out = {0};
			const topo_switch at = run;
			holes_open(&x, run, at, run % 2 ? 8 : 40,
			    holes_kinds[k]);
			telemetry_rig_ask(&x, &algo_sieve, &out);
			for (size_t i = 0; i < out.n_flagged; i++)
				n_found += out.link[i] == x.topo.n_links + at;
			n_alone += out.n_flagged == 1;
			algo_verdicts_free(&out);
			telemetry_rig_close(&x);
		}
		print_message("          %u found, %u alone, of 20\n", n_found,
		    n_alone);
		assert_true(n_found >= least[k][0] && n_alone >= least[k][1]);
	}
}

/* Of 90 windows with up to two links that lose up to a half and no hole, none has
 * one: were it 2 %, this would be red but for one time in 6. */
static void no_rate_is_a_hole(void **state)
{
	static const double rate[] = {0.01, 0.1, 0.5};
	(void)state;
	for (uint32_t run = 0; run < 90; run++) {
		struct telemetry_rig x;
		struct sieve_search s;
		struct sim_rng r;
		telemetry_rig_open(&x, 4, run % 2 ? 5e-5 : 1e-6, OBS_TELE_INT,
		    run);
		test_rng(&r, run);
		telemetry_rig_fail_any(&x, &r, run % 3, rate[run / 3 % 3]);
		telemetry_rig_draw(&x);
		telemetry_rig_see(&x, holes_kinds[run / 9 % 4]);
		holes_search(&x, &s);
		if (s.holes.n_taken > 0)
			fail_msg("run %u: a hole where there is none", run);
		sieve_search_free(&s);
		telemetry_rig_close(&x);
	}
}

static void memory_that_ends_is_told(void **state)
{
	(void)state;
	for (size_t k = 0; k < sizeof(holes_kinds) / sizeof(*holes_kinds);
	     k++) {
		struct telemetry_rig x;
		holes_open(&x, 1, 3, 10, holes_kinds[k]);
		telemetry_rig_no_memory(&x, &algo_sieve);
		telemetry_rig_close(&x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(evidence_is_the_likelihood_written_out),
	    cmocka_unit_test(what_is_spared_says_nothing),
	    cmocka_unit_test(a_hole_is_its_switch_and_nothing_beside),
	    cmocka_unit_test(no_rate_is_a_hole),
	    cmocka_unit_test(memory_that_ends_is_told),
	};
	return cmocka_run_group_tests_name("algos/sieve/sieve_holes", tests,
	    NULL, NULL);
}
