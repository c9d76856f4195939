/* models/obs_packet.h -- a packet's headers, as a switch sees them.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What rules of switches match, and what a copy of a packet tells. One packet
 * may have several IP headers, each around the next: a load balancer adds one,
 * a guided probe is sent with one for each switch that it goes by. Numbers are
 * in host byte order.
 */
#ifndef MODELS_OBS_PACKET_H
#define MODELS_OBS_PACKET_H

#include <stdint.h>
#include <string.h>

#include "topo/route.h"

enum {
	OBS_ETH_IPV4 = 0x0800,
	OBS_ETH_CONTROL = 0x8808, /* MAC control: pause frames (PFC) */
};
enum { OBS_PROTO_IPIP = 4, OBS_PROTO_UDP = 17, OBS_PROTO_GRE = 47 };
enum { OBS_PORT_BGP = 179, OBS_PORT_ROCE = 4791 };
enum obs_tcp_flag {
	OBS_TCP_FIN = 1,
	OBS_TCP_SYN = 2,
	OBS_TCP_RST = 4,
	OBS_TCP_PSH = 8,
	OBS_TCP_ACK = 16
};

/* Bits of a type-of-service byte: ECN in the lowest two, DSCP above. The debug
 * bit is one of DSCP's. */
enum {
	OBS_TOS_ECN = 0x03,
	OBS_TOS_CE = 0x03,
	OBS_TOS_DEBUG = 0x04,
};

/* A bit that no path needs: whoever sends a packet of TCP again sets it in the
 * TTL, which so begins at 128 or above; its others must begin below. Of other
 * protocols it says nothing. */
enum { OBS_TTL_RETX = 0x80 };

struct obs_ip {
	uint32_t src_ip, dst_ip;
	uint16_t id;
	uint8_t ttl, tos, proto;
};

/* IP headers around the innermost one. */
enum { OBS_MAX_OUTER = 4 };

struct obs_packet {
	uint16_t ethertype; /* behind VLAN tags */
	uint8_t n_outer;
	uint8_t is_mirror; /* GRE of a mirror: a copy on its way */
	struct obs_ip outer[OBS_MAX_OUTER]; /* outermost first */
	struct obs_ip ip;                   /* the innermost */
	uint16_t src_port, dst_port;        /* TCP and UDP */
	uint8_t tcp_flags;                  /* enum obs_tcp_flag */
	uint8_t bth_opcode, aeth;           /* UDP port 4791: RoCE v2 */
	uint8_t pfc_classes;                /* a bit a priority that pauses */
	uint16_t pfc_quanta;                /* the longest pause of those */
	uint32_t seq, ack;                  /* TCP; of RoCE seq is the PSN */
	uint64_t digest;  /* the 8 bytes behind the ports: TCP's seq and ack;
			    UDP's length, checksum and 4 bytes of payload;
			    of RoCE see obs_roce_digest() */
	uint32_t n_bytes; /* of the frame, without its checksum */
};

/* RoCE v2: a negative acknowledgement is an ACKNOWLEDGE whose syndrome says so
 * [InfiniBand specification, 9.7.5.2.1; from memory]. */
enum { OBS_BTH_ACK = 0x11, OBS_AETH_MASK = 0xe0, OBS_AETH_NAK = 0x60 };

/* Digest of a RoCE v2 packet. The 8 bytes behind the ports are the same in
 * almost all packets of a queue pair, and at 40 Gb/s their IP IDs come again
 * after some 14 ms; so it takes the PSN, too, which stands a little further
 * behind. */
static inline uint64_t obs_roce_digest(uint16_t udp_len, uint8_t bth_opcode,
    uint32_t psn)
{
	return (uint64_t)udp_len << 48 | (uint64_t)bth_opcode << 32 |
	    (psn & 0xffffff);
}

static inline int obs_roce_is_nak(uint8_t bth_opcode, uint8_t aeth)
{
	return bth_opcode == OBS_BTH_ACK &&
	    (aeth & OBS_AETH_MASK) == OBS_AETH_NAK;
}

static inline int obs_packet_is_nak(const struct obs_packet *p)
{
	return p->ip.proto == OBS_PROTO_UDP && p->dst_port == OBS_PORT_ROCE &&
	    obs_roce_is_nak(p->bth_opcode, p->aeth);
}

/* How long a pause frame asks for QUANTA, in ns: each is the time of 512 bits
 * [IEEE 802.1Qbb]. */
static inline double obs_pause_ns(uint32_t quanta, double gbps)
{
	return quanta * 512.0 / gbps;
}

/* The header that the network routes by. */
static inline const struct obs_ip *obs_packet_outermost(
    const struct obs_packet *p)
{
	return p->n_outer > 0 ? &p->outer[0] : &p->ip;
}

/* The innermost five-tuple. */
static inline struct topo_tuple obs_packet_tuple(const struct obs_packet *p)
{
	return (struct topo_tuple){p->ip.src_ip, p->ip.dst_ip, p->src_port,
	    p->dst_port, p->ip.proto};
}

/* The five-tuple that switches hash: of a packet within another the outermost
 * addresses alone. */
static inline struct topo_tuple obs_packet_routed(const struct obs_packet *p)
{
	if (p->n_outer == 0)
		return obs_packet_tuple(p);
	return (struct topo_tuple){p->outer[0].src_ip, p->outer[0].dst_ip, 0, 0,
	    p->outer[0].proto};
}

/* Take the outermost header off, put one on. Domain n_outer > 0; n_outer <
 * OBS_MAX_OUTER. */
static inline void obs_packet_strip(struct obs_packet *p)
{
	p->n_outer--;
	p->n_bytes -= 20;
	memmove(p->outer, p->outer + 1, p->n_outer * sizeof(p->outer[0]));
}

static inline void obs_packet_wrap(struct obs_packet *p,
    const struct obs_ip *ip)
{
	memmove(p->outer + 1, p->outer, p->n_outer * sizeof(p->outer[0]));
	p->outer[0] = *ip;
	p->n_outer++;
	p->n_bytes += 20;
}

#endif
