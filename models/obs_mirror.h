/* models/obs_mirror.h -- copies of packets that switches mirrored, as a table.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One row a copy that reached an analyzer, in the order of arrival. A switch
 * mirrors what comes in, before it routes it or takes an outer header off; what
 * was lost on the link into it, or by a black hole in it, it does not mirror.
 *
 * Paper  Everflow (SIGCOMM'15).
 */
#ifndef MODELS_OBS_MIRROR_H
#define MODELS_OBS_MIRROR_H

#include <stddef.h>
#include <stdint.h>

#include "models/obs_packet.h"
#include "sim/table.h"
#include "topo/ids.h"

/* Why a packet was mirrored: by the first rule that took it. */
#define OBS_COPY_KINDS(X)                                                      \
	X(CONTROL, "control", "TCP SYN, FIN or RST")                           \
	X(DEBUG, "debug", "the debug bit")                                     \
	X(SAMPLE, "sample", "its IP ID, or chance")                            \
	X(RETX, "retx", "the mark of what is sent again")                      \
	X(PFC, "pfc", "a pause frame")                                         \
	X(BGP, "bgp", "TCP port 179")                                          \
	X(NAK, "nak", "an RDMA NACK")
enum obs_copy_kind {
#define X(kind, name, text) OBS_COPY_##kind,
	OBS_COPY_KINDS(X)
#undef X
	    OBS_N_COPY_KINDS
};

/*  X(type, column, units, meaning) */
#define OBS_COPY_COLUMNS(X)                                                    \
	X(uint64_t, t_ns, "ns", "arrival, by the analyzer's clock")            \
	X(uint64_t, switch_ns, "ns", "by the switch's clock; 0 = none")        \
	X(uint64_t, digest, "1", "the 8 bytes behind the ports")               \
	X(uint32_t, node, "1", "id of the switch that mirrored it")            \
	X(uint32_t, in_link, "1",                                              \
	    "directed link it came by; 2^32-1 = unknown")                      \
	X(uint32_t, src_ip, "1", "innermost source")                           \
	X(uint32_t, dst_ip, "1", "innermost destination")                      \
	X(uint32_t, outer_src, "1", "outermost source; 0 = one header alone")  \
	X(uint32_t, outer_dst, "1", "outermost destination; 0 likewise")       \
	X(uint32_t, seq, "1", "TCP sequence number; RoCE: PSN")                \
	X(uint32_t, ack, "1", "TCP acknowledgement; pause frames: quanta")     \
	X(uint32_t, n_bytes, "bytes", "of the frame that was mirrored")        \
	X(uint32_t, mirror_seq, "1", "number of this copy among its switch's") \
	X(uint16_t, src_port, "1", "TCP or UDP source port")                   \
	X(uint16_t, dst_port, "1", "TCP or UDP destination port")              \
	X(uint16_t, ip_id, "1", "of the innermost header")                     \
	X(uint8_t, proto, "1", "of the innermost header; 0 = not IP")          \
	X(uint8_t, ttl, "1", "of the outermost header, as it came in")         \
	X(uint8_t, ttl_in, "1", "of the innermost header")                     \
	X(uint8_t, tos, "1", "DSCP and ECN of the outermost header")           \
	X(uint8_t, tos_in, "1", "DSCP and ECN of the innermost header")        \
	X(uint8_t, flags, "1", "TCP flags; pause frames: their classes")       \
	X(uint8_t, layer, "1", "IP headers around the innermost")              \
	X(uint8_t, kind, "1", "enum obs_copy_kind")                            \
	X(uint8_t, bth_opcode, "1", "RoCE: BTH opcode")                        \
	X(uint8_t, aeth, "1", "RoCE: syndrome of an acknowledgement")

struct obs_mirror {
	SIM_TABLE_ARRAYS(OBS_COPY_COLUMNS)
};
struct obs_copy {
	SIM_TABLE_FIELDS(OBS_COPY_COLUMNS)
};
SIM_TABLE(obs_mirror, obs_copy, OBS_COPY_COLUMNS)

/* The copy of P; who mirrored it when, and why, is left to the caller. */
static inline struct obs_copy obs_copy_of(const struct obs_packet *p)
{
	const struct obs_ip *out = obs_packet_outermost(p);
	const int is_pfc = p->ethertype == OBS_ETH_CONTROL;
	return (struct obs_copy){
	    .digest = p->digest,
	    .in_link = TOPO_NONE,
	    .src_ip = p->ip.src_ip,
	    .dst_ip = p->ip.dst_ip,
	    .outer_src = p->n_outer > 0 ? out->src_ip : 0,
	    .outer_dst = p->n_outer > 0 ? out->dst_ip : 0,
	    .seq = p->seq,
	    .ack = is_pfc ? p->pfc_quanta : p->ack,
	    .n_bytes = p->n_bytes,
	    .src_port = p->src_port,
	    .dst_port = p->dst_port,
	    .ip_id = p->ip.id,
	    .proto = p->ip.proto,
	    .ttl = out->ttl,
	    .ttl_in = p->ip.ttl,
	    .tos = out->tos,
	    .tos_in = p->ip.tos,
	    .flags = is_pfc ? p->pfc_classes : p->tcp_flags,
	    .layer = p->n_outer,
	    .bth_opcode = p->bth_opcode,
	    .aeth = p->aeth,
	};
}

/* Check a table that came from outside: switches below N_SWITCHES, links below
 * N_LINKS or unknown, kinds known, layers at most OBS_MAX_OUTER, no outer
 * address without a layer, times ascending.
 * Errors SIM_EINVAL naming the row and the value. Cost O(n). */
int obs_mirror_check(const struct obs_mirror *t, uint32_t n_switches,
    uint32_t n_links, struct sim_err *e);

#endif
