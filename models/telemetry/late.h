/* models/telemetry/late.h -- flows that are late, as flows of one packet.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * With `latency.report_over` rows tell times in place of losses: a flow is a row of
 * one packet, which is lost if the flow's smoothed round-trip time
 * (models/scene/latency.h) is above that, and a probe's packet is lost if its own
 * is, of one sample. So localisers from losses find links that are slow. Of a flow
 * of one packet over one link that adds an exponential time of mean D, with no
 * queue, P(late) = exp(-(T - 2 h hop) / D), h being its hops.
 *
 * The time is that of the way there, and of a probe that comes back (answers) that
 * of both ways; ports that are full make packets wait, by the law of congestion.
 * What is late is put down to the link that added most, or to the first if none
 * did. Nothing is lost. The time is the sender's own, so that INT tells the path
 * alone, which one packet does.
 *
 * Paper  Flock (CoNEXT'23), the link-flap mode of its released simulator: late
 * above 10 ms. DEPARTS: there it is a flow's greatest delay; unconfirmed.
 */
#ifndef MODELS_TELEMETRY_LATE_H
#define MODELS_TELEMETRY_LATE_H

#include "models/telemetry/way.h"

/* 1 if rows tell times. */
static inline int telemetry_times(const struct scene *s)
{
	return s->latency.report_us > 0;
}

/* 1 if a flow of N packets on the way W is late; w->drops then have one at a link,
 * and *US is the time. Cost O(links of the way * log faults). */
int telemetry_late(const struct telemetry_links *x, struct sim_rng *r,
    uint32_t n, struct telemetry_way *w, uint32_t *us);

/* How many of N packets are, each at a time below END of its own. */
uint32_t telemetry_late_apart(const struct telemetry_links *x,
    struct sim_rng *r, struct sim_rng *apart, sim_ns end, uint32_t n,
    struct telemetry_way *w);

#endif
