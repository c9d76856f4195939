/* algos/sieve/sieve_choice_curve.c -- exposures of links by what lossy flows chose.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <string.h>

#include "algos/sieve/sieve_model.h"

/* ln X, to 1e-7; X is above 0, and no subnormal number. */
static inline double sieve_curve_ln(double x)
{
	uint64_t bits;
	memcpy(&bits, &x, sizeof(bits));
	/* A mantissa from sqrt(1/2) to sqrt(2), near enough. */
	const uint64_t moved = bits - UINT64_C(0x3fe6a09e00000000);
	const int power = (int)((int64_t)moved >> 52);
	bits -= moved & UINT64_C(0xfff0000000000000);
	memcpy(&x, &bits, sizeof(x));
	const double t = (x - 1) / (x + 1), u = t * t;
	return power * M_LN2 +
	    2 * t * (1 + u * (1. / 3 + u * (1. / 5 + u * (1. / 7 + u / 9))));
}

static int sieve_choice_crosses(const struct sieve_choice *c,
    const struct sieve_seen *row, uint32_t group)
{
	const struct sieve_groups *q = &c->groups;
	const uint32_t set = c->spot[row->spot].set;
	if (!row->touched || group == (uint32_t)row->up ||
	    group == (uint32_t)row->down)
		return row->touched;
	for (uint32_t k = q->off[set]; k < q->off[set + 1]; k++)
		if (q->on[k] == group)
			return 1;
	return 0;
}

/* The share of a row's ways that cross a link of GROUP, of which LOST of the rows
 * are lost by it: in *REST the mean of exp(-s (L' - healthy)) by what else failed
 * on those ways, in *LEFT that of all ways without it. */
static double sieve_choice_share(const struct sieve_model *m,
    const struct sieve_seen *row, uint32_t group, double lost, double *rest,
    double *left)
{
	const struct sieve_choice *c = &m->choice;
	const struct sieve_groups *q = &c->groups;
	const struct sieve_spot *at = &c->spot[row->spot];
	const double up = row->up_left, down = row->down_left,
		     on_path = row->path_left;
	double part = on_path, share = 0;
	*rest = up * down;
	if (group == (uint32_t)row->up || group == (uint32_t)row->down) {
		const int is_up = group == (uint32_t)row->up;
		share = sieve_choice_cable(c, (int32_t)group);
		part = is_up ? up : down;
		*rest = on_path * (is_up ? down : up);
	}
	for (uint32_t k = q->off[at->set]; k < q->off[at->set + 1]; k++)
		if (q->on[k] == group)
			share = q->share[k];
	*left = *rest * fmin(part + share * lost, 1);
	return share;
}

/* The exposure of a failed link L of its own: where rows are weighed as if it were
 * healthy. Taken from what its group has, a P that it makes up almost alone would
 * be a difference of what is rounded by octaves. */
void sieve_choice_own(const struct sieve_model *m, topo_link l, double h[])
{
	const struct sieve_choice *c = &m->choice;
	const uint32_t group = c->groups.of[l];
	const double more = m->hazard[l] - c->mean;
	struct sieve_bin bin[2 * SIEVE_OCTAVES] = {0};
	for (size_t i = 0; i < c->n; i++) {
		const struct sieve_seen *row = &c->seen[i];
		double rest, left;
		if (row->gone || !sieve_choice_crosses(c, row, group))
			continue;
		const double q = sieve_choice_share(m, row, group,
		    -sieve_expm1(-row->s * more), &rest, &left);
		sieve_bin_add(&bin[2 * row->octave],
		    q * rest *
			sieve_choice_worth(row->s * c->mean * row->n_hops,
			    left));
	}
	sieve_lanes_bins(bin, c->n_bins, c->lost, h);
}

void sieve_choice_make(const struct sieve_model *m, topo_link l)
{
	const struct sieve_choice *c = &m->choice;
	const uint32_t at = m->exposure_of[l];
	if (!c->on || at >= c->groups.n || c->is_made[at] & 2)
		return;
	sieve_lanes_bins(c->bin + (size_t)at * c->n_bins, c->n_bins, c->lost,
	    m->exposure + (size_t)at * SIEVE_GRID);
	c->is_made[at] |= 2;
}

static const double *sieve_choice_coarse(const struct sieve_choice *c,
    uint32_t group)
{
	double *h = c->coarse + (size_t)group * SIEVE_COARSE;
	if (!(c->is_made[group] & 1))
		sieve_lanes_coarse_bins(c->bin + (size_t)group * c->n_bins,
		    c->n_bins, c->coarse_lost, h);
	c->is_made[group] |= 1;
	return h;
}

/* Packets that a healthy link of a group is expected to lose of rows, of ways of so
 * many links. */
static double sieve_curve_expects(const struct sieve_choice *c, uint32_t group)
{
	static const double HOPS = 4;
	const struct sieve_bin *bin = c->bin + (size_t)group * c->n_bins;
	double n = 0;
	for (unsigned b = 0; !(c->is_made[group] & 4) && b < c->n_bins; b++)
		n += bin[b].a * c->size[b / 2];
	if (!(c->is_made[group] & 4))
		c->expects[group] = n * HOPS * c->mean;
	c->is_made[group] |= 4;
	return c->expects[group];
}

/* Losses over a link as against those that its group says to expect. */
static int sieve_curve_stands_out(const struct sieve_model *m, uint32_t group,
    double n_lost)
{
	static const double NATS = 4;
	const double n = sieve_curve_expects(&m->choice, group);
	return n_lost > n &&
	    (n == 0 || n_lost * sieve_curve_ln(n_lost / n) - n_lost + n > NATS);
}

double sieve_choice_bound(const struct sieve_model *m, topo_link l,
    double n_lost)
{
	static const double NOTHING = 1e-12;
	enum { ROWS = 64 };
	const struct sieve_choice *c = &m->choice;
	struct sieve_factor f[ROWS];
	double p[SIEVE_COARSE], ln[SIEVE_COARSE], most = 0;
	size_t n = 0;
	if (!sieve_curve_stands_out(m, c->groups.of[l], n_lost))
		return 0;
	const double *h = sieve_choice_coarse(c, c->groups.of[l]);
	for (unsigned g = 0; g < SIEVE_COARSE; g++) {
		const unsigned at = SIEVE_COARSE_FIRST + g * SIEVE_COARSE_STEP;
		p[g] = m->p[at];
		ln[g] = -h[g] - m->kept[l] * m->x[at];
	}
	for (uint32_t k = m->off[l]; k < m->off[l + 1]; k++) {
		const uint32_t i = m->over[k];
		if (m->lossy[i].n_lost == 0)
			continue;
		f[n++] = (struct sieve_factor){1 /
			(m->sum[i] - m->hazard[l] + NOTHING),
		    m->lossy[i].n_lost};
		if (n == ROWS) {
			sieve_lanes_coarse_factors(p, f, n, ln);
			n = 0;
		}
	}
	sieve_lanes_coarse_factors(p, f, n, ln);
	for (unsigned g = 0; g < SIEVE_COARSE; g++)
		most = sieve_max(most, ln[g]);
	return most;
}
