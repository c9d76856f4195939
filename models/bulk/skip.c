/* models/bulk/skip.c -- the skipping bulk data plane: only flows that may lose.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/bulk/skip.h"

#include <math.h>
#include <stdlib.h>

#include "models/bulk/failed.h"
#include "models/bulk/kernel.h"
#include "sim/vec.h"
#include "topo/addr.h"

/* If more than this share of flows are candidates, jumping from one to the next
 * gains nothing: then every flow is looked at. */
#define JUMP_LIMIT 0.5

struct bulk_skip {
	const struct scene *scene;
	struct obs *window;
	struct losses *lost;
	struct bulk_failed_list failed;
	double n_max;      /* packets of the largest flow */
	double most_noise; /* hazard bound of one link's noise */

	/* Flows that are done, ascending: a failed link made them lossy, or
	 * their host was off (n_silent of them). */
	uint64_t *done;
	size_t n_done, cap_done;
	uint64_t n_silent;
};

/* One flow as it is drawn. */
struct flow {
	struct obs_flow obs;
	uint64_t id;
	struct bulk_course way;
	double fault[TOPO_MAX_HOPS]; /* hazard of active faults */
	double noise[TOPO_MAX_HOPS];
	double fault_sum;
	double bounds; /* sum of those of all on the path that failed */
	unsigned n_failed, last; /* how many did; hop of the last link */
};

int bulk_skip_open(struct bulk_skip **k, struct sim_err *e)
{
	return SIM_ZALLOC(k, 1, e);
}

void bulk_skip_close(struct bulk_skip *k)
{
	if (!k)
		return;
	bulk_failed_free(&k->failed);
	free(k->done);
	free(k);
}

static sim_ns draw_start(const struct bulk_skip *k, struct sim_rng *r)
{
	return (sim_ns)(sim_rng_u32(r) * 0x1p-32 *
	    (double)k->scene->traffic.epoch_ns);
}

static void draw_ports(struct sim_rng *r, struct obs_flow *f)
{
	const uint32_t ports = bulk_ports(sim_rng_u32(r));
	f->src_port = (uint16_t)(ports >> 16);
	f->dst_port = (uint16_t)ports;
}

/* Count the switches with holes that F passes. One that takes it gets all that is
 * left of it: as if the link into the switch, number I, lost all. */
static void meet_switches(const struct bulk_skip *k, struct flow *f)
{
	const struct scene *s = k->scene;
	const uint32_t *index = k->failed.index + s->topo->n_links;
	const struct topo_tuple tuple = {
	    .src_ip = topo_addr_of_host(f->obs.src_host),
	    .dst_ip = topo_addr_of_host(f->obs.dst_host),
	    .src_port = f->obs.src_port,
	    .dst_port = f->obs.dst_port,
	    .proto = TOPO_PROTO_TCP,
	};
	topo_switch at[TOPO_MAX_HOPS];
	const unsigned n =
	    bulk_course_switches(&k->failed.courses, &f->way, at);
	for (unsigned i = 0; i < n; i++) {
		if (index[at[i]] == 0)
			continue;
		f->n_failed++;
		f->bounds += k->failed.failed[index[at[i]] - 1].bound;
		if (truth_swallows(&s->truth, at[i], &tuple, f->obs.start_ns))
			f->fault[i] = f->fault_sum = INFINITY;
	}
}

/* What failed on the path of F. */
static void meet_links(const struct bulk_skip *k, struct flow *f)
{
	f->fault_sum = f->bounds = 0;
	f->n_failed = 0;
	for (unsigned i = 0; i < f->way.h; i++) {
		const struct bulk_failed *x =
		    bulk_failed_link(&k->failed, f->way.path[i]);
		f->fault[i] = 0;
		if (!x)
			continue;
		f->n_failed++;
		f->last = i;
		f->fault[i] = x->hazard;
		f->bounds += x->bound;
		if (k->failed.timed)
			scene_loss_fault(&k->scene->loss, x->link,
			    f->obs.start_ns, &f->fault[i]);
		f->fault_sum += f->fault[i];
	}
}

/* Draw the flow with number ID out of TOR, given GIVEN, or any with NULL; noise
 * is left for later, since few flows need it. Times and ports are drawn early
 * only if they matter for what failed. */
static void draw_flow(struct bulk_skip *k, struct sim_rng *r, uint64_t id,
    uint32_t tor, const struct bulk_given *given, struct flow *f)
{
	const struct scene_traffic *tr = &k->scene->traffic;
	const topo_host src = scene_traffic_src(tr, id);
	bulk_courses_draw(&k->failed.courses, r, src, tor, given, &f->way);
	f->obs = (struct obs_flow){
	    .src_host = src,
	    .dst_host = f->way.dst,
	    .n_pkts = scene_traffic_packets(tr, sim_rng_u32(r)),
	};
	if (k->failed.timed)
		f->obs.start_ns = draw_start(k, r);
	f->id = id;
	meet_links(k, f);
	if (k->failed.has_holes) {
		draw_ports(r, &f->obs);
		meet_switches(k, f);
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
	if (u >= n * f->way.h * k->most_noise)
		return 0;
	scene_noise_of_flow(noise, f->id, f->way.path, f->way.h, f->noise);
	for (unsigned i = 0; i < f->way.h; i++) {
		double none;
		const topo_link l = f->way.path[i];
		if (isinf(f->fault[i]) ||
		    (bulk_failed_link(&k->failed, l) &&
			scene_loss_fault(&k->scene->loss, l, f->obs.start_ns,
			    &none)))
			f->noise[i] = 0;
		bound += f->noise[i]; /* hazard = -log(1 - p) < p / (1 - p) */
	}
	if (u * (1 - scene_noise_most(noise)) >= n * bound)
		return 0;
	for (unsigned i = 0; i < f->way.h; i++) {
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
    uint32_t marks[TOPO_MAX_HOPS], int one, struct sim_err *e)
{
	if (!k->failed.has_holes)
		draw_ports(r, &f->obs);
	if (!k->failed.timed)
		f->obs.start_ns = draw_start(k, r);
	if (!one)
		scene_loss_drops(r, f->obs.n_pkts, marks, f->way.h, marks);
	for (unsigned i = 0; i < f->way.h; i++)
		f->obs.n_retx += marks[i];
	int rc = losses_add_drops(k->lost, marks, f->way.h, e);
	if (rc == 0 &&
	    (rc = obs_add_flow(k->window, &f->obs, f->way.path, f->way.h, e)) <
		0)
		k->lost->n_drops -= f->way.h;
	return rc;
}

/* The marks of failed links on F, one of which drops with probability DROPS.
 * Mostly there is just one, of which all that is asked for is known. */
static int mark_failed(const struct bulk_skip *k, struct sim_rng *r,
    const struct flow *f, double drops, uint32_t marks[TOPO_MAX_HOPS])
{
	if (f->n_failed > 1 || k->failed.timed || k->failed.has_holes) {
		scene_loss_marks(r, f->obs.n_pkts, f->fault, f->way.h, marks);
		return 0;
	}
	const struct bulk_failed *x =
	    bulk_failed_link(&k->failed, f->way.path[f->last]);
	for (unsigned i = 0; i < f->way.h; i++)
		marks[i] = 0;
	marks[f->last] =
	    scene_loss_some_of(r, f->obs.n_pkts, x->hazard, x->rate, drops);
	return 1;
}

/* Report a flow on which a failed link dropped: it has marks there, and rarely
 * noise adds some on its good links. */
static int report_failed(struct bulk_skip *k, struct sim_rng *r, struct flow *f,
    double drops, struct sim_err *e)
{
	uint32_t marks[TOPO_MAX_HOPS], more[TOPO_MAX_HOPS];
	int one = mark_failed(k, r, f, drops, marks);
	if (noise_strikes(k, f,
		lazy_u01(r,
		    (double)f->obs.n_pkts * f->way.h * k->most_noise))) {
		scene_loss_marks(r, f->obs.n_pkts, f->noise, f->way.h, more);
		for (unsigned i = 0; i < f->way.h; i++)
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

/* Flow ID is not to be drawn again, by run_noise(). */
static int skip_done(struct bulk_skip *k, uint64_t id, struct sim_err *e)
{
	int rc = SIM_RESERVE(&k->done, &k->cap_done, k->n_done + 1, e);
	if (rc == 0)
		k->done[k->n_done++] = id;
	return rc;
}

/* Hosts [from, to) under one ToR, whose flows are alike: either none has a fault
 * on its uplink, or it is one host and `uplink` its fault. */
struct alike {
	uint32_t tor;
	topo_host from, to;
	const struct bulk_failed *uplink;
	double total; /* rate of candidates but for the uplink */
};

/* Whether a flow is not, its host being off when it would start. */
static int is_silent(const struct bulk_skip *k, const struct alike *a,
    sim_ns start_ns)
{
	return a->uplink &&
	    truth_outage_at(&k->scene->truth, TRUTH_HOST_OFF, a->from,
		start_ns) != NULL;
}

/* What a candidate is known to do. All flows of a host cross its uplink, so that
 * tells nothing. */
static const struct bulk_given *pick_given(struct bulk_skip *k,
    struct sim_rng *r, const struct alike *a, double total)
{
	const double u = sim_rng_u32(r) * 0x1p-32 * total;
	return u < a->total ? bulk_failed_pick(&k->failed, a->tor, u) : NULL;
}

/* Keep flow F or not, if it is a candidate. JUMPS: it was drawn as one. */
static int settle_failed(struct bulk_skip *k, struct sim_rng *r, struct flow *f,
    int jumps, struct sim_err *e)
{
	/* 1 - exp(-x) is below x, which costs nothing and tells enough of most
	 * that are not kept. */
	const double x = (double)f->obs.n_pkts * f->fault_sum;
	const double u = sim_rng_u01(r) * (jumps ? f->bounds : 1);
	if (u >= x * (1 + 0x1p-40))
		return 0;
	const double drops = -expm1(-x);
	if (u >= drops)
		return 0;
	int rc = skip_done(k, f->id, e);
	return rc < 0 ? rc : report_failed(k, r, f, drops, e);
}

/* All flows of such hosts on which something that failed drops. A flow is a
 * candidate at rate `total`, through one of these in proportion to its weight.
 * Over all of them, one that crosses some is proposed at a rate proportional to
 * the sum of their bounds, and keeping it with drops / bounds leaves the chance
 * that one of them does drop. */
static int run_alike(struct bulk_skip *k, struct sim_rng *r,
    const struct alike *a, struct sim_err *e)
{
	const struct scene_traffic *tr = &k->scene->traffic;
	const uint64_t last = scene_traffic_first(tr, a->to);
	uint64_t id = scene_traffic_first(tr, a->from);
	const double total = a->total + (a->uplink ? a->uplink->bound : 0);
	if (total == 0)
		return 0;
	/* Without jumps each flow is drawn unconditionally, and kept with the
	 * chance that it drops. */
	const int jumps = total < JUMP_LIMIT;
	const double log_miss = log1p(-total);
	for (;; id++) {
		struct flow f;
		int rc;
		if (jumps)
			id += skip_jump(r, log_miss);
		if (id >= last)
			return 0;
		draw_flow(k, r, id, a->tor,
		    jumps ? pick_given(k, r, a, total) : NULL, &f);
		if (is_silent(k, a, f.obs.start_ns)) {
			k->n_silent++;
			rc = skip_done(k, id, e);
		} else {
			rc = settle_failed(k, r, &f, jumps, e);
		}
		if (rc < 0)
			return rc;
	}
}

/* The first fault from *NEXT on of an uplink of a host below END, or NULL; *NEXT
 * then is behind it. Hosts' links come first of all, up and down in turn. */
static const struct bulk_failed *next_uplink(const struct bulk_skip *k,
    topo_host end, size_t *next)
{
	while (*next < k->failed.n) {
		const struct bulk_failed *f = &k->failed.failed[*next];
		if (f->link >= topo_link_of(end, TOPO_UP))
			return NULL;
		++*next;
		if (f->link == topo_link_of(f->link / 2, TOPO_UP))
			return f;
	}
	return NULL;
}

/* The flows of hosts [from, end) under one ToR, the N-th such ones, host by host
 * in order: those with a fault on their uplink alone, and those between them
 * together. *NEXT as above. */
static int run_tor(struct bulk_skip *k, uint32_t n, topo_host from,
    topo_host end, size_t *next, struct sim_err *e)
{
	const uint32_t tor = topo_tor_of(k->scene->topo, from);
	struct alike a = {.tor = tor,
	    .to = from,
	    .total = bulk_failed_weigh(&k->failed, tor)};
	const struct bulk_failed *x = next_uplink(k, end, next);
	struct sim_rng r;
	int rc = 0;
	if (a.total == 0 && !x)
		return 0;
	sim_rng_init(&r, &k->scene->where, SIM_STREAM_SKIP_FAILED, n);
	while (rc == 0 && a.to < end) {
		a.from = a.to;
		a.to = x ? x->link / 2 : end;
		a.uplink = NULL;
		rc = run_alike(k, &r, &a, e);
		if (rc < 0 || !x)
			continue;
		a.from = a.to++;
		a.uplink = x;
		rc = run_alike(k, &r, &a, e);
		x = next_uplink(k, end, next);
	}
	return rc;
}

/* The flows that lose to noise alone. Noise and faults strike independently, so
 * for flows that no failed link made lossy the law is that of any flow, given
 * that no failed link drops. */
static int run_noise(struct bulk_skip *k, struct sim_err *e)
{
	const struct scene *s = k->scene;
	const double bound = bulk_skip_noise_share(s);
	const int jumps = bound < JUMP_LIMIT;
	const double log_miss = log1p(-bound);
	uint32_t marks[TOPO_MAX_HOPS];
	size_t next_done = 0;
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
		while (next_done < k->n_done && k->done[next_done] < id)
			next_done++;
		if (next_done < k->n_done && k->done[next_done] == id)
			continue;
		/* Draw a flow given that nothing that failed dropped, by
		 * rejection: how often that fails is what flows that are done
		 * come to, so in the mean one draw a candidate is enough. */
		const uint32_t tor =
		    topo_tor_of(s->topo, scene_traffic_src(&s->traffic, id));
		do
			draw_flow(k, &r, id, tor, NULL, &f);
		while (f.fault_sum > 0 &&
		    sim_rng_u01(&r) >=
			exp(-(double)f.obs.n_pkts * f.fault_sum));
		double u = sim_rng_u01(&r) * (jumps ? bound : 1);
		if (!noise_strikes(k, &f, u))
			continue;
		scene_loss_marks(&r, f.obs.n_pkts, f.noise, f.way.h, marks);
		int rc = skip_report(k, &r, &f, marks, 0, e);
		if (rc < 0)
			return rc;
	}
}

/* The first host behind FROM that is not under its ToR. In a mesh neighbours by
 * number may be under any. */
static topo_host end_of_tor(const struct topo *t, topo_host from)
{
	if (topo_is_clos(t))
		return from + t->clos.n_hosts;
	const topo_switch tor = topo_tor_of(t, from);
	do
		from++;
	while (from < t->n_hosts && topo_tor_of(t, from) == tor);
	return from;
}

static int run_lossy(struct bulk_skip *k, struct sim_err *e)
{
	const struct scene *s = k->scene;
	size_t next = 0;
	int rc = bulk_failed_begin(&k->failed, s, k->n_max, e);
	/* Nothing fails in many an epoch. */
	const topo_host n_hosts = k->failed.n > 0 ? s->topo->n_hosts : 0;
	uint32_t n = 0;
	for (topo_host h = 0, end; rc == 0 && h < n_hosts; h = end) {
		end = end_of_tor(s->topo, h);
		rc = run_tor(k, n++, h, end, &next, e);
	}
	if (rc == 0)
		rc = run_noise(k, e);
	bulk_failed_end(&k->failed);
	return rc;
}

int bulk_skip_epoch(struct bulk_skip *k, const struct scene *s, struct obs *w,
    struct losses *lost, struct sim_err *e)
{
	int rc = bulk_skip_fits(s, e);
	if (rc < 0)
		return rc;
	obs_clear(w);
	losses_clear(lost);
	k->scene = s;
	k->window = w;
	k->lost = lost;
	k->n_done = k->n_silent = 0;
	k->n_max = s->traffic.params.packets.b;
	k->most_noise = scene_hazard(scene_noise_most(&s->loss.noise));
	rc = run_lossy(k, e);
	w->n_flows = s->traffic.n_flows - k->n_silent;
	w->complete = 0;
	return rc;
}
