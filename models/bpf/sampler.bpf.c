/* models/bpf/sampler.bpf.c -- bytes and connections of a host in short buckets.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * At both sides of an interface. All widths are counted at once, with one
 * reading of the clock, which is most of what a packet costs:
 *
 *	enabled? -> clock -> headers -> [sent again? marked] -> a bucket a width
 *
 * What is sent again is known at egress: TCP moves snd_nxt only after it sent
 * something for the first time, so what is before that was sent before. Its
 * packets are marked, in a bit of the TTL or of the DSCP, for the receiver's
 * sampler and for mirrors on the way. The mark means something in TCP's packets
 * only: neighbour discovery begins with a TTL of 255, and others as they like.
 *
 * Paper  Millisampler (IMC'22).
 */
#include <linux/types.h>

#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>

#include "models/bpf/headers.h"
#include "models/bpf/kernel.h"
#include "models/bpf/sampler.h"

char LICENSE[] SEC("license") = "GPL";

const volatile struct sampler_config config;

/* The verifier puts no call where these stand, but lets pointers be read
 * through; bpf_tcp_sock() is called, which takes 10 ns. */
extern void *bpf_cast_to_kern_ctx(void *ctx) __ksym;
extern void *bpf_rdonly_cast(const void *p, __u32 type) __ksym;

struct sampler_state state SEC(".data.state");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct sampler_cpu);
} cpus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct sampler_echo);
} echoes SEC(".maps");

__u32 n_echoed SEC(".data.echoed");

enum {
	IPV6 = 0x86dd,
	VLAN = 0x8100,
	PROVIDER_VLAN = 0x88a8,
	TAG_BYTES = 4,
	MAX_TAGS = 2,
	CE = 3,
	FIN = 1,
	SYN = 2,
	TCP_TIME_WAIT = 6,
	TCP_NEW_SYN_RECV = 12,
	/* Headers that are looked at lie within: Ethernet, two tags, IPv6, TCP. */
	HEADERS_BYTES = 14 + MAX_TAGS * TAG_BYTES + 40 + 20,
	/* As far as anything is looked at: 14, tags, IPv6, its extension
	 * headers, TCP. */
	HEADERS_MASK = 255,
};
_Static_assert((int)HEADERS_BYTES + (int)OBS_IP6_MAX_EXTENSION_BYTES <=
	(int)HEADERS_MASK,
    "headers are reached");

struct ip6 {
	__be32 first; /* version, traffic class, flow label */
	__be16 length;
	__u8 proto, ttl;
	__be64 src[2], dst[2];
};

/* Where headers are, behind the parts of a packet's memory. */
struct at {
	__u32 ip, l4; /* bytes from the beginning; l4 0: none */
	__u8 version, proto, ttl, tos;
};

/* --- headers -------------------------------------------------------------- */

/* N bytes from byte AT on, which lies within headers: the verifier takes nothing
 * for bounded that it has not seen so. */
static __always_inline void *bytes_at(struct __sk_buff *skb, __u32 at, __u32 n)
{
	void *p = (void *)(long)skb->data + (at & HEADERS_MASK);
	return p + n <= (void *)(long)skb->data_end ? p : (void *)0;
}

/* The ethertype behind tags that stand in the packet, and where that ends. */
static __always_inline __be16 network_of(struct __sk_buff *skb, __u32 *at)
{
	__be16 type = skb->protocol;
	*at = config.mac_bytes;
#pragma unroll
	for (int i = 0; i < MAX_TAGS; i++) {
		if (type != bpf_htons(VLAN) && type != bpf_htons(PROVIDER_VLAN))
			break;
		const __be16 *tag = bytes_at(skb, *at, TAG_BYTES);
		if (!tag)
			break;
		type = tag[1];
		*at += TAG_BYTES;
	}
	return type;
}

static __always_inline __u64 ports_of(struct __sk_buff *skb,
    const struct at *at, int out)
{
	const __be16 *port =
	    at->proto == HEADERS_TCP || at->proto == HEADERS_UDP
	    ? bytes_at(skb, at->l4, 2 * sizeof(*port))
	    : (void *)0;
	if (!port || !at->l4)
		return obs_sketch_ports(0, 0, at->proto);
	return obs_sketch_ports(bpf_ntohs(port[!out]), bpf_ntohs(port[out]),
	    at->proto);
}

/* A fragment that is not the first has no ports, so all of them count as one
 * connection of their addresses more. */
static __always_inline void see4(struct __sk_buff *skb, int out, struct at *at,
    struct obs_seen *s)
{
	const struct ip *ip = bytes_at(skb, at->ip, sizeof(*ip));
	if (!ip)
		return;
	const __u32 here = bpf_ntohl(out ? ip->src : ip->dst),
		    there = bpf_ntohl(out ? ip->dst : ip->src);
	at->version = 4;
	at->proto = ip->proto;
	at->ttl = ip->ttl;
	at->tos = ip->tos;
	if (!(ip->fragment & bpf_htons(HEADERS_FRAGMENT)))
		at->l4 = at->ip + (ip->ihl & 15) * 4;
	s->cross = ((there ^ config.net4) & config.mask4) != 0;
	s->bit = obs_sketch_bit4(here, there, ports_of(skb, at, out));
	s->has_bit = 1;
}

/* Step over extension headers: few packets have any, so not inlined, and read by
 * calls. Where ports are is left at 0 if there are none to be found: a fragment
 * that is not the first, or what is behind more headers than are followed.
 * Returns 1 of the latter. */
static __noinline int behind_extensions(struct __sk_buff *skb, struct at *at)
{
	__u32 to;
	__u8 head[OBS_IP6_EXTENSION];
	if (!at)
		return 0;
	to = at->l4;
	at->l4 = 0;
	for (int i = 0; i <= OBS_IP6_MAX_EXTENSIONS; i++) {
		if (!obs_ip6_is_extension(at->proto)) {
			at->l4 = to;
			headers_pull(skb, to + sizeof(struct tcp));
			return 0;
		}
		if (bpf_skb_load_bytes(skb, to, head, sizeof(head)) != 0)
			return 0;
		const __u32 n = obs_ip6_extension_bytes(at->proto, head[1]);
		const int is_later = at->proto == OBS_IP6_FRAGMENT &&
		    (head[2] | (head[3] & 0xf8)) != 0;
		to += n;
		if (i == OBS_IP6_MAX_EXTENSIONS ||
		    to > at->ip + sizeof(struct ip6) +
			    OBS_IP6_MAX_EXTENSION_BYTES)
			return 1;
		at->proto = head[0];
		if (is_later)
			return 0;
	}
	return 0;
}

static __always_inline void see6(struct __sk_buff *skb, int out, struct at *at,
    struct sampler_cpu *cpu, struct obs_seen *s)
{
	const struct ip6 *ip = bytes_at(skb, at->ip, sizeof(*ip));
	if (!ip)
		return;
	const __be64 *a = out ? ip->src : ip->dst, *b = out ? ip->dst : ip->src;
	const uint64_t here[2] = {bpf_be64_to_cpu(a[0]), bpf_be64_to_cpu(a[1])},
		       there[2] = {bpf_be64_to_cpu(b[0]),
			   bpf_be64_to_cpu(b[1])};
	at->version = 6;
	at->proto = ip->proto;
	at->ttl = ip->ttl;
	at->tos = bpf_ntohl(ip->first) >> 20;
	at->l4 = at->ip + sizeof(*ip);
	if (obs_ip6_is_extension(at->proto))
		cpu->n_deep += behind_extensions(skb, at);
	s->cross = (((there[0] ^ config.net6[0]) & config.mask6[0]) |
		       ((there[1] ^ config.net6[1]) & config.mask6[1])) != 0;
	s->bit = obs_sketch_bit6(here, there, ports_of(skb, at, out));
	s->has_bit = 1;
}

/* Headers that stand once in a large packet, and on the wire before each of its
 * segments. */
static __always_inline __u32 header_bytes(struct __sk_buff *skb,
    const struct at *at)
{
	const struct tcp *tcp = bytes_at(skb, at->l4, sizeof(*tcp));
	if (!at->l4)
		return at->ip;
	if (at->proto == HEADERS_TCP && tcp)
		return at->l4 + (tcp->data_offset >> 4) * 4;
	return at->l4 + (at->proto == HEADERS_UDP ? 8 : 0);
}

/* The kernel takes the outer tag of a VLAN out of a packet and keeps it beside,
 * but the wire has it, and captures put it back. */
static __always_inline __u32 bytes_of(struct __sk_buff *skb,
    const struct at *at)
{
	const __u32 tag = skb->vlan_present ? TAG_BYTES : 0;
	if (!config.wire || skb->gso_segs < 2)
		return skb->len + tag;
	return skb->len + tag +
	    (skb->gso_segs - 1) * (header_bytes(skb, at) + tag);
}

/* Of two packets in a thousand perhaps, so what marks is looked at first. */
static __always_inline int is_marked(const struct at *at)
{
	return ((at->ttl & config.mark_ttl) | (at->tos & config.mark_tos)) !=
	    0 &&
	    at->proto == HEADERS_TCP;
}

static __always_inline struct obs_seen sample_seen(struct __sk_buff *skb,
    int out, struct at *at, struct sampler_cpu *cpu)
{
	struct obs_seen s = {.out = out};
	const __be16 type = network_of(skb, &at->ip);
	if (type == bpf_htons(HEADERS_IPV4))
		see4(skb, out, at, &s);
	else if (type == bpf_htons(IPV6))
		see6(skb, out, at, cpu, &s);
	s.bytes = bytes_of(skb, at);
	s.ce = (at->tos & CE) == CE;
	s.retx = is_marked(at);
	return s;
}

/* --- what is sent again --------------------------------------------------- */

/* Not so are requests for a connection and what is left of one, which are
 * smaller, and sockets of another protocol that send TCP's packets as they
 * please. */
static __always_inline int has_snd_nxt(const struct sock *sk)
{
	const __u8 state = sk->__sk_common.skc_state;
	return state != TCP_TIME_WAIT && state != TCP_NEW_SYN_RECV &&
	    sk->sk_protocol == HEADERS_TCP;
}

/* An acknowledgement alone takes no sequence number, and is before snd_nxt when
 * it says that something came twice. SYN-ACKs have no socket yet. */
static __always_inline int sent_before(struct __sk_buff *skb,
    const struct at *at)
{
	const struct tcp *tcp = bytes_at(skb, at->l4, sizeof(*tcp));
	if (at->proto != HEADERS_TCP || !at->l4 || !tcp)
		return 0;
	const __u32 header = at->l4 + (tcp->data_offset >> 4) * 4;
	const __u32 seq = bpf_ntohl(tcp->seq);
	if (skb->len <= header && !(tcp->flags & (SYN | FIN)))
		return 0;
	const struct sock *sk =
	    ((struct sk_buff *)bpf_cast_to_kern_ctx(skb))->sk;
	if (!sk || !has_snd_nxt(sk))
		return 0;
	const struct tcp_sock *tp =
	    bpf_rdonly_cast(sk, bpf_core_type_id_kernel(struct tcp_sock));
	return (__s32)(seq - tp->snd_nxt) < 0;
}

/* IPv6 has no checksum of its header. The flags word of it is written whole. */
static __always_inline int mark6(struct __sk_buff *skb, const struct at *at)
{
	const __u8 ttl = at->ttl | config.mark_ttl;
	const struct ip6 *ip = bytes_at(skb, at->ip, sizeof(*ip));
	if (!ip)
		return -1;
	const __be32 first = ip->first | bpf_htonl(config.mark_tos << 20);
	if (bpf_skb_store_bytes(skb, at->ip, &first, 4, 0) != 0)
		return -1;
	return bpf_skb_store_bytes(skb,
	    at->ip + __builtin_offsetof(struct ip6, ttl), &ttl, 1, 0);
}

/* The checksum is of words of 16 bits: version and tos, TTL and protocol. */
static __always_inline int mark4(struct __sk_buff *skb, const struct at *at)
{
	const __u32 sum = at->ip + __builtin_offsetof(struct ip, sum);
	const __u8 ttl = at->ttl | config.mark_ttl,
		   tos = at->tos | config.mark_tos;
	if (bpf_l3_csum_replace(skb, sum, bpf_htons(at->ttl << 8),
		bpf_htons(ttl << 8), 2) != 0 ||
	    bpf_l3_csum_replace(skb, sum, bpf_htons(at->tos), bpf_htons(tos),
		2) != 0 ||
	    bpf_skb_store_bytes(skb,
		at->ip + __builtin_offsetof(struct ip, ttl), &ttl, 1, 0) != 0)
		return -1;
	return bpf_skb_store_bytes(skb,
	    at->ip + __builtin_offsetof(struct ip, tos), &tos, 1, 0);
}

/* Not inlined into the way of packets that are sent once. */
static __noinline int mark(struct __sk_buff *skb, struct at *at)
{
	if (!at || !(config.mark_ttl | config.mark_tos))
		return 0;
	return at->version == 4 ? mark4(skb, at) : mark6(skb, at);
}

/* --- buckets -------------------------------------------------------------- */

static __always_inline __u64 now(void)
{
	return config.given ? state.now : bpf_ktime_get_ns();
}

/* The compiler would take the index for what it is in this file, all 0, unless
 * it cannot know where it points. */
static __always_inline const struct obs_index *sample_index(int w)
{
	const volatile void *ix = &config.index[w];
	asm volatile("" : "+r"(ix));
	return (const struct obs_index *)ix;
}

/* The first packet starts the clock; of two that race for it, one does. What a
 * start is a multiple of is TAI, of which nobody asks the kernel: that would take
 * longer for each packet, and is needed once. */
static __always_inline __u64 start_of(struct sampler_run *run,
    const struct obs_index *ix, __u64 t)
{
	const __u64 start = *(volatile __u64 *)&run->start;
	if (start != 0)
		return start;
	const __u64 mine =
	    obs_index_start(ix, t + run->ahead, config.aligned) - run->ahead;
	const __u64 other = __sync_val_compare_and_swap(&run->start, 0, mine);
	return other != 0 ? other : mine;
}

static __always_inline void count(struct sampler_cpu *cpu, int w, __u64 t,
    const struct obs_seen *s)
{
	const struct obs_index *ix = sample_index(w);
	const int place =
	    obs_index_place(ix, t, start_of(&state.run[w], ix, t));
	const __u32 i = place;
	if (i < OBS_BUCKETS)
		obs_bucket_add(&cpu->bucket[w][i], s);
	else if (place == OBS_PLACE_OVER)
		__sync_fetch_and_and(&state.enabled, ~(1u << w));
	else
		cpu->n_missed[w]++;
}

static __always_inline void echo(__u64 t, const struct obs_seen *s,
    __u32 enabled)
{
	if (config.n_echoes == 0)
		return;
	const __u32 i =
	    __sync_fetch_and_add(&n_echoed, 1) & (config.n_echoes - 1);
	struct sampler_echo *e = bpf_map_lookup_elem(&echoes, &i);
	if (e)
		*e = (struct sampler_echo){t, *s, enabled};
}

static __always_inline void sample(struct __sk_buff *skb, int out,
    __u32 enabled)
{
	const __u32 i = bpf_get_smp_processor_id();
	struct sampler_cpu *cpu = bpf_map_lookup_elem(&cpus, &i);
	struct at at = {};
	if (!cpu)
		return;
	const __u64 t = enabled & SAMPLER_ALL ? now() : 0;
	headers_pull(skb, HEADERS_BYTES);
	struct obs_seen s = sample_seen(skb, out, &at, cpu);
	if (out && sent_before(skb, &at)) {
		s.retx = 1;
		cpu->n_retx += skb->gso_segs > 1 ? skb->gso_segs : 1;
		cpu->n_failed += mark(skb, &at) != 0;
	} else if (out && s.retx) {
		/* Nobody here sent it again; whoever receives it takes it for
		 * that. */
		s.retx = 0;
		cpu->n_false++;
	}
	echo(t, &s, enabled);
#pragma unroll
	for (int w = 0; w < SAMPLER_WIDTHS; w++)
		if (enabled >> w & 1)
			count(cpu, w, t, &s);
}

SEC("tc")
int sampler_ingress(struct __sk_buff *skb)
{
	const __u32 enabled = *(volatile __u32 *)&state.enabled;
	if (enabled & SAMPLER_ALL)
		sample(skb, 0, enabled);
	return TC_ACT_UNSPEC;
}

SEC("tc")
int sampler_egress(struct __sk_buff *skb)
{
	const __u32 enabled = *(volatile __u32 *)&state.enabled;
	if (enabled)
		sample(skb, 1, enabled);
	return TC_ACT_UNSPEC;
}
