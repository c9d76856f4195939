/* experiments/cmd/identity.h -- options of those that know each other by certificates.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_CMD_IDENTITY_H
#define EXPERIMENTS_CMD_IDENTITY_H

#include "experiments/cmd/option.h"
#include "experiments/live/identity.h"

/* Of a struct xp_identity_params. */
extern const struct cmd_option cmd_identity_options[];

/* Ends the program if a file is missing among them. */
void cmd_identity_check(const struct xp_identity_params *p,
    struct argp_state *state);

#endif
