/* experiments/pingmesh/along.h -- what a run of Pingmesh is read along.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_PINGMESH_ALONG_H
#define EXPERIMENTS_PINGMESH_ALONG_H

#include "experiments/pingmesh/pingmesh.h"
#include "experiments/spec/along.h"

/* Add the axes of `pingmesh.along` to A: one, two for pairs, none for `none`.
 * SHAPE is that of the network, or of each of its data centres. Errors
 * SIM_EINVAL if there is nothing to read along, SIM_ENOMEM. */
int xp_pingmesh_axes(struct xp_along_axes *a, const struct topo_clos *shape,
    const struct xp_pingmesh *p, struct sim_err *e);

/* Along quantiles, the share of probes that take longer than the time of row I:
 * 1/2, 1/5, 1/10, 1/20 ... */
double xp_pingmesh_tail(uint32_t i);

#endif
