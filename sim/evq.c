/* sim/evq.c -- event queue: 64-ary radix wheel, stable in (time, insertion).
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A time is eleven digits of base 64. An event waits at the level of the
 * highest digit in which its time differs from `base`, in the slot of its own
 * digit there:
 *
 *	level  2  [ ][ ][#][ ][#]...   4096 ns a slot
 *	level  1  [ ][#][ ][#][ ]...     64 ns a slot
 *	level  0  [ ][ ][#][#][ ]...      1 ns a slot: all of a slot are ties
 *	bottom    17 15 15 12 9 ->     sorted, everything before `edge`
 *
 * So the lowest level in use holds the earliest events, in its lowest slot.
 * When `bottom` runs out that slot is opened: up to SMALL events are sorted
 * into bottom and `edge` moves to the end of the slot; more are scattered to
 * the levels below, from the earliest of them as the new base. An event only
 * ever moves down, hence at most LEVELS moves.
 *
 * What holds between calls:
 *  (1) base <= now, and base <= edge;
 *  (2) events before edge are in bottom, the others in the wheel, but for ties
 *      at edge itself: those in bottom were put before those in the wheel;
 *  (3) events of equal time lie in one slot, in the order they were put: the
 *      slot follows from t and base, and slots are moved first to last.
 * A slot keeps the earliest time in it. So a pop that will find nothing in time
 * knows that before it moves base or edge, which keeps (1), and an event can
 * still be put at any time from now on after a pop that found nothing.
 */
#include "sim/evq.h"

#include <assert.h>
#include <stdlib.h>

enum {
	BITS = 6,
	SLOTS = 1 << BITS,
	LEVELS = 11, /* 66 bits >= 64 */
	CHUNK = 31,  /* events: 1000 bytes a chunk */
	SMALL = 24,  /* as many are cheaper sorted than scattered */
	BOTTOM = 2 * SMALL,
};

struct chunk {
	struct chunk *next;
	struct sim_event ev[CHUNK];
};

/* The chunk before `end` is found by stepping back one struct. */
static_assert(sizeof(struct chunk) ==
	offsetof(struct chunk, ev) + CHUNK * sizeof(struct sim_event),
    "no padding after the events of a chunk");
static_assert(CHUNK >= SMALL && BOTTOM >= CHUNK, "a chunk fits in bottom");

struct block {
	struct block *next;
	size_t n, used;
	struct chunk chunk[];
};

/* Events from first->ev[0] to put; all chunks but the last are full. */
struct slot {
	struct chunk *first;
	struct sim_event *put, *end; /* next to write, end of its chunk */
	sim_ns min;
};

struct sim_evq {
	sim_ns now, base, edge;
	size_t len, room;     /* events pending; for which chunks suffice */
	unsigned n_bottom;    /* descending: the next event is the last */
	unsigned levels;      /* bit l: occupied[l] is not 0 */
	struct chunk *spare;  /* used before, free now */
	struct block *blocks; /* all, oldest first */
	struct block *fresh;  /* first with chunks never used */
	uint64_t occupied[LEVELS];
	struct sim_event bottom[BOTTOM];
	struct slot slot[LEVELS][SLOTS];
};

/* --- chunks ----------------------------------------------------------------
 * Every slot in use may hold one chunk that is not full, and a scatter holds
 * one chunk in hand. With chunks for all of that beside len / CHUNK full ones,
 * moving events never runs out: only a put may need memory. Chunks never used
 * are not touched, so the reserve costs address space, not memory.
 */
enum { RESERVE = LEVELS * SLOTS + 2 };

/* Grow by half, so that a put stays amortised O(1). The first block also holds
 * the RESERVE, which is never counted as room. Kept out of line, like spill()
 * and evq_extend(), so that the common way through sim_evq_put() stays
 * short. */
static __attribute__((noinline)) int evq_grow(struct sim_evq *q,
    struct sim_err *e)
{
	size_t have = q->room / CHUNK;
	size_t n = q->blocks ? have / 2 : RESERVE + SLOTS;
	/* No overflow: memory already holds more than that. */
	struct block *b = malloc(sizeof(*b) + n * sizeof(b->chunk[0]));
	if (!b)
		return sim_fail(e, SIM_ENOMEM,
		    "no memory for more than %zu events in the queue.", q->len);
	b->next = NULL;
	b->n = n;
	b->used = 0;
	/* New blocks go to the end: evq_take() walks from `fresh` to the next
	 * block when one is used up, and must find this one there. */
	struct block **last = &q->blocks;
	while (*last)
		last = &(*last)->next;
	*last = b;
	if (!q->fresh)
		q->fresh = b;
	q->room = (q->room ? have + n : n - RESERVE) * CHUNK;
	return 0;
}

/* A chunk used before is taken first: those never used stay untouched, so the
 * reserve costs nothing. One is always left, as reckoned above. */
static struct chunk *evq_take(struct sim_evq *q)
{
	struct chunk *c = q->spare;
	if (c) {
		q->spare = c->next;
	} else {
		if (q->fresh->used == q->fresh->n)
			q->fresh = q->fresh->next;
		c = &q->fresh->chunk[q->fresh->used++];
	}
	c->next = NULL;
	return c;
}

static void evq_give_back(struct sim_evq *q, struct chunk *c)
{
	c->next = q->spare;
	q->spare = c;
}

/* --- wheel -----------------------------------------------------------------*/
/* Give a slot whose last chunk is full, or which has none, one chunk more.
 * `end` points behind the last chunk's events, hence one struct behind its
 * start. */
static __attribute__((noinline)) void evq_extend(struct sim_evq *q,
    unsigned level, unsigned digit)
{
	struct slot *s = &q->slot[level][digit];
	struct chunk *c = evq_take(q);
	if (s->first) {
		((struct chunk *)(void *)s->end - 1)->next = c;
	} else {
		s->first = c;
		s->min = SIM_NEVER;
		q->occupied[level] |= 1ull << digit;
		q->levels |= 1u << level;
	}
	s->put = c->ev;
	s->end = c->ev + CHUNK;
}

static inline void evq_append(struct sim_evq *q, const struct sim_event *ev)
{
	/* The highest bit in which t differs from base lies in the highest such
	 * digit. `| 1` keeps clz defined for t == base, which is level 0
	 * too. */
	sim_ns differ = ev->t ^ q->base;
	unsigned top_bit = 63u - (unsigned)__builtin_clzll(differ | 1);
	unsigned level = top_bit / BITS;
	unsigned digit = ev->t >> (BITS * level) & (SLOTS - 1);
	struct slot *s = &q->slot[level][digit];
	if (s->put == s->end)
		evq_extend(q, level, digit);
	*s->put++ = *ev;
	if (ev->t < s->min)
		s->min = ev->t;
}

/* A slot without events is all zeros, and its bits in both masks are cleared,
 * so that the search for the lowest slot never meets it. */
static void forget(struct sim_evq *q, unsigned level, unsigned digit)
{
	q->slot[level][digit] = (struct slot){0};
	if (!(q->occupied[level] &= ~(1ull << digit)))
		q->levels &= ~(1u << level);
}

/* Later insertions go further from the end among ties: first in, first out. */
static inline void insert(struct sim_evq *q, const struct sim_event *ev)
{
	unsigned i = q->n_bottom++;
	for (; i > 0 && q->bottom[i - 1].t <= ev->t; i--)
		q->bottom[i] = q->bottom[i - 1];
	q->bottom[i] = *ev;
}

/* Into bottom by counting how many of its slot pop before each event: no
 * branch hangs on the times, which costs less than insertion's mispredictions
 * (about one an event) for so few. */
static void evq_sort(struct sim_evq *q, unsigned level, unsigned digit)
{
	const struct slot s = q->slot[level][digit];
	const struct sim_event *ev = s.first->ev;
	unsigned n = (unsigned)(s.put - ev), rank[SMALL];
	for (unsigned i = 0; i < n; i++) {
		rank[i] = 0;
		for (unsigned k = 0; k < i; k++) {
			unsigned k_first = ev[k].t <= ev[i].t;
			rank[i] += k_first;
			rank[k] += !k_first;
		}
	}
	for (unsigned i = 0; i < n; i++)
		q->bottom[n - 1 - rank[i]] = ev[i];
	q->n_bottom = n;
	evq_give_back(q, s.first);
	forget(q, level, digit);
	sim_ns last = s.min | ((1ull << (BITS * level)) - 1);
	q->edge = last == SIM_NEVER ? last : last + 1;
}

/* A slot of level 0: its events go through bottom a chunk at a time. Edge
 * stays, so that further ties queue up behind in the slot. */
static void take_ties(struct sim_evq *q, unsigned digit)
{
	struct slot *s = &q->slot[0][digit];
	struct chunk *c = s->first;
	const struct sim_event *ev = c->next ? c->ev + CHUNK : s->put;
	while (ev > c->ev)
		q->bottom[q->n_bottom++] = *--ev;
	if (c->next)
		s->first = c->next;
	else
		forget(q, 0, digit);
	evq_give_back(q, c);
}

/* Spread a slot too large to sort over the levels below. With its earliest time
 * as the new base all its events differ from base in lower digits only, so
 * refill() goes down with each turn and ends. Chunks are given back as they are
 * emptied, for the slots below to take. */
static void evq_scatter(struct sim_evq *q, unsigned level, unsigned digit)
{
	const struct slot s = q->slot[level][digit];
	forget(q, level, digit);
	q->base = q->edge = s.min;
	for (struct chunk *c = s.first, *next; c; c = next) {
		next = c->next;
		const struct sim_event *end = next ? c->ev + CHUNK : s.put;
		for (const struct sim_event *ev = c->ev; ev < end; ev++)
			evq_append(q, ev);
		evq_give_back(q, c);
	}
}

/* Bottom is empty: fill it, if the next event is not after UNTIL. */
static int refill(struct sim_evq *q, sim_ns until)
{
	while (q->levels) {
		unsigned level = (unsigned)__builtin_ctz(q->levels);
		unsigned digit = (unsigned)__builtin_ctzll(q->occupied[level]);
		const struct slot *s = &q->slot[level][digit];
		/* Nothing has been changed yet: see (1) above. */
		if (s->min > until)
			return 0;
		if (!s->first->next && s->put - s->first->ev <= SMALL) {
			evq_sort(q, level, digit);
			return 1;
		}
		if (level == 0) {
			take_ties(q, digit);
			return 1;
		}
		evq_scatter(q, level, digit);
	}
	return 0;
}

/* Bottom is full: give its events back to the wheel. Its slots before edge are
 * all empty, and now lies in the slot that bottom was filled from; so with now
 * as base all events go to lower levels than that slot's, a move down as in a
 * scatter. The next event goes first, which keeps ties in order. */
static __attribute__((noinline)) void spill(struct sim_evq *q)
{
	q->base = q->edge = q->now;
	while (q->n_bottom > 0)
		evq_append(q, &q->bottom[--q->n_bottom]);
}

/* --- the interface ---------------------------------------------------------*/
int sim_evq_open(struct sim_evq **q, struct sim_err *e)
{
	struct sim_evq *new = calloc(1, sizeof(*new));
	if (!new)
		return sim_fail(e, SIM_ENOMEM, "no memory for an event queue.");
	int rc = evq_grow(new, e);
	if (rc < 0) {
		free(new);
		return rc;
	}
	*q = new;
	return 0;
}

void sim_evq_close(struct sim_evq *q)
{
	if (!q)
		return;
	for (struct block *b = q->blocks, *next; b; b = next) {
		next = b->next;
		free(b);
	}
	free(q);
}

static int evq_refuse(const struct sim_evq *q, sim_ns t, struct sim_err *e)
{
	if (t == SIM_NEVER)
		return sim_fail(e, SIM_EINVAL,
		    "an event cannot be put at SIM_NEVER.");
	return sim_fail(e, SIM_EINVAL,
	    "an event at %llu ns is before the clock, %llu ns.",
	    (unsigned long long)t, (unsigned long long)q->now);
}

int sim_evq_put(struct sim_evq *q, const struct sim_event *ev,
    struct sim_err *e)
{
	int rc;
	if (ev->t < q->now || ev->t == SIM_NEVER)
		return evq_refuse(q, ev->t, e);
	if (q->len == q->room && (rc = evq_grow(q, e)) < 0)
		return rc;
	q->len++;
	/* Before edge lies only what bottom holds, so the event must be sorted
	 * in there; from edge on it may wait in the wheel. */
	if (ev->t < q->edge) {
		if (q->n_bottom < BOTTOM) {
			insert(q, ev);
			return 0;
		}
		spill(q);
	}
	evq_append(q, ev);
	return 0;
}

int sim_evq_pop(struct sim_evq *q, sim_ns until, struct sim_event *ev)
{
	if (q->n_bottom == 0 && !refill(q, until))
		return 0;
	const struct sim_event *next = &q->bottom[q->n_bottom - 1];
	if (next->t > until)
		return 0;
	/* The clock moves before the handler runs, so "now" is the time of its
	 * event and puts at that very time are legal. */
	*ev = *next;
	q->now = next->t;
	q->n_bottom--;
	q->len--;
	return 1;
}

int sim_evq_run(struct sim_evq *q, sim_ns until, struct sim_err *e)
{
	struct sim_event ev;
	while (sim_evq_pop(q, until, &ev)) {
		int rc = ev.fn(q, &ev, e);
		if (rc < 0)
			return rc;
	}
	if (until != SIM_NEVER && q->now < until)
		q->now = until;
	return 0;
}

sim_ns sim_evq_now(const struct sim_evq *q)
{
	return q->now;
}

size_t sim_evq_len(const struct sim_evq *q)
{
	return q->len;
}
