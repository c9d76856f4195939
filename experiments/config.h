/* experiments/config.h -- one point of a spec: tree in, checked structs out.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_CONFIG_H
#define EXPERIMENTS_CONFIG_H

#include "experiments/spec.h"

extern const struct sim_field xp_head_fields[];
extern const struct sim_field xp_run_fields[];
extern const struct sim_field xp_topology_fields[];

/* Read the section `topology`; mistakes are added to Y. */
int xp_topology_read(struct sim_yaml *y, struct xp_topology *x,
    struct sim_err *e);

/* Read the tree as it stands into C, freeing what C held. TOP names the keys
 * of the root that belong to somebody else (and the sections). Mistakes are
 * added to Y, each at its place; returns only SIM_ENOMEM. Cost: opens the
 * topology once. */
int xp_config_read(struct sim_yaml *y, const char *const *top,
		   const char *folder, struct xp_config *c, struct sim_err *e);

/* Check the claims and, with a cube, put them there. */
int xp_spec_claims(struct xp_spec *s, struct res_cube *c, struct sim_err *e);

#endif
