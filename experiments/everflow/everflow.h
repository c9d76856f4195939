/* experiments/everflow/everflow.h -- the section `everflow` of a spec.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	plane: everflow
 *	topology: { kind: clos, ... }
 *	faults: [...]
 *	everflow:
 *	  rules: [control, debug, sample, retx]
 *	  sample_n: 1024
 *	  mirror: { loss: 1e-4, truncate: 128, ... }
 *	  analyzers: 2
 *	  analyzer: { key: digest, ... }
 *	  debug: [latency, drop, loop]
 *	  conn: { gap: 1000, ... }
 *	  trace: { share: 0.5, admit: true, ... }
 *
 * Keys are those of the parts: what is mirrored (algos/everflow/mirror_rule.h),
 * how switches mirror (models/mirror/), how analyzers put copies together
 * (algos/everflow/analyzer.h); and maps of connections, whose packets are
 * traced on request (tracing.h), load balancers, RDMA,
 * agents that probe and each debugger.
 */
#ifndef EXPERIMENTS_EVERFLOW_EVERFLOW_H
#define EXPERIMENTS_EVERFLOW_EVERFLOW_H

#include "algos/everflow/analyzer.h"
#include "algos/everflow/debug_drop.h"
#include "algos/everflow/debug_ecmp.h"
#include "algos/everflow/debug_latency.h"
#include "algos/everflow/debug_loop.h"
#include "algos/everflow/debug_rdma.h"
#include "algos/everflow/mirror_rule.h"
#include "algos/everflow/prober.h"
#include "experiments/everflow/lossless.h"
#include "experiments/everflow/tracing.h"
#include "experiments/spec/cost.h"
#include "experiments/spec/section.h"
#include "models/mirror/mirror.h"
#include "models/packet/clock.h"
#include "models/packet/mux.h"

/* Debuggers, in the order of algo_debuggers; those of axis debugger. */
#define XP_EVERFLOW_DEBUGGERS(X) X(latency) X(drop) X(loop) X(ecmp) X(rdma)
enum xp_everflow_debugger {
#define X(name) XP_DEBUG_##name,
	XP_EVERFLOW_DEBUGGERS(X)
#undef X
	    XP_N_DEBUGGERS
};
extern const char *const xp_everflow_debuggers[]; /* NULL-terminated */

/* What one run is read along. */
enum xp_everflow_along {
	XP_EVERFLOW_NONE,     /* one row, of all debuggers together */
	XP_EVERFLOW_DEBUGGER, /* axis debugger: a row each */
	XP_EVERFLOW_LINK,     /* axes link, time_s: round trips */
};

struct xp_everflow {
	uint32_t along;  /* enum xp_everflow_along */
	uint32_t debug;  /* bits 1 << index in algo_debuggers */
	double debug_s;  /* debuggers look this often */
	double settle_s; /* the run goes on so long after the epoch */
	uint32_t n_analyzers;
	uint32_t knows_hash;     /* debuggers know how switches hash */
	double hop_us, queue_us; /* of a link: fixed; mean of a random part */
	struct algo_mirror_params rules;
	struct mirror_params mirror;
	struct algo_analyzer_params analyzer;
	struct packet_conn_params conn;
	struct xp_tracing_params trace;
	struct xp_lossless lossless;
	struct algo_prober_params prober;
	struct algo_debug_latency_params latency;
	struct algo_debug_drop_params drop;
	struct algo_debug_loop_params loop;
	struct algo_debug_ecmp_params ecmp;
	struct algo_debug_rdma_params nics;
	struct packet_mux_params slb;
	struct packet_clock_params clock;
	struct xp_cost_params cost;
};

enum { XP_EVERFLOW_MAX_ANALYZERS = 64 };

extern const struct xp_section xp_everflow_section;
const struct xp_everflow *xp_everflow_of(const struct xp_config *c);

/* The debuggers of a row, in the order of XP_EVERFLOW_DEBUGGERS. Domain
 * which < XP_N_DEBUGGERS. */
const struct algo_debugger *xp_everflow_debugger(unsigned which);

/* The parameters of debugger WHICH. */
const void *xp_everflow_params(const struct xp_everflow *p, unsigned which);

#endif
