/* tests/results/columns_test.c -- a table of numbers by column.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/columns.h"

#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/rigs/folder.h"
#include "tests/test.h"

static int same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

/* Any puts, against a plain array of doubles. */
static void it_holds_what_was_put_last(void **state)
{
	enum { ROWS = 7, COLUMNS = 5, PUTS = 200, RUNS = 50 };
	static const double some[] = {0, -0.0, 1, -1, 0.1, 5e-324, INFINITY,
	    -INFINITY, NAN, 1.7976931348623157e308};
	(void)state;
	for (uint32_t run = 0; run < RUNS; run++) {
		double want[COLUMNS][ROWS], got[ROWS];
		struct res_columns t;
		struct sim_rng r;
		test_rng(&r, run);
		assert_ok(res_columns_open(&t, ROWS, COLUMNS, test_err()));
		for (size_t i = 0; i < COLUMNS * ROWS; i++)
			want[i / ROWS][i % ROWS] = NAN;
		for (size_t i = 0; i < sim_rng_below(&r, PUTS); i++) {
			const size_t row = sim_rng_below(&r, ROWS);
			const size_t column = sim_rng_below(&r, COLUMNS);
			const double x = some[sim_rng_below(&r, 10)];
			want[column][row] = x;
			res_columns_put(&t, row, column, x);
		}
		for (size_t c = 0; c < COLUMNS; c++) {
			int has = 0;
			res_columns_read(&t, c, got);
			for (size_t i = 0; i < ROWS; i++) {
				has |= !isnan(want[c][i]);
				if (!same(got[i], want[c][i]) ||
				    !same(res_columns_get(&t, i, c),
					want[c][i]) ||
				    signbit(got[i]) != signbit(want[c][i]))
					fail_msg("run %u: %zu, %zu is %.17g",
					    run, i, c, got[i]);
			}
			assert_int_equal(res_columns_has(&t, c), has);
		}
		res_columns_close(&t);
	}
}

/* Over what was there before, or nothing; NaNs in front, behind, or everywhere. */
static void a_column_written_at_once_is_one_put_by_rows(void **state)
{
	enum { ROWS = 20000, COLUMNS = 2, RUNS = 24 };
	double *from = calloc(ROWS, sizeof(*from));
	(void)state;
	assert_non_null(from);
	for (uint32_t run = 0; run < RUNS; run++) {
		struct res_columns a, b;
		struct sim_rng r;
		test_rng(&r, run);
		assert_ok(res_columns_open(&a, ROWS, COLUMNS, test_err()));
		assert_ok(res_columns_open(&b, ROWS, COLUMNS, test_err()));
		for (uint32_t time = 0; time < 2; time++) {
			const uint32_t first = sim_rng_below(&r, 3) * 10000;
			const uint32_t n = sim_rng_below(&r, ROWS + 1);
			for (uint32_t i = 0; i < ROWS; i++)
				from[i] = i < first || i - first >= n ? NAN : i;
			res_columns_write(&a, 1, from);
			for (size_t i = 0; i < ROWS; i++)
				res_columns_put(&b, i, 1, from[i]);
			assert_memory_equal(a.bits, b.bits,
			    sizeof(a.bits[0]) * ROWS * COLUMNS);
			assert_memory_equal(a.has, b.has, COLUMNS);
		}
		res_columns_close(&a);
		res_columns_close(&b);
	}
	free(from);
}

static size_t resident_bytes(size_t *mapped)
{
	size_t all, resident = 0;
	FILE *f = fopen("/proc/self/statm", "r");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%zu %zu", &all, &resident), 2);
	fclose(f);
	if (mapped)
		*mapped = all * (size_t)sysconf(_SC_PAGESIZE);
	return resident * (size_t)sysconf(_SC_PAGESIZE);
}

/* Three times what may be in memory, of which a third has numbers. */
enum { MANY = 1000000, WIDE = 24 };
#ifdef __SANITIZE_ADDRESS__
enum { SHADOW = MANY * WIDE };
#else
enum { SHADOW = 0 };
#endif

static void a_column_without_numbers_takes_no_memory(void **state)
{
	struct res_columns t;
	(void)state;
	const size_t before = resident_bytes(NULL);
	assert_ok(res_columns_open(&t, MANY, WIDE, test_err()));
	for (size_t i = 0; i < MANY; i++)
		for (size_t c = 0; c < WIDE; c++)
			res_columns_put(&t, i, c, c == 3 ? (double)i : NAN);
	assert_true(resident_bytes(NULL) < before + 12000000);
	assert_true(res_columns_get(&t, MANY - 1, 3) == MANY - 1);
	res_columns_close(&t);
}

/* Malloc() clears what it hands out a second time, and maps less and less: the
 * first piece tells it to keep pieces of that size, and the last one, that the
 * second stays where it is. */
static void nor_does_one_where_another_was(void **state)
{
	enum { BYTES = MANY * 20 };
	struct res_columns t;
	void *volatile piece = malloc(BYTES);
	(void)state;
	free(piece);
	piece = malloc(BYTES);
	void *volatile last = malloc(1);
	free(piece);
	const size_t before = resident_bytes(NULL);
	assert_ok(res_columns_open(&t, MANY / 10, WIDE, test_err()));
	res_columns_put(&t, 1, 1, 1);
	assert_true(resident_bytes(NULL) < before + 1000000);
	assert_true(isnan(res_columns_get(&t, 2, 1)));
	res_columns_close(&t);
	free(last);
}

static void what_is_large_is_not_in_memory(void **state)
{
	struct res_columns t;
	(void)state;
	double *column = calloc(MANY, sizeof(*column));
	assert_non_null(column);
	assert_ok(res_columns_open(&t, MANY, WIDE, test_err()));
	res_columns_put(&t, 1, 1, 1);
	assert_ok(res_columns_spill(&t, test_path("x.h5"), test_err()));
	assert_true(t.in_file);
	/* Of what was there before there is nothing. */
	assert_false(res_columns_has(&t, 1));
	const size_t before = resident_bytes(NULL);
	size_t most = 0;
	for (size_t i = 0; i < MANY; i++) {
		for (size_t c = 0; c < WIDE; c++)
			res_columns_put(&t, i, c, (double)(i * c));
		if (i % 1000 == 0 && resident_bytes(NULL) > most)
			most = resident_bytes(NULL);
	}
	for (size_t c = 0; c < WIDE; c++) {
		res_columns_read(&t, c, column);
		for (size_t i = 0; i < MANY; i++)
			if (column[i] != (double)(i * c))
				fail_msg("%zu, %zu is %.17g", i, c, column[i]);
		if (resident_bytes(NULL) > most)
			most = resident_bytes(NULL);
	}
	/* The column that it is read into, a page a column, what lies around,
	 * and an eighth of all where a sanitizer keeps that. */
	const size_t bound = before + RES_COLUMNS_RESIDENT + 16000000 + SHADOW;
	if (most >= bound)
		fail_msg("%zu bytes are resident, %zu may be, %zu were", most,
		    bound, before);
	res_columns_close(&t);
	free(column);
}

static void its_file_has_no_name_and_what_is_small_has_none(void **state)
{
	struct res_columns t;
	unsigned n = 0;
	(void)state;
	assert_ok(res_columns_open(&t, MANY, WIDE, test_err()));
	assert_ok(res_columns_spill(&t, test_path("x.h5"), test_err()));
	DIR *d = opendir(test_folder);
	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	assert_int_equal(n, 2); /* . and .. */
	res_columns_close(&t);
	assert_ok(res_columns_open(&t, 10, 10, test_err()));
	assert_ok(res_columns_spill(&t, "no such folder/x.h5", test_err()));
	assert_false(t.in_file);
	res_columns_close(&t);
}

static void what_can_not_be_is_told(void **state)
{
	struct res_columns t;
	struct sim_err e;
	(void)state;
	assert_int_equal(res_columns_open(&t, SIZE_MAX / 8, 9, &e), SIM_ELIMIT);
	assert_null(t.bits);
	assert_ok(res_columns_open(&t, MANY, WIDE, test_err()));
	assert_int_equal(res_columns_spill(&t, "no such folder/x.h5", &e),
	    SIM_EIO);
	assert_non_null(strstr(e.msg, "no such folder/x.h5"));
	/* It stays what it was. */
	res_columns_put(&t, MANY - 1, WIDE - 1, 2);
	assert_true(res_columns_get(&t, MANY - 1, WIDE - 1) == 2);
	struct rlimit was;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	const struct rlimit small = {1 << 20, was.rlim_max};
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(res_columns_spill(&t, test_path("x.h5"), &e), SIM_EIO);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	assert_non_null(strstr(e.msg, "scratch file of 192 MB beside"));
	assert_non_null(strstr(e.msg, "File too large"));
	res_columns_close(&t);
}

/* With room for half of it besides what there is. */
static void a_file_that_cannot_be_mapped_is_told(void **state)
{
	struct res_columns t;
	struct rlimit was;
	struct sim_err e;
	size_t mapped;
	(void)state;
	assert_ok(res_columns_open(&t, MANY, WIDE, test_err()));
	res_columns_put(&t, MANY - 1, WIDE - 1, 2);
	resident_bytes(&mapped);
	assert_int_equal(getrlimit(RLIMIT_AS, &was), 0);
	const struct rlimit small = {mapped + MANY * WIDE * 8 / 2,
	    was.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_AS, &small), 0);
	const int rc = res_columns_spill(&t, test_path("x.h5"), &e);
	assert_int_equal(setrlimit(RLIMIT_AS, &was), 0);
	assert_int_equal(rc, SIM_ENOMEM);
	assert_non_null(strstr(e.msg, "cannot map a scratch file of 192 MB: "));
	/* It stays what it was. */
	assert_false(t.in_file);
	assert_true(res_columns_get(&t, MANY - 1, WIDE - 1) == 2);
	res_columns_close(&t);
}

static int open_close(void *arg, struct sim_err *e)
{
	struct res_columns t;
	(void)arg;
	const int rc = res_columns_open(&t, 5, 5, e);
	res_columns_close(&t);
	return rc;
}

static void each_failed_allocation_is_reported(void **state)
{
	(void)state;
	test_each_alloc_fails(open_close, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(it_holds_what_was_put_last),
	    cmocka_unit_test(a_column_written_at_once_is_one_put_by_rows),
	    cmocka_unit_test(a_column_without_numbers_takes_no_memory),
	    cmocka_unit_test(nor_does_one_where_another_was),
	    cmocka_unit_test(what_is_large_is_not_in_memory),
	    cmocka_unit_test(its_file_has_no_name_and_what_is_small_has_none),
	    cmocka_unit_test(what_can_not_be_is_told),
	    cmocka_unit_test(a_file_that_cannot_be_mapped_is_told),
	    cmocka_unit_test(each_failed_allocation_is_reported),
	};
	return cmocka_run_group_tests(tests, test_folder_make,
	    test_folder_remove);
}
