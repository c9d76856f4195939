/* tests/experiments/cluster/plan_test.c -- a sweep as shards: plans and scripts.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cluster/plan.h"

#include "experiments/cluster/engine.h"
#include "sim/text.h"
#include "tests/rigs/folder.h"
#include "tests/test.h"

static struct xp_plan plan(const char *output, uint32_t n)
{
	struct xp_plan p = {.figure = "it's",
	    .n_shards = n,
	    .engine = (uint32_t)sim_word_find(xp_engine_names, "parallel")};
	snprintf(p.output, sizeof(p.output), "%s", output);
	xp_plan_name(&p);
	return p;
}

static void a_plan_is_read_as_it_was_written(void **state)
{
	const struct xp_plan p = plan("/tmp/a \"b\"\\ \xc3\xa4: #c.h5", 12);
	struct xp_plan q;
	(void)state;
	assert_ok(xp_plan_write(&p, test_folder, test_err()));
	assert_ok(xp_plan_read(&q, test_folder, test_err()));
	assert_string_equal(q.figure, p.figure);
	assert_string_equal(q.output, p.output);
	assert_string_equal(q.name, p.name);
	assert_int_equal(q.engine, p.engine);
	assert_int_equal(q.n_shards, 12);
}

static void jobs_of_two_plans_have_two_names(void **state)
{
	const struct xp_plan a = plan("/a/x.h5", 8), b = plan("/b/x.h5", 8),
			     c = plan("/a/x.h5", 9);
	(void)state;
	assert_string_not_equal(a.name, b.name);
	assert_string_not_equal(a.name, c.name);
	assert_string_equal(a.name, plan("/a/x.h5", 8).name);
}

static void a_shard_has_the_name_that_run_gives_it(void **state)
{
	const struct xp_plan p = plan("/a/x.h5", 8);
	char *path;
	(void)state;
	assert_ok(xp_plan_shard(&path, &p, "/f", 2, ".h5", test_err()));
	assert_string_equal(path, "/f/it's.3-of-8.h5");
	free(path);
	assert_ok(xp_plan_folder(&path, p.output, test_err()));
	assert_string_equal(path, "/a/x.cluster");
	free(path);
}

static void mistakes_in_a_plan_are_told(void **state)
{
	static const char *const text[][2] = {
	    {"figure: a\noutput: b\nshards: 0\nengine: local\n",
		"plan.yaml:3:"},
	    {"figure: a\noutput: b\nshards: 8\nengine: lokal\n", "local"},
	    {"figure: a\noutput: b\nshards: 8\n", "engine"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
		struct xp_plan p;
		struct sim_err e = {0};
		test_write("plan.yaml", text[i][0]);
		assert_int_equal(xp_plan_read(&p, test_folder, &e), SIM_EINVAL);
		if (!strstr(e.msg, text[i][1]))
			fail_msg("%s does not say %s", e.msg, text[i][1]);
	}
}

/* A shell reads back what was written as a word, whatever it is. */
static void a_word_is_one_word_to_a_shell(void **state)
{
	static const char *const word[] = {"", "plain", "a b", "it's", "'",
	    "''", "$HOME", "`id`", "\\", "*", "~", "a\"b", "--x=1", "\xc3\xa4",
	    "!!", "{a,b}", "#", "a;b&c|d"};
	(void)state;
	for (size_t i = 0; i < sizeof(word) / sizeof(word[0]); i++) {
		char command[128], got[64] = "";
		FILE *out = fmemopen(command, sizeof(command), "w");
		assert_non_null(out);
		fprintf(out, "printf '<%%s>' ");
		xp_put_word(out, word[i]);
		fclose(out);
		FILE *sh = popen(command, "r");
		assert_non_null(sh);
		got[fread(got, 1, sizeof(got) - 1, sh)] = '\0';
		assert_int_equal(pclose(sh), 0);
		if (strncmp(got + 1, word[i], strlen(word[i])) != 0 ||
		    strlen(got) != strlen(word[i]) + 2)
			fail_msg("%s came back as %s", word[i], got);
	}
}

static int write_and_read(void *arg, struct sim_err *e)
{
	const struct xp_plan *p = arg;
	static const char *const words[] = {"spec.yaml", NULL};
	const struct xp_job j = {.plan = p,
	    .folder = test_folder,
	    .cwd = "/",
	    .program = "culprit",
	    .words = words,
	    .extra = words + 1,
	    .n_workers = 1};
	struct xp_plan q;
	int rc = xp_job_write(&j, e);
	return rc < 0 ? rc : xp_plan_read(&q, test_folder, e);
}

static void every_failed_allocation_is_an_error(void **state)
{
	struct xp_plan p = plan("/a/x.h5", 8);
	(void)state;
	test_each_alloc_fails(write_and_read, &p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_plan_is_read_as_it_was_written),
	    cmocka_unit_test(jobs_of_two_plans_have_two_names),
	    cmocka_unit_test(a_shard_has_the_name_that_run_gives_it),
	    cmocka_unit_test(mistakes_in_a_plan_are_told),
	    cmocka_unit_test(a_word_is_one_word_to_a_shell),
	    cmocka_unit_test(every_failed_allocation_is_an_error),
	};
	return cmocka_run_group_tests_name("experiments/cluster/plan", tests,
	    test_folder_make, test_folder_remove);
}
