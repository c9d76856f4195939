/* experiments/live/page/pods.h -- how each pod of a heat map is.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_LIVE_PAGE_PODS_H
#define EXPERIMENTS_LIVE_PAGE_PODS_H

#include <stdint.h>
#include <stdio.h>

#include "sim/err.h"

/* Cells of a heat map. Zeroed is empty. */
struct xp_live_pods {
	size_t n, cap;
	struct xp_live_cell {
		uint32_t src, dst;
		double p99_us; /* NaN: no success */
	} * cell;
	uint32_t n_pods;          /* one more than the last that was named */
	double yellow_us, red_us; /* by which jobs found a pattern; 0: ours */
	int is_bad; /* no memory, or pods beyond LIVE_VIEW_MAX_PODS */
};

/* What is wrong is told by xp_live_pods_put(). */
void xp_live_pods_add(struct xp_live_pods *p, int64_t src, int64_t dst,
    double p99_us);
void xp_live_pods_free(struct xp_live_pods *p);

/* Write a member "pods", [n_pods] of the words fine, down and failed, by
 * algos/pingmesh/heatmap.h. Errors SIM_ENOMEM, SIM_ELIMIT (too many pods). */
int xp_live_pods_put(const struct xp_live_pods *p, FILE *out,
    struct sim_err *e);

#endif
