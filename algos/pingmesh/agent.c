/* algos/pingmesh/agent.c -- Pingmesh's agent: probe the peers, never do harm.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Every step does the same: move the agent's clock, take the event, then do
 * what is due. So it matters little which event wakes it, or that a timer is
 * late. All times are of the agent's clock unless named `clock` or put into
 * what others read.
 */
#include "algos/pingmesh/agent.h"

#include <stdio.h>
#include <string.h>

#include "algos/pingmesh/outcome.h"
#include "algos/pingmesh/pairs.h"
#include "algos/pingmesh/perf.h"
#include "algos/pingmesh/pinglist_xml.h"
#include "sim/bytes.h"

enum {
	NONE = UINT32_MAX,
	WHY = 160,
	WORK = ALGO_PINGMESH_PAIR_SLOTS + ALGO_PINGMESH_ENTRIES
};
static_assert(ALGO_PINGMESH_BURST + 5 <= AGENT_MAX_OUT, "a step's actions");

/* The hard limits of section 3.4: the least time between two probes of a pair,
 * and the largest payload. Both hold whatever lists and parameters say. */
#define MIN_GAP     (ALGO_PINGLIST_MIN_INTERVAL_S * SIM_SEC)
#define MAX_PAYLOAD ((uint32_t)ALGO_PINGLIST_MAX_PAYLOAD)

#define X(name, text, of) text,
const char *const algo_pingmesh_lines[] = {ALGO_PINGMESH_LINES(X) NULL};
#undef X
#define X(name, text, of) of,
const char *const algo_pingmesh_line_of[] = {ALGO_PINGMESH_LINES(X) NULL};
#undef X

/* A probe under way, in the order of sending. */
struct flight {
	struct algo_pingmesh_record record;
	sim_ns give_up;
	uint32_t turn; /* how often the slot was used */
	uint32_t prev, next;
};

/* The clock stands at `now` of the agent's and `clock` of the caller's. */
struct watch {
	sim_ns now, clock, wake;
	uint32_t n_still;
	uint64_t timer;
};

struct fetch {
	sim_ns at; /* when to begin, or to give up if `asked` */
	uint64_t token;
	uint32_t n_failed; /* in a row */
	uint8_t asked;
};

/* When an entry is due, in a heap by time: a list has thousands of entries, and
 * each step looks at the first only. */
struct due {
	sim_ns at;
	uint32_t entry;
};

/* Where many agents live in one process, most of a step is waiting for memory:
 * so what every step reads comes first and together, each table is of what is
 * read together, and those of which little is used come last. */
struct state {
	const struct algo_pingmesh_params *params;
	struct watch watch;
	struct fetch fetch;
	sim_ns guard;      /* >= MIN_GAP */
	sim_ns last_probe; /* of anyone */
	struct algo_pingmesh_ports ports;
	uint32_t self, max_payload, max_entries;
	uint32_t n_entries;
	uint32_t n_used, n_flights, free, head, tail; /* of flight[] */
	uint64_t digest, version;                     /* of the list */
	uint64_t n_log;
	struct algo_pingmesh_perf perf;
	struct algo_pingmesh_counters count;
	char why[WHY]; /* the last list was refused */
	/* Of what is below, what was never written is never read. */
	struct algo_pingmesh_outbox outbox;
	struct due heap[ALGO_PINGMESH_ENTRIES]; /* [0] is due first */
	struct algo_pingmesh_pair pair[ALGO_PINGMESH_ENTRIES];
	struct algo_pinglist_entry entry[ALGO_PINGMESH_ENTRIES];
	struct flight flight[ALGO_PINGMESH_FLIGHTS];
	struct algo_pingmesh_log log[ALGO_PINGMESH_LOG];
	uint32_t work[WORK];
};
static_assert(sizeof(struct state) <= ALGO_PINGMESH_STATE, "a host's memory");

static void pingmesh_agent_note(struct state *s, enum algo_pingmesh_line line,
    uint64_t value)
{
	s->log[s->n_log++ % ALGO_PINGMESH_LOG] =
	    (struct algo_pingmesh_log){s->watch.clock, line, value};
}

/* --- the list ------------------------------------------------------------- */
/* Fail closed: no entries, no probes. Probes under way still end, and become
 * records. */
static void close_list(struct state *s)
{
	if (s->n_entries == 0)
		return;
	pingmesh_agent_note(s, ALGO_PINGMESH_CLOSED, s->n_entries);
	s->count.n_closed++;
	s->n_entries = 0;
}

static void pingmesh_agent_sift_down(struct state *s, uint32_t i)
{
	const struct due moved = s->heap[i];
	const uint32_t n = s->n_entries;
	for (uint32_t k; (k = 2 * i + 1) < n; i = k) {
		if (k + 1 < n && s->heap[k + 1].at < s->heap[k].at)
			k++;
		if (moved.at <= s->heap[k].at)
			break;
		s->heap[i] = s->heap[k];
	}
	s->heap[i] = moved;
}

/* Pairs whose probes are under way, of the list before, go on behind them. */
static void pair_up(struct state *s, sim_ns from)
{
	const struct algo_pingmesh_pairs l = {.entry = s->entry,
	    .pair = s->pair,
	    .slot = s->work,
	    .n = s->n_entries};
	algo_pingmesh_pairs_begin(&l, &s->ports, from, s->guard);
	for (uint32_t i = s->head; i != NONE; i = s->flight[i].next)
		algo_pingmesh_pairs_follow(&l, &s->ports, &s->flight[i].record);
}

/* Begin a list. Each entry starts at a random place of its interval, so that
 * servers which got their lists together do not probe together. Whom the list
 * before probed is not remembered, so every pair is taken to have had its last
 * probe when any pair had: the limit of 10 s holds across lists, too. */
static void spread(struct state *s, struct sim_rng *rng)
{
	const sim_ns quiet = s->last_probe + s->guard;
	const sim_ns from = quiet > s->watch.now ? quiet : s->watch.now;
	pair_up(s, from);
	for (uint32_t i = 0; i < s->n_entries; i++) {
		s->heap[i].at = from +
		    (sim_ns)(sim_rng_u01(rng) * s->entry[i].interval_s * 1e9);
		s->heap[i].entry = i;
		s->pair[i].last = s->last_probe;
	}
	for (uint32_t i = s->n_entries / 2; i-- > 0;)
		pingmesh_agent_sift_down(s, i);
}

/* Room in the book for the peers of one more list. While there is room, an address
 * keeps its number also where a list in between left it out: the number is its place
 * among the source ports (algos/pingmesh/pairs.h). */
static void sweep_book(struct state *s)
{
	struct topo_ip_book *b = s->params->book;
	if (!b || b->cap - b->n >= s->max_entries)
		return;
	topo_ip_book_keep(b, s->self);
	for (uint32_t i = 0; i < s->n_entries; i++)
		topo_ip_book_keep(b, s->entry[i].address);
	for (uint32_t i = s->head; i != NONE; i = s->flight[i].next)
		topo_ip_book_keep(b, s->flight[i].record.dst_ip);
	algo_pingmesh_outbox_keep(&s->outbox, b);
	topo_ip_book_sweep(b);
}

/* The controller answered. Section 3.4: without a list, or with an empty one,
 * the agent drops its peers. A refused list does the same here. The document is
 * read over the entries that are there, since what is no list closes them
 * anyway. One with the digest of the list at hand is not read again: its phases
 * go on undisturbed. */
static int take_list(struct state *s, const void *bytes, size_t n,
    struct sim_rng *rng)
{
	struct algo_pinglist_doc doc = {.entry = s->entry,
	    .work = s->work,
	    .max_entries = s->max_entries,
	    .allow = s->params->allow,
	    .book = s->params->book,
	    .max_bytes =
		4096 + (size_t)s->max_entries * ALGO_PINGMESH_ENTRY_BYTES};
	const uint64_t digest =
	    n <= doc.max_bytes ? sim_fnv(SIM_FNV_START ^ n, bytes, n) : 0;
	if (n > 0 && s->n_entries > 0 && digest == s->digest) {
		s->count.n_same++;
		return 1;
	}
	struct sim_err why = {0};
	sweep_book(s);
	const int rc =
	    n == 0 ? 0 : algo_pinglist_xml_read(&doc, s->self, bytes, n, &why);
	if (rc < 0)
		snprintf(s->why, sizeof(s->why), "%.*s", WHY - 1, why.msg);
	if (rc < 0 || doc.n_entries == 0) {
		s->count.n_bad_list += rc < 0;
		s->count.n_no_list += rc == 0;
		pingmesh_agent_note(s,
		    rc < 0       ? ALGO_PINGMESH_BAD
			: n == 0 ? ALGO_PINGMESH_NO_LIST
				 : ALGO_PINGMESH_EMPTY,
		    n);
		close_list(s);
		return 0;
	}
	s->count.n_lists++;
	s->digest = digest;
	s->version = doc.version;
	s->n_entries = doc.n_entries;
	pingmesh_agent_note(s, ALGO_PINGMESH_LIST, doc.n_entries);
	spread(s, rng);
	return 1;
}

/* --- the controller ------------------------------------------------------- */
static void fetch_later(struct state *s, double seconds, struct sim_rng *rng)
{
	/* Up to an eighth earlier, so that servers which started together do
	 * not ask the controller together, and none asks later than its
	 * interval. */
	s->fetch.asked = 0;
	s->fetch.at =
	    s->watch.now + sim_ns_of(seconds * (1 - sim_rng_u01(rng) / 8));
}

/* Section 3.4: after three failed contacts in a row the agent stops probing,
 * since nobody could stop it any more. */
static void no_contact(struct state *s, struct sim_rng *rng)
{
	s->count.n_contact_failed++;
	s->fetch.n_failed++;
	pingmesh_agent_note(s, ALGO_PINGMESH_NO_CONTACT, s->fetch.n_failed);
	if (s->fetch.n_failed >= ALGO_PINGMESH_CONTACTS)
		close_list(s);
	fetch_later(s, s->params->fetch_retry_s, rng);
}

/* An answer that comes after the contact was given up, or twice, is a stray one
 * and changes nothing. */
static void on_fetch_done(struct state *s, const struct agent_event *ev,
    struct sim_rng *rng)
{
	if (!s->fetch.asked || ev->token != s->fetch.token) {
		s->count.n_stray++;
		return;
	}
	if (!ev->ok) {
		no_contact(s, rng);
		return;
	}
	s->fetch.n_failed = 0;
	fetch_later(s,
	    take_list(s, ev->data, ev->n, rng) ? s->params->fetch_interval_s
					       : s->params->fetch_retry_s,
	    rng);
}

static void fetch_due(struct state *s, struct sim_rng *rng,
    struct agent_out *out)
{
	if (s->fetch.at > s->watch.now)
		return;
	if (s->fetch.asked) {
		no_contact(s, rng);
		return;
	}
	s->count.n_fetches++;
	s->fetch.asked = 1;
	s->fetch.at = s->watch.now + sim_ns_of(s->params->fetch_timeout_s);
	agent_act(out, AGENT_FETCH)->token = ++s->fetch.token;
}

/* --- probes --------------------------------------------------------------- */
/* The oldest probe is at the head of a list in order of sending, and all have
 * the same timeout, so only the head is ever looked at for one. */
static struct flight *take_flight(struct state *s)
{
	uint32_t i = s->free;
	if (i != NONE) {
		s->free = s->flight[i].next;
	} else if (s->n_used < ALGO_PINGMESH_FLIGHTS) {
		i = s->n_used++;
		s->flight[i].turn = 0;
	} else {
		return NULL;
	}
	struct flight *f = &s->flight[i];
	f->turn++;
	f->prev = s->tail;
	f->next = NONE;
	if (s->tail == NONE)
		s->head = i;
	else
		s->flight[s->tail].next = i;
	s->tail = i;
	s->n_flights++;
	return f;
}

/* The probe is over, one way or another: its slot is free and its record on the
 * way. An odd `turn` says that a slot is under way. */
static void land(struct state *s, struct flight *f, enum agent_outcome outcome)
{
	const uint32_t i = (uint32_t)(f - s->flight);
	*(f->prev == NONE ? &s->head : &s->flight[f->prev].next) = f->next;
	*(f->next == NONE ? &s->tail : &s->flight[f->next].prev) = f->prev;
	f->next = s->free;
	f->turn++; /* odd: under way */
	s->free = i;
	s->n_flights--;
	f->record.outcome = (uint8_t)outcome;
	algo_pingmesh_outbox_add(&s->outbox, s->watch.now, &f->record);
}

/* Probe entry I, or put it off; returns when it is due again. */
static sim_ns probe(struct state *s, uint32_t i, struct agent_out *out)
{
	const struct algo_pinglist_entry *x = &s->entry[i];
	const sim_ns now = s->watch.now;
	sim_ns *last = &s->pair[s->pair[i].of_peer].last;
	struct flight *f;
	/* Here the hard limit is kept, whatever led to this entry being due. */
	if (now - *last < s->guard) {
		s->count.n_guarded++;
		return *last + s->guard;
	}
	/* Memory is fixed: when too many probes are under way, this one has to
	 * wait. */
	if (!(f = take_flight(s))) {
		s->count.n_crowded++;
		return now + SIM_SEC;
	}
	*last = s->last_probe = now;
	f->give_up = now + sim_ns_of(s->params->probe_timeout_s);
	f->record = (struct algo_pingmesh_record){.sent_ns = s->watch.clock,
	    .src_ip = s->self,
	    .dst_ip = x->address,
	    .src_port = algo_pingmesh_ports_next(&s->ports, s->pair, i),
	    .dst_port = x->port,
	    .payload =
		x->payload < s->max_payload ? x->payload : s->max_payload,
	    .class = x->class,
	    .level = x->level,
	    .ping = x->ping};
	s->count.n_probes++;
	struct agent_action *a = agent_act(out, AGENT_CONNECT);
	a->token = (uint64_t)f->turn << 32 | (uint64_t)(f - s->flight);
	a->class = x->class;
	a->ping = x->ping;
	a->n_bytes = f->record.payload;
	a->tuple = (struct topo_tuple){s->self, x->address, f->record.src_port,
	    x->port, TOPO_PROTO_TCP};
	return now + x->interval_s * SIM_SEC;
}

/* At most BURST probes a step, since a step's actions have a fixed room; what
 * is still due wakes the agent at once. */
static void probes_due(struct state *s, struct agent_out *out)
{
	for (int n = 0; n < ALGO_PINGMESH_BURST && s->n_entries > 0; n++) {
		struct due *first = &s->heap[0];
		if (first->at > s->watch.now)
			break;
		first->at = probe(s, first->entry, out);
		pingmesh_agent_sift_down(s, 0);
	}
	while (s->head != NONE && s->flight[s->head].give_up <= s->watch.now) {
		s->count.n_unconnected++;
		land(s, &s->flight[s->head], AGENT_TIMEOUT);
	}
}

static void on_connect_done(struct state *s, const struct agent_event *ev)
{
	const uint32_t i = (uint32_t)ev->token;
	if (i >= s->n_used || s->flight[i].turn != ev->token >> 32 ||
	    s->flight[i].turn % 2 == 0 ||
	    !algo_pingmesh_outcome(&s->flight[i].record, &s->count,
		sim_ns_of(s->params->syn_rto_s), ev)) {
		s->count.n_stray++;
		return;
	}
	if (ev->outcome == AGENT_CONNECTED)
		algo_pingmesh_hist_add(&s->perf.hist, ev->rtt_ns);
	if (ev->answer == AGENT_ANSWER_OK)
		algo_pingmesh_hist_add(&s->perf.http, ev->echo_ns);
	land(s, &s->flight[i], ev->outcome);
}

/* Section 3.4: also an agent that has closed its list answers the others, or
 * they would take it for dead. */
static void on_ping_request(struct state *s, const struct agent_event *ev,
    struct agent_out *out)
{
	struct agent_action *a = agent_act(out, AGENT_ANSWER);
	a->token = ev->token;
	a->n_bytes = ev->n < MAX_PAYLOAD ? (uint32_t)ev->n : MAX_PAYLOAD;
	s->count.n_answered++;
}

/* --- time ----------------------------------------------------------------- */
/* Move the clock. After a jump the timer that was set may come any time, and
 * the list may be old: ask for a new one soon. */
static void pingmesh_agent_tick(struct state *s, sim_ns clock,
    struct sim_rng *rng)
{
	struct watch *w = &s->watch;
	const sim_ns passed = clock - w->clock; /* back: very large */
	if (passed == 0) {
		if (++w->n_still == ALGO_PINGMESH_STILL) {
			s->count.n_stalls++;
			pingmesh_agent_note(s, ALGO_PINGMESH_STALL, 0);
			close_list(s);
		}
		return;
	}
	w->n_still = 0;
	w->clock = clock;
	if (passed <= ALGO_PINGMESH_STEP) {
		w->now += passed;
		return;
	}
	s->count.n_jumps++;
	pingmesh_agent_note(s, ALGO_PINGMESH_JUMP, passed);
	w->wake = SIM_NEVER;
	const sim_ns soon =
	    w->now + sim_ns_of(s->params->fetch_retry_s * sim_rng_u01(rng));
	/* One that ends asks no more, whatever its clock does. */
	if (!s->fetch.asked && s->fetch.at > soon && s->fetch.at != SIM_NEVER)
		s->fetch.at = soon;
}

/* A timer for what is due next, at most a second from now. Those that were set
 * before for later come as well, and do no harm. */
static void pingmesh_agent_set_timer(struct state *s, struct agent_out *out)
{
	struct watch *w = &s->watch;
	sim_ns at = w->now + SIM_SEC;
	if (s->n_entries > 0 && s->heap[0].at < at)
		at = s->heap[0].at;
	if (s->head != NONE && s->flight[s->head].give_up < at)
		at = s->flight[s->head].give_up;
	if (s->fetch.at < at)
		at = s->fetch.at;
	const sim_ns upload = algo_pingmesh_outbox_next(&s->outbox, w->now);
	if (upload < at)
		at = upload;
	if (at < w->now)
		at = w->now;
	if (w->wake > w->now && w->wake <= at)
		return;
	w->wake = at;
	struct agent_action *a = agent_act(out, AGENT_SET_TIMER);
	a->token = ++w->timer;
	a->at_ns = w->clock + (at - w->now);
}

static void pingmesh_agent_start(struct state *s, sim_ns clock,
    struct sim_rng *rng)
{
	const struct algo_pingmesh_params *p = s->params;
	s->watch.clock = s->outbox.batch.born_ns = clock;
	algo_pingmesh_perf_begin(&s->perf, clock);
	s->fetch.at = sim_ns_of(p->fetch_retry_s * sim_rng_u01(rng));
	algo_pingmesh_ports_init(&s->ports, p,
	    sim_rng_below(rng, p->last_port - p->first_port + 1));
}

/* An outbox that runs over does so at every probe: one line each time
 * that their number becomes longer. */
static void note_losses(struct state *s, uint64_t n_discarded,
    uint64_t n_overrun)
{
	const uint64_t n = s->count.n_overrun;
	if (s->count.n_discarded > n_discarded)
		pingmesh_agent_note(s, ALGO_PINGMESH_DISCARDED,
		    s->count.n_discarded - n_discarded);
	if ((n ^ n_overrun) > n_overrun) /* a longer number */
		pingmesh_agent_note(s, ALGO_PINGMESH_OVERRUN, n);
}

static int pingmesh_agent_step(void *state, sim_ns clock,
    const struct agent_event *ev, struct sim_rng *rng, struct agent_out *out,
    struct sim_err *e)
{
	struct state *s = state;
	const uint64_t n_discarded = s->count.n_discarded;
	const uint64_t n_overrun = s->count.n_overrun;
	if (ev->kind == AGENT_START)
		pingmesh_agent_start(s, clock, rng);
	pingmesh_agent_tick(s, clock, rng);
	algo_pingmesh_perf_due(&s->perf, s->watch.now, clock, &s->count,
	    s->n_entries > 0 ? s->version : 0, out);
	switch (ev->kind) {
	case AGENT_START:
		break;
	case AGENT_TIMER:
		/* A clock set forward and back again between two steps may
		 * bring it before its time, and there is no other. */
		if (ev->token == s->watch.timer)
			s->watch.wake = SIM_NEVER;
		break;
	case AGENT_FETCH_DONE:
		on_fetch_done(s, ev, rng);
		break;
	case AGENT_CONNECT_DONE:
		on_connect_done(s, ev);
		break;
	case AGENT_PING_REQUEST:
		on_ping_request(s, ev, out);
		break;
	case AGENT_UPLOAD_DONE:
		algo_pingmesh_outbox_done(&s->outbox, s->watch.now, ev, rng);
		break;
	default:
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "event %d is none that Pingmesh's agent asks for.",
		    ev->kind);
	}
	fetch_due(s, rng, out);
	probes_due(s, out);
	algo_pingmesh_outbox_due(&s->outbox, s->watch.now, rng, out);
	note_losses(s, n_discarded, n_overrun);
	pingmesh_agent_set_timer(s, out);
	return 0;
}

/* --- the object ----------------------------------------------------------- */
static int pingmesh_agent_init(void *state, topo_host host, const void *params,
    struct sim_err *e)
{
	const struct algo_pingmesh_params *p = params;
	struct state *s = state;
	if (p->first_port > p->last_port)
		return sim_fail(e, SIM_EINVAL,
		    "first_port %u is above last_port %u.", p->first_port,
		    p->last_port);
	memset(s, 0, offsetof(struct state, outbox));
	s->params = p;
	s->self = p->address ? p->address : topo_addr_of_host(host);
	s->max_entries = p->max_entries < ALGO_PINGMESH_ENTRIES
	    ? p->max_entries
	    : ALGO_PINGMESH_ENTRIES;
	s->max_payload =
	    p->max_payload < MAX_PAYLOAD ? p->max_payload : MAX_PAYLOAD;
	s->guard = p->min_interval_s * SIM_SEC;
	if (s->guard < MIN_GAP)
		s->guard = MIN_GAP;
	assert(algo_pinglist_xml_work(s->max_entries) <= WORK);
	s->watch.wake = SIM_NEVER;
	algo_pingmesh_perf_init(&s->perf, sim_ns_of(p->perf_window_s), s->self);
	s->free = s->head = s->tail = NONE;
	algo_pingmesh_outbox_init(&s->outbox, p, &s->count, s->self);
	return 0;
}

void algo_pingmesh_agent_status(const void *state,
    struct algo_pingmesh_status *out)
{
	const struct state *s = state;
	*out = (struct algo_pingmesh_status){
	    .n_entries = s->n_entries,
	    .n_in_flight = s->n_flights,
	    .n_held = s->outbox.n + s->outbox.batch.n,
	    .n_contacts_failed = s->fetch.n_failed,
	    .version = s->n_entries > 0 ? s->version : 0,
	    .why = s->why,
	    .count = s->count,
	    .window = s->perf.window,
	};
}

/* Ending fails closed and hands over: contacts stop, and results go as soon as
 * the collector takes them. */
void algo_pingmesh_agent_end(void *state)
{
	struct state *s = state;
	close_list(s);
	s->fetch.asked = 0; /* an answer is now a stray one */
	s->fetch.at = SIM_NEVER;
	algo_pingmesh_outbox_hurry(&s->outbox, s->watch.now);
}

void algo_pingmesh_agent_again(void *state)
{
	struct state *s = state;
	close_list(s);
	/* One that is under way was asked of whom the host no longer asks. */
	s->fetch.asked = 0;
	if (s->fetch.at != SIM_NEVER)
		s->fetch.at = s->watch.now;
}

uint32_t algo_pingmesh_agent_log(const void *state,
    struct algo_pingmesh_log out[ALGO_PINGMESH_LOG], uint64_t *n_gone)
{
	const struct state *s = state;
	const uint32_t n = s->n_log < ALGO_PINGMESH_LOG ? (uint32_t)s->n_log
							: ALGO_PINGMESH_LOG;
	*n_gone = s->n_log - n;
	for (uint32_t i = 0; i < n; i++)
		out[i] = s->log[(*n_gone + i) % ALGO_PINGMESH_LOG];
	return n;
}

const struct agent_ops algo_pingmesh_agent = {
    .name = "pingmesh",
    .paper = "Pingmesh (SIGCOMM'15), section 3.4",
    .params = algo_pingmesh_agent_fields,
    .params_size = sizeof(struct algo_pingmesh_params),
    .state_size = sizeof(struct state),
    .init = pingmesh_agent_init,
    .step = pingmesh_agent_step,
};
