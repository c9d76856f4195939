/* sim/log.c -- leveled messages to a FILE* that the caller owns.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/log.h"

#include <stdarg.h>
#include <string.h>

static const char *const names[] = {
    [SIM_LOG_ERROR] = "error",
    [SIM_LOG_WARN] = "warning",
    [SIM_LOG_INFO] = "info",
    [SIM_LOG_DEBUG] = "debug",
};

/* The line is written with one call, so that lines of several processes on one
 * terminal do not mix. What does not fit ends in "...". */
void sim_log(const struct sim_log *l, enum sim_log_level level, const char *fmt,
    ...)
{
	if (!l || !l->out || level > l->level)
		return;
	char line[2048];
	const size_t room = sizeof(line) - 1; /* the newline */
	size_t len = (size_t)snprintf(line, room,
	    "%s%s%s: ", l->program ? l->program : "", l->program ? ": " : "",
	    names[level]);
	if (len < room) {
		va_list ap;
		va_start(ap, fmt);
		const int n = vsnprintf(line + len, room - len, fmt, ap);
		va_end(ap);
		len += n < 0 ? 0 : (size_t)n;
	}
	if (len >= room) {
		len = room - 1;
		memcpy(line + len - 3, "...", 3);
	}
	line[len++] = '\n';
	fwrite(line, 1, len, l->out);
}
