/* models/obs_buckets.h -- which bucket a packet falls into, and what it counts.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Nothing but plain integers, so that programs for the kernel can include this:
 * the sampler there and its twin (algos/millisampler/buckets.h) count alike.
 *
 * Paper  Millisampler (IMC'22): 2,000 buckets, whatever their width.
 */
#ifndef MODELS_OBS_BUCKETS_H
#define MODELS_OBS_BUCKETS_H

#include <stdint.h>

#include "models/obs_sketch.h"

enum {
	OBS_BUCKETS = 2000, /* of a run */
	/* Widths that are served: within them 32 bits hold the bytes of a
	 * bucket up to 687 Gb/s. */
	OBS_WIDTH_MIN_NS = 1000,
	OBS_WIDTH_MAX_NS = 50000000,
	/* obs_index_place(): no bucket. */
	OBS_PLACE_OVER = -1,  /* behind the last one: the run has ended */
	OBS_PLACE_EARLY = -2, /* before the first one */
};

/* Division by a width that is known beforehand, by one multiplication. With
 * width = odd * 2^shift and 2^scale > OBS_BUCKETS * odd^2,
 *	dt / width = (dt >> shift) * factor >> scale,  factor = ceil(2^scale/odd)
 * is exact for all dt < OBS_BUCKETS * width: the factor is too large by less
 * than 1 in 2^scale / odd, which adds less than 1 / odd to the quotient. */
struct obs_index {
	uint64_t span; /* ns of all buckets */
	uint64_t width, factor;
	uint32_t shift, scale;
};

/* Returns 0 if WIDTH can't be served: it is out of range, or its odd part so
 * large that the product would not fit into 64 bits (1,500,000 fits). Not for
 * programs in the kernel, which are given what comes of it. */
static inline int obs_index_make(struct obs_index *ix, uint64_t width)
{
	if (width < OBS_WIDTH_MIN_NS || width > OBS_WIDTH_MAX_NS)
		return 0;
	const uint32_t shift = (uint32_t)__builtin_ctzll(width);
	const uint64_t odd = width >> shift, least = OBS_BUCKETS * odd * odd;
	const uint32_t scale = 64 - (uint32_t)__builtin_clzll(least);
	if (scale > 53)
		return 0;
	*ix = (struct obs_index){
	    .span = OBS_BUCKETS * width,
	    .width = width,
	    .factor = ((UINT64_C(1) << scale) + odd - 1) / odd,
	    .shift = shift,
	    .scale = scale,
	};
	return 1;
}

/* The bucket DT ns behind the start. Domain dt < span. */
static inline uint32_t obs_index_of(const struct obs_index *ix, uint64_t dt)
{
	return (uint32_t)((dt >> ix->shift) * ix->factor >> ix->scale);
}

/* The bucket of a packet at T, or OBS_PLACE_OVER or _EARLY. Two processors may
 * race for the first packet, and the one that loses had read the clock a little
 * before: what is early by less than a bucket falls into the first one. Without
 * that the difference would wrap and end the run. */
static inline int obs_index_place(const struct obs_index *ix, uint64_t t,
    uint64_t start)
{
	const uint64_t dt = t - start;
	if (dt < ix->span)
		return (int)obs_index_of(ix, dt);
	if (dt <= UINT64_MAX / 2)
		return OBS_PLACE_OVER;
	return start - t < ix->width ? 0 : OBS_PLACE_EARLY;
}

/* When a run begins whose first packet is at T: there, or at the multiple of
 * the width before it, so that runs of hosts with one clock share buckets. */
static inline uint64_t obs_index_start(const struct obs_index *ix, uint64_t t,
    uint32_t aligned)
{
	return aligned ? t - t % ix->width : t;
}

/* What one processor counts in one bucket, a cache line. */
struct obs_bucket {
	uint32_t in_bytes, out_bytes;
	uint32_t in_cross, out_cross; /* from and to another region */
	uint32_t in_ce;               /* marked by a full queue */
	uint32_t in_retx, out_retx;   /* sent again */
	uint32_t zero;
	struct obs_sketch conns;
	uint64_t zeros[2];
};
_Static_assert(sizeof(struct obs_bucket) == 64, "a bucket is a cache line");

/* Headers between that of IPv6 and what the packet carries: so many are followed,
 * of so many bytes in all. What is behind more has no ports. */
enum {
	OBS_IP6_HOP = 0,
	OBS_IP6_ROUTING = 43,
	OBS_IP6_FRAGMENT = 44,
	OBS_IP6_AUTH = 51,
	OBS_IP6_DESTINATION = 60,
	OBS_IP6_MOBILITY = 135,
	OBS_IP6_EXTENSION = 8, /* bytes of the smallest */
	OBS_IP6_MAX_EXTENSIONS = 6,
	OBS_IP6_MAX_EXTENSION_BYTES = 160,
};

static inline int obs_ip6_is_extension(uint32_t proto)
{
	return proto == OBS_IP6_HOP || proto == OBS_IP6_ROUTING ||
	    proto == OBS_IP6_FRAGMENT || proto == OBS_IP6_AUTH ||
	    proto == OBS_IP6_DESTINATION || proto == OBS_IP6_MOBILITY;
}

/* Bytes of an extension header that says N in its second byte. */
static inline uint32_t obs_ip6_extension_bytes(uint32_t proto, uint32_t n)
{
	return proto == OBS_IP6_FRAGMENT ? 8
	    : proto == OBS_IP6_AUTH      ? (n + 2) * 4
					 : (n + 1) * 8;
}

/* Of a packet, all that is counted. */
struct obs_seen {
	uint32_t bytes;
	uint8_t out;     /* 0: it came in */
	uint8_t ce;      /* ECN field 3 */
	uint8_t retx;    /* marked as sent again */
	uint8_t cross;   /* other end in another region */
	uint8_t bit;     /* of its connection, obs_sketch_bit4() or 6() */
	uint8_t has_bit; /* 0: a packet of no connection */
};

/* Most packets are none of what the inner branch is for. */
static inline void obs_bucket_add(struct obs_bucket *b,
    const struct obs_seen *p)
{
	if (p->out)
		b->out_bytes += p->bytes;
	else
		b->in_bytes += p->bytes;
	if (p->ce | p->retx | p->cross) {
		if (p->out) {
			b->out_cross += p->cross ? p->bytes : 0;
			b->out_retx += p->retx ? p->bytes : 0;
		} else {
			b->in_cross += p->cross ? p->bytes : 0;
			b->in_ce += p->ce ? p->bytes : 0;
			b->in_retx += p->retx ? p->bytes : 0;
		}
	}
	if (p->has_bit)
		obs_sketch_set(&b->conns, p->bit);
}

/* Add what another processor counted in the same bucket. */
static inline void obs_bucket_merge(struct obs_bucket *b,
    const struct obs_bucket *other)
{
	b->in_bytes += other->in_bytes;
	b->out_bytes += other->out_bytes;
	b->in_cross += other->in_cross;
	b->out_cross += other->out_cross;
	b->in_ce += other->in_ce;
	b->in_retx += other->in_retx;
	b->out_retx += other->out_retx;
	obs_sketch_or(&b->conns, &other->conns);
}

#endif
