/* tests/rigs/congested.h -- what two flows lose in full ports, in closed form.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TESTS_CONGESTED_H
#define TESTS_CONGESTED_H

#include "models/scene/congestion.h"

/* Of N packets at T through port A, and of M at T + D through B. */
struct congested_pair {
	topo_link a, b;
	sim_ns t, d;
	unsigned n, m;
};

/* Cells [the first loses something][the second does], by the formulas of
 * models/scene/congestion.h; Q are `ports` or `uplinks` of A and B. */
void congested_law(const struct scene_congestion_params *p, const double q[2],
    const struct congested_pair *x, int one_rack, double want[4]);

#endif
