/* experiments/everflow/world.c -- Everflow at work on a network, simulated.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/everflow/world.h"

#include <stdlib.h>
#include <string.h>

#include "algos/everflow/guided.h"
#include "experiments/everflow/probers.h"
#include "experiments/everflow/truth.h"
#include "sim/vec.h"
#include "topo/addr.h"

/* Time goes on in such steps. A copy is analyzed up to one step late. */
#define STEP (100 * SIM_MS)

/* Where a packet was seen, to know whether it came twice. */
enum { MAX_VISITS = 256 };
struct visit {
	topo_switch at;
	uint8_t layer;
};

struct xp_everworld {
	const struct topo *topo;
	const struct xp_everflow *params;
	struct algo_mirror_table table;
	struct packet_sample sample;
	struct xp_probers *probers;
	struct xp_probers_wire wire;

	/* Of this run. */
	const struct scene *scene;
	struct packet_net net;
	struct packet_mux mux;
	uint32_t *vip; /* [slb.vips] */
	struct packet_clock clock;
	double *noise;    /* [n_links] */
	size_t *fault_at; /* [n_links] */
	struct xp_tracing tracing;
	struct mirror *mirror;
	struct packet_eye behind, eye; /* the mirror's; ours before it */
	struct visit visit[MAX_VISITS];
	unsigned n_visits;
	int looped;
	struct sim_rng probe_rng;
	struct xp_fates fates;
	struct obs window;
	struct losses lost;
	struct obs_mirror copies; /* all, in order of arrival */
	size_t n_fed;
	struct xp_desk *desk;
	struct obs_guided sent;
	uint64_t *guided_bytes; /* [n_hosts] */
	uint64_t carried_bytes; /* of guided probes, by switches */
	int is_probe;           /* that walks */
	struct xp_grades grades;
	double traffic_bytes;
};

/* --- packets -------------------------------------------------------------- */

/* A packet that comes to a switch again with as many headers around it goes in
 * circles. One that was led there and comes back has fewer. */
static int world_see(void *arg, topo_switch at, topo_link in, sim_ns t,
    const struct obs_packet *p, struct sim_err *e)
{
	struct xp_everworld *w = arg;
	for (unsigned i = 0; i < w->n_visits && !w->looped; i++)
		w->looped =
		    w->visit[i].at == at && w->visit[i].layer == p->n_outer;
	if (w->n_visits < MAX_VISITS)
		w->visit[w->n_visits++] = (struct visit){at, p->n_outer};
	w->carried_bytes += w->is_probe ? p->n_bytes : 0;
	return w->behind.see(w->behind.arg, at, in, t, p, e);
}

/* A packet has come to its end. */
static int world_ended(void *arg, const struct obs_packet *p, sim_ns sent,
    const struct packet_end *end, struct sim_err *e)
{
	struct xp_everworld *w = arg;
	const int lost = end->fate != SCENE_WALK_DELIVERED && !w->looped;
	const int looped = w->looped;
	w->n_visits = 0;
	w->looped = 0;
	return xp_fates_add(&w->fates, p, sent, lost, looped, e);
}

/* --- connections ---------------------------------------------------------- */

/* A flow that sent again is a row of the window, as host agents would report it
 * (plane agents). */
static int world_add_flow(struct xp_everworld *w,
    const struct packet_conn_end *end, struct sim_err *e)
{
	int rc;
	if (end->flow.n_retx == 0)
		return 0;
	if ((rc = losses_add_hops(&w->lost, end->drops, end->buffer,
		 end->n_hops, e)) < 0 ||
	    (rc = losses_add_early(&w->lost, end->n_early, e)) < 0)
		return rc;
	return obs_add_flow(&w->window, &end->flow, end->path, end->n_hops, e);
}

static int world_connect(struct xp_everworld *w,
    const struct packet_conn_to *to, struct sim_err *e)
{
	const struct scene_traffic *tr = &w->scene->traffic;
	struct packet_conn_end end;
	int rc = 0;
	for (uint64_t i = 0; rc == 0 && i < tr->n_flows; i++) {
		rc = packet_conn_run(&w->net, &w->params->conn, &w->sample,
		    w->vip, w->params->slb.vips, i, tr->epoch_ns, to, &end, e);
		if (rc < 0)
			break;
		w->window.n_flows += end.flow.n_pkts > 0;
		w->window.n_packets += end.flow.n_pkts;
		if (end.n_hops > 0)
			w->traffic_bytes +=
			    (double)end.n_bytes * (end.n_hops - 1);
		rc = world_add_flow(w, &end, e);
	}
	return rc;
}

/* --- guided probes -------------------------------------------------------- */

static int world_probe(void *arg, topo_host host, sim_ns sent, const void *data,
    size_t n, struct sim_err *e)
{
	struct xp_everworld *w = arg;
	struct obs_guided_probe row;
	struct packet_end end;
	struct obs_packet p;
	struct algo_guided g;
	int rc = algo_guided_read(data, n, w->topo->n_switches, &g, e);
	if (rc < 0)
		return rc;
	algo_guided_packet(&g, &p);
	row = algo_guided_row(&g, host, sent);
	w->guided_bytes[host] += p.n_bytes;
	w->is_probe = 1;
	if ((rc = obs_guided_add(&w->sent, &row, e)) < 0 ||
	    (rc = packet_walk(&w->net, &p, host, sent, &w->probe_rng, &w->eye,
		 &end, e)) < 0)
		return rc;
	w->n_visits = 0;
	w->looped = 0;
	w->is_probe = 0;
	return 0;
}

/* --- the desk ------------------------------------------------------------- */

/* How a trace's marks are true; of guided probes nothing is claimed. */
static void world_grade(void *arg, const struct algo_trace *t)
{
	struct xp_everworld *w = arg;
	const struct xp_fate *fate = xp_fates_of(&w->fates, t);
	struct xp_grades *g = &w->grades;
	const int lost = fate && fate->lost, looped = fate && fate->looped;
	g->n_whole += (t->marks & ALGO_TRACE_COMPLETE) != 0;
	if (t->marks & ALGO_TRACE_PROBE)
		return;
	if (t->marks & ALGO_TRACE_LOOP) {
		g->n_loops++;
		g->n_loops_right += looped;
	}
	if (t->marks & (ALGO_TRACE_DROPS | ALGO_TRACE_REFUTED)) {
		g->n_suspect++;
		g->n_suspect_right += lost;
	}
	if (t->marks & ALGO_TRACE_CONFIRMED) {
		g->n_confirmed++;
		g->n_confirmed_right += lost;
	}
	if (t->marks & ALGO_TRACE_REFUTED) {
		g->n_refuted++;
		g->n_refuted_right += !lost;
	}
}

static int world_order(void *arg, const struct algo_probe_order order[],
    size_t n, struct sim_err *e)
{
	struct xp_everworld *w = arg;
	return xp_probers_order(w->probers, order, n, e);
}

static int world_open_desk(struct xp_everworld *w, struct sim_err *e)
{
	const struct algo_routing routing = {.topo = w->topo,
	    .ecmp_seed = w->scene->ecmp_seed,
	    .knows_hash = (uint8_t)w->params->knows_hash};
	const struct xp_desk_owner owner = {.arg = w,
	    .keeps = XP_DESK_LAST,
	    .stored = world_grade,
	    .order = world_order};
	return xp_desk_open(&w->desk, &routing, w->params, &owner, e);
}

/* Copies that have arrived are analyzed, and what is over is ended. */
static int world_analyze(struct xp_everworld *w, sim_ns now, struct sim_err *e)
{
	int rc = mirror_take(w->mirror, now, &w->copies, e);
	if (rc == 0)
		rc = xp_desk_feed(w->desk, &w->copies, NULL, w->n_fed,
		    w->copies.n, now, e);
	w->n_fed = w->copies.n;
	return rc;
}

/* --- open ----------------------------------------------------------------- */

/* Which packets the rule `sample` may take. By chance, or one in one, any. */
static struct packet_sample world_sample(const struct algo_mirror_params *p)
{
	const uint16_t mask = (uint16_t)(p->sample_n - 1);
	if (!(p->rules >> OBS_COPY_SAMPLE & 1))
		return (struct packet_sample){0, 0};
	if (p->sample == ALGO_SAMPLE_RANDOM || p->sample_n == 1)
		return (struct packet_sample){0, 1};
	return (struct packet_sample){mask, (uint16_t)(p->pattern & mask)};
}

int xp_everworld_open(struct xp_everworld **out, const struct topo *t,
    const struct xp_everflow *p, struct sim_err *e)
{
	struct xp_everworld *w;
	*out = NULL;
	int rc = SIM_ZALLOC(&w, 1, e);
	if (rc < 0)
		return rc;
	w->topo = t;
	w->params = p;
	w->wire = (struct xp_probers_wire){w, world_probe};
	w->sample = world_sample(&p->rules);
	if ((rc = algo_mirror_table(&w->table, &p->rules, e)) < 0 ||
	    (rc = SIM_ZALLOC(&w->vip, p->slb.vips, e)) < 0 ||
	    (rc = SIM_ZALLOC(&w->noise, t->n_links, e)) < 0 ||
	    (rc = SIM_ZALLOC(&w->fault_at, t->n_links, e)) < 0 ||
	    (rc = SIM_ZALLOC(&w->guided_bytes, t->n_hosts, e)) < 0 ||
	    (rc = xp_probers_open(&w->probers, t->n_hosts, &p->prober, &w->wire,
		 e)) < 0) {
		xp_everworld_close(w);
		return rc;
	}
	for (uint32_t v = 0; v < p->slb.vips; v++)
		w->vip[v] = topo_addr_of_vip(v);
	*out = w;
	return 0;
}

void xp_everworld_close(struct xp_everworld *w)
{
	if (!w)
		return;
	xp_desk_close(w->desk);
	mirror_free(w->mirror);
	xp_probers_close(w->probers);
	xp_tracing_free(&w->tracing);
	xp_fates_free(&w->fates);
	obs_free(&w->window);
	losses_free(&w->lost);
	obs_mirror_free(&w->copies);
	obs_guided_free(&w->sent);
	free(w->vip);
	free(w->noise);
	free(w->fault_at);
	free(w->guided_bytes);
	free(w);
}

/* --- a run ---------------------------------------------------------------- */

static void world_clear(struct xp_everworld *w)
{
	xp_desk_close(w->desk);
	w->desk = NULL;
	xp_fates_clear(&w->fates);
	obs_clear(&w->window);
	losses_clear(&w->lost);
	obs_mirror_clear(&w->copies);
	obs_guided_clear(&w->sent);
	w->carried_bytes = 0;
	w->is_probe = 0;
	memset(w->guided_bytes, 0,
	    w->topo->n_hosts * sizeof(w->guided_bytes[0]));
	w->n_fed = 0;
	w->n_visits = 0;
	w->looped = 0;
	w->grades = (struct xp_grades){0};
	w->traffic_bytes = 0;
}

static int world_begin(struct xp_everworld *w, const struct scene *scene,
    struct sim_err *e)
{
	const struct mirror_clock clock = {&w->clock, packet_clock_read};
	const struct xp_everflow *p = w->params;
	int rc;
	world_clear(w);
	w->scene = scene;
	w->lost.has_buffer =
	    (uint8_t)scene_congestion_is_on(&scene->congestion);
	for (topo_link l = 0; l < w->topo->n_links; l++)
		w->noise[l] =
		    scene_hazard(scene_noise_rate(&scene->loss.noise, l));
	w->net = (struct packet_net){
	    .walk = {.topo = w->topo,
		.scene = scene,
		.noise = w->noise,
		.fault_at = w->fault_at},
	    .mux = p->slb.vips > 0 ? &w->mux : NULL,
	    .hop_us = p->hop_us,
	    .queue_us = p->queue_us,
	};
	if ((rc = packet_mux_init(&w->mux, w->topo, &p->slb, &scene->where,
		 e)) < 0)
		return rc;
	packet_clock_init(&w->clock, &p->clock, &scene->where);
	sim_rng_init(&w->probe_rng, &scene->where, SIM_STREAM_PROBE, 0);
	mirror_free(w->mirror);
	w->mirror = NULL;
	if ((rc = world_open_desk(w, e)) < 0 ||
	    (rc = xp_tracing_begin(&w->tracing, scene, &p->trace, &p->conn,
		 e)) < 0 ||
	    (rc = xp_probers_begin(w->probers, &scene->where, e)) < 0 ||
	    (rc = mirror_open(&w->mirror, w->topo->n_switches, &p->mirror,
		 w->table.row, w->table.n, &clock, &scene->where, e)) < 0)
		return rc;
	w->behind = mirror_eye(w->mirror);
	w->eye = (struct packet_eye){w, world_see};
	const struct packet_conn_to to = {.arg = w,
	    .eye = &w->eye,
	    .marks = w->tracing.marks,
	    .ended = world_ended};
	if ((rc = world_connect(w, &to, e)) < 0)
		return rc;
	return xp_lossless_run(&p->lossless, &w->net, &w->sample,
	    scene->traffic.epoch_ns, &to, &w->behind, &w->traffic_bytes, e);
}

static void world_tell(struct xp_everworld *w, struct xp_everflow_seen *seen)
{
	w->window.mirror = &w->copies;
	w->window.guided = &w->sent;
	w->window.ecmp_seed = w->scene->ecmp_seed;
	w->window.knows_hash = (uint8_t)w->params->knows_hash;
	*seen = (struct xp_everflow_seen){
	    .window = &w->window,
	    .lost = &w->lost,
	    .store = xp_desk_traces(w->desk),
	    .counters = xp_desk_counters(w->desk),
	    .grades = w->grades,
	    .mirrored = mirror_counted(w->mirror),
	    .tracing = &w->tracing,
	    .traffic_bytes = w->traffic_bytes,
	    .n_guided = w->sent.n,
	};
	seen->said = xp_desk_said(w->desk, &seen->n_said);
	xp_desk_analyzed(w->desk, &seen->analyzed);
	seen->carried_bytes = w->carried_bytes;
	for (topo_host h = 0; h < w->topo->n_hosts; h++) {
		seen->guided_bytes += w->guided_bytes[h];
		if (w->guided_bytes[h] > seen->guided_bytes_max)
			seen->guided_bytes_max = w->guided_bytes[h];
	}
}

int xp_everworld_run(struct xp_everworld *w, const struct scene *scene,
    struct xp_everflow_seen *seen, struct sim_err *e)
{
	const struct xp_everflow *p = w->params;
	const sim_ns every = (sim_ns)(p->debug_s * 1e9);
	const sim_ns end =
	    scene->traffic.epoch_ns + (sim_ns)(p->settle_s * 1e9);
	sim_ns look = every;
	int rc = world_begin(w, scene, e);
	for (sim_ns t = STEP; rc == 0 && t < end + STEP; t += STEP) {
		if ((rc = xp_probers_run(w->probers, t, e)) < 0 ||
		    (rc = world_analyze(w, t < end ? t : SIM_NEVER, e)) < 0)
			break;
		if (t < look && t < end)
			continue;
		rc = xp_desk_look(w->desk, &w->sent, t, e);
		look += every;
	}
	if (rc == 0) {
		world_tell(w, seen);
		seen->end_ns = end;
	}
	return rc;
}
