/* algos/pingmesh/hop_trace_algo.h -- traced switches, ranked, as a diagnoser.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * algo_hop_trace_rank() of the window's traces (models/obs_traces.h): the
 * switches above normal_rate are accused, worst first, the others listed by
 * their scores. No flow is blamed. A window without traces gives an empty
 * answer.
 *
 * Paper  Pingmesh (SIGCOMM'15), section 5.2.
 */
#ifndef ALGOS_PINGMESH_HOP_TRACE_ALGO_H
#define ALGOS_PINGMESH_HOP_TRACE_ALGO_H

#include "algos/algo.h"
#include "algos/pingmesh/hop_trace_rank.h"

extern const struct algo_ops algo_hop_trace_ops;

#endif
