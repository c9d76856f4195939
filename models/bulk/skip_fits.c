/* models/bulk/skip_fits.c -- which scenes can be skipped through, and gain by it.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>

#include "models/bulk/skip.h"

/* One random word picks T1, T2 and T1 of a path. With more combinations than
 * this the last choice would be visibly uneven, having too few bits left. */
#define MAX_PATHS (UINT64_C(1) << 24)

/* Where more flows than this are candidates of noise, looking at each is
 * faster. Measured with 96,000 to 6 M flows: a candidate took 135 to 220 ns
 * here, and there a flow 5 ns and one in four of these candidates, which is
 * lossy, 370 to 520 ns; the two are equal at .04 to .1. Faults cost both alike. */
#define PAYS_LIMIT 0.06

int bulk_skip_fits(const struct scene *s, struct sim_err *e)
{
	if (!topo_is_clos(s->topo))
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "skipping needs a Clos; this topology is a graph.");
	const struct topo_clos *c = &s->topo->clos;
	if ((uint64_t)c->n_t1 * c->n_t1 > MAX_PATHS ||
	    (uint64_t)c->n_t1 * c->n_t1 * c->n_t2 > MAX_PATHS)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "skipping can't tell more than 2^24 paths between two ToRs "
		    "apart.");
	if (s->latency.report_us > 0)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "skipping has no round-trip times (latency.report_over).");
	if (scene_tcp_is_on(&s->traffic.params.tcp))
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "skipping has no way back of flows (traffic.tcp).");
	if (scene_congestion_is_on(&s->congestion))
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "skipping has no full buffers (congestion).");
	if (s->traffic.n_hot > 0)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "skipping needs uniform traffic; this has hot ToRs.");
	if (s->truth.n_holes > 0)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "skipping can't have a black hole (switch %u).",
		    s->truth.hole[0].at);
	if (truth_has_host_off(&s->truth))
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "skipping can't have a host that is off.");
	for (size_t i = 0; i < s->truth.n_faults; i++) {
		const struct truth_fault *f = &s->truth.fault[i];
		if (topo_class_of(s->topo, f->link) == TOPO_HOST_TOR)
			return sim_fail(e, SIM_EUNSUPPORTED,
			    "skipping can't have a fault on a host's uplink "
			    "(link %u).",
			    f->link);
	}
	return 0;
}

/* The largest flow over six links, all as noisy as can be. */
double bulk_skip_noise_share(const struct scene *s)
{
	return -expm1(-s->traffic.params.packets.b * 6 *
	    scene_hazard(scene_noise_most(&s->loss.noise)));
}

int bulk_skip_pays(const struct scene *s)
{
	return bulk_skip_noise_share(s) <= PAYS_LIMIT;
}
