/* results/sql/sql_lock.c -- one writer, and a log that is of this database.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * FILE.lock is held by who writes, and says which file FILE was then, by its inode:
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

enum { PATH_BYTES = 4096, NUMBER_BYTES = 32 };

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

/* The inode that FILE had when it was last opened to write; 0: nobody knows. */
static uintmax_t sql_inode_then(const struct res_sql *db)
{
	char name[PATH_BYTES], text[NUMBER_BYTES] = "";
	if (sql_beside(name, db, ".lock", NULL) < 0)
		return 0;
	const int fd =
	    open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return 0;
	const ssize_t n = read(fd, text, sizeof(text) - 1);
	close(fd);
	return n > 0 && text[n - 1] == '\n' ? strtoumax(text, NULL, 10) : 0;
}

int res_sql_check_log(const struct res_sql *db, struct sim_err *e)
{
	char log[PATH_BYTES];
	struct stat st, log_st;
	const int rc = sql_beside(log, db, "-wal", e);
	const uintmax_t then = sql_inode_then(db);
	if (rc < 0 || then == 0 || stat(log, &log_st) < 0 ||
	    log_st.st_size == 0 || stat(db->file, &st) < 0 ||
	    (uintmax_t)st.st_ino == then)
		return rc;
	return sim_fail(e, SIM_EMISMATCH,
	    "%s was put in the place of another database, which %s goes on "
	    "with. Remove %s, whose windows are made again; or, if all of it "
	    "was copied here, %s.lock.",
	    db->file, log, log, db->file);
}

int res_sql_claim(const struct res_sql *db, struct sim_err *e)
{
	char text[NUMBER_BYTES];
	struct stat st;
	if (stat(db->file, &st) < 0)
		return sim_fail(e, SIM_EIO, "cannot look at %s: %s.", db->file,
		    strerror(errno));
	if (sql_inode_then(db) == (uintmax_t)st.st_ino)
		return 0;
	const int n = snprintf(text, sizeof(text), "%" PRIuMAX "\n",
	    (uintmax_t)st.st_ino);
	if (ftruncate(db->lock_fd, 0) == 0 &&
	    pwrite(db->lock_fd, text, (size_t)n, 0) == n &&
	    fsync(db->lock_fd) == 0)
		return 0;
	return sim_fail(e, SIM_EIO, "cannot write %s.lock: %s.", db->file,
	    strerror(errno));
}
