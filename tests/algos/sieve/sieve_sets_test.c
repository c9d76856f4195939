/* tests/algos/sieve/sieve_sets_test.c -- Sieve where paths are not known.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/sieve/sieve_sets.h"

#include <malloc.h>

#include "algos/sieve/sieve.h"
#include "algos/sieve/sieve_chances.h"
#include "tests/rigs/sieve_enumerate.h"
#include "tests/rigs/telemetry_rig.h"
#include "tests/test.h"

/* --- the likelihood, written out ------------------------------------------ */

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
		most =
		    fmax(most, ln_on(t, i, telemetry_rig_way(t, i, k, hazard)));
	for (uint32_t k = first; k < last; k++)
		all +=
		    exp(ln_on(t, i, telemetry_rig_way(t, i, k, hazard)) - most);
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

/* Of runs from 16 on the network is another: where a ToR has one way up, so that
 * links are on all paths of a set; or where sets have 80 paths, more than bits. */
static void open_other(struct telemetry_rig *x, uint32_t run)
{
	static const struct topo_clos shape[2] = {{2, 2, 1, 3, 4,
						      .n_cables = 0},
	    {2, 2, 4, 5, 4, .n_cables = 0}};
	const struct sim_seed where = {.seed = test_seed(), .run = run};
	scene_free(&x->scene);
	topo_close(&x->topo);
	assert_ok(topo_open_clos(&x->topo, &shape[run / 4 % 2], test_err()));
	assert_ok(
	    scene_draw(&x->scene, &x->topo, &x->params, &where, test_err()));
}

static void open_dark(struct telemetry_rig *x, uint32_t run, double noise)
{
	struct sim_rng r;
	telemetry_rig_open(x, 4, noise, dark_kinds[run % 4], run);
	if (run >= 16)
		open_other(x, run);
	test_rng(&r, run);
	telemetry_rig_fail_any(x, &r, 2, 0.02);
	x->p.flows = 30;
}

/* Difference of a link's curve from the likelihood written out, over the grid: by
 * the size of what changes, and in nats where the likelihood is within 20 nats of
 * its greatest. */
static double curve_is_off(struct sieve_model *m, const struct obs_tallies *t,
    topo_link l, double *nats)
{
	const double had = m->hazard[l];
	double ell[SIEVE_GRID], want[SIEVE_GRID], most = 0, best = 0;
	sieve_model_curve(m, l, ell);
	for (unsigned g = 0; g < SIEVE_GRID; g++) {
		m->hazard[l] = m->x[g];
		want[g] = ln_all(t, m->hazard);
	}
	for (unsigned g = SIEVE_GRID; g-- > 0;) {
		want[g] -= want[0];
		best = fmax(best, want[g]);
	}
	for (unsigned g = 1; g < SIEVE_GRID; g++) {
		const double off = fabs(ell[g] - ell[0] - want[g]);
		most = fmax(most, off / (1 + fabs(want[g])));
		if (want[g] > best - 20)
			*nats = fmax(*nats, off);
	}
	m->hazard[l] = had;
	return most;
}

/* On how many of a set's paths LINK is. */
static uint32_t n_over(const struct obs_paths *p, uint32_t set, topo_link link)
{
	uint32_t n = 0;
	for (uint32_t k = p->off[p->first[set]]; k < p->off[p->first[set + 1]];
	     k++)
		n += p->link[k] == link;
	return n;
}

/* Links that are not at the level count where a row surely crossed them, and where
 * a set may have led over them. */
static void assert_odd_are_counted(const struct sieve_model *m)
{
	const struct obs_tallies *t = m->rows;
	for (size_t i = 0; i < m->n_lossy; i += 1 + m->n_lossy / 8) {
		const uint32_t set = m->lossy[i].set, row = m->lossy[i].row;
		uint32_t sure = 0, maybe = 0;
		double sum = m->lossy[i].n_maybe * m->level;
		if (set == OBS_NO_PATH)
			continue;
		for (topo_link l = 0; l < m->topo->n_links; l++) {
			const uint32_t n = n_over(t->paths, set, l);
			const int odd = m->hazard[l] != m->level,
				  is_sure = t->up[row] == l ||
			    t->down[row] == l ||
			    n == obs_set_size(t->paths, set);
			sure += odd && is_sure;
			maybe += odd && !is_sure && n > 0;
			sum += is_sure ? m->hazard[l] : 0;
		}
		assert_int_equal(m->lossy[i].n_odd, sure);
		assert_int_equal(m->ways.n_odd[set], maybe);
		assert_near(m->sum[i], sum, 1e-12);
	}
}

/* Of many rows of no known path, and of one. */
static void odd_links_are_counted_as_hazards_change(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 24; run += 2) {
		struct telemetry_rig x;
		struct obs_tallies one = {0};
		struct sieve_model m = {0};
		struct sim_rng r;
		size_t i = 0;
		double nats = 0;
		open_dark(&x, run, 1e-3);
		telemetry_rig_draw(&x);
		while (x.t.rows.n_lost[i] == 0 ||
		    x.t.rows.path[i] != OBS_NO_PATH ||
		    obs_set_size(&x.t.paths, x.t.rows.set[i]) == 1)
			i++;
		const struct obs_tally row = obs_tallies_at(&x.t.rows, i);
		one.paths = x.t.rows.paths;
		assert_ok(obs_tallies_add(&one, &row, test_err()));
		if (run / 2 % 2)
			x.w.tallies = &one;
		m.topo = &x.topo;
		assert_ok(sieve_model_read(&m, &x.w, test_err()));
		assert_int_equal(m.n_dark == 1, run / 2 % 2);
		sieve_model_level(&m, 1e-4);
		sieve_model_settle(&m);
		test_rng(&r, run);
		for (unsigned k = 0; k < 12; k++) {
			sieve_model_set(&m, sim_rng_below(&r, x.topo.n_links),
			    k % 3 ? m.x[k] : m.level);
			assert_odd_are_counted(&m);
			/* One row is of one size, so its curve is exact. */
			if (m.n_dark == 1)
				assert_true(
				    curve_is_off(&m, &one,
					sim_rng_below(&r, x.topo.n_links),
					&nats) < 1e-9);
		}
		sieve_model_add_up(&m);
		assert_odd_are_counted(&m);
		sieve_model_free(&m);
		obs_tallies_free(&one);
		telemetry_rig_close(&x);
	}
}

/* Any link, with one of N hazards of the grid from FIRST on. */
static void set_any(struct sieve_model *m, struct sim_rng *r, uint32_t first,
    uint32_t n)
{
	const uint32_t i = first + sim_rng_below(r, n);
	sieve_model_set(m, sim_rng_below(r, m->topo->n_links), m->x[i]);
}

/* Flows of one size, so that a mean of sizes is each of them, and any hazards of
 * other links: curves are the likelihood. */
static void curves_are_the_likelihood_of_all_paths(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 22; run++) {
		struct telemetry_rig x;
		struct sim_rng r;
		struct sieve_model m = {0};
		const struct obs_tallies *rows = &x.t.rows;
		open_dark(&x, run, 1e-3);
		x.p.mean = 1e9;
		x.p.most = run % 2 ? 12000 : 300000;
		telemetry_rig_draw(&x);
		test_rng(&r, run);
		m.topo = &x.topo;
		assert_ok(sieve_model_read(&m, &x.w, test_err()));
		sieve_model_level(&m, 1e-4);
		sieve_model_settle(&m);
		for (unsigned k = 0; k < 9; k++)
			set_any(&m, &r, 0, SIEVE_GRID - 4);
		for (unsigned k = 0; k < 12; k++) {
			const topo_link l = sim_rng_below(&r, x.topo.n_links);
			double nats = 0;
			const double off = curve_is_off(&m, rows, l, &nats);
			if (!(off < 1e-9))
				fail_msg("run %u, link %u: off by %g", run, l,
				    off);
		}
		sieve_model_free(&m);
		telemetry_rig_close(&x);
	}
}

/* All links' curves, each found ALONE or after one another. */
static void ask_all(struct sieve_model *m, int alone, double ell[])
{
	for (topo_link l = 0; l < m->topo->n_links; l++) {
		if (alone)
			sieve_ways_count(m);
		sieve_model_curve(m, l, ell + (size_t)l * SIEVE_GRID);
	}
}

/* A link of a class may have the curve that was found for another: that is the
 * same as its own, to the last bit, as links differ in nothing else. */
static void what_was_found_for_others_is_as_ones_own(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 40; run++) {
		struct telemetry_rig x;
		struct sim_rng r;
		struct sieve_model m = {0};
		telemetry_rig_open(&x, 6, 1e-3, OBS_TELE_P, run);
		x.p.flows = 10;
		telemetry_rig_draw(&x);
		test_rng(&r, run);
		m.topo = &x.topo;
		assert_ok(sieve_model_read(&m, &x.w, test_err()));
		const size_t n = (size_t)x.topo.n_links * SIEVE_GRID;
		double *got = malloc(2 * n * sizeof(*got));
		assert_non_null(got);
		for (unsigned k = 0; k < 4; k++) {
			sieve_model_level(&m, 1e-4);
			sieve_model_settle(&m);
			for (unsigned i = 0; i <= k; i++)
				set_any(&m, &r, 12, 16);
			ask_all(&m, 0, got);
			ask_all(&m, 1, got + n);
			assert_memory_equal(got, got + n, n * sizeof(*got));
		}
		free(got);
		sieve_model_free(&m);
		telemetry_rig_close(&x);
	}
}

/* What memory held before, as curves of another network, is not taken for found: the
 * system gives none that is empty. */
static void at_first_nothing_was_found(void **state)
{
	struct telemetry_rig x;
	struct sieve_model m = {0};
	(void)state;
	telemetry_rig_open(&x, 4, 1e-3, OBS_TELE_P, 0);
	telemetry_rig_draw(&x);
	m.topo = &x.topo;
	mallopt(M_PERTURB, 0xa5);
	assert_ok(sieve_model_read(&m, &x.w, test_err()));
	mallopt(M_PERTURB, 0);
	for (unsigned i = 0; i < SIEVE_MEMOS; i++)
		assert_int_equal(m.ways.memo[i].key, 0);
	sieve_model_free(&m);
	telemetry_rig_close(&x);
}

/* So many failures that paths of one set exceed by more sums than there are
 * groups: neighbouring ones share a mean. The least and the greatest hazards of
 * failed links are exp(8) apart. Seen: .009 nats at most. */
static void many_failures_are_nearly_the_likelihood(void **state)
{
	double worst = 0;
	(void)state;
	for (uint32_t run = 0; run < 3; run++) {
		struct telemetry_rig x;
		struct sim_rng r;
		struct sieve_model m = {0};
		size_t n_full = 0;
		telemetry_rig_open(&x, 10, 1e-3, OBS_TELE_P, run);
		x.p.flows = 1;
		x.p.mean = 1e9;
		x.p.most = 300000;
		telemetry_rig_draw(&x);
		test_rng(&r, run);
		m.topo = &x.topo;
		assert_ok(sieve_model_read(&m, &x.w, test_err()));
		sieve_model_level(&m, 1e-4);
		sieve_model_settle(&m);
		for (unsigned k = 0; k < 400; k++)
			set_any(&m, &r, 12, 16);
		for (unsigned k = 0; k < 8; k++)
			curve_is_off(&m, &x.t.rows,
			    sim_rng_below(&r, x.topo.n_links), &worst);
		for (size_t s = 0; s < m.sets.n_sets; s++)
			n_full += m.ways.n_groups[s] == SIEVE_GROUPS;
		assert_true(n_full > 0);
		sieve_model_free(&m);
		telemetry_rig_close(&x);
	}
	print_message("          off by %.3f nats at most\n", worst);
	assert_true(worst < 0.05);
}

/* As flows have them, of many sizes, a mean stands for a quarter of an octave. */
static void bins_of_sizes_cost_little(void **state)
{
	double worst = 0;
	(void)state;
	for (unsigned n = 1, last = 0; n < 1u << 20; n++) {
		const unsigned bin = sieve_cells_bin(n);
		assert_true(bin == last || bin == last + 1);
		assert_true(n > 7 || bin == n);
		last = bin;
	}
	assert_int_equal(sieve_cells_bin(UINT32_MAX), SIEVE_CELL_BINS - 1);
	for (uint32_t run = 0; run < 8; run++) {
		struct telemetry_rig x;
		struct sieve_model m = {0};
		open_dark(&x, run, 5e-5);
		x.p.flows = 100;
		telemetry_rig_draw(&x);
		m.topo = &x.topo;
		assert_ok(sieve_model_read(&m, &x.w, test_err()));
		sieve_model_level(&m, 5e-5);
		sieve_model_settle(&m);
		for (topo_link l = 0; l < x.topo.n_links; l += 5)
			curve_is_off(&m, &x.t.rows, l, &worst);
		sieve_model_free(&m);
		telemetry_rig_close(&x);
	}
	print_message("          off by %.2f nats at most\n", worst);
	assert_true(worst < 1.5);
}

/* --- chances -------------------------------------------------------------- */

/* As of known paths, over fewer links: those of a class have equal chances, which
 * few packets make of little weight. In a window that is far the search is sure of one
 * set, beside which another explains as much. By 24 seeds 22 of 576 windows are, so
 * that 7 of 24 are once in 40,000 seeds; with these as .5 the mean of 24 is .080, with
 * a standard deviation of .014 between seeds. None of 576 has an unlisted link above
 * .05: if one of 200 had, three of 24 did once in 4,000 seeds. */
static void chances_are_those_of_enumeration(void **state)
{
	(void)state;
	double total = 0, worst = 0;
	unsigned n_far = 0, n_unlisted = 0;
	enum { RUNS = 24 };
	for (uint32_t run = 0; run < RUNS; run++) {
		struct telemetry_rig x;
		struct sim_rng r;
		struct sieve_search s = {.thin = 1, .rare = 39, .any = 0.57};
		double differs = 0, unlisted = 0, *want, *got;
		telemetry_rig_open(&x, 4, 5e-5, dark_kinds[run % 4], run);
		test_rng(&r, run);
		x.p.flows = 50;
		for (unsigned k = 0; k < run / 4 % 3; k++)
			telemetry_rig_fail(&x,
			    sim_rng_below(&r, x.topo.n_links),
			    0.002 + 0.001 * (run % 5));
		telemetry_rig_draw(&x);
		want = calloc(2 * (size_t)x.topo.n_links, sizeof(*want));
		assert_non_null(want);
		got = want + x.topo.n_links;
		s.model.topo = &x.topo;
		assert_ok(sieve_model_read(&s.model, &x.w, test_err()));
		assert_ok(sieve_search_run(&s, test_err()));
		assert_ok(sieve_chances(&s, test_err()));
		for (size_t i = 0; i < s.n; i++)
			if (s.list[i].link < x.topo.n_links)
				got[s.list[i].link] = s.list[i].chance;
		sieve_enumerate(&s, want);
		for (topo_link l = 0; l < x.topo.n_links; l++)
			if (got[l] > 0)
				differs += fabs(want[l] - got[l]) / 2;
			else
				unlisted = fmax(unlisted, want[l]);
		total += fmin(differs, 0.5);
		n_far += differs > 0.5;
		n_unlisted += unlisted > 0.05;
		worst = fmax(worst, differs);
		free(want);
		sieve_search_free(&s);
		telemetry_rig_close(&x);
	}
	print_message("          half the sum of differences: mean %.4f, most "
		      "%.4f; %u far, %u with an unlisted link\n",
	    total / RUNS, worst, n_far, n_unlisted);
	assert_true(total / RUNS < 0.14);
	assert_in_range(n_far, 0, 6);
	assert_in_range(n_unlisted, 0, 2);
}

/* --- answers -------------------------------------------------------------- */

static void diagnose(const struct topo *t, const struct obs *w,
    struct algo_verdicts *out)
{
	void *work;
	struct sim_rng tie;
	test_rng(&tie, 0);
	assert_ok(algo_open(&algo_sieve, &work, t, NULL, test_err()));
	/* Twice, as what is kept of one window must not tell in the next. */
	assert_ok(algo_sieve.diagnose(work, w, &tie, out, test_err()));
	assert_ok(algo_sieve.diagnose(work, w, &tie, out, test_err()));
	algo_close(&algo_sieve, work);
}

/* In so small a network one link of a hundred fails before the window with odds of
 * 1 %, so that some windows mislead. If 1 % did, this were red one time in 30. */
static void nothing_failed_few_are_accused(void **state)
{
	unsigned n = 0;
	(void)state;
	for (uint32_t run = 0; run < 300; run++) {
		struct telemetry_rig x;
		struct algo_verdicts out = {0};
		telemetry_rig_open(&x, 4, run / 4 % 2 ? 5e-5 : 1e-6,
		    dark_kinds[run % 4], run);
		x.p.flows = 60;
		telemetry_rig_draw(&x);
		diagnose(&x.topo, &x.w, &out);
		if (out.n_flagged > 0 && n++ >= 6)
			fail_msg("run %u: %zu accused, the first with %g", run,
			    out.n_flagged, out.score[0]);
		algo_verdicts_free(&out);
		telemetry_rig_close(&x);
	}
}

/* A link that loses 2 % is accused, alone if lossy flows, probes or a host's cable
 * tell it, else with all that are like it, each as likely. Of the 1,600 packets of
 * probes or more that cross a link none is lost with a chance of exp(-32). */
static void a_bad_link_is_accused_or_its_class(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 48; run++) {
		struct telemetry_rig x;
		struct sim_rng r;
		struct algo_verdicts out = {0};
		telemetry_rig_open(&x, 4, 1e-6, dark_kinds[run % 4], run);
		test_rng(&r, run);
		const topo_link bad = sim_rng_below(&r, x.topo.n_links);
		telemetry_rig_fail(&x, bad, 0.02);
		x.p.probe_packets = 400;
		telemetry_rig_draw(&x);
		diagnose(&x.topo, &x.w, &out);
		const int alone = run % 4 != 0 || bad < 2 * x.topo.n_hosts;
		int accused = 0;
		for (size_t i = 0; i < out.n_flagged; i++) {
			accused |= out.link[i] == bad;
			assert_near(out.score[i], out.score[0],
			    1e-3 * out.score[0]);
		}
		if (!accused || (alone && out.n_flagged != 1) ||
		    (!alone && out.n_flagged < 2))
			fail_msg("run %u: link %u, %zu accused", run, bad,
			    out.n_flagged);
		assert_near(out.score[0] * out.n_flagged, 1, 0.05);
		for (size_t i = 0; i < out.n_flows; i++)
			assert_true(out.blame[i] == TOPO_NONE ||
			    algo_verdicts_score(&out, out.blame[i]) > 0);
		algo_verdicts_free(&out);
		telemetry_rig_close(&x);
	}
}

/* Every other link of a switch loses 2 %: with lossy flows' paths the switch is
 * accused, in 200 windows of 10 seeds with a chance of 1 - 1e-8 or more, as most of
 * its links are, and few others. Where one that shares their ways is accused for two
 * of them, these are not: 26 of 480 windows of 24 seeds miss some, so that 7 of 20 do
 * once in 17,000 seeds. Others are 12.5 by seed, with a standard deviation of 3.7
 * between seeds. */
static void a_bad_switch_is_one_failure(void **state)
{
	(void)state;
	unsigned n_missing = 0;
	size_t n_others = 0;
	for (uint32_t run = 0; run < 20; run++) {
		struct telemetry_rig x;
		struct algo_verdicts out = {0};
		size_t n_bad = 0, n_right = 0;
		int accused = 0;
		telemetry_rig_open(&x, 6, 1e-6, dark_kinds[run % 2 * 2 + 1],
		    run);
		const topo_switch bad = 2 * run % x.topo.n_switches;
		x.p.flows = 200;
		for (topo_link l = 0; l < x.topo.n_links; l++) {
			topo_node from, to;
			topo_link_ends(&x.topo, l, &from, &to);
			if ((from == x.topo.n_hosts + bad ||
				to == x.topo.n_hosts + bad) &&
			    l / 2 % 2 == 0) {
				telemetry_rig_fail(&x, l, 0.02);
				n_bad++;
			}
		}
		telemetry_rig_draw(&x);
		diagnose(&x.topo, &x.w, &out);
		for (size_t i = 0; i < out.n_flagged; i++) {
			const struct algo_part p =
			    algo_verdicts_part(&out, out.link[i]);
			accused |= p.is_switch && p.id == bad;
			for (size_t k = 0;
			     !p.is_switch && k < x.scene.truth.n_faults; k++)
				n_right += x.scene.truth.fault[k].link == p.id;
		}
		if (!accused)
			fail_msg("run %u: switch %u is not accused", run, bad);
		n_missing += n_right < n_bad;
		n_others += out.n_flagged - 1 - n_right;
		algo_verdicts_free(&out);
		telemetry_rig_close(&x);
	}
	print_message("          %u windows miss links, %zu others accused\n",
	    n_missing, n_others);
	assert_in_range(n_missing, 0, 6);
	assert_in_range(n_others, 0, 30);
}

/* --- what says nothing ---------------------------------------------------- */

static void same(const struct algo_verdicts *a, const struct algo_verdicts *b)
{
	assert_int_equal(a->n, b->n);
	assert_int_equal(a->n_flagged, b->n_flagged);
	for (size_t i = 0; i < a->n; i++) {
		assert_int_equal(a->link[i], b->link[i]);
		assert_true(a->score[i] == b->score[i]);
	}
}

/* There is one path from a ToR to a top switch, whether rows say so or not. */
static void one_path_is_a_known_path(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 8; run++) {
		struct telemetry_rig x;
		struct sim_rng r;
		struct algo_verdicts a = {0}, b = {0};
		telemetry_rig_open(&x, 4, 5e-5, OBS_TELE_A1, run);
		test_rng(&r, run);
		telemetry_rig_fail(&x, sim_rng_below(&r, x.topo.n_links), 0.02);
		x.p.probe_packets = 400;
		telemetry_rig_draw(&x);
		diagnose(&x.topo, &x.w, &a);
		assert_true(a.n > 0);
		for (size_t i = 0; i < x.t.rows.n; i++)
			x.t.rows.path[i] = OBS_NO_PATH;
		diagnose(&x.topo, &x.w, &b);
		same(&a, &b);
		algo_verdicts_free(&a);
		algo_verdicts_free(&b);
		telemetry_rig_close(&x);
	}
}

/* A flow of known path that lost nothing is as many flows of a packet each. */
static void packets_that_arrived_are_no_flows(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 8; run++) {
		struct telemetry_rig x;
		struct obs_tallies split = {0}, *rows = &x.t.rows;
		struct algo_verdicts a = {0}, b = {0};
		open_dark(&x, 2 + run % 2 * 1, 5e-5);
		telemetry_rig_draw(&x);
		diagnose(&x.topo, &x.w, &a);
		split.paths = rows->paths;
		split.telemetry = rows->telemetry;
		for (size_t i = 0; i < rows->n; i++) {
			struct obs_tally row = obs_tallies_at(rows, i);
			uint32_t n = 1;
			if (row.path != OBS_NO_PATH && row.n_lost == 0) {
				n = row.n_sent;
				row.n_sent = 1;
			}
			while (n-- > 0)
				assert_ok(
				    obs_tallies_add(&split, &row, test_err()));
		}
		x.w.tallies = &split;
		diagnose(&x.topo, &x.w, &b);
		same(&a, &b);
		obs_tallies_free(&split);
		algo_verdicts_free(&a);
		algo_verdicts_free(&b);
		telemetry_rig_close(&x);
	}
}

/* The link that leads the other way. */
static topo_link turned(const struct topo *t, topo_link l)
{
	topo_node from, to, a, b;
	topo_link_ends(t, l, &from, &to);
	for (topo_link k = 0; k < t->n_links; k++) {
		topo_link_ends(t, k, &a, &b);
		if (a == to && b == from)
			return k;
	}
	fail_msg("link %u leads one way alone", l);
	return TOPO_NONE;
}

/* In a window in which each packet goes the other way, links that lead the other
 * way have the chances: numbers of links, sets and paths say nothing. */
static void the_other_way_round_is_the_same(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 16; run++) {
		struct telemetry_rig x;
		struct obs_tallies *rows = &x.t.rows;
		struct algo_verdicts a = {0}, b = {0};
		struct sim_rng r;
		uint32_t set;
		telemetry_rig_open(&x, 4, 5e-5, OBS_TELE_P, run);
		test_rng(&r, run);
		const topo_link bad = sim_rng_below(&r, x.topo.n_links);
		telemetry_rig_fail(&x, bad, 0.01);
		telemetry_rig_draw(&x);
		diagnose(&x.topo, &x.w, &a);
		for (size_t i = 0; i < rows->n; i++) {
			const topo_link up = rows->up[i];
			rows->up[i] = turned(&x.topo, rows->down[i]);
			rows->down[i] = turned(&x.topo, up);
			assert_ok(obs_paths_between(&x.t.paths, &x.topo,
			    x.t.paths.to[rows->set[i]],
			    x.t.paths.from[rows->set[i]], &set, test_err()));
			rows->set[i] = set;
		}
		diagnose(&x.topo, &x.w, &b);
		assert_int_equal(a.n_flagged, b.n_flagged);
		for (size_t i = 0; i < a.n_flagged; i++)
			assert_near(algo_verdicts_score(&b,
					turned(&x.topo, a.link[i])),
			    a.score[i], 1e-6);
		algo_verdicts_free(&a);
		algo_verdicts_free(&b);
		telemetry_rig_close(&x);
	}
}

static void without_rows_nothing_is_said(void **state)
{
	struct telemetry_rig x;
	struct algo_verdicts out = {0};
	(void)state;
	telemetry_rig_open(&x, 4, 5e-5, OBS_TELE_P, 0);
	x.p.flows = 0;
	telemetry_rig_draw(&x);
	assert_int_equal(x.t.rows.n, 0);
	diagnose(&x.topo, &x.w, &out);
	assert_int_equal(out.n_flagged, 0);
	x.w.tallies = NULL;
	diagnose(&x.topo, &x.w, &out);
	assert_int_equal(out.n_flagged, 0);
	algo_verdicts_free(&out);
	telemetry_rig_close(&x);
}

/* --- what goes wrong ------------------------------------------------------ */

static void memory_that_ends_is_told(void **state)
{
	(void)state;
	struct telemetry_rig x;
	open_dark(&x, 2, 5e-5);
	telemetry_rig_draw(&x);
	telemetry_rig_no_memory(&x, &algo_sieve);
	telemetry_rig_close(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(odd_links_are_counted_as_hazards_change),
	    cmocka_unit_test(curves_are_the_likelihood_of_all_paths),
	    cmocka_unit_test(what_was_found_for_others_is_as_ones_own),
	    cmocka_unit_test(at_first_nothing_was_found),
	    cmocka_unit_test(many_failures_are_nearly_the_likelihood),
	    cmocka_unit_test(bins_of_sizes_cost_little),
	    cmocka_unit_test(chances_are_those_of_enumeration),
	    cmocka_unit_test(nothing_failed_few_are_accused),
	    cmocka_unit_test(a_bad_link_is_accused_or_its_class),
	    cmocka_unit_test(a_bad_switch_is_one_failure),
	    cmocka_unit_test(one_path_is_a_known_path),
	    cmocka_unit_test(packets_that_arrived_are_no_flows),
	    cmocka_unit_test(the_other_way_round_is_the_same),
	    cmocka_unit_test(without_rows_nothing_is_said),
	    cmocka_unit_test(memory_that_ends_is_told),
	};
	return cmocka_run_group_tests_name("algos/sieve/sieve_sets", tests,
	    NULL, NULL);
}
