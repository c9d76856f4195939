/* models/netns/cgroup.h -- a cgroup of this process's own.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * It is made below the one in which the process is, and removed at the end. A
 * process that was killed leaves it, empty; the next one removes it.
 */
#ifndef MODELS_NETNS_CGROUP_H
#define MODELS_NETNS_CGROUP_H

#include "sim/err.h"

struct netns_cgroup {
	int fd;     /* -1: none */
	int before; /* where the process was */
	char name[32];
};

void netns_cgroup_init(struct netns_cgroup *c);

/* Make it and move the process there. Errors SIM_EUNSUPPORTED (no cgroup2, or
 * not allowed to make one). */
int netns_cgroup_enter(struct netns_cgroup *c, struct sim_err *e);

/* Move back and remove it; nothing if there is none. */
void netns_cgroup_leave(struct netns_cgroup *c);

#endif
