/* experiments/live/serve_metrics.c -- /metrics of a controller or a collector.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>

#include "experiments/live/expose.h"
#include "experiments/live/serve.h"

/* Each request is just one of these, so the family sums up to all of them. */
static void metrics_put_answers(struct sim_text *t, const uint64_t count[])
{
	static const char name[] = "culprit_http_requests_total";
	static const char *const outcome[] = {
#define X(name, doc) #name,
	    XP_HTTP_COUNTERS(X)
#undef X
	};
	xp_expose_family(t, XP_EXPOSE_COUNTER, name,
	    "requests, by what became of them");
	for (int i = 0; i <= XP_HTTP_N_ANSWERS; i++)
		xp_expose_count(t, name, "outcome", outcome[i], count[i]);
}

static void metrics_put_others(struct sim_text *t, const uint64_t count[])
{
#define X(name, doc)                                                           \
	if (XP_HTTP_##name > XP_HTTP_malformed)                                \
		xp_expose_total(t, "culprit_http_" #name "_total", doc,        \
		    count[XP_HTTP_##name]);
	XP_HTTP_COUNTERS(X)
#undef X
}

/* 0 is "never", for which a reader of times is to have no number. */
static double metrics_time(uint64_t s)
{
	return s > 0 ? (double)s : NAN;
}

static void metrics_put_controller(struct sim_text *t,
    const struct xp_http_site *site)
{
	xp_expose_gauge(t, "culprit_controller_servers",
	    "servers that have a list", site->plan->n_servers);
	xp_expose_gauge(t, "culprit_controller_stopped",
	    "1 while the stop file has all agents stopped", site->stopped != 0);
	/* A label of it would be another series for each plan that ever was. */
	xp_expose_gauge(t, "culprit_controller_list_version",
	    "first 52 bits of the lists' version, to compare",
	    (double)(site->plan->version >> 12));
	xp_expose_gauge(t, "culprit_controller_last_list_seconds",
	    "when an agent last got or kept its list, seconds since 1970",
	    metrics_time(site->last_s));
}

static void metrics_put_collector(struct sim_text *t,
    const struct xp_http_site *site)
{
	const struct xp_batch_held *h = &site->held;
	xp_expose_gauge(t, "culprit_collector_store_bytes",
	    "bytes of the files of batches", (double)h->n_bytes);
	xp_expose_gauge(t, "culprit_collector_store_limit_bytes",
	    "bytes that they may have", (double)h->n_bytes_most);
	xp_expose_gauge(t, "culprit_collector_store_files", "files of batches",
	    (double)h->n_files);
	xp_expose_gauge(t, "culprit_collector_store_damaged_bytes",
	    "bytes that were found damaged at the start, and are not read",
	    (double)h->n_bytes_damaged);
	xp_expose_total(t, "culprit_collector_store_files_gone_total",
	    "files that were removed by age or for room", h->n_gone);
	xp_expose_gauge(t, "culprit_collector_last_batch_seconds",
	    "when a batch was last stored, seconds since 1970",
	    metrics_time(site->last_s));
}

void xp_http_put_metrics(struct sim_text *t, const struct xp_http_site *site)
{
	metrics_put_answers(t, site->count);
	metrics_put_others(t, site->count);
	xp_expose_gauge(t, "culprit_http_open_connections",
	    "connections that are open", (double)site->n_open);
	if (site->plan)
		metrics_put_controller(t, site);
	else
		metrics_put_collector(t, site);
	xp_expose_process(t, "process", &site->cost, (double)site->start_s);
}
