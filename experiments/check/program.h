/* experiments/check/program.h -- run a program and hear what it says.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_CHECK_PROGRAM_H
#define EXPERIMENTS_CHECK_PROGRAM_H

#include "sim/err.h"

struct xp_program {
	const char *const *argv; /* as of execvp() */
	const char *folder;      /* where it runs; NULL: here */
	const char *input;       /* a file as its stdin; NULL: none */
	unsigned long max_bytes; /* of each file that it writes */
	unsigned long max_cpu_s;
};

/* Run P to its end. *SAID, to be freed, is what it wrote to stdout, *ERRED what
 * it wrote to stderr; *STATUS is its exit status, or 128 and the signal that
 * ended it. It runs with LC_ALL=C, TZ=UTC and umask 077, and without TAR_OPTIONS.
 * Errors SIM_EIO (INPUT or FOLDER can't be opened, no process), SIM_EDEP (there
 * is no such program), SIM_ENOMEM. */
int xp_program_run(const struct xp_program *p, char **said, char **erred,
    int *status, struct sim_err *e);

#endif
