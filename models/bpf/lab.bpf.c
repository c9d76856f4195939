/* models/bpf/lab.bpf.c -- faults and truth of a lab's links, in the kernel.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * lab_ingress is at the receiving end of every directed link, before routing
 * sees the packet. The interface's index tells which link that is.
 *
 *	count -> random loss -> black holes -> [tap, user space, tap] -> the rest
 *
 * The rest is whatever program comes after it there (mirror.bpf.c), and the
 * stack: what is to go on is left undecided (TC_ACT_UNSPEC).
 *
 * The program sits at the ingress of the receiver, and not at the egress of the
 * sender: a packet that is dropped at the sender's egress is reported to its
 * TCP as congestion of the own host, which then slows down and sends nothing
 * again, so that 007 would never see the loss.
 * Maps that user space changes while packets flow are plain memory of both
 * sides, of which each word changes as a whole.
 */
#include "models/bpf/kernel.h"

#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "models/bpf/lab.h"

char LICENSE[] SEC("license") = "GPL";

const volatile struct lab_config config;

enum {
	ETHERNET_BYTES = 14,
	IPV4 = 0x0800,
	TCP = 6,
	UDP = 17,
	FRAGMENT_MASK = 0x1fff,
	AF_INET = 2,
	TCP_SYN_SENT = 2,
	TCP_SYN_RECV = 3,
	TYPE_TUPLE = 2, /* BLACKHOLE_RULE_TUPLE */
};

/* Maps have one entry here; the owner gives them their size before loading, as
 * it depends on the network. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct lab_link);
} links SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct lab_hole);
} holes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct lab_count);
} counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct lab_key);
	__type(value, struct lab_drops);
} drops SEC(".maps");

/* Namespaces of the lab, from the kernel's cookie to the node. Tracepoints tell
 * of the whole machine, and of namespaces that are being torn down; only what
 * is in here is ours. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, __u32);
} spaces SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, LAB_EVENTS_BYTES);
} retx SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, LAB_N_REASONS);
	__type(key, __u32);
	__type(value, struct lab_reason);
} reasons SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct lab_totals);
} totals SEC(".maps");

/* --- faults --------------------------------------------------------------- */

/* The same as in models/blackhole_rule.c, to the bit. */
static __always_inline __u64 lab_bpf_mix64(__u64 x)
{
	x += 0x9e3779b97f4a7c15ULL;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

/* A hole takes the keys whose hash is below a threshold: pairs of addresses, or
 * five-tuples (Pingmesh 5.1, types 1 and 2). As the hash is of the packet's own
 * direction, answers may pass where questions do not. */
static __always_inline int swallows(const struct lab_hole *h,
    const struct lab_key *f)
{
	__u64 x = (__u64)f->src_ip << 32 | f->dst_ip;
	x = lab_bpf_mix64(lab_bpf_mix64(x ^ h->salt) + h->salt);
	if (h->type == TYPE_TUPLE)
		x = lab_bpf_mix64(x ^
		    ((__u64)f->proto << 32 | (__u64)f->src_port << 16 |
			f->dst_port));
	return x >> 32 < h->below;
}

/* The kernel's random numbers cannot be seeded. So the n-th packet that is
 * drawn for on this link gets the n-th number of a generator that is a function
 * of n alone, and a run can be repeated. Both sides of the comparison are 63
 * bits: a rate of 1 then has a threshold that no draw reaches. */
static __always_inline int lab_bpf_is_lost(struct lab_link *l)
{
	const __u64 n = __sync_fetch_and_add(&l->n_drawn, 1);
	return lab_bpf_mix64(l->key + n * 0x9e3779b97f4a7c15ULL) >> 1 <
	    l->below;
}

/* The five-tuple; ports are 0 of what has none, and of all fragments but the
 * first. Returns the TTL, with which 0 no packet leaves a host, or 0 if this is
 * not IPv4. */
static __always_inline int lab_bpf_parse(struct __sk_buff *skb,
    struct lab_key *f)
{
	struct {
		__u8 ihl, tos;
		__be16 length, id, fragment;
		__u8 ttl, proto;
		__be16 sum;
		__be32 src, dst;
	} ip;
	__be16 port[2];
	/* Loaded into the program's stack, since the packet need not lie in one
	 * piece of memory. */
	if (skb->protocol != bpf_htons(IPV4) ||
	    bpf_skb_load_bytes(skb, ETHERNET_BYTES, &ip, sizeof(ip)) < 0)
		return 0;
	f->src_ip = bpf_ntohl(ip.src);
	f->dst_ip = bpf_ntohl(ip.dst);
	f->proto = ip.proto;
	if ((ip.proto == TCP || ip.proto == UDP) &&
	    !(ip.fragment & bpf_htons(FRAGMENT_MASK)) &&
	    bpf_skb_load_bytes(skb, ETHERNET_BYTES + (ip.ihl & 15) * 4, port,
		sizeof(port)) == 0) {
		f->src_port = bpf_ntohs(port[0]);
		f->dst_port = bpf_ntohs(port[1]);
	}
	return ip.ttl;
}

/* The bound of the loop is a constant, as the verifier must see that it
 * ends. */
static __always_inline int meets_hole(const struct lab_link *l,
    const struct lab_key *f)
{
	if (f->proto != TCP && f->proto != UDP)
		return 0;
	for (__u32 i = 0; i < LAB_MAX_HOLES; i++) {
		if (i >= l->n_holes)
			return 0;
		__u32 at = l->first_hole + i;
		const struct lab_hole *h = bpf_map_lookup_elem(&holes, &at);
		if (h && swallows(h, f))
			return 1;
	}
	return 0;
}

static __always_inline void tell_drop(const struct lab_key *f, int by_hole,
    struct lab_count *c)
{
	struct lab_drops *d = bpf_map_lookup_elem(&drops, f);
	if (!d) {
		const struct lab_drops none = {};
		/* Another CPU may have made the entry in between, which is as
		 * good. */
		bpf_map_update_elem(&drops, f, &none, BPF_NOEXIST);
		d = bpf_map_lookup_elem(&drops, f);
	}
	if (!d)
		c->n_untold++;
	else
		__sync_fetch_and_add(by_hole ? &d->n_hole : &d->n_random, 1);
}

/* A packet that was held back comes in by the tap of its link and goes on at
 * the link's own interface, as if it came from the cable now: so TTL, routing
 * and the source of ICMP are as without a delay. The mark tells the program
 * there that it has seen this packet. */
static __always_inline int from_tap(struct __sk_buff *skb, __u32 link)
{
	if (link >= config.n_links)
		return TC_ACT_OK;
	skb->mark = LAB_MARK;
	return bpf_redirect(config.base + link, BPF_F_INGRESS);
}

SEC("tc")
int lab_ingress(struct __sk_buff *skb)
{
	/* Unsigned: an interface below the base is far beyond the links,
	 * too. */
	const __u32 i = skb->ifindex - config.base;
	struct lab_key f = {};
	if (i >= config.n_links)
		return from_tap(skb, i - config.n_links);
	if (skb->mark == LAB_MARK) {
		skb->mark = 0;
		return TC_ACT_UNSPEC;
	}
	struct lab_link *l = bpf_map_lookup_elem(&links, &i);
	struct lab_count *c = bpf_map_lookup_elem(&counts, &i);
	if (!l || !c)
		return TC_ACT_UNSPEC;
	/* Per CPU, so no atomic addition is needed. Every packet counts, lost
	 * ones too, or the rate of loss could not be told. */
	c->packets++;
	c->bytes += skb->len;
	/* A link without loss draws no number, so its sequence is not used up
	 * before the fault begins. */
	const int lost = l->below && lab_bpf_is_lost(l);
	/* Headers are only read where they matter: a healthy link costs
	 * little. */
	if (lost || l->n_holes) {
		const int ttl = lab_bpf_parse(skb, &f);
		const int hole = !lost && ttl && meets_hole(l, &f);
		if (lost || hole) {
			if (hole)
				c->n_hole++;
			else
				c->n_random++;
			f.link = i;
			/* What an agent's own probes lose is no loss of the
			 * flow that they trace. */
			if (ttl > 0 && ttl < LAB_MIN_TTL)
				c->n_probes++;
			else
				tell_drop(&f, hole, c);
			return TC_ACT_SHOT;
		}
	}
	return l->slow ? bpf_redirect(config.base + config.n_links + i, 0)
		       : TC_ACT_UNSPEC;
}

/* --- truth ---------------------------------------------------------------- */

/* Called for each segment that TCP sends again; arguments: the socket, the
 * segment. What the agent is to know is copied out, for the socket may be gone
 * when it is read. */
SEC("tp_btf/tcp_retransmit_skb")
int lab_retransmit(__u64 *ctx)
{
	const struct sock *sk = (const void *)ctx[0];
	const struct sock_common *s = &sk->__sk_common;
	__u64 cookie = s->skc_net.net->net_cookie;
	__u32 zero = 0, *node = bpf_map_lookup_elem(&spaces, &cookie);
	if (!node || s->skc_family != AF_INET)
		return 0;
	struct lab_retx *r = bpf_ringbuf_reserve(&retx, sizeof(*r), 0);
	/* A retransmission that nobody is told of makes the window wrong; it is
	 * counted, so that the window can be refused. */
	if (!r) {
		struct lab_totals *t = bpf_map_lookup_elem(&totals, &zero);
		if (t)
			__sync_fetch_and_add(&t->n_lost_events, 1);
		return 0;
	}
	r->at_ns = bpf_ktime_get_ns();
	r->node = *node;
	r->src_ip = bpf_ntohl(s->skc_rcv_saddr);
	r->dst_ip = bpf_ntohl(s->skc_daddr);
	r->src_port = s->skc_num;
	r->dst_port = bpf_ntohs(s->skc_dport);
	r->established =
	    s->skc_state != TCP_SYN_SENT && s->skc_state != TCP_SYN_RECV;
	bpf_ringbuf_submit(r, 0);
	return 0;
}

/* Arguments: the packet, who dropped it, why, the receiving socket (Linux 6.11
 * and later, as all a lab takes). A packet has no device any more once TCP has
 * it. */
SEC("tp_btf/kfree_skb")
int lab_freed(__u64 *ctx)
{
	const struct sk_buff *skb = (const void *)ctx[0];
	const struct sock *sk = (const void *)ctx[3], *sender = skb->sk;
	const struct net_device *dev = skb->dev;
	__u32 why = ctx[2];
	__u64 cookie;
	/* Whose packet it is: that of the socket that was to receive it, of the
	 * device that it is at, or of the socket that sent it, whichever is
	 * known. */
	if (sk)
		cookie = sk->__sk_common.skc_net.net->net_cookie;
	else if (dev)
		cookie = dev->nd_net.net->net_cookie;
	else if (sender)
		cookie = sender->__sk_common.skc_net.net->net_cookie;
	else
		return 0;
	if (!bpf_map_lookup_elem(&spaces, &cookie))
		return 0;
	if (why >= LAB_AT_SOCKET)
		why = LAB_ABOVE;
	else if (sk &&
	    why ==
		bpf_core_enum_value(enum skb_drop_reason,
		    SKB_DROP_REASON_NOT_SPECIFIED))
		/* The kernel gives no reason for what TCP itself throws away;
		 * at a socket that is usual, elsewhere it would be a loss that
		 * must be explained. */
		why = LAB_AT_SOCKET;
	struct lab_reason *r = bpf_map_lookup_elem(&reasons, &why);
	if (r) {
		__sync_fetch_and_add(&r->n, 1);
		r->at = ctx[1];
	}
	return 0;
}

/* The kernel asks for its first wait for a SYN-ACK, and doubles it for each
 * that follows: with 3 s this gives the 3 s and 9 s of Pingmesh's hosts. A
 * return of 1 lets everything else be. */
SEC("sockops")
int lab_syn_timeout(struct bpf_sock_ops *op)
{
	if (op->op != BPF_SOCK_OPS_TIMEOUT_INIT)
		return 1;
	__u64 cookie = bpf_get_netns_cookie(op);
	if (bpf_map_lookup_elem(&spaces, &cookie))
		op->reply = config.syn_timeout_ticks;
	return 1;
}
