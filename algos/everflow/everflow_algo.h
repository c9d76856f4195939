/* algos/everflow/everflow_algo.h -- Everflow's debuggers as diagnosers.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A window's copies go through an analyzer of its own, with defaults, and then a
 * debugger looks once at what came of them, of guided probes too, and asks for
 * nothing. Links of its findings are flagged by score; of a loop all links of the
 * cycle that lead away from the destination. A flow that sent again is blamed on
 * the flagged link of highest score that it crossed, if its path is known.
 * `everflow_drop` lists other links behind those, by traces that were dropped and
 * sent again, and then by suspects.
 */
#ifndef ALGOS_EVERFLOW_EVERFLOW_ALGO_H
#define ALGOS_EVERFLOW_EVERFLOW_ALGO_H

#include "algos/algo.h"

extern const struct algo_ops algo_everflow_latency_ops;
extern const struct algo_ops algo_everflow_drop_ops;
extern const struct algo_ops algo_everflow_loop_ops;

#endif
