/* experiments/cmd/results.c -- culprit status and merge.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/cmd/cmd.h"
#include "experiments/sweep/journal.h"
#include "experiments/sweep/run.h"
#include "results/h5.h"
#include "results/json.h"

struct args {
	struct cmd_words files;
	const char *output;
	int json, force;
	int wants_output;
};

/* Each of the two verbs lists its own options, so only what they may not have
 * together is left to check. */
static void results_check(const void *args, struct argp_state *state)
{
	const struct args *a = args;
	if (a->wants_output && (!a->output || !*a->output))
		argp_error(state, "merge needs -o FILE");
}

/* --- status -------------------------------------------------------------- */

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
	    .check = results_check,
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

/* --- merge --------------------------------------------------------------- */

/* Read one shard and join it to ALL, with what its journal has beyond the file,
 * as after a kill. */
static int merge_one(struct res_cube *all, const char *path, struct sim_err *e)
{
	struct res_cube c = {0};
	int rc = cmd_read_state(&c, path, e);
	/* A file that is not whole is no mistake of the command line. */
	if (rc < 0)
		return rc == SIM_EPARSE ? SIM_EIO : rc;
	/* The first one becomes the whole, and the others are joined to it. */
	if (!all->figure) {
		*all = c;
		return 0;
	}
	rc = res_cube_merge(all, &c, e);
	res_cube_free(&c);
	return rc < 0 ? sim_wrap(e, rc, "%s", path) : 0;
}

/* Results that exist may have taken days, so they are
 * replaced by order only. */
static int check_output(const char *path, int force, struct sim_err *e)
{
	struct stat st;
	if (stat(path, &st) < 0)
		return 0;
	if (!S_ISREG(st.st_mode))
		return sim_fail(e, SIM_EIO, "cannot write %s: not a file.",
		    path);
	return force ? 0
		     : sim_fail(e, SIM_EINVAL,
			   "%s exists; give another name with -o, or "
			   "replace it with --force.",
			   path);
}

int cmd_merge(int argc, char **argv)
{
	static const struct cmd_option options[] = {
	    {"output", 'o', "FILE", "where to write the whole; needed",
		.take = cmd_take_text, .at = CMD_AT(output)},
	    {"force", 'f', NULL, "replace FILE if it exists",
		.take = cmd_take_flag, .at = CMD_AT(force)},
	    {0},
	};
	static const struct cmd_line line = {
	    .options = options,
	    .word = {.take = cmd_take_all, .at = CMD_AT(files)},
	    .without = "which FILE?",
	    .check = results_check,
	    .args_doc = "SHARD.h5...",
	    .doc = "Join the results of `culprit run --shard`. All shards "
		   "together give the same bytes as one unsharded run; if "
		   "some are missing, the rest is written and the exit "
		   "code is 3.",
	};
	struct args a = {.wants_output = 1};
	struct res_cube all = {0};
	char *output = NULL;
	struct sim_err e = {0};
	int rc, code = CMD_GOOD;
	cmd_parse(&line, argc, argv, &a);
	if ((rc = sim_dup(&output, a.output, &e)) == 0 &&
	    (rc = cmd_follow_link(&output, &e)) == 0)
		rc = check_output(output, a.force, &e);
	for (size_t i = 0; rc == 0 && i < a.files.n; i++)
		rc = merge_one(&all, a.files.word[i], &e);
	if (rc == 0) {
		/* The whole is no shard, even if some are
		 * missing; its cells say so. */
		all.shard_i = 0;
		all.shard_n = 1;
		if ((rc = cmd_make_way(output, &e)) == 0)
			rc = res_h5_write(&all, output, &e);
	}
	if (rc < 0) {
		code = cmd_fail(cmd_exit_of(rc), &e);
	} else {
		const struct res_progress p = res_cube_progress(&all);
		cmd_print_cells(&all, output);
		code = p.n_done == p.n_cells ? CMD_GOOD : CMD_TROUBLE;
	}
	res_cube_free(&all);
	free(output);
	return code;
}
