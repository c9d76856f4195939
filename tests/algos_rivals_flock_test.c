/* tests/algos_rivals_flock_test.c -- Flock against its likelihood, written out.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/rivals/flock.h"

#include "algos/rivals/flock_model.h"
#include "tests/telemetry_rig.h"
#include "tests/test.h"

/* --- the likelihood, as the paper has it ---------------------------------- */

static int path_is_hit(const struct topo *t, const struct obs_paths *p,
    uint32_t path, topo_switch begin, int switches, const uint8_t in[])
{
	int hit = switches && in[t->n_links + begin];
	for (uint32_t k = p->off[path]; k < p->off[path + 1]; k++) {
		topo_node from, to;
		topo_link_ends(t, p->link[k], &from, &to);
		hit |= in[p->link[k]] ||
		    (switches && in[t->n_links + to - t->n_hosts]);
	}
	return hit;
}

/* LL(H) - LL({}) of one row, H being IN. */
static double row_value(const struct topo *t, const struct obs_tallies *rows,
    size_t i, const struct algo_flock_params *p, const uint8_t in[])
{
	const struct obs_paths *x = rows->paths;
	const uint32_t set = rows->set[i];
	const int known = rows->path[i] != OBS_NO_PATH;
	const uint32_t first = known ? rows->path[i] : x->first[set],
		       last = known ? first + 1 : x->first[set + 1];
	double b = 0, w = 0;
	for (uint32_t k = first; k < last; k++, w++)
		b += (rows->up[i] != TOPO_NONE && in[rows->up[i]]) ||
		    (rows->down[i] != TOPO_NONE && in[rows->down[i]]) ||
		    path_is_hit(t, x, k, x->from[set], (int)p->switches, in);
	const double full = rows->n_lost[i] * log(p->p_bad / p->p_good) +
	    (rows->n_sent[i] - rows->n_lost[i]) *
		log((1 - p->p_bad) / (1 - p->p_good));
	return b == w ? full : log(1 - b / w + b / w * exp(full));
}

static double value_of(const struct topo *t, const struct obs_tallies *rows,
    const struct algo_flock_params *p, const uint8_t in[])
{
	double sum = 0;
	for (size_t i = 0; i < rows->n; i++)
		sum += row_value(t, rows, i, p, in);
	return sum;
}

static const struct algo_flock_params flock_some = {.p_bad = .004,
    .p_good = .0002,
    .prior = -10,
    .switches = 1,
    .beam = 1};

/* After each of some joins, by chance or by what gains most, all gains are the
 * differences that they should be. */
static void gains_are_differences(unsigned kinds, uint32_t run)
{
	struct telemetry_rig x;
	struct sim_rng r;
	struct flock_model m = {0};
	uint8_t *in;
	telemetry_rig_open(&x, 4, 1e-3, kinds, run);
	x.p.flows = 12;
	telemetry_rig_draw(&x);
	test_rng(&r, run);
	m.topo = &x.topo;
	assert_ok(flock_model_read(&m, &x.w, &flock_some, test_err()));
	in = calloc(m.n_parts, 1);
	assert_non_null(in);
	for (unsigned step = 0; step < 4; step++) {
		const double have =
		    value_of(&x.topo, &x.t.rows, &flock_some, in);
		uint32_t best = 0;
		for (uint32_t c = 0; c < m.n_parts; c++) {
			if (in[c])
				continue;
			in[c] = 1;
			const double want =
			    value_of(&x.topo, &x.t.rows, &flock_some, in) -
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
		gains_are_differences(kinds[run % 7], run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(gains_are_differences_of_the_likelihood),
	};
	return cmocka_run_group_tests_name("algos/rivals/flock", tests, NULL,
	    NULL);
}
