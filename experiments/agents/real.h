/* experiments/agents/real.h -- plane agents on a real network.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The same scene and the same agents as experiments/agents/epoch.h, but flows
 * are connections of the kernel's TCP and faults are on real links. What a
 * window and its losses are is the same too; what differs:
 *
 *	paths   are chosen by the kernel's ECMP on fabric netns and not known.
 *	        Of a path only the links that lost something are known, which is
 *	        what scores ask for; its other hops are TOPO_NONE.
 *	losses  hit every packet: SYNs, acknowledgements, probes and answers.
 *	        What is lost under a flow's five-tuple counts as the flow's, its
 *	        traceroute probes included. A flow that sent something again
 *	        although nothing was lost on its own way (an acknowledgement
 *	        was, coming back) has no culprit. A receiver whose FIN was lost
 *	        sends again too. That makes a flow of its own, in the other
 *	        direction; on fabric tun nobody watches receivers.
 *	ports   of receivers are made even and those of senders odd, so no host
 *	        sends from a port at which it listens.
 *	time    is real: an epoch takes as long as traffic.epoch, and then until
 *	        the last connection and the last trace have ended.
 */
#ifndef EXPERIMENTS_AGENTS_REAL_H
#define EXPERIMENTS_AGENTS_REAL_H

#include "experiments/agents/epoch.h"
#include "experiments/lab/lab.h"

struct xp_lab_plane;

/* WIRE is P's from now on, and is closed by it, also when this fails. P keeps
 * A. Errors those of xp_lab_open(). */
int xp_lab_plane_open(struct xp_lab_plane **p, struct xp_wire *wire,
    const struct xp_agents *a, struct sim_err *e);
void xp_lab_plane_close(struct xp_lab_plane *p); /* NULL is fine */

/* Live through an epoch. M gets all metrics but those of ICMP messages by the
 * second. *SEEN is P's and holds until the next call.
 * Errors those of xp_lab_epoch(); SIM_EMISMATCH when what was seen contradicts
 * itself (a flow that lost on two paths, a report of no flow); SIM_EIO when the
 * kernel dropped packets for another reason than the scene's faults. */
int xp_lab_plane_epoch(struct xp_lab_plane *p, const struct scene *scene,
    const struct xp_agent_window **seen, struct res_trial_metrics *m,
    struct sim_err *e);

/* The flows of the last epoch of which anything was seen: that lost, sent again
 * or were traced; of their paths the links that they lost on. Both are P's until
 * the next epoch. */
void xp_lab_plane_lossy(const struct xp_lab_plane *p, const struct obs **w,
    const struct losses **lost);

#endif
