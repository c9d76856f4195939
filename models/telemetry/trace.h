/* models/telemetry/trace.h -- whose path is told, and how much of it.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A flow that lost something is traced (007, NSDI'18, 4.2): its host sends a probe
 * for each switch on its path, with its header, and each answers. The path is told
 * where all switches between the two ToRs have answered; ToRs are known by hosts'
 * addresses. Where nothing below is asked for, all do, and nothing is drawn.
 *
 *	limits   within each `every_s` of the epoch a host begins at most `traces`
 *	         traceroutes, and a switch sends at most `icmp` answers (007's C_t and
 *	         T_max, Theorem 1). Flows are drawn in no order of time, so those that
 *	         come first here are any: of K flows of a host in an interval
 *	         min(K, traces) are traced, each alike
 *	answers  (lost) the probe for the k-th switch crosses the first k links of the
 *	         way, and its answer the same links back; each loses it as it loses
 *	         any packet, so that it comes back with probability
 *	         exp(-(h_1 + .. + h_k + b_k + .. + b_1)), h and b being the hazards of
 *	         links and of their reverses when the flow began. A black hole takes
 *	         the probes of a flow that it takes
 *	unknown  a share of paths is not told, whatever was asked and answered: of
 *	         INT as well
 *
 * Probes of traces meet no full buffer: they leave later, when another port may be
 * full. DEPARTS: an answer goes back the way that its probe came; nothing of 007 is
 * known of flows without a path, which have their rows here if kind p has them.
 */
#ifndef MODELS_TELEMETRY_TRACE_H
#define MODELS_TELEMETRY_TRACE_H

#include "models/telemetry/way.h"
#include "sim/field.h"

/* As in a spec. */
struct telemetry_trace_params {
	uint32_t traces, icmp; /* 0: no limit */
	double every_s;
	double unknown;   /* share of paths */
	uint32_t answers; /* 1: what measures is lost, too */
};
extern const struct sim_field telemetry_tracing_fields[]; /* the first three */

/* Zeroed is empty. Counts are of the epoch. */
struct telemetry_traces {
	const struct telemetry_trace_params *p;
	const struct telemetry_links *links;
	sim_ns every;
	uint32_t n_slots;
	uint32_t *begun, *sent; /* [hosts][slots], [switches][slots] */
	size_t cap_begun, cap_sent;
	struct sim_rng r;
	uint64_t n_begun, n_whole; /* traceroutes */
	uint64_t n_sent, n_kept;   /* answers */
};
void telemetry_traces_free(struct telemetry_traces *x);

/* 1 if any path may not be told. */
static inline int telemetry_traces_thin(const struct telemetry_trace_params *p)
{
	return p->traces > 0 || p->icmp > 0 || p->answers || p->unknown > 0;
}

/* 1 if it matters when flows begin. */
static inline int telemetry_traces_timed(const struct telemetry_trace_params *p)
{
	return p->traces > 0 || p->icmp > 0;
}

/* Of an epoch on LINKS that ends at END. Errors SIM_ENOMEM, SIM_ELIMIT (2^28 hosts
 * or switches times intervals). */
#define TELEMETRY_TRACE_SLOTS (UINT64_C(1) << 28)
int telemetry_traces_open(struct telemetry_traces *x,
    const struct telemetry_trace_params *p, const struct telemetry_links *links,
    sim_ns end, struct sim_err *e);

enum telemetry_told { TELEMETRY_NOT_TOLD, TELEMETRY_IN_PART, TELEMETRY_WHOLE };

/* What is told of the way W of a flow of host SRC, by a traceroute or, with SELF,
 * by its own packets. KNOWN[w->h] is 1 of links between switches that answered.
 * NOT_TOLD: its host began no traceroute. */
enum telemetry_told telemetry_trace(struct telemetry_traces *x, topo_host src,
    const struct telemetry_way *w, int self, uint8_t known[]);

#endif
