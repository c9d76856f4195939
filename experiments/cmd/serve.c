/* experiments/cmd/serve.c -- what the verbs that serve HTTP share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cmd/serve.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "experiments/cmd/cmd.h"
#include "experiments/cmd/config.h"
#include "experiments/cmd/identity.h"
#include "experiments/live/daemon.h"
#include "experiments/live/seccomp.h"
#include "sim/text.h"

#define SERVE_AT(member) offsetof(struct cmd_serve, member)

const struct cmd_option cmd_serve_options[] = {
    {"listen", 0, "ADDRESS:PORT",
	"where (127.0.0.1:8080; a collector, :8081); port 0 is any free one, "
	"which is printed",
	.take = cmd_take_text, .at = SERVE_AT(http.listen)},
    {"threads", 0, "N", "threads (one a processor, at most 8)",
	.take = cmd_take_u32, .at = SERVE_AT(http.threads), .min = 1,
	.max = 64},
    {"max-connections", 0, "N",
	"connections at a time (512); for one more, a stranger's is closed",
	.take = cmd_take_u32, .at = SERVE_AT(http.max_connections), .min = 1,
	.max = 65536},
    {"per-address", 0, "N",
	"connections of one address (64), 0 = all; for IPv6, of one /64, but "
	"for those of --net6",
	.take = cmd_take_u32, .at = SERVE_AT(http.per_address), .max = 65536,
	.live = 1},
    {"reserve", 0, "N",
	"of all connections, those that are not for strangers (a quarter)",
	.take = cmd_take_u32, .at = SERVE_AT(http.reserved), .max = 65535},
    {"head-s", 0, "S",
	"seconds that the head of a request may take, or a handshake (10)",
	.take = cmd_take_u32, .at = SERVE_AT(http.head_s), .min = 1,
	.max = 3600, .live = 1},
    {"receive-s", 0, "S", "seconds that a request may take to arrive (20)",
	.take = cmd_take_u32, .at = SERVE_AT(http.receive_s), .min = 1,
	.max = 3600, .live = 1},
    {"send-s", 0, "S", "seconds that fetching an answer may take (60)",
	.take = cmd_take_u32, .at = SERVE_AT(http.send_s), .min = 1,
	.max = 3600, .live = 1},
    {"user", 0, "NAME",
	"whom to become once the port is open (root has to say it)",
	.take = cmd_take_text, .at = SERVE_AT(user)},
    {.with = cmd_identity_options, .at = SERVE_AT(http.identity)},
    CMD_CONFIG_OPTION,
    {0},
};

/* Lines of a log, whose reader knows the time. */
static void cmd_serve_tell(void *arg, enum xp_daemon_level level,
    const char *line)
{
	(void)arg;
	fprintf(stderr, "%sculprit: %s\n", xp_daemon_mark(level), line);
}

void cmd_serve_check(const struct cmd_serve *c, struct argp_state *state)
{
	const struct xp_http_params *p = &c->http;
	/* Each thread takes connections by itself, and needs room for one. */
	if (p->max_connections < p->threads)
		argp_error(state,
		    "--max-connections %u is less than one a thread",
		    p->max_connections);
	if (p->reserved != CMD_SERVE_QUARTER &&
	    p->reserved >= p->max_connections)
		argp_error(state,
		    "--reserve %u leaves strangers none of %u connections",
		    p->reserved, p->max_connections);
	cmd_identity_check(&p->identity, state);
}

void cmd_serve_help(FILE *out)
{
	fprintf(out,
	    "With --ca, --cert and --key it speaks TLS, with clients that "
	    "have a certificate of that authority; others are refused, and "
	    "told of on stderr. New files are taken within a second, without "
	    "a restart. Without them it speaks in the clear with anybody, on "
	    "this host alone unless --insecure is given.\n\n"
	    "Once the port is open it gives up all rights, and becomes the "
	    "user of --user, with its main group alone. Root has to name one, "
	    "a user of its own: what runs as nobody could be stopped and read "
	    "by all else that does; --user root stays root, without its "
	    "rights. That user reads --ca, --cert and --key, now and whenever "
	    "they are replaced, so the key is to be its own, or of mode 640 "
	    "and its group's. Then nobody runs a program, traces or mounts by "
	    "this process, which ends it; raw sockets, namespaces, eBPF and "
	    "the like are refused, told of and counted.\n\n"
	    "At SIGHUP (systemctl reload) the file of --config is read again: "
	    "limits (--per-address, --head-s, --receive-s, --send-s; of a "
	    "collector those of what it keeps) and --stop-file are taken from "
	    "it. Of others that it says anew stderr tells that they take a "
	    "restart. A file with a mistake changes nothing.\n\n");
}

/* What is built in and what is not is a matter of the command line. */
static int serve_fail(int rc, const struct sim_err *e)
{
	return cmd_fail(rc == SIM_EUNSUPPORTED ? CMD_USAGE : cmd_exit_of(rc),
	    e);
}

/* A thread serves many connections, so more than a few do not help. */
static uint32_t serve_threads(const struct xp_http_params *p)
{
	const unsigned n = cmd_processors(), most = n < 8 ? n : 8;
	if (p->threads > 0)
		return p->threads;
	return most < p->max_connections ? most : p->max_connections;
}

/* Nobody is no user for a server: it has a store and a key, and who is nobody may
 * trace and stop whoever else is. */
static int serve_become(const struct cmd_serve *c, const char *dir,
    struct sim_err *e)
{
	int rc = 0;
	if (!c->user && geteuid() == 0)
		return sim_fail(e, SIM_EINVAL,
		    "This is root: say by --user whom to become now that the "
		    "port is open; --user root stays root, without its "
		    "rights.");
	if (dir && c->user)
		rc = xp_daemon_folder(dir, c->user, e);
	return rc < 0 ? rc : xp_daemon_drop(c->user, e);
}

int cmd_serve_begin(struct xp_http_server **s, const struct cmd_serve *c,
    const char *dir)
{
	struct xp_http_params p = c->http;
	struct sim_err e = {0};
	*s = NULL;
	p.threads = serve_threads(&p);
	if (p.reserved == CMD_SERVE_QUARTER)
		p.reserved = p.max_connections / 4;
	int rc = xp_http_bind(s, &p, &e);
	if (rc == 0)
		rc = serve_become(c, dir, &e);
	if (rc < 0) {
		xp_http_close(*s);
		return serve_fail(rc, &e);
	}
	/* One wall of several: where there is none, that is told. */
	if (xp_seccomp_begin(XP_SECCOMP_NETWORK, &e) < 0)
		cmd_serve_tell(NULL, XP_DAEMON_WARNING, e.msg);
	return CMD_GOOD;
}

static void serve_again(void *arg, struct xp_http_server *s)
{
	const struct cmd_serve_again *again = arg;
	struct xp_http_change c;
	char tell[600] = "", line[700];
	const int rc = again->read(again->arg, &c, tell, sizeof(tell));
	if (rc > 0)
		xp_http_change(s, &c);
	snprintf(line, sizeof(line), "settings %s%s%s",
	    rc < 0 ? "stay as they were: " : "are read again",
	    rc >= 0 && tell[0] != '\0' ? "; a restart takes: " : "", tell);
	cmd_serve_tell(NULL,
	    rc < 0 || tell[0] != '\0' ? XP_DAEMON_WARNING : XP_DAEMON_INFO,
	    line);
}

int cmd_serve(struct xp_http_server *s, const struct cmd_serve *c,
    const struct xp_http_service *of, const struct cmd_serve_again *again,
    const char *what)
{
	struct xp_http_service service = *of;
	struct sim_err e = {0};
	char url[80];
	service.tell = cmd_serve_tell;
	if (cmd_config_newest()->path) {
		service.again = serve_again;
		service.again_arg = (void *)(uintptr_t)again;
	} else if (c->http.identity.ca) {
		/* Files are looked at by themselves, so a hang-up, by which
		 * daemons are told to, is no reason to end. */
		signal(SIGHUP, SIG_IGN);
	}
	int rc = xp_http_start(s, &service, &e);
	if (rc < 0) {
		xp_http_close(s);
		return serve_fail(c->user
			? sim_wrap(&e, rc, "as user %s", c->user)
			: rc,
		    &e);
	}
	printf("%s: %s\n", xp_http_url(s, url), what);
	/* Who started it may wait for this line, to learn the port. */
	fflush(stdout);
	xp_http_run(s);
	xp_http_close(s);
	return CMD_GOOD;
}
