/* tests/speed/trial.c -- whole trials: speed, its parts, peak memory.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiments/sweep/trial.h"
#include "models/bulk/skip.h"
#include "tests/speed/bench.h"

enum { ROUNDS = 7, RUNS = 300 };

/* 007's simulation (NSDI'18, section 6). */
#define PAPER                                                                  \
	"topology: {n_pods: 2, n_tors: 20, n_t1: 8, n_t2: 10, n_hosts: "       \
	"40}\ntraffic: {conns: 60, packets: {uniform: [1, 100]}}\n"            \
	"noise: {rate: {uniform: [0, 1e-6]}}\n"
#define LARGE                                                                  \
	"topology: {n_pods: 48, n_tors: 52, n_t1: 16, n_t2: 160, "             \
	"n_hosts: 40}\ntraffic: {conns: 60}\nplane: exact\n"

/* A failure to set up leaves nothing to measure. */
static void must(int rc, const struct sim_err *e)
{
	if (rc < 0) {
		fprintf(stderr, "bench_trial: %s\n", e->msg);
		exit(1);
	}
}

struct subject {
	struct xp_spec spec;
	struct xp_trial *trial;
	double *row;
	uint32_t next_run, n_runs;
	/* The parts. */
	struct xp_config config;
	struct topo topo;
	struct scene scene;
	struct bulk_skip *skip;
	struct obs window;
	struct losses lost;
	int with_epoch;
};

static void open_subject(struct subject *s, const char *network,
    unsigned n_faults, const char *algorithms)
{
	char path[] = "/tmp/culprit-bench-XXXXXX";
	struct sim_err e = {0};
	int fd = mkstemp(path);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
	if (!f)
		must(sim_fail(&e, SIM_EIO, "no temporary file."), &e);
	fprintf(f, "figure: bench\n%sfaults: {count: %u}\nalgorithms: [%s]\n",
	    network, n_faults, algorithms);
	fclose(f);
	*s = (struct subject){.n_runs = RUNS};
	int rc = xp_spec_load(&s->spec, path, 0, NULL, 0, &e);
	unlink(path);
	must(rc, &e);
	must(xp_trial_open(&s->trial, &s->spec, &e), &e);
	must(xp_spec_point(&s->spec, 0, &s->config, &e), &e);
	must(xp_topology_open(&s->config.topology, "", &s->topo, &e), &e);
	must(bulk_skip_open(&s->skip, &e), &e);
	s->row = calloc(res_row_doubles(s->config.n_algos), sizeof(*s->row));
	if (!s->row)
		must(sim_fail(&e, SIM_ENOMEM, "no memory."), &e);
}

static void close_subject(struct subject *s)
{
	xp_trial_close(s->trial);
	bulk_skip_close(s->skip);
	scene_free(&s->scene);
	obs_free(&s->window);
	losses_free(&s->lost);
	topo_close(&s->topo);
	xp_config_free(&s->config);
	xp_spec_free(&s->spec);
	free(s->row);
}

/* Other runs each time: a few are as costly as they come. */
static void run_trials(void *arg)
{
	struct subject *s = arg;
	struct sim_err e = {0};
	for (uint32_t i = 0; i < s->n_runs; i++)
		must(xp_trial_run(s->trial, 0, s->next_run++, s->row, &e), &e);
	bench_sink += (uint64_t)s->row[0];
}

static void run_scenes(void *arg)
{
	struct subject *s = arg;
	struct sim_err e = {0};
	for (uint32_t i = 0; i < s->n_runs; i++) {
		const struct sim_seed where = {.seed = 1, .run = s->next_run++};
		must(scene_draw(&s->scene, &s->topo, &s->config.scene, &where,
			 &e),
		    &e);
		if (s->with_epoch)
			must(bulk_skip_epoch(s->skip, &s->scene, &s->window,
				 &s->lost, &e),
			    &e);
	}
	bench_sink += s->scene.truth.n_faults;
}

static double us_of(struct subject *s, void (*fn)(void *arg))
{
	s->next_run = 0;
	return bench_best(ROUNDS, fn, s) / s->n_runs * 1e6;
}

static double trial_us(unsigned n_faults, const char *algorithms)
{
	struct subject s;
	open_subject(&s, PAPER, n_faults, algorithms);
	double us = us_of(&s, run_trials);
	close_subject(&s);
	return us;
}

static void bench_speed(unsigned n_faults)
{
	char what[64];
	struct subject s;
	snprintf(what, sizeof(what),
	    "trial: vote + alg1, 007's size, %u fault%s", n_faults,
	    n_faults > 1 ? "s" : "");
	const double us = trial_us(n_faults, "vote, alg1");
	bench_row(what, 1e6 / us, "trials/s", '>', 1000);
	bench_row("  alg1 with adjust: removal instead",
	    1e6 / trial_us(n_faults, "vote, {name: alg1, adjust: removal}"),
	    "trials/s", '>', 1000);
	open_subject(&s, PAPER, n_faults, "vote");
	const double scene = us_of(&s, run_scenes);
	s.with_epoch = 1;
	const double epoch = us_of(&s, run_scenes);
	const double vote = us_of(&s, run_trials);
	close_subject(&s);
	bench_row("  of it: the scene", scene, "us", '-', 0);
	bench_row("  of it: the epoch, skipping", epoch - scene, "us", '-', 0);
	bench_row("  of it: the vote and its score", vote - epoch, "us", '-',
	    0);
	bench_row("  of it: alg1 and its score", us - vote, "us", '-', 0);
}

void bench_trial_run(uint32_t n_faults, uint64_t k)
{
	struct subject s;
	open_subject(&s, PAPER, n_faults, "vote, alg1");
	s.n_runs = (uint32_t)k;
	run_trials(&s);
	close_subject(&s);
}

/* GOAL is a share of what a trial took before the scores of a window were made
 * together and links taken apart once: 541,519 and 5,155,502. */
static void bench_counted(unsigned n_faults, double goal)
{
	enum { COUNTED = 200 };
	char what[64];
	const double once = bench_instructions("trial-run", n_faults, COUNTED);
	const double more = once < 0
	    ? -1
	    : bench_instructions("trial-run", n_faults, 2 * COUNTED);
	snprintf(what, sizeof(what), "trial: instructions, %u fault%s",
	    n_faults, n_faults > 1 ? "s" : "");
	if (more < 0)
		printf("%-48s %10s\n", what, "skipped");
	else
		bench_row(what, (more - once) / COUNTED, "Ir", '<', goal);
}

/* --- points that share epochs --------------------------------------------- */

/* A sweep of N thresholds of alg1 beside a vote, on PLANE. */
static void open_sweep(struct subject *s, uint32_t n_points, const char *plane)
{
	char text[2048];
	struct sim_text t = {text, sizeof(text), 0};
	sim_put(&t,
	    PAPER "plane: %s\nsweep: {grid: {algorithms.1.threshold: [0.5",
	    plane);
	for (uint32_t i = 1; i < n_points; i++)
		sim_put(&t, ", %g", 0.5 * i / n_points);
	sim_put(&t, "]}}\n");
	open_subject(s, text, 10, "vote, {name: alg1}");
}

/* Run by run, as a sweep has its cells. */
static void run_points(void *arg)
{
	struct subject *s = arg;
	struct sim_err e = {0};
	for (uint32_t i = 0; i < s->n_runs; i++, s->next_run++)
		for (size_t p = 0; p < s->spec.n_points; p++)
			must(xp_trial_run(s->trial, p, s->next_run, s->row, &e),
			    &e);
	bench_sink += (uint64_t)s->row[0];
}

static void bench_trial_points(uint32_t n_points, uint64_t k, int anew)
{
	struct subject s;
	open_sweep(&s, n_points, "auto");
	if (anew)
		xp_trial_draw_anew(s.trial);
	s.n_runs = (uint32_t)k;
	run_points(&s);
	close_subject(&s);
}

void bench_trial_shared(uint32_t n_points, uint64_t k)
{
	bench_trial_points(n_points, k, 0);
}

void bench_trial_anew(uint32_t n_points, uint64_t k)
{
	bench_trial_points(n_points, k, 1);
}

/* Of a cell of a sweep of N thresholds; -1 without valgrind. */
static double count_points(const char *mode, uint32_t n)
{
	enum { COUNTED = 20 };
	const double once = bench_instructions(mode, n, COUNTED);
	const double more =
	    once < 0 ? -1 : bench_instructions(mode, n, 2 * COUNTED);
	return more < 0 ? -1 : (more - once) / COUNTED / n;
}

/* Both ways in turn, by the time of one process. */
static void bench_points_time(const char *plane, uint32_t n, uint32_t n_runs)
{
	struct subject s[2];
	char what[64];
	double us[2] = {INFINITY, INFINITY};
	for (unsigned k = 0; k < 2; k++) {
		open_sweep(&s[k], n, plane);
		s[k].n_runs = n_runs;
	}
	xp_trial_draw_anew(s[1].trial);
	for (unsigned round = 0; round < ROUNDS; round++)
		for (unsigned k = 0; k < 2; k++)
			us[k] = fmin(us[k],
			    bench_best(1, run_points, &s[k]) / n_runs / n *
				1e6);
	snprintf(what, sizeof(what), "  plane %s: a cell", plane);
	bench_row(what, us[0], "us", '-', 0);
	bench_row("    against one with its own epoch", us[0] / us[1], "x", '<',
	    1);
	close_subject(&s[0]);
	close_subject(&s[1]);
}

static void bench_points(void)
{
	enum { POINTS = 8 };
	const double shared = count_points("trial-shared", POINTS);
	const double anew = count_points("trial-anew", POINTS);
	if (shared < 0 || anew < 0) {
		printf("%-48s %10s\n", "sweep of 8 thresholds: instructions",
		    "skipped");
	} else {
		bench_row("sweep of 8 thresholds: instructions of a cell",
		    shared, "Ir", '-', 0);
		bench_row("  against one with its own epoch", shared / anew,
		    "x", '<', 0.8);
	}
	bench_points_time("auto", POINTS, 40);
	bench_points_time("exact", POINTS, 10);
	bench_points_time("agents", POINTS, 4);
}

/* Trials in a process of their own; its peak of resident memory. What this
 * process holds is counted with it, so that is given back first. */
static double peak_mib(const char *network, uint32_t n_runs, double *seconds)
{
	struct rusage use = {0};
	int status = 1;
	malloc_trim(0);
	fflush(stdout);
	const pid_t child = fork();
	if (child == 0) {
		struct subject s;
		open_subject(&s, network, 10, "vote, alg1");
		s.n_runs = n_runs;
		run_trials(&s);
		_exit(0);
	}
	if (child < 0 || wait4(child, &status, 0, &use) != child ||
	    status != 0) {
		fprintf(stderr, "bench_trial: the child failed.\n");
		exit(1);
	}
	*seconds =
	    (double)use.ru_utime.tv_sec + (double)use.ru_utime.tv_usec * 1e-6;
	return (double)use.ru_maxrss / 1024;
}

void bench_trial(void)
{
	double s;
	bench_row("trial: peak memory, 007's size, 10 faults",
	    peak_mib(PAPER, RUNS, &s), "MiB", '<', 64);
	bench_row("trial: peak memory, exact, 99,840 hosts x 60",
	    peak_mib(LARGE, 1, &s), "MiB", '<', 2048);
	bench_row("  the whole process", s, "s", '-', 0);
	bench_speed(1);
	bench_speed(10);
	bench_counted(1, 0.75 * 541519);
	bench_counted(10, 0.55 * 5155502);
	bench_points();
}
