/* models/real/real.c -- a fabric of real sockets: agents on a live network.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The order of a turn of real_fabric_poll(): give back what agents were lent,
 * wait, take what sockets have, do what the clock says is due, hand out events.
 * Agents run between two calls, so nothing here is entered twice.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "models/clock.h"
#include "models/real/fds.h"
#include "models/real/impl.h"
#include "models/real/namespace.h"
#include "sim/vec.h"

#define AT(member) offsetof(struct fabric_real_params, member)
const struct sim_field fabric_real_fields[] = {
    {"max_flights", SIM_F_U32, AT(max_flights), .def = "4096", .min = 1,
	.max = 1e6, .unit = "connections", .doc = "connects under way"},
    {"max_clients", SIM_F_U32, AT(max_clients), .def = "4096", .min = 1,
	.max = 1e6, .unit = "connections", .doc = "connections served"},
    {"per_address", SIM_F_U32, AT(per_address), .def = "0", .min = 0,
	.max = 1e6, .unit = "connections",
	.doc = "... of one address (IPv6: one /64) with one host; 0: all"},
    {"syn_retries", SIM_F_U32, AT(syn_retries), .def = "0", .min = 0,
	.max = 127, .unit = "SYNs",
	.doc = "TCP_SYNCNT of connects; 0: as the kernel is set"},
    {"syn_rto", SIM_F_F64, AT(syn_rto_s), .def = "1", .min = 1e-3, .max = 120,
	.unit = "s", .doc = "the kernel's wait for an answer to the first SYN"},
    {"connect", SIM_F_F64, AT(connect_s), .def = "0", .min = 0, .max = 1e4,
	.unit = "s", .doc = "a connect is given up; 0: when the kernel does"},
    {"echo", SIM_F_F64, AT(echo_s), .def = "5", .min = 1e-3, .max = 1e4,
	.unit = "s", .doc = "how long an echo is waited for"},
    {"client", SIM_F_F64, AT(client_s), .def = "10", .min = 1e-3, .max = 1e4,
	.unit = "s", .doc = "how long a connection may be served"},
    {"watch_ms", SIM_F_F64, AT(watch_ms), .def = "5", .min = 0.1, .max = 1e6,
	.unit = "ms", .doc = "between looks at watched sockets"},
    {"no_probe", SIM_F_BOOL, AT(no_probe), .def = "false",
	.doc = "open no raw sockets"},
    {0},
};
#undef AT

/* --- the clock ---------------------------------------------------------- */

sim_ns real_now(const struct fabric_real *f)
{
	return clock_now() - f->opened;
}

static sim_ns real_fabric_now(const struct fabric *base)
{
	return real_now((const struct fabric_real *)base);
}

/* --- events for agents -------------------------------------------------- */

/* Events are queued, never delivered from within: an action of an agent may
 * bring about an event at once, such as a connect that is refused by the own
 * host, and the agent must not be called while it is acting. */
struct agent_event *real_tell(struct fabric_real *f, topo_host host,
    enum agent_event_kind kind, uint64_t token, struct sim_err *e)
{
	if (SIM_RESERVE(&f->queue, &f->cap, f->n + 1, e) < 0)
		return NULL;
	struct real_event *q = &f->queue[f->n++];
	*q = (struct real_event){.host = host, .at = real_now(f)};
	q->ev.kind = kind;
	q->ev.token = token;
	return &q->ev;
}

/* Documents that agents of the last batch were lent go back to the service; the
 * agents have been called since, and have read them. */
static void real_fabric_give_back(struct fabric_real *f)
{
	const struct fabric_real_services *s = &f->services;
	for (size_t i = 0; s->taken && i < f->n_given; i++)
		s->taken(s->arg, f->given[i].host, f->given[i].token);
	f->n_given = 0;
}

static size_t real_fabric_deliver(struct fabric_real *f,
    struct agent_event ev[], topo_host host[], sim_ns at[], size_t cap)
{
	const size_t most = sizeof(f->given) / sizeof(f->given[0]);
	size_t n = 0;
	/* At most `most` documents at a time, so that given[] never overflows;
	 * the rest of the queue waits for the next call. */
	while (n < cap && f->head < f->n && f->n_given < most) {
		const struct real_event *q = &f->queue[f->head++];
		if (q->ev.kind == AGENT_FETCH_DONE)
			f->given[f->n_given++] =
			    (struct real_given){q->host, q->ev.token};
		/* A host that comes back is on from the very event that says
		 * so. What was queued for it before was meant for the life that
		 * it had then, and is dropped. */
		if (q->ev.kind == AGENT_START)
			f->host[q->host].off = 0;
		if (f->host[q->host].off)
			continue;
		ev[n] = q->ev;
		host[n] = q->host;
		at[n++] = q->at;
	}
	/* The queue starts over once it is empty; it is never moved. */
	if (f->head == f->n)
		f->head = f->n = 0;
	return n;
}

/* --- epoll -------------------------------------------------------------- */

/* Kind, turn and index fit the 64 bits that epoll gives back: 8, 24 and 32. */
static int control(struct fabric_real *f, int op, int fd, uint32_t events,
    enum real_kind kind, uint32_t turn, uint32_t index, struct sim_err *e)
{
	struct epoll_event ev = {.events = events,
	    .data.u64 = (uint64_t)kind << 56 | (uint64_t)turn << 32 | index};
	return epoll_ctl(f->epoll, op, fd, &ev) == 0
	    ? 0
	    : sim_fail(e, SIM_EIO, "descriptor %d cannot be polled: %s.", fd,
		  strerror(errno));
}

int real_poll_fd(struct fabric_real *f, int fd, uint32_t events,
    enum real_kind kind, uint32_t turn, uint32_t index, struct sim_err *e)
{
	return control(f, EPOLL_CTL_ADD, fd, events, kind, turn, index, e);
}

int real_repoll_fd(struct fabric_real *f, int fd, uint32_t events,
    enum real_kind kind, uint32_t turn, uint32_t index, struct sim_err *e)
{
	return control(f, EPOLL_CTL_MOD, fd, events, kind, turn, index, e);
}

static int real_fabric_take(struct fabric_real *f, const struct epoll_event *ev,
    struct sim_err *e)
{
	const uint32_t index = (uint32_t)ev->data.u64;
	const uint32_t turn = (uint32_t)(ev->data.u64 >> 32) % REAL_TURNS;
	struct real_conn *c;
	switch ((enum real_kind)(ev->data.u64 >> 56)) {
	case REAL_CONN:
		/* epoll gave this batch in one piece, and an event earlier in
		 * it may have closed the connection or even opened another in
		 * its slot. */
		if (!(c = real_conn_of(f, turn, index)))
			return 0;
		return c->state == REAL_SERVED
		    ? real_serve_event(f, c, ev->events, e)
		    : real_connect_event(f, c, ev->events, e);
	case REAL_LISTENER:
		return real_serve_accept(f, index, turn, e);
	case REAL_ICMP:
		return real_probe_read(f, index, e);
	case REAL_RETX:
		return real_retx_read(f, e);
	case REAL_SERVICE:
		return f->services.ready(f->services.arg, e);
	}
	return 0;
}

/* When something is due by the clock alone. */
static sim_ns next_due(const struct fabric_real *f)
{
	const sim_ns due[] = {real_timers_next(&f->timers), real_conn_next(f),
	    f->rest_until, f->watch_at};
	sim_ns next = SIM_NEVER;
	for (size_t i = 0; i < sizeof(due) / sizeof(due[0]); i++)
		if (due[i] < next)
			next = due[i];
	return next;
}

/* Everything that is due is queued first, and agents act on it after the call:
 * none of them can make this loop longer. */
static int do_due(struct fabric_real *f, struct sim_err *e)
{
	const sim_ns at = real_now(f);
	struct real_timer t;
	int rc;
	while (real_timers_take(&f->timers, at, &t))
		if (!real_tell(f, t.host, AGENT_TIMER, t.token, e))
			return SIM_ENOMEM;
	if ((rc = real_conn_due(f, e)) < 0 || (rc = real_retx_look(f, e)) < 0)
		return rc;
	return real_serve_resume(f, e);
}

/* Wait up to WAIT for whatever comes, and queue what it means. */
static int real_fabric_collect(struct fabric_real *f, sim_ns wait,
    struct sim_err *e)
{
	enum { AT_ONCE = 64 };
	struct epoll_event ev[AT_ONCE];
	const struct timespec t = {.tv_sec = (time_t)(wait / SIM_SEC),
	    .tv_nsec = (long)(wait % SIM_SEC)};
	int rc = 0,
	    n = epoll_pwait2(f->epoll, ev, AT_ONCE,
		/* Nanoseconds, as probes are timed in microseconds; a wait in
		 * whole milliseconds would make timers late by up to one of
		 * them. */
		wait == SIM_NEVER ? NULL : &t, NULL);
	if (n < 0 && errno == ENOSYS) /* before Linux 5.11: whole ms */
		/* Rounded up, so that nothing wakes before it is due and spins;
		 * at most a second, so that the sum of int milliseconds cannot
		 * overflow. */
		n = epoll_wait(f->epoll, ev, AT_ONCE,
		    wait < SIM_SEC ? (int)((wait + SIM_MS - 1) / SIM_MS)
				   : 1000);
	if (n < 0 && errno != EINTR)
		return sim_fail(e, SIM_EIO, "epoll failed: %s.",
		    strerror(errno));
	/* Listeners come last. Where both ends are in this process, the client
	 * has often sent its reset by the time the listener is looked at, so
	 * that the server's socket is found closed at once and never has to be
	 * polled. */
	for (int last = 0; last < 2; last++)
		for (int i = 0; rc == 0 && i < n; i++)
			if ((ev[i].data.u64 >> 56 == REAL_LISTENER) == last)
				rc = real_fabric_take(f, &ev[i], e);
	return rc < 0 ? rc : do_due(f, e);
}

/* How long to wait: not at all if events are queued or something is due
 * already. */
static sim_ns until_when(const struct fabric_real *f, sim_ns at, sim_ns until)
{
	const sim_ns due = next_due(f);
	const sim_ns end = due < until ? due : until;
	return f->head < f->n || end <= at ? 0
	    : end == SIM_NEVER             ? SIM_NEVER
					   : end - at;
}

/* Sockets are looked at in each call, so that agents that answer at once to
 * what happens at once keep nobody else waiting. */
static int real_fabric_poll(struct fabric *base, sim_ns until,
    struct agent_event ev[], topo_host host[], sim_ns at[], size_t cap,
    size_t *n, struct sim_err *e)
{
	struct fabric_real *f = (struct fabric_real *)base;
	real_fabric_give_back(f);
	*n = 0;
	do {
		const sim_ns t = real_now(f);
		/* *N = 0 is how fabric_run() learns that the time is up. */
		if (t >= until)
			return 0;
		int rc = real_fabric_collect(f, until_when(f, t, until), e);
		if (rc < 0)
			return rc;
		*n = real_fabric_deliver(f, ev, host, at, cap);
		/* Of what was taken out all may have been for hosts that are
		 * off, whose documents nobody has read. */
		if (*n == 0)
			real_fabric_give_back(f);
	} while (*n == 0);
	return 0;
}

/* --- hosts that are off ------------------------------------------------- */

static int real_fabric_is_on(const struct fabric *base, topo_host host)
{
	return !((const struct fabric_real *)base)->host[host].off;
}

void fabric_real_off(struct fabric_real *f, topo_host host)
{
	f->host[host].off = 1;
	real_timers_drop(&f->timers, host);
	for (size_t i = f->head; i < f->n; i++)
		/* Only an AGENT_START is let through to a host that is off, and
		 * this one belongs to an earlier turning on. */
		if (f->queue[i].host == host &&
		    f->queue[i].ev.kind == AGENT_START)
			f->queue[i].ev.kind = AGENT_TIMER; /* it is dropped */
	for (uint32_t i = 0; i < f->n_used; i++)
		if (f->conn[i].state != REAL_FREE && f->conn[i].host == host)
			real_conn_close(f, &f->conn[i]);
}

/* It stays off until it has had this, so that what was queued for it before is
 * dropped. */
int fabric_real_on(struct fabric_real *f, topo_host host, struct sim_err *e)
{
	return !f->host[host].off || real_tell(f, host, AGENT_START, 0, e)
	    ? 0
	    : SIM_ENOMEM;
}

/* --- actions ------------------------------------------------------------ */

static int ask_slb(struct fabric_real *f, topo_host host,
    const struct agent_action *a, struct sim_err *e)
{
	struct agent_event *ev =
	    real_tell(f, host, AGENT_SLB_REPLY, a->token, e);
	if (!ev)
		return SIM_ENOMEM;
	ev->ok = f->slb && f->slb(f->slb_arg, host, &a->tuple, &ev->dip);
	return 0;
}

static int real_fabric_act(struct fabric_real *f, topo_host host,
    const struct agent_action *a, struct sim_err *e)
{
	const struct fabric_real_services *s = &f->services;
	switch (a->kind) {
	case AGENT_SET_TIMER:
		return real_timers_set(&f->timers, a->at_ns, host, a->token, e);
	case AGENT_SLB_QUERY:
		return ask_slb(f, host, a, e);
	case AGENT_PROBE:
		return real_probe(f, host, a, e);
	/* Reports are fabric_run()'s business; it has taken this one
	 * already. */
	case AGENT_REPORT:
		return 0;
	case AGENT_SEND:
		return real_send(f, host, a, e);
	/* Without a service a fetch or an upload is answered at once by a
	 * failure, so that agents need not know whether there is one. */
	case AGENT_FETCH:
		return s->fetch
		    ? s->fetch(s->arg, host, a->token, e)
		    : fabric_real_fetched(f, host, a->token, 0, NULL, 0, e);
	case AGENT_CONNECT:
		return real_connect(f, host, a, e);
	case AGENT_ANSWER:
		return real_serve_answer(f, host, a, e);
	case AGENT_UPLOAD:
		return s->upload
		    ? s->upload(s->arg, host, a->token, a->data, a->n_bytes, e)
		    : fabric_real_uploaded(f, host, a->token, 0, e);
	case AGENT_COUNTERS:
		return s->counters
		    ? s->counters(s->arg, host, a->data, a->n_bytes, e)
		    : 0;
	}
	return 0;
}

static int real_fabric_submit(struct fabric *base, topo_host host,
    const struct agent_action *a, size_t n, struct sim_err *e)
{
	int rc = 0;
	for (; rc == 0 && n > 0; a++, n--)
		rc = real_fabric_act((struct fabric_real *)base, host, a, e);
	return rc;
}

/* --- services ----------------------------------------------------------- */

int fabric_real_serve(struct fabric_real *f,
    const struct fabric_real_services *s, struct sim_err *e)
{
	int rc = 0;
	assert(!f->services.fetch && s->fetch && s->upload);
	assert(s->fd < 0 || s->ready);
	if (s->fd >= 0)
		rc = real_poll_fd(f, s->fd, EPOLLIN, REAL_SERVICE, 0, 0, e);
	if (rc == 0)
		f->services = *s;
	return rc;
}

int fabric_real_fetched(struct fabric_real *f, topo_host host, uint64_t token,
    int ok, const void *data, size_t n, struct sim_err *e)
{
	struct agent_event *ev = real_tell(f, host, AGENT_FETCH_DONE, token, e);
	if (!ev)
		return SIM_ENOMEM;
	ev->ok = ok != 0;
	ev->data = data;
	ev->n = n;
	return 0;
}

int fabric_real_uploaded(struct fabric_real *f, topo_host host, uint64_t token,
    int ok, struct sim_err *e)
{
	struct agent_event *ev =
	    real_tell(f, host, AGENT_UPLOAD_DONE, token, e);
	if (!ev)
		return SIM_ENOMEM;
	ev->ok = ok != 0;
	return 0;
}

int fabric_real_order(struct fabric_real *f, topo_host host, const void *data,
    size_t n, struct sim_err *e)
{
	struct agent_event *ev = real_tell(f, host, AGENT_ORDER, 0, e);
	if (!ev)
		return SIM_ENOMEM;
	ev->data = data;
	ev->n = n;
	return 0;
}

void fabric_real_slb(struct fabric_real *f, fabric_real_slb_fn *fn, void *arg)
{
	f->slb = fn;
	f->slb_arg = arg;
}

/* --- life --------------------------------------------------------------- */

static void real_fabric_close_base(struct fabric *base)
{
	fabric_real_close((struct fabric_real *)base);
}

static const struct fabric_ops real_fabric_ops = {
    .name = "real",
    .now = real_fabric_now,
    .submit = real_fabric_submit,
    .poll = real_fabric_poll,
    .is_on = real_fabric_is_on,
    .close = real_fabric_close_base,
};

/* How many descriptors this takes: one a connection, and for each host its
 * listeners, two raw sockets and a stock. The number of the epoll, which was
 * opened just now, tells how many the program has already, as the kernel hands
 * out the lowest free one. */
static int real_fabric_raise_fd_limit(struct fabric_real *f, struct sim_err *e)
{
	const struct fabric_real_params *p = &f->params;
	const rlim_t a_host = p->n_classes + 2 + REAL_STOCK;
	const rlim_t need = (rlim_t)f->epoll + p->max_flights + p->max_clients +
	    f->base.n_hosts * a_host + REAL_SPARE_FDS;
	unsigned long long hard;
	if (real_fds_raise(need, &hard))
		return 0;
	return sim_fail(e, SIM_ELIMIT,
	    "%u hosts, %u connects and %u clients take %llu file descriptors; "
	    "`ulimit -Hn` allows %llu.",
	    f->base.n_hosts, p->max_flights, p->max_clients,
	    (unsigned long long)need, hard);
}

/* The same text over and over, so that what comes can be compared with what
 * must come at any offset without storing it. */
static void write_payload(struct fabric_real *f)
{
	static const char words[] = "culprit pingmesh probe payload.\n";
	const size_t n = sizeof(words) - 1;
	for (size_t i = 0; i < sizeof(f->payload); i += n)
		memcpy(f->payload + i, words, n);
}

static sim_ns wait_of(double seconds)
{
	return seconds > 0 ? (sim_ns)(seconds * 1e9) : SIM_NEVER;
}

static int real_fabric_alloc(struct fabric_real **out,
    const struct fabric_real_host host[], uint32_t n_hosts,
    const struct fabric_real_params *p, struct sim_err *e)
{
	struct fabric_real *f = NULL;
	int rc = SIM_ZALLOC(&f, 1, e);
	if (rc < 0)
		return rc;
	*out = f;
	*f = (struct fabric_real){
	    .base = {.ops = &real_fabric_ops, .n_hosts = n_hosts},
	    .params = *p,
	    .opened = clock_now(),
	    .epoll = -1,
	    .home = -1,
	    .free = REAL_NONE,
	    .wait_ns = {wait_of(p->connect_s), wait_of(p->echo_s),
		wait_of(p->client_s)},
	    .rest_until = SIM_NEVER,
	    .watch_at = SIM_NEVER,
	};
	for (unsigned s = 0; s < REAL_N_STATES; s++)
		f->line[s] = (struct real_line){REAL_NONE, REAL_NONE};
	write_payload(f);
	if ((rc = SIM_ZALLOC(&f->host, n_hosts, e)) < 0)
		return rc;
	for (topo_host h = 0; h < n_hosts; h++) {
		f->host[h] = (struct real_host){.address = host[h].address,
		    .ns = host[h].ns,
		    .raw = -1,
		    .icmp = -1};
		for (unsigned i = 0; i < FABRIC_REAL_CLASSES; i++)
			f->host[h].listener[i] = -1;
	}
	return SIM_ZALLOC(&f->conn, (size_t)p->max_flights + p->max_clients, e);
}

static int real_fabric_open_all(struct fabric_real *f, struct sim_err *e)
{
	struct timespec res;
	int rc;
	clock_getres(CLOCK_MONOTONIC, &res);
	f->base.caps.clock_res_ns =
	    (sim_ns)res.tv_sec * SIM_SEC + (sim_ns)res.tv_nsec;
	f->base.caps.can_probe_ttl = !f->params.no_probe;
	/* The key of probes is not from the seed of a run: two programs on one
	 * host would take each other's answers. */
	if (getrandom(f->key, sizeof(f->key), 0) != sizeof(f->key) ||
	    getrandom(&f->place_secret, sizeof(f->place_secret), 0) !=
		sizeof(f->place_secret))
		return sim_fail(e, SIM_EIO, "there are no random bytes: %s.",
		    strerror(errno));
	if ((f->epoll = epoll_create1(EPOLL_CLOEXEC)) < 0)
		return sim_fail(e, SIM_EIO, "epoll cannot be opened: %s.",
		    strerror(errno));
	if ((rc = real_fabric_raise_fd_limit(f, e)) < 0 ||
	    (rc = real_host_index(f, e)) < 0)
		return rc;
	for (topo_host h = 0; h < f->base.n_hosts; h++) {
		/* Home is needed only where some host is elsewhere; a daemon on
		 * its own host never asks for the right to enter a
		 * namespace. */
		if (f->host[h].ns >= 0 && f->home < 0)
			rc = real_ns_here(&f->home, e);
		if (rc < 0 || (rc = real_host_open(f, h, e)) < 0)
			return sim_wrap(e, rc, "host %u", h);
	}
	return 0;
}

int fabric_real_open(struct fabric_real **out,
    const struct fabric_real_host host[], uint32_t n_hosts,
    const struct fabric_real_params *p, struct sim_err *e)
{
	struct fabric_real *f = NULL;
	*out = NULL;
	if (n_hosts == 0 || p->n_classes > FABRIC_REAL_CLASSES)
		return sim_fail(e, SIM_EINVAL,
		    "%u hosts with %u ports cannot be served: at least 1, and "
		    "at most %d.",
		    n_hosts, p->n_classes, FABRIC_REAL_CLASSES);
	int rc = real_fabric_alloc(&f, host, n_hosts, p, e);
	if (rc == 0)
		rc = real_fabric_open_all(f, e);
	if (rc < 0)
		fabric_real_close(f);
	else
		*out = f;
	return rc;
}

void fabric_real_close(struct fabric_real *f)
{
	if (!f)
		return;
	/* What is still queued may hold documents that are lent by the service;
	 * each is given back exactly once. real_fabric_deliver() keeps the
	 * account of them, so it is called here although nobody hears the
	 * events. */
	struct agent_event ev;
	topo_host host;
	sim_ns at;
	do
		real_fabric_give_back(f);
	while (
	    real_fabric_deliver(f, &ev, &host, &at, 1) > 0 || f->n_given > 0);
	for (uint32_t i = 0; i < f->n_used; i++)
		if (f->conn[i].state != REAL_FREE)
			close(f->conn[i].fd);
	for (topo_host h = 0; f->host && h < f->base.n_hosts; h++)
		real_host_close(&f->host[h]);
	if (f->epoll >= 0)
		close(f->epoll);
	if (f->home >= 0)
		close(f->home);
	real_timers_free(&f->timers);
	free(f->by_address);
	free(f->queue);
	free(f->conn);
	free(f->watch);
	free(f->host);
	free(f);
}

struct fabric *fabric_real_fabric(struct fabric_real *f)
{
	return &f->base;
}

const struct fabric_real_counters *fabric_real_count(
    const struct fabric_real *f)
{
	return &f->count;
}
