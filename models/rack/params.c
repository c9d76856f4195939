/* models/rack/params.c -- what a spec says of a rack, and what of it can be.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/rack/params.h"

#include <math.h>

#define FIELD(m) offsetof(struct rack_params, m)

static const char *const rack_policies[] = {"dynamic", "static", "complete",
    NULL};

/* "Unconfirmed": as remembered of the paper, not read in it. "Ours": nobody
 * published it. */
const struct sim_field rack_fields[] = {
    {"servers", SIM_F_U32, FIELD(n_servers), .min = 1, .max = RACK_MAX_SERVERS,
	.unit = "1", .def = "92", .doc = "servers of a rack"},
    {"quadrants", SIM_F_U32, FIELD(n_quadrants), .min = 1, .max = 64,
	.unit = "1", .def = "4",
	.doc = "parts of the buffer, each of as many servers (unconfirmed)"},
    {"line", SIM_F_F64, FIELD(line_gbps), .min = 0.01, .max = 1600,
	.unit = "Gb/s", .def = "12.5",
	.doc = "of a server: 50 Gb/s shared by four"},
    {"shared", SIM_F_F64, FIELD(shared), .min = 1e4, .max = 1e9,
	.unit = "bytes", .def = "3.6e6",
	.doc = "of a quadrant, that its queues share (unconfirmed)"},
    {"policy", SIM_F_ENUM, FIELD(policy), .names = rack_policies,
	.def = "dynamic",
	.doc = "limit of a queue: alpha times what is free, an equal part, or "
	       "none but the buffer"},
    {"alpha", SIM_F_F64, FIELD(alpha), .min = 1e-3, .max = 1024, .unit = "1",
	.def = "1", .when = "policy=dynamic",
	.doc = "of the dynamic limit (unconfirmed)"},
    {"ecn", SIM_F_F64, FIELD(ecn), .min = 0, .max = 1e9, .unit = "bytes",
	.def = "120e3",
	.doc = "a longer queue marks; 0: none does (unconfirmed)"},
    {"slot", SIM_F_F64, FIELD(slot_us), .min = 0.1, .max = 1e4, .unit = "us",
	.def = "25", .doc = "step of the model; at most half of rtt"},
    {"rtt", SIM_F_F64, FIELD(rtt_us), .min = 0.2, .max = 1e5, .unit = "us",
	.def = "50", .doc = "round trip without queues (ours)"},
    {"cross_rtt", SIM_F_F64, FIELD(cross_rtt_us), .min = 0, .max = 1e6,
	.unit = "us", .def = "2000",
	.doc = "that a round trip with another region takes more, in whole "
	       "slots (ours)"},
    {"rto", SIM_F_F64, FIELD(rto_ms), .min = 0.01, .max = 1e4, .unit = "ms",
	.def = "5",
	.doc = "least time to a timeout; 200 as stock Linux (ours)"},
    {"segment", SIM_F_U32, FIELD(segment), .min = 64, .max = 65535,
	.unit = "bytes", .def = "1500", .doc = "of a full frame"},
    {"window", SIM_F_U32, FIELD(window), .min = 1, .max = 1000,
	.unit = "segments", .def = "10", .doc = "of a new connection"},
    {"window_min", SIM_F_U32, FIELD(window_min), .min = 1, .max = 1000,
	.unit = "segments", .def = "2",
	.doc = "a mark or a loss cuts no window below it"},
    {"window_max", SIM_F_U32, FIELD(window_max), .min = 2, .max = 1000000,
	.unit = "segments", .def = "700",
	.doc = "no window grows above it (ours)"},
    {"gain", SIM_F_F64, FIELD(gain), .min = 1e-3, .max = 1, .unit = "1",
	.def = "0.0625", .doc = "g of DCTCP's moving average"},
    {0},
};

int rack_params_check(const struct rack_params *p, struct sim_err *e)
{
	if (p->slot_us > p->rtt_us / 2)
		return sim_fail(e, SIM_EINVAL,
		    "slot %g us is above %g us, half of the round trip rtt: "
		    "windows would answer to marks of the same slot.",
		    p->slot_us, p->rtt_us / 2);
	if (p->n_servers % p->n_quadrants != 0)
		return sim_fail(e, SIM_EINVAL,
		    "%u servers can't be in %u quadrants of as many each.",
		    p->n_servers, p->n_quadrants);
	if (p->ecn > p->shared)
		return sim_fail(e, SIM_EINVAL,
		    "ecn %g bytes is above shared, the %g bytes that all "
		    "queues "
		    "of a quadrant have.",
		    p->ecn, p->shared);
	if (p->window_min > p->window || p->window > p->window_max)
		return sim_fail(e, SIM_EINVAL,
		    "window %u is not between window_min %u and window_max %u.",
		    p->window, p->window_min, p->window_max);
	if (p->line_gbps * p->slot_us * 125 < p->segment)
		return sim_fail(e, SIM_EINVAL,
		    "a slot of %g us carries %g bytes at %g Gb/s, less than a "
		    "segment of %u.",
		    p->slot_us, p->line_gbps * p->slot_us * 125, p->line_gbps,
		    p->segment);
	if (p->line_gbps * p->slot_us * 125 > (double)UINT16_MAX * p->segment)
		return sim_fail(e, SIM_EINVAL,
		    "a slot of %g us carries more than 65535 segments of %u "
		    "bytes at %g Gb/s.",
		    p->slot_us, p->segment, p->line_gbps);
	return 0;
}
