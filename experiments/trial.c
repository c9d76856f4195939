/* experiments/trial.c -- one cell: draw a scene, run it, diagnose, score.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/agent_plane.h"
#include "experiments/lab/plane.h"
#include "experiments/pingmesh/plane.h"
#include "experiments/pingmesh/truth.h"
#include "models/bulk.h"
#include "models/skip.h"
#include "models/vigil_matlab.h"
#include "results/score.h"
#include "sim/vec.h"

struct xp_trial {
	struct xp_spec *spec;
	size_t point; /* that config is of; SIZE_MAX at first */
	struct xp_config config;
	struct topo topo;
	struct model_scene scene;
	struct model_bulk *bulk;
	struct model_skip *skip;
	enum xp_plane ran; /* the last cell's bulk plane */
	struct obs window;
	struct losses lost; /* in the window */
	/* On plane agents one of these, by its fabric; else NULL. */
	struct xp_agent_plane *agents;
	struct xp_lab_plane *lab;
	/* What algorithms get, and what was lost in it: the window and its
	 * losses, or what agents made of them. */
	const struct obs *seen;
	const struct losses *seen_lost;
	void **work; /* [config.n_algos] */
	struct algo_verdicts *verdicts;
	struct res_trial_metrics metrics;
	struct res_algo_metrics *scores;

	/* On plane pingmesh, else NULL: */
	struct xp_net *net;
	struct xp_pingmesh_plane *pingmesh;
	struct res_trial_metrics *rows;      /* [n_along] */
	struct res_algo_metrics *row_scores; /* [n_along][n_algos] */
};

int xp_trial_open(struct xp_trial **out, struct xp_spec *s, struct sim_err *e)
{
	struct xp_trial *t;
	int rc = SIM_ZALLOC(&t, 1, e);
	if (rc < 0)
		return rc;
	t->spec = s;
	t->point = SIZE_MAX;
	if ((rc = model_bulk_open(&t->bulk, NULL, e)) < 0 ||
	    (rc = model_skip_open(&t->skip, e)) < 0) {
		xp_trial_close(t);
		return rc;
	}
	*out = t;
	return 0;
}

static void forget_point(struct xp_trial *t)
{
	for (size_t i = 0; i < t->config.n_algos; i++) {
		if (t->work && t->work[i])
			t->config.algo[i].ops->close(t->work[i]);
		if (t->verdicts)
			algo_verdicts_free(&t->verdicts[i]);
	}
	free(t->work);
	free(t->verdicts);
	free(t->scores);
	t->work = NULL;
	t->verdicts = NULL;
	t->scores = NULL;
	xp_agent_plane_close(t->agents);
	xp_lab_plane_close(t->lab);
	t->agents = NULL;
	t->lab = NULL;
	xp_pingmesh_plane_close(t->pingmesh);
	xp_net_close(t->net);
	free(t->rows);
	free(t->row_scores);
	t->pingmesh = NULL;
	t->net = NULL;
	t->rows = NULL;
	t->row_scores = NULL;
	topo_close(&t->topo);
	xp_config_free(&t->config);
	t->point = SIZE_MAX;
}

void xp_trial_close(struct xp_trial *t)
{
	if (!t)
		return;
	forget_point(t);
	model_scene_free(&t->scene);
	model_bulk_close(t->bulk);
	model_skip_close(t->skip);
	obs_free(&t->window);
	losses_free(&t->lost);
	free(t);
}

static int open_pingmesh(struct xp_trial *t, struct sim_err *e)
{
	const size_t n = t->spec->n_along;
	int rc = xp_config_net(&t->net, &t->config, &t->topo,
	    &t->config.pingmesh, e);
	if (rc == 0)
		rc = xp_pingmesh_plane_open(&t->pingmesh, &t->topo,
		    &t->config.pingmesh, t->net, e);
	if (rc == 0 && (rc = SIM_ZALLOC(&t->rows, n, e)) == 0)
		rc = SIM_ZALLOC(&t->row_scores, n * t->config.n_algos, e);
	assert(rc < 0 || n == xp_pingmesh_plane_rows(t->pingmesh));
	return rc;
}

static int open_agents(struct xp_trial *t, struct sim_err *e)
{
	const struct xp_config *c = &t->config;
	return c->fabric == XP_FABRIC_NETNS
	    ? xp_lab_plane_open(&t->lab, &t->topo, &c->agents, &c->lab, e)
	    : xp_agent_plane_open(&t->agents, &t->topo, &c->agents, e);
}

static int take_point(struct xp_trial *t, size_t point, struct sim_err *e)
{
	int rc;
	forget_point(t);
	if ((rc = xp_spec_point(t->spec, point, &t->config, e)) < 0 ||
	    (rc = xp_topology_open(&t->config.topology, t->spec->folder,
		 &t->topo, e)) < 0)
		return rc;
	const size_t n = t->config.n_algos;
	if ((rc = SIM_ZALLOC(&t->work, n, e)) < 0 ||
	    (rc = SIM_ZALLOC(&t->verdicts, n, e)) < 0 ||
	    (rc = SIM_ZALLOC(&t->scores, n, e)) < 0)
		return rc;
	for (size_t i = 0; i < n; i++) {
		const struct xp_algo *a = &t->config.algo[i];
		rc = a->ops->open(&t->work[i], &t->topo, a->params, e);
		if (rc < 0)
			return sim_wrap(e, rc, "algorithm %s", a->label);
	}
	if (t->config.plane == XP_PLANE_AGENTS && (rc = open_agents(t, e)) < 0)
		return rc;
	if (t->config.plane == XP_PLANE_PINGMESH &&
	    (rc = open_pingmesh(t, e)) < 0)
		return rc;
	t->point = point;
	return 0;
}

static int needs_all(const struct xp_config *c)
{
	for (size_t i = 0; i < c->n_algos; i++)
		if (c->algo[i].ops->needs & ALGO_NEEDS_ALL)
			return 1;
	return 0;
}

static int refuse_all(const struct xp_trial *t, struct sim_err *e)
{
	return sim_fail(e, SIM_EUNSUPPORTED,
	    "an algorithm needs the flows that lost nothing too; plane %s has "
	    "none of them.",
	    xp_plane_names[t->config.plane]);
}

static int run_plane(struct xp_trial *t, struct sim_err *e)
{
	const int all = needs_all(&t->config);
	const uint32_t plane = t->config.plane;
	t->ran = plane;
	if (plane == XP_PLANE_AUTO || plane == XP_PLANE_AGENTS)
		t->ran = !all && model_skip_fits(&t->scene, NULL) == 0
		    ? XP_PLANE_SKIP
		    : XP_PLANE_EXACT;
	if (all && (t->ran == XP_PLANE_SKIP || plane == XP_PLANE_AGENTS))
		return refuse_all(t, e);
	switch (t->ran) {
	case XP_PLANE_SKIP:
		return model_skip_epoch(t->skip, &t->scene, &t->window,
		    &t->lost, e);
	case XP_PLANE_VIGIL_MATLAB:
		return model_vigil_matlab_epoch(&t->scene, all, &t->window,
		    &t->lost, e);
	default:
		return model_bulk_epoch(t->bulk, &t->scene, all, &t->window,
		    &t->lost, e);
	}
}

/* Algorithms get what agents reported. */
static void see(struct xp_trial *t, const struct xp_agent_window *seen)
{
	t->seen = &seen->window;
	t->seen_lost = &seen->lost;
}

static int run_bulk(struct xp_trial *t, struct sim_err *e)
{
	const struct xp_agent_window *seen;
	int rc = run_plane(t, e);
	if (rc < 0)
		return rc;
	res_score_trial(&t->window, &t->scene.truth, &t->lost, &t->metrics);
	t->seen = &t->window;
	t->seen_lost = &t->lost;
	if (!t->agents)
		return 0;
	rc = xp_agent_plane_epoch(t->agents, &t->scene, &t->window, &t->lost,
	    &seen, &t->metrics, e);
	if (rc == 0)
		see(t, seen);
	return rc;
}

static int run_lab(struct xp_trial *t, struct sim_err *e)
{
	const struct xp_agent_window *seen;
	t->ran = XP_PLANE_AGENTS;
	if (needs_all(&t->config))
		return refuse_all(t, e);
	int rc = xp_lab_plane_epoch(t->lab, &t->scene, &seen, &t->metrics, e);
	if (rc == 0)
		see(t, seen);
	return rc;
}

static int diagnose(struct xp_trial *t, size_t i, const struct sim_seed *where,
    struct sim_err *e)
{
	const struct xp_algo *a = &t->config.algo[i];
	struct sim_rng tie;
	sim_rng_init(&tie, where, SIM_STREAM_TIE, (uint32_t)i);
	int rc =
	    a->ops->diagnose(t->work[i], t->seen, &tie, &t->verdicts[i], e);
	if (rc == 0)
		rc = res_score_algo(t->seen, &t->scene.truth, t->seen_lost,
		    &t->verdicts[i], &t->scores[i], e);
	return rc < 0 ? sim_wrap(e, rc, "algorithm %s", a->label) : 0;
}

/* --- plane pingmesh ------------------------------------------------------- */

struct listener {
	struct xp_trial *t;
	const struct sim_seed *where;
	sim_ns first; /* fault */
};

/* A table of probes: diagnose it, for a row of its own or, at the end, for all
 * that have none. How long detection took is told in all. */
static int hear(void *arg, const struct obs *o, const struct losses *lost,
    size_t row, sim_ns now, struct sim_err *e)
{
	const struct listener *l = arg;
	struct xp_trial *t = l->t;
	const size_t n = t->config.n_algos;
	const int own = t->config.pingmesh.detect &&
	    t->config.pingmesh.along == XP_ALONG_WINDOW;
	int rc = 0;
	t->seen = o;
	t->seen_lost = lost;
	for (size_t i = 0; rc == 0 && i < n; i++) {
		struct res_algo_metrics *s = &t->scores[i];
		const double before = s->detect_s;
		if ((rc = diagnose(t, i, l->where, e)) < 0)
			break;
		s->detect_s = before;
		if (isnan(before) && t->config.pingmesh.detect &&
		    now > l->first && s->n_flagged_true > 0)
			s->detect_s = (double)(now - l->first) / 1e9;
		for (size_t k = 0; k < t->spec->n_along; k++) {
			if (own ? k == row : row == SIZE_MAX)
				t->row_scores[k * n + i] = *s;
			t->row_scores[k * n + i].detect_s = s->detect_s;
		}
	}
	return rc;
}

static int run_pingmesh(struct xp_trial *t, const struct sim_seed *where,
    struct sim_err *e)
{
	struct listener l = {t, where, xp_first_trouble(&t->scene.truth)};
	for (size_t i = 0; i < t->config.n_algos; i++)
		t->scores[i].detect_s = NAN;
	const struct xp_pingmesh_hooks hooks = {.arg = &l,
	    .diagnose = t->config.n_algos > 0 ? hear : NULL};
	int rc =
	    xp_pingmesh_plane_run(t->pingmesh, &t->scene, t->rows, &hooks, e);
	t->metrics = t->rows[0];
	return rc;
}

/* --- cells ---------------------------------------------------------------- */

static int run_cell(struct xp_trial *t, size_t point, uint32_t run,
    struct sim_err *e)
{
	int rc = 0;
	if (point != t->point && (rc = take_point(t, point, e)) < 0)
		return rc;
	/* With common random numbers all points of one run share the name, so
	 * that what they differ in is what the sweep changes. */
	const struct sim_seed where = {
	    .seed = t->spec->seed,
	    .point = t->config.common ? 0 : (uint32_t)point,
	    .run = run,
	};
	if ((rc = model_scene_draw(&t->scene, &t->topo, &t->config.scene,
		 &where, e)) < 0)
		return rc;
	if (t->pingmesh)
		return run_pingmesh(t, &where, e);
	rc = t->lab ? run_lab(t, e) : run_bulk(t, e);
	for (size_t i = 0; rc == 0 && i < t->config.n_algos; i++)
		rc = diagnose(t, i, &where, e);
	return rc;
}

int xp_trial_run(struct xp_trial *t, size_t point, uint32_t run, double row[],
    struct sim_err *e)
{
	const size_t n = t->spec->n_along;
	int rc = run_cell(t, point, run, e);
	if (rc < 0)
		return rc;
	_Static_assert(sizeof(t->scores[0]) ==
		RES_N_ALGO_METRICS * sizeof(row[0]),
	    "scores are nothing but doubles, in the order of a row");
	for (size_t i = 0; i < n; i++) {
		const size_t n_algos = t->config.n_algos;
		memcpy(row, t->pingmesh ? &t->rows[i] : &t->metrics,
		    sizeof(t->metrics));
		row += RES_N_TRIAL_METRICS;
		if (n_algos == 0)
			continue;
		memcpy(row,
		    t->pingmesh ? &t->row_scores[i * n_algos] : t->scores,
		    n_algos * sizeof(t->scores[0]));
		row += n_algos * RES_N_ALGO_METRICS;
	}
	return 0;
}

static void print_links(const struct xp_trial *t, struct algo_verdicts *v,
    FILE *out)
{
	enum { SHOWN = 10 };
	algo_verdicts_sort(v);
	for (size_t i = 0; i < v->n && i < SHOWN; i++) {
		char name[64];
		const struct truth *truth = &t->scene.truth;
		int faulty = 0;
		if (v->kind == ALGO_KIND_SWITCH) {
			topo_node_name(&t->topo, t->topo.n_hosts + v->link[i],
			    name);
			faulty = truth_is_failed_switch(truth, v->link[i]);
		} else {
			topo_link_name(&t->topo, v->link[i], name);
			faulty = truth_is_faulty(truth, v->link[i]);
		}
		fprintf(out, "  %3zu %-24s score %-10.4g%s%s\n", i + 1, name,
		    v->score[i], i < v->n_flagged ? " accused" : "",
		    faulty ? " FAULTY" : "");
	}
	if (v->n > SHOWN)
		fprintf(out, "      and %zu more\n", v->n - SHOWN);
}

static void print_flows(const struct xp_trial *t, FILE *out)
{
	fprintf(out, "%.0f flows, of which %.0f lost %.0f packets (plane %s)\n",
	    t->metrics.n_flows, t->metrics.n_failed_flows, t->metrics.n_drops,
	    xp_plane_names[t->ran]);
	if (t->agents || t->lab)
		fprintf(out,
		    "agents traced %.0f flows, %.0f in full; %.0f ICMP "
		    "messages, %.0f kept back\n",
		    t->metrics.n_traced, t->metrics.n_full_traces,
		    t->metrics.n_icmp_sent, t->metrics.n_icmp_suppressed);
}

static void print_probes(const struct xp_trial *t, FILE *out)
{
	const struct xp_collect_counts n = xp_collector_counts(
	    xp_world_collector(xp_pingmesh_plane_world(t->pingmesh)));
	fprintf(out, "of Pingmesh's agents the collector had\n");
#define X(name, doc)                                                           \
	if (n.name > 0)                                                        \
		fprintf(out, "  %12llu %s\n", (unsigned long long)n.name, doc);
	XP_COLLECT_COUNTS(X)
#undef X
}

void xp_trial_print(const struct xp_trial *t, FILE *out)
{
	fprintf(out, "%u hosts, %u switches, %u directed links\n",
	    t->topo.n_hosts, t->topo.n_switches, t->topo.n_links);
	if (t->pingmesh)
		print_probes(t, out);
	else
		print_flows(t, out);
	truth_print(&t->scene.truth, &t->topo, out);
	for (size_t i = 0; i < t->config.n_algos; i++) {
		const struct res_algo_metrics *m = &t->scores[i];
		fprintf(out, "%s\n", t->config.algo[i].label);
#define X(name, num, den, doc)                                                 \
	if (m->den > 0)                                                        \
		fprintf(out, "  %-18s %.4f (%g/%g)\n", #name, m->num / m->den, \
		    m->num, m->den);
		RES_RATIOS(X)
#undef X
		print_links(t, &t->verdicts[i], out);
	}
}
