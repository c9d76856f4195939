/* models/scene/loss.c -- packets lost independently, link by link.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/scene/loss.h"

#include <assert.h>
#include <gsl/gsl_randist.h>
#include <math.h>

#define INLINE static inline __attribute__((always_inline))

double scene_hazard(double rate)
{
	/* Precise for tiny rates, where log(1 - rate) would lose most of its
	 * digits. */
	return -log1p(-rate);
}

int scene_loss_fault_at(const struct scene_loss *m, size_t first,
    topo_link link, sim_ns t, double *hazard)
{
	const struct truth *truth = m->truth;
	int active = 0;
	*hazard = 0;
	for (size_t i = first;
	     i < truth->n_faults && truth->fault[i].link == link; i++) {
		/* Slow links lose nothing; links into a black hole lose what
		 * the hole's rule says, not packets at random; and those that
		 * are chosen wrongly lose what all do. */
		const struct truth_fault *f = &truth->fault[i];
		if (!truth_is_slow(f) && !truth_is_mark(f) && f->from_ns <= t &&
		    t < f->to_ns) {
			*hazard += f->hazard;
			active = 1;
		}
	}
	return active;
}

int scene_loss_fault(const struct scene_loss *m, topo_link link, sim_ns t,
    double *hazard)
{
	return scene_loss_fault_at(m, truth_first_fault(m->truth, link, 0),
	    link, t, hazard);
}

double scene_loss_hazard(const struct scene_loss *m, topo_link link, sim_ns t)
{
	double hazard;
	if (scene_loss_fault(m, link, t, &hazard))
		/* A fault takes the place of its link's noise: a fault of rate
		 * 0 makes a link lossless. */
		return hazard;
	return scene_hazard(scene_noise_rate(&m->noise, link));
}

void scene_loss_hazards(const struct scene_loss *m, uint64_t flow,
    const topo_link path[], unsigned h, sim_ns t, double hazard[])
{
	double rate[TOPO_MAX_HOPS];
	if (m->noise.per == SCENE_NOISE_PER_LINK) {
		/* No rate is drawn for a link with a fault. */
		for (unsigned i = 0; i < h; i++)
			hazard[i] = scene_loss_hazard(m, path[i], t);
		return;
	}
	scene_noise_of_flow(&m->noise, flow, path, h, rate);
	for (unsigned i = 0; i < h; i++)
		if (!scene_loss_fault(m, path[i], t, &hazard[i]))
			hazard[i] = scene_hazard(rate[i]);
}

/* Where 0 is rare, drawing again until it is not costs little. Each lossy flow
 * comes here, so it must cost no call. */
INLINE uint32_t binomial_of(struct sim_rng *r, uint32_t n, double hazard,
    double p, double some)
{
	if (isinf(hazard))
		return n;
	if (some > 0.999) {
		uint32_t k;
		do
			k = gsl_ran_binomial(&r->gsl, p, n);
		while (k == 0);
		return k;
	}
	/* By inversion from 1 upwards. It takes few steps, since n * hazard < 7
	 * here. When rounding leaves U above all terms, the walk ends at the
	 * first that vanishes. */
	double u = sim_rng_u01(r) * some;
	double odds = p / (1 - p);
	double term = n * odds * exp(-(double)n * hazard);
	uint32_t k = 1;
	while (u >= term && k < n && term > 0) {
		u -= term;
		term *= odds * (n - k) / (k + 1);
		k++;
	}
	return k;
}

INLINE uint32_t positive_binomial(struct sim_rng *r, uint32_t n, double hazard)
{
	return binomial_of(r, n, hazard, -expm1(-hazard),
	    -expm1(-(double)n * hazard));
}

uint32_t scene_loss_some_of(struct sim_rng *r, uint32_t n, double hazard,
    double rate, double some)
{
	return binomial_of(r, n, hazard, rate, some);
}

uint32_t scene_loss_some(struct sim_rng *r, uint32_t n, double hazard)
{
	return positive_binomial(r, n, hazard);
}

/* The first marked link from I on, given that there is one before or at LAST,
 * the last link that can be marked. U is uniform on [0, 1) times the chance
 * that any of them is marked: so it falls below the chance that one of the
 * links up to the first marked one is. */
static unsigned first_marked(uint32_t n, const double hazard[], unsigned i,
    unsigned last, double u)
{
	double before = 0;
	for (; i < last; i++) {
		if (hazard[i] == 0)
			continue;
		if (u < -expm1(-(double)n * (before + hazard[i])))
			break;
		before += hazard[i];
	}
	return i;
}

void scene_loss_marks(struct sim_rng *r, uint32_t n, const double hazard[],
    unsigned h, uint32_t marks[])
{
	unsigned i = 0, last = 0, n_links = 0;
	assert(n > 0);
	for (unsigned k = 0; k < h; k++) {
		marks[k] = 0;
		if (hazard[k] > 0) {
			last = k;
			n_links++;
		}
	}
	assert(n_links > 0);
	/* Links are independent, so the marks can be drawn one link at a time:
	 * which link has the first, how many that one has, then whether any
	 * link behind it has some, and so on. Where only one link can be
	 * marked, no number is needed to find it. */
	double ahead = 0, u = 0;
	if (n_links > 1) {
		for (unsigned k = 0; k <= last; k++)
			ahead += hazard[k];
		u = sim_rng_u01(r) * -expm1(-(double)n * ahead);
	}
	for (;;) {
		i = first_marked(n, hazard, i, last, u);
		marks[i] = positive_binomial(r, n, hazard[i]);
		ahead = 0;
		for (unsigned k = ++i; k <= last; k++)
			ahead += hazard[k];
		if (ahead == 0 ||
		    (u = sim_rng_u01(r)) >= -expm1(-(double)n * ahead))
			return;
	}
}

void scene_loss_drops(struct sim_rng *r, uint32_t n, const uint32_t marks[],
    unsigned h, uint32_t drops[])
{
	/* Of the n packets, LEFT arrive at link i, and the m that are marked
	 * there are any m of the n alike. Those among them that were lost
	 * before are not lost again: hypergeometric. */
	uint32_t left = n;
	for (unsigned i = 0; i < h; i++) {
		uint32_t m = marks[i];
		if (left == 0) /* behind a black hole; GSL would count marks */
			m = 0;
		else if (m > 0 && left < n)
			m = gsl_ran_hypergeometric(&r->gsl, left, n - left, m);
		drops[i] = m;
		left -= m;
	}
}
