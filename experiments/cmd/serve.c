/* experiments/cmd/serve.c -- what the verbs that serve HTTP share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cmd/serve.h"

#include <stdio.h>
#include <unistd.h>

#include "experiments/cmd/cmd.h"
#include "sim/text.h"

enum {
	KEY_LISTEN = 3000,
	KEY_THREADS,
	KEY_MAX,
	KEY_PER,
	KEY_RECEIVE,
	KEY_SEND
};

static const struct argp_option cmd_serve_options[] = {
    {"listen", KEY_LISTEN, "ADDRESS:PORT", 0,
	"where (127.0.0.1:8080; a collector, :8081); port 0 is any "
	"free one, which is printed",
	0},
    {"threads", KEY_THREADS, "N", 0, "threads (one a processor, at most 8)", 0},
    {"max-connections", KEY_MAX, "N", 0,
	"connections at a time (512); more wait to be accepted", 0},
    {"per-address", KEY_PER, "N", 0,
	"connections of one address (64), 0 = all; for IPv6, of one /64", 0},
    {"receive-s", KEY_RECEIVE, "S", 0,
	"seconds that a request may take to arrive (20)", 0},
    {"send-s", KEY_SEND, "S", 0,
	"seconds that fetching an answer may take (60)", 0},
    {0},
};

static error_t cmd_serve_parse(int key, char *arg, struct argp_state *state)
{
	struct xp_http_params *p = state->input;
	switch (key) {
	case KEY_LISTEN:
		p->listen = arg;
		return 0;
	case KEY_THREADS:
		p->threads =
		    (uint32_t)cmd_number(arg, "--threads", 1, 64, state);
		return 0;
	case KEY_MAX:
		p->max_connections = (uint32_t)cmd_number(arg,
		    "--max-connections", 1, 65536, state);
		return 0;
	case KEY_PER:
		p->per_address =
		    (uint32_t)cmd_number(arg, "--per-address", 0, 65536, state);
		return 0;
	case KEY_RECEIVE:
		p->receive_s =
		    (uint32_t)cmd_number(arg, "--receive-s", 1, 3600, state);
		return 0;
	case KEY_SEND:
		p->send_s =
		    (uint32_t)cmd_number(arg, "--send-s", 1, 3600, state);
		return 0;
	case ARGP_KEY_END:
		/* Each thread takes connections by itself,
		 * and needs room for one. */
		if (p->max_connections < p->threads)
			argp_error(state,
			    "--max-connections %u is less than one a thread",
			    p->max_connections);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp cmd_serve_argp = {.options = cmd_serve_options,
    .parser = cmd_serve_parse};

int cmd_serve(const struct xp_http_params *params,
    const struct xp_http_service *service, const char *what)
{
	struct xp_http_params p = *params;
	struct xp_http_server *s;
	struct sim_err e = {0};
	char url[80];
	/* A thread serves many connections, so more than a few do not help. */
	if (p.threads == 0) {
		const long n = sysconf(_SC_NPROCESSORS_ONLN);
		p.threads = n < 1 ? 1 : n < 8 ? (uint32_t)n : 8;
		if (p.threads > p.max_connections)
			p.threads = p.max_connections;
	}
	const int rc = xp_http_open(&s, &p, service, &e);
	if (rc < 0)
		/* A program built without the HTTP library
		 * can't do what was asked. */
		return cmd_fail(rc == SIM_EUNSUPPORTED ? CMD_USAGE
						       : cmd_exit_of(rc),
		    &e);
	printf("%s: %s\n", xp_http_url(s, url), what);
	/* Who started it may wait for this line, to learn the port. */
	fflush(stdout);
	xp_http_run(s);
	xp_http_close(s);
	return CMD_GOOD;
}
