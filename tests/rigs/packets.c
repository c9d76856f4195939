/* tests/rigs/packets.c -- random packets, with what switches look for in many.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/packets.h"

static struct obs_ip any_ip(struct sim_rng *r, uint8_t proto)
{
	static const uint8_t ttls[] = {1, 63, 64, 127, 128, 255};
	return (struct obs_ip){
	    .src_ip = sim_rng_u32(r),
	    .dst_ip = sim_rng_u32(r),
	    .id = (uint16_t)(sim_rng_u32(r) & sim_rng_u32(r)),
	    .ttl = ttls[sim_rng_below(r, 6)],
	    .tos = (uint8_t)sim_rng_below(r, 8),
	    .proto = proto,
	};
}

static uint16_t any_port(struct sim_rng *r)
{
	static const uint16_t ports[] = {OBS_PORT_BGP, OBS_PORT_ROCE, 80};
	return sim_rng_below(r, 2) ? ports[sim_rng_below(r, 3)]
				   : (uint16_t)sim_rng_u32(r);
}

static void put_tcp(struct obs_packet *p, struct sim_rng *r)
{
	p->src_port = any_port(r);
	p->dst_port = any_port(r);
	p->tcp_flags = (uint8_t)(sim_rng_u32(r) & sim_rng_u32(r) & 0x1f);
	p->seq = sim_rng_u32(r);
	p->ack = sim_rng_u32(r);
	p->digest = (uint64_t)p->seq << 32 | p->ack;
	p->n_bytes += 20;
}

static void put_udp(struct obs_packet *p, struct sim_rng *r)
{
	static const uint8_t syndromes[] = {0x60, 0x7f, 0x1f, 0x20};
	p->src_port = any_port(r);
	p->dst_port = any_port(r);
	p->n_bytes += 8;
	const uint32_t payload = 20 + sim_rng_below(r, 100);
	p->digest = (uint64_t)(8 + payload) << 48 |
	    (uint64_t)(sim_rng_u32(r) & 0xffff) << 32 | sim_rng_u32(r);
	p->n_bytes += payload;
	if (p->dst_port != OBS_PORT_ROCE)
		return;
	p->bth_opcode = sim_rng_below(r, 2) ? OBS_BTH_ACK : 4;
	p->seq = sim_rng_u32(r) & 0xffffff;
	p->digest =
	    obs_roce_digest((uint16_t)(8 + payload), p->bth_opcode, p->seq);
	if (p->bth_opcode == OBS_BTH_ACK)
		p->aeth = syndromes[sim_rng_below(r, 4)];
}

static void put_pause(struct obs_packet *p, struct sim_rng *r)
{
	p->ethertype = OBS_ETH_CONTROL;
	p->pfc_classes = (uint8_t)(1 + sim_rng_below(r, 255));
	p->pfc_quanta = (uint16_t)sim_rng_u32(r);
	p->n_bytes = 60;
}

void packets_any(struct obs_packet *p, struct sim_rng *r)
{
	static const uint8_t protos[] = {TOPO_PROTO_TCP, TOPO_PROTO_TCP,
	    OBS_PROTO_UDP, OBS_PROTO_UDP, TOPO_PROTO_ICMP};
	*p = (struct obs_packet){.ethertype = OBS_ETH_IPV4};
	if (sim_rng_below(r, 12) == 0) {
		put_pause(p, r);
		return;
	}
	const uint8_t proto = protos[sim_rng_below(r, 5)];
	p->ip = any_ip(r, proto);
	p->n_bytes = 14 + 20;
	if (proto == TOPO_PROTO_TCP)
		put_tcp(p, r);
	else if (proto == OBS_PROTO_UDP)
		put_udp(p, r);
	else
		p->n_bytes += 8;
	for (uint32_t n = sim_rng_below(r, 8); n < 4 && n > 0; n--) {
		const struct obs_ip ip = any_ip(r, OBS_PROTO_IPIP);
		obs_packet_wrap(p, &ip);
	}
}
