/* experiments/pingmesh/dsa/rows.h -- agents' records as rows of tables.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The one way from what agents upload to what jobs read, whether the collector
 * is simulated or a service whose files are exported.
 */
#ifndef EXPERIMENTS_PINGMESH_DSA_ROWS_H
#define EXPERIMENTS_PINGMESH_DSA_ROWS_H

#include "algos/pingmesh.h"
#include "models/obs_probes.h"
#include "topo/region.h"

/* Servers of data centre i are those from first[i] to before first[i + 1]. */
struct xp_dsa_hosts {
	uint32_t n_dcs;
	topo_host first[TOPO_REGION_MAX_DCS + 1];
};
struct xp_dsa_hosts xp_dsa_hosts_of(const struct topo_clos shape[],
    uint32_t n_dcs);

/* Domain  H is one of the hosts. Cost O(data centres). */
uint32_t xp_dsa_dc_of(const struct xp_dsa_hosts *all, topo_host h);

enum xp_dsa_fate {
	XP_DSA_ROW,
	XP_DSA_VIP_ROW, /* to a service: dst_host is its address */
	XP_DSA_FAILED,  /* no row: the host itself failed to send it */
	XP_DSA_FOREIGN, /* from or to who is no server, or to itself */
	XP_DSA_ODD,     /* a time that does not go with its outcome */
};

/* What becomes of record R of a batch from SRC_IP, and its row P, with ids of
 * the whole network. Rows pass obs_probes_check() and
 * res_recording_check(). */
enum xp_dsa_fate xp_dsa_row(const struct xp_dsa_hosts *all, uint32_t src_ip,
    const struct algo_pingmesh_record *r, struct obs_probe *p);

#endif
