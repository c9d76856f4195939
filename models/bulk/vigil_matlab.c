/* models/bulk/vigil_matlab.c -- the rules of 007's released simulator.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/bulk/vigil_matlab.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>

#include "models/bulk/bulk.h"
#include "models/dist.h"
#include "sim/vec.h"

#define MAX_LINKS 5 /* of a path */

struct plane {
	const struct scene *scene;
	uint8_t *faulty; /* [n_links] */
	double bound;    /* chance that noise touches a flow, at most */
	uint64_t next;   /* flow that noise may touch, the only one up to it */
	struct sim_rng noise;
};

/* One flow. A hop's flag is kept as a count of which only the sign matters.
 * That is positive with the chance that the released code gives the flag, and
 * can be drawn like the other count. */
struct flow {
	struct obs_flow obs;
	unsigned h;
	topo_link path[TOPO_MAX_HOPS];
	uint32_t flag[MAX_LINKS], count[MAX_LINKS];
};

int bulk_vigil_matlab_fits(const struct scene *s, struct sim_err *e)
{
	if (!topo_is_clos(s->topo))
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "plane vigil_matlab needs a Clos; this topology is a "
		    "graph.");
	if (s->latency.report_us > 0)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "plane vigil_matlab has no round-trip times "
		    "(latency.report_over).");
	if (scene_tcp_is_on(&s->traffic.params.tcp))
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "plane vigil_matlab has no way back of flows "
		    "(traffic.tcp).");
	if (scene_congestion_is_on(&s->congestion))
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "plane vigil_matlab has no full buffers (congestion).");
	if (s->loss.noise.topo)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "plane vigil_matlab has one law of noise for all links "
		    "(noise.times).");
	if (s->truth.n_holes > 0)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "plane vigil_matlab has no black holes (switch %u).",
		    s->truth.hole[0].at);
	if (truth_has_host_off(&s->truth))
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "plane vigil_matlab has no hosts that are off.");
	return 0;
}

/* How many flows come before the next that noise may touch: geometric, from 0.
 * Most flows meet no noise, and a jump costs one number for all of them. */
static uint64_t bulk_vigil_matlab_jump(struct plane *p)
{
	/* Without noise there is no next flow: 2^62 is beyond all of them. */
	if (p->bound == 0)
		return UINT64_C(1) << 62;
	const double x = log(sim_rng_u01_open(&p->noise)) / log1p(-p->bound);
	return x < 0x1p62 ? (uint64_t)x : UINT64_C(1) << 62;
}

static int bulk_vigil_matlab_begin(struct plane *p, const struct scene *s,
    struct sim_err *e)
{
	/* The bound: the largest flow over the longest path, every link as
	 * noisy as can be, and two draws at each, for the flag and for the
	 * count. */
	const double n_max = s->traffic.params.packets.b;
	const double hazard = scene_hazard(s->loss.noise.rate.b);
	int rc;
	*p = (struct plane){.scene = s};
	if ((rc = SIM_ZALLOC(&p->faulty, s->topo->n_links, e)) < 0)
		return rc;
	for (size_t i = 0; i < s->truth.n_faults; i++)
		p->faulty[s->truth.fault[i].link] = 1;
	p->bound = -expm1(-2 * MAX_LINKS * n_max * hazard);
	sim_rng_init(&p->noise, &s->where, SIM_STREAM_SKIP_NOISE, 0);
	p->next = bulk_vigil_matlab_jump(p);
	return 0;
}

/* Draw flag and count of every hop of F whose link has a fault when F starts:
 * two independent draws, as the released code has them. The flow's own stream
 * makes them independent of other flows. */
static void lose_to_faults(const struct plane *p, struct flow *f, uint64_t id)
{
	struct sim_rng r;
	int begun = 0;
	for (unsigned i = 0; i < f->h; i++) {
		double hazard;
		if (!p->faulty[f->path[i]] ||
		    !scene_loss_fault(&p->scene->loss, f->path[i],
			f->obs.start_ns, &hazard))
			continue;
		if (!begun++)
			sim_rng_init(&r, &p->scene->where, SIM_STREAM_LOSS,
			    (uint32_t)id);
		const double rate = -expm1(-hazard);
		f->flag[i] =
		    sim_rng_u01(&r) < -expm1(-(double)f->obs.n_pkts * hazard);
		f->count[i] = gsl_ran_binomial(&r.gsl, rate, f->obs.n_pkts);
	}
}

/* Draw what noise does to F, on which a jump has landed. A flow is landed on
 * with probability `bound` and kept with (chance that noise strikes
 * it) / bound, so it is struck with just that chance. Flags and counts are 2 h
 * independent counts of the same law: first comes whether any is positive, and
 * only then which, as models/scene/loss.h does for the links of a path. */
static void lose_to_noise(struct plane *p, struct flow *f)
{
	const struct sim_dist *rate = &p->scene->loss.noise.rate;
	double hazard[2 * MAX_LINKS], sum = 0;
	uint32_t marks[2 * MAX_LINKS], n = f->obs.n_pkts;
	for (unsigned i = 0; i < f->h; i++) {
		/* The rate of a good link is drawn anew for every flow and hop,
		 * and a number is used up for a faulty one too. */
		double unused, u = sim_rng_u01(&p->noise);
		const int bad = p->faulty[f->path[i]] &&
		    scene_loss_fault(&p->scene->loss, f->path[i],
			f->obs.start_ns, &unused);
		hazard[i] = bad ? 0 : scene_hazard(dist_at(rate, u));
		hazard[f->h + i] = hazard[i];
		sum += 2 * hazard[i];
	}
	if (sim_rng_u01(&p->noise) * p->bound >= -expm1(-(double)n * sum))
		return;
	scene_loss_marks(&p->noise, n, hazard, 2 * f->h, marks);
	for (unsigned i = 0; i < f->h; i++) {
		f->flag[i] += marks[i];
		f->count[i] += marks[f->h + i];
	}
}

/* The link that the released code puts down as the cause: the first hop that
 * dropped, replaced by each hop behind it, whether that one dropped or not,
 * until a link with a fault has its place. */
static topo_link culprit(const struct plane *p, const struct flow *f)
{
	const struct truth *truth = &p->scene->truth;
	topo_link at = TOPO_NONE;
	for (unsigned i = 0; i < f->h; i++)
		if (at == TOPO_NONE ? f->flag[i] > 0
				    : !truth_is_faulty(truth, at))
			at = f->path[i];
	return at;
}

/* Append F if anything of its losses can be seen, by flag or by count, or if
 * ALL. */
static int bulk_vigil_matlab_report(const struct plane *p, struct flow *f,
    int all, struct obs *w, struct losses *lost, struct sim_err *e)
{
	uint32_t flags = 0;
	uint64_t count = 0;
	int rc;
	for (unsigned i = 0; i < f->h; i++) {
		flags |= f->flag[i];
		count += f->count[i];
	}
	if (!all && flags == 0 && count == 0)
		return 0;
	/* Votes go by flags, so n_retx is positive if and only if there is one;
	 * a count that contradicts it is kept beside, in count_off. */
	if (flags > 0)
		f->obs.n_retx = count < 1   ? 1
		    : count > f->obs.n_pkts ? f->obs.n_pkts
					    : (uint32_t)count;
	f->obs.count_off = (int64_t)count - f->obs.n_retx;
	if ((rc = losses_add_culprit(lost, culprit(p, f), e)) < 0)
		return rc;
	if ((rc = losses_add_drops(lost, f->count, f->h, e)) < 0)
		return rc;
	return obs_add_flow(w, &f->obs, f->path, f->h, e);
}

static int run_flow(struct plane *p, uint64_t id, int all, struct obs *w,
    struct losses *lost, struct sim_err *e)
{
	struct flow f = {0};
	/* The released code's paths lack the last link, from the ToR to the
	 * host. */
	f.h = bulk_flow(p->scene, id, &f.obs, f.path) - 1;
	lose_to_faults(p, &f, id);
	if (id == p->next) {
		lose_to_noise(p, &f);
		p->next += 1 + bulk_vigil_matlab_jump(p);
	}
	return bulk_vigil_matlab_report(p, &f, all, w, lost, e);
}

int bulk_vigil_matlab_epoch(const struct scene *s, int all, struct obs *w,
    struct losses *lost, struct sim_err *e)
{
	struct plane p;
	int rc = bulk_vigil_matlab_fits(s, e);
	if (rc < 0)
		return rc;
	obs_clear(w);
	losses_clear(lost);
	rc = bulk_vigil_matlab_begin(&p, s, e);
	for (uint64_t id = 0; rc == 0 && id < s->traffic.n_flows; id++)
		rc = run_flow(&p, id, all, w, lost, e);
	w->n_flows = s->traffic.n_flows;
	w->complete = all != 0;
	free(p.faulty);
	return rc;
}
