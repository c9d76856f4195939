/* tests/speed/algos.c -- the vote and Algorithm 1 against a naive re-tally.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algos/vigil/alg1.h"
#include "algos/vigil/tally.h"
#include "tests/speed/bench.h"

enum { ROUNDS = 15, N_BAD = 10 };

/* A failure to set up leaves nothing to measure. */
static void must(int rc, const struct sim_err *e)
{
	if (rc < 0) {
		fprintf(stderr, "bench_algos: %s\n", e->msg);
		exit(1);
	}
}

struct subject {
	struct topo topo;
	struct obs window;
	struct algo_alg1_params params;
	void *work;
	struct algo_tally tally;
	struct algo_verdicts out;
	/* The naive loop's. */
	uint64_t *votes;
	uint8_t *flagged, *dead;
	struct algo_verdicts naive;
	int repeat; /* diagnoses a call, so that a call takes a while */
};

static int crosses(const topo_link *path, unsigned n, topo_link l)
{
	for (unsigned i = 0; i < n; i++)
		if (path[i] == l)
			return 1;
	return 0;
}

/* N flows that failed: one in twenty anywhere, the rest on one of ten bad
 * links between switches. */
static void fill_window(struct subject *s, size_t n, struct sim_rng *r)
{
	topo_link bad[N_BAD], path[TOPO_MAX_HOPS];
	struct sim_err e = {0};
	for (int i = 0; i < N_BAD; i++)
		bad[i] = 2 * s->topo.n_hosts +
		    sim_rng_below(r, s->topo.n_links - 2 * s->topo.n_hosts);
	while (s->window.flows.n < n) {
		const topo_host src = sim_rng_below(r, s->topo.n_hosts);
		const topo_host dst = sim_rng_below(r, s->topo.n_hosts);
		const unsigned n_hops =
		    topo_path(&s->topo, 1, src, dst, sim_rng_u32(r), path);
		int fails = s->window.flows.n % 20 == 0 && n_hops > 0;
		for (int i = 0; i < N_BAD; i++)
			fails |= crosses(path, n_hops, bad[i]);
		if (!fails)
			continue;
		const struct obs_flow flow = {.src_host = src,
		    .dst_host = dst,
		    .n_pkts = 100,
		    .n_retx = 1};
		must(obs_add_flow(&s->window, &flow, path, n_hops, &e), &e);
	}
}

static void open_subject(struct subject *s, const struct topo_clos *shape,
    size_t n_flows, int repeat)
{
	const struct sim_seed seed = {.seed = 20180409};
	struct sim_err e = {0};
	struct sim_rng r;
	*s = (struct subject){.repeat = repeat};
	s->params = (struct algo_alg1_params){.threshold = 0.01,
	    .total = ALGO_ALG1_INITIAL,
	    .adjust = ALGO_ALG1_REMOVAL,
	    .blame = {.noise = ALGO_NOISE_OWN_VOTE}};
	sim_rng_init(&r, &seed, SIM_STREAM_TEST, 0);
	must(topo_open_clos(&s->topo, shape, &e), &e);
	must(algo_open(&algo_alg1, &s->work, &s->topo, &s->params, &e), &e);
	must(algo_tally_open(&s->tally, s->topo.n_links, &e), &e);
	fill_window(s, n_flows, &r);
	s->votes = calloc(s->topo.n_links, sizeof(*s->votes));
	s->flagged = calloc(s->topo.n_links, 1);
	s->dead = calloc(n_flows, 1);
	if (!s->votes || !s->flagged || !s->dead)
		must(sim_fail(&e, SIM_ENOMEM, "no memory."), &e);
}

static void close_subject(struct subject *s)
{
	algo_close(&algo_alg1, s->work);
	algo_tally_close(&s->tally);
	algo_verdicts_free(&s->out);
	algo_verdicts_free(&s->naive);
	obs_free(&s->window);
	topo_close(&s->topo);
	free(s->votes);
	free(s->flagged);
	free(s->dead);
}

static void run_tally(void *arg)
{
	struct subject *s = arg;
	for (int i = 0; i < s->repeat; i++) {
		algo_tally_count(&s->tally, &s->window, NULL);
		bench_sink += s->tally.n_touched;
	}
}

static void run_alg1(void *arg)
{
	struct subject *s = arg;
	for (int i = 0; i < s->repeat; i++) {
		algo_alg1.diagnose(s->work, &s->window, NULL, &s->out, NULL);
		bench_sink += s->out.n_flagged;
	}
}

static void naive_tally(struct subject *s)
{
	memset(s->votes, 0, s->topo.n_links * sizeof(*s->votes));
	for (size_t f = 0; f < s->window.flows.n; f++) {
		const topo_link *path = obs_path(&s->window, f);
		const unsigned n = obs_n_hops(&s->window, f);
		for (unsigned i = 0; i < n && !s->dead[f]; i++)
			s->votes[path[i]] += ALGO_TALLY_VOTE / n;
	}
}

static topo_link naive_argmax(const struct subject *s)
{
	topo_link best = 0;
	for (topo_link l = 1; l < s->topo.n_links; l++)
		if (s->votes[l] > s->votes[best])
			best = l;
	return best;
}

/* The lowest of the most voted hops, unless they have only the flow's vote. */
static void naive_blame(struct subject *s)
{
	algo_verdicts_reserve_flows(&s->naive, s->window.flows.n, NULL);
	for (size_t f = 0; f < s->window.flows.n; f++) {
		const topo_link *path = obs_path(&s->window, f);
		const unsigned n = obs_n_hops(&s->window, f);
		topo_link best = path[0];
		for (unsigned i = 1; i < n; i++)
			if (s->votes[path[i]] > s->votes[best] ||
			    (s->votes[path[i]] == s->votes[best] &&
				path[i] < best))
				best = path[i];
		if (s->votes[best] > ALGO_TALLY_VOTE / n)
			s->naive.blame[f] = best;
	}
}

/* What one writes first: a round scans all links, takes out the flows of the
 * flagged one and tallies again. */
static void naive_diagnose(struct subject *s)
{
	const size_t n = s->window.flows.n;
	struct algo_verdicts *v = &s->naive;
	algo_verdicts_clear(v);
	memset(s->dead, 0, n);
	memset(s->flagged, 0, s->topo.n_links);
	naive_tally(s);
	naive_blame(s);
	for (;; naive_tally(s)) {
		const topo_link l = naive_argmax(s);
		const uint64_t votes = s->votes[l];
		if ((double)votes < 0.01 * (double)(n * ALGO_TALLY_VOTE))
			break;
		algo_verdicts_add(v, l, algo_tally_votes(votes), NULL);
		v->n_flagged++;
		s->flagged[l] = 1;
		for (size_t f = 0; f < n; f++)
			s->dead[f] |= (uint8_t)crosses(obs_path(&s->window, f),
			    obs_n_hops(&s->window, f), l);
	}
	for (topo_link l = 0; l < s->topo.n_links; l++)
		if (s->votes[l] > 0 && !s->flagged[l])
			algo_verdicts_add(v, l, algo_tally_votes(s->votes[l]),
			    NULL);
}

static void run_naive(void *arg)
{
	struct subject *s = arg;
	for (int i = 0; i < s->repeat; i++) {
		naive_diagnose(s);
		bench_sink += s->naive.n_flagged;
	}
}

/* Links and flows whose verdict is not as the naive loop's. */
static size_t n_different(struct subject *s)
{
	struct algo_verdicts *a = &s->out, *b = &s->naive;
	size_t n = 0;
	algo_verdicts_sort(a);
	algo_verdicts_sort(b);
	if (a->n != b->n || a->n_flagged != b->n_flagged ||
	    a->n_flows != b->n_flows)
		return SIZE_MAX;
	for (size_t i = 0; i < a->n; i++)
		n += a->link[i] != b->link[i] || a->score[i] != b->score[i];
	for (size_t i = 0; i < a->n_flows; i++)
		n += a->blame[i] != b->blame[i];
	return n;
}

void bench_algos(void)
{
	/* 4160 and 251,904 directed links. */
	const struct topo_clos paper = {.n_pods = 2,
	    .n_tors = 20,
	    .n_t1 = 8,
	    .n_t2 = 10,
	    .n_hosts = 40};
	const struct topo_clos large = {.n_pods = 24,
	    .n_tors = 48,
	    .n_t1 = 16,
	    .n_t2 = 160,
	    .n_hosts = 40};
	struct subject s, small, wide;
	struct bench_pair pair;

	open_subject(&s, &paper, 20000, 10);
	const double flows = 20000.0 * s.repeat;
	run_tally(&s);
	bench_row("vote: tally, 20,000 flows, 4160 links",
	    flows / bench_best(ROUNDS, run_tally, &s) / 1e6, "Mflows/s", '>',
	    50);
	run_naive(&s);
	run_alg1(&s);
	pair = bench_against(ROUNDS, run_naive, &s, run_alg1, &s);
	bench_row("alg1: links flagged", (double)s.out.n_flagged, "links", '-',
	    0);
	bench_row("alg1: 20,000 flows, 4160 links", pair.b_s / s.repeat * 1e6,
	    "us", '-', 0);
	bench_row("alg1: naive re-tally / alg1", pair.ratio, "x", '>', 3);
	bench_row("alg1: verdicts unlike the naive loop's",
	    (double)n_different(&s), "verdicts", '<', 0);
	close_subject(&s);

	open_subject(&small, &paper, 2000, 50);
	open_subject(&wide, &large, 2000, 50);
	run_alg1(&small);
	run_alg1(&wide);
	pair = bench_against(ROUNDS, run_alg1, &wide, run_alg1, &small);
	bench_row("alg1: 2000 flows, 4160 links", pair.b_s / small.repeat * 1e6,
	    "us", '-', 0);
	bench_row("alg1: 2000 flows, 252k / 4k links", pair.ratio, "x", '<', 2);
	close_subject(&small);
	close_subject(&wide);
}
