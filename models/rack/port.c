/* models/rack/port.c -- one port in one slot: offers, losses, its queue.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>

#include "models/rack/impl.h"

/* --- what is offered -------------------------------------------------------*/

/* A host does not queue more than two slots' worth for its own line: the rest
 * stays with the connections. */
static float rack_port_cap(const struct rack *r, const struct rack_port *p)
{
	const double hold = 3 * r->line_slot - (double)p->queue;
	if (!p->out)
		return r->line_segments;
	if (hold <= 0)
		return 0;
	return fminf(r->line_segments,
	    (float)(hold / r->p.segment / (double)p->n));
}

/* Segments that C offers: as many as its window has room for, at the line's
 * rate. */
static uint32_t rack_conn_offer(struct rack_conn *c, float cap)
{
	const uint32_t todo = c->owed + c->left;
	const uint32_t room = rack_window_room(c);
	const uint32_t open = room > c->ahead ? room : c->ahead;
	uint32_t n = todo < open ? todo : open;
	c->now = 0;
	c->ahead = 0;
	if (n == 0)
		return 0;
	c->credit += cap;
	if ((float)n > c->credit)
		n = (uint32_t)c->credit;
	n = n < UINT16_MAX ? n : UINT16_MAX;
	c->credit = fminf(c->credit - (float)n, 1);
	const uint32_t again = n < c->owed ? n : c->owed;
	c->owed -= again;
	c->left -= n - again;
	c->sent += n;
	c->flying = c->sent - c->seen + c->lost;
	c->now = (uint16_t)n;
	c->again = (uint16_t)again;
	return n;
}

/* 1 unless something of C is on its way or may be sent. */
static int rack_conn_is_quiet(const struct rack_conn *c)
{
	return c->sent == c->seen &&
	    (c->owed + c->left == 0 || c->window < (float)(c->lost + 1));
}

/* Nothing of C is on its way, and it has nothing to send: it is done, or has to
 * wait for its RTO. */
static int rack_port_leaves(struct rack *r, struct rack_port *p, size_t i,
    struct sim_err *e)
{
	struct rack_conn *c = &p->conn[p->order[i]];
	const uint32_t place = p->order[i];
	int rc = 0;
	if (c->lost > 0)
		rc = rack_wait(r, p, c, e);
	else
		rack_keep(r, c);
	p->order[i] = p->order[--p->n];
	p->order[p->n] = place;
	return rc;
}

int rack_port_send(struct rack *r, struct rack_port *p, struct sim_err *e)
{
	const float cap = rack_port_cap(r, p);
	uint32_t all = 0, again = 0;
	/* A NIC that stalls hears nothing of what its host sent. */
	const int rc =
	    !p->out || p->stalled_until <= r->now ? rack_acks_hear(r, p, e) : 0;
	if (rc < 0)
		return rc;
	r->n_flow_slots += p->n;
	for (size_t i = 0; i < p->n;) {
		struct rack_conn *c = &p->conn[p->order[i]];
		const uint32_t n = rack_conn_offer(c, cap);
		if (n == 0 && rack_conn_is_quiet(c)) {
			const int gone = rack_port_leaves(r, p, i, e);
			if (gone < 0)
				return gone;
			continue;
		}
		if (n > 0)
			again += c->again;
		all += n;
		i++;
	}
	p->arrived = all;
	p->dropped = 0;
	p->offered += (uint64_t)all * r->p.segment;
	p->retx += (uint64_t)again * r->p.segment;
	return 0;
}

/* --- whose the losses are --------------------------------------------------*/

/* Connections send in turns within a slot: about so many segments, and no more
 * turns than that. */
enum { RACK_TURN = 3, RACK_PARTS = 8 };

/* What a slot brings to a port. Its segments are numbered in the order in which
 * they come. */
struct rack_slot {
	double step, at; /* of one dropped; the next, in steps of 1 */
	uint32_t full;   /* the first of those of which some are dropped */
	uint32_t mark, mark_end; /* marked are those between */
	uint32_t n;              /* the next */
	uint32_t kept, dropped, retx, doomed, ce, cross; /* segments */
	uint64_t sketch[2];
};

/* How many of the next N segments are in [FROM, TO). */
static inline uint32_t rack_slot_within(const struct rack_slot *s, uint32_t n,
    uint32_t from, uint32_t to)
{
	const uint32_t a = s->n > from ? s->n : from;
	const uint32_t b = s->n + n < to ? s->n + n : to;
	return b > a ? b - a : 0;
}

/* N more of X are lost, with so many segments behind the last of them, and GAP
 * between two. */
static void rack_piece_lose(struct rack_piece *x, uint32_t n, double behind,
    double gap)
{
	x->lost += (uint16_t)n;
	for (uint32_t i = 0; i < n && behind < RACK_DUPACKS; i++) {
		x->near[(unsigned)behind]++;
		behind += gap;
	}
}

/* Lost segments stand evenly over the part of a slot in which the queue is
 * full. */
static uint32_t rack_piece_drop(struct rack_slot *s, struct rack_piece *x,
    uint32_t n)
{
	const uint32_t may = rack_slot_within(s, n, s->full, UINT32_MAX);
	const double to = s->at + may * s->step;
	const double last = (to - floor(to)) / s->step;
	uint32_t lost = (uint32_t)(floor(to) - floor(s->at));
	lost = lost < may ? lost : may;
	s->at = to;
	if (lost > 0)
		rack_piece_lose(x, lost, last, 1 / s->step - 1);
	return lost;
}

static uint64_t rack_link_gap(const struct rack *r, struct rack_port *p)
{
	const double u = 1 - rack_draw(r, p);
	const double gap =
	    p->link_rate < 1 ? floor(log(u) / log1p(-p->link_rate)) : 0;
	return gap < 1e18 ? (uint64_t)gap : (uint64_t)1e18;
}

/* How many of N segments that go on the link are lost there; each is with the
 * same probability, so the next one's distance is all that has to be drawn. */
static uint32_t rack_piece_link(const struct rack *r, struct rack_port *p,
    struct rack_piece *x, uint32_t n)
{
	uint32_t lost = 0;
	if (!p->link_drawn) {
		p->link_until = rack_link_gap(r, p);
		p->link_drawn = 1;
	}
	uint64_t at = p->link_until;
	for (; at < n; at += 1 + rack_link_gap(r, p)) {
		lost++;
		rack_piece_lose(x, 1, (double)(n - 1 - at), 0);
	}
	p->link_until = at - n;
	return lost;
}

/* N segments, AGAIN of them sent again. */
static void rack_piece_make(const struct rack *r, struct rack_port *p,
    struct rack_slot *s, struct rack_piece *x, uint32_t n, uint32_t again)
{
	const uint32_t dropped = s->step > 0 ? rack_piece_drop(s, x, n) : 0;
	const uint32_t kept = n - dropped;
	const uint32_t doomed =
	    p->link_rate > 0 ? rack_piece_link(r, p, x, kept) : 0;
	/* What a host sends it counts, even if its link loses it. */
	const uint32_t seen = p->out ? kept : kept - doomed;
	const uint32_t marked = rack_slot_within(s, n, s->mark, s->mark_end);
	if (again > 0) {
		again -= dropped * again / n;
		again -= kept > seen ? doomed * again / kept : 0;
	}
	x->good = (uint16_t)(kept - doomed);
	x->marked = (uint16_t)(marked < x->good ? marked : x->good);
	x->doomed = (uint16_t)doomed;
	s->n += n;
	s->kept += kept;
	s->dropped += dropped;
	s->doomed += doomed;
	s->ce += x->marked;
	s->retx += again < seen ? again : seen;
}

static uint32_t rack_part_of(uint32_t n, uint32_t part, uint32_t parts)
{
	return n * part / parts;
}

static int rack_port_share_part(struct rack *r, struct rack_port *p,
    struct rack_slot *s, uint32_t part, uint32_t parts, struct sim_err *e)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < p->n; i++) {
		const struct rack_conn *c = &p->conn[p->order[i]];
		struct rack_piece x = {.conn = p->order[i]};
		const uint32_t from = rack_part_of(c->now, part, parts);
		const uint32_t to = rack_part_of(c->now, part + 1, parts);
		if (from == to)
			continue;
		s->sketch[c->bit >> 6] |= UINT64_C(1) << (c->bit & 63);
		const uint32_t again = to < c->again ? to : c->again;
		rack_piece_make(r, p, s, &x, to - from,
		    again > from ? again - from : 0);
		if (c->cross)
			s->cross += x.good + (p->out ? x.doomed : 0u);
		rc = rack_acks_push(p, &x, e);
	}
	return rc;
}

/* In how many parts those that send in this slot take turns. One alone does
 * not, and what a host sends meets nobody. */
static uint32_t rack_port_parts(const struct rack_port *p)
{
	uint32_t most = 0, n = 0;
	for (size_t i = 0; i < p->n && !p->out; i++) {
		const uint32_t now = p->conn[p->order[i]].now;
		most = now > most ? now : most;
		n += now > 0;
	}
	const uint32_t parts = (most + RACK_TURN - 1) / RACK_TURN;
	if (n < 2)
		return 1;
	return parts < RACK_PARTS ? parts : RACK_PARTS;
}

static int rack_port_share(struct rack *r, struct rack_port *p,
    struct rack_slot *s, struct sim_err *e)
{
	const uint32_t parts = rack_port_parts(p);
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < parts; i++)
		rc = rack_port_share_part(r, p, s, i, parts, e);
	return rc;
}

/* --- the queue -------------------------------------------------------------*/

/* Drops begin where the queue, which rises by RISE in the slot without them,
 * meets its limit. */
static void rack_slot_full(const struct rack *r, struct rack_port *p,
    struct rack_slot *s, double rise)
{
	const double room = rise - (double)p->dropped * r->p.segment;
	const uint32_t most = p->arrived - p->dropped;
	const double full = p->arrived * room / rise;
	s->full = full > 0 ? (uint32_t)fmin(full, most) : 0;
	s->step = (double)p->dropped / (p->arrived - s->full);
	s->at = rack_draw(r, p);
}

/* What comes in a slot comes evenly over it. So does the queue grow, until it
 * meets its limit, or shrink. */
static void rack_slot_begin(const struct rack *r, struct rack_port *p,
    struct rack_slot *s)
{
	const double over = (double)p->queue - r->p.ecn;
	const double rise = (double)p->arrived * r->p.segment - r->drain;
	*s = (struct rack_slot){.mark = UINT32_MAX, .mark_end = UINT32_MAX};
	if (p->dropped > 0)
		rack_slot_full(r, p, s, rise);
	if (p->out || r->p.ecn <= 0)
		return;
	const double cross = over == 0 ? 0 : -over * p->arrived / rise;
	if (over > 0) {
		s->mark = 0;
		if (cross > 0 && cross < p->arrived)
			s->mark_end = (uint32_t)ceil(cross);
	} else if (rise > 0 && cross < p->arrived &&
	    (p->dropped == 0 || cross < s->full)) {
		s->mark = (uint32_t)ceil(cross);
	}
}

static int rack_port_push(struct rack *r, struct rack_port *p,
    const struct rack_slot *s, struct sim_err *e)
{
	if (s->kept == 0)
		return 0;
	if (p->n_chunks == p->ring)
		return sim_fail(e, SIM_EMISMATCH,
		    "slot %u, server %u: the queue of %llu bytes has %u "
		    "parts, and no room for one more.",
		    r->now, p->server, (unsigned long long)p->queue, p->ring);
	p->chunk[(p->head + p->n_chunks++) & (p->ring - 1)] =
	    (struct rack_chunk){s->kept * r->p.segment, s->retx * r->p.segment,
		s->ce * r->p.segment, s->doomed * r->p.segment,
		s->cross * r->p.segment, {s->sketch[0], s->sketch[1]}};
	p->queue += (uint64_t)s->kept * r->p.segment;
	return 0;
}

/* TAKE of *ALL bytes' worth of *PART, which is a part of them. */
static uint32_t rack_chunk_part(uint32_t *part, uint32_t all, uint32_t take)
{
	if (*part == 0)
		return 0;
	const uint32_t n = (uint32_t)((uint64_t)*part * take / all);
	*part -= n;
	return n;
}

/* Let TAKE bytes of the first chunk C go. What is marked or sent again is of
 * those that are counted, so that rounding never makes it more than these. */
static void rack_chunk_leave(struct rack_port *p, struct rack_chunk *c,
    uint32_t take, struct rack_count *to)
{
	const uint32_t doomed = c->doomed;
	const uint32_t lost = rack_chunk_part(&c->doomed, c->bytes, take);
	const uint32_t all = p->out ? c->bytes : c->bytes - doomed;
	const uint32_t seen = p->out ? take : take - lost;
	const uint32_t retx = rack_chunk_part(&c->retx, all, seen);
	const uint32_t ce = rack_chunk_part(&c->ce, all, seen);
	const uint32_t cross = rack_chunk_part(&c->cross, all, seen);
	c->bytes -= take;
	p->link += lost;
	p->gone += take - lost;
	to->sketch[0] |= c->sketch[0];
	to->sketch[1] |= c->sketch[1];
	if (p->out) {
		to->out += take;
		to->out_retx += retx;
		to->out_cross += cross;
		to->link_out += lost;
		return;
	}
	to->in += take - lost;
	to->in_retx += retx;
	to->in_ce += ce;
	to->in_cross += cross;
	to->link_in += lost;
}

/* Returns bytes that have left. */
static uint32_t rack_port_drain(struct rack *r, struct rack_port *p,
    struct rack_count *to)
{
	uint32_t may = r->drain;
	while (may > 0 && p->n_chunks > 0) {
		struct rack_chunk *c = &p->chunk[p->head];
		const uint32_t take = c->bytes < may ? c->bytes : may;
		rack_chunk_leave(p, c, take, to);
		may -= take;
		p->queue -= take;
		if (c->bytes == 0) {
			p->head = (p->head + 1) & (p->ring - 1);
			p->n_chunks--;
		}
	}
	return r->drain - may;
}

static void rack_port_release(struct rack_port *p)
{
	p->held.held = p->held.in;
	rack_count_add(&p->count, &p->held);
	p->held = (struct rack_count){0};
}

/* What a stalled NIC has goes to the stack when the stall is over. What the
 * link loses is lost when it is lost. */
static int rack_port_receive(struct rack *r, struct rack_port *p,
    struct sim_err *e)
{
	const int stalled = !p->out && p->stalled_until > r->now;
	if (!stalled && p->held.in > 0)
		rack_port_release(p);
	p->part += rack_port_drain(r, p, stalled ? &p->held : &p->count);
	p->count.link_in += p->held.link_in;
	p->held.link_in = 0;
	if (p->queue > p->count.queue_max)
		p->count.queue_max = p->queue;
	const uint32_t n = p->part / r->p.segment;
	p->part -= n * r->p.segment;
	return n > 0 ? rack_acks_leave(r, p, n, e) : 0;
}

int rack_port_settle(struct rack *r, struct rack_port *p, struct sim_err *e)
{
	struct rack_slot s;
	int rc = 0;
	rack_slot_begin(r, p, &s);
	if (p->arrived > 0 && (rc = rack_port_share(r, p, &s, e)) < 0)
		return rc;
	p->buffer += (uint64_t)s.dropped * r->p.segment;
	p->count.buffer += (uint64_t)s.dropped * r->p.segment;
	if ((rc = rack_port_push(r, p, &s, e)) < 0 ||
	    (rc = rack_port_receive(r, p, e)) < 0)
		return rc;
	if (p->offered != p->gone + p->buffer + p->link + p->queue)
		return sim_fail(e, SIM_EMISMATCH,
		    "slot %u, server %u: of %llu bytes offered %llu arrived, "
		    "the buffer dropped %llu, the link lost %llu, and %llu are "
		    "queued, which does not add up.",
		    r->now, p->server, (unsigned long long)p->offered,
		    (unsigned long long)p->gone, (unsigned long long)p->buffer,
		    (unsigned long long)p->link, (unsigned long long)p->queue);
	return 0;
}
