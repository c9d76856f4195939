/* experiments/cmd/agent.c -- culprit agent: probe from this host, for good.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "experiments/cmd/cmd.h"
#include "experiments/cmd/field.h"
#include "experiments/live/agent_daemon.h"
#include "experiments/live/daemon.h"
#include "sim/text.h"
#include "topo/addr.h"

enum {
	KEY_CONTROLLER = 1000,
	KEY_COLLECTOR,
	KEY_ADDRESS,
	KEY_PORT,
	KEY_DSCP,
	KEY_USER,
	KEY_LOG,
	KEY_STATUS,
	KEY_MEMORY,
	KEY_FOR,
	KEY_ONCE,
};

enum { MAX_FIELDS = 40, MAX_DSCP = 63, MAX_MIB = 1 << 20 };
#define MAX_S 1e9

static const struct argp_option cmd_agent_options[] = {
    {"controller", KEY_CONTROLLER, "URL,...", 0,
	"whom to ask for this host's list; several are tried in turn", 0},
    {"collector", KEY_COLLECTOR, "URL", 0,
	"whom to send results to (without: nobody, they are dropped)", 0},
    {"address", KEY_ADDRESS, "A.B.C.D", 0,
	"the address of this host in the lists (the only one that it has)", 0},
    {"port", KEY_PORT, "PORT,...", 0,
	"listen here; one a QoS class, as the controller's ports= (8765)", 0},
    {"dscp", KEY_DSCP, "N,...", 0, "DSCP of each class (0)", 0},
    {"param", 'p', "KEY=VALUE", 0, "a parameter below; may be repeated", 0},
    {"user", KEY_USER, "NAME", 0,
	"whom to become once all is open (root: nobody)", 0},
    {"log", KEY_LOG, "FILE", 0, "log to FILE, of 1 MiB, and FILE.1 (stderr)",
	0},
    {"status", KEY_STATUS, "FILE", 0,
	"write status to FILE every 10 s; SIGUSR1 has it logged", 0},
    {"memory-mib", KEY_MEMORY, "N", 0,
	"die rather than take more private memory (64); 0: no limit", 0},
    {"for", KEY_FOR, "S", 0, "end after S seconds", 0},
    {"once", KEY_ONCE, NULL, 0,
	"ask for the list once, probe nobody; exit 1 if there is none", 0},
    {0},
};

struct args {
	struct xp_agent_params params;
	struct sim_field fields[MAX_FIELDS]; /* of struct xp_agent_params */
	unsigned n_dscps;
};

/* --- parameters ----------------------------------------------------------- */
static void set_default(struct sim_field *all, const char *name,
    const char *def)
{
	for (; all->name; all++)
		if (strcmp(all->name, name) == 0)
			all->def = def;
}

/* Join the parameters that --param may set: those of the agent, with defaults
 * for Linux, and of the sockets' the few that a user may choose. */
static int cmd_agent_init(struct args *a, struct sim_err *e)
{
	static const char *const of_sockets[] = {"max_flights", "max_clients",
	    "syn_retries", "echo", "client", NULL};
	struct xp_agent_params *p = &a->params;
	size_t n =
	    sim_field_join(a->fields, 0, MAX_FIELDS, algo_pingmesh_agent_fields,
		offsetof(struct xp_agent_params, agent), NULL);
	sim_field_join(a->fields, n, MAX_FIELDS, fabric_real_fields,
	    offsetof(struct xp_agent_params, fabric), of_sockets);
	/* Linux sends a SYN again after 1 s; the default is Windows'
	 * 3 s, as in the paper. */
	set_default(a->fields, "syn_rto", "1");
	set_default(a->fields, "max_flights", "8192");
	int rc = sim_field_defaults(fabric_real_fields, &p->fabric, e);
	if (rc == 0)
		rc = sim_field_defaults(a->fields, p, e);
	p->fabric.n_classes = 1;
	p->fabric.port[0] = 8765;
	p->memory_mib = 64;
	p->grace_s = 5;
	return rc;
}

/* Set what follows from the others. Sockets give a connect up a little before
 * the agent's own timer does, so that the agent hears how it ended. */
static int derive(struct xp_agent_params *p, struct sim_err *e)
{
	p->fabric.syn_rto_s = p->agent.syn_rto_s;
	p->fabric.connect_s = 0.95 * p->agent.probe_timeout_s;
	/* The agent traces nothing, so it needs no raw sockets and
	 * no right to open them. */
	p->fabric.no_probe = 1;
	if (p->once) {
		p->agent.fetch_retry_s = 1; /* it asks within that */
		p->collector = NULL;
	}
	return p->agent.address == 0 ? xp_daemon_address(&p->agent.address, e)
				     : 0;
}

/* --- options -------------------------------------------------------------- */
/* Read numbers as in "8765,8766", one for each QoS class; returns how many. */
static unsigned numbers(const char *text, const char *option, uint64_t least,
    uint64_t most, uint64_t out[FABRIC_REAL_CLASSES], struct argp_state *state)
{
	char one[32];
	for (unsigned n = 0; n < FABRIC_REAL_CLASSES;) {
		const size_t len = strcspn(text, ",");
		snprintf(one, sizeof(one), "%.*s", (int)len, text);
		out[n++] = cmd_number(one, option, least, most, state);
		text += len;
		if (*text++ == '\0')
			return n;
	}
	argp_error(state, "%s: more than %d classes", option,
	    FABRIC_REAL_CLASSES);
	return 0;
}

static void take_ports(struct fabric_real_params *p, const char *arg,
    struct argp_state *state)
{
	uint64_t x[FABRIC_REAL_CLASSES] = {0};
	p->n_classes = numbers(arg, "--port", 1, 65535, x, state);
	for (unsigned i = 0; i < p->n_classes; i++) {
		p->port[i] = (uint16_t)x[i];
		for (unsigned k = 0; k < i; k++)
			/* Two classes at one port could not be told apart. */
			if (x[k] == x[i])
				argp_error(state, "--port %u is there twice",
				    (unsigned)x[i]);
	}
}

static void take_dscps(struct args *a, const char *arg,
    struct argp_state *state)
{
	uint64_t x[FABRIC_REAL_CLASSES] = {0};
	a->n_dscps = numbers(arg, "--dscp", 0, MAX_DSCP, x, state);
	for (unsigned i = 0; i < a->n_dscps; i++)
		a->params.fabric.dscp[i] = (uint8_t)x[i];
}

static void take_for(struct xp_agent_params *p, const char *arg,
    struct argp_state *state)
{
	if (sim_parse_f64(arg, &p->for_s, NULL) < 0 || p->for_s <= 0 ||
	    p->for_s > MAX_S)
		argp_error(state, "--for \"%s\" is not in (0, %g] s", arg,
		    MAX_S);
}

static void cmd_agent_check(const struct args *a, struct argp_state *state)
{
	const struct xp_agent_params *p = &a->params;
	if (!p->controllers)
		argp_error(state, "--controller is missing");
	if (p->agent.first_port > p->agent.last_port)
		argp_error(state, "first_port %u is above last_port %u",
		    p->agent.first_port, p->agent.last_port);
	if (a->n_dscps > p->fabric.n_classes)
		argp_error(state, "%u DSCPs, but %u ports", a->n_dscps,
		    p->fabric.n_classes);
}

static error_t cmd_agent_parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	struct xp_agent_params *p = &a->params;
	switch (key) {
	case KEY_CONTROLLER:
		p->controllers = arg;
		return 0;
	case KEY_COLLECTOR:
		p->collector = arg;
		return 0;
	case KEY_ADDRESS:
		if (topo_addr_parse(arg, &p->agent.address, NULL) < 0 ||
		    p->agent.address == 0)
			argp_error(state, "--address \"%s\" is no address",
			    arg);
		return 0;
	case KEY_PORT:
		take_ports(&p->fabric, arg, state);
		return 0;
	case KEY_DSCP:
		take_dscps(a, arg, state);
		return 0;
	case 'p':
		cmd_field_set(a->fields, p, "--param", arg, state);
		return 0;
	case KEY_USER:
		p->user = arg;
		return 0;
	case KEY_LOG:
		p->log = strcmp(arg, "stderr") == 0 ? NULL : arg;
		return 0;
	case KEY_STATUS:
		p->status = arg;
		return 0;
	case KEY_MEMORY:
		p->memory_mib = (uint32_t)cmd_number(arg, "--memory-mib", 0,
		    MAX_MIB, state);
		return 0;
	case KEY_FOR:
		take_for(p, arg, state);
		return 0;
	case KEY_ONCE:
		p->once = 1;
		return 0;
	case ARGP_KEY_END:
		cmd_agent_check(a, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* The help names keys with defaults, which depend on what
 * cmd_agent_init() made of them. */
static char *cmd_agent_help(int key, const char *text, void *input)
{
	const struct args *a = input;
	char *more = NULL;
	size_t n = 0;
	if (key != ARGP_KEY_HELP_POST_DOC || !a)
		return (char *)(uintptr_t)text;
	FILE *out = open_memstream(&more, &n);
	if (!out)
		return NULL;
	fprintf(out,
	    "Every 300 s or so it asks the controller for GET "
	    "/pinglist/ADDRESS, and POSTs what it saw to /results of the "
	    "collector. URLs begin with http://, or with https:// where "
	    "libcurl has TLS; certificates are then checked.\n\n"
	    "What it must not do, no list and no parameter makes it do:\n"
	    "  two probes of one pair are 10 s apart or more\n"
	    "  no payload is above 65536 bytes\n"
	    "  no list, an empty or bad one, or three contacts in a row that\n"
	    "  fail: nothing is probed until a list comes\n"
	    "It always answers the probes of others. Its memory is bounded; "
	    "results that find no place or no taker are dropped and counted. "
	    "Once its sockets and files are open it gives up all rights.\n\n"
	    "SIGTERM and SIGINT end it: results that it has are sent for up "
	    "to 5 s. Under systemd it says when it is ready and alive.\n\n"
	    "Keys of --param:\n");
	cmd_field_help(out, a->fields);
	fprintf(out,
	    "\n  culprit agent --controller http://10.0.0.250:8080 \\\n"
	    "        --collector http://10.0.0.250:8081 --address 10.0.0.17\n"
	    "  culprit agent --controller http://a:8080,http://b:8080 --once\n"
	    "  culprit agent ... --port 8765,8766 --dscp 46,8\n");
	fclose(out);
	return more;
}

static const struct argp cmd_agent_argp = {
    .options = cmd_agent_options,
    .parser = cmd_agent_parse,
    .doc = "Probe from this host whom the controller says, as Pingmesh's "
	   "agent (SIGCOMM'15) does: the very one of the simulations, on real "
	   "sockets."
	   "\v ",
    .help_filter = cmd_agent_help,
};

int cmd_agent(int argc, char **argv)
{
	struct args a = {0};
	struct xp_agent *agent = NULL;
	struct sim_err e = {0};
	char self[16];
	int rc = cmd_agent_init(&a, &e);
	if (rc < 0)
		return cmd_fail(CMD_TROUBLE, &e);
	cmd_parse(&cmd_agent_argp, argc, argv, &a);
	if ((rc = derive(&a.params, &e)) < 0 ||
	    (rc = xp_agent_open(&agent, &a.params, &e)) < 0)
		return cmd_fail(cmd_exit_of(rc), &e);
	topo_addr_format(a.params.agent.address, self);
	printf("%s: listens at port %u and asks %s\n", self,
	    a.params.fabric.port[0], a.params.controllers);
	/* Who started it may wait for this line, also through a pipe. */
	fflush(stdout);
	rc = xp_agent_run(agent, &e);
	xp_agent_close(agent);
	if (rc < 0)
		return cmd_fail(CMD_TROUBLE, &e);
	/* With --once the answer is the exit code: was
	 * there a list with peers? */
	return a.params.once && rc == 0 ? CMD_FAILED : CMD_GOOD;
}
