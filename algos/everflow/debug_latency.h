/* algos/everflow/debug_latency.h -- which links make a pair of hosts slow?
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The links between switches that traces of the pair crossed, of SYNs or of
 * packets with the debug bit, and some others of the same classes to compare
 * with, are all probed at once: rounds by S1, S2, S1, one each interval. When
 * those have come they are judged together, once, by link_times.h: what is
 * healthy is accused with a chance of alpha at most. Links beyond the pair's are
 * not accused, but if no pair is named, any may be.
 *
 * A finding's rate is the share of rounds that are beyond what peers show, which
 * is a lower bound of the share of time: mirrors that take different times to the
 * analyzer hide the rest. It is intermittent unless the fastest and the slowest
 * tenth of rounds are late as the median is; then what counts is half of what the median is late. Its link is the
 * direction that is slow, as far as rounds tell (link_times.h), or else the one
 * that the pair's traces took.
 *
 * Paper  Everflow (SIGCOMM'15).
 */
#ifndef ALGOS_EVERFLOW_DEBUG_LATENCY_H
#define ALGOS_EVERFLOW_DEBUG_LATENCY_H

#include "algos/everflow/debug.h"

/* As in a spec. */
struct algo_debug_latency_params {
	uint32_t src_host, dst_host; /* the pair; 2^32-1: any */
	uint32_t n_probes;           /* rounds of a cable */
	uint32_t n_peers;            /* cables of a class to compare with */
	double interval_ms, give_up_s;
	double min_excess_us, alpha;
};
extern const struct sim_field algo_debug_latency_fields[];
extern const struct algo_debugger algo_debug_latency;

#endif
