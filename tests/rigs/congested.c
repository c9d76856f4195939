/* tests/rigs/congested.c -- what two flows lose in full ports, in closed form.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/congested.h"

#include <math.h>

#include "models/dist.h"

/* E[(1 - (1 - R)^n)(1 - (1 - R)^m)], m = 0 for one flow alone. */
static double congested_both_lose(const struct sim_dist *d, unsigned n,
    unsigned m)
{
	enum { STEPS = 20000 };
	double sum = 0;
	for (unsigned i = 0; i < STEPS; i++) {
		const double r = dist_at(d, (i + 0.5) / STEPS);
		sum += (1 - pow(1 - r, n)) * (m ? 1 - pow(1 - r, m) : 1);
	}
	return sum / STEPS;
}

void congested_law(const struct scene_congestion_params *p, const double q[2],
    const struct congested_pair *x, int one_rack, double want[4])
{
	const double s = fmax(0, 1 - (double)x->d / (p->burst_ms * 1e6));
	const double b = p->busy,
		     g[2] = {congested_both_lose(&p->loss, x->n, 0),
			 congested_both_lose(&p->loss, x->m, 0)};
	const double one[2] = {p->racks * b * q[0] * g[0],
	    p->racks * b * q[1] * g[1]};
	double both = one[0] * one[1];
	if (one_rack && x->a == x->b)
		both = p->racks * b * q[0] *
		    (s * congested_both_lose(&p->loss, x->n, x->m) +
			(1 - s) * b * q[0] * g[0] * g[1]);
	else if (one_rack)
		both = p->racks * b * q[0] * q[1] * (s + (1 - s) * b) * g[0] *
		    g[1];
	want[0] = 1 - one[0] - one[1] + both;
	want[1] = one[1] - both;
	want[2] = one[0] - both;
	want[3] = both;
}
