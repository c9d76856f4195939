/* experiments/everflow/lossless.h -- RDMA, pause frames and BGP of a run.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the RDMA debugger is about, beside the connections: queue pairs between
 * hosts of different ToRs, drawn at random, that send for a while; links on
 * which ordinary pauses come and go; and a BGP session on each cable between
 * switches. Ports that are full by a law (congestion) pause this class and drop
 * nothing of it, nor does it wait there. What of it is broken says the truth, but for NICs that go back to 0
 * (rdma.recovery): these are as they were built.
 */
#ifndef EXPERIMENTS_EVERFLOW_LOSSLESS_H
#define EXPERIMENTS_EVERFLOW_LOSSLESS_H

#include "models/packet/bgp.h"
#include "models/packet/conn.h"
#include "models/packet/pause.h"
#include "models/packet/rdma.h"

/* As in a spec. */
struct xp_lossless {
	uint32_t n_pairs; /* of hosts; 0: no RDMA */
	double lasts_s;   /* how long each sends */
	uint32_t n_busy;  /* links with ordinary pauses */
	uint32_t has_bgp; /* sessions on all cables between switches */
	struct packet_rdma_params rdma;
	struct packet_pause_params pause;
	struct packet_bgp_params bgp;
};
extern const struct sim_field xp_rdma_fields[], xp_pfc_fields[],
    xp_bgp_fields[];

/* All of it up to UNTIL: TO hears of packets of queue pairs, and EYE sees pauses
 * and BGP, which go over one link each. *BYTES is increased by what came into
 * switches. Draws from streams of its own.
 * Errors those of the models and of TO. */
int xp_lossless_run(const struct xp_lossless *p, const struct packet_net *net,
    const struct packet_sample *sample, sim_ns until,
    const struct packet_conn_to *to, const struct packet_eye *eye,
    double *bytes, struct sim_err *e);

#endif
