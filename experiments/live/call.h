/* experiments/live/call.h -- one request of a running daemon, by libcurl.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For verbs that take a URL in place of a file: experiments/everflow/control.h
 * answers. Without libcurl call_none.c stands in its place.
 */
#ifndef EXPERIMENTS_LIVE_CALL_H
#define EXPERIMENTS_LIVE_CALL_H

#include <stdint.h>
#include <stdio.h>

#include "experiments/live/identity.h"
#include "sim/err.h"

enum { XP_CALL_MOST = 8 };

/* Parameters whose value is NULL are left out. */
struct xp_call {
	const char *method, *url, *path; /* "GET", "http://...", "/traces" */
	const char *key[XP_CALL_MOST], *value[XP_CALL_MOST];
	size_t n;
	/* Not NULL: show its certificate and believe its authorities alone; or,
	 * if it is without files, ask none but this host in the clear. */
	const struct xp_identity *identity;
	long most_s; /* for all of it; 0: as long as something comes */
};

/* What came. */
struct xp_call_got {
	long status;
	char note[96]; /* that the answer lacks something; "": nothing */
	uint64_t n_bytes, n_lines;
};

/* Is it a URL rather than a file? */
int xp_call_is_url(const char *text);

void xp_call_add(struct xp_call *c, const char *key, const char *value);

/* Ask, and write the answer to OUT, less carriage returns. Who is silent for 30 s,
 * or takes 5 s to be reached, is not waited for.
 * Errors SIM_EINVAL (no such URL; 4xx, with what the daemon says), SIM_ELIMIT
 * (409, likewise), SIM_EIO (no answer, or a part of one), SIM_EUNSUPPORTED (no
 * libcurl), SIM_ENOMEM. */
int xp_call(const struct xp_call *c, FILE *out, struct xp_call_got *got,
    struct sim_err *e);

#endif
