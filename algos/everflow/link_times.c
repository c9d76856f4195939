/* algos/everflow/link_times.c -- round trips of cables, against their peers.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/everflow/link_times.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/sort.h"
#include "sim/stat.h"
#include "sim/vec.h"

/* --- rounds --------------------------------------------------------------- */
static int by_cable(const void *a, const void *b)
{
	const struct algo_round *x = a, *y = b;
	if (x->cable != y->cable)
		return SIM_ORDER(x->cable, y->cable);
	return SIM_ORDER(x->us, y->us);
}

static void add_round_time(struct algo_rounds *r,
    const struct algo_debug_in *in, const struct algo_sighting *s, size_t i)
{
	const struct topo *t = in->routing.topo;
	const struct obs_guided *g = in->sent;
	if (!s->settled || s->n_via != 3 || g->via0[i] != g->via2[i] ||
	    s->t_ns[0] == 0 || s->t_ns[2] == 0)
		return;
	const topo_link l = topo_link_between(t, t->n_hosts + g->via0[i],
	    t->n_hosts + g->via1[i]);
	if (l == TOPO_NONE)
		return;
	const int stamped = s->switch_ns[0] > 0 && s->switch_ns[2] > 0;
	const uint64_t *t_ns = stamped ? s->switch_ns : s->t_ns;
	/* Copies take their time to the analyzer, so where a round takes less
	 * the second may come first. Without those that do, the times of fast
	 * links would be cut at 0, and seem slower than they are. */
	const double us = ((double)t_ns[2] - (double)t_ns[0]) / 1e3;
	r->round[r->n++] = (struct algo_round){.cable = l / 2,
	    .us = us,
	    .back_us = s->t_ns[1] == 0
		? NAN
		: ((double)s->t_ns[2] - (double)s->t_ns[1]) / 1e3,
	    .sent_ns = g->sent_ns[i],
	    .down = l & 1};
}

int algo_rounds_make(struct algo_rounds *r, const struct algo_debug_in *in,
    struct sim_err *e)
{
	struct algo_sighting *s = NULL;
	int rc;
	*r = (struct algo_rounds){.n = 0};
	if ((rc = algo_sightings(in, &s, e)) < 0 || !s)
		return rc;
	rc = SIM_ZALLOC(&r->round, in->sent->n, e);
	for (size_t i = 0; rc == 0 && i < in->sent->n; i++)
		add_round_time(r, in, &s[i], i);
	free(s);
	if (r->n > 0)
		qsort(r->round, r->n, sizeof(r->round[0]), by_cable);
	return rc;
}

void algo_rounds_free(struct algo_rounds *r)
{
	free(r->round);
	*r = (struct algo_rounds){.n = 0};
}

/* --- cables --------------------------------------------------------------- */
/* The rounds of one cable: first .. first + n - 1, by their times. */
struct cable {
	size_t first, n;
	enum topo_link_class class;
	double p10, median, p90, p99;
	double sum_level, sum_spread; /* of ranks */
};

struct ranked {
	double x;
	uint32_t cable; /* index of cables[] */
};

struct times {
	const struct algo_rounds *r;
	const struct topo *t;
	struct cable *cable;
	size_t n;
	struct ranked *ranked; /* [rounds] */
	double *work;          /* [cables] */
};

static int times_order(const void *a, const void *b)
{
	const double x = ((const struct ranked *)a)->x;
	const double y = ((const struct ranked *)b)->x;
	return SIM_ORDER(x, y);
}

static int times_double_order(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return SIM_ORDER(x, y);
}

/* Quantile Q of a cable's times, which are sorted. */
static double quantile_of(const struct times *m, const struct cable *c,
    double q)
{
	const double at = q * (double)(c->n - 1);
	const size_t i = (size_t)at;
	const double lo = m->r->round[c->first + i].us;
	const double hi = m->r->round[c->first + (i + 1 < c->n ? i + 1 : i)].us;
	return lo + (at - (double)i) * (hi - lo);
}

static void find_cables(struct times *m)
{
	const struct algo_round *x = m->r->round;
	for (size_t i = 0, k; i < m->r->n; i = k) {
		for (k = i; k < m->r->n && x[k].cable == x[i].cable;)
			k++;
		if (k - i < ALGO_ROUNDS_LEAST)
			continue;
		struct cable *c = &m->cable[m->n++];
		*c = (struct cable){.first = i,
		    .n = k - i,
		    .class =
			topo_class_of(m->t, topo_link_of(x[i].cable, TOPO_UP))};
		c->median = quantile_of(m, c, 0.5);
		c->p10 = quantile_of(m, c, 0.1);
		c->p90 = quantile_of(m, c, 0.9);
		c->p99 = quantile_of(m, c, 0.99);
	}
}

/* Sum the ranks of each cable of a class, of times or of their distances from
 * the median; returns the sum of k^3 - k over ties. */
static double rank_sums(struct times *m, enum topo_link_class class, int spread,
    size_t *n_all)
{
	size_t n = 0;
	double ties = 0;
	for (uint32_t c = 0; c < m->n; c++)
		for (size_t i = 0;
		     m->cable[c].class == class && i < m->cable[c].n; i++) {
			const double x = m->r->round[m->cable[c].first + i].us;
			m->ranked[n++] = (struct ranked){spread
				? fabs(x - m->cable[c].median)
				: x,
			    c};
		}
	qsort(m->ranked, n, sizeof(m->ranked[0]), times_order);
	for (size_t i = 0, k; i < n; i = k) {
		for (k = i; k < n && m->ranked[k].x == m->ranked[i].x;)
			k++;
		const double same = (double)(k - i);
		const double rank = (double)i + (same + 1) / 2;
		ties += same * same * same - same;
		for (size_t a = i; a < k; a++) {
			struct cable *c = &m->cable[m->ranked[a].cable];
			*(spread ? &c->sum_spread : &c->sum_level) += rank;
		}
	}
	*n_all = n;
	return ties;
}

/* P of a rank sum as great, if all N times are of one law (H. Mann,
 * D. Whitney, 1947), with ties. */
static double chance_of_ranks(double sum, double n_of, double n, double ties)
{
	const double others = n - n_of;
	const double var =
	    n_of * others / 12 * ((n + 1) - ties / (n * (n - 1)));
	if (!(var > 0))
		return 1;
	return gsl_cdf_ugaussian_Q(
	    (sum - n_of * (n + 1) / 2 - 0.5) / sqrt(var));
}

/* Median over the other cables of the class, of what AT is the place of. */
static double median_of_others(struct times *m, const struct cable *but,
    size_t at)
{
	size_t n = 0;
	for (size_t i = 0; i < m->n; i++)
		if (&m->cable[i] != but && m->cable[i].class == but->class)
			memcpy(&m->work[n++], (const char *)&m->cable[i] + at,
			    sizeof(m->work[0]));
	qsort(m->work, n, sizeof(m->work[0]), times_double_order);
	return sim_quantile_sorted(m->work, n, 0.5);
}

static size_t n_above(const struct times *m, const struct cable *c, double us)
{
	size_t n = 0;
	for (size_t i = c->n; i-- > 0 && m->r->round[c->first + i].us > us;)
		n++;
	return n;
}

/* How many of a class lie above US in the median cable, beside BUT. */
static double share_of_others(struct times *m, const struct cable *but,
    double us)
{
	size_t n = 0;
	for (size_t i = 0; i < m->n; i++)
		if (&m->cable[i] != but && m->cable[i].class == but->class)
			m->work[n++] = (double)n_above(m, &m->cable[i], us) /
			    (double)m->cable[i].n;
	qsort(m->work, n, sizeof(m->work[0]), times_double_order);
	return sim_quantile_sorted(m->work, n, 0.5);
}

/* --- a slow cable --------------------------------------------------------- */
/* By which of its links? The time between the copies of S1 and S2 holds an
 * offset of the mirrors' ways, but what is late by one link varies with the time
 * there, and the round with it: the covariance of rounds with (down - up) is the
 * variance of down less that of up, as copies of S1 are both late by one law. It
 * must be beyond two of its standard errors; a constant delay tells nothing. */
static topo_link slow_direction(const struct times *m, const struct cable *c)
{
	double us[2] = {0}, diff[2] = {0}, n[2] = {0};
	double sum = 0, squares = 0;
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < c->n; i++) {
			const struct algo_round *x = &m->r->round[c->first + i];
			const int d = x->down & 1;
			if (isnan(x->back_us))
				continue;
			/* Of a round that begins upwards the way back is
			 * down. */
			const double w =
			    (d ? -1 : 1) * (2 * x->back_us - x->us);
			if (pass == 0) {
				us[d] += x->us;
				diff[d] += w;
				n[d]++;
				continue;
			}
			const double v =
			    (x->us - us[d] / n[d]) * (w - diff[d] / n[d]);
			sum += v;
			squares += v * v;
		}
	const double all = n[0] + n[1];
	if (all < 2 || sum * sum <= 4 * (squares - sum * sum / all))
		return TOPO_NONE;
	return topo_link_of(m->r->round[c->first].cable,
	    sum > 0 ? TOPO_DOWN : TOPO_UP);
}

static struct algo_slow_cable slow_cable(const struct times *m,
    const struct cable *c, double above, double median)
{
	struct algo_slow_cable s = {.n = c->n,
	    .cable = m->r->round[c->first].cable,
	    .link = slow_direction(m, c),
	    .from_ns = SIM_NEVER};
	for (size_t i = 0; i < c->n; i++) {
		const struct algo_round *x = &m->r->round[c->first + i];
		if (x->us <= above)
			continue;
		s.n_slow++;
		s.excess_us += x->us - median;
		s.from_ns = x->sent_ns < s.from_ns ? x->sent_ns : s.from_ns;
		s.to_ns = x->sent_ns > s.to_ns ? x->sent_ns : s.to_ns;
	}
	s.excess_us /= s.n_slow > 0 ? (double)s.n_slow : 1;
	return s;
}

struct class_law {
	size_t n; /* rounds */
	double ties_level, ties_spread;
};

/* What the other cables of a class are like. */
struct peers {
	double p10, median, p90, p99;
};

static struct peers peers_of(struct times *m, const struct cable *c)
{
#define OF(q) median_of_others(m, c, offsetof(struct cable, q))
	return (struct peers){OF(p10), OF(median), OF(p90), OF(p99)};
#undef OF
}

/* The least chance of the three tests; what is of no effect has 1. A queue that
 * comes and goes moves ranks and the 90th percentile long before the median. */
static double chance_of_cable(struct times *m, const struct cable *c,
    const struct class_law *law, double excess, const struct peers *peers)
{
	double p = 1;
	if (c->median >= peers->median + excess ||
	    c->p90 >= peers->p90 + excess)
		p = chance_of_ranks(c->sum_level, (double)c->n, (double)law->n,
		    law->ties_level);
	const size_t k = n_above(m, c, peers->p99 + excess);
	const double healthy =
	    fmin(1, fmax(0.01, 2 * share_of_others(m, c, peers->p99 + excess)));
	if (k > 0)
		p = fmin(p,
		    gsl_cdf_binomial_Q((unsigned)k - 1, healthy,
			(unsigned)c->n));
	if (c->p90 - c->median >= peers->p90 - peers->median + excess)
		p = fmin(p,
		    chance_of_ranks(c->sum_spread, (double)c->n, (double)law->n,
			law->ties_spread));
	return p;
}

/* Where all rounds are slow the fastest tenth and the slowest are about as late as
 * the median, and what counts as slow is above half of that; else it is beyond
 * what others show. */
static struct algo_slow_cable tell_cable(const struct times *m,
    const struct cable *c, const struct peers *peers, double excess)
{
	const double late = c->median - peers->median;
	const int always = late >= excess && c->p10 - peers->p10 >= late / 4 &&
	    c->p90 - peers->p90 < 2 * late;
	const double above =
	    always ? peers->median + late / 2 : peers->p99 + excess;
	struct algo_slow_cable s = slow_cable(m, c, above, peers->median);
	s.intermittent = !always;
	/* The mean of those above a bound would be too high. */
	if (always)
		s.excess_us = late;
	return s;
}

static size_t cables_of(const struct times *m, enum topo_link_class class)
{
	size_t n = 0;
	for (size_t i = 0; i < m->n; i++)
		n += m->cable[i].class == class;
	return n;
}

static void judge_class(struct times *m, enum topo_link_class class,
    double excess, double alpha, struct algo_slow_cable slow[], size_t *n)
{
	struct class_law law;
	if (cables_of(m, class) < 3)
		return;
	law.ties_level = rank_sums(m, class, 0, &law.n);
	law.ties_spread = rank_sums(m, class, 1, &law.n);
	for (size_t i = 0; i < m->n; i++) {
		const struct cable *c = &m->cable[i];
		if (c->class != class)
			continue;
		const struct peers peers = peers_of(m, c);
		const double chance = 3 * (double)m->n *
		    chance_of_cable(m, c, &law, excess, &peers);
		if (chance >= alpha)
			continue;
		slow[*n] = tell_cable(m, c, &peers, excess);
		slow[(*n)++].chance = chance;
	}
}

int algo_slow_cables(const struct algo_rounds *r, const struct topo *t,
    double min_excess_us, double alpha, struct algo_slow_cable **slow,
    size_t *n, struct sim_err *e)
{
	struct times m = {.r = r, .t = t};
	const size_t most = r->n / ALGO_ROUNDS_LEAST;
	int rc = 0;
	*n = 0;
	*slow = NULL;
	if (most == 0)
		return 0;
	if ((rc = SIM_ZALLOC(&m.cable, most, e)) == 0 &&
	    (rc = SIM_ZALLOC(&m.ranked, r->n, e)) == 0 &&
	    (rc = SIM_ZALLOC(&m.work, most, e)) == 0 &&
	    (rc = SIM_ZALLOC(slow, most, e)) == 0) {
		find_cables(&m);
		for (int c = 0; c < TOPO_N_LINK_CLASSES; c++)
			judge_class(&m, (enum topo_link_class)c, min_excess_us,
			    alpha, *slow, n);
	}
	free(m.cable);
	free(m.ranked);
	free(m.work);
	return rc;
}
