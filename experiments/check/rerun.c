/* experiments/check/rerun.c -- cells of somebody's results, run again.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/check/rerun.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/spec/spec.h"
#include "experiments/sweep/run.h"
#include "results/h5.h"
#include "sim/text.h"

enum { MAX_SET = 256 };

/* Nine digits. */
#define NEAR 1e-9

static int rerun_same_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

static int rerun_load(const struct xp_rerun *r, const struct res_cube *was,
    struct xp_spec *s, struct sim_err *e)
{
	const char *set[MAX_SET];
	char *lines = NULL;
	size_t n = 0;
	int smoke = 0;
	int rc = sim_dup(&lines, was->overrides ? was->overrides : "", e);
	if (rc == 0)
		rc = xp_spec_overrides(lines, set, MAX_SET, &n, &smoke, e);
	if (rc == 0)
		rc = xp_spec_load(s, r->spec, smoke, set, n, e);
	if (rc == 0 &&
	    (s->text_bytes != was->spec_bytes ||
		memcmp(s->text, was->spec, s->text_bytes) != 0))
		rc = sim_fail(e, SIM_EMISMATCH,
		    "its spec is not the one that the results hold.");
	if (rc == 0 && !rerun_same_text(s->overrides, was->overrides))
		rc = sim_fail(e, SIM_EMISMATCH,
		    "its overrides are not those that the results hold.");
	free(lines);
	return rc;
}

static int rerun_same_shape(const struct res_cube *a, const struct res_cube *b,
    struct sim_err *e)
{
	if (a->n_points == b->n_points && a->n_runs == b->n_runs &&
	    a->n_along == b->n_along && a->n_algos == b->n_algos &&
	    a->row_doubles == b->row_doubles)
		return 0;
	return sim_fail(e, SIM_EMISMATCH,
	    "the spec has %zu points, %u runs and %zu algorithms here, the "
	    "results have %zu, %zu and %zu.",
	    a->n_points, (unsigned)a->n_runs, a->n_algos, b->n_points,
	    b->n_runs, b->n_algos);
}

/* The greatest difference of two numbers of a cell, as a share of the greater
 * one. NaN, not measured, is like itself and like no other. */
static double cell_difference(const struct res_cube *a,
    const struct res_cube *b, size_t place, size_t run)
{
	double most = 0;
	for (size_t i = 0; i < a->n_along; i++)
		for (size_t k = 0; k < a->row_doubles; k++) {
			const size_t point = place * a->n_along + i;
			const double x = res_cube_value(a, point, run, k);
			const double y = res_cube_value(b, point, run, k);
			if (x == y || (isnan(x) && isnan(y)))
				continue;
			if (!isfinite(x) || !isfinite(y))
				return INFINITY;
			most = fmax(most, fabs(x - y) / fmax(fabs(x), fabs(y)));
		}
	return most;
}

/* Is the cell one to be compared? Of partial results not all are there. */
static int is_asked_for(const struct xp_rerun *r, const struct res_cube *was,
    size_t cell)
{
	return cell % r->shard_n == r->shard_i &&
	    res_cube_status(was, cell) != RES_NOT_RUN;
}

static void leave_out(struct res_cube *c, size_t place, size_t run)
{
	if (res_cube_holds(c, place, run))
		res_cube_put(c, place, run, RES_NOT_RUN, NULL);
}

/* Go through all cells: those of the sample are compared, the others are taken
 * out, so that both hold the same ones. */
static int compare_cells(struct xp_rerun *r, struct res_cube *was,
    struct res_cube *is, struct sim_err *e)
{
	const size_t n_places = was->n_points / was->n_along;
	for (size_t place = 0; place < n_places; place++)
		for (size_t run = 0; run < was->n_runs; run++) {
			const size_t cell = place * was->n_runs + run;
			if (!is_asked_for(r, was, cell)) {
				leave_out(was, place, run);
				leave_out(is, place, run);
				continue;
			}
			const enum res_status now = res_cube_status(is, cell);
			if (now != res_cube_status(was, cell))
				return sim_fail(e, SIM_EMISMATCH,
				    "cell %zu (point %zu, run %zu) %s.", cell,
				    place * was->n_along, run,
				    now == RES_DONE ? "succeeds here"
						    : "fails here");
			r->n_cells++;
			const double d = cell_difference(was, is, place, run);
			r->n_same += d == 0;
			r->n_near += d <= NEAR;
		}
	return 0;
}

/* The first two lines of a table are its head. A sample of a great many places has no
 * third: places have no lines of their own there, and no run has all of them. */
static int rerun_has_rows(const char *table)
{
	const char *end = strchr(table, '\n');
	end = end ? strchr(end + 1, '\n') : NULL;
	return end && end[1];
}

static int compare_numbers(struct xp_rerun *r, const struct res_cube *was,
    const struct res_cube *is, struct sim_err *e)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);
	if (!f)
		return sim_fail(e, SIM_ENOMEM, "no memory for a table.");
	int rc = xp_expected_write(was, f, e);
	if (fclose(f) != 0 && rc == 0)
		rc = sim_fail(e, SIM_ENOMEM, "no memory for a table.");
	if (rc == 0 && !rerun_has_rows(text))
		r->is_few = 1;
	else if (rc == 0)
		rc = xp_expected_check(is, r->results, text, &r->numbers,
		    r->differ, r->arg, e);
	free(text);
	return rc;
}

static enum xp_demand demand_of(const struct res_cube *was,
    const struct res_cube *is)
{
	const size_t n = strcspn(is->version, " ");
	if (!rerun_same_text(was->libraries, is->libraries) ||
	    strcspn(was->version, " ") != n ||
	    strncmp(was->version, is->version, n) != 0)
		return XP_BY_Z;
	return rerun_same_text(was->build, is->build) ? XP_SAME_BITS
						      : XP_NINE_DIGITS;
}

static int rerun_run(struct xp_rerun *r, struct xp_spec *s, struct res_cube *is,
    struct sim_err *e)
{
	struct xp_run_report report = {0};
	const struct xp_run run = {.spec = s,
	    .out = r->out,
	    .n_workers = r->n_workers,
	    .shard_i = r->shard_i,
	    .shard_n = r->shard_n,
	    .fresh = 1,
	    .stop = r->stop,
	    .report = &report};
	int rc = xp_run_sweep(&run, is, e);
	if (rc == 0 && report.stopped)
		rc = sim_fail(e, SIM_EIO, "stopped.");
	return rc;
}

int xp_rerun(struct xp_rerun *r, struct sim_err *e)
{
	struct res_cube was = {0}, is = {0};
	struct xp_spec s = {0};
	int rc = res_h5_read(&was, r->results, e);
	if (rc == 0)
		rc = rerun_load(r, &was, &s, e);
	if (rc == 0 && (r->is_real = s.is_real))
		goto out;
	if (rc == 0 && (rc = rerun_run(r, &s, &is, e)) == 0 &&
	    (rc = rerun_same_shape(&is, &was, e)) == 0)
		rc = compare_cells(r, &was, &is, e);
	if (rc < 0)
		goto out;
	r->demand = demand_of(&was, &is);
	if (r->demand != XP_BY_Z || r->n_near == r->n_cells)
		goto out;
	r->is_few = r->n_cells < XP_EXPECTED_FEW * was.n_points / was.n_along;
	rc = compare_numbers(r, &was, &is, e);
out:
	res_cube_free(&was);
	res_cube_free(&is);
	xp_spec_free(&s);
	return rc;
}

int xp_rerun_is_good(const struct xp_rerun *r)
{
	if (r->is_real || r->n_same == r->n_cells)
		return 1;
	if (r->demand == XP_SAME_BITS)
		return 0;
	if (r->n_near == r->n_cells)
		return 1;
	return r->demand == XP_BY_Z && r->numbers.n_failed == 0;
}
