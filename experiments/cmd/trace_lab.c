/* experiments/cmd/trace_lab.c -- culprit trace lab: Everflow on a real network.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "experiments/cmd/cmd.h"
#include "experiments/cmd/trace.h"
#include "experiments/cmd/trace_net.h"
#include "experiments/everflow/dump.h"
#include "experiments/everflow/truth.h"
#include "experiments/lab/lab.h"

struct args {
	const char *spec, *output;
	struct cmd_set set;
	uint64_t point, run, most;
	uint32_t analyzers; /* 0: as the spec says */
	char set_analyzers[32];
	int force, by_gre;
};

static const char *const carriers[] = {"ring", "gre", NULL};

static void take_carrier(void *to, char *arg, const struct cmd_given *g)
{
	int *by_gre = to;
	*by_gre = strcmp(arg, "gre") == 0;
	if (!*by_gre && strcmp(arg, "ring") != 0)
		argp_error(g->state,
		    "there is no carrier \"%s\"; there are ring and gre", arg);
}

static const struct cmd_option trace_lab_options[] = {
    {"point", 0, "P", "of the sweep, counted from 0 (default: 0)",
	.take = cmd_take_u64, .at = CMD_AT(point), .max = UINT64_MAX},
    {"run", 0, "R", "of that point, from 0 (default: 0)", .take = cmd_take_u64,
	.at = CMD_AT(run), .max = UINT32_MAX},
    {"set", 's', "PATH=VALUE",
	"override a key, e.g. everflow.debug_every=0.1; may be repeated",
	.take = cmd_take_set, .at = CMD_AT(set), .max = 256},
    {"most", 'n', "N",
	"end once N findings were made (default: after the epoch and "
	"everflow.settle)",
	.take = cmd_take_u64, .at = CMD_AT(most), .min = 1, .max = UINT32_MAX},
    {"carrier", 0, "NAME",
	"of copies, to the analyzers: ring (default), memory of this machine; "
	"gre, ERSPAN II over the network to its last host",
	.take = take_carrier, .at = CMD_AT(by_gre), .values = carriers},
    {"analyzers", 0, "N",
	"that share the copies, by gre each with a socket of its own (default: "
	"everflow.analyzers)",
	.take = cmd_take_u32, .at = CMD_AT(analyzers), .min = 1,
	.max = XP_EVERFLOW_MAX_ANALYZERS},
    {"output", 'o', "FILE", "traces (default: results/out/FIGURE.traces.h5)",
	.take = cmd_take_file, .at = CMD_AT(output)},
    {"force", 'f', NULL,
	"replace FILE if it has no traces, or is damaged; it is kept as FILE~",
	.take = cmd_take_flag, .at = CMD_AT(force)},
    {0},
};

static const struct cmd_line trace_lab_line = {
    .options = trace_lab_options,
    .word = {"SPEC", .take = cmd_take_one, .at = CMD_AT(spec)},
    .without = "no spec",
    .args_doc = "SPEC",
    .doc =
	"Build the network of a spec of plane everflow from network namespaces "
	"of this machine, break it as the spec says, run its connections on "
	"the kernel's TCP, and let Everflow find what is broken, live."
	"\v"
	"Switches mirror by eBPF what the spec's rules say; analyzers, "
	"debuggers and the agents that send guided probes are the objects of "
	"the simulation. Each finding is printed when it is made, with the "
	"seconds since the fault began and whether the truth has it. All else "
	"goes to FILE, as of `culprit trace run`. It takes root, as `culprit "
	"lab run`; nothing is left, however it ends. Findings of two runs "
	"differ in their times. Copies that cross the network meet its faults "
	"and queues, and no others are mirrored of them: what is lost of them "
	"is counted (mirror_lost of a switch, `culprit trace counter`).",
};

/* --- findings ------------------------------------------------------------- */

static void trace_lab_print(const struct cmd_trace_net *n,
    const struct algo_finding *f)
{
	char name[64];
	if (f->link != TOPO_NONE) {
		topo_link_name(&n->topo, f->link, name);
		printf(", link %s", name);
	}
	if (f->node != TOPO_NONE) {
		topo_node_name(&n->topo, f->node, name);
		printf(", node %s", name);
	}
	for (unsigned i = 0; i < f->n_cycle; i++) {
		topo_node_name(&n->topo, f->cycle[i], name);
		printf("%s%s", i == 0 ? ", cycle " : " > ", name);
	}
	if (f->rate > 0)
		printf(", rate %.3g [%.3g, %.3g]", f->rate, f->lo, f->hi);
	if (f->excess_us > 0)
		printf(", %.0f us more than its peers", f->excess_us);
}

static void trace_lab_hear(void *arg, const struct xp_said *said)
{
	static const char *const worth[] = {"wrong", "right",
	    "nothing to be held against"};
	const struct cmd_trace_net *n = arg;
	sim_ns since = 0;
	const enum xp_worth is = xp_everflow_worth(&n->scene,
	    xp_everflow_of(&n->config), &said->finding, &since);
	printf("%8.3f s  %s: %s", 1e-9 * (double)said->at,
	    xp_everflow_debuggers[said->debugger],
	    algo_cause_words[said->finding.cause]);
	trace_lab_print(n, &said->finding);
	if (is == XP_WORTH_RIGHT)
		printf("; right, %.3f s after the fault",
		    1e-9 * ((double)said->at - (double)since));
	else
		printf("; %s", worth[is]);
	printf("\n");
	fflush(stdout);
}

/* --- the run -------------------------------------------------------------- */

static int trace_lab_write(const struct cmd_trace_net *n, const struct args *a,
    const char *path, const struct xp_live_seen *seen, struct sim_err *e)
{
	const struct obs window = {.guided = seen->sent};
	const struct xp_everflow_seen all = {.window = &window,
	    .store = seen->traces,
	    .counters = seen->counters,
	    .said = seen->said,
	    .n_said = seen->n_said,
	    .end_ns = seen->end_ns};
	char *spec = NULL;
	int rc = xp_spec_cell_text(&n->spec, &spec, e);
	const struct res_traces_info info = {.spec = spec,
	    .seed = n->where.seed,
	    .point = (uint32_t)a->point,
	    .run = n->where.run,
	    .n_hosts = n->topo.n_hosts,
	    .n_switches = n->topo.n_switches,
	    .n_links = n->topo.n_links,
	    .ecmp_seed = n->scene.ecmp_seed};
	if (rc == 0)
		rc = xp_everflow_write(path, &info, &all, e);
	free(spec);
	return rc;
}

static void trace_lab_sum(const struct cmd_trace_net *n, const struct args *a,
    size_t n_flows, const struct xp_live_seen *seen, const char *path)
{
	uint64_t n_copies = 0;
	for (topo_switch s = 0; s < n->topo.n_switches; s++)
		n_copies += seen->mirrored[s].n_copies;
	printf("%s: %zu connections, %llu copies mirrored, %zu read%s, %llu "
	       "traces, %zu stored, %zu guided probes, %zu findings -> %s\n",
	    n->spec.figure, n_flows, (unsigned long long)n_copies,
	    seen->copies->n, a->by_gre ? " over the network" : "",
	    (unsigned long long)seen->analyzed.n_traces, seen->traces->traces.n,
	    seen->sent->n, seen->n_said, path);
	if (seen->n_other > 0)
		printf("the kernel dropped %llu packets for reasons of its own "
		       "(%s)\n",
		    (unsigned long long)seen->n_other, seen->other);
}

static int trace_lab_go(struct cmd_trace_net *n, const struct args *a,
    struct sim_err *e)
{
	const struct xp_live_ear ear = {n, trace_lab_hear};
	struct xp_live_seen seen;
	struct obs_flow *flow = NULL;
	size_t n_flows, cap = 0;
	char *out = NULL;
	int rc =
	    cmd_choose_output(&out, a->output, &n->spec, "traces", a->force, e);
	if (rc == 0 && (rc = cmd_trace_net_build(n, e)) == 0 && a->by_gre)
		xp_live_collect(n->live, n->topo.n_hosts - 1);
	if (rc == 0 &&
	    (rc = xp_lab_flows(&flow, &cap, &n_flows, &n->scene, e)) == 0 &&
	    (rc = xp_live_run(n->live, &n->scene, flow, n_flows, a->most, &ear,
		 &seen, e)) == 0 &&
	    (rc = trace_lab_write(n, a, out, &seen, e)) == 0)
		trace_lab_sum(n, a, n_flows, &seen, out);
	free(flow);
	free(out);
	return rc;
}

/* Another number of analyzers is another value of that key, and so stands in the
 * spec that FILE has. */
static int trace_lab_read(struct cmd_trace_net *n, struct args *a,
    struct sim_err *e)
{
	struct cmd_set *s = &a->set;
	if (a->analyzers > 0 && s->n_set == sizeof(s->set) / sizeof(s->set[0]))
		return sim_fail(e, SIM_ELIMIT,
		    "--analyzers is one --set too many.");
	snprintf(a->set_analyzers, sizeof(a->set_analyzers),
	    "everflow.analyzers=%u", a->analyzers);
	if (a->analyzers > 0)
		s->set[s->n_set++] = a->set_analyzers;
	return cmd_trace_net_read(n, a->spec, s, a->point, a->run, e);
}

int cmd_trace_lab(int argc, char **argv)
{
	struct cmd_trace_net n = {.live = NULL};
	struct args a = {.spec = NULL};
	struct sim_err e = {0};
	cmd_parse(&trace_lab_line, argc, argv, &a);
	const int read = trace_lab_read(&n, &a, &e);
	const int rc = read < 0 ? 0 : trace_lab_go(&n, &a, &e);
	return cmd_trace_net_end(&n, read, rc, &e);
}
