/* experiments/cluster/shards.h -- what has become of each shard of a plan.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_CLUSTER_SHARDS_H
#define EXPERIMENTS_CLUSTER_SHARDS_H

#include "experiments/cluster/engine.h"
#include "results/shards.h"

struct xp_shards {
	const struct xp_plan *plan; /* borrowed, as FOLDER */
	const char *folder;
	struct res_shard_state *state; /* [n_shards], as last read */
	uint64_t n_cells;              /* of the sweep; 0: not known yet */
	uint8_t *held;                 /* [n_shards]: a process has it now */
	struct xp_queue queue;
};

/* Errors SIM_ENOMEM. Free is safe on zeros. */
int xp_shards_init(struct xp_shards *s, const struct xp_plan *p,
    const char *folder, struct sim_err *e);
void xp_shards_free(struct xp_shards *s);

/* Read those that were not done when last read; a file that can't be read is
 * none. WHOLE, which may be NULL, is any shard of the sweep that they must be
 * of. Cost: that of reading their files. Errors SIM_EMISMATCH naming a file of
 * another sweep; SIM_ENOMEM. */
int xp_shards_read(struct xp_shards *s, const struct res_cube *whole,
    struct sim_err *e);

/* Ask who is at work: `held` by the locks, `queue` by the engine. Errors those
 * of the engine's ask(). */
int xp_shards_ask(struct xp_shards *s, struct sim_err *e);

/* Held, waiting or at work, as asked last; with the merge. */
uint32_t xp_shards_n_busy(const struct xp_shards *s);

/* Cells that are done, failed or crashed, about: journals are taken by their
 * size. Cost O(shards). */
struct res_progress xp_shards_about(const struct xp_shards *s);

enum xp_shard_is {
	XP_SHARD_DONE,    /* all its cells are */
	XP_SHARD_RUNNING, /* a process has it, or a job is about to */
	XP_SHARD_QUEUED,
	XP_SHARD_FAILED, /* neither, and cells are left to do or failed */
	XP_SHARD_MISSING /* neither, and there is no file */
};
enum xp_shard_is xp_shard_is(const struct xp_shards *s, uint32_t i);

/* All its cells have been tried. */
int xp_shard_is_settled(const struct xp_shards *s, uint32_t i);

#endif
