/* algos/sieve/sieve_search.c -- Sieve's search for the links that failed.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/sieve/sieve_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algos/sieve/sieve_trade.h"
#include "sim/vec.h"

enum { SIEVE_ROUNDS = 8, SIEVE_FITS = 3 };

void sieve_search_free(struct sieve_search *s)
{
	sieve_model_free(&s->model);
	free(s->list);
	free(s->failed);
	free(s->stale);
	free(s->least);
	free(s->last);
	free(s->alike);
	free(s->code);
	free(s->mass);
	free(s->tried);
	free(s->before);
	free(s->shared);
	sieve_devices_free(&s->devices);
	sieve_sudden_free(&s->sudden);
	sieve_holes_free(&s->holes);
	sieve_bursts_free(&s->bursts);
	sieve_gain_free(&s->gain);
}

static double sieve_search_ln_odds(const struct sieve_search *s,
    double n_failed)
{
	const double n =
	    (double)s->model.topo->n_links + s->model.topo->n_switches;
	return log(
	    (n_failed + 1) / (s->thin * fmax(1, n - n_failed + s->rare)));
}

static int sieve_search_room(struct sieve_search *s, struct sim_err *e)
{
	const size_t n = s->model.topo->n_links;
	int rc;
	if ((rc = SIM_RESERVE(&s->list, &s->cap, n + s->model.topo->n_switches,
		 e)) < 0 ||
	    (rc = SIM_RESERVE(&s->failed, &s->cap_failed, n, e)) < 0 ||
	    (rc = SIM_RESERVE(&s->stale, &s->cap_stale, n, e)) < 0 ||
	    (rc = SIM_RESERVE(&s->tried, &s->cap_tried, n, e)) < 0 ||
	    (rc = SIM_RESERVE(&s->before, &s->cap_before, n, e)) < 0 ||
	    (rc = SIM_RESERVE(&s->shared, &s->cap_shared, n, e)) < 0 ||
	    (rc = SIM_RESERVE(&s->least, &s->cap_least, n, e)) < 0 ||
	    (rc = SIM_RESERVE(&s->last, &s->cap_last, n, e)) < 0 ||
	    (rc = sieve_devices_begin(s, e)) < 0)
		return rc;
	memset(s->failed, 0, n);
	memset(s->stale, 0, n);
	for (size_t l = 0; l < n; l++)
		s->last[l] = INFINITY;
	s->n = s->n_failed = s->n_alone = 0;
	for (unsigned k = 0; k < SIEVE_KNOWN_ODDS; k++)
		s->odds[k] = sieve_search_ln_odds(s, k);
	return 0;
}

/* Asked of every candidate, mostly of a whole number. */
double sieve_search_odds(const struct sieve_search *s, double n_failed)
{
	return n_failed < SIEVE_KNOWN_ODDS && n_failed == (unsigned)n_failed
	    ? s->odds[(unsigned)n_failed]
	    : sieve_search_ln_odds(s, n_failed);
}

double sieve_search_link_odds(const struct sieve_search *s, topo_link l,
    topo_switch except)
{
	const topo_switch at = sieve_devices_of(&s->devices, l, except);
	if (at != TOPO_NONE)
		return sieve_devices_odds(&s->devices, at, s->failed[l]);
	const int alone = s->failed[l] &&
	    sieve_devices_of(&s->devices, l, TOPO_NONE) == TOPO_NONE;
	return sieve_search_odds(s,
	    (double)s->n_alone - alone + s->devices.n_accused -
		(except != TOPO_NONE && s->devices.at[except].accused));
}

struct sieve_finding sieve_search_weigh(const struct sieve_search *s,
    topo_link l)
{
	double ell[SIEVE_GRID];
	sieve_model_curve(&s->model, l, ell);
	return sieve_prior_weigh(&s->prior, ell);
}

/* The grid is coarser than the peak of a link that lost much, and what a hazard
 * is short of would be laid on its neighbours. There the likelihood's own maximum
 * between the points is better: x sum r / expm1(rest + x) = slope x, iterated. */
static double sieve_search_sharpen_known(const struct sieve_search *s,
    topo_link l, double hazard)
{
	enum { TIMES = 8, MUCH = 14 };
	const struct sieve_model *m = &s->model;
	double x = hazard, lost = 0;
	for (unsigned i = 0; i < TIMES; i++) {
		lost = 0;
		for (uint32_t k = m->off[l]; k < m->off[l + 1]; k++) {
			const uint32_t row = m->over[k];
			lost += m->lossy[row].n_lost * x *
			    sieve_ic(
				sieve_max(m->sum[row] - m->hazard[l], 0) + x);
		}
		const double slope = sieve_model_slope(m, l, x);
		if (lost < MUCH || slope <= 0)
			return hazard;
		x = lost / slope;
	}
	return fmin(fmax(x, hazard / 2), hazard * 2);
}

/* Where rows of no known path lost something there is no such equation. Through
 * the greatest value and its neighbours goes a ln x - b x + c, which is what a link
 * says of itself that loses by itself: a packets, of a / x. */
static double sieve_search_sharpen_dark(const struct sieve_search *s,
    topo_link l, double hazard)
{
	enum { MUCH = 14 };
	const double *x = s->model.x;
	double ell[SIEVE_GRID];
	unsigned g = 0;
	sieve_model_curve(&s->model, l, ell);
	for (unsigned i = 1; i < SIEVE_GRID; i++)
		if (ell[i] > ell[g])
			g = i;
	if (g == 0 || g == SIEVE_GRID - 1)
		return hazard;
	const double left = ell[g] - ell[g - 1], right = ell[g + 1] - ell[g],
		     b = (left - right) / (x[g + 1] - 2 * x[g] + x[g - 1]),
		     a = (left + b * (x[g] - x[g - 1])) / log(x[g] / x[g - 1]);
	if (a < MUCH || b <= 0)
		return hazard;
	return fmin(fmax(a / b, hazard / 2), hazard * 2);
}

static double sieve_search_sharpen(const struct sieve_search *s, topo_link l,
    double hazard)
{
	return sieve_model_has_maybe(&s->model)
	    ? sieve_search_sharpen_dark(s, l, hazard)
	    : sieve_search_sharpen_known(s, l, hazard);
}

/* --- who may have failed -------------------------------------------------- */

/* An upper bound of ln of the likelihood ratio, over all hazards: with every
 * lost packet on the way that loses least besides. */
static double sieve_search_bound(const struct sieve_search *s, topo_link l,
    double n_lost)
{
	const double kept = s->model.kept[l], *x_g = s->model.x,
		     *h = sieve_model_exposure(&s->model, l);
	const double rest = 1 / (1 + sieve_ic(s->least[l]));
	double most = 0;
	for (unsigned g = 0; h && g < SIEVE_GRID; g++)
		most = fmax(most,
		    n_lost * log1p(x_g[g] / rest) - kept * x_g[g] - h[g]);
	if (h)
		return most;
	if (kept == 0)
		return INFINITY;
	const double x = n_lost / kept - rest;
	return x > 0 ? n_lost * log1p(x / rest) - kept * x : 0;
}

/* A bound of that bound, which rules out most without a logarithm, or with one
 * where an exposure has it at each point of the grid: ln(1 + u) is at most
 * u / (1 + u) + u^2 / (2 (1 + u)). */
static double sieve_search_rough(const struct sieve_search *s, topo_link l,
    double n_lost)
{
	const struct sieve_model *m = &s->model;
	const double *h = sieve_model_exposure(m, l), ln_2 = 0.6932,
		     kept = m->kept[l];
	double most = 0;
	if (!h) {
		const double rest = 1 / (1 + sieve_ic(s->least[l])),
			     u = n_lost / (kept * rest) - 1;
		return kept == 0 ? INFINITY
		    : u > 0      ? n_lost * u * u / (2 * (1 + u))
				 : 0;
	}
	const double ln_rest = n_lost > 0 ? log(-expm1(-s->least[l])) : 0;
	for (unsigned g = 0; g < SIEVE_GRID; g++) {
		const double ln = n_lost > 0 ? m->ln_x[g] - ln_rest : 0,
			     up = (ln > 0 ? ln : 0) + ln_2,
			     x = n_lost * up - kept * m->x[g] - h[g];
		most = x > most ? x : most;
	}
	return most;
}

static void sieve_search_least(struct sieve_search *s)
{
	const struct sieve_model *m = &s->model;
	for (topo_link l = 0; l < m->topo->n_links; l++)
		s->least[l] = INFINITY;
	for (size_t i = 0; i < m->n_lossy; i++)
		for (uint32_t k = m->lossy[i].first; k < m->lossy[i + 1].first;
		     k++) {
			const topo_link l = m->hop[k];
			s->least[l] = sieve_min(s->least[l],
			    sieve_max(m->sum[i] - m->hazard[l], 1e-12));
		}
}

/* Whether the bound leaves link L odds of exp(LEAST). */
static int sieve_search_may(const struct sieve_search *s, topo_link l,
    double least)
{
	const struct sieve_model *m = &s->model;
	double n_lost = 0;
	for (uint32_t k = m->off[l]; k < m->off[l + 1]; k++)
		n_lost += m->lossy[m->over[k]].n_lost;
	if (m->choice.on) {
		const double most =
		    n_lost > 0 ? sieve_choice_bound(m, l, n_lost) : 0;
		return most > 0 &&
		    most + sieve_search_link_odds(s, l, TOPO_NONE) >= least;
	}
	if (n_lost == 0 && !sieve_model_exposure(m, l))
		return 0;
	const double odds = sieve_search_link_odds(s, l, TOPO_NONE);
	return sieve_search_rough(s, l, n_lost) + odds >= least &&
	    sieve_search_bound(s, l, n_lost) + odds >= least;
}

void sieve_search_screen(struct sieve_search *s, double least)
{
	if (!s->model.choice.on)
		sieve_search_least(s);
	s->n = 0;
	for (topo_link l = 0; l < s->model.topo->n_links; l++)
		if (s->failed[l] || sieve_search_may(s, l, least)) {
			s->list[s->n++] = (struct sieve_candidate){.link = l};
			s->stale[l] = 1;
		}
}

void sieve_search_rule_out(struct sieve_search *s, double least)
{
	if (!sieve_model_has_maybe(&s->model))
		return;
	sieve_search_least(s);
	for (topo_link l = 0; l < s->model.topo->n_links; l++)
		s->stale[l] = s->stale[l] && sieve_search_may(s, l, least);
}

/* --- joining -------------------------------------------------------------- */

void sieve_search_stale_row(struct sieve_search *s, uint32_t lossy)
{
	const struct sieve_model *m = &s->model;
	const struct sieve_lossy *row = &m->lossy[lossy];
	for (uint32_t h = row[0].first; h < row[1].first; h++)
		s->stale[m->hop[h]] = 1;
}

static void sieve_search_stale_set(struct sieve_search *s, uint32_t set)
{
	const struct algo_ways *w = &s->model.sets.ways;
	for (uint32_t h = w->set_off[set]; h < w->set_off[set + 1]; h++)
		s->stale[w->set_part[h]] = 1;
}

void sieve_search_stale(struct sieve_search *s, topo_link l)
{
	const struct sieve_model *m = &s->model;
	const struct sieve_sets *x = &m->sets;
	for (uint32_t k = m->off[l]; k < m->off[l + 1]; k++) {
		sieve_search_stale_row(s, m->over[k]);
		if (m->lossy[m->over[k]].set != OBS_NO_PATH)
			sieve_search_stale_set(s, m->lossy[m->over[k]].set);
	}
	for (uint32_t k = m->n_dark ? x->off[l] : 0;
	     m->n_dark && k < x->off[l + 1]; k++) {
		const uint32_t set = x->over[k].set, first = m->ways.off[set],
			       end = m->ways.off[set + 1];
		if (first < end)
			sieve_search_stale_set(s, set);
		for (uint32_t i = first; i < end; i++)
			sieve_search_stale_row(s, m->ways.row[i]);
	}
}

/* The link that is likeliest to have failed of those that did not, by what was
 * found last; NULL if none is likelier than not. */
static struct sieve_candidate *sieve_search_best(const struct sieve_search *s)
{
	struct sieve_candidate *best = NULL;
	const double odds =
	    sieve_search_odds(s, (double)s->n_alone + s->devices.n_accused);
	double most = 0;
	for (size_t i = 0; i < s->n; i++) {
		const topo_link l = s->list[i].link;
		if (s->failed[l])
			continue;
		const double x = s->list[i].found.ln_factor +
		    (s->devices.n_accused == 0
			    ? odds
			    : sieve_search_link_odds(s, l, TOPO_NONE));
		if (x > most) {
			most = x;
			best = &s->list[i];
		}
	}
	return best;
}

static void sieve_search_tell(struct sieve_search *s, topo_link l, int sign)
{
	s->failed[l] = sign > 0;
	s->n_failed += sign > 0 ? 1 : SIZE_MAX;
	if (sieve_devices_of(&s->devices, l, TOPO_NONE) == TOPO_NONE)
		s->n_alone += sign > 0 ? 1 : SIZE_MAX;
	sieve_devices_count(&s->devices, l, sign);
}

void sieve_search_enter(struct sieve_search *s, topo_link l, double hazard)
{
	sieve_search_tell(s, l, 1);
	sieve_prior_count(&s->prior, hazard, 1);
	sieve_model_set(&s->model, l, hazard);
	sieve_search_stale(s, l);
	sieve_holes_stir(&s->holes);
}

void sieve_search_join(struct sieve_search *s, const struct sieve_candidate *c)
{
	sieve_search_enter(s, c->link,
	    sieve_search_sharpen(s, c->link, c->found.hazard));
}

void sieve_search_leave(struct sieve_search *s, topo_link l)
{
	sieve_search_tell(s, l, -1);
	sieve_prior_count(&s->prior, s->model.hazard[l], -1);
	sieve_model_set(&s->model, l, s->prior.mean);
	sieve_search_stale(s, l);
	for (topo_link o = 0; o < s->model.topo->n_links; o++)
		if (s->stale[o])
			s->last[o] = INFINITY;
}

/* Where rows have no known path evaluating is dear, and most links are hopeless:
 * what others explain only falls when one joins, mostly, and what the mean of
 * healthy links changes is small beside six nats. */
static int sieve_search_hopeless(const struct sieve_search *s, topo_link l,
    double ln_factor)
{
	return sieve_model_has_maybe(&s->model) &&
	    ln_factor + sieve_search_link_odds(s, l, TOPO_NONE) < -6;
}

/* What others explain only falls when one joins, mostly, so that who is best by
 * an old finding and still is by a new one is the best. */
static int sieve_search_grow(struct sieve_search *s)
{
	struct sieve_candidate *c;
	int grew = 0;
	for (size_t i = 0; i < s->n; i++) {
		struct sieve_candidate *x = &s->list[i];
		x->found.ln_factor = s->last[x->link];
		if (sieve_search_hopeless(s, x->link, x->found.ln_factor))
			continue;
		x->found = sieve_search_weigh(s, x->link);
		s->last[x->link] = x->found.ln_factor;
		s->stale[x->link] = 0;
	}
	while ((c = sieve_search_best(s)) || s->holes.on) {
		if (c && s->stale[c->link]) {
			c->found = sieve_search_weigh(s, c->link);
			s->last[c->link] = c->found.ln_factor;
			s->stale[c->link] = 0;
			continue;
		}
		const int took = sieve_holes_take(s, c);
		if (!c && !took)
			break;
		grew = 1;
		if (!took && !sieve_bursts_take(s, c))
			sieve_search_join(s, c);
	}
	return grew;
}

/* --- fitting again -------------------------------------------------------- */

struct sieve_finding sieve_search_again(struct sieve_search *s, topo_link l)
{
	const double had = s->model.hazard[l];
	sieve_prior_count(&s->prior, had, -1);
	struct sieve_finding f = sieve_search_weigh(s, l);
	f.hazard = sieve_search_sharpen(s, l, f.hazard);
	sieve_prior_count(&s->prior, had, 1);
	return f;
}

/* Each failed link given the others; who is not likelier than not leaves.
 * Returns how many did. */
static int sieve_search_fit(struct sieve_search *s)
{
	int left = 0;
	for (size_t i = 0; i < s->n; i++) {
		struct sieve_candidate *c = &s->list[i];
		if (!s->failed[c->link])
			continue;
		c->found = sieve_search_again(s, c->link);
		if (c->found.ln_factor +
			sieve_search_link_odds(s, c->link, TOPO_NONE) >
		    0) {
			sieve_prior_count(&s->prior, s->model.hazard[c->link],
			    -1);
			sieve_prior_count(&s->prior, c->found.hazard, 1);
			sieve_model_set(&s->model, c->link, c->found.hazard);
		} else {
			sieve_search_leave(s, c->link);
			left++;
		}
	}
	return left;
}

/* Healthy links and their law at a new mean; what failed stays as it is. */
static int sieve_search_level(struct sieve_search *s, double mean,
    struct sim_err *e)
{
	struct sieve_model *m = &s->model;
	sieve_prior_begin(&s->prior, m, mean);
	m->level = mean;
	for (topo_link l = 0; l < m->topo->n_links; l++)
		if (s->failed[l])
			sieve_prior_count(&s->prior, m->hazard[l], 1);
		else
			m->hazard[l] = mean;
	sieve_model_add_up(m);
	sieve_model_settle(m);
	return m->choice.on ? sieve_choice_pass(m, mean, e) : 0;
}

static double sieve_search_mean(const struct sieve_search *s)
{
	return s->model.choice.on ? sieve_choice_mean(&s->model, s->failed)
				  : sieve_model_mean(&s->model, s->failed);
}

/* MOVED is raised if anything that others depend on has changed. */
static int sieve_search_refine(struct sieve_search *s, int *moved,
    struct sim_err *e)
{
	const double before = s->prior.mean;
	int rc = 0;
	for (unsigned i = 0; rc == 0 && i < SIEVE_FITS; i++) {
		const int n = sieve_search_fit(s);
		rc = sieve_search_level(s, sieve_search_mean(s), e);
		if (n == 0 &&
		    (i > 0 || (s->model.choice.on && s->n_failed == 0)))
			break;
	}
	*moved |= fabs(s->prior.mean - before) > 0.1 * before;
	return rc;
}

static int sieve_search_begin(struct sieve_search *s, struct sim_err *e)
{
	struct sieve_model *m = &s->model;
	int rc = sieve_search_room(s, e);
	if (rc < 0)
		return rc;
	sieve_model_level(m, m->x[SIEVE_GRID / 2]);
	double mean = s->start > 0 ? s->start
	    : m->choice.on         ? m->choice.start
				   : sieve_model_mean(m, s->failed);
	if ((rc = sieve_holes_begin(s, &mean, e)) < 0)
		return rc;
	return sieve_search_level(s, mean, e);
}

/* Returns whether nothing changed. A pass costs more than what it then finds where
 * a round before this one, with the same links, has just ended with one. */
static int sieve_search_round(struct sieve_search *s, int fitted, int *quiet,
    struct sim_err *e)
{
	const size_t n_links = s->model.topo->n_links;
	int moved = 0, rc = 0;
	memcpy(s->before, s->failed, n_links);
	/* Two nats are for what follows to change. */
	sieve_search_screen(s, -2);
	const int grew = sieve_search_grow(s);
	if (grew && s->model.choice.on)
		rc = sieve_choice_pass(&s->model, s->prior.mean, e);
	if (rc == 0 && (grew || !fitted || !s->model.choice.on))
		rc = sieve_search_refine(s, &moved, e);
	moved |= memcmp(s->before, s->failed, n_links) != 0;
	*quiet = !moved && sieve_devices_spare(s) == 0;
	return rc;
}

static int sieve_search_rounds(struct sieve_search *s, struct sim_err *e)
{
	int rc = 0, quiet = 0, fitted = 0;
	for (unsigned i = 0; rc == 0 && i < SIEVE_ROUNDS; i++) {
		int traded = 0;
		rc = sieve_search_round(s, fitted, &quiet, e);
		fitted = 1;
		if (rc < 0 || !quiet)
			continue;
		/* What a trade brings is to be listed and fitted. */
		if (i + 1 < SIEVE_ROUNDS)
			rc = sieve_trade(s, &traded, e);
		if (rc == 0 && !traded && !sieve_devices_grow(s))
			break;
		fitted = 0;
	}
	return rc;
}

/* The first mean has failures in it. If they were most of it, links that stand
 * beside one may have joined before it: begin anew from what is left. */
int sieve_search_run(struct sieve_search *s, struct sim_err *e)
{
	s->sudden.known &= s->bursts.on;
	int rc = sieve_search_begin(s, e);
	const double first = s->prior.mean;
	if (rc < 0 || (rc = sieve_search_rounds(s, e)) < 0)
		return rc;
	const double mean = s->prior.mean;
	if (s->model.n_dark == 0 || first <= 2 * mean)
		return 0;
	if ((rc = sieve_search_room(s, e)) < 0 ||
	    (rc = sieve_search_level(s, mean, e)) < 0)
		return rc;
	return sieve_search_rounds(s, e);
}
