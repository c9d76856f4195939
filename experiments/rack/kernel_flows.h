/* experiments/rack/kernel_flows.h -- what hosts of a kernel's rack send, and when.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_RACK_KERNEL_FLOWS_H
#define EXPERIMENTS_RACK_KERNEL_FLOWS_H

#include "experiments/rack/kernel.h"
#include "models/obs.h"

struct xp_kernel_flows {
	struct obs_flow *flow;
	size_t n, cap;
};
void xp_kernel_flows_free(struct xp_kernel_flows *f);

/* Sittings that P->for_s takes, at least one. */
uint32_t xp_kernel_flows_sittings(const struct xp_kernel_rack_params *p);

/* The connections of one of N sittings, from its begin on: its part of the rounds,
 * evenly over its part of P->for_s; and light traffic, of as many connections as
 * come to its share of the lines.
 * Draws SIM_STREAM_RACK_TRAFFIC and the sitting. Errors SIM_ELIMIT (more than
 * ports), SIM_ENOMEM. */
int xp_kernel_flows_draw(struct xp_kernel_flows *f,
    const struct xp_kernel_rack_params *p, uint32_t sitting, uint32_t n,
    struct sim_err *e);

#endif
