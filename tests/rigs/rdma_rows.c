/* tests/rigs/rdma_rows.c -- traces by hand, for debuggers of NICs, pauses and BGP.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/rdma_rows.h"

enum { RECEIVER = 9, PORT = 0xc123 };

void rows_open(struct rdma_rows *w)
{
	const struct topo_clos shape = {.n_pods = 2,
	    .n_tors = 3,
	    .n_t1 = 2,
	    .n_t2 = 4,
	    .n_hosts = 2};
	*w = (struct rdma_rows){0};
	assert_ok(topo_open_clos(&w->topo, &shape, test_err()));
	assert_ok(
	    sim_field_defaults(algo_debug_rdma_fields, &w->params, test_err()));
}

void rows_clear(struct rdma_rows *w)
{
	algo_trace_store_clear(&w->traces);
	algo_debug_clear(&w->out);
}

void rows_close(struct rdma_rows *w)
{
	algo_trace_store_free(&w->traces);
	algo_debug_free(&w->out);
	topo_close(&w->topo);
}

/* With one hop, over LINK. */
static void add(struct rdma_rows *w, struct algo_trace t, topo_link link)
{
	topo_node from, to;
	topo_link_ends(&w->topo, link, &from, &to);
	const struct algo_hop hop = {.t_ns = t.t_ns,
	    .node = to - w->topo.n_hosts,
	    .in_link = link,
	    .ttl = 64};
	t.n_hops = 1;
	t.end_ns = t.t_ns;
	t.last_node = hop.node;
	assert_ok(algo_trace_store_add(&w->traces, &t, &hop, test_err()));
}

void rows_nak(struct rdma_rows *w, topo_host sender, uint32_t psn, uint16_t id,
    sim_ns t)
{
	const struct algo_trace row = {.t_ns = t,
	    .src_ip = topo_addr_of_host(RECEIVER),
	    .dst_ip = topo_addr_of_host(sender),
	    .src_port = PORT,
	    .dst_port = OBS_PORT_ROCE,
	    .proto = OBS_PROTO_UDP,
	    .kind = OBS_COPY_NAK,
	    .bth_opcode = OBS_BTH_ACK,
	    .aeth = OBS_AETH_NAK,
	    .seq = psn & 0xffffff,
	    .ip_id = id,
	    .lost_link = TOPO_NONE};
	add(w, row, topo_link_of(RECEIVER, TOPO_UP));
}

void rows_data(struct rdma_rows *w, topo_host sender, uint8_t opcode,
    uint32_t psn, uint16_t id, sim_ns t, topo_link lost)
{
	const struct algo_trace row = {.t_ns = t,
	    .src_ip = topo_addr_of_host(sender),
	    .dst_ip = topo_addr_of_host(RECEIVER),
	    .src_port = PORT,
	    .dst_port = OBS_PORT_ROCE,
	    .proto = OBS_PROTO_UDP,
	    .kind = OBS_COPY_DEBUG,
	    .marks = lost == TOPO_NONE ? 0 : ALGO_TRACE_SUSPECT,
	    .bth_opcode = opcode,
	    .seq = psn & 0xffffff,
	    .ip_id = id,
	    .lost_link = lost};
	add(w, row, topo_link_of(sender, TOPO_UP));
}

void rows_pause(struct rdma_rows *w, topo_link link, uint8_t classes,
    uint16_t quanta, sim_ns t)
{
	const struct algo_trace row = {.t_ns = t,
	    .kind = OBS_COPY_PFC,
	    .flags = classes,
	    .ack = quanta,
	    .n_bytes = 60,
	    .lost_link = TOPO_NONE};
	add(w, row, link);
}

void rows_bgp(struct rdma_rows *w, topo_switch a, topo_switch b, uint8_t flags,
    uint32_t bytes, sim_ns t)
{
	const struct algo_trace row = {.t_ns = t,
	    .src_ip = topo_addr_of_switch(a),
	    .dst_ip = topo_addr_of_switch(b),
	    .src_port = a < b ? OBS_PORT_BGP : 50000,
	    .dst_port = a < b ? 50000 : OBS_PORT_BGP,
	    .proto = TOPO_PROTO_TCP,
	    .kind = OBS_COPY_BGP,
	    .flags = flags,
	    .n_bytes = 54 + bytes,
	    .lost_link = TOPO_NONE};
	add(w, row, topo_link_of(0, TOPO_UP));
}

static int rows_try(struct rdma_rows *w, struct sim_err *e)
{
	const struct algo_debug_in in = {.routing = {.topo = &w->topo},
	    .traces = &w->traces,
	    .now = 100 * SIM_SEC};
	algo_debug_clear(&w->out);
	return algo_debug_rdma.step(NULL, &w->params, &in, &w->out, e);
}

void rows_debug(struct rdma_rows *w)
{
	assert_ok(rows_try(w, test_err()));
}

static int rows_debug_once(void *arg, struct sim_err *e)
{
	struct rdma_rows *w = arg;
	const int rc = rows_try(w, e);
	algo_debug_free(&w->out);
	return rc;
}

void rows_each_alloc_fails(struct rdma_rows *w)
{
	test_each_alloc_fails(rows_debug_once, w);
}
