/* experiments/live/page/share.c -- a share of the time, and no more.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/page/share.h"

int xp_live_share_may(struct xp_live_share *s, sim_ns now)
{
	const sim_ns waited = (now - s->at) / (sim_ns)s->parts;
	const int64_t lacks = s->saved_ns - s->left_ns;
	s->left_ns += waited > (sim_ns)lacks ? lacks : (int64_t)waited;
	s->at = now;
	return s->left_ns > 0;
}

void xp_live_share_spend(struct xp_live_share *s, sim_ns took)
{
	s->left_ns -= (int64_t)took;
}
