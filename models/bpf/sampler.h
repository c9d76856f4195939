/* models/bpf/sampler.h -- what the sampler in the kernel and its owner share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Addresses and ports are in host byte order on both sides.
 */
#ifndef MODELS_BPF_SAMPLER_H
#define MODELS_BPF_SAMPLER_H

#include <linux/types.h>

#include "models/obs_buckets.h"

enum {
	SAMPLER_WIDTHS = 3,
	/* Bits of state.enabled: 1 << width, and one that marks what is sent
	 * again though no run is under way. */
	SAMPLER_ALL = (1 << SAMPLER_WIDTHS) - 1,
	SAMPLER_MARK = 1 << 16,
};

/* Set before loading. */
struct sampler_config {
	struct obs_index index[SAMPLER_WIDTHS];
	__u64 net6[2], mask6[2]; /* the region's, upper half first */
	__u32 net4, mask4;
	__u32 given;    /* the time is state.now, of tests */
	__u32 aligned;  /* runs begin at multiples of their width, by TAI */
	__u32 mark_ttl; /* bits that mark what is sent again, in the TTL */
	__u32 mark_tos; /* and in the type-of-service byte; or both 0 */
	__u32 wire;     /* count headers of each segment of a large packet */
	__u32 mac_bytes;
	__u32 n_echoes; /* a power of 2; 0: none */
};

/* Times are of CLOCK_MONOTONIC, which is the cheapest to read. */
struct sampler_run {
	__u64 start; /* 0: no packet yet */
	__u64 ahead; /* of it is CLOCK_TAI, since the run was armed */
};

/* One for all processors. It is read for each packet and written a few times a
 * run. */
struct sampler_state {
	__u32 enabled;
	__u32 pad;
	struct sampler_run run[SAMPLER_WIDTHS];
	__u64 now;
	__u64 rest[8];
};

/* Of one processor, which alone writes it while the run is enabled. */
struct sampler_cpu {
	struct obs_bucket bucket[SAMPLER_WIDTHS][OBS_BUCKETS];
	__u64 n_missed[SAMPLER_WIDTHS]; /* packets before the first bucket */
	__u64 n_retx;   /* segments that a socket here sent again, ever */
	__u64 n_failed; /* of packets that could not be marked so */
	__u64 n_deep;   /* whose ports are behind more headers than followed */
	__u64 n_false;  /* that left with the mark, and no socket sent again */
	__u64 pad[1];
};

/* What was counted, for a twin that counts it again. */
struct sampler_echo {
	__u64 t;
	struct obs_seen seen;
	__u32 enabled;
};

#endif
