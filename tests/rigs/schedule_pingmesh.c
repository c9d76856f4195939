/* tests/rigs/schedule_pingmesh.c -- Pingmesh's agent in foul weather.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A controller that is down, slow or sends rubbish, a collector that fails or loses
 * its answers, a network that loses and refuses, a clock that jumps, a host that
 * starts again. What the agent must never do is checked against the world's own
 * time and books.
 */
#include <string.h>

#include "algos/pingmesh/agent.h"
#include "algos/pingmesh/outbox.h"
#include "tests/rigs/schedule_agent.h"
#include "tests/rigs/schedule_lists.h"
#include "tests/rigs/schedule_machines.h"
#include "topo/addr.h"

enum { MAX_ADDRESSES = 2048, MAX_PROBES = 32768, N_LISTS = 3 };
#define GAP     (10 * SIM_SEC)
#define LONGEST (100 * SIM_SEC) /* interval of an entry */
#define EPOCH   (1000000 * SIM_SEC)

enum controller { UP, SILENT, DOWN, SLOW, NONE, EMPTY, GARBAGE, N_CONTROLLERS };
enum collector { TAKES, DEAF, FAILS, FORGETS, LATE, FAILS_LATE, N_COLLECTORS };

enum pingmesh_kind {
	PASS,
	HANG,
	CONTROLLER,
	COLLECTOR,
	NETWORK,
	LIST,
	JUMP,
	ASKED,
	STRAY,
	ENDING,
	RESTART
};
static const struct schedule_kind pingmesh_kinds[] = {
    [PASS] = {"time passes", 40},
    [HANG] = {"time passes, and all that is due comes late", 3},
    [CONTROLLER] = {"the controller is up, or not, or has no good list", 10},
    [COLLECTOR] = {"the collector takes batches, or not", 10},
    [NETWORK] = {"the network loses and refuses so much", 5},
    [LIST] = {"there is another list", 4},
    [JUMP] = {"the clock jumps", 3},
    [ASKED] = {"somebody wants an echo", 4},
    [STRAY] = {"an answer comes that nobody waits for", 4},
    [ENDING] = {"the host is about to end", 1},
    [RESTART] = {"the host starts again", 1},
    {0},
};

static const char *const pingmesh_seen[] = {
#define X(name, text) text,
    ALGO_PINGMESH_COUNTERS(X)
#undef X
	NULL};

/* What takes thousands of probes, or of steps, has tests of its own. */
#define COUNTER(name)                                                          \
	(UINT64_C(1) << offsetof(struct algo_pingmesh_counters, name) /        \
		sizeof(uint64_t))
#define RARE (COUNTER(n_crowded) | COUNTER(n_overrun) | COUNTER(n_stalls))

struct sent {
	sim_ns clock, rtt_ns, end; /* end: of the connect, world's time */
	uint32_t dst_ip;
	uint16_t dst_port;
	uint32_t before; /* of the same source port; 1 + index, or 0 */
	uint8_t told, outcome, answer; /* told: the agent heard of it */
	uint8_t taken;                 /* by the collector */
};

struct pingmesh_world {
	struct schedule_agent agent;
	struct sim_rng rng;
	struct algo_pingmesh_params params;
	struct algo_pingmesh_status was, is;
	uint64_t n_jumps;
	int is_ending, batch_taken;
	/* Weather. */
	enum controller controller;
	enum collector collector;
	sim_ns fair_since;
	uint32_t loss, refusal; /* of 256 */
	struct schedule_list list[N_LISTS], garbage;
	uint32_t current;
	/* Books: of the agent since it started, */
	sim_ns fetched, good_list, last_probe;
	uint64_t batch, batch_sum, batch_token, n_taken, n_windows, n_counted;
	uint32_t n_batch_tries, n_sent;
	uint32_t of_port[65536];   /* the last; 1 + index */
	struct schedule_list *had; /* the list that it took, by its bytes */
	/* and of all times. */
	uint32_t n_addresses;
	uint32_t address[MAX_ADDRESSES];
	sim_ns last[MAX_ADDRESSES];
	struct sent sent[MAX_PROBES];
	struct schedule_list had_bytes;
	unsigned char state[ALGO_PINGMESH_STATE + 64];
};

#define must(w, cond, sentence) schedule_must(&(w)->agent, cond, sentence)

static uint32_t below(struct pingmesh_world *w, uint32_t n)
{
	return sim_rng_below(&w->rng, n);
}

static sim_ns up_to(struct pingmesh_world *w, sim_ns most)
{
	return (sim_ns)(sim_rng_u01(&w->rng) * (double)most);
}

/* --- what the world does with the agent's actions ------------------------- */
static void on_fetch(struct pingmesh_world *w, const struct agent_action *a)
{
	struct agent_event ev = {.kind = AGENT_FETCH_DONE,
	    .token = a->token,
	    .ok = w->controller != DOWN};
	const struct schedule_list *l = NULL;
	sim_ns delay = up_to(w, SIM_SEC);
	must(w, !w->is_ending, "who ends asks for no list");
	w->fetched = w->agent.t;
	if (w->controller == SILENT)
		return;
	if (w->controller == SLOW)
		delay = up_to(w, 15 * SIM_SEC);
	if (w->controller == UP || w->controller == SLOW)
		l = &w->list[w->current];
	if (w->controller == EMPTY)
		l = &schedule_list_empty;
	if (w->controller == GARBAGE) {
		schedule_list_spoil(&w->garbage, &w->list[w->current], &w->rng);
		l = &w->garbage;
	}
	if (l) {
		ev.data = l->text;
		ev.n = l->n;
	}
	schedule_agent_post(&w->agent, delay, &ev);
}

static uint32_t peer_of(struct pingmesh_world *w, uint32_t address)
{
	for (uint32_t i = 0; i < w->n_addresses; i++)
		if (w->address[i] == address)
			return i;
	must(w, w->n_addresses < MAX_ADDRESSES, "the world has room for peers");
	if (w->agent.broken)
		return 0;
	w->address[w->n_addresses] = address;
	return w->n_addresses++;
}

/* Another one from the same port to the same place must be over. */
static void check_port(struct pingmesh_world *w, const struct agent_action *a)
{
	const struct algo_pingmesh_params *p = &w->params;
	must(w,
	    a->tuple.src_port >= p->first_port &&
		a->tuple.src_port <= p->last_port,
	    "a source port is of the range");
	for (uint32_t i = w->of_port[a->tuple.src_port]; i > 0;) {
		const struct sent *x = &w->sent[i - 1];
		must(w,
		    x->end <= w->agent.t || x->dst_ip != a->tuple.dst_ip ||
			x->dst_port != a->tuple.dst_port,
		    "no two probes under way have one five-tuple");
		i = x->before;
	}
}

static void check_probe(struct pingmesh_world *w, const struct agent_action *a)
{
	const uint32_t peer = peer_of(w, a->tuple.dst_ip);
	must(w, w->was.n_entries > 0 || w->is.n_entries > 0,
	    "without a list nobody is probed");
	must(w, a->n_bytes <= 65536, "no payload is above 64 KiB");
	must(w,
	    a->tuple.src_ip == topo_addr_of_host(0) &&
		a->tuple.dst_ip != topo_addr_of_host(0),
	    "a probe goes from the agent's address to another");
	must(w, !w->had || schedule_list_has(w->had, &a->tuple),
	    "nobody is probed who is not on the list");
	must(w, w->last[peer] == 0 || w->agent.t >= w->last[peer] + GAP,
	    "two probes of a pair are 10 s apart or more, also after a start");
	must(w, w->n_sent + 1 < MAX_PROBES, "the world has room for probes");
	check_port(w, a);
	w->last[peer] = w->last_probe = w->agent.t;
}

/* Whatever a server answers, or does not. */
static void on_get(struct pingmesh_world *w, struct agent_event *ev)
{
	ev->answer = (uint8_t)(1 + below(w, AGENT_N_ANSWERS - 1));
	ev->echo_ns = ev->answer == AGENT_ANSWER_OK ? 1 + up_to(w, SIM_MS) : 0;
}

/* Silence, a reset, or a handshake, as long as its losses made it. */
static void on_connect(struct pingmesh_world *w, const struct agent_action *a)
{
	static const sim_ns ladder[] = {0, 3 * SIM_SEC, 9 * SIM_SEC};
	struct agent_event ev = {.kind = AGENT_CONNECT_DONE,
	    .token = a->token,
	    .outcome = AGENT_CONNECTED};
	uint32_t n_lost = 0;
	check_probe(w, a);
	struct sent *s = &w->sent[w->n_sent];
	*s = (struct sent){.clock = w->agent.t + w->agent.skew,
	    .end = w->agent.t + sim_ns_of(w->params.probe_timeout_s),
	    .dst_ip = a->tuple.dst_ip,
	    .dst_port = a->tuple.dst_port,
	    .before = w->of_port[a->tuple.src_port],
	    .outcome = AGENT_TIMEOUT};
	w->of_port[a->tuple.src_port] = ++w->n_sent;
	while (n_lost < 3 && below(w, 256) < w->loss)
		n_lost++;
	if (n_lost == 3 && below(w, 2))
		return; /* nobody ever answers */
	ev.rtt_ns =
	    n_lost == 3 ? 21 * SIM_SEC : ladder[n_lost] + 1 + up_to(w, SIM_MS);
	if (n_lost == 3)
		ev.outcome = AGENT_TIMEOUT;
	else if (below(w, 256) < w->refusal)
		ev.outcome = AGENT_REFUSED;
	else if (a->n_bytes > 0)
		ev.echo_ns = 1 + up_to(w, SIM_MS);
	if (a->ping == AGENT_PING_HTTP && ev.outcome == AGENT_CONNECTED)
		on_get(w, &ev);
	s->outcome = ev.outcome;
	s->answer = ev.answer;
	s->rtt_ns = ev.outcome == AGENT_CONNECTED ? ev.rtt_ns : 0;
	s->told = 1;
	if (s->end > w->agent.t + ev.rtt_ns)
		s->end = w->agent.t + ev.rtt_ns;
	schedule_agent_post(&w->agent, ev.rtt_ns, &ev);
	if (below(w, 50) == 0) /* again */
		schedule_agent_post(&w->agent, ev.rtt_ns + up_to(w, SIM_SEC),
		    &ev);
}

/* Of those alike, as the clock may have been set back, one not yet taken. */
static int is_of(const struct sent *s, const struct algo_pingmesh_record *r)
{
	return !s->taken && s->clock == r->sent_ns && s->dst_ip == r->dst_ip &&
	    s->dst_port == r->dst_port;
}

/* Every record is of a probe that was sent, says what became of it, and was not in
 * a batch before. An answer may come too late to be heard. */
static void book(struct pingmesh_world *w, const struct algo_pingmesh_batch *b)
{
	for (uint32_t i = 0; i < b->n && !w->agent.broken; i++) {
		const struct algo_pingmesh_record *r = &b->record[i];
		uint32_t k = w->of_port[r->src_port];
		while (k > 0 && !is_of(&w->sent[k - 1], r))
			k = w->sent[k - 1].before;
		must(w, k > 0, "a record is of one probe, and told once");
		if (k == 0)
			return;
		struct sent *s = &w->sent[k - 1];
		s->taken = 1;
		must(w,
		    (r->outcome == s->outcome && r->rtt_ns == s->rtt_ns &&
			r->answer == s->answer) ||
			(r->outcome == AGENT_TIMEOUT && r->answer == 0),
		    "a record says what became of its probe");
		must(w, s->told || r->outcome == AGENT_TIMEOUT,
		    "who had no answer has timed out");
	}
	w->n_taken += b->n;
	w->batch_taken = 1;
}

static void on_upload(struct pingmesh_world *w, const struct agent_action *a)
{
	const struct algo_pingmesh_batch *b = a->data;
	const struct agent_event ev = {.kind = AGENT_UPLOAD_DONE,
	    .token = a->token,
	    .ok = w->collector != FAILS && w->collector != FAILS_LATE};
	const uint64_t sum = schedule_list_sum(b, a->n_bytes);
	must(w, b->n > 0 && b->n <= w->params.batch,
	    "a batch has records, and no more than it may");
	must(w, b->number == w->batch || b->number == w->batch + 1,
	    "batches are numbered in a row");
	must(w, b->number != w->batch || sum == w->batch_sum,
	    "a batch that is tried again is the same batch");
	if (b->number != w->batch)
		w->batch_taken = (int)(w->n_batch_tries = 0);
	must(w, ++w->n_batch_tries <= w->params.upload_tries,
	    "a batch is tried as often as it may be");
	w->batch = b->number;
	w->batch_sum = sum;
	w->batch_token = a->token;
	if (w->collector == DEAF || w->agent.broken)
		return;
	if (ev.ok && !w->batch_taken)
		book(w, b);
	if (w->collector != FORGETS)
		schedule_agent_post(&w->agent,
		    up_to(w, w->collector >= LATE ? 20 * SIM_SEC : SIM_SEC),
		    &ev);
}

/* Each window once, and together no more than was counted. */
static void on_counters(struct pingmesh_world *w, const struct agent_action *a)
{
	const struct algo_pingmesh_window *x = a->data;
	must(w, a->n_bytes == sizeof(*x) && x->number == ++w->n_windows,
	    "each window is told once");
	must(w, x->n_drop_1 + x->n_drop_2 <= x->n_connected,
	    "who lost a SYN connected");
	must(w,
	    (x->p50_ns > 0) == (x->n_connected > 0) && x->p50_ns <= x->p99_ns,
	    "quantiles are of those that connected");
	must(w,
	    (x->http_p50_ns > 0) == (x->n_http_ok > 0) &&
		x->http_p50_ns <= x->http_p99_ns,
	    "quantiles of GETs are of those with status 200");
	must(w,
	    x->n_http_ok + x->n_http_other + x->n_http_malformed +
		    x->n_http_cut + x->n_http_late <=
		x->n_connected,
	    "who sent a GET connected");
	w->n_counted += x->n_probes;
	must(w, w->n_counted <= w->is.count.n_probes,
	    "windows count a probe once");
}

/* --- what must hold after every step -------------------------------------- */
/* The agent does not count the time of a jump of its clock, so each jump may
 * delay what it does by a timer's second. */
static sim_ns slack(const struct pingmesh_world *w)
{
	return (2 + 2 * w->n_jumps) * SIM_SEC;
}

/* With a fair controller, the agent has its list again in time, and probes. */
static void check_fair(struct pingmesh_world *w)
{
	const struct algo_pingmesh_params *p = &w->params;
	const sim_ns again = sim_ns_of(p->fetch_interval_s) +
	    sim_ns_of(p->fetch_retry_s) + sim_ns_of(p->fetch_timeout_s) +
	    slack(w);
	if (w->controller != UP || !w->list[w->current].n_entries ||
	    w->is_ending)
		w->fair_since = w->agent.t;
	if (w->agent.t <= w->fair_since + again)
		return;
	must(w, w->is.n_entries > 0,
	    "with a controller an agent has its list again in time");
	const sim_ns from =
	    w->last_probe > w->fair_since ? w->last_probe : w->fair_since;
	must(w, w->agent.t <= from + again + GAP + LONGEST,
	    "who has a list probes");
}

static void check_list(struct pingmesh_world *w, const struct agent_event *ev)
{
	const struct algo_pingmesh_params *p = &w->params;
	const sim_ns out = sim_ns_of(p->fetch_timeout_s);
	const int heard = ev->kind == AGENT_FETCH_DONE &&
	    w->is.count.n_stray == w->was.count.n_stray;
	if (heard && ev->ok) {
		const int is_good = schedule_list_take(&w->had_bytes, ev->data,
		    ev->n, w->params.max_entries);
		w->had = is_good ? &w->had_bytes : NULL;
		w->good_list = is_good ? w->agent.t : w->good_list;
		must(w, (w->is.n_entries > 0) == is_good,
		    "a good list is taken, and anything else drops all peers");
	}
	if (ev->kind == AGENT_FETCH_DONE && !w->is_ending &&
	    w->agent.t < w->fetched + out && ev->token == w->is.count.n_fetches)
		must(w, heard, "an answer in time is heard");
	must(w,
	    w->is.n_contacts_failed < ALGO_PINGMESH_CONTACTS ||
		w->is.n_entries == 0,
	    "three failed contacts drop all peers");
	must(w, !w->is_ending || w->is.n_entries == 0, "who ends has no peers");
	must(w,
	    w->is.n_entries == 0 ||
		w->agent.t <= w->good_list + sim_ns_of(p->fetch_interval_s) +
			2 * sim_ns_of(p->fetch_retry_s) + 3 * out + slack(w),
	    "an old list is dropped");
	must(w,
	    ev->kind != AGENT_UPLOAD_DONE || ev->ok ||
		ev->token == w->batch_token ||
		w->is.count.n_stray == w->was.count.n_stray + 1,
	    "a try that fails late says nothing of the one under way");
	must(w,
	    w->is.count.n_discarded == w->was.count.n_discarded ||
		w->n_batch_tries == p->upload_tries,
	    "a batch is given up after its last try, and not before");
	check_fair(w);
}

static void check_books(struct pingmesh_world *w)
{
	const struct algo_pingmesh_counters *c = &w->is.count;
	must(w, c->n_probes == w->n_sent, "probes are counted");
	must(w,
	    c->n_probes ==
		w->is.n_in_flight + w->is.n_held + c->n_uploaded +
		    c->n_discarded + c->n_overrun,
	    "no record is lost uncounted");
	must(w,
	    c->n_probes ==
		c->n_connected + c->n_unconnected + w->is.n_in_flight,
	    "each probe ends once, as answered or as lost");
	must(w,
	    c->n_uploaded <= w->n_taken &&
		w->n_taken <= c->n_uploaded + c->n_discarded + w->is.n_held,
	    "what the collector took, and no more, counts as uploaded");
	must(w,
	    w->is.n_entries <= w->params.max_entries &&
		w->is.n_in_flight <= ALGO_PINGMESH_FLIGHTS &&
		w->is.n_held <= ALGO_PINGMESH_RECORDS + ALGO_PINGMESH_BATCH,
	    "memory is bounded");
}

static void pingmesh_took(void *world, const struct agent_event *ev)
{
	struct pingmesh_world *w = world;
	size_t n_answers = 0;
	w->was = w->is;
	algo_pingmesh_agent_status(w->agent.state, &w->is);
	/* Before its actions: who is probed now is on the list of now. */
	check_list(w, ev);
	for (size_t i = 0; i < w->agent.out.n && !w->agent.broken; i++) {
		const struct agent_action *a = &w->agent.out.action[i];
		if (a->kind == AGENT_FETCH)
			on_fetch(w, a);
		else if (a->kind == AGENT_CONNECT)
			on_connect(w, a);
		else if (a->kind == AGENT_UPLOAD)
			on_upload(w, a);
		else if (a->kind == AGENT_COUNTERS)
			on_counters(w, a);
		else if (a->kind == AGENT_ANSWER)
			n_answers += a->token == ev->token &&
			    a->n_bytes == (ev->n < 65536 ? ev->n : 65536);
		else
			must(w,
			    a->kind == AGENT_SET_TIMER &&
				a->at_ns <=
				    w->agent.t + w->agent.skew + SIM_SEC,
			    "it does nothing but its work, each second");
	}
	must(w, n_answers == (ev->kind == AGENT_PING_REQUEST),
	    "the probes of others are always answered, once");
	check_books(w);
}

/* --- the weather ---------------------------------------------------------- */
static void pingmesh_jump(struct pingmesh_world *w, uint32_t x, uint32_t y)
{
	const sim_ns by = 5 * SIM_SEC / 2 + schedule_time(x, 100000 * SIM_SEC);
	w->n_jumps++;
	if (w->agent.by_clock || y % 2)
		w->agent.skew += by;
	else if (w->agent.skew > EPOCH / 2 + by)
		w->agent.skew -= by;
	/* It is seen, as there is a step each second. */
	schedule_agent_step(&w->agent,
	    &(struct agent_event){.kind = AGENT_TIMER});
}

static void pingmesh_stray(struct pingmesh_world *w, uint32_t x, uint32_t y)
{
	struct agent_event ev = {.kind = y % 3 == 0 ? AGENT_CONNECT_DONE
		: y % 3 == 1                        ? AGENT_UPLOAD_DONE
						    : AGENT_FETCH_DONE,
	    .ok = 1,
	    .token = x >> 4 | UINT64_C(1) << 40};
	/* Slots that are free have even turns. */
	if (y % 3 == 0)
		ev.token = (uint64_t)(y >> 8 & 62) << 32 | x % 8;
	const uint64_t n = w->is.count.n_stray;
	schedule_agent_step(&w->agent, &ev);
	must(w, w->is.count.n_stray == n + 1,
	    "an answer that nobody waits for changes nothing");
}

/* What it counted until now, as it is about to be forgotten. */
static void pingmesh_count(struct pingmesh_world *w)
{
	uint64_t *seen = w->agent.tally->seen;
#define X(name, doc) *seen++ += w->is.count.name;
	ALGO_PINGMESH_COUNTERS(X)
#undef X
}

static void pingmesh_anew(struct pingmesh_world *w)
{
	w->fetched = w->last_probe = 0;
	w->good_list = w->fair_since = w->agent.t;
	w->batch = w->batch_sum = w->n_taken = w->n_windows = w->n_counted = 0;
	w->n_batch_tries = w->n_sent = 0;
	w->batch_taken = w->is_ending = 0;
	w->had = NULL;
	memset(w->of_port, 0, sizeof(w->of_port));
	memset(&w->is, 0, sizeof(w->is));
}

static const char *pingmesh_begin(void *life, const struct sim_seed *where,
    struct schedule_tally *tally)
{
	struct pingmesh_world *w = life;
	struct algo_pingmesh_params *p = &w->params;
	memset(w, 0, offsetof(struct pingmesh_world, of_port));
	w->n_addresses = 0;
	memset(w->last, 0, sizeof(w->last));
	sim_rng_init(&w->rng, where, SIM_STREAM_PROBE, 0);
	sim_field_defaults(algo_pingmesh_agent_fields, p, NULL);
	p->fetch_interval_s = 10 + below(w, 60);
	p->fetch_retry_s = 1 + below(w, 20);
	p->fetch_timeout_s = 1 + below(w, 10);
	p->batch = 1 + below(w, 100);
	p->upload_interval_s = 1 + below(w, 30);
	p->upload_tries = 1 + below(w, 5);
	p->upload_backoff_s = 0.1 + below(w, 4);
	p->max_entries = 40 + below(w, 20);
	/* Some with few ports, yet more than a pair has under way. */
	p->ports = below(w, 4) == 0;
	if (p->ports == ALGO_PINGMESH_PORTS_PAIR && below(w, 2))
		p->last_port = p->first_port + 3 + below(w, 6);
	for (uint32_t i = 0; i < N_LISTS; i++)
		schedule_list_make(&w->list[i], i, &w->rng);
	w->agent.ops = &algo_pingmesh_agent;
	w->agent.params = p;
	w->agent.t = GAP;
	w->agent.skew = EPOCH;
	w->agent.by_clock = (int)below(w, 2);
	w->agent.tally = tally;
	w->agent.took = pingmesh_took;
	w->agent.world = w;
	pingmesh_anew(w);
	schedule_agent_begin(&w->agent, w->state, where);
	return w->agent.broken;
}

static const char *pingmesh_step(void *life, struct schedule_step s)
{
	struct pingmesh_world *w = life;
	switch ((enum pingmesh_kind)s.kind) {
	case PASS:
		schedule_agent_pass(&w->agent,
		    schedule_time(s.x, 120 * SIM_SEC));
		break;
	case HANG: /* for longer would be a jump */
		schedule_agent_hang(&w->agent,
		    schedule_time(s.x, 900 * SIM_MS));
		break;
	case CONTROLLER:
		w->controller = s.x >> 31 ? UP : s.y % N_CONTROLLERS;
		break;
	case COLLECTOR:
		w->collector = s.x >> 31 ? TAKES : s.y % N_COLLECTORS;
		break;
	case NETWORK:
		w->loss = s.x % 3 ? s.x / 3 % 10 : s.x / 3 % 257;
		w->refusal = s.y % 3 ? 0 : s.y / 3 % 257;
		break;
	case LIST:
		w->current = s.x % N_LISTS;
		break;
	case JUMP:
		pingmesh_jump(w, s.x, s.y);
		break;
	case ASKED:
		schedule_agent_step(&w->agent,
		    &(struct agent_event){.kind = AGENT_PING_REQUEST,
			.token = s.x,
			.n = s.y % 200000});
		break;
	case STRAY:
		pingmesh_stray(w, s.x, s.y);
		break;
	case ENDING:
		algo_pingmesh_agent_end(w->agent.state);
		w->is_ending = 1;
		break;
	case RESTART:
		pingmesh_count(w);
		pingmesh_anew(w);
		schedule_agent_restart(&w->agent);
		break;
	}
	return w->agent.broken;
}

/* Ten minutes without a controller, and with a collector that takes all. */
static const char *pingmesh_end(void *life)
{
	struct pingmesh_world *w = life;
	w->controller = DOWN;
	w->collector = TAKES;
	schedule_agent_pass(&w->agent, 600 * SIM_SEC);
	must(w, w->is.n_entries == 0,
	    "without a controller the list is dropped");
	must(w, w->is.n_in_flight == 0 && w->is.n_held == 0,
	    "all that was probed is handed over in the end");
	pingmesh_count(w);
	return w->agent.broken;
}

const struct schedule_machine schedule_pingmesh = {
    .name = "Pingmesh's agent",
    .kind = pingmesh_kinds,
    .seen = pingmesh_seen,
    .rare = RARE,
    .n_least = 20,
    .n_most = 200,
    .size = sizeof(struct pingmesh_world),
    .begin = pingmesh_begin,
    .step = pingmesh_step,
    .end = pingmesh_end,
};
