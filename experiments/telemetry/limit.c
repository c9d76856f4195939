/* experiments/telemetry/limit.c -- how well links could be told at all.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/telemetry/limit.h"
#include "sim/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"

/* Points of a law, each standing for as much of it. A window tells a rate that
 * lost a hundred packets to a tenth, and laws span a decade or so. */
enum { LIMIT_NOISE = 16, LIMIT_FAULT = 64 };

const struct sim_field xp_limit_fields[] = {
    {"on", SIM_F_BOOL, offsetof(struct xp_limit_params, on), .def = "false",
	.doc = "measure how well links could be told by who knows all other "
	       "rates, how many failed, and all laws"},
    {0},
};

void xp_limit_free(struct xp_limit *w)
{
	free(w->x);
	free(w->ell);
	free(w->part);
	free(w->kept);
	free(w->share);
	free(w->chance);
	free(w->order);
	*w = (struct xp_limit){0};
}

/* --- likelihoods ---------------------------------------------------------- */

/* One row while it is read. */
struct limit_row {
	double s, r;
	uint32_t first, end; /* its paths */
	double ends;         /* hazards of hosts' cables together */
};

static double limit_path(const struct obs_paths *p, uint32_t path,
    const double hazard[])
{
	double sum = 0;
	for (uint32_t k = p->off[path]; k < p->off[path + 1]; k++)
		sum += hazard[p->link[k]];
	return sum;
}

/* A row that lost something, of a known path: a link on it at X. */
static void limit_lossy(struct xp_limit *w, topo_link l, double rest, double r)
{
	double *ell = w->ell + (size_t)l * w->n_x;
	for (size_t i = 0; i < w->n_x; i++)
		ell[i] += r * log(-expm1(-(rest + w->x[i])));
}

static void limit_known(struct xp_limit *w, const struct obs_tallies *t,
    const double hazard[], size_t i, const struct limit_row *row)
{
	const struct obs_paths *p = t->paths;
	const topo_link ends[] = {t->up[i], t->down[i]};
	double sum = row->ends + limit_path(p, row->first, hazard);
	for (unsigned k = 0; k < 2; k++)
		if (ends[k] != TOPO_NONE) {
			w->kept[ends[k]] += row->s - row->r;
			if (row->r > 0)
				limit_lossy(w, ends[k],
				    fmax(0, sum - hazard[ends[k]]), row->r);
		}
	for (uint32_t k = p->off[row->first]; k < p->off[row->end]; k++) {
		const topo_link l = p->link[k];
		w->kept[l] += row->s - row->r;
		if (row->r > 0)
			limit_lossy(w, l, fmax(0, sum - hazard[l]), row->r);
	}
}

static double limit_ln(const struct limit_row *row, double sum)
{
	return (row->r > 0 ? row->r * log(-expm1(-fmax(sum, 1e-300))) : 0) -
	    (row->s - row->r) * sum;
}

/* Products of factors are kept as such, and become logarithms before they are
 * nothing, or more than a number holds: neither they nor one factor more may go
 * beyond MOST either way. */
static int limit_is_far(double product, double most)
{
	return product < 1 / most || product > most;
}

static void limit_times(struct xp_limit *w, topo_link l, size_t i, double by)
{
	double *part = &w->part[(size_t)l * w->n_x + i];
	*part *= by;
	if (limit_is_far(*part, 1e200)) {
		w->ell[(size_t)l * w->n_x + i] += log(*part);
		*part = 1;
	}
}

/* A link with another hazard than it has; IS_END: it is on all paths. */
struct limit_other {
	topo_link l;
	int is_end;
	double more;
};

/* ln of the likelihood of a row by path K. */
static double limit_by_path(const struct obs_paths *p, const double hazard[],
    const struct limit_row *row, uint32_t k, const struct limit_other *o)
{
	const double way = row->ends + limit_path(p, k, hazard);
	int is_on = o->is_end;
	for (uint32_t h = p->off[k]; h < p->off[k + 1]; h++)
		is_on |= p->link[h] == o->l;
	return limit_ln(row, is_on ? way + o->more : way);
}

/* The same by logarithms, at hazard I, where its factor is much too small or too
 * large: a row of very many packets may be so alone. */
static void limit_by_ln(struct xp_limit *w, const struct obs_paths *p,
    const double hazard[], const struct limit_row *row,
    const struct limit_other *o, double ln_all, size_t i)
{
	double most = -INFINITY, sum = 0;
	uint32_t path = row->first; /* there is one */
	for (uint32_t k = row->first; k < row->end; k++)
		most = fmax(most, limit_by_path(p, hazard, row, k, o));
	do {
		sum += exp(limit_by_path(p, hazard, row, path, o) - most);
	} while (++path < row->end);
	w->ell[(size_t)o->l * w->n_x + i] += most - ln_all + log(sum);
}

/* The mean likelihood over the paths of a row that lost something, with link L at
 * each hazard, over what it is. */
static void limit_lossy_set(struct xp_limit *w, const struct obs_paths *p,
    const double hazard[], const struct limit_row *row, topo_link l, int is_end,
    double ln_all)
{
	for (size_t i = 0; i < w->n_x; i++) {
		const struct limit_other o = {l, is_end, w->x[i] - hazard[l]};
		double sum = 0;
		for (uint32_t k = row->first; k < row->end; k++)
			sum +=
			    exp(limit_by_path(p, hazard, row, k, &o) - ln_all);
		if (limit_is_far(sum, 1e100))
			limit_by_ln(w, p, hazard, row, &o, ln_all, i);
		else
			limit_times(w, l, i, sum);
	}
}

/* One that lost nothing: of all of its likelihood, the share ON of paths over L
 * changes as exp(-s more). A share that is very small, or that of the others, is
 * not known as well. */
static void limit_good_set(struct xp_limit *w, const struct obs_paths *p,
    const double hazard[], const struct limit_row *row, topo_link l, double on,
    double ln_all)
{
	const double ln_on = log(on);
	for (size_t i = 0; i < w->n_x; i++) {
		const struct limit_other o = {l, 0, w->x[i] - hazard[l]};
		const double by =
		    fmax(0, 1 - on) + exp(ln_on - row->s * o.more);
		if (on < 1e-250 || by < 1e-8 || by > 1e100)
			limit_by_ln(w, p, hazard, row, &o, ln_all, i);
		else
			limit_times(w, l, i, by);
	}
}

/* The links of a set, each once, with the share of the row's likelihood that is
 * of paths over it; returns how many. */
static size_t limit_links(struct xp_limit *w, const struct obs_paths *p,
    const double hazard[], const struct limit_row *row, double *ln_all)
{
	double most = -INFINITY, all = 0;
	size_t n = 0;
	for (uint32_t k = row->first; k < row->end; k++)
		most = fmax(most,
		    limit_ln(row, row->ends + limit_path(p, k, hazard)));
	for (uint32_t k = row->first; k < row->end; k++) {
		/* Not 0, by which links that were not met yet are told. */
		const double f = fmax(1e-300,
		    exp(limit_ln(row, row->ends + limit_path(p, k, hazard)) -
			most));
		all += f;
		for (uint32_t h = p->off[k]; h < p->off[k + 1]; h++) {
			const topo_link l = p->link[h];
			if (w->share[l] == 0)
				w->order[n++] = l;
			w->share[l] += f;
		}
	}
	for (size_t i = 0; i < n; i++)
		w->share[w->order[i]] /= all;
	*ln_all = most + log(all);
	return n;
}

static void limit_set(struct xp_limit *w, const struct obs_tallies *t,
    const double hazard[], size_t i, const struct limit_row *row)
{
	const topo_link ends[] = {t->up[i], t->down[i]};
	double ln_all;
	const size_t n = limit_links(w, t->paths, hazard, row, &ln_all);
	for (size_t k = 0; k < n; k++) {
		const topo_link l = w->order[k];
		if (row->r > 0)
			limit_lossy_set(w, t->paths, hazard, row, l, 0, ln_all);
		else
			limit_good_set(w, t->paths, hazard, row, l, w->share[l],
			    ln_all);
		w->share[l] = 0;
	}
	for (unsigned k = 0; k < 2; k++)
		if (ends[k] != TOPO_NONE && row->r > 0)
			limit_lossy_set(w, t->paths, hazard, row, ends[k], 1,
			    ln_all);
		else if (ends[k] != TOPO_NONE)
			w->kept[ends[k]] += row->s;
}

static int limit_room(struct xp_limit *w, uint32_t n_links, struct sim_err *e)
{
	const size_t n = (size_t)n_links * w->n_x;
	int rc;
	if ((rc = SIM_RESERVE(&w->ell, &w->cap_ell, n, e)) < 0 ||
	    (rc = SIM_RESERVE(&w->part, &w->cap_part, n, e)) < 0 ||
	    (rc = SIM_RESERVE(&w->kept, &w->cap_kept, n_links, e)) < 0 ||
	    (rc = SIM_RESERVE(&w->share, &w->cap_share, n_links, e)) < 0 ||
	    (rc = SIM_RESERVE(&w->order, &w->cap_order, n_links, e)) < 0)
		return rc;
	for (size_t i = 0; i < n; i++) {
		w->ell[i] = 0;
		w->part[i] = 1;
	}
	memset(w->kept, 0, n_links * sizeof(*w->kept));
	memset(w->share, 0, n_links * sizeof(*w->share));
	return 0;
}

int xp_limit_curves(struct xp_limit *w, const struct obs_tallies *rows,
    const double hazard[], uint32_t n_links, struct sim_err *e)
{
	const struct obs_tallies *t = rows;
	const int rc = limit_room(w, n_links, e);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < t->n; i++) {
		const int known = t->path[i] != OBS_NO_PATH;
		struct limit_row row = {.s = t->n_sent[i],
		    .r = t->n_lost[i],
		    .first = known ? t->path[i] : t->paths->first[t->set[i]]};
		row.end =
		    known ? row.first + 1 : t->paths->first[t->set[i] + 1];
		row.ends = (t->up[i] != TOPO_NONE ? hazard[t->up[i]] : 0) +
		    (t->down[i] != TOPO_NONE ? hazard[t->down[i]] : 0);
		if (row.end == row.first + 1)
			limit_known(w, t, hazard, i, &row);
		else
			limit_set(w, t, hazard, i, &row);
	}
	for (topo_link l = 0; l < n_links; l++)
		for (size_t i = 0; i < w->n_x; i++)
			w->ell[(size_t)l * w->n_x + i] +=
			    log(w->part[(size_t)l * w->n_x + i]) -
			    w->kept[l] * w->x[i];
	return 0;
}

/* --- chances -------------------------------------------------------------- */

/* Rate at place U of a law, from 0 to 1. */
static double limit_rate(const struct sim_dist *d, double u)
{
	return d->kind == SIM_LOG_UNIFORM ? d->a * pow(d->b / d->a, u)
					  : d->a + u * (d->b - d->a);
}

static void limit_law(struct xp_limit *w, const struct sim_dist *d,
    double scale, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const double rate =
		    scale * limit_rate(d, ((double)i + 0.5) / (double)n);
		/* A link that loses nothing has lost nothing: no logarithm of
		 * 0 is to come of it. */
		w->x[w->n_x++] = -log1p(-fmin(fmax(rate, 1e-12), 1 - 1e-12));
	}
}

/* May a link of that group be this one? Between switches all classes are alike
 * here. */
static int limit_may(const struct topo *t, const struct fault_params *g,
    topo_link l)
{
	const enum topo_link_class class = topo_class_of(t, l);
	const uint32_t hosts =
	    UINT32_C(1) << TOPO_HOST_TOR | UINT32_C(1) << TOPO_TOR_HOST;
	return class == TOPO_HOST_TOR || class == TOPO_TOR_HOST
	    ? (g->classes >> class & 1)
	    : (g->classes & ~hosts) != 0;
}

/* ln of the mean of exp(V[]). */
static double limit_ln_mean(const double v[], size_t n)
{
	double most = -INFINITY, sum = 0;
	for (size_t i = 0; i < n; i++)
		most = fmax(most, v[i]);
	for (size_t i = 0; i < n; i++)
		sum += exp(v[i] - most);
	return most + log(sum / (double)n);
}

/* Chances, given that K links failed. Groups count by how many links they
 * have. */
static void limit_chances(struct xp_limit *w, const struct scene *scene,
    const struct scene_params *params, double k)
{
	const struct topo *t = scene->topo;
	double n = 0;
	for (topo_link l = 0; l < t->n_links; l++) {
		double all = 0, failed = 0;
		const double *ell = w->ell + (size_t)l * w->n_x;
		const double healthy = limit_ln_mean(ell, LIMIT_NOISE);
		for (size_t g = 0; g < params->n_groups; g++)
			all += params->group[g].count;
		for (size_t g = 0; g < params->n_groups; g++)
			if (limit_may(t, &params->group[g], l))
				failed += params->group[g].count / all *
				    exp(fmin(700,
					limit_ln_mean(ell + LIMIT_NOISE +
						g * LIMIT_FAULT,
					    LIMIT_FAULT) -
					    healthy));
		w->chance[l] = failed;
		n += failed > 0;
	}
	const double odds = n > k ? k / (n - k) : INFINITY;
	for (topo_link l = 0; l < t->n_links; l++)
		if (w->chance[l] > 0)
			w->chance[l] = 1 / (1 + 1 / (odds * w->chance[l]));
}

/* --- F -------------------------------------------------------------------- */

static int limit_by_chance(const void *a, const void *b, void *arg)
{
	const double *chance = arg;
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	if (chance[x] != chance[y])
		return SIM_ORDER(chance[y], chance[x]);
	return (x > y) - (x < y);
}

static double limit_f(struct xp_limit *w, const struct truth *truth,
    uint32_t n_links, double k)
{
	double sum = 0, most = 0, n_true = 0;
	size_t n = 0;
	for (topo_link l = 0; l < n_links; l++)
		w->order[l] = l;
	qsort_r(w->order, n_links, sizeof(*w->order), limit_by_chance,
	    w->chance);
	for (size_t i = 0; i < n_links; i++) {
		sum += w->chance[w->order[i]];
		const double f = 2 * sum / ((double)(i + 1) + k);
		if (f > most) {
			most = f;
			n = i + 1;
		}
	}
	for (size_t i = 0; i < n; i++)
		n_true += truth_is_faulty(truth, w->order[i]);
	/* 2 P R / (P + R) of P = n_true / n and R = n_true / k. */
	return 2 * n_true / ((double)n + k);
}

/* Is what the window says of links all in its rows, and are these of laws that
 * are known here? */
static int limit_knows(const struct telemetry *t, const struct scene *scene)
{
	const unsigned kinds = t->rows.telemetry;
	return scene->truth.n_switches == 0 && !t->links.some_move &&
	    !t->file && scene->latency.report_us == 0 &&
	    !scene->loss.noise.topo &&
	    (!(kinds & OBS_TELE_A2) || kinds & (OBS_TELE_INT | OBS_TELE_P));
}

int xp_limit_fill(struct xp_limit *w, const struct telemetry *t,
    const struct scene *scene, const struct scene_params *params,
    struct res_trial_metrics *m, struct sim_err *e)
{
	const uint32_t n_links = scene->topo->n_links;
	const double k = (double)truth_n_faulty(&scene->truth);
	const size_t n_x = LIMIT_NOISE + (size_t)LIMIT_FAULT * params->n_groups;
	int rc;
	m->limit_f = NAN;
	if (k == 0 || !limit_knows(t, scene))
		return 0;
	if ((rc = SIM_RESERVE(&w->x, &w->cap_x, n_x, e)) < 0 ||
	    (rc = SIM_RESERVE(&w->chance, &w->cap_chance, n_links, e)) < 0)
		return rc;
	w->n_x = 0;
	limit_law(w, &params->noise.rate, params->noise.scale, LIMIT_NOISE);
	for (size_t g = 0; g < params->n_groups; g++)
		limit_law(w, &params->group[g].rate, 1, LIMIT_FAULT);
	if ((rc = xp_limit_curves(w, &t->rows, t->links.hazard, n_links, e)) <
	    0)
		return rc;
	limit_chances(w, scene, params, k);
	m->limit_f = limit_f(w, &scene->truth, n_links, k);
	return 0;
}
