/* results/h5_table_read.c -- tables of an HDF5 file, read by rows.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "results/h5_far.h"
#include "results/h5_parts.h"
#include "results/h5_table.h"
#include "results/seal.h"
#include "sim/vec.h"

/* What the child has in memory to give back at once. */
enum { MAX_ROWS = 1 << 18 };

/* The columns of a table, in the child. */
struct table_sets {
	struct table_sets *next;
	unsigned number;
	size_t n_cols;
	struct sim_column col[RES_MAX_COLUMNS];
	hid_t set[RES_MAX_COLUMNS];
};

struct res_h5_table_in {
	struct res_h5_table_in *next;
	struct res_h5_in *file;
	unsigned number;
	const struct sim_column *col;
	size_t n_cols;
	uint64_t n;
	uint8_t has[RES_MAX_COLUMNS];
};

struct res_h5_in {
	struct res_h5_far far;
	int fd;
	uint64_t n_bytes;
	unsigned n_tables;
	struct res_h5_table_in *table;
	struct table_sets *sets; /* in the child */
};

/* --- in the child ----------------------------------------------------------*/

static int h5_in_begin(void *state, const void *ask, size_t n,
    struct sim_apart_reply *reply, struct sim_err *e)
{
	struct res_h5_in *f = state;
	char name[64];
	const int rc = res_h5_begin(e);
	(void)ask, (void)n, (void)reply;
	if (rc < 0)
		return rc;
	/* By its descriptor: the path may name another file by now, whose seal
	 * was never checked. */
	snprintf(name, sizeof(name), "/proc/self/fd/%d", f->fd);
	f->far.file = H5Fopen(name, H5F_ACC_RDONLY, H5P_DEFAULT);
	return f->far.file < 0 ? res_h5_failed(SIM_EPARSE, "open", "it", e) : 0;
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
static int open_column(struct table_sets *t, size_t i, hid_t group,
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

/* What is asked of a table, and what is known of it then. Texts of columns are
 * constants, so they are the same in both processes. */
struct table_ask {
	char name[64];
	unsigned number;
	size_t n_cols;
	struct sim_column col[RES_MAX_COLUMNS];
};
struct table_is {
	uint64_t n;
	uint8_t has[RES_MAX_COLUMNS];
};

static int in_opens_columns(struct table_sets *t, hid_t group, const char *name,
    struct table_is *is, struct sim_err *e)
{
	hssize_t n = -1;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < t->n_cols; i++) {
		rc = open_column(t, i, group, name, &n, e);
		is->has[i] = t->set[i] >= 0;
	}
	is->n = n < 0 ? 0 : (uint64_t)n;
	return rc;
}

static int in_opens_table(void *state, const void *ask, size_t n,
    struct sim_apart_reply *to, struct sim_err *e)
{
	struct res_h5_in *f = state;
	const struct table_ask *q = ask;
	struct table_is *is = sim_apart_room(to, sizeof(*is), e);
	struct table_sets *t;
	int rc = is ? SIM_ZALLOC(&t, 1, e) : SIM_ENOMEM;
	(void)n;
	if (rc < 0)
		return rc;
	*is = (struct table_is){0};
	t->next = f->sets;
	t->number = q->number;
	t->n_cols = q->n_cols;
	memcpy(t->col, q->col, sizeof(t->col));
	for (size_t i = 0; i < RES_MAX_COLUMNS; i++)
		t->set[i] = -1;
	f->sets = t;
	hid_t group = H5Gopen2(f->far.file, q->name, H5P_DEFAULT);
	if (group < 0)
		return sim_fail(e, SIM_EPARSE, "table %s is missing.", q->name);
	rc = in_opens_columns(t, group, q->name, is, e);
	H5Gclose(group);
	return rc;
}

struct rows_ask {
	unsigned number;
	uint64_t first;
	size_t n;
};

/* Of each column that is there its rows, one column behind the other. */
static int in_gives_rows(void *state, const void *ask, size_t n,
    struct sim_apart_reply *to, struct sim_err *e)
{
	const struct res_h5_in *f = state;
	const struct rows_ask *q = ask;
	const struct table_sets *t = f->sets;
	(void)n;
	while (t->number != q->number)
		t = t->next;
	for (size_t i = 0; i < t->n_cols; i++) {
		const struct sim_column *c = &t->col[i];
		void *room = t->set[i] < 0
		    ? NULL
		    : sim_apart_room(to, q->n * c->size, e);
		if (t->set[i] >= 0 && !room)
			return SIM_ENOMEM;
		if (room &&
		    res_h5_move_rows(t->set[i], c, q->first, q->n, NULL, room) <
			0)
			return res_h5_failed(SIM_EPARSE, "read", c->name, e);
	}
	return 0;
}

/* --- in the parent ---------------------------------------------------------*/

static int h5_in_open(struct res_h5_in **out, const char *path, int sealed,
    struct sim_err *e)
{
	struct res_h5_in *f;
	int rc = SIM_ZALLOC(&f, 1, e);
	if (rc < 0)
		return rc;
	f->fd = -1;
	rc = sealed ? res_seal_open(&f->fd, &f->n_bytes, path, e)
		    : res_seal_open_any(&f->fd, &f->n_bytes, path, e);
	if (rc == 0) {
		f->far.n_bytes = f->n_bytes;
		rc = res_h5_far_open(&f->far, h5_in_begin, e);
		if (rc < 0)
			sim_wrap(e, rc, "cannot read %s", path);
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
		free(t);
	}
	res_h5_far_close(&f->far);
	if (f->fd >= 0)
		close(f->fd);
	free(f);
}

uint64_t res_h5_in_bytes(const struct res_h5_in *f)
{
	return f->n_bytes;
}

int res_h5_in_has(struct res_h5_in *f, const char *table, struct sim_err *e)
{
	return res_h5_far_has(&f->far, table, e);
}

int res_h5_in_has_attr(struct res_h5_in *f, const char *name, struct sim_err *e)
{
	return res_h5_far_has_attr(&f->far, name, e);
}

int res_h5_in_text(struct res_h5_in *f, const char *name, char **out,
    struct sim_err *e)
{
	return res_h5_far_text(&f->far, "", name, out, e);
}

int res_h5_in_counts(struct res_h5_in *f, const char *name, size_t n,
    uint64_t value[], struct sim_err *e)
{
	return res_h5_far_counts(&f->far, name, n, value, e);
}

/* Ask the child for the columns of T. */
static int table_open(struct res_h5_table_in *t, const char *name,
    struct sim_err *e)
{
	struct table_ask q = {.number = t->number, .n_cols = t->n_cols};
	struct table_is is;
	int rc;
	if (strlen(name) >= sizeof(q.name))
		return sim_fail(e, SIM_EPARSE, "table %s is missing.", name);
	strcpy(q.name, name);
	memcpy(q.col, t->col, t->n_cols * sizeof(q.col[0]));
	if ((rc = sim_apart_ask(t->file->far.apart, in_opens_table, &q,
		 sizeof(q), NULL, e)) < 0 ||
	    (rc = sim_apart_take(t->file->far.apart, &is, sizeof(is), e)) < 0)
		return rc;
	t->n = is.n;
	memcpy(t->has, is.has, sizeof(is.has));
	return 0;
}

/* gzip packs at most 1032 bytes into one, and a value has a byte or more: a
 * table said to be larger is a lie that would cost memory. */
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
	    .file = f,
	    .number = f->n_tables++,
	    .col = col,
	    .n_cols = n_cols};
	f->table = t;
	if ((rc = table_open(t, name, e)) < 0)
		return rc;
	if (t->n / 1032 > f->n_bytes)
		return sim_fail(e, SIM_EPARSE,
		    "table %s is larger than the file.", name);
	*n = t->n;
	*out = t;
	return 0;
}

int res_h5_in_has_column(const struct res_h5_table_in *t, size_t i)
{
	return t->has[i];
}

static int read_some(struct res_h5_table_in *t, uint64_t first, size_t n,
    size_t done, void *const column[], struct sim_err *e)
{
	struct sim_apart *apart = t->file->far.apart;
	const struct rows_ask q = {t->number, first + done, n};
	int rc = sim_apart_ask(apart, in_gives_rows, &q, sizeof(q), NULL, e);
	for (size_t i = 0; rc == 0 && i < t->n_cols; i++) {
		const size_t size = t->col[i].size;
		char *to = (char *)column[i] + done * size;
		if (t->has[i])
			rc = sim_apart_take(apart, to, n * size, e);
		else
			memset(to, 0, n * size);
	}
	return rc;
}

int res_h5_in_read(struct res_h5_table_in *t, uint64_t first, size_t n,
    void *const column[], struct sim_err *e)
{
	int rc = 0;
	assert(first <= t->n && n <= t->n - first);
	for (size_t done = 0, k; rc == 0 && done < n; done += k) {
		k = n - done < MAX_ROWS ? n - done : MAX_ROWS;
		rc = read_some(t, first, k, done, column, e);
	}
	return rc;
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
