/* tests/rigs/schedule_path.c -- 007's path agent among flows that lose, late and forged answers.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The world keeps its own books of connections and traces, by five-tuples and not
 * by the agent's slots, so a slot that is mixed up with another shows.
 */
#include <math.h>
#include <string.h>

#include "algos/vigil/path_agent.h"
#include "tests/rigs/schedule_agent.h"
#include "tests/rigs/schedule_machines.h"
#include "topo/addr.h"

#define PATH_SEEN(X)                                                           \
	X(PATH_RETX, "segments sent again")                                    \
	X(PATH_TRACED, "traces begun")                                         \
	X(PATH_ASKED, "mappings asked for")                                    \
	X(PATH_REFUSED, "mappings refused")                                    \
	X(PATH_HOPS, "hops that answered")                                     \
	X(PATH_STRAY, "answers to no trace under way")                         \
	X(PATH_REPORTS, "reports")                                             \
	X(PATH_FULL, "connections beyond those remembered")                    \
	X(PATH_BUSY, "moments with all slots in use")                          \
	X(PATH_EPOCHS, "epochs")                                               \
	X(PATH_RESTARTS, "restarts")

enum {
#define X(name, text) name,
	PATH_SEEN(X)
#undef X
};
static const char *const path_seen[] = {
#define X(name, text) text,
    PATH_SEEN(X)
#undef X
	NULL};

enum path_kind {
	PASS,
	HANG,
	AGAIN,
	FLOOD,
	MAPPED,
	HOP,
	FORGED,
	STRAY,
	OVER,
	RESTART
};
static const struct schedule_kind path_kinds[] = {
    [PASS] = {"time passes", 20},
    [HANG] = {"time passes, and timers come late", 3},
    [AGAIN] = {"a connection sends again", 30},
    [FLOOD] = {"many connections send again", 3},
    [MAPPED] = {"the load balancer answers", 12},
    [HOP] = {"a hop answers", 30},
    [FORGED] = {"somebody claims that a hop answers", 4},
    [STRAY] = {"a load balancer answers what was not asked", 2},
    [OVER] = {"the epoch is over", 3},
    [RESTART] = {"the host starts again", 1},
    {0},
};

enum { CONNS = 700, PROBES = 256, QUERIES = 64, TRACES = 64, STARTS = 128 };

struct path_conn {
	uint64_t epoch;
	uint32_t n_retx;
	uint8_t traced;
};

struct path_trace {
	struct topo_tuple tuple; /* with the DIP */
	uint32_t conn,
	    n_retx; /* n_retx: at the end of its epoch; 0: it is on */
	sim_ns from;
	uint16_t ip_id[TOPO_MAX_HOPS];
	uint32_t hop_ip[TOPO_MAX_HOPS];
	uint8_t n_hops;
};

struct path_world {
	struct schedule_agent agent;
	struct algo_path_agent_params params;
	uint64_t epoch;
	uint32_t n_conns; /* of this epoch */
	struct path_conn conn[CONNS];
	struct path_trace trace[TRACES];
	uint32_t n_traces;
	/* Probes that a hop may still answer, the last of them. */
	struct {
		struct topo_tuple tuple;
		uint16_t ip_id;
	} probe[PROBES];
	uint64_t n_probes;
	struct {
		uint64_t token, epoch;
		uint32_t conn;
		sim_ns until;
	} query[QUERIES];
	uint32_t n_queries;
	sim_ns start[STARTS]; /* of traces and queries, the last */
	uint64_t n_starts;
	uint32_t asking;   /* 1 + whom the step under way is about; 0: nobody */
	uint64_t of_epoch; /* in which that sent again */
	unsigned char state[PATH_AGENT_STATE + 64];
};

static struct topo_tuple tuple_of(uint32_t conn)
{
	return (struct topo_tuple){topo_addr_of_host(0),
	    conn % 3 == 0 ? topo_addr_of_vip(conn % 50)
			  : topo_addr_of_host(1 + conn % 90),
	    (uint16_t)(1024 + conn), 80, TOPO_PROTO_TCP};
}

static sim_ns timeout_of(const struct path_world *w)
{
	return sim_ns_of(w->params.timeout_s);
}

/* Over any time no more traces begin than one second's worth of tokens, at least
 * one, and those that came meanwhile. */
static void count_start(struct path_world *w)
{
	const double c_t = w->params.c_t;
	const double burst = fmax(1, ceil(c_t));
	const sim_ns t = w->agent.t;
	w->start[w->n_starts++ % STARTS] = t;
	for (uint64_t n = 2; c_t > 0 && n <= w->n_starts && n <= STARTS; n++) {
		const sim_ns since = t - w->start[(w->n_starts - n) % STARTS];
		schedule_must(&w->agent,
		    (double)n <= burst + ceil((double)since * 1e-9 * c_t),
		    "no more traces begin than C_t allows");
	}
}

/* The connection that this step is about begins to be traced, or asked for. */
static void mark(struct path_world *w, uint32_t conn)
{
	struct path_conn *c = &w->conn[conn];
	schedule_must(&w->agent, !c->traced,
	    "a connection is traced at most once an epoch");
	c->traced = 1;
	count_start(w);
	schedule_must(&w->agent, w->n_traces + w->n_queries < TRACES,
	    "the traces under way are bounded");
}

/* --- what the agent does -------------------------------------------------- */
static void on_query(struct path_world *w, const struct agent_action *a)
{
	const struct topo_tuple want = tuple_of(w->asking - 1);
	schedule_must(&w->agent,
	    w->asking > 0 && topo_tuple_same(&a->tuple, &want) &&
		topo_addr_is_vip(want.dst_ip),
	    "a mapping is asked for the connection that sent again");
	if (w->agent.broken)
		return;
	mark(w, w->asking - 1);
	w->query[w->n_queries].token = a->token;
	w->query[w->n_queries].conn = w->asking - 1;
	w->query[w->n_queries].epoch = w->epoch;
	w->query[w->n_queries++].until = w->agent.t + timeout_of(w);
	w->agent.tally->seen[PATH_ASKED]++;
}

/* The probes of a trace leave in one step: TTL 1 up to the last. */
static void on_probes(struct path_world *w, const struct agent_action *a,
    size_t n, uint32_t conn, uint64_t of_epoch, uint32_t dip)
{
	struct path_trace *x = &w->trace[w->n_traces];
	struct topo_tuple tuple = tuple_of(conn);
	if (dip)
		tuple.dst_ip = dip;
	*x = (struct path_trace){.tuple = tuple,
	    .conn = conn,
	    .from = w->agent.t};
	schedule_must(&w->agent, n == w->params.max_ttl,
	    "a trace has a probe of each TTL");
	for (size_t i = 0; i < n && !w->agent.broken; i++) {
		schedule_must(&w->agent, a[i].ttl == i + 1,
		    "a trace's probes have TTL 1, 2, 3, ...");
		schedule_must(&w->agent, topo_tuple_same(&a[i].tuple, &tuple),
		    "a probe is of the connection's own five-tuple");
		for (uint32_t k = 0; k < w->n_traces; k++)
			for (unsigned j = 0; j < w->params.max_ttl; j++)
				schedule_must(&w->agent,
				    w->trace[k].ip_id[j] != a[i].ip_id,
				    "probes under way differ in their IP IDs");
		x->ip_id[i] = a[i].ip_id;
		w->probe[w->n_probes % PROBES].tuple = tuple;
		w->probe[w->n_probes++ % PROBES].ip_id = a[i].ip_id;
	}
	/* What its connection had counted by the end of an epoch that was over
	 * before the load balancer answered, the books do not keep. */
	if (of_epoch != w->epoch)
		x->n_retx = UINT32_MAX;
	w->n_traces++;
	w->agent.tally->seen[PATH_TRACED]++;
}

static void on_report(struct path_world *w, const struct agent_report *r)
{
	uint32_t i = w->n_traces;
	/* A connection of two epochs may have two traces under way: the first. */
	for (uint32_t k = 0; k < w->n_traces; k++)
		if (topo_tuple_same(&w->trace[k].tuple, &r->tuple) &&
		    (i == w->n_traces || w->trace[k].from < w->trace[i].from))
			i = k;
	schedule_must(&w->agent, i < w->n_traces,
	    "each trace has one report, and nothing else has");
	if (w->agent.broken)
		return;
	const struct path_trace x = w->trace[i];
	w->trace[i] = w->trace[--w->n_traces];
	const uint32_t most = x.n_retx ? x.n_retx : w->conn[x.conn].n_retx;
	schedule_must(&w->agent, w->agent.t >= x.from + timeout_of(w),
	    "a trace waits for answers as long as it is to");
	schedule_must(&w->agent,
	    r->n_hops == x.n_hops &&
		memcmp(r->hop_ip, x.hop_ip, sizeof(x.hop_ip)) == 0,
	    "a report has the answers to its own probes and no others");
	schedule_must(&w->agent, r->n_retx >= 1 && r->n_retx <= most,
	    "a report counts its connection's segments");
	if (w->n_conns <= PATH_AGENT_CONNS && x.n_retx == 0)
		schedule_must(&w->agent, r->n_retx == most,
		    "where all are remembered it counts all of them");
	w->agent.tally->seen[PATH_REPORTS]++;
}

static void path_took(void *world, const struct agent_event *ev)
{
	struct path_world *w = world;
	const struct agent_out *out = &w->agent.out;
	size_t n_probes = 0, first = 0;
	for (size_t i = 0; i < out->n && !w->agent.broken; i++)
		switch (out->action[i].kind) {
		case AGENT_SLB_QUERY:
			on_query(w, &out->action[i]);
			break;
		case AGENT_PROBE:
			first = n_probes++ ? first : i;
			break;
		case AGENT_REPORT:
			on_report(w, &out->action[i].report);
			break;
		default:
			schedule_must(&w->agent,
			    out->action[i].kind == AGENT_SET_TIMER,
			    "the path agent does nothing but its work");
		}
	if (n_probes == 0 || w->agent.broken)
		return;
	schedule_must(&w->agent, w->asking > 0,
	    "a trace begins when a connection sends again or is mapped");
	if (w->agent.broken)
		return;
	if (ev->kind == AGENT_RETX) {
		schedule_must(&w->agent, ev->established,
		    "a connection without a handshake is not traced");
		mark(w, w->asking - 1);
	}
	on_probes(w, &out->action[first], n_probes, w->asking - 1, w->of_epoch,
	    ev->kind == AGENT_SLB_REPLY ? ev->dip : 0);
}

/* --- what happens --------------------------------------------------------- */
/* The world's own turn of the epoch, before the agent's. */
static void path_turn(struct path_world *w)
{
	const uint64_t epoch = w->params.epoch_ns
	    ? (w->agent.t + w->agent.skew) / w->params.epoch_ns
	    : 0;
	if (epoch == w->epoch)
		return;
	for (uint32_t i = 0; i < w->n_traces; i++)
		if (w->trace[i].n_retx == 0)
			w->trace[i].n_retx = w->conn[w->trace[i].conn].n_retx;
	w->epoch = epoch;
	w->n_conns = 0;
	w->agent.tally->seen[PATH_EPOCHS]++;
}

/* Queries that nobody answered are over with their timers. */
static void path_forget(struct path_world *w)
{
	for (uint32_t i = w->n_queries; i-- > 0;)
		if (w->query[i].until <= w->agent.t)
			w->query[i] = w->query[--w->n_queries];
}

static void path_event(struct path_world *w, const struct agent_event *ev,
    uint32_t asking, uint64_t of_epoch)
{
	path_turn(w);
	w->asking = asking;
	w->of_epoch = of_epoch;
	schedule_agent_step(&w->agent, ev);
	w->asking = 0;
}

static void path_retx(struct path_world *w, uint32_t conn, int established)
{
	struct path_conn *c = &w->conn[conn];
	const struct agent_event ev = {.kind = AGENT_RETX,
	    .established = established != 0,
	    .tuple = tuple_of(conn)};
	path_turn(w);
	if (c->epoch != w->epoch || c->n_retx == 0) {
		*c = (struct path_conn){.epoch = w->epoch};
		w->n_conns++;
		w->agent.tally->seen[PATH_FULL] +=
		    w->n_conns > PATH_AGENT_CONNS;
	}
	c->n_retx++;
	w->agent.tally->seen[PATH_RETX]++;
	path_event(w, &ev, 1 + conn, w->epoch);
	w->agent.tally->seen[PATH_BUSY] +=
	    w->n_traces + w->n_queries == PATH_AGENT_SLOTS;
}

static void path_mapped(struct path_world *w, uint32_t x, uint32_t y)
{
	if (w->n_queries == 0)
		return;
	const uint32_t i = x % w->n_queries;
	const struct agent_event ev = {.kind = AGENT_SLB_REPLY,
	    .token = w->query[i].token,
	    .ok = y % 4 != 3,
	    .dip = topo_addr_of_host(1 + y % 90)};
	const uint32_t conn = w->query[i].conn;
	const uint64_t of_epoch = w->query[i].epoch;
	w->query[i] = w->query[--w->n_queries];
	w->agent.tally->seen[PATH_REFUSED] += !ev.ok;
	path_event(w, &ev, 1 + conn, of_epoch);
	/* What comes twice changes nothing. */
	if (y >> 31)
		path_event(w, &ev, 0, 0);
}

/* An answer to a probe of TUPLE with IP_ID; the books know whether there is a trace
 * under way that has sent it. */
static void path_answer(struct path_world *w, const struct topo_tuple *tuple,
    uint16_t ip_id, uint32_t from)
{
	const struct agent_event ev = {.kind = AGENT_ICMP,
	    .ip_id = ip_id,
	    .from_ip = from,
	    .tuple = *tuple};
	int is_of_one = 0;
	for (uint32_t i = 0; i < w->n_traces && !is_of_one; i++)
		for (unsigned k = 0; k < w->params.max_ttl; k++) {
			struct path_trace *x = &w->trace[i];
			if (x->ip_id[k] != ip_id ||
			    !topo_tuple_same(&x->tuple, tuple))
				continue;
			x->hop_ip[k] = from;
			if (x->n_hops < k + 1)
				x->n_hops = (uint8_t)(k + 1);
			is_of_one = 1;
		}
	w->agent.tally->seen[is_of_one ? PATH_HOPS : PATH_STRAY]++;
	path_event(w, &ev, 0, 0);
}

static void path_hop(struct path_world *w, uint32_t x, uint32_t y)
{
	const uint64_t n = w->n_probes < PROBES ? w->n_probes : PROBES;
	if (n == 0)
		return;
	const uint64_t i = (w->n_probes - 1 - x % n) % PROBES;
	const struct topo_tuple tuple = w->probe[i].tuple;
	path_answer(w, &tuple, w->probe[i].ip_id, topo_addr_of_link(y % 1000));
}

static void path_pass(struct path_world *w, sim_ns by)
{
	schedule_agent_pass(&w->agent, by);
	path_forget(w);
}

static const char *path_begin(void *life, const struct sim_seed *where,
    struct schedule_tally *tally)
{
	static const double rates[] = {0, 0.5, 1, 10, 100};
	struct path_world *w = life;
	struct sim_rng rng;
	memset(w, 0, offsetof(struct path_world, state));
	sim_rng_init(&rng, where, SIM_STREAM_RETX, 0);
	w->params =
	    (struct algo_path_agent_params){.c_t =
						rates[sim_rng_below(&rng, 5)],
		.max_ttl = 1 + sim_rng_below(&rng, TOPO_MAX_HOPS),
		.timeout_s = 0.1 + sim_rng_below(&rng, 30) * 0.1,
		.epoch_ns = sim_rng_below(&rng, 4) * 10 * SIM_SEC};
	w->agent.ops = &algo_path_agent;
	w->agent.params = &w->params;
	w->agent.tally = tally;
	w->agent.took = path_took;
	w->agent.world = w;
	schedule_agent_begin(&w->agent, w->state, where);
	return w->agent.broken;
}

static void path_restart(struct path_world *w)
{
	w->n_traces = w->n_queries = 0;
	w->n_starts = 0;
	w->n_conns = 0;
	memset(w->conn, 0, sizeof(w->conn));
	/* A new agent's first epoch is number 0, whatever the time. */
	w->epoch = 0;
	w->agent.tally->seen[PATH_RESTARTS]++;
	schedule_agent_restart(&w->agent);
}

static const char *path_step(void *life, struct schedule_step s)
{
	struct path_world *w = life;
	switch ((enum path_kind)s.kind) {
	case PASS:
		path_pass(w, schedule_time(s.x, 5 * SIM_SEC));
		break;
	case HANG:
		schedule_agent_hang(&w->agent, schedule_time(s.x, 5 * SIM_SEC));
		path_forget(w);
		break;
	case AGAIN:
		path_retx(w, s.x % 40, s.y % 8 != 7);
		break;
	case FLOOD:
		for (uint32_t i = 0; i < 100 + s.y % 200; i++)
			path_retx(w, (s.x + i) % CONNS, i % 16 != 15);
		break;
	case MAPPED:
		path_mapped(w, s.x, s.y);
		break;
	case HOP:
		path_hop(w, s.x, s.y);
		break;
	case FORGED: {
		const struct topo_tuple tuple = tuple_of(s.x % 40);
		path_answer(w, &tuple, (uint16_t)s.y, s.x);
		break;
	}
	case STRAY:
		path_event(w,
		    &(struct agent_event){.kind = AGENT_SLB_REPLY,
			.ok = 1,
			.token = (uint64_t)(s.x % 64) << 32 | (s.y % 64 + 64),
			.dip = s.x},
		    0, 0);
		break;
	case OVER:
		path_pass(w, w->params.epoch_ns);
		break;
	case RESTART:
		path_restart(w);
		break;
	}
	return w->agent.broken;
}

/* All is told in the end, and a connection of a new epoch is traced at once. */
static const char *path_end(void *life)
{
	struct path_world *w = life;
	path_pass(w, 2 * timeout_of(w) + 10 * SIM_SEC);
	schedule_must(&w->agent, w->n_traces == 0 && w->agent.n_timers == 0,
	    "each trace ends");
	if (w->params.epoch_ns == 0)
		return w->agent.broken;
	path_pass(w, w->params.epoch_ns);
	path_retx(w, 1, 1);
	schedule_must(&w->agent, w->n_traces == 1,
	    "a connection is traced where there is a token and a slot");
	return w->agent.broken;
}

const struct schedule_machine schedule_path = {
    .name = "007's path agent",
    .kind = path_kinds,
    .seen = path_seen,
    .n_least = 20,
    .n_most = 150,
    .size = sizeof(struct path_world),
    .begin = path_begin,
    .step = path_step,
    .end = path_end,
};
