/* experiments/sweep/lane.h -- the memory that a worker shares with the pool.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A ring of slots, and how far each side has come:
 *
 *	   taken       done      begun        given
 *	-----+-----------+---------+------------+-----
 *	     | answered, | in      | the worker | free
 *	     | not taken | service | will serve |
 *	-----+-----------+---------+------------+-----
 *
 * Slot i of the sequence lies at i % n_slots. The parent moves `given` (up:
 * more work; down: work taken back for an idle worker) and `taken`; the worker
 * moves `begun` and `done`. As begun and given are raced for, they share one
 * word. Answers stay where the worker wrote them, so a death loses none, and
 * begun > done tells which cell it died in.
 *
 * No process is needed for it: a test may be both sides.
 */
#ifndef EXPERIMENTS_SWEEP_LANE_H
#define EXPERIMENTS_SWEEP_LANE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/err.h"
#include "sim/time.h"

struct xp_slot {
	uint64_t cell;
	sim_ns spent_ns;
	uint32_t failed, has_message;
};

/* A message lies in shared memory too, so it has a fixed size. */
struct xp_slot_text {
	char text[sizeof(((struct sim_err *)0)->msg)];
};

/* Head of the shared block; the ring follows. */
struct xp_lane_head {
	_Atomic uint64_t claim; /* begun << 32 | given */
	_Atomic uint32_t done;
	_Atomic int open_rc;
	struct sim_err open_err;
};

struct xp_lane {
	struct xp_lane_head *head;
	uint32_t n_slots; /* a power of two: slots are counted modulo 2^32 */
	size_t row_doubles;
	struct xp_slot *slot;      /* [n_slots] */
	double *row;               /* [n_slots][row_doubles] */
	struct xp_slot_text *text; /* [n_slots]; unused until a failure */
};

/* Bytes of a block, whole cache lines of it, so that no two workers write to
 * the same one; 0: too many. */
size_t xp_lane_bytes(uint32_t n_slots, size_t row_doubles);

/* The lane in the block at AT, of as many bytes. Borrows AT. */
struct xp_lane xp_lane_at(void *at, uint32_t n_slots, size_t row_doubles);

/* --- the worker's side --------------------------------------------------- */

/* Take the next cell, or find that there is none: 0. INDEX counts from 0. */
int xp_lane_begin(struct xp_lane *l, uint32_t *index);

/* Answer the cell that was begun last, after its row: RC and E are what its
 * service returned. */
void xp_lane_answer(struct xp_lane *l, uint32_t index, int rc,
    const struct sim_err *e, sim_ns spent_ns);

/* Cells that are given beyond the first DONE. */
uint32_t xp_lane_left(const struct xp_lane *l, uint32_t done);

/* --- the parent's side --------------------------------------------------- */

/* All counters to zero, for a new worker. */
void xp_lane_reset(struct xp_lane *l);

/* Let the worker see N more cells, whose slots are filled. */
void xp_lane_give(struct xp_lane *l, uint32_t n);

/* Take back half of what the worker has not begun, of the TAKEN to GIVEN that
 * it holds. Returns how many, the last ones. */
uint32_t xp_lane_take_back(struct xp_lane *l, uint32_t taken, uint32_t given);

/* How far the worker has come, of the TAKEN to GIVEN that it holds. Returns 0
 * if no worker can have come there: it has spoilt its block. */
int xp_lane_look(const struct xp_lane *l, uint32_t taken, uint32_t given,
    uint32_t *begun, uint32_t *done);

#endif
