/* sim/input.h -- a file that the user names is opened, and never waited for.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef SIM_INPUT_H
#define SIM_INPUT_H

#include <stdio.h>

/* PATH for reading, to be closed; or NULL, and *WHY, a few words. A named pipe
 * is refused, as opening it would wait for a writer for ever; a pipe without a
 * name, which a shell makes of <(...), is read. */
FILE *sim_input_open(const char *path, const char **why);

/* The same as a file descriptor, or -1. */
int sim_input_fd(const char *path, const char **why);

/* What zlib SAID of a descriptor, behind the "<fd:3>: " that it puts before. */
const char *sim_input_said(const char *said);

#endif
