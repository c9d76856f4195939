/* experiments/telemetry/plane.c -- plane telemetry: flows as sums, and probes.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdlib.h>

#include "experiments/spec/config.h"
#include "experiments/spec/plane.h"
#include "experiments/telemetry/cost.h"
#include "experiments/telemetry/early.h"
#include "experiments/telemetry/limit.h"
#include "models/telemetry/telemetry.h"
#include "results/score.h"
#include "sim/vec.h"
#include "topo/swap.h"

/* --- the section ---------------------------------------------------------- */

struct telemetry_section {
	struct telemetry_params epoch;
	struct xp_telemetry_cost cost;
	struct xp_limit_params limit;
	struct xp_early_params early;
	uint32_t swaps, swap_seed;
};

#define SECTION(m) offsetof(struct telemetry_section, m)
static const struct sim_field telemetry_file_fields[] = {
    {"swaps", SIM_F_U32, SECTION(swaps), .min = 0, .max = 1000, .unit = "pairs",
	.def = "0",
	.doc = "of cables that are swapped in the file of the network by which "
	       "rows are told and algorithms work; 0: it is right"},
    {"seed", SIM_F_U32, SECTION(swap_seed), .min = 0, .max = UINT32_MAX,
	.def = "1", .doc = "of which: all runs have one file",
	.when = "swaps!=0"},
    {0},
};

static const char *const telemetry_costs[] = {"on", "trace_probes",
    "probe_bytes", "answer_bytes", "send_us", "retx_us", "answer_us", NULL};

static const struct sim_part telemetry_parts[] =
    {{"", telemetry_fields,
	 .offset = offsetof(struct telemetry_section, epoch)},
	{"file", telemetry_file_fields, .offset = 0},
	{"tracing", telemetry_tracing_fields,
	    .offset = offsetof(struct telemetry_section, epoch.trace)},
	{"cost", xp_cost_fields,
	    .offset = offsetof(struct telemetry_section, cost.each),
	    .only = telemetry_costs},
	{"wire", xp_telemetry_wire_fields,
	    .offset = offsetof(struct telemetry_section, cost)},
	{"limit", xp_limit_fields,
	    .offset = offsetof(struct telemetry_section, limit)},
	{"early", xp_early_fields,
	    .offset = offsetof(struct telemetry_section, early)},
	{0}};

static int telemetry_section_read(struct sim_yaml *y,
    const struct sim_yaml_node *node, const struct topo *t, void *params,
    struct sim_err *e)
{
	struct telemetry_section *p = params;
	const size_t had = y->n_mistakes;
	(void)t;
	const int rc = sim_parts_read(y, "telemetry", telemetry_parts, p, e);
	p->epoch.window_s = p->cost.window;
	if (rc < 0 || y->n_mistakes > had || !node)
		return rc;
	return p->epoch.kinds
	    ? 0
	    : sim_yaml_mistake(y, node, "kinds must not be empty.");
}

static const struct xp_section telemetry_section = {"telemetry",
    sizeof(struct telemetry_section), telemetry_section_read, NULL,
    telemetry_parts,
    .example = "plane: telemetry\n"
	       "topology: { kind: fat_tree, k: 4, oversub: 3 }\n"
	       "noise: { rate: {uniform: [0, 1e-4]} }\n"
	       "faults: { count: 2, rate: {uniform: [0.002, 0.02]}, pick: "
	       "link }\n"
	       "telemetry: { kinds: [a1, a2, p], flows: 100 }\n"};

static const struct telemetry_section *telemetry_of(const struct xp_config *c)
{
	return xp_section_of(c, &telemetry_section);
}

static unsigned telemetry_plane_holds(const struct xp_config *c)
{
	return telemetry_holds(telemetry_of(c)->epoch.kinds);
}

/* --- what specs ask in vain ----------------------------------------------- */

enum {
	TELEMETRY_FAULTS =
	    FAULT_BIT(DROP) | FAULT_BIT(BLACK_HOLE_1) | FAULT_BIT(BLACK_HOLE_2)
};

static int telemetry_check_group(struct sim_yaml *y,
    const struct fault_params *g, const struct sim_yaml_node *node, int times)
{
	/* Told for all planes that have no such faults. */
	if (FAULT_SOME_PLANES & 1u << g->kind)
		return 0;
	/* So is that it needs times. */
	if (!times && g->kind == FAULT_LATENCY)
		return 0;
	if (times && g->kind != FAULT_LATENCY)
		return sim_yaml_mistake(y, node,
		    "on plane telemetry rows tell times with "
		    "latency.report_over, and of faults only those of kind "
		    "latency.");
	if (!times && !(TELEMETRY_FAULTS & 1u << g->kind))
		return sim_yaml_mistake(y, node,
		    "on plane telemetry links and switches drop (kind drop) or "
		    "are slow (latency), or switches are black holes; nothing "
		    "else fails.");
	return 0;
}

static struct xp_end telemetry_plane_end(const struct xp_config *c)
{
	return (struct xp_end){telemetry_of(c)->epoch.window_s,
	    "telemetry.wire.window", 1};
}

/* The wrong file is named by its own seed, so that it stays the same in a sweep, as
 * a file does. */
static int telemetry_swap(struct topo *file, const struct topo *t,
    const struct telemetry_section *p, struct sim_err *e)
{
	const struct sim_seed where = {.seed = p->swap_seed};
	struct sim_rng r;
	sim_rng_init(&r, &where, SIM_STREAM_TELEMETRY, 7);
	return topo_swap(file, t, p->swaps, &r, e);
}

static int telemetry_check_file(struct sim_yaml *y, const struct topo *t,
    const struct telemetry_section *p, struct sim_err *e)
{
	struct topo file;
	struct sim_err why;
	const int rc = telemetry_swap(&file, t, p, &why);
	topo_close(&file);
	return xp_take_mistake(y,
	    sim_yaml_get(sim_yaml_get(y->root, "telemetry"), "file"), rc, &why,
	    e);
}

static int telemetry_check(struct sim_yaml *y, const struct topo *t,
    const struct xp_config *c, struct sim_err *e)
{
	const struct sim_yaml_node *faults = sim_yaml_get(y->root, "faults"),
				   *noise = sim_yaml_get(y->root, "noise");
	const int times = c->scene.latency.report_us > 0;
	int rc = 0;
	(void)t;
	(void)e;
	for (size_t i = 0; rc == 0 && faults && i < c->scene.n_groups; i++)
		rc = telemetry_check_group(y, &c->scene.group[i],
		    faults->kind == SIM_YAML_SEQ ? faults->child[i] : faults,
		    times);
	if (rc == 0 && times && noise)
		rc = sim_yaml_mistake(y, noise,
		    "on plane telemetry rows tell times with "
		    "latency.report_over, and no losses that noise makes.");
	if (rc == 0 && t && telemetry_of(c)->swaps > 0)
		rc = telemetry_check_file(y, t, telemetry_of(c), e);
	if (rc == 0 && c->scene.noise.per != SCENE_NOISE_PER_LINK)
		rc = sim_yaml_mistake(y, sim_yaml_get(y->root, "noise"),
		    "on plane telemetry noise is of links (per: link).");
	return rc;
}

/* --- a run ---------------------------------------------------------------- */

struct telemetry_plane {
	const struct telemetry_section *params;
	const struct scene_params *scene; /* as the spec has them */
	struct telemetry model;
	struct topo file; /* with swapped cables */
	struct xp_limit limit;
	struct xp_early early;
	double *report; /* [hosts] bytes that each reports */
	struct obs window;
	struct losses lost;
};

static void telemetry_plane_close(void *p)
{
	struct telemetry_plane *x = p;
	if (!x)
		return;
	telemetry_free(&x->model);
	topo_close(&x->file);
	xp_limit_free(&x->limit);
	xp_early_free(&x->early);
	obs_free(&x->window);
	losses_free(&x->lost);
	free(x->report);
	free(x);
}

static const struct topo *telemetry_plane_told(const void *p)
{
	const struct telemetry_plane *x = p;
	return x->model.file;
}

static int telemetry_plane_open(void **p, const struct topo *t,
    const struct xp_config *c, struct sim_err *e)
{
	struct telemetry_plane *x = NULL;
	int rc = SIM_ZALLOC(&x, 1, e);
	*p = x;
	if (rc < 0)
		return rc;
	x->params = telemetry_of(c);
	x->scene = &c->scene;
	if (x->params->swaps > 0 &&
	    (rc = telemetry_swap(&x->file, t, x->params, e)) < 0)
		return sim_wrap(e, rc, "telemetry.file");
	x->model.file = x->params->swaps > 0 ? &x->file : NULL;
	return x->params->cost.each.on ? SIM_ZALLOC(&x->report, t->n_hosts, e)
				       : 0;
}

/* Metrics of agents, where paths may not be told. */
static void telemetry_fill_traces(const struct telemetry_plane *x,
    struct res_trial_metrics *m)
{
	const struct telemetry_params *p = &x->params->epoch;
	const struct telemetry_traces *t = &x->model.traces;
	if (!telemetry_traces_thin(&p->trace) || !(p->kinds & OBS_TELE_A2))
		return;
	m->n_traced = (double)t->n_begun;
	m->n_full_traces = (double)t->n_whole;
	m->n_partial_traces = (double)(t->n_begun - t->n_whole);
	m->n_icmp_sent = (double)t->n_sent;
	m->n_icmp_suppressed = (double)t->n_kept;
}

static int telemetry_fill_early(struct telemetry_plane *x,
    const struct scene *scene, struct sim_err *e)
{
	const struct telemetry_section *p = x->params;
	struct sim_rng r;
	sim_rng_init(&r, &scene->where, SIM_STREAM_TELEMETRY, 8);
	return xp_early_fill(&x->early, &p->early, &x->window,
	    p->epoch.window_s * 1e9,
	    x->model.links.some_move || telemetry_traces_timed(&p->epoch.trace),
	    &r, e);
}

static int telemetry_plane_again(void *p, const struct xp_listener *to,
    struct sim_err *e)
{
	const struct telemetry_plane *x = p;
	const struct xp_window all = {.seen = &x->window,
	    .lost = &x->lost,
	    .n_rows = 1,
	    .n_early = x->params->early.halvings,
	    .early = x->early.view,
	    .early_share = x->early.share,
	    .after_s = NAN};
	return to->hear ? to->hear(to->arg, &all, e) : 0;
}

static int telemetry_plane_run(void *p, struct scene *scene,
    const struct xp_listener *to, struct res_trial_metrics row[],
    struct sim_err *e)
{
	struct telemetry_plane *x = p;
	int rc = telemetry_draw(&x->model, &x->params->epoch, scene, &x->window,
	    &x->lost, e);
	if (rc < 0)
		return rc;
	res_score_trial(&x->window, &scene->truth, &x->lost, &row[0]);
	telemetry_fill_traces(x, &row[0]);
	if (x->params->cost.each.on)
		xp_telemetry_cost_fill(&x->params->cost, scene->topo, &x->model,
		    x->report, &row[0]);
	if (x->params->limit.on &&
	    (rc = xp_limit_fill(&x->limit, &x->model, scene, x->scene, &row[0],
		 e)) < 0)
		return rc;
	if (to->hear && x->params->early.halvings > 0 &&
	    (rc = telemetry_fill_early(x, scene, e)) < 0)
		return rc;
	return telemetry_plane_again(x, to, e);
}

/* Only what lost something is a flow with hops; all others are sums. */
static int telemetry_plane_flows(void *p, const struct scene *scene,
    const struct xp_flow_listener *to, int *all, struct sim_err *e)
{
	const struct telemetry_plane *x = p;
	(void)scene;
	*all = 0;
	return to->hear(to->arg, &x->window, &x->lost, e);
}

static void telemetry_plane_print(const void *p,
    const struct res_trial_metrics row[], FILE *out)
{
	const struct telemetry_plane *x = p;
	fprintf(out,
	    "%.0f flows, of which %.0f lost %.0f packets; %zu rows over %zu "
	    "sets of %zu paths\n",
	    row[0].n_flows, row[0].n_failed_flows, row[0].n_drops,
	    x->model.rows.n, x->model.paths.n_sets, x->model.paths.n);
	if (!isnan(row[0].n_traced))
		fprintf(out,
		    "%.0f flows were traced, %.0f of them whole; switches kept "
		    "back %.0f answers\n",
		    row[0].n_traced, row[0].n_full_traces,
		    row[0].n_icmp_suppressed);
}

/* Flows are of its own law. */
static const struct xp_idle_key telemetry_idle[] = {{.path = "traffic"}, {0}};

const struct xp_plane xp_plane_telemetry = {
    .name = "telemetry",
    .doc = "flows as sums of packets, by known or equal paths, and probes",
    .provides = OBS_FLOWS | OBS_HOPS | OBS_TALLIES | OBS_TALLIES_RATED |
	OBS_TALLIES_TRACED | OBS_TALLIES_PROBED | OBS_TALLIES_WHOLE,
    .holds = telemetry_plane_holds,
    .unless = "telemetry.kinds has them",
    .fills = RES_OF_SCENE | RES_OF_FLOWS | RES_OF_BUFFERS | RES_OF_AGENTS |
	RES_OF_COST | RES_OF_REPORTS | RES_OF_LIMIT,
    .has_buffers = 1,
    .section = &telemetry_section,
    .idle = telemetry_idle,
    .check = telemetry_check,
    .end = telemetry_plane_end,
    .open = telemetry_plane_open,
    .told = telemetry_plane_told,
    .run = telemetry_plane_run,
    .again = telemetry_plane_again,
    .flows = telemetry_plane_flows,
    .print = telemetry_plane_print,
    .close = telemetry_plane_close,
};
