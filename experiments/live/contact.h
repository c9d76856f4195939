/* experiments/live/contact.h -- an agent's contacts, without sockets.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What experiments/live/fetch.h promises of lists and batches and is no matter of
 * HTTP: whom to ask next, what of an answer is a list, which list is had, what is
 * posted. Who carries requests tells the time and what came of them:
 *
 *	ask --> next: a URL, and the tag to send --> add, add, ... --> came
 *	         ^                                                      |
 *	         '------------------ no answer ------------------------'
 */
#ifndef EXPERIMENTS_LIVE_CONTACT_H
#define EXPERIMENTS_LIVE_CONTACT_H

#include "algos/pingmesh/wire.h"
#include "experiments/live/fetch.h"
#include "experiments/live/fetch_head.h"
#include "experiments/live/fetch_whom.h"
#include "experiments/live/list_sign.h"

/* A document, and the head of the answer that brought it. */
struct xp_contact_bytes {
	char *p;
	size_t n, cap;
	struct xp_fetch_head head;
};

/* Zeroed is empty. */
struct xp_contact {
	size_t max_bytes; /* of a list */
	struct topo_ip address;
	const struct topo_ip_book *book;
	struct xp_fetch_counters count;
	struct xp_fetch_whom whom;
	unsigned n_asked; /* controllers, in this contact */
	struct xp_contact_bytes had, coming;
	int is_lent;                     /* `had`, to the agent */
	struct xp_list_checker *checker; /* NULL: lists need no signature */

	/* The wall clock less the agent's: when this began, and for the batch
	 * of this number, which keeps what it had at its first try. */
	uint64_t born_shift, shift, shifted;
	struct algo_pingmesh_batch batch;
	unsigned char wire[ALGO_PINGMESH_WIRE_MAX];
	unsigned char window[ALGO_PINGMESH_WIRE_WINDOW_MAX];
	char why[512]; /* what was wrong last; "": nothing was */
};

/* P's texts are copied. Errors as xp_fetch_open(). */
int xp_contact_open(struct xp_contact *c, const struct xp_fetch_params *p,
    struct sim_err *e);

/* Ask P's controllers, and post to its collector, from now on. After an error, one
 * of xp_fetch_whom_take(), those of before. */
int xp_contact_change(struct xp_contact *c, const struct xp_fetch_params *p,
    struct sim_err *e);
void xp_contact_close(struct xp_contact *c);

/* --- lists ---------------------------------------------------------------- */
/* Begin to ask; 0 if the agent still has the last document, which is not to be
 * written over. */
int xp_contact_ask(struct xp_contact *c);

/* Whom to ask now; NULL: nobody is left. It has a SHARE of the time that is left,
 * one part in so many. What came of the last one is forgotten. */
const char *xp_contact_next(struct xp_contact *c, unsigned *share);

/* The one that is asked gives no answer, for a reason that is already in `why`. */
void xp_contact_unanswered(struct xp_contact *c);

/* Bytes of its answer's body. Returns how many are kept: fewer than N if the list
 * is longer than any, or if there is no memory, and no more is wanted. */
size_t xp_contact_add(struct xp_contact *c, const void *bytes, size_t n);

enum xp_contact_answer {
	XP_CONTACT_NO_ANSWER, /* to be told of; then ask the next */
	XP_CONTACT_REFUSED,   /* and told of, in `why`; ask the next */
	XP_CONTACT_LIST,      /* `had`, lent until `is_lent` is unset */
	XP_CONTACT_NO_LIST,
};

/* How an answer ended. */
enum xp_contact_end {
	XP_CONTACT_WHOLE,
	XP_CONTACT_CUT_HERE,
	XP_CONTACT_BROKEN
};

/* The answer is there, with STATUS, at WALL since 1970. */
enum xp_contact_answer xp_contact_came(struct xp_contact *c,
    enum xp_contact_end end, long status, sim_ns wall);

/* --- batches -------------------------------------------------------------- */
/* The agent, whose clock says NOW, began when the wall clock said WALL. Its start is
 * what a collector tells this run from others of its address by, and whose batches
 * it takes for ones that it has: a clock that is set back, or stands at the same
 * time at each boot, must not bring a start back. So the start that is told is
 * earlier by CHANCE, of which the last XP_CONTACT_CHANCE bits count, 17 ms: starts
 * that are further apart keep their order. CHANCE is of getrandom(). */
enum { XP_CONTACT_CHANCE = 24 };
void xp_contact_begin(struct xp_contact *c, sim_ns now, sim_ns wall,
    uint64_t chance);

/* What to post of B, and of W, with times of the wall clock: `wire`, or `window`.
 * Return the bytes. */
size_t xp_contact_stamp(struct xp_contact *c,
    const struct algo_pingmesh_batch *b, sim_ns now, sim_ns wall);
size_t xp_contact_stamp_window(struct xp_contact *c,
    const struct algo_pingmesh_window *w, sim_ns now, sim_ns wall);

#endif
