/* tests/schedule_prober.c -- Everflow's prober under orders of all kinds.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A controller that orders too much, again, half of it, nothing or rubbish, or falls
 * silent; a host whose clock jumps and whose timers come late. Rates are checked
 * by the world's own time.
 */
#include <string.h>

#include "algos/everflow/guided.h"
#include "algos/everflow/prober.h"
#include "tests/schedule_agent.h"
#include "tests/schedule_machines.h"

#define PROBER_SEEN(X)                                                         \
	X(PROBER_SENT, "probes sent")                                          \
	X(PROBER_BEGUN, "orders begun")                                        \
	X(PROBER_SAME, "orders that had been begun before")                    \
	X(PROBER_NO_ROOM, "orders for which there was no room")                \
	X(PROBER_DONE, "orders carried out")                                   \
	X(PROBER_EXPIRED, "orders that took too long")                         \
	X(PROBER_CLOSED, "orders dropped")                                     \
	X(PROBER_BAD, "messages refused")                                      \
	X(PROBER_SILENCE, "silences that drop orders")                         \
	X(PROBER_JUMPS, "jumps of the clock under orders")                     \
	X(PROBER_RESTARTS, "restarts")

enum {
#define X(name, text) name,
	PROBER_SEEN(X)
#undef X
};
static const char *const prober_seen[] = {
#define X(name, text) text,
    PROBER_SEEN(X)
#undef X
	NULL};

enum prober_kind {
	PASS,
	HANG,
	ORDER,
	MANY,
	STOP,
	WORD,
	SPOILT,
	WRONG,
	SILENCE,
	JUMP,
	RESTART
};
static const struct schedule_kind prober_kinds[] = {
    [PASS] = {"time passes", 30},
    [HANG] = {"time passes, and timers come late", 4},
    [ORDER] = {"a few orders come", 20},
    [MANY] = {"as many orders come as may", 1},
    [STOP] = {"all is stopped, and maybe orders come", 3},
    [WORD] = {"a message without orders comes", 3},
    [SPOILT] = {"a damaged message comes", 3},
    [WRONG] = {"a message with an order that none may have comes", 2},
    [SILENCE] = {"the controller is silent", 2},
    [JUMP] = {"the clock jumps", 2},
    [RESTART] = {"the host starts again", 1},
    {0},
};

enum { IDS = 700, SWITCHES = 12 };

/* What is known of an order's id. */
struct prober_order {
	struct algo_probe_order order;
	uint8_t is_known, is_live;
	uint32_t n_sent;
	sim_ns taken, last;
};

struct prober_world {
	struct schedule_agent agent;
	struct algo_prober_params params;
	struct algo_prober_status was;
	struct prober_order of[IDS];
	sim_ns contact, last, last_by[SWITCHES];
	int has_sent, has_sent_by[SWITCHES];
	unsigned char message[ALGO_PROBER_MESSAGE];
	unsigned char state[];
};

static struct algo_prober_status status_of(const struct prober_world *w)
{
	struct algo_prober_status s;
	algo_prober_status(w->agent.state, &s);
	return s;
}

/* All orders that were under way are over. */
static void prober_none_live(struct prober_world *w)
{
	for (uint32_t i = 0; i < IDS; i++)
		w->of[i].is_live = 0;
}

/* --- what it sends -------------------------------------------------------- */
static void prober_check_rates(struct prober_world *w,
    const struct algo_guided *g)
{
	const sim_ns t = w->agent.t;
	const sim_ns gap = sim_ns_of(1 / w->params.host_per_s);
	const sim_ns by = sim_ns_of(1 / w->params.target_per_s);
	schedule_must(&w->agent, !w->has_sent || t - w->last >= gap,
	    "a host keeps to its rate");
	w->last = t;
	w->has_sent = 1;
	for (unsigned i = 0; i < g->n_via; i++) {
		const topo_switch at = g->via[i];
		/* One that leads twice by a switch is one probe by it. */
		schedule_must(&w->agent,
		    !w->has_sent_by[at] || t - w->last_by[at] >= by ||
			(i > 0 && w->last_by[at] == t),
		    "no switch gets more than its rate");
	}
	for (unsigned i = 0; i < g->n_via; i++) {
		w->last_by[g->via[i]] = t;
		w->has_sent_by[g->via[i]] = 1;
	}
}

static void prober_on_send(struct prober_world *w, const struct agent_action *a)
{
	struct algo_guided g;
	schedule_must(&w->agent,
	    algo_guided_read(a->data, a->n_bytes, SWITCHES, &g, NULL) == 0 &&
		g.order < IDS,
	    "what is sent is a probe that was ordered");
	if (w->agent.broken)
		return;
	struct prober_order *o = &w->of[g.order];
	schedule_must(&w->agent, o->is_live,
	    "no probe is sent but for an order under way");
	schedule_must(&w->agent,
	    g.n_via == o->order.n_via &&
		memcmp(g.via, o->order.via, g.n_via * sizeof(g.via[0])) == 0 &&
		g.tuple.dst_ip == o->order.tuple.dst_ip,
	    "a probe goes where its order says");
	schedule_must(&w->agent, g.number == o->n_sent++,
	    "the probes of an order are numbered in a row");
	schedule_must(&w->agent,
	    g.number == 0 || w->agent.t - o->last >= o->order.interval_ns / 2,
	    "an order's probes are half its interval apart or more");
	schedule_must(&w->agent,
	    w->agent.t - o->taken < sim_ns_of(w->params.life_s),
	    "an order ends when its life does");
	schedule_must(&w->agent,
	    w->agent.t - w->contact < sim_ns_of(w->params.contact_s),
	    "without contact nothing is sent");
	o->last = w->agent.t;
	o->is_live = o->n_sent < o->order.count;
	prober_check_rates(w, &g);
}

static void prober_took(void *world, const struct agent_event *ev)
{
	struct prober_world *w = world;
	const struct algo_prober_status s = status_of(w);
	uint32_t n_sends = 0;
	for (size_t i = 0; i < w->agent.out.n && !w->agent.broken; i++)
		if (w->agent.out.action[i].kind == AGENT_SEND) {
			prober_on_send(w, &w->agent.out.action[i]);
			n_sends++;
		}
	schedule_must(&w->agent, n_sends <= 1,
	    "a step sends one probe at most");
	schedule_must(&w->agent, s.n_probes == w->was.n_probes + n_sends,
	    "probes are counted");
	schedule_must(&w->agent,
	    s.n_orders == s.n_done + s.n_expired + s.n_closed + s.n_live,
	    "each order ends once");
	schedule_must(&w->agent, s.n_live <= ALGO_PROBER_ORDERS,
	    "orders under way are bounded");
	schedule_must(&w->agent,
	    s.n_live == 0 || w->agent.n_timers > 0 || ev->kind == AGENT_TIMER,
	    "with orders under way there is a timer");
	w->agent.tally->seen[PROBER_SENT] += n_sends;
	w->agent.tally->seen[PROBER_BEGUN] += s.n_orders - w->was.n_orders;
	w->agent.tally->seen[PROBER_SAME] += s.n_same - w->was.n_same;
	w->agent.tally->seen[PROBER_NO_ROOM] += s.n_refused - w->was.n_refused;
	w->agent.tally->seen[PROBER_DONE] += s.n_done - w->was.n_done;
	w->agent.tally->seen[PROBER_EXPIRED] += s.n_expired - w->was.n_expired;
	w->agent.tally->seen[PROBER_CLOSED] += s.n_closed - w->was.n_closed;
	w->agent.tally->seen[PROBER_BAD] += s.n_bad - w->was.n_bad;
	w->agent.tally->seen[PROBER_JUMPS] += s.n_jumps - w->was.n_jumps;
	w->was = s;
}

/* --- what it is told ------------------------------------------------------ */
static void prober_tell(struct prober_world *w, size_t n)
{
	schedule_agent_step(&w->agent,
	    &(struct agent_event){.kind = AGENT_ORDER,
		.data = w->message,
		.n = n});
}

static struct algo_probe_order prober_draw(uint32_t x, uint32_t y, uint32_t i)
{
	x ^= (i + 1) * UINT32_C(0x9e3779b9);
	struct algo_probe_order o = {.id = (x + i) % IDS,
	    .tuple = {0, y >> 7 & 1 ? 0x0a000002 : 0, 1000, 80, TOPO_PROTO_TCP},
	    .n_via = (uint8_t)(y & 3),
	    .count = 1 + (y >> 8) % 40,
	    .interval_ns = schedule_time(x, 3 * SIM_SEC)};
	if (o.n_via == 0)
		o.tuple.dst_ip = 0x0a000003;
	for (unsigned k = 0; k < o.n_via; k++)
		o.via[k] = (x >> 4 * k) % SWITCHES;
	return o;
}

/* A message of N orders. Those are begun whose id was not, while there is room. */
static void prober_order(struct prober_world *w, uint32_t x, uint32_t y,
    uint32_t n, unsigned flags)
{
	struct algo_probe_order order[ALGO_PROBER_ORDERS];
	const struct algo_prober_status s = status_of(w);
	const int stops = (flags & ALGO_PROBER_STOP) != 0;
	uint32_t n_live = stops ? 0 : s.n_live;
	uint64_t n_new = 0, n_same = 0;
	if (stops)
		prober_none_live(w);
	for (uint32_t i = 0; i < n; i++) {
		order[i] = prober_draw(x, y, i);
		struct prober_order *o = &w->of[order[i].id];
		n_same += o->is_known;
		if (o->is_known || n_live == ALGO_PROBER_ORDERS)
			continue;
		*o = (struct prober_order){.order = order[i],
		    .is_known = 1,
		    .is_live = 1,
		    .taken = w->agent.t};
		n_live++;
		n_new++;
	}
	w->contact = w->agent.t;
	prober_tell(w, algo_prober_write(order, n, flags, w->message));
	schedule_must(&w->agent, w->was.n_orders - s.n_orders == n_new,
	    "an order is begun if there is room, and its id only once");
	schedule_must(&w->agent,
	    w->was.n_same - s.n_same == n_same &&
		w->was.n_refused - s.n_refused == n - n_new - n_same,
	    "each order of a message is begun, known or refused");
}

/* One bit is another, or the end is missing. */
static void prober_spoil(struct prober_world *w, uint32_t x, uint32_t y)
{
	const struct algo_prober_status s = status_of(w);
	const struct algo_probe_order order = prober_draw(x, y, 0);
	size_t n = algo_prober_write(&order, 1, 0, w->message);
	if (y >> 31)
		n = x % n;
	else
		w->message[x % n] ^= (unsigned char)(1 << y % 8);
	prober_tell(w, n);
	schedule_must(&w->agent,
	    w->was.n_bad == s.n_bad + 1 && w->was.n_messages == s.n_messages &&
		w->was.n_orders == s.n_orders,
	    "a damaged message is refused whole");
}

/* All is well with the message but for one order. */
static void prober_wrong(struct prober_world *w, uint32_t x, uint32_t y)
{
	const struct algo_prober_status s = status_of(w);
	struct algo_probe_order order[3];
	for (uint32_t i = 0; i < 3; i++)
		order[i] = prober_draw(x, y, i);
	struct algo_probe_order *o = &order[x % 3];
	if (y % 4 == 0)
		o->count = 0;
	else if (y % 4 == 1)
		o->count = ALGO_PROBER_MAX_COUNT + 1 + (x >> 8);
	else if (y % 4 == 2)
		o->interval_ns = 3600 * SIM_SEC + 1 + x;
	else
		o->tuple.proto = (uint8_t)(TOPO_PROTO_TCP + 1 + x % 200);
	prober_tell(w, algo_prober_write(order, 3, 0, w->message));
	schedule_must(&w->agent,
	    w->was.n_bad == s.n_bad + 1 && w->was.n_orders == s.n_orders,
	    "a message with an order that none may have is refused whole");
}

/* --- what happens --------------------------------------------------------- */
/* Ahead by more than a step may take, or back. */
static void prober_jump(struct prober_world *w, uint32_t x, uint32_t y)
{
	const sim_ns by = 11 * SIM_SEC + schedule_time(x, 100000 * SIM_SEC);
	const struct algo_prober_status s = status_of(w);
	w->agent.skew += y >> 31 ? by : -by;
	schedule_agent_step(&w->agent,
	    &(struct agent_event){.kind = AGENT_TIMER, .token = y});
	schedule_must(&w->agent, w->was.n_closed == s.n_closed + s.n_live,
	    "a jump of the clock drops all orders");
	prober_none_live(w);
}

static void prober_restart(struct prober_world *w)
{
	memset(w->of, 0, sizeof(w->of));
	memset(w->has_sent_by, 0, sizeof(w->has_sent_by));
	w->has_sent = 0;
	w->was = (struct algo_prober_status){0};
	w->agent.tally->seen[PROBER_RESTARTS]++;
	schedule_agent_restart(&w->agent);
}

static const char *prober_begin(void *life, const struct sim_seed *where,
    struct schedule_tally *tally)
{
	static const double host[] = {0.5, 10, 100, 1000};
	static const double target[] = {0.5, 5, 50, 200};
	struct prober_world *w = life;
	struct sim_rng rng;
	memset(w, 0, offsetof(struct prober_world, state));
	sim_rng_init(&rng, where, SIM_STREAM_CONTROL, 0);
	w->params =
	    (struct algo_prober_params){.host_per_s =
					    host[sim_rng_below(&rng, 4)],
		.target_per_s = target[sim_rng_below(&rng, 4)],
		.life_s = 1 + sim_rng_below(&rng, 60),
		.contact_s = 1 + sim_rng_below(&rng, 60)};
	w->agent.ops = &algo_prober;
	w->agent.params = &w->params;
	w->agent.skew = (sim_ns)1 << 60;
	w->agent.by_clock = (int)sim_rng_below(&rng, 2);
	w->agent.tally = tally;
	w->agent.took = prober_took;
	w->agent.world = w;
	schedule_agent_begin(&w->agent, w->state, where);
	return w->agent.broken;
}

static void prober_silence(struct prober_world *w)
{
	const struct algo_prober_status s = status_of(w);
	/* Nothing is sent from then on; a timer's second later they are gone. */
	schedule_agent_pass(&w->agent,
	    sim_ns_of(w->params.contact_s) + SIM_SEC);
	schedule_must(&w->agent, w->was.n_live == 0,
	    "without contact orders are dropped, in time");
	w->agent.tally->seen[PROBER_SILENCE] += s.n_live > 0;
}

static const char *prober_step(void *life, struct schedule_step s)
{
	struct prober_world *w = life;
	switch ((enum prober_kind)s.kind) {
	case PASS:
		schedule_agent_pass(&w->agent,
		    schedule_time(s.x, 20 * SIM_SEC));
		break;
	case HANG:
		schedule_agent_hang(&w->agent, schedule_time(s.x, 9 * SIM_SEC));
		break;
	case ORDER:
		prober_order(w, s.x, s.y, 1 + s.y % 4, 0);
		break;
	case MANY:
		prober_order(w, s.x, s.y, ALGO_PROBER_ORDERS, 0);
		break;
	case STOP:
		prober_order(w, s.x, s.y, s.y % 3, ALGO_PROBER_STOP);
		break;
	case WORD:
		prober_order(w, s.x, s.y, 0, 0);
		break;
	case SPOILT:
		prober_spoil(w, s.x, s.y);
		break;
	case WRONG:
		prober_wrong(w, s.x, s.y);
		break;
	case SILENCE:
		prober_silence(w);
		break;
	case JUMP:
		prober_jump(w, s.x, s.y);
		break;
	case RESTART:
		prober_restart(w);
		break;
	}
	return w->agent.broken;
}

/* After all that, an order is carried out as any. */
static const char *prober_end(void *life)
{
	struct prober_world *w = life;
	prober_restart(w);
	const double slowest = w->params.host_per_s < w->params.target_per_s
	    ? w->params.host_per_s
	    : w->params.target_per_s;
	prober_order(w, 5, 2, 1, 0);
	schedule_agent_pass(&w->agent, sim_ns_of(2 / slowest) + SIM_SEC);
	if (w->params.life_s > 2 / slowest + 1 &&
	    w->params.contact_s > 2 / slowest + 1)
		schedule_must(&w->agent, w->was.n_done == 1,
		    "an order is carried out");
	return w->agent.broken;
}

const struct schedule_machine schedule_prober = {
    .name = "Everflow's prober",
    .kind = prober_kinds,
    .seen = prober_seen,
    .n_least = 10,
    .n_most = 60,
    .size = sizeof(struct prober_world) + (1 << 20),
    .begin = prober_begin,
    .step = prober_step,
    .end = prober_end,
};
