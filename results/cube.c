/* results/cube.c -- all numbers of a sweep in memory: axes, runs, metrics.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/cube.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/provenance.h"
#include "sim/bytes.h"
#include "sim/text.h"
#include "sim/vec.h"

/* So that points and runs each fit the 32-bit numbers of a results file. */
#define MAX_CELLS ((size_t)1 << 31)

size_t res_row_doubles(size_t n_algos)
{
	return RES_N_TRIAL_METRICS + n_algos * RES_N_ALGO_METRICS;
}

/* Shape and counts must agree before memory is asked for: they may come from a
 * file that somebody edited. */
static int cube_check_counts(const struct res_cube *c, struct sim_err *e)
{
	size_t n = 1;
	for (size_t a = 0; a < c->n_axes; a++)
		if (__builtin_mul_overflow(n, c->axis[a].n, &n))
			return sim_fail(e, SIM_ELIMIT,
			    "the axes span more points than can be counted.");
	if (n != c->n_points)
		return sim_fail(e, SIM_EINVAL,
		    "%zu points, but the axes span %zu.", c->n_points, n);
	if (n == 0 || c->n_runs == 0)
		return sim_fail(e, SIM_EINVAL,
		    "%zu points, %zu runs; each must be at least 1.", n,
		    c->n_runs);
	if (n > MAX_CELLS / c->n_runs)
		return sim_fail(e, SIM_ELIMIT,
		    "%zu points of %zu runs are more than 2^31 cells.", n,
		    c->n_runs);
	n = 1;
	/* The points of a cell must be whole last axes: a trial that is cut in
	 * the middle of an axis could not be put into the grid. */
	for (size_t a = res_cube_outer_axes(c); a < c->n_axes; a++)
		n *= c->axis[a].n;
	if (n != c->n_along)
		return sim_fail(e, SIM_EINVAL,
		    "%zu points a cell are not spanned by the last axes.",
		    c->n_along);
	return 0;
}

static int cube_note_libraries(struct res_cube *c, struct sim_err *e)
{
	char now[RES_LIBRARIES_BYTES];
	res_libraries(now);
	return sim_dup(&c->libraries, now, e);
}

int res_cube_alloc_head(struct res_cube *c, struct sim_err *e)
{
	if (c->n_along == 0)
		c->n_along = 1;
	if (c->shard_n == 0)
		c->shard_n = 1;
	int rc = cube_check_counts(c, e);
	if (rc < 0)
		return rc;
	/* A cube that was read from a file keeps what made its numbers. */
	if (!c->version && (rc = sim_dup(&c->version, res_version(), e)) < 0)
		return rc;
	if (!c->build && (rc = sim_dup(&c->build, res_build(), e)) < 0)
		return rc;
	if (!c->libraries && (rc = cube_note_libraries(c, e)) < 0)
		return rc;
	c->row_doubles = res_row_doubles(c->n_algos);
	c->cell_doubles = c->n_along * c->row_doubles;
	c->n_rows = res_cube_own_cells(c) * c->n_along;
	/* Zeroed is RES_NOT_RUN. */
	return SIM_ZALLOC(&c->status, c->n_rows, e);
}

int res_cube_alloc(struct res_cube *c, struct sim_err *e)
{
	const int rc = res_cube_alloc_head(c, e);
	return rc < 0
	    ? rc
	    : res_columns_open(&c->rows, c->n_rows, c->row_doubles, e);
}

/* Coordinates become datasets and columns beside ours, so their names must not
 * meet; "." is HDF5's own name for a group. */
static int cube_is_taken(const char *name)
{
	static const char *const own[] = {"algorithm", "run", "cell", "status",
	    "claims", "runs_used", "."};
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (strcmp(name, own[i]) == 0)
			return 1;
	return res_metric_find(name, NULL) != NULL;
}

static int cube_check_name(const struct res_cube *c, size_t axis, size_t coord,
    struct sim_err *e)
{
	const char *name = c->axis[axis].coord[coord].name;
	if (!*name || strpbrk(name, "/\t\n ") || cube_is_taken(name))
		return sim_fail(e, SIM_EINVAL,
		    "\"%s\" cannot name a coordinate: it is empty, has a "
		    "blank or a slash, or names a dataset of ours.",
		    name);
	for (size_t a = 0; a <= axis; a++) {
		/* All coordinates before this one, of its own axis too. */
		size_t n = a < axis ? c->axis[a].n_coords : coord;
		for (size_t i = 0; i < n; i++)
			if (strcmp(c->axis[a].coord[i].name, name) == 0)
				return sim_fail(e, SIM_EINVAL,
				    "two coordinates are named %s.", name);
	}
	return 0;
}

/* Asked before a sweep begins, since a file that cannot be written is best
 * found out before hours of trials. */
int res_cube_check(const struct res_cube *c, struct sim_err *e)
{
	int rc = 0;
	if (c->n_axes > RES_MAX_AXES)
		return sim_fail(e, SIM_ELIMIT,
		    "%zu axes; a results file holds at most %d.", c->n_axes,
		    RES_MAX_AXES);
	if (c->spec_bytes && memchr(c->spec, 0, c->spec_bytes))
		return sim_fail(e, SIM_EINVAL, "the spec has a NUL byte.");
	for (size_t a = 0; rc == 0 && a < c->n_axes; a++)
		for (size_t i = 0; rc == 0 && i < c->axis[a].n_coords; i++)
			rc = cube_check_name(c, a, i, e);
	return rc;
}

/* Arrays may be half filled, or missing, when building a cube failed. */
void res_axis_free(struct res_axis *a)
{
	for (size_t i = 0; a->coord && i < a->n_coords; i++) {
		struct res_coord *k = &a->coord[i];
		free(k->name);
		free(k->unit);
		free(k->doc);
		free(k->number);
		for (size_t j = 0; k->text && j < a->n; j++)
			free(k->text[j]);
		free(k->text);
	}
	free(a->coord);
	*a = (struct res_axis){0};
}

void res_cube_free(struct res_cube *c)
{
	free(c->figure);
	free(c->spec);
	free(c->overrides);
	free(c->title);
	free(c->paper);
	free(c->version);
	free(c->build);
	free(c->libraries);
	free(c->partial);
	free(c->until);
	free(c->n_used);
	for (size_t i = 0; c->algo && i < c->n_algos; i++)
		free(c->algo[i]);
	free(c->algo);
	for (size_t i = 0; c->axis && i < c->n_axes; i++)
		res_axis_free(&c->axis[i]);
	free(c->axis);
	for (size_t i = 0; c->claim && i < c->n_claims; i++) {
		free(c->claim[i].metric);
		free(c->claim[i].text);
	}
	free(c->claim);
	free(c->status);
	res_columns_close(&c->rows);
	*c = (struct res_cube){0};
}

/* n_along is 0 only before res_cube_alloc(). */
size_t res_cube_cells(const struct res_cube *c)
{
	return c->n_along ? c->n_points / c->n_along * c->n_runs : 0;
}

size_t res_cube_own_cells(const struct res_cube *c)
{
	const size_t n = res_cube_cells(c), step = c->shard_n ? c->shard_n : 1;
	return n > c->shard_i ? (n - c->shard_i - 1) / step + 1 : 0;
}

size_t res_cube_own_cell(const struct res_cube *c, size_t i)
{
	return c->shard_i + i * (c->shard_n ? c->shard_n : 1);
}

/* Every shard_n-th cell is there, so the place of one among them is a division
 * and takes no index. */
size_t res_cube_row(const struct res_cube *c, size_t point, size_t run)
{
	assert(point < c->n_points && run < c->n_runs);
	if (c->shard_n <= 1)
		return point * c->n_runs + run;
	const size_t cell = point / c->n_along * c->n_runs + run;
	if (cell % c->shard_n != c->shard_i)
		return SIZE_MAX;
	return cell / c->shard_n * c->n_along + point % c->n_along;
}

int res_cube_holds(const struct res_cube *c, size_t place, size_t run)
{
	return place < c->n_points / c->n_along && run < c->n_runs &&
	    res_cube_row(c, place * c->n_along, run) != SIZE_MAX;
}

enum res_status res_cube_run_status(const struct res_cube *c, size_t point,
    size_t run)
{
	const size_t row = res_cube_row(c, point, run);
	return row == SIZE_MAX ? RES_NOT_RUN : (enum res_status)c->status[row];
}

/* All points of a cell have one status, so the first one tells it. */
enum res_status res_cube_status(const struct res_cube *c, size_t cell)
{
	return res_cube_run_status(c, cell / c->n_runs * c->n_along,
	    cell % c->n_runs);
}

/* The last axes span n_along points: divide by them, from the last one on,
 * until one point is left. */
size_t res_cube_outer_axes(const struct res_cube *c)
{
	size_t n_axes = c->n_axes;
	for (size_t n = c->n_along; n > 1 && n_axes > 0;)
		n /= c->axis[--n_axes].n;
	return n_axes;
}

void res_cube_get_row(const struct res_cube *c, size_t row, size_t first,
    size_t n, double to[])
{
	for (size_t k = 0; k < n; k++)
		to[k] = res_columns_get(&c->rows, row, first + k);
}

/* 0 would be a measurement; NaN says that there is none. */
void res_cube_set_row(struct res_cube *c, size_t row, const double from[])
{
	for (size_t k = 0; k < c->row_doubles; k++)
		res_columns_put(&c->rows, row, k, from ? from[k] : NAN);
}

static void put_row(struct res_cube *c, size_t i, enum res_status status,
    const double row[])
{
	c->status[i] = (uint8_t)status;
	/* A failed trial may have measured something before it failed; of one
	 * that crashed or never ran there is nothing. */
	res_cube_set_row(c, i,
	    status == RES_DONE || status == RES_FAILED ? row : NULL);
}

/* A trial gives all points of its cell at once, one row after the other. */
void res_cube_put(struct res_cube *c, size_t place, size_t run,
    enum res_status status, const double row[])
{
	for (size_t i = 0; i < c->n_along; i++) {
		const size_t at = res_cube_row(c, place * c->n_along + i, run);
		assert(at != SIZE_MAX);
		put_row(c, at, status, row ? row + i * c->row_doubles : NULL);
	}
}

double res_cube_value(const struct res_cube *c, size_t point, size_t run,
    size_t column)
{
	assert(column < c->row_doubles);
	const size_t row = res_cube_row(c, point, run);
	return row == SIZE_MAX ? NAN : res_columns_get(&c->rows, row, column);
}

int res_cube_has(const struct res_cube *c, size_t column)
{
	return res_columns_has(&c->rows, column);
}

size_t res_cube_n_unanswered(const struct res_cube *c, size_t algo)
{
	const size_t column = res_row_doubles(algo) + RES_ALGO_n_unanswered;
	const size_t along = c->n_along > 0 ? c->n_along : 1;
	size_t n = 0;
	for (size_t place = 0; place < c->n_points / along; place++)
		for (size_t run = 0; run < c->n_runs; run++) {
			int is_one = 0;
			for (size_t i = 0; i < along && !is_one; i++)
				is_one = res_cube_value(c, place * along + i,
					     run, column) > 0;
			n += (size_t)is_one;
		}
	return n;
}

/* Claims are few, so those before it are simply counted. */
size_t res_cube_nth_claim(const struct res_cube *c, size_t i)
{
	size_t nth = 1;
	for (size_t k = 0; k < i; k++)
		nth += strcmp(c->claim[k].metric, c->claim[i].metric) == 0;
	return nth;
}

void res_cube_at(const struct res_cube *c, size_t point, size_t at[])
{
	/* The last axis runs fastest, so it is the lowest digit of the
	 * point. */
	for (size_t a = c->n_axes; a-- > 0; point /= c->axis[a].n)
		at[a] = point % c->axis[a].n;
}

struct res_progress res_cube_progress(const struct res_cube *c)
{
	struct res_progress p = {0};
	const size_t n_own = res_cube_own_cells(c);
	p.n_cells = n_own;
	for (size_t i = 0; c->n_used && i < c->n_points / c->n_along; i++)
		if (c->n_used[i] > 0)
			p.n_cells -= c->n_runs - c->n_used[i];
	for (size_t i = 0; i < n_own; i++) {
		const enum res_status status =
		    res_cube_status(c, res_cube_own_cell(c, i));
		p.n_done += status == RES_DONE;
		p.n_failed += status == RES_FAILED;
		p.n_crashed += status == RES_CRASHED;
	}
	return p;
}

/* The length is hashed first, so that the texts "ab", "c" differ from "a",
 * "bc". */
static uint64_t hash_bytes(uint64_t hash, const char *bytes, size_t n)
{
	unsigned char length[8];
	sim_store_64(length, n);
	return sim_fnv(sim_fnv(hash, length, sizeof(length)), bytes, n);
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
	return hash_bytes(hash, text ? text : "", text ? strlen(text) : 0);
}

/* What decides the numbers, and nothing else: not the shard, so that shards of
 * one sweep have one key. */
uint64_t res_cube_key(const struct res_cube *c)
{
	const unsigned char schema = RES_SCHEMA_VERSION;
	uint64_t h = sim_fnv(SIM_FNV_START, &schema, 1);
	h = hash_text(h, c->figure);
	h = hash_bytes(h, c->spec, c->spec_bytes);
	h = hash_text(h, c->overrides);
	return c->until ? hash_text(h, c->until) : h;
}

uint64_t res_cube_build_key(const struct res_cube *c)
{
	return hash_text(hash_text(SIM_FNV_START, c->build), c->libraries);
}

/* A missing text and an empty one are the same. */
static int same_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

/* NaN is no legal coordinate, so equal numbers can be told by comparison. */
int res_axis_same(const struct res_axis *a, const struct res_axis *b)
{
	if (a->n != b->n || a->n_coords != b->n_coords)
		return 0;
	for (size_t i = 0; i < a->n_coords; i++) {
		const struct res_coord *x = &a->coord[i], *y = &b->coord[i];
		if (!same_text(x->name, y->name) || !x->number != !y->number)
			return 0;
		for (size_t j = 0; j < a->n; j++)
			if (x->number ? x->number[j] != y->number[j]
				      : !same_text(x->text[j], y->text[j]))
				return 0;
	}
	return 1;
}

/* The same spec, run by the same version, gives the same shape, unless somebody
 * edited a file. */
static int same_shape(const struct res_cube *a, const struct res_cube *b)
{
	if (a->n_algos != b->n_algos || a->n_axes != b->n_axes ||
	    a->n_points != b->n_points || a->n_along != b->n_along ||
	    a->n_runs != b->n_runs || a->seed != b->seed)
		return 0;
	for (size_t i = 0; i < a->n_algos; i++)
		if (!same_text(a->algo[i], b->algo[i]))
			return 0;
	for (size_t i = 0; i < a->n_axes; i++)
		if (!res_axis_same(&a->axis[i], &b->axis[i]))
			return 0;
	return 1;
}

/* A build that differs may have computed the same numbers; but who would
 * know. */
static int cube_check_build(const struct res_cube *c,
    const struct res_cube *from, struct sim_err *e)
{
	if (!same_text(c->build, from->build))
		return sim_fail(e, SIM_EMISMATCH,
		    "one was made by culprit %s, the other by %s.", c->version,
		    from->version);
	if (!same_text(c->libraries, from->libraries))
		return sim_fail(e, SIM_EMISMATCH,
		    "one was made with %s, the other with %s.", c->libraries,
		    from->libraries);
	return 0;
}

/* How much of a line is before the sum of a file's contents; all: it has none. */
static size_t override_name(const char *line, size_t n)
{
	const char *at = memmem(line, n, RES_CUBE_SUM, strlen(RES_CUBE_SUM));
	return at ? (size_t)(at - line) : n;
}

/* The first line that is another: a file that was edited, or what was given. */
static int cube_tell_override(const struct res_cube *c,
    const struct res_cube *from, struct sim_err *e)
{
	enum { MOST = 80 };
	const char *a = c->overrides ? c->overrides : "";
	const char *b = from->overrides ? from->overrides : "";
	size_t na, nb;
	for (;; a += na + (a[na] != 0), b += nb + (b[nb] != 0)) {
		na = strcspn(a, "\n");
		nb = strcspn(b, "\n");
		if (na != nb || na == 0 || memcmp(a, b, na) != 0)
			break;
	}
	const size_t name = override_name(a, na);
	if (name < na && name == override_name(b, nb) &&
	    memcmp(a, b, name) == 0)
		return sim_fail(e, SIM_EMISMATCH,
		    "the contents of %.*s differ.", (int)name, a);
	return sim_fail(e, SIM_EMISMATCH,
	    "the overrides (--set, --smoke) of %s differ: \"%.*s\" and "
	    "\"%.*s\".",
	    c->figure, (int)(na < MOST ? na : MOST), a,
	    (int)(nb < MOST ? nb : MOST), b);
}

/* Specs are compared byte for byte: whether a change in one of them matters is
 * not for us to judge. */
int res_cube_same_sweep(const struct res_cube *c, const struct res_cube *from,
    struct sim_err *e)
{
	if (!same_text(c->figure, from->figure))
		return sim_fail(e, SIM_EMISMATCH,
		    "one holds figure %s, the other %s.", c->figure,
		    from->figure);
	if (c->spec_bytes != from->spec_bytes ||
	    (c->spec_bytes && memcmp(c->spec, from->spec, c->spec_bytes)))
		return sim_fail(e, SIM_EMISMATCH, "the specs of %s differ.",
		    c->figure);
	if (!same_text(c->overrides, from->overrides))
		return cube_tell_override(c, from, e);
	const int rc = cube_check_build(c, from, e);
	if (!same_text(c->until, from->until))
		return sim_fail(e, SIM_EMISMATCH,
		    "their criteria of --until-ci differ (\"%s\" and \"%s\").",
		    c->until ? c->until : "", from->until ? from->until : "");
	if (rc < 0)
		return rc;
	if (!same_shape(c, from))
		return sim_fail(e, SIM_EMISMATCH,
		    "the specs agree, yet seed, algorithms, axes or runs "
		    "differ.");
	return 0;
}

static const char *cube_name_row(const struct res_cube *c, size_t row,
    char name[64])
{
	const int all = c->shard_n <= 1;
	const size_t cell = res_cube_own_cell(c, row / c->n_along);
	const size_t point = all
	    ? row / c->n_runs
	    : cell / c->n_runs * c->n_along + row % c->n_along;
	snprintf(name, 64, "point %zu run %zu", point,
	    all ? row % c->n_runs : cell % c->n_runs);
	return name;
}

/* Streams are named by seed, point and run, so a cell that was run twice must
 * give the same numbers to the last bit. Where it does not, one of the files is
 * wrong or a trial depends on more than its seed. */
static int cube_check_column(const struct res_cube *c,
    const struct res_cube *from, size_t column, struct sim_err *e)
{
	char name[64];
	for (size_t row = 0; row < c->n_rows; row++) {
		const double x = res_columns_get(&c->rows, row, column);
		const double y = res_columns_get(&from->rows, row, column);
		if (c->status[row] == RES_DONE &&
		    from->status[row] == RES_DONE && x != y &&
		    !(isnan(x) && isnan(y)))
			return sim_fail(e, SIM_EMISMATCH,
			    "%s is in both, with different numbers (%.17g and "
			    "%.17g).",
			    cube_name_row(c, row, name), x, y);
	}
	return 0;
}

static int cube_takes(const struct res_cube *c, const struct res_cube *from,
    size_t row)
{
	return from->status[row] == RES_DONE || c->status[row] == RES_NOT_RUN;
}

/* What did not run or crashed has no numbers in FROM. */
static void cube_take_column(struct res_cube *c, const struct res_cube *from,
    size_t column)
{
	for (size_t row = 0; row < c->n_rows; row++)
		if (cube_takes(c, from, row))
			res_columns_put(&c->rows, row, column,
			    res_columns_get(&from->rows, row, column));
}

int res_cube_merge(struct res_cube *c, const struct res_cube *from,
    struct sim_err *e)
{
	int rc = res_cube_same_sweep(c, from, e);
	if (rc < 0)
		return rc;
	if (c->shard_i != from->shard_i || c->shard_n != from->shard_n)
		return sim_fail(e, SIM_EMISMATCH,
		    "one is shard %u/%u, the other %u/%u.", c->shard_i + 1,
		    c->shard_n, from->shard_i + 1, from->shard_n);
	/* All is compared before the first number is copied, so a mismatch
	 * leaves C unchanged. */
	for (size_t i = 0; rc == 0 && i < c->row_doubles; i++) {
		rc = cube_check_column(c, from, i, e);
		res_columns_rest(&c->rows, i);
		res_columns_rest(&from->rows, i);
	}
	for (size_t i = 0; rc == 0 && i < c->row_doubles; i++) {
		cube_take_column(c, from, i);
		res_columns_rest(&from->rows, i);
	}
	for (size_t i = 0; rc == 0 && i < c->n_rows; i++)
		if (cube_takes(c, from, i))
			c->status[i] = from->status[i];
	return rc;
}
