/* experiments/cmd/trace.h -- what `culprit trace` can do: its subverbs.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each has a file of its own, trace_NAME.c, with its table of options, and is
 * called as a verb is, with argv[0] = "culprit trace NAME". One more is a file,
 * a line here and a row in trace.c.
 */
#ifndef EXPERIMENTS_CMD_TRACE_H
#define EXPERIMENTS_CMD_TRACE_H

#include "experiments/cmd/program.h"

/* A nameless row ends it. */
extern const struct cmd_verb cmd_trace_verbs[];

int cmd_trace_run(int argc, char **argv);
int cmd_trace_lab(int argc, char **argv);
int cmd_trace_probe(int argc, char **argv);
int cmd_trace_serve(int argc, char **argv);
int cmd_trace_rules(int argc, char **argv);
int cmd_trace_get(int argc, char **argv);
int cmd_trace_show(int argc, char **argv);
int cmd_trace_counter(int argc, char **argv);
int cmd_trace_debug(int argc, char **argv);
int cmd_trace_explain(int argc, char **argv);
int cmd_trace_pcap(int argc, char **argv);

#endif
