/* experiments/everflow/probers.c -- agents that send guided probes, simulated.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/everflow/probers.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "models/fabric.h"
#include "sim/evq.h"
#include "sim/vec.h"

/* A message that waits to be heard. */
struct prober_mail {
	topo_host host;
	size_t n;
	unsigned char *bytes; /* owned */
};

struct xp_probers {
	struct fabric base; /* first: agents live on it */
	struct fabric_agents agents;
	struct sim_evq *timers;
	const struct xp_probers_wire *wire;
	sim_ns now;
	struct prober_mail *mail; /* those before `heard` were */
	size_t n_mail, cap_mail, heard;
	/* Orders of one round by host; and who has had some. */
	struct algo_probe_order *round;
	size_t n_round, cap_round;
	uint8_t *has_orders; /* [n_hosts] */
};

/* --- the fabric ----------------------------------------------------------- */

static sim_ns probers_now(const struct fabric *f)
{
	return ((const struct xp_probers *)f)->now;
}

static int probers_submit(struct fabric *f, topo_host host,
    const struct agent_action *a, size_t n, struct sim_err *e)
{
	struct xp_probers *p = (struct xp_probers *)f;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < n; i++) {
		const sim_ns at = a[i].at_ns > p->now ? a[i].at_ns : p->now;
		/* The address of a host's state says whose timer it is. */
		const struct sim_event ev = {.t = at,
		    .arg = p->agents.state + host * p->agents.stride,
		    .aux = a[i].token};
		if (a[i].kind == AGENT_SET_TIMER)
			rc = sim_evq_put(p->timers, &ev, e);
		else if (a[i].kind == AGENT_SEND)
			rc = p->wire->send(p->wire->arg, host, p->now,
			    a[i].data, a[i].n_bytes, e);
		else
			rc = sim_fail(e, SIM_EUNSUPPORTED,
			    "Action %d: probers send and wait, no more.",
			    (int)a[i].kind);
	}
	return rc;
}

/* Messages come before timers of the same time. One event a call, as any action
 * may set a timer before the next. */
static int probers_poll(struct fabric *f, sim_ns until, struct agent_event *ev,
    topo_host *host, sim_ns *at, size_t cap, size_t *n, struct sim_err *e)
{
	struct xp_probers *p = (struct xp_probers *)f;
	struct sim_event timer;
	(void)cap, (void)e;
	*n = 1;
	if (p->heard < p->n_mail) {
		const struct prober_mail *m = &p->mail[p->heard++];
		*ev = (struct agent_event){.kind = AGENT_ORDER,
		    .data = m->bytes,
		    .n = m->n};
		*host = m->host;
	} else if (sim_evq_pop(p->timers, until, &timer)) {
		const unsigned char *state = timer.arg;
		p->now = timer.t;
		*ev = (struct agent_event){.kind = AGENT_TIMER,
		    .token = timer.aux};
		*host = (topo_host)((size_t)(state - p->agents.state) /
		    p->agents.stride);
	} else {
		*n = 0;
		p->now = until;
	}
	*at = p->now;
	return 0;
}

static const struct fabric_ops probers_ops = {
    .name = "everflow",
    .now = probers_now,
    .submit = probers_submit,
    .poll = probers_poll,
};

/* --- open, begin ---------------------------------------------------------- */

int xp_probers_open(struct xp_probers **out, uint32_t n_hosts,
    const struct algo_prober_params *params, const struct xp_probers_wire *wire,
    struct sim_err *e)
{
	struct xp_probers *p;
	*out = NULL;
	int rc = SIM_ZALLOC(&p, 1, e);
	if (rc < 0)
		return rc;
	p->base = (struct fabric){.ops = &probers_ops, .n_hosts = n_hosts};
	p->wire = wire;
	if ((rc = fabric_agents_open(&p->agents, &algo_prober, params, n_hosts,
		 e)) < 0 ||
	    (rc = SIM_ZALLOC(&p->has_orders, n_hosts, e)) < 0) {
		xp_probers_close(p);
		return rc;
	}
	*out = p;
	return 0;
}

static void probers_forget_mail(struct xp_probers *p)
{
	for (size_t i = 0; i < p->n_mail; i++)
		free(p->mail[i].bytes);
	p->n_mail = p->heard = 0;
}

void xp_probers_close(struct xp_probers *p)
{
	if (!p)
		return;
	probers_forget_mail(p);
	free(p->mail);
	free(p->round);
	free(p->has_orders);
	sim_evq_close(p->timers);
	fabric_agents_close(&p->agents);
	free(p);
}

int xp_probers_begin(struct xp_probers *p, const struct sim_seed *where,
    struct sim_err *e)
{
	/* A queue's clock does not go back, so each run has a new one. */
	sim_evq_close(p->timers);
	p->timers = NULL;
	p->now = 0;
	probers_forget_mail(p);
	memset(p->has_orders, 0, p->base.n_hosts);
	fabric_agents_renew(&p->agents, where);
	return sim_evq_open(&p->timers, e);
}

/* --- orders --------------------------------------------------------------- */

/* Any host will do, as probes are led to where they are wanted. Neighbouring ids
 * are often about one link, so they are spread. */
static topo_host prober_of(const struct xp_probers *p, uint32_t id)
{
	return (topo_host)((uint64_t)topo_mix32(id) * p->base.n_hosts >> 32);
}

/* The first N orders of the round are posted to HOST, as one message. */
static int post_order(struct xp_probers *p, topo_host host, size_t n,
    struct sim_err *e)
{
	struct prober_mail *m;
	int rc = SIM_RESERVE(&p->mail, &p->cap_mail, p->n_mail + 1, e);
	if (rc < 0)
		return rc;
	m = &p->mail[p->n_mail];
	*m = (struct prober_mail){.host = host};
	if ((rc = SIM_ZALLOC(&m->bytes, ALGO_PROBER_MESSAGE, e)) < 0)
		return rc;
	m->n = algo_prober_write(p->round, n, 0, m->bytes);
	p->n_mail++;
	return 0;
}

static int order_host(struct xp_probers *p, topo_host host,
    const struct algo_probe_order order[], size_t n, struct sim_err *e)
{
	struct algo_prober_status status;
	int rc = SIM_RESERVE(&p->round, &p->cap_round, ALGO_PROBER_ORDERS, e);
	p->n_round = 0;
	for (size_t i = 0; rc == 0 && i < n; i++) {
		if (prober_of(p, order[i].id) != host)
			continue;
		p->round[p->n_round++] = order[i];
		if (p->n_round == ALGO_PROBER_ORDERS) {
			rc = post_order(p, host, p->n_round, e);
			p->n_round = 0;
		}
		p->has_orders[host] = 1;
	}
	if (rc < 0 || !p->has_orders[host])
		return rc;
	if (p->n_round > 0)
		return post_order(p, host, p->n_round, e);
	algo_prober_status(p->agents.state + host * p->agents.stride, &status);
	p->has_orders[host] = status.n_live > 0;
	return p->has_orders[host] ? post_order(p, host, 0, e) : 0;
}

int xp_probers_order(struct xp_probers *p,
    const struct algo_probe_order order[], size_t n, struct sim_err *e)
{
	int rc = 0;
	if (p->heard == p->n_mail)
		probers_forget_mail(p);
	for (topo_host h = 0; rc == 0 && h < p->base.n_hosts; h++)
		rc = order_host(p, h, order, n, e);
	return rc;
}

int xp_probers_run(struct xp_probers *p, sim_ns until, struct sim_err *e)
{
	return fabric_run(&p->base, &p->agents, until, NULL, NULL, e);
}
