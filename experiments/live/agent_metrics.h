/* experiments/live/agent_metrics.h -- what a live agent tells Prometheus.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A file and no port: who probes a fleet listens for probes alone. Prometheus'
 * node exporter reads such files (its textfile collector), of any daemon.
 */
#ifndef EXPERIMENTS_LIVE_AGENT_METRICS_H
#define EXPERIMENTS_LIVE_AGENT_METRICS_H

#include "algos/pingmesh/agent.h"
#include "experiments/live/daemon.h"
#include "experiments/live/fetch.h"
#include "sim/text.h"

enum { XP_AGENT_METRICS = 24576 }; /* bytes, whatever the numbers are */

/* Times are seconds since 1970. */
struct xp_agent_seen {
	struct algo_pingmesh_status status;
	struct xp_fetch_counters contacts;
	struct fabric_real_counters sockets;
	struct xp_daemon_cost cost;
	uint32_t memory_mib; /* 0: no limit */
	uint64_t start_s, list_s,
	    at_s; /* list: came, or was the same; 0: never */
};

void xp_agent_put_metrics(struct sim_text *t, const struct xp_agent_seen *x);

#endif
