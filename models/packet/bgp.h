/* models/packet/bgp.h -- BGP between neighbouring switches, and how it flaps.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	up     KEEPALIVE each way, every `keepalive`, and their TCP ACKs
 *	down   RST; or NOTIFICATION, FIN, FIN
 *	again  SYN, SYN-ACK, ACK, OPEN each way, KEEPALIVE each way
 *
 * The two switches at the ends of a cable talk from loopback to loopback, TCP
 * port 179 at the one that was called; what one sends is seen by the other,
 * over the link between them. A session that flaps goes down again and again.
 *
 * Use    The eye is that of walk.h. Packets of a session come in the order of
 *        time.
 *
 *	for each cable between switches, l one of its links
 *		s = (struct packet_bgp_session){.link = l, .until_ns = until};
 *		if (truth_outage_at(truth, TRUTH_BGP_FLAP, l / 2, ...))
 *			s.flap_from_ns = ..., s.flap_to_ns = ...;
 *		rc = packet_bgp_run(topo, &params, &s, &rng, &eye, &end, e);
 *
 * DEPARTS: Links carry BGP in no time and lose nothing of it. Routes are not
 *        withdrawn: what a flap does to traffic is another fault.
 * Paper  Everflow (SIGCOMM'15); RFC 4271, sections 4.4, 4.5 and 8.
 */
#ifndef MODELS_PACKET_BGP_H
#define MODELS_PACKET_BGP_H

#include "models/packet/walk.h"
#include "sim/field.h"

enum packet_bgp_way { PACKET_BGP_RESET, PACKET_BGP_NOTIFICATION };

/* As in a spec. */
struct packet_bgp_params {
	double keepalive_s;
	double up_s;   /* of a session that flaps, on average */
	double down_s; /* until it is opened again, on average */
	uint32_t way;  /* enum packet_bgp_way: how it goes down */
};
extern const struct sim_field packet_bgp_fields[];

/* What happens to one session. */
struct packet_bgp_session {
	topo_link link; /* either of the cable's two */
	uint8_t opens;  /* it is not up yet at from_ns */
	sim_ns from_ns, until_ns;
	sim_ns flap_from_ns, flap_to_ns; /* goes down in that time; 0, 0: no */
};

struct packet_bgp_end {
	uint64_t n_packets;
	uint32_t n_downs, n_opens; /* opened again: the first is not counted,
				      if it was up */
};

/* Errors SIM_EINVAL (the link has a host, until_ns is SIM_NEVER), those of EYE.
 * Cost O(packets). */
int packet_bgp_run(const struct topo *t, const struct packet_bgp_params *p,
    const struct packet_bgp_session *session, struct sim_rng *r,
    const struct packet_eye *eye, struct packet_bgp_end *end,
    struct sim_err *e);

#endif
