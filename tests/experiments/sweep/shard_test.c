/* tests/experiments/sweep/shard_test.c -- which shard a process is told to be.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/sweep/shard.h"

#include "tests/test.h"

/* The variables that a starter sets; the others are unset. */
static void shard_clear(void)
{
	static const char *const names[] = {"SLURM_ARRAY_TASK_ID",
	    "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN",
	    "SLURM_ARRAY_TASK_MAX", "OMPI_COMM_WORLD_RANK",
	    "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unsetenv(names[i]);
}

static void set_array(const char *id, const char *count, const char *min,
    const char *max)
{
	setenv("SLURM_ARRAY_TASK_ID", id, 1);
	setenv("SLURM_ARRAY_TASK_COUNT", count, 1);
	setenv("SLURM_ARRAY_TASK_MIN", min, 1);
	setenv("SLURM_ARRAY_TASK_MAX", max, 1);
}

static void set_rank(const char *of, const char *rank, const char *size)
{
	char name[64];
	snprintf(name, sizeof(name), "%s_RANK", of);
	setenv(name, rank, 1);
	snprintf(name, sizeof(name), "%s_SIZE", of);
	setenv(name, size, 1);
}

static void assert_shard(const char *text, uint32_t i, uint32_t n)
{
	struct xp_shard s = {0, 0};
	assert_ok(xp_shard_read(&s, text, getenv, test_err()));
	if (s.i + 1 != i || s.n != n)
		fail_msg("%s is shard %u/%u, not %u/%u", text, s.i + 1, s.n, i,
		    n);
}

static void assert_refused(const char *text, int rc, const char *says)
{
	struct xp_shard s;
	struct sim_err e = {0};
	assert_int_equal(xp_shard_read(&s, text, getenv, &e), rc);
	if (!strstr(e.msg, says))
		fail_msg("\"%s\" does not say \"%s\"", e.msg, says);
}

static void a_number_and_a_count_are_taken_as_they_are(void **state)
{
	(void)state;
	set_array("2", "4", "1", "4"); /* is not asked */
	assert_shard("1/1", 1, 1);
	assert_shard("3/8", 3, 8);
	assert_shard("100000/100000", 100000, 100000);
	assert_refused("0/8", SIM_ERANGE, "I \"0\" is not a whole number in");
	assert_refused("9/8", SIM_ERANGE, "in [1, 8].");
	assert_refused("1/100001", SIM_ERANGE, "N \"100001\" is not");
	assert_refused("automatic", SIM_EINVAL, "is not I/N, auto or auto/N.");
	assert_refused("auto/", SIM_ERANGE, "N \"\" is not");
	assert_refused("auto/0", SIM_ERANGE, "N \"0\" is not");
	shard_clear();
}

static void nothing_that_tells_is_an_error(void **state)
{
	(void)state;
	assert_refused("auto", SIM_EINVAL, "neither SLURM_ARRAY_TASK_ID nor");
	setenv("PMI_RANK", "", 1);
	assert_refused("auto/4", SIM_EINVAL, "give I/N.");
	shard_clear();
}

static void a_whole_array_tells_both(void **state)
{
	(void)state;
	set_array("3", "8", "1", "8");
	assert_shard("auto", 3, 8);
	set_array("0", "8", "0", "7");
	assert_shard("auto", 1, 8);
	set_array("7", "8", "0", "7");
	assert_shard("auto", 8, 8);
	shard_clear();
}

/* What a rerun of tasks 3 and 5 of 8, of task 1, and of 2 to 3 look like. */
static void a_part_of_an_array_needs_the_count(void **state)
{
	static const char *const part[][4] = {{"3", "2", "3", "5"},
	    {"1", "1", "1", "1"}, {"2", "2", "2", "3"}};
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		const char *const *p = part[i];
		set_array(p[0], p[1], p[2], p[3]);
		assert_refused("auto", SIM_EINVAL, "may be a part of one");
		assert_shard("auto/8", (uint32_t)atoi(p[0]), 8);
	}
	set_array("9", "2", "3", "9");
	assert_refused("auto/8", SIM_ERANGE,
	    "SLURM_ARRAY_TASK_ID \"9\" is not a whole number in [1, 8].");
	/* By it task 1 would be the first shard, and so the second too. */
	set_array("1", "8", "0", "7");
	assert_refused("auto/8", SIM_ERANGE, "give --array=1-8.");
	set_array("x", "8", "1", "8");
	assert_refused("auto", SIM_ERANGE, "SLURM_ARRAY_TASK_ID \"x\" is not");
	unsetenv("SLURM_ARRAY_TASK_MIN");
	set_array("3", "8", "", "8");
	assert_refused("auto", SIM_EINVAL, "SLURM_ARRAY_TASK_MIN is not set.");
	assert_shard("auto/8", 3, 8);
	shard_clear();
}

static void ranks_count_from_0(void **state)
{
	static const char *const of[] = {"OMPI_COMM_WORLD", "PMI"};
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		set_rank(of[i], "0", "4");
		assert_shard("auto", 1, 4);
		set_rank(of[i], "3", "4");
		assert_shard("auto/4", 4, 4);
		assert_refused("auto/8", SIM_EINVAL,
		    "_SIZE is 4, and the shards are 8");
		set_rank(of[i], "4", "4");
		assert_refused("auto", SIM_ERANGE,
		    "_RANK \"4\" is not a whole number in [0, 3].");
		set_rank(of[i], "0", "");
		assert_refused("auto", SIM_EINVAL, "_SIZE is not set.");
		set_rank(of[i], "0", "1");
		assert_shard("auto", 1, 1);
		shard_clear();
	}
}

static void two_that_tell_must_agree(void **state)
{
	(void)state;
	set_array("3", "8", "1", "8");
	set_rank("PMI", "2", "8");
	assert_shard("auto", 3, 8);
	assert_shard("auto/8", 3, 8);
	set_rank("PMI", "3", "8");
	assert_refused("auto", SIM_EINVAL,
	    "by SLURM_ARRAY_TASK_ID it is shard 3/8, by PMI_RANK 4/8;");
	/* A task that a launcher started alone. */
	set_rank("PMI", "0", "1");
	assert_shard("auto", 3, 8);
	assert_shard("auto/9", 3, 9);
	shard_clear();
	set_rank("PMI", "0", "1");
	set_rank("OMPI_COMM_WORLD", "0", "1");
	assert_shard("auto", 1, 1);
	shard_clear();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_number_and_a_count_are_taken_as_they_are),
	    cmocka_unit_test(nothing_that_tells_is_an_error),
	    cmocka_unit_test(a_whole_array_tells_both),
	    cmocka_unit_test(a_part_of_an_array_needs_the_count),
	    cmocka_unit_test(ranks_count_from_0),
	    cmocka_unit_test(two_that_tell_must_agree),
	};
	shard_clear();
	return cmocka_run_group_tests_name("experiments/sweep/shard", tests,
	    NULL, NULL);
}
