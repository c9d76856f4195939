/* experiments/fabrics/netns.h -- fabric netns: all nodes are namespaces.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_FABRICS_NETNS_H
#define EXPERIMENTS_FABRICS_NETNS_H

#include "experiments/spec/fabric.h"
#include "models/netns/faults.h"

/* The section `netns` of a spec; icmp_per_s and icmp_burst of `net` are those
 * of agents.icmp. */
struct xp_netns {
	struct netns_params net;
	double timeout_s; /* of a flow */
	uint32_t faults;  /* enum xp_netns_by */
};
enum xp_netns_by { XP_NETNS_BY_BPF, XP_NETNS_BY_NFT };

/* That of C, also where it is run on another fabric. */
const struct xp_netns *xp_netns_of(const struct xp_config *c);

/* Can this process do all of it, with faults by eBPF or nft? Tried in a child
 * with the smallest network, so that nothing is left of it. Errors
 * SIM_EUNSUPPORTED, with the reason. */
int xp_netns_check(enum netns_faults_by by, struct sim_err *e);

#endif
