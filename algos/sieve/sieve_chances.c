/* algos/sieve/sieve_chances.c -- how likely each candidate is to have failed.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/sieve/sieve_chances.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "algos/sieve/sieve_trade.h"

static const double SIEVE_SURE = 12, SIEVE_LISTED = 1e-4, SIEVE_WIDE = -5;

/* ln of the odds of a link before its own evidence, which is F. */
static double sieve_chances_before(const struct sieve_search *s, topo_link l,
    struct sieve_finding f)
{
	const topo_switch at = sieve_devices_of(&s->devices, l, TOPO_NONE);
	return at == TOPO_NONE
	    ? sieve_share_ln_odds(&s->share, f.ln_factor)
	    : sieve_devices_odds(&s->devices, at, s->failed[l]);
}

static double sieve_chances_exp(double ln)
{
	return exp(fmin(ln, 700));
}

/* A chance if each may fail or not, in a window in which perhaps nothing did. */
static double sieve_chances_of(const struct sieve_search *s, double chance)
{
	return fmin(1, s->share.any * chance);
}

static void sieve_chances_mark(struct sieve_search *s, topo_link l)
{
	memset(s->stale, 0, s->model.topo->n_links);
	sieve_search_stale(s, l);
}

/* Where evaluating is dear: a candidate whose last finding leaves it nothing. */
static int sieve_chances_is_nothing(const struct sieve_search *s,
    const struct sieve_candidate *c)
{
	return sieve_model_has_maybe(&s->model) && !s->failed[c->link] &&
	    c->found.ln_factor + sieve_search_link_odds(s, c->link, TOPO_NONE) <
	    log(SIEVE_LISTED);
}

/* Factors of others that would explain what the candidate does; neither was
 * accepted. Those of an accused switch have its odds instead of anybody's, and
 * count that much more. */
static void sieve_chances_rivals(struct sieve_search *s)
{
	double *factor = s->least;
	const double usual =
	    sieve_search_odds(s, (double)s->n_alone + s->devices.n_accused);
	for (size_t k = 0; k < s->n; k++) {
		const topo_link l = s->list[k].link;
		const topo_switch at =
		    sieve_devices_of(&s->devices, l, TOPO_NONE);
		const double more = at == TOPO_NONE
		    ? 0
		    : sieve_devices_odds(&s->devices, at, 0) - usual;
		factor[k] = s->failed[l]
		    ? 0
		    : sieve_chances_exp(s->list[k].found.ln_factor + more);
	}
	uint32_t marked = SIEVE_NO_CLASS;
	for (size_t i = 0; i < s->n; i++) {
		struct sieve_candidate *c = &s->list[i];
		c->rivals = 0;
		if (s->failed[c->link] || sieve_chances_is_nothing(s, c))
			continue;
		/* All of a class that nothing else tells of mark the same. */
		const uint32_t alike = sieve_model_class(&s->model, c->link);
		if (alike == SIEVE_NO_CLASS || alike != marked)
			sieve_chances_mark(s, c->link);
		marked = alike;
		for (size_t k = 0; k < s->n; k++)
			if (k != i && s->stale[s->list[k].link])
				c->rivals += factor[k];
	}
}

/* Links that lost nothing differ by what crossed them alone, of which there are
 * few numbers where probes have one size. */
enum { SIEVE_UNLOST = 64 };
struct sieve_unlost {
	double kept;
	struct sieve_finding found;
};

static void sieve_chances_unlost(struct sieve_unlost alike[SIEVE_UNLOST])
{
	for (unsigned i = 0; i < SIEVE_UNLOST; i++)
		alike[i].kept = -1;
}

static int sieve_chances_is_unlost(const struct sieve_model *m, topo_link l)
{
	return m->off[l + 1] == m->off[l] && !sieve_model_exposure(m, l);
}

static struct sieve_finding sieve_chances_weigh(const struct sieve_search *s,
    topo_link l, struct sieve_unlost alike[SIEVE_UNLOST])
{
	const double kept = s->model.kept[l];
	struct sieve_unlost *a =
	    &alike[(uint64_t)kept * UINT64_C(0x9e3779b97f4a7c15) >> 58];
	if (!sieve_chances_is_unlost(&s->model, l))
		return sieve_search_weigh(s, l);
	if (a->kept != kept)
		*a = (struct sieve_unlost){kept, sieve_search_weigh(s, l)};
	return a->found;
}

/* Links that lost nothing are no candidates, but somewhat likely to have failed
 * where few packets crossed them, and they are many. Those that lost something and
 * were ruled out are as good as healthy. Returns how many there are, and the
 * logarithm of their mean factor. */
static double sieve_chances_rest(struct sieve_search *s, double *ln_factor)
{
	const struct sieve_model *m = &s->model;
	struct sieve_unlost alike[SIEVE_UNLOST];
	double n = 0, sum = 0;
	sieve_chances_unlost(alike);
	memset(s->tried, 0, m->topo->n_links);
	for (size_t i = 0; i < s->n; i++)
		s->tried[s->list[i].link] = 1;
	for (topo_link l = 0; l < m->topo->n_links; l++) {
		if (s->tried[l] || m->choice.on ||
		    !sieve_chances_is_unlost(m, l))
			continue;
		sum += exp(sieve_chances_weigh(s, l, alike).ln_factor);
		n++;
	}
	*ln_factor = n > 0 && sum > 0 ? log(sum / n) : -INFINITY;
	return n;
}

/* What all components say of each other. */
static void sieve_chances_share(struct sieve_search *s)
{
	struct sieve_share *h = &s->share;
	const struct topo *t = s->model.topo;
	double ln_rest;
	const double n_rest = sieve_chances_rest(s, &ln_rest);
	sieve_share_begin(h, (double)t->n_links + t->n_switches, s->thin,
	    s->rare);
	for (size_t i = 0; i < s->n; i++)
		if (sieve_devices_of(&s->devices, s->list[i].link, TOPO_NONE) ==
		    TOPO_NONE)
			sieve_share_take(h, 1, s->list[i].found.ln_factor,
			    s->list[i].rivals);
	for (topo_switch k = 0; k < t->n_switches; k++)
		if (s->devices.at[k].accused)
			sieve_share_take(h, 1, sieve_devices_factor(s, k), 0);
	for (size_t i = 0; s->holes.on && i < s->holes.n; i++)
		if (s->holes.hole[i].taken)
			sieve_share_take(h, 1, s->holes.hole[i].evidence, 0);
	if (n_rest > 0)
		sieve_share_take(h, n_rest, ln_rest, 0);
	sieve_share_end(h, s->any);
	s->none = h->none;
	s->unlisted = sieve_share_expects(h, n_rest, ln_rest);
}

/* Given what was accepted. */
static void sieve_chances_settle(struct sieve_search *s)
{
	const double usual = sieve_share_ln_odds(&s->share, -INFINITY);
	for (size_t i = 0; i < s->n; i++) {
		struct sieve_candidate *c = &s->list[i];
		const double odds = sieve_chances_exp(c->found.ln_factor +
		    sieve_chances_before(s, c->link, c->found));
		c->chance = sieve_chances_of(s,
		    odds / (1 + odds + c->rivals * exp(usual)));
	}
}

static void sieve_chances_find(struct sieve_search *s)
{
	for (size_t i = 0; i < s->n; i++) {
		struct sieve_candidate *c = &s->list[i];
		if (s->failed[c->link])
			c->found = sieve_search_again(s, c->link);
		else if (!sieve_chances_is_nothing(s, c))
			c->found = sieve_search_weigh(s, c->link);
	}
}

/* The place of a link in the list; s->n if it has none. */
static size_t sieve_chances_at(const struct sieve_search *s, topo_link l)
{
	size_t i = 0;
	while (i < s->n && s->list[i].link != l)
		i++;
	return i;
}

/* A link's chance in place of another one, beside what it has; into the list if
 * it was not there. */
static void sieve_chances_add(struct sieve_search *s, topo_link l,
    struct sieve_finding f, double chance)
{
	const size_t i = sieve_chances_at(s, l);
	if (i == s->n && chance < SIEVE_LISTED)
		return;
	if (i == s->n)
		s->list[s->n++] = (struct sieve_candidate){l, f, 0, 0};
	s->list[i].chance = 1 - (1 - s->list[i].chance) * (1 - chance);
}

/* Where choices are what is seen, what each link is exposed to depends on what
 * failed. There is room: as much had failed before. */
static void sieve_chances_set(struct sieve_search *s, topo_link l,
    double hazard)
{
	sieve_model_set(&s->model, l, hazard);
	if (s->model.choice.on) {
		const int rc =
		    sieve_choice_pass(&s->model, s->prior.mean, NULL);
		assert(rc == 0);
		(void)rc;
	}
}

/* Candidate I was accepted: what would stand in its place, were it healthy? The
 * weights of its being the one, nobody, and each other are its odds, 1 and theirs,
 * here over the greatest. */
static void sieve_chances_swap(struct sieve_search *s, size_t i)
{
	static const double NOTHING = 14;
	struct sieve_model *m = &s->model;
	const topo_link l = s->list[i].link;
	const struct sieve_finding found = s->list[i].found;
	const int of_switch =
	    sieve_devices_of(&s->devices, l, TOPO_NONE) != TOPO_NONE;
	const double had = m->hazard[l],
		     alone = sieve_share_ln_odds(&s->share,
			 of_switch ? -INFINITY : found.ln_factor),
		     odds = found.ln_factor + sieve_chances_before(s, l, found);
	double most = fmax(0, odds), sum = 0;
	sieve_chances_mark(s, l);
	sieve_prior_count(&s->prior, had, -1);
	sieve_chances_set(s, l, s->prior.mean);
	/* Beside what surely failed the others are nothing long before. */
	sieve_search_rule_out(s, fmax(odds - NOTHING, -7));
	for (topo_link o = 0; o < m->topo->n_links; o++) {
		s->stale[o] = s->stale[o] && !s->failed[o];
		if (!s->stale[o])
			continue;
		const struct sieve_finding f = sieve_search_weigh(s, o);
		s->least[o] = f.ln_factor +
		    (sieve_devices_of(&s->devices, o, TOPO_NONE) == TOPO_NONE
			    ? alone
			    : sieve_chances_before(s, o, f));
		most = fmax(most, s->least[o]);
	}
	for (topo_link o = 0; o < m->topo->n_links; o++)
		if (s->stale[o])
			sum += exp(s->least[o] - most);
	sum += exp(-most) + exp(odds - most);
	for (topo_link o = 0; o < m->topo->n_links; o++)
		if (s->stale[o])
			sieve_chances_add(s, o, (struct sieve_finding){0, had},
			    sieve_chances_of(s, exp(s->least[o] - most) / sum));
	s->list[i].chance = sieve_chances_of(s, exp(odds - most) / sum);
	sieve_chances_set(s, l, had);
	sieve_prior_count(&s->prior, had, 1);
}

/* Of those that no trial is of: who was accepted on less than the greatest odds, and
 * who others may explain as well whatever the odds. */
static int sieve_chances_shares(const struct sieve_search *s, size_t i)
{
	const struct sieve_candidate *c = &s->list[i];
	return !s->shared[c->link] &&
	    (sieve_model_is_maybe(&s->model, c->link) ||
		c->found.ln_factor +
			sieve_chances_before(s, c->link, c->found) <
		    SIEVE_SURE);
}

/* --- others in their place ------------------------------------------------ */

/* Whether a link is one of a stake. */
static int sieve_chances_has(const struct sieve_stake *x, topo_link l)
{
	return (x->n > 0 && x->link[0] == l) || (x->n > 1 && x->link[1] == l);
}

/* Of what was accepted and its rivals each has a chance as its evidence has it. Two
 * that were accepted have it of what each has alone. */
static int sieve_chances_trial(struct sieve_search *s,
    const struct sieve_trial *t, void *with, struct sim_err *e)
{
	static const double NEAR = 10;
	struct sieve_rivals r;
	double weight[SIEVE_RIVALS], all = 1, stays[SIEVE_PAIR] = {1, 1};
	const int rc = sieve_trial_weigh(s, t, -NEAR, &r, e);
	(void)with;
	sieve_trial_enter(s, &t->out);
	if (r.evidence == -INFINITY)
		return rc;
	for (uint32_t i = 0; i < r.n; i++) {
		weight[i] = sieve_chances_exp(r.in[i].evidence - r.evidence);
		all += weight[i];
		for (uint32_t k = 0; k < t->out.n; k++)
			stays[k] += sieve_chances_has(&r.in[i], t->out.link[k])
			    ? weight[i]
			    : 0;
	}
	for (uint32_t k = 0; k < t->out.n; k++) {
		const size_t at = sieve_chances_at(s, t->out.link[k]);
		assert(at < s->n);
		s->list[at].chance = t->out.n == 1
		    ? sieve_chances_of(s, stays[k] / all)
		    : s->list[at].chance * stays[k] / all;
	}
	for (uint32_t i = 0; i < r.n; i++)
		for (uint32_t k = 0; k < r.in[i].n; k++)
			if (!sieve_chances_has(&t->out, r.in[i].link[k]))
				sieve_chances_add(s, r.in[i].link[k],
				    (struct sieve_finding){0,
					r.in[i].hazard[k]},
				    sieve_chances_of(s, weight[i] / all));
	return rc;
}

static void sieve_chances_switches(struct sieve_search *s)
{
	sieve_devices_weigh(s);
	for (topo_switch k = 0; k < s->model.topo->n_switches; k++)
		if (s->devices.at[k].accused)
			s->list[s->n++] =
			    (struct sieve_candidate){.link = s->model.topo
								 ->n_links +
				    k,
				.chance =
				    1 / (1 + exp(-s->devices.at[k].gain))};
}

int sieve_chances(struct sieve_search *s, struct sim_err *e)
{
	int rc;
	/* Where evaluating is cheap: many that are not likely tell together how
	 * many failed. */
	if (!s->model.choice.on && !sieve_model_has_maybe(&s->model))
		sieve_search_screen(s, SIEVE_WIDE);
	sieve_chances_find(s);
	sieve_chances_rivals(s);
	sieve_chances_share(s);
	sieve_chances_settle(s);
	if ((rc = sieve_trials(s, sieve_chances_trial, NULL, e)) < 0)
		return rc;
	const size_t n = s->n;
	for (size_t i = 0; i < n; i++)
		if (s->failed[s->list[i].link] && sieve_chances_shares(s, i))
			sieve_chances_swap(s, i);
	sieve_chances_switches(s);
	sieve_holes_list(s);
	return 0;
}

void sieve_chances_all(const struct sieve_search *s,
    struct sieve_belief belief[])
{
	const topo_link n_links = s->model.topo->n_links;
	struct sieve_unlost alike[SIEVE_UNLOST];
	sieve_chances_unlost(alike);
	for (topo_link l = 0; l < n_links; l++)
		belief[l].chance = -1;
	for (size_t i = 0; i < s->n; i++) {
		const struct sieve_candidate *c = &s->list[i];
		if (c->link >= n_links)
			continue;
		belief[c->link] = (struct sieve_belief){c->chance,
		    s->failed[c->link] ? s->model.hazard[c->link]
				       : c->found.hazard,
		    s->prior.mean};
	}
	for (topo_link l = 0; l < n_links; l++) {
		if (belief[l].chance >= 0)
			continue;
		const struct sieve_finding f = sieve_chances_weigh(s, l, alike);
		const double odds = sieve_chances_exp(
		    f.ln_factor + sieve_chances_before(s, l, f));
		belief[l] = (struct sieve_belief){sieve_chances_of(s,
						      odds / (1 + odds)),
		    f.hazard, s->prior.mean};
	}
}
