/* tests/algos/rivals/flock_test.c -- Flock against its likelihood, written out.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/rivals/flock.h"

#include "algos/rivals/flock_model.h"
#include "tests/rigs/flock_value.h"
#include "tests/rigs/telemetry_rig.h"
#include "tests/test.h"

static const struct algo_flock_params flock_some = {.p_bad = .004,
    .p_good = .0002,
    .prior = -10,
    .switches = 1,
    .beam = 1};

/* Have all rows go between two ToRs and send much. */
static void be_of_one_set(struct obs_tallies *t)
{
	for (size_t i = 0; i < t->n; i++) {
		t->set[i] = t->set[0];
		t->n_sent[i] = 5000;
	}
}

/* After each of some joins, by chance or by what gains most, all gains are the
 * differences that they should be; FLOWS of each host, also where they are more
 * in one set than a double holds the product of. */
static void gains_are_differences(unsigned kinds, uint32_t flows, uint32_t run)
{
	struct telemetry_rig x;
	struct sim_rng r;
	struct flock_model m = {0};
	uint8_t *in;
	telemetry_rig_open(&x, 4, 1e-3, kinds, run);
	x.p.flows = flows;
	telemetry_rig_draw(&x);
	if (flows > 12)
		be_of_one_set(&x.t.rows);
	test_rng(&r, run);
	m.topo = &x.topo;
	assert_ok(flock_model_read(&m, &x.w, &flock_some, test_err()));
	in = calloc(m.n_parts, 1);
	assert_non_null(in);
	for (unsigned step = 0; step < 4; step++) {
		const double have =
		    flock_value(&x.topo, &x.t.rows, &flock_some, in);
		uint32_t best = 0;
		for (uint32_t c = 0; c < m.n_parts; c++) {
			if (in[c])
				continue;
			in[c] = 1;
			const double want =
			    flock_value(&x.topo, &x.t.rows, &flock_some, in) -
			    have;
			in[c] = 0;
			if (fabs(m.gain[c] - want) > 1e-7 * (1 + fabs(have)))
				fail_msg("kinds %u, run %u, step %u: component "
					 "%u adds %.12g, wanted %.12g",
				    kinds, run, step, c, m.gain[c], want);
			if (in[best] || m.gain[c] > m.gain[best])
				best = c;
		}
		if (step % 2)
			do
				best = sim_rng_below(&r, m.n_parts);
			while (in[best]);
		flock_model_join(&m, best);
		in[best] = 1;
	}
	free(in);
	flock_model_free(&m);
	telemetry_rig_close(&x);
}

static void gains_are_differences_of_the_likelihood(void **state)
{
	(void)state;
	const unsigned kinds[] = {OBS_TELE_INT, OBS_TELE_A1, OBS_TELE_A2,
	    OBS_TELE_P, OBS_TELE_A2 | OBS_TELE_P,
	    OBS_TELE_A1 | OBS_TELE_A2 | OBS_TELE_P, OBS_TELE_A1 | OBS_TELE_P};
	for (uint32_t run = 0; run < 21; run++)
		gains_are_differences(kinds[run % 7], 12, run);
	gains_are_differences(OBS_TELE_P, 125, 0);
}

/* --- the search, of values written out ------------------------------------- */

enum { REF_PARTS = 128, REF_BEAM = 6 };

/* Of equals any may be kept. A greedy answer is held to that at each step. With a beam
 * sets are told apart by so much, by chance, again and again until that gives the
 * answer; where there are so many orders that it does not in REF_SALTS times, nothing is
 * compared. If no order in REF_SURE times changes the answer, there is one. */
#define REF_NEAR 1e-6
enum { REF_SALTS = 20, REF_SURE = 200 };

struct ref_set {
	uint8_t in[REF_PARTS];
	double value;
};
struct ref_search {
	const struct telemetry_rig *x;
	struct algo_flock_params p;
	uint32_t n_parts;
	struct ref_set stage[REF_BEAM], next[REF_BEAM * REF_BEAM];
	size_t n, n_next;
	struct sim_rng by_chance;
	double apart[REF_PARTS];
};

static int ref_by_value(const void *a, const void *b)
{
	const struct ref_set *x = a, *y = b;
	return (x->value < y->value) - (x->value > y->value);
}

static double ref_value(const struct ref_search *s, const uint8_t in[])
{
	const uint32_t n_links = s->x->topo.n_links;
	double sum = flock_value(&s->x->topo, &s->x->t.rows, &s->p, in);
	for (uint32_t c = 0; c < s->n_parts; c++)
		sum += in[c] ? s->p.prior * (c < n_links ? 1 : 5) + s->apart[c]
			     : 0;
	return sum;
}

/* The best extensions of FROM, as many as the beam has, to NEXT. */
static void ref_extend(struct ref_search *s, const struct ref_set *from)
{
	struct ref_set all[REF_PARTS];
	size_t n = 0;
	for (uint32_t c = 0; c < s->n_parts; c++) {
		if (from->in[c])
			continue;
		all[n] = *from;
		all[n].in[c] = 1;
		all[n].value = ref_value(s, all[n].in);
		n++;
	}
	qsort(all, n, sizeof(all[0]), ref_by_value);
	for (size_t i = 0; i < n && i < s->p.beam; i++)
		s->next[s->n_next++] = all[i];
}

/* The next stage in NEXT, best first, each set once. */
static void ref_stage(struct ref_search *s)
{
	size_t n = 0;
	s->n_next = 0;
	for (size_t i = 0; i < s->n; i++)
		ref_extend(s, &s->stage[i]);
	qsort(s->next, s->n_next, sizeof(s->next[0]), ref_by_value);
	for (size_t i = 0; i < s->n_next && n < s->p.beam; i++) {
		int known = 0;
		for (size_t k = 0; k < n; k++)
			known |= memcmp(s->next[k].in, s->next[i].in,
				     s->n_parts) == 0;
		if (!known)
			s->next[n++] = s->next[i];
	}
	s->n_next = n;
}

/* *BEST is the value that the search ends with, and IN the union of the sets that
 * are as good. */
static void ref_run(struct ref_search *s, double *best, uint8_t in[])
{
	for (uint32_t c = 0; c < s->n_parts; c++)
		s->apart[c] = REF_NEAR * sim_rng_u01(&s->by_chance);
	s->n = 1;
	s->stage[0] = (struct ref_set){0};
	for (ref_stage(s); s->next[0].value > s->stage[0].value; ref_stage(s)) {
		s->n = s->n_next;
		memcpy(s->stage, s->next, s->n * sizeof(s->next[0]));
	}
	memset(in, 0, s->n_parts);
	*best = s->stage[0].value;
	for (size_t k = 0; k < s->n; k++)
		for (uint32_t c = 0;
		     c < s->n_parts && *best - s->stage[k].value <= s->p.tie;
		     c++)
			in[c] |= s->stage[k].in[c];
}

/* What the best of all parts that are not IN adds. */
static double ref_best(const struct ref_search *s, uint8_t in[])
{
	const double have = ref_value(s, in);
	double best = -INFINITY;
	for (uint32_t c = 0; c < s->n_parts; c++)
		if (!in[c]) {
			in[c] = 1;
			best = fmax(best, ref_value(s, in) - have);
			in[c] = 0;
		}
	return best;
}

/* Each part of V adds as much as any other would, or they are equals, and beside all
 * of them nothing adds. */
static void ref_is_greedy(const struct ref_search *s,
    const struct algo_verdicts *v, const char *what)
{
	const double near = 1e-5;
	uint8_t in[REF_PARTS] = {0};
	for (size_t i = 0; i < v->n_flagged; i++) {
		const double have = ref_value(s, in), best = ref_best(s, in);
		in[v->link[i]] = 1;
		const double adds = ref_value(s, in) - have;
		if (!(adds > -near && fabs(adds - best) < near &&
			fabs(adds - v->score[i]) < near))
			fail_msg("%s: %u adds %.9g and says %.9g, the best "
				 "%.9g",
			    what, v->link[i], adds, v->score[i], best);
	}
	if (!(ref_best(s, in) < near))
		fail_msg("%s: something adds to %zu", what, v->n_flagged);
}

/* What V accuses is what the search ends with, for some order of equals; returns
 * whether it can be said. */
static int ref_is_of_beam(struct ref_search *s, const struct algo_verdicts *v,
    const char *what)
{
	uint8_t first[REF_PARTS], want[REF_PARTS], got[REF_PARTS] = {0};
	int differ = 0;
	double best;
	for (size_t i = 0; i < v->n_flagged; i++)
		got[v->link[i]] = 1;
	for (int i = 0; i < (differ ? REF_SALTS : REF_SURE); i++) {
		ref_run(s, &best, want);
		if (memcmp(got, want, s->n_parts) == 0)
			return 1;
		if (i == 0)
			memcpy(first, want, s->n_parts);
		differ |= memcmp(first, want, s->n_parts) != 0;
	}
	if (!differ)
		fail_msg("%s: other sets, of %zu in all", what, v->n_flagged);
	return 0;
}

static void search_is_as_written_out(unsigned kinds, uint32_t run,
    uint32_t beam, size_t *n_compared)
{
	struct algo_flock_params asked;
	struct telemetry_rig x;
	static struct ref_search s;
	struct algo_verdicts v = {0};
	char what[64];
	void *work;
	assert_ok(sim_field_defaults(algo_flock.params, &asked, test_err()));
	asked.beam = beam;
	telemetry_rig_open(&x, 4, 1e-4, kinds, run);
	x.p.flows = 30;
	x.p.probe_packets = 200;
	telemetry_rig_fail(&x, 3 + run % 29, 0.06);
	telemetry_rig_fail(&x, 40 + 2 * run, 0.04);
	telemetry_rig_fail(&x, 41 + (2 * run + 17) % 54, 0.05);
	telemetry_rig_draw(&x);
	s = (struct ref_search){.x = &x,
	    .n_parts = x.topo.n_links + x.topo.n_switches};
	assert_true(s.n_parts <= REF_PARTS);
	test_rng(&s.by_chance, run);
	assert_ok(flock_model_params(&asked, kinds, &s.p, test_err()));
	assert_ok(algo_open(&algo_flock, &work, &x.topo, &asked, test_err()));
	assert_ok(algo_flock.diagnose(work, &x.w, NULL, &v, test_err()));
	snprintf(what, sizeof(what), "kinds %u, run %u, beam %u", kinds, run,
	    beam);
	if (beam == 1)
		ref_is_greedy(&s, &v, what);
	*n_compared +=
	    v.n_flagged > 0 && (beam == 1 || ref_is_of_beam(&s, &v, what));
	algo_close(&algo_flock, work);
	algo_verdicts_free(&v);
	telemetry_rig_close(&x);
}

static void the_search_is_as_of_values_written_out(void **state)
{
	const unsigned kinds[] = {OBS_TELE_INT, OBS_TELE_A1, OBS_TELE_A2,
	    OBS_TELE_P, OBS_TELE_A2 | OBS_TELE_P,
	    OBS_TELE_A1 | OBS_TELE_A2 | OBS_TELE_P, OBS_TELE_A1 | OBS_TELE_P};
	(void)state;
	for (unsigned k = 0; k < 7; k++) {
		size_t n = 0;
		for (uint32_t run = k; run < 21; run += 7) {
			search_is_as_written_out(kinds[k], run, 1, &n);
			search_is_as_written_out(kinds[k], run, REF_BEAM, &n);
		}
		assert_in_range(n, 4, 6);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(gains_are_differences_of_the_likelihood),
	    cmocka_unit_test(the_search_is_as_of_values_written_out),
	};
	return cmocka_run_group_tests_name("algos/rivals/flock", tests, NULL,
	    NULL);
}
