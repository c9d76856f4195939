/* experiments/cmd/signals.h -- signals that ask a long verb to end early.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_CMD_SIGNALS_H
#define EXPERIMENTS_CMD_SIGNALS_H

#include <signal.h>

/* From now on SIGINT, SIGTERM and SIGHUP set what this returns, and end nothing;
 * one that is ignored stays so. */
const volatile sig_atomic_t *cmd_catch_signals(void);

#endif
