/* tests/experiments/arena/ranks_test.c -- ranks and groups of the arena, by hand.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/arena/ranks.h"

#include "sim/text.h"
#include "tests/test.h"

enum { N_NETWORKS = 3, N_RUNS = 2 };
#define MUTE -1. /* did not answer */

static char *copy(const char *s)
{
	char *text;
	assert_ok(sim_dup(&text, s, test_err()));
	return text;
}

/* Of N algorithms on three networks; in FOUND[network][algorithm] of ten links are
 * found and nothing else is accused, F = 2 r / (1 + r). NaN: no answer. */
static void found_cube(struct res_cube *c, size_t n, const char *const name[],
    const double *found)
{
	static const char *const networks[] = {"wide", "deep", "flat"};
	*c = (struct res_cube){.n_algos = n,
	    .n_axes = 1,
	    .n_points = N_NETWORKS,
	    .n_runs = N_RUNS,
	    .shard_n = 1};
	c->figure = copy("f");
	c->algo = calloc(n, sizeof(c->algo[0]));
	c->axis = calloc(1, sizeof(c->axis[0]));
	assert_true(c->algo && c->axis);
	for (size_t i = 0; i < n; i++)
		c->algo[i] = copy(name[i]);
	c->axis->n = N_NETWORKS;
	c->axis->n_coords = 1;
	c->axis->coord = calloc(1, sizeof(c->axis->coord[0]));
	c->axis->coord->text = calloc(N_NETWORKS, sizeof(char *));
	assert_true(c->axis->coord && c->axis->coord->text);
	c->axis->coord->name = copy("label");
	c->axis->coord->unit = copy("1");
	c->axis->coord->doc = copy("");
	for (size_t i = 0; i < N_NETWORKS; i++)
		c->axis->coord->text[i] = copy(networks[i]);
	assert_ok(res_cube_alloc(c, test_err()));
	for (size_t i = 0; i < c->n_rows; i++) {
		c->status[i] = RES_DONE;
		for (size_t a = 0; a < n; a++) {
			const double r = found[i / N_RUNS * n + a] / 10;
			const int mute = r < 0;
			res_columns_put(&c->rows, i,
			    res_row_doubles(a) + RES_ALGO_f,
			    mute ? NAN : 2 * r / (1 + r));
			res_columns_put(&c->rows, i,
			    res_row_doubles(a) + RES_ALGO_n_unanswered, mute);
			res_columns_put(&c->rows, i,
			    res_row_doubles(a) + RES_ALGO_n_to_find,
			    mute ? NAN : 10);
			res_columns_put(&c->rows, i,
			    res_row_doubles(a) + RES_ALGO_n_top,
			    mute ? NAN : 10);
		}
	}
}

/* The table of two families that have FOUND; to be freed. */
static char *table_of(size_t n, const char *const name[], const double *found)
{
	struct xp_arena_ranks r = {0};
	struct res_cube c;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	assert_non_null(out);
	found_cube(&c, n, name, found);
	assert_ok(xp_arena_ranks_add(&r, "one", 0, &c, test_err()));
	assert_ok(xp_arena_ranks_add(&r, "two", 0, &c, test_err()));
	assert_ok(xp_arena_ranks_print(&r, out, test_err()));
	fclose(out);
	res_cube_free(&c);
	xp_arena_ranks_free(&r);
	return text;
}

static void must_say(const char *text, const char *line)
{
	if (!strstr(text, line))
		fail_msg("no \"%s\" in\n%s", line, text);
}

static unsigned lines(const char *text)
{
	unsigned n = 0;
	for (; *text; text++)
		n += *text == '\n';
	return n;
}

/* Ranks 1 2 3, 1.5 1.5 3, 2 1 3; twice, as there are two families. Of 6 tasks and
 * 3 rivals q is 2.343, so 2.343 sqrt(12 / 36) = 1.353. */
static void ranks_of_three_by_hand(void **state)
{
	static const char *const names[] = {"x", "y", "z"};
	static const double found[] = {9, 8, 7, 5, 5, 1, 3, 4, 0};
	char *text = table_of(3, names, found);
	(void)state;
	must_say(text, "\trank\tx\t0\t1.5\t1.5\t3\t6\t1.35");
	must_say(text, "\trank\ty\t1\t1.5\t1.5\t3\t6\t1.35");
	must_say(text, "\trank\tz\t2\t3\t3\t3\t6\t1.35");
	/* x and y alone are a group: z is 1.5 away. */
	must_say(text, "\tgroup\t\t0\t1.5\t1.5\t");
	assert_int_equal(lines(text), 5);
	free(text);
}

/* Groups overlap, and one within another is not told. */
static void groups_are_the_longest(void **state)
{
	static const char *const names[] = {"a", "b", "c", "d", "e"};
	static const double found[] = {9, 8, 7, 6, 5, 9, 8, 7, 6, 5, 9, 8, 7, 6,
	    5};
	char *text = table_of(5, names, found);
	(void)state;
	/* 2.728 sqrt(30 / 36) = 2.49: two apart are told together. */
	must_say(text, "\tgroup\t\t0\t1\t3\t");
	must_say(text, "\tgroup\t\t1\t2\t4\t");
	must_say(text, "\tgroup\t\t2\t3\t5\t");
	assert_int_equal(lines(text), 1 + 5 + 3);
	free(text);
}

/* Who does not answer has found nothing: 2 1 2 of x, 3 2 3 of y, 1 3 1. */
static void who_does_not_answer_is_last(void **state)
{
	static const char *const names[] = {"x", "y", "mute"};
	static const double found[] = {9, 8, 10, 5, 4, MUTE, 3, 1, 10};
	char *text = table_of(3, names, found);
	(void)state;
	must_say(text, "\trank\tmute\t0\t1.66667\t");
	must_say(text, "\trank\tx\t1\t1.66667\t");
	must_say(text, "\trank\ty\t2\t2.66667\t");
	free(text);
}

/* An algorithm that accuses nobody on one network costs no other its rank. */
static void who_lacks_a_task_is_left_out(void **state)
{
	static const char *const names[] = {"x", "y", "gone"};
	static const double found[] = {9, 8, 10, 5, 4, NAN, 3, 1, 10};
	char *text = table_of(3, names, found);
	(void)state;
	must_say(text, "\trank\tx\t0\t1\t1\t2\t6\t");
	must_say(text, "\trank\ty\t1\t2\t2\t2\t6\t");
	assert_null(strstr(text, "gone"));
	free(text);
}

static int add_and_print(void *arg, struct sim_err *e)
{
	struct xp_arena_ranks r = {0};
	FILE *out = fopen("/dev/null", "w");
	int rc = out ? xp_arena_ranks_add(&r, "one", 0, arg, e)
		     : sim_fail(e, SIM_ENOMEM, "no memory.");
	if (rc == 0)
		rc = xp_arena_ranks_print(&r, out, e);
	if (out)
		fclose(out);
	xp_arena_ranks_free(&r);
	return rc;
}

static void no_memory_is_told(void **state)
{
	static const char *const names[] = {"x", "y"};
	static const double found[] = {1, 2, 3, 4, 5, 6};
	struct res_cube c;
	(void)state;
	found_cube(&c, 2, names, found);
	test_each_alloc_fails(add_and_print, &c);
	res_cube_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(ranks_of_three_by_hand),
	    cmocka_unit_test(groups_are_the_longest),
	    cmocka_unit_test(who_does_not_answer_is_last),
	    cmocka_unit_test(who_lacks_a_task_is_left_out),
	    cmocka_unit_test(no_memory_is_told),
	};
	return cmocka_run_group_tests_name("experiments/arena/ranks", tests,
	    NULL, NULL);
}
