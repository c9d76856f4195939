/* models/scene/latency.c -- round-trip times of flows, and links that are slow.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/scene/latency.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stddef.h>

#define AT(member) .offset = offsetof(struct scene_latency_params, member)
const struct sim_field scene_latency_fields[] = {
    {.name = "hop",
	.type = SIM_F_F64,
	AT(hop_us),
	.min = 0,
	.max = 1e6,
	.unit = "us",
	.def = "5",
	.doc = "time that a link takes one way",
	.when = "report_over!=0"},
    {.name = "queue",
	.type = SIM_F_F64,
	AT(queue_us),
	.min = 0,
	.max = 1e6,
	.unit = "us",
	.def = "50",
	.doc = "mean time in queues, both ways",
	.when = "report_over!=0"},
    {.name = "report_over",
	.type = SIM_F_F64,
	AT(report_us),
	.min = 0,
	.max = 1e9,
	.unit = "us",
	.def = "0",
	.doc = "smoothed RTT above which a flow is reported; 0: no RTTs"},
    {0},
};
#undef AT

/* The quantile function of the law at U in (0, 1), all laws having the mean
 * delay_us. The logarithm of a lognormal with that mean is centred at
 * log(delay_us) - shape^2 / 2. A packet that meets an idle M/M/1 queue does not
 * wait; the others, a share equal to the load, wait an exponential time of mean
 * delay_us / load. */
static double delay_at(const struct truth_fault *f, double u)
{
	const double idle = 1 - f->shape;
	switch (f->law) {
	case TRUTH_EXPONENTIAL:
		return -f->delay_us * log1p(-u);
	case TRUTH_LOGNORMAL:
		return f->delay_us *
		    exp(f->shape * (gsl_cdf_ugaussian_Pinv(u) - f->shape / 2));
	case TRUTH_LOAD:
		return u <= idle
		    ? 0
		    : -f->delay_us / f->shape * log((1 - u) / f->shape);
	case TRUTH_CONSTANT:
	case TRUTH_BURST:
		break;
	}
	return f->delay_us;
}

/* The mean of N draws, or the law's own mean if R is NULL. A constant delay
 * takes no random number, so that it moves no other draws. */
static double draw_mean(const struct truth_fault *f, unsigned n,
    struct sim_rng *r)
{
	double sum = 0;
	if (f->law == TRUTH_CONSTANT || !r)
		return f->delay_us;
	for (unsigned i = 0; i < n; i++)
		sum += delay_at(f, sim_rng_u01_open(r));
	return sum / n;
}

/* The delays of all faults of LINK that are active at T, which add up. FIRST is
 * the first of them, as truth_first_fault() gives it. */
static double scene_latency_add_up(const struct truth *truth, size_t first,
    topo_link link, sim_ns t, unsigned n, struct sim_rng *r)
{
	double sum = 0;
	for (size_t i = first;
	     i < truth->n_faults && truth->fault[i].link == link; i++) {
		const struct truth_fault *f = &truth->fault[i];
		if (t < f->from_ns || f->to_ns <= t)
			continue;
		/* All packets of a time see one queue. */
		sum += f->law == TRUTH_BURST && r
		    ? burst_us(&truth->burst[f->burst], t)
		    : draw_mean(f, n, r);
	}
	return sum;
}

double scene_latency_draw_at(const struct truth *truth, size_t first,
    topo_link link, sim_ns t, struct sim_rng *r)
{
	return scene_latency_add_up(truth, first, link, t, 1, r);
}

double scene_latency_draw(const struct truth *truth, topo_link link, sim_ns t,
    struct sim_rng *r)
{
	return scene_latency_draw_at(truth, truth_first_fault(truth, link, 0),
	    link, t, r);
}

double scene_latency_smoothed(const struct truth *truth, topo_link link,
    sim_ns t, uint32_t n_pkts, struct sim_rng *r)
{
	return scene_latency_add_up(truth, truth_first_fault(truth, link, 0),
	    link, t,
	    n_pkts < SCENE_LATENCY_SAMPLES ? n_pkts : SCENE_LATENCY_SAMPLES, r);
}

uint32_t scene_latency_srtt(const struct scene_latency_params *p,
    struct sim_rng *r, unsigned n_hops, uint32_t n_pkts, double delay_us)
{
	/* The mean of n exponential times is a gamma variable of shape n: one
	 * draw in place of n. */
	const double n =
	    n_pkts < SCENE_LATENCY_SAMPLES ? n_pkts : SCENE_LATENCY_SAMPLES;
	/* Every link is crossed twice, once each way. */
	double us = 2 * n_hops * p->hop_us + delay_us;
	if (p->queue_us > 0)
		us += gsl_ran_gamma(&r->gsl, n, p->queue_us / n);
	/* The column ends at 2^32 us, a little more than an hour. */
	return us < UINT32_MAX - 1 ? (uint32_t)(us + 0.5) : UINT32_MAX - 1;
}
