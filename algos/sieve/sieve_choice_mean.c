/* algos/sieve/sieve_choice_mean.c -- what lossy flows say of healthy links.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>

#include "algos/sieve/sieve_model.h"

/* Of packets times links of a row, which the score goes by: an octave in eight. */
enum { SIEVE_LAWS = 8 * 40 };

/* What speaks of the hazard of healthy links: rows that can have met nothing
 * else, by packets times links, and those that can, one by one. */
struct sieve_score {
	const struct sieve_model *m;
	double lost, on; /* packets, and packets times links that arrived */
	double law[SIEVE_LAWS]; /* rows */
	unsigned first, last;
	int touched; /* 1: of rows that can have met something, too */
};

static void sieve_score_row(struct sieve_score *x, const struct sieve_seen *row)
{
	x->law[row->law]++;
	x->first = row->law < x->first ? row->law : x->first;
	x->last = row->law > x->last ? row->law : x->last;
}

/* What a row lost and kept on its own way: n_met failed links of a sum of MET. */
static void sieve_score_way(struct sieve_score *x, struct sieve_seen *row,
    const uint8_t failed[])
{
	const struct sieve_model *m = x->m;
	const struct sieve_lossy *way = &m->lossy[row->lossy];
	row->met = row->n_met = 0;
	for (uint32_t k = way[0].first; k < way[1].first && row->touched; k++)
		if (failed[m->hop[k]]) {
			row->met += m->hazard[m->hop[k]];
			row->n_met++;
		}
	if (row->n_met == 0)
		x->lost += way->n_lost;
	x->on += (row->s - way->n_lost) * (row->n_hops - row->n_met);
}

/* X / (exp(X) - 1); of small X by its series, to 1e-8. */
static double sieve_score_wane(double x)
{
	return x < .05 ? 1 - x / 2 + x * x / 12 : x / sieve_expm1(x);
}

/* MEAN times the derivative of ln L by it. Of a way that met nothing that failed
 * the losses are 1 each, to first order. */
static double sieve_score_at(const struct sieve_score *x, double mean)
{
	const struct sieve_choice *c = &x->m->choice;
	double sum = x->lost - x->on * mean;
	for (unsigned k = x->first; k <= x->last; k++)
		if (x->law[k] > 0)
			sum -= x->law[k] *
			    sieve_score_wane(mean *
				ldexp(1 + (k % 8 + .5) / 8, (int)(k / 8)));
	for (size_t i = 0; x->touched && i < c->n; i++) {
		const struct sieve_seen *row = &c->seen[i];
		if (!row->touched || row->gone)
			continue;
		const double healthy = mean * (row->n_hops - row->n_met),
			     all = row->s * mean * row->n_hops;
		if (row->n_met > 0)
			sum += x->m->lossy[row->lossy].n_lost * healthy /
			    sieve_expm1(healthy + row->met);
		sum -= all * row->left * sieve_choice_worth(all, row->left);
	}
	return sum;
}

/* Where the score is 0: it falls, and LEAST and MOST bound what is answered. */
static double sieve_score_solve(const struct sieve_score *x, double from,
    double least, double most)
{
	double lo = log(from), hi = lo, at_lo, at_hi, step = .2;
	at_lo = at_hi = sieve_score_at(x, from);
	while (at_lo < 0 && lo > log(least)) {
		hi = lo;
		at_hi = at_lo;
		lo = fmax(lo - step, log(least));
		at_lo = sieve_score_at(x, exp(lo));
		step *= 2;
	}
	while (at_hi > 0 && hi < log(most)) {
		lo = hi;
		at_lo = at_hi;
		hi = fmin(hi + step, log(most));
		at_hi = sieve_score_at(x, exp(hi));
		step *= 2;
	}
	if (at_lo <= 0 || at_hi >= 0)
		return at_lo <= 0 ? exp(lo) : exp(hi);
	while (hi - lo > .01) {
		double mid = lo + (hi - lo) * at_lo / (at_lo - at_hi);
		mid = fmin(fmax(mid, lo + .1 * (hi - lo)), hi - .1 * (hi - lo));
		const double at = sieve_score_at(x, exp(mid));
		if (at > 0) {
			lo = mid;
			at_lo = at;
		} else {
			hi = mid;
			at_hi = at;
		}
	}
	return exp((lo + hi) / 2);
}

/* What was seen anyhow, as where all rows are: losses of healthy links by shares
 * of hazards, and packets on them. */
static void sieve_score_probes(struct sieve_score *x, const uint8_t skip[])
{
	const struct sieve_model *m = x->m;
	const struct sieve_choice *c = &m->choice;
	size_t next = 0;
	for (topo_link l = 0; l < m->topo->n_links; l++)
		if (!skip[l])
			x->on += c->probed[l];
	for (uint32_t i = 0; i < m->n_lossy; i++) {
		if (next < c->n && c->seen[next].lossy == i) {
			next++;
			continue;
		}
		double healthy = 0;
		for (uint32_t k = m->lossy[i].first; k < m->lossy[i + 1].first;
		     k++)
			if (!skip[m->hop[k]])
				healthy += m->hazard[m->hop[k]];
		x->lost += m->lossy[i].n_lost * healthy / m->sum[i];
	}
}

double sieve_choice_mean(const struct sieve_model *m, const uint8_t failed[])
{
	const struct sieve_choice *c = &m->choice;
	struct sieve_score x = {.m = m, .touched = 1, .first = SIEVE_LAWS};
	for (size_t i = 0; i < c->n; i++) {
		if (c->seen[i].gone)
			continue;
		sieve_score_way(&x, &c->seen[i], failed);
		if (!c->seen[i].touched)
			sieve_score_row(&x, &c->seen[i]);
	}
	sieve_score_probes(&x, failed);
	return sieve_score_solve(&x, c->mean, 2 * m->x[0],
	    m->x[SIEVE_GRID - 4]);
}

/* Links over which more rows went than do over others of their group: those may
 * not speak for the mean before anything is known. */
static int sieve_choice_stands_out(const struct sieve_model *m, topo_link l)
{
	static const double ROWS = 4, TIMES = 1.5, NATS = 5;
	const struct sieve_choice *c = &m->choice;
	const double n = c->share[c->groups.of[l]];
	double k = m->off[l + 1] - m->off[l];
	if (k < ROWS || k <= TIMES * n)
		return 0;
	k = 0;
	for (uint32_t i = m->off[l]; i < m->off[l + 1]; i++)
		k += !m->rows->is_probe[m->lossy[m->over[i]].row];
	return k >= ROWS && k > TIMES * n && k * log(k / n) - (k - n) > NATS;
}

double sieve_choice_start(struct sieve_model *m)
{
	struct sieve_choice *c = &m->choice;
	struct sieve_score x = {.m = m, .first = SIEVE_LAWS};
	uint8_t *out = c->out;
	for (topo_link l = 0; l < m->topo->n_links; l++)
		out[l] = (uint8_t)sieve_choice_stands_out(m, l);
	for (size_t i = 0; i < c->n; i++) {
		const struct sieve_lossy *row = &m->lossy[c->seen[i].lossy];
		int any = 0;
		for (uint32_t k = row[0].first; k < row[1].first; k++)
			any |= out[m->hop[k]];
		if (any || row->n_lost == 0)
			continue;
		sieve_score_way(&x, &c->seen[i], out);
		sieve_score_row(&x, &c->seen[i]);
	}
	sieve_score_probes(&x, out);
	return sieve_score_solve(&x, 3e-5, 2 * m->x[0], m->x[SIEVE_GRID - 4]);
}
