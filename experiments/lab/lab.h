/* experiments/lab/lab.h -- an epoch on a real network: flows, losses, agents.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Hosts of this machine's kernel, on a network of it or of the simulator's
 * (experiments/lab/wire.h), where
 *
 *	the kernel's TCP carries flows      models/netns/traffic.h
 *	links lose what a truth says
 *	007's agents trace what was lost    models/real/real.h
 *
 * in one thread, kept to one CPU: on several, packets of a flow overtake each
 * other and TCP sends again what is not lost. With the same seeds flows take
 * the same paths in each run; what is lost, and when, is never quite the same.
 */
#ifndef EXPERIMENTS_LAB_LAB_H
#define EXPERIMENTS_LAB_LAB_H

#include "algos/vigil/path_agent.h"
#include "experiments/lab/wire.h"
#include "models/obs.h"
#include "results/provenance.h"

/* What a run record says of real networks beside the rest. */
struct xp_lab_notes {
	struct res_provenance note[6]; /* ends with a NULL name */
	char fabrics[64], cpu[16], hosts[1024], switches[1024];
};
/* FABRICS: the names of the fabrics that the run used. */
void xp_lab_notes(struct xp_lab_notes *n, const char *fabrics);

/* The flows that the bulk planes would draw of this scene, so that both can be
 * compared. Only ports differ: a host whose own port for sending were also one
 * that it listens at could not open that connection. Hosts that are off when a
 * flow would start send none. Errors SIM_ENOMEM. */
int xp_lab_flows(struct obs_flow **flow, size_t *cap, size_t *n,
    const struct scene *scene, struct sim_err *e);

struct xp_lab;

/* Make a lab on WIRE, which is the lab's from now on and is closed with it,
 * also on failure. Errors SIM_ENOMEM. */
int xp_lab_open(struct xp_lab **l, struct xp_wire *wire,
    const struct algo_path_agent_params *agent, struct sim_err *e);
void xp_lab_close(struct xp_lab *l); /* NULL is fine */

/* Run FLOW[n] in SCENE, whose times are since now, until all have ended and the
 * last trace is over. Sets n_retx and srtt_us of flows. A failed flow is no
 * error. Errors SIM_EIO, also when drops, retransmissions or reports were not
 * all recorded; those of faults, fabric and traffic. */
int xp_lab_epoch(struct xp_lab *l, const struct scene *scene,
    struct obs_flow flow[], size_t n, const struct xp_lab_seen **seen,
    struct sim_err *e);

#endif
