/* experiments/live/agent_daemon.c -- Pingmesh's agent on this host, for good.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One thread runs slices of a quarter of a second; between two of them signals,
 * log, status and the watchdog are looked after. Signals are blocked and asked
 * for there, so no handler ever runs in the middle of anything.
 */
#include "experiments/live/agent_daemon.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "experiments/live/agent_metrics.h"
#include "experiments/live/daemon.h"
#include "experiments/live/daemon_log.h"
#include "experiments/live/seccomp.h"
#include "models/clock.h"
#include "results/file.h"
#include "sim/text.h"
#include "sim/vec.h"
#include "topo/addr.h"

#define SLICE         (250 * SIM_MS) /* between looks at signals and the like */
#define STATUS_EVERY  (10 * SIM_SEC)
#define METRICS_EVERY (60 * SIM_SEC) /* or the upload's interval */

struct xp_agent {
	struct xp_agent_params params;
	struct fabric_real *fabric;
	struct fabric *base;
	struct fabric_agents agents;
	struct xp_fetch *fetch;
	struct xp_daemon_log log;
	struct xp_notify notify;
	int status_fd; /* -1: none */
	sim_ns status_at, metrics_at;
	uint64_t start_s, list_s, n_answers; /* of agent_metrics.h */
	int metrics_failed;
	uint64_t n_logged, n_blamed, n_calls; /* refused and told of */
	char self[TOPO_IP_TEXT];
	struct topo_ip_book book;
	struct algo_pingmesh_log lines[ALGO_PINGMESH_LOG];
};

/* --- time ----------------------------------------------------------------- */
static sim_ns agent_daemon_now(const struct xp_agent *a)
{
	return a->base->ops->now(a->base);
}

/* --- status --------------------------------------------------------------- */
/* Counters come from the lists that declare them, so a new one is in the status
 * by itself. */
#define PUT(name, doc)                                                         \
	sim_put(t, "%s\"%s\": %" PRIu64, first, #name, c->name);               \
	first = ", ";

static void put_probing(struct sim_text *t,
    const struct algo_pingmesh_counters *c)
{
	const char *first = "";
	ALGO_PINGMESH_COUNTERS(PUT)
}

static void put_sockets(struct sim_text *t,
    const struct fabric_real_counters *c)
{
	const char *first = "";
	FABRIC_REAL_COUNTERS(PUT)
}

static void put_contacts(struct sim_text *t, const struct xp_fetch_counters *c)
{
	const char *first = "";
	XP_FETCH_COUNTERS(PUT)
}
#undef PUT

static void put_window(struct sim_text *t, const struct algo_pingmesh_window *w)
{
	sim_put(t,
	    "\"n_probes\": %" PRIu64 ", \"n_connected\": %" PRIu64
	    ", \"n_unconnected\": %" PRIu64 ", \"n_drop_1\": %" PRIu64
	    ", \"n_drop_2\": %" PRIu64 ", \"p50_ns\": %" PRIu64
	    ", \"p99_ns\": %" PRIu64 ", \"n_http_ok\": %" PRIu64
	    ", \"n_http_failed\": %" PRIu64 ", \"http_p50_ns\": %" PRIu64
	    ", \"http_p99_ns\": %" PRIu64,
	    w->n_probes, w->n_connected, w->n_unconnected, w->n_drop_1,
	    w->n_drop_2, w->p50_ns, w->p99_ns, w->n_http_ok,
	    w->n_http_other + w->n_http_malformed + w->n_http_cut +
		w->n_http_late,
	    w->http_p50_ns, w->http_p99_ns);
}

/* One line of JSON; returns its length with the newline. */
static size_t write_status(const struct xp_agent *a, char text[XP_DAEMON_TEXT])
{
	struct sim_text t = {.buf = text, .size = XP_DAEMON_TEXT};
	struct algo_pingmesh_status s;
	algo_pingmesh_agent_status(a->agents.state, &s);
	sim_put(&t,
	    "{\"agent\": \"%s\", \"at_s\": %" PRIu64 ", \"uptime_s\": %.1f, ",
	    a->self, clock_wall() / SIM_SEC,
	    (double)agent_daemon_now(a) * 1e-9);
	xp_daemon_put_cost(&t);
	sim_put(&t,
	    ", \"version\": \"%016" PRIx64 "\", \"entries\": %" PRIu32
	    ", \"in_flight\": %" PRIu32 ", \"held\": %" PRIu32
	    ", \"contacts_failed\": %" PRIu32 ", \"probing\": {",
	    s.version, s.n_entries, s.n_in_flight, s.n_held,
	    s.n_contacts_failed);
	put_probing(&t, &s.count);
	sim_put(&t, "}, \"window\": {");
	put_window(&t, &s.window);
	sim_put(&t, "}, \"contacts\": {");
	put_contacts(&t, xp_fetch_count(a->fetch));
	sim_put(&t, "}, \"sockets\": {");
	put_sockets(&t, fabric_real_count(a->fabric));
	sim_put(&t, "}}\n");
	/* The text fits: it has some 60 numbers of at most 20 digits. */
	return t.n < XP_DAEMON_TEXT ? t.n : XP_DAEMON_TEXT - 1;
}

static void tell_status(struct xp_agent *a)
{
	char text[XP_DAEMON_TEXT];
	const size_t n = write_status(a, text);
	if (a->status_fd >= 0)
		xp_daemon_replace(a->status_fd, text, n);
	a->status_at = agent_daemon_now(a) + STATUS_EVERY;
}

/* --- metrics -------------------------------------------------------------- */
/* A list that came or was the same makes the list new, whatever the agent thinks
 * of it: that has counters of its own. */
static void agent_note_list(struct xp_agent *a)
{
	const struct xp_fetch_counters *c = xp_fetch_count(a->fetch);
	if (c->n_lists + c->n_same > a->n_answers)
		a->list_s = clock_wall() / SIM_SEC;
	a->n_answers = c->n_lists + c->n_same;
}

static int agent_write_metrics(struct xp_agent *a, struct sim_err *e)
{
	const sim_ns every = sim_ns_of(a->params.agent.upload_interval_s);
	char text[XP_AGENT_METRICS];
	struct sim_text t = {text, sizeof(text), 0};
	struct xp_agent_seen x = {.contacts = *xp_fetch_count(a->fetch),
	    .sockets = *fabric_real_count(a->fabric),
	    .memory_mib = a->params.memory_mib,
	    .start_s = a->start_s,
	    .list_s = a->list_s,
	    .at_s = clock_wall() / SIM_SEC};
	a->metrics_at = agent_daemon_now(a) +
	    (every < METRICS_EVERY ? every : METRICS_EVERY);
	if (!a->params.metrics)
		return 0;
	algo_pingmesh_agent_status(a->agents.state, &x.status);
	xp_daemon_cost(&x.cost);
	xp_agent_put_metrics(&t, &x);
	return res_file_write(a->params.metrics, text, t.n, e);
}

/* A file that cannot be written is no reason to stop probing; it is told of when
 * that begins. */
static void agent_tell_metrics(struct xp_agent *a)
{
	struct sim_err e;
	const int failed = agent_write_metrics(a, &e) < 0;
	if (failed && !a->metrics_failed)
		xp_daemon_log_say(&a->log, XP_DAEMON_WARNING, clock_wall(),
		    "%s", e.msg);
	a->metrics_failed = failed;
}

static void log_status(struct xp_agent *a)
{
	char text[XP_DAEMON_TEXT];
	const size_t n = write_status(a, text);
	xp_daemon_log_say(&a->log, XP_DAEMON_INFO, clock_wall(), "%.*s",
	    (int)n - 1, text);
}

/* --- the log -------------------------------------------------------------- */
/* A new list and the end of one are how it goes; all else has somebody look. */
static enum xp_daemon_level agent_level(enum algo_pingmesh_line line)
{
	return line == ALGO_PINGMESH_LIST || line == ALGO_PINGMESH_CLOSED
	    ? XP_DAEMON_INFO
	    : XP_DAEMON_WARNING;
}

/* The agent keeps its last lines in a ring and counts those that fell out of
 * it; what is new since the last look is written. It knows only the fabric's
 * clock, which is shifted to the wall clock here. */
static void log_lines(struct xp_agent *a)
{
	const uint64_t shift = clock_wall() - agent_daemon_now(a);
	struct algo_pingmesh_status s;
	uint64_t n_gone;
	algo_pingmesh_agent_status(a->agents.state, &s);
	const uint32_t n =
	    algo_pingmesh_agent_log(a->agents.state, a->lines, &n_gone);
	if (n_gone > a->n_logged) {
		xp_daemon_log_say(&a->log, XP_DAEMON_WARNING, clock_wall(),
		    "%" PRIu64 " lines are lost", n_gone - a->n_logged);
		a->n_logged = n_gone;
	}
	for (; a->n_logged < n_gone + n; a->n_logged++) {
		const struct algo_pingmesh_log *l =
		    &a->lines[a->n_logged - n_gone];
		const char *of = algo_pingmesh_line_of[l->line];
		char value[64] = "";
		if (of[0] != '\0')
			snprintf(value, sizeof(value), ", %s: %" PRIu64, of,
			    l->value);
		/* Of several between two looks, the last one's reason. */
		xp_daemon_log_say(&a->log, agent_level(l->line),
		    l->at_ns + shift, "%s%s%s%s", algo_pingmesh_lines[l->line],
		    value, l->line == ALGO_PINGMESH_BAD ? "; " : "",
		    l->line == ALGO_PINGMESH_BAD ? s.why : "");
	}
	const struct xp_fetch_counters *c = xp_fetch_count(a->fetch);
	const uint64_t n_blamed = c->n_unanswered + c->n_refused +
	    c->n_untaken + c->n_unfit + c->n_unkept;
	/* One line however many failed, with the reason of the last: a
	 * collector that is down must not fill the log. */
	if (n_blamed > a->n_blamed)
		xp_daemon_log_say(&a->log, XP_DAEMON_WARNING, clock_wall(),
		    "%s", xp_fetch_why(a->fetch));
	a->n_blamed = n_blamed;
}

/* A call that this program has no use for is a mistake of ours, a library's, or
 * somebody else's hand. */
static void agent_log_calls(struct xp_agent *a)
{
	const char *name;
	const uint64_t n = xp_seccomp_refused(&name);
	if (n > a->n_calls)
		xp_daemon_log_say(&a->log, XP_DAEMON_WARNING, clock_wall(),
		    "%" PRIu64 " system calls were refused, the last one %s",
		    n - a->n_calls, name);
	a->n_calls = n;
}

/* --- running -------------------------------------------------------------- */
int xp_agent_change(struct xp_agent *a, const struct xp_agent_params *p,
    struct sim_err *e)
{
	struct xp_agent_params *own = &a->params;
	const int rc =
	    xp_fetch_change(a->fetch, p->controllers, p->collector, e);
	if (rc < 0)
		return rc;
	own->controllers = p->controllers;
	own->collector = p->collector;
	own->metrics = p->metrics;
	/* The agent has these parameters, and reads this one at each list. */
	own->agent.allow = p->agent.allow;
	algo_pingmesh_agent_again(a->agents.state);
	return 0;
}

static void agent_read_again(struct xp_agent *a)
{
	char tell[600] = "";
	xp_notify_say(&a->notify, "RELOADING=1");
	const int rc = a->params.again(a->params.arg, a, tell, sizeof(tell));
	xp_daemon_log_say(&a->log,
	    rc < 0 || tell[0] != '\0' ? XP_DAEMON_WARNING : XP_DAEMON_INFO,
	    clock_wall(), "settings %s%s%s",
	    rc < 0 ? "stay as they were: " : "are read again",
	    rc == 0 && tell[0] != '\0' ? "; a restart takes: " : "", tell);
	xp_notify_say(&a->notify, "READY=1");
}

/* Take the signals that have come. Returns 1 if the daemon is to end; SIGUSR1
 * only has the status logged, and SIGHUP its settings read again. */
static int heed_signals(struct xp_agent *a)
{
	enum xp_daemon_signal signal;
	while ((signal = xp_daemon_take_signal(0)) > XP_DAEMON_END)
		if (signal == XP_DAEMON_STATUS)
			log_status(a);
		else if (a->params.again)
			agent_read_again(a);
	return signal == XP_DAEMON_END;
}

/* Reports of paths are 007's; one here is a mistake in the code, and better
 * found than dropped. */
static int no_report(void *arg, topo_host host, sim_ns at,
    const struct agent_report *report, struct sim_err *e)
{
	(void)arg;
	(void)host;
	(void)at;
	(void)report;
	return sim_fail(e, SIM_EUNSUPPORTED,
	    "Pingmesh's agent has no paths to report.");
}

/* Errors of the machine alone end the run; all that the network does is an
 * outcome that the agent knows. */
static int run_slice(struct xp_agent *a, sim_ns until, struct sim_err *e)
{
	const sim_ns end = agent_daemon_now(a) + SLICE;
	int rc = fabric_run(a->base, &a->agents, end < until ? end : until,
	    no_report, NULL, e);
	if (rc < 0)
		return rc;
	log_lines(a);
	agent_log_calls(a);
	xp_notify_alive(&a->notify, agent_daemon_now(a));
	if (agent_daemon_now(a) >= a->status_at)
		tell_status(a);
	agent_note_list(a);
	if (agent_daemon_now(a) >= a->metrics_at)
		agent_tell_metrics(a);
	return 0;
}

/* With `once`: whether the controller has answered, or is known not to. */
static int has_asked(const struct xp_agent *a)
{
	struct algo_pingmesh_status s;
	algo_pingmesh_agent_status(a->agents.state, &s);
	const struct algo_pingmesh_counters *c = &s.count;
	return c->n_lists + c->n_no_list + c->n_bad_list + c->n_contact_failed >
	    0;
}

/* Stop probing and hand over what is held, as long as grace_s allows. The agent
 * is told to end again in each slice: it has one upload at a time, so the next
 * batch can only go when the last one was answered. */
static int wind_down(struct xp_agent *a, struct sim_err *e)
{
	const sim_ns until =
	    agent_daemon_now(a) + (sim_ns)(a->params.grace_s * 1e9);
	struct algo_pingmesh_status s;
	int rc = 0;
	xp_notify_say(&a->notify, "STOPPING=1");
	for (;;) {
		algo_pingmesh_agent_end(a->agents.state);
		algo_pingmesh_agent_status(a->agents.state, &s);
		if (rc < 0 || agent_daemon_now(a) >= until ||
		    s.n_in_flight + s.n_held == 0 || !a->params.collector)
			break;
		rc = run_slice(a, until, e);
	}
	log_lines(a);
	xp_daemon_log_say(&a->log, XP_DAEMON_INFO, clock_wall(),
	    "ends: %" PRIu64 " probes, %" PRIu64
	    " uploaded, %u under way and %u held are lost",
	    s.count.n_probes, s.count.n_uploaded, s.n_in_flight, s.n_held);
	tell_status(a);
	agent_tell_metrics(a);
	return rc;
}

int xp_agent_run(struct xp_agent *a, struct sim_err *e)
{
	const struct xp_agent_params *p = &a->params;
	const sim_ns until = p->for_s > 0
	    ? agent_daemon_now(a) + (sim_ns)(p->for_s * 1e9)
	    : SIM_NEVER;
	struct algo_pingmesh_status s;
	int rc = 0;
	xp_notify_say(&a->notify, "READY=1");
	while (rc == 0 && !heed_signals(a) && agent_daemon_now(a) < until &&
	    !(p->once && has_asked(a)))
		rc = run_slice(a, until, e);
	algo_pingmesh_agent_status(a->agents.state, &s);
	/* Asked before winding down, which drops the list. */
	const int has_list = s.n_entries > 0;
	if (rc < 0) {
		xp_daemon_log_say(&a->log, XP_DAEMON_ERR, clock_wall(),
		    "fails: %s", e ? e->msg : "");
		return rc;
	}
	if ((rc = wind_down(a, e)) < 0)
		return rc;
	return p->once ? has_list : 0;
}

/* --- opening -------------------------------------------------------------- */
static int open_agent(struct xp_agent *a, struct sim_err *e)
{
	const struct xp_agent_params *p = &a->params;
	struct sim_seed where = {0};
	/* A random seed and not a chosen one: agents that start at the same
	 * time, all of a rack after power is back, say, are not to probe and
	 * upload at the same moments. */
	if (getrandom(&where.seed, sizeof(where.seed), 0) != sizeof(where.seed))
		return sim_fail(e, SIM_EIO, "there are no random bytes.");
	int rc = fabric_agents_open(&a->agents, &algo_pingmesh_agent, &p->agent,
	    1, e);
	if (rc < 0)
		return rc;
	fabric_agents_renew(&a->agents, &where);
	/* The agent is made here and not at its first event, so that its status
	 * can be asked for before. */
	return algo_pingmesh_agent.init(a->agents.state, 0, &p->agent, e);
}

/* Its own address is the first in the book: no list may take that place. */
static int agent_open_book(struct xp_agent *a, struct sim_err *e)
{
	struct xp_agent_params *p = &a->params;
	const int is_4 = topo_ip_is_4(&p->address);
	const int rc =
	    is_4 ? 0 : topo_ip_book_open(&a->book, ALGO_PINGMESH_BOOK, e);
	if (rc < 0)
		return rc;
	p->agent.address = topo_ip_book_note(&a->book, &p->address);
	p->agent.book = is_4 ? NULL : &a->book;
	p->fabric.book = p->agent.book;
	return 0;
}

static int agent_daemon_open_all(struct xp_agent *a, struct sim_err *e)
{
	const struct xp_agent_params *p = &a->params;
	struct fabric_real_host self = {.ns = -1};
	const struct xp_fetch_params fetch = {.controllers = p->controllers,
	    .collector = p->collector,
	    .address = p->address,
	    .book = &a->book,
	    .fetch_s = p->agent.fetch_timeout_s,
	    .upload_s = p->agent.upload_timeout_s,
	    /* Room for the largest list that the agent would take, and its
	     * frame. */
	    .identity = p->identity,
	    .signed_by = p->signed_by,
	    .newest = p->newest,
	    .max_bytes = 4096 +
		(size_t)p->agent.max_entries * ALGO_PINGMESH_ENTRY_BYTES};
	struct sim_err none;
	int rc;
	if ((rc = agent_open_book(a, e)) < 0)
		return rc;
	self.address = p->agent.address;
	xp_daemon_block_signals();
	if (p->again)
		xp_daemon_block_hangup();
	xp_notify_open(&a->notify);
	/* The memory limit holds before anything is allocated, so that a limit
	 * which is too small shows at the start and not in some night. */
	if ((rc = xp_daemon_limit(p->memory_mib, e)) < 0 ||
	    (rc = xp_fetch_open(&a->fetch, &fetch, e)) < 0 ||
	    (rc = fabric_real_open(&a->fabric, &self, 1, &p->fabric, e)) < 0 ||
	    (rc = xp_daemon_log_open(&a->log, p->log, e)) < 0)
		return rc;
	a->base = fabric_real_fabric(a->fabric);
	/* Opened like the log while this process may still write where its user
	 * may not. */
	if (p->status && (rc = xp_daemon_file(&a->status_fd, p->status, e)) < 0)
		return rc;
	/* Rights go as soon as sockets and files are open, and before the first
	 * byte of anybody else is read. */
	if ((rc = xp_daemon_drop(p->user, e)) < 0)
		return rc;
	/* It is one wall of several: where there is none, that is told. */
	if (xp_seccomp_begin(XP_SECCOMP_NETWORK, &none) < 0)
		xp_daemon_log_say(&a->log, XP_DAEMON_WARNING, clock_wall(),
		    "%s", none.msg);
	/* Its certificate is read by whoever it has become, who is to read the
	 * next ones, too. */
	if ((rc = xp_fetch_serve(a->fetch, a->fabric, e)) < 0)
		return sim_wrap(e, rc, "by the user that it becomes (--user)");
	if ((rc = open_agent(a, e)) < 0)
		return rc;
	/* Written for the first time now, by whoever it has become, so that a
	 * folder that is not its own shows at the start. */
	a->start_s = clock_wall() / SIM_SEC;
	if ((rc = agent_write_metrics(a, e)) < 0)
		return sim_wrap(e, rc, "by the user that it becomes (--user)");
	return 0;
}

int xp_agent_open(struct xp_agent **out, const struct xp_agent_params *p,
    struct sim_err *e)
{
	struct xp_agent *a = NULL;
	*out = NULL;
	int rc = SIM_ZALLOC(&a, 1, e);
	if (rc < 0)
		return rc;
	a->params = *p;
	a->status_fd = a->log.fd = a->log.old_fd = a->notify.fd = -1;
	topo_ip_format(&p->address, a->self);
	if ((rc = agent_daemon_open_all(a, e)) < 0)
		xp_agent_close(a);
	else
		*out = a;
	return rc;
}

void xp_agent_close(struct xp_agent *a)
{
	if (!a)
		return;
	/* The fabric first: it gives back documents that the contacts have lent
	 * to it. */
	fabric_real_close(a->fabric);
	fabric_agents_close(&a->agents);
	xp_fetch_close(a->fetch);
	xp_daemon_log_close(&a->log);
	xp_notify_close(&a->notify);
	topo_ip_book_close(&a->book);
	if (a->status_fd >= 0)
		close(a->status_fd);
	free(a);
}
