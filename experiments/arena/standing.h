/* experiments/arena/standing.h -- what the arena came to, as a table to be kept.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * DIR/standing.tsv is such a table as results/expected/FIGURE.tsv
 * (experiments/check/expected_table.h): by family and telemetry, and of all
 * families together, each algorithm's scores; of all families also what the
 * telemetry costs, and how many windows were answered; of a family that only where
 * not all were. An error of stated chances, ece, has components as trials. `culprit verify` compares it with results/expected/arena.tsv.
 * Its first line also has the build that made it, and the answer in words.
 */
#ifndef EXPERIMENTS_ARENA_STANDING_H
#define EXPERIMENTS_ARENA_STANDING_H

#include <stdio.h>

#include "experiments/arena/score.h"

struct xp_arena_head {
	const char *size;
	uint64_t seed;
	uint64_t made_of; /* of all its sweeps, see xp_arena_made_of() */
};

/* What it was made of, if it had been made of H and then of the sweep C; from 0
 * on. */
uint64_t xp_arena_made_of(uint64_t h, const struct res_cube *c);

/* The answer in words, of a few lines' length: who is best, and who of those that
 * are shown to be hardly worse needs least telemetry. "" if nobody has an F. */
enum { XP_ARENA_ANSWER = 512 };
void xp_arena_answer(const struct xp_arena_standing *s,
    char text[XP_ARENA_ANSWER]);

/* Errors SIM_ENOMEM. */
int xp_arena_print_standing(const struct xp_arena_standing *s,
    const struct xp_arena_head *h, FILE *out, struct sim_err *e);

#endif
