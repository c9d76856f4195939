/* experiments/arena/suite.h -- which faults, networks and telemetries there are.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each family of faults is a spec beside this file, of that name, whose sweep has
 * a network of each kind in `sweep.zip.topology`. A size puts others in their
 * place, and says how many runs. Names may not change, nor what a size and a family
 * are, without a new XP_ARENA_VERSION.
 */
#ifndef EXPERIMENTS_ARENA_SUITE_H
#define EXPERIMENTS_ARENA_SUITE_H

#include <stddef.h>
#include <stdint.h>

#define XP_ARENA_VERSION 2

extern const char *const xp_arena_families[]; /* ends with NULL */

struct xp_arena_telemetry {
	const char *name; /* also of files */
	const char *set;  /* an assignment */
	unsigned kinds;   /* of enum obs_telemetry */
};
extern const struct xp_arena_telemetry xp_arena_telemetries[]; /* likewise */

/* An assignment: when else than at a window's end algorithms are asked. */
#define XP_ARENA_EARLY "telemetry.early.halvings=4"

struct xp_arena_size {
	const char *name;
	uint32_t runs;
	const char *topologies; /* an assignment */
	const char *one_rack;   /* likewise: of all racks one is busy */
};
extern const struct xp_arena_size xp_arena_sizes[]; /* likewise */

/* Algorithms that take part where none are named, if there are such: those that
 * accuse; and NAME_tuned with the values that tuned.tsv has, if it has any. */
extern const char *const xp_arena_algorithms[];

/* The seed that a phrase stands for: 48 bits of its hash, so that every program
 * reads it back equal. */
uint64_t xp_arena_seed(const char *phrase);

#endif
