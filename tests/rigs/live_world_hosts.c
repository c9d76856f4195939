/* tests/rigs/live_world_hosts.c -- agents of a world, and who carries their requests.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What fetch.c does with libcurl is done here with messages: at most one request of
 * each kind, a deadline for each, and answers that come after it are nobody's.
 */
#include <string.h>

#include "tests/rigs/live_world.h"
#include "tests/test.h"
#include "topo/addr.h"

/* Something that is to happen to an agent, unless it was started anew since. */
struct due {
	struct world *w;
	uint32_t agent;
	uint64_t turn;
	struct agent_event ev;
	/* A connect on its way: to whom, how long the way back takes. */
	uint32_t target;
	size_t probe;
	sim_ns sent, back;
	uint32_t n_bytes;
	/* A deadline of a request. */
	int what;
	uint64_t request;
};

static struct due *due_of(struct world *w, uint32_t agent)
{
	struct due *d = calloc(1, sizeof(*d));
	assert_non_null(d);
	d->w = w;
	d->agent = agent;
	d->turn = w->agent[agent].turn;
	return d;
}

static int is_void(const struct due *d)
{
	const struct world_agent *a = &d->w->agent[d->agent];
	return !a->is_on || a->turn != d->turn || d->w->broken;
}

static sim_ns clock_of(const struct world *w, uint32_t i)
{
	return w->t - w->agent[i].started;
}

static struct world_life *life_of(struct world *w, uint32_t i)
{
	return &w->life[w->agent[i].life];
}

struct algo_pingmesh_status world_agent_status(const struct world *w,
    uint32_t i)
{
	struct algo_pingmesh_status s;
	algo_pingmesh_agent_status(w->agent[i].state, &s);
	return s;
}

static void step(struct world *w, uint32_t i, const struct agent_event *ev);

/* Whether what X is about has to wait for the end of a freeze of agent I. */
static int waits(struct world *w, uint32_t i, const struct sim_event *x)
{
	const sim_ns until = w->agent[i].frozen;
	if (w->t >= until || w->broken)
		return 0;
	world_in(w, until - w->t, x->fn, x->arg, x->aux);
	return 1;
}

/* --- events --------------------------------------------------------------- */
static int on_due(struct sim_evq *q, const struct sim_event *x,
    struct sim_err *e)
{
	struct due *d = x->arg;
	(void)q;
	(void)e;
	if (waits(d->w, d->agent, x))
		return 0;
	if (!is_void(d)) {
		step(d->w, d->agent, &d->ev);
		if (d->ev.kind == AGENT_FETCH_DONE)
			d->w->agent[d->agent].contact.is_lent = 0;
	}
	free(d);
	return 0;
}

static void tell(struct world *w, uint32_t i, sim_ns by,
    const struct agent_event *ev)
{
	struct due *d = due_of(w, i);
	d->ev = *ev;
	world_in(w, by, on_due, d, 0);
}

static void give(struct world *w, uint32_t i, int ok,
    const struct xp_contact_bytes *b)
{
	const struct agent_event ev = {.kind = AGENT_FETCH_DONE,
	    .token = w->agent[i].get.token,
	    .ok = ok != 0,
	    .data = b ? b->p : NULL,
	    .n = b ? b->n : 0};
	tell(w, i, 0, &ev);
}

static void uploaded(struct world *w, uint32_t i, int ok)
{
	const struct agent_event ev = {.kind = AGENT_UPLOAD_DONE,
	    .token = w->agent[i].post.token,
	    .ok = ok != 0};
	tell(w, i, 0, &ev);
}

/* --- requests ------------------------------------------------------------- */
static struct world_transfer *transfer_of(struct world_agent *a, int what)
{
	return what == WORLD_GET ? &a->get
	    : what == WORLD_POST ? &a->post
				 : &a->push;
}

static void ask(struct world *w, uint32_t i);

/* Where nothing is signed, no controller is an impostor. */
static void check_signed(struct world *w, const struct world_message *m)
{
	world_must(w, m->impostor != UNSIGNED && m->impostor != FORGER,
	    "no word is taken but those that our operator signed");
}

/* A list that came, and was taken for one. One of the future, by its own clock now,
 * was taken while that was wrong. */
static void check_taken(struct world *w, struct world_agent *a,
    const struct world_message *m)
{
	const int was_wrong = a->issued_s >
	    world_wall(w, a->wall_off) / SIM_SEC + XP_LIST_AHEAD_S;
	check_signed(w, m);
	world_must(w,
	    !world_is_signed() || was_wrong || m->issued_s >= a->issued_s ||
		m->of_version == a->of_version,
	    "no older list comes back");
	world_saw(w, WORLD_FUTURE, was_wrong && m->issued_s < a->issued_s);
	a->of_version = m->of_version;
	if (a->issued_s < m->issued_s || was_wrong)
		a->issued_s = m->issued_s;
}

static void on_list(struct world *w, uint32_t i, const struct world_message *m)
{
	struct xp_contact *c = &w->agent[i].contact;
	enum xp_contact_end end =
	    m->is_cut || m->status == 0 ? XP_CONTACT_BROKEN : XP_CONTACT_WHOLE;
	char line[256];
	const size_t half = m->n / 2;
	xp_fetch_head_line(&c->coming.head, "HTTP/1.1 200 OK\r\n", 17);
	snprintf(line, sizeof(line), "ETag: %s\r\n", m->etag);
	xp_fetch_head_line(&c->coming.head, line, strlen(line));
	snprintf(line, sizeof(line), "%s: %s\r\n", XP_LIST_HEADER, m->mark);
	xp_fetch_head_line(&c->coming.head, line, strlen(line));
	if (m->status == 200 &&
	    (xp_contact_add(c, m->body, half) < half ||
		xp_contact_add(c, m->body + half, m->n - half) < m->n - half))
		end = XP_CONTACT_CUT_HERE;
	switch (xp_contact_came(c, end, m->status,
	    world_wall(w, w->agent[i].wall_off))) {
	case XP_CONTACT_LIST:
		if (m->status == 200)
			check_taken(w, &w->agent[i], m);
		give(w, i, 1, &c->had);
		return;
	case XP_CONTACT_NO_LIST:
		check_signed(w, m);
		give(w, i, 1, NULL);
		return;
	case XP_CONTACT_NO_ANSWER:
		xp_contact_unanswered(c);
		break;
	case XP_CONTACT_REFUSED:
		break;
	}
	ask(w, i);
}

static void answered(struct world *w, uint32_t i, struct world_message *m)
{
	struct world_agent *a = &w->agent[i];
	const int ok = m->status == 200 && !m->is_cut;
	transfer_of(a, m->what)->is_busy = 0;
	if (m->what == WORLD_GET) {
		on_list(w, i, m);
		return;
	}
	if (m->what == WORLD_PUSH)
		return;
	if (ok)
		world_book_acked(w, life_of(w, i), a->post.token >> 8);
	uploaded(w, i, ok);
}

static int on_back(struct sim_evq *q, const struct sim_event *x,
    struct sim_err *e)
{
	struct world_message *m = x->arg;
	struct world *w = m->w;
	struct world_agent *a = &w->agent[m->to];
	const struct world_transfer *t = transfer_of(a, m->what);
	(void)q;
	(void)e;
	if (waits(w, m->to, x))
		return 0;
	if (a->is_on && a->turn == m->agent_turn && t->is_busy &&
	    t->turn == m->turn && !w->broken)
		answered(w, m->to, m);
	free(m);
	return 0;
}

/* Bodies are cut off now and then; a connection that nobody listens to is reset. */
static int on_there(struct sim_evq *q, const struct sim_event *x,
    struct sim_err *e)
{
	struct world_message *m = x->arg;
	struct world *w = m->w;
	const uint32_t from = m->from;
	const struct world_message head = *m;
	(void)q;
	(void)e;
	if (w->broken) {
		free(m);
		return 0;
	}
	m = world_serve(w, m);
	if (!m) {
		m = calloc(1, sizeof(*m));
		assert_non_null(m);
		*m = head;
		m->from = head.to;
		m->to = from;
		m->n = 0;
		m->status = 0;
	}
	const sim_ns way = world_way(w, m->from, m->to);
	if (m->n > 0 && world_below(w, 65536) < w->cut) {
		m->is_cut = 1;
		m->n = world_below(w, (uint32_t)m->n);
		world_saw(w, WORLD_CUT, 1);
	}
	if (way == SIM_NEVER)
		free(m);
	else
		world_in(w, way, on_back, m, 0);
	return 0;
}

static int on_deadline(struct sim_evq *q, const struct sim_event *x,
    struct sim_err *e)
{
	struct due *d = x->arg;
	(void)q;
	(void)e;
	if (waits(d->w, d->agent, x))
		return 0;
	if (!is_void(d)) {
		struct world_message none = {.what = d->what};
		const struct world_transfer *t =
		    transfer_of(&d->w->agent[d->agent], d->what);
		if (t->is_busy && t->turn == d->request)
			answered(d->w, d->agent, &none);
	}
	free(d);
	return 0;
}

/* N bytes for TARGET at a place; the answer is to come within LEFT. A body may
 * come damaged now and then. */
static void send_to(struct world *w, uint32_t i, int what, uint32_t to,
    const char *target, const void *body, size_t n, sim_ns left)
{
	struct world_agent *a = &w->agent[i];
	struct world_transfer *t = transfer_of(a, what);
	struct world_message *m = calloc(1, sizeof(*m) + n);
	struct due *d = due_of(w, i);
	assert_non_null(m);
	*m = (struct world_message){.w = w,
	    .from = i,
	    .to = to,
	    .agent_turn = a->turn,
	    .turn = ++t->turn,
	    .what = what,
	    .n = n};
	t->is_busy = 1;
	snprintf(m->target, sizeof(m->target), "%s", target);
	snprintf(m->tag, sizeof(m->tag), "%s", a->contact.had.head.tag);
	if (n > 0)
		memcpy(m->body, body, n);
	if (n > 0 && world_below(w, 65536) < w->cut)
		m->body[world_below(w, (uint32_t)n)] ^= 4;
	d->what = what;
	d->request = t->turn;
	world_in(w, left, on_deadline, d, 0);
	const sim_ns way = world_way(w, i, to);
	if (way == SIM_NEVER)
		free(m);
	else
		world_in(w, way, on_there, m, 0);
}

static void ask(struct world *w, uint32_t i)
{
	struct world_agent *a = &w->agent[i];
	const char *url;
	unsigned share;
	while ((url = xp_contact_next(&a->contact, &share))) {
		const sim_ns left =
		    a->get.until > w->t ? (a->get.until - w->t) / share : 0;
		const uint32_t to =
		    WORLD_CONTROLLER + (strstr(url, "127.0.0.2") != NULL);
		if (left >= SIM_MS) {
			send_to(w, i, WORLD_GET, to, strstr(url, "/pinglist"),
			    NULL, 0, left);
			return;
		}
		xp_contact_unanswered(&a->contact);
	}
	give(w, i, 0, NULL);
}

static void on_fetch(struct world *w, uint32_t i, const struct agent_action *x)
{
	struct world_agent *a = &w->agent[i];
	if (a->get.is_busy) {
		a->get.is_busy = 0;
		give(w, i, 0, NULL);
	}
	a->get.token = x->token;
	a->get.until = w->t + sim_ns_of(0.9 * w->params.fetch_timeout_s);
	if (xp_contact_ask(&a->contact))
		ask(w, i);
	else
		give(w, i, 0, NULL);
}

static void on_upload(struct world *w, uint32_t i, const struct agent_action *x)
{
	struct world_agent *a = &w->agent[i];
	if (a->post.is_busy) {
		a->post.is_busy = 0;
		uploaded(w, i, 0);
	}
	a->post.token = x->token;
	const size_t n = xp_contact_stamp(&a->contact, x->data, clock_of(w, i),
	    world_wall(w, a->wall_off));
	world_book_batch(w, life_of(w, i), x->data, a->contact.wire, n);
	send_to(w, i, WORLD_POST, WORLD_COLLECTOR, "/results", a->contact.wire,
	    n, sim_ns_of(0.9 * w->params.upload_timeout_s));
}

static void on_counters(struct world *w, uint32_t i,
    const struct agent_action *x)
{
	struct world_agent *a = &w->agent[i];
	const struct algo_pingmesh_window *window = x->data;
	const size_t n = xp_contact_stamp_window(&a->contact, window,
	    clock_of(w, i), world_wall(w, a->wall_off));
	a->push.is_busy = 0;
	world_book_window(w, life_of(w, i), window->number, a->contact.window,
	    n);
	send_to(w, i, WORLD_PUSH, WORLD_COLLECTOR, "/results",
	    a->contact.window, n, sim_ns_of(0.9 * w->params.upload_timeout_s));
}

/* --- probes --------------------------------------------------------------- */
/* The SYN is there: an agent that runs answers, whatever else; a host whose agent
 * does not run refuses. */
static int on_syn(struct sim_evq *q, const struct sim_event *x,
    struct sim_err *e)
{
	struct due *d = x->arg;
	struct world *w = d->w;
	const struct agent_event request = {.kind = AGENT_PING_REQUEST,
	    .n = d->n_bytes};
	(void)q;
	(void)e;
	if (waits(w, d->target, x))
		return 0;
	const int is_on = w->agent[d->target].is_on && !w->broken;
	if (is_on)
		step(w, d->target, &request);
	if (is_void(d)) {
		free(d);
		return 0;
	}
	d->ev.outcome = is_on ? AGENT_CONNECTED : AGENT_REFUSED;
	d->ev.rtt_ns = w->t - d->sent + d->back;
	world_book_outcome(w, life_of(w, d->agent), d->probe, d->ev.outcome,
	    d->ev.rtt_ns);
	world_in(w, d->back, on_due, d, 0);
	return 0;
}

/* As Linux has it with the paper's waits: a SYN at 0, 3 and 9 s, and the end at
 * 21 s, of which this host never hears. */
static void on_connect(struct world *w, uint32_t i,
    const struct agent_action *x)
{
	static const sim_ns ladder[] = {0, 3 * SIM_SEC, 9 * SIM_SEC};
	const uint32_t to = topo_addr_to_host(x->tuple.dst_ip, WORLD_AGENTS);
	struct world_agent *a = &w->agent[i];
	world_must(w, to != TOPO_NONE && to != i,
	    "nobody is probed but others of the fleet");
	world_must(w, x->n_bytes <= 65536, "no payload is above 64 KiB");
	world_must(w, a->ends == 0, "who is told to end probes nobody");
	if (w->broken)
		return;
	world_must(w, a->last[to] == 0 || w->t - a->last[to] >= 10 * SIM_SEC,
	    "two probes of a pair are 10 s apart or more, also after a start");
	a->last[to] = w->t;
	world_book_probe(w, life_of(w, i), clock_of(w, i), &x->tuple);
	world_saw(w, WORLD_PROBES, 1);
	for (int k = 0; k < 3; k++) {
		const sim_ns there = world_way(w, i, to);
		const sim_ns back = world_way(w, to, i);
		if (there == SIM_NEVER || back == SIM_NEVER)
			continue;
		struct due *d = due_of(w, i);
		d->ev = (struct agent_event){.kind = AGENT_CONNECT_DONE,
		    .token = x->token,
		    .answer = x->ping == AGENT_PING_HTTP
			? AGENT_ANSWER_OK
			: AGENT_ANSWER_NOT_ASKED};
		d->target = to;
		d->probe = life_of(w, i)->n_probes - 1;
		d->sent = w->t;
		d->back = back;
		d->n_bytes = x->n_bytes;
		world_in(w, ladder[k] + there, on_syn, d, 0);
		return;
	}
}

/* --- steps ---------------------------------------------------------------- */
static void carry_out(struct world *w, uint32_t i, const struct agent_action *x)
{
	const struct agent_event timer = {.kind = AGENT_TIMER,
	    .token = x->token};
	const sim_ns now = clock_of(w, i);
	switch (x->kind) {
	case AGENT_SET_TIMER:
		world_must(w, x->at_ns >= now, "no timer is for the past");
		tell(w, i, x->at_ns > now ? x->at_ns - now : 0, &timer);
		break;
	case AGENT_FETCH:
		on_fetch(w, i, x);
		break;
	case AGENT_CONNECT:
		on_connect(w, i, x);
		break;
	case AGENT_UPLOAD:
		on_upload(w, i, x);
		break;
	case AGENT_COUNTERS:
		on_counters(w, i, x);
		break;
	default:
		break;
	}
}

static void step(struct world *w, uint32_t i, const struct agent_event *ev)
{
	struct world_agent *a = &w->agent[i];
	struct agent_out out;
	uint64_t n_answers = 0;
	out.n = 0;
	world_must(w,
	    algo_pingmesh_agent.step(a->state, clock_of(w, i), ev, &a->rng,
		&out, NULL) == 0,
	    "a step succeeds, whatever happens");
	world_note(w, i << 16 | (uint64_t)ev->kind << 8 | out.n);
	for (size_t k = 0; k < out.n && !w->broken; k++) {
		n_answers += out.action[k].kind == AGENT_ANSWER;
		carry_out(w, i, &out.action[k]);
	}
	world_must(w, n_answers == (ev->kind == AGENT_PING_REQUEST),
	    "the probes of others are always answered");
	const struct algo_pingmesh_status s = world_agent_status(w, i);
	world_must(w,
	    s.count.n_probes ==
		s.n_in_flight + s.n_held + s.count.n_uploaded +
		    s.count.n_discarded + s.count.n_overrun,
	    "no record is lost uncounted");
	world_must(w,
	    s.n_contacts_failed < ALGO_PINGMESH_CONTACTS || s.n_entries == 0,
	    "three failed contacts drop all peers");
	a->version = s.version;
}

/* --- starts --------------------------------------------------------------- */
void world_agent_stop(struct world *w, uint32_t i)
{
	struct world_agent *a = &w->agent[i];
	if (!a->is_on)
		return;
	const struct algo_pingmesh_status s = world_agent_status(w, i);
	const struct xp_fetch_counters *c = &a->contact.count;
	life_of(w, i)->count = s.count;
	world_saw(w, WORLD_CONNECTED, s.count.n_connected);
	world_saw(w, WORLD_CLOSED, s.count.n_closed);
	world_saw(w, WORLD_DISCARDED, s.count.n_discarded);
	world_saw(w, WORLD_LISTS, c->n_lists);
	world_saw(w, WORLD_SAME, c->n_same);
	world_saw(w, WORLD_REFUSED_LISTS, c->n_refused);
	xp_contact_close(&a->contact);
	memset(&a->contact, 0, sizeof(a->contact));
	a->is_on = 0;
	a->version = a->ends = a->frozen = 0;
}

/* As the daemon does (agent_daemon.c): it is told to end in each slice of time,
 * until nothing is left to hand over or its grace is over. */
static int on_slice(struct sim_evq *q, const struct sim_event *x,
    struct sim_err *e)
{
	struct due *d = x->arg;
	struct world *w = d->w;
	(void)q;
	(void)e;
	if (waits(w, d->agent, x))
		return 0;
	if (!is_void(d)) {
		struct world_agent *a = &w->agent[d->agent];
		algo_pingmesh_agent_end(a->state);
		const struct algo_pingmesh_status s =
		    world_agent_status(w, d->agent);
		if (w->t < a->ends && s.n_in_flight + s.n_held > 0) {
			world_in(w, 250 * SIM_MS, on_slice, d, 0);
			return 0;
		}
		world_saw(w, w->t < a->ends ? WORLD_ENDED : WORLD_LEFT, 1);
		world_agent_stop(w, d->agent);
	}
	free(d);
	return 0;
}

void world_agent_end(struct world *w, uint32_t i)
{
	if (!w->agent[i].is_on || w->agent[i].ends > 0)
		return;
	w->agent[i].ends = w->t + 30 * SIM_SEC;
	world_in(w, 0, on_slice, due_of(w, i), 0);
}

void world_agent_start(struct world *w, uint32_t i)
{
	struct world_agent *a = &w->agent[i];
	const struct xp_fetch_params p =
	    {.controllers = "http://127.0.0.1:8080,http://127.0.0.2:8080",
		.collector = "http://127.0.0.3:8081",
		.address = topo_ip_of_4(topo_addr_of_host(i)),
		.fetch_s = w->params.fetch_timeout_s,
		.upload_s = w->params.upload_timeout_s,
		.max_bytes = 4096 +
		    (size_t)w->params.max_entries * ALGO_PINGMESH_ENTRY_BYTES,
		.signed_by =
		    world_is_signed() ? world_path("ours/list.pub") : NULL};
	world_agent_stop(w, i);
	a->is_on = 1;
	a->turn++;
	a->issued_s = 0;
	a->started = w->t;
	a->get.is_busy = a->post.is_busy = a->push.is_busy = 0;
	assert_ok(xp_contact_open(&a->contact, &p, test_err()));
	/* In place of getrandom(), by which starts at one time differ. */
	const sim_ns wall = world_wall(w, a->wall_off);
	const uint64_t chance =
	    (a->turn * UINT64_C(0x9e3779b97f4a7c15)) >> 32 & 0xffffff;
	xp_contact_begin(&a->contact, 0, wall, chance);
	a->life = world_life_begin(w, i, wall - chance);
	world_saw(w, WORLD_STARTS, 1);
	assert_ok(
	    algo_pingmesh_agent.init(a->state, i, &w->params, test_err()));
	step(w, i, &(struct agent_event){.kind = AGENT_START});
}
