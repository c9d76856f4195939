/* models/rack/window.c -- DCTCP's window: what it hears, and when.
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

/* What came back in the round that ends. */
static float rack_window_acked(const struct rack_conn *c)
{
	return c->sent > c->lost ? (float)(c->sent - c->lost) : 0;
}

/* RFC 8257, section 3.3: alpha is a moving average of the share marked. */
static float rack_window_share(const struct rack *r, struct rack_conn *c)
{
	const float acked = rack_window_acked(c);
	const float share = acked > 0 ? fminf(c->marked / acked, 1) : 0;
	if (acked > 0)
		c->alpha += (float)r->p.gain * (share - c->alpha);
	c->marked = 0;
	c->sent = 0;
	return share;
}

/* Until a round trip after a cut what comes back was sent before it, and the
 * window does not grow. */
static void rack_window_cut(const struct rack *r, struct rack_conn *c,
    float factor, uint32_t now, float rtt)
{
	rack_window_set(r, c, c->window * factor);
	c->threshold = c->window;
	c->round_end = now + rack_ticks(rtt);
}

/* What comes back unmarked lets the window grow, but not if less than half of
 * it was used, as the line is slower (Linux, tcp_is_cwnd_limited). */
static void rack_window_round(const struct rack *r, struct rack_conn *c)
{
	const float used = (float)c->sent, free = c->threshold - c->window;
	const float acked = rack_window_acked(c);
	const float came = acked * (1 - rack_window_share(r, c));
	if (came > 0 && c->window < 2 * used)
		rack_window_set(r, c,
		    c->window +
			(free > 0 ? fminf(free, came) : came / c->window));
	if (c->lost == 0)
		c->backoff = 0;
	c->first = 0;
}

/* All but the last KEEP are known to be lost. */
static void rack_window_owe(struct rack_conn *c, uint32_t keep)
{
	c->owed += c->lost - keep;
	c->lost = keep;
	c->behind = c->tail_behind;
	c->mark_told = RACK_NEVER;
	c->cut = keep > 0;
	if (keep == 0)
		c->loss_told = RACK_NEVER;
}

void rack_window_again(const struct rack *r, struct rack_conn *c)
{
	c->threshold = fmaxf(c->window / 2, (float)r->p.window_min);
	c->window = 1;
	c->marked = 0;
	c->sent = 0;
	c->credit = 0;
	c->first = 1;
	c->round_end = r->now * RACK_TICKS + rack_ticks(r->rtt_slots);
	rack_window_owe(c, 0);
}

/* If too little came behind a loss, the sender hears nothing of it; as long as
 * its window has room for more, that may come. What was sent before a cut is no
 * reason for another. */
static int rack_window_loss(const struct rack *r, struct rack_conn *c,
    uint32_t now, float rtt, uint32_t *wait)
{
	if (c->behind >= RACK_DUPACKS) {
		const int all = c->tail_behind >= RACK_DUPACKS;
		if (!c->cut)
			rack_window_cut(r, c, 0.5f, now, rtt);
		c->loss_told = now + rack_ticks(rtt);
		rack_window_owe(c, all ? 0 : c->tail);
		return 0;
	}
	c->loss_told = now + rack_ticks(rtt);
	if (c->left + c->owed > 0 && c->window >= (float)(c->lost + 1))
		return 0;
	*wait = r->rto_slots << c->backoff;
	if (c->backoff < RACK_MAX_BACKOFF)
		c->backoff++;
	return 1;
}

int rack_window_hear(const struct rack *r, struct rack_conn *c, uint32_t now,
    float rtt, uint32_t *wait)
{
	if (now >= c->loss_told && rack_window_loss(r, c, now, rtt, wait))
		return 1;
	if (now >= c->mark_told) {
		c->mark_told = RACK_NEVER;
		rack_window_share(r, c);
		rack_window_cut(r, c, 1 - c->alpha / 2, now, rtt);
		c->cut = c->lost > 0;
	}
	if (now >= c->round_end) {
		rack_window_round(r, c);
		c->round_end += rack_ticks(rtt);
		if (c->round_end <= now)
			c->round_end = now + RACK_TICKS;
	}
	return 0;
}
