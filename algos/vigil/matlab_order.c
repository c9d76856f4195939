/* algos/vigil/matlab_order.c -- in which order 007's released simulator makes links.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/vigil/matlab_order.h"

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
	case TOPO_T1_T2:
		return pod + (at.low - first_t1) * c->n_t2 + at.high;
	case TOPO_TOR_T1:
		return pod + trunk + (at.low - first_tor) * tor_size + at.high -
		    first_t1;
	case TOPO_HOST_TOR:
		return pod + trunk + (at.high - first_tor) * tor_size +
		    c->n_t1 + at.low % c->n_hosts;
	case TOPO_TOR_HOST:
		return pod + trunk + (at.high - first_tor) * tor_size +
		    c->n_t1 + c->n_hosts + at.low % c->n_hosts;
	case TOPO_T1_TOR:
		return pod + trunk + tors_size +
		    (at.high - first_t1) * c->n_tors + at.low - first_tor;
	default:
		return pod + trunk + tors_size + leaf + at.high * c->n_t1 +
		    at.low - first_t1;
	}
}
