/* tests/rigs/everflow_net.h -- Everflow whole, in a small simulated network.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	connections and probes --> walks --> mirrors --> analyzer --> debugger
 *	        ^                                                       |
 *	        +---- probers on two hosts <---- orders ----------------+
 */
#ifndef TESTS_EVERFLOW_NET_H
#define TESTS_EVERFLOW_NET_H

#include "algos/everflow/analyzer.h"
#include "algos/everflow/debug.h"
#include "algos/everflow/mirror_rule.h"
#include "algos/everflow/prober.h"
#include "models/mirror/mirror.h"
#include "models/packet/conn.h"
#include "tests/rigs/scenes.h"

enum { EVERFLOW_PROBERS = 2 };

struct everflow_prober {
	topo_host host;
	void *state;
	struct sim_rng rng;
	sim_ns wake; /* the timer set last */
	uint64_t token;
};

struct everflow {
	struct scenes s; /* its groups are faults */
	struct mirror_params mirror_params;
	struct algo_analyzer_params analyzer_params;
	struct algo_prober_params prober_params;
	struct packet_conn_params conn_params;
	struct packet_net net;
	struct mirror *mirror;
	struct obs_mirror copies;
	size_t n_fed; /* of copies */
	struct algo_analyzer *analyzer;
	struct algo_routing routing;
	struct algo_trace_store store;
	struct algo_counters counters;
	struct obs_guided sent;
	struct algo_debug_out out; /* of the last step */
	uint32_t n_orders;         /* in all */
	struct everflow_prober prober[EVERFLOW_PROBERS];
	struct sim_rng r;
	sim_ns now;
};

/* Two pods of four ToRs with four hosts each, four T1s a pod and four T2s; no
 * faults, mirrors lost with 1e-3. Change it, then begin. */
void everflow_open(struct everflow *x);
void everflow_begin(struct everflow *x, uint32_t run);

/* The connections of the epoch, and their copies. Ends at 31 s. */
void everflow_traffic(struct everflow *x);

/* Let SECONDS pass, for what walked meanwhile to be mirrored. */
void everflow_pass(struct everflow *x, unsigned seconds);

/* A debugger with defaults, or with PARAMS: a step a second, its probes sent,
 * until it wants none and those ordered have come, at most for SECONDS. Its last
 * findings are in OUT. Returns how many seconds passed before the first finding,
 * or -1. */
double everflow_debug(struct everflow *x, const struct algo_debugger *d,
    const void *params, unsigned seconds);

void everflow_close(struct everflow *x);

/* The first finding of the cause on LINK or at NODE (TOPO_NONE: any), or
 * NULL. */
const struct algo_finding *everflow_found(const struct everflow *x,
    enum algo_cause cause, topo_link link, topo_node node);

/* What is known, for a debugger that is stepped by hand. */
struct algo_debug_in everflow_in(const struct everflow *x);

/* Print all findings, for tests that fail. */
void everflow_print(const struct everflow *x);

#endif
