/* experiments/rack/along.c -- what a run of racks is read along.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>

#include "experiments/rack/score.h"
#include "sim/vec.h"

/* In CDFs of many bursts both ends tell something, the upper one most. */
double xp_rack_quantile(size_t i)
{
	static const double q[XP_RACK_N_QUANTILES] = {.01, .02, .05, .1, .15,
	    .2, .25, .3, .35, .4, .45, .5, .55, .6, .65, .7, .75, .8, .85, .9,
	    .95, .98, .99, .995, .998, .999, .9995, .9999};
	return q[i];
}

/* Two to an octave, whole numbers all of them. */
double xp_rack_size(size_t i)
{
	if (i == 0)
		return 1;
	return i % 2 == 1 ? ldexp(1, (int)(i + 1) / 2)
			  : ldexp(3, (int)i / 2 - 1);
}

size_t xp_rack_size_row(double size)
{
	size_t i = 0;
	while (i + 1 < XP_RACK_N_SIZES && xp_rack_size(i + 1) <= size)
		i++;
	return i;
}

static size_t rack_n_buckets(const struct xp_rack *p)
{
	sim_ns width[XP_RACK_N_WIDTHS] = {1};
	xp_rack_widths(p, width);
	return (size_t)(sim_ns_of(p->length_s) / width[0]);
}

/* 0 where no row would be filled, which xp_along_add() refuses. */
size_t xp_rack_n_rows(const struct xp_rack *p, const struct xp_topology *t)
{
	switch ((enum xp_rack_along)p->along) {
	case XP_RACK_ALONG_NONE:
		break;
	case XP_RACK_ALONG_QUANTILE:
		return XP_RACK_N_QUANTILES;
	case XP_RACK_ALONG_SIZE:
		return XP_RACK_N_SIZES;
	case XP_RACK_ALONG_RACK:
		return (size_t)t->clos.n_pods * t->clos.n_tors;
	case XP_RACK_ALONG_TIME:
		return rack_n_buckets(p);
	}
	return 1;
}

static double rack_place(const struct xp_rack *p, size_t i)
{
	sim_ns width[XP_RACK_N_WIDTHS] = {1};
	switch ((enum xp_rack_along)p->along) {
	case XP_RACK_ALONG_NONE:
		break;
	case XP_RACK_ALONG_QUANTILE:
		return xp_rack_quantile(i);
	case XP_RACK_ALONG_SIZE:
		return xp_rack_size(i);
	case XP_RACK_ALONG_RACK:
		return (double)i + 1;
	case XP_RACK_ALONG_TIME:
		xp_rack_widths(p, width);
		return (double)i * (double)width[0] / 1e6;
	}
	return 0;
}

int xp_rack_axes(struct xp_along_axes *a, const struct xp_rack *p,
    const struct xp_topology *t, struct sim_err *e)
{
	static const struct {
		const char *name, *unit, *doc;
	} axis[] = {
	    [XP_RACK_ALONG_QUANTILE] = {"quantile", "1",
		"share of bursts, servers or buckets that are not above"},
	    [XP_RACK_ALONG_SIZE] = {"size", "1",
		"least length in ms, or least number of connections"},
	    [XP_RACK_ALONG_RACK] = {"rank", "1",
		"of racks by mean contention, the least first"},
	    [XP_RACK_ALONG_TIME] = {"t_ms", "ms", "begin of the bucket"},
	};
	const size_t n = xp_rack_n_rows(p, t);
	struct res_coord *k;
	if (p->along == XP_RACK_ALONG_NONE)
		return 0;
	int rc = xp_along_add(a, axis[p->along].name, axis[p->along].unit,
	    axis[p->along].doc, (uint32_t)n, &k, e);
	if (rc < 0 || (rc = SIM_ZALLOC(&k->number, n, e)) < 0)
		return rc;
	for (size_t i = 0; i < n; i++)
		k->number[i] = rack_place(p, i);
	return 0;
}
