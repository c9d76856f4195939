/* algos/everflow/analyzer.h -- copies in, finished traces and counters out.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	copies --> key --> ring of traces --> T without a copy --> checks -->
 *	    loop, drop, debug bit, special protocol: a trace, for the sink
 *	    anything else: added to counters
 *
 * It has no clock: time is that of the copies, and now and then whoever feeds it
 * says how late it is. What comes out does not depend on how copies are cut into
 * batches, unless the ring is full. All memory is taken by open(): 144 bytes a
 * trace of max_traces (ring.h), so at a rate of copies, 5 to a trace, about rate *
 * T * 29 bytes; 1.1 KB for each of max(4096, max_traces / 64) suspects; tables of
 * the network's links. Several analyzers share the work by reshuffle.h.
 *
 * A trace is stored if it has a loop, a suspected drop of whatever grade
 * (suspect.h), the debug bit, or is of a special protocol: pause frames, BGP,
 * NACKs; all are counted (meter.h). A trace also ends 2 T after its first copy,
 * so that an IP ID that comes again and again holds nothing up. DEPARTS: ours.
 *
 * Paper  Everflow (SIGCOMM'15).
 */
#ifndef ALGOS_EVERFLOW_ANALYZER_H
#define ALGOS_EVERFLOW_ANALYZER_H

#include "algos/everflow/custom.h"
#include "sim/field.h"
#include "sim/time.h"

/* What makes two copies those of one packet. PAPER: five-tuple and IP ID, which
 * comes again after 65,536 packets of a flow; DIGEST: the digest, too. */
enum algo_trace_key { ALGO_KEY_DIGEST, ALGO_KEY_PAPER };

/* As in a spec. */
struct algo_analyzer_params {
	uint32_t key;      /* enum algo_trace_key */
	double t_ms;       /* a trace is complete after this long without one */
	double confirm_ms; /* a suspected drop waits this long to be
			      confirmed or refuted */
	double counters_s; /* counters are put out this often */
	uint32_t max_traces; /* that are under way at once: sizes the ring */
	uint32_t store_all;  /* 1: every trace goes to the sink */
};
extern const struct sim_field algo_analyzer_fields[];

struct algo_analyzer;

/* Errors SIM_EINVAL, SIM_ENOMEM. ROUTING's topology is kept. */
int algo_analyzer_open(struct algo_analyzer **a,
    const struct algo_routing *routing, const struct algo_analyzer_params *p,
    uint32_t index, struct sim_err *e);
void algo_analyzer_close(struct algo_analyzer *a); /* NULL is fine */

/* Count all traces that end from now on by C, too, whose rows come with the other
 * counters; the analyzer keeps it. NULL: none. */
void algo_analyzer_count(struct algo_analyzer *a,
    struct algo_custom_counters *c);

/* Take rows FROM .. TO - 1 of COPIES; traces that end meanwhile go to SINK, rows
 * of counters are appended to COUNTERS. Times that go back are counted and taken
 * as the latest before. Errors those of the sink, SIM_ENOMEM of COUNTERS. */
int algo_analyzer_feed(struct algo_analyzer *a, const struct obs_mirror *copies,
    size_t from, size_t to, const struct algo_trace_sink *sink,
    struct algo_counters *counters, struct sim_err *e);

/* It is NOW: end what had no copy for T. SIM_NEVER: end all. */
int algo_analyzer_flush(struct algo_analyzer *a, sim_ns now,
    const struct algo_trace_sink *sink, struct algo_counters *counters,
    struct sim_err *e);

/* What it met. */
struct algo_analyzer_counts {
	uint64_t n_copies, n_traces, n_stored;
	uint64_t n_same;  /* duplicates */
	uint64_t n_lost;  /* mirrors missing by TTL or path */
	uint64_t n_early; /* traces ended since the ring was full */
	uint64_t n_long;  /* copies beyond what a trace can hold */
	uint64_t n_back;  /* copies whose time went back */
	uint64_t n_suspect, n_confirmed, n_refuted, n_loops;
};
const struct algo_analyzer_counts *algo_analyzer_counted(
    const struct algo_analyzer *a);

#endif
