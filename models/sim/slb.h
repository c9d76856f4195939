/* models/sim/slb.h -- a software load balancer: whom a VIP stands for.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A share of connections goes to a virtual address. What becomes of a query
 * for one of them is drawn once a connection, so asking again changes nothing
 * and no draw depends on the order of queries.
 * Paper 007 (NSDI'18) section 4: the path is that of the host's own address,
 * and path discovery is left alone when the query fails.
 */
#ifndef MODELS_SIM_SLB_H
#define MODELS_SIM_SLB_H

#include <stdint.h>

#include "sim/field.h"
#include "sim/rng.h"
#include "sim/time.h"

struct fabric_sim_slb_params {
	double share;               /* of connections go to a VIP */
	double snat;                /* of these the mapping is refused */
	double fail;                /* of these the query is never answered */
	struct sim_dist latency_us; /* of an answer */
};
extern const struct sim_field fabric_sim_slb_fields[];

struct fabric_sim_slb_fate {
	uint8_t vip, refused, lost;
	sim_ns latency_ns;
};

/* The fate of the connection whose tuple (with the host's own address) has
 * this digest. Cost two Philox blocks at most. */
struct fabric_sim_slb_fate
fabric_sim_slb_fate(const struct fabric_sim_slb_params *p,
    const struct sim_seed *where, uint32_t digest);

#endif
