/* experiments/cmd.h -- the verbs of the command line and what they share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_CMD_H
#define EXPERIMENTS_CMD_H

#include <argp.h>
#include <stdio.h>

#include "experiments/spec.h"
#include "results/cube.h"
#include "sim/err.h"

enum cmd_exit {
	CMD_GOOD = 0,
	CMD_FAILED = 1,	 /* a gate or a verification said no */
	CMD_USAGE = 2,	 /* the command line or the spec is wrong */
	CMD_TROUBLE = 3, /* runs failed, or results can't be read or written */
};

/* Each takes its own argc and argv, with argv[0] = "culprit VERB". */
int cmd_run(int argc, char **argv);
int cmd_status(int argc, char **argv);
int cmd_table(int argc, char **argv);
int cmd_plot(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_topo(int argc, char **argv);
int cmd_algos(int argc, char **argv);
int cmd_spec(int argc, char **argv);

/* Print E's message on stderr, each line after "culprit: "; returns CODE. */
int cmd_fail(int code, const struct sim_err *e);

/* The exit code that fits an error of reading a spec or running it. */
int cmd_exit_of(int rc);

/* Find NAME (a path, or a figure's name) among specs: as given, then
 * FOLDER/NAME+SUFFIX under the current directory, beside the program, and where
 * it is installed. *OUT is to be freed. Errors SIM_EIO naming where it looked.
 */
int cmd_find(char **out, const char *name, const char *folder,
	     const char *suffix, struct sim_err *e);

/* Make the folders on the way to PATH. */
int cmd_make_way(const char *path, struct sim_err *e);

/* A results file by path or by figure name (results/out/NAME.h5). */
int cmd_read_results(struct res_cube *c, const char *name, struct sim_err *e);

#endif
