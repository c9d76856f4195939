/* experiments/spec/config.c -- one point of a spec: tree in, structs out.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/spec/config.h"

#include <stdlib.h>
#include <string.h>

#include "experiments/spec/fabric.h"
#include "experiments/spec/plane.h"
#include "sim/parts.h"
#include "sim/vec.h"
#include "topo/graph.h"
#include "topo/mesh.h"

static const char *const spec_config_kind_names[] = {"clos", "fat_tree",
    "graphml", "region", "leaf_spine", NULL};

static const char *const spec_config_unable[] = {"refuse", "skip", NULL};

const struct sim_field xp_run_fields[] = {
    {"plane", SIM_F_ENUM, offsetof(struct xp_config, plane),
	.names = xp_plane_names, .def = "auto",
	.doc = "what makes windows of a scene"},
    {"fabric", SIM_F_ENUM, offsetof(struct xp_config, fabric),
	.names = xp_fabric_names, .def = "sim", .doc = "what agents live on"},
    {"common", SIM_F_BOOL, offsetof(struct xp_config, common), .def = "true",
	.doc = "the same random numbers at every point of the sweep"},
    {"unable", SIM_F_ENUM, offsetof(struct xp_config, unable),
	.names = spec_config_unable, .def = "refuse",
	.doc = "an algorithm that reads what a point of the sweep has not is a "
	       "mistake, or has no results there"},
    {"label", SIM_F_STR, offsetof(struct xp_config, label),
	.size = sizeof(((struct xp_config *)0)->label), .def = "",
	.doc = "a name for this point of a sweep; does nothing"},
    {0},
};

const struct sim_field xp_topology_fields[] = {
    {"kind", SIM_F_ENUM, offsetof(struct xp_topology, kind),
	.names = spec_config_kind_names, .def = "clos", .doc = "what to build"},
    {"k", SIM_F_U32, offsetof(struct xp_topology, k), .min = 2, .max = 64,
	.unit = "ports", .def = "4", .doc = "ports a switch (fat_tree)",
	.when = "kind=fat_tree"},
    {"oversub", SIM_F_U32, offsetof(struct xp_topology, oversub), .min = 1,
	.max = 64, .unit = "1", .def = "1",
	.doc = "hosts of a ToR for each of its uplinks (fat_tree)",
	.when = "kind=fat_tree"},
    {"file", SIM_F_STR, offsetof(struct xp_topology, file),
	.size = sizeof(((struct xp_topology *)0)->file), .def = "",
	.doc = "a GraphML file, relative to the spec (graphml)",
	.when = "kind=graphml"},
    {"n_leaves", SIM_F_U32, offsetof(struct xp_topology, n_leaves), .min = 1,
	.max = 1 << 20, .unit = "switches", .def = "20",
	.doc = "leaves, each the ToR of n_hosts hosts",
	.when = "kind=leaf_spine"},
    {"n_spines", SIM_F_U32, offsetof(struct xp_topology, n_spines), .min = 1,
	.max = 1 << 20, .unit = "switches", .def = "8",
	.doc = "spines, each with a cable to every leaf",
	.when = "kind=leaf_spine"},
    {0},
};

const char *const xp_sections[] = {"topology", "traffic", "noise", "latency",
    "congestion", "samples", "faults", "algorithms", NULL};

void xp_algos_free(struct xp_algo *algo, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(algo[i].params);
	free(algo);
}

void xp_config_free(struct xp_config *c)
{
	xp_faults_free(&c->scene);
	xp_algos_free(c->algo, c->n_algos);
	for (size_t i = 0; i < XP_MAX_SECTIONS; i++)
		free(c->section[i]);
	*c = (struct xp_config){0};
}

int xp_take_mistake(struct sim_yaml *y, const struct sim_yaml_node *node,
    int rc, const struct sim_err *why, struct sim_err *e)
{
	/* Lack of memory ends the reading. All else is the writer's mistake,
	 * and is collected, so that one attempt tells all of them. */
	if (rc == SIM_ENOMEM)
		return sim_fail(e, rc, "%s", why->msg);
	return rc < 0 ? sim_yaml_mistake(y, node, "%s", why->msg) : 0;
}

/* --- topology ----------------------------------------------------------- */

/* The keys of all kinds of network in one table. A key that another kind would
 * use does no harm, and an unknown one is told once rather than once a kind. */
static const char *const of_clos[] = {"n_pods", "n_tors", "n_t1", "n_t2", NULL};
static const char *const of_leaf_spine[] = {"n_hosts", NULL};

const struct sim_part xp_topology_parts[] = {
    {"", xp_topology_fields, .offset = 0},
    {"", topo_clos_fields, .offset = offsetof(struct xp_topology, clos),
	.only = of_clos, .when = "kind=clos|region"},
    {"", topo_clos_fields, .offset = offsetof(struct xp_topology, clos),
	.only = of_leaf_spine, .when = "kind=clos|region|leaf_spine"},
    {"", topo_region_fields, .offset = offsetof(struct xp_topology, region),
	.when = "kind=region"},
    {0},
};

int xp_topology_read(struct sim_yaml *y, struct xp_topology *x,
    struct sim_err *e)
{
	const struct sim_yaml_node *node = sim_yaml_get(y->root, "topology");
	const size_t had = y->n_mistakes;
	struct sim_err why;
	int rc = sim_parts_read(y, "topology", xp_topology_parts, x, e);
	/* After a refused value the whole is not checked: any further complaint
	 * would be about something that nobody wrote. */
	if (rc < 0 || y->n_mistakes > had)
		return rc;
	/* A leaf-spine is the Clos of one pod without T2s; so leaves are ToRs
	 * and spines T1s in names, classes of links and tiers. */
	if (x->kind == XP_TOPO_LEAF_SPINE)
		x->clos = (struct topo_clos){.n_pods = 1,
		    .n_tors = x->n_leaves,
		    .n_t1 = x->n_spines,
		    .n_hosts = x->clos.n_hosts};
	if (xp_topology_is_clos(x) || x->kind == XP_TOPO_REGION)
		rc = topo_clos_init(&x->clos, &why);
	if (rc < 0 && x->kind == XP_TOPO_LEAF_SPINE)
		rc = sim_wrap(&why, rc, "a leaf-spine is a Clos of one pod");
	if (x->kind == XP_TOPO_GRAPHML && !x->file[0])
		rc = sim_fail(&why, SIM_EINVAL,
		    "kind graphml needs `file`, the network's GraphML.");
	/* Results note it in a line. */
	if (x->kind == XP_TOPO_GRAPHML && strchr(x->file, '\n'))
		rc = sim_fail(&why, SIM_EINVAL,
		    "the name of `file` has more than one line; rename it.");
	return xp_take_mistake(y, node, rc, &why, e);
}

int xp_topology_path(char **out, const struct xp_topology *x,
    const char *folder, struct sim_err *e)
{
	/* A spec may be run from any folder, so a relative name is looked for
	 * in the spec's own one. */
	const char *before = x->file[0] == '/' ? "" : folder;
	const size_t n = strlen(before) + strlen(x->file) + 1;
	int rc = SIM_ZALLOC(out, n, e);
	if (rc == 0)
		snprintf(*out, n, "%s%s", before, x->file);
	return rc;
}

int xp_topology_open(const struct xp_topology *x, const char *folder,
    struct topo *t, struct sim_err *e)
{
	struct topo_mesh *m = NULL;
	char *path = NULL;
	int rc;
	/* Callers close T also after a failure. */
	*t = (struct topo){0};
	switch (x->kind) {
	case XP_TOPO_FAT_TREE:
		rc = topo_mesh_fat_tree(&m, x->k, x->k / 2 * x->oversub, e);
		return rc < 0 ? rc : topo_open_mesh(t, m, e);
	case XP_TOPO_GRAPHML:
		if ((rc = xp_topology_path(&path, x, folder, e)) == 0)
			rc = topo_graph_read(t, path, e);
		free(path);
		return rc;
	case XP_TOPO_REGION:
		return topo_open_region(t, &x->clos, &x->region, e);
	default:
		return topo_open_clos(t, &x->clos, e);
	}
}

/* --- algorithms --------------------------------------------------------- */

static int no_such_algo(struct sim_yaml *y, const struct sim_yaml_node *name)
{
	const char *known[64];
	char quote[64];
	size_t n = 0;
	for (; n < 64 && algo_registry[n]; n++)
		known[n] = algo_registry[n]->name;
	const char *near = sim_did_you_mean(name->text, known, n);
	sim_quote(quote, name->text);
	if (near)
		return sim_yaml_mistake(y, name,
		    "no algorithm is called %s; did you mean \"%s\"?", quote,
		    near);
	return sim_yaml_mistake(y, name,
	    "no algorithm is called %s; `culprit algos` lists them.", quote);
}

static int read_label(struct sim_yaml *y, const struct sim_yaml_node *node,
    struct xp_algo *a, struct sim_err *e)
{
	static const struct sim_field field = {"label", SIM_F_STR,
	    offsetof(struct xp_algo, label),
	    .size = sizeof(((struct xp_algo *)0)->label)};
	const size_t had = y->n_mistakes;
	int rc = sim_yaml_read_value(y, node, &field, a, e);
	if (rc == 0 && y->n_mistakes == had && !a->label[0])
		rc = sim_yaml_mistake(y, node, "a label may not be empty.");
	return rc;
}

/* It describes itself, and then is read as one of ours is. */
static int read_outside(struct sim_yaml *y, const struct sim_yaml_node *node,
    struct plug_set *plugs, size_t number, struct xp_algo *a, struct sim_err *e)
{
	static const char *const also[] = {"exec", "plugin", "label", NULL};
	const struct sim_yaml_node *exec = sim_yaml_get(node, "exec");
	const struct sim_yaml_node *file = sim_yaml_get(node, "plugin");
	const struct sim_yaml_node *is = exec ? exec : file;
	const struct sim_yaml_node *label = sim_yaml_get(node, "label");
	struct sim_err why;
	int rc;
	if (exec && file)
		return sim_yaml_mistake(y, file,
		    "an algorithm has one of exec and plugin.");
	if (is->kind != SIM_YAML_SCALAR || !*is->text ||
	    strpbrk(is->text, "\r\n"))
		return sim_yaml_mistake(y, is,
		    exec ? "exec is a command of one line, as \"python3 "
			   "mine.py\"."
			 : "plugin is the name of a file, as ./mine.so.");
	if (!plugs) {
		a->ops = &plug_none;
		snprintf(a->label, sizeof(a->label), "outside %zu", number);
		rc = label ? read_label(y, label, a, e) : 0;
		return rc < 0
		    ? rc
		    : sim_zalloc(&a->params, 1, a->ops->params_size, e);
	}
	rc = plug_set_find(plugs, exec ? PLUG_EXEC : PLUG_LIBRARY, is->text,
	    number, &a->plug, &why);
	if (rc < 0)
		return xp_take_mistake(y, is, rc, &why, e);
	a->ops = plug_ops(a->plug);
	snprintf(a->label, sizeof(a->label), "%s", a->ops->name);
	if (label && (rc = read_label(y, label, a, e)) < 0)
		return rc;
	if ((rc = sim_zalloc(&a->params, 1, a->ops->params_size, e)) < 0)
		return rc;
	((struct plug_params *)a->params)->plug = a->plug;
	return sim_yaml_read(y, node, node, a->ops->params, also, a->params, e);
}

int xp_algo_read(struct sim_yaml *y, const struct sim_yaml_node *node,
    struct plug_set *plugs, size_t number, struct xp_algo *a, struct sim_err *e)
{
	static const char *const also[] = {"name", "label", NULL};
	const int plain = node->kind == SIM_YAML_SCALAR;
	const struct sim_yaml_node *name =
	    plain ? node : sim_yaml_get(node, "name");
	const struct sim_yaml_node *label = sim_yaml_get(node, "label");
	int rc;
	if (sim_yaml_get(node, "exec") || sim_yaml_get(node, "plugin"))
		return read_outside(y, node, plugs, number, a, e);
	if (!name || name->kind != SIM_YAML_SCALAR)
		return sim_yaml_mistake(y, node,
		    "an algorithm is its name or {name: ..., ...}.");
	if (!(a->ops = algo_find(name->text)))
		return no_such_algo(y, name);
	/* Without a label an algorithm has its name for one, so only a spec
	 * that runs the same algorithm twice needs labels. */
	snprintf(a->label, sizeof(a->label), "%s", a->ops->name);
	if (label && (rc = read_label(y, label, a, e)) < 0)
		return rc;
	if ((rc = sim_zalloc(&a->params, 1, a->ops->params_size, e)) < 0)
		return rc;
	/* The algorithm's own table says which keys there are beside `name` and
	 * `label`. A plain name stands for all its defaults. */
	const size_t had = y->n_mistakes;
	struct sim_err why;
	rc = sim_yaml_read(y, plain ? NULL : node, node, a->ops->params, also,
	    a->params, e);
	/* What is out of its range would only cause mistakes that follow. */
	if (rc < 0 || y->n_mistakes > had ||
	    (rc = algo_check(a->ops, a->params, &why)) == 0)
		return rc;
	sim_wrap(&why, rc, "algorithm %s", a->label);
	return xp_take_mistake(y, node, rc, &why, e);
}

/* Results find an algorithm's columns by its label, so no two may share one. An
 * algorithm that could not be read has no label, and has been told. */
static int check_label(struct sim_yaml *y, const struct sim_yaml_node *node,
    const struct xp_algo *algo, size_t i)
{
	for (size_t k = 0; algo[i].label[0] && k < i; k++)
		if (strcmp(algo[k].label, algo[i].label) == 0)
			return sim_yaml_mistake(y, node,
			    "two algorithms are labelled \"%s\"; give one a "
			    "`label` of its own.",
			    algo[i].label);
	return 0;
}

/* The less of what its plane may tell: sums, where these do for all the rows. */
static unsigned what_it_reads(const struct xp_config *c,
    const struct algo_ops *a)
{
	return a->instead & xp_plane_holds(xp_plane_of(c), c) ? a->instead
							      : a->needs;
}

static int read_algos(struct sim_yaml *y, struct plug_set *plugs,
    struct xp_config *c, struct sim_err *e)
{
	const struct sim_yaml_node *list = sim_yaml_get(y->root, "algorithms");
	int rc;
	/* Some planes measure something by themselves, so that a spec without
	 * algorithms still has results. */
	if (!list && (xp_plane_of(c)->alone || c->unread))
		return 0;
	if (!list)
		return sim_yaml_mistake(y, y->root, "algorithms is missing.");
	if (list->kind != SIM_YAML_SEQ || list->n == 0)
		return sim_yaml_mistake(y, list,
		    "algorithms is a list of at least one algorithm.");
	if ((rc = SIM_ZALLOC(&c->algo, list->n, e)) < 0)
		return rc;
	/* What is counted is freed, so all count before the first is read. */
	c->n_algos = list->n;
	for (size_t i = 0; rc == 0 && i < list->n; i++) {
		struct xp_algo *a = &c->algo[i];
		if ((rc = xp_algo_read(y, list->child[i], plugs, i, a, e)) <
			0 ||
		    (rc = check_label(y, list->child[i], c->algo, i)) < 0 ||
		    !a->ops)
			continue;
		if (c->unable == XP_UNABLE_SKIP)
			a->unable =
			    (a->ops->needs &
				~xp_plane_holds(xp_plane_of(c), c)) != 0;
		else if (!c->unread)
			rc = xp_plane_check_needs(y, list->child[i], c,
			    a->ops->name, a->ops->needs);
		if (!a->unable)
			c->needs |= what_it_reads(c, a->ops);
	}
	return rc;
}

/* --- traffic, plane ----------------------------------------------------- */

static int read_traffic(struct sim_yaml *y, struct scene_traffic_params *p,
    struct sim_err *e)
{
	const struct sim_yaml_node *node = sim_yaml_get(y->root, "traffic");
	int rc = sim_parts_read(y, "traffic", scene_traffic_parts, p, e);
	/* Both are numbers of things, drawn as whole numbers, for
	 * which a log-uniform law is not defined here
	 * (dist_whole() in models/dist.h). */
	const struct {
		const char *key;
		const struct sim_dist *dist;
	} whole[] = {{"conns", &p->conns}, {"packets", &p->packets}};
	for (size_t i = 0; rc == 0 && i < 2; i++)
		if (whole[i].dist->kind == SIM_LOG_UNIFORM)
			rc = sim_yaml_mistake(y,
			    sim_yaml_get(node, whole[i].key),
			    "%s is a number or {uniform: [a, b]}, not "
			    "log_uniform.",
			    whole[i].key);
	return rc;
}

static int read_samples(struct sim_yaml *y, struct scene_samples_params *p,
    struct sim_err *e)
{
	const struct sim_yaml_node *node = sim_yaml_get(y->root, "samples");
	const size_t had = y->n_mistakes;
	struct sim_err why;
	const int rc =
	    sim_yaml_read(y, node, y->root, scene_samples_fields, NULL, p, e);
	if (rc < 0 || y->n_mistakes > had)
		return rc;
	return xp_take_mistake(y, node ? node : y->root,
	    scene_samples_check(p, &why), &why, e);
}

/* Only who draws a pattern knows whether it fits the network: it
 * may have too few ToRs, say. So the flows are drawn once, by
 * any seed, and forgotten. */
static int check_traffic(struct sim_yaml *y, const struct topo *t,
    const struct scene_traffic_params *p, struct sim_err *e)
{
	const struct sim_yaml_node *node = sim_yaml_get(y->root, "traffic");
	const struct sim_seed where = {0};
	struct scene_traffic traffic = {0};
	struct sim_err why;
	int rc = scene_traffic_draw(&traffic, t, p, &where, &why);
	scene_traffic_free(&traffic);
	return xp_take_mistake(y, node ? node : y->root, rc, &why, e);
}

/* A fault of kind latency slows packets and loses none. Windows without
 * round-trip times would not show it to anybody. */
static int check_latency(struct sim_yaml *y, const struct xp_config *c)
{
	if (c->scene.latency.report_us > 0 || xp_plane_of(c)->has_times)
		return 0;
	for (size_t i = 0; i < c->scene.n_groups; i++)
		if (c->scene.group[i].kind == FAULT_LATENCY)
			return sim_yaml_mistake(y,
			    sim_yaml_get(y->root, "faults"),
			    "kind latency needs round-trip times: set "
			    "latency.report_over.");
	return 0;
}

/* Where no port is asked whether its buffer is full nothing would be lost there,
 * and a diagnoser would seem to stand it. */
static int check_congestion(struct sim_yaml *y, const struct xp_config *c)
{
	const struct sim_yaml_node *node = sim_yaml_get(y->root, "congestion");
	const struct xp_plane *p = xp_plane_of(c);
	const struct xp_fabric *f = xp_fabric_of(c);
	if (c->scene.congestion.racks == 0 || (p->has_buffers && !f->open))
		return 0;
	return sim_yaml_mistake(y, sim_yaml_get(node, "racks"),
	    "congestion: no buffer is full on %s %s: %s.",
	    p->has_buffers ? "fabric" : "plane",
	    p->has_buffers ? f->name : p->name,
	    p->has_buffers      ? "its time and its queues are real"
		: p->no_buffers ? p->no_buffers
				: "it asks no port");
}

static int refuse_kind(struct sim_yaml *y, const struct sim_yaml_node *node,
    uint32_t kind, const char *plane)
{
	char list[200] = "";
	struct sim_text t = {list, sizeof(list), 0};
	unsigned n = 0;
	for (const struct xp_plane *const *p = xp_planes; *p; p++)
		if ((*p)->faults >> kind & 1)
			sim_put(&t, "%s%s", n++ ? ", " : "", (*p)->name);
	return sim_yaml_mistake(y, node,
	    "kind %s acts on %s%s only, not on %s.", fault_kind_names[kind],
	    n == 0       ? "planes that carry packets"
		: n == 1 ? "plane "
			 : "planes ",
	    list, plane);
}

/* Only some planes have controller and collector, or packets that switches
 * route one by one. On any other one faults of these would change nothing, and
 * look as if nothing had come of them. */
static int check_kinds(struct sim_yaml *y, const struct xp_config *c)
{
	const struct sim_yaml_node *node = sim_yaml_get(y->root, "faults");
	const struct xp_plane *p = xp_plane_of(c);
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < c->scene.n_groups; i++) {
		const uint32_t kind = c->scene.group[i].kind;
		if (FAULT_SOME_PLANES & ~p->faults & 1u << kind)
			rc = refuse_kind(y,
			    node->kind == SIM_YAML_SEQ ? node->child[i] : node,
			    kind, p->name);
	}
	return rc;
}

/* A fault that begins when all is over would be one that nobody finds. */
static int check_fault_begins(struct sim_yaml *y, const struct xp_config *c)
{
	const struct sim_yaml_node *node = sim_yaml_get(y->root, "faults");
	const struct xp_end end = xp_plane_of(c)->end(c);
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < c->scene.n_groups; i++) {
		const struct fault_params *g = &c->scene.group[i];
		const double last = g->from_s + (end.of_all ? g->spread_s : 0);
		if (g->from_s >= end.s || last > end.s)
			rc = sim_yaml_mistake(y,
			    node->kind == SIM_YAML_SEQ ? node->child[i] : node,
			    "a fault may begin at %g s (from%s), but the run "
			    "ends at %g s (%s).",
			    last, end.of_all ? " + spread" : "", end.s,
			    end.key);
	}
	return rc;
}

static int check_asks(struct sim_yaml *y, const struct xp_config *c)
{
	int rc = check_latency(y, c);
	if (rc == 0)
		rc = check_congestion(y, c);
	return rc < 0 ? rc : check_kinds(y, c);
}

/* Read section S from its own key and from what the key `fabric` puts on top of
 * it. T is the network if this is the section of the plane that will run on it,
 * else NULL: what does not fit this network is then no mistake. */
static int spec_config_read_section(struct sim_yaml *y,
    const struct xp_section *s, const struct topo *t, void **params,
    struct sim_err *e)
{
	struct sim_yaml_node *node = NULL;
	int rc = xp_fabric_options(&node, y, s, e);
	if (rc == 0 && (rc = sim_zalloc(params, 1, s->size, e)) == 0)
		rc = s->read(y, node, t, *params, e);
	sim_yaml_node_free(node);
	return rc;
}

/* A section that is not used at this point is read all the same. The sweep may
 * vary the plane, and a mistake in it should not wait for that. */
static int read_sections(struct sim_yaml *y, const struct topo *t,
    struct xp_config *c, struct sim_err *e)
{
	const struct xp_section *s, *own = xp_plane_of(c)->section;
	int rc = 0;
	for (size_t i = 0; rc == 0 && (s = xp_section_at(i)); i++)
		rc = spec_config_read_section(y, s, s == own ? t : NULL,
		    &c->section[i], e);
	return rc;
}

/* --- all of it ---------------------------------------------------------- */

static int read_run(struct sim_yaml *y, struct xp_config *c, struct sim_err *e)
{
	static const char *const asked[] = {"plane", "unable", NULL};
	int rc = sim_field_defaults(xp_run_fields, c, e);
	for (const struct sim_field *f = xp_run_fields; rc == 0 && f->name;
	     f++) {
		const struct sim_yaml_node *v = sim_yaml_get(y->root, f->name);
		const size_t had = y->n_mistakes;
		/* `fabric` may also be a map of a name to options, which its
		 * descriptor alone can't read. */
		if (strcmp(f->name, "fabric") == 0)
			rc = xp_fabric_read(y, c, e);
		else if (v)
			rc = sim_yaml_read_value(y, v, f, c, e);
		c->unread |=
		    y->n_mistakes > had && asked[sim_word_find(asked, f->name)];
	}
	return rc;
}

static int open_topology(struct sim_yaml *y, const struct xp_topology *x,
    const char *folder, struct topo *t, struct sim_err *e)
{
	const struct sim_yaml_node *node = sim_yaml_get(y->root, "topology");
	const struct sim_yaml_node *file = sim_yaml_get(node, "file");
	struct sim_err why;
	int rc = xp_topology_open(x, folder, t, &why);
	if (rc < 0)
		topo_close(t);
	/* What is wrong with a GraphML file is told where the spec names it. */
	return xp_take_mistake(y,
	    x->kind == XP_TOPO_GRAPHML && file ? file : node, rc, &why, e);
}

/* Read what depends on the network. T is empty when it could not be opened;
 * then the other mistakes are told all the same, and only what needs a
 * network is not checked. */
static int read_scene(struct sim_yaml *y, const struct topo *t,
    struct xp_config *c, struct sim_err *e)
{
	const struct topo *net = t->n_hosts > 0 ? t : NULL;
	const struct xp_plane *p = xp_plane_of(c);
	const size_t had = y->n_mistakes;
	int rc = read_traffic(y, &c->scene.traffic, e);
	/* After the section was read, whose missing keys it fills, and before
	 * anybody relies on them. */
	if (p->prepare)
		p->prepare(y, c);
	if (rc == 0 && net && y->n_mistakes == had)
		rc = check_traffic(y, t, &c->scene.traffic, e);
	if (rc == 0)
		rc = xp_noise_read(y, net, &c->scene.noise, e);
	if (rc == 0)
		rc = sim_yaml_read(y, sim_yaml_get(y->root, "latency"), y->root,
		    scene_latency_fields, NULL, &c->scene.latency, e);
	if (rc == 0)
		rc = sim_yaml_read(y, sim_yaml_get(y->root, "congestion"),
		    y->root, scene_congestion_fields, NULL,
		    &c->scene.congestion, e);
	if (rc == 0)
		rc = read_samples(y, &c->scene.samples, e);
	if (rc == 0)
		rc = xp_faults_read(y, net, &c->scene, e);
	if (rc == 0 && !c->unread)
		rc = check_asks(y, c);
	/* A scene with mistakes in it can't be drawn, so the plane then gets no
	 * network to try it on. */
	const int good = y->n_mistakes == had;
	if (rc == 0)
		rc = read_sections(y, net, c, e);
	/* What the default can't do that stands for a misspelt plane is no
	 * mistake of whoever wrote the spec. */
	if (c->unread)
		return rc;
	if (rc == 0 && p->end)
		rc = check_fault_begins(y, c);
	if (rc == 0 && p->check)
		rc = p->check(y, good ? net : NULL, c, e);
	return rc < 0 ? rc : xp_fabric_check(y, c);
}

int xp_config_read(struct sim_yaml *y, const char *folder,
    struct plug_set *plugs, struct xp_config *c, struct sim_err *e)
{
	struct topo t = {0};
	int rc;
	xp_config_free(c);
	if ((rc = read_run(y, c, e)) < 0)
		return rc;
	const size_t had = y->n_mistakes;
	if ((rc = xp_topology_read(y, &c->topology, e)) < 0)
		return rc;
	if (y->n_mistakes == had)
		rc = open_topology(y, &c->topology, folder, &t, e);
	if (rc == 0)
		rc = read_scene(y, &t, c, e);
	/* After the sections, on which it depends what the
	 * plane's windows hold. */
	if (rc == 0)
		rc = read_algos(y, plugs, c, e);
	if (rc == 0 && y->n_mistakes == had && xp_plane_of(c)->weigh)
		rc = xp_plane_of(c)->weigh(&t, c, e);
	if (rc == 0 && y->n_mistakes == had)
		c->bytes = xp_plane_bytes(&t, c);
	topo_close(&t);
	return rc;
}
