/* models/bpf/mirror.h -- what the mirror in the kernel and its owner share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Addresses, ports and numbers are in host byte order on both sides.
 */
#ifndef MODELS_BPF_MIRROR_H
#define MODELS_BPF_MIRROR_H

#include <linux/types.h>

#include "models/obs_match_row.h"

enum {
	MIRROR_MAX_ROWS = 32,
	MIRROR_MAX_OUTER = 4, /* OBS_MAX_OUTER */
	/* Of a copy on its way to be encapsulated; the link's number is in the
	 * lower bits. */
	MIRROR_MARK = 0x40000000,
	MIRROR_GRE_BYTES = 50, /* Ethernet, IP, GRE, sequence, ERSPAN II */
};

/* Bits of a key that few packets have, in the words that hold ports and the
 * rest: ethertypes from 0x8000 on; SYN, FIN, RST; the debug bit; TTLs from 128
 * on; RoCE; copies of mirrors. A row that wants one of them cannot hit a packet
 * that has none. */
#define MIRROR_RARE_PORTS 0x8000ull
#define MIRROR_RARE_REST  0xffffff07048000ull

/* The first row that hits takes a packet. Those from n_single on are all for
 * inner headers, so a packet that has one header ends there; and of those before
 * only the ones that want no rare bit, which stand in often[] too, can hit most
 * packets. */
struct mirror_rows {
	__u32 n, n_single, n_often, pad;
	struct obs_match_row row[MIRROR_MAX_ROWS], often[MIRROR_MAX_ROWS];
};

/* Set before loading. */
struct mirror_config {
	__u32 base, n_links; /* ifindex of link 0 */
	__u32 collector;     /* address of copies; 0: to the ring */
	__u32 truncate;      /* bytes of a frame that is encapsulated */
};

/* The receiving end of a link. */
struct mirror_link {
	__u32 loopback; /* of its switch; 0: it is a host */
	__u32 at;       /* number of its switch */
};

struct mirror_switch {
	__u64 n_copies;   /* numbers them: also those that were then lost */
	__u64 n_full;     /* lost: the ring was full */
	__u64 n_failed;   /* lost: the kernel had no memory, or no route */
	__u64 n_stripped; /* outer headers that were taken off */
};

/* A copy in the ring: struct obs_copy, of which the kernel leaves out what can
 * be told from the rest. */
struct mirror_record {
	__u64 t_ns; /* CLOCK_MONOTONIC */
	__u64 digest;
	__u32 link;
	__u32 src_ip, dst_ip;
	__u32 outer_src, outer_dst;
	__u32 seq; /* RoCE: PSN; pause frames: quanta; else in the digest */
	__u32 n_bytes;
	__u32 mirror_seq;
	__u16 src_port, dst_port;
	__u16 ip_id;
	__u8 proto;
	__u8 ttl, ttl_in, tos, tos_in;
	__u8 flags, layer, kind, bth_opcode, aeth;
};

#endif
