/* models/netns/phantom_none.c -- netns/phantom.c of a program without eBPF.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/netns/phantom.h"

#include <stddef.h>

static int phantom_none(struct sim_err *e)
{
	return sim_fail(e, SIM_EUNSUPPORTED,
	    "This program was built without eBPF: install clang, llvm and "
	    "libbpf-dev, and build again.");
}

int netns_phantom_open(struct netns_phantom **ph,
    const struct netns_phantom_params *p,
    const struct netns_phantom_ports *ports, struct sim_err *e)
{
	(void)p, (void)ports;
	*ph = NULL;
	return phantom_none(e);
}

void netns_phantom_close(struct netns_phantom *ph)
{
	(void)ph;
}

int netns_phantom_attach(struct netns_phantom *ph, uint32_t port,
    struct sim_err *e)
{
	(void)ph, (void)port;
	return phantom_none(e);
}

void netns_phantom_detach(const struct netns_phantom *ph, uint32_t port)
{
	(void)ph, (void)port;
}

struct netns_phantom_count netns_phantom_count(const struct netns_phantom *ph,
    uint32_t port)
{
	(void)ph, (void)port;
	return (struct netns_phantom_count){0};
}

uint64_t netns_phantom_raced(const struct netns_phantom *ph)
{
	(void)ph;
	return 0;
}

void netns_phantom_now(struct netns_phantom *ph, uint64_t now_ns)
{
	(void)ph, (void)now_ns;
}

void netns_phantom_hold(struct netns_phantom *ph, int held)
{
	(void)ph, (void)held;
}

int netns_phantom_try(struct netns_phantom *ph, uint32_t port,
    const struct netns_frame *frame, uint32_t gso_segs, void *after,
    int *dropped, uint64_t *units, struct netns_cost *cost, struct sim_err *e)
{
	(void)ph, (void)port, (void)frame, (void)gso_segs, (void)after;
	*dropped = 0;
	*units = 0;
	*cost = (struct netns_cost){0};
	return phantom_none(e);
}
