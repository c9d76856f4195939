/* experiments/config.c -- one point of a spec: tree in, checked structs out.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "models/skip.h"
#include "models/vigil_matlab.h"
#include "sim/vec.h"
#include "topo/graph.h"
#include "topo/mesh.h"

const char *const xp_plane_names[] = {"auto", "exact", "skip", "agents",
    "vigil_matlab", "pingmesh", NULL};
static const char *const fabric_names[] = {"sim", "netns", NULL};
static const char *const kind_names[] = {"clos", "fat_tree", "graphml",
    "region", NULL};

const struct sim_field xp_run_fields[] = {
    {"plane", SIM_F_ENUM, offsetof(struct xp_config, plane),
	.names = xp_plane_names, .def = "auto",
	.doc = "bulk data plane; auto: skip where it fits, else exact; agents: "
	       "auto, seen by host agents; vigil_matlab: 007's released "
	       "simulator, conns then being 480 unless set; pingmesh: agents "
	       "that probe"},
    {"fabric", SIM_F_ENUM, offsetof(struct xp_config, fabric),
	.names = fabric_names, .def = "sim",
	.doc = "what agents live on, on planes agents and pingmesh; netns: a "
	       "real network of this machine, whose results differ a little "
	       "each time"},
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

const char *const xp_sections[] = {"topology", "traffic", "noise", "latency",
    "faults", "algorithms", "agents", "netns", "pingmesh", NULL};

void xp_config_free(struct xp_config *c)
{
	xp_faults_free(&c->scene);
	for (size_t i = 0; i < c->n_algos; i++)
		free(c->algo[i].params);
	free(c->algo);
	*c = (struct xp_config){0};
}

int xp_take_mistake(struct sim_yaml *y, const struct sim_yaml_node *node,
    int rc, const struct sim_err *why, struct sim_err *e)
{
	if (rc == SIM_ENOMEM)
		return sim_fail(e, rc, "%s", why->msg);
	return rc < 0 ? sim_yaml_mistake(y, node, "%s", why->msg) : 0;
}

/* --- topology ----------------------------------------------------------- */

/* The keys of all kinds in one table, so that an unknown one is told once and
 * from all of them. */
enum { MAX_TOPOLOGY_FIELDS = 16 };
static size_t add_fields(struct sim_field all[MAX_TOPOLOGY_FIELDS], size_t n,
    const struct sim_field *f, size_t offset)
{
	for (; f->name; f++) {
		assert(n + 1 < MAX_TOPOLOGY_FIELDS);
		all[n] = *f;
		all[n++].offset += offset;
	}
	all[n] = (struct sim_field){0};
	return n;
}

static void join_fields(struct sim_field all[MAX_TOPOLOGY_FIELDS])
{
	size_t n = add_fields(all, 0, xp_topology_fields, 0);
	n = add_fields(all, n, topo_clos_fields,
	    offsetof(struct xp_topology, clos));
	add_fields(all, n, topo_region_fields,
	    offsetof(struct xp_topology, region));
}

int xp_topology_read(struct sim_yaml *y, struct xp_topology *x,
    struct sim_err *e)
{
	struct sim_field all[MAX_TOPOLOGY_FIELDS];
	const struct sim_yaml_node *node = sim_yaml_get(y->root, "topology");
	const size_t had = y->n_mistakes;
	struct sim_err why;
	join_fields(all);
	int rc = sim_yaml_read(y, node, y->root, all, NULL, x, e);
	if (rc < 0 || y->n_mistakes > had)
		return rc;
	if (x->kind == XP_TOPO_CLOS || x->kind == XP_TOPO_REGION)
		rc = topo_clos_init(&x->clos, &why);
	else if (x->kind == XP_TOPO_GRAPHML && !x->file[0])
		rc = sim_fail(&why, SIM_EINVAL,
		    "kind graphml needs `file`, the network's GraphML.");
	return xp_take_mistake(y, node, rc, &why, e);
}

int xp_topology_path(char **out, const struct xp_topology *x,
    const char *folder, struct sim_err *e)
{
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
	*t = (struct topo){0};
	switch (x->kind) {
	case XP_TOPO_FAT_TREE:
		rc = topo_mesh_fat_tree(&m, x->k, 0, e);
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

/* `vote` or `{name: alg1, label: ..., <parameter>: ...}`. */
static int read_algo(struct sim_yaml *y, const struct sim_yaml_node *node,
    struct xp_algo *a, struct sim_err *e)
{
	static const char *const also[] = {"name", "label", NULL};
	const int plain = node->kind == SIM_YAML_SCALAR;
	const struct sim_yaml_node *name =
	    plain ? node : sim_yaml_get(node, "name");
	const struct sim_yaml_node *label = sim_yaml_get(node, "label");
	int rc;
	if (!name || name->kind != SIM_YAML_SCALAR)
		return sim_yaml_mistake(y, node,
		    "an algorithm is its name or {name: ..., ...}.");
	if (!(a->ops = algo_find(name->text)))
		return no_such_algo(y, name);
	snprintf(a->label, sizeof(a->label), "%s", a->ops->name);
	if (label && (rc = read_label(y, label, a, e)) < 0)
		return rc;
	if ((rc = sim_zalloc(&a->params, 1, a->ops->params_size, e)) < 0)
		return rc;
	return sim_yaml_read(y, plain ? NULL : node, node, a->ops->params, also,
	    a->params, e);
}

/* Without what an algorithm reads its answer would be empty, which looks like a
 * good network. */
static int check_needs(struct sim_yaml *y, const struct sim_yaml_node *node,
    const struct xp_algo *a, const struct xp_config *c)
{
	const int pingmesh = c->plane == XP_PLANE_PINGMESH;
	const unsigned needs = a->ops ? a->ops->needs : 0;
	if (needs & ALGO_NEEDS_PROBES && !pingmesh)
		return sim_yaml_mistake(y, node,
		    "%s reads Pingmesh's probes; plane %s has none.",
		    a->ops->name, xp_plane_names[c->plane]);
	if (needs & ALGO_NEEDS_TRACES && !pingmesh)
		return sim_yaml_mistake(y, node,
		    "%s reads traces with counts a hop; plane %s has none.",
		    a->ops->name, xp_plane_names[c->plane]);
	if (needs & (ALGO_NEEDS_TRACES | ALGO_NEEDS_FLOWS) && pingmesh &&
	    !c->pingmesh.trace.on)
		return sim_yaml_mistake(y, node,
		    "%s reads traces; plane pingmesh has none unless "
		    "pingmesh.trace.on.",
		    a->ops->name);
	return 0;
}

/* One that could not be read has no label. */
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

static int read_algos(struct sim_yaml *y, struct xp_config *c,
    struct sim_err *e)
{
	const struct sim_yaml_node *list = sim_yaml_get(y->root, "algorithms");
	int rc;
	if (!list && c->plane == XP_PLANE_PINGMESH)
		return 0;
	if (!list)
		return sim_yaml_mistake(y, y->root, "algorithms is missing.");
	if (list->kind != SIM_YAML_SEQ || list->n == 0)
		return sim_yaml_mistake(y, list,
		    "algorithms is a list of at least one algorithm.");
	if ((rc = SIM_ZALLOC(&c->algo, list->n, e)) < 0)
		return rc;
	c->n_algos = list->n;
	for (size_t i = 0; rc == 0 && i < list->n; i++)
		if ((rc = read_algo(y, list->child[i], &c->algo[i], e)) == 0 &&
		    (rc = check_label(y, list->child[i], c->algo, i)) == 0)
			rc = check_needs(y, list->child[i], &c->algo[i], c);
	return rc;
}

/* --- traffic, plane ----------------------------------------------------- */

static int read_traffic(struct sim_yaml *y, struct model_traffic_params *p,
    struct sim_err *e)
{
	const struct sim_yaml_node *node = sim_yaml_get(y->root, "traffic");
	int rc =
	    sim_yaml_read(y, node, y->root, model_traffic_fields, NULL, p, e);
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

static int sets_conns(const struct sim_yaml *y)
{
	return sim_yaml_get(sim_yaml_get(y->root, "traffic"), "conns") != NULL;
}

static int check_traffic(struct sim_yaml *y, const struct topo *t,
    const struct model_traffic_params *p, struct sim_err *e)
{
	const struct sim_yaml_node *node = sim_yaml_get(y->root, "traffic");
	const struct sim_seed where = {0};
	struct model_traffic traffic = {0};
	struct sim_err why;
	int rc = model_traffic_draw(&traffic, t, p, &where, &why);
	model_traffic_free(&traffic);
	return xp_take_mistake(y, node ? node : y->root, rc, &why, e);
}

/* A kind that has no random links is told by any scene. */
static int may_fail_uplink(const struct model_fault_params *g,
    const struct topo *t)
{
	if (!model_fault_uses(g->kind, "classes"))
		return 0;
	for (size_t i = 0; i < g->n_at; i++)
		if (g->at[i] < t->n_hosts + t->clos.all_tors)
			return 1;
	if (g->n_at > 0)
		return 0;
	if (g->switches > 0)
		return g->tiers >> MODEL_TIER_TOR & 1;
	return g->count > 0 && g->classes >> TOPO_HOST_TOR & 1;
}

static int may_fail_uplinks(const struct model_scene_params *s,
    const struct topo *t)
{
	for (size_t i = 0; i < s->n_groups; i++)
		if (s->group[i].n_links == 0 &&
		    may_fail_uplink(&s->group[i], t))
			return 1;
	return 0;
}

/* A slow link shows in round-trip times alone, which probes have anyway. */
static int check_latency(struct sim_yaml *y, const struct xp_config *c)
{
	const int none =
	    c->scene.latency.report_us == 0 && c->plane != XP_PLANE_PINGMESH;
	for (size_t i = 0; none && i < c->scene.n_groups; i++)
		if (c->scene.group[i].kind == MODEL_FAULT_LATENCY)
			return sim_yaml_mistake(y,
			    sim_yaml_get(y->root, "faults"),
			    "kind latency needs round-trip times: set "
			    "latency.report_over.");
	if (!none && c->plane == XP_PLANE_AGENTS)
		return sim_yaml_mistake(y, sim_yaml_get(y->root, "plane"),
		    "agents have no round-trip times (latency.report_over).");
	return 0;
}

/* On other planes nobody asks Pingmesh's services for anything. */
static int check_services(struct sim_yaml *y, const struct xp_config *c)
{
	const struct sim_yaml_node *node = sim_yaml_get(y->root, "faults");
	int rc = 0;
	if (c->plane == XP_PLANE_PINGMESH)
		return 0;
	for (size_t i = 0; rc == 0 && i < c->scene.n_groups; i++) {
		const uint32_t kind = c->scene.group[i].kind;
		if (kind == MODEL_FAULT_CONTROLLER ||
		    kind == MODEL_FAULT_COLLECTOR)
			rc = sim_yaml_mistake(y,
			    node->kind == SIM_YAML_SEQ ? node->child[i] : node,
			    "kind %s acts on plane pingmesh only.",
			    model_fault_kind_names[kind]);
	}
	return rc;
}

/* A plane that is asked for by name must be able to run every scene. */
static int check_plane(struct sim_yaml *y, const struct topo *t,
    const struct xp_config *c, struct sim_err *e)
{
	const struct sim_yaml_node *node = sim_yaml_get(y->root, "plane");
	const struct sim_seed where = {0};
	struct model_scene scene = {0};
	struct sim_err why;
	if (c->plane != XP_PLANE_SKIP && c->plane != XP_PLANE_VIGIL_MATLAB)
		return 0;
	if (c->plane == XP_PLANE_SKIP && may_fail_uplinks(&c->scene, t))
		return sim_yaml_mistake(y, node,
		    "skipping can't have a fault on a host's uplink (class "
		    "host-tor).");
	int rc = model_scene_draw(&scene, t, &c->scene, &where, &why);
	if (rc == 0)
		rc = c->plane == XP_PLANE_SKIP
		    ? model_skip_fits(&scene, &why)
		    : model_vigil_matlab_fits(&scene, &why);
	model_scene_free(&scene);
	return xp_take_mistake(y, node, rc, &why, e);
}

/* What a real network has not, of plane agents, ... */
static int check_real_agents(struct sim_yaml *y, const struct xp_config *c)
{
	const struct fabric_sim_params *f = &c->agents.fabric;
	const struct sim_yaml_node *agents = sim_yaml_get(y->root, "agents");
	if (f->slb.share > 0)
		return sim_yaml_mistake(y, sim_yaml_get(agents, "slb"),
		    "fabric netns has no load balancer.");
	if (f->flap.count > 0)
		return sim_yaml_mistake(y, sim_yaml_get(agents, "flaps"),
		    "no cable flaps on fabric netns.");
	if (f->icmp.source != MODEL_ICMP_INGRESS)
		return sim_yaml_mistake(y, sim_yaml_get(agents, "icmp"),
		    "on fabric netns the source of ICMP messages is ingress.");
	if (f->icmp.t_max > 1e6)
		return sim_yaml_mistake(y, sim_yaml_get(agents, "icmp"),
		    "t_max %g: kernels limit up to 1e6 ICMP messages a second; "
		    "0 is no limit.",
		    f->icmp.t_max);
	return 0;
}

/* ... and of plane pingmesh. */
static int check_real_pingmesh(struct sim_yaml *y, const struct xp_config *c)
{
	const struct sim_yaml_node *faults = sim_yaml_get(y->root, "faults");
	const struct sim_yaml_node *node = sim_yaml_get(y->root, "pingmesh");
	const struct xp_pingmesh *p = &c->pingmesh;
	if (c->topology.kind != XP_TOPO_CLOS)
		return sim_yaml_mistake(y, sim_yaml_get(y->root, "topology"),
		    "plane pingmesh on fabric netns needs a topology of kind "
		    "clos.");
	if (*p->pinglist.vips)
		return sim_yaml_mistake(y, sim_yaml_get(node, "pinglist"),
		    "vips: fabric netns has no load balancer.");
	if (p->trace.on)
		return sim_yaml_mistake(y, sim_yaml_get(node, "trace"),
		    "plane pingmesh traces nothing on fabric netns.");
	if (p->connect.timers == FABRIC_SIM_LINUX_LINEAR &&
	    p->connect.retries > 0 && p->connect.retries < 5)
		return sim_yaml_mistake(y, sim_yaml_get(node, "connect"),
		    "retries %u: with timers linux_linear, a kernel has at "
		    "least 5.",
		    p->connect.retries);
	for (size_t i = 0; i < c->scene.n_groups; i++) {
		const struct model_fault_params *g = &c->scene.group[i];
		if ((g->kind == MODEL_FAULT_CONTROLLER ||
			g->kind == MODEL_FAULT_COLLECTOR) &&
		    g->mode == TRUTH_SLOW)
			return sim_yaml_mistake(y, faults,
			    "kind %s: on fabric netns services are not slow.",
			    model_fault_kind_names[g->kind]);
	}
	return 0;
}

static int check_fabric(struct sim_yaml *y, const struct xp_config *c)
{
	if (c->fabric == XP_FABRIC_SIM)
		return 0;
	if (c->plane == XP_PLANE_AGENTS)
		return check_real_agents(y, c);
	if (c->plane == XP_PLANE_PINGMESH)
		return check_real_pingmesh(y, c);
	return sim_yaml_mistake(y, sim_yaml_get(y->root, "fabric"),
	    "fabric netns is for planes agents and pingmesh.");
}

int xp_config_net(struct xp_net **n, const struct xp_config *c,
    const struct topo *t, const struct xp_pingmesh *p, struct sim_err *e)
{
	return c->fabric == XP_FABRIC_NETNS
	    ? xp_net_open_netns(n, t, p, &c->lab.net, e)
	    : xp_net_open_sim(n, t, p, e);
}

/* --- all of it ---------------------------------------------------------- */

static int read_run(struct sim_yaml *y, struct xp_config *c, struct sim_err *e)
{
	int rc = sim_field_defaults(xp_run_fields, c, e);
	for (const struct sim_field *f = xp_run_fields; rc == 0 && f->name;
	     f++) {
		const struct sim_yaml_node *v = sim_yaml_get(y->root, f->name);
		if (v)
			rc = sim_yaml_read_value(y, v, f, c, e);
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
	return xp_take_mistake(y,
	    x->kind == XP_TOPO_GRAPHML && file ? file : node, rc, &why, e);
}

/* What depends on the network. T is empty when it could not be opened: the
 * other mistakes are told all the same. */
static int read_scene(struct sim_yaml *y, const struct topo *t,
    struct xp_config *c, struct sim_err *e)
{
	const int opened = t->n_hosts > 0;
	size_t had = y->n_mistakes;
	int rc = read_traffic(y, &c->scene.traffic, e);
	if (c->plane == XP_PLANE_VIGIL_MATLAB && !sets_conns(y))
		c->scene.traffic.conns = (struct sim_dist){SIM_FIXED,
		    MODEL_VIGIL_MATLAB_CONNS, MODEL_VIGIL_MATLAB_CONNS};
	if (rc == 0 && opened && y->n_mistakes == had)
		rc = check_traffic(y, t, &c->scene.traffic, e);
	if (rc == 0)
		rc = sim_yaml_read(y, sim_yaml_get(y->root, "noise"), y->root,
		    model_noise_fields, NULL, &c->scene.noise, e);
	if (rc == 0)
		rc = sim_yaml_read(y, sim_yaml_get(y->root, "latency"), y->root,
		    model_latency_fields, NULL, &c->scene.latency, e);
	if (rc == 0)
		rc = xp_faults_read(y, opened ? t : NULL, &c->scene, e);
	if (rc == 0)
		rc = check_latency(y, c);
	if (rc == 0)
		rc = check_services(y, c);
	if (rc == 0 && opened && y->n_mistakes == had)
		rc = check_plane(y, t, c, e);
	if (rc == 0)
		rc = xp_agents_read(y, opened ? t : NULL, &c->agents, e);
	if (rc == 0)
		rc = xp_lab_read(y, &c->lab, e);
	if (rc == 0)
		rc = xp_pingmesh_read(y,
		    opened && c->plane == XP_PLANE_PINGMESH ? t : NULL,
		    &c->pingmesh, e);
	if (rc == 0)
		rc = check_fabric(y, c);
	return rc;
}

int xp_config_read(struct sim_yaml *y, const char *folder, struct xp_config *c,
    struct sim_err *e)
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
	if (rc == 0)
		rc = read_algos(y, c, e);
	topo_close(&t);
	return rc;
}
