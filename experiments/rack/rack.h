/* experiments/rack/rack.h -- the section `rack` of a spec.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	plane: rack
 *	topology: { n_pods: 1, n_tors: 4, n_hosts: 92, ... }
 *	faults: { count: 1, rate: 1e-3, classes: [host-tor, tor-host] }
 *	rack:
 *	  alpha: 1
 *	  length: 2
 *	  widths: [1ms]
 *	  along: none
 *	  traffic: { ml_share: 0.7, ml_racks: 0.2, ... }
 *	  sample: { start: first_packet, clock_sd: 300 }
 *	  stall: { count: 1, at: 500, lasts: 5 }
 *	  burst: { share: 0.5, ... }
 *
 * Each ToR of the network is a rack of its own with its hosts; what is above
 * them carries everything. Keys are those of the parts: the switch
 * (models/rack/rack.h), bursts (traffic.h), what hosts count (record.h) and
 * what is taken for a burst (algos/millisampler/bursts.h).
 */
#ifndef EXPERIMENTS_RACK_RACK_H
#define EXPERIMENTS_RACK_RACK_H

#include "algos/millisampler/bursts.h"
#include "experiments/spec/section.h"
#include "models/rack/record.h"
#include "models/rack/traffic.h"

/* X(name, nanoseconds), ascending */
#define XP_RACK_WIDTHS(X)                                                      \
	X(100us, 100000)                                                       \
	X(1ms, 1000000)                                                        \
	X(10ms, 10000000)                                                      \
	X(50ms, 50000000)                                                      \
	X(1s, 1000000000)

enum {
#define X(name, ns) XP_RACK_WIDTH_##name,
	XP_RACK_WIDTHS(X)
#undef X
	    XP_RACK_N_WIDTHS
};

/* What a trial is read along. */
enum xp_rack_along {
	XP_RACK_ALONG_NONE,     /* all racks, one row */
	XP_RACK_ALONG_QUANTILE, /* axis quantile: of bursts, servers, buckets */
	XP_RACK_ALONG_SIZE,     /* axis size: bursts by ms, and connections */
	XP_RACK_ALONG_RACK,     /* axis rank: racks by mean contention */
	XP_RACK_ALONG_TIME      /* axis t_ms: buckets of the first rack */
};

struct xp_rack_stall {
	uint32_t count, busy;
	double least; /* bytes */
	struct sim_dist at_ms, lasts_ms;
};

struct xp_rack {
	double length_s;
	uint32_t as_congestion;  /* 1: tell what keys of it they are like */
	uint32_t along;          /* enum xp_rack_along */
	uint32_t widths;         /* bits over XP_RACK_WIDTHS */
	struct rack_params rack; /* n_servers: of the topology */
	struct rack_traffic_params traffic;
	struct rack_record_params sample;
	struct xp_rack_stall stall;
	struct algo_burst_params burst;
};

extern const struct xp_section xp_rack_section;
const struct xp_rack *xp_rack_of(const struct xp_config *c);

/* WIDTH[XP_RACK_N_WIDTHS] = those that are asked for; returns how many. */
unsigned xp_rack_widths(const struct xp_rack *p, sim_ns width[]);

#endif
