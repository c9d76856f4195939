/* models/bulk/skip.c -- the skipping bulk data plane: only flows that may lose.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/bulk/skip.h"

#include <math.h>
#include <stdlib.h>

#include "models/bulk/kernel.h"
#include "sim/vec.h"

/* If more than this share of flows are candidates, jumping from one to the next
 * gains nothing: then every flow is looked at. */
#define JUMP_LIMIT 0.5

/* A link with a fault. */
struct failed {
	topo_link link;
	struct topo_clos_place at;
	double hazard; /* all its faults at once: an upper bound */
	double bound;  /* 1 - exp(-n_max * hazard) */
	double rate;   /* 1 - exp(-hazard) */

	/* Flows out of a ToR cross it with the same chance for all ToRs in
	 * [from, to), or for all others: `inside` tells which. */
	uint32_t from, to;
	int inside;
	double weight; /* that chance times bound */
};

struct bulk_skip {
	const struct scene *scene;
	struct obs *window;
	struct losses *lost;
	struct failed *failed;
	size_t n_failed, cap_failed;
	double *sum; /* [n_failed], of the current ToR: see weigh() */
	size_t cap_sum;
	int timed;         /* some fault is not active all the epoch */
	double n_max;      /* packets of the largest flow */
	double most_noise; /* hazard bound of one link's noise */

	uint32_t *index; /* [n_links]: 1 + place in failed[], 0 = good */
	size_t cap_index;

	uint64_t *kept; /* flows that a failed link made lossy, ascending */
	size_t n_kept, cap_kept;
};

/* One flow as it is drawn. */
struct flow {
	struct obs_flow obs;
	uint64_t id;
	unsigned h;
	topo_link path[6];
	double fault[6]; /* hazard of active faults */
	double noise[6];
	double fault_sum;
	double bounds;           /* sum of failed[].bound over the path */
	unsigned n_failed, last; /* hops with a failed link; the last of them */
};

int bulk_skip_open(struct bulk_skip **k, struct sim_err *e)
{
	return SIM_ZALLOC(k, 1, e);
}

void bulk_skip_close(struct bulk_skip *k)
{
	if (!k)
		return;
	free(k->failed);
	free(k->sum);
	free(k->index);
	free(k->kept);
	free(k);
}

/* Which ToRs' flows cross the link, and with what chance: destinations are
 * uniform over the hosts under other ToRs, and ECMP is uniform at each switch.
 * A link up is crossed by flows from its own ToR or pod, one down by flows from
 * outside these; the chance depends on nothing else. */
static void set_cross(struct failed *f, const struct topo_clos *c)
{
	const double others = c->all_tors - 1.0;
	const double n_t1 = c->n_t1, n_t2 = c->n_t2;
	const uint32_t pod_tors = f->at.pod * c->n_tors;
	double chance = 0;
	f->from = pod_tors;
	f->to = pod_tors + c->n_tors;
	f->inside = 0;
	switch (f->at.class) {
	case TOPO_TOR_T1:
		f->inside = 1;
		f->from = f->at.low;
		chance = 1 / n_t1;
		break;
	/* Only flows that leave the pod come here, spread over its T1s and
	 * their T2s. */
	case TOPO_T1_T2:
		f->inside = 1;
		chance = (c->all_tors - c->n_tors) / (others * n_t1 * n_t2);
		break;
	/* The flows of other pods to this one, spread over the T2s and this
	 * pod's T1s. */
	case TOPO_T2_T1:
		chance = c->n_tors / (others * n_t1 * n_t2);
		break;
	/* Flows to this ToR from all others, those of its own pod included,
	 * arrive over each T1 alike. */
	case TOPO_T1_TOR:
		f->from = f->at.low;
		chance = 1 / (others * n_t1);
		break;
	case TOPO_TOR_HOST:
		f->from = f->at.low / c->n_hosts;
		chance = 1 / (others * c->n_hosts);
		break;
	default:
		break;
	}
	if (f->at.class != TOPO_T1_T2 && f->at.class != TOPO_T2_T1)
		f->to = f->from + 1;
	f->weight = chance * f->bound;
}

/* Gather the faults by link: they are sorted, so those of one link follow each
 * other. Their hazards are added as if all were active, which keeps `bound` a
 * bound at all times. */
static int list_failed(struct bulk_skip *k, struct sim_err *e)
{
	const struct truth *truth = &k->scene->truth;
	const struct topo *t = k->scene->topo;
	const sim_ns epoch_ns = k->scene->traffic.epoch_ns;
	k->n_failed = 0;
	k->timed = 0;
	for (size_t i = 0; i < truth->n_faults; i++) {
		const struct truth_fault *f = &truth->fault[i];
		k->timed |= f->from_ns > 0 || f->to_ns < epoch_ns;
		if (k->n_failed > 0 &&
		    k->failed[k->n_failed - 1].link == f->link) {
			k->failed[k->n_failed - 1].hazard +=
			    scene_hazard(f->rate);
			continue;
		}
		int rc =
		    SIM_RESERVE(&k->failed, &k->cap_failed, k->n_failed + 1, e);
		if (rc < 0)
			return rc;
		k->failed[k->n_failed++] = (struct failed){
		    .link = f->link,
		    .at = topo_clos_place(&t->clos, f->link),
		    .hazard = scene_hazard(f->rate),
		};
	}
	int rc = SIM_RESERVE(&k->sum, &k->cap_sum, k->n_failed, e);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < k->n_failed; i++) {
		struct failed *f = &k->failed[i];
		f->bound = -expm1(-k->n_max * f->hazard);
		f->rate = -expm1(-f->hazard);
		set_cross(f, &t->clos);
		k->index[f->link] = (uint32_t)i + 1;
	}
	return 0;
}

/* The index must be zero where no link has failed: new memory is cleared here,
 * and what an epoch has set is cleared by skip_end(). */
static int skip_begin(struct bulk_skip *k, const struct scene *s, struct obs *w,
    struct losses *lost, struct sim_err *e)
{
	const size_t had = k->cap_index;
	int rc = SIM_RESERVE(&k->index, &k->cap_index, s->topo->n_links, e);
	if (rc < 0)
		return rc;
	for (size_t i = had; i < k->cap_index; i++)
		k->index[i] = 0;
	k->scene = s;
	k->window = w;
	k->lost = lost;
	k->n_kept = 0;
	k->n_max = s->traffic.params.packets.b;
	k->most_noise = scene_hazard(scene_noise_most(&s->loss.noise));
	return list_failed(k, e);
}

/* Clear only the entries that were set: clearing all of the dense index would
 * cost more than many an epoch. */
static void skip_end(struct bulk_skip *k)
{
	for (size_t i = 0; i < k->n_failed; i++)
		k->index[k->failed[i].link] = 0;
}

/* Where a flow goes: ToR, host, and the switches that ECMP picks. */
struct course {
	uint32_t dtor, dst, up, t2, down; /* T1s counted within their pod */
};

/* One of N alike from a uniform word, leaving in the word what the choice did
 * not use, for the next. Bias below (product of the Ns) / 2^32. */
static uint32_t skip_choose(uint32_t *word, uint32_t n)
{
	const uint64_t m = (uint64_t)*word * n;
	*word = (uint32_t)m;
	return (uint32_t)(m >> 32);
}

static uint32_t other_tor(uint32_t *word, const struct topo_clos *c,
    uint32_t tor)
{
	uint32_t t = skip_choose(word, c->all_tors - 1);
	return t + (t >= tor);
}

/* A ToR of another pod: those after the pod's own are shifted past it. */
static uint32_t far_tor(uint32_t *word, const struct topo_clos *c, uint32_t pod)
{
	uint32_t t = skip_choose(word, c->all_tors - c->n_tors);
	return t + (t >= pod * c->n_tors ? c->n_tors : 0);
}

/* Where a uniform flow out of TOR goes, given that it crosses F (NULL: any
 * flow). The condition fixes some of the choices; those that it leaves open
 * stay independent and uniform, so the others are drawn as ever and the fixed
 * ones replaced. */
static struct course draw_course(struct sim_rng *r, const struct topo_clos *c,
    uint32_t tor, const struct failed *f)
{
	const uint32_t pod = tor / c->n_tors;
	const struct topo_clos_place *at = f ? &f->at : NULL;
	uint32_t to = sim_rng_u32(r), by = sim_rng_u32(r);
	struct course w = {.dst = TOPO_NONE};
	if (!f || at->class == TOPO_TOR_T1)
		w.dtor = other_tor(&to, c, tor);
	else if (at->class == TOPO_T1_T2)
		w.dtor = far_tor(&to, c, pod);
	else if (at->class == TOPO_T2_T1)
		w.dtor = at->pod * c->n_tors + skip_choose(&to, c->n_tors);
	else if (at->class == TOPO_T1_TOR)
		w.dtor = at->low;
	else
		w.dtor = (w.dst = at->low) / c->n_hosts;

	if (w.dst == TOPO_NONE)
		w.dst = w.dtor * c->n_hosts + skip_choose(&to, c->n_hosts);
	w.up = skip_choose(&by, c->n_t1);
	w.t2 = skip_choose(&by, c->n_t2);
	w.down = skip_choose(&by, c->n_t1);
	if (!f)
		return w;
	switch (at->class) {
	case TOPO_TOR_T1:
		w.up = at->high % c->n_t1;
		break;
	case TOPO_T1_T2:
		w.up = at->low % c->n_t1;
		w.t2 = at->high;
		break;
	case TOPO_T2_T1:
		w.t2 = at->high;
		w.down = at->low % c->n_t1;
		break;
	case TOPO_T1_TOR:
		/* Within a pod the flow goes down from the T1 that it went up
		 * to. */
		*(at->pod == pod ? &w.up : &w.down) = at->high % c->n_t1;
		break;
	default:
		break;
	}
	return w;
}

/* The links of a course, from SRC to its destination: two of hosts, and two or
 * four between switches. */
static unsigned lay_path(const struct topo_clos *c, topo_host src, uint32_t tor,
    const struct course *w, topo_link path[6])
{
	const uint32_t pod = tor / c->n_tors, dpod = w->dtor / c->n_tors;
	unsigned h = 0;
	uint32_t down = w->up;
	path[h++] = topo_clos_link_host(src, TOPO_UP);
	path[h++] = topo_clos_link_tor(c, tor, w->up, TOPO_UP);
	if (pod != dpod) {
		down = w->down;
		path[h++] =
		    topo_clos_link_t1(c, pod * c->n_t1 + w->up, w->t2, TOPO_UP);
		path[h++] = topo_clos_link_t1(c, dpod * c->n_t1 + down, w->t2,
		    TOPO_DOWN);
	}
	path[h++] = topo_clos_link_tor(c, w->dtor, down, TOPO_DOWN);
	path[h++] = topo_clos_link_host(w->dst, TOPO_DOWN);
	return h;
}

static sim_ns draw_start(const struct bulk_skip *k, struct sim_rng *r)
{
	return (sim_ns)(sim_rng_u32(r) * 0x1p-32 *
	    (double)k->scene->traffic.epoch_ns);
}

/* Draw the flow with number ID out of TOR; noise is left for later, since few
 * flows need it. Times are drawn early only if they matter for faults. */
static void draw_flow(const struct bulk_skip *k, struct sim_rng *r, uint64_t id,
    uint32_t tor, const struct failed *given, struct flow *f)
{
	const struct scene_traffic *tr = &k->scene->traffic;
	const struct topo_clos *c = &k->scene->topo->clos;
	const struct course w = draw_course(r, c, tor, given);
	f->obs = (struct obs_flow){
	    .src_host = scene_traffic_src(tr, id),
	    .dst_host = w.dst,
	    .n_pkts = scene_traffic_packets(tr, sim_rng_u32(r)),
	};
	if (k->timed)
		f->obs.start_ns = draw_start(k, r);
	f->id = id;
	f->h = lay_path(c, f->obs.src_host, tor, &w, f->path);
	f->fault_sum = f->bounds = 0;
	f->n_failed = 0;
	for (unsigned i = 0; i < f->h; i++) {
		uint32_t index = k->index[f->path[i]];
		f->fault[i] = 0;
		if (index == 0)
			continue;
		const struct failed *x = &k->failed[index - 1];
		f->n_failed++;
		f->last = i;
		f->fault[i] = x->hazard;
		f->bounds += x->bound;
		if (k->timed)
			scene_loss_fault(&k->scene->loss, x->link,
			    f->obs.start_ns, &f->fault[i]);
		f->fault_sum += f->fault[i];
	}
}

/* Whether noise loses one of the flow's packets, by U uniform on [0, 1). The
 * answer is 1 - exp(-n * sum) > u, but bounds that cost less settle most flows:
 * first the greatest noise a link can have, then the sum of rates. If noise
 * strikes, f->noise holds the hazards; a link with an active fault has none. */
static int noise_strikes(const struct bulk_skip *k, struct flow *f, double u)
{
	const struct scene_noise *noise = &k->scene->loss.noise;
	const double n = f->obs.n_pkts;
	double bound = 0, sum = 0;
	if (u >= n * f->h * k->most_noise)
		return 0;
	scene_noise_of_flow(noise, f->id, f->path, f->h, f->noise);
	for (unsigned i = 0; i < f->h; i++) {
		double none;
		const topo_link l = f->path[i];
		if (k->index[l] != 0 &&
		    scene_loss_fault(&k->scene->loss, l, f->obs.start_ns,
			&none))
			f->noise[i] = 0;
		bound += f->noise[i]; /* hazard = -log(1 - p) < p / (1 - p) */
	}
	if (u * (1 - scene_noise_most(noise)) >= n * bound)
		return 0;
	for (unsigned i = 0; i < f->h; i++) {
		f->noise[i] = scene_hazard(f->noise[i]);
		sum += f->noise[i];
	}
	return u < -expm1(-n * sum);
}

/* A number in [0, 1), drawn to full precision only when it may be below LIMIT;
 * otherwise 1, which answers the same question. */
static double lazy_u01(struct sim_rng *r, double limit)
{
	const uint32_t high = sim_rng_u32(r);
	if (high * 0x1p-32 >= limit)
		return 1;
	return (double)((uint64_t)high << 21 | sim_rng_u32(r) >> 11) * 0x1p-53;
}

/* Append F to the window, MARKS being its marked packets by link; they become
 * its drops. ONE: only one link has any, and no packet can be marked twice. */
static int skip_report(struct bulk_skip *k, struct sim_rng *r, struct flow *f,
    uint32_t marks[6], int one, struct sim_err *e)
{
	const uint32_t ports = bulk_ports(sim_rng_u32(r));
	if (!k->timed)
		f->obs.start_ns = draw_start(k, r);
	f->obs.src_port = (uint16_t)(ports >> 16);
	f->obs.dst_port = (uint16_t)ports;
	if (!one)
		scene_loss_drops(r, f->obs.n_pkts, marks, f->h, marks);
	for (unsigned i = 0; i < f->h; i++)
		f->obs.n_retx += marks[i];
	int rc = losses_add_drops(k->lost, marks, f->h, e);
	if (rc == 0 &&
	    (rc = obs_add_flow(k->window, &f->obs, f->path, f->h, e)) < 0)
		k->lost->n_drops -= f->h;
	return rc;
}

/* The marks of failed links on F, one of which drops with probability DROPS.
 * Mostly there is just one, of which all that is asked for is known. */
static int mark_failed(const struct bulk_skip *k, struct sim_rng *r,
    const struct flow *f, double drops, uint32_t marks[6])
{
	if (f->n_failed > 1 || k->timed) {
		scene_loss_marks(r, f->obs.n_pkts, f->fault, f->h, marks);
		return 0;
	}
	const struct failed *x = &k->failed[k->index[f->path[f->last]] - 1];
	for (unsigned i = 0; i < f->h; i++)
		marks[i] = 0;
	marks[f->last] =
	    scene_loss_some_of(r, f->obs.n_pkts, x->hazard, x->rate, drops);
	return 1;
}

/* Report a flow on which a failed link dropped: it has marks there, and rarely
 * noise adds some on its good links. It is noted in kept[], so that run_noise()
 * does not draw it again. */
static int report_failed(struct bulk_skip *k, struct sim_rng *r, struct flow *f,
    uint64_t id, double drops, struct sim_err *e)
{
	uint32_t marks[6], more[6];
	int rc = SIM_RESERVE(&k->kept, &k->cap_kept, k->n_kept + 1, e);
	if (rc < 0)
		return rc;
	k->kept[k->n_kept++] = id;
	int one = mark_failed(k, r, f, drops, marks);
	if (noise_strikes(k, f,
		lazy_u01(r, (double)f->obs.n_pkts * f->h * k->most_noise))) {
		scene_loss_marks(r, f->obs.n_pkts, f->noise, f->h, more);
		for (unsigned i = 0; i < f->h; i++)
			marks[i] += more[i]; /* one of the two is 0 */
		one = 0;
	}
	return skip_report(k, r, f, marks, one, e);
}

/* How many flows come before the next candidate: geometric from 0, LOG_MISS
 * being the logarithm of the chance that a flow is none. */
static uint64_t skip_jump(struct sim_rng *r, double log_miss)
{
	double x = log(sim_rng_u01_open(r)) / log_miss;
	return x < 0x1p62 ? (uint64_t)x : UINT64_C(1) << 62;
}

/* Running sums of the weights of links that flows out of TOR can cross; the
 * last is the rate of candidates. */
static double weigh(struct bulk_skip *k, uint32_t tor)
{
	double sum = 0;
	for (size_t i = 0; i < k->n_failed; i++) {
		const struct failed *f = &k->failed[i];
		const int inside = (f->from <= tor) & (tor < f->to);
		sum += inside == f->inside ? f->weight : 0;
		k->sum[i] = sum;
	}
	return sum;
}

/* A link in proportion to its weight: one of weight 0 adds nothing to the sums
 * and is never the first above the draw. */
static const struct failed *skip_pick(const struct bulk_skip *k,
    struct sim_rng *r, double total)
{
	const double u = sim_rng_u32(r) * 0x1p-32 * total;
	size_t i = 0;
	while (u >= k->sum[i])
		i++;
	return &k->failed[i];
}

/* All flows out of TOR on which a failed link drops. A flow is a candidate at
 * rate `total`, through one of the links in proportion to its weight. Over all
 * links, one that crosses some of them is proposed at a rate proportional to
 * the sum of their bounds, and keeping it with drops / bounds leaves the chance
 * that one of them does drop. */
static int run_tor(struct bulk_skip *k, uint32_t tor, struct sim_err *e)
{
	const struct scene *s = k->scene;
	const struct topo_clos *c = &s->topo->clos;
	const uint64_t last =
	    scene_traffic_first(&s->traffic, (tor + 1) * c->n_hosts);
	uint64_t id = scene_traffic_first(&s->traffic, tor * c->n_hosts);
	const double total = weigh(k, tor);
	if (total == 0)
		return 0;
	/* Without jumps each flow is drawn unconditionally, and kept with the
	 * chance that it drops. */
	const int jumps = total < JUMP_LIMIT;
	const double log_miss = log1p(-total);
	struct sim_rng r;
	sim_rng_init(&r, &s->where, SIM_STREAM_SKIP_FAILED, tor);
	for (;; id++) {
		struct flow f;
		if (jumps)
			id += skip_jump(&r, log_miss);
		if (id >= last)
			return 0;
		draw_flow(k, &r, id, tor,
		    jumps ? skip_pick(k, &r, total) : NULL, &f);
		/* 1 - exp(-x) is below x, which costs nothing and tells enough
		 * of most that are not kept. */
		const double x = (double)f.obs.n_pkts * f.fault_sum;
		const double u = sim_rng_u01(&r) * (jumps ? f.bounds : 1);
		if (u >= x * (1 + 0x1p-40))
			continue;
		const double drops = -expm1(-x);
		if (u >= drops)
			continue;
		int rc = report_failed(k, &r, &f, id, drops, e);
		if (rc < 0)
			return rc;
	}
}

/* The flows that lose to noise alone. Noise and faults strike independently, so
 * for flows that no failed link made lossy the law is that of any flow, given
 * that no failed link drops. */
static int run_noise(struct bulk_skip *k, struct sim_err *e)
{
	const struct scene *s = k->scene;
	const uint32_t n_hosts = s->topo->clos.n_hosts;
	const double bound = bulk_skip_noise_share(s);
	const int jumps = bound < JUMP_LIMIT;
	const double log_miss = log1p(-bound);
	uint32_t marks[6];
	size_t next_kept = 0;
	struct sim_rng r;
	if (bound == 0)
		return 0;
	sim_rng_init(&r, &s->where, SIM_STREAM_SKIP_NOISE, 0);
	for (uint64_t id = 0;; id++) {
		struct flow f;
		if (jumps)
			id += skip_jump(&r, log_miss);
		if (id >= s->traffic.n_flows)
			return 0;
		while (next_kept < k->n_kept && k->kept[next_kept] < id)
			next_kept++;
		if (next_kept < k->n_kept && k->kept[next_kept] == id)
			continue;
		/* Draw a flow given that no failed link dropped, by rejection:
		 * faults that drop are rare enough for it to end soon, as few
		 * flows cross a failed link. */
		const uint32_t tor =
		    scene_traffic_src(&s->traffic, id) / n_hosts;
		do
			draw_flow(k, &r, id, tor, NULL, &f);
		while (f.fault_sum > 0 &&
		    sim_rng_u01(&r) >=
			exp(-(double)f.obs.n_pkts * f.fault_sum));
		double u = sim_rng_u01(&r) * (jumps ? bound : 1);
		if (!noise_strikes(k, &f, u))
			continue;
		scene_loss_marks(&r, f.obs.n_pkts, f.noise, f.h, marks);
		int rc = skip_report(k, &r, &f, marks, 0, e);
		if (rc < 0)
			return rc;
	}
}

int bulk_skip_epoch(struct bulk_skip *k, const struct scene *s, struct obs *w,
    struct losses *lost, struct sim_err *e)
{
	int rc = bulk_skip_fits(s, e);
	if (rc < 0)
		return rc;
	obs_clear(w);
	losses_clear(lost);
	rc = skip_begin(k, s, w, lost, e);
	for (uint32_t tor = 0; rc == 0 && tor < s->topo->clos.all_tors; tor++)
		rc = run_tor(k, tor, e);
	if (rc == 0)
		rc = run_noise(k, e);
	skip_end(k);
	w->n_flows = s->traffic.n_flows;
	w->complete = 0;
	return rc;
}
