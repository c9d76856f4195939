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

/* Segments that C offers, at most those that it has and, while its receiver is
 * stalled and nothing comes back, those of one window. */
static uint32_t rack_conn_offer(struct rack_conn *c, float rate, int stalled)
{
	const uint32_t todo = c->owed + c->left;
	c->credit += rate;
	uint32_t n = (uint32_t)c->credit;
	if (stalled) {
		const uint32_t most = (uint32_t)c->window;
		const uint32_t may = c->sent < most ? most - c->sent : 0;
		n = n < may ? n : may;
		c->credit = fminf(c->credit, (float)n + 1);
	}
	if (n >= todo) {
		n = todo;
		c->credit = 0;
	} else {
		c->credit -= (float)n;
	}
	const uint32_t again = n < c->owed ? n : c->owed;
	c->owed -= again;
	c->left -= n - again;
	c->sent += n;
	c->now = n;
	c->now_retx = again;
	return n;
}

/* C's round is over. Returns 1 if it left the port, 0, or an error. */
static int rack_port_round(struct rack *r, struct rack_port *p, size_t i,
    float rtt, struct sim_err *e)
{
	struct rack_conn *c = &p->conn[i];
	uint32_t wait = 0;
	if (p->stalled_until > r->now) {
		c->round_end = p->stalled_until * RACK_TICKS;
		return 0;
	}
	if (!rack_window_round(r, c, rtt, &wait))
		return 0;
	const int rc = rack_wait(r, p, c, wait, e);
	if (rc < 0)
		return rc;
	*c = p->conn[--p->n];
	return 1;
}

int rack_port_send(struct rack *r, struct rack_port *p, struct sim_err *e)
{
	const float rtt =
	    r->rtt_slots + (float)((double)p->queue * r->per_line);
	const float k = 1 / rtt, cap = rack_port_cap(r, p);
	const int stalled = p->stalled_until > r->now;
	const uint32_t now = r->now * RACK_TICKS;
	uint32_t all = 0, again = 0;
	for (size_t i = 0; i < p->n;) {
		struct rack_conn *c = &p->conn[i];
		if (now >= c->round_end) {
			const int rc = rack_port_round(r, p, i, rtt, e);
			if (rc < 0)
				return rc;
			if (rc > 0)
				continue;
		}
		all += rack_conn_offer(c, fminf(c->window * k, cap), stalled);
		again += c->now_retx;
		i++;
	}
	r->n_flow_slots += p->n;
	p->arrived = all;
	p->dropped = 0;
	p->offered += (uint64_t)all * r->p.segment;
	p->retx += (uint64_t)again * r->p.segment;
	return 0;
}

/* --- whose the losses are --------------------------------------------------*/

/* What a slot brought to a port. */
struct rack_slot {
	double at, step; /* the next dropped segment, in steps of 1 */
	uint32_t kept, dropped, retx, doomed; /* segments */
	uint64_t sketch[2];
};

/* Lost segments stand evenly over a slot, so the last of a connection has as
 * many behind it as fit between it and the next whole number. */
static uint32_t rack_conn_drop(struct rack_conn *c, struct rack_slot *s)
{
	const double to = s->at + c->now * s->step;
	uint32_t n = (uint32_t)(floor(to) - floor(s->at));
	n = n < c->now ? n : c->now;
	s->at = to;
	if (n > 0) {
		const double behind = (to - floor(to)) / s->step;
		c->lost += n;
		c->behind = (uint32_t)fmin(behind, (double)(c->now - n));
	}
	return n;
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
static uint32_t rack_conn_link(const struct rack *r, struct rack_port *p,
    struct rack_conn *c, uint32_t n)
{
	uint32_t lost = 0;
	if (!p->link_drawn) {
		p->link_until = rack_link_gap(r, p);
		p->link_drawn = 1;
	}
	uint64_t at = p->link_until;
	for (; at < n; at += 1 + rack_link_gap(r, p)) {
		lost++;
		c->behind = n - 1 - (uint32_t)at;
	}
	p->link_until = at - n;
	c->lost += lost;
	return lost;
}

/* The segments of C in a slot in which something may be lost. */
static void rack_conn_losses(const struct rack *r, struct rack_port *p,
    struct rack_conn *c, struct rack_slot *s)
{
	const uint32_t had = c->lost, before = c->behind;
	const uint32_t dropped = s->step > 0 ? rack_conn_drop(c, s) : 0;
	const uint32_t kept = c->now - dropped;
	const uint32_t doomed =
	    p->link_rate > 0 ? rack_conn_link(r, p, c, kept) : 0;
	/* What a host sends it counts, even if its link loses it. */
	const uint32_t seen = p->out ? kept : kept - doomed;
	uint32_t again = c->now_retx;
	if (again > 0) {
		again -= dropped * again / c->now;
		again -= kept > seen ? doomed * again / kept : 0;
	}
	if (had > 0 && c->lost == had)
		c->behind = before + kept;
	c->marked += (float)kept * p->mark;
	s->kept += kept;
	s->dropped += dropped;
	s->doomed += doomed;
	s->retx += again < seen ? again : seen;
}

static void rack_slot_see(struct rack_slot *s, const struct rack_conn *c)
{
	s->sketch[c->bit >> 6] |= UINT64_C(1) << (c->bit & 63);
}

/* Nothing is lost: the common case. */
static void rack_conn_kept(const struct rack_port *p, struct rack_conn *c,
    struct rack_slot *s)
{
	c->marked += (float)c->now * p->mark;
	if (c->lost > 0)
		c->behind += c->now;
	s->kept += c->now;
	s->retx += c->now_retx;
}

static void rack_port_share(struct rack *r, struct rack_port *p,
    struct rack_slot *s)
{
	const int may_lose = p->dropped > 0 || p->link_rate > 0;
	if (p->dropped > 0) {
		s->step = (double)p->dropped / p->arrived;
		s->at = rack_draw(r, p);
	}
	for (size_t i = 0; i < p->n;) {
		struct rack_conn *c = &p->conn[i];
		if (c->now == 0) {
			i++;
			continue;
		}
		rack_slot_see(s, c);
		if (may_lose)
			rack_conn_losses(r, p, c, s);
		else
			rack_conn_kept(p, c, s);
		if (c->lost + c->owed + c->left == 0) {
			rack_keep(r, c);
			*c = p->conn[--p->n];
			continue;
		}
		i++;
	}
}

/* --- the queue -------------------------------------------------------------*/

/* Share of the slot in which the queue, going evenly from A to B, is above the
 * threshold. */
static float rack_mark_share(const struct rack *r, const struct rack_port *p,
    double a, double b)
{
	const double k = r->p.ecn;
	if (k <= 0 || p->out)
		return 0;
	if (a <= k && b <= k)
		return 0;
	if (a > k && b > k)
		return 1;
	return (float)((fmax(a, b) - k) / fabs(b - a));
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
	const uint32_t safe = s->kept - s->doomed;
	p->ce_carry += (double)safe * (double)p->mark;
	const double ce = floor(fmin(p->ce_carry, safe));
	p->ce_carry -= ce;
	p->chunk[(p->head + p->n_chunks++) & (p->ring - 1)] =
	    (struct rack_chunk){s->kept * r->p.segment, s->retx * r->p.segment,
		(uint32_t)ce * r->p.segment, s->doomed * r->p.segment,
		{s->sketch[0], s->sketch[1]}};
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

/* Let TAKE bytes of the first chunk C go. */
static void rack_chunk_leave(struct rack_port *p, struct rack_chunk *c,
    uint32_t take, struct rack_count *to)
{
	const uint32_t retx = rack_chunk_part(&c->retx, c->bytes, take);
	const uint32_t ce = rack_chunk_part(&c->ce, c->bytes, take);
	const uint32_t lost = rack_chunk_part(&c->doomed, c->bytes, take);
	c->bytes -= take;
	p->link += lost;
	p->gone += take - lost;
	to->sketch[0] |= c->sketch[0];
	to->sketch[1] |= c->sketch[1];
	if (p->out) {
		to->out += take;
		to->out_retx += retx;
		to->link_out += lost;
		return;
	}
	to->in += take - lost;
	to->in_retx += retx;
	to->in_ce += ce;
	to->link_in += lost;
}

static void rack_port_drain(struct rack *r, struct rack_port *p,
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
}

static void rack_count_add(struct rack_count *to, struct rack_count *from)
{
	to->in += from->in;
	to->in_retx += from->in_retx;
	to->in_ce += from->in_ce;
	to->link_in += from->link_in;
	to->sketch[0] |= from->sketch[0];
	to->sketch[1] |= from->sketch[1];
	*from = (struct rack_count){0};
}

/* What a stalled NIC has goes to the stack when the stall is over. What the
 * link loses is lost when it is lost. */
static void rack_port_receive(struct rack *r, struct rack_port *p)
{
	const int stalled = !p->out && p->stalled_until > r->now;
	if (!stalled && p->held.in > 0)
		rack_count_add(&p->count, &p->held);
	rack_port_drain(r, p, stalled ? &p->held : &p->count);
	p->count.link_in += p->held.link_in;
	p->held.link_in = 0;
	if (p->queue > p->count.queue_max)
		p->count.queue_max = p->queue;
}

int rack_port_settle(struct rack *r, struct rack_port *p, struct sim_err *e)
{
	struct rack_slot s = {0};
	const uint64_t kept =
	    (uint64_t)(p->arrived - p->dropped) * r->p.segment;
	const double after = (double)(p->queue + kept) - r->drain;
	p->mark = rack_mark_share(r, p, (double)p->queue, fmax(after, 0));
	if (p->arrived > 0)
		rack_port_share(r, p, &s);
	p->buffer += (uint64_t)s.dropped * r->p.segment;
	p->count.buffer += (uint64_t)s.dropped * r->p.segment;
	const int rc = rack_port_push(r, p, &s, e);
	if (rc < 0)
		return rc;
	rack_port_receive(r, p);
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
