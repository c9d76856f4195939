/* models/packet/bgp.c -- BGP between neighbouring switches, and how it flaps.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/packet/bgp.h"

#include <math.h>
#include <stddef.h>

#include "topo/addr.h"

static const char *const way_names[] = {"reset", "notification", NULL};

const struct sim_field packet_bgp_fields[] = {
    {"keepalive", SIM_F_F64, offsetof(struct packet_bgp_params, keepalive_s),
	.min = 0.01, .max = 3600, .unit = "s", .def = "3",
	.doc = "time between two keepalives of a side"},
    {"up", SIM_F_F64, offsetof(struct packet_bgp_params, up_s), .min = 0.01,
	.max = 1e6, .unit = "s", .def = "4",
	.doc = "how long a session that flaps is up, on average"},
    {"down", SIM_F_F64, offsetof(struct packet_bgp_params, down_s), .min = 0.01,
	.max = 1e6, .unit = "s", .def = "1",
	.doc = "until it is opened again, on average"},
    {"way", SIM_F_ENUM, offsetof(struct packet_bgp_params, way),
	.names = way_names, .def = "reset", .doc = "how it goes down"},
    {0},
};

/* Bytes: headers of Ethernet, IP and TCP; BGP's messages. */
enum { HEADERS = 14 + 20 + 20, OPEN = 45, KEEPALIVE = 19, NOTIFICATION = 21 };
/* Between a packet and what it brings about. */
enum { REPLY_NS = 20 * SIM_US };

struct side {
	uint32_t ip, seq;
	uint16_t port, id;
	topo_switch at;
	topo_link out; /* to the other */
};

struct bgp {
	const struct packet_bgp_params *p;
	const struct packet_bgp_session *session;
	struct sim_rng *r;
	const struct packet_eye *eye;
	struct packet_bgp_end *end;
	struct side side[2];
	sim_ns now;
};

static sim_ns bgp_draw(struct bgp *s, double mean_s)
{
	return 1 + sim_ns_of(-log(sim_rng_u01_open(s->r)) * mean_s);
}

/* Side I sends FLAGS with BYTES of payload; then it is a little later. */
static int bgp_send(struct bgp *s, int i, unsigned flags, uint32_t bytes,
    struct sim_err *e)
{
	struct side *me = &s->side[i], *you = &s->side[!i];
	const uint32_t ack = flags & OBS_TCP_ACK ? you->seq : 0;
	const struct obs_packet p = {
	    .ethertype = OBS_ETH_IPV4,
	    .ip = {me->ip, you->ip, me->id++, 64, 48 << 2, TOPO_PROTO_TCP},
	    .src_port = me->port,
	    .dst_port = you->port,
	    .tcp_flags = (uint8_t)(flags | (bytes ? OBS_TCP_PSH : 0)),
	    .seq = me->seq,
	    .ack = ack,
	    .digest = (uint64_t)me->seq << 32 | ack,
	    .n_bytes = HEADERS + bytes,
	};
	me->seq += bytes + ((flags & (OBS_TCP_SYN | OBS_TCP_FIN)) != 0);
	if (s->now >= s->session->until_ns)
		return 0;
	s->end->n_packets++;
	const sim_ns at = s->now;
	s->now += REPLY_NS;
	return s->eye->see(s->eye->arg, you->at, me->out, at, &p, e);
}

/* Both sides send BYTES, and acknowledge that of the other. */
static int bgp_exchange(struct bgp *s, uint32_t bytes, struct sim_err *e)
{
	int rc = 0;
	for (int i = 0; rc == 0 && i < 2; i++)
		if ((rc = bgp_send(s, i, OBS_TCP_ACK, bytes, e)) == 0)
			rc = bgp_send(s, !i, OBS_TCP_ACK, 0, e);
	return rc;
}

/* Who calls, from which port, is drawn anew each time. */
static int bgp_name_ports(struct bgp *s)
{
	const int caller = (int)sim_rng_below(s->r, 2);
	s->side[caller].port = (uint16_t)(49152 + sim_rng_below(s->r, 16384));
	s->side[!caller].port = OBS_PORT_BGP;
	for (int i = 0; i < 2; i++)
		s->side[i].seq = sim_rng_u32(s->r);
	return caller;
}

static int bgp_open(struct bgp *s, struct sim_err *e)
{
	const int caller = bgp_name_ports(s);
	int rc;
	if (s->now < s->session->until_ns)
		s->end->n_opens++;
	if ((rc = bgp_send(s, caller, OBS_TCP_SYN, 0, e)) < 0 ||
	    (rc = bgp_send(s, !caller, OBS_TCP_SYN | OBS_TCP_ACK, 0, e)) < 0 ||
	    (rc = bgp_send(s, caller, OBS_TCP_ACK, 0, e)) < 0 ||
	    (rc = bgp_exchange(s, OPEN, e)) < 0)
		return rc;
	return bgp_exchange(s, KEEPALIVE, e);
}

static int bgp_go_down(struct bgp *s, struct sim_err *e)
{
	const int i = (int)sim_rng_below(s->r, 2);
	int rc;
	if (s->now < s->session->until_ns)
		s->end->n_downs++;
	if (s->p->way == PACKET_BGP_RESET)
		return bgp_send(s, i, OBS_TCP_RST | OBS_TCP_ACK, 0, e);
	if ((rc = bgp_send(s, i, OBS_TCP_ACK, NOTIFICATION, e)) < 0 ||
	    (rc = bgp_send(s, i, OBS_TCP_FIN | OBS_TCP_ACK, 0, e)) < 0)
		return rc;
	return bgp_send(s, !i, OBS_TCP_FIN | OBS_TCP_ACK, 0, e);
}

/* Keepalives until STOP; RFC 4271 has their timers come up to a quarter early,
 * lest all sessions send at once. */
static int bgp_stay_up(struct bgp *s, sim_ns stop, struct sim_err *e)
{
	int rc = 0;
	while (rc == 0) {
		const double wait =
		    s->p->keepalive_s * (1 - 0.25 * sim_rng_u01(s->r));
		const sim_ns next = s->now + 1 + sim_ns_of(wait);
		if (next >= stop)
			break;
		s->now = next;
		rc = bgp_exchange(s, KEEPALIVE, e);
	}
	if (s->now < stop)
		s->now = stop;
	return rc;
}

/* When it goes down next: SIM_NEVER if it stays up. */
static sim_ns bgp_next_down(struct bgp *s)
{
	const struct packet_bgp_session *x = s->session;
	const sim_ns begin =
	    s->now > x->flap_from_ns ? s->now : x->flap_from_ns;
	if (begin >= x->flap_to_ns)
		return SIM_NEVER;
	const sim_ns at = begin + bgp_draw(s, s->p->up_s);
	return at < x->flap_to_ns ? at : SIM_NEVER;
}

static int bgp_live(struct bgp *s, struct sim_err *e)
{
	const sim_ns until = s->session->until_ns;
	int rc = 0;
	bgp_name_ports(s);
	if (s->session->opens)
		rc = bgp_open(s, e);
	while (rc == 0 && s->now < until) {
		const sim_ns down = bgp_next_down(s);
		if ((rc = bgp_stay_up(s, down < until ? down : until, e)) < 0 ||
		    down >= until || (rc = bgp_go_down(s, e)) < 0)
			return rc;
		s->now += bgp_draw(s, s->p->down_s);
		rc = bgp_open(s, e);
	}
	return rc;
}

int packet_bgp_run(const struct topo *t, const struct packet_bgp_params *p,
    const struct packet_bgp_session *session, struct sim_rng *r,
    const struct packet_eye *eye, struct packet_bgp_end *end, struct sim_err *e)
{
	struct bgp s = {.p = p,
	    .session = session,
	    .r = r,
	    .eye = eye,
	    .end = end,
	    .now = session->from_ns};
	topo_node node[2];
	*end = (struct packet_bgp_end){0};
	topo_link_ends(t, session->link, &node[0], &node[1]);
	if (node[0] < t->n_hosts || node[1] < t->n_hosts)
		return sim_fail(e, SIM_EINVAL,
		    "link %u ends at a host, which has no BGP session.",
		    session->link);
	if (session->until_ns == SIM_NEVER)
		return sim_fail(e, SIM_EINVAL,
		    "the BGP session over link %u has no end.", session->link);
	for (int i = 0; i < 2; i++) {
		s.side[i].at = node[i] - t->n_hosts;
		s.side[i].ip = topo_addr_of_switch(s.side[i].at);
		s.side[i].id = (uint16_t)sim_rng_u32(r);
		s.side[i].out =
		    i == 0 ? session->link : topo_link_reverse(session->link);
	}
	return bgp_live(&s, e);
}
