/* experiments/planner/plane.c -- plane planner: probes that are decided on.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/planner/planner.h"
#include "experiments/spec/config.h"
#include "experiments/spec/fabric.h"
#include "experiments/spec/plane.h"
#include "models/telemetry/telemetry.h"
#include "results/score.h"
#include "sim/vec.h"

/* --- the section ---------------------------------------------------------- */

#define FIELD(m) offsetof(struct xp_planner, m)
static const struct sim_field planner_own_fields[] = {
    {"packets", SIM_F_U32, FIELD(packets), .min = 1, .max = 1e6,
	.unit = "packets", .def = "40",
	.doc = "of a probe; of agents, connects"},
    {"most", SIM_F_U32, FIELD(most), .min = 1, .max = 4e9, .unit = "probes",
	.def = "1000000", .doc = "after which a search is cut off"},
    {0},
};
static const struct sim_field planner_agents_fields[] = {
    {"on", SIM_F_BOOL, FIELD(agents.on), .def = "false",
	.doc = "agents on all hosts send the probes, as they always do on a "
	       "real fabric"},
    {"lasts", SIM_F_F64, FIELD(agents.lasts_s), .min = 1, .max = 1e6,
	.unit = "s", .def = "3600", .doc = "after which a search is cut off"},
    {0},
};

static const struct sim_part planner_parts[] = {{"", planner_own_fields,
						    .offset = 0},
    {"", algo_planner_fields, .offset = FIELD(plan)},
    {"agents", planner_agents_fields, .offset = 0},
    {"agents", algo_survey_fields, .offset = FIELD(agents.survey)},
    {"agents", algo_scout_fields, .offset = FIELD(agents.scout)}, {0}};

static int planner_section_read(struct sim_yaml *y,
    const struct sim_yaml_node *node, const struct topo *t, void *params,
    struct sim_err *e)
{
	(void)node;
	(void)t;
	return sim_parts_read(y, "planner", planner_parts, params, e);
}

static const struct xp_section planner_section = {"planner",
    sizeof(struct xp_planner), planner_section_read, NULL, planner_parts,
    .example = "plane: planner\n"
	       "topology: { kind: fat_tree, k: 4 }\n"
	       "noise: { rate: {uniform: [0, 1e-4]} }\n"
	       "faults: { count: 2, rate: {uniform: [0.002, 0.02]}, pick: "
	       "link }\n"
	       "planner: { error: 0.05, in_turn: 0.5 }\n"
	       "algorithms: [sieve]\n"};

static int planner_check_group(struct sim_yaml *y, const struct fault_params *g,
    const struct sim_yaml_node *node)
{
	/* Told for all planes that have no such faults. */
	if (FAULT_SOME_PLANES & 1u << g->kind)
		return 0;
	if (g->kind != FAULT_DROP)
		return sim_yaml_mistake(y, node,
		    "on plane planner links and switches drop (kind drop); "
		    "nothing else fails.");
	if (g->from_s > 0 || g->to_s > 0 || g->spread_s > 0 || g->lasts_s > 0)
		return sim_yaml_mistake(y, node,
		    "on plane planner what fails does so all the time.");
	return 0;
}

static const struct xp_planner *planner_of(const struct xp_config *c)
{
	return xp_section_of(c, &planner_section);
}

/* Sums know no hosts. */
static int planner_by_agents(const struct xp_config *c)
{
	return planner_of(c)->agents.on || xp_fabric_of(c)->open;
}

static unsigned planner_asks(const struct xp_config *c)
{
	return planner_by_agents(c) ? XP_ASKS_NET : 0;
}

static int planner_check_spec(struct sim_yaml *y, const struct topo *t,
    const struct xp_config *c, struct sim_err *e)
{
	const struct sim_yaml_node *faults = sim_yaml_get(y->root, "faults");
	int rc = 0;
	(void)t;
	(void)e;
	for (size_t i = 0; rc == 0 && faults && i < c->scene.n_groups; i++)
		rc = planner_check_group(y, &c->scene.group[i],
		    faults->kind == SIM_YAML_SEQ ? faults->child[i] : faults);
	if (rc == 0 && c->scene.noise.per != SCENE_NOISE_PER_LINK)
		rc = sim_yaml_mistake(y, sim_yaml_get(y->root, "noise"),
		    "on plane planner noise is of links (per: link).");
	return rc;
}

/* --- a run ---------------------------------------------------------------- */

void xp_planner_end_begin(struct xp_planner_end *end,
    const struct xp_planner *p)
{
	const double none = (double)p->most + 1;
	*end = (struct xp_planner_end){none, none, NAN, NAN, 0};
}

int xp_planner_end_look(struct xp_planner_end *end, const struct xp_planner *p,
    const struct algo_planner_view *v, double wrong, double n, int last,
    int *stops)
{
	const double most = p->most;
	end->cut = last;
	if (wrong == 0)
		end->right = fmin(end->right, n);
	*stops = (v->done || last) && end->stop > most;
	if (*stops) {
		end->stop = fmin(n, most);
		end->stated = v->error;
		end->wrong = wrong;
	}
	const int over = last || (end->right <= most && end->stop <= most);
	if (over)
		end->right = fmin(end->right, most);
	return over;
}

int xp_planner_keep(struct obs_tallies *to, const struct algo_planner_view *v,
    struct sim_err *e)
{
	int rc = 0;
	obs_tallies_clear(to);
	to->paths = v->told->paths;
	to->telemetry = v->told->telemetry;
	for (size_t i = 0; rc == 0 && i < v->told->n; i++) {
		const struct obs_tally row = obs_tallies_at(v->told, i);
		if (row.n_sent > 0)
			rc = obs_tallies_add(to, &row, e);
	}
	return rc;
}

/* Whether L is the first link that failed of those that no way tells apart. */
static int planner_is_first(const struct algo_planner_view *v,
    const double hazard[], double least, topo_link l)
{
	topo_link k = v->alike[l];
	while (k < l && (v->alike[k] != v->alike[l] || hazard[k] < least))
		k++;
	return k == l && hazard[l] >= least;
}

double xp_planner_wrong(const struct xp_planner *p,
    const struct algo_planner_view *v, const double hazard[], topo_link n_links)
{
	const double least = scene_hazard(p->plan.least);
	double n_said = 0, n_failed = 0, n_both = 0;
	for (topo_link l = 0; l < n_links; l++) {
		if (!v->within[l])
			continue;
		const int failed = planner_is_first(v, hazard, least, l);
		n_said += v->together[l] > 0.5;
		n_failed += failed;
		n_both += failed && v->together[v->alike[l]] > 0.5;
	}
	return n_said + n_failed - 2 * n_both;
}

struct planner_plane {
	const struct xp_planner *params;
	const struct topo *topo;
	struct algo_planner_params in_turn; /* the rival's */
	struct telemetry net;
	const struct obs_tallies *ways;   /* the net's */
	struct obs_tallies told;          /* what was sent by them */
	struct algo_planner *search[2];   /* planned, in turn */
	struct xp_planner_agents *agents; /* or NULL: by sums */
	struct xp_planner_end end[2];
	uint32_t *way; /* [round] */
	struct obs window;
	struct losses none;
};

static void planner_plane_close(void *p)
{
	struct planner_plane *x = p;
	if (!x)
		return;
	algo_planner_close(x->search[0]);
	algo_planner_close(x->search[1]);
	xp_planner_agents_close(x->agents);
	telemetry_free(&x->net);
	obs_tallies_free(&x->told);
	obs_free(&x->window);
	losses_free(&x->none);
	free(x->way);
	free(x);
}

static int planner_plane_open(void **p, const struct topo *t,
    const struct xp_config *c, struct sim_err *e)
{
	struct telemetry_params probes = {.kinds = OBS_TELE_A1};
	struct planner_plane *x = NULL;
	int rc = SIM_ZALLOC(&x, 1, e);
	*p = x;
	if (rc < 0)
		return rc;
	x->params = planner_of(c);
	x->topo = t;
	probes.probe_packets = x->params->packets;
	x->ways = &x->net.rows;
	x->in_turn = x->params->plan;
	x->in_turn.in_turn = 1;
	/* Looked at as often as the other at first, it is not told of later. */
	if (!planner_by_agents(c) && x->in_turn.first < x->in_turn.round)
		x->in_turn.round = x->in_turn.first;
	if (planner_by_agents(c))
		return xp_planner_agents_open(&x->agents, c, t, x->params, e);
	if ((rc = SIM_ZALLOC(&x->way, x->params->plan.round, e)) < 0 ||
	    (rc = telemetry_ways(&x->net, &probes, t, e)) < 0 ||
	    (rc = algo_planner_open(&x->search[0], t, &x->params->plan, x->ways,
		 e)) < 0)
		return rc;
	return algo_planner_open(&x->search[1], t, &x->in_turn, x->ways, e);
}

/* Whole rounds of *N probes at least, which are then as many as were sent. */
static int planner_send(struct planner_plane *x, struct algo_planner *s,
    double *n, struct sim_rng *ask, struct sim_rng *send, struct sim_err *e)
{
	const double least = *n;
	int rc = 0;
	for (*n = 0; rc == 0 && *n < least;) {
		const uint32_t round = algo_planner_ask(s, ask, x->way);
		for (uint32_t i = 0; rc == 0 && i < round; i++) {
			struct obs_tally row =
			    obs_tallies_at(x->ways, x->way[i]);
			telemetry_send(&x->net, send, &row);
			rc = algo_planner_tell(s, x->way[i], row.n_sent,
			    row.n_lost, e);
		}
		*n += round;
	}
	return rc < 0 ? rc : algo_planner_think(s, e);
}

/* Probes in turn are the same whatever is thought, which takes most of the time:
 * they are looked at after each hundredth of what was sent, and what shows then
 * counts as if it had come with the first round after the look before. */
static double planner_until_look(const struct planner_plane *x, unsigned i,
    double n)
{
	return i == 0 ? 1 : fmax(x->in_turn.round, floor(n / 100));
}

/* Go on until the answer has been right and there was nothing more to ask, which
 * may come first. */
static int planner_search(struct planner_plane *x, const struct scene *scene,
    unsigned i, struct sim_err *e)
{
	struct algo_planner *s = x->search[i];
	const double most = x->params->most;
	struct algo_planner_view v;
	struct sim_rng ask, send;
	double n = 0, counts = 0, step;
	int stops, rc = algo_planner_begin(s, e);
	sim_rng_init(&ask, &scene->where, SIM_STREAM_PLANNER, 2 * i);
	sim_rng_init(&send, &scene->where, SIM_STREAM_PLANNER, 2 * i + 1);
	xp_planner_end_begin(&x->end[i], x->params);
	while (rc == 0) {
		algo_planner_view(s, &v);
		const double wrong = xp_planner_wrong(x->params, &v,
		    x->net.links.hazard, scene->topo->n_links);
		const int over = xp_planner_end_look(&x->end[i], x->params, &v,
		    wrong, counts, n >= most, &stops);
		if (stops && i == 0)
			rc = xp_planner_keep(&x->told, &v, e);
		if (over)
			break;
		step = planner_until_look(x, i, n);
		if (rc == 0)
			rc = planner_send(x, s, &step, &ask, &send, e);
		counts = n + (i == 0 ? step : x->in_turn.round);
		n += step;
	}
	return rc;
}

/* Where both sent nothing they are equal. */
static double planner_ln_fewer(double plan, double turn)
{
	return plan > 0 && turn > 0 ? log(turn / plan) : NAN;
}

static void planner_fill(const struct planner_plane *x,
    struct res_trial_metrics *row)
{
	const struct xp_planner_end *plan = &x->end[0], *turn = &x->end[1];
#define X(name)                                                                \
	row->plan_##name = plan->name;                                         \
	row->turn_##name = turn->name;
	XP_PLANNER_ENDS(X)
#undef X
	row->ln_fewer_right = planner_ln_fewer(plan->right, turn->right);
	row->ln_fewer_stop = planner_ln_fewer(plan->stop, turn->stop);
	row->plan_cut = plan->cut || turn->cut;
}

static int planner_plane_again(void *p, const struct xp_listener *to,
    struct sim_err *e)
{
	const struct planner_plane *x = p;
	const struct xp_window all = {.seen = &x->window,
	    .lost = &x->none,
	    .n_rows = 1,
	    .after_s = NAN};
	return to->hear ? to->hear(to->arg, &all, e) : 0;
}

static int planner_plane_run(void *p, struct scene *scene,
    const struct xp_listener *to, struct res_trial_metrics row[],
    struct sim_err *e)
{
	struct planner_plane *x = p;
	int rc = telemetry_links_open(&x->net.links, scene, SIM_SEC, e);
	for (unsigned i = 0; rc == 0 && i < 2; i++)
		rc = x->agents ? xp_planner_agents_run(x->agents, scene,
				     i == 0 ? &x->params->plan : &x->in_turn,
				     x->net.links.hazard, i, &x->end[i],
				     i == 0 ? &x->told : NULL, e)
			       : planner_search(x, scene, i, e);
	if (rc < 0)
		return rc;
	row[0].n_faults = (double)truth_n_faulty(&scene->truth);
	planner_fill(x, &row[0]);
	x->window.tallies = &x->told;
	return planner_plane_again(x, to, e);
}

/* What is thought at the end of the planned search; of links that no way tells
 * apart each is named. */
static void planner_print_links(const struct topo *t,
    const struct algo_planner_view *v, FILE *out)
{
	char name[64];
	for (topo_link l = 0; l < t->n_links; l++) {
		if (!v->within[l] || v->together[v->alike[l]] <= 0.5)
			continue;
		topo_link_name(t, l, name);
		fprintf(out, "  %s%s loses %.3g %%, with chance %.4f\n",
		    v->alike[l] == l ? "" : "or ", name,
		    -100 * expm1(-v->hazard[l]), v->together[v->alike[l]]);
	}
}

static void planner_plane_print(const void *p,
    const struct res_trial_metrics row[], FILE *out)
{
	const struct planner_plane *x = p;
	struct algo_survey_view v;
	if (x->agents)
		xp_planner_agents_view(x->agents, 0, &v);
	else
		algo_planner_view(x->search[0], &v.plan);
	if (x->agents)
		fprintf(out, "agents found %u of %u ways, there and back; ",
		    v.n_ways, v.n_tuples);
	else
		fprintf(out, "%zu ways, ", x->ways->n);
	fprintf(out,
	    "probes of %u %s\n"
	    "planned: right after %.0f probes, done after %.0f, stating %.3g "
	    "wrong links; %.0f were\n"
	    "in turn: right after %.0f probes, done after %.0f, stating %.3g "
	    "wrong links; %.0f were\n",
	    x->params->packets, x->agents ? "connects" : "packets",
	    row[0].plan_right, row[0].plan_stop, row[0].plan_stated,
	    row[0].plan_wrong, row[0].turn_right, row[0].turn_stop,
	    row[0].turn_stated, row[0].turn_wrong);
	planner_print_links(x->topo, &v.plan, out);
}

static const struct xp_idle_key planner_idle[] = {{.path = "traffic"},
    {.path = "latency"}, {0}};

const struct xp_plane xp_plane_planner = {
    .name = "planner",
    .doc = "probes with known ways, the next decided on by the last ones",
    .provides = OBS_TALLIES | OBS_TALLIES_RATED | OBS_TALLIES_PROBED |
	OBS_TALLIES_WHOLE,
    .fills = RES_OF_SCENE | RES_OF_PLANNER,
    .alone = 1,
    .no_buffers = "its probes are of rates that hold for the search",
    .section = &planner_section,
    .asks = planner_asks,
    .idle = planner_idle,
    .check = planner_check_spec,
    .open = planner_plane_open,
    .run = planner_plane_run,
    .again = planner_plane_again,
    .print = planner_plane_print,
    .close = planner_plane_close,
};
