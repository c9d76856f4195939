/* algos/rivals/detector.c -- deTector: links by hit ratio, greedily.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/rivals/detector.h"

#include <stdlib.h>
#include <string.h>

#include "algos/rivals/accused.h"
#include "algos/rivals/lossy.h"
#include "algos/rivals/probe_matrix.h"
#include "sim/vec.h"

struct detector {
	struct algo_detector_params params;
	const struct topo *topo;
	struct algo_ways ways;
	struct algo_probe_matrix matrix;
	struct algo_lossy lossy;
	uint8_t *take; /* [rows] */
	size_t cap_take;

	/* [links] rows across it, of which lossy, and packets lost by those
	 * that nothing explains yet. */
	uint32_t *n_rows, *n_lossy;
	uint64_t *n_lost;
};

static const char *const detector_matrices[] = {"all", "chosen", NULL};

#define FIELD(m) offsetof(struct algo_detector_params, m)
static const struct sim_field detector_fields[] = {
    {"matrix", SIM_F_ENUM, FIELD(matrix), .names = detector_matrices,
	.unit = "1", .def = "all",
	.doc = "rows that count, or those that a probe matrix needs"},
    {"cover", SIM_F_U32, FIELD(cover), .min = 1, .max = 1000, .unit = "rows",
	.def = "3", .when = "matrix=chosen",
	.doc = "that cross each link, if there are so many"},
    {"noise", SIM_F_F64, FIELD(noise), .min = 0, .max = 1, .unit = "1",
	.def = "0.001", .doc = "a lossy row lost more than this share"},
    {"hit", SIM_F_F64, FIELD(hit), .min = 0, .max = 1, .unit = "1",
	.def = "0.6",
	.doc = "a link is accused above this share of lossy rows"},
    {0},
};

static void detector_free(void *work)
{
	struct detector *a = work;
	algo_ways_free(&a->ways);
	algo_probe_matrix_free(&a->matrix);
	algo_lossy_free(&a->lossy);
	free(a->take);
	free(a->n_rows);
	free(a->n_lossy);
	free(a->n_lost);
}

static int detector_init(void *work, const struct topo *t, struct sim_err *e)
{
	struct detector *a = work;
	int rc;
	a->topo = t;
	if ((rc = SIM_ZALLOC(&a->n_rows, t->n_links, e)) < 0 ||
	    (rc = SIM_ZALLOC(&a->n_lossy, t->n_links, e)) < 0)
		return rc;
	return SIM_ZALLOC(&a->n_lost, t->n_links, e);
}

/* --- reading -------------------------------------------------------------- */

static void detector_count(struct detector *a, const struct obs_tallies *t,
    size_t i)
{
	const struct algo_ways *w = &a->ways;
	if (t->up[i] != TOPO_NONE)
		a->n_rows[t->up[i]]++;
	if (t->down[i] != TOPO_NONE)
		a->n_rows[t->down[i]]++;
	for (uint32_t k = w->off[t->path[i]]; k < w->off[t->path[i] + 1]; k++)
		a->n_rows[w->part[k]]++;
}

static int detector_rows(struct detector *a, const struct obs_tallies *t,
    struct sim_err *e)
{
	int rc = SIM_RESERVE(&a->take, &a->cap_take, t->n + 1, e);
	for (size_t i = 0; rc == 0 && i < t->n; i++)
		a->take[i] = t->is_probe[i] && t->path[i] != OBS_NO_PATH;
	if (rc == 0 && a->params.matrix == ALGO_DETECTOR_CHOSEN)
		rc = algo_probe_matrix_choose(&a->matrix, &a->ways, t,
		    a->topo->n_links, a->params.cover, a->take, e);
	memset(a->n_rows, 0, a->topo->n_links * sizeof(*a->n_rows));
	for (size_t i = 0; rc == 0 && i < t->n; i++) {
		if (!a->take[i])
			continue;
		detector_count(a, t, i);
		/* The rest is of lossy rows alone. */
		a->take[i] = t->n_lost[i] > a->params.noise * t->n_sent[i];
	}
	return rc;
}

static void detector_lossy(struct detector *a)
{
	const uint32_t n_links = a->topo->n_links;
	const struct algo_lossy *x = &a->lossy;
	for (topo_link l = 0; l < n_links; l++) {
		a->n_lossy[l] = x->begin[l + 1] - x->begin[l];
		a->n_lost[l] = 0;
		for (uint32_t i = x->begin[l]; i < x->begin[l + 1]; i++)
			a->n_lost[l] += x->rows->n_lost[x->row[x->over[i]]];
	}
}

/* --- accusing ------------------------------------------------------------- */

static double detector_hit(const struct detector *a, topo_link l)
{
	return a->n_rows[l] ? (double)a->n_lossy[l] / a->n_rows[l] : 0;
}

/* The candidate that explains most, or TOPO_NONE. */
static topo_link detector_best(const struct detector *a)
{
	topo_link best = TOPO_NONE;
	for (topo_link l = 0; l < a->topo->n_links; l++) {
		const double hit = detector_hit(a, l);
		if (a->n_lost[l] == 0 || hit <= a->params.hit)
			continue;
		if (best == TOPO_NONE || a->n_lost[l] > a->n_lost[best] ||
		    (a->n_lost[l] == a->n_lost[best] &&
			hit > detector_hit(a, best)))
			best = l;
	}
	return best;
}

static void detector_explain(struct detector *a, topo_link l)
{
	struct algo_lossy *x = &a->lossy;
	uint32_t part[ALGO_LOSSY_PARTS];
	for (uint32_t i = x->begin[l]; i < x->begin[l + 1]; i++) {
		const uint32_t k = x->over[i];
		if (!algo_lossy_take(x, k))
			continue;
		for (unsigned j = algo_lossy_parts(x, k, part); j-- > 0;)
			a->n_lost[part[j]] -= x->rows->n_lost[x->row[k]];
	}
}

static int detector_accuse(struct detector *a, struct algo_verdicts *out,
    struct sim_err *e)
{
	topo_link l;
	int rc = 0;
	while (rc == 0 && (l = detector_best(a)) != TOPO_NONE) {
		rc = algo_verdicts_add(out, l, (double)a->n_lost[l], e);
		detector_explain(a, l);
	}
	out->n_flagged = out->n;
	for (l = 0; rc == 0 && l < a->topo->n_links; l++)
		if (a->n_lost[l] > 0)
			rc = algo_verdicts_add(out, l, (double)a->n_lost[l], e);
	return rc;
}

static int detector_diagnose(void *work, const struct obs *window,
    struct sim_rng *tie, struct algo_verdicts *out, struct sim_err *e)
{
	struct detector *a = work;
	const struct obs_tallies *t = window->tallies;
	int rc;
	(void)tie;
	algo_verdicts_clear(out);
	out->flags = 1;
	if ((rc = algo_ways_update(&a->ways, a->topo, t->paths, 0, 0, e)) < 0 ||
	    (rc = detector_rows(a, t, e)) < 0 ||
	    (rc = algo_lossy_read(&a->lossy, &a->ways, t, a->take,
		 a->topo->n_links, e)) < 0)
		return rc;
	detector_lossy(a);
	if ((rc = detector_accuse(a, out, e)) < 0)
		return rc;
	return algo_accused_blame(&a->ways, window, out, e);
}

const struct algo_ops algo_detector = {
    .name = "detector",
    .paper = "deTector (ATC'17)",
    .doc = "links most of whose probes lost something, greedily",
    .needs = OBS_TALLIES | OBS_TALLIES_PROBED,
    .params = detector_fields,
    .params_size = sizeof(struct algo_detector_params),
    .work_size = sizeof(struct detector),
    .init = detector_init,
    .diagnose = detector_diagnose,
    .free = detector_free,
};
