/* results/file.c -- whole files: read one, replace one without a half state.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/vec.h"

enum {
	PRIVATE = 0600,                   /* the mode of a file of secrets */
	TEMP_ROOM = sizeof(".tmp.") + 24, /* for a process id */
};

int res_file_failed(const char *verb, const char *path, struct sim_err *e)
{
	return sim_fail(e, SIM_EIO, "cannot %s %s: %s.", verb, path,
	    strerror(errno));
}

/* write() may take less than it was given, or be interrupted. */
static int write_all(int fd, const void *bytes, size_t n)
{
	const char *at = bytes;
	while (n > 0) {
		ssize_t done = write(fd, at, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -1;
		at += done;
		n -= (size_t)done;
	}
	return 0;
}

/* Open the folder of PATH, or "." or "/", and sync it. Some file systems cannot
 * sync a folder and say EINVAL; there is nothing more to do on those. */
int res_file_sync_folder(const char *path)
{
	char folder[PATH_MAX] = ".";
	const char *slash = strrchr(path, '/');
	/* The slash itself stays of "/file" alone. */
	const size_t n = slash ? (size_t)(slash - path) + (slash == path) : 0;
	if (n >= sizeof(folder)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if (slash)
		sprintf(folder, "%.*s", (int)n, path);
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	int rc = fsync(fd) < 0 && errno != EINVAL ? -1 : 0;
	int why = errno;
	close(fd);
	errno = why;
	return rc;
}

/* Write, sync and close. A full disk may be reported by any of the three, and
 * the first report is kept in errno. */
static int file_fill(int fd, const void *bytes, size_t n)
{
	int rc = write_all(fd, bytes, n);
	if (rc == 0)
		rc = fsync(fd);
	int why = errno;
	if (close(fd) < 0 && rc == 0)
		return -1;
	errno = why;
	return rc;
}

/* The process id keeps two writers of one PATH apart. O_NOFOLLOW refuses a link
 * that stands under the temporary name. MODE is less what the umask takes. */
static int file_temp(char **temp, int *fd, const char *path, mode_t mode,
    struct sim_err *e)
{
	const size_t size = strlen(path) + TEMP_ROOM;
	*fd = -1;
	if (!(*temp = malloc(size)))
		return sim_fail(e, SIM_ENOMEM, "no memory to write %s.", path);
	snprintf(*temp, size, "%s.tmp.%ld", path, (long)getpid());
	/* One that was left behind keeps the mode that it had. */
	if (mode == PRIVATE)
		unlink(*temp);
	*fd = open(*temp, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
	    mode);
	if (*fd >= 0)
		return 0;
	const int rc = res_file_failed("write", path, e);
	free(*temp);
	*temp = NULL;
	return rc;
}

int res_file_temp(char **temp, int *fd, const char *path, struct sim_err *e)
{
	return file_temp(temp, fd, path, 0666, e);
}

static int file_write(const char *path, const void *bytes, size_t n,
    mode_t mode, struct sim_err *e)
{
	char *temp;
	int fd, rc = file_temp(&temp, &fd, path, mode, e);
	if (rc < 0)
		return rc;
	if (file_fill(fd, bytes, n) < 0 || rename(temp, path) < 0) {
		rc = res_file_failed("write", path, e);
		unlink(temp);
	} else if (res_file_sync_folder(path) < 0)
		rc = res_file_failed("sync the folder of", path, e);
	free(temp);
	return rc;
}

int res_file_write(const char *path, const void *bytes, size_t n,
    struct sim_err *e)
{
	return file_write(path, bytes, n, 0666, e);
}

int res_file_write_private(const char *path, const void *bytes, size_t n,
    struct sim_err *e)
{
	return file_write(path, bytes, n, PRIVATE, e);
}

/* The file that link PATH leads to, to be freed; NULL: no regular one that has a
 * path. Errors SIM_ENOMEM. */
static int file_behind(char **real, const char *path, struct sim_err *e)
{
	struct stat st;
	*real = realpath(path, NULL);
	if (!*real && errno == ENOMEM)
		return sim_fail(e, SIM_ENOMEM, "no memory to write %s.", path);
	if (*real && (stat(*real, &st) < 0 || !S_ISREG(st.st_mode))) {
		free(*real);
		*real = NULL;
	}
	return 0;
}

int res_file_begin(struct res_file_draft *d, const char *path,
    struct sim_err *e)
{
	struct stat st;
	const int is_new = lstat(path, &st) < 0;
	int rc = 0;
	*d = (struct res_file_draft){.path = path, .fd = -1};
	/* A link stays, and what it leads to is replaced whole. */
	if (!is_new && S_ISLNK(st.st_mode) &&
	    (rc = file_behind(&d->real, path, e)) < 0)
		return rc;
	if (d->real)
		d->path = d->real;
	if (is_new || S_ISREG(st.st_mode) || d->real) {
		rc = res_file_temp(&d->temp, &d->fd, d->path, e);
	} else {
		/* Of what was there before no end is to be left. */
		d->fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
		rc = d->fd < 0 ? res_file_failed("write", path, e) : 0;
	}
	if (rc < 0) {
		free(d->real);
		d->real = NULL;
	}
	return rc;
}

int res_file_hand(const struct res_file_draft *d, struct sim_err *e)
{
	const int fd = fcntl(d->fd, F_DUPFD_CLOEXEC, 0);
	return fd < 0 ? res_file_failed("write", d->path, e) : fd;
}

int res_file_end(struct res_file_draft *d, int rc, struct sim_err *e)
{
	if (rc == 0 && d->temp && fsync(d->fd) < 0)
		rc = res_file_failed("write", d->path, e);
	if (close(d->fd) < 0 && rc == 0)
		rc = res_file_failed("write", d->path, e);
	if (rc == 0 && d->temp && rename(d->temp, d->path) < 0)
		rc = res_file_failed("write", d->path, e);
	if (rc < 0 && d->temp)
		unlink(d->temp);
	else if (d->temp && res_file_sync_folder(d->path) < 0)
		rc = res_file_failed("sync the folder of", d->path, e);
	free(d->temp);
	free(d->real);
	*d = (struct res_file_draft){.fd = -1};
	return rc;
}

/* Read N bytes, to the end as fstat() told it. A file that has shrunk or grown
 * since is being written by somebody, so it is refused as busy. */
static int file_read_all(int fd, char *to, size_t n)
{
	char more;
	while (n > 0) {
		ssize_t got = read(fd, to, n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			errno = got == 0 ? EBUSY : errno;
			return -1;
		}
		to += got;
		n -= (size_t)got;
	}
	if (read(fd, &more, 1) != 0) {
		errno = EBUSY;
		return -1;
	}
	return 0;
}

int res_file_look(const char *path, int *there, struct sim_err *e)
{
	struct stat st;
	*there = stat(path, &st) == 0;
	return *there && !S_ISREG(st.st_mode)
	    ? sim_fail(e, SIM_EIO, "cannot write %s: not a file.", path)
	    : 0;
}

int res_file_keep(const char *path, struct sim_err *e)
{
	char *to;
	int rc = sim_zalloc(&to, strlen(path) + 2, 1, e);
	if (rc < 0)
		return rc;
	sprintf(to, "%s~", path);
	/* By a link, so that PATH is there at any moment, and stays as it is
	 * should the disk be full. */
	if ((unlink(to) < 0 && errno != ENOENT) ||
	    (link(path, to) < 0 && rename(path, to) < 0))
		rc = sim_fail(e, SIM_EIO, "cannot keep %s as %s: %s.", path, to,
		    strerror(errno));
	free(to);
	return rc;
}

int res_file_read(const char *path, void **bytes, size_t *n, struct sim_err *e)
{
	struct stat st;
	/* O_NONBLOCK: opening a named pipe would else wait for a writer. */
	int rc = 0, fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return res_file_failed("read", path, e);
	*bytes = NULL;
	if (fstat(fd, &st) < 0)
		rc = res_file_failed("read", path, e);
	else if (!S_ISREG(st.st_mode))
		rc = sim_fail(e, SIM_EIO, "cannot read %s: not a file.", path);
	/* One byte more, for the 0. */
	else if (!(*bytes = malloc((size_t)st.st_size + 1)))
		rc = sim_fail(e, SIM_ENOMEM, "no memory for %s (%lld bytes).",
		    path, (long long)st.st_size);
	else if (file_read_all(fd, *bytes, (size_t)st.st_size) < 0)
		rc = res_file_failed("read", path, e);
	close(fd);
	if (rc < 0) {
		free(*bytes);
		*bytes = NULL;
		return rc;
	}
	*n = (size_t)st.st_size;
	((char *)*bytes)[*n] = '\0';
	return 0;
}
