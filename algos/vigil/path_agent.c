/* algos/vigil/path_agent.c -- 007's host agent: the paths of losing flows.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/vigil/path_agent.h"

#include <math.h>
#include <string.h>

#include "sim/bucket.h"
#include "topo/addr.h"

enum {
	NO_CONN = PATH_AGENT_CONNS,
	TTL_BITS = 5,
	SLOT_BITS = 6,
	GENERATIONS = 1 << (16 - TTL_BITS - SLOT_BITS),
};
static_assert(PATH_AGENT_SLOTS == 1 << SLOT_BITS, "a slot fits in an IP ID");
static_assert(TOPO_MAX_HOPS < 1 << TTL_BITS, "a TTL fits in an IP ID");
static_assert(TOPO_MAX_HOPS + 1 <= AGENT_MAX_OUT, "a trace fits in a step");

/* A connection that retransmitted in this epoch. */
struct conn {
	struct topo_tuple tuple; /* as the host sees it */
	uint32_t n_retx;
	uint8_t traced; /* or asked for at the load balancer */
};

/* A slot is ASKING while the load balancer looks up the DIP, which 007 needs
 * because switches see the DIP and not the VIP, and TRACING while probes are
 * out. */
enum phase { FREE, ASKING, TRACING };

struct slot {
	struct topo_tuple tuple; /* TRACING: with the DIP */
	uint32_t turn;           /* how often the slot was used */
	uint32_t n_retx;         /* when its connection was forgotten */
	uint16_t conn;           /* NO_CONN: forgotten */
	uint8_t phase, n_hops;
	uint32_t hop_ip[TOPO_MAX_HOPS];
};

struct state {
	const struct algo_path_agent_params *params;
	struct sim_bucket limit;
	sim_ns bucket, timeout_ns;
	uint64_t epoch;
	uint32_t n_conns;
	uint32_t n_slots; /* those that were ever used */
	struct conn conn[PATH_AGENT_CONNS];
	struct slot slot[PATH_AGENT_SLOTS];
};
static_assert(sizeof(struct state) <= PATH_AGENT_STATE, "memory of a host");

const struct sim_field algo_path_agent_fields[] = {
    {"c_t", SIM_F_F64, offsetof(struct algo_path_agent_params, c_t), .min = 0,
	.max = 1e6, .unit = "1/s", .def = "10",
	.doc = "traces a host may begin; 0: any number"},
    {"max_ttl", SIM_F_U32, offsetof(struct algo_path_agent_params, max_ttl),
	.min = 1, .max = TOPO_MAX_HOPS, .unit = "hops", .def = "15",
	.doc = "probes of a trace, with TTL 1, 2, ..."},
    {"timeout", SIM_F_F64, offsetof(struct algo_path_agent_params, timeout_s),
	.min = 1e-6, .max = 1e3, .unit = "s", .def = "1",
	.doc = "how long a trace waits for answers"},
    {0},
};

static int path_agent_init(void *state, topo_host host, const void *params,
    struct sim_err *e)
{
	struct state *s = state;
	const struct algo_path_agent_params *p = params;
	(void)host;
	(void)e;
	/* Of the tables, what was never used is never read. */
	s->params = p;
	/* C_t of theorem 1: tokens for path discoveries, at most one second's
	 * worth but at least one, or a host with C_t below 1 could never
	 * trace. */
	s->limit = sim_bucket_of(p->c_t, (uint32_t)fmax(1, ceil(p->c_t)));
	s->bucket = 0;
	s->timeout_ns = sim_ns_of(p->timeout_s);
	s->epoch = 0;
	s->n_conns = 0;
	s->n_slots = 0;
	return 0;
}

/* Section 4: at most one path discovery a connection and epoch. Forgetting
 * all connections at the turn lets each be traced again. Traces under way go
 * on, and keep their connection's counter, as the entry that held it is used
 * anew. */
static void turn_epoch(struct state *s, sim_ns now)
{
	const uint64_t epoch =
	    s->params->epoch_ns ? now / s->params->epoch_ns : 0;
	if (epoch == s->epoch)
		return;
	for (uint32_t i = 0; i < s->n_slots; i++) {
		struct slot *slot = &s->slot[i];
		if (slot->phase == FREE || slot->conn == NO_CONN)
			continue;
		slot->n_retx = s->conn[slot->conn].n_retx;
		slot->conn = NO_CONN;
	}
	s->epoch = epoch;
	s->n_conns = 0;
}

/* The entry of this connection, a new one if it has none, or NULL. Only entries
 * that were not traced may be given up: forgetting a traced one would let its
 * connection be traced twice in an epoch. */
static struct conn *path_agent_conn_of(struct state *s,
    const struct topo_tuple *tuple)
{
	struct conn *spare = NULL;
	for (uint32_t i = 0; i < s->n_conns; i++) {
		if (topo_tuple_same(&s->conn[i].tuple, tuple))
			return &s->conn[i];
		if (!s->conn[i].traced && !spare)
			spare = &s->conn[i];
	}
	if (s->n_conns < PATH_AGENT_CONNS)
		spare = &s->conn[s->n_conns++];
	if (spare)
		*spare = (struct conn){.tuple = *tuple};
	return spare;
}

/* Slots are taken in order and not cleared in advance: those from n_slots on
 * have never been used. */
static struct slot *free_slot(struct state *s)
{
	for (uint32_t i = 0; i < s->n_slots; i++)
		if (s->slot[i].phase == FREE)
			return &s->slot[i];
	if (s->n_slots == PATH_AGENT_SLOTS)
		return NULL;
	s->slot[s->n_slots].turn = 0;
	s->slot[s->n_slots].phase = FREE;
	return &s->slot[s->n_slots++];
}

/* What a slot waits for: its number and its turn. A query's timer and that of
 * the trace after it are of different turns, so a timer that fires late, for a
 * use of the slot that is over, finds nothing. */
static uint64_t path_agent_token_of(const struct state *s,
    const struct slot *slot)
{
	return (uint64_t)slot->turn << 32 | (uint64_t)(slot - s->slot);
}

static struct slot *slot_of(struct state *s, uint64_t token, enum phase phase)
{
	const uint32_t i = (uint32_t)token;
	if (i >= s->n_slots || s->slot[i].phase != phase ||
	    s->slot[i].turn != token >> 32)
		return NULL;
	return &s->slot[i];
}

static void wait_for(const struct state *s, const struct slot *slot, sim_ns now,
    struct agent_out *out)
{
	struct agent_action *a = agent_act(out, AGENT_SET_TIMER);
	a->token = path_agent_token_of(s, slot);
	a->at_ns = now + s->timeout_ns;
}

/* Section 4 puts the TTL into the IP ID, because an ICMP message is only sure
 * to quote the IP header and eight bytes more. The slot and its generation
 * stand there too, so that an answer finds its trace and one to an earlier
 * trace of the slot does not count. */
static uint16_t ip_id_of(const struct state *s, const struct slot *slot,
    unsigned ttl)
{
	const unsigned number =
	    slot->turn % GENERATIONS << SLOT_BITS | (unsigned)(slot - s->slot);
	return (uint16_t)(number << TTL_BITS | ttl);
}

/* All probes leave at once. They are TCP packets of the flow's own five-tuple,
 * so ECMP sends them over the flow's links as they are now, shortly after the
 * loss. */
static void path_agent_trace(struct state *s, struct slot *slot, sim_ns now,
    struct agent_out *out)
{
	slot->phase = TRACING;
	slot->turn++;
	slot->n_hops = 0;
	memset(slot->hop_ip, 0, sizeof(slot->hop_ip));
	for (unsigned ttl = 1; ttl <= s->params->max_ttl; ttl++) {
		struct agent_action *a = agent_act(out, AGENT_PROBE);
		a->tuple = slot->tuple;
		a->ttl = (uint8_t)ttl;
		a->ip_id = ip_id_of(s, slot, ttl);
	}
	wait_for(s, slot, now, out);
}

/* The query has the same timeout as a trace; a balancer that does not answer
 * must not hold the slot for ever. */
static void path_agent_ask(struct state *s, struct slot *slot, sim_ns now,
    struct agent_out *out)
{
	slot->phase = ASKING;
	slot->turn++;
	struct agent_action *a = agent_act(out, AGENT_SLB_QUERY);
	a->tuple = slot->tuple;
	a->token = path_agent_token_of(s, slot);
	wait_for(s, slot, now, out);
}

static void on_retx(struct state *s, sim_ns now, const struct agent_event *ev,
    struct agent_out *out)
{
	struct conn *c = path_agent_conn_of(s, &ev->tuple);
	struct slot *slot;
	if (!c)
		return;
	c->n_retx++;
	/* The token is taken last, or connections that cannot be traced would
	 * use up the host's C_t. */
	if (c->traced || !ev->established || !(slot = free_slot(s)) ||
	    !sim_bucket_take(&s->limit, &s->bucket, now))
		return;
	/* Marked already when asked for: 007 does not ask or trace again in
	 * this epoch, whatever comes of it. */
	c->traced = 1;
	slot->tuple = ev->tuple;
	slot->conn = (uint16_t)(c - s->conn);
	if (topo_addr_is_vip(ev->tuple.dst_ip))
		path_agent_ask(s, slot, now, out);
	else
		path_agent_trace(s, slot, now, out);
}

static void on_slb_reply(struct state *s, sim_ns now,
    const struct agent_event *ev, struct agent_out *out)
{
	struct slot *slot = slot_of(s, ev->token, ASKING);
	if (!slot)
		return;
	/* Section 4: no path discovery when the query fails. With the VIP it
	 * would trace the way to the load balancer. */
	if (!ev->ok) {
		slot->phase = FREE;
		return;
	}
	slot->tuple.dst_ip = ev->dip;
	path_agent_trace(s, slot, now, out);
}

/* Everything that the answer claims is checked: it may be late, forged, or of
 * another trace. Hops may answer in any order or not at all; those that never
 * do stay 0, and algos/vigil/path_map.h deals with the gaps. */
static void path_agent_on_icmp(struct state *s, const struct agent_event *ev)
{
	const unsigned ttl = ev->ip_id & ((1 << TTL_BITS) - 1);
	const uint32_t i = ev->ip_id >> TTL_BITS & (PATH_AGENT_SLOTS - 1);
	/* SLOT_BITS keep I within the array; whether it was ever used is
	 * checked below. */
	struct slot *slot = &s->slot[i];
	if (i >= s->n_slots || slot->phase != TRACING || ttl == 0 ||
	    ttl > s->params->max_ttl || ip_id_of(s, slot, ttl) != ev->ip_id ||
	    !topo_tuple_same(&slot->tuple, &ev->tuple))
		return;
	slot->hop_ip[ttl - 1] = ev->from_ip;
	if (ttl > slot->n_hops)
		slot->n_hops = (uint8_t)ttl;
}

static void path_agent_on_timer(struct state *s, const struct agent_event *ev,
    struct agent_out *out)
{
	struct slot *slot = slot_of(s, ev->token, ASKING);
	if (slot) {
		slot->phase = FREE;
		return;
	}
	if (!(slot = slot_of(s, ev->token, TRACING)))
		return;
	struct agent_report *r = &agent_act(out, AGENT_REPORT)->report;
	r->tuple = slot->tuple;
	r->n_hops = slot->n_hops;
	memcpy(r->hop_ip, slot->hop_ip, sizeof(r->hop_ip));
	/* The report is made when the wait ends, so it counts what was sent
	 * again meanwhile, too; in a new epoch, what had been by the end of the
	 * old one. */
	r->n_retx =
	    slot->conn == NO_CONN ? slot->n_retx : s->conn[slot->conn].n_retx;
	slot->phase = FREE;
}

static int path_agent_step(void *state, sim_ns now,
    const struct agent_event *ev, struct sim_rng *rng, struct agent_out *out,
    struct sim_err *e)
{
	struct state *s = state;
	(void)rng;
	turn_epoch(s, now);
	switch (ev->kind) {
	case AGENT_START:
		break;
	case AGENT_RETX:
		on_retx(s, now, ev, out);
		break;
	case AGENT_SLB_REPLY:
		on_slb_reply(s, now, ev, out);
		break;
	case AGENT_ICMP:
		path_agent_on_icmp(s, ev);
		break;
	case AGENT_TIMER:
		path_agent_on_timer(s, ev, out);
		break;
	default:
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "event %d is none that the path agent asks for.", ev->kind);
	}
	return 0;
}

const struct agent_ops algo_path_agent = {
    .name = "path",
    .paper = "007 (NSDI'18), section 4",
    .params = algo_path_agent_fields,
    .params_size = sizeof(struct algo_path_agent_params),
    .state_size = sizeof(struct state),
    .starts_late = 1,
    .init = path_agent_init,
    .step = path_agent_step,
};
