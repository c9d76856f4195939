/* results/h5_table.c -- tables that grow in an HDF5 file, and are read by rows.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rows are gathered until they fill a chunk, so that HDF5 compresses each chunk
 * once, and the bytes do not depend on how rows came in batches.
 *
 * When a disk fills up under HDF5 1.10, it leaves objects open and may crash.
 * So room is claimed from the file system before HDF5 writes, a little more
 * than it can need, and a full disk stops the writer before HDF5 is called. (A
 * file system without fallocate() can give no such promise.)
 */
#include "results/h5_table.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "results/file.h"
#include "results/h5_parts.h"
#include "results/seal.h"
#include "sim/text.h"
#include "sim/vec.h"

enum { GZIP_LEVEL = 1, MAX_WORDS = 256, ROW_NAME = 64, WRITE_S = 60 };

/* For HDF5's own structures, which grow by some KB a column between two
 * claims. */
enum { SLACK_BYTES = 1 << 20 };

/* And where it keeps a text, beside the text itself. */
enum { NAME_BYTES = 32 };

/* Rows of a column on their way to the child. */
struct held {
	unsigned table, column;
	size_t n;
	unsigned char rows[]; /* [chunk_rows] */
};

struct res_h5_table_out {
	struct res_h5_out *file;
	struct res_h5_table_out *next;
	const struct sim_column *col;
	unsigned number;
	size_t n_cols, chunk_rows, n_held;
	struct held *held[RES_MAX_COLUMNS];
};

/* A table in the child. */
struct table_made {
	struct table_made *next;
	unsigned number;
	size_t n_cols;
	struct sim_column col[RES_MAX_COLUMNS];
	hsize_t n_written[RES_MAX_COLUMNS];
	hid_t group, set[RES_MAX_COLUMNS];
};

struct res_h5_out {
	char *path, *temp;
	int fd; /* of temp, to claim room */
	int failed;
	unsigned n_tables;
	struct sim_apart *apart;
	struct res_h5_table_out *table;
	/* In the child: */
	hid_t file, utf8;
	struct table_made *made;
};

/* HDF5 does not survive a failed allocation, so a child (sim/apart.h) makes the
 * file. When it fails the file is worthless: nothing is written to it any more
 * and finishing it fails. */
static int out_ask(struct res_h5_out *f, sim_apart_fn *fn, const void *ask,
    size_t n, struct sim_err *e)
{
	const int rc = sim_apart_ask(f->apart, fn, ask, n, NULL, e);
	if (rc == 0)
		return 0;
	f->failed = 1;
	return sim_wrap(e, rc, "cannot write %s", f->path);
}

/* Claim room for BYTES more behind the end of the file, with a part more for
 * the indices of chunks. From its start, as HDF5 may have left holes before the
 * end that it has yet to write. */
static int claim(struct res_h5_out *f, size_t bytes, struct sim_err *e)
{
	struct stat st;
	const off_t more = (off_t)bytes + (off_t)(bytes / 64) + SLACK_BYTES;
	if (f->failed)
		return sim_fail(e, SIM_EIO,
		    "cannot write %s: an earlier part failed.", f->path);
	int rc = fstat(f->fd, &st);
	if (rc == 0)
		do
			rc = fallocate(f->fd, FALLOC_FL_KEEP_SIZE, 0,
			    st.st_size + more);
		while (rc < 0 && errno == EINTR);
	if (rc == 0 || errno == EOPNOTSUPP || errno == ENOSYS)
		return 0;
	f->failed = 1;
	return sim_fail(e, SIM_EIO, "cannot write %s: %s.", f->path,
	    strerror(errno));
}

/* --- in the child ----------------------------------------------------------*/

/* What is made by PLIST lists its links in our order, and holds no times. */
static int orders_links(hid_t plist)
{
	return H5Pset_obj_track_times(plist, 0) >= 0 &&
	    H5Pset_link_creation_order(plist,
		H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED) >= 0;
}

static int out_begins(void *state, const void *ask, size_t n,
    struct sim_apart_reply *reply, struct sim_err *e)
{
	struct res_h5_out *f = state;
	const int rc = res_h5_begin(e);
	(void)ask, (void)n, (void)reply;
	if (rc < 0)
		return rc;
	hid_t plist = H5Pcreate(H5P_FILE_CREATE);
	if (orders_links(plist))
		f->file = H5Fcreate(f->temp, H5F_ACC_TRUNC, plist, H5P_DEFAULT);
	f->utf8 = res_h5_utf8();
	H5Pclose(plist);
	return f->file < 0 || f->utf8 < 0
	    ? res_h5_failed(SIM_EIO, "make", f->temp, e)
	    : 0;
}

/* ASK is the name and the text, each with its 0. */
static int out_writes_text(void *state, const void *ask, size_t n,
    struct sim_apart_reply *reply, struct sim_err *e)
{
	const struct res_h5_out *f = state;
	const char *name = ask;
	(void)n, (void)reply;
	return res_h5_put_text(f->file, f->utf8, name, name + strlen(name) + 1,
	    e);
}

struct counts_ask {
	const char *name; /* a constant */
	size_t n;
	uint64_t value[];
};

static int out_writes_counts(void *state, const void *ask, size_t n,
    struct sim_apart_reply *reply, struct sim_err *e)
{
	const struct res_h5_out *f = state;
	const struct counts_ask *q = ask;
	(void)n, (void)reply;
	return res_h5_put_attr(f->file, q->name, H5T_STD_U64LE, q->n,
	    H5T_NATIVE_UINT64, q->value, e);
}

static int put_words(hid_t set, hid_t utf8, const struct sim_column *c,
    struct sim_err *e)
{
	uint8_t value[MAX_WORDS];
	size_t n = 0, n_text = 0;
	for (; c->words[n]; n++) {
		assert(n < MAX_WORDS);
		value[n] = (uint8_t)n;
		n_text += strlen(c->words[n]) + 1;
	}
	char *text;
	int rc = SIM_ZALLOC(&text, n_text, e);
	if (rc < 0)
		return rc;
	struct sim_text to = {text, n_text, 0};
	for (size_t i = 0; i < n; i++)
		sim_put(&to, "%s%s", i ? " " : "", c->words[i]);
	if ((rc = res_h5_put_text(set, utf8, "flag_meanings", text, e)) == 0)
		rc = res_h5_put_attr(set, "flag_values",
		    res_h5_file_type(c->type), n, H5T_NATIVE_UINT8, value, e);
	free(text);
	return rc;
}

/* What a table is to be. Texts of columns are constants, so they are the same in
 * both processes. */
struct table_ask {
	const char *name;
	unsigned number;
	size_t n_cols, chunk_rows;
	struct sim_column col[RES_MAX_COLUMNS];
};

static int make_column(const struct res_h5_out *f, struct table_made *t,
    size_t i, size_t chunk_rows, struct sim_err *e)
{
	const struct sim_column *c = &t->col[i];
	const int is_name = c->type == SIM_NAME;
	const hsize_t none = 0, no_end = H5S_UNLIMITED, chunk = chunk_rows;
	hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
	hid_t space = H5Screate_simple(1, &none, &no_end);
	int good = H5Pset_obj_track_times(plist, 0) >= 0 &&
	    H5Pset_chunk(plist, 1, &chunk) >= 0;
	/* Of a text a chunk holds only where HDF5 keeps it. */
	if (!is_name)
		good = good && H5Pset_shuffle(plist) >= 0 &&
		    H5Pset_deflate(plist, GZIP_LEVEL) >= 0;
	hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
	/* Without a cache HDF5 writes a chunk at once, while there is room
	 * claimed for it. */
	good = good && H5Pset_chunk_cache(access, 0, 0, 1) >= 0;
	t->set[i] = good ? H5Dcreate2(t->group, c->name,
			       is_name ? f->utf8 : res_h5_file_type(c->type),
			       space, H5P_DEFAULT, plist, access)
			 : -1;
	H5Sclose(space);
	H5Pclose(access);
	H5Pclose(plist);
	int rc;
	if (t->set[i] < 0)
		return res_h5_failed(SIM_EIO, "make", c->name, e);
	if ((rc = res_h5_put_text(t->set[i], f->utf8, "units", c->unit, e)) <
		0 ||
	    (rc = res_h5_put_text(t->set[i], f->utf8, "long_name", c->doc, e)) <
		0)
		return rc;
	return c->words ? put_words(t->set[i], f->utf8, c, e) : 0;
}

static int make_group(const struct res_h5_out *f, struct table_made *t,
    const char *name, struct sim_err *e)
{
	hid_t plist = H5Pcreate(H5P_GROUP_CREATE);
	t->group = -1;
	if (orders_links(plist))
		t->group =
		    H5Gcreate2(f->file, name, H5P_DEFAULT, plist, H5P_DEFAULT);
	H5Pclose(plist);
	return t->group < 0 ? res_h5_failed(SIM_EIO, "make", name, e) : 0;
}

static int out_makes_table(void *state, const void *ask, size_t n,
    struct sim_apart_reply *reply, struct sim_err *e)
{
	struct res_h5_out *f = state;
	const struct table_ask *q = ask;
	struct table_made *t;
	int rc = SIM_ZALLOC(&t, 1, e);
	(void)n, (void)reply;
	if (rc < 0)
		return rc;
	t->next = f->made;
	t->number = q->number;
	t->n_cols = q->n_cols;
	memcpy(t->col, q->col, sizeof(t->col));
	f->made = t;
	rc = make_group(f, t, q->name, e);
	for (size_t i = 0; rc == 0 && i < t->n_cols; i++)
		rc = make_column(f, t, i, q->chunk_rows, e);
	return rc;
}

static struct table_made *out_find(const struct res_h5_out *f, unsigned number)
{
	struct table_made *t = f->made;
	while (t->number != number)
		t = t->next;
	return t;
}

static int out_writes_rows(void *state, const void *ask, size_t n,
    struct sim_apart_reply *reply, struct sim_err *e)
{
	const struct res_h5_out *f = state;
	const struct held *h = ask;
	const unsigned i = h->column;
	struct table_made *t = out_find(f, h->table);
	(void)n, (void)reply;
	const hsize_t first = t->n_written[i], end = first + h->n;
	if (H5Dset_extent(t->set[i], &end) < 0 ||
	    res_h5_move_rows(t->set[i], &t->col[i], first, h->n, h->rows,
		NULL) < 0)
		return res_h5_failed(SIM_EIO, "write", t->col[i].name, e);
	t->n_written[i] = end;
	return 0;
}

/* netCDF's way to write a dimension that has no variable: a scale under that
 * dimension's name, with a text that netCDF expects to the letter. It is never
 * written to, so it takes no room. */
static int out_adds_dimension(void *state, const void *ask, size_t n_ask,
    struct sim_apart_reply *reply, struct sim_err *e)
{
	const struct table_made *t = out_find(state, *(const unsigned *)ask);
	const hsize_t n = t->n_written[0];
	char name[ROW_NAME];
	(void)n_ask, (void)reply;
	snprintf(name, sizeof(name),
	    "This is a netCDF dimension but not a netCDF variable.%10llu",
	    (unsigned long long)n);
	hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
	hid_t space = H5Screate_simple(1, &n, NULL);
	hid_t row = H5Pset_obj_track_times(plist, 0) < 0
	    ? -1
	    : H5Dcreate2(t->group, "row", H5T_IEEE_F32BE, space, H5P_DEFAULT,
		  plist, H5P_DEFAULT);
	int good = row >= 0 && H5DSset_scale(row, name) >= 0;
	for (size_t i = 0; good && i < t->n_cols; i++)
		good = H5DSattach_scale(t->set[i], row, 0) >= 0;
	H5Dclose(row);
	H5Sclose(space);
	H5Pclose(plist);
	return good ? 0 : res_h5_failed(SIM_EIO, "make", "a dimension", e);
}

/* Close all that HDF5 has open; only then is everything in the file. */
static int out_ends(void *state, const void *ask, size_t n,
    struct sim_apart_reply *reply, struct sim_err *e)
{
	struct res_h5_out *f = state;
	(void)ask, (void)n, (void)reply;
	for (const struct table_made *t = f->made; t; t = t->next) {
		for (size_t i = 0; i < t->n_cols; i++)
			H5Dclose(t->set[i]);
		H5Gclose(t->group);
	}
	H5Tclose(f->utf8);
	return H5Fclose(f->file) < 0
	    ? res_h5_failed(SIM_EIO, "close", "the file", e)
	    : 0;
}

/* --- in the parent ---------------------------------------------------------*/

int res_h5_out_open(struct res_h5_out **out, const char *path,
    struct sim_err *e)
{
	const struct sim_apart_limit limit = {.cpu_s = WRITE_S};
	struct res_h5_out *f;
	int rc = res_h5_load(e);
	if (rc < 0 || (rc = SIM_ZALLOC(&f, 1, e)) < 0)
		return rc;
	f->fd = -1;
	if ((rc = sim_dup(&f->path, path, e)) == 0 &&
	    (rc = res_file_temp(&f->temp, &f->fd, path, e)) == 0 &&
	    (rc = claim(f, 0, e)) == 0 &&
	    (rc = sim_apart_open(&f->apart, "HDF5", f, &limit, e)) == 0)
		rc = out_ask(f, out_begins, NULL, 0, e);
	if (rc < 0) {
		res_h5_out_discard(f);
		return rc;
	}
	*out = f;
	return 0;
}

int res_h5_out_text(struct res_h5_out *f, const char *name, const char *text,
    struct sim_err *e)
{
	const size_t n_name = strlen(name) + 1, n_text = strlen(text) + 1;
	char *ask;
	int rc = claim(f, n_text, e);
	if (rc < 0 || (rc = SIM_ZALLOC(&ask, n_name + n_text, e)) < 0) {
		f->failed = 1;
		return rc;
	}
	memcpy(ask, name, n_name);
	memcpy(ask + n_name, text, n_text);
	rc = out_ask(f, out_writes_text, ask, n_name + n_text, e);
	free(ask);
	return rc;
}

int res_h5_out_counts(struct res_h5_out *f, const char *name, size_t n,
    const uint64_t value[], struct sim_err *e)
{
	/* One value where N is 0, which makes it a scalar. */
	const size_t bytes = (n > 0 ? n : 1) * sizeof(value[0]);
	struct counts_ask *q;
	int rc = sim_zalloc(&q, sizeof(*q) + bytes, 1, e);
	if (rc < 0) {
		f->failed = 1;
		return rc;
	}
	q->name = name;
	q->n = n;
	memcpy(q->value, value, bytes);
	rc = out_ask(f, out_writes_counts, q, sizeof(*q) + bytes, e);
	free(q);
	return rc;
}

int res_h5_out_table(struct res_h5_out *f, const char *name,
    const struct sim_column col[], size_t n_cols, size_t chunk_rows,
    struct res_h5_table_out **out, struct sim_err *e)
{
	struct table_ask q = {.name = name,
	    .number = f->n_tables++,
	    .n_cols = n_cols,
	    .chunk_rows = chunk_rows};
	struct res_h5_table_out *t;
	assert(n_cols <= RES_MAX_COLUMNS && chunk_rows > 0);
	int rc = SIM_ZALLOC(&t, 1, e);
	if (rc < 0)
		return rc;
	*t = (struct res_h5_table_out){.file = f,
	    .next = f->table,
	    .col = col,
	    .number = q.number,
	    .n_cols = n_cols,
	    .chunk_rows = chunk_rows};
	f->table = t; /* closing F closes T, however much of T was made */
	for (size_t i = 0; rc == 0 && i < n_cols; i++) {
		assert(col[i].type < SIM_N_TYPES);
		q.col[i] = col[i];
		rc = sim_zalloc(&t->held[i],
		    sizeof(struct held) + chunk_rows * col[i].size, 1, e);
		if (rc == 0)
			*t->held[i] =
			    (struct held){.table = t->number, .column = i};
	}
	if (rc == 0)
		rc = out_ask(f, out_makes_table, &q, sizeof(q), e);
	f->failed |= rc < 0;
	*out = t;
	return rc;
}

static int flush_rows(struct res_h5_table_out *t, struct sim_err *e)
{
	size_t bytes = 0;
	for (size_t i = 0; i < t->n_cols; i++)
		bytes += t->chunk_rows *
		    (t->col[i].size +
			(t->col[i].type == SIM_NAME ? NAME_BYTES : 0));
	/* A whole chunk, since HDF5 writes no part of one; uncompressed, since
	 * that is the most that compression can leave. */
	int rc = t->n_held > 0 ? claim(t->file, bytes, e) : 0;
	for (size_t i = 0; rc == 0 && i < t->n_cols && t->n_held > 0; i++) {
		t->held[i]->n = t->n_held;
		rc = out_ask(t->file, out_writes_rows, t->held[i],
		    sizeof(struct held) + t->n_held * t->col[i].size, e);
	}
	if (rc == 0)
		t->n_held = 0;
	return rc;
}

int res_h5_out_append(struct res_h5_table_out *t, const struct sim_table *kind,
    const void *table, struct sim_err *e)
{
	const size_t n = sim_table_n(kind, table);
	assert(kind->n_columns == t->n_cols);
	for (size_t done = 0, k; done < n; done += k) {
		k = t->chunk_rows - t->n_held;
		if (k > n - done)
			k = n - done;
		for (size_t i = 0; i < t->n_cols; i++) {
			const size_t b = t->col[i].size;
			memcpy(t->held[i]->rows + t->n_held * b,
			    sim_table_at(kind, table, i, done), k * b);
		}
		t->n_held += k;
		const int rc =
		    t->n_held == t->chunk_rows ? flush_rows(t, e) : 0;
		if (rc < 0)
			return rc;
	}
	return 0;
}

int res_h5_out_rows(struct res_h5_table_out *t, const void *row,
    size_t row_bytes, size_t n, struct sim_err *e)
{
	const char *from = row;
	for (size_t r = 0; r < n; r++, from += row_bytes) {
		for (size_t i = 0; i < t->n_cols; i++) {
			const size_t b = t->col[i].size;
			memcpy(t->held[i]->rows + t->n_held * b,
			    from + t->col[i].offset, b);
		}
		const int rc =
		    ++t->n_held == t->chunk_rows ? flush_rows(t, e) : 0;
		if (rc < 0)
			return rc;
	}
	return 0;
}

void res_h5_out_discard(struct res_h5_out *f)
{
	if (!f)
		return;
	sim_apart_close(f->apart);
	for (struct res_h5_table_out *t = f->table, *next; t; t = next) {
		next = t->next;
		for (size_t i = 0; i < t->n_cols; i++)
			free(t->held[i]);
		free(t);
	}
	if (f->fd >= 0)
		close(f->fd);
	if (f->temp)
		unlink(f->temp);
	free(f->temp);
	free(f->path);
	free(f);
}

int res_h5_out_finish(struct res_h5_out *f, struct sim_err *e)
{
	int rc = 0;
	if (f->failed)
		rc = sim_fail(e, SIM_EIO,
		    "cannot write %s: an earlier part failed.", f->path);
	for (struct res_h5_table_out *t = f->table; rc == 0 && t; t = t->next)
		if ((rc = flush_rows(t, e)) == 0)
			rc = out_ask(f, out_adds_dimension, &t->number,
			    sizeof(t->number), e);
	if (rc == 0)
		rc = out_ask(f, out_ends, NULL, 0, e);
	if (rc == 0)
		rc = res_seal_finish(f->temp, f->fd, f->path, e);
	if (rc == 0) {
		free(f->temp);
		f->temp = NULL;
	}
	res_h5_out_discard(f);
	return rc;
}
