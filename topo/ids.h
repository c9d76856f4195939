/* topo/ids.h -- ids of hosts, switches and directed links.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Hosts and switches are numbered from 0, each kind for itself. A *node* is
 * either: hosts first, then switches (node = n_hosts + switch). Cables are
 * numbered with host cables first, so cable h is the one of host h. Each cable
 * is two directed links:
 *
 *	link = 2 * cable + 0   away from the hosts (up)
 *	link = 2 * cable + 1   towards the hosts (down)
 */
#ifndef TOPO_IDS_H
#define TOPO_IDS_H

#include <stdint.h>

typedef uint32_t topo_host;
typedef uint32_t topo_switch;
typedef uint32_t topo_node;
typedef uint32_t topo_link;

#define TOPO_NONE     UINT32_MAX
#define TOPO_MAX_HOPS 16 /* links of the longest path anywhere */

enum topo_dir { TOPO_UP, TOPO_DOWN };

/* FABRIC: between two switches of a topology without named tiers. */
#define TOPO_LINK_CLASSES(X)                                                   \
	X(HOST_TOR, "host-tor")                                                \
	X(TOR_T1, "tor-t1")                                                    \
	X(T1_T2, "t1-t2")                                                      \
	X(T2_T1, "t2-t1")                                                      \
	X(T1_TOR, "t1-tor")                                                    \
	X(TOR_HOST, "tor-host")                                                \
	X(FABRIC, "fabric")

enum topo_link_class {
#define X(name, text) TOPO_##name,
	TOPO_LINK_CLASSES(X)
#undef X
	    TOPO_N_LINK_CLASSES
};

static inline topo_link topo_link_of(uint32_t cable, enum topo_dir dir)
{
	return 2 * cable + (uint32_t)dir;
}

static inline topo_link topo_link_reverse(topo_link l)
{
	return l ^ 1;
}

#endif
