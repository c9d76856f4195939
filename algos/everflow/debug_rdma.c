/* algos/everflow/debug_rdma.c -- NICs, pause frames and BGP: what goes wrong.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/everflow/debug_rdma.h"

#include <stddef.h>

#define AT(name) offsetof(struct algo_debug_rdma_params, name)
const struct sim_field algo_debug_rdma_fields[] = {
    {"min_naks", SIM_F_U32, AT(min_naks), .min = 3, .max = 1e6, .unit = "NAKs",
	.def = "8", .doc = "of a queue pair, before it is judged"},
    {"min_rate", SIM_F_F64, AT(min_rate), .min = 0, .max = 1, .unit = "1",
	.def = "1e-4",
	.doc = "loss on the lossless class is told if it is higher for "
	       "certain"},
    {"min_restarts", SIM_F_U32, AT(min_restarts), .min = 1, .max = 1e6,
	.unit = "1", .def = "3",
	.doc = "how often a NIC is seen to go back to 0 before that is told"},
    {"skew", SIM_F_F64, AT(skew_us), .min = 0, .max = 1e6, .unit = "us",
	.def = "1000",
	.doc = "by how much copies may come out of order; within it IP IDs "
	       "tell the order"},
    {"max_message", SIM_F_U32, AT(max_message), .min = 1, .max = 1 << 22,
	.unit = "packets", .def = "1048576",
	.doc = "longest message: a PSN that goes back further is of another "
	       "connection"},
    {"gbps", SIM_F_F64, AT(gbps), .min = 0.1, .max = 1600, .unit = "Gb/s",
	.def = "40", .doc = "rate of links, by which pauses are timed"},
    {"storm", SIM_F_F64, AT(storm_ms), .min = 0.1, .max = 1e6, .unit = "ms",
	.def = "100", .doc = "how long a port is paused before it is a storm"},
    {"held", SIM_F_F64, AT(held), .min = 0.5, .max = 1, .unit = "1",
	.def = "0.9", .doc = "share of a storm's time that is paused"},
    {"min_flaps", SIM_F_U32, AT(min_flaps), .min = 1, .max = 1e6, .unit = "1",
	.def = "2",
	.doc = "how often a BGP session is closed, and opened again between, "
	       "before that is told"},
    {0},
};

static int debug_rdma_step(void *state, const void *params,
    const struct algo_debug_in *in, struct algo_debug_out *out,
    struct sim_err *e)
{
	int rc;
	(void)state;
	if (!in->traces)
		return 0;
	if ((rc = algo_debug_queue_pairs(params, in, out, e)) < 0 ||
	    (rc = algo_debug_pause_ports(params, in, out, e)) < 0)
		return rc;
	return algo_debug_bgp_sessions(params, in, out, e);
}

const struct algo_debugger algo_debug_rdma = {
    .name = "rdma",
    .params = algo_debug_rdma_fields,
    .params_size = sizeof(struct algo_debug_rdma_params),
    .step = debug_rdma_step,
};
