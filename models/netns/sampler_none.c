/* models/netns/sampler_none.c -- netns/sampler.c of a program without eBPF.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/netns/sampler.h"

#include <stddef.h>

static int sampler_none(struct sim_err *e)
{
	return sim_fail(e, SIM_EUNSUPPORTED,
	    "This program was built without eBPF: install clang, llvm and "
	    "libbpf-dev, and build again.");
}

int netns_sampler_open(struct netns_sampler **s,
    const struct netns_sampler_params *p, struct sim_err *e)
{
	(void)p;
	*s = NULL;
	return sampler_none(e);
}

void netns_sampler_close(struct netns_sampler *s)
{
	(void)s;
}

int netns_sampler_attach(struct netns_sampler *s, uint32_t ifindex,
    struct sim_err *e)
{
	(void)s, (void)ifindex;
	return sampler_none(e);
}

void netns_sampler_detach(uint32_t ifindex)
{
	(void)ifindex;
}

int netns_sampler_hold(struct netns_sampler *s, uint32_t ifindex,
    struct sim_err *e)
{
	(void)s, (void)ifindex;
	return sampler_none(e);
}

int netns_sampler_holds(const struct netns_sampler *s)
{
	(void)s;
	return 0;
}

uint32_t netns_sampler_n_cpus(const struct netns_sampler *s)
{
	(void)s;
	return 0;
}

uint64_t netns_sampler_started(const struct netns_sampler *s, uint32_t width)
{
	(void)s, (void)width;
	return 0;
}

void netns_sampler_arm(struct netns_sampler *s, uint32_t widths)
{
	(void)s, (void)widths;
}

uint32_t netns_sampler_armed(const struct netns_sampler *s)
{
	(void)s;
	return 0;
}

int netns_sampler_take(struct netns_sampler *s, uint32_t width,
    struct obs_bucket bucket[], struct netns_sampler_run *run,
    struct sim_err *e)
{
	(void)s, (void)width, (void)bucket;
	*run = (struct netns_sampler_run){0};
	return sampler_none(e);
}

struct netns_sampler_count netns_sampler_count(const struct netns_sampler *s)
{
	(void)s;
	return (struct netns_sampler_count){0};
}

void netns_sampler_now(struct netns_sampler *s, uint64_t now_ns)
{
	(void)s, (void)now_ns;
}

int netns_sampler_try(struct netns_sampler *s, int out,
    const struct netns_frame *frame, uint32_t gso_segs, void *after,
    struct netns_cost *cost, struct sim_err *e)
{
	(void)s, (void)out, (void)frame, (void)gso_segs, (void)after;
	*cost = (struct netns_cost){0};
	return sampler_none(e);
}

uint32_t netns_sampler_n_echoed(const struct netns_sampler *s)
{
	(void)s;
	return 0;
}

struct netns_sampler_echo netns_sampler_echo(const struct netns_sampler *s,
    uint32_t i)
{
	(void)s, (void)i;
	return (struct netns_sampler_echo){0};
}
