/* tests/algos_sieve_sieve_sets_test.c -- Sieve where paths are not known.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/sieve/sieve_sets.h"

#include "algos/sieve/sieve.h"
#include "algos/sieve/sieve_chances.h"
#include "tests/telemetry_rig.h"
#include "tests/test.h"

/* --- the likelihood, written out ------------------------------------------ */

static double path_sum(const struct obs_tallies *t, size_t i, uint32_t path,
    const double hazard[])
{
	const struct obs_paths *p = t->paths;
	double sum = 0;
	if (t->up[i] != TOPO_NONE)
		sum += hazard[t->up[i]];
	if (t->down[i] != TOPO_NONE)
		sum += hazard[t->down[i]];
	for (uint32_t k = p->off[path]; k < p->off[path + 1]; k++)
		sum += hazard[p->link[k]];
	return sum;
}

static double ln_on(const struct obs_tallies *t, size_t i, double sum)
{
	const double kept = t->n_sent[i] - t->n_lost[i];
	return (t->n_lost[i] ? t->n_lost[i] * log(-expm1(-sum)) : 0) -
	    kept * sum;
}

/* The mean over a row's paths, the greatest taken out. */
static double ln_row(const struct obs_tallies *t, size_t i,
    const double hazard[])
{
	const struct obs_paths *p = t->paths;
	const uint32_t set = t->set[i];
	const int known = t->path[i] != OBS_NO_PATH;
	const uint32_t first = known ? t->path[i] : p->first[set],
		       last = known ? first + 1 : p->first[set + 1];
	double most = -INFINITY, all = 0;
	for (uint32_t k = first; k < last; k++)
		most = fmax(most, ln_on(t, i, path_sum(t, i, k, hazard)));
	for (uint32_t k = first; k < last; k++)
		all += exp(ln_on(t, i, path_sum(t, i, k, hazard)) - most);
	return most + log(all / (last - first));
}

static double ln_all(const struct obs_tallies *t, const double hazard[])
{
	double ln = 0;
	for (size_t i = 0; i < t->n; i++)
		ln += ln_row(t, i, hazard);
	return ln;
}

/* --- curves --------------------------------------------------------------- */

static const unsigned dark_kinds[] = {OBS_TELE_P, OBS_TELE_A2 | OBS_TELE_P,
    OBS_TELE_A1 | OBS_TELE_P, OBS_TELE_A1 | OBS_TELE_A2 | OBS_TELE_P};

static void open_dark(struct telemetry_rig *x, uint32_t run, double noise)
{
	struct sim_rng r;
	telemetry_rig_open(x, 4, noise, dark_kinds[run % 4], run);
	test_rng(&r, run);
	for (unsigned k = 0; k < 2; k++)
		telemetry_rig_fail(x, sim_rng_below(&r, x->topo.n_links), 0.02);
	x->p.flows = 30;
}

/* Difference of a link's curve from the likelihood written out, over the grid and
 * by the size of what changes. */
static double curve_is_off(struct sieve_model *m, const struct obs_tallies *t,
    topo_link l)
{
	const double had = m->hazard[l];
	double ell[SIEVE_GRID], most = 0;
	sieve_model_curve(m, l, ell);
	m->hazard[l] = m->x[0];
	const double at_0 = ln_all(t, m->hazard);
	for (unsigned g = 1; g < SIEVE_GRID; g++) {
		m->hazard[l] = m->x[g];
		const double want = ln_all(t, m->hazard) - at_0;
		most =
		    fmax(most, fabs(ell[g] - ell[0] - want) / (1 + fabs(want)));
	}
	m->hazard[l] = had;
	return most;
}

/* Flows of one size, so that a mean of sizes is each of them, and any hazards of
 * cables: curves are the likelihood. With odd links between switches too, of rows
 * that lost something. */
static void curves_are_the_likelihood_of_all_paths(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 16; run++) {
		struct telemetry_rig x;
		struct sim_rng r;
		struct sieve_model m = {0};
		struct obs_tallies lossy = {0}, *rows;
		open_dark(&x, run, 1e-3);
		x.p.mean = 1e9;
		x.p.most = run % 2 ? 12000 : 300000;
		telemetry_rig_draw(&x);
		rows = &x.t.rows;
		lossy.paths = rows->paths;
		for (size_t i = 0; i < rows->n; i++) {
			const struct obs_tally row = obs_tallies_at(rows, i);
			if (row.n_lost > 0)
				assert_ok(
				    obs_tallies_add(&lossy, &row, test_err()));
		}
		if (run >= 8)
			x.w.tallies = rows = &lossy;
		test_rng(&r, run);
		m.topo = &x.topo;
		assert_ok(sieve_model_read(&m, &x.w, test_err()));
		sieve_model_level(&m, 1e-4);
		for (unsigned k = 0; k < 9; k++)
			sieve_model_set(&m,
			    sim_rng_below(&r,
				run < 8 ? 2 * x.topo.n_hosts : x.topo.n_links),
			    m.x[sim_rng_below(&r, SIEVE_GRID - 4)]);
		for (unsigned k = 0; k < 12; k++) {
			const topo_link l = sim_rng_below(&r, x.topo.n_links);
			const double off = curve_is_off(&m, rows, l);
			if (!(off < 1e-9))
				fail_msg("run %u, link %u: off by %g", run, l,
				    off);
		}
		sieve_model_free(&m);
		obs_tallies_free(&lossy);
		telemetry_rig_close(&x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(curves_are_the_likelihood_of_all_paths),
	};
	return cmocka_run_group_tests_name("algos/sieve/sieve_sets", tests,
	    NULL, NULL);
}
