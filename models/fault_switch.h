/* models/fault_switch.h -- switches that fail, and their links with them.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef MODELS_FAULT_SWITCH_H
#define MODELS_FAULT_SWITCH_H

#include "models/fault.h"

/* Tiers as in a spec: bits of model_fault_params.tiers. */
enum model_tier { MODEL_TIER_TOR, MODEL_TIER_T1, MODEL_TIER_T2 };
extern const char *const model_tier_names[];

/* Add a fault of the group's kind on LINK, its rate (in RANGE) or delay at the
 * quantile U. */
int model_fault_add(const struct model_fault_params *g,
    const struct sim_dist *range, topo_link link, double u, struct truth *truth,
    struct sim_err *e);

/* Draw the failed switches of a group with `switches` > 0: see
 * model_fault_draw(), which calls this and sorts TRUTH after. */
int model_fault_draw_switches(const struct topo *t,
    const struct model_fault_params *g, struct sim_rng *place,
    struct sim_rng *rate, struct truth *truth, struct sim_err *e);

#endif
