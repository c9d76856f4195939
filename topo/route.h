/* topo/route.h -- ECMP: five-tuples, the switches' hash, next-hop choice.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A switch hashes a digest of the five-tuple with a seed of its own by a full
 * 32-bit finaliser, and takes the product's high half as the choice among its
 * n next hops. One multiplication with seeds xored in would not do: the
 * choices of consecutive switches would then be correlated (polarisation).
 */
#ifndef TOPO_ROUTE_H
#define TOPO_ROUTE_H

#include <stdint.h>

#include "topo/ids.h"

struct topo_tuple {
	uint32_t src_ip, dst_ip; /* host byte order */
	uint16_t src_port, dst_port;
	uint8_t proto;
};

static inline int topo_tuple_same(const struct topo_tuple *a,
    const struct topo_tuple *b)
{
	return a->src_ip == b->src_ip && a->dst_ip == b->dst_ip &&
	    a->src_port == b->src_port && a->dst_port == b->dst_port &&
	    a->proto == b->proto;
}

#define TOPO_PROTO_ICMP 1
#define TOPO_PROTO_TCP  6

/* Finaliser of MurmurHash3 (public domain): a bijection on 32 bits in which
 * each input bit flips each output bit with probability near 1/2. */
static inline uint32_t topo_mix32(uint32_t x)
{
	x ^= x >> 16;
	x *= UINT32_C(0x85ebca6b);
	x ^= x >> 13;
	x *= UINT32_C(0xc2b2ae35);
	return x ^ x >> 16;
}

/* The digest in two steps, so that a loop over one host's flows does the first
 * once. PORTS = src_port << 16 | dst_port. */
static inline uint32_t topo_digest_src(uint32_t src_ip, uint8_t proto)
{
	return topo_mix32(src_ip ^ (uint32_t)proto << 24 ^ 0x5bd1e995u);
}

static inline uint32_t topo_digest_rest(uint32_t from_src, uint32_t dst_ip,
    uint32_t ports)
{
	return topo_mix32(topo_mix32(from_src + dst_ip) + ports);
}

static inline uint32_t topo_tuple_digest(const struct topo_tuple *t)
{
	return topo_digest_rest(topo_digest_src(t->src_ip, t->proto), t->dst_ip,
	    (uint32_t)t->src_port << 16 | t->dst_port);
}

/* The seed of one switch in a network whose seeds derive from ECMP_SEED. */
static inline uint32_t topo_switch_seed(uint32_t ecmp_seed, topo_switch s)
{
	return topo_mix32(ecmp_seed + s * UINT32_C(0x9e3779b9));
}

/* Which of N next hops, N > 0. Bias below N / 2^32. */
static inline uint32_t topo_ecmp_pick(uint32_t switch_seed, uint32_t digest,
    uint32_t n)
{
	return (uint32_t)((uint64_t)topo_mix32(digest ^ switch_seed) * n >> 32);
}

/* The same by switch S of a network with ECMP_SEED. Each hashes with a seed of
 * its own, so consecutive choices do not depend on each other. */
static inline uint32_t topo_switch_pick(uint32_t ecmp_seed, topo_switch s,
    uint32_t digest, uint32_t n)
{
	return topo_ecmp_pick(topo_switch_seed(ecmp_seed, s), digest, n);
}

#endif
