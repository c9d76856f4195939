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
	free(b->is_full);
	*b = (struct sieve_bursts){0};
}

/* Losses that what was found makes less likely than exp(-11), of a flow that lost
 * something. */
static int sieve_bursts_is_odd(const struct sieve_search *s, uint32_t i)
{
	static const double NATS = -11, TIMES = 0.7;
	const struct sieve_model *m = &s->model;
	const double lost = m->lossy[i].n_lost,
		     n = m->rows->n_sent[m->lossy[i].row], mu = n * m->sum[i];
	if (lost < 3 || mu > TIMES * lost || m->rows->is_probe[m->lossy[i].row])
		return 0;
	const double none =
	    sieve_ways_is_touched(m, i) ? sieve_ways_plain(m, i, 0, n) : -mu;
	return sieve_sudden_plain(s, i) - log1p(-mu / (lost + 1)) -
	    log(-expm1(none)) <
	    NATS;
}

int sieve_bursts_show(const struct sieve_search *s)
{
	static const double SHARE = 0.004;
	const struct sieve_model *m = &s->model;
	double n = 0;
	for (uint32_t i = 0; i < m->n_lossy; i++)
		n += sieve_bursts_is_odd(s, i);
	return n >= fmax(3, SHARE * (double)m->n_lossy);
}

int sieve_bursts_run(struct sieve_search *s, struct sim_err *e)
{
	struct sieve_bursts *b = &s->bursts;
	const size_t n_links = s->model.topo->n_links;
	int rc;
	if ((rc = sieve_sudden_read(s, e)) < 0 ||
	    (rc = SIM_RESERVE(&b->is_full, &b->cap_full, n_links, e)) < 0)
		return rc;
	memset(b->is_full, 0, n_links);
	for (uint32_t i = 0; i < s->model.n_lossy; i++)
		sieve_model_spare(&s->model, i, 0);
	b->on = 1;
	/* What was found explains the bursts, if wrongly, and so the others
	 * told of healthy links. */
	s->start = s->prior.mean;
	rc = sieve_search_run(s, e);
	s->start = 0;
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

static int sieve_bursts_fit(const struct sieve_search *s,
    const struct sieve_candidate *c, struct sieve_fit *fit)
{
	/* What they must have over a failure, set on windows with bursts. */
	static const double KNOWN = 6, CHOSEN = -3;
	return s->bursts.on &&
	    sieve_sudden_evidence(s, c->link, SIEVE_QUEUE, fit) >
	    sieve_bursts_failure(s, c) + (s->model.choice.on ? CHOSEN : KNOWN);
}

int sieve_bursts_say(const struct sieve_search *s,
    const struct sieve_candidate *c)
{
	struct sieve_fit fit;
	return sieve_bursts_fit(s, c, &fit);
}

int sieve_bursts_take(struct sieve_search *s, const struct sieve_candidate *c)
{
	const struct sieve_sudden *x = &s->sudden;
	struct sieve_fit fit;
	int n = 0;
	if (!sieve_bursts_fit(s, c, &fit))
		return 0;
	for (uint32_t k = x->off[c->link]; k < x->off[c->link + 1]; k++) {
		const uint32_t i = x->row[k].lossy;
		if (!(sieve_sudden_odds(s, &x->row[k], &fit) > 0))
			continue;
		sieve_model_spare(&s->model, i, 1);
		sieve_search_stale_row(s, i);
		n++;
	}
	s->bursts.is_full[c->link] |= n > 0;
	return n > 0;
}
