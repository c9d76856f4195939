/* experiments/cmd/merge.c -- culprit merge: shards of a sweep as one file.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>

#include "experiments/cmd/cmd.h"
#include "experiments/sweep/state.h"
#include "results/file.h"
#include "results/h5.h"
#include "results/shards.h"
#include "sim/text.h"

struct args {
	struct cmd_words files;
	const char *output;
	int force, partial;
};

static void cmd_merge_check(const void *args, struct argp_state *state)
{
	const struct args *a = args;
	if (!a->output || !*a->output)
		argp_error(state, "merge needs -o FILE");
}

static const struct cmd_option cmd_merge_options[] = {
    {"output", 'o', "FILE", "where to write the whole; needed",
	.take = cmd_take_text, .at = CMD_AT(output)},
    {"partial", 0, NULL,
	"write what there is although shards or cells are missing; FILE then "
	"says what, and so do all that read it",
	.take = cmd_take_flag, .at = CMD_AT(partial)},
    {"force", 'f', NULL, "replace FILE if it exists", .take = cmd_take_flag,
	.at = CMD_AT(force)},
    {0},
};

static const struct cmd_line cmd_merge_line = {
    .options = cmd_merge_options,
    .word = {.take = cmd_take_all, .at = CMD_AT(files)},
    .without = "which FILE?",
    .check = cmd_merge_check,
    .args_doc = "SHARD.h5...",
    .doc = "Join the results of `culprit run --shard`. All shards together "
	   "give the same bytes as one unsharded run. If some are missing, or "
	   "cells of them are not done, they are named and nothing is "
	   "written.\v"
	   "Memory is that of one shard and of one metric of the whole; a "
	   "scratch file beside FILE holds the rest. The journal of a shard "
	   "that was killed is read too.\n\n"
	   "Exit codes: 0 every cell is done; 2 the command line is wrong, or "
	   "files do not belong together; 3 shards or cells are missing or "
	   "failed, or a file can't be read or written.",
};

/* Add one shard, with what its journal has beyond the file, as after a kill. */
static int merge_one(struct res_shards *s, struct res_h5_reader *reader,
    const char *path, const char *output, struct sim_err *e)
{
	struct res_cube c = {0};
	if (cmd_is_same_file(path, output))
		return sim_fail(e, SIM_EINVAL,
		    "-o %s is one of the files to merge; give another name.",
		    output);
	int rc = xp_state_read_by(reader, &c, path, e);
	if (rc == 0)
		return res_shards_add(s, &c, path, e);
	/* A file that is not whole is no mistake of the command line. */
	return rc == SIM_EPARSE ? SIM_EIO : rc;
}

/* Results that exist may have taken days, so they are
 * replaced by order only. */
static int merge_check_output(const char *path, int force, struct sim_err *e)
{
	int there;
	const int rc = res_file_look(path, &there, e);
	return rc < 0 || !there || force
	    ? rc
	    : sim_fail(e, SIM_EINVAL,
		  "%s exists; give another name with -o, or replace it with "
		  "--force.",
		  path);
}

/* Nobody takes a part for the whole by mistake. */
static int check_whole(const struct res_shards *s, const struct args *a,
    const char *output, struct sim_err *e)
{
	char *lack;
	int rc = res_shards_lack(s, &lack, e);
	if (rc < 0 || !lack)
		return rc;
	if (!a->partial)
		rc = sim_fail(e, SIM_EIO,
		    "%s would be partial (%s), so nothing was written; "
		    "--partial writes it all the same.",
		    output, lack);
	free(lack);
	return rc;
}

static int join(struct res_shards *s, const struct args *a, const char *output,
    struct sim_err *e)
{
	struct res_h5_reader *reader = NULL;
	int rc = res_h5_reader_open(&reader, e);
	for (size_t i = 0; rc == 0 && i < a->files.n; i++)
		rc = merge_one(s, reader, a->files.word[i], output, e);
	res_h5_reader_close(reader);
	if (rc == 0)
		rc = check_whole(s, a, output, e);
	return rc < 0 ? rc : res_shards_write(s, e);
}

int cmd_merge(int argc, char **argv)
{
	struct args a = {0};
	struct res_shards *s = NULL;
	char *output = NULL;
	struct sim_err e = {0};
	int rc, code = CMD_GOOD;
	cmd_parse(&cmd_merge_line, argc, argv, &a);
	if ((rc = sim_dup(&output, a.output, &e)) == 0 &&
	    (rc = cmd_follow_link(&output, &e)) == 0 &&
	    (rc = merge_check_output(output, a.force, &e)) == 0 &&
	    (rc = cmd_make_way(output, &e)) == 0 &&
	    (rc = res_shards_open(&s, output, &e)) == 0)
		rc = join(s, &a, output, &e);
	if (rc < 0) {
		code = cmd_fail(cmd_exit_of(rc), &e);
	} else {
		const struct res_cube *all = res_shards_head(s);
		const struct res_progress p = res_cube_progress(all);
		cmd_print_cells(all, output);
		code = p.n_done == p.n_cells ? CMD_GOOD : CMD_TROUBLE;
	}
	res_shards_close(s);
	free(output);
	return code;
}
