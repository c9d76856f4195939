/* experiments/cmd/topo.c -- culprit topo: describe, check, trace, export.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "experiments/cmd/cmd.h"
#include "experiments/schema/page.h"
#include "experiments/spec/config.h"
#include "results/json.h"
#include "sim/text.h"
#include "topo/addr.h"
#include "topo/graph.h"

struct args {
	struct cmd_set set;
	const char *file, *graphml, *path;
	int check, json, path_only; /* an option for --path */
	uint32_t src_port, dst_port, seed;
};

static void take_port_pair(void *to, char *arg, const struct cmd_given *g)
{
	struct args *a = to;
	char first[32] = "";
	uint64_t x = 0, y = 0;
	const char *comma = strchr(arg, ',');
	if (comma && (size_t)(comma - arg) < sizeof(first))
		memcpy(first, arg, (size_t)(comma - arg));
	if (!comma || sim_parse_u64(first, &x, NULL) < 0 ||
	    sim_parse_u64(comma + 1, &y, NULL) < 0 || x > 65535 || y > 65535)
		argp_error(g->state, "\"%s\" is not two numbers up to 65535",
		    arg);
	a->src_port = (uint32_t)x;
	a->dst_port = (uint32_t)y;
	a->path_only = 1;
}

static void take_path_seed(void *to, char *arg, const struct cmd_given *g)
{
	struct args *a = to;
	cmd_take_u32(&a->seed, arg, g);
	a->path_only = 1;
}

static const struct cmd_option cmd_topo_options[] = {
    {"set", 's', "KEY=VALUE",
	"a key of a spec's `topology`, e.g. n_pods=4; may be repeated",
	.take = cmd_take_set, .at = CMD_AT(set), .max = 16},
    {"check", 0, NULL, "connectivity, diameter, edge-disjoint paths (igraph)",
	.take = cmd_take_flag, .at = CMD_AT(check)},
    {"path", 0, "SRC,DST",
	"links that a connection from host SRC to host DST takes, each by "
	"number or by name, and the chance that one with other ports takes "
	"each",
	.take = cmd_take_text, .at = CMD_AT(path)},
    {"ports", 0, "SRC,DST", "TCP ports for --path (default: 1024,80)",
	.take = take_port_pair},
    {"seed", 0, "N", "ECMP seed for --path (default: 0)",
	.take = take_path_seed, .max = UINT32_MAX},
    {"graphml", 0, "FILE",
	"export as GraphML; - is stdout, and then nothing else is printed",
	.take = cmd_take_text, .at = CMD_AT(graphml)},
    {"json", 0, NULL, "JSON, one object", .take = cmd_take_flag,
	.at = CMD_AT(json)},
    {0},
};

static void cmd_topo_check(const void *args, struct argp_state *state)
{
	const struct args *a = args;
	if (a->file && a->set.n_set > 0)
		argp_error(state,
		    "--set describes a network of ours, %s is another",
		    a->file);
	/* Options that would have no effect are refused. */
	if (a->path_only && !a->path)
		argp_error(state, "--ports and --seed are for --path");
}

static void cmd_topo_help(FILE *out, const void *args)
{
	(void)args;
	xp_page_graphml(out);
}

static const struct cmd_line cmd_topo_line = {
    .options = cmd_topo_options,
    .word = {"network", .take = cmd_take_one, .at = CMD_AT(file)},
    .check = cmd_topo_check,
    .more = cmd_topo_help,
    .args_doc = "[FILE.graphml]",
    .doc = "Describe a network: a Clos (by default 007's simulation), "
	   "another one by --set (kind=fat_tree, k=8; kind=region, "
	   "n_dcs=5), or one from GraphML.",
};

/* Open the network that --set describes, by the reader of a spec's `topology`,
 * so that keys, ranges and messages are the same. */
static int cmd_topo_open_topo(const struct args *a, struct topo *t,
    struct sim_err *e)
{
	static const char form[] = "topology: {}\nalgorithms: [vote]\n";
	struct sim_yaml y;
	struct xp_topology x = {0};
	int rc = sim_yaml_parse(&y, "--set", form, sizeof(form) - 1, e);
	for (size_t i = 0; rc == 0 && i < a->set.n_set; i++) {
		char path[256];
		snprintf(path, sizeof(path), "topology.%s", a->set.set[i]);
		rc = sim_yaml_set(&y, path, e);
	}
	char *const read = x.file;
	if (rc == 0 && (rc = xp_topology_read(&y, &x, e)) == 0 &&
	    (rc = sim_yaml_refuse_idle(&y)) == 0)
		rc = sim_yaml_verdict(&y, e);
	if (rc == 0 && a->graphml && x.kind == XP_TOPO_GRAPHML)
		rc = cmd_check_output("--graphml", a->graphml, &read, 1, e);
	if (rc == 0)
		rc = xp_topology_open(&x, "", t, e);
	sim_yaml_free(&y);
	return rc;
}

/* Both forms come from one place: which lines there are depends on the network,
 * not on the form. */
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

/* The same as topo_region_print() for programs: where each data centre begins,
 * and the cables between them. */
static void print_region(const struct topo_region *r)
{
	printf(", \"borders\": %u, \"data_centres\": [", r->n_borders);
	for (uint32_t d = 0; d < r->n_dcs; d++) {
		printf("%s{\"name\": \"dc%u\", \"hosts\": [%u, %u], "
		       "\"podsets\": [%u, %u], \"site\": [",
		    d ? ", " : "", d, r->first_host[d],
		    r->first_host[d + 1] - 1, r->first_pod[d],
		    r->first_pod[d + 1] - 1);
		res_json_number(stdout, r->site[d].lat);
		printf(", ");
		res_json_number(stdout, r->site[d].lon);
		printf("]}");
	}
	printf("], \"long_cables\": [");
	for (uint32_t a = 0; a < r->n_dcs; a++)
		for (uint32_t b = a + 1; b < r->n_dcs; b++) {
			printf("%s{\"between\": [\"dc%u\", \"dc%u\"], "
			       "\"cables\": %u, \"delay_ms\": ",
			    b > 1 ? ", " : "", a, b, r->n_borders);
			res_json_number(stdout,
			    (double)r->delay_ns[a][b] / SIM_MS);
			res_json_number_of(stdout, "km", r->cable_km[a][b]);
			printf("}");
		}
	printf("]");
}

/* A host by its name, or by its number unless that is some node's name. */
static int find_host(const struct topo *t, const char *text, topo_host *out,
    struct sim_err *e)
{
	char quote[64];
	topo_node n;
	uint64_t x;
	const int rc = topo_node_parse(t, text, &n, e);
	if (rc < 0 && strspn(text, "0123456789") < strlen(text))
		return rc;
	if (rc == 0 && n >= t->n_hosts)
		return sim_fail(e, SIM_EINVAL, "%s is a switch.",
		    sim_quote(quote, text));
	if (rc < 0 && sim_parse_u64(text, &x, e) == SIM_EINVAL)
		return SIM_EINVAL;
	if (rc < 0 && x >= t->n_hosts)
		return sim_fail(e, SIM_ERANGE, "hosts are in [0, %u].",
		    t->n_hosts - 1);
	*out = rc < 0 ? (topo_host)x : n;
	return 0;
}

/* Names may hold commas, so each one may be what stands between the two. The
 * last complaint is told. */
static int find_pair(const struct topo *t, const char *text, topo_host pair[2],
    struct sim_err *e)
{
	char first[128], quote[64];
	int rc = sim_fail(e, SIM_EINVAL, "write SRC,DST.");
	for (const char *c = strchr(text, ','); c; c = strchr(c + 1, ',')) {
		snprintf(first, sizeof(first), "%.*s", (int)(c - text), text);
		if ((rc = find_host(t, first, &pair[0], e)) == 0 &&
		    (rc = find_host(t, c + 1, &pair[1], e)) == 0)
			return 0;
	}
	return sim_wrap(e, rc, "--path %s is not two hosts",
	    sim_quote(quote, text));
}

/* Trace one flow by the very function that simulations use, with the chance
 * that a random flow between these hosts takes each link. */
static void print_path(const struct topo *t, const topo_host pair[2],
    const struct args *a)
{
	topo_link path[TOPO_MAX_HOPS];
	char name[64];
	const struct topo_tuple tuple = {
	    .src_ip = topo_addr_of_host(pair[0]),
	    .dst_ip = topo_addr_of_host(pair[1]),
	    .src_port = (uint16_t)a->src_port,
	    .dst_port = (uint16_t)a->dst_port,
	    .proto = TOPO_PROTO_TCP,
	};
	unsigned h = topo_path(t, a->seed, pair[0], pair[1],
	    /* Switches hash the five-tuple, so ports choose the path. */
	    topo_tuple_digest(&tuple), path);
	printf(a->json ? ", \"path\": [" : "path\n");
	for (unsigned i = 0; i < h; i++) {
		const double chance =
		    topo_path_share(t, pair[0], pair[1], path[i]);
		topo_link_name(t, path[i], name);
		if (a->json) {
			printf("%s{\"link\": %u, \"name\": ", i ? ", " : "",
			    path[i]);
			res_json_text(stdout, name);
			res_json_number_of(stdout, "chance", chance);
			printf("}");
		} else {
			printf("  %-20s link %-8u chance %.6g\n", name, path[i],
			    chance);
		}
	}
	if (a->json)
		printf("]");
}

/* One number of a report; TOPO_NONE stands for "there is no such pair". */
static void cmd_topo_print_count(const char *key, const char *label, uint32_t n,
    int json)
{
	if (json)
		printf(", \"%s\": ", key);
	else
		printf("%-23s ", label);
	if (n == TOPO_NONE)
		printf(json ? "null" : "none");
	else
		printf("%u", n);
	if (!json)
		printf("\n");
}

static void print_check(const struct topo_graph_report *r, int json)
{
	if (json)
		printf(", \"connected\": %s", r->connected ? "true" : "false");
	else
		printf("connected               %s\n",
		    r->connected ? "yes" : "no");
	cmd_topo_print_count("diameter", "diameter in links", r->diameter,
	    json);
	cmd_topo_print_count("min_tor_degree", "least uplinks of a ToR",
	    r->min_tor_degree, json);
	if (!json)
		printf("edge-disjoint paths, at least, of two ToRs\n");
	cmd_topo_print_count("disjoint_intra", "  in one pod",
	    r->disjoint_intra, json);
	cmd_topo_print_count("disjoint_inter", "  in different pods",
	    r->disjoint_inter, json);
}

static int cmd_topo_export(const struct topo *t, const char *path,
    struct sim_err *e)
{
	if (strcmp(path, "-") == 0)
		/* With a name the file is replaced as a whole, so
		 * it is made in memory. */
		return topo_graph_write(t, stdout, e);
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);
	if (!f)
		return sim_fail(e, SIM_ENOMEM, "no memory for GraphML.");
	int rc = topo_graph_write(t, f, e);
	if (fclose(f) != 0 && rc == 0)
		rc = sim_fail(e, SIM_ENOMEM, "no memory for GraphML.");
	if (rc == 0)
		rc = cmd_write_file(path, text, n, e);
	free(text);
	return rc;
}

/* All that can fail comes before the first byte is printed, so that nobody
 * reads half an object of JSON. */
static int cmd_topo_describe(const struct topo *t, const struct args *a,
    struct sim_err *e)
{
	/* Disjoint paths are costly to count, so only some pairs
	 * of ToRs are looked at. */
	enum { PAIRS = 64 };
	struct topo_graph_report report;
	topo_host pair[2] = {0};
	int rc = a->path ? find_pair(t, a->path, pair, e) : 0;
	if (rc == 0 && a->check)
		rc = topo_graph_check(t, PAIRS, &report, e);
	if (rc == 0 && a->graphml)
		rc = cmd_topo_export(t, a->graphml, e);
	/* On stdout GraphML stands alone. */
	if (rc < 0 || (a->graphml && strcmp(a->graphml, "-") == 0))
		return rc;
	print_sizes(t, a->json);
	if (t->region && a->json)
		print_region(t->region);
	else if (t->region)
		topo_region_print(t->region, stdout);
	if (a->path)
		print_path(t, pair, a);
	if (a->check)
		print_check(&report, a->json);
	if (a->json)
		printf("}\n");
	return 0;
}

int cmd_topo(int argc, char **argv)
{
	struct args a = {.src_port = 1024, .dst_port = 80};
	struct topo t = {0};
	struct sim_err e = {0};
	cmd_parse(&cmd_topo_line, argc, argv, &a);
	char *const file = (char *)(uintptr_t)a.file;
	int rc = a.file && a.graphml
	    ? cmd_check_output("--graphml", a.graphml, &file, 1, &e)
	    : 0;
	if (rc == 0)
		rc = a.file ? topo_graph_read(&t, a.file, &e)
			    : cmd_topo_open_topo(&a, &t, &e);
	if (rc == 0)
		rc = cmd_topo_describe(&t, &a, &e);
	topo_close(&t);
	return rc < 0 ? cmd_fail(cmd_exit_of(rc), &e) : CMD_GOOD;
}
