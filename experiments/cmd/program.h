/* experiments/cmd/program.h -- what the program says of itself.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Help, manual pages and completion read it. It stands in main.c, outside the
 * library, as the date would otherwise be a part of what a build is.
 */
#ifndef EXPERIMENTS_CMD_PROGRAM_H
#define EXPERIMENTS_CMD_PROGRAM_H

struct cmd_verb {
	const char *name, *doc; /* DOC NULL: for programs, and never listed */
	int (*main)(int argc, char **argv);
};

/* A nameless row ends each. Options of the program itself are rows too. */
extern const struct cmd_verb cmd_verbs[], cmd_options[];

extern const char cmd_program_doc[], cmd_exit_codes[];

/* When the source was committed, in seconds of Unix time; 0: not known. */
extern const long long cmd_epoch;

#endif
