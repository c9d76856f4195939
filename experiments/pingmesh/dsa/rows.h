/* experiments/pingmesh/dsa/rows.h -- what agents send, as rows of tables.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whatever agents upload becomes what jobs read by these functions alone, be
 * the collector a simulated one or a service whose files are exported. */
#ifndef EXPERIMENTS_PINGMESH_DSA_ROWS_H
#define EXPERIMENTS_PINGMESH_DSA_ROWS_H

#include "algos/pingmesh/pingmesh.h"
#include "models/obs_perf.h"
#include "models/obs_http.h"
#include "models/obs_probes.h"
#include "topo/dc.h"
#include "topo/ip.h"

enum xp_dsa_fate {
	XP_DSA_ROW,
	XP_DSA_VIP_ROW, /* to a service: dst_host is its address */
	XP_DSA_FAILED,  /* no row: the host itself failed to send it */
	XP_DSA_FOREIGN, /* from or to who is no server, or to itself */
	XP_DSA_ODD,     /* a time that does not go with its outcome */
};

/* What becomes of record R of a batch from SRC_IP in a network of N_DCS data
 * centres, and its row P. Rows pass obs_probes_check() and
 * res_recording_check(). Cost O(data centres). */
enum xp_dsa_fate xp_dsa_row(const struct topo_dc dc[], uint32_t n_dcs,
    uint32_t src_ip, const struct algo_pingmesh_record *r, struct obs_probe *p);

/* What a server is called: by its address, in NET if its records are of IPv6 (NET
 * zeroed: they are of IPv4). */
void xp_dsa_name(const struct topo_ip_net *net, topo_host host,
    char text[TOPO_IP_TEXT]);

/* The GET of record R, whose row as a probe is P. 1, and OUT, if one was sent; its
 * row passes obs_http_check(). Domain: R is as algo_pingmesh_wire_check() takes
 * it. */
int xp_dsa_http_row(const struct algo_pingmesh_record *r,
    const struct obs_probe *p, struct obs_http_row *out);

/* The same of counters W in a network of N_HOSTS. Returns XP_DSA_ROW,
 * XP_DSA_FOREIGN, or XP_DSA_ODD for numbers that obs_perf_check() refuses. */
enum xp_dsa_fate xp_dsa_counters_row(uint32_t n_hosts,
    const struct algo_pingmesh_window *w, struct obs_perf_row *p);

#endif
