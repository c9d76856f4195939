/* experiments/cmd/jobs.c -- culprit jobs: the analysis of a recording.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "experiments/cmd/cmd.h"
#include "experiments/cmd/jobs_live.h"
#include "experiments/cmd/jobs_tell.h"
#include "experiments/pingmesh/dsa/many.h"
#include "experiments/pingmesh/dsa/merge.h"
#include "experiments/sweep/progress.h"
#include "models/clock.h"

#define MAX_S 1e9

struct args {
	struct cmd_words files;
	const char *output;
	double window_s, from_s, to_s; /* NaN if not given */
	uint32_t jobs;                 /* 0: by the window */
	struct xp_shard shard;         /* n 0: not given */
	int json, quiet, force, merge;
	struct cmd_jobs_live live;
};

/* --- options ---------------------------------------------------------------*/

/* Windows that have names, and what their files are called. */
static const struct length {
	const char *name, *suffix;
	double s;
} lengths[] = {
    {"5m", "5min", 300},
    {"10m", "10min", 600},
    {"1h", "1h", 3600},
    {"1d", "1day", 86400},
};
enum { N_LENGTHS = sizeof(lengths) / sizeof(lengths[0]) };

static void take_seconds(void *to, char *text, const struct cmd_given *g)
{
	double *s = to;
	const double min = (double)g->option->min;
	if (sim_parse_f64(text, s, NULL) < 0 || !(*s >= min && *s <= MAX_S))
		argp_error(g->state, "--%s \"%s\" is not in [%g, %g] s",
		    g->option->name, text, min, MAX_S);
}

/* A window is one of those with names, or a number of seconds from 1 on. */
static void take_window(void *to, char *text, const struct cmd_given *g)
{
	for (int i = 0; i < N_LENGTHS; i++)
		if (strcmp(lengths[i].name, text) == 0) {
			*(double *)to = lengths[i].s;
			return;
		}
	take_seconds(to, text, g);
}

/* Read names of jobs as in "sla,heatmap" into bits by the order of
 * xp_dsa_jobs[]. */
static void take_jobs(void *to, char *text, const struct cmd_given *g)
{
	uint32_t *jobs = to;
	for (char *one; (one = strsep(&text, ","));) {
		size_t n = 0;
		uint32_t bit = 0;
		for (; xp_dsa_jobs[n]; n++)
			if (strcmp(xp_dsa_jobs[n], one) == 0)
				bit = UINT32_C(1) << n;
		const char *near = sim_did_you_mean(one, xp_dsa_jobs, n);
		if (!bit)
			argp_error(g->state, "there is no job \"%s\"%s%s%s",
			    one, near ? "; did you mean \"" : "",
			    near ? near : "", near ? "\"?" : "");
		*jobs |= bit;
	}
}

static void jobs_take_shard(void *to, char *text, const struct cmd_given *g)
{
	struct sim_err e;
	if (xp_shard_read(to, text, getenv, &e) < 0)
		argp_error(g->state, "--shard %s", e.msg);
}

static const struct cmd_option jobs_options[] = {
    {"window", 0, "LENGTH", "5m, 10m, 1h, 1d or seconds (default: 10m)",
	.take = take_window, .at = CMD_AT(window_s), .min = 1},
    {"from", 0, "S", "where the first window begins, in seconds (default: 0)",
	.take = take_seconds, .at = CMD_AT(from_s)},
    {"to", 0, "S",
	"no window begins there or later (default: the recording's end)",
	.take = take_seconds, .at = CMD_AT(to_s)},
    {"job", 0, "NAME,...",
	"of drop_rate, sla, heatmap, blackhole, silent_drop, counters and "
	"http "
	"(default: by the window's length, see below)",
	.take = take_jobs, .at = CMD_AT(jobs), .values = xp_dsa_jobs},
    {"output", 'o', "FILE",
	"where tables go (default: as RECORDING, with .10min.h5 or the like, "
	"of "
	"a shard .10min.I-of-N.h5); needed for several files",
	.take = cmd_take_text, .at = CMD_AT(output)},
    {"shard", 0, "I/N",
	"only the I-th of N parts, I from 1 to N: one job of an array. auto or "
	"auto/N: I is that of the task of Slurm's array, or of the MPI rank",
	.take = jobs_take_shard, .at = CMD_AT(shard)},
    {"merge", 0, NULL,
	"the files are those of all shards, in any order: join them",
	.take = cmd_take_flag, .at = CMD_AT(merge)},
    {"force", 'f', NULL,
	"replace FILE if it holds no such tables, or is damaged; it is kept as "
	"FILE~",
	.take = cmd_take_flag, .at = CMD_AT(force)},
    {"json", 0, NULL, "the summary as JSON", .take = cmd_take_flag,
	.at = CMD_AT(json)},
    {"quiet", 'q', NULL, "no progress", .take = cmd_take_flag,
	.at = CMD_AT(quiet)},
    {.with = cmd_jobs_live_options, .at = CMD_AT(live)},
    {0},
};

/* What is laid down in shards can't be chosen when they are merged. */
static void jobs_check_merge(const struct args *a, struct argp_state *state)
{
	if (!isnan(a->window_s) || !isnan(a->from_s) || !isnan(a->to_s) ||
	    a->jobs || a->shard.n)
		argp_error(state,
		    "--merge takes neither windows, jobs nor a "
		    "shard: its files have theirs");
}

/* Windows that follow the clock can't be chosen, and go into a database. */
static void jobs_check_live(const struct args *a, struct argp_state *state)
{
	cmd_jobs_live_check(&a->live, a->files.n == 1 ? a->files.word[0] : NULL,
	    state);
	if (a->live.is_on &&
	    (!isnan(a->window_s) || !isnan(a->from_s) || !isnan(a->to_s) ||
		a->jobs || a->shard.n || a->merge || a->output || a->force ||
		a->json))
		argp_error(state,
		    "--continuous takes neither windows, jobs, a shard nor "
		    "-o");
}

static void jobs_check(const void *args, struct argp_state *state)
{
	const struct args *a = args;
	jobs_check_live(a, state);
	if (a->live.is_on)
		return;
	if (a->output && !*a->output)
		argp_error(state, "-o needs a name");
	if ((a->merge || a->files.n > 1) && !a->output)
		argp_error(state, "%s -o FILE",
		    a->merge ? "--merge needs" : "several recordings need");
	if (a->merge)
		jobs_check_merge(a, state);
	/* NaN, without --to, is not less than anything. */
	if (a->to_s <= a->from_s || a->to_s <= 0)
		argp_error(state, "--to %g is not after --from %g", a->to_s,
		    isnan(a->from_s) ? 0 : a->from_s);
}

static const struct cmd_line jobs_line = {
    .options = jobs_options,
    .word = {"RECORDING", .take = cmd_take_all, .at = CMD_AT(files)},
    .without = "which RECORDING?",
    .check = jobs_check,
    .args_doc = "RECORDING...\n--merge SHARD.h5...\n--continuous DIR --db FILE",
    .doc =
	"Run Pingmesh's analysis on each window of recordings, for each "
	"data centre, and write what it finds as tables to a file beside "
	"them; the recordings stay as they are. Windows are whole: of those "
	"that "
	"reach beyond the recording, or in which servers were silent, "
	"seen_share says what part was seen.\v"
	"Jobs run by default on windows of\n"
	"  5 minutes and less  counters\n"
	"  less than an hour   drop_rate, sla, heatmap, http\n"
	"  less than a day     these, blackhole and silent_drop\n"
	"  a day and more      these but silent_drop\n\n"
	"Tables are groups of the file: summary (a row a window and data "
	"centre), drop_rate, sla, heatmap, blackhole_tors, "
	"silent_drop_cells, counters, http. With job sla also pooled, of all "
	"windows of all recordings together (of larger scopes than servers), "
	"with quantiles at most 1/64 too high, and histogram, the counts "
	"that they are read from. recordings names what "
	"column recording counts. In Python, xarray.open_dataset(FILE, "
	"group=\"sla\").\n\n"
	"Several recordings must be of one network with the same services; "
	"the order in which they are given does not count. Memory is that of "
	"one window. Shards take whole recordings, or of fewer recordings "
	"than shards a run of windows, where a day with black holes stays "
	"whole; some may have none. All shards merged are the bytes that one "
	"process writes. A shard that is missing, there twice, damaged, of "
	"other recordings, parameters or another build is refused by "
	"name.\n\n"
	"With --continuous results go into the tables of an SQLite database "
	"instead (results/sql/schema.sql), for `culprit alerts`, pages and "
	"reports. Windows begin at whole multiples of their length, UTC. Each "
	"is made once, in one transaction; after a stop, or a kill at any "
	"moment, all that are due are made in order. One process writes a "
	"database. The keys of --set are those of `culprit controller`. "
	"SIGTERM and SIGINT end it.\n\n"
	"Exit codes: 0 good; 2 the command line is wrong, or files do not "
	"belong together; 3 a file can't be read or written, or a shard is "
	"missing.",
};

/* --- a run -----------------------------------------------------------------*/

struct run {
	const struct args *args;
	struct xp_dsa_many many;
	struct xp_dsa_merge merge;
	struct xp_dsa_digest digest;
	char *output;
	struct xp_dsa_out *out;
	struct xp_progress progress;
	struct res_progress steps;
	int begun;
};

static void clean_up(struct run *r)
{
	xp_dsa_out_discard(r->out);
	xp_dsa_many_close(&r->many);
	xp_dsa_merge_free(&r->merge);
	xp_dsa_digest_free(&r->digest);
	free(r->output);
}

/* Rounded, as 0.1 s is no whole number of ns in binary. */
static sim_ns jobs_ns_of(double s)
{
	return (sim_ns)llround(s * 1e9);
}

static int plan(struct run *r, struct sim_err *e)
{
	const struct args *a = r->args;
	const struct xp_dsa_plan p = {
	    .from = isnan(a->from_s) ? 0 : jobs_ns_of(a->from_s),
	    .to = isnan(a->to_s) ? SIM_NEVER : jobs_ns_of(a->to_s),
	    .window = jobs_ns_of(isnan(a->window_s) ? 600 : a->window_s),
	    .jobs = a->jobs,
	    .shard = a->shard.n ? a->shard : (struct xp_shard){0, 1},
	};
	return xp_dsa_many_open(&r->many, a->files.word, a->files.n, &p, e);
}

/* RECORDING without .h5, and the window: ".10min.h5", or
 * ".42s.h5" if it has no name. */
static int name_output(struct run *r, struct sim_err *e)
{
	const struct xp_shard *shard = &r->many.plan.shard;
	const char *path = r->args->files.word[0], *suffix = NULL;
	char number[32], part[32] = "", name[4096];
	for (int i = 0; i < N_LENGTHS; i++)
		if (jobs_ns_of(lengths[i].s) == r->many.plan.window)
			suffix = lengths[i].suffix;
	size_t n = strlen(path);
	if (n > 3 && strcmp(path + n - 3, ".h5") == 0)
		n -= 3;
	if (shard->n > 1)
		snprintf(part, sizeof(part), ".%u-of-%u", shard->i + 1,
		    shard->n);
	if (r->args->output)
		snprintf(name, sizeof(name), "%s", r->args->output);
	else
		snprintf(name, sizeof(name), "%.*s.%s%s%s.h5", (int)n, path,
		    suffix ? suffix : sim_format_f64(number, r->args->window_s),
		    suffix ? "" : "s", part);
	return sim_dup(&r->output, name, e);
}

/* Open the file for tables. It must not be what is read, also not by another
 * name, nor anything that can't be replaced as a whole. */
static int open_output(struct run *r, const struct xp_dsa_head *head,
    struct sim_err *e)
{
	const struct args *a = r->args;
	struct stat out;
	int rc;
	if ((rc = name_output(r, e)) < 0 ||
	    (rc = cmd_follow_link(&r->output, e)) < 0 ||
	    (rc = cmd_check_output("-o", r->output, a->files.word, a->files.n,
		 e)) < 0)
		return rc;
	if (stat(r->output, &out) == 0 && !S_ISREG(out.st_mode))
		return sim_fail(e, SIM_EINVAL, "-o %s is no file.", r->output);
	if ((rc = cmd_make_way(r->output, e)) < 0 ||
	    (rc = cmd_make_room(r->output, "jobs", a->force, e)) < 0)
		return rc;
	return xp_dsa_out_open(&r->out, r->output, head, e);
}

static void tell_done(void *arg)
{
	struct run *r = arg;
	r->steps.n_done++;
	xp_progress_update(&r->progress, &r->steps, clock_now());
}

/* Run or merge, and give the file its name. */
static int fill_output(struct run *r, const char *name, const char *unit,
    uint64_t n_steps, struct sim_err *e)
{
	const struct args *a = r->args;
	r->begun = 1;
	r->steps.n_cells = n_steps;
	r->digest.keep = a->json;
	xp_progress_start(&r->progress, a->quiet ? NULL : stderr, name, unit,
	    &r->steps, clock_now());
	int rc = a->merge
	    ? xp_dsa_merge_run(&r->merge, r->out, &r->digest, tell_done, r, e)
	    : xp_dsa_many_run(&r->many, r->out, &r->digest, tell_done, r, e);
	xp_progress_end(&r->progress, &r->steps, clock_now());
	if (rc < 0)
		return rc;
	/* From here on the file is finish()'s, and
	 * clean_up() must not discard it. */
	struct xp_dsa_out *out = r->out;
	r->out = NULL;
	return xp_dsa_out_finish(out, e);
}

/* --- what people type ------------------------------------------------------*/

/* Names of jobs with blanks between, as a file has them, to bits. */
static uint32_t jobs_of_text(const char *text)
{
	uint32_t jobs = 0;
	for (size_t n; *text; text += n + (text[n] == ' ')) {
		n = strcspn(text, " ");
		for (int i = 0; xp_dsa_jobs[i]; i++)
			if (strlen(xp_dsa_jobs[i]) == n &&
			    strncmp(xp_dsa_jobs[i], text, n) == 0)
				jobs |= UINT32_C(1) << i;
	}
	return jobs;
}

static int jobs_tell(const struct run *r, const char *what,
    const struct xp_dsa_head *head, struct sim_err *e)
{
	struct xp_dsa_params params;
	const int rc = xp_dsa_params_read(&params, head->spec, e);
	if (rc < 0)
		return rc;
	const struct cmd_jobs_told told = {.what = what,
	    .output = r->output,
	    .window_s = (double)head->window_ns[0] / 1e9,
	    .jobs = jobs_of_text(head->jobs),
	    .min_probes = params.sla.min_probes,
	    .json = r->args->json,
	    .digest = &r->digest};
	cmd_jobs_tell(&told);
	return 0;
}

static int jobs_run(struct run *r, struct sim_err *e)
{
	const struct args *a = r->args;
	const struct xp_dsa_many *m = &r->many;
	char what[4096], shard[64] = "";
	int rc;
	if ((rc = plan(r, e)) < 0 || (rc = open_output(r, &m->head, e)) < 0)
		return rc;
	if (m->plan.shard.n > 1)
		snprintf(shard, sizeof(shard), ", shard %u/%u",
		    m->plan.shard.i + 1, m->plan.shard.n);
	if (m->set.n > 1)
		snprintf(what, sizeof(what), "%zu recordings%s", m->set.n,
		    shard);
	else
		snprintf(what, sizeof(what), "%s%s", a->files.word[0], shard);
	const char *unit =
	    m->share.last - m->share.first > 1 ? "recordings" : "windows";
	rc = fill_output(r, what, unit, m->n_steps, e);
	return rc < 0 ? rc : jobs_tell(r, what, &m->head, e);
}

static int jobs_merge(struct run *r, struct sim_err *e)
{
	const struct args *a = r->args;
	const struct xp_dsa_head *head = &r->merge.head;
	int rc = xp_dsa_merge_open(&r->merge, a->files.word, a->files.n, e);
	if (rc < 0) /* a file that is not whole is no mistake in the line */
		return rc == SIM_EPARSE ? SIM_EIO : rc;
	if ((rc = open_output(r, head, e)) < 0)
		return rc;
	rc = fill_output(r, head->recording, "shards", r->merge.n, e);
	if (rc == 0)
		rc = jobs_tell(r, head->recording, head, e);
	return rc;
}

int cmd_jobs(int argc, char **argv)
{
	struct args a = {.window_s = NAN, .from_s = NAN, .to_s = NAN};
	struct sim_err e = {0};
	int rc = cmd_jobs_live_init(&a.live, &e);
	if (rc < 0)
		return cmd_fail(cmd_exit_of(rc), &e);
	cmd_parse(&jobs_line, argc, argv, &a);
	if (a.live.is_on)
		return cmd_jobs_live(&a.live, a.files.word[0], a.quiet);
	/* Too large for the stack: it has the tables of all data centres. */
	struct run *r = calloc(1, sizeof(*r));
	if (!r) {
		sim_fail(&e, SIM_ENOMEM, "no memory.");
		return cmd_fail(CMD_TROUBLE, &e);
	}
	r->args = &a;
	rc = a.merge ? jobs_merge(r, &e) : jobs_run(r, &e);
	/* What goes wrong on the way is no mistake in the command line, but for
	 * files that do not belong together. */
	int code = rc < 0 ? cmd_exit_of(rc) : CMD_GOOD;
	if (r->begun && code == CMD_USAGE && rc != SIM_EMISMATCH)
		code = CMD_TROUBLE;
	if (rc < 0)
		cmd_fail(code, &e);
	clean_up(r);
	free(r);
	return code;
}
