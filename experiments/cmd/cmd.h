/* experiments/cmd/cmd.h -- the verbs of the command line and what they share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Results go to stdout; progress, complaints and errors to stderr, each line
 * after "culprit: ".
 */
#ifndef EXPERIMENTS_CMD_CMD_H
#define EXPERIMENTS_CMD_CMD_H

#include "experiments/cmd/option.h"
#include "experiments/spec/spec.h"
#include "results/cube.h"
#include "sim/err.h"

enum cmd_exit {
	CMD_GOOD = 0,
	CMD_FAILED = 1,  /* a gate or a verification said no */
	CMD_USAGE = 2,   /* the command line or the spec is wrong */
	CMD_TROUBLE = 3, /* runs failed, or results can't be read or written */
};

/* Each takes its own argc and argv, with argv[0] = "culprit VERB". */
int cmd_run(int argc, char **argv);
int cmd_arena(int argc, char **argv);
int cmd_tune(int argc, char **argv);
int cmd_submit(int argc, char **argv);
int cmd_status(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_diagnose(int argc, char **argv);
int cmd_convert(int argc, char **argv);
int cmd_table(int argc, char **argv);
int cmd_plot(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_gate(int argc, char **argv);
int cmd_verify(int argc, char **argv);
int cmd_topo(int argc, char **argv);
int cmd_bounds(int argc, char **argv);
int cmd_pinglist(int argc, char **argv);
int cmd_controller(int argc, char **argv);
int cmd_collector(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_agent(int argc, char **argv);
int cmd_ca(int argc, char **argv);
int cmd_latency(int argc, char **argv);
int cmd_jobs(int argc, char **argv);
int cmd_alerts(int argc, char **argv);
int cmd_algos(int argc, char **argv);
int cmd_metrics(int argc, char **argv);
int cmd_spec(int argc, char **argv);
int cmd_trace(int argc, char **argv);
int cmd_samples(int argc, char **argv);
int cmd_lab(int argc, char **argv);
int cmd_man(int argc, char **argv);
int cmd_complete(int argc, char **argv);

/* `culprit --cite`. */
int cmd_cite(int argc, char **argv);

/* `culprit lab run`: as cmd_run(), on a real network whatever the spec says. */
int cmd_run_real(int argc, char **argv);

/* How many this machine has; 1 if it does not say. */
unsigned cmd_processors(void);

/* Print E's message on stderr, each line after "culprit: "; returns CODE. */
int cmd_fail(int code, const struct sim_err *e);

/* The exit code that fits an error of reading a spec or running it. */
int cmd_exit_of(int rc);

/* Find NAME (a path, or the name of one of ours): as given, then
 * FOLDER/NAME+SUFFIX under the current directory, beside the program, and where
 * it is installed. *OUT is to be freed. Errors SIM_EIO, with a name that is
 * near; SIM_ENOMEM. */
int cmd_find(char **out, const char *name, const char *folder,
    const char *suffix, struct sim_err *e);

/* Call HEAR with the name, without SUFFIX, of each file of FOLDER that ends in it:
 * under the current directory and, if SHIPPED, beside the program and where it
 * is installed, so that a name may come more than once. */
void cmd_each_file(const char *folder, const char *suffix, int shipped,
    void (*hear)(void *arg, const char *name), void *arg);

/* Load NAME, a spec's file or name, and print its warnings; see xp_spec_load()
 * for the rest. Errors of both. */
int cmd_load_spec(struct xp_spec *s, const char *name, int smoke,
    const char *const set[], size_t n_set, struct sim_err *e);

/* The same, for verbs that run no algorithm of it: xp_spec_load_still(). */
int cmd_load_spec_still(struct xp_spec *s, const char *name, int smoke,
    const char *const set[], size_t n_set, struct sim_err *e);

/* Print what is odd in S, a line each, on stderr. */
void cmd_warn(const struct xp_spec *s);

/* Does one of the assignments give the key at PATH, or something within? */
int cmd_is_set(const char *path, const char *const set[], size_t n_set);

/* Whether the sweep has that cell. Errors SIM_ERANGE, with what it has. */
int cmd_check_cell(const struct xp_spec *s, uint64_t point, uint64_t run,
    struct sim_err *e);

/* The file of KIND, epoch or recording, that a command writes about S, to be
 * freed: GIVEN, whose folder must exist, or if that is NULL
 * results/out/FIGURE.KIND.h5, whose folder is made. Links are followed. A file
 * that is there and not of that kind is kept as FILE~ with FORCE. Errors
 * SIM_EINVAL if there is one without FORCE, or S was read from it; SIM_EIO,
 * SIM_ENOMEM. */
int cmd_choose_output(char **out, const char *given, const struct xp_spec *s,
    const char *kind, int force, struct sim_err *e);

/* Refuse to write OPTION's PATH over one of the N files INPUT, whatever names
 * lead there. Errors SIM_EINVAL. */
int cmd_check_output(const char *option, const char *path, char *const input[],
    size_t n, struct sim_err *e);

/* What a command made once it may make anew; all else is somebody's. A file at
 * PATH without the attribute KIND_version, or damaged, is kept as PATH~ with
 * FORCE, and else SIM_EINVAL. Errors also SIM_EIO (no regular file),
 * SIM_ENOMEM. */
int cmd_make_room(const char *path, const char *kind, int force,
    struct sim_err *e);

/* Whether two paths lead to one file. */
int cmd_is_same_file(const char *a, const char *b);

int cmd_is_folder(const char *path);

/* Make the folders on the way to PATH. */
int cmd_make_way(const char *path, struct sim_err *e);

/* If *PATH, on the heap, is a symbolic link, put what it leads to in its place:
 * a file that is replaced as a whole would replace the link. */
int cmd_follow_link(char **path, struct sim_err *e);

/* Refuse a sweep that can't have the memory it takes at least, unless YES; warn of
 * one that can't now. Errors SIM_ELIMIT. */
int cmd_check_memory(const struct xp_spec *s, unsigned n_workers,
    unsigned shard_n, int yes, struct sim_err *e);

/* Replace PATH by N bytes as a whole; what is no file, as a pipe, a device or a
 * link, is written to. */
int cmd_write_file(const char *path, const void *bytes, size_t n,
    struct sim_err *e);

/* The results file of a path or a figure (results/out/NAME.h5), to be freed;
 * it need not exist when there is a journal. Errors SIM_EIO, SIM_ENOMEM. */
int cmd_find_results(char **out, const char *name, struct sim_err *e);

/* "FIGURE: N of M cells done, K failed -> PATH", on stdout. */
void cmd_print_cells(const struct res_cube *c, const char *path);

/* How points ended by --until-ci, as further members of a JSON object; nothing
 * without it. */
void cmd_print_until_json(const struct res_cube *c);

/* Of a file that was merged of a part of its shards, or whose journal has cells that
 * it does not have, a line on stderr. */
void cmd_warn_unfinished(const struct res_cube *c, const char *path);

#endif
