/* experiments/cmd/agent.c -- culprit agent: probe from this host, for good.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "algos/pingmesh/allow.h"
#include "experiments/cmd/cmd.h"
#include "experiments/cmd/config.h"
#include "experiments/cmd/identity.h"
#include "experiments/cmd/long_run.h"
#include "experiments/live/agent_daemon.h"
#include "experiments/live/daemon.h"
#include "sim/text.h"
#include "topo/ip.h"

enum { MAX_FIELDS = 40, MAX_DSCP = 63 };

struct args {
	struct xp_agent_params params;
	struct sim_field fields[MAX_FIELDS]; /* of struct xp_agent_params */
	unsigned n_dscps;
	struct algo_pinglist_allow allow;
	/* As the program was called, to read its file again. */
	int argc;
	char **argv;
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
	    "per_address", "syn_retries", "echo", "client", NULL};
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
	/* A peer probes each pair once in 10 s, and a probe takes moments. */
	set_default(a->fields, "per_address", "64");
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
	return topo_ip_is_zero(&p->address) ? xp_daemon_address(&p->address, e)
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

static void take_ports(void *to, char *arg, const struct cmd_given *g)
{
	struct fabric_real_params *p = to;
	uint64_t x[FABRIC_REAL_CLASSES] = {0};
	p->n_classes = numbers(arg, "--port", 1, 65535, x, g->state);
	for (unsigned i = 0; i < p->n_classes; i++) {
		p->port[i] = (uint16_t)x[i];
		for (unsigned k = 0; k < i; k++)
			/* Two classes at one port could not be told apart. */
			if (x[k] == x[i])
				argp_error(g->state, "--port %u is there twice",
				    (unsigned)x[i]);
	}
}

static void take_dscps(void *to, char *arg, const struct cmd_given *g)
{
	struct args *a = to;
	uint64_t x[FABRIC_REAL_CLASSES] = {0};
	a->n_dscps = numbers(arg, "--dscp", 0, MAX_DSCP, x, g->state);
	for (unsigned i = 0; i < a->n_dscps; i++)
		a->params.fabric.dscp[i] = (uint8_t)x[i];
}

static void take_allow_net(void *to, char *arg, const struct cmd_given *g)
{
	struct sim_err e;
	if (algo_pinglist_allow_nets(to, arg, &e) < 0)
		argp_error(g->state, "--allow-net: %s", e.msg);
}

static void take_allow_port(void *to, char *arg, const struct cmd_given *g)
{
	struct sim_err e;
	if (algo_pinglist_allow_ports(to, arg, &e) < 0)
		argp_error(g->state, "--allow-port: %s", e.msg);
}

/* Where lists have all servers, which of IPv6 is near its own; and the ports at
 * which this one answers. */
static void allow_usual(struct args *a)
{
	struct algo_pinglist_allow *w = &a->allow;
	const struct fabric_real_params *f = &a->params.fabric;
	char net[TOPO_IP_TEXT + 4] = "10.0.0.0/8";
	if (!topo_ip_is_4(&a->params.address)) {
		topo_ip_format(&a->params.address, net);
		strcat(net, "/64");
	}
	if (w->n_nets == 0)
		algo_pinglist_allow_nets(w, net, NULL);
	for (unsigned i = 0; i < f->n_classes && w->n_ports == i; i++) {
		w->first[i] = w->last[i] = f->port[i];
		w->n_ports++;
	}
	a->params.agent.allow = w;
}

static void take_address(void *to, char *arg, const struct cmd_given *g)
{
	struct topo_ip ip;
	struct sim_err e;
	char self[TOPO_IP_TEXT];
	if (topo_ip_parse(arg, &ip, &e) < 0)
		argp_error(g->state, "--address: %s", e.msg);
	topo_ip_format(&ip, self);
	/* Loopback is of a host that tries itself out. */
	if (!topo_ip_is_target(&ip) && strncmp(self, "127.", 4) != 0 &&
	    strcmp(self, "::1") != 0)
		argp_error(g->state,
		    "--address \"%s\" is no address that others reach", arg);
	*(struct topo_ip *)to = ip;
}

static void take_agent_param(void *to, char *arg, const struct cmd_given *g)
{
	struct args *a = to;
	cmd_field_set(a->fields, &a->params, "--param", arg, g->state);
}

static const struct cmd_option cmd_agent_options[] = {
    {"controller", 0, "URL,...",
	"whom to ask for this host's list; several are tried in turn",
	.take = cmd_take_text, .at = CMD_AT(params.controllers), .live = 1},
    {"collector", 0, "URL",
	"whom to send results to (without: nobody, they are dropped)",
	.take = cmd_take_text, .at = CMD_AT(params.collector), .live = 1},
    {"address", 0, "ADDRESS",
	"the address of this host in the lists, of IPv4 or IPv6 (the only one "
	"that it has); a host with both runs two agents",
	.take = take_address, .at = CMD_AT(params.address)},
    {"port", 0, "PORT,...",
	"listen here; one a QoS class, as the controller's ports= (8765)",
	.take = take_ports, .at = CMD_AT(params.fabric)},
    {"signed-by", 0, "FILE",
	"take no list but one signed by a public key of FILE, PEM; `culprit "
	"ca` makes list.pub",
	.take = cmd_take_file, .at = CMD_AT(params.signed_by)},
    {"newest", 0, "FILE",
	"with --signed-by: keep in FILE which list was the newest, so that no "
	"older one is taken after a restart",
	.take = cmd_take_file, .at = CMD_AT(params.newest)},
    {"allow-net", 0, "ADDRESS/N,...",
	"refuse lists with others than these networks (10.0.0.0/8, or the /64 "
	"that --address is in); may be repeated",
	.take = take_allow_net, .at = CMD_AT(allow), .live = 1},
    {"allow-port", 0, "PORT,...",
	"refuse lists with other ports than these, or ranges of them (those "
	"of --port); may be repeated",
	.take = take_allow_port, .at = CMD_AT(allow), .live = 1},
    {"dscp", 0, "N,...", "DSCP of each class (0)", .take = take_dscps},
    {"param", 'p', "KEY=VALUE", "a parameter below; may be repeated",
	.take = take_agent_param},
    {.with = cmd_identity_options, .at = CMD_AT(params.identity)},
    CMD_LONG_RUN_OPTIONS,
    CMD_CONFIG_OPTION,
    {"metrics", 0, "FILE",
	"write metrics to FILE each minute, for the textfile collector of "
	"Prometheus' node exporter",
	.take = cmd_take_file, .at = CMD_AT(params.metrics), .live = 1},
    {"once", 0, NULL,
	"ask for the list once, probe nobody; exit 1 if there is none",
	.take = cmd_take_flag, .at = CMD_AT(params.once)},
    {0},
};

static void cmd_agent_check(const void *args, struct argp_state *state)
{
	const struct args *a = args;
	const struct xp_agent_params *p = &a->params;
	if (!p->controllers)
		argp_error(state, "--controller is missing");
	if (p->agent.first_port > p->agent.last_port)
		argp_error(state, "first_port %u is above last_port %u",
		    p->agent.first_port, p->agent.last_port);
	cmd_identity_check(&p->identity, state);
	if (p->newest && !p->signed_by)
		argp_error(state, "--newest is for --signed-by");
	if (a->n_dscps > p->fabric.n_classes)
		argp_error(state, "%u DSCPs, but %u ports", a->n_dscps,
		    p->fabric.n_classes);
}

/* The help names keys with defaults, which depend on what cmd_agent_init() made
 * of them. */
static void cmd_agent_put_more(FILE *out, const void *args)
{
	const struct args *a = args;
	fprintf(out,
	    "Every 300 s or so it asks the controller for GET "
	    "/pinglist/ADDRESS, and POSTs what it saw to /results of the "
	    "collector. URLs begin with https://, or with http:// if they "
	    "are of this host or --insecure is given. With --ca, --cert and "
	    "--key it shows who it is, and asks no server but one with a "
	    "certificate of that authority for the address or name in the "
	    "URL. The files are read by the user that it becomes (--user), "
	    "and looked at before each contact.\n\n"
	    "What it must not do, no list and no parameter makes it do:\n"
	    "  two probes of one pair are 10 s apart or more\n"
	    "  no payload is above 65536 bytes\n"
	    "  none but --allow-net at --allow-port is probed: a list that\n"
	    "  asks for another is refused whole, and ports below 1024 are\n"
	    "  allowed one by one only\n"
	    "  with --signed-by, no list counts that is not signed, is forged, "
	    "or\n"
	    "  is older than one that was taken (--newest: ever); nor does "
	    "\"there\n"
	    "  is none\" unless that is signed\n"
	    "  no list, an empty or bad one, or three contacts in a row that\n"
	    "  fail: nothing is probed until a list comes\n"
	    "It always answers the probes of others. Its memory is bounded; "
	    "results that find no place or no taker are dropped and counted. "
	    "Once its sockets and files are open it gives up all rights, and "
	    "system calls that it has no use for: other programs, mounts and "
	    "tracing end it, raw sockets, namespaces, eBPF and the like are "
	    "refused, and counted.\n\n"
	    "SIGTERM and SIGINT end it: results that it has are sent for up "
	    "to 5 s. Under systemd it says when it is ready and alive.\n\n"
	    "At SIGHUP (systemctl reload) the file of --config is read "
	    "again: --controller, --collector, --allow-net, --allow-port and "
	    "--metrics are taken from it, peers are dropped, and a list is "
	    "asked for at once. Of others that it says anew the log tells "
	    "that they take a restart. A file with a mistake changes "
	    "nothing. It is read by the user that the agent has become.\n\n"
	    "--metrics replaces FILE whole, by the user that it becomes; it is "
	    "written each upload interval if that is less than a minute. No "
	    "port is opened for it.\n\n"
	    "Keys of --param:\n");
	cmd_field_help(out, a->fields);
}

static const struct cmd_line cmd_agent_line = {
    .options = cmd_agent_options,
    .check = cmd_agent_check,
    .more = cmd_agent_put_more,
    .doc = "Probe from this host whom the controller says, as Pingmesh's "
	   "agent (SIGCOMM'15) does: the very one of the simulations, on real "
	   "sockets."
	   "\v ",
};

/* At SIGHUP. What cannot be taken while it runs is as it was: the ports, above all,
 * by which what is allowed may be said. */
static int cmd_agent_again(void *arg, struct xp_agent *agent, char *tell,
    size_t size)
{
	struct args *a = arg, now = {0};
	struct sim_err e = {0};
	int rc = cmd_agent_init(&now, &e);
	if (rc == 0)
		rc = cmd_parse_again(&cmd_agent_line, a->argc, a->argv, &now,
		    tell, size);
	if (rc <= 0)
		return rc;
	now.params.fabric = a->params.fabric;
	now.params.address = a->params.address;
	allow_usual(&now);
	now.params.agent.allow = &a->allow;
	if ((rc = xp_agent_change(agent, &now.params, &e)) < 0)
		snprintf(tell, size, "%s", e.msg);
	else
		a->allow = now.allow;
	return rc;
}

int cmd_agent(int argc, char **argv)
{
	struct args a = {.argc = argc, .argv = argv};
	struct xp_agent *agent = NULL;
	struct sim_err e = {0};
	char self[TOPO_IP_TEXT];
	int rc = cmd_agent_init(&a, &e);
	if (rc < 0)
		return cmd_fail(CMD_TROUBLE, &e);
	cmd_parse(&cmd_agent_line, argc, argv, &a);
	if (cmd_config_newest()->path) {
		a.params.again = cmd_agent_again;
		a.params.arg = &a;
	} else if (a.params.identity.ca) {
		/* As in cmd_serve(): files are looked at by themselves. */
		signal(SIGHUP, SIG_IGN);
	}
	if ((rc = derive(&a.params, &e)) < 0)
		return cmd_fail(cmd_exit_of(rc), &e);
	allow_usual(&a);
	if ((rc = xp_agent_open(&agent, &a.params, &e)) < 0)
		return cmd_fail(cmd_exit_of(rc), &e);
	topo_ip_format(&a.params.address, self);
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
