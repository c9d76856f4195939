/* experiments/agents/real.c -- plane agents on a real network.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/agents/real.h"

#include <stdlib.h>

#include "results/score.h"
#include "sim/vec.h"
#include "topo/addr.h"

#define NO_REPORT SIZE_MAX

struct xp_lab_plane {
	const struct topo *topo;
	uint32_t partial; /* enum algo_partial */
	struct xp_lab *lab;

	/* Of this epoch. */
	struct obs_flow *flow;
	size_t n_flows, cap_flows;
	struct obs lossy;
	struct losses lost;     /* of lossy */
	size_t *told, cap_told; /* [lossy.flows.n] the row's report */
	uint8_t *used;          /* [reports] 1: it belongs to a flow */
	size_t cap_used;
	struct xp_agent_window window;
};

int xp_lab_plane_open(struct xp_lab_plane **out, struct xp_wire *wire,
    const struct xp_agents *a, struct sim_err *e)
{
	struct xp_lab_plane *p;
	*out = NULL;
	int rc = SIM_ZALLOC(&p, 1, e);
	if (rc < 0) {
		xp_wire_close(wire);
		return rc;
	}
	p->topo = wire->topo;
	p->partial = a->partial;
	if ((rc = xp_lab_open(&p->lab, wire, &a->agent, e)) < 0)
		xp_lab_plane_close(p);
	else
		*out = p;
	return rc;
}

void xp_lab_plane_close(struct xp_lab_plane *p)
{
	if (!p)
		return;
	xp_lab_close(p->lab);
	xp_agent_window_free(&p->window);
	obs_free(&p->lossy);
	losses_free(&p->lost);
	free(p->flow);
	free(p->told);
	free(p->used);
	free(p);
}

/* --- flows ---------------------------------------------------------------- */

static struct topo_tuple agents_real_tuple_of(const struct obs_flow *f)
{
	return (struct topo_tuple){topo_addr_of_host(f->src_host),
	    topo_addr_of_host(f->dst_host), f->src_port, f->dst_port,
	    TOPO_PROTO_TCP};
}

static struct topo_tuple reverse(const struct topo_tuple *t)
{
	return (struct topo_tuple){t->dst_ip, t->src_ip, t->dst_port,
	    t->src_port, t->proto};
}

/* Any total order would do, as both lists that are searched are sorted by it:
 * the addresses as one number, then ports and protocol as another. */
static int agents_real_compare_tuples(const struct topo_tuple *a,
    const struct topo_tuple *b)
{
	const uint64_t x[] = {(uint64_t)a->src_ip << 32 | a->dst_ip,
	    (uint64_t)a->src_port << 24 | (uint64_t)a->dst_port << 8 |
		a->proto},
		       y[] = {(uint64_t)b->src_ip << 32 | b->dst_ip,
			   (uint64_t)b->src_port << 24 |
			       (uint64_t)b->dst_port << 8 | b->proto};
	const int i = x[0] == y[0];
	return (x[i] > y[i]) - (x[i] < y[i]);
}

/* By the link as well: qsort() is not stable, and the order in which drops are
 * placed on a path must not depend on its implementation. */
static int by_tuple_and_link(const void *a, const void *b)
{
	const struct netns_drop *x = a, *y = b;
	const int o = agents_real_compare_tuples(&x->tuple, &y->tuple);
	return o != 0 ? o : (x->link > y->link) - (x->link < y->link);
}

static int agents_real_by_tuple(const void *a, const void *b)
{
	return agents_real_compare_tuples(&((const struct agent_report *)a)
					       ->tuple,
	    &((const struct agent_report *)b)->tuple);
}

/* Binary search in the sorted reports: the first one that is not before TUPLE,
 * which is n_reports when all are. So the caller compares once more. */
static size_t first_report(const struct xp_lab_seen *s,
    const struct topo_tuple *tuple)
{
	size_t lo = 0, hi = s->n_reports;
	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;
		if (agents_real_compare_tuples(&s->report[mid].tuple, tuple) <
		    0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The same of drops, of which those of one tuple stand side by side. */
static size_t first_drop(const struct xp_lab_seen *s,
    const struct topo_tuple *tuple)
{
	size_t lo = 0, hi = s->n_drops;
	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;
		if (agents_real_compare_tuples(&s->drop[mid].tuple, tuple) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* --- rows ----------------------------------------------------------------- */

/* Where on a path of N hops link L is; N or more: nowhere. The kernel's paths
 * are not known, only on which links a flow lost something. In a Clos the class
 * of a link tells its hop, counted from the end for links on the way down. In
 * other topologies it gets the first hop that is free: scores ask which links
 * are on a path, and not in which order. */
static unsigned agents_real_place(const struct topo *t, topo_link l, unsigned n,
    const topo_link path[])
{
	unsigned i = 1;
	switch (topo_class_of(t, l)) {
	case TOPO_HOST_TOR:
		return 0;
	case TOPO_TOR_T1:
		return 1;
	case TOPO_T1_T2:
		return 2;
	case TOPO_T2_T1:
		return n - 3;
	case TOPO_T1_TOR:
		return n - 2;
	case TOPO_TOR_HOST:
		return n - 1;
	default:
		while (i < n && path[i] != TOPO_NONE && path[i] != l)
			i++;
		return i;
	}
}

/* What the flow lost, each link at its hop; hops without a loss stay TOPO_NONE.
 * Two links at one hop would mean that the flow had two paths, which the
 * kernel's hash of the five-tuple rules out: then drops were mixed up. */
static int place_drops(const struct xp_lab_plane *p,
    const struct xp_lab_seen *s, const struct topo_tuple *tuple, unsigned n,
    topo_link path[], uint32_t drops[], struct sim_err *e)
{
	for (unsigned i = 0; i < n; i++) {
		path[i] = TOPO_NONE;
		drops[i] = 0;
	}
	for (size_t k = first_drop(s, tuple); k < s->n_drops &&
	     agents_real_compare_tuples(&s->drop[k].tuple, tuple) == 0;
	     k++) {
		const struct netns_drop *d = &s->drop[k];
		const unsigned i = agents_real_place(p->topo, d->link, n, path);
		if (i >= n || (path[i] != TOPO_NONE && path[i] != d->link))
			return sim_fail(e, SIM_EMISMATCH,
			    "a flow lost on more links than its path has: "
			    "link %u is not its hop %u.",
			    d->link, i);
		path[i] = d->link;
		drops[i] += (uint32_t)(d->n_random + d->n_hole);
	}
	return 0;
}

/* A row of F, which lost something, sent something again, or was traced. */
static int add_lossy(struct xp_lab_plane *p, const struct xp_lab_seen *s,
    const struct obs_flow *f, size_t report, struct sim_err *e)
{
	const struct topo_tuple tuple = agents_real_tuple_of(f);
	const size_t row = p->lossy.flows.n;
	topo_link path[TOPO_MAX_HOPS];
	uint32_t drops[TOPO_MAX_HOPS];
	/* Only the number of hops is used, which all paths of a pair share;
	 * the seed and the hash, 0 here, would choose among them. */
	const unsigned n =
	    topo_path(p->topo, 0, f->src_host, f->dst_host, 0, path);
	int rc = place_drops(p, s, &tuple, n, path, drops, e);
	if (rc < 0 || (rc = obs_add_flow(&p->lossy, f, path, n, e)) < 0 ||
	    (rc = losses_add_drops(&p->lost, drops, n, e)) < 0 ||
	    (rc = SIM_RESERVE(&p->told, &p->cap_told, row + 1, e)) < 0)
		return rc;
	p->told[row] = report;
	return 0;
}

/* A row for each flow of which anything was seen: a drop by a fault, a report
 * of its agent, or a retransmission that the kernel counted. */
static int agents_real_add_flows(struct xp_lab_plane *p,
    const struct xp_lab_seen *s, struct sim_err *e)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < p->n_flows; i++) {
		struct obs_flow *f = &p->flow[i];
		const struct topo_tuple tuple = agents_real_tuple_of(f);
		const size_t d = first_drop(s, &tuple);
		const size_t r = first_report(s, &tuple);
		const int lost = d < s->n_drops &&
		    agents_real_compare_tuples(&s->drop[d].tuple, &tuple) == 0;
		const int told = r < s->n_reports &&
		    agents_real_compare_tuples(&s->report[r].tuple, &tuple) ==
			0;
		p->lossy.n_packets += f->n_pkts;
		if (told)
			p->used[r] = 1;
		/* The kernel counts SYNs among what it sent again, so a flow of
		 * few packets may have sent again more than it has. A row with
		 * n_retx above n_pkts would be refused. */
		if (f->n_retx > f->n_pkts)
			f->n_pkts = f->n_retx;
		if (lost || told || f->n_retx > 0)
			rc = add_lossy(p, s, f, told ? r : NO_REPORT, e);
	}
	return rc;
}

/* Reports that belong to no flow's own direction. When a receiver's FIN is lost
 * its kernel sends it again, and the agent on the receiver reports that. Such a
 * report becomes a flow from the receiver to the sender, of as many packets as
 * were sent again, for nothing more is known of it. These are few, so a linear
 * search for each of them is cheap enough. */
static int add_reversed(struct xp_lab_plane *p, const struct xp_lab_seen *s,
    struct sim_err *e)
{
	int rc = 0;
	for (size_t r = 0; rc == 0 && r < s->n_reports; r++) {
		const struct topo_tuple back = reverse(&s->report[r].tuple);
		size_t i = 0;
		if (p->used[r])
			continue;
		for (; i < p->n_flows; i++) {
			const struct topo_tuple t =
			    agents_real_tuple_of(&p->flow[i]);
			if (agents_real_compare_tuples(&t, &back) == 0)
				break;
		}
		if (i == p->n_flows)
			return sim_fail(e, SIM_EMISMATCH,
			    "a report of a connection that is none of the "
			    "flows, or a second one.");
		const struct obs_flow *f = &p->flow[i];
		const struct obs_flow other = {.start_ns = f->start_ns,
		    .src_host = f->dst_host,
		    .dst_host = f->src_host,
		    .src_port = f->dst_port,
		    .dst_port = f->src_port,
		    .n_pkts = s->report[r].n_retx,
		    .n_retx = s->report[r].n_retx};
		rc = add_lossy(p, s, &other, r, e);
	}
	return rc;
}

/* --- an epoch ------------------------------------------------------------- */

/* Flows first, since that marks their reports as used; what is not used
 * afterwards is of receivers. Reports and drops are sorted in place. */
static int list_lossy(struct xp_lab_plane *p, const struct xp_lab_seen *s,
    struct sim_err *e)
{
	obs_clear(&p->lossy);
	losses_clear(&p->lost);
	p->lossy.n_flows = p->n_flows;
	p->lossy.n_packets = 0;
	int rc = SIM_RESERVE(&p->used, &p->cap_used, s->n_reports, e);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < s->n_reports; i++)
		p->used[i] = 0;
	if (s->n_reports > 0)
		qsort(s->report, s->n_reports, sizeof(s->report[0]),
		    agents_real_by_tuple);
	if (s->n_drops > 0)
		qsort(s->drop, s->n_drops, sizeof(s->drop[0]),
		    by_tuple_and_link);
	rc = agents_real_add_flows(p, s, e);
	return rc < 0 ? rc : add_reversed(p, s, e);
}

/* From here on a real network is as the simulated one: reports for rows of what
 * was lossy, and one way to make a window of them. */
static int agents_real_fill_window(struct xp_lab_plane *p,
    const struct xp_lab_seen *s, struct res_trial_metrics *m, struct sim_err *e)
{
	int rc = xp_agent_window_begin(&p->window, &p->lossy, e);
	for (size_t row = 0; rc == 0 && row < p->lossy.flows.n; row++)
		if (p->told[row] != NO_REPORT)
			rc = xp_agent_window_take(&p->window, row,
			    &s->report[p->told[row]], e);
	return rc < 0 ? rc
		      : xp_agent_window_fill(&p->window, p->topo, p->partial,
			    &p->lost, m, e);
}

int xp_lab_plane_epoch(struct xp_lab_plane *p, const struct scene *scene,
    const struct xp_agent_window **seen, struct res_trial_metrics *m,
    struct sim_err *e)
{
	const struct xp_lab_seen *s;
	int rc;
	if ((rc = xp_lab_flows(&p->flow, &p->cap_flows, &p->n_flows, scene,
		 e)) < 0 ||
	    (rc = xp_lab_epoch(p->lab, scene, p->flow, p->n_flows, &s, e)) < 0)
		return rc;
	/* A full queue or a missing route would be blamed on links that have no
	 * fault, so such an epoch is void and not a measurement. */
	if (s->n_other > 0)
		return sim_fail(e, SIM_EIO,
		    "the kernel dropped %llu packets that are not of the "
		    "faults (%s).",
		    (unsigned long long)s->n_other, s->other);
	if ((rc = list_lossy(p, s, e)) < 0)
		return rc;
	res_score_trial(&p->lossy, &scene->truth, &p->lost, m);
	m->n_icmp_sent = (double)s->icmp.n_sent;
	m->n_icmp_suppressed = (double)s->icmp.n_suppressed;
	*seen = &p->window;
	return agents_real_fill_window(p, s, m, e);
}

void xp_lab_plane_lossy(const struct xp_lab_plane *p, const struct obs **w,
    const struct losses **lost)
{
	*w = &p->lossy;
	*lost = &p->lost;
}
