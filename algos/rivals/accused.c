/* algos/rivals/accused.c -- blame of flows, by rows and components accused.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/rivals/accused.h"

/* How many paths of row I, of all that it may have taken, cross component C. */
static uint32_t accused_paths(const struct algo_ways *w,
    const struct obs_tallies *t, size_t i, uint32_t c)
{
	const struct obs_paths *p = t->paths;
	const int known = t->path[i] != OBS_NO_PATH;
	const uint32_t first = known ? t->path[i] : p->first[t->set[i]],
		       last = known ? first + 1 : p->first[t->set[i] + 1];
	uint32_t n = 0;
	if (t->up[i] == c || t->down[i] == c)
		return last - first;
	for (uint32_t k = w->off[first]; k < w->off[last]; k++)
		n += w->part[k] == c;
	return n;
}

int algo_accused_blame(const struct algo_ways *w, const struct obs *window,
    struct algo_verdicts *out, struct sim_err *e)
{
	const struct obs_tallies *t = window->tallies;
	const int rc = algo_verdicts_reserve_flows(out, window->flows.n, e);
	for (size_t i = 0; rc == 0 && i < t->n; i++) {
		uint32_t most = 0;
		for (size_t k = 0;
		     t->flow[i] != UINT32_MAX && k < out->n_flagged; k++) {
			const uint32_t n = accused_paths(w, t, i, out->link[k]);
			if (n > most) {
				most = n;
				out->blame[t->flow[i]] = out->link[k];
			}
		}
	}
	return rc;
}
