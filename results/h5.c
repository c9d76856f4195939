/* results/h5.c -- a cube as an HDF5 file.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * HDF5 builds the file in memory, and one plain write brings it to disk: when
 * a disk fills up inside H5Fclose(), HDF5 1.10 leaves objects open and may
 * crash at exit. Reading is in h5_read.c.
 */
#include "results/h5.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hdf5_hl.h>

#include "results/file.h"
#include "results/h5_parts.h"
#include "sim/bytes.h"
#include "sim/vec.h"

#define CHUNK_BYTES ((hsize_t)1 << 20)

_Static_assert(RES_MAX_AXES + 2 <= H5S_MAX_RANK, "axes, algorithm, run");

/* HDF5 keeps a stack of errors. Walked upward it begins with the innermost
 * call, which knows the cause. */
static herr_t first_reason(unsigned n, const H5E_error2_t *entry, void *out)
{
	if (n == 0 && entry->desc)
		snprintf(out, 200, "%s", entry->desc);
	return 0;
}

int res_h5_failed(int code, const char *verb, const char *name,
    struct sim_err *e)
{
	char why[200] = "no reason given";
	H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, first_reason, why);
	return sim_fail(e, code, "HDF5 cannot %s %s: %s.", verb, name, why);
}

struct writer {
	const struct res_cube *c;
	hid_t file;
	hid_t utf8;      /* text of any length */
	hid_t plain;     /* creation of a dataset in one piece */
	hid_t packed[2]; /* in chunks; of a trial and of an algorithm metric */
	hid_t scale[RES_MAX_AXES + 2]; /* algorithm, axes..., run */
	hsize_t dim[RES_MAX_AXES + 2];
	unsigned rank;
	char *coordinates; /* those that are not scales; NULL if none */
	double *buf;       /* one metric, of a trial or of all algorithms */
	int has_probes;    /* was n_probes measured? */
	struct sim_err *e;
};

int res_h5_put_attr(hid_t to, const char *name, hid_t type, hsize_t n,
    hid_t mem_type, const void *value, struct sim_err *e)
{
	hid_t space = n ? H5Screate_simple(1, &n, NULL) : H5Screate(H5S_SCALAR);
	hid_t attr =
	    H5Acreate2(to, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
	int rc = 0;
	if (attr < 0 || H5Awrite(attr, mem_type, value) < 0)
		rc = res_h5_failed(SIM_EDEP, "write attribute", name, e);
	H5Aclose(attr);
	H5Sclose(space);
	return rc;
}

hid_t res_h5_utf8(void)
{
	hid_t type = H5Tcopy(H5T_C_S1);
	H5Tset_size(type, H5T_VARIABLE);
	H5Tset_cset(type, H5T_CSET_UTF8);
	return type;
}

int res_h5_put_text(hid_t to, hid_t utf8, const char *name, const char *text,
    struct sim_err *e)
{
	const char *value = text ? text : "";
	return res_h5_put_attr(to, name, utf8, 0, utf8, &value, e);
}

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
	hid_t *scale = &w->scale[axis + 1];
	struct data d = {
	    .name = k->name,
	    .unit = k->unit && *k->unit ? k->unit : "1",
	    .doc = k->doc,
	    .type = H5T_IEEE_F64LE,
	    .mem_type = H5T_NATIVE_DOUBLE,
	    .plist = w->plain,
	    .rank = 1,
	    .dim = &w->dim[axis + 1],
	    .value = k->number,
	    .scale = i ? scale : NULL,
	};
	return k->number ? put_data(w, w->file, &d, i ? NULL : scale)
			 : put_texts(w, w->file, d, k->text, i ? NULL : scale);
}

static int h5_put_run(struct writer *w)
{
	size_t n = w->c->n_runs;
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
	    .dim = &w->dim[w->rank - 1],
	    .value = run,
	};
	rc = put_data(w, w->file, &d, &w->scale[w->rank - 1]);
	free(run);
	return rc;
}

static int put_scales(struct writer *w)
{
	const struct data d = {
	    .name = "algorithm",
	    .unit = "1",
	    .doc = "algorithm, as the spec labels it",
	    .dim = w->dim,
	};
	int rc = w->c->n_algos > 0
	    ? put_texts(w, w->file, d, w->c->algo, &w->scale[0])
	    : 0;
	for (size_t a = 0; rc == 0 && a < w->c->n_axes; a++)
		for (size_t i = 0; rc == 0 && i < w->c->axis[a].n_coords; i++)
			rc = put_coord(w, a, i);
	return rc < 0 ? rc : h5_put_run(w);
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

/* NaN has many bit patterns; with one of them equal cubes give equal bytes. */
static double h5_plain(double x)
{
	return isnan(x) ? NAN : x;
}

/* Gather one column of all rows: the cube holds rows by trial, the file has a
 * dataset for each metric. */
static void h5_gather(double to[], const struct res_cube *c, size_t column)
{
	size_t n = c->n_points * c->n_runs;
	for (size_t i = 0; i < n; i++)
		to[i] = h5_plain(c->row[i * c->row_doubles + column]);
}

static void divide(double to[], const struct res_cube *c, size_t num,
    size_t den)
{
	size_t n = c->n_points * c->n_runs;
	for (size_t i = 0; i < n; i++) {
		const double *row = c->row + i * c->row_doubles;
		to[i] = h5_plain(row[den] > 0 ? row[num] / row[den] : NAN);
	}
}

static int has_number(const double x[], size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isnan(x[i]))
			return 1;
	return 0;
}

/* Write what was gathered in w->buf, unless it may be left out and holds no
 * number. PER_ALGO is 1 with the dimension of algorithms, which is the first
 * one, and 0 without it. */
static int put_metric(struct writer *w, const struct res_metric *m,
    unsigned per_algo)
{
	const size_t n_rows = w->c->n_points * w->c->n_runs;
	unsigned skip = 1 - per_algo;
	if ((m->optional || (m->of_flows && w->has_probes)) &&
	    !has_number(w->buf, per_algo ? w->c->n_algos * n_rows : n_rows))
		return 0;
	const struct data d = {
	    .name = m->name,
	    .unit = m->unit,
	    .doc = m->doc,
	    .type = H5T_IEEE_F64LE,
	    .mem_type = H5T_NATIVE_DOUBLE,
	    .plist = w->packed[per_algo],
	    .rank = w->rank - skip,
	    .dim = w->dim + skip,
	    .value = w->buf,
	    .scale = w->scale + skip,
	};
	return put_data(w, w->file, &d, NULL);
}

static int put_algo_metrics(struct writer *w)
{
	const struct res_cube *c = w->c;
	size_t n_cells = c->n_points * c->n_runs;
	int rc = 0;
	for (unsigned m = 0; rc == 0 && m < RES_N_ALGO_METRICS; m++) {
		for (size_t a = 0; a < c->n_algos; a++)
			h5_gather(w->buf + a * n_cells, c,
			    res_row_doubles(a) + m);
		rc = put_metric(w, &res_algo_metrics[m], 1);
	}
	for (unsigned m = 0; rc == 0 && m < RES_N_RATIOS; m++) {
		for (size_t a = 0; a < c->n_algos; a++)
			divide(w->buf + a * n_cells, c,
			    res_row_doubles(a) + res_ratios[m].num,
			    res_row_doubles(a) + res_ratios[m].den);
		rc = put_metric(w, &res_ratios[m], 1);
	}
	return rc;
}

static int put_metrics(struct writer *w)
{
	const struct res_cube *c = w->c;
	int rc = 0;
	for (unsigned m = 0; rc == 0 && m < RES_N_TRIAL_METRICS; m++) {
		h5_gather(w->buf, c, m);
		rc = put_metric(w, &res_trial_metrics[m], 0);
	}
	if (rc == 0 && c->n_algos > 0)
		rc = put_algo_metrics(w);
	for (unsigned m = 0; rc == 0 && m < RES_N_TRIAL_RATIOS; m++) {
		divide(w->buf, c, res_trial_ratios[m].num,
		    res_trial_ratios[m].den);
		rc = put_metric(w, &res_trial_ratios[m], 0);
	}
	return rc;
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
		H5Pset_obj_track_times(plist, 0);
		group = H5Gcreate2(w->file, "claims", H5P_DEFAULT, plist,
		    H5P_DEFAULT);
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

/* Make *AXES, the attribute `axes`: one line an axis, its coordinates separated
 * by tabs; and w->coordinates: all that are not scales, separated by blanks, as
 * CF names auxiliary coordinates, or NULL if there are none. Each name and its
 * separator are counted, so both texts fit. */
static int name_axes(struct writer *w, char **axes)
{
	const struct res_cube *c = w->c;
	size_t n = 1;
	for (size_t a = 0; a < c->n_axes; a++)
		for (size_t i = 0; i < c->axis[a].n_coords; i++)
			n += strlen(c->axis[a].coord[i].name) + 1;
	int rc;
	if ((rc = SIM_ZALLOC(axes, n, w->e)) < 0 ||
	    (rc = SIM_ZALLOC(&w->coordinates, n, w->e)) < 0)
		return rc;
	char *to = *axes, *extra = w->coordinates;
	for (size_t a = 0; a < c->n_axes; a++)
		for (size_t i = 0; i < c->axis[a].n_coords; i++) {
			const char *name = c->axis[a].coord[i].name;
			const char *mark = i ? "\t" : a ? "\n" : "";
			to += sprintf(to, "%s%s", mark, name);
			if (i)
				extra += sprintf(extra, "%s%s",
				    extra > w->coordinates ? " " : "", name);
		}
	if (extra == w->coordinates) {
		free(w->coordinates);
		w->coordinates = NULL;
	}
	return 0;
}

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
	int rc = name_axes(w, &axes);
	if (rc == 0)
		rc = h5_put_text(w, w->file, "axes", axes);
	for (size_t i = 0; rc == 0 && i < sizeof(texts) / sizeof(texts[0]); i++)
		rc = h5_put_text(w, w->file, texts[i].name, texts[i].text);
	free(axes);
	return rc < 0 ? rc : put_counts(w);
}

/* --- the file -------------------------------------------------------------*/

/* A chunk takes as many whole dimensions as fit, from the last one on, then a
 * part of the next one, and a single index of those before. */
static void set_chunk(hid_t plist, unsigned rank, const hsize_t dim[])
{
	hsize_t chunk[RES_MAX_AXES + 2], left = CHUNK_BYTES / sizeof(double);
	for (unsigned i = rank; i-- > 0;) {
		chunk[i] = dim[i] < left ? dim[i] : left;
		left /= chunk[i];
		if (left == 0)
			left = 1;
	}
	H5Pset_chunk(plist, (int)rank, chunk);
	H5Pset_shuffle(plist);
	H5Pset_deflate(plist, 4);
}

static int h5_set_up(struct writer *w)
{
	const struct res_cube *c = w->c;
	size_t n_cells = c->n_points * c->n_runs;
	w->has_probes = res_cube_has(c, RES_TRIAL_n_probes);
	w->dim[w->rank++] = c->n_algos;
	for (size_t a = 0; a < c->n_axes; a++)
		w->dim[w->rank++] = c->axis[a].n;
	w->dim[w->rank++] = c->n_runs;
	w->utf8 = res_h5_utf8();
	w->plain = H5Pcreate(H5P_DATASET_CREATE);
	H5Pset_obj_track_times(w->plain, 0);
	for (unsigned i = 0; i < 2; i++)
		w->packed[i] = H5Pcopy(w->plain);
	set_chunk(w->packed[0], w->rank - 1, w->dim + 1);
	if (c->n_algos > 0)
		set_chunk(w->packed[1], w->rank, w->dim);
	return SIM_ZALLOC(&w->buf, (c->n_algos > 0 ? c->n_algos : 1) * n_cells,
	    w->e);
}

static void h5_tear_down(struct writer *w)
{
	for (unsigned i = 0; i < w->rank; i++)
		/* Ids of HDF5 are above 0, and 0 is one never opened. */
		if (w->scale[i] > 0)
			H5Dclose(w->scale[i]);
	for (unsigned i = 0; i < 2; i++)
		H5Pclose(w->packed[i]);
	H5Pclose(w->plain);
	H5Tclose(w->utf8);
	free(w->coordinates);
	free(w->buf);
}

static int put_all(const struct res_cube *c, hid_t file, struct sim_err *e)
{
	struct writer w = {.c = c, .file = file, .e = e};
	int rc;
	if ((rc = h5_set_up(&w)) == 0 && (rc = h5_put_root(&w)) == 0 &&
	    (rc = put_scales(&w)) == 0 && (rc = put_status(&w)) == 0 &&
	    (rc = put_metrics(&w)) == 0)
		rc = h5_put_claims(&w);
	h5_tear_down(&w);
	return rc;
}

static hid_t h5_create(void)
{
	hid_t access = H5Pcreate(H5P_FILE_ACCESS);
	hid_t plist = H5Pcreate(H5P_FILE_CREATE);
	H5Pset_fapl_core(access, 1 << 20, 0);
	H5Pset_obj_track_times(plist, 0);
	/* Datasets are listed in our order. All links stand in the root's
	 * header, and indices of chunks are small, since there are some forty
	 * datasets of few chunks; the defaults are made for thousands. */
	H5Pset_link_creation_order(plist,
	    H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
	H5Pset_link_phase_change(plist, 512, 0);
	H5Pset_istore_k(plist, 4);
	hid_t file = H5Fcreate(RES_H5_NO_FILE, H5F_ACC_TRUNC, plist, access);
	H5Pclose(plist);
	H5Pclose(access);
	return file;
}

/* Take the bytes of the file that HDF5 built in memory, and add the trailer. */
static int take_image(hid_t file, unsigned char **bytes, size_t *n,
    struct sim_err *e)
{
	ssize_t size = -1;
	if (H5Fflush(file, H5F_SCOPE_LOCAL) >= 0)
		size = H5Fget_file_image(file, NULL, 0);
	if (size < 0)
		return res_h5_failed(SIM_EDEP, "finish", "the file", e);
	if (!(*bytes = malloc((size_t)size + RES_H5_TRAILER)))
		return sim_fail(e, SIM_ENOMEM,
		    "no memory for a file of %zd bytes.", size);
	if (H5Fget_file_image(file, *bytes, (size_t)size) != size)
		return res_h5_failed(SIM_EDEP, "copy", "the file", e);
	memcpy(*bytes + size, RES_H5_MAGIC, 8);
	sim_store_64(*bytes + size + 8,
	    sim_fnv(SIM_FNV_START, *bytes, (size_t)size));
	*n = (size_t)size + RES_H5_TRAILER;
	return 0;
}

int res_h5_write(const struct res_cube *c, const char *path, struct sim_err *e)
{
	unsigned char *bytes = NULL;
	size_t n = 0;
	H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
	int rc = res_cube_check(c, e);
	if (rc < 0)
		return sim_wrap(e, rc, "cannot write %s", path);
	hid_t file = h5_create();
	if (file < 0)
		rc = res_h5_failed(SIM_EDEP, "make", "a file in memory", e);
	else if ((rc = put_all(c, file, e)) == 0)
		rc = take_image(file, &bytes, &n, e);
	if (file >= 0)
		H5Fclose(file);
	if (rc < 0)
		sim_wrap(e, rc, "cannot write %s", path);
	else
		rc = res_file_write(path, bytes, n, e);
	free(bytes);
	return rc;
}
