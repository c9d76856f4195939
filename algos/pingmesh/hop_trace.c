/* algos/pingmesh/hop_trace.c -- TCP traceroute of chosen pairs, counted by hop.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/pingmesh/hop_trace.h"

#include <math.h>
#include <string.h>

#include "topo/addr.h"

enum { REPORTS = 16 /* a step */ };
static_assert(REPORTS + 1 <= (int)AGENT_MAX_OUT,
    "reports and a timer fit in a step");
static_assert((HOP_TRACE_FLIGHTS & (HOP_TRACE_FLIGHTS - 1)) == 0 &&
	HOP_TRACE_FLIGHTS <= 1 << 16,
    "the IP ID tells the flight");
static_assert(HOP_TRACE_TUPLES * TOPO_MAX_HOPS <= 1 << 16,
    "a turn fits in 16 bits");

/* An address for a hop that had two. */
#define MOVED UINT32_MAX

/* A five-tuple of this host: a port of a target. */
struct trace {
	uint32_t target;
	uint16_t port;
	uint8_t reach;                  /* farthest TTL that answered */
	uint32_t hop_ip[TOPO_MAX_HOPS]; /* 0: none yet; MOVED: two */
	uint16_t n_sent[TOPO_MAX_HOPS], n_back[TOPO_MAX_HOPS];
};

struct flight {
	sim_ns sent_ns;
	uint16_t ip_id;
	uint8_t trace, ttl; /* 0: none */
	uint8_t answered;
};

/* Waiting for the start, sending, waiting for the last answers, done. */
enum phase { IDLE, WAITING, PROBING, DRAINING, DONE };

struct state {
	const struct algo_hop_trace_params *params;
	uint32_t src_ip, n_traces, n_reported;
	enum phase phase;
	uint64_t token; /* of the only timer that counts */
	sim_ns due_ns;  /* when it does */
	sim_ns slot_ns; /* when the slot after the last one begins */
	sim_ns interval_ns, wait_ns;

	/* Turns of this round: those from n_turns on had theirs. */
	uint32_t n_turns;
	uint16_t turn[HOP_TRACE_TUPLES * TOPO_MAX_HOPS];

	struct algo_hop_trace_counters count;
	struct flight flight[HOP_TRACE_FLIGHTS];
	struct trace trace[HOP_TRACE_TUPLES];
};
static_assert(sizeof(struct state) <= HOP_TRACE_STATE, "memory of a host");

#define AT(member) .offset = offsetof(struct algo_hop_trace_params, member)
const struct sim_field algo_hop_trace_fields[] = {
    {.name = "n_probes",
	.type = SIM_F_U32,
	AT(n_probes),
	.min = 1,
	.max = 10000,
	.unit = "probes",
	.def = "200",
	.doc = "of each five-tuple and TTL"},
    {.name = "n_soundings",
	.type = SIM_F_U32,
	AT(n_soundings),
	.min = 0,
	.max = 100,
	.unit = "probes",
	.def = "3",
	.doc = "of each TTL beyond those that answer"},
    {.name = "max_hops",
	.type = SIM_F_U32,
	AT(max_hops),
	.min = 1,
	.max = TOPO_MAX_HOPS,
	.unit = "hops",
	.def = "10",
	.doc = "greatest TTL"},
    {.name = "rate",
	.type = SIM_F_F64,
	AT(rate),
	.min = 1e-3,
	.max = 1e4,
	.unit = "1/s",
	.def = "20",
	.doc = "probes of a host"},
    {.name = "wait",
	.type = SIM_F_F64,
	AT(wait_s),
	.min = 1e-6,
	.max = 60,
	.unit = "s",
	.def = "1",
	.doc = "how long a probe's answer counts"},
    {.name = "start",
	.type = SIM_F_F64,
	AT(start_s),
	.min = 0,
	.max = 1e9,
	.unit = "s",
	.def = "0",
	.doc = "when the trace begins"},
    {.name = "dst_port",
	.type = SIM_F_U32,
	AT(dst_port),
	.min = 1,
	.max = 65535,
	.unit = "1",
	.def = "8080",
	.doc = "TCP port that is traced"},
    {0},
};
#undef AT

/* --- life ------------------------------------------------------------------*/
static int add_traces(struct state *s, uint32_t target, struct sim_err *e)
{
	const struct algo_hop_trace_target *t = &s->params->target[target];
	if (t->first_port + t->n_ports > 65536)
		return sim_fail(e, SIM_ERANGE,
		    "target %u: %u source ports from %u on go beyond 65535.",
		    target, t->n_ports, t->first_port);
	if (t->n_ports > HOP_TRACE_TUPLES - s->n_traces)
		return sim_fail(e, SIM_ELIMIT,
		    "host %u is to trace more than %d five-tuples.", t->src,
		    HOP_TRACE_TUPLES);
	for (uint32_t i = 0; i < t->n_ports; i++)
		s->trace[s->n_traces++] = (struct trace){.target = target,
		    .port = (uint16_t)(t->first_port + i)};
	return 0;
}

static int hop_trace_init(void *state, topo_host host, const void *params,
    struct sim_err *e)
{
	struct state *s = state;
	const struct algo_hop_trace_params *p = params;
	int rc = 0;
	/* A flight is overwritten HOP_TRACE_FLIGHTS probes later and must have
	 * had its wait by then; random places within slots may bring that probe
	 * forward by an interval. */
	if (p->rate * p->wait_s > HOP_TRACE_FLIGHTS - 2)
		return sim_fail(e, SIM_ELIMIT,
		    "%g probes a second that wait for %g s are more than %d "
		    "under way.",
		    p->rate, p->wait_s, HOP_TRACE_FLIGHTS - 2);
	/* The state is large and most hosts trace nothing: only what is in
	 * front of the tables is cleared, and of these what was never used is
	 * never read. */
	memset(s, 0, offsetof(struct state, turn));
	s->count = (struct algo_hop_trace_counters){0};
	s->params = p;
	s->src_ip = topo_addr_of_host(host);
	s->interval_ns = (sim_ns)ceil(1e9 / p->rate);
	s->wait_ns = sim_ns_of(p->wait_s);
	for (uint32_t i = 0; rc == 0 && i < p->n_targets; i++)
		if (p->target[i].src == host)
			rc = add_traces(s, i, e);
	if (s->n_traces > 0)
		memset(s->flight, 0, sizeof(s->flight));
	return rc;
}

/* --- time ------------------------------------------------------------------*/
/* Only the timer set last counts: each new one makes the tokens before it
 * stale. */
static void wait_until(struct state *s, sim_ns at, struct agent_out *out)
{
	struct agent_action *a = agent_act(out, AGENT_SET_TIMER);
	s->due_ns = at;
	a->token = ++s->token;
	a->at_ns = at;
}

/* A probe leaves at a random time of the next slot, so that it meets the ICMP
 * bucket of a switch by chance and not always at the same phase. When the host
 * was asleep the slots that it missed are gone: catching up would be a burst,
 * which switches would not answer. */
static void wait_for_slot(struct state *s, sim_ns now, struct sim_rng *rng,
    struct agent_out *out)
{
	if (s->slot_ns < now)
		s->slot_ns = now;
	const sim_ns at =
	    s->slot_ns + (sim_ns)(sim_rng_u01(rng) * (double)s->interval_ns);
	s->slot_ns += s->interval_ns;
	wait_until(s, at, out);
}

/* --- turns -----------------------------------------------------------------*/
/* Probes that a TTL is to have, by what is known of the path now. Beyond the
 * farthest TTL that answered, two more get the full number, as a lossy or
 * silent switch must not pass for the end of the path. */
static uint32_t hop_trace_share_of(const struct state *s, const struct trace *t,
    unsigned ttl)
{
	const unsigned near = t->reach + (unsigned)HOP_TRACE_LOOK_AHEAD;
	return ttl <= near ? s->params->n_probes : s->params->n_soundings;
}

/* The next round, in which each TTL of each tuple that still lacks probes has
 * one turn; 0 if there is nothing left to send. TTLs that turned out late to
 * matter are behind in count and simply go on for more rounds. */
static int begin_round(struct state *s)
{
	s->n_turns = 0;
	for (uint32_t i = 0; i < s->n_traces; i++) {
		const struct trace *t = &s->trace[i];
		for (unsigned ttl = 1; ttl <= s->params->max_hops; ttl++)
			if (t->n_sent[ttl - 1] < hop_trace_share_of(s, t, ttl))
				s->turn[s->n_turns++] =
				    (uint16_t)(i * TOPO_MAX_HOPS + ttl - 1);
	}
	return s->n_turns > 0;
}

/* One of the turns left, each as likely: together a random order of the
 * round. */
static uint16_t take_turn(struct state *s, struct sim_rng *rng)
{
	const uint32_t i = sim_rng_below(rng, s->n_turns);
	const uint16_t turn = s->turn[i];
	s->turn[i] = s->turn[--s->n_turns];
	return turn;
}

static struct topo_tuple hop_trace_tuple_of(const struct state *s,
    const struct trace *t)
{
	return (struct topo_tuple){.src_ip = s->src_ip,
	    .dst_ip = s->params->target[t->target].dst_ip,
	    .src_port = t->port,
	    .dst_port = (uint16_t)s->params->dst_port,
	    .proto = TOPO_PROTO_TCP};
}

/* Section 5.2's TCP traceroute: a TCP packet of the traced five-tuple, so that
 * ECMP takes it the way of the connections that lose. */
static void send_probe(struct state *s, uint16_t turn, sim_ns now,
    struct agent_out *out)
{
	struct trace *t = &s->trace[turn / TOPO_MAX_HOPS];
	struct agent_action *a = agent_act(out, AGENT_PROBE);
	a->tuple = hop_trace_tuple_of(s, t);
	a->ttl = (uint8_t)(turn % TOPO_MAX_HOPS + 1);
	a->ip_id = (uint16_t)s->count.n_sent++;
	t->n_sent[a->ttl - 1]++;
	s->flight[a->ip_id % HOP_TRACE_FLIGHTS] =
	    (struct flight){.sent_ns = now,
		.ip_id = a->ip_id,
		.trace = (uint8_t)(turn / TOPO_MAX_HOPS),
		.ttl = a->ttl};
}

/* --- events ----------------------------------------------------------------*/
/* Go on with what is left to be sent, or wait for the last answers: they may
 * still show that a path goes on, and then there is more to send. */
static void hop_trace_go_on(struct state *s, sim_ns now, struct sim_rng *rng,
    struct agent_out *out)
{
	if (s->n_turns > 0 || begin_round(s)) {
		s->phase = PROBING;
		wait_for_slot(s, now, rng, out);
	} else {
		s->phase = DRAINING;
		wait_until(s, now + s->wait_ns, out);
	}
}

/* A step can carry REPORTS reports. The rest follows by a timer that is due at
 * once; the phase stays DRAINING, in which no round begins once a report is
 * out. */
static void hop_trace_report(struct state *s, sim_ns now, struct agent_out *out)
{
	for (int i = 0; i < REPORTS && s->n_reported < s->n_traces; i++) {
		const struct trace *t = &s->trace[s->n_reported++];
		struct agent_report *r = &agent_act(out, AGENT_REPORT)->report;
		*r = (struct agent_report){.tuple = hop_trace_tuple_of(s, t),
		    .n_hops = t->reach};
		memcpy(r->n_sent, t->n_sent, sizeof(r->n_sent));
		memcpy(r->n_back, t->n_back, sizeof(r->n_back));
		for (unsigned k = 0; k < t->reach; k++)
			r->hop_ip[k] = t->hop_ip[k] == MOVED ? 0 : t->hop_ip[k];
	}
	if (s->n_reported < s->n_traces)
		wait_until(s, now, out);
	else
		s->phase = DONE;
}

static void hop_trace_on_timer(struct state *s, sim_ns now,
    const struct agent_event *ev, struct sim_rng *rng, struct agent_out *out)
{
	/* Stale timers are those of a wait that was replaced. */
	if (ev->token != s->token || s->phase == IDLE || s->phase == DONE)
		return;
	if (now < s->due_ns) { /* too early */
		wait_until(s, s->due_ns, out);
		return;
	}
	if (s->phase == PROBING)
		send_probe(s, take_turn(s, rng), now, out);
	if (s->phase == DRAINING && (s->n_reported > 0 || !begin_round(s)))
		hop_trace_report(s, now, out);
	else
		hop_trace_go_on(s, now, rng, out);
}

/* The probe that EV answers, or NULL. The flight must be of this very IP ID, as
 * its place is used by every 256th probe, and of this five-tuple. */
static struct flight *flight_of(struct state *s, const struct agent_event *ev)
{
	struct flight *f = &s->flight[ev->ip_id % HOP_TRACE_FLIGHTS];
	if (s->n_traces == 0 || f->ttl == 0 || f->ip_id != ev->ip_id)
		return NULL;
	const struct topo_tuple sent =
	    hop_trace_tuple_of(s, &s->trace[f->trace]);
	return topo_tuple_same(&sent, &ev->tuple) ? f : NULL;
}

static void hop_trace_on_icmp(struct state *s, sim_ns now,
    const struct agent_event *ev)
{
	struct flight *f = flight_of(s, ev);
	if (!f || s->phase == DONE) {
		s->count.n_stray++;
		return;
	}
	if (f->answered) {
		s->count.n_duplicate++;
		return;
	}
	if (now - f->sent_ns > s->wait_ns) {
		s->count.n_late++;
		return;
	}
	struct trace *t = &s->trace[f->trace];
	uint32_t *hop = &t->hop_ip[f->ttl - 1];
	f->answered = 1;
	s->count.n_answered++;
	t->n_back[f->ttl - 1]++;
	/* Two addresses at one TTL mean that the route changed: the counts stay
	 * good for the TTL, but no switch may be named for them. */
	if (*hop != 0 && *hop != ev->from_ip) {
		s->count.n_moved++;
		*hop = MOVED;
	} else {
		*hop = ev->from_ip;
	}
	if (f->ttl > t->reach)
		t->reach = f->ttl;
}

static int hop_trace_step(void *state, sim_ns now, const struct agent_event *ev,
    struct sim_rng *rng, struct agent_out *out, struct sim_err *e)
{
	struct state *s = state;
	switch (ev->kind) {
	case AGENT_START:
		/* Starting again, after a restart of the host, must not begin a
		 * second trace. */
		if (s->phase == IDLE && s->n_traces > 0) {
			s->phase = WAITING;
			wait_until(s, sim_ns_of(s->params->start_s), out);
		}
		break;
	case AGENT_ICMP:
		hop_trace_on_icmp(s, now, ev);
		break;
	case AGENT_TIMER:
		hop_trace_on_timer(s, now, ev, rng, out);
		break;
	default:
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "event %d is none that the tracing agent asks for.",
		    ev->kind);
	}
	return 0;
}

void algo_hop_trace_count(const void *state,
    struct algo_hop_trace_counters *out)
{
	*out = ((const struct state *)state)->count;
}

const struct agent_ops algo_hop_trace_agent = {
    .name = "hop_trace",
    .paper = "Pingmesh (SIGCOMM'15), section 5.2",
    .params = algo_hop_trace_fields,
    .params_size = sizeof(struct algo_hop_trace_params),
    .state_size = sizeof(struct state),
    .init = hop_trace_init,
    .step = hop_trace_step,
};
