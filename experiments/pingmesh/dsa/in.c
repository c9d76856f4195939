/* experiments/pingmesh/dsa/in.c -- tables of jobs, read window by window.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "experiments/pingmesh/dsa/out.h"
#include "experiments/pingmesh/dsa/parts.h"
#include "results/h5_table.h"

enum { BLOCK = 4096 }; /* rows that are read at a time */

/* How far a table was read: rows from AT on of those that are held, and from
 * NEXT on of the file. */
struct in_cursor {
	struct res_h5_table_in *table;
	uint64_t next, n;
	size_t at;
};

struct xp_dsa_in {
	const char *path;
	struct res_h5_in *file;
	struct xp_dsa_head head;
	struct xp_dsa_tables held;
#define X(table, columns) struct in_cursor table;
	XP_DSA_TABLES(X)
#undef X
};

/* --- opening ---------------------------------------------------------------*/

#define X(name, columns)                                                       \
	static int in_open_##name(struct xp_dsa_in *in, struct sim_err *e)     \
	{                                                                      \
		typedef struct xp_dsa_##name##_row struct_row;                 \
		static const struct sim_column column[] = {                    \
		    columns(XP_DSA_COLUMN)};                                   \
		return res_h5_in_table(in->file, #name, column,                \
		    sizeof(column) / sizeof(column[0]), &in->name.table,       \
		    &in->name.n, e);                                           \
	}
XP_DSA_TABLES(X)
#undef X

static int in_read_shard(struct xp_dsa_in *in, struct sim_err *e)
{
	uint64_t shard[2] = {1, 1};
	int rc = res_h5_in_has_attr(in->file, "shard", e);
	if (rc > 0)
		rc = res_h5_in_counts(in->file, "shard", 2, shard, e);
	if (rc < 0)
		return rc;
	if (shard[1] < 1 || shard[1] > XP_MAX_SHARDS || shard[0] < 1 ||
	    shard[0] > shard[1])
		return sim_fail(e, SIM_EPARSE, "there is no shard %llu/%llu.",
		    (unsigned long long)shard[0], (unsigned long long)shard[1]);
	in->head.shard =
	    (struct xp_shard){(uint32_t)shard[0] - 1, (uint32_t)shard[1]};
	return 0;
}

static int in_read_head(struct xp_dsa_in *in, struct sim_err *e)
{
	uint64_t version;
	int rc = res_h5_in_has_attr(in->file, "jobs_version", e);
	if (rc == 0)
		return sim_fail(e, SIM_EPARSE, "it holds no tables of jobs.");
	if (rc > 0)
		rc = res_h5_in_counts(in->file, "jobs_version", 1, &version, e);
	if (rc == 0 && version != XP_DSA_VERSION)
		return sim_fail(e, SIM_EMISMATCH,
		    "it is of version %llu; this program knows %d.",
		    (unsigned long long)version, XP_DSA_VERSION);
#define X(name, all)                                                           \
	if (rc == 0)                                                           \
		rc = res_h5_in_text(in->file, #name, &in->head.name, e);
	XP_DSA_HEAD_TEXTS(X)
#undef X
#define X(name, n)                                                             \
	if (rc == 0)                                                           \
		rc = res_h5_in_counts(in->file, #name, n, in->head.name, e);
	XP_DSA_HEAD_COUNTS(X)
#undef X
	return rc < 0 ? rc : in_read_shard(in, e);
}

static int in_open_tables(struct xp_dsa_in *in, struct sim_err *e)
{
	int rc = 0;
#define X(name, columns)                                                       \
	if (rc == 0)                                                           \
		rc = in_open_##name(in, e);
	XP_DSA_TABLES(X)
#undef X
	return rc;
}

int xp_dsa_in_open(struct xp_dsa_in **out, const char *path, struct sim_err *e)
{
	struct xp_dsa_in *in;
	int rc = SIM_ZALLOC(&in, 1, e);
	if (rc < 0)
		return rc;
	in->path = path;
	if ((rc = res_h5_in_open(&in->file, path, e)) == 0 &&
	    ((rc = in_read_head(in, e)) < 0 ||
		(rc = in_open_tables(in, e)) < 0))
		sim_wrap(e, rc, "%s", path);
	if (rc < 0)
		xp_dsa_in_close(in);
	else
		*out = in;
	return rc;
}

void xp_dsa_in_close(struct xp_dsa_in *in)
{
	if (!in)
		return;
	xp_dsa_head_free(&in->head);
	xp_dsa_tables_free(&in->held);
	res_h5_in_close(in->file);
	free(in);
}

struct xp_dsa_head *xp_dsa_in_head(struct xp_dsa_in *in)
{
	return &in->head;
}

/* --- rows ------------------------------------------------------------------*/

/* Have a row of each table held, if there is one left. Returns 1 or 0. */
#define X(name, columns)                                                       \
	static int in_hold_##name(struct xp_dsa_in *in, struct sim_err *e)     \
	{                                                                      \
		struct in_cursor *c = &in->name;                               \
		const uint64_t left = c->n - c->next;                          \
		const size_t n = left < BLOCK ? (size_t)left : BLOCK;          \
		if (c->at < in->held.name.n)                                   \
			return 1;                                              \
		in->held.name.n = c->at = 0;                                   \
		int rc = XP_DSA_RESERVE(&in->held.name, n, e);                 \
		if (rc == 0 && n > 0)                                          \
			rc = res_h5_in_rows(c->table, c->next, n,              \
			    in->held.name.row, sizeof(in->held.name.row[0]),   \
			    e);                                                \
		if (rc < 0)                                                    \
			return sim_wrap(e, rc, "%s: table %s", in->path,       \
			    #name);                                            \
		in->held.name.n = n;                                           \
		c->next += n;                                                  \
		return n > 0;                                                  \
	}
XP_DSA_TABLES(X)
#undef X

/* Which window rows belong to. */
struct in_window {
	uint32_t recording;
	double from_s;
};

/* Move to T the rows that come next and belong to W. Returns 0 or an error. */
#define X(name, columns)                                                       \
	static int in_take_##name(struct xp_dsa_in *in,                        \
	    const struct in_window *w, struct xp_dsa_tables *t,                \
	    struct sim_err *e)                                                 \
	{                                                                      \
		int rc;                                                        \
		while ((rc = in_hold_##name(in, e)) > 0) {                     \
			const struct xp_dsa_##name##_row *r =                  \
			    &in->held.name.row[in->name.at];                   \
			if (r->recording != w->recording ||                    \
			    r->from_s != w->from_s)                            \
				return 0;                                      \
			if ((rc = XP_DSA_RESERVE(&t->name, 1, e)) < 0)         \
				return rc;                                     \
			t->name.row[t->name.n++] = *r;                         \
			in->name.at++;                                         \
		}                                                              \
		return rc;                                                     \
	}
XP_DSA_WINDOW_TABLES(X)
#undef X

/* Rows of windows in another order than those of `summary` would be left. */
static int in_check_end(struct xp_dsa_in *in, struct sim_err *e)
{
	const char *left = NULL;
#define X(name, columns)                                                       \
	if (in->name.at < in->held.name.n || in->name.next < in->name.n)       \
		left = #name;
	XP_DSA_WINDOW_TABLES(X)
#undef X
	return left ? sim_fail(e, SIM_EPARSE,
			  "%s: table %s has rows of no window.", in->path, left)
		    : 0;
}

int xp_dsa_in_window(struct xp_dsa_in *in, struct xp_dsa_tables *t,
    struct sim_err *e)
{
	int rc = in_hold_summary(in, e);
	xp_dsa_tables_clear(t);
	if (rc <= 0)
		return rc < 0 ? rc : in_check_end(in, e);
	const struct xp_dsa_summary_row *first =
	    &in->held.summary.row[in->summary.at];
	const struct in_window w = {first->recording, first->from_s};
#define X(name, columns)                                                       \
	if (rc >= 0)                                                           \
		rc = in_take_##name(in, &w, t, e);
	XP_DSA_WINDOW_TABLES(X)
#undef X
	if (rc < 0)
		return rc;
	/* A time that is no number equals nothing, and would come for ever. */
	return t->summary.n > 0
	    ? 1
	    : sim_fail(e, SIM_EPARSE, "%s: a window has no time.", in->path);
}

int xp_dsa_in_recordings(struct xp_dsa_in *in, struct xp_dsa_tables *t,
    struct sim_err *e)
{
	int rc;
	while ((rc = in_hold_recordings(in, e)) > 0) {
		if ((rc = XP_DSA_RESERVE(&t->recordings, 1, e)) < 0)
			return rc;
		t->recordings.row[t->recordings.n++] =
		    in->held.recordings.row[in->recordings.at++];
	}
	return rc;
}

int xp_dsa_in_pool(struct xp_dsa_in *in, struct xp_dsa_pool *p,
    struct sim_err *e)
{
	int pooled, counts, rc = 0;
	do {
		/* A block of each, which POOL takes as one table. */
		if ((pooled = in_hold_pooled(in, e)) < 0)
			return pooled;
		if ((counts = in_hold_histogram(in, e)) < 0)
			return counts;
		rc = xp_dsa_pool_take(p, &in->held, e);
		in->pooled.at = in->held.pooled.n;
		in->histogram.at = in->held.histogram.n;
	} while (rc == 0 && (pooled || counts));
	return rc < 0 ? sim_wrap(e, rc, "%s", in->path) : 0;
}
