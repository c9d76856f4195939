/* tests/speed/rivals.c -- localisers from sums of flows, on 2,500 links.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdio.h>
#include <stdlib.h>

#include "algos/algo.h"
#include "algos/rivals/flock.h"
#include "models/telemetry/telemetry.h"
#include "tests/speed/bench.h"
#include "topo/mesh.h"

enum { ROUNDS = 7 };

/* A window of a fat-tree of 10 ports with three hosts an uplink: 750 hosts, 150
 * flows each. */
struct bench_of_rivals {
	struct topo topo;
	struct scene_params params;
	struct scene scene;
	struct telemetry_params p;
	struct telemetry t;
	struct obs w;
	struct losses lost;
	const struct algo_ops *algo;
	void *work;
	struct algo_verdicts out;
};

static void bench_rivals_must(int rc, const struct sim_err *e)
{
	if (rc < 0) {
		fprintf(stderr, "bench_rivals: %s\n", e->msg);
		exit(1);
	}
}

static void bench_rivals_fail(struct bench_of_rivals *b, uint32_t n)
{
	const struct sim_seed where = {.seed = 20180409};
	struct sim_err e = {0};
	struct sim_rng r;
	sim_rng_init(&r, &where, SIM_STREAM_TEST, 0);
	for (uint32_t i = 0; i < n; i++) {
		const struct truth_fault f = {.link = sim_rng_below(&r,
						  b->topo.n_links),
		    .rate = .002 + .018 * sim_rng_u01(&r),
		    .to_ns = SIM_NEVER};
		bench_rivals_must(truth_add_fault(&b->scene.truth, &f, &e), &e);
	}
	truth_sort(&b->scene.truth);
}

/* A fat-tree of 10 ports as above, or a leaf-spine of 88,200 links. */
static void bench_rivals_net(struct topo *t, int is_large)
{
	const struct topo_clos leaves = {.n_pods = 1,
	    .n_tors = 210,
	    .n_t1 = 90,
	    .n_hosts = 120};
	struct topo_mesh *m;
	struct sim_err e = {0};
	if (is_large) {
		bench_rivals_must(topo_open_clos(t, &leaves, &e), &e);
		return;
	}
	bench_rivals_must(topo_mesh_fat_tree(&m, 10, 15, &e), &e);
	bench_rivals_must(topo_open_mesh(t, m, &e), &e);
}

static void bench_rivals_open_at(struct bench_of_rivals *b, int is_large,
    unsigned kinds, uint32_t flows, uint32_t n_failed)
{
	const struct sim_seed where = {.seed = 20180409};
	struct sim_err e = {0};
	*b = (struct bench_of_rivals){0};
	bench_rivals_must(sim_field_defaults(telemetry_fields, &b->p, &e), &e);
	b->p.kinds = kinds;
	b->p.flows = flows;
	bench_rivals_net(&b->topo, is_large);
	bench_rivals_must(sim_field_defaults(scene_traffic_fields,
			      &b->params.traffic, &e),
	    &e);
	b->params.noise =
	    (struct scene_noise_params){.rate = {SIM_UNIFORM, 0, 1e-4},
		.scale = 1};
	bench_rivals_must(scene_draw(&b->scene, &b->topo, &b->params, &where,
			      &e),
	    &e);
	bench_rivals_fail(b, n_failed);
	bench_rivals_must(telemetry_draw(&b->t, &b->p, &b->scene, &b->w,
			      &b->lost, &e),
	    &e);
}

static void bench_rivals_open(struct bench_of_rivals *b, unsigned kinds,
    uint32_t flows, uint32_t n_failed)
{
	bench_rivals_open_at(b, 0, kinds, flows, n_failed);
}

static void bench_rivals_close(struct bench_of_rivals *b)
{
	algo_verdicts_free(&b->out);
	telemetry_free(&b->t);
	obs_free(&b->w);
	losses_free(&b->lost);
	scene_free(&b->scene);
	topo_close(&b->topo);
}

static void bench_rivals_once(void *arg)
{
	struct bench_of_rivals *b = arg;
	struct sim_err e = {0};
	bench_rivals_must(b->algo->diagnose(b->work, &b->w, NULL, &b->out, &e),
	    &e);
	bench_sink += b->out.n_flagged;
}

static void bench_rivals_first(void *arg)
{
	struct bench_of_rivals *b = arg;
	struct sim_err e = {0};
	algo_close(b->algo, b->work);
	bench_rivals_must(algo_open(b->algo, &b->work, &b->topo, NULL, &e), &e);
	bench_rivals_once(b);
}

/* Of Flock there is a GOAL, in ms. An algorithm that cannot read such rows has no
 * line. */
static void bench_rivals_row(struct bench_of_rivals *b, const char *name,
    const char *telemetry, double goal)
{
	struct sim_err e = {0};
	char what[64];
	b->algo = algo_find(name);
	if (b->algo->needs & ~telemetry_holds(b->p.kinds))
		return;
	bench_rivals_must(algo_open(b->algo, &b->work, &b->topo, NULL, &e), &e);
	bench_rivals_once(b);
	snprintf(what, sizeof(what), "%s, %s: %zu rows, %zu accused", name,
	    telemetry, b->t.rows.n, b->out.n_flagged);
	bench_row(what, bench_best(ROUNDS, bench_rivals_once, b) * 1e3, "ms",
	    b->algo == &algo_flock ? '<' : '-', goal);
	/* A first window also sorts out what paths cross. */
	if (b->algo == &algo_flock)
		bench_row("  the first of a network",
		    bench_best(ROUNDS, bench_rivals_first, b) * 1e3, "ms", '-',
		    0);
	algo_close(b->algo, b->work);
}

/* KIND 1 is INT, else A1+A2+P. */
void bench_rivals_flock(uint32_t kind, uint64_t times)
{
	struct bench_of_rivals b;
	struct sim_err e = {0};
	bench_rivals_open(&b,
	    kind == 1 ? OBS_TELE_INT : OBS_TELE_A1 | OBS_TELE_A2 | OBS_TELE_P,
	    150, kind == 1 ? 8 : 2);
	b.algo = &algo_flock;
	bench_rivals_must(algo_open(b.algo, &b.work, &b.topo, NULL, &e), &e);
	for (uint64_t i = 0; i < times; i++)
		bench_rivals_once(&b);
	algo_close(b.algo, b.work);
	bench_rivals_close(&b);
}

static void bench_rivals_draw(void *arg)
{
	struct bench_of_rivals *b = arg;
	struct sim_err e = {0};
	bench_rivals_must(telemetry_draw(&b->t, &b->p, &b->scene, &b->w,
			      &b->lost, &e),
	    &e);
	bench_sink += b->t.rows.n;
}

/* The simulator that comes with Flock, in Python, made at most 17,500 flows of
 * this network a second, on a machine of two shared cores. */
static void bench_rivals_epoch(struct bench_of_rivals *b, const char *telemetry)
{
	char what[64];
	const double flows = 150. * b->topo.n_hosts;
	const double s = bench_best(ROUNDS, bench_rivals_draw, b);
	snprintf(what, sizeof(what), "%s: flows drawn", telemetry);
	bench_row(what, flows / s, "1/s", '>', 100 * 17500.);
}

void bench_rivals(void)
{
	static const char *const names[] = {"flock", "netbouncer", "vote_flock",
	    "score_passive", "detector"};
	struct bench_of_rivals b;
	bench_rivals_open(&b, OBS_TELE_INT, 150, 8);
	bench_rivals_epoch(&b, "int");
	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		bench_rivals_row(&b, names[i], "int", 10);
	bench_rivals_close(&b);
	bench_rivals_open(&b, OBS_TELE_A1 | OBS_TELE_A2 | OBS_TELE_P, 150, 2);
	bench_rivals_epoch(&b, "a1+a2+p");
	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		bench_rivals_row(&b, names[i], "a1+a2+p", 60);
	bench_rivals_close(&b);
}

/* --- Sieve beside Flock --------------------------------------------------- */

/* Both on the same window, by turns. */
static void bench_sieve_row(struct bench_of_rivals *b, const char *telemetry,
    int rounds, double goal, double published)
{
	struct bench_of_rivals flock = *b, sieve = *b;
	struct sim_err e = {0};
	char what[128];
	flock.algo = algo_find("flock");
	sieve.algo = algo_find("sieve");
	flock.out = sieve.out = (struct algo_verdicts){0};
	bench_rivals_must(algo_open(flock.algo, &flock.work, &b->topo, NULL,
			      &e),
	    &e);
	bench_rivals_must(algo_open(sieve.algo, &sieve.work, &b->topo, NULL,
			      &e),
	    &e);
	/* The first window also sorts out what paths cross. */
	bench_rivals_once(&flock);
	bench_rivals_once(&sieve);
	const struct bench_pair p = bench_against(rounds, bench_rivals_once,
	    &flock, bench_rivals_once, &sieve);
	snprintf(what, sizeof(what), "%s: Sieve, %zu accused", telemetry,
	    sieve.out.n_flagged);
	bench_row(what, p.b_s * 1e3, "ms", goal > 0 ? '<' : '-', goal);
	snprintf(what, sizeof(what), "  Flock, %zu accused",
	    flock.out.n_flagged);
	bench_row(what, p.a_s * 1e3, "ms", '-', 0);
	bench_row("  Flock's time / Sieve's", p.ratio, "", '>', 10);
	if (published > 0)
		bench_row("  against published (another machine)",
		    published / (p.b_s * 1e3), "", '-', 0);
	algo_close(flock.algo, flock.work);
	algo_close(sieve.algo, sieve.work);
	algo_verdicts_free(&flock.out);
	algo_verdicts_free(&sieve.out);
}

/* KIND is the telemetry's bits. */
void bench_sieve_run(uint32_t kind, uint64_t times)
{
	struct bench_of_rivals b;
	struct sim_err e = {0};
	bench_rivals_open(&b, kind, 150, 8);
	b.algo = algo_find("sieve");
	bench_rivals_must(algo_open(b.algo, &b.work, &b.topo, NULL, &e), &e);
	for (uint64_t i = 0; i < times; i++)
		bench_rivals_once(&b);
	algo_close(b.algo, b.work);
	bench_rivals_close(&b);
}

static void bench_sieve_at(int is_large, unsigned kinds, const char *telemetry,
    double published)
{
	const struct algo_ops *sieve = algo_find("sieve");
	struct bench_of_rivals b;
	char what[80];
	if (sieve->needs & ~telemetry_holds(kinds))
		return;
	bench_rivals_open_at(&b, is_large, kinds, is_large ? 100 : 150, 8);
	snprintf(what, sizeof(what), "%s, %u links, %u flows", telemetry,
	    b.topo.n_links, b.p.flows * b.topo.n_hosts);
	bench_sieve_row(&b, what, is_large ? 3 : ROUNDS, is_large ? 100 : 0,
	    published);
	bench_rivals_close(&b);
}

/* Eight links fail. The goals are ratios of at least 10, and 100 ms of the large
 * network; its memory is told, with that of drawing the window. Of two telemetries
 * there are times of the program that Flock came with, in ms, on windows as large
 * as these but not the same, and of another machine: what is told against those is
 * no measurement of ours. */
void bench_sieve(void)
{
	static const struct {
		unsigned kinds;
		const char *name;
		double published;
	} all[] = {{OBS_TELE_INT, "int", 80}, {OBS_TELE_A1, "a1", 0},
	    {OBS_TELE_A2, "a2", 0}, {OBS_TELE_A2 | OBS_TELE_P, "a2+p", 0},
	    {OBS_TELE_A1 | OBS_TELE_A2 | OBS_TELE_P, "a1+a2+p", 650},
	    {OBS_TELE_P, "p", 0}, {OBS_TELE_A1 | OBS_TELE_P, "a1+p", 0}};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		bench_sieve_at(0, all[i].kinds, all[i].name, all[i].published);
	bench_sieve_at(1, OBS_TELE_INT, "int", 0);
	bench_row("  memory at most", (double)bench_peak_bytes() / 1048576,
	    "MiB", '-', 0);
}
