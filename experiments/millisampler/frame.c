/* experiments/millisampler/frame.c -- a captured frame, as the sampler sees it.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/millisampler/frame.h"

#include "models/obs_buckets.h"
#include "models/obs_packet.h"
#include "sim/inet.h"
#include "topo/ip.h"

enum {
	FRAME_IPV6 = 0x86dd,
	FRAME_VLAN = 0x8100,
	FRAME_PROVIDER = 0x88a8,
	FRAME_TAG = 4,
	FRAME_IP4 = 20,
	FRAME_IP6 = 40,
	FRAME_OFFSET = 0x1fff, /* of a fragment */
	FRAME_PORTS = 4,
	FRAME_TCP_FLAGS = 14, /* bytes up to behind them */
};

/* What is left of the captured bytes, of all that there were, and of these up to
 * where IP says that it ends. */
struct frame_at {
	const uint8_t *p;
	size_t n, whole, ip;
};

static int frame_skip(struct frame_at *a, size_t n)
{
	if (a->n < n)
		return 0;
	a->p += n;
	a->n -= n;
	a->whole -= n;
	a->ip = a->ip < n ? 0 : a->ip - n;
	return 1;
}

static uint16_t frame_network(struct frame_at *a, uint16_t type)
{
	while (type == FRAME_VLAN || type == FRAME_PROVIDER) {
		if (a->n < FRAME_TAG)
			return 0;
		type = sim_inet_get16(a->p + 2);
		frame_skip(a, FRAME_TAG);
	}
	return type;
}

/* Padding is no payload; a large packet whose length does not fit says 0. */
static void frame_bound(struct frame_at *a, size_t total)
{
	if (total > 0 && total < a->ip)
		a->ip = total;
}

/* Ports, and of TCP what it sends; the cursor is behind all headers of IP. */
static void frame_ports(struct xp_frame *f, const struct frame_at *a)
{
	const int is_tcp = f->proto == TOPO_PROTO_TCP;
	if (!is_tcp && f->proto != OBS_PROTO_UDP)
		return;
	if (a->n < FRAME_PORTS) {
		f->is_cut = a->whole >= FRAME_PORTS;
		return;
	}
	f->key.ports = sim_inet_get32(a->p);
	f->has_ports = 1;
	if (!is_tcp)
		return;
	if (a->n < FRAME_TCP_FLAGS) {
		f->is_cut = a->whole >= FRAME_TCP_FLAGS;
		return;
	}
	const size_t header = (size_t)(a->p[12] >> 4) * 4;
	f->seq = sim_inet_get32(a->p + 4);
	f->tcp_flags = a->p[13];
	f->n_payload = a->ip > header ? (uint32_t)(a->ip - header) : 0;
	f->has_tcp = 1;
}

static void frame_ip4(struct xp_frame *f, struct frame_at *a)
{
	const uint8_t *ip = a->p;
	if (a->n < FRAME_IP4) {
		f->is_cut = a->whole >= FRAME_IP4;
		return;
	}
	f->key.version = 4;
	f->tos = ip[1];
	f->ttl = ip[8];
	f->proto = ip[9];
	f->key.src[1] = sim_inet_get32(ip + 12);
	f->key.dst[1] = sim_inet_get32(ip + 16);
	frame_bound(a, sim_inet_get16(ip + 2));
	if (sim_inet_get16(ip + 6) & FRAME_OFFSET)
		return;
	if (frame_skip(a, (size_t)(ip[0] & 15) * 4))
		frame_ports(f, a);
	else
		f->is_cut = 1;
}

/* Whether what is behind them has ports. */
static int frame_extensions(struct xp_frame *f, struct frame_at *a)
{
	size_t skipped = 0;
	for (int i = 0; obs_ip6_is_extension(f->proto); i++) {
		if (a->n < OBS_IP6_EXTENSION) {
			f->is_cut = a->whole >= OBS_IP6_EXTENSION;
			return 0;
		}
		const uint8_t *at = a->p;
		const size_t n = obs_ip6_extension_bytes(f->proto, at[1]);
		const int is_later = f->proto == OBS_IP6_FRAGMENT &&
		    sim_inet_get16(at + 2) >> 3 != 0;
		skipped += n;
		if (i == OBS_IP6_MAX_EXTENSIONS ||
		    skipped > OBS_IP6_MAX_EXTENSION_BYTES)
			return 0;
		f->proto = at[0];
		if (is_later)
			return 0;
		if (!frame_skip(a, n)) {
			f->is_cut = 1;
			return 0;
		}
	}
	return 1;
}

static void frame_ip6(struct xp_frame *f, struct frame_at *a)
{
	const uint8_t *ip = a->p;
	if (a->n < FRAME_IP6) {
		f->is_cut = a->whole >= FRAME_IP6;
		return;
	}
	f->key.version = 6;
	f->tos = (uint8_t)(sim_inet_get32(ip) >> 20);
	f->proto = ip[6];
	f->ttl = ip[7];
	for (int i = 0; i < 2; i++) {
		f->key.src[i] = sim_inet_get64(ip + 8 + 8 * i);
		f->key.dst[i] = sim_inet_get64(ip + 24 + 8 * i);
	}
	const size_t length = sim_inet_get16(ip + 4);
	frame_skip(a, FRAME_IP6);
	frame_bound(a, length);
	if (frame_extensions(f, a))
		frame_ports(f, a);
}

struct xp_frame xp_frame_read(const struct xp_captured *x)
{
	struct xp_frame f = {.t = x->unix_ns,
	    .bytes = x->n_frame,
	    .mac = x->mac};
	struct frame_at a = {x->bytes, x->n < x->n_behind ? x->n : x->n_behind,
	    x->n_behind, x->n_behind};
	const uint16_t type = frame_network(&a, x->ethertype);
	if (type == OBS_ETH_IPV4)
		frame_ip4(&f, &a);
	else if (type == FRAME_IPV6)
		frame_ip6(&f, &a);
	else if (type == 0)
		f.is_cut = 1;
	return f;
}

struct obs_seen xp_frame_seen(const struct xp_frame *f, int out,
    const struct xp_frame_region *r)
{
	const uint64_t *here = out ? f->key.src : f->key.dst;
	const uint64_t *there = out ? f->key.dst : f->key.src;
	const uint32_t src = f->key.ports >> 16, dst = f->key.ports & 0xffff;
	const uint64_t ports =
	    obs_sketch_ports(out ? src : dst, out ? dst : src, f->proto);
	struct obs_seen s = {.bytes = f->bytes,
	    .out = (uint8_t)(out != 0),
	    .ce = (f->tos & OBS_TOS_ECN) == OBS_TOS_CE,
	    .has_bit = f->key.version != 0};
	if (f->key.version == 4) {
		s.bit = (uint8_t)obs_sketch_bit4((uint32_t)here[1],
		    (uint32_t)there[1], ports);
		s.cross = (((uint32_t)there[1] ^ r->net4) & r->mask4) != 0;
	} else if (f->key.version == 6) {
		s.bit = (uint8_t)obs_sketch_bit6(here, there, ports);
		s.cross = (((there[0] ^ r->net6[0]) & r->mask6[0]) |
			      ((there[1] ^ r->net6[1]) & r->mask6[1])) != 0;
	}
	return s;
}

/* The upper BITS of 64, of which there may be more or none. */
static uint64_t frame_mask(int bits)
{
	return bits <= 0 ? 0 : bits >= 64 ? UINT64_MAX : ~(UINT64_MAX >> bits);
}

int xp_frame_region_take(struct xp_frame_region *r, const char *text,
    struct sim_err *e)
{
	enum { ALL_OF_IPV4 = 96 };
	struct topo_ip_net net;
	const int fits =
	    strchr(text, '/') && topo_ip_net_parse(text, &net, NULL) == 0;
	const int is_4 = fits && topo_ip_is_4(&net.first);
	if (!fits || net.bits == (is_4 ? ALL_OF_IPV4 : 0))
		return sim_fail(e, SIM_EINVAL,
		    "\"%.64s\" is no network, as 10.0.0.0/8 is.", text);
	if (is_4) {
		r->net4 = topo_ip_to_4(&net.first);
		r->mask4 = (uint32_t)frame_mask(net.bits - 64);
		return 0;
	}
	for (int i = 0; i < 2; i++) {
		r->net6[i] = sim_inet_get64(net.first.byte + 8 * i);
		r->mask6[i] = frame_mask(net.bits - 64 * i);
	}
	return 0;
}
