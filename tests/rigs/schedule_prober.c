/* tests/rigs/schedule_prober.c -- Everflow's prober under orders of all kinds.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A controller that orders too much, again, half of it, nothing or rubbish, or falls
 * silent; a host whose clock jumps and whose timers come late. Rates are checked
 * by the world's own time.
 */
#include <string.h>

#include "algos/everflow/guided.h"
#include "algos/everflow/prober.h"
#include "tests/rigs/schedule_agent.h"
#include "tests/rigs/schedule_machines.h"

#define PROBER_SEEN(X)                                                         \
	X(PROBER_SENT, "probes sent")                                          \
	X(PROBER_BEGUN, "orders begun")                                        \
	X(PROBER_SAME, "orders that had been begun before")                    \
	X(PROBER_NO_ROOM, "orders for which there was no room")                \
	X(PROBER_NO_TARGET,                                                    \
	    "of these, by switches that may not be probed yet")                \
	X(PROBER_FORGOTTEN, "orders begun again, as so many came since")       \
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
    [MANY] = {"as many orders come as may", 3},
    [STOP] = {"all is stopped, and maybe orders come", 3},
    [WORD] = {"a message without orders comes", 3},
    [SPOILT] = {"a damaged message comes", 3},
    [WRONG] = {"a message with an order that none may have comes", 2},
    [SILENCE] = {"the controller is silent", 2},
    [JUMP] = {"the clock jumps", 2},
    [RESTART] = {"the host starts again", 1},
    {0},
};

/* So many switches that those of some orders crowd out others. */
enum {
	IDS = 2048,
	SWITCHES = 2000,
	TARGETS = ALGO_PROBER_ORDERS * OBS_MAX_VIA
};
#define STEP (10 * SIM_SEC)

/* What is known of an order's id. */
struct prober_order {
	struct algo_probe_order order;
	uint8_t is_live;
	uint32_t n_sent;
	uint64_t turn; /* of all that were begun, from 1; 0: it never was */
	sim_ns taken, until, last;
};

/* A switch that orders lead by. */
struct prober_switch {
	uint32_t n_uses; /* by orders under way */
	sim_ns next;     /* not before this, by the prober's clock */
	int has_sent;
	sim_ns last; /* by ours */
};

struct prober_world {
	struct schedule_agent agent;
	struct algo_prober_params params;
	struct algo_prober_status was;
	struct prober_order of[IDS];
	struct prober_switch by[SWITCHES];
	uint32_t live[ALGO_PROBER_ORDERS], n_live, n_switches;
	uint64_t n_begun;
	/* The prober's clock, which stands still while that of its host
	 * jumps. */
	int has_clock;
	sim_ns clock, now, heard;
	sim_ns contact, last;
	int has_sent;
	unsigned char message[ALGO_PROBER_MESSAGE];
	unsigned char state[];
};

static struct algo_prober_status status_of(const struct prober_world *w)
{
	struct algo_prober_status s;
	algo_prober_status(w->agent.state, &s);
	return s;
}

/* --- what is under way, as by its rules ----------------------------------- */
static void prober_over(struct prober_world *w, uint32_t k)
{
	struct prober_order *o = &w->of[w->live[k]];
	o->is_live = 0;
	for (unsigned i = 0; i < o->order.n_via; i++)
		w->by[o->order.via[i]].n_uses--;
	w->live[k] = w->live[--w->n_live];
}

static void prober_none_live(struct prober_world *w)
{
	while (w->n_live > 0)
		prober_over(w, w->n_live - 1);
}

/* Its clock goes on by a step's time; with a longer one its orders are over. */
static void prober_go_on(struct prober_world *w)
{
	const sim_ns clock = w->agent.t + w->agent.skew;
	const sim_ns by = w->has_clock ? clock - w->clock : 0;
	w->clock = clock;
	w->has_clock = 1;
	if (by <= STEP)
		w->now += by;
	else
		prober_none_live(w);
}

/* Those end that are too old, or all without contact. */
static void prober_end_old(struct prober_world *w)
{
	if (w->now - w->heard >= sim_ns_of(w->params.contact_s))
		prober_none_live(w);
	for (uint32_t k = w->n_live; k-- > 0;)
		if (w->of[w->live[k]].until <= w->now)
			prober_over(w, k);
}

static int prober_is_held(const struct prober_world *w, topo_switch at)
{
	return w->by[at].n_uses > 0 || w->by[at].next > w->now;
}

/* Can all switches of an order be kept beside N_HELD, and how many are there
 * then? */
static int prober_fits(struct prober_world *w, const struct algo_probe_order *o,
    uint32_t *n_held)
{
	uint32_t n = *n_held;
	for (unsigned i = 0; i < o->n_via; i++) {
		n += !prober_is_held(w, o->via[i]);
		w->by[o->via[i]].n_uses++;
	}
	if (n <= TARGETS) {
		*n_held = n;
		return 1;
	}
	for (unsigned i = 0; i < o->n_via; i++)
		w->by[o->via[i]].n_uses--;
	return 0;
}

static int prober_is_known(const struct prober_world *w,
    const struct prober_order *o)
{
	return o->is_live ||
	    (o->turn > 0 && w->n_begun - o->turn < ALGO_PROBER_SEEN);
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
		const struct prober_switch *s = &w->by[g->via[i]];
		/* One that leads twice by a switch is one probe by it. */
		schedule_must(&w->agent,
		    !s->has_sent || t - s->last >= by ||
			(i > 0 && s->last == t),
		    "no switch gets more than its rate");
	}
	for (unsigned i = 0; i < g->n_via; i++) {
		struct prober_switch *s = &w->by[g->via[i]];
		s->last = t;
		s->has_sent = 1;
		s->next = w->now + by + 1;
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
	prober_check_rates(w, &g);
	for (uint32_t k = w->n_live; k-- > 0;)
		if (w->live[k] == g.order && o->n_sent == o->order.count)
			prober_over(w, k);
}

static void prober_took(void *world, const struct agent_event *ev)
{
	struct prober_world *w = world;
	const struct algo_prober_status s = status_of(w);
	uint32_t n_sends = 0;
	prober_go_on(w);
	prober_end_old(w);
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
	schedule_must(&w->agent, s.n_live == w->n_live,
	    "an order is under way until it is carried out, is too old, or "
	    "all are dropped");
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

static struct algo_probe_order prober_draw(const struct prober_world *w,
    uint32_t x, uint32_t y, uint32_t i)
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
		o.via[k] = (x >> 4 * k) % w->n_switches;
	return o;
}

/* If there is room for it, and for the switches that it leads by. */
static void prober_begin_order(struct prober_world *w,
    const struct algo_probe_order *order, uint32_t *n_held)
{
	struct prober_order *o = &w->of[order->id];
	if (w->n_live == ALGO_PROBER_ORDERS)
		return;
	if (!prober_fits(w, order, n_held)) {
		w->agent.tally->seen[PROBER_NO_TARGET]++;
		return;
	}
	w->agent.tally->seen[PROBER_FORGOTTEN] += o->turn > 0;
	*o = (struct prober_order){.order = *order,
	    .is_live = 1,
	    .turn = ++w->n_begun,
	    .taken = w->agent.t,
	    .until = w->now + sim_ns_of(w->params.life_s)};
	w->live[w->n_live++] = order->id;
}

/* A message of N orders. Those are begun whose id was not, while there is room. */
static void prober_order(struct prober_world *w, uint32_t x, uint32_t y,
    uint32_t n, unsigned flags)
{
	struct algo_probe_order order[ALGO_PROBER_ORDERS];
	const struct algo_prober_status s = status_of(w);
	uint64_t n_same = 0;
	const uint64_t n_begun = w->n_begun;
	uint32_t n_held = 0;
	prober_go_on(w);
	if (flags & ALGO_PROBER_STOP)
		prober_none_live(w);
	for (topo_switch at = 0; at < w->n_switches; at++)
		n_held += prober_is_held(w, at);
	for (uint32_t i = 0; i < n; i++) {
		order[i] = prober_draw(w, x, y, i);
		const int is_known = prober_is_known(w, &w->of[order[i].id]);
		n_same += is_known;
		if (!is_known)
			prober_begin_order(w, &order[i], &n_held);
	}
	w->contact = w->agent.t;
	w->heard = w->now;
	prober_tell(w, algo_prober_write(order, n, flags, w->message));
	const uint64_t n_new = w->n_begun - n_begun;
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
	const struct algo_probe_order order = prober_draw(w, x, y, 0);
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
		order[i] = prober_draw(w, x, y, i);
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
	memset(w->by, 0, sizeof(w->by));
	w->n_live = 0;
	w->n_begun = 0;
	w->has_sent = w->has_clock = 0;
	w->now = w->heard = 0;
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
	w->n_switches = sim_rng_below(&rng, 2) ? 12 : SWITCHES;
	w->params =
	    (struct algo_prober_params){.host_per_s =
					    host[sim_rng_below(&rng, 4)],
		.target_per_s = target[sim_rng_below(&rng, 4)],
		.life_s = 1 + sim_rng_below(&rng, 60),
		.contact_s = 1 + sim_rng_below(&rng, 60)};
	/* Where a host is quick and switches are not to be hurried, those of
	 * orders that are over crowd out others. */
	if (w->n_switches > 12 && sim_rng_below(&rng, 2)) {
		w->params.host_per_s = ALGO_PROBER_HOST_MAX;
		w->params.target_per_s = 0.1;
	}
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
		prober_order(w, s.x, s.y,
		    s.y % 4 == 3 ? ALGO_PROBER_ORDERS : s.y % 4,
		    ALGO_PROBER_STOP);
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
    .rare = 1 << PROBER_FORGOTTEN,
    .n_least = 10,
    .n_most = 60,
    .size = sizeof(struct prober_world) + (1 << 20),
    .begin = prober_begin,
    .step = prober_step,
    .end = prober_end,
};
