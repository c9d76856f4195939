/* models/scene/congestion.h -- losses in full buffers: in bursts, rack by rack.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	rack    hot with probability `racks`, for the epoch
 *	cell    a hot rack's time is in cells of `burst` ms, that begin at a phase
 *	        of its own; in each cell it is busy with probability `busy`
 *	port    in a busy cell each port ToR -> host is full with probability
 *	        `ports`, and each ToR -> T1 with `uplinks`
 *	packet  a full port loses each packet with the cell's rate R, which is
 *	        drawn for port and cell by the law `loss`; what it lets through
 *	        waits D there, drawn alike by the law `wait`
 *
 * All of these draws are independent, so with q = ports, or uplinks, and w the
 * length of a cell:
 *
 *	a packet meets a full port     P = racks busy q
 *	K of a flow's n packets, all   P(K = k) = (1 - P) [k = 0] +
 *	of one moment, lost there          P E[C(n, k) R^k (1 - R)^(n - k)]
 *	it loses something             P E[1 - (1 - R)^n] = P g(n)
 *
 * Of two flows of n and m packets, D apart in time, through ports of one rack,
 * s = max(0, 1 - D / w) is how likely they are of one cell. Both lose with
 *
 *	one port    racks busy q (s E[(1 - (1 - R)^n) (1 - (1 - R)^m)] +
 *	                          (1 - s) busy q g(n) g(m))
 *	two ports   racks busy q q' (s + (1 - s) busy) g(n) g(m)
 *
 * and through ports of two racks independently. A port is full for a number of
 * cells that is geometric, of mean 1 / (1 - busy q).
 *
 * Where packets have times of their own (planes of events), each meets the port
 * as it is when it comes there, or, of what walks at once (models/scene/walk.h),
 * when it leaves: SYNs, what is sent again later, probes, answers. So two packets
 * D apart are as two flows of one packet above, and one that is sent again a cell
 * or more after it was lost is lost again with probability busy q E[R], hot as
 * its rack is. D is independent of R: it takes the mean time of packets up by
 * P E[D (1 - R)] / (1 - P E[R]) = P E[D] (1 - E[R]) / (1 - P E[R]) at each port,
 * of those that get through.
 *
 * What is lost so is nobody's fault: it is in no truth, and beside the drops of
 * losses (models/losses.h). A packet comes to the buffer before it comes to the
 * link: what the buffer drops, no fault and no noise of the link can lose.
 *
 * The defaults are of our own model of a rack (models/rack), not of any paper. In
 * 40 of its racks of services, DT alpha 1, for 2 s, 0.39 % of the bytes to servers
 * came to a port in a millisecond in which it dropped some (0.37 % before its
 * senders were clocked by acknowledgements), and 52 % of these were dropped
 * (55 %). Ports hardly dropped for longer (1.04 ms), nor more often together than
 * by chance, whence `busy` of 1: less than that is what makes ports of a rack
 * fill together.
 * tests/models/scene/congestion_test.c has these numbers again from the rack, and
 * `rack.as_congestion` of plane rack tells those of any (metrics congestion_*,
 * experiments/rack/ports.c): with them the share of bursts with losses is that of
 * the racks to a factor of 1.3 (tests/experiments/rack/ports_test.c).
 *
 * DEPARTS: No queue grows with what flows offer, and ports that are not full have
 * none. Which rack is hot and when does not depend on the traffic. It repeats
 * after 2^32 cells.
 */
#ifndef MODELS_SCENE_CONGESTION_H
#define MODELS_SCENE_CONGESTION_H

#include "sim/field.h"
#include "sim/rng.h"
#include "sim/time.h"
#include "topo/topo.h"

/* As in a spec. */
struct scene_congestion_params {
	double racks; /* 0: no congestion at all */
	double burst_ms, busy, ports, uplinks;
	struct sim_dist loss;
	struct sim_dist wait_us; /* 0: nothing waits */
};
extern const struct sim_field scene_congestion_fields[];

/* Nothing is stored for a port: its state is a function of its name and the
 * time. Zeroed has no congestion. */
struct scene_congestion {
	const struct topo *topo; /* NULL: no congestion */
	struct scene_congestion_params params;
	sim_ns cell_ns;
	uint32_t rack_key[2], busy_key[2], port_key[2], run, point;
};

void scene_congestion_init(struct scene_congestion *c,
    const struct scene_congestion_params *p, const struct topo *topo,
    const struct sim_seed *where);

/* 1 if anything may be lost so. */
static inline int scene_congestion_is_on(const struct scene_congestion *c)
{
	return c->topo != NULL;
}

/* Hazard of LINK's port at time T: 0 of a port that is not full. Cost at most
 * three Philox blocks; one where the rack is not hot; none for other links. */
double scene_congestion_hazard(const struct scene_congestion *c, topo_link link,
    sim_ns t);

/* How long a packet waits at LINK's port at T that gets through: 0 of a port that
 * is not full. Cost as above; none without `wait`. */
sim_ns scene_congestion_wait(const struct scene_congestion *c, topo_link link,
    sim_ns t);

/* The same along a path, in sum and in us. */
double scene_congestion_us(const struct scene_congestion *c,
    const topo_link path[], unsigned h, sim_ns t);

/* Whether it may be above 0. */
static inline int scene_congestion_waits(const struct scene_congestion *c)
{
	return scene_congestion_is_on(c) && c->params.wait_us.b > 0;
}

/* When the cell ends that T is in at LINK's port: until then nothing changes
 * there. Domain LINK has a buffer that may be full. Cost one Philox block. */
sim_ns scene_congestion_until(const struct scene_congestion *c, topo_link link,
    sim_ns t);

/* The greatest hazard that LINK's port can have at any time. Cost one Philox block. */
double scene_congestion_bound(const struct scene_congestion *c, topo_link link);

/* What a flow meets in buffers on its way. */
struct scene_congested {
	double hazard[TOPO_MAX_HOPS];  /* of each port */
	uint32_t drops[TOPO_MAX_HOPS]; /* of the hop's, those by the port */
};

/* X = the ports along PATH at T, as yet without drops; their hazards are added to
 * ALL, which has those of the links. Shape path[h], all[h]. */
void scene_congestion_meet(const struct scene_congestion *c,
    const topo_link path[], unsigned h, sim_ns t, double all[],
    struct scene_congested *x);

/* Set x->drops, given what each hop lost by port or link: each packet by the port
 * with probability (1 - exp(-x->hazard)) / (1 - exp(-ALL)). R draws only where
 * either may have lost it. Shape drops[h], all[h]. */
void scene_congestion_tell(struct sim_rng *r, const uint32_t drops[],
    const double all[], unsigned h, struct scene_congested *x);

#endif
