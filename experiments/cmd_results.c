/* experiments/cmd_results.c -- culprit status, table and merge.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/cmd.h"
#include "experiments/journal.h"
#include "experiments/run.h"
#include "results/h5.h"
#include "results/table.h"

enum { KEY_JSON = 1000 };

struct args {
	char **files;
	size_t n_files;
	const char *output;
	int json, force;
	int wants_output;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	switch (key) {
	case KEY_JSON:
		a->json = 1;
		return 0;
	case 'o':
		a->output = arg;
		return 0;
	case 'f':
		a->force = 1;
		return 0;
	case ARGP_KEY_ARGS:
		a->files = state->argv + state->next;
		a->n_files = (size_t)(state->argc - state->next);
		return 0;
	case ARGP_KEY_END:
		if (a->n_files == 0)
			argp_error(state, "which FILE?");
		if (a->wants_output && !a->output)
			argp_error(state, "merge needs -o FILE");
		return 0;
	case ARGP_KEY_ARG:
		return ARGP_ERR_UNKNOWN;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* --- status -------------------------------------------------------------- */

/* Results, and what the journal has beyond them. */
static int read_state(struct res_cube *c, const char *name, struct sim_err *e)
{
	char *path, *journal;
	int rc = cmd_find(&path, name, "results/out", ".h5", e);
	if (rc < 0)
		return rc;
	rc = res_h5_read(c, path, e);
	if (rc == 0 && (rc = xp_run_path(&journal, path, ".journal", e)) == 0) {
		if (access(journal, R_OK) == 0)
			rc = xp_journal_read(journal, c, e);
		free(journal);
	}
	free(path);
	return rc;
}

static void print_state(const struct res_cube *c, const char *name, int json)
{
	const struct res_progress p = res_cube_progress(c);
	const char *form =
	    json ? "{\"file\": \"%s\", \"figure\": \"%s\", \"cells\": %llu, "
		   "\"done\": %llu, \"failed\": %llu, \"crashed\": %llu}\n"
		 : "%s  %s  cells %llu  done %llu  failed %llu  crashed %llu\n";
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	printf(form, name, c->figure, (unsigned long long)p.n_cells,
	       (unsigned long long)p.n_done, (unsigned long long)p.n_failed,
	       (unsigned long long)p.n_crashed);
#pragma GCC diagnostic pop
}

int cmd_status(int argc, char **argv)
{
	static const struct argp_option options[] = {
	    {"json", KEY_JSON, NULL, 0, "one JSON object a line", 0},
	    {0},
	};
	static const struct argp argp = {
	    .options = options,
	    .parser = parse,
	    .args_doc = "FILE|FIGURE...",
	    .doc = "Say how many cells of a sweep are done, failed and "
		   "crashed, also while it runs. Exits with 3 unless all "
		   "are done.",
	};
	struct args a = {0};
	int code = CMD_GOOD;
	argp_parse(&argp, argc, argv, 0, NULL, &a);
	for (size_t i = 0; i < a.n_files; i++) {
		struct res_cube c = {0};
		struct sim_err e = {0};
		int rc = read_state(&c, a.files[i], &e);
		if (rc < 0) {
			code = cmd_fail(CMD_TROUBLE, &e);
		} else {
			const struct res_progress p = res_cube_progress(&c);
			print_state(&c, a.files[i], a.json);
			if (p.n_done < p.n_cells)
				code = CMD_TROUBLE;
		}
		res_cube_free(&c);
	}
	return code;
}

/* --- table --------------------------------------------------------------- */

int cmd_table(int argc, char **argv)
{
	static const struct argp_option options[] = {
	    {"json", KEY_JSON, NULL, 0, "an array of objects", 0},
	    {0},
	};
	static const struct argp argp = {
	    .options = options,
	    .parser = parse,
	    .args_doc = "FILE|FIGURE",
	    .doc = "Print results as tab-separated columns, one row a "
		   "point: ratios pooled over runs with exact 95 % "
		   "intervals (_lo, _hi), and quantiles over runs (_p10, "
		   "_p50, _p90).",
	};
	struct args a = {0};
	struct res_cube c = {0};
	struct sim_err e = {0};
	argp_parse(&argp, argc, argv, 0, NULL, &a);
	int code = CMD_GOOD, rc = cmd_read_results(&c, a.files[0], &e);
	if (rc == 0)
		rc = a.json ? res_table_json(&c, stdout, &e)
			    : res_table_write(&c, stdout, &e);
	if (rc < 0)
		code = cmd_fail(CMD_TROUBLE, &e);
	res_cube_free(&c);
	return code;
}

/* --- merge --------------------------------------------------------------- */

static int merge_one(struct res_cube *all, const char *path, struct sim_err *e)
{
	struct res_cube c = {0};
	int rc = res_h5_read(&c, path, e);
	if (rc < 0)
		return rc;
	if (!all->figure) {
		*all = c;
		return 0;
	}
	rc = res_cube_merge(all, &c, e);
	res_cube_free(&c);
	return rc < 0 ? sim_wrap(e, rc, "%s", path) : 0;
}

int cmd_merge(int argc, char **argv)
{
	static const struct argp_option options[] = {
	    {"output", 'o', "FILE", 0, "where to write the whole", 0},
	    {"force", 'f', NULL, 0, "replace FILE if it exists", 0},
	    {0},
	};
	static const struct argp argp = {
	    .options = options,
	    .parser = parse,
	    .args_doc = "SHARD.h5...",
	    .doc = "Join the results of `culprit run --shard`. All shards "
		   "together give the same bytes as one unsharded run; if "
		   "some are missing, the rest is written and the exit "
		   "code is 3.",
	};
	struct args a = {.wants_output = 1};
	struct res_cube all = {0};
	struct sim_err e = {0};
	int rc = 0, code = CMD_GOOD;
	argp_parse(&argp, argc, argv, 0, NULL, &a);
	if (!a.force && access(a.output, F_OK) == 0)
		rc = sim_fail(&e, SIM_EINVAL,
			      "%s exists; give another name or --force.",
			      a.output);
	for (size_t i = 0; rc == 0 && i < a.n_files; i++)
		rc = merge_one(&all, a.files[i], &e);
	if (rc == 0) {
		all.shard_i = 0;
		all.shard_n = 1;
		rc = res_h5_write(&all, a.output, &e);
	}
	if (rc < 0) {
		code = cmd_fail(cmd_exit_of(rc), &e);
	} else {
		const struct res_progress p = res_cube_progress(&all);
		printf("%s: %llu of %llu cells done -> %s\n", all.figure,
		       (unsigned long long)p.n_done,
		       (unsigned long long)p.n_cells, a.output);
		code = p.n_done == p.n_cells ? CMD_GOOD : CMD_TROUBLE;
	}
	res_cube_free(&all);
	return code;
}
