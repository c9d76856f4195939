/* algos/vigil/common.c -- votes of one window, counted once for several.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/vigil/common.h"

#include <string.h>

int algo_common_count(struct algo_common *c, struct algo_tally *t,
    const struct obs *w, int keeps, struct sim_err *e)
{
	if (c && c->tally && c->w == w && c->tally->n_links == t->n_links)
		return algo_tally_copy(t, c->tally, e);
	const int rc = algo_tally_count(t, w, e);
	if (rc == 0 && c && keeps)
		*c = (struct algo_common){.w = w, .tally = t};
	return rc;
}

/* Ties that are broken at random are of each algorithm's own stream. */
static int common_is_alike(const struct algo_common *c,
    const struct algo_blame *how, const struct obs *w)
{
	return c && c->how && c->w == w && how->tie != ALGO_TIE_RANDOM &&
	    c->how->tie == how->tie && c->how->noise == how->noise &&
	    c->how->noise_floor == how->noise_floor;
}

int algo_common_blame(struct algo_common *c, const struct algo_blame *how,
    const struct algo_tally *t, const struct obs *w, struct sim_rng *tie,
    int keeps, struct algo_verdicts *out, struct sim_err *e)
{
	int rc;
	if (!common_is_alike(c, how, w)) {
		rc = algo_blame_by_votes(how, t, w, tie, out, e);
		if (rc == 0 && keeps && c && c->tally == t) {
			c->how = how;
			c->blamed = out;
		}
		return rc;
	}
	const size_t n = c->blamed->n_flows;
	if ((rc = algo_verdicts_reserve_flows(out, n, e)) == 0 && n > 0)
		memcpy(out->blame, c->blamed->blame, n * sizeof(*out->blame));
	return rc;
}
