/* topo/mesh_cross.h -- which flows of a mesh cross a switch or a link, and how.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For who draws only the flows that cross something: between which ToRs they
 * run, with which probability one of these crosses it, and the path of one that
 * does, without drawing any that don't. Switches spread alike over their next
 * hops, and independently of each other.
 */
#ifndef TOPO_MESH_CROSS_H
#define TOPO_MESH_CROSS_H

#include "sim/rng.h"
#include "topo/mesh.h"

/* What is crossed: switch AT, or with NEXT, not TOPO_NONE, its link to that
 * neighbour. A flow crosses the ToRs at its ends, too. */
struct topo_via {
	topo_switch at, next;
};

/* One sweep outwards from a switch. Zeroed is empty. */
struct topo_mesh_cross {
	const struct topo_mesh *mesh;
	topo_switch *order; /* [n] from which it is reached, nearest first */
	double *reach;      /* [n_switches] with which probability; else 0 */
	uint32_t n;
	size_t cap_order, cap_reach;
};

/* Take a mesh, whatever was taken before. Errors SIM_ENOMEM. Cost O(switches)
 * for the first of a size. */
int topo_mesh_cross_begin(struct topo_mesh_cross *c, const struct topo_mesh *m,
    struct sim_err *e);
void topo_mesh_cross_free(struct topo_mesh_cross *c);

/* An upper bound of the ordered pairs of different ToRs between which some flow
 * crosses VIA; in a tree the number of a link's. Cost O(ToRs), of a switch times
 * its links. */
uint64_t topo_mesh_cross_most(const struct topo_mesh *m, struct topo_via via);

/* Go outwards from VIA through all switches that send flows for the ToR TO over
 * it. Of those at switch s, c->reach[s] times what is returned crosses VIA; 0 is
 * returned, and C left empty, where none does. Cost O(links of those
 * switches). */
double topo_mesh_cross_sweep(struct topo_mesh_cross *c, struct topo_via via,
    topo_switch to);

/* Draw the path of a flow given that it crosses VIA, which it may. Returns the
 * number of links. Shape path[TOPO_MAX_HOPS]. Cost O(links of the switches of a
 * sweep nearer than SRC). */
unsigned topo_mesh_cross_path(struct topo_mesh_cross *c, struct sim_rng *r,
    struct topo_via via, topo_host src, topo_host dst, topo_link path[]);

#endif
