/* algos/sieve/sieve_bursts.c -- flows that lost many packets at once, to a queue.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/sieve/sieve_bursts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algos/sieve/sieve_search.h"
#include "sim/vec.h"

void sieve_bursts_free(struct sieve_bursts *b)
{
	free(b->n_over);
	*b = (struct sieve_bursts){0};
}

static double sieve_bursts_ln_poisson(double r, double mu)
{
	return r * log(mu) - mu - lgamma(r + 1);
}

/* Losses that what was found makes less likely than exp(-11), of a flow that lost
 * something. */
static int sieve_bursts_is_odd(const struct sieve_model *m, size_t i)
{
	static const double NATS = -11, TIMES = 0.7;
	const double r = m->lossy[i].n_lost,
		     mu = m->rows->n_sent[m->lossy[i].row] * m->sum[i];
	if (r < 3 || mu > TIMES * r)
		return 0;
	return sieve_bursts_ln_poisson(r, mu) - log1p(-mu / (r + 1)) -
	    log(-expm1(-mu)) <
	    NATS;
}

int sieve_bursts_show(const struct sieve_search *s)
{
	static const double SHARE = 0.004;
	const struct sieve_model *m = &s->model;
	double n = 0;
	for (size_t i = 0; m->n_dark == 0 && i < m->n_lossy; i++)
		n += sieve_bursts_is_odd(m, i);
	return n >= fmax(3, SHARE * (double)m->n_lossy);
}

/* --- searching again ------------------------------------------------------ */

static void sieve_bursts_count(struct sieve_search *s)
{
	const struct obs_tallies *t = s->model.rows;
	const struct obs_paths *p = t->paths;
	double *n = s->bursts.n_over;
	memset(n, 0, s->model.topo->n_links * sizeof(*n));
	for (size_t i = 0; i < t->n; i++) {
		if (t->path[i] == OBS_NO_PATH)
			continue;
		for (uint32_t k = p->off[t->path[i]];
		     k < p->off[t->path[i] + 1]; k++)
			n[p->link[k]]++;
		if (t->up[i] != TOPO_NONE)
			n[t->up[i]]++;
		if (t->down[i] != TOPO_NONE)
			n[t->down[i]]++;
	}
}

int sieve_bursts_run(struct sieve_search *s, struct sim_err *e)
{
	struct sieve_bursts *b = &s->bursts;
	int rc =
	    SIM_RESERVE(&b->n_over, &b->cap_over, s->model.topo->n_links, e);
	if (rc < 0)
		return rc;
	sieve_bursts_count(s);
	for (uint32_t i = 0; i < s->model.n_lossy; i++)
		sieve_model_spare(&s->model, i, 0);
	b->on = 1;
	/* What was found explains the bursts, if wrongly, and so the others
	 * told of healthy links. */
	s->start = s->prior.mean;
	rc = sieve_search_run(s, e);
	s->start = 0;
	b->on = 0;
	return rc;
}

/* --- a candidate ---------------------------------------------------------- */

/* ln of what failure has over health, and what its peak has over the points of
 * the grid: that is coarser than the peak of a link that lost much. */
static double sieve_bursts_failure(const struct sieve_search *s,
    const struct sieve_candidate *c)
{
	double ell[SIEVE_GRID];
	unsigned g = 0;
	sieve_model_curve(&s->model, c->link, ell);
	for (unsigned k = 1; k < SIEVE_GRID; k++)
		if (ell[k] > ell[g])
			g = k;
	if (g == 0 || g + 1 == SIEVE_GRID)
		return c->found.ln_factor;
	const double left = ell[g - 1] - ell[g], right = ell[g + 1] - ell[g],
		     bend = left + right;
	return c->found.ln_factor +
	    (bend < 0 ? -(right - left) * (right - left) / (8 * bend) : 0);
}

/* ln of odds that row I is of a burst, where each has even ones of meeting one. */
static double sieve_bursts_row(const struct sieve_model *m, uint32_t i)
{
	const double r = m->lossy[i].n_lost,
		     mu = m->rows->n_sent[m->lossy[i].row] * m->sum[i];
	return r < 2 ? -INFINITY
		     : log(2 / (r * (r + 1))) - sieve_bursts_ln_poisson(r, mu);
}

/* Rows over a link: where they are seen for their losses, those that say so and
 * those that they stand for. */
static double sieve_bursts_over(const struct sieve_search *s, topo_link l)
{
	const struct sieve_model *m = &s->model;
	const struct sieve_choice *c = &m->choice;
	double n = s->bursts.n_over[l];
	for (unsigned b = 0; m->choice.on && b < c->n_bins; b++)
		n += c->bin[(size_t)c->groups.of[l] * c->n_bins + b].a;
	return n;
}

/* ln of odds that row I was swallowed whole, likewise. */
static double sieve_bursts_swallowed(const struct sieve_model *m, uint32_t i)
{
	const double r = m->lossy[i].n_lost,
		     n_sent = m->rows->n_sent[m->lossy[i].row];
	return r < n_sent ? -INFINITY
			  : -sieve_bursts_ln_poisson(r, n_sent * m->sum[i]);
}

/* What flows over a link that are as ROW says, each with probability rho, have over
 * noise, in nats, and the likeliest rho. */
static double sieve_bursts_evidence(const struct sieve_search *s, topo_link l,
    double (*row)(const struct sieve_model *, uint32_t), double *likely)
{
	enum { RHOS = 14 };
	static const double LEAST = 1e-4, RATIO = 1.75;
	const struct sieve_model *m = &s->model;
	double ln[RHOS], most = -INFINITY, sum = 0, rho = LEAST;
	const double n_quiet =
	    fmax(0, sieve_bursts_over(s, l) - (m->off[l + 1] - m->off[l]));
	for (unsigned k = 0; k < RHOS; k++, rho *= RATIO) {
		ln[k] = n_quiet * log1p(-rho);
		for (uint32_t i = m->off[l]; i < m->off[l + 1]; i++) {
			const double z = log(rho) + row(m, m->over[i]);
			ln[k] += z > 30 ? z : log1p(exp(z));
		}
		if (ln[k] > most)
			*likely = rho;
		most = fmax(most, ln[k]);
	}
	for (unsigned k = 0; k < RHOS; k++)
		sum += exp(ln[k] - most);
	return most + log(sum / RHOS);
}

int sieve_bursts_take(struct sieve_search *s, const struct sieve_candidate *c)
{
	/* What each must have over the other, set on windows with bursts. */
	static const double KNOWN = 6, CHOSEN = -3, WHOLE = 10;
	struct sieve_model *m = &s->model;
	const topo_link l = c->link;
	double rho = 0, swallowed;
	int n = 0;
	if (!s->bursts.on)
		return 0;
	const double taken =
	    sieve_bursts_evidence(s, l, sieve_bursts_row, &rho);
	if (taken <=
		sieve_bursts_failure(s, c) + (m->choice.on ? CHOSEN : KNOWN) ||
	    taken + WHOLE <=
		sieve_bursts_evidence(s, l, sieve_bursts_swallowed, &swallowed))
		return 0;
	for (uint32_t k = m->off[l]; k < m->off[l + 1]; k++) {
		const uint32_t i = m->over[k];
		if (log(rho) + sieve_bursts_row(m, i) <= 0)
			continue;
		m->lossy[i].n_lost = 0;
		n++;
		for (uint32_t h = m->lossy[i].first; h < m->lossy[i + 1].first;
		     h++)
			s->stale[m->hop[h]] = 1;
	}
	return n > 0;
}
