/* experiments/cmd/subverb.h -- verbs whose first word is a verb again.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_CMD_SUBVERB_H
#define EXPERIMENTS_CMD_SUBVERB_H

#include "experiments/cmd/program.h"

struct cmd_family {
	const char *name, *doc;
	const char *without; /* said where there is no subverb */
	const struct cmd_verb *verbs;
};

/* A NULL ends them. One more is a line in subverb.c. */
extern const struct cmd_family *const cmd_families[];
extern const struct cmd_family cmd_trace_family, cmd_samples_family;

/* Of VERB; of a verb that has none a list that ends at once. */
const struct cmd_verb *cmd_subverbs(const char *verb);

/* Call the subverb that argv[1] names, with argv[0] = "culprit NAME SUBVERB", or
 * help, or say what is near. "--complete SUBVERB WORD" completes its words. */
int cmd_subverb(const struct cmd_family *f, int argc, char **argv);

#endif
