/* algos/everflow/debug.h -- what debuggers share: evidence in, findings out.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A debugger is a pure function: all traces, counters and probes so far go in,
 * findings and the probes that it still wants come out. Whoever runs it sends
 * those, waits, and asks again until it wants none, or time is up. It sees the
 * network and its ECMP sets, never what is broken.
 *
 * Paper  Everflow (SIGCOMM'15) (five debuggers).
 */
#ifndef ALGOS_EVERFLOW_DEBUG_H
#define ALGOS_EVERFLOW_DEBUG_H

#include "algos/everflow/counter.h"
#include "algos/everflow/trace.h"
#include "models/obs_guided.h"
#include "sim/time.h"

/* What is wrong. X(cause, word) */
#define ALGO_CAUSES(X)                                                         \
	X(LATENCY, "latency")                                                  \
	X(TRANSIENT, "transient drop")                                         \
	X(RANDOM, "random drop")                                               \
	X(BLACK_HOLE_1, "black hole by addresses")                             \
	X(BLACK_HOLE_2, "black hole by five-tuple")                            \
	X(LOOP, "loop")                                                        \
	X(MUX_LOOP, "loop through a mux")                                      \
	X(HASH_BITS, "hash of few bits")                                       \
	X(POLARISED, "same hash as upstream")                                  \
	X(NARROWED, "next hop missing for a prefix")                           \
	X(WEIGHTS, "uneven weights")                                           \
	X(NIC_RESTART, "go-back-0 after loss")                                 \
	X(RDMA_LOSS, "loss on the lossless class")                             \
	X(PAUSE_STORM, "pause storm")                                          \
	X(BGP_FLAP, "BGP session that flaps")
enum algo_cause {
#define X(cause, word) ALGO_CAUSE_##cause,
	ALGO_CAUSES(X)
#undef X
	    ALGO_N_CAUSES
};
extern const char *const algo_cause_words[]; /* NULL-terminated */

/* One finding. */
struct algo_finding {
	enum algo_cause cause;
	topo_link link;        /* or TOPO_NONE */
	topo_node node;        /* switch or host of it; or TOPO_NONE */
	double score;          /* higher = surer */
	double rate, lo, hi;   /* of loss, of time, or skew; 95 % interval */
	double excess_us;      /* latency */
	sim_ns from_ns, to_ns; /* of its evidence */
	uint8_t persistent;    /* it was still there when probed */
	uint8_t intermittent;
	topo_node cycle[16]; /* loops, in the order of the way */
	unsigned n_cycle;
	/* A black hole's or a skew's subset: what the innermost tuples have in
	 * common; zeros: all. */
	struct topo_tuple value, mask;
};

/* An order to the prober: COUNT packets, one each INTERVAL, of TUPLE, by switches
 * VIA. Its id makes sure that it is carried out once. */
struct algo_probe_order {
	uint32_t id;
	struct topo_tuple tuple; /* dst_ip 0: it ends at the last switch */
	uint8_t n_via;
	topo_switch via[OBS_MAX_VIA];
	uint32_t count;
	sim_ns interval_ns;
};

struct algo_debug_in {
	struct algo_routing routing;
	const struct algo_trace_store *traces;
	const struct algo_counters *counters;
	const struct obs_guided *sent;
	sim_ns now;
	sim_ns
	    settle_ns; /* a probe sent this long ago has its trace, if ever */
};

/* Zeroed is empty. */
struct algo_debug_out {
	struct algo_finding *finding;
	size_t n_findings, cap_findings;
	struct algo_probe_order *order; /* not asked for before */
	size_t n_orders, cap_orders;
};
void algo_debug_clear(struct algo_debug_out *o);
void algo_debug_free(struct algo_debug_out *o);
int algo_debug_find(struct algo_debug_out *o, const struct algo_finding *f,
    struct sim_err *e);
int algo_debug_order(struct algo_debug_out *o, const struct algo_probe_order *p,
    struct sim_err *e);

/* A kind of debugger, listed in algo_debuggers[]. STATE, of state_size bytes and
 * zeroed before the first step, remembers what was asked for, and is freed with
 * free(). It may not be NULL only where state_size is 0. */
struct algo_debugger {
	const char *name;
	const struct sim_field *params;
	size_t params_size, state_size;
	int (*step)(void *state, const void *params,
	    const struct algo_debug_in *in, struct algo_debug_out *out,
	    struct sim_err *e);
	void (*free)(void *state); /* what it holds; may be NULL */
};
extern const struct algo_debugger *const algo_debuggers[]; /* NULL at the end:
	latency, drop, loop, ecmp, rdma */

#endif
