/* experiments/pingmesh/config.c -- the section `pingmesh` of a spec.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/pingmesh/pingmesh.h"
#include "models/sim/tcp_connect.h"
#include "sim/parts.h"
#include "sim/text.h"
#include "sim/vec.h"
#include "topo/region.h"

static const char *const along_names[] = {"none", "window", "quantile", "group",
    "pair", NULL};
static const char *const time_names[] = {"connect", "echo", "http", NULL};
static const char *const expect_names[] = {"unsaid", ALGO_HEATMAP_PATTERNS,
    NULL};
static const char *const tier_names[] = {"unsaid", ALGO_SILENT_DROP_TIERS,
    NULL};

#define FIELD(member) offsetof(struct xp_pingmesh, member)
enum { MAX_S = 31 * 86400 };

static const struct sim_field pingmesh_config_own_fields[] = {
    {"duration", SIM_F_F64, FIELD(duration_s), .min = 1, .max = MAX_S,
	.unit = "s", .def = "3600", .doc = "what is lived through"},
    {"window", SIM_F_F64, FIELD(window_s), .min = 1, .max = MAX_S, .unit = "s",
	.def = "600", .doc = "between runs of the jobs"},
    {"history", SIM_F_F64, FIELD(history_s), .min = 0, .max = MAX_S,
	.unit = "s", .def = "0",
	.doc = "how far back a job's table reaches; 0: a window along "
	       "windows, groups and quantiles, else the duration"},
    {"lag", SIM_F_F64, FIELD(lag_s), .min = 0, .max = MAX_S, .unit = "s",
	.def = "0",
	.doc = "jobs run so long after their window; 0: probe_timeout + "
	       "upload_interval + upload_timeout + 1 s"},
    {"along", SIM_F_ENUM, FIELD(along), .names = along_names, .def = "none",
	.doc = "what a run is read along, beside the sweep"},
    {"unit", SIM_F_ENUM, FIELD(unit), .names = xp_dsa_units, .def = "pod",
	.doc = "of the matrix of P99"},
    {"n_tails", SIM_F_U32, FIELD(n_tails), .min = 1, .max = 24, .unit = "1",
	.def = "15", .doc = "along quantile: 0.5, 0.2, 0.1, 0.05 ...",
	.when = "along=quantile"},
    {"group", SIM_F_ENUM, FIELD(group), .names = algo_drop_groups, .def = "all",
	.doc = "along quantile: of which probes", .when = "along=quantile"},
    {"time", SIM_F_ENUM, FIELD(time), .names = time_names, .def = "connect",
	.doc = "along quantile: to connect, of a payload and its echo, or of "
	       "a GET and its answer",
	.when = "along=quantile"},
    {"dc", SIM_F_U32, FIELD(dc), .max = TOPO_REGION_MAX_DCS - 1, .unit = "1",
	.def = "0", .doc = "of a region: the data centre that rows are of"},
    {"service", SIM_F_STR, FIELD(service),
	.size = sizeof(((struct xp_pingmesh *)0)->service), .def = "",
	.doc = "hosts of a service whose level is told: 0-15,32; empty: the "
	       "data centre's"},
    {"expect", SIM_F_ENUM, FIELD(expect), .names = expect_names,
	.def = "unsaid", .doc = "the matrix's pattern while faults last"},
    {"expect_tier", SIM_F_ENUM, FIELD(expect_tier), .names = tier_names,
	.def = "unsaid", .doc = "the tier that drops while faults last"},
    {"detect", SIM_F_BOOL, FIELD(detect), .def = "false",
	.doc = "run the algorithms at each window too, for detect_s"},
    {0},
};

static const struct sim_field repair_fields[] = {
    {"on", SIM_F_BOOL, offsetof(struct xp_repair, on), .def = "false",
	.doc = "reload the ToRs that the black-hole job names"},
    {"reload", SIM_F_F64, offsetof(struct xp_repair, reload_s), .min = 0,
	.max = 86400, .unit = "s", .def = "120",
	.doc = "a reloaded ToR forwards nothing for so long",
	.when = "on=true"},
    {"every", SIM_F_F64, offsetof(struct xp_repair, every_s), .min = 0,
	.max = MAX_S, .unit = "s", .def = "0",
	.doc = "between runs of the black-hole job; 0: each window"},
    {"day", SIM_F_F64, offsetof(struct xp_repair, day_s), .min = 1,
	.max = MAX_S, .unit = "s", .def = "86400",
	.doc = "what blackhole.max_reloads are for; less in a time-lapse",
	.when = "on=true"},
    {0},
};

static const struct sim_field trace_fields[] = {
    {"on", SIM_F_BOOL, offsetof(struct xp_trace, on), .def = "false",
	.doc = "trace the worst pairs of pods that suffer silent drops"},
    {"always", SIM_F_BOOL, offsetof(struct xp_trace, always), .def = "false",
	.doc = "trace the worst pairs of pods even if none suffers",
	.when = "on=true"},
    {"n_cells", SIM_F_U32, offsetof(struct xp_trace, n_cells), .min = 1,
	.max = 1000, .unit = "pairs", .def = "3", .doc = "pairs of pods",
	.when = "on=true"},
    {"n_pairs", SIM_F_U32, offsetof(struct xp_trace, n_pairs), .min = 1,
	.max = 1000, .unit = "pairs", .def = "4",
	.doc = "of hosts in each, traced both ways", .when = "on=true"},
    {"n_ports", SIM_F_U32, offsetof(struct xp_trace, n_ports), .min = 1,
	.max = HOP_TRACE_TUPLES, .unit = "ports", .def = "16",
	.doc = "from which each is traced", .when = "on=true"},
    {"conf", SIM_F_F64, offsetof(struct xp_trace, conf), .min = 0.5,
	.max = 0.999999999, .unit = "1", .def = "0.9999",
	.doc = "confidence that a trace lost more than others, to be a flow "
	       "that failed",
	.when = "on=true"},
    {0},
};

#define X(map, fields) {#map, fields, .offset = FIELD(dsa.map)},
static const struct sim_part pingmesh_config_parts[] = {
    {"", pingmesh_config_own_fields, .offset = 0},
    {"", xp_dsa_fields, .offset = FIELD(dsa)},
    {"pinglist", algo_pinglist_fields, .offset = FIELD(pinglist)},
    {"agent", algo_pingmesh_agent_fields, .offset = FIELD(agent)},
    {"connect", fabric_sim_connect_fields, .offset = FIELD(connect)},
    XP_DSA_MAPS(X) /* sla to silent */
    {"repair", repair_fields, .offset = FIELD(repair)},
    {"trace", trace_fields, .offset = FIELD(trace)},
    {"trace", algo_hop_trace_fields, .offset = FIELD(trace.agent),
	.when = "on=true"},
    {"trace", fabric_sim_icmp_fields, .offset = FIELD(trace.icmp),
	.when = "on=true"},
    {"cost", xp_cost_fields, .offset = FIELD(cost)},
    {0},
};
#undef X

/* --- what follows from the keys ------------------------------------------- */

static sim_ns pingmesh_config_ns_of(double seconds)
{
	return (sim_ns)llround(seconds * 1e9);
}

/* Rounded, not cut off: pingmesh_config_check_times() has seen to it that it is
 * a whole number but for what floating point makes of it. */
static uint32_t whole_windows(const struct xp_pingmesh *p, double seconds)
{
	return (uint32_t)lround(seconds / p->window_s);
}

uint32_t xp_pingmesh_n_windows(const struct xp_pingmesh *p)
{
	return whole_windows(p, p->duration_s);
}

uint32_t xp_pingmesh_history(const struct xp_pingmesh *p)
{
	if (p->history_s > 0)
		return whole_windows(p, p->history_s);
	return p->along == XP_ALONG_NONE || p->along == XP_ALONG_PAIR
	    ? xp_pingmesh_n_windows(p)
	    : 1;
}

uint32_t xp_pingmesh_repair_every(const struct xp_pingmesh *p)
{
	return p->repair.every_s > 0 ? whole_windows(p, p->repair.every_s) : 1;
}

/* A probe that is sent at the very end of a window ends probe_timeout later at
 * most. Its record then waits for the next upload, which takes upload_timeout
 * at most; the last second is for all that takes time besides. */
sim_ns xp_pingmesh_lag(const struct xp_pingmesh *p)
{
	const struct algo_pingmesh_params *a = &p->agent;
	if (p->lag_s > 0)
		return pingmesh_config_ns_of(p->lag_s);
	return pingmesh_config_ns_of(a->probe_timeout_s + a->upload_interval_s +
		   a->upload_timeout_s) +
	    SIM_SEC;
}

/* The waits between SYNs that the operating system of the hosts has. The
 * paper's are Windows: 3 s, then 6 s (Pingmesh, section 4.2). */
static const struct fabric_sim_tcp_ladder *ladder_of(
    const struct xp_pingmesh *p)
{
	switch (p->connect.timers) {
	case FABRIC_SIM_LINUX:
		return &fabric_sim_tcp_linux;
	case FABRIC_SIM_LINUX_LINEAR:
		return &fabric_sim_tcp_linux_linear;
	default:
		return &fabric_sim_tcp_windows;
	}
}

unsigned xp_pingmesh_waits(const struct xp_pingmesh *p,
    sim_ns wait[OBS_MAX_WAITS])
{
	const struct fabric_sim_tcp_ladder *l = ladder_of(p);
	const unsigned retries =
	    p->connect.retries ? p->connect.retries : l->n_retries;
	/* A SYN that would be sent again only after the agent gave up is never
	 * seen to be answered, so its wait is no rung of the ladder. */
	const sim_ns end = pingmesh_config_ns_of(p->agent.probe_timeout_s);
	sim_ns at = 0;
	unsigned n = 0;
	while (n < retries && n < l->n_retries && n < OBS_MAX_WAITS &&
	    (at += l->wait_ns[n]) < end) {
		wait[n] = l->wait_ns[n];
		n++;
	}
	return n;
}

/* --- checks --------------------------------------------------------------- */

static int pingmesh_config_is_whole(double seconds, double window)
{
	const double n = seconds / window;
	return n >= 0.5 && fabs(n - round(n)) < 1e-9 * n;
}

static int pingmesh_config_check_times(struct sim_yaml *y,
    const struct sim_yaml_node *node, const struct xp_pingmesh *p)
{
	const struct {
		const char *name;
		double seconds;
		int may_be_zero;
	} whole[] = {{"duration", p->duration_s, 0},
	    {"history", p->history_s, 1},
	    {"repair.every", p->repair.every_s, 1}};
	for (size_t i = 0; i < 3; i++)
		if (!(whole[i].may_be_zero && whole[i].seconds == 0) &&
		    !pingmesh_config_is_whole(whole[i].seconds, p->window_s))
			return sim_yaml_mistake(y, node,
			    "%s %g s is no whole number of windows of %g s.",
			    whole[i].name, whole[i].seconds, p->window_s);
	for (size_t i = 1; i < 3; i++)
		if (whole[i].seconds > p->duration_s)
			return sim_yaml_mistake(y, node,
			    "%s %g s is longer than the duration, %g s.",
			    whole[i].name, whole[i].seconds, p->duration_s);
	return 0;
}

/* The drop rate is read from how long connects took. So agents must wait at
 * least until the first SYN is sent again, and the tolerance must be so small
 * that a connect is not taken for two numbers of lost SYNs at once. */
static int pingmesh_config_check_waits(struct sim_yaml *y,
    const struct sim_yaml_node *node, const struct xp_pingmesh *p)
{
	sim_ns wait[OBS_MAX_WAITS];
	struct algo_drop_ladder ladder;
	struct sim_err why;
	const unsigned n = xp_pingmesh_waits(p, wait);
	const struct fabric_sim_tcp_ladder *l = ladder_of(p);
	if (p->connect.retries > l->n_retries)
		return sim_yaml_mistake(y, sim_yaml_get(node, "connect"),
		    "retries %u: timers %s have %u at most.",
		    p->connect.retries, l->name, l->n_retries);
	if (n == 0)
		return sim_yaml_mistake(y, sim_yaml_get(node, "agent"),
		    "probe_timeout %g s ends before a lost SYN is sent again, "
		    "after %g s.",
		    p->agent.probe_timeout_s, (double)l->wait_ns[0] / 1e9);
	if (algo_drop_ladder_init(&ladder, wait, n,
		pingmesh_config_ns_of(p->dsa.tolerance_s), &why) < 0)
		return sim_yaml_mistake(y, node, "tolerance %g s: %s",
		    p->dsa.tolerance_s, why.msg);
	if (p->agent.first_port > p->agent.last_port)
		return sim_yaml_mistake(y, sim_yaml_get(node, "agent"),
		    "first_port %u is above last_port %u.", p->agent.first_port,
		    p->agent.last_port);
	return 0;
}

/* What a job would refuse at the end of its first window. */
static int check_maps(struct sim_yaml *y, const struct sim_yaml_node *node,
    const struct xp_dsa_params *p, struct sim_err *e)
{
	struct sim_err why;
	if (algo_heatmap_check(&p->heatmap, &why) < 0)
		sim_yaml_mistake(y, sim_yaml_get(node, "heatmap"),
		    "heat map: %s", why.msg);
	const int rc = algo_blackhole_check(&p->blackhole, &why);
	if (rc == SIM_ENOMEM)
		return sim_fail(e, rc, "%s", why.msg);
	if (rc < 0)
		sim_yaml_mistake(y, sim_yaml_get(node, "blackhole"),
		    "blackhole: %s", why.msg);
	return 0;
}

/* The tracing agent would refuse these parameters when a trace begins, which
 * may be hours into a run; they are refused when the spec is read. */
static int check_trace(struct sim_yaml *y, const struct sim_yaml_node *node,
    const struct xp_trace *t)
{
	const double n = t->agent.rate * t->agent.wait_s;
	if (n <= HOP_TRACE_FLIGHTS - 2)
		return 0;
	return sim_yaml_mistake(y, sim_yaml_get(node, "trace"),
	    "%g probes a second that wait for %g s are %g under way; a host "
	    "remembers %d.",
	    t->agent.rate, t->agent.wait_s, n, HOP_TRACE_FLIGHTS - 2);
}

/* The pinglists must be possible on this network, and none may be too long:
 * agents refuse a list with more entries than they take, and then probe nobody,
 * which would look like a quiet network. */
static int check_lists(struct sim_yaml *y, const struct sim_yaml_node *node,
    const struct topo *t, const struct xp_pingmesh *p, struct sim_err *e)
{
	const struct sim_yaml_node *at = sim_yaml_get(node, "pinglist");
	struct topo_clos shape[TOPO_REGION_MAX_DCS];
	struct algo_pinglist_server server;
	struct algo_pinglist plan;
	struct sim_err why;
	for (uint32_t i = 0; i < topo_n_dcs(t); i++)
		shape[i] = topo_dc_at(t, i).clos;
	int rc =
	    algo_pinglist_open(&plan, &p->pinglist, shape, topo_n_dcs(t), &why);
	if (rc == SIM_ENOMEM)
		return sim_fail(e, rc, "%s", why.msg);
	if (rc < 0)
		return sim_yaml_mistake(y, at ? at : node, "%s", why.msg);
	for (uint32_t i = 0; i < plan.n_vips; i++)
		if (!topo_addr_is_vip(plan.vip[i]))
			return sim_yaml_mistake(y, at ? at : node,
			    "vips: nobody serves %u.%u.%u.%u; virtual "
			    "addresses "
			    "are 198.18.0.0/15.",
			    plan.vip[i] >> 24, plan.vip[i] >> 16 & 255,
			    plan.vip[i] >> 8 & 255, plan.vip[i] & 255);
	for (uint32_t s = 0; s < plan.n_servers; s++) {
		algo_pinglist_server(&server, &plan, s, NULL);
		const uint32_t n = algo_pinglist_n_entries(&server);
		if (n > p->agent.max_entries)
			return sim_yaml_mistake(y, at ? at : node,
			    "the list of server %u has %u entries, but agents "
			    "take %u (agent.max_entries).",
			    s, n, p->agent.max_entries);
	}
	return 0;
}

/* The service is one list of hosts, all of them in data centre `dc`, since no
 * other one is judged. Names and several services are for recordings only. */
static int check_service(struct sim_yaml *y, const struct sim_yaml_node *node,
    const struct topo *t, const struct xp_pingmesh *p, struct sim_err *e)
{
	const struct sim_yaml_node *at = sim_yaml_get(node, "service");
	const struct topo_dc dc = topo_dc_at(t, p->dc);
	struct xp_dsa_services s;
	struct sim_err why;
	if (strpbrk(p->service, "=;"))
		return sim_yaml_mistake(y, at,
		    "service \"%s\" is no list of hosts such as 0-15,32.",
		    p->service);
	int rc = xp_dsa_services_read(&s, p->service, t->n_hosts, &why);
	if (rc == SIM_ENOMEM)
		return sim_fail(e, rc, "%s", why.msg);
	if (rc < 0)
		return sim_yaml_mistake(y, at, "%s", why.msg);
	for (size_t i = 0; s.n > 0 && i < s.service[0].n; i++)
		if (!topo_dc_has(&dc, s.server[i])) {
			rc = sim_yaml_mistake(y, at,
			    "service: host %u is not of data centre %u.",
			    s.server[i], p->dc);
			break;
		}
	xp_dsa_services_free(&s);
	return rc;
}

static int check_network(struct sim_yaml *y, const struct sim_yaml_node *node,
    const struct topo *t, const struct xp_pingmesh *p, struct sim_err *e)
{
	if (!t->region && !topo_is_clos(t))
		return sim_yaml_mistake(y, sim_yaml_get(y->root, "topology"),
		    "plane pingmesh needs a topology of kind clos, leaf_spine "
		    "or "
		    "region.");
	if (p->dc >= topo_n_dcs(t))
		return sim_yaml_mistake(y, sim_yaml_get(node, "dc"),
		    "dc %u: there are only %u.", p->dc, topo_n_dcs(t));
	int rc = check_lists(y, node, t, p, e);
	return rc < 0 ? rc : check_service(y, node, t, p, e);
}

/* --- reading -------------------------------------------------------------- */

int xp_pingmesh_read(struct sim_yaml *y, const struct topo *t,
    struct xp_pingmesh *p, struct sim_err *e)
{
	const struct sim_yaml_node *node = sim_yaml_get(y->root, "pingmesh");
	const struct sim_yaml_node *at = node ? node : y->root;
	const size_t had = y->n_mistakes;
	*p = (struct xp_pingmesh){0};
	int rc = sim_parts_read(y, "pingmesh", pingmesh_config_parts, p, e);
	/* Values that are out of their range would only cause mistakes that
	 * follow from them, so keys are not compared with each other yet. */
	if (rc < 0 || y->n_mistakes > had)
		return rc;
	if (!sim_yaml_get(sim_yaml_get(node, "agent"), "syn_rto"))
		p->agent.syn_rto_s = (double)ladder_of(p)->wait_ns[0] / 1e9;
	pingmesh_config_check_times(y, at, p);
	pingmesh_config_check_waits(y, at, p);
	check_trace(y, at, &p->trace);
	if ((rc = check_maps(y, at, &p->dsa, e)) < 0)
		return rc;
	if (t && y->n_mistakes == had)
		rc = check_network(y, at, t, p, e);
	return rc;
}

const struct sim_field *xp_pingmesh_field(const char *path)
{
	return sim_parts_find(pingmesh_config_parts, path);
}

/* --- as a section --------------------------------------------------------- */

static int section_read(struct sim_yaml *y, const struct sim_yaml_node *node,
    const struct topo *t, void *params, struct sim_err *e)
{
	(void)node;
	return xp_pingmesh_read(y, t, params, e);
}

const struct xp_section xp_pingmesh_section = {"pingmesh",
    sizeof(struct xp_pingmesh), section_read, xp_pingmesh_field,
    pingmesh_config_parts,
    .example = "plane: pingmesh\n"
	       "topology: { n_pods: 2, n_tors: 4, n_t1: 2, n_t2: 2, n_hosts: "
	       "4 }\n"
	       "pingmesh:\n"
	       "  duration: 1200 # s, of which each window is diagnosed\n"
	       "  window: 600\n"
	       "  pinglist: { payload_probes: false }\n"
	       "faults: { kind: black_hole_1, tiers: [tor] }\n"
	       "algorithms: [blackhole]\n"};
