/* experiments/cmd/run.c -- culprit run: a sweep, a shard of it, or one cell.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "experiments/cmd/cmd.h"
#include "experiments/cmd/signals.h"
#include "experiments/lab/lab.h"
#include "experiments/spec/fabric.h"
#include "experiments/sweep/run.h"
#include "experiments/sweep/shard.h"
#include "experiments/sweep/trial.h"
#include "models/clock.h"
#include "results/json.h"
#include "results/provenance.h"
#include "results/until.h"
#include "sim/text.h"
#include "sim/vec.h"

struct args {
	const char *spec, *output;
	struct cmd_set set;
	int real; /* `lab run`: on a real network, whatever the spec says */
	char runs[64];
	uint32_t n_workers; /* 0: not asked for */
	struct xp_shard shard;
	int smoke, force, fresh, json, quiet, yes;
	int64_t point, run; /* -1: not given */
	const char *until_ci, *metric, *algorithm;
};

enum { RUN_MAX_SET = 256 };

static void take_runs(void *to, char *arg, const struct cmd_given *g)
{
	struct args *a = to;
	if (*a->runs)
		argp_error(g->state, "--runs is given twice");
	/* The text is kept for as long as those of --set. */
	snprintf(a->runs, sizeof(a->runs), "runs=%.50s", arg);
	cmd_take_set(&a->set, a->runs, g);
}

static void take_shard(void *to, char *text, const struct cmd_given *g)
{
	struct args *a = to;
	struct sim_err e;
	if (xp_shard_read(&a->shard, text, getenv, &e) < 0)
		argp_error(g->state, "--shard %s", e.msg);
}

static const struct cmd_option cmd_run_options[] = {
    {.doc = "What to run:"},
    {"smoke", 0, NULL, "the spec's small `smoke` sweep", .take = cmd_take_flag,
	.at = CMD_AT(smoke)},
    {"set", 's', "PATH=VALUE",
	"override a key, e.g. traffic.conns=30; may be repeated",
	.take = cmd_take_set, .at = CMD_AT(set), .max = RUN_MAX_SET},
    {"runs", 0, "N", "same as --set runs=N", .take = take_runs,
	.max = RUN_MAX_SET},
    {"shard", 0, "I/N",
	"only every N-th cell, I from 1 to N: one job of an array; see "
	"`culprit merge`. auto or auto/N: I is that of the task of Slurm's "
	"array, "
	"or of the MPI rank",
	.take = take_shard},
    {"until-ci", 0, "W",
	"end each point when the 95 % interval of --metric is W wide to either "
	"side, or at the spec's `runs`; e.g. 0.02",
	.take = cmd_take_text, .at = CMD_AT(until_ci)},
    {"metric", 0, "NAME", "of --until-ci: a ratio, e.g. accuracy_fault",
	.take = cmd_take_text, .at = CMD_AT(metric)},
    {"algorithm", 0, "LABEL",
	"of --until-ci: the one whose interval counts (default: all of them)",
	.take = cmd_take_text, .at = CMD_AT(algorithm)},
    {"point", 0, "P",
	"with --run: this one cell, and print what happened in it",
	.take = cmd_take_u64, .at = CMD_AT(point), .max = INT64_MAX},
    {"run", 0, "R", "with --point: P and R count from 0", .take = cmd_take_u64,
	.at = CMD_AT(run), .max = UINT32_MAX},
    {.doc = "How:"},
    {"jobs", 'j', "N", "worker processes (default: all processors)",
	.take = cmd_take_u32, .at = CMD_AT(n_workers), .min = 1, .max = 4096},
    {"quiet", 'q', NULL, "no progress", .take = cmd_take_flag,
	.at = CMD_AT(quiet)},
    {"yes", 'y', NULL,
	"go on, however long it takes, of which nothing is said then, and "
	"whatever memory",
	.take = cmd_take_flag, .at = CMD_AT(yes)},
    {"json", 0, NULL, "print the summary as JSON", .take = cmd_take_flag,
	.at = CMD_AT(json)},
    {.doc = "Where to:"},
    {"output", 'o', "FILE",
	"results file (default: results/out/FIGURE.h5; of a shard "
	"results/out/FIGURE.I-of-N.h5); FOLDER/: that name in FOLDER",
	.take = cmd_take_file, .at = CMD_AT(output)},
    {"force", 'f', NULL,
	"replace FILE if it is of another spec or version, or damaged; it is "
	"kept as FILE~",
	.take = cmd_take_flag, .at = CMD_AT(force)},
    {"fresh", 0, NULL, "start over whatever FILE holds; it is kept as FILE~",
	.take = cmd_take_flag, .at = CMD_AT(fresh)},
    {.doc = "Help:", .group = -1},
    {0},
};

static void check_until(const struct args *a, struct argp_state *state)
{
	double half;
	char quote[64];
	if (!a->until_ci != !a->metric || (a->algorithm && !a->until_ci))
		argp_error(state, "--until-ci and --metric go together");
	if (!a->until_ci)
		return;
	if (sim_parse_f64(a->until_ci, &half, NULL) < 0 ||
	    !(half > 0 && half < 0.5))
		argp_error(state, "--until-ci %s is no number in (0, 0.5)",
		    sim_quote(quote, a->until_ci));
	if (a->shard.n > 1)
		argp_error(state,
		    "--until-ci looks at all runs of a point, and --shard has "
		    "a part of them");
	if (a->point >= 0)
		argp_error(state, "--until-ci is not for one cell");
}

static void cmd_run_check(const void *args, struct argp_state *state)
{
	const struct args *a = args;
	check_until(a, state);
	if ((a->point >= 0) != (a->run >= 0))
		argp_error(state, "--point and --run go together");
}

static const struct cmd_line cmd_run_line = {
    .options = cmd_run_options,
    .word = {"SPEC", .take = cmd_take_one, .at = CMD_AT(spec)},
    .without = "which SPEC?",
    .check = cmd_run_check,
    .args_doc = "SPEC",
    .doc =
	"Run the sweep of SPEC: a YAML file, or the name of a figure "
	"(experiments/NAME.yaml).\v"
	"A sweep that was stopped or killed goes on with the same "
	"command; cells that failed are tried again. Finished cells stand "
	"in FILE's .journal until FILE has them all. The results are the "
	"same bytes for any number of jobs, shards and interruptions; but "
	"not those of a real network (`fabric: netns`, `fabric: tun`), which "
	"takes root and one worker.\n\n"
	"A sweep that takes more memory than this machine, its cgroup or "
	"ulimit "
	"has is refused; one that takes more than is free is warned of. "
	"Of one that will take more than an hour it is told how long, once "
	"that is known by the cells that ran; on a terminal it is asked "
	"whether "
	"to go on, which it does until somebody says n.\n\n"
	"--until-ci looks at a point at few numbers of runs, fixed before, and "
	"shares the 5 % among these looks; an interval is never narrower than "
	"what a run of a kind not seen yet could change. So it holds at 95 % "
	"although it ended the point, which one that is looked at again and "
	"again until it is narrow does not. It is what `table` prints.\n\n"
	"SIGINT, SIGTERM and SIGHUP stop a sweep: what is finished is "
	"written to FILE.\n\n"
	"Exit codes: 0 every cell is done; 2 the command line or the spec "
	"is wrong, or FILE is of another spec; 3 cells failed or are left "
	"to do, or a file can't be read or written.",
};

static volatile sig_atomic_t cmd_run_stop;

static void on_signal(int sig)
{
	(void)sig;
	cmd_run_stop = 1;
}

/* A signal that is ignored stays so: nohup, and shells that start a job in the
 * background, mean it. */
const volatile sig_atomic_t *cmd_catch_signals(void)
{
	const int caught[] = {SIGINT, SIGTERM, SIGHUP};
	/* Calls of the kernel go on after a signal; the sweep looks at the flag
	 * ten times a second. */
	const struct sigaction ours = {.sa_handler = on_signal,
	    .sa_flags = SA_RESTART};
	for (size_t i = 0; i < sizeof(caught) / sizeof(caught[0]); i++) {
		struct sigaction was;
		if (sigaction(caught[i], NULL, &was) == 0 &&
		    was.sa_handler != SIG_IGN)
			sigaction(caught[i], &ours, NULL);
	}
	/* Progress that nobody reads any more is no reason to end. */
	signal(SIGPIPE, SIG_IGN);
	return &cmd_run_stop;
}

/* Run one cell without any file, to print what happened in it. It is the cell
 * of the sweep: the same point and run give the same numbers. Domain: a cell that
 * cmd_check_cell() takes. */
static int cmd_run_run_cell(struct xp_spec *s, const struct args *a,
    struct sim_err *e)
{
	struct xp_trial *t = NULL;
	double *row = NULL;
	struct res_cube cube;
	int rc = xp_spec_cube(s, 0, 1, &cube, e);
	if (rc < 0)
		return rc;
	if (!(row = calloc(cube.cell_doubles, sizeof(*row))))
		rc = sim_fail(e, SIM_ENOMEM, "no memory for a row.");
	if (rc == 0 && (rc = xp_trial_open(&t, s, e)) == 0)
		rc =
		    xp_trial_run(t, (size_t)a->point, (uint32_t)a->run, row, e);
	if (rc == 0)
		xp_trial_print(t, stdout);
	xp_trial_close(t);
	free(row);
	res_cube_free(&cube);
	return rc;
}

/* A sweep in which everything fails has one message a cell. */
enum { COMPLAINTS = 10 };

static void cmd_run_complain(void *arg, const char *message)
{
	unsigned *n = arg;
	if (++*n <= COMPLAINTS)
		fprintf(stderr, "culprit: %s\n", message);
}

static void cmd_run_print_json(const struct res_cube *c, const char *out,
    const struct xp_run_report *report)
{
	const struct res_progress p = res_cube_progress(c);
	printf("{\"figure\": ");
	res_json_text(stdout, c->figure);
	printf(", \"cells\": %llu, \"done\": %llu, \"failed\": %llu, "
	       "\"crashed\": %llu, \"before\": %llu, \"stopped\": %s, "
	       "\"file\": ",
	    (unsigned long long)p.n_cells, (unsigned long long)p.n_done,
	    (unsigned long long)p.n_failed, (unsigned long long)p.n_crashed,
	    (unsigned long long)report->n_before,
	    report->stopped ? "true" : "false");
	res_json_text(stdout, out);
	cmd_print_until_json(c);
	printf("}\n");
}

/* Say what there is to know beside the summary, on stderr, so that the summary
 * alone can be read by a program. */
static void explain(const struct res_cube *c, const struct xp_run_report *r,
    unsigned n_complaints, int fresh, int rc)
{
	const struct res_progress p = res_cube_progress(c);
	const char *again =
	    fresh ? "the same command without --fresh" : "the same command";
	if (n_complaints > COMPLAINTS)
		fprintf(stderr, "culprit: %u more cells failed.\n",
		    n_complaints - COMPLAINTS);
	if (r->stopped)
		fprintf(stderr, "culprit: stopped; %s goes on from here.\n",
		    again);
	else if (rc < 0 && r->kept_journal)
		fprintf(stderr,
		    "culprit: finished cells are kept in the journal; %s "
		    "goes on from there.\n",
		    again);
	else if (rc == 0 && p.n_failed + p.n_crashed > 0)
		fprintf(stderr,
		    "culprit: %s tries cells that failed again; --point "
		    "and --run show one.\n",
		    again);
}

/* The real fabrics of a spec: "netns, tun". */
static void name_fabrics(const struct xp_spec *s, char *out, size_t size)
{
	struct sim_text t = {out, size, 0};
	out[0] = '\0';
	for (size_t i = 0; xp_fabrics[i]; i++)
		if (s->takes[i])
			sim_put(&t, "%s%s", *out ? ", " : "",
			    xp_fabrics[i]->name);
}

/* Note beside the results how they came about: that is of this run, and so no
 * part of the results, which are the same bytes every time. */
static int write_record(const char *out, int argc, char **argv,
    const struct args *a, const struct res_cube *c, const struct xp_spec *s,
    double start, double wall, struct sim_err *e)
{
	const struct res_progress p = res_cube_progress(c);
	struct xp_lab_notes notes;
	char fabrics[64];
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
	    .more = s->is_real ? notes.note : NULL,
	};
	char *path;
	name_fabrics(s, fabrics, sizeof(fabrics));
	xp_lab_notes(&notes, fabrics);
	int rc = xp_run_path(&path, out, ".run.json", e);
	if (rc == 0) {
		rc = res_run_record_write(path, &r, e);
		free(path);
	}
	return rc;
}

/* The criterion as text, NULL without; and a word beforehand if it cannot be
 * met. */
static int make_until(char **until, const struct xp_spec *s,
    const struct args *a, struct sim_err *e)
{
	struct sim_looks l;
	double half;
	int rc;
	*until = NULL;
	if (!a->until_ci)
		return 0;
	if ((rc = sim_parse_f64(a->until_ci, &half, e)) < 0 ||
	    (rc = sim_looks_init(&l, half, RES_UNTIL_CONF, s->runs, e)) < 0)
		return rc;
	if (sim_looks_least_runs(&l) > s->runs)
		fprintf(stderr,
		    "culprit: an interval of %s to either side takes %g "
		    "runs at least, so all points will take the %u of the "
		    "spec; --runs gives more.\n",
		    a->until_ci, sim_looks_least_runs(&l), s->runs);
	return res_until_make(until, half, a->metric, a->algorithm, e);
}

static int run_sweep(struct xp_spec *s, const struct args *a, const char *out,
    int argc, char **argv, struct sim_err *e)
{
	/* What runs by itself, or among others, is asked nothing. */
	const int is_watched = isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
	unsigned n_complaints = 0;
	struct res_cube cube = {0};
	struct xp_run_report report = {0};
	char *until;
	if (cmd_check_memory(s, a->n_workers, a->shard.n, a->yes, e) < 0 ||
	    make_until(&until, s, a, e) < 0)
		return cmd_fail(CMD_USAGE, e);
	const struct xp_run r = {
	    .spec = s,
	    .out = out,
	    .n_workers = a->n_workers,
	    .shard_i = a->shard.i,
	    .shard_n = a->shard.n,
	    .until = until,
	    .fresh = a->fresh,
	    .replace = a->force,
	    .progress = a->quiet ? NULL : stderr,
	    .expect = {.out = a->yes ? NULL : stderr,
		.answers = is_watched ? STDIN_FILENO : -1,
		.long_s = XP_EXPECT_LONG_S},
	    .stop = cmd_catch_signals(),
	    .complain = cmd_run_complain,
	    .arg = &n_complaints,
	    .report = &report,
	};
	const double start = 1e-9 * (double)clock_wall();
	const sim_ns from = clock_now();
	/* What the sweep came to is kept apart: a record that can't be written
	 * is trouble, but the summary is still true. */
	int rc = xp_run_sweep(&r, &cube, e), swept = rc;
	/* A run that found everything done leaves the record of the one that
	 * did it. */
	if (rc == 0 && report.n_run > 0)
		rc = write_record(out, argc, argv, a, &cube, s, start,
		    1e-9 * (double)(clock_now() - from), e);
	int code = rc < 0 ? cmd_fail(cmd_exit_of(rc), e) : CMD_GOOD;
	if (swept == 0) {
		const struct res_progress p = res_cube_progress(&cube);
		if (a->json)
			cmd_run_print_json(&cube, out, &report);
		else
			cmd_print_cells(&cube, out);
		if (p.n_done < p.n_cells)
			code = CMD_TROUBLE;
	}
	explain(&cube, &report, n_complaints, a->fresh, swept);
	res_cube_free(&cube);
	free(until);
	return code;
}

/* What was given; if that is a folder, or nothing, a name in it. */
static int cmd_run_name_output(char **out, const struct xp_spec *s,
    const struct args *a, struct sim_err *e)
{
	const char *folder = a->output ? a->output : "results/out/";
	const size_t n = strlen(folder);
	char shard[64] = "";
	if (n == 0 || folder[n - 1] != '/')
		return sim_dup(out, folder, e);
	if (a->shard.n > 1)
		snprintf(shard, sizeof(shard), ".%u-of-%u", a->shard.i + 1,
		    a->shard.n);
	const size_t size = n + strlen(s->figure) + sizeof(shard) + 4;
	const int rc = sim_zalloc(out, size, 1, e);
	if (rc == 0)
		snprintf(*out, size, "%s%s%s.h5", folder, s->figure, shard);
	return rc;
}

/* Only one network at a time: two would take each other's CPU, and so make each
 * other's packets late. A user who asked for more workers is told. */
static int prepare_real(const struct xp_spec *s, struct args *a,
    struct sim_err *e)
{
	const unsigned min = (unsigned)(s->real_s / 60);
	char fabrics[64];
	name_fabrics(s, fabrics, sizeof(fabrics));
	if (a->n_workers > 1)
		fprintf(stderr, "culprit: on fabric %s one worker, not %u.\n",
		    fabrics, a->n_workers);
	a->n_workers = 1;
	int rc = xp_fabrics_usable(s->takes, e);
	if (rc == 0 && s->real_s > 0 && !a->quiet && a->point < 0)
		fprintf(stderr,
		    "culprit: Pingmesh on a real network takes %u min %02.0f "
		    "s for all cells, one at a time.\n",
		    min, s->real_s - 60.0 * min);
	return rc;
}

static int run_spec(struct xp_spec *s, struct args *a, int argc, char **argv,
    struct sim_err *e)
{
	char *out = NULL;
	int rc = cmd_run_name_output(&out, s, a, e), code;
	/* What was asked for comes before what this machine may, and both before
	 * anything is made: also one cell needs the network. */
	if (rc == 0 && a->point >= 0)
		rc = cmd_check_cell(s, (uint64_t)a->point, (uint64_t)a->run, e);
	if (rc == 0 && s->is_real)
		rc = prepare_real(s, a, e);
	else if (a->n_workers == 0)
		a->n_workers = cmd_processors();
	if (rc < 0) {
		code = cmd_fail(cmd_exit_of(rc), e);
	} else if (a->point >= 0) {
		rc = cmd_run_run_cell(s, a, e);
		code = rc < 0 ? cmd_fail(cmd_exit_of(rc), e) : CMD_GOOD;
	} else if ((rc = cmd_make_way(out, e)) < 0 ||
	    /* Results are replaced by renaming, which would replace a link and
	     * not the file that it leads to. */
	    (rc = cmd_follow_link(&out, e)) < 0) {
		code = cmd_fail(CMD_TROUBLE, e);
	} else if ((rc = cmd_check_output("-o", out, s->input, s->n_inputs,
			e)) < 0) {
		code = cmd_fail(CMD_USAGE, e);
	} else {
		code = run_sweep(s, a, out, argc, argv, e);
	}
	free(out);
	return code;
}

/* Gates are judged elsewhere: a run that seemed to hold them would say that they
 * passed. */
static int check_gates(const struct xp_spec *s, const struct args *a,
    struct sim_err *e)
{
	if (cmd_is_set("gates", a->set.set, a->set.n_set))
		return sim_fail(e, SIM_EINVAL,
		    "--set gates: a run judges no gates; `culprit gate` does.");
	if (sim_yaml_get(s->yaml.root, "gates"))
		fprintf(stderr,
		    "culprit: warning: %s: a run judges no gates; `culprit "
		    "gate` does.\n",
		    s->yaml.name);
	return 0;
}

/* `lab run` takes a spec that is on a real network as it stands, and puts any
 * other one on fabric netns, also one that can't be read otherwise. */
static int cmd_run_load(struct xp_spec *s, const struct args *a,
    struct sim_err *e)
{
	static const char *const ours[] = {"plane", "plane=agents", "fabric",
	    "fabric=netns"};
	const char *set[RUN_MAX_SET + 2];
	size_t n = 0;
	int rc =
	    cmd_load_spec(s, a->spec, a->smoke, a->set.set, a->set.n_set, e);
	if (!a->real || (rc == 0 && s->is_real))
		return rc;
	xp_spec_free(s);
	/* The user has the last word. */
	for (size_t i = 0; i < 4; i += 2)
		if (!cmd_is_set(ours[i], a->set.set, a->set.n_set))
			set[n++] = ours[i + 1];
	memcpy(set + n, a->set.set, a->set.n_set * sizeof(set[0]));
	return cmd_load_spec(s, a->spec, a->smoke, set, a->set.n_set + n, e);
}

static int cmd_run_run(int argc, char **argv, struct args *a)
{
	struct xp_spec s = {0};
	struct sim_err e = {0};
	int code, rc;
	cmd_parse(&cmd_run_line, argc, argv, a);
	if ((rc = cmd_run_load(&s, a, &e)) < 0 ||
	    (rc = check_gates(&s, a, &e)) < 0)
		code = cmd_fail(rc == SIM_ENOMEM ? CMD_TROUBLE : CMD_USAGE, &e);
	else
		code = run_spec(&s, a, argc, argv, &e);
	xp_spec_free(&s);
	return code;
}

int cmd_run(int argc, char **argv)
{
	struct args a = {.shard = {0, 1}, .point = -1, .run = -1};
	return cmd_run_run(argc, argv, &a);
}

int cmd_run_real(int argc, char **argv)
{
	struct args a = {.shard = {0, 1}, .point = -1, .run = -1, .real = 1};
	return cmd_run_run(argc, argv, &a);
}
