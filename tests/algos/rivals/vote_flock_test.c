/* tests/algos/rivals/vote_flock_test.c -- votes tallied anew, and Score-passive.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/rivals/vote_flock.h"

#include "algos/rivals/score_passive.h"
#include "algos/vigil/alg1.h"
#include "tests/rigs/telemetry_rig.h"
#include "tests/test.h"

enum { N_TOLD = 64 };

/* What a diagnoser accuses. */
struct told {
	size_t n;
	uint32_t part[N_TOLD];
	double score[N_TOLD];
};

static struct told told_by(const struct algo_ops *a, const void *params,
    const struct telemetry_rig *x)
{
	struct algo_verdicts v = {0};
	struct told told = {0};
	void *work;
	assert_ok(algo_open(a, &work, &x->topo, params, test_err()));
	assert_ok(a->diagnose(work, &x->w, NULL, &v, test_err()));
	assert_in_range(v.n_flagged, 0, N_TOLD);
	told.n = v.n_flagged;
	for (size_t i = 0; i < told.n; i++) {
		told.part[i] = v.link[i];
		told.score[i] = v.score[i];
	}
	algo_close(a, work);
	algo_verdicts_free(&v);
	return told;
}

static void assert_told(const struct told *got, const struct told *want,
    uint32_t run)
{
	if (got->n != want->n)
		fail_msg("run %u: %zu accused, wanted %zu", run, got->n,
		    want->n);
	for (size_t i = 0; i < want->n; i++) {
		if (got->part[i] != want->part[i])
			fail_msg("run %u: at place %zu %u, wanted %u", run, i,
			    got->part[i], want->part[i]);
		assert_near(got->score[i], want->score[i],
		    1e-9 * want->score[i]);
	}
}

/* Three links and a switch's links fail. */
static void draw(struct telemetry_rig *x, unsigned kinds, uint32_t run)
{
	struct sim_rng r;
	telemetry_rig_open(x, 4, 1e-5, kinds, run);
	test_rng(&r, run);
	x->p.flows = 40;
	for (unsigned i = 0; i < 3; i++)
		telemetry_rig_fail(x, sim_rng_below(&r, x->topo.n_links),
		    0.01 * (i + 1));
	telemetry_rig_draw(x);
}

/* --- votes, tallied anew at each step ------------------------------------- */

/* Whether row I, whose path is known, crosses component C. */
static int row_crosses(const struct telemetry_rig *x, size_t i, uint32_t c)
{
	const struct obs_tallies *t = &x->t.rows;
	const struct obs_paths *p = t->paths;
	const uint32_t at = x->topo.n_links + p->from[t->set[i]];
	if (t->up[i] == c || t->down[i] == c || c == at)
		return 1;
	for (uint32_t k = p->off[t->path[i]]; k < p->off[t->path[i] + 1]; k++) {
		topo_node from, to;
		topo_link_ends(&x->topo, p->link[k], &from, &to);
		if (p->link[k] == c ||
		    c == x->topo.n_links + to - x->topo.n_hosts)
			return 1;
	}
	return 0;
}

static int is_voter(const struct telemetry_rig *x, size_t i)
{
	const struct obs_tallies *t = &x->t.rows;
	return !t->is_probe[i] && t->n_lost[i] > 0 && t->path[i] != OBS_NO_PATH;
}

/* Votes of C, all that may be accused being from FIRST to LAST. */
static uint64_t tally(const struct telemetry_rig *x, const uint8_t gone[],
    uint32_t c, uint32_t first, uint32_t last)
{
	uint64_t votes = 0;
	for (size_t i = 0; i < x->t.rows.n; i++) {
		if (!is_voter(x, i) || gone[i] || !row_crosses(x, i, c))
			continue;
		unsigned h = 0;
		for (uint32_t k = first; k < last; k++)
			h += (unsigned)row_crosses(x, i, k);
		votes += 720720 / h;
	}
	return votes;
}

static struct told votes_naive(const struct telemetry_rig *x,
    const struct algo_vote_flock_params *p)
{
	const int links = p->on == ALGO_KIND_LINK;
	const uint32_t first = links ? 0 : x->topo.n_links,
		       last =
			   x->topo.n_links + (links ? 0 : x->topo.n_switches);
	uint8_t *gone = calloc(x->t.rows.n + 1, 1);
	struct told told = {0};
	assert_non_null(gone);
	for (;;) {
		uint64_t most = 0, sum = 0;
		uint32_t best = first;
		for (uint32_t c = first; c < last; c++) {
			const uint64_t v = tally(x, gone, c, first, last);
			sum += v;
			if (v > most) {
				best = c;
				most = v;
			}
		}
		if (most == 0 || (double)most < p->theta * (double)sum)
			break;
		assert_in_range(told.n, 0, N_TOLD - 1);
		told.part[told.n] = best;
		told.score[told.n++] = (double)most / 720720;
		for (size_t i = 0; i < x->t.rows.n; i++)
			gone[i] |= is_voter(x, i) && row_crosses(x, i, best);
	}
	free(gone);
	return told;
}

static void votes_are_as_tallied_anew(void **state)
{
	(void)state;
	const unsigned kinds[] = {OBS_TELE_INT,
	    OBS_TELE_A1 | OBS_TELE_A2 | OBS_TELE_P, OBS_TELE_A2};
	for (uint32_t run = 0; run < 9; run++) {
		struct telemetry_rig x;
		draw(&x, kinds[run % 3], run);
		for (unsigned on = 0; on < 2; on++) {
			const struct algo_vote_flock_params p = {.on = on
				? ALGO_KIND_SWITCH
				: ALGO_KIND_LINK,
			    .theta = run % 2 ? .05 : .15};
			const struct told want = votes_naive(&x, &p),
					  got =
					      told_by(&algo_vote_flock, &p, &x),
					  score = told_by(&algo_score, &p, &x);
			assert_told(&got, &want, run);
			assert_told(&score, &want, run);
		}
		telemetry_rig_close(&x);
	}
}

static void defaults_are_thresholds_of_their_own(void **state)
{
	(void)state;
	struct algo_vote_flock_params p = {.on = ALGO_KIND_LINK};
	for (uint32_t run = 0; run < 3; run++) {
		struct telemetry_rig x;
		draw(&x, OBS_TELE_INT, run);
		p.theta = .0023;
		struct told want = votes_naive(&x, &p),
			    got = told_by(&algo_vote_flock, NULL, &x);
		assert_told(&got, &want, run);
		p.theta = .0025;
		want = votes_naive(&x, &p);
		got = told_by(&algo_score, NULL, &x);
		assert_told(&got, &want, run);
		telemetry_rig_close(&x);
	}
}

/* Two ways through the code: flows as they were traced, and their sums. */
static void it_is_algorithm_1_with_exact_removal(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 20; run++) {
		struct telemetry_rig x;
		struct algo_alg1_params p;
		assert_ok(sim_field_defaults(algo_alg1.params, &p, test_err()));
		p.threshold = .02;
		p.total = ALGO_ALG1_REMAINING;
		p.adjust = ALGO_ALG1_REMOVAL;
		p.noise_filter = 0;
		const struct algo_vote_flock_params q = {.on = ALGO_KIND_LINK,
		    .theta = p.threshold};
		draw(&x, OBS_TELE_A2, run);
		const struct told want = told_by(&algo_alg1, &p, &x),
				  got = told_by(&algo_vote_flock, &q, &x);
		assert_told(&got, &want, run);
		telemetry_rig_close(&x);
	}
}

/* --- packets lost of packets delivered ------------------------------------ */

/* Share of row I's paths that cross link L. */
static double row_share(const struct telemetry_rig *x, size_t i, topo_link l)
{
	const struct obs_tallies *t = &x->t.rows;
	const struct obs_paths *p = t->paths;
	const uint32_t first = p->first[t->set[i]],
		       last = p->first[t->set[i] + 1];
	double n = 0;
	if (t->up[i] == l || t->down[i] == l)
		return 1;
	if (t->path[i] != OBS_NO_PATH)
		return row_crosses(x, i, l);
	for (uint32_t k = p->off[first]; k < p->off[last]; k++)
		n += p->link[k] == l;
	return n / (last - first);
}

static double passive_naive(const struct telemetry_rig *x, const uint8_t gone[],
    topo_link l)
{
	const struct obs_tallies *t = &x->t.rows;
	double lost = 0, kept = 0;
	for (size_t i = 0; i < t->n; i++) {
		if (t->is_probe[i] || gone[i])
			continue;
		lost += row_share(x, i, l) * t->n_lost[i];
		kept += row_share(x, i, l) * (t->n_sent[i] - t->n_lost[i]);
	}
	return lost / (kept > 0 ? kept : 1);
}

static struct told score_passive_naive(const struct telemetry_rig *x,
    double theta)
{
	uint8_t *gone = calloc(x->t.rows.n + 1, 1);
	struct told told = {0};
	assert_non_null(gone);
	for (;;) {
		double most = 0;
		topo_link best = 0;
		for (topo_link l = 0; l < x->topo.n_links; l++) {
			const double score = passive_naive(x, gone, l);
			if (score > most) {
				best = l;
				most = score;
			}
		}
		if (most == 0 || most < theta)
			break;
		assert_in_range(told.n, 0, N_TOLD - 1);
		told.part[told.n] = best;
		told.score[told.n++] = most;
		for (size_t i = 0; i < x->t.rows.n; i++)
			gone[i] |= is_voter(x, i) && row_crosses(x, i, best);
	}
	free(gone);
	return told;
}

static void score_passive_is_as_summed_anew(void **state)
{
	(void)state;
	const unsigned kinds[] = {OBS_TELE_INT,
	    OBS_TELE_A1 | OBS_TELE_A2 | OBS_TELE_P, OBS_TELE_A2};
	for (uint32_t run = 0; run < 9; run++) {
		struct telemetry_rig x;
		draw(&x, kinds[run % 3], run);
		const struct algo_score_passive_params p = {
		    run % 2 ? .0002 : .001};
		const struct told want = score_passive_naive(&x, p.theta),
				  got = told_by(&algo_score_passive, &p, &x);
		assert_told(&got, &want, run);
		telemetry_rig_close(&x);
	}
}

/* Of what lost nothing, one packet of each set of paths at most. */
static void keep_one_of_each_set(struct obs_tallies *t)
{
	uint8_t *had = calloc(t->paths->n_sets + 1, 1);
	assert_non_null(had);
	for (size_t i = 0; i < t->n; i++) {
		if (t->n_lost[i] > 0)
			continue;
		t->n_sent[i] = t->path[i] == OBS_NO_PATH && !had[t->set[i]];
		had[t->set[i]] |= t->n_sent[i] > 0;
	}
	free(had);
}

static void a_packet_that_was_delivered_counts(void **state)
{
	const struct algo_score_passive_params p = {0.05};
	(void)state;
	for (uint32_t run = 0; run < 6; run++) {
		struct telemetry_rig x;
		draw(&x, OBS_TELE_A1 | OBS_TELE_A2 | OBS_TELE_P, run);
		keep_one_of_each_set(&x.t.rows);
		const struct told want = score_passive_naive(&x, p.theta),
				  got = told_by(&algo_score_passive, &p, &x);
		assert_true(want.n > 0);
		assert_told(&got, &want, run);
		telemetry_rig_close(&x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(votes_are_as_tallied_anew),
	    cmocka_unit_test(defaults_are_thresholds_of_their_own),
	    cmocka_unit_test(it_is_algorithm_1_with_exact_removal),
	    cmocka_unit_test(score_passive_is_as_summed_anew),
	    cmocka_unit_test(a_packet_that_was_delivered_counts),
	};
	return cmocka_run_group_tests_name("algos/rivals/vote_flock", tests,
	    NULL, NULL);
}
