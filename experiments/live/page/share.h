/* experiments/live/page/share.h -- a share of the time, and no more.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Of any T nanoseconds at most SAVED + T / PARTS are spent, and what the last that
 * was begun took beyond that.
 */
#ifndef EXPERIMENTS_LIVE_PAGE_SHARE_H
#define EXPERIMENTS_LIVE_PAGE_SHARE_H

#include <stdint.h>

#include "sim/time.h"

struct xp_live_share {
	int64_t saved_ns, parts;
	int64_t left_ns; /* saved_ns at first */
	sim_ns at;       /* when that was left; any at first */
};

/* Whether something may begin NOW. */
int xp_live_share_may(struct xp_live_share *s, sim_ns now);

/* It took so long. */
void xp_live_share_spend(struct xp_live_share *s, sim_ns took);

#endif
