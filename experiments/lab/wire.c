/* experiments/lab/wire.c -- what is between hosts whose sockets are real.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/lab/wire.h"

#include <stdlib.h>
#include <unistd.h>

#include "models/netns/node.h"
#include "models/real/namespace.h"
#include "sim/vec.h"

/* The last CPU that this process may use: interrupts and other programs tend to
 * be on the first ones. */
int xp_wire_cpu(void)
{
	cpu_set_t all;
	int last = 0;
	if (sched_getaffinity(0, sizeof(all), &all) == 0)
		for (int i = 0; i < CPU_SETSIZE; i++)
			if (CPU_ISSET(i, &all))
				last = i;
	return last;
}

int xp_wire_init(struct xp_wire *w, const struct xp_wire_ops *ops,
    const struct topo *t, struct sim_err *e)
{
	cpu_set_t one;
	w->ops = ops;
	w->topo = t;
	sched_getaffinity(0, sizeof(w->cpus), &w->cpus);
	CPU_ZERO(&one);
	CPU_SET(xp_wire_cpu(), &one);
	/* On several CPUs packets of one flow are handled side by side and
	 * overtake each other; TCP then sends again what no link has lost, and
	 * agents would trace it. */
	sched_setaffinity(0, sizeof(one), &one);
	return SIM_ZALLOC(&w->host, t->n_hosts, e);
}

void xp_wire_close(struct xp_wire *w)
{
	if (!w)
		return;
	w->ops->close(w);
	sched_setaffinity(0, sizeof(w->cpus), &w->cpus);
	free(w->host);
	free(w);
}

/* Knobs are of a namespace, so the thread goes through all hosts, and home
 * again in any case. */
int xp_wire_set(const struct xp_wire *w, const char *knob, uint32_t value,
    struct sim_err *e)
{
	int home;
	int rc = real_ns_here(&home, e);
	if (rc < 0)
		return rc;
	for (topo_host h = 0; rc == 0 && h < w->topo->n_hosts; h++)
		if ((rc = real_ns_enter(w->host[h].ns, e)) == 0)
			rc = netns_node_write(knob, value, e);
	const int back = real_ns_enter(home, rc < 0 ? NULL : e);
	close(home);
	return rc < 0 ? rc : back;
}
