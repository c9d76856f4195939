/* models/bpf/mux.h -- what load balancers in the kernel and their owner share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Addresses are in host byte order on both sides.
 */
#ifndef MODELS_BPF_MUX_H
#define MODELS_BPF_MUX_H

#include <linux/types.h>

/* Set before loading. */
struct mux_config {
	__u32 base; /* ifindex of link 0 */
	__u32 n_hosts;
	__u32 vip, vips; /* the first virtual address, and how many there are */
	__u32 salt;      /* of the choice of a server */
	__u32 ttl;       /* of the header that is put on */
};

struct mux_host {
	__u32 address;
	__u32 is_mux;
	__u32 loops; /* it sends back what muxes send */
	__u32 pad;
	__u64 n_wrapped;   /* as a mux */
	__u64 n_unwrapped; /* as a server: */
	__u64 n_returned;  /* of these, sent back */
	__u64 n_expired;   /* thrown away: its TTL had run down */
	__u64 n_failed;    /* thrown away: no memory */
};

#endif
