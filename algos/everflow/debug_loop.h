/* algos/everflow/debug_loop.h -- packets that go round, and where to cut.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A trace loops if one switch saw the packet twice within the same headers, or
 * to the same outer destination, and with other TTLs. (Around a load balancer a
 * healthy packet comes to a switch twice, but with another number of headers.)
 * The shortest such stretch is the cycle, in the order of the way; a switch
 * whose mirror was lost is filled in where the next copy tells its link. Traces
 * with the same cycle are one finding, whose `value` and `mask` are what their
 * destinations have in common.
 *
 * Each cycle is tried again: n_probes of the packet's tuple, by the first switch
 * that saw it; and every again_s once more until none loops. Persistent if one
 * of the latest did, or there are none. The cut is `link`: of a plain loop the
 * first link of the cycle by which a healthy network sends nothing to the
 * destination, and `node` the switch that does; of a loop through a mux, where
 * the packet has an outer header, the link to the host that sends it back. `rate`
 * is the share of probes that looped.
 *
 * No chance is in it: copies of one packet that differ so cannot come otherwise,
 * as long as a trace holds one packet only (enum algo_trace_key).
 *
 * Paper  Everflow (SIGCOMM'15).
 */
#ifndef ALGOS_EVERFLOW_DEBUG_LOOP_H
#define ALGOS_EVERFLOW_DEBUG_LOOP_H

#include "algos/everflow/debug.h"

/* As in a spec. */
struct algo_debug_loop_params {
	uint32_t n_probes, n_loops;
	double interval_ms, again_s;
};
extern const struct sim_field algo_debug_loop_fields[];
extern const struct algo_debugger algo_debug_loop;

#endif
