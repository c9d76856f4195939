/* results/score.c -- verdicts against the truth: one trial's metrics.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/score.h"

#include <assert.h>
#include <math.h>

#include "results/calibration.h"

/* What is known of one flow's losses. */
struct loss {
	uint64_t n_drops;
	uint64_t n_buffer; /* of these, in full buffers */
	int at_fault;      /* some of the others on a faulty link */
	topo_link most;    /* dropped most, first of equals; or NONE */
	int most_faulty;
	topo_link released; /* last faulty that dropped, else last; or NONE */
	int released_faulty;
};

/* Look up where a flow lost packets, and whom that makes the culprit by each of
 * the two definitions (results/schema.h). 007's paper takes the link that
 * dropped most (section 6); its released simulator takes the last one that
 * dropped, but never goes from a faulty link back to one without a fault. What
 * the buffer at a faulty link drops is not the fault's. Where
 * the plane has a rule of its own for culprits, that counts for both. */
static struct loss score_look_up(const struct obs *w, const struct truth *t,
    const struct losses *lost, size_t flow)
{
	struct loss l = {.most = TOPO_NONE, .released = TOPO_NONE};
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
		l.at_fault |= faulty;
		if (drops[i] > max) {
			max = drops[i];
			l.most = path[i];
			l.most_faulty = faulty;
		}
		if (faulty || !l.released_faulty) {
			l.released = path[i];
			l.released_faulty = faulty;
		}
	}
	if (lost->n_culprits > 0) {
		l.most = l.released = lost->culprit[flow];
		l.most_faulty = truth_is_faulty(t, l.most);
		l.at_fault = l.released_faulty = l.most_faulty;
	}
	return l;
}

/* For a verdict of switches the culprit is the failed switch that the culprit
 * link belongs to, if any; where both its ends failed, blaming either is
 * right. */
static void look_up_switch(const struct truth *t, topo_switch blame,
    struct loss *l)
{
	l->most = truth_switch_of(t, l->most, blame);
	l->released = truth_switch_of(t, l->released, blame);
	l->most_faulty = l->most != TOPO_NONE;
	l->released_faulty = l->released != TOPO_NONE;
}

void res_score_culprits(const struct obs *w, const struct truth *t,
    const struct losses *lost, size_t flow, struct res_culprits *out)
{
	struct loss l = score_look_up(w, t, lost, flow);
	*out = (struct res_culprits){.most = l.most, .released = l.released};
	/* Where both ends of a link failed, the smaller id stands for both. */
	look_up_switch(t, TOPO_NONE, &l);
	out->most_switch = l.most;
	out->released_switch = l.released;
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
	for (size_t i = 0; i < w->flows.n; i++) {
		struct loss l = score_look_up(w, t, lost, i);
		out->n_failed_flows += w->flows.n_retx[i] > 0;
		out->n_drops += (double)l.n_drops;
		out->n_fault_flows += l.at_fault;
		out->n_buffer_drops += (double)l.n_buffer;
		out->n_buffer_flows += l.n_buffer > 0;
		out->n_noise_flows +=
		    l.n_drops > 0 && l.n_buffer == 0 && !l.at_fault;
	}
}

static void score_flow(const struct loss *l, topo_link blame,
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
static void score_flows(const struct obs *w, const struct truth *t,
    const struct losses *lost, const struct algo_verdicts *v,
    struct res_algo_metrics *out)
{
	for (size_t i = 0; i < w->flows.n; i++) {
		if (w->flows.n_retx[i] == 0)
			continue;
		if (v->n_flows == 0) {
			out->hits_all = out->flows_all = NAN;
			out->hits_kept = out->flows_kept = NAN;
			out->hits_fault = out->flows_fault = NAN;
			out->hits_released = out->flows_released = NAN;
			return;
		}
		const struct algo_part blame = algo_verdicts_blamed(v, i);
		struct loss l = score_look_up(w, t, lost, i);
		if (blame.is_switch)
			look_up_switch(t, blame.id, &l);
		score_flow(&l, blame.id, out);
	}
	/* Where no flows run, as on plane pingmesh, nothing was printed. */
	if (w->n_flows > 0)
		score_printed(w, out);
}

static int is_broken(const struct truth *t, const struct algo_verdicts *v,
    uint32_t id)
{
	const struct algo_part p = algo_verdicts_part(v, id);
	return p.is_switch ? truth_is_failed_switch(t, p.id)
			   : truth_is_faulty(t, p.id);
}

/* How many there are to be found, of what the algorithm names. */
static size_t score_n_broken(const struct truth *t,
    const struct algo_verdicts *v)
{
	return (v->kind == ALGO_KIND_SWITCH ? 0 : truth_n_faulty(t)) +
	    (v->kind == ALGO_KIND_LINK ? 0 : t->n_switches);
}

static void score_flagged(const struct truth *t, const struct algo_verdicts *v,
    size_t n_broken, struct res_algo_metrics *out)
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
		out->n_flagged_true += is_broken(t, v, v->link[i]);
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

static void score_chances(const struct truth *t, const struct algo_verdicts *v,
    struct res_algo_metrics *out)
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
		sums[2] += is_broken(t, v, v->link[i]);
	}
}

/* --- ranks ---------------------------------------------------------------- */

/* Whether an algorithm named LINK at all: score 0 alone does not tell. */
static int verdict_lists(const struct algo_verdicts *v, uint32_t link)
{
	size_t i = 0;
	while (i < v->n && v->link[i] != link)
		i++;
	return i < v->n;
}

/* How many broken components are among the K listed ones with the greatest
 * scores, in the mean over all orders of equals. Only those may or may not be
 * among the K whose score the K-th has: of these `equals` there is room for
 * `room`, so each is in with chance room / equals. Neither flags nor the order
 * of the list count. */
static double count_top(const struct truth *t, const struct algo_verdicts *v,
    size_t k)
{
	size_t n_in = 0, n_tied = 0, room = 0, equals = 1;
	for (size_t i = 0; i < v->n; i++) {
		size_t greater = 0, same = 0;
		if (!is_broken(t, v, v->link[i]))
			continue;
		for (size_t j = 0; j < v->n; j++) {
			greater += v->score[j] > v->score[i];
			same += v->score[j] == v->score[i];
		}
		if (greater + same <= k) {
			n_in++;
		} else if (greater < k) {
			n_tied++;
			room = k - greater;
			equals = same;
		}
	}
	return (double)n_in + (double)(n_tied * room) / (double)equals;
}

/* The score that a link with a fault must exceed to lead. */
static double best_without_fault(const struct truth *t,
    const struct algo_verdicts *v)
{
	double best = 0;
	for (size_t i = 0; i < v->n; i++)
		if (v->score[i] > best && !is_broken(t, v, v->link[i]))
			best = v->score[i];
	return best;
}

/* Drop rates decide before delays do: a packet that is lost comes a timeout
 * later, if at all. */
static int is_worse(const struct truth_fault *a, const struct truth_fault *b)
{
	return a->rate != b->rate ? a->rate > b->rate
				  : a->delay_us > b->delay_us;
}

/* The link whose fault drops most or, between equal rates, as when all faults
 * are delays, delays most; TOPO_NONE without faults. */
static uint32_t worst_link(const struct truth *t)
{
	const struct truth_fault *worst = NULL;
	for (size_t i = 0; i < t->n_faults; i++)
		if (!worst ? truth_is_fault(&t->fault[i])
			   : is_worse(&t->fault[i], worst))
			worst = &t->fault[i];
	return worst ? worst->link : TOPO_NONE;
}

/* The failed switch whose links' drop rates have the greatest sum, or
 * TOPO_NONE. */
static uint32_t worst_switch(const struct truth *t)
{
	uint32_t worst = TOPO_NONE;
	double most = 0;
	for (size_t i = 0; i < t->n_switches; i++) {
		double sum = 0;
		for (size_t k = 0; k < t->n_faults; k++)
			if (truth_switch_of(t, t->fault[k].link,
				t->failed_switch[i]) == t->failed_switch[i])
				sum += t->fault[k].rate;
		if (sum > most) {
			most = sum;
			worst = t->failed_switch[i];
		}
	}
	return worst;
}

/* The rank of the broken component that ranks last. Ranks go by score alone, so
 * it is the one with the least score, which is 0 where one is not listed. */
static double last_rank(const struct truth *t, const struct algo_verdicts *v,
    size_t n_broken)
{
	double least = INFINITY;
	size_t n_listed = 0, rank = 1;
	for (size_t i = 0; i < v->n; i++)
		if (is_broken(t, v, v->link[i])) {
			least = fmin(least, v->score[i]);
			n_listed++;
		}
	if (n_listed < n_broken)
		least = fmin(least, 0);
	for (size_t i = 0; i < v->n; i++)
		rank += v->score[i] > least;
	return (double)rank;
}

/* Ranking is scored apart from accusing: an algorithm without a threshold, or
 * with a bad one, can still rank well. */
static void score_ranks(const struct truth *t, const struct algo_verdicts *v,
    size_t n_broken, struct res_algo_metrics *out)
{
	const int switches = v->kind == ALGO_KIND_SWITCH;
	const uint32_t worst = switches ? worst_switch(t) : worst_link(t);
	out->worst_rank = out->last_rank = out->lead = NAN;
	/* Recall of the k best ranked, where k is how many there are to find:
	 * what a ranking is worth without a threshold. */
	out->n_top = (double)n_broken;
	out->n_top_true = count_top(t, v, n_broken);
	if (worst == TOPO_NONE)
		return;
	/* Ranks go by score alone, so equal scores share one; to be first, the
	 * link must be listed as well. */
	size_t rank = algo_verdicts_rank(v, worst);
	out->n_worst = 1;
	out->worst_rank = (double)rank;
	out->last_rank = last_rank(t, v, n_broken);
	out->worst_first = rank == 1 && verdict_lists(v, worst);
	out->lead = algo_verdicts_score(v, worst) - best_without_fault(t, v);
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

int res_score_algo(const struct obs *w, const struct truth *t,
    const struct losses *lost, const struct algo_verdicts *v,
    struct res_algo_metrics *out, struct sim_err *e)
{
	if (lost->n_drops != w->hops.n)
		return sim_fail(e, SIM_EMISMATCH,
		    "the truth has drops for %zu hops, the window has %zu.",
		    lost->n_drops, w->hops.n);
	if (lost->n_buffer != (lost->has_buffer ? lost->n_drops : 0))
		return sim_fail(e, SIM_EMISMATCH,
		    "the truth has drops of buffers for %zu hops and drops for "
		    "%zu.",
		    lost->n_buffer, lost->n_drops);
	if (lost->n_path != 0 && lost->n_path != lost->n_drops)
		return sim_fail(e, SIM_EMISMATCH,
		    "the truth has links for %zu hops and drops for %zu.",
		    lost->n_path, lost->n_drops);
	if (lost->n_culprits != 0 && lost->n_culprits != w->flows.n)
		return sim_fail(e, SIM_EMISMATCH,
		    "the truth has culprits of %zu flows, the window has %zu.",
		    lost->n_culprits, w->flows.n);
	if (v->n_flows != 0 && v->n_flows != w->flows.n)
		return sim_fail(e, SIM_EMISMATCH,
		    "blame for %zu flows, but the window has %zu.", v->n_flows,
		    w->flows.n);
	const size_t n_broken = score_n_broken(t, v);
	*out = (struct res_algo_metrics){.detect_s = NAN,
	    .hits_printed = NAN,
	    .flows_printed = NAN,
	    .hits_spared = NAN,
	    .n_found = NAN,
	    .n_to_find = NAN,
	    .n_unanswered = NAN,
	    .f = NAN};
	score_flows(w, t, lost, v, out);
	score_flagged(t, v, n_broken, out);
	score_found(t, v, out);
	score_f(w, v, out);
	score_chances(t, v, out);
	score_ranks(t, v, n_broken, out);
	score_solution(&v->solution, out);
	return 0;
}
