/* topo/topo.h -- a network: a Clos by arithmetic or any graph by tables.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TOPO_TOPO_H
#define TOPO_TOPO_H

#include <stddef.h>
#include <stdio.h>

#include "sim/err.h"
#include "sim/time.h"
#include "topo/clos.h"
#include "topo/ids.h"
#include "topo/route.h"

struct topo_mesh;
struct topo_region;

/* Zeroed is a valid empty topology; topo_close() is safe on it. */
struct topo {
	uint32_t n_hosts, n_switches, n_links; /* directed links */
	struct topo_clos clos;                 /* when mesh is NULL */
	struct topo_mesh *mesh;                /* owned, or NULL */
	struct topo_region *region; /* owned; NULL: one data centre */
};

/* SHAPE's derived members are ignored. Errors as topo_clos_init(). */
int topo_open_clos(struct topo *t, const struct topo_clos *shape,
    struct sim_err *e);

/* Take over a mesh (topo/mesh.h); T owns it also on failure. */
int topo_open_mesh(struct topo *t, struct topo_mesh *mesh, struct sim_err *e);

void topo_close(struct topo *t);

static inline int topo_is_clos(const struct topo *t)
{
	return !t->mesh;
}

/* The switch a host hangs on. A ToR is a switch with at least one host. */
topo_switch topo_tor_of(const struct topo *t, topo_host h);

/* The tier of a switch: 0 ToR, 1 T1, 2 T2, 3 border; TOPO_NONE in a mesh that
 * was given none. Cost O(1). */
uint32_t topo_tier_of(const struct topo *t, topo_switch s);

/* The pod of a host, counted over all data centres; TOPO_NONE in a mesh that
 * has none. Cost O(1), or O(data centres) in a region. */
uint32_t topo_pod_of(const struct topo *t, topo_host h);

/* Propagation delay of a link, one way: 0 but on cables between data centres.
 * Cost O(1). */
sim_ns topo_link_delay(const struct topo *t, topo_link l);

/* Nodes at the ends of a directed link. */
void topo_link_ends(const struct topo *t, topo_link l, topo_node *from,
    topo_node *to);
enum topo_link_class topo_class_of(const struct topo *t, topo_link l);
extern const char *const topo_class_names[]; /* by class; NULL-terminated */

/* The link from one node to another, or TOPO_NONE. Cost O(1) in a Clos, else
 * O(links of a node). */
topo_link topo_link_between(const struct topo *t, topo_node from, topo_node to);

/* Names for people, which the two below read back: a link is "tor3->t1.5". In a
 * Clos nodes are host17, tor3, t1.5, t2.0, each tier counted
 * over all pods; in a mesh the name given (the id of a node in a GraphML
 * file is its name unless it has one), else host17 or sw3. Names in a region
 * are in topo/region.h. */
void topo_node_name(const struct topo *t, topo_node n, char buf[64]);
void topo_link_name(const struct topo *t, topo_link l, char buf[64]);

/* The node of a name that topo_node_name() gives; in a mesh ids of the file are
 * known beside the names given, and host17 and sw3, unless the file gives such
 * names to other nodes. Errors SIM_EINVAL. Cost O(1) in a Clos and in a
 * region, O(nodes) in another mesh. */
int topo_node_parse(const struct topo *t, const char *name, topo_node *out,
    struct sim_err *e);

/* The link of a text that people write: a link id in decimal, or FROM->TO with
 * names that topo_node_parse() reads. Errors SIM_EINVAL (neither; an unknown
 * node; two nodes without a cable), SIM_ERANGE (an id beyond the last). */
int topo_link_parse(const struct topo *t, const char *text, topo_link *out,
    struct sim_err *e);

/* Directed links that flows from SRC to DST with this digest take, in order;
 * returns their number (0 when src == dst). Cost O(hops).
 * Shape  path[TOPO_MAX_HOPS]. */
unsigned topo_path(const struct topo *t, uint32_t ecmp_seed, topo_host src,
    topo_host dst, uint32_t digest, topo_link path[]);

/* Probability that a flow from SRC to DST crosses L when every switch spreads
 * alike over its next hops. Cost O(1) in a Clos, O(links) in a mesh. */
double topo_path_share(const struct topo *t, topo_host src, topo_host dst,
    topo_link l);

/* share[i] = share of flows crossing link[i] among those crossing GIVEN,
 * under uniform traffic between hosts of different ToRs (TOPO_NONE: among all
 * flows). Cost O(n) in a Clos, O(ToRs * links) in a mesh.
 * Errors SIM_ENOMEM. */
int topo_share_given(const struct topo *t, topo_link given,
    const topo_link link[], size_t n, double share[], struct sim_err *e);

#endif
