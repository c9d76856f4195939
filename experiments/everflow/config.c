/* experiments/everflow/config.c -- the section `everflow` of a spec, read.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/everflow/everflow.h"

#include <string.h>

#include "experiments/spec/spec.h"

#define FIELD(m) offsetof(struct xp_everflow, m)

static const char *const everflow_alongs[] = {"none", "debugger", "link", NULL};
const char *const xp_everflow_debuggers[] = {
#define X(name) #name,
    XP_EVERFLOW_DEBUGGERS(X)
#undef X
	NULL};

static const struct sim_field everflow_own_fields[] = {
    {"along", SIM_F_ENUM, FIELD(along), .names = everflow_alongs, .def = "none",
	.doc = "what a run is read along, beside the sweep"},
    {"debug", SIM_F_SET, FIELD(debug), .names = xp_everflow_debuggers,
	.def = "[latency, drop, loop, ecmp, rdma]",
	.doc = "debuggers that look at all there is: latency, links that are "
	       "slower than their peers; drop, transient and random drops, "
	       "and black holes; loop, packets that go round; ecmp, switches "
	       "that spread flows unevenly, and why; rdma, NICs that go back "
	       "to 0, loss on the lossless class, pause storms, and BGP "
	       "sessions that flap"},
    {"debug_every", SIM_F_F64, FIELD(debug_s), .min = 0.1, .max = 3600,
	.unit = "s", .def = "1", .doc = "from one look of them to the next"},
    {"settle", SIM_F_F64, FIELD(settle_s), .min = 0, .max = 3600, .unit = "s",
	.def = "10", .doc = "the run goes on so long after the epoch"},
    {"analyzers", SIM_F_U32, FIELD(n_analyzers), .min = 1,
	.max = XP_EVERFLOW_MAX_ANALYZERS, .unit = "1", .def = "1",
	.doc = "copies are spread over them by their innermost five-tuple"},
    {"knows_hash", SIM_F_BOOL, FIELD(knows_hash), .def = "false",
	.doc = "it is known how switches hash"},
    {"hop", SIM_F_F64, FIELD(hop_us), .min = 0, .max = 1e6, .unit = "us",
	.def = "1", .doc = "time of a packet on a link, fixed part"},
    {"queue", SIM_F_F64, FIELD(queue_us), .min = 0, .max = 1e6, .unit = "us",
	.def = "2", .doc = "mean of its random part, which is exponential"},
    {0},
};

static const struct sim_part everflow_parts[] = {
    {"", everflow_own_fields, .offset = 0},
    {"", algo_mirror_fields, .offset = FIELD(rules)},
    {"mirror", mirror_fields, .offset = FIELD(mirror)},
    {"analyzer", algo_analyzer_fields, .offset = FIELD(analyzer)},
    {"conn", packet_conn_fields, .offset = FIELD(conn)},
    {"trace", xp_tracing_fields, .offset = FIELD(trace)},
    {"trace", algo_admission_fields, .offset = FIELD(trace.capacity),
	.only = xp_tracing_capacities, .when = "share!=0"},
    {"slb", packet_mux_fields, .offset = FIELD(slb)},
    {"clock", packet_clock_fields, .offset = FIELD(clock)},
    {"rdma", xp_rdma_fields, .offset = FIELD(lossless)},
    {"rdma", packet_rdma_fields, .offset = FIELD(lossless.rdma),
	.when = "pairs!=0"},
    {"pfc", xp_pfc_fields, .offset = FIELD(lossless)},
    {"pfc", packet_pause_fields, .offset = FIELD(lossless.pause)},
    {"bgp", xp_bgp_fields, .offset = FIELD(lossless)},
    {"bgp", packet_bgp_fields, .offset = FIELD(lossless.bgp),
	.when = "on=true"},
    {"prober", algo_prober_fields, .offset = FIELD(prober)},
    {"latency", algo_debug_latency_fields, .offset = FIELD(latency)},
    {"drop", algo_debug_drop_fields, .offset = FIELD(drop)},
    {"loop", algo_debug_loop_fields, .offset = FIELD(loop)},
    {"ecmp", algo_debug_ecmp_fields, .offset = FIELD(ecmp)},
    {"nics", algo_debug_rdma_fields, .offset = FIELD(nics)},
    {"cost", xp_cost_fields, .offset = FIELD(cost)},
    {0},
};

/* Of what is traced on request, the controller knows what the rest of the
 * section says of switches, copies and analyzers. */
static int everflow_read_trace(struct sim_yaml *y,
    const struct sim_yaml_node *node, struct xp_everflow *p)
{
	struct algo_admission_params *c = &p->trace.capacity;
	c->switch_budget = p->mirror.budget;
	c->truncate = p->mirror.truncate;
	c->overhead = p->mirror.overhead;
	c->n_analyzers = p->n_analyzers;
	if (p->trace.share > 0 && !(p->rules.rules >> OBS_COPY_DEBUG & 1))
		return sim_yaml_mistake(y, sim_yaml_get(node, "trace"),
		    "share %g: no rule takes what is marked (rules: [debug]).",
		    p->trace.share);
	return 0;
}

/* What the tables of the parts can't say: a table of rules that is possible. */
static int everflow_read(struct sim_yaml *y, const struct sim_yaml_node *node,
    const struct topo *t, void *params, struct sim_err *e)
{
	struct xp_everflow *p = params;
	const size_t had = y->n_mistakes;
	struct algo_mirror_table table;
	struct sim_err why;
	(void)t;
	int rc = sim_parts_read(y, "everflow", everflow_parts, p, e);
	if (rc < 0 || y->n_mistakes > had)
		return rc;
	if (algo_mirror_table(&table, &p->rules, &why) < 0)
		return sim_yaml_mistake(y, node ? node : y->root, "%s",
		    why.msg);
	if (p->conn.vip_share > 0 && p->slb.vips == 0)
		return sim_yaml_mistake(y, sim_yaml_get(node, "conn"),
		    "vip_share %g: there are no virtual addresses (slb.vips).",
		    p->conn.vip_share);
	return everflow_read_trace(y, node, p);
}

const struct xp_section xp_everflow_section = {"everflow",
    sizeof(struct xp_everflow), everflow_read, NULL, everflow_parts,
    .example = "plane: everflow\n"
	       "topology: { n_pods: 2, n_tors: 4, n_t1: 2, n_t2: 2, n_hosts: "
	       "4 }\n"
	       "everflow:\n"
	       "  rules: [control, debug, sample, retx]\n"
	       "  sample_n: 64\n"
	       "  debug: [drop, loop]\n"
	       "faults: { count: 1, rate: 0.01 }\n"};

const struct xp_everflow *xp_everflow_of(const struct xp_config *c)
{
	return xp_section_of(c, &xp_everflow_section);
}

const struct algo_debugger *xp_everflow_debugger(unsigned which)
{
	return algo_debuggers[which];
}

const void *xp_everflow_params(const struct xp_everflow *p, unsigned which)
{
	switch ((enum xp_everflow_debugger)which) {
	case XP_DEBUG_latency:
		return &p->latency;
	case XP_DEBUG_drop:
		return &p->drop;
	case XP_DEBUG_loop:
		return &p->loop;
	case XP_DEBUG_ecmp:
		return &p->ecmp;
	case XP_DEBUG_rdma:
		return &p->nics;
	default:
		return NULL;
	}
}
