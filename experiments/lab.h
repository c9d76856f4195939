/* experiments/lab.h -- an epoch on a real network: flows, losses, agents.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The network of a topology, built of namespaces of this machine, in which
 *
 *	the kernel's TCP carries flows      models/netns/traffic.h
 *	links lose what a truth says        models/netns/faults.h
 *	007's agents trace what was lost    models/fabric_real.h
 *
 * in one thread, kept to one CPU: on several, packets of a flow overtake each
 * other and TCP sends again what is not lost. With the same seeds flows take the
 * same paths in each run; what is lost, and when, is never quite the same.
 */
#ifndef EXPERIMENTS_LAB_H
#define EXPERIMENTS_LAB_H

#include "algos/path_agent.h"
#include "experiments/section.h"
#include "models/fabric_real.h"
#include "models/loss.h"
#include "models/netns/faults.h"
#include "models/netns/icmp.h"
#include "models/netns/net.h"
#include "models/netns/traffic.h"
#include "models/obs.h"
#include "results/provenance.h"

/* The section `netns` of a spec; icmp_per_s and icmp_burst of `net` are those
 * of agents.icmp. */
struct xp_lab_params {
	struct netns_params net;
	double timeout_s; /* of a flow */
};

extern const struct xp_section xp_lab_section;

/* Can this process do all of it? Tried in a child with the smallest network, so
 * that nothing is left of it. Errors SIM_EUNSUPPORTED, with the reason. */
int xp_lab_check(struct sim_err *e);

/* What a run record says of real networks beside the rest. */
struct xp_lab_notes {
	struct res_provenance note[6]; /* ends with a NULL name */
	char cpu[16], hosts[1024], switches[1024];
};
void xp_lab_notes(struct xp_lab_notes *n);

/* What came of an epoch. All arrays are the lab's, until the next epoch. */
struct xp_lab_seen {
	struct agent_report *report; /* in the order they came */
	size_t n_reports;
	struct netns_drop *drop; /* ascending by tuple and link */
	size_t n_drops;
	struct netns_link_count *count; /* [n_links] */
	struct netns_flow_end *end;     /* of each flow */
	uint64_t n_retx;        /* segments sent again, by receivers too */
	struct netns_icmp icmp; /* of all switches */
	uint64_t n_other;       /* packets dropped that no truth tells of */
	char other[64];         /* why the most of them were */
};

struct xp_lab;

/* Build the network, and keep the thread to one CPU until close. L keeps T.
 * Errors those of netns_permit() and netns_open(). */
int xp_lab_open(struct xp_lab **l, const struct topo *t,
    const struct xp_lab_params *p, const struct algo_path_agent_params *agent,
    struct sim_err *e);
void xp_lab_close(struct xp_lab *l); /* NULL is fine */

/* Run FLOW[n] under LOSS, whose times are since now, until all have ended and
 * the last trace is over. Sets n_retx and srtt_us of flows. A failed flow is no
 * error. Errors SIM_EIO, also when drops, retransmissions or reports were not
 * all recorded; those of faults, fabric and traffic. */
int xp_lab_epoch(struct xp_lab *l, const struct model_loss *loss,
    const struct sim_seed *where, struct obs_flow flow[], size_t n,
    const struct xp_lab_seen **seen, struct sim_err *e);

#endif
