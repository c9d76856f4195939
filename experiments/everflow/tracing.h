/* experiments/everflow/tracing.h -- whose packets are traced, if it is asked for.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	share --> servers --> requests --> controller --> marked
 *	                                        '--> refused
 *
 * Before traffic begins EnableDbg is asked for, for a share of the servers, so
 * many at a time. All packets of a connection that a marked server begins have
 * the debug bit. With admission the controller (algos/everflow/control.h) takes
 * what fits into its capacities; without it all servers are marked, and what a
 * switch has no room for is policed (models/mirror/).
 *
 * What is admitted fits on average; a burst that is more than mirror.burst may be
 * policed all the same.
 *
 * DEPARTS: The controller knows how much a server's connections send from
 *          counters of all packets, of an epoch that is like this one.
 * DEPARTS: A server marks the answers to what it sends, too, so that counts as
 *          its own.
 */
#ifndef EXPERIMENTS_EVERFLOW_TRACING_H
#define EXPERIMENTS_EVERFLOW_TRACING_H

#include "algos/everflow/control.h"
#include "models/packet/conn.h"
#include "sim/parts.h"

/* As in a spec. Of CAPACITY, what switches, copies and analyzers are like is
 * said elsewhere in it. */
struct xp_tracing_params {
	double share;      /* of servers; 0: nothing is asked for */
	uint32_t requests; /* in so many parts, at most one a server */
	uint32_t admit;    /* 0: all is marked */
	struct algo_admission_params capacity;
};
extern const struct sim_field xp_tracing_fields[];
extern const char *const xp_tracing_capacities[]; /* algo_admission_fields */

/* Zeroed is empty. */
struct xp_tracing {
	uint8_t *marks; /* [n_hosts] */
	double asked_pps, admitted_pps;
	uint32_t n_requests, n_refused;
	struct algo_load used, capacity; /* as the controller reckons */
};

/* Ask for tracing in SCENE, and mark. Errors SIM_ENOMEM. Cost O(flows). */
int xp_tracing_begin(struct xp_tracing *x, const struct scene *scene,
    const struct xp_tracing_params *p, const struct packet_conn_params *conn,
    struct sim_err *e);
void xp_tracing_free(struct xp_tracing *x);

#endif
