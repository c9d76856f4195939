/* results/picture.h -- a sweep arranged to be drawn: panels of curves.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One axis of a sweep goes across. What else varies (other axes, algorithms,
 * metrics) becomes curves of one panel or panels beside each other; nothing is
 * ever joined over two values of it. All numbers are those of the sweep's table
 * (results/table.h), so none is computed here.
 *
 * What is not wished for is chosen:
 *
 *	metrics  those that were measured: of algorithms per-flow accuracy,
 *	         precision and recall, else what probes or flows tell
 *	x        the axis of numbers that has most values, else that of texts
 *	curves   algorithms, if there are several; else the first axis that is
 *	         left, if it has no more than RES_FEW values
 *	panels   all else
 *	heat map if an axis is left that has too many values for either
 *
 * A zip's axis goes by its `label`, else by its first coordinate that tells its
 * values apart, which across is rather one of numbers; else by all of them. An
 * axis of numbers is logarithmic if its values grow rather by factors than by
 * sums. One of texts (words, lists, laws that values are drawn from) has a place
 * for each, where curves stand beside each other.
 */
#ifndef RESULTS_PICTURE_H
#define RESULTS_PICTURE_H

#include <stdio.h>

#include "results/cube.h"
#include "sim/err.h"

enum { RES_FEW = 8, RES_MAX_CURVES = 24, RES_MAX_PANELS = 36 };

/* Names are of coordinates ("faults.rate"), or "algorithm" or "metric". */
struct res_wish {
	const char *x, *by, *panels; /* NULL: as chosen */
	const char *const *metric;   /* [n_metrics]; none: as chosen */
	const char *const *curve;    /* [n_curves]; none: all */
	size_t n_metrics, n_curves;
	int heatmap, log_x, log_y; /* 0: as chosen */
};

/* Of panels and curves of one metric. */
enum res_bars {
	RES_NO_BARS,
	RES_INTERVALS = 1, /* the table's _lo to _hi */
	RES_SPREADS = 2,   /* where it has none, _p10 to _p90 */
};

struct res_panel {
	const char *title; /* "alg1, faults.count = 5"; or "" */
	const struct res_metric *metric;
	size_t place;       /* row * n_across + column; some may be free */
	size_t first, n;    /* of its curves */
	int from_0;         /* nothing is below 0 */
	int is_share;       /* ratios, and not all of them small ones */
	double least, most; /* of what is drawn, with its intervals */
};

struct res_curve {
	const char *name;
	size_t nth;      /* of the legend's entries */
	size_t first, n; /* of its dots */
};

/* A point of the sweep in a panel. Of a heat map Y is a place. */
struct res_dot {
	const char *x; /* as a tick says it */
	double at;     /* where that is across */
	double y, lo, hi;
	double value; /* of a heat map */
};

struct res_entry {
	const char *name;
	int is_algo; /* the label of an algorithm */
};

struct res_picture {
	/* "" where there is none; x_with: the other coordinates of x's zip */
	const char *x_name, *x_unit, *x_with, *y_name, *by_name;
	int is_heatmap, log_x, log_y;
	double low, high;            /* ends of an axis of numbers */
	enum res_bars bars;          /* that are there */
	size_t n_across;             /* panels in a row of them */
	size_t n_ticks, n_y_ticks;   /* 0: an axis of numbers */
	const char **tick, **y_tick; /* the n-th stands at n */
	size_t n_panels, n_curves, n_dots, n_entries, n_below;
	struct res_panel *panel;
	struct res_curve *curve;
	struct res_dot *dot;
	struct res_entry *entry; /* of the legend */
	/* n_below: dots of 0 and less that a logarithmic scale does not have */

	/* for the other functions of this page */
	char **text;
	size_t n_texts, cap[6];
};

/* P need not be initialised, and is empty after an error.
 * Errors SIM_EINVAL: a wish that this sweep cannot fulfil, with what it has;
 * SIM_ELIMIT: more curves or panels than above; SIM_EMISMATCH: no metric was
 * measured; those of results/table.h. Cost that of the table. */
int res_picture_arrange(struct res_picture *p, const struct res_cube *c,
    const struct res_wish *w, struct sim_err *e);
void res_picture_free(struct res_picture *p);

/* One row a dot, in order: panel, metric, curve, x, at, y, lo, hi; of a heat map
 * value in place of lo and hi. */
void res_picture_write(const struct res_picture *p, FILE *out);

#endif
