/* experiments/pingmesh/bulk/connects.h -- the connects that a spec asks for.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_PINGMESH_BULK_CONNECTS_H
#define EXPERIMENTS_PINGMESH_BULK_CONNECTS_H

#include "algos/pingmesh/pinglist.h"
#include "experiments/pingmesh/run.h"
#include "models/connects/connects.h"

/* The connects of plan L's one data centre, by P. Their mesh points at L.
 * Errors SIM_EUNSUPPORTED for what is not in bulk, saying what to use in its
 * place. */
int xp_bulk_mesh_connects(struct connects_params *c,
    const struct algo_pinglist *l, const struct xp_pingmesh *p,
    struct sim_err *e);

#endif
