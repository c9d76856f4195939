/* experiments/millisampler/held.c -- samples held against a capture of the same.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/millisampler/held.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "models/obs_buckets.h"
#include "sim/sort.h"
#include "sim/vec.h"

#define X(name) #name,
const char *const xp_held_names[] = {XP_HELD_SERIES(X) "connections"};
#undef X

/* What the capture has of a bucket, and of the boundary that it begins with. */
struct held_bucket {
	struct obs_bucket sum, before, after;
	struct obs_sketch must; /* of packets that are near no boundary */
	uint32_t n;
};

struct held_run {
	uint32_t row, host; /* of the capture */
	struct obs_run run;
	struct held_bucket *at; /* [n_buckets + 1]; NULL: no packet so far */
};

struct xp_held_samples {
	struct res_samples *r;
	struct xp_held_params p;
	struct held_run *run; /* by start */
	size_t n, first;      /* first that may not have ended yet */
	struct obs_samples rows;
};

/* --- packets of the capture -------------------------------------------------*/

static int held_by_start(const void *a, const void *b)
{
	const struct held_run *x = a, *y = b;
	if (x->run.start_ns != y->run.start_ns)
		return SIM_ORDER(x->run.start_ns, y->run.start_ns);
	return (x->row > y->row) - (x->row < y->row);
}

static int held_add(struct xp_held_samples *h, uint32_t row, uint32_t host,
    struct sim_err *e)
{
	const struct obs_run run = obs_runs_at(res_samples_runs(h->r), row);
	if (2 * h->p.tolerance_ns > run.width_ns)
		return sim_fail(e, SIM_ERANGE,
		    "a tolerance of %" PRIu64 " ns is more than half of a "
		    "bucket of %" PRIu64 " ns.",
		    h->p.tolerance_ns, run.width_ns);
	h->run[h->n++] = (struct held_run){row, host, run, NULL};
	return 0;
}

int xp_held_open(struct xp_held_samples **out, struct res_samples *r,
    const uint32_t host[], size_t n_hosts, const struct xp_held_params *p,
    struct sim_err *e)
{
	const struct obs_runs *runs = res_samples_runs(r);
	struct xp_held_samples *h = NULL;
	*out = NULL;
	int rc = SIM_ZALLOC(&h, 1, e);
	if (rc < 0)
		return rc;
	h->r = r;
	h->p = *p;
	rc = SIM_ZALLOC(&h->run, runs->n, e);
	for (uint32_t i = 0; rc == 0 && i < runs->n; i++)
		for (uint32_t k = 0; rc == 0 && k < n_hosts; k++)
			if (host[k] == runs->host[i])
				rc = held_add(h, i, k, e);
	if (rc < 0) {
		xp_held_close(h);
		return rc;
	}
	qsort(h->run, h->n, sizeof(*h->run), held_by_start);
	*out = h;
	return 0;
}

void xp_held_close(struct xp_held_samples *h)
{
	if (!h)
		return;
	for (size_t i = 0; h->run && i < h->n; i++)
		free(h->run[i].at);
	free(h->run);
	obs_samples_free(&h->rows);
	free(h);
}

/* A run's buckets and T, from its beginning on less the tolerance, so that it is
 * not negative. */
static int held_put(struct held_run *x, uint64_t since, uint64_t tolerance,
    const struct obs_seen *seen, struct sim_err *e)
{
	const uint64_t width = x->run.width_ns;
	const uint32_t n = x->run.n_buckets;
	int rc = x->at ? 0 : SIM_ZALLOC(&x->at, n + 1, e);
	if (rc < 0)
		return rc;
	if (since < tolerance) {
		obs_bucket_add(&x->at[0].before, seen);
		return 0;
	}
	const uint64_t dt = since - tolerance;
	const uint32_t i = (uint32_t)(dt / width);
	const uint64_t into = dt - i * width;
	struct held_bucket *b = &x->at[i];
	if (into <= tolerance)
		obs_bucket_add(&b->after, seen);
	if (i == n)
		return 0;
	obs_bucket_add(&b->sum, seen);
	b->n++;
	if (width - into <= tolerance)
		obs_bucket_add(&b[1].before, seen);
	else if (into > tolerance && seen->has_bit)
		obs_sketch_set(&b->must, seen->bit);
	return 0;
}

int xp_held_packet(void *held, uint32_t host, uint64_t t,
    const struct obs_seen *seen, struct sim_err *e)
{
	struct xp_held_samples *h = held;
	const uint64_t tolerance = h->p.tolerance_ns;
	const uint64_t now = t + (uint64_t)h->p.ahead_ns + tolerance;
	int rc = 0;
	for (size_t i = h->first; rc == 0 && i < h->n; i++) {
		struct held_run *x = &h->run[i];
		const uint64_t span = x->run.width_ns * x->run.n_buckets;
		if (x->run.start_ns > now)
			break;
		const uint64_t since = now - x->run.start_ns;
		/* Packets come about in order. */
		if (i == h->first && since > span + SIM_SEC)
			h->first++;
		if (x->host == host && since <= span + 2 * tolerance)
			rc = held_put(x, since, tolerance, seen, e);
	}
	return rc;
}

/* --- a run ------------------------------------------------------------------*/

static uint64_t held_of(const struct obs_bucket *b, unsigned series)
{
	switch (series) {
#define X(name)                                                                \
	case XP_HELD_##name:                                                   \
		return b->name;
		XP_HELD_SERIES(X)
#undef X
	}
	return 0;
}

/* The run as it was sampled, in the same form. */
static struct obs_bucket held_sampled(const struct obs_sample *s)
{
	return (struct obs_bucket){
#define X(name) .name = s->name,
	    XP_HELD_SERIES(X)
#undef X
		.conns = {s->sketch_lo, s->sketch_hi}};
}

/* Buckets FROM to TO - 1 are those of which the capture has all. */
struct held_span {
	uint32_t from, to;
};

/* Where the capture begins within a run there may have been packets before; if
 * the sampler had none until then, all of it is in the capture. The same of its
 * end, and of a run that was ended within its last bucket. */
static struct held_span held_covered(const struct xp_held_samples *h,
    const struct obs_run *run, uint64_t first, uint64_t last)
{
	const uint64_t ahead = (uint64_t)h->p.ahead_ns, w = run->width_ns;
	const uint32_t n = run->n_buckets;
	struct held_span s = {0, n};
	first += ahead;
	last += ahead;
	if (first >= run->start_ns + w * n || last < run->start_ns)
		return (struct held_span){0, 0};
	const uint32_t at = first <= run->start_ns
	    ? 0
	    : (uint32_t)((first - run->start_ns) / w);
	const uint64_t until = (last - run->start_ns) / w;
	if (h->rows.n > 0 && h->rows.bucket[0] < at)
		s.from = at + 1;
	if (n < OBS_BUCKETS)
		s.to = n - 1;
	if (until < n && h->rows.n > 0 &&
	    h->rows.bucket[h->rows.n - 1] > until && until < s.to)
		s.to = (uint32_t)until;
	return s.from < s.to ? s : (struct held_span){0, 0};
}

static void held_blame(struct xp_held_run *out, uint32_t bucket,
    unsigned series, uint64_t sampled, uint64_t captured, uint64_t off)
{
	if (out->n_unexplained == 0 && out->unexplained == 0) {
		out->bucket = bucket;
		out->series = series;
		out->sampled = sampled;
		out->captured = captured;
	}
	out->unexplained += off;
}

/* What was moved over a boundary, as far as it is known. */
struct held_moved {
	int64_t lo, hi;
};

static struct held_moved held_bounds(const struct held_bucket *b,
    unsigned series)
{
	return (struct held_moved){-(int64_t)held_of(&b->before, series),
	    (int64_t)held_of(&b->after, series)};
}

/* Over the end of a bucket that has OFF more than the capture. Returns by how much
 * that is more than can be. */
static uint64_t held_move(struct held_moved *m, int64_t off,
    struct held_moved bounds)
{
	const int64_t lo = m->lo + off, hi = m->hi + off;
	if (hi < bounds.lo) {
		*m = (struct held_moved){bounds.lo, bounds.lo};
		return (uint64_t)(bounds.lo - hi);
	}
	if (lo > bounds.hi) {
		*m = (struct held_moved){bounds.hi, bounds.hi};
		return (uint64_t)(lo - bounds.hi);
	}
	m->lo = lo > bounds.lo ? lo : bounds.lo;
	m->hi = hi < bounds.hi ? hi : bounds.hi;
	return 0;
}

static int held_sketch_is_odd(const struct obs_sketch *s,
    const struct held_bucket *b)
{
	struct obs_sketch may = b->must;
	obs_sketch_or(&may, &b[0].before.conns);
	obs_sketch_or(&may, &b[0].after.conns);
	obs_sketch_or(&may, &b[1].before.conns);
	obs_sketch_or(&may, &b[1].after.conns);
	return ((b->must.lo & ~s->lo) | (b->must.hi & ~s->hi) |
		   (s->lo & ~may.lo) | (s->hi & ~may.hi)) != 0;
}

static void held_bucket(const struct obs_bucket *s, uint32_t i,
    const struct held_bucket *b, struct held_moved moved[],
    struct xp_held_run *out)
{
	int differs = 0, odd = 0;
	for (unsigned k = 0; k < XP_N_HELD_SERIES; k++) {
		const uint64_t have = held_of(s, k), want = held_of(&b->sum, k);
		const uint64_t off = held_move(&moved[k],
		    (int64_t)have - (int64_t)want, held_bounds(&b[1], k));
		differs |= have != want;
		if (off > 0)
			held_blame(out, i, k, have, want, off);
		odd |= off > 0;
	}
	/* Data without sketches has none to be compared. */
	if ((s->conns.lo | s->conns.hi) != 0) {
		const int is_odd = held_sketch_is_odd(&s->conns, b);
		differs |= s->conns.lo != b->sum.conns.lo ||
		    s->conns.hi != b->sum.conns.hi;
		if (is_odd && !odd)
			held_blame(out, i, XP_HELD_CONNS,
			    obs_sketch_count(&s->conns),
			    obs_sketch_count(&b->sum.conns), 0);
		odd |= is_odd;
	}
	out->n_differ += differs != 0;
	out->n_explained += differs && !odd;
	out->n_unexplained += odd != 0;
	out->n_packets += b->n;
	out->n_bytes += (uint64_t)b->sum.in_bytes + b->sum.out_bytes;
}

static int held_compare(struct xp_held_samples *h, struct held_run *x,
    uint64_t first, uint64_t last, struct xp_held_run *out, struct sim_err *e)
{
	struct held_moved moved[XP_N_HELD_SERIES];
	size_t row = 0;
	*out = (struct xp_held_run){.row = x->row};
	int rc = res_samples_load(h->r, x->row, 1, &h->rows, e);
	if (rc < 0)
		return rc;
	const struct held_span s = held_covered(h, &x->run, first, last);
	if (s.to == 0)
		return 0;
	/* A run of which the capture has the time and not a packet. */
	if (!x->at && (rc = SIM_ZALLOC(&x->at, x->run.n_buckets + 1, e)) < 0)
		return rc;
	for (unsigned k = 0; k < XP_N_HELD_SERIES; k++)
		moved[k] = held_bounds(&x->at[s.from], k);
	out->n_buckets = s.to - s.from;
	for (uint32_t i = s.from; i < s.to; i++) {
		struct obs_bucket sampled = {0};
		while (row < h->rows.n && h->rows.bucket[row] < i)
			row++;
		if (row < h->rows.n && h->rows.bucket[row] == i) {
			const struct obs_sample r =
			    obs_samples_at(&h->rows, row);
			sampled = held_sampled(&r);
		}
		held_bucket(&sampled, i, &x->at[i], moved, out);
	}
	return 0;
}

int xp_held_compare(struct xp_held_samples *h, uint64_t first_ns,
    uint64_t last_ns, struct xp_held_run **run, size_t *n, struct sim_err *e)
{
	*n = h->n;
	int rc = SIM_ZALLOC(run, h->n, e);
	for (size_t i = 0; rc == 0 && i < h->n; i++)
		rc = held_compare(h, &h->run[i], first_ns, last_ns, &(*run)[i],
		    e);
	if (rc < 0) {
		free(*run);
		*run = NULL;
	}
	return rc;
}
