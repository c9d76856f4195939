/* algos/sieve/sieve_holes.c -- switches and links that swallow some flows whole.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/sieve/sieve_holes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algos/sieve/sieve_search.h"
#include "sim/vec.h"

/* A hole goes by headers, which are a switch's to look at: of a link it is rarer.
 * And what it must have over queues that overflow. */
static const double HOLES_OF_LINK = -4, HOLES_OVER_QUEUE = 6,
		    HOLES_SPELL_OVER_QUEUE = 16;

void sieve_holes_free(struct sieve_holes *h)
{
	free(h->hole);
	free(h->of);
	*h = (struct sieve_holes){0};
}

/* --- who may have one ----------------------------------------------------- */

static int holes_is_whole(const struct obs_tallies *t, uint32_t row)
{
	enum { FEW = 3 };
	return t->n_lost[row] == t->n_sent[row] && t->n_sent[row] >= FEW;
}

/* Rows that were swallowed lose nothing (SPARED), or all. Sums alone are to be
 * taken of that, which no curve is asked for. */
static size_t holes_spare(struct sieve_search *s, int spared)
{
	struct sieve_model *m = &s->model;
	size_t n = 0;
	for (size_t i = 0; i < m->n_lossy; i++)
		if (holes_is_whole(m->rows, m->lossy[i].row)) {
			m->lossy[i].n_lost =
			    spared ? 0 : m->rows->n_lost[m->lossy[i].row];
			n++;
		}
	return n;
}

static int holes_show(const struct sieve_search *s)
{
	static const double NATS = -11;
	const struct sieve_model *m = &s->model;
	for (uint32_t i = 0; i < m->n_lossy; i++)
		if (holes_is_whole(m->rows, m->lossy[i].row) &&
		    sieve_sudden_plain(s, i) < NATS)
			return 1;
	return 0;
}

/* Whether part P may have a hole, or, where there are bursts, fail for a while: of
 * fewer rows neither is told from a queue. */
static int holes_may(const struct sieve_search *s, uint32_t part)
{
	enum { ROWS = 3 };
	const struct sieve_sudden *x = &s->sudden;
	const struct sieve_model *m = &s->model;
	unsigned n_whole = 0, n_odd = 0;
	for (uint32_t k = x->off[part]; k < x->off[part + 1]; k++) {
		const uint32_t row = m->lossy[x->row[k].lossy].row;
		n_whole += (unsigned)holes_is_whole(m->rows, row);
		n_odd += m->rows->n_lost[row] >= 3;
	}
	return n_whole > 0 ||
	    (s->bursts.on && part < m->topo->n_links && n_odd >= ROWS);
}

static int holes_candidates(struct sieve_search *s, struct sim_err *e)
{
	struct sieve_holes *h = &s->holes;
	int rc = 0;
	for (uint32_t p = 0; rc == 0 && p < s->sudden.n_parts; p++) {
		if (!holes_may(s, p))
			continue;
		rc = SIM_RESERVE(&h->hole, &h->cap, h->n + 1, e);
		if (rc == 0)
			h->hole[h->n++] = (struct sieve_hole){.part = p,
			    .gain = INFINITY,
			    .stale = 1};
	}
	return rc;
}

/* The mean hazard without what was swallowed, or 0 if nothing seems to be. */
static double holes_quiet(struct sieve_search *s)
{
	struct sieve_model *m = &s->model;
	if (holes_spare(s, 1) == 0)
		return 0;
	const double mean = m->choice.on ? sieve_choice_start(m)
					 : sieve_model_mean(m, s->failed);
	holes_spare(s, 0);
	sieve_model_level(m, mean);
	return holes_show(s) ? mean : 0;
}

int sieve_holes_begin(struct sieve_search *s, double *mean, struct sim_err *e)
{
	struct sieve_holes *h = &s->holes;
	const size_t n = s->model.n_lossy;
	int rc;
	h->on = 0;
	h->n = h->n_taken = 0;
	const double quiet = s->bursts.on ? *mean : holes_quiet(s);
	if (quiet == 0)
		return 0;
	if ((rc = sieve_sudden_read(s, e)) < 0 ||
	    (rc = SIM_RESERVE(&h->of, &h->cap_of, n, e)) < 0 ||
	    (rc = holes_candidates(s, e)) < 0)
		return rc;
	memset(h->of, 0xff, n * sizeof(*h->of));
	*mean = quiet;
	h->on = 1;
	return 0;
}

void sieve_holes_stir(struct sieve_holes *h)
{
	for (size_t i = 0; h->on && i < h->n; i++)
		h->hole[i].stale = 1;
}

/* --- one of them ---------------------------------------------------------- */

/* Of many ports with queues a few rows of one are alike by chance. */
static double holes_over(const struct sieve_hole *h)
{
	return h->fit.law == SIEVE_SPELL ? HOLES_SPELL_OVER_QUEUE
					 : HOLES_OVER_QUEUE;
}

/* What queues have of the same rows: into a part, or, of a ToR, out of it to its
 * hosts, which all rows crossed surely that may have. */
static double holes_queues(const struct sieve_search *s, uint32_t part)
{
	const struct topo *t = s->model.topo;
	struct sieve_fit fit;
	double out = 0;
	for (topo_host h = 0; part >= t->n_links && h < t->n_hosts; h++)
		if (topo_tor_of(t, h) == part - t->n_links)
			out += fmax(0,
			    sieve_sudden_evidence(s, topo_link_of(h, TOPO_DOWN),
				SIEVE_QUEUE, &fit));
	return fmax(out, sieve_sudden_evidence(s, part, SIEVE_QUEUE, &fit));
}

/* By the likeliest of its laws; that of spells is asked where there are bursts, and
 * of links. */
static void holes_weigh(const struct sieve_search *s, struct sieve_hole *h)
{
	const int is_link = h->part < s->model.topo->n_links;
	const unsigned n = is_link && s->bursts.on ? 3 : 2;
	h->evidence = -INFINITY;
	for (unsigned law = SIEVE_WHOLE; law < n; law++) {
		struct sieve_fit fit;
		const double ln = sieve_sudden_evidence(s, h->part,
				      (enum sieve_law)law, &fit) -
		    log(n);
		if (ln > h->evidence) {
			h->evidence = ln;
			h->fit = fit;
		}
	}
	h->gain = h->evidence +
	    (is_link && h->fit.law != SIEVE_SPELL ? HOLES_OF_LINK : 0) +
	    sieve_search_odds(s,
		(double)s->n_alone + s->devices.n_accused +
		    (double)s->holes.n_taken - h->taken);
	h->stale = 0;
}

/* The likeliest that is not taken; NULL if none has odds above 1. */
static struct sieve_hole *holes_best(struct sieve_search *s)
{
	static const double least = 0;
	struct sieve_holes *h = &s->holes;
	while (h->on) {
		struct sieve_hole *best = NULL;
		for (size_t i = 0; i < h->n; i++)
			if (!h->hole[i].taken && h->hole[i].gain > least &&
			    (!best || h->hole[i].gain > best->gain))
				best = &h->hole[i];
		if (!best || !best->stale) {
			if (!best || best->gain > least)
				return best;
		}
		holes_weigh(s, best);
		if (best->gain > least &&
		    holes_queues(s, best->part) + holes_over(best) >
			best->evidence)
			best->gain = -INFINITY;
	}
	return NULL;
}

/* Mark what holes are of and what they took, or give it back. */
static size_t holes_move(struct sieve_search *s, size_t at, int taken)
{
	const struct sieve_sudden *x = &s->sudden;
	const struct sieve_hole *h = &s->holes.hole[at];
	size_t n = 0;
	for (uint32_t k = x->off[h->part]; k < x->off[h->part + 1]; k++) {
		const uint32_t i = x->row[k].lossy;
		if (taken &&
		    (s->holes.of[i] != UINT32_MAX ||
			!(sieve_sudden_odds(s, &x->row[k], &h->fit) > 0)))
			continue;
		if (!taken && s->holes.of[i] != at)
			continue;
		s->holes.of[i] = taken ? (uint32_t)at : UINT32_MAX;
		sieve_model_spare(&s->model, i, taken);
		sieve_search_stale_row(s, i);
		n++;
	}
	return n;
}

int sieve_holes_take(struct sieve_search *s, const struct sieve_candidate *c)
{
	struct sieve_holes *h = &s->holes;
	struct sieve_hole *best;
	while ((best = holes_best(s))) {
		const size_t at = (size_t)(best - h->hole);
		const double odds =
		    c ? sieve_search_link_odds(s, c->link, TOPO_NONE) : 0;
		if (holes_move(s, at, 1) == 0) {
			best->gain = -INFINITY;
			continue;
		}
		if (c && c->found.ln_factor + odds > best->gain &&
		    sieve_search_weigh(s, c->link).ln_factor + odds > 0) {
			holes_move(s, at, 0);
			return 0;
		}
		best->taken = 1;
		h->n_taken++;
		sieve_holes_stir(h);
		return 1;
	}
	return 0;
}

/* --- chances -------------------------------------------------------------- */

static void holes_add(struct sieve_search *s, uint32_t part, double chance)
{
	static const double LISTED = 1e-4;
	size_t i = 0;
	while (i < s->n && s->list[i].link != part)
		i++;
	if (i == s->n && chance < LISTED)
		return;
	if (i == s->n)
		s->list[s->n++] = (struct sieve_candidate){.link = part};
	s->list[i].chance = 1 - (1 - s->list[i].chance) * (1 - chance);
	s->none *= 1 - chance;
}

/* Whether part P had any of what is given back. */
static int holes_share(const struct sieve_search *s, uint32_t part)
{
	const struct sieve_sudden *x = &s->sudden;
	int any = 0;
	for (uint32_t k = x->off[part]; k < x->off[part + 1]; k++)
		any |= s->model.lossy[x->row[k].lossy].n_lost > 0 &&
		    holes_is_whole(s->model.rows,
			s->model.lossy[x->row[k].lossy].row);
	return any;
}

/* Hole AT, or any that would stand in its place, or nobody. */
static void holes_swap(struct sieve_search *s, size_t at)
{
	struct sieve_holes *h = &s->holes;
	double most = 0, sum = 0;
	for (size_t i = 0; i < h->n; i++) {
		if (i != at &&
		    (h->hole[i].taken || !holes_share(s, h->hole[i].part)))
			continue;
		holes_weigh(s, &h->hole[i]);
		most = fmax(most, h->hole[i].gain);
	}
	for (size_t i = 0; i < h->n; i++)
		if (!h->hole[i].stale)
			sum += exp(h->hole[i].gain - most);
	sum += exp(-most);
	for (size_t i = 0; i < h->n; i++)
		if (!h->hole[i].stale)
			holes_add(s, h->hole[i].part,
			    exp(h->hole[i].gain - most) / sum);
}

void sieve_holes_list(struct sieve_search *s)
{
	struct sieve_holes *h = &s->holes;
	for (size_t i = 0; h->on && i < h->n; i++) {
		if (!h->hole[i].taken)
			continue;
		sieve_holes_stir(h);
		holes_move(s, i, 0);
		holes_swap(s, i);
		holes_move(s, i, 1);
	}
}

uint32_t sieve_holes_of(const struct sieve_search *s, uint32_t i)
{
	return s->holes.on && s->holes.of[i] != UINT32_MAX
	    ? s->holes.hole[s->holes.of[i]].part
	    : TOPO_NONE;
}
