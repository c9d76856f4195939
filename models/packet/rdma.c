/* models/packet/rdma.c -- RoCE v2: messages of queue pairs, and their losses.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/packet/rdma.h"

#include <math.h>
#include <stddef.h>

#include "topo/addr.h"

static const char *const recovery_names[] = {"go_back_n", "go_back_0", NULL};

const struct sim_field packet_rdma_fields[] = {
    {"recovery", SIM_F_ENUM, offsetof(struct packet_rdma_params, recovery),
	.names = recovery_names, .def = "go_back_n",
	.doc = "what a NIC sends again: what was lost and all behind it, or "
	       "the whole message"},
    {"message", SIM_F_U32, offsetof(struct packet_rdma_params, message),
	.min = 1, .max = 1 << 20, .unit = "packets", .def = "1024",
	.doc = "length of a message"},
    {"payload", SIM_F_U32, offsetof(struct packet_rdma_params, payload),
	.min = 64, .max = 4096, .unit = "bytes", .def = "1024",
	.doc = "part of a message in each packet"},
    {"gbps", SIM_F_F64, offsetof(struct packet_rdma_params, gbps), .min = 0.1,
	.max = 1600, .unit = "Gb/s", .def = "40", .doc = "line rate of NICs"},
    {"rtt", SIM_F_F64, offsetof(struct packet_rdma_params, rtt_us), .min = 0,
	.max = 1e6, .unit = "us", .def = "10",
	.doc = "round trip of a packet and its answer"},
    {"timeout", SIM_F_F64, offsetof(struct packet_rdma_params, timeout_us),
	.min = 1, .max = 1e7, .unit = "us", .def = "4000",
	.doc = "how long a NIC waits for an answer"},
    {"paused", SIM_F_F64, offsetof(struct packet_rdma_params, paused), .min = 0,
	.max = 0.99, .unit = "1", .def = "0",
	.doc = "share of time that pause frames keep NICs from sending"},
    {0},
};

/* Bytes of a frame around the payload: Ethernet, IP, UDP, BTH, and the check
 * value of RoCE; on the line the frame's own, the preamble and the gap, too. */
enum {
	HEADERS = 14 + 20 + 8 + 12 + 4,
	ON_LINE = 4 + 8 + 12,
	AETH = 4,
	LOSSLESS_TOS = 26 << 2 | 2, /* a DSCP that is usual for it, ECN on */
};

/* A queue pair as it goes on. */
struct rdma {
	const struct packet_rdma_params *p;
	const struct packet_rdma_pair *pair;
	const struct packet_rdma_wire *wire;
	struct sim_rng *r;
	struct packet_rdma_end *end;
	double slot_ns;
	sim_ns start;   /* when the packet at offset `first` leaves */
	uint32_t first; /* of the message, in this attempt */
	uint32_t psn;   /* of the message's first packet */
	uint16_t id, back_id;
	uint64_t quiet; /* data that are not made and arrive, before the next
			   that is lost */
	int complained; /* the receiver did, and what it expects has not come
			   since */
};

double packet_rdma_slot_ns(const struct packet_rdma_params *p)
{
	return (p->payload + HEADERS + ON_LINE) * 8 / p->gbps / (1 - p->paused);
}

double packet_rdma_share(enum packet_rdma_recovery recovery, double p,
    uint32_t message)
{
	const double log_all = message * log1p(-p); /* log of q^M */
	if (recovery == PACKET_RDMA_GO_BACK_N || p == 0)
		return 1 - p;
	return p == 1 ? 0 : message * p * exp(log_all) / -expm1(log_all);
}

struct topo_tuple packet_rdma_tuple(const struct packet_rdma_pair *pair,
    int back)
{
	return (
	    struct topo_tuple){topo_addr_of_host(back ? pair->to : pair->from),
	    topo_addr_of_host(back ? pair->from : pair->to), pair->src_port,
	    OBS_PORT_ROCE, OBS_PROTO_UDP};
}

/* --- packets -------------------------------------------------------------- */

/* How many packets of data arrive before the next that is lost. */
static uint64_t rdma_draw_quiet(struct rdma *s)
{
	const double p = s->pair->loss;
	if (p <= 0)
		return UINT64_MAX;
	if (p >= 1)
		return 0;
	const double n = floor(log(sim_rng_u01_open(s->r)) / log1p(-p));
	return n < 0x1p62 ? (uint64_t)n : UINT64_MAX;
}

/* How many packets come before the next that is made, whose sender is at ID. */
static uint32_t rdma_until_made(const struct rdma *s, uint16_t id)
{
	if (!s->wire)
		return UINT32_MAX;
	if (s->pair->is_debug)
		return 0;
	if (s->pair->sample.mask == 0)
		return UINT32_MAX;
	return (uint16_t)(s->pair->sample.pattern - id) & s->pair->sample.mask;
}

static struct obs_packet rdma_packet(const struct rdma *s, int back,
    uint8_t opcode, uint32_t offset, uint16_t id)
{
	const struct topo_tuple t = packet_rdma_tuple(s->pair, back);
	const uint32_t body = back ? AETH : s->p->payload;
	struct obs_packet p = {
	    .ethertype = OBS_ETH_IPV4,
	    .ip = {t.src_ip, t.dst_ip, id, 64, LOSSLESS_TOS, t.proto},
	    .src_port = t.src_port,
	    .dst_port = t.dst_port,
	    .bth_opcode = opcode,
	    .seq = (s->psn + offset) & 0xffffff,
	    .n_bytes = HEADERS + body,
	};
	if (s->pair->is_debug)
		p.ip.tos |= OBS_TOS_DEBUG;
	p.digest =
	    obs_roce_digest((uint16_t)(p.n_bytes - 14 - 20), opcode, p.seq);
	return p;
}

static int rdma_wire(struct rdma *s, int back, sim_ns sent,
    const struct obs_packet *p, struct sim_err *e)
{
	s->end->n_made++;
	return s->wire->send(s->wire->arg, back ? s->pair->to : s->pair->from,
	    sent, p, e);
}

/* When the packet at offset I leaves; it has left a slot later. */
static sim_ns rdma_at(const struct rdma *s, uint32_t i)
{
	return s->start + (sim_ns)((double)(i - s->first) * s->slot_ns);
}

static uint8_t rdma_opcode(const struct rdma *s, uint32_t i)
{
	const uint32_t last = s->p->message - 1;
	if (last == 0)
		return PACKET_RDMA_ONLY;
	if (i == 0)
		return PACKET_RDMA_FIRST;
	return i == last ? PACKET_RDMA_LAST : PACKET_RDMA_MIDDLE;
}

/* Send the packet at offset I: 1 if it is lost, 0 if not. */
static int rdma_send_one(struct rdma *s, uint32_t i, struct sim_err *e)
{
	int lost;
	if (rdma_until_made(s, s->id) == 0) {
		const struct obs_packet p =
		    rdma_packet(s, 0, rdma_opcode(s, i), i, s->id);
		lost = rdma_wire(s, 0, rdma_at(s, i), &p, e);
		if (lost < 0)
			return lost;
	} else {
		lost = s->quiet == 0;
		s->quiet = lost ? rdma_draw_quiet(s) : s->quiet - 1;
	}
	s->id++;
	s->end->n_sent++;
	s->end->n_lost += lost != 0;
	return lost != 0;
}

/* Send from *I on, before END, until a packet has been sent whose being lost is
 * WANT, which is then at *I, and 1 is returned; 0 if there is none. */
static int rdma_send_until(struct rdma *s, uint32_t *i, uint32_t end, int want,
    struct sim_err *e)
{
	for (; *i < end; ++*i) {
		uint64_t n = rdma_until_made(s, s->id);
		n = n < s->quiet ? n : s->quiet;
		n = n < end - *i ? n : end - *i;
		/* N packets arrive and are not made: they need no look. */
		if (want == 1 && n > 0) {
			s->quiet -= s->quiet == UINT64_MAX ? 0 : n;
			s->id += (uint16_t)n;
			s->end->n_sent += n;
			*i += (uint32_t)n;
			if (*i == end)
				return 0;
		}
		const int lost = rdma_send_one(s, *i, e);
		if (lost < 0 || lost == want)
			return lost < 0 ? lost : 1;
	}
	return 0;
}

/* Send from I on, before END, whatever becomes of it. */
static int rdma_send_rest(struct rdma *s, uint32_t i, uint32_t end,
    struct sim_err *e)
{
	int rc;
	while ((rc = rdma_send_until(s, &i, end, 1, e)) > 0)
		i++;
	return rc;
}

/* The receiver answers at AT about OFFSET: 1 if that is lost. */
static int rdma_answer(struct rdma *s, int is_nak, uint32_t offset, sim_ns at,
    struct sim_err *e)
{
	const uint16_t id = s->back_id++;
	struct obs_packet p = rdma_packet(s, 1, OBS_BTH_ACK, offset, id);
	p.aeth = is_nak ? OBS_AETH_NAK : 0;
	s->end->n_naks += (uint64_t)is_nak;
	if (s->wire && (is_nak || rdma_until_made(s, id) == 0))
		return rdma_wire(s, 1, at, &p, e);
	return sim_rng_u01(s->r) < s->pair->back_loss;
}

/* --- attempts ------------------------------------------------------------- */

static sim_ns rdma_us(double us)
{
	return (sim_ns)(us * 1e3);
}

/* The next attempt begins at AT, at what the NIC goes back to if the packet at
 * offset LOST is the first that was lost. */
static void rdma_go_back(struct rdma *s, uint32_t lost, sim_ns at)
{
	const int restarts = s->p->recovery == PACKET_RDMA_GO_BACK_0;
	s->end->n_restarts += restarts && at < s->pair->until_ns;
	s->first = restarts ? 0 : lost;
	s->start = at;
}

/* Nothing comes back: a timeout after the packet before END has left. */
static void rdma_time_out(struct rdma *s, uint32_t lost, uint32_t end)
{
	const sim_ns at = rdma_at(s, end) + rdma_us(s->p->timeout_us);
	s->end->n_timeouts += at < s->pair->until_ns;
	rdma_go_back(s, lost, at);
}

/* The first offset from LO on, before END, that would leave at T or later. */
static uint32_t rdma_before(const struct rdma *s, uint32_t lo, uint32_t end,
    sim_ns t)
{
	while (lo < end) {
		const uint32_t mid = lo + (end - lo) / 2;
		if (rdma_at(s, mid) < t)
			lo = mid + 1;
		else
			end = mid;
	}
	return lo;
}

/* The packet at LOST did not come, that at GOT did, and the receiver says so.
 * Until the sender hears it, it goes on. */
static int rdma_gap(struct rdma *s, uint32_t lost, uint32_t got, uint32_t end,
    struct sim_err *e)
{
	const sim_ns left = rdma_at(s, got + 1);
	const sim_ns at = left + rdma_us(s->p->rtt_us / 2);
	const sim_ns back = left + rdma_us(s->p->rtt_us);
	int nak_lost = 1;
	if (at < s->pair->until_ns) {
		if ((nak_lost = rdma_answer(s, 1, lost, at, e)) < 0)
			return nak_lost;
		s->complained = 1;
	}
	const uint32_t stop =
	    nak_lost ? end : rdma_before(s, got + 1, end, back);
	const int rc = rdma_send_rest(s, got + 1, stop, e);
	if (rc < 0)
		return rc;
	if (nak_lost)
		rdma_time_out(s, lost, end);
	else
		rdma_go_back(s, lost, back);
	return 0;
}

/* The whole message has arrived; is that heard? 1 if so. */
static int rdma_arrived(struct rdma *s, struct sim_err *e)
{
	const uint32_t n = s->p->message;
	const sim_ns left = rdma_at(s, n);
	const sim_ns at = left + rdma_us(s->p->rtt_us / 2);
	s->complained = 0;
	const int lost =
	    at < s->pair->until_ns ? rdma_answer(s, 0, n - 1, at, e) : 1;
	if (lost > 0)
		rdma_time_out(s, n - 1, n);
	if (lost != 0)
		return lost < 0 ? lost : 0;
	s->start = left + rdma_us(s->p->rtt_us);
	return s->start <= s->pair->until_ns;
}

/* Send the message from s->first on: 1 when it is done with, 0 if another
 * attempt is needed, or time is up. */
static int rdma_attempt(struct rdma *s, struct sim_err *e)
{
	const uint32_t end =
	    rdma_before(s, s->first, s->p->message, s->pair->until_ns);
	uint32_t lost = s->first, got;
	int rc = rdma_send_until(s, &lost, end, 1, e);
	if (rc < 0)
		return rc;
	if (rc == 0 && end == s->p->message)
		return rdma_arrived(s, e);
	if (rc == 0) {
		s->start = s->pair->until_ns;
		return 0;
	}
	/* A receiver complains once, and keeps silent until it gets what it
	 * asked for. */
	if (lost > s->first)
		s->complained = 0;
	got = lost + 1;
	if (s->complained)
		rc = rdma_send_rest(s, got, end, e);
	else
		rc = rdma_send_until(s, &got, end, 0, e);
	if (rc > 0)
		return rdma_gap(s, lost, got, end, e);
	if (rc == 0)
		rdma_time_out(s, lost, end);
	return rc;
}

static int rdma_check(const struct packet_rdma_params *p,
    const struct packet_rdma_pair *pair, struct sim_err *e)
{
	if (p->timeout_us < p->rtt_us)
		return sim_fail(e, SIM_EINVAL,
		    "a timeout of %g us is shorter than a round trip of %g us.",
		    p->timeout_us, p->rtt_us);
	if (pair->from == pair->to)
		return sim_fail(e, SIM_EINVAL,
		    "a queue pair leads from host %u to itself.", pair->from);
	if (pair->until_ns == SIM_NEVER)
		return sim_fail(e, SIM_EINVAL,
		    "a queue pair of host %u has no end.", pair->from);
	if (pair->sample.mask & (pair->sample.mask + 1))
		return sim_fail(e, SIM_EINVAL,
		    "sample mask %#x is not 2^n - 1, n in [0, 16].",
		    pair->sample.mask);
	return 0;
}

static void rdma_summarise(const struct rdma *s)
{
	struct packet_rdma_end *end = s->end;
	const struct packet_rdma_pair *pair = s->pair;
	end->at = s->start < pair->until_ns ? s->start : pair->until_ns;
	end->n_bytes = end->n_messages * s->p->message * s->p->payload;
	if (end->at > pair->from_ns)
		end->goodput = (double)end->n_messages * s->p->message *
		    s->slot_ns * (1 - s->p->paused) /
		    (double)(end->at - pair->from_ns);
}

int packet_rdma_run(const struct packet_rdma_params *p,
    const struct packet_rdma_pair *pair, struct sim_rng *r,
    const struct packet_rdma_wire *wire, struct packet_rdma_end *end,
    struct sim_err *e)
{
	int rc = rdma_check(p, pair, e);
	*end = (struct packet_rdma_end){.at = pair->from_ns};
	if (rc < 0)
		return rc;
	struct rdma s = {p, pair, wire, r, end, packet_rdma_slot_ns(p),
	    pair->from_ns, 0, sim_rng_u32(r) & 0xffffff,
	    (uint16_t)sim_rng_u32(r), (uint16_t)sim_rng_u32(r), 0, 0};
	s.quiet = rdma_draw_quiet(&s);
	while (s.start < pair->until_ns &&
	    (pair->n_messages == 0 || end->n_messages < pair->n_messages)) {
		if ((rc = rdma_attempt(&s, e)) < 0)
			return rc;
		if (rc == 0)
			continue;
		end->n_messages++;
		s.psn = (s.psn + p->message) & 0xffffff;
		s.first = 0;
	}
	rdma_summarise(&s);
	return 0;
}
