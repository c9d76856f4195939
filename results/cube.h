/* results/cube.h -- all numbers of a sweep in memory: axes, runs, metrics.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A sweep is a grid of axes; a point is one combination, numbered with the
 * last axis fastest. An axis of a `zip` sweep has several coordinates that vary
 * together; the first gives the axis its name.
 *
 * A cell is what one trial fills: n_along points of one run, one after the
 * other, which are the last axes (windows of time, say). Mostly that is one
 * point. Cells are numbered by place = point / n_along, then by run; those of
 * one cell have one status.
 */
#ifndef RESULTS_CUBE_H
#define RESULTS_CUBE_H

#include <stddef.h>
#include <stdint.h>

#include "results/columns.h"
#include "results/schema.h"
#include "sim/bytes.h"
#include "sim/err.h"

enum res_status { RES_NOT_RUN, RES_DONE, RES_FAILED, RES_CRASHED };

/* One quantity along an axis: numbers, or texts when number is NULL. */
struct res_coord {
	char *name; /* the spec's path: "faults.count" */
	char *unit, *doc;
	double *number; /* [axis.n] */
	char **text;    /* [axis.n] */
};

struct res_axis {
	size_t n;
	size_t n_coords; /* at least 1 */
	struct res_coord *coord;
};

/* A value the paper states, drawn beside our curves. */
struct res_claim {
	char *metric, *text;
	double value;
	uint32_t confirmed; /* 0: from memory; drawn as "unconfirmed" */
};

/* Between what a line of overrides names, a file or an algorithm from outside, and
 * the sum of its contents. */
#define RES_CUBE_SUM " fnv "

struct res_cube {
	/* Identity: two cubes belong together when these agree. */
	char *figure;      /* "vigil_fig03" */
	char *spec;        /* the spec file, byte for byte, and a NUL */
	size_t spec_bytes; /* without that NUL */
	char *overrides;   /* --set, --smoke and sums, one a line; may be "" */

	char *title, *paper; /* for people */
	/* What made the numbers (results/provenance.h); res_cube_alloc() puts
	 * the present ones where there is NULL. */
	char *version, *build, *libraries;
	char *partial; /* what was missing when shards were joined; or NULL */
	char *until;   /* what ends a point (results/until.h); NULL: its runs */
	uint64_t seed;

	size_t n_algos; /* 0: the trials' own metrics are all */
	char **algo;    /* labels, unique */
	size_t n_axes;  /* 0: one point */
	struct res_axis *axis;
	size_t n_claims;
	struct res_claim *claim;
	size_t n_points, n_runs;
	size_t n_along; /* points of a cell; 0: res_cube_alloc() makes it 1 */

	/* Which cells it holds: cell % shard_n == shard_i, with
	 * cell = place * n_runs + run. 0 / 1 = all. Set before
	 * res_cube_alloc(). */
	uint32_t shard_i, shard_n;

	/* Rows of the cells it holds: of all cells by point, then by run; of a
	 * shard by cell, then by the points of it. See res_cube_row(). */
	size_t n_rows;
	uint8_t *status; /* [n_rows], enum res_status */
	/* Of each row row_doubles columns: trial metrics, then each algorithm's.
	 * None in a head, res_cube_alloc_head(). */
	struct res_columns rows;
	size_t row_doubles;

	/* [n_points / n_along], where there is UNTIL: runs that count of a
	 * place, 0 while it is not decided. The other cells are not to be. */
	uint32_t *n_used;
	size_t cell_doubles; /* [n_along][row_doubles]: what a trial fills */
};

/* Size of one row, in doubles. */
size_t res_row_doubles(size_t n_algos);

/* Allocate status and row from the counts set before; all cells not run, all
 * values NaN. Errors SIM_EINVAL if n_points is not the product of the axes,
 * n_along not that of the last ones, or one of them or n_runs is 0;
 * SIM_ENOMEM; SIM_ELIMIT above 2^31 points and runs. */
int res_cube_alloc(struct res_cube *c, struct sim_err *e);

/* The same without rows: what became of each cell, but no numbers. */
int res_cube_alloc_head(struct res_cube *c, struct sim_err *e);

/* Whether a results file can hold the names and texts: no coordinate without
 * a name, with a blank or a slash in it, of the name of a dataset or of another
 * coordinate; no NUL in the spec; no more than RES_MAX_AXES axes. Ask before a
 * long sweep: res_h5_write() asks this too. Errors SIM_EINVAL, SIM_ELIMIT. */
#define RES_MAX_AXES 29
int res_cube_check(const struct res_cube *c, struct sim_err *e);

void res_cube_free(struct res_cube *c); /* frees all strings too */
void res_axis_free(struct res_axis *a);

/* Equal names and values? */
int res_axis_same(const struct res_axis *a, const struct res_axis *b);

/* How many cells the sweep has, and what became of one: RES_NOT_RUN where it is
 * another shard's. */
size_t res_cube_cells(const struct res_cube *c);
enum res_status res_cube_status(const struct res_cube *c, size_t cell);

/* How many of them the cube holds, and the number of the Ith of these. */
size_t res_cube_own_cells(const struct res_cube *c);
size_t res_cube_own_cell(const struct res_cube *c, size_t i);

/* Where the row of a point and run is, or SIZE_MAX if it is another shard's.
 * Domain POINT < n_points, RUN < n_runs. */
size_t res_cube_row(const struct res_cube *c, size_t point, size_t run);

/* What became of the cell that fills it. */
enum res_status res_cube_run_status(const struct res_cube *c, size_t point,
    size_t run);

/* How many axes come before those that a single cell spans. */
size_t res_cube_outer_axes(const struct res_cube *c);

/* Whether the cube holds the cell of that place and run. */
int res_cube_holds(const struct res_cube *c, size_t place, size_t run);

/* Store one cell that it holds, ROW[cell_doubles]. ROW may be NULL, which stands
 * for NaN throughout; it is ignored for RES_CRASHED and RES_NOT_RUN. */
void res_cube_put(struct res_cube *c, size_t place, size_t run,
    enum res_status status, const double row[]);

/* Cells at some window of which that algorithm, one from outside, gave no answer;
 * all others of the cell did. Cost O(rows). */
size_t res_cube_n_unanswered(const struct res_cube *c, size_t algo);

/* TO[n] is what a row that it holds has in columns [FIRST, FIRST + N);
 * FROM[row_doubles] becomes a row, NULL standing for NaN throughout. */
void res_cube_get_row(const struct res_cube *c, size_t row, size_t first,
    size_t n, double to[]);
void res_cube_set_row(struct res_cube *c, size_t row, const double from[]);

/* One value, NaN if it is another shard's. COLUMN of a row: RES_TRIAL_*, or RES_ALGO_* beyond
 * res_row_doubles(algo). */
double res_cube_value(const struct res_cube *c, size_t point, size_t run,
    size_t column);

/* Is there a number in that column of any row? */
int res_cube_has(const struct res_cube *c, size_t column);

/* Which of the claims on its metric claim I is, from 1 on. */
size_t res_cube_nth_claim(const struct res_cube *c, size_t i);

/* Index along each axis of a point. Shape  at[n_axes]. */
void res_cube_at(const struct res_cube *c, size_t point, size_t at[]);

/* Cells by status, over the cells of this shard; of a point that has ended only
 * those that count. */
struct res_progress {
	uint64_t n_cells, n_done, n_failed, n_crashed;
};
struct res_progress res_cube_progress(const struct res_cube *c);

/* What a journal must agree in with its sweep: a hash of figure, spec,
 * overrides and schema version, and one of build and libraries. */
uint64_t res_cube_key(const struct res_cube *c);
uint64_t res_cube_build_key(const struct res_cube *c);

/* May cells of both stand in one file? Errors SIM_EMISMATCH, saying what
 * differs: figure, spec, overrides, build, libraries or shape. */
int res_cube_same_sweep(const struct res_cube *c, const struct res_cube *from,
    struct sim_err *e);

/* Copy the cells of FROM, of the same shard, into C; a done one replaces one
 * that failed or crashed. Errors SIM_EMISMATCH, C unchanged, when the two are not
 * of one sweep and shard, or hold the same cell with different numbers. (Shards
 * are joined by results/shards.h.) */
int res_cube_merge(struct res_cube *c, const struct res_cube *from,
    struct sim_err *e);

#endif
