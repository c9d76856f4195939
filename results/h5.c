/* results/h5.c -- a cube as an HDF5 file.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * HDF5 builds the file in memory, of a child, and one plain write brings it to
 * disk: when a disk fills up inside H5Fclose(), HDF5 1.10 leaves objects open
 * and may crash at exit. Reading is in h5_read.c.
 */
#include "results/h5.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/file.h"
#include "results/h5_parts.h"
#include "sim/bytes.h"
#include "sim/vec.h"

/* Time for a cube, far more than it takes. */
enum { WRITE_S = 60, BYTES_S = 1 << 20 };

_Static_assert(RES_MAX_AXES + 2 <= H5S_MAX_RANK, "axes, algorithm, run");

struct writer {
	const struct res_cube *c;
	struct res_h5_source from; /* where its columns are */
	hid_t file;
	hid_t utf8;      /* text of any length */
	hid_t plain;     /* creation of a dataset in one piece */
	hid_t packed[2]; /* in chunks; of a trial and of an algorithm metric */

	/* Scales, 0 where there is none (yet). */
	hid_t algo, run, cell, axis[RES_MAX_AXES];

	/* Of metrics: algorithm, axes..., run; or algorithm, cell, and the axes
	 * along. */
	hid_t scale[RES_MAX_AXES + 2];
	hsize_t dim[RES_MAX_AXES + 2];
	unsigned rank;
	char *coordinates; /* those that are not scales; NULL if none */
	double *buf;       /* one metric, of a trial or of all algorithms */
	double *den;       /* [n_rows], of a ratio */
	int has_probes;    /* was n_probes measured? */
	struct sim_err *e;
};

static int h5_put_text(struct writer *w, hid_t to, const char *name,
    const char *text)
{
	return res_h5_put_text(to, w->utf8, name, text, w->e);
}

static int put_count(struct writer *w, const char *name, uint64_t value)
{
	return res_h5_put_attr(w->file, name, H5T_STD_U64LE, 0,
	    H5T_NATIVE_UINT64, &value, w->e);
}

struct data {
	const char *name, *unit, *doc;
	hid_t type, mem_type;
	hid_t plist;
	unsigned rank;
	const hsize_t *dim;
	const void *value;
	const hid_t *scale; /* [rank] to attach; NULL for a scale itself */
};

static int h5_describe(struct writer *w, hid_t set, const struct data *d)
{
	int rc;
	if ((rc = h5_put_text(w, set, "units", d->unit)) < 0 ||
	    (rc = h5_put_text(w, set, "long_name", d->doc)) < 0 ||
	    (rc = h5_put_text(w, set, "paper", w->c->paper)) < 0)
		return rc;
	if (!d->scale && H5DSset_scale(set, d->name) < 0)
		return res_h5_failed(SIM_EDEP, "make a scale of", d->name,
		    w->e);
	for (unsigned i = 0; d->scale && i < d->rank; i++)
		if (H5DSattach_scale(set, d->scale[i], i) < 0)
			return res_h5_failed(SIM_EDEP, "attach a scale to",
			    d->name, w->e);
	if (d->rank > 1 && w->coordinates)
		return h5_put_text(w, set, "coordinates", w->coordinates);
	return 0;
}

/* Write a dataset and its attributes. KEEP is where to leave it open, as scales
 * must be until all is written, or NULL to close it. */
static int put_data(struct writer *w, hid_t to, const struct data *d,
    hid_t *keep)
{
	hid_t space = H5Screate_simple((int)d->rank, d->dim, NULL);
	hid_t set = H5Dcreate2(to, d->name, d->type, space, H5P_DEFAULT,
	    d->plist, H5P_DEFAULT);
	int rc = 0;
	if (set < 0 ||
	    H5Dwrite(set, d->mem_type, H5S_ALL, H5S_ALL, H5P_DEFAULT,
		d->value) < 0)
		rc = res_h5_failed(SIM_EDEP, "write", d->name, w->e);
	else
		rc = h5_describe(w, set, d);
	H5Sclose(space);
	if (rc == 0 && keep)
		*keep = set;
	else
		H5Dclose(set);
	return rc;
}

/* Texts are written with variable length, as netCDF 4.9 crashes on datasets of
 * texts of a fixed length. */
static int put_texts(struct writer *w, hid_t to, struct data d,
    char *const text[], hid_t *keep)
{
	d.type = d.mem_type = w->utf8;
	d.plist = w->plain;
	d.rank = 1;
	d.value = text;
	return put_data(w, to, &d, keep);
}

/* The first coordinate of an axis becomes its dimension scale; further ones of
 * a zip are attached to it and named in `coordinates` attributes. */
static int put_coord(struct writer *w, size_t axis, size_t i)
{
	const struct res_coord *k = &w->c->axis[axis].coord[i];
	const hsize_t n = w->c->axis[axis].n;
	hid_t *scale = &w->axis[axis];
	struct data d = {
	    .name = k->name,
	    .unit = k->unit && *k->unit ? k->unit : "1",
	    .doc = k->doc,
	    .type = H5T_IEEE_F64LE,
	    .mem_type = H5T_NATIVE_DOUBLE,
	    .plist = w->plain,
	    .rank = 1,
	    .dim = &n,
	    .value = k->number,
	    .scale = i ? scale : NULL,
	};
	return k->number ? put_data(w, w->file, &d, i ? NULL : scale)
			 : put_texts(w, w->file, d, k->text, i ? NULL : scale);
}

static int h5_put_run(struct writer *w)
{
	const hsize_t n = w->c->n_runs;
	int32_t *run = NULL;
	int rc = SIM_ZALLOC(&run, n, w->e);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < n; i++)
		run[i] = (int32_t)i;
	const struct data d = {
	    .name = "run",
	    .unit = "1",
	    .doc = "number of the run; it names the random streams",
	    .type = H5T_STD_I32LE,
	    .mem_type = H5T_NATIVE_INT32,
	    .plist = w->plain,
	    .rank = 1,
	    .dim = &n,
	    .value = run,
	};
	rc = put_data(w, w->file, &d, &w->run);
	free(run);
	return rc;
}

/* Of a shard: which cells it holds. */
static int put_cells(struct writer *w)
{
	const hsize_t n = res_cube_own_cells(w->c);
	uint32_t *cell = NULL;
	int rc = SIM_ZALLOC(&cell, n, w->e);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < n; i++)
		cell[i] = (uint32_t)res_cube_own_cell(w->c, i);
	const struct data d = {
	    .name = "cell",
	    .unit = "1",
	    .doc = "place among the points of the sweep, the last axis "
		   "fastest, times the runs, plus the run",
	    .type = H5T_STD_U32LE,
	    .mem_type = H5T_NATIVE_UINT32,
	    .plist = w->plain,
	    .rank = 1,
	    .dim = &n,
	    .value = cell,
	};
	rc = put_data(w, w->file, &d, &w->cell);
	free(cell);
	return rc;
}

/* The scales, in the order of the dimensions of metrics. */
static void order_scales(struct writer *w)
{
	const struct res_cube *c = w->c;
	const int all = c->shard_n <= 1;
	unsigned n = 0;
	w->scale[n++] = w->algo;
	if (!all)
		w->scale[n++] = w->cell;
	for (size_t a = all ? 0 : res_cube_outer_axes(c); a < c->n_axes; a++)
		w->scale[n++] = w->axis[a];
	if (all)
		w->scale[n++] = w->run;
}

static int put_scales(struct writer *w)
{
	const hsize_t n_algos = w->c->n_algos;
	const struct data d = {
	    .name = "algorithm",
	    .unit = "1",
	    .doc = "algorithm, as the spec labels it",
	    .dim = &n_algos,
	};
	int rc =
	    n_algos > 0 ? put_texts(w, w->file, d, w->c->algo, &w->algo) : 0;
	for (size_t a = 0; rc == 0 && a < w->c->n_axes; a++)
		for (size_t i = 0; rc == 0 && i < w->c->axis[a].n_coords; i++)
			rc = put_coord(w, a, i);
	if (rc == 0)
		rc = h5_put_run(w);
	if (rc == 0 && w->c->shard_n > 1 && w->c->n_rows > 0)
		rc = put_cells(w);
	order_scales(w);
	return rc;
}

/* flag_values and flag_meanings are CF's way to write an enumeration in plain
 * numbers, which every reader of HDF5 can take. */
static int put_status(struct writer *w)
{
	static const uint8_t values[] = {RES_NOT_RUN, RES_DONE, RES_FAILED,
	    RES_CRASHED};
	const struct data d = {
	    .name = "status",
	    .unit = "1",
	    .doc = "what became of the cell",
	    .type = H5T_STD_U8LE,
	    .mem_type = H5T_NATIVE_UINT8,
	    .plist = w->plain,
	    .rank = w->rank - 1,
	    .dim = w->dim + 1,
	    .value = w->c->status,
	    .scale = w->scale + 1,
	};
	hid_t set = -1;
	int rc = put_data(w, w->file, &d, &set);
	if (rc < 0)
		return rc;
	if ((rc = res_h5_put_attr(set, "flag_values", H5T_STD_U8LE, 4,
		 H5T_NATIVE_UINT8, values, w->e)) == 0)
		rc = h5_put_text(w, set, "flag_meanings",
		    "not_run done failed crashed");
	H5Dclose(set);
	return rc;
}

/* Which runs counted where points end by a criterion. */
static int put_runs_used(struct writer *w)
{
	const unsigned n = (unsigned)res_cube_outer_axes(w->c);
	const struct data d = {
	    .name = "runs_used",
	    .unit = "1",
	    .doc = "runs of a point that count; 0: not decided",
	    .type = H5T_STD_U32LE,
	    .mem_type = H5T_NATIVE_UINT32,
	    .plist = w->plain,
	    .rank = n,
	    .dim = w->dim + 1,
	    .value = w->c->n_used,
	    .scale = w->scale + 1,
	};
	return w->c->n_used ? put_data(w, w->file, &d, NULL) : 0;
}

/* One column of all rows. */
static int h5_gather(struct writer *w, double to[], size_t column)
{
	return w->from.column(w->from.arg, column, to, w->e);
}

/* NaN has many bit patterns; with one of them equal cubes give equal bytes. */
static double h5_plain(double x)
{
	return isnan(x) ? NAN : x;
}

static int divide(struct writer *w, double to[], size_t num, size_t den)
{
	int rc;
	if ((rc = h5_gather(w, to, num)) < 0 ||
	    (rc = h5_gather(w, w->den, den)) < 0)
		return rc;
	for (size_t i = 0; i < w->c->n_rows; i++)
		to[i] = h5_plain(w->den[i] > 0 ? to[i] / w->den[i] : NAN);
	return 0;
}

static int has_number(const double x[], size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isnan(x[i]))
			return 1;
	return 0;
}

/* A metric of the trial or, with PER_ALGO, of each algorithm: the NUMBERth of
 * its owner's, or the ratio of two of these. */
struct metric {
	const struct res_metric *is;
	unsigned per_algo, number;
	int ratio;
};

static size_t n_owners(const struct writer *w, const struct metric *m)
{
	return m->per_algo ? w->c->n_algos : 1;
}

static size_t h5_column(const struct metric *m, size_t owner, unsigned number)
{
	return (m->per_algo ? res_row_doubles(owner) : 0) + number;
}

static int owners_have(const struct writer *w, const struct metric *m,
    unsigned number)
{
	for (size_t i = 0; i < n_owners(w, m); i++)
		if (w->from.has(w->from.arg, h5_column(m, i, number)))
			return 1;
	return 0;
}

/* Known before anything is gathered, as of all metrics few are measured. */
static int can_have_number(const struct writer *w, const struct metric *m)
{
	return m->ratio
	    ? owners_have(w, m, m->is->num) && owners_have(w, m, m->is->den)
	    : owners_have(w, m, m->number);
}

/* Into w->buf. */
static int gather_metric(struct writer *w, const struct metric *m)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < n_owners(w, m); i++) {
		double *to = w->buf + i * w->c->n_rows;
		rc = m->ratio ? divide(w, to, h5_column(m, i, m->is->num),
				    h5_column(m, i, m->is->den))
			      : h5_gather(w, to, h5_column(m, i, m->number));
	}
	return rc;
}

/* Write M, unless it may be left out and holds no number. The dimension of
 * algorithms, if it has that, is the first one. */
static int put_metric(struct writer *w, const struct metric *m)
{
	const unsigned skip = 1 - m->per_algo;
	const int may_lack =
	    m->is->optional || (m->is->of_flows && w->has_probes);
	if (may_lack && !can_have_number(w, m))
		return 0;
	const int rc = gather_metric(w, m);
	if (rc < 0 ||
	    (may_lack && !has_number(w->buf, n_owners(w, m) * w->c->n_rows)))
		return rc;
	const struct data d = {
	    .name = m->is->name,
	    .unit = m->is->unit,
	    .doc = m->is->doc,
	    .type = H5T_IEEE_F64LE,
	    .mem_type = H5T_NATIVE_DOUBLE,
	    .plist = w->packed[m->per_algo],
	    .rank = w->rank - skip,
	    .dim = w->dim + skip,
	    .value = w->buf,
	    .scale = w->scale + skip,
	};
	return put_data(w, w->file, &d, NULL);
}

static int put_list(struct writer *w, const struct res_metric list[],
    unsigned n, unsigned per_algo, int ratio)
{
	int rc = 0;
	for (unsigned i = 0; rc == 0 && i < n; i++)
		rc = put_metric(w,
		    &(struct metric){&list[i], per_algo, i, ratio});
	return rc;
}

static int put_metrics(struct writer *w)
{
	int rc = put_list(w, res_trial_metrics, RES_N_TRIAL_METRICS, 0, 0);
	if (rc == 0 && w->c->n_algos > 0 &&
	    (rc = put_list(w, res_algo_metrics, RES_N_ALGO_METRICS, 1, 0)) == 0)
		rc = put_list(w, res_ratios, RES_N_RATIOS, 1, 1);
	return rc < 0 ? rc
		      : put_list(w, res_trial_ratios, RES_N_TRIAL_RATIOS, 0, 1);
}

static int put_claim_columns(struct writer *w, hid_t group, char *text[],
    double value[], int32_t number[])
{
	const struct res_cube *c = w->c;
	const hsize_t n = c->n_claims;
	hid_t scale = -1;
	struct data d = {"claim", "1", "number of the claim", H5T_STD_I32LE,
	    H5T_NATIVE_INT32, w->plain, 1, &n, number, NULL};
	for (size_t i = 0; i < n; i++)
		number[i] = (int32_t)i;
	int rc = put_data(w, group, &d, &scale);
	if (rc < 0)
		return rc;
	d.scale = &scale;
	for (size_t i = 0; i < n; i++) {
		number[i] = (int32_t)c->claim[i].confirmed;
		value[i] = c->claim[i].value;
		text[i] = c->claim[i].metric;
	}
	d.name = "confirmed";
	d.doc = "1 if read in the paper, 0 if from memory";
	rc = put_data(w, group, &d, NULL);
	d.name = "metric";
	d.doc = "what it is about";
	rc = rc < 0 ? rc : put_texts(w, group, d, text, NULL);
	for (size_t i = 0; i < n; i++)
		text[i] = c->claim[i].text;
	d.name = "text";
	d.doc = "as the paper says it";
	rc = rc < 0 ? rc : put_texts(w, group, d, text, NULL);
	d = (struct data){"value", "1", "value the paper states",
	    H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, w->plain, 1, &n, value, &scale};
	rc = rc < 0 ? rc : put_data(w, group, &d, NULL);
	H5Dclose(scale);
	return rc;
}

static int h5_put_claims(struct writer *w)
{
	size_t n = w->c->n_claims;
	if (n == 0)
		return 0;
	char **text = NULL;
	double *value = NULL;
	int32_t *number = NULL;
	hid_t group = -1, plist = H5Pcreate(H5P_GROUP_CREATE);
	int rc;
	if ((rc = SIM_ZALLOC(&text, n, w->e)) == 0 &&
	    (rc = SIM_ZALLOC(&value, n, w->e)) == 0 &&
	    (rc = SIM_ZALLOC(&number, n, w->e)) == 0) {
		/* No times of creation: equal cubes give equal bytes. */
		if (H5Pset_obj_track_times(plist, 0) >= 0)
			group = H5Gcreate2(w->file, "claims", H5P_DEFAULT,
			    plist, H5P_DEFAULT);
		rc = group < 0
		    ? res_h5_failed(SIM_EDEP, "make", "claims", w->e)
		    : put_claim_columns(w, group, text, value, number);
	}
	H5Gclose(group);
	H5Pclose(plist);
	free(text);
	free(value);
	free(number);
	return rc;
}

/* --- attributes -----------------------------------------------------------*/

static int put_counts(struct writer *w)
{
	const struct res_cube *c = w->c;
	const struct res_progress p = res_cube_progress(c);
	const uint32_t shard[2] = {c->shard_i, c->shard_n ? c->shard_n : 1};
	int rc;
	if ((rc = put_count(w, "schema_version", RES_SCHEMA_VERSION)) < 0 ||
	    (rc = put_count(w, "seed", c->seed)) < 0 ||
	    (rc = res_h5_put_attr(w->file, "shard", H5T_STD_U32LE, 2,
		 H5T_NATIVE_UINT32, shard, w->e)) < 0 ||
	    (c->n_along > 1 &&
		(rc = put_count(w, "n_along", c->n_along)) < 0) ||
	    (rc = put_count(w, "complete", p.n_done == p.n_cells)) < 0 ||
	    (rc = put_count(w, "cells", p.n_cells)) < 0 ||
	    (rc = put_count(w, "cells_done", p.n_done)) < 0 ||
	    (rc = put_count(w, "cells_failed", p.n_failed)) < 0)
		return rc;
	return put_count(w, "cells_crashed", p.n_crashed);
}

static int h5_put_root(struct writer *w)
{
	const struct res_cube *c = w->c;
	char *axes = NULL;
	const struct {
		const char *name, *text;
	} texts[] = {
	    {"figure", c->figure},
	    {"title", c->title},
	    {"paper", c->paper},
	    {"spec", c->spec},
	    {"overrides", c->overrides},
	    {"culprit", c->version},
	    {"build", c->build},
	    {"libraries", c->libraries},
	};
	int rc = res_h5_name_axes(c, &axes, &w->coordinates, w->e);
	if (rc == 0)
		rc = h5_put_text(w, w->file, "axes", axes);
	for (size_t i = 0; rc == 0 && i < sizeof(texts) / sizeof(texts[0]); i++)
		rc = h5_put_text(w, w->file, texts[i].name, texts[i].text);
	free(axes);
	if (rc == 0 && c->partial)
		rc = h5_put_text(w, w->file, "partial", c->partial);
	if (rc == 0 && c->until)
		rc = h5_put_text(w, w->file, "until_ci", c->until);
	return rc < 0 ? rc : put_counts(w);
}

/* --- the file -------------------------------------------------------------*/

static int h5_set_up(struct writer *w)
{
	const struct res_cube *c = w->c;
	int rc;
	w->rank = res_h5_dims(c, w->dim);
	w->utf8 = res_h5_utf8();
	w->plain = H5Pcreate(H5P_DATASET_CREATE);
	int bad = w->utf8 < 0 || H5Pset_obj_track_times(w->plain, 0) < 0;
	for (unsigned i = 0; i < 2; i++)
		bad |= (w->packed[i] = H5Pcopy(w->plain)) < 0;
	if (c->n_rows > 0)
		bad |=
		    res_h5_set_chunk(w->packed[0], w->rank - 1, w->dim + 1) < 0;
	if (c->n_rows > 0 && c->n_algos > 0)
		bad |= res_h5_set_chunk(w->packed[1], w->rank, w->dim) < 0;
	if (bad)
		return res_h5_failed(SIM_EDEP, "set up", "datasets", w->e);
	if ((rc = SIM_ZALLOC(&w->buf,
		 (c->n_algos > 0 ? c->n_algos : 1) * c->n_rows, w->e)) < 0 ||
	    (rc = SIM_ZALLOC(&w->den, c->n_rows, w->e)) < 0)
		return rc;
	w->has_probes = w->from.has(w->from.arg, RES_TRIAL_n_probes);
	return 0;
}

static void close_scale(hid_t scale)
{
	/* Ids of HDF5 are above 0, and 0 is one never opened. */
	if (scale > 0)
		H5Dclose(scale);
}

static void h5_tear_down(struct writer *w)
{
	close_scale(w->algo);
	close_scale(w->run);
	close_scale(w->cell);
	for (size_t a = 0; a < w->c->n_axes; a++)
		close_scale(w->axis[a]);
	for (unsigned i = 0; i < 2; i++)
		H5Pclose(w->packed[i]);
	H5Pclose(w->plain);
	H5Tclose(w->utf8);
	free(w->coordinates);
	free(w->buf);
	free(w->den);
}

/* A shard may hold no cell, where there are fewer than shards: then it has no
 * dataset over them. */
static int put_all(struct writer *w)
{
	int rc;
	if ((rc = h5_set_up(w)) == 0 && (rc = h5_put_root(w)) == 0 &&
	    (rc = put_scales(w)) == 0 &&
	    (w->c->n_rows == 0 ||
		((rc = put_status(w)) == 0 && (rc = put_runs_used(w)) == 0 &&
		    (rc = put_metrics(w)) == 0)))
		rc = h5_put_claims(w);
	h5_tear_down(w);
	return rc;
}

/* In the child: the bytes of the file. */
static int h5_make(void *state, const void *ask, size_t n,
    struct sim_apart_reply *to, struct sim_err *e)
{
	struct writer *w = state;
	int rc = res_h5_begin(e);
	(void)ask, (void)n;
	if (rc < 0)
		return rc;
	w->e = e;
	if ((w->file = res_h5_image_create()) < 0)
		return res_h5_failed(SIM_EDEP, "make", "a file in memory", e);
	if ((rc = put_all(w)) == 0)
		rc = res_h5_image_take(w->file, to, e);
	return rc;
}

/* Its bytes, to be freed. HDF5 does not survive a failed allocation, so it works
 * in a process of its own, which has the cube as it is. */
static int h5_bytes(struct writer *w, unsigned char **bytes, size_t *n,
    struct sim_err *e)
{
	const size_t most = w->c->n_rows * w->c->row_doubles * sizeof(double);
	const struct sim_apart_limit limit = {
	    .cpu_s = WRITE_S + (unsigned)(most / BYTES_S)};
	struct sim_apart *apart;
	int rc;
	if ((rc = res_h5_load(e)) < 0 ||
	    (rc = sim_apart_open(&apart, "HDF5", w, &limit, e)) < 0)
		return rc;
	if ((rc = sim_apart_ask(apart, h5_make, NULL, 0, n, e)) == 0 &&
	    (rc = SIM_ZALLOC(bytes, *n, e)) == 0)
		rc = sim_apart_take(apart, *bytes, *n, e);
	sim_apart_close(apart);
	return rc;
}

int res_h5_write_from(const struct res_cube *c,
    const struct res_h5_source *from, const char *path, struct sim_err *e)
{
	struct writer w = {.c = c, .from = *from};
	unsigned char *bytes = NULL;
	size_t n = 0;
	int rc = res_cube_check(c, e);
	if (rc == 0)
		rc = h5_bytes(&w, &bytes, &n, e);
	rc = rc < 0 ? sim_wrap(e, rc, "cannot write %s", path)
		    : res_file_write(path, bytes, n, e);
	free(bytes);
	return rc;
}

static int rows_have(const void *rows, size_t column)
{
	return res_columns_has(rows, column);
}

static int rows_column(const void *rows, size_t column, double to[],
    struct sim_err *e)
{
	(void)e;
	res_columns_read(rows, column, to);
	return 0;
}

int res_h5_write(const struct res_cube *c, const char *path, struct sim_err *e)
{
	const struct res_h5_source rows = {&c->rows, rows_have, rows_column};
	return res_h5_write_from(c, &rows, path, e);
}
