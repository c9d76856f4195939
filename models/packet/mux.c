/* models/packet/mux.c -- load balancers that wrap packets for virtual addresses.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/packet/mux.h"

#include <math.h>

#include "topo/addr.h"

static const char *const law_names[] = {"constant", "exponential", NULL};

#define AT(member) .offset = offsetof(struct packet_mux_params, member)
const struct sim_field packet_mux_fields[] = {
    {.name = "vips",
	.type = SIM_F_U32,
	AT(vips),
	.min = 0,
	.max = TOPO_ADDR_MAX_VIPS,
	.unit = "addresses",
	.def = "0",
	.doc = "virtual addresses, each served by every vips-th host"},
    {.name = "muxes",
	.type = SIM_F_U32,
	AT(muxes),
	.min = 1,
	.max = PACKET_MUX_MAX,
	.unit = "hosts",
	.def = "1",
	.doc = "load balancers that all virtual addresses lead to",
	.when = "vips!=0"},
    {.name = "service",
	.type = SIM_F_F64,
	AT(service_us),
	.min = 0,
	.max = 1e9,
	.unit = "us",
	.def = "50",
	.doc = "mean time that a load balancer takes for a packet",
	.when = "vips!=0"},
    {.name = "law",
	.type = SIM_F_ENUM,
	AT(law),
	.names = law_names,
	.def = "exponential",
	.doc = "that time is always the mean, or exponential",
	.when = "vips!=0"},
    {0},
};
#undef AT

int packet_mux_init(struct packet_mux *m, const struct topo *t,
    const struct packet_mux_params *params, const struct sim_seed *where,
    struct sim_err *e)
{
	struct sim_rng r;
	*m = (struct packet_mux){.params = *params, .n_hosts = t->n_hosts};
	if (params->vips > t->n_hosts)
		return sim_fail(e, SIM_ELIMIT,
		    "%u virtual addresses need a host each, but there are %u.",
		    params->vips, t->n_hosts);
	if (params->muxes > PACKET_MUX_MAX || params->muxes > t->n_hosts)
		return sim_fail(e, SIM_ELIMIT,
		    "%u load balancers are more than the limit of %u hosts.",
		    params->muxes,
		    t->n_hosts < PACKET_MUX_MAX ? t->n_hosts : PACKET_MUX_MAX);
	sim_rng_init(&r, where, SIM_STREAM_MUX, 0);
	m->salt[0] = sim_rng_u32(&r);
	m->salt[1] = sim_rng_u32(&r);
	while (m->n_muxes < params->muxes) {
		const topo_host h = sim_rng_below(&r, t->n_hosts);
		uint32_t i = 0;
		while (i < m->n_muxes && m->mux[i] != h)
			i++;
		m->mux[i] = h;
		m->n_muxes += i == m->n_muxes;
	}
	return 0;
}

topo_host packet_mux_of(const struct packet_mux *m, uint32_t vip,
    uint32_t digest)
{
	if (vip - TOPO_ADDR_VIP_BASE >= m->params.vips)
		return TOPO_NONE;
	return m->mux[topo_ecmp_pick(m->salt[0], digest, m->n_muxes)];
}

topo_host packet_mux_server(const struct packet_mux *m, uint32_t vip,
    uint32_t digest)
{
	const uint32_t v = vip - TOPO_ADDR_VIP_BASE, step = m->params.vips;
	const uint32_t n = (m->n_hosts - 1 - v) / step + 1;
	return v + step * topo_ecmp_pick(m->salt[1], digest, n);
}

/* What the packet says of its service goes with it (RFC 2003), and so does its
 * number. */
void packet_mux_wrap(const struct packet_mux *m, topo_host at,
    struct obs_packet *p)
{
	const struct topo_tuple tuple = obs_packet_routed(p);
	const struct obs_ip *within = obs_packet_outermost(p);
	const topo_host to =
	    packet_mux_server(m, within->dst_ip, topo_tuple_digest(&tuple));
	const struct obs_ip outer = {
	    .src_ip = topo_addr_of_host(at),
	    .dst_ip = topo_addr_of_host(to),
	    .id = within->id,
	    .ttl = PACKET_MUX_TTL,
	    .tos = within->tos,
	    .proto = OBS_PROTO_IPIP,
	};
	obs_packet_wrap(p, &outer);
}

sim_ns packet_mux_time(const struct packet_mux *m, struct sim_rng *r)
{
	double us = m->params.service_us;
	if (m->params.law == PACKET_MUX_EXPONENTIAL)
		us *= -log(sim_rng_u01_open(r));
	return (sim_ns)(us * 1e3 + 0.5);
}
