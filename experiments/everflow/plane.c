/* experiments/everflow/plane.c -- plane everflow: packets that switches mirror.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdlib.h>

#include "experiments/bulk/bulk.h"
#include "experiments/everflow/along.h"
#include "experiments/everflow/truth.h"
#include "experiments/everflow/world.h"
#include "experiments/spec/fabric.h"
#include "experiments/spec/plane.h"
#include "results/score.h"
#include "sim/vec.h"

struct everflow {
	const struct xp_everflow *params;
	struct xp_everworld *world;
	const struct topo *topo;
	double epoch_s;
	struct xp_everflow_seen seen; /* of the last run */
};

const struct xp_everflow_seen *xp_everflow_seen(const void *running)
{
	return &((const struct everflow *)running)->seen;
}

/* --- the spec ------------------------------------------------------------- */

/* A server sends back what a mux sent it: without muxes it would do nothing. */
static int check_servers(struct sim_yaml *y, const struct xp_config *c)
{
	const struct sim_yaml_node *faults = sim_yaml_get(y->root, "faults");
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < c->scene.n_groups; i++)
		if (c->scene.group[i].kind == FAULT_MUX_LOOP &&
		    xp_everflow_of(c)->slb.vips == 0)
			rc = sim_yaml_mistake(y,
			    faults->kind == SIM_YAML_SEQ ? faults->child[i]
							 : faults,
			    "kind mux_loop: there are no virtual addresses "
			    "(everflow.slb.vips).");
	return rc;
}

static int everflow_check(struct sim_yaml *y, const struct topo *t,
    const struct xp_config *c, struct sim_err *e)
{
	(void)t, (void)e;
	if (c->scene.noise.per == SCENE_NOISE_PER_FLOW)
		return sim_yaml_mistake(y, sim_yaml_get(y->root, "noise"),
		    "per flow: on plane everflow noise is per link.");
	return check_servers(y, c);
}

/* Debuggers probe on while what is under way settles. */
static struct xp_end everflow_end(const struct xp_config *c)
{
	return (struct xp_end){c->scene.traffic.epoch_s +
		xp_everflow_of(c)->settle_s,
	    "traffic.epoch + everflow.settle", 1};
}

static int everflow_axes(struct xp_along_axes *a, const struct xp_config *c,
    struct sim_err *e)
{
	return xp_everflow_axes(a, xp_everflow_of(c), c->scene.traffic.epoch_s,
	    e);
}

/* How many rows a run has. */
static size_t everflow_n_rows(const struct everflow *x)
{
	switch ((enum xp_everflow_along)x->params->along) {
	case XP_EVERFLOW_DEBUGGER:
		return XP_N_DEBUGGERS;
	case XP_EVERFLOW_LINK:
		return (size_t)XP_EVERFLOW_LINKS *
		    xp_everflow_seconds(x->params, x->epoch_s);
	case XP_EVERFLOW_NONE:
		break;
	}
	return 1;
}

/* --- scores --------------------------------------------------------------- */

static void score_switches(const struct everflow *x,
    struct res_trial_metrics *row)
{
	row->n_mirrored = row->n_mirrors_lost = 0;
	row->mirror_bytes = row->mirror_bytes_max = 0;
	for (topo_switch s = 0; s < x->topo->n_switches; s++) {
		const struct mirror_counts *m = &x->seen.mirrored[s];
		row->n_mirrored += (double)m->n_sent;
		row->n_mirrors_lost += (double)m->n_lost;
		row->mirror_bytes += (double)m->n_bytes;
		row->mirror_bytes_max =
		    fmax(row->mirror_bytes_max, (double)m->n_bytes);
	}
}

/* Where nothing was asked for, nothing of it was measured. */
static void score_tracing(const struct everflow *x,
    struct res_trial_metrics *row)
{
	const struct xp_tracing *t = x->seen.tracing;
	double policed = 0, matched = 0;
	if (t->n_requests == 0)
		return;
	for (topo_switch s = 0; s < x->topo->n_switches; s++) {
		policed += (double)x->seen.mirrored[s].n_policed;
		matched += (double)x->seen.mirrored[s].n_matched;
	}
	row->asked_pps = t->asked_pps;
	row->admitted_pps = t->admitted_pps;
	row->policed_share = matched > 0 ? policed / matched : 0;
}

static void score_traces(const struct xp_everflow_seen *s,
    struct res_trial_metrics *row)
{
	const struct xp_grades *g = &s->grades;
	row->traffic_bytes = s->traffic_bytes;
	row->n_assembled = (double)s->analyzed.n_traces;
	row->n_whole = (double)g->n_whole;
	row->n_loops = (double)g->n_loops;
	row->n_loops_right = (double)g->n_loops_right;
	row->n_suspect = (double)g->n_suspect;
	row->n_suspect_right = (double)g->n_suspect_right;
	row->n_confirmed = (double)g->n_confirmed;
	row->n_confirmed_right = (double)g->n_confirmed_right;
	row->n_refuted = (double)g->n_refuted;
	row->n_refuted_right = (double)g->n_refuted_right;
	row->n_guided = (double)s->n_guided;
	row->guided_bytes_max = (double)s->guided_bytes_max;
}

static void score_cost(const struct everflow *x, struct res_trial_metrics *row)
{
	const struct xp_everflow_seen *s = &x->seen;
	const struct xp_cost_counts c = {.seconds = (double)s->end_ns / 1e9,
	    .n_hosts = x->topo->n_hosts,
	    .n_switches = x->topo->n_switches,
	    .n_sent = (double)s->n_guided,
	    .sent_bytes = (double)s->guided_bytes,
	    .n_reported = (double)s->n_guided,
	    .n_copies = row->n_mirrored - row->n_mirrors_lost,
	    .switch_bytes = row->mirror_bytes + (double)s->carried_bytes};
	xp_cost_fill(&x->params->cost, &c, row);
}

/* Switches on the way of flow I that still answer: no more a second than may be.
 * ANSWERED[switch * seconds + second]. */
static uint32_t answers_of(const struct everflow *x, size_t i,
    uint32_t answered[], uint32_t n_seconds, uint32_t *n_switches)
{
	const struct obs *w = x->seen.window;
	const uint64_t at = w->flows.start_ns[i] / UINT64_C(1000000000);
	const uint32_t second = at < n_seconds ? (uint32_t)at : n_seconds - 1;
	uint32_t n = 0;
	*n_switches = 0;
	for (uint64_t k = w->hops.off[i]; k < w->hops.off[i + 1]; k++) {
		topo_node from, to;
		if (w->hops.link[k] >= x->topo->n_links)
			continue;
		topo_link_ends(x->topo, w->hops.link[k], &from, &to);
		if (to < x->topo->n_hosts)
			continue;
		++*n_switches;
		n += answered[(to - x->topo->n_hosts) * n_seconds + second]++ <
		    x->params->cost.answers_s;
	}
	return n;
}

/* 007: a traceroute of each flow that sent again. */
static int score_retx_cost(const struct everflow *x,
    struct res_trial_metrics *row, struct sim_err *e)
{
	const struct obs *w = x->seen.window;
	const uint32_t n_seconds = (uint32_t)fmax(1, ceil(x->epoch_s));
	struct xp_cost_counts c = {.seconds = x->epoch_s,
	    .n_hosts = x->topo->n_hosts,
	    .n_switches = x->topo->n_switches,
	    .n_retx = (double)w->flows.n,
	    .n_reported = (double)w->flows.n};
	uint32_t *answered = NULL;
	const int rc =
	    SIM_ZALLOC(&answered, (size_t)x->topo->n_switches * n_seconds, e);
	for (size_t i = 0; rc == 0 && i < w->flows.n; i++) {
		uint32_t n_switches;
		const uint32_t n =
		    answers_of(x, i, answered, n_seconds, &n_switches);
		xp_cost_traceroute(&x->params->cost, &c, n_switches, n);
	}
	if (rc == 0)
		xp_cost_fill_retx(&x->params->cost, &c, row);
	free(answered);
	return rc;
}

/* What the debuggers in MASK, one or all, had to name and did name. */
static void score_debuggers(const struct everflow *x, const struct scene *scene,
    unsigned mask, struct res_trial_metrics *row)
{
	int due = 0, right = 0, causes = 0;
	row->n_misnamed = 0;
	for (unsigned i = 0; i < XP_N_DEBUGGERS; i++)
		due |= (mask >> i & 1) && xp_everflow_due(scene, x->params, i);
	for (size_t i = 0; i < x->seen.n_said; i++) {
		const struct xp_said *said = &x->seen.said[i];
		sim_ns since = 0;
		if (!(mask >> said->debugger & 1))
			continue;
		const enum xp_worth worth =
		    xp_everflow_worth(scene, x->params, &said->finding, &since);
		row->n_misnamed += worth == XP_WORTH_WRONG;
		if (worth != XP_WORTH_RIGHT)
			continue;
		right++;
		causes += xp_everflow_is_cause(scene, &said->finding);
		row->name_s =
		    fmin(row->name_s, ((double)said->at - (double)since) / 1e9);
	}
	row->n_due = due;
	row->n_quiet = !due;
	row->n_named = due && right && row->n_misnamed == 0;
	row->n_cause = row->n_named && causes == right;
	row->n_alarms = !due && row->n_misnamed > 0;
}

static int score_run(const struct everflow *x, const struct scene *scene,
    struct res_trial_metrics row[], struct sim_err *e)
{
	const unsigned on = x->params->debug;
	const int each = x->params->along == XP_EVERFLOW_DEBUGGER;
	const size_t n = everflow_n_rows(x);
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < n; i++) {
		res_score_trial(x->seen.window, &scene->truth, x->seen.lost,
		    &row[i]);
		score_switches(x, &row[i]);
		score_tracing(x, &row[i]);
		score_traces(&x->seen, &row[i]);
		if (x->params->cost.on) {
			score_cost(x, &row[i]);
			rc = score_retx_cost(x, &row[i], e);
		}
		/* Of one that does not look nothing was measured. */
		if (!each || on >> i & 1)
			score_debuggers(x, scene, each ? 1u << i : on, &row[i]);
	}
	return rc == 0 && x->params->along == XP_EVERFLOW_LINK
	    ? xp_everflow_link_rows(&x->seen, scene,
		  (uint32_t)(n / XP_EVERFLOW_LINKS), row, e)
	    : rc;
}

/* --- a run ---------------------------------------------------------------- */

static void everflow_close(void *p)
{
	struct everflow *x = p;
	if (!x)
		return;
	xp_everworld_close(x->world);
	free(x);
}

static int everflow_open(void **p, const struct topo *t,
    const struct xp_config *c, struct sim_err *e)
{
	struct everflow *x;
	*p = NULL;
	int rc = SIM_ZALLOC(&x, 1, e);
	if (rc < 0)
		return rc;
	x->params = xp_everflow_of(c);
	x->topo = t;
	x->epoch_s = c->scene.traffic.epoch_s;
	if ((rc = xp_everworld_open(&x->world, t, x->params, e)) < 0) {
		everflow_close(x);
		return rc;
	}
	*p = x;
	return 0;
}

/* One window, of the whole epoch, whose scores go to all rows. */
static int everflow_again(void *p, const struct xp_listener *to,
    struct sim_err *e)
{
	const struct everflow *x = p;
	const struct xp_window all = {.seen = x->seen.window,
	    .lost = x->seen.lost,
	    .n_rows = everflow_n_rows(x),
	    .after_s = NAN};
	return to->hear ? to->hear(to->arg, &all, e) : 0;
}

static int everflow_run(void *p, struct scene *scene,
    const struct xp_listener *to, struct res_trial_metrics row[],
    struct sim_err *e)
{
	struct everflow *x = p;
	int rc = xp_everworld_run(x->world, scene, &x->seen, e);
	if (rc < 0)
		return rc;
	if ((rc = score_run(x, scene, row, e)) < 0)
		return rc;
	return everflow_again(x, to, e);
}

static void print_said(const struct everflow *x, const struct xp_said *said,
    FILE *out)
{
	const struct algo_finding *f = &said->finding;
	char place[64] = "";
	if (f->link != TOPO_NONE)
		topo_link_name(x->topo, f->link, place);
	else if (f->node != TOPO_NONE)
		topo_node_name(x->topo, f->node, place);
	fprintf(out, "  %5.1f s  %s: %s %s\n", (double)said->at / 1e9,
	    xp_everflow_debuggers[said->debugger], algo_cause_words[f->cause],
	    place);
}

static void everflow_print(const void *p, const struct res_trial_metrics row[],
    FILE *out)
{
	const struct everflow *x = p;
	const struct res_trial_metrics *r = &row[0];
	fprintf(out,
	    "%.0f flows; %.0f copies of %.0f packets, %.0f of them lost; %.0f "
	    "guided probes\n",
	    r->n_flows, r->n_mirrored, r->n_assembled, r->n_mirrors_lost,
	    r->n_guided);
	fprintf(out,
	    "looks like drops %.0f (right %.0f): confirmed %.0f (%.0f), "
	    "refuted "
	    "%.0f (%.0f); loops %.0f (%.0f)\n",
	    r->n_suspect, r->n_suspect_right, r->n_confirmed,
	    r->n_confirmed_right, r->n_refuted, r->n_refuted_right, r->n_loops,
	    r->n_loops_right);
	for (size_t i = 0; i < x->seen.n_said; i++)
		print_said(x, &x->seen.said[i], out);
}

static const struct xp_idle_key everflow_idle[] = {{.path = "latency"},
    {.path = "traffic.tcp"}, {0}};

const struct xp_plane xp_plane_everflow = {
    .name = "everflow",
    .doc = "packets that switches mirror, and debuggers that read them",
    .provides = OBS_FLOWS | OBS_HOPS | OBS_MIRROR,
    .faults = FAULT_PACKET_KINDS,
    .fills = RES_OF_SCENE | RES_OF_FLOWS | RES_OF_MIRROR | RES_OF_COST |
	RES_OF_RETX_COST | RES_OF_BUFFERS,
    .has_buffers = 1,
    .alone = 1,
    .has_times = 1,
    .section = &xp_everflow_section,
    .idle = everflow_idle,
    .check = everflow_check,
    .end = everflow_end,
    .axes = everflow_axes,
    .open = everflow_open,
    .run = everflow_run,
    .again = everflow_again,
    .print = everflow_print,
    .close = everflow_close,
};
