/* experiments/cmd/jobs.c -- culprit jobs: the analysis of a recording.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "experiments/cmd.h"
#include "experiments/jobs.h"
#include "experiments/progress.h"
#include "results/json.h"
#include "results/recording.h"
#include "sim/vec.h"

enum { KEY_WINDOW = 1000, KEY_FROM, KEY_TO, KEY_JOB, KEY_JSON };
enum { MAX_WINDOWS = 10000000 };
#define MAX_S 1e9

static const struct argp_option options[] = {
    {"window", KEY_WINDOW, "LENGTH", 0,
	"5m, 10m, 1h, 1d or seconds (default: 10m)", 0},
    {"from", KEY_FROM, "S", 0,
	"where the first window begins, in seconds (default: 0)", 0},
    {"to", KEY_TO, "S", 0,
	"no window begins there or later (default: the recording's end)", 0},
    {"job", KEY_JOB, "NAME,...", 0,
	"of drop_rate, sla, heatmap, blackhole, silent_drop and counters "
	"(default: by the window's length, see below)",
	0},
    {"output", 'o', "FILE", 0,
	"where tables go (default: as RECORDING, with .10min.h5 or the like)",
	0},
    {"json", KEY_JSON, NULL, 0, "the summary as JSON", 0},
    {"quiet", 'q', NULL, 0, "no progress", 0},
    {0},
};

struct args {
	const char *recording, *output;
	double window_s, from_s, to_s; /* to_s: NaN if not given */
	uint32_t jobs;                 /* 0: by the window */
	int json, quiet;
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

static double read_seconds(const char *text, const char *option, double min,
    struct argp_state *state)
{
	double s = 0;
	if (sim_parse_f64(text, &s, NULL) < 0 || !(s >= min && s <= MAX_S))
		argp_error(state, "--%s \"%s\" is not in [%g, %g] s", option,
		    text, min, MAX_S);
	return s;
}

static double read_window(const char *text, struct argp_state *state)
{
	for (int i = 0; i < N_LENGTHS; i++)
		if (strcmp(lengths[i].name, text) == 0)
			return lengths[i].s;
	return read_seconds(text, "window", 1, state);
}

static uint32_t read_jobs(char *text, struct argp_state *state)
{
	uint32_t jobs = 0;
	for (char *one; (one = strsep(&text, ","));) {
		size_t n = 0;
		uint32_t bit = 0;
		for (; xp_dsa_jobs[n]; n++)
			if (strcmp(xp_dsa_jobs[n], one) == 0)
				bit = UINT32_C(1) << n;
		const char *near = sim_did_you_mean(one, xp_dsa_jobs, n);
		if (!bit)
			argp_error(state, "there is no job \"%s\"%s%s%s", one,
			    near ? "; did you mean \"" : "", near ? near : "",
			    near ? "\"?" : "");
		jobs |= bit;
	}
	return jobs;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	switch (key) {
	case KEY_WINDOW:
		a->window_s = read_window(arg, state);
		return 0;
	case KEY_FROM:
		a->from_s = read_seconds(arg, "from", 0, state);
		return 0;
	case KEY_TO:
		a->to_s = read_seconds(arg, "to", 0, state);
		return 0;
	case KEY_JOB:
		a->jobs |= read_jobs(arg, state);
		return 0;
	case KEY_JSON:
		a->json = 1;
		return 0;
	case 'o':
		a->output = arg;
		return 0;
	case 'q':
		a->quiet = 1;
		return 0;
	case ARGP_KEY_ARG:
		if (a->recording)
			argp_error(state,
			    "one RECORDING at a time; \"%s\" is "
			    "a second",
			    arg);
		a->recording = arg;
		return 0;
	case ARGP_KEY_END:
		if (!a->recording)
			argp_error(state, "which RECORDING?");
		if (a->output && !*a->output)
			argp_error(state, "-o needs a name");
		if (a->to_s <= a->from_s)
			argp_error(state, "--to %g is not after --from %g",
			    a->to_s, a->from_s);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
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

struct reload {
	double from_s;
	uint32_t data_centre, tor;
};

struct run {
	const struct args *args;
	struct res_recording *recording;
	const struct res_recording_info *info;
	struct xp_dsa_params params;
	struct xp_dsa_services services;
	struct xp_dsa dsa[RES_RECORDING_MAX_DCS];
	char *output;
	struct xp_dsa_out *out;

	sim_ns from, window;
	uint64_t n_windows;
	uint32_t jobs;

	/* Of a window: of all data centres, and of one. */
	struct obs_probes probes, local_probes;
	struct obs_perf counters, local_counters;
	struct xp_dsa_tables tables;

	/* Of all windows. */
	struct {
		size_t n, cap;
		struct xp_dsa_summary_row *row;
	} summary;
	struct {
		size_t n, cap;
		struct reload *row;
	} reloads;
	/* Scopes that alert, each once a window. */
	size_t n_alerts[RES_RECORDING_MAX_DCS][ALGO_SLA_N_KINDS];
};

static void clean_up(struct run *r)
{
	for (uint32_t i = 0; i < RES_RECORDING_MAX_DCS; i++)
		xp_dsa_close(&r->dsa[i]);
	xp_dsa_out_discard(r->out);
	xp_dsa_services_free(&r->services);
	xp_dsa_tables_free(&r->tables);
	obs_probes_free(&r->probes);
	obs_probes_free(&r->local_probes);
	obs_perf_free(&r->counters);
	obs_perf_free(&r->local_counters);
	res_recording_close(r->recording);
	free(r->summary.row);
	free(r->reloads.row);
	free(r->output);
}

static sim_ns ns_of(double s)
{
	return (sim_ns)llround(s * 1e9);
}

static int plan(struct run *r, struct sim_err *e)
{
	const struct args *a = r->args;
	const sim_ns to =
	    isnan(a->to_s) ? r->info->duration_ns : ns_of(a->to_s);
	r->from = ns_of(a->from_s);
	r->window = ns_of(a->window_s);
	r->jobs = a->jobs ? a->jobs : xp_dsa_jobs_of(r->window);
	if (to <= r->from)
		return sim_fail(e, SIM_ERANGE,
		    "--from %g s is not before the end of %s, at %g s.",
		    a->from_s, a->recording, (double)to / 1e9);
	r->n_windows = (to - r->from - 1) / r->window + 1;
	if (r->n_windows > MAX_WINDOWS)
		return sim_fail(e, SIM_ELIMIT, "%llu windows are more than %d.",
		    (unsigned long long)r->n_windows, MAX_WINDOWS);
	return 0;
}

/* RECORDING without .h5, and ".10min.h5". */
static int name_output(struct run *r, struct sim_err *e)
{
	const char *path = r->args->recording, *suffix = NULL;
	char number[32], name[4096];
	for (int i = 0; i < N_LENGTHS; i++)
		if (ns_of(lengths[i].s) == r->window)
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
	return sim_yaml_dup(&r->output, name, e);
}

static int open_output(struct run *r, struct sim_err *e)
{
	struct stat in, out;
	int rc;
	if ((rc = name_output(r, e)) < 0 ||
	    (rc = cmd_follow_link(&r->output, e)) < 0)
		return rc;
	if (stat(r->args->recording, &in) == 0 && stat(r->output, &out) == 0) {
		if (in.st_dev == out.st_dev && in.st_ino == out.st_ino)
			return sim_fail(e, SIM_EINVAL,
			    "-o %s is the recording itself.", r->output);
		if (!S_ISREG(out.st_mode))
			return sim_fail(e, SIM_EINVAL, "-o %s is no file.",
			    r->output);
	}
	if ((rc = cmd_make_way(r->output, e)) < 0)
		return rc;
	const char *slash = strrchr(r->args->recording, '/');
	const struct xp_dsa_source source = {
	    .recording = slash ? slash + 1 : r->args->recording,
	    .recorded_by = r->info->culprit,
	    .spec = r->info->spec,
	    .window_ns = r->window,
	    .jobs = r->jobs,
	    .services = &r->services,
	};
	return xp_dsa_out_open(&r->out, r->output, &source, e);
}

static int open_run(struct run *r, struct sim_err *e)
{
	int rc = res_recording_open(&r->recording, r->args->recording, e);
	if (rc < 0)
		return rc;
	r->info = res_recording_info(r->recording);
	const uint32_t n_hosts =
	    res_recording_first_host(r->info, r->info->n_dcs);
	if ((rc = xp_dsa_params_read(&r->params, r->info->spec, e)) < 0 ||
	    (rc = xp_dsa_services_read(&r->services, r->info->service, n_hosts,
		 e)) < 0)
		return sim_wrap(e, rc, "%s", r->args->recording);
	for (uint32_t i = 0; rc == 0 && i < r->info->n_dcs; i++)
		rc = xp_dsa_open(&r->dsa[i], &r->info->shape[i], i,
		    res_recording_first_host(r->info, i), &r->services,
		    &r->params, e);
	return rc;
}

/* --- windows ---------------------------------------------------------------*/

static int run_dc(struct run *r, const struct xp_dsa_window *w, uint32_t dc,
    struct sim_err *e)
{
	const struct obs_probes *probes = &r->probes;
	const struct obs_perf *counters = &r->counters;
	const uint32_t n_hosts = r->info->shape[dc].all_hosts;
	const uint32_t first = res_recording_first_host(r->info, dc);
	int rc = 0;
	if (r->info->n_dcs > 1) {
		if ((rc = xp_dsa_local_probes(&r->probes, first, n_hosts,
			 &r->local_probes, e)) < 0 ||
		    (rc = xp_dsa_local_counters(&r->counters, first, n_hosts,
			 &r->local_counters, e)) < 0)
			return rc;
		probes = &r->local_probes;
		counters = &r->local_counters;
	}
	rc = xp_dsa_run(&r->dsa[dc], w, r->jobs, probes, counters, &r->tables,
	    e);
	return rc < 0 ? sim_wrap(e, rc, "data centre %u, %g to %g s", dc,
			    (double)w->from / 1e9, (double)w->to / 1e9)
		      : 0;
}

/* By the rows that the column n_alerts counts: those of probes, if any. */
static void remember_alerts(struct run *r)
{
	const struct xp_dsa_tables *t = &r->tables;
	for (size_t i = 0; i < t->sla.n; i++) {
		const struct xp_dsa_sla_row *s = &t->sla.row[i];
		r->n_alerts[s->data_centre][s->kind] +=
		    s->alert_drop || s->alert_p99;
	}
	for (size_t i = 0; t->sla.n == 0 && i < t->counters.n; i++) {
		const struct xp_dsa_counters_row *c = &t->counters.row[i];
		r->n_alerts[c->data_centre][c->kind] +=
		    c->alert_drop || c->alert_p99;
	}
}

/* Keep what the summary needs of a window. */
static int remember(struct run *r, struct sim_err *e)
{
	const struct xp_dsa_tables *t = &r->tables;
	remember_alerts(r);
	int rc = SIM_RESERVE(&r->summary.row, &r->summary.cap,
	    r->summary.n + t->summary.n, e);
	for (size_t i = 0; rc == 0 && i < t->summary.n; i++)
		r->summary.row[r->summary.n++] = t->summary.row[i];
	for (size_t i = 0; rc == 0 && i < t->blackhole_tors.n; i++) {
		const struct xp_dsa_blackhole_tors_row *b =
		    &t->blackhole_tors.row[i];
		if (b->action == ALGO_BLACKHOLE_RELOAD &&
		    (rc = SIM_RESERVE(&r->reloads.row, &r->reloads.cap,
			 r->reloads.n + 1, e)) == 0)
			r->reloads.row[r->reloads.n++] =
			    (struct reload){b->from_s, b->data_centre, b->tor};
	}
	return rc;
}

static int run_window(struct run *r, uint64_t i, struct sim_err *e)
{
	struct xp_dsa_window w = {.from = r->from + i * r->window};
	int rc = 0;
	w.to = w.from + r->window;
	w.recorded_ns = res_recording_covered(r->recording, w.from, w.to);
	xp_dsa_tables_clear(&r->tables);
	if (r->jobs & XP_DSA_COUNTERS)
		rc = res_recording_counters(r->recording, w.from, w.to,
		    &r->counters, e);
	if (rc == 0 && r->jobs & ~(uint32_t)XP_DSA_COUNTERS)
		rc = res_recording_probes(r->recording, w.from, w.to,
		    &r->probes, e);
	for (uint32_t dc = 0; rc == 0 && dc < r->info->n_dcs; dc++)
		rc = run_dc(r, &w, dc, e);
	if (rc == 0 && (rc = remember(r, e)) == 0)
		rc = xp_dsa_out_add(r->out, &r->tables, e);
	return rc;
}

static sim_ns now_ns(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (sim_ns)ts.tv_sec * SIM_SEC + (sim_ns)ts.tv_nsec;
}

static int run_windows(struct run *r, struct sim_err *e)
{
	struct xp_progress progress;
	struct res_progress cells = {.n_cells = r->n_windows};
	int rc = 0;
	xp_progress_start(&progress, r->args->quiet ? NULL : stderr,
	    r->args->recording, "windows", &cells, now_ns());
	for (uint64_t i = 0; rc == 0 && i < r->n_windows; i++) {
		rc = run_window(r, i, e);
		cells.n_done += rc == 0;
		xp_progress_update(&progress, &cells, now_ns());
	}
	xp_progress_end(&progress, &cells, now_ns());
	if (rc < 0)
		return rc;
	struct xp_dsa_out *out = r->out;
	r->out = NULL;
	return xp_dsa_out_finish(out, e);
}

/* --- what people read ------------------------------------------------------*/

static void warn_of_parts(const struct run *r)
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

/* The highest of windows, and which it was of; NaN: not measured in any. */
struct highest {
	double value, from_s;
};

static void raise(struct highest *h, double value, double from_s)
{
	if (value > h->value || (isnan(h->value) && !isnan(value)))
		*h = (struct highest){value, from_s};
}

/* What windows of a data centre come to. */
struct digest {
	size_t n_windows, n_alerting, n_patterns[8], n_tiers[8];
	uint64_t n_probes;
	double seen;
	struct highest drop_rate, p99_us;
};

static struct digest digest(const struct run *r, uint32_t dc)
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
	if (n[0] == n_windows) /* not run */
		return;
	printf("  %s:", what);
	for (size_t i = 1, k = 0; words[i]; i++)
		if (n[i] > 0)
			printf("%s %s (%zu)", k++ ? "," : "", words[i], n[i]);
	printf("\n");
}

static void print_highest(const struct run *r, const struct digest *d)
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
	for (; i < 2 && x >= 1000; i++)
		x /= 1000;
	printf("  highest P99: %.4g %s, from %g s on%s\n", x, units[i],
	    d->p99_us.from_s,
	    r->jobs == XP_DSA_COUNTERS ? " (mean of the servers')" : "");
}

static void print_alerts(const struct run *r, uint32_t dc,
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
		    r->params.sla.min_probes);
}

static void print_reloads(const struct run *r, uint32_t dc)
{
	if (!(r->jobs & XP_DSA_BLACKHOLE))
		return;
	size_t n = 0;
	printf("  ToRs to reload:");
	for (size_t i = 0; i < r->reloads.n; i++) {
		const struct reload *a = &r->reloads.row[i];
		if (a->data_centre == dc)
			printf("%s %u (%g s)", n++ ? "," : "", a->tor,
			    a->from_s);
	}
	printf("%s\n", n ? "" : " none");
}

static void print_summary(const struct run *r)
{
	printf("%s: %llu x %g s -> %s\n", r->args->recording,
	    (unsigned long long)r->n_windows, r->args->window_s, r->output);
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

static void put_number(const char *name, double x, const char *const words[])
{
	printf("\"%s\": ", name);
	if (words)
		res_json_text(stdout, words[(size_t)x]);
	else
		res_json_number(stdout, x);
}

static void print_row(const struct xp_dsa_summary_row *s)
{
	const char *mark = "{";
#define X(type, name, units, doc, words)                                       \
	printf("%s", mark);                                                    \
	put_number(#name, (double)s->name, words);                             \
	mark = ", ";
	XP_DSA_SUMMARY_COLUMNS(X)
#undef X
	printf("}");
}

static void print_json(const struct run *r)
{
	printf("{\"recording\": ");
	res_json_text(stdout, r->args->recording);
	printf(", \"output\": ");
	res_json_text(stdout, r->output);
	printf(", \"window_s\": ");
	res_json_number(stdout, r->args->window_s);
	printf(",\n \"windows\": [");
	for (size_t i = 0; i < r->summary.n; i++) {
		printf("%s", i ? ",\n  " : "\n  ");
		print_row(&r->summary.row[i]);
	}
	printf("],\n \"reload\": [");
	for (size_t i = 0; i < r->reloads.n; i++) {
		const struct reload *a = &r->reloads.row[i];
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
	cmd_parse(&argp, argc, argv, &a);
	struct run *r = calloc(1, sizeof(*r));
	if (!r) {
		sim_fail(&e, SIM_ENOMEM, "no memory.");
		return cmd_fail(CMD_TROUBLE, &e);
	}
	r->args = &a;
	int code = CMD_GOOD, rc = open_run(r, &e);
	if (rc < 0) /* also a recording that is none is trouble, not usage */
		code = cmd_fail(CMD_TROUBLE, &e);
	else if ((rc = plan(r, &e)) < 0 || (rc = open_output(r, &e)) < 0)
		code = cmd_fail(cmd_exit_of(rc), &e);
	else if ((rc = run_windows(r, &e)) < 0)
		code = cmd_fail(CMD_TROUBLE, &e);
	if (rc == 0) {
		warn_of_parts(r);
		if (a.json)
			print_json(r);
		else
			print_summary(r);
	}
	clean_up(r);
	free(r);
	return code;
}
