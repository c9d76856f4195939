/* models/rack/acks.c -- what is on its way, and when its senders hear of it.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Pieces stand in the order in which they came to the queue, so counting what
 * leaves it tells whose it is. Those of senders in another region then wait, for
 * the same time all, in the order in which the near ones are heard of.
 */
#include <string.h>

#include "models/rack/impl.h"
#include "sim/vec.h"

/* The N - *AT elements of SIZE bytes that are left go to the front, once they
 * are fewer than those before them. */
static void rack_acks_close_up(void *v, size_t *at, size_t *n, size_t size)
{
	if (*at == 0 || *at < *n - *at)
		return;
	memmove(v, (char *)v + *at * size, (*n - *at) * size);
	*n -= *at;
	*at = 0;
}

int rack_acks_push(struct rack_port *p, const struct rack_piece *piece,
    struct sim_err *e)
{
	const int rc =
	    SIM_RESERVE(&p->piece, &p->cap_pieces, p->n_pieces + 1, e);
	if (rc == 0)
		p->piece[p->n_pieces++] = *piece;
	return rc;
}

static int rack_acks_due(struct rack_port *p, uint32_t due, uint32_t n,
    struct sim_err *e)
{
	if (n == 0)
		return 0;
	if (p->n_batches > p->at_batch &&
	    p->batch[p->n_batches - 1].due >= due) {
		p->batch[p->n_batches - 1].n += n;
		return 0;
	}
	const int rc =
	    SIM_RESERVE(&p->batch, &p->cap_batches, p->n_batches + 1, e);
	if (rc == 0)
		p->batch[p->n_batches++] = (struct rack_batch){due, n};
	return rc;
}

/* What leaves in a slot comes back in one or two, as round trips are no whole
 * number of slots; of a stalled NIC, when the stall is over. */
int rack_acks_leave(const struct rack *r, struct rack_port *p, uint32_t n,
    struct sim_err *e)
{
	const uint32_t from =
	    !p->out && p->stalled_until > r->now ? p->stalled_until : r->now;
	p->late += r->rtt_part * (float)n;
	uint32_t late = (uint32_t)p->late;
	late = late < n ? late : n;
	p->late -= (float)late;
	const int rc = rack_acks_due(p, from + r->rtt_slots, n - late, e);
	return rc < 0 ? rc : rack_acks_due(p, from + r->rtt_slots + 1, late, e);
}

static inline void rack_acks_tell(const struct rack *r, struct rack_conn *c,
    uint32_t good, uint32_t marked, uint32_t lost, const uint16_t near[3])
{
	if (good > 0)
		rack_window_hear(r, c, good, marked);
	if (lost > 0)
		rack_window_lose(r, c, lost, near);
}

static int rack_acks_go_far(const struct rack *r, struct rack_port *p,
    const struct rack_piece *x, struct sim_err *e)
{
	const int rc = SIM_RESERVE(&p->far, &p->cap_far, p->n_far + 1, e);
	if (rc == 0)
		p->far[p->n_far++] =
		    (struct rack_far){r->now + r->cross_slots, *x};
	return rc;
}

/* Up to *N segments of the first piece have left, of which *N are others then;
 * the piece is over if *DONE. */
static int rack_acks_piece(const struct rack *r, struct rack_port *p,
    uint32_t *left, int *done, struct sim_err *e)
{
	struct rack_piece *x = &p->piece[p->at_piece];
	const uint32_t n = *left;
	const uint32_t good = n < x->good ? n : x->good;
	const uint32_t plain = x->good - x->marked;
	const uint32_t marked = good > plain ? good - plain : 0;
	const uint32_t doomed = n - good < x->doomed ? n - good : x->doomed;
	x->good -= (uint16_t)good;
	x->marked -= (uint16_t)marked;
	x->doomed -= (uint16_t)doomed;
	*left -= good + doomed;
	*done = x->good + x->doomed == 0;
	const uint16_t lost = *done ? x->lost : 0;
	if (p->conn[x->conn].cross && good + lost > 0) {
		struct rack_piece now = *x;
		now.good = (uint16_t)good;
		now.marked = (uint16_t)marked;
		now.lost = lost;
		return rack_acks_go_far(r, p, &now, e);
	}
	rack_acks_tell(r, &p->conn[x->conn], good, marked, lost, x->near);
	return 0;
}

int rack_acks_hear(const struct rack *r, struct rack_port *p, struct sim_err *e)
{
	uint32_t n = 0;
	int done = 1, rc = 0;
	while (
	    p->at_batch < p->n_batches && p->batch[p->at_batch].due <= r->now)
		n += p->batch[p->at_batch++].n;
	/* A piece of which nothing is on its way is over without more ado. */
	while (rc == 0 && done && p->at_piece < p->n_pieces) {
		rc = rack_acks_piece(r, p, &n, &done, e);
		p->at_piece += (size_t)done;
	}
	for (; p->at_far < p->n_far && p->far[p->at_far].due <= r->now;
	     p->at_far++) {
		const struct rack_piece *x = &p->far[p->at_far].piece;
		rack_acks_tell(r, &p->conn[x->conn], x->good, x->marked,
		    x->lost, x->near);
	}
	rack_acks_close_up(p->piece, &p->at_piece, &p->n_pieces,
	    sizeof(p->piece[0]));
	rack_acks_close_up(p->batch, &p->at_batch, &p->n_batches,
	    sizeof(p->batch[0]));
	rack_acks_close_up(p->far, &p->at_far, &p->n_far, sizeof(p->far[0]));
	return rc;
}
