/* algos/vigil/matlab_order.c -- how 007's released simulator orders links.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/vigil/matlab_order.h"

/* Count the links made before L: those of earlier pods, of earlier groups in
 * its pod, of earlier ToRs in the ToRs' group, then its place within the group.
 * A T2 belongs to no pod; each pod makes its own links to and from the T2s. */
uint32_t algo_matlab_order(const struct topo_clos *c, topo_link l)
{
	const struct topo_clos_place at = topo_clos_place(c, l);
	const uint32_t trunk = c->n_t1 * c->n_t2, leaf = c->n_tors * c->n_t1;
	const uint32_t tor_size = c->n_t1 + 2 * c->n_hosts;
	const uint32_t tors_size = c->n_tors * tor_size;
	const uint32_t pod = at.pod * (2 * trunk + leaf + tors_size);
	const uint32_t first_t1 = at.pod * c->n_t1;
	const uint32_t first_tor = at.pod * c->n_tors;
	switch (at.class) {
	/* The pod's first group: each T1 makes its links up. */
	case TOPO_T1_T2:
		return pod + (at.low - first_t1) * c->n_t2 + at.high;
	/* Each ToR makes its links up, then one from and one to each of its
	 * hosts, before the next ToR begins. */
	case TOPO_TOR_T1:
		return pod + trunk + (at.low - first_tor) * tor_size + at.high -
		    first_t1;
	case TOPO_HOST_TOR:
		return pod + trunk + (at.high - first_tor) * tor_size +
		    c->n_t1 + at.low % c->n_hosts;
	case TOPO_TOR_HOST:
		return pod + trunk + (at.high - first_tor) * tor_size +
		    c->n_t1 + c->n_hosts + at.low % c->n_hosts;
	/* After all ToRs: each T1 makes its links down. */
	case TOPO_T1_TOR:
		return pod + trunk + tors_size +
		    (at.high - first_t1) * c->n_tors + at.low - first_tor;
	/* Last, T2 -> T1: each T2 makes its links to the pod. */
	default:
		return pod + trunk + tors_size + leaf + at.high * c->n_t1 +
		    at.low - first_t1;
	}
}
