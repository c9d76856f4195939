/* results/shards.h -- shards of one sweep, joined one after the other.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What shards hold is laid down by column in a scratch file without a name,
 * beside where the whole will be, so memory is that of one shard, and of one
 * column of the whole. What they lack is told in a fixed wording:
 *
 *	missing: 3/8, 7/8; not done: 5 of 20 cells of 2/8
 *
 * A cell that failed or crashed is done here: a plain run would have it too.
 */
#ifndef RESULTS_SHARDS_H
#define RESULTS_SHARDS_H

#include <stdint.h>

#include "results/cube.h"
#include "sim/err.h"

struct res_shards;

/* WHOLE names the file that is to be written, and thus the scratch file's
 * folder. Errors SIM_EIO, SIM_ENOMEM. */
int res_shards_open(struct res_shards **s, const char *whole,
    struct sim_err *e);
void res_shards_close(struct res_shards *s); /* NULL is fine */

/* Add what C has, read from PATH. Empties C, also after an error.
 * Errors SIM_EMISMATCH naming both files: if it is of another sweep than one
 * that was added before, is one of another number of shards, or the same one
 * again; SIM_EIO, SIM_ENOMEM. */
int res_shards_add(struct res_shards *s, struct res_cube *c, const char *path,
    struct sim_err *e);

/* *TEXT, to be freed, is what they lack as above; NULL if it is nothing.
 * Domain: one was added. Errors SIM_ENOMEM. */
int res_shards_lack(const struct res_shards *s, char **text, struct sim_err *e);

/* The whole without its rows, what it lacks in `partial`, for the summary. */
const struct res_cube *res_shards_head(const struct res_shards *s);

/* Write the whole. If nothing lacks it is the bytes that res_h5_write() makes of
 * an unsharded run. Domain: one was added. Errors those of res_h5_write(). */
int res_shards_write(struct res_shards *s, struct sim_err *e);

/* --- what is known of a set of shards -------------------------------------- */

/* One shard of several: how far it is. */
struct res_shard_state {
	uint32_t there; /* 0: no file */
	struct res_progress cells;
};

/* The wording above, of N shards; "" if nothing lacks. *TEXT is to be freed. */
int res_shards_say(const struct res_shard_state state[], uint32_t n,
    char **text, struct sim_err *e);

#endif
