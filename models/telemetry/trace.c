/* models/telemetry/trace.c -- whose path is told, and how much of it.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/telemetry/trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"

#define FIELD(m) offsetof(struct telemetry_trace_params, m)
const struct sim_field telemetry_tracing_fields[] = {
    {"traces", SIM_F_U32, FIELD(traces), .min = 0, .max = 1e9, .unit = "traces",
	.def = "0",
	.doc = "that a host begins within `every` at most (007's C_t); 0: all"},
    {"icmp", SIM_F_U32, FIELD(icmp), .min = 0, .max = 1e9, .unit = "answers",
	.def = "0",
	.doc = "that a switch sends within `every` at most (007's T_max); 0: "
	       "all"},
    {"every", SIM_F_F64, FIELD(every_s), .min = 1e-3, .max = 1e6, .unit = "s",
	.def = "1", .doc = "of how long limits are"},
    {0},
};

void telemetry_traces_free(struct telemetry_traces *x)
{
	free(x->begun);
	free(x->sent);
	*x = (struct telemetry_traces){0};
}

/* N counters for each interval, all 0. */
static int tracing_slots(uint32_t **slot, size_t *cap, uint32_t limit,
    uint64_t n_slots, uint32_t n, struct sim_err *e)
{
	if (limit == 0)
		return 0;
	if (n * n_slots > TELEMETRY_TRACE_SLOTS)
		return sim_fail(e, SIM_ELIMIT,
		    "limits of %u places in %llu intervals are too many: "
		    "2^28 together.",
		    n, (unsigned long long)n_slots);
	const int rc = SIM_RESERVE(slot, cap, n * n_slots, e);
	if (rc == 0)
		memset(*slot, 0, n * n_slots * sizeof(**slot));
	return rc;
}

int telemetry_traces_open(struct telemetry_traces *x,
    const struct telemetry_trace_params *p, const struct telemetry_links *links,
    sim_ns end, struct sim_err *e)
{
	const struct scene *s = links->scene;
	int rc = 0;
	x->p = p;
	x->links = links;
	x->every = (sim_ns)(p->every_s * (double)SIM_SEC);
	x->n_begun = x->n_whole = x->n_sent = x->n_kept = 0;
	sim_rng_init(&x->r, &s->where, SIM_STREAM_TELEMETRY, 4);
	if (!telemetry_traces_timed(p))
		return 0;
	const uint64_t n_slots = end / x->every + 1;
	x->n_slots = (uint32_t)n_slots;
	if ((rc = tracing_slots(&x->begun, &x->cap_begun, p->traces, n_slots,
		 s->topo->n_hosts, e)) < 0)
		return rc;
	return tracing_slots(&x->sent, &x->cap_sent, p->icmp, n_slots,
	    s->topo->n_switches, e);
}

/* Take one of the interval's, if one is left. */
static int tracing_take(uint32_t slot[], const struct telemetry_traces *x,
    uint32_t id, uint32_t limit, sim_ns at)
{
	if (limit == 0)
		return 1;
	uint32_t *n = &slot[(size_t)id * x->n_slots + at / x->every];
	return *n < limit ? ++*n, 1 : 0;
}

static topo_switch tracing_end(const struct telemetry_traces *x, topo_link l)
{
	const struct topo *topo = x->links->scene->topo;
	topo_node from, to;
	topo_link_ends(topo, l, &from, &to);
	return to - topo->n_hosts;
}

/* Whether a packet gets over links of a total hazard. */
static int tracing_passes(struct telemetry_traces *x, double hazard)
{
	return hazard == 0 || sim_rng_u01(&x->r) < exp(-hazard);
}

/* Whether the switch behind the K-th link answers, and the answer comes. OUT and
 * BACK are the hazards of the links up to there and of their reverses. */
static int tracing_answers(struct telemetry_traces *x,
    const struct telemetry_way *w, unsigned k, double out, double back)
{
	if (x->p->answers && !tracing_passes(x, out))
		return 0;
	if (!tracing_take(x->sent, x, tracing_end(x, w->link[k]), x->p->icmp,
		w->at)) {
		x->n_kept++;
		return 0;
	}
	x->n_sent++;
	return !x->p->answers || tracing_passes(x, back);
}

/* ANSWERED[k] says whether the switch behind the k-th link did; the last link ends
 * at a host. */
static void tracing_switches(struct telemetry_traces *x,
    const struct telemetry_way *w, uint8_t answered[])
{
	double out = 0, back = 0;
	for (unsigned k = 0; k + 1 < w->h; k++) {
		if (x->p->answers) {
			out += telemetry_hazard(x->links, w, w->link[k]);
			back += telemetry_hazard_back(x->links, w, w->link[k]);
		}
		answered[k] = (uint8_t)tracing_answers(x, w, k, out, back);
	}
}

enum telemetry_told telemetry_trace(struct telemetry_traces *x, topo_host src,
    const struct telemetry_way *w, int self, uint8_t known[])
{
	uint8_t answered[TOPO_MAX_HOPS];
	int whole = 1;
	memset(answered, 1, w->h);
	if (!self) {
		if (!tracing_take(x->begun, x, src, x->p->traces, w->at))
			return TELEMETRY_NOT_TOLD;
		x->n_begun++;
		tracing_switches(x, w, answered);
	}
	if (x->p->unknown > 0 && sim_rng_u01(&x->r) < x->p->unknown)
		memset(answered, 0, w->h);
	/* ToRs are known by the hosts. */
	answered[0] = answered[w->h - 2] = 1;
	for (unsigned k = 0; k < w->h; k++) {
		known[k] = (k == 0 || answered[k - 1]) &&
		    (k == w->h - 1 || answered[k]);
		whole &= known[k];
	}
	x->n_whole += !self && whole;
	return whole ? TELEMETRY_WHOLE : TELEMETRY_IN_PART;
}
