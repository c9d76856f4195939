/* experiments/cmd/archive.h -- culprit verify --archive: somebody's results.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_CMD_ARCHIVE_H
#define EXPERIMENTS_CMD_ARCHIVE_H

#include "experiments/cmd/option.h"

struct cmd_archive {
	const char *file; /* NULL: none was given */
	uint32_t cells;   /* of each figure, to be run again */
	uint32_t n_workers;
	int rerun; /* all cells */
	int other; /* an option that is for archives was given */
};
#define CMD_ARCHIVE_DEFAULTS                                                   \
	{                                                                      \
		.cells = 3                                                     \
	}

extern const struct cmd_option cmd_archive_options[];

/* Ends the program if options don't fit together; N words stand beside. */
void cmd_archive_check(const struct cmd_archive *a, size_t n,
    struct argp_state *state);

/* Check the archive, part by part, and say of each PASS, FAIL or SKIPPED.
 * Returns an exit code. */
int cmd_archive_verify(const struct cmd_archive *a);

#endif
