/* algos/rivals/ways.c -- paths as the components that they cross.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/rivals/ways.h"

#include <stdlib.h>

#include "sim/vec.h"

void algo_ways_free(struct algo_ways *w)
{
	free(w->off);
	free(w->part);
	free(w->set_off);
	free(w->set_part);
	free(w->set_count);
	free(w->seen);
	*w = (struct algo_ways){0};
}

/* Put a switch behind those that stand from FIRST to END, if it is none of them: a
 * probe that comes back meets some twice. */
static unsigned ways_put_once(uint32_t part[], unsigned first, unsigned end,
    uint32_t part_of_switch)
{
	for (unsigned i = first; i < end; i++)
		if (part[i] == part_of_switch)
			return end;
	part[end] = part_of_switch;
	return end + 1;
}

static void ways_put_path(struct algo_ways *w, const struct topo *t,
    topo_switch begin, uint32_t path, int switches)
{
	const struct obs_paths *p = w->of;
	uint32_t *part = w->part + w->off[path];
	const unsigned n = obs_path_length(p, path);
	for (unsigned i = 0; i < n; i++)
		part[i] = p->link[p->off[path] + i];
	unsigned end = n;
	if (switches) {
		part[end++] = t->n_links + begin;
		for (unsigned i = 0; i < n; i++) {
			topo_node from, to;
			topo_link_ends(t, part[i], &from, &to);
			end = ways_put_once(part, n, end,
			    t->n_links + to - t->n_hosts);
		}
	}
	w->off[path + 1] = w->off[path] + end;
}

/* Of a set that is new: all components of its paths and how often each is
 * met. */
static int ways_put_set(struct algo_ways *w, uint32_t set, struct sim_err *e)
{
	const uint32_t first = w->off[w->of->first[set]],
		       last = w->off[w->of->first[set + 1]];
	uint32_t n = w->set_off[set];
	int rc;
	if ((rc = SIM_RESERVE(&w->set_part, &w->cap_set_part,
		 (size_t)n + last - first, e)) < 0 ||
	    (rc = SIM_RESERVE(&w->set_count, &w->cap_count,
		 (size_t)n + last - first, e)) < 0)
		return rc;
	for (uint32_t i = first; i < last; i++) {
		const uint32_t c = w->part[i];
		if (w->seen[c] == 0) {
			w->set_part[n++] = c;
			w->seen[c] = n;
			w->set_count[n - 1] = 0;
		}
		w->set_count[w->seen[c] - 1]++;
	}
	for (uint32_t i = w->set_off[set]; i < n; i++)
		w->seen[w->set_part[i]] = 0;
	w->set_off[set + 1] = n;
	return 0;
}

static int ways_grow(struct algo_ways *w, const struct topo *t,
    struct sim_err *e)
{
	const struct obs_paths *p = w->of;
	const size_t n_links = p->n ? p->off[p->n] : 0,
		     n_parts = (size_t)t->n_links + t->n_switches,
		     had = w->cap_seen;
	int rc;
	if ((rc = SIM_RESERVE(&w->off, &w->cap, p->n + 1, e)) < 0 ||
	    (rc = SIM_RESERVE(&w->part, &w->cap_part, 2 * n_links + p->n, e)) <
		0 ||
	    (rc = SIM_RESERVE(&w->set_off, &w->cap_sets, p->n_sets + 1, e)) <
		0 ||
	    (rc = SIM_RESERVE(&w->seen, &w->cap_seen, n_parts, e)) < 0)
		return rc;
	for (size_t i = had; i < w->cap_seen; i++)
		w->seen[i] = 0;
	return 0;
}

int algo_ways_update(struct algo_ways *w, const struct topo *t,
    const struct obs_paths *p, int switches, int sets, struct sim_err *e)
{
	if (w->of != p || w->n_cleared != p->n_cleared)
		w->n = w->n_sets = 0;
	w->of = p;
	w->n_cleared = p->n_cleared;
	int rc = ways_grow(w, t, e);
	if (rc < 0)
		return rc;
	w->off[0] = w->set_off[0] = 0;
	/* Sets are in the order of their paths, so the ends of a path are those
	 * of the set at hand. */
	uint32_t set = 0;
	for (uint32_t i = (uint32_t)w->n; i < p->n; i++) {
		while (p->first[set + 1] <= i)
			set++;
		ways_put_path(w, t, p->from[set], i, switches);
	}
	w->n = p->n;
	for (; sets && rc == 0 && w->n_sets < p->n_sets; w->n_sets++)
		rc = ways_put_set(w, (uint32_t)w->n_sets, e);
	return rc;
}
