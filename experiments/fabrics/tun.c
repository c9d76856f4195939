/* experiments/fabrics/tun.c -- fabric tun: real hosts in a simulated network.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/lab/wire.h"
#include "experiments/spec/fabric.h"
#include "experiments/spec/plane.h"
#include "models/netns/caps.h"
#include "sim/parts.h"
#include "sim/vec.h"

struct tun {
	struct tun_net_params net;
	double timeout_s; /* of a flow */
};

/* --- the section of a spec ------------------------------------------------ */

static const struct sim_field fabric_tun_own_fields[] =
    {XP_FABRIC_TIMEOUT(offsetof(struct tun, timeout_s)), {0}};

/* The host's devices, the switches between them, and the timeout of a flow
 * share one section of the spec. */
static const struct sim_part fabric_tun_parts[] = {
    {"", tun_net_fields, .offset = offsetof(struct tun, net)},
    {"", tun_switch_fields, .offset = offsetof(struct tun, net.network)},
    {"", fabric_tun_own_fields, .offset = 0},
    {0},
};

static int fabric_tun_read(struct sim_yaml *y, const struct sim_yaml_node *node,
    const struct topo *t, void *params, struct sim_err *e)
{
	struct tun *p = params;
	(void)t;
	int rc =
	    sim_field_defaults(fabric_sim_icmp_fields, &p->net.network.icmp, e);
	/* Without agents.icmp a switch answers as often as it is asked, as on
	 * fabric netns. */
	p->net.network.icmp.t_max = 0;
	return rc < 0 ? rc
		      : sim_parts_read_map(y, node, fabric_tun_parts, p, e);
}

static const struct xp_section fabric_tun_section = {"tun", sizeof(struct tun),
    fabric_tun_read, NULL, fabric_tun_parts,
    .example = "plane: agents\n"
	       "topology: { n_pods: 1, n_tors: 2, n_t1: 2, n_t2: 0, n_hosts: "
	       "2 }\n"
	       "traffic: { conns: 5 }\n"
	       "fabric: tun\n"
	       "tun: { hop: 5, queue: 10 }\n"};

/* --- the fabric ----------------------------------------------------------- */

static unsigned fabric_tun_takes(const struct xp_config *c)
{
	(void)c;
	return 1;
}

/* Namespaces and TUN are all it takes; there is no eBPF in it, and no ECMP of
 * the kernel's. */
static int fabric_tun_usable(unsigned takes, struct sim_err *e)
{
	static const enum netns_cap_id needed[] = {NETNS_CAP_NAMESPACES,
	    NETNS_CAP_TUN};
	struct netns_cap cap[NETNS_N_CAPS];
	(void)takes;
	netns_probe(cap);
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!cap[needed[i]].ok)
			return sim_fail(e, SIM_EUNSUPPORTED,
			    "fabric tun takes %s (%s), but: %.700s.",
			    cap[needed[i]].name, cap[needed[i]].what,
			    cap[needed[i]].why);
	return 0;
}

static int fabric_tun_open_wire(struct xp_wire **w, const struct topo *t,
    const struct xp_config *c, const struct fabric_sim_icmp_params *icmp,
    struct sim_err *e)
{
	const struct tun *own = xp_section_of(c, &fabric_tun_section);
	struct tun_net_params p = own->net;
	if (icmp)
		p.network.icmp = *icmp;
	int rc = xp_wire_open_tun(w, t, &p, e);
	if (rc == 0)
		(*w)->timeout_s = own->timeout_s;
	return rc;
}

const struct xp_fabric xp_fabric_tun = {
    .name = "tun",
    .doc = "real hosts of this machine, and switches and links of the "
	   "simulator between them, in real time",
    .has = XP_ASKS_EPOCH | XP_ASKS_NET | XP_ASKS_DELAY,
    .blind = RES_OF_SECONDS | RES_OF_BUFFERS,
    .section = &fabric_tun_section,
    .takes = fabric_tun_takes,
    .usable = fabric_tun_usable,
    .open = fabric_tun_open_wire,
};
