/* topo/graph_write.c -- any topology as GraphML.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Written by hand, not by igraph: igraph's writer puts its own version into the
 * file, and would need the whole graph in memory for a Clos, which otherwise
 * has no tables.
 */
#include <errno.h>
#include <string.h>

#include "topo/graph.h"
#include "topo/mesh.h"

/* Text between tags: quotes need no escaping there. */
static void write_escaped(const char *text, FILE *out)
{
	for (; *text; text++)
		switch (*text) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		default:
			fputc(*text, out);
		}
}

/* Hosts of a Clos are left without a name, since it is just their number, and
 * there may be millions of them; so are nodes of a mesh that were given
 * none. */
static int has_name(const struct topo *t, topo_node n)
{
	return t->mesh ? topo_mesh_name(t->mesh, n) != NULL : n >= t->n_hosts;
}

static void graph_write_write_node(const struct topo *t, topo_node n, FILE *out)
{
	int is_host = n < t->n_hosts;
	uint32_t i = is_host ? n : n - t->n_hosts;
	fprintf(out, "    <node id=\"%s%u\"><data key=\"kind\">%s</data>",
	    is_host ? "host" : "sw", i, is_host ? "host" : "switch");
	if (!is_host && topo_tier_of(t, i) != TOPO_NONE)
		fprintf(out, "<data key=\"tier\">%u</data>",
		    topo_tier_of(t, i));
	if (has_name(t, n)) {
		char name[64];
		topo_node_name(t, n, name);
		fputs("<data key=\"name\">", out);
		write_escaped(name, out);
		fputs("</data>", out);
	}
	fputs("</node>\n", out);
}

int topo_graph_write(const struct topo *t, FILE *out, struct sim_err *e)
{
	uint32_t n_nodes = t->n_hosts + t->n_switches;
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	      "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n",
	    out);
	static const char *const keys[][2] = {{"kind", "string"},
	    {"tier", "int"}, {"name", "string"}};
	for (int i = 0; i < 3; i++)
		fprintf(out,
		    "  <key id=\"%s\" for=\"node\" attr.name=\"%s\" "
		    "attr.type=\"%s\"/>\n",
		    keys[i][0], keys[i][0], keys[i][1]);
	fputs("  <graph edgedefault=\"undirected\">\n", out);
	for (topo_node n = 0; n < n_nodes; n++)
		graph_write_write_node(t, n, out);
	/* One edge a cable, from its link that goes up: B is always a switch.
	 * Cables in the order of ids let the reader number them alike. */
	for (topo_link l = 0; l < t->n_links; l += 2) {
		topo_node a, b;
		topo_link_ends(t, l, &a, &b);
		fprintf(out, "    <edge source=\"%s%u\" target=\"sw%u\"/>\n",
		    a < t->n_hosts ? "host" : "sw",
		    a < t->n_hosts ? a : a - t->n_hosts, b - t->n_hosts);
	}
	fputs("  </graph>\n</graphml>\n", out);
	if (fflush(out) != 0 || ferror(out))
		return sim_fail(e, SIM_EIO, "Writing the graph failed: %s.",
		    strerror(errno));
	return 0;
}
