/* tests/experiments/power_sql_test.c -- what a loss of power leaves of a database.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Windows are made of a collector's files, with kills at any deed, on a disk that
 * notes what SQLite does to the database, its log and its journal
 * (tests/rigs/power.h). In each state that a loss of power could leave the database
 * must be whole, have what was there when it was last closed, and come to the same
 * rows as one that nothing befell.
 */
#include <dlfcn.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/live/windows.h"
#include "tests/rigs/folder.h"
#include "tests/rigs/live_fleet.h"
#include "tests/rigs/live_tables.h"
#include "tests/rigs/power.h"
#include "tests/test.h"

#define MIN (60 * SIM_SEC)

/* Of a moment and of the names at it; every how many-th moment; schedules. */
enum { MAX_STATES = 3, EVERY = 23, N_SCHEDULES = 1 };

static char store[96], on[96], after[96];
static uint64_t want[LIVE_TABLES];

/* --- what SQLite does, noted ----------------------------------------------- */

int __wrap_open(const char *path, int flags, ...);
int __wrap_close(int fd);
ssize_t __wrap_write(int fd, const void *bytes, size_t n);
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t n, off_t at);
int __wrap_ftruncate(int fd, off_t n);
int __wrap_fsync(int fd);
int __wrap_fdatasync(int fd);
int __wrap_unlink(const char *path);

static uint64_t n_syncs;

/* All other calls of SQLite can be replaced by its own means. What it syncs with
 * it finds in this program before it does in the C library. */
int fsync(int fd)
{
	n_syncs++;
	return __wrap_fsync(fd);
}

int fdatasync(int fd)
{
	n_syncs++;
	return __wrap_fdatasync(fd);
}

static int noted_open(const char *path, int flags, int mode)
{
	return __wrap_open(path, flags, (mode_t)mode);
}

static void note_sqlite(void)
{
	static const struct {
		const char *name;
		sqlite3_syscall_ptr call;
	} calls[] = {
	    {"open", (sqlite3_syscall_ptr)noted_open},
	    {"close", (sqlite3_syscall_ptr)__wrap_close},
	    {"write", (sqlite3_syscall_ptr)__wrap_write},
	    {"pwrite", (sqlite3_syscall_ptr)__wrap_pwrite},
	    {"pwrite64", (sqlite3_syscall_ptr)__wrap_pwrite},
	    {"ftruncate", (sqlite3_syscall_ptr)__wrap_ftruncate},
	    {"unlink", (sqlite3_syscall_ptr)__wrap_unlink},
	};
	void *lib = dlopen("libsqlite3.so.0", RTLD_NOW);
	assert_non_null(lib);
	__typeof__(sqlite3_vfs_find) *find =
	    (__typeof__(find))(uintptr_t)dlsym(lib, "sqlite3_vfs_find");
	assert_non_null(find);
	sqlite3_vfs *vfs = find(NULL);
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		vfs->xSetSystemCall(vfs, calls[i].name, calls[i].call);
}

/* --- windows --------------------------------------------------------------- */

/* When it is looked whether windows are due. A record comes late for the first
 * ones, so these are made anew. */
static const sim_ns nows[] = {LIVE_BEGIN + 21 * MIN, LIVE_BEGIN + 45 * MIN,
    LIVE_BEGIN + 150 * MIN};
enum { N_NOWS = sizeof(nows) / sizeof(*nows) };

static int step_at(const char *db, sim_ns now, struct sim_err *e)
{
	const struct xp_windows_params p = {.dir = store,
	    .db = db,
	    .info = live_info(LIVE_SERVICES),
	    .timers = "linux",
	    .grace_ns = 10 * MIN,
	    .late_ns = 60 * MIN,
	    .max_probes = 1000000,
	    .keep = RES_SQL_KEEP};
	struct xp_windows_done done;
	struct xp_windows *w;
	int rc = xp_windows_open(&w, &p, e);
	if (rc < 0)
		return rc;
	rc = xp_windows_step(w, now, &done, NULL, NULL, e);
	xp_windows_close(w);
	return rc;
}

static int64_t count_windows(const char *db, struct sim_err *e)
{
	struct res_sql *sql;
	int64_t n = -1;
	if (res_sql_open(&sql, db, RES_SQL_READ, e) == 0)
		res_sql_one(sql, "SELECT count(*) FROM window", NULL, 0, -1, &n,
		    e);
	res_sql_close(sql);
	return n;
}

/* Once it is closed, what was made is on disk. */
static int life(void *arg)
{
	struct sim_err e = {0};
	char db[128];
	int rc = 0;
	(void)arg;
	note_sqlite();
	snprintf(db, sizeof(db), "%s/jobs.db", on);
	for (int i = 0; rc == 0 && i < N_NOWS; i++) {
		rc = step_at(db, nows[i], &e);
		const int64_t n = rc < 0 ? -1 : count_windows(db, &e);
		if (n < 0)
			rc = rc < 0 ? rc : SIM_EIO;
		else
			power_promise((uint64_t)n);
	}
	if (rc < 0)
		fprintf(stderr, "%s\n", e.msg);
	else if (n_syncs == 0)
		fprintf(stderr, "SQLite synced nothing that was seen\n");
	return rc < 0 ? rc : n_syncs == 0;
}

static void assert_whole(const char *db)
{
	struct res_sql *sql;
	struct res_sql_rows *q;
	assert_ok(res_sql_open(&sql, db, RES_SQL_READ, test_err()));
	assert_ok(res_sql_ask(&q, sql, test_err(), "PRAGMA integrity_check"));
	assert_int_equal(res_sql_next(q, test_err()), 1);
	assert_string_equal(res_sql_text(q, 0), "ok");
	res_sql_done(q);
	assert_ok(res_sql_ask(&q, sql, test_err(), "PRAGMA foreign_key_check"));
	assert_int_equal(res_sql_next(q, test_err()), 0);
	res_sql_done(q);
	res_sql_close(sql);
}

/* The first steps may have been taken already; then they make nothing. */
static void look(const char *at, uint64_t n, void *arg)
{
	uint64_t got[LIVE_TABLES];
	char db[128];
	(void)arg;
	/* The same bytes are another file here. */
	snprintf(db, sizeof(db), "%s/jobs.db.lock", at);
	unlink(db);
	snprintf(db, sizeof(db), "%s/jobs.db", at);
	for (int i = 0; i < N_NOWS; i++) {
		struct sim_err e = {0};
		if (i == 0 && n > 0 && count_windows(db, &e) < (int64_t)n)
			fail_msg("%ld windows of %lu that were closed are "
				 "left: %s (seed %lu)",
			    (long)count_windows(db, &e), (unsigned long)n,
			    e.msg, (unsigned long)test_seed());
		assert_ok(step_at(db, nows[i], test_err()));
		assert_whole(db);
	}
	live_dump(db, got);
	live_assert_same(want, got, "seed", test_seed());
}

static void make_world(void)
{
	struct live_fleet w = {.dir = store, .period = 100 * SIM_SEC};
	live_fill(&w, LIVE_BEGIN, LIVE_BEGIN + 30 * MIN);
	for (int i = 0; i < N_NOWS; i++)
		assert_ok(step_at(test_path("whole.db"), nows[i], test_err()));
	live_dump(test_path("whole.db"), want);
}

static void anew(const char *dir)
{
	char line[256];
	snprintf(line, sizeof(line), "rm -rf %s && mkdir %s", dir, dir);
	assert_int_equal(system(line), 0);
}

static void what_was_closed_is_there_and_the_rest_is_made_again(void **state)
{
	const char *more = getenv("POWER_SQL_SCHEDULES");
	const uint32_t n_runs = more ? (uint32_t)atoi(more) : N_SCHEDULES;
	uint64_t n = 0;
	(void)state;
	make_world();
	for (uint32_t run = 0; run < n_runs; run++) {
		struct sim_rng kills;
		anew(on);
		anew(after);
		power_begin(on);
		power_every(more ? 1 : EVERY, run);
		test_rng(&kills, run);
		while (power_live(life, NULL, 40 + sim_rng_below(&kills, 400)))
			;
		n += power_replay(after, MAX_STATES, look, NULL);
	}
	print_message("database: %u schedules, %lu states after a loss of "
		      "power\n",
	    n_runs, (unsigned long)n);
	assert_true(n >= 10 * n_runs);
}

static int folders_make(void **state)
{
	if (test_folder_make(state) < 0)
		return -1;
	snprintf(store, sizeof(store), "%s/store", test_folder);
	snprintf(on, sizeof(on), "%s/on", test_folder);
	snprintf(after, sizeof(after), "%s/after", test_folder);
	return mkdir(store, 0700);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
		what_was_closed_is_there_and_the_rest_is_made_again),
	};
	return cmocka_run_group_tests_name("a database without power", tests,
	    folders_make, test_folder_remove);
}
