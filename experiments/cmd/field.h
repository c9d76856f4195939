/* experiments/cmd/field.h -- fields as options: KEY=VALUE, and their help.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_CMD_FIELD_H
#define EXPERIMENTS_CMD_FIELD_H

#include <argp.h>
#include <stdio.h>

#include "sim/field.h"

/* Set a field of OBJ by ARG, "KEY=VALUE", as given to OPTION; argp_error() if
 * that is none of FIELDS, or no value of it. */
void cmd_field_set(const struct sim_field *fields, void *obj,
    const char *option, const char *arg, struct argp_state *state);

/* Of each field two lines: "  KEY=DEFAULT [LEAST, MOST]" and its doc. */
void cmd_field_help(FILE *out, const struct sim_field *f);

#endif
