/* models/obs_paths.c -- sets of equal paths: growing, finding, enumerating.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/obs_paths.h"

#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"
#include "topo/next.h"

void obs_paths_clear(struct obs_paths *p)
{
	p->n = p->n_sets = 0;
	p->n_cleared++;
	if (p->slot)
		memset(p->slot, 0, p->n_slots * sizeof(*p->slot));
}

void obs_paths_free(struct obs_paths *p)
{
	free(p->off);
	free(p->link);
	free(p->first);
	free(p->from);
	free(p->to);
	free(p->slot);
	*p = (struct obs_paths){0};
}

/* --- sets by their ends --------------------------------------------------- */

/* The slot of a set, or the free one where it would be. There is always a free
 * one, and at most half are taken. */
static uint32_t *paths_slot(const struct obs_paths *p, topo_switch from,
    topo_switch to)
{
	size_t i = topo_mix32(topo_mix32(from) + to);
	for (;; i++) {
		uint32_t *slot = &p->slot[i & (p->n_slots - 1)];
		if (*slot == 0 ||
		    (p->from[*slot - 1] == from && p->to[*slot - 1] == to))
			return slot;
	}
}

uint32_t obs_paths_find(const struct obs_paths *p, topo_switch from,
    topo_switch to)
{
	/* A free slot's 0 less 1 is OBS_NO_PATH. */
	return p->n_slots ? *paths_slot(p, from, to) - 1 : OBS_NO_PATH;
}

/* Twice as many slots as sets, at least. */
static int paths_widen(struct obs_paths *p, struct sim_err *e)
{
	struct obs_paths wide = *p;
	wide.n_slots = p->n_slots ? 2 * p->n_slots : 16;
	if (2 * (p->n_sets + 1) <= p->n_slots)
		return 0;
	const int rc = SIM_ZALLOC(&wide.slot, wide.n_slots, e);
	if (rc < 0)
		return rc;
	for (uint32_t s = 0; s < p->n_sets; s++)
		*paths_slot(&wide, p->from[s], p->to[s]) = s + 1;
	free(p->slot);
	*p = wide;
	return 0;
}

/* --- growing -------------------------------------------------------------- */

int obs_paths_open(struct obs_paths *p, topo_switch from, topo_switch to,
    struct sim_err *e)
{
	size_t cap_from = p->cap_sets, cap_to = cap_from;
	int rc;
	if (p->n_sets >= UINT32_MAX - 1)
		return sim_fail(e, SIM_ELIMIT, "there are too many sets.");
	/* The arrays have one capacity, which is the last to be raised: it is
	 * what all of them have. */
	if ((rc = SIM_RESERVE(&p->from, &cap_from, p->n_sets + 2, e)) < 0 ||
	    (rc = SIM_RESERVE(&p->to, &cap_to, p->n_sets + 2, e)) < 0 ||
	    (rc = SIM_RESERVE(&p->first, &p->cap_sets, p->n_sets + 2, e)) < 0 ||
	    (rc = paths_widen(p, e)) < 0)
		return rc;
	p->first[p->n_sets] = p->first[p->n_sets + 1] = (uint32_t)p->n;
	p->from[p->n_sets] = from;
	p->to[p->n_sets] = to;
	*paths_slot(p, from, to) = (uint32_t)++p->n_sets;
	return 0;
}

int obs_paths_add(struct obs_paths *p, const topo_link link[], unsigned n_links,
    struct sim_err *e)
{
	const uint32_t n = p->n ? p->off[p->n] : 0;
	int rc;
	if (p->n >= UINT32_MAX - 1 || n > UINT32_MAX - TOPO_MAX_HOPS)
		return sim_fail(e, SIM_ELIMIT, "there are too many paths.");
	if ((rc = SIM_RESERVE(&p->off, &p->cap, p->n + 2, e)) < 0 ||
	    (rc = SIM_RESERVE(&p->link, &p->cap_link, n + n_links, e)) < 0)
		return rc;
	if (n_links > 0)
		memcpy(p->link + n, link, n_links * sizeof(*link));
	p->off[p->n] = n;
	p->off[++p->n] = n + n_links;
	p->first[p->n_sets] = (uint32_t)p->n;
	return 0;
}

/* --- of a network --------------------------------------------------------- */

/* A way under construction: which of its next hops each switch on it takes. */
struct paths_walk {
	const struct topo *topo;
	topo_switch to;
	unsigned n;
	topo_link link[TOPO_MAX_HOPS];
	struct topo_next_set next[TOPO_MAX_HOPS];
	uint32_t taken[TOPO_MAX_HOPS];
};

/* Go on from the end of the way by first choices, to the destination. */
static int paths_extend(struct paths_walk *w, topo_switch at, struct sim_err *e)
{
	while (at != w->to) {
		topo_node begin, end;
		if (w->n == TOPO_MAX_HOPS)
			return sim_fail(e, SIM_ELIMIT,
			    "a path has more than %d links.", TOPO_MAX_HOPS);
		w->next[w->n] =
		    topo_next_set(w->topo, at, w->topo->n_hosts + w->to);
		if (w->next[w->n].n == 0)
			return sim_fail(e, SIM_EINVAL,
			    "no path leads from switch %u to switch %u.", at,
			    w->to);
		w->taken[w->n] = 0;
		w->link[w->n] = topo_next_of(w->topo, &w->next[w->n], 0);
		topo_link_ends(w->topo, w->link[w->n++], &begin, &end);
		at = end - w->topo->n_hosts;
	}
	return 0;
}

/* Take the next choice of the last switch that has one left. Returns 0 behind
 * the last way. */
static int paths_turn(struct paths_walk *w, topo_switch *at)
{
	topo_node begin, end;
	while (w->n > 0 && w->taken[w->n - 1] + 1 == w->next[w->n - 1].n)
		w->n--;
	if (w->n == 0)
		return 0;
	const unsigned i = w->n - 1;
	w->link[i] = topo_next_of(w->topo, &w->next[i], ++w->taken[i]);
	topo_link_ends(w->topo, w->link[i], &begin, &end);
	*at = end - w->topo->n_hosts;
	return 1;
}

static int paths_enumerate(struct obs_paths *p, const struct topo *t,
    topo_switch from, topo_switch to, struct sim_err *e)
{
	struct paths_walk w = {.topo = t, .to = to};
	const size_t before = p->n;
	topo_switch at = from;
	int rc;
	do {
		if (p->n - before == OBS_MOST_PATHS)
			return sim_fail(e, SIM_ELIMIT,
			    "more than %d equal paths lead from switch %u to "
			    "switch %u.",
			    OBS_MOST_PATHS, from, to);
		if ((rc = paths_extend(&w, at, e)) < 0 ||
		    (rc = obs_paths_add(p, w.link, w.n, e)) < 0)
			return rc;
	} while (paths_turn(&w, &at));
	return 0;
}

int obs_paths_between(struct obs_paths *p, const struct topo *t,
    topo_switch from, topo_switch to, uint32_t *set, struct sim_err *e)
{
	const size_t n_before = p->n;
	int rc;
	*set = obs_paths_find(p, from, to);
	if (*set != OBS_NO_PATH)
		return 0;
	if ((rc = obs_paths_open(p, from, to, e)) < 0)
		return rc;
	*set = (uint32_t)p->n_sets - 1;
	if ((rc = paths_enumerate(p, t, from, to, e)) < 0) {
		/* Nothing is behind the last set's slot, so it can be freed. */
		*paths_slot(p, from, to) = 0;
		p->n_sets--;
		p->n = n_before;
	}
	return rc;
}

/* --- checking ------------------------------------------------------------- */

static int paths_check_one(const struct obs_paths *p, size_t i,
    uint32_t n_links, struct sim_err *e)
{
	/* An end before the begin is as far behind it. */
	if (p->off[i + 1] - p->off[i] > TOPO_MAX_HOPS)
		return sim_fail(e, SIM_EINVAL,
		    "path %zu: its links are %u to %u, but there are from 0 "
		    "to %d.",
		    i, p->off[i], p->off[i + 1], TOPO_MAX_HOPS);
	for (uint32_t k = p->off[i]; k < p->off[i + 1]; k++)
		if (p->link[k] >= n_links)
			return sim_fail(e, SIM_EINVAL,
			    "path %zu crosses link %u, but there are only %u.",
			    i, p->link[k], n_links);
	return 0;
}

int obs_paths_check(const struct obs_paths *p, uint32_t n_links,
    struct sim_err *e)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < p->n; i++)
		rc = paths_check_one(p, i, n_links, e);
	if (rc == 0 && p->n > 0 && p->off[0] != 0)
		return sim_fail(e, SIM_EINVAL,
		    "path 0: its links begin at %u, not at 0.", p->off[0]);
	for (size_t s = 0; rc == 0 && s < p->n_sets; s++)
		if (p->first[s + 1] <= p->first[s] || p->first[s + 1] > p->n)
			return sim_fail(e, SIM_EINVAL,
			    "set %zu: its paths are %u to %u, but it needs one "
			    "at least and there are %zu in all.",
			    s, p->first[s], p->first[s + 1], p->n);
	return rc;
}
