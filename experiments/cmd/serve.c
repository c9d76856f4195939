/* experiments/cmd/serve.c -- what the verbs that serve HTTP share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cmd/serve.h"

#include <signal.h>
#include <stdio.h>

#include "experiments/cmd/cmd.h"
#include "experiments/cmd/identity.h"
#include "sim/text.h"

#define SERVE_AT(member) offsetof(struct xp_http_params, member)

const struct cmd_option cmd_serve_options[] = {
    {"listen", 0, "ADDRESS:PORT",
	"where (127.0.0.1:8080; a collector, :8081); port 0 is any free one, "
	"which is printed",
	.take = cmd_take_text, .at = SERVE_AT(listen)},
    {"threads", 0, "N", "threads (one a processor, at most 8)",
	.take = cmd_take_u32, .at = SERVE_AT(threads), .min = 1, .max = 64},
    {"max-connections", 0, "N",
	"connections at a time (512); more wait to be accepted",
	.take = cmd_take_u32, .at = SERVE_AT(max_connections), .min = 1,
	.max = 65536},
    {"per-address", 0, "N",
	"connections of one address (64), 0 = all; for IPv6, of one /64",
	.take = cmd_take_u32, .at = SERVE_AT(per_address), .max = 65536},
    {"receive-s", 0, "S", "seconds that a request may take to arrive (20)",
	.take = cmd_take_u32, .at = SERVE_AT(receive_s), .min = 1, .max = 3600},
    {"send-s", 0, "S", "seconds that fetching an answer may take (60)",
	.take = cmd_take_u32, .at = SERVE_AT(send_s), .min = 1, .max = 3600},
    {.with = cmd_identity_options, .at = SERVE_AT(identity)},
    {0},
};

/* Lines of a log, whose reader knows the time. */
static void cmd_serve_tell(void *arg, enum xp_daemon_level level,
    const char *line)
{
	(void)arg;
	fprintf(stderr, "%sculprit: %s\n", xp_daemon_mark(level), line);
}

void cmd_serve_check(const struct xp_http_params *p, struct argp_state *state)
{
	/* Each thread takes connections by itself, and needs room for one. */
	if (p->max_connections < p->threads)
		argp_error(state,
		    "--max-connections %u is less than one a thread",
		    p->max_connections);
	cmd_identity_check(&p->identity, state);
}

void cmd_serve_help(FILE *out)
{
	fprintf(out,
	    "With --ca, --cert and --key it speaks TLS, with clients that "
	    "have a certificate of that authority; others are refused, and "
	    "told of on stderr. New files are taken within a second, without "
	    "a restart. Without them it speaks in the clear with anybody, on "
	    "this host alone unless --insecure is given.\n\n");
}

int cmd_serve(const struct xp_http_params *params,
    const struct xp_http_service *of, const char *what)
{
	struct xp_http_params p = *params;
	struct xp_http_service service = *of;
	struct xp_http_server *s;
	struct sim_err e = {0};
	char url[80];
	service.tell = cmd_serve_tell;
	/* Files are looked at by themselves, so a hang-up, by which daemons are
	 * told to, is no reason to end. */
	if (p.identity.ca)
		signal(SIGHUP, SIG_IGN);
	/* A thread serves many connections, so more than a few do not help. */
	if (p.threads == 0) {
		const unsigned n = cmd_processors();
		p.threads = n < 8 ? n : 8;
		if (p.threads > p.max_connections)
			p.threads = p.max_connections;
	}
	const int rc = xp_http_open(&s, &p, &service, &e);
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
