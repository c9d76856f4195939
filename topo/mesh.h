/* topo/mesh.h -- any network as tables, with ECMP over all shortest paths.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A mesh is a list of cables between nodes. Every host has one cable, to a
 * switch; switches are connected among each other in any way. Flows follow
 * shortest paths; at each switch all neighbours that are one hop nearer to the
 * destination's ToR are equal, in order of link id.
 */
#ifndef TOPO_MESH_H
#define TOPO_MESH_H

#include <stddef.h>
#include <stdio.h>

#include "sim/err.h"
#include "topo/ids.h"
#include "topo/topo.h"

#define TOPO_MESH_MAX_SWITCHES 4096
#define TOPO_MESH_MAX_NAME     30 /* bytes, so that a link's name fits */

/* One cable; node ids as in ids.h (hosts first, then switches). */
struct topo_cable {
	topo_node a, b;
};

/* What a builder or reader hands over. CABLE[i] for i < n_hosts must join host
 * i to a switch; the rest join two different switches. For switch cables, "up"
 * (direction 0) is from the node with the smaller TIER to the larger one; in a
 * tie, from the smaller node id to the larger, whichever is a. TIER may be
 * NULL; NAME may be NULL or hold NULLs. Names have 1 to TOPO_MESH_MAX_NAME
 * bytes of UTF-8, and hold no control character and no "->". An ID is what a
 * file calls a node, of any length; it may be the node's name too. No two nodes
 * share a name or an id, nor has one the other's. Nothing is of the form host17
 * or sw3 unless the node has that number, or all nodes have names. */
struct topo_mesh_input {
	uint32_t n_hosts, n_switches;
	size_t n_cables;
	const struct topo_cable *cable; /* [n_cables] */
	const uint32_t *tier;           /* [n_switches]: 0 ToR, 1 T1, 2 T2 */
	const char *const *name;        /* [n_hosts + n_switches] */
	const char *const *id; /* [n_hosts + n_switches], with NAME; or NULL */
};

/* Build the tables: adjacency and, for every ToR, hop counts to it.
 * Errors SIM_EINVAL (a host without or with two cables, a loop, parallel
 * cables, a disconnected network, a bad name), SIM_ELIMIT (a path longer than
 * TOPO_MAX_HOPS, more switches than TOPO_MESH_MAX_SWITCHES, more than
 * 2^24 - 2 hosts), SIM_ENOMEM.
 * Cost O(ToRs * cables) time, O(ToRs * switches) bytes. */
int topo_mesh_open(struct topo_mesh **m, const struct topo_mesh_input *in,
    struct sim_err *e);
void topo_mesh_close(struct topo_mesh *m);

/* The k-ary fat-tree of Al-Fares et al. (SIGCOMM'08): k pods of k/2 ToRs and
 * k/2 aggregation switches, (k/2)^2 cores, HOSTS hosts a ToR (0: k/2). Unlike
 * the Clos of clos.h, core c meets only aggregation switch c / (k/2) of a pod.
 * Errors SIM_EINVAL if k is odd or 0. */
int topo_mesh_fat_tree(struct topo_mesh **m, uint32_t k, uint32_t hosts,
    struct sim_err *e);

/* The arithmetic Clos as tables, with identical ids: the oracle of clos.c. */
int topo_mesh_from_clos(struct topo_mesh **m, const struct topo_clos *c,
    struct sim_err *e);

/* What topo.h dispatches to; the same contracts. */
uint32_t topo_mesh_n_hosts(const struct topo_mesh *m);
uint32_t topo_mesh_n_switches(const struct topo_mesh *m);
uint32_t topo_mesh_n_links(const struct topo_mesh *m);
/* Links of the longest path between hosts, both of theirs among them. */
unsigned topo_mesh_most_hops(const struct topo_mesh *m);
topo_switch topo_mesh_tor_of(const struct topo_mesh *m, topo_host h);
void topo_mesh_link_ends(const struct topo_mesh *m, topo_link l,
    topo_node *from, topo_node *to);
enum topo_link_class topo_mesh_class_of(const struct topo_mesh *m, topo_link l);
/* Has the switch any hosts? */
int topo_mesh_is_tor(const struct topo_mesh *m, topo_switch s);
/* The name given to a node, or NULL; its id in the file, or NULL. */
const char *topo_mesh_name(const struct topo_mesh *m, topo_node n);
const char *topo_mesh_id(const struct topo_mesh *m, topo_node n);
/* The node given that name or id, or TOPO_NONE. Cost O(nodes). */
topo_node topo_mesh_find(const struct topo_mesh *m, const char *name);
/* Are host17 and sw3 the nodes of that number, or might a name or an id that
 * was given mean another one by it? */
int topo_mesh_has_numbers(const struct topo_mesh *m);
/* The directed link between two nodes, or TOPO_NONE. Cost O(degree). */
topo_link topo_mesh_link_between(const struct topo_mesh *m, topo_node from,
    topo_node to);
/* The tier given to a switch, or TOPO_NONE if the input had no tiers. */
uint32_t topo_mesh_tier(const struct topo_mesh *m, topo_switch s);
unsigned topo_mesh_path(const struct topo_mesh *m, uint32_t ecmp_seed,
    topo_host src, topo_host dst, uint32_t digest, topo_link path[]);
double topo_mesh_path_share(const struct topo_mesh *m, topo_host src,
    topo_host dst, topo_link l);
/* Hosts may be spread unevenly: all ordered pairs of hosts under different ToRs
 * have equal traffic. */
int topo_mesh_share_given(const struct topo_mesh *m, topo_link given,
    const topo_link link[], size_t n, double share[], struct sim_err *e);
/* Append the links between two ToRs (topo/shares.h), in order of distance. */
struct topo_shares;
int topo_mesh_shares(struct topo_shares *s, const struct topo_mesh *m,
    topo_switch from, topo_switch to, struct sim_err *e);
#endif
