/* models/netns/mux_none.c -- netns/mux.c of a program without eBPF.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/netns/mux.h"

int netns_mux_open(struct netns_mux **m, const struct netns_net *net,
    const struct topo *t, const struct packet_mux *law, struct sim_err *e)
{
	(void)net, (void)t, (void)law;
	*m = NULL;
	return sim_fail(e, SIM_EUNSUPPORTED,
	    "This program was built without what load balancers in the kernel "
	    "take: install clang, llvm, libbpf-dev and libmnl-dev, and build "
	    "again.");
}

void netns_mux_close(struct netns_mux *m)
{
	(void)m;
}

int netns_mux_apply(struct netns_mux *m, const struct truth *truth, sim_ns now,
    struct sim_err *e)
{
	(void)m, (void)truth, (void)now, (void)e;
	return 0;
}

void netns_mux_count(const struct netns_mux *m, struct netns_mux_count count[])
{
	(void)m, (void)count;
}
