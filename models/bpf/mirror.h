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

/* A plain packet is IPv4 in no other, without options, whole, with all of a TCP
 * header's length behind it: TCP, or UDP that is not RoCE. Before anything is
 * read of it, words of it as they are on the wire, from the IP header on, are
 * held against what any row wants of them; most packets are done with then.
 *
 * Bytes of these words that few plain packets have set, and which whole rows
 * then are held against: the debug bit; TTLs from 128 on; SYN, FIN, RST. */
enum {
	MIRROR_WORDS = 4,
	MIRROR_RARE_TOS = 0x04,
	MIRROR_RARE_TTL = 0x80,
	MIRROR_RARE_FLAGS = 0x07,
};

/* Where word W of a packet begins, from the IP header on. */
#define MIRROR_WORD_AT(w) ((w) < 3 ? 8 * (w) : 32)

struct mirror_word {
	__u64 value, mask; /* in the order of the wire */
};

/* The first row that hits takes a packet. Those from n_single on are all for
 * inner headers, so a packet that has one header ends there. A plain packet
 * without rare bits is hit by none unless its word w by one of plain[w]. */
struct mirror_rows {
	__u32 n, n_single, n_plain[MIRROR_WORDS];
	struct obs_match_row row[MIRROR_MAX_ROWS];
	struct mirror_word plain[MIRROR_WORDS][MIRROR_MAX_ROWS];
};

/* Set before loading. */
struct mirror_config {
	__u32 base, n_links; /* ifindex of link 0 */
	__u32 collector;     /* address of copies; 0: to the ring */
	__u32 truncate;      /* bytes of a frame that is encapsulated */
	__u32 n_records;     /* of each processor's ring, a power of 2 */
	__u32 by_tick;       /* bits 1 << kind: time is that of the tick */
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

/* Each processor has a ring of copies, which nobody else writes: programs of one
 * do not interrupt each other. A copy is in it once HEAD says so. */
struct mirror_ring {
	__u64 head; /* copies ever */
	__u64 tick,
	    tick_ns; /* the last clock that was read, and in which tick */
	__u64 pad[5];
	__u64 tail; /* of those read; the owner's */
	/* Not 0: the owner sleeps. Who puts the next copy wakes him. */
	__u32 waiting;
	__u32 rest[13];
};

/* A copy in the ring: struct obs_copy, of which the kernel leaves out what can
 * be told from the rest. */
struct mirror_record {
	__u64 t_ns; /* CLOCK_MONOTONIC; by tick: before that by up to one */
	__u64 digest;
	__u32 link;
	__u32 src_ip, dst_ip;
	__u32 outer_src, outer_dst;
	__u32
	    seq; /* RoCE: PSN; pause: classes << 16 | quanta; else in digest */
	__u32 n_bytes;
	__u32 mirror_seq;
	__u16 src_port, dst_port;
	__u16 ip_id;
	__u8 proto;
	__u8 ttl, ttl_in, tos, tos_in;
	__u8 flags, layer, kind, bth_opcode, aeth;
};

#endif
