/* models/fabric.c -- the one loop that joins agents and a fabric.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/fabric.h"

#include <stdlib.h>

#include "sim/vec.h"

int fabric_agents_open(struct fabric_agents *a, const struct agent_ops *ops,
    const void *params, uint32_t n_hosts, struct sim_err *e)
{
	int rc;
	*a = (struct fabric_agents){
	    .ops = ops,
	    .params = params,
	    .n_hosts = n_hosts,
	    /* States follow each other at multiples of 16 bytes, the alignment
	     * that agent_ops promises. */
	    .stride = (ops->state_size + 15) / 16 * 16,
	};
	if ((rc = sim_zalloc(&a->state, n_hosts, a->stride, e)) < 0 ||
	    (rc = SIM_ZALLOC(&a->rng, n_hosts, e)) < 0 ||
	    (rc = SIM_ZALLOC(&a->life, n_hosts, e)) < 0)
		fabric_agents_close(a);
	return rc;
}

void fabric_agents_close(struct fabric_agents *a)
{
	free(a->state);
	free(a->rng);
	free(a->life);
	*a = (struct fabric_agents){0};
}

void fabric_agents_renew(struct fabric_agents *a, const struct sim_seed *where)
{
	a->where = *where;
	if (++a->now_living != 0)
		return;
	/* A host's agent lives if its number is that of the present epoch, so
	 * nothing need be cleared. Once in 2^32 epochs the numbers start again,
	 * and an old one could be taken for the present: then all are set to 0,
	 * which no epoch has. */
	for (uint32_t h = 0; h < a->n_hosts; h++)
		a->life[h] = 0;
	a->now_living = 1;
}

/* The loop with what its parts share. */
struct loop {
	struct fabric *f;
	struct fabric_agents *a;
	fabric_report_fn *report;
	void *arg;
	struct agent_out out;
};

/* Reports are for the caller alone, and come to it in their order among the
 * actions. What stands between two reports goes to the fabric in one call. */
static int carry_out(struct loop *l, topo_host host, sim_ns at,
    struct sim_err *e)
{
	const struct agent_out *out = &l->out;
	size_t i = 0;
	int rc = 0;
	while (rc == 0 && i < out->n) {
		size_t n = i;
		while (n < out->n && out->action[n].kind != AGENT_REPORT)
			n++;
		if (n > i)
			rc = l->f->ops->submit(l->f, host, &out->action[i],
			    n - i, e);
		if (rc == 0 && n < out->n)
			rc = l->report(l->arg, host, at, &out->action[n].report,
			    e);
		i = n + 1;
	}
	return rc;
}

static int fabric_loop_step(struct loop *l, topo_host host, sim_ns at,
    const struct agent_event *ev, struct sim_err *e)
{
	struct fabric_agents *a = l->a;
	l->out.n = 0;
	int rc = a->ops->step(a->state + host * a->stride, at, ev,
	    &a->rng[host], &l->out, e);
	return rc < 0 ? rc : carry_out(l, host, at, e);
}

/* Make the agent in its initial state and send it AGENT_START. Its stream of
 * random numbers begins with its first start in an epoch and goes on after
 * later ones: a host that comes back must not repeat the ports that it drew
 * before. */
static int fabric_loop_start(struct loop *l, topo_host host, sim_ns at,
    struct sim_err *e)
{
	static const struct agent_event ev = {.kind = AGENT_START};
	struct fabric_agents *a = l->a;
	if (a->life[host] != a->now_living)
		sim_rng_init(&a->rng[host], &a->where, SIM_STREAM_AGENT, host);
	a->life[host] = a->now_living;
	int rc = a->ops->init(a->state + host * a->stride, host, a->params, e);
	return rc < 0 ? rc : fabric_loop_step(l, host, at, &ev, e);
}

/* Give the agent of HOST, which is on, the event EV; one that was not started
 * in this epoch is started first. EV may be NULL: then only that. */
static int fabric_loop_wake(struct loop *l, topo_host host, sim_ns at,
    const struct agent_event *ev, struct sim_err *e)
{
	const int again = ev && ev->kind == AGENT_START;
	int rc = 0;
	if (again || l->a->life[host] != l->a->now_living)
		rc = fabric_loop_start(l, host, at, e);
	if (rc == 0 && ev && !again)
		rc = fabric_loop_step(l, host, at, ev, e);
	return rc < 0 ? sim_wrap(e, rc, "agent of host %u", host) : 0;
}

static int start_all(struct loop *l, struct sim_err *e)
{
	const struct fabric_ops *ops = l->f->ops;
	int rc = 0;
	for (topo_host h = 0; rc == 0 && h < l->a->n_hosts; h++)
		if (!ops->is_on || ops->is_on(l->f, h))
			rc = fabric_loop_wake(l, h, ops->now(l->f), NULL, e);
	return rc;
}

int fabric_run(struct fabric *f, struct fabric_agents *a, sim_ns until,
    fabric_report_fn *report, void *arg, struct sim_err *e)
{
	/* How many events are fetched at once; a simulated fabric gives one a
	 * call anyway. */
	enum { CAP = 32 };
	struct agent_event ev[CAP];
	topo_host host[CAP];
	sim_ns at[CAP];
	size_t n = 0;
	struct loop l = {.f = f, .a = a, .report = report, .arg = arg};
	int rc = 0;
	assert(f->n_hosts == a->n_hosts);
	if (!a->ops->starts_late)
		rc = start_all(&l, e);
	while (rc == 0) {
		rc = f->ops->poll(f, until, ev, host, at, CAP, &n, e);
		if (rc < 0 || n == 0)
			break;
		for (size_t i = 0; rc == 0 && i < n; i++)
			rc = fabric_loop_wake(&l, host[i], at[i], &ev[i], e);
	}
	return rc;
}
