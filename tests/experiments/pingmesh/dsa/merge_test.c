/* tests/experiments/pingmesh/dsa/merge_test.c -- shards by hand, good and forged.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Two shards of two recordings, of one window each; jobs on real recordings are
 * in tests/cli/jobs_shards.sh.
 */
#include "experiments/pingmesh/dsa/merge.h"

#include "experiments/pingmesh/dsa/parts.h"
#include "results/file.h"
#include "tests/rigs/folder.h"
#include "tests/rigs/h5_edit.h"
#include "tests/test.h"

enum { SUCCESSES = 10, BUCKET = 64 };

/* --- shards ---------------------------------------------------------------- */

/* A row of each table, of window I, which lasts from 600 I to 600 I + 600. */
static void merge_rows(struct xp_dsa_tables *t, uint32_t i,
    uint32_t n_recordings)
{
	*t = (struct xp_dsa_tables){0};
#define X(table, columns)                                                      \
	assert_ok(XP_DSA_RESERVE(&t->table, 2, test_err()));                   \
	memset(t->table.row, 0, 2 * sizeof(t->table.row[0]));                  \
	t->table.n = 1;
	XP_DSA_TABLES(X)
#undef X
#define X(table, columns)                                                      \
	t->table.row[0].from_s = 600 * i;                                      \
	t->table.row[0].to_s = 600 * i + 600;                                  \
	t->table.row[0].recording = i;                                         \
	t->table.row[0].n_probes = 100 + i;
	XP_DSA_WINDOW_TABLES(X)
#undef X
	t->sla.n = 2;
	t->sla.row[1] = t->sla.row[0];
	t->sla.row[1].id = 7 + i;
	t->recordings.n = n_recordings;
	for (uint32_t k = 0; k < n_recordings; k++) {
		struct xp_dsa_recordings_row *r = &t->recordings.row[k];
		*r = (struct xp_dsa_recordings_row){.n_bytes = 10 + k,
		    .checksum = 20 + k};
		snprintf(r->name.text, sizeof(r->name.text), "%u.h5", k);
	}
	t->histogram.row[0] = (struct xp_dsa_histogram_row){0, ALGO_SLA_DC, 0,
	    BUCKET, 0, SUCCESSES};
	t->pooled.row[0] = (struct xp_dsa_pooled_row){.kind = ALGO_SLA_DC,
	    .n_success = SUCCESSES,
	    .n_drop = 1};
}

static struct xp_dsa_source merge_source(uint32_t i, uint32_t n)
{
	static const struct xp_dsa_services none;
	return (struct xp_dsa_source){.recording = "2 recordings",
	    .recorded_by = i == 0 ? "first" : "second",
	    .spec = i == 0 ? "of 0" : "of 1",
	    .network = "net",
	    .window_ns = 600 * SIM_SEC,
	    .jobs = 1,
	    .services = &none,
	    .to_ns = SIM_NEVER,
	    .shard = {i, n},
	    .scopes = {[ALGO_SLA_DC] = 1}};
}

static void merge_put(const char *name, const struct xp_dsa_source *s,
    struct xp_dsa_tables *t)
{
	struct xp_dsa_head head;
	struct xp_dsa_out *out;
	assert_ok(xp_dsa_head_make(&head, s, test_err()));
	assert_ok(xp_dsa_out_open(&out, test_path(name), &head, test_err()));
	assert_ok(xp_dsa_out_add(out, t, test_err()));
	assert_ok(xp_dsa_out_finish(out, test_err()));
	xp_dsa_head_free(&head);
	xp_dsa_tables_free(t);
}

/* Shard I of N, as NAME. */
static void merge_write(const char *name, uint32_t i, uint32_t n)
{
	const struct xp_dsa_source s = merge_source(i, n);
	struct xp_dsa_tables t;
	merge_rows(&t, i, 2);
	merge_put(name, &s, &t);
}

static void merge_count_file(void *arg)
{
	++*(unsigned *)arg;
}

/* A and B, as out.h5; what is wrong is in E, with the test's folder left out. */
static int merge_two(const char *a, const char *b, struct sim_err *e)
{
	char first[256], second[256], *path[] = {first, second}, *p;
	struct xp_dsa_digest digest = {.keep = 1};
	struct xp_dsa_out *out = NULL;
	struct xp_dsa_merge m;
	unsigned n_files = 0;
	snprintf(first, sizeof(first), "%s", test_path(a));
	snprintf(second, sizeof(second), "%s", test_path(b));
	*e = (struct sim_err){0};
	int rc = xp_dsa_merge_open(&m, path, 2, e);
	if (rc == 0)
		rc = xp_dsa_out_open(&out, test_path("out.h5"), &m.head, e);
	if (rc == 0)
		rc = xp_dsa_merge_run(&m, out, &digest, merge_count_file,
		    &n_files, e);
	if (rc == 0) {
		assert_int_equal(n_files, 2);
		rc = xp_dsa_out_finish(out, e);
	} else {
		xp_dsa_out_discard(out);
	}
	xp_dsa_digest_free(&digest);
	xp_dsa_merge_free(&m);
	while ((p = strstr(e->msg, test_folder)))
		memmove(p, p + strlen(test_folder) + 1,
		    strlen(p + strlen(test_folder)));
	return rc;
}

/* --- good ones ------------------------------------------------------------- */

static void the_whole_is_what_shards_have_in_their_order(void **state)
{
	struct xp_dsa_tables t = {0};
	struct xp_dsa_pool pool = {0};
	struct xp_dsa_in *in;
	struct sim_err e;
	(void)state;
	merge_write("a.h5", 0, 2);
	merge_write("b.h5", 1, 2);
	assert_int_equal(merge_two("b.h5", "a.h5", &e), 0);
	assert_ok(xp_dsa_in_open(&in, test_path("out.h5"), test_err()));
	const struct xp_dsa_head *h = xp_dsa_in_head(in);
	assert_int_equal(h->shard.i, 0);
	assert_int_equal(h->shard.n, 1);
	assert_string_equal(h->recorded_by, "first");
	assert_string_equal(h->spec, "of 0");
	assert_string_equal(h->network, "net");
	assert_string_equal(h->recording, "2 recordings");
	assert_int_equal(h->window_ns[0], 600 * SIM_SEC);
	assert_true(h->to_ns[0] == SIM_NEVER);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(xp_dsa_in_window(in, &t, test_err()), 1);
#define X(table, columns)                                                      \
	assert_int_equal(t.table.row[0].n_probes, 100 + i);                    \
	assert_int_equal(t.table.row[0].recording, i);                         \
	assert_near(t.table.row[0].from_s, 600 * i, 0);
		XP_DSA_WINDOW_TABLES(X)
#undef X
		assert_int_equal(t.sla.n, 2);
		assert_int_equal(t.sla.row[1].id, 7 + i);
		assert_int_equal(t.summary.n, 1);
	}
	assert_int_equal(xp_dsa_in_window(in, &t, test_err()), 0);
	assert_int_equal(t.summary.n, 0);
	assert_ok(xp_dsa_in_recordings(in, &t, test_err()));
	assert_int_equal(t.recordings.n, 2);
	assert_string_equal(t.recordings.row[1].name.text, "1.h5");
	assert_int_equal(t.recordings.row[1].checksum, 21);
	assert_ok(xp_dsa_pool_open(&pool, h->scopes, test_err()));
	assert_ok(xp_dsa_in_pool(in, &pool, test_err()));
	assert_int_equal(pool.scope[0].n_success, 2 * SUCCESSES);
	assert_int_equal(pool.scope[0].n_drop, 2);
	assert_int_equal(pool.scope[0].count[BUCKET], 2 * SUCCESSES);
	xp_dsa_pool_close(&pool);
	xp_dsa_tables_free(&t);
	xp_dsa_in_close(in);
}

/* --- others ---------------------------------------------------------------- */

static void recordings_are_counted_and_compared(void **state)
{
	const struct xp_dsa_source s = merge_source(1, 2);
	struct xp_dsa_tables t;
	struct sim_err e;
	(void)state;
	merge_write("a.h5", 0, 2);
	merge_rows(&t, 1, 1);
	merge_put("b.h5", &s, &t);
	assert_int_equal(merge_two("a.h5", "b.h5", &e), SIM_EMISMATCH);
	assert_string_equal(e.msg, "b.h5 is of 1 recordings, and a.h5 of 2.");
	merge_rows(&t, 1, 2);
	t.recordings.row[1].checksum++;
	merge_put("b.h5", &s, &t);
	assert_int_equal(merge_two("a.h5", "b.h5", &e), SIM_EMISMATCH);
	assert_string_equal(e.msg,
	    "b.h5 does not belong to a.h5: recording 1 is another, 1.h5 and "
	    "1.h5.");
}

/* Heads that no program of ours has written, under seals that are right. */
static void a_forged_head_is_refused(void **state)
{
	static const struct {
		const char *name;
		unsigned i;
		uint64_t value;
		int rc;
		const char *want;
	} t[] = {
	    {"shard", 0, 3, SIM_EPARSE, "b.h5: there is no shard 3/2."},
	    {"shard", 1, 0, SIM_EPARSE, "b.h5: there is no shard 2/0."},
	    {"shard", 1, XP_MAX_SHARDS + 1, SIM_EPARSE,
		"b.h5: there is no shard 2/100001."},
	    {"jobs_version", 0, 99, SIM_EMISMATCH,
		"b.h5: it is of version 99; this program knows 3."},
	};
	struct sim_err e;
	void *good;
	size_t n;
	(void)state;
	merge_write("a.h5", 0, 2);
	merge_write("good", 1, 2);
	assert_ok(res_file_read(test_path("good"), &good, &n, test_err()));
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		h5_edit_put(test_path("b.h5"), good, n);
		hid_t f = H5Fopen(test_path("b.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
		h5_edit_count(f, t[i].name, t[i].i, t[i].value);
		h5_edit_seal(f, test_path("b.h5"));
		assert_int_equal(merge_two("a.h5", "b.h5", &e), t[i].rc);
		assert_string_equal(e.msg, t[i].want);
	}
	free(good);
}

/* So are rows: of no window, of no time, and times that are not all. */
static void a_forged_row_is_refused(void **state)
{
	const struct xp_dsa_source s = merge_source(1, 2);
	struct xp_dsa_tables t;
	struct sim_err e;
	(void)state;
	merge_write("a.h5", 0, 2);
	merge_rows(&t, 1, 2);
	t.sla.row[1].recording = 0;
	merge_put("b.h5", &s, &t);
	assert_int_equal(merge_two("a.h5", "b.h5", &e), SIM_EPARSE);
	assert_string_equal(e.msg, "b.h5: table sla has rows of no window.");
	merge_rows(&t, 1, 2);
	t.summary.row[0].from_s = NAN;
	merge_put("b.h5", &s, &t);
	assert_int_equal(merge_two("a.h5", "b.h5", &e), SIM_EPARSE);
	assert_string_equal(e.msg, "b.h5: a window has no time.");
	merge_rows(&t, 1, 2);
	t.pooled.row[0].n_success++;
	merge_put("b.h5", &s, &t);
	assert_int_equal(merge_two("a.h5", "b.h5", &e), SIM_EPARSE);
	assert_string_equal(e.msg,
	    "data centre 0, scope 0 of kind 3: 20 times of 21 successes.");
}

static void what_is_missing_is_named(void **state)
{
	struct xp_dsa_merge m;
	struct sim_err e;
	char a[256], *path[] = {a};
	(void)state;
	merge_write("b.h5", 1, 3);
	snprintf(a, sizeof(a), "%s", test_path("b.h5"));
	assert_int_equal(xp_dsa_merge_open(&m, path, 1, &e), SIM_EIO);
	assert_string_equal(e.msg,
	    "the whole would be partial (missing: 1/3, 3/3), so nothing was "
	    "written.");
	xp_dsa_merge_free(&m);
}

#define IN_A_FOLDER(test)                                                      \
	cmocka_unit_test_setup_teardown(test, test_folder_make,                \
	    test_folder_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    IN_A_FOLDER(the_whole_is_what_shards_have_in_their_order),
	    IN_A_FOLDER(recordings_are_counted_and_compared),
	    IN_A_FOLDER(a_forged_head_is_refused),
	    IN_A_FOLDER(a_forged_row_is_refused),
	    IN_A_FOLDER(what_is_missing_is_named),
	};
	return cmocka_run_group_tests_name("experiments/pingmesh/dsa/merge",
	    tests, NULL, NULL);
}
