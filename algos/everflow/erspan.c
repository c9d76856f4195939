/* algos/everflow/erspan.c -- mirrored packets as bytes: read.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each step takes a cursor, moves it behind what it read, and says how that
 * went. Nothing is read before a look at how much there is.
 */
#include "algos/everflow/erspan.h"

#include <stddef.h>

#include "sim/inet.h"

enum {
	ETHERNET = 14,
	TAG = 4,
	IP = 20,
	ETH_IPV6 = 0x86dd,
	IP_OFFSET = 0x1fff, /* of a fragment */
	IP_MORE = 0x2000,
	GRE = 4,
	GRE_CHECKSUM = 0x8000,
	GRE_ROUTING = 0x4000,
	GRE_KEY = 0x2000,
	GRE_SEQUENCE = 0x1000,
	GRE_VERSION = 0x0007,
	TCP = 20,
	TCP_FLAGS = 13,
	UDP = 8,
	BTH = 12,
	AETH = 4,
	CONTROL_PAUSE = 0x0001,
	CONTROL_PFC = 0x0101,
	CONTROL_PFC_BYTES = 2 + 2 + 2 * 8,
};

const char *const algo_erspan_texts[] = {
#define X(end, text) text,
    ALGO_ERSPAN_ENDS(X)
#undef X
	NULL};

struct erspan_cursor {
	const uint8_t *at, *end;
};

static size_t erspan_left(const struct erspan_cursor *c)
{
	return (size_t)(c->end - c->at);
}

static int erspan_is_tag(uint16_t ethertype)
{
	return ethertype == 0x8100 || ethertype == 0x88a8 ||
	    ethertype == 0x9100;
}

/* Step over tags; returns 0 if the bytes end within one. */
static int erspan_skip_tags(struct erspan_cursor *c, uint16_t *ethertype)
{
	while (erspan_is_tag(*ethertype)) {
		if (erspan_left(c) < TAG)
			return 0;
		*ethertype = sim_inet_get16(c->at + 2);
		c->at += TAG;
	}
	return 1;
}

/* --- GRE ------------------------------------------------------------------ */

struct erspan_gre {
	uint16_t flags, proto;
	size_t bytes;
	uint32_t sequence;
};

enum erspan_gre_end { GRE_FINE, GRE_SHORT, GRE_STRANGE };

static inline enum erspan_gre_end erspan_gre_read(const struct erspan_cursor *c,
    struct erspan_gre *g)
{
	if (erspan_left(c) < GRE)
		return GRE_SHORT;
	g->flags = sim_inet_get16(c->at);
	g->proto = sim_inet_get16(c->at + 2);
	g->bytes = GRE;
	if (g->flags & (GRE_ROUTING | GRE_VERSION))
		return GRE_STRANGE;
	g->bytes += g->flags & GRE_CHECKSUM ? 4 : 0;
	g->bytes += g->flags & GRE_KEY ? 4 : 0;
	g->bytes += g->flags & GRE_SEQUENCE ? 4 : 0;
	if (erspan_left(c) < g->bytes)
		return GRE_SHORT;
	/* The number is the last of what may be there. */
	g->sequence =
	    g->flags & GRE_SEQUENCE ? sim_inet_get32(c->at + g->bytes - 4) : 0;
	return GRE_FINE;
}

/* Whether GRE of this protocol carries a copy, and nothing else. */
static int erspan_is_mirror(uint16_t proto, uint16_t vendor)
{
	return proto == ALGO_GRE_ERSPAN || proto == ALGO_GRE_ERSPAN_III ||
	    (vendor != 0 && proto == vendor);
}

/* --- what the packet carries ---------------------------------------------- */

static inline void erspan_tcp_fields(const uint8_t *at, struct obs_packet *p)
{
	p->src_port = sim_inet_get16(at);
	p->dst_port = sim_inet_get16(at + 2);
	p->digest = sim_inet_get64(at + 4);
	p->seq = (uint32_t)(p->digest >> 32);
	p->ack = (uint32_t)p->digest;
	p->tcp_flags = at[TCP_FLAGS];
}

/* CLAIMS is how many bytes there were behind the IP header; the cursor may have
 * fewer, as the copy may be cut. */
static inline enum algo_erspan_end erspan_tcp(const struct erspan_cursor *c,
    size_t claims, struct obs_packet *p)
{
	if (claims < TCP)
		return ALGO_ERSPAN_BAD_TCP;
	if (erspan_left(c) <= TCP_FLAGS)
		return ALGO_ERSPAN_SHORT_TCP;
	if (c->at[12] >> 4 < TCP / 4)
		return ALGO_ERSPAN_BAD_TCP;
	erspan_tcp_fields(c->at, p);
	return ALGO_ERSPAN_FINE;
}

static enum algo_erspan_end erspan_roce(const struct erspan_cursor *c,
    size_t claims, struct obs_packet *p)
{
	const uint8_t *bth = c->at + UDP;
	if (claims < UDP + BTH)
		return ALGO_ERSPAN_BAD_ROCE;
	if (erspan_left(c) < UDP + BTH)
		return ALGO_ERSPAN_SHORT_ROCE;
	p->bth_opcode = bth[0];
	p->seq = sim_inet_get32(bth + 8) & 0xffffff;
	p->digest =
	    obs_roce_digest(sim_inet_get16(c->at + 4), p->bth_opcode, p->seq);
	if (p->bth_opcode != OBS_BTH_ACK)
		return ALGO_ERSPAN_FINE;
	if (claims < UDP + BTH + AETH)
		return ALGO_ERSPAN_BAD_ROCE;
	if (erspan_left(c) < UDP + BTH + 1)
		return ALGO_ERSPAN_SHORT_ROCE;
	p->aeth = bth[BTH];
	return ALGO_ERSPAN_FINE;
}

static enum algo_erspan_end erspan_udp(const struct erspan_cursor *c,
    size_t claims, struct obs_packet *p)
{
	uint8_t first[8] = {0};
	if (claims < UDP)
		return ALGO_ERSPAN_BAD_UDP;
	/* A datagram of less than 4 bytes has a digest of what there is. */
	const size_t need = claims < UDP + 4 ? claims : UDP + 4;
	if (erspan_left(c) < need)
		return ALGO_ERSPAN_SHORT_UDP;
	if (sim_inet_get16(c->at + 4) < UDP)
		return ALGO_ERSPAN_BAD_UDP;
	p->src_port = sim_inet_get16(c->at);
	p->dst_port = sim_inet_get16(c->at + 2);
	if (p->dst_port == OBS_PORT_ROCE)
		return erspan_roce(c, claims, p);
	if (need == UDP + 4) {
		p->digest = sim_inet_get64(c->at + 4);
		return ALGO_ERSPAN_FINE;
	}
	memcpy(first, c->at + 4, need - 4);
	p->digest = sim_inet_get64(first);
	return ALGO_ERSPAN_FINE;
}

/* --- the packet's headers ------------------------------------------------- */

/* What an IP header says of sizes: of all, of what is behind it though the copy
 * may be cut, and whether more fragments follow. */
struct erspan_sizes {
	size_t total, claims;
	int more;
};

static inline struct obs_ip erspan_fields(const uint8_t *at)
{
	return (struct obs_ip){.src_ip = sim_inet_get32(at + 12),
	    .dst_ip = sim_inet_get32(at + 16),
	    .id = sim_inet_get16(at + 4),
	    .ttl = at[8],
	    .tos = at[1],
	    .proto = at[9]};
}

/* One IP header. The cursor moves behind it and ends where the packet does, so
 * that padding is not taken for more of it. */
static inline enum algo_erspan_end erspan_ip(struct erspan_cursor *c,
    struct erspan_sizes *size)
{
	const uint8_t *at = c->at;
	const size_t left = erspan_left(c);
	if (left < IP)
		return ALGO_ERSPAN_SHORT_IP;
	const size_t header = (size_t)(at[0] & 15) * 4;
	const size_t total = sim_inet_get16(at + 2);
	if (at[0] >> 4 != 4 || header < IP || total < header)
		return ALGO_ERSPAN_BAD_IP;
	if (left < header)
		return ALGO_ERSPAN_SHORT_IP;
	if (!sim_inet_sum_is_right(at, header))
		return ALGO_ERSPAN_BAD_CHECKSUM;
	if (total < left)
		c->end = at + total;
	c->at += header;
	*size = (struct erspan_sizes){total, total - header,
	    sim_inet_get16(at + 6) & IP_MORE};
	return sim_inet_get16(at + 6) & IP_OFFSET ? ALGO_ERSPAN_FRAGMENT
						  : ALGO_ERSPAN_FINE;
}

/* GRE within the packet: *INNER is set, and the cursor moved, if it has another
 * IP header. If not, GRE is what the packet carries. */
static enum algo_erspan_end erspan_inner_gre(struct erspan_cursor *c,
    uint16_t vendor, size_t *claims, int *inner)
{
	struct erspan_gre g;
	struct erspan_cursor to = *c;
	*inner = 0;
	switch (erspan_gre_read(c, &g)) {
	case GRE_SHORT:
		return ALGO_ERSPAN_SHORT_GRE;
	case GRE_STRANGE:
		return ALGO_ERSPAN_FINE;
	case GRE_FINE:
		break;
	}
	if (erspan_is_mirror(g.proto, vendor))
		return ALGO_ERSPAN_COPY_OF_COPY;
	to.at += g.bytes;
	if (g.proto == ALGO_GRE_ETHERNET) {
		if (erspan_left(&to) < ETHERNET)
			return ALGO_ERSPAN_SHORT_ETHERNET;
		g.proto = sim_inet_get16(to.at + 12);
		to.at += ETHERNET;
		if (!erspan_skip_tags(&to, &g.proto))
			return ALGO_ERSPAN_SHORT_ETHERNET;
	}
	if (g.proto != OBS_ETH_IPV4)
		return ALGO_ERSPAN_FINE;
	const size_t skipped = (size_t)(to.at - c->at);
	if (*claims < skipped)
		return ALGO_ERSPAN_BAD_IP;
	*claims -= skipped;
	*c = to;
	*inner = 1;
	return ALGO_ERSPAN_FINE;
}

/* IP headers, one in another, and what the innermost carries. */
static enum algo_erspan_end erspan_headers(struct erspan_cursor *c,
    uint16_t vendor, size_t before, struct obs_packet *p)
{
	struct erspan_sizes size;
	size_t room = SIZE_MAX;
	for (;;) {
		const uint8_t *at = c->at;
		enum algo_erspan_end end = erspan_ip(c, &size);
		if (end != ALGO_ERSPAN_FINE)
			return end;
		const uint8_t proto = at[9];
		int inner = proto == OBS_PROTO_IPIP;
		/* No packet has more than there is room for in the one
		 * around it, unless that is the first of its fragments. */
		if (size.total > room)
			return ALGO_ERSPAN_BAD_IP;
		room = size.more ? SIZE_MAX : size.claims;
		if (p->n_outer == 0)
			p->n_bytes = (uint32_t)(before + size.total);
		if (proto == OBS_PROTO_GRE) {
			end = erspan_inner_gre(c, vendor, &room, &inner);
			if (end != ALGO_ERSPAN_FINE)
				return end;
		}
		if (!inner) {
			p->ip = erspan_fields(at);
			break;
		}
		if (p->n_outer == OBS_MAX_OUTER)
			return ALGO_ERSPAN_TOO_DEEP;
		p->outer[p->n_outer++] = erspan_fields(at);
	}
	if (p->ip.proto == TOPO_PROTO_TCP)
		return erspan_tcp(c, size.claims, p);
	if (p->ip.proto == OBS_PROTO_UDP)
		return erspan_udp(c, size.claims, p);
	return ALGO_ERSPAN_FINE;
}

/* Pauses: of all traffic (802.3x), told as of all classes, or of some. */
static enum algo_erspan_end erspan_control(const struct erspan_cursor *c,
    size_t frame_bytes, struct obs_packet *p)
{
	if (erspan_left(c) < 4)
		return ALGO_ERSPAN_SHORT_CONTROL;
	const uint16_t opcode = sim_inet_get16(c->at);
	p->n_bytes = frame_bytes < 60 ? 60 : (uint32_t)frame_bytes;
	if (opcode == CONTROL_PAUSE) {
		p->pfc_classes = 0xff;
		p->pfc_quanta = sim_inet_get16(c->at + 2);
		return ALGO_ERSPAN_FINE;
	}
	if (opcode != CONTROL_PFC)
		return ALGO_ERSPAN_BAD_CONTROL;
	if (erspan_left(c) < CONTROL_PFC_BYTES)
		return ALGO_ERSPAN_SHORT_CONTROL;
	p->pfc_classes = c->at[3];
	for (unsigned i = 0; i < 8; i++) {
		const uint16_t quanta = sim_inet_get16(c->at + 4 + 2 * i);
		if (p->pfc_classes >> i & 1 && quanta > p->pfc_quanta)
			p->pfc_quanta = quanta;
	}
	return ALGO_ERSPAN_FINE;
}

static enum algo_erspan_end erspan_frame(struct erspan_cursor *c,
    uint16_t vendor, struct algo_erspan_copy *copy)
{
	const uint8_t *frame = c->at;
	const size_t bytes = erspan_left(c);
	struct obs_packet *p = &copy->packet;
	if (bytes < ETHERNET)
		return ALGO_ERSPAN_SHORT_ETHERNET;
	copy->src_mac = sim_inet_get64(frame + 6) >> 16;
	p->ethertype = sim_inet_get16(frame + 12);
	c->at += ETHERNET;
	if (!erspan_skip_tags(c, &p->ethertype))
		return ALGO_ERSPAN_SHORT_ETHERNET;
	switch (p->ethertype) {
	case OBS_ETH_IPV4:
		return erspan_headers(c, vendor, (size_t)(c->at - frame), p);
	case OBS_ETH_CONTROL:
		return erspan_control(c, bytes, p);
	case ETH_IPV6:
		return ALGO_ERSPAN_FRAME_IPV6;
	default:
		return ALGO_ERSPAN_FRAME_OTHER;
	}
}

/* A packet without Ethernet; its size is told as if it had some. */
static enum algo_erspan_end erspan_bare(struct erspan_cursor *c,
    uint16_t vendor, struct algo_erspan_copy *copy)
{
	copy->packet.ethertype = OBS_ETH_IPV4;
	return erspan_headers(c, vendor, ETHERNET, &copy->packet);
}

/* --- the carrier ---------------------------------------------------------- */

static inline void erspan_session_2_fields(const uint8_t *h,
    struct algo_erspan_copy *copy)
{
	copy->kind = ALGO_ERSPAN_II;
	copy->session = sim_inet_get16(h + 2) & 0x3ff;
	copy->is_cut = sim_inet_get16(h + 2) >> 10 & 1;
	copy->index = sim_inet_get32(h + 4) & 0xfffff;
}

static enum algo_erspan_end erspan_session_2(struct erspan_cursor *c,
    uint16_t vendor, struct algo_erspan_copy *copy)
{
	erspan_session_2_fields(c->at, copy);
	c->at += 8;
	return erspan_frame(c, vendor, copy);
}

/* GRA is the unit of STAMP: 100 us, 100 ns, ns within a second, or unknown. MORE
 * is 0, or the platform's header with the upper 32 bits or the seconds. */
static void erspan_stamp(unsigned gra, uint32_t stamp, const uint8_t *more,
    struct algo_erspan_copy *copy)
{
	static const sim_ns unit[4] = {100 * SIM_US, 100, 1, 0};
	const unsigned platform = more ? more[0] >> 2 : 1;
	const uint32_t second = more ? sim_inet_get32(more + 4) : 0;
	const int is_upper = platform == 0 || platform == 3 || platform == 7;
	const int is_seconds = platform == 5 || platform == 6;
	if (gra == 3)
		return;
	copy->stamp_wraps_ns = gra == 2 ? SIM_SEC : unit[gra] << 32;
	copy->switch_ns = unit[gra] * stamp;
	if (gra == 2 && is_seconds) {
		copy->switch_ns += second * SIM_SEC;
		copy->stamp_wraps_ns = 0;
	}
	/* In units of 100 us the upper half would be beyond 64 bits. */
	if (gra == 1 && is_upper) {
		copy->switch_ns = unit[gra] * ((uint64_t)second << 32 | stamp);
		copy->stamp_wraps_ns = 0;
	}
	/* 0 says that there is none. */
	if (copy->switch_ns == 0)
		copy->switch_ns = 1;
}

static enum algo_erspan_end erspan_session_3(struct erspan_cursor *c,
    uint16_t vendor, struct algo_erspan_copy *copy)
{
	const uint8_t *h = c->at;
	if (erspan_left(c) < 12)
		return ALGO_ERSPAN_CARRIER_SHORT;
	const unsigned damage = h[2] >> 3 & 3, type = h[10] >> 2 & 31;
	const int more = h[11] & 1;
	if (erspan_left(c) < 12 + (more ? 8u : 0u))
		return ALGO_ERSPAN_CARRIER_SHORT;
	copy->kind = ALGO_ERSPAN_III;
	copy->session = sim_inet_get16(h + 2) & 0x3ff;
	copy->is_cut = sim_inet_get16(h + 2) >> 10 & 1;
	erspan_stamp(h[11] >> 1 & 3, sim_inet_get32(h + 4),
	    more ? h + 12 : NULL, copy);
	c->at += 12 + (more ? 8 : 0);
	/* Short, or with a wrong checksum. Of those too long headers are
	 * right. */
	if (damage == 1 || damage == 3)
		return ALGO_ERSPAN_FRAME_DAMAGED;
	if (type == 0)
		return erspan_frame(c, vendor, copy);
	return type == 2 ? erspan_bare(c, vendor, copy)
			 : ALGO_ERSPAN_FRAME_OTHER;
}

/* II and III are told by the version in the header, whatever GRE's protocol
 * says, as Wireshark does. */
static enum algo_erspan_end erspan_session(struct erspan_cursor *c,
    uint16_t vendor, struct algo_erspan_copy *copy)
{
	if (erspan_left(c) < 8)
		return ALGO_ERSPAN_CARRIER_SHORT;
	switch (c->at[0] >> 4) {
	case 1:
		return erspan_session_2(c, vendor, copy);
	case 2:
		return erspan_session_3(c, vendor, copy);
	default:
		return ALGO_ERSPAN_SESSION_BAD;
	}
}

static enum algo_erspan_end erspan_payload(struct erspan_cursor *c,
    const struct erspan_gre *g, uint16_t vendor, struct algo_erspan_copy *copy)
{
	copy->sequence = g->sequence;
	copy->has_sequence = (g->flags & GRE_SEQUENCE) != 0;
	if (g->proto == ALGO_GRE_ERSPAN_III ||
	    (g->proto == ALGO_GRE_ERSPAN && copy->has_sequence))
		return erspan_session(c, vendor, copy);
	if (g->proto == ALGO_GRE_ETHERNET) {
		copy->kind = ALGO_ERSPAN_GRE_ETHERNET;
		return erspan_frame(c, vendor, copy);
	}
	if (g->proto == OBS_ETH_IPV4) {
		copy->kind = ALGO_ERSPAN_GRE_IP;
		return erspan_bare(c, vendor, copy);
	}
	if (!erspan_is_mirror(g->proto, vendor))
		return ALGO_ERSPAN_GRE_PROTOCOL;
	copy->kind = ALGO_ERSPAN_I;
	return erspan_frame(c, vendor, copy);
}

/* The carrier's IP header. Its checksum is not looked at: where a capture is
 * made on the machine that sends, the device has yet to put it in. */
static inline enum algo_erspan_end erspan_carrier(struct erspan_cursor *c,
    struct algo_erspan_copy *copy)
{
	const uint8_t *at = c->at;
	const size_t left = erspan_left(c);
	if (left < IP)
		return ALGO_ERSPAN_CARRIER_SHORT;
	const size_t header = (size_t)(at[0] & 15) * 4;
	const size_t total = sim_inet_get16(at + 2);
	if (at[0] >> 4 != 4 || header < IP || total < header)
		return ALGO_ERSPAN_CARRIER_BAD;
	if (left < header)
		return ALGO_ERSPAN_CARRIER_SHORT;
	if (sim_inet_get16(at + 6) & IP_OFFSET)
		return ALGO_ERSPAN_CARRIER_FRAGMENT;
	if (at[9] != OBS_PROTO_GRE)
		return ALGO_ERSPAN_CARRIER_NOT_GRE;
	copy->switch_ip = sim_inet_get32(at + 12);
	copy->collector_ip = sim_inet_get32(at + 16);
	if (total < left)
		c->end = at + total;
	c->at += header;
	return ALGO_ERSPAN_FINE;
}

/* In parts, as compilers clear what is larger by a loop in microcode, which
 * takes longer than all the rest. */
static void erspan_clear(struct algo_erspan_copy *c)
{
	enum { PART = 64, LAST = sizeof(*c) % PART };
	char *p = (char *)c;
	_Static_assert(sizeof(*c) / PART == 2, "as many parts as below");
	memset(p, 0, PART);
	memset(p + PART, 0, PART);
	memset(p + 2 * PART, 0, LAST);
}

enum algo_erspan_end algo_erspan_read_any(uint16_t ethertype,
    const uint8_t bytes[], size_t n, uint16_t vendor,
    struct algo_erspan_copy *copy)
{
	struct erspan_cursor c = {bytes, bytes + n};
	struct erspan_gre g;
	erspan_clear(copy);
	if (!erspan_skip_tags(&c, &ethertype))
		return ALGO_ERSPAN_CARRIER_SHORT;
	if (ethertype != OBS_ETH_IPV4)
		return ethertype == ETH_IPV6 ? ALGO_ERSPAN_CARRIER_IPV6
					     : ALGO_ERSPAN_CARRIER_OTHER;
	const enum algo_erspan_end end = erspan_carrier(&c, copy);
	if (end != ALGO_ERSPAN_FINE)
		return end;
	switch (erspan_gre_read(&c, &g)) {
	case GRE_SHORT:
		return ALGO_ERSPAN_CARRIER_SHORT;
	case GRE_STRANGE:
		return ALGO_ERSPAN_GRE_UNKNOWN;
	case GRE_FINE:
		break;
	}
	c.at += g.bytes;
	return erspan_payload(&c, &g, vendor, copy);
}

/* --- what nearly all copies are --------------------------------------------*/

/* TCP in one IP header in Ethernet in ERSPAN II, without tags or options: all
 * stands where it always does. */
enum {
	PLAIN_GRE = IP,
	PLAIN_SESSION = PLAIN_GRE + 8,
	PLAIN_FRAME = PLAIN_SESSION + 8,
	PLAIN_TYPE = PLAIN_FRAME + 12,
	PLAIN_IP = PLAIN_FRAME + ETHERNET,
	PLAIN_TCP = PLAIN_IP + IP,
	PLAIN_BYTES = PLAIN_TCP + TCP_FLAGS + 1,
};

/* Of IP's second and third word: no later fragment, and what it carries. */
static int erspan_is_whole(const uint8_t *ip, uint32_t proto)
{
	return (sim_inet_get32(ip + 6) & (IP_OFFSET << 16 | 0xff)) == proto;
}

static int erspan_is_plain(const uint8_t *b, size_t n)
{
	return n >= PLAIN_BYTES && b[0] == (4 << 4 | IP / 4) &&
	    sim_inet_get16(b + 2) >= PLAIN_BYTES &&
	    erspan_is_whole(b, OBS_PROTO_GRE) &&
	    sim_inet_get32(b + PLAIN_GRE) ==
	    (GRE_SEQUENCE << 16 | ALGO_GRE_ERSPAN) &&
	    b[PLAIN_SESSION] >> 4 == 1 &&
	    sim_inet_get32(b + PLAIN_TYPE) >> 8 ==
	    (OBS_ETH_IPV4 << 8 | 4 << 4 | IP / 4) &&
	    sim_inet_get16(b + PLAIN_IP + 2) >= IP + TCP &&
	    erspan_is_whole(b + PLAIN_IP, TOPO_PROTO_TCP) &&
	    b[PLAIN_TCP + 12] >> 4 >= TCP / 4 &&
	    sim_inet_sum_is_right(b + PLAIN_IP, IP);
}

static void erspan_plain(const uint8_t *b, struct algo_erspan_copy *copy)
{
	struct obs_packet *p = &copy->packet;
	erspan_clear(copy);
	copy->switch_ip = sim_inet_get32(b + 12);
	copy->collector_ip = sim_inet_get32(b + 16);
	copy->sequence = sim_inet_get32(b + PLAIN_GRE + 4);
	copy->has_sequence = 1;
	erspan_session_2_fields(b + PLAIN_SESSION, copy);
	copy->src_mac = sim_inet_get64(b + PLAIN_FRAME + 6) >> 16;
	p->ethertype = OBS_ETH_IPV4;
	p->n_bytes = ETHERNET + (uint32_t)sim_inet_get16(b + PLAIN_IP + 2);
	p->ip = erspan_fields(b + PLAIN_IP);
	erspan_tcp_fields(b + PLAIN_TCP, p);
}

enum algo_erspan_end algo_erspan_read(uint16_t ethertype, const uint8_t bytes[],
    size_t n, uint16_t vendor, struct algo_erspan_copy *copy)
{
	if (ethertype != OBS_ETH_IPV4 || !erspan_is_plain(bytes, n))
		return algo_erspan_read_any(ethertype, bytes, n, vendor, copy);
	erspan_plain(bytes, copy);
	return ALGO_ERSPAN_FINE;
}
