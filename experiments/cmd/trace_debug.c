/* experiments/cmd/trace_debug.c -- culprit trace debug: a debugger on a file.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/cmd/cmd.h"
#include "experiments/cmd/trace.h"
#include "experiments/cmd/trace_file.h"
#include "experiments/everflow/everflow.h"
#include "results/json.h"
#include "sim/vec.h"
#include "sim/yaml.h"

struct args {
	const char *debugger, *file;
	sim_ns from, to;
	int json;
};

static void trace_debug_word(void *to, char *arg, const struct cmd_given *g)
{
	struct args *a = to;
	if (!a->debugger)
		a->debugger = arg;
	else if (!a->file)
		a->file = arg;
	else
		argp_error(g->state, "\"%s\" is one word too many", arg);
}

/* Its place in the list, or XP_N_DEBUGGERS. */
static unsigned trace_debug_which(const char *name)
{
	unsigned i = 0;
	while (
	    i < XP_N_DEBUGGERS && strcmp(xp_everflow_debuggers[i], name) != 0)
		i++;
	return i;
}

static void trace_debug_check(const void *args, struct argp_state *state)
{
	const struct args *a = args;
	if (!a->file)
		argp_error(state, "debug which FILE?");
	else if (trace_debug_which(a->debugger) == XP_N_DEBUGGERS)
		argp_error(state,
		    "\"%s\" is none of latency, drop, loop, ecmp "
		    "and rdma",
		    a->debugger);
	else if (a->to <= a->from)
		argp_error(state, "--to is not after --from");
}

static const struct cmd_option trace_debug_options[] = {
    {"from", 0, "TIME", "traces that began then or later, as 10s or 1.5ms",
	.take = cmd_take_time, .at = CMD_AT(from)},
    {"to", 0, "TIME", "and before then", .take = cmd_take_time,
	.at = CMD_AT(to)},
    {"json", 0, NULL, "JSON, one object", .take = cmd_take_flag,
	.at = CMD_AT(json)},
    {0},
};

static const struct cmd_line trace_debug_line = {
    .options = trace_debug_options,
    .word = {.take = trace_debug_word, .values = xp_everflow_debuggers},
    .without = "which debugger: latency, drop, loop, ecmp or rdma?",
    .check = trace_debug_check,
    .args_doc = "DEBUGGER FILE.h5",
    .doc = "Let a debugger of Everflow look at stored traces, counters and "
	   "guided probes, once: latency, drop, loop, ecmp or rdma."
	   "\vIt has the parameters of the file's spec, or defaults. What it "
	   "would still probe is not asked for, so it may say less than it did "
	   "while it could. /findings of the file is what was said then.",
};

/* --- what it looks at ----------------------------------------------------- */

struct evidence {
	struct cmd_traces x;
	struct xp_everflow params;
	struct algo_trace_store store;
	struct algo_counters counters;
	struct obs_guided sent;
	struct algo_debug_out out;
	void *state;
};

static int evidence_params(struct evidence *v, struct sim_err *e)
{
	struct sim_yaml y;
	const char *spec = v->x.info->spec;
	int rc = sim_yaml_parse(&y, "its spec", spec, strlen(spec), e);
	if (rc == 0)
		rc = xp_everflow_section.read(&y,
		    sim_yaml_get(y.root, "everflow"), v->x.topo, &v->params, e);
	if (rc == 0)
		rc = sim_yaml_verdict(&y, e);
	sim_yaml_free(&y);
	return rc;
}

static int evidence_open(struct evidence *v, const struct args *a,
    struct sim_err *e)
{
	int rc = cmd_traces_open(&v->x, a->file, e);
	if (rc < 0)
		return rc;
	if (!v->x.topo)
		return sim_fail(e, SIM_EINVAL,
		    "%s does not tell its network, which debuggers must know.",
		    a->file);
	if ((rc = evidence_params(v, e)) < 0)
		return sim_wrap(e, rc, "%s", a->file);
	if ((rc = res_traces_load(v->x.file, a->from, a->to, &v->store, e)) <
		0 ||
	    (rc = res_traces_counters(v->x.file, a->from, a->to, &v->counters,
		 e)) < 0)
		return rc;
	return res_traces_guided(v->x.file, a->from, a->to, &v->sent, e);
}

static int evidence_judge(struct evidence *v, const struct algo_debugger *d,
    unsigned which, struct sim_err *e)
{
	const struct algo_debug_in in = {
	    .routing = {.topo = v->x.topo,
		.ecmp_seed = v->x.info->ecmp_seed,
		.knows_hash = v->x.info->knows_hash},
	    .traces = &v->store,
	    .counters = &v->counters,
	    .sent = &v->sent,
	    .now = SIM_NEVER,
	};
	const int rc = sim_zalloc(&v->state, 1, d->state_size, e);
	return rc < 0 ? rc
		      : d->step(v->state, xp_everflow_params(&v->params, which),
			    &in, &v->out, e);
}

static void evidence_free(struct evidence *v, const struct algo_debugger *d)
{
	if (v->state && d->free)
		d->free(v->state);
	free(v->state);
	algo_debug_free(&v->out);
	algo_trace_store_free(&v->store);
	algo_counters_free(&v->counters);
	obs_guided_free(&v->sent);
	cmd_traces_close(&v->x);
}

/* --- what it says --------------------------------------------------------- */

static const char *finding_node(const struct evidence *v,
    const struct algo_finding *f, char buf[64])
{
	*buf = '\0';
	if (f->node != TOPO_NONE)
		topo_node_name(v->x.topo, f->node, buf);
	return buf;
}

static void finding_print(const struct evidence *v,
    const struct algo_finding *f)
{
	char link[CMD_TRACE_NAME], node[64];
	printf("%s  link %s", algo_cause_words[f->cause],
	    cmd_trace_link(&v->x, f->link, link));
	if (f->node != TOPO_NONE)
		printf("  at %s", finding_node(v, f, node));
	if (f->rate > 0)
		printf("  rate %.3g (%.3g to %.3g)", f->rate, f->lo, f->hi);
	if (f->excess_us > 0)
		printf("  %.0f us late", f->excess_us);
	printf("  %.3f to %.3f s%s%s\n", (double)f->from_ns / 1e9,
	    (double)f->to_ns / 1e9, f->persistent ? ", persistent" : "",
	    f->intermittent ? ", intermittent" : "");
	for (unsigned i = 0; i < f->n_cycle; i++) {
		topo_node_name(v->x.topo, f->cycle[i], node);
		printf("%s%s%s", i ? " -> " : "  cycle ", node,
		    i + 1 == f->n_cycle ? "\n" : "");
	}
}

static void finding_print_json(const struct evidence *v,
    const struct algo_finding *f)
{
	char link[CMD_TRACE_NAME], node[64];
	printf("{\"cause\": ");
	res_json_text(stdout, algo_cause_words[f->cause]);
	printf(", \"link\": ");
	res_json_text(stdout, cmd_trace_link(&v->x, f->link, link));
	printf(", \"node\": ");
	res_json_text(stdout, finding_node(v, f, node));
	printf(", \"score\": ");
	res_json_number(stdout, f->score);
	printf(", \"rate\": ");
	res_json_number(stdout, f->rate);
	printf(", \"lo\": ");
	res_json_number(stdout, f->lo);
	printf(", \"hi\": ");
	res_json_number(stdout, f->hi);
	printf(", \"excess_us\": ");
	res_json_number(stdout, f->excess_us);
	printf(", \"from_ns\": %" PRIu64 ", \"to_ns\": %" PRIu64
	       ", \"persistent\": %s, \"intermittent\": %s, \"cycle\": [",
	    f->from_ns, f->to_ns, f->persistent ? "true" : "false",
	    f->intermittent ? "true" : "false");
	for (unsigned i = 0; i < f->n_cycle; i++) {
		topo_node_name(v->x.topo, f->cycle[i], node);
		printf("%s", i ? ", " : "");
		res_json_text(stdout, node);
	}
	printf("]}");
}

static void evidence_print(const struct evidence *v, const struct args *a)
{
	if (!a->json) {
		printf("%s: %zu traces, %zu guided probes, %zu finding%s\n",
		    a->debugger, v->store.traces.n, v->sent.n,
		    v->out.n_findings, v->out.n_findings == 1 ? "" : "s");
		for (size_t i = 0; i < v->out.n_findings; i++)
			finding_print(v, &v->out.finding[i]);
		return;
	}
	printf("{\"debugger\": \"%s\", \"findings\": [", a->debugger);
	for (size_t i = 0; i < v->out.n_findings; i++) {
		printf("%s", i ? ", " : "");
		finding_print_json(v, &v->out.finding[i]);
	}
	printf("]}\n");
}

int cmd_trace_debug(int argc, char **argv)
{
	struct args a = {.to = SIM_NEVER};
	struct sim_err e = {0};
	struct evidence v = {.state = NULL};
	cmd_parse(&trace_debug_line, argc, argv, &a);
	const unsigned which = trace_debug_which(a.debugger);
	const struct algo_debugger *d = xp_everflow_debugger(which);
	int rc = evidence_open(&v, &a, &e);
	if (rc == 0 && (rc = evidence_judge(&v, d, which, &e)) == 0)
		evidence_print(&v, &a);
	evidence_free(&v, d);
	return rc < 0 ? cmd_fail(cmd_exit_of(rc), &e) : CMD_GOOD;
}
