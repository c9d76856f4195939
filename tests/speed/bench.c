/* tests/speed/bench.c -- benchmarks: picks topics, times code, prints rows.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	build/tests/bench [topic...]      all topics, or those named
 *	build/tests/bench evq-hold N K    K events with N pending, for callgrind
 *	build/tests/bench everflow-feed N K  N traces under way, K times, likewise
 *	build/tests/bench rack-play KIND K  half a second of a rack, likewise
 *	build/tests/bench rivals-flock KIND K  a window of flows, likewise
 *	build/tests/bench sieve-run KIND K  Sieve on such a window, likewise
 *	build/tests/bench trial-run N K  trials with N faults, likewise
 *	build/tests/bench erspan-read 1 K  bytes of 4096 copies read, likewise
 *
 * A missed goal is printed, not an exit code: a busy machine is no error.
 */
#include "tests/speed/bench.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sim/rng.h"

static const struct topic {
	const char *name;
	void (*run)(void);
} topics[] = {
    {"scale", bench_scale}, /* first: see there */
    {"evq", bench_evq},
    {"bulk", bench_bulk},
    {"algos", bench_algos},
    {"trial", bench_trial},
    {"program", bench_program},
    {"agents", bench_agents},
    {"pinglist", bench_pinglist},
    {"pingmesh", bench_pingmesh},
    {"pingmesh-bulk", bench_pingmesh_bulk},
    {"pingmesh-events", bench_events},
    {"fabric", bench_fabric},
    {"jobs", bench_jobs},
    {"filter", bench_filter},
    {"erspan", bench_erspan},
    {"everflow", bench_everflow},
    {"bpf", bench_bpf},
    {"rack", bench_rack},
    {"packets", bench_packets},
    {"rivals", bench_rivals},
    {"sieve", bench_sieve},
    {"plug", bench_plug},
    {"skip", bench_skip},
    {"check", bench_check},
    {"figures", bench_figures},
};
enum { N_TOPICS = sizeof(topics) / sizeof(topics[0]), MAX_ROUNDS = 99 };

volatile uint64_t bench_sink;

void bench_row(const char *what, double value, const char *unit, char cmp,
    double goal)
{
	char want[32] = "-";
	const char *verdict = "";
	if (cmp != '-') {
		snprintf(want, sizeof(want), "%c= %g", cmp, goal);
		int ok = cmp == '>' ? value >= goal : value <= goal;
		verdict = ok ? "ok" : "MISSED";
	}
	printf("%-48s %10.4g  %-9s  %-8s  %s\n", what, value, unit, want,
	    verdict);
	fflush(stdout);
}

double bench_cpu_s(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static double time_once(void (*fn)(void *arg), void *arg)
{
	double start = bench_cpu_s();
	fn(arg);
	return bench_cpu_s() - start;
}

double bench_best(int rounds, void (*fn)(void *arg), void *arg)
{
	double best = time_once(fn, arg);
	for (int i = 1; i < rounds; i++) {
		double s = time_once(fn, arg);
		if (s < best)
			best = s;
	}
	return best;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

struct bench_pair bench_against(int rounds, void (*a)(void *), void *a_arg,
    void (*b)(void *), void *b_arg)
{
	struct bench_pair pair = {0};
	double ratio[MAX_ROUNDS];
	if (rounds > MAX_ROUNDS)
		rounds = MAX_ROUNDS;
	for (int i = 0; i < rounds; i++) {
		double a_s = time_once(a, a_arg), b_s = time_once(b, b_arg);
		ratio[i] = a_s / b_s;
		if (i == 0 || a_s < pair.a_s)
			pair.a_s = a_s;
		if (i == 0 || b_s < pair.b_s)
			pair.b_s = b_s;
	}
	qsort(ratio, (size_t)rounds, sizeof(ratio[0]), ascending);
	pair.ratio = (ratio[(rounds - 1) / 2] + ratio[rounds / 2]) / 2;
	return pair;
}

uint64_t bench_peak_bytes(void)
{
	struct rusage use;
	getrusage(RUSAGE_SELF, &use);
	return (uint64_t)use.ru_maxrss * 1024;
}

/* --- how fast the machine is ------------------------------------------------*/
/* Seconds of one run are not those of another where the machine has other guests
 * or another clock. So two fixed pieces of work are measured beside each topic:
 * blocks of Philox, each made of the one before, and steps through memory of
 * 16 MiB, of which each says where the next one goes. */
enum { PACE_LINES = 1 << 18, PACE_STEPS = 1000000 };
struct pace {
	double block_ns, step_ns;
};
struct pace_line {
	_Alignas(64) uint32_t next;
};

static void make_blocks(void *arg)
{
	const uint32_t key[] = {1, 2};
	uint32_t block[4] = {0};
	for (int i = 0; i < PACE_STEPS; i++)
		sim_philox_block(key, block, block);
	bench_sink += block[0];
	(void)arg;
}

static void make_steps(void *arg)
{
	const struct pace_line *line = arg;
	uint32_t at = 0;
	for (int i = 0; i < PACE_STEPS; i++)
		at = line[at].next;
	bench_sink += at;
}

/* One way through all lines, in any order (Sattolo's shuffle). */
static void lay_way(struct pace_line line[])
{
	const struct sim_seed where = {.seed = 1};
	struct sim_rng r;
	sim_rng_init(&r, &where, SIM_STREAM_TEST, 0);
	for (uint32_t i = 0; i < PACE_LINES; i++)
		line[i].next = i;
	for (uint32_t i = PACE_LINES; i-- > 1;) {
		const uint32_t k = sim_rng_below(&r, i);
		const uint32_t next = line[i].next;
		line[i].next = line[k].next;
		line[k].next = next;
	}
}

/* In a child, as memory of this process is measured. Zeros if there is none. */
static struct pace measure_pace(void)
{
	struct pace pace = {0, 0};
	int ends[2];
	if (pipe(ends) < 0)
		return pace;
	fflush(stdout);
	const pid_t child = fork();
	if (child == 0) {
		struct pace_line *line =
		    aligned_alloc(64, PACE_LINES * sizeof(*line));
		if (!line)
			_exit(1);
		lay_way(line);
		pace.block_ns = bench_best(3, make_blocks, NULL);
		pace.step_ns = bench_best(3, make_steps, line);
		_exit(write(ends[1], &pace, sizeof(pace)) != sizeof(pace));
	}
	close(ends[1]);
	if (child < 0 || read(ends[0], &pace, sizeof(pace)) != sizeof(pace))
		pace = (struct pace){0, 0};
	close(ends[0]);
	if (child > 0)
		waitpid(child, NULL, 0);
	return (struct pace){pace.block_ns * 1e9 / PACE_STEPS,
	    pace.step_ns * 1e9 / PACE_STEPS};
}

static void tell_pace(const char *topic, const char *what, double before,
    double after)
{
	const double ratio = after / before;
	printf("%s: %s took %.3g ns before, %.3g after%s\n", topic, what,
	    before, after,
	    ratio > 1.15 || ratio < 1 / 1.15
		? ": seconds between them say little"
		: "");
}

static void run_at_pace(const struct topic *t)
{
	const struct pace before = measure_pace();
	t->run();
	const struct pace after = measure_pace();
	tell_pace(t->name, "a block of Philox", before.block_ns,
	    after.block_ns);
	tell_pace(t->name, "a step in 16 MiB", before.step_ns, after.step_ns);
	fflush(stdout);
}

/* --- instructions, by callgrind --------------------------------------------*/
/* The number after "summary:" or "totals:", or -1. */
static double read_total(const char *path)
{
	char line[256];
	double total = -1;
	FILE *f = fopen(path, "r");
	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "summary: %lf", &total) == 1 ||
		    sscanf(line, "totals: %lf", &total) == 1)
			break;
	fclose(f);
	return total;
}

static void exec_callgrind(const char *out, char *const words[])
{
	char valgrind[] = "valgrind", tool[] = "--tool=callgrind", out_arg[256];
	char *argv[8] = {valgrind, tool, out_arg};
	const int quiet = open("/dev/null", O_WRONLY);
	if (quiet < 0)
		_exit(127);
	dup2(quiet, STDOUT_FILENO);
	dup2(quiet, STDERR_FILENO);
	snprintf(out_arg, sizeof(out_arg), "--callgrind-out-file=%s", out);
	for (int i = 0; i < 4 && words[i]; i++)
		argv[3 + i] = words[i];
	execvp("valgrind", argv);
	_exit(127);
}

/* At most four WORDS, NULL-terminated. */
static double count_instructions(char *const words[])
{
	char out[] = P_tmpdir "/bench-XXXXXX";
	int fd = mkstemp(out), status = -1;
	if (fd < 0)
		return -1;
	close(fd);
	pid_t child = fork();
	if (child == 0)
		exec_callgrind(out, words);
	if (child > 0)
		waitpid(child, &status, 0);
	double total = status == 0 ? read_total(out) : -1;
	unlink(out);
	return total;
}

double bench_instructions(const char *mode, uint32_t n, uint32_t k)
{
	char self[4096], n_arg[16], k_arg[16];
	const ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (len < 0)
		return -1;
	self[len] = '\0';
	snprintf(n_arg, sizeof(n_arg), "%u", n);
	snprintf(k_arg, sizeof(k_arg), "%u", k);
	char *const words[] = {self, (char *)(uintptr_t)mode, n_arg, k_arg,
	    NULL};
	return count_instructions(words);
}

double bench_program_instructions(const char *program, const char *arg)
{
	char *const words[] = {(char *)(uintptr_t)program,
	    (char *)(uintptr_t)arg, NULL};
	return count_instructions(words);
}

/* --- what people type --------------------------------------------------------*/
static int usage(const char *why)
{
	fprintf(stderr, "bench: %s\nusage: bench [topic...]\n", why);
	fprintf(stderr, "       bench evq-hold N_PENDING N_EVENTS\n");
	fprintf(stderr, "       bench everflow-feed N_LIVE N_TIMES\n");
	fprintf(stderr, "       bench erspan-read 1 N_TIMES\n");
	fprintf(stderr, "       bench rack-play KIND N_TIMES\n");
	fprintf(stderr, "       bench trial-run N_FAULTS N_TIMES\n");
	fprintf(stderr, "       bench trial-shared N_POINTS N_RUNS\n");
	fprintf(stderr, "       bench trial-anew N_POINTS N_RUNS\n");
	fprintf(stderr, "       bench rivals-flock KIND N_TIMES\n");
	fprintf(stderr, "       bench sieve-run KIND N_TIMES\ntopics:");
	for (int i = 0; i < N_TOPICS; i++)
		fprintf(stderr, " %s", topics[i].name);
	fprintf(stderr, "\n");
	return 2;
}

static int read_count(const char *text, uint64_t max, uint64_t *n)
{
	char *end;
	errno = 0;
	*n = strtoull(text, &end, 10);
	return errno == 0 && *text >= '0' && *text <= '9' && !*end && *n > 0 &&
	    *n <= max;
}

/* What callgrind runs: a fixed amount of work. */
static const struct mode {
	const char *name;
	void (*run)(uint32_t n, uint64_t k);
} modes[] = {
    {"evq-hold", bench_evq_hold},
    {"everflow-feed", bench_everflow_feed},
    {"erspan-read", bench_erspan_read},
    {"rack-play", bench_rack_play},
    {"rivals-flock", bench_rivals_flock},
    {"sieve-run", bench_sieve_run},
    {"trial-run", bench_trial_run},
    {"trial-shared", bench_trial_shared},
    {"trial-anew", bench_trial_anew},
};
enum { N_MODES = sizeof(modes) / sizeof(modes[0]) };

static int run_mode(const struct mode *m, int argc, char **argv)
{
	uint64_t n, k;
	if (argc != 4 || !read_count(argv[2], UINT32_MAX, &n) ||
	    !read_count(argv[3], UINT64_MAX, &k))
		return usage("it takes two positive numbers");
	m->run((uint32_t)n, k);
	return 0;
}

static const struct topic *find(const char *name)
{
	for (int i = 0; i < N_TOPICS; i++)
		if (strcmp(name, topics[i].name) == 0)
			return &topics[i];
	return NULL;
}

int main(int argc, char **argv)
{
	for (int i = 0; argc > 1 && i < N_MODES; i++)
		if (strcmp(argv[1], modes[i].name) == 0)
			return run_mode(&modes[i], argc, argv);
	for (int i = 1; i < argc; i++)
		if (!find(argv[i]))
			return usage("no such topic");
	printf("%-48s %10s  %-9s  %-8s\n", "what", "value", "unit", "goal");
	for (int i = 0; i < N_TOPICS; i++) {
		int wanted = argc == 1;
		for (int k = 1; k < argc; k++)
			wanted |= find(argv[k]) == &topics[i];
		if (wanted)
			run_at_pace(&topics[i]);
	}
	return 0;
}
