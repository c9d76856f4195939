/* models/tun/switch.h -- a real packet's way through a scene: where, and when.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The laws of sim/sim.h, for packets one by one instead of flows:
 *
 *	path    topo_path() of the five-tuple; of ICMP, of the addresses
 *	link    loses a packet with the hazard it has when the packet comes,
 *	        and takes hop + an exponential queue + what faults add to it
 *	        (scene_latency_draw()) + topo_link_delay()
 *	hole    takes by the five-tuple what crosses its switch, which is lost
 *	        on the link into it; no ICMP
 *	TTL     ends at a switch, which answers if its bucket allows, by the
 *	        reverse of the links that were crossed
 *
 * The fate of the k-th packet that a link is offered depends on the seed, the
 * link and k alone, so neither a fault elsewhere nor the timing of the machine
 * changes it. What slow links add, and the time that answers take, are drawn
 * from streams of their own.
 *
 * Here are no sockets and no clock: times are those of the caller. DEPARTS from
 * sim/sim.h: a link's faults and holes are those of the time the packet gets
 * there, not of the time it left; no cable flaps.
 */
#ifndef MODELS_TUN_SWITCH_H
#define MODELS_TUN_SWITCH_H

#include "models/scene/walk.h"
#include "models/sim/icmp.h"
#include "models/tun/wire.h"

struct tun_switch_params {
	double hop_us, queue_us;
	/* A packet does not overtake one of its own five-tuple, but is there
	 * along with it; as links are queues, it could not. Random delays of
	 * their own would make it, and TCP take it for loss. */
	uint32_t in_order;
	uint32_t max_drops; /* in the list; more are only counted */
	struct fabric_sim_icmp_params icmp;
};
/* All but icmp, which has its own. */
extern const struct sim_field tun_switch_fields[];

struct tun_drop {
	struct topo_tuple tuple; /* of the packet, be it an answer */
	topo_link link;
	sim_ns at;
	uint8_t in_hole, ttl; /* as it was sent */
};

/* What links were offered, and what was lost on them or in the hole behind. */
struct tun_switch {
	const struct topo *topo;
	struct tun_switch_params params;
	struct scene_walk_net net;
	struct fabric_sim_icmp icmp;
	uint64_t *offered, *lost; /* [n_links] */
	size_t n_drops, cap_drops;
	struct tun_drop *drop; /* in the order of sending */
	uint64_t n_unlisted;   /* drops beyond max_drops */

	uint32_t key[2];
	struct sim_rng slow, answer;
	sim_ns *there; /* by five-tuple: when the last packet is there */
};

enum tun_fate {
	TUN_ARRIVES,
	TUN_LOST,
	TUN_EXPIRES,    /* its TTL ends at a switch */
	TUN_SUPPRESSED, /* an answer that the switch may not give */
};

struct tun_way {
	enum tun_fate fate;
	unsigned n_links; /* crossed, or lost on the last of them */
	topo_link last;
	sim_ns at; /* when it is at the end of these */
};

/* S keeps T. Errors SIM_ELIMIT when there are more hosts, switches or links
 * than addresses, SIM_ENOMEM. Cost O(links) and 512 KiB. */
int tun_switch_open(struct tun_switch *s, const struct topo *t,
    const struct tun_switch_params *p, struct sim_err *e);
void tun_switch_close(struct tun_switch *s);

/* Begin an epoch of EPOCH_NS at time 0: all counts are 0. S keeps SCENE, whose
 * truth is sorted. Errors SIM_ENOMEM. Cost O(links + switches). */
int tun_switch_begin(struct tun_switch *s, const struct scene *scene,
    sim_ns epoch_ns, struct sim_err *e);

/* TUN_FINE if a packet that was parsed may be sent by host SRC, and where
 * to. */
enum tun_refusal tun_switch_admit(const struct tun_switch *s,
    const struct tun_packet *p, topo_host src, topo_host *dst);

/* A packet that is admitted leaves its host at NOW. Errors SIM_ENOMEM, for the
 * list of drops. Cost O(links of the path * log faults). */
int tun_switch_send(struct tun_switch *s, const struct tun_packet *p,
    sim_ns now, struct tun_way *w, struct sim_err *e);

/* A packet whose way was TUN_EXPIRES is at its end, NOW: what comes of the
 * answer, from address *FROM. To be called in the order of time. */
int tun_switch_answer(struct tun_switch *s, const struct tun_packet *p,
    sim_ns now, struct tun_way *w, uint32_t *from, struct sim_err *e);

#endif
