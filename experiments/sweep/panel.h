/* experiments/sweep/panel.h -- the algorithms of one point, and what they said.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_SWEEP_PANEL_H
#define EXPERIMENTS_SWEEP_PANEL_H

#include "algos/vigil/common.h"
#include "experiments/spec/spec.h"
#include "results/schema.h"

/* Zeroed is empty. */
struct xp_panel {
	size_t point;

	/* That of the point. All but the algorithms belongs to whoever has drawn
	 * what they look at. */
	struct xp_config config;

	void **work;                         /* [config.n_algos] */
	struct algo_verdicts *verdicts;      /* likewise */
	struct res_algo_metrics *scores;     /* of the last window */
	struct res_algo_metrics *row_scores; /* [n_along][n_algos] */
};

/* Open the algorithms of POINT, whose configuration C is; it loses their list to
 * P. All else is as DRAWN has it, which P keeps. They are told the network TOLD
 * and their parameters, and nothing of what is wrong with it; those that count
 * alike share COMMON. P is to be freed also after a failure. */
int xp_panel_open(struct xp_panel *p, size_t point,
    const struct xp_config *drawn, struct xp_config *c, const struct topo *told,
    struct algo_common *common, size_t n_along, struct sim_err *e);
void xp_panel_free(struct xp_panel *p);

#endif
