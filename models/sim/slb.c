/* models/sim/slb.c -- a software load balancer: whom a VIP stands for.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/sim/slb.h"

#include "models/dist.h"

const struct sim_field fabric_sim_slb_fields[] = {
    {"share", SIM_F_F64, offsetof(struct fabric_sim_slb_params, share),
	.min = 0, .max = 1, .unit = "1", .def = "0",
	.doc = "share of connections that go to a virtual address"},
    {"snat", SIM_F_F64, offsetof(struct fabric_sim_slb_params, snat), .min = 0,
	.max = 1, .unit = "1", .def = "0",
	.doc = "share of these whose mapping the load balancer refuses",
	.when = "share!=0"},
    {"fail", SIM_F_F64, offsetof(struct fabric_sim_slb_params, fail), .min = 0,
	.max = 1, .unit = "1", .def = "0",
	.doc = "share of these whose query is never answered",
	.when = "share!=0"},
    {"latency", SIM_F_DIST, offsetof(struct fabric_sim_slb_params, latency_us),
	.min = 0, .max = 1e7, .unit = "us", .def = "{uniform: [100, 1000]}",
	.doc = "time an answer takes", .when = "share!=0"},
    {0},
};

struct fabric_sim_slb_fate
fabric_sim_slb_fate(const struct fabric_sim_slb_params *p,
    const struct sim_seed *where, uint32_t digest)
{
	struct sim_rng r;
	struct fabric_sim_slb_fate fate = {0};
	/* Without VIPs no stream need be set up. */
	if (!(p->share > 0))
		return fate;
	sim_rng_init(&r, where, SIM_STREAM_SLB, digest);
	/* All is drawn whatever it says, so that another share changes only
	 * whose fate it is and not the fates. The shares are of one another:
	 * who is not behind a VIP never asks. */
	fate.vip = sim_rng_u01(&r) < p->share;
	fate.refused = sim_rng_u01(&r) < p->snat;
	fate.lost = sim_rng_u01(&r) < p->fail;
	fate.latency_ns =
	    (sim_ns)(dist_at(&p->latency_us, sim_rng_u01(&r)) * 1e3);
	return fate;
}
