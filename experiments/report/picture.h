/* experiments/report/picture.h -- what there is to be seen of one cell.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	a cell --> picture --> layout --> drawing (SVG)
 *	             '--> tables of what was broken and what was said (HTML)
 *
 * Of a cell of several windows it is the last one, as in xp_trial_print().
 */
#ifndef EXPERIMENTS_REPORT_PICTURE_H
#define EXPERIMENTS_REPORT_PICTURE_H

#include "experiments/sweep/trial.h"

/* What has a name in a picture: a directed link or a switch. */
struct xp_part {
	uint8_t is_switch;
	uint32_t id;
};

enum { XP_MAX_PARTS = 14 };

/* Zeroed is empty. */
struct xp_picture {
	struct xp_cell cell; /* borrowed from the trial, until its next cell */
	uint32_t run;
	char *text; /* as `culprit run --point --run` prints it */

	/* By directed link: failed flows that crossed it, and packets lost on
	 * it. Where a path is not known its flow counts on what is known. */
	uint32_t *flows, *drops;
	uint64_t n_ran, n_failed, n_lost;
	size_t n_windows, n_links;

	/* Those that matter, the first of them: broken ones, the worst first;
	 * then those that most algorithms accuse; then those that one ranks
	 * first. MORE of each are left out. */
	struct xp_part part[XP_MAX_PARTS];
	size_t n_parts, more_broken, more_accused;
};

/* Run the cell (POINT, RUN) of T and take its picture; ROW as of
 * xp_trial_run(). P is zeroed or of an earlier cell.
 * Errors those of xp_trial_run(), SIM_ENOMEM. */
int xp_picture_take(struct xp_picture *p, struct xp_trial *t, size_t point,
    uint32_t run, double row[], struct sim_err *e);
void xp_picture_free(struct xp_picture *p);

/* "faults.rate 0.0005, traffic.conns 60": the point of C, or of a cell the
 * first; "" where nothing is swept. */
void xp_point_text(const struct res_cube *c, size_t point, char buf[],
    size_t size);

/* What an algorithm said of a part. */
enum xp_word { XP_WORD_NONE, XP_WORD_HIT, XP_WORD_FALSE, XP_WORD_MISSED };
extern const char *const xp_word_names[]; /* "", "hit", "false", "missed" */
struct xp_saying {
	enum xp_word word;
	size_t rank; /* 0: it did not list it */
	double score;
};
struct xp_saying xp_picture_said(const struct xp_picture *p, size_t algo,
    struct xp_part part);

/* "t1.6->t2.4", "tor3". */
void xp_part_name(const struct xp_picture *p, struct xp_part part,
    char name[64]);

/* "drop rate 0.0005, from 300 s to 600 s"; "" if nothing is wrong with it. */
void xp_part_fault(const struct xp_picture *p, struct xp_part part, char buf[],
    size_t size);
int xp_part_is_broken(const struct xp_picture *p, struct xp_part part);

#endif
