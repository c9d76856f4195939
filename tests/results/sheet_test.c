/* tests/results/sheet_test.c -- a sheet is the table, cell by cell.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/sheet.h"

#include <inttypes.h>

#include "results/table.h"
#include "sim/text.h"
#include "tests/rigs/random_cube.h"
#include "tests/test.h"

/* The names and cells, put together again. */
static char *join(const struct res_sheet *s)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);
	for (size_t row = 0; row <= s->n_rows; row++)
		for (size_t i = 0; i < s->n_columns; i++)
			fprintf(out, "%s%c",
			    row ? s->cell[(row - 1) * s->n_columns + i]
				: s->name[i],
			    i + 1 < s->n_columns ? '\t' : '\n');
	assert_int_equal(fclose(out), 0);
	return text;
}

static void a_sheet_is_the_table(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 100; run++) {
		struct res_cube c;
		struct res_sheet s;
		char *want = NULL;
		size_t n;
		random_cube(&c, run);
		FILE *out = open_memstream(&want, &n);
		assert_ok(res_table_write(&c, out, test_err()));
		assert_int_equal(fclose(out), 0);
		assert_ok(res_sheet_read(&s, &c, test_err()));
		char *got = join(&s);
		if (strcmp(got, want) != 0)
			fail_msg("seed %" PRIu64 ", run %u: another table",
			    test_seed(), run);
		free(got);
		free(want);
		res_sheet_free(&s);
		res_cube_free(&c);
	}
}

static void columns_are_found_by_name(void **state)
{
	(void)state;
	struct res_cube c;
	struct res_sheet s;
	random_cube(&c, 3);
	assert_ok(res_sheet_read(&s, &c, test_err()));
	assert_int_equal(s.n_rows, c.n_points);
	for (size_t i = 0; i < s.n_columns; i++) {
		const char *mark = strrchr(s.name[i], ':');
		char owner[64];
		snprintf(owner, sizeof(owner), "%.*s",
		    mark ? (int)(mark - s.name[i]) : 0, s.name[i]);
		assert_int_equal(res_sheet_find(&s, mark ? owner : NULL,
				     mark ? mark + 1 : s.name[i], ""),
		    i);
	}
	/* A beginning or an end of a name is none. */
	assert_int_equal(res_sheet_find(&s, NULL, "n_flow", ""), s.n_columns);
	assert_int_equal(res_sheet_find(&s, NULL, "n_flows", "_lox"),
	    s.n_columns);
	assert_int_equal(res_sheet_find(&s, "vot", "recall", ""), s.n_columns);
	const size_t at = res_sheet_find(&s, NULL, "n_fl", "ows");
	assert_near(res_sheet_number(&s, 0, at), strtod(s.cell[at], NULL), 0);
	assert_true(isnan(res_sheet_number(&s, 0, s.n_columns)));
	assert_true(res_sheet_has(&s, at));
	assert_false(res_sheet_has(&s, s.n_columns));
	res_sheet_free(&s);
	res_cube_free(&c);
}

static int read_one(void *arg, struct sim_err *e)
{
	struct res_sheet s;
	const int rc = res_sheet_read(&s, arg, e);
	res_sheet_free(&s);
	return rc;
}

static void without_memory_nothing_leaks(void **state)
{
	(void)state;
	struct res_cube c;
	random_cube(&c, 3);
	test_each_alloc_fails(read_one, &c);
	res_cube_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_sheet_is_the_table),
	    cmocka_unit_test(columns_are_found_by_name),
	    cmocka_unit_test(without_memory_nothing_leaks),
	};
	return cmocka_run_group_tests_name("results/sheet", tests, NULL, NULL);
}
