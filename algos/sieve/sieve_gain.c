/* algos/sieve/sieve_gain.c -- what the likelihood gains where one or two links fail.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/sieve/sieve_gain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"

void sieve_gain_free(struct sieve_gain *g)
{
	free(g->row);
	free(g->choice);
	*g = (struct sieve_gain){0};
}

/* --- rows that the links are on ------------------------------------------- */

static int sieve_gain_row(struct sieve_gain *g, const struct sieve_model *m,
    const topo_link link[], uint32_t at, uint32_t first, struct sim_err *e)
{
	const struct sieve_lossy *row = &m->lossy[at];
	uint32_t on = 0;
	int rc;
	for (uint32_t h = row[0].first; h < row[1].first; h++)
		for (uint32_t i = 0; i < g->n; i++)
			on |= (uint32_t)(m->hop[h] == link[i]) << i;
	/* A row of both is come to from the first. */
	if (row->n_lost == 0 || on & ((1u << first) - 1))
		return 0;
	if ((rc = SIM_RESERVE(&g->row, &g->cap_rows, g->n_rows + 1, e)) < 0)
		return rc;
	g->row[g->n_rows++] =
	    (struct sieve_gain_row){sieve_ic(
					sieve_max(m->sum[at], SIEVE_NO_REST)),
		row->n_lost, on};
	return 0;
}

/* --- rows whose choice they were ------------------------------------------ */

/* What ways of a row have a link on them, of those that nothing else took: hosts'
 * cables, or paths. */
struct sieve_gain_part {
	double up, down, path;
};

static struct sieve_gain_part sieve_gain_cable(const struct sieve_choice *c,
    const struct sieve_seen *row, uint32_t group)
{
	struct sieve_gain_part part = {0};
	if (group == (uint32_t)row->up)
		part.up = sieve_choice_cable(c, row->up);
	else if (group == (uint32_t)row->down)
		part.down = sieve_choice_cable(c, row->down);
	return part;
}

/* Shares of a row's paths that have the links on them, and all of them. */
static double sieve_gain_paths(const struct sieve_model *m,
    const struct sieve_seen *row, const topo_link link[], uint32_t n,
    struct sieve_gain_part part[])
{
	const struct obs_paths *p = m->rows->paths;
	const uint32_t set = m->choice.spot[row->spot].set;
	const double each = 1. / obs_set_size(p, set);
	double both = 0;
	for (uint32_t i = p->first[set]; i < p->first[set + 1]; i++) {
		uint32_t on = 0;
		double more = 0;
		for (uint32_t k = p->off[i]; k < p->off[i + 1]; k++) {
			more += m->hazard[p->link[k]] - m->choice.mean;
			for (uint32_t j = 0; j < n; j++)
				on |= (uint32_t)(p->link[k] == link[j]) << j;
		}
		const double share =
		    more == 0 || on == 0 ? each : each * exp(-row->s * more);
		for (uint32_t j = 0; j < n; j++)
			part[j].path += on >> j & 1 ? share : 0;
		both += on == 3 ? share : 0;
	}
	return both;
}

/* Whether paths of a row may cross a link of a group. */
static int sieve_gain_may(const struct sieve_choice *c,
    const struct sieve_seen *row, uint32_t group)
{
	const struct sieve_groups *q = &c->groups;
	const uint32_t set = c->spot[row->spot].set;
	uint32_t k = q->off[set];
	while (k < q->off[set + 1] && q->on[k] != group)
		k++;
	return k < q->off[set + 1];
}

/* Ways of a row by what is left of each part of them. */
static double sieve_gain_over(const struct sieve_seen *row,
    const struct sieve_gain_part *x)
{
	return x->up * row->path_left * row->down_left +
	    x->down * row->path_left * row->up_left +
	    x->path * row->up_left * row->down_left;
}

static double sieve_gain_both(const struct sieve_seen *row,
    const struct sieve_gain_part *x, const struct sieve_gain_part *y,
    double paths)
{
	return (x->up * y->down + x->down * y->up) * row->path_left +
	    (x->up * y->path + x->path * y->up) * row->down_left +
	    (x->down * y->path + x->path * y->down) * row->up_left +
	    paths * row->up_left * row->down_left;
}

static int sieve_gain_choice(struct sieve_gain *g, const struct sieve_model *m,
    const topo_link link[], const struct sieve_seen *row, struct sim_err *e)
{
	const struct sieve_choice *c = &m->choice;
	struct sieve_gain_part part[SIEVE_PAIR] = {{0}};
	double both = 0;
	int on_path = 0, rc;
	for (uint32_t i = 0; i < g->n; i++) {
		part[i] = sieve_gain_cable(c, row, c->groups.of[link[i]]);
		on_path |= sieve_gain_may(c, row, c->groups.of[link[i]]);
	}
	if (on_path)
		both = sieve_gain_paths(m, row, link, g->n, part);
	struct sieve_gain_choice x = {.s = row->s, .left = row->left};
	for (uint32_t i = 0; i < g->n; i++)
		x.over[i] = sieve_gain_over(row, &part[i]);
	if (x.over[0] == 0 && x.over[1] == 0)
		return 0;
	x.both = sieve_gain_both(row, &part[0], &part[1], both);
	x.healthy = exp(-row->s * c->mean * row->n_hops);
	if ((rc = SIM_RESERVE(&g->choice, &g->cap_choices, g->n_choices + 1,
		 e)) == 0)
		g->choice[g->n_choices++] = x;
	return rc;
}

int sieve_gain_read(struct sieve_gain *g, const struct sieve_model *m,
    const topo_link link[], uint32_t n, struct sim_err *e)
{
	const struct sieve_choice *c = &m->choice;
	int rc = 0;
	g->n = n;
	g->level = m->level;
	g->n_rows = g->n_choices = 0;
	for (uint32_t i = 0; i < n; i++) {
		g->kept[i] = m->kept[link[i]];
		for (uint32_t k = m->off[link[i]];
		     rc == 0 && k < m->off[link[i] + 1]; k++)
			rc = sieve_gain_row(g, m, link, m->over[k], i, e);
	}
	for (size_t i = 0; rc == 0 && c->on && n > 0 && i < c->n; i++)
		if (!c->seen[i].gone)
			rc = sieve_gain_choice(g, m, link, &c->seen[i], e);
	return rc;
}

/* --- at hazards ----------------------------------------------------------- */

/* 1 - exp(-L) of a row that crossed them is as much more than without them as 1 + p
 * ic, p being what they lose of it (sieve_curve.c). */
double sieve_gain_at(const struct sieve_gain *g, const double hazard[])
{
	double lost[1 << SIEVE_PAIR] = {0}, more[SIEVE_PAIR] = {0}, ln = 0;
	for (uint32_t i = 0; i < g->n; i++) {
		more[i] = hazard[i] - g->level;
		ln -= g->kept[i] * more[i];
		lost[1u << i] = -sieve_expm1(-more[i]);
	}
	lost[3] = -sieve_expm1(-more[0] - more[1]);
	for (size_t i = 0; i < g->n_rows; i++)
		ln += g->row[i].n * log1p(lost[g->row[i].on] * g->row[i].ic);
	for (size_t i = 0; i < g->n_choices; i++) {
		const struct sieve_gain_choice *x = &g->choice[i];
		const double a = -sieve_expm1(-x->s * more[0]),
			     b = -sieve_expm1(-x->s * more[1]),
			     took = a * x->over[0] + b * x->over[1] -
		    a * b * x->both;
		ln -= log1p(x->healthy * took / (1 - x->healthy * x->left));
	}
	return ln;
}
