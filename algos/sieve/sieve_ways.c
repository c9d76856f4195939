/* algos/sieve/sieve_ways.c -- losses on one of equal paths, evaluated one by one.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/sieve/sieve_ways.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algos/sieve/sieve_model.h"
#include "sim/vec.h"

void sieve_ways_free(struct sieve_ways *w)
{
	free(w->off);
	free(w->row);
	free(w->n_odd);
	free(w->group);
	free(w->survive);
	*w = (struct sieve_ways){0};
}

static int sieve_ways_room(struct sieve_model *m, struct sim_err *e)
{
	struct sieve_ways *w = &m->ways;
	const struct sieve_sets *s = &m->sets;
	uint32_t most = 0;
	int rc;
	for (uint32_t set = 0; set < s->n_sets; set++)
		if (s->used[set] && obs_set_size(s->ways.of, set) > most)
			most = obs_set_size(s->ways.of, set);
	if ((rc = SIM_RESERVE(&w->off, &w->cap_off, s->n_sets + 2, e)) < 0 ||
	    (rc = SIM_RESERVE(&w->row, &w->cap_row, m->n_lossy, e)) < 0 ||
	    (rc = SIM_RESERVE(&w->n_odd, &w->cap_odd, s->n_sets, e)) < 0 ||
	    (rc = SIM_RESERVE(&w->group, &w->cap_group, most, e)) < 0 ||
	    (rc = SIM_RESERVE(&w->survive, &w->cap_survive, 32 * SIEVE_GRID,
		 e)) < 0)
		return rc;
	memset(w->off, 0, (s->n_sets + 2) * sizeof(*w->off));
	memset(w->n_odd, 0, s->n_sets * sizeof(*w->n_odd));
	return 0;
}

int sieve_ways_read(struct sieve_model *m, struct sim_err *e)
{
	struct sieve_ways *w = &m->ways;
	const int rc = sieve_ways_room(m, e);
	uint32_t *first = w->off + 1;
	if (rc < 0)
		return rc;
	for (unsigned b = 0; b < 32; b++)
		for (unsigned g = 0; g < SIEVE_GRID; g++)
			w->survive[b * SIEVE_GRID + g] =
			    exp(-(double)(UINT32_C(1) << b) * m->x[g]);
	for (size_t i = 0; i < m->n_lossy; i++)
		if (m->lossy[i].set != OBS_NO_PATH)
			first[m->lossy[i].set + 1]++;
	for (size_t s = 0; s < m->sets.n_sets; s++)
		first[s + 1] += first[s];
	for (uint32_t i = 0; i < m->n_lossy; i++)
		if (m->lossy[i].set != OBS_NO_PATH)
			w->row[first[m->lossy[i].set]++] = i;
	return 0;
}

/* --- what is odd ---------------------------------------------------------- */

void sieve_ways_turn(struct sieve_model *m, topo_link link, int sign)
{
	const struct sieve_sets *s = &m->sets;
	for (uint32_t k = s->off[link]; k < s->off[link + 1]; k++)
		m->ways.n_odd[s->over[k].set] += (uint32_t)sign;
	for (uint32_t k = m->off[link]; k < m->off[link + 1]; k++)
		m->lossy[m->over[k]].n_odd += (uint32_t)sign;
}

void sieve_ways_count(struct sieve_model *m)
{
	memset(m->ways.n_odd, 0, m->sets.n_sets * sizeof(*m->ways.n_odd));
	for (size_t i = 0; i < m->n_lossy; i++)
		m->lossy[i].n_odd = 0;
	for (topo_link l = 0; l < m->topo->n_links; l++)
		if (m->hazard[l] != m->level)
			sieve_ways_turn(m, l, 1);
}

/* --- paths of a set, by what failed on them ------------------------------- */

static size_t sieve_ways_put(const struct sieve_ways *w, size_t n_groups,
    double excess, double healthy, int with)
{
	size_t k = 0;
	while (k < n_groups && w->group[k].excess != excess)
		k++;
	if (k == n_groups)
		w->group[n_groups++] =
		    (struct sieve_group){excess, healthy, 0, 0};
	w->group[k].with += with != 0;
	w->group[k].without += with == 0;
	return n_groups;
}

static int sieve_ways_is_sure(const struct sieve_sets *s, uint32_t set,
    topo_link l)
{
	for (uint32_t k = s->sure_off[set]; k < s->sure_off[set + 1]; k++)
		if (s->sure[k] == l)
			return 1;
	return 0;
}

/* Returns how many groups there are. Paths of a set need not be as long as its
 * first one. A link that is on all of them is in none of these sums, but in those
 * of rows. */
static size_t sieve_ways_groups(const struct sieve_model *m, uint32_t set,
    topo_link link)
{
	const struct obs_paths *p = m->sets.ways.of;
	const uint32_t first = p->first[set];
	const unsigned n_first = obs_path_length(p, first);
	size_t n = 0;
	for (uint32_t i = first; i < p->first[set + 1]; i++) {
		double excess =
			   ((double)obs_path_length(p, i) - n_first) * m->level,
		       healthy = 0;
		int with = 0;
		for (uint32_t k = p->off[i]; k < p->off[i + 1]; k++) {
			const topo_link l = p->link[k];
			const double x = m->hazard[l];
			if (sieve_ways_is_sure(&m->sets, set, l))
				continue;
			if (l == link)
				with = 1;
			else if (x != m->level)
				excess += x - m->level;
			if (x == m->level)
				healthy += x;
		}
		n = sieve_ways_put(&m->ways, n, excess, healthy, with);
	}
	return n;
}

/* Those of a set without an odd link but, it may be, the one asked for. */
static size_t sieve_ways_alike(const struct sieve_model *m,
    const struct sieve_kind *k)
{
	m->ways.group[0] = (struct sieve_group){0, k->n_hops * m->level,
	    k->n_on, k->n_paths - k->n_on};
	return 1;
}

/* --- one row -------------------------------------------------------------- */

/* ln of a row's likelihood on one path. */
static double sieve_ways_ln(double sum, double lost, double kept)
{
	return lost * log(-expm1(-sum)) - kept * sum;
}

/* A row's likelihood as it is gone through: without the link, and with it, by
 * groups that do have it, as A (1 + p ic)^lost. */
struct sieve_row {
	uint32_t lost, kept;
	double without, most; /* the greatest ic */
	size_t n;
	struct {
		double a, ic;
	} with[16];
};

/* Products of factors whose logarithms are still to be taken. */
struct sieve_product {
	double of[SIEVE_GRID], bits;
};

static void sieve_ways_flush(struct sieve_product *x, double ell[SIEVE_GRID])
{
	for (unsigned g = 0; g < SIEVE_GRID; g++) {
		ell[g] += log(x->of[g]);
		x->of[g] = 1;
	}
	x->bits = 0;
}

static double sieve_ways_rest(double sum)
{
	return fmax(sum, SIEVE_NO_REST);
}

/* ln of the greatest term of any group. */
static double sieve_ways_most(const struct sieve_model *m, size_t n_groups,
    double sum, double own, const struct sieve_row *x)
{
	double most = -INFINITY;
	for (size_t k = 0; k < n_groups; k++) {
		const struct sieve_group *y = &m->ways.group[k];
		if (y->without)
			most = fmax(most,
			    sieve_ways_ln(sum + y->excess, x->lost, x->kept));
		if (y->with)
			most = fmax(most,
			    sieve_ways_ln(sieve_ways_rest(
					      sum + y->excess - own),
				x->lost, x->kept));
	}
	return most;
}

/* The same for many groups, or much lost: each point by logarithms. */
static void sieve_ways_slow(const struct sieve_model *m, size_t n_groups,
    double sum, double own, const struct sieve_row *x, int sure,
    double ell[SIEVE_GRID])
{
	for (unsigned g = 0; g < SIEVE_GRID; g++) {
		double most = -INFINITY, all = 0;
		for (unsigned pass = 0; pass < 2; pass++)
			for (size_t k = 0; k < n_groups; k++) {
				const struct sieve_group *y = &m->ways.group[k];
				const double at = sum + y->excess;
				const double a = y->without
				    ? sieve_ways_ln(at, x->lost, x->kept)
				    : -INFINITY;
				const double b = y->with
				    ? sieve_ways_ln(sieve_ways_rest(at - own) +
					      m->x[g],
					  x->lost, x->kept)
				    : -INFINITY;
				if (pass == 0)
					most = fmax(most, fmax(a, b));
				else
					all += y->without * exp(a - most) +
					    y->with * exp(b - most);
			}
		/* What is surely on the way counts in kept, as packets of
		 * known paths do. */
		ell[g] += most + log(all) + (sure ? x->kept * m->x[g] : 0);
	}
}

/* Multiply by what a row says. OWN is the link's hazard within SUM. */
static void sieve_ways_row(const struct sieve_model *m, uint32_t lossy,
    size_t n_groups, double own, int sure, struct sieve_product *to,
    double ell[SIEVE_GRID])
{
	static const double FULL = 900, NOTHING = 1e-200;
	const struct sieve_lossy *row = &m->lossy[lossy];
	const double sum = m->sum[lossy];
	struct sieve_row x = {.lost = row->n_lost,
	    .kept = m->rows->n_sent[row->row] - row->n_lost};
	const double most = sieve_ways_most(m, n_groups, sum, own, &x);
	int slow = 0;
	for (size_t k = 0; k < n_groups && !slow; k++) {
		const struct sieve_group *y = &m->ways.group[k];
		const double rest = sieve_ways_rest(sum + y->excess - own);
		if (y->without)
			x.without += y->without *
			    exp(sieve_ways_ln(sum + y->excess, x.lost, x.kept) -
				most);
		slow = y->with && x.n == 16;
		if (!y->with || slow)
			continue;
		x.with[x.n].a =
		    y->with * exp(sieve_ways_ln(rest, x.lost, x.kept) - most);
		x.with[x.n].ic = 1 / expm1(rest);
		x.most = fmax(x.most, x.with[x.n++].ic);
	}
	const double bits = x.lost * log2(1 + x.most) + 20;
	if (slow || bits > FULL / 2 || (!sure && x.without < NOTHING)) {
		sieve_ways_slow(m, n_groups, sum, own, &x, sure, ell);
		return;
	}
	const double down = sure ? 0 : -log2(x.without);
	if ((to->bits += bits + down) > FULL)
		sieve_ways_flush(to, ell);
	double with[SIEVE_GRID] = {0}, one[SIEVE_GRID];
	for (size_t k = 0; k < x.n; k++) {
		for (unsigned g = 0; g < SIEVE_GRID; g++)
			one[g] = x.with[k].a;
		for (uint32_t n = 0; n < x.lost; n++)
			for (unsigned g = 0; g < SIEVE_GRID; g++)
				one[g] *= 1 + m->p[g] * x.with[k].ic;
		for (unsigned g = 0; g < SIEVE_GRID; g++)
			with[g] += one[g];
	}
	for (unsigned b = 0; !sure && b < 32; b++)
		for (unsigned g = 0; x.kept >> b & 1 && g < SIEVE_GRID; g++)
			with[g] *= m->ways.survive[b * SIEVE_GRID + g];
	for (unsigned g = 0; g < SIEVE_GRID; g++)
		to->of[g] *= x.without + with[g];
}

/* --- a link's curve ------------------------------------------------------- */

static void sieve_ways_maybe(const struct sieve_model *m, topo_link link,
    const struct sieve_over *o, struct sieve_product *to,
    double ell[SIEVE_GRID])
{
	const struct sieve_ways *w = &m->ways;
	const int odd = m->hazard[link] != m->level;
	const int touched = w->n_odd[o->set] > (uint32_t)odd;
	size_t n_groups = 0;
	for (uint32_t k = w->off[o->set]; k < w->off[o->set + 1]; k++) {
		double ln[SIEVE_GRID];
		const uint32_t i = w->row[k];
		if (!touched && m->lossy[i].n_odd == 0)
			continue;
		if (n_groups == 0)
			n_groups = touched
			    ? sieve_ways_groups(m, o->set, link)
			    : sieve_ways_alike(m, &m->sets.kind[o->kind]);
		const double *plain = sieve_cells_plain(m, i, o->kind, ln);
		for (unsigned g = 0; g < SIEVE_GRID; g++)
			ell[g] -= plain[g];
		sieve_ways_row(m, i, n_groups, m->level, 0, to, ell);
	}
}

void sieve_ways_curve(const struct sieve_model *m, topo_link link, double ell[])
{
	const struct sieve_sets *s = &m->sets;
	struct sieve_product x = {.bits = 0};
	for (unsigned g = 0; g < SIEVE_GRID; g++)
		x.of[g] = 1;
	for (uint32_t k = s->off[link]; k < s->off[link + 1]; k++)
		sieve_ways_maybe(m, link, &s->over[k], &x, ell);
	for (uint32_t k = m->off[link]; k < m->off[link + 1]; k++) {
		const uint32_t i = m->over[k];
		if (!sieve_ways_is_touched(m, i))
			continue;
		const size_t n_groups =
		    sieve_ways_groups(m, m->lossy[i].set, TOPO_NONE);
		for (size_t n = 0; n < n_groups; n++) {
			m->ways.group[n].with = m->ways.group[n].without;
			m->ways.group[n].without = 0;
		}
		sieve_ways_row(m, i, n_groups, m->hazard[link], 1, &x, ell);
	}
	sieve_ways_flush(&x, ell);
}

double sieve_ways_healthy(const struct sieve_model *m, uint32_t lossy)
{
	const struct sieve_lossy *row = &m->lossy[lossy];
	const double kept = m->rows->n_sent[row->row] - row->n_lost;
	double sure = 0, most = -INFINITY, all = 0, healthy = 0;
	for (uint32_t k = row[0].first; k < row[1].first; k++)
		if (m->hazard[m->hop[k]] == m->level)
			sure += m->level;
	const size_t n_groups = sieve_ways_groups(m, row->set, TOPO_NONE);
	for (unsigned pass = 0; pass < 2; pass++)
		for (size_t k = 0; k < n_groups; k++) {
			const struct sieve_group *y = &m->ways.group[k];
			const double sum = m->sum[lossy] + y->excess,
				     ln = sieve_ways_ln(sum, row->n_lost, kept);
			if (pass == 0) {
				most = fmax(most, ln);
				continue;
			}
			const double w = y->without * exp(ln - most);
			all += w;
			healthy += w * fmin(1, (sure + y->healthy) / sum);
		}
	return healthy / all;
}
