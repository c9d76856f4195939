/* models/fault/service.c -- controller and collector, and how they misbehave.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/fault/service.h"

uint32_t fault_service_mode(const struct truth *t, enum truth_outage_kind kind,
    sim_ns at, sim_ns *delay_ns)
{
	const struct truth_outage *o = truth_outage_at(t, kind, 0, at);
	/* Outages keep microseconds, and the clock counts nanoseconds. */
	*delay_ns =
	    o && o->mode == TRUTH_SLOW ? (sim_ns)(o->delay_us * 1e3) : 0;
	return o ? (uint32_t)o->mode : FAULT_SERVICE_UP;
}

int fault_service_document(const struct fault_services *s, uint32_t mode,
    topo_host host, sim_ns at, const void **data, size_t *n, struct sim_err *e)
{
	/* What a proxy or a wrong server may send in place of a document:
	 * agents must refuse it. */
	static const char garbage[] = "<html>It works!</html>\n";
	*data = NULL;
	*n = 0;
	if (mode == TRUTH_GARBAGE) {
		*data = garbage;
		*n = sizeof(garbage) - 1;
	}
	/* Modes EMPTY and GARBAGE are settled here; a service that is up or
	 * slow sends the document that there is. */
	if (mode >= TRUTH_EMPTY && mode != FAULT_SERVICE_UP)
		return 0;
	return s->fetch ? s->fetch(s->arg, host, at, data, n, e) : 0;
}

int fault_service_counters(const struct fault_services *s,
    const struct truth *t, topo_host host, sim_ns at, const void *data,
    size_t n, struct sim_err *e)
{
	sim_ns delay;
	if (!s->counters ||
	    fault_service_mode(t, TRUTH_COLLECTOR, at, &delay) == TRUTH_DOWN)
		return 0;
	return s->counters(s->arg, host, at, data, n, e);
}
