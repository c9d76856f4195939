/* experiments/live/daemon_log.c -- files that a daemon writes, of bounded size.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/daemon_log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LINE = XP_DAEMON_TEXT + 64 };

int xp_daemon_file(int *fd, const char *path, struct sim_err *e)
{
	struct stat st;
	/* Files may be in folders that others can write to, while this process
	 * is still root: no links are followed, and what is no regular file,
	 * such as a pipe that would block, is refused. */
	*fd = open(path,
	    O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
	    0644);
	if (*fd < 0)
		return sim_fail(e, SIM_EIO, "cannot write %s: %s.", path,
		    errno == ELOOP ? "it is a link" : strerror(errno));
	if (fstat(*fd, &st) == 0 && S_ISREG(st.st_mode))
		return 0;
	close(*fd);
	*fd = -1;
	return sim_fail(e, SIM_EINVAL, "%s is no regular file.", path);
}

/* One write of always the same length, blanks filling up: who reads at any
 * moment gets one whole status, never the end of an older, longer one. */
void xp_daemon_replace(int fd, char text[XP_DAEMON_TEXT], size_t n)
{
	memset(text + n - 1, ' ', XP_DAEMON_TEXT - n);
	text[XP_DAEMON_TEXT - 1] = '\n';
	if (pwrite(fd, text, XP_DAEMON_TEXT, 0) < 0 ||
	    ftruncate(fd, XP_DAEMON_TEXT) < 0)
		return; /* the next one may be */
}

int xp_daemon_log_open(struct xp_daemon_log *l, const char *path,
    struct sim_err *e)
{
	char old[4096];
	int rc;
	*l = (struct xp_daemon_log){.fd = -1,
	    .old_fd = -1,
	    .max = XP_DAEMON_LOG_BYTES};
	if (!path)
		return 0;
	if (snprintf(old, sizeof(old), "%s.1", path) >= (int)sizeof(old))
		return sim_fail(e, SIM_EINVAL,
		    "the name of a log is too long.");
	if ((rc = xp_daemon_file(&l->fd, path, e)) < 0 ||
	    (rc = xp_daemon_file(&l->old_fd, old, e)) < 0) {
		xp_daemon_log_close(l);
		return rc;
	}
	const off_t end = lseek(l->fd, 0, SEEK_END);
	l->n = end > 0 ? (uint64_t)end : 0;
	return 0;
}

/* By copying, not by renaming: the user that the daemon has become may have no
 * right to the folder. If copying fails the old lines are lost, but the log
 * stays within its bound. */
static void rotate(struct xp_daemon_log *l)
{
	char buf[4096];
	ssize_t n;
	off_t at = 0;
	if (ftruncate(l->old_fd, 0) < 0)
		return;
	while ((n = pread(l->fd, buf, sizeof(buf), at)) > 0) {
		if (pwrite(l->old_fd, buf, (size_t)n, at) != n)
			break;
		at += n;
	}
	if (ftruncate(l->fd, 0) == 0)
		l->n = 0;
}

/* The variable names the socket that stderr was when the service began. It is
 * inherited by whoever a service starts, and stderr may lead elsewhere by then: so
 * device and inode have to be those. */
static int daemon_log_is_journal(void)
{
	const char *named = getenv("JOURNAL_STREAM");
	char own[64];
	struct stat st;
	if (!named || fstat(STDERR_FILENO, &st) < 0)
		return 0;
	snprintf(own, sizeof(own), "%ju:%ju", (uintmax_t)st.st_dev,
	    (uintmax_t)st.st_ino);
	return strcmp(named, own) == 0;
}

const char *xp_daemon_mark(enum xp_daemon_level level)
{
	if (!daemon_log_is_journal())
		return "";
	return level == XP_DAEMON_ERR    ? "<3>"
	    : level == XP_DAEMON_WARNING ? "<4>"
					 : "<6>";
}

/* The time is UTC and sorts as text; on stderr the journal puts its own time
 * before the line. */
static size_t begin_line(char line[LINE], int is_file,
    enum xp_daemon_level level, uint64_t wall_ns)
{
	const time_t s = (time_t)(wall_ns / 1000000000);
	struct tm utc;
	if (!is_file)
		return (size_t)snprintf(line, LINE,
		    "%sculprit: ", xp_daemon_mark(level));
	gmtime_r(&s, &utc);
	const size_t n = strftime(line, LINE, "%Y-%m-%dT%H:%M:%S", &utc);
	return n +
	    (size_t)snprintf(line + n, LINE - n, ".%03" PRIu64 "Z ",
		wall_ns / 1000000 % 1000);
}

void xp_daemon_log_say(struct xp_daemon_log *l, enum xp_daemon_level level,
    uint64_t wall_ns, const char *fmt, ...)
{
	const int is_file = l->fd >= 0;
	char line[LINE];
	size_t n = begin_line(line, is_file, level, wall_ns);
	va_list args;
	va_start(args, fmt);
	const int more = vsnprintf(line + n, LINE - 1 - n, fmt, args);
	va_end(args);
	if (more > 0)
		/* What is longer than a line is cut short, with room for the
		 * newline. */
		n += (size_t)more < LINE - 2 - n ? (size_t)more : LINE - 2 - n;
	line[n++] = '\n';
	if (!is_file) {
		fwrite(line, 1, n, stderr);
		return;
	}
	if (l->n + n > l->max)
		rotate(l);
	/* Rotating has failed: the line is dropped, as the disk is worth more
	 * than it is. */
	if (l->n + n > l->max)
		return;
	/* A log that cannot be written is no reason to stop probing. */
	const ssize_t done = pwrite(l->fd, line, n, (off_t)l->n);
	l->n += done > 0 ? (uint64_t)done : 0;
}

void xp_daemon_log_close(struct xp_daemon_log *l)
{
	if (l->fd >= 0)
		close(l->fd);
	if (l->old_fd >= 0)
		close(l->old_fd);
	l->fd = l->old_fd = -1;
}
