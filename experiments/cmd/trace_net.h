/* experiments/cmd/trace_net.h -- a spec's network, built of namespaces, mirrored.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_CMD_TRACE_NET_H
#define EXPERIMENTS_CMD_TRACE_NET_H

#include "experiments/cmd/option.h"
#include "experiments/everflow/live.h"
#include "experiments/spec/config.h"

/* One cell of a spec of plane everflow. */
struct cmd_trace_net {
	struct xp_spec spec;
	struct xp_config config; /* of its point */
	struct topo topo;
	struct scene scene;
	struct sim_seed where;
	struct xp_live *live;
};

/* Read NAME and draw the cell (POINT, RUN); close also what failed. Errors those
 * of reading a spec. */
int cmd_trace_net_read(struct cmd_trace_net *n, const char *name,
    const struct cmd_set *set, uint64_t point, uint64_t run, struct sim_err *e);

/* Build it of namespaces, with switches that mirror. Errors SIM_EUNSUPPORTED
 * (another plane; not to be had here), those of networks. */
int cmd_trace_net_build(struct cmd_trace_net *n, struct sim_err *e);
void cmd_trace_net_close(struct cmd_trace_net *n);

/* Close it: the exit code, READ_RC being what _read() gave and RC what came after
 * it, with the error told. */
int cmd_trace_net_end(struct cmd_trace_net *n, int read_rc, int rc,
    const struct sim_err *e);

#endif
