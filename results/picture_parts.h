/* results/picture_parts.h -- what a picture's parts agree on.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef RESULTS_PICTURE_PARTS_H
#define RESULTS_PICTURE_PARTS_H

#include "results/picture.h"
#include "results/sheet.h"

#define RES_NONE SIZE_MAX

/* What an axis is in the picture, and what algorithms are. */
enum res_role { RES_ONE, RES_ACROSS, RES_CURVES, RES_PANELS, RES_UP };

struct res_choice {
	const struct res_cube *c;
	const struct res_wish *w;
	const struct res_sheet *s;
	size_t n_metrics;
	const struct res_metric *metric[RES_MAX_PANELS];
	enum res_role role[RES_MAX_AXES];
	/* The coordinate that tells the values of an axis; RES_NONE: all of
	 * them together do. */
	size_t coord[RES_MAX_AXES];
	enum res_role algos;
	size_t x, by, up; /* axes, RES_NONE if there is none */
};

/* Fulfil W, and choose the rest. Errors as of res_picture_arrange(). */
int res_picture_choose(struct res_choice *to, const struct res_cube *c,
    const struct res_sheet *s, const struct res_wish *w, struct sim_err *e);

/* Does it belong to an algorithm, and not to the trial? */
int res_picture_of_algo(const struct res_metric *m);

/* The column of that metric, of ALGO if it is an algorithm's. */
size_t res_picture_column(const struct res_choice *to, size_t algo,
    const struct res_metric *m, const char *suffix);

/* The numbers of an axis, or NULL if it is told by texts. */
const double *res_picture_numbers(const struct res_choice *to, size_t axis);

/* The name of an axis: of its coordinate, or of all with commas between. */
void res_picture_axis_name(const struct res_choice *to, size_t axis,
    char buf[256]);

/* A picture in the making. */
struct res_arranger {
	struct res_picture *p;
	struct res_sheet sheet;
	struct res_choice choice;
	size_t *order; /* [values across], by increasing number */
	size_t at[RES_MAX_AXES];
	size_t algo; /* of the curve or panel that is being made */
	const struct res_metric *metric;
	struct sim_err *e;
};

/* The picture's own copy of TEXT, on one line; NULL without memory. */
const char *res_picture_keep(struct res_arranger *a, const char *text);

/* The same of the I-th value of an axis, cut, as some are whole networks. */
const char *res_picture_keep_value(struct res_arranger *a, size_t axis,
    size_t i);

/* Names, order, scale and ticks of what goes across, and up in a heat map. Errors
 * SIM_EINVAL if --logx and --logy do not fit these; SIM_ENOMEM. */
int res_picture_arrange_across(struct res_arranger *a);

/* SIM_EINVAL, "there is no WHAT "WORD"; ...", with the nearest of those that
 * there are and all of them. */
int res_picture_unknown(const char *what, const char *word,
    const char *const known[], size_t n, struct sim_err *e);

#endif
