/* experiments/live/page/view_parts.h -- a view: queries, and what they take.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_LIVE_PAGE_VIEW_PARTS_H
#define EXPERIMENTS_LIVE_PAGE_VIEW_PARTS_H

#include <stddef.h>

enum { LIVE_VIEW_PARTS = 5 };

/* A query takes the job first, where there is one, and then the numbers. Its columns
 * are named as they are in the answer. */
struct xp_live_view {
	const char *name;
	int has_job;
	size_t n_numbers;
	struct xp_live_part {
		const char *key, *sql;
	} part[LIVE_VIEW_PARTS];
	int has_pods; /* and says how each pod is, by the second part */
};

extern const struct xp_live_view xp_live_view_now;
extern const struct xp_live_view xp_live_views[]; /* ends without a name */

#endif
