/* models/bulk/skip.h -- the skipping bulk data plane: only flows that may lose.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Draws the lossy flows of an epoch in law exactly as bulk.h would, without
 * touching the others. Per source ToR, a flow crosses failed link l and finds
 * it dropping with probability at most w_l = P(cross l) * (1 - exp(-n_max *
 * hazard_l)), where P is that of the traffic's destinations, hot ToRs and
 * others, and of ECMP's choices (course.h). Candidates are found by geometric
 * jumps at rate W = sum of w_l, one l is picked in proportion to w_l, the flow
 * is drawn given that it crosses l, and kept with probability
 *
 *	P(some failed link drops | flow) / sum of bounds over its failed links
 *
 * which undoes both the bound and the multiple chances of flows that cross
 * several failed links.
 *
 *	uplinks   flows of a host whose own uplink failed are gone through apart
 *	          from those of its neighbours
 *	holes     a switch with a black hole is another l, of bound 1: which of
 *	          the flows that cross it are taken, its rule says
 *	off       flows that would start while their host is off are found like
 *	          those on whose uplink all is lost, and are none
 *	meshes    P depends on both ToRs, so what is picked is a destination's
 *	          ToR with l, from a table by the source's (pairs.h)
 *
 * The other flows can lose to noise only: they are found by jumps under a bound
 * of the noise hazard and drawn given that no failed link dropped. The bound is
 * that of the law of rates, so noise may be per link or per flow.
 *
 * Cost O(ToRs * faults + lossy flows + flows that cross a switch with a hole, or
 * are of a host that is off), whatever the number of flows, apart from the noise
 * candidates: about 4 a flow that noise makes lossy. In a mesh O(pairs * links of
 * a switch) besides.
 */
#ifndef MODELS_BULK_SKIP_H
#define MODELS_BULK_SKIP_H

#include "models/losses.h"
#include "models/obs.h"
#include "models/scene/scene.h"

struct bulk_skip;

int bulk_skip_open(struct bulk_skip **k, struct sim_err *e);
void bulk_skip_close(struct bulk_skip *k);

/* 0 if the scene meets what skipping assumes: ideal ECMP (independent uniform
 * choices, not a hash), in a Clos at most 2^24 paths between two ToRs, in a mesh
 * at most 2^20 pairs of ToRs between which flows cross something that failed
 * (48 MiB), counted for each; no congestion, no round-trip times, and no traffic.tcp: a flow would have to be
 * drawn given what crosses either way. Else SIM_EUNSUPPORTED and which of these
 * fails; then use bulk.h. Cost O(1), in a mesh O(ToRs * faults). */
int bulk_skip_fits(const struct scene *s, struct sim_err *e);

/* The share of a scene's flows that are looked at for their noise. */
double bulk_skip_noise_share(const struct scene *s);

/* What skipping a scene that fits costs more than looking at every flow (bulk.h),
 * in candidates of noise a flow of the epoch: above 0 where many flows are such
 * candidates or cross a switch with a hole, below where few do, or many are lossy
 * anyway. A function of the scene, so that every machine chooses alike, and
 * scenes may be summed, each times its flows. Cost O(faults), in a mesh times
 * ToRs. */
double bulk_skip_excess(const struct scene *s);

/* Run the epoch into an emptied window and its losses. Errors as
 * bulk_skip_fits(), SIM_ENOMEM. */
int bulk_skip_epoch(struct bulk_skip *k, const struct scene *s, struct obs *w,
    struct losses *lost, struct sim_err *e);

#endif
