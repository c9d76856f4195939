/* models/rack/window.c -- DCTCP's window: what it hears.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>

#include "models/rack/impl.h"

enum { RACK_MAX_BACKOFF = 6 };

static void rack_window_set(const struct rack *r, struct rack_conn *c,
    float window)
{
	c->window = fminf(fmaxf(window, (float)r->p.window_min),
	    (float)r->p.window_max);
}

/* What was sent before a cut is no reason for another, nor to grow. Of a slot
 * this is what came back before the cut made room for: all but BEHIND. */
static void rack_window_cut(const struct rack *r, struct rack_conn *c,
    float factor, uint32_t behind)
{
	const uint32_t todo = c->owed + c->left, room = rack_window_room(c);
	const uint32_t then = room > behind ? room - behind : 0;
	const uint32_t ahead = todo < then ? todo : then;
	if (c->ahead < ahead)
		c->ahead = (uint16_t)(ahead < UINT16_MAX ? ahead : UINT16_MAX);
	rack_window_set(r, c, c->window * factor);
	c->threshold = c->window;
	c->cut_end = c->sent + c->ahead;
}

/* A segment for each that came back, after the first cut for a window of them;
 * but not if less than half of the window was used, as the line is slower
 * (Linux, tcp_is_cwnd_limited). */
static void rack_window_grow(const struct rack *r, struct rack_conn *c, float n)
{
	const float room = ceilf(c->threshold - c->window);
	if (n <= 0 || c->window >= 2 * (float)(c->flying + 1))
		return;
	if (room > 0) {
		const float fast = fminf(room, n);
		c->window += fast;
		n -= fast;
	}
	rack_window_set(r, c, c->window + n / c->window);
}

/* RFC 8257, section 3.3: alpha is a moving average of the share marked. */
static void rack_window_round(const struct rack *r, struct rack_conn *c)
{
	const float share = (float)c->n_marked / (float)c->n_acked;
	c->alpha += (float)r->p.gain * (share - c->alpha);
	c->n_acked = c->n_marked = 0;
	c->round_end = c->sent;
}

/* N of those lost are known to be. */
static void rack_window_owe(struct rack_conn *c, uint32_t n)
{
	c->owed += n;
	c->lost -= n;
}

/* N segments more came behind those lost; how many are known to be by that. */
static uint32_t rack_window_known(struct rack_conn *c, uint32_t n)
{
	uint32_t known = 0;
	for (; n > 0 && known < c->lost; n--) {
		known += c->near[2];
		c->near[2] = c->near[1];
		c->near[1] = c->near[0];
		c->near[0] = 0;
	}
	return known;
}

void rack_window_hear(const struct rack *r, struct rack_conn *c, uint32_t n,
    uint32_t marked)
{
	const uint32_t first = c->seen;
	const uint32_t known = c->lost > 0 ? rack_window_known(c, n) : 0;
	c->seen += n;
	c->backoff = 0;
	c->n_acked += n;
	c->n_marked += marked;
	if (first >= c->round_end)
		rack_window_round(r, c);
	if (known > 0) {
		if (c->lost_end > c->cut_end)
			rack_window_cut(r, c, 0.5f, n);
		rack_window_owe(c, known);
	}
	if (first < c->cut_end)
		return;
	rack_window_grow(r, c, (float)(n - marked));
	if (marked > 0)
		rack_window_cut(r, c, 1 - c->alpha / 2, marked);
}

void rack_window_lose(const struct rack *r, struct rack_conn *c, uint32_t n,
    const uint16_t near[3])
{
	c->seen += n;
	c->lost += n;
	c->lost_end = c->seen;
	for (unsigned i = 0; i < 3; i++) {
		c->near[i] += near[i];
		n -= near[i];
	}
	if (n > 0 && c->lost_end > c->cut_end)
		rack_window_cut(r, c, 0.5f, 0);
	rack_window_owe(c, n);
}

void rack_window_again(const struct rack *r, struct rack_conn *c)
{
	c->threshold = fmaxf(c->window / 2, (float)r->p.window_min);
	c->window = 1;
	c->n_acked = c->n_marked = 0;
	c->credit = 0;
	c->round_end = c->cut_end = c->sent;
	c->near[0] = c->near[1] = c->near[2] = 0;
	rack_window_owe(c, c->lost);
}

uint32_t rack_window_wait(const struct rack *r, struct rack_conn *c)
{
	const uint32_t far = c->cross ? r->cross_slots : 0;
	const uint32_t slots = (r->rto_slots + far) << c->backoff;
	if (c->backoff < RACK_MAX_BACKOFF)
		c->backoff++;
	return slots;
}
