/* tests/sim/late_test.c -- libraries that are loaded when they are first used.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/late.h"

#include "tests/test.h"

struct table {
	double (*j0)(double x);
	int *signgam;
	double (*j1)(double x);
};

static const char *const late_test_files[] = {"libm.so.6", NULL};

static void what_is_listed_is_found_and_works(void **state)
{
	(void)state;
	static const char *const symbols[] = {"j0", "signgam", "j1", NULL};
	struct table t = {0};
	const struct sim_late l = {"m", late_test_files, symbols, &t,
	    sizeof(t)};
	assert_ok(sim_late_load(&l, test_err()));
	assert_near(t.j0(0), 1, 0);
	assert_near(t.j1(0), 0, 0);
	assert_non_null(t.signgam);
	/* Once more changes nothing. */
	const struct table before = t;
	assert_ok(sim_late_load(&l, test_err()));
	assert_memory_equal(&before, &t, sizeof(t));
}

static void what_is_not_there_is_said(void **state)
{
	(void)state;
	static const char *const symbols[] = {"j0", "no_such_function", NULL};
	static const char *const none[] = {"libnone-such.so.0", NULL};
	void *table[2] = {NULL, NULL};
	struct sim_err e;
	struct sim_late l = {"m", late_test_files, symbols, table,
	    sizeof(table)};
	assert_int_equal(sim_late_load(&l, &e), SIM_EDEP);
	assert_string_equal(e.msg,
	    "library m (libm.so.6) has no no_such_function.");
	/* It is looked for again, and not taken for loaded. */
	assert_int_equal(sim_late_load(&l, &e), SIM_EDEP);
	l.name = "none";
	l.file = none;
	assert_int_equal(sim_late_load(&l, &e), SIM_EDEP);
	assert_non_null(
	    strstr(e.msg, "library none can't be loaded: libnone-such.so.0: "));
}

/* A library that no program of ours is linked with, behind another and before
 * it: what is in one of the files is found. */
static void each_file_of_a_library_is_looked_in(void **state)
{
	static const char *const files[][3] = {{"libm.so.6",
						   "libthread_db.so.1", NULL},
	    {"libthread_db.so.1", "libm.so.6", NULL}};
	static const char *const symbols[] = {"td_init", "j0", NULL};
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		void *table[2] = {NULL, NULL};
		const struct sim_late l = {"two", files[i], symbols, table,
		    sizeof(table)};
		assert_ok(sim_late_load(&l, test_err()));
		assert_non_null(table[0]);
		assert_non_null(table[1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_listed_is_found_and_works),
	    cmocka_unit_test(what_is_not_there_is_said),
	    cmocka_unit_test(each_file_of_a_library_is_looked_in),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
