/* models/netns/phantom_law.c -- a phantom buffer's parameters in whole numbers.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Apart from phantom.c, as it takes no eBPF.
 */
#include <math.h>

#include "models/bpf/phantom_law.h"
#include "models/netns/phantom.h"

#define AT(member) offsetof(struct netns_phantom_params, member)
const struct sim_field netns_phantom_fields[] = {
    {"line", SIM_F_F64, AT(line_mbps), .min = 1, .max = PHANTOM_MAX_MBPS,
	.unit = "Mb/s", .def = "50", .doc = "of a host; whole"},
    {"shared", SIM_F_F64, AT(shared), .min = 1500, .max = PHANTOM_MAX_BYTES,
	.unit = "bytes", .def = "262144",
	.doc = "of the buffer, for all ports"},
    {"alpha", SIM_F_F64, AT(alpha), .min = 1.0 / PHANTOM_ALPHA, .max = 256,
	.unit = "1", .def = "1",
	.doc = "of what is free, that a queue may have"},
    {"ecn", SIM_F_F64, AT(ecn), .min = 0, .max = PHANTOM_MAX_BYTES,
	.unit = "bytes", .def = "30000",
	.doc = "what finds longer queues is marked"},
    {0},
};

int netns_phantom_law(struct phantom_law *law,
    const struct netns_phantom_params *p, uint32_t n_ports, struct sim_err *e)
{
	if (p->line_mbps != floor(p->line_mbps))
		return sim_fail(e, SIM_ERANGE,
		    "A line of %g Mb/s: it must be a whole number.",
		    p->line_mbps);
	if (p->ecn > p->shared)
		return sim_fail(e, SIM_ERANGE,
		    "Queues of %g bytes are to be marked, of a buffer of %g.",
		    p->ecn, p->shared);
	if (n_ports == 0 || n_ports > PHANTOM_PORTS)
		return sim_fail(e, SIM_ERANGE,
		    "A phantom buffer of %u ports: it has 1 to %d.", n_ports,
		    PHANTOM_PORTS);
	if (phantom_law_make(law, n_ports, (uint32_t)p->line_mbps,
		(uint64_t)p->shared, (uint64_t)p->ecn,
		(uint32_t)lround(p->alpha * PHANTOM_ALPHA)))
		return 0;
	return sim_fail(e, SIM_ERANGE,
	    "A phantom buffer of %g Mb/s, %g bytes, alpha %g: a line is 1 to "
	    "%d Mb/s, a buffer 1 to %d bytes, alpha 1/%d to %d.",
	    p->line_mbps, p->shared, p->alpha, PHANTOM_MAX_MBPS,
	    PHANTOM_MAX_BYTES, PHANTOM_ALPHA,
	    PHANTOM_MAX_ALPHA / PHANTOM_ALPHA);
}
