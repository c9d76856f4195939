/* topo/mesh_tables.h -- the tables of a mesh, for mesh_*.c and next.c alone.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TOPO_MESH_TABLES_H
#define TOPO_MESH_TABLES_H

#include "topo/mesh.h"

/* Hops from a switch to a ToR: a path has two host links besides. */
#define TOPO_MESH_MAX_DIST (TOPO_MAX_HOPS - 2)

/* The way from a switch to a neighbour. */
struct topo_hop {
	topo_link link;
	topo_switch to;
};

struct topo_mesh {
	uint32_t n_hosts, n_switches, n_cables, n_tors;
	uint32_t diameter;        /* hops between the two furthest ToRs */
	topo_switch *tor_of;      /* [n_hosts] */
	struct topo_cable *trunk; /* [n_cables - n_hosts]: switches, a is low */
	uint32_t *first;          /* [n_switches + 1] into hop[] */
	struct topo_hop *hop;     /* by switch, then by link id */
	topo_switch *tor;         /* [n_tors], ascending */
	uint32_t *tor_hosts;      /* [n_tors] hosts under it */
	uint32_t *tor_index;      /* [n_switches] into tor[], or TOPO_NONE */
	uint8_t *dist;            /* [n_tors][n_switches] hops to the ToR */
	uint32_t *tier;           /* [n_switches], or NULL */
	char (*name)[TOPO_MESH_MAX_NAME + 1]; /* [nodes], "" if none; or NULL */
	char **id;          /* [nodes] of the file, in id_text; or NULL */
	char *id_text;      /* all of them, each with its NUL */
	uint8_t no_numbers; /* host17 and sw3 may be names of others */
};

/* "host 3" or "switch 4 (spine-4)", for messages. */
const char *topo_mesh_describe(const struct topo_mesh_input *in, topo_node n,
    char buf[64]);

/* Check the names and ids of IN, and keep them in M. Errors SIM_EINVAL,
 * SIM_ENOMEM. */
int topo_mesh_take_names(struct topo_mesh *m, const struct topo_mesh_input *in,
    struct sim_err *e);

/* Count the hops from every switch to ROOT, breadth first. Returns the number of
 * switches reached; the others have 255, and those further than 254 hops away
 * 254. Shape  dist[n_switches], queue[n_switches]. Cost O(cables). */
uint32_t topo_mesh_measure(const struct topo_mesh *m, topo_switch root,
    uint8_t *dist, topo_switch *queue);

/* Go outwards from switch A, against the flows for the ToR that DIST leads to, to
 * switches no further from it than FURTHEST hops: order[] takes those from which
 * a flow may come to A, nearest first, A too, and reach[] the probability that it
 * does. Returns their number; reach[] of all others stays as it was, 0.
 * Shape  reach[n_switches], all 0, order[n_switches]. Cost O(links of those). */
uint32_t topo_mesh_sweep_outwards(const struct topo_mesh *m,
    const uint8_t *dist, topo_switch a, int furthest, double reach[],
    topo_switch order[]);

/* Hop counts of all switches to the ToR of that index. */
static inline const uint8_t *topo_mesh_dist(const struct topo_mesh *m,
    uint32_t tor_index)
{
	return m->dist + (size_t)tor_index * m->n_switches;
}

/* Number of next hops of a switch towards the ToR that DIST leads to. */
static inline uint32_t topo_mesh_fanout(const struct topo_mesh *m,
    const uint8_t *dist, topo_switch s)
{
	uint32_t n = 0;
	for (uint32_t i = m->first[s]; i < m->first[s + 1]; i++)
		n += dist[m->hop[i].to] + 1 == dist[s];
	return n;
}

/* The NTH of them, which is below that number, so that the search ends before
 * the hops of S do. */
static inline const struct topo_hop *
topo_mesh_next_hop(const struct topo_mesh *m, const uint8_t *dist,
    topo_switch s, uint32_t nth)
{
	const struct topo_hop *h = m->hop + m->first[s];
	while (dist[h->to] + 1 != dist[s] || nth-- > 0)
		h++;
	return h;
}

#endif
