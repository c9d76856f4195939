/* algos/everflow/counter.h -- what analyzers count of copies that they drop.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Traces without anything odd are not kept; what they say is added up, and every
 * 10 s each analyzer puts out one row a key. A reader sums the rows of a key
 * over analyzers and time.
 *
 * Paper  Everflow (SIGCOMM'15): link load, link latency, latency of
 *        muxes, mirrored packets that were lost.
 */
#ifndef ALGOS_EVERFLOW_COUNTER_H
#define ALGOS_EVERFLOW_COUNTER_H

#include <stdint.h>

#include "sim/table.h"

/* X(kind, name, unit, what id and sub are) */
#define ALGO_COUNTER_KINDS(X)                                                  \
	X(LINK_PACKETS, "link_packets", "packets", "id: link")                 \
	X(LINK_BYTES, "link_bytes", "bytes", "id: link")                       \
	X(LINK_FLOWS, "link_flows", "flows", "id: link")                       \
	X(LINK_LATENCY, "link_latency", "round trips",                         \
	    "id: link away from the hosts or towards them, as probed; sub: "   \
	    "bin of the histogram")                                            \
	X(MIRROR_SENT, "mirror_sent", "copies",                                \
	    "id: switch; analyzer 0 tells it for all")                         \
	X(MIRROR_LOST, "mirror_lost", "copies",                                \
	    "id: switch; rows of one analyzer may be below 0, their sum "      \
	    "over all counts")                                                 \
	X(MUX_LATENCY, "mux_latency", "packets",                               \
	    "id: host of the mux; sub: bin of the histogram")                  \
	X(CUSTOM, "custom", "packets",                                         \
	    "id: of the counter that was added; sub: 0 packets, 1 bytes")
enum algo_counter_kind {
#define X(kind, name, unit, text) ALGO_COUNTER_##kind,
	ALGO_COUNTER_KINDS(X)
#undef X
	    ALGO_N_COUNTER_KINDS
};

/*  X(type, column, units, meaning) */
#define ALGO_COUNTER_COLUMNS(X)                                                \
	X(uint64_t, t_ns, "ns", "end of the span that it is about")            \
	X(uint32_t, analyzer, "1", "index of the analyzer")                    \
	X(uint32_t, id, "1", "of what, by its kind")                           \
	X(uint32_t, sub, "1", "part of that, by its kind; else 0")             \
	X(uint8_t, kind, "1", "enum algo_counter_kind")                        \
	X(double, value, "1", "how many; units by its kind")

struct algo_counters {
	SIM_TABLE_ARRAYS(ALGO_COUNTER_COLUMNS)
};
struct algo_counter {
	SIM_TABLE_FIELDS(ALGO_COUNTER_COLUMNS)
};
SIM_TABLE(algo_counters, algo_counter, ALGO_COUNTER_COLUMNS)

/* Bins of latencies: bin i holds times from 2^(i/4) to 2^((i+1)/4) us, the first
 * all below, the last all above; so each is 19 % wide, up to 65 ms. */
enum { ALGO_LATENCY_BINS = 64 };
unsigned algo_latency_bin(uint64_t ns);
uint64_t algo_latency_bin_ns(unsigned bin); /* its upper end */

#endif
