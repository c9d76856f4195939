/* models/bulk/sieve.c -- which flows of a block may have lost something.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/bulk/sieve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"
#include "topo/addr.h"

/* Hazards are scaled up by this before a flow is compared with them in floats.
 * Rounding in their sum and in the quotient is far less. */
#define HAZARD_MARGIN (1 + 1e-5)

#define INLINE static inline __attribute__((always_inline))

/* --- hazards of a scene --------------------------------------------------- */

/* Upwards also where the double does not fit a float. */
static float round_up(double hazard)
{
	return hazard > 0
	    ? nextafterf((float)(hazard * HAZARD_MARGIN), INFINITY)
	    : 0.0f;
}

/* Look up once for each link, and not for each flow, whether it leads into a
 * switch with a hole. Entry n_links stands for "no link" and has none. */
static int list_holes(struct bulk_sieve *v, const struct scene *s,
    struct sim_err *e)
{
	const uint32_t n = s->topo->n_links;
	int rc = SIM_RESERVE(&v->hole, &v->cap_hole, n + 1ul, e);
	if (rc < 0)
		return rc;
	for (topo_link l = 0; l < n; l++) {
		const size_t first =
		    truth_first_hole(&s->truth, bulk_switch_behind(s->topo, l));
		v->hole[l] = first < s->truth.n_holes ? (uint32_t)first + 1 : 0;
	}
	v->hole[n] = 0;
	return 0;
}

/* The sieve knows no times, so a link's hazard is an upper bound over the epoch:
 * all its faults at once, on top of the noise that holds while none is active. The
 * cable of a host that may be off is cut, so all its flows come through to those
 * who know when they start. */
static void gather_hazards(struct bulk_sieve *v, const struct scene *s)
{
	const uint32_t n = s->topo->n_links;
	scene_noise_bounds(&s->loss.noise, n, v->rate);
	for (topo_link l = 0; l < n; l++)
		v->hazard[l] = round_up(scene_hazard(v->rate[l]) +
		    scene_congestion_bound(&s->congestion, l));
	v->hazard[n] = 0;
	for (size_t i = 0; i < s->truth.n_faults; i++) {
		const struct truth_fault *f = &s->truth.fault[i];
		if (!truth_is_mark(f))
			v->hazard[f->link] += round_up(scene_hazard(f->rate));
	}
}

/* The greatest hazard of N links that lead down, side by side from CABLE on. */
static float greatest_down(const struct bulk_sieve *v, uint32_t cable,
    uint32_t n)
{
	float most = 0;
	for (uint32_t i = 0; i < n; i++)
		most =
		    fmaxf(most, v->hazard[topo_link_of(cable + i, TOPO_DOWN)]);
	return most;
}

/* What a way down to ToR TOR can meet, from the T2 on: the worst link of each
 * tier, whether or not a way leads over all three. */
static void bound_ways_down(struct bulk_sieve *v)
{
	const struct topo_clos *c = &v->net.c;
	for (uint32_t pod = 0; pod < c->n_pods; pod++) {
		const float t2 = greatest_down(v,
		    c->cable_t1 + pod * c->n_t1 * c->n_t2, c->n_t1 * c->n_t2);
		for (uint32_t i = 0; i < c->n_tors; i++) {
			const uint32_t tor = pod * c->n_tors + i;
			v->toward[tor] = t2 +
			    greatest_down(v, c->cable_tor + tor * c->n_t1,
				c->n_t1) +
			    greatest_down(v, tor * c->n_hosts, c->n_hosts);
		}
	}
}

int bulk_sieve_begin(struct bulk_sieve *v, const struct scene *s,
    const struct bulk_clos *net, const struct bulk_kernel *kernel,
    struct sim_err *e)
{
	const uint32_t n = s->topo->n_links;
	int rc;
	if ((rc = SIM_RESERVE(&v->hazard, &v->cap_hazard, n + 1ul, e)) < 0 ||
	    (rc = SIM_RESERVE(&v->rate, &v->cap_rate, n, e)) < 0)
		return rc;
	v->scene = s;
	v->net = *net;
	v->kernel = kernel;
	gather_hazards(v, s);
	if (topo_is_clos(s->topo)) {
		rc =
		    SIM_RESERVE(&v->toward, &v->cap_toward, net->c.all_tors, e);
		if (rc < 0)
			return rc;
		bound_ways_down(v);
	}
	return s->truth.n_holes > 0 ? list_holes(v, s, e) : 0;
}

void bulk_sieve_free(struct bulk_sieve *v)
{
	free(v->hazard);
	free(v->toward);
	free(v->rate);
	free(v->hole);
}

/* --- flows of a block ----------------------------------------------------- */

/* These are plain loads: on every machine measured a vector gather costs
 * more. */
INLINE float hazard_up(const float hz[], const struct bulk_block *k, uint32_t i)
{
	return hz[2 * k->src[i]] + hz[k->up1[i]] + hz[k->up2[i]];
}

INLINE float hazard_on(const float hz[], const struct bulk_block *k, uint32_t i)
{
	return hazard_up(hz, k, i) + hz[k->down2[i]] + hz[k->down1[i]] +
	    hz[2 * k->dst[i] + 1];
}

/* Candidates are written always and counted only if they pass, which spares a
 * branch that nobody can predict. What rounding may hold back lies within the
 * margin and is not lossy. */
static uint32_t pick(const struct bulk_sieve *v, const struct bulk_block *k,
    uint32_t candidate[])
{
	const float *hz = v->hazard;
	uint32_t maybe[BULK_BLOCK], n_maybe = 0, n = 0;
	for (uint32_t i = 0; i < k->n; i++) {
		maybe[n_maybe] = i;
		n_maybe +=
		    hazard_up(hz, k, i) + v->toward[k->dtor[i]] > k->need[i];
	}
	for (uint32_t j = 0; j < n_maybe; j++) {
		candidate[n] = maybe[j];
		n += hazard_on(hz, k, maybe[j]) > k->need[maybe[j]];
	}
	return n;
}

/* The same blocks turned round: who sends is who receives, and ports change
 * places, of which bulk_ports() sets the same bits. So the path loop finds the
 * ways back. */
static void turn_round(struct bulk_sieve *v, const struct bulk_block *k)
{
	struct bulk_block *t = &v->back;
	const uint32_t n_hosts = v->net.c.n_hosts;
	t->n = k->n;
	memcpy(t->src, k->dst, sizeof(t->src));
	memcpy(t->dst, k->src, sizeof(t->dst));
	memcpy(t->word, k->word, sizeof(t->word));
	for (uint32_t i = 0; i < BULK_BLOCK; i++) {
		t->dtor[i] = k->src[i] / n_hosts;
		t->word[2][i] = k->word[2][i] << 16 | k->word[2][i] >> 16;
	}
	v->kernel->path(t, &v->net);
}

/* The same as pick() for flows both ways. The ways back carry few packets that
 * matter; that they count here like the others lets more flows through, of
 * which none is lossy. */
static uint32_t pick_both(struct bulk_sieve *v, const struct bulk_block *k,
    uint32_t candidate[])
{
	const struct bulk_block *t = &v->back;
	const float *hz = v->hazard;
	uint32_t n = 0;
	turn_round(v, k);
	for (uint32_t i = 0; i < k->n; i++) {
		candidate[n] = i;
		n += hazard_on(hz, k, i) + hazard_on(hz, t, i) > k->need[i];
	}
	return n;
}

/* Whether a hole of the switch at the end of LINK takes the tuple, at whatever
 * time: the sieve knows none. */
static int may_take(const struct bulk_sieve *v, uint32_t link,
    const struct topo_tuple *tuple)
{
	const struct truth *t = &v->scene->truth;
	if (v->hole[link] == 0)
		return 0;
	const size_t first = v->hole[link] - 1;
	for (size_t i = first;
	     i < t->n_holes && t->hole[i].at == t->hole[first].at; i++)
		if (blackhole_rule_drops(&t->hole[i].rule, tuple))
			return 1;
	return 0;
}

/* The same as pick() for a scene with holes: also lists the flows that a hole
 * takes at some time. A hole as an infinite hazard would do, but it would let
 * every flow through that crosses the switch, and its entries take few of
 * them. */
static uint32_t pick_holes(const struct bulk_sieve *v,
    const struct bulk_block *k, uint32_t candidate[])
{
	const uint32_t n_lossy = pick(v, k, candidate);
	uint32_t lossy[BULK_BLOCK], n = 0, j = 0;
	memcpy(lossy, candidate, n_lossy * sizeof(lossy[0]));
	for (uint32_t i = 0; i < k->n; i++) {
		/* All links but the last, which leads to a host. */
		const uint32_t link[] = {2 * k->src[i], k->up1[i], k->up2[i],
		    k->down2[i], k->down1[i]};
		const uint32_t ports = bulk_ports(k->word[2][i]);
		const struct topo_tuple tuple = {
		    .src_ip = topo_addr_of_host(k->src[i]),
		    .dst_ip = topo_addr_of_host(k->dst[i]),
		    .src_port = (uint16_t)(ports >> 16),
		    .dst_port = (uint16_t)ports,
		    .proto = TOPO_PROTO_TCP,
		};
		int looks = j < n_lossy && lossy[j] == i;
		j += (uint32_t)looks;
		for (int m = 0; !looks && m < 5; m++)
			looks = may_take(v, link[m], &tuple);
		if (looks)
			candidate[n++] = i;
	}
	return n;
}

uint32_t bulk_sieve_pick(struct bulk_sieve *v, const struct bulk_block *k,
    uint32_t candidate[])
{
	const struct scene *s = v->scene;
	return scene_tcp_is_on(&s->traffic.params.tcp)
	    ? pick_both(v, k, candidate)
	    : s->truth.n_holes > 0 ? pick_holes(v, k, candidate)
				   : pick(v, k, candidate);
}
