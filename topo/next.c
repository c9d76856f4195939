/* topo/next.c -- next hops: where a switch may send a packet for a node.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "topo/next.h"

#include <assert.h>

#include "topo/mesh_tables.h"

/* --- of a Clos ------------------------------------------------------------
 *
 * Links of one switch to a run of others have ids that are equally far apart. */
struct next_run {
	topo_link first;
	uint32_t stride, n;
};

static struct next_run next_one(topo_link l)
{
	return (struct next_run){l, 1, 1};
}

static struct next_run next_up(const struct topo_clos *c, uint32_t tor)
{
	return (struct next_run){topo_clos_link_tor(c, tor, 0, TOPO_UP), 2,
	    c->n_t1};
}

static struct next_run next_up_t1(const struct topo_clos *c, uint32_t t1)
{
	return (
	    struct next_run){topo_clos_link_t1(c, t1, 0, TOPO_UP), 2, c->n_t2};
}

/* From a T2 to the N T1s from FIRST on. */
static struct next_run next_down(const struct topo_clos *c, uint32_t t2,
    uint32_t first, uint32_t n)
{
	return (struct next_run){topo_clos_link_t1(c, first, t2, TOPO_DOWN),
	    2 * c->n_t2, n};
}

/* A switch by its tier, its index there and its pod; a T2 is in none. */
struct next_place {
	uint32_t tier, i, pod;
};

static struct next_place next_place(const struct topo_clos *c, topo_switch s)
{
	if (s < c->all_tors)
		return (struct next_place){0, s, s / c->n_tors};
	s -= c->all_tors;
	if (s < c->all_t1)
		return (struct next_place){1, s, s / c->n_t1};
	return (struct next_place){2, s - c->all_t1, TOPO_NONE};
}

/* Whatever is not below goes up; only T1s of one pod may have nothing above
 * them to meet at. */
static struct next_run next_from_t1(const struct topo_clos *c,
    struct next_place at, struct next_place to)
{
	const uint32_t of_pod = at.i - at.pod * c->n_t1;
	if (to.tier == 2)
		return next_one(topo_clos_link_t1(c, at.i, to.i, TOPO_UP));
	if (to.tier == 0 && to.pod == at.pod)
		return next_one(topo_clos_link_tor(c, to.i, of_pod, TOPO_DOWN));
	if (c->n_t2 > 0)
		return next_up_t1(c, at.i);
	return (struct next_run){topo_clos_link_tor(c, at.pod * c->n_tors,
				     of_pod, TOPO_DOWN),
	    2 * c->n_t1, c->n_tors};
}

static struct next_run next_from_t2(const struct topo_clos *c,
    struct next_place at, struct next_place to)
{
	if (to.tier == 1)
		return next_down(c, at.i, to.i, 1);
	if (to.tier == 2)
		return next_down(c, at.i, 0, c->all_t1);
	return next_down(c, at.i, to.pod * c->n_t1, c->n_t1);
}

static struct next_run next_in_clos(const struct topo_clos *c, topo_switch at,
    topo_node dst)
{
	const int is_host = dst < c->all_hosts;
	const topo_switch end = is_host ? dst / c->n_hosts : dst - c->all_hosts;
	if (at == end)
		return is_host ? next_one(topo_clos_link_host(dst, TOPO_DOWN))
			       : (struct next_run){0, 1, 0};
	const struct next_place a = next_place(c, at), b = next_place(c, end);
	if (a.tier == 1)
		return next_from_t1(c, a, b);
	if (a.tier == 2)
		return next_from_t2(c, a, b);
	return b.tier == 1 && b.pod == a.pod
	    ? next_one(
		  topo_clos_link_tor(c, at, b.i - b.pod * c->n_t1, TOPO_UP))
	    : next_up(c, at);
}

/* --- of a mesh ------------------------------------------------------------ */

/* Hop counts to the switch that DST is or hangs on. Tables lead to ToRs; to
 * other switches, which few packets are sent to, ways are counted anew, into
 * WORK[TOPO_MESH_MAX_SWITCHES]. */
static const uint8_t *next_dist(const struct topo_mesh *m, topo_node dst,
    uint8_t work[])
{
	const topo_switch end =
	    dst < m->n_hosts ? m->tor_of[dst] : dst - m->n_hosts;
	topo_switch queue[TOPO_MESH_MAX_SWITCHES];
	if (m->tor_index[end] != TOPO_NONE)
		return topo_mesh_dist(m, m->tor_index[end]);
	topo_mesh_measure(m, end, work, queue);
	return work;
}

static struct topo_next_set next_set_in_mesh(const struct topo_mesh *m,
    topo_switch at, topo_node dst)
{
	uint8_t work[TOPO_MESH_MAX_SWITCHES];
	const uint8_t *dist = next_dist(m, dst, work);
	struct topo_next_set s = {.at = at, .dst = dst};
	if (dist[at] == 0 && dst < m->n_hosts) {
		s.n = s.stride = 1;
		s.first = topo_link_of(dst, TOPO_DOWN);
		return s;
	}
	s.n = topo_mesh_fanout(m, dist, at);
	if (s.n != 1)
		return s;
	s.first = topo_mesh_next_hop(m, dist, at, 0)->link;
	s.stride = 1;
	return s;
}

static topo_link next_in_mesh(const struct topo_mesh *m,
    const struct topo_next_set *s, uint32_t i)
{
	uint8_t work[TOPO_MESH_MAX_SWITCHES];
	const uint8_t *dist = next_dist(m, s->dst, work);
	return topo_mesh_next_hop(m, dist, s->at, i)->link;
}

static int next_is_in_mesh(const struct topo_mesh *m, topo_switch from,
    topo_switch to, topo_node dst)
{
	uint8_t work[TOPO_MESH_MAX_SWITCHES];
	const uint8_t *dist = next_dist(m, dst, work);
	return dist[to] + 1 == dist[from];
}

/* --- of either ------------------------------------------------------------ */

struct topo_next_set topo_next_set(const struct topo *t, topo_switch at,
    topo_node dst)
{
	assert(at < t->n_switches && dst < t->n_hosts + t->n_switches);
	if (t->mesh)
		return next_set_in_mesh(t->mesh, at, dst);
	const struct next_run r = next_in_clos(&t->clos, at, dst);
	return (struct topo_next_set){r.n, r.first, r.stride, at, dst};
}

topo_link topo_next_of(const struct topo *t, const struct topo_next_set *s,
    uint32_t i)
{
	assert(i < s->n);
	return s->stride > 0 ? s->first + i * s->stride
			     : next_in_mesh(t->mesh, s, i);
}

int topo_is_next(const struct topo *t, topo_link l, topo_node dst)
{
	topo_node from, to;
	topo_link_ends(t, l, &from, &to);
	/* A host has one cable, for all but what is for itself. */
	if (from < t->n_hosts)
		return dst != from;
	if (to < t->n_hosts)
		return dst == to;
	from -= t->n_hosts;
	if (t->mesh)
		return next_is_in_mesh(t->mesh, from, to - t->n_hosts, dst);
	const struct next_run s = next_in_clos(&t->clos, from, dst);
	return l >= s.first && (l - s.first) % s.stride == 0 &&
	    (l - s.first) / s.stride < s.n;
}
