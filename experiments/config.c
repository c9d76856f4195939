/* experiments/config.c -- one point of a spec: tree in, checked structs out.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/config.h"

#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"
#include "topo/graph.h"
#include "topo/mesh.h"

static const char *const plane_names[] = {"auto", "exact", "skip", NULL};
static const char *const kind_names[] = {"clos", "fat_tree", "graphml", NULL};

const struct sim_field xp_run_fields[] = {
    {"plane", SIM_F_ENUM, offsetof(struct xp_config, plane),
     .names = plane_names, .def = "auto",
     .doc = "bulk data plane; auto: skip where it fits, else exact"},
    {"common", SIM_F_BOOL, offsetof(struct xp_config, common), .def = "true",
     .doc = "the same random numbers at every point of the sweep"},
    {0},
};

const struct sim_field xp_topology_fields[] = {
    {"kind", SIM_F_ENUM, offsetof(struct xp_topology, kind),
     .names = kind_names, .def = "clos", .doc = "what to build"},
    {"k", SIM_F_U32, offsetof(struct xp_topology, k), .min = 2, .max = 64,
     .unit = "ports", .def = "4", .doc = "ports a switch (fat_tree)"},
    {"file", SIM_F_STR, offsetof(struct xp_topology, file),
     .size = sizeof(((struct xp_topology *)0)->file), .def = "",
     .doc = "a GraphML file, relative to the spec (graphml)"},
    {0},
};

void xp_config_free(struct xp_config *c)
{
	for (size_t i = 0; i < c->scene.n_groups; i++)
		free(c->scene.group[i].links);
	free(c->scene.group);
	for (size_t i = 0; i < c->n_algos; i++)
		free(c->algo[i].params);
	free(c->algo);
	*c = (struct xp_config){0};
}

/* The topology's keys stand in two tables: its own and the Clos'. */
int xp_topology_read(struct sim_yaml *y, struct xp_topology *x,
			 struct sim_err *e)
{
	static const char *const own[] = {"kind", "k", "file", NULL};
	static const char *const clos[] = {"n_pods", "n_tors",	"n_t1",
					   "n_t2",   "n_hosts", NULL};
	const struct sim_yaml_node *node = sim_yaml_get(y->root, "topology");
	const size_t had = y->n_mistakes;
	struct sim_err shape;
	int rc =
	    sim_yaml_read(y, node, y->root, xp_topology_fields, clos, x, e);
	if (rc == 0)
		rc = sim_yaml_read(y, node, y->root, topo_clos_fields, own,
				   &x->clos, e);
	if (rc < 0 || y->n_mistakes > had)
		return rc;
	if (x->kind == XP_TOPO_CLOS && topo_clos_init(&x->clos, &shape) < 0)
		return sim_yaml_mistake(y, node, "%s", shape.msg);
	if (x->kind == XP_TOPO_GRAPHML && !x->file[0])
		return sim_yaml_mistake(
		    y, node,
		    "kind graphml needs `file`, the network's GraphML.");
	return 0;
}

/* `links: [17, "tor0->t1.3"]`, resolved when the network is known. */
static int read_links(struct sim_yaml *y, const struct sim_yaml_node *list,
		      const struct topo *t, struct model_fault_params *g,
		      struct sim_err *e)
{
	int rc;
	if (!list)
		return 0;
	if (list->kind != SIM_YAML_SEQ || list->n == 0)
		return sim_yaml_mistake(
		    y, list,
		    "links is a list of link ids or \"from->to\" names.");
	if ((rc = SIM_ZALLOC(&g->links, list->n, e)) < 0)
		return rc;
	for (size_t i = 0; i < list->n; i++) {
		const struct sim_yaml_node *item = list->child[i];
		struct sim_err why = {0};
		if (item->kind != SIM_YAML_SCALAR)
			rc = sim_yaml_mistake(
			    y, item, "a link is an id or a \"from->to\" name.");
		else if (topo_link_parse(t, item->text, &g->links[i], &why) < 0)
			rc = sim_yaml_mistake(y, item, "%s", why.msg);
		if (rc < 0)
			return rc;
		g->n_links++;
	}
	return 0;
}

/* How many links may fail at most, to say so at the place of the mistake. */
static int check_group(struct sim_yaml *y, const struct sim_yaml_node *node,
		       const struct topo *t, const struct model_fault_params *g)
{
	struct truth truth = {0};
	struct sim_err why;
	const struct sim_seed where = {0};
	struct model_fault_params one = *g;
	int rc = model_fault_draw(t, &one, 1, &where, &truth, &why);
	truth_free(&truth);
	if (rc == SIM_ENOMEM)
		return rc;
	return rc < 0 ? sim_yaml_mistake(y, node, "%s", why.msg) : 0;
}

static int read_group(struct sim_yaml *y, const struct sim_yaml_node *node,
		      const struct topo *t, struct model_fault_params *g,
		      struct sim_err *e)
{
	static const char *const also[] = {"links", NULL};
	const size_t had = y->n_mistakes;
	int rc =
	    sim_yaml_read(y, node, y->root, model_fault_fields, also, g, e);
	if (rc == 0)
		rc = read_links(y, sim_yaml_get(node, "links"), t, g, e);
	if (rc == 0 && y->n_mistakes == had)
		rc = check_group(y, node, t, g);
	return rc;
}

/* `faults` is one group or a list of groups; none when it is absent. */
static int read_faults(struct sim_yaml *y, const struct topo *t,
		       struct model_scene_params *s, struct sim_err *e)
{
	const struct sim_yaml_node *node = sim_yaml_get(y->root, "faults");
	const int list = node && node->kind == SIM_YAML_SEQ;
	int rc;
	s->n_groups = list ? node->n : node != NULL;
	if ((rc = SIM_ZALLOC(&s->group, s->n_groups, e)) < 0) {
		s->n_groups = 0;
		return rc;
	}
	for (size_t i = 0; rc == 0 && i < s->n_groups; i++)
		rc = read_group(y, list ? node->child[i] : node, t,
				&s->group[i], e);
	return rc;
}

static const struct algo_ops *find_algo(struct sim_yaml *y,
					const struct sim_yaml_node *name)
{
	const char *known[64];
	size_t n = 0;
	if (!name || name->kind != SIM_YAML_SCALAR)
		return NULL;
	const struct algo_ops *ops = algo_find(name->text);
	if (ops)
		return ops;
	for (; algo_registry[n] && n < 64; n++)
		known[n] = algo_registry[n]->name;
	const char *near = sim_did_you_mean(name->text, known, n);
	sim_yaml_mistake(y, name, "no algorithm is called \"%s\"%s%s%s",
			 name->text, near ? "; did you mean \"" : "",
			 near ? near : "",
			 near ? "\"?" : "; `culprit algos` lists them.");
	return NULL;
}

/* `vote` or `{name: alg1, label: ..., <parameter>: ...}`. */
static int read_algo(struct sim_yaml *y, const struct sim_yaml_node *node,
		     struct xp_algo *a, struct sim_err *e)
{
	static const char *const also[] = {"name", "label", NULL};
	const struct sim_field label = {"label", SIM_F_STR,
					offsetof(struct xp_algo, label),
					.size = sizeof(a->label)};
	const int plain = node->kind == SIM_YAML_SCALAR;
	const struct sim_yaml_node *name =
	    plain ? node : sim_yaml_get(node, "name");
	const struct sim_yaml_node *text = sim_yaml_get(node, "label");
	const size_t had = y->n_mistakes;
	int rc;
	if (!(a->ops = find_algo(y, name)))
		return y->n_mistakes > had
			   ? 0
			   : sim_yaml_mistake(y, node,
					      "an algorithm is its name or "
					      "{name: ..., ...}.");
	snprintf(a->label, sizeof(a->label), "%s", a->ops->name);
	if (text && (rc = sim_yaml_read_value(y, text, &label, a, e)) < 0)
		return rc;
	if ((rc = sim_zalloc(&a->params, 1, a->ops->params_size, e)) < 0)
		return rc;
	return sim_yaml_read(y, plain ? NULL : node, node, a->ops->params, also,
			     a->params, e);
}

static int read_algos(struct sim_yaml *y, struct xp_config *c,
		      struct sim_err *e)
{
	const struct sim_yaml_node *list = sim_yaml_get(y->root, "algorithms");
	int rc;
	if (!list || list->kind != SIM_YAML_SEQ || list->n == 0)
		return sim_yaml_mistake(
		    y, list, "algorithms is a list of at least one algorithm.");
	if ((rc = SIM_ZALLOC(&c->algo, list->n, e)) < 0)
		return rc;
	for (size_t i = 0; i < list->n; i++) {
		c->n_algos = i + 1;
		if ((rc = read_algo(y, list->child[i], &c->algo[i], e)) < 0)
			return rc;
		for (size_t k = 0; k < i && rc == 0; k++)
			if (strcmp(c->algo[k].label, c->algo[i].label) == 0)
				rc = sim_yaml_mistake(
				    y, list->child[i],
				    "two algorithms are labelled \"%s\"; give "
				    "one a `label` of its own.",
				    c->algo[i].label);
	}
	return rc;
}

int xp_topology_open(const struct xp_topology *x, const char *folder,
		     struct topo *t, struct sim_err *e)
{
	struct topo_mesh *m = NULL;
	char path[1024];
	int rc;
	switch (x->kind) {
	case XP_TOPO_FAT_TREE:
		rc = topo_mesh_fat_tree(&m, x->k, 0, e);
		return rc < 0 ? rc : topo_open_mesh(t, m, e);
	case XP_TOPO_GRAPHML:
		snprintf(path, sizeof(path), "%s%s",
			 x->file[0] == '/' ? "" : folder, x->file);
		return topo_graph_read(t, path, e);
	default:
		return topo_open_clos(t, &x->clos, e);
	}
}

static int check_traffic(struct sim_yaml *y, const struct topo *t,
			 const struct model_traffic_params *p)
{
	struct model_traffic traffic = {0};
	struct sim_err why;
	const struct sim_seed where = {0};
	int rc = model_traffic_draw(&traffic, t, p, &where, &why);
	model_traffic_free(&traffic);
	if (rc == SIM_ENOMEM)
		return rc;
	return rc < 0 ? sim_yaml_mistake(y, sim_yaml_get(y->root, "traffic"),
					 "%s", why.msg)
		      : 0;
}

int xp_config_read(struct sim_yaml *y, const char *const *top,
		   const char *folder, struct xp_config *c, struct sim_err *e)
{
	const size_t had = y->n_mistakes;
	struct topo t = {0};
	int rc;
	xp_config_free(c);
	if ((rc = sim_yaml_read(y, y->root, NULL, xp_run_fields, top, c, e)) <
		0 ||
	    (rc = xp_topology_read(y, &c->topology, e)) < 0 ||
	    (rc = sim_yaml_read(y, sim_yaml_get(y->root, "traffic"), y->root,
				model_traffic_fields, NULL, &c->scene.traffic,
				e)) < 0 ||
	    (rc = sim_yaml_read(y, sim_yaml_get(y->root, "noise"), y->root,
				model_noise_fields, NULL, &c->scene.noise, e)) <
		0 ||
	    (rc = read_algos(y, c, e)) < 0)
		return rc;
	/* Faults name links, so they need the network; without one, the
	 * mistakes so far are all there is to say. */
	if (y->n_mistakes > had)
		return 0;
	struct sim_err why = {0};
	rc = xp_topology_open(&c->topology, folder, &t, &why);
	if (rc < 0)
		return sim_yaml_mistake(y, sim_yaml_get(y->root, "topology"),
					"%s", why.msg);
	rc = read_faults(y, &t, &c->scene, e);
	if (rc == 0 && y->n_mistakes == had)
		rc = check_traffic(y, &t, &c->scene.traffic);
	topo_close(&t);
	return rc;
}
