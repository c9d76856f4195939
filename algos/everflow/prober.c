/* algos/everflow/prober.c -- the agent that sends guided probes.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * As in Pingmesh's agent every step does the same: move the agent's clock, take
 * the event, do what is due. All times are of that clock, which stands still
 * while the host's jumps.
 */
#include "algos/everflow/prober.h"

#include <inttypes.h>
#include <string.h>

#include "algos/everflow/guided.h"
#include "sim/bytes.h"
#include "topo/addr.h"

/* A clock that moves by more than this between two steps has jumped: while
 * orders are under way there is a step each second. */
#define STEP (10 * SIM_SEC)

enum { TARGETS = ALGO_PROBER_ORDERS * OBS_MAX_VIA };

static const unsigned char prober_magic[4] = {'C', 'P', 'G', 'O'};

#define F(n) .name = #n, .offset = offsetof(struct algo_prober_params, n)
const struct sim_field algo_prober_fields[] = {
    {F(host_per_s), .type = SIM_F_F64, .def = "100", .min = 0.1,
	.max = ALGO_PROBER_HOST_MAX, .unit = "probes/s",
	.doc = "a host sends no more"},
    {F(target_per_s), .type = SIM_F_F64, .def = "100", .min = 0.1,
	.max = ALGO_PROBER_TARGET_MAX, .unit = "probes/s",
	.doc = "a host sends no more by any one switch"},
    {F(life_s), .type = SIM_F_F64, .def = "120", .min = 1, .max = 3600,
	.unit = "s", .doc = "an order ends after that, done or not"},
    {F(contact_s), .type = SIM_F_F64, .def = "180", .min = 1, .max = 3600,
	.unit = "s",
	.doc = "without a word of the controller for so long "
	       "all orders are dropped"},
    {F(address), .type = SIM_F_U32, .def = "0", .unit = "1",
	.doc = "IPv4 address of the host as a number; 0: by its id"},
    {0},
};
#undef F

/* --- messages ------------------------------------------------------------- */
static void put_order(unsigned char *p, const struct algo_probe_order *o)
{
	memset(p, 0, ALGO_PROBER_ORDER);
	sim_store_32(p, o->id);
	sim_store_32(p + 4, o->tuple.src_ip);
	sim_store_32(p + 8, o->tuple.dst_ip);
	sim_store_16(p + 12, o->tuple.src_port);
	sim_store_16(p + 14, o->tuple.dst_port);
	p[16] = o->n_via;
	p[17] = o->tuple.proto;
	for (unsigned i = 0; i < o->n_via && i < OBS_MAX_VIA; i++)
		sim_store_32(p + 20 + 4 * i, o->via[i]);
	sim_store_32(p + 32, o->count);
	sim_store_64(p + 40, o->interval_ns);
}

static struct algo_probe_order get_order(const unsigned char *p)
{
	struct algo_probe_order o = {
	    .id = sim_load_32(p),
	    .tuple = {sim_load_32(p + 4), sim_load_32(p + 8),
		sim_load_16(p + 12), sim_load_16(p + 14), p[17]},
	    .n_via = p[16],
	    .count = sim_load_32(p + 32),
	    .interval_ns = sim_load_64(p + 40),
	};
	for (unsigned i = 0; i < OBS_MAX_VIA; i++)
		o.via[i] = sim_load_32(p + 20 + 4 * i);
	return o;
}

size_t algo_prober_write(const struct algo_probe_order order[], size_t n,
    unsigned flags, unsigned char *out)
{
	unsigned char *p = out + ALGO_PROBER_HEAD;
	assert(n <= ALGO_PROBER_ORDERS);
	memcpy(out, prober_magic, sizeof(prober_magic));
	sim_store_16(out + 4, 1);
	sim_store_16(out + 6, (uint16_t)flags);
	sim_store_32(out + 8, (uint32_t)n);
	for (size_t i = 0; i < n; i++, p += ALGO_PROBER_ORDER)
		put_order(p, &order[i]);
	sim_store_64(p, sim_fnv(SIM_FNV_START, out, (size_t)(p - out)));
	return (size_t)(p - out) + ALGO_PROBER_CHECK;
}

/* A probe goes to hosts or ends at a switch; by way of `via` alone does it lead
 * through one. */
static int check_way(const struct algo_probe_order *o, size_t i,
    struct sim_err *e)
{
	if (o->n_via > OBS_MAX_VIA || (o->n_via == 0 && o->tuple.dst_ip == 0))
		return sim_fail(e, SIM_ERANGE,
		    "Order %zu leads by %u switches to %s: at most %d, and "
		    "somewhere.",
		    i, o->n_via, o->tuple.dst_ip ? "a host" : "nowhere",
		    OBS_MAX_VIA);
	for (unsigned k = 0; k < OBS_MAX_VIA; k++)
		if (o->via[k] >= (k < o->n_via ? TOPO_ADDR_MAX_SWITCHES : 1))
			return sim_fail(e, SIM_ERANGE,
			    "Order %zu: via[%u] is %" PRIu32
			    ", not below %" PRIu32 ".",
			    i, k, o->via[k],
			    k < o->n_via ? TOPO_ADDR_MAX_SWITCHES : 1);
	if (topo_addr_to_switch(o->tuple.dst_ip, TOPO_ADDR_MAX_SWITCHES) !=
	    TOPO_NONE)
		return sim_fail(e, SIM_ERANGE,
		    "Order %zu has a switch for its destination: name that "
		    "last in `via`, and destination 0.",
		    i);
	return 0;
}

static int prober_check_order(const unsigned char *p, size_t i,
    struct sim_err *e)
{
	const struct algo_probe_order o = get_order(p);
	const sim_ns longest = 3600 * SIM_SEC;
	if (o.tuple.proto != TOPO_PROTO_TCP || sim_load_16(p + 18) != 0 ||
	    sim_load_32(p + 36) != 0)
		return sim_fail(e, SIM_ERANGE,
		    "Order %zu is of protocol %u and not of TCP, or what must "
		    "be 0 is not.",
		    i, o.tuple.proto);
	if (o.count == 0 || o.count > ALGO_PROBER_MAX_COUNT ||
	    o.interval_ns > longest)
		return sim_fail(e, SIM_ERANGE,
		    "Order %zu wants %" PRIu32 " probes, one each %" PRIu64
		    " ns: allowed are 1 to %d, and up to an hour.",
		    i, o.count, o.interval_ns, ALGO_PROBER_MAX_COUNT);
	return check_way(&o, i, e);
}

int algo_prober_check(const void *bytes, size_t n, size_t *n_orders,
    unsigned *flags, struct sim_err *e)
{
	const unsigned char *p = bytes;
	int rc = 0;
	if (n < ALGO_PROBER_HEAD + ALGO_PROBER_CHECK ||
	    memcmp(p, prober_magic, sizeof(prober_magic)) != 0)
		return sim_fail(e, SIM_EPARSE,
		    "%zu bytes are no message of orders: at least %d, which "
		    "begin with \"CPGO\".",
		    n, ALGO_PROBER_HEAD + ALGO_PROBER_CHECK);
	if (sim_load_16(p + 4) != 1 || sim_load_16(p + 6) > ALGO_PROBER_STOP)
		return sim_fail(e, SIM_EPARSE,
		    "Orders of version %u with flags %u are not known: version "
		    "1 has flags 0 and 1.",
		    sim_load_16(p + 4), sim_load_16(p + 6));
	const size_t said = sim_load_32(p + 8);
	if (said > ALGO_PROBER_ORDERS)
		return sim_fail(e, SIM_ELIMIT,
		    "A message of %zu orders: at most %d are allowed.", said,
		    ALGO_PROBER_ORDERS);
	const size_t summed = ALGO_PROBER_HEAD + said * ALGO_PROBER_ORDER;
	if (n != summed + ALGO_PROBER_CHECK)
		return sim_fail(e, SIM_EPARSE,
		    "A message of %zu orders has %zu bytes, not %zu.", said,
		    summed + ALGO_PROBER_CHECK, n);
	if (sim_load_64(p + summed) != sim_fnv(SIM_FNV_START, p, summed))
		return sim_fail(e, SIM_EPARSE,
		    "The checksum is not that of the orders.");
	p += ALGO_PROBER_HEAD;
	for (size_t i = 0; i < said && rc == 0; i++)
		rc = prober_check_order(p + i * ALGO_PROBER_ORDER, i, e);
	if (rc < 0)
		return rc;
	*n_orders = said;
	*flags = sim_load_16((const unsigned char *)bytes + 6);
	return 0;
}

struct algo_probe_order algo_prober_order_at(const void *bytes, size_t i)
{
	return get_order((const unsigned char *)bytes + ALGO_PROBER_HEAD +
	    i * ALGO_PROBER_ORDER);
}

/* --- the state ------------------------------------------------------------ */
struct live {
	struct algo_probe_order order;
	uint32_t n_sent;
	sim_ns due, until;
	uint16_t target[OBS_MAX_VIA]; /* of target[] */
};

/* A switch that live orders lead by, or did until just now. */
struct target {
	topo_switch at;
	uint32_t n_uses; /* by live orders */
	sim_ns next;     /* not before this by it */
};

struct prober {
	const struct algo_prober_params *params;
	uint32_t self, n_live, n_targets, n_seen;
	uint8_t began;
	sim_ns clock, now, wake; /* caller's; ours */
	sim_ns contact;          /* last word of the controller */
	sim_ns gap, target_gap, next;
	uint64_t timer;
	struct algo_prober_status count;
	uint8_t packet[ALGO_GUIDED_MAX];
	uint32_t seen[ALGO_PROBER_SEEN];
	struct live live[ALGO_PROBER_ORDERS];
	struct target target[TARGETS];
};

static sim_ns gap_of(double per_s, double most)
{
	/* Up, so that the rate is never above. */
	return sim_ns_of(1 / (per_s < most ? per_s : most)) + 1;
}

static int prober_init(void *state, topo_host host, const void *params,
    struct sim_err *e)
{
	const struct algo_prober_params *p = params;
	struct prober *s = state;
	(void)e;
	/* Of the tables nothing is read before it is written. */
	memset(s, 0, offsetof(struct prober, packet));
	s->params = p;
	s->self = p->address ? p->address : topo_addr_of_host(host);
	s->gap = gap_of(p->host_per_s, ALGO_PROBER_HOST_MAX);
	s->target_gap = gap_of(p->target_per_s, ALGO_PROBER_TARGET_MAX);
	s->wake = SIM_NEVER;
	return 0;
}

/* --- targets -------------------------------------------------------------- */
/* The entry of switch AT: its own, or one that nobody needs any more. One that
 * may not be probed yet is kept, or an order that comes right behind another
 * would probe too early. */
static struct target *find_target(struct prober *s, topo_switch at)
{
	struct target *free = NULL;
	for (uint32_t i = 0; i < s->n_targets; i++) {
		struct target *t = &s->target[i];
		if (t->at == at)
			return t;
		if (t->n_uses == 0 && t->next <= s->now)
			free = t;
	}
	if (!free && s->n_targets < TARGETS)
		free = &s->target[s->n_targets++];
	if (free)
		*free = (struct target){.at = at};
	return free;
}

static void release(struct prober *s, struct live *l, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		s->target[l->target[i]].n_uses--;
}

/* All targets of an order, or none. */
static int hold_targets(struct prober *s, struct live *l)
{
	for (unsigned i = 0; i < l->order.n_via; i++) {
		struct target *t = find_target(s, l->order.via[i]);
		if (!t) {
			release(s, l, i);
			return 0;
		}
		t->n_uses++;
		l->target[i] = (uint16_t)(t - s->target);
	}
	return 1;
}

/* --- orders --------------------------------------------------------------- */
static void drop_order(struct prober *s, uint32_t i)
{
	release(s, &s->live[i], s->live[i].order.n_via);
	s->live[i] = s->live[--s->n_live];
}

static void close_orders(struct prober *s)
{
	s->count.n_closed += s->n_live;
	while (s->n_live > 0)
		drop_order(s, s->n_live - 1);
}

static int was_seen(const struct prober *s, uint32_t id)
{
	const uint32_t n =
	    s->n_seen < ALGO_PROBER_SEEN ? s->n_seen : ALGO_PROBER_SEEN;
	for (uint32_t i = 0; i < n; i++)
		if (s->seen[i] == id)
			return 1;
	for (uint32_t i = 0; i < s->n_live; i++)
		if (s->live[i].order.id == id)
			return 1;
	return 0;
}

static void begin_order(struct prober *s, const struct algo_probe_order *o)
{
	if (was_seen(s, o->id)) {
		s->count.n_same++;
		return;
	}
	struct live *l = &s->live[s->n_live];
	if (s->n_live == ALGO_PROBER_ORDERS) {
		s->count.n_refused++;
		return;
	}
	*l = (struct live){.order = *o,
	    .due = s->now,
	    .until = s->now + sim_ns_of(s->params->life_s)};
	if (l->order.tuple.src_ip == 0)
		l->order.tuple.src_ip = s->self;
	/* What is refused is not remembered: it may be ordered again. */
	if (!hold_targets(s, l)) {
		s->count.n_refused++;
		return;
	}
	s->n_live++;
	s->count.n_orders++;
	s->seen[s->n_seen % ALGO_PROBER_SEEN] = o->id;
	/* Counted on beyond the ring, but never back to its beginning. */
	s->n_seen = s->n_seen + 1 < 2 * ALGO_PROBER_SEEN ? s->n_seen + 1
							 : ALGO_PROBER_SEEN;
}

static void on_order(struct prober *s, const struct agent_event *ev)
{
	size_t n;
	unsigned flags;
	if (algo_prober_check(ev->data, ev->n, &n, &flags, NULL) < 0) {
		s->count.n_bad++;
		return;
	}
	s->count.n_messages++;
	s->contact = s->now;
	if (flags & ALGO_PROBER_STOP)
		close_orders(s);
	for (size_t i = 0; i < n; i++) {
		const struct algo_probe_order o =
		    algo_prober_order_at(ev->data, i);
		begin_order(s, &o);
	}
}

/* --- probes --------------------------------------------------------------- */
/* When the limits allow the next probe of an order. */
static sim_ns ready_at(const struct prober *s, const struct live *l)
{
	sim_ns at = l->due > s->next ? l->due : s->next;
	for (unsigned i = 0; i < l->order.n_via; i++)
		if (s->target[l->target[i]].next > at)
			at = s->target[l->target[i]].next;
	return at;
}

/* Who has waited longest goes first, so that no order starves another. */
static uint32_t choose(const struct prober *s)
{
	uint32_t best = UINT32_MAX;
	for (uint32_t i = 0; i < s->n_live; i++) {
		const struct live *l = &s->live[i];
		if (ready_at(s, l) > s->now)
			continue;
		if (best == UINT32_MAX || l->due < s->live[best].due ||
		    (l->due == s->live[best].due &&
			l->order.id < s->live[best].order.id))
			best = i;
	}
	return best;
}

static void prober_send(struct prober *s, uint32_t i, struct sim_rng *rng,
    struct agent_out *out)
{
	struct live *l = &s->live[i];
	struct algo_guided g = {.order = l->order.id,
	    .number = l->n_sent++,
	    .tuple = l->order.tuple,
	    .sender = s->self,
	    .n_via = l->order.n_via};
	memcpy(g.via, l->order.via, sizeof(g.via));
	struct agent_action *a = agent_act(out, AGENT_SEND);
	a->data = s->packet;
	a->n_bytes = (uint32_t)algo_guided_write(&g, s->packet);
	a->tuple = g.tuple;
	s->count.n_probes++;
	s->next = s->now + s->gap;
	for (unsigned k = 0; k < l->order.n_via; k++)
		s->target[l->target[k]].next = s->now + s->target_gap;
	/* Half as soon to half as late again: at even times a queue that comes
	 * and goes evenly would always look the same. */
	l->due = s->now +
	    (sim_ns)((0.5 + sim_rng_u01(rng)) * (double)l->order.interval_ns);
	if (l->n_sent == l->order.count) {
		s->count.n_done++;
		drop_order(s, i);
	}
}

/* At most one probe a step, as two would be too close together anyway. */
static void orders_due(struct prober *s, struct sim_rng *rng,
    struct agent_out *out)
{
	if (s->now - s->contact >= sim_ns_of(s->params->contact_s))
		close_orders(s);
	for (uint32_t i = s->n_live; i-- > 0;)
		if (s->live[i].until <= s->now) {
			s->count.n_expired++;
			drop_order(s, i);
		}
	const uint32_t i = choose(s);
	if (i != UINT32_MAX)
		prober_send(s, i, rng, out);
}

/* --- time ----------------------------------------------------------------- */
/* Our clock stands still while the caller's jumps: whatever that does, no limit
 * is passed. With orders under way there would have been a step, so the host
 * slept or was set another time, and those may be of yesterday. */
static void prober_tick(struct prober *s, sim_ns clock)
{
	const sim_ns passed = s->began ? clock - s->clock : 0;
	s->began = 1;
	s->clock = clock;
	if (passed <= STEP) {
		s->now += passed;
		return;
	}
	s->wake = SIM_NEVER;
	if (s->n_live > 0) {
		s->count.n_jumps++;
		close_orders(s);
	}
}

static void prober_set_timer(struct prober *s, struct agent_out *out)
{
	if (s->n_live == 0)
		return;
	sim_ns at = s->now + SIM_SEC;
	for (uint32_t i = 0; i < s->n_live; i++) {
		const sim_ns ready = ready_at(s, &s->live[i]);
		at = ready < at ? ready : at;
		at = s->live[i].until < at ? s->live[i].until : at;
	}
	if (s->wake > s->now && s->wake <= at)
		return;
	s->wake = at;
	struct agent_action *a = agent_act(out, AGENT_SET_TIMER);
	a->token = ++s->timer;
	a->at_ns = s->clock + (at > s->now ? at - s->now : 0);
}

static int prober_step(void *state, sim_ns clock, const struct agent_event *ev,
    struct sim_rng *rng, struct agent_out *out, struct sim_err *e)
{
	struct prober *s = state;
	prober_tick(s, clock);
	switch (ev->kind) {
	case AGENT_START:
		break;
	case AGENT_TIMER:
		if (ev->token == s->timer)
			s->wake = SIM_NEVER;
		break;
	case AGENT_ORDER:
		on_order(s, ev);
		break;
	default:
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "event %d is none that the prober asks for.", ev->kind);
	}
	orders_due(s, rng, out);
	prober_set_timer(s, out);
	return 0;
}

void algo_prober_status(const void *state, struct algo_prober_status *out)
{
	const struct prober *s = state;
	*out = s->count;
	out->n_live = s->n_live;
}

const struct agent_ops algo_prober = {
    .name = "prober",
    .paper = "Everflow (SIGCOMM'15)",
    .params = algo_prober_fields,
    .params_size = sizeof(struct algo_prober_params),
    .state_size = sizeof(struct prober),
    .starts_late = 1,
    .init = prober_init,
    .step = prober_step,
};
