/* algos/planner/scout.c -- the agent that probes as it is told.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Every step does the same: take the event, do what is due, set the timer.
 */
#include "algos/planner/scout.h"

#include <math.h>
#include <string.h>

#include "algos/planner/orders.h"
#include "topo/addr.h"

/* An address for a hop that had two, which is that of no link. */
#define SCOUT_MOVED UINT32_MAX

enum { SCOUT_TTLS = 16, SCOUT_ID = 0x4000 };
static_assert(TOPO_MAX_HOPS <= SCOUT_TTLS, "an IP ID has room for a TTL");
static_assert(SCOUT_ID + ALGO_SCOUT_JOBS * SCOUT_TTLS <= 1 << 16,
    "and for a job");

#define FIELD(m) offsetof(struct algo_scout_params, m)
const struct sim_field algo_scout_fields[] = {
    {"wait", SIM_F_F64, FIELD(wait_s), .min = 1e-6, .max = 60, .unit = "s",
	.def = "0.4",
	.doc = "what is not answered after that is lost; below a host's first "
	       "wait for a SYN-ACK"},
    {"poll", SIM_F_F64, FIELD(poll_s), .min = 1e-3, .max = 3600, .unit = "s",
	.def = "0.05", .doc = "between an agent's questions for jobs"},
    {"retry", SIM_F_F64, FIELD(retry_s), .min = 1e-3, .max = 3600, .unit = "s",
	.def = "1", .doc = "after which a request is made again"},
    {"rate", SIM_F_F64, FIELD(rate), .min = 0.01, .max = 1e5, .unit = "1/s",
	.def = "200", .doc = "connects of a host"},
    {"trace_rate", SIM_F_F64, FIELD(trace_rate), .min = 0.01, .max = 1e5,
	.unit = "1/s", .def = "50", .doc = "probes by which a host finds ways"},
    {"tries", SIM_F_U32, FIELD(tries), .min = 1, .max = 100, .unit = "1",
	.def = "4", .doc = "that each hop of a way is given to answer"},
    {"max_hops", SIM_F_U32, FIELD(max_hops), .min = 1, .max = TOPO_MAX_HOPS,
	.unit = "hops", .def = "8", .doc = "greatest TTL of a trace"},
    {0},
};

/* --- state ---------------------------------------------------------------- */

/* A job under way. */
struct scout_run {
	struct algo_scout_job job;
	struct algo_scout_answer got;
	uint64_t token; /* of the connect that is out; 0: none is */
	sim_ns sent;    /* the last that left */
	uint32_t n_again;
	uint8_t ttl, n_tries; /* of a trace: the last that left, its passes */
	uint8_t ended;
};

/* Asking for jobs, waiting before that, doing them, telling what came of them,
 * or at the end of all. */
enum scout_phase {
	SCOUT_ASKING,
	SCOUT_RESTING,
	SCOUT_WORKING,
	SCOUT_TELLING,
	SCOUT_STOPPED
};

struct scout {
	const struct algo_scout_params *params;
	struct algo_scout_status count;
	uint32_t self;
	uint32_t round; /* the last that was done */
	enum scout_phase phase;
	uint64_t token, timer; /* the last given, the timer that counts */
	sim_ns due;            /* what the phase waits for */
	sim_ns wake;           /* when the timer is; SIM_NEVER: none is */
	sim_ns next[2]; /* that a connect, a probe of a trace may leave */
	sim_ns wait, gap[2];
	uint32_t n_runs, turn;
	size_t n_message;
	struct scout_run run[ALGO_SCOUT_JOBS];
	unsigned char message[ALGO_SCOUT_MESSAGE];
};
static_assert(sizeof(struct scout) <= ALGO_SCOUT_STATE, "memory of a host");

static int scout_init(void *state, topo_host host, const void *params,
    struct sim_err *e)
{
	const struct algo_scout_params *p = params;
	struct scout *s = state;
	(void)e;
	/* Of the tables nothing is read before it is written. */
	memset(s, 0, offsetof(struct scout, run));
	s->params = p;
	s->self = topo_addr_of_host(host);
	s->wake = SIM_NEVER;
	s->wait = sim_ns_of(p->wait_s);
	s->gap[0] = (sim_ns)ceil(1e9 / p->rate);
	s->gap[1] = (sim_ns)ceil(1e9 / p->trace_rate);
	return 0;
}

static int scout_is_trace(const struct scout_run *r)
{
	return r->job.count == 0;
}

static struct topo_tuple scout_tuple(const struct scout *s,
    const struct scout_run *r)
{
	return (struct topo_tuple){s->self, r->job.dst_ip, r->job.src_port,
	    r->job.dst_port, TOPO_PROTO_TCP};
}

/* --- requests ------------------------------------------------------------- */

static void scout_ask(struct scout *s, sim_ns now, struct agent_out *out)
{
	s->phase = SCOUT_ASKING;
	s->due = now + sim_ns_of(s->params->retry_s);
	agent_act(out, AGENT_FETCH)->token = ++s->token;
}

static void scout_tell(struct scout *s, sim_ns now, struct agent_out *out)
{
	struct agent_action *a = agent_act(out, AGENT_UPLOAD);
	s->phase = SCOUT_TELLING;
	s->due = now + sim_ns_of(s->params->retry_s);
	a->token = ++s->token;
	a->data = s->message;
	a->n_bytes = (uint32_t)s->n_message;
}

static void scout_rest(struct scout *s, sim_ns now)
{
	s->phase = SCOUT_RESTING;
	s->due = now + sim_ns_of(s->params->poll_s);
}

/* Rounds are counted from 1, so that none was done at first. */
static void scout_on_jobs(struct scout *s, sim_ns now,
    const struct agent_event *ev)
{
	struct algo_scout_job job[ALGO_SCOUT_JOBS];
	struct algo_scout_head h;
	scout_rest(s, now);
	if (!ev->ok || ev->n == 0)
		return;
	if (algo_scout_read_jobs(ev->data, ev->n, &h, job, NULL) < 0) {
		s->count.n_bad++;
		return;
	}
	if (h.flags & ALGO_SCOUT_DONE)
		s->phase = SCOUT_STOPPED;
	if (s->phase == SCOUT_STOPPED || h.n == 0 || h.round == s->round)
		return;
	s->round = h.round;
	s->phase = SCOUT_WORKING;
	s->count.n_rounds++;
	s->turn = 0;
	s->n_runs = (uint32_t)h.n;
	for (uint32_t i = 0; i < s->n_runs; i++)
		s->run[i] =
		    (struct scout_run){.job = job[i], .got.id = job[i].id};
}

/* --- connects ------------------------------------------------------------- */

static void scout_end_if_done(struct scout_run *r)
{
	r->token = 0;
	r->ended =
	    r->got.n_sent >= r->job.count || r->n_again > ALGO_SCOUT_AGAIN;
}

static void scout_count(struct scout *s, struct scout_run *r, int lost)
{
	r->got.n_sent++;
	r->got.n_lost += lost != 0;
	s->count.n_connects++;
	s->count.n_lost += lost != 0;
	scout_end_if_done(r);
}

static void scout_again(struct scout *s, struct scout_run *r)
{
	r->n_again++;
	s->count.n_again++;
	scout_end_if_done(r);
}

/* Whoever runs this late was not there when an answer may have come, and finds
 * the time-out before the answer that waits behind it. */
static void scout_no_answer(struct scout *s, struct scout_run *r, sim_ns now)
{
	if (now - r->sent > s->wait + s->wait / 4)
		scout_again(s, r);
	else
		scout_count(s, r, 1);
}

static void scout_on_connect(struct scout *s, sim_ns now,
    const struct agent_event *ev)
{
	struct scout_run *r = NULL;
	for (uint32_t i = 0; s->phase == SCOUT_WORKING && i < s->n_runs; i++)
		if (s->run[i].token == ev->token)
			r = &s->run[i];
	if (!r)
		s->count.n_stray++;
	else if (ev->outcome == AGENT_FAILED)
		scout_again(s, r);
	else if (ev->outcome == AGENT_TIMEOUT)
		scout_no_answer(s, r, now);
	else
		scout_count(s, r, ev->rtt_ns >= s->wait);
}

static void scout_connect(struct scout *s, struct scout_run *r,
    struct agent_out *out)
{
	struct agent_action *a = agent_act(out, AGENT_CONNECT);
	a->tuple = scout_tuple(s, r);
	a->class = 0;
	a->ping = AGENT_PING_TCP;
	a->n_bytes = 0;
	a->token = r->token = ++s->token;
}

/* --- traces --------------------------------------------------------------- */

/* The next TTL of this pass, or 0. In the first all are probed, later those that
 * did not answer and lie no farther than one behind what did: where a way ends
 * is not known. */
static unsigned scout_next_ttl(const struct scout *s, const struct scout_run *r)
{
	unsigned ttl = r->ttl + 1u;
	const unsigned most =
	    r->n_tries == 0 || r->got.n_hops + 1u > s->params->max_hops
	    ? s->params->max_hops
	    : r->got.n_hops + 1u;
	while (ttl <= most && r->got.hop_ip[ttl - 1] != 0)
		ttl++;
	return ttl <= most ? ttl : 0;
}

static void scout_probe(struct scout *s, struct scout_run *r,
    struct agent_out *out)
{
	const unsigned ttl = scout_next_ttl(s, r);
	struct agent_action *a = agent_act(out, AGENT_PROBE);
	a->tuple = scout_tuple(s, r);
	a->ttl = r->ttl = (uint8_t)ttl;
	a->ip_id = (uint16_t)(SCOUT_ID + (r - s->run) * SCOUT_TTLS + ttl - 1);
	s->count.n_probes++;
}

/* A pass is over once its last probe had its time. */
static void scout_end_pass(const struct scout *s, struct scout_run *r)
{
	r->ttl = 0;
	r->ended = ++r->n_tries == s->params->tries;
}

static void scout_on_icmp(struct scout *s, const struct agent_event *ev)
{
	const unsigned at = (unsigned)ev->ip_id - SCOUT_ID;
	struct scout_run *r = &s->run[at / SCOUT_TTLS % ALGO_SCOUT_JOBS];
	const unsigned ttl = at % SCOUT_TTLS + 1;
	if (s->phase != SCOUT_WORKING || at / SCOUT_TTLS >= s->n_runs ||
	    !scout_is_trace(r) || r->ended || ttl > s->params->max_hops) {
		s->count.n_stray++;
		return;
	}
	const struct topo_tuple tuple = scout_tuple(s, r);
	uint32_t *hop = &r->got.hop_ip[ttl - 1];
	if (!topo_tuple_same(&tuple, &ev->tuple)) {
		s->count.n_stray++;
		return;
	}
	s->count.n_hops += *hop == 0;
	if (*hop != 0 && *hop != ev->from_ip) {
		s->count.n_moved += *hop != SCOUT_MOVED;
		*hop = SCOUT_MOVED;
	} else {
		*hop = ev->from_ip;
	}
	if (ttl > r->got.n_hops)
		r->got.n_hops = (uint8_t)ttl;
}

/* --- what is due ---------------------------------------------------------- */

/* Whether a run has something to send as soon as its rate allows; else it waits
 * for an answer. */
static int scout_is_ready(const struct scout *s, const struct scout_run *r)
{
	if (r->ended)
		return 0;
	return scout_is_trace(r) ? scout_next_ttl(s, r) != 0 : r->token == 0;
}

/* When something is due of a run. */
static sim_ns scout_run_due(const struct scout *s, const struct scout_run *r)
{
	return r->ended            ? SIM_NEVER
	    : scout_is_ready(s, r) ? s->next[scout_is_trace(r)]
				   : r->sent + s->wait;
}

/* The run whose turn it is to send, or NULL. */
static struct scout_run *scout_turn(struct scout *s, sim_ns now)
{
	for (uint32_t i = 0; i < s->n_runs; i++) {
		struct scout_run *r = &s->run[(s->turn + i) % s->n_runs];
		if (!scout_is_ready(s, r) || s->next[scout_is_trace(r)] > now)
			continue;
		s->turn = (uint32_t)(r - s->run) + 1;
		return r;
	}
	return NULL;
}

/* One connect and one probe at most leave in a step: the next are later. */
static void scout_work(struct scout *s, sim_ns now, struct agent_out *out)
{
	struct scout_run *r;
	for (uint32_t i = 0; i < s->n_runs; i++) {
		r = &s->run[i];
		if (r->ended || scout_is_ready(s, r) || now < r->sent + s->wait)
			continue;
		if (scout_is_trace(r))
			scout_end_pass(s, r);
		else
			scout_no_answer(s, r, now);
	}
	while ((r = scout_turn(s, now))) {
		const int trace = scout_is_trace(r);
		r->sent = now;
		s->next[trace] = now + s->gap[trace];
		if (trace)
			scout_probe(s, r, out);
		else
			scout_connect(s, r, out);
	}
}

static void scout_end_round(struct scout *s, sim_ns now, struct agent_out *out)
{
	struct algo_scout_answer answer[ALGO_SCOUT_JOBS];
	for (uint32_t i = 0; i < s->n_runs; i++) {
		if (!s->run[i].ended)
			return;
		answer[i] = s->run[i].got;
	}
	s->n_message =
	    algo_scout_write_answers(&(struct algo_scout_head){s->round, 0,
					 s->n_runs},
		answer, s->message);
	scout_tell(s, now, out);
}

static void scout_do(struct scout *s, sim_ns now, struct agent_out *out)
{
	if (s->phase == SCOUT_WORKING) {
		scout_work(s, now, out);
		scout_end_round(s, now, out);
	} else if (s->phase == SCOUT_STOPPED || now < s->due) {
		return;
	} else if (s->phase == SCOUT_TELLING) {
		scout_tell(s, now, out);
	} else {
		scout_ask(s, now, out);
	}
}

/* Only the timer set last counts. One that is early enough stays. */
static void scout_set_timer(struct scout *s, sim_ns now, struct agent_out *out)
{
	sim_ns at = s->due;
	if (s->phase == SCOUT_STOPPED)
		return;
	if (s->phase == SCOUT_WORKING) {
		at = SIM_NEVER;
		for (uint32_t i = 0; i < s->n_runs; i++) {
			const sim_ns due = scout_run_due(s, &s->run[i]);
			at = due < at ? due : at;
		}
	}
	if (s->wake > now && s->wake <= at)
		return;
	struct agent_action *a = agent_act(out, AGENT_SET_TIMER);
	a->token = s->timer = ++s->token;
	a->at_ns = s->wake = at;
}

/* --- events --------------------------------------------------------------- */

static int scout_step(void *state, sim_ns now, const struct agent_event *ev,
    struct sim_rng *rng, struct agent_out *out, struct sim_err *e)
{
	struct scout *s = state;
	(void)rng;
	switch (ev->kind) {
	case AGENT_START:
		scout_ask(s, now, out);
		break;
	case AGENT_TIMER:
		if (ev->token == s->timer)
			s->wake = SIM_NEVER;
		break;
	case AGENT_FETCH_DONE:
		if (s->phase == SCOUT_ASKING)
			scout_on_jobs(s, now, ev);
		break;
	case AGENT_UPLOAD_DONE:
		if (s->phase == SCOUT_TELLING && ev->ok)
			scout_rest(s, now);
		break;
	case AGENT_CONNECT_DONE:
		scout_on_connect(s, now, ev);
		break;
	case AGENT_ICMP:
		scout_on_icmp(s, ev);
		break;
	default:
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "event %d is none that the scout asks for.", ev->kind);
	}
	scout_do(s, now, out);
	scout_set_timer(s, now, out);
	return 0;
}

void algo_scout_status(const void *state, struct algo_scout_status *out)
{
	*out = ((const struct scout *)state)->count;
}

const struct agent_ops algo_scout = {
    .name = "scout",
    .paper = "ours",
    .params = algo_scout_fields,
    .params_size = sizeof(struct algo_scout_params),
    .state_size = sizeof(struct scout),
    .init = scout_init,
    .step = scout_step,
};
