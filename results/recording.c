/* results/recording.c -- what the collector got, as one file: written.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reading is in recording_read.c.
 */
#include "results/recording.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "results/h5_table.h"
#include "results/provenance.h"
#include "results/recording_parts.h"
#include "sim/vec.h"
#include "topo/addr.h"

#define X(type, name, units, doc)                                              \
	{#name, RES_TYPE_OF(type), offsetof(struct obs_probe, name), units,    \
	    doc, NULL},
const struct res_column res_probe_columns[RES_N_PROBE_COLUMNS] = {
    OBS_PROBE_COLUMNS(X)};
#undef X
#define X(type, name, units, doc)                                              \
	{#name, RES_TYPE_OF(type), offsetof(struct obs_perf_row, name), units, \
	    doc, NULL},
const struct res_column res_perf_columns[RES_N_PERF_COLUMNS] = {
    OBS_PERF_COLUMNS(X)};
#undef X

const struct res_column res_index_columns[2] = {
    {"first_ns", RES_U64, offsetof(struct res_span, from), "ns",
	"least sent_ns of a chunk", NULL},
    {"last_ns", RES_U64, offsetof(struct res_span, to), "ns",
	"greatest sent_ns of it", NULL},
};
const struct res_column res_coverage_columns[2] = {
    {"from_ns", RES_U64, offsetof(struct res_span, from), "ns",
	"begin of a span in which the collector listened", NULL},
    {"to_ns", RES_U64, offsetof(struct res_span, to), "ns",
	"its end, which it does not include", NULL},
};

int res_spans_add(struct res_spans *s, sim_ns from, sim_ns to,
    struct sim_err *e)
{
	const int rc = SIM_RESERVE(&s->span, &s->cap, s->n + 1, e);
	if (rc == 0)
		s->span[s->n++] = (struct res_span){from, to};
	return rc;
}

int res_recording_shapes(struct res_recording_info *info, struct sim_err *e)
{
	uint64_t n_hosts = 0;
	int rc;
	if (info->n_dcs == 0 || info->n_dcs > RES_RECORDING_MAX_DCS)
		return sim_fail(e, SIM_EINVAL,
		    "%u data centres; there may be 1 to %d.", info->n_dcs,
		    RES_RECORDING_MAX_DCS);
	for (uint32_t i = 0; i < info->n_dcs; i++) {
		if ((rc = topo_clos_init(&info->shape[i], e)) < 0)
			return sim_wrap(e, rc, "data centre %u", i);
		n_hosts += info->shape[i].all_hosts;
	}
	return n_hosts <= TOPO_ADDR_MAX_HOSTS
	    ? 0
	    : sim_fail(e, SIM_EINVAL,
		  "%" PRIu64 " hosts; there may be %u in all.", n_hosts,
		  TOPO_ADDR_MAX_HOSTS);
}

uint32_t res_recording_first_host(const struct res_recording_info *info,
    uint32_t dc)
{
	uint32_t h = 0;
	for (uint32_t i = 0; i < dc; i++)
		h += info->shape[i].all_hosts;
	return h;
}

static uint32_t dc_of(const struct res_recording_info *info, uint32_t host)
{
	uint32_t dc = 0;
	while (dc < info->n_dcs && host >= info->shape[dc].all_hosts)
		host -= info->shape[dc++].all_hosts;
	return dc;
}

int res_recording_check(const struct res_recording_info *info,
    const struct obs_probes *t, int vip, struct sim_err *e)
{
	const uint32_t n_hosts = res_recording_first_host(info, info->n_dcs);
	int rc = obs_probes_check(t, n_hosts, e);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < t->n; i++) {
		if (vip &&
		    (t->level[i] != OBS_LEVEL_INTER_DC ||
			!topo_addr_is_vip(t->dst_host[i])))
			return sim_fail(e, SIM_EINVAL,
			    "probe %zu, of level %u, is to %u: no VIP.", i,
			    t->level[i], t->dst_host[i]);
		if (!vip && info->n_dcs > 1 &&
		    t->level[i] != OBS_LEVEL_INTER_DC &&
		    dc_of(info, t->src_host[i]) != dc_of(info, t->dst_host[i]))
			return sim_fail(e, SIM_EINVAL,
			    "probe %zu, of level %u, is from host %u to %u: "
			    "of another data centre.",
			    i, t->level[i], t->src_host[i], t->dst_host[i]);
		if (!vip && t->dst_host[i] >= n_hosts)
			return sim_fail(e, SIM_EINVAL,
			    "probe %zu is to host %u, but there are only %u "
			    "hosts.",
			    i, t->dst_host[i], n_hosts);
	}
	return 0;
}

/* --- the recorder ----------------------------------------------------------*/

/* A table of probes and the index that grows with it. */
struct probes_out {
	struct res_h5_table_out *rows, *index;
	struct res_spans spans; /* of its chunks */
	uint64_t n;
};

struct res_recorder {
	char *path;
	struct res_h5_out *file;
	struct res_recording_info info; /* without its texts */
	struct probes_out probes, vip;
	struct res_h5_table_out *counters, *coverage;
	struct res_spans covered;
	int failed;
};

static int put_info(struct res_h5_out *f, const struct res_recording_info *info,
    struct sim_err *e)
{
	uint64_t shape[RES_RECORDING_MAX_DCS * RES_SHAPE];
	for (uint32_t i = 0; i < info->n_dcs; i++) {
		const struct topo_clos *c = &info->shape[i];
		const uint64_t five[RES_SHAPE] = {c->n_pods, c->n_tors, c->n_t1,
		    c->n_t2, c->n_hosts};
		memcpy(&shape[i * RES_SHAPE], five, sizeof(five));
	}
	const struct {
		const char *name;
		uint64_t value;
	} count[] = {
	    {"recording_version", RES_RECORDING_VERSION},
	    {"seed", info->seed},
	    {"point", info->point},
	    {"run", info->run},
	    {"duration_ns", info->duration_ns},
	    {"n_dcs", info->n_dcs},
	};
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < sizeof(count) / sizeof(*count); i++)
		rc = res_h5_out_counts(f, count[i].name, 0, &count[i].value, e);
	if (rc < 0 ||
	    (rc = res_h5_out_counts(f, "syn_wait_ns", OBS_MAX_WAITS,
		 info->syn_wait_ns, e)) < 0 ||
	    (rc = res_h5_out_counts(f, "shapes", info->n_dcs * RES_SHAPE, shape,
		 e)) < 0 ||
	    (rc = res_h5_out_text(f, "spec", info->spec ? info->spec : "", e)) <
		0 ||
	    (rc = res_h5_out_text(f, "service",
		 info->service ? info->service : "", e)) < 0)
		return rc;
	return res_h5_out_text(f, "culprit",
	    info->culprit ? info->culprit : res_version(), e);
}

static int make_probes(struct res_h5_out *f, struct probes_out *p,
    const char *name, const char *index, struct sim_err *e)
{
	const int rc = res_h5_out_table(f, name, res_probe_columns,
	    RES_N_PROBE_COLUMNS, RES_RECORDING_CHUNK, &p->rows, e);
	return rc < 0 ? rc
		      : res_h5_out_table(f, index, res_index_columns, 2,
			    RES_SPAN_CHUNK, &p->index, e);
}

static int make_tables(struct res_recorder *w, struct sim_err *e)
{
	int rc;
	if ((rc = make_probes(w->file, &w->probes, "probes", "probes_index",
		 e)) < 0 ||
	    (rc = make_probes(w->file, &w->vip, "vip_probes",
		 "vip_probes_index", e)) < 0 ||
	    (rc = res_h5_out_table(w->file, "counters", res_perf_columns,
		 RES_N_PERF_COLUMNS, RES_PERF_CHUNK, &w->counters, e)) < 0)
		return rc;
	return res_h5_out_table(w->file, "coverage", res_coverage_columns, 2,
	    RES_SPAN_CHUNK, &w->coverage, e);
}

int res_recorder_open(struct res_recorder **out, const char *path,
    const struct res_recording_info *info, struct sim_err *e)
{
	struct res_recorder *w;
	int rc = SIM_ZALLOC(&w, 1, e);
	if (rc < 0)
		return rc;
	w->info = *info;
	if (!(w->path = strdup(path)))
		rc = sim_fail(e, SIM_ENOMEM, "no memory.");
	else if ((rc = res_recording_shapes(&w->info, e)) == 0 &&
	    (rc = res_h5_out_open(&w->file, path, e)) == 0 &&
	    (rc = put_info(w->file, &w->info, e)) == 0)
		rc = make_tables(w, e);
	w->info.spec = w->info.service = w->info.culprit = NULL;
	if (rc < 0) {
		res_recorder_discard(w);
		return sim_wrap(e, rc, "recording %s", path);
	}
	*out = w;
	return 0;
}

/* Let the index know of what is about to be appended. */
static int index_rows(struct probes_out *p, const struct obs_probes *t,
    struct sim_err *e)
{
	for (size_t i = 0; i < t->n; i++) {
		const sim_ns at = t->sent_ns[i];
		if (p->n++ % RES_RECORDING_CHUNK == 0) {
			const int rc = res_spans_add(&p->spans, at, at, e);
			if (rc < 0)
				return rc;
			continue;
		}
		struct res_span *s = &p->spans.span[p->spans.n - 1];
		if (at < s->from)
			s->from = at;
		if (at > s->to)
			s->to = at;
	}
	return 0;
}

static int failed(struct res_recorder *w, int rc, struct sim_err *e)
{
	w->failed |= rc < 0;
	return rc < 0 ? sim_wrap(e, rc, "recording %s", w->path) : 0;
}

static int add_probes(struct res_recorder *w, struct probes_out *p,
    const struct obs_probes *t, struct sim_err *e)
{
#define X(type, name, units, doc) t->name,
	const void *const column[] = {OBS_PROBE_COLUMNS(X)};
#undef X
	int rc = res_recording_check(&w->info, t, p == &w->vip, e);
	if (rc == 0 && (rc = index_rows(p, t, e)) == 0)
		rc = res_h5_out_columns(p->rows, column, t->n, e);
	return failed(w, rc, e);
}

int res_recorder_probes(struct res_recorder *w, const struct obs_probes *t,
    struct sim_err *e)
{
	return add_probes(w, &w->probes, t, e);
}

int res_recorder_vip_probes(struct res_recorder *w, const struct obs_probes *t,
    struct sim_err *e)
{
	return add_probes(w, &w->vip, t, e);
}

int res_recorder_counters(struct res_recorder *w, const struct obs_perf *t,
    struct sim_err *e)
{
#define X(type, name, units, doc) t->name,
	const void *const column[] = {OBS_PERF_COLUMNS(X)};
#undef X
	const uint32_t n_hosts =
	    res_recording_first_host(&w->info, w->info.n_dcs);
	int rc = obs_perf_check(t, n_hosts, e);
	if (rc == 0)
		rc = res_h5_out_columns(w->counters, column, t->n, e);
	return failed(w, rc, e);
}

int res_recorder_covers(struct res_recorder *w, sim_ns from, sim_ns to,
    struct sim_err *e)
{
	struct res_spans *s = &w->covered;
	struct res_span *last = s->n > 0 ? &s->span[s->n - 1] : NULL;
	if (from >= to || (last && from < last->to))
		return sim_fail(e, SIM_EINVAL,
		    "[%" PRIu64 ", %" PRIu64 ") ns cannot be covered %s.", from,
		    to,
		    from >= to ? "since it is empty" : "after what ends later");
	if (!last || from > last->to)
		return failed(w, res_spans_add(s, from, to, e), e);
	last->to = to;
	return 0;
}

static int put_spans(struct res_h5_table_out *t, const struct res_spans *s,
    struct sim_err *e)
{
	return res_h5_out_rows(t, s->span, sizeof(s->span[0]), s->n, e);
}

int res_recorder_finish(struct res_recorder *w, struct sim_err *e)
{
	int rc = 0;
	if (w->failed)
		rc = sim_fail(e, SIM_EIO,
		    "recording %s: an earlier part could "
		    "not be written.",
		    w->path);
	else if ((rc = put_spans(w->probes.index, &w->probes.spans, e)) < 0 ||
	    (rc = put_spans(w->vip.index, &w->vip.spans, e)) < 0 ||
	    (rc = put_spans(w->coverage, &w->covered, e)) < 0)
		sim_wrap(e, rc, "recording %s", w->path);
	else {
		struct res_h5_out *file = w->file;
		w->file = NULL;
		rc = res_h5_out_finish(file, e);
	}
	res_recorder_discard(w);
	return rc;
}

void res_recorder_discard(struct res_recorder *w)
{
	if (!w)
		return;
	res_h5_out_discard(w->file);
	free(w->probes.spans.span);
	free(w->vip.spans.span);
	free(w->covered.span);
	free(w->path);
	free(w);
}
