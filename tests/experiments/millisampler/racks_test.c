/* tests/experiments/millisampler/racks_test.c -- runs of racks, and whose they are.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/millisampler/racks.h"
#include "tests/rigs/folder.h"
#include "tests/test.h"

enum { N_HOSTS = 6, WIDTH = 1000000 };

/* Host, start and width of a run, which has a bucket of as many bytes as its row
 * in the file is, and 1 more of each row. */
struct racks_run {
	uint32_t host;
	uint64_t start, width;
};

static const char *racks_file(const struct racks_run run[], size_t n,
    const struct res_host name[], size_t n_names)
{
	const char *path = test_path("x.h5");
	const struct res_samples_info info = {.spec = "", .n_hosts = N_HOSTS};
	struct res_samples_out *w;
	struct obs_runs runs = {0};
	struct obs_samples rows = {0};
	struct res_hosts hosts = {0};
	assert_ok(res_samples_create(&w, path, &info, test_err()));
	for (uint32_t i = 0; i < n; i++) {
		const struct obs_run row = {.start_ns = run[i].start,
		    .width_ns = run[i].width,
		    .line_bps = 1,
		    .host = run[i].host,
		    .n_buckets = 100};
		assert_ok(obs_runs_add(&runs, &row, test_err()));
		for (uint32_t k = 0; k <= i; k++) {
			const struct obs_sample s = {.run = i,
			    .bucket = k,
			    .in_bytes = 1 + i};
			assert_ok(obs_samples_add(&rows, &s, test_err()));
		}
	}
	for (size_t i = 0; i < n_names; i++)
		assert_ok(res_hosts_add(&hosts, &name[i], test_err()));
	assert_ok(res_samples_add(w, &runs, &rows, test_err()));
	assert_ok(res_samples_add_hosts(w, &hosts, test_err()));
	assert_ok(res_samples_finish(w, test_err()));
	obs_runs_free(&runs);
	obs_samples_free(&rows);
	res_hosts_free(&hosts);
	return path;
}

static int racks_open(struct xp_racks *r, const char *path, sim_ns width,
    struct sim_err *e)
{
	const struct xp_racks_params p = {.width_ns = width,
	    .together_ns = SIM_SEC};
	return xp_racks_open(r, path, &p, e);
}

/* Hosts 0 and 3 are of rack 7, host 4 of rack 2; nobody knows of the others. */
static const struct res_host racks_names[] = {{3, 7, {"three"}},
    {0, 7, {"zero"}}, {4, 2, {"1"}}};

static void a_rack_is_its_hosts_runs_by_host(void **state)
{
	static const struct racks_run run[] = {{3, 5, WIDTH}, {1, 6, WIDTH},
	    {0, 7, WIDTH}, {5, 8, WIDTH}, {4, 9, WIDTH}};
	/* Rows of the file, of each rack in turn. */
	static const uint32_t want[][2] = {{2, 0}, {1, 1}, {3, 3}, {4, 4}};
	struct xp_racks r;
	size_t n;
	(void)state;
	assert_ok(racks_open(&r, racks_file(run, 5, racks_names, 3), WIDTH,
	    test_err()));
	for (unsigned i = 0; i < 4; i++) {
		assert_ok(xp_racks_next(&r, &n, test_err()));
		const size_t n_want = want[i][0] != want[i][1] ? 2 : 1;
		size_t row = 0;
		assert_int_equal(n, n_want);
		assert_int_equal(r.runs.n, n_want);
		for (uint32_t k = 0; k < n_want; k++) {
			const uint32_t of = want[i][k];
			assert_int_equal(r.run[k], of);
			assert_int_equal(r.runs.host[k], run[of].host);
			assert_int_equal(r.runs.start_ns[k], run[of].start);
			/* Its buckets are those of run K now. */
			for (uint32_t b = 0; b <= of; b++, row++) {
				assert_int_equal(r.samples.run[row], k);
				assert_int_equal(r.samples.bucket[row], b);
				assert_int_equal(r.samples.in_bytes[row],
				    1 + of);
			}
		}
		assert_int_equal(r.samples.n, row);
	}
	assert_ok(xp_racks_next(&r, &n, test_err()));
	assert_int_equal(n, 0);
	xp_racks_close(&r);
	assert_null(r.file);
}

/* Hosts of no rack are one each, and none of those that are named. */
static void hosts_have_names_or_numbers(void **state)
{
	static const struct racks_run run[] = {{3, 5, WIDTH}};
	static const char *const names[] = {"zero", "1", "2", "three", "1",
	    "5"};
	static const uint32_t racks[] = {7, 8 + 1, 8 + 2, 7, 2, 8 + 5};
	struct xp_racks r;
	char buf[16];
	(void)state;
	assert_ok(
	    racks_open(&r, racks_file(run, 1, racks_names, 3), 0, test_err()));
	for (uint32_t i = 0; i < N_HOSTS; i++) {
		assert_string_equal(xp_racks_host(&r, i, buf), names[i]);
		assert_int_equal(r.rack[i], racks[i]);
	}
	/* A name is before a number. */
	assert_int_equal(xp_racks_find(&r, "1"), 4);
	assert_int_equal(xp_racks_find(&r, "zero"), 0);
	assert_int_equal(xp_racks_find(&r, "three"), 3);
	assert_int_equal(xp_racks_find(&r, "2"), 2);
	assert_int_equal(xp_racks_find(&r, "5"), 5);
	assert_int_equal(xp_racks_find(&r, "0"), N_HOSTS);
	assert_int_equal(xp_racks_find(&r, "6"), N_HOSTS);
	xp_racks_close(&r);
}

static void the_width_is_that_of_most(void **state)
{
	static const struct racks_run run[] = {{0, 5, WIDTH},
	    {1, 6, WIDTH / 10}, {2, 7, WIDTH / 10}};
	static const struct racks_run even[] = {{0, 5, WIDTH},
	    {1, 6, WIDTH / 10}, {2, 7, WIDTH / 10}, {3, 8, WIDTH / 2}};
	char says[512];
	struct xp_racks r;
	struct sim_err e;
	(void)state;
	const char *path = racks_file(run, 3, NULL, 0);
	assert_ok(racks_open(&r, path, 0, test_err()));
	assert_int_equal(r.p.width_ns, WIDTH / 10);
	xp_racks_close(&r);
	assert_ok(racks_open(&r, path, WIDTH, test_err()));
	assert_int_equal(r.p.width_ns, WIDTH);
	xp_racks_close(&r);
	assert_int_equal(racks_open(&r, path, WIDTH / 4, &e), SIM_EINVAL);
	snprintf(says, sizeof(says),
	    "%s has no run with buckets of 0.25 ms; it has 1 of 1 ms, 2 of 0.1 "
	    "ms.",
	    path);
	assert_string_equal(e.msg, says);
	xp_racks_close(&r);
	/* Half of them are not most. */
	path = racks_file(even, 4, NULL, 0);
	assert_int_equal(racks_open(&r, path, 0, &e), SIM_EINVAL);
	snprintf(says, sizeof(says),
	    "%s has runs of several widths, and no width is that of most: 1 of "
	    "1 ms, 2 of 0.1 ms, 1 of 0.5 ms. --width says which.",
	    path);
	assert_string_equal(e.msg, says);
	xp_racks_close(&r);
	path = racks_file(even, 0, NULL, 0);
	assert_int_equal(racks_open(&r, path, 0, &e), SIM_EINVAL);
	snprintf(says, sizeof(says), "%s has no runs.", path);
	assert_string_equal(e.msg, says);
	xp_racks_close(&r);
}

static void racks_have_room_for_those_of_no_rack(void **state)
{
	static const struct racks_run run[] = {{0, 5, WIDTH}};
	struct res_host host = {.rack = UINT32_MAX - N_HOSTS - 1,
	    .name = {"h"}};
	char says[512];
	struct xp_racks r;
	struct sim_err e;
	(void)state;
	assert_ok(racks_open(&r, racks_file(run, 1, &host, 1), 0, test_err()));
	assert_int_equal(r.rack[N_HOSTS - 1], UINT32_MAX - 1);
	xp_racks_close(&r);
	host.rack++;
	const char *path = racks_file(run, 1, &host, 1);
	assert_int_equal(racks_open(&r, path, 0, &e), SIM_EPARSE);
	snprintf(says, sizeof(says), "%s: rack 4294967289 is above 4294967288.",
	    path);
	assert_string_equal(e.msg, says);
	xp_racks_close(&r);
}

static int racks_read_all(void *arg, struct sim_err *e)
{
	struct xp_racks r;
	size_t n = 1;
	int rc = racks_open(&r, arg, WIDTH, e);
	while (rc == 0 && n > 0)
		rc = xp_racks_next(&r, &n, e);
	xp_racks_close(&r);
	return rc;
}

static void without_memory_nothing_is_left(void **state)
{
	static const struct racks_run run[] = {{3, 5, WIDTH}, {0, 6, WIDTH}};
	char path[256];
	(void)state;
	snprintf(path, sizeof(path), "%s", racks_file(run, 2, racks_names, 3));
	test_each_alloc_fails(racks_read_all, path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_rack_is_its_hosts_runs_by_host),
	    cmocka_unit_test(hosts_have_names_or_numbers),
	    cmocka_unit_test(the_width_is_that_of_most),
	    cmocka_unit_test(racks_have_room_for_those_of_no_rack),
	    cmocka_unit_test(without_memory_nothing_is_left),
	};
	return cmocka_run_group_tests_name("experiments/millisampler/racks",
	    tests, test_folder_make, test_folder_remove);
}
