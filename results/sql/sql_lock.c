/* results/sql/sql_lock.c -- one writer, and a log that is of this database.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * FILE.lock is held by who writes, and says which file FILE was then, by its inode
 * and its birth, as a file system gives the inode of one that went to the next:
 * SQLite would take the log of a database for that of any that is put in its place.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "results/sql/sql_parts.h"

enum { PATH_BYTES = 4096, WHICH_BYTES = 80 };

/* FILE with SUFFIX behind it. */
static int sql_beside(char name[PATH_BYTES], const struct res_sql *db,
    const char *suffix, struct sim_err *e)
{
	const int n = snprintf(name, PATH_BYTES, "%s%s", db->file, suffix);
	return n >= 0 && n < PATH_BYTES
	    ? 0
	    : sim_fail(e, SIM_EINVAL, "a name of more than %d bytes.",
		  PATH_BYTES - 6);
}

/* A second writer would find windows made that it is about to make. SQLite's own
 * locks last for a transaction, this one for as long as the process. */
int res_sql_lock(struct res_sql *db, struct sim_err *e)
{
	char name[PATH_BYTES];
	const int rc = sql_beside(name, db, ".lock", e);
	if (rc < 0)
		return rc;
	db->lock_fd =
	    open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (db->lock_fd < 0)
		return sim_fail(e, SIM_EIO, "cannot open %s: %s.", name,
		    strerror(errno));
	if (flock(db->lock_fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	return errno == EWOULDBLOCK
	    ? sim_fail(e, SIM_EIO, "another process writes %s (it holds %s).",
		  db->file, name)
	    : sim_fail(e, SIM_EIO, "cannot lock %s: %s.", name,
		  strerror(errno));
}

/* Which file FILE is. Where births are not kept they are 0. Returns 0 or -1. */
static int sql_which(const struct res_sql *db, char text[WHICH_BYTES])
{
	struct statx st;
	if (statx(AT_FDCWD, db->file, 0, STATX_INO | STATX_BTIME, &st) < 0)
		return -1;
	const int is_told = (st.stx_mask & STATX_BTIME) != 0;
	snprintf(text, WHICH_BYTES, "%" PRIu64 " %" PRId64 " %" PRIu32 "\n",
	    (uint64_t)st.stx_ino, is_told ? (int64_t)st.stx_btime.tv_sec : 0,
	    is_told ? (uint32_t)st.stx_btime.tv_nsec : 0);
	return 0;
}

/* Which one FILE was when it was last opened to write; "": nobody knows. */
static void sql_which_then(const struct res_sql *db, char text[WHICH_BYTES])
{
	char name[PATH_BYTES];
	*text = '\0';
	if (sql_beside(name, db, ".lock", NULL) < 0)
		return;
	const int fd =
	    open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return;
	const ssize_t n = read(fd, text, WHICH_BYTES - 1);
	close(fd);
	text[n > 0 && text[n - 1] == '\n' ? n : 0] = '\0';
}

int res_sql_check_log(const struct res_sql *db, struct sim_err *e)
{
	char log[PATH_BYTES], then[WHICH_BYTES], now[WHICH_BYTES];
	struct stat log_st;
	const int rc = sql_beside(log, db, "-wal", e);
	sql_which_then(db, then);
	if (rc < 0 || !*then || stat(log, &log_st) < 0 || log_st.st_size == 0 ||
	    sql_which(db, now) < 0 || strcmp(now, then) == 0)
		return rc;
	return sim_fail(e, SIM_EMISMATCH,
	    "%s was put in the place of another database, which %s goes on "
	    "with. Remove %s, whose windows are made again; or, if all of it "
	    "was copied here, %s.lock.",
	    db->file, log, log, db->file);
}

int res_sql_claim(const struct res_sql *db, struct sim_err *e)
{
	char then[WHICH_BYTES], now[WHICH_BYTES];
	if (sql_which(db, now) < 0)
		return sim_fail(e, SIM_EIO, "cannot look at %s: %s.", db->file,
		    strerror(errno));
	sql_which_then(db, then);
	if (strcmp(now, then) == 0)
		return 0;
	const size_t n = strlen(now);
	if (ftruncate(db->lock_fd, 0) == 0 &&
	    pwrite(db->lock_fd, now, n, 0) == (ssize_t)n &&
	    fsync(db->lock_fd) == 0)
		return 0;
	return sim_fail(e, SIM_EIO, "cannot write %s.lock: %s.", db->file,
	    strerror(errno));
}
