/* experiments/arena/tuned.h -- values of rivals that do best on a training half.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * tuned.tsv beside this file is what `culprit arena --size m --tune` found: for each
 * telemetry and each algorithm that has parameters to tune (experiments/arena/tune.h)
 * the values of greatest F, in the mean over all families with a fault, each
 * counting alike. Its first line tells how it was made; then a line for each:
 *
 *	telemetry  algorithm
 *	entry      as in a spec, labelled ALGORITHM_tuned
 *	windows    with a fault, that were tuned on
 *	f_own      F there with the algorithm's own values
 *	f          and with these
 *
 * The seed of those runs follows from that of the judged ones, xp_tune_seed(), and
 * each family's from that, so that none is judged that was tuned on.
 */
#ifndef EXPERIMENTS_ARENA_TUNED_H
#define EXPERIMENTS_ARENA_TUNED_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/err.h"

#define XP_ARENA_TUNED "_tuned" /* what such labels end with */

struct xp_arena_tuned_row {
	size_t telemetry;
	const char *algorithm, *entry;
	double windows, f_own, f;
};

/* Zeroed is empty. */
struct xp_arena_tuned {
	unsigned version;
	char size[8];
	uint64_t seed; /* of the runs that were tuned on */
	unsigned runs, tries;
	size_t n, cap;
	struct xp_arena_tuned_row *row;
	char *text; /* what rows point into */
};
void xp_arena_tuned_free(struct xp_arena_tuned *t);

/* Take TEXT, which is T's from now on; NAME is its file's. Errors SIM_EPARSE,
 * naming the line; SIM_ENOMEM. */
int xp_arena_tuned_read(struct xp_arena_tuned *t, char *text, const char *name,
    struct sim_err *e);

/* The row, or NULL. */
const struct xp_arena_tuned_row *
xp_arena_tuned_find(const struct xp_arena_tuned *t, size_t telemetry,
    const char *algorithm);

void xp_arena_tuned_print(const struct xp_arena_tuned *t, FILE *out);

#endif
