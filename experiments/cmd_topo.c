/* experiments/cmd_topo.c -- culprit topo: describe, check, trace, export.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/cmd.h"
#include "experiments/config.h"
#include "topo/addr.h"
#include "topo/graph.h"

enum { KEY_JSON = 1000, KEY_GRAPHML, KEY_CHECK, KEY_PATH, KEY_PORTS, KEY_SEED,
	MAX_SET = 16 };

static const struct argp_option options[] = {
	{"set", 's', "KEY=VALUE", 0,
	    "a key of `topology`, e.g. n_pods=4 (repeatable)", 0},
	{"check", KEY_CHECK, NULL, 0,
	    "connectivity, diameter, edge-disjoint paths (igraph)", 0},
	{"path", KEY_PATH, "SRC,DST", 0, "links from host SRC to host DST", 0},
	{"ports", KEY_PORTS, "SRC,DST", 0, "TCP ports for --path (1024,80)", 0},
	{"seed", KEY_SEED, "N", 0, "ECMP seed for --path (0)", 0},
	{"graphml", KEY_GRAPHML, "FILE", 0, "export as GraphML", 0},
	{"json", KEY_JSON, NULL, 0, "print JSON", 0},
	{0},
};

struct args {
	const char *set[MAX_SET], *file, *graphml;
	size_t n_set;
	int check, json, path;
	uint32_t src, dst, src_port, dst_port, seed;
};

static void read_pair(const char *text, uint64_t max, uint32_t *a, uint32_t *b,
    struct argp_state *state)
{
	char first[32] = "";
	uint64_t x, y;
	const char *comma = strchr(text, ',');
	if (comma && (size_t)(comma - text) < sizeof(first))
		memcpy(first, text, (size_t)(comma - text));
	if (!comma || sim_parse_u64(first, &x, NULL) < 0 ||
	    sim_parse_u64(comma + 1, &y, NULL) < 0 || x > max || y > max)
		argp_error(state, "\"%s\" is not two numbers up to %llu", text,
		    (unsigned long long)max);
	*a = (uint32_t)x;
	*b = (uint32_t)y;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	uint64_t seed;
	switch (key) {
	case 's':
		if (a->n_set == MAX_SET)
			argp_error(state, "more than %d --set", MAX_SET);
		a->set[a->n_set++] = arg;
		return 0;
	case KEY_CHECK:
		a->check = 1;
		return 0;
	case KEY_JSON:
		a->json = 1;
		return 0;
	case KEY_GRAPHML:
		a->graphml = arg;
		return 0;
	case KEY_PATH:
		read_pair(arg, UINT32_MAX, &a->src, &a->dst, state);
		a->path = 1;
		return 0;
	case KEY_PORTS:
		read_pair(arg, 65535, &a->src_port, &a->dst_port, state);
		return 0;
	case KEY_SEED:
		if (sim_parse_u64(arg, &seed, NULL) < 0 || seed > UINT32_MAX)
			argp_error(state, "seed \"%s\" is not a number", arg);
		a->seed = (uint32_t)seed;
		return 0;
	case ARGP_KEY_ARG:
		if (a->file)
			return ARGP_ERR_UNKNOWN;
		a->file = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "[FILE.graphml]",
	.doc = "Describe a network: a Clos (by default 007's simulation), "
	       "another one by --set (kind=fat_tree, k=8), or one from "
	       "GraphML.",
};

/* The same reader as a spec's `topology`. */
static int open_topo(const struct args *a, struct topo *t, struct sim_err *e)
{
	static const char form[] = "topology: {}\nalgorithms: [vote]\n";
	struct sim_yaml y;
	struct xp_topology x = {0};
	int rc = sim_yaml_parse(&y, "--set", form, sizeof(form) - 1, e);
	for (size_t i = 0; rc == 0 && i < a->n_set; i++) {
		char path[256];
		snprintf(path, sizeof(path), "topology.%s", a->set[i]);
		rc = sim_yaml_set(&y, path, e);
	}
	if (rc == 0 && (rc = xp_topology_read(&y, &x, e)) == 0)
		rc = sim_yaml_verdict(&y, e);
	if (rc == 0)
		rc = xp_topology_open(&x, "", t, e);
	sim_yaml_free(&y);
	return rc;
}

static void print_sizes(const struct topo *t, int json)
{
	uint64_t n[TOPO_N_LINK_CLASSES] = {0};
	for (topo_link l = 0; l < t->n_links; l++)
		n[topo_class_of(t, l)]++;
	printf(json ? "{\"hosts\": %u, \"switches\": %u, \"links\": %u"
		    : "hosts     %u\nswitches  %u\nlinks     %u directed\n",
	    t->n_hosts, t->n_switches, t->n_links);
	for (unsigned c = 0; c < TOPO_N_LINK_CLASSES; c++)
		if (n[c] > 0)
			printf(json ? ", \"%s\": %llu" : "  %-9s %llu\n",
			    topo_class_names[c], (unsigned long long)n[c]);
}

static int print_path(const struct topo *t, const struct args *a,
    struct sim_err *e)
{
	topo_link path[TOPO_MAX_HOPS];
	char name[64];
	if (a->src >= t->n_hosts || a->dst >= t->n_hosts)
		return sim_fail(e, SIM_ERANGE,
		    "hosts %u and %u must be in [0, %u].", a->src, a->dst,
		    t->n_hosts - 1);
	const struct topo_tuple tuple = {
		.src_ip = topo_addr_of_host(a->src),
		.dst_ip = topo_addr_of_host(a->dst),
		.src_port = (uint16_t)a->src_port,
		.dst_port = (uint16_t)a->dst_port,
		.proto = TOPO_PROTO_TCP,
	};
	unsigned h = topo_path(t, a->seed, a->src, a->dst,
	    topo_tuple_digest(&tuple), path);
	printf(a->json ? ", \"path\": [" : "path\n");
	for (unsigned i = 0; i < h; i++) {
		topo_link_name(t, path[i], name);
		if (a->json)
			printf("%s%u", i ? ", " : "", path[i]);
		else
			printf("  %-20s link %-8u chance %.6g\n", name,
			    path[i],
			    topo_path_share(t, a->src, a->dst, path[i]));
	}
	if (a->json)
		printf("]");
	return 0;
}

static int print_check(const struct topo *t, int json, struct sim_err *e)
{
	struct topo_graph_report r;
	int rc = topo_graph_check(t, 64, &r, e);
	if (rc < 0)
		return rc;
	printf(json ? ", \"connected\": %d, \"diameter\": %u, "
		      "\"min_tor_degree\": %u, \"disjoint_intra\": %u, "
		      "\"disjoint_inter\": %u"
		    : "connected                   %d\n"
		      "diameter                    %u switch links\n"
		      "least uplinks of a ToR      %u\n"
		      "edge-disjoint paths, ToRs of one pod   %u\n"
		      "edge-disjoint paths, ToRs of two pods  %u\n",
	    r.connected, r.diameter, r.min_tor_degree, r.disjoint_intra,
	    r.disjoint_inter);
	return 0;
}

static int export(const struct topo *t, const char *path, struct sim_err *e)
{
	FILE *f = fopen(path, "w");
	if (!f)
		return sim_fail(e, SIM_EIO, "cannot write %s: %s.", path,
		    strerror(errno));
	int rc = topo_graph_write(t, f, e);
	if (fclose(f) != 0 && rc == 0)
		rc = sim_fail(e, SIM_EIO, "cannot write %s: %s.", path,
		    strerror(errno));
	return rc;
}

int cmd_topo(int argc, char **argv)
{
	struct args a = {.src_port = 1024, .dst_port = 80};
	struct topo t = {0};
	struct sim_err e = {0};
	argp_parse(&argp, argc, argv, 0, NULL, &a);
	int rc = a.file ? topo_graph_read(&t, a.file, &e)
			: open_topo(&a, &t, &e);
	if (rc == 0) {
		print_sizes(&t, a.json);
		if (a.path)
			rc = print_path(&t, &a, &e);
		if (rc == 0 && a.check)
			rc = print_check(&t, a.json, &e);
		if (a.json)
			printf("}\n");
		if (rc == 0 && a.graphml)
			rc = export(&t, a.graphml, &e);
	}
	topo_close(&t);
	return rc < 0 ? cmd_fail(cmd_exit_of(rc), &e) : CMD_GOOD;
}
