/* algos/sieve/sieve_gain.h -- what the likelihood gains where one or two links fail.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Internal to Sieve. Only rows that those links are on, or may have been, change
 * theirs, which are read once and then asked at as many hazards as one likes.
 */
#ifndef ALGOS_SIEVE_SIEVE_GAIN_H
#define ALGOS_SIEVE_SIEVE_GAIN_H

#include "algos/sieve/sieve_model.h"

enum { SIEVE_PAIR = 2 };

/* A lossy row by what it crossed: a bit for each link, and n lost. */
struct sieve_gain_row {
	double ic; /* of all else on its way */
	uint32_t n, on;
};

/* A row that is seen because it lost something: shares of its ways that cross each
 * link, and both, of those that nothing else took. */
struct sieve_gain_choice {
	double s, healthy; /* packets; exp(-s L) of a healthy way */
	double left, over[SIEVE_PAIR], both;
};

/* Zeroed is empty. */
struct sieve_gain {
	uint32_t n; /* links */
	double level, kept[SIEVE_PAIR];
	size_t n_rows, n_choices, cap_rows, cap_choices;
	struct sieve_gain_row *row;
	struct sieve_gain_choice *choice;
};
void sieve_gain_free(struct sieve_gain *g);

/* Read what N different links of M have, all at the level, the paths of all lossy rows
 * being known, and all rows seen; or those that lost something by a pass that is of
 * the present hazards. Errors SIM_ENOMEM. Cost O(their rows * hops), and of rows that
 * are seen by choice O(those * paths of a set). */
int sieve_gain_read(struct sieve_gain *g, const struct sieve_model *m,
    const topo_link link[], uint32_t n, struct sim_err *e);

/* ln of the likelihood with them at HAZARD less that at the level. Cost O(rows read). */
double sieve_gain_at(const struct sieve_gain *g, const double hazard[]);

#endif
