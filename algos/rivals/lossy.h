/* algos/rivals/lossy.h -- rows that lost something, by what they crossed.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For who accuses one component at a time and takes away the rows that it
 * explains. Only rows with a path are here, since others crossed nothing for sure.
 */
#ifndef ALGOS_RIVALS_LOSSY_H
#define ALGOS_RIVALS_LOSSY_H

#include "algos/rivals/ways.h"
#include "models/obs_tallies.h"

/* Components of a row at most: two cables, links, and switches. */
#define ALGO_LOSSY_PARTS (2 + 2 * TOPO_MAX_HOPS + 1)

/* Zeroed is empty. */
struct algo_lossy {
	const struct algo_ways *ways;
	const struct obs_tallies *rows;
	size_t n, cap_row, cap_gone;
	uint32_t *row; /* [n] of the table */
	uint8_t *gone; /* [n] 1: taken away */

	/* Those over component c are over[begin[c]] and so on, by their place
	 * in row[]. */
	uint32_t *begin, *over;
	size_t cap_begin, cap_over;
};
void algo_lossy_free(struct algo_lossy *x);

/* Take of T the rows i with TAKE[i], or with TAKE NULL those of no probes, if they
 * lost something and have a path. W is up to date with the paths and is borrowed,
 * as T is. N_PARTS: components of the network. Errors SIM_ENOMEM. Cost O(rows +
 * components of those that lost something). */
int algo_lossy_read(struct algo_lossy *x, const struct algo_ways *w,
    const struct obs_tallies *t, const uint8_t take[], uint32_t n_parts,
    struct sim_err *e);

/* Take row K away: 1, or 0 if it was away before. */
int algo_lossy_take(struct algo_lossy *x, size_t k);

/* Components that row K of X crossed, cables first. */
unsigned algo_lossy_parts(const struct algo_lossy *x, size_t k,
    uint32_t part[ALGO_LOSSY_PARTS]);

#endif
