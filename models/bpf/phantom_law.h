/* models/bpf/phantom_law.h -- a switch's shared buffer that is reckoned, not kept.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A phantom queue is a number beside a port: packets add their bytes, and the
 * line takes away what it would have carried since. A packet of n bytes that
 * finds v bytes before it, and B - sum of all queues free, is
 *
 *	dropped  if v + n > alpha (B - sum), or if n > B - sum
 *	marked   if v > K
 *
 * The first is the dynamic threshold, by which n ports that are all full have
 * alpha B / (1 + alpha n) each; the second says that the buffer ends at B
 * whatever alpha is.
 *
 * All of it is whole numbers without any rounding: bytes count in eight
 * thousandths, of which a line of 1 Mb/s carries one in a nanosecond. Nothing
 * but plain integers, so that the program in the kernel (phantom.bpf.c) and its
 * twin in user space are this same code.
 *
 * A queue is brought up to date when a packet comes to it, so the sum has too
 * much of ports at which none does; all are brought up to date once in
 * `sweep_ns`, and the sum is too large by at most what the lines of such ports
 * carry in that time.
 *
 * Paper  A. Choudhury, E. Hahne, "Dynamic Queue Length Thresholds" (ToN 1998);
 *        Millisampler (IMC'22) for the switch.
 */
#ifndef MODELS_BPF_PHANTOM_LAW_H
#define MODELS_BPF_PHANTOM_LAW_H

#include <stdint.h>

enum {
	PHANTOM_PORTS = 64,   /* at most, of one buffer */
	PHANTOM_UNITS = 8000, /* of a byte */
	PHANTOM_ALPHA = 256,  /* stands for alpha = 1 */
	PHANTOM_SWEEP_NS = 1000000,
	/* Within these no product below is beyond 64 bits. */
	PHANTOM_MAX_MBPS = 1000000,
	PHANTOM_MAX_BYTES = 1 << 30,
	PHANTOM_MAX_ALPHA = 256 * PHANTOM_ALPHA,
};

/* Lengths are in units. */
struct phantom_law {
	uint64_t shared;   /* B */
	uint64_t mark;     /* K */
	uint64_t drain_ns; /* in which a full buffer is empty */
	uint64_t sweep_ns;
	uint32_t mbps;  /* units that a line carries in a nanosecond */
	uint32_t alpha; /* in 1 / PHANTOM_ALPHA */
	uint32_t n_ports;
	uint32_t pad;
};

struct phantom_queue {
	uint64_t length, at_ns; /* as of then */
};

/* Zeroed is empty. */
struct phantom_buffer {
	uint64_t used; /* sum of the lengths */
	uint64_t swept_ns;
	struct phantom_queue port[PHANTOM_PORTS];
};

enum phantom_says { PHANTOM_PASSES, PHANTOM_MARKED, PHANTOM_DROPPED };

/* Returns 0 if a value is out of range. Not for programs in the kernel, which are
 * given what comes of it. */
static inline int phantom_law_make(struct phantom_law *law, uint32_t n_ports,
    uint32_t mbps, uint64_t shared_bytes, uint64_t mark_bytes, uint32_t alpha)
{
	if (n_ports == 0 || n_ports > PHANTOM_PORTS || mbps == 0 ||
	    mbps > PHANTOM_MAX_MBPS || shared_bytes == 0 ||
	    shared_bytes > PHANTOM_MAX_BYTES || mark_bytes > shared_bytes ||
	    alpha == 0 || alpha > PHANTOM_MAX_ALPHA)
		return 0;
	*law = (struct phantom_law){
	    .shared = shared_bytes * PHANTOM_UNITS,
	    .mark = mark_bytes * PHANTOM_UNITS,
	    .drain_ns = shared_bytes * PHANTOM_UNITS / mbps + 1,
	    .sweep_ns = PHANTOM_SWEEP_NS,
	    .mbps = mbps,
	    .alpha = alpha,
	    .n_ports = n_ports,
	};
	return 1;
}

/* What port Q's line has carried by NOW leaves it. Of two processors one may have
 * read the clock before the other and come after it: then nothing does. */
static inline void phantom_drain(const struct phantom_law *law,
    struct phantom_buffer *b, struct phantom_queue *q, uint64_t now)
{
	const uint64_t dt = now - q->at_ns;
	uint64_t gone = q->length;
	if (dt > UINT64_MAX / 2)
		return;
	if (dt < law->drain_ns && dt * law->mbps < gone)
		gone = dt * law->mbps;
	q->length -= gone;
	q->at_ns = now;
	b->used -= gone;
}

/* The loop has a bound that is a constant, as the verifier must see that it
 * ends. */
static inline void phantom_sweep(const struct phantom_law *law,
    struct phantom_buffer *b, uint64_t now)
{
	const uint64_t dt = now - b->swept_ns;
	if (dt < law->sweep_ns || dt > UINT64_MAX / 2)
		return;
	b->swept_ns = now;
	for (uint32_t i = 0; i < PHANTOM_PORTS; i++)
		if (i < law->n_ports)
			phantom_drain(law, b, &b->port[i], now);
}

/* A packet of BYTES comes to port I, which is below n_ports, at NOW. Cost O(1),
 * and O(ports) once in sweep_ns. */
static inline enum phantom_says phantom_packet(const struct phantom_law *law,
    struct phantom_buffer *b, uint64_t i, uint64_t now, uint32_t bytes)
{
	struct phantom_queue *q = &b->port[i];
	const uint64_t n = (uint64_t)bytes * PHANTOM_UNITS;
	phantom_sweep(law, b, now);
	phantom_drain(law, b, q, now);
	const uint64_t before = q->length;
	const uint64_t free = law->shared - b->used;
	if (n > free || (before + n) * PHANTOM_ALPHA > free * law->alpha)
		return PHANTOM_DROPPED;
	q->length += n;
	b->used += n;
	return before > law->mark ? PHANTOM_MARKED : PHANTOM_PASSES;
}

#endif
