/* results/traces_read.c -- files of traces read by time, trusting nothing in them.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "results/traces_parts.h"
#include "sim/text.h"
#include "sim/vec.h"

struct res_traces {
	char *path;
	struct res_h5_in *file;
	struct res_traces_info info;
	char *spec, *culprit;
	struct res_series_in series[RES_TRACES_N_SERIES];
	struct res_h5_table_in *hops;
	uint64_t n_hops;

	/* A chunk of traces, all their hops, and those of one as structs. */
	struct algo_traces part;
	struct algo_hops part_hops;
	struct algo_hop *hop;
	size_t cap_hop;
};

/* --- opening ---------------------------------------------------------------*/

static int traces_get_counts(struct res_traces *r, struct sim_err *e)
{
	struct res_traces_info *x = &r->info;
	uint64_t knows_hash;
	const struct {
		const char *name;
		uint32_t *to;
	} count[] = {
	    {"point", &x->point},
	    {"run", &x->run},
	    {"n_hosts", &x->n_hosts},
	    {"n_switches", &x->n_switches},
	    {"n_links", &x->n_links},
	    {"ecmp_seed", &x->ecmp_seed},
	};
	int rc = 0;
	for (size_t i = 0; i < sizeof(count) / sizeof(*count); i++) {
		uint64_t value;
		rc = res_h5_in_counts(r->file, count[i].name, 1, &value, e);
		if (rc < 0)
			return rc;
		if (value > UINT32_MAX)
			return sim_fail(e, SIM_EPARSE,
			    "%s %" PRIu64 " is too large.", count[i].name,
			    value);
		*count[i].to = (uint32_t)value;
	}
	if ((rc = res_h5_in_counts(r->file, "seed", 1, &x->seed, e)) < 0 ||
	    (rc = res_h5_in_counts(r->file, "end_ns", 1, &x->end_ns, e)) < 0)
		return rc;
	rc = res_h5_in_counts(r->file, "knows_hash", 1, &knows_hash, e);
	x->knows_hash = rc == 0 && knows_hash != 0;
	return rc;
}

static int traces_get_info(struct res_traces *r, struct sim_err *e)
{
	uint64_t version;
	int rc = res_h5_in_counts(r->file, "traces_version", 1, &version, e);
	if (rc < 0)
		return sim_wrap(e, rc, "it is no file of traces");
	/* The version is looked at first: with another one all else may
	 * differ. */
	if (version != RES_TRACES_VERSION)
		return sim_fail(e, SIM_EMISMATCH,
		    "it has traces version %" PRIu64 "; this culprit reads %d.",
		    version, RES_TRACES_VERSION);
	if ((rc = res_h5_in_text(r->file, "spec", &r->spec, e)) < 0 ||
	    (rc = res_h5_in_text(r->file, "culprit", &r->culprit, e)) < 0)
		return rc;
	/* The texts are R's; info lends them out. */
	r->info.spec = r->spec;
	r->info.culprit = r->culprit;
	return traces_get_counts(r, e);
}

static int traces_get_tables(struct res_traces *r, struct sim_err *e)
{
	const struct sim_table *hops = algo_hops_kind();
	int rc = 0;
	for (unsigned i = 0; rc == 0 && i < RES_TRACES_N_SERIES; i++)
		rc = res_series_open(&r->series[i], &res_traces_series[i],
		    r->file, e);
	return rc < 0 ? rc
		      : res_h5_in_table(r->file, "hops", hops->column,
			    hops->n_columns, &r->hops, &r->n_hops, e);
}

int res_traces_open(struct res_traces **out, const char *path,
    struct sim_err *e)
{
	struct res_traces *r;
	int rc = SIM_ZALLOC(&r, 1, e);
	if (rc < 0)
		return rc;
	if ((rc = sim_dup(&r->path, path, e)) == 0 &&
	    (rc = res_h5_in_open(&r->file, path, e)) == 0 &&
	    ((rc = traces_get_info(r, e)) < 0 ||
		(rc = traces_get_tables(r, e)) < 0))
		sim_wrap(e, rc, "cannot read %s", path);
	if (rc < 0) {
		res_traces_close(r);
		return rc;
	}
	*out = r;
	return 0;
}

void res_traces_close(struct res_traces *r)
{
	if (!r)
		return;
	res_h5_in_close(r->file);
	for (unsigned i = 0; i < RES_TRACES_N_SERIES; i++)
		res_series_in_free(&r->series[i]);
	algo_traces_free(&r->part);
	algo_hops_free(&r->part_hops);
	free(r->hop);
	free(r->spec);
	free(r->culprit);
	free(r->path);
	free(r);
}

const struct res_traces_info *res_traces_info(const struct res_traces *r)
{
	return &r->info;
}

uint64_t res_traces_n(const struct res_traces *r)
{
	return r->series[RES_TRACES_traces].n;
}

/* --- traces ----------------------------------------------------------------*/

/* What was written passed the same checks, but the file may have been made by
 * another program. */
static int traces_bad_row(int rc)
{
	return rc == SIM_EINVAL ? SIM_EPARSE : rc;
}

static int traces_damaged(const struct res_traces *r, int rc, struct sim_err *e)
{
	return rc < 0 ? sim_wrap(e, rc, "cannot read %s", r->path) : 0;
}

/* Hops of a trace stand together and traces' in order, so those of the part are
 * one span of rows. */
static int traces_hop_span(const struct res_traces *r, uint64_t first,
    uint64_t *off, uint64_t *n, struct sim_err *e)
{
	const struct algo_traces *p = &r->part;
	*off = p->n > 0 ? p->hop_off[0] : 0;
	*n = 0;
	for (size_t i = 0; i < p->n; i++) {
		if (*off > r->n_hops || p->hop_off[i] != *off + *n ||
		    p->n_hops[i] > r->n_hops - *off - *n)
			return sim_fail(e, SIM_EPARSE,
			    "trace %" PRIu64 " has %u hops from %" PRIu64
			    " on, of %" PRIu64 ".",
			    first + i, p->n_hops[i], p->hop_off[i], r->n_hops);
		*n += p->n_hops[i];
	}
	return 0;
}

/* Read traces FIRST .. FIRST + N - 1 with their hops into the part. */
static int traces_read_part(struct res_traces *r, uint64_t first, size_t n,
    struct sim_err *e)
{
	uint64_t off = 0, n_hops = 0;
	algo_traces_clear(&r->part);
	algo_hops_clear(&r->part_hops);
	int rc = res_h5_in_append(r->series[RES_TRACES_traces].rows, first, n,
	    algo_traces_kind(), &r->part, e);
	if (rc == 0)
		rc = traces_hop_span(r, first, &off, &n_hops, e);
	return rc < 0 ? rc
		      : res_h5_in_append(r->hops, off, (size_t)n_hops,
			    algo_hops_kind(), &r->part_hops, e);
}

/* Give those of the part to TAKE whose times are in [FROM, TO). */
static int traces_give_part(struct res_traces *r, uint64_t first, sim_ns from,
    sim_ns to, res_traces_taker *take, void *arg, struct sim_err *e)
{
	size_t at = 0;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < r->part.n; i++) {
		const struct algo_trace t = algo_traces_at(&r->part, i);
		const size_t off = at;
		at += t.n_hops;
		if (t.t_ns < from || t.t_ns >= to)
			continue;
		/* One at least, so that there is an address to lend. */
		if ((rc = SIM_RESERVE(&r->hop, &r->cap_hop, t.n_hops + 1u, e)) <
		    0)
			break;
		for (size_t k = 0; k < t.n_hops; k++)
			r->hop[k] = algo_hops_at(&r->part_hops, off + k);
		rc = traces_bad_row(
		    res_traces_check(&r->info, first + i, &t, r->hop, e));
		if (rc < 0)
			return traces_damaged(r, rc, e);
		rc = take(arg, first + i, &t, r->hop, e);
	}
	return rc;
}

static int traces_give(struct res_traces *r, uint64_t first, size_t n,
    sim_ns from, sim_ns to, res_traces_taker *take, void *arg,
    struct sim_err *e)
{
	const int rc = traces_read_part(r, first, n, e);
	return rc < 0 ? traces_damaged(r, rc, e)
		      : traces_give_part(r, first, from, to, take, arg, e);
}

int res_traces_each(struct res_traces *r, sim_ns from, sim_ns to,
    res_traces_taker *take, void *arg, struct sim_err *e)
{
	const struct res_series_in *s = &r->series[RES_TRACES_traces];
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < s->spans.n; i++) {
		const uint64_t first = (uint64_t)i * RES_TRACES_CHUNK;
		const uint64_t left = s->n - first;
		if (s->spans.first_ns[i] >= to || s->spans.last_ns[i] < from)
			continue;
		rc = traces_give(r, first,
		    left < RES_TRACES_CHUNK ? (size_t)left : RES_TRACES_CHUNK,
		    from, to, take, arg, e);
	}
	return rc < 0 ? rc : 0;
}

int res_traces_one(struct res_traces *r, uint64_t id, res_traces_taker *take,
    void *arg, struct sim_err *e)
{
	const uint64_t n = res_traces_n(r);
	if (id >= n)
		return sim_fail(e, SIM_ERANGE,
		    "%s has %" PRIu64 " traces, from 0 on; there is no %" PRIu64
		    ".",
		    r->path, n, id);
	const int rc = traces_give(r, id, 1, 0, SIM_NEVER, take, arg, e);
	return rc < 0 ? rc : 0;
}

static int traces_keep(void *arg, uint64_t id, const struct algo_trace *t,
    const struct algo_hop hop[], struct sim_err *e)
{
	struct algo_trace_store *s = arg;
	struct algo_trace row = *t;
	int rc = algo_hops_reserve(&s->hops, t->n_hops, e);
	(void)id;
	row.hop_off = s->hops.n;
	if (rc == 0)
		rc = algo_traces_add(&s->traces, &row, e);
	/* There is room for all, so none of them fails. */
	for (unsigned i = 0; rc == 0 && i < t->n_hops; i++)
		rc = algo_hops_add(&s->hops, &hop[i], e);
	return rc;
}

int res_traces_load(struct res_traces *r, sim_ns from, sim_ns to,
    struct algo_trace_store *s, struct sim_err *e)
{
	return res_traces_each(r, from, to, traces_keep, s, e);
}

/* --- the rest --------------------------------------------------------------*/

int res_traces_counters(struct res_traces *r, sim_ns from, sim_ns to,
    struct algo_counters *c, struct sim_err *e)
{
	size_t i = c->n;
	int rc =
	    res_series_get(&r->series[RES_TRACES_counters], from, to, c, e);
	for (; rc == 0 && i < c->n; i++) {
		const struct algo_counter row = algo_counters_at(c, i);
		rc = traces_bad_row(
		    res_traces_check_counter(&r->info, i, &row, e));
	}
	return traces_damaged(r, rc, e);
}

int res_traces_guided(struct res_traces *r, sim_ns from, sim_ns to,
    struct obs_guided *g, struct sim_err *e)
{
	size_t i = g->n;
	int rc = res_series_get(&r->series[RES_TRACES_guided], from, to, g, e);
	for (; rc == 0 && i < g->n; i++) {
		const struct obs_guided_probe row = obs_guided_at(g, i);
		rc = traces_bad_row(
		    res_traces_check_guided(&r->info, i, &row, e));
	}
	return traces_damaged(r, rc, e);
}

/* Cycles stand one after the other, as hops do. */
static int traces_check_findings(const struct res_traces *r,
    const struct res_findings *f, const struct res_cycles *cycle,
    struct sim_err *e)
{
	uint64_t at = 0;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < f->n; i++) {
		if (f->n_cycle[i] > RES_MAX_CYCLE || f->cycle_off[i] != at ||
		    f->n_cycle[i] > cycle->n - at)
			return sim_fail(e, SIM_EPARSE,
			    "finding %zu has a cycle of %u nodes from %" PRIu64
			    " on, of %zu.",
			    i, f->n_cycle[i], f->cycle_off[i], cycle->n);
		at += f->n_cycle[i];
		const struct algo_finding x = res_finding_at(f, cycle, i);
		rc = traces_bad_row(
		    res_traces_check_finding(&r->info, i, &x, e));
	}
	return rc;
}

int res_traces_findings(struct res_traces *r, struct res_findings *f,
    struct res_cycles *cycle, struct sim_err *e)
{
	res_findings_clear(f);
	res_cycles_clear(cycle);
	int rc =
	    res_series_all_rows(r->file, "findings", res_findings_kind(), f, e);
	if (rc == 0)
		rc = res_series_all_rows(r->file, "cycles", res_cycles_kind(),
		    cycle, e);
	if (rc == 0)
		rc = traces_check_findings(r, f, cycle, e);
	return traces_damaged(r, rc, e);
}

int res_traces_names(struct res_traces *r, struct res_counter_names *names,
    struct sim_err *e)
{
	const int rc = res_h5_in_has(r->file, "names", e);
	if (rc == 0)
		return 0;
	return traces_damaged(r,
	    rc < 0 ? rc
		   : res_series_all_rows(r->file, "names",
			 res_counter_names_kind(), names, e),
	    e);
}

struct algo_finding res_finding_at(const struct res_findings *f,
    const struct res_cycles *cycle, size_t i)
{
	const struct res_finding x = res_findings_at(f, i);
	struct algo_finding out = {
	    .cause = x.cause,
	    .link = x.link,
	    .node = x.node,
	    .score = x.score,
	    .rate = x.rate,
	    .lo = x.lo,
	    .hi = x.hi,
	    .excess_us = x.excess_us,
	    .from_ns = x.from_ns,
	    .to_ns = x.to_ns,
	    .persistent = x.persistent,
	    .intermittent = x.intermittent,
	    .n_cycle = x.n_cycle,
	    .value = {x.value_src_ip, x.value_dst_ip, x.value_src_port,
		x.value_dst_port, x.value_proto},
	    .mask = {x.mask_src_ip, x.mask_dst_ip, x.mask_src_port,
		x.mask_dst_port, x.mask_proto},
	};
	for (unsigned k = 0; k < x.n_cycle; k++)
		out.cycle[k] = cycle->node[x.cycle_off + k];
	return out;
}
