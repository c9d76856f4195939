/* models/burst.h -- queues of a link that come and go.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Time is cut into episodes of equal length. A share `duty` of them, chosen by
 * chance, has a burst: the queue rises evenly to a depth of its own in the first
 * half of the episode and falls evenly in the second. A packet that comes at
 * time t waits as long as the queue is then, so that all that come at one time
 * see the same. Nothing is stored: an episode is a function of its number and
 * of the link's name, and repeats after 2^32 others.
 *
 *	        /\                /\
 *	       /  \              /  \ depth
 *	______/    \____________/    \______
 *	      |----| episode
 *
 * Paper  Everflow (SIGCOMM'15), section 7.1: a link with a wrong ECN threshold,
 * whose queue came and went.
 * DEPARTS: the paper shows round trips alone; the shape is ours.
 */
#ifndef MODELS_BURST_H
#define MODELS_BURST_H

#include <stdint.h>

#include "sim/field.h"
#include "sim/time.h"

struct burst {
	double duty;           /* share of episodes, in [0, 1] */
	struct sim_dist depth; /* us, drawn for each episode */
	sim_ns episode_ns;     /* above 0 */
	double mark_us; /* a longer queue marks packets (ECN); 0: none does */
	uint32_t key[2], name[3]; /* in a stream: who it is */
};

/* How long the queue is at T, in us. Cost one Philox block. */
double burst_us(const struct burst *b, sim_ns t);

/* Its mean over all time. */
double burst_mean_us(const struct burst *b);

/* Whether it marks packets at T. */
static inline int burst_marks(const struct burst *b, sim_ns t)
{
	return b->mark_us > 0 && burst_us(b, t) > b->mark_us;
}

#endif
