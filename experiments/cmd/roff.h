/* experiments/cmd/roff.h -- text for people as mdoc(7).
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_CMD_ROFF_H
#define EXPERIMENTS_CMD_ROFF_H

#include <stdio.h>

/* As one argument of a macro, or a part of one: what roff would read as more
 * than a letter is escaped. */
void cmd_roff_word(FILE *out, const char *text, size_t n);

/* Text as --help has it: paragraphs with an empty line between them, lines that
 * begin with a blank as they stand, `code` in backquotes. No line is longer than
 * 78 bytes but one that stands as it is, and each sentence begins one. */
void cmd_roff_text(FILE *out, const char *text);

#endif
