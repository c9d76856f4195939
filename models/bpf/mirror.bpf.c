/* models/bpf/mirror.bpf.c -- switches that mirror and decapsulate, in the kernel.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * mirror_ingress is at the receiving end of every link into a switch, behind
 * the faults of that link (lab.bpf.c), before routing sees the packet:
 *
 *	faults -> match -> copy -> [outer header off] -> stack
 *
 * So a packet that was lost on the link is not mirrored by its receiver, and one
 * that was delayed is mirrored when it comes. A copy goes to a ring buffer as a
 * record, or to a collector as the packet itself within GRE (ERSPAN II), which
 * the switch routes like any other.
 */
#include <linux/types.h>

#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "models/bpf/headers.h"
#include "models/bpf/mirror.h"

char LICENSE[] SEC("license") = "GPL";

const volatile struct mirror_config config;

enum {
	ETHERNET_BYTES = 14,
	CONTROL = 0x8808,
	IPIP = 4,
	GRE = 47,
	ERSPAN = 0x88be,
	ROCE_PORT = 4791,
	BTH_ACK = 0x11,
	LO = 1,
	DONT_FRAGMENT = 0x4000,
	PLAIN = 0x45, /* version, five words of header */
	/* Headers that are looked at lie within: Ethernet, five of IP, TCP. */
	HEADERS_BYTES = 14 + 5 * 20 + 20,
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct mirror_rows);
} rows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct mirror_link);
} ends SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct mirror_switch);
} switches SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct mirror_ring);
} rings SEC(".maps");

/* Of all rings, one after the other. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct mirror_record);
} copies SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} bell SEC(".maps");

struct udp {
	__be16 src_port, dst_port;
	__be16 length, sum;
};

/* Behind UDP of port 4791: BTH, and of an acknowledgement AETH. */
struct roce {
	__u8 opcode, flags;
	__be16 key;
	__be32 queue, psn;
	__u8 aeth; /* its first byte */
};

struct gre {
	__be16 flags, protocol;
};

/* Words of struct obs_match_key, put together in registers: fields that are
 * stored one by one and then loaded as a word would have to wait for each
 * other. */
struct key {
	__u64 ip, ports, rest;
};

#define KEY_AT(field)                                                          \
	(8 * (__builtin_offsetof(struct obs_match_key, field) % 8))
#define KEY_PUT(field, x)         ((__u64)(x) << KEY_AT(field))
#define KEY_OF(type, word, field) ((type)((word) >> KEY_AT(field)))

/* What is looked at, read once for rules and records alike. */
struct seen {
	struct key in, out; /* out: only if layer > 0 */
	__u64 digest;
	__u32 seq, layer;
	__u32 outer_src, outer_dst;
	__u8 ttl, tos; /* of the outermost header */
};

/* --- headers -------------------------------------------------------------- */

/* The digest is that of obs_roce_digest(): in its lowest 32 bits the PSN, in the
 * place of the checksum the opcode. */
static __always_inline void see_roce(const void *at, void *end, struct seen *s)
{
	const struct roce *r = at;
	if ((void *)&r->aeth > end)
		return;
	s->seq = bpf_ntohl(r->psn) & 0xffffff;
	s->in.rest |= KEY_PUT(bth_opcode, r->opcode);
	s->digest = s->digest >> 48 << 48 | (__u64)r->opcode << 32 | s->seq;
	if (r->opcode == BTH_ACK && (void *)(&r->aeth + 1) <= end)
		s->in.rest |= KEY_PUT(aeth, r->aeth);
}

/* A UDP packet may end before the payload that the digest has room for. */
static __always_inline void see_udp(void *at, void *end, struct seen *s)
{
	const struct udp *u = at;
	const __be32 *payload = (const void *)(u + 1);
	if ((void *)(u + 1) > end)
		return;
	s->in.ports |= KEY_PUT(src_port, bpf_ntohs(u->src_port)) |
	    KEY_PUT(dst_port, bpf_ntohs(u->dst_port));
	s->digest =
	    (__u64)bpf_ntohs(u->length) << 48 | (__u64)bpf_ntohs(u->sum) << 32;
	if ((void *)(payload + 1) <= end)
		s->digest |= bpf_ntohl(*payload);
	if (u->dst_port == bpf_htons(ROCE_PORT))
		see_roce(payload, end, s);
}

static __always_inline void see_tcp(void *at, void *end, struct seen *s)
{
	const struct tcp *t = at;
	if ((void *)(&t->flags + 1) > end)
		return;
	s->in.ports |= KEY_PUT(src_port, bpf_ntohs(t->src_port)) |
	    KEY_PUT(dst_port, bpf_ntohs(t->dst_port));
	s->in.rest |= KEY_PUT(tcp_flags, t->flags);
	s->digest = (__u64)bpf_ntohl(t->seq) << 32 | bpf_ntohl(t->ack);
}

/* What is behind the innermost IP; of a fragment that is not the first, nothing
 * that these headers would be. */
static __always_inline void see_inner(const struct ip *ip, void *at, void *end,
    struct seen *s)
{
	const struct gre *g = at;
	if (ip->fragment & bpf_htons(HEADERS_FRAGMENT))
		return;
	if (ip->proto == HEADERS_TCP)
		see_tcp(at, end, s);
	else if (ip->proto == HEADERS_UDP)
		see_udp(at, end, s);
	else if (ip->proto == GRE && (void *)(g + 1) <= end &&
	    g->protocol == bpf_htons(ERSPAN))
		s->in.rest |= KEY_PUT(is_mirror, 1);
}

static __always_inline struct key key_of(const struct ip *ip)
{
	return (struct key){
	    .ip = KEY_PUT(src_ip, bpf_ntohl(ip->src)) |
		KEY_PUT(dst_ip, bpf_ntohl(ip->dst)),
	    .ports = KEY_PUT(ethertype, HEADERS_IPV4) |
		KEY_PUT(ip_id, bpf_ntohs(ip->id)),
	    .rest = KEY_PUT(proto, ip->proto) | KEY_PUT(ttl, ip->ttl) |
		KEY_PUT(tos, ip->tos),
	};
}

/* All headers from the outermost IP on; *S is zeroed. A packet within more
 * headers than are looked at is taken for one of protocol IPIP. The bound of the
 * loop is a constant, as the verifier must see that it ends. */
static __always_inline void see_ip(void *data, void *end, struct seen *s)
{
	void *at = data + ETHERNET_BYTES;
	const struct ip *ip = at;
	if ((void *)(ip + 1) > end)
		return;
	s->ttl = ip->ttl;
	s->tos = ip->tos;
	at += (ip->ihl & 15) * 4;
	if (ip->proto == IPIP) {
		s->out = key_of(ip);
		s->out.rest |= KEY_PUT(is_outer, 1);
		s->outer_src = bpf_ntohl(ip->src);
		s->outer_dst = bpf_ntohl(ip->dst);
		for (int i = 0; i < MIRROR_MAX_OUTER; i++) {
			const struct ip *next = at;
			if (ip->proto != IPIP || (void *)(next + 1) > end)
				break;
			ip = next;
			at += (ip->ihl & 15) * 4;
			s->layer++;
		}
	}
	s->in = key_of(ip);
	see_inner(ip, at, end, s);
	if (s->layer > 0)
		s->out.rest |= s->in.rest & KEY_PUT(is_mirror, 1);
}

/* A pause frame: opcode 0x101, a bit a class, and how long each is to pause. To
 * rows it is nothing but its ethertype. */
struct pause {
	__be16 opcode, classes, quanta[8];
};

static __always_inline void see_pause(void *data, void *end, struct seen *s)
{
	const struct pause *p = data + ETHERNET_BYTES;
	s->in.ports = KEY_PUT(ethertype, CONTROL);
	if ((void *)(p + 1) > end)
		return;
	for (int i = 0; i < 8; i++)
		if (s->seq < bpf_ntohs(p->quanta[i]))
			s->seq = bpf_ntohs(p->quanta[i]);
	s->seq |= (__u32)(bpf_ntohs(p->classes) & 0xff) << 16;
}

/* --- rules ---------------------------------------------------------------- */

/* The words that differ most come first. */
static __always_inline int row_hits(const struct obs_match_row *r,
    const struct key *k)
{
	const __u64 *value = (const void *)&r->value;
	const __u64 *mask = (const void *)&r->mask;
	return ((k->rest ^ value[2]) & mask[2]) == 0 &&
	    ((k->ports ^ value[1]) & mask[1]) == 0 &&
	    ((k->ip ^ value[0]) & mask[0]) == 0;
}

static __always_inline int row_takes(const struct obs_match_row *r)
{
	return r->one_in <= 1 ||
	    ((__u64)bpf_get_prandom_u32() * r->one_in) >> 32 == 0;
}

/* As obs_match() does: the kind of the first row that takes it. Most packets
 * have one header, and so nothing that rows for inner ones could look at. */
static __always_inline __u32 match_single(const struct mirror_rows *t,
    const struct seen *s)
{
	for (__u32 i = 0; i < MIRROR_MAX_ROWS; i++) {
		const struct obs_match_row *r = &t->row[i];
		if (i >= t->n_single)
			break;
		if (row_hits(r, &s->in) && !r->inner && row_takes(r))
			return r->kind;
	}
	return OBS_MATCH_NEVER;
}

static __always_inline __u32 match_layered(const struct mirror_rows *t,
    const struct seen *s)
{
	for (__u32 i = 0; i < MIRROR_MAX_ROWS; i++) {
		const struct obs_match_row *r = &t->row[i];
		if (i >= t->n)
			break;
		if ((r->inner ? row_hits(r, &s->in) : row_hits(r, &s->out)) &&
		    row_takes(r))
			return r->kind;
	}
	return OBS_MATCH_NEVER;
}

/* --- plain packets -------------------------------------------------------- */

/* Words of a plain packet, in the order of the wire. */
struct plain {
	struct ip ip;
	__be16 src_port, dst_port;
	__u8 behind[8];
	__u8 data_offset, flags;
	__u8 rest[6];
};

static __always_inline int mirror_is_plain(const struct plain *p)
{
	if (p->ip.ihl != PLAIN || p->ip.fragment & ~bpf_htons(DONT_FRAGMENT))
		return 0;
	return p->ip.proto == HEADERS_TCP ||
	    (p->ip.proto == HEADERS_UDP && p->dst_port != bpf_htons(ROCE_PORT));
}

/* Of UDP, what would be flags is payload. */
static __always_inline int mirror_is_rare(const struct plain *p)
{
	return p->ip.ttl & MIRROR_RARE_TTL || p->ip.tos & MIRROR_RARE_TOS ||
	    (p->ip.proto == HEADERS_TCP && p->flags & MIRROR_RARE_FLAGS);
}

static __always_inline int word_hits(const struct mirror_rows *t, int w,
    __u64 word)
{
	for (__u32 i = 0; i < MIRROR_MAX_ROWS; i++) {
		const struct mirror_word *x = &t->plain[w][i];
		if (i >= t->n_plain[w])
			break;
		if (((word ^ x->value) & x->mask) == 0)
			return 1;
	}
	return 0;
}

/* Whether no row can hit the packet, told without reading it. */
static __always_inline int nothing_hits(const struct mirror_rows *t,
    const void *data, const void *end)
{
	const struct plain *p = data + ETHERNET_BYTES;
	if ((const void *)(p + 1) > end || !mirror_is_plain(p) ||
	    mirror_is_rare(p))
		return 0;
#pragma unroll
	for (int w = 0; w < MIRROR_WORDS; w++)
		if (word_hits(t, w,
			*(const __u64 *)((const void *)p + MIRROR_WORD_AT(w))))
			return 0;
	return 1;
}

/* --- copies --------------------------------------------------------------- */

/* Reading the clock is most of what a copy costs. A tick of the kernel is 1 to
 * 10 ms, and looking which one it is costs next to nothing. */
static __always_inline __u64 ring_stamp(struct mirror_ring *ring, __u32 kind)
{
	const __u64 tick = bpf_jiffies64();
	if (config.by_tick >> (kind & 31) & 1 && ring->tick == tick)
		return ring->tick_ns;
	ring->tick = tick;
	ring->tick_ns = bpf_ktime_get_ns();
	return ring->tick_ns;
}

/* Where the next copy goes, or NULL. */
static __always_inline struct mirror_record *ring_room(struct mirror_ring *ring,
    __u32 cpu)
{
	const __u64 head = ring->head, tail = *(volatile __u64 *)&ring->tail;
	const __u32 i =
	    cpu * config.n_records + (head & (config.n_records - 1));
	return head - tail < config.n_records ? bpf_map_lookup_elem(&copies, &i)
					      : (void *)0;
}

/* The copy is seen before it is asked whether the owner sleeps; he says so before
 * he looks for copies a last time. So one of the two notices. */
static __always_inline void ring_submit(struct mirror_ring *ring)
{
	const __u64 wake = 1;
	__sync_fetch_and_add(&ring->head, 1);
	if (!*(volatile __u32 *)&ring->waiting)
		return;
	ring->waiting = 0;
	bpf_ringbuf_output(&bell, (void *)&wake, sizeof(wake), 0);
}

static __always_inline void ring_copy(struct __sk_buff *skb,
    const struct seen *s, __u32 link, __u32 kind, struct mirror_switch *sw)
{
	const __u32 seq = __sync_fetch_and_add(&sw->n_copies, 1);
	const __u32 cpu = bpf_get_smp_processor_id();
	struct mirror_ring *ring = bpf_map_lookup_elem(&rings, &cpu);
	struct mirror_record *r = ring ? ring_room(ring, cpu) : (void *)0;
	if (!r) {
		__sync_fetch_and_add(&sw->n_full, 1);
		return;
	}
	r->t_ns = ring_stamp(ring, kind);
	r->digest = s->digest;
	r->link = link;
	r->src_ip = KEY_OF(__u32, s->in.ip, src_ip);
	r->dst_ip = KEY_OF(__u32, s->in.ip, dst_ip);
	r->outer_src = s->outer_src;
	r->outer_dst = s->outer_dst;
	r->seq = s->seq;
	r->n_bytes = skb->len;
	r->mirror_seq = seq;
	r->src_port = KEY_OF(__u16, s->in.ports, src_port);
	r->dst_port = KEY_OF(__u16, s->in.ports, dst_port);
	r->ip_id = KEY_OF(__u16, s->in.ports, ip_id);
	r->proto = KEY_OF(__u8, s->in.rest, proto);
	r->ttl = s->ttl;
	r->ttl_in = KEY_OF(__u8, s->in.rest, ttl);
	r->tos = s->tos;
	r->tos_in = KEY_OF(__u8, s->in.rest, tos);
	r->flags = KEY_OF(__u8, s->in.rest, tcp_flags);
	r->layer = s->layer;
	r->kind = kind;
	r->bth_opcode = KEY_OF(__u8, s->in.rest, bth_opcode);
	r->aeth = KEY_OF(__u8, s->in.rest, aeth);
	ring_submit(ring);
}

/* The copy leaves by lo, where mirror_encapsulate makes it a packet of the
 * switch itself, which then comes in by lo and is routed. */
static __always_inline void send_copy(struct __sk_buff *skb, __u32 link,
    struct mirror_switch *sw)
{
	skb->mark = MIRROR_MARK | link;
	if (bpf_clone_redirect(skb, LO, 0) != 0) {
		__sync_fetch_and_add(&sw->n_copies, 1);
		__sync_fetch_and_add(&sw->n_failed, 1);
	}
	skb->mark = 0;
}

/* --- decapsulation -------------------------------------------------------- */

static __always_inline struct ip *ip_of(struct __sk_buff *skb)
{
	struct ip *ip = (void *)(long)skb->data + ETHERNET_BYTES;
	return (void *)(ip + 1) <= (void *)(long)skb->data_end ? ip : (void *)0;
}

/* Take off what is addressed to this switch. What then has no destination was
 * to come here and no further: nobody is to be told that it cannot be routed. */
static __always_inline int strip(struct __sk_buff *skb, __u32 loopback,
    struct mirror_switch *sw)
{
	for (int i = 0; i < MIRROR_MAX_OUTER; i++) {
		const struct ip *ip = ip_of(skb);
		if (!ip || ip->proto != IPIP || ip->dst != bpf_htonl(loopback))
			break;
		if (bpf_skb_adjust_room(skb, -(__s32)((ip->ihl & 15) * 4),
			BPF_ADJ_ROOM_MAC, 0) != 0)
			break;
		__sync_fetch_and_add(&sw->n_stripped, 1);
		ip = ip_of(skb);
		if (ip && ip->dst == 0)
			return TC_ACT_SHOT;
	}
	return TC_ACT_UNSPEC;
}

/* --- programs ------------------------------------------------------------- */

static __always_inline void see(struct __sk_buff *skb, struct seen *s)
{
	headers_pull(skb, HEADERS_BYTES);
	void *data = (void *)(long)skb->data,
	     *end = (void *)(long)skb->data_end;
	if (skb->protocol == bpf_htons(HEADERS_IPV4))
		see_ip(data, end, s);
	else if (skb->protocol == bpf_htons(CONTROL))
		see_pause(data, end, s);
	else
		s->in.ports = KEY_PUT(ethertype, bpf_ntohs(skb->protocol));
}

SEC("tc")
int mirror_ingress(struct __sk_buff *skb)
{
	const __u32 i = skb->ifindex - config.base, zero = 0;
	const struct mirror_link *l = bpf_map_lookup_elem(&ends, &i);
	const struct mirror_rows *t = bpf_map_lookup_elem(&rows, &zero);
	struct seen s = {};
	if (!l || l->loopback == 0 || !t)
		return TC_ACT_UNSPEC;
	if (skb->protocol == bpf_htons(HEADERS_IPV4) &&
	    nothing_hits(t, (void *)(long)skb->data,
		(void *)(long)skb->data_end))
		return TC_ACT_UNSPEC;
	__u32 at = l->at;
	see(skb, &s);
	const int addressed = s.layer > 0 && s.outer_dst == l->loopback;
	const __u32 kind =
	    s.layer > 0 ? match_layered(t, &s) : match_single(t, &s);
	if (kind == OBS_MATCH_NEVER && !addressed)
		return TC_ACT_UNSPEC;
	struct mirror_switch *sw = bpf_map_lookup_elem(&switches, &at);
	if (!sw)
		return TC_ACT_UNSPEC;
	if (kind != OBS_MATCH_NEVER && config.collector == 0)
		ring_copy(skb, &s, i, kind, sw);
	else if (kind != OBS_MATCH_NEVER)
		send_copy(skb, i, sw);
	return addressed ? strip(skb, l->loopback, sw) : TC_ACT_UNSPEC;
}

/* Ethernet, IP, GRE with a sequence number, ERSPAN II. */
struct outside {
	__u8 ethernet[12];
	__be16 ethertype;
	struct ip ip;
	struct gre gre;
	__be32 sequence;
	__be16 version, session;
	__be32 index;
} __attribute__((packed));

static __always_inline __be16 outside_sum(const void *ip)
{
	const __u16 *word = ip;
	__u32 sum = 0;
	for (int i = 0; i < 10; i++)
		sum += word[i];
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

/* At the egress of a switch's lo. The index of the session is the link by which
 * the packet came in. */
SEC("tc")
int mirror_encapsulate(struct __sk_buff *skb)
{
	__u32 link = skb->mark & ~MIRROR_MARK;
	const int cut = skb->len > config.truncate;
	if (!(skb->mark & MIRROR_MARK))
		return TC_ACT_UNSPEC;
	const struct mirror_link *l = bpf_map_lookup_elem(&ends, &link);
	if (!l)
		return TC_ACT_SHOT;
	__u32 at = l->at;
	struct mirror_switch *sw = bpf_map_lookup_elem(&switches, &at);
	if (!sw)
		return TC_ACT_SHOT;
	skb->mark = 0;
	const __u32 seq = __sync_fetch_and_add(&sw->n_copies, 1);
	if ((cut && bpf_skb_change_tail(skb, config.truncate, 0) != 0) ||
	    bpf_skb_change_head(skb, MIRROR_GRE_BYTES, 0) != 0) {
		__sync_fetch_and_add(&sw->n_failed, 1);
		return TC_ACT_SHOT;
	}
	struct outside o = {
	    .ethertype = bpf_htons(HEADERS_IPV4),
	    .ip = {.ihl = 0x45,
		.length = bpf_htons(skb->len - ETHERNET_BYTES),
		.id = bpf_htons(seq),
		.ttl = 64,
		.proto = GRE,
		.src = bpf_htonl(l->loopback),
		.dst = bpf_htonl(config.collector)},
	    .gre = {bpf_htons(0x1000), bpf_htons(ERSPAN)},
	    .sequence = bpf_htonl(seq),
	    .version = bpf_htons(0x1000),
	    .session = bpf_htons(1 | cut << 10),
	    .index = bpf_htonl(link & 0xfffff),
	};
	o.ip.sum = outside_sum(&o.ip);
	if (bpf_skb_store_bytes(skb, 0, &o, sizeof(o), 0) == 0)
		return TC_ACT_UNSPEC;
	__sync_fetch_and_add(&sw->n_failed, 1);
	return TC_ACT_SHOT;
}

/* At the collector, behind whoever captures there: its kernel has no use for
 * copies, and would tell every switch so. */
SEC("tc")
int mirror_swallow(struct __sk_buff *skb)
{
	struct seen s = {};
	headers_pull(skb, HEADERS_BYTES);
	if (skb->protocol == bpf_htons(HEADERS_IPV4))
		see_ip((void *)(long)skb->data, (void *)(long)skb->data_end,
		    &s);
	return KEY_OF(__u8, s.in.rest, is_mirror) ? TC_ACT_SHOT : TC_ACT_UNSPEC;
}
