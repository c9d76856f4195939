/* experiments/lab/net.h -- a topology's network on this machine, and one CPU.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The thread that opens a network keeps to one CPU until it closes it: on
 * several, packets of a flow overtake each other, and TCP sends again what is
 * not lost.
 */
#ifndef EXPERIMENTS_LAB_NET_H
#define EXPERIMENTS_LAB_NET_H

#include <sched.h>

#include "models/fabric_real.h"
#include "models/netns/faults.h"
#include "models/netns/net.h"

/* Zeroed is empty. */
struct xp_lab_net {
	const struct topo *topo;
	struct netns_net *net;
	struct fabric_real_host *host; /* [n_hosts] */
	cpu_set_t cpus;                /* where the thread was */
};

/* The CPU that labs are kept to, of those that this process may use. */
int xp_lab_cpu(void);

/* Build the network of T, which is borrowed until close. L may be closed either
 * way. Errors those of netns_permit() and netns_open(), SIM_ENOMEM. */
int xp_lab_net_open(struct xp_lab_net *l, const struct topo *t,
    const struct netns_params *p, struct sim_err *e);
void xp_lab_net_close(struct xp_lab_net *l);

/* Set one knob of the kernel, "ipv4/tcp_syn_linear_timeouts", in every host.
 * Errors SIM_EIO. */
int xp_lab_net_set(const struct xp_lab_net *l, const char *knob, uint32_t value,
    struct sim_err *e);

/* netns_faults_open() by eBPF, with a seed of the epoch WHERE; P->by and
 * P->seed are not read. */
int xp_lab_net_faults(struct netns_faults **f, const struct xp_lab_net *l,
    const struct sim_seed *where, const struct netns_faults_params *p,
    struct sim_err *e);

#endif
