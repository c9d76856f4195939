/* results/table.h -- a cube as a table: by points, by runs, or tidy.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * RES_POINTS has a row a point, and of columns (results/rows.h has the formats):
 *
 *	<coordinate>            each coordinate of each axis, by its path
 *	runs                    runs that are done
 *	<trial metric>          mean over runs
 *	<trial metric>_lo, _hi  95 % interval of it by Student's law, between
 *	                        runs; NaN of one run
 *	<trial ratio>           as an algorithm's, without its name
 *	<algo>:<ratio>          pooled over runs: sum of hits / sum of trials
 *	<algo>:<ratio>_lo, _hi  exact 95 % binomial interval of the pooled
 *	                        ratio; it takes trials as independent
 *	                        (one that ended the point, by --until-ci, is
 *	                        that of results/until.h)
 *	<algo>:<ratio>_p10, _p50, _p90   quantiles over runs: the spread over
 *	                        seeds, which shows how far they are not
 *	<algo>:<ratio>_trials   denominator
 *	<algo>:accuracy_failed  likewise, of an algorithm's hits among the
 *	                        trial's failed flows; where there are agents
 *	<algo>:worst_rank       mean over runs, with _lo, _hi as above and
 *	                        _p10, _p50, _p90
 *	<algo>:n_flagged        the same
 *	<algo>:lead             the same
 *	<algo>:detect_s         the same
 *	<algo>:f                the same
 *	<algo>:f_less           F less that of the first algorithm, mean of the
 *	                        runs that both have, with _lo, _hi as above
 *	<algo>:ece              how far chances are right, pooled over runs, with
 *	                        _lo, _hi, _if_right and _trials: res_calibration();
 *	                        where scores are chances
 *	claim:<metric>          the paper's value, the same in every row; of
 *	                        several, the second is claim:<metric>_2
 *
 * RES_RUNS has a row a run that is done: the coordinates, `run`, and all that was
 * measured, as <trial metric>, <trial ratio>, <algo>:<metric>, <algo>:<ratio>. For
 * distributions over runs.
 *
 * RES_TIDY has a row a point, algorithm and metric, as pandas and ggplot want it:
 *
 *	<coordinate>  each
 *	algorithm     its label; nothing for what is the trial's own
 *	metric, unit  as results/schema.h has it; those that were measured
 *		      anywhere, and those that are asked for by name
 *	value         ratios pooled over runs, of others the mean of runs
 *	lo, hi        95 % interval of it, between runs
 *	interval      which one: `binomial_runs`, exact for so many trials as
 *		      tell as much as these runs do; `binomial`, exact for all
 *		      trials, where runs show no spread (one run, none, or all);
 *		      `t`, Student's; `none`, as of one run
 *	se            standard error between runs
 *	n             runs of those done in which it was measured
 *	trials        sum of denominators; of what is no ratio NaN
 *	runs          runs that are done
 *
 * Flows of one run share its faults and its traffic, so an exact interval of the
 * pooled ratio, which takes them as independent, is too narrow: at a fault rate
 * drawn run by run by a factor of several. RES_POINTS has it all the same in _lo
 * and _hi, beside the spread over runs, as figures have been drawn by it. What
 * is read by a program has no reader's eye to compare the two, so tidy rows have
 * the interval between runs (sim/ratio.h) alone.
 *
 * RES_TREND has a row for each combination of values of some coordinates: does
 * one quantity, Y, grow with another, X, over the points that have these values?
 * Each run is a slope, of the line of least squares through what it measured at
 * these points, and runs are independent (sim/slope.h):
 *
 *	<coordinate>  each that rows are told apart by
 *	y, x          the two, as columns are called; X may be a coordinate
 *	points        that have these values
 *	n             runs with a slope: X and Y at two points or more, X not
 *		      the same at all
 *	slope         mean of theirs, in units of Y for one of X
 *	lo, hi        95 % interval of it, Student's; NaN of one run
 *	p             two-sided, of "a run's slope is as likely B as -B";
 *		      exact whatever else its law is
 *	least_p       the least that p can be of so many runs
 *
 * A value that is not there is "NaN"; optional metrics (results/schema.h) that
 * are nowhere there have no column. Numbers have the fewest digits that read
 * back equal, so tables are reproducible.
 */
#ifndef RESULTS_TABLE_H
#define RESULTS_TABLE_H

#include <stdio.h>

#include "results/cube.h"
#include "results/rows.h"
#include "sim/err.h"

enum res_table_rows { RES_POINTS, RES_RUNS, RES_TIDY, RES_TREND };

/* What to write of a cube. Zeroed is all columns by points, as TSV. */
struct res_table_form {
	enum res_format format;
	enum res_table_rows rows;
	/* Names or globs of columns, in their order; of RES_TIDY, of metrics as
	 * columns would be called, "vote:recall". None: all. */
	const char *const *column;
	size_t n_columns;
	/* By points, if no column is named: coordinates, `runs`, and with their
	 * intervals the few metrics that most people read, as far as they were
	 * measured; all if none was. */
	int usual;
	/* By points: intervals of ratios between runs, as tidy rows have them,
	 * instead of those that take all trials as independent. */
	int between;
	/* Of RES_TREND; BY names coordinates, none: all points are one row. */
	const char *y, *x;
	const char *const *by;
	size_t n_by;
};

/* Cost O(points * runs * algorithms). Errors SIM_EMISMATCH for a column that
 * there is not, SIM_EINVAL for a ratio that is no share, SIM_EIO, SIM_ENOMEM. */
int res_table(const struct res_cube *c, const struct res_table_form *form,
    FILE *out, struct sim_err *e);

/* All columns by points as TSV, which plots are drawn from. */
int res_table_write(const struct res_cube *c, FILE *out, struct sim_err *e);

/* The same in memory: *TEXT is to be freed, also after an error. */
int res_table_text(const struct res_cube *c, char **text, struct sim_err *e);

/* RES_TIDY. */
int res_table_tidy(const struct res_cube *c, const struct res_table_form *form,
    FILE *out, struct sim_err *e);

/* RES_TREND. Errors SIM_EMISMATCH also for a Y, X or BY that there is not. */
int res_table_trend(const struct res_cube *c, const struct res_table_form *form,
    FILE *out, struct sim_err *e);

/* Put a point's coordinates, in the order of the axes; AT[n_axes] is scratch. */
void res_table_put_coords(struct res_rows *r, const struct res_cube *c,
    size_t point, size_t at[]);

#endif
