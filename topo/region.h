/* topo/region.h -- several data centres, each a Clos, joined by long cables.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	data centre 0                            data centre 1
 *	T2 0 .. n_t2-1                           T2 0 .. n_t2-1
 *	   \  complete /                            \ complete /
 *	border 0 .. n_borders-1 ==== distance ==== border 0 .. n_borders-1
 *
 * Every T2 has a cable to each border router of its data centre (without T2s,
 * every T1; without T1s, the one ToR); border b has one to border b of every
 * other. Paths are shortest ones, so traffic within a data centre never sees a
 * border, and that between two crosses two of them and one long cable.
 *
 * Pingmesh's podset, the ToRs that share leaf switches, is one pod of a Clos;
 * its pod is the servers of one ToR. Order of ids: hosts by data centre, in
 * each as topo/clos.h; switches likewise (ToRs, T1s, T2s of data centre 0, then
 * those of 1 ...), then the borders by data centre; cables: those of all hosts;
 * then each data centre's: ToR-T1, T1-T2, and T2-border by (T2, border); then
 * the long ones by (data centre, later data centre, border).
 *
 * Tiers are 0 ToR, 1 T1, 2 T2, 3 border, so cables keep their classes of a
 * Clos, and those of borders are FABRIC. Switches are called dc1.tor3,
 * dc1.t1.5, dc1.t2.0 and dc1.border0, numbered in their data centre; hosts,
 * host17.
 *
 * A long cable delays by its length at the speed of light in glass (about
 * 2/3 c); its length is the great-circle distance of its sites times what fibre
 * detours.
 */
#ifndef TOPO_REGION_H
#define TOPO_REGION_H

#include "sim/field.h"
#include "topo/topo.h"

enum { TOPO_REGION_MAX_DCS = 16, TOPO_REGION_MAX_BORDERS = 64 };

struct topo_site {
	double lat, lon; /* degrees north and east */
};

struct topo_region {
	uint32_t n_dcs, n_borders, n_pods; /* n_pods: of all */
	struct topo_site site[TOPO_REGION_MAX_DCS];
	struct topo_clos shape[TOPO_REGION_MAX_DCS];
	/* Of each data centre; [n_dcs]: what comes after the last one, so
	 * border 0 and the first long cable. */
	uint32_t first_host[TOPO_REGION_MAX_DCS + 1];
	uint32_t first_switch[TOPO_REGION_MAX_DCS + 1];
	uint32_t first_pod[TOPO_REGION_MAX_DCS + 1];
	uint32_t first_cable[TOPO_REGION_MAX_DCS + 1]; /* between switches */
	uint32_t first_long;                           /* cable */
	/* Of the cables between two data centres: length, and time one way. */
	double cable_km[TOPO_REGION_MAX_DCS][TOPO_REGION_MAX_DCS];
	sim_ns delay_ns[TOPO_REGION_MAX_DCS][TOPO_REGION_MAX_DCS];
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
 * DEPARTS: Pingmesh (SIGCOMM'15) names no places and no lengths of cables: the
 * coordinates and the default detour are ours.
 * Errors SIM_EINVAL (sites that are no such list, or fewer than n_dcs; detour
 * not in [1, 10]; a count of 0),
 * SIM_ELIMIT, SIM_ENOMEM, and those of topo_clos_init() and
 * topo_mesh_open(). */
int topo_open_region(struct topo *t, const struct topo_clos *shape,
    const struct topo_region_params *p, struct sim_err *e);

/* The data centre of a host. Cost O(n_dcs). */
uint32_t topo_region_dc_of(const struct topo_region *r, topo_host h);

/* Great-circle distance on a sphere of 6371 km. */
double topo_site_km(struct topo_site a, struct topo_site b);

/* Number of directed links of a class, and the I-th of them in id order.
 * Cost O(1). */
uint32_t topo_region_class_size(const struct topo_region *r,
    enum topo_link_class class);
topo_link topo_region_class_at(const struct topo_region *r,
    enum topo_link_class class, uint32_t i);

/* What topo.h dispatches to; the same contract. The tables of the mesh give the
 * same path, and are its oracle. */
unsigned topo_region_path(const struct topo_region *r, uint32_t ecmp_seed,
    topo_host src, topo_host dst, uint32_t digest, topo_link path[]);

void topo_region_print(const struct topo_region *r, FILE *out);

#endif
