/* models/sim/rtt_profile.h -- round-trip times in a healthy network.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The round trip of a probe none of whose packets is lost takes, over a path of
 * h links one way with a payload of B bytes,
 *
 *	fixed = host + 2 h hop  [+ payload + 2 h B byte, if B > 0]
 *	queue = host_queue + 2 h hop_queue load/(1 - load) / (the profile's)
 *	rtt   = fixed + Exp(queue)             most of the time
 *	      | fixed + Exp(queue + burst)     with probability burst_share
 *	      | fixed + Lognormal(stall)       with probability stall_share
 *
 * Exp is given by its mean. Bursts are what hosts do for a millisecond, stalls
 * what they do for longer. A payload is read by a program and not by the
 * kernel, and waits payload_wait times the burst. Mean queues grow with the
 * load as those of M/M/1; a profile is calibrated at a load of its own. The law
 * is a mixture, so its tail has a closed form, which quantiles are found from
 * and tests hold draws against. Round trips grow with links, load and bytes, in
 * law.
 *
 * Paper Pingmesh (SIGCOMM'15) section 4.1.
 * DEPARTS: the paper has figures and no model. All that profiles hold was
 * fitted here, to the few quantiles that the paper has; see rtt_profile.c. */
#ifndef MODELS_SIM_RTT_PROFILE_H
#define MODELS_SIM_RTT_PROFILE_H

#include <stdint.h>

#include "sim/err.h"
#include "sim/rng.h"
#include "sim/time.h"

#define FABRIC_SIM_RTT_MAX_LOAD    0.99
#define FABRIC_SIM_RTT_MAX_PAYLOAD 65536 /* bytes; Pingmesh's hard limit */

/* Links one way: two servers of a ToR (the paper's pod), and of ToRs that only
 * the third tier joins. */
#define FABRIC_SIM_RTT_INTRA_POD 2
#define FABRIC_SIM_RTT_INTER_POD 6

/* Times in microseconds, shares and rates in [0, 1]. */
struct fabric_sim_rtt_profile {
	const char *name, *doc;
	double host_us, hop_us;             /* fixed; a hop counts each way */
	double host_queue_us, hop_queue_us; /* means at `load` */
	double load;                        /* in (0, 1) */
	double burst_share, burst_us;       /* mean */
	double stall_share, stall_median_us;
	double stall_sigma;  /* of the logarithm */
	double payload_us;   /* of any payload, both hosts */
	double byte_us;      /* of each byte on each link */
	double payload_wait; /* times burst_us, >= 1 */
	double intra_drop_rate, inter_drop_rate; /* as Pingmesh estimates */
};

/* Ends with a NULL name. */
extern const struct fabric_sim_rtt_profile fabric_sim_rtt_profiles[];

/* NULL if there is none of that name. */
const struct fabric_sim_rtt_profile *fabric_sim_rtt_find(const char *name);

/* The law of a probe's round trip. */
struct fabric_sim_rtt {
	double fixed_us, queue_us, burst_us; /* burst: mean, queue included */
	double burst_share, stall_share;
	double stall_mu, stall_sigma; /* of the logarithm in microseconds */
};

/* The law over N_HOPS links one way with PAYLOAD bytes at LOAD. Pass the
 * profile's own load for what it was calibrated at.
 * Errors SIM_ERANGE for hops outside [1, TOPO_MAX_HOPS], a payload above
 * FABRIC_SIM_RTT_MAX_PAYLOAD or a load outside [0, FABRIC_SIM_RTT_MAX_LOAD]. */
int fabric_sim_rtt_init(struct fabric_sim_rtt *law,
    const struct fabric_sim_rtt_profile *p, unsigned n_hops, uint32_t payload,
    double load, struct sim_err *e);

/* One round trip. Cost O(1): two or three logarithms. */
sim_ns fabric_sim_rtt_draw(const struct fabric_sim_rtt *law, struct sim_rng *r);

/* P(rtt > RTT_US), exact up to double precision. Cost O(1). */
double fabric_sim_rtt_tail(const struct fabric_sim_rtt *law, double rtt_us);

/* The round trip in microseconds that is exceeded with probability TAIL in
 * (0, 1), to a relative 1e-12. Cost O(100) tails. */
double fabric_sim_rtt_exceeded(const struct fabric_sim_rtt *law, double tail);

/* The same of all probes that connect, as quantiles of measurements are: a
 * share DROP_RATE in [0, 1) of them waits WAIT_US until a lost SYN is sent
 * again, and is taken to need just that time. */
double fabric_sim_rtt_exceeded_with_drops(const struct fabric_sim_rtt *law,
    double tail, double drop_rate, double wait_us);

#endif
