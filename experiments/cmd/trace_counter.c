/* experiments/cmd/trace_counter.c -- culprit trace counter: sums over a file.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "experiments/cmd/cmd.h"
#include "experiments/cmd/trace.h"
#include "experiments/cmd/trace_file.h"
#include "experiments/cmd/trace_url.h"
#include "experiments/everflow/sums.h"

struct args {
	const char *file, *what, *add;
	sim_ns from, to;
	int json, remove;
};

static void trace_counter_word(void *to, char *arg, const struct cmd_given *g)
{
	struct args *a = to;
	if (!a->file)
		a->file = arg;
	else if (!a->what)
		a->what = arg;
	else
		argp_error(g->state, "\"%s\" is one word too many", arg);
}

static void trace_counter_check(const void *args, struct argp_state *state)
{
	const struct args *a = args;
	if (!a->what)
		argp_error(state,
		    "which counter? link:tor3->t1.5, switch:t2.0, mux:host17 "
		    "or custom:syns");
	if (a->to <= a->from)
		argp_error(state, "--to is not after --from");
	if (!a->add && !a->remove)
		return;
	if (!xp_call_is_url(a->file) || strncmp(a->what, "custom:", 7) != 0)
		argp_error(state,
		    "--add and --remove take a URL and custom:NAME");
	if (a->add && a->remove)
		argp_error(state, "--add and --remove exclude each other");
}

static const struct cmd_option trace_counter_options[] = {
    {"from", 0, "TIME", "spans that ended after then, as 10s or 1.5ms",
	.take = cmd_take_time, .at = CMD_AT(from)},
    {"to", 0, "TIME", "and not after then", .take = cmd_take_time,
	.at = CMD_AT(to)},
    {"add", 0, "FILTER",
	"have a running analyzer count the packets that FILTER fits, as WHAT",
	.take = cmd_take_text, .at = CMD_AT(add)},
    {"remove", 0, NULL, "have it count WHAT no more", .take = cmd_take_flag,
	.at = CMD_AT(remove)},
    {"json", 0, NULL, "JSON, one object", .take = cmd_take_flag,
	.at = CMD_AT(json)},
    {0},
};

static const struct cmd_line trace_counter_line = {
    .options = trace_counter_options,
    .word = {.take = trace_counter_word},
    .without = "counters of which FILE?",
    .check = trace_counter_check,
    .args_doc = "FILE.h5|URL WHAT",
    .doc = "Sum up what analyzers counted of the packets whose traces they did "
	   "not keep, over all analyzers and spans of 10 s."
	   "A URL is that of a running `culprit trace serve "
	   "--control`.\vWHAT is link:FROM->TO or link:ID (packets, bytes, "
	   "flows, round "
	   "trips of guided probes), switch:NAME (mirrored packets that "
	   "arrived, and those that were lost), mux:HOST (its latency) or "
	   "custom:NAME. A quantile is the upper end of its bin, of which each "
	   "is 19 % wide.",
};

static int counter_from_url(const struct args *a)
{
	struct xp_call c = {.method = a->add ? "POST"
		: a->remove                  ? "DELETE"
					     : "GET",
	    .url = a->file,
	    .path = "/counters"};
	struct cmd_trace_span span;
	if (a->add || a->remove) {
		xp_call_add(&c, "name", strchr(a->what, ':') + 1);
		xp_call_add(&c, "filter", a->add);
	} else {
		xp_call_add(&c, "what", a->what);
		cmd_trace_span(&c, &span, a->from, a->to);
		xp_call_add(&c, "format", a->json ? "json" : "text");
	}
	return cmd_trace_call(&c, UINT64_MAX);
}

int cmd_trace_counter(int argc, char **argv)
{
	struct args a = {.to = SIM_NEVER};
	struct cmd_traces x;
	struct xp_sums s = {0};
	struct res_counter_names names = {0};
	struct algo_counters c = {0};
	struct sim_err e = {0};
	int code = CMD_TROUBLE;
	cmd_parse(&trace_counter_line, argc, argv, &a);
	if (xp_call_is_url(a.file))
		return counter_from_url(&a);
	int rc = cmd_traces_open(&x, a.file, &e);
	if (rc == 0)
		rc = res_traces_names(x.file, &names, &e);
	if (rc == 0 && (rc = xp_sums_parse(&s, x.topo, &names, a.what, &e)) < 0)
		code = CMD_USAGE;
	if (rc == 0)
		rc = res_traces_counters(x.file, a.from, a.to, &c, &e);
	if (rc == 0) {
		xp_sums_add(&s, &c, 0, SIM_NEVER);
		if (a.json)
			xp_sums_put_json(&s, a.what, stdout);
		else
			xp_sums_put(&s, a.what, stdout);
	}
	algo_counters_free(&c);
	res_counter_names_free(&names);
	cmd_traces_close(&x);
	return rc < 0 ? cmd_fail(code, &e) : CMD_GOOD;
}
