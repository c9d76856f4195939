/* results/series.c -- tables that grow in time, read by time.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/series.h"

#include <inttypes.h>

enum { SERIES_SPAN_CHUNK = 1024 /* rows of an index */ };

/* --- writing ---------------------------------------------------------------*/

int res_series_create(struct res_series_out *s, const struct res_series *is,
    const struct sim_column col[], struct res_h5_out *f, struct sim_err *e)
{
	const struct sim_table *kind = is->kind(), *index = res_index_kind();
	s->is = is;
	const int rc = res_h5_out_table(f, is->name, col ? col : kind->column,
	    kind->n_columns, is->chunk_rows, &s->rows, e);
	if (rc < 0 || !is->index)
		return rc;
	return res_h5_out_table(f, is->index, index->column, index->n_columns,
	    SERIES_SPAN_CHUNK, &s->index, e);
}

/* Enter N rows into the index before they are appended: each chunk's first row
 * begins an entry, and the others widen its span, as rows come only about in
 * order of time. */
static int series_index(struct res_series_out *s, const sim_ns time[], size_t n,
    struct sim_err *e)
{
	struct res_index *x = &s->spans;
	for (size_t i = 0; i < n; i++) {
		const sim_ns at = time[i];
		/* The first row of a chunk. */
		if ((s->n + i) % s->is->chunk_rows == 0) {
			const struct res_index_row row = {at, at};
			const int rc = res_index_add(x, &row, e);
			if (rc < 0)
				return rc;
			continue;
		}
		if (at < x->first_ns[x->n - 1])
			x->first_ns[x->n - 1] = at;
		if (at > x->last_ns[x->n - 1])
			x->last_ns[x->n - 1] = at;
	}
	return 0;
}

int res_series_append(struct res_series_out *s, const void *table,
    struct sim_err *e)
{
	const struct sim_table *kind = s->is->kind();
	const size_t n = sim_table_n(kind, table);
	int rc = 0;
	if (s->index)
		rc = series_index(s, sim_table_at(kind, table, 0, 0), n, e);
	s->n += n;
	return rc < 0 ? rc : res_h5_out_append(s->rows, kind, table, e);
}

int res_series_finish(struct res_series_out *s, struct sim_err *e)
{
	return s->index
	    ? res_h5_out_append(s->index, res_index_kind(), &s->spans, e)
	    : 0;
}

void res_series_out_free(struct res_series_out *s)
{
	res_index_free(&s->spans);
	*s = (struct res_series_out){0};
}

/* --- reading ---------------------------------------------------------------*/

int res_series_all_rows(struct res_h5_in *f, const char *name,
    const struct sim_table *kind, void *table, struct sim_err *e)
{
	struct res_h5_table_in *t;
	uint64_t n;
	const int rc =
	    res_h5_in_table(f, name, kind->column, kind->n_columns, &t, &n, e);
	return rc < 0 ? rc : res_h5_in_append(t, 0, n, kind, table, e);
}

/* The last chunk may be a part of one. */
static uint64_t series_count_chunks(const struct res_series_in *s)
{
	const size_t chunk_rows = s->is->chunk_rows;
	return s->n / chunk_rows + (s->n % chunk_rows > 0);
}

int res_series_open(struct res_series_in *s, const struct res_series *is,
    struct res_h5_in *f, struct sim_err *e)
{
	const struct sim_table *kind = is->kind();
	s->is = is;
	int rc = res_h5_in_table(f, is->name, kind->column, kind->n_columns,
	    &s->rows, &s->n, e);
	if (rc < 0 || !is->index ||
	    (rc = res_series_all_rows(f, is->index, res_index_kind(), &s->spans,
		 e)) < 0)
		return rc;
	/* The index is looked up by the number of a chunk, so it must have an
	 * entry for each. */
	const uint64_t n_chunks = series_count_chunks(s);
	if (s->spans.n != n_chunks)
		return sim_fail(e, SIM_EPARSE,
		    "table %s has %zu chunks by its index, not %" PRIu64 ".",
		    is->name, s->spans.n, n_chunks);
	return 0;
}

void res_series_in_free(struct res_series_in *s)
{
	res_index_free(&s->spans);
	*s = (struct res_series_in){0};
}

/* Append the rows of a chunk whose times are from FIRST to LAST. The index,
 * where there is one, tells of most chunks that no row is, so they are not
 * read, or that all rows are, so they are not looked at one by one. */
static int series_chunk(struct res_series_in *s, uint64_t chunk, sim_ns first,
    sim_ns last, void *table, struct sim_err *e)
{
	const struct sim_table *kind = s->is->kind();
	/* Chunks of the file's own layout: each is unpacked once and as a
	 * whole. */
	const uint64_t row = chunk * s->is->chunk_rows, left = s->n - row;
	const size_t before = sim_table_n(kind, table);
	/* Without an index a chunk may hold any time. */
	struct res_index_row has = {0, SIM_NEVER};
	if (s->is->index)
		has = res_index_at(&s->spans, chunk);
	if (has.first_ns > last || has.last_ns < first)
		return 0;
	const int rc = res_h5_in_append(s->rows, row,
	    left < s->is->chunk_rows ? (size_t)left : s->is->chunk_rows, kind,
	    table, e);
	/* The chunk reaches beyond the window, so its rows are sifted. */
	if (rc == 0 && (has.first_ns < first || has.last_ns > last))
		sim_table_keep(kind, table, before, first, last);
	return rc;
}

int res_series_get(struct res_series_in *s, sim_ns from, sim_ns to, void *table,
    struct sim_err *e)
{
	const uint64_t n_chunks = series_count_chunks(s);
	const int ends = s->is->ends;
	int rc = 0;
	/* Times are whole nanoseconds, so both half-open windows become closed
	 * ones. Events belong to the window they begin in, sums to that which
	 * they end in. */
	for (uint64_t i = 0; rc == 0 && i < n_chunks && from < to; i++)
		rc = series_chunk(s, i, ends ? from + 1 : from,
		    ends ? to : to - 1, table, e);
	return rc;
}
