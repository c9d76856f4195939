/* topo/graph_ids.h -- which nodes a GraphML text declares, as it streams by.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * igraph takes two nodes with one id for the same node, and of several graphs
 * reads the first, and says neither. So its file is read through this, which
 * sees the tags and nothing else. The text is XML that igraph has accepted, or
 * else what is found does not matter.
 */
#ifndef TOPO_GRAPH_IDS_H
#define TOPO_GRAPH_IDS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/err.h"

struct topo_graph_id {
	char *text; /* as it is in the file, entities and all */
	unsigned line;
};

/* Zeroed is the start of a text; topo_graph_ids_free() is safe on it. */
struct topo_graph_ids {
	size_t n, cap;
	struct topo_graph_id *id; /* [n], in the order of the file */
	unsigned n_graphs, depth; /* tags <graph>, and how many are open */
	uint8_t nested;           /* one stood within another */
	uint8_t out_of_memory;    /* and so it has seen no more */

	/* What stands between this byte and the last one. */
	unsigned line; /* less 1 */
	uint8_t state, closes, is_node, is_graph, slash, quote;
	uint8_t skip, matched; /* the end that is waited for, how much of it */
	unsigned open;         /* brackets of a <!DOCTYPE */
	size_t n_word, n_value, cap_value;
	char word[16]; /* of a tag, then of its attribute */
	char *value;
};

/* See N more bytes of the text. */
void topo_graph_ids_feed(struct topo_graph_ids *g, const char *bytes, size_t n);

/* Open for reading what FILE holds, seen by G on the way. Neither is closed
 * with it. NULL: no memory. */
FILE *topo_graph_ids_open(struct topo_graph_ids *g, FILE *file);

/* Is the text one graph whose nodes are N, with as many ids? Sorts the ids.
 * Errors SIM_EPARSE, with lines; SIM_ENOMEM, if a feed had too little. */
int topo_graph_ids_check(struct topo_graph_ids *g, size_t n, struct sim_err *e);

/* The id that igraph has of a node as it is in the file: libxml2 hands it the
 * "&amp;" of an attribute as "&#38;". The text, which is igraph's, is made
 * shorter where it stands, once. */
void topo_graph_ids_mend(const char *id);

void topo_graph_ids_free(struct topo_graph_ids *g);

#endif
