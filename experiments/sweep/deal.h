/* experiments/sweep/deal.h -- which worker gets which cells.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the pool decides, without processes, sockets or clocks: cells go into
 * the hands of workers, answers come out, and what a worker had not begun comes
 * back when it dies or another one is idle. Each cell comes out once.
 */
#ifndef EXPERIMENTS_SWEEP_DEAL_H
#define EXPERIMENTS_SWEEP_DEAL_H

#include "experiments/sweep/lane.h"
#include "experiments/sweep/pool.h"

/* What one worker holds. */
struct xp_hand {
	struct xp_lane lane;
	uint32_t given, taken;
	/* [n_slots], ours, so that a worker gone wild cannot mix up cells. */
	uint64_t *cell;
};

struct xp_deal {
	const struct xp_pool_job *job;
	size_t n_hands;
	struct xp_hand *hand; /* [n_hands] */
	uint32_t n_slots;
	void *map; /* all lanes' blocks, shared with forks */
	size_t map_bytes;

	/* Cells to give: those that came back, then from NEXT on. */
	uint64_t *back; /* [n_hands * n_slots] */
	size_t n_back, next;

	size_t n_taken; /* cells that came out */
	sim_ns cell_ns; /* moving average; 0: none served yet */
};

struct xp_answer {
	uint64_t cell;
	enum res_status status;
	const double *row;   /* [row_doubles], in the lane */
	const char *message; /* NULL: none */
};

/* Of JOB are read: n_workers, n_cells, cell, row_doubles, together with ctx.
 * Keeps JOB. Close also after an error: SIM_ERANGE without a worker,
 * SIM_ENOMEM. */
int xp_deal_open(struct xp_deal *d, const struct xp_pool_job *job,
    struct sim_err *e);
void xp_deal_close(struct xp_deal *d);

/* Are there cells that nobody holds? */
int xp_deal_is_left(const struct xp_deal *d);

/* A new worker has hand H, which is empty. */
void xp_deal_seat(struct xp_hand *h);

/* Give H cells, if half of what it should hold is gone; where none is left, of
 * those that another worker has not begun. Returns how many: their worker is
 * to be woken. */
uint32_t xp_deal_feed(struct xp_deal *d, struct xp_hand *h);

/* How many answers of H are ready; -1: its worker has spoilt its block, so that
 * no answer in it is to be believed. */
int64_t xp_deal_n_ready(const struct xp_hand *h);

/* The next of H's answers that are ready, borrowed until H is fed. */
struct xp_answer xp_deal_take(struct xp_deal *d, struct xp_hand *h);

/* The worker of H is dead, and its answers are taken. What it had not begun
 * goes back. Returns 1 if it died in CELL, which comes out by this: it is the
 * one that killed it. Of a spoilt block that is the first one without an
 * answer, as nobody knows which. */
int xp_deal_bury(struct xp_deal *d, struct xp_hand *h, uint64_t *cell);

#endif
