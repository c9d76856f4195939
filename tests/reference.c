/* tests/reference.c -- the data plane as one would first write it, with GSL.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/reference.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>

typedef unsigned lose_fn(gsl_rng *r, double rate, unsigned n);

static unsigned lose_by_packet(gsl_rng *r, double rate, unsigned n)
{
	unsigned lost = 0;
	for (unsigned i = 0; i < n; i++)
		lost += gsl_ran_bernoulli(r, rate);
	return lost;
}

static unsigned lose_by_flow(gsl_rng *r, double rate, unsigned n)
{
	return gsl_ran_binomial(r, rate, n);
}

/* NAN where each flow draws its own. */
static double rate_at(const struct scene *s, topo_link l)
{
	for (size_t i = 0; i < s->truth.n_faults; i++)
		if (s->truth.fault[i].link == l)
			return s->truth.fault[i].rate;
	return s->loss.noise.per == SCENE_NOISE_PER_FLOW
	    ? NAN
	    : scene_noise_rate(&s->loss.noise, l);
}

static topo_host draw_dst(const struct scene *s, gsl_rng *r, topo_host src)
{
	topo_host dst;
	do
		dst = (topo_host)gsl_rng_uniform_int(r, s->topo->n_hosts);
	while (topo_tor_of(s->topo, dst) == topo_tor_of(s->topo, src));
	return dst;
}

static void run(const struct scene *s, gsl_rng *r, struct reference_counts *out,
    lose_fn *lose)
{
	const struct scene_traffic_params *p = &s->traffic.params;
	const unsigned lo = (unsigned)p->packets.a, hi = (unsigned)p->packets.b;
	const struct sim_dist *noise = &s->loss.noise.rate;
	double *rate = malloc(s->topo->n_links * sizeof(*rate));
	for (topo_link l = 0; l < s->topo->n_links; l++)
		rate[l] = rate_at(s, l);
	for (uint64_t f = 0; f < s->traffic.n_flows; f++) {
		topo_link path[TOPO_MAX_HOPS];
		topo_host src = scene_traffic_src(&s->traffic, f);
		topo_host dst = draw_dst(s, r, src);
		unsigned left = lo + gsl_rng_uniform_int(r, hi - lo + 1);
		unsigned n = left;
		unsigned h = topo_path(s->topo, s->ecmp_seed, src, dst,
		    (uint32_t)gsl_rng_get(r), path);
		for (unsigned i = 0; i < h; i++) {
			const double own = rate[path[i]];
			unsigned lost = lose(r,
			    isnan(own) ? gsl_ran_flat(r, noise->a, noise->b)
				       : own,
			    left);
			left -= lost;
			if (out->link_drops)
				out->link_drops[path[i]] += lost;
			if (out->link_flows)
				out->link_flows[path[i]]++;
		}
		out->n_drops += n - left;
		out->n_failed_flows += left < n;
	}
	free(rate);
}

void reference_packets(const struct scene *s, gsl_rng *r,
    struct reference_counts *out)
{
	run(s, r, out, lose_by_packet);
}

void reference_binomial(const struct scene *s, gsl_rng *r,
    struct reference_counts *out)
{
	run(s, r, out, lose_by_flow);
}
