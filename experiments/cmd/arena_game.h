/* experiments/cmd/arena_game.h -- who meets whom in the arena, and on what.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_CMD_ARENA_GAME_H
#define EXPERIMENTS_CMD_ARENA_GAME_H

#include "experiments/arena/suite.h"
#include "experiments/arena/tuned.h"
#include "experiments/cmd/option.h"
#include "experiments/plug/plug.h"
#include "experiments/spec/spec.h"

enum { ARENA_MAX_ALGOS = 32, ARENA_MAX_SET = 64, ARENA_TEXT = 4096 };

struct cmd_arena_algo {
	const char *text; /* as in a spec; within the list */
	char label[64];
	char rival[64]; /* with its tuned values, of each telemetry; or "" */
	unsigned needs;
	double most_s; /* of CPU, for a window so far */
	int slow;      /* too slow for larger networks */
};

struct cmd_arena_game {
	/* As asked for; lists may be NULL. */
	const char *algorithms, *families, *telemetries;
	const struct cmd_set *set;
	const struct xp_arena_size *size;
	uint64_t seed;
	int tunes; /* 1: to find values, and none are read */

	char list[ARENA_TEXT];
	struct cmd_arena_algo algo[ARENA_MAX_ALGOS];
	size_t n_algos;
	struct plug_set *plugs; /* those from outside */
	struct xp_arena_tuned tuned;
};

/* Read all lists. Errors of what is asked for, SIM_ENOMEM. G is to be closed
 * either way. */
int cmd_arena_game_open(struct cmd_arena_game *g, struct sim_err *e);
void cmd_arena_game_close(struct cmd_arena_game *g);

/* Does it take part with that telemetry? */
int cmd_arena_reads(const struct cmd_arena_game *g, size_t algo,
    size_t telemetry);

/* Whether that telemetry is asked for and any algorithm can use what it has; and
 * the family. */
int cmd_arena_is_read(const struct cmd_arena_game *g, size_t telemetry);
int cmd_arena_is_due(const struct cmd_arena_game *g, size_t family,
    size_t telemetry);

/* Load the spec of FAMILY, of that size, with the seed; ALGORITHMS, an assignment,
 * NULL being that of all who take part. Who tunes has another seed for each family,
 * which follows from G's: families that share one share which links fail, so that few
 * runs would be but a few faults. */
int cmd_arena_load(const struct cmd_arena_game *g,
    const struct xp_arena_size *size, size_t family, size_t telemetry,
    const char *algorithms, struct xp_spec *s, struct sim_err *e);

#endif
