/* experiments/cmd_run.c -- culprit run: a sweep, a shard of it, or one cell.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "experiments/cmd.h"
#include "experiments/run.h"
#include "experiments/trial.h"
#include "results/provenance.h"

enum {
	KEY_SMOKE = 1000,
	KEY_SHARD,
	KEY_FRESH,
	KEY_POINT,
	KEY_RUN,
	KEY_RUNS,
	KEY_JSON,
	MAX_SET = 256
};

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0,
     "results file (results/out/FIGURE.h5; with --shard "
     "FIGURE.I-of-N.h5)",
     0},
    {"jobs", 'j', "N", 0, "worker processes (all processors)", 0},
    {"smoke", KEY_SMOKE, NULL, 0, "the spec's small `smoke` sweep", 0},
    {"set", 's', "PATH=VALUE", 0,
     "override a key, e.g. traffic.conns=30 (repeatable)", 0},
    {"runs", KEY_RUNS, "N", 0, "same as --set runs=N", 0},
    {"shard", KEY_SHARD, "I/N", 0,
     "only every N-th cell, I from 1: one job of an array", 0},
    {"force", 'f', NULL, 0, "replace results of another spec or version", 0},
    {"fresh", KEY_FRESH, NULL, 0,
     "start over even if results of this very spec exist", 0},
    {"point", KEY_POINT, "P", 0,
     "with --run: run this one cell and print what happened", 0},
    {"run", KEY_RUN, "R", 0, "see --point", 0},
    {"json", KEY_JSON, NULL, 0, "print a summary as JSON", 0},
    {"quiet", 'q', NULL, 0, "no progress", 0},
    {0},
};

struct args {
	const char *spec, *output;
	const char *set[MAX_SET];
	size_t n_set;
	char runs[64];
	unsigned n_workers;
	uint32_t shard_i, shard_n;
	int smoke, force, fresh, json, quiet;
	int64_t point, run; /* -1: not given */
};

static uint64_t read_number(const char *text, uint64_t min, uint64_t max,
			    const char *what, struct argp_state *state)
{
	uint64_t x;
	if (sim_parse_u64(text, &x, NULL) < 0 || x < min || x > max)
		argp_error(state, "%s \"%s\" is not in [%llu, %llu]", what,
			   text, (unsigned long long)min,
			   (unsigned long long)max);
	return x;
}

static void read_shard(const char *text, struct args *a,
		       struct argp_state *state)
{
	char i[32];
	const char *slash = strchr(text, '/');
	if (!slash || (size_t)(slash - text) >= sizeof(i))
		argp_error(state, "--shard %s is not I/N", text);
	memcpy(i, text, (size_t)(slash - text));
	i[slash - text] = '\0';
	a->shard_n =
	    (uint32_t)read_number(slash + 1, 1, 100000, "shards", state);
	a->shard_i =
	    (uint32_t)read_number(i, 1, a->shard_n, "shard", state) - 1;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	switch (key) {
	case 'o':
		a->output = arg;
		return 0;
	case 'j':
		a->n_workers =
		    (unsigned)read_number(arg, 1, 4096, "jobs", state);
		return 0;
	case 's':
		if (a->n_set == MAX_SET)
			argp_error(state, "more than %d --set", MAX_SET);
		a->set[a->n_set++] = arg;
		return 0;
	case KEY_RUNS:
		snprintf(a->runs, sizeof(a->runs), "runs=%s", arg);
		return parse('s', a->runs, state);
	case 'f':
		a->force = 1;
		return 0;
	case 'q':
		a->quiet = 1;
		return 0;
	case KEY_SMOKE:
		a->smoke = 1;
		return 0;
	case KEY_FRESH:
		a->fresh = 1;
		return 0;
	case KEY_JSON:
		a->json = 1;
		return 0;
	case KEY_SHARD:
		read_shard(arg, a, state);
		return 0;
	case KEY_POINT:
		a->point =
		    (int64_t)read_number(arg, 0, INT64_MAX, "point", state);
		return 0;
	case KEY_RUN:
		a->run = (int64_t)read_number(arg, 0, UINT32_MAX, "run", state);
		return 0;
	case ARGP_KEY_ARG:
		if (a->spec)
			argp_error(state,
				   "one SPEC at a time; \"%s\" is a "
				   "second",
				   arg);
		a->spec = arg;
		return 0;
	case ARGP_KEY_END:
		if (!a->spec)
			argp_error(state, "which SPEC?");
		if ((a->point >= 0) != (a->run >= 0))
			argp_error(state, "--point and --run go together");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "SPEC",
    .doc = "Run the sweep of SPEC: a YAML file, or the name of a figure "
	   "(experiments/NAME.yaml).\v"
	   "A sweep that was stopped or killed goes on with the same "
	   "command; finished cells stand in FILE's .journal. The results "
	   "are the same bytes for any number of jobs, shards and "
	   "interruptions.",
};

static volatile sig_atomic_t stop;

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

static void catch_signals(void)
{
	struct sigaction sa = {.sa_handler = on_signal};
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static int run_cell(struct xp_spec *s, const struct args *a, struct sim_err *e)
{
	struct xp_trial *t = NULL;
	double *row = NULL;
	struct res_cube cube;
	int rc = xp_spec_cube(s, 0, 1, &cube, e);
	if (rc < 0)
		return rc;
	if ((uint64_t)a->point >= s->n_points || (uint64_t)a->run >= s->runs)
		rc = sim_fail(
		    e, SIM_ERANGE,
		    "point %lld, run %lld: the sweep has points 0 to %zu and "
		    "runs 0 to %u.",
		    (long long)a->point, (long long)a->run, s->n_points - 1,
		    s->runs - 1);
	else if ((row = calloc(cube.row_doubles, sizeof(*row))) == NULL)
		rc = sim_fail(e, SIM_ENOMEM, "no memory for a row.");
	else if ((rc = xp_trial_open(&t, s, e)) == 0)
		rc =
		    xp_trial_run(t, (size_t)a->point, (uint32_t)a->run, row, e);
	if (rc == 0)
		xp_trial_print(t, stdout);
	xp_trial_close(t);
	free(row);
	res_cube_free(&cube);
	return rc;
}

struct complaints {
	unsigned n;
};

static void complain(void *arg, const char *message)
{
	struct complaints *c = arg;
	if (c->n++ < 10)
		fprintf(stderr, "\nculprit: %s\n", message);
}

static void print_summary(const struct res_cube *c, const char *out, int json)
{
	const struct res_progress p = res_cube_progress(c);
	if (json)
		printf("{\"figure\": \"%s\", \"cells\": %llu, \"done\": %llu, "
		       "\"failed\": %llu, \"crashed\": %llu, \"file\": "
		       "\"%s\"}\n",
		       c->figure, (unsigned long long)p.n_cells,
		       (unsigned long long)p.n_done,
		       (unsigned long long)p.n_failed,
		       (unsigned long long)p.n_crashed, out);
	else
		printf("%s: %llu of %llu cells done -> %s\n", c->figure,
		       (unsigned long long)p.n_done,
		       (unsigned long long)p.n_cells, out);
}

static int write_record(const char *out, int argc, char **argv,
			const struct args *a, const struct res_cube *c,
			double start, double wall, struct sim_err *e)
{
	const struct res_progress p = res_cube_progress(c);
	const struct res_run_record r = {
	    .argc = argc,
	    .argv = argv,
	    .start_unix_s = start,
	    .wall_s = wall,
	    .n_workers = a->n_workers,
	    .n_cells = p.n_cells,
	    .n_done = p.n_done,
	    .n_failed = p.n_failed,
	    .n_crashed = p.n_crashed,
	};
	char *path;
	int rc = xp_run_path(&path, out, ".run.json", e);
	if (rc == 0) {
		rc = res_run_record_write(path, &r, e);
		free(path);
	}
	return rc;
}

static double seconds(clockid_t clock)
{
	struct timespec ts;
	clock_gettime(clock, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static int run_sweep(struct xp_spec *s, const struct args *a, const char *out,
		     int argc, char **argv, struct sim_err *e)
{
	struct complaints complaints = {0};
	struct res_cube cube = {0};
	const struct xp_run r = {
	    .spec = s,
	    .out = out,
	    .n_workers = a->n_workers,
	    .shard_i = a->shard_i,
	    .shard_n = a->shard_n,
	    .fresh = a->fresh,
	    .replace = a->force,
	    .progress = a->quiet ? NULL : stderr,
	    .stop = &stop,
	    .complain = complain,
	    .arg = &complaints,
	};
	const double start = seconds(CLOCK_REALTIME);
	const double from = seconds(CLOCK_MONOTONIC);
	catch_signals();
	int code = CMD_GOOD, rc = xp_run_sweep(&r, &cube, e);
	if (rc == 0)
		rc = write_record(out, argc, argv, a, &cube, start,
				  seconds(CLOCK_MONOTONIC) - from, e);
	if (rc == 0) {
		const struct res_progress p = res_cube_progress(&cube);
		print_summary(&cube, out, a->json);
		code = p.n_done == p.n_cells ? CMD_GOOD : CMD_TROUBLE;
		if (stop)
			fprintf(stderr, "culprit: stopped; the same command "
					"goes on from here.\n");
	}
	res_cube_free(&cube);
	return rc < 0 ? cmd_fail(cmd_exit_of(rc), e) : code;
}

static int default_output(char **out, const struct xp_spec *s,
			  const struct args *a, struct sim_err *e)
{
	char path[256];
	if (a->output)
		return sim_yaml_dup(out, a->output, e);
	if (a->shard_n > 1)
		snprintf(path, sizeof(path), "results/out/%s.%u-of-%u.h5",
			 s->figure, a->shard_i + 1, a->shard_n);
	else
		snprintf(path, sizeof(path), "results/out/%s.h5", s->figure);
	return sim_yaml_dup(out, path, e);
}

int cmd_run(int argc, char **argv)
{
	struct args a = {.shard_n = 1, .point = -1, .run = -1};
	struct xp_spec s = {0};
	struct sim_err e = {0};
	char *path = NULL, *out = NULL;
	long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int code, rc;
	a.n_workers = n_cpus > 0 ? (unsigned)n_cpus : 1;
	argp_parse(&argp, argc, argv, 0, NULL, &a);
	if ((rc = cmd_find(&path, a.spec, "experiments", ".yaml", &e)) < 0 ||
	    (rc = xp_spec_load(&s, path, a.smoke, a.set, a.n_set, &e)) < 0 ||
	    (rc = default_output(&out, &s, &a, &e)) < 0) {
		code = cmd_fail(CMD_USAGE, &e);
	} else if (a.point >= 0) {
		rc = run_cell(&s, &a, &e);
		code = rc < 0 ? cmd_fail(cmd_exit_of(rc), &e) : CMD_GOOD;
	} else if ((rc = cmd_make_way(out, &e)) < 0) {
		code = cmd_fail(CMD_TROUBLE, &e);
	} else {
		code = run_sweep(&s, &a, out, argc, argv, &e);
	}
	free(path);
	free(out);
	xp_spec_free(&s);
	return code;
}
