/* experiments/pingmesh/along.c -- what a run of Pingmesh is read along.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/along.h"

#include <math.h>

#include "algos/pingmesh/drop_rate.h"
#include "algos/pingmesh/heatmap.h"
#include "sim/vec.h"

/* Three points a decade, evenly spread on the logarithmic axis that figures of
 * tails have (Pingmesh, section 4.1). */
double xp_pingmesh_tail(uint32_t i)
{
	static const double first[] = {0.5, 0.2, 0.1};
	return first[i % 3] / pow(10, i / 3);
}

static int add_windows(struct xp_along_axes *a, const struct xp_pingmesh *p,
    struct sim_err *e)
{
	/* 0.3 / 0.1 is a little less than 3 in floating point, yet there are
	 * three windows of 0.1 s in 0.3 s. */
	const uint32_t n = (uint32_t)floor(p->duration_s / p->window_s + 1e-9);
	struct res_coord *k;
	int rc =
	    xp_along_add(a, "window_s", "s", "end of the window", n, &k, e);
	if (rc < 0 || (rc = SIM_ZALLOC(&k->number, n, e)) < 0)
		return rc;
	for (uint32_t i = 0; i < n; i++)
		k->number[i] = (i + 1) * p->window_s;
	return 0;
}

static int add_tails(struct xp_along_axes *a, uint32_t n, struct sim_err *e)
{
	struct res_coord *k;
	int rc = xp_along_add(a, "tail", "1",
	    "share of probes that take longer", n, &k, e);
	if (rc < 0 || (rc = SIM_ZALLOC(&k->number, n, e)) < 0)
		return rc;
	for (uint32_t i = 0; i < n; i++)
		k->number[i] = xp_pingmesh_tail(i);
	return 0;
}

static int add_groups(struct xp_along_axes *a, struct sim_err *e)
{
	enum { N = ALGO_DROP_N_GROUPS };
	struct res_coord *k;
	int rc =
	    xp_along_add(a, "group", "1", "probes by their ends", N, &k, e);
	if (rc == 0)
		rc = SIM_ZALLOC(&k->text, N, e);
	for (size_t i = 0; rc == 0 && i < N; i++)
		rc = sim_dup(&k->text[i], algo_drop_groups[i], e);
	return rc;
}

static int add_units(struct xp_along_axes *a, const char *name, const char *doc,
    uint32_t n, struct sim_err *e)
{
	struct res_coord *k;
	int rc = xp_along_add(a, name, "1", doc, n, &k, e);
	if (rc < 0 || (rc = SIM_ZALLOC(&k->number, n, e)) < 0)
		return rc;
	for (uint32_t i = 0; i < n; i++)
		k->number[i] = i;
	return 0;
}

/* All data centres of a region have one shape, so SHAPE is also that of the one
 * whose matrix is read. */
static int add_pairs(struct xp_along_axes *a, const struct topo_clos *shape,
    const struct xp_pingmesh *p, struct sim_err *e)
{
	const int pods = p->unit == ALGO_HEATMAP_POD;
	const uint32_t n = shape->n_pods * (pods ? 1 : shape->n_tors);
	int rc = add_units(a, "from",
	    pods ? "pod that probes" : "ToR that probes", n, e);
	return rc < 0
	    ? rc
	    : add_units(a, "to",
		  pods ? "pod that is probed" : "ToR that is probed", n, e);
}

int xp_pingmesh_axes(struct xp_along_axes *a, const struct topo_clos *shape,
    const struct xp_pingmesh *p, struct sim_err *e)
{
	switch ((enum xp_along)p->along) {
	case XP_ALONG_NONE:
		return 0;
	case XP_ALONG_WINDOW:
		return add_windows(a, p, e);
	case XP_ALONG_QUANTILE:
		return add_tails(a, p->n_tails, e);
	case XP_ALONG_GROUP:
		return add_groups(a, e);
	case XP_ALONG_PAIR:
		return add_pairs(a, shape, p, e);
	}
	return 0;
}
