/* experiments/cmd/samples_from.h -- what verbs that read samples share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_CMD_SAMPLES_FROM_H
#define EXPERIMENTS_CMD_SAMPLES_FROM_H

#include "experiments/cmd/option.h"
#include "experiments/cmd/trace_file.h"
#include "experiments/millisampler/racks.h"

/* Members of their struct args, and the options that set them. */
struct cmd_samples_from {
	const char *file;
	struct xp_racks_params racks;
	struct xp_source_params source;
	int json;
};

/* Options of a struct xp_source_params: how buckets are counted in a capture. */
extern const struct cmd_option cmd_samples_capture[];

/* What was met in a capture, on stderr: xp_source_params.told. */
void cmd_samples_told(void *arg, const struct xp_tap_said *said);

#define CMD_SAMPLES_FROM                                                       \
	{"width", 0, "TIME",                                                   \
	    "runs with such buckets (such as more than half of the runs "      \
	    "have)",                                                           \
	    .take = cmd_take_time, .at = CMD_AT(from.racks.width_ns)},         \
	    {.with = cmd_samples_capture, .at = CMD_AT(from.source)},          \
	    {"together", 0, "TIME",                                            \
		"runs of a rack that start so close are of one time (1s)",     \
		.take = cmd_take_time, .at = CMD_AT(from.racks.together_ns)},  \
	{                                                                      \
		"json", 0, NULL, "JSON, an array of objects",                  \
		    .take = cmd_take_flag, .at = CMD_AT(from.json)             \
	}
#define CMD_SAMPLES_FROM_NONE                                                  \
	{                                                                      \
		.racks = {.together_ns = SIM_SEC}, .source = {                 \
			.told = cmd_samples_told                               \
		}                                                              \
	}

/* Say on stderr what of PATH could not be read. */
void cmd_samples_warn(const char *path, const struct res_samples *r);

/* A table on stdout, by tabs or as an array of objects. */
struct cmd_rows {
	int json;
	size_t n_rows, n_cells;
};
void cmd_rows_begin(struct cmd_rows *r, int json, const char *const head[]);
void cmd_rows_row(struct cmd_rows *r);
void cmd_rows_text(struct cmd_rows *r, const char *key, const char *text);
void cmd_rows_number(struct cmd_rows *r, const char *key, double x);
void cmd_rows_count(struct cmd_rows *r, const char *key, uint64_t n);
void cmd_rows_end(struct cmd_rows *r);

/* CMD_GOOD if RC is 0; else an exit code, and E is told. */
int cmd_samples_end(int rc, const struct sim_err *e);

/* Call WORK, which puts rows under HEAD, for each rack of FROM. Its errors end it.
 * Returns an exit code, with the error told. */
int cmd_samples_each(const struct cmd_samples_from *from,
    const char *const head[], struct cmd_rows *rows,
    int (*work)(void *arg, const struct xp_racks *r, struct sim_err *e),
    void *arg);

#endif
