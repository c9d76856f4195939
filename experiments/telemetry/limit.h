/* experiments/telemetry/limit.h -- how well links could be told at all.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * No algorithm: who answers here is told what nobody knows. Of each link that may
 * fail it weighs the window's likelihood if it failed, its rate drawn from the
 * spec's own law, against that of its being healthy, drawn from the spec's law of
 * noise; all other links being at their true rates. It knows how many failed, K,
 * and which links may. So its chance that a link failed has odds K / (n - K)
 * before the window, and it accuses as many of the likeliest as make the expected
 * F-measure greatest,
 *
 *	2 sum of chances of those accused / (number of these + K)
 *
 * An algorithm that must learn rates and numbers is not to be expected to do
 * better than it in the mean over runs, though on one run any may. DEPARTS from a
 * bound: links are weighed one at a time, each given the truth of the others.
 *
 * Not told where a switch failed, whose links fail together; where losses depend on
 * time or header, rows tell times or go by a wrong file, or noise on a link's class; nor where there is A2 without rows of
 * all flows (INT or P), since what is not seen there is no part of a row's
 * likelihood.
 *
 * Source ours.
 */
#ifndef EXPERIMENTS_TELEMETRY_LIMIT_H
#define EXPERIMENTS_TELEMETRY_LIMIT_H

#include "models/scene/scene.h"
#include "models/telemetry/telemetry.h"
#include "results/schema.h"
#include "sim/field.h"

struct xp_limit_params {
	uint32_t on;
};
extern const struct sim_field xp_limit_fields[];

/* Memory of one network. Zeroed is empty. */
struct xp_limit {
	size_t n_x, cap_x; /* hazards at which links are weighed */
	double *x;
	size_t cap_ell, cap_part, cap_kept, cap_share, cap_chance, cap_order;
	double *ell;     /* [links][n_x] ln of likelihood, but for a constant */
	double *part;    /* [links][n_x] factors that it lacks yet */
	double *kept;    /* [links] packets that surely crossed it */
	double *share;   /* [links] scratch */
	double *chance;  /* [links] to have failed; 0: may not */
	uint32_t *order; /* [links] scratch */
};
void xp_limit_free(struct xp_limit *w);

/* W->ell from ROWS, with links at HAZARD but for the one that is weighed, which
 * is at each of W->x. Errors SIM_ENOMEM. Cost O(rows * links on them * n_x), of
 * rows that lost something or have more than one path. */
int xp_limit_curves(struct xp_limit *w, const struct obs_tallies *rows,
    const double hazard[], uint32_t n_links, struct sim_err *e);

/* Fill RES_LIMIT_METRICS of the epoch that T holds, which SCENE was drawn from by
 * PARAMS. Errors SIM_ENOMEM. */
int xp_limit_fill(struct xp_limit *w, const struct telemetry *t,
    const struct scene *scene, const struct scene_params *params,
    struct res_trial_metrics *m, struct sim_err *e);

#endif
