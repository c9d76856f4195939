/* models/rack/window.c -- DCTCP's window, once a round trip.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>

#include "models/rack/impl.h"

/* Three segments behind a loss tell the sender of it (RFC 5681). */
enum { RACK_DUPACKS = 3, RACK_MAX_BACKOFF = 6 };

static void rack_window_set(const struct rack *r, struct rack_conn *c,
    float window)
{
	c->window = fminf(fmaxf(window, (float)r->p.window_min),
	    (float)r->p.window_max);
}

/* RFC 8257, section 3.3: alpha is a moving average of the share marked, and the
 * window is cut by half of it. A window of which less than half was used, as the
 * line is slower, does not grow (Linux, tcp_is_cwnd_limited). */
static void rack_window_answer(const struct rack *r, struct rack_conn *c)
{
	const float share = c->marked / (float)c->sent;
	const float g = (float)r->p.gain;
	c->alpha += g * (share - c->alpha);
	if (c->marked > 0) {
		rack_window_set(r, c, c->window * (1 - c->alpha / 2));
		c->threshold = c->window;
	} else if (c->window < 2 * (float)c->sent) {
		rack_window_set(r, c,
		    c->window < c->threshold
			? fminf(2 * c->window, c->threshold)
			: c->window + 1);
	}
}

static void rack_window_lost(const struct rack *r, struct rack_conn *c)
{
	rack_window_set(r, c, c->window / 2);
	c->threshold = c->window;
	c->owed += c->lost;
	c->lost = 0;
	c->behind = 0;
}

void rack_window_again(const struct rack *r, struct rack_conn *c)
{
	c->threshold = fmaxf(c->window / 2, (float)r->p.window_min);
	c->window = 1;
	c->owed += c->lost;
	c->lost = 0;
	c->behind = 0;
	c->marked = 0;
	c->sent = 0;
	c->credit = 0;
	c->round_end = r->now * RACK_TICKS + rack_ticks(r->rtt_slots);
}

int rack_window_round(const struct rack *r, struct rack_conn *c, float rtt,
    uint32_t *wait)
{
	const int silent = c->sent > 0 && c->sent <= c->lost && c->behind == 0;
	if (c->lost > 0 && c->behind < RACK_DUPACKS &&
	    (silent || c->left + c->owed == 0)) {
		*wait = r->rto_slots << c->backoff;
		if (c->backoff < RACK_MAX_BACKOFF)
			c->backoff++;
		return 1;
	}
	/* A loss that too few came behind yet waits for the next round. */
	if (c->lost > 0 && c->behind >= RACK_DUPACKS)
		rack_window_lost(r, c);
	else if (c->sent > 0)
		rack_window_answer(r, c);
	if (c->lost == 0)
		c->backoff = 0;
	c->marked = 0;
	c->sent = 0;
	c->round_end += rack_ticks(rtt);
	if (c->round_end <= r->now * RACK_TICKS)
		c->round_end = (r->now + 1) * RACK_TICKS;
	return 0;
}
