/* tests/experiments/millisampler/import_test.c -- whose host is whose.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/millisampler/import.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "results/samples.h"
#include "tests/rigs/folder.h"
#include "tests/test.h"

enum { N_FILES = 5 };

/* The fourth is a second run of the first's host; the others are hosts of their
 * own, though a slash joins some to the same text. */
static const char *const import_who[N_FILES][2] = {{"a", "b/c"}, {"a/b", "c"},
    {"a", "b"}, {"a", "b/c"}, {"a/b", "b/c"}};

struct import_test {
	struct xp_import_params p;
	struct xp_import_said said;
	char *path[N_FILES];
};

static void import_test_open(struct import_test *m)
{
	char name[32], text[256];
	if (!xp_public_is_built_in())
		skip();
	*m = (struct import_test){
	    .p = {.width_ns = 1000000, .line_bps = 8000000000}};
	for (int i = 0; i < N_FILES; i++) {
		snprintf(name, sizeof(name), "%d.json", i);
		snprintf(text, sizeof(text),
		    "{\"rack_id\": \"%s\", \"server_hostname\": \"%s\", "
		    "\"ingressBytes\": [0, %d, 1000000, 0], \"burst_result\": "
		    "{\"ingress\": {\"5\": [{\"Position\": 2, \"Length\": "
		    "1}]}}}",
		    import_who[i][0], import_who[i][1], i + 1);
		test_write(name, text);
		m->path[i] = strdup(test_path(name));
		assert_non_null(m->path[i]);
	}
	m->p.output = strdup(test_path("x.h5"));
	assert_non_null(m->p.output);
}

static void import_test_close(struct import_test *m)
{
	for (int i = 0; i < N_FILES; i++)
		free(m->path[i]);
	free((char *)m->p.output);
}

static int import_test_run(void *arg, struct sim_err *e)
{
	struct import_test *m = arg;
	return xp_import(&m->p, m->path, N_FILES, NULL, NULL, &m->said, e);
}

static void hosts_are_told_by_rack_and_name(void **state)
{
	(void)state;
	static const uint32_t host[] = {0, 1, 2, 0, 3}, rack[] = {0, 1, 0, 1};
	struct import_test m;
	struct res_samples *r;
	struct obs_samples t = {0};
	import_test_open(&m);
	assert_ok(import_test_run(&m, test_err()));
	assert_int_equal(m.said.n_racks, 2);
	assert_int_equal(m.said.n_hosts, 4);
	/* Bursts of each are those of the file, at half of the line. */
	assert_int_equal(m.said.fit.n_theirs, N_FILES);
	assert_int_equal(m.said.fit.at[4][0].n_same, N_FILES);
	assert_ok(res_samples_open(&r, m.p.output, test_err()));
	assert_int_equal(res_samples_runs(r)->n, N_FILES);
	for (uint32_t i = 0; i < N_FILES; i++) {
		assert_int_equal(res_samples_runs(r)->host[i], host[i]);
		assert_ok(res_samples_load(r, i, 1, &t, test_err()));
		assert_int_equal(t.n, 2);
		assert_int_equal(t.in_bytes[0], i + 1);
	}
	const struct res_hosts *h = res_samples_hosts(r);
	assert_int_equal(h->n, 4);
	for (uint32_t i = 0; i < h->n; i++)
		assert_int_equal(h->rack[i], rack[i]);
	assert_string_equal(h->name[3].text, "b/c");
	obs_samples_free(&t);
	res_samples_close(r);
	import_test_close(&m);
}

/* Those of our own; and no file is left. */
static void without_memory_there_is_no_file(void **state)
{
	(void)state;
	struct import_test m;
	import_test_open(&m);
	unlink(m.p.output);
	test_fail_alloc(1);
	assert_int_equal(import_test_run(&m, test_err()), SIM_ENOMEM);
	test_fail_alloc(20);
	assert_int_equal(import_test_run(&m, test_err()), SIM_ENOMEM);
	test_fail_alloc(0);
	assert_int_equal(access(m.p.output, F_OK), -1);
	test_each_alloc_fails(import_test_run, &m);
	assert_int_equal(m.said.n_hosts, 4);
	import_test_close(&m);
}

static int import_test_list(void *arg, struct sim_err *e)
{
	char **path;
	size_t *n = arg;
	const int rc = xp_import_files(test_folder, &path, n, e);
	if (rc == 0) {
		for (size_t i = 1; i < *n; i++)
			assert_true(strcmp(path[i - 1], path[i]) < 0);
		xp_import_files_free(path, *n);
	}
	return rc;
}

static void an_empty_folder_has_no_runs(void **state)
{
	char **path;
	size_t n = 1;
	(void)state;
	assert_int_equal(mkdir(test_path("empty"), 0700), 0);
	assert_ok(xp_import_files(test_path("empty"), &path, &n, test_err()));
	assert_int_equal(n, 0);
	xp_import_files_free(path, n);
	assert_int_equal(xp_import_files(test_path("none"), &path, &n,
			     test_err()),
	    SIM_EIO);
	assert_non_null(strstr(test_err()->msg, "none: No such file"));
}

static void a_folder_gives_its_runs_by_name(void **state)
{
	(void)state;
	struct import_test m;
	size_t n = 0;
	import_test_open(&m);
	test_write("README.md", "no run");
	test_write("json", "no run");
	test_each_alloc_fails(import_test_list, &n);
	assert_int_equal(n, N_FILES);
	import_test_close(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(hosts_are_told_by_rack_and_name),
	    cmocka_unit_test(without_memory_there_is_no_file),
	    cmocka_unit_test(an_empty_folder_has_no_runs),
	    cmocka_unit_test(a_folder_gives_its_runs_by_name),
	};
	return cmocka_run_group_tests(tests, test_folder_make,
	    test_folder_remove);
}
