/* models/bulk/pairs.c -- between which ToRs of a mesh flows cross what failed.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/bulk/pairs.h"

#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"

void bulk_pairs_free(struct bulk_pairs *p)
{
	free(p->pair);
	free(p->first);
	free(p->unsorted);
	*p = (struct bulk_pairs){0};
}

/* The ToRs from which flows for TO cross it. */
static int add_sources(struct bulk_pairs *p, const struct topo_mesh_cross *c,
    const struct bulk_pair *like, struct sim_err *e)
{
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < c->n; i++) {
		const topo_switch s = c->order[i];
		if (!topo_mesh_is_tor(c->mesh, s) || s == like->to)
			continue;
		rc = SIM_RESERVE(&p->unsorted, &p->cap_unsorted, p->n + 1, e);
		if (rc < 0)
			return rc;
		p->unsorted[p->n] = *like;
		p->unsorted[p->n].from = s;
		p->unsorted[p->n++].share *= c->reach[s];
	}
	return rc;
}

int bulk_pairs_add(struct bulk_pairs *p, struct topo_mesh_cross *c,
    uint32_t failed, struct topo_via via, topo_switch to, struct sim_err *e)
{
	const topo_switch end =
	    to == TOPO_NONE ? topo_mesh_n_switches(c->mesh) : to + 1;
	struct bulk_pair like = {.failed = failed};
	int rc = 0;
	for (like.to = to == TOPO_NONE ? 0 : to; rc == 0 && like.to < end;
	     like.to++) {
		if (!topo_mesh_is_tor(c->mesh, like.to))
			continue;
		like.share = topo_mesh_cross_sweep(c, via, like.to);
		rc = add_sources(p, c, &like, e);
	}
	return rc;
}

int bulk_pairs_sort(struct bulk_pairs *p, uint32_t n_switches,
    struct sim_err *e)
{
	int rc = SIM_RESERVE(&p->first, &p->cap_first, n_switches + 2ul, e);
	if (rc < 0 || (rc = SIM_RESERVE(&p->pair, &p->cap, p->n, e)) < 0)
		return rc;
	/* One further on they count each switch's, then they say where its
	 * next goes, and then where it ends, which is where the next begins. */
	uint32_t *at = p->first + 1;
	memset(p->first, 0, (n_switches + 2ul) * sizeof(*p->first));
	for (size_t i = 0; i < p->n; i++)
		at[p->unsorted[i].from + 1]++;
	for (uint32_t s = 0; s < n_switches; s++)
		at[s + 1] += at[s];
	for (size_t i = 0; i < p->n; i++)
		p->pair[at[p->unsorted[i].from]++] = p->unsorted[i];
	return 0;
}
