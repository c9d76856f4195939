/* models/obs_sketch.h -- which connections there were, in 128 bits.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each connection has one bit, by a hash of its five-tuple as the host sees it,
 * so packets of both directions set the same one. Sketches of processors, or of
 * buckets that follow each other, are merged by OR. How many connections the
 * bits stand for says algos/millisampler/sketch.h.
 *
 * Nothing but plain integers, so that programs for the kernel can include this.
 * Addresses and ports are numbers in the machine's order on both sides; one's
 * own hash, as the kernel's is another for each of its starts, may be unset, and
 * changes when TCP wants another way (RTO).
 *
 * Cost   4 multiplications for IPv4, 7 for IPv6.
 * Paper  Millisampler (IMC'22): 128-bit sketch of connections.
 */
#ifndef MODELS_OBS_SKETCH_H
#define MODELS_OBS_SKETCH_H

#include <stdint.h>

enum { OBS_SKETCH_BITS = 128 };

struct obs_sketch {
	uint64_t lo, hi; /* bits 0 to 63, 64 to 127 */
};

/* Ports and protocol as one word of a hash; what has no ports has 0. */
static inline uint64_t obs_sketch_ports(uint32_t local_port,
    uint32_t remote_port, uint32_t proto)
{
	return (uint64_t)proto << 32 | local_port << 16 | remote_port;
}

/* A multiplication alone spreads neighbours too evenly to be counted: ports in
 * a row would meet too seldom. So upper halves come back down between them. */
static inline uint64_t obs_sketch_mix(uint64_t x, uint64_t word)
{
	x = (x ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return x ^ x >> 32;
}

static inline uint32_t obs_sketch_end(uint64_t x)
{
	x *= UINT64_C(0xd6e8feb86659fd93);
	x ^= x >> 32;
	return (uint32_t)(x * UINT64_C(0xd6e8feb86659fd93) >> 57);
}

/* The bit of a connection, 0 to 127. PORTS as above. */
static inline uint32_t obs_sketch_bit4(uint32_t local_ip, uint32_t remote_ip,
    uint64_t ports)
{
	uint64_t x = obs_sketch_mix(0, (uint64_t)local_ip << 32 | remote_ip);
	return obs_sketch_end(obs_sketch_mix(x, ports));
}

/* Of an IPv6 address the upper half stands first. */
static inline uint32_t obs_sketch_bit6(const uint64_t local_ip[2],
    const uint64_t remote_ip[2], uint64_t ports)
{
	uint64_t x = obs_sketch_mix(0, local_ip[0]);
	x = obs_sketch_mix(x, local_ip[1]);
	x = obs_sketch_mix(x, remote_ip[0]);
	x = obs_sketch_mix(x, remote_ip[1]);
	return obs_sketch_end(obs_sketch_mix(x, ports));
}

static inline void obs_sketch_set(struct obs_sketch *s, uint32_t bit)
{
	const uint64_t one = UINT64_C(1) << (bit & 63);
	const uint64_t upper = 0 - (uint64_t)(bit >> 6 & 1);
	s->lo |= one & ~upper;
	s->hi |= one & upper;
}

static inline void obs_sketch_or(struct obs_sketch *s,
    const struct obs_sketch *other)
{
	s->lo |= other->lo;
	s->hi |= other->hi;
}

/* Bits that are set. */
static inline uint32_t obs_sketch_count(const struct obs_sketch *s)
{
	return (uint32_t)(__builtin_popcountll(s->lo) +
	    __builtin_popcountll(s->hi));
}

#endif
