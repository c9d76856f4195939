/* tests/speed/everflow.c -- traces from copies: the analyzer and a plain table.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Packets of random pairs, 5 copies each at most, whose mirrors come up to a
 * quarter of the time in which a million begin; traces end after three quarters,
 * so that about that many are under way, and each copy finds its trace cold. One
 * in a thousand is not seen at its end. The same table is fed again and again,
 * later each time and with other numbers; that is not timed.
 */
#include "tests/speed/bench.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "algos/everflow/analyzer.h"
#include "sim/rng.h"
#include "tests/rigs/copies.h"
#include "tests/rigs/everflow_map.h"

enum { ROUNDS = 5, PACKET_NS = 1000 };

struct bench_traces {
	struct topo topo;
	struct obs_mirror m;
	struct algo_routing routing;
	struct algo_analyzer_params params;
	struct algo_analyzer *a;
	struct everflow_map *map;
	struct algo_counters counters;
	struct everflow_sum of_a, of_map;
	uint64_t window_ns;
	uint32_t n_live;
};

static void stop(const char *what)
{
	fprintf(stderr, "bench everflow: %s\n", what);
	exit(1);
}

static void draw_copies(struct bench_traces *b)
{
	struct sim_rng r;
	const struct sim_seed where = {.seed = 20150817};
	const uint32_t n_hosts = b->topo.n_hosts;
	sim_rng_init(&r, &where, SIM_STREAM_TEST, 0);
	for (uint32_t k = 0; k < b->n_live; k++) {
		struct obs_copy c[TOPO_MAX_HOPS];
		const topo_host src = sim_rng_below(&r, n_hosts);
		const topo_host dst = sim_rng_below(&r, n_hosts);
		const struct obs_copy p =
		    copies_packet(src, dst == src ? (dst + 1) % n_hosts : dst,
			(uint16_t)sim_rng_below(&r, 65536),
			(uint16_t)(1 + sim_rng_below(&r, 65535)));
		const unsigned n =
		    copies_of(&b->topo, &p, (uint64_t)k * PACKET_NS, c);
		for (unsigned i = 0; i < n; i++)
			c[i].t_ns += (uint64_t)(sim_rng_u01(&r) *
			    (double)b->window_ns / 4);
		copies_add(&b->m, c, n - (n > 1 && k % 1000 == 0), UINT64_MAX);
	}
	copies_sort(&b->m);
}

static void traces_open(struct bench_traces *b, uint32_t n_live)
{
	const struct topo_clos shape = {.n_pods = 2,
	    .n_tors = 20,
	    .n_t1 = 8,
	    .n_t2 = 10,
	    .n_hosts = 40};
	*b = (struct bench_traces){.n_live = n_live,
	    .window_ns = (uint64_t)n_live * PACKET_NS};
	if (topo_open_clos(&b->topo, &shape, NULL) < 0)
		stop("no memory");
	b->routing = (struct algo_routing){&b->topo, 0, 1};
	b->params =
	    (struct algo_analyzer_params){.t_ms = b->window_ns * 0.75e-6,
		.counters_s = 10,
		.max_traces = n_live + n_live / 20};
	b->map = everflow_map_open(&b->routing, &b->params, 1 << 20);
	if (algo_analyzer_open(&b->a, &b->routing, &b->params, 0, NULL) < 0)
		stop("no memory");
	draw_copies(b);
}

static void traces_close(struct bench_traces *b)
{
	algo_analyzer_close(b->a);
	everflow_map_close(b->map);
	algo_counters_free(&b->counters);
	obs_mirror_free(&b->m);
	topo_close(&b->topo);
}

/* The same copies, a window later: the digest holds the numbers, as TCP's does. */
static void traces_again(struct bench_traces *b)
{
	for (size_t i = 0; i < b->m.n; i++) {
		b->m.t_ns[i] += b->window_ns;
		b->m.ack[i]++;
		b->m.digest[i] = (uint64_t)b->m.seq[i] << 32 | b->m.ack[i];
	}
	algo_counters_clear(&b->counters);
}

static double feed_analyzer(struct bench_traces *b)
{
	const struct algo_trace_sink sink = {&b->of_a, everflow_sum_take};
	const double start = bench_cpu_s();
	if (algo_analyzer_feed(b->a, &b->m, 0, b->m.n, &sink, &b->counters,
		NULL) < 0)
		stop("no memory");
	return bench_cpu_s() - start;
}

static double feed_map(struct bench_traces *b)
{
	const struct algo_trace_sink sink = {&b->of_map, everflow_sum_take};
	const double start = bench_cpu_s();
	everflow_map_feed(b->map, &b->m, 0, b->m.n, &sink);
	return bench_cpu_s() - start;
}

static void same_traces(struct bench_traces *b)
{
	const struct algo_trace_sink a = {&b->of_a, everflow_sum_take},
				     m = {&b->of_map, everflow_sum_take};
	if (algo_analyzer_flush(b->a, SIM_NEVER, &a, &b->counters, NULL) < 0)
		stop("no memory");
	everflow_map_flush(b->map, &m);
	if (b->of_a.sum != b->of_map.sum || b->of_a.n_traces == 0)
		stop("analyzer and table give different traces");
	if (algo_analyzer_counted(b->a)->n_early > 0)
		stop("the ring is full");
}

static int upwards(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void against_map(uint32_t n_live, char cmp)
{
	struct bench_traces b;
	double ratio[ROUNDS], best = 1e9;
	char what[64];
	traces_open(&b, n_live);
	feed_analyzer(&b);
	feed_map(&b);
	for (int i = 0; i < ROUNDS; i++) {
		traces_again(&b);
		const double a_s = feed_analyzer(&b), map_s = feed_map(&b);
		ratio[i] = map_s / a_s;
		best = a_s < best ? a_s : best;
	}
	same_traces(&b);
	qsort(ratio, ROUNDS, sizeof(ratio[0]), upwards);
	snprintf(what, sizeof(what), "traces against a hash table, %g live",
	    (double)n_live);
	bench_row(what, ratio[ROUNDS / 2], "x", cmp, 5);
	snprintf(what, sizeof(what), "traces from copies, %g live",
	    (double)n_live);
	bench_row(what, (double)b.m.n / best * 1e-6, "Mcopies/s", cmp, 15);
	traces_close(&b);
}

/* --- two processes ---------------------------------------------------------*/
static double feed_again(struct bench_traces *b)
{
	double best = 1e9;
	for (int i = 0; i < ROUNDS; i++) {
		traces_again(b);
		const double s = feed_analyzer(b);
		best = s < best ? s : best;
	}
	return best;
}

/* Analyzers share nothing but the machine. By CPU time, so that it matters
 * little what else runs; each has a table of its own, after the fork. */
static void beside_another(uint32_t n_live)
{
	struct bench_traces b;
	traces_open(&b, n_live);
	feed_analyzer(&b);
	const double alone = feed_again(&b);
	const pid_t child = fork();
	if (child < 0)
		stop("cannot fork");
	for (; child == 0;)
		feed_again(&b);
	const double beside = feed_again(&b);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	bench_row("traces by two processes", 2 * alone / beside, "x one", '>',
	    1.8);
	traces_close(&b);
}

/* --- instructions ----------------------------------------------------------*/
enum { COUNT_MOST = 6, COUNT_LEAST = 2 };

/* The copies are moved as often whatever K is, so that this cancels out. */
void bench_everflow_feed(uint32_t n_live, uint64_t k)
{
	struct bench_traces b;
	traces_open(&b, n_live);
	for (uint64_t i = 0; i < k || i < COUNT_MOST; i++) {
		if (i < k)
			feed_analyzer(&b);
		traces_again(&b);
	}
	bench_sink = b.of_a.sum;
	traces_close(&b);
}

static void count_instructions_a_copy(void)
{
	const uint32_t n = 10000;
	struct bench_traces b;
	traces_open(&b, n);
	const double n_copies = (double)b.m.n;
	traces_close(&b);
	const double least =
	    bench_instructions("everflow-feed", n, COUNT_LEAST);
	const double most =
	    least < 0 ? -1 : bench_instructions("everflow-feed", n, COUNT_MOST);
	if (most < 0)
		printf("%-48s %10s\n", "trace instructions", "skipped");
	else
		bench_row("trace instructions",
		    (most - least) / (COUNT_MOST - COUNT_LEAST) / n_copies,
		    "Ir/copy", '<', 550);
}

void bench_everflow(void)
{
	count_instructions_a_copy();
	beside_another(300000);
	against_map(100000, '-');
	against_map(1000000, '>');
}
