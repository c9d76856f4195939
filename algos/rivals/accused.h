/* algos/rivals/accused.h -- blame of flows, by rows and components accused.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef ALGOS_RIVALS_ACCUSED_H
#define ALGOS_RIVALS_ACCUSED_H

#include "algos/rivals/ways.h"
#include "algos/verdict.h"
#include "models/obs.h"
#include "models/obs_tallies.h"

/* Blame each flow of WINDOW that a row names on the component that OUT accuses
 * and that most of the row's paths cross, the first accused among equals; on
 * nothing where there is none. A path may be in W without its switches, which
 * then are blamed for nothing. Errors SIM_ENOMEM. Cost O(lossy rows * (lengths of
 * their paths + accused)). */
int algo_accused_blame(const struct algo_ways *w, const struct obs *window,
    struct algo_verdicts *out, struct sim_err *e);

#endif
