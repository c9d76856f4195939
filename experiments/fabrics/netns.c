/* experiments/fabrics/netns.c -- fabric netns: all nodes are namespaces.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/fabrics/netns.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiments/agents/epoch.h"
#include "experiments/lab/wire.h"
#include "experiments/spec/plane.h"
#include "models/netns/caps.h"
#include "sim/parts.h"

/* --- the section of a spec ------------------------------------------------ */

static const char *const by_names[] = {"bpf", "nft", NULL};

static const struct sim_field fabric_netns_own_fields[] = {
    XP_FABRIC_TIMEOUT(offsetof(struct xp_netns, timeout_s)),
    {"faults", SIM_F_ENUM, offsetof(struct xp_netns, faults), .names = by_names,
	.def = "bpf",
	.doc = "what does them; nft: without eBPF, for plane pingmesh, neither "
	       "repeatable nor slow"},
    {0},
};

/* The section has two fields of the network's parameters and those of its own;
 * the limits of ICMP come from agents.icmp, so that the simulator and the
 * network share them. */
static const char *const fabric_netns_of_net[] = {"ecmp_seed", "mtu", NULL};
static const struct sim_part fabric_netns_parts[] = {
    {"", netns_fields, .offset = offsetof(struct xp_netns, net),
	.only = fabric_netns_of_net},
    {"", fabric_netns_own_fields, .offset = 0},
    {0},
};

static int fabric_netns_read(struct sim_yaml *y,
    const struct sim_yaml_node *node, const struct topo *t, void *params,
    struct sim_err *e)
{
	(void)t;
	return sim_parts_read_map(y, node, fabric_netns_parts, params, e);
}

static const struct xp_section fabric_netns_section = {"netns",
    sizeof(struct xp_netns), fabric_netns_read, NULL, fabric_netns_parts,
    .example = "plane: agents\n"
	       "topology: { n_pods: 1, n_tors: 2, n_t1: 2, n_t2: 0, n_hosts: "
	       "2 }\n"
	       "traffic: { conns: 5 }\n"
	       "fabric: netns\n"
	       "netns: { mtu: 1500, timeout: 10 }\n"};

const struct xp_netns *xp_netns_of(const struct xp_config *c)
{
	return xp_section_of(c, &fabric_netns_section);
}

/* --- what can be had ------------------------------------------------------ */

/* Build the smallest network that has a link between switches, and attach
 * faults to it. Only trying tells whether a container's rules allow it all. */
static int try_smallest(enum netns_faults_by by, struct sim_err *e)
{
	const struct topo_clos shape = {.n_pods = 1,
	    .n_tors = 2,
	    .n_t1 = 1,
	    .n_hosts = 1};
	const struct netns_faults_params faults = {.by = by};
	struct netns_params p;
	struct topo t;
	struct netns_net *net = NULL;
	struct netns_faults *f = NULL;
	int as_user, rc;
	if ((rc = sim_field_defaults(netns_fields, &p, e)) < 0 ||
	    (rc = topo_open_clos(&t, &shape, e)) < 0)
		return rc;
	if ((rc = netns_permit(&as_user, e)) == 0 &&
	    (rc = netns_open(&net, &t, &p, e)) == 0)
		rc = netns_faults_open(&f, net, &t, &faults, e);
	netns_faults_close(f);
	netns_close(net);
	topo_close(&t);
	return rc;
}

/* Try in a child, since entering a user namespace cannot be undone. The child's
 * message comes by a pipe; nothing else of it is left. */
static int try_in_child(enum netns_faults_by by, struct sim_err *e)
{
	struct sim_err why = {0};
	int ends[2], status = 0;
	ssize_t n = 0;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return sim_fail(e, SIM_EIO, "There is no pipe: %s.",
		    strerror(errno));
	/* Or the child would write what is still buffered a second time. */
	fflush(NULL);
	const pid_t child = fork();
	if (child == 0) {
		const int rc = try_smallest(by, &why);
		if (rc < 0)
			n = write(ends[1], why.msg, strlen(why.msg));
		_exit(rc < 0);
	}
	close(ends[1]);
	if (child > 0) {
		n = read(ends[0], why.msg, sizeof(why.msg) - 1);
		waitpid(child, &status, 0);
	}
	close(ends[0]);
	if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	why.msg[n > 0 ? n : 0] = '\0';
	return sim_fail(e, SIM_EUNSUPPORTED, "fabric netns: %s",
	    /* A child that is killed, for want of memory, say, leaves no
	     * message. */
	    n > 0 ? why.msg : "its trial died.");
}

int xp_netns_check(enum netns_faults_by by, struct sim_err *e)
{
	const enum netns_cap_id needed[] = {NETNS_CAP_LIBMNL,
	    NETNS_CAP_NAMESPACES, NETNS_CAP_HASH_SEED,
	    by == NETNS_FAULTS_NFT ? NETNS_CAP_NFT : NETNS_CAP_BTF};
	struct netns_cap cap[NETNS_N_CAPS];
	netns_probe(cap);
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!cap[needed[i]].ok)
			return sim_fail(e, SIM_EUNSUPPORTED,
			    "fabric netns takes %s (%s), but: %.700s.",
			    cap[needed[i]].name, cap[needed[i]].what,
			    cap[needed[i]].why);
	return try_in_child(by, e);
}

static enum netns_faults_by faults_by(const struct xp_config *c)
{
	return xp_netns_of(c)->faults == XP_NETNS_BY_NFT ? NETNS_FAULTS_NFT
							 : NETNS_FAULTS_EBPF;
}

/* One bit for each way of doing faults, as different points of a sweep may take
 * different ones. */
static unsigned fabric_netns_takes(const struct xp_config *c)
{
	return 1u << faults_by(c);
}

/* Each way that some point of the sweep takes is tried before the first cell
 * runs. */
static int fabric_netns_usable(unsigned takes, struct sim_err *e)
{
	int rc = 0;
	for (int by = NETNS_FAULTS_EBPF; rc == 0 && by <= NETNS_FAULTS_NFT;
	     by++)
		if (takes & 1u << by)
			rc = xp_netns_check(by, e);
	return rc;
}

/* --- specs ---------------------------------------------------------------- */

/* With nft little is known of losses: no epochs of flows, whose truth must be
 * whole. */
static unsigned fabric_netns_gives(const struct xp_config *c)
{
	return xp_netns_of(c)->faults == XP_NETNS_BY_NFT ? XP_ASKS_NET
							 : xp_fabric_netns.has;
}

/* Refuse what the simulator can and kernels do not: ICMP messages from a
 * switch's own address, and limits that do not fit the kernel's knob. */
static int fabric_netns_check(struct sim_yaml *y, const struct xp_config *c)
{
	const struct xp_agents *a = xp_section_of(c, &xp_agents_section);
	const struct sim_yaml_node *icmp =
	    sim_yaml_get(sim_yaml_get(y->root, "agents"), "icmp");
	if (xp_plane_of(c)->section != &xp_agents_section)
		return 0;
	if (a->fabric.icmp.source != FABRIC_SIM_ICMP_INGRESS)
		return sim_yaml_mistake(y, icmp,
		    "on fabric netns the source of ICMP messages is ingress.");
	if (a->fabric.icmp.t_max > 1e6)
		return sim_yaml_mistake(y, icmp,
		    "t_max %g: kernels limit up to 1e6 ICMP messages a second; "
		    "0 is no limit.",
		    a->fabric.icmp.t_max);
	return 0;
}

static int fabric_netns_open_wire(struct xp_wire **w, const struct topo *t,
    const struct xp_config *c, const struct fabric_sim_icmp_params *icmp,
    struct sim_err *e)
{
	const struct xp_netns *p = xp_netns_of(c);
	struct netns_params net = p->net;
	if (icmp) {
		/* Rounded up, as 0 would mean no limit. */
		net.icmp_per_s = (uint32_t)ceil(icmp->t_max);
		net.icmp_burst = icmp->burst;
	}
	int rc = xp_wire_open_netns(w, t, &net, faults_by(c), e);
	if (rc == 0)
		(*w)->timeout_s = p->timeout_s;
	return rc;
}

/* The kernel answers as fast as it does. */
static const struct xp_idle_key fabric_netns_idle[] =
    {{.path = "agents.icmp.latency"}, {0}};

const struct xp_fabric xp_fabric_netns = {
    .name = "netns",
    .doc = "a real network of this machine's namespaces, in real time; its "
	   "results differ a little each time",
    .has = XP_ASKS_EPOCH | XP_ASKS_NET | XP_ASKS_SYN_TIMER | XP_ASKS_DELAY,
    .gives = fabric_netns_gives,
    .unless = "its faults are by bpf",
    .blind = RES_OF_SECONDS | RES_OF_BUFFERS,
    .section = &fabric_netns_section,
    .idle = fabric_netns_idle,
    .check = fabric_netns_check,
    .takes = fabric_netns_takes,
    .usable = fabric_netns_usable,
    .open = fabric_netns_open_wire,
};
