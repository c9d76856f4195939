/* experiments/cmd/example.h -- what people type, a few lines for each verb.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * `--help` and the manual pages print them; a test reads each by the options of
 * its verb, so none can name what is no more.
 */
#ifndef EXPERIMENTS_CMD_EXAMPLE_H
#define EXPERIMENTS_CMD_EXAMPLE_H

#include <stdio.h>

struct cmd_example {
	const char *verb; /* "" of the program as a whole; "lab run" of one of
			     the verb's own verbs */
	const char *command, *doc;
};

/* A row of zeros ends it; the rows of a verb stand together. */
extern const struct cmd_example cmd_examples[];

/* The verb's first example, or the row of zeros; "lab" has those of "lab run",
 * too. */
const struct cmd_example *cmd_example_first(const char *verb);

/* Whether X, no row of zeros, is one of VERB's. */
int cmd_example_is_of(const struct cmd_example *x, const char *verb);

/* "Examples:" and those of VERB below each other, as for --help, with an empty
 * line before if OUT has something already; nothing if there are none. */
void cmd_example_print(FILE *out, const char *verb);

#endif
