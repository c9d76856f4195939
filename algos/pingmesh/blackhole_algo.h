/* algos/pingmesh/blackhole_algo.h -- the black-hole job as a diagnoser.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The verdict lists every ToR with a score above 0
 * (algos/pingmesh/blackhole.h), and accuses the candidates, worst first,
 * whether today's reloads suffice for them or not: which are reloaded is for
 * who has the budget.
 *
 * Where the trouble is above the ToRs of a pod, as when all of them are
 * candidates, none is accused: the job does not say at which of their T1s or
 * the T2s it is. Those ToRs stay in the list by their scores. So a bad T1 is a
 * miss and no ToR is falsely accused for it; and a pod all of whose ToRs are
 * bad is missed.
 *
 * A window without probes gives an empty answer. No flow is blamed.
 *
 * Errors of open() SIM_EUNSUPPORTED for a topology that is no Clos.
 * Paper  Pingmesh (SIGCOMM'15), section 5.1.
 */
#ifndef ALGOS_PINGMESH_BLACKHOLE_ALGO_H
#define ALGOS_PINGMESH_BLACKHOLE_ALGO_H

#include "algos/algo.h"
#include "algos/pingmesh/blackhole.h"

extern const struct algo_ops algo_blackhole_ops;

#endif
