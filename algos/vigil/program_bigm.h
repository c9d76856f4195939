/* algos/vigil/program_bigm.h -- the integer program of 007's released code.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef ALGOS_VIGIL_PROGRAM_BIGM_H
#define ALGOS_VIGIL_PROGRAM_BIGM_H

#include "algos/vigil/milp.h"
#include "algos/vigil/tally.h"
#include "models/obs.h"

/* Touched link i has columns 3 i + A, + P and + T. */
enum algo_bigm_col { ALGO_BIGM_A, ALGO_BIGM_P, ALGO_BIGM_T };

/* Build the program of tally T of window W in M and solve it;
 * algos/vigil/program.h says what it is and what value and bound mean.
 * COL_OF[l] is the index of link l among the touched ones. A window without
 * failures is solved by nothing.
 * Errors SIM_ENOMEM, SIM_ELIMIT, SIM_EDEP. */
int algo_program_bigm(struct algo_milp *m, const struct algo_tally *t,
    const struct obs *w, uint32_t col_of[], struct algo_milp_limits *limits,
    struct algo_solution *out, struct sim_err *e);

#endif
