/* topo/mesh_build.c -- builders of meshes: the fat-tree, and a Clos as tables.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>

#include "sim/vec.h"
#include "topo/mesh.h"

/* A three-tier tree in the numbering of clos.h: ToRs by pod, T1s by pod, T2s.
 * The I-th T1 of a pod has cables to N_UP T2s, from T2 I * STRIDE on: a Clos
 * has a stride of 0, as all T1s meet all T2s; a fat-tree has one of N_UP, so
 * that each core meets one T1 of a pod. */
struct tree {
	uint32_t n_pods, n_tors, n_t1, n_t2, n_hosts;
	uint32_t n_up, stride;
};

/* Cables in the order of clos.h, so that their ids are those of the Clos. */
static void mesh_build_lay_cables(const struct tree *t, uint32_t hosts,
    uint32_t tors, uint32_t t1s, struct topo_cable *c)
{
	topo_node tor = hosts, t1 = tor + tors, t2 = t1 + t1s;
	for (uint32_t h = 0; h < hosts; h++)
		*c++ = (struct topo_cable){h, tor + h / t->n_hosts};
	for (uint32_t i = 0; i < tors; i++)
		for (uint32_t j = 0; j < t->n_t1; j++)
			*c++ = (struct topo_cable){
			    tor + i,
			    t1 + i / t->n_tors * t->n_t1 + j,
			};
	for (uint32_t i = 0; i < t1s; i++)
		for (uint32_t k = 0; k < t->n_up; k++)
			*c++ = (struct topo_cable){
			    t1 + i,
			    t2 + i % t->n_t1 * t->stride + k,
			};
}

static int mesh_build_build(struct topo_mesh **m, const struct tree *t,
    struct sim_err *e)
{
	/* topo_clos_init() has bounded these products, for both callers. */
	uint32_t tors = t->n_pods * t->n_tors, t1s = t->n_pods * t->n_t1;
	uint32_t hosts = tors * t->n_hosts;
	struct topo_mesh_input in = {
	    .n_hosts = hosts,
	    .n_switches = tors + t1s + t->n_t2,
	    .n_cables =
		(size_t)hosts + (size_t)tors * t->n_t1 + (size_t)t1s * t->n_up,
	};
	struct topo_cable *cable = NULL;
	uint32_t *tier = NULL;
	int rc;
	if ((rc = SIM_ZALLOC(&cable, in.n_cables, e)) < 0 ||
	    (rc = SIM_ZALLOC(&tier, in.n_switches, e)) < 0)
		goto out;
	mesh_build_lay_cables(t, hosts, tors, t1s, cable);
	for (uint32_t s = tors; s < in.n_switches; s++)
		tier[s] = s < tors + t1s ? 1 : 2;
	in.cable = cable;
	in.tier = tier;
	rc = topo_mesh_open(m, &in, e);
out:
	free(tier);
	free(cable);
	return rc;
}

int topo_mesh_fat_tree(struct topo_mesh **m, uint32_t k, uint32_t hosts,
    struct sim_err *e)
{
	*m = NULL;
	if (k == 0 || k % 2 != 0)
		return sim_fail(e, SIM_EINVAL,
		    "A fat-tree of k %u: k must be even and at least 2.", k);
	/* A fat-tree has 5 k^2 / 4 switches. The first test keeps the product
	 * in the second one from wrapping. */
	if (k > TOPO_MESH_MAX_SWITCHES ||
	    5 * (k / 2) * (k / 2) > TOPO_MESH_MAX_SWITCHES)
		return sim_fail(e, SIM_ELIMIT,
		    "A fat-tree of k %u has more than the limit of %d "
		    "switches.",
		    k, TOPO_MESH_MAX_SWITCHES);
	uint32_t half = k / 2, cores = half * half;
	if (hosts == 0)
		hosts = half;
	/* The Clos of the same tiers has as many hosts, and its limits are
	 * those that addresses set, so its check serves here too. */
	struct topo_clos like = {
	    .n_pods = k,
	    .n_tors = half,
	    .n_t1 = half,
	    .n_t2 = cores,
	    .n_hosts = hosts,
	};
	int rc = topo_clos_init(&like, e);
	if (rc < 0)
		return sim_wrap(e, rc, "fat-tree of k %u", k);
	struct tree t = {k, half, half, cores, hosts, half, half};
	return mesh_build_build(m, &t, e);
}

int topo_mesh_from_clos(struct topo_mesh **m, const struct topo_clos *c,
    struct sim_err *e)
{
	struct topo_clos own = *c;
	int rc = topo_clos_init(&own, e);
	*m = NULL;
	if (rc < 0)
		return rc;
	struct tree t = {c->n_pods, c->n_tors, c->n_t1, c->n_t2, c->n_hosts,
	    c->n_t2, 0};
	return mesh_build_build(m, &t, e);
}
