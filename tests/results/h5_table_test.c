/* tests/results/h5_table_test.c -- tables that grow in a file, read by rows.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/h5_table.h"

#include <unistd.h>

#include <hdf5.h>
#include <hdf5_hl.h>

#include "results/file.h"
#include "tests/rigs/folder.h"
#include "tests/test.h"

static char path[64], other[64];

static int make_folder(void **state)
{
	if (test_folder_make(state) < 0)
		return -1;
	snprintf(path, sizeof(path), "%s/a.h5", test_folder);
	snprintf(other, sizeof(other), "%s/b.h5", test_folder);
	return 0;
}

/* One column of each type, out of order and with gaps. */
struct row {
	double f64;
	uint8_t u8;
	uint64_t u64;
	uint16_t u16;
	uint32_t u32;
};
static const char *const words[] = {"no", "yes", NULL};
static const struct sim_column columns[] = {
    SIM_COLUMN(uint8_t, u8, offsetof(struct row, u8), "1", "a word", words),
    SIM_COLUMN(uint16_t, u16, offsetof(struct row, u16), "1", "16 bits", NULL),
    SIM_COLUMN(uint32_t, u32, offsetof(struct row, u32), "1", "32 bits", NULL),
    SIM_COLUMN(uint64_t, u64, offsetof(struct row, u64), "ns", "64 bits", NULL),
    SIM_COLUMN(double, f64, offsetof(struct row, f64), "us", "real", NULL),
};
enum { N_COLUMNS = 5, CHUNK = 64 };

static struct row number(uint64_t i)
{
	return (struct row){.f64 = i % 7 ? (double)i / 3 : -0.0,
	    .u8 = (uint8_t)(255 - i),
	    .u64 = UINT64_MAX - i * i,
	    .u16 = (uint16_t)(65535 - i),
	    .u32 = UINT32_MAX - (uint32_t)i};
}

static int write_rows(const char *to, size_t n, size_t batch, struct sim_err *e)
{
	struct res_h5_out *f;
	struct res_h5_table_out *t, *empty;
	const uint64_t three[] = {1, 2, UINT64_MAX};
	int rc = res_h5_out_open(&f, to, e);
	if (rc < 0)
		return rc;
	if ((rc = res_h5_out_text(f, "text", "caf\xc3\xa9", e)) == 0 &&
	    (rc = res_h5_out_counts(f, "three", 3, three, e)) == 0 &&
	    (rc = res_h5_out_table(f, "t", columns, N_COLUMNS, CHUNK, &t, e)) ==
		0)
		rc = res_h5_out_table(f, "empty", columns, 1, CHUNK, &empty, e);
	for (size_t i = 0; rc == 0 && i < n; i += batch) {
		struct row row[300];
		for (size_t k = 0; k < batch; k++)
			row[k] = number(i + k);
		rc = res_h5_out_rows(t, row, sizeof(row[0]),
		    n - i < batch ? n - i : batch, e);
	}
	if (rc == 0)
		return res_h5_out_finish(f, e);
	res_h5_out_discard(f);
	return rc;
}

/* The same as structs, larger ones than the columns need. */
static void assert_structs(struct res_h5_table_in *t, uint64_t first, size_t n)
{
	static struct {
		struct row row;
		int other;
	} is[1000];
	memset(is, 0x5a, sizeof(is));
	assert_ok(res_h5_in_rows(t, first, n, is, sizeof(is[0]), test_err()));
	for (size_t i = 0; i < n; i++) {
		const struct row want = number(first + i);
		assert_memory_equal(&is[i].row.f64, &want.f64, sizeof(double));
		assert_int_equal(is[i].row.u8, want.u8);
		assert_true(is[i].row.u64 == want.u64);
		assert_int_equal(is[i].row.u16, want.u16);
		assert_int_equal(is[i].row.u32, want.u32);
		assert_int_equal(is[i].other, 0x5a5a5a5a);
	}
	assert_int_equal(is[n].row.u8, 0x5a);
}

static void assert_rows(struct res_h5_table_in *t, uint64_t first, size_t n)
{
	static uint8_t u8[1000];
	static uint16_t u16[1000];
	static uint32_t u32[1000];
	static uint64_t u64[1000];
	static double f64[1000];
	void *const to[] = {u8, u16, u32, u64, f64};
	assert_ok(res_h5_in_read(t, first, n, to, test_err()));
	for (size_t i = 0; i < n; i++) {
		const struct row want = number(first + i);
		assert_int_equal(u8[i], want.u8);
		assert_int_equal(u16[i], want.u16);
		assert_int_equal(u32[i], want.u32);
		assert_true(u64[i] == want.u64);
		assert_memory_equal(&f64[i], &want.f64, sizeof(double));
	}
	assert_structs(t, first, n);
}

static void rows_of_every_type_are_read_back_in_any_range(void **state)
{
	(void)state;
	static const size_t sizes[] = {0, 1, CHUNK - 1, CHUNK, CHUNK + 1,
	    3 * CHUNK, 700};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct res_h5_in *f;
		struct res_h5_table_in *t;
		struct sim_rng r;
		uint64_t n;
		test_rng(&r, (uint32_t)i);
		assert_ok(write_rows(path, sizes[i], 50, test_err()));
		assert_ok(res_h5_in_open(&f, path, test_err()));
		assert_ok(res_h5_in_table(f, "t", columns, N_COLUMNS, &t, &n,
		    test_err()));
		assert_int_equal(n, sizes[i]);
		assert_rows(t, 0, n);
		for (int k = 0; k < 20; k++) {
			const uint32_t first =
			    sim_rng_below(&r, (uint32_t)n + 1);
			assert_rows(t, first,
			    sim_rng_below(&r, (uint32_t)n - first + 1));
		}
		res_h5_in_close(f);
	}
}

static void batches_leave_no_trace(void **state)
{
	(void)state;
	static const size_t batches[] = {1, 7, CHUNK, 100, 300};
	assert_ok(write_rows(path, 300, 300, test_err()));
	for (size_t i = 0; i < 5; i++) {
		assert_ok(write_rows(other, 300, batches[i], test_err()));
		test_assert_same_bytes(path, other);
	}
}

/* --- a table made from a list ----------------------------------------------*/

/*  X(type, column, units, meaning) */
#define DUMMY_COLUMNS(X)                                                       \
	X(uint8_t, u8, "1", "8 bits")                                          \
	X(uint16_t, u16, "bytes", "16 bits")                                   \
	X(uint32_t, u32, "packets", "32 bits")                                 \
	X(uint64_t, u64, "ns", "64 bits")                                      \
	X(int64_t, i64, "ns", "64 bits, with a sign")                          \
	X(double, f64, "us", "real")
struct dummy {
	SIM_TABLE_ARRAYS(DUMMY_COLUMNS)
};
struct dummy_row {
	SIM_TABLE_FIELDS(DUMMY_COLUMNS)
};
SIM_TABLE(dummy, dummy_row, DUMMY_COLUMNS)

static struct dummy_row dummy_number(uint64_t i)
{
	return (struct dummy_row){.u8 = (uint8_t)i,
	    .u16 = (uint16_t)(i * 7),
	    .u32 = (uint32_t)(i * 70001),
	    .u64 = UINT64_MAX - i,
	    .i64 = INT64_MIN + (int64_t)i,
	    .f64 = (double)i / 3};
}

static void assert_dummy(const struct dummy *d, size_t at, uint64_t i)
{
	const struct dummy_row got = dummy_at(d, at), want = dummy_number(i);
#define X(type, name, unit, doc) assert_true(got.name == want.name);
	DUMMY_COLUMNS(X)
#undef X
}

static int write_dummy(const char *to, const struct dummy *d, struct sim_err *e)
{
	const struct sim_table *k = dummy_kind();
	struct res_h5_out *f;
	struct res_h5_table_out *t;
	int rc = res_h5_out_open(&f, to, e);
	if (rc < 0)
		return rc;
	if ((rc = res_h5_out_table(f, "dummy", k->column, k->n_columns, CHUNK,
		 &t, e)) == 0 &&
	    (rc = res_h5_out_append(t, k, d, e)) == 0 &&
	    (rc = res_h5_out_append(t, k, d, e)) == 0)
		return res_h5_out_finish(f, e);
	res_h5_out_discard(f);
	return rc;
}

/* Twice 150 rows; read are 290 of them, behind one that was there. */
static int write_and_read_dummy(void *arg, struct sim_err *e)
{
	(void)arg;
	const struct sim_table *k = dummy_kind();
	const struct dummy_row before = dummy_number(999);
	struct dummy d = {0}, got = {0};
	struct res_h5_in *f = NULL;
	struct res_h5_table_in *t;
	uint64_t n;
	int rc = dummy_add(&got, &before, e);
	for (uint64_t i = 0; rc == 0 && i < 150; i++) {
		const struct dummy_row row = dummy_number(i);
		rc = dummy_add(&d, &row, e);
	}
	if (rc == 0 && (rc = write_dummy(path, &d, e)) == 0 &&
	    (rc = res_h5_in_open(&f, path, e)) == 0 &&
	    (rc = res_h5_in_table(f, "dummy", k->column, k->n_columns, &t, &n,
		 e)) == 0) {
		assert_int_equal(n, 300);
		rc = res_h5_in_append(t, 7, 290, k, &got, e);
		assert_int_equal(got.n, rc == 0 ? 291 : 1);
		assert_dummy(&got, 0, 999);
		for (size_t i = 1; i < got.n; i++)
			assert_dummy(&got, i, (i + 6) % 150);
	}
	res_h5_in_close(f);
	dummy_free(&d);
	dummy_free(&got);
	return rc;
}

static int write_and_read_structs(void *arg, struct sim_err *e)
{
	(void)arg;
	struct row row[20];
	struct res_h5_in *f = NULL;
	struct res_h5_table_in *t;
	uint64_t n;
	int rc = write_rows(path, 20, 20, e);
	if (rc == 0 && (rc = res_h5_in_open(&f, path, e)) == 0 &&
	    (rc = res_h5_in_table(f, "t", columns, N_COLUMNS, &t, &n, e)) == 0)
		rc = res_h5_in_rows(t, 0, n, row, sizeof(row[0]), e);
	res_h5_in_close(f);
	return rc;
}

static void structs_are_read_or_missing_memory_is_told(void **state)
{
	(void)state;
	test_each_alloc_fails(write_and_read_structs, NULL);
}

static void a_table_of_one_list_is_written_and_read_back(void **state)
{
	(void)state;
	assert_ok(write_and_read_dummy(NULL, test_err()));
	test_each_alloc_fails(write_and_read_dummy, NULL);
}

static void assert_attr(hid_t file, const char *set, const char *name,
    const char *want)
{
	hid_t attr = H5Aopen_by_name(file, set, name, H5P_DEFAULT, H5P_DEFAULT);
	hid_t type = H5Aget_type(attr);
	char *text;
	assert_true(H5Aread(attr, type, &text) >= 0);
	assert_string_equal(text, want);
	H5free_memory(text);
	H5Tclose(type);
	H5Aclose(attr);
}

/* The type that HDF5 has for column NAME in memory. */
static hid_t type_of(hid_t file, const char *name)
{
	hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
	hid_t type = H5Dget_type(set);
	hid_t native = H5Tget_native_type(type, H5T_DIR_ASCEND);
	H5Tclose(type);
	H5Dclose(set);
	return native;
}

static void a_list_gives_units_meanings_and_types(void **state)
{
	(void)state;
	const hid_t want[] = {H5T_NATIVE_UINT8, H5T_NATIVE_UINT16,
	    H5T_NATIVE_UINT32, H5T_NATIVE_UINT64, H5T_NATIVE_INT64,
	    H5T_NATIVE_DOUBLE};
	const struct dummy none = {0};
	size_t i = 0;
	assert_ok(write_dummy(path, &none, test_err()));
	hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
#define X(type, name, unit, doc)                                               \
	assert_attr(file, "dummy/" #name, "units", unit);                      \
	assert_attr(file, "dummy/" #name, "long_name", doc);                   \
	hid_t name = type_of(file, "dummy/" #name);                            \
	assert_true(H5Tequal(name, want[i++]) > 0);                            \
	H5Tclose(name);
	DUMMY_COLUMNS(X)
#undef X
	H5Fclose(file);
}

static void arrays_and_rows_are_the_same_table(void **state)
{
	(void)state;
	const struct dummy_row row[] = {{1, 2, 3, 4, -5, 0.5},
	    {6, 7, 8, 9, INT64_MIN, NAN}, {0, 0, 0, UINT64_MAX, 0, -0.0}};
	const struct sim_table *k = dummy_kind();
	struct dummy d = {0};
	for (size_t i = 0; i < 3; i++)
		assert_ok(dummy_add(&d, &row[i], test_err()));
	for (int i = 0; i < 2; i++) {
		struct res_h5_out *f;
		struct res_h5_table_out *t;
		assert_ok(res_h5_out_open(&f, i ? other : path, test_err()));
		assert_ok(res_h5_out_table(f, "t", k->column, k->n_columns, 2,
		    &t, test_err()));
		if (i)
			assert_ok(res_h5_out_rows(t, row, sizeof(row[0]), 3,
			    test_err()));
		else
			assert_ok(res_h5_out_append(t, k, &d, test_err()));
		assert_ok(res_h5_out_finish(f, test_err()));
	}
	test_assert_same_bytes(path, other);
	dummy_free(&d);
}

static void what_is_not_there_is_named(void **state)
{
	(void)state;
	struct sim_column odd = columns[1];
	struct res_h5_in *f;
	struct res_h5_table_in *t;
	struct sim_err e;
	uint64_t n, three[4];
	char *text;
	assert_ok(write_rows(path, 10, 5, test_err()));
	assert_ok(res_h5_in_open(&f, path, test_err()));
	assert_ok(res_h5_in_text(f, "text", &text, test_err()));
	assert_string_equal(text, "caf\xc3\xa9");
	free(text);
	assert_ok(res_h5_in_counts(f, "three", 3, three, test_err()));
	assert_true(three[2] == UINT64_MAX);
	assert_int_equal(res_h5_in_counts(f, "three", 4, three, &e),
	    SIM_EPARSE);
	assert_int_equal(res_h5_in_counts(f, "text", 1, three, &e), SIM_EPARSE);
	assert_int_equal(res_h5_in_text(f, "three", &text, &e), SIM_EPARSE);
	assert_int_equal(res_h5_in_table(f, "u", columns, 1, &t, &n, &e),
	    SIM_EPARSE);
	assert_non_null(strstr(e.msg, "table u is missing"));
	odd.name = "u64";
	assert_int_equal(res_h5_in_table(f, "t", &odd, 1, &t, &n, &e),
	    SIM_EPARSE);
	assert_non_null(strstr(e.msg, "column t/u64 is of another type"));
	odd.name = "u128";
	assert_int_equal(res_h5_in_table(f, "t", &odd, 1, &t, &n, &e),
	    SIM_EPARSE);
	assert_non_null(strstr(e.msg, "column t/u128 is missing"));
	assert_true(res_h5_in_bytes(f) > 1000);
	res_h5_in_close(f);
	res_h5_in_close(NULL);
}

static int write_and_read(void *arg, struct sim_err *e)
{
	(void)arg;
	struct res_h5_in *f;
	struct res_h5_table_in *t;
	uint64_t n;
	char *text = NULL;
	int rc = write_rows(path, 100, 50, e);
	if (rc < 0 || (rc = res_h5_in_open(&f, path, e)) < 0)
		return rc;
	if ((rc = res_h5_in_text(f, "text", &text, e)) == 0)
		rc = res_h5_in_table(f, "t", columns, N_COLUMNS, &t, &n, e);
	free(text);
	res_h5_in_close(f);
	return rc;
}

static void each_failed_allocation_is_reported(void **state)
{
	(void)state;
	test_each_alloc_fails(write_and_read, NULL);
}

/* More than HDF5 is handed at once, of every length, and chunks that end within
 * that. */
static void names_are_read_back_and_long_ones_cut(void **state)
{
	struct named {
		struct sim_name name;
	};
	static const struct sim_column column[] = {SIM_COLUMN(struct sim_name,
	    name, offsetof(struct named, name), "1", "a name", NULL)};
	enum { N = 700 };
	struct named *row = calloc(N, sizeof(row[0]));
	struct sim_name *got = calloc(N, sizeof(got[0]));
	void *const to[] = {got};
	struct res_h5_out *f;
	struct res_h5_table_out *t;
	struct res_h5_in *in;
	struct res_h5_table_in *ti;
	uint64_t n;
	(void)state;
	assert_true(row && got);
	for (size_t i = 0; i < N; i++) {
		memset(row[i].name.text, 'a' + (int)(i % 26), i % 64);
		if (i % 64 > 2)
			memcpy(row[i].name.text, "\xc3\xa9", 2);
	}
	assert_ok(res_h5_out_open(&f, path, test_err()));
	assert_ok(res_h5_out_table(f, "t", column, 1, 300, &t, test_err()));
	assert_ok(res_h5_out_rows(t, row, sizeof(row[0]), N, test_err()));
	assert_ok(res_h5_out_finish(f, test_err()));
	assert_ok(res_h5_in_open(&in, path, test_err()));
	assert_ok(res_h5_in_table(in, "t", column, 1, &ti, &n, test_err()));
	assert_int_equal(n, N);
	assert_ok(res_h5_in_read(ti, 0, N, to, test_err()));
	for (size_t i = 0; i < N; i++)
		assert_string_equal(got[i].text, row[i].name.text);
	assert_ok(res_h5_in_read(ti, 299, 2, to, test_err()));
	assert_string_equal(got[1].text, row[300].name.text);
	res_h5_in_close(in);
	free(row);
	free(got);
}

static void a_column_that_may_be_missing_is_zeros(void **state)
{
	struct sim_column two[2] = {columns[2], columns[1]};
	uint32_t u32[10];
	uint16_t none[10];
	void *const to[] = {u32, none};
	struct res_h5_in *f;
	struct res_h5_table_in *t;
	struct sim_err e;
	uint64_t n;
	(void)state;
	two[1].name = "u128";
	assert_ok(write_rows(path, 10, 5, test_err()));
	assert_ok(res_h5_in_open(&f, path, test_err()));
	assert_int_equal(res_h5_in_table(f, "t", two, 2, &t, &n, &e),
	    SIM_EPARSE);
	two[1].optional = 1;
	assert_ok(res_h5_in_table(f, "t", two, 2, &t, &n, test_err()));
	assert_true(n == 10 && res_h5_in_has_column(t, 0) &&
	    !res_h5_in_has_column(t, 1));
	memset(none, 1, sizeof(none));
	assert_ok(res_h5_in_read(t, 3, 7, to, test_err()));
	assert_int_equal(u32[0], number(3).u32);
	for (int i = 0; i < 7; i++)
		assert_int_equal(none[i], 0);
	assert_int_equal(res_h5_in_has(f, "t", test_err()), 1);
	assert_int_equal(res_h5_in_has(f, "u", test_err()), 0);
	assert_int_equal(res_h5_in_has_attr(f, "three", test_err()), 1);
	assert_int_equal(res_h5_in_has_attr(f, "four", test_err()), 0);
	res_h5_in_close(f);
}

/* HDF5 itself would take a file whose seal is cut off, or wrong. */
static void a_file_without_a_seal_is_read_if_that_is_asked(void **state)
{
	struct res_h5_in *f;
	struct sim_err e;
	void *bytes;
	size_t n;
	(void)state;
	assert_ok(write_rows(path, 10, 5, test_err()));
	assert_ok(res_h5_in_open_any(&f, path, test_err()));
	res_h5_in_close(f);
	assert_ok(res_file_read(path, &bytes, &n, test_err()));
	assert_ok(res_file_write(path, bytes, n - 16, test_err()));
	assert_int_equal(res_h5_in_open(&f, path, &e), SIM_EPARSE);
	assert_ok(res_h5_in_open_any(&f, path, test_err()));
	res_h5_in_close(f);
	((char *)bytes)[n - 1] ^= 1;
	assert_ok(res_file_write(path, bytes, n, test_err()));
	assert_int_equal(res_h5_in_open_any(&f, path, &e), SIM_EPARSE);
	free(bytes);
}

/* So readers of netCDF-4 see columns of one table, and not as many vectors that
 * happen to be as long. */
static void rows_are_the_dimension_of_each_column(void **state)
{
	enum { N = 130 };
	const char *const tables[] = {"t", "empty"};
	(void)state;
	assert_ok(write_rows(path, N, 100, test_err()));
	const hid_t f = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
	for (size_t k = 0; k < 2; k++) {
		const hid_t t = H5Gopen2(f, tables[k], H5P_DEFAULT);
		const hid_t row = H5Dopen2(t, "row", H5P_DEFAULT);
		char name[96], want[96];
		hsize_t n;
		const hid_t space = H5Dget_space(row);
		assert_int_equal(H5Sget_simple_extent_dims(space, &n, NULL), 1);
		assert_int_equal(n, k ? 0 : N);
		assert_true(H5DSis_scale(row) > 0);
		snprintf(want, sizeof(want),
		    "This is a netCDF dimension but not a netCDF "
		    "variable.%10d",
		    k ? 0 : N);
		assert_true(H5DSget_scale_name(row, name, sizeof(name)) > 0);
		assert_string_equal(name, want);
		for (size_t i = 0; i < (k ? 1 : N_COLUMNS); i++) {
			const hid_t set =
			    H5Dopen2(t, columns[i].name, H5P_DEFAULT);
			assert_true(set >= 0);
			assert_true(H5DSis_attached(set, row, 0) > 0);
			assert_int_equal(H5DSget_num_scales(set, 0), 1);
			H5Dclose(set);
		}
		H5Sclose(space);
		H5Dclose(row);
		H5Gclose(t);
	}
	H5Fclose(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(rows_of_every_type_are_read_back_in_any_range),
	    cmocka_unit_test(batches_leave_no_trace),
	    cmocka_unit_test(structs_are_read_or_missing_memory_is_told),
	    cmocka_unit_test(a_table_of_one_list_is_written_and_read_back),
	    cmocka_unit_test(a_list_gives_units_meanings_and_types),
	    cmocka_unit_test(arrays_and_rows_are_the_same_table),
	    cmocka_unit_test(what_is_not_there_is_named),
	    cmocka_unit_test(each_failed_allocation_is_reported),
	    cmocka_unit_test(names_are_read_back_and_long_ones_cut),
	    cmocka_unit_test(a_column_that_may_be_missing_is_zeros),
	    cmocka_unit_test(a_file_without_a_seal_is_read_if_that_is_asked),
	    cmocka_unit_test(rows_are_the_dimension_of_each_column),
	};
	return cmocka_run_group_tests_name("results/h5_table", tests,
	    make_folder, test_folder_remove);
}
