/* algos/millisampler/sync_burst.c -- racks whose hosts burst at one time.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/millisampler/sync_burst.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algos/millisampler/bursts.h"
#include "algos/millisampler/samples_algo.h"
#include "sim/vec.h"

#define AT(member) offsetof(struct algo_sync_burst_params, member)
const struct sim_field algo_sync_burst_fields[] = {
    {"width", SIM_F_F64, AT(width_ms), .min = 1e-3, .max = 1000, .unit = "ms",
	.def = "1", .doc = "of buckets; runs of others are not looked at"},
    {"together", SIM_F_F64, AT(together_ms), .min = 0, .max = 1e6, .unit = "ms",
	.def = "1000",
	.doc = "runs of a ToR whose starts are no further apart are one"},
    {"share", SIM_F_F64, AT(share), .min = 0, .max = 1, .unit = "1",
	.def = "0.5", .doc = "of the line; more is a burst"},
    {"z_min", SIM_F_F64, AT(z_min), .min = 0, .max = 1e6, .unit = "1",
	.def = "6", .doc = "deviations above which a ToR is accused"},
    {"period_min", SIM_F_F64, AT(period_min), .min = 0, .max = 1, .unit = "1",
	.def = "0.2", .doc = "likeness below which there is no period"},
    {0},
};

/* All of one rack. A: [n_runs][n] likenesses of each host to itself. */
struct sync_desk {
	size_t n, n_runs;
	uint8_t *in;     /* [n_runs][n] in a burst */
	double *a;       /* [n_runs][n] */
	double *a_sum;   /* [n] */
	double *s;       /* [n_runs] buckets in a burst */
	uint32_t *at;    /* [n] those of one host */
	uint32_t *count; /* [n] hosts in a burst */
	double *like;    /* [n / 3 + 1] */
};

static void sync_desk_free(struct sync_desk *d)
{
	free(d->in);
	free(d->a);
	free(d->a_sum);
	free(d->s);
	free(d->at);
	free(d->count);
	free(d->like);
}

static int sync_desk_open(struct sync_desk *d, const struct algo_series *s,
    struct sim_err *e)
{
	int rc;
	d->n = s->n_known < s->n ? s->n_known : s->n;
	d->n_runs = s->n_runs;
	/* algo_burst_mark() fills all buckets of a run, known or not. */
	if ((rc = SIM_ZALLOC(&d->in, d->n_runs * d->n + s->n, e)) < 0 ||
	    (rc = SIM_ZALLOC(&d->a, d->n_runs * d->n, e)) < 0 ||
	    (rc = SIM_ZALLOC(&d->a_sum, d->n, e)) < 0 ||
	    (rc = SIM_ZALLOC(&d->s, d->n_runs, e)) < 0 ||
	    (rc = SIM_ZALLOC(&d->at, d->n, e)) < 0 ||
	    (rc = SIM_ZALLOC(&d->count, d->n, e)) < 0)
		return rc;
	return SIM_ZALLOC(&d->like, d->n / 3 + 1, e);
}

/* Host I: where it bursts, and how often D buckets behind that again. */
static void sync_desk_host(struct sync_desk *d, const struct algo_series *s,
    size_t i, double share)
{
	uint8_t *in = d->in + i * d->n;
	double *a = d->a + i * d->n;
	size_t m = 0;
	algo_burst_mark(s, i, share, in);
	for (size_t k = 0; k < d->n; k++)
		if (in[k]) {
			d->count[k]++;
			d->at[m++] = (uint32_t)k;
		}
	d->s[i] = (double)m;
	if (m == 0)
		return;
	a[0] = (double)m;
	for (size_t x = 0; x < m; x++)
		for (size_t y = x + 1; y < m; y++) {
			const size_t lag = d->at[y] - d->at[x];
			a[lag]++;
			a[d->n - lag]++;
		}
	for (size_t k = 0; k < d->n; k++)
		d->a_sum[k] += a[k];
}

/* Meetings of host I with all others: their number, and the two moments. */
static void sync_host(const struct sync_desk *d, size_t i, double s_sum,
    double s_squares, double *met, double *mean, double *variance)
{
	const uint8_t *in = d->in + i * d->n;
	const double *a = d->a + i * d->n, s = d->s[i], n = (double)d->n;
	double products = 0;
	*met = 0;
	for (size_t k = 0; k < d->n; k++) {
		*met += in[k] ? d->count[k] - 1. : 0;
		products += a[k] * (d->a_sum[k] - a[k]);
	}
	*mean = s * (s_sum - s) / n;
	*variance = products / n - s * s * (s_squares - s * s) / (n * n);
}

static double sync_z(double met, double mean, double variance)
{
	/* A host that always or never bursts leaves only rounding. */
	return variance > 1e-9 * (1 + mean * mean)
	    ? (met - mean) / sqrt(variance)
	    : 0;
}

/* Each pair is seen by both of its hosts. */
static void sync_moments(const struct sync_desk *d, struct algo_sync_burst *out,
    double host_z[])
{
	double s_sum = 0, s_squares = 0;
	for (size_t i = 0; i < d->n_runs; i++) {
		s_sum += d->s[i];
		s_squares += d->s[i] * d->s[i];
	}
	for (size_t i = 0; i < d->n_runs; i++) {
		double met, mean, variance;
		sync_host(d, i, s_sum, s_squares, &met, &mean, &variance);
		out->met += met / 2;
		out->mean += mean / 2;
		out->variance += variance / 2;
		if (host_z)
			host_z[i] = sync_z(met, mean, variance);
	}
	out->z = sync_z(out->met, out->mean, out->variance);
}

static double sync_likeness(const struct sync_desk *d, double mean, size_t lag)
{
	double sum = 0;
	for (size_t k = 0; k + lag < d->n; k++)
		sum += (d->count[k] - mean) * (d->count[k + lag] - mean);
	return sum / (double)(d->n - lag);
}

/* LIKE[n / 3 + 1] by lag, 1 at lag 0; returns the greatest beyond where bursts
 * last, which are like themselves for as long; *FROM: where that is. */
static double sync_likenesses(const struct sync_desk *d, double like[],
    size_t *from)
{
	double sum = 0, best = 0;
	for (size_t k = 0; k < d->n; k++)
		sum += d->count[k];
	const double mean = sum / (double)d->n;
	const double same = sync_likeness(d, mean, 0);
	if (same <= 0)
		return 0;
	for (size_t lag = 0; lag <= d->n / 3; lag++)
		like[lag] = sync_likeness(d, mean, lag) / same;
	*from = 1;
	while (*from <= d->n / 3 && like[*from] > 0)
		++*from;
	for (size_t lag = *from; lag <= d->n / 3; lag++)
		best = like[lag] > best ? like[lag] : best;
	return best;
}

/* What comes again after a period does so after two: of all that are nearly as
 * good as the best the first, where it is best. */
static void sync_period(const struct sync_desk *d, double like[],
    double period_min, double width_ms, struct algo_sync_burst *out)
{
	size_t lag = 0, at;
	const double best = d->n > 0 ? sync_likenesses(d, like, &lag) : 0;
	if (best <= 0 || best < period_min)
		return;
	while (like[lag] < .8 * best)
		lag++;
	for (at = lag; lag <= d->n / 3 && like[lag] >= .8 * best; lag++)
		at = like[lag] > like[at] ? lag : at;
	out->period_ms = (double)at * width_ms;
	out->likeness = like[at];
}

int algo_sync_burst_of(const struct algo_series *s,
    const struct algo_sync_burst_params *p, struct algo_sync_burst *out,
    double host_z[], struct sim_err *e)
{
	struct sync_desk d = {0};
	const int rc = sync_desk_open(&d, s, e);
	*out = (struct algo_sync_burst){.n = d.n};
	/* A host's marks run over into the next one's, which come later. */
	for (size_t i = 0; rc == 0 && i < d.n_runs; i++)
		sync_desk_host(&d, s, i, p->share);
	if (rc == 0) {
		sync_moments(&d, out, host_z);
		sync_period(&d, d.like, p->period_min,
		    1e-6 * (double)s->width_ns, out);
	}
	sync_desk_free(&d);
	return rc;
}

/* --- as a diagnoser -------------------------------------------------------- */
struct sync_tor {
	double met, mean, variance;
};

struct sync_work {
	struct algo_sync_burst_params params;
	const struct topo *topo;
	struct algo_series series;
	uint32_t *tor;       /* [n_hosts] */
	struct sync_tor *of; /* [n_switches] */
	uint8_t *taken;
	uint32_t *run;
	size_t cap_taken, cap_run;
};

static int sync_burst_init(void *work, const struct topo *t, struct sim_err *e)
{
	struct sync_work *w = work;
	int rc;
	w->topo = t;
	if ((rc = SIM_ZALLOC(&w->tor, t->n_hosts, e)) < 0 ||
	    (rc = SIM_ZALLOC(&w->of, t->n_switches, e)) < 0)
		return rc;
	for (topo_host h = 0; h < t->n_hosts; h++)
		w->tor[h] = topo_tor_of(t, h);
	return 0;
}

static void sync_burst_free(void *work)
{
	struct sync_work *w = work;
	algo_series_free(&w->series);
	free(w->tor);
	free(w->of);
	free(w->taken);
	free(w->run);
}

static int sync_add_rack(struct sync_work *w, const struct algo_samples_in *in,
    size_t n, struct sim_err *e)
{
	struct algo_sync_burst b;
	struct sync_tor *of = &w->of[w->tor[in->runs->host[w->run[0]]]];
	int rc = algo_series_align(&w->series, in->runs, in->samples, w->run, n,
	    NULL, e);
	if (rc == 0)
		rc = algo_sync_burst_of(&w->series, &w->params, &b, NULL, e);
	if (rc == 0) {
		of->met += b.met;
		of->mean += b.mean;
		of->variance += b.variance;
	}
	return rc;
}

static int sync_add_all(struct sync_work *w, const struct algo_samples_in *in,
    struct sim_err *e)
{
	const sim_ns width = (sim_ns)llrint(w->params.width_ms * 1e6);
	const sim_ns together = (sim_ns)llrint(w->params.together_ms * 1e6);
	size_t n;
	int rc;
	if ((rc = SIM_RESERVE(&w->taken, &w->cap_taken, in->runs->n, e)) < 0 ||
	    (rc = SIM_RESERVE(&w->run, &w->cap_run, in->runs->n, e)) < 0)
		return rc;
	if (in->runs->n > 0)
		memset(w->taken, 0, in->runs->n);
	memset(w->of, 0, w->topo->n_switches * sizeof(w->of[0]));
	while (rc == 0 &&
	    (n = algo_series_rack(in->runs, w->tor, width, together, w->taken,
		 w->run)) > 0)
		rc = sync_add_rack(w, in, n, e);
	return rc;
}

static int sync_list(const struct sync_work *w, int accused,
    struct algo_verdicts *out, struct sim_err *e)
{
	int rc = 0;
	for (topo_switch s = 0; rc == 0 && s < w->topo->n_switches; s++) {
		const struct sync_tor *t = &w->of[s];
		const double z = sync_z(t->met, t->mean, t->variance);
		if (z > 0 && (z > w->params.z_min) == accused)
			rc = algo_verdicts_add(out, s, z, e);
	}
	return rc;
}

static int sync_burst_diagnose(void *work, const struct obs *window,
    struct sim_rng *tie, struct algo_verdicts *out, struct sim_err *e)
{
	struct sync_work *w = work;
	struct algo_samples_in in;
	int rc = algo_samples_begin(window, w->topo, &in, out, e);
	(void)tie;
	out->kind = ALGO_KIND_SWITCH;
	if (rc < 0 || (rc = sync_add_all(w, &in, e)) < 0 ||
	    (rc = sync_list(w, 1, out, e)) < 0)
		return rc;
	algo_samples_flag(out);
	if ((rc = sync_list(w, 0, out, e)) == 0)
		algo_samples_end(window, out);
	return rc;
}

const struct algo_ops algo_sync_burst_ops = {
    .name = "sync_burst",
    .paper = "Millisampler (IMC'22), a case; the test is ours",
    .doc = "ToRs whose hosts burst together more than by chance",
    .needs = OBS_SAMPLES,
    .params = algo_sync_burst_fields,
    .params_size = sizeof(struct algo_sync_burst_params),
    .work_size = sizeof(struct sync_work),
    .init = sync_burst_init,
    .diagnose = sync_burst_diagnose,
    .free = sync_burst_free,
};
