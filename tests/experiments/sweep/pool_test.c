/* tests/experiments/sweep/pool_test.c -- workers that err, die and hang.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A row is a function of its cell, and the parent counts how often it gets
 * each cell: whatever dies, all cells come once, with their own rows. Where one
 * thing is to come before another, a worker or the parent waits for what the
 * other side writes on the board, and gives up after a minute; nothing is
 * asked of how long anything takes. Who gets which cells is proved in
 * experiments_sweep_deal_test.c.
 */
#include "experiments/sweep/pool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/test.h"

enum { MAX_CELLS = 20000, MAX_ROW = 64 };

/* What a cell does in the worker. */
enum deed {
	ANSWER,
	ERR,
	ERR_WITHOUT_WORDS,
	SEGFAULT,
	ABORT,
	EXIT,
	KILL_9,
	CLOSE_ALL,
	LEAVE_CHILD, /* dies; its child keeps the socket open */
	SPOIL,       /* writes over its own block, and goes on */
	N_DEEDS,
};

static const char *const death[N_DEEDS] = {
    [SEGFAULT] = "the worker was killed by signal 11 (Segmentation fault).",
    [ABORT] = "the worker was killed by signal 6 (Aborted).",
    [EXIT] = "the worker exited with status 3.",
    [KILL_9] = "the worker was killed by signal 9 (Killed).",
    [CLOSE_ALL] = "the worker was killed by signal 9 (Killed).",
    [LEAVE_CHILD] = "the worker exited with status 4.",
    [SPOIL] = "the worker spoilt the memory that it shares.",
};

/* Seen by all processes. */
struct board {
	_Atomic int n_opens, n_serves, n_ended; /* cells, by workers */
	_Atomic int n_taken, n_ticks;           /* by the parent */
	_Atomic int n_alarms, n_alive;
	_Atomic int job_over, gave_up, n_children;
	_Atomic int n_waiting, go; /* of workers that wait in a cell */
	_Atomic int pid[8];
	_Atomic int served[MAX_CELLS];
};

struct fixture {
	struct xp_pool_job job;
	struct board *board;
	uint64_t cell[MAX_CELLS];
	unsigned char deed[MAX_CELLS], taken[MAX_CELLS];
	enum res_status status[MAX_CELLS];
	size_t n_taken, n_crashed;
	int deaths_in_open, opens_of_ten, open_error, take_error_at;
	const char *any_death;       /* expected text of all deaths */
	int look_ahead, interrupted; /* workers, all the time */
	int stop_at_waiting;         /* workers; 0: never */
	unsigned n_ticks_waited;
	unsigned sleep_us;
	/* In the worker, before it answers cell I. */
	void (*wait)(struct fixture *f, size_t i);
	size_t wait_at; /* for its use */
	size_t n_before_slow;
};

static double value(uint64_t cell, size_t i)
{
	return (double)cell * 64 + (double)i + 0.25;
}

static int open_worker(void *ctx, void **worker, struct sim_err *e)
{
	struct fixture *f = ctx;
	int n = f->board->n_opens++;
	if (n < 8)
		f->board->pid[n] = getpid();
	if (n < f->deaths_in_open || n % 10 >= f->opens_of_ten)
		raise(SIGKILL);
	if (f->open_error)
		return sim_fail(e, SIM_EPARSE, "no topology %d.",
		    f->open_error);
	if (f->interrupted)
		setitimer(ITIMER_REAL, &(struct itimerval){{0, 500}, {0, 500}},
		    NULL);
	*worker = f;
	return 0;
}

static void sleep_us(unsigned us)
{
	struct timespec t = {us / 1000000, us % 1000000 * 1000L};
	while (nanosleep(&t, &t) < 0)
		continue;
}

/* Wait until X, which somebody else writes, is at least AT_LEAST. Returns 0
 * after a minute. */
static int came_to(const _Atomic int *x, int at_least)
{
	for (unsigned ms = 0; *x < at_least && ms < 60000; ms++)
		sleep_us(1000);
	return *x >= at_least;
}

/* The same in a worker, of which run() is told. */
static void wait_for(struct board *b, const _Atomic int *x, int at_least)
{
	b->gave_up |= !came_to(x, at_least);
}

static _Noreturn void outlive_the_job(struct board *b)
{
	wait_for(b, &b->job_over, 1);
	b->n_children--;
	_exit(0);
}

/* A worker's block, as its address space has it: the only memory but the board
 * that is shared, and not a file's. It begins with what is begun, given and
 * done; filled with ones, that is beyond what it was given. */
static void spoil_block(const struct board *b)
{
	char line[512];
	FILE *maps = fopen("/proc/self/maps", "r");
	while (maps && fgets(line, sizeof(line), maps)) {
		unsigned long from, to;
		char mode[8];
		if (sscanf(line, "%lx-%lx %7s", &from, &to, mode) == 3 &&
		    strcmp(mode, "rw-s") == 0 && strstr(line, "/dev/zero") &&
		    from != (uintptr_t)b)
			memset((void *)from, 0xff, 12);
	}
}

static void do_deed(struct board *b, enum deed deed)
{
	struct rlimit no_core = {0, 0};
	setrlimit(RLIMIT_CORE, &no_core);
	signal(SIGSEGV, SIG_DFL); /* not the sanitizers' */
	signal(SIGABRT, SIG_DFL);
	switch (deed) {
	case SEGFAULT:
		raise(SIGSEGV);
		break;
	case ABORT:
		abort();
	case EXIT:
		_exit(3);
	case KILL_9:
		raise(SIGKILL);
		break;
	case CLOSE_ALL:
		closefrom(3);
		pause();
		break;
	case LEAVE_CHILD:
		b->n_children++;
		if (fork() == 0)
			outlive_the_job(b);
		_exit(4);
	case SPOIL:
		spoil_block(b);
		break;
	default:
		break;
	}
}

static int serve(void *worker, uint64_t cell, double row[], struct sim_err *e)
{
	struct fixture *f = worker;
	size_t i = cell % MAX_CELLS;
	f->board->served[i]++;
	f->board->n_serves++;
	for (size_t k = 0; k < f->job.row_doubles; k++)
		if (!isnan(row[k]))
			return sim_fail(e, SIM_EINVAL, "the row is not blank.");
	if (f->sleep_us > 0)
		sleep_us(f->sleep_us);
	if (f->wait)
		f->wait(f, i);
	if (f->deed[i] == ERR)
		return sim_fail(e, SIM_EDEP, "cell %d is bad.", (int)i);
	if (f->deed[i] == ERR_WITHOUT_WORDS)
		return SIM_EDEP;
	do_deed(f->board, f->deed[i]);
	for (size_t k = 0; k < f->job.row_doubles; k++)
		row[k] = value(cell, k);
	f->board->n_ended++;
	return 0;
}

static int take(void *ctx, uint64_t cell, enum res_status status,
    const double row[], const char *message, struct sim_err *e)
{
	struct fixture *f = ctx;
	size_t i = cell % MAX_CELLS;
	char text[64];
	f->taken[i]++;
	f->status[i] = status;
	if (i == f->wait_at)
		f->n_before_slow = f->n_taken;
	f->board->n_taken++;
	if ((int)++f->n_taken == f->take_error_at)
		return sim_fail(e, SIM_EIO, "the disk is full.");
	/* The worker begins the next cell while we are busy here. */
	if (f->look_ahead && f->n_taken == 1)
		assert_true(came_to(&f->board->n_serves, 2));
	switch (status) {
	case RES_DONE:
		assert_null(message);
		assert_int_equal(f->deed[i], ANSWER);
		for (size_t k = 0; k < f->job.row_doubles; k++)
			assert_true(row[k] == value(cell, k));
		break;
	case RES_FAILED:
		snprintf(text, sizeof(text), "cell %zu is bad.", i);
		if (f->deed[i] == ERR_WITHOUT_WORDS)
			strcpy(text, "a library reported a failure.");
		assert_string_equal(message, text);
		for (size_t k = 0; k < f->job.row_doubles; k++)
			assert_true(isnan(row[k]));
		break;
	case RES_CRASHED:
		f->n_crashed++;
		assert_null(row);
		assert_string_equal(message,
		    f->any_death ? f->any_death : death[f->deed[i]]);
		break;
	default:
		fail_msg("status %d", status);
	}
	return 0;
}

/* All workers wait in a cell. A single one goes on, and as it has begun another
 * it has finished that one, of which nobody told us. It has another at the
 * second tick, since it was fed after the first. */
static int stop_now(struct fixture *f)
{
	struct board *b = f->board;
	if (b->n_waiting < f->stop_at_waiting || ++f->n_ticks_waited < 2)
		return 0;
	if (f->stop_at_waiting == 1) {
		b->go = 1;
		assert_true(came_to(&b->n_waiting, 2));
	}
	return 7;
}

static int tick(void *ctx, struct sim_err *e)
{
	struct fixture *f = ctx;
	(void)e;
	f->board->n_ticks++;
	return f->stop_at_waiting > 0 ? stop_now(f) : 0;
}

/* Cells have numbers above 32 bits, in no simple order. */
static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	if (!f)
		return -1;
	f->board = mmap(NULL, sizeof(*f->board), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (f->board == MAP_FAILED)
		return -1;
	f->wait_at = SIZE_MAX;
	f->opens_of_ten = 10;
	for (size_t i = 0; i < MAX_CELLS; i++)
		f->cell[i] = i * 7919 % MAX_CELLS +
		    (uint64_t)MAX_CELLS * 1000000 * (i % 3);
	f->job = (struct xp_pool_job){
	    .n_workers = 2,
	    .n_cells = 500,
	    .cell = f->cell,
	    .row_doubles = 21,
	    .ctx = f,
	    .open = open_worker,
	    .serve = serve,
	    .take = take,
	    .tick = tick,
	};
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	munmap(f->board, sizeof(*f->board));
	free(f);
	return 0;
}

static size_t n_open_files(void)
{
	size_t n = 0;
	DIR *d = opendir("/proc/self/fd");
	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

/* Run the pool, and check that it leaves behind no open files, children or
 * changed signal masks. */
static int run(struct fixture *f, struct sim_err *e)
{
	const size_t n_files = n_open_files();
	sigset_t before = {0}, after = {0};
	sigprocmask(SIG_SETMASK, NULL, &before);
	int rc = xp_pool_run(&f->job, e);
	sigprocmask(SIG_SETMASK, NULL, &after);
	assert_memory_equal(&before, &after, sizeof(before));
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	assert_int_equal(n_open_files(), n_files);
	assert_false(f->board->gave_up);
	return rc;
}

/* Every cell came once, with the status that its deed calls for. */
static void assert_all_taken(const struct fixture *f)
{
	for (size_t i = 0; i < f->job.n_cells; i++) {
		size_t k = f->cell[i] % MAX_CELLS;
		enum res_status want = f->deed[k] == ANSWER ? RES_DONE
		    : f->deed[k] <= ERR_WITHOUT_WORDS       ? RES_FAILED
							    : RES_CRASHED;
		assert_int_equal(f->taken[k], 1);
		assert_int_equal(f->status[k], want);
		assert_int_equal(f->board->served[k], 1);
	}
}

static void all_cells_are_served_once(void **state)
{
	struct fixture *f = *state;
	const size_t sizes[] = {1, 2, 3, 5, 64, 1023, 20000};
	for (f->job.n_workers = 1; f->job.n_workers <= 4; f->job.n_workers++)
		for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
			memset(f->taken, 0, sizeof(f->taken));
			memset(f->board, 0, sizeof(*f->board));
			f->job.n_cells = sizes[k];
			assert_ok(run(f, test_err()));
			assert_all_taken(f);
			assert_true((size_t)f->board->n_opens <= sizes[k]);
			assert_true(f->board->n_opens <= (int)f->job.n_workers);
		}
}

static void rows_of_any_length_arrive(void **state)
{
	struct fixture *f = *state;
	const size_t lengths[] = {0, 1, 64, 1000, 100000};
	for (size_t k = 0; k < sizeof(lengths) / sizeof(lengths[0]); k++) {
		memset(f->taken, 0, sizeof(f->taken));
		memset(f->board, 0, sizeof(*f->board));
		f->job.n_cells = 100;
		f->job.row_doubles = lengths[k];
		assert_ok(run(f, test_err()));
		assert_all_taken(f);
	}
}

static void no_cells_take_no_worker(void **state)
{
	struct fixture *f = *state;
	f->job.n_cells = 0;
	assert_ok(run(f, test_err()));
	assert_int_equal(f->board->n_opens, 0);
}

static void no_worker_and_endless_rows_are_errors(void **state)
{
	struct fixture *f = *state;
	struct sim_err e;
	f->job.n_workers = 0;
	assert_int_equal(run(f, &e), SIM_ERANGE);
	f->job.n_workers = 2;
	f->job.row_doubles = SIZE_MAX / 16;
	assert_int_equal(run(f, &e), SIM_ENOMEM);
	f->job.row_doubles = (size_t)1 << 57;
	assert_int_equal(run(f, &e), SIM_ENOMEM);
	assert_int_equal(f->board->n_opens, 0);
}

static void errors_of_cells_come_back_with_their_message(void **state)
{
	struct fixture *f = *state;
	for (size_t i = 0; i < MAX_CELLS; i += 3)
		f->deed[i] = i % 2 ? ERR : ERR_WITHOUT_WORDS;
	assert_ok(run(f, test_err()));
	assert_all_taken(f);
	assert_int_equal(f->board->n_opens, 2);
}

static void a_worker_that_dies_costs_the_cell_it_was_in(void **state)
{
	struct fixture *f = *state;
	for (f->job.n_workers = 1; f->job.n_workers <= 4; f->job.n_workers++) {
		memset(f->taken, 0, sizeof(f->taken));
		memset(f->board, 0, sizeof(*f->board));
		for (size_t i = 0; i < f->job.n_cells; i++)
			f->deed[f->cell[i] % MAX_CELLS] =
			    i % 9 == 4 ? ERR + i / 9 % CLOSE_ALL : ANSWER;
		f->deed[f->cell[77] % MAX_CELLS] = LEAVE_CHILD;
		assert_ok(run(f, test_err()));
		assert_all_taken(f);
		f->board->job_over = 1;
		/* Before the board is used for the next job. */
		for (unsigned i = 0; f->board->n_children && i < 60000; i++)
			sleep_us(1000);
	}
	assert_true(f->n_crashed > 4 * 20);
}

static void cells_that_all_crash_are_all_reported(void **state)
{
	struct fixture *f = *state;
	f->job.n_cells = 50;
	memset(f->deed, ABORT, sizeof(f->deed));
	assert_ok(run(f, test_err()));
	assert_all_taken(f);
	assert_int_equal(f->board->n_opens, 50);
}

/* After nine crashes one worker dies in open: that is one in a row. */
static void crashes_are_not_counted_as_deaths_before_a_cell(void **state)
{
	struct fixture *f = *state;
	f->job.n_cells = 40;
	f->job.n_workers = 1;
	f->opens_of_ten = 9;
	memset(f->deed, ABORT, sizeof(f->deed));
	assert_ok(run(f, test_err()));
	assert_all_taken(f);
	assert_int_equal(f->board->n_opens, 44);
}

/* Cells are random deeds; workers 1 to 4. */
static void any_mixture_of_deaths_and_errors_is_survived(void **state)
{
	struct fixture *f = *state;
	for (uint32_t r = 0; r < 30; r++) {
		struct sim_rng rng;
		test_rng(&rng, r);
		memset(f->taken, 0, sizeof(f->taken));
		memset(f->board, 0, sizeof(*f->board));
		f->job.n_workers = 1 + sim_rng_u32(&rng) % 4;
		f->job.n_cells = 1 + sim_rng_u32(&rng) % 200;
		f->sleep_us = sim_rng_u32(&rng) % 2 * 300;
		for (size_t i = 0; i < MAX_CELLS; i++)
			f->deed[i] = sim_rng_u32(&rng) % 8 > 0
			    ? ANSWER
			    : sim_rng_u32(&rng) % (KILL_9 + 1);
		print_message("seed %llu run %u\n",
		    (unsigned long long)test_seed(), r);
		assert_ok(run(f, test_err()));
		assert_all_taken(f);
	}
}

static void an_error_of_open_ends_the_job_with_it(void **state)
{
	struct fixture *f = *state;
	struct sim_err e;
	f->open_error = 12;
	assert_int_equal(run(f, &e), SIM_EPARSE);
	assert_int_equal(e.code, SIM_EPARSE);
	assert_string_equal(e.msg, "no topology 12.");
}

static void a_few_deaths_before_the_first_cell_are_survived(void **state)
{
	struct fixture *f = *state;
	f->job.n_workers = 1;
	f->deaths_in_open = 7;
	assert_ok(run(f, test_err()));
	assert_all_taken(f);
	assert_int_equal(f->board->n_opens, 8);
}

static void workers_that_always_die_in_open_end_the_job(void **state)
{
	struct fixture *f = *state;
	struct sim_err e;
	for (f->job.n_workers = 1; f->job.n_workers <= 3; f->job.n_workers++) {
		f->board->n_opens = 0;
		f->deaths_in_open = 1000;
		assert_int_equal(run(f, &e), SIM_EDEP);
		assert_non_null(strstr(e.msg, "8 workers in a row"));
		assert_non_null(strstr(e.msg, "signal 9 (Killed)"));
		assert_in_range(f->board->n_opens, 8, 10);
	}
}

static void an_error_of_take_ends_the_job(void **state)
{
	struct fixture *f = *state;
	struct sim_err e;
	f->take_error_at = 5;
	assert_int_equal(run(f, &e), SIM_EIO);
	assert_string_equal(e.msg, "the disk is full.");
	assert_int_equal(f->n_taken, 5);
}

/* From WAIT_AT on, each cell waits to be killed, but the first that is told to
 * go on. */
static void wait_to_be_killed(struct fixture *f, size_t i)
{
	int go = 1;
	struct board *b = f->board;
	if (i < f->wait_at)
		return;
	b->n_waiting++;
	while (!atomic_compare_exchange_strong(&b->go, &go, 0)) {
		sleep_us(1000);
		go = 1;
	}
}

static void tick_stops_early_and_finished_cells_are_kept(void **state)
{
	struct fixture *f = *state;
	for (size_t i = 0; i < MAX_CELLS; i++)
		f->cell[i] = i;
	f->wait = wait_to_be_killed;
	f->wait_at = 40;
	for (f->job.n_workers = 1; f->job.n_workers <= 2; f->job.n_workers++) {
		size_t n = 0, n_served = 0;
		memset(f->board, 0, sizeof(*f->board));
		memset(f->taken, 0, sizeof(f->taken));
		f->n_ticks_waited = 0;
		f->stop_at_waiting = (int)f->job.n_workers;
		assert_int_equal(run(f, test_err()), 1);
		for (size_t i = 0; i < MAX_CELLS; i++) {
			n += f->taken[i];
			n_served += (size_t)f->board->served[i];
			assert_true(f->taken[i] <= 1);
			assert_true(f->board->served[i] <= 1);
		}
		/* The cell that each worker was in is lost, no other. */
		assert_int_equal(n_served - n, f->job.n_workers);
		assert_int_equal(n, f->board->n_ended);
	}
}

static void wait_for_ticks(struct fixture *f, size_t i)
{
	(void)i;
	wait_for(f->board, &f->board->n_ticks, 4);
}

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* They come while a worker is in a long cell, and at least 0.1 s lies between
 * two of them, however long that is. */
static void ticks_come_about_ten_times_a_second(void **state)
{
	struct fixture *f = *state;
	f->job.n_workers = 1;
	f->job.n_cells = 2;
	f->wait = wait_for_ticks;
	const double start = seconds();
	assert_ok(run(f, test_err()));
	assert_true(f->board->n_ticks >= 4);
	assert_true(0.1 * f->board->n_ticks <= seconds() - start);
	f->wait = NULL;
	f->job.tick = NULL;
	assert_ok(run(f, test_err()));
}

static void wait_for_all_others(struct fixture *f, size_t i)
{
	if (i == f->wait_at)
		wait_for(f->board, &f->board->n_taken, (int)f->job.n_cells - 1);
}

/* One cell does not end before all others are taken. So those that were given
 * to its worker are served by the other. */
static void an_idle_worker_takes_over_cells_given_to_another(void **state)
{
	struct fixture *f = *state;
	f->job.n_cells = 60;
	f->wait = wait_for_all_others;
	for (size_t i = 0; i < 60; i += 13) {
		memset(f->board, 0, sizeof(*f->board));
		memset(f->taken, 0, sizeof(f->taken));
		f->n_taken = 0;
		f->wait_at = f->cell[i] % MAX_CELLS;
		assert_ok(run(f, test_err()));
		assert_all_taken(f);
		assert_int_equal(f->n_before_slow, 59);
	}
}

static void wait_for_those_before(struct fixture *f, size_t i)
{
	if (i == f->wait_at)
		wait_for(f->board, &f->board->n_taken, f->board->n_ended);
}

/* One cell does not end before all that were answered are taken. */
static void answers_do_not_wait_behind_a_long_cell(void **state)
{
	struct fixture *f = *state;
	f->job.n_workers = 1;
	f->job.n_cells = 30;
	f->wait = wait_for_those_before;
	for (size_t i = 13; i < 17; i++) { /* in all positions of a batch */
		memset(f->board, 0, sizeof(*f->board));
		memset(f->taken, 0, sizeof(f->taken));
		f->n_taken = 0;
		f->wait_at = f->cell[i] % MAX_CELLS;
		assert_ok(run(f, test_err()));
		assert_all_taken(f);
		assert_int_equal(f->n_before_slow, i);
	}
}

/* Two cells are given at first, so that there is one to go on with. */
static void a_worker_goes_on_while_the_parent_is_busy(void **state)
{
	struct fixture *f = *state;
	f->job.n_workers = 1;
	f->job.n_cells = 5;
	f->look_ahead = 1;
	assert_ok(run(f, test_err()));
	assert_all_taken(f);
}

/* What a worker says that has spoilt its block is not believed: one cell is
 * reported, and those that it held go to another worker. */
static void a_worker_that_spoils_its_block_costs_one_cell(void **state)
{
	struct fixture *f = *state;
	size_t n_crashed = 0;
	f->job.n_workers = 1;
	f->any_death = death[SPOIL];
	f->deed[f->cell[100] % MAX_CELLS] = SPOIL;
	assert_ok(run(f, test_err()));
	for (size_t i = 0; i < f->job.n_cells; i++) {
		const size_t k = f->cell[i] % MAX_CELLS;
		assert_int_equal(f->taken[k], 1);
		n_crashed += f->status[k] == RES_CRASHED;
	}
	assert_int_equal(f->n_crashed, n_crashed);
	assert_true(n_crashed >= 1);
}

static int mask_and_files(void *worker, uint64_t cell, double row[],
    struct sim_err *e)
{
	const int quiet[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	(void)worker;
	for (size_t i = 0; i < 4; i++)
		raise(quiet[i]);
	if (n_open_files() > 2 + 3 + 1 + 1) /* . .. 0-2 socket opendir */
		return sim_fail(e, SIM_EINVAL, "%zu files are open.",
		    n_open_files());
	row[0] = value(cell, 0);
	return 0;
}

static void workers_ignore_the_parents_signals_and_files(void **state)
{
	struct fixture *f = *state;
	int fd[20];
	f->job.serve = mask_and_files;
	f->job.row_doubles = 1;
	f->job.n_cells = 10;
	for (size_t i = 0; i < 20; i++)
		fd[i] = open("/dev/null", O_RDONLY);
	assert_ok(run(f, test_err()));
	for (size_t i = 0; i < 20; i++)
		close(fd[i]);
	assert_int_equal(f->board->n_opens, 0 + 2);
	for (size_t i = 0; i < 10; i++)
		assert_int_equal(f->status[f->cell[i] % MAX_CELLS], RES_DONE);
}

static struct board *alarmed;

static void count_alarm(int sig)
{
	(void)sig;
	alarmed->n_alarms++;
}

/* The job goes on until the parent was interrupted ten times in it. */
static void wait_for_alarms(struct fixture *f, size_t i)
{
	if (i == f->wait_at)
		wait_for(f->board, &f->board->n_alarms, 10);
}

static void interrupted_system_calls_do_no_harm(void **state)
{
	struct fixture *f = *state;
	struct itimerval often = {{0, 500}, {0, 500}}, off = {{0, 0}, {0, 0}};
	struct sigaction act = {.sa_handler = count_alarm}; /* no SA_RESTART */
	alarmed = f->board;
	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	f->sleep_us = 500;
	f->wait = wait_for_alarms;
	f->wait_at = f->cell[77] % MAX_CELLS;
	for (size_t i = 0; i < MAX_CELLS; i += 16)
		f->deed[i] = KILL_9;
	f->deed[f->wait_at] = ANSWER;
	int rc = run(f, test_err());
	setitimer(ITIMER_REAL, &off, NULL);
	signal(SIGALRM, SIG_DFL);
	assert_ok(rc);
	assert_all_taken(f);
	assert_true(f->board->n_alarms >= 10);
}

/* The job goes on until whoever is idle was interrupted often in its sleep. */
static void look_who_is_alive(struct fixture *f, size_t i)
{
	if (i != f->wait_at)
		return;
	wait_for(f->board, &f->board->n_alarms, 400);
	for (size_t n = 0; n < 2; n++)
		f->board->n_alive += kill(f->board->pid[n], 0) == 0;
}

static void an_interrupted_worker_sleeps_on(void **state)
{
	struct fixture *f = *state;
	struct sigaction act = {.sa_handler = count_alarm}; /* no SA_RESTART */
	alarmed = f->board;
	sigaction(SIGALRM, &act, NULL);
	f->interrupted = 1;
	f->wait = look_who_is_alive;
	f->wait_at = f->cell[0] % MAX_CELLS;
	const int rc = run(f, test_err());
	signal(SIGALRM, SIG_DFL);
	assert_ok(rc);
	assert_all_taken(f);
	assert_int_equal(f->board->n_opens, 2);
	assert_int_equal(f->board->n_alive, 2);
}

static void a_parent_that_ignores_its_children_is_served(void **state)
{
	struct fixture *f = *state;
	for (size_t i = 0; i < MAX_CELLS; i += 10)
		f->deed[i] = i % 20 ? KILL_9 : EXIT;
	f->any_death = "the worker ended, it is not known how.";
	signal(SIGCHLD, SIG_IGN);
	int rc = run(f, test_err());
	signal(SIGCHLD, SIG_DFL);
	assert_ok(rc);
	assert_all_taken(f);
}

static int flush(void *worker, uint64_t cell, double row[], struct sim_err *e)
{
	(void)worker;
	(void)cell;
	(void)row;
	return fflush(NULL) == 0 ? 0 : sim_fail(e, SIM_EIO, "no flush.");
}

static int count(void *ctx, uint64_t cell, enum res_status status,
    const double row[], const char *message, struct sim_err *e)
{
	struct fixture *f = ctx;
	(void)cell;
	(void)row;
	(void)message;
	(void)e;
	f->n_taken += status == RES_DONE;
	return 0;
}

static void text_that_waits_in_stdio_is_printed_once(void **state)
{
	struct fixture *f = *state;
	char path[] = "/tmp/culprit-pool-XXXXXX", text[16] = "";
	f->job.serve = flush;
	f->job.take = count;
	f->job.n_cells = 1;
	fflush(stdout);
	const int was = dup(STDOUT_FILENO), fd = mkstemp(path);
	assert_true(was >= 0 && fd >= 0);
	dup2(fd, STDOUT_FILENO);
	printf("once");
	int rc = xp_pool_run(&f->job, test_err());
	fflush(stdout);
	dup2(was, STDOUT_FILENO);
	close(was);
	assert_ok(rc);
	assert_int_equal(f->n_taken, 1);
	assert_int_equal(pread(fd, text, sizeof(text) - 1, 0), 4);
	assert_string_equal(text, "once");
	close(fd);
	unlink(path);
}

static int hang(void *worker, uint64_t cell, double row[], struct sim_err *e)
{
	struct fixture *f = worker;
	(void)row;
	alarm(60); /* should nobody stop us */
	f->board->served[cell % MAX_CELLS] = 1;
	pause();
	return sim_fail(e, SIM_EINVAL, "no signal was to come through.");
}

/* We adopt the orphans, so that they can be waited for. */
static void workers_vanish_when_their_parent_is_killed(void **state)
{
	struct fixture *f = *state;
	int status;
	f->job.serve = hang;
	f->job.n_workers = 3;
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	pid_t pid = fork();
	if (pid == 0)
		_exit(xp_pool_run(&f->job, NULL) == 0);
	for (;;) {
		int n = 0;
		for (size_t i = 0; i < MAX_CELLS; i++)
			n += f->board->served[i];
		if (n == 3)
			break;
		sleep_us(1000);
	}
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	for (size_t i = 0; i < 3; i++) {
		pid_t orphan = f->board->pid[i];
		assert_int_equal(waitpid(orphan, &status, 0), orphan);
		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), SIGKILL);
	}
	prctl(PR_SET_CHILD_SUBREAPER, 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static int run_some(void *arg, struct sim_err *e)
{
	return run(arg, e);
}

static void every_failed_allocation_is_an_error(void **state)
{
	test_each_alloc_fails(run_some, *state);
}

static void no_process_to_be_had_is_an_error(void **state)
{
	struct fixture *f = *state;
	struct rlimit was, few;
	struct sim_err e;
	getrlimit(RLIMIT_NOFILE, &was);
	few = was;
	int lowest = dup(STDIN_FILENO);
	close(lowest);
	few.rlim_cur = (rlim_t)lowest;
	setrlimit(RLIMIT_NOFILE, &few);
	int rc = xp_pool_run(&f->job, &e);
	setrlimit(RLIMIT_NOFILE, &was);
	assert_int_equal(rc, SIM_EIO);
	assert_non_null(strstr(e.msg, strerror(EMFILE)));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(all_cells_are_served_once),
	    TEST(rows_of_any_length_arrive),
	    TEST(no_cells_take_no_worker),
	    TEST(no_worker_and_endless_rows_are_errors),
	    TEST(errors_of_cells_come_back_with_their_message),
	    TEST(a_worker_that_dies_costs_the_cell_it_was_in),
	    TEST(cells_that_all_crash_are_all_reported),
	    TEST(crashes_are_not_counted_as_deaths_before_a_cell),
	    TEST(any_mixture_of_deaths_and_errors_is_survived),
	    TEST(an_error_of_open_ends_the_job_with_it),
	    TEST(a_few_deaths_before_the_first_cell_are_survived),
	    TEST(workers_that_always_die_in_open_end_the_job),
	    TEST(an_error_of_take_ends_the_job),
	    TEST(tick_stops_early_and_finished_cells_are_kept),
	    TEST(ticks_come_about_ten_times_a_second),
	    TEST(an_idle_worker_takes_over_cells_given_to_another),
	    TEST(answers_do_not_wait_behind_a_long_cell),
	    TEST(a_worker_goes_on_while_the_parent_is_busy),
	    TEST(a_worker_that_spoils_its_block_costs_one_cell),
	    TEST(workers_ignore_the_parents_signals_and_files),
	    TEST(interrupted_system_calls_do_no_harm),
	    TEST(an_interrupted_worker_sleeps_on),
	    TEST(a_parent_that_ignores_its_children_is_served),
	    TEST(text_that_waits_in_stdio_is_printed_once),
	    TEST(workers_vanish_when_their_parent_is_killed),
	    TEST(every_failed_allocation_is_an_error),
	    TEST(no_process_to_be_had_is_an_error),
	};
	return cmocka_run_group_tests_name("experiments/sweep/pool", tests,
	    NULL, NULL);
}
