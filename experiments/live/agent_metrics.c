/* experiments/live/agent_metrics.c -- what a live agent tells Prometheus.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/agent_metrics.h"

#include <math.h>

#include "experiments/live/expose.h"

/* Counters come from the lists that declare them, as in the status, less the n_
 * that their names begin with. */
static void agent_put_counter(struct sim_text *t, const char *of,
    const char *name, const char *doc, uint64_t x)
{
	char full[XP_EXPOSE_NAME];
	snprintf(full, sizeof(full), "culprit_agent_%s%s_total", of, name + 2);
	xp_expose_total(t, full, doc, x);
}

static void agent_put_counters(struct sim_text *t,
    const struct xp_agent_seen *x)
{
#define X(name, doc) agent_put_counter(t, "", #name, doc, x->status.count.name);
	ALGO_PINGMESH_COUNTERS(X)
#undef X
#define X(name, doc)                                                           \
	agent_put_counter(t, "contact_", #name, doc, x->contacts.name);
	XP_FETCH_COUNTERS(X)
#undef X
#define X(name, doc)                                                           \
	agent_put_counter(t, "socket_", #name, doc, x->sockets.name);
	FABRIC_REAL_COUNTERS(X)
#undef X
}

static void agent_put_http(struct sim_text *t,
    const struct algo_pingmesh_window *w)
{
	const double ok = (double)w->n_http_ok;
	const double failed = (double)(w->n_http_other + w->n_http_malformed +
	    w->n_http_cut + w->n_http_late);
	xp_expose_gauge(t, "culprit_agent_window_http_failed_ratio",
	    "GETs of it that had no status 200, of all",
	    ok + failed > 0 ? failed / (ok + failed) : NAN);
	xp_expose_gauge(t, "culprit_agent_window_http_p50_seconds",
	    "median time of it from GET to status 200",
	    ok > 0 ? 1e-9 * (double)w->http_p50_ns : NAN);
	xp_expose_gauge(t, "culprit_agent_window_http_p99_seconds",
	    "99th percentile of it",
	    ok > 0 ? 1e-9 * (double)w->http_p99_ns : NAN);
}

/* The window that is over last; without probes its quantiles are not 0 but
 * unknown, and without connects so is the drop rate. */
static void agent_put_window(struct sim_text *t,
    const struct algo_pingmesh_window *w)
{
	const double stood = (double)w->n_connected;
	const double p50 = stood > 0 ? 1e-9 * (double)w->p50_ns : NAN;
	const double p99 = stood > 0 ? 1e-9 * (double)w->p99_ns : NAN;
	xp_expose_gauge(t, "culprit_agent_window_probes",
	    "probes of the last window", (double)w->n_probes);
	xp_expose_gauge(t, "culprit_agent_window_drop_ratio",
	    "connects of it after one lost SYN or two, of those that stood",
	    stood > 0 ? (double)(w->n_drop_1 + w->n_drop_2) / stood : NAN);
	xp_expose_gauge(t, "culprit_agent_window_p50_seconds",
	    "median connect time of it", p50);
	xp_expose_gauge(t, "culprit_agent_window_p99_seconds",
	    "99th percentile of it", p99);
	agent_put_http(t, w);
}

void xp_agent_put_metrics(struct sim_text *t, const struct xp_agent_seen *x)
{
	const struct algo_pingmesh_status *s = &x->status;
	agent_put_counters(t, x);
	agent_put_window(t, &s->window);
	xp_expose_gauge(t, "culprit_agent_peers",
	    "entries of the list that is probed; 0: nobody is", s->n_entries);
	xp_expose_gauge(t, "culprit_agent_in_flight_probes", "probes under way",
	    s->n_in_flight);
	xp_expose_gauge(t, "culprit_agent_waiting_records",
	    "records that wait for the collector", s->n_held);
	xp_expose_gauge(t, "culprit_agent_contacts_failed_in_a_row",
	    "contacts with the controller that failed since the last good one",
	    s->n_contacts_failed);
	xp_expose_gauge(t, "culprit_agent_list_version",
	    "first 52 bits of its list's version, to compare; 0: none",
	    (double)(s->version >> 12));
	xp_expose_gauge(t, "culprit_agent_last_list_seconds",
	    "when a controller last gave or kept its list, since 1970",
	    x->list_s > 0 ? (double)x->list_s : NAN);
	xp_expose_gauge(t, "culprit_agent_memory_limit_bytes",
	    "private memory that it may take; NaN: it set itself no limit",
	    x->memory_mib > 0 ? (double)x->memory_mib * 1048576 : NAN);
	xp_expose_gauge(t, "culprit_agent_written_seconds",
	    "when this was written, since 1970", (double)x->at_s);
	xp_expose_process(t, "culprit_agent", &x->cost, (double)x->start_s);
}
