/* tests/results/h5_far_test.c -- HDF5 files forged at random, and read.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * HDF5 crashes on many of these, and loops in some. The program that
 * reads them is this one, so whatever ended it would end the test.
 */
#include "results/h5_far.h"

#include <unistd.h>

#include "results/file.h"
#include "results/h5.h"
#include "results/h5_table.h"
#include "results/seal.h"
#include "sim/bytes.h"
#include "tests/rigs/folder.h"
#include "tests/rigs/random_cube.h"
#include "tests/test.h"

enum { N_CUBES = 60, N_TABLES = 60, MAX_FLIPS = 12, ROWS = 200 };

/* Change some bytes, mostly of the metadata in front. */
static void forge(unsigned char *b, size_t n, uint32_t run)
{
	struct sim_rng r;
	test_rng(&r, run);
	const uint32_t flips = 1 + sim_rng_below(&r, MAX_FLIPS);
	for (uint32_t i = 0; i < flips; i++) {
		const size_t most = sim_rng_below(&r, 2) && n > 4096 ? 4096 : n;
		b[sim_rng_below(&r, (uint32_t)most)] =
		    (unsigned char)sim_rng_below(&r, 256);
	}
}

static void assert_told(int rc, const struct sim_err *e, const char *path,
    uint32_t run)
{
	if (rc < 0 && (!strstr(e->msg, path) || !strchr(e->msg, '.')))
		fail_msg("seed %llu run %u: %s",
		    (unsigned long long)test_seed(), run, e->msg);
}

static void a_forged_cube_is_read_or_refused(void **state)
{
	const char *good = test_path("good.h5"), *path = test_path("forged.h5");
	unsigned refused = 0;
	struct res_cube c;
	(void)state;
	random_cube(&c, 1);
	assert_ok(res_h5_write(&c, good, test_err()));
	res_cube_free(&c);
	for (uint32_t run = 0; run < N_CUBES; run++) {
		unsigned char *b;
		size_t n;
		struct sim_err e = {0};
		assert_ok(res_file_read(good, (void **)&b, &n, test_err()));
		forge(b, n - 16, run);
		sim_store_64(b + n - 8, sim_fnv(SIM_FNV_START, b, n - 16));
		assert_ok(res_file_write(path, b, n, test_err()));
		free(b);
		const int rc = res_h5_read(&c, path, &e);
		assert_told(rc, &e, path, run);
		refused += rc < 0;
		res_cube_free(&c);
	}
	assert_true(refused > N_CUBES / 4);
}

struct row {
	uint64_t time;
	struct sim_name name;
};
static const struct sim_column columns[] = {
    SIM_COLUMN(uint64_t, time, offsetof(struct row, time), "ns", "time", NULL),
    SIM_COLUMN(struct sim_name, name, offsetof(struct row, name), "1", "name",
	NULL),
};

static void write_table(const char *path)
{
	struct res_h5_out *f;
	struct res_h5_table_out *t;
	assert_ok(res_h5_out_open(&f, path, test_err()));
	assert_ok(res_h5_out_text(f, "text", "a text", test_err()));
	assert_ok(res_h5_out_table(f, "t", columns, 2, 64, &t, test_err()));
	for (uint64_t i = 0; i < ROWS; i++) {
		struct row r = {.time = i * i};
		snprintf(r.name.text, sizeof(r.name.text), "name %u",
		    (unsigned)i);
		assert_ok(res_h5_out_rows(t, &r, sizeof(r), 1, test_err()));
	}
	assert_ok(res_h5_out_finish(f, test_err()));
}

static int read_table(const char *path, struct sim_err *e)
{
	uint64_t time[ROWS], n;
	struct sim_name name[ROWS];
	struct res_h5_table_in *t;
	struct res_h5_in *f;
	char *text = NULL;
	int rc = res_h5_in_open(&f, path, e);
	if (rc < 0)
		return rc;
	if ((rc = res_h5_in_text(f, "text", &text, e)) == 0 &&
	    (rc = res_h5_in_table(f, "t", columns, 2, &t, &n, e)) == 0)
		rc = res_h5_in_read(t, 0, n < ROWS ? n : ROWS,
		    (void *[]){time, name}, e);
	free(text);
	res_h5_in_close(f);
	return rc < 0 ? sim_wrap(e, rc, "cannot read %s", path) : 0;
}

static void a_forged_table_is_read_or_refused(void **state)
{
	const char *good = test_path("good.h5"), *path = test_path("forged.h5");
	unsigned refused = 0;
	(void)state;
	write_table(good);
	assert_ok(read_table(good, test_err()));
	for (uint32_t run = 0; run < N_TABLES; run++) {
		unsigned char *b;
		char *temp;
		size_t n;
		int fd;
		struct sim_err e = {0};
		assert_ok(res_file_read(good, (void **)&b, &n, test_err()));
		forge(b, n - 16, N_CUBES + run);
		assert_ok(res_file_temp(&temp, &fd, path, test_err()));
		assert_int_equal(write(fd, b, n - 16), n - 16);
		assert_ok(res_seal_finish(temp, fd, path, test_err()));
		close(fd);
		free(temp);
		free(b);
		const int rc = read_table(path, &e);
		assert_told(rc, &e, path, run);
		refused += rc < 0;
	}
	assert_true(refused > N_TABLES / 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_forged_cube_is_read_or_refused),
	    cmocka_unit_test(a_forged_table_is_read_or_refused),
	};
	return cmocka_run_group_tests_name("results/h5_far", tests,
	    test_folder_make, test_folder_remove);
}
