/* experiments/cmd/serve.h -- what the verbs that serve HTTP share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_CMD_SERVE_H
#define EXPERIMENTS_CMD_SERVE_H

#include "experiments/cmd/option.h"
#include "experiments/live/mhd.h"

/* Of a struct xp_http_params. */
extern const struct cmd_option cmd_serve_options[];

/* Ends the program if they contradict each other. */
void cmd_serve_check(const struct xp_http_params *p, struct argp_state *state);

/* What --help says of certificates. */
void cmd_serve_help(FILE *out);

/* 0 threads: one a processor, up to 8. */
#define CMD_SERVE_DEFAULTS                                                     \
	{                                                                      \
		.listen = "127.0.0.1:8080", .max_connections = 512,            \
		.per_address = 64, .receive_s = 20, .send_s = 60               \
	}

/* Serve until SIGTERM or SIGINT; returns the exit code. Prints where on stdout,
 * with WHAT there is. */
int cmd_serve(const struct xp_http_params *p,
    const struct xp_http_service *service, const char *what);

#endif
