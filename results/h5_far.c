/* results/h5_far.c -- an HDF5 file that another process has open, and is asked.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/h5_far.h"

#include <stdlib.h>
#include <string.h>

#include "results/h5_parts.h"
#include "sim/text.h"
#include "sim/vec.h"

/* A forged size of a chunk makes HDF5 ask for as much, and a forged index of
 * chunks makes it search for ever. A good file is read at 100 MB/s and more. */
enum { MORE_MEMORY = 1 << 30, TIMES_FILE = 8, READ_S = 10, BYTES_S = 1 << 20 };

/* A question: which dataset (none: ""), which name, and what else it takes. */
struct far_ask {
	struct res_h5_shape shape;
	enum sim_type type;
	size_t n;
	char at[]; /* and its 0, and the name, and its 0 */
};

static const char *far_name(const struct far_ask *q)
{
	return q->at + strlen(q->at) + 1;
}

static int far_ask(struct res_h5_far *f, sim_apart_fn *fn,
    const struct far_ask *like, const char *at, const char *name, size_t *n,
    struct sim_err *e)
{
	const size_t n_at = strlen(at) + 1, n_name = strlen(name) + 1;
	const size_t size = sizeof(struct far_ask) + n_at + n_name;
	struct far_ask *q;
	int rc = sim_zalloc(&q, size, 1, e);
	if (rc < 0)
		return rc;
	*q = *like;
	memcpy(q->at, at, n_at);
	memcpy(q->at + n_at, name, n_name);
	rc = sim_apart_ask(f->apart, fn, q, size, n, e);
	free(q);
	return rc;
}

/* --- in the child ----------------------------------------------------------*/

static int far_give(struct sim_apart_reply *to, const void *bytes, size_t n,
    struct sim_err *e)
{
	void *room = sim_apart_room(to, n, e);
	if (!room)
		return SIM_ENOMEM;
	memcpy(room, bytes, n);
	return 0;
}

static int far_gives_has(void *state, const void *ask, size_t n,
    struct sim_apart_reply *to, struct sim_err *e)
{
	const struct res_h5_far *f = state;
	const struct far_ask *q = ask;
	const int is = q->n ? H5Aexists(f->file, far_name(q))
			    : H5Lexists(f->file, far_name(q), H5P_DEFAULT);
	(void)n;
	return is < 0 ? res_h5_failed(SIM_EPARSE, "look for", far_name(q), e)
		      : far_give(to, &is, sizeof(is), e);
}

/* Of names that stand one behind the other, each with its 0. */
static int far_gives_has_each(void *state, const void *ask, size_t n,
    struct sim_apart_reply *to, struct sim_err *e)
{
	const struct res_h5_far *f = state;
	const char *name = ask, *const end = name + n;
	for (; name < end; name += strlen(name) + 1) {
		const htri_t has = H5Lexists(f->file, name, H5P_DEFAULT);
		const uint8_t is = has > 0;
		if (has < 0)
			return res_h5_failed(SIM_EPARSE, "look for", name, e);
		const int rc = far_give(to, &is, sizeof(is), e);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int far_gives_text(void *state, const void *ask, size_t n,
    struct sim_apart_reply *to, struct sim_err *e)
{
	const struct res_h5_far *f = state;
	const struct far_ask *q = ask;
	char *text = NULL;
	hid_t set = *q->at ? H5Dopen2(f->file, q->at, H5P_DEFAULT) : f->file;
	(void)n;
	if (set < 0)
		return sim_fail(e, SIM_EPARSE, "dataset %s is missing.", q->at);
	int rc = res_h5_get_text(set, far_name(q), &text, e);
	if (rc == 0)
		rc = far_give(to, text, strlen(text), e);
	free(text);
	if (*q->at)
		H5Dclose(set);
	return rc;
}

static int far_gives_counts(void *state, const void *ask, size_t n,
    struct sim_apart_reply *to, struct sim_err *e)
{
	const struct res_h5_far *f = state;
	const struct far_ask *q = ask;
	void *out = sim_apart_room(to, q->n * sizeof(uint64_t), e);
	(void)n;
	return out
	    ? res_h5_get_counts(f->file, far_name(q), (hssize_t)q->n, out, e)
	    : SIM_ENOMEM;
}

static enum res_h5_class class_of(hid_t set)
{
	hid_t type = H5Dget_type(set);
	const H5T_class_t is = H5Tget_class(type);
	const int text = is == H5T_STRING && H5Tis_variable_str(type) > 0;
	H5Tclose(type);
	return text             ? RES_H5_TEXT
	    : is == H5T_FLOAT   ? RES_H5_FLOAT
	    : is == H5T_INTEGER ? RES_H5_INTEGER
				: RES_H5_OTHER;
}

/* Open a dataset and say what it is; else -1 and an error. */
static hid_t open_data(hid_t file, const char *name, struct res_h5_shape *is,
    struct sim_err *e)
{
	hsize_t dim[H5S_MAX_RANK] = {0};
	*is = (struct res_h5_shape){0};
	hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
	if (set < 0) {
		sim_fail(e, SIM_EPARSE, "dataset %s is missing.", name);
		return -1;
	}
	hid_t space = H5Dget_space(set);
	const int rank = H5Sget_simple_extent_dims(space, dim, NULL);
	H5Sclose(space);
	is->class = class_of(set);
	is->rank = rank < 0 ? 0 : (unsigned)rank;
	for (unsigned i = 0; i < is->rank && i < RES_H5_MAX_RANK; i++)
		is->dim[i] = dim[i];
	return set;
}

static int far_gives_shape(void *state, const void *ask, size_t n,
    struct sim_apart_reply *to, struct sim_err *e)
{
	const struct res_h5_far *f = state;
	struct res_h5_shape is;
	hid_t set = open_data(f->file, far_name(ask), &is, e);
	(void)n;
	if (set < 0)
		return SIM_EPARSE;
	H5Dclose(set);
	return far_give(to, &is, sizeof(is), e);
}

static size_t far_count(const struct res_h5_shape *is)
{
	size_t n = 1;
	for (unsigned i = 0; i < is->rank; i++)
		if (__builtin_mul_overflow(n, is->dim[i], &n))
			return SIZE_MAX;
	return n;
}

static size_t far_bytes(const struct res_h5_shape *is, enum sim_type type)
{
	static const size_t size[SIM_NAME] = {1, 2, 4, 8, 8, 8};
	size_t n;
	return __builtin_mul_overflow(far_count(is), size[type], &n) ? SIZE_MAX
								     : n;
}

static int far_gives_numbers(void *state, const void *ask, size_t n,
    struct sim_apart_reply *to, struct sim_err *e)
{
	const struct res_h5_far *f = state;
	const struct far_ask *q = ask;
	struct res_h5_shape is;
	hid_t set = open_data(f->file, far_name(q), &is, e);
	(void)n;
	if (set < 0)
		return SIM_EPARSE;
	int rc = 0;
	if (memcmp(&is, &q->shape, sizeof(is)) != 0) {
		rc = sim_fail(e, SIM_EPARSE,
		    "dataset %s is of another type or size.", far_name(q));
	} else {
		void *out = sim_apart_room(to, far_bytes(&is, q->type), e);
		if (!out)
			rc = SIM_ENOMEM;
		else if (H5Dread(set, res_h5_memory_type(q->type), H5S_ALL,
			     H5S_ALL, H5P_DEFAULT, out) < 0)
			rc = res_h5_failed(SIM_EPARSE, "read", far_name(q), e);
	}
	H5Dclose(set);
	return rc;
}

/* Each text with its 0. */
static int far_give_texts(const struct res_h5_far *f, hid_t set,
    const char *name, size_t n, struct sim_apart_reply *to, struct sim_err *e)
{
	hid_t type = H5Dget_type(set), space = H5Dget_space(set);
	char **text = NULL;
	int rc = SIM_ZALLOC(&text, n, e);
	if (rc == 0 &&
	    H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) < 0)
		rc = res_h5_failed(SIM_EPARSE, "read", name, e);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		const char *one = text[i] ? text[i] : "";
		const size_t size = strlen(one);
		/* Texts are not packed. */
		if (size > f->n_bytes || to->n - i > f->n_bytes - size)
			rc = sim_fail(e, SIM_EPARSE,
			    "texts of %s are longer than the file.", name);
		else
			rc = far_give(to, one, size + 1, e);
	}
	if (text)
		H5Dvlen_reclaim(type, space, H5P_DEFAULT, text);
	free(text);
	H5Sclose(space);
	H5Tclose(type);
	return rc;
}

static int far_gives_texts(void *state, const void *ask, size_t n,
    struct sim_apart_reply *to, struct sim_err *e)
{
	const struct res_h5_far *f = state;
	const struct far_ask *q = ask;
	struct res_h5_shape is;
	hid_t set = open_data(f->file, far_name(q), &is, e);
	int rc;
	(void)n;
	if (set < 0)
		return SIM_EPARSE;
	if (is.class != RES_H5_TEXT)
		rc = sim_fail(e, SIM_EPARSE, "dataset %s has no texts.",
		    far_name(q));
	else if (is.rank != 1 || is.dim[0] != q->n)
		rc = sim_fail(e, SIM_EPARSE, "dataset %s has not %zu entries.",
		    far_name(q), q->n);
	else
		rc = far_give_texts(f, set, far_name(q), q->n, to, e);
	H5Dclose(set);
	return rc;
}

/* --- in the parent ---------------------------------------------------------*/

int res_h5_far_open(struct res_h5_far *f, sim_apart_fn *open, struct sim_err *e)
{
	const struct sim_apart_limit limit = {.more_bytes = MORE_MEMORY +
		TIMES_FILE * (uint64_t)f->n_bytes,
	    .cpu_s = READ_S + (unsigned)(f->n_bytes / BYTES_S)};
	int rc;
	f->file = -1;
	if ((rc = res_h5_load(e)) < 0 ||
	    (rc = sim_apart_open(&f->apart, "HDF5", f, &limit, e)) < 0)
		return rc;
	return sim_apart_ask(f->apart, open, NULL, 0, NULL, e);
}

void res_h5_far_close(struct res_h5_far *f)
{
	sim_apart_close(f->apart);
	f->apart = NULL;
}

static int far_is(struct res_h5_far *f, const char *name, int of_attributes,
    struct sim_err *e)
{
	const struct far_ask q = {.n = (size_t)of_attributes};
	int is = 0, rc = far_ask(f, far_gives_has, &q, "", name, NULL, e);
	if (rc == 0)
		rc = sim_apart_take(f->apart, &is, sizeof(is), e);
	return rc < 0 ? rc : is > 0;
}

int res_h5_far_has(struct res_h5_far *f, const char *name, struct sim_err *e)
{
	return far_is(f, name, 0, e);
}

int res_h5_far_has_attr(struct res_h5_far *f, const char *name,
    struct sim_err *e)
{
	return far_is(f, name, 1, e);
}

int res_h5_far_has_each(struct res_h5_far *f, size_t n,
    const char *const name[], uint8_t is[], struct sim_err *e)
{
	size_t size = 0;
	char *all;
	for (size_t i = 0; i < n; i++)
		size += strlen(name[i]) + 1;
	int rc = sim_zalloc(&all, size, 1, e);
	if (rc < 0)
		return rc;
	char *at = all;
	for (size_t i = 0; i < n; i++)
		at = stpcpy(at, name[i]) + 1;
	rc = sim_apart_ask(f->apart, far_gives_has_each, all, size, NULL, e);
	free(all);
	return rc < 0 ? rc : sim_apart_take(f->apart, is, n, e);
}

/* The N bytes of an answer and a 0, to be freed. */
static int far_take(struct res_h5_far *f, size_t n, char **out,
    struct sim_err *e)
{
	int rc = sim_zalloc(out, n + 1, 1, e);
	if (rc == 0 && (rc = sim_apart_take(f->apart, *out, n, e)) < 0) {
		free(*out);
		*out = NULL;
	}
	return rc;
}

int res_h5_far_text(struct res_h5_far *f, const char *at, const char *name,
    char **out, struct sim_err *e)
{
	size_t n;
	const int rc =
	    far_ask(f, far_gives_text, &(struct far_ask){0}, at, name, &n, e);
	if (rc < 0)
		return rc;
	return n <= f->n_bytes
	    ? far_take(f, n, out, e)
	    : sim_fail(e, SIM_EPARSE, "attribute %s is longer than the file.",
		  name);
}

int res_h5_far_counts(struct res_h5_far *f, const char *name, size_t n,
    uint64_t out[], struct sim_err *e)
{
	const int rc = far_ask(f, far_gives_counts, &(struct far_ask){.n = n},
	    "", name, NULL, e);
	return rc < 0 ? rc
		      : sim_apart_take(f->apart, out, n * sizeof(out[0]), e);
}

int res_h5_far_shape(struct res_h5_far *f, const char *name,
    struct res_h5_shape *is, struct sim_err *e)
{
	const int rc = far_ask(f, far_gives_shape, &(struct far_ask){0}, "",
	    name, NULL, e);
	return rc < 0 ? rc : sim_apart_take(f->apart, is, sizeof(*is), e);
}

int res_h5_far_numbers(struct res_h5_far *f, const char *name,
    const struct res_h5_shape *is, enum sim_type type, void *out,
    struct sim_err *e)
{
	const struct far_ask q = {.shape = *is, .type = type};
	const int rc = far_ask(f, far_gives_numbers, &q, "", name, NULL, e);
	return rc < 0 ? rc
		      : sim_apart_take(f->apart, out, far_bytes(is, type), e);
}

int res_h5_far_texts(struct res_h5_far *f, const char *name, size_t n,
    char *out[], struct sim_err *e)
{
	size_t n_bytes, i = 0;
	char *all;
	int rc = far_ask(f, far_gives_texts, &(struct far_ask){.n = n}, "",
	    name, &n_bytes, e);
	if (rc < 0 || (rc = far_take(f, n_bytes, &all, e)) < 0)
		return rc;
	for (const char *at = all; rc == 0 && i < n; i++, at += strlen(at) + 1)
		rc = at < all + n_bytes
		    ? sim_dup(&out[i], at, e)
		    : sim_fail(e, SIM_EDEP, "HDF5 gave back too little.");
	free(all);
	return rc;
}
