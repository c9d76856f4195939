/* models/bpf/kernel.h -- the few members of kernel structs that are looked at.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where each is in the running kernel is found when the program is loaded, from
 * the kernel's BTF (CO-RE), so neither order nor size matters here.
 */
#ifndef MODELS_BPF_KERNEL_H
#define MODELS_BPF_KERNEL_H

#include <linux/types.h>

#pragma clang attribute push(__attribute__((preserve_access_index)),           \
    apply_to = record)

struct net {
	__u64 net_cookie;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct sock_common {
	__be32 skc_daddr, skc_rcv_saddr;
	__be16 skc_dport;
	__u16 skc_num;
	unsigned short skc_family;
	volatile unsigned char skc_state;
	possible_net_t skc_net;
};

struct sock {
	struct sock_common __sk_common;
	__u16 sk_protocol;
};

struct tcp_sock {
	__u32 snd_nxt;
};

struct net_device {
	possible_net_t nd_net;
};

struct sk_buff {
	struct net_device *dev;
	struct sock *sk;
};

#pragma clang attribute pop

enum skb_drop_reason {
	SKB_DROP_REASON_NOT_SPECIFIED = 2,
};

#endif
