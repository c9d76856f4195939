/* topo/graph_write.c -- any topology as GraphML.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Written by hand, not by igraph: igraph's writer puts its own version into the
 * file, and would need the whole graph in memory for a Clos, which otherwise
 * has no tables.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "topo/graph.h"
#include "topo/mesh.h"

const struct topo_graph_attribute topo_graph_attributes[] = {
    {"kind", "string", "host or switch; each node has it"},
    {"tier", "int",
	"of a switch: 0 ToR, 1 T1, 2 T2, 3 border. Either all switches have "
	"one or none has. Cables lead up from the lower tier, and those from "
	"0 to 1 and from 1 to 2 give links the classes of a Clos, as tor-t1; "
	"all other cables between switches are of class fabric"},
    {"name", "string",
	"what the node is called in place of its id, of 1 to 30 bytes"},
    {0},
};

const char topo_graph_doc[] =
    "A GraphML file is a network: one graph with edgedefault=\"undirected\". "
    "A node is called by its name or else by its id: in the spec (links and at "
    "of faults), in messages and verdicts, in the files of dump and in "
    "exports. "
    "No two nodes may share an id or a name; an id that is to be a name has at "
    "most 30 bytes, and neither has \"->\" or control characters in it.\n"
    "An edge is a cable, which is a directed link each way. A host has one, to "
    "a switch, which is its ToR; two switches have one or none. All nodes must "
    "be connected, by ways of at most 14 cables between two ToRs, and switches "
    "spread traffic over all shortest ones (ECMP). At most 4096 switches are "
    "taken. Hosts and switches are numbered each in the order of the file. "
    "Other attributes, and those of edges, are not looked at.";

/* As text between tags and as an attribute's value, where blanks other than the
 * space would become spaces. */
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
		case '"':
			fputs("&quot;", out);
			break;
		case '\t':
		case '\n':
		case '\r':
			fprintf(out, "&#%d;", *text);
			break;
		default:
			fputc(*text, out);
		}
}

/* GraphML wants ids without blanks and most of the punctuation. */
static int is_token(const char *text)
{
	for (; *text; text++)
		if (!isalnum((unsigned char)*text) && !strchr("._:-", *text) &&
		    (unsigned char)*text < 0x80)
			return 0;
	return 1;
}

/* Whether nodes without an id of their own can have their names for ids. Names
 * of a Clos are made by us, and those of a file bring their ids with them. */
static int can_names_be_ids(const struct topo *t)
{
	for (topo_node n = 0; t->mesh && n < t->n_hosts + t->n_switches; n++) {
		const char *name = topo_mesh_name(t->mesh, n);
		if (name && !is_token(name))
			return 0;
	}
	return 1;
}

/* The id of a node: that of the file it is from, else its name, and where names
 * are no ids, what it would be called without one. */
static void node_id(const struct topo *t, topo_node n, int by_name,
    const char **id, char buf[64])
{
	const int is_host = n < t->n_hosts;
	*id = t->mesh ? topo_mesh_id(t->mesh, n) : NULL;
	if (*id)
		return;
	*id = buf;
	if (by_name)
		topo_node_name(t, n, buf);
	else
		snprintf(buf, 64, "%s%u", is_host ? "host" : "sw",
		    is_host ? n : n - t->n_hosts);
}

static void graph_write_put_id(const struct topo *t, const char *attribute,
    topo_node n, int by_name, FILE *out)
{
	char buf[64];
	const char *id;
	node_id(t, n, by_name, &id, buf);
	fprintf(out, " %s=\"", attribute);
	write_escaped(id, out);
	fputc('"', out);
}

static void graph_write_put_node(const struct topo *t, topo_node n, int by_name,
    FILE *out)
{
	const int is_host = n < t->n_hosts;
	const uint32_t tier =
	    is_host ? TOPO_NONE : topo_tier_of(t, n - t->n_hosts);
	char name[64], buf[64];
	const char *id;
	fputs("    <node", out);
	graph_write_put_id(t, "id", n, by_name, out);
	fprintf(out, "><data key=\"kind\">%s</data>",
	    is_host ? "host" : "switch");
	if (tier != TOPO_NONE)
		fprintf(out, "<data key=\"tier\">%u</data>", tier);
	topo_node_name(t, n, name);
	node_id(t, n, by_name, &id, buf);
	/* A reader takes the id for the name where there is no other. */
	if (strcmp(id, name) != 0) {
		fputs("<data key=\"name\">", out);
		write_escaped(name, out);
		fputs("</data>", out);
	}
	fputs("</node>\n", out);
}

int topo_graph_write(const struct topo *t, FILE *out, struct sim_err *e)
{
	uint32_t n_nodes = t->n_hosts + t->n_switches;
	const int by_name = can_names_be_ids(t);
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	      "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n",
	    out);
	for (const struct topo_graph_attribute *a = topo_graph_attributes;
	     a->name; a++)
		fprintf(out,
		    "  <key id=\"%s\" for=\"node\" attr.name=\"%s\" "
		    "attr.type=\"%s\"/>\n",
		    a->name, a->name, a->type);
	fputs("  <graph edgedefault=\"undirected\">\n", out);
	for (topo_node n = 0; n < n_nodes; n++)
		graph_write_put_node(t, n, by_name, out);
	/* One edge a cable, from its link that goes up: B is always a switch.
	 * Cables in the order of ids let the reader number them alike. */
	for (topo_link l = 0; l < t->n_links; l += 2) {
		topo_node a, b;
		topo_link_ends(t, l, &a, &b);
		fputs("    <edge", out);
		graph_write_put_id(t, "source", a, by_name, out);
		graph_write_put_id(t, "target", b, by_name, out);
		fputs("/>\n", out);
	}
	fputs("  </graph>\n</graphml>\n", out);
	if (fflush(out) != 0 || ferror(out))
		return sim_fail(e, SIM_EIO, "Writing the graph failed: %s.",
		    strerror(errno));
	return 0;
}
