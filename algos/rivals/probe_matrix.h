/* algos/rivals/probe_matrix.h -- few paths that cover links and tell them apart.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Paths are chosen one at a time, each time the one with the least
 *
 *	sum of w(l) over its links - sets of links that it splits
 *
 * w(l) being how many chosen ones cross l, and a set being links that the same
 * chosen ones cross: all links at first. A path is of no use if each of its links
 * has been crossed `cover` times and it splits nothing. As w only grows and sets
 * only shrink, no path's value ever falls, so that values are found again only
 * when a path is about to be chosen.
 *
 * When no path is of use each link is crossed `cover` times, or by all paths
 * there are, and any two links that some path tells apart are told apart: one
 * failed link is identified as far as the paths can.
 *
 * Of equals the first row is chosen: DEPARTS: there is no rule for them. DEPARTS:
 * of identifiability only that of one failure; more take virtual links for each
 * set of links, whose number is that of pairs.
 *
 * Paper  deTector (ATC'17), its probe matrix construction, as recalled and not
 *        confirmed.
 */
#ifndef ALGOS_RIVALS_PROBE_MATRIX_H
#define ALGOS_RIVALS_PROBE_MATRIX_H

#include "algos/rivals/ways.h"
#include "models/obs_tallies.h"

struct algo_probe_option {
	int64_t value;
	uint32_t row;
};

/* Zeroed is empty; kept from one choice to the next. */
struct algo_probe_matrix {
	const struct algo_ways *ways;
	const struct obs_tallies *rows;
	uint32_t *weight, *set; /* [links] */
	uint32_t *size;         /* [links] of each set */
	uint32_t n_sets;
	size_t cap_weight, cap_set, cap_size;
	struct algo_probe_option *heap; /* the least value first */
	size_t n, cap_heap;
};
void algo_probe_matrix_free(struct algo_probe_matrix *m);

/* Of the rows i of T with TAKE[i], whose paths are known, leave TAKE at 1 for the
 * chosen ones. W is up to date with their paths, without switches. Errors
 * SIM_ENOMEM. Cost O(rows * length^2 * log rows) and, mostly few, values found
 * again. */
int algo_probe_matrix_choose(struct algo_probe_matrix *m,
    const struct algo_ways *w, const struct obs_tallies *t, uint32_t n_links,
    uint32_t cover, uint8_t take[], struct sim_err *e);

#endif
