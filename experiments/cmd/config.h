/* experiments/cmd/config.h -- options from a file, and again while it runs.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A file has the long options of its verb as keys, and no table of its own:
 *
 *	controller: [https://10.0.0.1:8080, https://10.0.0.2:8080]
 *	allow-port: 8765
 *	insecure: true
 *	param: { upload_interval: 60 }
 *
 * An option without a value is true or false. A list stands where several values
 * may, a map where KEY=VALUE does. What the command line gives, too, it alone
 * says; of KEY=VALUE, key by key.
 */
#ifndef EXPERIMENTS_CMD_CONFIG_H
#define EXPERIMENTS_CMD_CONFIG_H

#include <argp.h>

#include "experiments/cmd/option.h"

/* The row of the option itself, for verbs that have it. */
#define CMD_CONFIG_OPTION                                                      \
	{                                                                      \
		"config", 0, "FILE",                                           \
		    "options from FILE, YAML, by their long names; the "       \
		    "command line wins. SIGHUP has it read again",             \
		    .take = cmd_take_config                                    \
	}
cmd_taker cmd_take_config;

/* One option of a file, once for each value. */
struct cmd_given_value {
	const struct cmd_option *row;
	void *to;        /* where row->take() puts it */
	char *value;     /* "" of one without */
	char place[128]; /* "agent.yaml:3:5" */
};

/* A file as it was at one moment. Zeroed is none. */
struct cmd_config {
	char *path;
	struct cmd_given_value *given;
	size_t n, cap;
};

/* Read PATH by the N rows of ROW, whose values go to TO, but for what ARGV gives
 * already. Errors SIM_EIO, SIM_EINVAL (every mistake with file:line:col, unknown
 * keys with what was meant), SIM_ENOMEM. */
int cmd_config_read(struct cmd_config *c, const char *path,
    const struct cmd_option *const row[], void *const to[], size_t n, int argc,
    char **argv, struct sim_err *e);
void cmd_config_free(struct cmd_config *c);

/* Hand each value to its taker; a mistake ends the program, and is told with its
 * place. */
void cmd_config_apply(const struct cmd_config *c, struct argp_state *state);

/* Keep C while the program runs, since options point into it; so a program keeps
 * the bytes of each file that it was told of and that said something else than the
 * one before. Errors SIM_ENOMEM. */
int cmd_config_keep(const struct cmd_config *c, struct sim_err *e);

/* The last that was kept; Do both say the same? */
const struct cmd_config *cmd_config_newest(void);
int cmd_config_is_same(const struct cmd_config *a, const struct cmd_config *b);

/* The options that C says otherwise than the first that was kept, and that are not
 * `live`, as "port, user" in OUT, of SIZE bytes; "" if there are none. */
void cmd_config_stuck(const struct cmd_config *c, char *out, size_t size);

#endif
