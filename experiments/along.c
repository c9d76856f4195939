/* experiments/along.c -- axes that one trial is read along.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/along.h"

#include <math.h>

#include "algos/drop_rate.h"
#include "algos/heatmap.h"
#include "sim/vec.h"

double xp_along_tail(uint32_t i)
{
	static const double first[] = {0.5, 0.2, 0.1};
	return first[i % 3] / pow(10, i / 3);
}

/* An axis of N places without values; its coordinate in K. */
static int add_axis(struct xp_along_axes *a, const char *name, const char *unit,
    const char *doc, uint32_t n, struct res_coord **k, struct sim_err *e)
{
	struct res_axis *x = &a->axis[a->n];
	int rc;
	if (n == 0)
		return sim_fail(e, SIM_EINVAL,
		    "axis %s has no place to read a trial along.", name);
	if ((rc = SIM_ZALLOC(&x->coord, 1, e)) < 0)
		return rc;
	x->n = n;
	x->n_coords = 1;
	a->n++;
	a->n_points *= n;
	*k = &x->coord[0];
	if ((rc = res_text(&(*k)->name, name, e)) == 0 &&
	    (rc = res_text(&(*k)->unit, unit, e)) == 0)
		rc = res_text(&(*k)->doc, doc, e);
	return rc;
}

static int add_windows(struct xp_along_axes *a, const struct xp_pingmesh *p,
    struct sim_err *e)
{
	/* 0.3 s have three windows of 0.1 s, whatever their quotient. */
	const uint32_t n = (uint32_t)floor(p->duration_s / p->window_s + 1e-9);
	struct res_coord *k;
	int rc = add_axis(a, "window_s", "s", "end of the window", n, &k, e);
	if (rc < 0 || (rc = SIM_ZALLOC(&k->number, n, e)) < 0)
		return rc;
	for (uint32_t i = 0; i < n; i++)
		k->number[i] = (i + 1) * p->window_s;
	return 0;
}

static int add_tails(struct xp_along_axes *a, uint32_t n, struct sim_err *e)
{
	struct res_coord *k;
	int rc = add_axis(a, "tail", "1", "share of probes that take longer", n,
	    &k, e);
	if (rc < 0 || (rc = SIM_ZALLOC(&k->number, n, e)) < 0)
		return rc;
	for (uint32_t i = 0; i < n; i++)
		k->number[i] = xp_along_tail(i);
	return 0;
}

static int add_groups(struct xp_along_axes *a, struct sim_err *e)
{
	enum { N = ALGO_DROP_N_GROUPS };
	struct res_coord *k;
	int rc = add_axis(a, "group", "1", "probes by their ends", N, &k, e);
	if (rc == 0)
		rc = SIM_ZALLOC(&k->text, N, e);
	for (size_t i = 0; rc == 0 && i < N; i++)
		rc = res_text(&k->text[i], algo_drop_groups[i], e);
	return rc;
}

static int add_units(struct xp_along_axes *a, const char *name, const char *doc,
    uint32_t n, struct sim_err *e)
{
	struct res_coord *k;
	int rc = add_axis(a, name, "1", doc, n, &k, e);
	if (rc < 0 || (rc = SIM_ZALLOC(&k->number, n, e)) < 0)
		return rc;
	for (uint32_t i = 0; i < n; i++)
		k->number[i] = i;
	return 0;
}

static int add_pairs(struct xp_along_axes *a, const struct xp_config *c,
    struct sim_err *e)
{
	const struct topo_clos *shape = &c->topology.clos;
	const int pods = c->pingmesh.unit == ALGO_HEATMAP_POD;
	const uint32_t n = shape->n_pods * (pods ? 1 : shape->n_tors);
	int rc = add_units(a, "from",
	    pods ? "pod that probes" : "ToR that probes", n, e);
	return rc < 0
	    ? rc
	    : add_units(a, "to",
		  pods ? "pod that is probed" : "ToR that is probed", n, e);
}

static int add_all(struct xp_along_axes *a, const struct xp_config *c,
    struct sim_err *e)
{
	const struct xp_pingmesh *p = &c->pingmesh;
	if (c->plane != XP_PLANE_PINGMESH)
		return 0;
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
		return add_pairs(a, c, e);
	}
	return 0;
}

int xp_along_init(struct xp_along_axes *a, const struct xp_config *c,
    struct sim_err *e)
{
	*a = (struct xp_along_axes){.n_points = 1};
	int rc = add_all(a, c, e);
	if (rc < 0)
		xp_along_free(a);
	return rc;
}

void xp_along_free(struct xp_along_axes *a)
{
	for (size_t i = 0; i < a->n; i++)
		res_axis_free(&a->axis[i]);
	*a = (struct xp_along_axes){0};
}

int xp_along_same(const struct xp_along_axes *a, const struct xp_along_axes *b)
{
	int same = a->n == b->n;
	for (size_t i = 0; same && i < a->n; i++)
		same = res_axis_same(&a->axis[i], &b->axis[i]);
	return same;
}
