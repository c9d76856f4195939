/* experiments/agents/real.h -- plane agents on a real network.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The same scene and the same agents as experiments/agents/epoch.h, but flows
 * are connections of the kernel's TCP and faults are on real links. What a
 * window and its losses are is the same too; what differs:
 *
 *	paths   are those of the kernel's ECMP on fabric netns. Known of
 *	        a path are the links that lost something, which is what scores
 *	        ask for; the others are TOPO_NONE.
 *	losses  hit every packet: SYNs, acknowledgements, probes and answers.
 *	        Those of a flow's five-tuple are its own, so its probes too. A
 *	        flow that had to send again although nothing was lost on its own
 *	        way has no culprit. A receiver whose FIN was lost sends again too:
 *	        that is a flow of its own, the other way (on fabric tun nobody
 *	        watches receivers).
 *	ports   of receivers are made even and those of senders odd: no host
 *	        sends from a port at which it listens.
 *	time    is real: an epoch takes traffic.epoch, and until all has ended.
 */
#ifndef EXPERIMENTS_AGENTS_REAL_H
#define EXPERIMENTS_AGENTS_REAL_H

#include "experiments/agents/epoch.h"
#include "experiments/lab/lab.h"

struct xp_lab_plane;

/* P has WIRE from now on, and closes it, also on failure; P keeps A. Errors
 * those of xp_lab_open(). */
int xp_lab_plane_open(struct xp_lab_plane **p, struct xp_wire *wire,
    const struct xp_agents *a, struct sim_err *e);
void xp_lab_plane_close(struct xp_lab_plane *p); /* NULL is fine */

/* Live through an epoch. M gets all metrics but those of ICMP messages by the
 * second. *SEEN is P's and holds until the next call.
 * Errors those of xp_lab_epoch(); SIM_EMISMATCH when what was seen cannot be
 * (a flow that lost on two paths, a report of no flow); SIM_EIO when the kernel
 * dropped packets that are not of the truth. */
int xp_lab_plane_epoch(struct xp_lab_plane *p, const struct scene *scene,
    const struct xp_agent_window **seen, struct res_trial_metrics *m,
    struct sim_err *e);

#endif
