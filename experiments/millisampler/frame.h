/* experiments/millisampler/frame.h -- a captured frame, as the sampler sees it.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What models/bpf/sampler.bpf.c reads of a packet: tags of VLANs are stepped
 * over, of IPv6 also extension headers; a fragment that is not the first has no
 * ports. A capture may be cut, though, and then ports are not known of a packet
 * that had some.
 */
#ifndef EXPERIMENTS_MILLISAMPLER_FRAME_H
#define EXPERIMENTS_MILLISAMPLER_FRAME_H

#include <stdint.h>

#include "algos/millisampler/resent.h"
#include "experiments/everflow/capture.h"
#include "sim/err.h"

struct xp_frame {
	uint64_t t;                 /* ns of CLOCK_REALTIME */
	uint32_t bytes;             /* of the whole frame */
	struct algo_resent_key key; /* its version 0: no IP */
	uint32_t seq, n_payload;    /* of TCP */
	uint8_t proto, ttl, tos, tcp_flags;
	uint8_t has_ports;
	uint8_t has_tcp;    /* with its header up to the flags */
	uint8_t is_cut;     /* what would tell is not captured */
	const uint8_t *mac; /* of destination and source; NULL: not known */
};

struct xp_frame xp_frame_read(const struct xp_captured *x);

/* What is counted of it, but how it was marked; OUT: it left the host. NET and
 * MASK are of the region, IPv4's in the lower half of the second word; masks of
 * 0: all are. */
struct xp_frame_region {
	uint64_t net6[2], mask6[2];
	uint32_t net4, mask4;
};
struct obs_seen xp_frame_seen(const struct xp_frame *f, int out,
    const struct xp_frame_region *region);

/* Take TEXT, as "10.0.0.0/8" or "fd00::/16", for R's network of IPv4 or IPv6; that
 * of the other stays as it is. Errors SIM_EINVAL, also of 0 bits, which would be
 * all that there are. */
int xp_frame_region_take(struct xp_frame_region *r, const char *text,
    struct sim_err *e);

#endif
