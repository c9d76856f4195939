/* topo/alike.h -- the share of flows through one link that cross many others.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * topo_share_given() for links that are asked about again and again. In a Clos
 * P(l | given) depends, by symmetry, on the classes of both links and on which
 * of three parts they have in common: the pod, and two more of each kind of
 * cable, where T1s are told by their index in the pod.
 *
 *	host - ToR    ToR    host
 *	ToR - T1      ToR    T1
 *	T1 - T2       T2     T1
 *
 * So each link is taken apart once, and each of the 6 x 6 x 8 cases is worked
 * out once; what is left to do for a link is three comparisons.
 *
 * Paper: 007 (NSDI'18), appendix C, the event probabilities of lemma 2.
 */
#ifndef TOPO_ALIKE_H
#define TOPO_ALIKE_H

#include <stddef.h>
#include <stdint.h>

#include "sim/err.h"
#include "topo/topo.h"

enum { TOPO_ALIKE_CASES = 8 }; /* of a class: a bit for each part */

/* Zeroed is empty. */
struct topo_alike {
	const struct topo *topo;
	size_t n, cap;
	topo_link *link;           /* [n] */
	uint32_t *pod, *one, *two; /* [n]: the parts; not in a mesh */
	uint32_t *first;           /* [n]: the first case of the link's class */

	/* By class of the given link, then by case of the other; filled for
	 * the classes in `known`. */
	double share[TOPO_N_LINK_CLASSES]
		    [TOPO_N_LINK_CLASSES * TOPO_ALIKE_CASES];
	uint32_t known; /* bits */
};

/* Begin with N links of T, which is kept; all calls on one object are about one
 * topology. Errors SIM_ENOMEM. Cost O(n). */
int topo_alike_take(struct topo_alike *a, const struct topo *t,
    const topo_link link[], size_t n, struct sim_err *e);
void topo_alike_free(struct topo_alike *a);

/* share[i] = topo_share_given(given, link[i]), to the last bit in a Clos. Shape
 * share[n]. Errors SIM_ENOMEM. Cost as there, about ten times less in a Clos. */
int topo_alike_shares(struct topo_alike *a, topo_link given, double share[],
    struct sim_err *e);

/* Forget link[i]; the last one takes its place. */
void topo_alike_drop(struct topo_alike *a, size_t i);

#endif
