/* tests/rigs/oracle_cover.c -- the smallest set of links that explains all failures.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/oracle_cover.h"

static int is_covered(const struct obs *w, size_t flow, const topo_link *set,
    size_t n)
{
	int known = 0;
	for (unsigned j = 0; j < obs_n_hops(w, flow); j++) {
		const topo_link l = obs_path(w, flow)[j];
		known += l != TOPO_NONE;
		for (size_t i = 0; i < n; i++)
			if (set[i] == l)
				return 1;
	}
	return known == 0 || w->flows.n_retx[flow] == 0;
}

/* Whether SET[n] can be completed to a cover of SIZE links. */
static int completes(const struct obs *w, topo_link *set, size_t n, size_t size)
{
	size_t flow = 0;
	while (flow < w->flows.n && is_covered(w, flow, set, n))
		flow++;
	if (flow == w->flows.n)
		return 1;
	for (unsigned j = 0; n < size && j < obs_n_hops(w, flow); j++) {
		set[n] = obs_path(w, flow)[j];
		if (set[n] != TOPO_NONE && completes(w, set, n + 1, size))
			return 1;
	}
	return 0;
}

size_t oracle_min_cover(const struct obs *w)
{
	topo_link set[64];
	size_t size = 0;
	while (size < 64 && !completes(w, set, 0, size))
		size++;
	return size;
}
