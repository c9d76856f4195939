/* algos/pingmesh/sla.c -- service level by scope: P50, P99 and drop rate.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/pingmesh/sla.h"

#include <math.h>
#include <stdlib.h>

#include "sim/vec.h"

/* How far the walk through the sorted probes has come in a scope. */
struct algo_sla_walk {
	uint64_t n_seen, rank50, rank99;
};

/* Servers under a ToR. */
struct algo_sla_tor {
	uint32_t n_judged, n_alerting;
};

const struct sim_field algo_sla_fields[] =
    {{.name = "max_drop_rate",
	 .type = SIM_F_F64,
	 .offset = offsetof(struct algo_sla_params, max_drop_rate),
	 .min = 0,
	 .max = 1,
	 .unit = "1",
	 .def = "1e-3",
	 .doc = "drop rate above which a scope alerts"},
	{.name = "max_p99_us",
	    .type = SIM_F_F64,
	    .offset = offsetof(struct algo_sla_params, max_p99_us),
	    .min = 0,
	    .max = 1e9,
	    .unit = "us",
	    .def = "5000",
	    .doc = "P99 above which a scope alerts"},
	{.name = "min_probes",
	    .type = SIM_F_U32,
	    .offset = offsetof(struct algo_sla_params, min_probes),
	    .min = 1,
	    .max = 1e9,
	    .unit = "probes",
	    .def = "1000",
	    .doc = "successes without which a scope is not judged"},
	{.name = "min_share",
	    .type = SIM_F_F64,
	    .offset = offsetof(struct algo_sla_params, min_share),
	    .min = 0,
	    .max = 1,
	    .unit = "1",
	    .def = "0.5",
	    .doc = "share of a ToR's servers that must alert for the "
		   "network to be at fault"},
	{0}};

void algo_sla_close(struct algo_sla *s)
{
	free(s->scope);
	free(s->verdict);
	free(s->n_servers);
	free(s->walk);
	free(s->tor);
	free(s->off);
	free(s->serves);
	*s = (struct algo_sla){0};
}

/* --- who serves what -------------------------------------------------------*/
/* off[] is built as a counting sort does it. Counts are put two places on, so
 * that after summing off[h + 1] is where the services of host h begin, and,
 * after each placed service has moved it, where they end, which is where those
 * of h + 1 begin. Servers in other data centres are left out. Returns how many
 * were counted. */
static uint32_t count_servers(struct algo_sla *s,
    const struct algo_sla_service *v)
{
	uint32_t n = 0;
	for (size_t i = 0; i < v->n; i++)
		if (topo_dc_has(&s->dc, v->server[i])) {
			s->off[topo_dc_index(&s->dc, v->server[i]) + 2]++;
			n++;
		}
	return n;
}

static void place_service(struct algo_sla *s, const struct algo_sla_service *v,
    uint32_t id)
{
	for (size_t i = 0; i < v->n; i++)
		if (topo_dc_has(&s->dc, v->server[i])) {
			const uint32_t h = topo_dc_index(&s->dc, v->server[i]);
			s->serves[s->off[h + 1]++] = id;
		}
}

static int place_servers(struct algo_sla *s,
    const struct algo_sla_service service[], uint32_t n_services,
    struct sim_err *e)
{
	for (uint32_t h = 0; h < s->dc.clos.all_hosts; h++)
		s->off[h + 2] += s->off[h + 1];
	for (uint32_t v = 0; v < n_services; v++)
		place_service(s, &service[v], v);
	/* Services were placed in their own order, so a host that one names
	 * twice has it twice in a row. */
	for (uint32_t h = 0; h < s->dc.clos.all_hosts; h++)
		for (size_t i = s->off[h] + 1; i < s->off[h + 1]; i++)
			if (s->serves[i] == s->serves[i - 1])
				return sim_fail(e, SIM_EINVAL,
				    "service %s: host %u is named twice.",
				    service[s->serves[i]].name,
				    s->dc.first_host + h);
	return 0;
}

static int map_services(struct algo_sla *s,
    const struct algo_sla_service service[], uint32_t n_services,
    struct sim_err *e)
{
	size_t n = 0;
	int rc;
	if ((rc = SIM_ZALLOC(&s->off, (size_t)s->dc.clos.all_hosts + 2, e)) < 0)
		return rc;
	for (uint32_t v = 0; v < n_services; v++) {
		s->n_servers[v] = count_servers(s, &service[v]);
		n += s->n_servers[v];
	}
	if ((rc = SIM_ZALLOC(&s->serves, n, e)) < 0)
		return rc;
	return place_servers(s, service, n_services, e);
}

int algo_sla_open(struct algo_sla *s, const struct topo_dc *dc,
    const struct algo_sla_params *params,
    const struct algo_sla_service service[], uint32_t n_services,
    struct sim_err *e)
{
	const struct topo_clos *shape = &dc->clos;
	const size_t n_of[ALGO_SLA_N_KINDS] = {shape->all_hosts,
	    shape->all_tors, shape->n_pods, 1, n_services};
	int rc;
	*s = (struct algo_sla){.params = *params, .dc = *dc};
	for (int k = 0; k < ALGO_SLA_N_KINDS; k++)
		s->first[k + 1] = s->first[k] + n_of[k];
	const size_t n_scopes = s->first[ALGO_SLA_N_KINDS];
	if ((rc = SIM_ZALLOC(&s->scope, n_scopes, e)) < 0 ||
	    (rc = SIM_ZALLOC(&s->walk, n_scopes, e)) < 0 ||
	    (rc = SIM_ZALLOC(&s->verdict, n_services, e)) < 0 ||
	    (rc = SIM_ZALLOC(&s->n_servers, n_services, e)) < 0 ||
	    (rc = SIM_ZALLOC(&s->tor, shape->all_tors, e)) < 0 ||
	    (rc = map_services(s, service, n_services, e)) < 0)
		algo_sla_close(s);
	return rc;
}

/* --- measuring -------------------------------------------------------------*/
/* The scopes that the host of index H is in, without its services: section 4.3
 * tracks servers, pods, podsets and data centres. Shape:
 * out[ALGO_SLA_SERVICE]. */
static void scopes_of(const struct algo_sla *s, uint32_t h, size_t out[])
{
	const uint32_t tor = h / s->dc.clos.n_hosts;
	out[ALGO_SLA_SERVER] = s->first[ALGO_SLA_SERVER] + h;
	out[ALGO_SLA_TOR] = s->first[ALGO_SLA_TOR] + tor;
	out[ALGO_SLA_POD] = s->first[ALGO_SLA_POD] + tor / s->dc.clos.n_tors;
	out[ALGO_SLA_DC] = s->first[ALGO_SLA_DC];
}

void algo_sla_clear(struct algo_sla *s)
{
	for (size_t i = 0; i < s->first[ALGO_SLA_N_KINDS]; i++)
		s->scope[i] = (struct algo_sla_scope){.drop_rate = NAN,
		    .p50_us = NAN,
		    .p99_us = NAN};
}

static void sla_add(struct algo_sla_scope *to, const struct algo_sla_scope *of)
{
	to->n_success += of->n_success;
	to->n_drop += of->n_drop;
}

/* Servers under one ToR follow each other, and so do the ToRs of a pod. */
void algo_sla_sum(struct algo_sla *s)
{
	const struct topo_clos *c = &s->dc.clos;
	struct algo_sla_scope *host = s->scope + s->first[ALGO_SLA_SERVER],
			      *tor = s->scope + s->first[ALGO_SLA_TOR],
			      *pod = s->scope + s->first[ALGO_SLA_POD],
			      *dc = s->scope + s->first[ALGO_SLA_DC],
			      *service = s->scope + s->first[ALGO_SLA_SERVICE];
	for (uint32_t t = 0, h = 0; t < c->all_tors; t++)
		for (uint32_t i = 0; i < c->n_hosts; i++, h++) {
			sla_add(&tor[t], &host[h]);
			for (size_t k = s->off[h]; k < s->off[h + 1]; k++)
				sla_add(&service[s->serves[k]], &host[h]);
		}
	for (uint32_t t = 0; t < c->all_tors; t++)
		sla_add(&pod[t / c->n_tors], &tor[t]);
	for (uint32_t p = 0; p < c->n_pods; p++)
		sla_add(dc, &pod[p]);
}

/* Successes and drops are counted by server and then added up: every other
 * scope is a set of servers, so each probe is looked at once and not once a
 * scope. The scopes of servers come first, so host h is scope h. */
void algo_sla_count(struct algo_sla *s, const struct algo_rtt_order *part,
    const struct algo_drop_ladder *ladder)
{
	for (size_t i = 0; i < part->n; i++) {
		const struct algo_rtt_probe *p = &part->probe[i];
		struct algo_sla_scope *of =
		    &s->scope[topo_dc_index(&s->dc, p->src_host)];
		of->n_success++;
		of->n_drop += algo_drop_n_lost(ladder, p->rtt_ns) > 0;
	}
}

/* The next probe in order of time belongs to SCOPE: when it is the one of the
 * rank looked for, its time is the quantile. */
static void sla_meet(struct algo_sla *s, size_t scope, uint64_t rtt_ns)
{
	struct algo_sla_walk *w = &s->walk[scope];
	w->n_seen++;
	if (w->n_seen == w->rank50)
		s->scope[scope].p50_us = (double)rtt_ns / 1e3;
	if (w->n_seen == w->rank99)
		s->scope[scope].p99_us = (double)rtt_ns / 1e3;
}

void algo_sla_rank(struct algo_sla *s)
{
	for (size_t i = 0; i < s->first[ALGO_SLA_N_KINDS]; i++) {
		const uint64_t n = s->scope[i].n_success;
		s->walk[i] = (struct algo_sla_walk){0, algo_rtt_rank(n, 50),
		    algo_rtt_rank(n, 99)};
	}
}

/* Unlike counts, quantiles of sets do not follow from those of their members,
 * so here each probe visits all of its scopes. */
void algo_sla_meet(struct algo_sla *s, const struct algo_rtt_order *part)
{
	for (size_t i = 0; i < part->n; i++) {
		const struct algo_rtt_probe *p = &part->probe[i];
		const uint32_t h = topo_dc_index(&s->dc, p->src_host);
		size_t in[ALGO_SLA_SERVICE];
		scopes_of(s, h, in);
		for (int k = 0; k < ALGO_SLA_SERVICE; k++)
			sla_meet(s, in[k], p->rtt_ns);
		for (size_t j = s->off[h]; j < s->off[h + 1]; j++)
			sla_meet(s, s->first[ALGO_SLA_SERVICE] + s->serves[j],
			    p->rtt_ns);
	}
}

/* --- judging ---------------------------------------------------------------*/
/* Section 4.3: alert when the drop rate is above 1e-3 or P99 above 5 ms.
 * DEPARTS: scopes of fewer than min_probes successes stay silent, as one lost
 * SYN of 500 would be twice the limit. */
static void raise_alerts(struct algo_sla *s)
{
	for (size_t i = 0; i < s->first[ALGO_SLA_N_KINDS]; i++) {
		struct algo_sla_scope *c = &s->scope[i];
		if (c->n_success > 0)
			c->drop_rate = (double)c->n_drop / (double)c->n_success;
		if (c->n_success < s->params.min_probes)
			continue;
		if (c->drop_rate > s->params.max_drop_rate)
			c->alerts |= ALGO_SLA_ALERT_DROP;
		if (c->p99_us > s->params.max_p99_us)
			c->alerts |= ALGO_SLA_ALERT_P99;
	}
	/* Servers are alerting or not by now, and are counted under their ToRs
	 * for the rules that follow. */
	for (uint32_t t = 0; t < s->dc.clos.all_tors; t++)
		s->tor[t] = (struct algo_sla_tor){0};
	const struct algo_sla_scope *host = s->scope;
	for (uint32_t t = 0; t < s->dc.clos.all_tors; t++)
		for (uint32_t i = 0; i < s->dc.clos.n_hosts; i++, host++) {
			s->tor[t].n_judged +=
			    host->n_success >= s->params.min_probes;
			s->tor[t].n_alerting += host->alerts != 0;
		}
}

/* Rule 3 to 5 of the header at one ToR: UNKNOWN, NETWORK or SERVERS for a
 * service that alerts. DEPARTS: these rules are ours. A single judged server
 * has no neighbours to compare with. */
static enum algo_sla_verdict ask_tor(const struct algo_sla *s, uint32_t tor)
{
	const struct algo_sla_tor *t = &s->tor[tor];
	if (t->n_judged < 2)
		return ALGO_SLA_UNKNOWN;
	return t->n_alerting >= s->params.min_share * t->n_judged &&
		t->n_alerting > 0
	    ? ALGO_SLA_NETWORK
	    : ALGO_SLA_SERVERS;
}

/* Any ToR that finds the network at fault outvotes the others: it is enough for
 * the service to suffer. A ToR that finds only servers slow outvotes those that
 * cannot tell. */
static void judge_services(struct algo_sla *s)
{
	const struct algo_sla_scope *of = &s->scope[s->first[ALGO_SLA_SERVICE]];
	const size_t n_services =
	    s->first[ALGO_SLA_N_KINDS] - s->first[ALGO_SLA_SERVICE];
	/* Rules 1 and 2; a service that alerts stays UNKNOWN until one of its
	 * ToRs says more. */
	for (size_t v = 0; v < n_services; v++)
		s->verdict[v] =
		    of[v].n_success < s->params.min_probes || of[v].alerts
		    ? ALGO_SLA_UNKNOWN
		    : ALGO_SLA_NOT_NETWORK;
	for (uint32_t h = 0; h < s->dc.clos.all_hosts; h++) {
		for (size_t i = s->off[h]; i < s->off[h + 1]; i++) {
			const uint32_t v = s->serves[i];
			const enum algo_sla_verdict says =
			    ask_tor(s, h / s->dc.clos.n_hosts);
			if (of[v].alerts && s->verdict[v] != ALGO_SLA_NETWORK &&
			    says != ALGO_SLA_UNKNOWN)
				s->verdict[v] = says;
		}
	}
}

void algo_sla_judge(struct algo_sla *s)
{
	raise_alerts(s);
	judge_services(s);
}

/* Counts come first, since ranks follow from them; then one walk by time for all
 * quantiles. */
void algo_sla_measure(struct algo_sla *s, const struct algo_rtt_order *order,
    const struct algo_drop_ladder *ladder)
{
	s->order = order;
	algo_sla_clear(s);
	algo_sla_count(s, order, ladder);
	algo_sla_sum(s);
	algo_sla_rank(s);
	algo_sla_meet(s, order);
	algo_sla_judge(s);
}
