/* experiments/cmd/trace.c -- culprit trace: packets as Everflow sees them.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cmd/trace.h"

#include <stdio.h>
#include <string.h>

#include "experiments/cmd/cmd.h"
#include "sim/text.h"

/* In the order in which --help lists them. */
const struct cmd_verb cmd_trace_verbs[] = {
    {"run", "simulate a cell, and write its traces", cmd_trace_run},
    {"lab", "the same on a network of this machine's kernel", cmd_trace_lab},
    {"probe", "round trips of a link of such a network", cmd_trace_probe},
    {"serve", "a live analyzer of what switches send", cmd_trace_serve},
    {"rules", "what switches are told to mirror", cmd_trace_rules},
    {"get", "traces of a file that fit an expression", cmd_trace_get},
    {"show", "one trace, copy by copy", cmd_trace_show},
    {"counter", "what was counted of a link, a switch or a mux",
	cmd_trace_counter},
    {"debug", "what a debugger says of a file's traces", cmd_trace_debug},
    {"explain", "an expression as byte code, and its cost", cmd_trace_explain},
    {"pcap", "a capture of copies, as traces", cmd_trace_pcap},
    {0},
};

enum { MAX_VERBS = 32 };

/* All other words were taken before: whatever comes here is no subverb. */
static void cmd_trace_no_verb(void *to, char *arg, const struct cmd_given *g)
{
	size_t n = 0;
	(void)to;
	while (g->option->values[n])
		n++;
	const char *near = sim_did_you_mean(arg, g->option->values, n);
	argp_error(g->state, "there is no \"trace %s\"%s%s%s", arg,
	    near ? "; did you mean \"" : "", near ? near : "",
	    near ? "\"?" : "");
}

static void cmd_trace_more(FILE *out, const void *args)
{
	(void)args;
	for (const struct cmd_verb *v = cmd_trace_verbs; v->name; v++)
		fprintf(out, "  %-8s %s\n", v->name, v->doc);
	fprintf(out,
	    "\n`culprit trace VERB --help` lists the options of each.\n");
}

static const struct cmd_line cmd_trace_line = {
    .without = "trace what? `culprit trace --help` lists what it can do",
    .args_doc = "VERB [WORD...]",
    .doc = "Follow packets through a network by the copies that its switches "
	   "mirror, as Everflow (SIGCOMM'15) does.",
    .more = cmd_trace_more,
};

int cmd_trace(int argc, char **argv)
{
	char title[64], ask[] = "--complete";
	const char *names[MAX_VERBS + 1] = {NULL};
	struct cmd_line line = cmd_trace_line;
	/* What a subverb takes, and may be completed to, its own table says. */
	const int asks = argc > 3 && strcmp(argv[1], ask) == 0;
	const int at = 1 + asks;
	size_t n = 0;
	for (const struct cmd_verb *v = cmd_trace_verbs; v->name; v++) {
		if (n < MAX_VERBS)
			names[n++] = v->name;
		if (argc <= at || strcmp(argv[at], v->name) != 0)
			continue;
		snprintf(title, sizeof(title), "culprit trace %s", v->name);
		/* "--complete get WORD" becomes "get --complete WORD". */
		argv[at] = asks ? ask : title;
		argv[1] = title;
		return v->main(argc - 1, argv + 1);
	}
	line.word =
	    (struct cmd_option){.take = cmd_trace_no_verb, .values = names};
	cmd_parse(&line, argc, argv, NULL);
	return CMD_USAGE;
}
