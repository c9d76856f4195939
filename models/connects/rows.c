/* models/connects/rows.c -- a connect on its way, and the row that tells of it.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/connects/way.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

#include "models/scene/walk.h"

/* --- ways ----------------------------------------------------------------- */

/* A direction's choices: T1 of the sender's pod, T2, T1 of the receiver's. */
struct connect_choice {
	uint32_t t1[2], t2;
};

/* The link FORCED is crossed in that direction. Within a pod both T1s are one. */
static struct connect_choice connect_choose(struct connects *c,
    const struct connect *x, topo_link forced)
{
	const struct topo_clos *k = &c->clos;
	struct connect_choice y = {{0, 0}, 0};
	if (x->hops == CONNECTS_INTRA_TOR)
		return y;
	y.t1[0] = y.t1[1] = sim_rng_below(&c->rng, k->n_t1);
	if (x->hops == CONNECTS_INTER_POD) {
		y.t1[1] = sim_rng_below(&c->rng, k->n_t1);
		y.t2 = sim_rng_below(&c->rng, k->n_t2);
	}
	if (forced == TOPO_NONE)
		return y;
	const struct topo_clos_place at = topo_clos_place(k, forced);
	const int down = (forced & 1) == TOPO_DOWN;
	if (at.class == TOPO_TOR_T1 || at.class == TOPO_T1_TOR) {
		y.t1[down] = at.high % k->n_t1;
		if (x->hops == CONNECTS_INTRA_POD)
			y.t1[!down] = y.t1[down];
	} else if (at.class == TOPO_T1_T2 || at.class == TOPO_T2_T1) {
		y.t1[down] = at.low % k->n_t1;
		y.t2 = at.high;
	}
	return y;
}

static void connect_lay(const struct connects *c, struct connect *x,
    topo_host src, topo_host dst, const struct connect_choice *y)
{
	const struct topo_clos *k = &c->clos;
	const uint32_t from = src / k->n_hosts, to = dst / k->n_hosts;
	topo_link *l = x->link + x->n_links;
	*l++ = topo_clos_link_host(src, TOPO_UP);
	if (x->hops != CONNECTS_INTRA_TOR)
		*l++ = topo_clos_link_tor(k, from, y->t1[0], TOPO_UP);
	if (x->hops == CONNECTS_INTER_POD) {
		*l++ = topo_clos_link_t1(k,
		    from / k->n_tors * k->n_t1 + y->t1[0], y->t2, TOPO_UP);
		*l++ = topo_clos_link_t1(k, to / k->n_tors * k->n_t1 + y->t1[1],
		    y->t2, TOPO_DOWN);
	}
	if (x->hops != CONNECTS_INTRA_TOR)
		*l++ = topo_clos_link_tor(k, to, y->t1[1], TOPO_DOWN);
	*l++ = topo_clos_link_host(dst, TOPO_DOWN);
	x->n_links = (unsigned)(l - x->link);
}

void connects_draw_ways(struct connects *c, struct connect *x, topo_link forced,
    int is_receiver)
{
	const int back = is_receiver ^ ((forced & 1) == TOPO_DOWN);
	const struct connect_choice there =
	    connect_choose(c, x, back ? TOPO_NONE : forced);
	const struct connect_choice home =
	    connect_choose(c, x, back ? forced : TOPO_NONE);
	x->n_links = 0;
	connect_lay(c, x, x->src, x->dst, &there);
	connect_lay(c, x, x->dst, x->src, &home);
	for (unsigned i = 0; i < x->n_links; i++)
		x->hole[i] = x->dead[i] = 0;
}

/* --- telling -------------------------------------------------------------- */

int connects_put(struct connects *c, topo_host src, topo_host dst, sim_ns sent,
    uint32_t n, enum connects_outcome outcome, struct sim_err *e)
{
	const struct connects_row r = {.sent_ns = sent,
	    .src = src,
	    .dst = dst,
	    .n = n,
	    .outcome = (uint8_t)outcome,
	    .hops = (uint8_t)connects_hops_of(&c->clos, src, dst),
	    .n_lost = (uint8_t)(c->params.n_retries + 1)};
	return c->taker->take(c->taker->arg, &r, e);
}

/* A client that went off meanwhile tells nobody, and one that gave up has no
 * answer. */
int connects_tell(struct connects *c, const struct connect *x, sim_ns rtt,
    unsigned n_lost, struct sim_err *e)
{
	struct connects_row r = {.sent_ns = x->sent,
	    .rtt_ns = rtt,
	    .src = x->src,
	    .dst = x->dst,
	    .n = 1,
	    .outcome = CONNECTS_CONNECTED,
	    .hops = x->hops,
	    .n_lost = (uint8_t)n_lost};
	if (rtt > c->give_up_ns) {
		r.outcome = CONNECTS_TIMED_OUT;
		r.rtt_ns = 0;
		rtt = c->give_up_ns;
	}
	if (c->soon[x->src] &&
	    truth_outage_at(&c->scene->truth, TRUTH_HOST_OFF, x->src,
		x->sent + rtt)) {
		r.outcome = CONNECTS_UNTOLD;
		r.rtt_ns = 0;
	}
	return c->taker->take(c->taker->arg, &r, e);
}

/* --- the ladder ----------------------------------------------------------- */

/* A hole of type 2 drops X at any link of its ways, AT. Its five-tuple meets
 * each hole once: what was drawn holds for later SYNs. */
static int connect_meets_hole(struct connects *c, struct connect *x, sim_ns at)
{
	int dead = 0;
	for (unsigned i = 0; i < x->n_links; i++) {
		size_t k;
		const struct truth_hole *h =
		    connects_hole_2(c, x->link[i], at, &k);
		if (!h)
			continue;
		if (x->hole[i] != k + 1) {
			x->hole[i] = (uint32_t)k + 1;
			x->dead[i] = sim_rng_u01(&c->rng) <
			    (double)h->rule.below * 0x1p-32;
		}
		dead |= x->dead[i];
	}
	return dead;
}

static uint64_t link_is_odd(const struct connects *c, topo_link l)
{
	return c->odd[l / 64] >> l % 64 & 1;
}

/* The sum of hazards of links that come before source ORDER, of all those that
 * are no source for 1. Who looks up one that is not odd waits for memory. */
static double hazard_before(const struct connects *c, const struct connect *x,
    uint32_t order)
{
	static const uint8_t tier[CONNECTS_N_HOPS][CONNECTS_WAY / 2] = {{0, 0},
	    {0, 1, 1, 0}, {0, 1, 2, 2, 1, 0}};
	const unsigned n = x->n_links / 2;
	double sum = 0;
	for (unsigned i = 0; i < x->n_links; i++) {
		const topo_link l = x->link[i];
		if (!link_is_odd(c, l))
			sum += c->now.cap[tier[x->hops][i < n ? i : i - n]];
		else if (c->order[l] < order)
			sum += c->hazard[l];
	}
	return sum;
}

/* What X meets if none of its links is odd, else NULL. */
static const struct connects_toll *usual_toll(const struct connects *c,
    const struct connect *x)
{
	uint64_t odd = 0;
	for (unsigned i = 0; i < x->n_links; i++)
		odd |= link_is_odd(c, x->link[i]);
	return odd ? NULL : &c->now.usual[x->hops];
}

double connects_lost_before(const struct connects *c, const struct connect *x,
    uint32_t order)
{
	const struct connects_toll *usual = usual_toll(c, x);
	return usual ? usual->lost : -expm1(-hazard_before(c, x, order));
}

double connects_spared_before(const struct connects *c, const struct connect *x,
    uint32_t order)
{
	const struct connects_toll *usual = usual_toll(c, x);
	return usual ? usual->spared : exp(-hazard_before(c, x, order));
}

/* That of L after the segment, when faults may be others, but not the noise. */
static double hazard_at(const struct connects *c, topo_link l, sim_ns at)
{
	double hazard;
	if (c->scene->truth.n_faults > 0 &&
	    scene_loss_fault(&c->scene->loss, l, at, &hazard))
		return hazard;
	return isnan(c->all_noise) ? c->noise[l] : c->all_noise;
}

int connects_is_slow(const struct connects *c, const struct connect *x,
    topo_link last)
{
	for (unsigned i = 0; c->now.any_slow && i < x->n_links; i++) {
		const topo_link l = x->link[i];
		if (l < last && c->slow[l / 64] >> l % 64 & 1)
			return 1;
	}
	return 0;
}

/* Each link as it is when the SYN leaves. */
sim_ns connects_delay(struct connects *c, struct connect *x, sim_ns at)
{
	const struct scene_walk_net net = {.topo = c->topo, .scene = c->scene};
	sim_ns sum = 0;
	if (!c->is_ever_slow)
		return 0;
	if (x->n_links == 0)
		connects_draw_ways(c, x, TOPO_NONE, 0);
	for (unsigned i = 0; i < x->n_links; i++) {
		const topo_link l = x->link[i];
		sum += scene_walk_time(&net, l, scene_walk_fault(&net, l), at,
		    0, &c->rng);
	}
	return sum;
}

int connects_is_lost(struct connects *c, struct connect *x, sim_ns at)
{
	const struct truth *truth = &c->scene->truth;
	const int now = at < c->now.to;
	double sum = 0;
	if (now && c->now.is_flat)
		return sim_rng_u01(&c->rng) < c->now.flat[x->hops].lost;
	if (x->n_links == 0)
		connects_draw_ways(c, x, TOPO_NONE, 0);
	if (now ? c->now.any_off && c->off[x->dst]
		: truth_outage_at(truth, TRUTH_HOST_OFF, x->dst, at) != NULL)
		return 1;
	if ((now ? c->now.any_listed : truth->n_holes > 0) &&
	    connects_is_dead(c, x->level, x->src, x->dst, x->sent, at))
		return 1;
	if ((now ? c->now.any_hole_2 : truth->n_holes > 0) &&
	    connect_meets_hole(c, x, at))
		return 1;
	if (now)
		return sim_rng_u01(&c->rng) <
		    connects_lost_before(c, x, UINT32_MAX);
	for (unsigned i = 0; i < x->n_links; i++)
		sum += hazard_at(c, x->link[i], at);
	return sim_rng_u01(&c->rng) < -expm1(-sum);
}

int connects_resend(struct connects *c, struct connect *x, struct sim_err *e)
{
	const struct connects_params *p = &c->params;
	sim_ns waited = 0;
	for (unsigned k = 1; k <= p->n_retries; k++) {
		waited += p->ladder->wait_ns[k - 1];
		if (!connects_is_lost(c, x, x->sent + waited))
			return connects_tell(c, x,
			    waited + connects_delay(c, x, x->sent + waited) +
				fabric_sim_rtt_draw(&p->law[x->hops], &c->rng),
			    k, e);
	}
	return connects_tell(c, x, SIM_NEVER, p->n_retries + 1, e);
}

int connects_follow(struct connects *c, topo_host src, topo_host dst,
    sim_ns sent, struct sim_err *e)
{
	struct connect x = {.src = src,
	    .dst = dst,
	    .sent = sent,
	    .hops = (uint8_t)connects_hops_of(&c->clos, src, dst)};
	x.level = (uint8_t)connects_level_of((enum connects_hops)x.hops);
	return connects_resend(c, &x, e);
}

double connects_spared_by_holes(struct connects *c, struct connect *x,
    topo_link last)
{
	double p = 1;
	if (!c->now.any_hole_2)
		return 1;
	for (unsigned i = 0; i < x->n_links; i++) {
		size_t k;
		const struct truth_hole *h =
		    connects_hole_2(c, x->link[i], c->now.from, &k);
		if (!h || x->link[i] >= last)
			continue;
		x->hole[i] = (uint32_t)k + 1;
		p *= 1 - (double)h->rule.below * 0x1p-32;
	}
	return p;
}
/* By the parts of the mixture, of which exponentials forget and a stall is drawn
 * by its tail. */
sim_ns connects_late_rtt(struct connects *c, enum connects_hops hops)
{
	const struct fabric_sim_rtt *w = &c->params.law[hops];
	const double beyond = (double)c->params.late_ns / 1e3 - w->fixed_us;
	const double stall = w->stall_share *
	    gsl_cdf_lognormal_Q(beyond, w->stall_mu, w->stall_sigma);
	const double burst = w->burst_share * exp(-beyond / w->burst_us);
	double u = sim_rng_u01_open(&c->rng) * c->late_tail[hops], us;
	const double v = sim_rng_u01_open(&c->rng);
	if (u < stall)
		us = gsl_cdf_lognormal_Qinv(v * stall / w->stall_share,
		    w->stall_mu, w->stall_sigma);
	else
		us = beyond -
		    log(v) * (u < stall + burst ? w->burst_us : w->queue_us);
	return (sim_ns)fmin((w->fixed_us + us) * 1e3 + 0.5, 0x1p62);
}
