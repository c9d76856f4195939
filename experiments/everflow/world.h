/* experiments/everflow/world.h -- Everflow at work on a network, simulated.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	connections --.
 *	RDMA, BGP ----+--> packets walk --> switches mirror --> copies
 *	guided probes-'        |                                  | by five-tuple
 *	      ^                v                                  v
 *	      |              fates (truth)      analyzers: traces, counters
 *	      |                                                   |
 *	      '---- agents <---- orders <---- debuggers <---------'
 *	                                          |
 *	                                          '--> findings
 *
 * All traffic is walked when a run begins, as nothing that is found out changes
 * it. Then time goes on in steps: agents send probes, switches' copies arrive,
 * analyzers take them, and now and then debuggers look at all there is.
 */
#ifndef EXPERIMENTS_EVERFLOW_WORLD_H
#define EXPERIMENTS_EVERFLOW_WORLD_H

#include "experiments/everflow/desk.h"
#include "models/losses.h"
#include "models/obs.h"

struct xp_everworld;

/* What traces were, by the truth. */
struct xp_grades {
	uint64_t n_whole, n_loops, n_loops_right;
	uint64_t n_suspect, n_suspect_right, n_confirmed, n_confirmed_right,
	    n_refuted, n_refuted_right;
};

/* What there is after a run; all is the world's, until the next one. */
struct xp_everflow_seen {
	const struct obs *window; /* flows that sent again; copies, probes */
	const struct losses *lost;
	const struct algo_trace_store *store;
	const struct algo_counters *counters;
	const struct xp_said *said; /* of each place the last */
	size_t n_said;
	struct xp_grades grades;
	struct algo_analyzer_counts analyzed; /* of all analyzers */
	const struct mirror_counts *mirrored; /* [n_switches] */
	const struct xp_tracing *tracing;
	double traffic_bytes;
	uint64_t n_guided, guided_bytes, guided_bytes_max;
	uint64_t carried_bytes; /* of guided probes, once a switch */
	sim_ns end_ns;          /* of the run */
};

/* W keeps T and P. Errors SIM_EINVAL, SIM_ENOMEM. */
int xp_everworld_open(struct xp_everworld **w, const struct topo *t,
    const struct xp_everflow *p, struct sim_err *e);
void xp_everworld_close(struct xp_everworld *w); /* NULL is fine */

/* Live through SCENE's epoch, and settle_s more. Errors those of the parts. */
int xp_everworld_run(struct xp_everworld *w, const struct scene *scene,
    struct xp_everflow_seen *seen, struct sim_err *e);

/* What the last run of plane everflow has seen, RUNNING being the plane's. */
const struct xp_everflow_seen *xp_everflow_seen(const void *running);

#endif
