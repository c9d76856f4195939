/* topo/mesh.c -- any network as tables, with ECMP over all shortest paths.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "topo/mesh.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"
#include "topo/addr.h"
#include "topo/mesh_tables.h"

#define MAX_CABLES (UINT32_C(1) << 30) /* 2^31 directed links */
#define UNSEEN     UINT8_MAX

/* --- checks of the input -------------------------------------------------- */

/* The limit on switches keeps dist[], a byte for each ToR and switch, within 16
 * MB, and lets callers have arrays of switches on the stack. */
static int mesh_check_sizes(const struct topo_mesh_input *in, struct sim_err *e)
{
	if (in->n_hosts == 0 || in->n_switches == 0)
		return sim_fail(e, SIM_EINVAL,
		    "%u hosts and %u switches: a network has at least one of "
		    "each.",
		    in->n_hosts, in->n_switches);
	if (in->n_hosts > TOPO_ADDR_MAX_HOSTS)
		return sim_fail(e, SIM_ELIMIT,
		    "%u hosts are more than the limit of %u.", in->n_hosts,
		    TOPO_ADDR_MAX_HOSTS);
	if (in->n_switches > TOPO_MESH_MAX_SWITCHES)
		return sim_fail(e, SIM_ELIMIT,
		    "%u switches are more than the limit of %u for a network "
		    "by tables.",
		    in->n_switches, TOPO_MESH_MAX_SWITCHES);
	if (in->n_cables > MAX_CABLES)
		return sim_fail(e, SIM_ELIMIT,
		    "%zu cables are more than the limit of %u.", in->n_cables,
		    MAX_CABLES);
	if (in->n_cables < in->n_hosts)
		return sim_fail(e, SIM_EINVAL,
		    "%zu cables for %u hosts: host %zu has none.", in->n_cables,
		    in->n_hosts, in->n_cables);
	return 0;
}

/* The first n_hosts cables belong to the hosts, in order, so that cable h is
 * the one of host h (topo/ids.h); hosts appear in no other cable. */
static int check_cable(const struct topo_mesh_input *in, uint32_t i,
    struct sim_err *e)
{
	char a[64], b[64];
	struct topo_cable c = in->cable[i];
	uint32_t n_nodes = in->n_hosts + in->n_switches;
	if (c.a >= n_nodes || c.b >= n_nodes)
		return sim_fail(e, SIM_EINVAL,
		    "Cable %u ends at node %u, which is not in [0, %u].", i,
		    c.a >= n_nodes ? c.a : c.b, n_nodes - 1);
	if (c.a == c.b)
		return sim_fail(e, SIM_EINVAL, "Cable %u joins %s to itself.",
		    i, topo_mesh_describe(in, c.a, a));
	topo_node low = c.a < c.b ? c.a : c.b, high = c.a < c.b ? c.b : c.a;
	if (i < in->n_hosts && (low != i || high < in->n_hosts))
		return sim_fail(e, SIM_EINVAL,
		    "Cable %u joins %s and %s, but must join host %u to a "
		    "switch.",
		    i, topo_mesh_describe(in, c.a, a),
		    topo_mesh_describe(in, c.b, b), i);
	if (i >= in->n_hosts && low < in->n_hosts)
		return sim_fail(e, SIM_EINVAL,
		    "Cable %u joins %s and %s: a host has one cable, to a "
		    "switch.",
		    i, topo_mesh_describe(in, c.a, a),
		    topo_mesh_describe(in, c.b, b));
	return 0;
}

static int mesh_check(const struct topo_mesh_input *in, struct sim_err *e)
{
	int rc = mesh_check_sizes(in, e);
	for (uint32_t i = 0; i < in->n_cables && rc == 0; i++)
		rc = check_cable(in, i, e);
	return rc;
}

/* --- building ------------------------------------------------------------- */

static int mesh_allocate(struct topo_mesh *m, const struct topo_mesh_input *in,
    struct sim_err *e)
{
	/* Cables between switches: both ends have a hop for each. */
	size_t n_trunks = m->n_cables - m->n_hosts;
	int rc;
	if ((rc = SIM_ZALLOC(&m->tor_of, m->n_hosts, e)) < 0 ||
	    (rc = SIM_ZALLOC(&m->trunk, n_trunks, e)) < 0 ||
	    (rc = SIM_ZALLOC(&m->first, m->n_switches + 1, e)) < 0 ||
	    (rc = SIM_ZALLOC(&m->hop, 2 * n_trunks, e)) < 0 ||
	    (rc = SIM_ZALLOC(&m->tor_index, m->n_switches, e)) < 0)
		return rc;
	return in->tier ? SIM_ZALLOC(&m->tier, m->n_switches, e) : 0;
}

/* Copy the input, with each cable's ends in the order that "up" has: from the
 * smaller tier to the larger one, and between equal tiers from the smaller
 * id. */
static void copy(struct topo_mesh *m, const struct topo_mesh_input *in)
{
	for (uint32_t i = 0; i < m->n_hosts; i++) {
		struct topo_cable c = in->cable[i];
		m->tor_of[i] = (c.a == i ? c.b : c.a) - m->n_hosts;
	}
	for (uint32_t i = m->n_hosts; i < m->n_cables; i++) {
		topo_switch a = in->cable[i].a - m->n_hosts;
		topo_switch b = in->cable[i].b - m->n_hosts;
		topo_switch low = a < b ? a : b, high = a < b ? b : a;
		int swap = in->tier && in->tier[low] > in->tier[high];
		m->trunk[i - m->n_hosts] =
		    (struct topo_cable){swap ? high : low, swap ? low : high};
	}
	if (in->tier)
		memcpy(m->tier, in->tier, m->n_switches * sizeof(*m->tier));
}

/* Fill first[] and hop[] by counting: first[] takes the degrees, then their
 * running sums, which are where each switch's hops begin. Taking cables in
 * order leaves each switch's hops in the order of link ids, which is the order
 * that ECMP counts them in. */
static void mesh_join(struct topo_mesh *m)
{
	uint32_t n_trunks = m->n_cables - m->n_hosts;
	for (uint32_t i = 0; i < n_trunks; i++) {
		m->first[m->trunk[i].a]++;
		m->first[m->trunk[i].b]++;
	}
	uint32_t sum = 0;
	for (uint32_t s = 0; s < m->n_switches; s++) {
		uint32_t degree = m->first[s];
		m->first[s] = sum;
		sum += degree;
	}
	m->first[m->n_switches] = sum;
	for (uint32_t i = 0; i < n_trunks; i++) {
		struct topo_cable c = m->trunk[i];
		uint32_t cable = m->n_hosts + i;
		m->hop[m->first[c.a]++] =
		    (struct topo_hop){topo_link_of(cable, TOPO_UP), c.b};
		m->hop[m->first[c.b]++] =
		    (struct topo_hop){topo_link_of(cable, TOPO_DOWN), c.a};
	}
	/* Each start was counted up to the next switch's start while its hops
	 * were filled in: shift them all back by one. */
	memmove(m->first + 1, m->first, m->n_switches * sizeof(*m->first));
	m->first[0] = 0;
}

/* Two cables between the same switches would make two links with equal ends,
 * and names could not tell them apart. SCRATCH[n_switches] holds, for each
 * switch, the last one found to be its neighbour. */
static int check_parallel(const struct topo_mesh *m,
    const struct topo_mesh_input *in, uint32_t *scratch, struct sim_err *e)
{
	char a[64], b[64];
	for (topo_switch s = 0; s < m->n_switches; s++)
		scratch[s] = TOPO_NONE;
	for (topo_switch s = 0; s < m->n_switches; s++)
		for (uint32_t i = m->first[s]; i < m->first[s + 1]; i++) {
			topo_switch to = m->hop[i].to;
			if (scratch[to] == s)
				return sim_fail(e, SIM_EINVAL,
				    "Two cables join %s and %s.",
				    topo_mesh_describe(in, m->n_hosts + s, a),
				    topo_mesh_describe(in, m->n_hosts + to, b));
			scratch[to] = s;
		}
	return 0;
}

/* ToRs are the switches that hosts hang on. They are marked first and numbered
 * then, so that tor[] is ascending. */
static int mesh_list_tors(struct topo_mesh *m, struct sim_err *e)
{
	int rc;
	for (topo_switch s = 0; s < m->n_switches; s++)
		m->tor_index[s] = TOPO_NONE;
	for (topo_host h = 0; h < m->n_hosts; h++)
		m->tor_index[m->tor_of[h]] = 0;
	for (topo_switch s = 0; s < m->n_switches; s++)
		if (m->tor_index[s] == 0)
			m->tor_index[s] = m->n_tors++;
	if ((rc = SIM_ZALLOC(&m->tor, m->n_tors, e)) < 0 ||
	    (rc = SIM_ZALLOC(&m->tor_hosts, m->n_tors, e)) < 0 ||
	    (rc = SIM_ZALLOC(&m->dist, (size_t)m->n_tors * m->n_switches, e)) <
		0)
		return rc;
	for (topo_switch s = 0; s < m->n_switches; s++)
		if (m->tor_index[s] != TOPO_NONE)
			m->tor[m->tor_index[s]] = s;
	for (topo_host h = 0; h < m->n_hosts; h++)
		m->tor_hosts[m->tor_index[m->tor_of[h]]]++;
	return 0;
}

/* A byte a switch must do, so counts stop one short of UNSEEN: paths that long
 * are refused anyway, and there only matters whether a switch is reached at
 * all. */
uint32_t topo_mesh_measure(const struct topo_mesh *m, topo_switch root,
    uint8_t *dist, topo_switch *queue)
{
	uint32_t n = 0;
	memset(dist, UNSEEN, m->n_switches);
	dist[root] = 0;
	queue[n++] = root;
	for (uint32_t i = 0; i < n; i++) {
		topo_switch s = queue[i];
		int next = dist[s] + 1 < UNSEEN ? dist[s] + 1 : UNSEEN - 1;
		for (uint32_t j = m->first[s]; j < m->first[s + 1]; j++) {
			topo_switch to = m->hop[j].to;
			if (dist[to] == UNSEEN) {
				dist[to] = (uint8_t)next;
				queue[n++] = to;
			}
		}
	}
	return n;
}

static int measure_all(struct topo_mesh *m, const struct topo_mesh_input *in,
    topo_switch *queue, struct sim_err *e)
{
	char a[64], b[64];
	/* Distances are needed to ToRs only, since all flows end under one. */
	for (uint32_t t = 0; t < m->n_tors; t++) {
		topo_node root = m->n_hosts + m->tor[t];
		uint8_t *dist = m->dist + (size_t)t * m->n_switches;
		uint32_t n = topo_mesh_measure(m, m->tor[t], dist, queue);
		if (n < m->n_switches) {
			const uint8_t *cut =
			    memchr(dist, UNSEEN, m->n_switches);
			return sim_fail(e, SIM_EINVAL,
			    "The network is not connected: no way leads from "
			    "%s to %s.",
			    topo_mesh_describe(in, root, a),
			    topo_mesh_describe(in,
				m->n_hosts + (uint32_t)(cut - dist), b));
		}
		/* Cables are undirected, so each pair of ToRs is looked at
		 * once. Only ways between ToRs count: a switch further away
		 * than TOPO_MESH_MAX_DIST is on none of them. */
		for (uint32_t u = 0; u < t; u++) {
			uint32_t d = dist[m->tor[u]];
			if (d > m->diameter)
				m->diameter = d;
			if (d > TOPO_MESH_MAX_DIST)
				return sim_fail(e, SIM_ELIMIT,
				    "The way from %s to %s is longer than %d "
				    "switch cables.",
				    topo_mesh_describe(in,
					m->n_hosts + m->tor[u], a),
				    topo_mesh_describe(in, root, b),
				    TOPO_MESH_MAX_DIST);
		}
	}
	return 0;
}

int topo_mesh_open(struct topo_mesh **out, const struct topo_mesh_input *in,
    struct sim_err *e)
{
	struct topo_mesh *m = NULL;
	uint32_t *scratch = NULL;
	int rc = mesh_check(in, e);
	*out = NULL;
	if (rc < 0 || (rc = SIM_ZALLOC(&m, 1, e)) < 0)
		return rc;
	m->n_hosts = in->n_hosts;
	m->n_switches = in->n_switches;
	m->n_cables = (uint32_t)in->n_cables;
	if ((rc = mesh_allocate(m, in, e)) < 0 ||
	    (rc = topo_mesh_take_names(m, in, e)) < 0 ||
	    (rc = SIM_ZALLOC(&scratch, m->n_switches, e)) < 0)
		goto out;
	copy(m, in);
	mesh_join(m);
	if ((rc = check_parallel(m, in, scratch, e)) < 0 ||
	    (rc = mesh_list_tors(m, e)) < 0)
		goto out;
	rc = measure_all(m, in, scratch, e);
out:
	free(scratch);
	if (rc < 0)
		/* It frees whatever has been allocated so far. */
		topo_mesh_close(m);
	else
		*out = m;
	return rc;
}

void topo_mesh_close(struct topo_mesh *m)
{
	if (!m)
		return;
	free(m->tor_of);
	free(m->trunk);
	free(m->first);
	free(m->hop);
	free(m->tor);
	free(m->tor_hosts);
	free(m->tor_index);
	free(m->dist);
	free(m->tier);
	free(m->name);
	free(m->id);
	free(m->id_text);
	free(m);
}

/* --- questions ------------------------------------------------------------ */

uint32_t topo_mesh_n_hosts(const struct topo_mesh *m)
{
	return m->n_hosts;
}

uint32_t topo_mesh_n_switches(const struct topo_mesh *m)
{
	return m->n_switches;
}

uint32_t topo_mesh_n_links(const struct topo_mesh *m)
{
	return 2 * m->n_cables;
}

unsigned topo_mesh_most_hops(const struct topo_mesh *m)
{
	return m->diameter + 2;
}

int topo_mesh_is_tor(const struct topo_mesh *m, topo_switch s)
{
	assert(s < m->n_switches);
	return m->tor_index[s] != TOPO_NONE;
}

topo_switch topo_mesh_tor_of(const struct topo_mesh *m, topo_host h)
{
	assert(h < m->n_hosts);
	return m->tor_of[h];
}

void topo_mesh_link_ends(const struct topo_mesh *m, topo_link l,
    topo_node *from, topo_node *to)
{
	uint32_t cable = l >> 1;
	topo_node low, high;
	assert(cable < m->n_cables);
	if (cable < m->n_hosts) {
		low = cable;
		high = m->n_hosts + m->tor_of[cable];
	} else {
		/* copy() has put the end that "up" leads away from first. */
		low = m->n_hosts + m->trunk[cable - m->n_hosts].a;
		high = m->n_hosts + m->trunk[cable - m->n_hosts].b;
	}
	*from = (l & 1) == TOPO_UP ? low : high;
	*to = (l & 1) == TOPO_UP ? high : low;
}

enum topo_link_class topo_mesh_class_of(const struct topo_mesh *m, topo_link l)
{
	uint32_t cable = l >> 1;
	int up = (l & 1) == TOPO_UP;
	assert(cable < m->n_cables);
	if (cable < m->n_hosts)
		return up ? TOPO_HOST_TOR : TOPO_TOR_HOST;
	/* Cables that skip a tier, stay in one, or lead above T2 have no class
	 * of a Clos either. */
	if (!m->tier)
		return TOPO_FABRIC;
	struct topo_cable c = m->trunk[cable - m->n_hosts];
	if (m->tier[c.a] == 0 && m->tier[c.b] == 1)
		return up ? TOPO_TOR_T1 : TOPO_T1_TOR;
	if (m->tier[c.a] == 1 && m->tier[c.b] == 2)
		return up ? TOPO_T1_T2 : TOPO_T2_T1;
	return TOPO_FABRIC;
}

topo_link topo_mesh_link_between(const struct topo_mesh *m, topo_node from,
    topo_node to)
{
	/* A host has the smaller number and one cable only. */
	topo_node low = from < to ? from : to, high = from < to ? to : from;
	if (low < m->n_hosts)
		return high == m->n_hosts + m->tor_of[low]
		    ? topo_link_of(low, from == low ? TOPO_UP : TOPO_DOWN)
		    : TOPO_NONE;
	topo_switch s = from - m->n_hosts;
	for (uint32_t i = m->first[s]; i < m->first[s + 1]; i++)
		if (m->hop[i].to == to - m->n_hosts)
			return m->hop[i].link;
	return TOPO_NONE;
}

uint32_t topo_mesh_tier(const struct topo_mesh *m, topo_switch s)
{
	assert(s < m->n_switches);
	return m->tier ? m->tier[s] : TOPO_NONE;
}

unsigned topo_mesh_path(const struct topo_mesh *m, uint32_t ecmp_seed,
    topo_host src, topo_host dst, uint32_t digest, topo_link path[])
{
	unsigned n = 0;
	if (src == dst)
		return 0;
	topo_switch at = m->tor_of[src], end = m->tor_of[dst];
	const uint8_t *dist = topo_mesh_dist(m, m->tor_index[end]);
	path[n++] = topo_link_of(src, TOPO_UP);
	/* Every hop is one nearer to the ToR, so there are at most
	 * TOPO_MESH_MAX_DIST of them, and PATH, with both host links, is not
	 * overrun. The network is connected, so the fanout is never 0. */
	while (at != end) {
		uint32_t nth = topo_switch_pick(ecmp_seed, at, digest,
		    topo_mesh_fanout(m, dist, at));
		const struct topo_hop *h = topo_mesh_next_hop(m, dist, at, nth);
		path[n++] = h->link;
		at = h->to;
	}
	path[n++] = topo_link_of(dst, TOPO_DOWN);
	return n;
}
