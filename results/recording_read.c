/* results/recording_read.c -- a recording read by time, trusting nothing in it.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "results/recording_parts.h"
#include "sim/vec.h"

struct probes_in {
	struct res_h5_table_in *rows;
	uint64_t n;
	struct res_spans spans; /* of its chunks */
};

struct res_recording {
	char *path;
	struct res_h5_in *file;
	struct res_recording_info info;
	char *spec, *service, *culprit;
	struct probes_in probes, vip;
	struct res_h5_table_in *counters;
	uint64_t n_counters;
	struct res_spans covered;
};

/* --- opening ---------------------------------------------------------------*/

static int get_u32(struct res_h5_in *f, const char *name, uint32_t *out,
    struct sim_err *e)
{
	uint64_t x;
	const int rc = res_h5_in_counts(f, name, 1, &x, e);
	if (rc < 0)
		return rc;
	if (x > UINT32_MAX)
		return sim_fail(e, SIM_EPARSE, "%s %" PRIu64 " is too large.",
		    name, x);
	*out = (uint32_t)x;
	return 0;
}

static int get_shapes(struct res_recording *r, struct sim_err *e)
{
	struct res_recording_info *info = &r->info;
	uint64_t shape[RES_RECORDING_MAX_DCS * RES_SHAPE];
	int rc = get_u32(r->file, "n_dcs", &info->n_dcs, e);
	if (rc < 0)
		return rc;
	if (info->n_dcs == 0 || info->n_dcs > RES_RECORDING_MAX_DCS)
		return sim_fail(e, SIM_EPARSE, "it has %u data centres.",
		    info->n_dcs);
	if ((rc = res_h5_in_counts(r->file, "shapes",
		 (size_t)info->n_dcs * RES_SHAPE, shape, e)) < 0)
		return rc;
	for (size_t i = 0; i < (size_t)info->n_dcs * RES_SHAPE; i++)
		if (shape[i] > UINT32_MAX)
			return sim_fail(e, SIM_EPARSE,
			    "shapes hold %" PRIu64 ", which is too large.",
			    shape[i]);
	for (uint32_t i = 0; i < info->n_dcs; i++) {
		const uint64_t *s = &shape[i * RES_SHAPE];
		info->shape[i] = (struct topo_clos){
		    .n_pods = (uint32_t)s[0],
		    .n_tors = (uint32_t)s[1],
		    .n_t1 = (uint32_t)s[2],
		    .n_t2 = (uint32_t)s[3],
		    .n_hosts = (uint32_t)s[4],
		};
	}
	return res_recording_shapes(info, e) < 0 ? SIM_EPARSE : 0;
}

static int get_info(struct res_recording *r, struct sim_err *e)
{
	struct res_recording_info *info = &r->info;
	uint64_t version;
	int rc = res_h5_in_counts(r->file, "recording_version", 1, &version, e);
	if (rc < 0)
		return sim_wrap(e, rc, "it is no recording");
	if (version != RES_RECORDING_VERSION)
		return sim_fail(e, SIM_EMISMATCH,
		    "it has recording version %" PRIu64
		    "; this culprit reads %d.",
		    version, RES_RECORDING_VERSION);
	if ((rc = res_h5_in_text(r->file, "spec", &r->spec, e)) < 0 ||
	    (rc = res_h5_in_text(r->file, "service", &r->service, e)) < 0 ||
	    (rc = res_h5_in_text(r->file, "culprit", &r->culprit, e)) < 0 ||
	    (rc = res_h5_in_counts(r->file, "seed", 1, &info->seed, e)) < 0 ||
	    (rc = get_u32(r->file, "point", &info->point, e)) < 0 ||
	    (rc = get_u32(r->file, "run", &info->run, e)) < 0 ||
	    (rc = res_h5_in_counts(r->file, "duration_ns", 1,
		 &info->duration_ns, e)) < 0 ||
	    (rc = res_h5_in_counts(r->file, "syn_wait_ns", OBS_MAX_WAITS,
		 info->syn_wait_ns, e)) < 0)
		return rc;
	info->spec = r->spec;
	info->service = r->service;
	info->culprit = r->culprit;
	return get_shapes(r, e);
}

/* The rows of a small table of two times. */
static int get_spans(struct res_recording *r, const char *name,
    const struct res_column col[2], struct res_spans *s, struct sim_err *e)
{
	struct res_h5_table_in *t;
	uint64_t n, *from = NULL, *to = NULL;
	int rc = res_h5_in_table(r->file, name, col, 2, &t, &n, e);
	if (rc < 0)
		return rc;
	/* gzip makes at best a byte of 1032. */
	if (n / 1032 > res_h5_in_bytes(r->file))
		return sim_fail(e, SIM_EPARSE,
		    "table %s is larger than the file.", name);
	if ((rc = SIM_ZALLOC(&from, n, e)) == 0 &&
	    (rc = SIM_ZALLOC(&to, n, e)) == 0)
		rc = res_h5_in_read(t, 0, n, (void *const[]){from, to}, e);
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = res_spans_add(s, from[i], to[i], e);
	free(from);
	free(to);
	return rc;
}

static int get_probes(struct res_recording *r, struct probes_in *p,
    const char *name, const char *index, struct sim_err *e)
{
	int rc = res_h5_in_table(r->file, name, res_probe_columns,
	    RES_N_PROBE_COLUMNS, &p->rows, &p->n, e);
	if (rc < 0 ||
	    (rc = get_spans(r, index, res_index_columns, &p->spans, e)) < 0)
		return rc;
	const uint64_t n_chunks =
	    p->n / RES_RECORDING_CHUNK + (p->n % RES_RECORDING_CHUNK > 0);
	if (p->spans.n != n_chunks)
		return sim_fail(e, SIM_EPARSE,
		    "table %s has %zu chunks by its index, not %" PRIu64 ".",
		    name, p->spans.n, n_chunks);
	return 0;
}

static int check_coverage(const struct res_spans *s, struct sim_err *e)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->span[i].from >= s->span[i].to ||
		    (i > 0 && s->span[i].from < s->span[i - 1].to))
			return sim_fail(e, SIM_EPARSE,
			    "span %zu of its coverage, [%" PRIu64 ", %" PRIu64
			    ") ns, is empty or out of order.",
			    i, s->span[i].from, s->span[i].to);
	return 0;
}

static int get_all(struct res_recording *r, struct sim_err *e)
{
	int rc;
	if ((rc = get_info(r, e)) < 0 ||
	    (rc = get_probes(r, &r->probes, "probes", "probes_index", e)) < 0 ||
	    (rc = get_probes(r, &r->vip, "vip_probes", "vip_probes_index", e)) <
		0 ||
	    (rc = res_h5_in_table(r->file, "counters", res_perf_columns,
		 RES_N_PERF_COLUMNS, &r->counters, &r->n_counters, e)) < 0 ||
	    (rc = get_spans(r, "coverage", res_coverage_columns, &r->covered,
		 e)) < 0)
		return rc;
	return check_coverage(&r->covered, e);
}

int res_recording_open(struct res_recording **out, const char *path,
    struct sim_err *e)
{
	struct res_recording *r;
	int rc = SIM_ZALLOC(&r, 1, e);
	if (rc < 0)
		return rc;
	if (!(r->path = strdup(path)))
		rc = sim_fail(e, SIM_ENOMEM, "no memory to read %s.", path);
	else if ((rc = res_h5_in_open(&r->file, path, e)) == 0 &&
	    (rc = get_all(r, e)) < 0)
		sim_wrap(e, rc, "cannot read %s", path);
	if (rc < 0) {
		res_recording_close(r);
		return rc;
	}
	*out = r;
	return 0;
}

void res_recording_close(struct res_recording *r)
{
	if (!r)
		return;
	res_h5_in_close(r->file);
	free(r->spec);
	free(r->service);
	free(r->culprit);
	free(r->probes.spans.span);
	free(r->vip.spans.span);
	free(r->covered.span);
	free(r->path);
	free(r);
}

/* --- by time ---------------------------------------------------------------*/

const struct res_recording_info *res_recording_info(
    const struct res_recording *r)
{
	return &r->info;
}

uint64_t res_recording_n_probes(const struct res_recording *r)
{
	return r->probes.n;
}

sim_ns res_recording_covered(const struct res_recording *r, sim_ns from,
    sim_ns to)
{
	sim_ns sum = 0;
	for (size_t i = 0; i < r->covered.n; i++) {
		const struct res_span *s = &r->covered.span[i];
		const sim_ns a = s->from > from ? s->from : from;
		const sim_ns b = s->to < to ? s->to : to;
		sum += a < b ? b - a : 0;
	}
	return sum;
}

/* Room for N more rows. */
static int reserve(struct obs_probes *t, size_t n, struct sim_err *e)
{
	size_t cap = t->cap;
	int rc;
#define X(type, name, units, doc)                                              \
	cap = t->cap;                                                          \
	if ((rc = SIM_RESERVE(&t->name, &cap, t->n + n, e)) < 0)               \
		return rc;
	OBS_PROBE_COLUMNS(X)
#undef X
	t->cap = cap;
	return 0;
}

/* Of the rows from FIRST on keep those sent in [FROM, TO). */
static void keep(struct obs_probes *t, size_t first, sim_ns from, sim_ns to)
{
	size_t n = first;
	for (size_t i = first; i < t->n; i++) {
		if (t->sent_ns[i] < from || t->sent_ns[i] >= to)
			continue;
#define X(type, name, units, doc) t->name[n] = t->name[i];
		OBS_PROBE_COLUMNS(X)
#undef X
		n++;
	}
	t->n = n;
}

static int read_chunk(struct probes_in *p, size_t chunk, sim_ns from, sim_ns to,
    struct obs_probes *t, struct sim_err *e)
{
	const uint64_t first = (uint64_t)chunk * RES_RECORDING_CHUNK;
	const size_t n = p->n - first < RES_RECORDING_CHUNK
	    ? (size_t)(p->n - first)
	    : RES_RECORDING_CHUNK;
	int rc = reserve(t, n, e);
	if (rc < 0)
		return rc;
#define X(type, name, units, doc) t->name + t->n,
	void *const column[] = {OBS_PROBE_COLUMNS(X)};
#undef X
	if ((rc = res_h5_in_read(p->rows, first, n, column, e)) < 0)
		return rc;
	const size_t before = t->n;
	t->n += n;
	const struct res_span *s = &p->spans.span[chunk];
	if (s->from < from || s->to >= to)
		keep(t, before, from, to);
	return 0;
}

static int read_probes(struct res_recording *r, struct probes_in *p,
    sim_ns from, sim_ns to, struct obs_probes *t, struct sim_err *e)
{
	int rc = 0;
	obs_probes_clear(t);
	memcpy(t->syn_wait_ns, r->info.syn_wait_ns, sizeof(t->syn_wait_ns));
	for (size_t i = 0; rc == 0 && i < p->spans.n; i++)
		if (p->spans.span[i].from < to && p->spans.span[i].to >= from)
			rc = read_chunk(p, i, from, to, t, e);
	if (rc == 0 && res_recording_check(&r->info, t, p == &r->vip, e) < 0)
		rc = SIM_EPARSE;
	return rc < 0 ? sim_wrap(e, rc, "cannot read %s", r->path) : 0;
}

int res_recording_probes(struct res_recording *r, sim_ns from, sim_ns to,
    struct obs_probes *t, struct sim_err *e)
{
	return read_probes(r, &r->probes, from, to, t, e);
}

int res_recording_vip_probes(struct res_recording *r, sim_ns from, sim_ns to,
    struct obs_probes *t, struct sim_err *e)
{
	return read_probes(r, &r->vip, from, to, t, e);
}

static int reserve_counters(struct obs_perf *t, size_t n, struct sim_err *e)
{
	size_t cap = t->cap;
	int rc;
#define X(type, name, units, doc)                                              \
	cap = t->cap;                                                          \
	if ((rc = SIM_RESERVE(&t->name, &cap, t->n + n, e)) < 0)               \
		return rc;
	OBS_PERF_COLUMNS(X)
#undef X
	t->cap = cap;
	return 0;
}

static void keep_counters(struct obs_perf *t, size_t first, sim_ns from,
    sim_ns to)
{
	size_t n = first;
	for (size_t i = first; i < t->n; i++) {
		if (t->end_ns[i] <= from || t->end_ns[i] > to)
			continue;
#define X(type, name, units, doc) t->name[n] = t->name[i];
		OBS_PERF_COLUMNS(X)
#undef X
		n++;
	}
	t->n = n;
}

static int read_counters(struct res_recording *r, uint64_t first, size_t n,
    sim_ns from, sim_ns to, struct obs_perf *t, struct sim_err *e)
{
	int rc = reserve_counters(t, n, e);
	if (rc < 0)
		return rc;
#define X(type, name, units, doc) t->name + t->n,
	void *const column[] = {OBS_PERF_COLUMNS(X)};
#undef X
	if ((rc = res_h5_in_read(r->counters, first, n, column, e)) < 0)
		return rc;
	t->n += n;
	keep_counters(t, t->n - n, from, to);
	return 0;
}

/* They need no index: a host has a row in five minutes. */
int res_recording_counters(struct res_recording *r, sim_ns from, sim_ns to,
    struct obs_perf *t, struct sim_err *e)
{
	const uint32_t n_hosts =
	    res_recording_first_host(&r->info, r->info.n_dcs);
	int rc = 0;
	obs_perf_clear(t);
	for (uint64_t i = 0; rc == 0 && i < r->n_counters;
	     i += RES_PERF_CHUNK) {
		const uint64_t left = r->n_counters - i;
		rc = read_counters(r, i,
		    left < RES_PERF_CHUNK ? (size_t)left : RES_PERF_CHUNK, from,
		    to, t, e);
	}
	if (rc == 0 && obs_perf_check(t, n_hosts, e) < 0)
		rc = SIM_EPARSE;
	return rc < 0 ? sim_wrap(e, rc, "cannot read %s", r->path) : 0;
}
