/* algos/sieve/sieve.c -- Sieve: its answer, and flows' blame.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/sieve/sieve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algos/sieve/sieve_chances.h"
#include "algos/sieve/sieve_spread.h"
#include "sim/sort.h"

/* Of 100 components one or two are expected to have failed if any did, before
 * anything is seen: it takes this much for chances to be right where networks are
 * small, and large ones do not feel it. */
static const double SIEVE_RARE = 39;

struct sieve {
	struct algo_sieve_params params;
	struct sieve_search search;
};

#define FIELD(m) offsetof(struct algo_sieve_params, m)
static const struct sim_field sieve_fields[] = {
    {"thin", SIM_F_F64, FIELD(thin), .min = 0.01, .max = 1e6, .unit = "1",
	.def = "1", .doc = "how much rarer a failure more is"},
    {"any", SIM_F_F64, FIELD(any), .min = 1e-9, .max = 1, .unit = "1",
	.def = "0.5",
	.doc = "chance, before a window is seen, that anything failed in it"},
    {0},
};

static int sieve_init(void *work, const struct topo *t, struct sim_err *e)
{
	struct sieve *a = work;
	(void)e;
	a->search.model.topo = t;
	return 0;
}

static void sieve_free(void *work)
{
	struct sieve *a = work;
	sieve_search_free(&a->search);
}

/* --- the answer ----------------------------------------------------------- */

static int sieve_by_chance(const void *a, const void *b)
{
	const struct sieve_candidate *x = a, *y = b;
	if (x->chance != y->chance)
		return SIM_ORDER(y->chance, x->chance);
	return SIM_ORDER(x->link, y->link);
}

/* Of N candidates, the likeliest first, how many to accuse, NONE being the chance
 * that there is nobody, and UNLISTED how many more than they are expected to have
 * failed: as many as make the expected F-measure greatest, to first order; nobody
 * if it is likelier that nothing failed, when that is right. */
static size_t sieve_answer(const struct sieve_candidate list[], size_t n,
    double none, double unlisted)
{
	double all = unlisted, sum = 0, most = none;
	size_t best = 0;
	for (size_t i = 0; i < n; i++)
		all += list[i].chance;
	for (size_t i = 0; i < n; i++) {
		sum += list[i].chance;
		const double f = 2 * sum / ((double)(i + 1) + all);
		if (f > most) {
			most = f;
			best = i + 1;
		}
	}
	return best;
}

/* How each behaves that is said to do something: bursts, where a link is full and
 * did not fail; what failed; and what swallows flows or fails for a while. */
static int sieve_tell(const struct sieve_search *s, struct algo_verdicts *out,
    struct sim_err *e)
{
	const struct topo *t = s->model.topo;
	int rc = 0;
	for (topo_link l = 0; rc == 0 && l < t->n_links; l++)
		if (s->failed[l] || (s->bursts.on && s->bursts.is_full[l]))
			rc = algo_verdicts_say(out, l,
			    s->failed[l] ? ALGO_WAY_LOSES : ALGO_WAY_BURSTS, e);
	for (topo_switch k = 0; rc == 0 && k < t->n_switches; k++)
		if (s->devices.at[k].accused)
			rc = algo_verdicts_say(out, t->n_links + k,
			    ALGO_WAY_LOSES, e);
	for (size_t i = 0; rc == 0 && s->holes.on && i < s->holes.n; i++)
		if (s->holes.hole[i].taken)
			rc = algo_verdicts_say(out, s->holes.hole[i].part,
			    s->holes.hole[i].fit.law == SIEVE_SPELL
				? ALGO_WAY_LAPSES
				: ALGO_WAY_SWALLOWS,
			    e);
	return rc;
}

static int sieve_write(struct sieve *a, struct algo_verdicts *out,
    struct sim_err *e)
{
	struct sieve_search *s = &a->search;
	int rc = 0;
	qsort(s->list, s->n, sizeof(*s->list), sieve_by_chance);
	for (size_t i = 0; rc == 0 && i < s->n; i++)
		rc = algo_verdicts_add(out, s->list[i].link, s->list[i].chance,
		    e);
	/* Where paths are not known some that explain the same may be likely
	 * together and none alone: there nobody is who was not accepted. */
	out->n_flagged = s->n_failed > 0 || s->holes.n_taken > 0 ||
		!sieve_model_has_maybe(&s->model)
	    ? sieve_answer(s->list, s->n, s->none, s->unlisted)
	    : 0;
	return rc == 0 ? sieve_tell(s, out, e) : rc;
}

/* --- blame ---------------------------------------------------------------- */

/* Expected losses of a link, by packets on it: of what a row lost a link has the
 * share that its hazard has. Of healthy links that is the Gamma law's mean,
 * given so many, or given none where it is not known what crossed them. */
static double sieve_expects(const struct sieve_search *s, topo_link l)
{
	const struct sieve_model *m = &s->model;
	double lost = 2;
	if (s->failed[l])
		return m->hazard[l];
	if (sieve_model_is_maybe(m, l))
		return s->prior.mean;
	for (uint32_t k = m->off[l]; k < m->off[l + 1]; k++)
		lost += m->lossy[m->over[k]].n_lost * m->hazard[l] /
		    m->sum[m->over[k]];
	return lost / (2 / s->prior.mean + m->passed[l]);
}

/* A failed link, or the accused switch that it is of: a way crosses two links of
 * a switch, and losses do not tell them apart as they do switches. */
static uint32_t sieve_culprit(const struct sieve_search *s, topo_link l)
{
	const topo_switch at = sieve_devices_of(&s->devices, l, TOPO_NONE);
	return at == TOPO_NONE ? l : s->model.topo->n_links + at;
}

/* The link of a row's way that is expected to lose most, of those that it may
 * have crossed by their shares. */
static topo_link sieve_most(const struct sieve_search *s, uint32_t lossy)
{
	const struct sieve_model *m = &s->model;
	const struct sieve_lossy *row = &m->lossy[lossy];
	const struct algo_ways *w = &m->sets.ways;
	topo_link most = TOPO_NONE;
	double best = -1;
	for (uint32_t k = row[0].first; k < row[1].first; k++)
		if (s->least[m->hop[k]] > best) {
			most = m->hop[k];
			best = s->least[most];
		}
	if (row->set == OBS_NO_PATH)
		return most;
	const double n = obs_set_size(w->of, row->set);
	for (uint32_t k = w->set_off[row->set]; k < w->set_off[row->set + 1];
	     k++) {
		const double x = s->least[w->set_part[k]] * w->set_count[k] / n;
		if (x > best) {
			most = w->set_part[k];
			best = x;
		}
	}
	return most;
}

static int sieve_accuses(const struct algo_verdicts *v, uint32_t part)
{
	size_t i = 0;
	while (i < v->n_flagged && v->link[i] != part)
		i++;
	return i < v->n_flagged;
}

/* A flow is blamed on the hole that took it, or the link of its way that is expected
 * to lose most, if that is accused; else it is noise. What is accused is marked where
 * it was said which findings are stale, which nobody asks any more. */
static int sieve_blame(struct sieve *a, const struct obs *window,
    struct algo_verdicts *out, struct sim_err *e)
{
	struct sieve_search *s = &a->search;
	const struct sieve_model *m = &s->model;
	const int rc = algo_verdicts_reserve_flows(out, window->flows.n, e);
	if (rc < 0)
		return rc;
	double *expects = s->least;
	memset(s->stale, 0, m->topo->n_links);
	for (size_t i = 0; i < out->n_flagged; i++)
		if (out->link[i] < out->n_links)
			s->stale[out->link[i]] = 1;
	for (topo_link l = 0; l < m->topo->n_links; l++)
		expects[l] = sieve_expects(s, l);
	for (size_t i = 0; i < m->n_lossy; i++) {
		const uint32_t flow = m->rows->flow[m->lossy[i].row];
		const uint32_t hole = sieve_holes_of(s, (uint32_t)i);
		const topo_link most = sieve_most(s, (uint32_t)i);
		if (hole != TOPO_NONE && flow != UINT32_MAX &&
		    sieve_accuses(out, hole))
			out->blame[flow] = hole;
		if (m->lossy[i].n_lost > 0 && flow != UINT32_MAX &&
		    most != TOPO_NONE && s->stale[most])
			out->blame[flow] = sieve_culprit(s, most);
	}
	return 0;
}

/* --- diagnosing ----------------------------------------------------------- */

static int sieve_diagnose(void *work, const struct obs *window,
    struct sim_rng *tie, struct algo_verdicts *out, struct sim_err *e)
{
	struct sieve *a = work;
	struct sieve_search *s = &a->search;
	int rc;
	(void)tie;
	algo_verdicts_clear(out);
	out->flags = out->chances = 1;
	out->kind = ALGO_KIND_BOTH;
	out->n_links = s->model.topo->n_links;
	if (!window->tallies)
		return algo_verdicts_reserve_flows(out, window->flows.n, e);
	s->bursts.on = 0;
	s->thin = a->params.thin;
	s->rare = SIEVE_RARE;
	s->any = a->params.any;
	if ((rc = sieve_model_read(&s->model, window, e)) < 0 ||
	    (rc = sieve_search_run(s, e)) < 0 ||
	    (sieve_bursts_show(s) && (rc = sieve_bursts_run(s, e)) < 0))
		return rc;
	if ((rc = sieve_chances(s, e)) < 0 || (rc = sieve_spread(s, e)) < 0 ||
	    (rc = sieve_write(a, out, e)) < 0)
		return rc;
	return sieve_blame(a, window, out, e);
}

const struct algo_ops algo_sieve = {
    .name = "sieve",
    .paper = "ours",
    .doc = "rates of loss by link, and the links whose rates stand out",
    .needs = OBS_TALLIES,
    .params = sieve_fields,
    .params_size = sizeof(struct algo_sieve_params),
    .work_size = sizeof(struct sieve),
    .init = sieve_init,
    .diagnose = sieve_diagnose,
    .free = sieve_free,
};
