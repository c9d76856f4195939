/* results/h5_table_read.c -- tables of an HDF5 file, read by rows.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "results/h5_parts.h"
#include "results/h5_table.h"
#include "results/seal.h"
#include "sim/vec.h"

struct res_h5_table_in {
	struct res_h5_table_in *next;
	const struct sim_column *col;
	size_t n_cols;
	hsize_t n;
	hid_t set[RES_MAX_COLUMNS];
};

struct res_h5_in {
	int fd;
	uint64_t n_bytes;
	hid_t file;
	struct res_h5_table_in *table;
};

static int h5_in_open(struct res_h5_in **out, const char *path, int sealed,
    struct sim_err *e)
{
	char name[64];
	struct res_h5_in *f;
	int rc = res_h5_begin(e);
	if (rc < 0 || (rc = SIM_ZALLOC(&f, 1, e)) < 0)
		return rc;
	f->file = -1;
	f->fd = -1;
	rc = sealed ? res_seal_open(&f->fd, &f->n_bytes, path, e)
		    : res_seal_open_any(&f->fd, &f->n_bytes, path, e);
	if (rc == 0) {
		/* By its descriptor: PATH may name another file by now, whose
		 * seal was never checked. */
		snprintf(name, sizeof(name), "/proc/self/fd/%d", f->fd);
		f->file = H5Fopen(name, H5F_ACC_RDONLY, H5P_DEFAULT);
		if (f->file < 0)
			rc = sim_wrap(e,
			    res_h5_failed(SIM_EPARSE, "open", "it", e),
			    "cannot read %s", path);
	}
	if (rc < 0) {
		res_h5_in_close(f);
		return rc;
	}
	*out = f;
	return 0;
}

int res_h5_in_open(struct res_h5_in **f, const char *path, struct sim_err *e)
{
	return h5_in_open(f, path, 1, e);
}

int res_h5_in_open_any(struct res_h5_in **f, const char *path,
    struct sim_err *e)
{
	return h5_in_open(f, path, 0, e);
}

void res_h5_in_close(struct res_h5_in *f)
{
	if (!f)
		return;
	for (struct res_h5_table_in *t = f->table, *next; t; t = next) {
		next = t->next;
		for (size_t i = 0; i < t->n_cols; i++)
			if (t->set[i] >= 0)
				H5Dclose(t->set[i]);
		free(t);
	}
	if (f->file >= 0)
		H5Fclose(f->file);
	if (f->fd >= 0)
		close(f->fd);
	free(f);
}

uint64_t res_h5_in_bytes(const struct res_h5_in *f)
{
	return f->n_bytes;
}

int res_h5_in_has(const struct res_h5_in *f, const char *table)
{
	return H5Lexists(f->file, table, H5P_DEFAULT) > 0;
}

int res_h5_in_has_attr(const struct res_h5_in *f, const char *name)
{
	return H5Aexists(f->file, name) > 0;
}

int res_h5_in_text(struct res_h5_in *f, const char *name, char **out,
    struct sim_err *e)
{
	return res_h5_get_text(f->file, name, out, e);
}

int res_h5_in_counts(struct res_h5_in *f, const char *name, size_t n,
    uint64_t value[], struct sim_err *e)
{
	return res_h5_get_counts(f->file, name, (hssize_t)n, value, e);
}

static int is_of_type(hid_t type, enum sim_type t)
{
	return t == SIM_NAME
	    ? H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) > 0
	    : H5Tequal(type, res_h5_file_type(t)) > 0;
}

/* The number of entries of a dataset of one dimension and of the very type that
 * C has in the file; else -1. */
static hssize_t length_of(hid_t set, const struct sim_column *c)
{
	hid_t type = H5Dget_type(set), space = H5Dget_space(set);
	hssize_t n = -1;
	if (is_of_type(type, c->type) && H5Sget_simple_extent_ndims(space) == 1)
		n = H5Sget_simple_extent_npoints(space);
	H5Sclose(space);
	H5Tclose(type);
	return n;
}

/* Open column I of a group, whose columns before it have *N rows, or are none
 * if that is -1. */
static int open_column(struct res_h5_table_in *t, size_t i, hid_t group,
    const char *name, hssize_t *n, struct sim_err *e)
{
	static const char *const type[] = {"uint8", "uint16", "uint32",
	    "uint64", "int64", "float64", "text of any length"};
	const struct sim_column *c = &t->col[i];
	if (c->optional && H5Lexists(group, c->name, H5P_DEFAULT) == 0)
		return 0;
	t->set[i] = H5Dopen2(group, c->name, H5P_DEFAULT);
	if (t->set[i] < 0)
		return sim_fail(e, SIM_EPARSE, "column %s/%s is missing.", name,
		    c->name);
	const hssize_t rows = length_of(t->set[i], c);
	if (rows < 0)
		return sim_fail(e, SIM_EPARSE,
		    "column %s/%s is of another type or shape than [rows] of "
		    "%s.",
		    name, c->name, type[c->type]);
	if (*n >= 0 && rows != *n)
		return sim_fail(e, SIM_EPARSE,
		    "column %s/%s has %lld rows, and others %lld.", name,
		    c->name, (long long)rows, (long long)*n);
	*n = rows;
	return 0;
}

/* gzip packs at most 1032 bytes into one, and a value has a byte or more: a
 * table said to be larger is a lie that would cost memory. */
static int open_columns(struct res_h5_table_in *t, const struct res_h5_in *f,
    hid_t group, const char *name, struct sim_err *e)
{
	hssize_t n = -1;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < t->n_cols; i++)
		rc = open_column(t, i, group, name, &n, e);
	t->n = n < 0 ? 0 : (hsize_t)n;
	if (rc == 0 && t->n / 1032 > f->n_bytes)
		rc = sim_fail(e, SIM_EPARSE,
		    "table %s is larger than the file.", name);
	return rc;
}

int res_h5_in_table(struct res_h5_in *f, const char *name,
    const struct sim_column col[], size_t n_cols, struct res_h5_table_in **out,
    uint64_t *n, struct sim_err *e)
{
	struct res_h5_table_in *t;
	assert(n_cols <= RES_MAX_COLUMNS);
	int rc = SIM_ZALLOC(&t, 1, e);
	if (rc < 0)
		return rc;
	*t = (struct res_h5_table_in){.next = f->table,
	    .col = col,
	    .n_cols = n_cols};
	for (size_t i = 0; i < n_cols; i++)
		t->set[i] = -1;
	f->table = t;
	hid_t group = H5Gopen2(f->file, name, H5P_DEFAULT);
	if (group < 0)
		return sim_fail(e, SIM_EPARSE, "table %s is missing.", name);
	rc = open_columns(t, f, group, name, e);
	H5Gclose(group);
	if (rc < 0)
		return rc;
	*n = t->n;
	*out = t;
	return 0;
}

int res_h5_in_has_column(const struct res_h5_table_in *t, size_t i)
{
	return t->set[i] >= 0;
}

int res_h5_in_read(struct res_h5_table_in *t, uint64_t first, size_t n,
    void *const column[], struct sim_err *e)
{
	assert(first <= t->n && n <= t->n - first);
	for (size_t i = 0; n > 0 && i < t->n_cols; i++)
		if (t->set[i] < 0)
			memset(column[i], 0, n * t->col[i].size);
		else if (res_h5_move_rows(t->set[i], &t->col[i], first, n, NULL,
			     column[i]) < 0)
			return res_h5_failed(SIM_EPARSE, "read", t->col[i].name,
			    e);
	return 0;
}

int res_h5_in_rows(struct res_h5_table_in *t, uint64_t first, size_t n,
    void *row, size_t row_bytes, struct sim_err *e)
{
	void *column[RES_MAX_COLUMNS] = {NULL};
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < t->n_cols; i++)
		rc = sim_zalloc(&column[i], n, t->col[i].size, e);
	if (rc == 0)
		rc = res_h5_in_read(t, first, n, column, e);
	for (size_t i = 0; rc == 0 && i < t->n_cols; i++) {
		const size_t b = t->col[i].size;
		for (size_t k = 0; k < n; k++)
			memcpy((char *)row + k * row_bytes + t->col[i].offset,
			    (const char *)column[i] + k * b, b);
	}
	for (size_t i = 0; i < t->n_cols; i++)
		free(column[i]);
	return rc;
}

int res_h5_in_append(struct res_h5_table_in *t, uint64_t first, size_t n,
    const struct sim_table *kind, void *table, struct sim_err *e)
{
	void *column[RES_MAX_COLUMNS];
	int rc = sim_table_reserve(kind, table, n, e);
	if (rc < 0)
		return rc;
	assert(kind->n_columns == t->n_cols);
	for (size_t i = 0; i < t->n_cols; i++)
		column[i] =
		    sim_table_at(kind, table, i, sim_table_n(kind, table));
	if ((rc = res_h5_in_read(t, first, n, column, e)) == 0)
		sim_table_added(kind, table, n);
	return rc;
}
