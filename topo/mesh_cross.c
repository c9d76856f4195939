/* topo/mesh_cross.c -- which flows of a mesh cross a switch or a link, and how.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "topo/mesh_cross.h"

#include <assert.h>
#include <stdlib.h>

#include "sim/vec.h"
#include "topo/mesh_tables.h"

int topo_mesh_cross_begin(struct topo_mesh_cross *c, const struct topo_mesh *m,
    struct sim_err *e)
{
	const size_t had = c->cap_reach;
	int rc;
	for (uint32_t i = 0; i < c->n; i++)
		c->reach[c->order[i]] = 0;
	c->n = 0;
	c->mesh = m;
	if ((rc = SIM_RESERVE(&c->order, &c->cap_order, m->n_switches, e)) < 0)
		return rc;
	rc = SIM_RESERVE(&c->reach, &c->cap_reach, m->n_switches, e);
	for (size_t i = had; i < c->cap_reach; i++)
		c->reach[i] = 0;
	return rc;
}

void topo_mesh_cross_free(struct topo_mesh_cross *c)
{
	free(c->order);
	free(c->reach);
	*c = (struct topo_mesh_cross){0};
}

/* --- how many ------------------------------------------------------------- */

/* The ToRs that are nearer to A than to its neighbour B: a flow that crosses a->b
 * comes from one of these, and goes to one that is nearer to B. */
static uint64_t n_nearer(const struct topo_mesh *m, topo_switch a,
    topo_switch b)
{
	uint64_t n = 0;
	for (uint32_t i = 0; i < m->n_tors; i++) {
		const uint8_t *dist = topo_mesh_dist(m, i);
		n += dist[a] < dist[b];
	}
	return n;
}

static uint64_t most_of_link(const struct topo_mesh *m, topo_switch a,
    topo_switch b)
{
	return n_nearer(m, a, b) * n_nearer(m, b, a);
}

/* A flow that crosses a switch starts there or comes in over one of its links. */
uint64_t topo_mesh_cross_most(const struct topo_mesh *m, struct topo_via via)
{
	if (via.next != TOPO_NONE)
		return most_of_link(m, via.at, via.next);
	uint64_t n = m->tor_index[via.at] != TOPO_NONE ? m->n_tors - 1 : 0;
	for (uint32_t i = m->first[via.at]; i < m->first[via.at + 1]; i++)
		n += most_of_link(m, m->hop[i].to, via.at);
	return n;
}

/* --- the sweep ------------------------------------------------------------ */

static void sweep_to(struct topo_mesh_cross *c, topo_switch at,
    const uint8_t *dist, int furthest)
{
	for (uint32_t i = 0; i < c->n; i++)
		c->reach[c->order[i]] = 0;
	c->n = topo_mesh_sweep_outwards(c->mesh, dist, at, furthest, c->reach,
	    c->order);
}

double topo_mesh_cross_sweep(struct topo_mesh_cross *c, struct topo_via via,
    topo_switch to)
{
	const struct topo_mesh *m = c->mesh;
	const uint8_t *dist = topo_mesh_dist(m, m->tor_index[to]);
	const int leads =
	    via.next == TOPO_NONE || dist[via.next] + 1 == dist[via.at];
	/* From where nothing leads on, nothing is swept but what was. */
	sweep_to(c, via.at, dist, leads ? TOPO_MESH_MAX_DIST : -1);
	if (!leads)
		return 0;
	return via.next == TOPO_NONE ? 1
				     : 1.0 / topo_mesh_fanout(m, dist, via.at);
}

/* --- a path --------------------------------------------------------------- */

/* The next hop of switch S, whose dist is above that of where the sweep began,
 * given that the flow gets there. */
static const struct topo_hop *hop_given(const struct topo_mesh_cross *c,
    struct sim_rng *r, const uint8_t *dist, topo_switch s)
{
	const struct topo_mesh *m = c->mesh;
	const struct topo_hop *last = NULL;
	double sum = 0, at = 0;
	for (uint32_t i = m->first[s]; i < m->first[s + 1]; i++)
		if (dist[m->hop[i].to] + 1 == dist[s])
			sum += c->reach[m->hop[i].to];
	const double u = sim_rng_u01(r) * sum;
	/* By rounding U may be the sum itself: then it is the last. */
	for (uint32_t i = m->first[s]; i < m->first[s + 1] && at <= u; i++) {
		const struct topo_hop *h = &m->hop[i];
		if (dist[h->to] + 1 != dist[s] || c->reach[h->to] == 0)
			continue;
		last = h;
		at += c->reach[h->to];
	}
	assert(last);
	return last;
}

static const struct topo_hop *hop_any(const struct topo_mesh *m,
    struct sim_rng *r, const uint8_t *dist, topo_switch s)
{
	return topo_mesh_next_hop(m, dist, s,
	    sim_rng_below(r, topo_mesh_fanout(m, dist, s)));
}

static const struct topo_hop *hop_to(const struct topo_mesh *m, topo_switch s,
    topo_switch to)
{
	const struct topo_hop *h = m->hop + m->first[s];
	while (h->to != to)
		h++;
	return h;
}

unsigned topo_mesh_cross_path(struct topo_mesh_cross *c, struct sim_rng *r,
    struct topo_via via, topo_host src, topo_host dst, topo_link path[])
{
	const struct topo_mesh *m = c->mesh;
	const topo_switch end = m->tor_of[dst];
	const uint8_t *dist = topo_mesh_dist(m, m->tor_index[end]);
	topo_switch at = m->tor_of[src];
	unsigned n = 0;
	/* All flows come to the ToR where they end. */
	const int before = via.at != end ? dist[via.at] : TOPO_MESH_MAX_DIST;
	/* Only next hops are asked about, which are nearer than SRC is. */
	if (dist[at] > before)
		sweep_to(c, via.at, dist, dist[at] - 1);
	path[n++] = topo_link_of(src, TOPO_UP);
	while (at != end) {
		const struct topo_hop *h = dist[at] > before
		    ? hop_given(c, r, dist, at)
		    : at == via.at && via.next != TOPO_NONE
		    ? hop_to(m, at, via.next)
		    : hop_any(m, r, dist, at);
		path[n++] = h->link;
		at = h->to;
	}
	path[n++] = topo_link_of(dst, TOPO_DOWN);
	return n;
}
