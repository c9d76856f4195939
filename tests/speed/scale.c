/* tests/speed/scale.c -- the whole program on large sweeps, and what it starts with.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each row is of runs of the program itself beside this one, each a process of its
 * own: CPU is the process's and its workers', peak memory that of the largest of
 * them. This topic comes first of all, as a child's peak begins with what this
 * process holds.
 */
#include <fcntl.h>
#include <glob.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/text.h"
#include "tests/speed/bench.h"

enum { MAX_WORDS = 256, N_SHARDS = 100 };

struct cost {
	double cpu_s, peak_mib;
};

struct subject {
	char program[4096], folder[64];
};

static void must(int good, const char *what)
{
	if (!good) {
		fprintf(stderr, "bench: cannot %s\n", what);
		exit(1);
	}
}

/* --- runs ------------------------------------------------------------------*/

static void exec_quietly(const struct subject *s, char *argv[])
{
	const int quiet = open("/dev/null", O_WRONLY);
	if (quiet < 0 || chdir(s->folder) < 0)
		_exit(127);
	dup2(quiet, STDOUT_FILENO);
	dup2(quiet, STDERR_FILENO);
	execvp(argv[0], argv);
	_exit(127);
}

static struct cost run_words(const struct subject *s, char *argv[])
{
	struct rusage use = {0};
	int status = 1;
	fflush(stdout);
	const pid_t child = fork();
	if (child == 0)
		exec_quietly(s, argv);
	must(child > 0 && wait4(child, &status, 0, &use) == child &&
		status == 0,
	    "run culprit");
	return (
	    struct cost){(double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
		(double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1e-6,
	    (double)use.ru_maxrss / 1024};
}

/* `culprit` with the words of a text, which have blanks between. */
static struct cost run(const struct subject *s, const char *format, ...)
{
	char text[16384], program[sizeof(s->program)];
	char *argv[MAX_WORDS] = {program}, *rest = text;
	size_t n = 1;
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	snprintf(program, sizeof(program), "%s", s->program);
	for (char *word; n < MAX_WORDS - 1 && (word = strsep(&rest, " "));)
		argv[n++] = word;
	return run_words(s, argv);
}

static void write_spec(const struct subject *s, const char *name,
    const char *text)
{
	char path[128];
	snprintf(path, sizeof(path), "%s/%s.yaml", s->folder, name);
	FILE *f = fopen(path, "w");
	must(f && fputs(text, f) >= 0 && fclose(f) == 0, "write a spec");
}

static int are_equal(const struct subject *s, const char *a, const char *b)
{
	char cmp[] = "cmp";
	char *argv[] = {cmp, (char *)(uintptr_t)a, (char *)(uintptr_t)b, NULL};
	int status = 1;
	const pid_t child = fork();
	if (child == 0)
		exec_quietly(s, argv);
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* --- sweeps ----------------------------------------------------------------*/

/* A hundred shards are written for their merge, so the sweep is one of almost no
 * work. */
static void bench_cells(const struct subject *s)
{
	char merge[8192] = "merge -o merged.h5";
	double most_cpu = 0, most_mib = 0;
	write_spec(s, "cells",
	    "figure: cells\nseed: 1\n"
	    "topology: {kind: clos, n_pods: 1, n_tors: 2, n_t1: 2, n_t2: 2, "
	    "n_hosts: 2}\ntraffic: {conns: 1}\nfaults: {count: 1}\n"
	    "algorithms: [vote]\nruns: 100000\nsweep: {grid: {faults.rate: "
	    "[1e-3, 2e-3, 3e-3, 4e-3, 5e-3, 6e-3, 7e-3, 8e-3, 9e-3, 1e-2]}}\n");
	const struct cost whole = run(s, "run cells.yaml -j 1 -o cells.h5");
	bench_row("sweep of 1e6 cells: peak memory", whole.peak_mib, "MiB", '<',
	    256);
	bench_row("sweep of 1e6 cells: CPU", whole.cpu_s, "s", '-', 0);
	for (int i = 1; i <= N_SHARDS; i++) {
		const struct cost one =
		    run(s, "run cells.yaml -j 1 --shard %d/%d -o s%d.h5", i,
			N_SHARDS, i);
		char name[16];
		most_cpu = fmax(most_cpu, one.cpu_s);
		most_mib = fmax(most_mib, one.peak_mib);
		snprintf(name, sizeof(name), " s%d.h5", i);
		strcat(merge, name);
	}
	bench_row("  a shard of 100: CPU above its share, at most",
	    most_cpu - whole.cpu_s / N_SHARDS, "s", '<', 0.5);
	bench_row("  a shard of 100: peak memory, at most", most_mib, "MiB",
	    '<', 64);
	const struct cost all = run(s, "%s", merge);
	bench_row("  merge of the 100: CPU", all.cpu_s, "s", '<', 5);
	bench_row("  merge of the 100: peak memory", all.peak_mib, "MiB", '<',
	    200);
	bench_row("  merged bytes are those of one run",
	    are_equal(s, "cells.h5", "merged.h5"), "1", '>', 1);
}

/* --- planes ----------------------------------------------------------------*/

static const char plane_spec[] =
    "figure: plane\nseed: 1\nruns: 400\n"
    "topology: {kind: clos, n_pods: 2, n_tors: 20, n_t1: 8, n_t2: 10, "
    "n_hosts: 40}\nalgorithms: [vote]\n";

enum { ROUNDS = 3, FEW = 10, MANY = 200, MOST = 1 << 18 };

static double plane_cpu(const struct subject *s, const char *plane,
    const char *set, int runs)
{
	return run(s,
	    "run plane.yaml -j 1 --force -o p.h5 -s plane=%s%s --runs %d",
	    plane, set, runs)
	    .cpu_s;
}

/* CPU of a trial on a plane; what a process costs without trials is taken off.
 * The system may count CPU in ticks of 10 ms, so trials are as many as take
 * fifty of them. */
static double trial_s(const struct subject *s, const char *plane,
    const char *set)
{
	const double without = plane_cpu(s, plane, set, FEW);
	for (int n = MANY;; n *= 4) {
		const double took = plane_cpu(s, plane, set, FEW + n) - without;
		if (took >= 0.5 || n >= MOST)
			return took / n;
	}
}

static int plane_ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* A trial on plane A against one on B, in turns: the median of rounds. */
static double plane_ratio(const struct subject *s, const char *a, const char *b,
    const char *set)
{
	double ratio[ROUNDS];
	for (int i = 0; i < ROUNDS; i++) {
		const double a_s = trial_s(s, a, set);
		ratio[i] = a_s / trial_s(s, b, set);
	}
	qsort(ratio, ROUNDS, sizeof(ratio[0]), plane_ascending);
	return ratio[ROUNDS / 2];
}

static void bench_planes(const struct subject *s)
{
	static const char *const uneven[][2] = {
	    {"skewed traffic: plane exact / auto",
		" -s traffic.dst=skewed -s traffic.n_hot=10 -s "
		"traffic.hot_share=0.8"},
	    {"a hot ToR: plane exact / auto",
		" -s traffic.dst=skewed -s traffic.n_hot=1 -s "
		"traffic.hot_share=0.5"},
	};
	double worst = 0;
	write_spec(s, "plane", plane_spec);
	for (int i = 0; i < 2; i++)
		bench_row(uneven[i][0],
		    plane_ratio(s, "exact", "auto", uneven[i][1]), "x", '>',
		    2.5);
	for (int i = 0; i < 4; i++) {
		char set[128];
		snprintf(set, sizeof(set),
		    " -s faults.count=%d -s noise.rate=%s", i % 2 ? 30 : 1,
		    i < 2 ? "1e-7" : "1e-3");
		worst = fmax(worst,
		    fmax(plane_ratio(s, "auto", "skip", set),
			plane_ratio(s, "auto", "exact", set)));
	}
	bench_row("plane auto / the better one, at worst of 4", worst, "x", '<',
	    1.2);
	const struct cost large = run(s,
	    "run plane.yaml -j 1 --force -o p.h5 --runs 1 -s "
	    "topology.n_pods=20970");
	bench_row("an epoch of 16.8 million hosts: CPU", large.cpu_s, "s", '-',
	    0);
	bench_row("an epoch of 16.8 million hosts: peak memory", large.peak_mib,
	    "MiB", '-', 0);
}

/* --- probes ----------------------------------------------------------------*/

/* Agents of 256 hosts, by events; what is held of a probe shows in how memory
 * grows with time. */
static void bench_probes(const struct subject *s)
{
	/* A server probes 15 near it and 15 others each 10 s. */
	enum { SHORT_S = 1200, LONG_S = 3600, PROBES_A_S = 256 * 30 / 10 };
	const char line[] = "run probes.yaml -j 1 --force -o p.h5 -s "
			    "pingmesh.duration=%d";
	write_spec(s, "probes",
	    "figure: probes\nseed: 1\nplane: pingmesh\nruns: 1\n"
	    "topology: {kind: clos, n_pods: 4, n_tors: 4, n_t1: 4, n_t2: 4, "
	    "n_hosts: 16}\nfaults: {count: 0}\nalgorithms: [blackhole]\n"
	    "pingmesh: {window: 300, pinglist: {tor_interval_s: 10, "
	    "dc_interval_s: 10}}\n");
	const struct cost brief = run(s, line, SHORT_S),
			  lengthy = run(s, line, LONG_S);
	const double n = PROBES_A_S * (double)(LONG_S - SHORT_S);
	bench_row("Pingmesh, 256 hosts: probes a second",
	    n / (lengthy.cpu_s - brief.cpu_s) / 1e6, "M/s", '>', 2);
	bench_row("Pingmesh, 256 hosts: memory that a probe adds",
	    fmax(0, lengthy.peak_mib - brief.peak_mib) * (1 << 20) / n, "bytes",
	    '<', 24);
}

/* A day of 100,000 servers for the black-hole job, and a ToR that has one: it
 * reads all windows at once, the late probes of each among them. */
static void bench_black_holes(const struct subject *s)
{
	write_spec(s, "holes",
	    "figure: holes\nseed: 1\nplane: pingmesh_bulk\nruns: 1\n"
	    "topology: {kind: clos, n_pods: 50, n_tors: 50, n_t1: 8, n_t2: 16, "
	    "n_hosts: 40}\nfaults: {kind: black_hole_1, switches: 1, tiers: "
	    "[tor], entries: 0.2}\nnoise: {rate: 6.0e-6}\n"
	    "algorithms: [blackhole]\n"
	    "pingmesh: {duration: 86400, window: 600, pinglist: "
	    "{tor_interval_s: 100, dc_interval_s: 100}}\n");
	const struct cost day = run(s, "run holes.yaml -j 1 --force -o h.h5");
	bench_row("black holes of a day of 100,000 servers", day.cpu_s, "s",
	    '<', 13.4);
	bench_row("black holes of a day of 100,000 servers, peak", day.peak_mib,
	    "MiB", '<', 512);
}

/* 10,000 hosts that each probe 288 others each five minutes, and what is held of
 * each probe: of a window all, of those before what a run tells in the end. */
static void bench_fleet(const struct subject *s)
{
	enum { SHORT_S = 1200, LONG_S = 3600, PROBES_A_S = 10000 * 288 / 300 };
	const char line[] = "run fleet.yaml -j 1 --force -o p.h5 -s "
			    "pingmesh.duration=%d";
	write_spec(s, "fleet",
	    "figure: fleet\nseed: 1\nplane: pingmesh\nruns: 1\n"
	    "topology: {kind: clos, n_pods: 10, n_tors: 25, n_t1: 4, n_t2: 4, "
	    "n_hosts: 40}\nfaults: {count: 0}\nalgorithms: [blackhole]\n"
	    "pingmesh: {along: window, window: 300, pinglist: {"
	    "tor_interval_s: 300, dc_interval_s: 300}}\n");
	const struct cost brief = run(s, line, SHORT_S),
			  lengthy = run(s, line, LONG_S);
	const double n = PROBES_A_S * (double)(LONG_S - SHORT_S);
	bench_row("Pingmesh, 10,000 hosts for an hour: CPU", lengthy.cpu_s, "s",
	    '-', 0);
	bench_row("  probes a second", n / (lengthy.cpu_s - brief.cpu_s) / 1e6,
	    "M/s", '-', 0);
	bench_row("  peak memory", lengthy.peak_mib, "MiB", '-', 0);
	bench_row("  memory that a probe adds",
	    fmax(0, lengthy.peak_mib - brief.peak_mib) * (1 << 20) / n, "bytes",
	    '<', 24);
}

/* --- the start -------------------------------------------------------------*/

/* Of a file of callgrind, as bench_instructions() reads it. */
static void bench_start(const struct subject *s)
{
	const char *const what = "culprit --version: instructions";
	const double n = bench_program_instructions(s->program, "--version");
	if (n < 0)
		printf("%-48s %10s\n", what, "skipped");
	else
		bench_row(what, n / 1e6, "M Ir", '<', 8);
}

/* The program stands beside the folder of this one. */
static void open_subject(struct subject *s)
{
	char self[4000];
	const ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	must(n > 0, "find the program");
	self[n] = '\0';
	for (int i = 0; i < 2; i++) {
		char *slash = strrchr(self, '/');
		must(slash != NULL, "find the program");
		*slash = '\0';
	}
	snprintf(s->program, sizeof(s->program), "%s/culprit", self);
	snprintf(s->folder, sizeof(s->folder),
	    P_tmpdir "/culprit-bench-XXXXXX");
	must(access(s->program, X_OK) == 0 && mkdtemp(s->folder),
	    "find build/culprit, or make a folder");
}

static void close_subject(const struct subject *s)
{
	char rm[] = "rm", how[] = "-rf", folder[sizeof(s->folder)];
	char *argv[] = {rm, how, folder, NULL};
	memcpy(folder, s->folder, sizeof(folder));
	run_words(s, argv);
}

void bench_scale(void)
{
	struct subject s;
	open_subject(&s);
	bench_start(&s);
	bench_cells(&s);
	bench_planes(&s);
	bench_probes(&s);
	bench_black_holes(&s);
	bench_fleet(&s);
	close_subject(&s);
}

/* --- figures ---------------------------------------------------------------*/

/* All of Pingmesh's, which two cores should draw in a minute. */
void bench_figures(void)
{
	struct subject s;
	char path[4200];
	glob_t specs;
	double sum = 0;
	open_subject(&s);
	snprintf(path, sizeof(path), "%.*s/../experiments/pingmesh_*.yaml",
	    (int)(strrchr(s.program, '/') - s.program), s.program);
	must(glob(path, 0, NULL, &specs) == 0, "find specs");
	for (size_t i = 0; i < specs.gl_pathc; i++) {
		const char *spec = specs.gl_pathv[i];
		const double cpu_s =
		    run(&s, "run %s -q -o figure.h5 --fresh", spec).cpu_s;
		char what[80];
		snprintf(what, sizeof(what), "figures: %.*s",
		    (int)strcspn(strrchr(spec, '/') + 1, "."),
		    strrchr(spec, '/') + 1);
		bench_row(what, cpu_s, "CPU-s", '-', 0);
		sum += cpu_s;
	}
	bench_row("figures: Pingmesh's, 60 s of two cores", sum, "CPU-s", '<',
	    120);
	globfree(&specs);
	close_subject(&s);
}
