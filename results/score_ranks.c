/* results/score_ranks.c -- where what is broken ranks among what is listed.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/score_ranks.h"

#include <math.h>

#include "sim/vec.h"

int res_score_is_broken(const struct res_scorer *s,
    const struct algo_verdicts *v, uint32_t id)
{
	const struct algo_part p = algo_verdicts_part(v, id);
	return p.is_switch ? truth_is_failed_switch(s->truth, p.id)
			   : res_scorer_is_faulty(s, p.id);
}

/* --- the worst that there is to find -------------------------------------- */

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

/* --- what is listed ------------------------------------------------------- */

struct ranks_list {
	const struct algo_verdicts *v;
	uint32_t worst;       /* the component to look for; or TOPO_NONE */
	int lists_worst;      /* score 0 alone does not tell */
	double worst_score;   /* 0 where it is not listed */
	const double *broken; /* [n_listed]: scores of the broken ones listed */
	size_t n_listed;
	double least;     /* of all that are broken; unlisted: 0 */
	double best_good; /* that a broken one must exceed to lead */
};

/* One pass over the list. Neither flags nor the order count. */
static int ranks_read(struct res_scorer *s, struct ranks_list *r,
    size_t n_broken, struct sim_err *e)
{
	const struct algo_verdicts *v = r->v;
	const int links = v->kind == ALGO_KIND_LINK;
	int rc = SIM_RESERVE(&s->broken, &s->cap_broken, v->n, e);
	if (rc < 0)
		return rc;
	r->broken = s->broken;
	r->least = INFINITY;
	for (size_t i = 0; i < v->n; i++) {
		const uint32_t id = v->link[i];
		const double x = v->score[i];
		if (id == r->worst) {
			r->lists_worst = 1;
			r->worst_score = x;
		}
		if (links ? res_scorer_is_faulty(s, id)
			  : res_score_is_broken(s, v, id)) {
			s->broken[r->n_listed++] = x;
			r->least = fmin(r->least, x);
		} else if (x > r->best_good) {
			r->best_good = x;
		}
	}
	if (r->n_listed < n_broken)
		r->least = fmin(r->least, 0);
	return 0;
}

/* --- the k best ----------------------------------------------------------- */

/* H is a heap of N with the least on top, whose place X is to take. */
static void ranks_sift(double h[], size_t n, double x)
{
	size_t i = 0;
	for (size_t child; (child = 2 * i + 1) < n; i = child) {
		if (child + 1 < n && h[child + 1] < h[child])
			child++;
		if (h[child] >= x)
			break;
		h[i] = h[child];
	}
	h[i] = x;
}

/* The K-th greatest score, K > 0, or -INFINITY if there are not more than K.
 * Scores that are no number count for nothing. */
static int ranks_kth(struct res_scorer *s, const struct algo_verdicts *v,
    size_t k, double *kth, struct sim_err *e)
{
	size_t n = 0;
	*kth = -INFINITY;
	if (v->n <= k)
		return 0;
	int rc = SIM_RESERVE(&s->best, &s->cap_best, k, e);
	if (rc < 0)
		return rc;
	/* Places that nothing has come to yet. */
	for (size_t i = 0; i < k; i++)
		s->best[i] = -INFINITY;
	for (size_t i = 0; i < v->n; i++) {
		n += !isnan(v->score[i]);
		if (v->score[i] > s->best[0])
			ranks_sift(s->best, k, v->score[i]);
	}
	if (n > k)
		*kth = s->best[0];
	return 0;
}

/* --- ranks ---------------------------------------------------------------- */

struct ranks_counts {
	size_t above_least, above_worst; /* scores greater than these */
	size_t above_kth, at_kth;
};

static struct ranks_counts ranks_count(const struct ranks_list *r, double kth)
{
	struct ranks_counts n = {0};
	for (size_t i = 0; i < r->v->n; i++) {
		const double x = r->v->score[i];
		n.above_least += x > r->least;
		n.above_worst += x > r->worst_score;
		n.above_kth += x > kth;
		n.at_kth += x == kth;
	}
	return n;
}

/* How many broken components are among the K listed ones with the greatest
 * scores, in the mean over all orders of equals. Only those may or may not be
 * among the K whose score the K-th has: of these at_kth there is room for K less
 * above_kth, so each is in with chance room / at_kth. */
static double ranks_top(const struct ranks_list *r,
    const struct ranks_counts *n, size_t k, double kth)
{
	size_t n_in = 0, n_tied = 0;
	const int all_fit = n->above_kth + n->at_kth <= k;
	for (size_t i = 0; i < r->n_listed; i++) {
		const int tied = r->broken[i] == kth && !all_fit;
		n_tied += tied;
		n_in += !tied && !(r->broken[i] < kth);
	}
	const size_t room = k > n->above_kth ? k - n->above_kth : 0;
	return (double)n_in +
	    (n_tied ? (double)(n_tied * room) / (double)n->at_kth : 0);
}

int res_score_ranks(struct res_scorer *s, const struct algo_verdicts *v,
    size_t n_broken, struct res_algo_metrics *out, struct sim_err *e)
{
	struct ranks_list r = {.v = v};
	double kth = INFINITY;
	int rc;
	r.worst = v->kind == ALGO_KIND_SWITCH ? worst_switch(s->truth)
					      : worst_link(s->truth);
	if ((rc = ranks_read(s, &r, n_broken, e)) < 0 ||
	    (n_broken > 0 && (rc = ranks_kth(s, v, n_broken, &kth, e)) < 0))
		return rc;
	const struct ranks_counts n = ranks_count(&r, kth);
	out->worst_rank = out->last_rank = out->lead = NAN;
	/* Recall of the k best ranked, where k is how many there are to find:
	 * what a ranking is worth without a threshold. */
	out->n_top = (double)n_broken;
	out->n_top_true = n_broken > 0 ? ranks_top(&r, &n, n_broken, kth) : 0;
	if (r.worst == TOPO_NONE)
		return 0;
	/* Ranks go by score alone, so equal scores share one; to be first, the
	 * link must be listed as well. */
	out->n_worst = 1;
	out->worst_rank = (double)(1 + n.above_worst);
	/* The broken one that ranks last is the one with the least score. */
	out->last_rank = (double)(1 + n.above_least);
	out->worst_first = n.above_worst == 0 && r.lists_worst;
	out->lead = r.worst_score - r.best_good;
	return 0;
}
