/* sim/bucket.h -- a token bucket in one word: at most so many, so often.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a bucket holds is kept as the time at which it will be full again, so
 * refilling is no work and a zeroed bucket is full. Over any time T no more
 * than burst + ceil(T * rate) are taken.
 * Paper: the generic cell rate algorithm, ITU-T I.371, as virtual scheduling.
 */
#ifndef SIM_BUCKET_H
#define SIM_BUCKET_H

#include <math.h>

#include "sim/time.h"

struct sim_bucket {
	sim_ns interval; /* that one token takes to come; 0 = no limit */
	sim_ns slack;    /* (burst - 1) * interval */
};

/* RATE tokens a second, 0 = no limit. Domain 0 <= rate <= 1e9, burst >= 1,
 * burst / rate below 100 years. */
static inline struct sim_bucket sim_bucket_of(double rate, uint32_t burst)
{
	sim_ns interval = rate > 0 ? (sim_ns)ceil(1e9 / rate) : 0;
	return (struct sim_bucket){interval, (burst - 1) * interval};
}

/* Take a token at NOW, which never runs backwards: 1 if there was one. */
static inline int sim_bucket_take(const struct sim_bucket *b, sim_ns *full_at,
    sim_ns now)
{
	if (b->interval == 0)
		return 1;
	if (*full_at > now + b->slack)
		return 0;
	*full_at = (*full_at > now ? *full_at : now) + b->interval;
	return 1;
}

#endif
