/* models/telemetry/late.c -- flows that are late, as flows of one packet.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/telemetry/late.h"

#include <string.h>

int telemetry_late(const struct telemetry_links *x, struct sim_rng *r,
    uint32_t n, struct telemetry_way *w, uint32_t *us)
{
	const struct scene *s = x->scene;
	double sum = 0, most = 0;
	unsigned worst = 0;
	for (unsigned i = 0; i < w->h; i++) {
		const double delay =
		    scene_latency_smoothed(&s->truth, w->link[i], w->at, n, r) +
		    scene_congestion_us(&s->congestion, &w->link[i], 1, w->at);
		sum += delay;
		if (delay > most) {
			most = delay;
			worst = i;
		}
	}
	*us = scene_latency_srtt(&s->latency, r, w->h, n, sum);
	if (*us <= s->latency.report_us)
		return 0;
	memset(w->drops, 0, w->h * sizeof(w->drops[0]));
	memset(w->full.drops, 0, w->h * sizeof(w->full.drops[0]));
	w->drops[worst] = 1;
	return 1;
}

uint32_t telemetry_late_apart(const struct telemetry_links *x,
    struct sim_rng *r, struct sim_rng *apart, sim_ns end, uint32_t n,
    struct telemetry_way *w)
{
	uint32_t late = 0, us;
	for (uint32_t k = 0; k < n; k++) {
		if (x->some_move)
			w->at = telemetry_time(apart, end);
		late += (uint32_t)telemetry_late(x, r, 1, w, &us);
	}
	return late;
}
