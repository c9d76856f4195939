/* results/table.h -- a cube as TSV: pooled ratios, exact intervals, spread.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One row a point. Columns, tab-separated, named in the first line:
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
 *	claim:<metric>          the paper's value, the same in every row; of
 *	                        several, the second is claim:<metric>_2
 *
 * A value that is not there is "NaN"; optional metrics (results/schema.h) that
 * are nowhere there have no column. Numbers have the fewest digits that read
 * back equal, so tables are reproducible.
 */
#ifndef RESULTS_TABLE_H
#define RESULTS_TABLE_H

#include <stdio.h>

#include "results/cube.h"
#include "sim/err.h"

/* One row a point and run that is done: coordinates, `run`, trial metrics, and
 * each algorithm's metrics and ratios as <algo>:<name>. For distributions over
 * runs. Errors SIM_EIO, SIM_ENOMEM. */
int res_table_runs(const struct res_cube *c, FILE *out, struct sim_err *e);

/* Cost O(points * runs * algorithms). Errors SIM_EIO, SIM_ENOMEM. */
int res_table_write(const struct res_cube *c, FILE *out, struct sim_err *e);

/* The same rows as a JSON array of objects (NaN is null). */
int res_table_json(const struct res_cube *c, FILE *out, struct sim_err *e);

#endif
