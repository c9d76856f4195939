/* experiments/live/contact.c -- an agent's contacts, without sockets.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/contact.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"

int xp_contact_open(struct xp_contact *c, const struct xp_fetch_params *p,
    struct sim_err *e)
{
	int rc = xp_fetch_whom_take(&c->whom, p, e);
	c->max_bytes = p->max_bytes;
	c->address = p->address;
	c->book = p->book;
	if (rc == 0 && p->signed_by)
		rc = xp_list_checker_open(&c->checker, p->signed_by, e);
	return rc;
}

int xp_contact_change(struct xp_contact *c, const struct xp_fetch_params *p,
    struct sim_err *e)
{
	struct xp_fetch_whom *w;
	int rc = SIM_ZALLOC(&w, 1, e);
	if (rc < 0)
		return rc;
	if ((rc = xp_fetch_whom_take(w, p, e)) == 0) {
		/* One that is asked now may be none of the new ones. */
		c->whom = *w;
		c->n_asked = 0;
	}
	free(w);
	return rc;
}

void xp_contact_close(struct xp_contact *c)
{
	xp_list_checker_close(c->checker);
	free(c->had.p);
	free(c->coming.p);
}

/* --- lists ---------------------------------------------------------------- */
int xp_contact_ask(struct xp_contact *c)
{
	c->n_asked = 0;
	return !c->is_lent;
}

/* Each controller has an equal share of the time that is left: one that does not
 * answer then cannot use up what the others would need. */
const char *xp_contact_next(struct xp_contact *c, unsigned *share)
{
	const unsigned n = c->whom.n_controllers;
	c->coming.n = 0;
	c->coming.head = (struct xp_fetch_head){0};
	if (c->n_asked == n)
		return NULL;
	*share = n - c->n_asked;
	return c->whom.controller[(c->whom.first + c->n_asked) % n];
}

void xp_contact_unanswered(struct xp_contact *c)
{
	c->count.n_unanswered++;
	c->n_asked++;
}

/* One byte more than the longest list is kept, which is how the agent learns that
 * it is too long; nobody can fill our memory. */
size_t xp_contact_add(struct xp_contact *c, const void *bytes, size_t n)
{
	struct xp_contact_bytes *b = &c->coming;
	const size_t most = c->max_bytes + 1;
	const size_t take = n < most - b->n ? n : most - b->n;
	/* Nothing comes of an empty body, for which there may be no buffer. */
	if (take == 0 || SIM_RESERVE(&b->p, &b->cap, b->n + take, NULL) < 0)
		return 0;
	memcpy(b->p + b->n, bytes, take);
	b->n += take;
	return take;
}

/* A list that could not be written down is remembered while the agent runs. */
static int contact_keep_newest(struct xp_contact *c)
{
	struct sim_err e;
	if (xp_list_checker_keep(c->checker, &e) < 0) {
		c->count.n_unkept++;
		snprintf(c->why, sizeof(c->why), "%.500s", e.msg);
	}
	return 1;
}

/* Whether what came, by STATUS a list or that there is none, is a word of ours. */
static int contact_is_signed(struct xp_contact *c, long status, sim_ns wall)
{
	const struct xp_contact_bytes *b = &c->coming;
	const unsigned i = (c->whom.first + c->n_asked) % c->whom.n_controllers;
	const uint64_t now_s = wall / SIM_SEC;
	struct sim_err e;
	if (!c->checker)
		return 1;
	if (status == 404 ? xp_list_check_none(c->checker, b->head.mark,
				c->address, now_s, &e) == 0
			  : xp_list_check(c->checker, b->head.mark, b->p, b->n,
				now_s, &e) == 0)
		return contact_keep_newest(c);
	c->count.n_refused++;
	snprintf(c->why, sizeof(c->why), "%.200s: %s refused: %.250s",
	    c->whom.controller[i], status == 404 ? "no list" : "list", e.msg);
	return 0;
}

/* Swapped, so that a list that fails half way leaves the one that was had, with
 * its tag, as it is. */
static void contact_swap(struct xp_contact *c)
{
	const struct xp_contact_bytes old = c->had;
	c->had = c->coming;
	c->coming = old;
}

/* 200, 304 and 404 are answers; whatever else came, or did not, has the next
 * controller asked. */
enum xp_contact_answer xp_contact_came(struct xp_contact *c,
    enum xp_contact_end end, long status, sim_ns wall)
{
	/* A list that is longer than any may be is handed over as far as it
	 * came: the agent itself finds that it is bad, and acts on that. */
	const int is_long =
	    end == XP_CONTACT_CUT_HERE && c->coming.n > c->max_bytes;
	const int is_whole = end == XP_CONTACT_WHOLE;
	const int is_list = (is_whole || is_long) && status == 200 &&
	    !xp_fetch_head_ill(&c->coming.head);
	const int is_none = is_whole && status == 404;
	if ((is_list || is_none) && !contact_is_signed(c, status, wall)) {
		c->n_asked++;
		return XP_CONTACT_REFUSED;
	}
	if (is_list) {
		contact_swap(c);
		c->count.n_lists++;
	} else if (is_whole && status == 304 && c->had.head.tag[0]) {
		c->count.n_same++;
	} else if (is_none) {
		c->count.n_none++;
	} else {
		return XP_CONTACT_NO_ANSWER;
	}
	/* Stay with the one that answered. */
	c->whom.first = (c->whom.first + c->n_asked) % c->whom.n_controllers;
	c->is_lent = status != 404;
	return c->is_lent ? XP_CONTACT_LIST : XP_CONTACT_NO_LIST;
}

/* --- batches -------------------------------------------------------------- */
void xp_contact_begin(struct xp_contact *c, sim_ns now, sim_ns wall,
    uint64_t chance)
{
	const uint64_t least = (UINT64_C(1) << XP_CONTACT_CHANCE) - 1;
	c->born_shift = wall - now - (chance & least);
}

/* A batch that is tried again must be the same bytes, so that the collector knows
 * it; so the shift between the clocks is taken once for each batch, though the wall
 * clock may have been set since. */
size_t xp_contact_stamp(struct xp_contact *c,
    const struct algo_pingmesh_batch *b, sim_ns now, sim_ns wall)
{
	struct algo_pingmesh_batch *out = &c->batch;
	if (c->shifted != b->number) {
		c->shift = wall - now;
		c->shifted = b->number;
	}
	memcpy(out, b,
	    offsetof(struct algo_pingmesh_batch, record) +
		b->n * sizeof(b->record[0]));
	/* The agent's start names its batches, so this shift is never taken
	 * anew. */
	out->born_ns += c->born_shift;
	for (uint32_t i = 0; i < out->n; i++)
		out->record[i].sent_ns += c->shift;
	return algo_pingmesh_wire_encode(out, c->book, c->wire);
}

size_t xp_contact_stamp_window(struct xp_contact *c,
    const struct algo_pingmesh_window *w, sim_ns now, sim_ns wall)
{
	struct algo_pingmesh_window out = *w;
	out.born_ns += c->born_shift;
	out.start_ns += wall - now;
	out.end_ns += wall - now;
	if (c->checker && out.list_version != 0)
		out.list_issued_ns =
		    xp_list_checker_issued_s(c->checker) * SIM_SEC;
	return algo_pingmesh_wire_encode_window(&out, c->book, c->window);
}
