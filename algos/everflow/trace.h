/* algos/everflow/trace.h -- a packet's trace: all its copies, put together.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What an analyzer makes of the copies (models/obs_mirror.h) of one packet: the
 * packet once, and a hop for each switch that saw it, in the order of its way.
 * Stored as two tables; those of a trace's hops are hop_off .. hop_off + n_hops
 * - 1.
 *
 * Paper  Everflow (SIGCOMM'15): one full copy, and for each hop the
 *        switch, time, TTL, previous hop, DSCP and ECN.
 */
#ifndef ALGOS_EVERFLOW_TRACE_H
#define ALGOS_EVERFLOW_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "models/obs_mirror.h"
#include "sim/table.h"
#include "topo/topo.h"

/* Bits of a trace's marks. X(bit, word in filters, meaning) */
#define ALGO_TRACE_MARKS(X)                                                    \
	X(LOOP, "loop", "a switch saw it twice, with different TTLs")          \
	X(SUSPECT, "suspect", "not seen where it should have gone")            \
	X(CONFIRMED, "confirmed", "a drop: it was sent again")                 \
	X(REFUTED, "refuted", "no drop: an answer or later one covers it")     \
	X(PROBE, "probe", "a guided probe")                                    \
	X(DEBUG, "debug", "it has the debug bit")                              \
	X(ENCAP, "encap", "some copy has an outer header")                     \
	X(COMPLETE, "complete", "seen at each switch of a whole path")         \
	X(MUX, "mux", "seen before and behind a load balancer")                \
	X(RETX, "retx", "it has the mark of what is sent again")               \
	X(EARLY, "early", "ended before its time, since the ring was full")
enum {
#define X(mark, word, text) ALGO_TRACE_AT_##mark,
	ALGO_TRACE_MARKS(X)
#undef X
	    ALGO_TRACE_N_MARKS
};
enum algo_trace_mark {
#define X(mark, word, text) ALGO_TRACE_##mark = 1 << ALGO_TRACE_AT_##mark,
	ALGO_TRACE_MARKS(X)
#undef X
};
/* A drop by any grade: suspect alone is right with probability p / (p + m), for
 * loss p of the link and m of mirrors; see check.h. SUSPECT, CONFIRMED and
 * REFUTED exclude each other. */
enum {
	ALGO_TRACE_DROPS = ALGO_TRACE_SUSPECT | ALGO_TRACE_CONFIRMED,
};

/*  X(type, column, units, meaning) */
#define ALGO_TRACE_COLUMNS(X)                                                  \
	X(uint64_t, t_ns, "ns", "first copy, by the analyzer's clock")         \
	X(uint64_t, end_ns, "ns", "last copy")                                 \
	X(uint64_t, digest, "1", "the 8 bytes behind the ports")               \
	X(uint64_t, hop_off, "1", "index of its first hop")                    \
	X(uint32_t, analyzer, "1", "index of the analyzer")                    \
	X(uint32_t, marks, "1", "bits of enum algo_trace_mark")                \
	X(uint32_t, src_ip, "1", "innermost source")                           \
	X(uint32_t, dst_ip, "1", "innermost destination")                      \
	X(uint32_t, seq, "1", "TCP sequence number; RoCE: PSN")                \
	X(uint32_t, ack, "1", "TCP acknowledgement; pause frames: quanta")     \
	X(uint32_t, n_bytes, "bytes", "of the frame, less outer headers")      \
	X(uint32_t, last_node, "1", "switch that saw it last")                 \
	X(uint32_t, lost_link, "1",                                            \
	    "of a drop: where it should have gone on; 2^32-1 = unknown")       \
	X(uint16_t, src_port, "1", "TCP or UDP source port")                   \
	X(uint16_t, dst_port, "1", "TCP or UDP destination port")              \
	X(uint16_t, ip_id, "1", "of the innermost header")                     \
	X(uint16_t, n_hops, "1", "copies that it keeps, sorted")               \
	X(uint16_t, n_lost, "copies", "mirrors that are missing for certain")  \
	X(uint16_t, n_same, "copies", "duplicates that were dropped")          \
	X(uint8_t, proto, "1", "of the innermost header; 0 = not IP")          \
	X(uint8_t, flags, "1", "TCP flags; pause frames: their classes")       \
	X(uint8_t, kind, "1", "enum obs_copy_kind")                            \
	X(uint8_t, bth_opcode, "1", "RoCE: BTH opcode")                        \
	X(uint8_t, aeth, "1", "RoCE: syndrome of an acknowledgement")

struct algo_traces {
	SIM_TABLE_ARRAYS(ALGO_TRACE_COLUMNS)
};
struct algo_trace {
	SIM_TABLE_FIELDS(ALGO_TRACE_COLUMNS)
};
SIM_TABLE(algo_traces, algo_trace, ALGO_TRACE_COLUMNS)

/*  X(type, column, units, meaning) */
#define ALGO_HOP_COLUMNS(X)                                                    \
	X(uint64_t, t_ns, "ns", "arrival of the copy, analyzer's clock")       \
	X(uint64_t, switch_ns, "ns", "by the switch's clock; 0 = none")        \
	X(uint32_t, node, "1", "id of the switch")                             \
	X(uint32_t, in_link, "1",                                              \
	    "directed link it came by; 2^32-1 = unknown")                      \
	X(uint32_t, outer_src, "1", "outermost source; 0 = one header alone")  \
	X(uint32_t, outer_dst, "1", "outermost destination; 0 likewise")       \
	X(uint8_t, layer, "1", "IP headers around the innermost")              \
	X(uint8_t, ttl, "1", "of the outermost header")                        \
	X(uint8_t, ttl_in, "1", "of the innermost header")                     \
	X(uint8_t, tos, "1", "DSCP and ECN of the outermost header")

struct algo_hops {
	SIM_TABLE_ARRAYS(ALGO_HOP_COLUMNS)
};
struct algo_hop {
	SIM_TABLE_FIELDS(ALGO_HOP_COLUMNS)
};
SIM_TABLE(algo_hops, algo_hop, ALGO_HOP_COLUMNS)

/* Traces that are kept, with their hops. Zeroed is empty. */
struct algo_trace_store {
	struct algo_traces traces;
	struct algo_hops hops;
};

/* Append a trace with its n_hops hops; its hop_off is set. Errors SIM_ENOMEM
 * (unchanged). */
int algo_trace_store_add(struct algo_trace_store *s, const struct algo_trace *t,
    const struct algo_hop hop[], struct sim_err *e);
void algo_trace_store_clear(struct algo_trace_store *s);
void algo_trace_store_free(struct algo_trace_store *s);

/* Who gets finished traces; HOP is borrowed for the call. */
struct algo_trace_sink {
	void *arg;
	int (*take)(void *arg, const struct algo_trace *t,
	    const struct algo_hop hop[], struct sim_err *e);
};

/* What an operator knows of routing: the network, and how switches hash if their
 * vendor told. Nothing of what is broken. */
struct algo_routing {
	const struct topo *topo;
	uint32_t ecmp_seed;
	uint8_t knows_hash;
};

/* Where switch AT should send a packet whose routed tuple is TUPLE, for node DST:
 * the link, if the hash is known or there is one next hop alone; else
 * TOPO_NONE. */
topo_link algo_routing_next(const struct algo_routing *r, topo_switch at,
    const struct topo_tuple *tuple, topo_node dst);

/* The node of an address, a host or a switch's loopback; TOPO_NONE of others. */
topo_node algo_routing_node(const struct algo_routing *r, uint32_t ip);

#endif
