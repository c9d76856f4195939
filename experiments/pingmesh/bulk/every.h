/* experiments/pingmesh/bulk/every.h -- every probe of a window, as a table.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rows of late connects, and all others, whose times are drawn here. Cost about
 * 50 ns and 40 bytes a probe.
 */
#ifndef EXPERIMENTS_PINGMESH_BULK_EVERY_H
#define EXPERIMENTS_PINGMESH_BULK_EVERY_H

#include "experiments/pingmesh/bulk/sums.h"
#include "models/obs_probes.h"

/* Zeroed is empty. */
struct xp_every {
	struct connects_row *row;
	size_t n, cap;
	uint32_t *first; /* [hosts + 1] of the rows of a sender */
	uint8_t *met;    /* [hosts] peers with a row of the sender */
};

int xp_every_open(struct xp_every *v, const struct topo_clos *clos,
    struct sim_err *e);
void xp_every_close(struct xp_every *v);

/* Keep a row until the window is told. Errors SIM_ENOMEM. */
int xp_every_take(struct xp_every *v, const struct connects_row *r,
    struct sim_err *e);

/* Add all probes that C made in [from, to) to OUT, and forget their rows.
 * Errors SIM_ENOMEM. */
int xp_every_tell(struct xp_every *v, const struct connects *c,
    const struct xp_mesh_sums *s, sim_ns from, sim_ns to, struct sim_rng *r,
    struct obs_probes *out, struct sim_err *e);

#endif
