/* experiments/cmd/long_run.h -- options of daemons that nobody connects to.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_CMD_LONG_RUN_H
#define EXPERIMENTS_CMD_LONG_RUN_H

#include "experiments/cmd/option.h"

enum { CMD_MAX_MIB = 1 << 20 };

/* They fill `params` of struct args: user, log, status, memory_mib, for_s. */
/* clang-format off */
#define CMD_LONG_RUN_OPTIONS                                                   \
	{"user", 0, "NAME",                                                    \
	    "whom to become once all is open (root: nobody)",                  \
	    .take = cmd_take_text, .at = CMD_AT(params.user)},                 \
	{"log", 0, "FILE", "log to FILE, of 1 MiB, and FILE.1 (stderr)",       \
	    .take = cmd_take_log, .at = CMD_AT(params.log)},                   \
	{"status", 0, "FILE",                                                  \
	    "write status to FILE every 10 s; SIGUSR1 has it logged",          \
	    .take = cmd_take_text, .at = CMD_AT(params.status)},               \
	{"memory-mib", 0, "N",                                                 \
	    "die rather than take more private memory (64); 0: no limit",      \
	    .take = cmd_take_u32, .at = CMD_AT(params.memory_mib),             \
	    .max = CMD_MAX_MIB},                                               \
	{"for", 0, "S", "end after S seconds", .take = cmd_take_seconds,       \
	    .at = CMD_AT(params.for_s)}
/* clang-format on */

#endif
