/* experiments/sweep/lane.c -- the memory that a worker shares with the pool.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/sweep/lane.h"

#include <string.h>

enum { CACHE_LINE = 64 };

static uint32_t begun_of(uint64_t claim)
{
	return (uint32_t)(claim >> 32);
}

static uint32_t given_of(uint64_t claim)
{
	return (uint32_t)claim;
}

static uint64_t claim_of(uint32_t begun, uint32_t given)
{
	return (uint64_t)begun << 32 | given;
}

/* The offset of the rows: a cache line of their own. */
static size_t rows_at(uint32_t n_slots)
{
	const size_t end =
	    sizeof(struct xp_lane_head) + n_slots * sizeof(struct xp_slot);
	return (end + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

size_t xp_lane_bytes(uint32_t n_slots, size_t row_doubles)
{
	size_t bytes;
	if (__builtin_mul_overflow(n_slots * sizeof(double), row_doubles,
		&bytes) ||
	    __builtin_add_overflow(bytes,
		rows_at(n_slots) + n_slots * sizeof(struct xp_slot_text) +
		    CACHE_LINE - 1,
		&bytes))
		return 0;
	return bytes / CACHE_LINE * CACHE_LINE;
}

struct xp_lane xp_lane_at(void *at, uint32_t n_slots, size_t row_doubles)
{
	char *rows = (char *)at + rows_at(n_slots);
	return (struct xp_lane){
	    .head = at,
	    .n_slots = n_slots,
	    .row_doubles = row_doubles,
	    .slot = (void *)((char *)at + sizeof(struct xp_lane_head)),
	    .row = (void *)rows,
	    .text = (void *)(rows + n_slots * row_doubles * sizeof(double)),
	};
}

/* --- the worker's side --------------------------------------------------- */

/* The parent may take cells back meanwhile, so begun and given are changed
 * together or not at all. */
int xp_lane_begin(struct xp_lane *l, uint32_t *index)
{
	uint64_t was = atomic_load(&l->head->claim);
	do {
		*index = begun_of(was);
		if (*index == given_of(was))
			return 0;
	} while (!atomic_compare_exchange_weak(&l->head->claim, &was,
	    claim_of(*index + 1, given_of(was))));
	return 1;
}

void xp_lane_answer(struct xp_lane *l, uint32_t index, int rc,
    const struct sim_err *e, sim_ns spent_ns)
{
	const uint32_t k = index % l->n_slots;
	struct xp_slot *s = &l->slot[k];
	s->failed = rc < 0;
	s->has_message = rc != 0;
	s->spent_ns = spent_ns;
	if (rc != 0)
		memcpy(l->text[k].text, e->msg, sizeof(e->msg));
	/* Row and slot are complete before `done` says so: an atomic store is
	 * not moved before them. */
	atomic_store(&l->head->done, index + 1);
}

uint32_t xp_lane_left(const struct xp_lane *l, uint32_t done)
{
	return given_of(atomic_load(&l->head->claim)) - done;
}

/* --- the parent's side --------------------------------------------------- */

void xp_lane_reset(struct xp_lane *l)
{
	memset(l->head, 0, sizeof(*l->head));
}

/* The lower half of the word is `given`, which may be added to as only the
 * parent raises it. */
void xp_lane_give(struct xp_lane *l, uint32_t n)
{
	atomic_fetch_add(&l->head->claim, n);
}

uint32_t xp_lane_take_back(struct xp_lane *l, uint32_t taken, uint32_t given)
{
	uint32_t n;
	uint64_t was = atomic_load(&l->head->claim);
	/* The worker may begin cells while this is worked out, so it is tried
	 * until nothing has changed in between. */
	do {
		n = given - begun_of(was);
		if (n == 0 || n > given - taken)
			return 0;
		n = (n + 1) / 2;
	} while (!atomic_compare_exchange_weak(&l->head->claim, &was,
	    claim_of(begun_of(was), given - n)));
	return n;
}

/* Each counter is the difference to `taken`, so that none wraps. `done` is read
 * first: what is begun grows ahead of it. */
int xp_lane_look(const struct xp_lane *l, uint32_t taken, uint32_t given,
    uint32_t *begun, uint32_t *done)
{
	*done = atomic_load(&l->head->done);
	const uint64_t claim = atomic_load(&l->head->claim);
	*begun = begun_of(claim);
	return given_of(claim) == given && *done - taken <= *begun - taken &&
	    *begun - taken <= given - taken;
}
