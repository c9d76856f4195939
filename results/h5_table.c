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

enum { GZIP_LEVEL = 1, MAX_WORDS = 256, ROW_NAME = 64 };

/* For HDF5's own structures, which grow by some KB a column between two
 * claims. */
enum { SLACK_BYTES = 1 << 20 };

/* And where it keeps a text, beside the text itself. */
enum { NAME_BYTES = 32 };

struct res_h5_table_out {
	struct res_h5_out *file;
	struct res_h5_table_out *next;
	const struct sim_column *col;
	size_t n_cols, chunk_rows, n_held;
	hsize_t n_written;
	hid_t group, set[RES_MAX_COLUMNS];
	unsigned char *held[RES_MAX_COLUMNS]; /* [chunk_rows] each */
};

struct res_h5_out {
	char *path, *temp;
	int fd; /* of temp, to claim room */
	hid_t file, utf8;
	int failed;
	struct res_h5_table_out *table;
};

/* HDF5 failed while it wrote: the file is worthless, so nothing is written to
 * it any more and finishing it fails. */
static int give_up(struct res_h5_out *f, const char *verb, const char *name,
    struct sim_err *e)
{
	f->failed = 1;
	const int rc = res_h5_failed(SIM_EIO, verb, name, e);
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

static hid_t h5_table_create(const char *path)
{
	hid_t plist = H5Pcreate(H5P_FILE_CREATE);
	H5Pset_obj_track_times(plist, 0);
	H5Pset_link_creation_order(plist,
	    H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
	hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, plist, H5P_DEFAULT);
	H5Pclose(plist);
	return file;
}

int res_h5_out_open(struct res_h5_out **out, const char *path,
    struct sim_err *e)
{
	struct res_h5_out *f;
	int rc = res_h5_begin(e);
	if (rc < 0 || (rc = SIM_ZALLOC(&f, 1, e)) < 0)
		return rc;
	f->file = f->utf8 = f->fd = -1;
	if ((rc = sim_dup(&f->path, path, e)) == 0 &&
	    (rc = res_file_temp(&f->temp, &f->fd, path, e)) == 0 &&
	    (rc = claim(f, 0, e)) == 0 &&
	    (f->file = h5_table_create(f->temp)) < 0)
		rc = give_up(f, "make", f->temp, e);
	if (rc < 0) {
		res_h5_out_discard(f);
		return rc;
	}
	f->utf8 = res_h5_utf8();
	*out = f;
	return 0;
}

int res_h5_out_text(struct res_h5_out *f, const char *name, const char *text,
    struct sim_err *e)
{
	int rc = claim(f, strlen(text), e);
	if (rc == 0)
		rc = res_h5_put_text(f->file, f->utf8, name, text, e);
	f->failed |= rc < 0;
	return rc;
}

int res_h5_out_counts(struct res_h5_out *f, const char *name, size_t n,
    const uint64_t value[], struct sim_err *e)
{
	const int rc = res_h5_put_attr(f->file, name, H5T_STD_U64LE, n,
	    H5T_NATIVE_UINT64, value, e);
	f->failed |= rc < 0;
	return rc;
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

static int make_column(struct res_h5_table_out *t, size_t i, struct sim_err *e)
{
	const struct sim_column *c = &t->col[i];
	const hid_t utf8 = t->file->utf8;
	const int is_name = c->type == SIM_NAME;
	const hsize_t none = 0, no_end = H5S_UNLIMITED, chunk = t->chunk_rows;
	hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
	hid_t space = H5Screate_simple(1, &none, &no_end);
	H5Pset_obj_track_times(plist, 0);
	H5Pset_chunk(plist, 1, &chunk);
	/* Of a text a chunk holds only where HDF5 keeps it. */
	if (!is_name) {
		H5Pset_shuffle(plist);
		H5Pset_deflate(plist, GZIP_LEVEL);
	}
	hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
	/* Without a cache HDF5 writes a chunk at once, while there is room
	 * claimed for it. */
	H5Pset_chunk_cache(access, 0, 0, 1);
	t->set[i] = H5Dcreate2(t->group, c->name,
	    is_name ? utf8 : res_h5_file_type(c->type), space, H5P_DEFAULT,
	    plist, access);
	H5Sclose(space);
	H5Pclose(access);
	H5Pclose(plist);
	int rc;
	if (t->set[i] < 0)
		return give_up(t->file, "make", c->name, e);
	if ((rc = res_h5_put_text(t->set[i], utf8, "units", c->unit, e)) < 0 ||
	    (rc = res_h5_put_text(t->set[i], utf8, "long_name", c->doc, e)) < 0)
		return rc;
	return c->words ? put_words(t->set[i], utf8, c, e) : 0;
}

static int make_group(struct res_h5_table_out *t, const char *name,
    struct sim_err *e)
{
	hid_t plist = H5Pcreate(H5P_GROUP_CREATE);
	H5Pset_obj_track_times(plist, 0);
	H5Pset_link_creation_order(plist,
	    H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
	t->group =
	    H5Gcreate2(t->file->file, name, H5P_DEFAULT, plist, H5P_DEFAULT);
	H5Pclose(plist);
	return t->group < 0 ? give_up(t->file, "make", name, e) : 0;
}

int res_h5_out_table(struct res_h5_out *f, const char *name,
    const struct sim_column col[], size_t n_cols, size_t chunk_rows,
    struct res_h5_table_out **out, struct sim_err *e)
{
	struct res_h5_table_out *t;
	assert(n_cols <= RES_MAX_COLUMNS && chunk_rows > 0);
	int rc = SIM_ZALLOC(&t, 1, e);
	if (rc < 0)
		return rc;
	*t = (struct res_h5_table_out){.file = f,
	    .next = f->table,
	    .col = col,
	    .n_cols = n_cols,
	    .chunk_rows = chunk_rows,
	    .group = -1};
	f->table = t; /* closing F closes T, however much of T was made */
	for (size_t i = 0; i < n_cols; i++) {
		assert(col[i].type < SIM_N_TYPES);
		t->set[i] = -1;
	}
	rc = make_group(t, name, e);
	for (size_t i = 0; rc == 0 && i < n_cols; i++)
		if ((rc = make_column(t, i, e)) == 0)
			rc =
			    sim_zalloc(&t->held[i], chunk_rows, col[i].size, e);
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
	const int rc = t->n_held > 0 ? claim(t->file, bytes, e) : 0;
	if (rc < 0)
		return rc;
	const hsize_t end = t->n_written + t->n_held;
	for (size_t i = 0; i < t->n_cols && t->n_held > 0; i++)
		if (H5Dset_extent(t->set[i], &end) < 0 ||
		    res_h5_move_rows(t->set[i], &t->col[i], t->n_written,
			t->n_held, t->held[i], NULL) < 0)
			return give_up(t->file, "write", t->col[i].name, e);
	t->n_written = end;
	t->n_held = 0;
	return 0;
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
			memcpy(t->held[i] + t->n_held * b,
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
			memcpy(t->held[i] + t->n_held * b,
			    from + t->col[i].offset, b);
		}
		const int rc =
		    ++t->n_held == t->chunk_rows ? flush_rows(t, e) : 0;
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* netCDF's way to write a dimension that has no variable: a scale under that
 * dimension's name, with a text that netCDF expects to the letter. It is never
 * written to, so it takes no room. */
static int add_dimension(struct res_h5_table_out *t, struct sim_err *e)
{
	char name[ROW_NAME];
	snprintf(name, sizeof(name),
	    "This is a netCDF dimension but not a netCDF variable.%10llu",
	    (unsigned long long)t->n_written);
	hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
	hid_t space = H5Screate_simple(1, &t->n_written, NULL);
	H5Pset_obj_track_times(plist, 0);
	hid_t row = H5Dcreate2(t->group, "row", H5T_IEEE_F32BE, space,
	    H5P_DEFAULT, plist, H5P_DEFAULT);
	int good = row >= 0 && H5DSset_scale(row, name) >= 0;
	for (size_t i = 0; good && i < t->n_cols; i++)
		good = H5DSattach_scale(t->set[i], row, 0) >= 0;
	H5Dclose(row);
	H5Sclose(space);
	H5Pclose(plist);
	return good ? 0 : give_up(t->file, "make", "a dimension", e);
}

static void close_table(struct res_h5_table_out *t)
{
	for (size_t i = 0; i < t->n_cols; i++) {
		if (t->set[i] >= 0)
			H5Dclose(t->set[i]);
		free(t->held[i]);
	}
	if (t->group >= 0)
		H5Gclose(t->group);
	free(t);
}

/* Close all that HDF5 has open; only then is everything in the file. */
static int close_all(struct res_h5_out *f)
{
	int good = 1;
	for (struct res_h5_table_out *t = f->table, *next; t; t = next) {
		next = t->next;
		close_table(t);
	}
	f->table = NULL;
	if (f->utf8 >= 0)
		H5Tclose(f->utf8);
	if (f->file >= 0)
		good = H5Fclose(f->file) >= 0;
	f->file = f->utf8 = -1;
	return good ? 0 : -1;
}

void res_h5_out_discard(struct res_h5_out *f)
{
	if (!f)
		return;
	close_all(f);
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
			rc = add_dimension(t, e);
	if (rc == 0 && close_all(f) < 0)
		rc = give_up(f, "close", "the file", e);
	if (rc == 0)
		rc = res_seal_finish(f->temp, f->fd, f->path, e);
	if (rc == 0) {
		free(f->temp);
		f->temp = NULL;
	}
	res_h5_out_discard(f);
	return rc;
}
