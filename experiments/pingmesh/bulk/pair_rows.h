/* experiments/pingmesh/bulk/pair_rows.h -- connects in trouble, eight bytes each.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	| lower server | higher server | place in the window | kind | n - 1 |
 *
 * A row is N connects in turn of one direction of a pair. Of the connects of both
 * its directions the place counts by time, so that it is even for the direction
 * that is first. Rows are one word, with what they are sorted by on top, and
 * fields are as wide as servers, places and windows need. Each window is sorted
 * once, when it is over; all of them are merged where they are read, a few
 * servers at a time.
 */
#ifndef EXPERIMENTS_PINGMESH_BULK_PAIR_ROWS_H
#define EXPERIMENTS_PINGMESH_BULK_PAIR_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "sim/err.h"
#include "sim/time.h"
#include "topo/ids.h"

/* SLOW: by itself, and by less than late ones. */
enum xp_pair_kind {
	XP_PAIR_FAILED,
	XP_PAIR_UNTOLD,
	XP_PAIR_LATE,
	XP_PAIR_SLOW
};
enum { XP_PAIR_KIND_BITS = 2 };

struct xp_pair_row {
	topo_host low, high;
	uint32_t
	    at; /* of the first of them; that of the next one is two more */
	uint32_t n;
	uint8_t kind; /* enum xp_pair_kind */
};

/* Zeroed is empty. */
struct xp_pair_rows {
	unsigned host_bits, at_bits, n_bits;
	uint32_t n_kept, n_windows; /* that may be held; that are */
	size_t *first;              /* [n_kept] where each begins */
	uint64_t *key, *spare;
	size_t n, cap, cap_spare;
	uint8_t is_open; /* the last window is not yet in order */
};

/* For N_HOSTS servers, at most N_KEPT windows and less than N_PLACES connects of
 * a pair in all of them. R must be closed also when this fails. Errors
 * SIM_ENOMEM; SIM_ELIMIT, of so many that a row takes more than eight bytes. */
int xp_pair_rows_open(struct xp_pair_rows *r, uint32_t n_hosts, uint32_t n_kept,
    uint64_t n_places, struct sim_err *e);
void xp_pair_rows_close(struct xp_pair_rows *r);

/* Forget all windows; begin the next one, for which the oldest goes if it must;
 * add a row to it. Errors SIM_ENOMEM. */
void xp_pair_rows_clear(struct xp_pair_rows *r);
int xp_pair_rows_begin(struct xp_pair_rows *r, struct sim_err *e);
int xp_pair_rows_add(struct xp_pair_rows *r, const struct xp_pair_row *row,
    struct sim_err *e);

/* The window is over. Of the rows that begin with the same connect the one that
 * was added first holds, and none is SLOW then. Errors SIM_ENOMEM.
 * Cost O(rows of the window). */
int xp_pair_rows_end(struct xp_pair_rows *r, struct sim_err *e);

/* Where the rows of the last N windows begin; N is at most those held. */
static inline size_t xp_pair_rows_from(const struct xp_pair_rows *r, uint32_t n)
{
	return n > 0 ? r->first[r->n_windows - n] : r->n;
}

/* --- a row as a word: low | high | at | kind | n - 1 ------------------------ */

/* Rows of one window whose words are equal from there on begin with one connect,
 * and those of any windows are of one pair. */
static inline unsigned xp_pair_rows_at_from(const struct xp_pair_rows *r)
{
	return r->n_bits + XP_PAIR_KIND_BITS;
}

static inline unsigned xp_pair_rows_pair_from(const struct xp_pair_rows *r)
{
	return xp_pair_rows_at_from(r) + r->at_bits;
}

static inline uint64_t xp_pair_rows_field(uint64_t key, unsigned from,
    unsigned bits)
{
	return key >> from & ((UINT64_C(1) << bits) - 1);
}

static inline topo_host xp_pair_rows_low(const struct xp_pair_rows *r,
    uint64_t key)
{
	return (topo_host)(key >> (xp_pair_rows_pair_from(r) + r->host_bits));
}

static inline topo_host xp_pair_rows_high(const struct xp_pair_rows *r,
    uint64_t key)
{
	return (topo_host)xp_pair_rows_field(key, xp_pair_rows_pair_from(r),
	    r->host_bits);
}

static inline uint8_t xp_pair_rows_kind(const struct xp_pair_rows *r,
    uint64_t key)
{
	return (uint8_t)xp_pair_rows_field(key, r->n_bits, XP_PAIR_KIND_BITS);
}

static inline struct xp_pair_row xp_pair_rows_read(const struct xp_pair_rows *r,
    uint64_t key)
{
	return (struct xp_pair_row){.low = xp_pair_rows_low(r, key),
	    .high = xp_pair_rows_high(r, key),
	    .at = (uint32_t)xp_pair_rows_field(key, xp_pair_rows_at_from(r),
		r->at_bits),
	    .n = (uint32_t)xp_pair_rows_field(key, 0, r->n_bits) + 1,
	    .kind = xp_pair_rows_kind(r, key)};
}

/* --- in order of pairs ------------------------------------------------------ */

/* Of all N_HOSTS servers, HOSTS_OF_TOR of which are under a ToR: when the windows
 * that are read begin, and how often a pair under one ToR connects, and any other.
 * Places count from the last multiple of that before a window on. */
struct xp_pair_places {
	uint32_t n_hosts, hosts_of_tor;
	sim_ns from_ns, window_ns, every_ns[2];
};

/* How many places after those of the first window that is read the window I after
 * it has its own. */
static inline uint64_t xp_pair_places_before(const struct xp_pair_places *p,
    uint32_t i, unsigned level)
{
	const sim_ns every = p->every_ns[level];
	return every == 0 ? 0
			  : 2 *
		((p->from_ns + i * p->window_ns) / every - p->from_ns / every);
}

/* Rows of the last windows in order of pairs, and of each pair in that of places,
 * which count from the first of these windows on. Zeroed before it is begun. */
struct xp_pair_walk {
	const struct xp_pair_rows *r;
	struct xp_pair_places places;
	uint32_t n_windows, host; /* the next one */
	size_t *next;             /* [windows] */
	const uint64_t *key;      /* [n] of a few servers, in order */
	size_t n;
	uint64_t *held, *spare; /* of more than one window */
	size_t cap, cap_spare;
};

/* Of the last N windows, which are over. W must be closed also when this fails.
 * Errors SIM_ENOMEM. */
int xp_pair_walk_begin(struct xp_pair_walk *w, const struct xp_pair_rows *r,
    uint32_t n, const struct xp_pair_places *places, struct sim_err *e);
void xp_pair_walk_close(struct xp_pair_walk *w);

/* All rows of some more servers, as the lower ones of their pairs, as w->key;
 * w->n is 0 after the last. Those of one window alone are in order, and all are
 * told at once. Errors SIM_ENOMEM. Cost O(rows + servers * windows), O(1) of one
 * window; memory 16 bytes for each of 2^18 rows, and for those of one server. */
int xp_pair_walk_on(struct xp_pair_walk *w, struct sim_err *e);

#endif
