/* models/connects/rows.c -- connects that links mark, and what becomes of them.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <gsl/gsl_cdf.h>
#include <math.h>

#include "models/connects/impl.h"

/* A connect under way. Links are in order of crossing, there and then back; of
 * each the hole that it leads to, as far as is known, and whether the connect's
 * five-tuple is one that the hole drops. */
struct connect {
	topo_host src, dst;
	sim_ns sent;
	uint8_t level, hops;
	unsigned n_links;
	topo_link link[CONNECTS_WAY];
	uint32_t hole[CONNECTS_WAY]; /* 1 + index; 0: none met yet */
	uint8_t dead[CONNECTS_WAY];
};

/* Who may be marked: the connects to or from N hosts from FIRST on, one in
 * `slots` times for each peer, by level. */
struct crowd {
	uint32_t first, n;
	enum connects_level level;
	int is_receiver;
	sim_ns every;
	uint64_t slot, n_slots; /* from the first on that may be due */
	uint32_t n_peers;
};

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

/* Draw both ways, of which one crosses FORCED; TOPO_NONE: whatever it is. What
 * goes up from the unit below it is sent by who is in the unit, and what comes
 * down is sent to there. */
static void draw_ways(struct connects *c, struct connect *x, topo_link forced,
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

/* X is answered after RTT, having lost N_LOST round trips. A client that went
 * off meanwhile tells nobody, and one that gave up has no answer. */
static int connect_tell(struct connects *c, const struct connect *x, sim_ns rtt,
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

/* The chance that such links mark X, and that none of them does. */
static double chance_before(const struct connects *c, const struct connect *x,
    uint32_t order)
{
	const struct connects_toll *usual = usual_toll(c, x);
	return usual ? usual->lost : -expm1(-hazard_before(c, x, order));
}

static double spared_before(const struct connects *c, const struct connect *x,
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

/* The round trip that begins AT is lost. */
static int connect_is_lost(struct connects *c, struct connect *x, sim_ns at)
{
	const struct truth *truth = &c->scene->truth;
	const int now = at < c->now.to;
	double sum = 0;
	if (now && c->now.is_flat)
		return sim_rng_u01(&c->rng) < c->now.flat[x->hops].lost;
	if (x->n_links == 0)
		draw_ways(c, x, TOPO_NONE, 0);
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
		return sim_rng_u01(&c->rng) < chance_before(c, x, UINT32_MAX);
	for (unsigned i = 0; i < x->n_links; i++)
		sum += hazard_at(c, x->link[i], at);
	return sim_rng_u01(&c->rng) < -expm1(-sum);
}

static int connect_follow(struct connects *c, struct connect *x,
    struct sim_err *e)
{
	const struct connects_params *p = &c->params;
	sim_ns waited = 0;
	for (unsigned k = 1; k <= p->n_retries; k++) {
		waited += p->ladder->wait_ns[k - 1];
		if (!connect_is_lost(c, x, x->sent + waited))
			return connect_tell(c, x,
			    waited +
				fabric_sim_rtt_draw(&p->law[x->hops], &c->rng),
			    k, e);
	}
	return connect_tell(c, x, SIM_NEVER, p->n_retries + 1, e);
}

int connects_follow(struct connects *c, topo_host src, topo_host dst,
    sim_ns sent, struct sim_err *e)
{
	struct connect x = {.src = src,
	    .dst = dst,
	    .sent = sent,
	    .hops = (uint8_t)connects_hops_of(&c->clos, src, dst)};
	x.level = x.hops == CONNECTS_INTRA_TOR ? CONNECTS_TOR : CONNECTS_DC;
	return connect_follow(c, &x, e);
}

/* The time of a round trip that takes late_ns or more: by the parts of the
 * mixture, of which exponentials forget and a stall is drawn by its tail. */
static sim_ns late_rtt(struct connects *c, enum connects_hops hops)
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

/* --- who is marked -------------------------------------------------------- */

/* So many are passed over before the next that has a mark. */
static uint64_t connects_jump(struct connects *c, double log_unmarked)
{
	const double n = log(sim_rng_u01_open(&c->rng)) / log_unmarked;
	return n < 0x1p62 ? (uint64_t)n : UINT64_C(1) << 62;
}

static struct crowd crowd_of(const struct connects *c, uint32_t first,
    uint32_t n, enum connects_level level, int is_receiver)
{
	const sim_ns every = c->params.mesh.every_ns[level];
	const uint64_t slot = c->now.from / every;
	return (struct crowd){first, n, level, is_receiver, every, slot,
	    (c->now.to + every - 1) / every - slot,
	    c->params.mesh.n_peers[level]};
}

static uint64_t crowd_size(const struct crowd *w)
{
	return w->n_slots * w->n_peers * w->n;
}

/* Connect number I of the crowd. Returns 0 if it is none that can be marked: it
 * is not due, not made, or lost in any case. */
static int crowd_at(const struct connects *c, const struct crowd *w, uint64_t i,
    struct connect *x)
{
	const struct connects_mesh *m = &c->params.mesh;
	const uint64_t slot = w->slot + i % w->n_slots;
	i /= w->n_slots;
	const topo_host a = w->first + (uint32_t)(i / w->n_peers);
	const topo_host b =
	    m->peer(m->arg, w->level, a, (uint32_t)(i % w->n_peers));
	x->src = w->is_receiver ? b : a;
	x->dst = w->is_receiver ? a : b;
	x->level = (uint8_t)w->level;
	x->hops = (uint8_t)connects_hops_of(&c->clos, a, b);
	x->n_links = 0;
	x->sent = connects_phase(c, w->level, x->src, x->dst) + slot * w->every;
	if (x->sent < c->now.from || x->sent >= c->now.to)
		return 0;
	if (c->now.any_off && (c->off[a] || c->off[b]))
		return 0;
	return !c->now.any_listed ||
	    (!c->listed[a / c->clos.n_hosts] &&
		!c->listed[b / c->clos.n_hosts]) ||
	    !connects_is_dead(c, w->level, x->src, x->dst, x->sent,
		c->now.from);
}

/* Go on to the next of the crowd that is looked at and can be marked; each is
 * looked at with chance 1 - exp(LOG_UNMARKED). *I is its number, CROWD_START
 * before the first. Returns 0 if there is none. */
#define CROWD_START UINT64_MAX
static int crowd_next(struct connects *c, const struct crowd *w,
    double log_unmarked, uint64_t *i, struct connect *x)
{
	const uint64_t n = crowd_size(w);
	do
		*i += 1 + connects_jump(c, log_unmarked);
	while (*i < n && !crowd_at(c, w, *i, x));
	return *i < n;
}

/* The five-tuple of X is none that a hole drops of those that come before link
 * LAST; the fate of all these is settled so. Holes are in order of links, and all
 * those of ToRs come before. */
static double connect_spared(struct connects *c, struct connect *x,
    topo_link last)
{
	double p = 1;
	if (!c->now.any_hole_2)
		return 1;
	for (unsigned i = 0; i < x->n_links; i++) {
		size_t k;
		const struct truth_hole *h =
		    connects_hole_2(c, x->link[i], c->now.from, &k);
		if (!h || (x->link[i] >= last && h->at >= c->clos.all_tors))
			continue;
		x->hole[i] = (uint32_t)k + 1;
		p *= 1 - (double)h->rule.below * 0x1p-32;
	}
	return p;
}

/* --- links that are no source --------------------------------------------- */

/* Each may mark any connect of the level; P bounds what they do together. */
static int marked_by_most(struct connects *c, const struct crowd *w, double p,
    struct sim_err *e)
{
	const double log_unmarked = log1p(-p);
	uint64_t i = CROWD_START;
	struct connect x;
	int rc = 0;
	while (rc == 0 && crowd_next(c, w, log_unmarked, &i, &x)) {
		double keep;
		if (c->now.is_flat) {
			keep = c->now.flat[x.hops].lost;
		} else {
			draw_ways(c, &x, TOPO_NONE, 0);
			keep = chance_before(c, &x, 1) *
			    connect_spared(c, &x, TOPO_NONE);
		}
		if (keep >= p || sim_rng_u01(&c->rng) * p < keep)
			rc = connect_follow(c, &x, e);
	}
	return rc;
}

/* Those that nothing marks, and that are late by themselves. */
static int late_alone(struct connects *c, const struct crowd *w, double p,
    struct sim_err *e)
{
	const double log_unmarked = log1p(-p);
	uint64_t i = CROWD_START;
	struct connect x;
	int rc = 0;
	if (p == 0)
		return 0;
	while (rc == 0 && crowd_next(c, w, log_unmarked, &i, &x)) {
		double keep;
		if (c->now.is_flat) {
			keep = c->now.flat[x.hops].spared;
		} else {
			draw_ways(c, &x, TOPO_NONE, 0);
			keep = spared_before(c, &x, UINT32_MAX) *
			    connect_spared(c, &x, TOPO_NONE);
		}
		if (sim_rng_u01(&c->rng) * p < keep * c->late_tail[x.hops])
			rc = connect_tell(c, &x, late_rtt(c, x.hops), 0, e);
	}
	return rc;
}

static int of_level(struct connects *c, enum connects_level level,
    struct sim_err *e)
{
	const struct crowd w = crowd_of(c, 0, c->clos.all_hosts, level, 0);
	const int tiers = level == CONNECTS_TOR ? 1
	    : c->clos.n_pods > 1                ? 3
						: 2;
	double sum = 0, late = 0;
	for (int t = 0; t < tiers; t++)
		sum += 4 * c->now.cap[t];
	for (int h = level == CONNECTS_TOR ? 0 : 1; h < tiers; h++)
		late = fmax(late, c->late_tail[h]);
	int rc = sum > 0 ? marked_by_most(c, &w, -expm1(-sum), e) : 0;
	return rc < 0 ? rc : late_alone(c, &w, late, e);
}

/* --- links that are ------------------------------------------------------- */

/* Whether X, between servers in and out of a unit of the source's tier, leaves
 * the unit. */
static int connect_leaves(const struct connects_source *s,
    const struct connect *x)
{
	return x->hops >= s->tier;
}

static int marked_by_loss(struct connects *c, const struct connects_source *s,
    const struct crowd *w, struct connect *x, struct sim_err *e)
{
	draw_ways(c, x, s->link, w->is_receiver);
	const double keep = spared_before(c, x, c->order[s->link]) *
	    connect_spared(c, x, TOPO_NONE);
	return sim_rng_u01(&c->rng) < keep ? connect_follow(c, x, e) : 0;
}

/* Of the holes that X meets this is the first that drops it. */
static int marked_by_hole(struct connects *c, const struct connects_source *s,
    const struct crowd *w, struct connect *x, struct sim_err *e)
{
	size_t k;
	draw_ways(c, x, s->link, w->is_receiver);
	if (sim_rng_u01(&c->rng) >= connect_spared(c, x, s->link))
		return 0;
	for (unsigned i = 0; i < x->n_links; i++)
		if (x->link[i] == s->link &&
		    connects_hole_2(c, s->link, c->now.from, &k)) {
			x->hole[i] = (uint32_t)k + 1;
			x->dead[i] = 1;
		}
	return connect_follow(c, x, e);
}

/* Whether a hole of a ToR drops X, and where, SOURCE's being the first of them
 * that it meets. Each entry is dropped by itself; if none has been so far, one of
 * those that are left is, at least. */
static int connect_is_dropped(struct connects *c,
    const struct connects_source *s, struct connect *x)
{
	double rate[CONNECTS_WAY], left = 1;
	int dead = 0;
	for (unsigned i = 0; i < x->n_links; i++) {
		size_t k;
		const struct truth_hole *h =
		    connects_hole_2(c, x->link[i], c->now.from, &k);
		rate[i] = 0;
		if (!h || h->at >= c->clos.all_tors)
			continue;
		if (k < s->hole)
			return 0; /* the other ToR's, which looks at it, too */
		x->hole[i] = (uint32_t)k + 1;
		rate[i] = (double)h->rule.below * 0x1p-32;
		left *= 1 - rate[i];
	}
	if (sim_rng_u01(&c->rng) * s->p >= 1 - left)
		return 0;
	for (unsigned i = 0; i < x->n_links; i++) {
		if (rate[i] == 0)
			continue;
		x->dead[i] = sim_rng_u01(&c->rng) <
		    (dead ? rate[i] : rate[i] / (1 - left));
		dead |= x->dead[i];
		left /= 1 - rate[i];
	}
	return 1;
}

/* Servers of one ToR connect to each other: once is enough, as who sends. */
static int marked_by_tor(struct connects *c, const struct connects_source *s,
    const struct crowd *w, struct connect *x, struct sim_err *e)
{
	if (w->is_receiver && x->hops == CONNECTS_INTRA_TOR)
		return 0;
	draw_ways(c, x, TOPO_NONE, 0);
	return connect_is_dropped(c, s, x) ? connect_follow(c, x, e) : 0;
}

static int of_source(struct connects *c, const struct connects_source *s,
    enum connects_level level, int is_receiver, struct sim_err *e)
{
	const struct crowd w =
	    crowd_of(c, s->first_host, s->n_hosts, level, is_receiver);
	const double log_unmarked = log1p(-s->p);
	uint64_t i = CROWD_START;
	struct connect x;
	int rc = 0;
	while (rc == 0 && crowd_next(c, &w, log_unmarked, &i, &x))
		if (connect_leaves(s, &x))
			rc = s->link == TOPO_NONE
			    ? marked_by_tor(c, s, &w, &x, e)
			    : s->is_hole ? marked_by_hole(c, s, &w, &x, e)
					 : marked_by_loss(c, s, &w, &x, e);
	return rc;
}

int connects_marked(struct connects *c, struct sim_err *e)
{
	int rc = 0;
	for (unsigned k = 0; rc == 0 && k < CONNECTS_N_LEVELS; k++)
		if (c->params.mesh.n_peers[k] > 0)
			rc = of_level(c, k, e);
	for (size_t i = 0; rc == 0 && i < c->n_sources; i++) {
		const struct connects_source *s = &c->source[i];
		for (unsigned k = s->tier > 0; rc == 0 && k < 2; k++)
			for (int r = 0; rc == 0 && r < 2; r++)
				rc = of_source(c, s, k, r, e);
	}
	return rc;
}
