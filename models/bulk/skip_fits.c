/* models/bulk/skip_fits.c -- which scenes can be skipped through, and gain by it.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>

#include "models/bulk/failed.h"
#include "models/bulk/skip.h"

/* One random word picks T1, T2 and T1 of a path. With more combinations than
 * this the last choice would be visibly uneven, having too few bits left. */
#define MAX_PATHS (UINT64_C(1) << 24)

/* Rows of the largest table of pairs, of 48 MiB in all. It takes less than a
 * tenth of a second to fill. */
#define MAX_PAIRS (UINT64_C(1) << 20)

/* Where more flows than this are candidates of noise, looking at each is faster,
 * other things equal. Measured with 96,000 and 960,000 flows, 1 to 100 faults and
 * noise that makes .06 to .3 of all candidates: the two are equal at .16 to .2, or
 * at .25 to .3 where ToRs are hot or rules of holes are asked, which cost more
 * there. */
#define PAYS_LIMIT      0.2
#define PAYS_LIMIT_SLOW 0.27

/* What others cost here beyond what they cost there, in candidates of noise: a
 * flow that crosses a switch with a hole, and, less, one that a fault makes
 * lossy. */
#define HOLE_COST  0.5
#define FAULT_GAIN 0.7

/* In a mesh drawing a path costs most, here as there: a candidate of noise costs
 * 0.9 of a flow there, whatever else the scene has, and a pair of ToRs whose
 * flows cross what failed 0.2. Measured with 4,000 flows in a fat-tree of
 * k = 8. */
#define PAIR_COST       0.2
#define PAYS_LIMIT_MESH 1.0

static int skip_check_size(const struct scene *s, struct sim_err *e)
{
	const struct topo_clos *c = &s->topo->clos;
	if (!topo_is_clos(s->topo))
		return bulk_failed_pairs(s) <= MAX_PAIRS
		    ? 0
		    : sim_fail(e, SIM_EUNSUPPORTED,
			  "skipping keeps at most 2^20 pairs of ToRs whose "
			  "flows cross what failed.");
	if ((uint64_t)c->n_t1 * c->n_t1 > MAX_PATHS ||
	    (uint64_t)c->n_t1 * c->n_t1 * c->n_t2 > MAX_PATHS)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "skipping can't tell more than 2^24 paths between two ToRs "
		    "apart.");
	return 0;
}

int bulk_skip_fits(const struct scene *s, struct sim_err *e)
{
	const int rc = skip_check_size(s, e);
	if (rc < 0)
		return rc;
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

/* The largest flow over the longest path, whose links are all as noisy as can be. */
double bulk_skip_noise_share(const struct scene *s)
{
	const unsigned most =
	    topo_is_clos(s->topo) ? 6 : topo_mesh_most_hops(s->topo->mesh);
	return -expm1(-s->traffic.params.packets.b * most *
	    scene_hazard(scene_noise_most(&s->loss.noise)));
}

/* The share of flows, were traffic uniform, that cross a switch with a hole, by
 * the links into it, each of which is marked; and that a fault makes lossy, those
 * of several counted for each. Cost O(faults). */
static void count_crossing(const struct scene *s, double *holes, double *faults)
{
	const struct sim_dist *packets = &s->traffic.params.packets;
	const double mean = (packets->a + packets->b) / 2;
	*holes = *faults = 0;
	for (size_t i = 0; i < s->truth.n_faults; i++) {
		const struct truth_fault *f = &s->truth.fault[i];
		const double share =
		    topo_clos_share(&s->topo->clos, TOPO_NONE, f->link);
		if (f->of_hole)
			*holes += share;
		else if (!truth_is_mark(f))
			*faults += share * -expm1(-mean * f->hazard);
	}
}

static double excess_in_mesh(const struct scene *s)
{
	const double pairs = (double)bulk_failed_pairs(s);
	return bulk_skip_noise_share(s) +
	    PAIR_COST * pairs / fmax((double)s->traffic.n_flows, 1) -
	    PAYS_LIMIT_MESH;
}

double bulk_skip_excess(const struct scene *s)
{
	if (!topo_is_clos(s->topo))
		return excess_in_mesh(s);
	const int slow = s->traffic.n_hot > 0 || s->truth.n_holes > 0;
	double holes, faults;
	count_crossing(s, &holes, &faults);
	return bulk_skip_noise_share(s) + HOLE_COST * holes -
	    FAULT_GAIN * fmin(faults, 1) -
	    (slow ? PAYS_LIMIT_SLOW : PAYS_LIMIT);
}
