/* models/bpf/headers.h -- headers of packets, as programs in the kernel read them.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * To be included behind bpf/bpf_helpers.h.
 */
#ifndef MODELS_BPF_HEADERS_H
#define MODELS_BPF_HEADERS_H

#include <linux/types.h>

#include <linux/bpf.h>

enum {
	HEADERS_IPV4 = 0x0800,
	HEADERS_TCP = 6,
	HEADERS_UDP = 17,
	HEADERS_FRAGMENT = 0x1fff, /* where a fragment belongs */
};

/* Fields of headers are aligned on even bytes of the packet; these machines read
 * from any, and without alignment clang would read byte by byte. */
struct ip {
	__u8 ihl, tos;
	__be16 length, id, fragment;
	__u8 ttl, proto;
	__be16 sum;
	__be32 src, dst;
};

struct tcp {
	__be16 src_port, dst_port;
	__be32 seq, ack;
	__u8 data_offset, flags;
};

/* The first N bytes of headers that are not in the first piece of a packet's
 * memory are moved there. */
static __always_inline void headers_pull(struct __sk_buff *skb, __u32 n)
{
	const __u32 want = skb->len < n ? skb->len : n;
	if ((void *)(long)skb->data + want > (void *)(long)skb->data_end)
		bpf_skb_pull_data(skb, want);
}

#endif
