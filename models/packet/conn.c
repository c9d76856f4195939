/* models/packet/conn.c -- TCP connections as packets that switches may mirror.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/packet/conn.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "models/bulk/bulk.h"
#include "models/sim/tcp_connect.h"
#include "topo/addr.h"

/* Of frames, without payload: a SYN has options that others do not. */
enum { SYN_BYTES = 74, ACK_BYTES = 66 };
enum { FIRST_TTL = 64 };

#define FIELD(m) offsetof(struct packet_conn_params, m)
static const char *const conn_timers[] = {"windows", "linux", "linux_linear",
    NULL};

const struct sim_field packet_conn_fields[] = {
    {"timers", SIM_F_ENUM, FIELD(timers), .names = conn_timers, .def = "linux",
	.doc = "after which waits a SYN is sent again"},
    {"gap", SIM_F_F64, FIELD(gap_us), .min = 0, .max = 1e9, .unit = "us",
	.def = "1000", .doc = "between two data packets of a connection"},
    {"rto", SIM_F_F64, FIELD(rto_ms), .min = 1, .max = 1e6, .unit = "ms",
	.def = "200",
	.doc = "before data or a FIN is sent again; then twice that, ..."},
    {"retries", SIM_F_U32, FIELD(retries), .min = 1, .max = 16, .unit = "1",
	.def = "6", .doc = "how often one data packet or FIN is sent again"},
    {"mark_retx", SIM_F_BOOL, FIELD(mark), .def = "true",
	.doc = "mark what is sent again (highest bit of the TTL)"},
    {"data", SIM_F_U32, FIELD(data), .min = 1, .max = 9000, .unit = "bytes",
	.def = "1448", .doc = "payload of a data packet"},
    {"vip_share", SIM_F_F64, FIELD(vip_share), .min = 0, .max = 1, .unit = "1",
	.def = "0", .doc = "of connections that go to VIPs, through a mux"},
    {"debug_share", SIM_F_F64, FIELD(debug_share), .min = 0, .max = 1,
	.unit = "1", .def = "0",
	.doc = "of connections all whose packets have the debug bit"},
    {0},
};
#undef FIELD

/* Data that were lost and, at some time, come after all. A receiver
 * acknowledges nothing behind the first that is missing. */
enum { MAX_HOLES = 64 };
struct conn_hole {
	uint32_t seq;
	sim_ns until;
};

struct conn {
	const struct packet_net *net;
	const struct packet_conn_params *p;
	const struct packet_sample *sample;
	const struct packet_conn_to *to;
	struct packet_conn_end *out;
	struct sim_rng rng;
	struct topo_tuple tuple; /* of the client; maybe to a VIP */
	topo_host client, server;
	sim_ns until;
	uint32_t isn[2]; /* of client and server */
	uint16_t id[2];  /* of the next packet */
	uint8_t tos;
	sim_ns half; /* of a round trip */
	/* Of the data that are not made: hazards of the path's links, in sum
	 * along it, and how many still arrive before one is lost. */
	double hazard[TOPO_MAX_HOPS + 1], to_lose;
	struct conn_hole hole[MAX_HOLES];
	unsigned n_holes;
	sim_ns repaired; /* when the last of them is */
};

enum conn_side { CLIENT, SERVER };

/* --- packets -------------------------------------------------------------- */

/* 0 is the ID of SYN-ACKs alone. */
static uint16_t conn_next_id(struct conn *c, enum conn_side side)
{
	const uint16_t id = c->id[side];
	c->id[side] = id == UINT16_MAX ? 1 : (uint16_t)(id + 1);
	return id;
}

static int conn_is_sampled(const struct conn *c, uint16_t id)
{
	const struct packet_sample *s = c->sample;
	if (c->tos & OBS_TOS_DEBUG)
		return 1;
	return s->mask ? (id & s->mask) == s->pattern : s->pattern != 0;
}

/* A packet of SIDE; SEQ and ACK are counted from the initial numbers. */
static struct obs_packet conn_packet(const struct conn *c, enum conn_side side,
    uint8_t flags, uint16_t id, uint32_t seq, uint32_t ack, uint32_t n_bytes)
{
	const struct topo_tuple *t = &c->tuple;
	const int back = side == SERVER;
	struct obs_packet p = {
	    .ethertype = OBS_ETH_IPV4,
	    .ip = {.src_ip = back ? t->dst_ip : t->src_ip,
		.dst_ip = back ? t->src_ip : t->dst_ip,
		.id = id,
		.ttl = FIRST_TTL,
		.tos = c->tos,
		.proto = TOPO_PROTO_TCP},
	    .src_port = back ? t->dst_port : t->src_port,
	    .dst_port = back ? t->src_port : t->dst_port,
	    .tcp_flags = flags,
	    .seq = c->isn[side] + seq,
	    .ack = flags & OBS_TCP_ACK ? c->isn[!side] + ack : 0,
	    .n_bytes = n_bytes,
	};
	p.digest = (uint64_t)p.seq << 32 | p.ack;
	return p;
}

/* Where on the path L is; n_hops if it is not. */
static unsigned conn_hop_of(const struct packet_conn_end *out, topo_link l)
{
	unsigned i = 0;
	while (i < out->n_hops && out->path[i] != l)
		i++;
	return i;
}

static void conn_lost_at(struct conn *c, unsigned i, int in_port)
{
	c->out->drops[i]++;
	c->out->buffer[i] += in_port != 0;
}

static void conn_lost_on(struct conn *c, const struct packet_end *end)
{
	const unsigned i = conn_hop_of(c->out, end->link);
	if (i < c->out->n_hops)
		conn_lost_at(c, i, end->in_port);
}

/* P walks, marked if it is sent AGAIN, and is seen by EYE. */
static int conn_walk(struct conn *c, enum conn_side side, struct obs_packet *p,
    int again, sim_ns t, const struct packet_eye *eye, struct packet_end *end,
    struct sim_err *e)
{
	if (again && c->p->mark)
		p->ip.ttl |= OBS_TTL_RETX;
	c->out->n_walked++;
	const int rc = packet_walk(c->net, p,
	    side == CLIENT ? c->client : c->server, t, &c->rng, eye, end, e);
	return rc < 0 || !c->to->ended ? rc
				       : c->to->ended(c->to->arg, p, t, end, e);
}

static int conn_arrived(struct conn *c, enum conn_side side,
    const struct packet_end *end)
{
	if (side == CLIENT &&
	    (end->fate == SCENE_WALK_LOST || end->fate == SCENE_WALK_SWALLOWED))
		conn_lost_on(c, end);
	return end->fate == SCENE_WALK_DELIVERED && end->host != TOPO_NONE;
}

/* Send P at T. Returns 1 if it arrived, 0 if not. */
static int conn_send(struct conn *c, enum conn_side side, struct obs_packet *p,
    int again, sim_ns t, struct packet_end *end, struct sim_err *e)
{
	const int rc = conn_walk(c, side, p, again, t, c->to->eye, end, e);
	return rc < 0 ? rc : conn_arrived(c, side, end);
}

/* --- the path ------------------------------------------------------------- */

/* An eye that notes the way of a SYN for itself before the caller's eye. */
struct conn_look {
	const struct packet_eye *eye;
	struct packet_conn_end *out;
};

static int conn_look(void *arg, topo_switch at, topo_link in, sim_ns t,
    const struct obs_packet *p, struct sim_err *e)
{
	struct conn_look *l = arg;
	if (l->out->n_hops < TOPO_MAX_HOPS)
		l->out->path[l->out->n_hops++] = in;
	return l->eye ? l->eye->see(l->eye->arg, at, in, t, p, e) : 0;
}

/* The link that a walk met last was seen by nobody if it was lost there, or led
 * to a host. What SYNs before this one lost stays with its place on the path,
 * which all of them take. */
static int conn_send_syn(struct conn *c, struct obs_packet *p, int again,
    sim_ns t, struct packet_end *end, struct sim_err *e)
{
	struct packet_conn_end *out = c->out;
	struct conn_look look = {c->to->eye, out};
	const struct packet_eye eye = {&look, conn_look};
	out->n_hops = 0;
	const int rc = conn_walk(c, CLIENT, p, again, t, &eye, end, e);
	if (rc < 0)
		return rc;
	/* A host that is client, mux and server has no way at all. */
	if (end->link != TOPO_NONE && out->n_hops < TOPO_MAX_HOPS &&
	    conn_hop_of(out, end->link) == out->n_hops)
		out->path[out->n_hops++] = end->link;
	return conn_arrived(c, CLIENT, end);
}

/* No SYN arrived: the path goes on behind where the last one got, as the network
 * should have sent it. */
static void conn_rest_of_path(struct packet_conn_end *out,
    const topo_link path[], unsigned n_hops)
{
	if (out->n_hops > n_hops ||
	    memcmp(out->path, path, out->n_hops * sizeof(path[0])) != 0)
		return;
	memcpy(out->path, path, n_hops * sizeof(path[0]));
	out->n_hops = n_hops;
}

/* --- SYN and FIN ---------------------------------------------------------- */

static const struct fabric_sim_tcp_ladder *conn_ladder(const struct conn *c)
{
	static const struct fabric_sim_tcp_ladder *const ladder[] =
	    {&fabric_sim_tcp_windows, &fabric_sim_tcp_linux,
		&fabric_sim_tcp_linux_linear};
	return ladder[c->p->timers];
}

/* SYNs until one is answered: *T becomes the time of that. Returns 1 then. Each
 * answer has the ID 0. */
static int conn_open(struct conn *c, sim_ns *t, struct sim_err *e)
{
	const struct fabric_sim_tcp_ladder *l = conn_ladder(c);
	struct packet_end end;
	unsigned n_answers = 0;
	sim_ns at = *t;
	int rc;
	for (unsigned k = 0; k <= l->n_retries && at < c->until; k++) {
		struct obs_packet syn = conn_packet(c, CLIENT, OBS_TCP_SYN,
		    conn_next_id(c, CLIENT), 0, 0, SYN_BYTES);
		c->out->flow.n_retx += k > 0;
		c->out->n_bytes += SYN_BYTES;
		if ((rc = conn_send_syn(c, &syn, k > 0, at, &end, e)) < 0)
			return rc;
		if (rc > 0) {
			struct obs_packet ack = conn_packet(c, SERVER,
			    OBS_TCP_SYN | OBS_TCP_ACK, 0, 0, 1, SYN_BYTES);
			c->server = end.host;
			c->out->n_bytes += SYN_BYTES;
			if ((rc = conn_send(c, SERVER, &ack, n_answers++ > 0,
				 end.at, &end, e)) < 0)
				return rc;
			if (rc > 0) {
				c->half = (end.at - at) / 2;
				*t = end.at;
				return 1;
			}
		}
		at += l->wait_ns[k];
	}
	return 0;
}

/* The wait before packet K + 1 of something is sent again. */
static sim_ns conn_rto(const struct conn *c, unsigned k)
{
	return (sim_ns)(c->p->rto_ms * 1e6) << k;
}

/* FINs of the client until the server's comes, which is acknowledged. SEQ is
 * behind the data. */
static int conn_shut(struct conn *c, uint32_t seq, sim_ns at, struct sim_err *e)
{
	const uint8_t flags = OBS_TCP_FIN | OBS_TCP_ACK;
	struct packet_end end;
	int rc = 0, n_answers = 0;
	for (unsigned k = 0; k <= c->p->retries && at < c->until; k++) {
		struct obs_packet fin = conn_packet(c, CLIENT, flags,
		    conn_next_id(c, CLIENT), seq, 1, ACK_BYTES);
		c->out->flow.n_retx += k > 0;
		c->out->n_bytes += ACK_BYTES;
		if ((rc = conn_send(c, CLIENT, &fin, k > 0, at, &end, e)) < 0)
			return rc;
		if (rc > 0) {
			struct obs_packet back = conn_packet(c, SERVER, flags,
			    conn_next_id(c, SERVER), 1, seq + 1, ACK_BYTES);
			c->out->n_bytes += ACK_BYTES;
			if ((rc = conn_send(c, SERVER, &back, n_answers++ > 0,
				 end.at, &end, e)) < 0)
				return rc;
			if (rc > 0)
				break;
		}
		at += conn_rto(c, k);
	}
	if (rc <= 0)
		return rc;
	c->out->n_bytes += ACK_BYTES;
	const uint16_t id = conn_next_id(c, CLIENT);
	if (!conn_is_sampled(c, id) || end.at >= c->until)
		return 0;
	struct obs_packet last =
	    conn_packet(c, CLIENT, OBS_TCP_ACK, id, seq + 1, 2, ACK_BYTES);
	return conn_send(c, CLIENT, &last, 0, end.at, &end, e);
}

/* --- data ----------------------------------------------------------------- */

/* How many more packets arrive before one is lost, when each is with hazard H:
 * geometric. */
static double conn_draw_run(struct conn *c, double h)
{
	return h > 0 ? floor(-log(sim_rng_u01_open(&c->rng)) / h) : INFINITY;
}

/* Where a packet is lost that is: hop I with the share that its hazard has. */
static unsigned conn_draw_hop(struct conn *c)
{
	const unsigned n = c->out->n_hops;
	const double u = sim_rng_u01(&c->rng) * -expm1(-c->hazard[n]);
	unsigned i = 0;
	while (i + 1 < n && u >= -expm1(-c->hazard[i + 1]))
		i++;
	return i;
}

/* The first hop whose port is full at T and drops a packet; n_hops if none
 * does. */
static unsigned conn_draw_port(struct conn *c, sim_ns t)
{
	const struct scene_walk_net *net = &c->net->walk;
	const unsigned n = c->out->n_hops;
	if (!scene_congestion_is_on(&net->scene->congestion))
		return n;
	for (unsigned i = 0; i < n; i++) {
		const double port = scene_walk_port(net, c->out->path[i], t);
		if (port > 0 && scene_walk_is_lost(sim_rng_u01(&c->rng), port))
			return i;
	}
	return n;
}

/* Whether a packet that is not made is lost at T: on the way to each link it
 * meets its port first. */
static int conn_lose(struct conn *c, sim_ns t)
{
	const unsigned n = c->out->n_hops, port = conn_draw_port(c, t);
	unsigned link = n;
	if (c->to_lose-- <= 0) {
		link = conn_draw_hop(c);
		c->to_lose = conn_draw_run(c, c->hazard[n]);
	}
	const unsigned first = port < link ? port : link;
	if (first < n)
		conn_lost_at(c, first, port <= link);
	return first < n;
}

/* What the server has of the data without a gap at T, when it has got all before
 * SEQ but for holes. */
static uint32_t conn_covered(const struct conn *c, uint32_t seq, sim_ns t)
{
	for (unsigned i = 0; i < c->n_holes; i++)
		if (c->hole[i].until > t && c->hole[i].seq < seq)
			seq = c->hole[i].seq;
	return seq;
}

/* Data of SEQ, lost at T, are sent until they arrive. Beyond MAX_HOLES the last
 * hole stands for all that come after it: the server then acknowledges less than
 * it could. */
static int conn_resend(struct conn *c, uint32_t seq, sim_ns t,
    struct sim_err *e)
{
	struct packet_end end = {0};
	int rc = 0;
	for (unsigned k = 0; rc == 0 && k < c->p->retries; k++) {
		if ((t += conn_rto(c, k)) >= c->until)
			break;
		struct obs_packet p = conn_packet(c, CLIENT, OBS_TCP_ACK,
		    conn_next_id(c, CLIENT), seq, 1, ACK_BYTES + c->p->data);
		c->out->flow.n_retx++;
		c->out->n_bytes += p.n_bytes;
		rc = conn_send(c, CLIENT, &p, 1, t, &end, e);
	}
	if (rc < 0)
		return rc;
	const sim_ns until = rc > 0 ? end.at : SIM_NEVER;
	if (until > c->repaired)
		c->repaired = until;
	if (c->n_holes < MAX_HOLES)
		c->hole[c->n_holes++] = (struct conn_hole){seq, until};
	else if (c->hole[MAX_HOLES - 1].until < until)
		c->hole[MAX_HOLES - 1].until = until;
	return 0;
}

/* One data packet, at T, as far as it must be made. */
static int conn_datum(struct conn *c, uint32_t seq, sim_ns t, struct sim_err *e)
{
	const uint16_t id = conn_next_id(c, CLIENT);
	struct packet_end end;
	int rc;
	c->out->n_bytes += ACK_BYTES + c->p->data;
	if (conn_is_sampled(c, id)) {
		struct obs_packet p = conn_packet(c, CLIENT, OBS_TCP_ACK, id,
		    seq, 1, ACK_BYTES + c->p->data);
		rc = conn_send(c, CLIENT, &p, 0, t, &end, e);
		return rc == 0 ? conn_resend(c, seq, t, e) : rc < 0 ? rc : 0;
	}
	return conn_lose(c, t) ? conn_resend(c, seq, t, e) : 0;
}

/* The server acknowledges all before SEQ at T. */
static int conn_answer(struct conn *c, uint32_t seq, sim_ns t,
    struct sim_err *e)
{
	const uint16_t id = conn_next_id(c, SERVER);
	struct packet_end end;
	c->out->n_bytes += ACK_BYTES;
	if (!conn_is_sampled(c, id))
		return 0;
	struct obs_packet p = conn_packet(c, SERVER, OBS_TCP_ACK, id, 1,
	    conn_covered(c, seq, t), ACK_BYTES);
	const int rc = conn_send(c, SERVER, &p, 0, t, &end, e);
	return rc < 0 ? rc : 0;
}

/* The connection stands since T. Every second data packet is acknowledged, and
 * the last. */
static int conn_talk(struct conn *c, sim_ns t, struct sim_err *e)
{
	const uint32_t n = c->out->flow.n_pkts;
	const sim_ns gap = (sim_ns)(c->p->gap_us * 1e3);
	struct scene_walk_net links = c->net->walk;
	uint32_t i = 0, seq = 1;
	int rc = 0;
	/* Ports are full for less than a connection lasts: each packet asks. */
	links.no_ports = 1;
	scene_walk_hazards(&links, &c->tuple, c->out->path, c->out->n_hops, t,
	    c->hazard);
	c->to_lose = conn_draw_run(c, c->hazard[c->out->n_hops]);
	for (; rc == 0 && i < n && t < c->until; i++, t += gap) {
		rc = conn_datum(c, seq, t, e);
		seq += c->p->data;
		if (rc == 0 && (i % 2 == 1 || i + 1 == n))
			rc = conn_answer(c, seq, t + c->half, e);
	}
	if (rc < 0 || i < n || c->repaired == SIM_NEVER)
		return rc;
	return conn_shut(c, seq, c->repaired > t ? c->repaired : t, e);
}

/* --- all of it ------------------------------------------------------------ */

/* What is drawn of a connection before it begins. */
struct conn_draws {
	uint32_t isn[2]; /* of client and server */
	uint16_t id[2];
	double vip, debug; /* uniform: whether it is */
	uint32_t which;
};

/* Draws come in this order whatever happens, so that the scene's faults change
 * no number of a connection. */
static void conn_draw(struct sim_rng *r, const struct sim_seed *where,
    uint64_t flow, struct conn_draws *d)
{
	sim_rng_init(r, where, SIM_STREAM_CONN, (uint32_t)flow);
	d->isn[CLIENT] = sim_rng_u32(r);
	d->isn[SERVER] = sim_rng_u32(r);
	d->id[CLIENT] = (uint16_t)(1 + sim_rng_below(r, UINT16_MAX));
	d->id[SERVER] = (uint16_t)(1 + sim_rng_below(r, UINT16_MAX));
	d->vip = sim_rng_u01(r);
	d->debug = sim_rng_u01(r);
	d->which = sim_rng_u32(r);
}

static uint32_t conn_vip(const struct packet_conn_params *p,
    const struct conn_draws *d, const uint32_t vip[], uint32_t n_vips)
{
	return d->vip < p->vip_share && n_vips > 0 ? vip[d->which % n_vips] : 0;
}

uint32_t packet_conn_vip(const struct packet_conn_params *p,
    const struct sim_seed *where, const uint32_t vip[], uint32_t n_vips,
    uint64_t flow)
{
	struct conn_draws d;
	struct sim_rng r;
	conn_draw(&r, where, flow, &d);
	return conn_vip(p, &d, vip, n_vips);
}

static void conn_begin(struct conn *c, const uint32_t vip[], uint32_t n_vips,
    uint64_t flow)
{
	const struct obs_flow *f = &c->out->flow;
	struct packet_conn_end *out = c->out;
	struct conn_draws d;
	conn_draw(&c->rng, &c->net->walk.scene->where, flow, &d);
	memcpy(c->isn, d.isn, sizeof(c->isn));
	memcpy(c->id, d.id, sizeof(c->id));
	const uint32_t to = conn_vip(c->p, &d, vip, n_vips);
	out->has_vip = to != 0;
	out->is_debug = d.debug < c->p->debug_share ||
	    (c->to->marks && c->to->marks[f->src_host]);
	c->tos = out->is_debug ? OBS_TOS_DEBUG : 0;
	c->client = f->src_host;
	c->server = f->dst_host;
	c->tuple = (struct topo_tuple){topo_addr_of_host(f->src_host),
	    to != 0 ? to : topo_addr_of_host(f->dst_host), f->src_port,
	    f->dst_port, TOPO_PROTO_TCP};
}

int packet_conn_run(const struct packet_net *net,
    const struct packet_conn_params *p, const struct packet_sample *sample,
    const uint32_t vip[], uint32_t n_vips, uint64_t flow, sim_ns until,
    const struct packet_conn_to *to, struct packet_conn_end *end,
    struct sim_err *e)
{
	topo_link path[TOPO_MAX_HOPS];
	struct conn c = {.net = net,
	    .p = p,
	    .sample = sample,
	    .to = to,
	    .out = end,
	    .until = until};
	*end = (struct packet_conn_end){0};
	const unsigned n_hops =
	    bulk_flow(net->walk.scene, flow, &end->flow, path);
	conn_begin(&c, vip, n_vips, flow);
	if (truth_outage_at(&net->walk.scene->truth, TRUTH_HOST_OFF, c.client,
		end->flow.start_ns)) {
		end->flow.n_pkts = 0;
		return 0;
	}
	sim_ns t = end->flow.start_ns;
	int rc = conn_open(&c, &t, e);
	end->n_early = end->flow.n_retx;
	end->established = rc > 0;
	if (rc > 0)
		rc = conn_talk(&c, t, e);
	else if (rc == 0 && !end->has_vip)
		conn_rest_of_path(end, path, n_hops);
	end->flow.dst_host = c.server;
	if (end->flow.n_pkts < end->flow.n_retx)
		end->flow.n_pkts = end->flow.n_retx;
	return rc < 0 ? rc : 0;
}

/* SYN, SYN-ACK and ACK, where the ACK is the first data packet; two FINs and the
 * acknowledgement of the second. */
struct packet_conn_size packet_conn_whole(const struct packet_conn_params *p,
    uint32_t n)
{
	const uint64_t bare = (uint64_t)n / 2 + n % 2 + 3;
	return (struct packet_conn_size){2 + n + bare,
	    2 * SYN_BYTES + n * ((uint64_t)ACK_BYTES + p->data) +
		bare * ACK_BYTES};
}
