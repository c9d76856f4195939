/* results/score.c -- verdicts against the truth: one trial's metrics.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/score.h"

#include <assert.h>
#include <math.h>

#include "results/calibration.h"
#include "results/score_ranks.h"

/* Look up where a flow lost packets, and whom that makes the culprit by each of
 * the two definitions (results/schema.h). 007's paper takes the link that
 * dropped most (section 6); its released simulator takes the last one that
 * dropped, but never goes from a faulty link back to one without a fault. What
 * the buffer at a faulty link drops is not the fault's. Where
 * the plane has a rule of its own for culprits, that counts for both. */
void res_loss_look_up(const struct obs *w, const struct truth *t,
    const struct losses *lost, size_t flow, struct res_loss *out)
{
	struct res_loss l = {.flow = (uint32_t)flow,
	    .most = TOPO_NONE,
	    .released = TOPO_NONE};
	uint32_t max = 0;
	/* Agents may know a path only in part; the losses then have the
	 * whole. */
	const topo_link *path =
	    (lost->n_path ? lost->path : w->hops.link) + w->hops.off[flow];
	const uint32_t *drops = lost->drops + w->hops.off[flow];
	const uint32_t *buffer =
	    lost->has_buffer ? lost->buffer + w->hops.off[flow] : NULL;
	unsigned n_hops = obs_n_hops(w, flow);
	for (unsigned i = 0; i < n_hops; i++) {
		if (drops[i] == 0)
			continue;
		const uint32_t full = buffer ? buffer[i] : 0;
		int faulty = full < drops[i] && truth_is_faulty(t, path[i]);
		l.n_drops += drops[i];
		l.n_buffer += full;
		l.at_fault |= (uint8_t)faulty;
		if (drops[i] > max) {
			max = drops[i];
			l.most = path[i];
			l.most_faulty = (uint8_t)faulty;
		}
		if (faulty || !l.released_faulty) {
			l.released = path[i];
			l.released_faulty = (uint8_t)faulty;
		}
	}
	if (lost->n_culprits > 0) {
		l.most = l.released = lost->culprit[flow];
		l.most_faulty = (uint8_t)truth_is_faulty(t, l.most);
		l.at_fault = l.released_faulty = l.most_faulty;
	}
	*out = l;
}

/* For a verdict of switches the culprit is the failed switch that the culprit
 * link belongs to, if any; where both its ends failed, blaming either is
 * right. */
static void look_up_switch(const struct truth *t, topo_switch blame,
    struct res_loss *l)
{
	l->most = truth_switch_of(t, l->most, blame);
	l->released = truth_switch_of(t, l->released, blame);
	l->most_faulty = l->most != TOPO_NONE;
	l->released_faulty = l->released != TOPO_NONE;
}

void res_score_culprits(const struct obs *w, const struct truth *t,
    const struct losses *lost, size_t flow, struct res_culprits *out)
{
	struct res_loss l;
	res_loss_look_up(w, t, lost, flow, &l);
	*out = (struct res_culprits){.most = l.most, .released = l.released};
	/* Where both ends of a link failed, the smaller id stands for both. */
	look_up_switch(t, TOPO_NONE, &l);
	out->most_switch = l.most;
	out->released_switch = l.released;
}

/* What most flows need: no buffer is full, and paths and culprits are the
 * window's. Returns whether the flow lost something on a link with a fault. */
static int score_add_drops(const struct obs *w, const struct truth *t,
    const struct losses *lost, size_t flow, double *n_drops)
{
	const uint64_t end = w->hops.off[flow + 1];
	int at_fault = 0;
	for (uint64_t i = w->hops.off[flow]; i < end; i++) {
		if (lost->drops[i] == 0)
			continue;
		*n_drops += lost->drops[i];
		at_fault = at_fault || truth_is_faulty(t, w->hops.link[i]);
	}
	return at_fault;
}

void res_score_trial(const struct obs *w, const struct truth *t,
    const struct losses *lost, struct res_trial_metrics *out)
{
	assert(lost->n_drops == w->hops.n);
	/* All members are doubles, made from one list. What is not set below
	 * was not measured. */
	double *x = (double *)out;
	for (unsigned i = 0; i < RES_N_TRIAL_METRICS; i++)
		x[i] = NAN;
	out->n_flows = (double)w->n_flows;
	out->n_faults = (double)truth_n_faulty(t);
	out->n_failed_flows = out->n_drops = out->n_fault_flows = 0;
	if (lost->has_buffer)
		out->n_buffer_drops = out->n_buffer_flows = out->n_noise_flows =
		    0;
	const int plain =
	    !lost->has_buffer && lost->n_path == 0 && lost->n_culprits == 0;
	for (size_t i = 0; i < w->flows.n; i++) {
		struct res_loss l;
		if (plain) {
			out->n_failed_flows += w->flows.n_retx[i] > 0;
			out->n_fault_flows +=
			    score_add_drops(w, t, lost, i, &out->n_drops);
			continue;
		}
		res_loss_look_up(w, t, lost, i, &l);
		out->n_failed_flows += w->flows.n_retx[i] > 0;
		out->n_drops += (double)l.n_drops;
		out->n_fault_flows += l.at_fault;
		out->n_buffer_drops += (double)l.n_buffer;
		out->n_buffer_flows += l.n_buffer > 0;
		out->n_noise_flows +=
		    l.n_drops > 0 && l.n_buffer == 0 && !l.at_fault;
	}
}

static void score_flow(const struct res_loss *l, topo_link blame,
    struct res_algo_metrics *out)
{
	int kept = blame != TOPO_NONE;
	int hit = kept && blame == l->most;
	out->flows_all++;
	out->hits_all += hit;
	out->flows_kept += kept;
	out->hits_kept += hit;
	out->flows_fault += l->most_faulty;
	out->hits_fault += hit && l->most_faulty;
	/* The released simulator leaves out flows set aside as noise, unless a
	 * link with a fault was the culprit: setting those aside is an
	 * error. */
	out->flows_released += kept || l->released_faulty;
	out->hits_released += kept && blame == l->released;
}

/* What the released simulator prints, by the sums of all flows: of these it
 * calls incorrect those it counts that are no hits. */
static void score_printed(const struct obs *w, struct res_algo_metrics *out)
{
	const double incorrect = out->flows_released - out->hits_released;
	out->flows_printed = (double)w->n_flows;
	out->hits_printed = out->flows_printed - incorrect;
	out->hits_spared = out->flows_all - incorrect;
}

/* Score the blame of each flow that failed. An algorithm that blames nobody at
 * all has n_flows = 0 although flows failed: it has no accuracy, which is NaN
 * and not 0. */
static void score_flows(const struct res_scorer *s,
    const struct algo_verdicts *v, struct res_algo_metrics *out)
{
	for (size_t i = 0; i < s->n_losses; i++) {
		struct res_loss l = s->loss[i];
		if (v->n_flows == 0) {
			out->hits_all = out->flows_all = NAN;
			out->hits_kept = out->flows_kept = NAN;
			out->hits_fault = out->flows_fault = NAN;
			out->hits_released = out->flows_released = NAN;
			return;
		}
		const struct algo_part blame = algo_verdicts_blamed(v, l.flow);
		if (blame.is_switch)
			look_up_switch(s->truth, blame.id, &l);
		score_flow(&l, blame.id, out);
	}
	/* Where no flows run, as on plane pingmesh, nothing was printed. */
	if (s->w->n_flows > 0)
		score_printed(s->w, out);
}

/* How many there are to be found, of what the algorithm names. */
static size_t score_n_broken(const struct res_scorer *s,
    const struct algo_verdicts *v)
{
	return (v->kind == ALGO_KIND_SWITCH ? 0 : s->n_faulty) +
	    (v->kind == ALGO_KIND_LINK ? 0 : s->truth->n_switches);
}

static void score_flagged(const struct res_scorer *s,
    const struct algo_verdicts *v, size_t n_broken,
    struct res_algo_metrics *out)
{
	/* An algorithm that only ranks accuses nobody: precision and recall of
	 * its accusations do not exist, rather than being 0. */
	if (!v->flags) {
		out->n_flagged = out->n_flagged_true = NAN;
		out->n_links_true = NAN;
		return;
	}
	out->n_flagged = (double)v->n_flagged;
	out->n_links_true = (double)n_broken;
	for (size_t i = 0; i < v->n_flagged; i++)
		out->n_flagged_true += res_score_is_broken(s, v, v->link[i]);
}

/* --- what was found, whatever an algorithm names -------------------------- */

/* 1 if V accuses switch S, else the share of its failed links that it does. */
static double score_switch_found(const struct truth *t,
    const struct algo_verdicts *v, topo_switch s)
{
	size_t n_parts = 0, n_hit = 0;
	for (size_t i = 0; i < t->n_parts; i++)
		n_parts += t->part[i].of == s;
	for (size_t i = 0; i < v->n_flagged; i++) {
		const struct algo_part p = algo_verdicts_part(v, v->link[i]);
		if (p.is_switch && p.id == s)
			return 1;
		n_hit += !p.is_switch && truth_switch_of(t, p.id, s) == s;
	}
	return n_parts ? (double)n_hit / (double)n_parts : 0;
}

/* 1 for a link with a fault that fails by itself. */
static int score_is_alone(const struct truth *t, topo_link link)
{
	return truth_is_faulty(t, link) &&
	    truth_switch_of(t, link, TOPO_NONE) == TOPO_NONE;
}

static void score_found(const struct truth *t, const struct algo_verdicts *v,
    struct res_algo_metrics *out)
{
	if (!v->flags)
		return;
	out->n_found = 0;
	out->n_to_find = (double)t->n_switches;
	for (size_t i = 0; i < t->n_switches; i++)
		out->n_found += score_switch_found(t, v, t->failed_switch[i]);
	for (size_t i = 0; i < v->n_flagged; i++) {
		const struct algo_part p = algo_verdicts_part(v, v->link[i]);
		out->n_found += !p.is_switch && score_is_alone(t, p.id);
	}
	/* Faults ascend by link, so one that was counted stands before. */
	for (size_t i = 0; i < t->n_faults; i++)
		out->n_to_find +=
		    (i == 0 || t->fault[i].link != t->fault[i - 1].link) &&
		    score_is_alone(t, t->fault[i].link);
}

int res_score_is_exact(const struct truth *t, const struct algo_verdicts *v)
{
	struct res_algo_metrics m = {0};
	size_t n_true = 0;
	score_found(t, v, &m);
	for (size_t i = 0; i < v->n_flagged; i++) {
		const struct algo_part p = algo_verdicts_part(v, v->link[i]);
		n_true += p.is_switch ? truth_is_failed_switch(t, p.id)
				      : truth_is_faulty(t, p.id);
	}
	return v->flags && n_true == v->n_flagged && m.n_found == m.n_to_find;
}

/* One number for both kinds of mistakes, of windows by whose papers it is that. */
static void score_f(const struct obs *w, const struct algo_verdicts *v,
    struct res_algo_metrics *out)
{
	if (!w->tallies || !v->flags || !(out->n_to_find > 0))
		return;
	const double r = out->n_found / out->n_to_find,
		     p = out->n_flagged > 0
	    ? out->n_flagged_true / out->n_flagged
	    : 1;
	out->f = p + r > 0 ? 2 * p * r / (p + r) : 0;
}

/* --- chances -------------------------------------------------------------- */

static void score_chances(const struct res_scorer *s,
    const struct algo_verdicts *v, struct res_algo_metrics *out)
{
	for (size_t b = 0; b < RES_N_CHANCE_BINS; b++)
		for (size_t k = 0; k < 3; k++)
			res_chance_sums(out, b)[k] = v->chances ? 0 : NAN;
	for (size_t i = 0; v->chances && i < v->n; i++) {
		size_t b = RES_N_CHANCE_BINS;
		while (b > 0 && v->score[i] < res_chance_least[b - 1])
			b--;
		if (b == 0)
			continue;
		double *const sums = res_chance_sums(out, b - 1);
		sums[0]++;
		sums[1] += v->score[i];
		sums[2] += res_score_is_broken(s, v, v->link[i]);
	}
}

/* A value that is not proved optimal must not be read as one, so the bound and
 * the status go with it. */
static void score_solution(const struct algo_solution *s,
    struct res_algo_metrics *out)
{
	out->n_programs = s->solves;
	out->n_proved = s->solves && s->status == ALGO_OPTIMAL;
	out->value = s->solves ? s->value : NAN;
	out->bound = s->solves ? s->bound : NAN;
	out->value_status = s->solves ? s->status : NAN;
}

int res_scorer_answer(struct res_scorer *s, const struct algo_verdicts *v,
    struct res_algo_metrics *out, struct sim_err *e)
{
	const struct obs *w = s->w;
	const struct truth *t = s->truth;
	int rc;
	if (v->n_flows != 0 && v->n_flows != w->flows.n)
		return sim_fail(e, SIM_EMISMATCH,
		    "blame for %zu flows, but the window has %zu.", v->n_flows,
		    w->flows.n);
	if ((rc = res_scorer_losses(s, e)) < 0)
		return rc;
	const size_t n_broken = score_n_broken(s, v);
	*out = (struct res_algo_metrics){.detect_s = NAN,
	    .right_share = NAN,
	    .hits_printed = NAN,
	    .flows_printed = NAN,
	    .hits_spared = NAN,
	    .n_found = NAN,
	    .n_to_find = NAN,
	    .n_unanswered = NAN,
	    .f = NAN};
	score_flows(s, v, out);
	score_flagged(s, v, n_broken, out);
	score_found(t, v, out);
	score_f(w, v, out);
	score_chances(s, v, out);
	score_solution(&v->solution, out);
	return res_score_ranks(s, v, n_broken, out, e);
}

int res_score_algo(const struct obs *w, const struct truth *t,
    const struct losses *lost, const struct algo_verdicts *v,
    struct res_algo_metrics *out, struct sim_err *e)
{
	struct res_scorer s = {0};
	int rc = res_scorer_begin(&s, w, t, lost, e);
	if (rc == 0)
		rc = res_scorer_answer(&s, v, out, e);
	res_scorer_free(&s);
	return rc;
}
