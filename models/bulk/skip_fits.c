/* models/bulk/skip_fits.c -- which scenes can be skipped through, and gain by it.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>

#include "models/bulk/skip.h"

/* One random word picks T1, T2 and T1 of a path. With more combinations than
 * this the last choice would be visibly uneven, having too few bits left. */
#define MAX_PATHS (UINT64_C(1) << 24)

/* Where more flows than this are looked at in vain, looking at each is faster.
 * Measured with 96,000 to 6 M flows: a candidate took 65 to 220 ns here, and
 * there a flow 5 ns, or 10 to 13 where ToRs are hot or rules of holes are asked,
 * and one in four of the candidates of noise, which is lossy, 220 to 520 ns; the
 * two are equal at .04 to .1, or .12 to .2. Faults cost both alike. */
#define PAYS_LIMIT      0.06
#define PAYS_LIMIT_SLOW 0.15

/* What a candidate of a hole costs of what one of noise does, with what more of
 * the former costs there. */
#define HOLE_COST 0.8

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
	return 0;
}

/* The largest flow over six links, all as noisy as can be. */
double bulk_skip_noise_share(const struct scene *s)
{
	return -expm1(-s->traffic.params.packets.b * 6 *
	    scene_hazard(scene_noise_most(&s->loss.noise)));
}

/* The share of flows that cross a switch with a hole, in uniform traffic: by the
 * links into it, each of which is marked. */
static double hole_share(const struct scene *s)
{
	double share = 0;
	for (size_t i = 0; i < s->truth.n_faults; i++) {
		const struct truth_fault *f = &s->truth.fault[i];
		if (f->of_hole)
			share +=
			    topo_clos_share(&s->topo->clos, TOPO_NONE, f->link);
	}
	return share;
}

int bulk_skip_pays(const struct scene *s)
{
	const int slow = s->traffic.n_hot > 0 || s->truth.n_holes > 0;
	const double vain = bulk_skip_noise_share(s) +
	    (topo_is_clos(s->topo) ? HOLE_COST * hole_share(s) : 0);
	return vain <= (slow ? PAYS_LIMIT_SLOW : PAYS_LIMIT);
}
