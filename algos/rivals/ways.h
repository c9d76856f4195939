/* algos/rivals/ways.h -- paths as the components that they cross.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A component is a directed link, by its id, or a switch s: n_links + s, as in
 * verdicts of both kinds. A path crosses its links and all switches on it, those
 * of its ends too; hosts' cables are of flows.
 */
#ifndef ALGOS_RIVALS_WAYS_H
#define ALGOS_RIVALS_WAYS_H

#include "models/obs_paths.h"

/* Zeroed is empty; kept from one window to the next. */
struct algo_ways {
	const struct obs_paths *of; /* borrowed, of the last window */
	uint32_t n_cleared;
	size_t n, cap, cap_part;
	uint32_t *off;  /* [n + 1]; path p crosses part[off[p]] and so on */
	uint32_t *part; /* links in the order of the way, then switches */

	/* Of each set the components that any of its paths crosses, each once,
	 * and how many of them do. */
	size_t n_sets, cap_sets, cap_set_part, cap_count;
	uint32_t *set_off; /* [n_sets + 1] */
	uint32_t *set_part, *set_count;
	uint32_t *seen; /* [components] scratch, all 0 */
	size_t cap_seen;
};
void algo_ways_free(struct algo_ways *w);

/* Bring W up to date with the paths P of T; sets too with SETS. SWITCHES: as
 * components as well, or links alone, which must be the same at each call.
 * Errors SIM_ENOMEM. Cost O(what is new). */
int algo_ways_update(struct algo_ways *w, const struct topo *t,
    const struct obs_paths *p, int switches, int sets, struct sim_err *e);

#endif
