/* algos/pingmesh/hole_pairs.c -- which pairs of servers were probed, and late.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/pingmesh/hole_pairs.h"

#include <stdlib.h>

#include "sim/vec.h"

/* As peer[] is filled, before its probes are joined to pairs, an element is of
 * one probe and `decoy` says what became of it. */
enum { ANSWERED, LATE, FAILED };

struct tally {
	uint32_t n, n_late, n_failed;
};

void algo_hole_pairs_close(struct algo_hole_pairs *p)
{
	free(p->first);
	free(p->peer);
	*p = (struct algo_hole_pairs){0};
}

/* The two servers of probe I; returns 0 if the pair is not to be listed. */
static int hole_pair_ends(const struct topo_dc *dc, const struct obs_probes *t,
    size_t i, const uint8_t alive[], uint32_t *low, uint32_t *high)
{
	if (t->level[i] == OBS_LEVEL_INTER_DC)
		return 0;
	const uint32_t s = topo_dc_index(dc, t->src_host[i]);
	const uint32_t d = topo_dc_index(dc, t->dst_host[i]);
	*low = s < d ? s : d;
	*high = s < d ? d : s;
	return alive[s] && alive[d];
}

static unsigned hole_probe_outcome(const struct obs_probes *t, size_t i)
{
	const sim_ns late_ns = t->syn_wait_ns[0];
	if (t->outcome[i] == OBS_TIMED_OUT)
		return FAILED;
	return late_ns > 0 && t->rtt_ns[i] >= late_ns ? LATE : ANSWERED;
}

static void count_by_low(struct algo_hole_pairs *p, const struct topo_dc *dc,
    const struct obs_probes *t, const uint8_t alive[])
{
	uint32_t low, high;
	for (size_t i = 0; i < t->n; i++)
		if (hole_pair_ends(dc, t, i, alive, &low, &high))
			p->first[low + 1]++;
}

static void place_by_low(struct algo_hole_pairs *p, const struct topo_dc *dc,
    const struct obs_probes *t, const uint8_t alive[])
{
	uint32_t low, high;
	for (size_t i = 0; i < t->n; i++)
		if (hole_pair_ends(dc, t, i, alive, &low, &high))
			p->peer[p->first[low]++] =
			    (struct algo_hole_peer){.high = high & 0x3fffffff,
				.decoy = hole_probe_outcome(t, i) & 3};
}

/* Put the probes in order of the lower server. While this lasts first[s] is
 * where its next one goes; then it is where its last one ended, which is where
 * those of s + 1 begin. */
static int sort_by_low(struct algo_hole_pairs *p, const struct topo_dc *dc,
    const struct obs_probe_source *t, const uint8_t alive[], struct sim_err *e)
{
	const uint32_t n_hosts = dc->clos.all_hosts;
	const struct obs_probes *piece;
	size_t at = 0;
	int rc;
	while ((rc = obs_probes_next(t, &at, NULL, &piece, e)) > 0)
		count_by_low(p, dc, piece, alive);
	for (uint32_t s = 0; s < n_hosts; s++)
		p->first[s + 1] += p->first[s];
	at = 0;
	while (rc >= 0 && (rc = obs_probes_next(t, &at, NULL, &piece, e)) > 0)
		place_by_low(p, dc, piece, alive);
	for (uint32_t s = n_hosts; s > 0; s--)
		p->first[s] = p->first[s - 1];
	p->first[0] = 0;
	return rc;
}

enum algo_hole_decoy algo_hole_decoy_of(uint32_t n, uint32_t n_late,
    uint32_t n_failed, uint32_t least)
{
	if (n_late < (uint64_t)least + n_failed)
		return ALGO_HOLE_NO_DECOY;
	return n_late == n ? ALGO_HOLE_DECOY_1 : ALGO_HOLE_DECOY_2;
}

/* Make one element of all probes of a pair, in the same array: there are never
 * more pairs than probes before them. TALLY is of the peers of one server at a
 * time, and zero between two. */
static void join_probes(struct algo_hole_pairs *p, uint32_t n_hosts,
    uint32_t least, struct tally tally[])
{
	size_t n = 0, from = 0;
	for (uint32_t s = 0; s < n_hosts; s++) {
		const size_t to = p->first[s + 1];
		for (size_t i = from; i < to; i++) {
			struct tally *x = &tally[p->peer[i].high];
			x->n++;
			x->n_late += p->peer[i].decoy == LATE;
			x->n_failed += p->peer[i].decoy == FAILED;
		}
		for (size_t i = from; i < to; i++) {
			const uint32_t high = p->peer[i].high;
			struct tally *x = &tally[high];
			if (x->n > 0 && x->n >= least)
				p->peer[n++] =
				    (struct algo_hole_peer){.high = high &
					    0x3fffffff,
					.decoy =
					    algo_hole_decoy_of(x->n, x->n_late,
						x->n_failed, least) &
					    3};
			*x = (struct tally){0};
		}
		from = to;
		p->first[s + 1] = n;
	}
}

int algo_hole_pairs_open(struct algo_hole_pairs *p, const struct topo_dc *dc,
    const struct obs_probe_source *t, const uint8_t alive[], uint32_t least,
    struct sim_err *e)
{
	const uint32_t n_hosts = dc->clos.all_hosts;
	struct tally *tally = NULL;
	int rc;
	*p = (struct algo_hole_pairs){0};
	if ((rc = SIM_ZALLOC(&p->first, (size_t)n_hosts + 1, e)) < 0 ||
	    (rc = SIM_ZALLOC(&p->peer, t->n, e)) < 0 ||
	    (rc = SIM_ZALLOC(&tally, n_hosts, e)) < 0 ||
	    (rc = sort_by_low(p, dc, t, alive, e)) < 0)
		algo_hole_pairs_close(p);
	else
		join_probes(p, n_hosts, least, tally);
	free(tally);
	return rc;
}

/* --- those that are listed ------------------------------------------------- */

static void tell_hole_pair(const struct algo_hole_hearer *to, uint32_t low,
    uint32_t high, int32_t n, enum algo_hole_decoy decoy)
{
	const struct algo_hole_count c = {low, high, n,
	    {decoy == ALGO_HOLE_DECOY_1, decoy != ALGO_HOLE_NO_DECOY}};
	to->hear(to->arg, &c);
}

static void tell_listed(const struct algo_hole_pairs *p, uint32_t n_hosts,
    const uint8_t aside[], const struct algo_hole_hearer *to)
{
	for (uint32_t s = 0; s < n_hosts; s++)
		for (size_t i = p->first[s]; i < p->first[s + 1]; i++)
			if (!aside[s] && !aside[p->peer[i].high])
				tell_hole_pair(to, s, p->peer[i].high, 1,
				    p->peer[i].decoy);
}

/* --- those of a mesh ------------------------------------------------------- */

void algo_hole_pairs_of_mesh(struct algo_hole_pairs *p,
    const struct topo_dc *dc, const struct obs_pairs *mesh,
    const struct obs_pair_list *listed, const uint8_t alive[], uint32_t least)
{
	*p = (struct algo_hole_pairs){.mesh = mesh,
	    .listed = listed,
	    .dc = dc,
	    .alive = alive,
	    .least = least};
}

/* The peers of a server that have enough probes with it when all are made. */
static uint32_t mesh_peers(const struct algo_hole_pairs *p, unsigned level)
{
	const struct obs_mesh *m = &p->mesh->mesh;
	return m->n_probes[level] >= p->least ? m->n_peers[level] : 0;
}

static uint32_t mesh_peer_at(const struct algo_hole_pairs *p, unsigned level,
    uint32_t s, uint32_t k)
{
	const struct obs_mesh *m = &p->mesh->mesh;
	return topo_dc_index(p->dc,
	    m->peer(m->arg, level, p->dc->first_host + s, k));
}

/* Row I is of a pair that has too few probes, though most of its level have
 * enough. Dead servers have no rows. */
static int mesh_lacks(const struct algo_hole_pairs *p, size_t i, uint32_t *low,
    uint32_t *high)
{
	const struct obs_pair_list *t = p->listed;
	const uint32_t n = p->dc->clos.n_hosts;
	*low = topo_dc_index(p->dc, t->low[i]);
	*high = topo_dc_index(p->dc, t->high[i]);
	return t->n_probes[i] < p->least &&
	    mesh_peers(p, *low / n == *high / n ? OBS_MESH_TOR : OBS_MESH_DC) >
	    0;
}

static void servers_of_mesh(const struct algo_hole_pairs *p, uint32_t n_hosts,
    uint32_t n[])
{
	uint32_t low, high, all = 0;
	for (unsigned l = 0; l < OBS_MESH_LEVELS; l++)
		all += mesh_peers(p, l);
	for (uint32_t s = 0; s < n_hosts; s++)
		n[s] = p->alive[s] ? all : 0;
	for (uint32_t s = 0; s < n_hosts; s++)
		for (unsigned l = 0; !p->alive[s] && l < OBS_MESH_LEVELS; l++)
			for (uint32_t k = 0; k < mesh_peers(p, l); k++) {
				const uint32_t g = mesh_peer_at(p, l, s, k);
				n[g] -= p->alive[g];
			}
	for (size_t i = 0; i < p->listed->n; i++)
		if (mesh_lacks(p, i, &low, &high)) {
			n[low]--;
			n[high]--;
		}
}

/* Those of ToR T with other ToRs, of which peers of one pod mostly follow each
 * other. */
static void tell_mesh_tor(const struct algo_hole_pairs *p, uint32_t t,
    const struct algo_hole_hearer *to)
{
	const struct topo_clos *c = &p->dc->clos;
	const uint32_t s = t * c->n_hosts, of_pod = c->n_hosts * c->n_tors;
	const uint32_t n_peers = mesh_peers(p, OBS_MESH_DC);
	struct algo_hole_bundle x = {.tor = t};
	uint32_t first = 0; /* server of the pod */
	for (uint32_t k = 0; k < n_peers; k++) {
		const uint32_t g = mesh_peer_at(p, OBS_MESH_DC, s, k);
		if (g - first >= of_pod) {
			if (x.n > 0)
				to->hear_many(to->arg, &x);
			x.n = x.n_once = 0;
			x.pod = g / of_pod;
			first = x.pod * of_pod;
		}
		x.n += c->n_hosts;
		x.n_once += g > s ? c->n_hosts : 0;
	}
	if (x.n > 0)
		to->hear_many(to->arg, &x);
}

/* Likewise where all other ToRs are peers: how many are in a pod is known, and of
 * two the lower tells of their pairs. */
static void tell_full_tor(const struct algo_hole_pairs *p, uint32_t t,
    const struct algo_hole_hearer *to)
{
	const struct topo_clos *c = &p->dc->clos;
	const uint32_t own = t / c->n_tors;
	for (uint32_t pod = 0; pod < c->n_pods; pod++) {
		const uint32_t end = (pod + 1) * c->n_tors;
		const uint32_t n = c->n_tors - (pod == own);
		const uint32_t above = pod == own ? end - 1 - t
		    : pod > own                   ? n
						  : 0;
		const struct algo_hole_bundle x = {.tor = t,
		    .pod = pod,
		    .n = (uint64_t)n * c->n_hosts,
		    .n_once = (uint64_t)above * c->n_hosts};
		if (n > 0)
			to->hear_many(to->arg, &x);
	}
}

/* As if all servers were heard. Those of a ToR have peers under the same other
 * ones. */
static void tell_whole_mesh(const struct algo_hole_pairs *p,
    const struct algo_hole_hearer *to)
{
	const struct topo_clos *c = &p->dc->clos;
	const uint32_t n = c->n_hosts;
	const uint32_t own = n * mesh_peers(p, OBS_MESH_TOR) / 2;
	const int is_full = mesh_peers(p, OBS_MESH_DC) == c->all_tors - 1;
	for (uint32_t t = 0; t < c->all_tors; t++) {
		if (own > 0)
			tell_hole_pair(to, t * n, t * n, (int32_t)own,
			    ALGO_HOLE_NO_DECOY);
		if (is_full)
			tell_full_tor(p, t, to);
		else
			tell_mesh_tor(p, t, to);
	}
}

static void tell_mesh(const struct algo_hole_pairs *p, uint32_t n_hosts,
    const uint8_t aside[], const struct algo_hole_hearer *to)
{
	const struct obs_pair_list *t = p->listed;
	uint32_t low, high;
	tell_whole_mesh(p, to);
	for (uint32_t s = 0; s < n_hosts; s++)
		for (unsigned l = 0; l < OBS_MESH_LEVELS; l++)
			for (uint32_t k = 0;
			     (!p->alive[s] || aside[s]) && k < mesh_peers(p, l);
			     k++) {
				const uint32_t g = mesh_peer_at(p, l, s, k);
				/* Of two the lower takes it back. */
				if ((p->alive[g] && !aside[g]) || g > s)
					tell_hole_pair(to, s < g ? s : g,
					    s < g ? g : s, -1,
					    ALGO_HOLE_NO_DECOY);
			}
	for (size_t i = 0; i < t->n; i++) {
		const int lacks = mesh_lacks(p, i, &low, &high);
		const enum algo_hole_decoy decoy = t->n_probes[i] < p->least
		    ? ALGO_HOLE_NO_DECOY
		    : algo_hole_decoy_of(t->n_probes[i], t->n_late[i],
			  t->n_failed[i], p->least);
		if (!aside[low] && !aside[high])
			tell_hole_pair(to, low, high, -lacks, decoy);
	}
}

/* --- either ---------------------------------------------------------------- */

void algo_hole_pairs_of_servers(const struct algo_hole_pairs *p,
    uint32_t n_hosts, uint32_t n[])
{
	if (p->mesh) {
		servers_of_mesh(p, n_hosts, n);
		return;
	}
	for (uint32_t s = 0; s < n_hosts; s++)
		n[s] = 0;
	for (uint32_t s = 0; s < n_hosts; s++)
		for (size_t i = p->first[s]; i < p->first[s + 1]; i++) {
			n[s]++;
			n[p->peer[i].high]++;
		}
}

void algo_hole_pairs_tell(const struct algo_hole_pairs *p, uint32_t n_hosts,
    const uint8_t aside[], const struct algo_hole_hearer *to)
{
	if (p->mesh)
		tell_mesh(p, n_hosts, aside, to);
	else
		tell_listed(p, n_hosts, aside, to);
}
