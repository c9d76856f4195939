/* experiments/pingmesh/bulk/connects.h -- the connects that a spec asks for.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_PINGMESH_BULK_CONNECTS_H
#define EXPERIMENTS_PINGMESH_BULK_CONNECTS_H

#include "algos/pingmesh/pinglist.h"
#include "experiments/pingmesh/run.h"
#include "models/connects/connects.h"

/* What plane pingmesh has and probes in bulk have not; each is refused by name:
 *
 *	vips, classes of ports            each needs a mesh of its own
 *	payload and HTTP pings, traces    more than a connect
 *	synack_timer                      which way was lost first matters
 *	ports of a list at two intervals  its order is that of phases
 *	bad links where ports come again  paths are drawn, not hashed
 *	noise by flow                     a path's draws would go on
 *	congestion                        bursts last milliseconds
 *	holes of type 1 above ToRs        their pairs are those of paths
 *	two of type 2 at a switch         one fate a five-tuple and link
 *	wrong routes, bad services        packets and agents alone meet them
 *	repairs, where tables are written windows do not act back
 */

/* The connects of plan L's one data centre, by P. Their mesh points at L. Without
 * others to probe all its servers have as many peers.
 * Errors SIM_EUNSUPPORTED for what is not in bulk, saying what to use in its
 * place. */
int xp_bulk_mesh_connects(struct connects_params *c,
    const struct algo_pinglist *l, const struct xp_pingmesh *p,
    struct sim_err *e);

/* connects_begin(), whose refusals then say what to use in its place. */
int xp_bulk_mesh_begin(struct connects *c, const struct scene *s,
    struct sim_err *e);

#endif
