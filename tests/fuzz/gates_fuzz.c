/* tests/fuzz/gates_fuzz.c -- any text as a file of gates, with any --set.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A gate that is taken is given runs of all kinds: it comes to a verdict or to
 * its last run, counts no success that was no trial, and takes nothing after.
 */
#include <math.h>
#include <string.h>

#include "experiments/check/gate.h"
#include "results/schema.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/spec_input.h"

enum { MOST_RUNS = 64 };

/* Rows in which every number is the same. */
static void check_gate(const struct xp_gate *g, size_t n_algos)
{
	static const double value[] = {0, 1, NAN, 3, 0.5, 1e300};
	const size_t n = res_row_doubles(n_algos);
	double *row = malloc(n * sizeof(row[0]));
	struct xp_gate_state s;
	must(row != NULL && g->algo < (n_algos > 0 ? n_algos : 1));
	xp_gate_begin(g, &s);
	for (size_t run = 0; run < MOST_RUNS && xp_gate_open(g, &s); run++) {
		const struct xp_gate_state was = s;
		for (size_t i = 0; i < n; i++)
			row[i] = value[run % 6];
		if (xp_gate_add(g, &s, row, NULL) == 0)
			must(s.n_runs == was.n_runs + 1);
		must(s.n_trials >= was.n_trials && s.n_good >= was.n_good);
		must(s.n_good <= s.n_trials && s.n_runs <= g->max_runs);
	}
	free(row);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static struct spec_input x;
	struct xp_gates g;
	struct sim_err e = {0};
	if (!spec_input_take(&x, bytes, n))
		return 0;
	const int rc = xp_gates_load(&g, SPEC_NAME, x.set, x.n_set, &e);
	struct xp_config c = {0};
	must(rc == 0 || e.msg[0] != '\0');
	if (rc == 0) {
		must(g.n > 0 && xp_spec_point(&g.spec, 0, &c, NULL) == 0);
		for (size_t i = 0; i < g.n; i++)
			check_gate(&g.gate[i], c.n_algos);
	}
	xp_config_free(&c);
	xp_gates_free(&g);
	return 0;
}
