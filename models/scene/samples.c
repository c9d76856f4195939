/* models/scene/samples.c -- what hosts count in buckets while an epoch runs.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/scene/samples.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/dist.h"
#include "models/obs.h"
#include "models/obs_buckets.h"
#include "models/scene/scene.h"
#include "sim/sort.h"
#include "sim/vec.h"
#include "topo/addr.h"
#include "topo/route.h"

#define FIELD(m) offsetof(struct scene_samples_params, m)

const struct sim_field scene_samples_fields[] = {
    {"sampled", SIM_F_F64, FIELD(sampled), .min = 0, .max = 1, .unit = "1",
	.def = "1", .doc = "share of hosts, by chance, that sample"},
    {"width", SIM_F_F64, FIELD(width_ms), .min = 0.001, .max = 50, .unit = "ms",
	.def = "1", .doc = "of a bucket"},
    {"buckets", SIM_F_U32, FIELD(buckets), .min = 1, .max = OBS_BUCKETS,
	.unit = "1", .def = "2000", .doc = "of a run"},
    {"every", SIM_F_F64, FIELD(every_s), .min = 1e-3, .max = 1e6, .unit = "s",
	.def = "30", .doc = "from a host's run to its next one"},
    {"clock_sd", SIM_F_F64, FIELD(clock_sd_us), .min = 0, .max = 1e6,
	.unit = "us", .def = "0", .doc = "of the error of a host's clock"},
    {"line", SIM_F_F64, FIELD(line_gbps), .min = 0.1, .max = 600,
	.unit = "Gb/s", .def = "12.5", .doc = "a host's link"},
    {"bursts", SIM_F_F64, FIELD(bursts_hz), .min = 0, .max = 1000,
	.unit = "1/s", .def = "5",
	.doc = "in which no buffer is full, of a host (ours)"},
    {"length", SIM_F_DIST, FIELD(length_ms), .min = 0.01, .max = 1000,
	.unit = "ms", .def = "{log_uniform: [0.5, 8]}",
	.doc = "of a burst (ours)"},
    {"marked", SIM_F_F64, FIELD(marked), .min = 0, .max = 1, .unit = "1",
	.def = "0.1", .doc = "share of these that ECN marks (ours)"},
    {"load", SIM_F_F64, FIELD(load), .min = 1e-6, .max = 1, .unit = "1",
	.def = "0.017", .doc = "of a host's link, bursts and others (ours)"},
    {"other", SIM_F_F64, FIELD(other), .min = 1e-6, .max = 1, .unit = "1",
	.def = "0.05",
	.doc = "share of buckets in which others come in (ours)"},
    {"rtt", SIM_F_DIST, FIELD(rtt_ms), .min = 0.001, .max = 1000, .unit = "ms",
	.def = "{uniform: [0.1, 0.5]}",
	.doc = "until what was lost comes again"},
    {"rto", SIM_F_F64, FIELD(rto_ms), .min = 0.001, .max = 10000, .unit = "ms",
	.def = "5", .doc = "the same if only a timer tells the sender"},
    {0},
};

/* Times here may lie before the epoch. */
struct samples_burst {
	int64_t from, to;
	uint8_t marked;
};

struct samples_bucket {
	double on, marked; /* ns in a burst, in a marked one */
	double other;      /* bytes */
	uint64_t off;      /* bytes of flows outside of bursts */
	uint64_t out, in_retx, out_retx;
	uint32_t conns;
};

/* Flows that sent again, by one of their ends: those of host H are
 * flow[off[H]] .. flow[off[H + 1] - 1]. */
struct samples_by_host {
	size_t *off, *flow;
};

struct samples_draw {
	struct scene_samples *out;
	const struct scene_samples_params *p;
	const struct scene *s;
	const struct obs *w;
	int64_t width, every, length, epoch, longest;
	double line; /* bytes a ns */
	double beta;
	struct samples_by_host to, from;
	struct samples_burst *burst; /* of one host */
	size_t n_bursts, cap_bursts;
	struct samples_bucket *bucket; /* of one run */
};

static int64_t samples_ns(double ms)
{
	return (int64_t)(ms * 1e6 + 0.5);
}

double scene_samples_beta(const struct scene_samples_params *p)
{
	return fmin(1,
	    p->bursts_hz * 1e-3 * dist_mean(&p->length_ms) / p->load);
}

int scene_samples_check(const struct scene_samples_params *p, struct sim_err *e)
{
	const double run_s = p->buckets * p->width_ms * 1e-3;
	if (run_s > p->every_s * (1 + 1e-9))
		return sim_fail(e, SIM_EINVAL,
		    "a run of %u buckets of %g ms takes %g s, and the next one "
		    "begins %g s behind its begin (every).",
		    p->buckets, p->width_ms, run_s, p->every_s);
	return 0;
}

void scene_samples_free(struct scene_samples *x)
{
	obs_runs_free(&x->runs);
	obs_samples_free(&x->rows);
	free(x->retx_ns);
	*x = (struct scene_samples){0};
}

/* --- flows ---------------------------------------------------------------- */

/* Counting sort of the flows that sent again. */
static int samples_by(struct samples_by_host *by, const struct samples_draw *d,
    const uint32_t host[], struct sim_err *e)
{
	const struct obs_flows *f = &d->w->flows;
	const uint32_t n_hosts = d->s->topo->n_hosts;
	int rc;
	if ((rc = SIM_ZALLOC(&by->off, n_hosts + 2ul, e)) < 0 ||
	    (rc = SIM_ZALLOC(&by->flow, f->n + 1, e)) < 0)
		return rc;
	for (size_t i = 0; i < f->n; i++)
		by->off[host[i] + 2] += f->n_retx[i] > 0;
	for (uint32_t h = 0; h < n_hosts; h++)
		by->off[h + 2] += by->off[h + 1];
	for (size_t i = 0; i < f->n; i++)
		if (f->n_retx[i] > 0)
			by->flow[by->off[host[i] + 1]++] = i;
	return 0;
}

static topo_link samples_port(topo_host h)
{
	return topo_link_of(h, TOPO_DOWN);
}

static struct samples_burst samples_around(int64_t at, int64_t length, double u)
{
	struct samples_burst b = {.from = at - (int64_t)(u * (double)length)};
	b.to = b.from + length;
	return b;
}

/* What depends on the flow's own name alone. Returns when it sends again; *B is
 * the burst that it was in, if any: to = from if none is its own. */
static int64_t samples_flow(const struct samples_draw *d, size_t i,
    struct samples_burst *b)
{
	const struct obs_flows *f = &d->w->flows;
	const struct scene_samples_params *p = d->p;
	const int64_t start = (int64_t)f->start_ns[i];
	const uint32_t digest =
	    topo_digest_rest(topo_digest_src(topo_addr_of_host(f->src_host[i]),
				 TOPO_PROTO_TCP),
		topo_addr_of_host(f->dst_host[i]),
		(uint32_t)f->src_port[i] << 16 | f->dst_port[i]);
	struct sim_rng r;
	sim_rng_init(&r, &d->s->where, SIM_STREAM_SAMPLE_FLOW, digest);
	const double rtt = dist_at(&p->rtt_ms, sim_rng_u01(&r));
	const int timer = f->n_pkts[i] < f->n_retx[i] + 3;
	*b = (struct samples_burst){start, start, 0};
	if (sim_rng_u01(&r) < d->beta &&
	    scene_congestion_hazard(&d->s->congestion,
		samples_port(f->dst_host[i]), f->start_ns[i]) == 0) {
		double ms;
		do
			ms = dist_at(&p->length_ms, sim_rng_u01(&r));
		while (sim_rng_u01(&r) * p->length_ms.b >= ms);
		*b = samples_around(start, samples_ns(ms), sim_rng_u01(&r));
		b->marked = sim_rng_u01(&r) < p->marked;
	}
	return start + samples_ns(timer ? p->rto_ms : rtt);
}

/* --- bursts of a host ------------------------------------------------------ */

static int samples_burst_add(struct samples_draw *d, struct samples_burst b,
    struct sim_err *e)
{
	const int rc =
	    SIM_RESERVE(&d->burst, &d->cap_bursts, d->n_bursts + 1, e);
	if (rc == 0)
		d->burst[d->n_bursts++] = b;
	return rc;
}

/* By chance, from before the epoch on, so that it begins like any other time. */
static int samples_chance(struct samples_draw *d, struct sim_rng *r,
    struct sim_err *e)
{
	const struct scene_samples_params *p = d->p;
	double t = -(double)d->longest;
	int rc = 0;
	while (rc == 0 && p->bursts_hz > 0) {
		t -= log(sim_rng_u01_open(r)) * 1e9 / p->bursts_hz;
		if (t >= (double)d->epoch)
			break;
		const double ms = dist_at(&p->length_ms, sim_rng_u01(r));
		struct samples_burst b = {.from = (int64_t)t};
		b.to = b.from + samples_ns(ms);
		b.marked = sim_rng_u01(r) < p->marked;
		rc = samples_burst_add(d, b, e);
	}
	return rc;
}

/* Where the port of host H is full within [FROM, TO): maximal times. */
static int samples_full(struct samples_draw *d, topo_host h, int64_t from,
    int64_t to, struct sim_rng *r, struct sim_err *e)
{
	const struct scene_congestion *c = &d->s->congestion;
	const topo_link port = samples_port(h);
	int64_t since = -1;
	int rc = 0;
	for (int64_t t = from < 0 ? 0 : from; rc == 0;) {
		const int full =
		    t < to && scene_congestion_hazard(c, port, (sim_ns)t) > 0;
		if (full && since < 0)
			since = t;
		if (!full && since >= 0) {
			const int64_t lasts = t - since,
				      l = samples_ns(dist_at(&d->p->length_ms,
					  sim_rng_u01(r)));
			const int64_t before = l > lasts
			    ? (int64_t)(sim_rng_u01(r) * (double)(l - lasts))
			    : 0;
			struct samples_burst b = {.from = since - before,
			    .marked = 1};
			b.to = b.from + (l > lasts ? l : lasts);
			rc = samples_burst_add(d, b, e);
			since = -1;
		}
		if (t >= to)
			break;
		t = (int64_t)scene_congestion_until(c, port, (sim_ns)t);
	}
	return rc;
}

static int samples_burst_order(const void *a, const void *b)
{
	const struct samples_burst *x = a, *y = b;
	return SIM_ORDER(x->from, y->from);
}

static int samples_in_burst(const struct samples_draw *d, int64_t t)
{
	for (size_t i = 0; i < d->n_bursts && d->burst[i].from <= t; i++)
		if (t < d->burst[i].to)
			return 1;
	return 0;
}

/* --- a run ---------------------------------------------------------------- */

struct samples_run {
	topo_host host;
	int64_t start;
	uint32_t n;
};

static struct samples_bucket *samples_at(const struct samples_draw *d,
    const struct samples_run *u, int64_t t)
{
	const int64_t dt = t - u->start;
	return dt >= 0 && dt < u->n * d->width ? &d->bucket[dt / d->width]
					       : NULL;
}

/* Add [FROM, TO) to the buckets that it is in, as time in bursts or, with
 * MARKED, in marked ones. */
static void samples_cover(struct samples_draw *d, const struct samples_run *u,
    int64_t from, int64_t to, int marked)
{
	const int64_t end = u->start + u->n * d->width;
	from = from > u->start ? from : u->start;
	to = to < end ? to : end;
	while (from < to) {
		struct samples_bucket *b = samples_at(d, u, from);
		const int64_t next = u->start + (b - d->bucket + 1) * d->width;
		const int64_t stop = to < next ? to : next;
		*(marked ? &b->marked : &b->on) += (double)(stop - from);
		from = stop;
	}
}

/* Bursts may overlap, and then the line is as fast as ever. */
static void samples_cover_all(struct samples_draw *d,
    const struct samples_run *u)
{
	for (int marked = 0; marked < 2; marked++) {
		int64_t reach = INT64_MIN;
		for (size_t i = 0; i < d->n_bursts; i++) {
			const struct samples_burst *b = &d->burst[i];
			if (b->marked < marked)
				continue;
			samples_cover(d, u, b->from > reach ? b->from : reach,
			    b->to, marked);
			reach = b->to > reach ? b->to : reach;
		}
	}
}

static void samples_others(struct samples_draw *d, const struct samples_run *u,
    struct sim_rng *r)
{
	const struct scene_samples_params *p = d->p;
	const double bytes =
	    p->load * (1 - d->beta) * d->line * (double)d->width / p->other;
	const double log_miss = log1p(-fmin(p->other, 1 - 1e-9));
	if (bytes <= 0)
		return;
	for (double k = 0;; k++) {
		k += floor(log(sim_rng_u01_open(r)) / log_miss);
		if (k >= u->n)
			return;
		d->bucket[(uint32_t)k].other =
		    64 - bytes * log(sim_rng_u01_open(r));
	}
}

static void samples_come(struct samples_draw *d, const struct samples_run *u,
    size_t i)
{
	const struct obs_flows *f = &d->w->flows;
	struct samples_burst own;
	const int64_t start = (int64_t)f->start_ns[i];
	const int64_t again = samples_flow(d, i, &own);
	const uint64_t k = f->n_retx[i], n = f->n_pkts[i];
	struct samples_bucket *b = samples_at(d, u, start);
	if (b) {
		b->conns++;
		if (!samples_in_burst(d, start))
			b->off += (n - k) * SCENE_SAMPLES_SEGMENT;
	}
	struct samples_bucket *late = samples_at(d, u, again);
	if (!late)
		return;
	late->conns += late != b;
	late->in_retx += k * SCENE_SAMPLES_SEGMENT;
	if (!samples_in_burst(d, again))
		late->off += k * SCENE_SAMPLES_SEGMENT;
}

static void samples_go(struct samples_draw *d, const struct samples_run *u,
    size_t i)
{
	const struct obs_flows *f = &d->w->flows;
	struct samples_burst own;
	struct samples_bucket *late =
	    samples_at(d, u, samples_flow(d, i, &own));
	struct samples_bucket *b = samples_at(d, u, (int64_t)f->start_ns[i]);
	if (b) {
		b->conns++;
		b->out += (uint64_t)f->n_pkts[i] * SCENE_SAMPLES_SEGMENT;
	}
	if (late) {
		late->conns += late != b;
		late->out_retx +=
		    (uint64_t)f->n_retx[i] * SCENE_SAMPLES_SEGMENT;
	}
}

static uint32_t samples_u32(double bytes)
{
	return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

static int samples_rows(struct samples_draw *d, const struct samples_run *u,
    struct sim_err *e)
{
	const double most = d->line * (double)d->width;
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < u->n; i++) {
		const struct samples_bucket *b = &d->bucket[i];
		const double retx = (double)b->in_retx, on = b->on * d->line;
		const double in =
		    fmax(retx, fmin(on + (double)b->off + b->other, most));
		struct obs_sample row = {.run = (uint32_t)d->out->runs.n - 1,
		    .bucket = i,
		    .in_bytes = samples_u32(in),
		    .out_bytes = samples_u32((double)(b->out + b->out_retx)),
		    .in_retx = samples_u32(retx),
		    .out_retx = samples_u32((double)b->out_retx),
		    .conns = b->conns + (b->on > 0 || b->other > 0)};
		row.in_ce = samples_u32(fmin(b->marked * d->line, in));
		if (row.in_bytes > 0 || row.out_bytes > 0)
			rc = obs_samples_add(&d->out->rows, &row, e);
	}
	return rc;
}

static int64_t samples_clock(const struct samples_draw *d, topo_host h,
    int64_t t)
{
	struct sim_rng r;
	if (d->p->clock_sd_us == 0)
		return t;
	sim_rng_init(&r, &d->s->where, SIM_STREAM_CLOCK, h);
	t += (int64_t)(1e3 *
	    gsl_ran_gaussian_ziggurat(&r.gsl, d->p->clock_sd_us));
	return t > 0 ? t : 0;
}

static int samples_run(struct samples_draw *d, const struct samples_run *u,
    struct sim_rng *r, struct sim_err *e)
{
	const topo_host h = u->host;
	const struct obs_run row = {
	    .start_ns = (uint64_t)samples_clock(d, h, u->start),
	    .width_ns = (uint64_t)d->width,
	    .line_bps = (uint64_t)(d->p->line_gbps * 1e9),
	    .host = h,
	    .n_buckets = u->n,
	};
	const int rc = obs_runs_add(&d->out->runs, &row, e);
	memset(d->bucket, 0, u->n * sizeof(d->bucket[0]));
	samples_others(d, u, r);
	samples_cover_all(d, u);
	for (size_t i = d->to.off[h]; i < d->to.off[h + 1]; i++)
		samples_come(d, u, d->to.flow[i]);
	for (size_t i = d->from.off[h]; i < d->from.off[h + 1]; i++)
		samples_go(d, u, d->from.flow[i]);
	return rc < 0 ? rc : samples_rows(d, u, e);
}

/* --- a host --------------------------------------------------------------- */

/* The K-th run of a host, cut to the epoch. Returns 0 if nothing is left. */
static int samples_run_of(const struct samples_draw *d, int64_t phase,
    int64_t k, struct samples_run *u)
{
	int64_t from = phase + k * d->every;
	int64_t to = from + d->length;
	from = from > 0 ? from : 0;
	to = to < d->epoch ? to : d->epoch;
	u->start = from;
	u->n = to > from ? (uint32_t)((to - from) / d->width) : 0;
	return u->n > 0;
}

/* All bursts of a host. Ports are looked at only where a run could see it. */
static int samples_bursts(struct samples_draw *d, topo_host h, int64_t phase,
    struct sim_rng *r, struct sim_err *e)
{
	struct samples_burst own;
	struct samples_run u = {0};
	int64_t seen = 0;
	d->n_bursts = 0;
	int rc = samples_chance(d, r, e);
	for (size_t i = d->to.off[h]; rc == 0 && i < d->to.off[h + 1]; i++) {
		samples_flow(d, d->to.flow[i], &own);
		if (own.to > own.from)
			rc = samples_burst_add(d, own, e);
	}
	if (scene_congestion_bound(&d->s->congestion, samples_port(h)) > 0)
		for (int64_t k = 0; rc == 0 && phase + k * d->every < d->epoch;
		     k++) {
			if (!samples_run_of(d, phase, k, &u))
				continue;
			const int64_t from = u.start - d->longest,
				      to =
					  u.start + u.n * d->width + d->longest;
			rc = samples_full(d, h, from > seen ? from : seen,
			    to < d->epoch ? to : d->epoch, r, e);
			seen = to;
		}
	if (rc == 0 && d->n_bursts > 0)
		qsort(d->burst, d->n_bursts, sizeof(d->burst[0]),
		    samples_burst_order);
	return rc;
}

static int samples_host(struct samples_draw *d, topo_host h, struct sim_err *e)
{
	struct sim_rng r;
	sim_rng_init(&r, &d->s->where, SIM_STREAM_SAMPLE_HOST, h);
	if (sim_rng_u01(&r) >= d->p->sampled)
		return 0;
	/* From -every on, so that a run may have begun before the epoch. */
	const double places = (double)(d->every / d->width);
	const int64_t phase =
	    (int64_t)(sim_rng_u01(&r) * places) * d->width - d->every;
	int rc = samples_bursts(d, h, phase, &r, e);
	for (int64_t k = 0; rc == 0 && phase + k * d->every < d->epoch; k++) {
		struct samples_run u = {.host = h};
		if (samples_run_of(d, phase, k, &u))
			rc = samples_run(d, &u, &r, e);
	}
	return rc;
}

static int samples_all(struct samples_draw *d, struct sim_err *e)
{
	const struct obs_flows *f = &d->w->flows;
	struct samples_burst own;
	int rc;
	if ((rc = SIM_RESERVE(&d->out->retx_ns, &d->out->cap_retx, f->n, e)) <
		0 ||
	    (rc = SIM_ZALLOC(&d->bucket, d->p->buckets, e)) < 0 ||
	    (rc = samples_by(&d->to, d, f->dst_host, e)) < 0 ||
	    (rc = samples_by(&d->from, d, f->src_host, e)) < 0)
		return rc;
	for (size_t i = 0; i < f->n; i++)
		d->out->retx_ns[i] = f->n_retx[i] == 0
		    ? f->start_ns[i]
		    : (uint64_t)samples_clock(d, f->src_host[i],
			  samples_flow(d, i, &own));
	for (topo_host h = 0; rc == 0 && h < d->s->topo->n_hosts; h++)
		if (d->to.off[h + 1] > d->to.off[h])
			rc = samples_host(d, h, e);
	return rc;
}

int scene_samples_draw(struct scene_samples *x,
    const struct scene_samples_params *p, const struct scene *s,
    const struct obs *w, struct sim_err *e)
{
	const int64_t width = samples_ns(p->width_ms);
	struct samples_draw d = {.out = x,
	    .p = p,
	    .s = s,
	    .w = w,
	    .width = width,
	    /* Rounded up, so that runs do not overlap. */
	    .every = (samples_ns(p->every_s * 1e3) + width - 1) / width * width,
	    .length = width * p->buckets,
	    .epoch = (int64_t)s->traffic.epoch_ns,
	    .longest = samples_ns(p->length_ms.b),
	    .line = p->line_gbps / 8,
	    .beta = scene_samples_beta(p)};
	obs_runs_clear(&x->runs);
	obs_samples_clear(&x->rows);
	const int rc = samples_all(&d, e);
	free(d.to.off);
	free(d.to.flow);
	free(d.from.off);
	free(d.from.flow);
	free(d.burst);
	free(d.bucket);
	return rc;
}
