/* algos/everflow/guided.c -- a guided probe: its bytes, and what switches see.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/everflow/guided.h"

#include <assert.h>
#include <string.h>

#include "sim/bytes.h"
#include "sim/inet.h"
#include "topo/addr.h"

enum {
	IP = 20, /* bytes of a header without options */
	TCP = 20,
	ETHERNET = 14,
	SEGMENT = TCP + ALGO_GUIDED_PAYLOAD,
	/* A fragment would not carry the ports that switches hash. */
	DF = 0x4000,
};

static const uint8_t guided_magic[8] = {'C', 'P', 'G', 'U', 'I', 'D', 'E', 'D'};

uint16_t algo_guided_ip_id(uint32_t order, uint32_t number)
{
	/* Orders of one tuple may be under way together, so each begins
	 * elsewhere. */
	return (
	    uint16_t)(1 + (topo_mix32(order) % 65535 + number % 65535) % 65535);
}

/* Outer headers are those of all switches, but for the last if the innermost
 * header is addressed to it. */
static unsigned n_outer(const struct algo_guided *g)
{
	return g->n_via - (g->tuple.dst_ip == 0);
}

static uint32_t ends_at(const struct algo_guided *g)
{
	return g->tuple.dst_ip ? g->tuple.dst_ip
			       : topo_addr_of_switch(g->via[g->n_via - 1]);
}

static void put_ip(uint8_t *p, const struct algo_guided *g, uint32_t src_ip,
    uint32_t dst_ip, uint8_t proto, size_t bytes)
{
	memset(p, 0, IP);
	p[0] = 4 << 4 | IP / 4;
	p[1] = OBS_TOS_DEBUG;
	sim_inet_put16(p + 2, (uint32_t)bytes);
	sim_inet_put16(p + 4, algo_guided_ip_id(g->order, g->number));
	sim_inet_put16(p + 6, DF);
	p[8] = ALGO_GUIDED_TTL;
	p[9] = proto;
	sim_inet_put32(p + 12, src_ip);
	sim_inet_put32(p + 16, dst_ip);
	sim_inet_put16(p + 10, ~sim_inet_sum(0, p, IP));
}

/* The segment behind the innermost IP header, which is at IP. */
static void put_segment(uint8_t *tcp, const struct algo_guided *g,
    const uint8_t *ip)
{
	uint8_t *payload = tcp + TCP;
	memset(tcp, 0, TCP);
	sim_inet_put16(tcp, g->tuple.src_port);
	sim_inet_put16(tcp + 2, g->tuple.dst_port);
	sim_inet_put32(tcp + 4, g->order);
	sim_inet_put32(tcp + 8, g->number);
	tcp[12] = TCP / 4 << 4;
	tcp[13] = OBS_TCP_ACK;
	/* What goes into the signature stands together: addresses, ports and
	 * numbers. */
	const uint64_t mark = sim_fnv(SIM_FNV_START, ip + 12, 8 + 12);
	memcpy(payload, guided_magic, sizeof(guided_magic));
	sim_inet_put32(payload + 8, (uint32_t)(mark >> 32));
	sim_inet_put32(payload + 12, (uint32_t)mark);
	/* The sum is computed although it is spoilt at the end, for a constant
	 * in its place would be right for one packet in 65536. */
	uint32_t sum = sim_inet_sum(TOPO_PROTO_TCP + SEGMENT, ip + 12, 8);
	sum = sim_inet_sum(sum, tcp, SEGMENT);
	sim_inet_put16(tcp + 16, ~sum ^ ALGO_GUIDED_WRONG);
}

size_t algo_guided_write(const struct algo_guided *g, uint8_t *out)
{
	assert(g->n_via <= OBS_MAX_VIA && (g->n_via > 0 || g->tuple.dst_ip));
	const unsigned n = n_outer(g);
	const size_t bytes = IP * (n + (size_t)1) + SEGMENT;
	uint8_t *p = out;
	for (unsigned i = 0; i < n; i++, p += IP)
		put_ip(p, g, g->sender, topo_addr_of_switch(g->via[i]),
		    OBS_PROTO_IPIP, bytes - IP * (size_t)i);
	put_ip(p, g, g->tuple.src_ip, ends_at(g), TOPO_PROTO_TCP, IP + SEGMENT);
	put_segment(p + IP, g, p);
	return bytes;
}

void algo_guided_packet(const struct algo_guided *g, struct obs_packet *p)
{
	assert(g->n_via <= OBS_MAX_VIA && (g->n_via > 0 || g->tuple.dst_ip));
	const uint16_t id = algo_guided_ip_id(g->order, g->number);
	*p = (struct obs_packet){
	    .ethertype = OBS_ETH_IPV4,
	    .n_outer = (uint8_t)n_outer(g),
	    .ip = {g->tuple.src_ip, ends_at(g), id, ALGO_GUIDED_TTL,
		OBS_TOS_DEBUG, TOPO_PROTO_TCP},
	    .src_port = g->tuple.src_port,
	    .dst_port = g->tuple.dst_port,
	    .tcp_flags = OBS_TCP_ACK,
	    .seq = g->order,
	    .ack = g->number,
	    .digest = (uint64_t)g->order << 32 | g->number,
	};
	for (unsigned i = 0; i < p->n_outer; i++)
		p->outer[i] =
		    (struct obs_ip){g->sender, topo_addr_of_switch(g->via[i]),
			id, ALGO_GUIDED_TTL, OBS_TOS_DEBUG, OBS_PROTO_IPIP};
	p->n_bytes = ETHERNET + IP * (p->n_outer + 1u) + SEGMENT;
}

struct obs_guided_probe algo_guided_row(const struct algo_guided *g,
    topo_host from, sim_ns sent)
{
	topo_switch via[OBS_MAX_VIA];
	for (unsigned i = 0; i < OBS_MAX_VIA; i++)
		via[i] = i < g->n_via ? g->via[i] : TOPO_NONE;
	return (struct obs_guided_probe){
	    .sent_ns = sent,
	    .order = g->order,
	    .number = g->number,
	    .src_host = from,
	    .src_ip = g->tuple.src_ip,
	    .dst_ip = ends_at(g),
	    .src_port = g->tuple.src_port,
	    .dst_port = g->tuple.dst_port,
	    .ip_id = algo_guided_ip_id(g->order, g->number),
	    .via0 = via[0],
	    .via1 = via[1],
	    .via2 = via[2],
	};
}

/* --- reading -------------------------------------------------------------- */
/* What is read is written again and must be the same, so that no field has to
 * be checked twice: read here is only what says how to write it. */
static int guided_fields(const uint8_t *p, size_t n, uint32_t n_switches,
    struct algo_guided *g)
{
	while (n >= IP + SEGMENT + IP && p[9] == OBS_PROTO_IPIP) {
		const topo_switch s =
		    topo_addr_to_switch(sim_inet_get32(p + 16), n_switches);
		if (s == TOPO_NONE || g->n_via == OBS_MAX_VIA)
			return 0;
		g->via[g->n_via++] = s;
		g->sender = sim_inet_get32(p + 12);
		p += IP;
		n -= IP;
	}
	if (n != IP + SEGMENT)
		return 0;
	g->tuple = (struct topo_tuple){sim_inet_get32(p + 12),
	    sim_inet_get32(p + 16), sim_inet_get16(p + IP),
	    sim_inet_get16(p + IP + 2), TOPO_PROTO_TCP};
	g->order = sim_inet_get32(p + IP + 4);
	g->number = sim_inet_get32(p + IP + 8);
	const topo_switch last =
	    topo_addr_to_switch(g->tuple.dst_ip, n_switches);
	if (last != TOPO_NONE && g->n_via == OBS_MAX_VIA)
		return 0;
	if (last != TOPO_NONE) {
		g->via[g->n_via++] = last;
		g->tuple.dst_ip = 0;
	}
	return g->tuple.dst_ip != 0 || g->n_via > 0;
}

/* What a network may change of a header, and the checksum over it: put those of
 * the packet that came into the one that was written. */
static int take_changes(uint8_t *wrote, const uint8_t *came, unsigned n_ip)
{
	for (unsigned i = 0; i < n_ip; i++, wrote += IP, came += IP) {
		if (sim_inet_sum(0, came, IP) != 0xffff)
			return 0;
		wrote[1] |= came[1] & OBS_TOS_ECN;
		wrote[8] = came[8];
		memcpy(wrote + 10, came + 10, 2);
	}
	return 1;
}

int algo_guided_read(const void *bytes, size_t n, uint32_t n_switches,
    struct algo_guided *g, struct sim_err *e)
{
	struct algo_guided got = {0};
	uint8_t again[ALGO_GUIDED_MAX];
	if (!guided_fields(bytes, n, n_switches, &got))
		return sim_fail(e, SIM_EPARSE,
		    "%zu bytes are no guided probe: not headers to at most %d "
		    "switches around one TCP segment of %d bytes.",
		    n, OBS_MAX_VIA, SEGMENT);
	if (algo_guided_write(&got, again) != n ||
	    !take_changes(again, bytes, n_outer(&got) + 1) ||
	    memcmp(again, bytes, n) != 0)
		return sim_fail(e, SIM_EPARSE,
		    "%zu bytes are no guided probe: a checksum, the debug bit, "
		    "the signature or a field of a header is not that of one.",
		    n);
	*g = got;
	return 0;
}
