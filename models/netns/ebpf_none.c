/* models/netns/ebpf_none.c -- netns/ebpf.c of a program built without eBPF.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/netns/faults_impl.h"

int netns_faults_ebpf_open(struct netns_faults **f, const struct netns_net *net,
    const struct topo *t, const struct netns_faults_params *p,
    struct sim_err *e)
{
	(void)f;
	(void)net;
	(void)t;
	(void)p;
	return sim_fail(e, SIM_EUNSUPPORTED,
	    "This program was built without eBPF: install clang, llvm and "
	    "libbpf-dev, and build again.");
}
