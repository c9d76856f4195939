/* tests/sim/table_test.c -- tables from one list grow, are cut and are freed.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/table.h"

#include "tests/test.h"

struct blob {
	char text[5];
};

/*  X(type, column, units, meaning) */
#define TABLE_COLUMNS(X)                                                       \
	X(uint64_t, at_ns, "ns", "when")                                       \
	X(uint8_t, u8, "1", "8 bits")                                          \
	X(struct blob, blob, "1", "none that a file could hold")               \
	X(double, f64, "us", "real")
struct table {
	int before; /* what tables have besides */
	SIM_TABLE_ARRAYS(TABLE_COLUMNS)
	int after;
};
struct table_row {
	SIM_TABLE_FIELDS(TABLE_COLUMNS)
};
SIM_TABLE(table, table_row, TABLE_COLUMNS)

static struct table_row number(uint64_t i)
{
	return (struct table_row){.at_ns = i * 1000003 % 1009,
	    .u8 = (uint8_t)(i * 3),
	    .blob = {{(char)i, 0, 1, 2, (char)(i / 2)}},
	    .f64 = (double)i / 7};
}

static void assert_row(const struct table *t, size_t at, uint64_t i)
{
	const struct table_row got = table_at(t, at), want = number(i);
	assert_true(got.at_ns == want.at_ns);
	assert_int_equal(got.u8, want.u8);
	assert_memory_equal(&got.blob, &want.blob, sizeof(want.blob));
	assert_true(got.f64 == want.f64);
}

static int fill(struct table *t, size_t n, struct sim_err *e)
{
	int rc = 0;
	for (size_t i = t->n; rc == 0 && i < n; i++) {
		const struct table_row row = number(i);
		rc = table_add(t, &row, e);
	}
	return rc;
}

static void rows_keep_their_columns_and_the_table_its_members(void **state)
{
	(void)state;
	struct table t = {.before = 7, .after = 9};
	assert_ok(fill(&t, 1000, test_err()));
	for (size_t i = 0; i < 1000; i++)
		assert_row(&t, i, i);
	sim_table_clear(table_kind(), &t);
	assert_int_equal(t.n, 0);
	assert_int_equal(t.before, 7);
	assert_true(t.cap >= 1000 && t.u8);
	assert_ok(fill(&t, 3, test_err()));
	const uint8_t *memory = t.u8;
	table_clear(&t);
	assert_int_equal(t.n, 0);
	assert_ok(fill(&t, 1000, test_err()));
	assert_ptr_equal(t.u8, memory);
	assert_int_equal(t.before, 7);
	assert_int_equal(t.after, 9);
	table_free(&t);
	assert_null(t.f64);
	assert_int_equal(t.n + t.cap, 0);
	assert_int_equal(t.before + t.after, 0);
	table_free(&t);
}

static void a_kind_says_what_the_list_says(void **state)
{
	(void)state;
	const struct sim_table *k = table_kind();
	const enum sim_type type[] = {SIM_U64, SIM_U8, SIM_OPAQUE, SIM_F64};
	size_t i = 0;
	struct table t = {0};
	assert_ok(fill(&t, 10, test_err()));
#define X(type_, name_, unit_, doc_)                                           \
	assert_string_equal(k->column[i].name, #name_);                        \
	assert_string_equal(k->column[i].unit, unit_);                         \
	assert_string_equal(k->column[i].doc, doc_);                           \
	assert_int_equal(k->column[i].size, sizeof(type_));                    \
	assert_int_equal(k->column[i].offset,                                  \
	    offsetof(struct table_row, name_));                                \
	assert_int_equal(k->column[i].type, type[i]);                          \
	assert_ptr_equal(sim_table_at(k, &t, i, 3), t.name_ + 3);              \
	i++;
	TABLE_COLUMNS(X)
#undef X
	assert_int_equal(k->n_columns, i);
	assert_int_equal(sim_table_n(k, &t), 10);
	table_free(&t);
}

static int grow_until_it_fails(void *arg, struct sim_err *e)
{
	(void)arg;
	struct table t = {0};
	int rc = fill(&t, 20, e);
	const size_t n = t.n;
	if (rc == 0)
		rc = table_reserve(&t, 100, e);
	assert_int_equal(t.n, n);
	for (size_t i = 0; i < n; i++)
		assert_row(&t, i, i);
	if (rc < 0) /* the next rows find everything in order again */
		assert_int_equal(fill(&t, n + 3, NULL), 0);
	for (size_t i = 0; i < t.n; i++)
		assert_row(&t, i, i);
	table_free(&t);
	return rc;
}

static void without_memory_a_table_is_what_it_was(void **state)
{
	(void)state;
	test_each_alloc_fails(grow_until_it_fails, NULL);
}

static void room_that_no_memory_has_is_refused(void **state)
{
	(void)state;
	struct table t = {0};
	struct sim_err e;
	assert_ok(fill(&t, 3, test_err()));
	assert_int_equal(table_reserve(&t, SIZE_MAX, &e), SIM_ENOMEM);
	assert_int_equal(table_reserve(&t, SIZE_MAX / 4, &e), SIM_ENOMEM);
	assert_int_equal(t.n, 3);
	for (size_t i = 0; i < 3; i++)
		assert_row(&t, i, i);
	assert_ok(fill(&t, 40, test_err()));
	table_free(&t);
}

/* Room that was reserved holds the rows that others write into it. */
static void rows_may_be_written_from_outside(void **state)
{
	(void)state;
	const struct sim_table *k = table_kind();
	struct table t = {0};
	assert_ok(fill(&t, 3, test_err()));
	assert_ok(table_reserve(&t, 50, test_err()));
	const size_t cap = t.cap;
	assert_true(cap >= 53);
	uint64_t *at = sim_table_at(k, &t, 0, t.n);
	for (uint64_t i = 0; i < 50; i++)
		at[i] = i + 100;
	sim_table_added(k, &t, 50);
	assert_int_equal(t.n, 53);
	assert_int_equal(t.cap, cap);
	assert_true(t.at_ns[52] == 149);
	table_free(&t);
}

/* Times are drawn from few, in short runs, so that borders are met. */
static void the_rows_of_a_time_are_kept_in_order(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 300; run++) {
		struct table t = {0}, all = {0};
		struct sim_rng r;
		test_rng(&r, run);
		const size_t n = sim_rng_below(&r, 60);
		const size_t first = sim_rng_below(&r, (uint32_t)n + 1);
		const uint64_t from = sim_rng_below(&r, 12);
		const uint64_t to = sim_rng_below(&r, 12);
		for (size_t i = 0; i < n; i++) {
			struct table_row row = number(i);
			row.at_ns = i / 4 / 3 + sim_rng_below(&r, 3) + 3;
			assert_ok(table_add(&t, &row, test_err()));
			assert_ok(table_add(&all, &row, test_err()));
		}
		sim_table_keep(table_kind(), &t, first, from, to);
		size_t k = 0;
		for (size_t i = 0; i < n; i++) {
			if (i >= first &&
			    (all.at_ns[i] < from || all.at_ns[i] > to))
				continue;
			if (k >= t.n || t.at_ns[k] != all.at_ns[i] ||
			    t.f64[k] != all.f64[i] || t.u8[k] != all.u8[i] ||
			    memcmp(&t.blob[k], &all.blob[i], 5) != 0)
				fail_msg("seed %llu, run %u: row %zu",
				    (unsigned long long)test_seed(), run, i);
			k++;
		}
		assert_int_equal(k, t.n);
		table_free(&t);
		table_free(&all);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(rows_keep_their_columns_and_the_table_its_members),
	    cmocka_unit_test(a_kind_says_what_the_list_says),
	    cmocka_unit_test(without_memory_a_table_is_what_it_was),
	    cmocka_unit_test(room_that_no_memory_has_is_refused),
	    cmocka_unit_test(rows_may_be_written_from_outside),
	    cmocka_unit_test(the_rows_of_a_time_are_kept_in_order),
	};
	return cmocka_run_group_tests_name("sim/table", tests, NULL, NULL);
}
