/* experiments/cmd/trace_file.h -- what verbs that read traces share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_CMD_TRACE_FILE_H
#define EXPERIMENTS_CMD_TRACE_FILE_H

#include "experiments/cmd/option.h"
#include "experiments/spec/spec.h"
#include "results/traces.h"
#include "sim/time.h"
#include "topo/topo.h"

/* Spec NAME, as S, and the network of its first point, whatever its sweep varies.
 * T may be closed and S freed either way. Errors SIM_EINVAL, SIM_EIO,
 * SIM_ENOMEM. */
int cmd_trace_topology(struct topo *t, struct xp_spec *s, const char *name,
    struct sim_err *e);

/* A file of traces and the network that it is about. Zeroed is empty. */
struct cmd_traces {
	struct res_traces *file;
	const struct res_traces_info *info;
	struct topo net;
	const struct topo *topo; /* NULL: none is known */
};

/* Errors those of res_traces_open(), SIM_EINVAL and SIM_EMISMATCH (its topology
 * cannot be, or is another one); X may be closed either way. */
int cmd_traces_open(struct cmd_traces *x, const char *path, struct sim_err *e);
void cmd_traces_close(struct cmd_traces *x);

/* sim_ns: "10s", "1.5ms". */
cmd_taker cmd_take_time;

/* A line of help for each field and flag of filters. */
void cmd_trace_language(FILE *out);

#endif
