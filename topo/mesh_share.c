/* topo/mesh_share.c -- exact shares of flows over the links of a mesh.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The flows towards one ToR are a Markov chain: at every switch each next hop
 * is as likely as another, and every hop is one nearer to the ToR. So the
 * flow that crosses two links a->b and c->d, a further out than c, is
 *
 *	(flow that reaches a) / fanout(a) * P(c from b) / fanout(c)
 *
 * and one sweep outwards or inwards gives each factor for all links at once.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"
#include "topo/mesh_tables.h"
#include "topo/shares.h"

double topo_mesh_path_share(const struct topo_mesh *m, topo_host src,
    topo_host dst, topo_link l)
{
	double at[TOPO_MESH_MAX_SWITCHES]; /* probability of coming by */
	topo_switch start = m->tor_of[src], end = m->tor_of[dst];
	if (src == dst)
		return 0;
	if (l >> 1 < m->n_hosts)
		return l == topo_link_of(src, TOPO_UP) ||
		    l == topo_link_of(dst, TOPO_DOWN);
	const uint8_t *dist = topo_mesh_dist(m, m->tor_index[end]);
	topo_node from, to;
	topo_mesh_link_ends(m, l, &from, &to);
	topo_switch a = from - m->n_hosts, b = to - m->n_hosts;
	/* The hop must lead nearer to the destination, and start no further
	 * from it than the source does. */
	if (dist[b] + 1 != dist[a] || dist[a] > dist[start])
		return 0;
	memset(at, 0, m->n_switches * sizeof(at[0]));
	at[start] = 1;
	/* From one distance to the next: all that comes to switches at distance
	 * d has come before it is passed on to d - 1. */
	for (int d = dist[start]; d > dist[a]; d--)
		for (topo_switch s = 0; s < m->n_switches; s++) {
			if (dist[s] != d || at[s] == 0)
				continue;
			double part = at[s] / topo_mesh_fanout(m, dist, s);
			for (uint32_t i = m->first[s]; i < m->first[s + 1]; i++)
				if (dist[m->hop[i].to] + 1 == d)
					at[m->hop[i].to] += part;
		}
	return at[a] / topo_mesh_fanout(m, dist, a);
}

/* Go through the switches breadth first from the source. All of a distance come
 * before those one hop nearer to the destination, so what comes by a switch has
 * all been added up when its turn comes. */
int topo_mesh_shares(struct topo_shares *s, const struct topo_mesh *m,
    topo_switch from, topo_switch to, struct sim_err *e)
{
	double at[TOPO_MESH_MAX_SWITCHES]; /* probability of coming by */
	topo_switch queue[TOPO_MESH_MAX_SWITCHES];
	uint32_t head = 0, tail = 0;
	const uint8_t *dist = topo_mesh_dist(m, m->tor_index[to]);
	memset(at, 0, m->n_switches * sizeof(at[0]));
	at[from] = 1;
	queue[tail++] = from;
	while (queue[head] != to) {
		const topo_switch a = queue[head++];
		const double part = at[a] / topo_mesh_fanout(m, dist, a);
		for (uint32_t i = m->first[a]; i < m->first[a + 1]; i++) {
			const topo_switch b = m->hop[i].to;
			if (dist[b] + 1 != dist[a])
				continue;
			int rc = topo_shares_add(s, m->hop[i].link, part, e);
			if (rc < 0)
				return rc;
			/* Nothing came here before, so it is not in the queue
			 * yet. */
			if (at[b] == 0)
				queue[tail++] = b;
			at[b] += part;
		}
	}
	s->n_hops += dist[from];
	return 0;
}

/* What it means for a flow to cross the given link: a host link fixes the host
 * it starts at (is_up) or ends at (is_down), and so the ToR; a link between
 * switches fixes a hop from a to b. */
struct given {
	topo_link link;
	int is_up, is_down, is_trunk;
	uint32_t tor; /* index, of a host link */
	topo_switch a, b;
};

/* What is computed for the chain towards one ToR, and the sums over all ToRs.
 * All flows are in units of one flow between each ordered pair of hosts. */
struct work {
	/* [n_switches] of the current chain. */
	topo_switch *order; /* by distance; order[level[d]] is the first */
	uint32_t level[TOPO_MESH_MAX_DIST + 2];
	const uint8_t *dist;
	topo_switch *queue; /* of a sweep outwards */
	double *each;       /* 1 / fanout */
	double *inflow;     /* flow that comes by */
	double *reach;      /* probability of coming to given.a from here */
	double *onward;     /* probability of coming here from given.b */
	/* Flow that crosses GIVEN ... */
	double total;
	double *trunk;    /* [switch links] ... and this link */
	double *from_tor; /* [n_tors] ... and starts at one host here */
	double *to_tor;   /* [n_tors] ... and ends at one host here */
};

static int mesh_share_allocate(struct work *w, const struct topo_mesh *m,
    struct sim_err *e)
{
	size_t n_s = m->n_switches, n_links = 2 * (m->n_cables - m->n_hosts);
	int rc;
	if ((rc = SIM_ZALLOC(&w->order, n_s, e)) < 0 ||
	    (rc = SIM_ZALLOC(&w->queue, n_s, e)) < 0 ||
	    (rc = SIM_ZALLOC(&w->each, n_s, e)) < 0 ||
	    (rc = SIM_ZALLOC(&w->inflow, n_s, e)) < 0 ||
	    (rc = SIM_ZALLOC(&w->reach, n_s, e)) < 0 ||
	    (rc = SIM_ZALLOC(&w->onward, n_s, e)) < 0 ||
	    (rc = SIM_ZALLOC(&w->trunk, n_links, e)) < 0 ||
	    (rc = SIM_ZALLOC(&w->from_tor, m->n_tors, e)) < 0)
		return rc;
	return SIM_ZALLOC(&w->to_tor, m->n_tors, e);
}

static void mesh_share_release(struct work *w)
{
	free(w->order);
	free(w->queue);
	free(w->each);
	free(w->inflow);
	free(w->reach);
	free(w->onward);
	free(w->trunk);
	free(w->from_tor);
	free(w->to_tor);
}

static struct given mesh_share_look_up(const struct topo_mesh *m, topo_link l)
{
	struct given g = {.link = l};
	if (l == TOPO_NONE)
		return g;
	topo_node from, to;
	topo_mesh_link_ends(m, l, &from, &to);
	if (l >> 1 < m->n_hosts) {
		g.is_up = (l & 1) == TOPO_UP;
		g.is_down = !g.is_up;
		g.tor = m->tor_index[m->tor_of[l >> 1]];
	} else {
		g.is_trunk = 1;
		g.a = from - m->n_hosts;
		g.b = to - m->n_hosts;
	}
	return g;
}

/* How many hosts under a ToR send flows that may cross GIVEN, and below, to how
 * many such flows go: all, unless GIVEN is a link from (or to) one host, which
 * then is the only one. */
static double sources(const struct topo_mesh *m, const struct given *g,
    uint32_t tor)
{
	if (g->is_up)
		return tor == g->tor;
	return m->tor_hosts[tor];
}

static double sinks(const struct topo_mesh *m, const struct given *g,
    uint32_t tor)
{
	if (g->is_down)
		return tor == g->tor;
	return m->tor_hosts[tor];
}

/* Set up the chain towards a ToR: the switches sorted by distance, by counting,
 * and what share of its flows each sends to one next hop. No flow comes by
 * switches beyond TOPO_MESH_MAX_DIST, so they are left out. */
static void start_chain(struct work *w, const struct topo_mesh *m, uint32_t tor)
{
	uint32_t n[TOPO_MESH_MAX_DIST + 1] = {0}, sum = 0;
	w->dist = topo_mesh_dist(m, tor);
	for (topo_switch s = 0; s < m->n_switches; s++)
		if (w->dist[s] <= TOPO_MESH_MAX_DIST)
			n[w->dist[s]]++;
	for (int d = 0; d <= TOPO_MESH_MAX_DIST; d++) {
		w->level[d] = sum;
		sum += n[d];
		n[d] = w->level[d];
	}
	w->level[TOPO_MESH_MAX_DIST + 1] = sum;
	for (topo_switch s = 0; s < m->n_switches; s++) {
		if (w->dist[s] > TOPO_MESH_MAX_DIST)
			continue;
		w->order[n[w->dist[s]]++] = s;
		w->each[s] =
		    w->dist[s] > 0 ? 1.0 / topo_mesh_fanout(m, w->dist, s) : 0;
	}
}

/* Let the flow that starts at each switch, in FLOW, move on to the ToR,
 * furthest switches first, and leave in FLOW all that comes by each switch. */
static void sweep_inwards(const struct work *w, const struct topo_mesh *m,
    double flow[])
{
	for (uint32_t i = w->level[TOPO_MESH_MAX_DIST + 1]; i-- > 0;) {
		topo_switch s = w->order[i];
		if (flow[s] == 0)
			continue;
		for (uint32_t j = m->first[s]; j < m->first[s + 1]; j++)
			if (w->dist[m->hop[j].to] + 1 == w->dist[s])
				flow[m->hop[j].to] += flow[s] * w->each[s];
	}
}

/* Breadth first, so that what a switch may send a flow to has its probability
 * when the switch's turn comes: the mean of theirs. Until then its own is not 0,
 * which says that it is in the queue. */
uint32_t topo_mesh_sweep_outwards(const struct topo_mesh *m,
    const uint8_t *dist, topo_switch a, int furthest, double reach[],
    topo_switch order[])
{
	uint32_t n = 0;
	if (dist[a] > furthest)
		return 0;
	reach[a] = 1;
	order[n++] = a;
	for (uint32_t i = 0; i < n; i++) {
		const topo_switch s = order[i];
		uint32_t fanout = 0;
		double sum = 0;
		for (uint32_t j = m->first[s]; j < m->first[s + 1]; j++) {
			const topo_switch to = m->hop[j].to;
			if (dist[to] + 1 == dist[s]) {
				sum += reach[to];
				fanout++;
			} else if (dist[to] == dist[s] + 1 &&
			    dist[to] <= furthest && reach[to] == 0) {
				reach[to] = 1;
				order[n++] = to;
			}
		}
		if (s != a)
			reach[s] = sum * (1.0 / fanout);
	}
	return n;
}

/* The flow of the chain that crosses both GIVEN and the hop from S to TO: the
 * hop lies before GIVEN, behind it, or is GIVEN itself. Two hops of one
 * distance are never on one path. */
static double mesh_share_crossing(const struct work *w, const struct given *g,
    topo_switch s, topo_switch to)
{
	if (!g->is_trunk)
		return w->inflow[s] * w->each[s];
	double by_given = w->inflow[g->a] * w->each[g->a];
	if (w->dist[s] > w->dist[g->a])
		return w->inflow[s] * w->each[s] * w->reach[to] * w->each[g->a];
	if (w->dist[s] < w->dist[g->a])
		return by_given * w->onward[s] * w->each[s];
	return s == g->a && to == g->b ? by_given : 0;
}

/* Add the flows towards one ToR. */
static void add_chain(struct work *w, const struct topo_mesh *m,
    const struct given *g, uint32_t tor)
{
	double sink = sinks(m, g, tor);
	if (sink == 0)
		return;
	start_chain(w, m, tor);
	/* A hop that does not lead nearer to this ToR carries nothing towards
	 * it. */
	if (g->is_trunk &&
	    (w->dist[g->b] + 1 != w->dist[g->a] ||
		w->dist[g->a] > TOPO_MESH_MAX_DIST))
		return;
	if (g->is_trunk) {
		memset(w->reach, 0, m->n_switches * sizeof(*w->reach));
		topo_mesh_sweep_outwards(m, w->dist, g->a, TOPO_MESH_MAX_DIST,
		    w->reach, w->queue);
		memset(w->onward, 0, m->n_switches * sizeof(*w->onward));
		w->onward[g->b] = 1;
		sweep_inwards(w, m, w->onward);
	}
	memset(w->inflow, 0, m->n_switches * sizeof(*w->inflow));
	for (uint32_t i = 0; i < m->n_tors; i++) {
		if (i == tor)
			continue;
		topo_switch s = m->tor[i];
		/* From each of the hosts at S to each of those at the ToR goes
		 * one flow, of which this share crosses GIVEN. */
		double crosses = g->is_trunk ? w->reach[s] * w->each[g->a] : 1;
		w->inflow[s] = sources(m, g, i);
		w->from_tor[i] += crosses * sink;
		w->to_tor[tor] += crosses * w->inflow[s];
	}
	w->total += w->to_tor[tor] * sink;
	sweep_inwards(w, m, w->inflow);
	for (topo_switch s = 0; s < m->n_switches; s++) {
		if (w->dist[s] > TOPO_MESH_MAX_DIST)
			continue;
		for (uint32_t j = m->first[s]; j < m->first[s + 1]; j++) {
			struct topo_hop h = m->hop[j];
			if (w->dist[h.to] + 1 == w->dist[s])
				w->trunk[h.link - 2 * m->n_hosts] +=
				    sink * mesh_share_crossing(w, g, s, h.to);
		}
	}
}

/* The flow that crosses GIVEN and L, after all chains were added. A flow has
 * one first and one last link, so of two different host links in the same
 * direction it crosses at most one. */
static double joint(const struct work *w, const struct topo_mesh *m,
    const struct given *g, topo_link l)
{
	if (l >> 1 >= m->n_hosts)
		return w->trunk[l - 2 * m->n_hosts];
	int is_up = (l & 1) == TOPO_UP;
	if (is_up ? g->is_up : g->is_down)
		return l == g->link ? w->total : 0;
	uint32_t tor = m->tor_index[m->tor_of[l >> 1]];
	return is_up ? w->from_tor[tor] : w->to_tor[tor];
}

int topo_mesh_share_given(const struct topo_mesh *m, topo_link given,
    const topo_link link[], size_t n, double share[], struct sim_err *e)
{
	struct work w = {0};
	struct given g = mesh_share_look_up(m, given);
	int rc = mesh_share_allocate(&w, m, e);
	if (rc < 0)
		goto out;
	for (uint32_t tor = 0; tor < m->n_tors; tor++)
		add_chain(&w, m, &g, tor);
	for (size_t i = 0; i < n; i++) {
		assert(link[i] >> 1 < m->n_cables);
		share[i] =
		    w.total > 0 ? joint(&w, m, &g, link[i]) / w.total : 0;
	}
out:
	mesh_share_release(&w);
	return rc;
}
