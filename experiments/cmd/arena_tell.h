/* experiments/cmd/arena_tell.h -- what the arena came to: printed, written.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_CMD_ARENA_TELL_H
#define EXPERIMENTS_CMD_ARENA_TELL_H

#include "experiments/arena/ranks.h"
#include "experiments/arena/standing.h"
#include "experiments/arena/tuned.h"

/* All that sweeps came to. */
struct cmd_arena_told {
	const char *dir, *size, *phrase;
	uint64_t made_of;  /* see experiments/arena/standing.h */
	unsigned n_failed; /* cells, or one's answers in them */
	size_t n_lost;     /* rows without any answer */
	struct xp_arena_standing standing; /* summed */
	struct xp_arena_ranks ranks;
	const struct xp_arena_tuned *tuned; /* empty: nobody was */
	char *cpu;                          /* cpu.csv */
	size_t n_cpu;
};

/* The table that people read, to stdout. Errors SIM_ENOMEM. */
int cmd_arena_print(const struct cmd_arena_told *x, struct sim_err *e);

/* All tables of DIR; standing.tsv if no cell was lost, and else there is none.
 * Errors SIM_EIO, SIM_ENOMEM. */
int cmd_arena_write(const struct cmd_arena_told *x, struct sim_err *e);

#endif
