/* experiments/cmd/jobs.c -- culprit jobs: the analysis of a recording.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "experiments/cmd/cmd.h"
#include "experiments/pingmesh/dsa/replay.h"
#include "experiments/sweep/progress.h"
#include "models/clock.h"
#include "results/json.h"

#define MAX_S 1e9

struct args {
	const char *recording, *output;
	double window_s, from_s, to_s; /* to_s: NaN if not given */
	uint32_t jobs;                 /* 0: by the window */
	int json, quiet, force;
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

static const struct cmd_option jobs_options[] = {
    {"window", 0, "LENGTH", "5m, 10m, 1h, 1d or seconds (default: 10m)",
	.take = take_window, .at = CMD_AT(window_s), .min = 1},
    {"from", 0, "S", "where the first window begins, in seconds (default: 0)",
	.take = take_seconds, .at = CMD_AT(from_s)},
    {"to", 0, "S",
	"no window begins there or later (default: the recording's end)",
	.take = take_seconds, .at = CMD_AT(to_s)},
    {"job", 0, "NAME,...",
	"of drop_rate, sla, heatmap, blackhole, silent_drop and counters "
	"(default: by the window's length, see below)",
	.take = take_jobs, .at = CMD_AT(jobs), .values = xp_dsa_jobs},
    {"output", 'o', "FILE",
	"where tables go (default: as RECORDING, with .10min.h5 or the like)",
	.take = cmd_take_text, .at = CMD_AT(output)},
    {"force", 'f', NULL,
	"replace FILE if it holds no such tables, or is damaged; it is kept as "
	"FILE~",
	.take = cmd_take_flag, .at = CMD_AT(force)},
    {"json", 0, NULL, "the summary as JSON", .take = cmd_take_flag,
	.at = CMD_AT(json)},
    {"quiet", 'q', NULL, "no progress", .take = cmd_take_flag,
	.at = CMD_AT(quiet)},
    {0},
};

static void jobs_check(const void *args, struct argp_state *state)
{
	const struct args *a = args;
	if (a->output && !*a->output)
		argp_error(state, "-o needs a name");
	/* NaN, without --to, is not less than anything. */
	if (a->to_s <= a->from_s)
		argp_error(state, "--to %g is not after --from %g", a->to_s,
		    a->from_s);
}

static const struct cmd_line jobs_line = {
    .options = jobs_options,
    .word = {"RECORDING", .take = cmd_take_one, .at = CMD_AT(recording)},
    .without = "which RECORDING?",
    .check = jobs_check,
    .args_doc = "RECORDING",
    .doc = "Run Pingmesh's analysis on each window of a recording, for each "
	   "data centre, and write what it finds as tables to a file beside "
	   "it; the recording stays as it is. Windows are whole: of those that "
	   "reach beyond the recording, or in which servers were silent, "
	   "seen_share says what part was seen.\v"
	   "Jobs run by default on windows of\n"
	   "  5 minutes and less  counters\n"
	   "  less than an hour   drop_rate, sla, heatmap\n"
	   "  less than a day     these, blackhole and silent_drop\n"
	   "  a day and more      these but silent_drop\n\n"
	   "Tables are groups of the file: summary (a row a window and data "
	   "centre), drop_rate, sla, heatmap, blackhole_tors, "
	   "silent_drop_cells, counters. In Python, "
	   "xarray.open_dataset(FILE, group=\"sla\").",
};

/* --- a run -----------------------------------------------------------------*/

struct run {
	const struct args *args;
	struct xp_dsa_replay replay;
	char *output;
	struct xp_dsa_out *out;
};

static void clean_up(struct run *r)
{
	xp_dsa_out_discard(r->out);
	xp_dsa_replay_close(&r->replay);
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
	int rc = xp_dsa_replay_plan(&r->replay, jobs_ns_of(a->from_s),
	    isnan(a->to_s) ? SIM_NEVER : jobs_ns_of(a->to_s),
	    jobs_ns_of(a->window_s), a->jobs, e);
	return rc < 0 ? sim_wrap(e, rc, "%s", a->recording) : 0;
}

/* RECORDING without .h5, and the window: ".10min.h5", or
 * ".42s.h5" if it has no name. */
static int name_output(struct run *r, struct sim_err *e)
{
	const char *path = r->args->recording, *suffix = NULL;
	char number[32], name[4096];
	for (int i = 0; i < N_LENGTHS; i++)
		if (jobs_ns_of(lengths[i].s) == r->replay.window)
			suffix = lengths[i].suffix;
	size_t n = strlen(path);
	if (n > 3 && strcmp(path + n - 3, ".h5") == 0)
		n -= 3;
	if (r->args->output)
		snprintf(name, sizeof(name), "%s", r->args->output);
	else
		snprintf(name, sizeof(name), "%.*s.%s%s.h5", (int)n, path,
		    suffix ? suffix : sim_format_f64(number, r->args->window_s),
		    suffix ? "" : "s");
	return sim_dup(&r->output, name, e);
}

/* Open the file for tables. It must not be the recording, also not by another
 * name, nor anything that can't be replaced as a whole. */
static int open_output(struct run *r, struct sim_err *e)
{
	struct stat out;
	int rc;
	if ((rc = name_output(r, e)) < 0 ||
	    (rc = cmd_follow_link(&r->output, e)) < 0)
		return rc;
	char *const recording = (char *)(uintptr_t)r->args->recording;
	if ((rc = cmd_check_output("-o", r->output, &recording, 1, e)) < 0)
		return rc;
	if (stat(r->output, &out) == 0 && !S_ISREG(out.st_mode))
		return sim_fail(e, SIM_EINVAL, "-o %s is no file.", r->output);
	if ((rc = cmd_make_way(r->output, e)) < 0 ||
	    (rc = cmd_make_room(r->output, "jobs", r->args->force, e)) < 0)
		return rc;
	/* Only the recording's own name is noted: the same tables should be the
	 * same bytes in any folder. */
	const char *slash = strrchr(r->args->recording, '/');
	const struct xp_dsa_source source = {
	    .recording = slash ? slash + 1 : r->args->recording,
	    .recorded_by = r->replay.info->culprit,
	    .spec = r->replay.info->spec,
	    .window_ns = r->replay.window,
	    .jobs = r->replay.jobs,
	    .services = &r->replay.services,
	};
	return xp_dsa_out_open(&r->out, r->output, &source, e);
}

/* --- windows ---------------------------------------------------------------*/

struct teller {
	struct xp_progress progress;
	struct res_progress windows;
};

static void tell_done(void *arg, uint64_t n_done)
{
	struct teller *t = arg;
	t->windows.n_done = n_done;
	xp_progress_update(&t->progress, &t->windows, clock_now());
}

static int run_windows(struct run *r, struct sim_err *e)
{
	struct teller t = {.windows = {.n_cells = r->replay.n_windows}};
	xp_progress_start(&t.progress, r->args->quiet ? NULL : stderr,
	    r->args->recording, "windows", &t.windows, clock_now());
	int rc = xp_dsa_replay_run(&r->replay, r->out, tell_done, &t, e);
	xp_progress_end(&t.progress, &t.windows, clock_now());
	if (rc < 0)
		return rc;
	/* From here on the file is finish()'s, and
	 * clean_up() must not discard it. */
	struct xp_dsa_out *out = r->out;
	r->out = NULL;
	return xp_dsa_out_finish(out, e);
}

/* --- what people read ------------------------------------------------------*/

/* Who reads the tables by themselves may take a window in which half of the
 * servers were silent for a quiet one. */
static void warn_of_parts(const struct xp_dsa_replay *r)
{
	const struct xp_dsa_summary_row *least = NULL;
	size_t n = 0;
	for (size_t i = 0; i < r->summary.n; i++) {
		const struct xp_dsa_summary_row *s = &r->summary.row[i];
		if (s->seen_share >= 1 - 1e-9)
			continue;
		n++;
		if (!least || s->seen_share < least->seen_share)
			least = s;
	}
	if (least)
		fprintf(stderr,
		    "culprit: %zu of %zu windows were seen in part; the least "
		    "is %g to %g s, data centre %u: %.3g %% seen.\n",
		    n, r->summary.n, least->from_s, least->to_s,
		    least->data_centre, 100 * least->seen_share);
}

/* The highest value of any window, and when that window began. NaN: not
 * measured in any. */
struct highest {
	double value, from_s;
};

/* NaN is above nothing, so the first value that is measured replaces it. */
static void raise(struct highest *h, double value, double from_s)
{
	if (value > h->value || (isnan(h->value) && !isnan(value)))
		*h = (struct highest){value, from_s};
}

/* What the windows of a data centre come to. */
struct digest {
	size_t n_windows, n_alerting, n_patterns[8], n_tiers[8];
	uint64_t n_probes;
	double seen;
	struct highest drop_rate, p99_us;
};

static struct digest digest(const struct xp_dsa_replay *r, uint32_t dc)
{
	struct digest d = {.drop_rate = {NAN, 0}, .p99_us = {NAN, 0}};
	for (size_t i = 0; i < r->summary.n; i++) {
		const struct xp_dsa_summary_row *s = &r->summary.row[i];
		if (s->data_centre != dc)
			continue;
		d.n_windows++;
		d.n_probes += s->n_probes;
		d.seen += s->seen_share;
		raise(&d.drop_rate, s->drop_rate, s->from_s);
		raise(&d.p99_us, s->p99_us, s->from_s);
		d.n_alerting += s->n_alerts > 0;
		/* Of the patterns of ToRs and of pods the one of the greater
		 * code counts; codes begin with "not run" and "normal". */
		d.n_patterns[s->tor_pattern > s->pod_pattern
			? s->tor_pattern
			: s->pod_pattern]++;
		d.n_tiers[s->tier]++;
	}
	return d;
}

static void print_words(const char *what, const size_t n[],
    const char *const words[], size_t n_windows)
{
	/* Word 0 is "not run", which is no news if it is all there is. */
	if (n[0] == n_windows) /* not run */
		return;
	printf("  %s:", what);
	for (size_t i = 1, k = 0; words[i]; i++)
		if (n[i] > 0)
			printf("%s %s (%zu)", k++ ? "," : "", words[i], n[i]);
	printf("\n");
}

static void print_highest(const struct xp_dsa_replay *r, const struct digest *d)
{
	static const char *const units[] = {"us", "ms", "s"};
	double x = d->p99_us.value;
	size_t i = 0;
	if (d->drop_rate.value > 0)
		printf("  highest drop rate: %.3g, from %g s on\n",
		    d->drop_rate.value, d->drop_rate.from_s);
	else if (d->drop_rate.value == 0)
		printf("  no drops\n");
	if (isnan(x))
		return;
	/* In the unit that needs the fewest digits. */
	for (; i < 2 && x >= 1000; i++)
		x /= 1000;
	printf("  highest P99: %.4g %s, from %g s on%s\n", x, units[i],
	    d->p99_us.from_s,
	    r->jobs == XP_DSA_COUNTERS ? " (mean of the servers')" : "");
}

/* Alerts come of two jobs: `sla` for scopes of the network, and
 * `counters` for servers. */
static void print_alerts(const struct xp_dsa_replay *r, uint32_t dc,
    const struct digest *d)
{
	if (!(r->jobs & (XP_DSA_SLA | XP_DSA_COUNTERS)))
		return;
	printf("  alerts:");
	for (int kind = 0, k = 0; kind < ALGO_SLA_N_KINDS; kind++)
		if (r->n_alerts[dc][kind] > 0)
			printf("%s %s (%zu)", k++ ? "," : "",
			    xp_dsa_kinds[kind], r->n_alerts[dc][kind]);
	if (d->n_alerting > 0)
		printf(", in %zu window%s\n", d->n_alerting,
		    d->n_alerting > 1 ? "s" : "");
	else
		printf(" none, of scopes with %u probes or more\n",
		    /* Small scopes are not judged, which
		     * "none" alone would hide. */
		    r->params.sla.min_probes);
}

/* Say which ToRs are to be reloaded to repair black holes, and since when. */
static void print_reloads(const struct xp_dsa_replay *r, uint32_t dc)
{
	if (!(r->jobs & XP_DSA_BLACKHOLE))
		return;
	size_t n = 0;
	printf("  ToRs to reload:");
	for (size_t i = 0; i < r->reloads.n; i++) {
		const struct xp_dsa_reload *a = &r->reloads.row[i];
		if (a->data_centre == dc)
			printf("%s %u (%g s)", n++ ? "," : "", a->tor,
			    a->from_s);
	}
	printf("%s\n", n ? "" : " none");
}

static void jobs_print_summary(const struct run *run)
{
	const struct xp_dsa_replay *r = &run->replay;
	printf("%s: %llu x %g s -> %s\n", run->args->recording,
	    (unsigned long long)r->n_windows, run->args->window_s, run->output);
	for (uint32_t dc = 0; dc < r->info->n_dcs; dc++) {
		const struct digest d = digest(r, dc);
		printf("data centre %u: %llu probes, %.4g %% seen\n", dc,
		    (unsigned long long)d.n_probes,
		    100 * d.seen / (double)d.n_windows);
		print_highest(r, &d);
		print_alerts(r, dc, &d);
		print_words("patterns", d.n_patterns, xp_dsa_patterns,
		    d.n_windows);
		print_words("random drops", d.n_tiers, xp_dsa_tiers,
		    d.n_windows);
		print_reloads(r, dc);
	}
}

/* Codes are written as their words, so that nobody needs the table of codes. */
static void jobs_put_number(const char *name, double x,
    const char *const words[])
{
	printf("\"%s\": ", name);
	if (words)
		res_json_text(stdout, words[(size_t)x]);
	else
		res_json_number(stdout, x);
}

static void jobs_print_row(const struct xp_dsa_summary_row *s)
{
	const char *mark = "{";
#define X(type, name, units, doc, words)                                       \
	printf("%s", mark);                                                    \
	jobs_put_number(#name, (double)s->name, words);                        \
	mark = ", ";
	XP_DSA_SUMMARY_COLUMNS(X)
#undef X
	printf("}");
}

static void jobs_print_json(const struct run *run)
{
	const struct xp_dsa_replay *r = &run->replay;
	printf("{\"recording\": ");
	res_json_text(stdout, run->args->recording);
	res_json_text_of(stdout, "output", run->output);
	res_json_number_of(stdout, "window_s", run->args->window_s);
	printf(",\n \"windows\": [");
	for (size_t i = 0; i < r->summary.n; i++) {
		printf("%s", i ? ",\n  " : "\n  ");
		jobs_print_row(&r->summary.row[i]);
	}
	printf("],\n \"reload\": [");
	for (size_t i = 0; i < r->reloads.n; i++) {
		const struct xp_dsa_reload *a = &r->reloads.row[i];
		printf("%s{\"data_centre\": %u, \"tor\": %u, \"from_s\": ",
		    i ? ", " : "", a->data_centre, a->tor);
		res_json_number(stdout, a->from_s);
		printf("}");
	}
	printf("]}\n");
}

int cmd_jobs(int argc, char **argv)
{
	struct args a = {.window_s = 600, .to_s = NAN};
	struct sim_err e = {0};
	cmd_parse(&jobs_line, argc, argv, &a);
	/* Too large for the stack: it has the tables of all data centres. */
	struct run *r = calloc(1, sizeof(*r));
	if (!r) {
		sim_fail(&e, SIM_ENOMEM, "no memory.");
		return cmd_fail(CMD_TROUBLE, &e);
	}
	r->args = &a;
	int code = CMD_GOOD;
	int rc = xp_dsa_replay_open(&r->replay, a.recording, &e);
	if (rc < 0) /* also a recording that is none is trouble, not usage */
		code = cmd_fail(CMD_TROUBLE, &e);
	else if ((rc = plan(r, &e)) < 0 || (rc = open_output(r, &e)) < 0)
		code = cmd_fail(cmd_exit_of(rc), &e);
	else if ((rc = run_windows(r, &e)) < 0)
		code = cmd_fail(CMD_TROUBLE, &e);
	if (rc == 0) {
		warn_of_parts(&r->replay);
		if (a.json)
			jobs_print_json(r);
		else
			jobs_print_summary(r);
	}
	clean_up(r);
	free(r);
	return code;
}
