/* experiments/cmd/controller.c -- culprit controller: pinglists over HTTP.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <stdlib.h>

#include "experiments/cmd/cmd.h"
#include "experiments/cmd/plan.h"
#include "experiments/cmd/serve.h"

enum { KEY_STOP = 1000 };

static const struct argp_option controller_options[] = {
    {"stop-file", KEY_STOP, "FILE", 0,
	"while FILE exists there are no pinglists, and agents stop", 0},
    {0},
};

struct args {
	struct cmd_plan plan;
	struct xp_http_params http;
	const char *spec, *stop_file;
};

static error_t controller_parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	switch (key) {
	case ARGP_KEY_INIT:
		/* Options of the two children go
		 * straight into their structs. */
		state->child_inputs[0] = &a->plan;
		state->child_inputs[1] = &a->http;
		return 0;
	case KEY_STOP:
		a->stop_file = arg;
		return 0;
	case ARGP_KEY_ARG:
		cmd_take_one(&a->spec, arg, "spec", state);
		return 0;
	case ARGP_KEY_END:
		/* A spec has its own network. */
		if (a->spec && a->plan.is_set)
			argp_error(state,
			    "--set and --dc describe a network, %s has "
			    "another",
			    a->spec);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void controller_put_more(FILE *out)
{
	fprintf(out,
	    "  GET /pinglist/ADDRESS  the list of the server with that "
	    "address\n"
	    "  GET /pinglist.xsd      the XML schema of a list\n"
	    "  GET /health            counters, as JSON\n\n"
	    "Nothing is stored for a server: a list is computed when it is "
	    "asked for. Any number of controllers started with the same "
	    "options give the same bytes and entity tags, so they may stand "
	    "behind one address. To stop all agents, make the stop file: each "
	    "list is then answered with 404, at which an agent drops its "
	    "peers. If it cannot be told whether the file exists, agents stop "
	    "too. There is no encryption, and anybody may ask: listen where "
	    "only servers reach.\n\n");
	cmd_plan_help(out);
	fprintf(out,
	    "\n  culprit controller --set n_pods=4 &\n"
	    "  curl http://127.0.0.1:8080/pinglist/10.0.0.1\n"
	    "  culprit controller vigil_fig03 --stop-file "
	    "/etc/culprit/stop\n");
}

static char *controller_help(int key, const char *text, void *input)
{
	(void)input;
	return cmd_help_after(key, text, controller_put_more);
}

static const struct argp_child controller_children[] = {{&cmd_plan_argp, 0,
							    NULL, 0},
    {&cmd_serve_argp, 0, NULL, 0}, {0}};

static const struct argp controller_argp = {
    .options = controller_options,
    .parser = controller_parse,
    .children = controller_children,
    .args_doc = "[SPEC]",
    .doc = "Serve pinglists over HTTP to Pingmesh's agents: of the network of "
	   "SPEC, or of the one that --set describes. SIGTERM and SIGINT end "
	   "it."
	   "\v ",
    .help_filter = controller_help,
};

int cmd_controller(int argc, char **argv)
{
	struct args a = {.http = CMD_SERVE_DEFAULTS};
	struct algo_pinglist plan;
	struct sim_err e = {0};
	int rc = cmd_plan_init(&a.plan, &e);
	if (rc < 0)
		return cmd_fail(cmd_exit_of(rc), &e);
	cmd_parse(&controller_argp, argc, argv, &a);
	if (a.spec && (rc = cmd_plan_read_spec(&a.plan, a.spec, &e)) < 0)
		return cmd_fail(cmd_exit_of(rc), &e);
	/* The plan is opened once and then only read, so any number of threads
	 * can make lists from it. */
	rc = algo_pinglist_open(&plan, &a.plan.params, a.plan.dc, a.plan.n_dcs,
	    &e);
	if (rc < 0)
		return cmd_fail(cmd_exit_of(rc), &e);
	char what[128];
	snprintf(what, sizeof(what),
	    "pinglists of %" PRIu32 " servers, version %016" PRIx64,
	    plan.n_servers, plan.version);
	const struct xp_http_service service = {.plan = &plan,
	    .stop_file = a.stop_file};
	return cmd_serve(&a.http, &service, what);
}
