/* topo/shares.c -- every link that a flow may cross, with its probability.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "topo/shares.h"

#include <stdlib.h>

#include "sim/vec.h"
#include "topo/mesh.h"

void topo_shares_free(struct topo_shares *s)
{
	free(s->link);
	free(s->share);
	*s = (struct topo_shares){0};
}

int topo_shares_add(struct topo_shares *s, topo_link link, double share,
    struct sim_err *e)
{
	if (s->n == s->cap) {
		/* Both arrays share `cap`, so each grows on a copy of it: if
		 * the second fails, the first merely holds spare memory. */
		size_t cap = s->cap, cap2 = s->cap;
		int rc;
		if ((rc = SIM_RESERVE(&s->link, &cap, s->n + 1, e)) < 0 ||
		    (rc = SIM_RESERVE(&s->share, &cap2, s->n + 1, e)) < 0)
			return rc;
		s->cap = cap;
	}
	s->link[s->n] = link;
	s->share[s->n++] = share;
	return 0;
}

/* Append the links between two different ToRs A and B of a Clos: every T1 of
 * A's pod is chosen with probability 1 / n_t1, every T2 from there with 1 /
 * n_t2, and so is the T1 on the way down. Inside a pod there are no T2s (n_t2 =
 * 0 below), and both T1s are one. */
static int add_trunks(struct topo_shares *s, const struct topo_clos *c,
    uint32_t a, uint32_t b, struct sim_err *e)
{
	const uint32_t pod = a / c->n_tors, other = b / c->n_tors;
	const uint32_t n_t2 = pod == other ? 0 : c->n_t2;
	const double leaf = 1.0 / c->n_t1, trunk = leaf / c->n_t2;
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < c->n_t1; i++)
		rc = topo_shares_add(s, topo_clos_link_tor(c, a, i, TOPO_UP),
		    leaf, e);
	for (uint32_t i = 0; rc == 0 && i < c->n_t1 * n_t2; i++)
		rc = topo_shares_add(s,
		    topo_clos_link_t1(c, pod * c->n_t1 + i / n_t2, i % n_t2,
			TOPO_UP),
		    trunk, e);
	for (uint32_t i = 0; rc == 0 && i < c->n_t1 * n_t2; i++)
		rc = topo_shares_add(s,
		    topo_clos_link_t1(c, other * c->n_t1 + i / n_t2, i % n_t2,
			TOPO_DOWN),
		    trunk, e);
	for (uint32_t i = 0; rc == 0 && i < c->n_t1; i++)
		rc = topo_shares_add(s, topo_clos_link_tor(c, b, i, TOPO_DOWN),
		    leaf, e);
	s->n_hops += pod == other ? 2 : 4;
	return rc;
}

int topo_shares_between(struct topo_shares *s, const struct topo *t,
    topo_host src, topo_host dst, struct sim_err *e)
{
	const topo_switch a = topo_tor_of(t, src), b = topo_tor_of(t, dst);
	int rc;
	s->n = 0;
	s->n_hops = 0;
	if (src == dst)
		return 0;
	s->n_hops = 2;
	rc = topo_shares_add(s, topo_link_of(src, TOPO_UP), 1, e);
	if (rc == 0 && a != b)
		rc = topo_is_clos(t) ? add_trunks(s, &t->clos, a, b, e)
				     : topo_mesh_shares(s, t->mesh, a, b, e);
	if (rc == 0)
		rc = topo_shares_add(s, topo_link_of(dst, TOPO_DOWN), 1, e);
	return rc;
}
