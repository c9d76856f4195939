/* algos/millisampler/bursts.c -- bursts of hosts, and how many burst together.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/millisampler/bursts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"

static const char *const incast_names[] = {"count", "ratio", NULL};

#define AT(member) offsetof(struct algo_burst_params, member)
const struct sim_field algo_burst_fields[] = {
    {"share", SIM_F_F64, AT(share), .min = 0, .max = 1, .unit = "1",
	.def = "0.5", .doc = "of the line; more is a burst"},
    {"tail", SIM_F_F64, AT(tail_ms), .min = 0, .max = 1000, .unit = "ms",
	.def = "1",
	.doc = "behind a burst in which what is sent again is of it; at least "
	       "a bucket"},
    {"rto", SIM_F_F64, AT(rto_ms), .min = 0, .max = 10000, .unit = "ms",
	.def = "0",
	.doc = "what is sent again so long behind a burst is of it; 0: none "
	       "waits"},
    {"incast", SIM_F_ENUM, AT(incast), .names = incast_names, .def = "count",
	.doc = "an incast is told by connections, or by how many more there "
	       "are than outside of bursts"},
    {"incast_min", SIM_F_F64, AT(incast_min), .min = 0, .max = 1e6,
	.unit = "connections", .def = "20", .doc = "more are an incast",
	.when = "incast=count"},
    {"incast_ratio", SIM_F_F64, AT(incast_ratio), .min = 0, .max = 1e6,
	.unit = "1", .def = "4", .doc = "more are an incast",
	.when = "incast=ratio"},
    {0},
};

void algo_burst_mark(const struct algo_series *s, size_t i, double share,
    uint8_t in[])
{
	const double *v = algo_series_at(s, i, ALGO_SERIES_IN);
	const double above =
	    share * 1e-9 / 8 * (double)s->line_bps[i] * (double)s->width_ns;
	for (size_t k = 0; k < s->n; k++)
		in[k] = v[k] > above;
}

/* --- contention ------------------------------------------------------------ */
int algo_contention_count(const struct algo_series *s, double share,
    uint32_t count[], struct sim_err *e)
{
	uint8_t *in = NULL;
	const int rc = SIM_ZALLOC(&in, s->n, e);
	if (rc < 0)
		return rc;
	memset(count, 0, s->n * sizeof(count[0]));
	for (size_t i = 0; i < s->n_runs; i++) {
		algo_burst_mark(s, i, share, in);
		for (size_t k = 0; k < s->n; k++)
			count[k] += in[k];
	}
	free(in);
	return 0;
}

/* The smallest count that at least Q of all buckets do not exceed. N_OF[c]:
 * buckets of count C. */
static uint32_t contention_quantile(const size_t n_of[], size_t n, double q)
{
	const double want = q * (double)n;
	size_t sum = n_of[0];
	uint32_t c = 0;
	while ((double)sum < want)
		sum += n_of[++c];
	return c;
}

int algo_contention_of(const struct algo_series *s, double share,
    struct algo_contention *out, struct sim_err *e)
{
	uint32_t *count = NULL;
	size_t *n_of = NULL;
	double sum = 0, squares = 0, met = 0;
	int rc = SIM_ZALLOC(&count, s->n, e);
	*out = (struct algo_contention){0};
	if (rc == 0)
		rc = SIM_ZALLOC(&n_of, s->n_runs + 1, e);
	if (rc == 0)
		rc = algo_contention_count(s, share, count, e);
	const size_t n = s->n_known < s->n ? s->n_known : s->n;
	for (size_t k = 0; rc == 0 && k < n; k++) {
		n_of[count[k]]++;
		sum += count[k];
		squares += (double)count[k] * count[k];
		met += count[k] > 1 ? count[k] : 0;
		out->max = count[k] > out->max ? count[k] : out->max;
	}
	if (rc == 0 && n > 0) {
		out->n = n;
		out->mean = sum / (double)n;
		out->p10 = contention_quantile(n_of, n, .1);
		out->p50 = contention_quantile(n_of, n, .5);
		out->p90 = contention_quantile(n_of, n, .9);
		out->met = sum > 0 ? met / sum : 0;
		out->index = sum > 0 ? squares / sum - out->mean : 0;
	}
	free(count);
	free(n_of);
	return rc;
}

/* --- bursts ---------------------------------------------------------------- */
static double series_sum(const double *v, size_t from, size_t to)
{
	double sum = 0;
	for (size_t k = from; k < to; k++)
		sum += v[k];
	return sum;
}

static size_t burst_buckets(double ms, sim_ns width_ns)
{
	return (size_t)llrint(ms * 1e6 / (double)width_ns);
}

/* Sent again within the burst and the tail behind it, and an RTO behind one of
 * its buckets, each bucket once. A bucket more, as what was lost late in one is
 * sent again a little later than whole buckets behind it. */
static double burst_retx(const struct algo_series *s, size_t i,
    const struct algo_burst_params *p, size_t first, size_t n)
{
	const double *v = algo_series_at(s, i, ALGO_SERIES_IN_RETX);
	const size_t tail = burst_buckets(p->tail_ms, s->width_ns);
	const size_t rto = burst_buckets(p->rto_ms, s->width_ns);
	size_t end = first + n + (tail > 0 ? tail : 1);
	end = end < s->n ? end : s->n;
	double sum = series_sum(v, first, end);
	if (rto > 0) {
		size_t from = first + rto, to = first + n + rto + 1;
		from = from > end ? from : end;
		to = to < s->n ? to : s->n;
		sum += series_sum(v, from, to);
	}
	return sum;
}

static struct algo_burst burst_of(const struct algo_series *s, size_t i,
    const struct algo_burst_params *p, const uint32_t count[], size_t first,
    size_t n)
{
	const double *in = algo_series_at(s, i, ALGO_SERIES_IN);
	struct algo_burst b = {.run = s->run[i],
	    .host = s->host[i],
	    .first = (uint32_t)first,
	    .n_buckets = (uint32_t)n};
	double contention = 0;
	for (size_t k = first; k < first + n; k++) {
		b.peak_bytes = in[k] > b.peak_bytes ? in[k] : b.peak_bytes;
		b.contention_max =
		    count[k] > b.contention_max ? count[k] : b.contention_max;
		contention += count[k];
	}
	b.contention = contention / (double)n;
	b.in_bytes = series_sum(in, first, first + n);
	b.ce_bytes = series_sum(algo_series_at(s, i, ALGO_SERIES_IN_CE), first,
	    first + n);
	b.conns = series_sum(algo_series_at(s, i, ALGO_SERIES_CONNS), first,
		      first + n) /
	    (double)n;
	b.retx_bytes = burst_retx(s, i, p, first, n);
	b.lossy = b.retx_bytes > 0;
	return b;
}

/* Only when all bursts of a run are known is it known what is outside. */
static void judge_incast(const struct algo_series *s, size_t i,
    const struct algo_burst_params *p, struct algo_bursts *out, size_t from)
{
	double all =
	    series_sum(algo_series_at(s, i, ALGO_SERIES_CONNS), 0, s->n);
	double n = (double)s->n;
	for (size_t b = from; b < out->n; b++) {
		all -= out->conns[b] * out->n_buckets[b];
		n -= out->n_buckets[b];
	}
	/* What is left of a sum of rounded numbers may be a little off 0. */
	const double outside = n > 0 && all > 1e-9 ? all / n : 0;
	for (size_t b = from; b < out->n; b++)
		out->incast[b] =
		    out->conns[b] > (p->incast == ALGO_INCAST_BY_COUNT
					    ? p->incast_min
					    : p->incast_ratio * outside);
}

static int bursts_of_run(const struct algo_series *s, size_t i,
    const struct algo_burst_params *p, const uint32_t count[], uint8_t in[],
    struct algo_bursts *out, struct sim_err *e)
{
	const size_t from = out->n;
	algo_burst_mark(s, i, p->share, in);
	for (size_t k = 0; k < s->n;) {
		size_t n = 0;
		while (k + n < s->n && in[k + n])
			n++;
		if (n > 0) {
			const struct algo_burst b =
			    burst_of(s, i, p, count, k, n);
			const int rc = algo_bursts_add(out, &b, e);
			if (rc < 0)
				return rc;
		}
		k += n + 1;
	}
	judge_incast(s, i, p, out, from);
	return 0;
}

int algo_bursts_find(const struct algo_series *s,
    const struct algo_burst_params *p, struct algo_bursts *out,
    struct sim_err *e)
{
	uint32_t *count = NULL;
	uint8_t *in = NULL;
	int rc = SIM_ZALLOC(&count, s->n, e);
	if (rc == 0)
		rc = SIM_ZALLOC(&in, s->n, e);
	if (rc == 0)
		rc = algo_contention_count(s, p->share, count, e);
	for (size_t i = 0; rc == 0 && i < s->n_runs; i++)
		rc = bursts_of_run(s, i, p, count, in, out, e);
	free(count);
	free(in);
	return rc;
}
