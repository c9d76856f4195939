/* experiments/schema/sections.c -- all that a spec may hold, as one list.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/schema/sections.h"

#include <string.h>

#include "experiments/check/gate.h"
#include "experiments/spec/config.h"
#include "experiments/spec/fabric.h"
#include "experiments/spec/plane.h"

static const struct sim_part top_parts[] = {{"", xp_head_fields, .offset = 0},
    {"", xp_run_fields, .offset = 0}, {0}};
static const struct sim_part noise_parts[] = {{"", scene_noise_fields,
						  .offset = 0},
    {0}};
static const struct sim_part latency_parts[] = {{"", scene_latency_fields,
						    .offset = 0},
    {0}};
static const struct sim_part congestion_parts[] = {{"", scene_congestion_fields,
						       .offset = 0},
    {0}};
static const struct sim_part samples_parts[] = {{"", scene_samples_fields,
						    .offset = 0},
    {0}};
static const struct sim_part faults_parts[] = {{"", fault_fields, .offset = 0},
    {0}};
static const struct sim_part claims_parts[] = {{"", xp_claim_fields,
						   .offset = 0},
    {0}};
static const struct sim_part gates_parts[] = {{"", xp_gate_fields, .offset = 0},
    {0}};

static const struct xp_own_key faults_keys[] = {
    {"links", "list of links",
	"these fail, in place of `count` at random: each by its id, or as "
	"\"tor3->t1.5\"; `culprit topo --path` tells both; for kind reroute, "
	"where packets are sent wrongly; for bgp_flap, of a cable either",
	.texts = 1, .numbers = 1},
    {"at", "list of nodes",
	"these fail, in place of some at random: switches, as tor3 or t2.0, "
	"or for kinds host_off, mux_loop and storm hosts, as host17",
	.texts = 1, .numbers = 1},
    {"pods", "list of pods", "these are off (pod_off), by number",
	.numbers = 1},
    {0}};
static const struct xp_own_key algos_keys[] =
    {{"name", "text", "which one; `culprit algos` lists them", .texts = 0},
	{"label", "text",
	    "what tables and figures call it: the name unless set; two of one "
	    "name need two labels",
	    .texts = 0},
	{0}};
static const struct xp_own_key sweep_keys[] =
    {{"grid", "map of paths to lists",
	 "each path is an axis, and every combination of their values a point; "
	 "the last one varies fastest",
	 .texts = 0},
	{"zip", "map of paths to lists",
	    "paths that vary together, all lists being of one length; they are "
	    "one axis, after those of the grid",
	    .texts = 0},
	{0}};

#define NETWORK                                                                \
	"topology: { n_pods: 2, n_tors: 4, n_t1: 4, n_t2: 4, n_hosts: 8 }\n"

static const struct xp_page pages[] = {
    {"", XP_FORM_TOP, "what it is called, how often it is run, by what",
	.parts = top_parts,
	.more = "The key `fabric` may also be a map of a fabric's name to "
		"options, which count more than those of its section: fabric: "
		"{netns: {faults: nft}}.",
	.example = "figure: first_try # results/out/first_try.h5\n"
		   "title: \"One bad link, seen by 007\"\n"
		   "runs: 20\n"
		   "faults: { count: 1, rate: 0.01 }\n"
		   "algorithms: [vote]\n"},
    {"topology", XP_FORM_MAP, "the network", .parts = xp_topology_parts,
	.more = "A leaf_spine is a Clos of one pod without T2s, so that its "
		"leaves are called tor0, tor1, ... and its spines t1.0, t1.1, "
		"... A region is data centres, each a Clos, joined by long "
		"cables. `culprit spec graphml` says what a network's file "
		"holds.",
	.example = "topology: { kind: leaf_spine, n_leaves: 8, n_spines: 4, "
		   "n_hosts: 16 }\n"},
    {"traffic", XP_FORM_MAP, "who talks to whom", .parts = scene_traffic_parts,
	.more = "The keys of tcp count on planes exact and agents.",
	.example = "traffic:\n"
		   "  conns: 60                      # of each host\n"
		   "  packets: { uniform: [1, 100] } # of each connection\n"
		   "  dst: skewed\n"
		   "  hot_share: 0.8\n"},
    {"noise", XP_FORM_MAP, "what links without a fault lose",
	.parts = noise_parts,
	.example = "noise: { rate: { uniform: [0, 1e-6] } }\n"},
    {"latency", XP_FORM_MAP, "round-trip times, of plane exact",
	.parts = latency_parts,
	.example = "latency: { report_over: 1000 } # us\n"
		   "faults: { kind: latency, count: 1 }\n"},
    {"congestion", XP_FORM_MAP,
	"buffers of hot racks that are full now and then, of planes auto, "
	"exact, agents, pingmesh and everflow",
	.parts = congestion_parts,
	.more = "What they lose is nobody's fault: no link is faulty for it. "
		"The defaults are of our own model of a rack. A `busy` below "
		"1 makes ports of a rack fill together. What has a time of "
		"its own (a probe, a SYN, what is sent again) meets the ports "
		"of that time.",
	.example = "congestion: { racks: 0.2, busy: 0.05, ports: 0.1 }\n"},
    {"samples", XP_FORM_MAP,
	"what hosts count in short buckets beside flows, on planes auto, exact "
	"and skip",
	.parts = samples_parts,
	.more =
	    "It counts where some algorithm reads samples. The defaults are "
	    "of our own model of a rack; a host samples 2 s of each 30.",
	.example = "samples: { every: 5 }\n"
		   "congestion: { racks: 0.2 }\n"
		   "faults: { count: 1, rate: 0.01 }\n"
		   "algorithms: [vote_filtered]\n"},
    {"faults", XP_FORM_MAPS, "what fails: one group, or a list of groups",
	.parts = faults_parts, .keys = faults_keys,
	.more =
	    "Without the section nothing fails; {} is one group of "
	    "defaults, [] is none. Of the kinds, controller and collector "
	    "act on planes with these services, and reroute, narrow, "
	    "weights, hash, ecn, mux_loop, storm and bgp_flap on planes that "
	    "carry packets switch by switch; others refuse them.",
	.example = NETWORK
	"faults:\n"
	"  - { count: 2, rate: 0.01 }           # two links at random\n"
	"  - { links: [\"tor3->t1.2\"], rate: 0.1 } # and this one\n"
	"  - { kind: black_hole_1, at: [t2.0] }\n"},
    {"algorithms", XP_FORM_ALGOS, "who looks for the faults: a list",
	.keys = algos_keys,
	.more = "An item is an algorithm's name, or a map with its name and "
		"parameters; `culprit algos NAME` explains these. In place of "
		"a name, `exec: \"python3 mine.py\"` is a program of yours "
		"and `plugin: ./mine.so` a library: `culprit algos ./mine.so`, "
		"and experiments/plug/README.md.",
	.example = "algorithms:\n"
		   "  - vote\n"
		   "  - { name: alg1, label: strict, threshold: 0.05 }\n"},
    {"sweep", XP_FORM_SWEEP, "which keys vary, and how", .keys = sweep_keys,
	.more = "A path is a key with the sections above it, faults.rate; a "
		"number is the place in a list, counted from 0, as in "
		"faults.1.rate or algorithms.0.threshold. A section may be "
		"swept as a whole. Seed and runs are the whole sweep's.",
	.example = "faults: { count: 1 }\n"
		   "sweep:\n"
		   "  grid:\n"
		   "    faults.rate: [1e-3, 1e-2]\n"
		   "    traffic.conns: [20, 60]\n"
		   "  zip: # one more axis, of two keys in step\n"
		   "    label: [few, many]\n"
		   "    faults.count: [1, 10]\n"},
    {"smoke", XP_FORM_SMOKE, "what --smoke replaces, for a run of seconds",
	.more = "It holds keys of the root, each with the value that stands "
		"in its place as a whole; all may be replaced but figure and "
		"gates.",
	.example = "runs: 1000\n"
		   "faults: { count: 1 }\n"
		   "sweep: { grid: { faults.count: [1, 2, 5, 10, 20] } }\n"
		   "smoke: { runs: 3, sweep: { grid: { faults.count: [1, 10] } "
		   "} }\n"},
    {"claims", XP_FORM_LIST, "what the paper states: a list",
	.parts = claims_parts,
	.more = "A claim is drawn beside the metric that it names, and "
		"`culprit verify` compares. The key `paper` at the top says "
		"where it is from.",
	.example = "paper: \"007 (NSDI'18), Figure 5b\"\n"
		   "claims:\n"
		   "  - metric: accuracy_fault\n"
		   "    value: 0.96\n"
		   "    confirmed: true\n"
		   "    text: \"more than 96 %\"\n"},
    {"gates", XP_FORM_LIST, "how accurate is enough: a list, for culprit gate",
	.parts = gates_parts,
	.more = "A file with gates is one point: it has neither sweep nor "
		"runs, smoke or claims. Runs are drawn until each gate is "
		"decided.",
	.example = "faults: { count: 1, rate: 0.01 }\n"
		   "gates:\n"
		   "  - name: \"the faulty link ranks first\"\n"
		   "    algorithm: vote\n"
		   "    metric: worst_first_rate\n"
		   "    at_least: 1 # then a run is a success\n"
		   "    p0: 0.5     # bad: so few runs are\n"
		   "    p1: 0.9     # good: so many are\n"},
};
enum { N_PAGES = sizeof(pages) / sizeof(pages[0]), BEFORE_SECTIONS = 7 };

/* --- the list ------------------------------------------------------------- */

/* Whose section that is. */
static void sections_put_owner(struct xp_page *out, const struct xp_section *s)
{
	for (const struct xp_plane *const *p = xp_planes; *p; p++)
		if ((*p)->section == s) {
			out->owner = "plane";
			out->doc = (*p)->doc;
			return;
		}
	for (const struct xp_fabric *const *f = xp_fabrics; *f; f++)
		if ((*f)->section == s) {
			out->owner = "fabric";
			out->doc = (*f)->doc;
			return;
		}
}

int xp_page_at(size_t i, struct xp_page *out)
{
	size_t n_sections = 0;
	while (xp_section_at(n_sections))
		n_sections++;
	*out = (struct xp_page){0};
	if (i >= N_PAGES + n_sections)
		return 0;
	/* Those of planes and fabrics stand before what makes a sweep. */
	if (i < BEFORE_SECTIONS || i >= BEFORE_SECTIONS + n_sections) {
		*out = pages[i < BEFORE_SECTIONS ? i : i - n_sections];
		return 1;
	}
	const struct xp_section *s = xp_section_at(i - BEFORE_SECTIONS);
	*out = (struct xp_page){.name = s->name,
	    .form = XP_FORM_MAP,
	    .parts = s->parts,
	    .example = s->example};
	sections_put_owner(out, s);
	return 1;
}

int xp_page_find(const char *name, struct xp_page *out)
{
	for (size_t i = 0; xp_page_at(i, out); i++)
		if (*out->name && strcmp(out->name, name) == 0)
			return 1;
	return 0;
}

/* As in experiments/spec/spec.c: what a point's configuration is read from. */
int xp_page_is_of_point(const struct xp_page *p)
{
	return p->form != XP_FORM_SWEEP && p->form != XP_FORM_SMOKE &&
	    p->form != XP_FORM_LIST;
}

void xp_page_visit(const struct xp_page *p, xp_page_visitor *visit, void *arg)
{
	struct sim_field all[SIM_PARTS_MAX];
	const struct xp_own_key *own = p->keys;
	const struct sim_part *part = p->parts;
	do {
		const char *map = part ? part->map : "";
		if (part && part->fields)
			part = sim_parts_join(part, all);
		else
			all[0] = (struct sim_field){0};
		for (size_t i = 0; all[i].name; i++)
			visit(arg, p, map, &all[i], NULL);
		/* Its own keys stand with those of no map, the first ones. */
		for (; own && own->name; own++)
			visit(arg, p, "", NULL, own);
	} while (part && part->fields);
}
