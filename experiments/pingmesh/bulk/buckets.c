/* experiments/pingmesh/bulk/buckets.c -- P50 and P99 as agents' counters tell.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/bulk/buckets.h"

#include <assert.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

#include "algos/pingmesh/perf.h"

void xp_buckets_init(struct xp_buckets *b, const struct fabric_sim_rtt law[],
    sim_ns below_ns)
{
	memset(b, 0, sizeof(*b));
	for (int h = 0; h < CONNECTS_N_HOPS; h++)
		b->law[h] = law[h];
	b->below_ns = below_ns;
}

/* The values of a binomial law that have any weight: beyond 9 standard deviations
 * nobody will see the difference. Products of two such weights are numbers still.
 */
struct span {
	uint64_t from, to;
};

static struct span binomial_span(uint64_t n, double p)
{
	const double least = 1e-40, mean = (double)n * p,
		     far = 9 * sqrt(mean * (1 - p)) + 20;
	struct span s = {(uint64_t)fmax(mean - far, 0),
	    (uint64_t)fmin(mean + far, (double)n)};
	while (s.from < s.to &&
	    gsl_ran_binomial_pdf((unsigned)s.from, p, (unsigned)n) < least)
		s.from++;
	while (s.from < s.to &&
	    gsl_ran_binomial_pdf((unsigned)s.to, p, (unsigned)n) < least)
		s.to--;
	return s;
}

/* P(X[0] + X[1] = SUM): the first term, and each by the one before. */
static double two_are(uint64_t sum, const uint64_t n[], const double p[],
    const struct span s[])
{
	const uint64_t from = sum > s[1].to && sum - s[1].to > s[0].from
	    ? sum - s[1].to
	    : s[0].from;
	const uint64_t to =
	    sum - s[1].from < s[0].to ? sum - s[1].from : s[0].to;
	double term =
	    gsl_ran_binomial_pdf((unsigned)from, p[0], (unsigned)n[0]) *
	    gsl_ran_binomial_pdf((unsigned)(sum - from), p[1], (unsigned)n[1]);
	double all = term;
	for (uint64_t i = from; i < to; i++) {
		const double k = (double)i, left = (double)(sum - i);
		term *= ((double)n[0] - k) * p[0] * left * (1 - p[1]) /
		    ((k + 1) * (1 - p[0]) * ((double)n[1] - left + 1) * p[1]);
		all += term;
	}
	return all;
}

/* P(X[0] + X[1] + X[2] <= MOST) for binomials of N[i] and P[i]: by the sum over
 * that of the first two, which mostly has next to no weight. */
static double sum_is_at_most(uint64_t most, const uint64_t n[],
    const double p[])
{
	struct span s[3];
	uint64_t from = 0, to = 0;
	double all = 0;
	for (int i = 0; i < 3; i++) {
		s[i] = binomial_span(n[i], p[i]);
		from += s[i].from;
		to += s[i].to;
	}
	if (most < from || most >= to)
		return most >= to;
	to = s[0].to + s[1].to < most ? s[0].to + s[1].to : most;
	for (uint64_t k = s[0].from + s[1].from; k <= to; k++) {
		const double w = two_are(k, n, p, s);
		if (w > 1e-18)
			all += w *
			    gsl_cdf_binomial_P((unsigned)(most - k), p[2],
				(unsigned)n[2]);
	}
	return all;
}

/* That a round trip of each law is above END, all being below the limit. */
static void chances_above(const struct xp_buckets *b, sim_ns end, double p[])
{
	for (int h = 0; h < CONNECTS_N_HOPS; h++) {
		const double beyond =
		    fabric_sim_rtt_tail(&b->law[h], (double)b->below_ns / 1e3);
		const double above =
		    fabric_sim_rtt_tail(&b->law[h], (double)end / 1e3);
		p[h] = fmax(0, (above - beyond) / (1 - beyond));
	}
}

/* Ends that have next to no weight are left out, and the last one has the rest. */
static void make_law(struct xp_buckets *b, struct xp_buckets_law *l)
{
	const uint64_t n = l->quick[0] + l->quick[1] + l->quick[2];
	l->first = b->n_ends;
	for (uint32_t i = 0; i < ALGO_PINGMESH_BUCKETS; i++) {
		double p[CONNECTS_N_HOPS];
		const sim_ns end = algo_pingmesh_bucket_end(i);
		chances_above(b, end, p);
		const double upto = sum_is_at_most(n - l->rank, l->quick, p);
		if (upto < 1e-15)
			continue;
		b->end[b->n_ends] = end;
		b->upto[b->n_ends++] = upto;
		if (upto > 1 - 1e-12 || b->n_ends - l->first == XP_BUCKETS_MOST)
			break;
	}
	b->upto[b->n_ends - 1] = 1;
	l->n = b->n_ends - l->first;
}

static void forget_laws(struct xp_buckets *b)
{
	memset(b->place, 0, sizeof(b->place));
	b->n_laws = b->n_ends = 0;
}

/* Where the law is, or the free place for it. */
static struct xp_buckets_law *find_law(struct xp_buckets *b,
    const uint64_t quick[], uint64_t rank)
{
	const uint64_t key = rank ^ quick[0] << 16 ^ quick[1] << 32 ^
	    quick[2] << 48 ^ quick[2] >> 16;
	size_t at = key * UINT64_C(0x9e3779b97f4a7c15) >> 52;
	static_assert(XP_BUCKETS_PLACES == 1 << 12, "12 bits are a place");
	for (;; at = (at + 1) % XP_BUCKETS_PLACES) {
		struct xp_buckets_law *l = &b->place[at];
		if (l->n == 0 ||
		    (l->rank == rank && l->quick[0] == quick[0] &&
			l->quick[1] == quick[1] && l->quick[2] == quick[2]))
			return l;
	}
}

static const struct xp_buckets_law *buckets_law_of(struct xp_buckets *b,
    const uint64_t quick[], uint64_t rank)
{
	struct xp_buckets_law *l = find_law(b, quick, rank);
	if (l->n > 0)
		return l;
	if (b->n_laws == XP_BUCKETS_LAWS ||
	    b->n_ends + XP_BUCKETS_MOST > XP_BUCKETS_ENDS) {
		forget_laws(b);
		l = find_law(b, quick, rank);
	}
	memcpy(l->quick, quick, sizeof(l->quick));
	l->rank = rank;
	make_law(b, l);
	b->n_laws++;
	return l;
}

sim_ns xp_buckets_draw(struct xp_buckets *b,
    const uint64_t quick[CONNECTS_N_HOPS], uint64_t rank, struct sim_rng *r)
{
	const struct xp_buckets_law *l = buckets_law_of(b, quick, rank);
	const sim_ns *end = &b->end[l->first];
	const double *upto = &b->upto[l->first];
	/* Where the bucket is certain no number is drawn. */
	if (l->n == 1)
		return *end;
	const double u = sim_rng_u01(r);
	while (u >= *upto) {
		upto++;
		end++;
	}
	return *end;
}
