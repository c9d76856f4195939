/* experiments/everflow/tracing.c -- whose packets are traced, if it is asked for.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/everflow/tracing.h"

#include <math.h>
#include <stdlib.h>

#include "models/bulk/bulk.h"
#include "sim/vec.h"

#define FIELD(m) offsetof(struct xp_tracing_params, m)
const struct sim_field xp_tracing_fields[] = {
    {"share", SIM_F_F64, FIELD(share), .min = 0, .max = 1, .unit = "1",
	.def = "0", .doc = "of servers whose connections are to be traced"},
    {"requests", SIM_F_U32, FIELD(requests), .min = 1,
	.max = ALGO_CONTROL_SESSIONS - 1, .unit = "requests", .def = "16",
	.doc = "in which that is asked for", .when = "share!=0"},
    {"admit", SIM_F_BOOL, FIELD(admit), .def = "true",
	.doc = "refuse what does not fit; else all is marked",
	.when = "share!=0"},
    {0},
};
#undef FIELD

const char *const xp_tracing_capacities[] = {"link_bps", "link_most",
    "reshuffler_bps", "analyzer_pps", "hops", "switch_share", "link_share",
    NULL};

struct tracing_rate {
	double packets, bytes;
};

/* What is at hand while it is asked. */
struct tracing {
	const struct xp_tracing_params *params;
	struct algo_control *control;
	struct tracing_rate *rate; /* [n_hosts] of an epoch */
	topo_host *server;         /* [n_hosts] those asked for come first */
	uint32_t n_servers;
	struct algo_counters rows;
	struct algo_control_out out;
};

static void tracing_close(struct tracing *t)
{
	algo_control_close(t->control);
	algo_control_out_free(&t->out);
	algo_counters_free(&t->rows);
	free(t->rate);
	free(t->server);
}

static int tracing_count(struct tracing *t, const struct scene *scene,
    const struct packet_conn_params *conn, struct sim_err *e)
{
	topo_link path[TOPO_MAX_HOPS];
	struct obs_flow f;
	int rc = SIM_ZALLOC(&t->rate, scene->topo->n_hosts, e);
	for (uint64_t i = 0; rc == 0 && i < scene->traffic.n_flows; i++) {
		bulk_flow(scene, i, &f, path);
		const struct packet_conn_size s =
		    packet_conn_whole(conn, f.n_pkts);
		t->rate[f.src_host].packets += (double)s.packets;
		t->rate[f.src_host].bytes += (double)s.bytes;
	}
	return rc;
}

/* The first of a random order, so a greater share asks for more of the same. */
static int tracing_choose(struct tracing *t, const struct scene *scene,
    struct sim_err *e)
{
	const uint32_t n = scene->topo->n_hosts;
	struct sim_rng rng;
	const int rc = SIM_ZALLOC(&t->server, n, e);
	if (rc < 0)
		return rc;
	sim_rng_init(&rng, &scene->where, SIM_STREAM_CONTROL, 0);
	for (topo_host h = 0; h < n; h++) {
		const uint32_t k = sim_rng_below(&rng, h + 1);
		t->server[h] = t->server[k];
		t->server[k] = h;
	}
	t->n_servers = (uint32_t)lround(t->params->share * n);
	return 0;
}

/* Counters of the links from hosts, of all packets. */
static int tracing_tell(struct tracing *t, const struct scene *scene,
    struct sim_err *e)
{
	const struct algo_control_params p = {.sample_n = 1,
	    .life_s = 604800,
	    .excess = 1000};
	const sim_ns span = scene->traffic.epoch_ns;
	int rc = algo_control_open(&t->control, scene->topo, &p,
	    &t->params->capacity, e);
	for (topo_host h = 0; rc == 0 && h < scene->topo->n_hosts; h++) {
		struct algo_counter row = {.t_ns = span,
		    .id = 2 * h + TOPO_UP,
		    .kind = ALGO_COUNTER_LINK_PACKETS,
		    .value = t->rate[h].packets};
		if ((rc = algo_counters_add(&t->rows, &row, e)) < 0)
			break;
		row.kind = ALGO_COUNTER_LINK_BYTES;
		row.value = t->rate[h].bytes;
		rc = algo_counters_add(&t->rows, &row, e);
	}
	return rc < 0 ? rc
		      : algo_control_counters(t->control, span, span, &t->rows,
			    &t->out, e);
}

/* Returns 1 if the servers FROM .. TO - 1 are to be marked, 0 if not. */
static int tracing_ask(struct tracing *t, sim_ns now, uint32_t from,
    uint32_t to, struct sim_err *e)
{
	const struct algo_request r = {.kind = ALGO_ENABLE_DEBUG,
	    .server = t->server + from,
	    .n_servers = to - from};
	if (!t->params->admit)
		return 1;
	t->out.n = 0;
	const int rc = algo_control_ask(t->control, now, &r, &t->out, e);
	return rc < 0 ? rc : t->out.action[0].kind == ALGO_MARK;
}

static int tracing_ask_all(struct xp_tracing *x, struct tracing *t,
    const struct scene *scene, struct sim_err *e)
{
	const double epoch_s = (double)scene->traffic.epoch_ns / 1e9;
	const uint64_t n = t->n_servers, parts = t->params->requests;
	for (uint64_t k = 0; k < parts; k++) {
		const uint32_t from = (uint32_t)(n * k / parts),
			       to = (uint32_t)(n * (k + 1) / parts);
		if (from == to)
			continue;
		const int fits =
		    tracing_ask(t, scene->traffic.epoch_ns, from, to, e);
		if (fits < 0)
			return fits;
		x->n_requests++;
		x->n_refused += !fits;
		for (uint32_t i = from; i < to; i++) {
			const topo_host h = t->server[i];
			x->marks[h] = (uint8_t)fits;
			x->asked_pps += t->rate[h].packets / epoch_s;
			x->admitted_pps += fits * t->rate[h].packets / epoch_s;
		}
	}
	x->used = algo_control_used(t->control);
	x->capacity = algo_admission_capacity(&t->params->capacity);
	return 0;
}

int xp_tracing_begin(struct xp_tracing *x, const struct scene *scene,
    const struct xp_tracing_params *p, const struct packet_conn_params *conn,
    struct sim_err *e)
{
	struct tracing t = {.params = p};
	int rc;
	xp_tracing_free(x);
	if (p->share <= 0)
		return 0;
	if ((rc = SIM_ZALLOC(&x->marks, scene->topo->n_hosts, e)) == 0 &&
	    (rc = tracing_count(&t, scene, conn, e)) == 0 &&
	    (rc = tracing_choose(&t, scene, e)) == 0 &&
	    (rc = tracing_tell(&t, scene, e)) == 0)
		rc = tracing_ask_all(x, &t, scene, e);
	tracing_close(&t);
	return rc;
}

void xp_tracing_free(struct xp_tracing *x)
{
	free(x->marks);
	*x = (struct xp_tracing){0};
}
