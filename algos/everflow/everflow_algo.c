/* algos/everflow/everflow_algo.c -- Everflow's debuggers as diagnosers.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/everflow/everflow_algo.h"

#include <stdlib.h>
#include <string.h>

#include "algos/everflow/analyzer.h"
#include "algos/everflow/debug_drop.h"
#include "algos/everflow/debug_latency.h"
#include "algos/everflow/debug_loop.h"
#include "models/obs_mirror.h"
#include "sim/sort.h"
#include "sim/vec.h"
#include "topo/next.h"

/* What all have, behind the parameters. */
struct everflow_work {
	const struct algo_debugger *debugger;
	const struct topo *topo;
	struct algo_trace_store store;
	struct algo_counters counters;
	struct algo_debug_out out;
	void *state;     /* of the debugger, zeroed for each window */
	uint8_t *listed; /* [n_links] in the verdict already */
};

struct latency_work {
	struct algo_debug_latency_params params;
	struct everflow_work w;
};
struct drop_work {
	struct algo_debug_drop_params params;
	struct everflow_work w;
};
struct loop_work {
	struct algo_debug_loop_params params;
	struct everflow_work w;
};

static int everflow_algo_open(struct everflow_work *w,
    const struct algo_debugger *d, const struct topo *t, struct sim_err *e)
{
	w->debugger = d;
	w->topo = t;
	const int rc = sim_zalloc(&w->state, 1, d->state_size, e);
	return rc < 0 ? rc : SIM_ZALLOC(&w->listed, t->n_links, e);
}

static void everflow_algo_free(struct everflow_work *w)
{
	algo_trace_store_free(&w->store);
	algo_counters_free(&w->counters);
	algo_debug_free(&w->out);
	free(w->state);
	free(w->listed);
}

static int everflow_keep(void *arg, const struct algo_trace *t,
    const struct algo_hop hop[], struct sim_err *e)
{
	return algo_trace_store_add(arg, t, hop, e);
}

/* An analyzer keeps what it saw last to tell what follows it, so each window has
 * one of its own. */
static int analyze(struct everflow_work *w, const struct algo_routing *r,
    const struct obs_mirror *copies, struct sim_err *e)
{
	const struct algo_trace_sink sink = {&w->store, everflow_keep};
	struct algo_analyzer_params p;
	struct algo_analyzer *a = NULL;
	int rc = sim_field_defaults(algo_analyzer_fields, &p, e);
	algo_trace_store_clear(&w->store);
	algo_counters_clear(&w->counters);
	if (rc == 0 && (rc = algo_analyzer_open(&a, r, &p, 0, e)) == 0 &&
	    (rc = algo_analyzer_feed(a, copies, 0, copies->n, &sink,
		 &w->counters, e)) == 0)
		rc = algo_analyzer_flush(a, SIM_NEVER, &sink, &w->counters, e);
	algo_analyzer_close(a);
	return rc;
}

/* --- verdicts ------------------------------------------------------------- */
static int list(struct everflow_work *w, struct algo_verdicts *v, topo_link l,
    double score, int flag, struct sim_err *e)
{
	if (l >= w->topo->n_links || w->listed[l])
		return 0;
	w->listed[l] = 1;
	const int rc = algo_verdicts_add(v, l, score, e);
	v->n_flagged += rc == 0 && flag;
	return rc;
}

static int list_cycle(struct everflow_work *w, const struct algo_routing *r,
    const struct algo_finding *f, struct algo_verdicts *v, struct sim_err *e)
{
	const topo_node dst = algo_routing_node(r, f->value.dst_ip);
	int rc = 0;
	for (unsigned i = 0; i < f->n_cycle && dst != TOPO_NONE && rc == 0;
	     i++) {
		const topo_node a = f->cycle[i];
		const topo_node b = f->cycle[(i + 1) % f->n_cycle];
		const topo_link l =
		    a == b ? TOPO_NONE : topo_link_between(w->topo, a, b);
		if (f->cause == ALGO_CAUSE_LOOP && l != TOPO_NONE &&
		    !topo_is_next(w->topo, l, dst))
			rc = list(w, v, l, f->score, 1, e);
	}
	return rc;
}

static int by_score(const void *a, const void *b)
{
	const struct algo_finding *x = a, *y = b;
	if (x->score != y->score)
		return SIM_ORDER(y->score, x->score);
	return SIM_ORDER(x->link, y->link);
}

static int flag_findings(struct everflow_work *w, const struct algo_routing *r,
    struct algo_verdicts *v, struct sim_err *e)
{
	struct algo_debug_out *o = &w->out;
	int rc = 0;
	if (o->n_findings > 0)
		qsort(o->finding, o->n_findings, sizeof(o->finding[0]),
		    by_score);
	memset(w->listed, 0, w->topo->n_links);
	v->flags = 1;
	for (size_t i = 0; i < o->n_findings && rc == 0; i++) {
		rc = list(w, v, o->finding[i].link, o->finding[i].score, 1, e);
		if (rc == 0)
			rc = list_cycle(w, r, &o->finding[i], v, e);
	}
	return rc;
}

/* Links that dropped something, behind those that are accused. */
static int list_dropped(struct everflow_work *w, struct algo_verdicts *v,
    struct sim_err *e)
{
	const struct algo_traces *t = &w->store.traces;
	uint32_t *n = NULL;
	int rc = SIM_ZALLOC(&n, 2 * (size_t)w->topo->n_links, e);
	for (size_t i = 0; rc == 0 && i < t->n; i++)
		if (t->marks[i] & ALGO_TRACE_DROPS &&
		    !(t->marks[i] & (ALGO_TRACE_REFUTED | ALGO_TRACE_PROBE)) &&
		    t->lost_link[i] < w->topo->n_links)
			n[2 * (size_t)t->lost_link[i] +
			    !(t->marks[i] & ALGO_TRACE_CONFIRMED)]++;
	for (topo_link l = 0; rc == 0 && l < w->topo->n_links; l++)
		if (n[2 * (size_t)l] + n[2 * (size_t)l + 1] > 0)
			rc = list(w, v, l,
			    1e-3 * n[2 * (size_t)l] +
				1e-6 * n[2 * (size_t)l + 1],
			    0, e);
	free(n);
	return rc;
}

static int blame_flows(const struct obs *window, struct algo_verdicts *v,
    struct sim_err *e)
{
	const struct obs_flows *f = &window->flows;
	const int rc = algo_verdicts_reserve_flows(v, f->n, e);
	/* Flagged links stand by descending score. */
	for (size_t i = 0; rc == 0 && i < f->n; i++) {
		if (f->n_retx[i] == 0 || !window->hops.off)
			continue;
		for (size_t k = 0; k < v->n_flagged && v->blame[i] == TOPO_NONE;
		     k++)
			for (unsigned h = 0; h < obs_n_hops(window, i); h++)
				if (obs_path(window, i)[h] == v->link[k])
					v->blame[i] = v->link[k];
	}
	return rc;
}

static int everflow_algo_diagnose(struct everflow_work *w, const void *params,
    const struct obs *window, struct algo_verdicts *out, struct sim_err *e)
{
	const struct algo_routing routing = {w->topo, window->ecmp_seed,
	    window->knows_hash};
	/* A window in which nothing was mirrored accuses nobody. */
	static const struct obs_mirror none;
	const struct obs_mirror *copies =
	    window->mirror ? window->mirror : &none;
	const struct algo_debug_in in = {.routing = routing,
	    .traces = &w->store,
	    .counters = &w->counters,
	    .sent = window->guided,
	    .now = SIM_NEVER};
	algo_verdicts_clear(out);
	algo_debug_clear(&w->out);
	memset(w->state, 0, w->debugger->state_size);
	int rc = analyze(w, &routing, copies, e);
	if (rc == 0)
		rc = w->debugger->step(w->state, params, &in, &w->out, e);
	if (rc == 0)
		rc = flag_findings(w, &routing, out, e);
	if (rc == 0 && w->debugger == &algo_debug_drop)
		rc = list_dropped(w, out, e);
	return rc < 0 ? rc : blame_flows(window, out, e);
}

/* --- the three ------------------------------------------------------------ */
#define EVERFLOW_OPS(which, text)                                              \
	static int which##_open(void *work, const struct topo *t,              \
	    struct sim_err *e)                                                 \
	{                                                                      \
		return everflow_algo_open(&((struct which##_work *)work)->w,   \
		    &algo_debug_##which, t, e);                                \
	}                                                                      \
	static int which##_diagnose(void *work, const struct obs *window,      \
	    struct sim_rng *tie, struct algo_verdicts *out, struct sim_err *e) \
	{                                                                      \
		struct which##_work *w = work;                                 \
		(void)tie;                                                     \
		return everflow_algo_diagnose(&w->w, &w->params, window, out,  \
		    e);                                                        \
	}                                                                      \
	static void which##_close(void *work)                                  \
	{                                                                      \
		everflow_algo_free(&((struct which##_work *)work)->w);         \
	}                                                                      \
	const struct algo_ops algo_everflow_##which##_ops = {                  \
	    .name = "everflow_" #which,                                        \
	    .paper = "Everflow (SIGCOMM'15)",                                  \
	    .doc = text,                                                       \
	    .needs = OBS_MIRROR,                                               \
	    .params = algo_debug_##which##_fields,                             \
	    .params_size = sizeof(struct algo_debug_##which##_params),         \
	    .work_size = sizeof(struct which##_work),                          \
	    .init = which##_open,                                              \
	    .diagnose = which##_diagnose,                                      \
	    .free = which##_close,                                             \
	};
EVERFLOW_OPS(latency, "links whose guided probes are slower than others")
EVERFLOW_OPS(drop, "links that lose traces, or guided probes")
EVERFLOW_OPS(loop, "links by which traces go round")
