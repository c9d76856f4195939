/* results/traces.c -- what analyzers and debuggers made of copies: written.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reading is in traces_read.c.
 */
#include "results/traces.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/provenance.h"
#include "results/traces_parts.h"
#include "sim/text.h"
#include "sim/vec.h"
#include "topo/addr.h"

#define X(group, table, indexed, ends)                                         \
	{#group, indexed ? #group "_index" : NULL, RES_TRACES_CHUNK, ends,     \
	    table##_kind},
const struct res_series res_traces_series[] = {RES_TRACES_SERIES(X)};
#undef X

/* --- what may be in one ----------------------------------------------------*/

/* Ids of a kind are below this; none at all has TOPO_NONE. */
static uint32_t traces_limit(uint32_t n, uint32_t most)
{
	return n > 0 ? n : most;
}

static int traces_has_switch(const struct res_traces_info *x, uint32_t id)
{
	return id < traces_limit(x->n_switches, TOPO_ADDR_MAX_SWITCHES);
}

static int traces_has_link(const struct res_traces_info *x, uint32_t id)
{
	return id < traces_limit(x->n_links, TOPO_ADDR_MAX_LINKS);
}

static int traces_has_host(const struct res_traces_info *x, uint32_t id)
{
	return id < traces_limit(x->n_hosts, TOPO_ADDR_MAX_HOSTS);
}

static int traces_has_node(const struct res_traces_info *x, uint32_t id)
{
	return x->n_switches > 0
	    ? id < (uint64_t)x->n_hosts + x->n_switches
	    : id < TOPO_ADDR_MAX_HOSTS + TOPO_ADDR_MAX_SWITCHES;
}

/* Say what of row I of a kind cannot be. */
static int traces_odd(const char *kind, uint64_t i, const char *what,
    uint64_t value, struct sim_err *e)
{
	return sim_fail(e, SIM_EINVAL, "%s %" PRIu64 " has %s %" PRIu64 ".",
	    kind, i, what, value);
}

int res_traces_check(const struct res_traces_info *info, uint64_t i,
    const struct algo_trace *t, const struct algo_hop hop[], struct sim_err *e)
{
	if (t->kind >= OBS_N_COPY_KINDS)
		return traces_odd("trace", i, "kind", t->kind, e);
	if (t->marks >> ALGO_TRACE_N_MARKS)
		return traces_odd("trace", i, "marks", t->marks, e);
	if (t->last_node != TOPO_NONE && !traces_has_switch(info, t->last_node))
		return traces_odd("trace", i, "last_node", t->last_node, e);
	if (t->lost_link != TOPO_NONE && !traces_has_link(info, t->lost_link))
		return traces_odd("trace", i, "lost_link", t->lost_link, e);
	if (t->t_ns == SIM_NEVER || t->end_ns < t->t_ns)
		return traces_odd("trace", i,
		    "a last copy before the first, at", t->end_ns, e);
	for (unsigned k = 0; k < t->n_hops; k++) {
		const struct algo_hop *h = &hop[k];
		if (!traces_has_switch(info, h->node))
			return traces_odd("a hop of trace", i, "node", h->node,
			    e);
		if (h->in_link != TOPO_NONE &&
		    !traces_has_link(info, h->in_link))
			return traces_odd("a hop of trace", i, "in_link",
			    h->in_link, e);
		if (h->layer > OBS_MAX_OUTER)
			return traces_odd("a hop of trace", i, "layer",
			    h->layer, e);
	}
	return 0;
}

int res_traces_check_counter(const struct res_traces_info *info, uint64_t i,
    const struct algo_counter *c, struct sim_err *e)
{
	int has = 1, is_binned = 0;
	switch (c->kind) {
	case ALGO_COUNTER_LINK_LATENCY:
		is_binned = 1; /* fall through */
	case ALGO_COUNTER_LINK_PACKETS:
	case ALGO_COUNTER_LINK_BYTES:
	case ALGO_COUNTER_LINK_FLOWS:
		has = traces_has_link(info, c->id);
		break;
	case ALGO_COUNTER_MIRROR_SENT:
	case ALGO_COUNTER_MIRROR_LOST:
		has = traces_has_switch(info, c->id);
		break;
	case ALGO_COUNTER_MUX_LATENCY:
		is_binned = 1;
		has = traces_has_host(info, c->id);
		break;
	case ALGO_COUNTER_CUSTOM:
		break;
	default:
		return traces_odd("counter", i, "kind", c->kind, e);
	}
	if (!has)
		return traces_odd("counter", i, "id", c->id, e);
	if (is_binned && c->sub >= ALGO_LATENCY_BINS)
		return traces_odd("counter", i, "bin", c->sub, e);
	if (!isfinite(c->value))
		return sim_fail(e, SIM_EINVAL,
		    "counter %" PRIu64 " has no finite value.", i);
	return 0;
}

int res_traces_check_guided(const struct res_traces_info *info, uint64_t i,
    const struct obs_guided_probe *g, struct sim_err *e)
{
	const uint32_t via[OBS_MAX_VIA] = {g->via0, g->via1, g->via2};
	if (!traces_has_host(info, g->src_host))
		return traces_odd("guided probe", i, "src_host", g->src_host,
		    e);
	for (unsigned k = 0; k < OBS_MAX_VIA; k++)
		if (via[k] != TOPO_NONE && !traces_has_switch(info, via[k]))
			return traces_odd("guided probe", i, "via", via[k], e);
	return 0;
}

int res_traces_check_finding(const struct res_traces_info *info, uint64_t i,
    const struct algo_finding *f, struct sim_err *e)
{
	if ((unsigned)f->cause >= ALGO_N_CAUSES)
		return traces_odd("finding", i, "cause", f->cause, e);
	if (f->link != TOPO_NONE && !traces_has_link(info, f->link))
		return traces_odd("finding", i, "link", f->link, e);
	if (f->node != TOPO_NONE && !traces_has_node(info, f->node))
		return traces_odd("finding", i, "node", f->node, e);
	for (unsigned k = 0; k < f->n_cycle; k++)
		if (!traces_has_node(info, f->cycle[k]))
			return traces_odd("finding", i, "a cycle with node",
			    f->cycle[k], e);
	return 0;
}

/* --- writing ---------------------------------------------------------------*/

enum { TRACES_BATCH = 1024 };

_Static_assert(sizeof((struct algo_finding){0}.cycle) /
	    sizeof((struct algo_finding){0}.cycle[0]) ==
	RES_MAX_CYCLE,
    "a cycle that is read back fits");

struct res_traces_out {
	char *path;
	struct res_h5_out *file;
	struct res_traces_info info; /* its texts are gone: borrowed */
	struct res_series_out series[RES_TRACES_N_SERIES];
	struct res_h5_table_out *hops, *findings, *cycles, *names;
	/* Columns, with the words that numbers stand for. */
	struct sim_column col[RES_TRACES_N_SERIES + 1][RES_MAX_COLUMNS];
	struct algo_traces batch; /* not yet appended */
	uint64_t n_traces, n_hops, n_findings, n_cycles;
	int failed;
};

static int traces_table(struct res_traces_out *w, const char *name,
    const struct sim_table *kind, const struct sim_column col[],
    size_t chunk_rows, struct res_h5_table_out **t, struct sim_err *e)
{
	return res_h5_out_table(w->file, name, col ? col : kind->column,
	    kind->n_columns, chunk_rows, t, e);
}

/* Words hold no blanks in a file, so causes have the names of their constants. */
static const char *const traces_kinds[] = {
#define X(kind, name, text) name,
    OBS_COPY_KINDS(X)
#undef X
	NULL};
static const char *const traces_counter_kinds[] = {
#define X(kind, name, unit, text) name,
    ALGO_COUNTER_KINDS(X)
#undef X
	NULL};
static const char *const traces_causes[] = {
#define X(cause, word) #cause,
    ALGO_CAUSES(X)
#undef X
	NULL};

/* Copy the columns of KIND, and give WORDS to the one called NAME. */
static void traces_columns(struct sim_column col[],
    const struct sim_table *kind, const char *name, const char *const words[])
{
	memcpy(col, kind->column, kind->n_columns * sizeof(*col));
	for (size_t i = 0; i < kind->n_columns && words; i++)
		if (strcmp(col[i].name, name) == 0)
			col[i].words = words;
}

static int traces_put_info(struct res_h5_out *f,
    const struct res_traces_info *info, struct sim_err *e)
{
	const struct {
		const char *name;
		uint64_t value;
	} count[] = {
	    {"traces_version", RES_TRACES_VERSION},
	    {"seed", info->seed},
	    {"point", info->point},
	    {"run", info->run},
	    {"n_hosts", info->n_hosts},
	    {"n_switches", info->n_switches},
	    {"n_links", info->n_links},
	    {"ecmp_seed", info->ecmp_seed},
	    {"knows_hash", info->knows_hash},
	};
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < sizeof(count) / sizeof(*count); i++)
		rc = res_h5_out_counts(f, count[i].name, 0, &count[i].value, e);
	if (rc == 0)
		rc =
		    res_h5_out_text(f, "spec", info->spec ? info->spec : "", e);
	return rc < 0 ? rc
		      : res_h5_out_text(f, "culprit",
			    info->culprit ? info->culprit : res_version(), e);
}

/* All groups at once, also of tables that stay empty: a reader finds each. */
static int traces_make_tables(struct res_traces_out *w, struct sim_err *e)
{
	static const char *const *const words[RES_TRACES_N_SERIES] =
	    {[RES_TRACES_traces] = traces_kinds,
		[RES_TRACES_counters] = traces_counter_kinds};
	struct sim_column *findings = w->col[RES_TRACES_N_SERIES];
	int rc = 0;
	for (unsigned i = 0; rc == 0 && i < RES_TRACES_N_SERIES; i++) {
		const struct res_series *is = &res_traces_series[i];
		traces_columns(w->col[i], is->kind(), "kind", words[i]);
		rc =
		    res_series_create(&w->series[i], is, w->col[i], w->file, e);
	}
	traces_columns(findings, res_findings_kind(), "cause", traces_causes);
	if (rc == 0)
		rc = traces_table(w, "hops", algo_hops_kind(), NULL,
		    RES_HOPS_CHUNK, &w->hops, e);
	if (rc == 0)
		rc = traces_table(w, "findings", res_findings_kind(), findings,
		    256, &w->findings, e);
	if (rc == 0)
		rc = traces_table(w, "cycles", res_cycles_kind(), NULL, 1024,
		    &w->cycles, e);
	return rc < 0 ? rc
		      : traces_table(w, "names", res_counter_names_kind(), NULL,
			    64, &w->names, e);
}

int res_traces_create(struct res_traces_out **out, const char *path,
    const struct res_traces_info *info, struct sim_err *e)
{
	struct res_traces_out *w;
	int rc = SIM_ZALLOC(&w, 1, e);
	if (rc < 0)
		return rc;
	w->info = *info;
	if ((rc = sim_dup(&w->path, path, e)) == 0 &&
	    (rc = algo_traces_reserve(&w->batch, TRACES_BATCH, e)) == 0 &&
	    (rc = res_h5_out_open(&w->file, path, e)) == 0 &&
	    (rc = traces_put_info(w->file, info, e)) == 0)
		rc = traces_make_tables(w, e);
	w->info.spec = w->info.culprit = NULL;
	if (rc < 0) {
		res_traces_discard(w);
		return sim_wrap(e, rc, "traces %s", path);
	}
	*out = w;
	return 0;
}

/* Who has failed once can only finish, which fails, or discard: a part must not
 * pass for the whole. */
static int traces_failed(struct res_traces_out *w, int rc, struct sim_err *e)
{
	w->failed |= rc < 0;
	return rc < 0 ? sim_wrap(e, rc, "traces %s", w->path) : 0;
}

static int traces_flush(struct res_traces_out *w, struct sim_err *e)
{
	const int rc =
	    res_series_append(&w->series[RES_TRACES_traces], &w->batch, e);
	algo_traces_clear(&w->batch);
	return rc;
}

int res_traces_add(struct res_traces_out *w, const struct algo_trace *t,
    const struct algo_hop hop[], struct sim_err *e)
{
	struct algo_trace row = *t;
	row.hop_off = w->n_hops;
	int rc = res_traces_check(&w->info, w->n_traces, t, hop, e);
	if (rc == 0)
		rc = res_h5_out_rows(w->hops, hop, sizeof(*hop), t->n_hops, e);
	if (rc == 0)
		rc = algo_traces_add(&w->batch, &row, e);
	if (rc == 0 && w->batch.n == TRACES_BATCH)
		rc = traces_flush(w, e);
	w->n_traces++;
	w->n_hops += t->n_hops;
	return traces_failed(w, rc, e);
}

int res_traces_add_counters(struct res_traces_out *w,
    const struct algo_counters *c, struct sim_err *e)
{
	struct res_series_out *s = &w->series[RES_TRACES_counters];
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < c->n; i++) {
		const struct algo_counter row = algo_counters_at(c, i);
		rc = res_traces_check_counter(&w->info, s->n + i, &row, e);
	}
	if (rc == 0)
		rc = res_series_append(s, c, e);
	return traces_failed(w, rc, e);
}

int res_traces_add_guided(struct res_traces_out *w, const struct obs_guided *g,
    struct sim_err *e)
{
	struct res_series_out *s = &w->series[RES_TRACES_guided];
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < g->n; i++) {
		const struct obs_guided_probe row = obs_guided_at(g, i);
		rc = res_traces_check_guided(&w->info, s->n + i, &row, e);
	}
	if (rc == 0)
		rc = res_series_append(s, g, e);
	return traces_failed(w, rc, e);
}

static int traces_finding(struct res_traces_out *w, const char *debugger,
    const struct algo_finding *f, struct sim_err *e)
{
	struct res_finding row = {
	    .from_ns = f->from_ns,
	    .to_ns = f->to_ns,
	    .link = f->link,
	    .node = f->node,
	    .score = f->score,
	    .rate = f->rate,
	    .lo = f->lo,
	    .hi = f->hi,
	    .excess_us = f->excess_us,
	    .cycle_off = w->n_cycles,
	    .value_src_ip = f->value.src_ip,
	    .value_dst_ip = f->value.dst_ip,
	    .mask_src_ip = f->mask.src_ip,
	    .mask_dst_ip = f->mask.dst_ip,
	    .value_src_port = f->value.src_port,
	    .value_dst_port = f->value.dst_port,
	    .mask_src_port = f->mask.src_port,
	    .mask_dst_port = f->mask.dst_port,
	    .value_proto = f->value.proto,
	    .mask_proto = f->mask.proto,
	    .n_cycle = (uint8_t)f->n_cycle,
	    .cause = (uint8_t)f->cause,
	    .persistent = f->persistent,
	    .intermittent = f->intermittent,
	};
	snprintf(row.debugger.text, sizeof(row.debugger.text), "%s", debugger);
	if (f->n_cycle > RES_MAX_CYCLE)
		return traces_odd("finding", w->n_findings, "a cycle of",
		    f->n_cycle, e);
	int rc = res_traces_check_finding(&w->info, w->n_findings, f, e);
	for (unsigned i = 0; rc == 0 && i < f->n_cycle; i++) {
		const struct res_cycle c = {f->cycle[i]};
		rc = res_h5_out_rows(w->cycles, &c, sizeof(c), 1, e);
	}
	w->n_cycles += f->n_cycle;
	w->n_findings++;
	return rc < 0 ? rc
		      : res_h5_out_rows(w->findings, &row, sizeof(row), 1, e);
}

int res_traces_add_findings(struct res_traces_out *w, const char *debugger,
    const struct algo_finding f[], size_t n, struct sim_err *e)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = traces_finding(w, debugger, &f[i], e);
	return traces_failed(w, rc, e);
}

int res_traces_add_name(struct res_traces_out *w, uint32_t id, const char *name,
    struct sim_err *e)
{
	struct res_counter_name row = {.id = id};
	const size_t n = strlen(name);
	int rc = n > 0 && n < sizeof(row.name.text)
	    ? 0
	    : sim_fail(e, SIM_EINVAL, "a counter's name of %zu bytes.", n);
	if (rc == 0) {
		memcpy(row.name.text, name, n);
		rc = res_h5_out_rows(w->names, &row, sizeof(row), 1, e);
	}
	return traces_failed(w, rc, e);
}

static int traces_take(void *w, const struct algo_trace *t,
    const struct algo_hop hop[], struct sim_err *e)
{
	return res_traces_add(w, t, hop, e);
}

struct algo_trace_sink res_traces_sink(struct res_traces_out *w)
{
	return (struct algo_trace_sink){w, traces_take};
}

int res_traces_finish(struct res_traces_out *w, sim_ns end, struct sim_err *e)
{
	int rc = 0;
	if (w->failed)
		rc = sim_fail(e, SIM_EIO,
		    "traces %s: an earlier part could not be written.",
		    w->path);
	else if ((rc = traces_flush(w, e)) == 0)
		rc = res_h5_out_counts(w->file, "end_ns", 0, &end, e);
	for (unsigned i = 0; rc == 0 && i < RES_TRACES_N_SERIES; i++)
		rc = res_series_finish(&w->series[i], e);
	if (rc == 0) {
		/* It is closed by the call, also when that fails. */
		struct res_h5_out *file = w->file;
		w->file = NULL;
		rc = res_h5_out_finish(file, e);
	}
	res_traces_discard(w);
	return rc;
}

/* Also what is left to do after finishing, when the file is closed already. */
void res_traces_discard(struct res_traces_out *w)
{
	if (!w)
		return;
	res_h5_out_discard(w->file);
	for (unsigned i = 0; i < RES_TRACES_N_SERIES; i++)
		res_series_out_free(&w->series[i]);
	algo_traces_free(&w->batch);
	free(w->path);
	free(w);
}
