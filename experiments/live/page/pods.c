/* experiments/live/page/pods.c -- how each pod of a heat map is.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/page/pods.h"

#include <stdlib.h>

#include "algos/pingmesh/heatmap.h"
#include "experiments/live/page/view.h"
#include "sim/vec.h"

void xp_live_pods_add(struct xp_live_pods *p, int64_t src, int64_t dst,
    double p99_us)
{
	const int64_t last = src > dst ? src : dst;
	if (p->is_bad)
		return;
	if (src < 0 || dst < 0 || last >= LIVE_VIEW_MAX_PODS ||
	    SIM_RESERVE(&p->cell, &p->cap, p->n + 1, NULL) < 0) {
		p->is_bad = 1;
		return;
	}
	p->cell[p->n++] =
	    (struct xp_live_cell){(uint32_t)src, (uint32_t)dst, p99_us};
	if (last >= p->n_pods)
		p->n_pods = (uint32_t)last + 1;
}

void xp_live_pods_free(struct xp_live_pods *p)
{
	free(p->cell);
	*p = (struct xp_live_pods){0};
}

static int pods_classify(const struct xp_live_pods *p, struct algo_heatmap *m,
    struct sim_err *e)
{
	struct algo_heatmap_params params;
	const int has_bounds = p->yellow_us > 0 && p->red_us >= p->yellow_us;
	enum algo_heatmap_pattern pattern;
	int rc = algo_heatmap_init(m, p->n_pods, p->n_pods, e);
	if (rc < 0 ||
	    (rc = sim_field_defaults(algo_heatmap_fields, &params, e)) < 0)
		return rc;
	if (has_bounds) {
		params.yellow_us = p->yellow_us;
		params.red_us = p->red_us;
	}
	for (size_t i = 0; i < p->n; i++)
		m->p99_us[(size_t)p->cell[i].src * p->n_pods + p->cell[i].dst] =
		    p->cell[i].p99_us;
	return algo_heatmap_classify(m, &params, &pattern, e);
}

int xp_live_pods_put(const struct xp_live_pods *p, FILE *out, struct sim_err *e)
{
	static const char *const words[] = {"\"fine\"", "\"down\"",
	    "\"failed\""};
	struct algo_heatmap m = {0};
	int rc = 0;
	if (p->is_bad)
		return sim_fail(e, SIM_ELIMIT,
		    "a heat map here has at most %d pods.", LIVE_VIEW_MAX_PODS);
	fputs(", \"pods\": [", out);
	if (p->n_pods > 0)
		rc = pods_classify(p, &m, e);
	for (uint32_t i = 0; rc == 0 && i < p->n_pods; i++)
		fprintf(out, "%s%s", i > 0 ? ", " : "", words[m.pod[i]]);
	putc(']', out);
	algo_heatmap_free(&m);
	return rc;
}
