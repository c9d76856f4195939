/* experiments/cmd/status_cluster.h -- culprit status --cluster: a sweep's shards.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_CMD_STATUS_CLUSTER_H
#define EXPERIMENTS_CMD_STATUS_CLUSTER_H

#include "experiments/cmd/option.h"
#include "sim/err.h"

/* The folder that `culprit submit` made for NAME, to be freed: that folder itself,
 * its results file, its spec or its figure. Errors SIM_EIO: there is none;
 * SIM_ENOMEM. */
int cmd_find_cluster(char **folder, const char *name, struct sim_err *e);

/* A line of each of them; without any, of all under results/out. Returns an exit
 * code. */
int cmd_status_cluster(const struct cmd_words *names, int json);
int cmd_status_folder(const char *folder, int json);

#endif
