/* experiments/live/daemon_log.h -- files that a daemon writes, of bounded size.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * They are opened while the process still has its rights, and from then on only
 * written to: so the user that it becomes needs no right to their folder. Only
 * regular files are opened, and no links are followed.
 *
 *	LOG      at most XP_DAEMON_LOG_BYTES
 *	LOG.1    what LOG held when it was last full, and began anew
 *	status   one text, replaced each time
 */
#ifndef EXPERIMENTS_LIVE_DAEMON_LOG_H
#define EXPERIMENTS_LIVE_DAEMON_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "sim/err.h"

enum { XP_DAEMON_LOG_BYTES = 1 << 20, XP_DAEMON_TEXT = 4096 };

struct xp_daemon_log {
	int fd, old_fd; /* -1: stderr */
	uint64_t n, max;
};

/* Open the log at PATH (NULL: stderr), at the end of what it holds. Errors
 * SIM_EIO, SIM_EINVAL (no regular file). */
int xp_daemon_log_open(struct xp_daemon_log *l, const char *path,
    struct sim_err *e);

/* How bad a line is, as syslog(3) numbers it. */
enum xp_daemon_level {
	XP_DAEMON_ERR = 3,
	XP_DAEMON_WARNING = 4,
	XP_DAEMON_INFO = 6,
};

/* What a line of LEVEL begins with on stderr: "<4>" as of sd-daemon(3) where that is
 * the journal, by JOURNAL_STREAM, so that it can be asked for by priority; else
 * nothing, as a terminal would show it. */
const char *xp_daemon_mark(enum xp_daemon_level level);

/* A line, of up to XP_DAEMON_TEXT bytes, after the time
 * (1970-01-01T00:00:00.000Z) in a file and after the mark and "culprit: " on
 * stderr, whose reader knows the time. What cannot be written is dropped. */
void xp_daemon_log_say(struct xp_daemon_log *l, enum xp_daemon_level level,
    uint64_t wall_ns, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void xp_daemon_log_close(struct xp_daemon_log *l);

/* A regular file to write to, to be closed. Errors as above. */
int xp_daemon_file(int *fd, const char *path, struct sim_err *e);

/* Make FD's file the N bytes of TEXT, which end in a newline: that and blanks
 * before it fill all of TEXT, so that each is written in one piece over the one
 * before. Domain 1 <= N <= XP_DAEMON_TEXT. */
void xp_daemon_replace(int fd, char text[XP_DAEMON_TEXT], size_t n);

#endif
