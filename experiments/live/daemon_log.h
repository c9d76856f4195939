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

/* A line, of up to XP_DAEMON_TEXT bytes, after the time
 * (1970-01-01T00:00:00.000Z) in a file and after "culprit: " on stderr, whose
 * reader knows the time. What cannot be written is dropped. */
void xp_daemon_log_say(struct xp_daemon_log *l, uint64_t wall_ns,
    const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void xp_daemon_log_close(struct xp_daemon_log *l);

/* A regular file to write to, to be closed. Errors as above. */
int xp_daemon_file(int *fd, const char *path, struct sim_err *e);

/* Make FD's file the N bytes of TEXT, which end in a newline: that and blanks
 * before it fill all of TEXT, so that each is written in one piece over the one
 * before. Domain 1 <= N <= XP_DAEMON_TEXT. */
void xp_daemon_replace(int fd, char text[XP_DAEMON_TEXT], size_t n);

#endif
