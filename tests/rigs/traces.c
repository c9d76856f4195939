/* tests/rigs/traces.c -- traces, counters, probes and findings, for tests.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/traces.h"

#include "tests/test.h"
#include "topo/addr.h"

enum { N_HOSTS = 8, N_SWITCHES = 10, N_LINKS = 48, MAX_COPIES = 9 };

static struct res_traces_info traces_info(void)
{
	return (struct res_traces_info){
	    .spec = "topology: {n_pods: 2, n_tors: 2, n_t1: 2, n_t2: 2, "
		    "n_hosts: 2}\n",
	    .seed = 7,
	    .point = 2,
	    .run = 5,
	    .n_hosts = N_HOSTS,
	    .n_switches = N_SWITCHES,
	    .n_links = N_LINKS,
	    .ecmp_seed = 99,
	    .knows_hash = 1,
	};
}

static void traces_keep(struct traces *x, struct algo_trace t,
    const struct algo_hop hop[])
{
	t.hop_off = x->store.hops.n;
	assert_ok(algo_traces_add(&x->store.traces, &t, test_err()));
	for (unsigned i = 0; i < t.n_hops; i++)
		assert_ok(algo_hops_add(&x->store.hops, &hop[i], test_err()));
}

/* --- random ---------------------------------------------------------------- */

static uint64_t random_u64(struct sim_rng *r)
{
	return (uint64_t)sim_rng_below(r, UINT32_MAX) << 32 |
	    sim_rng_below(r, UINT32_MAX);
}

static uint32_t link_or_none(struct sim_rng *r)
{
	return sim_rng_below(r, 5) ? sim_rng_below(r, N_LINKS) : TOPO_NONE;
}

static void random_trace(struct traces *x, sim_ns at, struct sim_rng *r)
{
	struct algo_hop hop[MAX_COPIES];
	struct algo_trace t = {
	    .t_ns = at,
	    .end_ns = at + sim_rng_below(r, 1000000),
	    .digest = random_u64(r),
	    .analyzer = sim_rng_below(r, 3),
	    .marks = sim_rng_below(r, 1u << ALGO_TRACE_N_MARKS),
	    .src_ip = TOPO_ADDR_HOST_BASE + sim_rng_below(r, N_HOSTS),
	    .dst_ip = TOPO_ADDR_HOST_BASE + sim_rng_below(r, N_HOSTS),
	    .seq = (uint32_t)random_u64(r),
	    .n_bytes = sim_rng_below(r, 1500),
	    .last_node = sim_rng_below(r, N_SWITCHES),
	    .lost_link = link_or_none(r),
	    .src_port = (uint16_t)sim_rng_below(r, 65536),
	    .dst_port = 80,
	    .ip_id = (uint16_t)sim_rng_below(r, 65536),
	    .n_hops = (uint16_t)sim_rng_below(r, MAX_COPIES + 1),
	    .proto = 6,
	    .flags = (uint8_t)sim_rng_below(r, 32),
	    .kind = (uint8_t)sim_rng_below(r, OBS_N_COPY_KINDS),
	};
	for (unsigned i = 0; i < t.n_hops; i++)
		hop[i] = (struct algo_hop){.t_ns = at + i,
		    .switch_ns = random_u64(r),
		    .node = sim_rng_below(r, N_SWITCHES),
		    .in_link = link_or_none(r),
		    .layer = (uint8_t)sim_rng_below(r, OBS_MAX_OUTER + 1),
		    .ttl = (uint8_t)sim_rng_below(r, 256),
		    .tos = (uint8_t)sim_rng_below(r, 256)};
	traces_keep(x, t, hop);
}

static void random_finding(struct algo_finding *f, struct sim_rng *r)
{
	*f = (struct algo_finding){
	    .cause = sim_rng_below(r, ALGO_N_CAUSES),
	    .link = link_or_none(r),
	    .node = sim_rng_below(r, N_HOSTS + N_SWITCHES),
	    .score = sim_rng_below(r, 1000) / 7.0,
	    .rate = sim_rng_below(r, 1000) / 1001.0,
	    .lo = 0.001,
	    .hi = 0.999,
	    .excess_us = 150,
	    .from_ns = SIM_SEC,
	    .to_ns = 2 * SIM_SEC,
	    .persistent = sim_rng_below(r, 2) != 0,
	    .intermittent = sim_rng_below(r, 2) != 0,
	    .n_cycle = sim_rng_below(r, 17),
	    .value = {1, 2, 3, 4, 6},
	    .mask = {0xff, 0, 0xffff, 1, 255},
	};
	for (unsigned i = 0; i < f->n_cycle; i++)
		f->cycle[i] = N_HOSTS + sim_rng_below(r, N_SWITCHES);
}

struct topo traces_net(void)
{
	const struct topo_clos shape = {.n_pods = 2,
	    .n_tors = 2,
	    .n_t1 = 2,
	    .n_t2 = 2,
	    .n_hosts = 2};
	struct topo t;
	assert_ok(topo_open_clos(&t, &shape, test_err()));
	return t;
}

void traces_random(struct traces *x, size_t n, sim_ns duration,
    struct sim_rng *r)
{
	*x = (struct traces){.info = traces_info()};
	x->info.end_ns = duration;
	for (size_t i = 0; i < n; i++) {
		/* About in order. */
		const sim_ns at = duration / n * i + sim_rng_below(r, 1 << 20);
		random_trace(x, at, r);
		const struct obs_guided_probe g = {.sent_ns = at,
		    .order = 3,
		    .number = (uint32_t)i,
		    .src_host = sim_rng_below(r, N_HOSTS),
		    .via0 = sim_rng_below(r, N_SWITCHES),
		    .via1 = TOPO_NONE,
		    .via2 = TOPO_NONE};
		const struct algo_counter c = {.t_ns = at,
		    .id = sim_rng_below(r, N_HOSTS),
		    .sub = sim_rng_below(r, 2),
		    .kind = (uint8_t)sim_rng_below(r, ALGO_N_COUNTER_KINDS),
		    .value = sim_rng_below(r, 100)};
		if (i % 3 == 0)
			assert_ok(obs_guided_add(&x->guided, &g, test_err()));
		assert_ok(algo_counters_add(&x->counters, &c, test_err()));
	}
	for (; x->n_findings < 8; x->n_findings++)
		random_finding(&x->finding[x->n_findings], r);
}

/* --- by hand ---------------------------------------------------------------- */

/* Switches: tor0-3 are 0-3, t1.0-3 are 4-7, t2.0-1 are 8-9. */
static struct algo_trace hand_trace(sim_ns at, topo_host src, topo_host dst,
    uint16_t n_hops, uint32_t marks)
{
	return (struct algo_trace){.t_ns = at,
	    .end_ns = at + (n_hops - 1u) * 30 * SIM_US,
	    .marks = marks,
	    .src_ip = topo_addr_of_host(src),
	    .dst_ip = topo_addr_of_host(dst),
	    .seq = 1000,
	    .n_bytes = 74,
	    .lost_link = TOPO_NONE,
	    .src_port = 40000,
	    .dst_port = 80,
	    .ip_id = 17,
	    .n_hops = n_hops,
	    .proto = 6,
	    .flags = OBS_TCP_SYN,
	    .kind = OBS_COPY_CONTROL};
}

static void hand_way(struct traces *x, struct algo_trace t,
    const uint32_t way[], const uint8_t layer[], uint8_t ttl)
{
	struct algo_hop hop[MAX_COPIES];
	for (unsigned i = 0; i < t.n_hops; i++)
		hop[i] = (struct algo_hop){.t_ns = t.t_ns + i * 30 * SIM_US,
		    .node = way[i],
		    .in_link = TOPO_NONE,
		    .outer_src = layer && layer[i] ? topo_addr_of_host(4) : 0,
		    .layer = layer ? layer[i] : 0,
		    .ttl = (uint8_t)(ttl - i),
		    .ttl_in = (uint8_t)(ttl - i),
		    .tos = i == 2 ? OBS_TOS_CE : 0};
	t.last_node = way[t.n_hops - 1];
	traces_keep(x, t, hop);
}

static void hand_counter(struct traces *x, uint8_t kind, sim_ns at,
    uint32_t analyzer, uint32_t id, uint32_t sub, double value)
{
	const struct algo_counter c = {.t_ns = at,
	    .analyzer = analyzer,
	    .id = id,
	    .sub = sub,
	    .kind = kind,
	    .value = value};
	assert_ok(algo_counters_add(&x->counters, &c, test_err()));
}

void traces_by_hand(struct traces *x)
{
	static const uint32_t whole[] = {0, 4, 9, 7, 3}, drop[] = {1, 5, 8},
			      loop[] = {0, 4, 0, 4, 0}, trip[] = {4, 9, 4},
			      mux[] = {2, 2, 6, 3};
	static const uint8_t trip_layer[] = {2, 1, 0},
			     mux_layer[] = {0, 1, 1, 1};
	*x = (struct traces){.info = traces_info(), .n_findings = 1};
	x->info.end_ns = 30 * SIM_SEC;
	hand_way(x, hand_trace(SIM_SEC, 0, 7, 5, ALGO_TRACE_COMPLETE), whole,
	    NULL, 64);
	struct algo_trace t = hand_trace(12 * SIM_SEC, 2, 6, 3,
	    ALGO_TRACE_SUSPECT | ALGO_TRACE_CONFIRMED);
	t.lost_link = 41; /* t2.0->t1.2 */
	hand_way(x, t, drop, NULL, 64);
	hand_way(x, hand_trace(15 * SIM_SEC, 0, 7, 5, ALGO_TRACE_LOOP), loop,
	    NULL, 64);
	hand_way(x,
	    hand_trace(20 * SIM_SEC, 0, 1, 3,
		ALGO_TRACE_PROBE | ALGO_TRACE_DEBUG | ALGO_TRACE_ENCAP),
	    trip, trip_layer, 60);
	hand_way(x,
	    hand_trace(25 * SIM_SEC, 4, 7, 4,
		ALGO_TRACE_MUX | ALGO_TRACE_ENCAP | ALGO_TRACE_COMPLETE),
	    mux, mux_layer, 64);
	for (unsigned i = 1; i <= 3; i++)
		for (unsigned k = 0; k < 2; k++) {
			const sim_ns at = i * 10 * SIM_SEC;
			hand_counter(x, ALGO_COUNTER_LINK_PACKETS, at, k, 16, 0,
			    100 * i);
			hand_counter(x, ALGO_COUNTER_LINK_BYTES, at, k, 16, 0,
			    7400 * i);
			hand_counter(x, ALGO_COUNTER_LINK_LATENCY, at, k, 16,
			    20, 90);
			hand_counter(x, ALGO_COUNTER_LINK_LATENCY, at, k, 16,
			    36, 10);
			hand_counter(x, ALGO_COUNTER_MIRROR_SENT, at, k, 0, 0,
			    500);
			hand_counter(x, ALGO_COUNTER_MIRROR_LOST, at, k, 0, 0,
			    i);
			hand_counter(x, ALGO_COUNTER_MUX_LATENCY, at, k, 4, 12,
			    5);
			hand_counter(x, ALGO_COUNTER_CUSTOM, at, k, 3, 0, 11);
		}
	x->finding[0] = (struct algo_finding){.cause = ALGO_CAUSE_LOOP,
	    .link = TOPO_NONE,
	    .node = N_HOSTS,
	    .score = 1,
	    .from_ns = 15 * SIM_SEC,
	    .to_ns = 16 * SIM_SEC,
	    .persistent = 1,
	    .cycle = {N_HOSTS, N_HOSTS + 4},
	    .n_cycle = 2};
}

void traces_get(const struct traces *x, size_t i, struct algo_trace *t,
    struct algo_hop hop[])
{
	*t = algo_traces_at(&x->store.traces, i);
	for (unsigned k = 0; k < t->n_hops; k++)
		hop[k] = algo_hops_at(&x->store.hops, t->hop_off + k);
}

/* --- files ------------------------------------------------------------------ */

static int traces_write_all(const struct traces *x, struct res_traces_out *w,
    struct sim_err *e)
{
	const struct algo_trace_sink sink = res_traces_sink(w);
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < x->store.traces.n; i++) {
		struct algo_hop hop[MAX_COPIES + 1];
		struct algo_trace t;
		traces_get(x, i, &t, hop);
		/* Whatever an analyzer had there. */
		t.hop_off = 12345;
		rc = sink.take(sink.arg, &t, hop, e);
	}
	if (rc == 0)
		rc = res_traces_add_counters(w, &x->counters, e);
	if (rc == 0)
		rc = res_traces_add_guided(w, &x->guided, e);
	/* A name that was given twice. */
	if (rc == 0 && (rc = res_traces_add_name(w, 2, "syns", e)) == 0)
		rc = res_traces_add_name(w, 3, "syns", e);
	return rc < 0
	    ? rc
	    : res_traces_add_findings(w, "loop", x->finding, x->n_findings, e);
}

int traces_write(const struct traces *x, const char *path, struct sim_err *e)
{
	struct res_traces_out *w;
	int rc = res_traces_create(&w, path, &x->info, e);
	if (rc < 0)
		return rc;
	if ((rc = traces_write_all(x, w, e)) < 0) {
		res_traces_discard(w);
		return rc;
	}
	return res_traces_finish(w, x->info.end_ns, e);
}

void traces_free(struct traces *x)
{
	algo_traces_free(&x->store.traces);
	algo_hops_free(&x->store.hops);
	algo_counters_free(&x->counters);
	obs_guided_free(&x->guided);
}
