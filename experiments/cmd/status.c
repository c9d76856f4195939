/* experiments/cmd/status.c -- culprit status: how much of a sweep is done.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <unistd.h>

#include "experiments/cmd/cmd.h"
#include "experiments/sweep/journal.h"
#include "experiments/sweep/run.h"
#include "results/json.h"

struct args {
	struct cmd_words files;
	int json;
};

static void print_state(const struct res_cube *c, const char *path, int json)
{
	const struct res_progress p = res_cube_progress(c);
	if (!json) {
		cmd_print_cells(c, path);
		return;
	}
	printf("{\"file\": ");
	res_json_text(stdout, path);
	printf(", \"figure\": ");
	res_json_text(stdout, c->figure);
	printf(", \"cells\": %llu, \"done\": %llu, \"failed\": %llu, "
	       "\"crashed\": %llu}\n",
	    (unsigned long long)p.n_cells, (unsigned long long)p.n_done,
	    (unsigned long long)p.n_failed, (unsigned long long)p.n_crashed);
}

/* Without results only the journal tells, and without the spec it tells no more
 * than how many cells are done. */
static int print_journal(const char *path, int json, struct sim_err *e)
{
	char *journal;
	uint64_t n_done;
	int rc = xp_run_path(&journal, path, ".journal", e);
	if (rc < 0)
		return rc;
	if ((rc = xp_journal_count(journal, &n_done, e)) == 0 && json) {
		printf("{\"file\": ");
		res_json_text(stdout, path);
		printf(", \"figure\": null, \"cells\": null, \"done\": %llu, "
		       "\"failed\": null, \"crashed\": null}\n",
		    (unsigned long long)n_done);
	} else if (rc == 0) {
		printf("%s: %llu cells done, no results yet -> %s\n", journal,
		    (unsigned long long)n_done, path);
	}
	free(journal);
	return rc;
}

/* The exit code for one sweep. */
static int say_state(const char *name, int json)
{
	struct res_cube c = {0};
	struct sim_err e = {0};
	char *path = NULL;
	int code = CMD_TROUBLE, rc = cmd_find_results(&path, name, &e);
	/* A sweep that was killed early has a journal alone. */
	if (rc == 0 && access(path, F_OK) != 0) {
		rc = print_journal(path, json, &e);
	} else if (rc == 0 && (rc = cmd_read_state(&c, path, &e)) == 0) {
		const struct res_progress p = res_cube_progress(&c);
		print_state(&c, path, json);
		if (p.n_done == p.n_cells)
			code = CMD_GOOD;
	}
	res_cube_free(&c);
	free(path);
	return rc < 0 ? cmd_fail(CMD_TROUBLE, &e) : code;
}

int cmd_status(int argc, char **argv)
{
	static const struct cmd_option options[] = {
	    {"json", 0, NULL, "JSON, one object a line", .take = cmd_take_flag,
		.at = CMD_AT(json)},
	    {0},
	};
	static const struct cmd_line line = {
	    .options = options,
	    .word = {.take = cmd_take_all, .at = CMD_AT(files)},
	    .without = "which FILE?",
	    .args_doc = "FILE|FIGURE...",
	    .doc = "Say how many cells of a sweep are done, failed and "
		   "crashed, also while it runs: of results/out/FIGURE.h5 or "
		   "another FILE, and its journal. Exits with 3 unless all are "
		   "done.",
	};
	struct args a = {0};
	int code = CMD_GOOD;
	cmd_parse(&line, argc, argv, &a);
	for (size_t i = 0; i < a.files.n; i++)
		if (say_state(a.files.word[i], a.json) != CMD_GOOD)
			code = CMD_TROUBLE;
	return code;
}
