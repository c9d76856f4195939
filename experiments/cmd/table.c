/* experiments/cmd/table.c -- culprit table: results as a table.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>

#include "experiments/cmd/cmd.h"
#include "results/h5.h"
#include "results/table.h"

struct args {
	struct cmd_words files;
	int json, runs;
};

static void table_check(const void *args, struct argp_state *state)
{
	const struct args *a = args;
	if (a->files.n > 1)
		argp_error(state, "one FILE at a time; \"%s\" is a second",
		    a->files.word[1]);
	if (a->runs && a->json)
		argp_error(state, "--runs has no JSON form");
}

int cmd_table(int argc, char **argv)
{
	static const struct cmd_option options[] = {
	    {"json", 0, NULL, "a JSON array, one object a point",
		.take = cmd_take_flag, .at = CMD_AT(json)},
	    {"runs", 0, NULL,
		"one row a run, with every metric as it was measured",
		.take = cmd_take_flag, .at = CMD_AT(runs)},
	    {0},
	};
	static const struct cmd_line line = {
	    .options = options,
	    .word = {.take = cmd_take_all, .at = CMD_AT(files)},
	    .without = "which FILE?",
	    .check = table_check,
	    .args_doc = "FILE|FIGURE",
	    .doc = "Print results/out/FIGURE.h5 or another FILE as "
		   "tab-separated columns, one row a point: ratios pooled over "
		   "runs with exact 95 % intervals (_lo, _hi), and quantiles "
		   "over runs (_p10, _p50, _p90).",
	};
	struct args a = {0};
	struct res_cube c = {0};
	struct sim_err e = {0};
	char *path = NULL;
	cmd_parse(&line, argc, argv, &a);
	int code = CMD_GOOD, rc = cmd_find_results(&path, a.files.word[0], &e);
	if (rc == 0 && (rc = res_h5_read(&c, path, &e)) == 0)
		cmd_warn_partial(&c, path);
	if (rc == 0)
		rc = a.runs  ? res_table_runs(&c, stdout, &e)
		    : a.json ? res_table_json(&c, stdout, &e)
			     : res_table_write(&c, stdout, &e);
	/* A write that failed shows in the stream, and main() tells it. */
	if (ferror(stdout)) /* main() says so */
		code = CMD_TROUBLE;
	else if (rc < 0)
		code = cmd_fail(CMD_TROUBLE, &e);
	res_cube_free(&c);
	free(path);
	return code;
}
