/* experiments/cmd/table.c -- culprit table: results as a table.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "experiments/cmd/cmd.h"
#include "results/h5.h"
#include "results/table.h"

enum { MAX_COLUMNS = 256, MAX_BY = 16 };

struct args {
	struct cmd_words files;
	char *column[MAX_COLUMNS];
	size_t n_columns;
	int tsv, csv, json, runs, tidy, all, between;
	char *y, *x; /* of --trend */
	char *by[MAX_BY];
	size_t n_by;
};

/* A list with commas, of which there may be more than one. Names of columns hold
 * no comma but in an algorithm's label, for which a ? does. */
static void take_columns(void *to, char *arg, const struct cmd_given *g)
{
	struct args *a = to;
	for (char *name; (name = strsep(&arg, ","));) {
		if (!*name)
			argp_error(g->state,
			    "--columns has a name that is empty");
		if (a->n_columns == MAX_COLUMNS)
			argp_error(g->state, "--columns takes at most %d names",
			    MAX_COLUMNS);
		a->column[a->n_columns++] = name;
	}
}

static void take_trend(void *to, char *arg, const struct cmd_given *g)
{
	struct args *a = to;
	a->y = strsep(&arg, ",");
	a->x = arg;
	if (!a->x || !*a->x || !*a->y || strchr(a->x, ','))
		argp_error(g->state,
		    "--trend takes two names with a comma between, as "
		    "\"lossy_burst_rate,burst_contention\"");
}

static void take_by(void *to, char *arg, const struct cmd_given *g)
{
	struct args *a = to;
	for (char *name; (name = strsep(&arg, ","));) {
		if (!*name || a->n_by == MAX_BY)
			argp_error(g->state,
			    "--by takes 1 to %d keys that are swept", MAX_BY);
		a->by[a->n_by++] = name;
	}
}

static void table_check(const void *args, struct argp_state *state)
{
	const struct args *a = args;
	if (a->files.n > 1)
		argp_error(state, "one FILE at a time; \"%s\" is a second",
		    a->files.word[1]);
	if (a->tsv + a->csv + a->json > 1)
		argp_error(state, "one of --tsv, --csv and --json");
	if (a->runs + a->tidy + (a->y != NULL) > 1)
		argp_error(state, "one of --runs, --tidy and --trend");
	if (a->n_by > 0 && !a->y)
		argp_error(state, "--by is for --trend");
	if (a->y && (a->all || a->n_columns > 0))
		argp_error(state, "--all and --columns are not for --trend");
	if (a->between && (a->runs || a->tidy || a->y))
		argp_error(state, "--between is for a row a point");
	if (a->all && a->n_columns > 0)
		argp_error(state, "one of --all and --columns");
}

static const struct cmd_option cmd_table_options[] = {
    {.doc = "Which rows:"},
    {"runs", 0, NULL, "one row a run, with every metric as it was measured",
	.take = cmd_take_flag, .at = CMD_AT(runs)},
    {"tidy", 0, NULL,
	"one row a point, algorithm and metric: value, lo, hi, which interval, "
	"se, n, trials, runs",
	.take = cmd_take_flag, .at = CMD_AT(tidy)},
    {"trend", 0, "Y,X",
	"does Y grow with X? Mean slope over runs, its 95 % interval, and p",
	.take = take_trend},
    {"by", 0, "KEY,...", "of --trend: a row for each value of these",
	.take = take_by},
    {"between", 0, NULL, "a row a point, with intervals of ratios between runs",
	.take = cmd_take_flag, .at = CMD_AT(between)},
    {.doc = "Which columns:"},
    {"all", 'a', NULL, "all there are", .take = cmd_take_flag,
	.at = CMD_AT(all)},
    {"columns", 'c', "A,B,...",
	"these, in this order, by name or by a glob: 'faults.*,vote:*', "
	"'*:accuracy_fault'; with --tidy the metrics",
	.take = take_columns},
    {.doc = "In which form:"},
    {"tsv", 0, NULL,
	"tab-separated, the default; a tab or an end of line in a text is "
	"written as a blank",
	.take = cmd_take_flag, .at = CMD_AT(tsv)},
    {"csv", 0, NULL, "with commas, quoted as RFC 4180 has it",
	.take = cmd_take_flag, .at = CMD_AT(csv)},
    {"json", 0, NULL, "a JSON array, one object a row; NaN is null",
	.take = cmd_take_flag, .at = CMD_AT(json)},
    {0},
};

static const struct cmd_line cmd_table_line = {
    .options = cmd_table_options,
    .word = {.take = cmd_take_all, .at = CMD_AT(files)},
    .without = "which FILE?",
    .check = table_check,
    .args_doc = "FILE|FIGURE",
    .doc =
	"Print results/out/FIGURE.h5 or another FILE as a table, one row a "
	"point: the swept values, how many runs are done, and of what was "
	"measured the few metrics that most people read, with their 95 % "
	"intervals: n_failed_flows, drop_rate, unconnected_rate, p50_us, "
	"p99_us, "
	"pattern_accuracy, tier_accuracy, reload_precision, named_rate, "
	"alarm_rate, name_s; of each algorithm "
	"accuracy_fault, accuracy_kept, precision, recall, top_k_recall, "
	"detect_s, f.\v"
	"Ratios are pooled over runs. In a row a point, _lo and _hi are exact "
	"binomial intervals, which take the flows of a run as independent; "
	"they "
	"are not, so with --all there are quantiles over runs (_p10, _p50, "
	"_p90) beside them. With --tidy, lo and hi are intervals between runs, "
	"which are independent: read those where a conclusion hangs on them; "
	"with --between a row a point has them, too. "
	"Means have Student's interval between runs in all.\n\n"
	"With --trend each run is one slope, of the line of least squares of Y "
	"over X through what it measured at the points of a row. p is the "
	"share of "
	"all choices of signs of these slopes that make a mean as far from 0: "
	"of runs whose slopes are as likely positive as negative p <= a comes "
	"in a share a at most, whatever else they are like. It can be no less "
	"than least_p: 2^(1-n) of n runs, up to 20; of more, 2^20 choices are "
	"drawn.\n\n"
	"Numbers have the fewest digits that read back equal. `culprit metrics "
	"NAME` explains a column.",
};

int cmd_table(int argc, char **argv)
{
	struct args a = {0};
	struct res_cube c = {0};
	struct sim_err e = {0};
	char *path = NULL;
	cmd_parse(&cmd_table_line, argc, argv, &a);
	const struct res_table_form form = {
	    .format = a.json ? RES_JSON
		: a.csv      ? RES_CSV
			     : RES_TSV,
	    .rows = a.runs ? RES_RUNS
		: a.tidy   ? RES_TIDY
		: a.y      ? RES_TREND
			   : RES_POINTS,
	    .column = (const char *const *)a.column,
	    .n_columns = a.n_columns,
	    .usual = !a.all,
	    .between = a.between,
	    .y = a.y,
	    .x = a.x,
	    .by = (const char *const *)a.by,
	    .n_by = a.n_by,
	};
	int code = CMD_TROUBLE,
	    rc = cmd_find_results(&path, a.files.word[0], &e);
	if (rc == 0 && (rc = res_h5_read(&c, path, &e)) == 0) {
		cmd_warn_unfinished(&c, path);
		rc = res_table(&c, &form, stdout, &e);
		/* A column that there is not is a slip of the pen. */
		code = rc == SIM_EMISMATCH ? CMD_USAGE : CMD_TROUBLE;
	}
	/* A write that failed shows in the stream, and main() tells it. */
	if (rc == 0)
		code = CMD_GOOD;
	else if (!ferror(stdout))
		cmd_fail(code, &e);
	res_cube_free(&c);
	free(path);
	return code;
}
