/* models/bulk/sieve.h -- which flows of a block may have lost something.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A flow of n packets whose u, in [0, 1), says whether it is lossy can be so
 * only if u / n lies below the sum of its links' hazards. The sieve compares the
 * two in floats, hazards rounded up: it lets flows through that lose nothing,
 * but never holds back one that loses.
 *
 * Flows are numbered by their source, so what a block loads of its ways up lies
 * side by side. Ways down lie anywhere, and in a large network each of their
 * links costs a miss of the cache. So a flow meets first a bound of all that
 * leads down to its ToR, one number a ToR, and what is left meets the links.
 */
#ifndef MODELS_BULK_SIEVE_H
#define MODELS_BULK_SIEVE_H

#include "models/bulk/kernel.h"
#include "models/scene/scene.h"

/* Zeroed is empty. */
struct bulk_sieve {
	const struct bulk_kernel *kernel;
	const struct scene *scene;
	struct bulk_clos net;
	float *hazard; /* [n_links + 1], rounded up; [n_links] = 0: no link */
	float *toward; /* [all_tors], of all ways down to a ToR and its hosts */
	double *rate;  /* [n_links], noise, scratch of begin */
	/* [n_links + 1], 1 + the first hole of the switch that a link leads to,
	 * 0: none; unused while the scene has no holes. */
	uint32_t *hole;
	size_t cap_hazard, cap_toward, cap_rate, cap_hole;
	struct bulk_block back; /* with TCP: the same flows' ways back */
};

/* Take the hazards of a scene, which must not change while S is used. NET and
 * KERNEL are copied. Cost O(links). Errors SIM_ENOMEM. */
int bulk_sieve_begin(struct bulk_sieve *v, const struct scene *s,
    const struct bulk_clos *net, const struct bulk_kernel *kernel,
    struct sim_err *e);

/* List the flows of block K that may be lossy, in its order; returns how many.
 * Shape candidate[BULK_BLOCK]. For a Clos alone. */
uint32_t bulk_sieve_pick(struct bulk_sieve *v, const struct bulk_block *k,
    uint32_t candidate[]);

void bulk_sieve_free(struct bulk_sieve *v);

/* The switch that a link leads to, or TOPO_NONE. */
static inline topo_switch bulk_switch_behind(const struct topo *t, topo_link l)
{
	topo_node from, to;
	topo_link_ends(t, l, &from, &to);
	return to < t->n_hosts ? TOPO_NONE : to - t->n_hosts;
}

#endif
