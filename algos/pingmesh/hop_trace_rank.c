/* algos/pingmesh/hop_trace_rank.c -- which switch do the traced paths lose at?
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/pingmesh/hop_trace_rank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algos/vigil/path_map.h"
#include "sim/sort.h"
#include "sim/stat.h"
#include "sim/vec.h"
#include "topo/addr.h"

const struct sim_field algo_hop_trace_rank_fields[] =
    {{.name = "normal_rate",
	 .type = SIM_F_F64,
	 .offset = offsetof(struct algo_hop_trace_rank_params, normal_rate),
	 .min = 0,
	 .max = 1,
	 .unit = "1",
	 .def = "1e-3",
	 .doc = "excess of unanswered probes up to which nobody is accused"},
	{.name = "conf",
	    .type = SIM_F_F64,
	    .offset = offsetof(struct algo_hop_trace_rank_params, conf),
	    .min = 0.5,
	    .max = 0.999999999,
	    .unit = "1",
	    .def = "0.9999",
	    .doc = "confidence of the intervals"},
	{0}};

void algo_hop_trace_work_free(struct algo_hop_trace_work *k)
{
	free(k->node);
	free(k->score);
	free(k->path);
	free(k->all);
	free(k->via);
	*k = (struct algo_hop_trace_work){0};
}

/* --- reports as paths over nodes -------------------------------------------*/
/* Reports may come from a file: counts that cannot be would make shares above 1
 * and indices beyond the tables. */
static int hop_trace_rank_check(const struct topo *t,
    const struct agent_report *r, size_t i, struct sim_err *e)
{
	if (topo_addr_to_host(r->tuple.src_ip, t->n_hosts) == TOPO_NONE ||
	    topo_addr_to_host(r->tuple.dst_ip, t->n_hosts) == TOPO_NONE)
		return sim_fail(e, SIM_EINVAL,
		    "report %zu: its sender or its receiver is no host.", i);
	if (r->n_hops > TOPO_MAX_HOPS)
		return sim_fail(e, SIM_EINVAL,
		    "report %zu: %u hops are more than %d.", i, r->n_hops,
		    TOPO_MAX_HOPS);
	for (unsigned k = 0; k < r->n_hops; k++)
		if (r->n_back[k] > r->n_sent[k])
			return sim_fail(e, SIM_EINVAL,
			    "report %zu: of %u probes %u were answered at TTL "
			    "%u.",
			    i, r->n_sent[k], r->n_back[k], k + 1);
	return 0;
}

/* The switch that answers from IP, as a node. Either its loopback or the
 * receiving interface may be the source of its ICMP messages. */
static topo_node node_of(const struct topo *t, uint32_t ip)
{
	const topo_link l = topo_addr_to_link(ip, t->n_links);
	const topo_switch s = topo_addr_to_switch(ip, t->n_switches);
	topo_node from, to;
	if (l == TOPO_NONE)
		return s == TOPO_NONE ? TOPO_NONE : t->n_hosts + s;
	topo_link_ends(t, l, &from, &to);
	return to < t->n_hosts ? TOPO_NONE : to;
}

static int by_id(const void *a, const void *b)
{
	const topo_node p = *(const topo_node *)a, q = *(const topo_node *)b;
	return SIM_ORDER(p, q);
}

/* Sort the nodes, each once, and let paths hold places among them: tables then
 * have a row for each switch that was met and not for each of the fabric. A hop
 * that is not known is not found, and stays TOPO_NONE. */
static void number_nodes(struct algo_hop_trace_work *k)
{
	size_t n = 0;
	if (k->n_nodes > 0)
		qsort(k->node, k->n_nodes, sizeof(*k->node), by_id);
	for (size_t i = 0; i < k->n_nodes; i++)
		if (n == 0 || k->node[i] != k->node[n - 1])
			k->node[n++] = k->node[i];
	k->n_nodes = n;
	for (size_t i = 0; i < k->n_paths; i++) {
		struct algo_hop_trace_path *p = &k->path[i];
		for (unsigned j = 0; j <= p->n_hops; j++) {
			const topo_node *at = bsearch(&p->node[j], k->node, n,
			    sizeof(*k->node), by_id);
			p->node[j] = at ? (uint32_t)(at - k->node) : TOPO_NONE;
		}
	}
}

static int take_reports(struct algo_hop_trace_work *k, const struct topo *t,
    const struct agent_report report[], size_t n, struct sim_err *e)
{
	int rc;
	k->n_nodes = 0;
	k->n_paths = n;
	if ((rc = SIM_RESERVE(&k->path, &k->cap_paths, n, e)) < 0)
		return rc;
	for (size_t i = 0; i < n; i++) {
		const struct agent_report *r = &report[i];
		struct algo_hop_trace_path *p = &k->path[i];
		if ((rc = hop_trace_rank_check(t, r, i, e)) < 0 ||
		    (rc = SIM_RESERVE(&k->node, &k->cap_nodes,
			 k->n_nodes + TOPO_MAX_HOPS + 1, e)) < 0)
			return rc;
		*p = (struct algo_hop_trace_path){.n_hops = r->n_hops};
		/* The sender stands in front as node 0, so that it is judged
		 * like a switch. */
		p->node[0] = topo_addr_to_host(r->tuple.src_ip, t->n_hosts);
		for (unsigned j = 0; j < r->n_hops; j++)
			p->node[j + 1] = node_of(t, r->hop_ip[j]);
		for (unsigned j = 0; j <= r->n_hops; j++)
			if (p->node[j] != TOPO_NONE)
				k->node[k->n_nodes++] = p->node[j];
	}
	number_nodes(k);
	const size_t n_cells = k->n_nodes * TOPO_MAX_HOPS;
	if ((rc = SIM_RESERVE(&k->all, &k->cap_all, n_cells, e)) < 0 ||
	    (rc = SIM_RESERVE(&k->via, &k->cap_via, n_cells, e)) < 0)
		return rc;
	return SIM_RESERVE(&k->score, &k->cap_score, k->n_nodes, e);
}

/* --- counting --------------------------------------------------------------*/
static void clear(const struct algo_hop_trace_work *k,
    struct algo_hop_trace_cell cell[])
{
	for (size_t i = 0; i < k->n_nodes * TOPO_MAX_HOPS; i++)
		cell[i] = (struct algo_hop_trace_cell){0};
}

/* The stratum of TTL of path P: same switch and same TTL, so the same ICMP
 * bucket and the same number of links. */
static struct algo_hop_trace_cell *
hop_trace_rank_cell_of(struct algo_hop_trace_cell cell[],
    const struct algo_hop_trace_path *p, unsigned ttl)
{
	return &cell[(size_t)p->node[ttl] * TOPO_MAX_HOPS + ttl - 1];
}

/* Add the TTLs of path I beyond AFTER: only probes that were to go farther than
 * a switch have crossed it. */
static void hop_trace_rank_add(const struct algo_hop_trace_work *k,
    struct algo_hop_trace_cell cell[], const struct agent_report report[],
    size_t i, unsigned after)
{
	const struct algo_hop_trace_path *p = &k->path[i];
	for (unsigned ttl = after + 1; ttl <= p->n_hops; ttl++) {
		if (p->node[ttl] == TOPO_NONE)
			continue;
		struct algo_hop_trace_cell *c =
		    hop_trace_rank_cell_of(cell, p, ttl);
		c->n += report[i].n_sent[ttl - 1];
		c->n_silent +=
		    report[i].n_sent[ttl - 1] - report[i].n_back[ttl - 1];
	}
}

static void count_all(struct algo_hop_trace_work *k,
    const struct agent_report report[])
{
	clear(k, k->all);
	for (size_t i = 0; i < k->n_paths; i++)
		if (!k->path[i].aside)
			hop_trace_rank_add(k, k->all, report, i, 0);
}

/* Where the path has NODE: the TTL with which a probe ends there. TOPO_NONE:
 * nowhere, or set aside. */
static unsigned hop_trace_rank_place_of(const struct algo_hop_trace_path *p,
    uint32_t node)
{
	for (unsigned j = 0; j <= p->n_hops && !p->aside; j++)
		if (p->node[j] == node)
			return j;
	return TOPO_NONE;
}

/* The probes that came through NODE, in the strata of `all`. */
static void count_via(struct algo_hop_trace_work *k,
    const struct agent_report report[], uint32_t node)
{
	clear(k, k->via);
	for (size_t i = 0; i < k->n_paths; i++) {
		const unsigned at = hop_trace_rank_place_of(&k->path[i], node);
		if (at != TOPO_NONE)
			hop_trace_rank_add(k, k->via, report, i, at);
	}
}

/* --- ranking ---------------------------------------------------------------*/
/* The score of the node that the cells of `via` were counted for, by the
 * formulas of the header: observed U1 against expected theta, stratum by
 * stratum, so that a switch that answers rarely is compared with itself
 * only. */
static int hop_trace_rank_judge(const struct algo_hop_trace_work *k,
    double conf, double *score, struct sim_err *e)
{
	uint64_t n1 = 0, u1 = 0, u = 0;
	double expected = 0, lo, share, hi;
	int rc;
	*score = 0;
	for (size_t i = 0; i < k->n_nodes * TOPO_MAX_HOPS; i++) {
		const struct algo_hop_trace_cell *a = &k->all[i],
						 *v = &k->via[i];
		/* Nothing to compare: no probe, or every probe of the stratum,
		 * came through the node. */
		if (v->n == 0 || v->n == a->n)
			continue;
		n1 += v->n;
		u1 += v->n_silent;
		u += a->n_silent;
		expected += (double)a->n_silent * (double)v->n / (double)a->n;
	}
	const double theta = u > 0 ? expected / (double)u : 1;
	/* Hoeffding's inequality holds above the mean, and below it there is no
	 * excess to score. With u = 0 this ends here too. */
	if ((double)u1 <= expected)
		return 0;
	if ((rc = sim_binomial_interval(u1, u, conf, &lo, &hi, e)) < 0 ||
	    (rc = sim_binomial_interval(u1, n1, conf, &share, &hi, e)) < 0)
		return rc;
	/* r > 1 in other words: 1 / r is (1 - lo) / lo * theta / (1 -
	 * theta). */
	if (lo > theta)
		*score = share * (1 - (1 - lo) / lo * theta / (1 - theta));
	return 0;
}

/* Judge all nodes; *BEST is the worst of them, or TOPO_NONE. A switch wins over
 * a host that is as bad: hosts have lower ids and so come first, and the next
 * equal takes its place; of equal switches the first stays. */
static int judge_all(struct algo_hop_trace_work *k, const struct topo *t,
    const struct agent_report report[], double conf, uint32_t *best,
    struct sim_err *e)
{
	*best = TOPO_NONE;
	count_all(k, report);
	for (uint32_t i = 0; i < k->n_nodes; i++) {
		count_via(k, report, i);
		int rc = hop_trace_rank_judge(k, conf, &k->score[i], e);
		if (rc < 0)
			return rc;
		if (*best == TOPO_NONE || k->score[i] > k->score[*best] ||
		    (k->score[i] == k->score[*best] &&
			k->node[*best] < t->n_hosts))
			*best = i;
	}
	return 0;
}

/* What a switch at fault explains must not speak against its neighbours. */
static void hop_trace_rank_set_aside(struct algo_hop_trace_work *k,
    uint32_t node)
{
	for (size_t i = 0; i < k->n_paths; i++)
		if (hop_trace_rank_place_of(&k->path[i], node) != TOPO_NONE)
			k->path[i].aside = 1;
}

int algo_hop_trace_rank(struct algo_hop_trace_work *k, const struct topo *t,
    const struct agent_report report[], size_t n,
    const struct algo_hop_trace_rank_params *p, struct algo_verdicts *out,
    struct sim_err *e)
{
	double before = INFINITY;
	uint32_t best;
	int rc;
	algo_verdicts_clear(out);
	out->kind = ALGO_KIND_SWITCH;
	out->flags = 1;
	if ((rc = take_reports(k, t, report, n, e)) < 0)
		return rc;
	/* A bad switch makes its neighbours look bad. So only the worst is
	 * accused, its traces are set aside, and all others are judged anew by
	 * what is left. */
	while ((rc = judge_all(k, t, report, p->conf, &best, e)) == 0 &&
	    best != TOPO_NONE && k->score[best] > p->normal_rate) {
		hop_trace_rank_set_aside(k, best);
		if (k->node[best] < t->n_hosts)
			continue;
		/* Fewer traces are left each time, so a later score may be
		 * higher by chance; the list is to descend in the order of
		 * accusation. */
		before = fmin(before, k->score[best]);
		if ((rc = algo_verdicts_add(out, k->node[best] - t->n_hosts,
			 before, e)) < 0)
			return rc;
		out->n_flagged++;
	}
	/* No path left crosses an accused switch, so its score is 0 now and it
	 * is not listed twice. */
	for (size_t i = 0; rc == 0 && i < k->n_nodes; i++)
		if (k->node[i] >= t->n_hosts && k->score[i] > 0)
			rc = algo_verdicts_add(out, k->node[i] - t->n_hosts,
			    k->score[i], e);
	if (rc == 0)
		algo_verdicts_sort(out);
	return rc;
}

/* --- votes -----------------------------------------------------------------*/
/* Probes of the farthest TTL that were lost beyond what others' were at the
 * same switch and TTL. Only those probes crossed all hops of the trace, which
 * is what a vote of 1/h each claims. If nobody else was traced to there,
 * nothing is known to be lost. */
static int losses_of(struct algo_hop_trace_work *k, size_t i,
    const struct agent_report *r, double conf, struct obs_flow *flow,
    struct sim_err *e)
{
	const struct algo_hop_trace_path *p = &k->path[i];
	const unsigned ttl = p->n_hops;
	double lo, hi;
	if (ttl == 0 || p->node[ttl] == TOPO_NONE)
		return 0;
	const struct algo_hop_trace_cell *all =
	    hop_trace_rank_cell_of(k->all, p, ttl);
	const uint32_t n = r->n_sent[ttl - 1], u = n - r->n_back[ttl - 1];
	flow->n_pkts = n;
	if (all->n == n)
		return 0;
	const double others =
	    (double)(all->n_silent - u) / (double)(all->n - n);
	/* A vote needs losses that chance hardly explains, or traces through
	 * healthy switches would vote as much as the others. */
	int rc = sim_binomial_interval(u, n, conf, &lo, &hi, e);
	if (rc == 0 && lo > others)
		flow->n_retx = u - (uint32_t)(others * n);
	return rc;
}

int algo_hop_trace_flows(struct algo_hop_trace_work *k, const struct topo *t,
    const struct agent_report report[], size_t n,
    const struct algo_hop_trace_rank_params *p, struct obs *out,
    struct sim_err *e)
{
	int rc;
	obs_clear(out);
	if ((rc = take_reports(k, t, report, n, e)) < 0)
		return rc;
	count_all(k, report);
	out->complete = 1;
	for (size_t i = 0; i < n; i++) {
		const struct agent_report *r = &report[i];
		struct algo_path path;
		struct obs_flow flow = {.src_host =
					    topo_addr_to_host(r->tuple.src_ip,
						t->n_hosts),
		    .dst_host = topo_addr_to_host(r->tuple.dst_ip, t->n_hosts),
		    .src_port = r->tuple.src_port,
		    .dst_port = r->tuple.dst_port};
		algo_path_map(t, r, ALGO_PARTIAL_KNOWN, &path);
		if ((rc = losses_of(k, i, r, p->conf, &flow, e)) < 0 ||
		    (rc = obs_add_flow(out, &flow, path.link, path.n_hops, e)) <
			0)
			return rc;
		out->n_flows++;
		out->n_packets += flow.n_pkts;
	}
	return 0;
}
