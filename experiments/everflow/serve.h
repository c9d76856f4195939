/* experiments/everflow/serve.h -- an analyzer that runs until it is told to end.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	interface --> ring --> copies --> analyzer --> file of traces
 *
 * All memory is bounded beforehand: slots of the ring, traces under way, traces
 * that are stored, and those that are kept to be asked for. Several of one group
 * share an interface.
 */
#ifndef EXPERIMENTS_EVERFLOW_SERVE_H
#define EXPERIMENTS_EVERFLOW_SERVE_H

#include "algos/everflow/analyzer.h"
#include "experiments/everflow/control.h"
#include "experiments/everflow/copies.h"
#include "experiments/everflow/ether.h"
#include "experiments/live/mhd.h"
#include "results/traces.h"

/* All is borrowed. */
struct xp_everserve {
	struct xp_ether *ether;
	struct xp_copies *copies;
	const struct algo_routing *routing;
	const struct algo_analyzer_params *analyzer;
	const struct res_traces_info *info;
	const char *output;
	/* Where requests come from, and what is asked of the controller, of
	 * which routing, the analyzer and names are filled in; NULL: none. */
	const struct xp_http_params *http;
	struct xp_control_params control;
	uint64_t most;  /* traces are stored; others are only counted */
	double every_s; /* tell() is called so often */
	int end_fd;     /* that can be read: end in good order */
	void *arg;
	void (*tell)(void *arg, const struct xp_everserve *s);
	void (*hear)(void *arg, const char *url); /* where it may be asked */

	/* What was done. */
	struct algo_analyzer_counts count;
	uint64_t n_unstored, n_lost; /* lost: no slot in the ring */
};

/* Run to its end: what is under way then is ended and stored. Errors SIM_EIO,
 * SIM_ENOMEM, those of results/traces.h. */
int xp_everserve_run(struct xp_everserve *s, struct sim_err *e);

#endif
