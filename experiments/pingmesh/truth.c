/* experiments/pingmesh/truth.c -- what probes really met.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/truth.h"

#include <math.h>
#include <stdlib.h>

#include "sim/vec.h"

/* --- loss ----------------------------------------------------------------- */

/* Make room now for the links between any two hosts, so that survival() cannot
 * fail for want of memory. */
static int reserve(struct xp_true_loss *x, const struct topo *t,
    struct sim_err *e)
{
	int rc = SIM_RESERVE(&x->at, &x->cap_at, t->n_hosts + t->n_switches, e);
	while (rc == 0 && x->shares.cap < t->n_links)
		rc = topo_shares_add(&x->shares, 0, 0, e);
	x->shares.n = 0;
	return rc;
}

int xp_true_loss_begin(struct xp_true_loss *x, const struct scene *scene,
    int any_path, struct sim_err *e)
{
	const uint32_t n = scene->topo->n_links;
	int rc = SIM_RESERVE(&x->noise, &x->cap, n, e);
	if (rc == 0 && any_path)
		rc = reserve(x, scene->topo, e);
	if (rc < 0)
		return rc;
	x->topo = scene->topo;
	x->scene = scene;
	x->any_path = any_path;
	scene_noise_rates(&scene->loss.noise, 0, n, x->noise);
	for (uint32_t l = 0; l < n; l++)
		x->noise[l] = scene_hazard(x->noise[l]);
	return 0;
}

void xp_true_loss_free(struct xp_true_loss *x)
{
	free(x->noise);
	free(x->at);
	topo_shares_free(&x->shares);
	*x = (struct xp_true_loss){0};
}

/* Hazards are -log(1 - rate): those of the links of a path add up, so a packet
 * passes with probability exp(-sum). A fault takes the place of the noise, and
 * a full port loses beside them. This is asked for each link of both ways of
 * each probe, and most scenes have neither. */
static inline double hazard_of_link(const struct xp_true_loss *x, topo_link l,
    sim_ns at)
{
	const struct scene *s = x->scene;
	double h;
	if (s->truth.n_faults == 0 || !scene_loss_fault(&s->loss, l, at, &h))
		h = x->noise[l];
	return scene_congestion_is_on(&s->congestion)
	    ? h + scene_congestion_hazard(&s->congestion, l, at)
	    : h;
}

static double hazard_of(const struct xp_true_loss *x, topo_host src,
    topo_host dst, const struct topo_tuple *tuple, sim_ns at)
{
	topo_link path[TOPO_MAX_HOPS];
	const unsigned n = topo_path(x->topo, x->scene->ecmp_seed, src, dst,
	    topo_tuple_digest(tuple), path);
	double sum = 0;
	for (unsigned i = 0; i < n; i++)
		sum += hazard_of_link(x, path[i], at);
	return sum;
}

/* The probability to arrive when each switch chooses alike among its next hops.
 * Of each node, `there` is the probability that the path leads through it, and
 * `alive` the same and that the packet has not been lost before it. From the
 * node `from`, a share of s->share[i] / there goes on over link i. Links come
 * in order of hops, so all that lead to a node are done before those that leave
 * it. */
static double survival(struct xp_true_loss *x, topo_host src, topo_host dst,
    sim_ns at)
{
	struct topo_shares *s = &x->shares;
	topo_node from, to;
	int rc = topo_shares_between(s, x->topo, src, dst, NULL);
	assert(rc == 0);
	(void)rc;
	for (size_t i = 0; i < s->n; i++) {
		topo_link_ends(x->topo, s->link[i], &from, &to);
		x->at[to] = (struct xp_at){0, 0};
	}
	x->at[src] = (struct xp_at){1, 1};
	for (size_t i = 0; i < s->n; i++) {
		topo_link_ends(x->topo, s->link[i], &from, &to);
		x->at[to].there += s->share[i];
		x->at[to].alive += x->at[from].alive * s->share[i] /
		    x->at[from].there * exp(-hazard_of_link(x, s->link[i], at));
	}
	return x->at[dst].alive;
}

double xp_true_loss_of(struct xp_true_loss *x, const struct obs_probes *t,
    size_t i)
{
	const topo_host src = t->src_host[i], dst = t->dst_host[i];
	const sim_ns at = t->sent_ns[i];
	/* The probe's SYN and the answer to it cross different links, by the
	 * five-tuple and its reverse; losing either one costs a round trip. The
	 * sum of small hazards goes through expm1() to keep its digits. */
	if (x->any_path)
		return 1 -
		    survival(x, src, dst, at) * survival(x, dst, src, at);
	const struct topo_tuple there = {topo_addr_of_host(src),
	    topo_addr_of_host(dst), t->src_port[i], t->dst_port[i],
	    TOPO_PROTO_TCP};
	const struct topo_tuple back = {there.dst_ip, there.src_ip,
	    there.dst_port, there.src_port, TOPO_PROTO_TCP};
	return -expm1(-hazard_of(x, src, dst, &there, at) -
	    hazard_of(x, dst, src, &back, at));
}

/* --- when ----------------------------------------------------------------- */

/* Something lasts from A to B. How it overlaps [from, to): 0 not at all, 1 it
 * lasts all through, 3 for a part of it. As bits these can be joined by OR: of
 * several things, bit 1 says that at least one began or ended meanwhile. */
static unsigned pingmesh_truth_overlap(sim_ns a, sim_ns b, sim_ns from,
    sim_ns to)
{
	if (a >= b || a >= to || b <= from)
		return 0;
	return a <= from && b >= to ? 1 : 3;
}

enum xp_trouble xp_trouble_in(const struct truth *t, sim_ns from, sim_ns to)
{
	unsigned all = 0;
	for (size_t i = 0; i < t->n_faults; i++)
		if (truth_is_fault(&t->fault[i]))
			all |= pingmesh_truth_overlap(t->fault[i].from_ns,
			    t->fault[i].to_ns, from, to);
	for (size_t i = 0; i < t->n_holes; i++)
		all |= pingmesh_truth_overlap(t->hole[i].from_ns,
		    t->hole[i].to_ns, from, to);
	for (size_t i = 0; i < t->n_outages; i++)
		all |= pingmesh_truth_overlap(t->outage[i].from_ns,
		    t->outage[i].to_ns, from, to);
	return all == 0 ? XP_CALM : all == 1 ? XP_TROUBLE : XP_CHANGE;
}

/* Each list is in an order of its own, by link, switch or host and not by time,
 * so all of it is looked at. */
sim_ns xp_first_trouble(const struct truth *t)
{
	sim_ns first = SIM_NEVER;
	for (size_t i = 0; i < t->n_faults; i++)
		if (truth_is_fault(&t->fault[i]) && t->fault[i].from_ns < first)
			first = t->fault[i].from_ns;
	for (size_t i = 0; i < t->n_holes; i++)
		if (t->hole[i].from_ns < first)
			first = t->hole[i].from_ns;
	for (size_t i = 0; i < t->n_outages; i++)
		if (t->outage[i].from_ns < first)
			first = t->outage[i].from_ns;
	return first;
}

/* --- black holes ---------------------------------------------------------- */

int xp_was_black(const struct truth *t, topo_switch s, sim_ns from, sim_ns to)
{
	for (size_t i = 0; i < t->n_holes; i++)
		if (t->hole[i].at == s &&
		    pingmesh_truth_overlap(t->hole[i].from_ns, t->hole[i].to_ns,
			from, to))
			return 1;
	return 0;
}

uint32_t xp_n_black(const struct truth *t, const struct topo_dc *dc,
    sim_ns from, sim_ns to)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < dc->clos.all_tors; i++)
		n += (uint32_t)xp_was_black(t, dc->first_switch + i, from, to);
	return n;
}
