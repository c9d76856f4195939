/* algos/sieve/sieve_chances.c -- how likely each candidate is to have failed.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/sieve/sieve_chances.h"

#include <math.h>
#include <string.h>

enum { SIEVE_STEPS = 5 };
static const double SIEVE_SURE = 12, SIEVE_LISTED = 1e-4;

static double sieve_chances_ln_odds(const struct sieve_search *s, topo_link l,
    struct sieve_finding f, double n_others)
{
	const topo_switch at = sieve_devices_of(&s->devices, l, TOPO_NONE);
	const double odds = at == TOPO_NONE
	    ? sieve_search_odds(s, fmax(0, n_others))
	    : sieve_devices_odds(&s->devices, at, s->failed[l]);
	return f.ln_factor + odds;
}

static double sieve_chances_odds(const struct sieve_search *s, topo_link l,
    struct sieve_finding f, double n_others)
{
	return exp(fmin(sieve_chances_ln_odds(s, l, f, n_others), 700));
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

/* Odds of others that would explain what the candidate does; neither was
 * accepted. */
static void sieve_chances_rivals(struct sieve_search *s, double all)
{
	double *odds = s->least;
	for (size_t k = 0; k < s->n; k++)
		odds[k] = s->failed[s->list[k].link]
		    ? 0
		    : sieve_chances_odds(s, s->list[k].link, s->list[k].found,
			  all);
	uint32_t marked = SIEVE_NO_CLASS;
	for (size_t i = 0; i < s->n; i++) {
		struct sieve_candidate *c = &s->list[i];
		if (s->failed[c->link] || sieve_chances_is_nothing(s, c))
			continue;
		/* All of a class that nothing else tells of mark the same. */
		const uint32_t alike = sieve_model_class(&s->model, c->link);
		if (alike == SIEVE_NO_CLASS || alike != marked)
			sieve_chances_mark(s, c->link);
		marked = alike;
		for (size_t k = 0; k < s->n; k++)
			if (k != i && s->stale[s->list[k].link])
				c->rivals += odds[k];
	}
}

/* Given what was accepted. */
static double sieve_chances_settle(struct sieve_search *s)
{
	double all = (double)s->n_alone + s->devices.n_accused;
	for (unsigned k = 0; k < SIEVE_STEPS; k++) {
		double sum = s->devices.n_accused;
		for (size_t i = 0; i < s->n; i++) {
			struct sieve_candidate *c = &s->list[i];
			const double odds = sieve_chances_odds(s, c->link,
			    c->found, all - c->chance);
			c->chance = odds / (1 + odds + c->rivals);
			if (sieve_devices_of(&s->devices, c->link, TOPO_NONE) ==
			    TOPO_NONE)
				sum += c->chance;
		}
		all = sum;
	}
	return all;
}

/* A link's chance in place of another one, beside what it has; into the list if
 * it was not there. */
static void sieve_chances_add(struct sieve_search *s, topo_link l,
    struct sieve_finding f, double chance)
{
	size_t i = 0;
	while (i < s->n && s->list[i].link != l)
		i++;
	if (i == s->n && chance < SIEVE_LISTED)
		return;
	if (i == s->n)
		s->list[s->n++] = (struct sieve_candidate){l, f, 0, 0};
	s->list[i].chance = 1 - (1 - s->list[i].chance) * (1 - chance);
}

/* Candidate I was accepted: what would stand in its place, were it healthy? The
 * weights of its being the one, nobody, and each other are its odds, 1 and theirs,
 * here over the greatest. */
static void sieve_chances_swap(struct sieve_search *s, size_t i, double all)
{
	static const double NOTHING = 14;
	struct sieve_model *m = &s->model;
	const topo_link l = s->list[i].link;
	const double had = m->hazard[l], others = all - s->list[i].chance,
		     odds =
			 sieve_chances_ln_odds(s, l, s->list[i].found, others);
	double most = fmax(0, odds), sum = 0;
	sieve_chances_mark(s, l);
	sieve_prior_count(&s->prior, had, -1);
	sieve_model_set(m, l, s->prior.mean);
	/* Beside what surely failed the others are nothing long before. */
	sieve_search_rule_out(s, fmax(odds - NOTHING, -7));
	for (topo_link o = 0; o < m->topo->n_links; o++) {
		s->stale[o] = s->stale[o] && !s->failed[o];
		if (!s->stale[o])
			continue;
		const struct sieve_finding f = sieve_search_weigh(s, o);
		s->least[o] = sieve_chances_ln_odds(s, o, f, others);
		most = fmax(most, s->least[o]);
	}
	for (topo_link o = 0; o < m->topo->n_links; o++)
		if (s->stale[o])
			sum += exp(s->least[o] - most);
	sum += exp(-most) + exp(odds - most);
	for (topo_link o = 0; o < m->topo->n_links; o++)
		if (s->stale[o])
			sieve_chances_add(s, o, (struct sieve_finding){0, had},
			    exp(s->least[o] - most) / sum);
	s->list[i].chance = exp(odds - most) / sum;
	sieve_model_set(m, l, had);
	sieve_prior_count(&s->prior, had, 1);
}

/* Those that were accepted on less than the greatest odds, and those that others
 * may explain as well whatever the odds. */
static int sieve_chances_shares(const struct sieve_search *s, size_t i,
    double all)
{
	const struct sieve_candidate *c = &s->list[i];
	return sieve_model_is_maybe(&s->model, c->link) ||
	    log(sieve_chances_odds(s, c->link, c->found, all)) < SIEVE_SURE;
}

void sieve_chances(struct sieve_search *s)
{
	const size_t n = s->n;
	for (size_t i = 0; i < n; i++) {
		struct sieve_candidate *c = &s->list[i];
		c->chance = s->failed[c->link];
		c->rivals = 0;
		if (s->failed[c->link])
			c->found = sieve_search_again(s, c->link);
		else if (!sieve_chances_is_nothing(s, c))
			c->found = sieve_search_weigh(s, c->link);
	}
	sieve_chances_rivals(s, (double)s->n_alone + s->devices.n_accused);
	const double all = sieve_chances_settle(s);
	s->none = 1;
	for (size_t i = 0; i < n; i++)
		s->none *= 1 - s->list[i].chance;
	for (size_t i = 0; i < n; i++)
		if (s->failed[s->list[i].link] &&
		    sieve_chances_shares(s, i, all))
			sieve_chances_swap(s, i, all);
	sieve_devices_weigh(s);
	for (topo_switch k = 0; k < s->model.topo->n_switches; k++)
		if (s->devices.at[k].accused)
			s->list[s->n++] =
			    (struct sieve_candidate){.link = s->model.topo
								 ->n_links +
				    k,
				.chance =
				    1 / (1 + exp(-s->devices.at[k].gain))};
	sieve_holes_list(s);
}

/* Links that lost nothing differ by what crossed them alone, of which there are
 * few numbers where probes have one size. */
enum { SIEVE_UNLOST = 64 };
struct sieve_unlost {
	double kept;
	struct sieve_finding found;
};

static struct sieve_finding sieve_chances_weigh(const struct sieve_search *s,
    topo_link l, struct sieve_unlost alike[SIEVE_UNLOST])
{
	const struct sieve_model *m = &s->model;
	const double kept = m->kept[l];
	struct sieve_unlost *a =
	    &alike[(uint64_t)kept * UINT64_C(0x9e3779b97f4a7c15) >> 58];
	if (m->off[l + 1] > m->off[l] || sieve_model_exposure(m, l))
		return sieve_search_weigh(s, l);
	if (a->kept != kept)
		*a = (struct sieve_unlost){kept, sieve_search_weigh(s, l)};
	return a->found;
}

void sieve_chances_all(const struct sieve_search *s,
    struct sieve_belief belief[])
{
	const topo_link n_links = s->model.topo->n_links;
	struct sieve_unlost alike[SIEVE_UNLOST];
	double all = 0;
	for (unsigned i = 0; i < SIEVE_UNLOST; i++)
		alike[i].kept = -1;
	for (topo_link l = 0; l < n_links; l++)
		belief[l].chance = -1;
	for (size_t i = 0; i < s->n; i++) {
		const struct sieve_candidate *c = &s->list[i];
		if (c->link >= n_links)
			continue;
		all += c->chance;
		belief[c->link] = (struct sieve_belief){c->chance,
		    s->failed[c->link] ? s->model.hazard[c->link]
				       : c->found.hazard,
		    s->prior.mean};
	}
	for (topo_link l = 0; l < n_links; l++) {
		if (belief[l].chance >= 0)
			continue;
		const struct sieve_finding f = sieve_chances_weigh(s, l, alike);
		const double odds = sieve_chances_odds(s, l, f, all);
		belief[l] = (struct sieve_belief){odds / (1 + odds), f.hazard,
		    s->prior.mean};
	}
}
