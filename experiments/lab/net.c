/* experiments/lab/net.c -- a topology's network on this machine, and one CPU.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/lab/net.h"

#include <stdlib.h>

#include "models/netns/caps.h"
#include "sim/vec.h"
#include "topo/addr.h"

/* The last: the first ones have more to do. */
int xp_lab_cpu(void)
{
	cpu_set_t all;
	int last = 0;
	if (sched_getaffinity(0, sizeof(all), &all) == 0)
		for (int i = 0; i < CPU_SETSIZE; i++)
			if (CPU_ISSET(i, &all))
				last = i;
	return last;
}

int xp_lab_net_open(struct xp_lab_net *l, const struct topo *t,
    const struct netns_params *p, struct sim_err *e)
{
	cpu_set_t one;
	int as_user, rc;
	*l = (struct xp_lab_net){.topo = t};
	sched_getaffinity(0, sizeof(l->cpus), &l->cpus);
	CPU_ZERO(&one);
	CPU_SET(xp_lab_cpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	if ((rc = SIM_ZALLOC(&l->host, t->n_hosts, e)) < 0 ||
	    (rc = netns_permit(&as_user, e)) < 0 ||
	    (rc = netns_open(&l->net, t, p, e)) < 0)
		return rc;
	for (topo_host h = 0; h < t->n_hosts; h++)
		l->host[h] = (struct fabric_real_host){topo_addr_of_host(h),
		    netns_fd(l->net, h)};
	return 0;
}

void xp_lab_net_close(struct xp_lab_net *l)
{
	if (!l->topo)
		return;
	netns_close(l->net);
	free(l->host);
	sched_setaffinity(0, sizeof(l->cpus), &l->cpus);
	*l = (struct xp_lab_net){0};
}

int xp_lab_net_set(const struct xp_lab_net *l, const char *knob, uint32_t value,
    struct sim_err *e)
{
	int rc = 0;
	for (topo_host h = 0; rc == 0 && h < l->topo->n_hosts; h++)
		if ((rc = netns_enter(l->net, h, e)) == 0)
			rc = netns_node_write(knob, value, e);
	const int back = netns_leave(l->net, rc < 0 ? NULL : e);
	return rc < 0 ? rc : back;
}

int xp_lab_net_faults(struct netns_faults **f, const struct xp_lab_net *l,
    const struct sim_seed *where, const struct netns_faults_params *p,
    struct sim_err *e)
{
	struct netns_faults_params own = *p;
	struct sim_rng r;
	sim_rng_init(&r, where, SIM_STREAM_LOSS, 0);
	const uint64_t high = sim_rng_u32(&r);
	own.by = NETNS_FAULTS_EBPF;
	own.seed = high << 32 | sim_rng_u32(&r);
	return netns_faults_open(f, l->net, l->topo, &own, e);
}
