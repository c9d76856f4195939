/* models/netns/icmp.h -- ICMP messages that real switches sent or kept back.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef MODELS_NETNS_ICMP_H
#define MODELS_NETNS_ICMP_H

#include "models/netns/net.h"

/* Since the network was built. */
struct netns_icmp {
	uint64_t n_sent;       /* "time exceeded" */
	uint64_t n_suppressed; /* of any sort, for icmp_per_s */
};

/* Of all switches of NET, which T is the topology of. The calling thread moves
 * through them, and ends where it was when the network was opened.
 * Errors SIM_EIO. Cost about 50 us a switch. */
int netns_icmp_count(const struct netns_net *net, const struct topo *t,
    struct netns_icmp *out, struct sim_err *e);

/* The value of NAME in the lines of GROUP ("Icmp: ...") of /proc/net/snmp;
 * 0 if there is none. */
uint64_t netns_icmp_value(const char *snmp, const char *group,
    const char *name);

#endif
