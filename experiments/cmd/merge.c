/* experiments/cmd/merge.c -- culprit merge: shards of a sweep as one file.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <sys/stat.h>

#include "experiments/cmd/cmd.h"
#include "results/h5.h"

struct args {
	struct cmd_words files;
	const char *output;
	int force;
};

static void cmd_merge_check(const void *args, struct argp_state *state)
{
	const struct args *a = args;
	if (!a->output || !*a->output)
		argp_error(state, "merge needs -o FILE");
}

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
	    .check = cmd_merge_check,
	    .args_doc = "SHARD.h5...",
	    .doc = "Join the results of `culprit run --shard`. All shards "
		   "together give the same bytes as one unsharded run; if "
		   "some are missing, the rest is written and the exit "
		   "code is 3.",
	};
	struct args a = {0};
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
