/* experiments/cmd/cell.h -- verbs that write one cell of a spec as a file.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_CMD_CELL_H
#define EXPERIMENTS_CMD_CELL_H

#include "experiments/cmd/cmd.h"

/* Zeroed but for what its options take. */
struct cmd_cell {
	const char *spec, *output;
	struct cmd_set set;
	uint64_t point, run;
	int smoke, force;
};

#define CMD_CELL_AT(m) offsetof(struct cmd_cell, m)

/* Their options, of which three texts differ: an example of a key, what FILE is,
 * and what of an old file makes it be replaced. */
/* clang-format off */
#define CMD_CELL_OPTIONS(example, file, old)                                   \
	{"point", 0, "P", "of the sweep, counted from 0 (default: 0)",         \
	    .take = cmd_take_u64, .at = CMD_CELL_AT(point),                    \
	    .max = UINT64_MAX},                                                \
	{"run", 0, "R", "of that point, from 0 (default: 0)",                  \
	    .take = cmd_take_u64, .at = CMD_CELL_AT(run), .max = UINT64_MAX},  \
	{"set", 's', "PATH=VALUE",                                             \
	    "override a key, e.g. " example "; may be repeated",               \
	    .take = cmd_take_set, .at = CMD_CELL_AT(set), .max = 256},         \
	{"smoke", 0, NULL, "the spec's small `smoke` sweep",                   \
	    .take = cmd_take_flag, .at = CMD_CELL_AT(smoke)},                  \
	{"output", 'o', "FILE", file, .take = cmd_take_file,                   \
	    .at = CMD_CELL_AT(output)},                                        \
	{"force", 'f', NULL,                                                   \
	    "replace FILE if " old ", or is damaged; it is kept as FILE~",     \
	    .take = cmd_take_flag, .at = CMD_CELL_AT(force)},                  \
	{0}
/* clang-format on */

/* Load the spec, find where the file goes (results/out/FIGURE.WHAT.h5 unless
 * A says where) and have WRITE make it. Returns an exit code, errors told. */
int cmd_cell_write(const struct cmd_cell *a, const char *what,
    int (*write)(struct xp_spec *s, const struct cmd_cell *a, const char *out,
	struct sim_err *e));

#endif
