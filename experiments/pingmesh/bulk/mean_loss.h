/* experiments/pingmesh/bulk/mean_loss.h -- the loss that a mesh's probes have.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The mean probability of a probe to lose its first round trip by the rates of
 * links, over all pairs of servers that are on and all of their paths: what
 * xp_true_loss_of() of truth.h says of one probe, for all of them. ToRs whose
 * links are alike are one class, and sums over pairs of ToRs are sums over
 * classes, of which a network with few faults has few.
 *
 * DEPARTS: truth.h takes the mean over probes that connected, which is less by
 * about the variance of q^2 between paths; and where lists of peers are capped,
 * this is of the complete mesh.
 */
#ifndef EXPERIMENTS_PINGMESH_BULK_MEAN_LOSS_H
#define EXPERIMENTS_PINGMESH_BULK_MEAN_LOSS_H

#include "models/connects/connects.h"

/* Sums of pairs times seconds, by hops: of all, and of the scope's senders. */
struct xp_mean_loss_sum {
	double n[CONNECTS_N_HOPS], lost[CONNECTS_N_HOPS];
};

struct xp_mean_loss {
	struct topo_clos clos;
	const uint8_t *in_scope;      /* [hosts]; NULL: all are */
	double rate[CONNECTS_N_HOPS]; /* probes of a pair a second */
	struct xp_mean_loss_sum all, scope;

	/* Workings: of hosts the chance to pass both of its links; of T1s that
	 * to pass to each T2 and from it; of ToRs to pass to each T1 and from
	 * it, and to each T2 and from it. */
	double *pass, *t1_pass, *way;
	uint32_t *class, *of_class; /* [ToRs] class; [classes] a ToR of it */
	double *mass, *of_pod;      /* [classes * 4 * n_hosts] */
	uint32_t *id;               /* [n_tors] those of a pod, by class */

	/* Of the last time: mostly nothing has changed since. */
	double *hazard; /* [links] */
	uint8_t *off;   /* [hosts] */
	struct xp_mean_loss_sum last, last_scope;
	int has_last;
};

/* Of connects as P says. M keeps IN_SCOPE. Errors SIM_ENOMEM; M must be closed
 * also then. */
int xp_mean_loss_open(struct xp_mean_loss *m, const struct topo_clos *clos,
    const struct connects_params *p, const uint8_t in_scope[],
    struct sim_err *e);
void xp_mean_loss_close(struct xp_mean_loss *m);
void xp_mean_loss_clear(struct xp_mean_loss *m);

/* Add a time of SECONDS with those hazards of links and hosts that are off. Cost
 * O(links + hosts + classes^2 * (T2s + hosts of a ToR)). */
void xp_mean_loss_add(struct xp_mean_loss *m, double seconds,
    const double hazard[], const uint8_t off[]);

/* The mean since the last clear, of hops FIRST to LAST; NaN of none. */
double xp_mean_loss_of(const struct xp_mean_loss *m,
    const struct xp_mean_loss_sum *s, int first, int last);

#endif
