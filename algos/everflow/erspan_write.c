/* algos/everflow/erspan_write.c -- mirrored packets as bytes: written.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <assert.h>

#include "algos/everflow/erspan.h"
#include "sim/inet.h"

enum {
	ETHERNET = 14,
	IP = 20,
	HEADERS_MAX = 256, /* all headers of the deepest packet, and more */
	CARRIER_TTL = 64,
};

static size_t erspan_put_ip(uint8_t *p, const struct obs_ip *ip, size_t total)
{
	memset(p, 0, IP);
	p[0] = 4 << 4 | IP / 4;
	p[1] = ip->tos;
	sim_inet_put16(p + 2, (uint32_t)total);
	sim_inet_put16(p + 4, ip->id);
	p[8] = ip->ttl;
	p[9] = ip->proto;
	sim_inet_put32(p + 12, ip->src_ip);
	sim_inet_put32(p + 16, ip->dst_ip);
	sim_inet_put16(p + 10, ~sim_inet_sum(0, p, IP));
	return IP;
}

static void erspan_put_tcp(uint8_t *p, const struct obs_packet *x)
{
	sim_inet_put16(p, x->src_port);
	sim_inet_put16(p + 2, x->dst_port);
	sim_inet_put32(p + 4, x->seq);
	sim_inet_put32(p + 8, x->ack);
	p[12] = 5 << 4;
	p[13] = x->tcp_flags;
}

/* Length, checksum and the first of the payload are the digest, but for RoCE,
 * whose digest has the length alone. */
static void erspan_put_udp(uint8_t *p, const struct obs_packet *x)
{
	sim_inet_put16(p, x->src_port);
	sim_inet_put16(p + 2, x->dst_port);
	sim_inet_put16(p + 4, (uint32_t)(x->digest >> 48));
	if (x->dst_port == OBS_PORT_ROCE) {
		p[8] = x->bth_opcode;
		sim_inet_put32(p + 16, x->seq);
		p[20] = x->aeth;
		return;
	}
	sim_inet_put16(p + 6, (uint32_t)(x->digest >> 32));
	sim_inet_put32(p + 8, (uint32_t)x->digest);
}

/* All classes that pause do so for the longest time of them. */
static void erspan_put_pause(uint8_t *p, const struct obs_packet *x)
{
	sim_inet_put16(p, 0x0101);
	p[3] = x->pfc_classes;
	for (unsigned i = 0; i < 8; i++)
		if (x->pfc_classes >> i & 1)
			sim_inet_put16(p + 4 + 2 * i, x->pfc_quanta);
}

static void erspan_put_packet(uint8_t *p, const struct obs_packet *x)
{
	size_t total = x->n_bytes - ETHERNET;
	if (x->ethertype == OBS_ETH_CONTROL) {
		erspan_put_pause(p, x);
		return;
	}
	for (unsigned i = 0; i < x->n_outer; i++, total -= IP)
		p += erspan_put_ip(p, &x->outer[i], total);
	p += erspan_put_ip(p, &x->ip, total);
	if (x->ip.proto == TOPO_PROTO_TCP)
		erspan_put_tcp(p, x);
	else if (x->ip.proto == OBS_PROTO_UDP)
		erspan_put_udp(p, x);
}

/* The address of pauses is what they are known by; that of other frames tells
 * nothing. */
static void erspan_put_frame(uint8_t *p, const struct algo_erspan_copy *c)
{
	static const uint8_t pause[6] = {0x01, 0x80, 0xc2, 0, 0, 0x01};
	memset(p, 0, HEADERS_MAX);
	if (c->packet.ethertype == OBS_ETH_CONTROL)
		memcpy(p, pause, sizeof(pause));
	sim_inet_put16(p + 6, (uint32_t)(c->src_mac >> 32));
	sim_inet_put32(p + 8, (uint32_t)c->src_mac);
	sim_inet_put16(p + 12, c->packet.ethertype);
	erspan_put_packet(p + ETHERNET, &c->packet);
}

size_t algo_erspan_write(const struct algo_erspan_copy *c, uint32_t truncate,
    uint8_t out[])
{
	uint8_t frame[HEADERS_MAX], *p = out;
	assert(truncate + ALGO_ERSPAN_OVERHEAD <= ALGO_ERSPAN_MAX);
	const int is_cut = c->packet.n_bytes > truncate;
	const size_t n = is_cut ? truncate : c->packet.n_bytes;
	const size_t head = n < HEADERS_MAX ? n : HEADERS_MAX;
	const struct obs_ip carrier = {.src_ip = c->switch_ip,
	    .dst_ip = c->collector_ip,
	    .ttl = CARRIER_TTL,
	    .proto = OBS_PROTO_GRE};
	p += erspan_put_ip(p, &carrier, ALGO_ERSPAN_OVERHEAD + n);
	/* GRE with a sequence number. */
	sim_inet_put16(p, 0x1000);
	sim_inet_put16(p + 2, ALGO_GRE_ERSPAN);
	sim_inet_put32(p + 4, c->sequence);
	/* Version 1, no VLAN; the frame keeps its tags. */
	sim_inet_put16(p + 8, 1 << 12);
	sim_inet_put16(p + 10,
	    3u << 11 | (is_cut ? 1u << 10 : 0) | (c->session & 0x3ffu));
	sim_inet_put32(p + 12, c->index & 0xfffff);
	p += 16;
	erspan_put_frame(frame, c);
	memcpy(p, frame, head);
	memset(p + head, 0, n - head);
	return ALGO_ERSPAN_OVERHEAD + n;
}
