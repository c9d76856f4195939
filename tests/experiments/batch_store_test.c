/* tests/experiments/batch_store_test.c -- the collector's files and its memory.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/batch_store.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiments/pingmesh/dsa/batch_set.h"
#include "tests/rigs/folder.h"
#include "tests/test.h"
#include "topo/addr.h"

enum { DAY = 86400, SIZE = 40 + 2 * 48 + 8 };

static const struct xp_batch_store_params params = {
    .file_bytes = 1 << 20,
    .total_bytes = 1 << 24,
    .max_runs = 1000,
    .sync = 0,
};

static off_t bytes_of(const char *name)
{
	struct stat st;
	return stat(test_path(name), &st) < 0 ? -1 : st.st_size;
}

/* Batch NUMBER of agent AGENT, of two records. */
static struct algo_pingmesh_wire_id make_batch(unsigned char bytes[SIZE],
    uint32_t agent, uint64_t number)
{
	static struct algo_pingmesh_batch b;
	struct algo_pingmesh_wire_id id;
	b.src_ip = topo_addr_of_host(agent);
	b.born_ns = 5;
	b.number = number;
	b.n = 2;
	b.record[0].src_ip = b.record[1].src_ip = b.src_ip;
	b.record[0].rtt_ns = number;
	assert_int_equal(algo_pingmesh_wire_encode(&b, NULL, bytes), SIZE);
	assert_ok(algo_pingmesh_wire_check(&id, bytes, SIZE, test_err()));
	return id;
}

static struct xp_batch_store *open_store(const struct xp_batch_store_params *p)
{
	struct xp_batch_store *s;
	assert_ok(xp_batch_store_open(&s, test_folder, p, test_err()));
	return s;
}

/* Returns 1 when the batch was new. */
static int put(struct xp_batch_store *s, uint32_t agent, uint64_t number,
    int64_t now_s)
{
	unsigned char bytes[SIZE];
	const struct algo_pingmesh_wire_id id =
	    make_batch(bytes, agent, number);
	int is_new;
	assert_ok(xp_batch_store_put(s, &id, bytes, SIZE, now_s, &is_new,
	    test_err()));
	return is_new;
}

static void set_length(const char *name, off_t n)
{
	assert_int_equal(truncate(test_path(name), n), 0);
}

static void write_at(const char *name, off_t at, const void *bytes, size_t n)
{
	const int fd = open(test_path(name), O_WRONLY | O_CREAT, 0600);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, bytes, n, at), n);
	close(fd);
}

/* --- the set -------------------------------------------------------------- */
static void the_set_agrees_with_a_plain_table(void **state)
{
	enum { AGENTS = 40, NUMBERS = 60 };
	(void)state;
	for (uint32_t run = 0; run < 20; run++) {
		struct xp_batch_set s = {.max_runs = 1 << 20};
		uint8_t has[AGENTS][NUMBERS + 2] = {0};
		struct sim_rng r;
		size_t n_runs = 0;
		test_rng(&r, run);
		for (int i = 0; i < 2000; i++) {
			const uint32_t a = (uint32_t)(sim_rng_u01(&r) * AGENTS);
			const uint32_t x =
			    1 + (uint32_t)(sim_rng_u01(&r) * NUMBERS);
			/* Two agents of one address differ in birth. */
			const struct algo_pingmesh_wire_id id =
			    {.src = topo_ip_of_4(a / 2),
				.born_ns = a % 2,
				.number = x};
			if (xp_batch_set_has(&s, &id) != has[a][x])
				fail_msg("seed %lu run %u: agent %u number %u",
				    (unsigned long)test_seed(), run, a, x);
			if (has[a][x])
				continue;
			assert_ok(xp_batch_set_reserve(&s, &id, test_err()));
			xp_batch_set_add(&s, &id);
			has[a][x] = 1;
		}
		for (int a = 0; a < AGENTS; a++)
			for (int x = 1; x <= NUMBERS; x++)
				n_runs += has[a][x] && !has[a][x - 1];
		assert_int_equal(s.n_runs, n_runs);
		assert_true(s.n_agents <= AGENTS);
		xp_batch_set_free(&s);
		assert_null(s.slot);
	}
}

static void batches_in_order_are_one_run_each_agent(void **state)
{
	struct xp_batch_set s = {.max_runs = 100};
	(void)state;
	for (uint64_t x = 1; x <= 10000; x++)
		for (uint32_t ip = 0; ip < 10; ip++) {
			const struct algo_pingmesh_wire_id id =
			    {.src = topo_ip_of_4(ip), .number = x};
			assert_ok(xp_batch_set_reserve(&s, &id, test_err()));
			xp_batch_set_add(&s, &id);
		}
	assert_int_equal(s.n_runs, 10);
	assert_int_equal(s.n_agents, 10);
	xp_batch_set_free(&s);
}

static void the_largest_number_is_a_number(void **state)
{
	struct xp_batch_set s = {.max_runs = 100};
	const uint64_t x[] = {UINT64_MAX, 1, UINT64_MAX - 1, 2};
	(void)state;
	for (int i = 0; i < 4; i++) {
		const struct algo_pingmesh_wire_id id = {.number = x[i]};
		assert_false(xp_batch_set_has(&s, &id));
		assert_ok(xp_batch_set_reserve(&s, &id, test_err()));
		xp_batch_set_add(&s, &id);
		assert_true(xp_batch_set_has(&s, &id));
	}
	assert_int_equal(s.n_runs, 2);
	xp_batch_set_free(&s);
}

/* At the limit nothing new is taken, though what is known still is; room comes
 * back when two runs become one. */
static void runs_have_a_limit(void **state)
{
	struct xp_batch_set s = {.max_runs = 3};
	struct algo_pingmesh_wire_id id = {.number = 0};
	struct sim_err e;
	(void)state;
	for (id.number = 1; id.number <= 3; id.number += 2)
		assert_int_equal(xp_batch_set_take(&s, &id, test_err()), 1);
	assert_int_equal(s.n_runs, 2);
	id.number = 2; /* between them */
	assert_int_equal(xp_batch_set_take(&s, &id, test_err()), 1);
	assert_int_equal(xp_batch_set_take(&s, &id, test_err()), 0);
	assert_int_equal(s.n_runs, 1);
	for (id.number = 5; id.number <= 7; id.number += 2)
		assert_int_equal(xp_batch_set_take(&s, &id, test_err()), 1);
	assert_int_equal(xp_batch_set_take(&s, &id, &e), SIM_ELIMIT);
	assert_string_equal(e.msg,
	    "3 runs of batches are known, and no more are allowed.");
	assert_false(xp_batch_set_has(&s, &id));
	id.number = 7;
	assert_int_equal(xp_batch_set_take(&s, &id, test_err()), 0);
	assert_int_equal(s.n_runs, 3);
	xp_batch_set_free(&s);
}

/* Batches say how many records their agent has lost so far, in any order; of an
 * agent that was started anew, or another, it is counted apart. */
static void what_agents_lost_is_the_most_that_was_said(void **state)
{
	static const struct {
		uint32_t src;
		uint64_t born, number, n_lost, sum;
	} t[] = {{1, 1, 1, 5, 5}, {1, 1, 3, 9, 9}, {1, 1, 2, 7, 9},
	    {2, 1, 1, 4, 13}, {1, 2, 1, 1, 14}, {1, 1, 4, 9, 14},
	    {1, 1, 5, 10, 15}, {2, 1, 2, 0, 15}};
	struct xp_batch_set s = {.max_runs = 100};
	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		const struct algo_pingmesh_wire_id id = {.src = topo_ip_of_4(
							     t[i].src),
		    .born_ns = t[i].born,
		    .number = t[i].number,
		    .n_lost = t[i].n_lost};
		assert_int_equal(xp_batch_set_take(&s, &id, test_err()), 1);
		assert_int_equal(s.n_lost, t[i].sum);
	}
	assert_int_equal(s.n_agents, 3);
	xp_batch_set_free(&s);
}

/* --- the store ------------------------------------------------------------ */
static void a_batch_is_taken_once_also_after_a_restart(void **state)
{
	struct xp_batch_store_params synced = params;
	(void)state;
	synced.sync = 1;
	struct xp_batch_store *s = open_store(&synced);
	assert_true(put(s, 1, 1, DAY));
	assert_true(put(s, 1, 2, DAY));
	assert_true(put(s, 2, 1, DAY));
	assert_false(put(s, 1, 2, DAY));
	assert_int_equal(xp_batch_store_held(s).n_batches, 3);
	assert_ok(xp_batch_store_close(s, test_err()));
	assert_int_equal(bytes_of("batches-19700102-0001.cpmb"), 3 * SIZE);
	s = open_store(&params);
	assert_false(put(s, 1, 1, DAY));
	assert_false(put(s, 1, 2, DAY));
	assert_false(put(s, 2, 1, DAY));
	assert_true(put(s, 2, 2, DAY));
	const struct xp_batch_held held = xp_batch_store_held(s);
	assert_true(held.n_files == 1 && held.n_bytes == 4 * SIZE &&
	    held.n_records == 8 && held.n_repeated == 0);
	assert_ok(xp_batch_store_close(s, test_err()));
	assert_int_equal(bytes_of("batches-19700102-0001.cpmb"), 4 * SIZE);
}

static void each_day_and_each_size_begins_a_file(void **state)
{
	struct xp_batch_store_params p = params;
	(void)state;
	p.file_bytes = 2 * SIZE;
	struct xp_batch_store *s = open_store(&p);
	for (uint64_t x = 1; x <= 5; x++)
		put(s, 1, x, 20487 * (int64_t)DAY); /* 2026-02-03 */
	put(s, 1, 6, 20488 * (int64_t)DAY - 1);
	put(s, 1, 7, 20488 * (int64_t)DAY);
	assert_ok(xp_batch_store_close(s, test_err()));
	assert_int_equal(bytes_of("batches-20260203-0001.cpmb"), 2 * SIZE);
	assert_int_equal(bytes_of("batches-20260203-0002.cpmb"), 2 * SIZE);
	assert_int_equal(bytes_of("batches-20260203-0003.cpmb"), 2 * SIZE);
	assert_int_equal(bytes_of("batches-20260204-0004.cpmb"), SIZE);
	/* A store that is opened again goes on with the newest file, and when
	 * that is full with the number after it. */
	s = open_store(&p);
	put(s, 1, 8, 20488 * (int64_t)DAY);
	put(s, 1, 9, 20488 * (int64_t)DAY);
	assert_int_equal(xp_batch_store_held(s).n_files, 5);
	assert_ok(xp_batch_store_close(s, test_err()));
	assert_int_equal(bytes_of("batches-20260204-0004.cpmb"), 2 * SIZE);
	assert_int_equal(bytes_of("batches-20260204-0005.cpmb"), SIZE);
}

/* Whatever a kill left of the last batch, the ones before it are there. */
static void any_torn_end_is_cut_off(void **state)
{
	const char *name = "batches-19700102-0001.cpmb";
	struct xp_batch_store *s = open_store(&params);
	(void)state;
	put(s, 1, 1, DAY);
	assert_ok(xp_batch_store_close(s, test_err()));
	for (off_t left = 0; left < SIZE; left++) {
		s = open_store(&params);
		assert_true(put(s, 1, 2, DAY));
		assert_ok(xp_batch_store_close(s, test_err()));
		set_length(name, SIZE + left);
		s = open_store(&params);
		const struct xp_batch_held held = xp_batch_store_held(s);
		assert_int_equal(held.n_batches, 1);
		assert_int_equal(held.n_bytes_cut, left);
		assert_int_equal(held.n_bytes, SIZE);
		assert_ok(xp_batch_store_close(s, test_err()));
		assert_int_equal(bytes_of(name), SIZE);
	}
}

/* Batches behind a damaged one may be good, so the file is not cut there. */
static void damage_is_left_alone_and_a_new_file_begun(void **state)
{
	const char *name = "batches-19700102-0001.cpmb";
	struct xp_batch_store *s = open_store(&params);
	(void)state;
	for (uint64_t x = 1; x <= 3; x++)
		put(s, 1, x, DAY);
	assert_ok(xp_batch_store_close(s, test_err()));
	write_at(name, SIZE + 50, "rot", 3);
	s = open_store(&params);
	assert_int_equal(xp_batch_store_held(s).n_bytes_damaged, 2 * SIZE);
	assert_int_equal(xp_batch_store_held(s).n_batches, 1);
	assert_false(put(s, 1, 1, DAY));
	assert_true(put(s, 1, 2, DAY));
	assert_ok(xp_batch_store_close(s, test_err()));
	assert_int_equal(bytes_of(name), 3 * SIZE);
	assert_int_equal(bytes_of("batches-19700102-0002.cpmb"), SIZE);
}

static void a_batch_that_two_files_hold_counts_once(void **state)
{
	unsigned char bytes[SIZE];
	(void)state;
	make_batch(bytes, 1, 1);
	write_at("batches-19700102-0001.cpmb", 0, bytes, SIZE);
	write_at("batches-19700102-0002.cpmb", 0, bytes, SIZE);
	/* Files that are not the store's own: one has another name, and one
	 * writes its number otherwise. */
	write_at("batches-19700102-3.cpmb", 0, bytes, SIZE);
	write_at("batches.cpmb", 0, bytes, SIZE);
	struct xp_batch_store *s = open_store(&params);
	const struct xp_batch_held held = xp_batch_store_held(s);
	assert_true(
	    held.n_files == 2 && held.n_batches == 1 && held.n_repeated == 1);
	assert_ok(xp_batch_store_close(s, test_err()));
}

static int put_code(struct xp_batch_store *s, uint64_t number,
    struct sim_err *e)
{
	unsigned char bytes[SIZE];
	const struct algo_pingmesh_wire_id id = make_batch(bytes, 1, number);
	int is_new;
	return xp_batch_store_put(s, &id, bytes, SIZE, DAY, &is_new, e);
}

static void limits_refuse_and_take_nothing(void **state)
{
	struct xp_batch_store_params p = params;
	struct sim_err e;
	(void)state;
	p.total_bytes = 2 * SIZE + 1;
	struct xp_batch_store *s = open_store(&p);
	put(s, 1, 1, DAY);
	put(s, 1, 2, DAY);
	assert_int_equal(put_code(s, 3, &e), SIM_ELIMIT);
	assert_non_null(strstr(e.msg, "289 are allowed"));
	assert_false(put(s, 1, 2, DAY)); /* a known one is still known */
	assert_ok(xp_batch_store_close(s, test_err()));
	/* What somebody takes away makes room, from the next second on. */
	p.file_bytes = SIZE;
	s = open_store(&p);
	assert_int_equal(unlink(test_path("batches-19700102-0001.cpmb")), 0);
	assert_true(put(s, 1, 3, DAY + 1));
	assert_int_equal(xp_batch_store_held(s).n_bytes, SIZE);
	assert_ok(xp_batch_store_close(s, test_err()));
}

/* Batches with gaps between them are a run each, and all that memory grows
 * with. */
static void strangers_fill_no_memory_and_keep_nobody_out(void **state)
{
	struct xp_batch_store_params p = params;
	(void)state;
	p.max_runs = 10;
	struct xp_batch_store *s = open_store(&p);
	/* Always between 5 and 10 of the last ones are known, but not more. */
	for (uint64_t x = 1; x <= 100; x++) {
		assert_true(put(s, 1, 2 * x, DAY));
		for (uint64_t k = 0; k < 5 && k < x; k++)
			assert_false(put(s, 1, 2 * (x - k), DAY));
	}
	assert_true(put(s, 1, 2, DAY));
	assert_ok(xp_batch_store_close(s, test_err()));
	s = open_store(&p);
	assert_false(put(s, 1, 2, DAY));
	assert_true(put(s, 2, 1, DAY));
	assert_ok(xp_batch_store_close(s, test_err()));
}

/* Of the last ones a half is filled while the one before it is still known; at
 * least one batch is a half. */
static void two_halves_are_known_and_what_was_before_is_not(void **state)
{
	static const struct {
		size_t max_runs;
		uint64_t half;
	} q[] = {{0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 2}, {10, 5}, {11, 5}};
	struct xp_batch_store_params p = params;
	(void)state;
	for (uint32_t i = 0; i < sizeof(q) / sizeof(q[0]); i++) {
		const uint64_t h = q[i].half, first = (99 / h - 1) * h + 1;
		p.max_runs = q[i].max_runs;
		struct xp_batch_store *s = open_store(&p);
		for (uint64_t x = 1; x <= 100; x++)
			assert_true(put(s, 1 + i, 2 * x, DAY));
		for (uint64_t x = first; x <= 100; x++)
			assert_false(put(s, 1 + i, 2 * x, DAY));
		assert_true(put(s, 1 + i, 2 * (first - 1), DAY));
		assert_ok(xp_batch_store_close(s, test_err()));
		assert_int_equal(unlink(
				     test_path("batches-19700102-0001.cpmb")),
		    0);
	}
}

static void a_server_has_its_part_of_each_day(void **state)
{
	struct xp_batch_store_params p = params;
	struct sim_err e;
	(void)state;
	p.client_bytes = 2 * SIZE;
	struct xp_batch_store *s = open_store(&p);
	put(s, 1, 1, DAY);
	put(s, 1, 2, DAY);
	assert_int_equal(put_code(s, 3, &e), SIM_ELIMIT);
	assert_non_null(strstr(e.msg, "has sent 288 bytes today"));
	assert_false(put(s, 1, 2, DAY));
	assert_true(
	    put(s, 2, 1, DAY)); /* but by chance, 1 in 17 thousand million */
	p.client_bytes = 3 * SIZE;
	xp_batch_store_change(s, &p);
	assert_true(put(s, 1, 3, DAY));
	assert_int_equal(put_code(s, 4, &e), SIM_ELIMIT);
	assert_true(put(s, 1, 4, 2 * DAY));
	assert_ok(xp_batch_store_close(s, test_err()));
}

static void old_files_go_by_themselves(void **state)
{
	struct xp_batch_store_params p = params;
	(void)state;
	p.keep_days = 2;
	struct xp_batch_store *s = open_store(&p);
	for (uint64_t x = 1; x <= 5; x++)
		put(s, 1, x, (int64_t)x * DAY);
	struct xp_batch_held held = xp_batch_store_held(s);
	assert_true(
	    held.n_gone == 2 && held.n_files == 3 && held.n_bytes == 3 * SIZE);
	assert_int_equal(bytes_of("batches-19700103-0002.cpmb"), -1);
	assert_int_equal(bytes_of("batches-19700104-0003.cpmb"), SIZE);
	assert_ok(xp_batch_store_close(s, test_err()));
	/* And to make room, the oldest. */
	p.total_bytes = 3 * SIZE;
	p.make_room = 1;
	s = open_store(&p);
	assert_true(put(s, 1, 6, 5 * DAY));
	held = xp_batch_store_held(s);
	assert_true(held.n_gone == 1 && held.n_bytes == 3 * SIZE);
	/* But not the file that is written. */
	assert_true(put(s, 1, 7, 5 * DAY));
	assert_int_equal(put_code(s, 8, test_err()), SIM_ELIMIT);
	assert_ok(xp_batch_store_close(s, test_err()));
	assert_int_equal(bytes_of("batches-19700106-0005.cpmb"), 3 * SIZE);
}

/* A time server is years ahead for two days, on and off, as there is another: what
 * was there stays for its days, and what came then goes once six days have files
 * behind it: days 4 and 5 have five files of their own and five of years to come, of
 * which all but the last have a file of their right day behind them. */
static void a_clock_that_is_years_ahead_for_a_while_empties_nothing(
    void **state)
{
	static const unsigned left[] = {24, 25, 25, 21, 20, 12, 7};
	const int64_t ahead = 4000 * DAY;
	struct xp_batch_store_params p = params;
	uint64_t x = 0;
	(void)state;
	p.keep_days = 6;
	struct xp_batch_store *s = open_store(&p);
	for (int64_t day = 1; day <= 3; day++)
		put(s, 1, ++x, day * DAY);
	for (int k = 0; k < 20; k++)
		put(s, 1, ++x, (4 + k / 10) * DAY + (k % 2 ? ahead : 0));
	assert_int_equal(xp_batch_store_held(s).n_gone, 0);
	for (int64_t day = 6; day <= 12; day++) {
		put(s, 1, ++x, day * DAY);
		assert_int_equal(xp_batch_store_held(s).n_files, left[day - 6]);
	}
	assert_ok(xp_batch_store_close(s, test_err()));
}

/* Who may write in the folder could put what never ends to read, or a way out of
 * it, where a file is expected. */
static void pipes_and_links_are_refused(void **state)
{
	struct xp_batch_store *s = NULL;
	(void)state;
	assert_int_equal(mkfifo(test_path("batches-19700102-0001.cpmb"), 0600),
	    0);
	assert_int_equal(xp_batch_store_open(&s, test_folder, &params,
			     test_err()),
	    SIM_EIO);
	assert_non_null(strstr(test_err()->msg, "0001.cpmb: not a file"));
	assert_int_equal(unlink(test_path("batches-19700102-0001.cpmb")), 0);
	write_at("elsewhere", 0, "", 0);
	assert_int_equal(symlink(test_path("elsewhere"),
			     test_path("batches-19700102-0001.cpmb")),
	    0);
	assert_int_equal(xp_batch_store_open(&s, test_folder, &params,
			     test_err()),
	    SIM_EIO);
}

/* The kernel refuses to write beyond a limit as it does on a full disk. */
static void a_full_disk_leaves_whole_batches(void **state)
{
	struct xp_batch_store *s = open_store(&params);
	(void)state;
	put(s, 1, 1, DAY);
	fflush(NULL);
	const pid_t pid = fork();
	if (pid == 0) {
		/* In a child, whose limits end with it; signal ignored, so
		 * that write() says EFBIG. */
		struct sim_err e;
		signal(SIGXFSZ, SIG_IGN);
		const struct rlimit small = {SIZE + 60, SIZE + 60};
		if (setrlimit(RLIMIT_FSIZE, &small) < 0)
			_exit(2);
		_exit(put_code(s, 2, &e) == SIM_EIO &&
			    put_code(s, 1, &e) == 0 &&
			    xp_batch_store_held(s).n_batches == 1
			? 0
			: 1);
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_int_equal(bytes_of("batches-19700102-0001.cpmb"), SIZE);
	assert_true(put(s, 1, 2, DAY));
	assert_ok(xp_batch_store_close(s, test_err()));
	assert_int_equal(bytes_of("batches-19700102-0001.cpmb"), 2 * SIZE);
}

static void a_folder_has_one_collector(void **state)
{
	struct xp_batch_store *s = open_store(&params), *other;
	struct sim_err e;
	(void)state;
	assert_int_equal(xp_batch_store_open(&other, test_folder, &params, &e),
	    SIM_EIO);
	assert_non_null(strstr(e.msg, "another collector"));
	assert_ok(xp_batch_store_close(s, test_err()));
	assert_int_equal(xp_batch_store_open(&other, "/proc/none/such", &params,
			     &e),
	    SIM_EIO);
	assert_ok(xp_batch_store_close(NULL, test_err()));
}

static int open_and_put(void *arg, struct sim_err *e)
{
	struct xp_batch_store *s;
	unsigned char bytes[SIZE];
	const struct algo_pingmesh_wire_id id = make_batch(bytes, 7, 1);
	int is_new, rc = xp_batch_store_open(&s, test_folder, &params, e);
	(void)arg;
	if (rc < 0)
		return rc;
	rc = xp_batch_store_put(s, &id, bytes, SIZE, DAY, &is_new, e);
	const int closed = xp_batch_store_close(s, e);
	return rc < 0 ? rc : closed;
}

static void every_failed_allocation_is_reported(void **state)
{
	(void)state;
	test_each_alloc_fails(open_and_put, NULL);
}

#define in_a_folder(f)                                                         \
	cmocka_unit_test_setup_teardown(f, test_folder_make, test_folder_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_set_agrees_with_a_plain_table),
	    cmocka_unit_test(batches_in_order_are_one_run_each_agent),
	    cmocka_unit_test(the_largest_number_is_a_number),
	    cmocka_unit_test(runs_have_a_limit),
	    cmocka_unit_test(what_agents_lost_is_the_most_that_was_said),
	    in_a_folder(a_batch_is_taken_once_also_after_a_restart),
	    in_a_folder(each_day_and_each_size_begins_a_file),
	    in_a_folder(any_torn_end_is_cut_off),
	    in_a_folder(damage_is_left_alone_and_a_new_file_begun),
	    in_a_folder(a_batch_that_two_files_hold_counts_once),
	    in_a_folder(limits_refuse_and_take_nothing),
	    in_a_folder(strangers_fill_no_memory_and_keep_nobody_out),
	    in_a_folder(two_halves_are_known_and_what_was_before_is_not),
	    in_a_folder(a_server_has_its_part_of_each_day),
	    in_a_folder(old_files_go_by_themselves),
	    in_a_folder(
		a_clock_that_is_years_ahead_for_a_while_empties_nothing),
	    in_a_folder(pipes_and_links_are_refused),
	    in_a_folder(a_full_disk_leaves_whole_batches),
	    in_a_folder(a_folder_has_one_collector),
	    in_a_folder(every_failed_allocation_is_reported),
	};
	return cmocka_run_group_tests_name("experiments/batch_store", tests,
	    NULL, NULL);
}
