/* experiments/live/fetch_head.h -- what an agent keeps of the head of an answer.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_LIVE_FETCH_HEAD_H
#define EXPERIMENTS_LIVE_FETCH_HEAD_H

#include <stddef.h>

#include "experiments/live/list_mark.h"

enum { XP_FETCH_TAG = 128 };

/* "": there is none. */
struct xp_fetch_head {
	char tag[XP_FETCH_TAG];  /* the list's, to be sent back */
	char mark[XP_LIST_MARK]; /* its signature */
};

/* A line of the head, of N bytes with its end. Interim answers (100) and the
 * headers of each may come before the last one, so every status line forgets what
 * came before it. A value that is too long, or has bytes that it cannot have, is
 * none. */
void xp_fetch_head_line(struct xp_fetch_head *h, const char *line, size_t n);

#endif
