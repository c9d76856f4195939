/* tests/results/shards_test.c -- shards joined, and what they lack.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/shards.h"

#include <sys/stat.h>
#include <unistd.h>

#include "results/h5.h"
#include "sim/text.h"
#include "tests/rigs/folder.h"
#include "tests/rigs/random_cube.h"
#include "tests/test.h"

static char whole_h5[96], joined_h5[96];

static void set_paths(void)
{
	snprintf(whole_h5, sizeof(whole_h5), "%s", test_path("whole.h5"));
	snprintf(joined_h5, sizeof(joined_h5), "%s", test_path("joined.h5"));
}

static void add(struct res_shards *s, uint32_t run, uint32_t i, uint32_t n)
{
	struct res_cube c;
	char path[32];
	random_shard(&c, run, i, n);
	snprintf(path, sizeof(path), "%u.h5", i + 1);
	assert_ok(res_shards_add(s, &c, path, test_err()));
	assert_null(c.rows.bits);
}

/* A run of the stream in which every cell was tried: nothing lacks then. */
static int is_tried(const struct res_cube *c)
{
	const struct res_progress p = res_cube_progress(c);
	return p.n_done + p.n_failed + p.n_crashed == p.n_cells;
}

/* What is told of all shards: the whole, without its rows. */
static void assert_head(const struct res_shards *s,
    const struct res_cube *whole)
{
	const struct res_cube *h = res_shards_head(s);
	const struct res_progress is = res_cube_progress(h),
				  want = res_cube_progress(whole);
	assert_string_equal(h->figure, whole->figure);
	assert_int_equal(h->n_points, whole->n_points);
	assert_int_equal(h->n_algos, whole->n_algos);
	assert_int_equal(h->shard_n, 1);
	assert_int_equal(is.n_cells, want.n_cells);
	assert_int_equal(is.n_done, want.n_done);
	assert_int_equal(is.n_failed, want.n_failed);
	assert_int_equal(is.n_crashed, want.n_crashed);
	assert_int_equal(!h->partial, is_tried(whole));
	assert_null(h->rows.bits);
}

/* Of 1 to 9 shards, each number twice, in an order that begins anywhere;
 * there may be more shards than cells. */
static void all_shards_are_the_bytes_of_the_whole(void **state)
{
	unsigned n_same = 0;
	(void)state;
	set_paths();
	for (uint32_t run = 0; run < 18; run++) {
		struct res_shards *s;
		struct res_cube whole, joined;
		const uint32_t n = 1 + run % 9;
		random_shard(&whole, run, 0, 1);
		assert_ok(res_h5_write(&whole, whole_h5, test_err()));
		assert_ok(res_shards_open(&s, joined_h5, test_err()));
		for (uint32_t i = 0; i < n; i++)
			add(s, run, (i + run) % n, n);
		assert_ok(res_shards_write(s, test_err()));
		assert_head(s, &whole);
		assert_ok(res_h5_read(&joined, joined_h5, test_err()));
		assert_same_cube(&whole, &joined);
		assert_int_equal(!joined.partial, is_tried(&whole));
		if (is_tried(&whole))
			test_assert_same_bytes(whole_h5, joined_h5);
		n_same += (unsigned)is_tried(&whole);
		res_cube_free(&whole);
		res_cube_free(&joined);
		res_shards_close(s);
	}
	assert_in_range(n_same, 2, 16);
}

static void shards_survive_their_files(void **state)
{
	(void)state;
	const char *path = test_path("part.h5");
	for (uint32_t run = 0; run < 10; run++) {
		struct res_cube c, back;
		random_shard(&c, run, run % 5, 5);
		assert_ok(res_h5_write(&c, path, test_err()));
		assert_ok(res_h5_read(&back, path, test_err()));
		assert_same_cube(&c, &back);
		res_cube_free(&c);
		res_cube_free(&back);
	}
}

static struct res_shard_state state_of(uint64_t n_cells, uint64_t n_done)
{
	return (
	    struct res_shard_state){1, {.n_cells = n_cells, .n_done = n_done}};
}

static void assert_says(const struct res_shard_state state[], uint32_t n,
    const char *want)
{
	char *text;
	assert_ok(res_shards_say(state, n, &text, test_err()));
	assert_string_equal(text, want);
	free(text);
}

static void what_lacks_is_named(void **state)
{
	(void)state;
	struct res_shard_state s[60] = {{0}};
	for (uint32_t i = 0; i < 8; i++)
		s[i] = state_of(20, 20);
	assert_says(s, 8, "");
	/* What failed is done: a plain run would have it too. */
	s[4] = (struct res_shard_state){1,
	    {.n_cells = 9, .n_done = 5, .n_failed = 3, .n_crashed = 1}};
	assert_says(s, 8, "");
	s[2].there = s[6].there = 0;
	assert_says(s, 8, "missing: 3/8, 7/8");
	s[1] = state_of(20, 15);
	assert_says(s, 8, "missing: 3/8, 7/8; not done: 5 of 20 cells of 2/8");
	s[2].there = s[6].there = 1;
	assert_says(s, 8, "not done: 5 of 20 cells of 2/8");
	assert_says(s + 1, 1, "not done: 5 of 20 cells");
	memset(s, 0, sizeof(s));
	assert_says(s, 60,
	    "missing: 1/60, 2/60, 3/60, 4/60, 5/60, 6/60, 7/60, 8/60, 9/60, "
	    "10/60, 11/60, 12/60, 13/60, 14/60, 15/60, 16/60, 17/60, 18/60, "
	    "19/60, 20/60 and 40 more");
	for (uint32_t i = 0; i < 60; i++)
		s[i] = state_of(20, i < 20 ? 19 : 18);
	char want[1024] = "not done: ";
	for (uint32_t i = 1; i <= 20; i++)
		sprintf(want + strlen(want), "1 of 20 cells of %u/60%s", i,
		    i < 20 ? ", " : " and of 40 more");
	assert_says(s, 60, want);
}

/* Run 4 of the stream is of several cells. */
static void a_part_says_so_in_its_file(void **state)
{
	struct res_shards *s;
	struct res_cube c;
	(void)state;
	set_paths();
	assert_ok(res_shards_open(&s, joined_h5, test_err()));
	add(s, 4, 2, 3);
	assert_ok(res_shards_write(s, test_err()));
	res_shards_close(s);
	assert_ok(res_h5_read(&c, joined_h5, test_err()));
	assert_int_equal(c.shard_n, 1);
	assert_non_null(strstr(c.partial, "missing: 1/3, 2/3"));
	for (size_t i = 0; i < res_cube_cells(&c); i++)
		assert_true(
		    i % 3 == 2 || res_cube_status(&c, i) == RES_NOT_RUN);
	res_cube_free(&c);
}

/* Each in turn after shard 1/3 of run 4. */
static void what_does_not_belong_is_refused_by_both_names(void **state)
{
	(void)state;
	static const struct {
		uint32_t i, n;
		const char *says;
	} cases[] = {
	    {0, 3, "a.h5 and b.h5 are the same shard, 1/3"},
	    {0, 4,
		"a.h5 and b.h5 do not belong together: one is of a sweep in "
		"3 shards, the other of one in 4."},
	    {0, 1, "in 3 shards, the other of one in 1."},
	    {1, 3, "a.h5 and b.h5 do not belong together: the specs"},
	    {1, 3, "a.h5 and b.h5 do not belong together: the overrides"},
	    {1, 3, "a.h5 and b.h5 do not belong together: one was made by"},
	};
	set_paths();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct res_shards *s;
		struct res_cube c;
		struct sim_err e;
		assert_ok(res_shards_open(&s, joined_h5, test_err()));
		random_shard(&c, 4, 0, 3);
		assert_ok(res_shards_add(s, &c, "a.h5", test_err()));
		random_shard(&c, 4, cases[i].i, cases[i].n);
		if (i == 3)
			c.spec[2] ^= 1;
		char **text = i == 4 ? &c.overrides : i == 5 ? &c.build : NULL;
		if (text) {
			free(*text);
			assert_ok(sim_dup(text, "other", test_err()));
		}
		assert_int_equal(res_shards_add(s, &c, "b.h5", &e),
		    SIM_EMISMATCH);
		if (!strstr(e.msg, cases[i].says))
			fail_msg("%s", e.msg);
		assert_null(c.figure);
		res_shards_close(s);
	}
}

static void one_whole_sweep_is_enough(void **state)
{
	struct res_shards *s;
	struct res_cube c;
	struct sim_err e;
	(void)state;
	set_paths();
	assert_ok(res_shards_open(&s, joined_h5, test_err()));
	for (unsigned i = 0; i < 2; i++) {
		random_shard(&c, 4, 0, 1);
		const int rc = res_shards_add(s, &c, i ? "b.h5" : "a.h5", &e);
		assert_int_equal(rc, i ? SIM_EMISMATCH : 0);
	}
	assert_string_equal(e.msg,
	    "a.h5 and b.h5 are both all of the sweep; give one of them.");
	random_shard(&c, 4, 0, 2);
	assert_int_equal(res_shards_add(s, &c, "c.h5", &e), SIM_EMISMATCH);
	assert_string_equal(e.msg,
	    "a.h5 and c.h5 do not belong together: one is of a sweep in 1 "
	    "shard, the other of one in 2.");
	res_shards_close(s);
}

static void the_scratch_file_has_no_name(void **state)
{
	struct res_shards *s;
	struct stat st;
	char path[160];
	(void)state;
	set_paths();
	unlink(joined_h5);
	assert_ok(res_shards_open(&s, joined_h5, test_err()));
	add(s, 4, 0, 3);
	snprintf(path, sizeof(path), "%s.tmp.%ld", joined_h5, (long)getpid());
	assert_int_equal(stat(path, &st), -1);
	assert_int_equal(stat(joined_h5, &st), -1);
	res_shards_close(s);
}

static int join_two(void *arg, struct sim_err *e)
{
	struct res_shards *s;
	struct res_cube c;
	int rc = res_shards_open(&s, joined_h5, e);
	if (rc < 0)
		return rc;
	for (unsigned i = 0; rc == 0 && i < 2; i++)
		if ((rc = res_h5_read(&c, ((char **)arg)[i], e)) == 0)
			rc = res_shards_add(s, &c, "x", e);
	if (rc == 0)
		rc = res_shards_write(s, e);
	res_shards_close(s);
	return rc;
}

static void each_failed_allocation_is_reported(void **state)
{
	char part[2][96], *path[2] = {part[0], part[1]};
	(void)state;
	set_paths();
	for (uint32_t i = 0; i < 2; i++) {
		struct res_cube c;
		snprintf(part[i], sizeof(part[i]), "%s",
		    test_path(i ? "2.h5" : "1.h5"));
		random_shard(&c, 4, i, 2);
		assert_ok(res_h5_write(&c, part[i], test_err()));
		res_cube_free(&c);
	}
	test_each_alloc_fails(join_two, path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(all_shards_are_the_bytes_of_the_whole),
	    cmocka_unit_test(shards_survive_their_files),
	    cmocka_unit_test(what_lacks_is_named),
	    cmocka_unit_test(a_part_says_so_in_its_file),
	    cmocka_unit_test(what_does_not_belong_is_refused_by_both_names),
	    cmocka_unit_test(one_whole_sweep_is_enough),
	    cmocka_unit_test(the_scratch_file_has_no_name),
	    cmocka_unit_test(each_failed_allocation_is_reported),
	};
	return cmocka_run_group_tests_name("results/shards", tests,
	    test_folder_make, test_folder_remove);
}
