/* models/tun/wire.h -- packets as hosts send them: read, aged, answered.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a switch has to know of IPv4, and no more. A packet comes from a host's
 * kernel or, by a raw socket, from anyone in there, so nothing in it is taken
 * on trust. Its TCP checksum is left alone: switches don't look at it, and
 * probes have a wrong one by intention.
 */
#ifndef MODELS_TUN_WIRE_H
#define MODELS_TUN_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "topo/route.h"

#define TUN_REFUSALS(X)                                                        \
	X(SHORT, "shorter than an IPv4 header")                                \
	X(VERSION, "not IPv4")                                                 \
	X(HEADER, "an IPv4 header below 20 bytes or beyond the packet")        \
	X(LENGTH, "a total length that is not the packet's")                   \
	X(CHECKSUM, "a wrong checksum of the IPv4 header")                     \
	X(FRAGMENT, "a fragment")                                              \
	X(PROTOCOL, "neither TCP, UDP nor ICMP")                               \
	X(TRANSPORT, "a TCP, UDP or ICMP header that does not fit")            \
	X(SOURCE, "a source that is not the host's address")                   \
	X(NOWHERE, "a destination that is no other host")

enum tun_refusal {
#define X(id, text) TUN_##id,
	TUN_REFUSALS(X)
#undef X
	    TUN_N_REFUSALS,
	TUN_FINE = TUN_N_REFUSALS
};
extern const char *const tun_refusal_texts[TUN_N_REFUSALS];

enum {
	TUN_PROTO_ICMP = TOPO_PROTO_ICMP,
	TUN_PROTO_UDP = 17,
	/* Of an answer: RFC 1812 wants as much of the packet as fits. */
	TUN_ANSWER_BYTES = 576,
};

struct tun_packet {
	struct topo_tuple tuple; /* ICMP: ports are 0 */
	uint16_t bytes;
	uint8_t ttl;
	uint8_t is_error; /* an ICMP message that must not be answered by one */
};

/* Read the N bytes of a packet. TUN_FINE or why it is refused, none of the last
 * two of the list; P is then not to be used. */
enum tun_refusal tun_wire_parse(const uint8_t bytes[], size_t n,
    struct tun_packet *p);

/* Take HOPS off the TTL of a packet that was parsed. Domain HOPS <= TTL. */
void tun_wire_age(uint8_t bytes[], unsigned hops);

/* "Time exceeded" from address FROM about a packet that was parsed, of N bytes,
 * to its source. Returns the number of bytes. */
size_t tun_wire_exceeded(const uint8_t bytes[], size_t n, uint32_t from,
    uint8_t out[TUN_ANSWER_BYTES]);

#endif
