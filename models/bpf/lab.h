/* models/bpf/lab.h -- what the programs in the kernel and their owner share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Addresses and ports are in host byte order on both sides.
 */
#ifndef MODELS_BPF_LAB_H
#define MODELS_BPF_LAB_H

#include <linux/types.h>

enum {
	LAB_MAX_HOLES = 64, /* of one switch */
	LAB_N_REASONS = 256,
	LAB_ABOVE = LAB_N_REASONS - 1,     /* any reason from here on */
	LAB_AT_SOCKET = LAB_N_REASONS - 2, /* none given, by a socket */
	LAB_EVENTS_BYTES = 1 << 20,
	/* Packets with less left are probes of a path, which have its flow's
	 * five-tuple and are no packets of the flow: of those, hosts send 64,
	 * and no path is so long. */
	LAB_MIN_TTL = 32,
	/* Of a packet that has been delayed already. The kernel clears marks
	 * where a packet changes namespace, so no other can have it. */
	LAB_MARK = 0x1ab0001,
};

/* Set before loading. */
struct lab_config {
	__u32 base, n_links;     /* ifindex of link 0; taps follow the links */
	__u32 syn_timeout_ticks; /* of the kernel's clock; 0: not asked for */
};

/* What is wrong with a link now. The n-th packet that is drawn for is dropped
 * if the n-th number of SplitMix64(key), halved, is below `below`. */
struct lab_link {
	__u64 key, n_drawn;
	__u64 below; /* rate * 2^63 */
	__u32 first_hole, n_holes;
	__u32 slow; /* there is a tap */
	__u32 pad;
};

/* As struct blackhole_rule; a hole that is not active has below = 0. */
struct lab_hole {
	__u64 below, salt;
	__u32 type, pad;
};

/* Per link and CPU. */
struct lab_count {
	__u64 packets, bytes;
	__u64 n_random, n_hole;
	__u64 n_probes; /* drops that are of no flow */
	__u64 n_untold; /* drops that found no room in the map of drops */
};

struct lab_key {
	__u32 src_ip, dst_ip;
	__u16 src_port, dst_port;
	__u32 proto;
	__u32 link;
};

struct lab_drops {
	__u64 n_random, n_hole;
};

/* A segment that was sent again. */
struct lab_retx {
	__u64 at_ns; /* CLOCK_MONOTONIC */
	__u32 node;
	__u32 src_ip, dst_ip;
	__u16 src_port, dst_port;
	__u32 established;
	__u32 pad;
};

/* Packets dropped for one reason, and where in the kernel the last was. */
struct lab_reason {
	__u64 n, at;
};

struct lab_totals {
	__u64 n_lost_events; /* retransmissions that found the buffer full */
};

#endif
