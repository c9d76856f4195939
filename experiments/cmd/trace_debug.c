/* experiments/cmd/trace_debug.c -- culprit trace debug: a debugger on a file.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdio.h>
#include <string.h>

#include "experiments/cmd/cmd.h"
#include "experiments/cmd/trace.h"
#include "experiments/cmd/trace_file.h"
#include "experiments/everflow/judge.h"
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

static void evidence_free(struct evidence *v)
{
	algo_trace_store_free(&v->store);
	algo_counters_free(&v->counters);
	obs_guided_free(&v->sent);
	cmd_traces_close(&v->x);
}

int cmd_trace_debug(int argc, char **argv)
{
	struct args a = {.to = SIM_NEVER};
	struct sim_err e = {0};
	struct evidence v = {.x = {.file = NULL}};
	cmd_parse(&trace_debug_line, argc, argv, &a);
	const unsigned which = trace_debug_which(a.debugger);
	int rc = evidence_open(&v, &a, &e);
	const struct algo_debug_in in = {
	    .routing = {.topo = v.x.topo,
		.ecmp_seed = rc == 0 ? v.x.info->ecmp_seed : 0,
		.knows_hash = rc == 0 && v.x.info->knows_hash},
	    .traces = &v.store,
	    .counters = &v.counters,
	    .sent = &v.sent,
	    .now = SIM_NEVER,
	};
	if (rc == 0)
		rc = xp_judge(&v.params, which, &in, a.json, stdout, &e);
	evidence_free(&v);
	return rc < 0 ? cmd_fail(cmd_exit_of(rc), &e) : CMD_GOOD;
}
