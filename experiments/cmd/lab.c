/* experiments/cmd/lab.c -- culprit lab: real networks on this machine.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/cmd/cmd.h"
#include "experiments/cmd/lab.h"
#include "experiments/fabrics/netns.h"
#include "experiments/lab/selftest.h"
#include "experiments/spec/config.h"
#include "models/netns/caps.h"
#include "topo/addr.h"

struct args {
	const char *what, *spec;
	struct cmd_set set;
	int list, tun, seeded, bare;
	struct netns_params params;
};

/* The first word is what to do; only `up` takes another one. */
static void take_word(void *to, char *arg, const struct cmd_given *g)
{
	struct args *a = to;
	if (!a->what && strcmp(arg, "up") != 0 && strcmp(arg, "check") != 0 &&
	    strcmp(arg, "selftest") != 0)
		argp_error(g->state,
		    "there is no \"lab %s\"; say up, run, check or selftest",
		    arg);
	if (!a->what)
		a->what = arg;
	else if (!a->spec && strcmp(a->what, "up") == 0)
		a->spec = arg;
	else
		argp_error(g->state, "\"%s\" is one word too many", arg);
}

/* Options of `up` would be ignored by the others, so they are refused there. */
static void check_words(const void *args, struct argp_state *state)
{
	const struct args *a = args;
	if (strcmp(a->what, "up") == 0 && !a->spec)
		argp_error(state, "a network of which SPEC?");
	if (strcmp(a->what, "up") != 0 &&
	    (a->set.n_set > 0 || a->list || a->tun || a->seeded || a->bare))
		argp_error(state,
		    "--set, --seed, --tun, --no-faults and --list are for lab "
		    "up");
}

static void take_ecmp_seed(void *to, char *arg, const struct cmd_given *g)
{
	struct args *a = to;
	struct sim_err e = {0};
	if (sim_field_set(sim_field_find(netns_fields, "ecmp_seed"), &a->params,
		arg, &e) < 0)
		argp_error(g->state, "--seed: %s", e.msg);
	a->seeded = 1;
}

static const struct cmd_option cmd_lab_options[] = {
    {.doc = "Of `lab up`:"},
    {"set", 's', "KEY=VALUE",
	"a key of the spec, e.g. topology.n_pods=4; may be repeated",
	.take = cmd_take_set, .at = CMD_AT(set), .max = 16},
    {"seed", 0, "N",
	"which run of the spec's first point has its faults drawn; what "
	"switches' ECMP seeds derive from, too (default: 0)",
	.take = take_ecmp_seed},
    {"tun", 0, NULL,
	"only hosts are real: this program is the network between them until "
	"it ends",
	.take = cmd_take_flag, .at = CMD_AT(tun)},
    {"no-faults", 0, NULL,
	"the network alone, without the spec's noise and faults",
	.take = cmd_take_flag, .at = CMD_AT(bare)},
    {"list", 0, NULL,
	"a line for every node, not for a few: name, address, how to enter",
	.take = cmd_take_flag, .at = CMD_AT(list)},
    {0},
};

static const struct cmd_line cmd_lab_line = {
    .options = cmd_lab_options,
    .word = {.take = take_word},
    .without = "say up, run, check or selftest",
    .check = check_words,
    .args_doc = "up SPEC\nrun SPEC\ncheck\nselftest",
    .doc =
	"Build the network of a spec's topology from network namespaces of "
	"this machine, with the kernel's own routing, ECMP and TCP."
	"\v`lab up` prints what it built and keeps it until ^C. A node is "
	"entered by nsenter(1); nothing has a name in the system, and all of "
	"it is gone when the program ends, however it ends. Nodes reach each "
	"other and nothing outside. With --tun there are namespaces for hosts "
	"alone, and switches, links, ECMP and faults are the simulator's.\n\n"
	"The spec's noise and faults are done, by eBPF where it is allowed "
	"and else by nft, with times that count from when the network is up; "
	"what links lost is told at the end. A fault that cannot be done is "
	"refused, and what else the spec says that is not of a network is "
	"listed.\n\n"
	"`lab run` runs the sweep of a spec on such networks, with all options "
	"of `culprit run`: as it stands if it says `fabric: netns` or `fabric: "
	"tun`, else with 007's agents and the kernel's TCP, as by --set "
	"plane=agents --set fabric=netns. Without eBPF, `fabric: { netns: { "
	"faults: nft } }` runs plane pingmesh. With plane planner agents look "
	"for "
	"the links that lose, and name them: `culprit lab run SPEC --point 0 "
	"--run "
	"0`.\n\n"
	"`lab check` says what this machine allows, with the reason, and "
	"exits with 1 if a network can't be built. That takes root or, where "
	"they are allowed, user namespaces; faults by eBPF take root.\n\n"
	"`lab selftest` tells in half a minute whether results from here are "
	"to be believed, and exits with 1 if not: the paths that agents trace "
	"are those of the data; nothing is lost or sent again without a fault; "
	"losses are those injected; SYNs are sent again when they should.",
};

/* --- check ---------------------------------------------------------------- */

static void cmd_lab_tell(const char *what, int rc, const struct sim_err *e)
{
	if (rc == 0)
		printf("%s works here\n", what);
	else
		printf("%s can't work here: %s\n", what, e->msg);
}

static int cmd_lab_check(void)
{
	struct netns_cap cap[NETNS_N_CAPS];
	struct sim_err e = {0};
	netns_probe(cap);
	for (int i = 0; i < NETNS_N_CAPS; i++)
		printf("%-10s  %-3s  %s: %s\n", cap[i].name,
		    cap[i].ok ? "yes" : "no", cap[i].what, cap[i].why);
	/* eBPF and nftables are for faults, without which a
	 * network can still be built. */
	const int ok = cap[NETNS_CAP_LIBMNL].ok && cap[NETNS_CAP_NAMESPACES].ok;
	printf("culprit lab up SPEC %s here\n", ok ? "works" : "can't work");
	cmd_lab_tell("culprit lab run SPEC",
	    xp_netns_check(NETNS_FAULTS_EBPF, &e), &e);
	cmd_lab_tell("  with `fabric: { netns: { faults: nft } }` it",
	    xp_netns_check(NETNS_FAULTS_NFT, &e), &e);
	cmd_lab_tell("  with `fabric: tun` it", xp_fabric_tun.usable(1, &e),
	    &e);
	return ok ? CMD_GOOD : CMD_FAILED;
}

/* --- selftest ------------------------------------------------------------- */

static int selftest(void)
{
	struct sim_err e = {0};
	unsigned n_failed;
	int rc = xp_netns_check(NETNS_FAULTS_EBPF, &e);
	if (rc == 0)
		rc = xp_lab_selftest(stdout, &n_failed, &e);
	if (rc < 0)
		return cmd_fail(cmd_exit_of(rc), &e);
	return n_failed == 0 ? CMD_GOOD : CMD_FAILED;
}

/* --- up ------------------------------------------------------------------- */

/* The network of the spec as it stands, whatever its sweep varies. */
static int cmd_lab_open(struct cmd_lab *lab, const struct args *a,
    struct sim_err *e)
{
	struct xp_config *c = &lab->config;
	int rc = cmd_load_spec_still(&lab->spec, a->spec, 0, a->set.set,
	    a->set.n_set, e);
	if (rc == 0 && (rc = xp_spec_point(&lab->spec, 0, c, e)) == 0)
		rc = xp_topology_open(&c->topology, lab->spec.folder,
		    &lab->topo, e);
	if (rc == 0)
		rc = cmd_lab_check_world(lab, e);
	if (rc < 0)
		return rc;
	/* One run of the spec's first point, as `culprit run` would draw it. */
	const struct sim_seed where = {.seed = lab->spec.seed, .run = lab->run};
	struct scene_params scene = c->scene;
	if (a->bare) {
		scene.n_groups = 0;
		scene.noise.scale = 0;
	}
	return scene_draw(&lab->scene, &lab->topo, &scene, &where, e);
}

static void cmd_lab_close(struct cmd_lab *lab)
{
	scene_free(&lab->scene);
	topo_close(&lab->topo);
	xp_config_free(&lab->config);
	xp_spec_free(&lab->spec);
}

/* Namespaces have no names in the system, so a node is entered by this process's
 * descriptor of it. In a user namespace that has to be entered first. */
void cmd_lab_print_node(const struct cmd_lab *lab, topo_node n, int ns)
{
	const struct topo *t = &lab->topo;
	char name[64], addr[16], user[64] = "";
	if (lab->as_user)
		snprintf(user, sizeof(user), "-U --preserve-credentials -t %d ",
		    getpid());
	topo_node_name(t, n, name);
	topo_addr_format(n < t->n_hosts ? topo_addr_of_host(n)
					: topo_addr_of_switch(n - t->n_hosts),
	    addr);
	printf("  %-12s %-15s nsenter %s--net=/proc/%d/fd/%d\n", name, addr,
	    user, getpid(), ns);
}

int cmd_lab_is_shown(const struct topo *t, topo_node n)
{
	return n == 0 || n == t->n_hosts - 1 || n == t->n_hosts ||
	    n == t->n_hosts + t->n_switches - 1;
}

int cmd_lab(int argc, char **argv)
{
	char name_of_run[] = "culprit lab run";
	struct args a = {0};
	struct sim_err e = {0};
	/* Options of `run` are another program's, so they are not read here. */
	if (argc > 1 && strcmp(argv[1], "run") == 0) {
		argv[1] = name_of_run;
		return cmd_run_real(argc - 1, argv + 1);
	}
	/* So are the words that they may be. */
	if (argc > 3 && strcmp(argv[1], "--complete") == 0 &&
	    strcmp(argv[2], "run") == 0) {
		argv[2] = argv[1];
		argv[1] = name_of_run;
		return cmd_run_real(argc - 1, argv + 1);
	}
	sim_field_defaults(netns_fields, &a.params, NULL);
	cmd_parse(&cmd_lab_line, argc, argv, &a);
	if (strcmp(a.what, "check") == 0)
		return cmd_lab_check();
	if (strcmp(a.what, "selftest") == 0)
		return selftest();
	struct cmd_lab lab = {.run = a.seeded ? a.params.ecmp_seed : 0,
	    .seeded = a.seeded,
	    .list = a.list,
	    .tun = a.tun,
	    .bare = a.bare};
	/* The spec is read before a right is asked for, as a mistake in it is
	 * told to anybody. */
	int code = CMD_GOOD, rc = cmd_lab_open(&lab, &a, &e);
	if (rc < 0)
		code = cmd_fail(rc == SIM_ENOMEM ? CMD_TROUBLE : CMD_USAGE, &e);
	else if ((rc = a.tun ? cmd_lab_up_tun(&lab, &e)
			     : cmd_lab_up_netns(&lab, &e)) < 0)
		code = cmd_fail(cmd_exit_of(rc), &e);
	cmd_lab_close(&lab);
	return code;
}
