/* models/rack/traffic.h -- bursts into and out of a rack's servers.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	service  each server has a class and a clock of its own: bursts begin after
 *	         gaps by a law; a burst has a volume, lognormal, shared by
 *	         connections whose number is Pareto, all of them new but a
 *	         share `warm`, which are the same in each burst
 *	job      `ml_share` of the servers compute together: all wait at a barrier,
 *	         every 30 to 40 ms; then a quarter of them, by chance, receive
 *	         at once, over a few connections that stay (a share `ml_warm`)
 *	few      besides, single small transfers, over one connection that stays
 *
 *	class    bursts  volume  connections, beside the spec's
 *	web       1.5     0.5     2
 *	cache     2       0.25    1
 *	storage   0.5     2       0.5
 *	batch     0.5     2       0.25
 *
 * Services follow the hour: 1 + diurnal cos(2 pi (h - 20) / 24) times as many
 * bursts. Jobs do not. Of a region's racks some have jobs, which are placed
 * together in these, or spread evenly over all (placement).
 *
 * A share `cross` of services' bursts comes from another region, or goes there,
 * over new connections with the round trips of that; jobs stay within theirs.
 *
 * With `crowd` there are so many times as many bursts of services, and so many
 * times the servers of a job receive after a barrier: racks that are more or less
 * crowded, of one kind.
 *
 * All of it is ours: no trace of such traffic is public but as counts. What
 * follows from it are inequalities over ranges of it, never numbers of a paper.
 *
 * Paper  Millisampler (IMC'22): bursts, incast, racks with learning placed
 *        together (RegA-High; that these are about a fifth is unconfirmed).
 */
#ifndef MODELS_RACK_TRAFFIC_H
#define MODELS_RACK_TRAFFIC_H

#include "models/rack/rack.h"

enum rack_gap_law { RACK_GAP_EXPONENTIAL, RACK_GAP_LOGNORMAL };
enum rack_placement { RACK_PACKED, RACK_SPREAD };

/* X(name, bursts, volume, connections) */
#define RACK_CLASSES(X)                                                        \
	X(web, 1.5, 0.5, 2)                                                    \
	X(cache, 2, 0.25, 1)                                                   \
	X(storage, 0.5, 2, 0.5)                                                \
	X(batch, 0.5, 2, 0.25)

enum rack_class {
#define X(name, bursts, volume, connections) RACK_CLASS_##name,
	RACK_CLASSES(X)
#undef X
	    RACK_N_CLASSES
};

/* As in a spec. */
struct rack_traffic_params {
	uint32_t classes; /* bits of enum rack_class */
	double gap_ms;    /* mean, of a class of 1 */
	uint32_t gap_law; /* enum rack_gap_law */
	double gap_sigma;
	double volume, volume_sigma; /* bytes: median; of its logarithm */
	double conns_min, conns_shape, conns_max;
	double out;        /* bursts outwards for each one inwards */
	double few_per_s;  /* single transfers a server and second */
	double few_volume; /* bytes, mean */
	double diurnal, hour;
	double crowd; /* factor on bursts of services, and on ml_part */
	double warm;  /* of a burst's connections, that stay */
	double cross; /* of services' bursts, with another region */

	double ml_share;            /* of a rack's servers */
	double ml_racks;            /* of a region's racks */
	uint32_t placement;         /* enum rack_placement */
	struct sim_dist barrier_ms; /* from one to the next */
	double ml_part;             /* of the job's servers, at a barrier */
	struct sim_dist ml_conns;
	double ml_warm;   /* of these connections, that stay */
	double ml_volume; /* bytes: median of a server's */
	double jitter_us; /* mean, after a barrier */
};
extern const struct sim_field rack_traffic_fields[];

/* OUT, overwritten, = what begins in [0, UNTIL) in rack RACK of a region, in
 * order of time, its draws named by WHERE, SIM_STREAM_RACK_TRAFFIC and
 * (rack, server, process). Servers are as in R, and volumes in its segments.
 * Errors SIM_EINVAL (no class; more servers than a name has room for),
 * SIM_ENOMEM.
 * Cost O(n log n) of the transfers. */
int rack_traffic(struct rack_flows *out, const struct rack_params *r,
    const struct rack_traffic_params *p, uint32_t rack, sim_ns until,
    const struct sim_seed *where, struct sim_err *e);

/* How many servers of rack RACK of a region compute together: with packed
 * placement n_servers * ml_share in a share ml_racks of the racks, spread
 * evenly over their numbers; else as many in all, alike in each. */
uint32_t rack_traffic_jobs(const struct rack_params *r,
    const struct rack_traffic_params *p, uint32_t rack);

/* Variance / mean of COUNT[n] added up by K at a time: 1 for a Poisson process,
 * 0 for an even one; NaN without two sums or without a mean. A part of K at the
 * end is left out. Paper  D. Cox, P. Lewis, "The Statistical Analysis of Series
 * of Events" (1966). */
double rack_dispersion(const uint64_t count[], size_t n, size_t k);

/* Segments that begin in each bucket of WIDTH_NS: COUNT[n], overwritten; what
 * begins later is left out. */
void rack_traffic_count(const struct rack_flows *f, sim_ns width_ns,
    uint64_t count[], size_t n);

#endif
