/* experiments/cmd/trace_debug.c -- culprit trace debug: a debugger on a file.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdio.h>
#include <inttypes.h>
#include <string.h>

#include "experiments/cmd/cmd.h"
#include "experiments/cmd/trace.h"
#include "experiments/cmd/trace_file.h"
#include "experiments/cmd/trace_url.h"
#include "experiments/everflow/judge.h"
#include "sim/yaml.h"

struct args {
	const char *debugger, *file, *enable, *filter;
	sim_ns from, to, life;
	uint64_t sample, disable;
	int json, sessions;
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

static int trace_debug_is_session(const struct args *a)
{
	return a->enable || a->disable > 0 || a->sessions;
}

static void trace_debug_check(const void *args, struct argp_state *state)
{
	const struct args *a = args;
	if ((a->filter || a->sample > 0 || a->life > 0) && !a->enable)
		argp_error(state,
		    "--filter, --sample and --life go with --enable");
	else if ((a->enable != NULL) + (a->disable > 0) + a->sessions > 1)
		argp_error(state,
		    "--enable, --disable and --sessions exclude each other");
	else if (trace_debug_is_session(a)) {
		if (a->file || !xp_call_is_url(a->debugger))
			argp_error(state,
			    "--enable, --disable and --sessions take a URL "
			    "alone");
	} else if (!a->file)
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
    {"enable", 0, "SERVERS",
	"trace what these send, as host0,host17, or all of them: all; refused "
	"if that is more than what there is room for",
	.take = cmd_take_text, .at = CMD_AT(enable)},
    {"filter", 0, "EXPR", "only packets that this fits, by headers alone",
	.take = cmd_take_text, .at = CMD_AT(filter)},
    {"sample", 0, "N", "only 1 packet in N, a power of two",
	.take = cmd_take_u64, .at = CMD_AT(sample), .min = 1, .max = 65536},
    {"life", 0, "TIME", "for so long (default: as long as is allowed)",
	.take = cmd_take_time, .at = CMD_AT(life)},
    {"disable", 0, "ID", "trace no more what --enable gave ID to",
	.take = cmd_take_u64, .at = CMD_AT(disable), .min = 1,
	.max = UINT32_MAX},
    {"sessions", 0, NULL, "what is traced, and what is reserved for it",
	.take = cmd_take_flag, .at = CMD_AT(sessions)},
    {0},
};

static const struct cmd_line trace_debug_line = {
    .options = trace_debug_options,
    .word = {.take = trace_debug_word, .values = xp_everflow_debuggers},
    .without = "which debugger: latency, drop, loop, ecmp or rdma?",
    .check = trace_debug_check,
    .args_doc = "DEBUGGER FILE.h5|URL\nURL --enable SERVERS\nURL --disable ID",
    .doc = "Let a debugger of Everflow look at stored traces, counters and "
	   "guided probes, once: latency, drop, loop, ecmp or rdma."
	   "\vIt has the parameters of the file's spec, or defaults. What it "
	   "would still probe is not asked for, so it may say less than it did "
	   "while it could. /findings of the file is what was said then.\n\n"
	   "A URL is that of a running `culprit trace serve --control`: the "
	   "debugger looks at what it keeps. With --enable all of a server's "
	   "packets have the debug bit, once who runs there asks for its "
	   "sessions; what would exceed a capacity is refused (exit code 1), "
	   "naming it and a sampling that would fit.",
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

/* --- a running analyzer ---------------------------------------------------- */

static int debug_sessions(const struct args *a)
{
	struct xp_call c = {.method = a->enable ? "POST"
		: a->disable > 0                ? "DELETE"
						: "GET",
	    .url = a->debugger,
	    .path = "/sessions"};
	char sample[32], life[32], id[32];
	snprintf(sample, sizeof(sample), "%" PRIu64, a->sample);
	snprintf(life, sizeof(life), "%" PRIu64 "ns", a->life);
	snprintf(id, sizeof(id), "%" PRIu64, a->disable);
	xp_call_add(&c, "servers", a->enable);
	xp_call_add(&c, "filter", a->filter);
	xp_call_add(&c, "sample", a->sample > 0 ? sample : NULL);
	xp_call_add(&c, "life", a->life > 0 ? life : NULL);
	xp_call_add(&c, "id", a->disable > 0 ? id : NULL);
	return cmd_trace_call(&c, UINT64_MAX);
}

static int debug_from_url(const struct args *a)
{
	struct xp_call c = {.method = "GET",
	    .url = a->file,
	    .path = "/findings"};
	struct cmd_trace_span span;
	xp_call_add(&c, "debugger", a->debugger);
	cmd_trace_span(&c, &span, a->from, a->to);
	xp_call_add(&c, "format", a->json ? "json" : "text");
	return cmd_trace_call(&c, UINT64_MAX);
}

int cmd_trace_debug(int argc, char **argv)
{
	struct args a = {.to = SIM_NEVER};
	struct sim_err e = {0};
	struct evidence v = {.x = {.file = NULL}};
	cmd_parse(&trace_debug_line, argc, argv, &a);
	if (trace_debug_is_session(&a))
		return debug_sessions(&a);
	if (xp_call_is_url(a.file))
		return debug_from_url(&a);
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
