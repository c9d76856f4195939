/* experiments/cmd/complete.h -- what a shell may put for the word being typed.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * `culprit complete WORD...` prints what the last WORD, which may be empty, can
 * become, by the tables of options and by what is there to be named: a line a
 * candidate, with a tab and what it is. A line that begins with a tab asks the
 * shell for its own: "\tfiles" for files, "\tfiles .h5" for those that end so,
 * "\tfolders". Nothing is to be typed behind a candidate that ends in "=".
 */
#ifndef EXPERIMENTS_CMD_COMPLETE_H
#define EXPERIMENTS_CMD_COMPLETE_H

#include <stdio.h>

#include "experiments/cmd/option.h"

/* Candidates for the last of N words behind a verb. */
void cmd_complete_words(FILE *out, const struct cmd_table *t, int n,
    char *const word[]);

#endif
