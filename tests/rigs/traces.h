/* tests/rigs/traces.h -- traces, counters, probes and findings, for tests.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TESTS_TRACES_H
#define TESTS_TRACES_H

#include "results/traces.h"
#include "sim/rng.h"

/* Zeroed is empty. */
struct traces {
	struct res_traces_info info;
	struct algo_trace_store store;
	struct algo_counters counters;
	struct obs_guided guided;
	struct algo_finding finding[8];
	size_t n_findings;
};

/* A Clos of 2 pods, each of 2 ToRs, 2 T1s, and 2 T2s, with 2 hosts a ToR, and traces
 * of it. */
struct topo traces_net(void);
void traces_random(struct traces *x, size_t n, sim_ns duration,
    struct sim_rng *r);

/* Trace I of X, with its hops. */
void traces_get(const struct traces *x, size_t i, struct algo_trace *t,
    struct algo_hop hop[]);

/* A few by hand, over 30 s; tests/cli/trace.sh tells what they are. */
void traces_by_hand(struct traces *x);
int traces_write(const struct traces *x, const char *path, struct sim_err *e);
void traces_free(struct traces *x);

#endif
