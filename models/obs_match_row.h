/* models/obs_match_row.h -- rows of a switch's ternary table: value and mask.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Nothing but numbers of fixed width and place, so that programs for the kernel
 * can hold rows in a map and include this. Numbers are in the machine's order,
 * addresses and ports too.
 */
#ifndef MODELS_OBS_MATCH_ROW_H
#define MODELS_OBS_MATCH_ROW_H

#include <stdint.h>

/* What of a packet can be matched: of one of its IP headers, and of what is
 * behind that. A field that a packet does not have is 0; ports and all behind
 * them belong to the innermost header.
 *  X(type, field, name in tables) */
#define OBS_MATCH_FIELDS(X)                                                    \
	X(uint32_t, src_ip, "ip.src")                                          \
	X(uint32_t, dst_ip, "ip.dst")                                          \
	X(uint16_t, ethertype, "eth.type")                                     \
	X(uint16_t, ip_id, "ip.id")                                            \
	X(uint16_t, src_port, "l4.src")                                        \
	X(uint16_t, dst_port, "l4.dst")                                        \
	X(uint8_t, proto, "ip.proto")                                          \
	X(uint8_t, ttl, "ip.ttl")                                              \
	X(uint8_t, tos, "ip.tos")                                              \
	X(uint8_t, tcp_flags, "tcp.flags")                                     \
	X(uint8_t, bth_opcode, "bth.opcode")                                   \
	X(uint8_t, aeth, "aeth.syndrome")                                      \
	X(uint8_t, is_mirror, "gre.mirror") /* 1: a copy on its way */         \
	X(uint8_t, is_outer, "ip.outer")    /* 1: another IP header follows */

struct obs_match_key {
#define X(type, field, name) type field;
	OBS_MATCH_FIELDS(X)
#undef X
};

enum { OBS_MATCH_WORDS = 3 }; /* of 64 bits, that a key is */

/* A packet hits if its key, where the mask has ones, is the value. */
struct obs_match_row {
	struct obs_match_key value, mask;
	uint32_t one_in; /* N > 1: what hits is taken with probability 1 / N */
	uint8_t inner;   /* of the innermost header of packets that have
			    several; else of the outermost, or only, one */
	uint8_t kind;    /* enum obs_copy_kind, or OBS_MATCH_NEVER */
	uint8_t zero[2];
};

enum { OBS_MATCH_NEVER = 0xff }; /* what hits is not mirrored */

_Static_assert(sizeof(struct obs_match_key) == 8 * OBS_MATCH_WORDS,
    "a key has no gaps");
_Static_assert(sizeof(struct obs_match_row) == 56, "a row has no gaps");

#endif
