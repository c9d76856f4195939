/* results/segments.c -- a folder of files that records are only appended to.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/segments.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "results/file.h"
#include "sim/text.h"

int res_segments_failed(const struct res_segments *s, const char *what,
    const char *name, struct sim_err *e)
{
	return sim_fail(e, SIM_EIO, "cannot %s %s%s%s: %s.", what, s->dir,
	    *name ? "/" : "", name, strerror(errno));
}

/* --- names ---------------------------------------------------------------- */

static void segments_put_name(const struct res_segments_kind *kind,
    char name[RES_SEGMENT_NAME], unsigned day, unsigned number)
{
	snprintf(name, RES_SEGMENT_NAME, "%s-%08u-%04u.%s", kind->prefix, day,
	    number, kind->suffix);
}

int res_segments_is_one(const struct res_segments_kind *kind, const char *name,
    unsigned *day, unsigned *number)
{
	char again[RES_SEGMENT_NAME];
	const size_t n = strlen(kind->prefix);
	if (strncmp(name, kind->prefix, n) != 0 ||
	    sscanf(name + n, "-%8u-%9u.", day, number) != 2)
		return 0;
	segments_put_name(kind, again, *day, *number);
	return strcmp(name, again) == 0;
}

/* Files are sorted by their number, which goes up from file to file; the day
 * would be wrong where a clock was set back. */
static int segments_by_number(const void *a, const void *b, void *kind)
{
	unsigned day, x = 0, y = 0;
	res_segments_is_one(kind, (*(struct dirent *const *)a)->d_name, &day,
	    &x);
	res_segments_is_one(kind, (*(struct dirent *const *)b)->d_name, &day,
	    &y);
	return (x > y) - (x < y);
}

int res_segments_list(int dir_fd, const struct res_segments_kind *kind,
    struct dirent ***found)
{
	unsigned day, number;
	int n = 0;
	*found = NULL;
	const int n_all = scandirat(dir_fd, ".", found, NULL, NULL);
	if (n_all < 0)
		return -1;
	for (int i = 0; i < n_all; i++) {
		struct dirent *d = (*found)[i];
		if (res_segments_is_one(kind, d->d_name, &day, &number))
			(*found)[n++] = d;
		else
			free(d);
	}
	qsort_r(*found, (size_t)n, sizeof(**found), segments_by_number,
	    (void *)kind);
	return n;
}

void res_segments_seen(struct res_segments *s, const char *name)
{
	unsigned day;
	res_segments_is_one(s->kind, name, &day, &s->last_number);
}

int res_segments_read(int dir_fd, const char *dir, const char *name, int *fd,
    uint64_t *n_bytes, struct sim_err *e)
{
	struct stat st;
	int rc = 0;
	*fd =
	    openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (*fd < 0 || fstat(*fd, &st) < 0)
		rc = sim_fail(e, SIM_EIO, "cannot read %s/%s: %s.", dir, name,
		    strerror(errno));
	else if (!S_ISREG(st.st_mode))
		rc = sim_fail(e, SIM_EIO, "cannot read %s/%s: not a file.", dir,
		    name);
	if (rc == 0)
		*n_bytes = (uint64_t)st.st_size;
	else if (*fd >= 0)
		close(*fd);
	return rc;
}

int res_segments_remove(const struct res_segments *s, const char *name,
    struct sim_err *e)
{
	return unlinkat(s->dir_fd, name, 0) < 0 && errno != ENOENT
	    ? res_segments_failed(s, "remove", name, e)
	    : 0;
}

int64_t res_segments_day(const char *name)
{
	const char *day = strchr(name, '-');
	unsigned d = 0;
	if (!day || sscanf(day, "-%8u-", &d) != 1)
		return 0;
	struct tm t = {.tm_year = (int)(d / 10000) - 1900,
	    .tm_mon = (int)(d / 100 % 100) - 1,
	    .tm_mday = (int)(d % 100)};
	return (int64_t)timegm(&t) / 86400;
}

/* --- writing -------------------------------------------------------------- */

int res_segments_go_on(struct res_segments *s, const char *name, uint64_t whole,
    struct sim_err *e)
{
	struct stat st;
	s->fd = openat(s->dir_fd, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	if (s->fd < 0)
		return res_segments_failed(s, "open", name, e);
	if (fstat(s->fd, &st) < 0)
		return res_segments_failed(s, "inspect", name, e);
	if ((uint64_t)st.st_size > whole && ftruncate(s->fd, (off_t)whole) < 0)
		return res_segments_failed(s, "truncate", name, e);
	res_segments_seen(s, name);
	snprintf(s->name, sizeof(s->name), "%.*s", RES_SEGMENT_NAME - 1, name);
	s->day = res_segments_day(name);
	s->end = whole;
	return 0;
}

/* A full file is synced in any case, though without `sync` its records were
 * not, nor its name. */
int res_segments_end_file(struct res_segments *s, struct sim_err *e)
{
	int rc = 0;
	if (s->fd < 0)
		return 0;
	if (fdatasync(s->fd) < 0 || (!s->sync && fsync(s->dir_fd) < 0))
		rc = res_segments_failed(s, "sync", s->name, e);
	if (close(s->fd) < 0 && rc == 0)
		rc = res_segments_failed(s, "close", s->name, e);
	s->fd = -1;
	return rc;
}

static int segments_begin(struct res_segments *s, int64_t day,
    struct sim_err *e)
{
	const time_t at = (time_t)(day * 86400);
	char name[RES_SEGMENT_NAME];
	struct tm t;
	gmtime_r(&at, &t);
	segments_put_name(s->kind, name,
	    (unsigned)((t.tm_year + 1900) * 10000 + (t.tm_mon + 1) * 100 +
		t.tm_mday),
	    s->last_number + 1);
	const int fd = openat(s->dir_fd, name,
	    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
	if (fd < 0)
		return res_segments_failed(s, "create", name, e);
	/* A new file is lost with the power unless its folder is synced as
	 * well. */
	if (s->sync && fsync(s->dir_fd) < 0) {
		const int rc = res_segments_failed(s, "sync", "", e);
		close(fd);
		unlinkat(s->dir_fd, name, 0);
		return rc;
	}
	s->fd = fd;
	s->end = 0;
	s->day = day;
	s->last_number++;
	memcpy(s->name, name, sizeof(name));
	return 0;
}

/* A new file each day and at its size, so that old ones can be taken away while
 * this one is written. */
int res_segments_room(struct res_segments *s, size_t n, int64_t now_s,
    struct sim_err *e)
{
	const int64_t day = now_s / 86400;
	int rc;
	if (s->fd >= 0 && (s->day != day || s->end + n > s->file_bytes) &&
	    (rc = res_segments_end_file(s, e)) < 0)
		return rc;
	if (s->fd >= 0)
		return 0;
	rc = segments_begin(s, day, e);
	return rc < 0 ? rc : 1;
}

/* Cut off what was written of a record that failed. If that cannot be done
 * either, the file is left behind with a torn end, which a reader knows, and
 * the next record begins a new one. */
static void segments_take_back(struct res_segments *s)
{
	if (ftruncate(s->fd, (off_t)s->end) == 0)
		return;
	close(s->fd);
	s->fd = -1;
}

static int segments_sync(struct res_segments *s, struct sim_err *e)
{
	if (!s->sync || fdatasync(s->fd) == 0)
		return 0;
	/* After a failed sync the kernel may call the pages clean although they
	 * are not on the disk, so a second sync would say nothing. This file is
	 * not trusted with another record. */
	const int rc = res_segments_failed(s, "sync", s->name, e);
	segments_take_back(s);
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	return rc;
}

int res_segments_append(struct res_segments *s, const void *bytes, size_t n,
    struct sim_err *e)
{
	size_t put = 0;
	int rc = 0;
	while (put < n && rc == 0) {
		/* At a position, and not at the end of the file: what a failed
		 * write left there is written over. */
		const ssize_t k = pwrite(s->fd, (const char *)bytes + put,
		    n - put, (off_t)(s->end + put));
		if (k > 0)
			put += (size_t)k;
		else if (k == 0 || errno != EINTR)
			rc = res_segments_failed(s, "write", s->name, e);
	}
	if (rc < 0) {
		segments_take_back(s);
		return rc;
	}
	rc = segments_sync(s, e);
	if (rc == 0)
		s->end += n;
	return rc;
}

/* --- opening -------------------------------------------------------------- */

/* Names that a process made which was killed before it synced them are on disk
 * from here on, and the folder's own name, made a line above or back then. */
static int segments_sync_names(struct res_segments *s, struct sim_err *e)
{
	return res_file_sync_folder(s->dir) < 0 || fsync(s->dir_fd) < 0
	    ? res_segments_failed(s, "sync", "", e)
	    : 0;
}

static int segments_lock(struct res_segments *s, struct sim_err *e)
{
	if (mkdir(s->dir, 0750) < 0 && errno != EEXIST)
		return res_segments_failed(s, "make", "", e);
	s->dir_fd = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->dir_fd < 0)
		return res_segments_failed(s, "open", "", e);
	/* Found out now, and not at the first file of tomorrow. */
	if (faccessat(s->dir_fd, ".", W_OK | X_OK, AT_EACCESS) < 0)
		return res_segments_failed(s, "write in", "", e);
	/* The lock goes with the process, however it ends, so no stale one has
	 * ever to be removed. */
	if (flock(s->dir_fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (errno != EWOULDBLOCK)
		return res_segments_failed(s, "lock", "", e);
	return sim_fail(e, SIM_EIO,
	    "another %s holds %s: each needs a folder of its own.",
	    s->kind->owner, s->dir);
}

int res_segments_open(struct res_segments *s, const char *dir,
    const struct res_segments_kind *kind, uint64_t file_bytes, int sync,
    struct sim_err *e)
{
	*s = (struct res_segments){.kind = kind,
	    .file_bytes = file_bytes,
	    .sync = sync,
	    .dir_fd = -1,
	    .fd = -1};
	int rc = sim_dup(&s->dir, dir, e);
	if (rc == 0)
		rc = segments_lock(s, e);
	return rc < 0 ? rc : segments_sync_names(s, e);
}

int res_segments_close(struct res_segments *s, struct sim_err *e)
{
	const int rc = res_segments_end_file(s, e);
	if (s->dir_fd >= 0)
		close(s->dir_fd);
	s->dir_fd = -1;
	free(s->dir);
	s->dir = NULL;
	return rc;
}
