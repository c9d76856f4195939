/* topo/clos.h -- the parametric three-tier Clos, by arithmetic alone.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	  T2 0 .. n_t2-1            every T1 reaches every T2
 *	 /  |  \  /  |  \
 *	T1 ..  |  T1 ..  |          n_t1 a pod, complete to the pod's ToRs
 *	 \  |  /  \  |  /
 *	ToR .. |  ToR .. |          n_tors a pod
 *	 |  |      |  |
 *	 n_hosts a ToR
 *
 * Nothing is stored: ids, ends, classes and paths are computed, so a million
 * hosts cost no memory. Order of ids:
 *
 *	host    (pod * n_tors + tor) * n_hosts + i
 *	switch  ToRs by pod, then T1s by pod, then T2s
 *	cable   host cables, then ToR-T1 by (ToR, T1), then T1-T2 by (T1, T2)
 *
 * Paper: 007 (NSDI'18), appendix C, where these are n_pod, n_0, n_1, n_2, H.
 */
#ifndef TOPO_CLOS_H
#define TOPO_CLOS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/err.h"
#include "sim/field.h"
#include "topo/ids.h"

struct topo_clos {
	uint32_t n_pods, n_tors, n_t1, n_t2, n_hosts; /* as in a spec */
	/* Derived by topo_clos_init(). */
	uint32_t all_tors, all_t1, all_hosts;
	uint32_t cable_tor, cable_t1, n_cables; /* first ToR-T1, T1-T2 cable */
};

extern const struct sim_field topo_clos_fields[];

/* Check the five numbers and derive the rest. n_t1 may be 0 only when there is
 * one ToR in all and no T2, n_t2 only when there is one pod (a leaf-spine).
 * With one pod the T2s, if any, are wired but no path crosses them.
 * Errors SIM_EINVAL (a disconnected shape), SIM_ELIMIT (beyond 2^24 - 2 hosts,
 * 2^20 switches or 2^31 directed links). */
int topo_clos_init(struct topo_clos *c, struct sim_err *e);

static inline uint32_t topo_clos_n_switches(const struct topo_clos *c)
{
	return c->all_tors + c->all_t1 + c->n_t2;
}

/* Switch ids by place, and places by switch id. */
static inline topo_switch topo_clos_tor(const struct topo_clos *c, uint32_t pod,
    uint32_t i)
{
	return pod * c->n_tors + i;
}

static inline topo_switch topo_clos_t1(const struct topo_clos *c, uint32_t pod,
    uint32_t i)
{
	return c->all_tors + pod * c->n_t1 + i;
}

static inline topo_switch topo_clos_t2(const struct topo_clos *c, uint32_t i)
{
	return c->all_tors + c->all_t1 + i;
}

/* Links by place; TOR and T1 count over all pods. */
static inline topo_link topo_clos_link_host(topo_host h, enum topo_dir dir)
{
	return topo_link_of(h, dir);
}

static inline topo_link topo_clos_link_tor(const struct topo_clos *c,
    uint32_t tor, uint32_t t1_of_pod, enum topo_dir dir)
{
	return topo_link_of(c->cable_tor + tor * c->n_t1 + t1_of_pod, dir);
}

static inline topo_link topo_clos_link_t1(const struct topo_clos *c,
    uint32_t t1, uint32_t t2, enum topo_dir dir)
{
	return topo_link_of(c->cable_t1 + t1 * c->n_t2 + t2, dir);
}

/* Where a directed link runs: its class, the pod it is in, and the indices of
 * its ends within their tier (host in all, ToR and T1 in all, T2). */
struct topo_clos_place {
	enum topo_link_class class;
	uint32_t pod;
	uint32_t low, high;
};
struct topo_clos_place topo_clos_place(const struct topo_clos *c, topo_link l);

/* Number of directed links of a class, and the I-th of them in id order. */
uint32_t topo_clos_class_size(const struct topo_clos *c,
    enum topo_link_class class);
topo_link topo_clos_class_at(const struct topo_clos *c,
    enum topo_link_class class, uint32_t i);

/* Share of flows that cross link L among those that cross GIVEN, when every
 * host sends alike to hosts under all other ToRs and every switch spreads
 * alike. GIVEN = TOPO_NONE: among all flows. 0 / 0 is 0. Cost O(1).
 * Paper: 007 appendix C, the event probabilities of lemma 2. */
double topo_clos_share(const struct topo_clos *c, topo_link given, topo_link l);

/* What topo.h dispatches to; the same contracts. */
unsigned topo_clos_path(const struct topo_clos *c, uint32_t ecmp_seed,
    topo_host src, topo_host dst, uint32_t digest, topo_link path[]);
double topo_clos_path_share(const struct topo_clos *c, topo_host src,
    topo_host dst, topo_link l);

#endif
