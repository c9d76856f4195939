/* models/netns/routes.c -- forwarding tables: ECMP of a topology as prefixes.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/netns/routes.h"

#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"
#include "topo/addr.h"

/* --- the network ---------------------------------------------------------- */

/* The switches at the ends of a trunk; 0 when a host is at one. */
static int trunk_ends(const struct topo *t, topo_link l, topo_switch *from,
    topo_switch *to)
{
	topo_node a, b;
	topo_link_ends(t, l, &a, &b);
	*from = a - t->n_hosts;
	*to = b - t->n_hosts;
	return a >= t->n_hosts && b >= t->n_hosts;
}

/* Sort the trunks by the switch that they leave: count, add up, put. Links are
 * met in ascending order, so those of one switch are, too. Putting moves
 * first[] on by one switch; the last loop moves it back. */
static void list_trunks(struct netns_routes *r, const struct topo *t)
{
	topo_switch from, to;
	for (topo_link l = 0; l < t->n_links; l++)
		if (trunk_ends(t, l, &from, &to))
			r->first[from + 1]++;
	for (topo_switch s = 0; s < r->n_switches; s++)
		r->first[s + 1] += r->first[s];
	for (topo_link l = 0; l < t->n_links; l++) {
		if (!trunk_ends(t, l, &from, &to))
			continue;
		const uint32_t at = r->first[from]++;
		r->out[at] = l;
		r->to[at] = to;
	}
	for (topo_switch s = r->n_switches; s > 0; s--)
		r->first[s] = r->first[s - 1];
	r->first[0] = 0;
}

/* Row S of the table: how far each switch is from S. */
static uint16_t *dist_to(const struct netns_routes *r, topo_switch s)
{
	return r->dist + (size_t)s * r->n_switches;
}

/* Breadth first from ROOT. A cable has both directions, so the hops from a
 * switch are also the hops to it. */
static void routes_measure(struct netns_routes *r, topo_switch root,
    topo_switch queue[])
{
	uint16_t *dist = dist_to(r, root);
	uint32_t head = 0, tail = 0;
	for (topo_switch s = 0; s < r->n_switches; s++)
		dist[s] = UINT16_MAX;
	dist[root] = 0;
	queue[tail++] = root;
	while (head < tail) {
		const topo_switch s = queue[head++];
		for (uint32_t i = r->first[s]; i < r->first[s + 1]; i++) {
			const topo_switch next = r->to[i];
			/* Met before, on a path that is no longer. */
			if (dist[next] != UINT16_MAX)
				continue;
			dist[next] = (uint16_t)(dist[s] + 1);
			queue[tail++] = next;
		}
	}
}

int netns_routes_open(struct netns_routes *r, const struct topo *t,
    struct sim_err *e)
{
	const size_t n = t->n_switches;
	topo_switch *queue = NULL;
	int rc;
	*r = (struct netns_routes){.n_switches = t->n_switches,
	    .n_hosts = t->n_hosts};
	if ((rc = SIM_ZALLOC(&queue, n, e)) < 0 ||
	    (rc = SIM_ZALLOC(&r->first, n + 1, e)) < 0 ||
	    (rc = SIM_ZALLOC(&r->out, t->n_links, e)) < 0 ||
	    (rc = SIM_ZALLOC(&r->to, t->n_links, e)) < 0 ||
	    (rc = SIM_ZALLOC(&r->tor_of, t->n_hosts, e)) < 0 ||
	    (rc = sim_zalloc(&r->dist, n, n * sizeof(*r->dist), e)) < 0)
		goto out;
	list_trunks(r, t);
	for (topo_switch s = 0; s < r->n_switches; s++)
		routes_measure(r, s, queue);
	for (topo_host h = 0; h < t->n_hosts; h++)
		r->tor_of[h] = topo_tor_of(t, h);
out:
	free(queue);
	if (rc < 0)
		netns_routes_close(r);
	return rc;
}

void netns_routes_close(struct netns_routes *r)
{
	free(r->first);
	free(r->out);
	free(r->to);
	free(r->dist);
	free(r->tor_of);
	*r = (struct netns_routes){0};
}

/* --- the table of one switch ---------------------------------------------- */

/* Neighbouring addresses from LOW on with the last N next hops of via[]. */
struct run {
	uint32_t low, n_addrs;
	uint32_t first, n;
};

/* Cut a run of addresses into the fewest blocks that prefixes can name: each
 * the largest that begins at its first address and ends within the run. */
static int routes_put_run(struct netns_table *out, const struct run *run,
    struct sim_err *e)
{
	uint64_t low = run->low, end = low + run->n_addrs;
	while (low < end) {
		uint8_t len = 32;
		uint64_t size = 1;
		while (
		    len > 0 && low % (2 * size) == 0 && low + 2 * size <= end) {
			size *= 2;
			len--;
		}
		int rc = SIM_RESERVE(&out->route, &out->cap, out->n + 1, e);
		if (rc < 0)
			return rc;
		out->route[out->n++] = (struct netns_route){(uint32_t)low, len,
		    run->first, run->n};
		low += size;
	}
	return 0;
}

/* Append the next hops from S towards another switch: all links that lead one
 * hop nearer, which is the rule of ECMP over shortest paths, and that of
 * topo_path(). */
static int routes_put_hops(const struct netns_routes *r, topo_switch s,
    topo_switch dst, struct netns_table *out, struct sim_err *e)
{
	const uint16_t *dist = dist_to(r, dst);
	const uint32_t begin = r->first[s], end = r->first[s + 1];
	int rc = SIM_RESERVE(&out->via, &out->cap_via,
	    out->n_via + (end - begin), e);
	for (uint32_t i = begin; rc == 0 && i < end; i++)
		if (dist[r->to[i]] + 1 == dist[s])
			out->via[out->n_via++] = r->out[i];
	return rc;
}

/* Let the address that follows RUN, whose next hops are those of via[] from
 * FIRST on, be part of the run if they are the same, or else begin the next
 * one. In the first case the hops are taken back, since the run has them
 * already. */
static int routes_extend(struct netns_table *out, struct run *run,
    uint32_t addr, uint32_t first, struct sim_err *e)
{
	const uint32_t n = (uint32_t)out->n_via - first;
	if (run->n_addrs > 0 && n == run->n &&
	    addr == run->low + run->n_addrs &&
	    memcmp(out->via + first, out->via + run->first,
		n * sizeof(*out->via)) == 0) {
		out->n_via = first;
		run->n_addrs++;
		return 0;
	}
	int rc = routes_put_run(out, run, e);
	*run = (struct run){addr, 1, first, n};
	return rc;
}

/* Hosts have consecutive addresses, those of a ToR are neighbours, and ToRs of
 * a pod are reached alike from outside: runs are long and tables small. */
static int put_hosts(const struct netns_routes *r, topo_switch s,
    struct netns_table *out, struct sim_err *e)
{
	struct run run = {0};
	int rc = 0;
	for (topo_host h = 0; rc == 0 && h < r->n_hosts; h++) {
		const uint32_t first = (uint32_t)out->n_via;
		const topo_switch tor = r->tor_of[h];
		/* Another host of the same far ToR has the same next hops;
		 * nothing need be compared. */
		if (h > 0 && tor == r->tor_of[h - 1] && tor != s) {
			run.n_addrs++;
			continue;
		}
		if (tor != s) {
			rc = routes_put_hops(r, s, tor, out, e);
		} else {
			/* Its own hosts a ToR reaches by their cable, one by
			 * one. */
			rc = SIM_RESERVE(&out->via, &out->cap_via,
			    out->n_via + 1, e);
			if (rc == 0)
				out->via[out->n_via++] =
				    topo_link_of(h, TOPO_DOWN);
		}
		if (rc == 0)
			rc = routes_extend(out, &run, topo_addr_of_host(h),
			    first, e);
	}
	return rc < 0 ? rc : routes_put_run(out, &run, e);
}

/* Every switch has an address that can be reached, since tracers and people ask
 * switches directly. */
static int put_switches(const struct netns_routes *r, topo_switch s,
    struct netns_table *out, struct sim_err *e)
{
	struct run run = {0};
	int rc = 0;
	for (topo_switch dst = 0; rc == 0 && dst < r->n_switches; dst++) {
		const uint32_t first = (uint32_t)out->n_via;
		if (dst == s)
			continue;
		rc = routes_put_hops(r, s, dst, out, e);
		if (rc == 0)
			rc = routes_extend(out, &run, topo_addr_of_switch(dst),
			    first, e);
	}
	return rc < 0 ? rc : routes_put_run(out, &run, e);
}

int netns_routes_of(const struct netns_routes *r, topo_switch s,
    struct netns_table *out, struct sim_err *e)
{
	out->n = out->n_via = 0;
	int rc = put_hosts(r, s, out, e);
	return rc < 0 ? rc : put_switches(r, s, out, e);
}

void netns_table_free(struct netns_table *table)
{
	free(table->route);
	free(table->via);
	*table = (struct netns_table){0};
}
