/* models/scene/loss.c -- per-packet Bernoulli loss: rates, hazards, who lost what.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/scene/loss.h"

#include <assert.h>
#include <gsl/gsl_randist.h>
#include <math.h>

double scene_hazard(double rate)
{
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
		const struct truth_fault *f = &truth->fault[i];
		if (!truth_is_slow(f) && !f->of_hole && f->from_ns <= t &&
		    t < f->to_ns) {
			*hazard += scene_hazard(f->rate);
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
		return hazard;
	return scene_hazard(scene_noise_rate(&m->noise, link));
}

/* Binomial(n, p) with p = 1 - exp(-hazard), given that it is not 0. */
static uint32_t positive_binomial(struct sim_rng *r, uint32_t n, double hazard)
{
	if (isinf(hazard))
		return n;
	const double p = -expm1(-hazard);
	const double some = -expm1(-(double)n * hazard);
	if (some > 0.999) {
		uint32_t k;
		do
			k = gsl_ran_binomial(&r->gsl, p, n);
		while (k == 0);
		return k;
	}
	/* By inversion from 1 upwards: few steps, as n * hazard < 7. The last
	 * term that does not vanish ends the walk when rounding would not. */
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

/* The first marked link from I on, given that there is one, by U uniform on
 * [0, 1) times the chance that there is. LAST is the last link that can be. */
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
	/* The first marked link: often only one can be. Later ones: marks are
	 * independent, so ask again whether there is any from there on. */
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
