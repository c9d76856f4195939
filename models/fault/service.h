/* models/fault/service.h -- controller and collector, and how they misbehave.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whoever carries agents' requests, a simulated fabric or a real one in this
 * process, asks here how a service is when a request reaches it, and what a
 * controller then sends.
 */
#ifndef MODELS_FAULT_SERVICE_H
#define MODELS_FAULT_SERVICE_H

#include "models/truth.h"

struct fault_services {
	void *arg;
	/* The document for HOST, borrowed until the next call; 0 bytes: there
	 * is none. */
	int (*fetch)(void *arg, topo_host host, sim_ns at, const void **data,
	    size_t *n, struct sim_err *e);
	/* Called when the upload arrives, which may be more than once for the
	 * same bytes: the answer may be late. */
	int (*upload)(void *arg, topo_host host, sim_ns at, const void *data,
	    size_t n, struct sim_err *e);
	/* The same for AGENT_COUNTERS, which are sent once and not again. May
	 * be NULL: then they go nowhere. */
	int (*counters)(void *arg, topo_host host, sim_ns at, const void *data,
	    size_t n, struct sim_err *e);
};

/* Beside the modes of an outage. */
enum { FAULT_SERVICE_UP = TRUTH_GARBAGE + 1 };

/* How the service of KIND takes a request at time AT: FAULT_SERVICE_UP, or an
 * enum truth_outage_mode. *DELAY_NS is how much longer its answer then takes.
 * Cost as truth_outage_at(). */
uint32_t fault_service_mode(const struct truth *t, enum truth_outage_kind kind,
    sim_ns at, sim_ns *delay_ns);

/* What a controller that took a request in MODE, which is not TRUTH_DOWN, sends
 * HOST; 0 bytes: no document. Errors those of S. */
int fault_service_document(const struct fault_services *s, uint32_t mode,
    topo_host host, sim_ns at, const void **data, size_t *n, struct sim_err *e);

/* Hand counters to S, unless the collector is down: then they are lost. Errors
 * those of S. */
int fault_service_counters(const struct fault_services *s,
    const struct truth *t, topo_host host, sim_ns at, const void *data,
    size_t n, struct sim_err *e);

#endif
