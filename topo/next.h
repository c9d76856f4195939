/* topo/next.h -- next hops: where a switch may send a packet for a node.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The ECMP sets behind topo_path(): going from the source's ToR by
 *
 *	topo_next(t, at, dst, topo_switch_pick(seed, at, digest,
 *	    topo_n_next(t, at, dst)))
 *
 * gives the links of topo_path(), in whatever kind of network. Destinations may
 * also be switches (their loopbacks), which guided probes are sent to.
 *
 * In a mesh all shortest ways are equal. So they are in a Clos, but that nothing
 * goes down and up again where there is a way up: from a T1 to another of its
 * pod all T2s are equal, and only without T2s all ToRs of the pod.
 */
#ifndef TOPO_NEXT_H
#define TOPO_NEXT_H

#include "topo/topo.h"

/* The N equal next hops of switch AT for node DST, for who wants to know N before
 * one of them is chosen. */
struct topo_next_set {
	uint32_t n;
	/* Link FIRST + i * STRIDE leads to hop i; STRIDE 0: search for it. */
	topo_link first;
	uint32_t stride;
	topo_switch at;
	topo_node dst;
};

/* N is 0 if AT is DST itself, or more than 254 hops away from it. Cost O(1) in a
 * Clos, else O(links of AT), and O(cables) for a switch without hosts. */
struct topo_next_set topo_next_set(const struct topo *t, topo_switch at,
    topo_node dst);

/* The link to the I-th of S, in the order by which switches choose. Domain
 * i < s->n. Cost O(1) in a Clos and where there is one alone, else as above. */
topo_link topo_next_of(const struct topo *t, const struct topo_next_set *s,
    uint32_t i);

/* How many there are, and the I-th, for who wants no more than that. */
static inline uint32_t topo_n_next(const struct topo *t, topo_switch at,
    topo_node dst)
{
	return topo_next_set(t, at, dst).n;
}

static inline topo_link topo_next(const struct topo *t, topo_switch at,
    topo_node dst, uint32_t i)
{
	const struct topo_next_set s = topo_next_set(t, at, dst);
	return topo_next_of(t, &s, i);
}

/* Whether L is one of them: may a healthy network carry a packet for DST over
 * L, out of the switch where L begins? What comes from a host leaves it by its
 * cable, unless it is for itself. Cost as above. */
int topo_is_next(const struct topo *t, topo_link l, topo_node dst);

#endif
