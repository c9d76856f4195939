/* models/fault/outage.c -- hosts, pods, sessions and services that fail.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>

#include "models/dist.h"
#include "models/fault/draw.h"
#include "sim/vec.h"

/* Hosts, pods or cables, of which some are off, or behave badly. */
struct ids {
	uint32_t n, n_off;
	uint32_t *list; /* those that are off come first */
};

static const char *outage_does(uint32_t kind)
{
	switch ((enum fault_kind)kind) {
	case FAULT_MUX_LOOP:
		return "loop";
	case FAULT_STORM:
		return "storm";
	case FAULT_BGP_FLAP:
		return "flap";
	default:
		return "be off";
	}
}

/* List all N ids, and check those that the group names. OF is what they are
 * called in messages. */
static int open_ids(struct ids *s, const struct fault_params *g, uint32_t n,
    const char *of, struct sim_err *e)
{
	int rc = SIM_ZALLOC(&s->list, n, e);
	if (rc < 0)
		return rc;
	for (s->n = 0; s->n < n; s->n++)
		s->list[s->n] = s->n;
	s->n_off = g->n_at > 0 ? (uint32_t)g->n_at : g->count;
	for (size_t i = 0; i < g->n_at; i++) {
		if (g->at[i] >= n)
			return sim_fail(e, SIM_EINVAL,
			    "%s %u is not in [0, %u].", of, g->at[i], n - 1);
		for (size_t k = 0; k < i; k++)
			if (g->at[k] == g->at[i])
				return sim_fail(e, SIM_EINVAL,
				    "%s %u is named twice.", of, g->at[i]);
	}
	if (s->n_off > n)
		return sim_fail(e, SIM_ELIMIT,
		    "%u %ss are to %s, but there are %u.", s->n_off, of,
		    outage_does(g->kind), n);
	return 0;
}

/* The I-th that is off: the one named, or else a step of a Fisher-Yates
 * shuffle, which takes each id once at most. */
static uint32_t next_id(struct ids *s, const struct fault_params *g, uint32_t i,
    struct sim_rng *r)
{
	if (g->n_at > 0)
		return g->at[i];
	const uint32_t j = i + sim_rng_below(r, s->n - i);
	const uint32_t id = s->list[j];
	s->list[j] = s->list[i];
	s->list[i] = id;
	return id;
}

static int add_outage(struct truth *truth, enum truth_outage_kind kind,
    uint32_t id, const struct fault_span *when, struct sim_err *e)
{
	const struct truth_outage o = {
	    .kind = kind,
	    .id = id,
	    .from_ns = when->from_ns,
	    .to_ns = when->to_ns,
	};
	return truth_add_outage(truth, &o, e);
}

/* A link of something without power loses every packet. */
static int cut_link(struct truth *truth, topo_link l,
    const struct fault_span *when, struct sim_err *e)
{
	const struct truth_fault f = {
	    .link = l,
	    .rate = 1,
	    .from_ns = when->from_ns,
	    .to_ns = when->to_ns,
	};
	return truth_add_fault(truth, &f, e);
}

/* What a host sends back goes out by its cable, which does nothing wrong. */
static int host_loops(struct fault_draw *d, topo_host h,
    const struct fault_span *when, struct sim_err *e)
{
	const struct truth_fault f = {
	    .link = topo_link_of(h, TOPO_UP),
	    .from_ns = when->from_ns,
	    .to_ns = when->to_ns,
	    .of_route = 1,
	};
	const int rc = add_outage(d->truth, TRUTH_MUX_LOOP, h, when, e);
	return rc < 0 ? rc : truth_add_fault(d->truth, &f, e);
}

static int host_fails(struct fault_draw *d, topo_host h, struct sim_err *e)
{
	const struct fault_span when = fault_span(d);
	int rc;
	if (d->group->kind == FAULT_MUX_LOOP)
		return host_loops(d, h, &when, e);
	if (d->group->kind == FAULT_STORM)
		return add_outage(d->truth, TRUTH_STORM, h, &when, e);
	if ((rc = add_outage(d->truth, TRUTH_HOST_OFF, h, &when, e)) < 0 ||
	    (rc = cut_link(d->truth, topo_link_of(h, TOPO_UP), &when, e)) < 0)
		return rc;
	return cut_link(d->truth, topo_link_of(h, TOPO_DOWN), &when, e);
}

int fault_draw_hosts(struct fault_draw *d, struct sim_err *e)
{
	struct ids s = {0};
	int rc = open_ids(&s, d->group, d->topo->n_hosts, "host", e);
	for (uint32_t i = 0; rc == 0 && i < s.n_off; i++)
		rc = host_fails(d, next_id(&s, d->group, i, &d->outage), e);
	free(s.list);
	return rc;
}

/* --- BGP sessions --------------------------------------------------------- */

/* The cables that links name, which must be between switches and each of its
 * own, counted from the first such: cables of hosts come before. */
static int name_cables(const struct topo *t, const struct fault_params *g,
    uint32_t cable[], struct sim_err *e)
{
	for (size_t i = 0; i < g->n_links; i++) {
		const topo_link l = g->links[i];
		if (l >= t->n_links)
			return sim_fail(e, SIM_EINVAL,
			    "link %u is not in [0, %u].", l, t->n_links - 1);
		if (l / 2 < t->n_hosts)
			return sim_fail(e, SIM_EINVAL,
			    "link %u is a host's, which has no BGP session.",
			    l);
		cable[i] = l / 2 - t->n_hosts;
		for (size_t k = 0; k < i; k++)
			if (cable[k] == cable[i])
				return sim_fail(e, SIM_EINVAL,
				    "links %u and %u have one BGP session, "
				    "which is named twice.",
				    g->links[k], l);
	}
	return 0;
}

int fault_draw_sessions(struct fault_draw *d, struct sim_err *e)
{
	const struct topo *t = d->topo;
	struct fault_params g = *d->group;
	struct ids s = {0};
	uint32_t *cable = NULL;
	int rc = 0;
	g.n_at = g.n_links;
	if (g.n_at > 0 && (rc = SIM_ZALLOC(&cable, g.n_at, e)) == 0)
		rc = name_cables(t, &g, cable, e);
	g.at = cable;
	if (rc == 0)
		rc = open_ids(&s, &g, t->n_links / 2 - t->n_hosts,
		    "BGP session", e);
	for (uint32_t i = 0; rc == 0 && i < s.n_off; i++) {
		const struct fault_span when = fault_span(d);
		rc = add_outage(d->truth, TRUTH_BGP_FLAP,
		    t->n_hosts + next_id(&s, &g, i, &d->outage), &when, e);
	}
	free(cable);
	free(s.list);
	return rc;
}

/* --- pods ----------------------------------------------------------------- */

/* Mark the nodes of a pod in IN: its hosts, their ToRs, and the switches next
 * to those, which in a Clos are the pod's own T1s. Whatever is not marked yet
 * beside a ToR then is above it. */
static void mark_pod(const struct topo *t, uint32_t pod, uint8_t in[])
{
	enum { HOST = 1, TOR, ABOVE };
	for (topo_node i = 0; i < t->n_hosts + t->n_switches; i++)
		in[i] = 0;
	for (topo_host h = 0; h < t->n_hosts; h++)
		if (topo_pod_of(t, h) == pod) {
			in[h] = HOST;
			in[t->n_hosts + topo_tor_of(t, h)] = TOR;
		}
	for (topo_link l = 0; l < t->n_links; l++) {
		topo_node from, to;
		topo_link_ends(t, l, &from, &to);
		if (in[from] == TOR && in[to] == 0)
			in[to] = ABOVE;
	}
}

static int cut_pod(struct fault_draw *d, const uint8_t in[],
    const struct fault_span *when, struct sim_err *e)
{
	const struct topo *t = d->topo;
	int rc = 0;
	for (topo_link l = 0; rc == 0 && l < t->n_links; l++) {
		topo_node end[2];
		topo_link_ends(t, l, &end[0], &end[1]);
		if (!in[end[0]] && !in[end[1]])
			continue;
		rc = cut_link(d->truth, l, when, e);
		for (int i = 0; rc == 0 && i < 2; i++)
			/* A link between two switches of the pod is part of the
			 * failure of both. */
			if (in[end[i]] && end[i] >= t->n_hosts)
				rc = truth_add_part(d->truth, l,
				    end[i] - t->n_hosts, e);
	}
	return rc;
}

static int pod_off(struct fault_draw *d, uint32_t pod, uint8_t in[],
    struct sim_err *e)
{
	const struct fault_span when = fault_span(d);
	int rc = add_outage(d->truth, TRUTH_POD_OFF, pod, &when, e);
	mark_pod(d->topo, pod, in);
	for (topo_host h = 0; rc == 0 && h < d->topo->n_hosts; h++)
		if (in[h])
			rc = add_outage(d->truth, TRUTH_HOST_OFF, h, &when, e);
	return rc < 0 ? rc : cut_pod(d, in, &when, e);
}

int fault_draw_pods(struct fault_draw *d, struct sim_err *e)
{
	const struct topo *t = d->topo;
	/* Hosts are numbered pod by pod, so the last host is in the last
	 * pod. */
	const uint32_t last = topo_pod_of(t, t->n_hosts - 1);
	struct ids s = {0};
	uint8_t *in = NULL;
	int rc;
	if (last == TOPO_NONE)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "kind pod_off needs pods; this graph has none.");
	if ((rc = SIM_ZALLOC(&in, t->n_hosts + t->n_switches, e)) == 0)
		rc = open_ids(&s, d->group, last + 1, "pod", e);
	for (uint32_t i = 0; rc == 0 && i < s.n_off; i++)
		rc = pod_off(d, next_id(&s, d->group, i, &d->outage), in, e);
	free(in);
	free(s.list);
	return rc;
}

/* --- services ------------------------------------------------------------- */

int fault_draw_services(struct fault_draw *d, struct sim_err *e)
{
	const struct fault_params *g = d->group;
	const int collects = g->kind == FAULT_COLLECTOR;
	int rc = 0;
	if (collects && g->mode != TRUTH_DOWN && g->mode != TRUTH_SLOW)
		return sim_fail(e, SIM_EINVAL,
		    "the collector sends no documents: its mode is down or "
		    "slow.");
	for (uint32_t i = 0; rc == 0 && i < g->count; i++) {
		/* The delay is drawn in every mode, so that another mode leaves
		 * the times of later outages where they are. */
		const double delay_us =
		    dist_at(&g->delay, sim_rng_u01(&d->outage));
		const struct fault_span when = fault_span(d);
		const struct truth_outage o = {
		    .kind = collects ? TRUTH_COLLECTOR : TRUTH_CONTROLLER,
		    .mode = g->mode,
		    .from_ns = when.from_ns,
		    .to_ns = when.to_ns,
		    .delay_us = g->mode == TRUTH_SLOW ? delay_us : 0,
		};
		rc = truth_add_outage(d->truth, &o, e);
	}
	return rc;
}
