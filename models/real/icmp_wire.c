/* models/real/icmp_wire.c -- probes and their answers as bytes on the wire.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/real/icmp_wire.h"

#include <string.h>

#include "sim/inet.h"
#include "sim/rng.h"

enum {
	IP_BYTES = 20, /* without options */
	ICMP_BYTES = 8,
	QUOTED = 8, /* of what follows the quoted IP header */
	PROTO_ICMP = 1,
	TIME_EXCEEDED = 11,
	DF = 0x4000,
	FRAGMENT = 0x3fff, /* more fragments, and the offset */
	TCP_ACK = 0x10,
	/* XORed into the checksum, which is then never right, so that the
	 * receiving TCP drops the probe before it looks at its connection. */
	WRONG = 0x5555,
};

/* A keyed digest of what identifies a probe. Whoever does not know the key
 * cannot make up an answer, and the flow's own packets, whose sequence numbers
 * are not this, are not mistaken for probes. */
static uint32_t sign(const struct topo_tuple *t, uint16_t ip_id,
    const uint32_t key[2])
{
	const uint32_t ctr[4] = {t->src_ip, t->dst_ip,
	    (uint32_t)t->src_port << 16 | t->dst_port, ip_id};
	uint32_t word[4];
	sim_philox_block(key, ctr, word);
	return word[0];
}

void real_icmp_probe(uint8_t out[REAL_ICMP_PROBE],
    const struct topo_tuple *tuple, uint8_t ttl, uint16_t ip_id,
    const uint32_t key[2])
{
	uint8_t *tcp = out + IP_BYTES;
	memset(out, 0, REAL_ICMP_PROBE);
	out[0] = 4 << 4 | IP_BYTES / 4;
	sim_inet_put16(out + 2, REAL_ICMP_PROBE);
	sim_inet_put16(out + 4, ip_id);
	/* A fragment would not carry the ports that switches hash, and a router
	 * that must fragment would say so instead of "time exceeded". */
	sim_inet_put16(out + 6, DF);
	out[8] = ttl;
	out[9] = TOPO_PROTO_TCP;
	sim_inet_put32(out + 12, tuple->src_ip);
	sim_inet_put32(out + 16, tuple->dst_ip);
	sim_inet_put16(out + 10, ~sim_inet_sum(0, out, IP_BYTES));
	sim_inet_put16(tcp, tuple->src_port);
	sim_inet_put16(tcp + 2, tuple->dst_port);
	sim_inet_put32(tcp + 4, sign(tuple, ip_id, key));
	tcp[12] = (REAL_ICMP_PROBE - IP_BYTES) / 4 << 4;
	tcp[13] = TCP_ACK;
	/* TCP sums a pseudo-header along: addresses, protocol and length. The
	 * sum is computed although it is spoilt at the end, for a constant in
	 * its place would be right for one packet in 65536. */
	uint32_t sum = sim_inet_sum(TOPO_PROTO_TCP + REAL_ICMP_PROBE - IP_BYTES,
	    out + 12, 8);
	sum = sim_inet_sum(sum, tcp, REAL_ICMP_PROBE - IP_BYTES);
	sim_inet_put16(tcp + 16, ~sum ^ WRONG);
}

/* The length of the IP header at P, of N bytes; 0 if there is none, or if it is
 * of a fragment, whose ports are somewhere else. */
static size_t header(const uint8_t *p, size_t n)
{
	if (n < IP_BYTES || p[0] >> 4 != 4 || sim_inet_get16(p + 6) & FRAGMENT)
		return 0;
	const size_t bytes = (p[0] & 15) * (size_t)4;
	return bytes >= IP_BYTES && bytes <= n ? bytes : 0;
}

/* What a router quotes is the probe as it was when its TTL ended, so TTL, DSCP
 * and header checksum may differ from what was sent and are not compared.
 * Everything else must be as real_icmp_probe() wrote it. */
static int is_probe(const uint8_t *p, size_t n, const uint32_t key[2],
    struct real_icmp_answer *a)
{
	if (n < IP_BYTES + QUOTED || header(p, n) != IP_BYTES ||
	    p[9] != TOPO_PROTO_TCP || sim_inet_get16(p + 2) != REAL_ICMP_PROBE)
		return 0;
	a->ip_id = sim_inet_get16(p + 4);
	a->tuple = (struct topo_tuple){sim_inet_get32(p + 12),
	    sim_inet_get32(p + 16), sim_inet_get16(p + IP_BYTES),
	    sim_inet_get16(p + IP_BYTES + 2), TOPO_PROTO_TCP};
	const uint32_t seq = sim_inet_get32(p + IP_BYTES + 4);
	if (seq == sign(&a->tuple, a->ip_id, key))
		return 1;
	/* A raw socket of Linux puts an ID of its own in the place of 0, so a
	 * probe that was to have 0 comes back with another; its signature still
	 * tells. */
	a->ip_id = 0;
	return seq == sign(&a->tuple, 0, key);
}

int real_icmp_read(const void *bytes, size_t n, const uint32_t key[2],
    struct real_icmp_answer *a)
{
	const uint8_t *ip = bytes;
	struct real_icmp_answer got;
	const size_t outer = header(ip, n);
	if (outer == 0 || ip[9] != PROTO_ICMP)
		return 0;
	/* The packet's own word on its length is not trusted beyond what was
	 * read. */
	const size_t all = sim_inet_get16(ip + 2);
	const uint8_t *icmp = ip + outer;
	if (all > n || all < outer + ICMP_BYTES)
		return 0;
	if (icmp[0] != TIME_EXCEEDED || icmp[1] != 0 ||
	    sim_inet_sum(0, icmp, all - outer) != 0xffff ||
	    !is_probe(icmp + ICMP_BYTES, all - outer - ICMP_BYTES, key, &got))
		return 0;
	/* *A is written only when all is known to be right. */
	got.from_ip = sim_inet_get32(ip + 12);
	*a = got;
	return 1;
}
