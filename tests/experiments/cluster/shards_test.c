/* tests/experiments/cluster/shards_test.c -- what has become of shards, by files.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A sweep of 10 cells as 3 shards, of 4, 3 and 3. What runs it is scripts of
 * the test's, which lay down files that were written before.
 */
#include "experiments/cluster/shards.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/cluster/follow.h"
#include "experiments/sweep/journal.h"
#include "results/file.h"
#include "results/h5.h"
#include "sim/text.h"
#include "tests/rigs/folder.h"
#include "tests/rigs/random_cube.h"
#include "tests/test.h"

enum { SHARDS = 3, POINTS = 5, RUNS = 2, CELLS = POINTS * RUNS };

static struct xp_plan shards_plan(const char *engine)
{
	struct xp_plan p = {.figure = "plain",
	    .n_shards = SHARDS,
	    .engine = (uint32_t)sim_word_find(xp_engine_names, engine)};
	snprintf(p.output, sizeof(p.output), "%s", test_path("out.h5"));
	xp_plan_name(&p);
	return p;
}

/* Shard I of N with that many cells of each kind, the done ones first. */
static void shard_cube(struct res_cube *c, uint32_t i, uint32_t n, size_t done,
    size_t failed, size_t crashed)
{
	plain_cube(c, POINTS, RUNS);
	res_columns_close(&c->rows);
	free(c->status);
	c->shard_i = i;
	c->shard_n = n;
	assert_ok(res_cube_alloc(c, test_err()));
	for (size_t k = 0; k < done + failed + crashed; k++) {
		const size_t cell = res_cube_own_cell(c, k);
		res_cube_put(c, cell / RUNS, cell % RUNS,
		    k < done                ? RES_DONE
			: k < done + failed ? RES_FAILED
					    : RES_CRASHED,
		    NULL);
	}
}

static void shard_write(const char *name, uint32_t i, uint32_t n, size_t done,
    size_t failed, size_t crashed)
{
	struct res_cube c;
	shard_cube(&c, i, n, done, failed, crashed);
	assert_ok(res_h5_write(&c, test_path(name), test_err()));
	res_cube_free(&c);
}

/* --- one shard ------------------------------------------------------------ */

/* All that can be known of a shard, in the order in which it is asked. */
static void what_a_shard_is_follows_from_what_is_known(void **state)
{
	const struct xp_plan p = shards_plan("local");
	struct xp_shards s;
	(void)state;
	assert_ok(xp_shards_init(&s, &p, test_folder, test_err()));
	for (unsigned k = 0; k < 2 * 2 * 2 * 3; k++) {
		const int there = k & 1, done = k >> 1 & 1, held = k >> 2 & 1;
		const unsigned queue = k >> 3;
		s.state[1] = (struct res_shard_state){(uint32_t)there,
		    {.n_cells = 3, .n_done = done ? 3 : 2}};
		s.held[1] = (uint8_t)held;
		s.queue.shard[1] = (uint8_t)queue;
		const enum xp_shard_is want = there && done ? XP_SHARD_DONE
		    : held || queue == XP_JOB_RUNS          ? XP_SHARD_RUNNING
		    : queue == XP_JOB_WAITS                 ? XP_SHARD_QUEUED
		    : there                                 ? XP_SHARD_FAILED
							    : XP_SHARD_MISSING;
		assert_int_equal(xp_shard_is(&s, 1), want);
		assert_int_equal(xp_shard_is(&s, 0), XP_SHARD_MISSING);
	}
	xp_shards_free(&s);
	assert_null(s.state);
	assert_null(s.held);
	assert_null(s.queue.shard);
}

static void a_shard_is_settled_once_each_cell_was_tried(void **state)
{
	const struct xp_plan p = shards_plan("local");
	struct xp_shards s;
	(void)state;
	assert_ok(xp_shards_init(&s, &p, test_folder, test_err()));
	for (unsigned k = 0; k < 2 * 27; k++) {
		const unsigned done = k % 3, failed = k / 3 % 3,
			       crashed = k / 9 % 3, there = k / 27;
		s.state[2] =
		    (struct res_shard_state){there, {4, done, failed, crashed}};
		assert_int_equal(xp_shard_is_settled(&s, 2),
		    there && done + failed + crashed == 4);
	}
	xp_shards_free(&s);
}

/* Who is known to the engine is counted there; the merge is a job, too. */
static void who_is_busy_is_counted_once(void **state)
{
	const struct xp_plan p = shards_plan("local");
	struct xp_shards s;
	(void)state;
	assert_ok(xp_shards_init(&s, &p, test_folder, test_err()));
	for (unsigned k = 0; k < 8 * 8; k++) {
		uint32_t want = s.queue.n_jobs = 5;
		for (unsigned i = 0; i < SHARDS; i++) {
			s.held[i] = k >> i & 1;
			s.queue.shard[i] = k >> (3 + i) & 1 ? 1 + i % 2 : 0;
			want += s.held[i] && !s.queue.shard[i];
		}
		assert_int_equal(xp_shards_n_busy(&s), want);
	}
	xp_shards_free(&s);
}

/* --- files ---------------------------------------------------------------- */

static void shards_are_read_from_their_files(void **state)
{
	const struct xp_plan p = shards_plan("local");
	struct xp_shards s;
	(void)state;
	assert_ok(xp_shards_init(&s, &p, test_folder, test_err()));
	assert_ok(xp_shards_read(&s, NULL, test_err()));
	assert_int_equal(s.n_cells, 0);
	shard_write("plain.1-of-3.h5", 0, 3, 4, 0, 0);
	shard_write("plain.2-of-3.h5", 1, 3, 1, 1, 1);
	test_write("plain.3-of-3.h5", "torn");
	assert_ok(xp_shards_read(&s, NULL, test_err()));
	assert_int_equal(s.n_cells, CELLS);
	static const uint64_t want[SHARDS][5] = {{1, 4, 4, 0, 0},
	    {1, 3, 1, 1, 1}, {0, 0, 0, 0, 0}};
	for (int i = 0; i < SHARDS; i++) {
		assert_int_equal(s.state[i].there, want[i][0]);
		assert_int_equal(s.state[i].cells.n_cells, want[i][1]);
		assert_int_equal(s.state[i].cells.n_done, want[i][2]);
		assert_int_equal(s.state[i].cells.n_failed, want[i][3]);
		assert_int_equal(s.state[i].cells.n_crashed, want[i][4]);
	}
	assert_true(xp_shard_is_settled(&s, 0) && xp_shard_is_settled(&s, 1));
	assert_int_equal(xp_shard_is(&s, 0), XP_SHARD_DONE);
	assert_int_equal(xp_shard_is(&s, 1), XP_SHARD_FAILED);
	assert_int_equal(xp_shard_is(&s, 2), XP_SHARD_MISSING);
	assert_int_equal(xp_shards_about(&s).n_done, 5);

	/* What is done is not read again; what is not is, and may be gone. */
	unlink(test_path("plain.1-of-3.h5"));
	unlink(test_path("plain.2-of-3.h5"));
	shard_write("plain.3-of-3.h5", 2, 3, 3, 0, 0);
	assert_ok(xp_shards_read(&s, NULL, test_err()));
	assert_int_equal(xp_shard_is(&s, 0), XP_SHARD_DONE);
	assert_int_equal(xp_shard_is(&s, 1), XP_SHARD_MISSING);
	assert_int_equal(xp_shard_is(&s, 2), XP_SHARD_DONE);
	assert_int_equal(xp_shards_about(&s).n_done, 7);
	xp_shards_free(&s);
}

static void a_file_of_another_sweep_is_named(void **state)
{
	const struct xp_plan p = shards_plan("local");
	struct xp_shards s;
	struct res_cube whole;
	struct sim_err e;
	char want[512];
	(void)state;
	plain_cube(&whole, POINTS + 1, RUNS);
	shard_write("plain.1-of-3.h5", 0, 3, 4, 0, 0);
	assert_ok(xp_shards_init(&s, &p, test_folder, test_err()));
	assert_int_equal(xp_shards_read(&s, &whole, &e), SIM_EMISMATCH);
	snprintf(want, sizeof(want),
	    "%s/plain.1-of-3.h5 is of another sweep or build: ", test_folder);
	assert_memory_equal(e.msg, want, strlen(want));
	snprintf(want, sizeof(want),
	    " Remove %s to begin anew, or give another -o.", test_folder);
	assert_non_null(strstr(e.msg, want));
	res_cube_free(&whole);
	plain_cube(&whole, POINTS, RUNS);
	assert_ok(xp_shards_read(&s, &whole, test_err()));
	res_cube_free(&whole);
	xp_shards_free(&s);
}

/* Cells that stand in a journal alone count by its size; of two numbers the
 * larger is what there is. */
static void a_journal_tells_who_is_at_work_and_how_far(void **state)
{
	const struct xp_plan p = shards_plan("local");
	struct xp_journal *j;
	struct xp_shards s;
	struct res_cube c;
	(void)state;
	shard_write("plain.1-of-3.h5", 0, 3, 4, 0, 0);
	shard_cube(&c, 1, 3, 0, 0, 0);
	assert_ok(xp_journal_open(&j, test_path("plain.2-of-3.journal"), &c,
	    test_err()));
	for (size_t k = 0; k < 2; k++) {
		const size_t cell = res_cube_own_cell(&c, k);
		assert_ok(xp_journal_put(j, cell / RUNS, cell % RUNS,
		    RES_FAILED, NULL, test_err()));
	}
	assert_ok(xp_journal_flush(j, test_err()));
	assert_ok(xp_shards_init(&s, &p, test_folder, test_err()));
	assert_ok(xp_shards_read(&s, NULL, test_err()));
	assert_int_equal(xp_shards_about(&s).n_done, 4 + 2);
	s.state[1] = (struct res_shard_state){1, {4, 3, 0, 0}};
	assert_int_equal(xp_shards_about(&s).n_done, 4 + 3);

	s.queue.n_jobs = 9;
	strcpy(s.queue.why, "x");
	s.queue.shard[0] = XP_JOB_RUNS;
	s.held[0] = s.held[2] = 1;
	assert_ok(xp_shards_ask(&s, test_err()));
	assert_int_equal(s.queue.n_jobs, 0);
	assert_string_equal(s.queue.why, "");
	assert_int_equal(s.queue.shard[0], XP_JOB_NONE);
	assert_int_equal(s.held[0], 0);
	assert_int_equal(s.held[1], 1);
	assert_int_equal(s.held[2], 0);
	assert_int_equal(xp_shards_n_busy(&s), 1);
	assert_ok(xp_journal_close(j, 1, test_err()));
	assert_ok(xp_shards_ask(&s, test_err()));
	assert_int_equal(s.held[1], 0);
	res_cube_free(&c);
	xp_shards_free(&s);
}

static int init_and_read(void *arg, struct sim_err *e)
{
	struct xp_shards s;
	int rc = xp_shards_init(&s, arg, test_folder, e);
	if (rc < 0)
		return rc;
	rc = xp_shards_read(&s, NULL, e);
	if (rc == 0)
		rc = xp_shards_ask(&s, e);
	xp_shards_free(&s);
	return rc;
}

static void memory_of_shards_that_ends_is_told(void **state)
{
	struct xp_plan p = shards_plan("local");
	(void)state;
	test_each_alloc_fails(init_and_read, &p);
}

/* --- until all are there -------------------------------------------------- */

struct told {
	char text[4096], progress[1024]; /* what was said, and what was drawn */
};

static void tell(void *arg, const char *line)
{
	struct told *t = arg;
	const size_t n = strlen(t->text);
	snprintf(t->text + n, sizeof(t->text) - n, "%s\n", line);
}

/* Follow with SUBMIT and MERGE as the bodies of scripts; what the first is
 * asked for is a line of `asked` each time. */
static struct xp_followed follow(const char *submit, const char *merge,
    uint32_t retry, struct told *told)
{
	static const volatile sig_atomic_t go = 0;
	const struct xp_plan p = shards_plan("local");
	struct xp_followed to;
	struct res_cube whole;
	char text[1024];
	plain_cube(&whole, POINTS, RUNS);
	snprintf(text, sizeof(text), "echo \"$*\" >>asked\n%s\n", submit);
	test_write("submit.sh", text);
	test_write("merge.sh", merge);
	*told = (struct told){"", ""};
	FILE *progress = fmemopen(told->progress, sizeof(told->progress), "w");
	assert_non_null(progress);
	const struct xp_cluster_follow f = {.plan = &p,
	    .folder = test_folder,
	    .whole = &whole,
	    .progress = progress,
	    .retry = retry,
	    .wait_ns = 1,
	    .poll_ns = 1,
	    .say = tell,
	    .arg = told,
	    .stop = &go};
	assert_ok(xp_follow(&f, &to, test_err()));
	fclose(progress);
	res_cube_free(&whole);
	return to;
}

static void assert_asked(const char *want)
{
	void *bytes = NULL;
	size_t n;
	assert_ok(res_file_read(test_path("asked"), &bytes, &n, test_err()));
	assert_string_equal((char *)bytes, want);
	free(bytes);
}

/* What is told, with the test's folder as /F. */
static void assert_told(const struct told *t, const char *want)
{
	char text[4096];
	struct sim_text to = {text, sizeof(text), 0};
	const char *from = t->text, *at;
	while ((at = strstr(from, test_folder))) {
		sim_put(&to, "%.*s/F", (int)(at - from), from);
		from = at + strlen(test_folder);
	}
	sim_put(&to, "%s", from);
	assert_string_equal(text, want);
}

/* Lays down those of these files that NAMES has, each with a blank behind it: shards
 * a, b and c, b with so many cells done, and the whole, once with a failed cell. */
static void lay_down(const char *names)
{
	static const struct {
		const char *name;
		uint32_t i, n;
		size_t done, failed;
	} file[] = {{"a ", 0, 3, 4, 0}, {"b ", 1, 3, 2, 1}, {"c ", 2, 3, 3, 0},
	    {"b0 ", 1, 3, 0, 0}, {"b1 ", 1, 3, 1, 0}, {"b2 ", 1, 3, 2, 0},
	    {"b3 ", 1, 3, 3, 0}, {"w ", 0, 1, CELLS, 0},
	    {"w9 ", 0, 1, CELLS - 1, 1}};
	for (size_t i = 0; i < sizeof(file) / sizeof(file[0]); i++) {
		char name[16];
		if (!strstr(names, file[i].name))
			continue;
		snprintf(name, sizeof(name), "%.*s.h5",
		    (int)strlen(file[i].name) - 1, file[i].name);
		shard_write(name, file[i].i, file[i].n, file[i].done,
		    file[i].failed, 0);
	}
}

static void one_round_is_enough_where_all_goes_well(void **state)
{
	struct told told;
	(void)state;
	lay_down("a b3 c w ");
	struct xp_followed to = follow("cp a.h5 plain.1-of-3.h5\n"
				       "cp b3.h5 plain.2-of-3.h5\n"
				       "cp c.h5 plain.3-of-3.h5",
	    "cp w.h5 out.h5", 2, &told);
	assert_int_equal(to.n_rounds, 1);
	assert_int_equal(to.n_left, 0);
	assert_true(to.is_merged && !to.stopped && !to.unanswered);
	assert_int_equal(to.cells.n_cells, CELLS);
	assert_int_equal(to.cells.n_done, CELLS);
	assert_told(&told, "");
	assert_memory_equal(told.progress, "plain  ", 7);
	assert_non_null(strstr(told.progress, "10/10 cells"));
	assert_asked("\n");

	/* There is nothing to do, and nothing is done. */
	to = follow("exit 1", "exit 1", 2, &told);
	assert_int_equal(to.n_rounds, 0);
	assert_true(to.is_merged);
	assert_told(&told, "");
	assert_asked("\n");

	/* The merge alone failed. */
	unlink(test_path("out.h5"));
	to = follow("exit 1", "echo x; echo no room; exit 1", 2, &told);
	assert_int_equal(to.n_rounds, 0);
	assert_int_equal(to.n_left, 0);
	assert_false(to.is_merged);
	assert_told(&told, "/F/merge.log: no room\n");
	assert_asked("\n");
}

/* A cell that failed was tried: what it cost is merged, too. */
static void cells_that_fail_are_tried_again_and_merged(void **state)
{
	struct told told;
	(void)state;
	lay_down("a b c w9 ");
	const struct xp_followed to = follow("cp a.h5 plain.1-of-3.h5\n"
					     "cp b.h5 plain.2-of-3.h5\n"
					     "cp c.h5 plain.3-of-3.h5",
	    "cp w9.h5 out.h5", 1, &told);
	assert_int_equal(to.n_rounds, 3);
	assert_int_equal(to.n_left, 0);
	assert_true(to.is_merged);
	assert_int_equal(to.cells.n_done, CELLS - 1);
	assert_int_equal(to.cells.n_failed, 1);
	assert_int_equal(to.cells.n_crashed, 0);
	assert_told(&told,
	    "again, as they are not done: shards 2\n"
	    "again, as they are not done: shards 2\n");
	assert_asked("\n2\n2\n");
}

static void what_gets_no_further_is_left_with_its_last_words(void **state)
{
	struct told told;
	(void)state;
	lay_down("c ");
	struct xp_followed to = follow("cp c.h5 plain.3-of-3.h5\n"
				       "echo one >1.log\n"
				       "printf 'a\\nno luck\\n\\n' >2.log\n"
				       "echo boom\nexit 5",
	    "exit 3", 2, &told);
	assert_int_equal(to.n_rounds, 3);
	assert_int_equal(to.n_left, 2);
	assert_false(to.is_merged || to.stopped);
	assert_int_equal(to.cells.n_done, 3);
	assert_told(&told,
	    "submit.sh failed (exit 5)\n"
	    "/F/submit.log: boom\n"
	    "again, as they are not done: shards 1-2\n"
	    "submit.sh failed (exit 5)\n"
	    "/F/submit.log: boom\n"
	    "again, as they are not done: shards 1-2\n"
	    "submit.sh failed (exit 5)\n"
	    "/F/submit.log: boom\n"
	    "/F/1.log: one\n"
	    "/F/2.log: no luck\n");
	assert_asked("\n1 2\n1 2\n");

	/* 3 is a merge that says what is missing. */
	to = follow("exit 3", "exit 3", 0, &told);
	assert_int_equal(to.n_rounds, 1);
	assert_told(&told, "/F/1.log: one\n/F/2.log: no luck\n");
	assert_asked("\n1 2\n1 2\n1 2\n");
}

/* A limit of time may end a job as often as it likes. */
static void a_shard_that_got_further_has_all_its_tries_again(void **state)
{
	struct told told;
	(void)state;
	lay_down("a b0 b1 b2 b3 c w ");
	const struct xp_followed to =
	    follow("cp a.h5 plain.1-of-3.h5\n"
		   "n=$(wc -l <asked)\n"
		   "cp b$((n / 2)).h5 plain.2-of-3.h5\n"
		   "[ $n -lt 2 ] || "
		   "cp c.h5 plain.3-of-3.h5\nexit 3",
		"cp w.h5 out.h5", 1, &told);
	assert_int_equal(to.n_rounds, 6);
	assert_true(to.is_merged);
	assert_int_equal(to.n_left, 0);
	assert_asked("\n2 3\n2\n2\n2\n2\n");
	assert_memory_equal(told.text,
	    "again, as they are not done: shards 2-3\n"
	    "again, as they are not done: shards 2\n",
	    78);
}

/* An allocation that fails is an error, or something that was not told. */
static void memory_that_ends_while_following_is_told(void **state)
{
	const struct xp_plan p = shards_plan("local");
	struct res_cube whole;
	unsigned long n = 0, seen;
	(void)state;
	plain_cube(&whole, POINTS, RUNS);
	test_write("submit.sh", "exit 3\n");
	const struct xp_cluster_follow f = {.plan = &p,
	    .folder = test_folder,
	    .whole = &whole,
	    .poll_ns = 1};
	do {
		struct xp_followed to;
		struct sim_err e;
		test_fail_alloc(++n);
		const int rc = xp_follow(&f, &to, &e);
		seen = test_fail_alloc(0);
		assert_true(rc == 0 || rc == SIM_ENOMEM);
	} while (seen >= n);
	assert_true(n > 8);
	res_cube_free(&whole);
}

/* A script that cannot write its log is one that failed; it has no last words. */
static void a_log_that_cannot_be_written_is_a_failure(void **state)
{
	struct told told;
	(void)state;
	assert_int_equal(mkdir(test_path("submit.log"), 0700), 0);
	const struct xp_followed to = follow("exit 0", "exit 0", 0, &told);
	assert_int_equal(to.n_rounds, 1);
	assert_int_equal(to.n_left, 3);
	assert_false(to.is_merged);
	assert_told(&told, "submit.sh failed (exit 127)\n");
	assert_int_not_equal(access(test_path("asked"), F_OK), 0);
}

/* squeue is a script that says less from one time to the next: a job that waits,
 * which is told once, one that runs, none. */
static void what_jobs_wait_for_is_told_once(void **state)
{
	static const volatile sig_atomic_t go = 0;
	const struct xp_plan p = shards_plan("slurm");
	struct told told = {"", ""};
	struct xp_followed to;
	struct res_cube whole;
	char text[2048], path[256];
	(void)state;
	plain_cube(&whole, POINTS, RUNS);
	snprintf(text, sizeof(text),
	    "#!/bin/sh\ncd %s\necho >>looks\ncase $(wc -l <looks) in\n"
	    "1 | 2) echo '%s 1 PD (BadConstraints)' ;;\n"
	    "3) echo '%s 1 R (None)' ;;\nesac\n",
	    test_folder, p.name, p.name);
	test_write("squeue", text);
	test_write("submit.sh", "exit 0\n");
	assert_int_equal(chmod(test_path("squeue"), 0755), 0);
	snprintf(path, sizeof(path), "%s:/usr/bin:/bin", test_folder);
	setenv("PATH", path, 1);
	const struct xp_cluster_follow f = {.plan = &p,
	    .folder = test_folder,
	    .whole = &whole,
	    .wait_ns = 1,
	    .poll_ns = 1,
	    .patience_ns = SIM_NEVER,
	    .say = tell,
	    .arg = &told,
	    .stop = &go};
	assert_ok(xp_follow(&f, &to, test_err()));
	assert_told(&told, "jobs wait: (BadConstraints)\n");
	assert_int_equal(to.n_rounds, 1);
	assert_int_equal(to.n_left, 3);
	res_cube_free(&whole);
}

static void only_one_follows_a_folder(void **state)
{
	const struct xp_plan p = shards_plan("local");
	const struct xp_cluster_follow f = {.plan = &p, .folder = test_folder};
	struct xp_followed to;
	struct sim_err e;
	char want[256];
	(void)state;
	const int fd = open(test_path("lock"), O_RDWR | O_CREAT, 0666);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(xp_follow(&f, &to, &e), SIM_EIO);
	close(fd);
	snprintf(want, sizeof(want),
	    "another `culprit submit`, or what one started, is at work in %s.",
	    test_folder);
	assert_string_equal(e.msg, want);
}

static void who_is_told_to_stop_starts_nothing(void **state)
{
	static const volatile sig_atomic_t stop = 1;
	const struct xp_plan p = shards_plan("local");
	struct res_cube whole;
	struct xp_followed to;
	(void)state;
	plain_cube(&whole, POINTS, RUNS);
	test_write("submit.sh", "touch started\n");
	const struct xp_cluster_follow f = {.plan = &p,
	    .folder = test_folder,
	    .whole = &whole,
	    .retry = 2,
	    .stop = &stop};
	assert_ok(xp_follow(&f, &to, test_err()));
	assert_int_equal(to.stopped, 1);
	assert_int_equal(to.n_rounds, 0);
	assert_int_equal(to.n_left, 0);
	assert_false(to.is_merged);
	assert_int_not_equal(access(test_path("started"), F_OK), 0);
	res_cube_free(&whole);
}

/* --- the whole ------------------------------------------------------------ */

static void the_whole_has_tried_each_cell_of_the_sweep(void **state)
{
	static const struct {
		uint32_t n;
		size_t done, failed, crashed;
		int is;
	} t[] = {{1, CELLS, 0, 0, 1}, {1, CELLS - 2, 1, 1, 1},
	    {1, CELLS - 2, 1, 0, 0}, {1, CELLS - 2, 0, 1, 0}, {1, 0, 0, 0, 0},
	    {2, CELLS / 2, 0, 0, 0}};
	struct res_cube whole;
	struct res_progress got;
	struct sim_err e;
	char want[256];
	(void)state;
	plain_cube(&whole, POINTS, RUNS);
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		shard_write("t.h5", 0, t[i].n, t[i].done, t[i].failed,
		    t[i].crashed);
		assert_int_equal(xp_follow_is_whole(test_path("t.h5"), &whole,
				     &got, test_err()),
		    t[i].is);
		assert_int_equal(got.n_cells, CELLS / t[i].n);
		assert_int_equal(got.n_done, t[i].done);
		assert_int_equal(got.n_failed, t[i].failed);
		assert_int_equal(got.n_crashed, t[i].crashed);
	}
	res_cube_free(&whole);
	plain_cube(&whole, POINTS, RUNS + 1);
	assert_int_equal(xp_follow_is_whole(test_path("t.h5"), &whole, &got,
			     &e),
	    SIM_EMISMATCH);
	snprintf(want, sizeof(want),
	    "%s holds no results of this sweep: ", test_path("t.h5"));
	assert_memory_equal(e.msg, want, strlen(want));
	assert_int_equal(got.n_cells, 0);
	res_cube_free(&whole);
}

#define IN_A_FOLDER(test)                                                      \
	cmocka_unit_test_setup_teardown(test, test_folder_make,                \
	    test_folder_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    IN_A_FOLDER(what_a_shard_is_follows_from_what_is_known),
	    IN_A_FOLDER(a_shard_is_settled_once_each_cell_was_tried),
	    IN_A_FOLDER(who_is_busy_is_counted_once),
	    IN_A_FOLDER(shards_are_read_from_their_files),
	    IN_A_FOLDER(a_file_of_another_sweep_is_named),
	    IN_A_FOLDER(a_journal_tells_who_is_at_work_and_how_far),
	    IN_A_FOLDER(memory_of_shards_that_ends_is_told),
	    IN_A_FOLDER(one_round_is_enough_where_all_goes_well),
	    IN_A_FOLDER(cells_that_fail_are_tried_again_and_merged),
	    IN_A_FOLDER(what_gets_no_further_is_left_with_its_last_words),
	    IN_A_FOLDER(a_shard_that_got_further_has_all_its_tries_again),
	    IN_A_FOLDER(memory_that_ends_while_following_is_told),
	    IN_A_FOLDER(a_log_that_cannot_be_written_is_a_failure),
	    IN_A_FOLDER(what_jobs_wait_for_is_told_once),
	    IN_A_FOLDER(only_one_follows_a_folder),
	    IN_A_FOLDER(who_is_told_to_stop_starts_nothing),
	    IN_A_FOLDER(the_whole_has_tried_each_cell_of_the_sweep),
	};
	return cmocka_run_group_tests_name("experiments/cluster/shards", tests,
	    NULL, NULL);
}
