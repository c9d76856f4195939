/* experiments/pingmesh/bulk/rows.c -- rows of a whole run of Pingmesh in bulk.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdlib.h>

#include "experiments/pingmesh/along.h"
#include "experiments/pingmesh/bulk/impl.h"
#include "sim/stat.h"
#include "sim/vec.h"

/* The hops of a group's probes; none of INTER_DC. */
static void hops_of_group(enum algo_drop_group g, int *first, int *last)
{
	*first = g == ALGO_DROP_ALL ? 0 : (int)g - ALGO_DROP_INTRA_TOR;
	*last = g == ALGO_DROP_ALL ? CONNECTS_N_HOPS - 1 : *first;
	if (g == ALGO_DROP_INTER_DC)
		*last = *first - 1;
}

static struct xp_mesh_sums_cell mesh_group(const struct xp_bulk_mesh *m,
    enum algo_drop_group g, double *loss)
{
	struct xp_mesh_sums_cell sum = {.n_late = 0};
	int first, last;
	hops_of_group(g, &first, &last);
	for (int h = first; h <= last; h++)
		xp_mesh_sums_add(&sum, &m->all.group[h]);
	*loss = xp_mean_loss_of(&m->loss, &m->loss_all, first, last);
	return sum;
}

static void fill_group(const struct xp_bulk_mesh *m, enum algo_drop_group g,
    struct res_trial_metrics *r)
{
	double loss;
	const struct xp_mesh_sums_cell sum = mesh_group(m, g, &loss);
	xp_bulk_mesh_fill(&sum, loss, r);
	xp_bulk_mesh_fill_live(m, m->n_windows - 1, r);
}

static int mesh_late_of_group(const struct xp_bulk_mesh *m,
    enum algo_drop_group g, double **out, size_t *n, struct sim_err *e)
{
	const struct xp_mesh_sums *s = &m->sums;
	int first, last;
	int rc = SIM_ZALLOC(out, s->n_late, e);
	hops_of_group(g, &first, &last);
	*n = 0;
	for (size_t i = 0; rc == 0 && i < s->n_late; i++) {
		const int h = (int)connects_hops_of(&s->clos, s->late[i].src,
		    s->late[i].dst);
		if (h >= first && h <= last)
			(*out)[(*n)++] =
			    (double)xp_mesh_sums_rtt_ns(&s->late[i]) / 1e3;
	}
	if (rc == 0)
		*n = sim_sort_finite(*out, *n);
	return rc;
}

/* Nearest rank, as in run.c; with few probes ranks may be equal. */
static int mesh_quantiles(struct xp_bulk_mesh *m, struct sim_err *e)
{
	const enum algo_drop_group g = m->params->group;
	uint64_t rank[CONNECTS_RANKS];
	double us[CONNECTS_RANKS], loss, *late;
	const struct xp_mesh_sums_cell sum = mesh_group(m, g, &loss);
	const uint64_t n = xp_mesh_sums_n_success(&sum);
	size_t n_late;
	int rc = mesh_late_of_group(m, g, &late, &n_late, e);
	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < m->params->n_tails; i++)
		rank[i] = n -
		    (uint64_t)floor(
			xp_pingmesh_tail(i) * (double)n * (1 + 1e-12));
	if (n > 0)
		xp_mesh_sums_times(&m->sums, &sum, late, rank,
		    m->params->n_tails, &m->rng, us);
	for (uint32_t i = 0; i < m->params->n_tails; i++) {
		fill_group(m, g, &m->row[i]);
		if (n > 0)
			m->row[i].rtt_us = us[i];
	}
	free(late);
	return 0;
}

static void mesh_whole_repair(const struct xp_bulk_mesh *m,
    struct res_trial_metrics *r)
{
	const struct truth *truth = &m->scene->truth;
	const sim_ns end = m->n_windows * m->window_ns;
	if (!xp_bulk_mesh_tells(m))
		return;
	xp_repaired_fill(&m->repaired, m->params->repair.on, r);
	r->n_black_tors = xp_n_black(truth, &m->dsa->dc, 0, end);
	r->n_candidates = xp_repair_n_named(&m->shop, 0);
	r->n_candidates_true = xp_repair_n_named_true(&m->shop, 0, truth, end);
}

static int mesh_whole(struct xp_bulk_mesh *m, struct res_trial_metrics *r,
    struct sim_err *e)
{
	xp_bulk_mesh_fill(&m->all.scope,
	    xp_mean_loss_of(&m->loss, &m->loss_scope, 0, 2), r);
	xp_bulk_mesh_fill_live(m, m->n_windows - 1, r);
	mesh_whole_repair(m, r);
	return xp_bulk_mesh_judge(m, m->n_windows - 1, r, e);
}

int xp_bulk_mesh_fill_rows(struct xp_bulk_mesh *m, struct sim_err *e)
{
	const size_t n = xp_bulk_mesh_rows(m);
	struct res_trial_metrics whole = m->row[0];
	int rc = 0;
	switch ((enum xp_along)m->params->along) {
	case XP_ALONG_NONE:
		return mesh_whole(m, &m->row[0], e);
	case XP_ALONG_QUANTILE:
		return mesh_quantiles(m, e);
	case XP_ALONG_GROUP:
		for (int g = 0; g < ALGO_DROP_N_GROUPS; g++)
			fill_group(m, (enum algo_drop_group)g, &m->row[g]);
		return 0;
	case XP_ALONG_PAIR:
		rc = mesh_whole(m, &whole, e);
		for (size_t i = 0; rc == 0 && i < n; i++) {
			m->row[i] = whole;
			m->row[i].p99_us = m->dsa->heatmap.p99_us[i];
		}
		return rc;
	default:
		return 0;
	}
}

/* What probes cost: 1, 3 or 5 switches on their way. */
void xp_bulk_mesh_cost(const struct xp_bulk_mesh *m,
    struct res_trial_metrics *r)
{
	const struct xp_cost_params *cost = &m->params->cost;
	double n = 0, crossed = 0;
	for (int h = 0; h < CONNECTS_N_HOPS; h++) {
		const struct xp_mesh_sums_cell *c = &m->all.group[h];
		const double k =
		    (double)(xp_mesh_sums_n_success(c) + c->n_failed);
		n += k;
		crossed += k * (1 + 2 * h);
	}
	const struct xp_cost_counts c = {.seconds = m->params->duration_s,
	    .n_hosts = m->topo->n_hosts,
	    .n_switches = m->topo->n_switches,
	    .n_connects = n,
	    .n_reported = n,
	    .switch_bytes =
		crossed * cost->connect_packets * cost->packet_bytes};
	xp_cost_fill(cost, &c, r);
}
