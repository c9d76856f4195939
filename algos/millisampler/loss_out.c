/* algos/millisampler/loss_out.c -- lost on the way from a host, and at which end.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/millisampler/loss_out.h"

#include <math.h>
#include <stdlib.h>

#include "sim/sort.h"
#include "sim/vec.h"

static sim_ns loss_out_width(const struct algo_loss_cause_params *p)
{
	return sim_ns_of(p->width_ms * 1e-3 + 5e-10);
}

/* --- is it the host's link? ------------------------------------------------*/

struct loss_out_sums {
	double k, n, ways, buckets, lossy, geometric;
};

static double loss_out_ln(double n, double p)
{
	return n > 0 ? n * log(p) : 0;
}

static void loss_out_add(struct loss_out_sums *s, double k, double n,
    const struct algo_loss_cause_params *p)
{
	s->n += n;
	s->buckets++;
	if (k <= 0)
		return;
	s->k += k;
	s->lossy++;
	s->ways += lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
	s->geometric += log1p(-p->geometric) + loss_out_ln(k - 1, p->geometric);
}

static void loss_out_sum_up(const struct obs_runs *runs,
    const struct obs_samples *t, const struct algo_loss_cause_params *p,
    struct loss_out_sums sum[])
{
	const sim_ns width = loss_out_width(p);
	double before = 0;
	for (size_t i = 0; i < t->n; i++) {
		const uint32_t run = t->run[i];
		const double here = ceil(t->out_bytes[i] / p->segment);
		if (runs->width_ns[run] != width)
			continue;
		if (i == 0 || t->run[i - 1] != run ||
		    t->bucket[i - 1] + 1 != t->bucket[i])
			before = 0;
		if (here > 0)
			loss_out_add(&sum[runs->host[run]],
			    algo_loss_packets(t->out_retx[i], p->segment),
			    fmax(here, before), p);
		before = here;
	}
}

static struct algo_loss_end loss_out_judge(const struct loss_out_sums *s,
    const struct algo_loss_cause_params *p, uint32_t host)
{
	const double rate = s->k / s->n, share = s->lossy / s->buckets;
	const double link = s->ways + loss_out_ln(s->k, rate) +
	    loss_out_ln(s->n - s->k, 1 - rate);
	const double other = s->geometric + loss_out_ln(s->lossy, share) +
	    loss_out_ln(s->buckets - s->lossy, 1 - share);
	return (struct algo_loss_end){.host = host,
	    .out = 1,
	    .accused = link - other > p->margin,
	    .n_retx = s->k,
	    .n_pkts = s->n,
	    .ahead = link - other};
}

int algo_loss_out_find(const struct obs_runs *runs,
    const struct obs_samples *samples, uint32_t n_hosts,
    const struct algo_loss_cause_params *p, struct algo_loss_ends *out,
    struct sim_err *e)
{
	struct loss_out_sums *sum = NULL;
	int rc = SIM_ZALLOC(&sum, n_hosts, e);
	if (rc == 0)
		loss_out_sum_up(runs, samples, p, sum);
	for (uint32_t h = 0; rc == 0 && h < n_hosts; h++)
		if (sum[h].k > 0) {
			const struct algo_loss_end row =
			    loss_out_judge(&sum[h], p, h);
			rc = algo_loss_ends_add(out, &row, e);
		}
	free(sum);
	return rc;
}

/* --- at which end? ---------------------------------------------------------*/

/* What a host saw sent again in a bucket, in one direction. */
struct loss_end_seen {
	uint64_t at; /* bucket of all time */
	uint32_t host;
	double k;
};

struct loss_ends {
	struct loss_end_seen *seen[2]; /* [out], by time */
	size_t n[2], cap[2];
	double *all[2];   /* [out][n_hosts] packets */
	double *rows[2];  /* [out][n_hosts] buckets with any */
	double *buckets;  /* [n_hosts] of runs */
	double *together; /* [n_hosts] scratch */
	double *now;      /* [n_hosts] scratch */
};

static int loss_end_by_time(const void *a, const void *b)
{
	const struct loss_end_seen *x = a, *y = b;
	if (x->at != y->at)
		return SIM_ORDER(x->at, y->at);
	return SIM_ORDER(x->host, y->host);
}

static void loss_ends_free(struct loss_ends *x)
{
	for (int out = 0; out < 2; out++) {
		free(x->seen[out]);
		free(x->all[out]);
		free(x->rows[out]);
	}
	free(x->buckets);
	free(x->together);
	free(x->now);
}

static int loss_ends_add(struct loss_ends *x, int out, uint64_t at,
    uint32_t host, double k, struct sim_err *e)
{
	const int rc =
	    SIM_RESERVE(&x->seen[out], &x->cap[out], x->n[out] + 1, e);
	if (rc < 0)
		return rc;
	x->seen[out][x->n[out]++] = (struct loss_end_seen){at, host, k};
	x->all[out][host] += k;
	x->rows[out][host]++;
	return 0;
}

static int loss_ends_open(struct loss_ends *x, uint32_t n_hosts,
    struct sim_err *e)
{
	int rc = SIM_ZALLOC(&x->buckets, n_hosts, e);
	for (int out = 0; rc == 0 && out < 2; out++)
		if ((rc = SIM_ZALLOC(&x->all[out], n_hosts, e)) == 0)
			rc = SIM_ZALLOC(&x->rows[out], n_hosts, e);
	if (rc == 0)
		rc = SIM_ZALLOC(&x->together, n_hosts, e);
	return rc < 0 ? rc : SIM_ZALLOC(&x->now, n_hosts, e);
}

static int loss_ends_see(struct loss_ends *x, const struct obs_runs *runs,
    const struct obs_samples *t, const struct algo_loss_cause_params *p,
    struct sim_err *e)
{
	const sim_ns width = loss_out_width(p);
	int rc = 0;
	for (size_t i = 0; i < runs->n; i++)
		if (runs->width_ns[i] == width)
			x->buckets[runs->host[i]] += runs->n_buckets[i];
	for (size_t i = 0; rc == 0 && i < t->n; i++) {
		const uint32_t run = t->run[i];
		const uint64_t at = runs->start_ns[run] / width + t->bucket[i];
		if (runs->width_ns[run] != width)
			continue;
		if (t->in_retx[i] > 0)
			rc = loss_ends_add(x, 0, at, runs->host[run],
			    algo_loss_packets(t->in_retx[i], p->segment), e);
		if (rc == 0 && t->out_retx[i] > 0)
			rc = loss_ends_add(x, 1, at, runs->host[run],
			    algo_loss_packets(t->out_retx[i], p->segment), e);
	}
	for (int out = 0; rc == 0 && out < 2; out++)
		if (x->n[out] > 0)
			qsort(x->seen[out], x->n[out], sizeof(*x->seen[out]),
			    loss_end_by_time);
	return rc;
}

/* The first row of X->seen[OUT] at AT or later. */
static size_t loss_ends_from(const struct loss_ends *x, int out, uint64_t at)
{
	size_t lo = 0, hi = x->n[out];
	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;
		if (x->seen[out][mid].at < at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Starts of runs and ways take up to a bucket: what is within one of S counts
 * as the same, at most as much as S has. */
static void loss_ends_meet(struct loss_ends *x, int opposite,
    const struct loss_end_seen *s)
{
	const uint64_t first = s->at > 0 ? s->at - 1 : 0;
	const size_t from = loss_ends_from(x, opposite, first);
	size_t to = from;
	for (; to < x->n[opposite] && x->seen[opposite][to].at <= s->at + 1;
	     to++)
		x->now[x->seen[opposite][to].host] += x->seen[opposite][to].k;
	for (size_t i = from; i < to; i++) {
		double *now = &x->now[x->seen[opposite][i].host];
		x->together[x->seen[opposite][i].host] += fmin(*now, s->k);
		*now = 0;
	}
}

/* 1 if more than half of what HOST's end has, beyond chance, is what that of
 * OTHER has, which has more. Where something is in nearly each bucket of
 * OTHER's, nothing can be said. */
static int loss_ends_is_nearer(const struct loss_ends *x, int out,
    uint32_t host, uint32_t other)
{
	const double chance =
	    3 * x->rows[!out][other] / fmax(x->buckets[other], 1);
	const double share = x->together[other] / x->all[out][host];
	return host != other && x->all[!out][other] > x->all[out][host] &&
	    chance < 1 && (share - chance) / (1 - chance) > 0.5;
}

static void loss_ends_judge(struct loss_ends *x, uint32_t n_hosts,
    struct algo_loss_ends *ends, size_t i)
{
	const int out = ends->out[i];
	const uint32_t host = ends->host[i];
	for (uint32_t h = 0; h < n_hosts; h++)
		x->together[h] = 0;
	for (size_t k = 0; k < x->n[out]; k++)
		if (x->seen[out][k].host == host)
			loss_ends_meet(x, !out, &x->seen[out][k]);
	for (uint32_t h = 0; h < n_hosts; h++)
		if (x->together[h] > 0 && loss_ends_is_nearer(x, out, host, h))
			ends->other[i] = 1;
}

int algo_loss_ends_match(const struct obs_runs *runs,
    const struct obs_samples *samples, uint32_t n_hosts,
    const struct algo_loss_cause_params *p, struct algo_loss_ends *ends,
    struct sim_err *e)
{
	struct loss_ends x = {0};
	int rc = loss_ends_open(&x, n_hosts, e);
	if (rc == 0)
		rc = loss_ends_see(&x, runs, samples, p, e);
	for (size_t i = 0; rc == 0 && i < ends->n; i++)
		if (ends->accused[i])
			loss_ends_judge(&x, n_hosts, ends, i);
	loss_ends_free(&x);
	return rc;
}

int algo_loss_ends_find(const struct obs_runs *runs,
    const struct obs_samples *samples, uint32_t n_hosts,
    const struct algo_loss_cause_params *p, const struct algo_loss_causes *c,
    struct algo_loss_ends *ends, struct sim_err *e)
{
	int rc = 0;
	algo_loss_ends_clear(ends);
	for (size_t i = 0; rc == 0 && i < c->n; i++)
		if (c->n_retx[i] > 0)
			rc = algo_loss_ends_add(ends,
			    &(struct algo_loss_end){.host = c->host[i],
				.accused = c->cause[i] == ALGO_LOSS_LINK,
				.n_retx = c->n_retx[i],
				.n_pkts = c->n_pkts[i],
				.ahead = c->ahead[i]},
			    e);
	if (rc == 0)
		rc = algo_loss_out_find(runs, samples, n_hosts, p, ends, e);
	return rc < 0
	    ? rc
	    : algo_loss_ends_match(runs, samples, n_hosts, p, ends, e);
}
