/* experiments/cmd/trace_get.c -- culprit trace get: traces that fit, of a file.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <stdio.h>

#include "algos/everflow/filter.h"
#include "experiments/cmd/cmd.h"
#include "experiments/cmd/trace.h"
#include "experiments/cmd/trace_file.h"
#include "experiments/cmd/trace_url.h"
#include "experiments/everflow/tell.h"

struct args {
	const char *file, *expr, *where;
	sim_ns from, to;
	uint64_t limit;
	int json, count;
};

static void trace_get_word(void *to, char *arg, const struct cmd_given *g)
{
	struct args *a = to;
	if (!a->file)
		a->file = arg;
	else if (!a->expr)
		a->expr = arg;
	else
		argp_error(g->state,
		    "\"%s\" is one word too many; an expression stands in "
		    "quotes",
		    arg);
}

static void trace_get_check(const void *args, struct argp_state *state)
{
	const struct args *a = args;
	if (a->to <= a->from)
		argp_error(state, "--to is not after --from");
	if (a->count && (a->json || a->limit < UINT64_MAX))
		argp_error(state,
		    "--count goes with neither --json nor "
		    "--limit");
}

static const struct cmd_option trace_get_options[] = {
    {"where", 'w', "COND",
	"a condition besides, which may also be on properties of traces",
	.take = cmd_take_text, .at = CMD_AT(where)},
    {"from", 0, "TIME", "first copies from then on, as 10s or 1.5ms",
	.take = cmd_take_time, .at = CMD_AT(from)},
    {"to", 0, "TIME", "and before then", .take = cmd_take_time,
	.at = CMD_AT(to)},
    {"limit", 'n', "N", "at most so many traces", .take = cmd_take_u64,
	.at = CMD_AT(limit), .min = 1, .max = UINT64_MAX - 1},
    {"count", 'c', NULL, "their number alone", .take = cmd_take_flag,
	.at = CMD_AT(count)},
    {"json", 0, NULL, "JSON, an array of traces with all their copies",
	.take = cmd_take_flag, .at = CMD_AT(json)},
    {0},
};

static void trace_get_more(FILE *out, const void *args)
{
	(void)args;
	cmd_trace_language(out);
}

static const struct cmd_line trace_get_line = {
    .options = trace_get_options,
    .word = {.take = trace_get_word},
    .without = "traces of which FILE?",
    .check = trace_get_check,
    .args_doc = "FILE.h5|URL [EXPR]",
    .doc = "Print the traces of FILE that EXPR fits, a line each, by tabs; "
	   "without it all of them. A URL is that of a running `culprit trace "
	   "serve --control`, and the traces those that it keeps.",
    .more = trace_get_more,
};

struct get {
	const struct args *args;
	struct cmd_traces traces;
	struct algo_filter filter, condition;
	uint64_t n;
};

/* --- all -------------------------------------------------------------------- */

static int get_take(void *arg, uint64_t id, const struct algo_trace *t,
    const struct algo_hop hop[], struct sim_err *e)
{
	struct get *g = arg;
	const sim_ns now = g->traces.info->end_ns;
	(void)e;
	if (!algo_filter_test(&g->filter, t, hop, now) ||
	    !algo_filter_test(&g->condition, t, hop, now))
		return 0;
	if (g->n == g->args->limit) {
		fprintf(stderr,
		    "culprit: --limit %" PRIu64 " is reached; there are "
		    "more.\n",
		    g->n);
		return 1;
	}
	g->n++;
	if (g->args->json)
		xp_tell_json(stdout, g->traces.topo, g->n > 1, id, t, hop);
	else if (!g->args->count)
		xp_tell_row(stdout, g->traces.topo, id, t, hop);
	return 0;
}

static int get_compile(struct get *g, struct sim_err *e)
{
	const struct args *a = g->args;
	const struct topo *t = g->traces.topo;
	int rc = algo_filter_compile(&g->filter, a->expr ? a->expr : "", t,
	    ALGO_IS_FILTER, e);
	if (rc < 0)
		return rc;
	rc = algo_filter_compile(&g->condition, a->where ? a->where : "", t,
	    ALGO_IS_CONDITION, e);
	return rc < 0 ? sim_wrap(e, rc, "--where") : 0;
}

static int get_print(struct get *g, struct sim_err *e)
{
	const struct args *a = g->args;
	if (a->json)
		printf("[");
	else if (!a->count)
		fputs(xp_tell_head, stdout);
	const int rc =
	    res_traces_each(g->traces.file, a->from, a->to, get_take, g, e);
	if (rc == 0 && a->json)
		printf("]\n");
	if (rc == 0 && a->count)
		printf("%" PRIu64 "\n", g->n);
	return rc;
}

static int get_from_url(const struct args *a)
{
	struct xp_call c = {.method = "GET", .url = a->file, .path = "/traces"};
	struct cmd_trace_span span;
	char limit[32];
	xp_call_add(&c, "filter", a->expr);
	xp_call_add(&c, "where", a->where);
	cmd_trace_span(&c, &span, a->from, a->to);
	if (a->limit < UINT64_MAX) {
		snprintf(limit, sizeof(limit), "%" PRIu64, a->limit);
		xp_call_add(&c, "limit", limit);
	}
	xp_call_add(&c, "format",
	    a->json        ? "json"
		: a->count ? "count"
			   : "rows");
	return cmd_trace_call(&c, a->limit);
}

int cmd_trace_get(int argc, char **argv)
{
	struct args a = {.to = SIM_NEVER, .limit = UINT64_MAX};
	struct get g = {.args = &a};
	struct sim_err e = {0};
	int code = CMD_GOOD;
	cmd_parse(&trace_get_line, argc, argv, &a);
	if (xp_call_is_url(a.file))
		return get_from_url(&a);
	int rc = cmd_traces_open(&g.traces, a.file, &e);
	if (rc < 0)
		code = cmd_fail(CMD_TROUBLE, &e);
	else if (get_compile(&g, &e) < 0)
		code = cmd_fail(CMD_USAGE, &e);
	else if (get_print(&g, &e) < 0)
		code = cmd_fail(CMD_TROUBLE, &e);
	cmd_traces_close(&g.traces);
	return code;
}
