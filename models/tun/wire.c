/* models/tun/wire.c -- packets as hosts send them: read, aged, answered.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/tun/wire.h"

#include <assert.h>
#include <string.h>

/* Where things are in an IPv4 header, and in what follows. */
enum {
	IP_TOTAL = 2,
	IP_FRAGMENT = 6,
	IP_TTL = 8,
	IP_PROTO = 9,
	IP_CHECKSUM = 10,
	IP_SRC = 12,
	IP_DST = 16,
	IP_BYTES = 20,
	IP_MORE_OR_OFFSET = 0x3fff,
	TCP_DATA = 12,
	TCP_BYTES = 20,
	UDP_LENGTH = 4,
	UDP_BYTES = 8,
	ICMP_CHECKSUM = 2,
	ICMP_BYTES = 8,
	ECHO_REPLY = 0,
	ECHO = 8,
	TIME_EXCEEDED = 11,
};

const char *const tun_refusal_texts[TUN_N_REFUSALS] = {
#define X(id, text) text,
    TUN_REFUSALS(X)
#undef X
};

static uint32_t tun_wire_get16(const uint8_t *at)
{
	return (uint32_t)at[0] << 8 | at[1];
}

static uint32_t tun_wire_get32(const uint8_t *at)
{
	return tun_wire_get16(at) << 16 | tun_wire_get16(at + 2);
}

static void tun_wire_put16(uint8_t *at, uint32_t x)
{
	at[0] = (uint8_t)(x >> 8);
	at[1] = (uint8_t)x;
}

static void tun_wire_put32(uint8_t *at, uint32_t x)
{
	tun_wire_put16(at, x >> 16);
	tun_wire_put16(at + 2, x & 0xffff);
}

/* Ones' complement (RFC 1071): carries are added at the low end. The first
 * addition may carry again, so there are two. */
static uint32_t fold(uint32_t sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16);
}

/* The sum of N bytes, up to 64 KiB of them, as ones' complement. */
static uint32_t sum_of(const uint8_t bytes[], size_t n)
{
	uint32_t sum = n % 2 ? (uint32_t)bytes[n - 1] << 8 : 0;
	for (size_t i = 0; i + 1 < n; i += 2)
		sum += tun_wire_get16(bytes + i);
	/* 32 bits hold the sum of 64 KiB before the carries are folded in. */
	return fold(sum);
}

/* Read the transport header, of which N bytes are there, and check that it
 * fits. Returns 0 if it does not: ports of a header that is cut off would be
 * whatever lies behind it. */
static int parse_transport(const uint8_t at[], size_t n, struct tun_packet *p)
{
	switch (p->tuple.proto) {
	case TOPO_PROTO_TCP:
		if (n < TCP_BYTES)
			return 0;
		const size_t header = (size_t)(at[TCP_DATA] >> 4) * 4;
		if (header < TCP_BYTES || header > n)
			return 0;
		break;
	case TUN_PROTO_UDP:
		if (n < UDP_BYTES || tun_wire_get16(at + UDP_LENGTH) != n)
			return 0;
		break;
	default:
		/* Of ICMP only an echo asks or answers something; all else
		 * tells of an error, and errors are not answered. */
		p->is_error =
		    n >= ICMP_BYTES && at[0] != ECHO_REPLY && at[0] != ECHO;
		return n >= ICMP_BYTES;
	}
	p->tuple.src_port = (uint16_t)tun_wire_get16(at);
	p->tuple.dst_port = (uint16_t)tun_wire_get16(at + 2);
	return 1;
}

enum tun_refusal tun_wire_parse(const uint8_t bytes[], size_t n,
    struct tun_packet *p)
{
	if (n < IP_BYTES)
		return TUN_SHORT;
	if (bytes[0] >> 4 != 4)
		return TUN_VERSION;
	const size_t header = (size_t)(bytes[0] & 15) * 4;
	if (header < IP_BYTES || header > n)
		return TUN_HEADER;
	/* The device gives one packet a read, without padding. */
	if (tun_wire_get16(bytes + IP_TOTAL) != n)
		return TUN_LENGTH;
	if (sum_of(bytes, header) != 0xffff)
		return TUN_CHECKSUM;
	/* A fragment but the first has no ports, so its path is not that of its
	 * flow. Hosts here send none, as all MTUs are equal. */
	if (tun_wire_get16(bytes + IP_FRAGMENT) & IP_MORE_OR_OFFSET)
		return TUN_FRAGMENT;
	*p = (struct tun_packet){
	    .tuple = {.src_ip = tun_wire_get32(bytes + IP_SRC),
		.dst_ip = tun_wire_get32(bytes + IP_DST),
		.proto = bytes[IP_PROTO]},
	    .bytes = (uint16_t)n,
	    .ttl = bytes[IP_TTL],
	};
	if (p->tuple.proto != TOPO_PROTO_TCP &&
	    p->tuple.proto != TUN_PROTO_UDP && p->tuple.proto != TUN_PROTO_ICMP)
		return TUN_PROTOCOL;
	return parse_transport(bytes + header, n - header, p) ? TUN_FINE
							      : TUN_TRANSPORT;
}

/* The TTL and the protocol share a word of the header, so the checksum is
 * mended for that word alone, by RFC 1624, equation 3: HC' = ~(~HC + ~m + m').
 * Unlike a sum that is only added to, it never turns a checksum into the other
 * zero. */
void tun_wire_age(uint8_t bytes[], unsigned hops)
{
	assert(hops <= bytes[IP_TTL]);
	const uint32_t before = tun_wire_get16(bytes + IP_TTL);
	const uint32_t after = before - (hops << 8);
	const uint32_t sum = (tun_wire_get16(bytes + IP_CHECKSUM) ^ 0xffff) +
	    (before ^ 0xffff) + after;
	tun_wire_put16(bytes + IP_TTL, after);
	tun_wire_put16(bytes + IP_CHECKSUM, fold(sum) ^ 0xffff);
}

size_t tun_wire_exceeded(const uint8_t bytes[], size_t n, uint32_t from,
    uint8_t out[TUN_ANSWER_BYTES])
{
	const size_t most = TUN_ANSWER_BYTES - IP_BYTES - ICMP_BYTES;
	/* As much of the packet as fits (RFC 1812 4.3.2.3), which is far more
	 * than the 8 bytes past the IP header that a tracer needs. */
	const size_t quoted = n < most ? n : most;
	const size_t icmp = ICMP_BYTES + quoted;
	memset(out, 0, IP_BYTES + ICMP_BYTES);
	out[0] = 4 << 4 | IP_BYTES / 4;
	out[1] = 0xc0; /* internetwork control, as RFC 1812 4.3.2.5 wants */
	tun_wire_put16(out + IP_TOTAL, (uint32_t)(IP_BYTES + icmp));
	/* The answer's own TTL, as Linux would send it. */
	out[IP_TTL] = 64;
	out[IP_PROTO] = TUN_PROTO_ICMP;
	tun_wire_put32(out + IP_SRC, from);
	memcpy(out + IP_DST, bytes + IP_SRC, 4);
	tun_wire_put16(out + IP_CHECKSUM, sum_of(out, IP_BYTES) ^ 0xffff);
	out[IP_BYTES] = TIME_EXCEEDED;
	memcpy(out + IP_BYTES + ICMP_BYTES, bytes, quoted);
	tun_wire_put16(out + IP_BYTES + ICMP_CHECKSUM,
	    sum_of(out + IP_BYTES, icmp) ^ 0xffff);
	return IP_BYTES + icmp;
}
