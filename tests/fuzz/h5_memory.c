/* tests/fuzz/h5_memory.c -- tables of results/h5_table.h, in memory.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/fuzz/h5_memory.h"

#include <string.h>

#include "results/h5_table.h"
#include "sim/vec.h"
#include "tests/fuzz/fuzz.h"

enum { MOST = 32, MOST_ROWS = 1 << 12, SIZE = 64, TEXT = 256 };

struct attr {
	char name[SIZE], *text; /* NULL: counts */
	size_t n;
	uint64_t *value;
};

struct column {
	char name[SIZE];
	enum sim_type type;
	size_t size;
	unsigned char *at; /* [cap] of the table */
};

struct table {
	char name[SIZE];
	size_t n, cap, n_cols;
	struct column col[RES_MAX_COLUMNS];
};

struct file {
	char path[TEXT];
	size_t n_attrs, n_tables;
	struct attr attr[MOST];
	struct table table[MOST];
};

static struct file *files[MOST];

/* --- files -----------------------------------------------------------------*/

static void file_free(struct file *f)
{
	for (size_t i = 0; i < f->n_attrs; i++) {
		free(f->attr[i].text);
		free(f->attr[i].value);
	}
	for (size_t t = 0; t < f->n_tables; t++)
		for (size_t i = 0; i < f->table[t].n_cols; i++)
			free(f->table[t].col[i].at);
	free(f);
}

static struct file **file_at(const char *path)
{
	for (size_t i = 0; i < MOST; i++)
		if (path ? files[i] && strcmp(files[i]->path, path) == 0
			 : !files[i])
			return &files[i];
	return NULL;
}

static struct file *file_of(const char *path)
{
	struct file **f = file_at(path);
	must(f != NULL);
	return *f;
}

void h5_memory_drop(const char *path)
{
	for (size_t i = 0; i < MOST; i++)
		if (files[i] && (!path || strcmp(files[i]->path, path) == 0)) {
			file_free(files[i]);
			files[i] = NULL;
		}
}

static struct file *file_new(const char *path)
{
	struct file *f = calloc(1, sizeof(*f));
	must(f && snprintf(f->path, TEXT, "%s", path) < TEXT);
	return f;
}

static void file_keep(struct file *f)
{
	h5_memory_drop(f->path);
	struct file **free_one = file_at(NULL);
	must(free_one != NULL);
	*free_one = f;
}

static void *again(const void *bytes, size_t n)
{
	void *copy = malloc(n ? n : 1);
	must(copy != NULL);
	if (n > 0)
		memcpy(copy, bytes, n);
	return copy;
}

void h5_memory_copy(const char *from, const char *to)
{
	const struct file *f = file_of(from);
	struct file *c = file_new(to);
	*c = *f;
	snprintf(c->path, TEXT, "%s", to);
	for (size_t i = 0; i < c->n_attrs; i++) {
		struct attr *a = &c->attr[i];
		a->value = again(a->value, a->n * sizeof(a->value[0]));
		if (a->text)
			a->text = again(a->text, strlen(a->text) + 1);
	}
	for (size_t t = 0; t < c->n_tables; t++)
		for (size_t i = 0; i < c->table[t].n_cols; i++) {
			struct column *x = &c->table[t].col[i];
			x->at = again(x->at, c->table[t].cap * x->size);
		}
	file_keep(c);
}

static int same_tables(const struct table *a, const struct table *b)
{
	if (strcmp(a->name, b->name) != 0 || a->n != b->n ||
	    a->n_cols != b->n_cols)
		return 0;
	for (size_t i = 0; i < a->n_cols; i++)
		if (strcmp(a->col[i].name, b->col[i].name) != 0 ||
		    (a->n > 0 &&
			memcmp(a->col[i].at, b->col[i].at,
			    a->n * a->col[i].size) != 0))
			return 0;
	return 1;
}

int h5_memory_same(const char *path_a, const char *path_b)
{
	const struct file *a = file_of(path_a), *b = file_of(path_b);
	int same = a->n_attrs == b->n_attrs && a->n_tables == b->n_tables;
	for (size_t i = 0; same && i < a->n_attrs; i++) {
		const struct attr *x = &a->attr[i], *y = &b->attr[i];
		same = strcmp(x->name, y->name) == 0 && x->n == y->n &&
		    !x->text == !y->text &&
		    (x->text ? strcmp(x->text, y->text) == 0
			     : memcmp(x->value, y->value,
				   x->n * sizeof(x->value[0])) == 0);
	}
	for (size_t i = 0; same && i < a->n_tables; i++)
		same = same_tables(&a->table[i], &b->table[i]);
	return same;
}

/* --- changes ---------------------------------------------------------------*/

static void table_room(struct table *t, size_t n)
{
	size_t cap = t->cap;
	if (n <= cap)
		return;
	while (cap < n)
		cap = cap ? 2 * cap : 8;
	for (size_t i = 0; i < t->n_cols; i++) {
		struct column *c = &t->col[i];
		c->at = realloc(c->at, cap * c->size);
		must(c->at != NULL);
		memset(c->at + t->cap * c->size, 0, (cap - t->cap) * c->size);
	}
	t->cap = cap;
}

static void edit_attr(struct attr *a, size_t which, uint64_t value)
{
	if (!a->text && a->n > 0) {
		a->value[which % a->n] = value;
	} else if (a->text) {
		free(a->text);
		a->text = again("01234567", 9);
		memcpy(a->text, &value, 8);
	}
}

static void edit_value(struct table *t, size_t column, size_t row,
    uint64_t value)
{
	struct column *c = &t->col[column % t->n_cols];
	if (t->n == 0)
		return;
	unsigned char *at = c->at + row % t->n * c->size;
	memcpy(at, &value, c->size < 8 ? c->size : 8);
	if (c->type == SIM_NAME)
		at[c->size - 1] = '\0';
}

static void edit_leave_out(struct table *t, size_t column)
{
	snprintf(column % 2 ? t->col[column / 2 % t->n_cols].name : t->name,
	    SIZE, "gone");
}

static void edit_row(struct table *t, size_t from, size_t to)
{
	for (size_t i = 0; t->n > 0 && i < t->n_cols; i++) {
		struct column *c = &t->col[i];
		memmove(c->at + to % t->n * c->size,
		    c->at + from % t->n * c->size, c->size);
	}
}

void h5_memory_edit(const char *path, const uint8_t *bytes, size_t n)
{
	struct file *f = file_of(path);
	for (; n >= H5_MEMORY_CHANGE;
	     bytes += H5_MEMORY_CHANGE, n -= H5_MEMORY_CHANGE) {
		struct table *t = &f->table[bytes[1] % f->n_tables];
		uint64_t value;
		memcpy(&value, bytes + 4, 8);
		switch (bytes[0] % 6) {
		case 2:
			table_room(t, value % (t->n + 9));
			t->n = value % (t->n + 9);
			break;
		case 3:
			edit_attr(&f->attr[bytes[1] % f->n_attrs], bytes[2],
			    value);
			break;
		case 4:
			edit_leave_out(t, bytes[2]);
			break;
		case 5:
			edit_row(t, value % MOST_ROWS, bytes[3]);
			break;
		default:
			edit_value(t, bytes[2], bytes[3], value);
		}
	}
}

/* --- written ---------------------------------------------------------------*/

struct res_h5_out {
	struct file *file;
	struct res_h5_table_out *first;
};
struct res_h5_table_out {
	struct res_h5_table_out *next;
	struct table *table;
	const struct sim_column *col;
};

int res_h5_out_open(struct res_h5_out **f, const char *path, struct sim_err *e)
{
	const int rc = SIM_ZALLOC(f, 1, e);
	if (rc == 0)
		(*f)->file = file_new(path);
	return rc;
}

static struct attr *attr_new(struct res_h5_out *f, const char *name)
{
	must(f->file->n_attrs < MOST && strlen(name) < SIZE);
	struct attr *a = &f->file->attr[f->file->n_attrs++];
	snprintf(a->name, SIZE, "%s", name);
	return a;
}

int res_h5_out_text(struct res_h5_out *f, const char *name, const char *text,
    struct sim_err *e)
{
	(void)e;
	attr_new(f, name)->text = again(text, strlen(text) + 1);
	return 0;
}

int res_h5_out_counts(struct res_h5_out *f, const char *name, size_t n,
    const uint64_t value[], struct sim_err *e)
{
	struct attr *a = attr_new(f, name);
	(void)e;
	a->n = n;
	a->value = again(value, n * sizeof(value[0]));
	return 0;
}

int res_h5_out_table(struct res_h5_out *f, const char *name,
    const struct sim_column col[], size_t n_cols, size_t chunk_rows,
    struct res_h5_table_out **out, struct sim_err *e)
{
	const int rc = SIM_ZALLOC(out, 1, e);
	(void)chunk_rows;
	if (rc < 0)
		return rc;
	must(f->file->n_tables < MOST && n_cols <= RES_MAX_COLUMNS);
	struct table *t = &f->file->table[f->file->n_tables++];
	snprintf(t->name, sizeof(t->name), "%s", name);
	t->n_cols = n_cols;
	for (size_t i = 0; i < n_cols; i++) {
		must(col[i].type < SIM_OPAQUE);
		t->col[i] =
		    (struct column){.type = col[i].type, .size = col[i].size};
		snprintf(t->col[i].name, SIZE, "%s", col[i].name);
	}
	**out =
	    (struct res_h5_table_out){.next = f->first, .table = t, .col = col};
	f->first = *out;
	return 0;
}

/* N values of column I, STRIDE bytes one from another. A text ends at its 0. */
static void put_values(struct table *t, size_t i, size_t first,
    const unsigned char *from, size_t stride, size_t n)
{
	const struct column *c = &t->col[i];
	for (size_t k = 0; k < n; k++) {
		unsigned char *to = c->at + (first + k) * c->size;
		if (c->type == SIM_NAME)
			strncpy((char *)to, (const char *)from + k * stride,
			    c->size);
		else
			memcpy(to, from + k * stride, c->size);
	}
}

int res_h5_out_append(struct res_h5_table_out *o, const struct sim_table *kind,
    const void *table, struct sim_err *e)
{
	struct table *t = o->table;
	const size_t n = sim_table_n(kind, table);
	(void)e;
	table_room(t, t->n + n);
	for (size_t i = 0; n > 0 && i < t->n_cols; i++)
		put_values(t, i, t->n, sim_table_at(kind, table, i, 0),
		    t->col[i].size, n);
	t->n += n;
	return 0;
}

int res_h5_out_rows(struct res_h5_table_out *o, const void *row,
    size_t row_bytes, size_t n, struct sim_err *e)
{
	struct table *t = o->table;
	(void)e;
	table_room(t, t->n + n);
	for (size_t i = 0; i < t->n_cols; i++)
		put_values(t, i, t->n,
		    (const unsigned char *)row + o->col[i].offset, row_bytes,
		    n);
	t->n += n;
	return 0;
}

static void out_close(struct res_h5_out *f)
{
	for (struct res_h5_table_out *t = f->first, *next; t; t = next) {
		next = t->next;
		free(t);
	}
	free(f);
}

void res_h5_out_discard(struct res_h5_out *f)
{
	if (!f)
		return;
	file_free(f->file);
	out_close(f);
}

int res_h5_out_finish(struct res_h5_out *f, struct sim_err *e)
{
	(void)e;
	file_keep(f->file);
	out_close(f);
	return 0;
}

/* --- read ------------------------------------------------------------------*/

struct res_h5_in {
	struct file *file;
	struct res_h5_table_in *first;
};
struct res_h5_table_in {
	struct res_h5_table_in *next;
	const struct table *table;
	size_t n_cols;
	const struct sim_column *col;
	const struct column *has[RES_MAX_COLUMNS];
};

int res_h5_in_open(struct res_h5_in **f, const char *path, struct sim_err *e)
{
	struct file **at = file_at(path);
	if (!at)
		return sim_fail(e, SIM_EIO, "cannot read %s: no file.", path);
	const int rc = SIM_ZALLOC(f, 1, e);
	if (rc == 0)
		(*f)->file = *at;
	return rc;
}

int res_h5_in_open_any(struct res_h5_in **f, const char *path,
    struct sim_err *e)
{
	return res_h5_in_open(f, path, e);
}

void res_h5_in_close(struct res_h5_in *f)
{
	for (struct res_h5_table_in *t = f ? f->first : NULL, *next; t;
	     t = next) {
		next = t->next;
		free(t);
	}
	free(f);
}

uint64_t res_h5_in_bytes(const struct res_h5_in *f)
{
	(void)f;
	return 1 << 20;
}

static const struct table *find_table(const struct res_h5_in *f,
    const char *name)
{
	for (size_t i = 0; i < f->file->n_tables; i++)
		if (strcmp(f->file->table[i].name, name) == 0)
			return &f->file->table[i];
	return NULL;
}

static const struct attr *find_attr(const struct res_h5_in *f, const char *name)
{
	for (size_t i = 0; i < f->file->n_attrs; i++)
		if (strcmp(f->file->attr[i].name, name) == 0)
			return &f->file->attr[i];
	return NULL;
}

int res_h5_in_has(struct res_h5_in *f, const char *table, struct sim_err *e)
{
	(void)e;
	return find_table(f, table) != NULL;
}

int res_h5_in_has_attr(struct res_h5_in *f, const char *name, struct sim_err *e)
{
	(void)e;
	return find_attr(f, name) != NULL;
}

int res_h5_in_text(struct res_h5_in *f, const char *name, char **out,
    struct sim_err *e)
{
	const struct attr *a = find_attr(f, name);
	if (!a || !a->text)
		return sim_fail(e, SIM_EPARSE, "no text %s.", name);
	*out = again(a->text, strlen(a->text) + 1);
	return 0;
}

int res_h5_in_counts(struct res_h5_in *f, const char *name, size_t n,
    uint64_t value[], struct sim_err *e)
{
	const struct attr *a = find_attr(f, name);
	if (!a || a->text || a->n != n)
		return sim_fail(e, SIM_EPARSE, "not %zu counts %s.", n, name);
	memcpy(value, a->value, n * sizeof(value[0]));
	return 0;
}

static const struct column *find_column(const struct table *t,
    const struct sim_column *c)
{
	for (size_t i = 0; i < t->n_cols; i++)
		if (strcmp(t->col[i].name, c->name) == 0 &&
		    t->col[i].type == c->type)
			return &t->col[i];
	return NULL;
}

int res_h5_in_table(struct res_h5_in *f, const char *name,
    const struct sim_column col[], size_t n_cols, struct res_h5_table_in **out,
    uint64_t *n, struct sim_err *e)
{
	const struct table *table = find_table(f, name);
	if (!table)
		return sim_fail(e, SIM_EPARSE, "table %s is missing.", name);
	const int rc = SIM_ZALLOC(out, 1, e);
	if (rc < 0)
		return rc;
	struct res_h5_table_in *t = *out;
	*t = (struct res_h5_table_in){.next = f->first,
	    .table = table,
	    .n_cols = n_cols,
	    .col = col};
	f->first = t;
	int any = 0;
	for (size_t i = 0; i < n_cols; i++) {
		t->has[i] = find_column(table, &col[i]);
		any |= t->has[i] != NULL;
		if (!t->has[i] && !col[i].optional)
			return sim_fail(e, SIM_EPARSE,
			    "column %s/%s is missing.", name, col[i].name);
	}
	*n = any ? table->n : 0;
	return 0;
}

int res_h5_in_has_column(const struct res_h5_table_in *t, size_t i)
{
	return t->has[i] != NULL;
}

/* Values of column I to TO, STRIDE bytes one from another. */
static void get_values(const struct res_h5_table_in *t, size_t i,
    uint64_t first, size_t n, unsigned char *to, size_t stride)
{
	const size_t size = t->col[i].size;
	must(first <= t->table->n && n <= t->table->n - first);
	for (size_t k = 0; k < n; k++)
		if (t->has[i])
			memcpy(to + k * stride,
			    t->has[i]->at + (first + k) * size, size);
		else
			memset(to + k * stride, 0, size);
}

int res_h5_in_read(struct res_h5_table_in *t, uint64_t first, size_t n,
    void *const column[], struct sim_err *e)
{
	(void)e;
	for (size_t i = 0; i < t->n_cols; i++)
		get_values(t, i, first, n, column[i], t->col[i].size);
	return 0;
}

int res_h5_in_rows(struct res_h5_table_in *t, uint64_t first, size_t n,
    void *row, size_t row_bytes, struct sim_err *e)
{
	(void)e;
	for (size_t i = 0; i < t->n_cols; i++)
		get_values(t, i, first, n,
		    (unsigned char *)row + t->col[i].offset, row_bytes);
	return 0;
}

int res_h5_in_append(struct res_h5_table_in *t, uint64_t first, size_t n,
    const struct sim_table *kind, void *table, struct sim_err *e)
{
	const int rc = sim_table_reserve(kind, table, n, e);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < t->n_cols; i++)
		get_values(t, i, first, n,
		    sim_table_at(kind, table, i, sim_table_n(kind, table)),
		    t->col[i].size);
	sim_table_added(kind, table, n);
	return 0;
}
