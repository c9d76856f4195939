/* sim/log.h -- leveled messages to a FILE* that the caller owns.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef SIM_LOG_H
#define SIM_LOG_H

#include <stdio.h>

enum sim_log_level { SIM_LOG_ERROR, SIM_LOG_WARN, SIM_LOG_INFO, SIM_LOG_DEBUG };

/* out = NULL: silent. Zeroed is silent. */
struct sim_log {
	FILE *out;
	enum sim_log_level level;
	const char *program; /* put before each line */
};

/* One line "program: warning: text"; the newline is added. L may be NULL. */
void sim_log(const struct sim_log *l, enum sim_log_level level, const char *fmt,
    ...) __attribute__((format(printf, 3, 4)));

#endif
