/* algos/sieve/sieve_ways.h -- flows of no known path where something failed.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Internal to Sieve. Of a row of no known path that lost r packets, `kept` others
 * having arrived,
 *
 *	L = mean over paths of (1 - e^-sum)^r e^(-kept sum)
 *
 * Where all links of a set and of the row's cables are healthy, cells say that
 * (algos/sieve/sieve_cells.h). Rows for which that does not hold are evaluated
 * here, over the paths of their set, grouped by what failed on them: those that
 * lost something one by one, others by their sizes. DEPARTS: of paths that exceed
 * by more different sums than SIEVE_GROUPS those whose sums are within a factor of
 * exp(.54), as points of the grid are, count with their mean. That takes many
 * failures on one set, and the likelihood would cost as many groups as paths.
 */
#ifndef ALGOS_SIEVE_SIEVE_WAYS_H
#define ALGOS_SIEVE_SIEVE_WAYS_H

#include <stddef.h>
#include <stdint.h>

#include "algos/sieve/sieve_lanes.h"
#include "sim/err.h"
#include "topo/ids.h"

struct sieve_model;

enum { SIEVE_GROUPS = 16, SIEVE_MEMOS = 1024 };

/* Paths that exceed those of healthy links by as much, with and without the link
 * that is asked for. */
struct sieve_group {
	double excess;
	uint32_t with, without;
};

/* Zeroed is empty. */
struct sieve_ways {
	uint32_t *off;   /* [n_sets + 2] lossy rows of set s, by their places */
	uint32_t *row;   /* in the model's list */
	uint32_t *n_odd; /* [n_sets] links that are not at the level */
	size_t cap_off, cap_row, cap_odd;
	double *survive; /* [n_lossy * SIEVE_GRID] of what arrived at x[g] */
	size_t cap_survive;
	double all[SIEVE_GRID]; /* 1 everywhere */

	/* Of a set its groups of paths, 0: not known. What they exceed by, and
	 * which a path is of. */
	uint8_t *n_groups, *group_of; /* [n_sets], [paths] */
	double *excess;               /* [n_sets * SIEVE_GROUPS] */
	uint64_t *paths; /* likewise: bits of paths, if there are 64 at most */
	struct sieve_group *group; /* scratch: [SIEVE_GROUPS] */
	size_t cap_n_groups, cap_group_of, cap_excess, cap_paths, cap_group;

	/* What was found for others of a class whose sets fall into the same
	 * groups: by a hash, in which is how often hazards have changed. */
	struct sieve_memo {
		uint64_t key; /* 0: none */
		double curve[SIEVE_GRID];
	} * memo; /* [SIEVE_MEMOS] */
	uint64_t n_changes;
	size_t cap_memo;
};
void sieve_ways_free(struct sieve_ways *w);

/* Sort the lossy rows of a model by set. Errors SIM_ENOMEM. */
int sieve_ways_read(struct sieve_model *m, struct sim_err *e);

/* All of what is odd anew, from the hazards. */
void sieve_ways_count(struct sieve_model *m);

/* LINK became odd (SIGN 1) or is no more (-1). */
void sieve_ways_turn(struct sieve_model *m, topo_link link, int sign);

/* The hazard of LINK changed. */
void sieve_ways_change(struct sieve_model *m, topo_link link);

/* Add to ELL what rows say of LINK beside cells and plain rows. Cost O(sets over
 * it), and O(paths + rows * SIEVE_GRID) of those with an odd link. */
void sieve_ways_curve(const struct sieve_model *m, topo_link link,
    double ell[]);

/* ln of the likelihood of a row that lost LOST and kept KEPT, by the hazards as
 * they are. Domain as below. Cost O(paths of its set). */
double sieve_ways_plain(const struct sieve_model *m, uint32_t lossy,
    double lost, double kept);

/* The share of the lossy row's hazard that healthy links have. Domain a row of no
 * known path. */
double sieve_ways_healthy(const struct sieve_model *m, uint32_t lossy);

#endif
