/* algos/vigil/common.h -- votes of one window, counted once for several.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Algorithms that are asked about the same window one after the other begin by
 * the same tally, and blame flows alike. Who leaves its tally as it was counted
 * gives it to those that come behind; each answers as it would alone.
 */
#ifndef ALGOS_VIGIL_COMMON_H
#define ALGOS_VIGIL_COMMON_H

#include "algos/algo.h"
#include "algos/vigil/blame.h"
#include "algos/vigil/tally.h"

/* Zeroed: nobody has counted yet, as at the begin of each window. All that is
 * pointed to must stay as it is until then. */
struct algo_common {
	const struct obs *w; /* what was counted */
	const struct algo_tally *tally;
	const struct algo_blame *how; /* and blamed; or NULL */
	const struct algo_verdicts *blamed;
};

/* algo_tally_count(), or a copy of what another has counted. C may be NULL.
 * KEEPS: T will not be changed until the next window. */
int algo_common_count(struct algo_common *c, struct algo_tally *t,
    const struct obs *w, int keeps, struct sim_err *e);

/* algo_blame_by_votes() of such a tally, or a copy of what another has blamed.
 * KEEPS: nor will *HOW and OUT. */
int algo_common_blame(struct algo_common *c, const struct algo_blame *how,
    const struct algo_tally *t, const struct obs *w, struct sim_rng *tie,
    int keeps, struct algo_verdicts *out, struct sim_err *e);

#endif
