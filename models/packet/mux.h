/* models/packet/mux.h -- load balancers that wrap packets for virtual addresses.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	client --> VIP, at its mux --> [mux -> DIP [client -> VIP]] --> DIP
 *	client <------------------- from the VIP -------------------- DIP
 *
 * A virtual address (VIP, topo/addr.h) leads to a mux, which is a host. The mux
 * chooses one of the VIP's servers (DIPs) and sends it the packet within another
 * header, IP in IP, which the server takes off. Answers go straight to the
 * client. Both choices, of one mux among several and of the server, are hashes of
 * the five-tuple, so all packets of a connection go one way.
 *
 * Every host is a server: of VIP v are the hosts v, v + n, v + 2n, ..., n being
 * how many VIPs there are. Muxes are hosts drawn at random, which may be servers
 * too.
 *
 * While a server has an outage of kind TRUTH_MUX_LOOP it takes the header off and
 * routes the packet on instead of keeping it: back to the mux, which wraps it
 * again. Such a packet goes round, its inner TTL falling each time, until that
 * ends.
 *
 * Paper  Everflow (SIGCOMM'15), section 7: loops of packets within packets.
 */
#ifndef MODELS_PACKET_MUX_H
#define MODELS_PACKET_MUX_H

#include "models/obs_packet.h"
#include "sim/field.h"
#include "sim/rng.h"
#include "topo/topo.h"

/* The law of the time that a mux takes for a packet. */
enum packet_mux_law { PACKET_MUX_CONSTANT, PACKET_MUX_EXPONENTIAL };

/* As in a spec. */
struct packet_mux_params {
	uint32_t vips; /* 0: no load balancer */
	uint32_t muxes;
	double service_us; /* mean */
	uint32_t law;      /* enum packet_mux_law */
};
extern const struct sim_field packet_mux_fields[];

enum { PACKET_MUX_MAX = 64, PACKET_MUX_TTL = 64 };

struct packet_mux {
	struct packet_mux_params params;
	uint32_t n_hosts, n_muxes;
	topo_host mux[PACKET_MUX_MAX];
	uint32_t salt[2]; /* of the choices of a mux and of a server */
};

/* Draw the muxes. Errors SIM_ELIMIT: more VIPs or muxes than hosts, or more
 * muxes than PACKET_MUX_MAX. */
int packet_mux_init(struct packet_mux *m, const struct topo *t,
    const struct packet_mux_params *params, const struct sim_seed *where,
    struct sim_err *e);

/* VIPs are topo_addr_of_vip(0), ..., (vips - 1). Where packets for VIP with this
 * digest go, or TOPO_NONE:
 * there is no such VIP. */
topo_host packet_mux_of(const struct packet_mux *m, uint32_t vip,
    uint32_t digest);

/* The server for them. Domain: there is such a VIP. */
topo_host packet_mux_server(const struct packet_mux *m, uint32_t vip,
    uint32_t digest);

/* Put the header on by which mux AT sends P on to its server. Domain
 * P->n_outer < OBS_MAX_OUTER, P is addressed to a VIP. */
void packet_mux_wrap(const struct packet_mux *m, topo_host at,
    struct obs_packet *p);

/* How long a mux takes for a packet. R draws once if the law is exponential. */
sim_ns packet_mux_time(const struct packet_mux *m, struct sim_rng *r);

#endif
