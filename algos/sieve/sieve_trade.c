/* algos/sieve/sieve_trade.c -- who else may have lost what accepted links lose.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/sieve/sieve_trade.h"

#include <math.h>
#include <string.h>

#include "algos/sieve/sieve_search.h"

/* Of rows of a link, or two, others are to have crossed so many to be tried in its
 * stead; so many the same other, for two to be tried together; and all but so many, and
 * so many rows, the first two others: each that nothing explains costs a nat or two,
 * and what else they would explain is little, or they had been accepted. */
static const double SIEVE_SOME = .1, SIEVE_COMMON = .3, SIEVE_MOST = .5,
		    SIEVE_LEFT = 5;

/* --- who may stand for whom ----------------------------------------------- */

/* Of rows that lost something to the links of X, as hazards have it, how many crossed
 * each other link too, and all: in s->least. By rows, as of one that lost much the
 * packets say the same. Returns how many there are. */
static double sieve_trade_rows(struct sieve_search *s,
    const struct sieve_stake *x)
{
	const struct sieve_model *m = &s->model;
	double all = 0;
	for (unsigned pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < x->n; i++)
			for (uint32_t k = m->off[x->link[i]];
			     k < m->off[x->link[i] + 1]; k++) {
				const uint32_t at = m->over[k];
				const struct sieve_lossy *row = &m->lossy[at];
				const double mine = row->n_lost > 0
				    ? x->hazard[i] / m->sum[at]
				    : 0;
				all += pass ? mine : 0;
				for (uint32_t h = row[0].first;
				     h < row[1].first; h++)
					s->least[m->hop[h]] = pass
					    ? s->least[m->hop[h]] + mine
					    : 0;
			}
	return all;
}

/* The link that most rows of X crossed, if they are LEAST or more. */
static topo_link sieve_trade_next(const struct sieve_search *s,
    const struct sieve_stake *x, double least)
{
	const struct sieve_model *m = &s->model;
	topo_link best = TOPO_NONE;
	for (uint32_t i = 0; i < x->n; i++)
		for (uint32_t k = m->off[x->link[i]];
		     k < m->off[x->link[i] + 1]; k++) {
			const struct sieve_lossy *row = &m->lossy[m->over[k]];
			for (uint32_t h = row[0].first; h < row[1].first; h++) {
				const topo_link l = m->hop[h];
				const double more = s->least[l] - least;
				if (s->failed[l] || more < 0 ||
				    (more == 0 && l >= best))
					continue;
				best = l;
				least = s->least[l];
			}
		}
	return best;
}

static void sieve_trade_others(struct sieve_search *s, struct sieve_trial *t,
    double share)
{
	const double all = sieve_trade_rows(s, &t->out);
	double covered = 0;
	t->n = 0;
	while (t->n < SIEVE_OTHERS) {
		const topo_link l = sieve_trade_next(s, &t->out, share * all);
		if (l == TOPO_NONE)
			break;
		covered += t->n < 2 ? s->least[l] : 0;
		s->least[l] = -1;
		t->other[t->n++] = l;
	}
	if (covered < SIEVE_MOST * all || all - covered > SIEVE_LEFT)
		t->n = 0;
}

/* Whether a link may be traded: no switch stands for it, and it loses less than a half,
 * beyond which the likelihood has no top. */
static int sieve_trade_alone(const struct sieve_search *s, topo_link l)
{
	return s->failed[l] && s->model.hazard[l] < M_LN2 &&
	    sieve_devices_of(&s->devices, l, TOPO_NONE) == TOPO_NONE;
}

static struct sieve_trial sieve_trade_of(struct sieve_search *s, topo_link l,
    double share)
{
	struct sieve_trial t = {.out = {{l}, {s->model.hazard[l]}, 1, 0}};
	sieve_trade_others(s, &t, share);
	return t;
}

static int sieve_trade_common(const struct sieve_trial *a,
    const struct sieve_trial *b)
{
	for (uint32_t i = 0; i < a->n; i++)
		for (uint32_t k = 0; k < b->n; k++)
			if (a->other[i] == b->other[k])
				return 1;
	return 0;
}

/* Link A with each later one that has another in common. */
static int sieve_trade_pairs(struct sieve_search *s, topo_link a,
    sieve_trial_visit *visit, void *with, struct sim_err *e)
{
	const struct sieve_trial one = sieve_trade_of(s, a, SIEVE_COMMON);
	int rc = 0;
	for (topo_link b = a + 1;
	     rc == 0 && one.n > 0 && b < s->model.topo->n_links; b++) {
		if (!sieve_trade_alone(s, b))
			continue;
		struct sieve_trial two = sieve_trade_of(s, b, SIEVE_COMMON);
		if (!sieve_trade_common(&one, &two))
			continue;
		two.out = (struct sieve_stake){{a, b},
		    {s->model.hazard[a], s->model.hazard[b]}, 2, 0};
		sieve_trade_others(s, &two, SIEVE_SOME);
		if (two.n > 0)
			rc = visit(s, &two, with, e);
	}
	return rc;
}

static int sieve_trade_pass(struct sieve_search *s, struct sim_err *e)
{
	return s->model.choice.on
	    ? sieve_choice_pass(&s->model, s->prior.mean, e)
	    : 0;
}

int sieve_trials(struct sieve_search *s, sieve_trial_visit *visit, void *with,
    struct sim_err *e)
{
	const topo_link n = s->model.n_dark == 0 ? s->model.topo->n_links : 0;
	int rc = 0;
	s->n_trials = 0;
	memset(s->shared, 0, s->model.topo->n_links);
	for (topo_link a = 0; rc == 0 && a < n; a++) {
		if (!sieve_trade_alone(s, a))
			continue;
		const struct sieve_trial t = sieve_trade_of(s, a, SIEVE_SOME);
		s->shared[a] = t.n > 0;
		if (t.n > 0)
			rc = visit(s, &t, with, e);
	}
	for (topo_link a = 0; rc == 0 && a < n; a++)
		if (sieve_trade_alone(s, a))
			rc = sieve_trade_pairs(s, a, visit, with, e);
	/* Exposures are of the last trial. */
	return rc == 0 && s->n_trials > 0 ? sieve_trade_pass(s, e) : rc;
}

/* --- rivals --------------------------------------------------------------- */

/* X counts as a rival if its evidence is LEAST or more. */
static int sieve_rivals_add(struct sieve_search *s, struct sieve_rivals *r,
    struct sieve_stake *x, double least, struct sim_err *e)
{
	const int rc = sieve_stake_weigh(s, x, least, e);
	if (rc == 0 && x->evidence >= least)
		r->in[r->n++] = *x;
	return rc;
}

/* ONE, with each of N others, and none with itself. */
static int sieve_rivals_pairs(struct sieve_search *s, struct sieve_rivals *r,
    const struct sieve_stake *one, const struct sieve_stake other[], uint32_t n,
    double least, struct sim_err *e)
{
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < n; i++) {
		struct sieve_stake x = {{one->link[0], other[i].link[0]},
		    {one->hazard[0], other[i].hazard[0]}, 2, 0};
		if (x.link[0] != x.link[1])
			rc = sieve_rivals_add(s, r, &x, least, e);
	}
	return rc;
}

static int sieve_rivals_weigh(struct sieve_search *s,
    const struct sieve_trial *t, double least, struct sieve_rivals *r,
    struct sim_err *e)
{
	struct sieve_stake nobody = {0}, x[SIEVE_OTHERS + SIEVE_PAIR];
	uint32_t best = 0, n = 0;
	int rc = sieve_rivals_add(s, r, &nobody, least, e);
	for (; rc == 0 && n < t->n; n++) {
		const topo_link l = t->other[n];
		x[n] = (struct sieve_stake){{l},
		    {sieve_search_weigh(s, l).hazard}, 1, 0};
		rc = sieve_stake_weigh(s, &x[n], -INFINITY, e);
		if (rc == 0 && x[n].evidence >= least)
			r->in[r->n++] = x[n];
		best = x[n].evidence > x[best].evidence ? n : best;
	}
	if (rc < 0)
		return rc;
	for (uint32_t i = 0; t->out.n == 2 && i < 2; i++)
		x[n++] = (struct sieve_stake){{t->out.link[i]},
		    {t->out.hazard[i]}, 1, 0};
	const struct sieve_stake one = x[best];
	return sieve_rivals_pairs(s, r, &one, x, n, least, e);
}

int sieve_trial_weigh(struct sieve_search *s, const struct sieve_trial *t,
    double more, struct sieve_rivals *r, struct sim_err *e)
{
	struct sieve_stake out = t->out;
	int rc;
	r->n = 0;
	r->evidence = -INFINITY;
	s->n_trials++;
	for (uint32_t i = 0; i < out.n; i++)
		sieve_search_leave(s, out.link[i]);
	if ((rc = sieve_trade_pass(s, e)) < 0 ||
	    (rc = sieve_stake_weigh(s, &out, -INFINITY, e)) < 0)
		return rc;
	r->evidence = out.evidence;
	return out.evidence == -INFINITY
	    ? 0
	    : sieve_rivals_weigh(s, t, out.evidence + more, r, e);
}

void sieve_trial_enter(struct sieve_search *s, const struct sieve_stake *in)
{
	for (uint32_t i = 0; i < in->n; i++)
		sieve_search_enter(s, in->link[i], in->hazard[i]);
}

/* --- trades --------------------------------------------------------------- */

/* What gains most of all trials, and at least something: what is as good as it was
 * changes nothing, and rounds shall end. */
struct sieve_trade {
	struct sieve_stake out, in;
	double gain;
};
static const double SIEVE_GAIN = .1;

static int sieve_trade_best(struct sieve_search *s, const struct sieve_trial *t,
    void *with, struct sim_err *e)
{
	struct sieve_trade *best = with;
	struct sieve_rivals r;
	const int rc = sieve_trial_weigh(s, t, best->gain, &r, e);
	sieve_trial_enter(s, &t->out);
	for (uint32_t i = 0; rc == 0 && i < r.n; i++)
		if (r.in[i].evidence - r.evidence > best->gain)
			*best = (struct sieve_trade){t->out, r.in[i],
			    r.in[i].evidence - r.evidence};
	return rc;
}

int sieve_trade(struct sieve_search *s, int *traded, struct sim_err *e)
{
	struct sieve_trade best = {.gain = SIEVE_GAIN};
	const int rc = sieve_trials(s, sieve_trade_best, &best, e);
	*traded = rc == 0 && best.gain > SIEVE_GAIN;
	if (!*traded)
		return rc;
	for (uint32_t i = 0; i < best.out.n; i++)
		sieve_search_leave(s, best.out.link[i]);
	sieve_trial_enter(s, &best.in);
	return sieve_trade_pass(s, e);
}
