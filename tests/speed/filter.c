/* tests/speed/filter.c -- filters of traces: ns a trace, against C by hand.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdio.h>
#include <stdlib.h>

#include "algos/everflow/filter.h"
#include "sim/rng.h"
#include "tests/speed/bench.h"
#include "topo/addr.h"

enum { N_TRACES = 4096, HOPS = 5, ROUNDS = 60 };

struct subject {
	struct topo net;
	struct algo_filter filter;
	struct algo_trace t[N_TRACES];
	struct algo_hop hop[N_TRACES][HOPS];
	uint32_t t2; /* a T2 */
};

static void must(int rc, const struct sim_err *e)
{
	if (rc < 0) {
		fprintf(stderr, "bench: %s\n", e->msg);
		exit(1);
	}
}

static void fill(struct subject *s)
{
	const struct sim_seed where = {.seed = 1};
	const struct topo_clos *c = &s->net.clos;
	struct sim_rng r;
	sim_rng_init(&r, &where, SIM_STREAM_TEST, 0);
	s->t2 = c->all_tors + c->all_t1;
	for (size_t i = 0; i < N_TRACES; i++) {
		const topo_host src = sim_rng_below(&r, s->net.n_hosts);
		const topo_host dst = sim_rng_below(&r, s->net.n_hosts);
		struct algo_hop *h = s->hop[i];
		h[0].node = topo_tor_of(&s->net, src);
		h[1].node = c->all_tors + sim_rng_below(&r, c->all_t1);
		h[2].node = s->t2 + sim_rng_below(&r, c->n_t2);
		h[3].node = c->all_tors + sim_rng_below(&r, c->all_t1);
		h[4].node = topo_tor_of(&s->net, dst);
		for (unsigned k = 0; k < HOPS; k++)
			h[k].ttl = (uint8_t)(64 - k);
		s->t[i] = (struct algo_trace){.marks = sim_rng_below(&r, 2048),
		    .src_ip = topo_addr_of_host(src),
		    .dst_ip = topo_addr_of_host(dst),
		    .last_node = h[4].node,
		    .src_port = (uint16_t)sim_rng_below(&r, 65536),
		    .dst_port = 80,
		    .n_hops = HOPS,
		    .proto = sim_rng_below(&r, 4) ? 6 : 17,
		    .flags = (uint8_t)sim_rng_below(&r, 32)};
	}
}

static void run_filter(void *arg)
{
	struct subject *s = arg;
	uint64_t n = 0;
	for (unsigned round = 0; round < ROUNDS; round++)
		for (size_t i = 0; i < N_TRACES; i++)
			n += (unsigned)algo_filter_test(&s->filter, &s->t[i],
			    s->hop[i], 0);
	bench_sink += n;
}

/* What `ip.proto == 6 && ip.dst == 10.0.0.0/16 && switch == t2.0` asks. */
static int by_hand(const struct subject *s, const struct algo_trace *t,
    const struct algo_hop hop[])
{
	if (t->proto != 6 || (t->dst_ip & 0xffff0000) != 0x0a000000)
		return 0;
	for (unsigned i = 0; i < t->n_hops; i++)
		if (hop[i].node == s->t2)
			return 1;
	return 0;
}

static void run_hand(void *arg)
{
	struct subject *s = arg;
	uint64_t n = 0;
	for (unsigned round = 0; round < ROUNDS; round++)
		for (size_t i = 0; i < N_TRACES; i++)
			n += (unsigned)by_hand(s, &s->t[i], s->hop[i]);
	bench_sink += n;
}

static void bench_one(struct subject *s, const char *what, const char *expr)
{
	struct sim_err e;
	must(algo_filter_compile(&s->filter, expr, &s->net, ALGO_IS_CONDITION,
		 &e),
	    &e);
	const double took = bench_best(5, run_filter, s);
	bench_row(what, took / ROUNDS / N_TRACES * 1e9, "ns/trace", '<', 40);
}

void bench_filter(void)
{
	const struct topo_clos shape = {4, 20, 4, 16, 20, .n_cables = 0};
	struct subject *s = calloc(1, sizeof(*s));
	struct sim_err e;
	if (!s)
		exit(1);
	must(topo_open_clos(&s->net, &shape, &e), &e);
	fill(s);
	bench_one(s, "filter: TCP to a prefix over t2.0",
	    "ip.proto == 6 && ip.dst == 10.0.0.0/16 && switch == t2.0");
	const struct bench_pair p =
	    bench_against(9, run_filter, s, run_hand, s);
	bench_row("filter: the same, against C by hand", p.ratio, "ratio", '<',
	    12);
	bench_one(s, "filter: confirmed drops at a switch",
	    "drop && confirmed && last == t1.5");
	bench_one(s, "filter: SYNs by a path of 5 switches",
	    "tcp.flags & SYN && path ~ \"tor3 . t2 * host17\"");
	bench_one(s, "filter: a path that all traces have",
	    "path ~ \"tor t1 t2 t1 tor\"");
	topo_close(&s->net);
	free(s);
}
