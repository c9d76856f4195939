/* tests/algos/sieve/chances_test.c -- Sieve's chances against the posterior.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/sieve/sieve_chances.h"

#include "tests/rigs/sieve_exact.h"
#include "tests/rigs/telemetry_rig.h"
#include "tests/test.h"

/* A window, Sieve's search of it, and chances of all links by two ways. */
struct chances_rig {
	struct telemetry_rig x;
	struct sieve_search s;
	struct sieve_exact exact;
	struct sim_rng r;
	double *got, *want; /* [links]; got -1: not listed */
	uint32_t most;      /* failures that the oracle knows; 0: any number */
};

/* The chance that something failed, of up to MOST of N parts. */
static double chances_any(double n, const struct sieve_search *s, uint32_t most)
{
	double all = 0, one = 1;
	for (uint32_t k = 0; k <= most; k++) {
		all += one;
		one *= (n - k) / (s->thin * (n - k + s->rare));
	}
	return 1 - 1 / all;
}

static void chances_open(struct chances_rig *c, unsigned kinds, uint32_t run,
    unsigned n_failed)
{
	*c = (struct chances_rig){.s.thin = 1, .s.rare = 39};
	struct telemetry_rig *x = &c->x;
	telemetry_rig_open(x, 4, 5e-5, kinds, run);
	test_rng(&c->r, run);
	x->p.flows = 50;
	for (unsigned i = 0; i < n_failed; i++)
		telemetry_rig_fail(x, sim_rng_below(&c->r, x->topo.n_links),
		    0.002 + 0.001 * (run % 5));
	telemetry_rig_draw(x);
	c->got = calloc(2 * (size_t)x->topo.n_links, sizeof(*c->got));
	assert_non_null(c->got);
	c->want = c->got + x->topo.n_links;
}

static void chances_close(struct chances_rig *c)
{
	sieve_exact_close(&c->exact);
	sieve_search_free(&c->s);
	telemetry_rig_close(&c->x);
	free(c->got);
}

static void chances_of_sieve(struct chances_rig *c)
{
	struct sieve_search *s = &c->s;
	for (topo_link l = 0; l < c->x.topo.n_links; l++)
		c->got[l] = -1;
	/* As the oracles have it: any number, or up to two. */
	s->any = chances_any((double)c->x.topo.n_links + c->x.topo.n_switches,
	    s, c->most ? c->most : c->x.topo.n_links);
	s->model.topo = &c->x.topo;
	assert_ok(sieve_model_read(&s->model, &c->x.w, test_err()));
	assert_ok(sieve_search_run(s, test_err()));
	assert_ok(sieve_chances(s, test_err()));
	for (size_t i = 0; i < s->n; i++)
		if (s->list[i].link < c->x.topo.n_links)
			c->got[s->list[i].link] = s->list[i].chance;
}

/* The same laws, and the mean that the search learnt. */
static void chances_exact(struct chances_rig *c)
{
	struct sieve_exact *x = &c->exact;
	struct sieve_prior p = {.least = 0};
	sieve_prior_begin(&p, &c->s.model, c->s.prior.mean);
	x->topo = &c->x.topo;
	x->rows = &c->x.t.rows;
	x->mean = p.mean;
	x->n_parts = (double)x->topo->n_links + x->topo->n_switches;
	x->thin = c->s.thin;
	x->rare = c->s.rare;
	_Static_assert((int)EXACT_GRID == (int)SIEVE_GRID,
	    "grids are the same");
	for (unsigned g = 0; g < EXACT_GRID; g++) {
		x->x[g] = c->s.model.x[g];
		x->healthy[g] = exp(p.healthy[g]);
		x->slab[g] = p.flat[g];
	}
	sieve_exact_open(x);
}

/* Half the sum of differences over listed links, and the greatest chance of one
 * that is not. */
static double chances_differ(const struct chances_rig *c, double *unlisted)
{
	double sum = 0;
	*unlisted = 0;
	for (topo_link l = 0; l < c->x.topo.n_links; l++)
		if (c->got[l] >= 0)
			sum += fabs(c->want[l] - c->got[l]) / 2;
		else
			*unlisted = fmax(*unlisted, c->want[l]);
	return sum;
}

/* --- the oracle itself ---------------------------------------------------- */

/* Sampling the posterior that all sets of up to two have gives their chances, for
 * known paths and for sets of paths. With 3,000 sweeps the mean of a chance has a
 * standard error of .01 or so. */
static void sampling_gives_what_all_sets_do(void **state)
{
	(void)state;
	static const unsigned kinds[] = {OBS_TELE_INT, OBS_TELE_A1,
	    OBS_TELE_A1 | OBS_TELE_P};
	for (uint32_t run = 0; run < 6; run++) {
		struct chances_rig c;
		double worst = 0, all = 0, *sets;
		const int passive = kinds[run % 3] & OBS_TELE_P;
		chances_open(&c, kinds[run % 3], run, 1 + run % 2);
		/* Sets of paths cost much; few rows do. */
		if (passive)
			while (c.x.t.rows.n > 80)
				c.x.t.rows.n--;
		for (unsigned g = 0; g < SIEVE_GRID; g++)
			c.s.model.x[g] = 1e-7 * exp(0.54 * g);
		c.s.prior.mean = 4e-5;
		chances_exact(&c);
		c.exact.level = 1;
		c.exact.most = 2;
		sets = calloc(c.x.topo.n_links, sizeof(*sets));
		assert_non_null(sets);
		sieve_exact_sets(&c.exact, sets);
		sieve_exact_gibbs(&c.exact, &c.r, passive ? 400 : 3000, c.want);
		for (topo_link l = 0; l < c.x.topo.n_links; l++) {
			worst = fmax(worst, fabs(sets[l] - c.want[l]));
			all += sets[l];
		}
		print_message("          run %u: expected failures %.3f, "
			      "worst difference %.4f\n",
		    run, all, worst);
		assert_true(worst < (passive ? 0.06 : 0.03));
		free(sets);
		chances_close(&c);
	}
}

/* --- Sieve ---------------------------------------------------------------- */

enum { CHANCES_RUNS = 24 };

/* Against all sets of up to two, healthy hazards being the mean. What differs
 * most is that the slab here knows of no failure found before, and that more than
 * two may have failed. By 24 seeds 5 of 576 windows differ by more than .3, so that 4
 * of 24 do once in 15,000 seeds; the mean of 24 is .046, with a standard deviation of
 * .008 between seeds. */
static void chances_are_those_of_all_sets(void **state)
{
	(void)state;
	double total = 0, worst = 0;
	unsigned n_far = 0;
	for (uint32_t run = 0; run < CHANCES_RUNS; run++) {
		struct chances_rig c;
		double unlisted;
		chances_open(&c, run % 2 ? OBS_TELE_A1 : OBS_TELE_INT, run,
		    run % 3);
		c.most = 2;
		chances_of_sieve(&c);
		chances_exact(&c);
		sieve_exact_sets(&c.exact, c.want);
		const double differs = chances_differ(&c, &unlisted);
		if (unlisted > 0.05)
			fail_msg("run %u: a link of chance %.4f is no "
				 "candidate",
			    run, unlisted);
		total += differs;
		worst = fmax(worst, differs);
		n_far += differs > 0.3;
		chances_close(&c);
	}
	print_message("          half the sum of differences: mean %.4f, most "
		      "%.4f; %u above .3\n",
	    total / CHANCES_RUNS, worst, n_far);
	assert_true(total / CHANCES_RUNS < 0.09);
	assert_in_range(n_far, 0, 3);
}

/* Against the posterior of all hazards and any number of failures: by telemetry,
 * half the sum of differences in the mean over windows, and in how many it may be
 * FAR or more. By INT some windows differ by much, where three links or more may stand
 * for as many. By 24 seeds 6 of 288 windows are as far by INT, so that 5 of 12 are once
 * in 150,000 seeds, and none by A1. Means are .134 and .013, with standard deviations
 * of .022 and .003 between seeds. */
static const struct {
	unsigned kinds;
	const char *name;
	double mean, far;
	unsigned n_far;
} chances_bounds[] = {{OBS_TELE_INT, "int", 0.27, 0.5, 4},
    {OBS_TELE_A1, "a1", 0.04, 0.1, 1}};

static void chances_are_those_of_the_posterior(void **state)
{
	enum { RUNS = CHANCES_RUNS / 2 };
	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		double total = 0, most = 0, unseen = 0;
		unsigned n_far = 0;
		for (uint32_t run = 0; run < RUNS; run++) {
			struct chances_rig c;
			double unlisted;
			chances_open(&c, chances_bounds[k].kinds, run, run % 5);
			chances_of_sieve(&c);
			chances_exact(&c);
			c.exact.kernels = 1;
			sieve_exact_gibbs(&c.exact, &c.r, 1000, c.want);
			const double differs = chances_differ(&c, &unlisted);
			unseen = fmax(unseen, unlisted);
			total += differs / RUNS;
			most = fmax(most, differs);
			n_far += differs >= chances_bounds[k].far;
			chances_close(&c);
		}
		print_message("          %s: half the sum of differences: mean "
			      "%.4f, most %.4f; %u far, unlisted %.4f\n",
		    chances_bounds[k].name, total, most, n_far, unseen);
		assert_true(total < chances_bounds[k].mean);
		assert_in_range(n_far, 0, chances_bounds[k].n_far);
		assert_true(unseen < 0.08);
	}
}

/* Of all links there are the candidates' chances, and of others what is left of
 * the odds before; equal numbers of packets are told apart from others. */
static void each_link_has_a_chance(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 8; run++) {
		struct telemetry_rig x;
		struct sim_rng r;
		struct sieve_search s = {.thin = 1, .rare = 39, .any = 0.5};
		struct sieve_belief *b;
		unsigned n = 0;
		telemetry_rig_open(&x, 4, 5e-5, OBS_TELE_A1, run);
		test_rng(&r, run);
		for (unsigned k = 0; k < run % 3; k++)
			telemetry_rig_fail(&x,
			    sim_rng_below(&r, x.topo.n_links), 0.01);
		telemetry_rig_draw(&x);
		b = calloc(x.topo.n_links, sizeof(*b));
		uint8_t *listed = calloc(x.topo.n_links, 1);
		assert_non_null(b);
		assert_non_null(listed);
		s.model.topo = &x.topo;
		assert_ok(sieve_model_read(&s.model, &x.w, test_err()));
		assert_ok(sieve_search_run(&s, test_err()));
		assert_ok(sieve_chances(&s, test_err()));
		sieve_chances_all(&s, b);
		for (size_t i = 0; i < s.n; i++)
			if (s.list[i].link < x.topo.n_links) {
				assert_near(b[s.list[i].link].chance,
				    s.list[i].chance, 0);
				listed[s.list[i].link] = 1;
			}
		for (topo_link l = 0; l < x.topo.n_links; l++) {
			assert_true(b[l].chance >= 0 && b[l].chance <= 1);
			assert_near(b[l].healthy, s.prior.mean, 0);
			if (listed[l])
				continue;
			const double ln = sieve_search_weigh(&s, l).ln_factor,
				     odds = exp(ln +
					 sieve_share_ln_odds(&s.share, ln));
			assert_near(b[l].chance,
			    s.share.any * odds / (1 + odds), 1e-12);
			n++;
		}
		assert_true(n > 0);
		free(listed);
		free(b);
		sieve_search_free(&s);
		telemetry_rig_close(&x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sampling_gives_what_all_sets_do),
	    cmocka_unit_test(chances_are_those_of_all_sets),
	    cmocka_unit_test(chances_are_those_of_the_posterior),
	    cmocka_unit_test(each_link_has_a_chance),
	};
	return cmocka_run_group_tests_name("algos/sieve/sieve_chances", tests,
	    NULL, NULL);
}
