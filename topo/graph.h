/* topo/graph.h -- igraph: GraphML in and out, and checks of every builder.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * graph.c is the only file that includes igraph.h. igraph is not thread-safe
 * as built by Debian: one thread of a process may use these functions.
 */
#ifndef TOPO_GRAPH_H
#define TOPO_GRAPH_H

#include <stdio.h>

#include "sim/err.h"
#include "topo/topo.h"

/* What a file says of a node beside its id; the last has no name. */
struct topo_graph_attribute {
	const char *name, *type, *doc; /* type as in GraphML */
};
extern const struct topo_graph_attribute topo_graph_attributes[];

/* What else there is to know of such a file: paragraphs for people. */
extern const char topo_graph_doc[];

/* Read a network from GraphML: an undirected graph whose vertices carry
 * topo_graph_attributes[]. Hosts and switches are numbered each in the order of
 * the file, and so are cables between switches.
 * Errors SIM_EIO, SIM_EPARSE, SIM_EDEP, and those of topo_mesh_open(), each
 * naming the file and the vertex. igraph's messages are kept in the error. */
int topo_graph_read(struct topo *t, const char *path, struct sim_err *e);

/* Write any topology as GraphML that topo_graph_read() reads back to the same
 * ids. Errors SIM_EIO. */
int topo_graph_write(const struct topo *t, FILE *out, struct sim_err *e);

/* What a builder must get right, computed by igraph on the exported graph.
 * Hosts beyond two a ToR change none of it and are left out. */
struct topo_graph_report {
	int connected;
	uint32_t diameter;       /* links on the longest shortest path */
	uint32_t min_tor_degree; /* switch cables of the least connected ToR */
	/* Least number of edge-disjoint paths between two ToRs of one pod, and
	 * of different pods; in a mesh both are over all pairs sampled.
	 * TOPO_NONE if there is no such pair. */
	uint32_t disjoint_intra, disjoint_inter;
};

/* Checks up to MAX_PAIRS ToR pairs for edge-disjoint paths, evenly spread over
 * all pairs and the same in every call.
 * Cost O(switches * cables) for the diameter, O(cables * degree) a pair.
 * Errors SIM_EINVAL (MAX_PAIRS below 2), SIM_ELIMIT (more than 2^24 cables
 * between switches), SIM_EDEP. */
int topo_graph_check(const struct topo *t, uint32_t max_pairs,
    struct topo_graph_report *out, struct sim_err *e);

#endif
