/* algos/rivals/score_passive.c -- links by packets lost of packets delivered.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/rivals/score_passive.h"

#include <stdlib.h>
#include <string.h>

#include "algos/rivals/accused.h"
#include "algos/rivals/lossy.h"
#include "sim/vec.h"

struct passive {
	struct algo_score_passive_params params;
	const struct topo *topo;
	struct algo_ways ways;
	struct algo_lossy lossy;

	/* [n_links] packets of rows with a path. Those of other rows are apart,
	 * as they are no whole numbers: so sums do not depend on an order. */
	uint64_t *n_lost, *n_kept;
	double *shared; /* [n_links] */

	uint64_t *of_path, *of_set; /* delivered by rows of each */
	size_t cap_path, cap_set;
};

#define FIELD(m) offsetof(struct algo_score_passive_params, m)
static const struct sim_field passive_fields[] = {
    {"theta", SIM_F_F64, FIELD(theta), .min = 0, .max = 1e9, .unit = "1",
	.def = "0.001", .doc = "lost by delivered of an accused link"},
    {0},
};

static void passive_free(void *work)
{
	struct passive *a = work;
	algo_ways_free(&a->ways);
	algo_lossy_free(&a->lossy);
	free(a->n_lost);
	free(a->n_kept);
	free(a->shared);
	free(a->of_path);
	free(a->of_set);
}

static int passive_init(void *work, const struct topo *t, struct sim_err *e)
{
	struct passive *a = work;
	int rc;
	a->topo = t;
	if ((rc = SIM_ZALLOC(&a->n_lost, t->n_links, e)) < 0 ||
	    (rc = SIM_ZALLOC(&a->n_kept, t->n_links, e)) < 0)
		return rc;
	return SIM_ZALLOC(&a->shared, t->n_links, e);
}

/* Rows that lost nothing: those of hosts' cables at once, the rest by path and
 * by set. */
static void passive_rows(struct passive *a, const struct obs_tallies *t)
{
	for (size_t i = 0; i < t->n; i++) {
		if (t->is_probe[i] || t->n_lost[i] > 0)
			continue;
		if (t->up[i] != TOPO_NONE)
			a->n_kept[t->up[i]] += t->n_sent[i];
		if (t->down[i] != TOPO_NONE)
			a->n_kept[t->down[i]] += t->n_sent[i];
		if (t->path[i] == OBS_NO_PATH)
			a->of_set[t->set[i]] += t->n_sent[i];
		else
			a->of_path[t->path[i]] += t->n_sent[i];
	}
}

static void passive_paths(struct passive *a)
{
	const struct algo_ways *w = &a->ways;
	for (size_t i = 0; i < w->n; i++)
		for (uint32_t k = w->off[i];
		     a->of_path[i] > 0 && k < w->off[i + 1]; k++)
			a->n_kept[w->part[k]] += a->of_path[i];
	for (uint32_t s = 0; s < w->n_sets; s++)
		for (uint32_t k = w->set_off[s];
		     a->of_set[s] > 0 && k < w->set_off[s + 1]; k++)
			a->shared[w->set_part[k]] += (double)a->of_set[s] *
			    w->set_count[k] / obs_set_size(w->of, s);
}

/* Row K of the lossy ones counts, or no longer. */
static void passive_lossy(struct passive *a, size_t k, int back)
{
	const struct obs_tallies *t = a->lossy.rows;
	const uint64_t lost = t->n_lost[a->lossy.row[k]],
		       kept = t->n_sent[a->lossy.row[k]] - lost;
	uint32_t part[ALGO_LOSSY_PARTS];
	for (unsigned j = algo_lossy_parts(&a->lossy, k, part); j-- > 0;) {
		a->n_lost[part[j]] += back ? -lost : lost;
		a->n_kept[part[j]] += back ? -kept : kept;
	}
}

static int passive_read(struct passive *a, const struct obs_tallies *t,
    struct sim_err *e)
{
	const uint32_t n_links = a->topo->n_links;
	int rc;
	if ((rc = algo_ways_update(&a->ways, a->topo, t->paths, 0, 1, e)) < 0 ||
	    (rc = algo_lossy_read(&a->lossy, &a->ways, t, NULL, n_links, e)) <
		0 ||
	    (rc = SIM_RESERVE(&a->of_path, &a->cap_path, a->ways.n + 1, e)) <
		0 ||
	    (rc = SIM_RESERVE(&a->of_set, &a->cap_set, a->ways.n_sets + 1, e)) <
		0)
		return rc;
	memset(a->n_lost, 0, n_links * sizeof(*a->n_lost));
	memset(a->n_kept, 0, n_links * sizeof(*a->n_kept));
	memset(a->shared, 0, n_links * sizeof(*a->shared));
	memset(a->of_path, 0, a->ways.n * sizeof(*a->of_path));
	memset(a->of_set, 0, a->ways.n_sets * sizeof(*a->of_set));
	passive_rows(a, t);
	passive_paths(a);
	for (size_t k = 0; k < a->lossy.n; k++)
		passive_lossy(a, k, 0);
	return 0;
}

static double passive_score(const struct passive *a, topo_link l)
{
	const double kept = (double)a->n_kept[l] + a->shared[l];
	return (double)a->n_lost[l] / (kept > 0 ? kept : 1);
}

static void passive_explain(struct passive *a, topo_link l)
{
	struct algo_lossy *x = &a->lossy;
	for (uint32_t i = x->begin[l]; i < x->begin[l + 1]; i++)
		if (algo_lossy_take(x, x->over[i]))
			passive_lossy(a, x->over[i], 1);
}

/* Once accused a link has lost nothing any more. */
static int passive_accuse(struct passive *a, struct algo_verdicts *out,
    struct sim_err *e)
{
	const uint32_t n_links = a->topo->n_links;
	int rc = 0;
	while (rc == 0) {
		topo_link best = 0;
		double most = 0;
		for (topo_link l = 0; l < n_links; l++) {
			const double score = passive_score(a, l);
			if (score > most) {
				best = l;
				most = score;
			}
		}
		if (most == 0 || most < a->params.theta)
			break;
		rc = algo_verdicts_add(out, best, most, e);
		passive_explain(a, best);
	}
	out->n_flagged = out->n;
	for (topo_link l = 0; rc == 0 && l < n_links; l++)
		if (a->n_lost[l] > 0)
			rc = algo_verdicts_add(out, l, passive_score(a, l), e);
	return rc;
}

static int passive_diagnose(void *work, const struct obs *window,
    struct sim_rng *tie, struct algo_verdicts *out, struct sim_err *e)
{
	struct passive *a = work;
	int rc;
	(void)tie;
	algo_verdicts_clear(out);
	out->flags = 1;
	if ((rc = passive_read(a, window->tallies, e)) < 0 ||
	    (rc = passive_accuse(a, out, e)) < 0)
		return rc;
	return algo_accused_blame(&a->ways, window, out, e);
}

const struct algo_ops algo_score_passive = {
    .name = "score_passive",
    .paper = "Score as in Flock (CoNEXT'23)",
    .doc = "links by packets lost of packets delivered, one at a time",
    .needs = OBS_TALLIES | OBS_TALLIES_TRACED | OBS_TALLIES_WHOLE,
    .params = passive_fields,
    .params_size = sizeof(struct algo_score_passive_params),
    .work_size = sizeof(struct passive),
    .init = passive_init,
    .diagnose = passive_diagnose,
    .free = passive_free,
};
