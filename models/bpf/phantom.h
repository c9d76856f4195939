/* models/bpf/phantom.h -- what phantom queues in the kernel and their owner share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef MODELS_BPF_PHANTOM_H
#define MODELS_BPF_PHANTOM_H

#include <linux/types.h>

#include "models/bpf/phantom_law.h"

/* Set before loading. Port I is the interface of index base + I * step. */
struct phantom_config {
	struct phantom_law law;
	__u32 base, step;
	__u32 given; /* the clock is the owner's: of tests */
	__u32 mac_bytes;
};

/* Of a port, ever. Who holds the lock writes all but the last two, which are added
 * to without. */
struct phantom_count {
	__u64 packets, bytes; /* that came, dropped ones too */
	__u64 n_dropped, dropped_bytes;
	__u64 length;   /* units, behind the last packet */
	__u64 longest;  /* units, behind a packet that was let in */
	__u64 n_marked; /* with CE now */
	__u64 n_deaf;   /* should have been, but have no ECN */
};

struct phantom_state {
	__u64 lock;     /* 1: taken */
	__u64 n_raced;  /* packets that did not get it */
	__u64 given_ns; /* the time, of tests */
	__u64 pad[5];
	struct phantom_buffer buffer;
	struct phantom_count count[PHANTOM_PORTS];
};

#endif
