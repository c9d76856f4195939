/* tests/rigs/rdma_rows.h -- traces by hand, for debuggers of NICs, pauses and BGP.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TESTS_RDMA_ROWS_H
#define TESTS_RDMA_ROWS_H

#include "algos/everflow/debug_rdma.h"
#include "tests/test.h"
#include "topo/addr.h"

/* A small Clos, traces of it, and what is said of them. */
struct rdma_rows {
	struct topo topo;
	struct algo_debug_rdma_params params; /* the defaults */
	struct algo_trace_store traces;
	struct algo_debug_out out;
};

void rows_open(struct rdma_rows *w);
void rows_close(struct rdma_rows *w);
void rows_clear(struct rdma_rows *w);

/* A NAK to host SENDER about PSN, or data of it, from or to host 9. */
void rows_nak(struct rdma_rows *w, topo_host sender, uint32_t psn, uint16_t id,
    sim_ns t);
void rows_data(struct rdma_rows *w, topo_host sender, uint8_t opcode,
    uint32_t psn, uint16_t id, sim_ns t, topo_link lost);

/* A pause frame over LINK. */
void rows_pause(struct rdma_rows *w, topo_link link, uint8_t classes,
    uint16_t quanta, sim_ns t);

/* A packet of the BGP session of switches A and B, from A; BYTES of payload. */
void rows_bgp(struct rdma_rows *w, topo_switch a, topo_switch b, uint8_t flags,
    uint32_t bytes, sim_ns t);

/* Ask the whole debugger anew; and with each malloc failing once. */
void rows_debug(struct rdma_rows *w);
void rows_each_alloc_fails(struct rdma_rows *w);

#endif
