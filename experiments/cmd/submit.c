/* experiments/cmd/submit.c -- culprit submit: a sweep as shards, on a cluster.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/check/program.h"
#include "experiments/cluster/follow.h"
#include "experiments/cmd/cmd.h"
#include "experiments/cmd/signals.h"
#include "experiments/sweep/shard.h"
#include "results/file.h"
#include "results/json.h"
#include "sim/text.h"
#include "sim/vec.h"

enum { SUBMIT_MAX_SET = 250, SUBMIT_MAX_EXTRA = 64 };

struct args {
	const char *spec, *output, *engine;
	struct cmd_set set;
	const char *extra[SUBMIT_MAX_EXTRA + 1];
	char runs[64];
	uint32_t n_shards, n_workers, at_once, retry;
	double wait_s, poll_s, patience_s;
	int smoke, force, dry_run, json, quiet, yes;
};

static void submit_take_runs(void *to, char *arg, const struct cmd_given *g)
{
	struct args *a = to;
	if (*a->runs)
		argp_error(g->state, "--runs is given twice");
	snprintf(a->runs, sizeof(a->runs), "runs=%.50s", arg);
	cmd_take_set(&a->set, a->runs, g);
}

static void take_extra(void *to, char *arg, const struct cmd_given *g)
{
	struct args *a = to;
	size_t n = 0;
	while (a->extra[n])
		n++;
	if (n == SUBMIT_MAX_EXTRA)
		argp_error(g->state, "more than %d --option", SUBMIT_MAX_EXTRA);
	a->extra[n] = arg;
}

static const struct cmd_option submit_options[] = {
    {.doc = "Who runs it:"},
    {"engine", 'e', "NAME",
	"slurm: an array; parallel: GNU parallel, here or on hosts that share "
	"this folder; local: processes of this machine (default)",
	.take = cmd_take_text, .at = CMD_AT(engine), .values = xp_engine_names},
    {"shards", 'n', "N", "into how many parts (default: 8)",
	.take = cmd_take_u32, .at = CMD_AT(n_shards), .min = 1,
	.max = XP_MAX_SHARDS},
    {"jobs", 'j', "N",
	"worker processes of a shard (default: all processors of this machine; "
	"of Slurm 1, which asks for as many CPUs)",
	.take = cmd_take_u32, .at = CMD_AT(n_workers), .min = 1, .max = 4096},
    {"at-once", 0, "N",
	"shards at the same time, on each host of parallel (default: 1; of "
	"Slurm all)",
	.take = cmd_take_u32, .at = CMD_AT(at_once), .min = 1, .max = 100000},
    {"option", 'O', "OPTION",
	"an option for sbatch or parallel, as -O --time=1:00:00 or -O "
	"--sshloginfile=hosts; may be repeated",
	.take = take_extra},
    {"retry", 0, "N",
	"start a shard again up to N times without it getting further "
	"(default: 2)",
	.take = cmd_take_u32, .at = CMD_AT(retry), .max = 1000},
    {"wait", 0, "S", "before shards are started again (default: 10)",
	.take = cmd_take_seconds, .at = CMD_AT(wait_s)},
    {"poll", 0, "S", "between looks at what they do (default: 5)",
	.take = cmd_take_seconds, .at = CMD_AT(poll_s)},
    {"give-up", 0, "S",
	"look no longer once the queue has not answered for so long (default: "
	"600); what runs goes on",
	.take = cmd_take_seconds, .at = CMD_AT(patience_s)},
    {"dry-run", 0, NULL, "write the scripts, and start nothing",
	.take = cmd_take_flag, .at = CMD_AT(dry_run)},
    {.doc = "What to run:"},
    {"smoke", 0, NULL, "the spec's small `smoke` sweep", .take = cmd_take_flag,
	.at = CMD_AT(smoke)},
    {"set", 's', "PATH=VALUE", "override a key; may be repeated",
	.take = cmd_take_set, .at = CMD_AT(set), .max = SUBMIT_MAX_SET},
    {"runs", 0, "N", "same as --set runs=N", .take = submit_take_runs,
	.max = SUBMIT_MAX_SET},
    {.doc = "Where to:"},
    {"output", 'o', "FILE",
	"results file (default: results/out/FIGURE.h5); scripts, logs and "
	"shards go to FILE's .cluster folder",
	.take = cmd_take_file, .at = CMD_AT(output)},
    {"force", 'f', NULL,
	"replace FILE if it is of another sweep; it is kept as FILE~",
	.take = cmd_take_flag, .at = CMD_AT(force)},
    {"quiet", 'q', NULL, "no progress", .take = cmd_take_flag,
	.at = CMD_AT(quiet)},
    {"yes", 'y', NULL, "shards run whatever memory they take",
	.take = cmd_take_flag, .at = CMD_AT(yes)},
    {"json", 0, NULL, "print the summary as JSON", .take = cmd_take_flag,
	.at = CMD_AT(json)},
    {.doc = "Help:", .group = -1},
    {0},
};

static void submit_check(const void *args, struct argp_state *state)
{
	const struct args *a = args;
	if (xp_engine_names[sim_word_find(xp_engine_names, a->engine)] == NULL)
		argp_error(state, "--engine %s is not slurm, parallel or local",
		    a->engine);
	if (a->extra[0] && strcmp(a->engine, "local") == 0)
		argp_error(state, "--option is for sbatch or parallel");
}

static const struct cmd_line submit_line = {
    .options = submit_options,
    .word = {"SPEC", .take = cmd_take_one, .at = CMD_AT(spec)},
    .without = "which SPEC?",
    .check = submit_check,
    .args_doc = "SPEC",
    .doc =
	"Run the sweep of SPEC as shards on many machines, and merge them: the "
	"bytes are those of `culprit run`.\v"
	"Three short scripts are written, to be read and used by hand as well: "
	"shard.sh, merge.sh, and submit.sh, which hands them to the engine. "
	"This command runs submit.sh, waits until nobody is at work, and "
	"starts "
	"again what failed, was killed or is missing; such a shard goes on "
	"where it was. `culprit status --cluster` says how far it is.\n\n"
	"It may be interrupted: jobs of Slurm go on, and merge at the end; "
	"those of this machine are ended in good order. The same command "
	"goes on. No shard is ever written by two processes, provided that the "
	"file system has locks (flock) that hold for all machines.\n\n"
	"Exit codes: 0 every cell is done; 2 the command line or the spec is "
	"wrong, or a file is of another sweep; 3 cells failed or are left to "
	"do, or a file can't be read or written.",
};

/* --- what is to be done ---------------------------------------------------- */

/* Everything that one call of the verb holds. */
struct submit {
	struct args args;
	struct xp_spec spec;
	struct res_cube whole; /* its first shard */
	struct xp_plan plan;
	char *out, *folder, cwd[4096], program[4096];
	const char *words[2 * SUBMIT_MAX_SET + 4];
};

/* Of a file that may not exist yet, whose folder does. */
static int submit_absolute(char **path, struct sim_err *e)
{
	char *copy, *folder;
	int rc = sim_dup(&copy, *path, e);
	if (rc < 0)
		return rc;
	const char *slash = strrchr(*path, '/');
	const char *name = slash ? slash + 1 : *path;
	if (!(folder = realpath(dirname(copy), NULL))) {
		rc = sim_fail(e, SIM_EIO, "there is no folder of %s.", *path);
	} else {
		char *to;
		const size_t size = strlen(folder) + strlen(name) + 2;
		if ((rc = sim_zalloc(&to, size, 1, e)) == 0) {
			snprintf(to, size, "%s/%s", folder, name);
			free(*path);
			*path = to;
		}
	}
	free(folder);
	free(copy);
	return rc;
}

static int submit_name(struct submit *s, struct sim_err *e)
{
	const struct args *a = &s->args;
	struct xp_plan *p = &s->plan;
	char path[sizeof(s->spec.figure) + 32];
	snprintf(path, sizeof(path), "results/out/%s.h5", s->spec.figure);
	int rc = sim_dup(&s->out, a->output ? a->output : path, e);
	if (rc < 0 || (rc = cmd_make_way(s->out, e)) < 0 ||
	    (rc = cmd_follow_link(&s->out, e)) < 0 ||
	    (rc = submit_absolute(&s->out, e)) < 0 ||
	    (rc = cmd_check_output("-o", s->out, s->spec.input,
		 s->spec.n_inputs, e)) < 0 ||
	    (rc = xp_plan_folder(&s->folder, s->out, e)) < 0)
		return rc;
	if (strlen(s->folder) >= sizeof(p->output))
		return sim_fail(e, SIM_ELIMIT, "the name %.40s... is too long.",
		    s->out);
	snprintf(p->figure, sizeof(p->figure), "%s", s->spec.figure);
	snprintf(p->output, sizeof(p->output), "%s", s->out);
	p->n_shards = a->n_shards;
	p->engine = (uint32_t)sim_word_find(xp_engine_names, a->engine);
	xp_plan_name(p);
	return 0;
}

/* `culprit run` gets the words that we got. */
static int submit_words(struct submit *s, struct sim_err *e)
{
	size_t n = 0;
	s->words[n++] = s->args.spec;
	if (s->args.smoke)
		s->words[n++] = "--smoke";
	if (s->args.yes)
		s->words[n++] = "--yes";
	for (size_t i = 0; i < s->args.set.n_set; i++) {
		s->words[n++] = "--set";
		s->words[n++] = s->args.set.set[i];
	}
	const ssize_t k =
	    readlink("/proc/self/exe", s->program, sizeof(s->program) - 1);
	if (k <= 0 || !getcwd(s->cwd, sizeof(s->cwd)))
		return sim_fail(e, SIM_EIO,
		    "cannot tell where this program and this folder are.");
	return 0;
}

/* What stands at the output. Returns 1 if there is nothing to do. */
static int look_at_output(struct submit *s, struct sim_err *e)
{
	struct res_progress p;
	int there, rc = res_file_look(s->out, &there, e);
	if (rc < 0 || !there)
		return rc;
	rc = xp_follow_is_whole(s->out, &s->whole, &p, e);
	if (rc >= 0)
		return rc == 1 && p.n_done == p.n_cells;
	if (s->args.force)
		return res_file_keep(s->out, e);
	char why[sizeof(e->msg)];
	snprintf(why, sizeof(why), "%s", e->msg);
	return sim_fail(e, rc,
	    "%.700s Give another name with -o, or replace it with --force, "
	    "which keeps it as %.200s~.",
	    why, s->out);
}

static int check_engine(const struct submit *s, struct sim_err *e)
{
	const char *const argv[] = {xp_engines[s->plan.engine]->needs,
	    "--version", NULL};
	const struct xp_program p = {.argv = argv,
	    .max_bytes = 1 << 20,
	    .max_cpu_s = 60};
	char *said, *erred;
	int status, rc = xp_program_run(&p, &said, &erred, &status, e);
	if (rc < 0)
		return sim_wrap(e, rc, "engine %s", s->args.engine);
	free(said);
	free(erred);
	return 0;
}

static int submit_make_folder(struct submit *s, struct sim_err *e)
{
	const struct args *a = &s->args;
	const int is_slurm = xp_engines[s->plan.engine]->ask != NULL;
	const struct xp_job j = {
	    .plan = &s->plan,
	    .folder = s->folder,
	    .cwd = s->cwd,
	    .program = s->program,
	    .words = s->words,
	    .extra = a->extra,
	    .n_workers = a->n_workers ? a->n_workers
		: is_slurm            ? 1
				      : cmd_processors(),
	    .at_once = a->at_once,
	};
	if (mkdir(s->folder, 0777) < 0 && !cmd_is_folder(s->folder))
		return res_file_failed("make folder", s->folder, e);
	return xp_job_write(&j, e);
}

static int submit_prepare(struct submit *s, struct sim_err *e)
{
	const struct args *a = &s->args;
	int rc = cmd_load_spec(&s->spec, a->spec, a->smoke, a->set.set,
	    a->set.n_set, e);
	if (rc < 0)
		return rc == SIM_ENOMEM ? rc : SIM_EINVAL;
	if (s->spec.is_real)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "%s is on a real network, of which a machine has one at a "
		    "time; `culprit run` does that.",
		    a->spec);
	if ((rc = xp_spec_cube(&s->spec, 0, a->n_shards, &s->whole, e)) < 0 ||
	    (rc = submit_name(s, e)) < 0 || (rc = submit_words(s, e)) < 0)
		return rc;
	return look_at_output(s, e);
}

/* --- doing it --------------------------------------------------------------- */

static void submit_say(void *arg, const char *line)
{
	(void)arg;
	fprintf(stderr, "culprit: %s\n", line);
}

static void submit_print(const struct submit *s, const struct xp_followed *r)
{
	const struct res_progress *p = &r->cells;
	if (!s->args.json) {
		printf("%s: %llu of %llu cells done", s->plan.figure,
		    (unsigned long long)p->n_done,
		    (unsigned long long)p->n_cells);
		if (p->n_failed + p->n_crashed > 0)
			printf(", %llu failed",
			    (unsigned long long)(p->n_failed + p->n_crashed));
		printf(" -> %s\n", r->is_merged ? s->out : s->folder);
		return;
	}
	printf("{\"figure\": ");
	res_json_text(stdout, s->plan.figure);
	printf(", \"cells\": %llu, \"done\": %llu, \"failed\": %llu, "
	       "\"crashed\": %llu, \"shards\": %u, \"rounds\": %u, "
	       "\"left\": %u, \"stopped\": %s, \"unanswered\": %s, "
	       "\"merged\": %s, \"file\": ",
	    (unsigned long long)p->n_cells, (unsigned long long)p->n_done,
	    (unsigned long long)p->n_failed, (unsigned long long)p->n_crashed,
	    s->plan.n_shards, r->n_rounds, r->n_left,
	    r->stopped ? "true" : "false", r->unanswered ? "true" : "false",
	    r->is_merged ? "true" : "false");
	res_json_text(stdout, s->out);
	printf("}\n");
}

static void submit_explain(const struct submit *s, const struct xp_followed *r)
{
	const struct xp_engine *x = xp_engines[s->plan.engine];
	if (r->stopped && x->put_end) {
		fprintf(stderr,
		    "culprit: stopped looking; the jobs go on, and the same "
		    "command looks again. To end them: ");
		x->put_end(stderr, &s->plan);
		fputc('\n', stderr);
	} else if (r->stopped) {
		fprintf(stderr,
		    "culprit: stopped; the same command goes on from here.\n");
	} else if (r->unanswered) {
		fprintf(stderr,
		    "culprit: looked no longer, as engine %s does not answer. "
		    "Nothing is lost: jobs that it has go on, and what is done "
		    "is kept in %s. Once it answers, the same command goes on "
		    "from there.\n",
		    x->name, s->folder);
	} else if (r->n_left > 0) {
		fprintf(stderr,
		    "culprit: %u of %u shards could not be finished; their "
		    "logs "
		    "in %s say why, and the same command tries again.\n",
		    r->n_left, s->plan.n_shards, s->folder);
	}
}

static int submit_follow(struct submit *s, struct sim_err *e)
{
	const struct args *a = &s->args;
	const struct xp_cluster_follow f = {
	    .plan = &s->plan,
	    .folder = s->folder,
	    .whole = &s->whole,
	    .retry = a->retry,
	    .wait_ns = (sim_ns)(a->wait_s * SIM_SEC),
	    .poll_ns = (sim_ns)(a->poll_s * SIM_SEC),
	    .patience_ns = (sim_ns)(a->patience_s * SIM_SEC),
	    .progress = a->quiet ? NULL : stderr,
	    .say = submit_say,
	    .stop = cmd_catch_signals(),
	};
	struct xp_followed r;
	const int rc = xp_follow(&f, &r, e);
	if (rc < 0)
		return cmd_fail(cmd_exit_of(rc), e);
	submit_print(s, &r);
	submit_explain(s, &r);
	return r.is_merged && r.cells.n_done == r.cells.n_cells ? CMD_GOOD
								: CMD_TROUBLE;
}

static int submit_run(struct submit *s, struct sim_err *e)
{
	int rc = submit_prepare(s, e);
	if (rc == 1) {
		const struct xp_followed done = {.is_merged = 1,
		    .cells = {res_cube_cells(&s->whole),
			res_cube_cells(&s->whole), 0, 0}};
		submit_print(s, &done);
		return CMD_GOOD;
	}
	if (rc == 0 && !s->args.dry_run)
		rc = check_engine(s, e);
	if (rc == 0)
		rc = submit_make_folder(s, e);
	if (rc < 0)
		return cmd_fail(cmd_exit_of(rc), e);
	if (s->args.dry_run) {
		printf("%s/submit.sh\n", s->folder);
		return CMD_GOOD;
	}
	return submit_follow(s, e);
}

int cmd_submit(int argc, char **argv)
{
	struct submit *s;
	struct sim_err e = {0};
	int code, rc = SIM_ZALLOC(&s, 1, &e);
	if (rc < 0)
		return cmd_fail(CMD_TROUBLE, &e);
	s->args = (struct args){.engine = "local",
	    .n_shards = 8,
	    .retry = 2,
	    .wait_s = 10,
	    .poll_s = 5,
	    .patience_s = 600};
	cmd_parse(&submit_line, argc, argv, &s->args);
	code = submit_run(s, &e);
	res_cube_free(&s->whole);
	xp_spec_free(&s->spec);
	free(s->out);
	free(s->folder);
	free(s);
	return code;
}
