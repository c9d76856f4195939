/* experiments/live/fetch_head.h -- what an agent keeps of the head of an answer.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_LIVE_FETCH_HEAD_H
#define EXPERIMENTS_LIVE_FETCH_HEAD_H

#include <stddef.h>

#include "experiments/live/list_mark.h"

enum { XP_FETCH_TAG = 128 };

/* Zeroed is one of which no line has come. */
struct xp_fetch_head {
	char tag[XP_FETCH_TAG];  /* the list's, to be sent back; "": none */
	char mark[XP_LIST_MARK]; /* its signature; "": none */
	/* Of how its body is told. */
	unsigned n_lengths, n_codings;
	int is_chunked; /* the last coding was that */
	int is_packed;  /* it has a content coding, which nobody asked for */
	int is_folded;  /* a line goes on in the next */
};

/* A line of the head, of N bytes with its end. Interim answers (100) and the
 * headers of each may come before the last one, so every status line forgets what
 * came before it. A value that is too long, or has bytes that it cannot have, is
 * none. */
void xp_fetch_head_line(struct xp_fetch_head *h, const char *line, size_t n);

/* Why the body below H cannot be taken for what was sent, or NULL: a proxy in between
 * may have read another length than we (RFC 9112 6.3), or nobody here unpacks it. */
const char *xp_fetch_head_ill(const struct xp_fetch_head *h);

#endif
