/* algos/pingmesh/perf.c -- an agent's performance counters, window by window.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/pingmesh/perf.h"

#include <math.h>
#include <string.h>

/* The agent's counters need P50 and P99 in fixed memory. The end of the
 * bucket that holds the rank errs upwards, so an alert comes early rather
 * than late. */
sim_ns algo_pingmesh_hist_quantile(const struct algo_pingmesh_hist *h, double q)
{
	const double rank = ceil(q * (double)h->n);
	uint64_t seen = 0;
	for (uint32_t i = 0; i < ALGO_PINGMESH_BUCKETS; i++) {
		seen += h->count[i];
		if (seen > 0 && (double)seen >= rank)
			return algo_pingmesh_bucket_end(i);
	}
	return 0;
}

void algo_pingmesh_perf_init(struct algo_pingmesh_perf *p, sim_ns length,
    uint32_t self)
{
	p->end = p->length = length;
	p->window.src_ip = self;
}

void algo_pingmesh_perf_begin(struct algo_pingmesh_perf *p, sim_ns clock)
{
	p->clock = p->window.born_ns = clock;
}

static void perf_put_http(struct algo_pingmesh_perf *p,
    const struct algo_pingmesh_counters *count)
{
	struct algo_pingmesh_window *w = &p->window;
	const struct algo_pingmesh_counters *from = &p->from;
	w->has_http = 1;
	w->n_http_ok = count->n_http_ok - from->n_http_ok;
	w->n_http_other = count->n_http_other - from->n_http_other;
	w->n_http_malformed = count->n_http_malformed - from->n_http_malformed;
	w->n_http_cut = count->n_http_cut - from->n_http_cut;
	w->n_http_late = count->n_http_late - from->n_http_late;
	w->http_p50_ns = algo_pingmesh_hist_quantile(&p->http, 0.5);
	w->http_p99_ns = algo_pingmesh_hist_quantile(&p->http, 0.99);
}

void algo_pingmesh_perf_due(struct algo_pingmesh_perf *p, sim_ns now,
    sim_ns clock, const struct algo_pingmesh_counters *count,
    uint64_t list_version, struct agent_out *out)
{
	struct algo_pingmesh_window *w = &p->window;
	if (now < p->end)
		return;
	const sim_ns late = now - p->end;
	w->number++;
	w->start_ns = p->clock;
	w->end_ns = p->clock + p->length;
	w->n_probes = count->n_probes - p->from.n_probes;
	w->n_connected = count->n_connected - p->from.n_connected;
	w->n_unconnected = count->n_unconnected - p->from.n_unconnected;
	w->n_drop_1 = count->n_drop_1 - p->from.n_drop_1;
	w->n_drop_2 = count->n_drop_2 - p->from.n_drop_2;
	w->p50_ns = algo_pingmesh_hist_quantile(&p->hist, 0.5);
	w->p99_ns = algo_pingmesh_hist_quantile(&p->hist, 0.99);
	perf_put_http(p, count);
	w->list_version = list_version;
	p->from = *count;
	p->clock = clock > late ? clock - late : 0;
	p->end += p->length;
	memset(&p->hist, 0, sizeof(p->hist));
	if (p->http.n > 0)
		memset(&p->http, 0, sizeof(p->http));
	struct agent_action *a = agent_act(out, AGENT_COUNTERS);
	a->data = w;
	a->n_bytes = sizeof(*w);
}
