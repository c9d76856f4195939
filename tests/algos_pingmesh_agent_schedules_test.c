/* tests/algos_pingmesh_agent_schedules_test.c -- the agent in foul weather.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each schedule is a random history of a small world: a controller that is
 * down, slow or sends rubbish, a collector that fails or loses its answers, a
 * network that loses and refuses, a clock that jumps. The real agent lives in
 * it, and after every step what it must never do is checked, against the
 * world's own time and books. Nothing here is statistical: no false alarms.
 *
 * PINGMESH_SCHEDULES=n runs n of them (500), PINGMESH_FIRST=k from the k-th.
 */
#include "algos/pingmesh/agent.h"
#include "algos/pingmesh/outbox.h"
#include "algos/pingmesh/pinglist_xml.h"
#include "tests/test.h"

enum {
	N_LISTS = 3,
	MAX_PEERS = 12,
	MAX_KINDS = 3,
	MAX_ADDRESSES = 100, /* of lists, and of spoilt ones */
	MAX_EVENTS = 4096,
	MAX_PROBES = 20000,
	LIST_BYTES = 1 << 13,
	CANARY = 64,
};
#define LIFE    (1800 * SIM_SEC) /* of the weather; then it clears up */
#define GAP     (10 * SIM_SEC)
#define LONGEST (100 * SIM_SEC) /* interval of an entry */
#define EPOCH   (1000000 * SIM_SEC)

enum controller { UP, SILENT, DOWN, SLOW, NONE, EMPTY, GARBAGE, N_CONTROLLERS };
enum collector { TAKES, DEAF, FAILS, FORGETS, LATE, N_COLLECTORS };

struct event {
	sim_ns at; /* the world's time; of a timer maybe the clock's */
	uint64_t seq;
	int by_clock;
	struct agent_event ev;
};

struct sent {
	sim_ns clock, rtt_ns, end; /* end: of the connect, world's time */
	uint32_t dst_ip;
	uint16_t dst_port;
	uint32_t before;       /* of the same source port; 1 + index, or 0 */
	uint8_t told, outcome; /* told: the agent heard of it */
	uint8_t taken;         /* by the collector */
};

struct list {
	size_t n;
	char text[LIST_BYTES];
	int good; /* has entries */
};

struct world {
	uint32_t run;
	struct sim_rng rng, agent_rng;
	struct algo_pingmesh_params params;
	unsigned char *state;
	struct algo_pingmesh_status was, is;
	struct agent_out out;
	sim_ns t, skew; /* clock = t + skew */
	int clock_timers;
	uint64_t n_jumps, seq;
	struct event event[MAX_EVENTS];
	size_t n_events;
	/* Weather. */
	enum controller controller;
	enum collector collector;
	sim_ns turn, fair_since;
	uint32_t loss, refusal; /* of 256 */
	struct list list[N_LISTS], garbage;
	uint32_t current;
	/* Books. */
	sim_ns fetched, good_list, last_probe, last[MAX_ADDRESSES];
	uint32_t address[MAX_ADDRESSES], n_addresses;
	struct sent sent[MAX_PROBES];
	uint32_t n_sent, of_port[65536]; /* the last; 1 + index */
	uint64_t batch, batch_sum, n_taken, n_windows, n_counted;
	int batch_taken;
	uint64_t n_closed_by_count;
};

#define hold(w, cond)                                                          \
	do {                                                                   \
		if (!(cond))                                                   \
			fail_msg("%s does not hold at %.3f s of schedule "     \
				 "%u: TEST_SEED=%llu PINGMESH_FIRST=%u "       \
				 "PINGMESH_SCHEDULES=1",                       \
			    #cond, (double)(w)->t * 1e-9, (w)->run,            \
			    (unsigned long long)test_seed(), (w)->run);        \
	} while (0)

static uint32_t below(struct world *w, uint32_t n)
{
	return sim_rng_below(&w->rng, n);
}

static sim_ns up_to(struct world *w, sim_ns most)
{
	return (sim_ns)(sim_rng_u01(&w->rng) * (double)most);
}

static sim_ns ns(double seconds)
{
	return (sim_ns)(seconds * 1e9);
}

static void post(struct world *w, sim_ns at, const struct agent_event *ev)
{
	hold(w, w->n_events < MAX_EVENTS);
	w->event[w->n_events++] = (struct event){at, w->seq++, 0, *ev};
}

/* --- lists ---------------------------------------------------------------- */
static int is_good(const char *text, size_t n)
{
	static struct algo_pinglist_entry entry[64];
	static uint32_t work[1024];
	struct algo_pinglist_doc d = {.entry = entry,
	    .work = work,
	    .max_entries = 64,
	    .max_bytes = LIST_BYTES};
	assert_true(algo_pinglist_xml_work(64) <= 1024);
	return algo_pinglist_xml_read(&d, topo_addr_of_host(0), text, n,
		   NULL) == 0 &&
	    d.n_entries > 0;
}

/* Peers 10.0.0.2 and on; also itself, intervals below the least and payloads
 * above the most, which the reader must mend. */
static void make_list(struct world *w, struct list *l, uint32_t version)
{
	const uint32_t n_peers = 1 + below(w, MAX_PEERS);
	char body[LIST_BYTES];
	uint32_t n = 0;
	int at = 0;
	for (uint32_t p = below(w, 3); p < n_peers + 2 && p <= MAX_PEERS; p++) {
		const uint32_t kinds = 1 + below(w, MAX_KINDS);
		for (uint32_t k = 0; k < kinds; k++, n++)
			at += snprintf(body + at, sizeof(body) - (size_t)at,
			    "<peer address=\"10.0.0.%u\" port=\"%u\" "
			    "level=\"dc\" class=\"%u\" interval_s=\"%u\" "
			    "payload=\"%u\"/>",
			    p + 1, 80 + k, k, below(w, 41),
			    below(w, 2) * below(w, 100000));
	}
	l->n = (size_t)snprintf(l->text, sizeof(l->text),
	    "<pinglist server=\"10.0.0.1\" version=\"%016x\" count=\"%u\">"
	    "%s</pinglist>",
	    version, n, body);
	l->good = is_good(l->text, l->n);
}

/* A list cut short, or with some bytes changed; maybe still a list. */
static void spoil(struct world *w)
{
	struct list *g = &w->garbage;
	*g = w->list[w->current];
	if (below(w, 2))
		g->n = below(w, (uint32_t)g->n);
	for (uint32_t i = below(w, 4); i > 0 && g->n > 0; i--)
		g->text[below(w, (uint32_t)g->n)] = (char)below(w, 256);
	g->good = is_good(g->text, g->n);
}

/* --- what the world does with the agent's actions ------------------------- */
static void on_fetch(struct world *w, const struct agent_action *a)
{
	static const char empty[] = "<pinglist server=\"10.0.0.1\" "
				    "version=\"0123456789abcdef\" count=\"0\">"
				    "</pinglist>";
	struct agent_event ev = {.kind = AGENT_FETCH_DONE,
	    .token = a->token,
	    .ok = w->controller != DOWN};
	sim_ns delay = up_to(w, SIM_SEC);
	w->fetched = w->t;
	switch (w->controller) {
	case SILENT:
		return;
	case SLOW:
		delay = up_to(w, 15 * SIM_SEC);
		/* fallthrough */
	case UP:
		ev.data = w->list[w->current].text;
		ev.n = w->list[w->current].n;
		break;
	case EMPTY:
		ev.data = empty;
		ev.n = sizeof(empty) - 1;
		break;
	case GARBAGE:
		spoil(w);
		ev.data = w->garbage.text;
		ev.n = w->garbage.n;
		break;
	default:
		break;
	}
	post(w, w->t + delay, &ev);
}

static uint32_t peer_of(struct world *w, uint32_t address)
{
	for (uint32_t i = 0; i < w->n_addresses; i++)
		if (w->address[i] == address)
			return i;
	hold(w, w->n_addresses < MAX_ADDRESSES);
	w->address[w->n_addresses] = address;
	return w->n_addresses++;
}

/* Another one from the same port to the same place must be over. */
static void check_port(struct world *w, const struct agent_action *a)
{
	const struct algo_pingmesh_params *p = &w->params;
	hold(w, a->tuple.src_port >= p->first_port);
	hold(w, a->tuple.src_port <= p->last_port);
	for (uint32_t i = w->of_port[a->tuple.src_port]; i > 0;) {
		const struct sent *x = &w->sent[i - 1];
		hold(w,
		    x->end <= w->t || x->dst_ip != a->tuple.dst_ip ||
			x->dst_port != a->tuple.dst_port);
		i = x->before;
	}
}

/* Silence, a reset, or a handshake that took as long as its losses. */
static void on_connect(struct world *w, const struct agent_action *a)
{
	static const sim_ns ladder[] = {0, 3 * SIM_SEC, 9 * SIM_SEC};
	const uint32_t peer = peer_of(w, a->tuple.dst_ip);
	struct agent_event ev = {.kind = AGENT_CONNECT_DONE,
	    .token = a->token,
	    .outcome = AGENT_CONNECTED};
	uint32_t n_lost = 0;
	hold(w, w->was.n_entries > 0 || w->is.n_entries > 0);
	hold(w, a->n_bytes <= 65536);
	hold(w, a->tuple.src_ip == topo_addr_of_host(0));
	hold(w, a->tuple.dst_ip != topo_addr_of_host(0));
	hold(w, w->t >= w->last[peer] + GAP); /* also after a start */
	hold(w, w->n_sent < MAX_PROBES);
	check_port(w, a);
	w->last[peer] = w->last_probe = w->t;
	w->sent[w->n_sent] = (struct sent){.clock = w->t + w->skew,
	    .end = w->t + ns(w->params.probe_timeout_s),
	    .dst_ip = a->tuple.dst_ip,
	    .dst_port = a->tuple.dst_port,
	    .before = w->of_port[a->tuple.src_port],
	    .outcome = AGENT_TIMEOUT};
	w->of_port[a->tuple.src_port] = ++w->n_sent;
	while (n_lost < 3 && below(w, 256) < w->loss)
		n_lost++;
	if (n_lost == 3 && below(w, 2))
		return; /* the fabric never answers this connect */
	ev.rtt_ns =
	    n_lost == 3 ? 21 * SIM_SEC : ladder[n_lost] + 1 + up_to(w, SIM_MS);
	const sim_ns delay = ev.rtt_ns;
	if (n_lost == 3)
		ev.outcome = AGENT_TIMEOUT;
	else if (below(w, 256) < w->refusal)
		ev.outcome = AGENT_REFUSED;
	else if (a->n_bytes > 0)
		ev.echo_ns = 1 + up_to(w, SIM_MS);
	struct sent *s = &w->sent[w->n_sent - 1];
	s->outcome = ev.outcome;
	s->rtt_ns = ev.outcome == AGENT_CONNECTED ? ev.rtt_ns : 0;
	s->told = 1;
	s->end = w->t + delay < s->end ? w->t + delay : s->end;
	post(w, w->t + delay, &ev);
	if (below(w, 50) == 0)
		post(w, w->t + delay + up_to(w, SIM_SEC), &ev); /* again */
}

static uint64_t sum_of(const struct algo_pingmesh_batch *b, size_t n)
{
	const unsigned char *p = (const unsigned char *)b;
	uint64_t x = 1;
	for (size_t i = 0; i < n; i++)
		x = (x ^ p[i]) * UINT64_C(0x100000001b3);
	return x;
}

/* Of those alike, as the clock may have been set back, one not yet taken. */
static int is_of(const struct sent *s, const struct algo_pingmesh_record *r)
{
	return !s->taken && s->clock == r->sent_ns && s->dst_ip == r->dst_ip &&
	    s->dst_port == r->dst_port;
}

/* Every record is of a probe that was sent, says what became of it, and was
 * not in a batch before. */
static void book(struct world *w, const struct algo_pingmesh_batch *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		const struct algo_pingmesh_record *r = &b->record[i];
		uint32_t k = w->of_port[r->src_port];
		while (k > 0 && !is_of(&w->sent[k - 1], r))
			k = w->sent[k - 1].before;
		hold(w, k > 0);
		struct sent *s = &w->sent[k - 1];
		s->taken = 1;
		hold(w, r->outcome == s->outcome && r->rtt_ns == s->rtt_ns);
		hold(w, s->told || r->outcome == AGENT_TIMEOUT);
	}
	w->n_taken += b->n;
	w->batch_taken = 1;
}

static void on_upload(struct world *w, const struct agent_action *a)
{
	const struct algo_pingmesh_batch *b = a->data;
	struct agent_event ev = {.kind = AGENT_UPLOAD_DONE,
	    .token = a->token,
	    .ok = w->collector != FAILS};
	hold(w, b->n > 0 && b->n <= w->params.batch);
	hold(w, b->number == w->batch || b->number == w->batch + 1);
	const uint64_t sum = sum_of(b, a->n_bytes);
	if (b->number == w->batch)
		hold(w, sum == w->batch_sum);
	else
		w->batch_taken = 0;
	w->batch = b->number;
	w->batch_sum = sum;
	if (w->collector == DEAF)
		return;
	if (w->collector != FAILS && !w->batch_taken)
		book(w, b);
	if (w->collector != FORGETS)
		post(w,
		    w->t +
			up_to(w, w->collector == LATE ? 20 * SIM_SEC : SIM_SEC),
		    &ev);
}

/* Each window once, and together no more than was counted. */
static void on_counters(struct world *w, const struct agent_action *a)
{
	const struct algo_pingmesh_window *x = a->data;
	struct algo_pingmesh_status s;
	algo_pingmesh_agent_status(w->state, &s);
	hold(w, a->n_bytes == sizeof(*x) && x->number == ++w->n_windows);
	hold(w, x->n_drop_1 + x->n_drop_2 <= x->n_connected);
	hold(w, (x->p50_ns > 0) == (x->n_connected > 0));
	hold(w, x->p50_ns <= x->p99_ns);
	w->n_counted += x->n_probes;
	hold(w, w->n_counted <= s.count.n_probes);
}

static void on_timer_set(struct world *w, const struct agent_action *a)
{
	const struct agent_event ev = {.kind = AGENT_TIMER, .token = a->token};
	hold(w, a->at_ns >= w->t + w->skew);
	hold(w, a->at_ns <= w->t + w->skew + SIM_SEC);
	post(w, w->clock_timers ? a->at_ns : a->at_ns - w->skew, &ev);
	w->event[w->n_events - 1].by_clock = w->clock_timers;
}

static void carry_out(struct world *w, const struct agent_event *ev)
{
	size_t n_answers = 0;
	for (size_t i = 0; i < w->out.n; i++) {
		const struct agent_action *a = &w->out.action[i];
		switch (a->kind) {
		case AGENT_FETCH:
			on_fetch(w, a);
			break;
		case AGENT_CONNECT:
			on_connect(w, a);
			break;
		case AGENT_UPLOAD:
			on_upload(w, a);
			break;
		case AGENT_COUNTERS:
			on_counters(w, a);
			break;
		case AGENT_SET_TIMER:
			on_timer_set(w, a);
			break;
		case AGENT_ANSWER:
			n_answers++;
			hold(w, a->token == ev->token);
			hold(w, a->n_bytes == (ev->n < 65536 ? ev->n : 65536));
			break;
		default:
			hold(w, !"an action of another agent");
		}
	}
	hold(w, n_answers == (ev->kind == AGENT_PING_REQUEST));
}

/* --- what must hold after every step -------------------------------------- */
/* The agent does not count the time of a jump of its clock, so each jump may
 * delay what it does by a timer's second. */
static sim_ns slack(const struct world *w)
{
	return (2 + 2 * w->n_jumps) * SIM_SEC;
}

static void check_list(struct world *w, const struct agent_event *ev)
{
	const struct algo_pingmesh_params *p = &w->params;
	const sim_ns retry = ns(p->fetch_retry_s), out = ns(p->fetch_timeout_s);
	const sim_ns normal = ns(p->fetch_interval_s);
	const int heard = ev->kind == AGENT_FETCH_DONE &&
	    w->is.count.n_stray == w->was.count.n_stray;
	if (heard && ev->ok && is_good(ev->data, ev->n)) {
		w->good_list = w->t;
		hold(w, w->is.n_entries > 0);
	} else if (heard && ev->ok) {
		hold(w, w->is.n_entries == 0);
	}
	if (ev->kind == AGENT_FETCH_DONE && w->t < w->fetched + out &&
	    ev->token == w->is.count.n_fetches)
		hold(w, heard);
	if (w->is.n_contacts_failed >= 3)
		hold(w, w->is.n_entries == 0);
	if (w->is.n_entries > 0)
		hold(w,
		    w->t <=
			w->good_list + normal + 2 * retry + 3 * out + slack(w));
	/* With a fair controller, the agent has its list again in time. */
	if (w->controller != UP || !w->list[w->current].good)
		w->fair_since = w->t;
	if (w->t > w->fair_since + normal + retry + out + slack(w)) {
		hold(w, w->is.n_entries > 0);
		const sim_ns from = w->last_probe > w->fair_since
		    ? w->last_probe
		    : w->fair_since;
		hold(w,
		    w->t <=
			from + normal + retry + out + GAP + LONGEST + slack(w));
	}
}

static void check_books(struct world *w)
{
	const struct algo_pingmesh_counters *c = &w->is.count;
	hold(w, c->n_probes == w->n_sent);
	hold(w,
	    c->n_probes ==
		w->is.n_in_flight + w->is.n_held + c->n_uploaded +
		    c->n_discarded + c->n_overrun);
	hold(w,
	    c->n_probes ==
		c->n_connected + c->n_unconnected + w->is.n_in_flight);
	hold(w, c->n_uploaded <= w->n_taken);
	hold(w, w->n_taken <= c->n_uploaded + c->n_discarded + w->is.n_held);
	hold(w, w->is.n_entries <= w->params.max_entries);
	hold(w, w->is.n_in_flight <= ALGO_PINGMESH_FLIGHTS);
	hold(w, w->is.n_held <= ALGO_PINGMESH_RECORDS + ALGO_PINGMESH_BATCH);
	const unsigned char *canary = w->state + algo_pingmesh_agent.state_size;
	for (int i = 0; i < CANARY; i++)
		hold(w, canary[i] == 0xa5);
}

static void step(struct world *w, const struct agent_event *ev)
{
	w->out.n = 0;
	w->was = w->is;
	assert_ok(algo_pingmesh_agent.step(w->state, w->t + w->skew, ev,
	    &w->agent_rng, &w->out, test_err()));
	algo_pingmesh_agent_status(w->state, &w->is);
	carry_out(w, ev);
	check_list(w, ev);
	check_books(w);
}

/* --- the weather ---------------------------------------------------------- */
static void jump(struct world *w)
{
	const sim_ns by = 5 * SIM_SEC / 2 +
	    up_to(w, below(w, 2) ? 10 * SIM_SEC : 100000 * SIM_SEC);
	w->n_jumps++;
	if (w->clock_timers || below(w, 2))
		w->skew += by;
	else if (w->skew > EPOCH / 2 + by)
		w->skew -= by;
}

static void change_weather(struct world *w)
{
	const int fair = w->t >= LIFE;
	if (below(w, 2) || fair)
		w->controller = below(w, 2) ? UP : below(w, N_CONTROLLERS);
	if (below(w, 2) || fair)
		w->collector = below(w, 2) ? TAKES : below(w, N_COLLECTORS);
	if (below(w, 4) == 0)
		w->current = below(w, N_LISTS);
	w->loss = below(w, 3) ? below(w, 10) : below(w, 257);
	w->refusal = below(w, 3) ? 0 : below(w, 257);
	if (below(w, 4) == 0)
		jump(w);
	if (below(w, 2)) {
		const struct agent_event ev = {.kind = AGENT_PING_REQUEST,
		    .token = below(w, 1000),
		    .n = below(w, 200000)};
		step(w, &ev);
	}
	if (below(w, 4) == 0) {
		const struct agent_event ev = {.kind = below(w, 2)
			? AGENT_CONNECT_DONE
			: AGENT_UPLOAD_DONE,
		    .ok = 1,
		    .token = below(w, 1u << 30)};
		if (ev.kind == AGENT_CONNECT_DONE || ev.token >> 8 != w->batch)
			step(w, &ev);
	}
	w->turn = w->t + up_to(w, 120 * SIM_SEC);
	if (fair) {
		/* From now on: no controller, so that all drains. */
		w->controller = DOWN;
		w->collector = TAKES;
		w->turn = SIM_NEVER;
	}
}

static sim_ns time_of(const struct world *w, const struct event *x)
{
	if (!x->by_clock)
		return x->at;
	return x->at > w->t + w->skew ? x->at - w->skew : w->t;
}

static void live_until(struct world *w, sim_ns end)
{
	for (;;) {
		size_t first = 0;
		hold(w, w->n_events > 0); /* a timer at least */
		for (size_t i = 1; i < w->n_events; i++) {
			const sim_ns a = time_of(w, &w->event[i]);
			const sim_ns b = time_of(w, &w->event[first]);
			if (a < b ||
			    (a == b && w->event[i].seq < w->event[first].seq))
				first = i;
		}
		const struct event x = w->event[first];
		const sim_ns at = time_of(w, &x);
		if (at > end && w->turn > end)
			return;
		if (w->turn < at) {
			w->t = w->turn;
			change_weather(w);
			continue;
		}
		w->t = at;
		w->event[first] = w->event[--w->n_events];
		step(w, &x.ev);
	}
}

static void open_world(struct world *w, uint32_t run)
{
	const size_t size = algo_pingmesh_agent.state_size;
	struct algo_pingmesh_params *p = &w->params;
	const struct sim_seed where = {.seed = test_seed(), .run = run};
	memset(w, 0, sizeof(*w));
	w->run = run;
	w->skew = EPOCH;
	test_rng(&w->rng, run);
	sim_rng_init(&w->agent_rng, &where, SIM_STREAM_AGENT, 0);
	assert_ok(
	    sim_field_defaults(algo_pingmesh_agent_fields, p, test_err()));
	p->max_entries = 1 + below(w, 60);
	p->fetch_interval_s = 10 + below(w, 60);
	p->fetch_retry_s = 1 + below(w, 20);
	p->fetch_timeout_s = 1 + below(w, 10);
	p->batch = 1 + below(w, 100);
	p->upload_interval_s = 1 + below(w, 30);
	p->upload_tries = 1 + below(w, 5);
	p->upload_backoff_s = 0.1 + below(w, 4);
	/* Some with few ports, yet more than a pair has under way. */
	p->ports = below(w, 4) == 0;
	if (p->ports == ALGO_PINGMESH_PORTS_PAIR && below(w, 2))
		p->last_port = p->first_port + 3 + below(w, 6);
	w->clock_timers = below(w, 2) != 0;
	w->state = malloc(size + CANARY);
	assert_non_null(w->state);
	memset(w->state, 0xa5, size + CANARY);
	for (uint32_t i = 0; i < N_LISTS; i++) {
		make_list(w, &w->list[i], i);
		/* A list with more entries than that would be refused. */
		p->max_entries = p->max_entries < 40 ? 40 : p->max_entries;
	}
	assert_ok(algo_pingmesh_agent.init(w->state, 0, p, test_err()));
	step(w, &(struct agent_event){.kind = AGENT_START});
	change_weather(w);
}

static void add(struct algo_pingmesh_counters *sum,
    const struct algo_pingmesh_counters *c)
{
#define X(name, doc) sum->name += c->name;
	ALGO_PINGMESH_COUNTERS(X)
#undef X
}

static void live(struct world *w, uint32_t run,
    struct algo_pingmesh_counters *sum)
{
	open_world(w, run);
	live_until(w, LIFE);
	w->turn = LIFE;
	live_until(w, LIFE + 600 * SIM_SEC);
	/* Ten minutes without a controller: the list is closed, and all that
	 * was sent is accounted for. */
	hold(w, w->is.n_entries == 0);
	hold(w, w->is.n_in_flight == 0 && w->is.n_held == 0);
	hold(w,
	    w->n_sent ==
		w->is.count.n_uploaded + w->is.count.n_discarded +
		    w->is.count.n_overrun);
	add(sum, &w->is.count);
	free(w->state);
}

static uint32_t number(const char *name, uint32_t otherwise)
{
	const char *text = getenv(name);
	return text ? (uint32_t)strtoul(text, NULL, 10) : otherwise;
}

static void no_schedule_makes_it_do_harm_or_lose_count(void **state)
{
	static struct world w;
	const uint32_t first = number("PINGMESH_FIRST", 0);
	const uint32_t n = number("PINGMESH_SCHEDULES", 500);
	struct algo_pingmesh_counters sum = {0};
	(void)state;
	for (uint32_t run = first; run < first + n; run++)
		live(&w, run, &sum);
		/* Over many runs each counter must have counted something. */
#define X(name, doc)                                                           \
	print_message("%12llu  %s\n", (unsigned long long)sum.name, doc);
	ALGO_PINGMESH_COUNTERS(X)
#undef X
	if (n < 100)
		return;
#define X(name, doc)                                                           \
	if (sum.name == 0 && strcmp(#name, "n_crowded") != 0 &&                \
	    strcmp(#name, "n_overrun") != 0 && strcmp(#name, "n_stalls") != 0) \
		fail_msg("never: %s", doc);
	ALGO_PINGMESH_COUNTERS(X)
#undef X
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(no_schedule_makes_it_do_harm_or_lose_count),
	};
	return cmocka_run_group_tests_name("algos/pingmesh_schedules", tests,
	    NULL, NULL);
}
