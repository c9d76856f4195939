/* algos/everflow/sighting.h -- what was seen of each guided probe.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A probe is known among all traces by its order and number (TCP's sequence and
 * acknowledgement) and its source, so that no debugger has to trust a mark. The
 * number of headers around it tells where it is, whatever mirrors were lost:
 *
 *	still all that it left with    on the way to via[0]
 *	fewer                          behind via[0]
 */
#ifndef ALGOS_EVERFLOW_SIGHTING_H
#define ALGOS_EVERFLOW_SIGHTING_H

#include "algos/everflow/debug.h"

struct algo_sighting {
	uint64_t t_ns[OBS_MAX_VIA]; /* copy of via[i] when it was addressed to
				       it; 0: none came */
	uint64_t switch_ns[OBS_MAX_VIA]; /* the same by that switch's clock;
					    0: unknown */
	size_t trace;                    /* the first of it, or SIZE_MAX */
	topo_switch first;         /* that saw it behind via[0], or TOPO_NONE */
	uint16_t n_behind;         /* copies from behind via[0] */
	uint16_t n_copies, n_lost; /* of its traces: hops, mirrors missing */
	uint8_t n_via, n_outer;    /* headers that it left with */
	uint8_t settled;           /* it has its trace, if ever */
};

/* One for each row of IN->sent; S is to be freed by the caller, and NULL if
 * there is none. Rows with switches beyond the last count as not sent by any.
 * Errors SIM_ENOMEM. Cost O(traces + hops + rows). */
int algo_sightings(const struct algo_debug_in *in, struct algo_sighting **s,
    struct sim_err *e);

/* Whether a probe came to via[0], as far as is known, and what was then. */
enum algo_fate {
	ALGO_FATE_UNKNOWN, /* it was not seen at via[0], nor behind */
	ALGO_FATE_KEPT,    /* it was seen behind via[0] */
	ALGO_FATE_LOST,    /* it was seen at via[0], and never behind */
};
static inline enum algo_fate algo_sighting_fate(const struct algo_sighting *s)
{
	return s->n_behind > 0 ? ALGO_FATE_KEPT
	    : s->t_ns[0] > 0   ? ALGO_FATE_LOST
			       : ALGO_FATE_UNKNOWN;
}

static inline topo_switch algo_sighting_via(const struct obs_guided *g,
    size_t row, unsigned i)
{
	return i == 0 ? g->via0[row] : i == 1 ? g->via1[row] : g->via2[row];
}

#endif
