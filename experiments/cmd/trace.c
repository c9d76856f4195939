/* experiments/cmd/trace.c -- culprit trace: packets as Everflow sees them.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cmd/trace.h"

#include "experiments/cmd/cmd.h"
#include "experiments/cmd/subverb.h"

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

const struct cmd_family cmd_trace_family = {
    .name = "trace",
    .doc = "Follow packets through a network by the copies that its switches "
	   "mirror, as Everflow (SIGCOMM'15) does.",
    .without = "trace what? `culprit trace --help` lists what it can do",
    .verbs = cmd_trace_verbs,
};

int cmd_trace(int argc, char **argv)
{
	return cmd_subverb(&cmd_trace_family, argc, argv);
}
