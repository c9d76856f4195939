/* models/netns/caps.h -- what this machine and user can do for a real network.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef MODELS_NETNS_CAPS_H
#define MODELS_NETNS_CAPS_H

#include "sim/err.h"

/* Each with what it is for. The first two are needed by netns_open(). */
#define NETNS_CAPS(X)                                                          \
	X(LIBMNL, "libmnl", "built with the library for rtnetlink")            \
	X(NAMESPACES, "namespaces", "network namespaces with own knobs")       \
	X(HASH_SEED, "hash seed", "an ECMP seed of each switch")               \
	X(ICMP_LIMIT, "ICMP limit", "answers a second of each switch")         \
	X(BTF, "BTF", "kernel types, for eBPF faults and counters")            \
	X(TUN, "TUN", "a fabric in this program")                              \
	X(NFT, "nft", "faults without eBPF")

enum netns_cap_id {
#define X(id, name, what) NETNS_CAP_##id,
	NETNS_CAPS(X)
#undef X
	    NETNS_N_CAPS
};

struct netns_cap {
	const char *name, *what;
	int ok;
	char why[1024]; /* how it is there, or why not; no full stop */
};

/* Find out, in a child process for what cannot be undone. */
void netns_probe(struct netns_cap cap[NETNS_N_CAPS]);

/* Give this process the right to build networks: as root it has it, and nothing
 * happens (as root of a user namespace alone, it may move to an empty network
 * namespace); else it enters a user namespace of its own, and with it an empty
 * network namespace, for good. To be called while the process has one thread.
 * *AS_USER = it entered one. Errors SIM_EUNSUPPORTED, with the reason;
 * SIM_EIO. */
int netns_permit(int *as_user, struct sim_err *e);

#endif
