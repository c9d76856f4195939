/* experiments/cmd/trace_explain.c -- culprit trace explain: filters as code.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdio.h>

#include "algos/everflow/filter.h"
#include "experiments/cmd/cmd.h"
#include "experiments/cmd/trace.h"
#include "experiments/cmd/trace_file.h"

struct args {
	const char *expr, *topology;
};

static const struct cmd_option trace_explain_options[] = {
    {"topology", 't', "SPEC", "the network whose names EXPR has",
	.take = cmd_take_file, .at = CMD_AT(topology)},
    {0},
};

static void trace_explain_more(FILE *out, const void *args)
{
	(void)args;
	cmd_trace_language(out);
}

static const struct cmd_line trace_explain_line = {
    .options = trace_explain_options,
    .word = {"EXPR", .take = cmd_take_one, .at = CMD_AT(expr)},
    .without = "explain which EXPR?",
    .args_doc = "EXPR",
    .doc = "Show what an expression of `culprit trace get` is compiled to: a "
	   "line a test, with mask and value, whether it is looked at once or "
	   "for copies, and where it leads to; and what that costs.",
    .more = trace_explain_more,
};

/* Tests that look at the trace once, at each copy, and at ways. */
struct trace_cost {
	unsigned n_once, n_copies, n_paths;
};

static struct trace_cost trace_cost_of(const struct algo_filter *f)
{
	struct trace_cost c = {0};
	for (unsigned i = 0; i < f->n; i++) {
		const struct algo_filter_step *s = &f->step[i];
		if (s->op == ALGO_FILTER_PATH)
			c.n_paths++;
		else if (algo_filter_is_of_copies(s))
			c.n_copies++;
		else
			c.n_once++;
	}
	return c;
}

static void trace_explain_print(const struct algo_filter *f, const char *expr)
{
	char text[16384];
	struct sim_text out = {text, sizeof(text), 0};
	const struct trace_cost c = trace_cost_of(f);
	algo_filter_put(f, expr, &out);
	fputs(text, stdout);
	printf("%s%u of %d steps, %u of %d states of paths\n",
	    f->n > 0 ? "\n" : "", f->n, ALGO_FILTER_STEPS, f->paths.n,
	    ALGO_PATH_STATES);
	printf("at most %u test%s a trace, %u a copy, %u path%s over all "
	       "copies\n",
	    c.n_once, c.n_once == 1 ? "" : "s", c.n_copies, c.n_paths,
	    c.n_paths == 1 ? "" : "s");
	printf(algo_filter_is_header_only(f)
		? "by headers alone: each copy gives the answer, before a "
		  "trace is put together\n"
		: "not by headers alone: it takes whole traces\n");
	if (f->is_condition)
		printf("a condition, for --where: it has properties of "
		       "traces\n");
}

int cmd_trace_explain(int argc, char **argv)
{
	struct args a = {0};
	struct sim_err e = {0};
	struct xp_spec s = {0};
	struct topo net = {0};
	struct algo_filter f;
	cmd_parse(&trace_explain_line, argc, argv, &a);
	int rc = a.topology ? cmd_trace_topology(&net, &s, a.topology, &e) : 0;
	if (rc == 0)
		rc = algo_filter_compile(&f, a.expr, a.topology ? &net : NULL,
		    ALGO_IS_CONDITION, &e);
	if (rc == 0)
		trace_explain_print(&f, a.expr);
	topo_close(&net);
	xp_spec_free(&s);
	return rc < 0 ? cmd_fail(rc == SIM_ENOMEM ? CMD_TROUBLE : CMD_USAGE, &e)
		      : CMD_GOOD;
}
