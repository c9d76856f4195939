/* models/netns/faults.c -- a scene's faults on a real network, and their truth.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A truth says when each fault begins and ends; a link can only be told what it
 * is to do now. So a plan is made of what holds at one time, and whoever runs
 * the network calls again when the next fault begins or ends. How a link does
 * it is the business of eBPF or of nft.
 */
#include "models/netns/faults.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "models/bpf/lab.h"
#include "models/netns/faults_impl.h"
#include "sim/vec.h"

/* --- from a truth to a plan ----------------------------------------------- */

/* All is checked before anything changes, so that a plan is carried out wholly
 * or not at all. */
static int netns_faults_check(const struct netns_faults *f,
    const struct truth *truth, struct sim_err *e)
{
	const struct topo *t = f->t;
	for (size_t i = 0; i < truth->n_faults; i++)
		if (truth->fault[i].link >= t->n_links)
			return sim_fail(e, SIM_ERANGE,
			    "A fault is on link %u, but the network has links "
			    "0 to %u.",
			    truth->fault[i].link, t->n_links - 1);
	for (size_t i = 0; i < truth->n_holes; i++)
		if (truth->hole[i].at >= t->n_switches)
			return sim_fail(e, SIM_ERANGE,
			    "A black hole is at switch %u, but the network has "
			    "switches 0 to %u.",
			    truth->hole[i].at, t->n_switches - 1);
	return netns_routing_check(f, truth, e);
}

/* Half open, so that of two faults that follow each other exactly one holds at
 * the time between. */
static int is_active(sim_ns from, sim_ns to, sim_ns now)
{
	return from <= now && now < to;
}

static int plan_holes(struct netns_faults_plan *plan, const struct truth *truth,
    sim_ns now, struct sim_err *e)
{
	uint32_t n_here = 0;
	int rc = SIM_RESERVE(&plan->hole, &plan->cap_holes, truth->n_holes, e);
	if (rc < 0)
		return rc;
	plan->n_holes = 0;
	for (size_t i = 0; i < truth->n_holes; i++) {
		const struct truth_hole *h = &truth->hole[i];
		if (i == 0 || truth->hole[i - 1].at != h->at)
			n_here = 0;
		if (!is_active(h->from_ns, h->to_ns, now))
			continue;
		/* The loop over holes in the kernel needs a bound that the
		 * verifier can see. */
		if (++n_here > LAB_MAX_HOLES)
			return sim_fail(e, SIM_ELIMIT,
			    "Switch %u has more than %d black holes at once.",
			    h->at, LAB_MAX_HOLES);
		plan->hole[plan->n_holes++] = h->rule;
	}
	return 0;
}

/* Give the links into each switch their range of the plan's holes. The truth is
 * sorted by switch and the plan keeps its order, so the holes of a switch are
 * neighbours, and those before them are the ones of switches with lower
 * numbers. */
static void give_holes(struct netns_faults *f, const struct truth *truth,
    sim_ns now)
{
	for (topo_link l = 0; l < f->t->n_links; l++) {
		const topo_node end = netns_faults_end(f, l);
		struct netns_faults_link *link = &f->plan.link[l];
		link->first_hole = link->n_holes = 0;
		/* Hosts have no black holes. */
		if (truth->n_holes == 0 || end < f->t->n_hosts)
			continue;
		const topo_switch s = end - f->t->n_hosts;
		for (size_t i = 0; i < truth->n_holes; i++) {
			const struct truth_hole *h = &truth->hole[i];
			if (!is_active(h->from_ns, h->to_ns, now))
				continue;
			link->first_hole += h->at < s;
			link->n_holes += h->at == s;
		}
	}
}

/* What each link does at NOW. Hazards of all faults add up; the rate is what
 * their sum comes to. Returns how many faults of latency are active. */
static uint32_t plan_links(struct netns_faults *f,
    const struct scene_loss *loss, sim_ns now)
{
	const struct truth *truth = loss->truth;
	uint32_t n_slow = 0;
	for (topo_link l = 0; l < f->t->n_links; l++) {
		/* 1 - exp(-hazard), which keeps its digits for rates of
		 * 1e-8. */
		f->plan.link[l].rate = -expm1(-scene_loss_hazard(loss, l, now));
		f->plan.link[l].slow = 0;
	}
	for (size_t i = 0; i < truth->n_faults; i++) {
		const struct truth_fault *x = &truth->fault[i];
		if (!truth_is_slow(x) || !is_active(x->from_ns, x->to_ns, now))
			continue;
		f->plan.link[x->link].slow = 1;
		n_slow++;
	}
	return n_slow;
}

static int no_delay(const struct netns_faults *f, struct sim_err *e)
{
	return sim_fail(e, SIM_EUNSUPPORTED,
	    "Faults of latency take eBPF and /dev/net/tun, which are not both "
	    "to be had here%s%s.",
	    f->caps.why[0] ? ": " : "", f->caps.why);
}

int netns_faults_apply(struct netns_faults *f, const struct scene_loss *loss,
    sim_ns now, struct sim_err *e)
{
	int rc;
	if ((rc = netns_faults_check(f, loss->truth, e)) < 0 ||
	    (rc = plan_holes(&f->plan, loss->truth, now, e)) < 0)
		return rc;
	/* Taps are made before any link is told to use one. */
	if (plan_links(f, loss, now) > 0) {
		rc = f->delay ? netns_delay_taps(f->delay, e) : no_delay(f, e);
		if (rc < 0)
			return rc;
	}
	give_holes(f, loss->truth, now);
	/* Delays go first: a link whose packets still wait stays slow in the
	 * plan, which is then carried out. */
	if (f->delay &&
	    (rc = netns_delay_apply(f->delay, loss->truth, now, e)) < 0)
		return rc;
	if ((rc = netns_routing_apply(f, loss->truth, now, e)) < 0)
		return rc;
	return f->ops->apply(f, e);
}

/* Only what is still to come counts, or the caller would be told of the same
 * moment for ever. */
static sim_ns nearer(sim_ns next, sim_ns t, sim_ns now)
{
	return t > now && t < next ? t : next;
}

sim_ns netns_faults_next(const struct truth *truth, sim_ns now)
{
	sim_ns next = SIM_NEVER;
	for (size_t i = 0; i < truth->n_faults; i++) {
		next = nearer(next, truth->fault[i].from_ns, now);
		next = nearer(next, truth->fault[i].to_ns, now);
	}
	for (size_t i = 0; i < truth->n_holes; i++) {
		next = nearer(next, truth->hole[i].from_ns, now);
		next = nearer(next, truth->hole[i].to_ns, now);
	}
	for (size_t i = 0; i < truth->n_routes; i++) {
		next = nearer(next, truth->route[i].from_ns, now);
		next = nearer(next, truth->route[i].to_ns, now);
	}
	return next;
}

/* --- opening and closing -------------------------------------------------- */

/* By the first way that can be had. Only "not to be had here" leads on to the
 * next way; a mistake of eBPF itself must not be hidden behind nft, which tells
 * less. */
static int open_some(struct netns_faults **f, const struct netns_net *net,
    const struct topo *t, const struct netns_faults_params *p,
    struct sim_err *e)
{
	struct sim_err why = {0}, also = {0};
	int rc;
	if (p->by == NETNS_FAULTS_NFT)
		return netns_faults_nft_open(f, net, t, p, e);
	/* The reason goes to a message of its own, for nft may do and then it
	 * is no error. */
	rc = netns_faults_ebpf_open(f, net, t, p, &why);
	if (rc != SIM_EUNSUPPORTED || p->by == NETNS_FAULTS_EBPF)
		return rc < 0 ? sim_fail(e, rc, "%s", why.msg) : 0;
	if ((rc = netns_faults_nft_open(f, net, t, p, &also)) < 0)
		return sim_fail(e, rc, "%.500s And without it: %.400s", why.msg,
		    also.msg);
	snprintf((*f)->caps.why, sizeof((*f)->caps.why), "%.255s", why.msg);
	return 0;
}

int netns_faults_open(struct netns_faults **out, const struct netns_net *net,
    const struct topo *t, const struct netns_faults_params *p,
    struct sim_err *e)
{
	struct netns_faults *f = NULL;
	int rc;
	*out = NULL;
	if (!(p->syn_timeout_s >= 0 && p->syn_timeout_s <= 120))
		return sim_fail(e, SIM_ERANGE,
		    "syn_timeout_s %g is not in [0, 120].", p->syn_timeout_s);
	if ((rc = open_some(&f, net, t, p, e)) < 0)
		return rc;
	if ((rc = SIM_ZALLOC(&f->plan.link, t->n_links, e)) == 0 &&
	    f->ops->attach_tap)
		rc = netns_delay_open(&f->delay, f, e);
	if (rc < 0) {
		netns_faults_close(f);
		return rc;
	}
	f->caps.delay = f->delay != NULL;
	*out = f;
	return 0;
}

void netns_faults_close(struct netns_faults *f)
{
	if (!f)
		return;
	/* In this order: while a program still redirects to taps, these must be
	 * there. */
	netns_routing_undo(f, NULL);
	f->ops->close(f);
	netns_delay_close(f->delay);
	free(f->plan.link);
	free(f->plan.hole);
	free(f->steer);
	free(f);
}

/* --- the rest is of the way it is done ------------------------------------ */

const struct netns_faults_caps *netns_faults_caps(const struct netns_faults *f)
{
	return &f->caps;
}

/* nft leaves out what it cannot tell; who asks for it gets a reason instead of
 * an empty list, which would look like a network without losses. */
static int netns_faults_none(const char *what, struct sim_err *e)
{
	return sim_fail(e, SIM_EUNSUPPORTED,
	    "Without eBPF, %s are not to be had.", what);
}

int netns_faults_count(struct netns_faults *f, struct netns_link_count count[],
    struct sim_err *e)
{
	return f->ops->count(f, count, e);
}

int netns_faults_drops(struct netns_faults *f, struct netns_drop **list,
    size_t *cap, size_t *n, struct sim_err *e)
{
	*n = 0;
	return f->ops->drops ? f->ops->drops(f, list, cap, n, e)
			     : netns_faults_none("drops of flows", e);
}

int netns_faults_drop_of(struct netns_faults *f, struct netns_drop *d,
    struct sim_err *e)
{
	return f->ops->drop_of ? f->ops->drop_of(f, d, e)
			       : netns_faults_none("drops of flows", e);
}

int netns_faults_audit(struct netns_faults *f, struct netns_audit out[],
    size_t *n, struct sim_err *e)
{
	*n = 0;
	return f->ops->audit ? f->ops->audit(f, out, n, e)
			     : netns_faults_none("reasons of other drops", e);
}

/* -1 is no descriptor: nobody waits for what does not come. */
int netns_faults_retx_fd(const struct netns_faults *f)
{
	return f->ops->retx_fd ? f->ops->retx_fd(f) : -1;
}

int netns_faults_retx_read(struct netns_faults *f, struct netns_retx out[],
    size_t cap, size_t *n, struct sim_err *e)
{
	*n = 0;
	return f->ops->retx_read ? f->ops->retx_read(f, out, cap, n, e)
				 : netns_faults_none("retransmissions", e);
}

/* Agents need the flow and whether it was established; the number of the node
 * and the time stay here. */
static int read_for_agents(void *arg, struct fabric_real_retx out[], size_t cap,
    size_t *n, struct sim_err *e)
{
	struct netns_retx some[64];
	const size_t most = sizeof(some) / sizeof(some[0]);
	int rc =
	    netns_faults_retx_read(arg, some, cap < most ? cap : most, n, e);
	for (size_t i = 0; i < *n; i++)
		out[i] = (struct fabric_real_retx){some[i].tuple,
		    some[i].established};
	return rc;
}

struct fabric_real_retx_source netns_faults_retx_source(struct netns_faults *f)
{
	return (struct fabric_real_retx_source){.arg = f,
	    .fd = netns_faults_retx_fd(f),
	    .read = read_for_agents};
}

int netns_faults_retx_lost(struct netns_faults *f, uint64_t *n,
    struct sim_err *e)
{
	*n = 0;
	return f->ops->retx_lost ? f->ops->retx_lost(f, n, e)
				 : netns_faults_none("retransmissions", e);
}

int netns_faults_delay_fd(const struct netns_faults *f)
{
	return f->delay ? netns_delay_fd(f->delay) : -1;
}

int netns_faults_delay_step(struct netns_faults *f, struct sim_err *e)
{
	return f->delay ? netns_delay_step(f->delay, e) : no_delay(f, e);
}

void netns_faults_delay_count(const struct netns_faults *f,
    struct netns_delay_count *c)
{
	*c = (struct netns_delay_count){0};
	if (f->delay)
		netns_delay_count(f->delay, c);
}
