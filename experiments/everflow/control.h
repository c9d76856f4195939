/* experiments/everflow/control.h -- a running analyzer's controller, by requests.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	GET    /traces     ? filter where from to limit format    GetTrace
 *	GET    /counters   ? what from to format                  GetCounter
 *	POST   /counters   ? name filter                          AddCounter
 *	DELETE /counters   ? name                                 RemoveCounter
 *	GET    /sessions   ? server
 *	POST   /sessions   ? servers filter sample life           EnableDbg
 *	DELETE /sessions   ? id                                   DisableDbg
 *	GET    /findings   ? debugger from to format
 *	GET    /health, /
 *
 * No request has a body. What is asked goes through algos/everflow/control.h, as
 * in simulations; what it says is to be done is done here. Traces and counters are
 * those that are kept (keep.h). Whoever marks packets at a server asks for its
 * sessions.
 *
 * A request that cannot be answered gets a JSON object, {"error": TEXT}, with the
 * `column` of a mistake in a filter and `did_you_mean` where something is near;
 * tracing that does not fit, also `bottleneck`, `need`, `used`, `capacity` and the
 * `sample` that would fit. Answers are made while they are sent, of a bounded
 * number of traces at a time, so that analysis goes on; a carriage return means
 * that there is more to look through, and can be dropped.
 *
 * Pages of a browser that reach this address by way of its user are refused: a
 * request must name a number or localhost as its host, and have no Origin.
 *
 * No thread of its own, no socket, no clock.
 */
#ifndef EXPERIMENTS_EVERFLOW_CONTROL_H
#define EXPERIMENTS_EVERFLOW_CONTROL_H

#include "algos/everflow/control.h"
#include "experiments/everflow/everflow.h"
#include "experiments/live/serve.h"
#include "results/traces.h"

enum {
	XP_CONTROL_SLICE = 4096, /* traces looked at, at a time */
	XP_CONTROL_NAMES = 4096, /* of counters, of a file */
};

/* Borrowed until close. */
struct xp_control_params {
	struct algo_routing routing;
	const struct xp_everflow *everflow; /* of debuggers */
	struct algo_control_params control;
	struct algo_admission_params capacity;
	size_t keep_bytes;
	struct algo_analyzer *analyzer; /* that is to count; NULL: none */

	/* A counter has a name; may be NULL. */
	int (*named)(void *arg, uint32_t id, const char *name,
	    struct sim_err *e);
	void *arg;
};

struct xp_control;

/* Errors SIM_EINVAL, SIM_ENOMEM. */
int xp_control_open(struct xp_control **c, const struct xp_control_params *p,
    struct sim_err *e);
void xp_control_close(struct xp_control *c); /* NULL is fine */

/* Keep a trace that was stored. It is NOW, and these ROWS of analyzers came, about
 * spans of SPAN. Errors SIM_ENOMEM. */
void xp_control_trace(struct xp_control *c, const struct algo_trace *t,
    const struct algo_hop hop[]);
int xp_control_step(struct xp_control *c, sim_ns now, sim_ns span,
    const struct algo_counters *rows, struct sim_err *e);

/* Answer a request; ARG is a struct xp_control. As of struct xp_http_service: a
 * stream is rested before C is closed. */
void xp_control_answer(void *arg, const struct xp_http_site *site,
    const struct xp_http_request *q, struct xp_http_answer *a);

#endif
