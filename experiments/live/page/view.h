/* experiments/live/page/view.h -- what a target asks of the database, as JSON.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_LIVE_PAGE_VIEW_H
#define EXPERIMENTS_LIVE_PAGE_VIEW_H

#include <stdio.h>

#include "results/sql/sql.h"

enum {
	LIVE_VIEW_WORDS = 4,
	LIVE_VIEW_WINDOWS = 1008, /* a week of 10 minutes */
	LIVE_VIEW_MAX_PODS = 256,
};

struct xp_live_view;

/* What a target asks for. */
struct xp_live_ask {
	const struct xp_live_view *view;
	const char *job; /* NULL: of none */
	int64_t number[LIVE_VIEW_WORDS];
	size_t n;
};

/* Read TARGET, byte for byte as page.h has it: 1, or 0 if it is none. */
int xp_live_ask_read(struct xp_live_ask *a, const char *target);

/* Write the members of an object, each a table, in one transaction. Errors those
 * of res_sql_ask(). */
int xp_live_view_put(const struct xp_live_ask *a, struct res_sql *db, FILE *out,
    struct sim_err *e);

/* Such an ask without a target of its own: what /v1/now says of the database. */
extern const struct xp_live_ask xp_live_ask_now;

#endif
