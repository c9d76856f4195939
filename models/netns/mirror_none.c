/* models/netns/mirror_none.c -- netns/mirror.c of a program without eBPF.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/netns/mirror.h"

static int mirror_none(struct sim_err *e)
{
	return sim_fail(e, SIM_EUNSUPPORTED,
	    "This program was built without eBPF: install clang, llvm and "
	    "libbpf-dev, and build again.");
}

int netns_mirror_open(struct netns_mirror **m, const struct netns_net *net,
    const struct topo *t, const struct netns_mirror_params *p,
    struct sim_err *e)
{
	(void)net, (void)t, (void)p;
	*m = NULL;
	return mirror_none(e);
}

void netns_mirror_close(struct netns_mirror *m)
{
	(void)m;
}

int netns_mirror_rules(struct netns_mirror *m, const struct obs_match_row row[],
    size_t n, struct sim_err *e)
{
	(void)m, (void)row, (void)n;
	return mirror_none(e);
}

int netns_mirror_fd(const struct netns_mirror *m)
{
	(void)m;
	return -1;
}

int netns_mirror_read(struct netns_mirror *m, struct obs_mirror *copies,
    size_t cap, size_t *n, struct sim_err *e)
{
	(void)m, (void)copies, (void)cap;
	*n = 0;
	return mirror_none(e);
}

void netns_mirror_count(const struct netns_mirror *m,
    struct netns_mirror_count count[])
{
	(void)m, (void)count;
}

int netns_mirror_try(struct netns_mirror *m, topo_link l,
    const struct netns_frame *frame, struct sim_err *e)
{
	(void)m, (void)l, (void)frame;
	return mirror_none(e);
}

int netns_mirror_cost(struct netns_mirror *m, topo_link l,
    const struct netns_frame *frame, struct netns_cost *cost, struct sim_err *e)
{
	(void)m, (void)l, (void)frame;
	*cost = (struct netns_cost){0};
	return mirror_none(e);
}
