/* experiments/rack/kernel_flows.c -- what hosts of a kernel's rack send, and when.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/rack/kernel_flows.h"

#include <math.h>
#include <stdlib.h>

#include "models/obs_buckets.h"
#include "sim/rng.h"
#include "sim/time.h"
#include "sim/vec.h"

#define AT(member) offsetof(struct xp_kernel_rack_params, member)
const struct sim_field xp_kernel_rack_fields[] = {
    {"packets", SIM_F_U32, AT(packets), .min = 1, .max = 100000,
	.unit = "packets", .def = "40", .doc = "of each sender in a round"},
    {"light", SIM_F_F64, AT(light), .min = 0, .max = 1, .unit = "1",
	.def = "0.2", .doc = "of a line, that light traffic takes"},
    {"light_packets", SIM_F_U32, AT(light_packets), .min = 1, .max = 100000,
	.unit = "packets", .def = "20", .doc = "of a light connection"},
    {"width", SIM_F_F64, AT(width_ms), .min = 0.1, .max = 50, .unit = "ms",
	.def = "4", .doc = "of a bucket"},
    {"rto", SIM_F_F64, AT(rto_ms), .min = 0, .max = 10000, .unit = "ms",
	.def = "40",
	.doc = "least wait before TCP sends again, tcp_rto_min_us; 0: 200"},
    {"delay", SIM_F_BOOL, AT(delay), .def = "true",
	.doc = "packets wait as the phantom queue says, in one of the kernel "
	       "(tbf)"},
    {0},
};

enum {
	KERNEL_FLOWS_FIRST_PORT = 10000,
	KERNEL_FLOWS_PORTS = 50000,
	KERNEL_FLOWS_FRAME = 1514
};

/* Seconds of a sitting in which hosts may begin to send. */
static double kernel_flows_most(const struct xp_kernel_rack_params *p)
{
	return .8 * OBS_BUCKETS * 1e-3 * p->width_ms;
}

void xp_kernel_flows_free(struct xp_kernel_flows *f)
{
	free(f->flow);
	*f = (struct xp_kernel_flows){0};
}

uint32_t xp_kernel_flows_sittings(const struct xp_kernel_rack_params *p)
{
	const double n = ceil(p->for_s / kernel_flows_most(p));
	return n > 1 ? (uint32_t)n : 1;
}

/* Each has a source port of its own. */
static int kernel_flows_add(struct xp_kernel_flows *f, topo_host src,
    topo_host dst, uint32_t n_pkts, double at_s, struct sim_err *e)
{
	int rc = SIM_RESERVE(&f->flow, &f->cap, f->n + 1, e);
	if (rc < 0)
		return rc;
	if (f->n == KERNEL_FLOWS_PORTS)
		return sim_fail(e, SIM_ELIMIT,
		    "More than %d connections in a sitting: fewer rounds, less "
		    "light traffic or larger connections.",
		    KERNEL_FLOWS_PORTS);
	f->flow[f->n] = (struct obs_flow){.src_host = src,
	    .dst_host = dst,
	    .src_port = (uint16_t)(KERNEL_FLOWS_FIRST_PORT + f->n),
	    .dst_port = 80,
	    .n_pkts = n_pkts,
	    .start_ns = (uint64_t)(1e9 * at_s)};
	f->n++;
	return 0;
}

static int kernel_flows_rounds(struct xp_kernel_flows *f,
    const struct xp_kernel_rack_params *p, uint32_t sitting, uint32_t n,
    struct sim_err *e)
{
	const uint64_t all = p->rounds;
	const uint64_t first = all * sitting / n, end = all * (sitting + 1) / n;
	int rc = 0;
	for (uint64_t r = first; r < end; r++) {
		const topo_host to = (topo_host)(r % p->hosts);
		const double at = p->for_s / n * ((double)(r - first) + .5) /
		    (double)(end - first);
		for (uint32_t i = 1; rc == 0 && i <= p->incast; i++)
			rc = kernel_flows_add(f, (to + i) % p->hosts, to,
			    p->packets, at, e);
	}
	return rc;
}

static int kernel_flows_light(struct xp_kernel_flows *f,
    const struct xp_kernel_rack_params *p, double s, struct sim_rng *r,
    struct sim_err *e)
{
	const double n = p->light * p->hosts * p->queue.line_mbps * 125e3 * s /
	    p->light_packets / KERNEL_FLOWS_FRAME;
	int rc = 0;
	for (double i = 0; rc == 0 && i + .5 < n; i++) {
		const topo_host to = sim_rng_below(r, p->hosts);
		const topo_host from =
		    (to + 1 + sim_rng_below(r, p->hosts - 1)) % p->hosts;
		rc = kernel_flows_add(f, from, to, p->light_packets,
		    s * sim_rng_u01(r), e);
	}
	return rc;
}

int xp_kernel_flows_draw(struct xp_kernel_flows *f,
    const struct xp_kernel_rack_params *p, uint32_t sitting, uint32_t n,
    struct sim_err *e)
{
	const struct sim_seed where = {.seed = p->seed};
	struct sim_rng r;
	sim_rng_init(&r, &where, SIM_STREAM_RACK_TRAFFIC, sitting);
	f->n = 0;
	const int rc = kernel_flows_rounds(f, p, sitting, n, e);
	return rc < 0 ? rc : kernel_flows_light(f, p, p->for_s / n, &r, e);
}
