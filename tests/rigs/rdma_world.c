/* tests/rigs/rdma_world.c -- queue pairs, pauses and BGP, from packets to findings.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/rdma_world.h"

#include "sim/vec.h"

static const struct topo_clos shape = {.n_pods = 2,
    .n_tors = 3,
    .n_t1 = 2,
    .n_t2 = 4,
    .n_hosts = 2};

enum { MAX_LINKS = 256 };

static double u01(struct rdma_world *w)
{
	return sim_rng_u01(&w->r);
}

static double log_uniform(struct rdma_world *w, double a, double b)
{
	return a * pow(b / a, u01(w));
}

static void draw_pair(struct rdma_world *w, struct packet_rdma_pair *p)
{
	const uint32_t n = w->scenes.topo.n_hosts;
	*p = (struct packet_rdma_pair){
	    .from = sim_rng_below(&w->r, n),
	    .src_port = (uint16_t)(0xc000 + sim_rng_below(&w->r, 0x4000)),
	    .sample = {1023, (uint16_t)(1 + sim_rng_below(&w->r, 1023))},
	    .from_ns = sim_rng_below(&w->r, 1000000),
	    .until_ns = 100 * SIM_MS,
	};
	do
		p->to = sim_rng_below(&w->r, n);
	while (topo_tor_of(&w->scenes.topo, p->to) ==
	    topo_tor_of(&w->scenes.topo, p->from));
}

void rdma_open(struct rdma_world *w, unsigned run)
{
	*w = (struct rdma_world){.lossy = TOPO_NONE,
	    .storm = TOPO_NONE,
	    .flapping = TOPO_NONE,
	    .pause_until = 180 * SIM_MS,
	    .bgp_until = 40 * SIM_SEC,
	    .mirror_loss = 1e-3,
	    .jitter_ns = 50 * SIM_US};
	test_rng(&w->r, run);
	scenes_open(&w->scenes, &shape);
	assert_ok(sim_field_defaults(packet_rdma_fields, &w->rdma, test_err()));
	assert_ok(
	    sim_field_defaults(packet_pause_fields, &w->pause, test_err()));
	assert_ok(sim_field_defaults(packet_bgp_fields, &w->bgp, test_err()));
	assert_ok(
	    sim_field_defaults(algo_debug_rdma_fields, &w->params, test_err()));
	w->rdma.message = (uint32_t)log_uniform(w, 64, 4096);
	w->loss = log_uniform(w, 1e-3, 1e-2);
	w->pause.depth = 3;
	w->pause.busy_per_s = 40;
	for (unsigned i = 0; i < RDMA_PAIRS; i++)
		draw_pair(w, &w->pair[i]);
}

void rdma_close(struct rdma_world *w)
{
	algo_debug_free(&w->out);
	algo_trace_store_free(&w->traces);
	free(w->copies.copy);
	scenes_close(&w->scenes);
}

/* --- what switches mirror ------------------------------------------------- */

static enum obs_copy_kind kind_of(const struct obs_packet *p)
{
	if (p->ethertype == OBS_ETH_CONTROL)
		return OBS_COPY_PFC;
	if (p->tcp_flags & (OBS_TCP_SYN | OBS_TCP_FIN | OBS_TCP_RST))
		return OBS_COPY_CONTROL;
	if (obs_packet_is_nak(p))
		return OBS_COPY_NAK;
	if (p->ip.proto == TOPO_PROTO_TCP)
		return OBS_COPY_BGP;
	return p->ip.tos & OBS_TOS_DEBUG ? OBS_COPY_DEBUG : OBS_COPY_SAMPLE;
}

static int mirror(void *arg, topo_switch at, topo_link in, sim_ns t,
    const struct obs_packet *p, struct sim_err *e)
{
	struct rdma_world *w = arg;
	struct rdma_copies *c = &w->copies;
	struct obs_copy row = obs_copy_of(p);
	if (u01(w) < w->mirror_loss)
		return 0;
	row.node = at;
	row.in_link = in;
	row.kind = (uint8_t)kind_of(p);
	row.t_ns = t + (sim_ns)(u01(w) * (double)w->jitter_ns);
	const int rc = SIM_RESERVE(&c->copy, &c->cap, c->n + 1, e);
	if (rc == 0)
		c->copy[c->n++] = row;
	return rc;
}

static int carry(void *arg, topo_host from, sim_ns sent,
    const struct obs_packet *p, struct sim_err *e)
{
	struct rdma_world *w = arg;
	const struct packet_eye eye = {w, mirror};
	struct packet_end end;
	const int rc =
	    packet_walk(&w->net, p, from, sent, &w->r, &eye, &end, e);
	return rc < 0 ? rc : end.fate != SCENE_WALK_DELIVERED;
}

/* --- a life --------------------------------------------------------------- */

static double path_loss(struct rdma_world *w, const struct packet_rdma_pair *p,
    int back, uint8_t *crosses)
{
	const struct topo_tuple tuple = packet_rdma_tuple(p, back);
	topo_link path[TOPO_MAX_HOPS];
	double hazard[TOPO_MAX_HOPS + 1];
	const unsigned n = scene_walk_path(&w->net.walk, &tuple,
	    back ? p->to : p->from, back ? p->from : p->to, p->from_ns, path);
	scene_walk_hazards(&w->net.walk, &tuple, path, n, p->from_ns, hazard);
	for (unsigned i = 0; crosses && i < n; i++)
		*crosses |= path[i] == w->lossy;
	return -expm1(-hazard[n]);
}

static void live_pairs(struct rdma_world *w)
{
	const struct packet_rdma_wire wire = {w, carry};
	for (unsigned i = 0; i < RDMA_PAIRS; i++) {
		struct packet_rdma_pair *p = &w->pair[i];
		p->loss = path_loss(w, p, 0, &w->crosses[i]);
		p->back_loss = path_loss(w, p, 1, NULL);
		assert_ok(packet_rdma_run(&w->rdma, p, &w->r, &wire, &w->end[i],
		    test_err()));
	}
}

/* Ordinary pauses, but for the time that a storm holds the link. */
static void busy(struct rdma_world *w, topo_link l,
    const struct packet_pause_span *held, const struct packet_eye *eye)
{
	const struct topo *t = &w->scenes.topo;
	struct packet_pause_end end = {0};
	const sim_ns until = w->pause_until;
	assert_ok(packet_pause_busy(t, &w->pause, l, 0,
	    held->from_ns < until ? held->from_ns : until, &w->r, eye, &end,
	    test_err()));
	if (held->to_ns > 0)
		assert_ok(packet_pause_busy(t, &w->pause, l, held->to_ns, until,
		    &w->r, eye, &end, test_err()));
}

static void live_switches(struct rdma_world *w)
{
	const struct topo *t = &w->scenes.topo;
	const struct packet_eye eye = {w, mirror};
	struct packet_pause_end end = {0};
	struct packet_pause_span held[MAX_LINKS];
	for (topo_link l = 0; l < t->n_links; l++)
		held[l] = (struct packet_pause_span){SIM_NEVER, 0};
	if (w->storm != TOPO_NONE)
		assert_ok(packet_pause_storm(t, &w->pause, w->storm,
		    w->storm_from, w->storm_to, w->pause_until, &w->r, &eye,
		    held, &end, test_err()));
	for (topo_link l = 0; l < t->n_links; l++) {
		topo_node a, b;
		topo_link_ends(t, l, &a, &b);
		if (b >= t->n_hosts)
			busy(w, l, &held[l], &eye);
		if (l & 1 || a < t->n_hosts || b < t->n_hosts)
			continue;
		struct packet_bgp_session s = {.link = l,
		    .opens = sim_rng_below(&w->r, 4) == 0,
		    .from_ns = sim_rng_below(&w->r, 1000000000),
		    .until_ns = w->bgp_until};
		struct packet_bgp_end bgp;
		if (l == w->flapping)
			s.flap_to_ns = w->bgp_until;
		assert_ok(packet_bgp_run(t, &w->bgp, &s, &w->r, &eye, &bgp,
		    test_err()));
		if (l == w->flapping)
			w->flaps = bgp;
	}
}

static int by_arrival(const void *a, const void *b)
{
	const struct obs_copy *x = a, *y = b;
	return (x->t_ns > y->t_ns) - (x->t_ns < y->t_ns);
}

static int keep(void *arg, const struct algo_trace *t,
    const struct algo_hop hop[], struct sim_err *e)
{
	return algo_trace_store_add(arg, t, hop, e);
}

static struct algo_routing routing_of(struct rdma_world *w)
{
	return (struct algo_routing){.topo = &w->scenes.topo,
	    .ecmp_seed = w->scenes.scene.ecmp_seed,
	    .knows_hash = 1};
}

static void analyze(struct rdma_world *w)
{
	const struct algo_routing routing = routing_of(w);
	const struct algo_trace_sink sink = {&w->traces, keep};
	struct algo_analyzer_params p;
	struct algo_analyzer *a;
	struct algo_counters counters = {0};
	struct obs_mirror table = {0};
	qsort(w->copies.copy, w->copies.n, sizeof(w->copies.copy[0]),
	    by_arrival);
	for (size_t i = 0; i < w->copies.n; i++)
		assert_ok(
		    obs_mirror_add(&table, &w->copies.copy[i], test_err()));
	assert_ok(sim_field_defaults(algo_analyzer_fields, &p, test_err()));
	p.t_ms = 2;
	p.max_traces = 4096;
	assert_ok(algo_analyzer_open(&a, &routing, &p, 0, test_err()));
	assert_ok(algo_analyzer_feed(a, &table, 0, table.n, &sink, &counters,
	    test_err()));
	assert_ok(
	    algo_analyzer_flush(a, SIM_NEVER, &sink, &counters, test_err()));
	algo_analyzer_close(a);
	algo_counters_free(&counters);
	obs_mirror_free(&table);
}

void rdma_live(struct rdma_world *w)
{
	if (w->lossy != TOPO_NONE)
		scenes_add_fault(&w->scenes, w->lossy, w->loss);
	struct scene *scene = scenes_draw(&w->scenes, 0);
	w->net = (struct packet_net){
	    .walk = {.topo = &w->scenes.topo, .scene = scene},
	    .hop_us = 0.5,
	    .queue_us = 1,
	};
	live_pairs(w);
	live_switches(w);
	analyze(w);
}

void rdma_debug(struct rdma_world *w)
{
	const struct algo_debug_in in = {.routing = routing_of(w),
	    .traces = &w->traces,
	    .now = 60 * SIM_SEC};
	algo_debug_clear(&w->out);
	assert_ok(
	    algo_debug_rdma.step(NULL, &w->params, &in, &w->out, test_err()));
}

unsigned rdma_count(const struct rdma_world *w, enum algo_cause cause)
{
	unsigned n = 0;
	for (size_t i = 0; i < w->out.n_findings; i++)
		n += w->out.finding[i].cause == cause;
	return n;
}
