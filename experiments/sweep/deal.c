/* experiments/sweep/deal.c -- which worker gets which cells.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/sweep/deal.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "sim/vec.h"

#define AHEAD_NS (50 * SIM_MS) /* work given to a worker in advance */

/* RING_BYTES bounds what the rows of one worker take: with long rows
 * there are fewer slots. */
enum {
	RING_BYTES = 1 << 20, /* of rows, a worker */
	SLOTS_MIN = 4,
	SLOTS_MAX = 1024,
};

static int open_lanes(struct xp_deal *d, struct sim_err *e)
{
	const size_t row = d->job->row_doubles;
	const size_t stride = xp_lane_bytes(d->n_slots, row);
	if (stride == 0 ||
	    __builtin_mul_overflow(stride, d->n_hands, &d->map_bytes))
		return sim_fail(e, SIM_ENOMEM,
		    "no memory for %zu workers with rows of %zu numbers.",
		    d->n_hands, row);
	d->map = mmap(NULL, d->map_bytes, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (d->map == MAP_FAILED) {
		d->map = NULL;
		return sim_fail(e, SIM_ENOMEM,
		    "no memory for %zu bytes shared with workers.",
		    d->map_bytes);
	}
	for (size_t i = 0; i < d->n_hands; i++)
		d->hand[i].lane =
		    xp_lane_at((char *)d->map + i * stride, d->n_slots, row);
	return 0;
}

int xp_deal_open(struct xp_deal *d, const struct xp_pool_job *job,
    struct sim_err *e)
{
	uint64_t *cell;
	int rc;
	*d = (struct xp_deal){.job = job, .n_slots = SLOTS_MAX};
	if (job->n_workers == 0)
		return sim_fail(e, SIM_ERANGE, "0 workers is not in [1, %u].",
		    UINT32_MAX);
	/* More workers than cells would only be forked. */
	d->n_hands =
	    job->n_workers < job->n_cells ? job->n_workers : job->n_cells;
	/* The most slots, a power of two, whose rows fit into RING_BYTES. */
	while (d->n_slots > SLOTS_MIN &&
	    job->row_doubles > RING_BYTES / sizeof(double) / d->n_slots)
		d->n_slots /= 2;
	const size_t n = d->n_hands * d->n_slots;
	if ((rc = SIM_ZALLOC(&d->hand, d->n_hands, e)) < 0 ||
	    (rc = SIM_ZALLOC(&d->back, n, e)) < 0 ||
	    (rc = SIM_ZALLOC(&cell, n, e)) < 0)
		return rc;
	for (size_t i = 0; i < d->n_hands; i++)
		d->hand[i].cell = cell + i * d->n_slots;
	return open_lanes(d, e);
}

void xp_deal_close(struct xp_deal *d)
{
	if (d->map)
		munmap(d->map, d->map_bytes);
	if (d->hand)
		free(d->hand[0].cell);
	free(d->hand);
	free(d->back);
	*d = (struct xp_deal){0};
}

int xp_deal_is_left(const struct xp_deal *d)
{
	return d->n_back > 0 || d->next < d->job->n_cells;
}

void xp_deal_seat(struct xp_hand *h)
{
	xp_lane_reset(&h->lane);
	h->given = h->taken = 0;
}

/* --- into a hand --------------------------------------------------------- */

static uint64_t next_cell(struct xp_deal *d)
{
	return d->n_back > 0 ? d->back[--d->n_back] : d->job->cell[d->next++];
}

/* Does the next cell belong to the one that H was given last? */
static int goes_with(const struct xp_deal *d, const struct xp_hand *h)
{
	const struct xp_pool_job *job = d->job;
	return job->together && xp_deal_is_left(d) &&
	    job->together(job->ctx, h->cell[(h->given - 1) % d->n_slots],
		d->n_back > 0 ? d->back[d->n_back - 1] : job->cell[d->next]);
}

/* How many cells to keep in a worker's hands: those of AHEAD_NS, so that one
 * which meets long cells does not sit on many of them while others are idle;
 * but at least two, the one that it serves and one to go on with while we
 * sleep. */
static uint32_t depth(const struct xp_deal *d)
{
	sim_ns n = d->cell_ns > 0 ? AHEAD_NS / d->cell_ns : 0;
	if (n < 2)
		n = 2;
	return n < d->n_slots ? (uint32_t)n : d->n_slots;
}

/* The last N cells of a hand, to be given to another. */
static void put_back(struct xp_deal *d, struct xp_hand *h, uint32_t n)
{
	while (n-- > 0)
		d->back[d->n_back++] = h->cell[--h->given % d->n_slots];
}

/* Take back half of what the most loaded worker has not begun, for an idle one.
 * At the end of a sweep that keeps all of them busy. */
static void deal_take_back(struct xp_deal *d)
{
	struct xp_hand *from = NULL;
	uint32_t most = 0, begun, done;
	for (size_t i = 0; i < d->n_hands; i++) {
		struct xp_hand *h = &d->hand[i];
		/* A single cell stays: its worker is just waking up. */
		if (h->given - h->taken < 2 ||
		    !xp_lane_look(&h->lane, h->taken, h->given, &begun,
			&done) ||
		    h->given - begun <= most)
			continue;
		most = h->given - begun;
		from = h;
	}
	if (from)
		put_back(d, from,
		    xp_lane_take_back(&from->lane, from->taken, from->given));
}

/* Nothing happens before half of its work is gone, so that a wake-up pays for
 * many cells. */
uint32_t xp_deal_feed(struct xp_deal *d, struct xp_hand *h)
{
	const uint32_t want = depth(d), have = h->given - h->taken;
	uint32_t n = 0;
	if (have * 2 > want)
		return 0;
	if (have == 0 && !xp_deal_is_left(d))
		deal_take_back(d);
	for (; xp_deal_is_left(d) && have + n < d->n_slots &&
	     (have + n < want || (n > 0 && goes_with(d, h)));
	     n++) {
		const uint32_t k = h->given++ % d->n_slots;
		/* The parent keeps a copy of the number where the
		 * worker can't reach it. */
		h->cell[k] = h->lane.slot[k].cell = next_cell(d);
	}
	/* Only now may the worker see the cells. */
	if (n > 0)
		xp_lane_give(&h->lane, n);
	return n;
}

/* --- out of a hand ------------------------------------------------------- */

int64_t xp_deal_n_ready(const struct xp_hand *h)
{
	uint32_t begun, done;
	if (!xp_lane_look(&h->lane, h->taken, h->given, &begun, &done))
		return -1;
	return done - h->taken;
}

struct xp_answer xp_deal_take(struct xp_deal *d, struct xp_hand *h)
{
	const uint32_t k = h->taken++ % d->n_slots;
	const struct xp_slot *s = &h->lane.slot[k];
	char *text = h->lane.text[k].text;
	/* A worker that went wild may have written anything, so its texts are
	 * ended here. */
	if (s->has_message)
		text[sizeof(h->lane.text[k].text) - 1] = '\0';
	d->n_taken++;
	/* The latest cell counts for an eighth of the average, by which
	 * depth() tells how far ahead to go. */
	if (d->cell_ns == 0)
		d->cell_ns = s->spent_ns + 1;
	else
		d->cell_ns += s->spent_ns / 8 - d->cell_ns / 8;
	return (struct xp_answer){
	    .cell = h->cell[k],
	    .status = s->failed ? RES_FAILED : RES_DONE,
	    .row = h->lane.row + k * h->lane.row_doubles,
	    .message = s->has_message ? text : NULL,
	};
}

int xp_deal_bury(struct xp_deal *d, struct xp_hand *h, uint64_t *cell)
{
	uint32_t begun, done;
	const int is_sound =
	    xp_lane_look(&h->lane, h->taken, h->given, &begun, &done);
	const int in_one =
	    h->given != h->taken && (!is_sound || begun != h->taken);
	if (in_one) {
		*cell = h->cell[h->taken++ % d->n_slots];
		d->n_taken++;
	}
	/* Cells that were not begun are as good as new. */
	put_back(d, h, h->given - h->taken);
	return in_one;
}
