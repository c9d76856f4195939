/* tests/rigs/reference.c -- the data plane as one would first write it, with GSL.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/reference.h"

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

/* --- TCP ------------------------------------------------------------------ */

/* A connection as its packets live it. First packets are counted apart, to tell
 * whether any of them was lost. */
struct wire_talk {
	gsl_rng *r;
	const struct scene_tcp_params *p;
	struct scene_tcp_way *way;
	int first_lost;
};

/* Send one packet; returns whether it arrives. */
static int cross(struct wire_talk *t, int to, int first)
{
	struct scene_tcp_way *w = &t->way[to];
	for (unsigned i = 0; i < w->h; i++)
		if (gsl_ran_bernoulli(t->r, 1 - exp(-w->hazard[i]))) {
			w->drops[i]++;
			t->first_lost |= first;
			return 0;
		}
	return 1;
}

/* SYN -->, <-- SYN-ACK; or <-- FIN, RST -->: who asks does so again until the
 * answer is there. The first answer is only sent when a question has come. */
static int shake(struct wire_talk *t, int asks, uint32_t *n_again)
{
	int answered = 0;
	for (uint32_t i = 0; i <= t->p->resend; i++) {
		*n_again += i > 0;
		if (!cross(t, asks, i == 0))
			continue;
		const int arrives = cross(t, !asks, !answered);
		answered = 1;
		if (arrives)
			return 1;
	}
	return 0;
}

/* The sender waits at the end of a window: the receiver says that all has come,
 * and as long as that is lost the sender's timer has it send a packet again,
 * upon which the receiver says so again. */
static void await_answer(struct wire_talk *t, struct scene_tcp_end *end)
{
	int acked = cross(t, 1, 1);
	for (uint32_t i = 0; !acked && i < t->p->resend; i++) {
		end->n_retx++;
		acked = cross(t, 0, 0) && cross(t, 1, 0);
	}
}

int reference_connection(gsl_rng *r, const struct scene_tcp_params *p,
    uint32_t n, struct scene_tcp_way way[2], struct scene_tcp_end *end)
{
	struct wire_talk t = {r, p, way, 0};
	uint32_t n_come = 0;
	if (p->syn) {
		const int done = shake(&t, 0, &end->n_retx);
		end->n_early = end->n_retx;
		if (!done)
			return 1;
		cross(&t, 0, 1);
	}
	for (uint32_t i = 0; i < n; i++) {
		int come = cross(&t, 0, 1);
		for (uint32_t k = 0; !come && k < p->resend; k++) {
			end->n_retx++;
			come = cross(&t, 0, 0);
		}
		n_come += (uint32_t)come;
	}
	if (n_come == 0) {
		end->n_early = end->n_retx;
		return 1;
	}
	for (uint32_t i = 0; p->acks && i < n; i++) {
		if (i < p->quick)
			cross(&t, 1, 0);
		if (i + 1 == n)
			cross(&t, 1, 0);
		else if ((i + 1) % p->window == 0)
			await_answer(&t, end);
	}
	if (p->fin)
		shake(&t, 1, &end->n_back);
	return t.first_lost;
}

/* The path of a flow and the hazards of its links. */
static void find_way(const struct scene *s, gsl_rng *r, topo_host src,
    topo_host dst, topo_link path[], struct scene_tcp_way *w)
{
	*w = (struct scene_tcp_way){0};
	w->h = topo_path(s->topo, s->ecmp_seed, src, dst,
	    (uint32_t)gsl_rng_get(r), path);
	for (unsigned i = 0; i < w->h; i++)
		w->hazard[i] = -log1p(-rate_at(s, path[i]));
}

/* Add what a row lost; returns how much that was. */
static uint32_t count_row(const struct scene_tcp_way *w, const topo_link path[],
    struct reference_counts *out)
{
	uint32_t sum = 0;
	for (unsigned i = 0; i < w->h; i++) {
		sum += w->drops[i];
		if (out->link_drops)
			out->link_drops[path[i]] += w->drops[i];
	}
	out->n_drops += sum;
	return sum;
}

void reference_tcp(const struct scene *s, gsl_rng *r,
    struct reference_counts *out)
{
	const struct scene_traffic_params *p = &s->traffic.params;
	const unsigned lo = (unsigned)p->packets.a, hi = (unsigned)p->packets.b;
	for (uint64_t f = 0; f < s->traffic.n_flows; f++) {
		topo_link path[2][TOPO_MAX_HOPS];
		struct scene_tcp_way way[2];
		struct scene_tcp_end end = {0};
		const topo_host src = scene_traffic_src(&s->traffic, f);
		const topo_host dst = draw_dst(s, r, src);
		const unsigned n = lo + gsl_rng_uniform_int(r, hi - lo + 1);
		find_way(s, r, src, dst, path[0], &way[0]);
		find_way(s, r, dst, src, path[1], &way[1]);
		reference_connection(r, &p->tcp, n, way, &end);
		count_row(&way[0], path[0], out);
		out->n_failed_flows += end.n_retx > 0;
		if (end.n_back == 0)
			continue;
		count_row(&way[1], path[1], out);
		out->n_failed_flows++;
	}
}
