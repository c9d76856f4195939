/* tests/fuzz/jobs_fuzz.c -- any tables of jobs as a shard; what is taken is merged.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * As of epochs (epoch_fuzz.c) a seal keeps damaged files from HDF5, and what a
 * file says by its tables is ours to doubt, so files are in memory. The input is
 * a list of changes to the tables of two windows, of 12 bytes each:
 *
 *	table, what (even: bytes of a row, odd: how many rows), row, offset in it
 *	value (8 bytes)
 *
 * A table numbered beyond the last is the scopes that the file says it has. What is
 * merged must be the same bytes when it is merged again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/pingmesh/dsa/merge.h"
#include "experiments/pingmesh/dsa/parts.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/h5_memory.h"

enum { ROWS = 8, CHANGE = 12 };

/* Two windows of one data centre, a row each of most tables. */
static void make_rows(struct xp_dsa_tables *t)
{
#define X(table, columns)                                                      \
	t->table.row = calloc(ROWS, sizeof(t->table.row[0]));                  \
	must(t->table.row != NULL);                                            \
	t->table.cap = ROWS;                                                   \
	t->table.n = 2;
	XP_DSA_TABLES(X)
#undef X
#define X(table, columns)                                                      \
	t->table.row[1].from_s = 600;                                          \
	t->table.row[0].to_s = 600;                                            \
	t->table.row[1].to_s = 1200;
	XP_DSA_WINDOW_TABLES(X)
#undef X
	t->recordings.n = t->pooled.n = 1;
	for (uint32_t i = 0; i < 2; i++)
		t->histogram.row[i] = (struct xp_dsa_histogram_row){0,
		    ALGO_SLA_DC, 0, i + 1, 0, 5};
	t->pooled.row[0] =
	    (struct xp_dsa_pooled_row){.kind = ALGO_SLA_DC, .n_success = 10};
}

static void change_row(void *row, size_t size, const uint8_t *change)
{
	const size_t at = change[3] % size;
	const size_t n = size - at < 8 ? size - at : 8;
	memcpy((char *)row + (change[2] % ROWS) * size + at, change + 4, n);
}

static void change_tables(struct xp_dsa_tables *t, struct xp_dsa_head *h,
    const uint8_t *change)
{
	unsigned i = 0;
#define X(table, columns)                                                      \
	if (i++ == change[0] && change[1] % 2 == 0)                            \
		change_row(t->table.row, sizeof(t->table.row[0]), change);     \
	else if (i - 1 == change[0])                                           \
		t->table.n = change[2] % (ROWS + 1);
	XP_DSA_TABLES(X)
#undef X
	if (change[0] >= i)
		memcpy(&h->scopes[change[2] % XP_DSA_POOL_KINDS], change + 4,
		    8);
	for (i = 0; i < ROWS; i++) /* texts go out as what C calls one */
		t->recordings.row[i].name.text[63] = '\0';
}

static void write_shard(const char *path, const uint8_t *bytes, size_t n)
{
	const struct xp_dsa_services none = {0};
	const struct xp_dsa_source source = {.recording = "a.h5",
	    .recorded_by = "",
	    .spec = "",
	    .window_ns = 600 * SIM_SEC,
	    .services = &none,
	    .scopes = {[ALGO_SLA_DC] = 1}};
	struct xp_dsa_tables t = {0};
	struct xp_dsa_head head;
	struct xp_dsa_out *out;
	must(xp_dsa_head_make(&head, &source, NULL) == 0);
	make_rows(&t);
	for (size_t i = 0; i + CHANGE <= n; i += CHANGE)
		change_tables(&t, &head, bytes + i);
	must(xp_dsa_out_open(&out, path, &head, NULL) == 0);
	must(xp_dsa_out_add(out, &t, NULL) == 0);
	must(xp_dsa_out_finish(out, NULL) == 0);
	xp_dsa_head_free(&head);
	xp_dsa_tables_free(&t);
}

/* FROM as one whole, into TO. */
static int merge_into(char *from, const char *to)
{
	struct xp_dsa_merge m = {0};
	struct xp_dsa_digest digest = {.keep = 1};
	struct xp_dsa_out *out = NULL;
	struct sim_err e = {0};
	int rc = xp_dsa_merge_open(&m, &from, 1, &e);
	if (rc == 0 && (rc = xp_dsa_out_open(&out, to, &m.head, &e)) == 0)
		rc = xp_dsa_merge_run(&m, out, &digest, NULL, NULL, &e);
	if (rc == 0)
		rc = xp_dsa_out_finish(out, &e);
	else
		xp_dsa_out_discard(out);
	must(rc == 0 || e.msg[0]);
	xp_dsa_digest_free(&digest);
	xp_dsa_merge_free(&m);
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char shard[] = "shard";
	write_shard(shard, bytes, n);
	if (merge_into(shard, "once") == 0) {
		must(merge_into((char[]){"once"}, "twice") == 0);
		must(h5_memory_same("once", "twice"));
	}
	h5_memory_drop(NULL);
	return 0;
}
