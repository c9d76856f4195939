/* topo/region.h -- several data centres, each a Clos, joined by long cables.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	data centre 0                            data centre 1
 *	T2 0 .. n_t2-1                           T2 0 .. n_t2-1
 *	   \  complete /                            \ complete /
 *	border 0 .. n_borders-1 ==== distance ==== border 0 .. n_borders-1
 *
 * Every T2 (of a data centre without: every T1) has a cable to each border
 * router of its data centre; border b has one to border b of every other. Paths
 * are shortest ones, so traffic within a data centre never sees a border, and
 * that between two crosses two of them and one long cable.
 *
 * Pingmesh's podset, the ToRs that share leaf switches, is one pod of a Clos;
 * its pod is the servers of one ToR. Order of ids: hosts by data centre, in
 * each as topo/clos.h; switches likewise (ToRs, T1s, T2s of data centre 0, then
 * those of 1 ...), then the borders by data centre; cables: those of all hosts,
 * then each data centre's, T2-border by (T2, border), then the long ones.
 *
 * A long cable delays by the great-circle distance of its sites, times what
 * fibre detours, at the speed of light in glass (about 2/3 c).
 */
#ifndef TOPO_REGION_H
#define TOPO_REGION_H

#include "sim/field.h"
#include "topo/topo.h"

enum { TOPO_REGION_MAX_DCS = 16 };

struct topo_region {
	uint32_t n_dcs, n_borders, n_pods; /* n_pods: of all */
	struct topo_clos shape[TOPO_REGION_MAX_DCS];
	uint32_t first_host[TOPO_REGION_MAX_DCS + 1];
	uint32_t first_switch[TOPO_REGION_MAX_DCS + 1]; /* last: border 0 */
	uint32_t first_pod[TOPO_REGION_MAX_DCS + 1];
	uint32_t first_long;                                       /* cable */
	sim_ns delay_ns[TOPO_REGION_MAX_DCS][TOPO_REGION_MAX_DCS]; /* one way */
};

/* As in a spec, beside the five numbers of a Clos, which all have. */
struct topo_region_params {
	uint32_t n_dcs, n_borders;
	double detour;   /* length of fibre over great-circle distance */
	char sites[512]; /* "lat,lon; lat,lon; ...", degrees; "": known ones */
};
extern const struct sim_field topo_region_fields[];

/* Open T as a region of data centres of SHAPE. Without sites they stand where
 * the paper's five do: US West, US Central, US East, Europe, Asia.
 * Errors SIM_EINVAL (sites that are no such list, or fewer than n_dcs),
 * SIM_ELIMIT, SIM_ENOMEM, and those of topo_clos_init() and topo_mesh_open(). */
int topo_open_region(struct topo *t, const struct topo_clos *shape,
    const struct topo_region_params *p, struct sim_err *e);

/* The data centre of a host. Cost O(n_dcs). */
uint32_t topo_region_dc_of(const struct topo_region *r, topo_host h);

#endif
