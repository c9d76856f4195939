/* tests/algos_rivals_flock_test.c -- Flock against its likelihood, written out.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/rivals/flock.h"

#include "algos/rivals/flock_model.h"
#include "tests/flock_value.h"
#include "tests/telemetry_rig.h"
#include "tests/test.h"

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
