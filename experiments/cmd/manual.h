/* experiments/cmd/manual.h -- manual pages, of the tables that --help shows.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Pages are mdoc(7), which man and mandoc show. What a verb takes, says and
 * gives stands in its struct cmd_line; what pages have in common is here.
 */
#ifndef EXPERIMENTS_CMD_MANUAL_H
#define EXPERIMENTS_CMD_MANUAL_H

#include <stdio.h>

#include "experiments/cmd/option.h"

/* culprit-VERB(1), culprit(1), culprit-spec(5). */
void cmd_manual_verb(FILE *out, const struct cmd_table *t);
void cmd_manual_program(FILE *out);
void cmd_manual_spec(FILE *out);

#endif
