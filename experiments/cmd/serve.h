/* experiments/cmd/serve.h -- what the verbs that serve HTTP share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_CMD_SERVE_H
#define EXPERIMENTS_CMD_SERVE_H

#include "experiments/cmd/option.h"
#include "experiments/live/mhd.h"

struct cmd_serve {
	struct xp_http_params http;
	const char *user; /* whom to become; NULL: who it is */
};

/* Of a struct cmd_serve. */
extern const struct cmd_option cmd_serve_options[];

/* Ends the program if they contradict each other. */
void cmd_serve_check(const struct cmd_serve *c, struct argp_state *state);

/* What --help says of certificates and of rights. */
void cmd_serve_help(FILE *out);

/* To be told from a number that was given. */
#define CMD_SERVE_QUARTER UINT32_MAX

/* 0 threads: one a processor, up to 8. */
#define CMD_SERVE_DEFAULTS                                                     \
	{                                                                      \
		.http =                                                        \
		{.listen = "127.0.0.1:8080",                                   \
			.max_connections = 512,                                \
			.per_address = 64,                                     \
			.reserved = CMD_SERVE_QUARTER,                         \
			.head_s = 10,                                          \
			.receive_s = 20,                                       \
			.send_s = 60 }                                         \
	}

/* Take the port, have folder DIR (NULL: none) for whom this process becomes, become
 * that, and give up all rights and the system calls that a server has no use for.
 * Returns 0, or the exit code, which is told. */
int cmd_serve_begin(struct xp_http_server **s, const struct cmd_serve *c,
    const char *dir);

/* Of a verb with --config: reads it again into ARGS, which are fresh, and says what
 * may change. TELL as of cmd_parse_again(), which it calls; less than 1: nothing
 * is to change. */
struct cmd_serve_again {
	int (*read)(void *arg, struct xp_http_change *c, char *tell,
	    size_t size);
	void *arg;
};

/* Serve until SIGTERM or SIGINT, and close S; returns the exit code. Prints where on
 * stdout, with WHAT there is. At SIGHUP, AGAIN is asked if the program has a file of
 * options. */
int cmd_serve(struct xp_http_server *s, const struct cmd_serve *c,
    const struct xp_http_service *service, const struct cmd_serve_again *again,
    const char *what);

#endif
