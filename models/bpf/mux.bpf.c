/* models/bpf/mux.bpf.c -- load balancers and their servers, in the kernel.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * mux_ingress is at the receiving end of every link into a host, behind the
 * faults of that link (lab.bpf.c), before the stack sees the packet:
 *
 *	for a virtual address, at a mux -> header on  -> out by the same cable
 *	from a mux                      -> header off -> stack
 *	                                              -> or out again: a loop
 *
 * The stack never sees what a mux sends on, so a host can be mux, server and
 * client at once.
 */
#include <linux/types.h>

#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "models/bpf/mux.h"
#include "topo/route.h"

char LICENSE[] SEC("license") = "GPL";

const volatile struct mux_config config;

enum {
	ETHERNET_BYTES = 14,
	IP_BYTES = 20,
	IPV4 = 0x0800,
	IPIP = 4,
	TCP = 6,
	UDP = 17,
	DONT_FRAGMENT = 0x4000,
	FRAGMENT_MASK = 0x1fff,
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct mux_host);
} hosts SEC(".maps");

struct mux_ip {
	__u8 ihl, tos;
	__be16 length, id, fragment;
	__u8 ttl, proto;
	__be16 sum;
	__be32 src, dst;
} __attribute__((packed));

static __always_inline int mux_is_vip(__be32 ip)
{
	return bpf_ntohl(ip) - config.vip < config.vips;
}

/* What switches of a simulation hash: ports are 0 of what has none, and of all
 * fragments but the first. */
static __always_inline __u32 mux_digest(struct __sk_buff *skb,
    const struct mux_ip *ip)
{
	struct topo_tuple t = {.src_ip = bpf_ntohl(ip->src),
	    .dst_ip = bpf_ntohl(ip->dst),
	    .proto = ip->proto};
	__be16 port[2];
	if ((ip->proto == TCP || ip->proto == UDP) &&
	    !(ip->fragment & bpf_htons(FRAGMENT_MASK)) &&
	    bpf_skb_load_bytes(skb, ETHERNET_BYTES + (ip->ihl & 15) * 4, port,
		sizeof(port)) == 0) {
		t.src_port = bpf_ntohs(port[0]);
		t.dst_port = bpf_ntohs(port[1]);
	}
	return topo_tuple_digest(&t);
}

/* The same as packet_mux_server(), to the bit. */
static __always_inline __u32 mux_server(__u32 vip, __u32 digest)
{
	const __u32 v = vip - config.vip, step = config.vips;
	if (step == 0)
		return 0;
	return v +
	    step *
	    topo_ecmp_pick(config.salt, digest,
		(config.n_hosts - 1 - v) / step + 1);
}

static __always_inline __be16 mux_sum(const struct mux_ip *ip)
{
	const __u16 *word = (const void *)ip;
	__u32 sum = 0;
	for (int i = 0; i < 10; i++)
		sum += word[i];
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

static __always_inline int mux_fails(struct mux_host *h)
{
	__sync_fetch_and_add(&h->n_failed, 1);
	return TC_ACT_SHOT;
}

/* The header within has passed a node, whose TTL and sum tell so. What it says
 * of its service goes with it (RFC 2003), and so do its number and that it must
 * not be cut. */
static __always_inline int mux_wrap(struct __sk_buff *skb, struct mux_host *h,
    struct mux_ip *ip)
{
	const __u32 to = mux_server(bpf_ntohl(ip->dst), mux_digest(skb, ip));
	const struct mux_host *server = bpf_map_lookup_elem(&hosts, &to);
	if (ip->ttl <= 1) {
		__sync_fetch_and_add(&h->n_expired, 1);
		return TC_ACT_SHOT;
	}
	if (!server)
		return mux_fails(h);
	struct mux_ip within = *ip;
	within.ttl--;
	within.sum = 0;
	within.sum = mux_sum(&within);
	struct mux_ip outer = {.ihl = 0x45,
	    .tos = ip->tos,
	    .length = bpf_htons(bpf_ntohs(ip->length) + IP_BYTES),
	    .id = ip->id,
	    .fragment = ip->fragment & bpf_htons(DONT_FRAGMENT),
	    .ttl = config.ttl,
	    .proto = IPIP,
	    .src = bpf_htonl(h->address),
	    .dst = bpf_htonl(server->address)};
	outer.sum = mux_sum(&outer);
	if (bpf_skb_store_bytes(skb, ETHERNET_BYTES, &within, sizeof(within),
		0) != 0 ||
	    bpf_skb_adjust_room(skb, IP_BYTES, BPF_ADJ_ROOM_MAC,
		BPF_F_ADJ_ROOM_FIXED_GSO) != 0 ||
	    bpf_skb_store_bytes(skb, ETHERNET_BYTES, &outer, sizeof(outer),
		0) != 0)
		return mux_fails(h);
	__sync_fetch_and_add(&h->n_wrapped, 1);
	return bpf_redirect(skb->ifindex, 0);
}

/* What is within was for a virtual address, or it is no mux's. */
static __always_inline int mux_unwrap(struct __sk_buff *skb, struct mux_host *h,
    const struct mux_ip *ip)
{
	const __u32 bytes = (ip->ihl & 15) * 4;
	struct mux_ip within;
	if (bpf_skb_load_bytes(skb, ETHERNET_BYTES + bytes, &within,
		sizeof(within)) != 0 ||
	    !mux_is_vip(within.dst))
		return TC_ACT_UNSPEC;
	if (bpf_skb_adjust_room(skb, -(__s32)bytes, BPF_ADJ_ROOM_MAC,
		BPF_F_ADJ_ROOM_FIXED_GSO) != 0)
		return mux_fails(h);
	__sync_fetch_and_add(&h->n_unwrapped, 1);
	if (!h->loops)
		return TC_ACT_UNSPEC;
	__sync_fetch_and_add(&h->n_returned, 1);
	return bpf_redirect(skb->ifindex, 0);
}

/* Each host has one cable, whose links have neighbouring numbers. The header is
 * read into the program's stack, as the packet need not lie in one piece of
 * memory. */
SEC("tc")
int mux_ingress(struct __sk_buff *skb)
{
	const __u32 host = (skb->ifindex - config.base) / 2;
	struct mux_host *h = bpf_map_lookup_elem(&hosts, &host);
	struct mux_ip ip;
	if (!h || skb->protocol != bpf_htons(IPV4) ||
	    bpf_skb_load_bytes(skb, ETHERNET_BYTES, &ip, sizeof(ip)) != 0)
		return TC_ACT_UNSPEC;
	if (mux_is_vip(ip.dst))
		return h->is_mux ? mux_wrap(skb, h, &ip) : TC_ACT_UNSPEC;
	if (ip.proto == IPIP && ip.dst == bpf_htonl(h->address))
		return mux_unwrap(skb, h, &ip);
	return TC_ACT_UNSPEC;
}
