/* experiments/spec/along.c -- axes that one trial is read along.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/spec/along.h"

#include "experiments/spec/plane.h"
#include "sim/vec.h"

int xp_along_add(struct xp_along_axes *a, const char *name, const char *unit,
    const char *doc, uint32_t n, struct res_coord **k, struct sim_err *e)
{
	struct res_axis *x = &a->axis[a->n];
	int rc;
	/* The points of a trial are the product of its axes, so an axis without
	 * places would leave no row to fill. */
	if (n == 0)
		return sim_fail(e, SIM_EINVAL,
		    "axis %s has no place to read a trial along.", name);
	if ((rc = SIM_ZALLOC(&x->coord, 1, e)) < 0)
		return rc;
	x->n = n;
	x->n_coords = 1;
	/* From here on the axis counts, so that xp_along_free() frees what it
	 * has even if there is no memory for one of its texts. */
	a->n++;
	a->n_points *= n;
	*k = &x->coord[0];
	if ((rc = sim_dup(&(*k)->name, name, e)) == 0 &&
	    (rc = sim_dup(&(*k)->unit, unit, e)) == 0)
		rc = sim_dup(&(*k)->doc, doc, e);
	return rc;
}

int xp_along_init(struct xp_along_axes *a, const struct xp_config *c,
    struct sim_err *e)
{
	*a = (struct xp_along_axes){.n_points = 1};
	const struct xp_plane *p = xp_plane_of(c);
	/* Of a plane without axes the empty product is
	 * left: one trial, one row. */
	int rc = p->axes ? p->axes(a, c, e) : 0;
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
