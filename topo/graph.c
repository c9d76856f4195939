/* topo/graph.c -- igraph: GraphML in and out, and checks of every builder.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "topo/graph.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "sim/input.h"
#include "sim/vec.h"
#include "topo/graph_ids.h"
#define LATE_DEFINE
#include "topo/igraph.late.h"
#include "topo/mesh.h"

/* --- igraph's failures ----------------------------------------------------
 *
 * By default igraph prints and aborts. Its handlers are process-wide and take
 * no argument of ours, so what they catch has to stand in a global variable. It
 * is written and read within one call of guard() and means nothing outside.
 */
static struct {
	char msg[512];
	jmp_buf escape;
} caught;

static void catch_error(const char *reason, const char *file, int line,
    igraph_error_t code)
{
	(void)file, (void)line;
	/* igraph reports a failure at each level it passes through; the first
	 * report, from the innermost level, is the exact one. */
	if (!caught.msg[0])
		snprintf(caught.msg, sizeof(caught.msg), "%s (%s)", reason,
		    igraph_strerror(code));
	/* Free what igraph has listed as to be freed when it fails. */
	IGRAPH_FINALLY_FREE();
}

/* A warning changes no result, and a library may not print. */
static void catch_warning(const char *reason, const char *file, int line)
{
	(void)reason, (void)file, (void)line;
}

/* igraph found one of its own invariants broken. It must not go on and expects
 * this handler not to return, but the program must not end: jump back to
 * guard(). What igraph had allocated is lost. */
static void catch_fatal(const char *reason, const char *file, int line)
{
	snprintf(caught.msg, sizeof(caught.msg), "%s (%s:%d)", reason, file,
	    line);
	longjmp(caught.escape, 1);
}

/* "igraph: ..." as one line that ends in one full stop. */
static int fail_igraph(struct sim_err *e, int code)
{
	char *msg = caught.msg;
	for (char *p = msg; *p; p++)
		if (*p == '\n')
			*p = ' ';
	size_t n = strlen(msg);
	while (n > 0 && strchr(". ", msg[n - 1]))
		msg[--n] = '\0';
	return sim_fail(e, code, "igraph: %s.", n ? msg : "unknown failure");
}

/* Run FN(arg), which may use igraph, with our handlers in place, and put back
 * those that were there before, which may be another user's of the library. */
static int guard(int (*fn)(void *arg, struct sim_err *e), void *arg,
    struct sim_err *e)
{
	int rc = sim_late_load(&late_igraph_library, e);
	if (rc < 0)
		return rc;
	igraph_error_handler_t *error = igraph_set_error_handler(catch_error);
	igraph_warning_handler_t *warning =
	    igraph_set_warning_handler(catch_warning);
	igraph_fatal_handler_t *fatal = igraph_set_fatal_handler(catch_fatal);
	igraph_attribute_table_t *table =
	    igraph_set_attribute_table(&igraph_cattribute_table);
	caught.msg[0] = '\0';
	if (setjmp(caught.escape) == 0)
		rc = fn(arg, e);
	else
		rc = fail_igraph(e, SIM_EDEP);
	igraph_set_attribute_table(table);
	igraph_set_fatal_handler(fatal);
	igraph_set_warning_handler(warning);
	igraph_set_error_handler(error);
	return rc;
}

/* --- reading -------------------------------------------------------------- */

struct reader {
	FILE *file;
	struct topo_graph_ids ids;
	struct topo_mesh *mesh; /* the result */
	igraph_t graph;
	size_t n_vertices, n_edges, n_ids; /* vertices, of these with an id */
	int has_id, has_tier, has_name;
	/* The input of topo_mesh_open(). */
	uint32_t n_hosts, n_switches;
	topo_node *node; /* [n_vertices] of each vertex */
	struct topo_cable *cable;
	uint32_t *tier;
	const char **name, **id;
	size_t *vertex_of; /* [nodes], the reverse of node[] */
};

/* The id of a vertex in the file. igraph keeps it as an attribute, unless the
 * file has an attribute of that name itself, perhaps of another type: so are
 * files that igraph writes, where that attribute is what the id was before. */
static const char *file_id(const struct reader *r, size_t v)
{
	return r->has_id ? VAS(&r->graph, "id", (igraph_integer_t)v) : "";
}

/* "vertex 7 (id n7, name leaf)", for messages; vertices count from 0. */
static const char *graph_describe(const struct reader *r, size_t v,
    char buf[160])
{
	const char *name =
	    r->has_name ? VAS(&r->graph, "name", (igraph_integer_t)v) : "";
	char quote[2][64];
	snprintf(buf, 160, "vertex %zu (id %s%s%s)", v,
	    sim_quote(quote[0], file_id(r, v)), name[0] ? ", name " : "",
	    name[0] ? sim_quote(quote[1], name) : "");
	return buf;
}

/* Whether vertices have the attribute; -1 with an error if of another type. */
static int has_attribute(const struct reader *r, const char *name,
    igraph_attribute_type_t type, struct sim_err *e)
{
	igraph_attribute_type_t got;
	if (!igraph_cattribute_has_attr(&r->graph, IGRAPH_ATTRIBUTE_VERTEX,
		name))
		return 0;
	igraph_cattribute_table.gettype(&r->graph, &got,
	    IGRAPH_ATTRIBUTE_VERTEX, name);
	if (got == type)
		return 1;
	sim_fail(e, SIM_EPARSE, "The vertex attribute \"%s\" must be %s.", name,
	    type == IGRAPH_ATTRIBUTE_STRING ? "a string" : "an int");
	return -1;
}

/* What must hold for the file as a whole, before single vertices are read. An
 * `id` of another type is not the node's id, which is then not to be had. */
static int look_over(struct reader *r, struct sim_err *e)
{
	if (igraph_is_directed(&r->graph))
		return sim_fail(e, SIM_EPARSE,
		    "The graph is directed, but cables are not: it needs "
		    "edgedefault=\"undirected\".");
	r->has_id = has_attribute(r, "id", IGRAPH_ATTRIBUTE_STRING, NULL) == 1;
	int kind = has_attribute(r, "kind", IGRAPH_ATTRIBUTE_STRING, e);
	if (kind == 0)
		return sim_fail(e, SIM_EPARSE,
		    "The vertices have no attribute \"kind\": \"host\" or "
		    "\"switch\".");
	r->has_tier = has_attribute(r, "tier", IGRAPH_ATTRIBUTE_NUMERIC, e);
	r->has_name = has_attribute(r, "name", IGRAPH_ATTRIBUTE_STRING, e);
	if (kind < 0 || r->has_tier < 0 || r->has_name < 0)
		return SIM_EPARSE;
	r->n_vertices = (size_t)igraph_vcount(&r->graph);
	r->n_edges = (size_t)igraph_ecount(&r->graph);
	if (r->n_vertices >= TOPO_NONE)
		return sim_fail(e, SIM_ELIMIT,
		    "%zu vertices are more than the limit of %u.",
		    r->n_vertices, TOPO_NONE - 1);
	for (size_t v = 0; r->has_id && v < r->n_vertices; v++)
		topo_graph_ids_mend(file_id(r, v));
	return 0;
}

/* Number the vertices as nodes: hosts from 0 in the order of the file, then the
 * switches, whose first number is known only after all hosts. */
static int graph_number(struct reader *r, struct sim_err *e)
{
	char d[160];
	int rc = SIM_ZALLOC(&r->node, r->n_vertices, e);
	for (size_t v = 0; v < r->n_vertices && rc == 0; v++) {
		const char *kind = VAS(&r->graph, "kind", (igraph_integer_t)v);
		if (strcmp(kind, "host") == 0)
			r->node[v] = r->n_hosts++;
		else if (strcmp(kind, "switch") == 0)
			r->n_switches++;
		else if (!kind[0])
			rc = sim_fail(e, SIM_EPARSE,
			    "The %s has no \"kind\": \"host\" or \"switch\".",
			    graph_describe(r, v, d));
		else
			rc = sim_fail(e, SIM_EPARSE,
			    "The %s is of kind \"%.40s\", which is neither "
			    "\"host\" nor \"switch\".",
			    graph_describe(r, v, d), kind);
	}
	topo_node next = r->n_hosts;
	for (size_t v = 0; v < r->n_vertices && rc == 0; v++)
		if (strcmp(VAS(&r->graph, "kind", (igraph_integer_t)v),
			"switch") == 0)
			r->node[v] = next++;
	return rc;
}

/* Whether any switch has a tier: a file may declare the key and not use it. */
static int uses_tiers(const struct reader *r)
{
	for (size_t v = 0; r->has_tier && v < r->n_vertices; v++)
		if (r->node[v] >= r->n_hosts &&
		    !isnan(VAN(&r->graph, "tier", (igraph_integer_t)v)))
			return 1;
	return 0;
}

/* A node is called by its name, and one without a name by its id. */
static void read_name(struct reader *r, size_t v)
{
	const topo_node n = r->node[v];
	const char *name =
	    r->has_name ? VAS(&r->graph, "name", (igraph_integer_t)v) : "";
	r->id[n] = file_id(r, v);
	r->n_ids += r->id[n][0] != '\0';
	r->name[n] = name[0] ? name : r->id[n][0] ? r->id[n] : NULL;
}

static int read_attributes(struct reader *r, struct sim_err *e)
{
	char d[160];
	int rc;
	if ((rc = SIM_ZALLOC(&r->vertex_of, r->n_vertices, e)) < 0 ||
	    (rc = SIM_ZALLOC(&r->tier, r->n_switches, e)) < 0 ||
	    (rc = SIM_ZALLOC(&r->name, r->n_vertices, e)) < 0 ||
	    (rc = SIM_ZALLOC(&r->id, r->n_vertices, e)) < 0)
		return rc;
	r->has_tier = uses_tiers(r);
	for (size_t v = 0; v < r->n_vertices; v++) {
		topo_node n = r->node[v];
		r->vertex_of[n] = v;
		read_name(r, v);
		if (!r->has_tier || n < r->n_hosts)
			continue;
		double tier = VAN(&r->graph, "tier", (igraph_integer_t)v);
		if (!(tier >= 0 && tier <= 255) || tier != floor(tier))
			return sim_fail(e, SIM_EPARSE,
			    "The %s needs a \"tier\" that is a whole number in "
			    "[0, 255], as all switches or none.",
			    graph_describe(r, v, d));
		r->tier[n - r->n_hosts] = (uint32_t)tier;
	}
	return 0;
}

/* Put the cables of hosts first, by host, and the others behind them in the
 * order of the file. A host's cable ends at a switch, whose node number is
 * above 0 as there are hosts: so b == 0 marks a host without a cable yet. */
static int read_cables(struct reader *r, struct sim_err *e)
{
	char d[160], d2[160];
	size_t n_trunks = 0;
	int rc = SIM_ZALLOC(&r->cable, r->n_hosts + r->n_edges, e);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < r->n_edges; i++) {
		igraph_integer_t from, to;
		igraph_edge(&r->graph, (igraph_integer_t)i, &from, &to);
		topo_node a = r->node[from], b = r->node[to];
		/* An undirected edge has its ends in any order; hosts have the
		 * smaller numbers. */
		struct topo_cable c = {a < b ? a : b, a < b ? b : a};
		if (c.b < r->n_hosts)
			return sim_fail(e, SIM_EPARSE,
			    "An edge joins two hosts, %s and %s.",
			    graph_describe(r, r->vertex_of[c.a], d),
			    graph_describe(r, r->vertex_of[c.b], d2));
		if (c.a >= r->n_hosts)
			r->cable[r->n_hosts + n_trunks++] = c;
		else if (r->cable[c.a].b == 0)
			r->cable[c.a] = c;
		else
			return sim_fail(e, SIM_EPARSE,
			    "The host %s has two cables.",
			    graph_describe(r, r->vertex_of[c.a], d));
	}
	for (topo_host h = 0; h < r->n_hosts; h++)
		if (r->cable[h].b == 0)
			return sim_fail(e, SIM_EPARSE,
			    "The host %s has no cable.",
			    graph_describe(r, r->vertex_of[h], d));
	return 0;
}

static int graph_build(struct reader *r, struct sim_err *e)
{
	int rc;
	if ((rc = look_over(r, e)) < 0 || (rc = graph_number(r, e)) < 0 ||
	    (rc = read_attributes(r, e)) < 0 || (rc = read_cables(r, e)) < 0)
		return rc;
	struct topo_mesh_input in = {
	    .n_hosts = r->n_hosts,
	    .n_switches = r->n_switches,
	    .n_cables = r->n_edges,
	    .cable = r->cable,
	    .tier = r->has_tier ? r->tier : NULL,
	    .name = r->name,
	    .id = r->n_ids == r->n_vertices ? r->id : NULL,
	};
	return topo_mesh_open(&r->mesh, &in, e);
}

static int read_guarded(void *arg, struct sim_err *e)
{
	struct reader *r = arg;
	igraph_error_t read = igraph_read_graph_graphml(&r->graph, r->file, 0);
	if (read == IGRAPH_EINVAL) /* no graph of that index */
		return sim_fail(e, SIM_EPARSE, "The file holds no graph.");
	if (read != IGRAPH_SUCCESS)
		return fail_igraph(e, SIM_EPARSE);
	int rc =
	    topo_graph_ids_check(&r->ids, (size_t)igraph_vcount(&r->graph), e);
	if (rc == 0)
		rc = graph_build(r, e);
	igraph_destroy(&r->graph);
	free(r->vertex_of);
	free(r->id);
	free(r->name);
	free(r->tier);
	free(r->cable);
	free(r->node);
	return rc;
}

int topo_graph_read(struct topo *t, const char *path, struct sim_err *e)
{
	*t = (struct topo){0};
	struct reader r = {.file = NULL};
	const char *why;
	FILE *f = sim_input_open(path, &why);
	if (!f)
		return sim_fail(e, SIM_EIO, "%s: %s.", path, why);
	int rc = SIM_ENOMEM;
	/* Names and ids point into igraph's graph, so the mesh, which copies
	 * them, is built before read_guarded() destroys the graph. */
	if ((r.file = topo_graph_ids_open(&r.ids, f))) {
		rc = guard(read_guarded, &r, e);
		fclose(r.file);
	} else {
		sim_fail(e, rc, "no memory to read it.");
	}
	fclose(f);
	topo_graph_ids_free(&r.ids);
	if (rc < 0)
		return sim_wrap(e, rc, "%s", path);
	return topo_open_mesh(t, r.mesh, e);
}

/* --- checks --------------------------------------------------------------- */

#define MAX_TRUNKS (UINT32_C(1) << 24)

struct checker {
	const struct topo *t;
	uint32_t max_pairs;
	struct topo_graph_report *report;
	uint32_t n_tors;
	topo_switch *tor;    /* [n_tors], ascending */
	uint32_t *n_hosts;   /* [n_switches] */
	igraph_t fabric;     /* the switches: vertex s is switch s */
	igraph_t with_hosts; /* then up to two hosts a ToR */
	int has_fabric, has_with_hosts;
};

/* ToRs are the switches with hosts, whatever the file calls their tier. */
static int count_hosts(struct checker *k, struct sim_err *e)
{
	const struct topo *t = k->t;
	int rc;
	if ((rc = SIM_ZALLOC(&k->n_hosts, t->n_switches, e)) < 0)
		return rc;
	for (topo_host h = 0; h < t->n_hosts; h++)
		k->n_tors += k->n_hosts[topo_tor_of(t, h)]++ == 0;
	if ((rc = SIM_ZALLOC(&k->tor, k->n_tors, e)) < 0)
		return rc;
	uint32_t n = 0;
	for (topo_switch s = 0; s < t->n_switches; s++)
		if (k->n_hosts[s] > 0)
			k->tor[n++] = s;
	return 0;
}

/* Make both graphs from one list of edges, the switches' first. Two hosts a ToR
 * are enough: with more, neither whether the network is connected nor its
 * diameter would change, while with one the path between two hosts under the
 * same ToR would be missed. */
static igraph_error_t make_graphs(struct checker *k)
{
	const struct topo *t = k->t;
	size_t n_trunks = t->n_links / 2 - t->n_hosts, n = 0;
	igraph_integer_t next = t->n_switches;
	igraph_vector_int_t edge;
	igraph_error_t rc = igraph_vector_int_init(&edge,
	    (igraph_integer_t)(2 * (n_trunks + 2 * (size_t)k->n_tors)));
	if (rc != IGRAPH_SUCCESS)
		return rc;
	for (topo_link l = 2 * t->n_hosts; l < t->n_links; l += 2) {
		topo_node a, b;
		topo_link_ends(t, l, &a, &b);
		VECTOR(edge)[n++] = a - t->n_hosts;
		VECTOR(edge)[n++] = b - t->n_hosts;
	}
	for (uint32_t i = 0; i < k->n_tors; i++)
		for (uint32_t h = 0; h < 2 && h < k->n_hosts[k->tor[i]]; h++) {
			VECTOR(edge)[n++] = k->tor[i];
			VECTOR(edge)[n++] = next++;
		}
	/* The vector was made as long as it can get, so neither call needs
	 * memory. */
	rc = igraph_vector_int_resize(&edge, (igraph_integer_t)n);
	if (rc == IGRAPH_SUCCESS)
		rc = igraph_create(&k->with_hosts, &edge, next,
		    IGRAPH_UNDIRECTED);
	k->has_with_hosts = rc == IGRAPH_SUCCESS;
	if (rc == IGRAPH_SUCCESS)
		rc = igraph_vector_int_resize(&edge,
		    (igraph_integer_t)(2 * n_trunks));
	if (rc == IGRAPH_SUCCESS)
		rc = igraph_create(&k->fabric, &edge, t->n_switches,
		    IGRAPH_UNDIRECTED);
	k->has_fabric = rc == IGRAPH_SUCCESS;
	igraph_vector_int_destroy(&edge);
	return rc;
}

static igraph_error_t check_shape(struct checker *k)
{
	igraph_bool_t connected;
	igraph_real_t diameter;
	igraph_error_t rc;
	rc = igraph_is_connected(&k->with_hosts, &connected, IGRAPH_WEAK);
	if (rc != IGRAPH_SUCCESS)
		return rc;
	/* Of an unconnected network, the largest diameter of its parts. */
	rc = igraph_diameter(&k->with_hosts, &diameter, NULL, NULL, NULL, NULL,
	    IGRAPH_UNDIRECTED, 1);
	if (rc != IGRAPH_SUCCESS)
		return rc;
	k->report->connected = connected;
	k->report->diameter = (uint32_t)diameter;
	k->report->min_tor_degree = TOPO_NONE;
	for (uint32_t i = 0; i < k->n_tors; i++) {
		igraph_integer_t degree;
		rc = igraph_degree_1(&k->fabric, &degree, k->tor[i], IGRAPH_ALL,
		    IGRAPH_LOOPS);
		if (rc != IGRAPH_SUCCESS)
			return rc;
		if (degree < k->report->min_tor_degree)
			k->report->min_tor_degree = (uint32_t)degree;
	}
	return IGRAPH_SUCCESS;
}

/* The RANK-th pair i < j in the order (0,1), (0,2), (1,2), (0,3), ... Domain
 * rank < 2^49, where a root of squares is exact and that of the number before is
 * told from it: MAX_TRUNKS allows no more. */
static void unrank(uint64_t rank, uint32_t *i, uint32_t *j)
{
	const uint64_t b = (uint64_t)((1 + sqrt(1 + 8 * (double)rank)) / 2);
	*j = (uint32_t)b;
	*i = (uint32_t)(rank - b * (b - 1) / 2);
}

static uint64_t n_pairs(uint64_t n)
{
	return n * (n - 1) / 2;
}

/* A family of pairs of ToRs, as indices into tor[]: how many there are, and a
 * function for the RANK-th. So a few can be drawn evenly from millions without
 * listing them. */
struct pairs {
	uint64_t n;
	void (*at)(const struct checker *k, uint64_t rank, uint32_t *i,
	    uint32_t *j);
};

static void pair_of_any(const struct checker *k, uint64_t rank, uint32_t *i,
    uint32_t *j)
{
	(void)k;
	unrank(rank, i, j);
}

/* In a Clos the ToRs are all switches from 0 on, by pod, so indices into tor[]
 * follow from the shape. */
static void pair_of_one_pod(const struct checker *k, uint64_t rank, uint32_t *i,
    uint32_t *j)
{
	uint32_t n_tors = k->t->clos.n_tors;
	uint32_t pod = (uint32_t)(rank / n_pairs(n_tors));
	unrank(rank % n_pairs(n_tors), i, j);
	*i += pod * n_tors;
	*j += pod * n_tors;
}

static void pair_of_two_pods(const struct checker *k, uint64_t rank,
    uint32_t *i, uint32_t *j)
{
	uint32_t n_tors = k->t->clos.n_tors;
	uint64_t inside = rank % ((uint64_t)n_tors * n_tors);
	unrank(rank / ((uint64_t)n_tors * n_tors), i, j);
	*i = *i * n_tors + (uint32_t)(inside / n_tors);
	*j = *j * n_tors + (uint32_t)(inside % n_tors);
}

/* The least number of edge-disjoint paths over up to MAX pairs of a family. */
static igraph_error_t least_disjoint(struct checker *k, struct pairs family,
    uint32_t max, uint32_t *out)
{
	uint64_t n = family.n < max ? family.n : max;
	*out = TOPO_NONE;
	for (uint64_t s = 0; s < n; s++) {
		uint32_t i, j;
		igraph_integer_t paths;
		/* s * family.n / n, which would not fit in 64 bits. */
		uint64_t rank = s * (family.n / n) + s * (family.n % n) / n;
		family.at(k, rank, &i, &j);
		igraph_error_t rc = igraph_edge_disjoint_paths(&k->fabric,
		    &paths, k->tor[i], k->tor[j]);
		if (rc != IGRAPH_SUCCESS)
			return rc;
		if (paths < *out)
			*out = (uint32_t)paths;
	}
	return IGRAPH_SUCCESS;
}

static igraph_error_t check_disjoint(struct checker *k)
{
	const struct topo_clos *c = &k->t->clos;
	uint32_t *intra = &k->report->disjoint_intra;
	uint32_t *inter = &k->report->disjoint_inter;
	igraph_error_t rc;
	/* A mesh has no pods, so both figures are over any pairs. */
	if (k->t->mesh) {
		struct pairs any = {n_pairs(k->n_tors), pair_of_any};
		rc = least_disjoint(k, any, k->max_pairs, intra);
		*inter = *intra;
		return rc;
	}
	struct pairs one = {c->n_pods * n_pairs(c->n_tors), pair_of_one_pod};
	struct pairs two = {n_pairs(c->n_pods) * c->n_tors * c->n_tors,
	    pair_of_two_pods};
	/* Half of the pairs for each family, so max_pairs is at least 2. */
	rc = least_disjoint(k, one, k->max_pairs / 2, intra);
	if (rc != IGRAPH_SUCCESS)
		return rc;
	return least_disjoint(k, two, k->max_pairs / 2, inter);
}

/* Everything is freed here, since igraph's own failures return to this
 * function; only a fatal one jumps past it, and then the memory is lost. */
static int check_guarded(void *arg, struct sim_err *e)
{
	struct checker *k = arg;
	int rc = count_hosts(k, e);
	if (rc == 0 &&
	    (make_graphs(k) != IGRAPH_SUCCESS ||
		check_shape(k) != IGRAPH_SUCCESS ||
		check_disjoint(k) != IGRAPH_SUCCESS))
		rc = fail_igraph(e, SIM_EDEP);
	if (k->has_fabric)
		igraph_destroy(&k->fabric);
	if (k->has_with_hosts)
		igraph_destroy(&k->with_hosts);
	free(k->tor);
	free(k->n_hosts);
	return rc;
}

int topo_graph_check(const struct topo *t, uint32_t max_pairs,
    struct topo_graph_report *out, struct sim_err *e)
{
	struct checker k = {.t = t, .max_pairs = max_pairs, .report = out};
	uint32_t n_trunks = t->n_links / 2 - t->n_hosts;
	*out = (struct topo_graph_report){0};
	if (max_pairs < 2)
		return sim_fail(e, SIM_EINVAL,
		    "max_pairs %u is not in [2, %u].", max_pairs, UINT32_MAX);
	if (n_trunks > MAX_TRUNKS)
		return sim_fail(e, SIM_ELIMIT,
		    "%u cables between switches are more than the limit of %u "
		    "for a check by igraph.",
		    n_trunks, MAX_TRUNKS);
	return guard(check_guarded, &k, e);
}
