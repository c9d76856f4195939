/* experiments/millisampler/strip.h -- one run of one host, as strips of six series.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A column stands for some buckets, and shows the greatest of them: what fills a
 * line for a single bucket is what one looks for, and must not be averaged away.
 */
#ifndef EXPERIMENTS_MILLISAMPLER_STRIP_H
#define EXPERIMENTS_MILLISAMPLER_STRIP_H

#include <stdio.h>

#include "models/obs_samples.h"
#include "sim/err.h"

/* X(name, column, unit, what it is called); bytes are shown as a share of what
 * the line carries. */
#define XP_STRIPS(X)                                                           \
	X(IN, in_bytes, "of the line", "came in")                              \
	X(OUT, out_bytes, "of the line", "went out")                           \
	X(CE, in_ce, "of the line", "marked by a queue")                       \
	X(IN_RETX, in_retx, "of the line", "in, sent again")                   \
	X(OUT_RETX, out_retx, "of the line", "out, sent again")                \
	X(CONNS, conns, "", "connections")
enum {
#define X(name, column, unit, text) XP_STRIP_##name,
	XP_STRIPS(X)
#undef X
	    XP_N_STRIPS
};

struct xp_strip {
	const char *title; /* borrowed */
	struct obs_run run;
	size_t n_columns;
	double *value;           /* [XP_N_STRIPS][n_columns] */
	double max[XP_N_STRIPS]; /* of a bucket */
	double sum[XP_N_STRIPS]; /* bytes, or connections, of all buckets */
};

/* Of a run and all its rows T; as many columns as MOST at most. Errors
 * SIM_ENOMEM. */
int xp_strip_make(struct xp_strip *s, const struct obs_run *run,
    const struct obs_samples *t, size_t most, struct sim_err *e);
void xp_strip_free(struct xp_strip *s);

/* A line a series, for a terminal with UTF-8; an SVG, whole. */
void xp_strip_print(const struct xp_strip *s, FILE *out);
void xp_strip_draw(const struct xp_strip *s, FILE *out);

#endif
