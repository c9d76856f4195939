/* experiments/rack/config.c -- the section `rack` of a spec, read.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/rack/rack.h"

#include "experiments/spec/spec.h"

#define FIELD(m) offsetof(struct xp_rack, m)

static const char *const rack_width_names[] = {
#define X(name, ns) #name,
    XP_RACK_WIDTHS(X)
#undef X
	NULL};
static const sim_ns rack_width_ns[] = {
#define X(name, ns) ns,
    XP_RACK_WIDTHS(X)
#undef X
};

static const char *const rack_along_names[] = {"none", "quantile", "size",
    "rack", "time", NULL};

static const struct sim_field rack_own_fields[] = {
    {"length", SIM_F_F64, FIELD(length_s), .min = 1e-3, .max = 600, .unit = "s",
	.def = "2", .doc = "that the racks run"},
    {"widths", SIM_F_SET, FIELD(widths), .names = rack_width_names,
	.def = "[1ms]",
	.doc = "of the buckets that hosts count in; 50 ms and 1 s as others "
	       "do"},
    {"as_congestion", SIM_F_BOOL, FIELD(as_congestion), .def = "false",
	.doc = "tell by which keys of congestion other planes have such racks "
	       "(metrics congestion_*)"},
    {"along", SIM_F_ENUM, FIELD(along), .names = rack_along_names,
	.def = "none",
	.doc = "what a run is read along, beside the sweep: quantiles of "
	       "bursts, servers and buckets; bursts by length and connections; "
	       "racks, from the least contention to the most; the first rack's "
	       "buckets"},
    {0},
};

#define STALL(m) offsetof(struct xp_rack_stall, m)
static const struct sim_field rack_stall_fields[] = {
    {"count", SIM_F_U32, STALL(count), .min = 0, .max = 1e6, .unit = "hosts",
	.def = "0", .doc = "whose NICs stall once"},
    {"at", SIM_F_DIST, STALL(at_ms), .min = 0, .max = 6e5, .unit = "ms",
	.def = "{uniform: [0, 1900]}", .when = "count!=0", .doc = "when"},
    {"busy", SIM_F_BOOL, STALL(busy), .def = "false", .when = "count!=0",
	.doc = "it begins while a host receives something, if it does at all, "
	       "and not at `at`"},
    {"least", SIM_F_F64, STALL(least), .min = 0, .max = 1e12, .unit = "bytes",
	.def = "0", .when = "count!=0",
	.doc = "that it has to hold; hosts whose NICs held less are left out, "
	       "with all that they counted"},
    {"lasts", SIM_F_DIST, STALL(lasts_ms), .min = 0.1, .max = 1e4, .unit = "ms",
	.def = "5", .when = "count!=0", .doc = "for how long"},
    {0},
};

/* All of a rack but how many servers it has, which the topology says. */
static const char *const rack_switch_keys[] = {"quadrants", "line", "shared",
    "policy", "alpha", "ecn", "slot", "rtt", "cross_rtt", "rto", "segment",
    "window", "window_min", "window_max", "gain", NULL};

static const struct sim_part rack_parts[] = {
    {"", rack_own_fields, .offset = 0},
    {"", rack_fields, .offset = FIELD(rack), .only = rack_switch_keys},
    {"traffic", rack_traffic_fields, .offset = FIELD(traffic)},
    {"sample", rack_record_fields, .offset = FIELD(sample)},
    {"stall", rack_stall_fields, .offset = FIELD(stall)},
    {"burst", algo_burst_fields, .offset = FIELD(burst)},
    {0},
};

static int rack_section_read(struct sim_yaml *y,
    const struct sim_yaml_node *node, const struct topo *t, void *params,
    struct sim_err *e)
{
	struct xp_rack *p = params;
	const size_t had = y->n_mistakes;
	(void)t;
	const int rc = sim_parts_read(y, "rack", rack_parts, p, e);
	if (rc < 0 || y->n_mistakes > had || !node)
		return rc;
	if (p->widths == 0 || p->traffic.classes == 0)
		return sim_yaml_mistake(y, node,
		    "widths and traffic.classes must not be empty.");
	return 0;
}

const struct xp_section xp_rack_section = {"rack", sizeof(struct xp_rack),
    rack_section_read, NULL, rack_parts,
    .example = "plane: rack\n"
	       "topology: { n_pods: 1, n_tors: 2, n_t1: 2, n_t2: 2, n_hosts: "
	       "24 }\n"
	       "rack:\n"
	       "  alpha: 1\n"
	       "  length: 0.5\n"
	       "  traffic: { ml_racks: 0.5 }\n"
	       "faults: { count: 1, rate: 0.001, classes: [tor-host] }\n"
	       "algorithms: [loss_cause]\n"};

const struct xp_rack *xp_rack_of(const struct xp_config *c)
{
	return xp_section_of(c, &xp_rack_section);
}

unsigned xp_rack_widths(const struct xp_rack *p, sim_ns width[])
{
	unsigned n = 0;
	for (unsigned i = 0; rack_width_names[i]; i++)
		if (p->widths >> i & 1)
			width[n++] = rack_width_ns[i];
	return n;
}
