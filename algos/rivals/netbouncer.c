/* algos/rivals/netbouncer.c -- NetBouncer: switches, then descent over links.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/rivals/netbouncer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algos/rivals/accused.h"
#include "sim/vec.h"

enum { BOUNCE_MOST_SWEEPS = 100 };

/* Change of the error at which sweeps end. */
#define BOUNCE_STOP 1e-8

/* A row that counts. */
struct bounce_row {
	topo_link up, down;
	uint32_t path;
	double w, y;
};

struct bounce {
	struct algo_netbouncer_params params;
	const struct topo *topo;
	struct algo_ways ways;

	struct bounce_row *row;
	size_t n, cap_row;
	double lambda, error;

	/* Which rows are over a cable, and which paths over a link between
	 * switches: [n_links + 2] where each begins, and what it has. */
	uint32_t *begin, *over;
	size_t cap_over;

	double *x; /* [n_links]; NaN: over it goes nothing */

	/* Of each path: whether rows take it, the product over its links, and
	 * of its rows the sums of w y c and w c^2, c being the product over both
	 * cables. */
	uint8_t *used;
	double *product, *wyc, *wcc;
	size_t cap_used, cap_product, cap_wyc, cap_wcc;

	uint32_t *n_rows, *n_lossy; /* [n_links + n_switches] */
};

static const char *const bounce_weights[] = {"flows", "packets", NULL};

#define FIELD(m) offsetof(struct algo_netbouncer_params, m)
static const struct sim_field bounce_fields[] = {
    {"weight", SIM_F_ENUM, FIELD(weight), .names = bounce_weights, .unit = "1",
	.def = "flows", .doc = "what counts once: a flow, or a packet"},
    {"lambda", SIM_F_F64, FIELD(lambda), .min = 0, .max = 1e6, .unit = "1",
	.def = "0", .doc = "of the regulariser; 0: by telemetry"},
    {"theta", SIM_F_F64, FIELD(theta), .min = 0, .max = 1, .unit = "1",
	.def = "0", .doc = "loss of an accused link; 0: by telemetry"},
    {"theta_switch", SIM_F_F64, FIELD(theta_switch), .min = 0, .max = 1,
	.unit = "1", .def = "0",
	.doc = "a switch is accused above this share of lossy flows; 0: by "
	       "telemetry"},
    {0},
};

static void bounce_free(void *work)
{
	struct bounce *a = work;
	algo_ways_free(&a->ways);
	free(a->row);
	free(a->begin);
	free(a->over);
	free(a->x);
	free(a->used);
	free(a->product);
	free(a->wyc);
	free(a->wcc);
	free(a->n_rows);
	free(a->n_lossy);
}

static int bounce_init(void *work, const struct topo *t, struct sim_err *e)
{
	struct bounce *a = work;
	const size_t n_parts = (size_t)t->n_links + t->n_switches;
	int rc;
	a->topo = t;
	if ((rc = SIM_ZALLOC(&a->begin, (size_t)t->n_links + 2, e)) < 0 ||
	    (rc = SIM_ZALLOC(&a->x, t->n_links, e)) < 0 ||
	    (rc = SIM_ZALLOC(&a->n_rows, n_parts, e)) < 0 ||
	    (rc = SIM_ZALLOC(&a->n_lossy, n_parts, e)) < 0)
		return rc;
	return 0;
}

/* --- the rows that count -------------------------------------------------- */

static int bounce_takes(const struct obs_tallies *t, size_t i)
{
	return t->path[i] != OBS_NO_PATH &&
	    (t->is_probe[i] || t->telemetry & OBS_TELE_INT);
}

static struct algo_netbouncer_params bounce_params(const struct bounce *a,
    unsigned telemetry)
{
	struct algo_netbouncer_params p = a->params;
	const int all = (telemetry & OBS_TELE_INT) != 0;
	if (p.lambda == 0)
		p.lambda = all ? .011 : .001;
	if (p.theta == 0)
		p.theta = all ? .002 : .007;
	if (p.theta_switch == 0)
		p.theta_switch = all ? .075 : .125;
	return p;
}

/* Accuse switches, and mark them by a count of rows of UINT32_MAX. */
static int bounce_switches(struct bounce *a, const struct obs_tallies *t,
    double theta, struct algo_verdicts *out, struct sim_err *e)
{
	const struct algo_ways *w = &a->ways;
	const uint32_t first = a->topo->n_links,
		       last = first + a->topo->n_switches;
	int rc = 0;
	memset(a->n_rows, 0, last * sizeof(*a->n_rows));
	memset(a->n_lossy, 0, last * sizeof(*a->n_lossy));
	for (size_t i = 0; i < t->n; i++) {
		if (!bounce_takes(t, i))
			continue;
		const uint32_t end = w->off[t->path[i] + 1];
		for (uint32_t k = w->off[t->path[i]]; k < end; k++) {
			a->n_rows[w->part[k]]++;
			a->n_lossy[w->part[k]] += t->n_lost[i] > 0;
		}
	}
	for (uint32_t c = first; rc == 0 && c < last; c++) {
		const double share =
		    a->n_rows[c] ? (double)a->n_lossy[c] / a->n_rows[c] : 0;
		if (share <= theta)
			continue;
		a->n_rows[c] = UINT32_MAX;
		rc = algo_verdicts_add(out, c, share, e);
	}
	return rc;
}

static int bounce_is_aside(const struct bounce *a, uint32_t path)
{
	for (uint32_t k = a->ways.off[path]; k < a->ways.off[path + 1]; k++)
		if (a->n_rows[a->ways.part[k]] == UINT32_MAX)
			return 1;
	return 0;
}

static int bounce_rows(struct bounce *a, const struct obs_tallies *t,
    struct sim_err *e)
{
	const int rc = SIM_RESERVE(&a->row, &a->cap_row, t->n, e);
	a->n = 0;
	for (size_t i = 0; rc == 0 && i < t->n; i++)
		if (bounce_takes(t, i) && !bounce_is_aside(a, t->path[i]))
			a->row[a->n++] = (struct bounce_row){t->up[i],
			    t->down[i], t->path[i],
			    a->params.weight == ALGO_NETBOUNCER_PACKETS
				? t->n_sent[i]
				: 1,
			    1 - (double)t->n_lost[i] / t->n_sent[i]};
	return rc;
}

/* --- what is over each link ----------------------------------------------- */

static int bounce_room(struct bounce *a, struct sim_err *e)
{
	const size_t n = a->ways.n;
	int rc;
	if ((rc = SIM_RESERVE(&a->used, &a->cap_used, n, e)) < 0 ||
	    (rc = SIM_RESERVE(&a->product, &a->cap_product, n, e)) < 0 ||
	    (rc = SIM_RESERVE(&a->wyc, &a->cap_wyc, n, e)) < 0 ||
	    (rc = SIM_RESERVE(&a->wcc, &a->cap_wcc, n, e)) < 0)
		return rc;
	memset(a->used, 0, n);
	for (size_t i = 0; i < a->n; i++)
		a->used[a->row[i].path] = 1;
	return 0;
}

/* Call for each link what is over it: count, or put where a counting sort has
 * it. */
static void bounce_put(struct bounce *a, topo_link l, uint32_t what, int count)
{
	if (count)
		a->begin[l + 2]++;
	else
		a->over[a->begin[l + 1]++] = what;
}

static void bounce_put_all(struct bounce *a, int count)
{
	const struct obs_paths *p = a->ways.of;
	for (uint32_t i = 0; i < a->n; i++) {
		if (a->row[i].up != TOPO_NONE)
			bounce_put(a, a->row[i].up, i, count);
		if (a->row[i].down != TOPO_NONE)
			bounce_put(a, a->row[i].down, i, count);
	}
	for (uint32_t path = 0; path < a->ways.n; path++)
		for (uint32_t k = p->off[path];
		     a->used[path] && k < p->off[path + 1]; k++)
			bounce_put(a, p->link[k], path, count);
}

static int bounce_index(struct bounce *a, struct sim_err *e)
{
	const uint32_t n = a->topo->n_links;
	memset(a->begin, 0, ((size_t)n + 2) * sizeof(*a->begin));
	bounce_put_all(a, 1);
	for (uint32_t l = 0; l < n; l++)
		a->begin[l + 2] += a->begin[l + 1];
	const int rc = SIM_RESERVE(&a->over, &a->cap_over, a->begin[n + 1], e);
	if (rc == 0)
		bounce_put_all(a, 0);
	return rc;
}

/* --- descending ----------------------------------------------------------- */

static double bounce_cable(const struct bounce *a, topo_link l)
{
	return l == TOPO_NONE ? 1 : a->x[l];
}

/* The product over a path's links but for one; none is left out if that is
 * TOPO_NONE. */
static double bounce_product(const struct bounce *a, uint32_t path,
    topo_link but)
{
	const struct obs_paths *p = a->ways.of;
	double x = 1;
	for (uint32_t k = p->off[path]; k < p->off[path + 1]; k++)
		if (p->link[k] != but)
			x *= a->x[p->link[k]];
	return x;
}

/* Rows that a path's links see as one: sums over their cables. */
static void bounce_sum_rows(struct bounce *a)
{
	memset(a->wyc, 0, a->ways.n * sizeof(*a->wyc));
	memset(a->wcc, 0, a->ways.n * sizeof(*a->wcc));
	for (size_t i = 0; i < a->n; i++) {
		const struct bounce_row *r = &a->row[i];
		const double c =
		    bounce_cable(a, r->up) * bounce_cable(a, r->down);
		a->wyc[r->path] += r->w * r->y * c;
		a->wcc[r->path] += r->w * c * c;
	}
}

/* Where the objective is least along one link, of sums w t y and w t^2. */
static double bounce_least(double ty, double tt, double lambda)
{
	if (tt <= lambda)
		return tt <= 2 * ty;
	return fmin(fmax((2 * ty - lambda) / (2 * (tt - lambda)), 0), 1);
}

static void bounce_step_cable(struct bounce *a, topo_link l)
{
	double ty = 0, tt = 0;
	for (uint32_t k = a->begin[l]; k < a->begin[l + 1]; k++) {
		const struct bounce_row *r = &a->row[a->over[k]];
		const double t = a->product[r->path] *
		    bounce_cable(a, r->up == l ? r->down : r->up);
		ty += r->w * t * r->y;
		tt += r->w * t * t;
	}
	a->x[l] = bounce_least(ty, tt, a->lambda);
}

static void bounce_step_link(struct bounce *a, topo_link l)
{
	const double had = a->x[l];
	double ty = 0, tt = 0;
	/* A product is taken anew where a division would lose it. */
	for (uint32_t k = a->begin[l]; k < a->begin[l + 1]; k++) {
		const uint32_t path = a->over[k];
		double *t = &a->product[path];
		*t = had > 1e-6 ? *t / had : bounce_product(a, path, l);
		ty += *t * a->wyc[path];
		tt += *t * *t * a->wcc[path];
	}
	a->x[l] = bounce_least(ty, tt, a->lambda);
	for (uint32_t k = a->begin[l]; k < a->begin[l + 1]; k++)
		a->product[a->over[k]] *= a->x[l];
}

/* Cables have the least ids, so they come first in the order of ids, too: while
 * they change paths do not, and then the other way round. */
static void bounce_sweep(struct bounce *a)
{
	const uint32_t n_cables = 2 * a->topo->n_hosts;
	for (uint32_t i = 0; i < a->ways.n; i++)
		if (a->used[i])
			a->product[i] = bounce_product(a, i, TOPO_NONE);
	for (topo_link l = 0; l < n_cables; l++)
		if (!isnan(a->x[l]))
			bounce_step_cable(a, l);
	bounce_sum_rows(a);
	for (topo_link l = n_cables; l < a->topo->n_links; l++)
		if (!isnan(a->x[l]))
			bounce_step_link(a, l);
}

/* Less the rows' sum of w y^2, which stays the same. */
static double bounce_error(const struct bounce *a)
{
	double sum = 0;
	for (uint32_t i = 0; i < a->ways.n; i++)
		if (a->used[i])
			sum += a->product[i] *
			    (a->product[i] * a->wcc[i] - 2 * a->wyc[i]);
	for (topo_link l = 0; l < a->topo->n_links; l++)
		if (!isnan(a->x[l]))
			sum += a->lambda * a->x[l] * (1 - a->x[l]);
	return sum;
}

/* Sums of w y and w of each link's rows, of a path's rows at once. Until there
 * is an x, products are 1 and sums have no cables in them. */
static void bounce_first(struct bounce *a)
{
	const uint32_t n_cables = 2 * a->topo->n_hosts;
	memset(a->wyc, 0, a->ways.n * sizeof(*a->wyc));
	memset(a->wcc, 0, a->ways.n * sizeof(*a->wcc));
	for (size_t i = 0; i < a->n; i++) {
		a->wyc[a->row[i].path] += a->row[i].w * a->row[i].y;
		a->wcc[a->row[i].path] += a->row[i].w;
	}
	for (topo_link l = 0; l < a->topo->n_links; l++) {
		double wy = 0, w = 0;
		for (uint32_t k = a->begin[l]; k < a->begin[l + 1]; k++) {
			const uint32_t i = a->over[k];
			wy += l < n_cables ? a->row[i].w * a->row[i].y
					   : a->wyc[i];
			w += l < n_cables ? a->row[i].w : a->wcc[i];
		}
		a->x[l] = w > 0 ? wy / w : NAN;
	}
}

static void bounce_descend(struct bounce *a)
{
	double before = INFINITY;
	bounce_first(a);
	for (unsigned k = 0; k < BOUNCE_MOST_SWEEPS; k++) {
		bounce_sweep(a);
		const double now = bounce_error(a);
		if (fabs(before - now) < BOUNCE_STOP)
			break;
		before = now;
	}
}

/* --- answering ------------------------------------------------------------ */

static int bounce_links(struct bounce *a, double theta, int accused,
    struct algo_verdicts *out, struct sim_err *e)
{
	int rc = 0;
	for (topo_link l = 0; rc == 0 && l < a->topo->n_links; l++) {
		const double loss = 1 - a->x[l];
		if (loss > 0 && (loss >= theta) == accused)
			rc = algo_verdicts_add(out, l, loss, e);
	}
	return rc;
}

static int bounce_diagnose(void *work, const struct obs *window,
    struct sim_rng *tie, struct algo_verdicts *out, struct sim_err *e)
{
	struct bounce *a = work;
	const struct obs_tallies *t = window->tallies;
	const struct algo_netbouncer_params p = bounce_params(a, t->telemetry);
	int rc;
	(void)tie;
	algo_verdicts_clear(out);
	out->flags = 1;
	out->kind = ALGO_KIND_BOTH;
	out->n_links = a->topo->n_links;
	a->lambda = p.lambda;
	if ((rc = algo_ways_update(&a->ways, a->topo, t->paths, 1, 0, e)) < 0 ||
	    (rc = bounce_switches(a, t, p.theta_switch, out, e)) < 0 ||
	    (rc = bounce_rows(a, t, e)) < 0 || (rc = bounce_room(a, e)) < 0 ||
	    (rc = bounce_index(a, e)) < 0)
		return rc;
	bounce_descend(a);
	if ((rc = bounce_links(a, p.theta, 1, out, e)) < 0)
		return rc;
	algo_verdicts_sort(out);
	out->n_flagged = out->n;
	if ((rc = bounce_links(a, p.theta, 0, out, e)) < 0)
		return rc;
	return algo_accused_blame(&a->ways, window, out, e);
}

const struct algo_ops algo_netbouncer = {
    .name = "netbouncer",
    .paper = "NetBouncer (NSDI'19)",
    .doc = "bad switches, then loss of each link by regularised descent",
    .needs = OBS_TALLIES | OBS_TALLIES_RATED,
    .params = bounce_fields,
    .params_size = sizeof(struct algo_netbouncer_params),
    .work_size = sizeof(struct bounce),
    .init = bounce_init,
    .diagnose = bounce_diagnose,
    .free = bounce_free,
};
