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

/* Segments that C offers. If nothing comes back it sends its window at the
 * line's rate, and no more; else a window in a round trip. */
static uint32_t rack_conn_offer(struct rack_conn *c, float k, float cap,
    int silent)
{
	const uint32_t todo = c->owed + c->left;
	/* What is lost and not known to be fills the window. */
	const float open = fmaxf(c->window - (float)c->lost, 0);
	c->credit += fminf(c->first ? cap : open * k, cap);
	uint32_t n = (uint32_t)c->credit;
	if (c->first || silent) {
		const uint32_t most = (uint32_t)open;
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
	c->now = (uint16_t)n;
	c->again = (uint16_t)again;
	return n;
}

/* Something is to be told to C. Returns 1 if it left the port, 0, or an
 * error. */
static int rack_port_tell(struct rack *r, struct rack_port *p, size_t i,
    float rtt, struct sim_err *e)
{
	struct rack_conn *c = &p->conn[i];
	const uint32_t end = p->stalled_until * RACK_TICKS;
	uint32_t wait = 0;
	if (p->stalled_until > r->now) {
		/* Whoever does not hear of anything now does so then. */
		c->round_end = c->round_end > end ? c->round_end : end;
		c->mark_told = c->mark_told > end ? c->mark_told : end;
		c->loss_told = c->loss_told > end ? c->loss_told : end;
		return 0;
	}
	if (!rack_window_hear(r, c, r->now * RACK_TICKS, rtt, &wait))
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
		if (now >= c->round_end || now >= c->mark_told ||
		    now >= c->loss_told) {
			const int rc = rack_port_tell(r, p, i, rtt, e);
			if (rc < 0)
				return rc;
			if (rc > 0)
				continue;
		}
		all += rack_conn_offer(c, k, cap, stalled);
		again += c->again;
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

static uint8_t rack_conn_few(double n)
{
	return n < RACK_DUPACKS ? (uint8_t)fmax(n, 0) : RACK_DUPACKS;
}

/* N more of C are lost, with so many of the slot behind the first and the last
 * of them, and GAP between two. */
static void rack_conn_lose(const struct rack_port *p, struct rack_conn *c,
    uint32_t n, double behind_first, double behind_last, double gap)
{
	const double few = RACK_DUPACKS - floor(behind_last);
	if (c->lost == 0) {
		c->behind = rack_conn_few(behind_first);
		c->loss_told = p->told;
	}
	c->lost += n;
	c->tail_behind = rack_conn_few(behind_last);
	c->tail = (uint16_t)(few > 0 && few < n * gap ? ceil(few / gap) : n);
}

/* Lost segments stand evenly over a slot: at the whole numbers that C's part of
 * it passes. */
static uint32_t rack_conn_drop(const struct rack_port *p, struct rack_conn *c,
    struct rack_slot *s)
{
	const double to = s->at + c->now * s->step;
	const double first = (floor(s->at) + 1 - s->at) / s->step;
	const double last = (to - floor(to)) / s->step;
	uint32_t n = (uint32_t)(floor(to) - floor(s->at));
	n = n < c->now ? n : c->now;
	s->at = to;
	if (n > 0)
		rack_conn_lose(p, c, n, c->now - first - (n - 1), last,
		    1 / s->step - 1);
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
		const double behind = (double)(n - 1 - at);
		rack_conn_lose(p, c, 1, behind, behind, 0);
	}
	p->link_until = at - n;
	return lost;
}

/* The round that begins with this slot ends when its first segments are
 * back. */
static void rack_conn_mark(const struct rack_port *p, struct rack_conn *c,
    uint32_t n)
{
	if (c->sent == c->now)
		c->round_end = p->told;
	if (p->mark == 0)
		return;
	c->marked += (float)n * p->mark;
	if (c->mark_told == RACK_NEVER)
		c->mark_told = p->told;
}

/* The segments of C in a slot in which something may be lost. */
static void rack_conn_losses(const struct rack *r, struct rack_port *p,
    struct rack_conn *c, struct rack_slot *s)
{
	const uint32_t had = c->lost;
	const uint32_t dropped = s->step > 0 ? rack_conn_drop(p, c, s) : 0;
	const uint32_t kept = c->now - dropped;
	const uint32_t doomed =
	    p->link_rate > 0 ? rack_conn_link(r, p, c, kept) : 0;
	/* What a host sends it counts, even if its link loses it. */
	const uint32_t seen = p->out ? kept : kept - doomed;
	uint32_t again = c->again;
	if (again > 0) {
		again -= dropped * again / c->now;
		again -= kept > seen ? doomed * again / kept : 0;
	}
	if (had > 0)
		c->behind = rack_conn_few(c->behind + kept - doomed);
	if (had > 0 && had == c->lost)
		c->tail_behind = rack_conn_few(c->tail_behind + kept);
	rack_conn_mark(p, c, kept);
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
	rack_conn_mark(p, c, c->now);
	if (c->lost > 0) {
		c->behind = rack_conn_few(c->behind + c->now);
		c->tail_behind = rack_conn_few(c->tail_behind + c->now);
	}
	s->kept += c->now;
	s->retx += c->again;
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

static void rack_port_release(struct rack_port *p)
{
	rack_count_add(&p->count, &p->held);
	p->held = (struct rack_count){0};
}

/* What a stalled NIC has goes to the stack when the stall is over. What the
 * link loses is lost when it is lost. */
static void rack_port_receive(struct rack *r, struct rack_port *p)
{
	const int stalled = !p->out && p->stalled_until > r->now;
	if (!stalled && p->held.in > 0)
		rack_port_release(p);
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
	p->told = r->now * RACK_TICKS +
	    rack_ticks(r->rtt_slots + (float)(fmax(after, 0) * r->per_line));
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
