/* experiments/cmd/controller.c -- culprit controller: pinglists over HTTP.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "experiments/cmd/cmd.h"
#include "experiments/cmd/plan.h"
#include "experiments/cmd/serve.h"

struct args {
	struct cmd_plan plan;
	struct cmd_serve serve;
	const char *spec, *stop_file, *sign;
	/* As the program was called, to read its file again. */
	int argc;
	char **argv;
};

static const struct cmd_option controller_options[] = {
    {.with = cmd_plan_options, .at = CMD_AT(plan)},
    {.with = cmd_serve_options, .at = CMD_AT(serve)},
    {"stop-file", 0, "FILE",
	"while FILE exists there are no pinglists, and agents stop",
	.take = cmd_take_text, .at = CMD_AT(stop_file), .live = 1},
    {"sign", 0, "FILE",
	"sign lists by the Ed25519 key of FILE, PEM, for agents with "
	"--signed-by; `culprit ca` makes list.key",
	.take = cmd_take_file, .at = CMD_AT(sign)},
    {0},
};

static void controller_check(const void *args, struct argp_state *state)
{
	const struct args *a = args;
	cmd_serve_check(&a->serve, state);
	cmd_plan_check(&a->plan, a->spec, state);
}

static void controller_put_more(FILE *out, const void *args)
{
	(void)args;
	fprintf(out,
	    "  GET /pinglist/ADDRESS  the list of the server with that "
	    "address,\n"
	    "                         of peers by IPv4 or, with --net6, by "
	    "IPv6\n"
	    "  GET /pinglist.xsd      the XML schema of a list\n"
	    "  GET /health            counters, as JSON\n"
	    "  GET /metrics           the same for Prometheus\n\n"
	    "Nothing is stored for a server: a list is computed when it is "
	    "asked for. Any number of controllers started with the same "
	    "options give the same bytes and entity tags, so they may stand "
	    "behind one address. To stop all agents, make the stop file: each "
	    "list is then answered with 404, at which an agent drops its "
	    "peers. If it cannot be told whether the file exists, agents stop "
	    "too.\n\n");
	cmd_serve_help(out);
	fprintf(out,
	    "An agent gets the list of an address that is in its "
	    "certificate, and no other. With --sign each list has a header "
	    "Culprit-Signature (experiments/live/list_mark.h), with the "
	    "time when this controller was started: an agent that has a "
	    "list of that time takes no other list of an earlier one.\n\n");
	cmd_plan_help(out);
}

static const struct cmd_line controller_line = {
    .options = controller_options,
    .word = {"spec", .take = cmd_take_one, .at = CMD_AT(spec)},
    .check = controller_check,
    .more = controller_put_more,
    .args_doc = "[SPEC]",
    .doc = "Serve pinglists over HTTP to Pingmesh's agents: of the network of "
	   "SPEC, or of the one that --set describes. SIGTERM and SIGINT end "
	   "it."
	   "\v ",
};

static int controller_again(void *arg, struct xp_http_change *c, char *tell,
    size_t size)
{
	const struct args *a = arg;
	struct args now = {.serve = CMD_SERVE_DEFAULTS};
	int rc = cmd_plan_init(&now.plan, NULL);
	if (rc == 0)
		rc = cmd_parse_again(&controller_line, a->argc, a->argv, &now,
		    tell, size);
	*c = (struct xp_http_change){.per_address = now.serve.http.per_address,
	    .head_s = now.serve.http.head_s,
	    .receive_s = now.serve.http.receive_s,
	    .send_s = now.serve.http.send_s,
	    .stop_file = now.stop_file};
	return rc;
}

int cmd_controller(int argc, char **argv)
{
	struct args a = {.serve = CMD_SERVE_DEFAULTS,
	    .argc = argc,
	    .argv = argv};
	struct algo_pinglist plan;
	struct sim_err e = {0};
	int rc = cmd_plan_init(&a.plan, &e);
	if (rc < 0)
		return cmd_fail(cmd_exit_of(rc), &e);
	cmd_parse(&controller_line, argc, argv, &a);
	if (a.spec && (rc = cmd_plan_read_spec(&a.plan, a.spec, &e)) < 0)
		return cmd_fail(cmd_exit_of(rc), &e);
	/* The plan is opened once and then only read, so any number of threads
	 * can make lists from it. */
	rc = algo_pinglist_open(&plan, &a.plan.params, a.plan.dc, a.plan.n_dcs,
	    &e);
	if (rc == 0 && a.plan.net6.bits > 0)
		rc = algo_pinglist_add_net(&plan, &a.plan.net6, &e);
	if (rc < 0)
		return cmd_fail(cmd_exit_of(rc), &e);
	char what[128];
	snprintf(what, sizeof(what),
	    "pinglists of %" PRIu32 " servers, version %016" PRIx64,
	    plan.n_servers, plan.version);
	struct xp_list_signer *signer = NULL;
	/* A plan is issued when it is first served, which is now: agents take
	 * no older one for a newer one. */
	if (a.sign &&
	    (rc = xp_list_signer_open(&signer, a.sign, (uint64_t)time(NULL),
		 &e)) < 0)
		return cmd_fail(cmd_exit_of(rc), &e);
	const struct xp_http_service service = {.plan = &plan,
	    .stop_file = a.stop_file,
	    .signer = signer};
	const struct cmd_serve_again again = {controller_again, &a};
	struct xp_http_server *server;
	a.serve.http.net6 = a.plan.net6;
	int code = cmd_serve_begin(&server, &a.serve, NULL);
	if (code == CMD_GOOD)
		code = cmd_serve(server, &a.serve, &service, &again, what);
	xp_list_signer_close(signer);
	return code;
}
