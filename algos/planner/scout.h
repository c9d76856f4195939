/* algos/planner/scout.h -- the agent that probes as it is told.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	       .-- jobs (FETCH) --- controller --- answers (UPLOAD) <-.
 *	       v                                                      |
 *	     agent -- CONNECT, PROBE --> network -- what came back ---'
 *
 * It asks for jobs each `poll`; those of a round that it has not done it does,
 * and tells what came of them (algos/planner/orders.h). A request that nobody
 * answers is made again.
 *
 * A job is of one five-tuple, which ECMP sends one way each time. It is a number
 * of connects, one after the other: SYN and SYN-ACK are one probe there and back,
 * lost if neither a SYN-ACK nor a reset comes within `wait`. That is to be longer
 * than any round trip and shorter than the time after which a host sends a SYN
 * again (fabric_caps.syn_rto_ns). Or it is a trace, by probes of all TTLs that
 * have not answered yet, `tries` times.
 *
 * A host that slept can't tell what was lost meanwhile: a time-out that comes
 * late by a quarter says nothing, nor does a connect that the host itself refused.
 * Both are made again, up to ALGO_SCOUT_AGAIN times a job.
 *
 * No more than `rate` connects and `trace_rate` probes leave a host in a second:
 * switches limit their ICMP messages.
 *
 * Source ours; paths are found as in 007 (NSDI'18), section 4.
 */
#ifndef ALGOS_PLANNER_SCOUT_H
#define ALGOS_PLANNER_SCOUT_H

#include "models/agent.h"

enum {
	ALGO_SCOUT_AGAIN = 64,
	ALGO_SCOUT_STATE = 16384, /* bytes at most */
};

/* As in a spec. */
struct algo_scout_params {
	double wait_s, poll_s, retry_s;
	double rate, trace_rate; /* 1/s */
	uint32_t tries, max_hops;
};
extern const struct sim_field algo_scout_fields[];

/* Its state is below ALGO_SCOUT_STATE bytes. */
extern const struct agent_ops algo_scout;

/* What it did so far. X(counter, meaning) */
#define ALGO_SCOUT_COUNTERS(X)                                                 \
	X(n_rounds, "rounds begun")                                            \
	X(n_bad, "documents that were no jobs")                                \
	X(n_connects, "connects that were answered or lost")                   \
	X(n_lost, "of these, lost")                                            \
	X(n_again, "connects of which nothing can be told")                    \
	X(n_stray, "answers to what was not, or no longer, asked")             \
	X(n_probes, "probes of traces")                                        \
	X(n_hops, "hops that answered")                                        \
	X(n_moved, "hops that answered with two addresses")
struct algo_scout_status {
#define X(name, text) uint64_t name;
	ALGO_SCOUT_COUNTERS(X)
#undef X
};
void algo_scout_status(const void *state, struct algo_scout_status *out);

#endif
