/* experiments/everflow/judge.h -- a debugger on evidence, once, and what it says.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_EVERFLOW_JUDGE_H
#define EXPERIMENTS_EVERFLOW_JUDGE_H

#include "experiments/everflow/everflow.h"

/* Let debugger WHICH look at IN, whose topology is known, and write what it says,
 * for people or as one JSON object. What it would probe is not asked for. Errors
 * those of the debugger, SIM_ENOMEM. */
int xp_judge(const struct xp_everflow *p, unsigned which,
    const struct algo_debug_in *in, int json, FILE *out, struct sim_err *e);

#endif
