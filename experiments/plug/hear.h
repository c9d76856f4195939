/* experiments/plug/hear.h -- a description, from the process that gives it.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_PLUG_HEAR_H
#define EXPERIMENTS_PLUG_HEAR_H

#include "experiments/plug/about.h"
#include "experiments/plug/child.h"

/* The first that C writes is a description; A is to be freed either way. Errors
 * SIM_EDEP, SIM_ENOMEM. */
int plug_about_hear(struct plug_child *c, struct plug_about *a,
    struct sim_err *e);

#endif
