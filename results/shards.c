/* results/shards.c -- shards of one sweep, joined one after the other.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The rows of a shard stand together, those of a metric in the whole do too:
 * the scratch file is where one becomes the other, since all rows of a large
 * sweep need not fit into memory. A column in which a shard has no number is
 * not written.
 */
#include "results/shards.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "results/file.h"
#include "results/h5.h"
#include "sim/text.h"
#include "sim/vec.h"

/* A shard that was added. */
struct part {
	char *path; /* NULL: it was not */
	size_t n_rows;
	struct res_progress cells;
	uint64_t *at; /* [row_doubles] byte in the scratch file, or NOWHERE */
};
#define NOWHERE UINT64_MAX

struct res_shards {
	char *whole;
	int fd; /* of the scratch file, which has no name any more */
	uint64_t end;
	struct res_cube head; /* from the first one on */
	uint32_t n;           /* shards of the sweep; 0: none was added */
	struct part *part;    /* [n] */
	double *column;       /* [most rows of a shard] */
	size_t cap_column;
};

int res_shards_open(struct res_shards **out, const char *whole,
    struct sim_err *e)
{
	struct res_shards *s;
	char *temp = NULL;
	int rc = SIM_ZALLOC(&s, 1, e);
	if (rc < 0)
		return rc;
	s->fd = -1;
	if ((rc = sim_dup(&s->whole, whole, e)) == 0 &&
	    (rc = res_file_temp(&temp, &s->fd, whole, e)) == 0)
		unlink(temp);
	free(temp);
	if (rc < 0)
		res_shards_close(s);
	else
		*out = s;
	return rc;
}

void res_shards_close(struct res_shards *s)
{
	if (!s)
		return;
	if (s->fd >= 0)
		close(s->fd);
	for (uint32_t i = 0; s->part && i < s->n; i++) {
		free(s->part[i].path);
		free(s->part[i].at);
	}
	free(s->part);
	free(s->column);
	free(s->whole);
	res_cube_free(&s->head);
	free(s);
}

const struct res_cube *res_shards_head(const struct res_shards *s)
{
	return &s->head;
}

/* --- in -------------------------------------------------------------------- */

static int scratch_failed(const struct res_shards *s, const char *verb,
    struct sim_err *e)
{
	return sim_fail(e, SIM_EIO, "cannot %s the scratch file beside %s: %s.",
	    verb, s->whole, strerror(errno));
}

static int move_bytes(const struct res_shards *s, int in, void *bytes, size_t n,
    uint64_t at, struct sim_err *e)
{
	for (size_t done = 0; done < n;) {
		char *p = (char *)bytes + done;
		const off_t to = (off_t)(at + done);
		const ssize_t k = in ? pread(s->fd, p, n - done, to)
				     : pwrite(s->fd, p, n - done, to);
		if (k < 0 && errno == EINTR)
			continue;
		if (k == 0)
			errno = in ? EIO : ENOSPC;
		if (k <= 0)
			return scratch_failed(s, in ? "read" : "write", e);
		done += (size_t)k;
	}
	return 0;
}

static int lay_down(struct res_shards *s, struct part *p,
    const struct res_cube *c, size_t column, struct sim_err *e)
{
	p->at[column] = NOWHERE;
	if (!res_columns_has(&c->rows, column))
		return 0;
	res_columns_read(&c->rows, column, s->column);
	const size_t bytes = c->n_rows * sizeof(s->column[0]);
	p->at[column] = s->end;
	s->end += bytes;
	return move_bytes(s, 0, s->column, bytes, p->at[column], e);
}

/* The row of the whole in which row I of shard number WHICH is. */
static size_t whole_row(const struct res_shards *s, uint32_t which, size_t i)
{
	const struct res_cube *c = &s->head;
	if (s->n == 1)
		return i;
	const size_t cell = which + i / c->n_along * s->n;
	const size_t point = cell / c->n_runs * c->n_along + i % c->n_along;
	return point * c->n_runs + cell % c->n_runs;
}

/* The first one gives the whole all but its cells. */
static int make_head(struct res_shards *s, struct res_cube *c,
    struct sim_err *e)
{
	int rc = SIM_ZALLOC(&s->part, c->shard_n, e);
	if (rc < 0)
		return rc;
	s->n = c->shard_n;
	s->head = *c;
	s->head.shard_i = 0;
	s->head.shard_n = 1;
	s->head.status = NULL;
	s->head.rows = (struct res_columns){0};
	/* What is of the shard stays with it. */
	*c = (struct res_cube){.status = c->status,
	    .rows = c->rows,
	    .n_rows = c->n_rows,
	    .row_doubles = c->row_doubles,
	    .n_points = c->n_points,
	    .n_along = c->n_along,
	    .n_runs = c->n_runs,
	    .shard_i = c->shard_i,
	    .shard_n = c->shard_n};
	return res_cube_alloc_head(&s->head, e);
}

/* One that was added before, or NULL. */
static const char *any_path(const struct res_shards *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->part[i].path)
			return s->part[i].path;
	return NULL;
}

static int fits(const struct res_shards *s, const struct res_cube *c,
    const char *path, struct sim_err *e)
{
	const char *first = any_path(s);
	int rc;
	if (!first)
		return 0;
	if ((rc = res_cube_same_sweep(&s->head, c, e)) < 0)
		return sim_wrap(e, rc, "%s and %s do not belong together",
		    first, path);
	if (c->shard_n != s->n)
		return sim_fail(e, SIM_EMISMATCH,
		    "%s and %s do not belong together: one is of a sweep in "
		    "%u shard%s, the other of one in %u.",
		    first, path, s->n, s->n == 1 ? "" : "s", c->shard_n);
	if (s->part[c->shard_i].path && s->n == 1)
		return sim_fail(e, SIM_EMISMATCH,
		    "%s and %s are both all of the sweep; give one of them.",
		    first, path);
	if (s->part[c->shard_i].path)
		return sim_fail(e, SIM_EMISMATCH,
		    "%s and %s are the same shard, %u/%u; give each once.",
		    s->part[c->shard_i].path, path, c->shard_i + 1, s->n);
	return 0;
}

static int take(struct res_shards *s, struct res_cube *c, const char *path,
    struct sim_err *e)
{
	const struct res_progress cells = res_cube_progress(c);
	int rc = s->n > 0 ? 0 : make_head(s, c, e);
	if (rc < 0)
		return rc;
	struct part *p = &s->part[c->shard_i];
	p->n_rows = c->n_rows;
	p->cells = cells;
	if ((rc = sim_dup(&p->path, path, e)) < 0 ||
	    (rc = SIM_ZALLOC(&p->at, c->row_doubles, e)) < 0 ||
	    (rc = SIM_RESERVE(&s->column, &s->cap_column, c->n_rows, e)) < 0)
		return rc;
	for (size_t i = 0; i < c->n_rows; i++)
		s->head.status[whole_row(s, c->shard_i, i)] = c->status[i];
	for (size_t m = 0; rc == 0 && m < c->row_doubles; m++)
		rc = lay_down(s, p, c, m, e);
	return rc;
}

int res_shards_add(struct res_shards *s, struct res_cube *c, const char *path,
    struct sim_err *e)
{
	int rc = fits(s, c, path, e);
	if (rc == 0)
		rc = take(s, c, path, e);
	res_cube_free(c);
	return rc;
}

/* --- what lacks ------------------------------------------------------------ */

/* So many are named; of more it is said how many there are. */
enum { NAMED = 20 };

static uint64_t n_left(const struct res_shard_state *x)
{
	return x->cells.n_cells - x->cells.n_done - x->cells.n_failed -
	    x->cells.n_crashed;
}

static void say_missing(struct sim_text *t,
    const struct res_shard_state state[], uint32_t n)
{
	uint32_t missing = 0;
	for (uint32_t i = 0; i < n; i++)
		if (!state[i].there && missing++ < NAMED)
			sim_put(t, "%s%u/%u", missing == 1 ? "missing: " : ", ",
			    i + 1, n);
	if (missing > NAMED)
		sim_put(t, " and %u more", missing - NAMED);
}

static void say_undone(struct sim_text *t, const struct res_shard_state state[],
    uint32_t n)
{
	const size_t before = t->n;
	uint32_t undone = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (!state[i].there || n_left(&state[i]) == 0 ||
		    undone++ >= NAMED)
			continue;
		sim_put(t, "%s%llu of %llu cells",
		    undone > 1       ? ", "
			: before > 0 ? "; not done: "
				     : "not done: ",
		    (unsigned long long)n_left(&state[i]),
		    (unsigned long long)state[i].cells.n_cells);
		/* A sweep that is not cut has no shards to name. */
		if (n > 1)
			sim_put(t, " of %u/%u", i + 1, n);
	}
	if (undone > NAMED)
		sim_put(t, " and of %u more", undone - NAMED);
}

static void say(struct sim_text *t, const struct res_shard_state state[],
    uint32_t n)
{
	say_missing(t, state, n);
	say_undone(t, state, n);
}

int res_shards_say(const struct res_shard_state state[], uint32_t n,
    char **text, struct sim_err *e)
{
	/* As snprintf does, the first time only counts. */
	struct sim_text count = {NULL, 0, 0};
	say(&count, state, n);
	const int rc = sim_zalloc(text, count.n + 1, 1, e);
	struct sim_text t = {*text, count.n + 1, 0};
	if (rc == 0)
		say(&t, state, n);
	return rc;
}

int res_shards_lack(const struct res_shards *s, char **text, struct sim_err *e)
{
	struct res_shard_state *state = NULL;
	int rc = SIM_ZALLOC(&state, s->n, e);
	*text = NULL;
	for (uint32_t i = 0; rc == 0 && i < s->n; i++)
		state[i] = (struct res_shard_state){s->part[i].path != NULL,
		    s->part[i].cells};
	if (rc == 0)
		rc = res_shards_say(state, s->n, text, e);
	free(state);
	if (rc == 0 && !**text) {
		free(*text);
		*text = NULL;
	}
	return rc;
}

/* --- out ------------------------------------------------------------------- */

static int has_column(const struct part *p, size_t column)
{
	return p->path && p->n_rows > 0 && p->at[column] != NOWHERE;
}

static int shards_have(const void *arg, size_t column)
{
	const struct res_shards *s = arg;
	for (uint32_t w = 0; w < s->n; w++)
		if (has_column(&s->part[w], column))
			return 1;
	return 0;
}

/* What whole_row() says of each row, without a division a row. */
static void scatter_rows(const struct res_shards *s, uint32_t which,
    size_t n_rows, const double from[], double to[])
{
	const struct res_cube *c = &s->head;
	if (s->n == 1) {
		memcpy(to, from, n_rows * sizeof(to[0]));
		return;
	}
	size_t place = which / c->n_runs, run = which % c->n_runs;
	for (size_t i = 0; i < n_rows; i += c->n_along) {
		double *row = to + place * c->n_along * c->n_runs + run;
		for (size_t k = 0; k < c->n_along; k++)
			row[k * c->n_runs] = from[i + k];
		run += s->n;
		if (run >= c->n_runs) {
			place += run / c->n_runs;
			run %= c->n_runs;
		}
	}
}

static int gather(const void *arg, size_t column, double to[],
    struct sim_err *e)
{
	const struct res_shards *s = arg;
	for (size_t i = 0; i < s->head.n_rows; i++)
		to[i] = NAN;
	for (uint32_t w = 0; w < s->n; w++) {
		const struct part *p = &s->part[w];
		int rc;
		if (!has_column(p, column))
			continue;
		if ((rc = move_bytes(s, 1, s->column,
			 p->n_rows * sizeof(s->column[0]), p->at[column], e)) <
		    0)
			return rc;
		scatter_rows(s, w, p->n_rows, s->column, to);
	}
	return 0;
}

int res_shards_write(struct res_shards *s, struct sim_err *e)
{
	const struct res_h5_source from = {s, shards_have, gather};
	free(s->head.partial);
	int rc = res_shards_lack(s, &s->head.partial, e);
	return rc < 0 ? rc : res_h5_write_from(&s->head, &from, s->whole, e);
}
