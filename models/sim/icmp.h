/* models/sim/icmp.h -- ICMP messages of switches, and their limit.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each switch has a token bucket for ICMP messages of its own (007's T_max;
 * Linux: icmp_msgs_per_sec and icmp_msgs_burst), and a count of those it sends
 * in each second since the epoch began, which is what 007's Table 1 is about.
 * Times never run backwards, so one count a switch is enough.
 */
#ifndef MODELS_SIM_ICMP_H
#define MODELS_SIM_ICMP_H

#include <stdint.h>

#include "sim/bucket.h"
#include "sim/err.h"
#include "sim/field.h"
#include "topo/ids.h"

/* Which address a message comes from: that of the interface the packet came in
 * by, which names the link, or the switch's loopback, which names the switch
 * alone. */
enum fabric_sim_icmp_source {
	FABRIC_SIM_ICMP_INGRESS,
	FABRIC_SIM_ICMP_LOOPBACK
};

struct fabric_sim_icmp_params {
	double t_max; /* messages a second and switch; 0 = no limit */
	uint32_t burst;
	uint32_t source;            /* enum fabric_sim_icmp_source */
	struct sim_dist latency_us; /* from packet to message */
};
extern const struct sim_field fabric_sim_icmp_fields[];

struct fabric_sim_icmp_switch {
	sim_ns bucket;
	uint32_t second, n; /* messages in that second */
};

/* What an epoch's switches sent. Shares are of all (switch, second) of the
 * epoch, T being the messages in one; a second is a whole one since the epoch
 * began, and those after its end count for nothing but n_sent, n_suppressed
 * and max. */
struct fabric_sim_icmp_load {
	uint64_t n_sent, n_suppressed;
	uint32_t max;    /* greatest T */
	uint64_t n_low;  /* 0 < T <= 3 */
	uint64_t n_high; /* T > 3 */
	uint64_t n_all;  /* (switch, second) in all */
};

/* Zeroed is empty. */
struct fabric_sim_icmp {
	struct sim_bucket limit;
	uint32_t n_switches, n_seconds;
	size_t cap;
	struct fabric_sim_icmp_switch *sw; /* [n_switches] */
	struct fabric_sim_icmp_load load;
};

/* Begin an epoch of EPOCH_NS with full buckets. Errors SIM_ENOMEM.
 * Cost O(switches). */
int fabric_sim_icmp_begin(struct fabric_sim_icmp *m,
    const struct fabric_sim_icmp_params *p, uint32_t n_switches,
    sim_ns epoch_ns, struct sim_err *e);
void fabric_sim_icmp_free(struct fabric_sim_icmp *m);

/* A packet's TTL ends at switch S at time NOW, which never runs backwards.
 * Returns 1 if S sends an ICMP message, 0 if its limit forbids. */
int fabric_sim_icmp_answer(struct fabric_sim_icmp *m, topo_switch s,
    sim_ns now);

/* Load up to now. Cost O(switches). */
struct fabric_sim_icmp_load fabric_sim_icmp_load(
    const struct fabric_sim_icmp *m);

#endif
